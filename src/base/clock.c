/* Turns the system's clocks, or a number, into the clock seam. */
#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

static int64_t system_now_us(struct clock_source *self)
{
    (void)self;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static uint64_t system_mono_ns(struct clock_source *self)
{
    (void)self;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void system_sleep_ns(struct clock_source *self, uint64_t ns)
{
    (void)self;
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    while (nanosleep(&t, &t) != 0) {} /* a signal came: sleep the rest */
}

struct clock_source *clock_system(void)
{
    static struct clock_source system = {system_now_us, system_mono_ns, system_sleep_ns};
    return &system;
}

int64_t clock_coarse_us(struct clock_source *c)
{
    if (c != clock_system()) return c->now_us(c);
    struct timespec t;
    clock_gettime(CLOCK_REALTIME_COARSE, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t manual_now_us(struct clock_source *self)
{
    return ((struct clock_manual *)self)->us;
}

static uint64_t manual_mono_ns(struct clock_source *self)
{
    return (uint64_t)((struct clock_manual *)self)->us * 1000u;
}

static void manual_sleep_ns(struct clock_source *self, uint64_t ns)
{
    struct clock_manual *c = (struct clock_manual *)self;
    c->slept_ns += ns;
    c->us += (int64_t)(ns / 1000u);
}

void clock_manual_init(struct clock_manual *c, int64_t us)
{
    c->base = (struct clock_source){manual_now_us, manual_mono_ns, manual_sleep_ns};
    c->us = us;
    c->slept_ns = 0;
}

void clock_manual_advance(struct clock_manual *c, int64_t us) { c->us += us; }
