/* Turns writes into a sorted array. Before editing: it must stay too simple to be wrong; it shares
 * no code with any engine. */
#include "contract/oracle.h"

#include "base/rng.h"

#include <stdlib.h>

struct oracle_key oracle_key_make(unsigned place, span s)
{
    struct oracle_key k = {.place = (uint8_t)place, .n = (uint8_t)s.n};
    if (s.n > ORACLE_MAX_S) abort();
    if (s.n) memcpy(k.s, s.p, s.n);
    return k;
}

int oracle_key_cmp(const struct oracle_key *a, const struct oracle_key *b)
{
    if (a->place != b->place) return a->place < b->place ? -1 : 1;
    size_t n = a->n < b->n ? a->n : b->n;
    for (size_t i = 0; i < n; i++)
        if (a->s[i] != b->s[i]) return a->s[i] < b->s[i] ? -1 : 1;
    return (a->n > b->n) - (a->n < b->n);
}

span oracle_bytes(const struct oracle_value *v, uint8_t *buf)
{
    if (v->n <= ORACLE_INLINE) return SPAN(v->b, v->n);
    uint64_t seed;
    struct rng r;
    memcpy(&seed, v->b, 8);
    rng_init(&r, seed);
    for (size_t i = 0; i < v->n; i += 8) {
        uint64_t x = rng_u64(&r);
        memcpy(buf + i, &x, v->n - i < 8 ? v->n - i : 8);
    }
    return SPAN(buf, v->n);
}

size_t oracle_find(const struct oracle *o, const struct oracle_key *k)
{
    size_t lo = 0, hi = o->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (oracle_key_cmp(&o->entry[mid].key, k) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct oracle_entry *oracle_get(const struct oracle *o, const struct oracle_key *k)
{
    size_t at = oracle_find(o, k);
    return at < o->n && oracle_key_cmp(&o->entry[at].key, k) == 0 ? &o->entry[at] : NULL;
}

void oracle_put(struct oracle *o, const struct oracle_key *k, const struct oracle_value *v)
{
    size_t at = oracle_find(o, k);
    if (at == o->n || oracle_key_cmp(&o->entry[at].key, k) != 0) {
        if (o->n == o->cap) {
            o->cap = o->cap ? 2 * o->cap : 256;
            o->entry = realloc(o->entry, o->cap * sizeof o->entry[0]);
        }
        memmove(&o->entry[at + 1], &o->entry[at], (o->n - at) * sizeof o->entry[0]);
        o->n++;
    }
    o->entry[at] = (struct oracle_entry){*k, *v};
}

bool oracle_del(struct oracle *o, const struct oracle_key *k)
{
    size_t at = oracle_find(o, k);
    if (at == o->n || oracle_key_cmp(&o->entry[at].key, k) != 0) return false;
    oracle_del_span(o, at, at + 1);
    return true;
}

void oracle_span(const struct oracle *o, unsigned place, span lo, span hi, size_t *from, size_t *to)
{
    struct oracle_key a = oracle_key_make(place, lo);
    struct oracle_key b = hi.p ? oracle_key_make(place, hi) : oracle_key_make(place + 1, SPAN_NONE);
    *from = oracle_find(o, &a);
    *to = oracle_find(o, &b);
    if (*to < *from) *to = *from;
}

void oracle_del_span(struct oracle *o, size_t from, size_t to)
{
    if (from == to) return;
    memmove(&o->entry[from], &o->entry[to], (o->n - to) * sizeof o->entry[0]);
    o->n -= to - from;
}

void oracle_add(struct oracle *o, const struct oracle_key *k, size_t n, const int64_t *deltas)
{
    const struct oracle_entry *e = oracle_get(o, k);
    struct oracle_value v = {.n = (uint16_t)(8 * n)};
    if (e) v = e->value;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = 0;
        for (size_t b = 0; b < 8; b++) x |= (uint64_t)v.b[8 * i + b] << (8 * b);
        x += (uint64_t)deltas[i];
        for (size_t b = 0; b < 8; b++) v.b[8 * i + b] = (uint8_t)(x >> (8 * b));
    }
    oracle_put(o, k, &v);
}

void oracle_copy(struct oracle *to, const struct oracle *from)
{
    if (to->cap < from->n) {
        to->cap = from->n;
        to->entry = realloc(to->entry, to->cap * sizeof to->entry[0]);
    }
    if (from->n) memcpy(to->entry, from->entry, from->n * sizeof from->entry[0]);
    to->n = from->n;
}

void oracle_free(struct oracle *o)
{
    free(o->entry);
    *o = (struct oracle){0};
}
