/* Transactions: what they see, and which commits are refused. */
#include "contract/contract.h"

static void test_snapshot__sees_nothing_committed_later(void **state)
{
    struct world *w = *state;
    put_text(w, key_of(1, "a"), "old");
    put_text(w, key_of(1, "b"), "gone later");
    sheaf_txn *snap = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    sheaf_txn *stale = txn_begin(w, SHEAF_TXN_STALE);
    put_text(w, key_of(1, "a"), "new");
    del_one(w, key_of(1, "b"));
    put_text(w, key_of(1, "c"), "came later");
    sheaf_place p = place_of(1, 1);
    for (int i = 0; i < 2; i++) {
        assert_span(txn_get(snap, key_of(1, "a")), "old");
        assert_span(txn_get(snap, key_of(1, "b")), "gone later");
        assert_null(txn_get(snap, key_of(1, "c")).p);
        struct rows r = rows_range(snap, &(struct sheaf_range){.p = p});
        assert_int_equal(r.n, 2);
        assert_span(r.row[0].value, "old");
        rows_free(&r);
        r = rows_walk(snap, &(struct sheaf_walk){.space = 1});
        assert_int_equal(r.n, 2);
        rows_free(&r);
        del_range_one(w, &p, SPAN("", 0), SPAN_NONE);
    }
    assert_null(txn_get(stale, key_of(1, "c")).p);
    txn_rollback(w, stale);
    txn_rollback(w, snap);
    assert_absent(w, key_of(1, "a"));
}

static void fill(struct world *w, uint64_t n, int count, const char *value)
{
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    for (int i = 0; i < count; i++) {
        char s[12];
        snprintf(s, sizeof s, "%04d", i);
        txn_put(t, key_of(n, s), value);
    }
    assert_ok(txn_commit(w, t));
}

/* Cursors in the middle of their range, while everything under them is overwritten and deleted. */
static void test_snapshot__cursors_held_open_see_nothing_committed_later(void **state)
{
    struct world *w = *state;
    enum { N = 1000, CURSORS = 6 };
    sheaf_place p = place_of(1, 1);
    fill(w, 1, N, "old");
    sheaf_txn *snap = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    sheaf_cursor *c[CURSORS];
    size_t seen[CURSORS] = {0};
    for (int i = 0; i < CURSORS; i++) {
        struct sheaf_range range = {.p = p, .is_reverse = i % 3 == 1};
        struct sheaf_walk walk = {.space = 1};
        assert_ok(i % 3 == 2 ? eng_walk(snap, &walk, &c[i], NULL)
                             : eng_range(snap, &range, &c[i], NULL));
    }
    for (int round = 0; round < N + 1; round++) {
        for (int i = 0; i < CURSORS; i++) {
            struct sheaf_row row;
            bool has_row;
            assert_ok(eng_next(c[i], &row, &has_row, NULL));
            assert_int_equal(has_row, round < N);
            if (!has_row) continue;
            char want[12];
            snprintf(want, sizeof want, "%04d", i % 3 == 1 ? N - 1 - round : round);
            assert_span(row.key.s, want);
            assert_span(row.value, "old");
            seen[i]++;
        }
        if (round % 100 == 50) fill(w, 1, N + round, "new");
        if (round % 100 == 99) del_range_one(w, &p, SPAN("0100", 4), SPAN("0900", 4));
    }
    for (int i = 0; i < CURSORS; i++) {
        assert_int_equal(seen[i], N);
        eng_cursor_close(c[i]);
    }
    txn_rollback(w, snap);
}

/* Many snapshots of one key, each remembering another moment, released in another order. */
static void test_snapshot__many_moments_are_kept_apart(void **state)
{
    struct world *w = *state;
    enum { N = 40 };
    sheaf_txn *snap[N];
    char text[12];
    for (int i = 0; i < N; i++) {
        snap[i] = txn_begin(w, SHEAF_TXN_SNAPSHOT);
        snprintf(text, sizeof text, "%d", i);
        put_text(w, key_of(1, "k"), text);
    }
    assert_null(txn_get(snap[0], key_of(1, "k")).p);
    for (int i = 1; i < N; i++) {
        int at = 1 + i * 7 % (N - 1);
        snprintf(text, sizeof text, "%d", at - 1);
        assert_span(txn_get(snap[at], key_of(1, "k")), text);
        txn_rollback(w, snap[at]);
    }
    txn_rollback(w, snap[0]);
}

static void test_snapshot__commit_is_allowed_and_changes_nothing(void **state)
{
    struct world *w = *state;
    put_text(w, key_of(1, "a"), "old");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    assert_span(txn_get(t, key_of(1, "a")), "old");
    put_text(w, key_of(1, "a"), "new");
    assert_ok(txn_commit(w, t)); /* one moment: true at that moment, so never a conflict */
    assert_text(w, key_of(1, "a"), "new");
}

static void test_snapshot__refuses_writes(void **state)
{
    struct world *w = *state;
    const int64_t one = 1;
    put_text(w, key_of(1, "a"), "old");
    for (int mode = SHEAF_TXN_SNAPSHOT; mode <= SHEAF_TXN_STALE; mode++) {
        sheaf_txn *t = txn_begin(w, (enum sheaf_txn_mode)mode);
        sheaf_engine_key k = key_of(1, "a");
        assert_true(eng_put(t, &k, SPAN("x", 1), NULL) != SHEAF_OK);
        assert_true(eng_del(t, &k, NULL) != SHEAF_OK);
        assert_true(eng_del_range(t, &k.p, SPAN("", 0), SPAN_NONE, NULL) != SHEAF_OK);
        assert_true(eng_add(t, &k, 1, &one, NULL) != SHEAF_OK);
        assert_true(eng_append(t, &k.p, SPAN("x", 1), NULL) != SHEAF_OK);
        assert_span(txn_get(t, k), "old");
        txn_rollback(w, t);
    }
    struct rows r = rows_now(w, place_of(1, 1));
    assert_int_equal(r.n, 1);
    rows_free(&r);
    assert_text(w, key_of(1, "a"), "old");
}

static void test_rw__does_not_see_its_own_writes(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    const int64_t one = 1;
    put_text(w, key_of(1, "a"), "old");
    put_text(w, key_of(1, "b"), "old");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    sheaf_engine_key b = key_of(1, "b"), n = key_of(1, "n");
    txn_put(t, key_of(1, "a"), "new");
    txn_put(t, key_of(1, "c"), "new");
    assert_ok(eng_del(t, &b, NULL));
    assert_ok(eng_add(t, &n, 1, &one, NULL));
    assert_ok(eng_append(t, &p, SPAN("x", 1), NULL));
    assert_span(txn_get(t, key_of(1, "a")), "old");
    assert_span(txn_get(t, b), "old");
    assert_null(txn_get(t, key_of(1, "c")).p);
    assert_null(txn_get(t, n).p);
    struct rows r = rows_range(t, &(struct sheaf_range){.p = p});
    assert_int_equal(r.n, 2);
    assert_span(r.row[0].value, "old");
    rows_free(&r);
    r = rows_walk(t, &(struct sheaf_walk){.space = 1});
    assert_int_equal(r.n, 2);
    rows_free(&r);
    assert_ok(txn_commit(w, t));
    assert_text(w, key_of(1, "a"), "new");
    assert_absent(w, b);
}

static void test_rollback__leaves_nothing(void **state)
{
    struct world *w = *state;
    const int64_t one = 1;
    put_text(w, key_of(1, "a"), "old");
    sheaf_position before = eng_visible(w->e);
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    sheaf_engine_key a = key_of(1, "a"), n = key_of(1, "n");
    txn_put(t, key_of(1, "b"), "x");
    assert_ok(eng_del(t, &a, NULL));
    assert_ok(eng_add(t, &n, 1, &one, NULL));
    assert_ok(eng_append(t, &a.p, SPAN("x", 1), NULL));
    assert_ok(eng_del_range(t, &a.p, SPAN("", 0), SPAN_NONE, NULL));
    txn_rollback(w, t);
    assert_text(w, a, "old");
    struct rows r = rows_now(w, a.p);
    assert_int_equal(r.n, 1);
    rows_free(&r);
    assert_true(eng_visible(w->e) == before);
}

/* ---- conflicts ---- */

static void test_commit__refuses_a_lost_update(void **state)
{
    struct world *w = *state;
    for (int present = 0; present < 2; present++) {
        sheaf_engine_key k = key_of(1, present ? "present" : "absent");
        if (present) put_text(w, k, "0");
        sheaf_txn *a = txn_begin(w, SHEAF_TXN_RW), *b = txn_begin(w, SHEAF_TXN_RW);
        txn_get(a, k);
        txn_get(b, k);
        txn_put(a, k, "a");
        txn_put(b, k, "b");
        assert_ok(txn_commit(w, b));
        assert_rc(txn_commit(w, a), SHEAF_CONFLICT);
        assert_text(w, k, "b");
    }
}

/* Also when it puts back the very same bytes. */
static void test_commit__refuses_a_read_that_was_overwritten_with_equal_bytes(void **state)
{
    struct world *w = *state;
    put_text(w, key_of(1, "k"), "same");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    txn_get(t, key_of(1, "k"));
    txn_put(t, key_of(1, "l"), "x");
    put_text(w, key_of(1, "k"), "same");
    assert_rc(txn_commit(w, t), SHEAF_CONFLICT);
    assert_absent(w, key_of(1, "l"));
}

/* Absent, then there, then absent again: the reader must not be fooled. */
static void test_commit__refuses_an_absent_read_that_came_and_went(void **state)
{
    struct world *w = *state;
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_null(txn_get(t, key_of(1, "k")).p);
    txn_put(t, key_of(1, "l"), "x");
    put_text(w, key_of(1, "k"), "here");
    del_one(w, key_of(1, "k"));
    assert_rc(txn_commit(w, t), SHEAF_CONFLICT);
    assert_absent(w, key_of(1, "l"));
}

static void test_commit__refuses_write_skew_on_absent_keys(void **state)
{
    struct world *w = *state;
    sheaf_txn *a = txn_begin(w, SHEAF_TXN_RW), *b = txn_begin(w, SHEAF_TXN_RW);
    assert_null(txn_get(a, key_of(2, "y")).p);
    assert_null(txn_get(b, key_of(1, "x")).p);
    txn_put(a, key_of(1, "x"), "a");
    txn_put(b, key_of(2, "y"), "b");
    assert_ok(txn_commit(w, a));
    assert_rc(txn_commit(w, b), SHEAF_CONFLICT);
    assert_text(w, key_of(1, "x"), "a");
    assert_absent(w, key_of(2, "y"));
}

/* Every kind of write by another transaction makes a read stale, written or read-only. */
static void test_commit__refuses_stale_reads_after_every_kind_of_write(void **state)
{
    struct world *w = *state;
    const sheaf_engine_key k = key_of(1, "number");
    for (int by = 0; by < 5; by++)
        for (int how = 0; how < 4; how++) {
            int64_t seven = 7;
            put_one(w, k, SPAN(&seven, 8));
            sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
            if (how & 1)
                txn_get(t, k);
            else
                assert_ok(eng_guard(t, &k, NULL));
            if (how & 2) txn_put(t, key_of(3, "mine"), "x");
            if (by == 0) put_text(w, k, "12345678");
            if (by == 1) del_one(w, k);
            if (by == 2) add_one(w, k, 1);
            if (by == 3) del_range_one(w, &k.p, SPAN("a", 1), SPAN("z", 1));
            if (by == 4) del_range_one(w, &k.p, SPAN("", 0), SPAN_NONE);
            sheaf_rc rc = txn_commit(w, t);
            if (rc != SHEAF_CONFLICT) fail_msg("write %d, reader %d: rc %d", by, how, (int)rc);
            assert_absent(w, key_of(3, "mine"));
        }
}

static void test_commit__refuses_a_guard_on_an_absent_key_that_appears(void **state)
{
    struct world *w = *state;
    sheaf_engine_key k = key_of(1, "k");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_ok(eng_guard(t, &k, NULL));
    put_text(w, k, "came");
    assert_rc(txn_commit(w, t), SHEAF_CONFLICT);
}

static void test_commit__passes_when_nothing_read_has_changed(void **state)
{
    struct world *w = *state;
    sheaf_engine_key k = key_of(1, "k"), absent = key_of(1, "absent");
    put_text(w, k, "v");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_ok(eng_guard(t, &absent, NULL));
    assert_ok(eng_guard(t, &k, NULL));
    assert_span(txn_get(t, k), "v");
    txn_put(t, k, "w");
    put_text(w, key_of(9, "another"), "x");
    assert_ok(txn_commit(w, t));
    assert_text(w, k, "w");
}

/* A transaction begun long ago may read what was committed since: it reads the latest bytes. */
static void test_rw__reads_the_latest_bytes_not_those_of_its_beginning(void **state)
{
    struct world *w = *state;
    put_text(w, key_of(1, "k"), "1");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    put_text(w, key_of(1, "k"), "2");
    assert_span(txn_get(t, key_of(1, "k")), "2");
    txn_put(t, key_of(1, "k"), "3");
    assert_ok(txn_commit(w, t));
    assert_text(w, key_of(1, "k"), "3");
}

static void test_commit__a_conflict_is_over_with_the_next_attempt(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 3; i++) {
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        txn_get(t, key_of(1, "k"));
        txn_put(t, key_of(1, "k"), "mine");
        if (i < 2) put_text(w, key_of(1, "k"), "theirs");
        assert_rc(txn_commit(w, t), i < 2 ? SHEAF_CONFLICT : SHEAF_OK);
    }
    assert_text(w, key_of(1, "k"), "mine");
}

static void test_commit__blind_writes_do_not_conflict(void **state)
{
    struct world *w = *state;
    const int64_t one = 1;
    sheaf_engine_key k = key_of(1, "k"), n = key_of(1, "n");
    sheaf_txn *a = txn_begin(w, SHEAF_TXN_RW), *b = txn_begin(w, SHEAF_TXN_RW);
    sheaf_txn *c = txn_begin(w, SHEAF_TXN_RW), *d = txn_begin(w, SHEAF_TXN_RW);
    txn_put(a, k, "a");
    txn_put(b, k, "b");
    assert_ok(eng_del(c, &k, NULL));
    txn_put(d, k, "d");
    assert_ok(eng_add(a, &n, 1, &one, NULL));
    assert_ok(eng_add(b, &n, 1, &one, NULL));
    assert_ok(eng_add(d, &n, 1, &one, NULL));
    assert_ok(txn_commit(w, b));
    assert_text(w, k, "b");
    assert_ok(txn_commit(w, a));
    assert_text(w, k, "a");
    assert_ok(txn_commit(w, c));
    assert_absent(w, k);
    assert_ok(txn_commit(w, d));
    assert_text(w, k, "d");
    assert_int_equal(read_number(w, n, 0), 3);
}

/* Reads through a range are not protected, so they never conflict. */
static void test_commit__range_reads_are_not_protected(void **state)
{
    struct world *w = *state;
    put_text(w, key_of(1, "k"), "1");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    struct rows r = rows_range(t, &(struct sheaf_range){.p = place_of(1, 1)});
    rows_free(&r);
    put_text(w, key_of(1, "k"), "2");
    txn_put(t, key_of(1, "l"), "x");
    assert_ok(txn_commit(w, t));
}

/* A refused commit writes none of its parts, whatever they are. */
static void test_commit__a_conflict_leaves_nothing(void **state)
{
    struct world *w = *state;
    const int64_t one = 1;
    sheaf_engine_key k = key_of(1, "k"), n = key_of(2, "n"), gone = key_of(3, "kept");
    sheaf_place log = place_of(1, 4);
    put_text(w, gone, "v");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    txn_get(t, k);
    txn_put(t, key_of(5, "new"), "x");
    assert_ok(eng_add(t, &n, 1, &one, NULL));
    assert_ok(eng_append(t, &log, SPAN("x", 1), NULL));
    assert_ok(eng_del(t, &gone, NULL));
    put_text(w, k, "theirs");
    assert_rc(txn_commit(w, t), SHEAF_CONFLICT);
    assert_absent(w, key_of(5, "new"));
    assert_absent(w, n);
    assert_text(w, gone, "v");
    struct rows r = rows_now(w, log);
    assert_int_equal(r.n, 0);
    rows_free(&r);
}

struct case_list cases_isolation(void)
{
    static const struct CMUnitTest cases[] = {
        CASE(test_snapshot__sees_nothing_committed_later),
        CASE(test_snapshot__cursors_held_open_see_nothing_committed_later),
        CASE(test_snapshot__many_moments_are_kept_apart),
        CASE(test_snapshot__commit_is_allowed_and_changes_nothing),
        CASE(test_snapshot__refuses_writes),
        CASE(test_rw__does_not_see_its_own_writes),
        CASE(test_rollback__leaves_nothing),
        CASE(test_commit__refuses_a_lost_update),
        CASE(test_commit__refuses_a_read_that_was_overwritten_with_equal_bytes),
        CASE(test_commit__refuses_an_absent_read_that_came_and_went),
        CASE(test_commit__refuses_write_skew_on_absent_keys),
        CASE(test_commit__refuses_stale_reads_after_every_kind_of_write),
        CASE(test_commit__refuses_a_guard_on_an_absent_key_that_appears),
        CASE(test_commit__passes_when_nothing_read_has_changed),
        CASE(test_rw__reads_the_latest_bytes_not_those_of_its_beginning),
        CASE(test_commit__a_conflict_is_over_with_the_next_attempt),
        CASE(test_commit__blind_writes_do_not_conflict),
        CASE(test_commit__range_reads_are_not_protected),
        CASE(test_commit__a_conflict_leaves_nothing),
    };
    return (struct case_list){cases, sizeof cases / sizeof cases[0], false};
}
