/* core/roster.h: at most 256 partition keys with a weight each, shared by all threads.
 *
 * Layer rule: internal to core.
 *
 * A key has one set of eight seats, chosen by its hash. Finding a key and adding to its weight take
 * no lock: the digests of a set lie side by side. Changing who sits in a seat takes `lock`. A
 * thread that found a seat just before it changes hands adds to the wrong key once: these are
 * figures to look at, not balances.
 */
#ifndef CORE_ROSTER_H
#define CORE_ROSTER_H

#include "base/limits.h"
#include "core/rows.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROSTER_SETS = 32, ROSTER_WAYS = 8, ROSTER_SEATS = ROSTER_SETS * ROSTER_WAYS };
enum { ROSTER_NEAR = 48 }; /* bytes of a key that need no memory of their own */
enum { ROSTER_KEY_MAX = 4 * (LIMIT_PARTITION_KEY_BYTES + 16) };

/* Who sits in a seat; under `lock`. */
struct roster_key {
    sheaf_place place;
    uint32_t n, far_cap;
    uint8_t *far; /* NULL until a key is longer than `near` */
    uint8_t near[ROSTER_NEAR];
};
struct roster {
    _Atomic uint64_t digests[ROSTER_SETS][ROSTER_WAYS]; /* 0: free */
    _Atomic uint64_t weights[ROSTER_SETS][ROSTER_WAYS];
    _Atomic uint64_t misses[ROSTER_SETS];
    pthread_mutex_t lock;
    struct roster_key keys[ROSTER_SEATS];
};

/* The storage is zeroed already. */
void roster_init(struct roster *r);
void roster_deinit(struct roster *r);
/* The seat of a key; false when it has none. */
bool roster_find(const struct roster *r, const sheaf_place *place, uint32_t *seat_out);
/* A free seat that the key could take, else the lightest. */
uint32_t roster_weakest(const struct roster *r, const sheaf_place *place);
/* A number that is another with each miss of the key's set; repeatable. */
uint64_t roster_roll(struct roster *r, const sheaf_place *place);

static inline _Atomic uint64_t *roster_weight(struct roster *r, uint32_t seat)
{
    return &r->weights[seat / ROSTER_WAYS][seat % ROSTER_WAYS];
}
bool roster_is_free(const struct roster *r, uint32_t seat);

/* ---- with `lock` held ---- */

/* Gives the seat to a key; the weight stays what it was. false when memory is out: nothing has
 * changed. */
bool roster_take(struct roster *r, uint32_t seat, const sheaf_place *place, span key);
void roster_leave(struct roster *r, uint32_t seat);
static inline span roster_key(const struct roster *r, uint32_t seat)
{
    const struct roster_key *k = &r->keys[seat];
    return SPAN(k->n > ROSTER_NEAR ? k->far : k->near, k->n);
}

/* ---- keys as bytes: each attribute's length, two bytes, and its encoded value ---- */

/* 0 when an attribute is missing or there is no room. */
size_t roster_put_key(uint8_t *to, size_t cap, uint32_t n, const val attributes[]);
/* How many attributes were taken apart, at most 4; views into `key`. */
uint32_t roster_take_key(span key, val attributes_out[4]);

#endif
