#include "support/support.h"

#include "base/mem.h"
#include "json/json.h"

struct fixture {
    struct arena arena;
    sheaf_error err;
    struct ctx ctx;
    struct json j;
};

static void begin(struct fixture *f, span text)
{
    arena_init(&f->arena, 256 << 20);
    err_clear(&f->err);
    f->ctx = (struct ctx){&f->arena, &f->err};
    json_init(&f->j, &f->ctx, text);
}

static void end(struct fixture *f) { arena_deinit(&f->arena); }

static sheaf_rc skip_all(struct fixture *f)
{
    TRY(json_skip(&f->j, NULL));
    return json_end(&f->j);
}

/* ---- what is JSON ---- */

static void test_skip__takes_what_rfc_8259_allows(void **state)
{
    (void)state;
    static const char *const rows[] = {"{}",
                                       "[]",
                                       "\"\"",
                                       "0",
                                       "-0",
                                       "1",
                                       "-1.5",
                                       "1e5",
                                       "1E+5",
                                       "1.25e-3",
                                       "10",
                                       "true",
                                       "false",
                                       "null",
                                       " \t\r\n{ \t\r\n} \t\r\n",
                                       "[1,2,3]",
                                       "[ 1 , [ ] , { } ]",
                                       "{\"a\":1,\"b\":[]}",
                                       "{\"\":{\"\":{}}}",
                                       "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                                       "\"\\u0000\"",
                                       "\"\\uD834\\udd1e\"",
                                       "\"\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E\"",
                                       "\"\x7F\"",
                                       "\"\\uFFFF\"",
                                       "{\"a\":1,\"A\":2,\"a \":3}"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f;
        begin(&f, span_cstr(rows[i]));
        if (skip_all(&f) != SHEAF_OK) fail_msg("refused: %s (%s)", rows[i], f.err.message);
        end(&f);
    }
}

static const char *const not_json[] = {"",
                                       " ",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       "{]",
                                       "[}",
                                       ",",
                                       ":",
                                       "\"",
                                       "'a'",
                                       "{,}",
                                       "[,]",
                                       "[1,]",
                                       "[1 2]",
                                       "[,1]",
                                       "{\"a\"}",
                                       "{\"a\":}",
                                       "{\"a\":1,}",
                                       "{\"a\" 1}",
                                       "{a:1}",
                                       "{1:1}",
                                       "{\"a\":1 \"b\":2}",
                                       "{\"a\":1,,\"b\":2}",
                                       "{\"a\":1]",
                                       "[1}",
                                       "1 2",
                                       "{} {}",
                                       "[]]",
                                       "{}}",
                                       "nul",
                                       "nulll",
                                       "tru",
                                       "True",
                                       "NULL",
                                       "NaN",
                                       "Infinity",
                                       "-",
                                       "+1",
                                       "01",
                                       "-01",
                                       "1.",
                                       ".5",
                                       "1.e5",
                                       "1e",
                                       "1e+",
                                       "0x1",
                                       "1_000",
                                       "--1",
                                       "\"a",
                                       "\"\\\"",
                                       "\"\\a\"",
                                       "\"\\\"x",
                                       "\"\\u12\"",
                                       "\"\\u12G4\"",
                                       "\"\\U1234\"",
                                       "\"\\uD800\"",
                                       "\"\\uDC00\"",
                                       "\"\\uD800\\u0041\"",
                                       "\"\\uD800x\"",
                                       "\"\\uD800\\uD800\"",
                                       "\"\\uD83\"",
                                       "\"\\",
                                       "\"\\u",
                                       "\"a\nb\"",
                                       "\"a\tb\"",
                                       "\"\x01\"",
                                       "\"\x1F\"",
                                       "\"\x80\"",
                                       "\"\xC3\"",
                                       "\"\xC3(\"",
                                       "\"\xC0\x80\"",
                                       "\"\xED\xA0\x80\"",
                                       "\"\xF5\x80\x80\x80\"",
                                       "\"\xE2\x82\"",
                                       "\"\xC3\\u00A9\"",
                                       "\"\\u00E9\xA9\"",
                                       "\xEF\xBB\xBF{}",
                                       "/**/{}",
                                       "{}//",
                                       "\v1",
                                       "\f1",
                                       "\xC2\xA0"
                                       "1",
                                       "{\"\xFF\":1}",
                                       "{\"a\\x\":1}",
                                       "[\"\\ud834\\\"]"};

static void test_skip__refuses_what_is_not_json_and_says_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof not_json / sizeof not_json[0]; i++) {
        struct fixture f;
        begin(&f, span_cstr(not_json[i]));
        if (skip_all(&f) != SHEAF_SERIALIZATION) fail_msg("taken: %s", not_json[i]);
        /* dynalite, connection.js, run on AWS: the answer has no Message. */
        assert_string_equal(f.err.message, "");
        assert_string_equal(f.err.exception, "SerializationException");
        end(&f);
    }
}

static void test_skip__refuses_a_nul_byte(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, SPAN("\"a\0b\"", 5));
    assert_rc(skip_all(&f), SHEAF_SERIALIZATION);
    end(&f);
    begin(&f, SPAN("\"\\\0\"", 4));
    assert_rc(skip_all(&f), SHEAF_SERIALIZATION);
    end(&f);
}

static void test_skip__refuses_every_prefix(void **state)
{
    (void)state;
    static const char text[] = "{\"TableName\": \"T\\u00e9\", \"Item\": {\"a\": [1.5e+3, true, "
                               "null, \"\\uD834\\uDD1E\"]}}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        struct fixture f;
        uint8_t *copy = malloc(n ? n : 1); /* so that a sanitizer sees a read beyond it */
        memcpy(copy, text, n);
        begin(&f, SPAN(copy, n));
        if (skip_all(&f) != SHEAF_SERIALIZATION) fail_msg("taken: %.*s", (int)n, text);
        end(&f);
        free(copy);
    }
}

static void test_skip__gives_the_bytes_of_the_value(void **state)
{
    (void)state;
    struct fixture f;
    span name, raw;
    bool has;
    begin(&f, SPAN_LIT("{\"a\": [1, {\"b\": \"]\"}] , \"c\" : -1.5e3 }"));
    assert_ok(json_object(&f.j));
    assert_ok(json_next_name(&f.j, &name, &has));
    assert_ok(json_skip(&f.j, &raw));
    assert_span(raw, "[1, {\"b\": \"]\"}]");
    assert_ok(json_next_name(&f.j, &name, &has));
    assert_span(name, "c");
    assert_ok(json_skip(&f.j, &raw));
    assert_span(raw, "-1.5e3");
    assert_ok(json_next_name(&f.j, &name, &has));
    assert_false(has);
    assert_ok(json_end(&f.j));
    end(&f);
}

/* ---- texts ---- */

static void test_text__has_its_escapes_resolved(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"\"plain\"", "plain"},
        {"\"\"", ""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\"", "A\xC3\xA9\xE2\x82\xAC"},
        {"\"\\uD834\\uDD1E\"", "\xF0\x9D\x84\x9E"},
        {"\"\\ud800\\udc00\\uDBFF\\uDFFF\"", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"},
        {"\"a\\u000ab\"", "a\nb"},
        {"\"\xC3\xA9\\n\xE2\x82\xAC\"", "\xC3\xA9\n\xE2\x82\xAC"},
        {"\"0123456789abcdef0123456789abcdef\\\\x\"", "0123456789abcdef0123456789abcdef\\x"},
        {"  \"\\\\\"", "\\"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f;
        span text;
        begin(&f, span_cstr(rows[i].in));
        assert_ok(json_text(&f.j, &text));
        assert_ok(json_end(&f.j));
        assert_span(text, rows[i].out);
        end(&f);
    }
}

static void test_text__borrows_from_the_input_without_escapes(void **state)
{
    (void)state;
    struct fixture f;
    span in = SPAN_LIT("\"caf\xC3\xA9\""), text;
    begin(&f, in);
    uint64_t before = mem_count();
    assert_ok(json_text(&f.j, &text));
    assert_ptr_equal(text.p, (const uint8_t *)in.p + 1);
    assert_int_equal(mem_count(), before);
    end(&f);
}

static void test_text__of_16_mb_is_taken(void **state)
{
    (void)state;
    size_t n = 16 << 20;
    char *text = malloc(n);
    for (int escaped = 0; escaped < 2; escaped++) {
        struct fixture f;
        span got;
        memset(text, 'x', n);
        text[0] = text[n - 1] = '"';
        if (escaped) memcpy(text + n - 7, "\\u00e9", 6);
        begin(&f, SPAN(text, n));
        assert_ok(json_text(&f.j, &got));
        assert_int_equal(got.n, escaped ? n - 2 - 4 : n - 2);
        assert_ok(json_end(&f.j));
        end(&f);
    }
    free(text);
}

/* ---- other scalars ---- */

static void test_number__gives_its_digits_as_they_stand(void **state)
{
    (void)state;
    static const char *const rows[] = {"0",     "-0",       "1.50",
                                       "1E+05", "-12.5e-3", "123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f;
        span digits;
        begin(&f, span_cstr(rows[i]));
        assert_ok(json_number(&f.j, &digits));
        assert_span(digits, rows[i]);
        assert_ok(json_end(&f.j));
        end(&f);
    }
}

static void test_bool__takes_the_words_in_quotes_too(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        bool out;
    } rows[] = {{"true", true},       {"false", false},  {"\"true\"", true}, {"\"TRUE\"", true},
                {"\"False\"", false}, {"\"no\"", false}, {"\"yes\"", true},  {"\"No\"", false},
                {" true", true},      {" \"yes\"", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f;
        bool got = !rows[i].out;
        begin(&f, span_cstr(rows[i].in));
        assert_ok(json_bool(&f.j, &got));
        assert_int_equal(got, rows[i].out);
        assert_ok(json_end(&f.j));
        end(&f);
    }
}

/* ---- a value of the wrong kind ---- */

#define DYNALITE "dynalite test/helpers.js assertType, run on AWS"
#define FLOCI "floci DynamoDbRequestShapesTest, answers of AWS in 2026"
#define UNVERIFIED NULL

enum what { TEXT, BOOLEAN, NUMBER, LIST, MAP };

/* Alike for "Integer" and "Long". For an array where a scalar should stand floci's table of 2026
 * has no message; dynalite's, and reports of users, have these. */
static const struct {
    enum what want;
    const char *in, *message, *source;
} wrong_rows[] = {
    {TEXT, "true", "TRUE_VALUE cannot be converted to String", DYNALITE},
    {TEXT, "false", "FALSE_VALUE cannot be converted to String", DYNALITE},
    {TEXT, "23", "NUMBER_VALUE cannot be converted to String", DYNALITE},
    {TEXT, "-2147483648", "NUMBER_VALUE cannot be converted to String", DYNALITE},
    {TEXT, "34.56", "DECIMAL_VALUE cannot be converted to String", DYNALITE},
    {TEXT, "1e3", "DECIMAL_VALUE cannot be converted to String", FLOCI},
    {TEXT, "[]", "Unrecognized collection type class java.lang.String", DYNALITE},
    {TEXT, "{}", "Start of structure or map found where not expected", DYNALITE},
    {TEXT, "null", "NULL_VALUE cannot be converted to String", UNVERIFIED},
    {TEXT, "01", "", UNVERIFIED},
    {TEXT, "?", "", UNVERIFIED},
    {BOOLEAN, "\"23\"", "Unexpected token received from parser", DYNALITE},
    {BOOLEAN, "23", "NUMBER_VALUE cannot be converted to Boolean", DYNALITE},
    {BOOLEAN, "34.56", "DECIMAL_VALUE cannot be converted to Boolean", DYNALITE},
    {BOOLEAN, "[]", "Unrecognized collection type class java.lang.Boolean", DYNALITE},
    {BOOLEAN, "{}", "Start of structure or map found where not expected", DYNALITE},
    {BOOLEAN, "tru", "", UNVERIFIED},
    {NUMBER, "\"23\"", "STRING_VALUE cannot be converted to Double", FLOCI},
    {NUMBER, "true", "TRUE_VALUE cannot be converted to Double", UNVERIFIED},
    {NUMBER, "[]", "Unrecognized collection type class java.lang.Double", UNVERIFIED},
    {NUMBER, "{}", "Start of structure or map found where not expected", UNVERIFIED},
    {LIST, "\"23\"", "Unexpected field type", DYNALITE},
    {LIST, "true", "Unexpected field type", DYNALITE},
    {LIST, "34.56", "Unexpected field type", DYNALITE},
    {LIST, "{}", "Start of structure or map found where not expected", DYNALITE},
    {MAP, "\"23\"", "Unexpected field type", DYNALITE},
    {MAP, "23", "Unexpected field type", DYNALITE},
    {MAP, "false", "Unexpected field type", DYNALITE},
};

static sheaf_rc read_as(struct json *j, enum what want)
{
    span text;
    bool b;
    if (want == TEXT) return json_text(j, &text);
    if (want == BOOLEAN) return json_bool(j, &b);
    if (want == NUMBER) return json_number(j, &text);
    return want == LIST ? json_array(j) : json_object(j);
}

static void test_wrong_kind__answers_in_aws_words(void **state)
{
    (void)state;
    size_t n = sizeof wrong_rows / sizeof wrong_rows[0], unverified = 0;
    for (size_t i = 0; i < n; i++) {
        struct fixture f;
        begin(&f, span_cstr(wrong_rows[i].in));
        assert_rc(read_as(&f.j, wrong_rows[i].want), SHEAF_SERIALIZATION);
        assert_string_equal(f.err.message, wrong_rows[i].message);
        unverified += wrong_rows[i].source == UNVERIFIED;
        end(&f);
    }
    printf("wrong kinds: %zu rows, %zu unverified\n", n, unverified);
}

static void test_wrong_kind__names_the_java_type_of_a_structure(void **state)
{
    (void)state;
    struct fixture f;
    const char *type = "class com.amazonaws.dynamodb.v20120810.AttributeValue";
    begin(&f, SPAN_LIT("[]"));
    assert_rc(json_wrong_kind(&f.j, JSON_ARRAY, type), SHEAF_SERIALIZATION);
    assert_string_equal(f.err.message, "Unrecognized collection type class "
                                       "com.amazonaws.dynamodb.v20120810.AttributeValue");
    assert_rc(json_wrong_element(&f.j, JSON_STRING, type), SHEAF_SERIALIZATION);
    assert_string_equal(f.err.message, "Unexpected value type in payload"); /* DYNALITE */
    assert_rc(json_wrong_kind(&f.j, JSON_STRING, "Integer"), SHEAF_SERIALIZATION);
    assert_string_equal(f.err.message, "STRING_VALUE cannot be converted to Integer");
    assert_rc(json_wrong_kind(&f.j, JSON_STRING, "Blob"), SHEAF_SERIALIZATION);
    assert_rc(json_wrong_kind(&f.j, JSON_ARRAY, "Blob"), SHEAF_SERIALIZATION);
    assert_string_equal(f.err.message, "Unrecognized collection type class java.nio.ByteBuffer");
    end(&f);
}

/* ---- names and depth ---- */

/* {"n0":0,"n1":0,…} with the last name repeating the one at `twice`, unless that is n. */
static char *many_names(size_t n, size_t twice, size_t *n_out)
{
    char *text = malloc(n * 16 + 32), *p = text;
    *p++ = '{';
    for (size_t i = 0; i <= n; i++) {
        if (i == n && twice == n) break;
        p += sprintf(p, "%s\"n%zu\":0", i ? "," : "", i == n ? twice : i);
    }
    *p++ = '}';
    *n_out = (size_t)(p - text);
    return text;
}

static void test_names__that_repeat_are_refused_among_few_and_many(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 15, 16, 17, 18, 63, 64, 65, 1000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        size_t n = counts[i], places[] = {0, n / 2, n - 1, n};
        for (size_t k = 0; k < 4; k++) {
            struct fixture f;
            size_t size;
            char *text = many_names(n, places[k], &size), want[64];
            begin(&f, SPAN(text, size));
            assert_rc(skip_all(&f), places[k] == n ? SHEAF_OK : SHEAF_SERIALIZATION);
            sprintf(want, "A name occurs twice in one object: n%zu", places[k]);
            assert_string_equal(f.err.message, places[k] == n ? "" : want);
            end(&f);
            free(text);
        }
    }
}

static void test_names__are_compared_with_their_escapes_resolved(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, SPAN_LIT("{\"ab\":1,\"\\u0061b\":2}"));
    assert_rc(skip_all(&f), SHEAF_SERIALIZATION);
    end(&f);
    begin(&f, SPAN_LIT("{\"a\":{\"a\":{\"a\":1},\"b\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}"));
    assert_ok(skip_all(&f));
    end(&f);
}

static void test_names__a_million_take_bounded_memory(void **state)
{
    (void)state;
    struct fixture f;
    size_t n = 1000000, size;
    char *text = many_names(n, 0, &size);
    begin(&f, SPAN(text, size));
    assert_rc(skip_all(&f), SHEAF_SERIALIZATION);
    assert_true(f.arena.used < 8 * size);
    printf("%zu names, %zu bytes: %zu bytes of memory\n", n, size, f.arena.used);
    end(&f);
    free(text);
}

static void deep(const char *open, size_t n, sheaf_rc want)
{
    struct fixture f;
    size_t unit = strlen(open);
    char *text = malloc(n * unit + n + 2), *p = text;
    for (size_t i = 0; i < n; i++, p += unit) memcpy(p, open, unit);
    if (*open == '{') *p++ = '1';
    for (size_t i = 0; i < n; i++) *p++ = *open == '[' ? ']' : '}';
    begin(&f, SPAN(text, (size_t)(p - text)));
    assert_rc(skip_all(&f), want);
    assert_string_equal(f.err.message, want ? "More than 256 objects and arrays are nested" : "");
    end(&f);
    free(text);
}

static void test_depth__of_256_is_taken_and_more_refused(void **state)
{
    (void)state;
    deep("[", 256, SHEAF_OK);
    deep("[", 257, SHEAF_SERIALIZATION);
    deep("{\"\":", 256, SHEAF_OK);
    deep("{\"\":", 257, SHEAF_SERIALIZATION);
    deep("[", 200000, SHEAF_SERIALIZATION);
    deep("{\"\":", 200000, SHEAF_SERIALIZATION);
}

/* ---- memory ---- */

static sheaf_rc walk(struct json *j)
{
    span name, text;
    bool has;
    TRY(json_object(j));
    for (;;) {
        TRY(json_next_name(j, &name, &has));
        if (!has) break;
        TRY(json_text(j, &text));
    }
    return json_end(j);
}

static void test_walk__survives_each_failing_allocation(void **state)
{
    (void)state;
    char text[4096], *p = text;
    *p++ = '{';
    for (int i = 0; i < 100; i++) p += sprintf(p, "%s\"\\u006e%d\":\"\\n\"", i ? "," : "", i);
    *p++ = '}';
    for (uint64_t nth = 1;; nth++) {
        struct fixture f;
        begin(&f, SPAN(text, (size_t)(p - text)));
        mem_fail_at(nth, false);
        sheaf_rc rc = walk(&f.j);
        mem_fail_at(0, false);
        end(&f);
        if (rc == SHEAF_OK) {
            assert_true(nth > 1);
            break;
        }
        assert_int_equal(rc, SHEAF_NOMEM);
    }
}

static void test_walk__of_a_small_request_allocates_nothing(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, SPAN_LIT("{\"TableName\": \"T\", \"ReturnValues\": \"NONE\"}"));
    uint64_t before = mem_count();
    assert_ok(walk(&f.j));
    assert_int_equal(mem_count(), before);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skip__takes_what_rfc_8259_allows),
        cmocka_unit_test(test_skip__refuses_what_is_not_json_and_says_nothing),
        cmocka_unit_test(test_skip__refuses_a_nul_byte),
        cmocka_unit_test(test_skip__refuses_every_prefix),
        cmocka_unit_test(test_skip__gives_the_bytes_of_the_value),
        cmocka_unit_test(test_text__has_its_escapes_resolved),
        cmocka_unit_test(test_text__borrows_from_the_input_without_escapes),
        cmocka_unit_test(test_text__of_16_mb_is_taken),
        cmocka_unit_test(test_number__gives_its_digits_as_they_stand),
        cmocka_unit_test(test_bool__takes_the_words_in_quotes_too),
        cmocka_unit_test(test_wrong_kind__answers_in_aws_words),
        cmocka_unit_test(test_wrong_kind__names_the_java_type_of_a_structure),
        cmocka_unit_test(test_names__that_repeat_are_refused_among_few_and_many),
        cmocka_unit_test(test_names__are_compared_with_their_escapes_resolved),
        cmocka_unit_test(test_names__a_million_take_bounded_memory),
        cmocka_unit_test(test_depth__of_256_is_taken_and_more_refused),
        cmocka_unit_test(test_walk__survives_each_failing_allocation),
        cmocka_unit_test(test_walk__of_a_small_request_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
