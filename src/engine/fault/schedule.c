/* Turns a list of rules and a stream of calls into verdicts.
 *
 * Every decision is taken under one lock, in the order in which calls arrive; sleeping and crashing
 * happen after the lock is given back. A rule's answer depends on the seed, its place in the list
 * and how many calls it has matched, on nothing else: the same calls meet the same faults. */
#include "engine/fault/schedule.h"

#include "base/clock.h"
#include "base/err.h"

#include <assert.h>
#include <unistd.h>

static void exit_137(void *ctx)
{
    (void)ctx;
    _exit(137);
}

static bool is_commit_action(enum fault_action a)
{
    return a == FAULT_CONFLICT || a == FAULT_UNKNOWN_LOST || a == FAULT_UNKNOWN_KEPT;
}

/* A rule that could never fire is a mistake in a test, and a test that cannot fail. */
static sheaf_rc check_rule(const struct fault_rule *r, sheaf_error *err)
{
    if ((unsigned)r->call >= FAULT_CALLS || (unsigned)r->action > FAULT_CRASH)
        return err_validation(err, "fault rule: no such call or action");
    if (is_commit_action(r->action) && r->call != FAULT_ANY && r->call != FAULT_COMMIT)
        return err_validation(err, "fault rule: conflicts and unknown outcomes are of commits");
    if (!r->nth && !r->every && !r->one_in)
        return err_validation(err, "fault rule: one of nth, every and one_in must be set");
    return SHEAF_OK;
}

static sheaf_rc check_options(const struct fault_options *o, sheaf_error *err)
{
    if (!o) return SHEAF_OK;
    if (o->n_rules > FAULT_MAX_RULES)
        return err_validation(err, "fault: %zu rules, at most %d", o->n_rules, FAULT_MAX_RULES);
    for (size_t i = 0; i < o->n_rules; i++) TRY(check_rule(&o->rules[i], err));
    return SHEAF_OK;
}

static void take_options(struct fault_schedule *s, const struct fault_options *o)
{
    static const struct fault_options none;
    if (!o) o = &none;
    memset(s->calls, 0, sizeof s->calls);
    s->n_slots = o->n_rules;
    for (size_t i = 0; i < o->n_rules; i++) {
        s->slots[i] = (struct fault_slot){.rule = o->rules[i]};
        rng_init(&s->slots[i].rng, o->seed ^ (i + 1) * 0xD1B54A32D192ED03u);
    }
    s->clock = o->clock ? o->clock : clock_system();
    s->crash = o->crash ? o->crash : exit_137;
    s->crash_ctx = o->crash_ctx;
}

sheaf_rc fault_schedule_init(struct fault_schedule *s, const struct fault_options *options,
                             sheaf_error *err)
{
    TRY(check_options(options, err));
    if (pthread_mutex_init(&s->lock, NULL) != 0) return err_nomem(err);
    take_options(s, options);
    return SHEAF_OK;
}

void fault_schedule_deinit(struct fault_schedule *s) { pthread_mutex_destroy(&s->lock); }

sheaf_rc fault_schedule_set(struct fault_schedule *s, const struct fault_options *options,
                            sheaf_error *err)
{
    TRY(check_options(options, err));
    pthread_mutex_lock(&s->lock);
    take_options(s, options);
    pthread_mutex_unlock(&s->lock);
    return SHEAF_OK;
}

static bool is_match(const struct fault_rule *r, enum fault_call call)
{
    if (is_commit_action(r->action)) return call == FAULT_COMMIT;
    return r->call == FAULT_ANY || r->call == call;
}

/* With the lock. Counts, and says whether the rule fires now. */
static bool is_due(struct fault_slot *slot)
{
    const struct fault_rule *r = &slot->rule;
    uint64_t seen = ++slot->seen;
    assert(seen > 0);
    bool due;
    if (r->one_in)
        due = rng_below(&slot->rng, r->one_in) == 0;
    else if (seen <= r->nth)
        due = seen == r->nth;
    else
        due = r->every && (seen - r->nth) % r->every == 0;
    slot->fired += due;
    return due;
}

struct plan {
    struct fault_verdict verdict;
    uint64_t delay_ns;
    bool is_crash, is_decided;
};

static void follow(struct plan *plan, const struct fault_rule *r)
{
    if (r->action == FAULT_DELAY) {
        plan->delay_ns += r->delay_ns;
    } else if (r->action == FAULT_CRASH) {
        plan->is_crash = true;
    } else if (!plan->is_decided) {
        plan->is_decided = true;
        plan->verdict = (struct fault_verdict){r->action, r->rc ? r->rc : SHEAF_IO};
    }
}

struct fault_verdict fault_schedule_judge(struct fault_schedule *s, enum fault_call call)
{
    assert(call > FAULT_ANY && call <= FAULT_VERIFY);
    struct plan plan = {.verdict = {FAULT_DELAY, SHEAF_OK}};
    pthread_mutex_lock(&s->lock);
    assert(s->n_slots <= FAULT_MAX_RULES);
    s->calls[FAULT_ANY]++;
    s->calls[call]++;
    for (size_t i = 0; i < s->n_slots; i++) {
        struct fault_slot *slot = &s->slots[i];
        if (is_match(&slot->rule, call) && is_due(slot)) follow(&plan, &slot->rule);
    }
    struct clock_source *clock = s->clock;
    void (*crash)(void *ctx) = s->crash;
    void *crash_ctx = s->crash_ctx;
    pthread_mutex_unlock(&s->lock);
    if (plan.delay_ns) clock_sleep_ns(clock, plan.delay_ns);
    if (plan.is_crash) crash(crash_ctx);
    return plan.verdict;
}

uint64_t fault_schedule_fired(struct fault_schedule *s, size_t rule)
{
    pthread_mutex_lock(&s->lock);
    uint64_t fired = rule < s->n_slots ? s->slots[rule].fired : 0;
    pthread_mutex_unlock(&s->lock);
    return fired;
}

uint64_t fault_schedule_calls(struct fault_schedule *s, enum fault_call call)
{
    assert((unsigned)call <= FAULT_VERIFY);
    pthread_mutex_lock(&s->lock);
    uint64_t calls = s->calls[call];
    pthread_mutex_unlock(&s->lock);
    return calls;
}
