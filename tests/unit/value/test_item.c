/* value: the item encoding. A plain tree of values in this file is the oracle for what the bytes
 * say. */
#include "support/support.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"
#include "value/build.h"

struct fixture {
    struct arena arena;
    sheaf_error err;
    struct ctx ctx;
    struct vb b;
};

static void begin(struct fixture *f)
{
    arena_init(&f->arena, 64 << 20);
    f->ctx = (struct ctx){&f->arena, &f->err};
    err_clear(&f->err);
    vb_init(&f->b, &f->ctx, 16 << 20);
}

static void end(struct fixture *f) { arena_deinit(&f->arena); }

static void put_s(struct vb *b, const char *name, const char *text)
{
    vb_name(b, span_cstr(name));
    vb_s(b, span_cstr(text));
}

static void put_n(struct vb *b, const char *name, const char *digits)
{
    vb_name(b, span_cstr(name));
    vb_n_text(b, span_cstr(digits));
}

static void test_item__worked_example(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    vb_map_begin(&f.b);
    put_n(&f.b, "n", "1.5"); /* out of order on purpose */
    put_s(&f.b, "PK", "A");
    vb_end(&f.b);
    span item;
    assert_ok(vb_finish_item(&f.b, &item));
    uint8_t want[64];
    size_t n = test_hex("01 07000000  16 10000000  02504B 010141  016E 0203C10233  0006 02", want,
                        sizeof want);
    assert_int_equal(item.n, n);
    assert_memory_equal(item.p, want, n);
    assert_ok(item_check(item, &f.err));
    assert_int_equal(item_size(item), 7);
    end(&f);
}

/* One of every type, nested; names in an order that is not the bytes'. */
static span build_everything(struct fixture *f)
{
    struct vb *b = &f->b;
    vb_map_begin(b);
    put_s(b, "zeta", "last");
    put_s(b, "PK", "CUSTOMER#1");
    put_n(b, "total", "129.99");
    vb_name(b, span_cstr("bin"));
    vb_b(b, SPAN("\0\xFF", 2));
    vb_name(b, span_cstr("yes"));
    vb_bool(b, true);
    vb_name(b, span_cstr("no"));
    vb_bool(b, false);
    vb_name(b, span_cstr("nil"));
    vb_null(b);
    vb_name(b, span_cstr("tags"));
    vb_set_begin(b, VAL_SS);
    vb_s(b, span_cstr("red"));
    vb_s(b, span_cstr("blue"));
    vb_s(b, span_cstr(""));
    vb_end(b);
    vb_name(b, span_cstr("nums"));
    vb_set_begin(b, VAL_NS);
    vb_n_text(b, span_cstr("10"));
    vb_n_text(b, span_cstr("-3"));
    vb_n_text(b, span_cstr("2"));
    vb_end(b);
    vb_name(b, span_cstr("bins"));
    vb_set_begin(b, VAL_BS);
    vb_b(b, span_cstr("b"));
    vb_b(b, span_cstr("a"));
    vb_end(b);
    vb_name(b, span_cstr("doc"));
    vb_map_begin(b);
    vb_name(b, span_cstr("list"));
    vb_list_begin(b);
    vb_n_text(b, span_cstr("1"));
    vb_map_begin(b);
    put_s(b, "c", "deep");
    vb_end(b);
    vb_list_begin(b);
    vb_end(b);
    vb_end(b);
    vb_name(b, span_cstr("empty"));
    vb_map_begin(b);
    vb_end(b);
    vb_end(b);
    vb_end(b);
    span item;
    assert_ok(vb_finish_item(b, &item));
    return item;
}

static void test_item__holds_all_ten_types(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    span item = build_everything(&f);
    assert_ok(item_check(item, &f.err));
    val m = item_map(item);
    assert_int_equal(val_count(m), 11);
    assert_span(val_name_at(m, 0), "PK"); /* upper case before lower case: bytes */
    assert_span(val_bytes(val_find(m, SPAN_LIT("PK"))), "CUSTOMER#1");
    assert_int_equal(val_type(val_find(m, SPAN_LIT("bin"))), VAL_B);
    assert_int_equal(val_bytes(val_find(m, SPAN_LIT("bin"))).n, 2);
    assert_true(val_bool(val_find(m, SPAN_LIT("yes"))));
    assert_false(val_bool(val_find(m, SPAN_LIT("no"))));
    assert_int_equal(val_type(val_find(m, SPAN_LIT("nil"))), VAL_NULL);
    assert_true(val_is_absent(val_find(m, SPAN_LIT("nope"))));
    assert_int_equal(val_type(VAL_ABSENT), VAL_NONE);
    val tags = val_find(m, SPAN_LIT("tags"));
    assert_int_equal(val_count(tags), 3);
    assert_span(val_member_at(tags, 0), "");
    assert_span(val_member_at(tags, 1), "blue");
    assert_true(val_set_has(tags, SPAN_LIT("red")) && !val_set_has(tags, SPAN_LIT("re")));
    val nums = val_find(m, SPAN_LIT("nums"));
    char text[NUM_TEXT_MAX];
    assert_span(SPAN(text, num_format_encoded(val_member_at(nums, 0), text)), "-3");
    assert_span(SPAN(text, num_format_encoded(val_member_at(nums, 2), text)), "10");
    end(&f);
}

static void test_path__leads_somewhere_or_nowhere(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    val m = item_map(build_everything(&f));
    struct path_step steps[] = {{.name = SPAN_LIT("doc")},
                                {.name = SPAN_LIT("list")},
                                {.index = 1},
                                {.name = SPAN_LIT("c")}};
    struct path p = {steps, 4};
    assert_span(val_bytes(path_get(m, &p)), "deep");
    struct buf text;
    buf_init(&text, &f.arena, 1000);
    path_format(&p, &text);
    assert_span(buf_span(&text), "[doc, list, [1], c]");
    steps[2].index = 3;
    assert_true(val_is_absent(path_get(m, &p)));
    steps[2].index = 0; /* a number has no names */
    assert_true(val_is_absent(path_get(m, &p)));
    steps[1].name = SPAN_LIT("empty"); /* a map has no indexes */
    assert_true(val_is_absent(path_get(m, &p)));
    end(&f);
}

static void test_size__is_aws_to_the_byte(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    /* Expected values counted by hand from AWS's rule, name + value for each attribute. */
    static const struct {
        const char *digits;
        uint32_t size;
    } rows[] = {{"0", 1},      {"1", 2},      {"100", 2},       {"120", 3}, {"1234", 3},
                {"1.5", 3},    {"100.5", 4},  {"0.0000001", 2}, {"-42", 3}, {"-0", 1},
                {"1E+125", 2}, {"1E-130", 2}, {"-9.9", 4},      {"1E2", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        vb_clear(&f.b);
        vb_n_text(&f.b, span_cstr(rows[i].digits));
        val v;
        assert_ok(vb_finish(&f.b, &v));
        if (val_size(v) != rows[i].size)
            fail_msg("%s: size %u, wanted %u", rows[i].digits, val_size(v), rows[i].size);
    }
    vb_clear(&f.b);
    span item = build_everything(&f);
    uint32_t want = 4 + 4           /* zeta */
                    + 2 + 10        /* PK */
                    + 5 + 4         /* total: 1 + pairs 1, 29, 99 */
                    + 3 + 2         /* bin */
                    + 3 + 1         /* yes */
                    + 2 + 1         /* no */
                    + 3 + 1         /* nil */
                    + 4 + 3 + 4     /* tags: red, blue, "" */
                    + 4 + 2 + 3 + 2 /* nums: 10, -3, 2 */
                    + 4 + 1 + 1     /* bins */
                    + 3 + 3 + 2     /* doc: 3 + 1 per entry */
                    + 4 + 3 + 3     /* list: its name, 3 + 1 per element */
                    + 2             /* 1 */
                    + 3 + 1 + 1 + 4 /* {c: deep} */
                    + 3             /* [] */
                    + 5 + 3;        /* empty: {} */
    assert_int_equal(item_size(item), want);
    end(&f);
}

static void test_builder__refuses_with_awss_messages(void **state)
{
    (void)state;
    /* Messages as dynalite's tests record them from AWS (test/batchWriteItem.js,
     * test/deleteItem.js). */
    struct fixture f;
    begin(&f);
    val v;
    static const struct {
        enum val_type set;
        const char *members[4];
        const char *message;
    } rows[] = {
        {VAL_SS,
         {NULL},
         "One or more parameter values were invalid: An string set  may not be empty"},
        {VAL_NS,
         {NULL},
         "One or more parameter values were invalid: An number set  may not be empty"},
        {VAL_BS,
         {NULL},
         "One or more parameter values were invalid: Binary sets should not be empty"},
        {VAL_SS,
         {"a", "a"},
         "One or more parameter values were invalid: Input collection [a, a] contains duplicates."},
        {VAL_SS,
         {"b", "a", "b"},
         "One or more parameter values were invalid: Input collection [b, a, b] contains "
         "duplicates."},
        {VAL_BS,
         {"b", "b"},
         "One or more parameter values were invalid: Input collection [Yg==, Yg==]of type BS "
         "contains "
         "duplicates."},
        {VAL_NS, {"1", "1.0"}, "Input collection contains duplicates"},
        {VAL_NS, {"1", "b"}, "The parameter cannot be converted to a numeric value: b"},
        {VAL_NS, {"1", ""}, "The parameter cannot be converted to a numeric value"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        vb_clear(&f.b);
        vb_set_begin(&f.b, rows[i].set);
        for (int k = 0; k < 4 && rows[i].members[k]; k++) {
            if (rows[i].set == VAL_SS) vb_s(&f.b, span_cstr(rows[i].members[k]));
            if (rows[i].set == VAL_BS) vb_b(&f.b, span_cstr(rows[i].members[k]));
            if (rows[i].set == VAL_NS) vb_n_text(&f.b, span_cstr(rows[i].members[k]));
        }
        vb_end(&f.b);
        assert_rc(vb_finish(&f.b, &v), SHEAF_VALIDATION);
        assert_string_equal(f.err.message, rows[i].message);
        assert_true(val_is_absent(v));
    }
    end(&f);
}

static void test_builder__refuses_what_makes_no_value(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    val v;
    span item;
    vb_s(&f.b, SPAN("\xC0\x80", 2));
    assert_rc(vb_finish(&f.b, &v), SHEAF_VALIDATION);
    assert_string_equal(f.err.message, "One or more parameter values were invalid: String value is "
                                       "not valid UTF-8"); /* unverified: no client can send it */
    vb_clear(&f.b);
    assert_rc(vb_finish(&f.b, &v), SHEAF_INTERNAL); /* nothing */
    vb_clear(&f.b);
    vb_null(&f.b);
    vb_null(&f.b);
    assert_rc(vb_finish(&f.b, &v), SHEAF_INTERNAL); /* two */
    vb_clear(&f.b);
    vb_map_begin(&f.b);
    vb_null(&f.b);
    assert_rc(vb_finish(&f.b, &v), SHEAF_INTERNAL); /* no name */
    vb_clear(&f.b);
    vb_map_begin(&f.b);
    vb_name(&f.b, SPAN_LIT("a"));
    vb_end(&f.b);
    assert_rc(vb_finish(&f.b, &v), SHEAF_INTERNAL); /* a name and no value */
    vb_clear(&f.b);
    vb_set_begin(&f.b, VAL_SS);
    vb_n_text(&f.b, SPAN_LIT("1"));
    assert_rc(vb_finish(&f.b, &v), SHEAF_INTERNAL); /* a number among strings */
    vb_clear(&f.b);
    vb_list_begin(&f.b);
    assert_rc(vb_finish(&f.b, &v), SHEAF_INTERNAL); /* left open */
    vb_clear(&f.b);
    vb_list_begin(&f.b);
    vb_end(&f.b);
    assert_rc(vb_finish_item(&f.b, &item), SHEAF_INTERNAL); /* an item is a map */
    vb_clear(&f.b);
    vb_map_begin(&f.b);
    put_s(&f.b, "a", "1");
    put_s(&f.b, "b", "1");
    put_s(&f.b, "a", "2");
    vb_end(&f.b);
    assert_rc(vb_finish_item(&f.b, &item), SHEAF_VALIDATION);
    assert_string_equal(f.err.message, "One or more parameter values were invalid: Duplicate "
                                       "attribute name: a"); /* unverified: JSON has it refused */
    print_message("unverified rows: 2\n");
    end(&f);
}

/* An attribute "a" of `wraps` lists around a leaf. Levels as recorded on AWS: the attribute is
 * level 1. */
static sheaf_rc nest(struct fixture *f, uint32_t wraps, span *item)
{
    vb_clear(&f->b);
    vb_map_begin(&f->b);
    vb_name(&f->b, SPAN_LIT("a"));
    for (uint32_t i = 0; i < wraps; i++) vb_list_begin(&f->b);
    vb_s(&f->b, SPAN_LIT("leaf"));
    for (uint32_t i = 0; i < wraps; i++) vb_end(&f->b);
    vb_end(&f->b);
    return vb_finish_item(&f->b, item);
}

static void test_limit__nesting_32_passes_33_fails(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    span item;
    assert_ok(nest(&f, LIMIT_NESTING - 1, &item));
    assert_ok(item_check(item, &f.err));
    val attribute = val_find(item_map(item), SPAN_LIT("a"));
    assert_int_equal(val_depth(attribute), LIMIT_NESTING);
    span kept = arena_dup(&f.arena, SPAN(attribute.p, attribute.n));
    assert_rc(nest(&f, LIMIT_NESTING, &item), SHEAF_VALIDATION);
    assert_string_equal(f.err.message,
                        "Nesting Levels have exceeded supported limits: Attributes in "
                        "the item have nested levels beyond supported limit");
    assert_rc(nest(&f, 5000, &item), SHEAF_VALIDATION);
    vb_clear(&f.b); /* a raw copy counts its own levels */
    vb_map_begin(&f.b);
    vb_name(&f.b, SPAN_LIT("a"));
    vb_raw(&f.b, (val){kept.p, (uint32_t)kept.n});
    vb_end(&f.b);
    assert_ok(vb_finish_item(&f.b, &item));
    vb_clear(&f.b);
    vb_list_begin(&f.b);
    vb_raw(&f.b, (val){kept.p, (uint32_t)kept.n});
    vb_end(&f.b);
    val v;
    assert_rc(vb_finish(&f.b, &v), SHEAF_VALIDATION);
    end(&f);
}

static void test_limit__name_65535_passes_65536_fails(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    uint8_t *name = arena_bytes(&f.arena, LIMIT_ATTRIBUTE_NAME_BYTES + 1);
    memset(name, 'n', LIMIT_ATTRIBUTE_NAME_BYTES + 1);
    for (size_t extra = 0; extra < 2; extra++) {
        vb_clear(&f.b);
        vb_map_begin(&f.b);
        vb_name(&f.b, SPAN(name, LIMIT_ATTRIBUTE_NAME_BYTES + extra));
        vb_null(&f.b);
        vb_end(&f.b);
        span item;
        assert_rc(vb_finish_item(&f.b, &item), extra ? SHEAF_VALIDATION : SHEAF_OK);
        if (!extra) assert_ok(item_check(item, &f.err));
    }
    end(&f);
}

static void test_builder__keeps_its_ceiling(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    vb_init(&f.b, &f.ctx, 100);
    uint8_t bytes[100] = {0};
    val v;
    vb_b(&f.b, SPAN(bytes, 93)); /* header 5, tag, length */
    assert_ok(vb_finish(&f.b, &v));
    vb_clear(&f.b);
    vb_b(&f.b, SPAN(bytes, 94));
    assert_rc(vb_finish(&f.b, &v), SHEAF_NOMEM);
    end(&f);
}

static void test_map__many_entries_in_any_order(void **state)
{
    (void)state;
    struct fixture f;
    struct rng r;
    rng_init(&r, test_seed(7));
    for (uint32_t n = 0; n < 3000; n = n * 3 / 2 + 1) {
        begin(&f);
        vb_map_begin(&f.b);
        for (uint32_t i = 0; i < n; i++) {
            char name[16];
            snprintf(name, sizeof name, "%07u", (unsigned)((i * 7919u) % 1000003u));
            put_s(&f.b, name, name);
        }
        vb_end(&f.b);
        span item;
        assert_ok(vb_finish_item(&f.b, &item));
        assert_ok(item_check(item, &f.err));
        assert_int_equal(val_count(item_map(item)), n);
        for (uint32_t i = 0; i < n; i++) {
            char name[16];
            snprintf(name, sizeof name, "%07u", (unsigned)((i * 7919u) % 1000003u));
            assert_span(val_bytes(val_find(item_map(item), span_cstr(name))), name);
        }
        end(&f);
    }
}

/* ---- the oracle: random trees ---- */

struct node {
    enum val_type type;
    char text[24]; /* S, B, members of sets; digits of N */
    bool flag;
    uint32_t n;
    struct node *kids;
    char (*names)[16];
};

static void random_text(struct rng *r, char *out, size_t max)
{
    size_t n = rng_below(r, max);
    for (size_t i = 0; i < n; i++) out[i] = (char)('a' + rng_below(r, 4));
    out[n] = '\0';
}

static void random_node(struct rng *r, struct arena *a, struct node *x, int depth)
{
    memset(x, 0, sizeof *x);
    x->type = (enum val_type)(1 + rng_below(r, depth > 0 ? 10 : 5));
    x->flag = rng_below(r, 2);
    if (x->type == VAL_N)
        snprintf(x->text, sizeof x->text, "%d.%u", (int)rng_below(r, 2000) - 1000,
                 (unsigned)rng_below(r, 9));
    else
        random_text(r, x->text, 12);
    if (x->type < VAL_M) return;
    x->n = (uint32_t)rng_below(r, 6) + (x->type >= VAL_SS);
    x->kids = ARENA_ARRAY(a, struct node, x->n);
    x->names = arena_zalloc(a, x->n * 16u);
    for (uint32_t i = 0; i < x->n; i++) {
        random_node(r, a, &x->kids[i], x->type >= VAL_SS ? 0 : depth - 1);
        snprintf(x->names[i], 16, "%c%u", (char)('a' + rng_below(r, 26)), (unsigned)i);
        if (x->type >= VAL_SS)
            snprintf(x->kids[i].text, 24, "%u%u", (unsigned)rng_below(r, 90) + 1, (unsigned)i);
    }
}

static void write_node(struct vb *b, const struct node *x)
{
    switch (x->type) {
    case VAL_S:
        vb_s(b, span_cstr(x->text));
        return;
    case VAL_N:
        vb_n_text(b, span_cstr(x->text));
        return;
    case VAL_B:
        vb_b(b, span_cstr(x->text));
        return;
    case VAL_BOOL:
        vb_bool(b, x->flag);
        return;
    case VAL_NULL:
        vb_null(b);
        return;
    case VAL_M:
        vb_map_begin(b);
        break;
    case VAL_L:
        vb_list_begin(b);
        break;
    default:
        vb_set_begin(b, x->type);
        break;
    }
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->type == VAL_M) vb_name(b, span_cstr(x->names[i]));
        if (x->type == VAL_SS)
            vb_s(b, span_cstr(x->kids[i].text));
        else if (x->type == VAL_NS)
            vb_n_text(b, span_cstr(x->kids[i].text));
        else if (x->type == VAL_BS)
            vb_b(b, span_cstr(x->kids[i].text));
        else
            write_node(b, &x->kids[i]);
    }
    vb_end(b);
}

static void compare_node(val v, const struct node *x)
{
    assert_int_equal(val_type(v), x->type);
    if (x->type == VAL_S || x->type == VAL_B) assert_span(val_bytes(v), x->text);
    if (x->type == VAL_BOOL) assert_int_equal(val_bool(v), x->flag);
    if (x->type == VAL_N) {
        struct num got, want;
        val_num(v, &got);
        assert_ok(num_parse(span_cstr(x->text), &want, NULL));
        assert_int_equal(num_cmp(&got, &want), 0);
    }
    if (x->type < VAL_M) return;
    assert_int_equal(val_count(v), x->n);
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->type == VAL_M) compare_node(val_find(v, span_cstr(x->names[i])), &x->kids[i]);
        if (x->type == VAL_L) compare_node(val_at(v, i), &x->kids[i]);
        if (x->type == VAL_SS || x->type == VAL_BS)
            assert_true(val_set_has(v, span_cstr(x->kids[i].text)));
    }
}

/* Reads everything that can be read, as a printer would; returns a checksum so that nothing is
 * optimised away. */
static uint64_t touch(val v)
{
    uint64_t sum = val_size(v) + val_depth(v);
    if (val_type(v) == VAL_M || val_type(v) == VAL_L)
        for (uint32_t i = 0; i < val_count(v); i++) {
            if (val_type(v) == VAL_M) sum += val_name_at(v, i).n;
            sum += touch(val_at(v, i));
        }
    else if (val_type(v) >= VAL_SS)
        for (uint32_t i = 0; i < val_count(v); i++) sum += val_member_at(v, i).n;
    return sum;
}

static void test_item__random_trees_survive_and_damage_is_noticed(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(20261115));
    uint64_t refused = 0, accepted = 0;
    for (uint64_t round = 0; round < test_rounds(4000); round++) {
        struct fixture f;
        begin(&f);
        struct node *x = ARENA_NEW(&f.arena, struct node);
        do random_node(&r, &f.arena, x, 5);
        while (x->type != VAL_M);
        write_node(&f.b, x);
        span item;
        assert_ok(vb_finish_item(&f.b, &item));
        assert_ok(item_check(item, &f.err));
        compare_node(item_map(item), x);
        assert_int_equal(item_size(item), val_size(item_map(item)) - 3 - x->n);
        for (int k = 0; k < 50; k++) {
            uint8_t *copy = malloc(item.n); /* exact size: ASan sees a byte too far */
            memcpy(copy, item.p, item.n);
            size_t cut = rng_below(&r, 8) == 0 ? rng_below(&r, item.n) : item.n;
            if (cut) copy[rng_below(&r, cut)] = (uint8_t)rng_u64(&r);
            sheaf_rc rc = item_check(SPAN(copy, cut), &f.err);
            bool has_shape = item_check_shape(SPAN(copy, cut));
            if (has_shape) assert_true(touch(item_map(SPAN(copy, cut))) > 0);
            if (rc == SHEAF_OK) {
                assert_true(has_shape);
                assert_true(touch(item_map(SPAN(copy, cut))) > 0);
                accepted++;
            } else {
                assert_true(rc == SHEAF_CORRUPT || rc == SHEAF_FORMAT);
                refused++;
            }
            free(copy);
        }
        end(&f);
    }
    print_message("damaged copies: %llu refused, %llu still a valid item\n",
                  (unsigned long long)refused, (unsigned long long)accepted);
    assert_true(refused > accepted);
}

static void test_builder__every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    uint64_t failures = 0;
    for (uint64_t nth = 1;; nth++) {
        struct fixture f;
        begin(&f);
        mem_fail_at(nth, true);
        vb_map_begin(&f.b);
        for (int i = 0; i < 200; i++) {
            char name[40];
            snprintf(name, sizeof name, "%d-attribute-with-a-long-name", 997 - i);
            put_s(&f.b, name, name);
        }
        vb_end(&f.b);
        span item;
        sheaf_rc rc = vb_finish_item(&f.b, &item);
        mem_fail_at(0, false);
        end(&f);
        if (rc == SHEAF_OK) break;
        assert_int_equal(rc, SHEAF_NOMEM);
        failures++;
    }
    assert_true(failures >= 3);
}

static void test_equal_values__are_equal_bytes(void **state)
{
    (void)state;
    struct fixture f, g;
    begin(&f);
    begin(&g);
    vb_map_begin(&f.b);
    put_s(&f.b, "a", "1");
    put_n(&f.b, "b", "1E2");
    vb_end(&f.b);
    vb_map_begin(&g.b);
    put_n(&g.b, "b", "100.0");
    put_s(&g.b, "a", "1");
    vb_end(&g.b);
    val v, w;
    assert_ok(vb_finish(&f.b, &v));
    assert_ok(vb_finish(&g.b, &w));
    assert_true(val_eq(v, w));
    assert_false(val_eq(v, val_at(w, 0)));
    assert_false(val_eq(VAL_ABSENT, VAL_ABSENT));
    end(&f);
    end(&g);
}

static void test_name__of_an_attribute_is_not_empty(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    span item;
    vb_map_begin(&f.b);
    put_s(&f.b, "a", "1");
    put_s(&f.b, "", "2");
    vb_end(&f.b);
    assert_rc(vb_finish_item(&f.b, &item), SHEAF_VALIDATION);
    uint8_t bytes[32]; /* the same as bytes from outside: {"": NULL} */
    size_t n = test_hex("01 01000000  16 04000000  00 05  00 01", bytes, sizeof bytes);
    assert_rc(item_check(SPAN(bytes, n), &f.err), SHEAF_CORRUPT);
    end(&f);
}

static void test_type__names_parse_both_ways(void **state)
{
    (void)state;
    for (int t = VAL_S; t <= VAL_BS; t++) {
        enum val_type back;
        assert_true(val_type_parse(span_cstr(val_type_name((enum val_type)t)), &back));
        assert_int_equal(back, t);
    }
    enum val_type none;
    assert_false(val_type_parse(SPAN_LIT("X"), &none));
    assert_false(val_type_parse(SPAN_LIT(""), &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_item__worked_example),
        cmocka_unit_test(test_item__holds_all_ten_types),
        cmocka_unit_test(test_path__leads_somewhere_or_nowhere),
        cmocka_unit_test(test_size__is_aws_to_the_byte),
        cmocka_unit_test(test_builder__refuses_with_awss_messages),
        cmocka_unit_test(test_builder__refuses_what_makes_no_value),
        cmocka_unit_test(test_limit__nesting_32_passes_33_fails),
        cmocka_unit_test(test_limit__name_65535_passes_65536_fails),
        cmocka_unit_test(test_builder__keeps_its_ceiling),
        cmocka_unit_test(test_map__many_entries_in_any_order),
        cmocka_unit_test(test_item__random_trees_survive_and_damage_is_noticed),
        cmocka_unit_test(test_builder__every_failed_allocation_is_an_error),
        cmocka_unit_test(test_equal_values__are_equal_bytes),
        cmocka_unit_test(test_name__of_an_attribute_is_not_empty),
        cmocka_unit_test(test_type__names_parse_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
