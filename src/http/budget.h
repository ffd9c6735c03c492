/* http/budget.h: the memory that all requests of a server share. Thread-safe. */
#ifndef HTTP_BUDGET_H
#define HTTP_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct budget {
    uint64_t max;
    _Atomic uint64_t used, peak;
    _Atomic uint32_t n_waiting; /* connections that found no room */
};

void budget_init(struct budget *b, uint64_t max);
/* False, and nothing taken, when it would pass the budget. */
bool budget_try(struct budget *b, uint64_t n);
/* Taken whatever the budget says, for what is there already: it keeps others out until given
 * back. */
void budget_force(struct budget *b, uint64_t n);
/* True when someone is waiting for room: wake them. */
bool budget_release(struct budget *b, uint64_t n);

#endif
