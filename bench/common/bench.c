/* Turns functions into CPU nanoseconds per operation. Know before editing: calibration doubles n
 * until one run takes long enough for the clock, and the rounds interleave the members of a group.
 */
#include "common/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, ROUNDS_QUICK = 3, TARGET_US = 40000, TARGET_QUICK_US = 3000 };

static volatile uint64_t sink;

void bench_use(uint64_t x) { sink += x; }

void bench_die(const char *what, const char *why)
{
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

double bench_cpu_ns(bool is_whole_process)
{
    struct timespec t;
    clock_gettime(is_whole_process ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure(const struct bench *b, uint64_t n)
{
    double start = bench_cpu_ns(b->is_whole_process);
    b->run(b->ctx, n);
    return bench_cpu_ns(b->is_whole_process) - start;
}

static uint64_t calibrate(const struct bench *b, double target_ns)
{
    for (uint64_t n = 1;; n *= 2) {
        double ns = measure(b, n);
        if (ns < target_ns / 4 && n < (UINT64_C(1) << 40)) continue;
        double want = (double)n * target_ns / (ns > 1 ? ns : 1);
        return want < 1 ? 1 : (uint64_t)want;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool bench_wants(const struct bench_options *o, const char *title)
{
    return !o->filter || strstr(title, o->filter);
}

void bench_group(const struct bench_options *o, const char *title, struct bench *b, int n)
{
    int rounds = o->is_quick ? ROUNDS_QUICK : ROUNDS;
    double target = (o->is_quick ? TARGET_QUICK_US : TARGET_US) * 1e3;
    double figures[16][ROUNDS];
    uint64_t times[16];
    if (n > 16) bench_die(title, "more than 16 members");
    for (int i = 0; i < n; i++) times[i] = calibrate(&b[i], target);
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < n; i++) {
            uint64_t ops = times[i] * (b[i].batch ? b[i].batch : 1);
            figures[i][r] = measure(&b[i], times[i]) / (double)ops;
        }
    printf("\n%s\n", title);
    for (int i = 0; i < n; i++) {
        qsort(figures[i], (size_t)rounds, sizeof(double), ascending);
        b[i].ns = figures[i][rounds / 2];
        printf("  %-44s %10.1f ns   (%.1f … %.1f)\n", b[i].name, b[i].ns, figures[i][0],
               figures[i][rounds - 1]);
    }
    fflush(stdout);
}

void bench_ratio(const char *what, double ours, double other, double bar)
{
    printf("    ratio  %-48s %6.2f   aim ≤ %.2f%s\n", what, ours / other, bar,
           ours / other <= bar ? "" : "   MISSED");
}

void bench_at_most(const char *what, double ns, double bar)
{
    printf("    figure %-48s %6.0f ns aim ≤ %.0f ns%s\n", what, ns, bar,
           ns <= bar ? "" : "   MISSED");
}
