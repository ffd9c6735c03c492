/* bench_embedded --growth: what an operation costs in a large table and in a small one.
 *
 * Know before editing: "warm" draws from 65,536 keys that were read before, as the other mode does;
 * "any" draws from all items, so that at the larger size the caches do not hold what is read. Both
 * sizes are measured on one open database, which grows in between; on rocks it is compacted before
 * each. */
#include "embedded/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 100000, OPERATIONS = 6 };
static const uint64_t usual = 10000000;

/* Another sample before each run, so that hardly any key comes twice. */
static void resample(struct side *s)
{
    struct rng r;
    rng_init(&r, s->at + 1);
    for (int i = 0; i < SAMPLES; i++)
        name_keys(rng_below(&r, s->n_items), s->samples[i].pk, s->samples[i].sk);
}

static void measure_warm(const struct bench_options *o, struct side *s, double ns[OPERATIONS])
{
    sample(s);
    run_get(s, SAMPLES);
    run_query(s, SAMPLES);
    struct bench b[] = {
        {.name = "GetItem, warm", .run = run_get, .ctx = s},
        {.name = "Query of 25, warm", .run = run_query, .ctx = s},
        {.name = "PutItem, warm", .run = run_put, .ctx = s, .is_whole_process = true}};
    bench_group(o, "65,536 keys that were read before", b, 3);
    for (int i = 0; i < 3; i++) ns[i] = b[i].ns;
}

/* One round each: what was read once is in the caches. */
static void measure_any(struct side *s, double ns[OPERATIONS])
{
    static void (*const runs[])(void *, uint64_t) = {run_get, run_query, run_put};
    static const char *const names[] = {"GetItem, any", "Query of 25, any", "PutItem, any"};
    printf("\nany key\n");
    for (int i = 0; i < 3; i++) {
        resample(s);
        double start = bench_cpu_ns(i == 2);
        runs[i](s, SAMPLES);
        ns[3 + i] = (bench_cpu_ns(i == 2) - start) / SAMPLES;
        printf("  %-44s %10.1f ns\n", names[i], ns[3 + i]);
    }
    fflush(stdout);
}

static void measure(const struct bench_options *o, struct side *s, bool is_rocks,
                    double ns[OPERATIONS])
{
    if (is_rocks) settle(s->db);
    printf("\n==== %s, %llu items of about 400 bytes, 25 per collection\n", s->name,
           (unsigned long long)s->n_items);
    measure_warm(o, s, ns);
    measure_any(s, ns);
}

int run_growth(const struct bench_options *o, const char *engine)
{
    bool is_rocks = strcmp(engine, "rocks") == 0;
    if (!is_rocks && strcmp(engine, "mem") != 0) bench_die("--growth", "takes mem or rocks");
    char directory[64], path[80];
    make_directory(directory);
    snprintf(path, sizeof path, "%s/data", directory);
    struct side s = {.name = engine};
    double small[OPERATIONS], large[OPERATIONS];
    open_side(&s, is_rocks ? path : ":memory:", SMALL, false);
    measure(o, &s, is_rocks, small);
    s.n_items = o->n_items ? o->n_items : usual;
    s.n_items -= s.n_items % PER;
    double start = bench_cpu_ns(true);
    load(s.db, SMALL, s.n_items);
    printf("\nloading the rest: %.1f us of CPU per item\n",
           (bench_cpu_ns(true) - start) / 1e3 / (double)(s.n_items - SMALL));
    measure(o, &s, is_rocks, large);
    printf("\n==== the larger table costs so many times as much\n");
    static const char *const names[] = {"GetItem, warm", "Query of 25, warm", "PutItem, warm"};
    for (int i = 0; i < 3; i++) bench_ratio(names[i], large[i], small[i], 1.5);
    printf("    any key: GetItem %.2f, Query of 25 %.2f, PutItem %.2f\n", large[3] / small[3],
           large[4] / small[4], large[5] / small[5]);
    free(s.samples);
    sheaf_close(s.db);
    remove_directory(directory);
    return 0;
}
