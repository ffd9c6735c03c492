/* Commutative adds, and logs whose keys are given at commit. */
#include "contract/contract.h"

static void test_add__on_an_absent_key_counts_from_zero(void **state)
{
    struct world *w = *state;
    add_one(w, key_of(1, "n"), 5);
    assert_int_equal(read_number(w, key_of(1, "n"), 0), 5);
    add_one(w, key_of(1, "n"), -12);
    assert_int_equal(read_number(w, key_of(1, "n"), 0), -7);
    add_one(w, key_of(1, "z"), 0);
    assert_int_equal(read_number(w, key_of(1, "z"), 0), 0);
}

static void test_add__is_little_endian_and_wraps(void **state)
{
    struct world *w = *state;
    sheaf_engine_key k = key_of(1, "n");
    add_one(w, k, 0x0102030405060708);
    assert_stored(w, k, SPAN("\x08\x07\x06\x05\x04\x03\x02\x01", 8));
    add_one(w, key_of(1, "m"), INT64_MAX);
    add_one(w, key_of(1, "m"), 1);
    assert_true(read_number(w, key_of(1, "m"), 0) == INT64_MIN);
}

static void test_add__several_numbers_of_one_value(void **state)
{
    struct world *w = *state;
    enum { N = 9 };
    sheaf_engine_key k = key_of(1, "n");
    int64_t deltas[N], sums[N] = {0};
    for (int round = 0; round < 20; round++) {
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        for (int i = 0; i < N; i++) sums[i] += deltas[i] = round * (i - 4) + i;
        assert_ok(eng_add(t, &k, N, deltas, NULL));
        memset(deltas, 0xAA, sizeof deltas); /* copied at once */
        assert_ok(txn_commit(w, t));
    }
    for (size_t i = 0; i < N; i++) assert_int_equal(read_number(w, k, i), sums[i]);
}

/* Every way an add can follow or precede another write of the same key in one transaction. */
static void test_add__keeps_its_place_among_other_writes(void **state)
{
    struct world *w = *state;
    const int64_t two = 2, five = 5, hundred = 100;
    sheaf_engine_key k[6];
    for (size_t i = 0; i < 6; i++) {
        k[i] = key_of(1, &"n\0o\0p\0q\0r\0s"[2 * i]);
        put_one(w, k[i], SPAN(&hundred, 8));
    }
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    for (int i = 0; i < 3; i++) assert_ok(eng_add(t, &k[0], 1, &two, NULL));
    assert_ok(eng_put(t, &k[1], SPAN(&five, 8), NULL));
    assert_ok(eng_add(t, &k[1], 1, &two, NULL));
    assert_ok(eng_add(t, &k[2], 1, &two, NULL));
    assert_ok(eng_put(t, &k[2], SPAN(&five, 8), NULL));
    assert_ok(eng_del(t, &k[3], NULL));
    assert_ok(eng_add(t, &k[3], 1, &two, NULL));
    assert_ok(eng_add(t, &k[4], 1, &two, NULL));
    assert_ok(eng_del(t, &k[4], NULL));
    assert_ok(eng_del_range(t, &k[5].p, k[5].s, SPAN_NONE, NULL));
    assert_ok(eng_add(t, &k[5], 1, &two, NULL));
    assert_ok(eng_add(t, &k[5], 1, &two, NULL));
    assert_ok(txn_commit(w, t));
    assert_int_equal(read_number(w, k[0], 0), 106);
    assert_int_equal(read_number(w, k[1], 0), 7);
    assert_int_equal(read_number(w, k[2], 0), 5);
    assert_int_equal(read_number(w, k[3], 0), 2);
    assert_absent(w, k[4]);
    assert_int_equal(read_number(w, k[5], 0), 4);
}

static void test_add__is_read_by_get_range_and_walk_alike(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 100; i++) add_one(w, key_of(1, i % 2 ? "n" : "m"), i);
    struct rows a = rows_now(w, place_of(1, 1)), b = space_now(w, 1);
    assert_int_equal(a.n, 2);
    assert_rows_equal(&a, &b);
    assert_int_equal(number_at(a.row[0].value, 0), 2450);
    assert_int_equal(number_at(a.row[1].value, 0), 2500);
    assert_stored(w, key_of(1, "n"), a.row[1].value);
    rows_free(&a);
    rows_free(&b);
}

static void test_add__open_at_the_same_time_never_conflict(void **state)
{
    struct world *w = *state;
    enum { N = 10 };
    sheaf_engine_key k = key_of(1, "n");
    sheaf_txn *t[N];
    for (int64_t i = 0; i < N; i++) {
        t[i] = txn_begin(w, SHEAF_TXN_RW);
        assert_ok(eng_add(t[i], &k, 1, &i, NULL));
    }
    for (int i = 0; i < N; i++) assert_ok(txn_commit(w, t[(i * 3) % N]));
    assert_int_equal(read_number(w, k, 0), 45);
}

static void test_add__makes_a_reader_conflict_but_not_the_reverse(void **state)
{
    struct world *w = *state;
    sheaf_engine_key k = key_of(1, "n");
    const int64_t one = 1;
    add_one(w, k, 1);
    sheaf_txn *reader = txn_begin(w, SHEAF_TXN_RW), *adder = txn_begin(w, SHEAF_TXN_RW);
    txn_get(reader, k);
    txn_put(reader, key_of(1, "seen"), "x");
    assert_ok(eng_add(adder, &k, 1, &one, NULL));
    assert_ok(txn_commit(w, adder));
    assert_rc(txn_commit(w, reader), SHEAF_CONFLICT);
    reader = txn_begin(w, SHEAF_TXN_RW), adder = txn_begin(w, SHEAF_TXN_RW);
    txn_get(reader, k);
    txn_put(reader, key_of(1, "seen"), "x");
    assert_ok(eng_add(adder, &k, 1, &one, NULL));
    assert_ok(txn_commit(w, reader));
    assert_ok(txn_commit(w, adder));
    assert_int_equal(read_number(w, k, 0), 3);
}

/* ---- append ---- */

static const sheaf_place *log_place(void)
{
    static sheaf_place p;
    p = place_of(1, 77);
    return &p;
}

/* A mistake of the caller's: refused at commit or told by verify, and nobody else notices. */
static void test_add__to_other_bytes_harms_nothing_else(void **state)
{
    struct world *w = *state;
    static const char *const others[] = {"", "abc", "1234567", "123456789"};
    for (uint64_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const int64_t one = 1;
        sheaf_engine_key k = key_of(i, "text"), number = key_of(i, "number");
        put_text(w, k, others[i]);
        add_one(w, number, 5);
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        assert_ok(eng_add(t, &k, 1, &one, NULL));
        sheaf_rc rc = txn_commit(w, t);
        assert_true(rc == SHEAF_OK || rc == SHEAF_VALIDATION);
        if (rc != SHEAF_OK) assert_text(w, k, others[i]);
        add_one(w, number, 1);
        assert_int_equal(read_number(w, number, 0), 6);
        struct rows r = rows_now(w, k.p);
        assert_int_equal(r.n, 2);
        rows_free(&r);
        del_one(w, k); /* and the key itself can be put right */
        add_one(w, k, 7);
        assert_int_equal(read_number(w, k, 0), 7);
    }
}

static void test_append__stamp_out_is_what_is_stored(void **state)
{
    struct world *w = *state;
    sheaf_stamp stamp[20];
    sheaf_position at[20];
    for (int i = 0; i < 20; i++) {
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        assert_ok(eng_append(t, log_place(), SPAN(&i, sizeof i), NULL));
        assert_ok(txn_commit_at(w, t, &at[i], &stamp[i]));
        assert_true(eng_visible(w->e) >= at[i]);
        if (i) assert_true(at[i] > at[i - 1]);
    }
    struct rows r = rows_now(w, *log_place());
    assert_int_equal(r.n, 20);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(r.row[i].key.s.n, SHEAF_STAMP_BYTES);
        assert_memory_equal(r.row[i].key.s.p, stamp[i].b, SHEAF_STAMP_BYTES);
        assert_memory_equal(stamp[i].b + 8, "\0\0\0\0", 4);
        assert_memory_equal(r.row[i].value.p, &i, sizeof i);
        assert_stored(w, key_at(*log_place(), SPAN(stamp[i].b, SHEAF_STAMP_BYTES)),
                      SPAN(&i, sizeof i));
    }
    rows_free(&r);
}

/* Also to two logs in turn: each keeps the order, and no stamp is given twice. */
static void test_append__several_in_one_transaction_keep_their_order(void **state)
{
    struct world *w = *state;
    enum { N = 300 };
    sheaf_place logs[2] = {place_of(1, 1), place_of(2, 2)};
    for (int round = 0; round < 3; round++) {
        sheaf_stamp stamp;
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        for (int i = 0; i < N; i++) {
            int value = round * N + i;
            assert_ok(eng_append(t, &logs[i % 2], SPAN(&value, sizeof value), NULL));
        }
        assert_ok(txn_commit_at(w, t, NULL, &stamp));
        struct rows r[2] = {rows_now(w, logs[0]), rows_now(w, logs[1])};
        for (int i = 0; i < N; i++) {
            int want = round * N + i;
            size_t at = (size_t)(round * N + i) / 2;
            const struct sheaf_row *row = &r[i % 2].row[at];
            assert_true(at < r[i % 2].n);
            assert_memory_equal(row->value.p, &want, sizeof want);
            assert_memory_equal(row->key.s.p, stamp.b, 8); /* one commit, one number */
            uint8_t ordinal[4] = {0, 0, (uint8_t)(i >> 8), (uint8_t)i};
            assert_memory_equal((const char *)row->key.s.p + 8, ordinal, 4);
        }
        rows_free(&r[0]);
        rows_free(&r[1]);
    }
}

/* The stamp is of the commit, not of the beginning nor of the call of append. */
static void test_append__stamps_follow_the_order_of_commit(void **state)
{
    struct world *w = *state;
    enum { N = 6 };
    sheaf_txn *t[N];
    sheaf_stamp stamp[N], none;
    for (int i = 0; i < N; i++) t[i] = txn_begin(w, SHEAF_TXN_RW);
    for (int i = N - 1; i >= 0; i--)
        assert_ok(eng_append(t[i], log_place(), SPAN(&i, sizeof i), NULL));
    static const int order[N] = {3, 0, 5, 1, 4, 2};
    for (int i = 0; i < N; i++) {
        sheaf_txn *empty = txn_begin(w, SHEAF_TXN_RW);
        txn_put(empty, key_of(9, "k"), "x");
        assert_ok(txn_commit_at(w, t[order[i]], NULL, &stamp[i]));
        assert_ok(txn_commit_at(w, empty, NULL, &none)); /* no append: still between the others */
        assert_true(memcmp(stamp[i].b, none.b, sizeof none.b) < 0);
        if (i) assert_true(memcmp(stamp[i - 1].b, stamp[i].b, sizeof none.b) < 0);
    }
    struct rows r = rows_now(w, *log_place());
    assert_int_equal(r.n, N);
    for (int i = 0; i < N; i++) assert_memory_equal(r.row[i].value.p, &order[i], sizeof(int));
    rows_free(&r);
}

static void test_append__rows_are_deleted_like_any_other(void **state)
{
    struct world *w = *state;
    sheaf_stamp stamp[10];
    for (int i = 0; i < 10; i++) {
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        assert_ok(eng_append(t, log_place(), SPAN(&i, sizeof i), NULL));
        assert_ok(txn_commit_at(w, t, NULL, &stamp[i]));
    }
    del_range_one(w, log_place(), SPAN_NONE, SPAN(stamp[5].b, SHEAF_STAMP_BYTES));
    del_one(w, key_at(*log_place(), SPAN(stamp[7].b, SHEAF_STAMP_BYTES)));
    struct rows r = rows_now(w, *log_place());
    assert_int_equal(r.n, 4);
    assert_memory_equal(r.row[0].key.s.p, stamp[5].b, SHEAF_STAMP_BYTES);
    rows_free(&r);
}

static void test_append__stamps_grow_across_reopening(void **state)
{
    struct world *w = *state;
    if (!w->caps.is_durable) skip();
    sheaf_stamp last = {{0}};
    sheaf_position last_at = 0;
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 3; j++) {
            sheaf_stamp stamp;
            sheaf_position at;
            sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
            if (j < 2)
                assert_ok(eng_append(t, log_place(), SPAN(&i, sizeof i), NULL));
            else
                txn_put(t, key_of(1, "k"), "x");
            assert_ok(txn_commit_at(w, t, &at, &stamp));
            assert_true(memcmp(last.b, stamp.b, sizeof last.b) < 0);
            assert_true(at > last_at);
            last = stamp, last_at = at;
        }
        if (i % 2)
            del_range_one(w, log_place(), SPAN_NONE, SPAN_NONE); /* no row left to learn from */
        world_reopen(w);
        assert_true(eng_visible(w->e) >= last_at);
        assert_true(eng_durable(w->e) >= last_at);
    }
}

struct case_list cases_add_append(void)
{
    static const struct CMUnitTest cases[] = {
        CASE(test_add__on_an_absent_key_counts_from_zero),
        CASE(test_add__is_little_endian_and_wraps),
        CASE(test_add__several_numbers_of_one_value),
        CASE(test_add__keeps_its_place_among_other_writes),
        CASE(test_add__is_read_by_get_range_and_walk_alike),
        CASE(test_add__open_at_the_same_time_never_conflict),
        CASE(test_add__makes_a_reader_conflict_but_not_the_reverse),
        CASE(test_add__to_other_bytes_harms_nothing_else),
        CASE(test_append__stamp_out_is_what_is_stored),
        CASE(test_append__several_in_one_transaction_keep_their_order),
        CASE(test_append__stamps_follow_the_order_of_commit),
        CASE(test_append__rows_are_deleted_like_any_other),
        CASE(test_append__stamps_grow_across_reopening),
    };
    return (struct case_list){cases, sizeof cases / sizeof cases[0], false};
}
