/* engine/rocks/rocks.h: what the files of this folder share.
 *
 * Layer rule: base, engine.h and its helpers, <rocksdb/c.h>. Nobody outside this folder includes it
 * but its own unit test.
 *
 * dir.c the directory · options.c RocksDB's settings · open.c open and close · txn.c reads and
 * writes of a transaction · rows.c rows read lately · commit.c one commit · cursor.c ranges and walks · durable.c fsync and
 * who waits for it · merge.c, counters.c add · admin.c spaces, copies, statistics, verification.
 *
 * LOCKS, in the order they are taken:  sync.mutex  →  commit_mutex;  pool_mutex and those of the
 * row cache's shards are leaves.
 *
 * POSITIONS. A position is a commit number (commit.c says why it is safe across restarts).
 *   visible   raised *before* RocksDB is told: whoever has read a commit's bytes and then asks
 *             visible() gets at least its position, so waiting for that covers what was read.
 *   written   raised *after* RocksDB has it, under commit_mutex: what a reader may have missed is
 *             above it (conflicts), and what an fsync certainly covers is at most it (durable).
 *   durable   at most written; moved by durable.c after the fsync. */
#ifndef ENGINE_ROCKS_ROCKS_H
#define ENGINE_ROCKS_ROCKS_H

#include "base/err.h"
#include "base/limits.h"
#include "engine/conflicts.h"
#include "engine/engine.h"
#include "engine/rocks/counters.h"
#include "engine/rocks/dir.h"
#include "engine/rocks/merge.h"
#include "engine/rocks/rows.h"
#include "engine/writes.h"

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>

enum {
    ROCKS_KEY_MAX = LIMIT_ENGINE_KEY_BYTES,
    ROCKS_S_MAX = ROCKS_KEY_MAX - SHEAF_PLACE_BYTES,
    /* An item of 400 KB in any encoding of ours, old and new image together, several times over. */
    ROCKS_VALUE_MAX = 16 << 20,
    ROCKS_TXN_MAX = 64 << 20,
    /* Transactions and cursors kept for later, and the bytes that each may keep. */
    ROCKS_POOL_MAX = 64,
    ROCKS_KEEP_BYTES = 256 << 10,
};

/* One request of on_durable. */
struct rocks_waiter {
    sheaf_position position;
    sheaf_durable_fn done;
    void *ctx;
};

struct rocks_waiters {
    struct rocks_waiter *at; /* heap, in the order they came */
    size_t n, cap;
};

struct rocks_sync {
    pthread_mutex_t mutex;
    pthread_cond_t moved; /* durable, poison or is_flushing changed */
    pthread_cond_t work;  /* for the thread: waiters or is_stopping changed */
    bool is_flushing;     /* somebody is inside fsync: others wait for what it brings */
    bool is_stopping, has_thread;
    pthread_t thread;
    struct rocks_waiters waiters;
    atomic_uint_least64_t count;
    pthread_mutex_t poison_mutex; /* of two failures at once; nothing else is taken inside */
};

/* What opening RocksDB needs, and must be destroyed after closing it. */
struct rocks_handles {
    rocksdb_options_t *options;
    rocksdb_cache_t *block_cache;
    rocksdb_readoptions_t *latest; /* shared by all threads, never changed */
    rocksdb_writeoptions_t *write; /* WAL on, no fsync */
};

/* Kept between uses with its memory, up to a size. */
struct rocks_txn {
    sheaf_txn base;
    struct rocks *engine;
    struct rocks_txn *next_free;
    enum sheaf_txn_mode mode;
    bool has_del_range;
    bool ends_drop; /* whoever has read anything before it conflicts */
    struct eng_writes writes;
    struct eng_reads reads;
    rocksdb_writebatch_t *batch;      /* NULL until the first commit */
    const rocksdb_snapshot_t *moment; /* not RW */
    rocksdb_readoptions_t *at_moment; /* NULL until the first snapshot */
    void **pins;                      /* `few` or the heap: what get has returned */
    size_t n_pins, cap_pins;
    void *few[8];
};

struct rocks_cursor;

struct rocks {
    sheaf_engine base;
    rocksdb_t *db;
    struct rocks_handles h;
    struct rocks_dir dir;
    struct rocks_merge merge;
    bool skips_sync; /* planted */
    atomic_bool is_poisoned;
    char poison[200]; /* the first failure in RocksDB's words; written before is_poisoned */

    pthread_mutex_t commit_mutex;
    uint64_t log_bytes, log_limit; /* of RocksDB's present log; see end_log in commit.c */
    struct eng_conflicts conflicts;
    struct rocks_counters counters;
    struct rocks_rows rows;
    atomic_uint_least64_t visible, written, durable;
    atomic_uint_least64_t commits, conflict_count;
    struct rocks_sync sync;

    /* Transactions and cursors kept for the next one. The spare saves a lone thread the mutex. */
    _Atomic(struct rocks_txn *) spare_txn;
    pthread_mutex_t pool_mutex;
    struct rocks_txn *free_txns;
    struct rocks_cursor *free_cursors;
    size_t n_free_txns, n_free_cursors;
    size_t n_txns; /* that there are, in use or kept */
};

static inline struct rocks_txn *rocks_txn_of(sheaf_txn *t) { return (struct rocks_txn *)t; }
static inline struct rocks *rocks_of(sheaf_engine *e) { return (struct rocks *)e; }

extern const struct sheaf_engine_ops rocks_ops;

/* options.c. SHEAF_VALIDATION names the option that is out of its bounds. */
SHEAF_NODISCARD sheaf_rc rocks_options_check(const struct sheaf_rocks_options *o, sheaf_error *err);
/* Returns false when memory is out; either way rocks_handles_deinit cleans up. */
bool rocks_handles_init(struct rocks_handles *h, const struct sheaf_rocks_options *o,
                        struct rocks_merge *merge);
void rocks_handles_deinit(struct rocks_handles *h);
/* Bytes of the row cache; 0: none. */
uint64_t rocks_row_bytes(const struct sheaf_rocks_options *o);
/* Bytes of a log after which commit.c ends it. */
uint64_t rocks_log_limit(const struct sheaf_rocks_options *o);

/* open.c. Turns RocksDB's message into an error and frees it. */
sheaf_rc rocks_fail(sheaf_error *err, char *message, const char *what);
/* SHEAF_IO when an earlier write or fsync has failed. */
sheaf_rc rocks_refuse_poisoned(const struct rocks *e, sheaf_error *err);
static inline sheaf_rc rocks_check(const struct rocks *e, sheaf_error *err)
{
    if (!atomic_load_explicit(&e->is_poisoned, memory_order_acquire)) return SHEAF_OK;
    return rocks_refuse_poisoned(e, err);
}
/* From here on begin, read, commit and sync are refused; transactions that are open may still read.
 * Who waits for a position learns it when the flush under way has ended, or tries one and learns
 * it. `why` is told to everybody who is refused. */
void rocks_poison(struct rocks *e, const char *why);

/* txn.c */
void rocks_caps(const sheaf_engine *e, struct sheaf_engine_caps *caps_out);
sheaf_rc rocks_begin(sheaf_engine *e, enum sheaf_txn_mode mode, sheaf_txn **txn_out,
                     sheaf_error *err);
sheaf_rc rocks_get(sheaf_txn *t, size_t n, const sheaf_engine_key keys[], span values_out[],
                   sheaf_error *err);
sheaf_rc rocks_guard(sheaf_txn *t, const sheaf_engine_key *key, sheaf_error *err);
sheaf_rc rocks_put(sheaf_txn *t, const sheaf_engine_key *key, span value, sheaf_error *err);
sheaf_rc rocks_del(sheaf_txn *t, const sheaf_engine_key *key, sheaf_error *err);
sheaf_rc rocks_del_range(sheaf_txn *t, const sheaf_place *p, span lo, span hi, sheaf_error *err);
sheaf_rc rocks_add(sheaf_txn *t, const sheaf_engine_key *key, size_t n, const int64_t deltas[],
                   sheaf_error *err);
sheaf_rc rocks_append(sheaf_txn *t, const sheaf_place *log, span value, sheaf_error *err);
void rocks_rollback(sheaf_txn *t);
sheaf_rc rocks_read(sheaf_engine *e, const sheaf_engine_key *key, span *value_out, void **pin_out,
                    sheaf_error *err);
void rocks_read_done(sheaf_engine *e, void *pin);
/* Ends a transaction: lets go what it holds and keeps it for the next one. */
void rocks_txn_end(struct rocks_txn *t);
void rocks_txns_deinit(struct rocks *e);

/* commit.c */
sheaf_rc rocks_commit(sheaf_txn *t, sheaf_position *position_out, sheaf_stamp *stamp_out,
                      sheaf_error *err);

/* cursor.c */
sheaf_rc rocks_range(sheaf_txn *t, const struct sheaf_range *range, sheaf_cursor **cursor_out,
                     sheaf_error *err);
sheaf_rc rocks_walk(sheaf_txn *t, const struct sheaf_walk *walk, sheaf_cursor **cursor_out,
                    sheaf_error *err);
sheaf_rc rocks_next(sheaf_cursor *c, struct sheaf_row *row_out, bool *has_row_out,
                    sheaf_error *err);
void rocks_cursor_close(sheaf_cursor *c);
void rocks_cursors_deinit(struct rocks *e);

/* durable.c */
void rocks_sync_init(struct rocks_sync *s);
/* Settles every waiter and stops the thread; the database is still open. */
void rocks_sync_stop(struct rocks *e);
void rocks_sync_deinit(struct rocks_sync *s);
/* For the crash tests, right after opening: a planted bug, durability claimed without an fsync. */
void rocks_plant_skip_sync(sheaf_engine *e);
/* Syncs RocksDB's log; SHEAF_IO: the handle is poisoned. */
SHEAF_NODISCARD sheaf_rc rocks_sync_log(struct rocks *e);
/* Commits up to `position` have been synced. */
void rocks_raise_durable(struct rocks *e, sheaf_position position);
sheaf_position rocks_visible(sheaf_engine *e);
sheaf_position rocks_durable(sheaf_engine *e);
sheaf_rc rocks_sync(sheaf_engine *e, sheaf_position position, sheaf_error *err);
sheaf_rc rocks_on_durable(sheaf_engine *e, sheaf_position position, sheaf_durable_fn done,
                          void *ctx, sheaf_error *err);

/* admin.c */
sheaf_rc rocks_drop_space(sheaf_engine *e, uint64_t space, sheaf_error *err);
sheaf_rc rocks_checkpoint(sheaf_engine *e, const char *directory, sheaf_error *err);
void rocks_stats(sheaf_engine *e, struct sheaf_engine_stats *stats_out);
sheaf_rc rocks_verify(sheaf_engine *e, sheaf_complaint_fn complain, void *ctx, sheaf_error *err);

/* ---- key bytes ---- */

/* P and S in one buffer of ROCKS_KEY_MAX; returns the length. The caller has checked S. */
static inline size_t rocks_key(uint8_t *out, const sheaf_engine_key *key)
{
    memcpy(out, key->p.b, SHEAF_PLACE_BYTES);
    if (key->s.n) memcpy(out + SHEAF_PLACE_BYTES, key->s.p, key->s.n);
    return SHEAF_PLACE_BYTES + key->s.n;
}

/* A bound inside one P, which may be longer than any key. Cut to the longest key and a zero byte it
 * still parts the same keys: those up to the cut from those after it. */
static inline size_t rocks_bound(uint8_t *out, const sheaf_place *p, span s)
{
    size_t n = s.n > ROCKS_S_MAX ? ROCKS_S_MAX : s.n;
    memcpy(out, p->b, SHEAF_PLACE_BYTES);
    if (n) memcpy(out + SHEAF_PLACE_BYTES, s.p, n);
    if (s.n > ROCKS_S_MAX) out[SHEAF_PLACE_BYTES + n++] = 0;
    return SHEAF_PLACE_BYTES + n;
}

/* The smallest bytes above every key that begins with these n; 0 when there are none. */
static inline size_t rocks_after_prefix(uint8_t *out, const uint8_t *prefix, size_t n)
{
    while (n > 0 && prefix[n - 1] == 0xFF) n--;
    if (n == 0) return 0;
    memcpy(out, prefix, n);
    out[n - 1]++;
    return n;
}

static inline span rocks_found(const char *p, size_t n) { return SPAN(n ? p : "", n); }

#endif
