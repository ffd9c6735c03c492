/* engine/writes: what was recorded comes back in order; what was refused leaves no trace. */
#include "support/support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "engine/writes.h"

static sheaf_engine_key key(uint64_t space, const char *s)
{
    static const uint8_t hash[16] = {0xAB};
    return (sheaf_engine_key){.p = sheaf_place_make(space, hash), .s = span_cstr(s)};
}

static void assert_parts(span whole, const sheaf_place *p, const char *s)
{
    assert_true(whole.n >= SHEAF_PLACE_BYTES);
    assert_memory_equal(whole.p, p->b, SHEAF_PLACE_BYTES);
    assert_span(span_from(whole, SHEAF_PLACE_BYTES), s);
}

static void test_writes__come_back_in_the_order_they_were_made(void **state)
{
    (void)state;
    struct sheaf_engine_caps caps = {.max_key = 100};
    struct eng_writes w;
    eng_writes_init(&w, &caps);
    sheaf_engine_key a = key(1, "alpha"), b = key(2, "");
    const int64_t deltas[2] = {-5, INT64_MAX};
    assert_ok(eng_writes_put(&w, &a, SPAN_LIT("one"), NULL));
    assert_ok(eng_writes_append(&w, &b.p, SPAN_LIT("first"), NULL));
    assert_ok(eng_writes_del(&w, &b, NULL));
    assert_ok(eng_writes_add(&w, &a, 2, deltas, NULL));
    assert_ok(eng_writes_append(&w, &b.p, SPAN_NONE, NULL));
    assert_ok(eng_writes_del_range(&w, &a.p, SPAN_LIT("b"), SPAN_LIT("c"), NULL));
    assert_ok(eng_writes_del_range(&w, &a.p, SPAN_NONE, SPAN_NONE, NULL));
    assert_ok(eng_writes_del_range(&w, &a.p, SPAN_NONE, SPAN("", 0), NULL));
    assert_int_equal(w.n, 8);
    assert_int_equal(w.n_appends, 2);

    size_t at = 0;
    struct eng_write got;
    assert_true(eng_writes_next(&w, &at, &got));
    assert_int_equal(got.kind, ENG_WRITE_PUT);
    assert_parts(got.key, &a.p, "alpha");
    assert_span(got.value, "one");
    assert_true(eng_writes_next(&w, &at, &got));
    assert_int_equal(got.kind, ENG_WRITE_APPEND);
    assert_int_equal(got.ordinal, 0);
    assert_parts(got.key, &b.p, "");
    assert_span(got.value, "first");
    assert_true(eng_writes_next(&w, &at, &got));
    assert_int_equal(got.kind, ENG_WRITE_DEL);
    assert_parts(got.key, &b.p, "");
    assert_true(eng_writes_next(&w, &at, &got));
    assert_int_equal(got.kind, ENG_WRITE_ADD);
    assert_int_equal(got.value.n, 16);
    assert_true(eng_number_get(got.value.p, 0) == -5);
    assert_true(eng_number_get(got.value.p, 1) == INT64_MAX);
    assert_true(eng_writes_next(&w, &at, &got));
    assert_int_equal(got.kind, ENG_WRITE_APPEND);
    assert_int_equal(got.ordinal, 1);
    assert_int_equal(got.value.n, 0);
    assert_true(eng_writes_next(&w, &at, &got));
    assert_int_equal(got.kind, ENG_WRITE_DEL_RANGE);
    assert_parts(got.key, &a.p, "b");
    assert_parts(got.end, &a.p, "c");
    assert_true(eng_writes_next(&w, &at, &got));
    sheaf_place after = a.p;
    assert_true(eng_place_next(&after));
    assert_parts(got.key, &a.p, "");
    assert_parts(got.end, &after, ""); /* unbounded ends where the next P begins */
    assert_true(eng_writes_next(&w, &at, &got));
    assert_parts(got.end, &a.p, ""); /* an empty hi that is there: nothing is below it */
    assert_false(eng_writes_next(&w, &at, &got));
    assert_false(eng_writes_next(&w, &at, &got));
    eng_writes_deinit(&w);
}

static void test_writes__pass_at_each_cap_and_fail_one_above(void **state)
{
    (void)state;
    struct sheaf_engine_caps caps = {.max_key = 34, .max_value = 16, .max_txn_bytes = 100};
    struct eng_writes w;
    sheaf_error err;
    eng_writes_init(&w, &caps);
    sheaf_engine_key k10 = key(1, "0123456789"), k11 = key(1, "0123456789a");
    const int64_t deltas[3] = {1, 2, 3};
    assert_rc(eng_writes_put(&w, &k11, SPAN_NONE, &err), SHEAF_TOO_LARGE);
    assert_string_equal(err.message, "the key has 35 bytes, more than the engine's max_key of 34");
    assert_rc(eng_writes_del(&w, &k11, NULL), SHEAF_TOO_LARGE);
    assert_rc(eng_writes_add(&w, &k11, 1, deltas, NULL), SHEAF_TOO_LARGE);
    assert_rc(eng_writes_put(&w, &k10, SPAN_LIT("0123456789abcdefX"), &err), SHEAF_TOO_LARGE);
    assert_string_equal(err.message,
                        "the value has 17 bytes, more than the engine's max_value of 16");
    assert_rc(eng_writes_add(&w, &k10, 3, deltas, NULL), SHEAF_TOO_LARGE);
    assert_rc(eng_writes_add(&w, &k10, SIZE_MAX / 4, deltas, NULL), SHEAF_TOO_LARGE);
    assert_rc(eng_writes_add(&w, &k10, 0, deltas, NULL), SHEAF_VALIDATION);
    assert_rc(eng_writes_append(&w, &k10.p, SPAN_LIT("x"), NULL), SHEAF_TOO_LARGE); /* 24 + 12 */
    assert_int_equal(w.n, 0);
    assert_int_equal(w.log.n, 0);

    assert_ok(eng_writes_put(&w, &k10, SPAN_LIT("0123456789abcdef"), NULL)); /* 50 */
    assert_ok(eng_writes_add(&w, &k10, 2, deltas, NULL));                    /* 100 */
    assert_rc(eng_writes_del_range(&w, &k10.p, SPAN_NONE, SPAN_NONE, &err), SHEAF_TOO_LARGE);
    assert_string_equal(err.message,
                        "the transaction would write more than the engine's max_txn_bytes of 100");
    assert_int_equal(w.n, 2);
    assert_int_equal(w.bytes, 100);
    eng_writes_clear(&w);
    assert_ok(eng_writes_del(&w, &k10, NULL));
    eng_writes_deinit(&w);
}

static void test_writes__a_failed_allocation_loses_one_write_only(void **state)
{
    (void)state;
    struct sheaf_engine_caps caps = {0};
    struct eng_writes w;
    eng_writes_init(&w, &caps);
    sheaf_engine_key k = key(1, "key");
    char big[300] = {'x'};
    assert_ok(eng_writes_put(&w, &k, SPAN_LIT("v"), NULL));
    mem_fail_at(1, false);
    assert_rc(eng_writes_put(&w, &k, SPAN(big, sizeof big), NULL), SHEAF_NOMEM);
    mem_fail_at(0, false);
    assert_int_equal(w.n, 1);
    assert_ok(eng_writes_put(&w, &k, SPAN(big, sizeof big), NULL));
    size_t at = 0;
    struct eng_write got;
    assert_true(eng_writes_next(&w, &at, &got));
    assert_span(got.value, "v");
    assert_true(eng_writes_next(&w, &at, &got));
    assert_int_equal(got.value.n, sizeof big);
    assert_false(eng_writes_next(&w, &at, &got));
    eng_writes_deinit(&w);
}

static void test_writes__thousands_of_random_writes_come_back(void **state)
{
    (void)state;
    struct rng r;
    uint64_t seed = test_seed(11), rounds = test_rounds(5000);
    struct sheaf_engine_caps caps = {0};
    struct eng_writes w;
    eng_writes_init(&w, &caps);
    uint8_t bytes[512];
    for (int pass = 0; pass < 2; pass++) {
        rng_init(&r, seed);
        size_t at = 0;
        for (uint64_t i = 0; i < rounds; i++) {
            sheaf_engine_key k = key(rng_u64(&r), "");
            size_t s_n = (size_t)rng_below(&r, 200), v_n = (size_t)rng_below(&r, 200);
            memset(bytes, (int)rng_below(&r, 256), sizeof bytes);
            k.s = SPAN(bytes, s_n);
            struct eng_write got;
            if (pass == 0) {
                assert_ok(eng_writes_put(&w, &k, SPAN(bytes, v_n), NULL));
                continue;
            }
            assert_true(eng_writes_next(&w, &at, &got));
            assert_int_equal(got.key.n, SHEAF_PLACE_BYTES + s_n);
            assert_memory_equal(got.key.p, k.p.b, SHEAF_PLACE_BYTES);
            assert_true(span_eq(span_from(got.key, SHEAF_PLACE_BYTES), k.s));
            assert_true(span_eq(got.value, SPAN(bytes, v_n)));
        }
    }
    eng_writes_deinit(&w);
}

static void test_stamp__orders_by_position_then_ordinal(void **state)
{
    (void)state;
    sheaf_stamp a = eng_stamp(0x0102030405060708, 0x0A0B0C0D);
    uint8_t want[SHEAF_STAMP_BYTES];
    assert_int_equal(test_hex("01 02 03 04 05 06 07 08 0A 0B 0C 0D", want, sizeof want), 12);
    assert_memory_equal(a.b, want, 12);
    sheaf_stamp b = eng_stamp(0x0102030405060708, 0x0A0B0C0E), c = eng_stamp(0x0102030405060709, 0);
    assert_true(memcmp(a.b, b.b, 12) < 0 && memcmp(b.b, c.b, 12) < 0);
}

static void test_place_next__carries_and_ends_at_all_ones(void **state)
{
    (void)state;
    sheaf_place p = {{0}}, ones;
    memset(ones.b, 0xFF, sizeof ones.b);
    memset(p.b + 1, 0xFF, sizeof p.b - 1);
    assert_true(eng_place_next(&p));
    assert_int_equal(p.b[0], 1);
    for (size_t i = 1; i < sizeof p.b; i++) assert_int_equal(p.b[i], 0);
    assert_false(eng_place_next(&ones));
    assert_int_equal(ones.b[23], 0xFF);
    struct sheaf_engine_caps caps = {0};
    struct eng_writes w;
    struct eng_write got;
    eng_writes_init(&w, &caps);
    assert_ok(eng_writes_del_range(&w, &ones, SPAN_NONE, SPAN_NONE, NULL));
    size_t at = 0;
    assert_true(eng_writes_next(&w, &at, &got));
    assert_null(got.end.p);
    eng_writes_deinit(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes__come_back_in_the_order_they_were_made),
        cmocka_unit_test(test_writes__pass_at_each_cap_and_fail_one_above),
        cmocka_unit_test(test_writes__a_failed_allocation_loses_one_write_only),
        cmocka_unit_test(test_writes__thousands_of_random_writes_come_back),
        cmocka_unit_test(test_stamp__orders_by_position_then_ordinal),
        cmocka_unit_test(test_place_next__carries_and_ends_at_all_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
