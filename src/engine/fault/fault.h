/* engine/fault/fault.h: an engine that wraps another and misbehaves on schedule.
 *
 * Layer rule: base and engine.h only: it knows no particular engine. */
#ifndef ENGINE_FAULT_FAULT_H
#define ENGINE_FAULT_FAULT_H

#include "engine/engine.h"

enum fault_call {
    FAULT_ANY,
    FAULT_BEGIN,
    FAULT_GET,
    FAULT_GUARD,
    FAULT_RANGE,
    FAULT_WALK,
    FAULT_NEXT,
    FAULT_PUT,
    FAULT_DEL,
    FAULT_DEL_RANGE,
    FAULT_ADD,
    FAULT_APPEND,
    FAULT_COMMIT,
    FAULT_READ,
    FAULT_SYNC,
    FAULT_ON_DURABLE,
    FAULT_DROP_SPACE,
    FAULT_CHECKPOINT,
    FAULT_VERIFY
};

enum fault_action {
    FAULT_FAIL,         /* answer `rc`, the wrapped engine is not asked */
    FAULT_CONFLICT,     /* commit: roll back, answer SHEAF_CONFLICT */
    FAULT_UNKNOWN_LOST, /* commit: roll back, answer SHEAF_UNKNOWN_OUTCOME */
    FAULT_UNKNOWN_KEPT, /* commit: really commit, answer SHEAF_UNKNOWN_OUTCOME */
    FAULT_DELAY,        /* sleep `delay_ns` on the clock, then go on */
    FAULT_CRASH         /* call `crash` (default: _exit(137)) before the wrapped engine is asked */
};

/* Fires when the n-th matching call is made (1 = the first), then again every `every` matching
 * calls (0: once); or, when one_in is set, at random with probability 1/one_in from the seed. */
struct fault_rule {
    enum fault_call call;
    enum fault_action action;
    sheaf_rc rc; /* of FAULT_FAIL; 0 = SHEAF_IO */
    uint64_t nth, every, one_in;
    uint64_t delay_ns;
};

struct clock_source;
struct fault_options {
    const struct fault_rule *rules; /* copied */
    size_t n_rules;
    uint64_t seed;
    struct clock_source *clock; /* NULL = the system's */
    void (*crash)(void *ctx);
    void *crash_ctx;
};

/* Takes ownership of `inner`: closing the wrapper closes it (on failure it stays the caller's). */
SHEAF_NODISCARD sheaf_rc fault_open(sheaf_engine *inner, const struct fault_options *options,
                                    sheaf_engine **engine_out, sheaf_error *err);
/* Replaces the schedule and starts counting anew. */
SHEAF_NODISCARD sheaf_rc fault_set(sheaf_engine *fault, const struct fault_options *options,
                                   sheaf_error *err);
/* How often a rule has fired, and how many calls of a kind were made since the schedule was set. */
uint64_t fault_fired(sheaf_engine *fault, size_t rule);
uint64_t fault_calls(sheaf_engine *fault, enum fault_call call);

#endif
