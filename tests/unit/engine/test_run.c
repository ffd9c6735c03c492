/* sheaf_engine_run on the mem engine behind a thin wrapper that spoils commits and reads on demand;
 * and the mem engine's commits with every allocation failing in turn. */
#include "support/support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "engine/engine.h"
#include "engine/mem/mem.h"

#include <pthread.h>

/* ---- an engine whose next commits go as told ---- */

enum { PLAN_MAX = 64 };
static struct {
    struct sheaf_engine_ops ops;
    sheaf_rc plan[PLAN_MAX]; /* of each commit; SHEAF_OK = as it comes */
    bool is_kept[PLAN_MAX];  /* an unknown outcome that was really committed */
    bool lands_late[PLAN_MAX];
    sheaf_txn *late; /* an unknown commit still on its way */
    sheaf_rc read_rc[PLAN_MAX];
    unsigned n_commits, n_reads;
} g;

static void land(void)
{
    sheaf_txn *t = g.late;
    g.late = NULL;
    if (t && mem_commit(t, NULL, NULL, NULL) == SHEAF_OK) print_message("landed late\n");
}

static sheaf_rc spoil_commit(sheaf_txn *t, sheaf_position *position, sheaf_stamp *stamp,
                             sheaf_error *err)
{
    unsigned i = g.n_commits++;
    if (g.plan[i] == SHEAF_OK) return mem_commit(t, position, stamp, err);
    if (g.lands_late[i])
        g.late = t;
    else if (g.is_kept[i])
        assert_ok(mem_commit(t, NULL, NULL, NULL));
    else
        mem_rollback(t);
    return err_set(err, g.plan[i], "as planned");
}

static sheaf_rc spoil_read(sheaf_engine *e, const sheaf_engine_key *key, span *value, void **pin,
                           sheaf_error *err)
{
    unsigned i = g.n_reads++;
    if (g.read_rc[i] != SHEAF_OK) return err_set(err, g.read_rc[i], "as planned");
    return mem_ops.read(e, key, value, pin, err);
}

/* Transactions carry the mem engine's own table, so that is what must be spoiled: begin hands them
 * out with the wrapper's. */
static sheaf_rc spoil_begin(sheaf_engine *e, enum sheaf_txn_mode mode, sheaf_txn **out,
                            sheaf_error *err)
{
    TRY(mem_begin(e, mode, out, err));
    (*out)->ops = &g.ops;
    return SHEAF_OK;
}

struct slept {
    uint64_t ns[PLAN_MAX];
    unsigned n;
};
static void note_sleep(void *ctx, uint64_t ns)
{
    struct slept *s = ctx;
    assert_true(s->n < PLAN_MAX);
    s->ns[s->n++] = ns;
}

struct body {
    unsigned calls;
    sheaf_engine_key key, token;
    sheaf_rc answer; /* instead of SHEAF_OK */
    bool lets_land;  /* the late commit arrives while the body runs */
};

static sheaf_rc add_one(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct body *b = ctx;
    const int64_t one = 1;
    b->calls++;
    if (b->lets_land) land();
    TRY(eng_add(t, &b->key, 1, &one, err));
    TRY(eng_put(t, &b->token, SPAN_LIT("done"), err));
    return b->answer;
}

struct world {
    sheaf_engine *e;
    struct body body;
    struct slept slept;
    struct sheaf_run_options options;
    struct sheaf_run_result result;
};

static int setup(void **state)
{
    static const uint8_t hash[16] = {1};
    static struct world w;
    memset(&g, 0, sizeof g);
    memset(&w, 0, sizeof w);
    g.ops = mem_ops;
    g.ops.commit = spoil_commit;
    g.ops.begin = spoil_begin;
    g.ops.read = spoil_read;
    if (sheaf_engine_open_mem(NULL, &w.e, NULL) != SHEAF_OK) return 1;
    w.e->ops = &g.ops;
    w.body.key = (sheaf_engine_key){.p = sheaf_place_make(1, hash), .s = SPAN_LIT("count")};
    w.body.token = (sheaf_engine_key){.p = sheaf_place_make(2, hash), .s = SPAN_LIT("token")};
    w.options = (struct sheaf_run_options){
        .seed = 7, .token = &w.body.token, .sleep_ns = note_sleep, .sleep_ctx = &w.slept};
    *state = &w;
    return 0;
}
static int teardown(void **state)
{
    struct world *w = *state;
    w->e->ops = &mem_ops;
    sheaf_engine_close(w->e);
    return 0;
}

static sheaf_rc run(struct world *w, sheaf_error *err)
{
    return sheaf_engine_run(w->e, add_one, &w->body, &w->options, &w->result, err);
}

static int64_t count_of(struct world *w)
{
    span value;
    void *pin;
    int64_t n = 0;
    assert_ok(mem_ops.read(w->e, &w->body.key, &value, &pin, NULL));
    if (value.p) n = eng_number_get(value.p, 0);
    mem_ops.read_done(w->e, pin);
    return n;
}

static void test_run__commits_at_the_first_attempt(void **state)
{
    struct world *w = *state;
    sheaf_error err;
    assert_ok(run(w, &err));
    assert_int_equal(w->result.attempts, 1);
    assert_int_equal(w->result.position, 1);
    assert_memory_equal(w->result.stamp.b, eng_stamp(1, 0).b, SHEAF_STAMP_BYTES);
    assert_int_equal(w->slept.n, 0);
    assert_int_equal(count_of(w), 1);
    assert_string_equal(err.exception, "");
    assert_ok(sheaf_engine_run(w->e, add_one, &w->body, NULL, NULL, NULL));
}

static void test_run__replays_conflicts_with_growing_jitter(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 20; i++) g.plan[i] = SHEAF_CONFLICT;
    sheaf_error err;
    assert_ok(run(w, &err));
    assert_string_equal(err.exception, ""); /* nothing is left of the conflicts */
    assert_int_equal(w->result.attempts, 21);
    assert_int_equal(w->body.calls, 21);
    assert_int_equal(w->slept.n, 20);
    uint64_t bound = 20000, sum = 0;
    for (unsigned i = 0; i < 20; i++) {
        assert_true(w->slept.ns[i] <= bound);
        bound = bound * 2 < 5000000 ? bound * 2 : 5000000;
        sum += w->slept.ns[i];
    }
    assert_true(sum > 5000000); /* jitter, not nothing */
    assert_int_equal(count_of(w), 1);
}

static void test_run__gives_up_after_max_attempts(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < PLAN_MAX; i++) g.plan[i] = SHEAF_CONFLICT;
    sheaf_error err;
    assert_rc(run(w, &err), SHEAF_CONFLICT);
    assert_int_equal(w->result.attempts, 32);
    assert_int_equal(w->slept.n, 31);
    assert_string_equal(err.message, "the transaction was in conflict with others 32 times");
    w->options.max_attempts = 1;
    w->slept.n = 0;
    assert_rc(run(w, NULL), SHEAF_CONFLICT);
    assert_int_equal(w->result.attempts, 1);
    assert_int_equal(w->slept.n, 0);
    assert_int_equal(count_of(w), 0);
}

static void test_run__returns_what_the_body_answers(void **state)
{
    struct world *w = *state;
    w->body.answer = SHEAF_CONDITIONAL_CHECK_FAILED;
    assert_rc(run(w, NULL), SHEAF_CONDITIONAL_CHECK_FAILED);
    assert_int_equal(w->body.calls, 1);
    assert_int_equal(g.n_commits, 0);
    assert_int_equal(count_of(w), 0);
}

static void test_run__returns_other_failures_of_commit(void **state)
{
    struct world *w = *state;
    g.plan[0] = SHEAF_CONFLICT;
    g.plan[1] = SHEAF_IO;
    assert_rc(run(w, NULL), SHEAF_IO);
    assert_int_equal(w->result.attempts, 2);
    assert_int_equal(w->result.position, 0);
}

static void test_run__settles_an_unknown_outcome_by_the_token(void **state)
{
    struct world *w = *state;
    g.plan[0] = SHEAF_UNKNOWN_OUTCOME;
    g.is_kept[0] = true;
    assert_ok(run(w, NULL));
    assert_int_equal(w->result.attempts, 1);
    assert_int_equal(w->result.position, 1);
    static const sheaf_stamp zeros;
    assert_memory_equal(w->result.stamp.b, zeros.b, SHEAF_STAMP_BYTES);
    assert_int_equal(count_of(w), 1);
}

static void test_run__replays_an_unknown_outcome_that_was_lost(void **state)
{
    struct world *w = *state;
    for (int i = 0; i < 3; i++) g.plan[i] = SHEAF_UNKNOWN_OUTCOME;
    assert_ok(run(w, NULL));
    assert_int_equal(w->result.attempts, 4);
    assert_int_equal(count_of(w), 1);
}

/* "Certainly not committed" would be a lie: the unknown attempt may still land. */
static void test_run__stays_unknown_when_attempts_are_used_up_after_an_unknown_one(void **state)
{
    struct world *w = *state;
    sheaf_error err;
    static const sheaf_rc plans[][3] = {
        {SHEAF_UNKNOWN_OUTCOME, SHEAF_UNKNOWN_OUTCOME, SHEAF_UNKNOWN_OUTCOME},
        {SHEAF_UNKNOWN_OUTCOME, SHEAF_CONFLICT, SHEAF_CONFLICT},
        {SHEAF_CONFLICT, SHEAF_CONFLICT, SHEAF_UNKNOWN_OUTCOME},
        {SHEAF_UNKNOWN_OUTCOME, SHEAF_CONFLICT, SHEAF_IO},
    };
    w->options.max_attempts = 3;
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        g.n_commits = 0;
        memcpy(g.plan, plans[i], sizeof plans[i]);
        assert_rc(run(w, &err), SHEAF_UNKNOWN_OUTCOME);
        assert_int_equal(err.rc, SHEAF_UNKNOWN_OUTCOME);
        assert_int_equal(w->result.attempts, 3);
        assert_int_equal(w->result.position, 0);
    }
}

static sheaf_rc fail_when_replayed(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct body *b = ctx;
    if (b->calls > 0) b->answer = SHEAF_CONDITIONAL_CHECK_FAILED;
    return add_one(ctx, t, err);
}

static void test_run__stays_unknown_when_the_body_fails_after_an_unknown_attempt(void **state)
{
    struct world *w = *state;
    sheaf_error err;
    g.plan[0] = SHEAF_UNKNOWN_OUTCOME;
    g.lands_late[0] = true;
    assert_rc(sheaf_engine_run(w->e, fail_when_replayed, &w->body, &w->options, NULL, &err),
              SHEAF_UNKNOWN_OUTCOME);
    assert_int_equal(w->body.calls, 2);
    assert_non_null(strstr(err.message, "ConditionalCheckFailedException"));
    land(); /* what the caller was told is true: it could, and did */
    assert_int_equal(count_of(w), 1);
}

static void test_run__returns_an_unknown_outcome_without_a_token(void **state)
{
    struct world *w = *state;
    w->options.token = NULL;
    g.plan[0] = SHEAF_UNKNOWN_OUTCOME;
    assert_rc(run(w, NULL), SHEAF_UNKNOWN_OUTCOME);
    assert_int_equal(w->body.calls, 1);
}

static void test_run__keeps_asking_for_the_token_for_a_while(void **state)
{
    struct world *w = *state;
    g.plan[0] = g.plan[1] = SHEAF_UNKNOWN_OUTCOME;
    g.is_kept[0] = true;
    for (int i = 0; i < 5; i++) g.read_rc[i] = SHEAF_RETRY_LATER;
    assert_ok(run(w, NULL));
    assert_int_equal(g.n_reads, 6);
    for (int i = 6; i < PLAN_MAX; i++) g.read_rc[i] = SHEAF_RETRY_LATER;
    assert_rc(run(w, NULL), SHEAF_UNKNOWN_OUTCOME);
    assert_int_equal(w->body.calls, 2);
}

/* A commit whose connection broke may still arrive: before, while and after the next attempt. */
static void test_run__takes_effect_once_when_a_commit_lands_late(void **state)
{
    struct world *w = *state;
    g.plan[0] = SHEAF_UNKNOWN_OUTCOME;
    g.lands_late[0] = true;
    assert_ok(run(w, NULL)); /* lands after the second attempt */
    assert_int_equal(w->body.calls, 2);
    land();
    assert_int_equal(count_of(w), 1);
}
static void test_run__takes_effect_once_when_a_commit_lands_while_it_is_replayed(void **state)
{
    struct world *w = *state;
    g.plan[0] = SHEAF_UNKNOWN_OUTCOME;
    g.lands_late[0] = true;
    w->body.lets_land = true; /* the second call lets the first land, and must then conflict */
    assert_ok(run(w, NULL));
    assert_int_equal(w->body.calls, 2);
    assert_int_equal(w->result.attempts, 3); /* the third found the token */
    assert_int_equal(count_of(w), 1);
}

/* ---- many threads ---- */

enum { THREADS = 4, ADDS = 500 };

static sheaf_rc read_and_put(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    const sheaf_engine_key *key = ctx;
    span value;
    int64_t n = 0;
    uint8_t b[8];
    TRY(eng_get(t, 1, key, &value, err));
    if (value.p) n = eng_number_get(value.p, 0);
    eng_number_set(b, 0, n + 1);
    return eng_put(t, key, SPAN(b, 8), err);
}

static void *increment(void *arg)
{
    struct world *w = arg;
    struct sheaf_run_options o = {.max_attempts = 1000000};
    for (int i = 0; i < ADDS; i++)
        if (sheaf_engine_run(w->e, read_and_put, &w->body.key, &o, NULL, NULL) != SHEAF_OK)
            return w;
    return NULL;
}

static void test_run__loses_no_increment_among_threads(void **state)
{
    struct world *w = *state;
    pthread_t t[THREADS];
    void *failed;
    w->e->ops = &mem_ops;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, increment, w), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(t[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(count_of(w), THREADS * ADDS);
}

/* ---- the mem engine out of memory ---- */

static bool count_complaint(void *ctx, const sheaf_engine_key *key, const char *what)
{
    (void)key;
    print_message("complaint: %s\n", what);
    ++*(int *)ctx;
    return true;
}

static sheaf_rc big_change(sheaf_engine *e, uint64_t round)
{
    static const uint8_t hash[16] = {9};
    sheaf_txn *t;
    sheaf_place p = sheaf_place_make(3, hash);
    span got[20];
    sheaf_engine_key keys[20];
    uint64_t names[20];
    const int64_t two[2] = {1, -1};
    TRY(mem_begin(e, SHEAF_TXN_RW, &t, NULL));
    sheaf_rc rc = SHEAF_OK;
    for (uint64_t i = 0; i < 20; i++) {
        names[i] = (round * 20 + i) * 0x9E3779B97F4A7C15u;
        keys[i] = (sheaf_engine_key){.p = p, .s = SPAN(&names[i], 8)};
    }
    sheaf_engine_key counter = {.p = sheaf_place_make(4, hash), .s = SPAN_LIT("n")};
    TRY_OUT(eng_get(t, 20, keys, got, NULL));
    for (int i = 0; i < 20; i++) TRY_OUT(eng_put(t, &keys[i], SPAN(keys, 200), NULL));
    TRY_OUT(eng_del(t, &keys[3], NULL));
    TRY_OUT(eng_add(t, &counter, 2, two, NULL));
    TRY_OUT(eng_append(t, &counter.p, SPAN_LIT("entry"), NULL));
    TRY_OUT(eng_del_range(t, &p, SPAN("\x80", 1), SPAN("\x90", 1), NULL));
    return eng_commit(t, NULL, NULL, NULL);
out:
    eng_rollback(t);
    return rc;
}

static void test_mem__every_failed_allocation_leaves_the_data_as_it_was(void **state)
{
    struct world *w = *state;
    int complaints = 0;
    uint64_t failures = 0;
    w->e->ops = &mem_ops;
    for (uint64_t round = 0; round < 12; round++) {
        for (uint64_t nth = 1;; nth++) {
            struct sheaf_engine_stats before, after;
            eng_stats(w->e, &before);
            mem_fail_at(nth, false);
            sheaf_rc rc = big_change(w->e, round);
            mem_fail_at(0, false);
            if (rc == SHEAF_OK) break;
            assert_int_equal(rc, SHEAF_NOMEM);
            failures++;
            eng_stats(w->e, &after);
            assert_memory_equal(&before, &after, sizeof before);
            assert_ok(eng_verify(w->e, count_complaint, &complaints, NULL));
        }
    }
    assert_true(failures > 200);
    assert_int_equal(complaints, 0);
}

static void test_mem__opening_answers_out_of_memory(void **state)
{
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        sheaf_engine *e;
        mem_fail_at(nth, false);
        sheaf_rc rc = sheaf_engine_open_mem(NULL, &e, NULL);
        mem_fail_at(0, false);
        if (rc == SHEAF_OK) {
            assert_true(nth > 3);
            sheaf_engine_close(e);
            return;
        }
        assert_int_equal(rc, SHEAF_NOMEM);
        assert_null(e);
    }
}

static void test_mem__takes_smaller_caps_and_refuses_what_it_cannot_be(void **state)
{
    (void)state;
    sheaf_engine *e;
    struct sheaf_engine_caps caps;
    struct sheaf_mem_options o = {.caps = {.max_key = 100, .max_txn_bytes = 500}};
    assert_ok(sheaf_engine_open_mem(&o, &e, NULL));
    eng_caps(e, &caps);
    assert_int_equal(caps.max_key, 100);
    assert_int_equal(caps.max_txn_bytes, 500);
    assert_int_equal(caps.max_value, 16 << 20);
    sheaf_engine_close(e);
    o.caps = (struct sheaf_engine_caps){.is_durable = true};
    assert_rc(sheaf_engine_open_mem(&o, &e, NULL), SHEAF_UNSUPPORTED);
    o.caps = (struct sheaf_engine_caps){.max_key = 6145};
    assert_rc(sheaf_engine_open_mem(&o, &e, NULL), SHEAF_VALIDATION);
    assert_null(e);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_run__commits_at_the_first_attempt),
        CASE(test_run__replays_conflicts_with_growing_jitter),
        CASE(test_run__gives_up_after_max_attempts),
        CASE(test_run__returns_what_the_body_answers),
        CASE(test_run__returns_other_failures_of_commit),
        CASE(test_run__settles_an_unknown_outcome_by_the_token),
        CASE(test_run__replays_an_unknown_outcome_that_was_lost),
        CASE(test_run__stays_unknown_when_attempts_are_used_up_after_an_unknown_one),
        CASE(test_run__stays_unknown_when_the_body_fails_after_an_unknown_attempt),
        CASE(test_run__returns_an_unknown_outcome_without_a_token),
        CASE(test_run__keeps_asking_for_the_token_for_a_while),
        CASE(test_run__takes_effect_once_when_a_commit_lands_late),
        CASE(test_run__takes_effect_once_when_a_commit_lands_while_it_is_replayed),
        CASE(test_run__loses_no_increment_among_threads),
        CASE(test_mem__every_failed_allocation_leaves_the_data_as_it_was),
        CASE(test_mem__opening_answers_out_of_memory),
        CASE(test_mem__takes_smaller_caps_and_refuses_what_it_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
