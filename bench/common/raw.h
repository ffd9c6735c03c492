/* bench/common/raw.h: RocksDB by itself, on a copy of an engine's data.
 *
 * The rocks engine keeps rows itself and switches RocksDB's row cache off, so raw calls on its own
 * handle would not be RocksDB at its best, and would write behind the engine's back. */
#ifndef BENCH_COMMON_RAW_H
#define BENCH_COMMON_RAW_H

#include "engine/rocks/rocks.h"

struct bench_raw {
    rocksdb_t *db;
    struct rocks_handles h;
    struct rocks_merge merge;
    rocksdb_cache_t *row_cache;
};

/* Copies the engine into a new directory and opens that with the engine's settings and RocksDB's row
 * cache, each cache of that size. Ends the program when that fails. */
void bench_raw_open(struct bench_raw *r, sheaf_engine *rocks, const char *directory,
                    uint64_t cache_bytes);
void bench_raw_close(struct bench_raw *r);

#endif
