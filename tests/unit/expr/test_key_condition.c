/* expr: key conditions on simple and multi-attribute keys: what they become, what is refused. */
#include "support/support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "expr/expr.h"
#include "support/doc.h"
#include "support/envs.h"

#define QUERY_JS "dynalite test/query.js, run on AWS"
#define ACTION_JS "dynalite actions/query.js, from answers of AWS"
#define NUBO "nubo-db dynamodb-conformance, run on AWS"
#define EXTEND "ExtendDB expression tests, captured on AWS"
#define KEY_PY "Alternator test_key_condition_expression.py, run on AWS"
#define MULTI_PY "Alternator test_gsi_composite_keys.py: refused, words unknown"
#define MOTO "moto, from answers of AWS"
#define UNVERIFIED NULL

#define KEY(n, t)                                                                                  \
    {                                                                                              \
        SPAN_LIT(n), VAL_##t                                                                       \
    }
static const struct expr_key_schema hash_only = {1, 0, {KEY("p", S)}, {{SPAN_NONE, VAL_NONE}}};
static const struct expr_key_schema simple = {1, 1, {KEY("p", S)}, {KEY("c", N)}};
static const struct expr_key_schema strings = {1, 1, {KEY("p", S)}, {KEY("c", S)}};
static const struct expr_key_schema binary = {1, 1, {KEY("p", B)}, {KEY("c", B)}};
static const struct expr_key_schema two_two = {
    2, 2, {KEY("h1", S), KEY("h2", S)}, {KEY("r1", S), KEY("r2", S)}};
static const struct expr_key_schema four_four = {
    4,
    4,
    {KEY("h1", S), KEY("h2", S), KEY("h3", S), KEY("h4", S)},
    {KEY("r1", N), KEY("r2", S), KEY("r3", B), KEY("r4", S)}};

static sheaf_rc compile(struct arena *a, const char *text, struct expr_env *env,
                        const struct expr_key_schema *schema, sheaf_error *err,
                        struct expr_key_condition *out)
{
    struct ctx c = {a, err};
    err_clear(err);
    return expr_compile_key_condition(&c, span_cstr(text), env, schema, out);
}

/* ---- what they become ---- */

/* "'x' 'y' | 'e' | > 'a'": hash values, equal range values, the range. */
static const char *show(struct arena *a, const struct expr_key_schema *schema,
                        const struct expr_key_condition *k)
{
    static const char *const ops[] = {"*", "=", "<", "<=", ">", ">=", "between", "begins"};
    struct buf b;
    buf_init(&b, a, 4096);
    for (uint32_t i = 0; i < schema->n_hash; i++)
        buf_printf(&b, "%s ", doc_val_text(a, k->hash[i]));
    buf_printf(&b, "|");
    for (uint32_t i = 0; i < k->n_eq; i++) buf_printf(&b, " %s", doc_val_text(a, k->eq[i]));
    buf_printf(&b, " | %s", ops[k->op]);
    if (!val_is_absent(k->a)) buf_printf(&b, " %s", doc_val_text(a, k->a));
    if (!val_is_absent(k->b)) buf_printf(&b, " %s", doc_val_text(a, k->b));
    buf_put_u8(&b, '\0');
    return (const char *)b.p;
}

#define VALUES "{':p': 'x', ':1': 1, ':2': 2, ':b': b'y', ':s': 'z', ':t': 'zz'}"

static const struct {
    const struct expr_key_schema *schema;
    const char *text, *want;
} good[] = {
    {&hash_only, "p = :p", "'x' | | *"},
    {&hash_only, " p  =   :p ", "'x' | | *"},
    {&hash_only, ":p = p", "'x' | | *"},
    {&hash_only, "(p = :p)", "'x' | | *"},
    {&hash_only, "(p) = (:p)", "'x' | | *"},
    {&simple, "p = :p", "'x' | | *"},
    {&simple, "p = :p AND c = :1", "'x' | 1 | *"},
    {&simple, "c = :1 AND p = :p", "'x' | 1 | *"},
    {&simple, "p = :p AND c < :1", "'x' | | < 1"},
    {&simple, "p = :p AND c <= :1", "'x' | | <= 1"},
    {&simple, "p = :p AND c > :1", "'x' | | > 1"},
    {&simple, "p = :p AND c >= :1", "'x' | | >= 1"},
    {&simple, "p = :p AND :1 < c", "'x' | | > 1"},
    {&simple, "p = :p AND :1 <= c", "'x' | | >= 1"},
    {&simple, "p = :p AND :1 > c", "'x' | | < 1"},
    {&simple, "p = :p AND :1 >= c", "'x' | | <= 1"},
    {&simple, "p = :p AnD c BeTwEeN :1 aNd :2", "'x' | | between 1 2"},
    {&simple, "((c = :1) AND (p = :p))", "'x' | 1 | *"},
    {&simple, "(p = :p AND (c = :1))", "'x' | 1 | *"},
    {&strings, "p = :p AND begins_with(c, :s)", "'x' | | begins 'z'"},
    {&strings, "p = :p AND begins_with((c), (:s))", "'x' | | begins 'z'"},
    {&binary, "p = :b AND begins_with(c, :b)", "b'y' | | begins b'y'"},
    {&two_two, "h1 = :p AND h2 = :s", "'x' 'z' | | *"},
    {&two_two, "h2 = :s AND h1 = :p", "'x' 'z' | | *"},
    {&two_two, "h1 = :p AND h2 = :s AND r1 = :t", "'x' 'z' | 'zz' | *"},
    {&two_two, "h1 = :p AND h2 = :s AND r1 = :t AND r2 = :p", "'x' 'z' | 'zz' 'x' | *"},
    {&two_two, "h1 = :p AND h2 = :s AND r2 = :p AND r1 = :t", "'x' 'z' | 'zz' 'x' | *"},
    {&two_two, "h1 = :p AND h2 = :s AND r1 > :t", "'x' 'z' | | > 'zz'"},
    {&two_two, "r2 > :p AND r1 = :t AND (h1 = :p AND h2 = :s)", "'x' 'z' | 'zz' | > 'x'"},
    {&two_two, "h1 = :p AND h2 = :s AND r1 = :t AND r2 BETWEEN :s AND :t",
     "'x' 'z' | 'zz' | between 'z' 'zz'"},
    {&two_two, "h1 = :p AND h2 = :s AND r1 = :t AND begins_with(r2, :s)",
     "'x' 'z' | 'zz' | begins 'z'"},
    {&four_four,
     "h1 = :p AND h2 = :p AND h3 = :s AND h4 = :t AND r1 = :1 AND r2 = :s AND r3 = :b AND r4 > :t",
     "'x' 'x' 'z' 'zz' | 1 'z' b'y' | > 'zz'"},
};

static void test_key_condition__becomes_values_and_a_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct arena a;
        arena_init(&a, 1 << 20);
        sheaf_error err;
        struct expr_key_condition k;
        struct expr_env *env = test_env(&a, NULL, VALUES);
        if (compile(&a, good[i].text, env, good[i].schema, &err, &k) != SHEAF_OK)
            fail_msg("%s: %s", good[i].text, err.message);
        const char *got = show(&a, good[i].schema, &k);
        if (strcmp(got, good[i].want) != 0)
            fail_msg("%s\n got: %s\nwant: %s", good[i].text, got, good[i].want);
        arena_deinit(&a);
    }
}

static void test_key_condition__takes_names_by_placeholder(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    sheaf_error err;
    struct expr_key_condition k;
    struct expr_env *env = test_env(&a, "{'#1': 'p', '#2': 'c'}", "{':p': 'x', ':c': 3}");
    assert_ok(expr_env_check(env, &err));
    assert_ok(compile(&a, "#1=:p AND #2>:c", env, &simple, &err, &k));
    assert_string_equal(show(&a, &simple, &k), "'x' | | > 3");
    assert_ok(expr_env_check_unused(env, &err));
    arena_deinit(&a);
}

/* ---- what is refused ---- */

#define IN_KCE "Invalid KeyConditionExpression: "
#define WRONG "Invalid condition in KeyConditionExpression: "
#define BAD_OP "Invalid operator used in KeyConditionExpression: "
#define NESTED "KeyConditionExpressions cannot contain nested operations"
#define NESTED_NAME "KeyConditionExpressions cannot have conditions on nested attributes"
#define TWICE "KeyConditionExpressions must only contain one condition per key"
#define MULTIPLE WRONG "Multiple attribute names used in one condition"
#define MISSED "Query condition missed key schema element: "
#define UNSUPPORTED "Query key condition not supported"
#define PARITY "paritysuite dynamodb-conformance tier1/query/multiAttributeGsiKey"
#define GAP(missing, present)                                                                      \
    "RANGE key attributes " missing " must have equality conditions specified in the query "       \
    "because a condition is present on key attribute " present
#define BAD_TYPE                                                                                   \
    "One or more parameter values were invalid: Condition parameter type does not match schema "   \
    "type"

static const struct {
    const struct expr_key_schema *schema;
    const char *text, *values, *message, *source;
} bad[] = {
    /* as any condition */
    {&simple, "", NULL, IN_KCE "The expression can not be empty;", QUERY_JS},
    {&simple, "a > 4", NULL, IN_KCE "Syntax error; token: \"4\", near: \"> 4\"", UNVERIFIED},
    {&simple, "p", NULL, IN_KCE "Syntax error; token: \"<EOF>\", near: \"p\"", UNVERIFIED},
    {&simple, "((p = :p)) AND ((c = :1))", NULL, IN_KCE "The expression has redundant parentheses;",
     NUBO},
    {&simple, "p = :p AND dog(c, :c)", NULL, IN_KCE "Invalid function name; function: dog",
     UNVERIFIED},
    {&strings, "p = :p AND BEGINS_WITH(c, :c)", NULL,
     IN_KCE "Invalid function name; function: BEGINS_WITH", UNVERIFIED},
    {&simple, "p = :p AND begins_with(c, :1)", "{':p': 'x', ':1': 1}",
     IN_KCE "Incorrect operand type for operator or function; operator or function: begins_with, "
            "operand type: N",
     UNVERIFIED},
    {&simple, "a between :b and :a", "{':a': 'a', ':b': 1}",
     IN_KCE "The BETWEEN operator requires same data type for lower and upper bounds; lower bound "
            "operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}",
     QUERY_JS},
    {&simple, "a between :b and :a", "{':a': 'a', ':b': 'b'}",
     IN_KCE
     "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
     "lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}",
     QUERY_JS},
    {&simple, "p = :p", NULL,
     IN_KCE "An expression attribute value used in expression is not defined; attribute value: :p",
     UNVERIFIED},
    {&simple, "#p = :p", "{':p': 'x'}",
     IN_KCE "An expression attribute name used in the document path is not defined; attribute "
            "name: #p",
     UNVERIFIED},
    /* shape */
    {&simple, "attribute_type(a, :a)", "{':a': 'S'}", BAD_OP "attribute_type", QUERY_JS},
    {&simple, "a > b and size(b) > c or a > c", NULL, BAD_OP "OR", QUERY_JS},
    {&simple, "a in (b, size(c), d)", NULL, BAD_OP "IN", QUERY_JS},
    {&simple, "attribute_exists(a)", NULL, BAD_OP "attribute_exists", QUERY_JS},
    {&simple, "attribute_not_exists(a)", NULL, BAD_OP "attribute_not_exists", QUERY_JS},
    {&simple, "contains(a.d, b)", NULL, BAD_OP "contains", QUERY_JS},
    {&simple, "not a > b", NULL, BAD_OP "NOT", QUERY_JS},
    {&simple, "a <> b", NULL, BAD_OP "<>", QUERY_JS},
    {&simple, "not (a > b or c > d)", NULL, BAD_OP "NOT", UNVERIFIED},
    {&simple, "not a > b or c > d", NULL, BAD_OP "OR", UNVERIFIED},
    {&simple, "(a > b or c > d) and e > f", NULL, BAD_OP "OR", UNVERIFIED},
    {&simple, "a.b > :a and (c > :a or d > :a)", "{':a': 1}", NESTED_NAME, UNVERIFIED},
    {&simple, ":a between size(b) and size(a) and b > :b", "{':a': '1', ':b': '1'}",
     WRONG "BETWEEN operator must have the key attribute as its first operand", QUERY_JS},
    {&simple, "begins_with(:a, b) and a > :b", "{':a': '1', ':b': '1'}",
     WRONG "begins_with operator must have the key attribute as its first operand", QUERY_JS},
    {&simple, "size(b) > a AND a.b > b AND b > c", NULL, NESTED, QUERY_JS},
    {&simple, "a > size(b.d)", NULL, NESTED, QUERY_JS},
    {&simple, "a between size(b) and size(a)", NULL, NESTED, QUERY_JS},
    {&simple, "b > a.b", NULL, MULTIPLE, QUERY_JS},
    {&simple, "b between c[1] and d", NULL, MULTIPLE, QUERY_JS},
    {&simple, "a between b and size(a)", NULL, MULTIPLE, QUERY_JS},
    {&simple, "begins_with(a, b)", NULL, MULTIPLE, QUERY_JS},
    {&simple, "b.d > a AND c.d > e.f", NULL, NESTED_NAME, QUERY_JS},
    {&simple, "a.d > c", NULL, NESTED_NAME, QUERY_JS},
    {&simple, "b[0] > a", NULL, NESTED_NAME, QUERY_JS},
    {&simple, ":b > :a AND a < :b", "{':a': 1, ':b': 1}", WRONG "No key attribute specified",
     QUERY_JS},
    {&simple, ":a > b AND :a < :b", "{':a': 1, ':b': 1}", WRONG "No key attribute specified",
     QUERY_JS},
    {&simple, "b > :a AND b < :a and c = :a and d = :a", "{':a': 1}", TWICE, QUERY_JS},
    {&simple, "(a > :a and b > :a) and (b > :a and c > :a)", "{':a': 1}", TWICE, QUERY_JS},
    {&simple, "p=:p AND p=:p", "{':p': 'x'}", TWICE, QUERY_JS},
    {&simple, ":a = a and b = :a and :a = c", "{':a': 'a'}",
     "Conditions can be of length 1 or 2 only", QUERY_JS},
    {&simple, "(a > :a and b > :a) and (c > :a and d > :a) and (e > :a and f > :a)", "{':a': 'a'}",
     "Conditions can be of length 1 or 2 only", QUERY_JS},
    /* schema */
    {&simple, "c = :1", "{':1': 1}", MISSED "p", NUBO},
    {&simple, "attr1 = :1", "{':1': 1}", MISSED "p", NUBO},
    {&simple, "p = :p AND a < :a", "{':p': 'x', ':a': 3}", MISSED "c", ACTION_JS},
    {&simple, "c = :1 AND a < :1", "{':1': 1}", MISSED "p", ACTION_JS},
    {&hash_only, "p = :p AND a < :a", "{':p': 'x', ':a': 3}", UNSUPPORTED, ACTION_JS},
    {&simple, "p < :p", "{':p': 'x'}", UNSUPPORTED, ACTION_JS},
    {&simple, "begins_with(p, :p)", "{':p': 'x'}", UNSUPPORTED, "a blog's log of AWS's answer"},
    {&simple, "p BETWEEN :p AND :p", "{':p': 'x'}", UNSUPPORTED, ACTION_JS},
    {&simple, "p = :1", "{':1': 1}", BAD_TYPE, ACTION_JS},
    {&simple, "p < :1", "{':1': 1}", BAD_TYPE, ACTION_JS},
    {&simple, "p = :p AND c = :p", "{':p': 'x'}", BAD_TYPE, ACTION_JS},
    {&simple, "p = :p AND c BETWEEN :p AND :p", "{':p': 'x'}", BAD_TYPE, ACTION_JS},
    {&simple, "p = :p AND begins_with(c, :p)", "{':p': 'x'}", BAD_TYPE, ACTION_JS},
    {&simple, "p = :p AND c = :t", "{':p': 'x', ':t': true}", BAD_TYPE, UNVERIFIED},
    {&simple, "p = :e", "{':e': ''}",
     "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
     "contain an empty string value. Key: p",
     MOTO},
    {&binary, "p = :b AND c = :e", "{':b': b'x', ':e': b''}",
     "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
     "contain an empty binary value. Key: c",
     UNVERIFIED},
    /* several attributes */
    {&two_two, "h1 = :p", "{':p': 'x'}", MISSED "h2", UNVERIFIED},
    {&two_two, "h1 = :p AND h2 > :p", "{':p': 'x'}", UNSUPPORTED, UNVERIFIED},
    {&two_two, "h1 = :p AND h2 = :1", "{':p': 'x', ':1': 1}", BAD_TYPE, UNVERIFIED},
    {&two_two, "h1 = :p AND h2 = :p AND r2 = :p", "{':p': 'x'}", GAP("r1", "r2"), PARITY},
    {&two_two, "h1 = :p AND h2 = :p AND r1 > :p AND r2 = :p", "{':p': 'x'}", GAP("r1", "r2"),
     PARITY},
    {&two_two, "h1 = :p AND h2 = :p AND begins_with(r1, :p) AND r2 = :p", "{':p': 'x'}",
     GAP("r1", "r2"), PARITY},
    {&two_two, "h1 = :p AND h2 = :p AND r1 = :p AND r2 = :p AND a = :p", "{':p': 'x'}", UNSUPPORTED,
     UNVERIFIED},
    {&two_two, "h1 = :p AND h2 = :p AND a = :p", "{':p': 'x'}", MISSED "r1", UNVERIFIED},
    {&four_four,
     "h1 = :p AND h2 = :p AND h3 = :p AND h4 = :p AND r1 = :1 AND r2 = :p AND r3 = :b AND r4 = :p "
     "AND a = :p AND b = :p",
     "{':p': 'x', ':1': 1, ':b': b'x'}", UNSUPPORTED, UNVERIFIED},
};

static void test_key_condition__answers_with_the_services_messages(void **state)
{
    (void)state;
    size_t unverified = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct arena a;
        arena_init(&a, 1 << 20);
        sheaf_error err;
        struct expr_key_condition k;
        struct expr_env *env = test_env(&a, NULL, bad[i].values);
        sheaf_rc rc = compile(&a, bad[i].text, env, bad[i].schema, &err, &k);
        if (rc != SHEAF_VALIDATION || strcmp(err.message, bad[i].message) != 0)
            fail_msg("%s\n got: %s\nwant: %s", bad[i].text, err.message, bad[i].message);
        assert_int_equal(k.op, EXPR_KEY_ALL);
        assert_true(val_is_absent(k.hash[0]));
        unverified += bad[i].source == UNVERIFIED;
        arena_deinit(&a);
    }
    printf("%zu of %zu messages are unverified\n", unverified, sizeof bad / sizeof bad[0]);
}

static void test_key_condition__over_4096_bytes_tells_no_size(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    sheaf_error err;
    struct expr_key_condition k;
    char text[4098];
    memset(text, ' ', sizeof text);
    memcpy(text, "p = :p", 6);
    text[4096] = '\0';
    struct expr_env *env = test_env(&a, NULL, "{':p': 'x'}");
    assert_ok(compile(&a, text, env, &simple, &err, &k));
    text[4096] = ' ';
    text[4097] = '\0';
    assert_rc(compile(&a, text, env, &simple, &err, &k), SHEAF_VALIDATION);
    assert_string_equal(err.message, /* ExtendDB expression tests, captured on AWS */
                        "Invalid KeyConditionExpression: Expression size has exceeded the maximum "
                        "allowed size;");
    arena_deinit(&a);
}

/* ---- random key conditions, written in any order and either way round ---- */

struct pick {
    uint32_t n_eq;
    enum expr_key_op op;
    char parts[8][64];
    uint32_t n_parts;
};

static void write_part(struct rng *r, struct pick *p, const char *name, enum expr_key_op op)
{
    static const char *const ops[] = {"", "=", "<", "<=", ">", ">="};
    static const char *const turned[] = {"", "=", ">", ">=", "<", "<="};
    char *to = p->parts[p->n_parts++];
    bool is_turned = rng_below(r, 2);
    if (op == EXPR_KEY_BETWEEN)
        snprintf(to, 64, "%s between :a and :b", name);
    else if (op == EXPR_KEY_BEGINS)
        snprintf(to, 64, "begins_with(%s, :a)", name);
    else if (is_turned)
        snprintf(to, 64, ":a %s %s", turned[op], name);
    else
        snprintf(to, 64, "%s %s :a", name, ops[op]);
    if (rng_below(r, 3) == 0) {
        char copy[60];
        snprintf(copy, sizeof copy, "%.59s", to);
        snprintf(to, 64, "(%s)", copy);
    }
}

static void random_pick(struct rng *r, const struct expr_key_schema *schema, struct pick *p)
{
    *p = (struct pick){.n_eq = (uint32_t)rng_below(r, schema->n_range + 1)};
    p->op = p->n_eq < schema->n_range ? (enum expr_key_op)rng_below(r, 8) : EXPR_KEY_ALL;
    if (p->op == EXPR_KEY_EQ) p->op = EXPR_KEY_ALL;
    char name[8];
    for (uint32_t i = 0; i < schema->n_hash; i++) {
        snprintf(name, sizeof name, "%.*s", SPAN_ARG(schema->hash[i].name));
        write_part(r, p, name, EXPR_KEY_EQ);
    }
    for (uint32_t i = 0; i < p->n_eq + (p->op != EXPR_KEY_ALL); i++) {
        snprintf(name, sizeof name, "%.*s", SPAN_ARG(schema->range[i].name));
        write_part(r, p, name, i < p->n_eq ? EXPR_KEY_EQ : p->op);
    }
    for (uint32_t i = p->n_parts; i > 1; i--) {
        char t[64];
        uint32_t j = (uint32_t)rng_below(r, i);
        memcpy(t, p->parts[j], 64);
        memcpy(p->parts[j], p->parts[i - 1], 64);
        memcpy(p->parts[i - 1], t, 64);
    }
}

static void test_key_condition__round_trips_in_any_order(void **state)
{
    (void)state;
    static const struct expr_key_schema all_strings = {
        4,
        4,
        {KEY("h1", S), KEY("h2", S), KEY("h3", S), KEY("h4", S)},
        {KEY("r1", S), KEY("r2", S), KEY("r3", S), KEY("r4", S)}};
    struct rng r;
    rng_init(&r, test_seed(7));
    for (uint64_t i = 0, n = test_rounds(2000); i < n; i++) {
        struct arena a;
        arena_init(&a, 1 << 20);
        struct expr_key_schema schema = all_strings;
        schema.n_hash = 1 + (uint32_t)rng_below(&r, 4);
        schema.n_range = (uint32_t)rng_below(&r, 5);
        struct pick p;
        random_pick(&r, &schema, &p);
        char text[1024] = "";
        for (uint32_t k = 0; k < p.n_parts; k++) {
            if (k) strcat(text, " AND ");
            strcat(text, p.parts[k]);
        }
        sheaf_error err;
        struct expr_key_condition k;
        struct expr_env *env = test_env(&a, NULL, "{':a': 'v', ':b': 'w'}");
        if (compile(&a, text, env, &schema, &err, &k) != SHEAF_OK)
            fail_msg("%s: %s", text, err.message);
        assert_int_equal(k.n_eq, p.n_eq);
        assert_int_equal(k.op, p.op);
        for (uint32_t h = 0; h < schema.n_hash; h++)
            assert_true(val_eq(k.hash[h], env->values[0].value));
        assert_int_equal(val_is_absent(k.a), p.op == EXPR_KEY_ALL);
        assert_int_equal(val_is_absent(k.b), p.op != EXPR_KEY_BETWEEN);
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_condition__becomes_values_and_a_range),
        cmocka_unit_test(test_key_condition__takes_names_by_placeholder),
        cmocka_unit_test(test_key_condition__answers_with_the_services_messages),
        cmocka_unit_test(test_key_condition__over_4096_bytes_tells_no_size),
        cmocka_unit_test(test_key_condition__round_trips_in_any_order),
    };
    return cmocka_run_group_tests_name("key_condition", tests, NULL, NULL);
}
