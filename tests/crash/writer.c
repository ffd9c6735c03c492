/* tests/crash/writer.c: the process that is killed. It opens a data directory, runs the
 * transactions of work.c on a few threads, and tells the driver over descriptor 3 about each one
 * once the engine says that it is durable, never before.
 *
 *      crash_writer <directory> <seed> <epoch> <transactions, 0 = endless> [skip-sync] [halves]
 *
 * The last two plant bugs: durability without fsync, and transactions committed in two halves. */
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRIVER 3

static sheaf_engine *engine;
static uint64_t epoch, max_transactions, max_outstanding, waits_one_in, seed;
static bool plant_halves;
static atomic_uint_least64_t next_sequence, outstanding;

static _Noreturn void quit(const char *what, sheaf_rc rc, const sheaf_error *err)
{
    fprintf(stderr, "writer: %s: rc %d %s\n", what, (int)rc, err->message);
    _exit(4);
}

static void tell(const struct work_message *m)
{
    if (write(DRIVER, m, sizeof *m) != (ssize_t)sizeof *m) _exit(5);
}

/* ---- one transaction ---- */

static sheaf_rc body(sheaf_txn *t, uint64_t n, enum work_part part, sheaf_error *err)
{
    sheaf_engine_key key = work_key(work_group(n), 0);
    span value = SPAN_NONE;
    if (work_reads(n)) TRY(eng_get(t, 1, &key, &value, err));
    /* A value begins with the number of its transaction. */
    return work_write(t, n, value.n >= 8 ? work_number(value.p) + 1 : 0, part, err);
}

static sheaf_rc attempt(uint64_t n, enum work_part part, sheaf_position *at, struct work_message *m,
                        sheaf_error *err)
{
    sheaf_txn *t;
    TRY(eng_begin(engine, SHEAF_TXN_RW, &t, err));
    sheaf_rc rc = body(t, n, part, err);
    if (rc != SHEAF_OK) {
        eng_rollback(t);
        return rc;
    }
    return eng_commit(t, at, &m->stamp, err);
}

static sheaf_position commit(uint64_t n, enum work_part part, struct work_message *m)
{
    sheaf_error err = {0};
    sheaf_position at = 0;
    for (;;) {
        sheaf_rc rc = attempt(n, part, &at, m, &err);
        if (rc == SHEAF_OK) return at;
        if (rc != SHEAF_CONFLICT) quit("commit", rc, &err);
    }
}

/* ---- waiting until it is durable ---- */

static void durable(void *ctx, sheaf_rc rc)
{
    struct work_message *m = ctx;
    if (rc == SHEAF_OK) tell(m);
    mem_free(m);
    atomic_fetch_sub(&outstanding, 1);
}

static void wait_here(sheaf_position at, const struct work_message *m)
{
    sheaf_error err = {0};
    sheaf_rc rc = eng_sync(engine, at, &err);
    if (rc != SHEAF_OK) quit("sync", rc, &err);
    tell(m);
}

static void ask_to_be_told(sheaf_position at, const struct work_message *m)
{
    sheaf_error err = {0};
    struct work_message *kept = mem_alloc(sizeof *kept);
    if (!kept) _exit(6);
    *kept = *m;
    atomic_fetch_add(&outstanding, 1);
    sheaf_rc rc = eng_on_durable(engine, at, durable, kept, &err);
    if (rc != SHEAF_OK) quit("on_durable", rc, &err);
}

static void transact(uint64_t n, struct rng *r)
{
    struct work_message m = {.kind = WORK_ACKED, .n = n};
    if (plant_halves) wait_here(commit(n, WORK_FIRST_HALF, &m), &(struct work_message){0});
    sheaf_position at = commit(n, plant_halves ? WORK_SECOND_HALF : WORK_WHOLE, &m);
    if (rng_below(r, waits_one_in) && atomic_load(&outstanding) < max_outstanding)
        ask_to_be_told(at, &m);
    else
        wait_here(at, &m);
}

static void *work(void *arg)
{
    struct rng r;
    rng_init(&r, seed + (uint64_t)(uintptr_t)arg);
    for (;;) {
        uint64_t i = atomic_fetch_add(&next_sequence, 1);
        if (i >> WORK_SEQUENCE_BITS || (max_transactions && i >= max_transactions)) return NULL;
        transact(epoch << WORK_SEQUENCE_BITS | i, &r);
    }
}

/* ---- what is there at the start ---- */

static sheaf_rc last_record(sheaf_txn *t, struct work_message *m, sheaf_error *err)
{
    sheaf_cursor *c;
    struct sheaf_row row;
    bool has_row;
    TRY(eng_range(t, &(struct sheaf_range){.p = work_log(), .max_rows = 1, .is_reverse = true}, &c,
                  err));
    sheaf_rc rc = eng_next(c, &row, &has_row, err);
    if (rc == SHEAF_OK && has_row && row.value.n >= WORK_RECORD_MIN &&
        row.key.s.n == SHEAF_STAMP_BYTES) {
        m->n = work_number(row.value.p);
        memcpy(m->stamp.b, row.key.s.p, SHEAF_STAMP_BYTES);
    }
    eng_cursor_close(c);
    return rc;
}

static sheaf_rc look(struct work_message *m, sheaf_error *err)
{
    sheaf_txn *t;
    span value = SPAN_NONE;
    sheaf_engine_key counter = work_counter();
    TRY(eng_begin(engine, SHEAF_TXN_SNAPSHOT, &t, err));
    sheaf_rc rc = eng_get(t, 1, &counter, &value, err);
    if (rc == SHEAF_OK && value.n == 16) memcpy(&m->count, value.p, 8);
    if (rc == SHEAF_OK) rc = last_record(t, m, err);
    eng_rollback(t);
    return rc;
}

/* What was read is told to others only when it is durable: the engine's own rule. */
static void tell_opened(void)
{
    struct work_message m = {.kind = WORK_OPENED};
    sheaf_error err = {0};
    sheaf_rc rc = look(&m, &err);
    if (rc == SHEAF_OK) rc = eng_sync(engine, eng_visible(engine), &err);
    if (rc != SHEAF_OK) quit("look", rc, &err);
    tell(&m);
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    struct sheaf_rocks_options options = {.owner = "crash_writer", .row_cache_bytes = 1 << 20};
    seed = strtoull(argv[2], NULL, 10);
    epoch = strtoull(argv[3], NULL, 10);
    max_transactions = strtoull(argv[4], NULL, 10);
    for (int i = 5; i < argc; i++) {
        if (strcmp(argv[i], "skip-sync") == 0) options.plant_skip_sync = true;
        if (strcmp(argv[i], "halves") == 0) plant_halves = true;
    }
    struct rng r;
    rng_init(&r, seed);
    /* Small ones make the engine change files all the time. */
    const uint64_t buffers[] = {64 << 10, 64 << 10, 256 << 10, 0};
    options.write_buffer_bytes = buffers[rng_below(&r, 4)];
    /* From one fsync per transaction to many transactions, and log files, per fsync. */
    max_outstanding = UINT64_C(1) << rng_below(&r, 11);
    waits_one_in = UINT64_C(1) << rng_below(&r, 9);
    sheaf_error err = {0};
    sheaf_rc rc = sheaf_engine_open_rocks(argv[1], &options, &engine, &err);
    if (rc != SHEAF_OK) quit("open", rc, &err);
    tell_opened();
    pthread_t threads[4];
    size_t n_threads = 1 + rng_below(&r, 4);
    for (size_t i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) return 6;
    for (size_t i = 0; i < n_threads; i++) pthread_join(threads[i], NULL);
    sheaf_engine_close(engine);
    return 0;
}
