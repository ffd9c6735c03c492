/* Many threads at once. Every write goes through the run loop, so that these cases hold on an
 * engine that injects conflicts, too; what a thread finds it notes, the case asserts afterwards.
 *
 * A transaction takes microseconds and a thread runs for milliseconds: without help they would run
 * one after the other. So bodies give the processor away between reading and writing. */
#include "contract/contract.h"

#include <sched.h>

static const struct sheaf_run_options patient = {.max_attempts = 100000};

struct job {
    struct world *w;
    struct notes *notes;
    uint32_t id;
    uint64_t rounds;
    atomic_bool *stop;
    struct rng rng;
    uint64_t done; /* written by the thread, read after it has ended */
};

static void make_jobs(struct job *jobs, size_t n, struct world *w, struct notes *notes,
                      uint64_t rounds)
{
    for (uint32_t i = 0; i < n; i++) {
        jobs[i] = (struct job){.w = w, .notes = notes, .id = i, .rounds = rounds};
        rng_init(&jobs[i].rng, 1000 + i);
    }
}

/* Every 8-byte number of n keys of place (1, base + i), set through the run loop. */
struct set_job {
    uint64_t base, n;
    int64_t value;
};
static sheaf_rc set_body(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct set_job *s = ctx;
    for (uint64_t i = 0; i < s->n; i++) {
        sheaf_engine_key k = key_of(s->base + i, "n");
        TRY(eng_put(t, &k, SPAN(&s->value, 8), err));
    }
    return SHEAF_OK;
}
static void set_numbers(struct world *w, uint64_t base, uint64_t n, int64_t value)
{
    struct set_job s = {base, n, value};
    assert_ok(sheaf_engine_run(w->e, set_body, &s, &patient, NULL, NULL));
}

/* ---- adds ---- */

static sheaf_rc add_body(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct job *j = ctx;
    const int64_t deltas[3] = {1, (int64_t)j->done, -2};
    sheaf_engine_key all = key_of(1, "all"), own = key_of(2, j->id % 2 ? "odd" : "even");
    TRY(eng_add(t, &all, 3, deltas, err));
    if (j->done % 4 == 0) sched_yield();
    return eng_add(t, &own, 1, deltas, err);
}

static void *adder(void *arg)
{
    struct job *j = arg;
    for (; j->done < j->rounds; j->done++) {
        sheaf_rc rc = sheaf_engine_run(j->w->e, add_body, j, &patient, NULL, NULL);
        NOTE(j->notes, rc == SHEAF_OK, rc);
    }
    return NULL;
}

static void test_add__sums_of_many_threads_are_exact(void **state)
{
    struct world *w = *state;
    enum { N = 8 };
    struct job jobs[N];
    struct notes notes = {0};
    int64_t rounds = (int64_t)test_rounds(4000);
    make_jobs(jobs, N, w, &notes, (uint64_t)rounds);
    run_threads(N, adder, jobs, sizeof jobs[0]);
    assert_no_notes(&notes);
    assert_int_equal(read_number(w, key_of(1, "all"), 0), N * rounds);
    assert_int_equal(read_number(w, key_of(1, "all"), 1), N * (rounds * (rounds - 1) / 2));
    assert_int_equal(read_number(w, key_of(1, "all"), 2), -2 * N * rounds);
    assert_int_equal(read_number(w, key_of(2, "odd"), 0), N / 2 * rounds);
    assert_int_equal(read_number(w, key_of(2, "even"), 0), N / 2 * rounds);
}

/* ---- the log ---- */

enum { WRITERS = 5, READERS = 2 };

struct record {
    uint32_t writer, sequence;
};

/* One to three records; numbered from `done`, which moves on only when the commit has passed. */
static sheaf_rc append_body(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct job *j = ctx;
    sheaf_place log = place_of(1, 1);
    for (uint32_t i = 0; i < 1 + j->done % 3 && j->done + i < j->rounds; i++) {
        struct record r = {j->id, (uint32_t)j->done + i};
        TRY(eng_append(t, &log, SPAN(&r, sizeof r), err));
        if (j->done % 4 == 0) sched_yield();
    }
    return SHEAF_OK;
}

static void *log_writer(void *arg)
{
    struct job *j = arg;
    sheaf_stamp last = {{0}};
    while (j->done < j->rounds) {
        struct sheaf_run_result result;
        sheaf_rc rc = sheaf_engine_run(j->w->e, append_body, j, &patient, &result, NULL);
        NOTE(j->notes, rc == SHEAF_OK, rc);
        NOTE(j->notes, memcmp(last.b, result.stamp.b, sizeof last.b) < 0, j->done);
        last = result.stamp;
        uint64_t n = 1 + j->done % 3;
        j->done = j->done + n < j->rounds ? j->done + n : j->rounds;
    }
    return NULL;
}

struct log_reader {
    struct job job;
    uint8_t after[SHEAF_STAMP_BYTES + 1]; /* the last stamp read, and a 0: the next possible key */
    bool has_after;
    uint32_t next[WRITERS];
};

/* One row: the next of its writer, or something was skipped or came late. */
static void *take_record(struct log_reader *r, const struct sheaf_row *row)
{
    struct record record;
    NOTE(r->job.notes, row->value.n == sizeof record && row->key.s.n == SHEAF_STAMP_BYTES,
         row->value.n);
    memcpy(&record, row->value.p, sizeof record);
    NOTE(r->job.notes, !r->has_after || memcmp(r->after, row->key.s.p, SHEAF_STAMP_BYTES) < 0, 0);
    NOTE(r->job.notes, record.writer < WRITERS, record.writer);
    NOTE(r->job.notes, record.sequence == r->next[record.writer], record.sequence);
    r->next[record.writer]++;
    r->job.done++;
    memcpy(r->after, row->key.s.p, SHEAF_STAMP_BYTES);
    r->has_after = true;
    return r;
}

/* Reads on behind the last stamp, in a new snapshot. false when something was noted. */
static bool poll_log(struct log_reader *r, size_t *n_out)
{
    sheaf_txn *t;
    sheaf_cursor *c;
    struct sheaf_range range = {.p = place_of(1, 1), .max_rows = 50};
    if (r->has_after) range.lo = SPAN(r->after, sizeof r->after);
    *n_out = 0;
    if (eng_begin(r->job.w->e, SHEAF_TXN_SNAPSHOT, &t, NULL) != SHEAF_OK) return false;
    bool ok = eng_range(t, &range, &c, NULL) == SHEAF_OK, has_row = ok;
    while (ok && has_row) {
        struct sheaf_row row;
        ok = eng_next(c, &row, &has_row, NULL) == SHEAF_OK;
        if (ok && has_row) ok = take_record(r, &row) != NULL, ++*n_out;
    }
    eng_cursor_close(c);
    eng_rollback(t);
    return ok;
}

static void *log_reader(void *arg)
{
    struct log_reader *r = arg;
    for (;;) {
        bool is_last = atomic_load(r->job.stop);
        size_t n;
        NOTE(r->job.notes, poll_log(r, &n), r->job.done);
        if (is_last && n == 0) return NULL;
    }
}

static void test_append__a_reader_that_polls_never_skips_a_record(void **state)
{
    struct world *w = *state;
    struct job writers[WRITERS];
    struct log_reader readers[READERS] = {0};
    struct threads threads;
    struct notes notes = {0};
    atomic_bool stop = false;
    uint64_t rounds = test_rounds(4000);
    make_jobs(writers, WRITERS, w, &notes, rounds);
    for (int i = 0; i < READERS; i++)
        readers[i].job = (struct job){.w = w, .notes = &notes, .stop = &stop};
    threads_start(&threads, READERS, log_reader, readers, sizeof readers[0]);
    run_threads(WRITERS, log_writer, writers, sizeof writers[0]);
    atomic_store(&stop, true);
    threads_join(&threads);
    assert_no_notes(&notes);
    for (int i = 0; i < READERS; i++) assert_int_equal(readers[i].job.done, WRITERS * rounds);
}

/* ---- transfers ---- */

enum { ACCOUNTS = 16, START = 1000 };

/* Moves up to 3 from one account to another; counts the visit of both beside the balance. */
struct transfer {
    uint64_t from, to;
    int64_t amount;
};
static sheaf_rc transfer_body(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct transfer *x = ctx;
    sheaf_engine_key k[4] = {key_of(x->from, "n"), key_of(x->to, "n"), key_of(x->from, "visits"),
                             key_of(x->to, "visits")};
    span v[4];
    TRY(eng_get(t, 4, k, v, err));
    sched_yield();
    int64_t number[4];
    for (int i = 0; i < 4; i++) number[i] = v[i].p ? number_at(v[i], 0) : 0;
    number[0] -= x->amount, number[1] += x->amount, number[2]++, number[3]++;
    for (int i = 0; i < 4; i++) TRY(eng_put(t, &k[i], SPAN(&number[i], 8), err));
    return SHEAF_OK;
}

static void *transferrer(void *arg)
{
    struct job *j = arg;
    for (; j->done < j->rounds; j->done++) {
        struct transfer x = {.from = rng_below(&j->rng, ACCOUNTS),
                             .amount = (int64_t)rng_below(&j->rng, 4)};
        x.to = (x.from + 1 + rng_below(&j->rng, ACCOUNTS - 1)) % ACCOUNTS;
        sheaf_rc rc = sheaf_engine_run(j->w->e, transfer_body, &x, &patient, NULL, NULL);
        NOTE(j->notes, rc == SHEAF_OK, rc);
    }
    return NULL;
}

static void test_run__transfers_of_many_threads_lose_nothing(void **state)
{
    struct world *w = *state;
    enum { N = 8 };
    struct job jobs[N];
    struct notes notes = {0};
    set_numbers(w, 0, ACCOUNTS, START);
    make_jobs(jobs, N, w, &notes, test_rounds(4000));
    run_threads(N, transferrer, jobs, sizeof jobs[0]);
    assert_no_notes(&notes);
    int64_t sum = 0, visits = 0;
    for (uint64_t i = 0; i < ACCOUNTS; i++) {
        sum += read_number(w, key_of(i, "n"), 0);
        span v;
        void *pin;
        sheaf_engine_key k = key_of(i, "visits");
        assert_ok(eng_read(w->e, &k, &v, &pin, NULL));
        if (v.p) visits += number_at(v, 0);
        eng_read_done(w->e, pin);
    }
    assert_int_equal(sum, ACCOUNTS * START);
    assert_int_equal(visits, 2 * N * (int64_t)jobs[0].rounds);
}

/* All balances in one snapshot, by a batched get and by a walk: always the same sum. */
static void *sum_watcher(void *arg)
{
    struct job *j = arg;
    sheaf_engine_key k[ACCOUNTS];
    span v[ACCOUNTS];
    for (uint64_t i = 0; i < ACCOUNTS; i++) k[i] = key_of(i, "n");
    do {
        sheaf_txn *t;
        sheaf_cursor *c;
        int64_t by_get = 0, by_walk = 0;
        NOTE(j->notes, eng_begin(j->w->e, SHEAF_TXN_SNAPSHOT, &t, NULL) == SHEAF_OK, 0);
        NOTE(j->notes, eng_walk(t, &(struct sheaf_walk){.space = 1}, &c, NULL) == SHEAF_OK, 0);
        for (bool has_row = true; has_row;) {
            struct sheaf_row row;
            NOTE(j->notes, eng_next(c, &row, &has_row, NULL) == SHEAF_OK, 0);
            if (has_row && span_eq(row.key.s, SPAN("n", 1))) by_walk += number_at(row.value, 0);
        }
        NOTE(j->notes, eng_get(t, ACCOUNTS, k, v, NULL) == SHEAF_OK, 0);
        for (int i = 0; i < ACCOUNTS; i++) by_get += number_at(v[i], 0);
        eng_cursor_close(c);
        eng_rollback(t);
        NOTE(j->notes, by_get == ACCOUNTS * START, by_get);
        NOTE(j->notes, by_walk == ACCOUNTS * START, by_walk);
        j->done++;
    } while (!atomic_load(j->stop));
    return NULL;
}

static void test_snapshot__never_sees_half_a_transaction(void **state)
{
    struct world *w = *state;
    enum { N = 4 };
    struct job jobs[N], watchers[2];
    struct threads threads;
    struct notes notes = {0};
    atomic_bool stop = false;
    set_numbers(w, 0, ACCOUNTS, START);
    make_jobs(jobs, N, w, &notes, test_rounds(3000));
    make_jobs(watchers, 2, w, &notes, 0);
    for (int i = 0; i < 2; i++) watchers[i].stop = &stop;
    threads_start(&threads, 2, sum_watcher, watchers, sizeof watchers[0]);
    run_threads(N, transferrer, jobs, sizeof jobs[0]);
    atomic_store(&stop, true);
    threads_join(&threads);
    assert_no_notes(&notes);
    assert_true(watchers[0].done > 0 && watchers[1].done > 0);
}

/* ---- write skew ---- */

enum { PAIRS = 8 };

/* Two seats, left and right: whoever finds both free takes its own, whoever has its own gives it
 * back. Both taken is write skew on absent keys. */
struct sitting {
    uint64_t pair;
    bool is_right, was_both;
};
static sheaf_rc seat_body(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct sitting *x = ctx;
    sheaf_engine_key k[2] = {key_of(x->pair, x->is_right ? "right" : "left"),
                             key_of(x->pair, x->is_right ? "left" : "right")};
    span v[2];
    TRY(eng_get(t, 2, k, v, err));
    sched_yield();
    x->was_both = v[0].p && v[1].p;
    if (v[0].p) return eng_del(t, &k[0], err);
    return v[1].p ? SHEAF_OK : eng_put(t, &k[0], SPAN("x", 1), err);
}

static void *sitter(void *arg)
{
    struct job *j = arg;
    for (; j->done < j->rounds; j->done++) {
        struct sitting x = {.pair = rng_below(&j->rng, PAIRS), .is_right = j->id % 2};
        sheaf_rc rc = sheaf_engine_run(j->w->e, seat_body, &x, &patient, NULL, NULL);
        NOTE(j->notes, rc == SHEAF_OK, rc);
        NOTE(j->notes, !x.was_both, x.pair);
    }
    return NULL;
}

static void test_run__write_skew_never_happens(void **state)
{
    struct world *w = *state;
    enum { N = 6 };
    struct job jobs[N];
    struct notes notes = {0};
    make_jobs(jobs, N, w, &notes, test_rounds(4000));
    run_threads(N, sitter, jobs, sizeof jobs[0]);
    assert_no_notes(&notes);
    for (uint64_t i = 0; i < PAIRS; i++) {
        struct rows r = rows_now(w, place_of(1, i));
        assert_true(r.n <= 1);
        rows_free(&r);
    }
}

/* ---- reads without a transaction ---- */

/* A value names itself and is as long as its number says: anything torn shows. */
static sheaf_rc self_body(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct job *j = ctx;
    uint8_t value[600];
    size_t n = 8 + j->done % 500;
    memset(value, (uint8_t)j->done, sizeof value);
    memcpy(value, &j->done, 8);
    sheaf_engine_key k = key_of(1, "self");
    if (j->done % 10 == 9) return eng_del(t, &k, err);
    return eng_put(t, &k, SPAN(value, n), err);
}

static void *self_writer(void *arg)
{
    struct job *j = arg;
    for (j->done = 1; j->done < j->rounds; j->done++) {
        sheaf_rc rc = sheaf_engine_run(j->w->e, self_body, j, &patient, NULL, NULL);
        NOTE(j->notes, rc == SHEAF_OK, rc);
        if (j->done % 8 == 0) sched_yield();
    }
    return NULL;
}

static bool is_whole(span v, uint64_t *number)
{
    if (v.n < 8) return false;
    memcpy(number, v.p, 8);
    if (v.n != 8 + *number % 500) return false;
    for (size_t i = 8; i < v.n; i++)
        if (((const uint8_t *)v.p)[i] != (uint8_t)*number) return false;
    return true;
}

/* Holds four pins at a time; what a read returns never goes back and stays whole. */
static void *self_reader(void *arg)
{
    struct job *j = arg;
    sheaf_engine_key k = key_of(1, "self");
    span v[4] = {{0}};
    void *pin[4] = {0};
    uint64_t last = 0, number;
    for (size_t at = 0; !atomic_load(j->stop); at = (at + 1) % 4) {
        if (v[at].p) NOTE(j->notes, is_whole(v[at], &number), v[at].n);
        eng_read_done(j->w->e, pin[at]);
        NOTE(j->notes, eng_read(j->w->e, &k, &v[at], &pin[at], NULL) == SHEAF_OK, 0);
        if (!v[at].p) continue;
        NOTE(j->notes, is_whole(v[at], &number), v[at].n);
        NOTE(j->notes, number >= last, number);
        last = number;
        if (at == 3) sched_yield();
    }
    for (int i = 0; i < 4; i++) eng_read_done(j->w->e, pin[i]);
    return NULL;
}

static void test_read__is_whole_and_never_goes_back(void **state)
{
    struct world *w = *state;
    struct job writer, readers[3];
    struct threads threads;
    struct notes notes = {0};
    atomic_bool stop = false;
    make_jobs(&writer, 1, w, &notes, test_rounds(15000));
    make_jobs(readers, 3, w, &notes, 0);
    for (int i = 0; i < 3; i++) readers[i].stop = &stop;
    threads_start(&threads, 3, self_reader, readers, sizeof readers[0]);
    run_threads(1, self_writer, &writer, sizeof writer);
    atomic_store(&stop, true);
    threads_join(&threads);
    assert_no_notes(&notes);
}

/* ---- durability ---- */

static void count_done(void *ctx, sheaf_rc rc)
{
    if (rc == SHEAF_OK) atomic_fetch_add((atomic_uint *)ctx, 1);
}

static void *syncer(void *arg)
{
    struct job *j = arg;
    static atomic_uint called[MAX_THREADS];
    atomic_store(&called[j->id], 0);
    for (; j->done < j->rounds; j->done++) {
        struct sheaf_run_result result;
        sheaf_rc rc = sheaf_engine_run(j->w->e, add_body, j, &patient, &result, NULL);
        NOTE(j->notes, rc == SHEAF_OK, rc);
        rc = eng_on_durable(j->w->e, result.position, count_done, &called[j->id], NULL);
        NOTE(j->notes, rc == SHEAF_OK, rc);
        if (j->done % 2) continue;
        rc = eng_sync(j->w->e, result.position, NULL);
        NOTE(j->notes, rc == SHEAF_OK, rc);
        NOTE(j->notes, eng_durable(j->w->e) >= result.position, result.position);
    }
    NOTE(j->notes, eng_sync(j->w->e, eng_visible(j->w->e), NULL) == SHEAF_OK, 0);
    NOTE(j->notes, wait_for(&called[j->id], (unsigned)j->rounds), atomic_load(&called[j->id]));
    NOTE(j->notes, atomic_load(&called[j->id]) == j->rounds, atomic_load(&called[j->id]));
    return NULL;
}

static void test_sync__of_many_threads_reaches_every_position(void **state)
{
    struct world *w = *state;
    enum { N = 8 };
    struct job jobs[N];
    struct notes notes = {0};
    make_jobs(jobs, N, w, &notes, test_rounds(200));
    run_threads(N, syncer, jobs, sizeof jobs[0]);
    assert_no_notes(&notes);
    assert_int_equal(read_number(w, key_of(1, "all"), 0), N * (int64_t)jobs[0].rounds);
}

struct case_list cases_threads(void)
{
    static const struct CMUnitTest cases[] = {
        CASE(test_add__sums_of_many_threads_are_exact),
        CASE(test_append__a_reader_that_polls_never_skips_a_record),
        CASE(test_run__transfers_of_many_threads_lose_nothing),
        CASE(test_snapshot__never_sees_half_a_transaction),
        CASE(test_run__write_skew_never_happens),
        CASE(test_read__is_whole_and_never_goes_back),
        CASE(test_sync__of_many_threads_reaches_every_position),
    };
    return (struct case_list){cases, sizeof cases / sizeof cases[0], true};
}
