/* tests/model/model.c: random operations on the library and on the oracle, in rounds of a fresh
 * database each.
 *
 *      model <mem | rocks> [--operations N] [--seed N]
 *
 * Each round runs in a process of its own, so that a crash is a finding like any other. When a
 * round fails, operations are left out of its sequence as long as it still fails (for at most a
 * minute), and the short sequence is printed. Ends with "N passed, M failed".
 */
#include "base/clock.h"
#include "model/world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUND_OPERATIONS = 8000, SHRINK_SECONDS = 60 };

/* What a round in another process tells; shared memory. */
struct report {
    uint64_t done, calls, checked; /* operations … */
    bool has_failed;
    char message[8192];
};

struct sequence {
    uint64_t seed; /* of the world */
    uint64_t *ops;
    size_t n;
};

static bool is_rocks;
static char home[64];

static uint64_t mix(uint64_t seed, uint64_t i)
{
    struct rng r;
    rng_init(&r, seed * UINT64_C(0x9e3779b97f4a7c15) + i);
    uint64_t x = rng_u64(&r);
    return x ? x : 1;
}

/* ---- one round ---- */

static void remove_directory(const char *directory)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0) abort();
}

static bool run_here(const struct sequence *s, struct report *report, FILE *trace)
{
    static struct world w;
    char directory[100];
    snprintf(directory, sizeof directory, "%s/db", home);
    if (is_rocks) remove_directory(directory);
    bool ok = world_open(&w, s->seed, is_rocks ? directory : NULL);
    w.trace = trace;
    for (size_t i = 0; ok && i < s->n; i++) {
        if (trace) fprintf(trace, "%4zu  ", i);
        ok = world_step(&w, s->ops[i]);
        report->done = i + 1;
    }
    if (ok) ok = world_check(&w);
    report->calls = w.n_calls;
    report->checked = w.n_checked;
    if (!ok) snprintf(report->message, sizeof report->message, "%s", w.message);
    report->has_failed = !ok;
    if (ok) world_close(&w);
    return ok;
}

/* In a process of its own. */
static bool run(const struct sequence *s, struct report *report, FILE *trace)
{
    memset(report, 0, sizeof *report);
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) abort();
    if (pid == 0) {
        bool ok = run_here(s, report, trace);
        fflush(NULL);
        if (!ok) _exit(1);
        exit(0); /* so that a leak checker looks */
    }
    int status;
    while (waitpid(pid, &status, 0) < 0) {}
    if (status == 0) return true;
    if (!report->has_failed)
        snprintf(report->message, sizeof report->message,
                 "the process ended with status 0x%x in "
                 "operation %" PRIu64,
                 (unsigned)status, report->done);
    return false;
}

/* ---- making a failing sequence short ---- */

static bool fails(const struct sequence *s, struct report *report) { return !run(s, report, NULL); }

/* Leaves out what is not needed, first in large pieces. */
static void shrink(struct sequence *s, struct report *report)
{
    uint64_t until = clock_mono_ns(clock_system()) + (uint64_t)SHRINK_SECONDS * 1000000000u;
    uint64_t *rest = malloc((s->n + 1) * sizeof *rest);
    if (!rest) abort();
    for (size_t piece = (s->n + 1) / 2; piece > 0; piece = piece > 1 ? (piece + 1) / 2 : 0) {
        for (size_t at = 0; at < s->n && clock_mono_ns(clock_system()) < until;) {
            size_t end = at + piece < s->n ? at + piece : s->n;
            memcpy(rest, s->ops, at * sizeof *rest);
            memcpy(rest + at, s->ops + end, (s->n - end) * sizeof *rest);
            struct sequence shorter = {s->seed, rest, s->n - (end - at)};
            if (!fails(&shorter, report)) {
                at = end;
                continue;
            }
            /* What comes after the operation that failed is not needed either. */
            if (report->done && report->done < shorter.n && report->has_failed)
                shorter.n = report->done;
            memcpy(s->ops, rest, shorter.n * sizeof *rest);
            s->n = shorter.n;
        }
        if (piece == 1) break;
    }
    free(rest);
}

static void explain(struct sequence *s, struct report *report)
{
    printf("  FAILED in operation %" PRIu64 " of %zu: %s\n", report->done, s->n, report->message);
    if (report->done && report->done < s->n) s->n = report->done;
    shrink(s, report);
    printf("  shortened to %zu operations of world %" PRIu64 ":\n", s->n, s->seed);
    (void)run(s, report, stdout);
    printf("  → %s\n", report->message);
}

/* ---- all rounds ---- */

static uint64_t number_of(int argc, char **argv, const char *name, uint64_t otherwise)
{
    for (int i = 2; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0) return strtoull(argv[i + 1], NULL, 0);
    return otherwise;
}

static uint64_t scaled(uint64_t n)
{
    const char *text = getenv("SHEAF_TEST_SCALE");
    double scale = text ? strtod(text, NULL) : 1.0;
    return scale > 0 ? (uint64_t)((double)n * scale) : n;
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    is_rocks = strcmp(argv[1], "rocks") == 0;
    const char *seed_text = getenv("SHEAF_SEED"), *tmp = getenv("TMPDIR");
    uint64_t seed = number_of(argc, argv, "--seed", seed_text ? strtoull(seed_text, NULL, 0) : 1);
    uint64_t want = scaled(number_of(argc, argv, "--operations", is_rocks ? 200000 : 1000000));
    struct report *report =
        mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED) return 2;
    snprintf(home, sizeof home, "%.40s/model-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(home)) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("model %s: seed %" PRIu64 " (repeat with SHEAF_SEED=%" PRIu64 ")\n", argv[1], seed,
           seed);
    uint64_t operations = 0, calls = 0, checked = 0, rounds = 0, failed = 0;
    uint64_t begun = clock_mono_ns(clock_system());
    while (operations < want && failed == 0) {
        struct sequence s = {.seed = mix(seed, rounds), .n = ROUND_OPERATIONS};
        if (s.n > want - operations) s.n = want - operations;
        s.ops = malloc((s.n + 1) * sizeof *s.ops);
        if (!s.ops) return 2;
        for (size_t i = 0; i < s.n; i++) s.ops[i] = mix(s.seed, i + 1);
        bool ok = run(&s, report, NULL);
        operations += report->done;
        calls += report->calls;
        checked += report->checked;
        rounds++;
        if (!ok) {
            failed++;
            explain(&s, report);
        }
        free(s.ops);
    }
    remove_directory(home);
    double seconds = (double)(clock_mono_ns(clock_system()) - begun) / 1e9;
    printf("  %" PRIu64 " operations, %" PRIu64 " calls, %" PRIu64 " answers compared, in %" PRIu64
           " rounds and %.1f s (%.1f µs per operation)\n",
           operations, calls, checked, rounds, seconds, seconds * 1e6 / (double)(operations + 1));
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", rounds - failed, failed);
    return failed > 0;
}
