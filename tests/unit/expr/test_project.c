/* Projections: messages by table, projected items by table, and random ones against a reference
 * that walks the item where the product walks the paths. */
#include "support/exprs.h"

#include "base/limits.h"
#include "base/mem.h"

#include <inttypes.h>

#define INVALID "Invalid ProjectionExpression: "
#define OVERLAP                                                                                    \
    INVALID "Two document paths overlap with each other; must remove or rewrite one of these "     \
            "paths; path one: "
#define CONFLICT                                                                                   \
    INVALID "Two document paths conflict with each other; must remove or rewrite one of these "    \
            "paths; path one: "

/* ---- messages ---- */

static const struct {
    const char *text, *names, *message, *source;
} refusals[] = {
    {"", 0, INVALID "The expression can not be empty;", DYNALITE_SCAN},
    {"a,", 0, INVALID "Syntax error; token: \"<EOF>\", near: \",\"", UNVERIFIED},
    {",a", 0, INVALID "Syntax error; token: \",\", near: \",a\"", UNVERIFIED},
    {"a,,b", 0, INVALID "Syntax error; token: \",\", near: \",,b\"", UNVERIFIED},
    {"a b", 0, INVALID "Syntax error; token: \"b\", near: \"a b\"", UNVERIFIED},
    {"abort, #c", 0, INVALID "Attribute name is a reserved keyword; reserved keyword: abort",
     DYNALITE_SCAN},
    {"#c, a, a", 0,
     INVALID "An expression attribute name used in the document path is not defined; attribute "
             "name: #c",
     DYNALITE_SCAN},
    {"a, a", 0, OVERLAP "[a], path two: [a]", ALTERNATOR_PROJECTION},
    {"a.b[0], a.b[0]", 0, OVERLAP "[a, b, [0]], path two: [a, b, [0]]", ALTERNATOR_PROJECTION},
    {"a, b, a.b[0]", 0, OVERLAP "[a], path two: [a, b, [0]]", ALTERNATOR_PROJECTION},
    {"a.b.d.e, a.b", 0, OVERLAP "[a, b, d, e], path two: [a, b]", ALTERNATOR_PROJECTION},
    {"#c, c", "{c: 'c'}", OVERLAP "[c], path two: [c]", ALTERNATOR_PROJECTION},
    {"a.b, a[1]", 0, CONFLICT "[a, b], path two: [a, [1]]", ALTERNATOR_PROJECTION},
    {"a[1], c, a.b, c", 0, OVERLAP "[c], path two: [c]", UNVERIFIED},
};

static void test_compile_projection__refuses_with_the_services_messages(void **state)
{
    (void)state;
    struct sources s = {0};
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct request r;
        const struct expr_projection *p;
        request_init(&r);
        request_env(&r, refusals[i].names, NULL);
        sheaf_rc rc = expr_compile_projection(&r.ctx, span_cstr(refusals[i].text), &r.env, &p);
        if (rc != SHEAF_VALIDATION || strcmp(r.err.message, refusals[i].message) != 0)
            fail_msg("%s\n  rc %d: %s\n  wanted: %s", refusals[i].text, (int)rc, r.err.message,
                     refusals[i].message);
        assert_null(p);
        request_deinit(&r);
        sources_count(&s, refusals[i].source);
    }
    sources_print(&s, "messages of projections");
}

/* ---- items ---- */

#define DOCUMENT                                                                                   \
    "{a: {b: [2, 4, {x: 'hi', y: 'yo'}], c: 5}, b: 'hello', l: ['l0', 'l1', 'l2'], p: 1}"

/* From Alternator's test_projection_expression.py but where said. */
static const struct {
    const char *text, *want;
} projections[] = {
    {"a", "{a: {b: [2, 4, {x: 'hi', y: 'yo'}], c: 5}}"},
    {" p  ,   b  ", "{b: 'hello', p: 1}"},
    {"a.b", "{a: {b: [2, 4, {x: 'hi', y: 'yo'}]}}"},
    {"a.b[0]", "{a: {b: [2]}}"},
    {"a.b[2].y", "{a: {b: [{y: 'yo'}]}}"},
    {"x", "{}"},
    {"a.b[3]", "{}"},
    {"a.x", "{}"},
    {"a.x.y", "{}"},
    {"a.b[3].x", "{}"},
    {"a.b.x", "{}"},
    {"a[0]", "{}"},
    {"a.b[0].x", "{}"},
    {"a.b[0][0]", "{}"},
    {"a.b[0],a.b[1]", "{a: {b: [2, 4]}}"},
    {"a.b[0],a.c", "{a: {b: [2], c: 5}}"},
    {"a.x, a.b[0], x, a.b[3].x", "{a: {b: [2]}}"},
    {"a.b[2].x, a.b[2].q, a.b[0]", "{a: {b: [2, {x: 'hi'}]}}"},
    {"l[2], l[0]", "{l: ['l0', 'l2']}"}, /* paritysuite dynamodb-conformance */
    {"l[10], l[9], l[2]", "{l: ['l2']}"},
};

static const char *project(struct request *r, const char *text, const char *item)
{
    const struct expr_projection *p;
    span out;
    span before = doc_text_item(&r->arena, item);
    if (expr_compile_projection(&r->ctx, span_cstr(text), &r->env, &p) != SHEAF_OK)
        fail_msg("%s: %s", text, r->err.message);
    assert_ok(expr_project(&r->ctx, p, item_map(before), &out));
    assert_ok(item_check(out, &r->err));
    assert_true(out.n <= before.n);
    return doc_val_text(&r->arena, item_map(out));
}

static void test_project__keeps_what_the_paths_lead_to(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof projections / sizeof projections[0]; i++) {
        struct request r;
        request_init(&r);
        const char *got = project(&r, projections[i].text, DOCUMENT);
        if (strcmp(got, projections[i].want) != 0)
            fail_msg("%s\n  gives:  %s\n  wanted: %s", projections[i].text, got,
                     projections[i].want);
        request_deinit(&r);
    }
}

static void test_project__takes_a_dot_in_a_name_for_itself(void **state)
{
    (void)state;
    struct request r;
    request_init(&r);
    request_env(&r, "{n: 'a.b'}", NULL);
    assert_string_equal(project(&r, "#n", "{'a.b': 'hi', a: {b: 'yo'}}"), "{'a.b': 'hi'}");
    assert_string_equal(project(&r, "a.b", "{'a.b': 'hi', a: {b: 'yo'}}"), "{a: {b: 'yo'}}");
    assert_true(r.env.names[0].is_used);
    request_deinit(&r);
}

static void test_project__of_nothing_is_an_empty_item(void **state)
{
    (void)state;
    struct request r;
    const struct expr_projection *p;
    span out;
    uint32_t n;
    request_init(&r);
    assert_ok(expr_compile_projection(&r.ctx, SPAN_LIT("a, b"), NULL, &p));
    assert_ok(expr_project(&r.ctx, p, VAL_ABSENT, &out));
    assert_ok(item_check(out, &r.err));
    assert_int_equal(val_count(item_map(out)), 0);
    assert_ok(expr_projection_of(&r.ctx, NULL, 0, &p));
    expr_projection_paths(p, &n);
    assert_int_equal(n, 0);
    assert_ok(expr_project(&r.ctx, p, item_map(doc_text_item(&r.arena, "{a: 1}")), &out));
    assert_int_equal(val_count(item_map(out)), 0);
    request_deinit(&r);
}

/* ---- limits ---- */

static void test_project__goes_to_the_bottom_of_a_deep_item(void **state)
{
    (void)state;
    struct request r;
    struct buf item, text;
    request_init(&r);
    buf_init(&item, &r.arena, 1 << 16);
    buf_init(&text, &r.arena, 1 << 16);
    buf_printf(&text, "n");
    for (uint32_t i = 0; i < LIMIT_NESTING; i++) buf_printf(&item, "{k: 1, n: ");
    buf_printf(&item, "7");
    for (uint32_t i = 0; i < LIMIT_NESTING; i++) buf_printf(&item, "}");
    for (uint32_t i = 1; i < LIMIT_NESTING; i++) buf_printf(&text, ".n");
    buf_put_u8(&item, 0);
    buf_put_u8(&text, 0);
    const char *got = project(&r, (const char *)text.p, (const char *)item.p);
    assert_non_null(strstr(got, "{n: 7}}"));
    assert_null(strstr(got, "k"));
    request_deinit(&r);
}

/* A caller's own paths may be deeper than any item. */
static void test_projection_of__takes_paths_of_any_depth(void **state)
{
    (void)state;
    enum { DEPTH = 3000 };
    static struct path_step steps[DEPTH];
    struct path paths[2] = {{steps, DEPTH}, {steps, DEPTH - 1}};
    struct request r;
    const struct expr_projection *p;
    span out;
    uint32_t n;
    for (uint32_t i = 0; i < DEPTH; i++) steps[i].name = SPAN_LIT("n");
    request_init(&r);
    assert_ok(expr_projection_of(&r.ctx, paths, 2, &p));
    assert_ptr_equal(expr_projection_paths(p, &n), paths);
    assert_int_equal(n, 2);
    val item = item_map(doc_text_item(&r.arena, "{n: {n: {n: {n: [1]}}}}"));
    assert_ok(expr_project(&r.ctx, p, item, &out));
    assert_int_equal(val_count(item_map(out)), 0);
    request_deinit(&r);
}

static void test_compile_projection__takes_as_many_paths_as_the_text_holds(void **state)
{
    (void)state;
    struct request r;
    struct buf text, item;
    request_init(&r);
    buf_init(&text, &r.arena, LIMIT_EXPRESSION_BYTES);
    buf_init(&item, &r.arena, 1 << 20);
    for (unsigned i = 0; i < 800; i++) buf_printf(&text, "%sx%u", i ? "," : "", i * 7919 % 800);
    for (unsigned i = 0; i < 1000; i++) buf_printf(&item, "%sx%u: %u", i ? ", " : "{", i, i);
    buf_printf(&item, "}");
    buf_put_u8(&text, 0);
    buf_put_u8(&item, 0);
    assert_false(text.failed || item.failed);
    const struct doc *got = doc_parse(&r.arena, project(&r, (char *)text.p, (char *)item.p));
    assert_int_equal(got->n, 800);
    request_deinit(&r);
}

/* ---- against the reference ---- */

enum { MAX_PATHS = 6 };

/* Which of the paths go through this step at `depth`. */
static uint32_t through(const struct path *paths, uint32_t set, uint32_t depth,
                        const struct path_step *step)
{
    uint32_t out = 0;
    for (uint32_t i = 0; i < MAX_PATHS; i++) {
        if (!(set >> i & 1) || paths[i].n <= depth) continue;
        const struct path_step *s = &paths[i].steps[depth];
        if (!s->name.p != !step->name.p) continue;
        if (s->name.p ? span_eq(s->name, step->name) : s->index == step->index) out |= 1u << i;
    }
    return out;
}

/* The parts of d that the paths of the set lead to; NULL when there are none. */
static struct doc *reference(struct arena *a, const struct path *paths, uint32_t set,
                             uint32_t depth, struct doc *d)
{
    for (uint32_t i = 0; i < MAX_PATHS; i++)
        if ((set >> i & 1) && paths[i].n == depth) return d;
    if (d->type != VAL_M && d->type != VAL_L) return NULL;
    struct doc *out = doc_new(a, d->type);
    for (uint32_t i = 0; i < d->n; i++) {
        struct path_step step = {.name = d->type == VAL_M ? d->names[i] : SPAN_NONE, .index = i};
        uint32_t inside = through(paths, set, depth, &step);
        struct doc *kid = inside ? reference(a, paths, inside, depth + 1, d->kids[i]) : NULL;
        if (kid) doc_add(a, out, d->names[i], kid);
    }
    return out->n ? out : NULL;
}

/* The first two paths that clash, as the service would name them; overlaps before conflicts. */
static bool find_clash(const struct path *paths, uint32_t n, enum clash kind, uint32_t pair[2])
{
    for (uint32_t j = 1; j < n; j++)
        for (uint32_t i = 0; i < j; i++)
            if (naive_clash(&paths[i], &paths[j]) == kind) {
                pair[0] = i;
                pair[1] = j;
                return true;
            }
    return false;
}

static void expect_message(struct request *r, const char *what, const struct path *paths,
                           const uint32_t pair[2])
{
    struct buf b;
    buf_init(&b, &r->arena, 4096);
    buf_printf(&b,
               INVALID "Two document paths %s with each other; must remove or rewrite one of "
                       "these paths; path one: ",
               what);
    path_format(&paths[pair[0]], &b);
    buf_printf(&b, ", path two: ");
    path_format(&paths[pair[1]], &b);
    assert_span(buf_span(&b), r->err.message);
}

/* Returns whether the projection kept anything. */
static bool compare_one(struct rng *rng)
{
    struct request r;
    const struct expr_projection *p;
    struct path paths[MAX_PATHS] = {{0}};
    struct buf text;
    uint32_t n = 1 + (uint32_t)rng_below(rng, MAX_PATHS), pair[2];
    span out;
    bool is_hit = false;
    request_init(&r);
    request_env(&r, RANDOM_NAMES, NULL);
    struct doc *item = random_item(&r.arena, rng);
    buf_init(&text, &r.arena, 4096);
    for (uint32_t i = 0; i < n; i++) {
        paths[i] = random_path(&r.arena, rng, item);
        if (i) buf_put(&text, ",", 1);
        random_path_print(rng, &paths[i], &text);
    }
    sheaf_rc rc = expr_compile_projection(&r.ctx, buf_span(&text), &r.env, &p);
    if (find_clash(paths, n, CLASH_OVERLAP, pair)) {
        assert_int_equal(rc, SHEAF_VALIDATION);
        expect_message(&r, "overlap", paths, pair);
    } else if (find_clash(paths, n, CLASH_CONFLICT, pair)) {
        assert_int_equal(rc, SHEAF_VALIDATION);
        expect_message(&r, "conflict", paths, pair);
    } else {
        if (rc != SHEAF_OK) fail_msg("%.*s: %s", SPAN_ARG(buf_span(&text)), r.err.message);
        assert_ok(expr_project(&r.ctx, p, item_map(doc_item(&r.arena, item)), &out));
        assert_ok(item_check(out, &r.err));
        struct doc *want = reference(&r.arena, paths, (1u << n) - 1, 0, item);
        is_hit = want != NULL;
        assert_string_equal(doc_val_text(&r.arena, item_map(out)),
                            want ? doc_print(&r.arena, want) : "{}");
    }
    request_deinit(&r);
    return is_hit;
}

static void test_project__agrees_with_the_reference(void **state)
{
    (void)state;
    struct rng rng;
    uint64_t rounds = test_rounds(5000), hits = 0;
    rng_init(&rng, test_seed(4711));
    for (uint64_t i = 0; i < rounds; i++) hits += compare_one(&rng);
    printf("%" PRIu64 " rounds, %" PRIu64 " of them kept something\n", rounds, hits);
    assert_true(hits > rounds / 4);
}

/* ---- memory ---- */

static void test_project__reports_each_failed_allocation(void **state)
{
    (void)state;
    struct request env;
    request_init(&env);
    val item = item_map(doc_text_item(&env.arena, DOCUMENT));
    bool is_done = false;
    for (uint64_t nth = 1; !is_done && nth < 100; nth++) {
        struct request r;
        const struct expr_projection *p;
        span out = SPAN_NONE;
        request_init(&r);
        mem_fail_at(nth, false);
        sheaf_rc rc = expr_compile_projection(&r.ctx, SPAN_LIT("a.b[1], p, a.c"), NULL, &p);
        if (rc == SHEAF_OK) rc = expr_project(&r.ctx, p, item, &out);
        mem_fail_at(0, false);
        is_done = rc == SHEAF_OK;
        if (!is_done) assert_true(rc == SHEAF_NOMEM && !out.p);
        request_deinit(&r);
    }
    assert_true(is_done);
    request_deinit(&env);
}

static void test_project__reports_a_full_arena(void **state)
{
    (void)state;
    struct request env;
    request_init(&env);
    val item = item_map(doc_text_item(&env.arena, DOCUMENT));
    bool is_done = false;
    for (size_t ceiling = 0; !is_done; ceiling += 64) {
        struct request r;
        const struct expr_projection *p;
        span out = SPAN_NONE;
        request_init(&r);
        arena_init(&r.arena, ceiling);
        sheaf_rc rc = expr_compile_projection(&r.ctx, SPAN_LIT("a.b[1], p, a.c"), NULL, &p);
        if (rc == SHEAF_OK) rc = expr_project(&r.ctx, p, item, &out);
        is_done = rc == SHEAF_OK;
        if (!is_done) assert_true(rc == SHEAF_NOMEM && !out.p);
        request_deinit(&r);
        assert_true(ceiling < 1 << 20);
    }
    request_deinit(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile_projection__refuses_with_the_services_messages),
        cmocka_unit_test(test_project__keeps_what_the_paths_lead_to),
        cmocka_unit_test(test_project__takes_a_dot_in_a_name_for_itself),
        cmocka_unit_test(test_project__of_nothing_is_an_empty_item),
        cmocka_unit_test(test_project__goes_to_the_bottom_of_a_deep_item),
        cmocka_unit_test(test_projection_of__takes_paths_of_any_depth),
        cmocka_unit_test(test_compile_projection__takes_as_many_paths_as_the_text_holds),
        cmocka_unit_test(test_project__agrees_with_the_reference),
        cmocka_unit_test(test_project__reports_each_failed_allocation),
        cmocka_unit_test(test_project__reports_a_full_arena),
    };
    return cmocka_run_group_tests_name("expr/project", tests, NULL, NULL);
}
