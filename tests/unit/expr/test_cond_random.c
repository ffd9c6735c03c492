/* expr: random expressions with random items. A naive evaluator on trees of values must agree with
 * the compiled program, whose text is printed from the tree that the naive one walks. */
#include "support/support.h"

#include "base/rng.h"
#include "base/utf8.h"
#include "expr/expr.h"
#include "support/doc.h"
#include "support/envs.h"

struct rand {
    struct rng r;
    struct arena *a;
    struct doc *values; /* constants met so far: :0, :1, … */
    struct buf text;
};

static uint32_t below(struct rand *s, uint32_t n) { return (uint32_t)rng_below(&s->r, n); }

/* A small value; few of each kind, so that comparisons are often equal. */
static struct doc *random_value(struct rand *s, int depth)
{
    static const char *const scalars[] = {
        "0",      "1",     "2",    "-1",    "1.5",    "'a'",        "''",        "'ab'",
        "b'a'",   "b'ab'", "true", "false", "3",      "null",       "'b'",       "<'a'>",
        "<1, 2>", "<1>",   "[]",   "{}",    "<b'a'>", "'\\C3\\A9'", "<'a', 'b'>"};
    uint32_t kind = depth > 0 ? below(s, 10) : 9;
    if (kind > 1) return doc_parse(s->a, scalars[below(s, sizeof scalars / sizeof *scalars)]);
    struct doc *d = doc_new(s->a, kind ? VAL_L : VAL_M);
    for (uint32_t i = 0, n = below(s, 4); i < n; i++) {
        static const char *const names[] = {"a", "b", "c", "d"};
        doc_add(s->a, d, kind ? SPAN_NONE : span_cstr(names[i]), random_value(s, depth - 1));
    }
    return d;
}

static struct doc *random_item(struct rand *s)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    struct doc *d = doc_new(s->a, VAL_M);
    for (int i = 0; i < 5; i++) {
        if (below(s, 4)) doc_add(s->a, d, span_cstr(names[i]), random_value(s, 2));
    }
    return d;
}

/* A tree: its text is printed and its value found by walking it. */
struct tree {
    enum { T_AND, T_OR, T_NOT, T_CMP, T_BETWEEN, T_IN, T_FN } kind;
    struct tree *x, *y;
    const char *op; /* of T_CMP and T_FN */
    struct term {
        enum { TERM_PATH, TERM_CONST } kind;
        bool is_size;
        const char *path; /* "a", "b.c", "d[1]" */
        struct doc *value;
        uint32_t id;
    } t[4];
    uint32_t n;
};

static struct term random_term(struct rand *s, bool may_be_size)
{
    static const char *const paths[] = {"a",   "b",    "c",    "d",   "e",        "f",
                                        "a.b", "b[1]", "c[0]", "d.a", "a.b[0].c", "e[2].a"};
    struct term t = {.is_size = may_be_size && below(s, 5) == 0};
    if (below(s, 2)) {
        t.kind = TERM_PATH;
        t.path = paths[below(s, sizeof paths / sizeof *paths)];
    } else {
        t.kind = TERM_CONST;
        t.value = random_value(s, 1);
        t.id = s->values->n;
        char *name = arena_alloc(s->a, 12);
        assert_non_null(name);
        int n = snprintf(name, 12, ":%u", t.id);
        doc_add(s->a, s->values, SPAN(name, (size_t)n), t.value);
    }
    return t;
}

static struct tree *random_tree(struct rand *s, int depth)
{
    struct tree *t = ARENA_NEW(s->a, struct tree);
    assert_non_null(t);
    if (depth > 0 && below(s, 3)) {
        t->kind = below(s, 3);
        t->x = random_tree(s, depth - 1);
        if (t->kind != T_NOT) t->y = random_tree(s, depth - 1);
        return t;
    }
    static const char *const ops[] = {"=", "<>", "<", "<=", ">", ">="};
    static const char *const fns[] = {"attribute_exists", "attribute_not_exists", "begins_with",
                                      "contains"};
    t->kind = T_CMP + below(s, 4);
    if (t->kind == T_CMP) t->op = ops[below(s, 6)];
    if (t->kind == T_FN) t->op = fns[below(s, 4)];
    t->n = t->kind == T_BETWEEN                 ? 3
           : t->kind == T_IN                    ? 2 + below(s, 3)
           : t->kind == T_FN && t->op[0] == 'a' ? 1
                                                : 2;
    for (uint32_t i = 0; i < t->n; i++)
        t->t[i] = random_term(s, t->kind != T_FN || t->op[0] == 'c');
    return t;
}

static void print_term(struct rand *s, const struct term *t)
{
    if (t->is_size) buf_printf(&s->text, "size(");
    if (t->kind == TERM_PATH)
        buf_printf(&s->text, below(s, 8) ? "%s" : "(%s)", t->path);
    else
        buf_printf(&s->text, ":%u", t->id);
    if (t->is_size) buf_printf(&s->text, ")");
}

static void print_leaf(struct rand *s, const struct tree *t)
{
    static const char *const between[] = {"", " BETWEEN ", " and "};
    if (t->kind == T_FN) buf_printf(&s->text, "%s(", t->op);
    for (uint32_t i = 0; i < t->n; i++) {
        if (i > 0 && t->kind == T_CMP) buf_printf(&s->text, "%s", t->op);
        if (i > 0 && t->kind == T_BETWEEN) buf_printf(&s->text, "%s", between[i]);
        if (i > 0 && t->kind == T_FN) buf_printf(&s->text, ",");
        if (i > 0 && t->kind == T_IN) buf_printf(&s->text, i == 1 ? " in (" : ", ");
        print_term(s, &t->t[i]);
    }
    if (t->kind == T_FN || t->kind == T_IN) buf_printf(&s->text, ")");
}

/* Parentheses where the tree needs them, and sometimes where it does not. `level`: 0 OR, 1 AND,
 * 2 NOT. */
static void print_tree(struct rand *s, const struct tree *t, int level)
{
    int own = t->kind == T_OR ? 0 : t->kind == T_AND ? 1 : 2;
    bool has_parens = own < level || below(s, 4) == 0;
    if (has_parens) buf_printf(&s->text, "(");
    if (t->kind == T_AND || t->kind == T_OR) {
        print_tree(s, t->x, own + 1);
        buf_printf(&s->text, t->kind == T_AND ? " AND " : " or ");
        print_tree(s, t->y, own);
    } else if (t->kind == T_NOT) {
        buf_printf(&s->text, "NOT ");
        print_tree(s, t->x, 2);
    } else {
        print_leaf(s, t);
    }
    if (has_parens) buf_printf(&s->text, ")");
}

/* ---- the naive evaluator ---- */

static const struct doc *walk(const struct doc *d, const char *path)
{
    while (d && *path) {
        if (*path == '[') {
            uint32_t i = (uint32_t)(path[1] - '0');
            d = d->type == VAL_L && i < d->n ? d->kids[i] : NULL;
            path += 3;
        } else {
            path += *path == '.';
            struct doc **found = d->type == VAL_M ? doc_find(d, SPAN(path, 1)) : NULL;
            d = found ? *found : NULL;
            path++;
        }
    }
    return d;
}

static bool doc_same(const struct doc *x, const struct doc *y, struct arena *a)
{
    return x && y && x->type == y->type && strcmp(doc_print(a, x), doc_print(a, y)) == 0;
}

static const struct doc *term_value(struct rand *s, const struct term *t, const struct doc *item)
{
    const struct doc *d = t->kind == TERM_CONST ? t->value : walk(item, t->path);
    if (!t->is_size || !d) return d;
    switch (d->type) {
    case VAL_S:
        return doc_number(s->a, (long long)utf8_utf16_units(d->bytes));
    case VAL_B:
        return doc_number(s->a, (long long)d->bytes.n);
    case VAL_N:
    case VAL_BOOL:
    case VAL_NULL:
        return NULL;
    default:
        return doc_number(s->a, d->n);
    }
}

static double number(const struct doc *d)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", SPAN_ARG(d->bytes));
    return strtod(text, NULL);
}

/* -1, 0, 1; 2 when they have no order. */
static int doc_order(const struct doc *x, const struct doc *y)
{
    if (!x || !y || x->type != y->type) return 2;
    if (x->type == VAL_N) {
        double p = number(x), q = number(y);
        return (p > q) - (p < q);
    }
    if (x->type != VAL_S && x->type != VAL_B) return 2;
    int c = span_cmp(x->bytes, y->bytes);
    return (c > 0) - (c < 0);
}

static bool naive_contains(struct rand *s, const struct doc *x, const struct doc *y)
{
    if (!x || !y) return false;
    if ((x->type == VAL_S || x->type == VAL_B) && x->type == y->type) {
        for (size_t i = 0; i + y->bytes.n <= x->bytes.n; i++)
            if (span_starts(span_from(x->bytes, i), y->bytes)) return true;
        return false;
    }
    if (x->type == VAL_L || x->type >= VAL_SS) {
        for (uint32_t i = 0; i < x->n; i++)
            if (doc_same(x->kids[i], y, s->a)) return true;
    }
    return false;
}

static bool naive_leaf(struct rand *s, const struct tree *t, const struct doc *item)
{
    const struct doc *v[4] = {NULL};
    for (uint32_t i = 0; i < t->n; i++) v[i] = term_value(s, &t->t[i], item);
    if (t->kind == T_IN) {
        for (uint32_t i = 1; i < t->n; i++)
            if (doc_same(v[0], v[i], s->a)) return true;
        return false;
    }
    if (t->kind == T_BETWEEN) {
        int low = doc_order(v[1], v[0]), high = doc_order(v[0], v[2]);
        return low <= 0 && high <= 0;
    }
    if (t->kind == T_FN) {
        if (t->op[0] == 'c') return naive_contains(s, v[0], v[1]);
        if (t->op[0] == 'b')
            return v[0] && v[1] && v[0]->type == v[1]->type &&
                   (v[0]->type == VAL_S || v[0]->type == VAL_B) &&
                   span_starts(v[0]->bytes, v[1]->bytes);
        return (v[0] != NULL) == (strcmp(t->op, "attribute_exists") == 0);
    }
    if (strcmp(t->op, "=") == 0) return doc_same(v[0], v[1], s->a);
    if (strcmp(t->op, "<>") == 0) return !doc_same(v[0], v[1], s->a);
    int c = doc_order(v[0], v[1]);
    if (c == 2) return false;
    return t->op[0] == '<' ? c < 0 || (t->op[1] && c == 0) : c > 0 || (t->op[1] && c == 0);
}

static bool naive(struct rand *s, const struct tree *t, const struct doc *item)
{
    switch (t->kind) {
    case T_AND:
        return naive(s, t->x, item) & naive(s, t->y, item);
    case T_OR:
        return naive(s, t->x, item) | naive(s, t->y, item);
    case T_NOT:
        return !naive(s, t->x, item);
    default:
        return naive_leaf(s, t, item);
    }
}

static void test_eval__agrees_with_a_naive_evaluator(void **state)
{
    (void)state;
    uint64_t seed = test_seed(20261), rounds = test_rounds(20000), n_valid = 0, n_true = 0;
    struct rand s;
    struct arena a;
    rng_init(&s.r, seed);
    for (uint64_t i = 0; i < rounds; i++) {
        arena_init(&a, 16 << 20);
        s.a = &a;
        s.values = doc_new(&a, VAL_M);
        buf_init(&s.text, &a, 1 << 16);
        struct tree *tree = random_tree(&s, 4);
        print_tree(&s, tree, 0);
        buf_put_u8(&s.text, '\0');
        assert_false(s.text.failed);
        struct expr_env *env = test_env(&a, NULL, s.values->n ? doc_print(&a, s.values) : NULL);
        sheaf_error err;
        const struct expr_program *program;
        struct ctx c = {&a, &err};
        sheaf_rc rc = expr_compile(&c, EXPR_FILTER, SPAN(s.text.p, s.text.n - 1), env, &program);
        if (rc == SHEAF_OK) {
            n_valid++;
            for (int k = 0; k < 4; k++) {
                const struct doc *item = random_item(&s);
                bool want = naive(&s, tree, item);
                bool got = expr_eval(program, item_map(doc_item(&a, item)));
                n_true += got;
                if (got != want)
                    fail_msg("round %llu: %s\nvalues %s\nitem %s\ngot %d", (unsigned long long)i,
                             (const char *)s.text.p, doc_print(&a, s.values), doc_print(&a, item),
                             got);
            }
        } else if (strstr(err.message, "Syntax error")) {
            fail_msg("round %llu: %s\n%s", (unsigned long long)i, (const char *)s.text.p,
                     err.message);
        }
        arena_deinit(&a);
    }
    printf("%llu of %llu expressions compiled, %llu of %llu answers true\n",
           (unsigned long long)n_valid, (unsigned long long)rounds, (unsigned long long)n_true,
           (unsigned long long)n_valid * 4);
    assert_true(n_valid > rounds / 5 && n_true > n_valid / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eval__agrees_with_a_naive_evaluator),
    };
    return cmocka_run_group_tests_name("cond_random", tests, NULL, NULL);
}
