/* engine/rocks: adds, spaces, copies, verification, memory. */
#include "support/rocks.h"

#include "base/mem.h"
#include "base/rng.h"

/* ---- adds ---- */

enum { COUNTERS = 4 };

/* What the counters should hold; n == 0: absent. */
struct sums {
    int64_t v[COUNTERS][2];
    bool is_there[COUNTERS];
};

static const char *const counter_names[COUNTERS] = {"a", "b", "c", "d"};

/* One random write of a transaction, and what it makes of the sums. */
static void write_randomly(sheaf_txn *t, struct rng *r, struct sums *s)
{
    size_t k = rng_below(r, 8) < 5 ? 0 : rng_below(r, COUNTERS);
    uint64_t what = rng_below(r, 40);
    sheaf_engine_key key = key_of(1, counter_names[k]);
    if (what == 0) {
        assert_ok(eng_del(t, &key, NULL));
        memset(s->v[k], 0, sizeof s->v[k]);
        s->is_there[k] = false;
    } else if (what == 1) {
        uint8_t value[16] = {7, 0, 0, 0, 0, 0, 0, 0, 9};
        assert_ok(eng_put(t, &key, SPAN(value, sizeof value), NULL));
        s->v[k][0] = 7;
        s->v[k][1] = 9;
        s->is_there[k] = true;
    } else if (what == 2) {
        assert_ok(eng_del_range(t, &key.p, SPAN_LIT("b"), SPAN_LIT("d"), NULL));
        memset(s->v[1], 0, 2 * sizeof s->v[1]);
        s->is_there[1] = s->is_there[2] = false;
    } else {
        int64_t d[2] = {(int64_t)rng_below(r, 1000) - 500, (int64_t)rng_below(r, 9)};
        assert_ok(eng_add(t, &key, 2, d, NULL));
        for (int i = 0; i < 2; i++) s->v[k][i] += d[i];
        s->is_there[k] = true;
    }
}

static void assert_sums(sheaf_engine *e, const struct sums *s)
{
    for (size_t k = 0; k < COUNTERS; k++) {
        if (s->is_there[k])
            assert_numbers(e, counter_names[k], 2, s->v[k]);
        else
            assert_value(e, counter_names[k], SPAN_NONE);
    }
}

/* A counter that is written as its sum must not lose anything to the other ways of writing it, in
 * the same transaction or in another, committed or not. */
static void test_add__is_exact_among_all_other_writes(void **state)
{
    struct fixture *f = *state;
    struct rng r;
    rng_init(&r, test_seed(11));
    struct sums sums = {.is_there = {false}};
    sheaf_engine *e = must_open(f->dir);
    for (uint64_t round = 0; round < test_rounds(4000); round++) {
        struct sums after = sums;
        sheaf_txn *t;
        assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
        for (uint64_t n = 1 + rng_below(&r, 6); n > 0; n--) write_randomly(t, &r, &after);
        if (rng_below(&r, 10) == 0) {
            eng_rollback(t);
        } else {
            assert_ok(eng_commit(t, NULL, NULL, NULL));
            sums = after;
        }
        if (rng_below(&r, 3) == 0) assert_sums(e, &sums);
        if (rng_below(&r, 200) == 0) flush_tables(e);
        if (rng_below(&r, 400) == 0) {
            sheaf_engine_close(e);
            e = must_open(f->dir);
        }
    }
    assert_sums(e, &sums);
    assert_ok(eng_verify(e, NULL, NULL, NULL));
    sheaf_engine_close(e);
}

/* A commit that is given up after its adds were summed up: what is known must not be that. */
static void test_add__of_a_refused_commit_counts_for_nothing(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    const int64_t one[2] = {1, 1};
    for (int i = 0; i < 8; i++) add_one(e, "n", 2, one);
    struct eng_writes *w;
    sheaf_txn *t;
    sheaf_engine_key key = key_of(1, "n");
    put_text(e, "x1", "v");
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_add(t, &key, 2, one, NULL));
    assert_ok(eng_del_range(t, &key.p, SPAN_LIT("x"), SPAN_LIT("y"), NULL));
    w = &rocks_txn_of(t)->writes;
    uint64_t max = w->max_bytes;
    w->max_bytes = w->bytes; /* no room for what the range finds */
    assert_rc(eng_commit(t, NULL, NULL, NULL), SHEAF_TOO_LARGE);
    w->max_bytes = max; /* the transaction is kept for the next one */
    for (int i = 0; i < 8; i++) add_one(e, "n", 2, one);
    assert_numbers(e, "n", 2, (int64_t[]){16, 16});
    sheaf_engine_close(e);
}

static void test_add__a_hot_counter_survives_folding_flushing_and_reopening(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    int64_t sum[3] = {0};
    for (int64_t i = 0; i < 2000; i++) {
        int64_t d[3] = {1, -i, INT64_MAX};
        add_one(e, "n", 3, d);
        for (int k = 0; k < 3; k++) sum[k] = (int64_t)((uint64_t)sum[k] + (uint64_t)d[k]);
        if (i % 300 == 0) flush_tables(e);
        if (i % 97 == 0) assert_numbers(e, "n", 3, sum);
        if (i % 700 == 699) {
            sheaf_engine_close(e);
            e = must_open(f->dir);
        }
    }
    assert_numbers(e, "n", 3, sum);
    rocksdb_compact_range(rocks_of(e)->db, NULL, 0, NULL, 0);
    assert_numbers(e, "n", 3, sum);
    assert_ok(eng_verify(e, NULL, NULL, NULL));
    sheaf_engine_close(e);
}

static void test_add__a_longer_vector_counts_the_missing_numbers_as_zero(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    add_one(e, "n", 1, (int64_t[]){5});
    add_one(e, "n", 3, (int64_t[]){1, 2, 3});
    add_one(e, "n", 2, (int64_t[]){10, 10});
    assert_numbers(e, "n", 3, (int64_t[]){16, 12, 3});
    flush_tables(e);
    assert_numbers(e, "n", 3, (int64_t[]){16, 12, 3});
    sheaf_engine_close(e);
}

static void test_add__to_what_is_no_vector_stops_nothing_and_is_told_by_verify(void **state)
{
    struct fixture *f = *state;
    int complaints = 0;
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "n", "hello");
    flush_tables(e);
    add_one(e, "n", 1, (int64_t[]){5});
    assert_value(e, "n", SPAN_LIT("hello"));
    rocksdb_compact_range(rocks_of(e)->db, NULL, 0, NULL, 0);
    assert_value(e, "n", SPAN_LIT("hello"));
    assert_rc(eng_verify(e, count_complaint, &complaints, NULL), SHEAF_CORRUPT);
    assert_int_equal(complaints, 1);
    put_text(e, "still", "alive");
    sheaf_engine_close(e);
}

static void test_add__a_damaged_delta_is_left_out_and_told_by_verify(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    uint8_t bytes[SHEAF_PLACE_BYTES + 1];
    static const char *const names[] = {"a", "b"};
    for (int i = 0; i < 2; i++) { /* onto nothing, onto a sum */
        sheaf_engine_key key = key_of(1, names[i]);
        if (i) add_one(e, names[i], 1, (int64_t[]){5});
        for (size_t n = 0; n < 8; n += 3) {
            char *message = NULL;
            rocksdb_merge(rocks_of(e)->db, rocks_of(e)->h.write, (char *)bytes,
                          rocks_key(bytes, &key), "1234567", n, &message);
            assert_null(message);
        }
    }
    for (int flushed = 0; flushed < 2; flushed++) {
        assert_value(e, "a", SPAN_LIT(""));
        assert_numbers(e, "b", 1, (int64_t[]){5});
        rocksdb_compact_range(rocks_of(e)->db, NULL, 0, NULL, 0);
    }
    assert_rc(eng_verify(e, NULL, NULL, NULL), SHEAF_CORRUPT);
    sheaf_engine_close(e);
}

/* ---- verify, spaces, copies ---- */

static void test_verify__finds_a_key_that_cannot_be_ours(void **state)
{
    struct fixture *f = *state;
    int complaints = 0;
    char *message = NULL;
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "a", "1");
    assert_ok(eng_verify(e, count_complaint, &complaints, NULL));
    rocksdb_put(rocks_of(e)->db, rocks_of(e)->h.write, "short", 5, "", 0, &message);
    assert_null(message);
    assert_rc(eng_verify(e, count_complaint, &complaints, NULL), SHEAF_CORRUPT);
    assert_int_equal(complaints, 1);
    sheaf_engine_close(e);
}

static void test_verify__finds_a_flipped_bit_in_a_table(void **state)
{
    struct fixture *f = *state;
    int complaints = 0;
    char path[600];
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "a", "a value that is long enough to be hit by the bit that flips");
    flush_tables(e);
    sheaf_engine_close(e);
    find_db_file(f->dir, ".sst", path);
    flip(path, 60);
    e = must_open(f->dir);
    assert_rc(eng_verify(e, count_complaint, &complaints, NULL), SHEAF_CORRUPT);
    assert_true(complaints >= 1);
    sheaf_engine_key key = key_of(1, "a");
    span value;
    void *pin;
    assert_rc(eng_read(e, &key, &value, &pin, NULL), SHEAF_CORRUPT);
    sheaf_engine_close(e);
}

static void put_in_space(sheaf_engine *e, uint64_t space, int n)
{
    sheaf_txn *t;
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    for (int i = 0; i < n; i++) {
        char s[20];
        snprintf(s, sizeof s, "%06d", i);
        sheaf_engine_key key = key_of(space, s);
        memset(key.p.b + 8, i % 256, 16);
        assert_ok(eng_put(t, &key, SPAN_LIT("value"), NULL));
    }
    assert_ok(eng_commit(t, NULL, NULL, NULL));
}

static int count_space(sheaf_engine *e, uint64_t space)
{
    sheaf_txn *t;
    sheaf_cursor *c;
    struct sheaf_row row;
    bool has_row;
    int n = -1;
    assert_ok(eng_begin(e, SHEAF_TXN_SNAPSHOT, &t, NULL));
    assert_ok(eng_walk(t, &(struct sheaf_walk){.space = space}, &c, NULL));
    do {
        assert_ok(eng_next(c, &row, &has_row, NULL));
        n++;
    } while (has_row);
    eng_cursor_close(c);
    eng_rollback(t);
    return n;
}

static void test_drop_space__also_the_last_there_is(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    put_in_space(e, UINT64_MAX, 2500); /* more than one commit's worth */
    put_in_space(e, UINT64_MAX - 1, 10);
    for (int flushed = 0; flushed < 2; flushed++) {
        assert_int_equal(count_space(e, UINT64_MAX), 2500);
        assert_ok(eng_drop_space(e, UINT64_MAX, NULL));
        assert_int_equal(count_space(e, UINT64_MAX), 0);
        put_in_space(e, UINT64_MAX, 2500);
        rocksdb_compact_range(rocks_of(e)->db, NULL, 0, NULL, 0);
    }
    assert_int_equal(count_space(e, UINT64_MAX - 1), 10);
    sheaf_engine_close(e);
}

static void test_checkpoint__makes_a_directory_like_the_original(void **state)
{
    struct fixture *f = *state;
    sheaf_error err = {0};
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "a", "1");
    assert_ok(eng_checkpoint(e, f->copy, NULL));
    put_text(e, "a", "2");
    assert_rc(eng_checkpoint(e, f->copy, &err), SHEAF_VALIDATION);
    assert_non_null(strstr(err.message, "exists already"));
    assert_rc(eng_checkpoint(e, "/nonexistent/parent/copy", NULL), SHEAF_IO);
    sheaf_engine *copy = must_open(f->copy);
    assert_value(copy, "a", SPAN_LIT("1"));
    put_text(copy, "a", "3");
    assert_value(e, "a", SPAN_LIT("2"));
    sheaf_engine_close(copy);
    sheaf_engine_close(e);
}

/* ---- del_range ---- */

/* The commit is refused while its batch is being built: nothing is written, and no key counts as
 * written either. */
static void test_del_range__over_the_bound_leaves_no_trace(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    sheaf_engine_key key = key_of(1, "000"), other = key_of(2, "k");
    for (int i = 0; i < 100; i++) {
        char s[16];
        snprintf(s, sizeof s, "%03d", i);
        put_text(e, s, "v");
    }
    sheaf_position before = eng_visible(e);
    sheaf_txn *t;
    span value;
    static const struct {
        uint64_t max;
        sheaf_rc rc;
    } rows[] = {
        /* | P lo | P + 1 | of the range itself, and 100 keys of 24 + 3 bytes */
        {24 + 24 + 27 * 100 - 1, SHEAF_TOO_LARGE},
        {24 + 24 + 27 * 100, SHEAF_OK},
    };
    for (size_t i = 0; i < 2; i++) {
        assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
        uint64_t usual = rocks_txn_of(t)->writes.max_bytes;
        struct rocks_txn *lowered = rocks_txn_of(t);
        lowered->writes.max_bytes = rows[i].max;
        assert_ok(eng_del_range(t, &key.p, SPAN_NONE, SPAN_NONE, NULL));
        assert_rc(eng_commit(t, NULL, NULL, NULL), rows[i].rc);
        lowered->writes.max_bytes = usual; /* kept for the next */
        if (rows[i].rc == SHEAF_OK) continue;
        assert_int_equal(eng_visible(e), before);
        assert_value(e, "000", SPAN_LIT("v"));
        assert_value(e, "099", SPAN_LIT("v"));
        assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
        assert_ok(eng_get(t, 1, &key, &value, NULL));
        assert_ok(eng_put(t, &other, SPAN_LIT("v"), NULL));
        assert_ok(eng_commit(t, NULL, NULL, NULL)); /* in conflict with nobody */
    }
    assert_value(e, "000", SPAN_NONE);
    assert_value(e, "099", SPAN_NONE);
    sheaf_engine_close(e);
}

/* ---- memory ---- */

static sheaf_rc script(sheaf_engine *e, sheaf_txn **open_txn, sheaf_error *err)
{
    sheaf_txn *t;
    sheaf_cursor *c;
    sheaf_engine_key keys[20];
    span values[20];
    int64_t delta = 1;
    for (int i = 0; i < 20; i++) keys[i] = key_of((uint64_t)i, "k");
    TRY(eng_begin(e, SHEAF_TXN_RW, &t, err));
    *open_txn = t;
    TRY(eng_get(t, 20, keys, values, err));
    TRY(eng_put(t, &keys[0], SPAN_LIT("value"), err));
    TRY(eng_add(t, &keys[1], 1, &delta, err));
    TRY(eng_append(t, &keys[2].p, SPAN_LIT("record"), err));
    TRY(eng_del_range(t, &keys[3].p, SPAN_NONE, SPAN_NONE, err));
    TRY(eng_range(t, &(struct sheaf_range){.p = keys[0].p}, &c, err));
    eng_cursor_close(c);
    *open_txn = NULL;
    TRY(eng_commit(t, NULL, NULL, err));
    return eng_verify(e, NULL, NULL, err);
}

static void test_memory__every_failed_allocation_is_an_error_and_no_more(void **state)
{
    struct fixture *f = *state;
    sheaf_rc rc = SHEAF_NOMEM;
    uint64_t nth = 1;
    for (; rc != SHEAF_OK && nth < 200; nth++) {
        sheaf_engine *e = NULL;
        sheaf_txn *t = NULL;
        mem_fail_at(nth, false);
        rc = sheaf_engine_open_rocks(f->dir, NULL, &e, NULL);
        if (rc == SHEAF_OK) rc = script(e, &t, NULL);
        mem_fail_at(0, false);
        assert_true(rc == SHEAF_OK || rc == SHEAF_NOMEM);
        eng_rollback(t);
        sheaf_engine_close(e);
    }
    assert_ok(rc);
    assert_true(nth > 10);
}

static void test_begin__a_warm_engine_allocates_nothing_of_its_own(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    sheaf_txn *t = NULL;
    assert_ok(script(e, &t, NULL));
    put_text(e, "k", "v");
    assert_value(e, "k", SPAN_LIT("v")); /* now in the row cache, which has memory of its own */
    uint64_t before = mem_count();
    for (int i = 0; i < 100; i++) {
        put_text(e, "k", "v");
        assert_value(e, "k", SPAN_LIT("v"));
    }
    assert_int_equal(mem_count(), before);
    sheaf_engine_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_add__is_exact_among_all_other_writes),
        CASE(test_add__of_a_refused_commit_counts_for_nothing),
        CASE(test_add__a_hot_counter_survives_folding_flushing_and_reopening),
        CASE(test_add__a_longer_vector_counts_the_missing_numbers_as_zero),
        CASE(test_add__to_what_is_no_vector_stops_nothing_and_is_told_by_verify),
        CASE(test_add__a_damaged_delta_is_left_out_and_told_by_verify),
        CASE(test_verify__finds_a_key_that_cannot_be_ours),
        CASE(test_verify__finds_a_flipped_bit_in_a_table),
        CASE(test_drop_space__also_the_last_there_is),
        CASE(test_checkpoint__makes_a_directory_like_the_original),
        CASE(test_del_range__over_the_bound_leaves_no_trace),
        CASE(test_memory__every_failed_allocation_is_an_error_and_no_more),
        CASE(test_begin__a_warm_engine_allocates_nothing_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
