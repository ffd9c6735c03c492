/* bench/embedded/embedded.h: what the modes of bench_embedded share. */
#ifndef BENCH_EMBEDDED_EMBEDDED_H
#define BENCH_EMBEDDED_EMBEDDED_H

#include "common/bench.h"

#include "api/api.h"
#include "base/rng.h"
#include "engine/rocks/rocks.h"

enum { PER = 25, SAMPLES = 1 << 16 };

/* One key as our calls and as RocksDB take it. */
struct sample {
    char pk[24], sk[32];
    uint8_t raw[96];
    size_t raw_n;
};

struct side {
    const char *name;
    sheaf_db *db;
    rocksdb_t *raw;
    rocksdb_readoptions_t *ro;
    rocksdb_writeoptions_t *wo;
    struct sample *samples;
    uint64_t at;
    uint64_t n_items;
    bool is_backward;
};

/* About 200 bytes of text. */
extern const char note[];

/* Ends the program with the error's message. */
void must(sheaf_rc rc, const sheaf_error *err);
void name_keys(uint64_t i, char pk[24], char sk[32]);
/* A database with the table and n items, then items from … n - 1 more. */
void open_side(struct side *s, const char *url, uint64_t n, bool has_index);
void load(sheaf_db *db, uint64_t from, uint64_t n);
/* Flushes and compacts a database on disk. */
void settle(sheaf_db *db);
/* Draws SAMPLES keys of s->n_items; may be called again. */
void sample(struct side *s);

/* Operations on the sampled keys, for struct bench. */
void run_get(void *side, uint64_t n);
void run_query(void *side, uint64_t n);
void run_put(void *side, uint64_t n);

/* A directory of its own, below TMPDIR or /tmp. */
void make_directory(char directory[64]);
void remove_directory(const char *directory);

/* bench_embedded --growth; the program's exit code. */
int run_growth(const struct bench_options *o, const char *engine);
/* bench_embedded --ttl; the program's exit code. */
int run_ttl(const struct bench_options *o);
/* bench_embedded --resident; the program's exit code. */
int run_resident(const struct bench_options *o);

#endif
