/* Turns "may I?" into bytes reserved. Know before editing: who waits counts itself in n_waiting
 * before it tries once more, and who releases looks at n_waiting after releasing, so that no wake-up
 * is lost; both need the sequential order of C11's default. */
#include "http/budget.h"

#include <assert.h>

void budget_init(struct budget *b, uint64_t max)
{
    b->max = max;
    atomic_init(&b->used, 0);
    atomic_init(&b->peak, 0);
    atomic_init(&b->n_waiting, 0);
}

static void note_peak(struct budget *b, uint64_t used)
{
    uint64_t peak = atomic_load_explicit(&b->peak, memory_order_relaxed);
    while (used > peak && !atomic_compare_exchange_weak(&b->peak, &peak, used)) {}
}

bool budget_try(struct budget *b, uint64_t n)
{
    uint64_t used = atomic_load_explicit(&b->used, memory_order_relaxed);
    do {
        if (used >= b->max || n > b->max - used) return false;
    } while (!atomic_compare_exchange_weak(&b->used, &used, used + n));
    note_peak(b, used + n);
    return true;
}

void budget_force(struct budget *b, uint64_t n) { note_peak(b, atomic_fetch_add(&b->used, n) + n); }

bool budget_release(struct budget *b, uint64_t n)
{
    uint64_t before = atomic_fetch_sub(&b->used, n);
    assert(before >= n);
    (void)before;
    return atomic_load(&b->n_waiting) != 0;
}
