/* Update expressions by table: what compiles to which message, what an update makes of an item. The
 * reference with random updates is test_update_random.c. */
#include "support/exprs.h"

#include "base/limits.h"
#include "base/mem.h"

#define INVALID "Invalid UpdateExpression: "
#define OVERLAP                                                                                    \
    INVALID "Two document paths overlap with each other; must remove or rewrite one of these "     \
            "paths; path one: "
#define CONFLICT                                                                                   \
    INVALID "Two document paths conflict with each other; must remove or rewrite one of these "    \
            "paths; path one: "
#define TYPE INVALID "Incorrect operand type for operator or function; operator"
#define OPERANDS                                                                                   \
    INVALID "Incorrect number of operands for operator or function; operator or function: "
#define NEEDS_PATH INVALID "Operator or function requires a document path; operator or function: "
#define MISUSED                                                                                    \
    INVALID "The function is not allowed to be used this way in an expression; function: "
#define ONCE "section can only be used once in an update expression;"
#define NO_VALUE                                                                                   \
    INVALID "An expression attribute value used in expression is not defined; attribute value: "
#define NO_NAME                                                                                    \
    INVALID "An expression attribute name used in the document path is not defined; attribute "    \
            "name: "
#define RESERVED INVALID "Attribute name is a reserved keyword; reserved keyword: "
#define WRONG_TYPE "An operand in the update expression has an incorrect data type"
#define NO_ATTRIBUTE                                                                               \
    "The provided expression refers to an attribute that does not exist in the item"
#define BAD_PATH "The document path provided in the update expression is invalid for update"
#define TOO_DEEP                                                                                   \
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "    \
    "beyond supported limit"

/* ---- refused when compiled ---- */

struct refusal {
    const char *text, *names, *values, *message, *source;
};

#define REDUNDANT INVALID "The expression has redundant parentheses;"

static const struct refusal refusals[] = {
    {"", 0, 0, INVALID "The expression can not be empty;", DYNALITE_UPDATE},
    {"INVALID SYNTAX HERE", 0, 0,
     INVALID "Syntax error; token: \"INVALID\", near: \"INVALID SYNTAX\"", PARITY},
    {"SET c = ((:v))", 0, "{v: 1}", REDUNDANT, UNVERIFIED},
    {"SET c = ((b))", 0, 0, REDUNDANT, UNVERIFIED},
    {"SET c = ((b)) + :v", 0, "{v: 1}", REDUNDANT, UNVERIFIED},
    {"SET c = :v + ((b))", 0, "{v: 1}", REDUNDANT, UNVERIFIED},
    {"SET c = ((b + :v))", 0, "{v: 1}", REDUNDANT, UNVERIFIED},
    {"SET c = ((if_not_exists(q, :v)))", 0, "{v: 1}", REDUNDANT, UNVERIFIED},
    {"SET _123 = :a", 0, "{a: 1}", INVALID "Syntax error; token: \"_\", near: \"SET _123\"",
     ALTERNATOR_UPDATE},

    {" set #c = :c set abOrt = true ", "{a: 'a'}", "{a: 'a'}", RESERVED "abOrt", DYNALITE_UPDATE},
    {" remove Absolute ", 0, 0, RESERVED "Absolute", DYNALITE_UPDATE},

    {"set #c = if_not_exist(:c) set c = d", 0, 0,
     INVALID "Invalid function name; function: if_not_exist", DYNALITE_UPDATE},
    {"SET a = f(b,c,d)", 0, 0, INVALID "Invalid function name; function: f", ALTERNATOR_UPDATE},
    {"SET a = LIST_APPEND(:a, :b)", 0, "{a: [], b: []}",
     INVALID "Invalid function name; function: LIST_APPEND", UNVERIFIED},
    {"SET a = size(b)", 0, 0,
     INVALID "The function is not allowed in an update expression; function: size", UNVERIFIED},

    {"set a = #c set c = :d", 0, 0, INVALID "The \"SET\" " ONCE, DYNALITE_UPDATE},
    {"remove #d set a = b remove e", 0, 0, INVALID "The \"REMOVE\" " ONCE, DYNALITE_UPDATE},
    {"add #d :e set a = b add e :f", 0, 0, INVALID "The \"ADD\" " ONCE, DYNALITE_UPDATE},
    {"delete #d :e set a = b delete #e :f", 0, 0, INVALID "The \"DELETE\" " ONCE, DYNALITE_UPDATE},

    {"SET #c = if_not_exists(:c)", "{a: 'a'}", "{a: 'a'}", NO_NAME "#c", DYNALITE_UPDATE},
    {"SET #a = if_not_exists(:c)", "{a: 'a'}", "{a: 'a'}", NO_VALUE ":c", DYNALITE_UPDATE},
    {"SET attr1 = :v", 0, 0, NO_VALUE ":v", PARITY},
    {"SET b = if_not_exists(:val2, :val1)", 0, "{val1: 6}", NO_VALUE ":val2", ALTERNATOR_UPDATE},

    {"set d[1] = a, d.b = a, c[1].a = a, #c = if_not_exists(a)", "{c: 'c', d: '[3]'}", 0,
     OVERLAP "[c, [1], a], path two: [c]", DYNALITE_UPDATE},
    {"set c.b.#c = a, c = a, #d = a", "{c: 'c', d: '[3]'}", 0, OVERLAP "[c, b, c], path two: [c]",
     DYNALITE_UPDATE},
    {"set a = b remove a, #c, #d", "{c: 'c', d: '[3]'}", 0, OVERLAP "[a], path two: [a]",
     DYNALITE_UPDATE},
    {"set #c[3].#d = a, #c[3] = a", "{c: 'c', d: '[3]'}", 0,
     OVERLAP "[c, [3], [3]], path two: [c, [3]]", DYNALITE_UPDATE},
    {"remove c, #c.a, #d", "{c: 'c', d: '[3]'}", 0, OVERLAP "[c], path two: [c, a]",
     DYNALITE_UPDATE},
    {"remove a, #c, a, #d", "{c: 'c', d: '[3]'}", 0, OVERLAP "[a], path two: [a]", DYNALITE_UPDATE},
    {"SET a = :v REMOVE a", 0, "{v: 1}", OVERLAP "[a], path two: [a]", ALTERNATOR_UPDATE},
    {"remove a.c, b, a.b, a", 0, 0, OVERLAP "[a, c], path two: [a]", UNVERIFIED},
    {"remove d, e, a.b.c, a.b, a", 0, 0, OVERLAP "[a, b, c], path two: [a, b]", UNVERIFIED},

    {"set #c[3].#d = a, #c.#d[3] = if_not_exists(a)", "{c: 'c', d: '[3]'}", 0,
     CONFLICT "[c, [3], [3]], path two: [c, [3], [3]]", DYNALITE_UPDATE},
    {"remove a.#c set a[1] = #d", "{c: 'c', d: '[3]'}", 0, CONFLICT "[a, c], path two: [a, [1]]",
     DYNALITE_UPDATE},

    {"set b = list_append(:a, a), c = if_not_exists(a) add a.b :a", 0, "{a: 'a'}",
     TYPE ": ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND", DYNAMOID},
    {"delete a.b :a", 0, "{a: 'a'}",
     TYPE ": DELETE, operand type: STRING, typeSet: ALLOWED_FOR_DELETE_OPERAND", SDK_JS_3025},
    {"delete a.b :a", 0, "{a: [1]}",
     TYPE ": DELETE, operand type: LIST, typeSet: ALLOWED_FOR_DELETE_OPERAND", TYPEDORM_264},
    /* The suite has these without the typeSet, which the service adds since 2020. */
    {"add a.b :a", 0, "{a: null}",
     TYPE ": ADD, operand type: NULL, typeSet: ALLOWED_FOR_ADD_OPERAND", DYNALITE_UPDATE},
    {"delete a.b :a", 0, "{a: null}",
     TYPE ": DELETE, operand type: NULL, typeSet: ALLOWED_FOR_DELETE_OPERAND", DYNALITE_UPDATE},
    {"add a.b :a", 0, "{a: true}",
     TYPE ": ADD, operand type: BOOLEAN, typeSet: ALLOWED_FOR_ADD_OPERAND", DYNALITE_UPDATE},
    {"add a.b :a", 0, "{a: b'a'}",
     TYPE ": ADD, operand type: BINARY, typeSet: ALLOWED_FOR_ADD_OPERAND", DYNALITE_UPDATE},
    {"add a.b :a", 0, "{a: {a: [1]}}",
     TYPE ": ADD, operand type: MAP, typeSet: ALLOWED_FOR_ADD_OPERAND", DYNALITE_UPDATE},
    {"add a.b :a", 0, "{a: [1]}",
     TYPE ": ADD, operand type: LIST, typeSet: ALLOWED_FOR_ADD_OPERAND", DYNALITE_UPDATE},
    {"delete a.b :a", 0, "{a: 1}",
     TYPE ": DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND", DYNALITE_UPDATE},

    {"set a = if_not_exists(c)", 0, 0, OPERANDS "if_not_exists, number of operands: 1",
     DYNALITE_UPDATE},
    {"set a = list_append(c)", 0, 0, OPERANDS "list_append, number of operands: 1",
     ALTERNATOR_UPDATE},
    {"set a = list_append(:a, :b, :c)", 0, "{a: [], b: [], c: []}",
     OPERANDS "list_append, number of operands: 3", ALTERNATOR_UPDATE},
    {"set a = if_not_exists(:a, c)", 0, "{a: 'a'}", NEEDS_PATH "if_not_exists", DYNALITE_UPDATE},
    {"set a = if_not_exists(if_not_exists(a, b), c)", 0, 0, NEEDS_PATH "if_not_exists",
     DYNALITE_UPDATE},
    {"SET a = list_append(list_append(:a, :b), :c)", 0, "{a: [], b: [], c: []}",
     MISUSED "list_append", ALTERNATOR_UPDATE},
    {"SET a = list_append(:a, list_append(list_append(:a, :b), :c))", 0, "{a: [], b: [], c: []}",
     MISUSED "list_append", ALTERNATOR_UPDATE},
    {"SET a = if_not_exists(a, list_append(:a, :b))", 0, "{a: [], b: []}", MISUSED "list_append",
     UNVERIFIED},
    {"SET a = list_append(a, b) + :c", 0, "{c: 1}", MISUSED "list_append", UNVERIFIED},

    {"set a = list_append(:a, a)", 0, "{a: 'a'}", TYPE " or function: list_append, operand type: S",
     DYNALITE_UPDATE},
    {"set a = list_append(a, :b)", 0, "{b: 1}", TYPE " or function: list_append, operand type: N",
     DYNALITE_UPDATE},
    {"set a = list_append(:d, a)", 0, "{d: false}",
     TYPE " or function: list_append, operand type: BOOL", DYNALITE_UPDATE},
    {"set a = list_append(:e, a)", 0, "{e: null}",
     TYPE " or function: list_append, operand type: NULL", DYNALITE_UPDATE},
    {"set a = list_append(:f, a)", 0, "{f: <'a'>}",
     TYPE " or function: list_append, operand type: SS", DYNALITE_UPDATE},
    {"set a = list_append(:i, a)", 0, "{i: {}}", TYPE " or function: list_append, operand type: M",
     DYNALITE_UPDATE},
    {"set a = :a + :c", 0, "{a: 'a', c: b'a'}", TYPE " or function: +, operand type: S",
     DYNALITE_UPDATE},
    {"set a = :c + a", 0, "{c: b'a'}", TYPE " or function: +, operand type: B", DYNALITE_UPDATE},
    {"set a = a + :g", 0, "{g: <1>}", TYPE " or function: +, operand type: NS", DYNALITE_UPDATE},
    {"set a = a - :h", 0, "{h: <b'a'>}", TYPE " or function: -, operand type: BS", DYNALITE_UPDATE},
    {"set a = a - :j", 0, "{j: []}", TYPE " or function: -, operand type: L", DYNALITE_UPDATE},
};

static void expect_refusal(const struct refusal *row)
{
    struct request r;
    const struct expr_update *u;
    request_init(&r);
    request_env(&r, row->names, row->values);
    sheaf_rc rc = expr_compile_update(&r.ctx, span_cstr(row->text), &r.env, &u);
    if (rc != SHEAF_VALIDATION || strcmp(r.err.message, row->message) != 0)
        fail_msg("%s\n  rc %d: %s\n  wanted: %s", row->text, (int)rc, r.err.message, row->message);
    assert_null(u);
    request_deinit(&r);
}

static void test_compile_update__refuses_with_the_services_messages(void **state)
{
    (void)state;
    struct sources s = {0};
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        expect_refusal(&refusals[i]);
        sources_count(&s, refusals[i].source);
    }
    sources_print(&s, "messages of compiling");
}

/* dynalite's list of syntax errors, and a few of our own. */
static const char *const syntax_errors[] = {
    "whatever",
    "set a",
    "add a",
    "delete a",
    "set a=set",
    "remove a = b",
    "add a = b",
    "delete a = b",
    "delete a b",
    "delete a if_not_exist(b)",
    "add abort b",
    "add a if_not_exist(b)",
    "remove a b",
    "set a b",
    "set :a = b",
    "add :a b",
    "delete :a b",
    "remove :a",
    "set a = b / c",
    "set a = b * c",
    "set a[1] = \"eight\"",
    "set a[1] = 1",
    "SET a = if_not_exist(a, 100)",
    "SET if_not_exist(a, b) = a",
    "set (a = (b + c))",
    "set a = (b.c).d + e",
    "set a = (b.c)[0] + e",
    "set a = b + c + d",
    "set",
    "set a = b,",
    "set a = b, remove c",
    "set a = :v extra",
    "set a = f()",
    "set a = f(b + c)",
    "set a = f(b",
    "set a = (b",
    "set a = (b + c) + d",
    "set a = b) remove c",
    "set a.set = b",
    "set a[:i] = b",
    "set a[#i] = b",
    "set a = f((b + c))",
    "set a = -b",
    "remove a..b",
    "remove a.[1]",
    "remove [1]",
};

static void test_compile_update__knows_a_syntax_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof syntax_errors / sizeof syntax_errors[0]; i++) {
        struct request r;
        const struct expr_update *u;
        request_init(&r);
        sheaf_rc rc = expr_compile_update(&r.ctx, span_cstr(syntax_errors[i]), NULL, &u);
        if (rc != SHEAF_VALIDATION ||
            strncmp(r.err.message, INVALID "Syntax error; ", strlen(INVALID "Syntax error; ")) != 0)
            fail_msg("%s: rc %d, %s", syntax_errors[i], (int)rc, r.err.message);
        request_deinit(&r);
    }
}

/* ---- applied ---- */

struct application {
    const char *item, *text, *values;
    const char *after; /* the new item, or the error's message */
    const char *source;
};

static const struct application applications[] = {
    /* SET */
    {"{p: 1}", "SET b = :v", "{v: 4}", "{b: 4, p: 1}", ALTERNATOR_UPDATE},
    {"{p: 1}", "SET x = :v, y = :v", "{v: 4}", "{p: 1, x: 4, y: 4}", ALTERNATOR_UPDATE},
    {"{a: 'hi', p: 1}", "sEt b=:v", "{v: 'x'}", "{a: 'hi', b: 'x', p: 1}", ALTERNATOR_UPDATE},
    {"{a: 'hello', p: 1}", "SET b = a", 0, "{a: 'hello', b: 'hello', p: 1}", ALTERNATOR_UPDATE},
    {"{p: 1}", "SET c = z", 0, NO_ATTRIBUTE, DYNALITE_UPDATE},
    {"{p: 1}", "SET x = :v, y = x", "{v: 4}", NO_ATTRIBUTE, ALTERNATOR_UPDATE},
    {"{p: 1}", "set e = list_append(b, c)", 0, NO_ATTRIBUTE, DYNALITE_UPDATE},
    {"{a: 1, b: 2}", "SET a = b, b = a", 0, "{a: 2, b: 1}", ALTERNATOR_UPDATE},
    {"{a: 'hello', p: 1}", "REMOVE a SET b = a", 0, "{b: 'hello', p: 1}", ALTERNATOR_UPDATE},
    {"{a: {b: 3, c: {x: 7}}}", "SET z = a.c.x", 0, "{a: {b: 3, c: {x: 7}}, z: 7}",
     ALTERNATOR_UPDATE},
    {"{p: 1}", "SET d = :d, e = :e, f = :f, g = :g", "{d: [], e: {}, f: '', g: b''}",
     "{d: [], e: {}, f: '', g: b'', p: 1}", ALTERNATOR_UPDATE},

    /* + and - */
    {"{p: 1}", "SET b = :a + :b", "{a: 4, b: 3}", "{b: 7, p: 1}", ALTERNATOR_UPDATE},
    {"{p: 1}", "SET b = :a - :b", "{a: 5, b: 2}", "{b: 3, p: 1}", ALTERNATOR_UPDATE},
    {"{a: 2}", "SET a = :v + a", "{v: 4}", "{a: 6}", ALTERNATOR_UPDATE},
    {"{a: 9, b: 10}", "SET a = (b + a)", 0, "{a: 19, b: 10}", DYNALITE_UPDATE},
    {"{a: 9, b: 10}", "SET a = ((b)-(a))", 0, "{a: 1, b: 10}", DYNALITE_UPDATE},
    {"{b: 2}", "SET c = (b) + (:v)", "{v: 1}", "{b: 2, c: 3}", UNVERIFIED},
    {"{a: 0.1}", "SET a = a + :v", "{v: 0.2}", "{a: 0.3}", UNVERIFIED},
    {"{a: 's'}", "set e = a + :v", "{v: 1}", WRONG_TYPE, DYNALITE_UPDATE},
    {"{b: {}}", "set e = b - :v", "{v: 1}", WRONG_TYPE, DYNALITE_UPDATE},
    {"{a: 9e125}", "SET a = a + :v", "{v: 9e125}",
     "Number overflow. Attempting to store a number with magnitude larger than supported range",
     UNVERIFIED},
    {"{p: 1}", "SET a = a + :v", "{v: 1}", NO_ATTRIBUTE, UNVERIFIED},

    /* functions */
    {"{p: 1}", "SET a = list_append(:a, :b)", "{a: [4, 'x'], b: ['y', 7]}",
     "{a: [4, 'x', 'y', 7], p: 1}", ALTERNATOR_UPDATE},
    {"{a: ['hi', 2]}", "SET a = list_append(a, :v)", "{v: [4]}", "{a: ['hi', 2, 4]}",
     ALTERNATOR_UPDATE},
    {"{a: [1], b: [2]}", "SET c = list_append(a, b)", 0, "{a: [1], b: [2], c: [1, 2]}",
     ALTERNATOR_UPDATE},
    {"{b: []}", "SET a = list_append(:v, b)", "{v: []}", "{a: [], b: []}", ALTERNATOR_UPDATE},
    {"{d: <1>}", "set e = list_append(d, if_not_exists(f, :a))", "{a: []}", WRONG_TYPE,
     DYNALITE_UPDATE},
    {"{p: 1}", "SET a = if_not_exists(a, :v)", "{v: 2}", "{a: 2, p: 1}", ALTERNATOR_UPDATE},
    {"{a: 2}", "SET a = if_not_exists(a, :v)", "{v: 3}", "{a: 2}", ALTERNATOR_UPDATE},
    {"{a: 2, b: 9}", "SET b = if_not_exists(a, :v)", "{v: 6}", "{a: 2, b: 2}", ALTERNATOR_UPDATE},
    {"{a: 1}", "SET b = if_not_exists(a, nothing)", 0, "{a: 1, b: 1}", UNVERIFIED},
    {"{p: 1}", "SET b = if_not_exists(a, nothing)", 0, NO_ATTRIBUTE, UNVERIFIED},
    {"{p: 1}", "SET a = list_append(if_not_exists(a, :a), :b)", "{a: ['a'], b: ['b']}",
     "{a: ['a', 'b'], p: 1}", ALTERNATOR_UPDATE},
    {"{a: 3}", "SET x = if_not_exists(b, if_not_exists(a, :v))", "{v: 4}", "{a: 3, x: 3}",
     ALTERNATOR_UPDATE},
    {"{p: 1}", "SET b = if_not_exists(b, :a)+:b", "{a: 2, b: 3}", "{b: 5, p: 1}",
     ALTERNATOR_UPDATE},
    {"{p: 1}", "SET b = if_not_exists((b), (:a))", "{a: 2}", "{b: 2, p: 1}", UNVERIFIED},

    /* nested SET */
    {"{a: {b: 3, c: 4}, d: 5}", "SET a.c = :v", "{v: 7}", "{a: {b: 3, c: 7}, d: 5}",
     ALTERNATOR_UPDATE},
    {"{a: {b: 3}, d: 5}", "SET a.d = :v", "{v: 7}", "{a: {b: 3, d: 7}, d: 5}", ALTERNATOR_UPDATE},
    {"{a: ['one', 'two', 'three']}", "SET a[1] = :v", "{v: 'x'}", "{a: ['one', 'x', 'three']}",
     ALTERNATOR_UPDATE},
    {"{a: {b: 3, c: ['hi', {x: {y: [3, 5, 7]}}]}}", "SET a.c[1].x.y[1] = :v", "{v: 9}",
     "{a: {b: 3, c: ['hi', {x: {y: [3, 9, 7]}}]}}", ALTERNATOR_UPDATE},
    {"{a: {c: {y: 3}, x: 3, y: 4}, b: {x: 1, y: 2}}",
     "SET a.b = :a, a.c.d = :b, b.x = :c REMOVE a.x, b.y", "{a: 10, b: 'dog', c: 17}",
     "{a: {b: 10, c: {d: 'dog', y: 3}, y: 4}, b: {x: 17}}", ALTERNATOR_UPDATE},
    {"{a: [1, 2, 3]}", "SET a[7] = :v", "{v: 4}", "{a: [1, 2, 3, 4]}", ALTERNATOR_UPDATE},
    {"{a: [1]}", "SET a[84] = :a, a[37] = :b, a[17] = :c, a[50] = :d",
     "{a: 'a1', b: 'a2', c: 'a3', d: 'a4'}", "{a: [1, 'a3', 'a2', 'a4', 'a1']}", ALTERNATOR_UPDATE},
    {"{a: []}", "SET a[0] = :v", "{v: 'first'}", "{a: ['first']}", PARITY},
    {"{p: 1}", "SET c.c = :v", "{v: 7}", BAD_PATH, ALTERNATOR_UPDATE},
    {"{a: 'hello', b: ['hi']}", "SET a.c = :v", "{v: 7}", BAD_PATH, ALTERNATOR_UPDATE},
    {"{b: ['hi']}", "SET b.c = :v", "{v: 7}", BAD_PATH, ALTERNATOR_UPDATE},
    {"{a: 'hello'}", "SET a[0] = :v", "{v: 7}", BAD_PATH, ALTERNATOR_UPDATE},
    {"{c: {'1': 'a'}}", "set c[1] = :v", "{v: 7}", BAD_PATH, DYNALITE_UPDATE},
    {"{a: 1}", "set b.a = a", 0, BAD_PATH, DYNALITE_UPDATE},
    {"{a: [1]}", "SET a[1].x = :v", "{v: 7}", BAD_PATH, UNVERIFIED},

    /* REMOVE */
    {"{a: 'hello', b: 'hi'}", "REMOVE a", 0, "{b: 'hi'}", ALTERNATOR_UPDATE},
    {"{a: {x: 3}, b: ['hi']}", "REMOVE a.y, b[7], c", 0, "{a: {x: 3}, b: ['hi']}",
     ALTERNATOR_UPDATE},
    {"{a: {b: 3, c: ['hi', {q: 2, x: {y: [3, 5, 7]}}]}}", "REMOVE a.c[1].x.y[1], a.c[1].q", 0,
     "{a: {b: 3, c: ['hi', {x: {y: [3, 7]}}]}}", ALTERNATOR_UPDATE},
    {"{a: [2, 3, 4, 5, 6, 7]}", "REMOVE a[1] SET a[3] = :v", "{v: 17}", "{a: [2, 4, 17, 6, 7]}",
     ALTERNATOR_UPDATE},
    {"{a: [1, 2]}", "REMOVE a[0] SET a[9] = :v", "{v: 3}", "{a: [2, 3]}", UNVERIFIED},
    {"{a: {b: 1}}", "REMOVE a.b", 0, "{a: {}}", ALTERNATOR_UPDATE},
    {"{a: [1]}", "REMOVE a[0]", 0, "{a: []}", ALTERNATOR_UPDATE},
    {"{a: 'hello'}", "REMOVE a.c", 0, BAD_PATH, ALTERNATOR_UPDATE},
    {"{b: ['x']}", "REMOVE b.c", 0, BAD_PATH, ALTERNATOR_UPDATE},
    {"{p: 1}", "REMOVE c.c", 0, BAD_PATH, ALTERNATOR_UPDATE},
    {"{p: 1}", "REMOVE b[0]", 0, BAD_PATH, ALTERNATOR_UPDATE},

    /* ADD */
    {"{a: 3}", "ADD a :v", "{v: 4}", "{a: 7}", ALTERNATOR_UPDATE},
    {"{p: 1}", "ADD b :v", "{v: 7}", "{b: 7, p: 1}", ALTERNATOR_UPDATE},
    {"{b: 'hi'}", "ADD b :v", "{v: 1}", WRONG_TYPE, ALTERNATOR_UPDATE},
    {"{d: <1>}", "add d :v", "{v: 1}", WRONG_TYPE, DYNALITE_UPDATE},
    {"{b: {a: <'1'>}}", "add b :v", "{v: <1>}", WRONG_TYPE, DYNALITE_UPDATE},
    {"{a: [1, 2]}", "ADD a :v", "{v: <3, 4>}", WRONG_TYPE, ALTERNATOR_UPDATE},
    {"{a: <'dog', 'cat'>}", "ADD a :v", "{v: <'pig', 'cat'>}", "{a: <'cat', 'dog', 'pig'>}",
     ALTERNATOR_UPDATE},
    {"{a: <1, 5>}", "ADD a :v", "{v: <-3, 5, 10>}", "{a: <-3, 1, 5, 10>}", UNVERIFIED},
    {"{tags: <'a'>}", "ADD tags :v", "{v: <''>}", "{tags: <'', 'a'>}", PARITY},
    {"{bins: <b'\\01'>}", "ADD bins :v", "{v: <b''>}", "{bins: <b'', b'\\01'>}", PARITY},
    {"{p: 1}", "ADD b :v", "{v: <'dog'>}", "{b: <'dog'>, p: 1}", ALTERNATOR_UPDATE},
    {"{m: {n: 1}}", "ADD m.n :v, m.k :v", "{v: 2}", "{m: {k: 2, n: 3}}", UNVERIFIED},
    {"{l: [1, 2]}", "ADD l[0] :v, l[9] :v", "{v: 2}", "{l: [3, 2, 2]}", UNVERIFIED},
    {"{b: 'x'}", "add b.a :v", "{v: <'a'>}", BAD_PATH, DYNALITE_UPDATE},
    {"{p: 1}", "add y[1] :v", "{v: <'a'>}", BAD_PATH, DYNALITE_UPDATE},

    /* DELETE */
    {"{a: <'dog', 'cat', 'mouse'>}", "DELETE a :v", "{v: <'cat', 'mouse'>}", "{a: <'dog'>}",
     ALTERNATOR_UPDATE},
    {"{a: <'dog'>}", "DELETE a :v", "{v: <'pig'>}", "{a: <'dog'>}", ALTERNATOR_UPDATE},
    {"{a: <'dog'>, b: 'hi'}", "DELETE a :v", "{v: <'dog', 'x'>}", "{b: 'hi'}", ALTERNATOR_UPDATE},
    {"{b: 'hi'}", "DELETE a :v", "{v: <'dog'>}", "{b: 'hi'}", ALTERNATOR_UPDATE},
    {"{tags: <'', 'a'>}", "DELETE tags :v", "{v: <'a'>}", "{tags: <''>}", PARITY},
    {"{d: <1>}", "delete d :v", "{v: <'1'>}", WRONG_TYPE, DYNALITE_UPDATE},
    {"{c: 1}", "delete c :v", "{v: <1>}", WRONG_TYPE, DYNALITE_UPDATE},
    {"{b: {a: <'1'>}}", "delete b.a :v", "{v: <1>}", WRONG_TYPE, DYNALITE_UPDATE},
    {"{l: [1, <'a'>, 2]}", "DELETE l[1] :v", "{v: <'a'>}", "{l: [1, 2]}", UNVERIFIED},
    {"{m: {s: <1>}}", "DELETE m.s :v", "{v: <1>}", "{m: {}}", UNVERIFIED},
    {"{p: 1}", "delete y.a :v", "{v: <'a'>}", BAD_PATH, DYNALITE_UPDATE},

    /* all at once, in any order */
    {"{a: 'k', b: {a: 1, b: 2, c: 3}, c: [1, 3]}",
     "set b.c=((c[1])+(b.a)),b.a = a,c[1] = a, c[4] = b.a - b.b, c[2] = b.c add c[8] :b, c[6] :a",
     "{a: 2, b: <'a'>}", "{a: 'k', b: {a: 'k', b: 2, c: 4}, c: [1, 'k', 3, -1, 2, <'a'>]}",
     DYNALITE_UPDATE},
    {"{a: 'k'}", "set b = if_not_exists(b, a)", 0, "{a: 'k', b: 'k'}", DYNALITE_UPDATE},
    {"{a: 1, b: <1, 2>, c: 3, d: {x: 1}}",
     "DELETE b :s ADD c :n REMOVE d.x SET d.y = a, e = c - :n", "{n: 5, s: <2>}",
     "{a: 1, b: <1>, c: 8, d: {y: 1}, e: -2}", UNVERIFIED},
};

static void expect_application(const struct application *row)
{
    struct request r;
    const struct expr_update *u;
    span after;
    request_init(&r);
    request_env(&r, NULL, row->values);
    if (expr_compile_update(&r.ctx, span_cstr(row->text), &r.env, &u) != SHEAF_OK)
        fail_msg("%s: %s", row->text, r.err.message);
    span item = doc_text_item(&r.arena, row->item);
    span copy = arena_dup(&r.arena, item);
    sheaf_rc rc = expr_update_apply(&r.ctx, u, item_map(item), &after);
    const char *got = rc ? r.err.message : doc_val_text(&r.arena, item_map(after));
    if (strcmp(got, row->after) != 0 || (rc != SHEAF_OK && rc != SHEAF_VALIDATION))
        fail_msg("%s of %s\n  gives:  %s\n  wanted: %s", row->text, row->item, got, row->after);
    if (rc == SHEAF_OK)
        assert_ok(item_check(after, &r.err));
    else
        assert_null(after.p);
    assert_true(span_eq(copy, item));
    request_deinit(&r);
}

static void test_update_apply__does_as_the_service(void **state)
{
    (void)state;
    struct sources s = {0};
    for (size_t i = 0; i < sizeof applications / sizeof applications[0]; i++) {
        expect_application(&applications[i]);
        sources_count(&s, applications[i].source);
    }
    sources_print(&s, "updates applied");
}

/* ---- what an update touches ---- */

static void expect_touched(const char *before, const char *text, const char *values,
                           const char *updated_old, const char *updated_new)
{
    struct request r;
    const struct expr_update *u;
    span after, old, new;
    request_init(&r);
    request_env(&r, NULL, values);
    assert_ok(expr_compile_update(&r.ctx, span_cstr(text), &r.env, &u));
    val item = item_map(doc_text_item(&r.arena, before));
    assert_ok(expr_update_apply(&r.ctx, u, item, &after));
    assert_ok(expr_project(&r.ctx, expr_update_touched(u), item, &old));
    assert_ok(expr_project(&r.ctx, expr_update_touched(u), item_map(after), &new));
    assert_string_equal(doc_val_text(&r.arena, item_map(old)), updated_old);
    assert_string_equal(doc_val_text(&r.arena, item_map(new)), updated_new);
    request_deinit(&r);
}

/* From Alternator's test_returnvalues.py, the last from dynalite's test/updateItem.js. */
static void test_update_touched__is_updated_old_and_updated_new(void **state)
{
    (void)state;
    static const char item[] = "{a: {b: 'hi', c: [1, 2, 3]}, d: 'cat'}";
    expect_touched("{a: 'hi', b: 'dog'}", "SET b = :v, c = :w", "{v: 'cat', w: 'x'}", "{b: 'dog'}",
                   "{b: 'cat', c: 'x'}");
    expect_touched("{a: 1, b: 'dog'}", "REMOVE b", NULL, "{b: 'dog'}", "{}");
    expect_touched(item, "SET a.b = :v", "{v: 'yo'}", "{a: {b: 'hi'}}", "{a: {b: 'yo'}}");
    expect_touched(item, "SET a.c[1] = :v", "{v: 7}", "{a: {c: [2]}}", "{a: {c: [7]}}");
    expect_touched(item, "REMOVE a.c[1], a.c[3]", NULL, "{a: {c: [2]}}", "{a: {c: [3]}}");
    expect_touched(item, "SET a.x1 = :v", "{v: 8}", "{}", "{a: {x1: 8}}");
    expect_touched(item, "SET a.c[100] = :v", "{v: 70}", "{}", "{}");
    expect_touched("{a: 'k', b: {a: 1, b: 2}, c: [1, 3]}",
                   "set b.a = a, c[1] = a, c[4] = b.a, c[2] = b.b add c[8] :b, c[6] :a",
                   "{a: 2, b: <'a'>}", "{b: {a: 1}, c: [3]}", "{b: {a: 'k'}, c: ['k', 2, 2]}");
}

static void test_update_touched__lists_paths_as_written(void **state)
{
    (void)state;
    struct request r;
    const struct expr_update *u;
    uint32_t n;
    request_init(&r);
    assert_ok(expr_compile_update(&r.ctx, SPAN_LIT("REMOVE z, a.b[2], m SET c = z"), NULL, &u));
    const struct path *paths = expr_projection_paths(expr_update_touched(u), &n);
    static const char *const want[] = {"[z]", "[a, b, [2]]", "[m]", "[c]"};
    assert_int_equal(n, 4);
    for (uint32_t i = 0; i < n; i++) {
        struct buf b;
        buf_init(&b, &r.arena, 64);
        path_format(&paths[i], &b);
        assert_span(buf_span(&b), want[i]);
    }
    request_deinit(&r);
}

static void test_update_creates__unless_it_only_removes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool creates;
    } rows[] = {{"SET a = :v", true},
                {"ADD a :v", true},
                {"REMOVE a", false},
                {"DELETE a :v", false},
                {"REMOVE b DELETE a :v", false},
                {"REMOVE b DELETE a :v SET c = :v", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request r;
        const struct expr_update *u;
        request_init(&r);
        request_env(&r, NULL, "{v: <1>}");
        assert_ok(expr_compile_update(&r.ctx, span_cstr(rows[i].text), &r.env, &u));
        assert_int_equal(expr_update_creates(u), rows[i].creates);
        request_deinit(&r);
    }
}

static void test_compile_update__needs_no_place_for_its_error(void **state)
{
    (void)state;
    struct request r;
    const struct expr_update *u;
    span after;
    request_init(&r);
    r.ctx.err = NULL;
    assert_rc(expr_compile_update(&r.ctx, SPAN_LIT("SET"), NULL, &u), SHEAF_VALIDATION);
    assert_rc(expr_compile_update(&r.ctx, SPAN_LIT("REMOVE a, a.b"), NULL, &u), SHEAF_VALIDATION);
    assert_ok(expr_compile_update(&r.ctx, SPAN_LIT("REMOVE a.b"), NULL, &u));
    val item = item_map(doc_text_item(&r.arena, "{p: 1}"));
    assert_rc(expr_update_apply(&r.ctx, u, item, &after), SHEAF_VALIDATION);
    request_deinit(&r);
}

static void test_compile_update__marks_what_it_uses(void **state)
{
    (void)state;
    struct request r;
    const struct expr_update *u;
    request_init(&r);
    request_env(&r, "{a: 'x', b: 'y', c: 'z'}", "{a: 1, b: 2}");
    assert_ok(
        expr_compile_update(&r.ctx, SPAN_LIT("SET #a = if_not_exists(q.#b, :b)"), &r.env, &u));
    assert_true(r.env.names[0].is_used && r.env.names[1].is_used && !r.env.names[2].is_used);
    assert_true(!r.env.values[0].is_used && r.env.values[1].is_used);
    request_deinit(&r);
}

/* ---- limits ---- */

/* "REMOVE a.a.a…" with so many steps, or the same with [0] behind the first. */
static void append_path(struct buf *b, const char *step, uint32_t n)
{
    buf_put_u8(b, 'a');
    for (uint32_t i = 1; i < n; i++) buf_printf(b, "%s", step);
}

static void expect_depth(const char *step, uint32_t n, bool is_fine)
{
    struct request r;
    const struct expr_update *u;
    struct buf b;
    span after;
    request_init(&r);
    buf_init(&b, &r.arena, LIMIT_EXPRESSION_BYTES);
    buf_printf(&b, "REMOVE ");
    append_path(&b, step, n);
    sheaf_rc rc = expr_compile_update(&r.ctx, buf_span(&b), NULL, &u);
    assert_int_equal(rc, is_fine ? SHEAF_OK : SHEAF_VALIDATION);
    if (is_fine) {
        val item = item_map(doc_text_item(&r.arena, "{a: {a: {a: [[[]]]}}}"));
        assert_rc(expr_update_apply(&r.ctx, u, item, &after), SHEAF_VALIDATION);
        assert_string_equal(r.err.message, BAD_PATH);
    } else {
        assert_non_null(strstr(r.err.message, "too many nesting levels"));
    }
    request_deinit(&r);
}

static void test_compile_update__bounds_the_depth_of_a_path(void **state)
{
    (void)state;
    expect_depth(".a", LIMIT_NESTING, true);
    expect_depth(".a", LIMIT_NESTING + 1, false);
    expect_depth("[0]", LIMIT_NESTING, true);
    expect_depth("[0]", LIMIT_NESTING + 1, false);
    expect_depth(".a", 2000, false);
    expect_depth("[0]", 1300, false);
}

static void test_compile_update__takes_calls_nested_as_deep_as_operators_go(void **state)
{
    (void)state;
    struct request r;
    const struct expr_update *u;
    span after;
    struct buf b;
    request_init(&r);
    request_env(&r, NULL, "{v: 7}");
    buf_init(&b, &r.arena, LIMIT_EXPRESSION_BYTES);
    buf_printf(&b, "SET a=");
    for (int i = 0; i < 200; i++) buf_printf(&b, "if_not_exists(b,");
    buf_printf(&b, ":v");
    for (int i = 0; i < 200; i++) buf_printf(&b, ")");
    assert_ok(expr_compile_update(&r.ctx, buf_span(&b), &r.env, &u));
    assert_ok(expr_update_apply(&r.ctx, u, item_map(doc_text_item(&r.arena, "{p: 1}")), &after));
    assert_string_equal(doc_val_text(&r.arena, item_map(after)), "{a: 7, p: 1}");

    buf_clear(&b);
    buf_printf(&b, "SET a=");
    for (int i = 0; i < 2000; i++) buf_printf(&b, "f(");
    assert_rc(expr_compile_update(&r.ctx, buf_span(&b), &r.env, &u), SHEAF_VALIDATION);
    request_deinit(&r);
}

static void expect_operators(uint32_t n, bool is_fine)
{
    struct request r;
    const struct expr_update *u;
    struct buf b;
    request_init(&r);
    request_env(&r, NULL, "{v: 7}");
    buf_init(&b, &r.arena, LIMIT_EXPRESSION_BYTES);
    buf_printf(&b, "SET ");
    for (uint32_t i = 0; i < n; i++) buf_printf(&b, "%sa%u=b+:v", i ? "," : "", i);
    assert_false(b.failed);
    sheaf_rc rc = expr_compile_update(&r.ctx, buf_span(&b), &r.env, &u);
    assert_int_equal(rc, is_fine ? SHEAF_OK : SHEAF_VALIDATION);
    if (!is_fine) /* unverified for updates */
        assert_string_equal(r.err.message, INVALID "The expression contains too many operators; "
                                                   "operator count: 301");
    request_deinit(&r);
}

static void test_compile_update__counts_operators(void **state)
{
    (void)state;
    expect_operators(LIMIT_EXPRESSION_OPERATORS, true);
    expect_operators(LIMIT_EXPRESSION_OPERATORS + 1, false);
}

static void expect_length(size_t n, bool is_fine)
{
    struct request r;
    const struct expr_update *u;
    char text[LIMIT_EXPRESSION_BYTES + 8];
    request_init(&r);
    memset(text, 'x', sizeof text);
    memcpy(text, "REMOVE ", 7);
    sheaf_rc rc = expr_compile_update(&r.ctx, SPAN(text, n), NULL, &u);
    assert_int_equal(rc, is_fine ? SHEAF_OK : SHEAF_VALIDATION);
    if (!is_fine)
        assert_non_null(
            strstr(r.err.message, "Expression size has exceeded the maximum allowed size"));
    request_deinit(&r);
}

static void test_compile_update__bounds_the_text(void **state)
{
    (void)state;
    expect_length(LIMIT_EXPRESSION_BYTES, true);
    expect_length(LIMIT_EXPRESSION_BYTES + 1, false);
}

/* n maps in each other around a string. */
static const char *nested(struct arena *a, uint32_t n)
{
    struct buf b;
    buf_init(&b, a, 1 << 16);
    for (uint32_t i = 0; i < n; i++) buf_printf(&b, "{n: ");
    buf_printf(&b, "'x'");
    for (uint32_t i = 0; i < n; i++) buf_printf(&b, "}");
    buf_put_u8(&b, 0);
    assert_false(b.failed);
    return (const char *)b.p;
}

static void test_update_apply__refuses_to_nest_too_deep(void **state)
{
    (void)state;
    for (uint32_t depth = 28; depth <= 31; depth++) {
        struct request r;
        const struct expr_update *u;
        span after;
        request_init(&r);
        struct expr_value v = {.placeholder = SPAN_LIT(":v"),
                               .value = doc_text_val(&r.arena, nested(&r.arena, depth))};
        r.env = (struct expr_env){.values = &v, .n_values = 1, .has_values = true};
        assert_ok(expr_compile_update(&r.ctx, SPAN_LIT("SET a.b = :v"), &r.env, &u));
        val item = item_map(doc_text_item(&r.arena, "{a: {}}"));
        sheaf_rc rc = expr_update_apply(&r.ctx, u, item, &after);
        /* The attribute is level 1 and the string inside stands on the last of 32. */
        assert_int_equal(rc, 1 + depth + 1 <= LIMIT_NESTING ? SHEAF_OK : SHEAF_VALIDATION);
        if (rc != SHEAF_OK) assert_string_equal(r.err.message, TOO_DEEP);
        if (rc != SHEAF_OK) assert_null(after.p);
        request_deinit(&r);
    }
}

static void test_update_apply__does_not_blow_up(void **state)
{
    (void)state;
    struct request r;
    const struct expr_update *u;
    span after;
    struct buf b;
    struct doc *list, *item;
    request_init(&r);
    item = doc_new(&r.arena, VAL_M);
    list = doc_new(&r.arena, VAL_L);
    for (int i = 0; i < 100000; i++) doc_add(&r.arena, list, SPAN_NONE, doc_string(&r.arena, "x"));
    doc_add(&r.arena, item, SPAN_LIT("b"), list);
    span before = doc_item(&r.arena, item);
    buf_init(&b, &r.arena, LIMIT_EXPRESSION_BYTES);
    buf_printf(&b, "SET ");
    for (uint32_t i = 0; i < 150; i++) buf_printf(&b, "%sa%u=list_append(b,b)", i ? "," : "", i);
    assert_ok(expr_compile_update(&r.ctx, buf_span(&b), NULL, &u));
    size_t used = r.arena.used;
    assert_rc(expr_update_apply(&r.ctx, u, item_map(before), &after), SHEAF_VALIDATION);
    assert_string_equal(r.err.message, "Item size to update has exceeded the maximum allowed size");
    assert_true(r.arena.used - used < 1 << 20);
    request_deinit(&r);
}

/* A map that grows over the borders of its offsets' width, and one attribute among many touched. */
static void test_update_apply__crosses_the_widths_of_offsets(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 200, 250, 254, 255, 256, 65000, 65520, 65535, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct request r;
        const struct expr_update *u;
        span after, back;
        request_init(&r);
        char *text = arena_zalloc(&r.arena, sizes[i] + 1);
        assert_non_null(text);
        memset(text, 'x', sizes[i]);
        struct doc *big = doc_string(&r.arena, text);
        struct expr_value v = {.placeholder = SPAN_LIT(":v"), .value = doc_val(&r.arena, big)};
        r.env = (struct expr_env){.values = &v, .n_values = 1, .has_values = true};
        span item = doc_text_item(&r.arena, "{a: {k: 1}, b: 2, c: [1, 2]}");
        assert_ok(expr_compile_update(&r.ctx, SPAN_LIT("SET a.m = :v, c[5] = :v"), &r.env, &u));
        assert_ok(expr_update_apply(&r.ctx, u, item_map(item), &after));
        assert_ok(item_check(after, &r.err));
        assert_ok(expr_compile_update(&r.ctx, SPAN_LIT("REMOVE a.m, c[2]"), NULL, &u));
        assert_ok(expr_update_apply(&r.ctx, u, item_map(after), &back));
        assert_true(span_eq(back, item));
        request_deinit(&r);
    }
}

/* ---- memory ---- */

static void test_update__reports_each_failed_allocation(void **state)
{
    (void)state;
    static const char text[] = "SET #n.a = list_append(l, if_not_exists(z, :l)), n1 = n1 + :n "
                               "REMOVE l[0] ADD s :s DELETE t :s";
    bool is_done = false;
    for (uint64_t nth = 1; !is_done && nth < 200; nth++) {
        struct request r;
        struct request env;
        const struct expr_update *u;
        span after = SPAN_NONE;
        request_init(&env);
        request_env(&env, "{n: 'm'}", "{l: [1], n: 5, s: <'x', 'y'>}");
        val item = item_map(
            doc_text_item(&env.arena, "{l: [1, 2], m: {}, n1: 1, s: <'a'>, t: <'x', 'z'>}"));
        request_init(&r);
        mem_fail_at(nth, false);
        sheaf_rc rc = expr_compile_update(&r.ctx, span_cstr(text), &env.env, &u);
        if (rc == SHEAF_OK) rc = expr_update_apply(&r.ctx, u, item, &after);
        mem_fail_at(0, false);
        is_done = rc == SHEAF_OK;
        if (is_done)
            assert_string_equal(doc_val_text(&r.arena, item_map(after)),
                                "{l: [2], m: {a: [1, 2, 1]}, n1: 6, s: <'a', 'x', 'y'>, t: <'z'>}");
        else
            assert_true(rc == SHEAF_NOMEM && !after.p);
        request_deinit(&r);
        request_deinit(&env);
    }
    assert_true(is_done);
}

/* The same, with the arena's ceiling as the limit instead: any point of a request may hit it. */
static void test_update__reports_a_full_arena(void **state)
{
    (void)state;
    static const char text[] = "SET m.a = list_append(l, :l), n1 = n1 + :n ADD s :s";
    struct request env;
    bool is_done = false;
    request_init(&env);
    request_env(&env, NULL, "{l: [1], n: 5, s: <'x', 'y'>}");
    val item = item_map(doc_text_item(&env.arena, "{l: [1, 2], m: {}, n1: 1, s: <'a'>}"));
    for (size_t ceiling = 0; !is_done; ceiling += 64) {
        struct request r;
        const struct expr_update *u;
        span after = SPAN_NONE;
        request_init(&r);
        arena_init(&r.arena, ceiling);
        sheaf_rc rc = expr_compile_update(&r.ctx, span_cstr(text), &env.env, &u);
        if (rc == SHEAF_OK) rc = expr_update_apply(&r.ctx, u, item, &after);
        is_done = rc == SHEAF_OK;
        if (!is_done) assert_true(rc == SHEAF_NOMEM && !after.p);
        request_deinit(&r);
        assert_true(ceiling < 1 << 20);
    }
    request_deinit(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compile_update__refuses_with_the_services_messages),
        cmocka_unit_test(test_compile_update__knows_a_syntax_error),
        cmocka_unit_test(test_update_apply__does_as_the_service),
        cmocka_unit_test(test_update_touched__is_updated_old_and_updated_new),
        cmocka_unit_test(test_update_touched__lists_paths_as_written),
        cmocka_unit_test(test_update_creates__unless_it_only_removes),
        cmocka_unit_test(test_compile_update__needs_no_place_for_its_error),
        cmocka_unit_test(test_compile_update__marks_what_it_uses),
        cmocka_unit_test(test_compile_update__bounds_the_depth_of_a_path),
        cmocka_unit_test(test_compile_update__takes_calls_nested_as_deep_as_operators_go),
        cmocka_unit_test(test_compile_update__counts_operators),
        cmocka_unit_test(test_compile_update__bounds_the_text),
        cmocka_unit_test(test_update_apply__refuses_to_nest_too_deep),
        cmocka_unit_test(test_update_apply__does_not_blow_up),
        cmocka_unit_test(test_update_apply__crosses_the_widths_of_offsets),
        cmocka_unit_test(test_update__reports_each_failed_allocation),
        cmocka_unit_test(test_update__reports_a_full_arena),
    };
    return cmocka_run_group_tests_name("expr/update", tests, NULL, NULL);
}
