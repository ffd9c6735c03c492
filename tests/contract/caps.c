/* What an engine takes: the last byte that passes, and the first that does not. */
#include "contract/contract.h"

/* Bytes that differ at every place and from seed to seed. */
static uint8_t *pattern(size_t n, uint64_t seed)
{
    struct rng r;
    uint8_t *p = malloc(n + 8);
    rng_init(&r, seed);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t x = rng_u64(&r);
        memcpy(p + i, &x, 8);
    }
    return p;
}

/* Every call that takes a key must refuse one that is too long, as a write. */
static void refuse_key(struct world *w, const sheaf_engine_key *k)
{
    const int64_t one = 1;
    for (int i = 0; i < 3; i++) {
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        txn_put(t, key_of(1, "small"), "x");
        sheaf_rc rc = i == 0   ? eng_put(t, k, SPAN("v", 1), NULL)
                      : i == 1 ? eng_del(t, k, NULL)
                               : eng_add(t, k, 1, &one, NULL);
        assert_rc(rc, SHEAF_TOO_LARGE);
        txn_rollback(w, t);
    }
    assert_absent(w, key_of(1, "small"));
}

static void test_caps__a_key_at_the_limit_passes_and_one_byte_more_does_not(void **state)
{
    struct world *w = *state;
    uint32_t max = w->caps.max_key;
    if (!max) skip();
    assert_true(max >= 1300);
    uint8_t *s = pattern(max, 1);
    sheaf_place p = place_of(1, 1);
    sheaf_engine_key k = key_at(p, SPAN(s, max - SHEAF_PLACE_BYTES));
    put_text(w, k, "long");
    assert_text(w, k, "long");
    struct rows r = rows_now(w, p);
    assert_int_equal(r.n, 1);
    assert_true(span_eq(r.row[0].key.s, k.s));
    rows_free(&r);
    sheaf_engine_key over = key_at(p, SPAN(s, max - SHEAF_PLACE_BYTES + 1));
    refuse_key(w, &over);
    r = rows_now(w, p);
    assert_int_equal(r.n, 1);
    rows_free(&r);
    del_one(w, k);
    assert_absent(w, k);
    free(s);
}

/* A key that nothing can be stored under is absent, and guarding it costs nothing. */
static void test_caps__reading_a_key_over_the_limit_finds_nothing(void **state)
{
    struct world *w = *state;
    if (!w->caps.max_key) skip();
    size_t max = w->caps.max_key - SHEAF_PLACE_BYTES;
    uint8_t *s = pattern(max + 10000, 1);
    sheaf_place p = place_of(1, 1);
    put_text(w, key_at(p, SPAN(s, max)), "the longest there is");
    static const size_t more[] = {1, 2, 100, 10000};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        sheaf_engine_key over = key_at(p, SPAN(s, max + more[i]));
        assert_absent(w, over);
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        assert_null(txn_get(t, over).p);
        assert_ok(eng_guard(t, &over, NULL));
        txn_put(t, key_of(1, "k"), "v");
        assert_ok(txn_commit(w, t));
    }
    free(s);
}

static void test_caps__a_value_at_the_limit_passes_and_one_byte_more_does_not(void **state)
{
    struct world *w = *state;
    uint32_t max = w->caps.max_value;
    if (!max || max > 64u << 20) skip();
    uint8_t *v = pattern((size_t)max + 1, 2);
    put_one(w, key_of(1, "k"), SPAN(v, max));
    assert_stored(w, key_of(1, "k"), SPAN(v, max));
    sheaf_engine_key k = key_of(1, "k");
    sheaf_place log = place_of(1, 9);
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    txn_put(t, key_of(1, "small"), "x");
    assert_rc(eng_put(t, &k, SPAN(v, (size_t)max + 1), NULL), SHEAF_TOO_LARGE);
    txn_rollback(w, t);
    t = txn_begin(w, SHEAF_TXN_RW);
    assert_rc(eng_append(t, &log, SPAN(v, (size_t)max + 1), NULL), SHEAF_TOO_LARGE);
    txn_rollback(w, t);
    assert_stored(w, k, SPAN(v, max));
    assert_absent(w, key_of(1, "small"));
    free(v);
}

/* Puts of exactly `bytes` in all, keys included; the answer of the first step that refuses. */
static sheaf_rc put_bytes(struct world *w, uint64_t bytes, const uint8_t *v, size_t max_value)
{
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    sheaf_rc rc = SHEAF_OK;
    for (uint32_t i = 0; bytes > 0 && rc == SHEAF_OK; i++) {
        const size_t key_bytes = SHEAF_PLACE_BYTES + sizeof i;
        size_t n = bytes - key_bytes < max_value ? (size_t)(bytes - key_bytes) : max_value;
        uint64_t left = bytes - key_bytes - n;
        if (left && left < key_bytes) n -= key_bytes; /* room for one more key */
        sheaf_engine_key k = key_at(place_of(1, 1), SPAN(&i, sizeof i));
        rc = eng_put(t, &k, SPAN(v, n), NULL);
        bytes -= key_bytes + n;
    }
    if (rc == SHEAF_OK) return txn_commit(w, t);
    txn_rollback(w, t);
    return rc;
}

static void test_caps__a_transaction_at_the_limit_passes_and_one_byte_more_does_not(void **state)
{
    struct world *w = *state;
    uint64_t max = w->caps.max_txn_bytes;
    if (!max || max > 128u << 20) skip();
    size_t max_value = 90000;
    uint8_t *v = pattern(max_value, 3);
    assert_rc(put_bytes(w, max + 1, v, max_value), SHEAF_TOO_LARGE);
    struct rows r = rows_now(w, place_of(1, 1));
    assert_int_equal(r.n, 0);
    rows_free(&r);
    assert_ok(put_bytes(w, max, v, max_value));
    r = rows_now(w, place_of(1, 1));
    assert_true(r.n >= max / 100000);
    uint64_t sum = 0;
    for (size_t i = 0; i < r.n; i++) sum += SHEAF_PLACE_BYTES + r.row[i].key.s.n + r.row[i].value.n;
    assert_true(sum == max);
    rows_free(&r);
    free(v);
}

/* Rows of one P whose keys alone fill a transaction, and some more. */
static uint32_t fill_with_long_keys(struct world *w, sheaf_place p, uint64_t bytes)
{
    const size_t n = w->caps.max_key - SHEAF_PLACE_BYTES;
    uint8_t *s = pattern(n, 5);
    uint32_t i = 0;
    for (uint64_t done = 0; done < bytes;) {
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        for (int k = 0; k < 500 && done < bytes; k++, i++, done += w->caps.max_key) {
            uint8_t big_endian[4] = {0, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
            memcpy(s, big_endian, 4);
            sheaf_engine_key key = key_at(p, SPAN(s, n));
            assert_ok(eng_put(t, &key, SPAN("", 0), NULL));
        }
        assert_ok(txn_commit(w, t));
    }
    free(s);
    return i;
}

static void test_caps__a_del_range_over_more_keys_than_fit_is_refused_whole(void **state)
{
    struct world *w = *state;
    if (!w->caps.max_key || !w->caps.max_txn_bytes || w->caps.max_txn_bytes > 128u << 20) skip();
    sheaf_place p = place_of(1, 1);
    uint32_t rows = fill_with_long_keys(w, p, w->caps.max_txn_bytes + w->caps.max_key);
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    txn_put(t, key_of(2, "other"), "v");
    sheaf_rc rc = eng_del_range(t, &p, SPAN_NONE, SPAN_NONE, NULL);
    if (rc == SHEAF_OK)
        rc = txn_commit(w, t);
    else
        txn_rollback(w, t);
    assert_rc(rc, SHEAF_TOO_LARGE);
    assert_absent(w, key_of(2, "other"));
    struct rows r = rows_now(w, p);
    assert_int_equal(r.n, rows);
    rows_free(&r);
    uint32_t half = rows / 2;
    uint8_t middle[4] = {0, (uint8_t)(half >> 16), (uint8_t)(half >> 8), (uint8_t)half};
    del_range_one(w, &p, SPAN_NONE, SPAN(middle, 4));
    r = rows_now(w, p);
    assert_int_equal(r.n, rows - half);
    rows_free(&r);
    del_range_one(w, &p, SPAN_NONE, SPAN_NONE);
    r = rows_now(w, p);
    assert_int_equal(r.n, 0);
    rows_free(&r);
}

/* An item of DynamoDB's largest size, and a value well over it. */
static void test_caps__large_values_round_trip_or_are_refused(void **state)
{
    struct world *w = *state;
    static const size_t sizes[] = {409600, 1 << 20};
    for (size_t i = 0; i < 2; i++) {
        uint8_t *v = pattern(sizes[i], i);
        sheaf_engine_key k = key_of(i, "large");
        if (w->caps.max_value && w->caps.max_value < sizes[i]) {
            sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
            assert_rc(eng_put(t, &k, SPAN(v, sizes[i]), NULL), SHEAF_TOO_LARGE);
            txn_rollback(w, t);
            assert_absent(w, k);
        } else {
            put_one(w, k, SPAN(v, sizes[i]));
            assert_stored(w, k, SPAN(v, sizes[i]));
            struct rows r = rows_now(w, k.p);
            assert_int_equal(r.n, 1);
            assert_true(span_eq(r.row[0].value, SPAN(v, sizes[i])));
            rows_free(&r);
        }
        free(v);
    }
}

/* Every length around the places where encodings change. */
static void test_caps__values_of_all_small_lengths_round_trip(void **state)
{
    struct world *w = *state;
    uint8_t *v = pattern(70000, 4);
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    for (uint32_t n = 0; n < 700; n++) {
        uint32_t size = n < 600 ? n : 600 + (n - 600) * 690;
        sheaf_engine_key k = key_at(place_of(1, n % 5), SPAN(&n, sizeof n));
        assert_ok(eng_put(t, &k, SPAN(v + n % 3, size), NULL));
        if (n % 50 != 49) continue;
        assert_ok(txn_commit(w, t));
        t = txn_begin(w, SHEAF_TXN_RW);
    }
    txn_rollback(w, t);
    for (uint32_t n = 0; n < 700; n++) {
        uint32_t size = n < 600 ? n : 600 + (n - 600) * 690;
        assert_stored(w, key_at(place_of(1, n % 5), SPAN(&n, sizeof n)), SPAN(v + n % 3, size));
    }
    free(v);
}

struct case_list cases_caps(void)
{
    static const struct CMUnitTest cases[] = {
        CASE(test_caps__a_key_at_the_limit_passes_and_one_byte_more_does_not),
        CASE(test_caps__a_value_at_the_limit_passes_and_one_byte_more_does_not),
        CASE(test_caps__a_transaction_at_the_limit_passes_and_one_byte_more_does_not),
        CASE(test_caps__reading_a_key_over_the_limit_finds_nothing),
        CASE(test_caps__a_del_range_over_more_keys_than_fit_is_refused_whole),
        CASE(test_caps__large_values_round_trip_or_are_refused),
        CASE(test_caps__values_of_all_small_lengths_round_trip),
    };
    return (struct case_list){cases, sizeof cases / sizeof cases[0], false};
}
