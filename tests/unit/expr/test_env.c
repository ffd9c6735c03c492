/* expr: placeholders, reserved words, tokens. */
#include "support/support.h"

#include "base/limits.h"
#include "base/rng.h"
#include "expr/parse.h"
#include "support/doc.h"
#include "support/envs.h"

#define SCAN_JS "dynalite test/scan.js, run on AWS"
#define EXTEND "ExtendDB expression tests, captured on AWS"
#define NUBO "nubo-db dynamodb-conformance, run on AWS"
#define UNVERIFIED NULL

#define LONG_64 "0123456789012345678901234567890123456789012345678901234567890123"
#define LONG_254                                                                                   \
    LONG_64 LONG_64 LONG_64 "01234567890123456789012345678901234567890123456789012345678901"

static const struct {
    const char *names, *values, *message, *source;
} messages[] = {
    {"{}", "{}", "ExpressionAttributeNames must not be empty", SCAN_JS},
    {NULL, "{}", "ExpressionAttributeValues must not be empty", SCAN_JS},
    {"{'a': 'a'}", "{}", "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"",
     SCAN_JS},
    {NULL, "{'a': 'b'}", "ExpressionAttributeValues contains invalid key: Syntax error; key: \"a\"",
     SCAN_JS},
    {"{'#': 'a'}", NULL, "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#\"",
     EXTEND},
    {"{'#a-b': 'a'}", NULL,
     "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#a-b\"", EXTEND},
    {NULL, "{':': 'a'}", "ExpressionAttributeValues contains invalid key: Syntax error; key: \":\"",
     EXTEND},
    {NULL, "{':a-b': 'a'}",
     "ExpressionAttributeValues contains invalid key: Syntax error; key: \":a-b\"", EXTEND},
    {"{'': 'a'}", NULL,
     "ExpressionAttributeNames contains invalid key: The expression attribute map contains an "
     "empty key;",
     UNVERIFIED},
    {"{'#" LONG_254 "0': 'a'}", NULL,
     "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key "
     "that is too long; size of key: 256",
     EXTEND},
    {"{'#" LONG_254 "0-x': 'a'}", NULL,
     "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key "
     "that is too long; size of key: 258",
     EXTEND},
    {NULL, "{':" LONG_254 "0': 'a'}",
     "ExpressionAttributeValues contains invalid key: The expression attribute map contains a key "
     "that is too long;",
     EXTEND},
    {"{'#a': ''}", NULL,
     "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a", EXTEND},
};

static void test_env_check__answers_with_the_services_messages(void **state)
{
    (void)state;
    size_t unverified = 0;
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        struct arena a;
        arena_init(&a, 1 << 20);
        sheaf_error err;
        struct expr_env *env = test_env(&a, messages[i].names, messages[i].values);
        assert_rc(expr_env_check(env, &err), SHEAF_VALIDATION);
        assert_string_equal(err.message, messages[i].message);
        unverified += messages[i].source == UNVERIFIED;
        arena_deinit(&a);
    }
    printf("%zu of %zu messages are unverified\n", unverified,
           sizeof messages / sizeof messages[0]);
}

static void test_env_check__takes_255_bytes_of_a_placeholder(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    sheaf_error err;
    assert_ok(expr_env_check(test_env(&a, "{'#" LONG_254 "': 'a'}", "{':" LONG_254 "': 1}"), &err));
    assert_ok(expr_env_check(test_env(&a, "{'#a_1': 'a'}", "{':_': ''}"), &err));
    assert_ok(expr_env_check(test_env(&a, NULL, NULL), &err));
    arena_deinit(&a);
}

static void test_env_check__takes_names_of_65535_bytes(void **state)
{
    (void)state;
    static char name[LIMIT_ATTRIBUTE_NAME_BYTES + 1];
    memset(name, 'n', sizeof name);
    struct expr_name row = {SPAN_LIT("#a"), SPAN(name, LIMIT_ATTRIBUTE_NAME_BYTES), false};
    struct expr_env env = {.names = &row, .n_names = 1, .has_names = true};
    sheaf_error err;
    assert_ok(expr_env_check(&env, &err));
    row.name.n++;
    assert_rc(expr_env_check(&env, &err), SHEAF_VALIDATION);
}

static void test_env_check__takes_2_mb_of_values(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 64 << 20);
    sheaf_error err;
    char *bytes = arena_zalloc(&a, LIMIT_PLACEHOLDER_VALUES_BYTES);
    assert_non_null(bytes);
    for (size_t more = 0; more < 2; more++) {
        struct ctx c = {&a, &err};
        struct vb b;
        val big, small;
        vb_init(&b, &c, 4 << 20);
        vb_b(&b, SPAN(bytes, LIMIT_PLACEHOLDER_VALUES_BYTES - 1 + more));
        assert_ok(vb_finish(&b, &big));
        vb_init(&b, &c, 100);
        vb_bool(&b, true);
        assert_ok(vb_finish(&b, &small));
        struct expr_value rows[] = {{SPAN_LIT(":a"), big, false}, {SPAN_LIT(":b"), small, false}};
        struct expr_env env = {.values = rows, .n_values = 2, .has_values = true};
        assert_rc(expr_env_check(&env, &err), more ? SHEAF_VALIDATION : SHEAF_OK);
    }
    arena_deinit(&a);
}

static void test_env_check__refuses_duplicates(void **state)
{
    (void)state;
    sheaf_error err;
    struct expr_name rows[] = {{SPAN_LIT("#b"), SPAN_LIT("x"), false},
                               {SPAN_LIT("#a"), SPAN_LIT("y"), false},
                               {SPAN_LIT("#b"), SPAN_LIT("z"), false}};
    struct expr_env env = {.names = rows, .n_names = 3, .has_names = true};
    assert_rc(expr_env_check(&env, &err), SHEAF_VALIDATION);
}

/* Sorted or not, every placeholder is found and nothing else. */
static void test_env__finds_every_placeholder(void **state)
{
    (void)state;
    enum { N = 3000 };
    static struct expr_name rows[N];
    static char text[N][8];
    struct rng r;
    rng_init(&r, test_seed(3));
    for (uint32_t n = 1; n <= N; n = n * 3 + 1) {
        for (uint32_t i = 0; i < n; i++) {
            int m = snprintf(text[i], sizeof text[i], "#%u", i * 2);
            rows[i] = (struct expr_name){SPAN(text[i], (size_t)m), SPAN(text[i] + 1, (size_t)m - 1),
                                         false};
        }
        for (uint32_t i = n; i > 1; i--) {
            uint32_t j = (uint32_t)rng_below(&r, i);
            struct expr_name t = rows[j];
            rows[j] = rows[i - 1];
            rows[i - 1] = t;
        }
        struct expr_env env = {.names = rows, .n_names = n, .has_names = true};
        for (int sorted = 0; sorted < 2; sorted++) {
            for (uint32_t i = 0; i < 2 * n; i += 7) {
                char key[16];
                int m = snprintf(key, sizeof key, "#%u", i);
                struct expr_name *found = expr_env_name(&env, SPAN(key, (size_t)m));
                assert_int_equal(found != NULL, i % 2 == 0);
                if (found) assert_span(found->name, key + 1);
            }
            if (!sorted) assert_ok(expr_env_check(&env, NULL));
        }
    }
    assert_null(expr_env_name(NULL, SPAN_LIT("#a")));
    assert_null(expr_env_value(NULL, SPAN_LIT(":a")));
}

static void test_env__tells_what_nothing_used(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    sheaf_error err;
    struct expr_env *env = test_env(&a, "{'#n': 'a', '#m': 'b', '#u': 'c'}", "{':v': 1, ':w': 2}");
    assert_ok(expr_env_check(env, &err));
    assert_rc(expr_env_check_unused(env, &err), SHEAF_VALIDATION);
    assert_string_equal(err.message, "Value provided in ExpressionAttributeNames unused in "
                                     "expressions: keys: {#m, #n, #u}");
    const struct expr_program *program;
    struct ctx c = {&a, &err};
    assert_ok(expr_compile(&c, EXPR_FILTER, SPAN_LIT("#n = :v AND #m.#u = :v"), env, &program));
    assert_rc(expr_env_check_unused(env, &err), SHEAF_VALIDATION);
    assert_string_equal(err.message, /* the form: nubo-db dynamodb-conformance, run on AWS */
                        "Value provided in ExpressionAttributeValues unused in expressions: keys: "
                        "{:w}");
    assert_ok(expr_compile(&c, EXPR_FILTER, SPAN_LIT("#n = :w"), env, &program));
    assert_ok(expr_env_check_unused(env, &err));
    arena_deinit(&a);
}

static void test_env__cuts_a_long_list_of_unused_keys(void **state)
{
    (void)state;
    static struct expr_name rows[500];
    static char text[500][8];
    for (uint32_t i = 0; i < 500; i++) {
        int n = snprintf(text[i], sizeof text[i], "#n%u", i);
        rows[i].placeholder = SPAN(text[i], (size_t)n);
        rows[i].name = SPAN_LIT("x");
    }
    struct expr_env env = {.names = rows, .n_names = 500, .has_names = true};
    sheaf_error err;
    assert_rc(expr_env_check_unused(&env, &err), SHEAF_VALIDATION);
    assert_true(strlen(err.message) > 400);
    assert_int_equal(err.message[strlen(err.message) - 1], '}');
}

static void test_reserved__has_573_words_in_order(void **state)
{
    (void)state;
    assert_int_equal(EXPR_RESERVED_WORDS, 573);
    for (uint32_t i = 0; i < EXPR_RESERVED_WORDS; i++) {
        const char *word = expr_reserved_at(i);
        if (i > 0) assert_true(strcmp(expr_reserved_at(i - 1), word) < 0);
        char lower[32], mixed[32], longer[32];
        size_t n = strlen(word);
        for (size_t k = 0; k <= n; k++) {
            lower[k] = word[k] ? (char)(word[k] | 0x20) : '\0';
            mixed[k] = k % 2 ? lower[k] : word[k];
        }
        assert_true(expr_is_reserved(span_cstr(word)));
        assert_true(expr_is_reserved(span_cstr(lower)));
        assert_true(expr_is_reserved(span_cstr(mixed)));
        snprintf(longer, sizeof longer, "%s_", word);
        assert_false(expr_is_reserved(span_cstr(longer)));
    }
    static const char *const free_words[] = {
        "a", "pk", "sk", "foo", "names_", "Nam", "", "zz", "A", "localtimestampx", "views2"};
    for (size_t i = 0; i < sizeof free_words / sizeof *free_words; i++)
        assert_false(expr_is_reserved(span_cstr(free_words[i])));
}

static void test_lex__keeps_three_tokens_in_view(void **state)
{
    (void)state;
    struct expr_cursor c;
    expr_cursor_init(&c, SPAN_LIT(" a.#b[0]<>:c AND not_x >= 12_"));
    static const struct {
        enum expr_tok kind;
        const char *text, *near;
    } want[] = {{TOK_WORD, "a", "a."},
                {TOK_DOT, ".", "a.#b"},
                {TOK_NAME, "#b", ".#b["},
                {TOK_LBRACKET, "[", "#b[0"},
                {TOK_NUMBER, "0", "[0]"},
                {TOK_RBRACKET, "]", "0]<>"},
                {TOK_NE, "<>", "]<>:c"},
                {TOK_VALUE, ":c", "<>:c AND"},
                {TOK_KEYWORD, "AND", ":c AND not_x"},
                {TOK_WORD, "not_x", "AND not_x >="},
                {TOK_GE, ">=", "not_x >= 12"},
                {TOK_NUMBER, "12", ">= 12_"},
                {TOK_BAD, "_", "12_"},
                {TOK_EOF, "", "_"}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_int_equal(c.cur.kind, want[i].kind);
        assert_span(c.cur.text, want[i].text);
        assert_span(expr_cursor_near(&c), want[i].near);
        expr_cursor_step(&c);
    }
    assert_int_equal(c.cur.kind, TOK_EOF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_env_check__answers_with_the_services_messages),
        cmocka_unit_test(test_env_check__takes_255_bytes_of_a_placeholder),
        cmocka_unit_test(test_env_check__takes_names_of_65535_bytes),
        cmocka_unit_test(test_env_check__takes_2_mb_of_values),
        cmocka_unit_test(test_env_check__refuses_duplicates),
        cmocka_unit_test(test_env__finds_every_placeholder),
        cmocka_unit_test(test_env__tells_what_nothing_used),
        cmocka_unit_test(test_env__cuts_a_long_list_of_unused_keys),
        cmocka_unit_test(test_reserved__has_573_words_in_order),
        cmocka_unit_test(test_lex__keeps_three_tokens_in_view),
    };
    return cmocka_run_group_tests_name("env", tests, NULL, NULL);
}
