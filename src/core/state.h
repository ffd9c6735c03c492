/* core/state.h: the inside of struct core.
 *
 * Layer rule: internal to core. */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include "base/rng.h"
#include "core/effects.h"

#include <pthread.h>

struct faults;
struct lag;
struct ttl_walk;

/* Counted; NULL is fine for both. gauges_new: NULL when memory is out. */
struct gauges *gauges_new(void);
struct gauges *gauges_ref(struct gauges *g);
void gauges_unref(struct gauges *g);

/* Where a walk that takes several rounds stands. */
struct core_walk {
    bool has_begun, is_under_way;
    int64_t begun_us;
    sheaf_place p; /* of the last row seen, while it is under way */
    uint8_t s[64];
    uint32_t n;
};

struct core {
    sheaf_engine *engine;
    struct sheaf_engine_caps caps;
    struct clock_source *clock;
    struct key_secret secret;
    span region;
    bool allow_sort_key_filter;
    bool is_throttling;
    uint32_t gsi_lag_ms;
    uint64_t max_collection_bytes;
    pthread_rwlock_t catalog_lock; /* the section of cat_enter; exclusive for schema changes */
    struct table **tables;         /* by name; under catalog_lock */
    uint32_t n_tables, cap_tables;
    /* How often spaces were about to be freed: a reader whose count has changed meanwhile may have
     * read a space that was going. See cat_still_has. */
    atomic_uint_least64_t drops;
    pthread_mutex_t drops_lock; /* the two below */
    uint32_t n_drop_holds;      /* who wants no space freed */
    bool has_held_drops;        /* somebody came meanwhile */
    uint64_t next_space;   /* under the exclusive catalog_lock; persisted with each schema change */
    struct faults *faults; /* NULL: none scheduled */
    struct lag *lag;       /* snapshots for gsi_lag_ms; NULL: off */
    pthread_mutex_t background;  /* one round at a time */
    struct core_walk token_walk; /* under it */
    struct ttl_walk *ttl_walks;  /* under it: of expiry indexes with more than a round's work */
    atomic_uint_least64_t seed;  /* of run loops */
    char *region_text;
};

/* Says which member of a batch or transaction is at fault; rc goes through. */
static inline sheaf_rc core_blame(sheaf_error *err, uint32_t member, sheaf_rc rc)
{
    if (rc != SHEAF_OK && rc != SHEAF_NOMEM && err) err->action = (int32_t)member;
    return rc;
}
/* A counted seed for the jitter of one run loop. */
uint64_t core_seed(struct core *core);
int64_t core_now_us(struct core *core);

/* ---- emulation; all answer SHEAF_OK at once when switched off ---- */

SHEAF_NODISCARD sheaf_rc faults_open(struct core *core, const struct core_options *o,
                                     sheaf_error *err);
void faults_close(struct core *core);
SHEAF_NODISCARD sheaf_rc lag_open(struct core *core, sheaf_error *err);
void lag_close(struct core *core);
/* A scheduled failure for this request? Called once at the start of every operation. */
SHEAF_NODISCARD sheaf_rc faults_check(struct core *core, const char *operation, span table,
                                      sheaf_error *err);
/* What is read or written: one partition key of a table or index. */
struct throttle_key {
    sheaf_place place; /* whatever space it is of: the hash alone counts */
    val partition[4];
    uint32_t n; /* 0: no key, a scan */
};
/* Takes units from the key's and the table's (or index's) buckets, or SHEAF_THROUGHPUT_EXCEEDED.
 * Also feeds the heat figures. */
SHEAF_NODISCARD sheaf_rc throttle_read(struct core *core, const struct table *t,
                                       const struct table_index *x, const struct throttle_key *key,
                                       double units, sheaf_error *err);
SHEAF_NODISCARD sheaf_rc throttle_write(struct core *core, const struct table *t,
                                        const struct table_index *x, const struct throttle_key *key,
                                        double units, sheaf_error *err);
/* Puts back what throttle_write took for a write that was refused afterwards. The heat stays. */
void throttle_unwrite(struct core *core, const struct table *t, const struct table_index *x,
                      const struct throttle_key *key, double units);

/* After a committed write: the collection `place` of a table or index (its space) changed. Keeps
 * the candidates for the largest. */
void gauges_written(struct core *core, const struct table *t, uint64_t space,
                    const sheaf_place *place, val item);
/* A snapshot for an eventually consistent read of a global index: gsi_lag_ms old when that is
 * switched on, else now. End it with
 * lag_end, not with rollback. */
SHEAF_NODISCARD sheaf_rc lag_begin(struct core *core, const struct table_index *x,
                                   sheaf_txn **txn_out, sheaf_error *err);
void lag_end(struct core *core, sheaf_txn *txn);

/* ---- background ---- */

/* Goes on filling new indexes: at most max_items base rows. */
SHEAF_NODISCARD sheaf_rc backfill_round(struct core *core, uint32_t max_items, uint64_t *did_out,
                                        bool *has_more_out, sheaf_error *err);

#endif
