/* Turns the name of an engine into a run of every case against it: `contract <engine> [filter]`.
 *
 * Before editing: each case has a fresh engine in a directory of its own, so cases never depend on
 * each other; a case that fails with transactions open leaks its engine, because an engine may
 * abort when it is closed under them. */
#include "contract/contract.h"

#include "base/clock.h"
#include "contract/plant.h"
#include "engine/fault/fault.h"

#include <ftw.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the engines ---- */

static sheaf_rc open_mem(const char *directory, sheaf_engine **out, sheaf_error *err)
{
    (void)directory;
    return sheaf_engine_open_mem(NULL, out, err);
}

/* The smallest caps of the engines that are planned: what a portable caller may count on. */
static sheaf_rc open_mem_small(const char *directory, sheaf_engine **out, sheaf_error *err)
{
    (void)directory;
    const struct sheaf_mem_options options = {
        .caps = {.max_key = 2600, .max_value = 100000, .max_txn_bytes = 10 * 1000 * 1000}};
    return sheaf_engine_open_mem(&options, out, err);
}

/* A small write buffer: cases then meet flushed files, not only the memtable. */
static sheaf_rc open_rocks(const char *directory, sheaf_engine **out, sheaf_error *err)
{
    const struct sheaf_rocks_options options = {.write_buffer_bytes = 2 << 20,
                                                .block_cache_bytes = 8 << 20};
    return sheaf_engine_open_rocks(directory, &options, out, err);
}

static sheaf_rc open_fault(const struct fault_options *options, sheaf_engine **out,
                           sheaf_error *err)
{
    sheaf_engine *inner;
    TRY(sheaf_engine_open_mem(NULL, &inner, err));
    sheaf_rc rc = fault_open(inner, options, out, err);
    if (rc != SHEAF_OK) sheaf_engine_close(inner);
    return rc;
}

static sheaf_rc open_fault_mem(const char *directory, sheaf_engine **out, sheaf_error *err)
{
    (void)directory;
    return open_fault(NULL, out, err);
}

static sheaf_rc open_fault_conflicts(const char *directory, sheaf_engine **out, sheaf_error *err)
{
    (void)directory;
    const struct fault_rule rule = {FAULT_COMMIT, FAULT_CONFLICT, .one_in = 20};
    const struct fault_options options = {.rules = &rule, .n_rules = 1, .seed = 20};
    return open_fault(&options, out, err);
}

static const struct engine_kind kinds[] = {
    {"mem", open_mem, 1000000, ALL_CASES},
    {"mem-small", open_mem_small, 100000, ALL_CASES},
    {"fault-mem", open_fault_mem, 100000, ALL_CASES},
    {"fault-mem", open_fault_conflicts, 0, ONLY_THREADS},
    {"rocks", open_rocks, 100000, ALL_CASES},
};
static const struct engine_kind *kind; /* of the cases that run now */
static atomic_bool has_notes;          /* a thread left its transactions behind */

/* ---- a world for each case ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static sheaf_rc world_open(struct world *w, sheaf_error *err)
{
    char path[sizeof w->dir + 8];
    snprintf(path, sizeof path, "%s/db", w->dir);
    return w->kind->open(path, &w->e, err);
}

int world_setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    const char *tmp = getenv("TMPDIR");
    sheaf_error err = {0};
    *state = w;
    w->kind = kind;
    snprintf(w->dir, sizeof w->dir, "%s/sheaf-contract.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(w->dir)) return -1;
    if (world_open(w, &err) != SHEAF_OK) {
        fprintf(stderr, "%s does not open: %s\n", kind->name, err.message);
        return -1;
    }
    eng_caps(w->e, &w->caps);
    return 0;
}

int world_teardown(void **state)
{
    struct world *w = *state;
    if (w->held == 0 && !atomic_exchange(&has_notes, false)) sheaf_engine_close(w->e);
    nftw(w->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(w);
    return 0;
}

void world_reopen(struct world *w)
{
    assert_int_equal(w->held, 0);
    assert_true(w->caps.is_durable);
    sheaf_engine_close(w->e);
    w->e = NULL;
    assert_ok(world_open(w, NULL));
}

/* ---- keys ---- */

sheaf_place place_of(uint64_t space, uint64_t n)
{
    struct rng r;
    uint8_t hash[16];
    rng_init(&r, n);
    for (int i = 0; i < 2; i++) {
        uint64_t x = rng_u64(&r);
        memcpy(hash + 8 * i, &x, 8);
    }
    return sheaf_place_make(space, hash);
}

sheaf_engine_key key_of(uint64_t n, const char *s) { return key_at(place_of(1, n), span_cstr(s)); }

int key_cmp(const sheaf_engine_key *a, const sheaf_engine_key *b)
{
    int c = memcmp(a->p.b, b->p.b, sizeof a->p.b);
    return c ? c : span_cmp(a->s, b->s);
}

/* ---- transactions ---- */

sheaf_txn *txn_begin(struct world *w, enum sheaf_txn_mode mode)
{
    sheaf_txn *t = NULL;
    assert_ok(eng_begin(w->e, mode, &t, NULL));
    assert_non_null(t);
    w->held++;
    return t;
}

sheaf_rc txn_commit_at(struct world *w, sheaf_txn *t, sheaf_position *at, sheaf_stamp *stamp)
{
    w->held--;
    return eng_commit(t, at, stamp, NULL);
}

sheaf_rc txn_commit(struct world *w, sheaf_txn *t) { return txn_commit_at(w, t, NULL, NULL); }

void txn_rollback(struct world *w, sheaf_txn *t)
{
    w->held--;
    eng_rollback(t);
}

span txn_get(sheaf_txn *t, sheaf_engine_key key)
{
    span value = SPAN("junk", 4);
    assert_ok(eng_get(t, 1, &key, &value, NULL));
    return value;
}

void txn_put(sheaf_txn *t, sheaf_engine_key key, const char *value)
{
    assert_ok(eng_put(t, &key, span_cstr(value), NULL));
}

void put_one(struct world *w, sheaf_engine_key key, span value)
{
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_ok(eng_put(t, &key, value, NULL));
    assert_ok(txn_commit(w, t));
}

void put_text(struct world *w, sheaf_engine_key key, const char *value)
{
    put_one(w, key, span_cstr(value));
}

void del_one(struct world *w, sheaf_engine_key key)
{
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_ok(eng_del(t, &key, NULL));
    assert_ok(txn_commit(w, t));
}

void del_range_one(struct world *w, const sheaf_place *p, span lo, span hi)
{
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_ok(eng_del_range(t, p, lo, hi, NULL));
    assert_ok(txn_commit(w, t));
}

void add_one(struct world *w, sheaf_engine_key key, int64_t delta)
{
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    assert_ok(eng_add(t, &key, 1, &delta, NULL));
    assert_ok(txn_commit(w, t));
}

void pin_read(struct world *w, const sheaf_engine_key *key, span *value_out, void **pin_out)
{
    assert_ok(eng_read(w->e, key, value_out, pin_out, NULL));
    w->held++;
}

void pin_done(struct world *w, void *pin)
{
    w->held--;
    eng_read_done(w->e, pin);
}

static void assert_value(span got, span want, const char *how)
{
    if (!want.p && got.p) fail_msg("%s: %zu bytes where nothing should be", how, got.n);
    if (want.p && !got.p) fail_msg("%s: absent, wanted %zu bytes", how, want.n);
    if (!span_eq(got, want)) fail_msg("%s: %zu bytes differ from %zu", how, got.n, want.n);
}

void assert_stored(struct world *w, sheaf_engine_key key, span want)
{
    span value = SPAN("junk", 4);
    void *pin = NULL;
    pin_read(w, &key, &value, &pin);
    assert_value(value, want, "read");
    if (!value.p) assert_null(pin);
    pin_done(w, pin);
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    assert_value(txn_get(t, key), want, "get");
    txn_rollback(w, t);
}

void assert_text(struct world *w, sheaf_engine_key key, const char *want)
{
    assert_stored(w, key, span_cstr(want));
}

void assert_absent(struct world *w, sheaf_engine_key key) { assert_stored(w, key, SPAN_NONE); }

int64_t number_at(span value, size_t i)
{
    uint64_t x = 0;
    for (size_t b = 0; b < 8; b++) x |= (uint64_t)((const uint8_t *)value.p)[8 * i + b] << (8 * b);
    return (int64_t)x;
}

int64_t read_number(struct world *w, sheaf_engine_key key, size_t i)
{
    span value;
    void *pin;
    pin_read(w, &key, &value, &pin);
    assert_non_null(value.p);
    assert_true(value.n % 8 == 0 && value.n >= 8 * (i + 1));
    int64_t x = number_at(value, i);
    pin_done(w, pin);
    return x;
}

/* ---- rows ---- */

static span copy(span s)
{
    char *p = malloc(s.n + 1); /* never NULL, also for nothing */
    if (s.n) memcpy(p, s.p, s.n);
    return SPAN(p, s.n);
}

void rows_add(struct rows *r, const struct sheaf_row *row)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 64;
        r->row = realloc(r->row, r->cap * sizeof *r->row);
    }
    r->row[r->n++] = (struct sheaf_row){{row->key.p, copy(row->key.s)}, copy(row->value)};
}

void rows_free(struct rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free((void *)(uintptr_t)r->row[i].key.s.p);
        free((void *)(uintptr_t)r->row[i].value.p);
    }
    free(r->row);
    *r = (struct rows){0};
}

struct rows rows_of(sheaf_cursor *c)
{
    struct rows r = {0};
    for (;;) {
        struct sheaf_row row;
        bool has_row;
        assert_ok(eng_next(c, &row, &has_row, NULL));
        if (!has_row) break;
        rows_add(&r, &row);
    }
    eng_cursor_close(c);
    return r;
}

struct rows rows_range(sheaf_txn *t, const struct sheaf_range *range)
{
    sheaf_cursor *c = NULL;
    assert_ok(eng_range(t, range, &c, NULL));
    return rows_of(c);
}

struct rows rows_walk(sheaf_txn *t, const struct sheaf_walk *walk)
{
    sheaf_cursor *c = NULL;
    assert_ok(eng_walk(t, walk, &c, NULL));
    return rows_of(c);
}

struct rows rows_now(struct world *w, sheaf_place p)
{
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    struct rows r = rows_range(t, &(struct sheaf_range){.p = p});
    txn_rollback(w, t);
    return r;
}

struct rows space_now(struct world *w, uint64_t space)
{
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_SNAPSHOT);
    struct rows r = rows_walk(t, &(struct sheaf_walk){.space = space});
    txn_rollback(w, t);
    return r;
}

void assert_rows_equal(const struct rows *a, const struct rows *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        if (key_cmp(&a->row[i].key, &b->row[i].key)) fail_msg("row %zu: another key", i);
        if (!span_eq(a->row[i].value, b->row[i].value)) fail_msg("row %zu: another value", i);
    }
}

/* ---- threads ---- */

void note(struct notes *notes, const char *file, int line, const char *what, int64_t got)
{
    atomic_store(&has_notes, true);
    if (atomic_fetch_add(&notes->n, 1) == 0)
        snprintf(notes->first, sizeof notes->first, "%s:%d: %s (got %lld)", file, line, what,
                 (long long)got);
}

void assert_no_notes(struct notes *notes)
{
    if (atomic_load(&notes->n)) fail_msg("%s", notes->first);
}

bool wait_for(atomic_uint *counter, unsigned n)
{
    const uint64_t end = clock_mono_ns(clock_system()) + 60 * UINT64_C(1000000000);
    while (atomic_load(counter) < n) {
        if (clock_mono_ns(clock_system()) > end) return false;
        sched_yield();
    }
    return true;
}

static void *begin_together(void *arg)
{
    struct thread_start *s = arg;
    pthread_barrier_wait(s->barrier);
    return s->body(s->arg);
}

void threads_start(struct threads *g, size_t n, void *(*body)(void *), void *args, size_t size)
{
    assert_in_range(n, 1, MAX_THREADS);
    assert_int_equal(pthread_barrier_init(&g->barrier, NULL, (unsigned)n + 1), 0);
    g->n = n;
    for (size_t i = 0; i < n; i++) {
        g->start[i] = (struct thread_start){body, (char *)args + i * size, &g->barrier};
        assert_int_equal(pthread_create(&g->thread[i], NULL, begin_together, &g->start[i]), 0);
    }
    pthread_barrier_wait(&g->barrier);
}

void threads_join(struct threads *g)
{
    for (size_t i = 0; i < g->n; i++) assert_int_equal(pthread_join(g->thread[i], NULL), 0);
    pthread_barrier_destroy(&g->barrier);
}

void run_threads(size_t n, void *(*body)(void *), void *args, size_t size)
{
    struct threads g;
    threads_start(&g, n, body, args, size);
    threads_join(&g);
}

/* ---- the program ---- */

typedef struct case_list (*list_fn)(void);
static const list_fn lists[] = {cases_order, cases_walk,       cases_isolation,
                                cases_write, cases_add_append, cases_caps,
                                cases_life,  cases_threads,    cases_model};

enum { MAX_CASES = 200 };

static int run_kind(const struct engine_kind *k)
{
    static struct CMUnitTest all[MAX_CASES];
    size_t n = 0;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct case_list list = lists[i]();
        if (k->which != ALL_CASES && (k->which == ONLY_THREADS) != list.uses_run_loop) continue;
        if (n + list.n > MAX_CASES) return 1;
        memcpy(all + n, list.cases, list.n * sizeof all[0]);
        n += list.n;
    }
    kind = k;
    return _cmocka_run_group_tests(k->which == ONLY_THREADS ? "1 in 20 commits conflicts" : k->name,
                                   all, n, NULL, NULL);
}

/* ---- the planted bugs ---- */

static enum plant planted;

static sheaf_rc open_plant(const char *directory, sheaf_engine **out, sheaf_error *err)
{
    (void)directory;
    return plant_open(planted, out, err);
}

static const struct engine_kind plant_kinds[] = {{"plant", open_plant, 50000, NO_THREADS},
                                                 {"plant", open_plant, 0, ONLY_THREADS}};

/* What the threads must catch by themselves: the bugs that only threads have in real life. */
static const enum plant races[] = {PLANT_GET_UNPROTECTED, PLANT_ABSENT_UNPROTECTED,
                                   PLANT_HALF_COMMITS,    PLANT_SNAPSHOT_MOVES,
                                   PLANT_ADD_NOT_ATOMIC,  PLANT_APPEND_EARLY_STAMP};

/* Runs the suite in a child that writes to `log`; its exit status, or -1 when it died. */
static int run_plant(enum plant p, const struct engine_kind *k, const char *log)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen(log, "w", stdout) || dup2(fileno(stdout), STDERR_FILENO) < 0) _exit(99);
        setenv("SHEAF_TEST_SCALE", "0.2", 1);
        alarm(120); /* a plant may well make a case run for ever */
        planted = p;
        int failed = run_kind(k);
        fflush(NULL);
        _exit(failed ? 1 : 0);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return 99;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The cases that failed, by their lines in the log; the first one's name. */
static unsigned count_failed(const char *log, char *first, size_t room)
{
    static const char mark[] = "[  FAILED  ] test_";
    char line[512];
    unsigned n = 0;
    FILE *f = fopen(log, "r");
    first[0] = '\0';
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, mark, sizeof mark - 1) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        if (n++ == 0) snprintf(first, room, "%.100s", line + strlen("[  FAILED  ] "));
    }
    if (f) fclose(f);
    return n / 2; /* each is listed again at the end */
}

/* Whether the plant was caught by a case, or, without a plant, none complained. */
static bool check_plant(enum plant p, const struct engine_kind *k, const char *log)
{
    char first[128];
    int status = run_plant(p, k, log);
    unsigned failed = count_failed(log, first, sizeof first);
    bool is_right = p == PLANT_NONE ? status == 0 : status == 1 && failed > 0;
    printf("%-8s%s%-24s %s: %u cases%s%s\n", is_right ? "ok" : "ESCAPED",
           k->which == ONLY_THREADS ? "threads " : "", plant_name(p), plant_what(p), failed,
           failed ? ", first " : "", first);
    return is_right;
}

/* With a name, only that plant, and the log of its last run stays. */
static int run_plants(const char *only)
{
    char log[] = "/tmp/sheaf-plants.XXXXXX";
    int fd = mkstemp(log), escaped = 0, n = 0;
    if (fd < 0) return 1;
    close(fd);
    for (int p = PLANT_NONE; p < PLANT_COUNT; p++) {
        if (only && strcmp(only, plant_name((enum plant)p)) != 0) continue;
        escaped += !check_plant((enum plant)p, &plant_kinds[0], log);
        n++;
    }
    for (size_t i = 0; i < sizeof races / sizeof races[0]; i++) {
        if (only && strcmp(only, plant_name(races[i])) != 0) continue;
        escaped += !check_plant(races[i], &plant_kinds[1], log);
        n++;
    }
    if (only)
        printf("see %s\n", log);
    else
        unlink(log);
    printf("%d runs, %d escaped\n", n, escaped);
    return escaped;
}

int main(int argc, char **argv)
{
    int failed = 0, found = 0;
    if (argc >= 2 && strcmp(argv[1], "plants") == 0) return run_plants(argv[2]) ? 1 : 0;
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (argc < 2 || strcmp(argv[1], kinds[i].name) != 0) continue;
        found++;
        failed += run_kind(&kinds[i]);
    }
    if (!found)
        fprintf(
            stderr,
            "usage: contract mem|mem-small|fault-mem|rocks [filter] | contract plants [NAME]\n");
    return failed || !found ? 1 : 0;
}
