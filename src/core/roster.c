/* Turns partition keys into seats of a bounded list. Know before editing: digests and weights are
 * read without the lock, so each is one atomic number; everything else of a seat is touched under
 * the lock only. */
#include "core/roster.h"

#include "base/mem.h"

#include <assert.h>

_Static_assert((ROSTER_SETS & (ROSTER_SETS - 1)) == 0, "sets are chosen by bits of the hash");

void roster_init(struct roster *r) { pthread_mutex_init(&r->lock, NULL); }

void roster_deinit(struct roster *r)
{
    for (uint32_t i = 0; i < ROSTER_SEATS; i++) mem_free(r->keys[i].far);
    pthread_mutex_destroy(&r->lock);
}

/* The hash is uniform, so its bytes serve as digest and as set. */
static uint64_t digest_of(const sheaf_place *place)
{
    uint64_t d;
    memcpy(&d, place->b + 8, sizeof d);
    d ^= sheaf_place_space(place);
    return d ? d : 1;
}

static uint32_t set_of(const sheaf_place *place) { return place->b[20] & (ROSTER_SETS - 1); }

bool roster_find(const struct roster *r, const sheaf_place *place, uint32_t *seat_out)
{
    uint32_t set = set_of(place);
    uint64_t digest = digest_of(place);
    for (uint32_t way = 0; way < ROSTER_WAYS; way++)
        if (atomic_load_explicit(&r->digests[set][way], memory_order_relaxed) == digest) {
            *seat_out = set * ROSTER_WAYS + way;
            return true;
        }
    return false;
}

bool roster_is_free(const struct roster *r, uint32_t seat)
{
    assert(seat < ROSTER_SEATS);
    return atomic_load_explicit(&r->digests[seat / ROSTER_WAYS][seat % ROSTER_WAYS],
                                memory_order_relaxed) == 0;
}

uint32_t roster_weakest(const struct roster *r, const sheaf_place *place)
{
    uint32_t set = set_of(place), best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t way = 0; way < ROSTER_WAYS; way++) {
        if (roster_is_free(r, set * ROSTER_WAYS + way)) return set * ROSTER_WAYS + way;
        uint64_t w = atomic_load_explicit(&r->weights[set][way], memory_order_relaxed);
        if (w >= least) continue;
        least = w;
        best = way;
    }
    return set * ROSTER_WAYS + best;
}

uint64_t roster_roll(struct roster *r, const sheaf_place *place)
{
    uint64_t z = atomic_fetch_add_explicit(&r->misses[set_of(place)], 1, memory_order_relaxed);
    z = (z + digest_of(place)) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93u;
    return z ^ (z >> 32);
}

bool roster_take(struct roster *r, uint32_t seat, const sheaf_place *place, span key)
{
    assert(seat < ROSTER_SEATS && seat / ROSTER_WAYS == set_of(place));
    assert(key.n > 0 && key.n <= ROSTER_KEY_MAX);
    struct roster_key *k = &r->keys[seat];
    if (key.n > ROSTER_NEAR && key.n > k->far_cap) {
        uint8_t *more = mem_realloc(k->far, key.n);
        if (!more) return false;
        k->far = more;
        k->far_cap = (uint32_t)key.n;
    }
    memcpy(key.n > ROSTER_NEAR ? k->far : k->near, key.p, key.n);
    k->n = (uint32_t)key.n;
    k->place = *place;
    atomic_store_explicit(&r->digests[seat / ROSTER_WAYS][seat % ROSTER_WAYS], digest_of(place),
                          memory_order_relaxed);
    return true;
}

void roster_leave(struct roster *r, uint32_t seat)
{
    assert(seat < ROSTER_SEATS);
    atomic_store_explicit(&r->digests[seat / ROSTER_WAYS][seat % ROSTER_WAYS], 0,
                          memory_order_relaxed);
    atomic_store_explicit(roster_weight(r, seat), 0, memory_order_relaxed);
    r->keys[seat].n = 0;
}

/* ---- keys as bytes ---- */

size_t roster_put_key(uint8_t *to, size_t cap, uint32_t n, const val attributes[])
{
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        val v = attributes[i];
        if (val_is_absent(v) || v.n > UINT16_MAX || cap - at < (size_t)v.n + 2) return 0;
        to[at] = (uint8_t)v.n;
        to[at + 1] = (uint8_t)(v.n >> 8);
        memcpy(to + at + 2, v.p, v.n);
        at += (size_t)v.n + 2;
    }
    return at;
}

uint32_t roster_take_key(span key, val attributes_out[4])
{
    uint32_t n = 0;
    const uint8_t *p = key.p;
    for (size_t at = 0; at + 2 <= key.n && n < 4; n++) {
        uint32_t length = (uint32_t)p[at] | (uint32_t)p[at + 1] << 8;
        assert(length <= key.n - at - 2);
        attributes_out[n] = (val){p + at + 2, length};
        at += (size_t)length + 2;
    }
    return n;
}
