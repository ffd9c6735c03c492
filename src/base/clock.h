/* base/clock.h: the only place that reads the clock or sleeps. Tests inject their own. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Every function takes self. Thread-safe. A clock outlives what uses it. */
struct clock_source {
    int64_t (*now_us)(struct clock_source *self);   /* wall clock, microseconds since 1970 */
    uint64_t (*mono_ns)(struct clock_source *self); /* never goes back */
    void (*sleep_ns)(struct clock_source *self, uint64_t ns);
};

struct clock_source *clock_system(void);

/* The wall clock to a few milliseconds, for who looks often; may be that much behind now_us. An
 * injected clock tells its time. */
int64_t clock_coarse_us(struct clock_source *c);

/* A clock that stands still until told otherwise; sleeping moves it on at once. */
struct clock_manual {
    struct clock_source base;
    _Atomic int64_t us;
    _Atomic uint64_t slept_ns;
};
void clock_manual_init(struct clock_manual *c, int64_t us);
void clock_manual_advance(struct clock_manual *c, int64_t us);

static inline int64_t clock_now_us(struct clock_source *c) { return c->now_us(c); }
static inline uint64_t clock_mono_ns(struct clock_source *c) { return c->mono_ns(c); }
static inline void clock_sleep_ns(struct clock_source *c, uint64_t ns) { c->sleep_ns(c, ns); }

#endif
