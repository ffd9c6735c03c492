/* Turns gsi_lag_ms into reads of the past: an eventually consistent read of a global index comes
 * from a snapshot, so that what was written a moment ago is not there yet.
 *
 * HOW  After each committed write a snapshot is taken and dated with the core's clock. Time is cut
 * into steps of an eighth of the lag; inside one step only the last snapshot is kept. A reader gets
 * the newest snapshot dated at or before now - lag. So a read never shows anything younger than the
 * lag, and shows everything older than the lag and one step; writes of the step between may or may
 * not be there. The state at opening counts as old enough.
 *
 * Know before editing: a transaction belongs to one thread at a time, so each snapshot serves one
 * reader at a time and others wait for it; no thread may begin a second read before it has ended
 * the first. A snapshot that is replaced while it is read is retired and ends with its reader. */
#include "core/gauges.h"

#include "base/mem.h"

#include <assert.h>

enum { STEPS = 8 };

struct shot {
    struct shot *older;
    sheaf_txn *txn;
    int64_t at_us;
    sheaf_position position; /* everything up to here is in it */
    bool is_busy, is_retired;
};
struct lag {
    pthread_mutex_t lock;
    pthread_cond_t is_free;
    int64_t lag_us, step_us;
    struct shot *newest;  /* at most STEPS + 3: one per step, one that is old enough */
    struct shot *retired; /* busy ones, at most one per reader */
};

static sheaf_rc shot_new(struct core *core, int64_t at_us, struct shot **out, sheaf_error *err)
{
    struct shot *s = mem_zalloc(sizeof *s);
    if (!s) return err_nomem(err);
    s->at_us = at_us;
    s->position = eng_visible(core->engine);
    sheaf_rc rc = eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &s->txn, err);
    if (rc != SHEAF_OK) {
        mem_free(s);
        return rc;
    }
    *out = s;
    return SHEAF_OK;
}

static void shot_free(struct shot *s)
{
    eng_rollback(s->txn);
    mem_free(s);
}

/* Takes one out of its list. */
static void drop(struct lag *l, struct shot **from)
{
    struct shot *s = *from;
    *from = s->older;
    if (!s->is_busy) {
        shot_free(s);
        return;
    }
    s->is_retired = true;
    s->older = l->retired;
    l->retired = s;
}

static struct shot **old_enough(struct lag *l, int64_t now_us)
{
    struct shot **at = &l->newest;
    while ((*at)->older && (*at)->at_us > now_us - l->lag_us) at = &(*at)->older;
    return at;
}

/* Whatever is older than the one that is old enough. */
static void forget(struct lag *l, int64_t now_us)
{
    struct shot *last = *old_enough(l, now_us);
    while (last->older) drop(l, &last->older);
}

/* Under the lock. A clock that goes back stands still here. */
static sheaf_rc shoot(struct core *core, struct lag *l, int64_t now_us, sheaf_error *err)
{
    struct shot *s;
    int64_t last = l->newest->at_us;
    TRY(shot_new(core, now_us > last ? now_us : last, &s, err));
    bool is_same_step = last != INT64_MIN && s->at_us / l->step_us == last / l->step_us;
    if (is_same_step && l->newest->older) drop(l, &l->newest);
    s->older = l->newest;
    l->newest = s;
    forget(l, now_us);
    return SHEAF_OK;
}

void lag_written(struct core *core)
{
    struct lag *l = core->lag;
    pthread_mutex_lock(&l->lock);
    if (l->newest->position != eng_visible(core->engine)) {
        sheaf_rc rc = shoot(core, l, core_now_us(core), NULL);
        (void)rc; /* the write is done; the next write or read tries again */
    }
    pthread_mutex_unlock(&l->lock);
}

sheaf_rc lag_open(struct core *core, sheaf_error *err)
{
    if (core->gsi_lag_ms == 0) return SHEAF_OK;
    if (core->caps.max_txn_ms)
        return err_set(err, SHEAF_UNSUPPORTED,
                       "gsi_lag_ms needs an engine that keeps snapshots; this one ends them after "
                       "%u ms",
                       core->caps.max_txn_ms);
    struct lag *l = mem_zalloc(sizeof *l);
    if (!l) return err_nomem(err);
    sheaf_rc rc = shot_new(core, INT64_MIN, &l->newest, err);
    if (rc != SHEAF_OK) {
        mem_free(l);
        return rc;
    }
    l->lag_us = (int64_t)core->gsi_lag_ms * 1000;
    l->step_us = l->lag_us / STEPS;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->is_free, NULL);
    core->lag = l;
    return SHEAF_OK;
}

void lag_close(struct core *core)
{
    struct lag *l = core->lag;
    if (!l) return;
    assert(!l->retired);
    while (l->newest) {
        struct shot *s = l->newest;
        assert(!s->is_busy);
        l->newest = s->older;
        shot_free(s);
    }
    pthread_cond_destroy(&l->is_free);
    pthread_mutex_destroy(&l->lock);
    mem_free(l);
    core->lag = NULL;
}

/* Under the lock, which waiting lets go of. */
static struct shot *take(struct core *core, struct lag *l)
{
    for (;;) {
        struct shot *s = *old_enough(l, core_now_us(core));
        if (!s->is_busy) {
            s->is_busy = true;
            return s;
        }
        pthread_cond_wait(&l->is_free, &l->lock);
    }
}

sheaf_rc lag_begin(struct core *core, const struct table_index *x, sheaf_txn **txn_out,
                   sheaf_error *err)
{
    struct lag *l = core->lag;
    *txn_out = NULL;
    if (!l || !x || x->def.is_local)
        return eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, txn_out, err);
    sheaf_rc rc = SHEAF_OK;
    pthread_mutex_lock(&l->lock);
    /* Something was written that did not come by here: it is young from now on. */
    if (l->newest->position != eng_visible(core->engine))
        rc = shoot(core, l, core_now_us(core), err);
    if (rc == SHEAF_OK) *txn_out = take(core, l)->txn;
    pthread_mutex_unlock(&l->lock);
    return rc;
}

/* Whether it is one of ours. Under the lock. */
static bool give_back(struct lag *l, const sheaf_txn *txn)
{
    for (struct shot *s = l->newest; s; s = s->older)
        if (s->txn == txn) {
            s->is_busy = false;
            return true;
        }
    for (struct shot **at = &l->retired; *at; at = &(*at)->older)
        if ((*at)->txn == txn) {
            (*at)->is_busy = false;
            drop(l, at);
            return true;
        }
    return false;
}

void lag_end(struct core *core, sheaf_txn *txn)
{
    struct lag *l = core->lag;
    bool is_ours = false;
    if (!txn) return;
    if (l) {
        pthread_mutex_lock(&l->lock);
        is_ours = give_back(l, txn);
        if (is_ours) pthread_cond_broadcast(&l->is_free);
        pthread_mutex_unlock(&l->lock);
    }
    if (!is_ours) eng_rollback(txn);
}
