/* tests/model/history.h: is there an order of these operations on one register that explains every
 * answer and respects real time?
 *
 * Every value is written once. Times come from one counter: an operation's interval is the time
 * before its call and the time after its return. */
#ifndef MODEL_HISTORY_H
#define MODEL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY_NONE = 0 }; /* the value before the first write */

struct event {
    bool is_write, knows_old; /* knows_old: a write that was told what it replaced */
    uint64_t value;           /* written or read */
    uint64_t old;             /* what a write replaced */
    uint64_t begun, ended;
};

/* NULL, or what is wrong. Sorts the events.
 *
 * history_check_chain: every write was told what it replaced, so the order of the writes is given;
 * it only has to fit the times. history_check_zones: no write was told; by Gibbons and Korach,
 * "Testing shared memories", a history is linearizable when zones of values (from the first end to
 * the last begin of the operations on a value) do not collide. */
const char *history_check_chain(struct event *all, size_t n);
const char *history_check_zones(struct event *all, size_t n);

#endif
