/* Turns reads and writes of partition keys into rates of the last minute.
 *
 * Know before editing: every request comes by here, so the usual way (the key has a seat) is a look
 * at one cache line and two relaxed additions. A key without a seat is admitted with probability w
 * / (m + w) against the weakest of its set, of weight m: with uniform traffic ever fewer calls pay
 * for moving in, and a hot key is in after a few. When another thread is moving a key in, this one
 * does not wait: it leaves its observation out. */
#include "core/gauges.h"

#include <assert.h>

void heat_init(struct heat *h, int64_t now_us)
{
    roster_init(&h->roster);
    h->since_us = now_us;
    atomic_init(&h->slot, now_us / HEAT_SLOT_US);
}

static uint64_t weight_of(int kind, uint64_t half_units)
{
    return kind == HEAT_WRITE ? 3 * half_units : half_units;
}

static uint64_t weigh(const struct heat_counts *c)
{
    uint64_t w = 0;
    for (int slot = 0; slot < HEAT_SLOTS; slot++)
        for (int kind = 0; kind < 2; kind++)
            w += weight_of(kind, atomic_load_explicit(&c->n[slot][kind], memory_order_relaxed));
    return w;
}

static void clear_slot(struct heat_counts *c, int slot)
{
    for (int kind = 0; kind < 2; kind++)
        atomic_store_explicit(&c->n[slot][kind], 0, memory_order_relaxed);
}

static int slot_index(int64_t slot)
{
    return (int)(((slot % HEAT_SLOTS) + HEAT_SLOTS) % HEAT_SLOTS);
}

/* Empties the slots that the clock has entered since. A clock that went back by more than the window
 * empties all. */
static void advance(struct heat *h, int64_t to)
{
    int64_t from = atomic_load_explicit(&h->slot, memory_order_relaxed);
    int64_t steps = to - from;
    if (steps < 0 || steps > HEAT_SLOTS) steps = HEAT_SLOTS;
    for (uint32_t seat = 0; seat < ROSTER_SEATS; seat++) {
        if (roster_is_free(&h->roster, seat)) continue;
        for (int64_t i = 0; i < steps; i++) clear_slot(&h->counts[seat], slot_index(to - i));
        atomic_store_explicit(roster_weight(&h->roster, seat), weigh(&h->counts[seat]),
                              memory_order_relaxed);
    }
    atomic_store_explicit(&h->slot, to, memory_order_relaxed);
}

void heat_turn(struct heat *h, int64_t now_us)
{
    int64_t to = now_us / HEAT_SLOT_US;
    int64_t from = atomic_load_explicit(&h->slot, memory_order_relaxed);
    /* Behind by less than the window is who looked at the clock and then had to wait, or at the
     * coarse one: no reason to forget what others noted meanwhile. */
    if (to <= from && from - to < HEAT_SLOTS) return;
    if (pthread_mutex_trylock(&h->roster.lock) != 0) return;
    if (atomic_load_explicit(&h->slot, memory_order_relaxed) != to) advance(h, to);
    pthread_mutex_unlock(&h->roster.lock);
}

static void add(struct heat *h, uint32_t seat, int kind, uint32_t half_units)
{
    int slot = slot_index(atomic_load_explicit(&h->slot, memory_order_relaxed));
    atomic_fetch_add_explicit(&h->counts[seat].n[slot][kind], half_units, memory_order_relaxed);
    atomic_fetch_add_explicit(roster_weight(&h->roster, seat), weight_of(kind, half_units),
                              memory_order_relaxed);
}

/* The newcomer is credited with the weight it displaces, in its own kind. */
static void move_in(struct heat *h, uint32_t seat, const sheaf_place *place, span key, int kind,
                    uint32_t half_units)
{
    uint64_t m = atomic_load_explicit(roster_weight(&h->roster, seat), memory_order_relaxed);
    if (!roster_take(&h->roster, seat, place, key)) return;
    for (int slot = 0; slot < HEAT_SLOTS; slot++) clear_slot(&h->counts[seat], slot);
    atomic_store_explicit(roster_weight(&h->roster, seat), 0, memory_order_relaxed);
    uint64_t inherited = m / weight_of(kind, 1);
    add(h, seat, kind, half_units + (uint32_t)(inherited < UINT32_MAX / 2 ? inherited : 0));
}

/* Whether a key without a seat may have the weakest of its set. */
static bool may_move_in(struct heat *h, const sheaf_place *place, uint32_t seat, uint64_t weight)
{
    if (roster_is_free(&h->roster, seat)) return true;
    uint64_t m = atomic_load_explicit(roster_weight(&h->roster, seat), memory_order_relaxed);
    return m == 0 || roster_roll(&h->roster, place) % (m + weight) < weight;
}

static void admit(struct heat *h, const sheaf_place *place, const struct heat_units *used,
                  uint32_t half_units)
{
    uint8_t bytes[ROSTER_KEY_MAX];
    int kind = used->kind;
    uint32_t seat = roster_weakest(&h->roster, place), mine;
    uint64_t weight = weight_of(kind, half_units);
    if (!may_move_in(h, place, seat, weight)) return;
    size_t n = roster_put_key(bytes, sizeof bytes, used->n, used->partition);
    if (n == 0 || pthread_mutex_trylock(&h->roster.lock) != 0) return;
    if (roster_find(&h->roster, place, &mine)) /* another thread was quicker */
        add(h, mine, kind, half_units);
    else if (seat == roster_weakest(&h->roster, place)) /* nobody heavier sits there meanwhile */
        move_in(h, seat, place, SPAN(bytes, n), kind, half_units);
    pthread_mutex_unlock(&h->roster.lock);
}

void heat_note(struct heat *h, const sheaf_place *place, const struct heat_units *used,
               int64_t now_us)
{
    assert(used->kind == HEAT_READ || used->kind == HEAT_WRITE);
    assert(used->units >= 0 && used->units < 1e9);
    uint32_t half_units = (uint32_t)(used->units * 2 + 0.5), seat;
    if (half_units == 0) return;
    heat_turn(h, now_us);
    if (roster_find(&h->roster, place, &seat))
        add(h, seat, used->kind, half_units);
    else
        admit(h, place, used, half_units);
}

/* How much time the counts cover: the window, or less when it has not been open that long. */
static double covered_s(const struct heat *h, int64_t now_us)
{
    int64_t window = (HEAT_SLOTS - 1) * HEAT_SLOT_US + now_us % HEAT_SLOT_US;
    int64_t open = now_us - h->since_us;
    int64_t covered = open >= 0 && open < window ? open : window;
    return covered > 1000000 ? (double)covered / 1e6 : 1.0;
}

void heat_rates(const struct heat *h, uint32_t seat, int64_t now_us, double rates_out[2])
{
    for (int kind = 0; kind < 2; kind++) {
        uint64_t half_units = 0;
        for (int slot = 0; slot < HEAT_SLOTS; slot++)
            half_units +=
                atomic_load_explicit(&h->counts[seat].n[slot][kind], memory_order_relaxed);
        rates_out[kind] = (double)half_units / 2 / covered_s(h, now_us);
    }
}
