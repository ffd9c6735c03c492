/* Engines: mem and rocks through the interface, and raw RocksDB calls on a copy of the database.
 *
 * Know before editing: collections of 25 rows with 64-byte keys and 400-byte values; "raw" has the
 * same data and settings, and RocksDB's own row cache where our engine has one of its own. */
#include "micro/groups.h"

#include "common/raw.h"

#include "base/rng.h"
#include "engine/engine.h"
#include "engine/rocks/rocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PER_PLACE = 25, SORT_BYTES = 40, VALUE_BYTES = 400, LOAD_BATCH = 200, KEY_BYTES = 64 };

struct side {
    sheaf_engine *engine;
    rocksdb_t *raw; /* set: call RocksDB itself */
    rocksdb_readoptions_t *ro;
    rocksdb_writeoptions_t *wo, *wo_sync;
    rocksdb_writebatch_t *batch;
    struct rng rng;
    uint64_t n_places;
    uint64_t group; /* operations per durable commit */
    bool is_reverse;
    bool is_one_txn;
};

static uint8_t value[VALUE_BYTES];

static sheaf_place place_of(uint64_t i)
{
    struct rng r; /* hashes spread as real ones do */
    rng_init(&r, i + 1);
    uint64_t h[2] = {rng_u64(&r), rng_u64(&r)};
    return sheaf_place_make(7, (const uint8_t *)h);
}

static void sort_of(uint64_t i, uint8_t out[SORT_BYTES])
{
    memset(out, 'x', SORT_BYTES);
    memcpy(out, "ORDER#2026-11-", 14);
    out[14] = (uint8_t)('0' + i / 10);
    out[15] = (uint8_t)('0' + i % 10);
}

static void random_key(struct side *s, sheaf_engine_key *key, uint8_t sort[SORT_BYTES])
{
    key->p = place_of(rng_below(&s->rng, s->n_places));
    sort_of(rng_below(&s->rng, PER_PLACE), sort);
    key->s = SPAN(sort, SORT_BYTES);
}

static void must(sheaf_rc rc, const sheaf_error *err)
{
    if (rc != SHEAF_OK) bench_die("engine", err->message);
}

static void must_raw(char *message)
{
    if (message) bench_die("rocksdb", message);
}

static void load(sheaf_engine *e, uint64_t n_places)
{
    sheaf_error err;
    for (uint64_t i = 0; i < n_places; i += LOAD_BATCH / PER_PLACE) {
        sheaf_txn *t;
        must(eng_begin(e, SHEAF_TXN_RW, &t, &err), &err);
        for (uint64_t k = i; k < n_places && k < i + LOAD_BATCH / PER_PLACE; k++)
            for (uint64_t j = 0; j < PER_PLACE; j++) {
                uint8_t sort[SORT_BYTES];
                sort_of(j, sort);
                sheaf_engine_key key = {place_of(k), {sort, SORT_BYTES}};
                must(eng_put(t, &key, SPAN(value, VALUE_BYTES), &err), &err);
            }
        must(eng_commit(t, NULL, NULL, &err), &err);
    }
}

/* ---- get ---- */

static void run_get(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    sheaf_error err;
    for (uint64_t i = 0; i < n; i++) {
        sheaf_engine_key key;
        uint8_t sort[SORT_BYTES];
        random_key(s, &key, sort);
        span got;
        void *pin;
        must(eng_read(s->engine, &key, &got, &pin, &err), &err);
        if (got.n != VALUE_BYTES) bench_die("get", "missing");
        eng_read_done(s->engine, pin);
    }
}

static void run_get_raw(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    for (uint64_t i = 0; i < n; i++) {
        sheaf_engine_key key;
        uint8_t bytes[KEY_BYTES];
        random_key(s, &key, bytes + SHEAF_PLACE_BYTES);
        memcpy(bytes, key.p.b, SHEAF_PLACE_BYTES);
        char *message = NULL;
        rocksdb_pinnableslice_t *pin =
            rocksdb_get_pinned(s->raw, s->ro, (char *)bytes, sizeof bytes, &message);
        must_raw(message);
        size_t len = 0;
        if (!pin || !rocksdb_pinnableslice_value(pin, &len) || len != VALUE_BYTES)
            bench_die("get", "missing");
        rocksdb_pinnableslice_destroy(pin);
    }
}

/* ---- scan of 25 ---- */

static void run_scan(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    sheaf_error err;
    for (uint64_t i = 0; i < n; i++) {
        struct sheaf_range range = {.p = place_of(rng_below(&s->rng, s->n_places)),
                                    .is_reverse = s->is_reverse};
        sheaf_txn *t;
        sheaf_cursor *c;
        must(eng_begin(s->engine, SHEAF_TXN_RW, &t, &err), &err); /* one range needs no snapshot */
        must(eng_range(t, &range, &c, &err), &err);
        struct sheaf_row row;
        bool has_row;
        uint64_t rows = 0;
        for (;;) {
            must(eng_next(c, &row, &has_row, &err), &err);
            if (!has_row) break;
            rows += row.value.n == VALUE_BYTES;
        }
        if (rows != PER_PLACE) bench_die("scan", "wrong number of rows");
        eng_cursor_close(c);
        eng_rollback(t);
    }
}

static void run_scan_raw(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    for (uint64_t i = 0; i < n; i++) {
        sheaf_place p = place_of(rng_below(&s->rng, s->n_places));
        uint8_t end[SHEAF_PLACE_BYTES];
        size_t end_n = rocks_after_prefix(end, p.b, sizeof p.b);
        rocksdb_readoptions_t *ro = rocksdb_readoptions_create();
        rocksdb_readoptions_set_iterate_upper_bound(ro, (char *)end, end_n);
        rocksdb_iterator_t *it = rocksdb_create_iterator(s->raw, ro);
        uint64_t rows = 0;
        if (s->is_reverse)
            rocksdb_iter_seek_for_prev(it, (char *)end, end_n);
        else
            rocksdb_iter_seek(it, (char *)p.b, sizeof p.b);
        while (rocksdb_iter_valid(it)) {
            size_t len, key_n;
            const char *key = rocksdb_iter_key(it, &key_n);
            if (key_n < sizeof p.b || memcmp(key, p.b, sizeof p.b) != 0) break;
            (void)rocksdb_iter_value(it, &len);
            rows += len == VALUE_BYTES;
            if (s->is_reverse)
                rocksdb_iter_prev(it);
            else
                rocksdb_iter_next(it);
        }
        if (rows != PER_PLACE) bench_die("raw scan", "wrong number of rows");
        rocksdb_iter_destroy(it);
        rocksdb_readoptions_destroy(ro);
    }
}

/* ---- put ---- */

static void run_put(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    sheaf_error err;
    for (uint64_t i = 0; i < n; i++) {
        sheaf_engine_key key;
        uint8_t sort[SORT_BYTES];
        random_key(s, &key, sort);
        sheaf_txn *t;
        must(eng_begin(s->engine, SHEAF_TXN_RW, &t, &err), &err);
        must(eng_put(t, &key, SPAN(value, VALUE_BYTES), &err), &err);
        must(eng_commit(t, NULL, NULL, &err), &err);
    }
}

static void run_put_raw(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    for (uint64_t i = 0; i < n; i++) {
        sheaf_engine_key key;
        uint8_t bytes[KEY_BYTES];
        random_key(s, &key, bytes + SHEAF_PLACE_BYTES);
        memcpy(bytes, key.p.b, SHEAF_PLACE_BYTES);
        char *message = NULL;
        rocksdb_put(s->raw, s->wo, (char *)bytes, sizeof bytes, (char *)value, VALUE_BYTES,
                    &message);
        must_raw(message);
    }
}

/* ---- durable commits of a group ---- */

static void run_durable(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    sheaf_error err;
    for (uint64_t i = 0; i < n; i++) {
        sheaf_position at = 0;
        sheaf_txn *t = NULL;
        for (uint64_t k = 0; k < s->group; k++) {
            sheaf_engine_key key;
            uint8_t sort[SORT_BYTES];
            random_key(s, &key, sort);
            if (!t) must(eng_begin(s->engine, SHEAF_TXN_RW, &t, &err), &err);
            must(eng_put(t, &key, SPAN(value, VALUE_BYTES), &err), &err);
            if (s->is_one_txn && k + 1 < s->group) continue;
            must(eng_commit(t, &at, NULL, &err), &err);
            t = NULL;
        }
        must(eng_sync(s->engine, at, &err), &err);
    }
}

static void run_durable_raw(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    for (uint64_t i = 0; i < n; i++) {
        rocksdb_writebatch_clear(s->batch);
        for (uint64_t k = 0; k < s->group; k++) {
            sheaf_engine_key key;
            uint8_t bytes[KEY_BYTES];
            random_key(s, &key, bytes + SHEAF_PLACE_BYTES);
            memcpy(bytes, key.p.b, SHEAF_PLACE_BYTES);
            rocksdb_writebatch_put(s->batch, (char *)bytes, sizeof bytes, (char *)value,
                                   VALUE_BYTES);
        }
        char *message = NULL;
        rocksdb_write(s->raw, s->wo_sync, s->batch, &message);
        must_raw(message);
    }
}

/* ---- groups ---- */

static void group_get(const struct bench_options *o, struct side *mem, struct side *rocks,
                      struct side *raw)
{
    struct bench b[] = {{.name = "mem", .run = run_get, .ctx = mem},
                        {.name = "rocks", .run = run_get, .ctx = rocks},
                        {.name = "raw RocksDB, row cache", .run = run_get_raw, .ctx = raw}};
    bench_group(o, "engine: get", b, 3);
    bench_ratio("rocks get / raw", b[1].ns, b[2].ns, 1.15);
    bench_ratio("mem get / raw", b[0].ns, b[2].ns, 0.9);
}

static void group_scan(const struct bench_options *o, struct side *mem, struct side *rocks,
                       struct side *raw, bool is_reverse)
{
    mem->is_reverse = rocks->is_reverse = raw->is_reverse = is_reverse;
    struct bench b[] = {{.name = "mem", .run = run_scan, .ctx = mem},
                        {.name = "rocks", .run = run_scan, .ctx = rocks},
                        {.name = "raw RocksDB", .run = run_scan_raw, .ctx = raw}};
    bench_group(
        o, is_reverse ? "engine: 25-item scan, backwards" : "engine: 25-item scan, forwards", b, 3);
    bench_ratio("rocks scan / raw", b[1].ns, b[2].ns, 1.15);
    bench_ratio("mem scan / raw", b[0].ns, b[2].ns, 0.25);
}

static void group_put(const struct bench_options *o, struct side *mem, struct side *rocks,
                      struct side *raw)
{
    struct bench b[] = {
        {.name = "mem", .run = run_put, .ctx = mem, .is_whole_process = true},
        {.name = "rocks", .run = run_put, .ctx = rocks, .is_whole_process = true},
        {.name = "raw RocksDB", .run = run_put_raw, .ctx = raw, .is_whole_process = true}};
    bench_group(o, "engine: put and commit, not yet durable", b, 3);
    bench_ratio("rocks put / raw", b[1].ns, b[2].ns, 1.15);
}

static void group_durable(const struct bench_options *o, struct side *rocks, struct side *raw)
{
    struct side single[3], one[3], raws[3];
    static const uint64_t groups[3] = {1, 8, 64};
    static const char *const names[3][3] = {
        {"1 operation: 1 commit, 1 sync", "1 operation: raw batch, sync=1", ""},
        {"8 operations: 8 commits, 1 sync", "8 operations: raw batch, sync=1",
         "8 operations: 1 commit, 1 sync"},
        {"64 operations: 64 commits, 1 sync", "64 operations: raw batch, sync=1",
         "64 operations: 1 commit, 1 sync"}};
    struct bench b[8];
    int n = 0;
    for (int g = 0; g < 3; g++) {
        single[g] = one[g] = *rocks;
        raws[g] = *raw;
        single[g].group = one[g].group = raws[g].group = groups[g];
        one[g].is_one_txn = true;
        b[n++] = (struct bench){.name = names[g][0],
                                .run = run_durable,
                                .ctx = &single[g],
                                .is_whole_process = true,
                                .batch = groups[g]};
        if (g > 0)
            b[n++] = (struct bench){.name = names[g][2],
                                    .run = run_durable,
                                    .ctx = &one[g],
                                    .is_whole_process = true,
                                    .batch = groups[g]};
        b[n++] = (struct bench){.name = names[g][1],
                                .run = run_durable_raw,
                                .ctx = &raws[g],
                                .is_whole_process = true,
                                .batch = groups[g]};
    }
    bench_group(o, "engine: durable commit, per operation", b, n);
}

static void settle(rocksdb_t *db)
{
    char *message = NULL;
    rocksdb_flushoptions_t *f = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(f, 1);
    rocksdb_flush(db, f, &message);
    must_raw(message);
    rocksdb_flushoptions_destroy(f);
    rocksdb_compact_range(db, NULL, 0, NULL, 0); /* at rest, as after a quiet hour */
}

/* Every row once: afterwards all sides find everything in the same caches. */
static void warm(struct side *s)
{
    sheaf_error err;
    for (uint64_t i = 0; i < s->n_places; i++)
        for (uint64_t j = 0; j < PER_PLACE; j++) {
            uint8_t sort[SORT_BYTES];
            sort_of(j, sort);
            sheaf_engine_key key = {place_of(i), {sort, SORT_BYTES}};
            span got;
            void *pin;
            must(eng_read(s->engine, &key, &got, &pin, &err), &err);
            eng_read_done(s->engine, pin);
        }
}

static void warm_raw(struct side *s)
{
    for (uint64_t i = 0; i < s->n_places * PER_PLACE; i++) {
        uint8_t bytes[KEY_BYTES];
        size_t n = 0;
        char *message = NULL;
        memcpy(bytes, place_of(i / PER_PLACE).b, SHEAF_PLACE_BYTES);
        sort_of(i % PER_PLACE, bytes + SHEAF_PLACE_BYTES);
        char *got = rocksdb_get(s->raw, s->ro, (char *)bytes, sizeof bytes, &n, &message);
        must_raw(message);
        rocksdb_free(got);
    }
}

void bench_engines(const struct bench_options *o)
{
    if (!bench_wants(o, "engine")) return;
    char directory[] = "/tmp/sheaf-bench-XXXXXX";
    char *made = o->directory ? NULL : mkdtemp(directory);
    char path[4096];
    snprintf(path, sizeof path, "%s/data", o->directory ? o->directory : made ? made : ".");
    struct sheaf_rocks_options options = {.block_cache_bytes = UINT64_C(1) << 30,
                                          .row_cache_bytes = UINT64_C(1) << 30};
    sheaf_error err;
    struct side mem = {.n_places = o->n_items / PER_PLACE}, rocks = mem, raw;
    must(sheaf_engine_open_mem(NULL, &mem.engine, &err), &err);
    must(sheaf_engine_open_rocks(path, &options, &rocks.engine, &err), &err);
    for (size_t i = 0; i < sizeof value; i++) value[i] = (uint8_t)(i * 31);
    rng_init(&mem.rng, 1);
    rng_init(&rocks.rng, 2);
    load(mem.engine, mem.n_places);
    load(rocks.engine, rocks.n_places);
    raw = rocks;
    rng_init(&raw.rng, 3);
    settle(rocks_of(rocks.engine)->db);
    char copy_path[4096 + 8];
    struct bench_raw copy;
    snprintf(copy_path, sizeof copy_path, "%s.copy", path);
    bench_raw_open(&copy, rocks.engine, copy_path, options.row_cache_bytes);
    raw.raw = copy.db;
    raw.ro = rocksdb_readoptions_create();
    raw.wo = rocksdb_writeoptions_create();
    raw.wo_sync = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(raw.wo_sync, 1);
    raw.batch = rocksdb_writebatch_create();
    printf("\n%llu items of %d bytes under keys of %d, %d per collection\n",
           (unsigned long long)(mem.n_places * PER_PLACE), VALUE_BYTES, KEY_BYTES, PER_PLACE);
    warm(&rocks);
    warm_raw(&raw);
    group_get(o, &mem, &rocks, &raw);
    group_scan(o, &mem, &rocks, &raw, false);
    group_scan(o, &mem, &rocks, &raw, true);
    group_put(o, &mem, &rocks, &raw);
    group_durable(o, &rocks, &raw);
    rocksdb_readoptions_destroy(raw.ro);
    rocksdb_writeoptions_destroy(raw.wo);
    rocksdb_writeoptions_destroy(raw.wo_sync);
    rocksdb_writebatch_destroy(raw.batch);
    bench_raw_close(&copy);
    sheaf_engine_close(mem.engine);
    sheaf_engine_close(rocks.engine);
    if (made) {
        char command[4200];
        snprintf(command, sizeof command, "rm -rf '%s'", made);
        if (system(command) != 0) fprintf(stderr, "bench: could not remove %s\n", made);
    }
}
