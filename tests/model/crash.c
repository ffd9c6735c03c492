/* tests/model/crash.c: kills writers of whole operations and cuts the power under them, and
 * checks after each time that every acknowledged operation is there with its index entries,
 * stream records, statistics and token, and that none is half there.
 *
 *      model_crash <kill | powercut> [--cycles N] [--seed N] [--plant NAME]
 *
 * The processes, the shim and the model of the disk are those of tests/crash; what is written
 * and what is expected is here (job.h, crash_check.h). With --plant the run passes only when the
 * planted bug is found. Ends with "N passed, M failed".
 */
#include "base/clock.h"
#include "crash/disk.h"
#include "crash/spawn.h"
#include "crash/tree.h"
#include "model/crash_check.h"
#include "model/plant.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_FAILED = 5 };

struct run {
    bool is_powercut;
    enum plant plant;
    uint64_t cycles, seed;
    char home[80], disk_root[96], directory[112], copy[96];
    struct rng rng;
    struct ledger ledger;
    uint64_t epoch;
    struct disk *disk;
    struct pc_history *history;
    int history_fd;
    uint64_t usual_records;
    char why[1100];
    uint64_t n_acked, n_found, n_tokens, n_fresh, n_lost_writes, n_during_open;
};

static char home_to_remove[80];
static void remove_home(void)
{
    if (!home_to_remove[0]) return;
    tree_empty(home_to_remove);
    rmdir(home_to_remove);
}

/* ---- one writer's life ---- */

struct death {
    uint64_t jobs;     /* ends by itself after so many in each lane; 0 = never */
    uint64_t records;  /* before its n-th change of the disk; 0 = by the clock */
    uint64_t after_ms; /* killed so long after it was ready, or after its start */
    bool from_start;
};

static struct death choose_death(struct run *r)
{
    struct death d = {.after_ms = UINT64_C(1) << rng_below(&r->rng, 7)};
    uint64_t dice = rng_below(&r->rng, 10);
    if (dice == 0)
        d.jobs = 1 + rng_below(&r->rng, 30);
    else if (dice == 1)
        d.from_start = true;
    else if (dice <= 5 && r->is_powercut)
        d.records = 1 + rng_below(&r->rng, r->usual_records + r->usual_records / 4);
    if (d.from_start) d.after_ms = rng_below(&r->rng, 60);
    if (d.jobs || d.records) d.after_ms = 3000;
    return d;
}

static pid_t start_writer(struct run *r, const struct death *d, int out)
{
    char text[3 + N_ALL_LANES][24];
    const char *argv[7 + N_ALL_LANES] = {MODEL_CRASH_WRITER, r->directory};
    const uint64_t numbers[3] = {rng_u64(&r->rng) >> 1, r->ledger.seed, d->jobs};
    for (unsigned i = 0; i < 3 + N_ALL_LANES; i++)
        snprintf(text[i], sizeof text[i], "%" PRIu64,
                 i < 3 ? numbers[i] : ledger_next(&r->ledger, i - 3));
    for (int i = 0; i < 3; i++) argv[2 + i] = text[i];
    argv[5] = plant_names[r->plant];
    for (int i = 0; i < N_ALL_LANES; i++) argv[6 + i] = text[3 + i];
    struct spawn s = {.argv = argv, .history_fd = r->history_fd, .out = out};
    if (r->is_powercut) {
        static const uint64_t delays[] = {0, 200000, 5000000};
        s.shim_root = r->disk_root;
        r->history->sync_delay_ns = delays[rng_below(&r->rng, 3)];
        r->history->die_at = d->records ? atomic_load(&r->history->records) + d->records : 0;
    }
    return spawn(&s);
}

/* Takes messages until then or until the writer is gone (false). */
static bool listen_to(struct run *r, int fd, uint64_t *until_ns, const struct death *d, bool *ok)
{
    struct job_message m;
    for (;;) {
        enum spawn_heard heard = spawn_hear(fd, *until_ns, &m, sizeof m);
        if (heard == SPAWN_LATE || heard == SPAWN_GONE) return heard == SPAWN_LATE;
        if (heard == SPAWN_ODD || !ledger_take(&r->ledger, &m, r->why)) *ok = false;
        if (m.kind == JOB_READY && !d->from_start)
            *until_ns = clock_mono_ns(clock_system()) + d->after_ms * 1000000;
    }
}

static bool live_and_die(struct run *r)
{
    struct death d = choose_death(r), silent = {.from_start = true};
    int ends[2];
    bool ok = true;
    spawn_pipe(ends);
    uint64_t opened = r->ledger.n_opened, acked = r->ledger.n_acked, ready = r->ledger.n_ready;
    pid_t pid = start_writer(r, &d, ends[1]);
    close(ends[1]);
    uint64_t until = clock_mono_ns(clock_system()) + (d.from_start ? d.after_ms : 30000) * 1000000;
    if (listen_to(r, ends[0], &until, &d, &ok)) kill(pid, SIGKILL);
    int status = spawn_wait(pid);
    until = UINT64_MAX;
    (void)listen_to(r, ends[0], &until, &silent, &ok);
    close(ends[0]);
    r->n_acked += r->ledger.n_acked - acked;
    r->n_during_open += r->ledger.n_ready == ready;
    if (ok && !spawn_ended_well(status)) {
        snprintf(r->why, sizeof r->why, "the writer ended with status %x", (unsigned)status);
        return false;
    }
    if (ok && r->ledger.n_opened == opened && !d.from_start && !d.records) {
        snprintf(r->why, sizeof r->why, "the writer never opened its database");
        return false;
    }
    return ok;
}

/* ---- the cut ---- */

static bool cut_power(struct run *r)
{
    static const struct disk_cut cuts[] = {
        {KEEP_NONE, KEEP_NONE, 0},       {KEEP_NONE, KEEP_PREFIX, 0},
        {KEEP_PREFIX, KEEP_PREFIX, 0},   {KEEP_PREFIX, KEEP_ALL, 0},
        {KEEP_BLOCKS, KEEP_NONE, 512},   {KEEP_BLOCKS, KEEP_ALL, 4096},
        {KEEP_BLOCKS, KEEP_PREFIX, 512}, {KEEP_ALL, KEEP_NONE, 0},
        {KEEP_NONE, KEEP_ALL, 0}};
    enum disk_mode mode = rng_below(&r->rng, 3) ? DISK_STRICT : DISK_EXT4;
    if (!disk_replay(r->disk, r->history, mode, r->why)) return false;
    if (!atomic_load(&r->history->in_flight) && !disk_is_real(r->disk, r->why)) return false;
    struct disk_cut cut = cuts[rng_below(&r->rng, sizeof cuts / sizeof cuts[0])];
    r->n_lost_writes += disk_cut(r->disk, &cut, &r->rng).writes;
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
    if (r->n_fresh++) ledger_end(&r->ledger);
    ledger_begin(&r->ledger, rng_u64(&r->rng) >> 1);
    r->epoch = 0;
    if (!r->is_powercut) return;
    disk_load(r->disk);
    history_reset(r->history);
}

/* Checks a copy and leaves the wreck to the next writer, or checks the wreck itself. */
static bool check(struct run *r)
{
    struct verdict v;
    bool on_copy = rng_below(&r->rng, 2);
    if (on_copy) {
        tree_empty(r->copy);
        if (access(r->directory, F_OK) == 0)
            tree_copy(r->directory, r->copy);
        else
            rmdir(r->copy);
    }
    bool ok = ledger_check(&r->ledger, on_copy ? r->copy : r->directory, &v);
    if (r->is_powercut && !on_copy) disk_load(r->disk);
    r->n_found += v.n_found;
    r->n_tokens += v.n_tokens;
    if (!ok) snprintf(r->why, sizeof r->why, "%s", v.why);
    return ok;
}

static bool cycle(struct run *r)
{
    if (r->epoch == 12 || rng_below(&r->rng, 20) == 0) begin_afresh(r);
    r->epoch++;
    if (!live_and_die(r)) return false;
    if (r->is_powercut && !cut_power(r)) return false;
    return check(r);
}

/* ---- the program ---- */

static void prepare(struct run *r)
{
    const char *tmp = getenv("TMPDIR");
    rng_init(&r->rng, r->seed);
    r->history_fd = -1;
    r->usual_records = 2000;
    snprintf(r->home, sizeof r->home, "%.48s/model-crash-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(r->home)) give_up("mkdtemp", r->home);
    strcpy(home_to_remove, r->home);
    atexit(remove_home);
    snprintf(r->disk_root, sizeof r->disk_root, "%s/disk", r->home);
    snprintf(r->directory, sizeof r->directory, "%s/db", r->disk_root);
    snprintf(r->copy, sizeof r->copy, "%s/copy", r->home);
    if (mkdir(r->disk_root, 0755) != 0) give_up("mkdir", r->disk_root);
    if (r->is_powercut) r->disk = disk_new(r->disk_root);
    if (r->is_powercut) r->history = history_new(&r->history_fd);
    begin_afresh(r);
}

static uint64_t run_cycles(struct run *r, uint64_t *failed)
{
    uint64_t done = 0;
    *failed = 0;
    while (done < r->cycles && *failed < MAX_FAILED) {
        bool ok = cycle(r);
        done++;
        if (ok) continue;
        ++*failed;
        if (r->plant != PLANT_NONE) break;
        printf("  cycle %" PRIu64 " failed: %s\n", done, r->why);
        begin_afresh(r);
    }
    return done;
}

int main(int argc, char **argv)
{
    static struct run r;
    const char *cycles = getenv("SHEAF_CRASH_CYCLES"), *seed = getenv("SHEAF_SEED");
    if (argc < 2) return 2;
    r.is_powercut = strcmp(argv[1], "powercut") == 0;
    r.cycles = 100;
    r.seed = seed ? strtoull(seed, NULL, 0) : 1;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--cycles") == 0) r.cycles = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--seed") == 0) r.seed = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--plant") == 0) r.plant = plant_by_name(argv[i + 1]);
    }
    if (cycles && r.plant == PLANT_NONE) r.cycles = strtoull(cycles, NULL, 10);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("model crash %s: seed %" PRIu64 ", planted bug: %s\n", argv[1], r.seed,
           plant_names[r.plant]);
    uint64_t begun = clock_mono_ns(clock_system()), failed;
    prepare(&r);
    uint64_t done = run_cycles(&r, &failed);
    double seconds = (double)(clock_mono_ns(clock_system()) - begun) / 1e9;
    printf("  %" PRIu64 " cycles (%" PRIu64 " fresh directories, %" PRIu64
           " died before they were ready) in %.1f s: %" PRIu64 " operations acknowledged, %" PRIu64
           " more found, %" PRIu64 " repeated by their token",
           done, r.n_fresh, r.n_during_open, seconds, r.n_acked, r.n_found, r.n_tokens);
    if (r.is_powercut) printf(", %" PRIu64 " un-synced writes at stake", r.n_lost_writes);
    printf("\n");
    ledger_end(&r.ledger);
    disk_free(r.disk);
    if (r.plant == PLANT_NONE) {
        printf("%" PRIu64 " passed, %" PRIu64 " failed\n", done - failed, failed);
        return failed > 0;
    }
    if (failed)
        printf("  caught in cycle %" PRIu64 ": %s\n", done, r.why);
    else
        printf("  the planted bug was not caught\n");
    printf("%d passed, %d failed\n", failed > 0, failed == 0);
    return failed == 0;
}
