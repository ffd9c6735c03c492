/* engine/fault: every action on every call, counting, and the run loop against injected
 * outcomes. */
#include "support/support.h"

#include "base/clock.h"
#include "base/mem.h"
#include "engine/fault/fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static sheaf_engine *open_with(const struct fault_rule *rules, size_t n)
{
    sheaf_engine *inner, *e;
    const struct fault_options options = {.rules = rules, .n_rules = n, .seed = 7};
    assert_ok(sheaf_engine_open_mem(NULL, &inner, NULL));
    assert_ok(fault_open(inner, &options, &e, NULL));
    return e;
}

static void set_rules(sheaf_engine *e, const struct fault_rule *rules, size_t n)
{
    const struct fault_options options = {.rules = rules, .n_rules = n, .seed = 7};
    assert_ok(fault_set(e, &options, NULL));
}

static sheaf_engine_key key_of(const char *s)
{
    return (sheaf_engine_key){sheaf_place_make(1, (const uint8_t[16]){5}), span_cstr(s)};
}

static void nothing_durable(void *ctx, sheaf_rc rc) { *(sheaf_rc *)ctx = rc; }

static bool no_complaint(void *ctx, const sheaf_engine_key *key, const char *what)
{
    (void)ctx, (void)key, (void)what;
    return true;
}

/* Makes the call once on an engine that holds "there", in a transaction of its own where it needs
 * one. Everything is given back whatever the call answers; out-parameters of a failed call are
 * checked to be empty. */
static sheaf_rc call_txn(sheaf_txn *t, enum fault_call call)
{
    sheaf_engine_key k = key_of("there"), other = key_of("other");
    span value = SPAN("junk", 4);
    const int64_t one = 1;
    sheaf_rc rc;
    switch (call) {
    case FAULT_GET:
        rc = eng_get(t, 1, &k, &value, NULL);
        assert_int_equal(value.p != NULL, rc == SHEAF_OK);
        return rc;
    case FAULT_GUARD:
        return eng_guard(t, &k, NULL);
    case FAULT_PUT:
        return eng_put(t, &other, SPAN("v", 1), NULL);
    case FAULT_DEL:
        return eng_del(t, &other, NULL);
    case FAULT_DEL_RANGE:
        return eng_del_range(t, &k.p, SPAN("x", 1), SPAN_NONE, NULL);
    case FAULT_ADD:
        return eng_add(t, &other, 1, &one, NULL);
    default:
        return eng_append(t, &k.p, SPAN("v", 1), NULL);
    }
}

static sheaf_rc call_cursor(sheaf_txn *t, enum fault_call call)
{
    const struct sheaf_range range = {.p = key_of("").p};
    const struct sheaf_walk walk = {.space = 1};
    sheaf_cursor *c = (sheaf_cursor *)t;
    sheaf_rc rc =
        call == FAULT_WALK ? eng_walk(t, &walk, &c, NULL) : eng_range(t, &range, &c, NULL);
    assert_int_equal(c != NULL, rc == SHEAF_OK);
    if (rc != SHEAF_OK) return rc;
    struct sheaf_row row;
    bool has_row = true;
    if (call == FAULT_NEXT) rc = eng_next(c, &row, &has_row, NULL);
    assert_int_equal(has_row, rc == SHEAF_OK);
    eng_cursor_close(c);
    return rc;
}

static sheaf_rc call_engine(sheaf_engine *e, enum fault_call call)
{
    sheaf_engine_key k = key_of("there");
    span value = SPAN("junk", 4);
    void *pin = &value;
    sheaf_rc rc, told = SHEAF_OK;
    switch (call) {
    case FAULT_READ:
        rc = eng_read(e, &k, &value, &pin, NULL);
        assert_int_equal(value.p != NULL, rc == SHEAF_OK);
        eng_read_done(e, rc == SHEAF_OK ? pin : NULL);
        return rc;
    case FAULT_SYNC:
        return eng_sync(e, eng_visible(e), NULL);
    case FAULT_ON_DURABLE:
        rc = eng_on_durable(e, 0, nothing_durable, &told, NULL);
        assert_int_equal(told, SHEAF_OK);
        return rc;
    case FAULT_DROP_SPACE:
        return eng_drop_space(e, 99, NULL);
    case FAULT_CHECKPOINT:
        rc = eng_checkpoint(e, "/nonexistent/copy", NULL);
        return rc == SHEAF_UNSUPPORTED ? SHEAF_OK : rc; /* the wrapped one was asked */
    default:
        return eng_verify(e, no_complaint, NULL, NULL);
    }
}

static sheaf_rc call_once(sheaf_engine *e, enum fault_call call)
{
    if (call >= FAULT_READ) return call_engine(e, call);
    sheaf_txn *t = (sheaf_txn *)e;
    sheaf_rc rc = eng_begin(e, SHEAF_TXN_RW, &t, NULL);
    assert_int_equal(t != NULL, rc == SHEAF_OK);
    if (rc != SHEAF_OK) return rc;
    if (call == FAULT_COMMIT) {
        sheaf_position at = 99;
        sheaf_engine_key k = key_of("committed");
        assert_ok(eng_put(t, &k, SPAN("v", 1), NULL));
        rc = eng_commit(t, &at, NULL, NULL);
        assert_int_equal(at != 0, rc == SHEAF_OK);
        return rc;
    }
    if (call == FAULT_RANGE || call == FAULT_WALK || call == FAULT_NEXT)
        rc = call_cursor(t, call);
    else if (call != FAULT_BEGIN)
        rc = call_txn(t, call);
    eng_rollback(t);
    return rc;
}

static bool has_key(sheaf_engine *e, const char *s)
{
    sheaf_engine_key k = key_of(s);
    span value;
    void *pin;
    assert_ok(eng_read(e, &k, &value, &pin, NULL));
    eng_read_done(e, pin);
    return value.p != NULL;
}

static void put_there(sheaf_engine *e)
{
    sheaf_txn *t;
    sheaf_engine_key k = key_of("there");
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_put(t, &k, SPAN("v", 1), NULL));
    assert_ok(eng_commit(t, NULL, NULL, NULL));
}

static void test_fault__without_rules_every_call_passes_and_is_counted(void **state)
{
    (void)state;
    sheaf_engine *e = open_with(NULL, 0);
    put_there(e);
    set_rules(e, NULL, 0);
    for (int call = FAULT_BEGIN; call <= FAULT_VERIFY; call++) {
        uint64_t before = fault_calls(e, (enum fault_call)call);
        assert_ok(call_once(e, (enum fault_call)call));
        assert_int_equal(fault_calls(e, (enum fault_call)call), before + 1);
    }
    uint64_t sum = 0;
    for (int call = FAULT_BEGIN; call <= FAULT_VERIFY; call++)
        sum += fault_calls(e, (enum fault_call)call);
    assert_int_equal(fault_calls(e, FAULT_ANY), sum);
    assert_int_equal(fault_fired(e, 0), 0);
    sheaf_engine_close(e);
}

static void test_fault__fails_each_call_exactly_when_told(void **state)
{
    (void)state;
    sheaf_engine *e = open_with(NULL, 0);
    put_there(e);
    for (int call = FAULT_BEGIN; call <= FAULT_VERIFY; call++) {
        struct fault_rule rule = {(enum fault_call)call, FAULT_FAIL, .nth = 2, .every = 3};
        set_rules(e, &rule, 1);
        for (int i = 1; i <= 8; i++)
            assert_rc(call_once(e, rule.call), i == 2 || i == 5 || i == 8 ? SHEAF_IO : SHEAF_OK);
        assert_int_equal(fault_fired(e, 0), 3);
        rule.rc = SHEAF_RETRY_LATER, rule.every = 0, rule.nth = 1;
        set_rules(e, &rule, 1);
        for (int i = 1; i <= 5; i++)
            assert_rc(call_once(e, rule.call), i == 1 ? SHEAF_RETRY_LATER : SHEAF_OK);
        assert_int_equal(fault_fired(e, 0), 1);
    }
    sheaf_engine_close(e);
}

static void test_fault__a_failed_commit_has_committed_nothing(void **state)
{
    (void)state;
    static const enum fault_action actions[] = {FAULT_FAIL, FAULT_CONFLICT, FAULT_UNKNOWN_LOST};
    static const sheaf_rc answers[] = {SHEAF_IO, SHEAF_CONFLICT, SHEAF_UNKNOWN_OUTCOME};
    for (int i = 0; i < 3; i++) {
        struct fault_rule rule = {FAULT_COMMIT, actions[i], .nth = 1};
        sheaf_engine *e = open_with(&rule, 1);
        assert_rc(call_once(e, FAULT_COMMIT), answers[i]);
        assert_false(has_key(e, "committed"));
        assert_ok(call_once(e, FAULT_COMMIT));
        assert_true(has_key(e, "committed"));
        sheaf_engine_close(e);
    }
}

static void test_fault__unknown_kept_has_committed(void **state)
{
    (void)state;
    struct fault_rule rule = {FAULT_ANY, FAULT_UNKNOWN_KEPT, .nth = 1};
    sheaf_engine *e = open_with(&rule, 1);
    sheaf_error err;
    sheaf_txn *t;
    sheaf_engine_key k = key_of("committed");
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_put(t, &k, SPAN("v", 1), NULL));
    assert_rc(eng_commit(t, NULL, NULL, &err), SHEAF_UNKNOWN_OUTCOME);
    assert_int_equal(err.rc, SHEAF_UNKNOWN_OUTCOME);
    assert_true(has_key(e, "committed"));
    sheaf_engine_close(e);
}

/* A conflict of the wrapped engine itself is certain, and is said. */
static void test_fault__unknown_kept_does_not_hide_a_real_conflict(void **state)
{
    (void)state;
    sheaf_engine *e = open_with(NULL, 0);
    sheaf_txn *t;
    sheaf_engine_key k = key_of("there"), other = key_of("other");
    span value;
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_get(t, 1, &k, &value, NULL));
    assert_ok(eng_put(t, &other, SPAN("v", 1), NULL));
    put_there(e);
    set_rules(e, &(struct fault_rule){FAULT_COMMIT, FAULT_UNKNOWN_KEPT, .nth = 1}, 1);
    assert_rc(eng_commit(t, NULL, NULL, NULL), SHEAF_CONFLICT);
    assert_false(has_key(e, "other"));
    sheaf_engine_close(e);
}

static void test_fault__delays_each_call_on_the_clock(void **state)
{
    (void)state;
    struct clock_manual clock;
    clock_manual_init(&clock, 0);
    sheaf_engine *e = open_with(NULL, 0);
    put_there(e);
    for (int call = FAULT_BEGIN; call <= FAULT_VERIFY; call++) {
        struct fault_rule rules[2] = {
            {(enum fault_call)call, FAULT_DELAY, .nth = 1, .every = 1, .delay_ns = 1000},
            {(enum fault_call)call, FAULT_DELAY, .nth = 2, .delay_ns = 50000}};
        assert_ok(fault_set(
            e, &(struct fault_options){.rules = rules, .n_rules = 2, .clock = &clock.base}, NULL));
        uint64_t before = atomic_load(&clock.slept_ns);
        for (int i = 0; i < 3; i++) assert_ok(call_once(e, (enum fault_call)call));
        assert_int_equal(atomic_load(&clock.slept_ns) - before, 53000);
        assert_int_equal(fault_fired(e, 0), 3);
        assert_int_equal(fault_fired(e, 1), 1);
    }
    sheaf_engine_close(e);
}

static void count_crash(void *ctx) { ++*(int *)ctx; }

static void test_fault__crashes_at_each_call(void **state)
{
    (void)state;
    sheaf_engine *e = open_with(NULL, 0);
    put_there(e);
    for (int call = FAULT_BEGIN; call <= FAULT_VERIFY; call++) {
        int crashes = 0;
        struct fault_rule rule = {(enum fault_call)call, FAULT_CRASH, .nth = 2};
        assert_ok(
            fault_set(e, &(struct fault_options){&rule, 1, 0, NULL, count_crash, &crashes}, NULL));
        assert_ok(call_once(e, rule.call));
        assert_int_equal(crashes, 0);
        assert_ok(call_once(e, rule.call));
        assert_int_equal(crashes, 1);
    }
    sheaf_engine_close(e);
}

static void test_fault__any_matches_all_calls_in_turn(void **state)
{
    (void)state;
    struct fault_rule rule = {FAULT_ANY, FAULT_FAIL, .nth = 3};
    sheaf_engine *e = open_with(&rule, 1);
    sheaf_txn *t;
    sheaf_engine_key k = key_of("k");
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_guard(t, &k, NULL));
    assert_rc(eng_put(t, &k, SPAN("v", 1), NULL), SHEAF_IO);
    assert_ok(eng_put(t, &k, SPAN("v", 1), NULL));
    assert_ok(eng_commit(t, NULL, NULL, NULL));
    assert_int_equal(fault_calls(e, FAULT_ANY), 5);
    assert_int_equal(fault_calls(e, FAULT_PUT), 2);
    sheaf_engine_close(e);
}

/* The first rule that decides wins; the others go on counting. */
static void test_fault__rules_count_apart_from_each_other(void **state)
{
    (void)state;
    const struct fault_rule rules[] = {
        {FAULT_SYNC, FAULT_FAIL, .nth = 2, .rc = SHEAF_FENCED},
        {FAULT_SYNC, FAULT_FAIL, .nth = 2, .every = 2, .rc = SHEAF_RETRY_LATER},
        {FAULT_SYNC, FAULT_FAIL, .every = 5, .rc = SHEAF_CORRUPT}};
    static const sheaf_rc want[] = {SHEAF_OK,      SHEAF_FENCED,      SHEAF_OK, SHEAF_RETRY_LATER,
                                    SHEAF_CORRUPT, SHEAF_RETRY_LATER, SHEAF_OK};
    sheaf_engine *e = open_with(rules, 3);
    for (int i = 0; i < 7; i++) assert_rc(call_once(e, FAULT_SYNC), want[i]);
    assert_int_equal(fault_fired(e, 0), 1);
    assert_int_equal(fault_fired(e, 1), 3);
    assert_int_equal(fault_fired(e, 2), 1);
    assert_int_equal(fault_fired(e, 3), 0);
    sheaf_engine_close(e);
}

static void test_fault__one_in_n_repeats_with_its_seed(void **state)
{
    (void)state;
    enum { N = 2000 };
    static bool fired[3][N];
    struct fault_rule rule = {FAULT_SYNC, FAULT_FAIL, .one_in = 10};
    sheaf_engine *e = open_with(&rule, 1);
    for (uint64_t run = 0; run < 3; run++) {
        assert_ok(
            fault_set(e, &(struct fault_options){&rule, 1, .seed = run == 2 ? 43 : 42}, NULL));
        for (int i = 0; i < N; i++) fired[run][i] = call_once(e, FAULT_SYNC) != SHEAF_OK;
        assert_in_range(fault_fired(e, 0), N / 10 - 70, N / 10 + 70);
    }
    assert_memory_equal(fired[0], fired[1], sizeof fired[0]);
    assert_memory_not_equal(fired[0], fired[2], sizeof fired[0]);
    sheaf_engine_close(e);
}

static void test_fault__refuses_rules_that_could_never_fire(void **state)
{
    (void)state;
    const struct fault_rule bad[] = {{FAULT_GET, FAULT_CONFLICT, .nth = 1},
                                     {FAULT_SYNC, FAULT_UNKNOWN_KEPT, .nth = 1},
                                     {FAULT_BEGIN, FAULT_UNKNOWN_LOST, .one_in = 2},
                                     {FAULT_GET, FAULT_FAIL, .rc = SHEAF_IO},
                                     {(enum fault_call)99, FAULT_FAIL, .nth = 1},
                                     {FAULT_GET, (enum fault_action)99, .nth = 1}};
    sheaf_engine *inner, *e;
    assert_ok(sheaf_engine_open_mem(NULL, &inner, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct fault_options options = {.rules = &bad[i], .n_rules = 1};
        assert_rc(fault_open(inner, &options, &e, NULL), SHEAF_VALIDATION);
        assert_null(e);
    }
    assert_rc(fault_open(inner, &(struct fault_options){.rules = bad, .n_rules = 65}, &e, NULL),
              SHEAF_VALIDATION);
    assert_ok(fault_open(inner, NULL, &e, NULL)); /* still ours, and still good */
    assert_rc(fault_set(e, &(struct fault_options){.rules = bad, .n_rules = 1}, NULL),
              SHEAF_VALIDATION);
    assert_ok(call_once(e, FAULT_COMMIT));
    sheaf_engine_close(e);
}

static void test_fault__every_failed_allocation_is_answered(void **state)
{
    (void)state;
    sheaf_engine *inner, *e;
    assert_ok(sheaf_engine_open_mem(NULL, &inner, NULL));
    mem_fail_at(1, false);
    assert_rc(fault_open(inner, NULL, &e, NULL), SHEAF_NOMEM);
    mem_fail_at(0, false);
    assert_ok(fault_open(inner, NULL, &e, NULL));
    put_there(e);
    for (int call = FAULT_BEGIN; call <= FAULT_NEXT; call++) {
        sheaf_rc rc = SHEAF_NOMEM;
        for (uint64_t nth = 1; rc == SHEAF_NOMEM && nth < 100; nth++) {
            mem_fail_at(nth, false);
            rc = call_once(e, (enum fault_call)call);
            mem_fail_at(0, false);
            assert_true(rc == SHEAF_OK || rc == SHEAF_NOMEM);
        }
        assert_ok(rc);
    }
    sheaf_engine_close(e);
}

/* ---- threads ---- */

struct caller {
    sheaf_engine *e;
    unsigned failed;
};

static void *call_sync(void *arg)
{
    struct caller *c = arg;
    for (int i = 0; i < 3000; i++) c->failed += eng_sync(c->e, 0, NULL) != SHEAF_OK;
    return NULL;
}

static void test_fault__counts_exactly_with_many_threads(void **state)
{
    (void)state;
    enum { N = 4 };
    const struct fault_rule rules[] = {{FAULT_SYNC, FAULT_FAIL, .nth = 7, .every = 7},
                                       {FAULT_ANY, FAULT_FAIL, .one_in = 11}};
    sheaf_engine *e = open_with(rules, 2);
    pthread_t threads[N];
    struct caller callers[N];
    for (int i = 0; i < N; i++) {
        callers[i] = (struct caller){e, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, call_sync, &callers[i]), 0);
    }
    uint64_t failed = 0;
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        failed += callers[i].failed;
    }
    assert_int_equal(fault_calls(e, FAULT_SYNC), 3000 * N);
    assert_int_equal(fault_fired(e, 0), 3000 * N / 7);
    assert_true(failed <= fault_fired(e, 0) + fault_fired(e, 1));
    assert_true(failed > fault_fired(e, 0));
    sheaf_engine_close(e);
}

/* ---- the run loop ---- */

struct request {
    const char *token;
    int runs;
    sheaf_rc answer;
};

/* Counts by reading and putting, so that a request that took effect twice would show. */
static sheaf_rc count_body(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct request *r = ctx;
    sheaf_engine_key k = key_of("count"), token = key_of(r->token);
    span value;
    r->runs++;
    TRY(eng_get(t, 1, &k, &value, err));
    uint64_t n = 0;
    if (value.p) memcpy(&n, value.p, 8);
    n++;
    TRY(eng_put(t, &k, SPAN(&n, 8), err));
    TRY(eng_put(t, &token, SPAN("done", 4), err));
    return r->answer;
}

static uint64_t count_now(sheaf_engine *e)
{
    sheaf_engine_key k = key_of("count");
    span value;
    void *pin;
    uint64_t n = 0;
    assert_ok(eng_read(e, &k, &value, &pin, NULL));
    if (value.p) memcpy(&n, value.p, 8);
    eng_read_done(e, pin);
    return n;
}

static void no_sleep(void *ctx, uint64_t ns) { *(uint64_t *)ctx += ns; }

static sheaf_rc run_counted(sheaf_engine *e, struct request *r, bool has_token,
                            uint32_t max_attempts, struct sheaf_run_result *result)
{
    sheaf_engine_key token = key_of(r->token);
    uint64_t slept = 0;
    const struct sheaf_run_options options = {.token = has_token ? &token : NULL,
                                              .max_attempts = max_attempts,
                                              .seed = 1,
                                              .sleep_ns = no_sleep,
                                              .sleep_ctx = &slept};
    return sheaf_engine_run(e, count_body, r, &options, result, NULL);
}

static void test_run__replays_forced_conflicts(void **state)
{
    (void)state;
    sheaf_engine *e = open_with(NULL, 0);
    for (uint64_t conflicts = 0; conflicts < 5; conflicts++) {
        struct fault_rule rules[5];
        for (uint64_t i = 0; i < conflicts; i++)
            rules[i] = (struct fault_rule){FAULT_COMMIT, FAULT_CONFLICT, .nth = i + 1};
        set_rules(e, rules, conflicts);
        struct request r = {.token = "t"};
        struct sheaf_run_result result;
        assert_ok(run_counted(e, &r, false, 0, &result));
        assert_int_equal(r.runs, conflicts + 1);
        assert_int_equal(result.attempts, conflicts + 1);
        assert_true(result.position > 0);
        assert_int_equal(count_now(e), conflicts + 1);
    }
    sheaf_engine_close(e);
}

static void test_run__gives_up_after_max_attempts(void **state)
{
    (void)state;
    struct fault_rule rule = {FAULT_COMMIT, FAULT_CONFLICT, .nth = 1, .every = 1};
    sheaf_engine *e = open_with(&rule, 1);
    struct request r = {.token = "t"};
    struct sheaf_run_result result;
    assert_rc(run_counted(e, &r, false, 4, &result), SHEAF_CONFLICT);
    assert_int_equal(r.runs, 4);
    r.runs = 0;
    assert_rc(run_counted(e, &r, false, 0, &result), SHEAF_CONFLICT);
    assert_int_equal(r.runs, 32);
    assert_int_equal(count_now(e), 0);
    sheaf_engine_close(e);
}

static void test_run__settles_a_lost_unknown_outcome_by_running_again(void **state)
{
    (void)state;
    struct fault_rule rule = {FAULT_COMMIT, FAULT_UNKNOWN_LOST, .nth = 1};
    sheaf_engine *e = open_with(&rule, 1);
    struct request r = {.token = "t"};
    assert_ok(run_counted(e, &r, true, 0, NULL));
    assert_int_equal(r.runs, 2);
    assert_int_equal(count_now(e), 1);
    assert_true(has_key(e, "t"));
    sheaf_engine_close(e);
}

static void test_run__settles_a_kept_unknown_outcome_by_its_token(void **state)
{
    (void)state;
    struct fault_rule rule = {FAULT_COMMIT, FAULT_UNKNOWN_KEPT, .nth = 1};
    sheaf_engine *e = open_with(&rule, 1);
    struct request r = {.token = "t"};
    struct sheaf_run_result result;
    assert_ok(run_counted(e, &r, true, 0, &result));
    assert_int_equal(r.runs, 1);
    assert_int_equal(count_now(e), 1);
    assert_memory_equal(result.stamp.b, (uint8_t[SHEAF_STAMP_BYTES]){0}, SHEAF_STAMP_BYTES);
    sheaf_engine_close(e);
}

static void test_run__returns_an_unknown_outcome_without_a_token(void **state)
{
    (void)state;
    const struct fault_rule rules[] = {{FAULT_COMMIT, FAULT_UNKNOWN_KEPT, .nth = 1},
                                       {FAULT_COMMIT, FAULT_UNKNOWN_LOST, .nth = 2}};
    sheaf_engine *e = open_with(rules, 2);
    struct request r = {.token = "t"};
    assert_rc(run_counted(e, &r, false, 0, NULL), SHEAF_UNKNOWN_OUTCOME);
    assert_rc(run_counted(e, &r, false, 0, NULL), SHEAF_UNKNOWN_OUTCOME);
    assert_int_equal(r.runs, 2);
    assert_int_equal(count_now(e), 1);
    sheaf_engine_close(e);
}

/* Many requests against a storm of all three: each takes effect exactly once. */
static void test_run__takes_effect_exactly_once_in_a_storm(void **state)
{
    (void)state;
    const struct fault_rule rules[] = {{FAULT_COMMIT, FAULT_UNKNOWN_KEPT, .one_in = 4},
                                       {FAULT_COMMIT, FAULT_UNKNOWN_LOST, .one_in = 4},
                                       {FAULT_COMMIT, FAULT_CONFLICT, .one_in = 4}};
    sheaf_engine *e = open_with(rules, 3);
    for (uint64_t i = 1; i <= 1000; i++) {
        char token[24];
        snprintf(token, sizeof token, "token %u", (unsigned)i);
        struct request r = {.token = token};
        assert_ok(run_counted(e, &r, true, 1000, NULL));
        assert_int_equal(count_now(e), i);
    }
    for (size_t i = 0; i < 3; i++) assert_true(fault_fired(e, i) > 100);
    sheaf_engine_close(e);
}

static void test_run__passes_other_failures_up(void **state)
{
    (void)state;
    static const enum fault_call calls[] = {FAULT_BEGIN, FAULT_GET, FAULT_PUT, FAULT_COMMIT};
    sheaf_engine *e = open_with(NULL, 0);
    for (size_t i = 0; i < 4; i++) {
        set_rules(e, &(struct fault_rule){calls[i], FAULT_FAIL, .rc = SHEAF_FENCED, .nth = 1}, 1);
        struct request r = {.token = "t"};
        assert_rc(run_counted(e, &r, true, 0, NULL), SHEAF_FENCED);
        assert_int_equal(r.runs, calls[i] != FAULT_BEGIN);
    }
    set_rules(e, NULL, 0);
    struct request r = {.token = "t", .answer = SHEAF_CONDITIONAL_CHECK_FAILED};
    assert_rc(run_counted(e, &r, true, 0, NULL), SHEAF_CONDITIONAL_CHECK_FAILED);
    assert_int_equal(r.runs, 1);
    assert_int_equal(count_now(e), 0);
    sheaf_engine_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fault__without_rules_every_call_passes_and_is_counted),
        cmocka_unit_test(test_fault__fails_each_call_exactly_when_told),
        cmocka_unit_test(test_fault__a_failed_commit_has_committed_nothing),
        cmocka_unit_test(test_fault__unknown_kept_has_committed),
        cmocka_unit_test(test_fault__unknown_kept_does_not_hide_a_real_conflict),
        cmocka_unit_test(test_fault__delays_each_call_on_the_clock),
        cmocka_unit_test(test_fault__crashes_at_each_call),
        cmocka_unit_test(test_fault__any_matches_all_calls_in_turn),
        cmocka_unit_test(test_fault__rules_count_apart_from_each_other),
        cmocka_unit_test(test_fault__one_in_n_repeats_with_its_seed),
        cmocka_unit_test(test_fault__refuses_rules_that_could_never_fire),
        cmocka_unit_test(test_fault__every_failed_allocation_is_answered),
        cmocka_unit_test(test_fault__counts_exactly_with_many_threads),
        cmocka_unit_test(test_run__replays_forced_conflicts),
        cmocka_unit_test(test_run__gives_up_after_max_attempts),
        cmocka_unit_test(test_run__settles_a_lost_unknown_outcome_by_running_again),
        cmocka_unit_test(test_run__settles_a_kept_unknown_outcome_by_its_token),
        cmocka_unit_test(test_run__returns_an_unknown_outcome_without_a_token),
        cmocka_unit_test(test_run__takes_effect_exactly_once_in_a_storm),
        cmocka_unit_test(test_run__passes_other_failures_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
