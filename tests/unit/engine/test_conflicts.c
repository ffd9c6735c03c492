/* engine/conflicts: a commit passes exactly when nothing it read was written since. */
#include "support/support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "engine/conflicts.h"

struct flat_key {
    sheaf_engine_key key;
    uint8_t b[SHEAF_PLACE_BYTES + 8];
};

static struct flat_key make(struct flat_key *k, uint64_t i)
{
    static const uint8_t hash[16] = {7};
    k->key.p = sheaf_place_make(i / 16, hash);
    memcpy(k->b, k->key.p.b, SHEAF_PLACE_BYTES);
    memcpy(k->b + SHEAF_PLACE_BYTES, &i, 8);
    k->key.s = SPAN(k->b + SHEAF_PLACE_BYTES, 8);
    return *k;
}
static span flat(const struct flat_key *k) { return SPAN(k->b, sizeof k->b); }

static void test_conflicts__a_later_write_of_a_read_key_conflicts(void **state)
{
    (void)state;
    struct eng_conflicts c;
    struct eng_reads r;
    struct flat_key a, b;
    make(&a, 1);
    make(&b, 2);
    assert_ok(eng_conflicts_init(&c, 0, NULL));
    eng_conflicts_stamp(&c, flat(&a), 5);
    eng_reads_init(&r);
    assert_true(eng_conflicts_check(&c, &r));
    eng_reads_start(&r, 5);
    assert_ok(eng_reads_add(&r, &c, &a.key, NULL));
    assert_true(eng_conflicts_check(&c, &r)); /* written at 5, read at 5 */
    eng_conflicts_stamp(&c, flat(&b), 6);
    assert_true(eng_conflicts_check(&c, &r)); /* another key */
    eng_conflicts_stamp(&c, flat(&a), 7);
    assert_false(eng_conflicts_check(&c, &r));
    eng_reads_deinit(&r);
    eng_conflicts_deinit(&c);
}

static void test_conflicts__stamp_all_conflicts_with_whoever_read(void **state)
{
    (void)state;
    struct eng_conflicts c;
    struct eng_reads r, none;
    struct flat_key a;
    make(&a, 1);
    assert_ok(eng_conflicts_init(&c, 16, NULL));
    eng_reads_init(&r);
    eng_reads_init(&none);
    eng_reads_start(&r, 5);
    eng_reads_start(&none, 5);
    assert_ok(eng_reads_add(&r, &c, &a.key, NULL));
    eng_conflicts_stamp_all(&c, 5);
    assert_true(eng_conflicts_check(&c, &r));
    eng_conflicts_stamp_all(&c, 6);
    assert_false(eng_conflicts_check(&c, &r));
    assert_true(eng_conflicts_check(&c, &none));
    eng_reads_deinit(&r);
    eng_conflicts_deinit(&c);
}

static void test_conflicts__never_misses_one_and_seldom_invents_one(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, test_seed(3));
    enum { KEYS = 2000 };
    static sheaf_position truth[KEYS];
    memset(truth, 0, sizeof truth);
    struct eng_conflicts c;
    assert_ok(eng_conflicts_init(&c, 1 << 16, NULL));
    uint64_t rounds = test_rounds(20000), invented = 0;
    for (sheaf_position at = 1; at <= rounds; at++) {
        struct eng_reads r;
        struct flat_key k;
        eng_reads_init(&r);
        sheaf_position begin = at - 1 - rng_below(&rng, at < 50 ? at : 50);
        eng_reads_start(&r, begin);
        bool is_stale = false;
        for (uint64_t n = rng_below(&rng, 40); n > 0; n--) {
            uint64_t i = rng_below(&rng, KEYS);
            make(&k, i);
            assert_ok(eng_reads_add(&r, &c, &k.key, NULL));
            is_stale = is_stale || truth[i] > begin;
        }
        bool may = eng_conflicts_check(&c, &r);
        if (is_stale) assert_false(may);
        invented += !is_stale && !may;
        uint64_t i = rng_below(&rng, KEYS);
        make(&k, i);
        eng_conflicts_stamp(&c, flat(&k), at);
        truth[i] = at;
        eng_reads_deinit(&r);
    }
    assert_true(invented * 20 < rounds);
    eng_conflicts_deinit(&c);
}

static void test_reads__stay_within_twice_the_stripes(void **state)
{
    (void)state;
    struct eng_conflicts c;
    struct eng_reads r;
    struct flat_key k;
    assert_ok(eng_conflicts_init(&c, 64, NULL));
    eng_reads_init(&r);
    eng_reads_start(&r, 1);
    for (uint64_t i = 0; i < 10000; i++) {
        make(&k, i);
        assert_ok(eng_reads_add(&r, &c, &k.key, NULL));
        assert_true(r.cap < 4 * 64);
    }
    for (uint64_t i = 0; i < 10000; i += 777) { /* none was forgotten */
        make(&k, i);
        memset(c.last, 0, 64 * sizeof *c.last);
        assert_true(eng_conflicts_check(&c, &r));
        eng_conflicts_stamp(&c, flat(&k), 2);
        assert_false(eng_conflicts_check(&c, &r));
    }
    eng_reads_deinit(&r);
    eng_conflicts_deinit(&c);
}

static void test_conflicts__answers_out_of_memory(void **state)
{
    (void)state;
    struct eng_conflicts c;
    struct eng_reads r;
    struct flat_key k;
    mem_fail_at(1, false);
    assert_rc(eng_conflicts_init(&c, 0, NULL), SHEAF_NOMEM);
    assert_ok(eng_conflicts_init(&c, 0, NULL));
    eng_reads_init(&r);
    eng_reads_start(&r, 1);
    for (uint64_t i = 0; i < 12; i++) {
        make(&k, i);
        assert_ok(eng_reads_add(&r, &c, &k.key, NULL));
    }
    make(&k, 12);
    mem_fail_at(1, false);
    assert_rc(eng_reads_add(&r, &c, &k.key, NULL), SHEAF_NOMEM);
    mem_fail_at(0, false);
    assert_ok(eng_reads_add(&r, &c, &k.key, NULL));
    assert_int_equal(r.n, 13);
    eng_reads_deinit(&r);
    eng_conflicts_deinit(&c);
}

static void test_conflicts__takes_powers_of_two_only(void **state)
{
    (void)state;
    struct eng_conflicts c;
    assert_rc(eng_conflicts_init(&c, 3, NULL), SHEAF_VALIDATION);
    assert_rc(eng_conflicts_init(&c, ENG_STRIPES_MAX * 2u, NULL), SHEAF_VALIDATION);
    assert_ok(eng_conflicts_init(&c, 1, NULL));
    eng_conflicts_deinit(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conflicts__a_later_write_of_a_read_key_conflicts),
        cmocka_unit_test(test_conflicts__stamp_all_conflicts_with_whoever_read),
        cmocka_unit_test(test_conflicts__never_misses_one_and_seldom_invents_one),
        cmocka_unit_test(test_reads__stay_within_twice_the_stripes),
        cmocka_unit_test(test_conflicts__answers_out_of_memory),
        cmocka_unit_test(test_conflicts__takes_powers_of_two_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
