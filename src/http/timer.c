/* Turns deadlines into wake-ups.
 *
 * Know before editing: an entry further away than the wheel is round sits in the furthest slot and
 * comes up early; so may any entry whose deadline moved. An entry that comes up is asked for its
 * deadline by its owner; the wheel only promises not to be late by more than a tick. */
#include "http/timer.h"

#include <assert.h>
#include <stddef.h>

void wheel_init(struct wheel *w, uint64_t now_ns)
{
    for (unsigned i = 0; i < WHEEL_SLOTS; i++)
        w->slots[i] = (struct wheel_entry){&w->slots[i], &w->slots[i], 0};
    for (unsigned i = 0; i < WHEEL_SLOTS / 64; i++) w->filled[i] = 0;
    w->tick = now_ns / WHEEL_TICK_NS;
}

void wheel_remove(struct wheel *w, struct wheel_entry *e)
{
    (void)w;
    if (!e->next) return;
    e->next->prev = e->prev;
    e->prev->next = e->next;
    e->next = e->prev = NULL;
}

void wheel_arm(struct wheel *w, struct wheel_entry *e, uint64_t at_ns)
{
    uint64_t tick = at_ns / WHEEL_TICK_NS + 1;
    if (tick <= w->tick) tick = w->tick + 1;
    if (tick > w->tick + WHEEL_SLOTS - 1) tick = w->tick + WHEEL_SLOTS - 1;
    if (e->next) {
        if (e->tick <= tick) return;
        wheel_remove(w, e);
    }
    struct wheel_entry *slot = &w->slots[tick % WHEEL_SLOTS];
    e->tick = tick;
    e->next = slot;
    e->prev = slot->prev;
    slot->prev->next = e;
    slot->prev = e;
    w->filled[tick % WHEEL_SLOTS / 64] |= 1ull << (tick % 64);
}

/* How many ticks behind w->tick the next filled slot is; 0: none. */
static uint64_t next_filled(const struct wheel *w)
{
    for (uint64_t d = 1; d < WHEEL_SLOTS;) {
        uint64_t slot = (w->tick + d) % WHEEL_SLOTS;
        uint64_t word = w->filled[slot / 64] >> (slot % 64);
        if (word) return d + (uint64_t)__builtin_ctzll(word);
        d += 64 - slot % 64;
    }
    return 0;
}

struct wheel_entry *wheel_pop(struct wheel *w, uint64_t now_ns)
{
    uint64_t now = now_ns / WHEEL_TICK_NS;
    while (w->tick < now) {
        uint64_t d = next_filled(w);
        if (d == 0 || w->tick + d > now) {
            w->tick = now;
            break;
        }
        uint64_t slot = (w->tick + d) % WHEEL_SLOTS;
        struct wheel_entry *e = w->slots[slot].next;
        if (e != &w->slots[slot]) {
            assert(e->tick <= now);
            wheel_remove(w, e);
            w->tick += d - 1; /* its owner may arm it again, for later than this */
            return e;
        }
        w->filled[slot / 64] &= ~(1ull << (slot % 64));
        w->tick += d;
    }
    return NULL;
}

uint64_t wheel_wait(const struct wheel *w, uint64_t now_ns)
{
    uint64_t d = next_filled(w);
    if (d == 0) return UINT64_MAX;
    uint64_t at_ns = (w->tick + d) * WHEEL_TICK_NS;
    return at_ns > now_ns ? at_ns - now_ns : 0;
}
