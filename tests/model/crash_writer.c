/* tests/model/crash_writer.c: the process that is killed. Each lane does its jobs through the
 * public API and tells the driver over descriptor 3 what it was answered.
 *
 *      model_crash_writer <directory> <seed> <lane seed> <jobs, 0 = endless> <plant> <next> …
 */
#include "api/api.h"
#include "base/mem.h"
#include "engine/rocks/rocks.h"
#include "model/job.h"
#include "model/plant.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define DRIVER 3

static sheaf_db *db;
static uint64_t lane_seed, max_jobs;

struct lane {
    struct world w;
    unsigned number;
    uint64_t next;
    pthread_t thread;
};

static _Noreturn void quit(const char *what, sheaf_rc rc, const char *detail)
{
    fprintf(stderr, "writer: %s: rc %d %s\n", what, (int)rc, detail);
    _exit(4);
}

static void tell(struct job_message m)
{
    if (write(DRIVER, &m, sizeof m) != (ssize_t)sizeof m) _exit(5);
}

/* Refused requests are answers like any other. */
static bool is_answer(sheaf_rc rc)
{
    return rc == SHEAF_OK || rc == SHEAF_CONDITIONAL_CHECK_FAILED || rc == SHEAF_VALIDATION ||
           rc == SHEAF_TRANSACTION_CANCELED;
}

static void *work(void *arg)
{
    struct lane *l = arg;
    struct job j;
    for (uint64_t i = 0; max_jobs == 0 || i < max_jobs; i++, l->next++) {
        job_draw(&l->w, lane_seed, l->number, l->next, &j);
        sheaf_rc rc = job_call(&l->w, &j);
        if (!is_answer(rc)) quit("job", rc, l->w.err.message);
        tell((struct job_message){JOB_ACKED, l->number, l->next, (uint32_t)rc, 0});
    }
    return NULL;
}

struct changer {
    uint64_t next;
    pthread_t thread;
};

static void *change(void *arg)
{
    struct changer *l = arg;
    sheaf_error err;
    for (uint64_t i = 0; max_jobs == 0 || i < max_jobs; i++, l->next++) {
        struct change_job j = changes_draw(lane_seed, l->next);
        sheaf_rc rc = changes_call(db, &j, &err);
        if (!is_answer(rc) && rc != SHEAF_RESOURCE_NOT_FOUND) quit("change", rc, err.message);
        tell((struct job_message){JOB_ACKED, CHANGES_LANE, l->next, (uint32_t)rc, 0});
    }
    return NULL;
}

/* ---- opening ---- */

static int64_t fixed_now(struct clock_source *self)
{
    (void)self;
    return INT64_C(1700000000) * 1000000;
}
static uint64_t fixed_mono(struct clock_source *self)
{
    return clock_mono_ns(clock_system()) + (self == NULL);
}
static void real_sleep(struct clock_source *self, uint64_t ns)
{
    (void)self;
    clock_sleep_ns(clock_system(), ns);
}
static struct clock_source fixed_clock = {fixed_now, fixed_mono, real_sleep};

/* As sheaf_open does it, but with small buffers, so that files change all the time, and with the
 * planted bug in front of the engine. */
static void open_by_hand(const char *directory, uint64_t seed, enum plant plant)
{
    static const uint64_t buffers[] = {64 << 10, 256 << 10, 0};
    struct sheaf_rocks_options rocks = {.owner = "model_crash_writer",
                                        .row_cache_bytes = 1 << 20,
                                        .block_cache_bytes = 1 << 20,
                                        .write_buffer_bytes = buffers[seed % 3]};
    sheaf_engine *engine, *buggy;
    sheaf_error err = {0};
    sheaf_rc rc = sheaf_engine_open_rocks(directory, &rocks, &engine, &err);
    if (rc == SHEAF_OK && plant == PLANT_SKIP_SYNC) rocks_plant_skip_sync(engine);
    if (rc == SHEAF_OK) rc = plant_open(engine, plant, seed, &buggy);
    if (rc != SHEAF_OK) quit("open", rc, err.message);
    db = mem_zalloc(sizeof *db);
    if (!db) _exit(6);
    struct core_options o = {.clock = &fixed_clock, .seed = seed | 1};
    bool is_plain = plant == PLANT_NONE || plant == PLANT_SKIP_SYNC;
    rc = core_open(is_plain ? engine : buggy, &o, &db->core, &err);
    if (rc != SHEAF_OK) quit("core_open", rc, err.message);
}

static int64_t public_now(void *ctx)
{
    (void)ctx;
    return fixed_now(NULL);
}

static void open_db(const char *directory, uint64_t seed, enum plant plant)
{
    sheaf_error err;
    if (plant != PLANT_NONE || seed % 4) {
        open_by_hand(directory, seed, plant);
        return;
    }
    struct sheaf_options o = {.now_us = public_now, .no_background = true};
    sheaf_rc rc = sheaf_open(directory, &o, &db, &err);
    if (rc != SHEAF_OK) quit("sheaf_open", rc, err.message);
}

/* What is there already is fine. */
static void make_tables(struct world *w)
{
    for (uint32_t i = 0; i < N_TABLES; i++) {
        sheaf_rc rc = create_table(w, &w->tables[i]);
        if (rc != SHEAF_OK && rc != SHEAF_RESOURCE_IN_USE) quit("CreateTable", rc, w->err.message);
        if (!schemas[i].has_ttl) continue;
        rc = switch_ttl(w, &w->tables[i], true);
        if (rc != SHEAF_OK && rc != SHEAF_VALIDATION) quit("TTL", rc, w->err.message);
    }
    sheaf_rc rc = changes_create(db, &w->err);
    if (rc != SHEAF_OK) quit("CreateTable", rc, w->err.message);
}

int main(int argc, char **argv)
{
    if (argc < 6 + N_ALL_LANES) return 2;
    static struct lane lanes[N_LANES];
    struct changer changer = {.next = strtoull(argv[6 + CHANGES_LANE], NULL, 10)};
    uint64_t seed = strtoull(argv[2], NULL, 10);
    lane_seed = strtoull(argv[3], NULL, 10);
    max_jobs = strtoull(argv[4], NULL, 10);
    open_db(argv[1], seed, plant_by_name(argv[5]));
    tell((struct job_message){.kind = JOB_OPENED});
    for (unsigned i = 0; i < N_LANES; i++) {
        lane_init(&lanes[i].w, i);
        lanes[i].w.db = db;
        lanes[i].number = i;
        lanes[i].next = strtoull(argv[6 + i], NULL, 10);
    }
    make_tables(&lanes[0].w);
    tell((struct job_message){.kind = JOB_READY});
    for (unsigned i = 0; i < N_LANES; i++)
        if (pthread_create(&lanes[i].thread, NULL, work, &lanes[i]) != 0) return 6;
    if (pthread_create(&changer.thread, NULL, change, &changer) != 0) return 6;
    for (unsigned i = 0; i < N_LANES; i++) pthread_join(lanes[i].thread, NULL);
    pthread_join(changer.thread, NULL);
    for (unsigned i = 0; i < N_LANES; i++) lane_deinit(&lanes[i].w);
    sheaf_close(db);
    return 0;
}
