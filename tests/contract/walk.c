/* Walks over a space: segments, resuming, limits. */
#include "contract/contract.h"

#include <math.h>

enum { N_PLACES = 4000, SPACE = 7 };

/* One key in most places, three in every tenth; neighbours in the spaces before and after. */
static size_t fill_space(struct world *w)
{
    size_t n = 0;
    for (uint64_t i = 0; i < N_PLACES;) {
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        for (int batch = 0; batch < 200; batch++, i++) {
            sheaf_place p = place_of(SPACE, i);
            for (int s = 0; s < (i % 10 ? 1 : 3); s++, n++) {
                const char *text = &"abc"[s];
                sheaf_engine_key k = key_at(p, SPAN(text, 1));
                assert_ok(eng_put(t, &k, SPAN(&i, 8), NULL));
            }
        }
        assert_ok(txn_commit(w, t));
    }
    put_text(w, key_at(place_of(SPACE - 1, 1), SPAN("a", 1)), "other");
    put_text(w, key_at(place_of(SPACE + 1, 1), SPAN("a", 1)), "other");
    return n;
}

static void assert_grouped_and_ordered(const struct rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        assert_true(sheaf_place_space(&r->row[i].key.p) == SPACE);
        if (i == 0) continue;
        bool same = memcmp(r->row[i].key.p.b, r->row[i - 1].key.p.b, SHEAF_PLACE_BYTES) == 0;
        if (same) assert_true(span_cmp(r->row[i - 1].key.s, r->row[i].key.s) < 0);
    }
}

static int by_key(const void *a, const void *b)
{
    return key_cmp(&((const struct sheaf_row *)a)->key, &((const struct sheaf_row *)b)->key);
}

/* After sorting, every key exactly once: the segments are disjoint and complete, and no place was
 * met twice. */
static void assert_whole_space(struct rows *r, size_t n)
{
    assert_int_equal(r->n, n);
    qsort(r->row, r->n, sizeof r->row[0], by_key);
    for (size_t i = 1; i < r->n; i++) assert_true(key_cmp(&r->row[i - 1].key, &r->row[i].key) < 0);
}

static void assert_even(size_t got, uint32_t n_segments)
{
    double mean = (double)N_PLACES / n_segments, bound = 7 * sqrt(mean) + 10;
    if (fabs((double)got - mean) > bound)
        fail_msg("%zu places in one of %u segments, wanted %.1f +- %.1f", got, n_segments, mean,
                 bound);
}

static size_t count_places(const struct rows *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += i == 0 || memcmp(r->row[i].key.p.b, r->row[i - 1].key.p.b, SHEAF_PLACE_BYTES) != 0;
    return n;
}

static void move_rows(struct rows *to, struct rows *from)
{
    for (size_t i = 0; i < from->n; i++) rows_add(to, &from->row[i]);
    rows_free(from);
}

static void test_walk__segments_are_disjoint_complete_and_even(void **state)
{
    struct world *w = *state;
    size_t n = fill_space(w);
    static const uint32_t counts[] = {0, 1, 2, 7, 1000};
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (size_t i = 0; i < 5; i++) {
        struct rows all = {0};
        for (uint32_t segment = 0; segment < (counts[i] ? counts[i] : 1); segment++) {
            struct sheaf_walk walk = {SPACE, segment, counts[i], NULL, 0, 0};
            struct rows r = rows_walk(t, &walk);
            assert_grouped_and_ordered(&r);
            assert_even(count_places(&r), counts[i] ? counts[i] : 1);
            move_rows(&all, &r);
        }
        assert_whole_space(&all, n);
        rows_free(&all);
    }
    txn_rollback(w, t);
}

/* Pages of `max` rows; the concatenation must be the walk in one piece. */
static struct rows walk_in_pages(sheaf_txn *t, struct sheaf_walk walk)
{
    struct rows all = {0};
    for (;;) {
        sheaf_engine_key after;
        if (all.n) after = all.row[all.n - 1].key, walk.after = &after;
        struct rows page = rows_walk(t, &walk);
        bool is_end = page.n == 0;
        if (walk.max_rows) assert_true(page.n <= walk.max_rows);
        assert_true(all.n <= 2 * N_PLACES); /* it would go on for ever */
        move_rows(&all, &page);
        if (is_end) return all;
    }
}

static void test_walk__after_resumes_where_a_page_ended(void **state)
{
    struct world *w = *state;
    fill_space(w);
    static const uint32_t counts[] = {1, 2, 7};
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (size_t i = 0; i < 3; i++) {
        struct sheaf_walk walk = {SPACE, counts[i] - 1, counts[i], NULL, 0, 0};
        struct rows whole = rows_walk(t, &walk);
        for (uint32_t max = 1; max < 2000; max = max * 7 + 1) {
            walk.max_rows = max;
            struct rows pages = walk_in_pages(t, walk);
            assert_rows_equal(&whole, &pages);
            rows_free(&pages);
        }
        rows_free(&whole);
    }
    txn_rollback(w, t);
}

/* `after` names a place in the order, not a row that must still be there. */
static void test_walk__after_a_key_deleted_meanwhile_goes_on_behind_it(void **state)
{
    struct world *w = *state;
    size_t n = fill_space(w);
    struct rows whole = space_now(w, SPACE);
    assert_int_equal(whole.n, n);
    for (size_t i = 5; i < n; i += n / 5) {
        del_one(w, whole.row[i].key);
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
        struct rows r = rows_walk(t, &(struct sheaf_walk){SPACE, 0, 1, &whole.row[i].key, 1, 0});
        txn_rollback(w, t);
        assert_int_equal(r.n, i + 1 < n);
        if (r.n) assert_int_equal(key_cmp(&r.row[0].key, &whole.row[i + 1].key), 0);
        rows_free(&r);
    }
    rows_free(&whole);
}

/* S and value of each row here: 1 + 8 bytes. */
static void test_walk__max_bytes_includes_the_row_that_reaches_it(void **state)
{
    struct world *w = *state;
    fill_space(w);
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (uint64_t max = 1; max < 100; max++) {
        struct rows r = rows_walk(t, &(struct sheaf_walk){SPACE, 0, 1, NULL, 0, max});
        if (r.n != (size_t)(max + 8) / 9) fail_msg("max_bytes %zu: %zu rows", (size_t)max, r.n);
        rows_free(&r);
    }
    struct rows r = rows_walk(t, &(struct sheaf_walk){SPACE, 0, 1, NULL, 5, 1000});
    assert_int_equal(r.n, 5);
    rows_free(&r);
    txn_rollback(w, t);
}

/* The first and the last hash there are, and both sides of each border between two segments. */
static void test_walk__keys_on_segment_borders_belong_to_exactly_one(void **state)
{
    struct world *w = *state;
    uint8_t hash[16];
    size_t n = 0;
    for (unsigned high = 0; high < 256; high++)
        for (int low = 0; low < 2; low++, n++) {
            memset(hash, low ? 0xFF : 0, sizeof hash);
            hash[0] = (uint8_t)high;
            put_text(w, key_at(sheaf_place_make(SPACE, hash), SPAN("", 0)), "x");
        }
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (uint32_t segments = 1; segments <= 512; segments = segments * 2 + segments / 5) {
        struct rows all = {0};
        for (uint32_t i = 0; i < segments; i++) {
            struct rows r = rows_walk(t, &(struct sheaf_walk){SPACE, i, segments, NULL, 0, 0});
            move_rows(&all, &r);
        }
        assert_whole_space(&all, n);
        rows_free(&all);
    }
    txn_rollback(w, t);
}

static void test_walk__refuses_segments_that_are_not_there(void **state)
{
    struct world *w = *state;
    fill_space(w);
    static const struct {
        uint32_t segment, n_segments;
        sheaf_rc rc;
    } rows[] = {
        {0, 0, SHEAF_OK},
        {1, 0, SHEAF_VALIDATION},
        {1, 1, SHEAF_VALIDATION},
        {7, 7, SHEAF_VALIDATION},
        {UINT32_MAX, 7, SHEAF_VALIDATION},
        {999999, 1000000, SHEAF_OK},
        {1000000, 1000000, SHEAF_VALIDATION},
        {0, 1000001, SHEAF_VALIDATION},
        {0, UINT32_MAX, SHEAF_VALIDATION},
    };
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sheaf_cursor *c = NULL;
        struct sheaf_walk walk = {SPACE, rows[i].segment, rows[i].n_segments, NULL, 0, 0};
        sheaf_rc rc = eng_walk(t, &walk, &c, NULL);
        if (rc != rows[i].rc) fail_msg("row %zu: rc %d", i, (int)rc);
        assert_true((c != NULL) == (rc == SHEAF_OK));
        eng_cursor_close(c);
    }
    txn_rollback(w, t);
}

static void test_walk__of_an_empty_space_is_empty(void **state)
{
    struct world *w = *state;
    put_text(w, key_at(place_of(SPACE - 1, 1), SPAN("a", 1)), "x");
    put_text(w, key_at(place_of(SPACE + 1, 1), SPAN("a", 1)), "x");
    struct rows r = space_now(w, SPACE);
    assert_int_equal(r.n, 0);
    rows_free(&r);
}

struct case_list cases_walk(void)
{
    static const struct CMUnitTest cases[] = {
        CASE(test_walk__segments_are_disjoint_complete_and_even),
        CASE(test_walk__after_resumes_where_a_page_ended),
        CASE(test_walk__after_a_key_deleted_meanwhile_goes_on_behind_it),
        CASE(test_walk__max_bytes_includes_the_row_that_reaches_it),
        CASE(test_walk__keys_on_segment_borders_belong_to_exactly_one),
        CASE(test_walk__refuses_segments_that_are_not_there),
        CASE(test_walk__of_an_empty_space_is_empty),
    };
    return (struct case_list){cases, sizeof cases / sizeof cases[0], false};
}
