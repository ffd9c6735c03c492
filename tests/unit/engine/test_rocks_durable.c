/* engine/rocks: positions, fsyncs and who waits for them. */
#include "support/rocks.h"

#include <pthread.h>

/* ---- durability ---- */

static void test_sync__moves_durable_and_shares_fsyncs(void **state)
{
    struct fixture *f = *state;
    struct sheaf_engine_stats s;
    sheaf_engine *e = must_open(f->dir);
    sheaf_position at = 0;
    for (int i = 0; i < 50; i++) at = put_text(e, "k", "v");
    assert_true(eng_durable(e) < at);
    assert_ok(eng_sync(e, at - 10, NULL)); /* takes all that is written along */
    assert_int_equal(eng_durable(e), at);
    assert_ok(eng_sync(e, at, NULL));
    eng_stats(e, &s);
    assert_int_equal(s.syncs, 1);
    assert_int_equal(s.commits, 50);
    assert_true(s.disk_bytes > 0 && s.memory_bytes > 0);
    assert_rc(eng_sync(e, at + 1, NULL), SHEAF_VALIDATION);
    struct calls calls = {0};
    assert_rc(eng_on_durable(e, at + 1, note_call, &calls, NULL), SHEAF_VALIDATION);
    assert_ok(eng_on_durable(e, at, note_call, &calls, NULL)); /* before it returns */
    assert_int_equal(calls.ok, 1);
    sheaf_engine_close(e);
    assert_int_equal(calls.failed, 0);
}

static void test_commit__a_full_log_is_synced_before_the_next_one_begins(void **state)
{
    struct fixture *f = *state;
    struct sheaf_rocks_options o = {.write_buffer_bytes = 1 << 20};
    sheaf_engine *e = NULL;
    assert_ok(sheaf_engine_open_rocks(f->dir, &o, &e, NULL));
    sheaf_position before = eng_durable(e), at = 0;
    char first[600], now[600], value[10001];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    find_db_file(f->dir, ".log", first);
    do {
        at = put_text(e, "k", value); /* nobody asks for a sync */
        find_db_file(f->dir, ".log", now);
    } while (strcmp(now, first) == 0 && at < before + 1000);
    assert_string_not_equal(now, first);
    assert_int_equal(eng_durable(e), at);
    struct sheaf_engine_stats s;
    eng_stats(e, &s);
    assert_int_equal(s.syncs, 1); /* and counted */
    /* A copy does not begin a log either. */
    put_text(e, "k", value);
    assert_ok(eng_checkpoint(e, f->copy, NULL));
    find_db_file(f->dir, ".log", first);
    assert_string_equal(now, first);
    assert_true(eng_durable(e) < eng_visible(e));
    sheaf_engine_close(e);
}

static void test_close__runs_every_callback_and_syncs(void **state)
{
    struct fixture *f = *state;
    struct calls calls = {0};
    sheaf_engine *e = must_open(f->dir);
    for (int i = 0; i < 200; i++)
        assert_ok(eng_on_durable(e, put_text(e, "k", "v"), note_call, &calls, NULL));
    put_text(e, "last", "v");
    sheaf_engine_close(e);
    assert_int_equal(calls.ok, 200);
    assert_int_equal(calls.failed, 0);
    e = must_open(f->dir);
    assert_int_equal(rocks_of(e)->dir.promised, eng_visible(e)); /* one operation per commit */
    sheaf_engine_close(e);
}

struct race {
    sheaf_engine *e;
    sheaf_position base;
    uint64_t rounds;
    _Atomic bool is_over;
    _Atomic uint64_t wrong, reads;
};

/* Whoever has read a commit's bytes asks visible() what to wait for. */
static void *read_and_ask(void *arg)
{
    struct race *r = arg;
    sheaf_engine_key key = key_of(1, "k");
    while (!r->is_over) {
        span value;
        void *pin;
        if (eng_read(r->e, &key, &value, &pin, NULL) != SHEAF_OK) r->wrong++;
        uint64_t i = value.p ? (uint64_t)eng_number_get(value.p, 0) : 0;
        eng_read_done(r->e, pin);
        if (eng_visible(r->e) < r->base + i) r->wrong++;
        if (eng_durable(r->e) > eng_visible(r->e)) r->wrong++;
        r->reads++;
    }
    return NULL;
}

static void test_visible__covers_whatever_a_reader_has_seen(void **state)
{
    struct fixture *f = *state;
    struct race r = {.e = must_open(f->dir), .rounds = test_rounds(3000)};
    r.base = eng_visible(r.e);
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_and_ask, &r), 0);
    for (uint64_t i = 1; i <= r.rounds; i++) {
        uint8_t number[8];
        eng_number_set(number, 0, (int64_t)i);
        sheaf_txn *t;
        sheaf_position at;
        sheaf_engine_key key = key_of(1, "k");
        assert_ok(eng_begin(r.e, SHEAF_TXN_RW, &t, NULL));
        assert_ok(eng_put(t, &key, SPAN(number, 8), NULL));
        assert_ok(eng_commit(t, &at, NULL, NULL));
        assert_int_equal(at, r.base + i);
        if (i % 100 == 0) assert_ok(eng_sync(r.e, at, NULL));
    }
    r.is_over = true;
    pthread_join(reader, NULL);
    assert_int_equal(r.wrong, 0);
    assert_true(r.reads > 0);
    sheaf_engine_close(r.e);
}

static void test_plant_skip_sync__claims_what_it_does_not_do(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    rocks_plant_skip_sync(e);
    sheaf_position at = put_text(e, "k", "v");
    assert_ok(eng_sync(e, at, NULL));
    assert_int_equal(eng_durable(e), at);
    sheaf_engine_close(e);
    e = must_open(f->dir);
    assert_int_equal(rocks_of(e)->dir.promised, 0);
    sheaf_engine_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_sync__moves_durable_and_shares_fsyncs),
        CASE(test_commit__a_full_log_is_synced_before_the_next_one_begins),
        CASE(test_close__runs_every_callback_and_syncs),
        CASE(test_visible__covers_whatever_a_reader_has_seen),
        CASE(test_plant_skip_sync__claims_what_it_does_not_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
