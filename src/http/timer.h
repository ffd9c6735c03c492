/* http/timer.h: a wheel of deadlines, one per loop. Knows no clock: time is told to it. */
#ifndef HTTP_TIMER_H
#define HTTP_TIMER_H

#include <stdbool.h>
#include <stdint.h>

enum { WHEEL_SLOTS = 1024, WHEEL_TICK_NS = 1 << 26 }; /* 67 ms each: 68 s around */

/* Inside what has a deadline. Zeroed: in no wheel. */
struct wheel_entry {
    struct wheel_entry *next, *prev; /* NULL: not in the wheel */
    uint64_t tick;                   /* when it comes up */
};
struct wheel {
    struct wheel_entry slots[WHEEL_SLOTS]; /* ring heads */
    uint64_t filled[WHEEL_SLOTS / 64];     /* slots that may hold something */
    uint64_t tick;                         /* up to which all entries have come up */
};

void wheel_init(struct wheel *w, uint64_t now_ns);
/* Makes sure that e comes up not before `at_ns` and at most a tick behind it, or earlier when it is
 * there for earlier already: who is early looks at its deadline and arms again. So a deadline that
 * moves away costs nothing. */
void wheel_arm(struct wheel *w, struct wheel_entry *e, uint64_t at_ns);
void wheel_remove(struct wheel *w, struct wheel_entry *e);
/* One entry that has come up by now_ns, taken out; NULL: no more. */
struct wheel_entry *wheel_pop(struct wheel *w, uint64_t now_ns);
/* When to look again: nanoseconds from now_ns, UINT64_MAX when the wheel is empty. */
uint64_t wheel_wait(const struct wheel *w, uint64_t now_ns);

#endif
