/* <sheaf/sys/engine.h>: the storage engine interface, for authors of engines.
 *
 * Layer rule: includes only <sheaf/error.h> and <sheaf/span.h>. An engine stores bytes under keys;
 * it never says item or table.
 *
 * CAVEATS FIRST
 *  1. What an RW transaction read is only true when its commit returns SHEAF_OK, also when it wrote
 *     nothing. Before a failed condition is reported, commit the transaction: SHEAF_CONFLICT means
 *     the condition was judged on stale bytes.
 *  2. A transaction does not see its own writes. Every read of it answers from the committed state:
 *     an engine may pin one state with the first read, or give the newest bytes to each. Either way
 *     a commit that returns SHEAF_OK proves that all of them were still the newest.
 *  3. Bytes returned by a cursor are valid until that cursor moves or closes; bytes returned by get
 *     until the transaction ends.
 *  4. A commit that returned SHEAF_OK is visible at once and durable when durable() has reached its
 *     position. Whoever answers a client, for a read as well, waits for that (sync, on_durable).
 *  5. Ranges are not protected against phantoms: no DynamoDB operation has a range predicate inside
 *     a transaction.
 *  6. A conflict may be false (engines detect them by stripes of keys), so SHEAF_CONFLICT is always
 *     replayed, never reported as a fact. A transaction that read nothing never conflicts.
 *  7. A dropped space is never read again, also not through an older snapshot.
 *
 * KEYS
 *  A key is a pair (P, S). P *places*: equality only, 24 bytes, always. S *orders* inside one P:
 *  unsigned byte order, may be empty.
 *
 *      P:  | space, 8 bytes big-endian | hash, 16 bytes |     S:  | 0 … caps.max_key - 24 bytes |
 *
 *  No operation orders across different P, so an engine may shard by P in any way: RocksDB and
 *  FoundationDB concatenate, SQL engines use two columns. A *space* is a set of keys that can be
 *  walked in segments and dropped as a whole; space numbers are never used twice. The hash is the
 *  caller's business, but segments split it evenly, so it should be uniform.
 *
 * THREADS
 *  An engine is thread-safe. A transaction, with its cursors, belongs to one thread at a time.
 */
#ifndef SHEAF_SYS_ENGINE_H
#define SHEAF_SYS_ENGINE_H

#include <sheaf/error.h>
#include <sheaf/span.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHEAF_PLACE_BYTES 24
#define SHEAF_STAMP_BYTES 12
#define SHEAF_SEGMENTS_MAX 1000000 /* of a walk */

typedef struct sheaf_place {
    uint8_t b[SHEAF_PLACE_BYTES];
} sheaf_place;

typedef struct sheaf_engine_key {
    sheaf_place p;
    struct sheaf_span s;
} sheaf_engine_key;

/* Order of commit: 8 bytes commit number, big-endian, then 4 bytes ordinal inside the transaction.
 * Unsigned byte order is commit order. Never reused, also across restarts. */
typedef struct sheaf_stamp {
    uint8_t b[SHEAF_STAMP_BYTES];
} sheaf_stamp;

/* A place in the engine's sequence of commits. 0 is before everything. */
typedef uint64_t sheaf_position;

typedef struct sheaf_engine sheaf_engine;
typedef struct sheaf_txn sheaf_txn;
typedef struct sheaf_cursor sheaf_cursor;

/* What an engine can take; writes over it are refused with SHEAF_TOO_LARGE before anything is
 * written. Reads are not: a key over max_key is absent, and guarding it is fine. 0 = no limit. */
struct sheaf_engine_caps {
    uint32_t max_key; /* P and S together */
    uint32_t max_value;
    uint64_t max_txn_bytes; /* keys and values of all writes, keys that del_ranges find */
    uint32_t max_txn_ms;    /* a transaction open longer may get SHEAF_TOO_OLD */
    bool is_durable;        /* commits survive the process */
    bool is_shared;         /* several processes may open it */
    bool may_block;         /* calls wait for a network: never call it on an event loop */
    bool can_checkpoint;
};

enum sheaf_txn_mode {
    SHEAF_TXN_RW,       /* reads latest committed bytes, protects them, may write */
    SHEAF_TXN_SNAPSHOT, /* reads one moment; commit is not needed; writes are refused */
    SHEAF_TXN_STALE     /* as SNAPSHOT, but the moment may lie a little in the past (replicas) */
};

/* A range inside one P. lo is inclusive, hi exclusive; hi.p == NULL is unbounded. Both are borrowed
 * for the call of range() only. */
struct sheaf_range {
    sheaf_place p;
    struct sheaf_span lo, hi;
    uint32_t max_rows; /* 0 = no limit */
    uint64_t
        max_bytes; /* of S and values; the row that reaches it is still returned; 0 = no limit */
    bool is_reverse;
};

/* A walk over every key of a space, grouped by P and ordered inside each; segments are disjoint,
 * together they are the space, and they split the hash evenly. `after` (may be NULL) resumes behind
 * a key that an earlier walk of the same segment returned. SHEAF_VALIDATION: there is no such
 * segment, or there are more than SHEAF_SEGMENTS_MAX. */
struct sheaf_walk {
    uint64_t space;
    uint32_t segment, n_segments; /* n_segments 0 means 1 */
    const sheaf_engine_key *after;
    uint32_t max_rows;
    uint64_t max_bytes;
};

struct sheaf_row {
    sheaf_engine_key key;
    struct sheaf_span value;
};

struct sheaf_engine_stats {
    uint64_t commits; /* that wrote something; drop_space may add some of its own */
    uint64_t conflicts, syncs;
    uint64_t keys;       /* estimate on rocks, exact on mem */
    uint64_t disk_bytes; /* 0 when nothing is stored on disk */
    uint64_t memory_bytes;
    sheaf_position visible, durable;
};

/* One complaint of verify: where and what. Returning false stops the walk. */
typedef bool (*sheaf_complaint_fn)(void *ctx, const sheaf_engine_key *key, const char *what);
typedef void (*sheaf_durable_fn)(void *ctx, sheaf_rc rc);

/* The vtable. Every function takes its object first; out-parameters are emptied on entry. `err` may
 * be NULL everywhere. Append-only: a later release may add functions at the end, guarded by `size`.
 */
struct sheaf_engine_ops {
    size_t size; /* sizeof(struct sheaf_engine_ops) as the engine was compiled */
    const char *name;

    /* Every transaction must have ended. Waits for callbacks under way; flushes. */
    void (*close)(sheaf_engine *e);
    void (*caps)(const sheaf_engine *e, struct sheaf_engine_caps *caps_out);

    /* The transaction is ended by commit or rollback, whatever they return. */
    sheaf_rc (*begin)(sheaf_engine *e, enum sheaf_txn_mode mode, sheaf_txn **txn_out,
                      sheaf_error *err);
    /* n reads at once. values_out[i].p == NULL: no such key. In RW mode every key is protected,
     * *also the absent ones*: if any of them is written by another transaction before the commit,
     * the commit answers SHEAF_CONFLICT. */
    sheaf_rc (*get)(sheaf_txn *t, size_t n, const sheaf_engine_key keys[],
                    struct sheaf_span values_out[], sheaf_error *err);
    /* Protects a key as get does, without reading it. */
    sheaf_rc (*guard)(sheaf_txn *t, const sheaf_engine_key *key, sheaf_error *err);
    /* Close every cursor before the transaction ends. Range reads are not protected. */
    sheaf_rc (*range)(sheaf_txn *t, const struct sheaf_range *range, sheaf_cursor **cursor_out,
                      sheaf_error *err);
    sheaf_rc (*walk)(sheaf_txn *t, const struct sheaf_walk *walk, sheaf_cursor **cursor_out,
                     sheaf_error *err);
    /* The next row; *has_row_out is false at the end or when max_rows or max_bytes is used up. */
    sheaf_rc (*next)(sheaf_cursor *c, struct sheaf_row *row_out, bool *has_row_out,
                     sheaf_error *err);
    void (*cursor_close)(sheaf_cursor *c);

    /* Writes: copied at once, applied at commit in the order they were made. */
    sheaf_rc (*put)(sheaf_txn *t, const sheaf_engine_key *key, struct sheaf_span value,
                    sheaf_error *err);
    sheaf_rc (*del)(sheaf_txn *t, const sheaf_engine_key *key, sheaf_error *err);
    /* Every key of P in [lo, hi) as it is at commit, earlier writes of this transaction included.
     * The keys it finds then count towards max_txn_bytes: over it, the commit answers
     * SHEAF_TOO_LARGE and nothing of the transaction is written. */
    sheaf_rc (*del_range)(sheaf_txn *t, const sheaf_place *p, struct sheaf_span lo,
                          struct sheaf_span hi, sheaf_error *err);
    /* Commutative: adds deltas[i] (wrapping) to the i-th little-endian int64 of the value, which is
     * n such numbers; an absent value counts as zeros. Never conflicts with another add. A key is
     * either added to or put, not both in turn with different n: an add to a key that holds other
     * bytes is a mistake of the caller's. The engine may refuse it at commit (SHEAF_VALIDATION) or
     * report it in verify; it never crashes and never changes other keys. */
    sheaf_rc (*add)(sheaf_txn *t, const sheaf_engine_key *key, size_t n, const int64_t deltas[],
                    sheaf_error *err);
    /* Adds a row (P, stamp). The stamp is given at commit, so that whoever has read up to a stamp
     * never later meets a smaller one. */
    sheaf_rc (*append)(sheaf_txn *t, const sheaf_place *log, struct sheaf_span value,
                       sheaf_error *err);

    /* SHEAF_OK: committed; *position_out says where, *stamp_out the stamp of its first append
     * (ordinal 0), also when there was none. SHEAF_CONFLICT: certainly not committed, replay the
     * body. SHEAF_UNKNOWN_OUTCOME: read a token to find out. Anything else: not committed. Either
     * out-pointer may be NULL. */
    sheaf_rc (*commit)(sheaf_txn *t, sheaf_position *position_out, sheaf_stamp *stamp_out,
                       sheaf_error *err);
    void (*rollback)(sheaf_txn *t);

    /* One latest value without a transaction, linearizable. The bytes stay until read_done(pin). No
     * key: value_out->p == NULL and no pin to give back (read_done of NULL is fine). */
    sheaf_rc (*read)(sheaf_engine *e, const sheaf_engine_key *key, struct sheaf_span *value_out,
                     void **pin_out, sheaf_error *err);
    void (*read_done)(sheaf_engine *e, void *pin);

    /* The position of the newest visible commit, and the newest position that would survive a power
     * cut. */
    sheaf_position (*visible)(sheaf_engine *e);
    sheaf_position (*durable)(sheaf_engine *e);
    /* Blocks until `position` is durable. Calls that come together share one fsync.
     * SHEAF_VALIDATION: the position is after visible(). */
    sheaf_rc (*sync)(sheaf_engine *e, sheaf_position position, sheaf_error *err);
    /* Asks for the same without blocking: `done` runs once, on a thread of the engine's, or before
     * this returns when the position is durable already. It must be short and may not call the
     * engine. SHEAF_IO, to `done` or from here: it will never be durable. When the call itself
     * returns an error (SHEAF_VALIDATION as for sync, SHEAF_IO, SHEAF_NOMEM), `done` does not
     * run. */
    sheaf_rc (*on_durable)(sheaf_engine *e, sheaf_position position, sheaf_durable_fn done,
                           void *ctx, sheaf_error *err);

    /* Frees a space whose number will never be used again. Not part of a transaction; may be
     * repeated after a crash. What was committed before the call is durable before anything of the
     * space goes, so that no power cut brings back a caller that still counts on it. An RW
     * transaction that has read a key of the space, while it had keys, conflicts. */
    sheaf_rc (*drop_space)(sheaf_engine *e, uint64_t space, sheaf_error *err);
    /* A consistent copy into a directory that does not exist yet; openable like the original. */
    sheaf_rc (*checkpoint)(sheaf_engine *e, const char *directory, sheaf_error *err);
    void (*stats)(sheaf_engine *e, struct sheaf_engine_stats *stats_out);
    /* Walks everything the engine keeps and complains about what does not hold. SHEAF_CORRUPT when
     * there was a complaint. */
    sheaf_rc (*verify)(sheaf_engine *e, sheaf_complaint_fn complain, void *ctx, sheaf_error *err);
};

/* Every engine, transaction and cursor begins with its vtable, so that wrappers can stand in front.
 */
struct sheaf_engine {
    const struct sheaf_engine_ops *ops;
};
struct sheaf_txn {
    const struct sheaf_engine_ops *ops;
};
struct sheaf_cursor {
    const struct sheaf_engine_ops *ops;
};

/* ---- opening ---- */

struct sheaf_mem_options {
    struct sheaf_engine_caps
        caps; /* members that are not 0 replace the usual caps: a test can ask for a small engine */
};
/* In memory, gone when closed. options may be NULL. */
SHEAF_API sheaf_rc sheaf_engine_open_mem(const struct sheaf_mem_options *options,
                                         sheaf_engine **engine_out,
                                         sheaf_error *err) SHEAF_NODISCARD;

struct sheaf_rocks_options {
    uint64_t block_cache_bytes;  /* 0 = 64 MiB; at most 16 TiB */
    uint64_t row_cache_bytes;    /* 0 = 64 MiB; UINT64_MAX = none; at most 16 TiB */
    uint64_t write_buffer_bytes; /* 0 = 32 MiB; at most 16 GiB */
    uint32_t max_open_files;     /* 0 = 1024; at most 1,000,000 */
    bool use_lz4;                /* smaller files at the same CPU cost */
    bool must_exist;             /* refuse to create the directory */
    const char
        *owner; /* what to tell the next process that finds the directory in use; may be NULL */
};
/* A RocksDB in `directory`, created when missing. SHEAF_IN_USE: another process has it (the message
 * names it). SHEAF_FORMAT: it was written by a newer release. SHEAF_VALIDATION: not a data
 * directory, or an option over its bound (the message names it). options may be NULL. */
SHEAF_API sheaf_rc sheaf_engine_open_rocks(const char *directory,
                                           const struct sheaf_rocks_options *options,
                                           sheaf_engine **engine_out,
                                           sheaf_error *err) SHEAF_NODISCARD;

/* NULL is fine. */
static inline void sheaf_engine_close(sheaf_engine *e)
{
    if (e) e->ops->close(e);
}

/* Makes a place of a space number and a 16-byte hash. */
static inline sheaf_place sheaf_place_make(uint64_t space, const uint8_t hash[16])
{
    sheaf_place p;
    for (int i = 0; i < 8; i++) p.b[i] = (uint8_t)(space >> (56 - 8 * i));
    for (int i = 0; i < 16; i++) p.b[8 + i] = hash[i];
    return p;
}
static inline uint64_t sheaf_place_space(const sheaf_place *p)
{
    uint64_t space = 0;
    for (int i = 0; i < 8; i++) space = space << 8 | p->b[i];
    return space;
}

/* ---- the run loop ---- */

/* Works in the transaction; returns SHEAF_OK to have it committed, anything else to have it rolled
 * back and returned; but SHEAF_CONFLICT, which an engine may answer to a read, is replayed like
 * that of a commit. It runs again from the start after a conflict, so it must not keep anything
 * from an earlier attempt. */
typedef sheaf_rc (*sheaf_body_fn)(void *ctx, sheaf_txn *t, sheaf_error *err);

struct sheaf_run_options {
    /* A key that the body writes if and only if it takes effect, unique to this request. It settles
     * SHEAF_UNKNOWN_OUTCOME: present means committed, absent means that the body is replayed. NULL:
     * an unknown outcome is returned to the caller. */
    const sheaf_engine_key *token;
    uint32_t max_attempts;     /* 0 = 32 */
    uint64_t seed;             /* of the jitter; 0 = from the clock */
    uint64_t first_backoff_ns; /* 0 = 20 µs; doubles each time up to 5 ms, with full jitter */
    void (*sleep_ns)(void *ctx, uint64_t ns); /* NULL = really sleep */
    void *sleep_ctx;
};
struct sheaf_run_result {
    sheaf_position position;
    sheaf_stamp stamp; /* all zero when the outcome was settled by the token */
    uint32_t attempts;
};
/* Begins, runs the body, commits; replays conflicts with jittered back-off. When attempts are used
 * up: SHEAF_CONFLICT, certainly not committed. But once the outcome of an attempt was unknown, that
 * attempt may still land although its token is not there yet: whatever ends the run then, conflicts
 * or a failure of the body or of the engine, is answered as SHEAF_UNKNOWN_OUTCOME. options and
 * result_out may be NULL. */
SHEAF_API sheaf_rc sheaf_engine_run(sheaf_engine *e, sheaf_body_fn body, void *ctx,
                                    const struct sheaf_run_options *options,
                                    struct sheaf_run_result *result_out,
                                    sheaf_error *err) SHEAF_NODISCARD;

#ifdef __cplusplus
}
#endif
#endif
