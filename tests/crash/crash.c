/* tests/crash/crash.c: kills writers and cuts the power under them, again and again, and checks
 * after each time that nothing acknowledged is lost and no transaction is half there.
 *
 *      crash <kill | powercut> [--cycles N] [--seed N] [--plant skip-sync | halves]
 *            [--holes yes]
 *
 * One cycle: start a writer on the directory; it dies at a random moment (by the clock, while it
 * is still recovering, before its n-th change of the disk, or it ends by itself); in powercut, most
 * times, the disk then forgets; open what is left and check. The next writer goes on from there:
 * half of the time from what the checker's own recovery left, half of the time from the untouched
 * wreck, so that recoveries are interrupted as well. Some cycles of powercut kill without cutting:
 * the next writer then runs on un-synced files, and the cut comes later.
 *
 * With --plant the run passes only when the planted bug is found. SHEAF_CRASH_KEEP=<directory>
 * keeps a copy of each wreck that did not pass. --holes lets un-synced appends leave zeros inside a
 * file's length, as a file system does that writes the length before the bytes. RocksDB 7.8 takes
 * that in its logs but refuses a manifest that is torn so (seen once in 3,500 cycles): it is not
 * usual. Ends with "N passed, M failed".
 */
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "check.h"
#include "disk.h"
#include "spawn.h"
#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FAILED = 10 }; /* then the run ends: more of them say nothing more */
enum plant { PLANT_NONE, PLANT_SKIP_SYNC, PLANT_HALVES };
static const char *const plant_names[] = {"none", "skip-sync", "halves"};

struct options {
    bool is_powercut, has_holes;
    enum plant plant;
    uint64_t cycles, seed;
};

/* How the writer of one cycle dies. */
struct death {
    uint64_t transactions; /* ends by itself after so many; 0 = never */
    uint64_t records;      /* before its n-th change from the start; 0 = by the clock */
    uint64_t after_ms;     /* killed so long … */
    bool from_start;       /* … after its start, else after it has opened */
};

struct totals {
    uint64_t cycles, failed, acked, present, fresh, kept, clean, during_open;
    uint64_t by_record, compared;
    struct disk_loss loss;
    uint64_t lost, torn, other, copies;
};

struct run {
    const struct options *o;
    char home[80], disk_root[96], directory[112], copy[96];
    struct rng rng;
    struct ledger ledger;
    uint64_t epoch;
    struct disk *disk;
    struct pc_history *history;
    int history_fd;
    uint64_t usual_records; /* of a run that was not cut short */
    struct totals t;
    char last_complaint[256];
};

static char home_to_remove[80];
static void remove_home(void)
{
    if (!home_to_remove[0]) return;
    tree_empty(home_to_remove);
    rmdir(home_to_remove);
}

/* ---- one writer's life ---- */

static struct death choose_death(struct run *r)
{
    struct death d = {.after_ms = UINT64_C(1) << rng_below(&r->rng, 9)};
    uint64_t dice = rng_below(&r->rng, 10);
    if (dice == 0)
        d.transactions = 1 + rng_below(&r->rng, 60);
    else if (dice <= 2)
        d.from_start = true;
    else if (dice <= 6 && r->o->is_powercut)
        d.records = 1 + rng_below(&r->rng, r->usual_records + r->usual_records / 4);
    if (d.from_start) d.after_ms = rng_below(&r->rng, 25);
    if (d.transactions || d.records) d.after_ms = 2000;
    return d;
}

static pid_t start_writer(struct run *r, const struct death *d, int out)
{
    char seed[24], epoch[24], transactions[24];
    const char *plant = r->o->plant == PLANT_NONE ? NULL : plant_names[r->o->plant];
    snprintf(seed, sizeof seed, "%" PRIu64, rng_u64(&r->rng) >> 1);
    snprintf(epoch, sizeof epoch, "%" PRIu64, r->epoch);
    snprintf(transactions, sizeof transactions, "%" PRIu64, d->transactions);
    const char *const argv[] = {CRASH_WRITER, r->directory, seed, epoch, transactions, plant, NULL};
    struct spawn s = {.argv = argv, .history_fd = r->history_fd, .out = out};
    if (r->o->is_powercut) {
        s.shim_root = r->disk_root;
        static const uint64_t delays[] = {0, 200000, 5000000, 20000000};
        r->history->sync_delay_ns = delays[rng_below(&r->rng, 4)];
        r->history->die_at = d->records ? atomic_load(&r->history->records) + d->records : 0;
    }
    return spawn(&s);
}

/* Takes messages until `until_ns` or until the writer is gone. false: gone. */
static bool listen_to(struct run *r, int fd, uint64_t *until_ns, const struct death *d, bool *ok)
{
    struct work_message m;
    for (;;) {
        enum spawn_heard heard = spawn_hear(fd, *until_ns, &m, sizeof m);
        if (heard == SPAWN_LATE || heard == SPAWN_GONE) return heard == SPAWN_LATE;
        if (heard == SPAWN_ODD || !ledger_take(&r->ledger, &m)) *ok = false;
        if (m.kind == WORK_OPENED && !d->from_start)
            *until_ns = clock_mono_ns(clock_system()) + d->after_ms * 1000000;
    }
}

/* Runs one writer to its death and takes over all it acknowledged. */
static bool live_and_die(struct run *r)
{
    struct death d = choose_death(r);
    int ends[2];
    bool ok = true;
    spawn_pipe(ends);
    uint64_t opened_before = r->ledger.n_opened, acked_before = r->ledger.n_acked;
    pid_t pid = start_writer(r, &d, ends[1]);
    close(ends[1]);
    /* A writer that never opens is not waited for: twenty seconds are a failure of its own. */
    uint64_t allowed_ms = d.from_start ? d.after_ms : 20000;
    uint64_t until = clock_mono_ns(clock_system()) + allowed_ms * 1000000;
    if (listen_to(r, ends[0], &until, &d, &ok)) kill(pid, SIGKILL);
    int status = spawn_wait(pid);
    until = UINT64_MAX;
    struct death silent = {.from_start = true};
    (void)listen_to(r, ends[0], &until, &silent, &ok);
    close(ends[0]);
    bool opened = r->ledger.n_opened > opened_before;
    if (!opened && !d.from_start && !d.records) ok = false;
    if (opened && r->o->is_powercut && !atomic_load(&r->history->is_attached)) ok = false;
    if (!ok || !spawn_ended_well(status))
        snprintf(r->last_complaint, sizeof r->last_complaint,
                 "the writer ended with status %x, opened %d, messages %s", (unsigned)status,
                 opened, ok ? "fine" : "impossible or missing");
    r->t.acked += r->ledger.n_acked - acked_before;
    r->t.clean += WIFEXITED(status);
    r->t.during_open += !opened;
    r->t.by_record += d.records > 0;
    return ok && spawn_ended_well(status);
}

/* ---- the cut ---- */

static struct disk_cut choose_cut(struct rng *rng)
{
    static const struct disk_cut cuts[] = {
        {KEEP_NONE, KEEP_NONE, 0},        {KEEP_NONE, KEEP_NONE, 0},
        {KEEP_NONE, KEEP_PREFIX, 0},      {KEEP_PREFIX, KEEP_PREFIX, 0},
        {KEEP_PREFIX, KEEP_ALL, 0},       {KEEP_BLOCKS, KEEP_NONE, 512},
        {KEEP_BLOCKS, KEEP_PREFIX, 512},  {KEEP_BLOCKS, KEEP_ALL, 4096},
        {KEEP_BLOCKS, KEEP_PREFIX, 4096}, {KEEP_ALL, KEEP_NONE, 0},
        {KEEP_NONE, KEEP_ALL, 0},
    };
    return cuts[rng_below(rng, sizeof cuts / sizeof cuts[0])];
}

/* The disk forgets. false: the model and the directory do not agree, so nothing can be said. */
static bool cut_power(struct run *r)
{
    char *why = r->last_complaint;
    enum disk_mode mode = rng_below(&r->rng, 3) ? DISK_STRICT : DISK_EXT4;
    if (!disk_replay(r->disk, r->history, mode, why)) return false;
    if (!atomic_load(&r->history->in_flight)) {
        if (!disk_is_real(r->disk, why)) return false;
        r->t.compared++;
    }
    struct disk_cut cut = choose_cut(&r->rng);
    if (cut.bytes == KEEP_BLOCKS && r->o->has_holes) cut.bytes = KEEP_HOLES;
    struct disk_loss loss = disk_cut(r->disk, &cut, &r->rng);
    r->t.loss.writes += loss.writes;
    r->t.loss.overwrites += loss.overwrites;
    r->t.loss.names += loss.names;
    disk_restore(r->disk);
    uint64_t records = atomic_load(&r->history->records);
    if (!r->history->die_at && records > 0) r->usual_records = (r->usual_records * 3 + records) / 4;
    history_reset(r->history);
    return true;
}

/* ---- one cycle ---- */

static void begin_afresh(struct run *r)
{
    tree_empty(r->disk_root);
    ledger_clear(&r->ledger);
    r->epoch = 0;
    r->t.fresh++;
    if (!r->o->is_powercut) return;
    disk_load(r->disk);
    history_reset(r->history);
}

/* Before the check, which changes what it looks at. */
static void keep_wreck(const struct run *r)
{
    char to[PATH_MAX];
    const char *keep = getenv("SHEAF_CRASH_KEEP");
    if (!keep || snprintf(to, sizeof to, "%s/last", keep) >= (int)sizeof to) return;
    tree_empty(to);
    tree_copy(r->disk_root, to);
}

static void name_wreck(const struct run *r)
{
    char from[PATH_MAX], to[PATH_MAX];
    const char *keep = getenv("SHEAF_CRASH_KEEP");
    if (!keep || snprintf(from, sizeof from, "%s/last", keep) >= (int)sizeof from) return;
    snprintf(to, sizeof to, "%.3000s/%s-%" PRIu64 "-%" PRIu64, keep,
             r->o->is_powercut ? "powercut" : "kill", r->o->seed, r->t.cycles);
    (void)rename(from, to);
}

static void copy_to_check(struct run *r, const char *from)
{
    tree_empty(r->copy);
    if (access(from, F_OK) == 0)
        tree_copy(from, r->copy);
    else
        rmdir(r->copy);
}

/* Counts a verdict and tells it. */
static bool judge(struct run *r, const struct verdict *v)
{
    r->t.lost += v->lost;
    r->t.torn += v->torn;
    r->t.other += v->other;
    for (size_t i = 0; i < v->n_complaints && r->o->plant == PLANT_NONE; i++)
        printf("  cycle %" PRIu64 ": %s\n", r->t.cycles, v->complaint[i]);
    const char *chief = r->o->plant == PLANT_SKIP_SYNC && v->lost ? v->first_lost
                        : r->o->plant == PLANT_HALVES && v->torn  ? v->first_torn
                                                                  : v->complaint[0];
    if (v->n_complaints) memcpy(r->last_complaint, chief, sizeof r->last_complaint);
    return verdict_ok(v);
}

static void remove_copy(void *ctx, const char *dir, const char *name, const struct stat *st)
{
    char path[PATH_MAX];
    (void)ctx, (void)st;
    if (strncmp(name, "db-copy-", 8) != 0) return;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    tree_empty(path);
    rmdir(path);
}

/* The writers' own copies. On a disk that has been cut they are checked once and removed; else they
 * stay as they are, for the cut to come. */
static bool check_copies(struct run *r, bool is_disk)
{
    bool ok = true;
    for (size_t i = 0; i < r->ledger.n_copies; i++) {
        char path[PATH_MAX];
        struct verdict v;
        snprintf(path, sizeof path, "%s-copy-%" PRIx64, r->directory, r->ledger.copies[i].n);
        if (!is_disk) copy_to_check(r, path);
        check_copy(is_disk ? path : r->copy, r->ledger.copies[i].least, &v);
        ok = judge(r, &v) && ok;
        r->t.copies++;
    }
    if (!is_disk) return ok;
    r->ledger.n_copies = 0;
    tree_each(r->disk_root, remove_copy, NULL);
    return ok;
}

/* Checks a copy and leaves the wreck to the next writer, or checks the wreck itself. */
static bool check(struct run *r, bool is_disk, bool on_copy)
{
    struct verdict v;
    keep_wreck(r);
    if (on_copy) copy_to_check(r, r->directory);
    check_directory(&r->ledger, on_copy ? r->copy : r->directory, is_disk, &v);
    r->t.present += v.present;
    bool ok = judge(r, &v);
    ok = check_copies(r, is_disk) && ok;
    if (r->o->is_powercut && is_disk) disk_load(r->disk);
    if (!ok) name_wreck(r);
    return ok;
}

static bool cycle(struct run *r)
{
    if (r->epoch == LEDGER_EPOCHS || rng_below(&r->rng, 25) == 0) begin_afresh(r);
    bool ok = live_and_die(r);
    r->epoch++;
    if (!ok) return false;
    if (!r->o->is_powercut) return check(r, true, rng_below(&r->rng, 2));
    /* What was in flight may have happened, and the model does not know: now or never. */
    bool lives_on = !atomic_load(&r->history->in_flight) && rng_below(&r->rng, 4) == 0 &&
                    atomic_load(&r->history->tail) < PC_BYTES / 4;
    if (lives_on) {
        r->t.kept++;
        return check(r, false, true);
    }
    return cut_power(r) && check(r, true, rng_below(&r->rng, 2));
}

static void run_cycles(struct run *r)
{
    begin_afresh(r);
    for (uint64_t i = 0; i < r->o->cycles; i++) {
        bool ok = cycle(r);
        r->t.cycles++;
        if (ok) continue;
        r->t.failed++;
        if (r->o->plant == PLANT_NONE)
            printf("  cycle %" PRIu64 " failed: %s\n", i, r->last_complaint);
        bool caught = r->o->plant == PLANT_SKIP_SYNC ? r->t.lost > 0 : r->t.torn > 0;
        if (r->o->plant != PLANT_NONE && caught) return;
        if (r->o->plant == PLANT_NONE && r->t.failed == MAX_FAILED) {
            printf("  enough\n");
            return;
        }
        begin_afresh(r);
    }
}

/* ---- the program ---- */

static void report(const struct run *r, double seconds)
{
    const struct totals *t = &r->t;
    printf("  %" PRIu64 " cycles (%" PRIu64 " fresh directories, %" PRIu64 " died while opening, "
           "%" PRIu64 " ended by themselves), %.1f cycles/s\n",
           t->cycles, t->fresh, t->during_open, t->clean, (double)t->cycles / seconds);
    if (r->o->is_powercut)
        printf("  %" PRIu64 " cut before a chosen change of the disk, %" PRIu64
               " killed without a cut; shim and directory compared %" PRIu64 " times\n"
               "  at stake in the cuts: %" PRIu64 " un-synced writes (%" PRIu64
               " over older bytes), %" PRIu64 " names forgotten\n",
               t->by_record, t->kept, t->compared, t->loss.writes, t->loss.overwrites,
               t->loss.names);
    printf("  acknowledged %" PRIu64 ", lost %" PRIu64 ", torn %" PRIu64 ", other %" PRIu64
           "; %" PRIu64 " copies opened\n",
           t->acked, t->lost, t->torn, t->other, t->copies);
}

static void prepare(struct run *r, const struct options *o)
{
    const char *tmp = getenv("TMPDIR");
    *r = (struct run){.o = o, .history_fd = -1, .usual_records = 400};
    rng_init(&r->rng, o->seed);
    snprintf(r->home, sizeof r->home, "%.48s/crash-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(r->home)) give_up("mkdtemp", r->home);
    strcpy(home_to_remove, r->home);
    snprintf(r->disk_root, sizeof r->disk_root, "%s/disk", r->home);
    snprintf(r->directory, sizeof r->directory, "%s/db", r->disk_root);
    snprintf(r->copy, sizeof r->copy, "%s/copy", r->home);
    if (mkdir(r->disk_root, 0755) != 0) give_up("mkdir", r->disk_root);
    if (!o->is_powercut) return;
    r->disk = disk_new(r->disk_root);
    r->history = history_new(&r->history_fd);
}

static void finish(struct run *r)
{
    ledger_clear(&r->ledger);
    disk_free(r->disk);
    if (r->history_fd >= 0) close(r->history_fd);
    remove_home();
    home_to_remove[0] = 0;
}

/* Runs all cycles; returns the totals. */
static struct totals run(const struct options *o, struct run *r)
{
    prepare(r, o);
    uint64_t begun = clock_mono_ns(clock_system());
    run_cycles(r);
    report(r, (double)(clock_mono_ns(clock_system()) - begun + 1) / 1e9);
    finish(r);
    return r->t;
}

/* That the planted bug is found, and for the skipped fsync that killing alone does not find it. */
static int run_planted(const struct options *o, struct run *r)
{
    struct totals t = run(o, r);
    bool caught = o->plant == PLANT_SKIP_SYNC ? t.lost > 0 : t.torn > 0;
    if (caught)
        printf("  caught in cycle %" PRIu64 ": %s\n", t.cycles, r->last_complaint);
    else
        printf("  the planted bug was not caught\n");
    if (o->plant == PLANT_SKIP_SYNC && o->is_powercut) {
        struct options plain = *o;
        plain.is_powercut = false;
        plain.cycles = 20;
        printf("  for comparison, the same bug under kill alone:\n");
        struct totals k = run(&plain, r);
        printf("  kill alone sees %s\n", k.lost ? "it too" : "nothing of it");
    }
    printf("%d passed, %d failed\n", caught, !caught);
    return !caught;
}

static uint64_t number(const char *text) { return strtoull(text, NULL, 10); }

static void read_options(int argc, char **argv, struct options *o)
{
    const char *cycles = getenv("SHEAF_CRASH_CYCLES"), *seed = getenv("SHEAF_SEED");
    if (seed) o->seed = number(seed);
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--cycles") == 0) o->cycles = number(argv[i + 1]);
        if (strcmp(argv[i], "--seed") == 0) o->seed = number(argv[i + 1]);
        if (strcmp(argv[i], "--holes") == 0) o->has_holes = strcmp(argv[i + 1], "yes") == 0;
        if (strcmp(argv[i], "--plant") == 0)
            o->plant = strcmp(argv[i + 1], "halves") == 0 ? PLANT_HALVES : PLANT_SKIP_SYNC;
    }
    /* Long runs with holes meet what RocksDB does not take (see above). */
    if (cycles && o->plant == PLANT_NONE && !o->has_holes) o->cycles = number(cycles);
}

int main(int argc, char **argv)
{
    static struct run r;
    struct options o = {.cycles = 200, .seed = 1};
    if (argc < 2 || (strcmp(argv[1], "kill") != 0 && strcmp(argv[1], "powercut") != 0)) {
        fprintf(stderr, "usage: crash <kill | powercut> [--cycles N] [--seed N] "
                        "[--plant skip-sync | halves] [--holes yes]\n");
        return 2;
    }
    o.is_powercut = strcmp(argv[1], "powercut") == 0;
    read_options(argc, argv, &o);
    atexit(remove_home);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("crash %s: seed %" PRIu64 ", planted bug: %s\n", argv[1], o.seed, plant_names[o.plant]);
    if (o.plant != PLANT_NONE) return run_planted(&o, &r);
    struct totals t = run(&o, &r);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", t.cycles - t.failed, t.failed);
    return t.failed > 0;
}
