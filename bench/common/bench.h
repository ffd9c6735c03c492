/* bench/common/bench.h: measuring small things side by side.
 *
 * Figures are CPU nanoseconds per operation, the median of several rounds; the members of a group
 * are measured in turn within each round, so that a noisy neighbour hits them alike and ratios
 * hold. */
#ifndef BENCH_COMMON_BENCH_H
#define BENCH_COMMON_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* One thing to measure: run() does it n times. */
struct bench {
    const char *name;
    void (*run)(void *ctx, uint64_t n);
    void *ctx;
    bool
        is_whole_process; /* count all threads: for writes, whose cost falls on background threads */
    uint64_t batch;       /* operations per call of run's unit; 0 = 1 */
    double ns;            /* out: median */
};

struct bench_options {
    bool is_quick;      /* fewer rounds, less data: to see that it works */
    const char *filter; /* only groups whose name contains it */
    uint64_t n_items;   /* of the engine groups */
    const char *directory;
};

/* Measures and prints one group. */
void bench_group(const struct bench_options *o, const char *title, struct bench *b, int n);
/* Prints a ratio with its bar ("aim: at most x"); a bar is never a verdict here. */
void bench_ratio(const char *what, double ours, double other, double bar);
void bench_at_most(const char *what, double ns, double bar);
bool bench_wants(const struct bench_options *o, const char *title);
/* CPU time of this thread, or of all threads, so far. */
double bench_cpu_ns(bool is_whole_process);
/* Keeps a result alive. */
void bench_use(uint64_t x);
/* Ends the program with a message: a benchmark that cannot run has no figure. */
void bench_die(const char *what, const char *why) __attribute__((noreturn));

#endif
