/* base: arena, buf, err, utf8, clock, rng. */
#include "support/support.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/utf8.h"

static void test_arena__keeps_its_ceiling(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 64 * 1024);
    assert_null(arena_alloc(&a, 64 * 1024));
    for (int i = 0; i < 15; i++) assert_non_null(arena_alloc(&a, 4000));
    assert_null(arena_alloc(&a, 8000));
    assert_true(a.used <= a.ceiling);
    arena_deinit(&a);
}

static void test_arena__aligns_after_bytes(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    for (size_t n = 1; n < 300; n += 7) {
        uint8_t *b = arena_bytes(&a, n);
        assert_non_null(b);
        memset(b, 0xAB, n);
        void *p = arena_zalloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
    }
    arena_reset(&a);
    assert_non_null(arena_alloc(&a, 10));
    arena_deinit(&a);
}

static void test_arena__rewinds_to_a_mark(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, 1 << 20);
    struct arena_mark empty = arena_mark(&a);
    char *kept = arena_alloc(&a, 100);
    memset(kept, 'k', 100);
    struct arena_mark mark = arena_mark(&a);
    for (int round = 0; round < 100; round++) { /* together far above the ceiling */
        char *first = arena_alloc(&a, 16), *big = arena_alloc(&a, 300 * 1024);
        assert_non_null(first);
        assert_non_null(big);
        memset(big, 'x', 300 * 1024);
        arena_rewind(&a, mark);
        assert_ptr_equal(arena_alloc(&a, 16), first);
        arena_rewind(&a, mark);
    }
    for (int i = 0; i < 100; i++) assert_int_equal(kept[i], 'k');
    arena_rewind(&a, empty);
    assert_int_equal(a.used, 0);
    assert_non_null(arena_alloc(&a, 1));
    arena_deinit(&a);
}

static void test_arena__begins_in_the_callers_room(void **state)
{
    (void)state;
    _Alignas(16) uint8_t room[256];
    struct arena a;
    uint64_t before = mem_count();
    arena_init_in(&a, room, sizeof room, 1 << 20);
    for (int round = 0; round < 3; round++) {
        uint8_t *p = arena_alloc(&a, 200);
        assert_true(p >= room && p + 200 <= room + sizeof room);
        assert_int_equal(mem_count(), before);
        arena_reset(&a);
    }
    assert_non_null(arena_alloc(&a, 200));
    uint8_t *far = arena_alloc(&a, 200);
    assert_true(far < room || far >= room + sizeof room);
    assert_int_equal(mem_count(), before + 1);
    arena_deinit(&a);
    assert_ptr_equal(arena_alloc(&a, 16), room);
    arena_deinit(&a);
}

static void test_arena__every_failed_allocation_is_null(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth < 4; nth++) {
        struct arena a;
        arena_init(&a, 1 << 20);
        mem_fail_at(nth, false);
        int failed = 0;
        for (int i = 0; i < 100; i++) failed += arena_alloc(&a, 1000) == NULL;
        mem_fail_at(0, false);
        assert_int_equal(failed, 1);
        arena_deinit(&a);
    }
}

static void test_buf__stops_at_max_and_stays_failed(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, NULL, 100);
    for (int i = 0; i < 10; i++) buf_put(&b, "0123456789", 10);
    assert_false(b.failed);
    assert_int_equal(b.n, 100);
    buf_put_u8(&b, 'x');
    assert_true(b.failed);
    assert_int_equal(b.n, 100);
    buf_clear(&b);
    buf_printf(&b, "%d-%s", 7, "seven");
    assert_span(buf_span(&b), "7-seven");
    buf_deinit(&b);
}

static void test_err__cuts_long_messages_at_a_character(void **state)
{
    (void)state;
    sheaf_error err;
    char text[600];
    memset(text, 'a', sizeof text);
    memcpy(text + 493, "\xF0\x9D\x84\x9E", 4); /* U+1D11E straddles the end */
    text[599] = '\0';
    assert_int_equal(err_validation(&err, "%s", text), SHEAF_VALIDATION);
    assert_int_equal(strlen(err.message), 493);
    assert_true(utf8_check(span_cstr(err.message)));
    assert_string_equal(err.exception, "ValidationException");
    assert_int_equal(err.action, -1);
    assert_int_equal(err_set(NULL, SHEAF_IO, "nobody listens"), SHEAF_IO);
}

static void test_err__every_code_has_a_name(void **state)
{
    (void)state;
    for (int rc = 1; rc < SHEAF_RC_COUNT_; rc++) {
        assert_true(strlen(sheaf_rc_exception((sheaf_rc)rc)) > 0);
        assert_true(sheaf_rc_status((sheaf_rc)rc) >= 400);
    }
    assert_string_equal(sheaf_rc_exception((sheaf_rc)9999), "InternalServerError");
    assert_int_equal(sheaf_rc_status(SHEAF_OK), 200);
}

static void test_utf8__table(void **state)
{
    (void)state;
    static const struct {
        const char *hex;
        bool is_good;
        size_t units;
    } rows[] = {
        {"", true, 0},          {"41", true, 1},        {"C3A9", true, 1},
        {"E282AC", true, 1},    {"F09D849E", true, 2},  {"C3A9F09D849E", true, 3},
        {"F48FBFBF", true, 2},  {"EFBFBF", true, 1},    {"80", false, 0},
        {"C0AF", false, 0},     {"C1BF", false, 0},     {"E0809F", false, 0},
        {"EDA080", false, 0},   {"F08080AF", false, 0}, {"F4908080", false, 0},
        {"F5808080", false, 0}, {"C3", false, 0},       {"E282", false, 0},
        {"F09D84", false, 0},   {"FF", false, 0},       {"4142434445464748C3", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t bytes[16];
        span s = SPAN(bytes, test_hex(rows[i].hex, bytes, sizeof bytes));
        assert_int_equal(utf8_check(s), rows[i].is_good);
        if (rows[i].is_good) assert_int_equal(utf8_utf16_units(s), rows[i].units);
    }
}

/* Texts longer than a word, at every offset, against the rule byte by byte. */
static void test_utf8__counts_units_of_long_texts(void **state)
{
    (void)state;
    static const char *const letters[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9D\x84\x9E"};
    static const size_t units[] = {1, 1, 1, 2};
    struct rng r;
    rng_init(&r, test_seed(16));
    for (uint64_t round = 0; round < test_rounds(500); round++) {
        char text[512];
        size_t n = 0, want = 0;
        for (uint64_t k = rng_below(&r, 100); k-- > 0;) {
            uint64_t which = rng_below(&r, 4);
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", letters[which]);
            want += units[which];
        }
        assert_true(utf8_check(SPAN(text, n)));
        assert_int_equal(utf8_utf16_units(SPAN(text, n)), want);
    }
}

static void test_clock__manual_moves_only_when_told(void **state)
{
    (void)state;
    struct clock_manual c;
    clock_manual_init(&c, 1000);
    assert_int_equal(clock_now_us(&c.base), 1000);
    clock_manual_advance(&c, 5);
    clock_sleep_ns(&c.base, 2000);
    assert_int_equal(clock_now_us(&c.base), 1007);
    assert_int_equal(clock_mono_ns(&c.base), 1007000);
    assert_true(clock_now_us(clock_system()) > 1600000000000000);
}

static void test_rng__repeats_and_spreads(void **state)
{
    (void)state;
    struct rng a, b;
    rng_init(&a, 42);
    rng_init(&b, 42);
    unsigned seen[10] = {0};
    for (int i = 0; i < 10000; i++) {
        uint64_t x = rng_below(&a, 10);
        assert_true(x == rng_below(&b, 10));
        seen[x]++;
    }
    for (int i = 0; i < 10; i++) assert_in_range(seen[i], 850, 1150);
    uint8_t s1[16] = {0}, s2[16] = {0};
    assert_true(rng_secret(s1, 16) && rng_secret(s2, 16));
    assert_memory_not_equal(s1, s2, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena__keeps_its_ceiling),
        cmocka_unit_test(test_arena__aligns_after_bytes),
        cmocka_unit_test(test_arena__rewinds_to_a_mark),
        cmocka_unit_test(test_arena__begins_in_the_callers_room),
        cmocka_unit_test(test_arena__every_failed_allocation_is_null),
        cmocka_unit_test(test_buf__stops_at_max_and_stays_failed),
        cmocka_unit_test(test_err__cuts_long_messages_at_a_character),
        cmocka_unit_test(test_err__every_code_has_a_name),
        cmocka_unit_test(test_utf8__table),
        cmocka_unit_test(test_utf8__counts_units_of_long_texts),
        cmocka_unit_test(test_clock__manual_moves_only_when_told),
        cmocka_unit_test(test_rng__repeats_and_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
