/* Opens and closes databases, and keeps their background work going. Know before editing: the
 * worker thread sleeps on a condition variable, not on the clock, so that closing is immediate. A
 * program that wants background work only when it says so sets no_background and calls
 * sheaf_run_background.
 */
#include "api/api.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

enum {
    WORKER_BUSY_MS = 1, /* rest at least, with more to do */
    WORKER_IDLE_MS = 500,
    WORKER_IDLE_MAX_MS = 10000,
    IDLE_PART = 20, /* rounds without work take one part in so many of the time */
    EXPIRIES_PER_MS = 40
};

/* ---- an injected clock ---- */

struct api_clock {
    struct clock_source base;
    int64_t (*now_us)(void *ctx);
    void *ctx;
};

static int64_t injected_now_us(struct clock_source *self)
{
    struct api_clock *c = (struct api_clock *)self;
    return c->now_us(c->ctx);
}

static uint64_t injected_mono_ns(struct clock_source *self)
{
    return (uint64_t)injected_now_us(self) * 1000u;
}

static void injected_sleep_ns(struct clock_source *self, uint64_t ns)
{
    (void)self;
    clock_sleep_ns(clock_system(), ns); /* back-off between replays: real time */
}

/* ---- the background thread ---- */

struct api_worker {
    struct core *core;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool is_stopping;
};

/* Waits a while; true when it is time to end. */
static bool rest(struct api_worker *w, uint32_t ms)
{
    uint64_t at = clock_mono_ns(clock_system()) + (uint64_t)ms * 1000000u;
    struct timespec until = {.tv_sec = (time_t)(at / 1000000000u),
                             .tv_nsec = (long)(at % 1000000000u)};
    pthread_mutex_lock(&w->mutex);
    while (!w->is_stopping && pthread_cond_timedwait(&w->wake, &w->mutex, &until) != ETIMEDOUT) {}
    bool is_stopping = w->is_stopping;
    pthread_mutex_unlock(&w->mutex);
    return is_stopping;
}

static uint32_t clamp(uint64_t ms, uint32_t lo, uint32_t hi)
{
    return ms < lo ? lo : ms > hi ? hi : (uint32_t)ms;
}

uint32_t api_rest_ms(const struct core_background *did, uint64_t took_ns)
{
    uint64_t took_ms = took_ns / 1000000u, due_ms = did->expired / EXPIRIES_PER_MS;
    if (!did->has_more) return clamp(took_ms * IDLE_PART, WORKER_IDLE_MS, WORKER_IDLE_MAX_MS);
    return clamp(due_ms > took_ms ? due_ms - took_ms : 0, WORKER_BUSY_MS, WORKER_IDLE_MS);
}

static void *work(void *ctx)
{
    struct api_worker *w = ctx;
    struct core_background did;
    uint64_t began_ns;
    do {
        began_ns = clock_mono_ns(clock_system());
        if (core_run_background(w->core, &did, NULL) != SHEAF_OK) did.has_more = false;
    } while (!rest(w, api_rest_ms(&did, clock_mono_ns(clock_system()) - began_ns)));
    return NULL;
}

static sheaf_rc start_worker(sheaf_db *db, sheaf_error *err)
{
    struct api_worker *w = mem_zalloc(sizeof *w);
    if (!w) return err_nomem(err);
    w->core = db->core;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&w->thread, NULL, work, w) != 0) {
        pthread_cond_destroy(&w->wake);
        pthread_mutex_destroy(&w->mutex);
        mem_free(w);
        return err_set(err, SHEAF_INTERNAL, "cannot start the background thread");
    }
    db->worker = w;
    return SHEAF_OK;
}

static void stop_worker(struct api_worker *w)
{
    if (!w) return;
    pthread_mutex_lock(&w->mutex);
    w->is_stopping = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->mutex);
    mem_free(w);
}

/* ---- opening ---- */

static sheaf_rc open_engine(const char *url, const struct sheaf_options *o, sheaf_engine **out,
                            sheaf_error *err)
{
    if (strcmp(url, ":memory:") == 0) return sheaf_engine_open_mem(NULL, out, err);
    struct sheaf_rocks_options rocks = {.owner = o->owner};
    if (o->cache_bytes) rocks.block_cache_bytes = rocks.row_cache_bytes = o->cache_bytes / 2;
    return sheaf_engine_open_rocks(url, &rocks, out, err);
}

static sheaf_rc take_faults(const struct sheaf_options *o, struct core_fault **out,
                            sheaf_error *err)
{
    *out = NULL;
    if (o->n_faults == 0) return SHEAF_OK;
    struct core_fault *f = mem_zalloc(o->n_faults * sizeof *f);
    if (!f) return err_nomem(err);
    for (size_t i = 0; i < o->n_faults; i++)
        f[i] = (struct core_fault){.operation = api_text(o->faults[i].operation),
                                   .table = api_text(o->faults[i].table),
                                   .rc = o->faults[i].rc,
                                   .nth = o->faults[i].nth,
                                   .every = o->faults[i].every,
                                   .one_in = o->faults[i].one_in};
    *out = f;
    return SHEAF_OK;
}

static sheaf_rc open_core(sheaf_db *db, sheaf_engine *engine, const struct sheaf_options *o,
                          sheaf_error *err)
{
    struct core_fault *faults;
    TRY(take_faults(o, &faults, err));
    struct core_options options = {.clock = db->clock ? &db->clock->base : NULL,
                                   .region = api_text(o->region),
                                   .allow_sort_key_filter = o->allow_sort_key_filter,
                                   .throttle = o->throttle,
                                   .gsi_lag_ms = o->gsi_lag_ms,
                                   .max_collection_bytes = o->max_collection_bytes,
                                   .faults = faults,
                                   .n_faults = o->n_faults,
                                   .seed = o->seed};
    sheaf_rc rc = core_open(engine, &options, &db->core, err);
    mem_free(faults);
    return rc;
}

/* ---- a server ---- */

/* What only the process that has the data can do. The other options of storage (durability, cache,
 * background work) are the server's own affair and change nothing that a caller sees. */
static sheaf_rc check_remote(const struct sheaf_options *o, sheaf_error *err)
{
    const struct {
        bool is_set;
        const char *name;
    } all[] = {{o->n_faults != 0, "faults"},
               {o->throttle, "throttle"},
               {o->gsi_lag_ms != 0, "gsi_lag_ms"},
               {o->max_collection_bytes != 0, "max_collection_bytes"},
               {o->allow_sort_key_filter, "allow_sort_key_filter"},
               {o->now_us != NULL, "now_us"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is_set)
            return err_set(err, SHEAF_UNSUPPORTED,
                           "%s is an option of where the data is, so a remote handle does not "
                           "take it; give it to the server",
                           all[i].name);
    return SHEAF_OK;
}

static sheaf_rc open_remote(sheaf_db *db, const char *url, const struct sheaf_options *o,
                            sheaf_error *err)
{
    TRY(check_remote(o, err));
    const struct client_options options = {.url = url,
                                           .access_key_id = o->access_key_id,
                                           .secret_access_key = o->secret_access_key,
                                           .session_token = o->session_token,
                                           .profile = o->profile,
                                           .region = o->region,
                                           .ca_file = o->ca_file,
                                           .timeout_ms = o->timeout_ms,
                                           .max_attempts = o->max_attempts,
                                           .seed = o->seed};
    return client_open(&options, &db->remote, err);
}

void sheaf_cancel(sheaf_db *db)
{
    if (db && db->remote) client_cancel(db->remote);
}

static sheaf_rc open_all(sheaf_db *db, const char *url, const struct sheaf_options *o,
                         sheaf_error *err)
{
    if (client_is_url(url)) return open_remote(db, url, o, err);
    db->durability = o->durability;
    if (o->now_us) {
        db->clock = mem_zalloc(sizeof *db->clock);
        if (!db->clock) return err_nomem(err);
        *db->clock = (struct api_clock){
            {injected_now_us, injected_mono_ns, injected_sleep_ns}, o->now_us, o->now_ctx};
    }
    sheaf_engine *engine;
    TRY(open_engine(url, o, &engine, err));
    sheaf_rc rc = open_core(db, engine, o, err);
    if (rc != SHEAF_OK) {
        sheaf_engine_close(engine);
        return rc;
    }
    return o->no_background ? SHEAF_OK : start_worker(db, err);
}

static sheaf_rc check_options(const struct sheaf_options *o, sheaf_error *err)
{
    if ((unsigned)o->durability > SHEAF_RELAXED)
        return err_validation(err, "durability is %u; it is SHEAF_SYNC or SHEAF_RELAXED",
                              (unsigned)o->durability);
    if (o->n_faults && !o->faults)
        return err_validation(err, "faults is NULL, but n_faults is %zu", o->n_faults);
    struct ctx c = {NULL, err};
    for (size_t i = 0; i < o->n_faults; i++)
        TRY(api_need_zero(&c, o->faults[i].reserved_, "A member of faults"));
    for (size_t i = 0; i < o->n_faults; i++)
        if (o->faults[i].rc == SHEAF_OK || (unsigned)o->faults[i].rc >= SHEAF_RC_COUNT_)
            return err_validation(err, "faults[%zu].rc is %u, which is no error", i,
                                  (unsigned)o->faults[i].rc);
    return SHEAF_OK;
}

sheaf_rc sheaf_open_sized(const char *url, const struct sheaf_options *options, size_t size,
                          sheaf_db **db_out, sheaf_error *err)
{
    static const struct sheaf_options defaults;
    struct sheaf_options o;
    err_clear(err);
    if (!db_out) return err_validation(err, "db_out is NULL");
    *db_out = NULL;
    if (!url || !*url) return err_validation(err, "sheaf_open needs a directory or \":memory:\"");
    TRY(api_take(&o, sizeof o, options ? options : &defaults, options ? size : sizeof defaults,
                 err));
    TRY(check_options(&o, err));
    sheaf_db *db = mem_zalloc(sizeof *db);
    if (!db) return err_nomem(err);
    pthread_rwlock_init(&db->in_use, NULL);
    sheaf_rc rc = open_all(db, url, &o, err);
    if (rc != SHEAF_OK) {
        sheaf_close(db);
        return rc;
    }
    *db_out = db;
    return SHEAF_OK;
}

void sheaf_close(sheaf_db *db)
{
    if (!db) return;
    stop_worker(db->worker);
    pthread_rwlock_wrlock(&db->in_use); /* when every call under way has ended */
    pthread_rwlock_unlock(&db->in_use);
    core_close(db->core);
    client_close(db->remote);
    pthread_rwlock_destroy(&db->in_use);
    mem_free(db->clock);
    mem_free(db);
}

sheaf_rc sheaf_run_background(sheaf_db *db, sheaf_error *err)
{
    struct core_background did = {.has_more = true};
    sheaf_rc rc = SHEAF_OK;
    if (!db) return api_no_handle(err);
    if (db->remote)
        return client_unsupported(err, "run_background", "the server does its own background work");
    err_clear(err);
    pthread_rwlock_rdlock(&db->in_use);
    while (rc == SHEAF_OK && did.has_more) rc = core_run_background(db->core, &did, err);
    if (rc == SHEAF_OK && db->durability == SHEAF_SYNC) {
        sheaf_engine *engine = core_engine(db->core);
        rc = eng_sync(engine, eng_visible(engine), err);
    }
    pthread_rwlock_unlock(&db->in_use);
    return rc;
}

sheaf_rc sheaf_verify(sheaf_db *db, bool (*complain)(void *ctx, const char *what), void *ctx,
                      sheaf_error *err)
{
    if (!db) return api_no_handle(err);
    if (db->remote)
        return client_unsupported(err, "verify",
                                  "stop the server and run `sheaf verify` on its directory");
    err_clear(err);
    pthread_rwlock_rdlock(&db->in_use);
    sheaf_rc rc = core_verify(db->core, complain, ctx, err);
    pthread_rwlock_unlock(&db->in_use);
    return rc;
}

sheaf_rc sheaf_backup(sheaf_db *db, const char *directory, sheaf_error *err)
{
    if (!db) return api_no_handle(err);
    if (db->remote)
        return client_unsupported(err, "backup", "run `sheaf backup` where the data is");
    err_clear(err);
    if (!directory || !*directory) return err_validation(err, "sheaf_backup needs a directory");
    pthread_rwlock_rdlock(&db->in_use);
    sheaf_rc rc = eng_checkpoint(core_engine(db->core), directory, err);
    pthread_rwlock_unlock(&db->in_use);
    return rc;
}
