/* Puts, deletes, batched gets, and how long returned bytes live. */
#include "contract/contract.h"

static void test_put__stores_what_was_given_and_overwrites(void **state)
{
    struct world *w = *state;
    char value[] = "first";
    sheaf_engine_key k = key_of(1, "k");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_ok(eng_put(t, &k, span_cstr(value), NULL));
    memset(value, 'X', 5); /* copied at once */
    assert_ok(txn_commit(w, t));
    assert_text(w, k, "first");
    put_text(w, k, "a second, longer one");
    assert_text(w, k, "a second, longer one");
    put_text(w, k, "3");
    assert_text(w, k, "3");
}

static void test_put__copies_its_key_at_once(void **state)
{
    struct world *w = *state;
    char s[] = "key";
    sheaf_engine_key k = key_at(place_of(1, 1), span_cstr(s));
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_ok(eng_put(t, &k, SPAN("v", 1), NULL));
    memset(s, 'X', 3);
    memset(&k, 0, sizeof k);
    assert_ok(txn_commit(w, t));
    assert_text(w, key_of(1, "key"), "v");
    assert_absent(w, key_of(1, "XXX"));
}

/* A value of no bytes is a value. */
static void test_put__an_empty_value_is_not_an_absent_one(void **state)
{
    struct world *w = *state;
    put_one(w, key_of(1, "k"), SPAN("", 0));
    assert_stored(w, key_of(1, "k"), SPAN("", 0));
    put_one(w, key_of(1, ""), SPAN_NONE); /* no bytes, however they are spelled */
    assert_stored(w, key_of(1, ""), SPAN("", 0));
    struct rows r = rows_now(w, place_of(1, 1));
    assert_int_equal(r.n, 2);
    assert_int_equal(r.row[0].value.n + r.row[1].value.n, 0);
    rows_free(&r);
}

static void test_del__of_an_absent_key_is_fine(void **state)
{
    struct world *w = *state;
    del_one(w, key_of(1, "k"));
    put_text(w, key_of(1, "k"), "v");
    del_one(w, key_of(1, "k"));
    del_one(w, key_of(1, "k"));
    assert_absent(w, key_of(1, "k"));
}

/* Writes are applied in the order they were made. */
static void test_commit__the_last_write_of_a_key_wins(void **state)
{
    struct world *w = *state;
    sheaf_engine_key a = key_of(1, "a"), b = key_of(1, "b");
    put_text(w, b, "old");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_ok(eng_del(t, &a, NULL));
    for (int i = 0; i < 100; i++) {
        char text[12];
        snprintf(text, sizeof text, "%d", i);
        txn_put(t, a, text);
        txn_put(t, b, text);
    }
    assert_ok(eng_del(t, &b, NULL));
    assert_ok(txn_commit(w, t));
    assert_text(w, a, "99");
    assert_absent(w, b);
}

static void fill_letters(struct world *w, uint64_t n)
{
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    for (char s[2] = "a"; s[0] <= 'z'; s[0]++) txn_put(t, key_of(n, s), "old");
    assert_ok(txn_commit(w, t));
}

/* The keys of place (1, n) as one string of their first letters. */
static void assert_letters(struct world *w, uint64_t n, const char *want)
{
    struct rows r = rows_now(w, place_of(1, n));
    char got[128] = "";
    for (size_t i = 0; i < r.n && i < 100; i++) got[i] = *(const char *)r.row[i].key.s.p;
    assert_string_equal(got, want);
    rows_free(&r);
}

static void test_del_range__deletes_from_lo_up_to_hi_and_nothing_else(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 2);
    for (uint64_t n = 1; n <= 3; n++) fill_letters(w, n);
    del_range_one(w, &p, SPAN("d", 1), SPAN("w", 1));
    assert_letters(w, 2, "abcwxyz");
    del_range_one(w, &p, SPAN("x", 1), SPAN_NONE);
    assert_letters(w, 2, "abcw");
    del_range_one(w, &p, SPAN("c", 1), SPAN("c", 1));
    del_range_one(w, &p, SPAN("w", 1), SPAN("c", 1));
    del_range_one(w, &p, SPAN_NONE, SPAN("", 0));
    assert_letters(w, 2, "abcw");
    del_range_one(w, &p, SPAN_NONE, SPAN("b", 1));
    assert_letters(w, 2, "bcw");
    del_range_one(w, &p, SPAN("", 0), SPAN_NONE);
    assert_letters(w, 2, "");
    assert_letters(w, 1, "abcdefghijklmnopqrstuvwxyz");
    assert_letters(w, 3, "abcdefghijklmnopqrstuvwxyz");
}

/* The whole of P, where P's bytes are all FF: there is no byte string behind it to stop at. */
static void test_del_range__the_last_place_of_all_is_like_any_other(void **state)
{
    struct world *w = *state;
    uint8_t ones[16];
    memset(ones, 0xFF, sizeof ones);
    sheaf_place last = sheaf_place_make(1, ones), first = sheaf_place_make(2, (uint8_t[16]){0});
    put_text(w, key_at(last, SPAN("\xFF\xFF", 2)), "v");
    put_text(w, key_at(last, SPAN("", 0)), "v");
    put_text(w, key_at(first, SPAN("", 0)), "kept");
    del_range_one(w, &last, SPAN("", 0), SPAN_NONE);
    struct rows r = space_now(w, 1);
    assert_int_equal(r.n, 0);
    rows_free(&r);
    assert_text(w, key_at(first, SPAN("", 0)), "kept");
}

static void test_del_range__takes_earlier_writes_of_its_transaction(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    const int64_t one = 1;
    sheaf_engine_key n = key_of(1, "n");
    put_text(w, key_of(1, "b"), "old");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    txn_put(t, key_of(1, "b"), "new");
    txn_put(t, key_of(1, "c"), "new");
    txn_put(t, key_of(1, "x"), "new");
    assert_ok(eng_add(t, &n, 1, &one, NULL));
    assert_ok(eng_del_range(t, &p, SPAN("a", 1), SPAN("p", 1), NULL));
    assert_ok(txn_commit(w, t));
    assert_letters(w, 1, "x");
}

static void test_del_range__puts_after_it_survive(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    fill_letters(w, 1);
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    txn_put(t, key_of(1, "d"), "early");
    assert_ok(eng_del_range(t, &p, SPAN("", 0), SPAN_NONE, NULL));
    txn_put(t, key_of(1, "m"), "late");
    txn_put(t, key_of(1, "q"), "late");
    assert_ok(eng_del_range(t, &p, SPAN("q", 1), SPAN_NONE, NULL));
    txn_put(t, key_of(1, "q"), "later");
    assert_ok(txn_commit(w, t));
    assert_letters(w, 1, "mq");
    assert_text(w, key_of(1, "m"), "late");
    assert_text(w, key_of(1, "q"), "later");
}

/* As the keys are at commit, not as they were when del_range was called. */
static void test_del_range__takes_keys_committed_by_others_meanwhile(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    put_text(w, key_of(1, "a"), "old");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_ok(eng_del_range(t, &p, SPAN("", 0), SPAN_NONE, NULL));
    put_text(w, key_of(1, "b"), "between");
    put_text(w, key_of(1, "a"), "between");
    assert_ok(txn_commit(w, t));
    assert_letters(w, 1, "");
}

static void test_get__many_keys_at_once_with_some_absent(void **state)
{
    struct world *w = *state;
    enum { N = 100 };
    sheaf_engine_key keys[N];
    span values[N];
    for (uint64_t i = 0; i < N; i++) {
        keys[i] = key_of(i / 4, i % 2 ? "odd" : "");
        if (i % 3 == 0) put_one(w, keys[i], SPAN(&i, 8));
        values[i] = SPAN("junk", 4);
    }
    for (int mode = SHEAF_TXN_RW; mode <= SHEAF_TXN_STALE; mode++) {
        sheaf_txn *t = txn_begin(w, (enum sheaf_txn_mode)mode);
        assert_ok(eng_get(t, N, keys, values, NULL));
        for (uint64_t i = 0; i < N; i++) {
            bool stored = false; /* keys repeat: i and i + 2 may be the same */
            uint64_t last = 0;
            for (uint64_t j = 0; j < N; j++)
                if (j % 3 == 0 && key_cmp(&keys[i], &keys[j]) == 0) stored = true, last = j;
            if (!stored)
                assert_null(values[i].p);
            else
                assert_true(span_eq(values[i], SPAN(&last, 8)));
        }
        assert_ok(eng_get(t, 0, keys, values, NULL));
        assert_ok(txn_commit(w, t));
    }
}

static void churn(struct world *w, sheaf_engine_key k)
{
    static char big[5000];
    for (int i = 0; i < 50; i++) {
        memset(big, 'A' + i % 26, sizeof big);
        put_one(w, k, SPAN(big, (size_t)(i * 100)));
    }
    del_one(w, k);
    del_range_one(w, &k.p, SPAN("", 0), SPAN_NONE);
}

static void test_get__bytes_stay_until_the_transaction_ends(void **state)
{
    struct world *w = *state;
    sheaf_engine_key k = key_of(1, "k"), tiny = key_of(1, "tiny");
    char text[1000];
    memset(text, 'v', sizeof text);
    for (int mode = SHEAF_TXN_RW; mode <= SHEAF_TXN_SNAPSHOT; mode++) {
        put_one(w, k, SPAN(text, sizeof text));
        put_text(w, tiny, "t");
        sheaf_txn *t = txn_begin(w, (enum sheaf_txn_mode)mode);
        span a = txn_get(t, k), b = txn_get(t, tiny);
        churn(w, k);
        churn(w, tiny);
        for (uint64_t i = 0; i < 300; i++) txn_get(t, key_of(i, "k")); /* more of its own reads */
        if (mode == SHEAF_TXN_RW) txn_put(t, k, "mine");
        assert_true(span_eq(a, SPAN(text, sizeof text)));
        assert_span(b, "t");
        txn_rollback(w, t);
    }
}

static void test_read__pin_stays_valid_while_overwritten_and_deleted(void **state)
{
    struct world *w = *state;
    sheaf_engine_key k = key_of(1, "k");
    span value[3];
    void *pin[3];
    for (int i = 0; i < 3; i++) {
        put_text(w, k, i == 0 ? "zero" : i == 1 ? "one" : "two");
        pin_read(w, &k, &value[i], &pin[i]);
    }
    churn(w, k);
    assert_ok(eng_drop_space(w->e, 1, NULL));
    assert_span(value[1], "one");
    pin_done(w, pin[1]);
    assert_span(value[0], "zero");
    assert_span(value[2], "two");
    pin_done(w, pin[2]);
    pin_done(w, pin[0]);
    eng_read_done(w->e, NULL);
}

static void test_read__sees_every_commit_at_once(void **state)
{
    struct world *w = *state;
    for (uint64_t i = 0; i < 500; i++) {
        put_one(w, key_of(i % 7, "k"), SPAN(&i, 8));
        assert_stored(w, key_of(i % 7, "k"), SPAN(&i, 8));
    }
}

struct case_list cases_write(void)
{
    static const struct CMUnitTest cases[] = {
        CASE(test_put__stores_what_was_given_and_overwrites),
        CASE(test_put__copies_its_key_at_once),
        CASE(test_put__an_empty_value_is_not_an_absent_one),
        CASE(test_del__of_an_absent_key_is_fine),
        CASE(test_commit__the_last_write_of_a_key_wins),
        CASE(test_del_range__deletes_from_lo_up_to_hi_and_nothing_else),
        CASE(test_del_range__the_last_place_of_all_is_like_any_other),
        CASE(test_del_range__takes_earlier_writes_of_its_transaction),
        CASE(test_del_range__puts_after_it_survive),
        CASE(test_del_range__takes_keys_committed_by_others_meanwhile),
        CASE(test_get__many_keys_at_once_with_some_absent),
        CASE(test_get__bytes_stay_until_the_transaction_ends),
        CASE(test_read__pin_stays_valid_while_overwritten_and_deleted),
        CASE(test_read__sees_every_commit_at_once),
    };
    return (struct case_list){cases, sizeof cases / sizeof cases[0], false};
}
