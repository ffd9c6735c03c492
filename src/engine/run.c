/* Turns a body into a committed transaction: replays conflicts, settles unknown outcomes.
 *
 * Know before editing: with a token the effect happens at most once even when a commit whose
 * outcome was unknown lands late. Every attempt guards the token key and a successful one writes
 * it, so of two attempts in flight the later to commit conflicts; and no attempt after an unknown
 * one runs its body before it has seen, in its own transaction, that the token is absent. */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"

#include <assert.h>

enum { ATTEMPTS_DEFAULT = 32, SETTLE_READS = 8 };
#define FIRST_BACKOFF_NS 20000u
#define MAX_BACKOFF_NS 5000000u

struct run {
    sheaf_engine *e;
    const sheaf_engine_key *token;
    const struct sheaf_run_options *options;
    struct rng rng;
    uint64_t backoff_ns;
    bool was_unknown; /* some attempt ended in SHEAF_UNKNOWN_OUTCOME and its token was absent */
    struct sheaf_run_result result;
};

static void run_init(struct run *r, sheaf_engine *e, const struct sheaf_run_options *options)
{
    uint64_t seed = options->seed;
    *r = (struct run){.e = e, .token = options->token, .options = options};
    if (!seed) seed = clock_mono_ns(clock_system()) ^ (uint64_t)(uintptr_t)r;
    rng_init(&r->rng, seed);
    r->backoff_ns = options->first_backoff_ns ? options->first_backoff_ns : FIRST_BACKOFF_NS;
    if (r->backoff_ns > MAX_BACKOFF_NS) r->backoff_ns = MAX_BACKOFF_NS;
}

/* Full jitter: anything from nothing to the current bound, which doubles. */
static void back_off(struct run *r)
{
    assert(r->backoff_ns <= MAX_BACKOFF_NS);
    uint64_t ns = rng_below(&r->rng, r->backoff_ns + 1);
    if (r->options->sleep_ns)
        r->options->sleep_ns(r->options->sleep_ctx, ns);
    else
        clock_sleep_ns(clock_system(), ns);
    r->backoff_ns = r->backoff_ns > MAX_BACKOFF_NS / 2 ? MAX_BACKOFF_NS : r->backoff_ns * 2;
}

/* The token was found: an earlier attempt has committed, at the newest position or before it. */
static sheaf_rc settled(struct run *r)
{
    r->result.position = eng_visible(r->e);
    r->result.stamp = (sheaf_stamp){{0}};
    return SHEAF_OK;
}

/* After an unknown outcome. SHEAF_OK: it was committed. SHEAF_CONFLICT: it was not, go on.
 * SHEAF_UNKNOWN_OUTCOME: there is no token, or it could not be read. */
static sheaf_rc settle(struct run *r, sheaf_error *err)
{
    if (!r->token) return SHEAF_UNKNOWN_OUTCOME;
    for (int i = 0; i < SETTLE_READS; i++) {
        span value;
        void *pin;
        sheaf_rc rc = eng_read(r->e, r->token, &value, &pin, err);
        if (rc == SHEAF_OK) {
            bool is_there = value.p != NULL;
            eng_read_done(r->e, pin);
            if (is_there) return settled(r);
            r->was_unknown = true;
            return SHEAF_CONFLICT;
        }
        if (!sheaf_rc_is_retryable(rc)) break;
        back_off(r);
    }
    return err_set(err, SHEAF_UNKNOWN_OUTCOME,
                   "the outcome of the commit is unknown and its token cannot be read");
}

/* Protects the token in this attempt, and looks whether an earlier one got through after all. */
static sheaf_rc check_token(struct run *r, sheaf_txn *t, bool *is_settled_out, sheaf_error *err)
{
    *is_settled_out = false;
    if (!r->token) return SHEAF_OK;
    if (!r->was_unknown) return eng_guard(t, r->token, err);
    span value;
    TRY(eng_get(t, 1, r->token, &value, err));
    *is_settled_out = value.p != NULL;
    return SHEAF_OK;
}

/* One transaction from begin to end. */
static sheaf_rc attempt(struct run *r, sheaf_body_fn body, void *ctx, sheaf_error *err)
{
    sheaf_txn *t;
    bool is_settled;
    TRY(eng_begin(r->e, SHEAF_TXN_RW, &t, err));
    sheaf_rc rc = check_token(r, t, &is_settled, err);
    if (rc == SHEAF_OK && is_settled) {
        eng_rollback(t);
        return settled(r);
    }
    if (rc == SHEAF_OK) rc = body(ctx, t, err);
    if (rc != SHEAF_OK) {
        eng_rollback(t);
        return rc;
    }
    rc = eng_commit(t, &r->result.position, &r->result.stamp, err);
    return rc == SHEAF_UNKNOWN_OUTCOME ? settle(r, err) : rc;
}

/* An attempt that broke may land after the last look at its token, whatever came of the others. */
static sheaf_rc still_unknown(sheaf_rc last, sheaf_error *err)
{
    assert(last != SHEAF_OK);
    return err_set(err, SHEAF_UNKNOWN_OUTCOME,
                   "the outcome of an earlier attempt is unknown; the last one ended with %s",
                   sheaf_rc_exception(last));
}

sheaf_rc sheaf_engine_run(sheaf_engine *e, sheaf_body_fn body, void *ctx,
                          const struct sheaf_run_options *options,
                          struct sheaf_run_result *result_out, sheaf_error *err)
{
    static const struct sheaf_run_options none;
    struct run r;
    run_init(&r, e, options ? options : &none);
    uint32_t max = r.options->max_attempts ? r.options->max_attempts : ATTEMPTS_DEFAULT;
    sheaf_rc rc;
    for (;;) {
        r.result.attempts++;
        rc = attempt(&r, body, ctx, err);
        if (rc != SHEAF_CONFLICT || r.result.attempts == max) break;
        back_off(&r);
    }
    assert(r.result.attempts >= 1 && r.result.attempts <= max);
    if (rc == SHEAF_OK) err_clear(err); /* of what earlier attempts left there */
    if (rc != SHEAF_OK && r.was_unknown)
        rc = still_unknown(rc, err);
    else if (rc == SHEAF_CONFLICT)
        err_set(err, rc, "the transaction was in conflict with others %u times",
                (unsigned)r.result.attempts);
    if (rc != SHEAF_OK) {
        r.result.position = 0;
        r.result.stamp = (sheaf_stamp){{0}};
    }
    if (result_out) *result_out = r.result;
    return rc;
}
