/* server/metrics.h: figures of the server as Prometheus reads them.
 *
 * Each loop counts into memory of its own with plain stores; whoever reads sums up. Nothing on a
 * request's path takes a lock or shares a cache line with another loop. */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdatomic.h>

/* Upper bounds of the histogram's buckets in microseconds; behind them +Inf. */
/* clang-format off */
#define METRICS_BOUNDS_US(X) \
    X(50) X(100) X(250) X(500) X(1000) X(2500) X(5000) X(10000) X(25000) X(50000) X(100000) \
    X(250000) X(500000) X(1000000) X(2500000) X(5000000)
/* clang-format on */
#define METRICS_ONE_(us) +1
enum { METRICS_BUCKETS = (METRICS_BOUNDS_US(METRICS_ONE_)) + 1 };

enum { METRICS_OPERATIONS_MAX = 80 }; /* the last one counts what is no operation */

typedef atomic_uint_least64_t metric;

struct metrics_operation {
    metric requests;
    metric bytes_in, bytes_out;
    metric errors[SHEAF_RC_COUNT_];
    metric buckets[METRICS_BUCKETS];
    metric total_ns;
};
/* Written by one thread, read by any. Zeroed storage is an empty one. */
struct metrics {
    struct metrics_operation operations[METRICS_OPERATIONS_MAX];
    metric parked_now; /* answers that wait for durability */
    metric unauthenticated;
};

/* One answered request. operation: op_number, or METRICS_OPERATIONS_MAX - 1. */
struct metrics_sample {
    uint32_t operation;
    sheaf_rc rc;
    uint64_t ns, bytes_in, bytes_out;
};
void metrics_count(struct metrics *m, const struct metrics_sample *s);

static inline void metric_add(metric *m, uint64_t n)
{
    uint64_t now = atomic_load_explicit(m, memory_order_relaxed);
    atomic_store_explicit(m, now + n, memory_order_relaxed);
}
static inline void metric_set(metric *m, uint64_t n)
{
    atomic_store_explicit(m, n, memory_order_relaxed);
}
static inline uint64_t metric_get(const metric *m)
{
    return atomic_load_explicit(m, memory_order_relaxed);
}

/* The sum of all loops' figures as text: requests, errors, bytes and latency by operation. `name`
 * gives an operation's name, NULL when there is none with that number. Operations nobody called are
 * left out. */
void metrics_format(struct buf *to, const struct metrics *const all[], uint32_t n,
                    const char *(*name)(uint32_t operation));
/* "# HELP" and "# TYPE" of one family. */
void metrics_family(struct buf *to, const char *family, const char *type, const char *help);
/* A family with one value. */
void metrics_one(struct buf *to, const char *family, const char *type, const char *help,
                 uint64_t value);
/* A label's value: backslash, quote and line feed escaped. */
void metrics_label(struct buf *to, span value);

#endif
