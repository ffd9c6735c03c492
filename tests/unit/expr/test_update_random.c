/* Random updates of random items, printed to text, compiled and applied, against a reference on
 * plain trees that does one action after the other: a list element that is removed leaves a hole,
 * one that is appended waits in a queue, and both are settled at the very end. */
#include "support/exprs.h"

#include <inttypes.h>

#define WRONG_TYPE "An operand in the update expression has an incorrect data type"
#define NO_ATTRIBUTE                                                                               \
    "The provided expression refers to an attribute that does not exist in the item"
#define BAD_PATH "The document path provided in the update expression is invalid for update"

enum section { SET, REMOVE, ADD, DELETE, N_SECTIONS };
enum shape { PLAIN, PLUS, MINUS, APPEND };
enum { MAX_ACTIONS = 6, MAX_PATHS = 3, MAX_VALUES = 32, MAX_PENDING = MAX_ACTIONS };

struct operand {
    struct path paths[MAX_PATHS];
    uint32_t n_paths;
    struct doc *fallback;
};
struct action {
    enum section section;
    enum shape shape; /* of SET */
    struct path path;
    struct operand a, b;
    struct doc *result; /* in the reference */
};
struct update {
    struct action actions[MAX_ACTIONS]; /* in the order written */
    uint32_t n;
    struct expr_value values[MAX_VALUES];
    uint32_t n_values;
    struct buf text;
};

/* ---- the reference ---- */

static const char *evaluate(struct doc *item, const struct operand *o, enum val_type want,
                            struct doc **out)
{
    *out = NULL;
    for (uint32_t i = 0; i < o->n_paths && !*out; i++)
        *out = naive_get(item, &o->paths[i], o->paths[i].n);
    if (!*out) *out = o->fallback;
    if (!*out) return NO_ATTRIBUTE;
    return want != VAL_NONE && (*out)->type != want ? WRONG_TYPE : NULL;
}

static long long number(const struct doc *d)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", SPAN_ARG(d->bytes));
    return strtoll(text, NULL, 10);
}

static const char *set_result(struct arena *a, struct doc *item, struct action *act)
{
    enum val_type want = act->shape == PLAIN ? VAL_NONE : act->shape == APPEND ? VAL_L : VAL_N;
    struct doc *x, *y;
    const char *error = evaluate(item, &act->a, want, &x);
    act->result = x;
    if (error || act->shape == PLAIN) return error;
    if ((error = evaluate(item, &act->b, want, &y))) return error;
    if (act->shape != APPEND) {
        act->result =
            doc_number(a, act->shape == PLUS ? number(x) + number(y) : number(x) - number(y));
        return NULL;
    }
    act->result = doc_new(a, VAL_L);
    for (uint32_t i = 0; i < x->n; i++) doc_add(a, act->result, SPAN_NONE, x->kids[i]);
    for (uint32_t i = 0; i < y->n; i++) doc_add(a, act->result, SPAN_NONE, y->kids[i]);
    return NULL;
}

static bool has_member(const struct doc *set, const struct doc *m)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (span_eq(set->kids[i]->bytes, m->bytes)) return true;
    return false;
}

/* What ADD or DELETE leaves; NULL for nothing. */
static struct doc *combine(struct arena *a, const struct doc *old, struct doc *v, bool is_delete)
{
    if (!old) return is_delete ? NULL : v;
    if (old->type == VAL_N) return doc_number(a, number(old) + number(v));
    struct doc *out = doc_new(a, old->type);
    for (uint32_t i = 0; i < old->n; i++)
        if (!is_delete || !has_member(v, old->kids[i])) doc_add(a, out, SPAN_NONE, old->kids[i]);
    for (uint32_t i = 0; i < v->n && !is_delete; i++)
        if (!has_member(old, v->kids[i])) doc_add(a, out, SPAN_NONE, v->kids[i]);
    return out->n ? out : NULL;
}

static const char *target_result(struct arena *a, struct doc *item, struct action *act)
{
    const struct path_step *last = &act->path.steps[act->path.n - 1];
    struct doc *parent = naive_get(item, &act->path, act->path.n - 1);
    if (!parent || parent->type != (last->name.p ? VAL_M : VAL_L)) return BAD_PATH;
    if (act->section == SET || act->section == REMOVE) return NULL;
    struct doc *old = naive_get(item, &act->path, act->path.n);
    if (old && old->type != act->a.fallback->type) return WRONG_TYPE;
    act->result = combine(a, old, act->a.fallback, act->section == DELETE);
    return NULL;
}

struct pending {
    struct doc *list, *value;
    uint32_t index;
};
struct queue {
    struct pending at[MAX_PENDING];
    uint32_t n;
};

/* Puts the result in its place, or leaves a hole there. */
static void write_result(struct arena *a, struct doc *copy, const struct action *act,
                         struct queue *q)
{
    const struct path_step *last = &act->path.steps[act->path.n - 1];
    struct doc *parent = naive_get(copy, &act->path, act->path.n - 1);
    struct doc *value = act->result ? doc_dup(a, act->result) : NULL;
    if (last->name.p) {
        struct doc **kid = doc_find(parent, last->name);
        if (kid)
            *kid = value;
        else if (value)
            doc_add(a, parent, last->name, value);
    } else if (last->index < parent->n) {
        parent->kids[last->index] = value;
    } else if (value) {
        q->at[q->n++] = (struct pending){parent, value, last->index};
    }
}

static void settle(struct arena *a, struct doc *d, struct queue *q)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        if (!d->kids[i]) continue;
        d->names[n] = d->names[i];
        d->kids[n++] = d->kids[i];
    }
    d->n = n;
    for (uint32_t index = 0; d->type == VAL_L && index < 16; index++)
        for (uint32_t i = 0; i < q->n; i++)
            if (q->at[i].list == d && q->at[i].index == index)
                doc_add(a, d, SPAN_NONE, q->at[i].value);
    for (uint32_t i = 0; i < d->n; i++) settle(a, d->kids[i], q);
}

/* The message of the error, or NULL and the new item. */
static const char *reference(struct arena *a, struct doc *item, struct update *u, struct doc **out)
{
    struct queue q = {0};
    const char *error = NULL;
    for (uint32_t i = 0; i < u->n && !error; i++)
        if (u->actions[i].section == SET) error = set_result(a, item, &u->actions[i]);
    for (uint32_t i = 0; i < u->n && !error; i++) error = target_result(a, item, &u->actions[i]);
    if (error) return error;
    *out = doc_dup(a, item);
    for (uint32_t i = 0; i < u->n; i++) write_result(a, *out, &u->actions[i], &q);
    settle(a, *out, &q);
    return NULL;
}

/* ---- random updates ---- */

static struct doc *random_of(struct arena *a, struct rng *r, enum val_type want)
{
    for (;;) {
        struct doc *d = random_doc(a, r, 3);
        if (want == VAL_NONE || d->type == want) return d;
    }
}

/* A path that leads to the type, if a few tries find one. */
static struct path path_to(struct arena *a, struct rng *r, struct doc *item, enum val_type want)
{
    struct path path;
    for (int tries = 0; tries < 40; tries++) {
        path = random_path(a, r, item);
        struct doc *at = naive_get(item, &path, path.n);
        if (at && (want == VAL_NONE || at->type == want)) break;
    }
    return path;
}

/* A path, a value, or if_not_exists around them. */
static struct operand random_operand(struct arena *a, struct rng *r, struct doc *item,
                                     enum val_type want)
{
    struct operand o = {0};
    uint32_t n = (uint32_t)rng_below(r, MAX_PATHS + 1);
    for (; o.n_paths < n; o.n_paths++)
        o.paths[o.n_paths] = rng_below(r, 2) ? random_path(a, r, item) : path_to(a, r, item, want);
    if (n == 0 || rng_below(r, 5)) o.fallback = random_of(a, r, want);
    return o;
}

static struct doc *random_add_value(struct arena *a, struct rng *r, const struct doc *old,
                                    bool is_delete)
{
    bool fits = old && (old->type >= VAL_SS || (old->type == VAL_N && !is_delete));
    if (fits && rng_below(r, 8)) return random_of(a, r, old->type);
    return random_of(a, r, is_delete ? VAL_SS + (unsigned)rng_below(r, 3) : VAL_N);
}

static struct path random_target(struct arena *a, struct rng *r, struct doc *item,
                                 enum section section)
{
    if (section == SET || section == REMOVE) return random_path(a, r, item);
    enum val_type want =
        section == ADD && rng_below(r, 2) ? VAL_N : VAL_SS + (unsigned)rng_below(r, 3);
    return path_to(a, r, item, want);
}

static struct action random_action(struct arena *a, struct rng *r, struct doc *item,
                                   enum section section)
{
    struct action act = {.section = section};
    act.path = random_target(a, r, item, section);
    if (section == SET) {
        act.shape = (enum shape)rng_below(r, 4);
        enum val_type want = act.shape == PLAIN ? VAL_NONE : act.shape == APPEND ? VAL_L : VAL_N;
        act.a = random_operand(a, r, item, want);
        if (act.shape != PLAIN) act.b = random_operand(a, r, item, want);
    } else if (section != REMOVE) {
        struct doc *old = naive_get(item, &act.path, act.path.n);
        act.a.fallback = random_add_value(a, r, old, section == DELETE);
    }
    return act;
}

static bool clashes(const struct update *u, const struct path *path)
{
    for (uint32_t i = 0; i < u->n; i++)
        if (naive_clash(&u->actions[i].path, path) != CLASH_NONE) return true;
    return false;
}

/* Most actions should do something: an error of any one hides what the others do. */
static bool is_welcome(struct arena *a, struct rng *r, struct doc *item, struct action act)
{
    const char *error = act.section == SET ? set_result(a, item, &act) : NULL;
    if (!error) error = target_result(a, item, &act);
    return !error || rng_below(r, 12) == 0;
}

/* ---- to text ---- */

static void print_value(struct arena *a, struct update *u, struct doc *d)
{
    char name[8];
    int n = snprintf(name, sizeof name, ":v%u", u->n_values);
    assert_true(u->n_values < MAX_VALUES);
    struct expr_value *v = &u->values[u->n_values++];
    v->placeholder = arena_dup(a, SPAN(name, (size_t)n));
    v->value = doc_val(a, d);
    buf_put_span(&u->text, v->placeholder);
}

static void print_operand(struct arena *a, struct rng *r, struct update *u, struct operand *o)
{
    bool is_paren = rng_below(r, 6) == 0;
    uint32_t calls = 0;
    buf_printf(&u->text, "%s", is_paren ? "(" : "");
    for (uint32_t i = 0; i < o->n_paths; i++) {
        bool is_last = i + 1 == o->n_paths && !o->fallback;
        if (!is_last) buf_printf(&u->text, "if_not_exists(");
        random_path_print(r, &o->paths[i], &u->text);
        if (!is_last) buf_printf(&u->text, ", ");
        calls += !is_last;
    }
    if (o->fallback) print_value(a, u, o->fallback);
    for (uint32_t i = 0; i < calls + is_paren; i++) buf_put_u8(&u->text, ')');
}

static void print_set(struct arena *a, struct rng *r, struct update *u, struct action *act)
{
    bool is_sum = act->shape == PLUS || act->shape == MINUS;
    bool is_paren = is_sum && rng_below(r, 6) == 0;
    buf_printf(&u->text, " = %s", act->shape == APPEND ? "list_append(" : is_paren ? "(" : "");
    print_operand(a, r, u, &act->a);
    if (act->shape == PLAIN) return;
    buf_printf(&u->text, "%s", act->shape == APPEND ? ", " : act->shape == PLUS ? " + " : " - ");
    print_operand(a, r, u, &act->b);
    if (act->shape == APPEND || is_paren) buf_put_u8(&u->text, ')');
}

static void print_action(struct arena *a, struct rng *r, struct update *u, struct action *act)
{
    random_path_print(r, &act->path, &u->text);
    if (act->section == SET) {
        print_set(a, r, u, act);
    } else if (act->section != REMOVE) {
        buf_put_u8(&u->text, ' ');
        print_value(a, u, act->a.fallback);
    }
}

static void random_update(struct arena *a, struct rng *r, struct doc *item, struct update *u)
{
    static const char *const words[] = {"SET", "remove", "Add", "DELETE"};
    uint32_t left = 1 + (uint32_t)rng_below(r, MAX_ACTIONS), turn = (uint32_t)rng_below(r, 4);
    *u = (struct update){0};
    buf_init(&u->text, a, 1 << 16);
    for (uint32_t s = 0; s < N_SECTIONS && left > 0; s++) {
        enum section section = (enum section)((s + turn) % N_SECTIONS);
        uint32_t n = s + 1 == N_SECTIONS ? left : (uint32_t)rng_below(r, left + 1);
        bool is_first = true;
        for (left -= n; n > 0; n--) {
            struct action act = random_action(a, r, item, section);
            if (clashes(u, &act.path) || !is_welcome(a, r, item, act)) continue;
            if (is_first) buf_printf(&u->text, "%s%s ", u->n ? " " : "", words[section]);
            if (!is_first) buf_printf(&u->text, ", ");
            print_action(a, r, u, &act);
            u->actions[u->n++] = act;
            is_first = false;
        }
    }
    assert_false(u->text.failed);
}

/* ---- comparing ---- */

static void compare(struct request *r, struct doc *item, struct update *u, sheaf_rc rc, span after)
{
    struct doc *want = NULL;
    const char *error = reference(&r->arena, item, u, &want);
    const char *got = rc ? r->err.message : doc_val_text(&r->arena, item_map(after));
    const char *wanted = error ? error : doc_print(&r->arena, want);
    if (strcmp(got, wanted) != 0)
        fail_msg("%.*s\n  of:     %s\n  gives:  %s\n  wanted: %s", SPAN_ARG(buf_span(&u->text)),
                 doc_print(&r->arena, item), got, wanted);
    assert_int_equal(rc, error ? SHEAF_VALIDATION : SHEAF_OK);
    if (error)
        assert_null(after.p);
    else
        assert_true(span_eq(after, doc_item(&r->arena, want))); /* to the byte */
}

/* Returns whether the update was applied. */
static bool compare_one(struct rng *rng)
{
    struct request r;
    struct update u;
    const struct expr_update *compiled;
    span after;
    request_init(&r);
    request_env(&r, RANDOM_NAMES, NULL);
    struct doc *item = random_item(&r.arena, rng);
    random_update(&r.arena, rng, item, &u);
    if (u.n == 0) {
        request_deinit(&r);
        return false;
    }
    r.env.values = u.values;
    r.env.n_values = u.n_values;
    span text = buf_span(&u.text);
    if (expr_compile_update(&r.ctx, text, &r.env, &compiled) != SHEAF_OK)
        fail_msg("%.*s: %s", SPAN_ARG(text), r.err.message);
    span before = doc_item(&r.arena, item), copy = arena_dup(&r.arena, before);
    sheaf_rc rc = expr_update_apply(&r.ctx, compiled, item_map(before), &after);
    assert_true(span_eq(before, copy));
    compare(&r, item, &u, rc, after);
    request_deinit(&r);
    return rc == SHEAF_OK;
}

static void test_update__agrees_with_the_reference(void **state)
{
    (void)state;
    struct rng rng;
    uint64_t rounds = test_rounds(5000), applied = 0;
    rng_init(&rng, test_seed(815));
    for (uint64_t i = 0; i < rounds; i++) applied += compare_one(&rng);
    printf("%" PRIu64 " rounds, %" PRIu64 " of them applied\n", rounds, applied);
    assert_true(applied > rounds / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_update__agrees_with_the_reference),
    };
    return cmocka_run_group_tests_name("expr/update_random", tests, NULL, NULL);
}
