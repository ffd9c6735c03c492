/* engine/rocks/counters.h: what counters that are added to again and again hold, so that an add can
 * be written as the sum.
 *
 * Layer rule: as rocks.h, which includes it.
 *
 * WHY  To RocksDB an add is a row of its own until a flush or compaction folds it, so reading a
 * counter costs as much as was added to it since. Its own remedy (max_successive_merges) counts
 * the adds in the memtable with every further one: a sixth of the instructions of a PutItem. But
 * commits come one at a time here and nobody else writes, so what a counter holds can simply be
 * known.
 *
 * A key has one seat, by its hash. A key that comes for the fourth time in a row is read once, and
 * from then on its adds are puts of the sum, until another key takes the seat. Everything here is
 * under commit_mutex. */
#ifndef ENGINE_ROCKS_COUNTERS_H
#define ENGINE_ROCKS_COUNTERS_H

#include "base/err.h"

#include <rocksdb/c.h>
#include <sheaf/sys/engine.h>

enum { ROCKS_COUNTER_SEATS = 4096, ROCKS_COUNTER_KEY = 40, ROCKS_COUNTER_BYTES = 32 };

struct rocks_counter {
    sheaf_position at; /* of the commit that came last; it may not be in RocksDB yet */
    uint32_t epoch;    /* another one: the seat is free */
    uint8_t n_key, n_adds;
    uint8_t n_sum; /* bytes of the sum; 0: it is not known */
    uint8_t key[ROCKS_COUNTER_KEY];
    uint8_t sum[ROCKS_COUNTER_BYTES];
};

struct rocks_counters {
    struct rocks_counter *seats;
    uint32_t epoch;
    rocksdb_t *db;
    rocksdb_readoptions_t *how;
};

/* Borrows both. */
SHEAF_NODISCARD sheaf_rc rocks_counters_init(struct rocks_counters *c, rocksdb_t *db,
                                             rocksdb_readoptions_t *how, sheaf_error *err);
void rocks_counters_deinit(struct rocks_counters *c);

/* An add of the commit `position`, in the order of its batch. True: put *sum_out (valid until the
 * next call) instead; false: merge the deltas. */
bool rocks_counters_add(struct rocks_counters *c, sheaf_position position, span key, span deltas,
                        span *sum_out);
/* The commit puts or deletes the key. */
void rocks_counters_written(struct rocks_counters *c, sheaf_position position, span key);
/* Nothing is known any more: keys went that nobody named, or a batch was given up. */
void rocks_counters_forget(struct rocks_counters *c);

#endif
