/* engine/fault/schedule.h: when which rule fires. Knows calls by their kind, not what they do.
 *
 * Layer rule: base and fault.h only. */
#ifndef ENGINE_FAULT_SCHEDULE_H
#define ENGINE_FAULT_SCHEDULE_H

#include "base/rng.h"
#include "engine/fault/fault.h"

#include <pthread.h>

enum { FAULT_MAX_RULES = 64, FAULT_CALLS = FAULT_VERIFY + 1 };

struct fault_slot {
    struct fault_rule rule;
    struct rng
        rng; /* of its own: whether a rule fires depends on the seed and its own count only */
    uint64_t seen, fired;
};

/* Caller's storage. Thread-safe after init. */
struct fault_schedule {
    pthread_mutex_t lock; /* everything below */
    struct fault_slot slots[FAULT_MAX_RULES];
    size_t n_slots;
    uint64_t calls[FAULT_CALLS]; /* [FAULT_ANY] counts all */
    struct clock_source *clock;
    void (*crash)(void *ctx);
    void *crash_ctx;
};

/* What to do with one call. FAULT_DELAY: nothing more (delays and crashes are over by then). */
struct fault_verdict {
    enum fault_action action;
    sheaf_rc rc;
};

SHEAF_NODISCARD sheaf_rc fault_schedule_init(struct fault_schedule *s,
                                             const struct fault_options *options, sheaf_error *err);
void fault_schedule_deinit(struct fault_schedule *s);
/* On failure the old schedule stays. */
SHEAF_NODISCARD sheaf_rc fault_schedule_set(struct fault_schedule *s,
                                            const struct fault_options *options, sheaf_error *err);
/* Counts the call, sleeps or crashes when that is due, and says what else is. The first rule that
 * decides the outcome wins; the later ones still count. */
struct fault_verdict fault_schedule_judge(struct fault_schedule *s, enum fault_call call);
uint64_t fault_schedule_fired(struct fault_schedule *s, size_t rule);
uint64_t fault_schedule_calls(struct fault_schedule *s, enum fault_call call);

#endif
