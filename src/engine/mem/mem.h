/* engine/mem/mem.h: the mem engine's own objects, for the files of this folder. The engine is
 * opened by sheaf_engine_open_mem (<sheaf/sys/engine.h>). */
#ifndef ENGINE_MEM_MEM_H
#define ENGINE_MEM_MEM_H

#include "base/limits.h"
#include "engine/conflicts.h"
#include "engine/engine.h"
#include "engine/mem/store.h"
#include "engine/writes.h"

enum {
    MEM_KEY_MAX = LIMIT_ENGINE_KEY_BYTES,
    MEM_VALUE_MAX = 16 << 20,
    MEM_VALUE_CEILING = 1 << 30 /* what options may raise it to */
};

struct mem_engine {
    sheaf_engine base;
    struct sheaf_engine_caps caps;
    struct mem_store store;
    struct eng_conflicts conflicts; /* under store.write_lock */
    atomic_uint_least64_t n_commits, n_conflicts, n_syncs;
};

struct mem_txn {
    sheaf_txn base;
    struct mem_engine *e;
    enum sheaf_txn_mode mode;
    unsigned n_cursors;
    struct mem_version *at; /* what it reads; pinned by the first read of an RW transaction */
    struct eng_reads reads;
    struct eng_writes writes;
};

/* P and S in one piece, for a search. Keys that are too long to be stored are cut one byte behind
 * the longest stored one, which keeps their order against all of those. */
struct mem_flat {
    uint8_t b[MEM_KEY_MAX + 1];
};
span mem_flat_key(struct mem_flat *f, const sheaf_place *p, span s);

extern const struct sheaf_engine_ops mem_ops;

/* Pins what the transaction reads, when it has not yet. */
void mem_txn_start(struct mem_txn *t);

sheaf_rc mem_begin(sheaf_engine *e, enum sheaf_txn_mode mode, sheaf_txn **txn_out,
                   sheaf_error *err);
sheaf_rc mem_get(sheaf_txn *t, size_t n, const sheaf_engine_key keys[], span values_out[],
                 sheaf_error *err);
sheaf_rc mem_guard(sheaf_txn *t, const sheaf_engine_key *key, sheaf_error *err);
sheaf_rc mem_put(sheaf_txn *t, const sheaf_engine_key *key, span value, sheaf_error *err);
sheaf_rc mem_del(sheaf_txn *t, const sheaf_engine_key *key, sheaf_error *err);
sheaf_rc mem_del_range(sheaf_txn *t, const sheaf_place *p, span lo, span hi, sheaf_error *err);
sheaf_rc mem_add(sheaf_txn *t, const sheaf_engine_key *key, size_t n, const int64_t deltas[],
                 sheaf_error *err);
sheaf_rc mem_append(sheaf_txn *t, const sheaf_place *log, span value, sheaf_error *err);
sheaf_rc mem_commit(sheaf_txn *t, sheaf_position *position_out, sheaf_stamp *stamp_out,
                    sheaf_error *err);
void mem_rollback(sheaf_txn *t);

sheaf_rc mem_range(sheaf_txn *t, const struct sheaf_range *range, sheaf_cursor **cursor_out,
                   sheaf_error *err);
sheaf_rc mem_walk(sheaf_txn *t, const struct sheaf_walk *walk, sheaf_cursor **cursor_out,
                  sheaf_error *err);
sheaf_rc mem_next(sheaf_cursor *c, struct sheaf_row *row_out, bool *has_row_out, sheaf_error *err);
void mem_cursor_close(sheaf_cursor *c);

#endif
