/* expr: conditions and filters: messages, truth, limits, memory. */
#include "support/support.h"

#include "base/limits.h"
#include "base/mem.h"
#include "expr/expr.h"
#include "support/doc.h"
#include "support/envs.h"

static sheaf_rc compile(struct arena *a, enum expr_kind kind, const char *text,
                        struct expr_env *env, sheaf_error *err, const struct expr_program **out)
{
    struct ctx c = {a, err};
    err_clear(err);
    return expr_compile(&c, kind, span_cstr(text), env, out);
}

/* ---- messages ---- */

/* Where a message was seen. AWS: by the public suite named; Local: DynamoDB Local's own code. */
#define SCAN_JS "dynalite test/scan.js, run on AWS"
#define QUERY_JS "dynalite test/query.js, run on AWS"
#define LOW "LowVoltage exploration tests, real DynamoDB"
#define EXTEND "ExtendDB expression tests, captured on AWS"
#define NUBO "nubo-db dynamodb-conformance, run on AWS"
#define LIMITS_PY "Alternator test_limits.py, message quoted from AWS"
#define COND_PY "Alternator test_condition_expression.py, run on AWS"
#define LOCAL "DynamoDB Local, operator validation"
#define UNVERIFIED NULL

static const struct {
    const char *text, *names, *values, *message, *source;
} messages[] = {
    /* syntax */
    {"", NULL, NULL, "The expression can not be empty;", SCAN_JS},
    {"  \t\n", NULL, NULL, "The expression can not be empty;", UNVERIFIED},
    {"foo", NULL, NULL, "Syntax error; token: \"<EOF>\", near: \"foo\"", LOW},
    {"a = = b", NULL, NULL, "Syntax error; token: \"=\", near: \"= = b\"", NUBO},
    {"attribute_type()", NULL, NULL, "Syntax error; token: \")\", near: \"()\"", NUBO},
    {"#articleId attribute_not_exists :ckpst", NULL, NULL,
     "Syntax error; token: \"attribute_not_exists\", near: \"#articleId attribute_not_exists "
     ":ckpst\"",
     "dynamodb-dashboard issue 735"},
    {"a ! b", NULL, NULL, "Syntax error; token: \"!\", near: \"a ! b\"", UNVERIFIED},
    {"things are not gonna be ok", NULL, NULL,
     "Syntax error; token: \"are\", near: \"things are not\"", UNVERIFIED},
    {"a > 4", NULL, NULL, "Syntax error; token: \"4\", near: \"> 4\"", UNVERIFIED},
    {"attribute_exists(Pictures-RearView)", NULL, NULL,
     "Syntax error; token: \"-\", near: \"Pictures-RearView\"", UNVERIFIED},
    {"attribute_exists(Pictures..RearView)", NULL, NULL,
     "Syntax error; token: \".\", near: \"..RearView\"", UNVERIFIED},
    {"attribute_exists(asdf[a])", NULL, NULL, "Syntax error; token: \"a\", near: \"[a]\"",
     UNVERIFIED},
    {"attribute_exists(asdf[01])", NULL, NULL, "Syntax error; token: \"1\", near: \"01]\"",
     UNVERIFIED},
    {"a in b", NULL, NULL, "Syntax error; token: \"b\", near: \"in b\"", UNVERIFIED},
    {"a in (b,c,)", NULL, NULL, "Syntax error; token: \")\", near: \",)\"", UNVERIFIED},
    {"a > between", NULL, NULL, "Syntax error; token: \"between\", near: \"> between\"",
     UNVERIFIED},
    {"(a)between(b.(c.d))and(c)", NULL, NULL, "Syntax error; token: \"(\", near: \".(c\"",
     UNVERIFIED},
    {"(a)between(b.c.d)and((c)", NULL, NULL, "Syntax error; token: \"<EOF>\", near: \")\"",
     UNVERIFIED},
    {"#$.b > a", NULL, NULL, "Syntax error; token: \"#\", near: \"#$\"", UNVERIFIED},
    {"a > :things.stuff", NULL, NULL, "Syntax error; token: \".\", near: \":things.stuff\"",
     UNVERIFIED},
    {"b[:a] > a", NULL, NULL, "Syntax error; token: \":a\", near: \"[:a]\"", UNVERIFIED},
    {"\xC3\xBC > a", NULL, NULL, "Syntax error; token: \"\xC3\xBC\", near: \"\xC3\xBC >\"",
     UNVERIFIED},
    {"size(a).b > a", NULL, NULL, "Syntax error; token: \".\", near: \").b\"", UNVERIFIED},
    {"(size(a)).b > a", NULL, NULL, "Syntax error; token: \".\", near: \").b\"", UNVERIFIED},
    {"attribute_not_exists(_c)", NULL, NULL, "Syntax error; token: \"_\", near: \"(_c\"",
     UNVERIFIED},
    {"a IN ()", NULL, NULL, "Syntax error; token: \")\", near: \"()\"", UNVERIFIED},
    {"a = b)", NULL, NULL, "Syntax error; token: \")\", near: \"b)\"", UNVERIFIED},
    {"(a = b", NULL, NULL, "Syntax error; token: \"<EOF>\", near: \"b\"", UNVERIFIED},
    {"(NOT a)", NULL, NULL, "Syntax error; token: \")\", near: \"a)\"", UNVERIFIED},
    {"NOT", NULL, NULL, "Syntax error; token: \"<EOF>\", near: \"NOT\"", UNVERIFIED},
    {"set = :v", NULL, NULL, "Syntax error; token: \"set\", near: \"set =\"", UNVERIFIED},
    {"a = :undefined AND", NULL, NULL, "Syntax error; token: \"<EOF>\", near: \"AND\"", UNVERIFIED},
    /* parentheses */
    {"a=a and a > ((views))", NULL, NULL, "The expression has redundant parentheses;", SCAN_JS},
    {"(a)between(((b.c)).d)and(c)", NULL, NULL, "The expression has redundant parentheses;",
     SCAN_JS},
    {"a > whatever((:things), ((a)))", NULL, NULL, "The expression has redundant parentheses;",
     SCAN_JS},
    {"a=a AND ((a=a AND a=a)) AND a=a", NULL, NULL, "The expression has redundant parentheses;",
     SCAN_JS},
    {"a=a OR ((a=a OR a=a)) OR a=a", NULL, NULL, "The expression has redundant parentheses;",
     SCAN_JS},
    {"a=a AND ((a=a AND (a=a AND a=a)))", NULL, NULL, "The expression has redundant parentheses;",
     SCAN_JS},
    {"a=a OR ((a=a OR (a=a OR a=a)))", NULL, NULL, "The expression has redundant parentheses;",
     SCAN_JS},
    {"((attribute_exists(a)))", NULL, NULL, "The expression has redundant parentheses;",
     UNVERIFIED},
    {"((a)) = :v", NULL, NULL, "The expression has redundant parentheses;", UNVERIFIED},
    /* functions */
    {"a=a and whatever((:things)) > a", NULL, NULL, "Invalid function name; function: whatever",
     SCAN_JS},
    {"attRIbute_exIsts((views), #a)", NULL, NULL,
     "Invalid function name; function: attRIbute_exIsts", SCAN_JS},
    {"if_not_exists(a, a) = :v", NULL, NULL,
     "The function is not allowed in a condition expression; function: if_not_exists", LOCAL},
    {"list_append(a, a) = :v", NULL, NULL,
     "The function is not allowed in a condition expression; function: list_append", LOCAL},
#define MISUSED "The function is not allowed to be used this way in an expression; function: "
    {"a=a and attribute_exists((views), (#a)) > b", NULL, NULL, MISUSED "attribute_exists",
     SCAN_JS},
    {"attribute_not_exists(things) > b", NULL, NULL, MISUSED "attribute_not_exists", SCAN_JS},
    {"attribute_type(things, :a) > b", NULL, NULL, MISUSED "attribute_type", SCAN_JS},
    {"begins_with(things, a) > b", NULL, NULL, MISUSED "begins_with", SCAN_JS},
    {"contains(:things, c) > b", NULL, NULL, MISUSED "contains", SCAN_JS},
    {"size(contains(a, b)) > a", NULL, NULL, MISUSED "contains", SCAN_JS},
    {"size(things)", NULL, NULL, MISUSED "size", SCAN_JS},
    {"a between b and attribute_exists(things)", NULL, NULL, MISUSED "attribute_exists", SCAN_JS},
    {"a in (b, attribute_exists(things))", NULL, NULL, MISUSED "attribute_exists", SCAN_JS},
/* words */
#define RESERVED "Attribute name is a reserved keyword; reserved keyword: "
    {"attribute_exists(views, #a)", NULL, NULL, RESERVED "views", SCAN_JS},
    {":a < abOrT", NULL, NULL, RESERVED "abOrT", SCAN_JS},
    {"a.name = :v", NULL, NULL, RESERVED "name", UNVERIFIED},
    {"a[2147483648] = :v", NULL, NULL,
     "List index is not within the allowable range; index: [2147483648]", UNVERIFIED},
/* placeholders */
#define NO_NAME                                                                                    \
    "An expression attribute name used in the document path is not defined; attribute name: "
    {"attribute_exists(#Pictures.RearView, :a) and a=a", NULL, NULL, NO_NAME "#Pictures", SCAN_JS},
    {"begins_with(Pictures.#RearView)", NULL, NULL, NO_NAME "#RearView", SCAN_JS},
    {"(#P between :lo and :hi) and (#PC in (:cat1, :cat2))", NULL, NULL, NO_NAME "#P", SCAN_JS},
    {"#4g > a", NULL, NULL, NO_NAME "#4g", SCAN_JS},
    {"#_ > a", NULL, NULL, NO_NAME "#_", SCAN_JS},
    {"(a)between(b.c[45].#d)and(:a)", NULL, NULL, NO_NAME "#d", SCAN_JS},
#define NO_VALUE                                                                                   \
    "An expression attribute value used in expression is not defined; attribute value: "
    {"begins_with(:hello, #a, #b)", NULL, NULL, NO_VALUE ":hello", SCAN_JS},
    {":a < :b", NULL, NULL, NO_VALUE ":a", SCAN_JS},
    {":_ > a", NULL, NULL, NO_VALUE ":_", SCAN_JS},
/* operands */
#define COUNT "Incorrect number of operands for operator or function; operator or function: "
    {"attribute_exists(things, a) and a=a", NULL, NULL,
     COUNT "attribute_exists, number of operands: 2", SCAN_JS},
    {"attribute_not_exists(things, b)", NULL, NULL,
     COUNT "attribute_not_exists, number of operands: 2", SCAN_JS},
    {"attribute_type(things)", NULL, NULL, COUNT "attribute_type, number of operands: 1", SCAN_JS},
    {"begins_with(things)", NULL, NULL, COUNT "begins_with, number of operands: 1", SCAN_JS},
    {"begins_with(things, size(a), b)", NULL, NULL, COUNT "begins_with, number of operands: 3",
     SCAN_JS},
    {"contains(things)", NULL, NULL, COUNT "contains, number of operands: 1", SCAN_JS},
    {"size(things, a) > b", NULL, NULL, COUNT "size, number of operands: 2", SCAN_JS},
#define TYPE "Incorrect operand type for operator or function; operator or function: "
    {"attribute_type(a, size(a)) and a=a and a=:a", NULL, "{':a': 1}",
     TYPE "attribute_type, operand type: N", SCAN_JS},
    {"attribute_type(a, :a)", NULL, "{':a': b'a'}", TYPE "attribute_type, operand type: B",
     SCAN_JS},
    {"attribute_type(a, :a)", NULL, "{':a': true}", TYPE "attribute_type, operand type: BOOL",
     SCAN_JS},
    {"attribute_type(a, :a)", NULL, "{':a': null}", TYPE "attribute_type, operand type: NULL",
     SCAN_JS},
    {"attribute_type(a, :a)", NULL, "{':a': []}", TYPE "attribute_type, operand type: L", SCAN_JS},
    {"attribute_type(a, :a)", NULL, "{':a': {}}", TYPE "attribute_type, operand type: M", SCAN_JS},
    {"attribute_type(a, :a)", NULL, "{':a': <'1'>}", TYPE "attribute_type, operand type: SS",
     SCAN_JS},
    {"attribute_type(a, :a)", NULL, "{':a': <1>}", TYPE "attribute_type, operand type: NS",
     SCAN_JS},
    {"attribute_type(a, :a)", NULL, "{':a': <b'a'>}", TYPE "attribute_type, operand type: BS",
     SCAN_JS},
    {"attribute_type(a, b)", NULL, NULL,
     TYPE "attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}", UNVERIFIED},
    {"begins_with(a, size(a)) and a=:a", NULL, "{':a': 1}", TYPE "begins_with, operand type: N",
     SCAN_JS},
    {"begins_with(a, :a)", NULL, "{':a': 1}", TYPE "begins_with, operand type: N", SCAN_JS},
    {"begins_with(:a, a)", NULL, "{':a': [1]}", TYPE "begins_with, operand type: L", SCAN_JS},
    {"begins_with(:a, a)", NULL, "{':a': <b'a'>}", TYPE "begins_with, operand type: BS", SCAN_JS},
    {"size(size(a)) > :a", NULL, "{':a': 1}", TYPE "size, operand type: N", SCAN_JS},
    {"attribute_not_exists(size(:a))", NULL, "{':a': 1}", TYPE "size, operand type: N", SCAN_JS},
    {"size(:a) > a", NULL, "{':a': true}", TYPE "size, operand type: BOOL", SCAN_JS},
    {"size(:a) > a", NULL, "{':a': null}", TYPE "size, operand type: NULL", SCAN_JS},
    {"a < :a", NULL, "{':a': true}", TYPE "<, operand type: BOOL", LOCAL},
    {"a >= :a", NULL, "{':a': <1>}", TYPE ">=, operand type: NS", LOCAL},
    {"a BETWEEN :a AND :a", NULL, "{':a': null}", TYPE "BETWEEN, operand type: NULL", LOCAL},
    {"attribute_type(a, :a)", NULL, "{':a': '1'}",
     "Invalid attribute type name found; type: 1, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
     SCAN_JS},
    {"attribute_exists(:a) and a=a", NULL, "{':a': '1'}",
     "Operator or function requires a document path; operator or function: attribute_exists",
     SCAN_JS},
    {"attribute_not_exists(size(:a))", NULL, "{':a': '1'}",
     "Operator or function requires a document path; operator or function: attribute_not_exists",
     SCAN_JS},
/* the same on both sides */
#define DISTINCT                                                                                   \
    "The first operand must be distinct from the remaining operands for this operator or "         \
    "function; operator: "
    {"a = a AND #a = b AND :views > a", "{'#a': 'a'}", NULL, DISTINCT "=, first operand: [a]",
     SCAN_JS},
    {"#a <> a", "{'#a': 'a'}", NULL, DISTINCT "<>, first operand: [a]", SCAN_JS},
    {"a > #a", "{'#a': 'a'}", NULL, DISTINCT ">, first operand: [a]", SCAN_JS},
    {"((a=a) OR (a=a))", "{'#a': 'a'}", NULL, DISTINCT "=, first operand: [a]", SCAN_JS},
    {"((a=a) AND (a=a))", "{'#a': 'a'}", NULL, DISTINCT "=, first operand: [a]", SCAN_JS},
    {"contains(ab.bc[1].a, ab.bc[1].#a)", "{'#a': 'a'}", NULL,
     DISTINCT "contains, first operand: [ab, bc, [1], a]", SCAN_JS},
    {"attribute_type(ab.bc[1].#a, ab.bc[1].a)", "{'#a': 'a'}", NULL,
     DISTINCT "attribute_type, first operand: [ab, bc, [1], a]", SCAN_JS},
    {"begins_with(ab.bc[1].a, ab.bc[1].#a)", "{'#a': 'a'}", NULL,
     DISTINCT "begins_with, first operand: [ab, bc, [1], a]", SCAN_JS},
    {"a IN (b, a)", NULL, NULL, DISTINCT "IN, first operand: [a]", LOCAL},
    {"a BETWEEN b AND a", NULL, NULL, DISTINCT "BETWEEN, first operand: [a]", LOCAL},
/* bounds */
#define BETWEEN "The BETWEEN operator requires "
    {"a between :b and :a", NULL, "{':a': 'a', ':b': 1}",
     BETWEEN
     "same data type for lower and upper bounds; lower bound operand: AttributeValue: {N:1}, "
     "upper bound operand: AttributeValue: {S:a}",
     QUERY_JS},
    {"a between :b and :a", NULL, "{':a': 'a', ':b': 'b'}",
     BETWEEN "upper bound to be greater than or equal to lower bound; lower bound operand: "
             "AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}",
     QUERY_JS},
    {"a between :b and :a", NULL, "{':a': b'a', ':b': b'bcde'}",
     BETWEEN "upper bound to be greater than or equal to lower bound; lower bound operand: "
             "AttributeValue: {B:YmNkZQ==}, upper bound operand: AttributeValue: {B:YQ==}",
     UNVERIFIED},
};

static void test_compile__answers_with_the_services_messages(void **state)
{
    (void)state;
    size_t unverified = 0;
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        struct arena a;
        arena_init(&a, 1 << 20);
        sheaf_error err;
        char want[512];
        const struct expr_program *program;
        for (int filter = 0; filter < 2; filter++) {
            struct expr_env *env = test_env(&a, messages[i].names, messages[i].values);
            snprintf(want, sizeof want, "Invalid %sExpression: %s", filter ? "Filter" : "Condition",
                     messages[i].message);
            sheaf_rc rc = compile(&a, filter ? EXPR_FILTER : EXPR_CONDITION, messages[i].text, env,
                                  &err, &program);
            if (rc != SHEAF_VALIDATION || strcmp(err.message, want) != 0)
                fail_msg("%s\n got: %s\nwant: %s", messages[i].text, err.message, want);
            assert_null(program);
        }
        unverified += messages[i].source == UNVERIFIED;
        arena_deinit(&a);
    }
    printf("%zu of %zu messages are unverified\n", unverified,
           sizeof messages / sizeof messages[0]);
}

/* ---- truth ---- */

#define ITEM                                                                                       \
    "{n: 5, z: -1.5, s: 'hello', e: '\\C3\\A9\\F0\\9D\\84\\9E', b: b'hi there', t: true, f: "      \
    "false, u: "                                                                                   \
    "null, l: [2, 'dog', [3], <1, 2>], m: {x: 1, y: [-1, 2, {q: 'deep'}]}, ss: <'a', 'b', 'c'>, "  \
    "ns: <2, 4, 7>, bs: <b'x', b'y'>, ss2: <'c', 'b', 'a'>, em: '', li: [2, 4]}"
#define VALUES                                                                                     \
    "{':0': 0, ':1': 1, ':2': 2, ':3': 3, ':4': 4, ':5': 5.0, ':9': 9, ':hell': 'hell', ':s': "    \
    "'hello', ':t': true, ':u': null, ':a': 'a', ':set': <1, 2>, ':S': 'S', ':N': 'N', ':L': "     \
    "'L', ':BOOL': 'BOOL', ':NULL': 'NULL', ':M': 'M', ':b': b'hi', ':here': b'here', ':ell': "    \
    "'ell', ':three': [3], ':e': '', ':abc': <'b', 'c', 'a'>, ':SS': 'SS'}"

static const struct {
    const char *text;
    bool is_true;
} truths[] = {
    {"n = :5", true},
    {"n <> :5", false},
    {"n = :4", false},
    {"n < :9", true},
    {"n <= :5", true},
    {"n > :5", false},
    {"n >= :5", true},
    {"z < :0", true},
    {":5 = n", true},
    {":4 < n", true},
    {"s = :s", true},
    {"s > :hell", true},
    {"s = :5", false},
    {"s <> :5", true},
    {"s < :5", false},
    {"s >= :5", false},
    {"t = :t", true},
    {"f = :t", false},
    {"u = :u", true},
    {"ss = ss2", true},
    {"ss = :abc", true},
    {"t < n", false},
    {"ss >= ns", false},
    /* missing attributes */
    {"nope = :5", false},
    {"nope <> :5", true},
    {"nope <> nope2", true},
    {"nope = nope2", false},
    {"nope < :5", false},
    {"nope >= :5", false},
    {"nope BETWEEN :1 AND :9", false},
    {"nope IN (:1, nope2)", false},
    {"NOT nope = :5", true},
    {"m.nope = :5", false},
    {"m.y[9] = :5", false},
    {"n.x = :5", false},
    {"m[0] = :5", false},
    {"l.x = :5", false},
    /* paths */
    {"m.x = :1", true},
    {"m.y[1] = :2", true},
    {"m.y[0] < m.x", true},
    {"(m.y)[1] = :2", true},
    {"(m).y[1] = :2", true},
    {"((m).y)[1] = :2", true},
    {"m.y[2].q <> :s", true},
    {"attribute_exists(m.y[2].q)", true},
    {"attribute_not_exists(m.y[3])", true},
    /* BETWEEN and IN */
    {"n BETWEEN :1 AND :9", true},
    {"n BETWEEN :5 AND :5", true},
    {"n BETWEEN :9 AND n2", false},
    {":4 BETWEEN :1 AND n", true},
    {"n BETWEEN :1 AND s", false},
    {"s BETWEEN :hell AND :s", true},
    {"n IN (:1, :s, :5)", true},
    {"n IN (:1, :s)", false},
    {"ss IN (:abc)", true},
    {"n in (:1, size(s))", true},
    /* functions */
    {"attribute_exists(n)", true},
    {"attribute_exists(nope)", false},
    {"attribute_not_exists(nope)", true},
    {"attribute_type(n, :N)", true},
    {"attribute_type(n, :S)", false},
    {"attribute_type(nope, :S)", false},
    {"attribute_type(t, :BOOL)", true},
    {"attribute_type(f, :BOOL)", true},
    {"attribute_type(u, :NULL)", true},
    {"attribute_type(m, :M)", true},
    {"attribute_type(l, :L)", true},
    {"attribute_type(ss, :SS)", true},
    {"attribute_type(:1, :N)", true},
    {"begins_with(s, :hell)", true},
    {"begins_with(s, :e)", true},
    {"begins_with(s, :ell)", false},
    {"begins_with(b, :b)", true},
    {"begins_with(b, :hell)", false},
    {"begins_with(n, :hell)", false},
    {"begins_with(:s, s)", true},
    {"contains(s, :ell)", true},
    {"contains(s, :e)", true},
    {"contains(s, :5)", false},
    {"contains(b, :here)", true},
    {"contains(ns, :4)", true},
    {"contains(ns, :5)", false},
    {"contains(ns, :a)", false},
    {"contains(ss, :a)", true},
    {"contains(l, :2)", true},
    {"contains(l, :set)", true},
    {"contains(l, :three)", true},
    {"contains(l, :3)", false},
    {"contains(m, :1)", false},
    {"contains(nope, :1)", false},
    {"contains(s, nope)", false},
    {"contains(ns, size(ss))", false},
    {"contains(ns, size(li))", true},
    /* size */
    {"size(s) = :5", true},
    {"size(e) = :3", true},
    {"size(em) = :0", true},
    {"size(b) > :5", true},
    {"size(ns) = :3", true},
    {"size(l) = :4", true},
    {"size(m) = :2", true},
    {"size(s) = n", true},
    {"size(:s) = n", true},
    {"size(n) = :1", false},
    {"size(n) <> :1", true},
    {"size(t) < :9", false},
    {"size(nope) = :0", false},
    {"size(nope) <> :0", true},
    {"size(s) = :s", false},
    {"size(s) BETWEEN size(m) AND size(b)", true},
    /* logic: OR < AND < NOT, keywords in any case */
    {"n = :5 AND s = :s", true},
    {"n = :5 and s = :a", false},
    {"n = :1 OR s = :s", true},
    {"n = :1 oR s = :a", false},
    {"not n = :1", true},
    {"NOT NOT n = :5", true},
    {"NOT n = :1 AND s = :s", true},
    {"NOT (n = :1 OR s = :s)", false},
    {"n = :5 OR n = :1 AND n = :2", true},
    {"(n = :5 OR n = :1) AND n = :2", false},
    {"n = :1 AND n = :2 OR n = :5", true},
    {"n = :1 OR n = :2 OR n = :5", true},
    {"n = :5 AND NOT (s = :a AND t = :t) AND (f = :t OR u = :u)", true},
    {"NOT (NOT (n = :5) OR NOT (s = :s))", true},
    {"((n) = (:5)) AND (attribute_exists(s))", true},
    {"(n=:5)AND(s=:s)", true},
};

static void test_eval__table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        struct arena a;
        arena_init(&a, 1 << 20);
        sheaf_error err;
        const struct expr_program *program;
        struct expr_env *env = test_env(&a, NULL, VALUES);
        span item = doc_text_item(&a, ITEM);
        if (compile(&a, EXPR_CONDITION, truths[i].text, env, &err, &program) != SHEAF_OK)
            fail_msg("%s: %s", truths[i].text, err.message);
        if (expr_eval(program, item_map(item)) != truths[i].is_true)
            fail_msg("%s: not %d", truths[i].text, truths[i].is_true);
        arena_deinit(&a);
    }
}

static void test_eval__an_absent_item_has_no_attributes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_true;
    } rows[] = {{"attribute_not_exists(a)", true},
                {"attribute_exists(a.b[0])", false},
                {"a <> :v", true},
                {"a = :v", false},
                {"size(a.b) > :v", false},
                {":v = :v", true}};
    struct arena a;
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sheaf_error err;
        const struct expr_program *program;
        assert_ok(compile(&a, EXPR_CONDITION, rows[i].text, test_env(&a, NULL, "{':v': 1}"), &err,
                          &program));
        assert_int_equal(expr_eval(program, VAL_ABSENT), rows[i].is_true);
    }
    arena_deinit(&a);
}

/* ---- limits ---- */

static void fill(char *to, size_t n, const char *with)
{
    for (size_t i = 0, m = strlen(with); i < n; i++) to[i] = with[i % m];
    to[n] = '\0';
}

static void test_compile__takes_4096_bytes_and_not_4097(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 4 << 20);
    sheaf_error err;
    const struct expr_program *program;
    char text[LIMIT_EXPRESSION_BYTES + 2] = "attribute_exists(";
    fill(text + 17, LIMIT_EXPRESSION_BYTES - 18, "a");
    strcat(text, ")");
    assert_int_equal(strlen(text), LIMIT_EXPRESSION_BYTES);
    assert_ok(compile(&a, EXPR_CONDITION, text, NULL, &err, &program));
    fill(text + 17, LIMIT_EXPRESSION_BYTES - 17, "a");
    strcat(text, ")");
    assert_rc(compile(&a, EXPR_CONDITION, text, NULL, &err, &program), SHEAF_VALIDATION);
    assert_string_equal(err.message,
                        "Invalid ConditionExpression: Expression size has exceeded the "
                        "maximum allowed size; expression size: 4097");
    arena_deinit(&a);
}

/* `n` comparisons make 2n - 1 operators. */
static void test_compile__takes_300_operators_and_not_301(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 4 << 20);
    sheaf_error err;
    const struct expr_program *program;
    char text[LIMIT_EXPRESSION_BYTES + 1] = "";
    for (int i = 0; i < 150; i++) strcat(text, i ? " OR a=b" : "NOT a=b");
    assert_ok(compile(&a, EXPR_FILTER, text, NULL, &err, &program));
    strcat(text, " OR a=b");
    assert_rc(compile(&a, EXPR_FILTER, text, NULL, &err, &program), SHEAF_VALIDATION);
    assert_string_equal(
        err.message, /* Alternator test_limits.py quotes it from AWS for a condition */
        "Invalid FilterExpression: The expression contains too many operators; operator count: "
        "301");
    arena_deinit(&a);
}

static void test_compile__takes_100_operands_of_in_and_not_101(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 4 << 20);
    sheaf_error err;
    const struct expr_program *program;
    char text[LIMIT_EXPRESSION_BYTES + 1] = "a IN (";
    for (int i = 0; i < 99; i++) strcat(text, "b,");
    size_t at = strlen(text);
    strcpy(text + at, "b)");
    assert_ok(compile(&a, EXPR_CONDITION, text, NULL, &err, &program));
    strcpy(text + at, "b,b)");
    assert_rc(compile(&a, EXPR_CONDITION, text, NULL, &err, &program), SHEAF_VALIDATION);
    assert_string_equal(err.message, /* DynamoDB Local, operator validation */
                        "Invalid ConditionExpression: The IN operator is provided with too many "
                        "operands; number of operands: 101");
    arena_deinit(&a);
}

static void test_compile__takes_32_levels_of_a_path_and_not_33(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 4 << 20);
    sheaf_error err;
    const struct expr_program *program;
    char text[200] = "attribute_exists(a";
    for (int i = 0; i < 31; i++) strcat(text, ".b");
    size_t at = strlen(text);
    strcpy(text + at, ")");
    assert_ok(compile(&a, EXPR_CONDITION, text, NULL, &err, &program));
    strcpy(text + at, "[0])");
    assert_rc(compile(&a, EXPR_CONDITION, text, NULL, &err, &program), SHEAF_VALIDATION);
    assert_string_equal(err.message, /* Alternator test_projection_expression.py quotes it */
                        "Invalid ConditionExpression: The document path has too many nesting "
                        "levels; nesting levels: 33");
    arena_deinit(&a);
}

static void test_compile__survives_text_that_only_opens(void **state)
{
    (void)state;
    static const char *const openers[] = {"(",      "((((",  "NOT ", "NOT(", "size(", "f((",
                                          "(a).b=", "a[0].", "a=b ", "a,",   ")",     "#",
                                          ":",      "a AND", "OR ",  "((a)", ".",     "a IN ("};
    char text[LIMIT_EXPRESSION_BYTES + 1];
    for (size_t i = 0; i < sizeof openers / sizeof openers[0]; i++) {
        struct arena a;
        arena_init(&a, 4 << 20);
        sheaf_error err;
        const struct expr_program *program;
        fill(text, LIMIT_EXPRESSION_BYTES, openers[i]);
        assert_rc(compile(&a, EXPR_CONDITION, text, NULL, &err, &program), SHEAF_VALIDATION);
        assert_non_null(strstr(err.message, "Syntax error; token: "));
        arena_deinit(&a);
    }
}

static void test_compile__balanced_depth_is_no_matter(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 4 << 20);
    sheaf_error err;
    const struct expr_program *program;
    char text[LIMIT_EXPRESSION_BYTES + 1];
    /* (a AND (a AND (… : 148 levels, none redundant */
    text[0] = '\0';
    for (int i = 0; i < 148; i++) strcat(text, "(a=b AND ");
    strcat(text, "a=b");
    for (int i = 0; i < 148; i++) strcat(text, ")");
    assert_ok(compile(&a, EXPR_CONDITION, text, NULL, &err, &program));
    assert_true(expr_eval(program, item_map(doc_text_item(&a, "{a: 1, b: 1}"))));
    /* grouped paths far over the limit of 32 */
    fill(text, 700, "(");
    strcat(text, "a");
    for (int i = 0; i < 700; i++) strcat(text, ".b)");
    strcat(text, "=c");
    assert_rc(compile(&a, EXPR_CONDITION, text, NULL, &err, &program), SHEAF_VALIDATION);
    assert_non_null(strstr(err.message, "nesting levels: 701"));
    /* calls in calls */
    text[0] = '\0';
    for (int i = 0; i < 600; i++) strcat(text, "size(");
    strcat(text, "a");
    for (int i = 0; i < 600; i++) strcat(text, ")");
    strcat(text, "=c");
    assert_rc(compile(&a, EXPR_CONDITION, text, NULL, &err, &program), SHEAF_VALIDATION);
    assert_non_null(strstr(err.message, "operator or function: size, operand type: N"));
    arena_deinit(&a);
}

/* ---- memory ---- */

static void test_eval__allocates_nothing(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    sheaf_error err;
    const struct expr_program *program;
    span item = doc_text_item(&a, ITEM);
    assert_ok(
        compile(&a, EXPR_FILTER,
                "n = :5 AND size(s) > :4 AND (contains(l, :set) OR begins_with(s, :hell)) AND "
                "m.y[1] BETWEEN :1 AND :9 AND NOT n IN (:1, size(m), m.x)",
                test_env(&a, NULL, VALUES), &err, &program));
    uint64_t before = mem_count();
    size_t used = a.used;
    const uint8_t *at = a.at;
    for (int i = 0; i < 100; i++) assert_true(expr_eval(program, item_map(item)));
    assert_int_equal(mem_count(), before);
    assert_int_equal(a.used, used);
    assert_ptr_equal(a.at, at);
    arena_deinit(&a);
}

static void test_compile__needs_no_place_for_the_detail(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    const struct expr_program *program;
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        struct ctx c = {&a, NULL};
        struct expr_env *env = test_env(&a, messages[i].names, messages[i].values);
        assert_rc(expr_compile(&c, EXPR_FILTER, span_cstr(messages[i].text), env, &program),
                  SHEAF_VALIDATION);
    }
    arena_deinit(&a);
}

static void test_compile__every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    static const char text[] =
        "a = :v AND (b > size(:w) OR contains(c.d[1], :v)) AND NOT e IN (:v, f)";
    struct arena outer;
    arena_init(&outer, 1 << 20);
    struct expr_env *env = test_env(&outer, NULL, "{':v': 'x', ':w': 'yz'}");
    bool is_done = false;
    uint64_t nth = 1;
    for (; !is_done; nth++) {
        struct arena a;
        arena_init(&a, 1 << 20);
        sheaf_error err;
        const struct expr_program *program;
        mem_fail_at(nth, false);
        sheaf_rc rc = compile(&a, EXPR_CONDITION, text, env, &err, &program);
        mem_fail_at(0, false);
        is_done = rc == SHEAF_OK;
        if (!is_done) assert_int_equal(rc, SHEAF_NOMEM);
        arena_deinit(&a);
    }
    assert_true(nth > 2);
    /* The ceiling at every height, too. */
    for (size_t ceiling = 0; ceiling < 16000; ceiling += 64) {
        struct arena a;
        arena_init(&a, ceiling);
        sheaf_error err;
        const struct expr_program *program;
        sheaf_rc rc = compile(&a, EXPR_CONDITION, text, env, &err, &program);
        if (rc != SHEAF_OK) assert_int_equal(rc, SHEAF_NOMEM);
        arena_deinit(&a);
    }
    arena_deinit(&outer);
}

static void test_paths__lists_every_path_in_order(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    sheaf_error err;
    const struct expr_program *program;
    struct expr_env *env = test_env(&a, "{'#n': 'name'}", "{':v': 1}");
    assert_ok(compile(&a, EXPR_FILTER, "a = :v AND size(#n.b[2]) IN (c, :v) OR attribute_exists(d)",
                      env, &err, &program));
    static const char *const want[] = {"[a]", "[name, b, [2]]", "[c]", "[d]"};
    uint32_t n;
    const struct path *paths = expr_paths(program, &n);
    assert_int_equal(n, 4);
    for (uint32_t i = 0; i < n; i++) {
        struct buf b;
        buf_init(&b, &a, 100);
        path_format(&paths[i], &b);
        assert_span(buf_span(&b), want[i]);
    }
    assert_true(env->names[0].is_used && env->values[0].is_used);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile__answers_with_the_services_messages),
        cmocka_unit_test(test_eval__table),
        cmocka_unit_test(test_eval__an_absent_item_has_no_attributes),
        cmocka_unit_test(test_compile__takes_4096_bytes_and_not_4097),
        cmocka_unit_test(test_compile__takes_300_operators_and_not_301),
        cmocka_unit_test(test_compile__takes_100_operands_of_in_and_not_101),
        cmocka_unit_test(test_compile__takes_32_levels_of_a_path_and_not_33),
        cmocka_unit_test(test_compile__survives_text_that_only_opens),
        cmocka_unit_test(test_compile__balanced_depth_is_no_matter),
        cmocka_unit_test(test_eval__allocates_nothing),
        cmocka_unit_test(test_compile__needs_no_place_for_the_detail),
        cmocka_unit_test(test_compile__every_failed_allocation_is_an_error),
        cmocka_unit_test(test_paths__lists_every_path_in_order),
    };
    return cmocka_run_group_tests_name("cond", tests, NULL, NULL);
}
