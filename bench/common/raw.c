/* Turns an engine's directory into a RocksDB database beside it. */
#include "common/raw.h"

#include "common/bench.h"

#include <stdio.h>

void bench_raw_open(struct bench_raw *r, sheaf_engine *rocks, const char *directory,
                    uint64_t cache_bytes)
{
    char path[4096];
    char *message = NULL;
    sheaf_error err;
    *r = (struct bench_raw){.row_cache = rocksdb_cache_create_lru(cache_bytes)};
    if (eng_checkpoint(rocks, directory, &err) != SHEAF_OK) bench_die("copy", err.message);
    struct sheaf_rocks_options o = {.block_cache_bytes = cache_bytes};
    if (!rocks_handles_init(&r->h, &o, &r->merge)) bench_die("raw RocksDB", "refuses its options");
    rocksdb_options_set_row_cache(r->h.options, r->row_cache);
    snprintf(path, sizeof path, "%s/db", directory);
    r->db = rocksdb_open(r->h.options, path, &message);
    if (message) bench_die("raw RocksDB", message);
}

void bench_raw_close(struct bench_raw *r)
{
    rocksdb_close(r->db);
    rocks_handles_deinit(&r->h);
    rocksdb_cache_destroy(r->row_cache);
}
