/* Turns "make this position survive a power cut" into as few fsyncs as possible.
 *
 * Whoever needs a position and finds nobody flushing flushes for everybody: a caller of sync on its
 * own thread (no switch of threads for a lone caller), the engine's thread for on_durable. Those
 * who come during a flush wait for it, and one of them does the next one for all.
 *
 * Know before editing: the position is taken *before* the fsync and under commit_mutex, so that
 * every commit up to it is in the log when the fsync begins. A failed fsync is never tried again:
 * the kernel may have dropped the pages and would call the next one a success. */
#include "base/mem.h"
#include "engine/rocks/rocks.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>

void rocks_sync_init(struct rocks_sync *s)
{
    /* None of them can fail with default attributes. */
    pthread_mutex_init(&s->mutex, NULL);
    pthread_mutex_init(&s->poison_mutex, NULL);
    pthread_cond_init(&s->moved, NULL);
    pthread_cond_init(&s->work, NULL);
}

void rocks_sync_deinit(struct rocks_sync *s)
{
    assert(s->waiters.n == 0 && !s->has_thread);
    mem_free(s->waiters.at);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->moved);
    pthread_mutex_destroy(&s->poison_mutex);
    pthread_mutex_destroy(&s->mutex);
}

void rocks_plant_skip_sync(sheaf_engine *e)
{
    assert(e->ops == &rocks_ops);
    rocks_of(e)->skips_sync = true;
}

sheaf_position rocks_visible(sheaf_engine *base)
{
    return atomic_load_explicit(&rocks_of(base)->visible, memory_order_acquire);
}

static sheaf_position durable_now(const struct rocks *e)
{
    return atomic_load_explicit(&e->durable, memory_order_acquire);
}

sheaf_position rocks_durable(sheaf_engine *base) { return durable_now(rocks_of(base)); }

static bool is_poisoned(const struct rocks *e)
{
    return atomic_load_explicit(&e->is_poisoned, memory_order_acquire);
}

void rocks_poison(struct rocks *e, const char *why)
{
    pthread_mutex_lock(&e->sync.poison_mutex);
    if (!is_poisoned(e)) {
        snprintf(e->poison, sizeof e->poison, "%s", why);
        atomic_store_explicit(&e->is_poisoned, true, memory_order_release);
    }
    pthread_mutex_unlock(&e->sync.poison_mutex);
}

/* A log that ends is synced beside the flushes here, so the higher one stays. */
void rocks_raise_durable(struct rocks *e, sheaf_position position)
{
    assert(position <= atomic_load(&e->written));
    uint_least64_t now = atomic_load_explicit(&e->durable, memory_order_relaxed);
    while (now < position &&
           !atomic_compare_exchange_weak_explicit(&e->durable, &now, position, memory_order_release,
                                                  memory_order_relaxed)) {}
}

sheaf_rc rocks_sync_log(struct rocks *e)
{
    char *message = NULL;
    if (!e->skips_sync) rocksdb_flush_wal(e->db, 1, &message);
    if (message) {
        rocks_poison(e, message);
        rocksdb_free(message);
        return SHEAF_IO;
    }
    atomic_fetch_add_explicit(&e->sync.count, 1, memory_order_relaxed);
    return SHEAF_OK;
}

/* One fsync, outside every lock. */
static void flush(struct rocks *e)
{
    pthread_mutex_lock(&e->commit_mutex);
    sheaf_position upto = atomic_load_explicit(&e->written, memory_order_relaxed);
    uint64_t sequence = rocksdb_get_latest_sequence_number(e->db);
    pthread_mutex_unlock(&e->commit_mutex);
    if (is_poisoned(e)) return;

    assert(upto <= sequence && upto <= atomic_load(&e->visible));
    if (rocks_sync_log(e) != SHEAF_OK) return;
    if (!e->skips_sync) rocks_dir_promise(&e->dir, sequence);
    rocks_raise_durable(e, upto);
}

/* With the mutex: does the flush that is due, or waits for the one under way. */
static void flush_or_wait(struct rocks *e)
{
    struct rocks_sync *s = &e->sync;
    if (s->is_flushing) {
        pthread_cond_wait(&s->moved, &s->mutex);
        return;
    }
    s->is_flushing = true;
    pthread_mutex_unlock(&s->mutex);
    flush(e);
    pthread_mutex_lock(&s->mutex);
    assert(s->is_flushing);
    s->is_flushing = false;
    pthread_cond_broadcast(&s->moved);
}

static sheaf_rc refuse_future(sheaf_error *err)
{
    return err_set(err, SHEAF_VALIDATION, "the position is after the newest commit");
}

sheaf_rc rocks_sync(sheaf_engine *base, sheaf_position position, sheaf_error *err)
{
    struct rocks *e = rocks_of(base);
    if (durable_now(e) >= position) return SHEAF_OK;
    if (position > rocks_visible(base)) return refuse_future(err);
    pthread_mutex_lock(&e->sync.mutex);
    while (durable_now(e) < position && !is_poisoned(e)) flush_or_wait(e);
    pthread_mutex_unlock(&e->sync.mutex);
    return durable_now(e) >= position ? SHEAF_OK : rocks_refuse_poisoned(e, err);
}

/* ---- the thread of on_durable ---- */

/* Takes every request there is, so that those who come meanwhile gather in the other list. */
static struct rocks_waiters take_all(struct rocks_sync *s, struct rocks_waiters *empty)
{
    assert(empty->n == 0);
    struct rocks_waiters taken = s->waiters;
    s->waiters = *empty;
    *empty = (struct rocks_waiters){0};
    return taken;
}

static sheaf_position newest(const struct rocks_waiters *list)
{
    sheaf_position most = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (list->at[i].position > most) most = list->at[i].position;
    }
    return most;
}

static void settle(struct rocks *e, struct rocks_waiters *list)
{
    assert(is_poisoned(e) || durable_now(e) >= newest(list));
    for (size_t i = 0; i < list->n; i++) {
        const struct rocks_waiter *w = &list->at[i];
        w->done(w->ctx, durable_now(e) >= w->position ? SHEAF_OK : SHEAF_IO);
    }
    list->n = 0;
}

static void *run(void *arg)
{
    struct rocks *e = arg;
    struct rocks_sync *s = &e->sync;
    struct rocks_waiters mine = {0};
    pthread_mutex_lock(&s->mutex);
    for (;;) {
        while (s->waiters.n == 0 && !s->is_stopping) pthread_cond_wait(&s->work, &s->mutex);
        if (s->waiters.n == 0) break;
        mine = take_all(s, &mine);
        sheaf_position most = newest(&mine);
        while (durable_now(e) < most && !is_poisoned(e)) flush_or_wait(e);
        pthread_mutex_unlock(&s->mutex);
        settle(e, &mine);
        pthread_mutex_lock(&s->mutex);
    }
    pthread_mutex_unlock(&s->mutex);
    mem_free(mine.at);
    return NULL;
}

static sheaf_rc grow(struct rocks_waiters *list, sheaf_error *err)
{
    if (list->n < list->cap) return SHEAF_OK;
    size_t cap = list->cap ? list->cap * 2 : 64;
    struct rocks_waiter *more = mem_realloc(list->at, cap * sizeof *more);
    if (!more) return err_nomem(err);
    list->at = more;
    list->cap = cap;
    return SHEAF_OK;
}

static sheaf_rc start_thread(struct rocks *e, sheaf_error *err)
{
    struct rocks_sync *s = &e->sync;
    if (s->has_thread) return SHEAF_OK;
    /* The program's signals are for the program's threads. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&s->thread, NULL, run, e);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return err_set(err, SHEAF_NOMEM, "cannot start the thread that makes commits durable");
    s->has_thread = true;
    return SHEAF_OK;
}

static sheaf_rc enqueue(struct rocks *e, const struct rocks_waiter *w, sheaf_error *err)
{
    struct rocks_sync *s = &e->sync;
    assert(!s->is_stopping);
    TRY(grow(&s->waiters, err));
    TRY(start_thread(e, err));
    assert(s->waiters.n < s->waiters.cap && w->done);
    s->waiters.at[s->waiters.n++] = *w;
    pthread_cond_signal(&s->work);
    return SHEAF_OK;
}

sheaf_rc rocks_on_durable(sheaf_engine *base, sheaf_position position, sheaf_durable_fn done,
                          void *ctx, sheaf_error *err)
{
    struct rocks *e = rocks_of(base);
    if (durable_now(e) >= position) {
        done(ctx, SHEAF_OK);
        return SHEAF_OK;
    }
    if (position > rocks_visible(base)) return refuse_future(err);
    TRY(rocks_check(e, err));
    struct rocks_waiter w = {position, done, ctx};
    pthread_mutex_lock(&e->sync.mutex);
    sheaf_rc rc = enqueue(e, &w, err);
    pthread_mutex_unlock(&e->sync.mutex);
    return rc;
}

void rocks_sync_stop(struct rocks *e)
{
    struct rocks_sync *s = &e->sync;
    pthread_mutex_lock(&s->mutex);
    s->is_stopping = true;
    bool has_thread = s->has_thread;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->mutex);
    if (has_thread) pthread_join(s->thread, NULL);
    s->has_thread = false;
    /* What nobody asked for is made durable as well: closing is no reason to lose it. */
    if (durable_now(e) < atomic_load(&e->written)) flush(e);
}
