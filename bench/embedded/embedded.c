/* bench_embedded: whole operations of the embedded API on mem and rocks, with raw RocksDB calls on a
 * copy of the same database beside them.
 *
 * Know before editing: collections of 25 items of about 400 bytes; keys are made before measuring,
 * for our calls and for the raw ones alike; durability is relaxed, so that CPU is measured and not
 * the disk. The raw side has RocksDB's own row cache, which our engine replaces by one of its own:
 * it is RocksDB at its best, not what our settings leave of it. */
#include "embedded/embedded.h"

#include "common/raw.h"
#include "core/rows.h"

#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GETS = 100, ACTIONS = 4 };
#define CACHE_BYTES (UINT64_C(3) << 30)

const char note[] = "Leave the parcel with the neighbour on the second floor when nobody "
                    "answers, ring twice, and mind "
                    "the dog, which is friendly but large; the gate code is the one of last "
                    "time. If it rains, please do "
                    "not leave it at the door.";

void must(sheaf_rc rc, const sheaf_error *err)
{
    if (rc != SHEAF_OK) bench_die(err->exception, err->message);
}

void name_keys(uint64_t i, char pk[24], char sk[32])
{
    snprintf(pk, 24, "CUSTOMER#%08u", (unsigned)(i / PER));
    snprintf(sk, 32, "#ORDER#2026-11-%02u", (unsigned)(i % PER));
}

#define ORDER(pk_, sk_, version_)                                                                  \
    SHEAF_ITEM({"PK", sheaf_s(pk_)}, {"SK", sheaf_s(sk_)}, {"Type", sheaf_s("Order")},             \
               {"amount", sheaf_int(12999)}, {"version", sheaf_int(version_)},                     \
               {"created_at", sheaf_s("2026-11-15T10:11:12.345Z")}, {"state", sheaf_s("SHIPPED")}, \
               {"GSI1PK", sheaf_s("STATE#SHIPPED")}, {"GSI1SK", sheaf_s(sk_)},                     \
               {"note", sheaf_s(note)})

/* ---- loading ---- */

void load(sheaf_db *db, uint64_t from, uint64_t n)
{
    sheaf_error err;
    for (uint64_t i = from; i < n; i += PER) {
        char pk[PER][24], sk[PER][32];
        sheaf_item *items[PER];
        struct sheaf_batch_write writes[PER];
        for (uint64_t k = 0; k < PER; k++) {
            name_keys(i + k, pk[k], sk[k]);
            items[k] = sheaf_item_dup(ORDER(pk[k], sk[k], 0));
            writes[k] = (struct sheaf_batch_write){.table = "bench", .put = items[k]};
        }
        must(sheaf_batch_write_item(
                 db,
                 &(struct sheaf_batch_write_item){.writes = writes, .n_writes = PER, .error = &err},
                 NULL),
             &err);
        for (uint64_t k = 0; k < PER; k++) sheaf_item_free(items[k]);
    }
}

void open_side(struct side *s, const char *url, uint64_t n, bool has_index)
{
    sheaf_error err;
    struct sheaf_options o = {
        .durability = SHEAF_RELAXED, .no_background = true, .cache_bytes = CACHE_BYTES};
    must(sheaf_open(url, &o, &s->db, &err), &err);
    struct sheaf_index gsi = {
        .name = "gsi1", .partition_key = {{"GSI1PK", SHEAF_S}}, .sort_key = {{"GSI1SK", SHEAF_S}}};
    struct sheaf_create_table t = {.table = "bench",
                                   .partition_key = {"PK", SHEAF_S},
                                   .sort_key = {"SK", SHEAF_S},
                                   .error = &err};
    t.global_indexes = &gsi;
    t.n_global_indexes = has_index;
    must(sheaf_create_table(s->db, &t, NULL), &err);
    s->n_items = n;
    load(s->db, 0, n);
}

/* The engine key of an item, through the same functions that core uses. */
static void raw_key(sheaf_db *db, struct sample *k)
{
    struct arena arena;
    sheaf_error err;
    arena_init(&arena, 1 << 20);
    struct ctx c = {&arena, &err};
    struct vb b;
    val pk, sk;
    sheaf_engine_key key;
    struct table *t;
    vb_init(&b, &c, 4096);
    vb_s(&b, span_cstr(k->pk));
    must(vb_finish(&b, &pk), &err);
    vb_init(&b, &c, 4096);
    vb_s(&b, span_cstr(k->sk));
    must(vb_finish(&b, &sk), &err);
    must(cat_get(db->core, SPAN_LIT("bench"), &t, &err), &err);
    must(row_item_key(db->core, &c, t, pk, sk, &key), &err);
    k->raw_n = rocks_key(k->raw, &key);
    table_unref(t);
    arena_deinit(&arena);
}

void sample(struct side *s)
{
    struct rng r;
    rng_init(&r, 42);
    if (!s->samples) s->samples = calloc(SAMPLES, sizeof *s->samples);
    if (!s->samples) bench_die("sample", "out of memory");
    for (int i = 0; i < SAMPLES; i++) {
        name_keys(rng_below(&r, s->n_items), s->samples[i].pk, s->samples[i].sk);
        raw_key(s->db, &s->samples[i]);
    }
}

static const struct sample *next(struct side *s) { return &s->samples[s->at++ & (SAMPLES - 1)]; }

/* ---- our operations ---- */

void run_get(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    sheaf_error err;
    for (uint64_t i = 0; i < n; i++) {
        const struct sample *k = next(s);
        sheaf_result *r;
        must(sheaf_get_item(s->db,
                            &(struct sheaf_get_item){
                                .table = "bench",
                                .key = SHEAF_ITEM({"PK", sheaf_s(k->pk)}, {"SK", sheaf_s(k->sk)}),
                                .consistent_read = true,
                                .error = &err},
                            &r),
             &err);
        if (!sheaf_result_item(r)) bench_die("get", "missing");
        sheaf_result_free(r);
    }
}

void run_put(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    sheaf_error err;
    for (uint64_t i = 0; i < n; i++) {
        const struct sample *k = next(s);
        must(sheaf_put_item(s->db,
                            &(struct sheaf_put_item){.table = "bench",
                                                     .item = ORDER(k->pk, k->sk, (int64_t)s->at),
                                                     .error = &err},
                            NULL),
             &err);
    }
}

static void run_update(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    sheaf_error err;
    for (uint64_t i = 0; i < n; i++) {
        const struct sample *k = next(s);
        must(
            sheaf_update_item(s->db,
                              &(struct sheaf_update_item){
                                  .table = "bench",
                                  .key = SHEAF_ITEM({"PK", sheaf_s(k->pk)}, {"SK", sheaf_s(k->sk)}),
                                  .update_expression = "SET amount = amount + :one",
                                  .condition_expression = "attribute_exists(PK)",
                                  .expression_attribute_values = SHEAF_ITEM({":one", sheaf_int(1)}),
                                  .error = &err},
                              NULL),
            &err);
    }
}

void run_query(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    sheaf_error err;
    for (uint64_t i = 0; i < n; i++) {
        const struct sample *k = next(s);
        sheaf_result *r;
        must(sheaf_query(s->db,
                         &(struct sheaf_query){.table = "bench",
                                               .key_condition_expression = "PK = :pk",
                                               .expression_attribute_values =
                                                   SHEAF_ITEM({":pk", sheaf_s(k->pk)}),
                                               .backward = s->is_backward,
                                               .error = &err},
                         &r),
             &err);
        if (sheaf_result_count(r) != PER) bench_die("query", "wrong number of items");
        sheaf_result_free(r);
    }
}

static void run_transact(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    sheaf_error err;
    for (uint64_t i = 0; i < n; i++) {
        sheaf_item *keys[ACTIONS];
        struct sheaf_transact_write a[ACTIONS];
        const sheaf_item *one = SHEAF_ITEM({":one", sheaf_int(1)}); /* outlives the loop below */
        for (int k = 0; k < ACTIONS; k++) {
            char pk[24], sk[32];
            name_keys((s->at++ * 7919u + (uint64_t)k * (s->n_items / ACTIONS)) % s->n_items, pk,
                      sk);
            keys[k] = sheaf_item_dup(SHEAF_ITEM({"PK", sheaf_s(pk)}, {"SK", sheaf_s(sk)}));
            a[k] = (struct sheaf_transact_write){.table = "bench",
                                                 .key = keys[k],
                                                 .update_expression = "SET amount = amount + :one",
                                                 .expression_attribute_values = one};
        }
        must(sheaf_transact_write_items(s->db,
                                        &(struct sheaf_transact_write_items){
                                            .actions = a, .n_actions = ACTIONS, .error = &err},
                                        NULL),
             &err);
        for (int k = 0; k < ACTIONS; k++) sheaf_item_free(keys[k]);
    }
}

static void run_batch_get(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    sheaf_error err;
    for (uint64_t i = 0; i < n; i++) {
        sheaf_item *keys[GETS];
        for (int k = 0; k < GETS; k++) {
            char pk[24], sk[32];
            name_keys((s->at++ * 7919u) % s->n_items, pk, sk);
            keys[k] = sheaf_item_dup(SHEAF_ITEM({"PK", sheaf_s(pk)}, {"SK", sheaf_s(sk)}));
        }
        struct sheaf_batch_get t = {
            .table = "bench", .keys = (const sheaf_item *const *)keys, .n_keys = GETS};
        sheaf_result *r;
        must(sheaf_batch_get_item(
                 s->db, &(struct sheaf_batch_get_item){.tables = &t, .n_tables = 1, .error = &err},
                 &r),
             &err);
        if (sheaf_result_count(r) != GETS) bench_die("batch get", "missing");
        sheaf_result_free(r);
        for (int k = 0; k < GETS; k++) sheaf_item_free(keys[k]);
    }
}

/* ---- RocksDB itself ---- */

static void run_raw_get(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    for (uint64_t i = 0; i < n; i++) {
        const struct sample *k = next(s);
        char *message = NULL;
        rocksdb_pinnableslice_t *pin =
            rocksdb_get_pinned(s->raw, s->ro, (const char *)k->raw, k->raw_n, &message);
        if (message || !pin) bench_die("raw get", message ? message : "missing");
        rocksdb_pinnableslice_destroy(pin);
    }
}

static void run_raw_get_put(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    for (uint64_t i = 0; i < n; i++) {
        const struct sample *k = next(s);
        char *message = NULL;
        rocksdb_pinnableslice_t *pin =
            rocksdb_get_pinned(s->raw, s->ro, (const char *)k->raw, k->raw_n, &message);
        if (message || !pin) bench_die("raw get", message ? message : "missing");
        size_t len;
        const char *v = rocksdb_pinnableslice_value(pin, &len);
        rocksdb_put(s->raw, s->wo, (const char *)k->raw, k->raw_n, v, len, &message);
        if (message) bench_die("raw put", message);
        rocksdb_pinnableslice_destroy(pin);
    }
}

static void run_raw_scan(void *ctx, uint64_t n)
{
    struct side *s = ctx;
    for (uint64_t i = 0; i < n; i++) {
        const struct sample *k = next(s);
        uint8_t end[SHEAF_PLACE_BYTES];
        size_t end_n = rocks_after_prefix(end, k->raw, SHEAF_PLACE_BYTES);
        rocksdb_readoptions_t *ro = rocksdb_readoptions_create();
        rocksdb_readoptions_set_iterate_upper_bound(ro, (char *)end, end_n);
        rocksdb_iterator_t *it = rocksdb_create_iterator(s->raw, ro);
        if (s->is_backward)
            rocksdb_iter_seek_for_prev(it, (char *)end, end_n);
        else
            rocksdb_iter_seek(it, (const char *)k->raw, SHEAF_PLACE_BYTES);
        uint64_t rows = 0;
        for (; rocksdb_iter_valid(it) && rows < PER; rows++) {
            size_t len;
            bench_use((uint64_t)*rocksdb_iter_value(it, &len));
            if (s->is_backward)
                rocksdb_iter_prev(it);
            else
                rocksdb_iter_next(it);
        }
        if (rows != PER) bench_die("raw scan", "wrong number of rows");
        rocksdb_iter_destroy(it);
        rocksdb_readoptions_destroy(ro);
    }
}

void settle(sheaf_db *db)
{
    rocksdb_t *raw = rocks_of(core_engine(db->core))->db;
    char *message = NULL;
    rocksdb_flushoptions_t *f = rocksdb_flushoptions_create();
    rocksdb_flush(raw, f, &message);
    rocksdb_flushoptions_destroy(f);
    if (message) bench_die("flush", message);
    rocksdb_compact_range(raw, NULL, 0, NULL, 0);
}

/* ---- groups ---- */

static void groups(const struct bench_options *o, struct side *mem, struct side *rocks)
{
    struct bench get[] = {{.name = "mem", .run = run_get, .ctx = mem},
                          {.name = "rocks", .run = run_get, .ctx = rocks},
                          {.name = "raw RocksDB get", .run = run_raw_get, .ctx = rocks}};
    bench_group(o, "GetItem", get, 3);
    bench_ratio("GetItem on rocks / raw get", get[1].ns, get[2].ns, 1.4);
    for (int back = 0; back < 2; back++) {
        mem->is_backward = rocks->is_backward = back;
        struct bench q[] = {{.name = "mem", .run = run_query, .ctx = mem},
                            {.name = "rocks", .run = run_query, .ctx = rocks},
                            {.name = "raw RocksDB, 25 rows", .run = run_raw_scan, .ctx = rocks}};
        bench_group(o, back ? "Query of 25, backwards" : "Query of 25, forwards", q, 3);
        bench_ratio("Query of 25 on rocks / raw iteration", q[1].ns, q[2].ns, 1.3);
    }
    struct bench put[] = {{.name = "mem", .run = run_put, .ctx = mem, .is_whole_process = true},
                          {.name = "rocks", .run = run_put, .ctx = rocks, .is_whole_process = true},
                          {.name = "raw RocksDB get + put",
                           .run = run_raw_get_put,
                           .ctx = rocks,
                           .is_whole_process = true}};
    bench_group(o, "PutItem (overwrites)", put, 3);
    bench_ratio("PutItem on rocks / raw get + put", put[1].ns, put[2].ns, 2.2);
    struct bench other[] = {
        {.name = "UpdateItem with a condition, mem",
         .run = run_update,
         .ctx = mem,
         .is_whole_process = true},
        {.name = "UpdateItem with a condition, rocks",
         .run = run_update,
         .ctx = rocks,
         .is_whole_process = true},
        {.name = "TransactWriteItems of 4, mem",
         .run = run_transact,
         .ctx = mem,
         .is_whole_process = true},
        {.name = "TransactWriteItems of 4, rocks",
         .run = run_transact,
         .ctx = rocks,
         .is_whole_process = true},
        {.name = "BatchGetItem of 100, mem", .run = run_batch_get, .ctx = mem},
        {.name = "BatchGetItem of 100, rocks", .run = run_batch_get, .ctx = rocks}};
    bench_group(o, "other operations", other, 6);
}

void make_directory(char directory[64])
{
    snprintf(directory, 64, "%s/sheaf-bench-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(directory)) bench_die("temporary directory", "cannot be made");
}

void remove_directory(const char *directory)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0) fprintf(stderr, "bench: could not remove %s\n", directory);
}

static void run_with(const struct bench_options *o, bool has_index)
{
    char directory[64], path[80], raw_path[80];
    make_directory(directory);
    snprintf(path, sizeof path, "%s/data", directory);
    snprintf(raw_path, sizeof raw_path, "%s/copy", directory);
    struct side mem = {.name = "mem"}, rocks = {.name = "rocks"};
    struct bench_raw raw;
    struct mallinfo2 before = mallinfo2();
    open_side(&mem, ":memory:", o->n_items, has_index);
    struct mallinfo2 after = mallinfo2();
    open_side(&rocks, path, o->n_items, has_index);
    settle(rocks.db);
    bench_raw_open(&raw, core_engine(rocks.db->core), raw_path, CACHE_BYTES / 2);
    rocks.raw = raw.db;
    rocks.ro = rocksdb_readoptions_create();
    rocks.wo = rocksdb_writeoptions_create();
    sample(&mem);
    sample(&rocks);
    printf("\n==== %llu items of about 400 bytes, 25 per collection, %s\n",
           (unsigned long long)o->n_items, has_index ? "one GSI" : "no index");
    printf("heap of mem per item: %.0f bytes\n",
           (double)(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) /
               (double)o->n_items);
    run_raw_get(&rocks, SAMPLES); /* warm both sides' rows */
    run_get(&rocks, SAMPLES);
    groups(o, &mem, &rocks);
    rocksdb_readoptions_destroy(rocks.ro);
    rocksdb_writeoptions_destroy(rocks.wo);
    bench_raw_close(&raw);
    free(mem.samples);
    free(rocks.samples);
    sheaf_close(mem.db);
    sheaf_close(rocks.db);
    remove_directory(directory);
}

int main(int argc, char **argv)
{
    struct bench_options o = {0};
    const char *growth = NULL;
    bool is_ttl = false, is_resident = false;
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
                                            {"items", required_argument, NULL, 'n'},
                                            {"growth", required_argument, NULL, 'g'},
                                            {"ttl", no_argument, NULL, 't'},
                                            {"resident", no_argument, NULL, 'r'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'q') o.is_quick = true;
        if (c == 'n') o.n_items = strtoull(optarg, NULL, 10);
        if (c == 'g') growth = optarg;
        if (c == 't') is_ttl = true;
        if (c == 'r') is_resident = true;
        if (c == 'h' || c == '?') {
            fputs("usage: bench_embedded [--quick] [--items N] [--growth mem|rocks | --ttl | "
                  "--resident]\n"
                  "  CPU nanoseconds per operation of the embedded API, beside raw RocksDB calls "
                  "on the same data;\n"
                  "  with --growth, at 100,000 items and at N (10,000,000), without raw calls;\n"
                  "  with --ttl, how many of N (500,000) items expire in a second;\n"
                  "  with --resident, memory of N (500,000) items of one kilobyte on mem\n",
                  c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    if (growth) return run_growth(&o, growth);
    if (is_ttl) return run_ttl(&o);
    if (is_resident) return run_resident(&o);
    if (!o.n_items) o.n_items = o.is_quick ? 20000 : 1000000;
    o.n_items -= o.n_items % PER;
    run_with(&o, false);
    run_with(&o, true);
    return 0;
}
