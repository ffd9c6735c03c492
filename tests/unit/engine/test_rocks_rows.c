/* engine/rocks: the row cache, alone and in front of RocksDB. */
#include "support/rocks.h"

#include "base/mem.h"
#include "base/rng.h"

#include <pthread.h>

static struct rocks_rows rows;
static struct rocks_row_miss miss;

static span text(const char *s) { return span_cstr(s); }

static void init(uint64_t max_bytes) { assert_ok(rocks_rows_init(&rows, max_bytes, NULL)); }

static void assert_found(const char *key, const char *want)
{
    struct rocks_row *row = rocks_rows_find(&rows, text(key), &miss);
    if (!want) {
        assert_null(row);
        return;
    }
    assert_non_null(row);
    assert_span(rocks_row_value(row), want);
    rocks_row_done(row);
}

/* As a reader does who finds it in RocksDB. */
static void put_in(const char *key, const char *value)
{
    assert_found(key, NULL);
    rocks_rows_offer(&rows, &miss, text(key), text(value));
}

static void test_rows__what_was_offered_is_found(void **state)
{
    (void)state;
    init(1 << 20);
    put_in("some key", "a");
    put_in("another key", "");
    assert_found("some key", "a");
    assert_found("another key", "");
    assert_found("no key", NULL);
    assert_true(rocks_rows_bytes(&rows) > 0);
    rocks_rows_deinit(&rows);
}

static void test_rows__without_a_size_nothing_is_kept(void **state)
{
    (void)state;
    init(0);
    put_in("key", "a");
    assert_found("key", NULL);
    rocks_rows_begin(&rows, text("key"));
    rocks_rows_end(&rows, text("key"), text("b"));
    assert_int_equal(rocks_rows_bytes(&rows), 0);
    rocks_rows_deinit(&rows);
}

static void test_rows__a_write_hides_the_row_and_then_changes_it(void **state)
{
    (void)state;
    init(1 << 20);
    put_in("key", "old");
    rocks_rows_begin(&rows, text("key"));
    assert_found("key", NULL);
    rocks_rows_end(&rows, text("key"), text("new"));
    assert_found("key", "new");
    rocks_rows_begin(&rows, text("key"));
    rocks_rows_end(&rows, text("key"), SPAN_NONE); /* deleted */
    assert_found("key", NULL);
    rocks_rows_deinit(&rows);
}

static void test_rows__of_two_writes_in_one_commit_the_last_counts(void **state)
{
    (void)state;
    init(1 << 20);
    put_in("key", "old");
    for (int i = 0; i < 2; i++) rocks_rows_begin(&rows, text("key"));
    rocks_rows_end(&rows, text("key"), text("1st"));
    assert_found("key", NULL); /* the commit is not over */
    rocks_rows_end(&rows, text("key"), text("2nd"));
    assert_found("key", "2nd");
    rocks_rows_deinit(&rows);
}

static void test_rows__a_reader_keeps_what_it_found(void **state)
{
    (void)state;
    init(1 << 20);
    put_in("key", "old");
    struct rocks_row *held = rocks_rows_find(&rows, text("key"), &miss);
    assert_non_null(held);
    rocks_rows_begin(&rows, text("key"));
    rocks_rows_end(&rows, text("key"), text("new"));
    assert_span(rocks_row_value(held), "old");
    rocks_row_done(held);
    struct rocks_row *now = rocks_rows_find(&rows, text("key"), &miss);
    if (now) assert_span(rocks_row_value(now), "new");
    if (now) rocks_row_done(now);
    rocks_rows_deinit(&rows);
}

/* Whoever read RocksDB before or while a commit wrote may have read the old bytes. */
static void test_rows__what_was_read_before_a_commit_ended_is_not_taken(void **state)
{
    (void)state;
    init(1 << 20);
    struct rocks_row_miss before, during;
    assert_null(rocks_rows_find(&rows, text("key"), &before));
    rocks_rows_begin(&rows, text("key"));
    assert_null(rocks_rows_find(&rows, text("key"), &during));
    rocks_rows_offer(&rows, &before, text("key"), text("old"));
    assert_found("key", NULL);
    rocks_rows_end(&rows, text("key"), text("new"));
    rocks_rows_offer(&rows, &before, text("key"), text("old"));
    assert_found("key", NULL);
    rocks_rows_offer(&rows, &during, text("key"), text("old"));
    assert_found("key", NULL);
    put_in("key", "new");
    assert_found("key", "new");
    rocks_rows_deinit(&rows);
}

static void test_rows__a_space_is_forgotten_whole(void **state)
{
    (void)state;
    init(1 << 20);
    struct rocks_row_miss before;
    put_in("space--1 a", "a");
    put_in("space--1 b", "b");
    put_in("space--2 a", "c");
    assert_null(rocks_rows_find(&rows, text("space--1 c"), &before));
    rocks_rows_forget_space(&rows, (const uint8_t *)"space--1");
    rocks_rows_offer(&rows, &before, text("space--1 c"), text("c"));
    assert_found("space--1 a", NULL);
    assert_found("space--1 b", NULL);
    assert_found("space--1 c", NULL);
    assert_found("space--2 a", "c");
    rocks_rows_deinit(&rows);
}

static void test_rows__keep_their_ceiling_and_those_in_use(void **state)
{
    (void)state;
    enum { MAX = 1 << 20 };
    char key[32], value[200];
    memset(value, 'v', sizeof value);
    value[sizeof value - 1] = '\0';
    init(MAX);
    put_in("hot", value);
    for (int i = 0; i < 50000; i++) {
        snprintf(key, sizeof key, "key %d", i);
        put_in(key, value);
        assert_found("hot", value);
    }
    uint64_t fixed =
        ROCKS_ROW_SHARDS * (sizeof *rows.shards + ((uint64_t)rows.mask + 1) * sizeof(void *));
    assert_true(rocks_rows_bytes(&rows) <= MAX + fixed);
    assert_true(rocks_rows_bytes(&rows) >= MAX / 2);
    rocks_rows_deinit(&rows);
}

static void test_rows__without_memory_nothing_is_kept_and_nothing_breaks(void **state)
{
    (void)state;
    for (uint64_t nth = 1; nth <= 2; nth++) {
        mem_fail_at(nth, false);
        assert_rc(rocks_rows_init(&rows, 1 << 20, NULL), SHEAF_NOMEM);
        mem_fail_at(0, false);
        rocks_rows_deinit(&rows);
    }
    init(1 << 20);
    mem_fail_at(1, true);
    put_in("key", "a");
    mem_fail_at(0, false);
    assert_found("key", NULL);
    put_in("key", "a");
    assert_found("key", "a");
    rocks_rows_deinit(&rows);
}

/* ---- in front of RocksDB ---- */

static void test_read__sees_every_kind_of_write(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    sheaf_txn *t;
    sheaf_engine_key k = key_of(1, "k");
    put_text(e, "k", "first");
    for (int i = 0; i < 3; i++) assert_value(e, "k", SPAN_LIT("first"));
    put_text(e, "k", "second, which is a good deal longer than the first");
    assert_value(e, "k", SPAN_LIT("second, which is a good deal longer than the first"));
    put_text(e, "k", "");
    assert_value(e, "k", SPAN_LIT(""));
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_del_range(t, &k.p, SPAN_LIT("k"), SPAN_NONE, NULL));
    assert_ok(eng_commit(t, NULL, NULL, NULL));
    assert_value(e, "k", SPAN_NONE);
    put_text(e, "k", "back");
    assert_value(e, "k", SPAN_LIT("back"));
    assert_ok(eng_drop_space(e, 1, NULL));
    assert_value(e, "k", SPAN_NONE);
    sheaf_engine_close(e);
}

static void test_snapshot__does_not_look_into_the_cache(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    sheaf_txn *t;
    sheaf_engine_key k = key_of(1, "k");
    span value;
    put_text(e, "k", "old");
    assert_ok(eng_begin(e, SHEAF_TXN_SNAPSHOT, &t, NULL));
    put_text(e, "k", "new");
    assert_value(e, "k", SPAN_LIT("new"));
    assert_ok(eng_get(t, 1, &k, &value, NULL));
    assert_span(value, "old");
    eng_rollback(t);
    assert_value(e, "k", SPAN_LIT("new"));
    sheaf_engine_close(e);
}

enum { KEYS = 3, WRITES = 4000, READERS = 3 };

struct race {
    sheaf_engine *e;
    _Atomic uint64_t committed[KEYS];
    atomic_bool is_over;
};

static uint64_t read_number(struct race *r, size_t k)
{
    char name[2] = {(char)('a' + k), '\0'};
    sheaf_engine_key key = key_of(1, name);
    span value;
    void *pin;
    uint64_t n;
    if (eng_read(r->e, &key, &value, &pin, NULL) != SHEAF_OK || value.n < sizeof n) abort();
    memcpy(&n, value.p, sizeof n);
    for (size_t i = sizeof n; i < value.n; i++) /* all of one write */
        if (((const uint8_t *)value.p)[i] != (uint8_t)n) abort();
    eng_read_done(r->e, pin);
    return n;
}

/* What is read is at least what was committed before the read, and never goes back. */
static void *read_on(void *ctx)
{
    struct race *r = ctx;
    uint64_t last[KEYS] = {0};
    for (size_t i = 0; !atomic_load(&r->is_over); i++) {
        size_t k = i % KEYS;
        uint64_t least = atomic_load(&r->committed[k]), n = read_number(r, k);
        if (n < least || n < last[k]) abort();
        last[k] = n;
    }
    return NULL;
}

static void write_number(struct race *r, size_t k, uint64_t n)
{
    char name[2] = {(char)('a' + k), '\0'};
    uint8_t bytes[300];
    sheaf_engine_key key = key_of(1, name);
    sheaf_txn *t;
    memset(bytes, (uint8_t)n, sizeof bytes);
    memcpy(bytes, &n, sizeof n);
    assert_ok(eng_begin(r->e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_put(t, &key, SPAN(bytes, 8 + n * 37 % 290), NULL));
    assert_ok(eng_commit(t, NULL, NULL, NULL));
    atomic_store(&r->committed[k], n);
}

static void test_read__never_goes_back_while_others_write(void **state)
{
    struct fixture *f = *state;
    struct race r = {.e = must_open(f->dir)};
    pthread_t readers[READERS];
    for (size_t k = 0; k < KEYS; k++) write_number(&r, k, 1);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, &r), 0);
    for (uint64_t n = 2; n < WRITES; n++) write_number(&r, n % KEYS, n);
    atomic_store(&r.is_over, true);
    for (int i = 0; i < READERS; i++) pthread_join(readers[i], NULL);
    sheaf_engine_close(r.e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows__what_was_offered_is_found),
        cmocka_unit_test(test_rows__without_a_size_nothing_is_kept),
        cmocka_unit_test(test_rows__a_write_hides_the_row_and_then_changes_it),
        cmocka_unit_test(test_rows__of_two_writes_in_one_commit_the_last_counts),
        cmocka_unit_test(test_rows__a_reader_keeps_what_it_found),
        cmocka_unit_test(test_rows__what_was_read_before_a_commit_ended_is_not_taken),
        cmocka_unit_test(test_rows__a_space_is_forgotten_whole),
        cmocka_unit_test(test_rows__keep_their_ceiling_and_those_in_use),
        cmocka_unit_test(test_rows__without_memory_nothing_is_kept_and_nothing_breaks),
        CASE(test_read__sees_every_kind_of_write),
        CASE(test_snapshot__does_not_look_into_the_cache),
        CASE(test_read__never_goes_back_while_others_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
