#include "support/support.h"

#include "base/rng.h"
#include "support/doc.h"
#include "json/json.h"

#include <float.h>
#include <locale.h>
#include <math.h>

static struct arena arena;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 256 << 20);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static struct buf *fresh(void)
{
    static struct buf b;
    buf_init(&b, &arena, 64 << 20);
    return &b;
}

static const char *text_of(struct buf *b)
{
    buf_put_u8(b, 0);
    assert_false(b->failed);
    return (const char *)b->p;
}

/* ---- texts ---- */

static void test_text__escapes_what_json_demands_and_no_more(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", "\"\""},
        {"plain / text", "\"plain / text\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x0B\x1F\x7F", "\"\\u0001\\u000B\\u001F\x7F\""},
        {"caf\xC3\xA9 \xF0\x9D\x84\x9E", "\"caf\xC3\xA9 \xF0\x9D\x84\x9E\""},
        {"0123456789abcdef\n0123456789abcdef", "\"0123456789abcdef\\n0123456789abcdef\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf *b = fresh();
        json_put_text(b, span_cstr(rows[i].in));
        assert_string_equal(text_of(b), rows[i].out);
    }
    struct buf *b = fresh();
    json_put_text(b, SPAN("\0", 1));
    json_put_text(b, SPAN_NONE);
    assert_string_equal(text_of(b), "\"\\u0000\"\"\"");
}

/* ---- values ---- */

static void test_item__is_written_in_name_order(void **state)
{
    (void)state;
    static const struct {
        const char *doc, *json;
    } rows[] = {
        {"{}", "{}"},
        {"{b: 'x', a: 1.50, 'B': b'\\00\\ff'}",
         "{\"B\":{\"B\":\"AP8=\"},\"a\":{\"N\":\"1.5\"},\"b\":{\"S\":\"x\"}}"},
        {"{a: true, b: false, c: null}",
         "{\"a\":{\"BOOL\":true},\"b\":{\"BOOL\":false},\"c\":{\"NULL\":true}}"},
        {"{a: <'b', 'a', ''>, b: <2, -3, 10>, c: <b'b', b'a'>}",
         "{\"a\":{\"SS\":[\"\",\"a\",\"b\"]},\"b\":{\"NS\":[\"-3\",\"2\",\"10\"]},\"c\":{\"BS\":["
         "\"YQ==\",\"Yg==\"]}}"},
        {"{a: [1, [], {}, 'x'], b: {z: 1, y: {x: 'deep'}}}",
         "{\"a\":{\"L\":[{\"N\":\"1\"},{\"L\":[]},{\"M\":{}},{\"S\":\"x\"}]},\"b\":{\"M\":{\"y\":{"
         "\"M\":{\"x\":{\"S\":\"deep\"}}},\"z\":{\"N\":\"1\"}}}}"},
        {"{'q\\22': '\\5c\\0a'}", "{\"q\\\"\":{\"S\":\"\\\\\\n\"}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf *b = fresh();
        json_put_item(b, doc_text_item(&arena, rows[i].doc));
        assert_string_equal(text_of(b), rows[i].json);
    }
    struct buf *b = fresh();
    json_put_value(b, doc_text_val(&arena, "{a: 'x'}"));
    assert_string_equal(text_of(b), "{\"M\":{\"a\":{\"S\":\"x\"}}}");
}

static void test_item__that_does_not_fit_sets_failed(void **state)
{
    (void)state;
    span item = doc_text_item(&arena, "{a: <'b', 'a'>, b: [1, b'xyz'], c: 'tail\\0a'}");
    struct buf *whole = fresh();
    json_put_item(whole, item);
    for (size_t max = 0; max <= whole->n; max++) {
        struct buf b;
        buf_init(&b, &arena, max);
        json_put_item(&b, item);
        assert_int_equal(b.failed, max < whole->n);
        assert_true(b.n <= max);
    }
}

/* ---- numbers ---- */

static void test_int__writes_all_of_int64(void **state)
{
    (void)state;
    struct buf *b = fresh();
    static const int64_t rows[] = {0, 7, -7, 10, 1234567890123, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_put_int(b, rows[i]);
        buf_put_u8(b, ' ');
    }
    assert_string_equal(text_of(b), "0 7 -7 10 1234567890123 9223372036854775807 "
                                    "-9223372036854775808 ");
}

static const char *of_double(double v)
{
    struct buf *b = fresh();
    json_put_double(b, v);
    return text_of(b);
}

static void test_double__is_short_and_has_a_point(void **state)
{
    (void)state;
    static const struct {
        double in;
        const char *out;
    } rows[] = {{0, "0.0"},
                {-0.0, "0.0"},
                {0.5, "0.5"},
                {12, "12.0"},
                {1, "1.0"},
                {-2.5, "-2.5"},
                {0.1, "0.1"},
                {100, "100.0"},
                {1.0 / 3, "0.3333333333333333"},
                {0.001, "0.001"},
                {0.000001, "0.000001"},
                {1e-7, "1.0E-7"},
                {1700000000.123, "1700000000.123"},
                {123456789012345678.0, "123456789012345680.0"},
                {1e20, "100000000000000000000.0"},
                {1e21, "1.0E21"},
                {1.5e300, "1.5E300"},
                {DBL_MAX, "1.7976931348623157E308"},
                {5e-324, "4.94065645841247E-324"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(of_double(rows[i].in), rows[i].out);
}

static void test_double__reads_back_the_same(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(7));
    for (uint64_t i = 0, n = test_rounds(20000); i < n; i++) {
        uint64_t bits = rng_u64(&r);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v)) continue;
        if (i % 2) v = (double)(int64_t)(bits >> 40) / 2;
        const char *text = of_double(v);
        struct ctx c = {&arena, NULL};
        struct json j;
        json_init(&j, &c, span_cstr(text));
        assert_ok(json_skip(&j, NULL));
        assert_ok(json_end(&j));
        if (strtod(text, NULL) != v) fail_msg("%.17g became %s", v, text);
        if (i % 1000 == 0) arena_reset(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__escapes_what_json_demands_and_no_more),
        cmocka_unit_test(test_item__is_written_in_name_order),
        cmocka_unit_test(test_item__that_does_not_fit_sets_failed),
        cmocka_unit_test(test_int__writes_all_of_int64),
        cmocka_unit_test(test_double__is_short_and_has_a_point),
        cmocka_unit_test(test_double__reads_back_the_same),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
