/* tests/crash/writer.c: the process that is killed. It opens a data directory, runs the
 * transactions of work.c on a few threads, and tells the driver over descriptor 3 about each one
 * once the engine says that it is durable, never before.
 *
 *      crash_writer <directory> <seed> <epoch> <transactions, 0 = endless> [skip-sync] [halves]
 *
 * One more thread keeps house (work.h); in some lives it is alone, so that nobody else's fsync
 * covers what it leaves un-synced.
 *
 * The last two plant bugs: durability without fsync, and transactions committed in two halves. */
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "engine/rocks/rocks.h"
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
static const char *directory;
static pthread_t house;
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

/* ---- keeping house ---- */

enum { ROWS_PER_COMMIT = 16, MAX_COPIES = 2 };

static sheaf_rc put_rows(sheaf_txn *t, uint64_t g, unsigned from, sheaf_error *err)
{
    uint8_t value[WORK_ROW_BYTES];
    for (unsigned i = from; i < from + ROWS_PER_COMMIT; i++) {
        sheaf_engine_key key = work_row_key(g, i);
        TRY(eng_put(t, &key, SPAN(value, work_row(g, i, value)), err));
    }
    return SHEAF_OK;
}

static sheaf_rc put_live(sheaf_txn *t, uint64_t g, unsigned unused, sheaf_error *err)
{
    (void)unused;
    uint8_t number[8];
    sheaf_engine_key key = work_catalog();
    eng_number_set(number, 0, (int64_t)g);
    return eng_put(t, &key, SPAN(number, sizeof number), err);
}

static sheaf_position commit_house(sheaf_rc (*put)(sheaf_txn *, uint64_t, unsigned, sheaf_error *),
                                   uint64_t g, unsigned from)
{
    sheaf_error err = {0};
    sheaf_txn *t;
    sheaf_position at = 0;
    sheaf_rc rc = eng_begin(engine, SHEAF_TXN_RW, &t, &err);
    if (rc != SHEAF_OK) quit("begin", rc, &err);
    rc = put(t, g, from, &err);
    if (rc != SHEAF_OK) quit("put", rc, &err);
    rc = eng_commit(t, &at, NULL, &err);
    if (rc != SHEAF_OK) quit("commit", rc, &err);
    return at;
}

static uint64_t read_number(sheaf_engine_key key)
{
    sheaf_error err = {0};
    span value;
    void *pin;
    sheaf_rc rc = eng_read(engine, &key, &value, &pin, &err);
    if (rc != SHEAF_OK) quit("read", rc, &err);
    uint64_t number = value.n >= 8 ? (uint64_t)eng_number_get(value.p, 0) : 0;
    eng_read_done(engine, pin);
    return number;
}

static void drop(uint64_t g)
{
    sheaf_error err = {0};
    sheaf_rc rc = eng_drop_space(engine, work_space(g), &err);
    if (rc != SHEAF_OK) quit("drop_space", rc, &err);
}

static void copy(uint64_t g)
{
    char path[600];
    sheaf_error err = {0};
    struct work_message m = {.kind = WORK_COPIED, .n = g, .count = read_number(work_counter())};
    snprintf(path, sizeof path, "%s-copy-%llx", directory, (unsigned long long)g);
    sheaf_rc rc = eng_checkpoint(engine, path, &err);
    if (rc != SHEAF_OK) quit("checkpoint", rc, &err);
    tell(&m);
}

static bool has_level_0(void)
{
    char *files = rocksdb_property_value(rocks_of(engine)->db, "rocksdb.num-files-at-level0");
    bool has = files && strcmp(files, "0") != 0;
    rocksdb_free(files);
    return has;
}

/* Until what was flushed is in the lower levels: what drop_space removes file by file. */
static void let_settle(void)
{
    for (int i = 0; i < 40 && has_level_0(); i++) clock_sleep_ns(clock_system(), 1000000);
}

static void *keep_house(void *arg)
{
    (void)arg;
    struct rng r;
    rng_init(&r, seed ^ 1);
    uint64_t live = read_number(work_catalog());
    unsigned copies = 0;
    for (uint64_t i = epoch == 0; !max_transactions || i < max_transactions / 4; i++) {
        uint64_t g = epoch << WORK_SEQUENCE_BITS | i;
        for (unsigned k = 0; k < work_rows(g); k += ROWS_PER_COMMIT) commit_house(put_rows, g, k);
        if (i > 0) let_settle();
        struct work_message m = {.kind = WORK_LIVE, .n = g};
        sheaf_position at = commit_house(put_live, g, 0);
        if (live) drop(live);
        if (rng_below(&r, 2))
            wait_here(at, &m);
        else if (!max_transactions)
            clock_sleep_ns(clock_system(), 300000000); /* for the cut to come */
        if (rng_below(&r, 4) == 0 && copies++ < MAX_COPIES) copy(g);
        live = g;
    }
    return NULL;
}

/* Small tables, soon in the lower levels, whose files drop_space can remove at once. */
static void start_house(bool is_alone)
{
    static const char *const names[] = {"target_file_size_base",
                                        "level0_file_num_compaction_trigger"};
    static const char *const values[] = {"65536", "1"};
    char *message = NULL;
    rocksdb_set_options(rocks_of(engine)->db, 2, names, values, &message);
    if (message) _exit(7);
    if (is_alone)
        (void)keep_house(NULL);
    else if (pthread_create(&house, NULL, keep_house, NULL) != 0)
        _exit(6);
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
    bool skips_sync = false;
    directory = argv[1];
    for (int i = 5; i < argc; i++) {
        if (strcmp(argv[i], "skip-sync") == 0) skips_sync = true;
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
    if (skips_sync) rocks_plant_skip_sync(engine);
    tell_opened();
    enum { NO_HOUSE, WITH_HOUSE, ONLY_HOUSE } life = (int)rng_below(&r, 3);
    if (life != NO_HOUSE) start_house(life == ONLY_HOUSE);
    pthread_t threads[4];
    size_t n_threads = life == ONLY_HOUSE ? 0 : 1 + rng_below(&r, 4);
    for (size_t i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) return 6;
    for (size_t i = 0; i < n_threads; i++) pthread_join(threads[i], NULL);
    if (life == WITH_HOUSE) pthread_join(house, NULL);
    sheaf_engine_close(engine);
    return 0;
}
