/* Ranges: the order of S, both ways, and where they begin and stop. */
#include "contract/contract.h"

/* In order already: nothing, zeros, bytes on both sides of 0x7F/0x80, FF and more FF. */
static const span sorted[] = {
    {"", 0},       {"\0", 1},       {"\0\0", 2},     {"\0\1", 2},
    {"\0\xFF", 2}, {"\1", 1},       {"\1\0", 2},     {"A", 1},
    {"A\0", 2},    {"A\0B", 3},     {"A\1", 2},      {"AA", 2},
    {"A\xFF", 2},  {"B", 1},        {"\x7F", 1},     {"\x80", 1},
    {"\xFE", 1},   {"\xFE\xFF", 2}, {"\xFF", 1},     {"\xFF\0", 2},
    {"\xFF\1", 2}, {"\xFF\xFE", 2}, {"\xFF\xFF", 2}, {"\xFF\xFF\xFF", 3},
};
enum { N_SORTED = sizeof sorted / sizeof sorted[0] };

/* In shuffled order, one transaction each; the value is the place in the order. */
static void fill_sorted(struct world *w, sheaf_place p)
{
    for (size_t i = 0; i < N_SORTED; i++) {
        uint8_t at = (uint8_t)(i * 7 % N_SORTED);
        put_one(w, key_at(p, sorted[at]), SPAN(&at, 1));
    }
}

static void assert_is_sorted_at(const struct rows *r, size_t i, size_t at)
{
    if (!span_eq(r->row[i].key.s, sorted[at])) fail_msg("row %zu is not key %zu", i, at);
    assert_int_equal(r->row[i].value.n, 1);
    assert_int_equal(*(const uint8_t *)r->row[i].value.p, at);
}

static void test_range__orders_s_by_unsigned_bytes(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    assert_true(N_SORTED % 7 != 0);
    fill_sorted(w, p);
    struct rows r = rows_now(w, p);
    assert_int_equal(r.n, N_SORTED);
    for (size_t i = 0; i < N_SORTED; i++) assert_is_sorted_at(&r, i, i);
    rows_free(&r);
}

static void test_range__reverse_is_the_mirror(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    fill_sorted(w, p);
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    struct rows r = rows_range(t, &(struct sheaf_range){.p = p, .is_reverse = true});
    assert_int_equal(r.n, N_SORTED);
    for (size_t i = 0; i < N_SORTED; i++) assert_is_sorted_at(&r, i, N_SORTED - 1 - i);
    rows_free(&r);
    txn_rollback(w, t);
}

/* Every pair of bounds, present keys and absent ones, both ways, against the table above. */
static void test_range__lo_is_inclusive_and_hi_exclusive(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    for (uint8_t i = 0; i < N_SORTED; i += 2) put_one(w, key_at(p, sorted[i]), SPAN(&i, 1));
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (size_t lo = 0; lo < N_SORTED; lo++) {
        for (size_t hi = 0; hi <= N_SORTED; hi++) {
            struct sheaf_range range = {.p = p, .lo = sorted[lo]};
            if (hi < N_SORTED) range.hi = sorted[hi];
            size_t first = lo + lo % 2, n = hi > first ? (hi - first + 1) / 2 : 0;
            struct rows a = rows_range(t, &range);
            range.is_reverse = true;
            struct rows b = rows_range(t, &range);
            if (a.n != n || b.n != n) fail_msg("[%zu, %zu): %zu and %zu rows", lo, hi, a.n, b.n);
            for (size_t i = 0; i < n; i++) {
                assert_is_sorted_at(&a, i, first + 2 * i);
                assert_is_sorted_at(&b, n - 1 - i, first + 2 * i);
            }
            rows_free(&a);
            rows_free(&b);
        }
    }
    txn_rollback(w, t);
}

/* hi of no bytes is a bound before everything; hi.p == NULL is none. */
static void test_range__an_empty_hi_is_not_an_unbounded_one(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    fill_sorted(w, p);
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (int reverse = 0; reverse < 2; reverse++) {
        struct rows r =
            rows_range(t, &(struct sheaf_range){.p = p, .hi = SPAN("", 0), .is_reverse = reverse});
        assert_int_equal(r.n, 0);
        rows_free(&r);
        r = rows_range(t, &(struct sheaf_range){.p = p, .lo = SPAN("", 0), .is_reverse = reverse});
        assert_int_equal(r.n, N_SORTED);
        rows_free(&r);
        r = rows_range(t,
                       &(struct sheaf_range){
                           .p = p, .lo = SPAN("B", 1), .hi = SPAN("A", 1), .is_reverse = reverse});
        assert_int_equal(r.n, 0);
        rows_free(&r);
    }
    txn_rollback(w, t);
}

/* Places one bit apart, neighbours in byte order, at both ends of a space and across spaces. */
static void test_range__different_places_never_mix(void **state)
{
    struct world *w = *state;
    sheaf_place p[12] = {0};
    uint8_t zeros[16] = {0}, ones[16];
    memset(ones, 0xFF, sizeof ones);
    for (size_t i = 0; i < 3; i++) {
        p[4 * i] = sheaf_place_make(0x1FF + i, zeros);
        p[4 * i + 1] = sheaf_place_make(0x1FF + i, ones);
        p[4 * i + 2] = p[4 * i], p[4 * i + 2].b[23] = 1;
        p[4 * i + 3] = p[4 * i + 1], p[4 * i + 3].b[23] = 0xFE;
    }
    for (uint8_t i = 0; i < 12; i++)
        for (size_t s = 0; s < N_SORTED; s++) {
            uint8_t value[2] = {i, (uint8_t)s};
            put_one(w, key_at(p[i], sorted[s]), SPAN(value, 2));
        }
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (size_t i = 0; i < 12; i++)
        for (int reverse = 0; reverse < 2; reverse++) {
            struct rows r = rows_range(t, &(struct sheaf_range){.p = p[i], .is_reverse = reverse});
            assert_int_equal(r.n, N_SORTED);
            for (size_t s = 0; s < N_SORTED; s++) {
                const uint8_t *value = r.row[s].value.p;
                assert_memory_equal(r.row[s].key.p.b, p[i].b, sizeof p[i].b);
                assert_int_equal(value[0], i);
                assert_int_equal(value[1], reverse ? N_SORTED - 1 - s : s);
            }
            rows_free(&r);
        }
    txn_rollback(w, t);
}

static void test_range__of_an_empty_place_is_empty(void **state)
{
    struct world *w = *state;
    struct rows r = rows_now(w, place_of(1, 5));
    assert_int_equal(r.n, 0);
    rows_free(&r);
    put_text(w, key_of(4, "a"), "x");
    put_text(w, key_of(6, "a"), "x");
    r = rows_now(w, place_of(1, 5));
    assert_int_equal(r.n, 0);
    rows_free(&r);
}

static void test_range__max_rows_stops_it(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    fill_sorted(w, p);
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (uint32_t max = 1; max < N_SORTED + 3; max++)
        for (int reverse = 0; reverse < 2; reverse++) {
            struct rows r = rows_range(
                t, &(struct sheaf_range){.p = p, .max_rows = max, .is_reverse = reverse});
            size_t n = max < N_SORTED ? max : N_SORTED;
            assert_int_equal(r.n, n);
            for (size_t i = 0; i < n; i++)
                assert_is_sorted_at(&r, i, reverse ? N_SORTED - 1 - i : i);
            rows_free(&r);
        }
    txn_rollback(w, t);
}

/* Rows of 10 bytes each (S 2, value 8): the row that reaches the limit is still returned. */
static void test_range__max_bytes_includes_the_row_that_reaches_it(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    for (int i = 0; i < 20; i++) {
        char s[12];
        snprintf(s, sizeof s, "%02d", i);
        put_text(w, key_at(p, SPAN(s, 2)), "12345678");
    }
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (uint64_t max = 1; max < 250; max++)
        for (int reverse = 0; reverse < 2; reverse++) {
            struct rows r = rows_range(
                t, &(struct sheaf_range){.p = p, .max_bytes = max, .is_reverse = reverse});
            size_t want = (size_t)(max + 9) / 10;
            if (r.n != (want < 20 ? want : 20))
                fail_msg("max_bytes %zu: %zu rows", (size_t)max, r.n);
            rows_free(&r);
        }
    txn_rollback(w, t);
}

/* A cursor that has ended stays ended. */
static void test_next__after_the_end_is_the_end(void **state)
{
    struct world *w = *state;
    put_text(w, key_of(1, "a"), "x");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    sheaf_cursor *c;
    assert_ok(eng_range(t, &(struct sheaf_range){.p = place_of(1, 1)}, &c, NULL));
    for (int i = 0; i < 5; i++) {
        struct sheaf_row row;
        bool has_row;
        assert_ok(eng_next(c, &row, &has_row, NULL));
        assert_int_equal(has_row, i == 0);
    }
    eng_cursor_close(c);
    txn_rollback(w, t);
}

/* The bounds are borrowed for the call of range() only. */
static void test_range__keeps_its_own_copy_of_the_bounds(void **state)
{
    struct world *w = *state;
    sheaf_place p = place_of(1, 1);
    for (char s[2] = "a"; s[0] <= 'z'; s[0]++) put_text(w, key_at(p, SPAN(s, 1)), "x");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    for (int reverse = 0; reverse < 2; reverse++) {
        char lo[2] = "f", hi[2] = "k";
        sheaf_cursor *c;
        struct sheaf_range range = {
            .p = p, .lo = SPAN(lo, 1), .hi = SPAN(hi, 1), .is_reverse = reverse};
        assert_ok(eng_range(t, &range, &c, NULL));
        lo[0] = 'a', hi[0] = 'z';
        memset(&range, 0xAA, sizeof range);
        struct rows r = rows_of(c);
        assert_int_equal(r.n, 5);
        assert_span(r.row[0].key.s, reverse ? "j" : "f");
        rows_free(&r);
    }
    txn_rollback(w, t);
}

struct case_list cases_order(void)
{
    static const struct CMUnitTest cases[] = {
        CASE(test_range__orders_s_by_unsigned_bytes),
        CASE(test_range__reverse_is_the_mirror),
        CASE(test_range__lo_is_inclusive_and_hi_exclusive),
        CASE(test_range__an_empty_hi_is_not_an_unbounded_one),
        CASE(test_range__different_places_never_mix),
        CASE(test_range__of_an_empty_place_is_empty),
        CASE(test_range__max_rows_stops_it),
        CASE(test_range__max_bytes_includes_the_row_that_reaches_it),
        CASE(test_next__after_the_end_is_the_end),
        CASE(test_range__keeps_its_own_copy_of_the_bounds),
    };
    return (struct case_list){cases, sizeof cases / sizeof cases[0], false};
}
