#include "support/support.h"

#include "base/base64.h"
#include "base/rng.h"

static struct arena arena;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 64 << 20);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

/* The vectors of RFC 4648, section 10. */
static void test_put__pads_to_four(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"", ""},
                                          {"f", "Zg=="},
                                          {"fo", "Zm8="},
                                          {"foo", "Zm9v"},
                                          {"foob", "Zm9vYg=="},
                                          {"fooba", "Zm9vYmE="},
                                          {"foobar", "Zm9vYmFy"},
                                          {"\xFB\xFF\xBF", "+/+/"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf b;
        uint8_t back[16];
        size_t n;
        buf_init(&b, &arena, 64);
        base64_put(&b, span_cstr(rows[i][0]));
        assert_span(buf_span(&b), rows[i][1]);
        assert_int_equal(base64_get(span_cstr(rows[i][1]), back, &n), BASE64_OK);
        assert_span(SPAN(back, n), rows[i][0]);
    }
}

static void test_put__fills_what_room_there_is(void **state)
{
    (void)state;
    for (size_t max = 0; max < 12; max++) {
        struct buf b;
        buf_init(&b, &arena, max);
        base64_put(&b, SPAN_LIT("foobarfoo"));
        assert_true(b.failed);
        assert_int_equal(b.n, max / 4 * 4);
        assert_memory_equal(b.n ? (const char *)b.p : "", "Zm9vYmFyZm9v", b.n);
    }
}

static void test_get__is_strict(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum base64_fault want;
    } rows[] = {{"Z", BASE64_LENGTH},           {"Zg", BASE64_LENGTH},
                {"Zg=", BASE64_LENGTH},         {"Zm9vZ", BASE64_LENGTH},
                {"Zg==\n", BASE64_LENGTH},      {"Zh==", BASE64_LAST},
                {"Zm9=", BASE64_LAST},          {"Z===", BASE64_LAST},
                {"====", BASE64_LAST},          {"=m9v", BASE64_LAST},
                {"Zm=v", BASE64_LAST},          {"Zg==Zg==", BASE64_LAST},
                {"Zm9vZm=v", BASE64_LAST},      {"Zm-_", BASE64_CHARACTER},
                {"Zm v", BASE64_CHARACTER},     {"Zm9\xC3", BASE64_CHARACTER},
                {"*m9vZm9v", BASE64_CHARACTER}, {"Zg==Z*==", BASE64_CHARACTER}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t out[16];
        size_t n = 99;
        if (base64_get(span_cstr(rows[i].text), out, &n) != rows[i].want)
            fail_msg("%s", rows[i].text);
        assert_int_equal(n, 0);
    }
}

static void test_get__undoes_put(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(3));
    for (uint64_t i = 0, rounds = test_rounds(2000); i < rounds; i++) {
        uint8_t bytes[200], back[300];
        size_t n = rng_below(&r, sizeof bytes), got;
        struct buf b;
        for (size_t k = 0; k < n; k++) bytes[k] = (uint8_t)rng_u64(&r);
        buf_init(&b, &arena, 400);
        base64_put(&b, SPAN(bytes, n));
        assert_int_equal(base64_get(buf_span(&b), back, &got), BASE64_OK);
        assert_int_equal(got, n);
        assert_memory_equal(back, bytes, n);
        arena_reset(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put__pads_to_four),
        cmocka_unit_test(test_put__fills_what_room_there_is),
        cmocka_unit_test(test_get__is_strict),
        cmocka_unit_test(test_get__undoes_put),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
