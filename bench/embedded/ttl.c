/* bench_embedded --ttl: how many items expire in a second.
 *
 * Know before editing: the clock is injected and stands still. Items are loaded while they are still
 * alive; then the clock jumps behind them all. "Rounds" calls the background's rounds one after the
 * other and shows what an expiry costs, by fifths of the backlog, because a sweep that walked over
 * what it deleted before would get slower. "Worker" leaves them to the background thread with its
 * rests, while this thread goes on writing to another table, as a program would. */
#include "embedded/embedded.h"

#include "base/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIFTHS = 5, BURST = 50, AIM = 20000, TTL_S = 60 };
static const int64_t loaded_us = INT64_C(1800000000000000);
static const uint64_t usual = 500000;

static int64_t now_us(void *hands) { return atomic_load((_Atomic int64_t *)hands); }

static double wall_ns(void) { return (double)clock_mono_ns(clock_system()); }

static void create(sheaf_db *db, const char *table)
{
    sheaf_error err;
    must(sheaf_create_table(db,
                            &(struct sheaf_create_table){.table = table,
                                                         .partition_key = {"PK", SHEAF_S, {0}},
                                                         .sort_key = {"SK", SHEAF_S, {0}},
                                                         .error = &err},
                            NULL),
         &err);
}

static void put(sheaf_db *db, const char *table, uint64_t i)
{
    sheaf_error err;
    char pk[24], sk[32];
    name_keys(i, pk, sk);
    must(sheaf_put_item(
             db,
             &(struct sheaf_put_item){
                 .table = table,
                 .item = SHEAF_ITEM(
                     {"PK", sheaf_s(pk)}, {"SK", sheaf_s(sk)}, {"Type", sheaf_s("Session")},
                     {"until", sheaf_int(loaded_us / 1000000 + 1 + (int64_t)(i % TTL_S))},
                     {"note", sheaf_s(note)}),
                 .error = &err},
             NULL),
         &err);
}

/* A database whose n items are all still alive, and a table that nothing expires from. */
static sheaf_db *open_loaded(const char *url, bool has_worker, uint64_t n, _Atomic int64_t *hands)
{
    sheaf_db *db;
    sheaf_error err;
    atomic_store(hands, loaded_us);
    struct sheaf_options o = {.durability = SHEAF_RELAXED,
                              .no_background = !has_worker,
                              .now_us = now_us,
                              .now_ctx = hands};
    must(sheaf_open(url, &o, &db, &err), &err);
    create(db, "bench");
    create(db, "other");
    must(sheaf_update_time_to_live(
             db,
             &(struct sheaf_update_time_to_live){
                 .table = "bench", .attribute = "until", .enabled = true, .error = &err},
             NULL),
         &err);
    for (uint64_t i = 0; i < n; i++) put(db, "bench", i);
    return db;
}

static void expire_all(_Atomic int64_t *hands)
{
    atomic_store(hands, loaded_us + INT64_C(1000000) * (TTL_S + 2));
}

static uint64_t items_left(sheaf_db *db)
{
    sheaf_result *r;
    sheaf_error err;
    must(sheaf_describe_table(db, &(struct sheaf_table_name){.table = "bench", .error = &err}, &r),
         &err);
    uint64_t n = sheaf_result_table(r)->item_count;
    sheaf_result_free(r);
    return n;
}

static void print_rate(const char *what, uint64_t n, double cpu, double wall)
{
    double s = (double)n * 1e9;
    printf("  %-30s %8.0f per CPU second, %8.0f per second   aim ≥ %d%s\n", what, s / cpu, s / wall,
           AIM, s / cpu >= AIM ? "" : "   MISSED");
    fflush(stdout);
}

/* ---- rounds ---- */

static void run_rounds(sheaf_db *db, uint64_t n)
{
    sheaf_error err;
    uint64_t expired = 0, rounds = 0;
    double cpu_0 = bench_cpu_ns(true), wall_0 = wall_ns(), longest = 0;
    for (int fifth = 1; fifth <= FIFTHS; fifth++) {
        uint64_t before = expired;
        double cpu = bench_cpu_ns(true), wall = wall_ns();
        for (struct core_background did; expired < n * (uint64_t)fifth / FIFTHS; rounds++) {
            double from = bench_cpu_ns(false);
            must(core_run_background(db->core, &did, &err), &err);
            double took = bench_cpu_ns(false) - from;
            if (took > longest) longest = took;
            expired += did.expired;
            if (!did.has_more && expired < n) bench_die("rounds", "ended before the items did");
        }
        char what[32];
        snprintf(what, sizeof what, "fifth %d", fifth);
        print_rate(what, expired - before, bench_cpu_ns(true) - cpu, wall_ns() - wall);
    }
    print_rate("rounds, one after the other", n, bench_cpu_ns(true) - cpu_0, wall_ns() - wall_0);
    printf("  %llu rounds; the longest took %.1f ms of CPU\n", (unsigned long long)rounds,
           longest / 1e6);
    if (items_left(db) != 0) bench_die("rounds", "items are left");
    struct core_background did;
    do must(core_run_background(db->core, &did, &err), &err);
    while (did.has_more);
    double from = bench_cpu_ns(false);
    must(core_run_background(db->core, &did, &err), &err);
    printf("  a round with nothing to do, afterwards: %.2f ms of CPU\n",
           (bench_cpu_ns(false) - from) / 1e6);
}

/* ---- the worker ---- */

static double burst(sheaf_db *db, uint64_t *at)
{
    double from = wall_ns();
    for (int i = 0; i < BURST; i++) put(db, "other", (*at)++ % 10000);
    return (wall_ns() - from) / BURST;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_bursts(const char *when, double *ns, size_t n)
{
    qsort(ns, n, sizeof *ns, ascending);
    printf("  PutItem on another table, %s: %.1f µs (median of bursts of %d), %.1f (9 in 10)\n",
           when, ns[n / 2] / 1e3, BURST, ns[n * 9 / 10] / 1e3);
}

static void run_worker(sheaf_db *db, uint64_t n, _Atomic int64_t *hands)
{
    enum { MAX = 100000 };
    uint64_t at = 0;
    double *ns = calloc(MAX, sizeof *ns);
    if (!ns) bench_die("worker", "out of memory");
    for (int i = 0; i < 400; i++) ns[i] = burst(db, &at);
    print_bursts("nothing expiring", ns, 400);
    expire_all(hands);
    while (items_left(db) == n) clock_sleep_ns(clock_system(), 1000000);
    uint64_t from = items_left(db);
    double wall = wall_ns(), cpu = bench_cpu_ns(true) - bench_cpu_ns(false);
    size_t bursts = 0;
    for (; items_left(db) > 0; clock_sleep_ns(clock_system(), 5000000))
        if (bursts < MAX) ns[bursts++] = burst(db, &at);
    cpu = bench_cpu_ns(true) - bench_cpu_ns(false) - cpu;
    print_rate("worker with its rests", from, cpu, wall_ns() - wall);
    if (bursts) print_bursts("meanwhile", ns, bursts);
    free(ns);
}

int run_ttl(const struct bench_options *o)
{
    static const char *const names[] = {"mem", "rocks"};
    uint64_t n = o->n_items ? o->n_items : o->is_quick ? 20000 : usual;
    _Atomic int64_t hands;
    for (int i = 0; i < 4; i++) {
        bool is_rocks = i & 1, has_worker = i >= 2;
        char directory[64], path[80];
        make_directory(directory);
        snprintf(path, sizeof path, "%s/data", directory);
        sheaf_db *db = open_loaded(is_rocks ? path : ":memory:", has_worker, n, &hands);
        printf("\n==== %s, %llu items expire, %s\n", names[is_rocks], (unsigned long long)n,
               has_worker ? "by the background thread" : "by rounds");
        if (has_worker) {
            run_worker(db, n, &hands);
        } else {
            expire_all(&hands);
            run_rounds(db, n);
        }
        sheaf_close(db);
        remove_directory(directory);
    }
    return 0;
}
