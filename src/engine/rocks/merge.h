/* engine/rocks/merge.h: RocksDB's merge operator that adds vectors of little-endian int64. */
#ifndef ENGINE_ROCKS_MERGE_H
#define ENGINE_ROCKS_MERGE_H

#include <rocksdb/c.h>
#include <stdatomic.h>

/* Counts what it met and could not add; lives as long as the database is open. */
struct rocks_merge {
    atomic_uint_least64_t malformed;
};

/* Owned by whoever passes it to rocksdb_options_set_merge_operator: the options then own it. */
rocksdb_mergeoperator_t *rocks_merge_operator(struct rocks_merge *state);

#endif
