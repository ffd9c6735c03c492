/* engine/writes.h: what a transaction wants written, kept until its commit. Shared by the engines
 * that buffer writes themselves.
 *
 * Layer rule: base, the public engine header, keys.h and conflicts.h. */
#ifndef ENGINE_WRITES_H
#define ENGINE_WRITES_H

#include "base/buf.h"
#include "base/err.h"
#include "engine/conflicts.h"
#include "engine/keys.h"

#include <sheaf/sys/engine.h>

enum eng_write_kind {
    ENG_WRITE_PUT,
    ENG_WRITE_DEL,
    ENG_WRITE_DEL_RANGE,
    ENG_WRITE_ADD,
    ENG_WRITE_APPEND
};

/* One write, borrowed from the log until the next write is recorded. Keys are P and S in one piece,
 * whose byte order is the order of (P, S) because P has a fixed length. */
struct eng_write {
    enum eng_write_kind kind;
    uint32_t ordinal; /* of an append: how many appends came before it */
    span key;         /* append: the log's P alone; del_range: the first key that may go */
    span value;       /* put, append: the value; add: the deltas, little-endian int64 each */
    span end; /* del_range: the first key behind it, within P or the P after it; p == NULL when P is
                 the last there can be */
};

/* Caller's storage; one thread at a time. */
struct eng_writes {
    struct buf log;
    size_t n;           /* writes recorded */
    uint32_t n_appends; /* of those */
    uint64_t bytes;     /* keys and values, as max_txn_bytes counts them */
    uint64_t found;     /* keys that del_ranges found at commit, counted likewise */
    uint64_t max_bytes;
    uint32_t max_key, max_value;
};

/* The ceiling of a transaction when the caps name none. */
#define ENG_TXN_BYTES_DEFAULT ((uint64_t)64 << 20)

/* Takes no memory yet. */
void eng_writes_init(struct eng_writes *w, const struct sheaf_engine_caps *caps);
void eng_writes_deinit(struct eng_writes *w);
/* Forgets the writes, keeps the memory. */
void eng_writes_clear(struct eng_writes *w);

/* Each copies its arguments. SHEAF_TOO_LARGE (the message names the cap), SHEAF_NOMEM or
 * SHEAF_VALIDATION: nothing was recorded and the log is as it was. */
SHEAF_NODISCARD sheaf_rc eng_writes_put(struct eng_writes *w, const sheaf_engine_key *key,
                                        span value, sheaf_error *err);
SHEAF_NODISCARD sheaf_rc eng_writes_del(struct eng_writes *w, const sheaf_engine_key *key,
                                        sheaf_error *err);
/* The bounds are no keys: max_key does not bind them, max_txn_bytes does. */
SHEAF_NODISCARD sheaf_rc eng_writes_del_range(struct eng_writes *w, const sheaf_place *p, span lo,
                                              span hi, sheaf_error *err);
/* n must not be 0. */
SHEAF_NODISCARD sheaf_rc eng_writes_add(struct eng_writes *w, const sheaf_engine_key *key, size_t n,
                                        const int64_t deltas[], sheaf_error *err);
SHEAF_NODISCARD sheaf_rc eng_writes_append(struct eng_writes *w, const sheaf_place *log, span value,
                                           sheaf_error *err);

/* The write at *at (begin with 0), in the order they were made; moves *at on. false at the end. */
bool eng_writes_next(const struct eng_writes *w, size_t *at, struct eng_write *write_out);

/* ---- at commit ---- */

/* Whether a key lies in a del_range. */
bool eng_write_covers(const struct eng_write *range, span key);
/* Counts a key that a del_range has found: together with the writes they stay below max_txn_bytes,
 * or it is SHEAF_TOO_LARGE. */
SHEAF_NODISCARD sheaf_rc eng_writes_found(struct eng_writes *w, span key, sheaf_error *err);
/* The whole key of any write but a del_range; that of an append is made in `room`. */
span eng_write_key(const struct eng_write *w, sheaf_position position, struct eng_append_key *room);
/* Stamps the key of every write but the del_ranges, whose keys only the engine knows. */
void eng_writes_stamp(const struct eng_writes *w, struct eng_conflicts *c, sheaf_position position);

#endif
