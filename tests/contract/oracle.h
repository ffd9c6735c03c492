/* tests/contract/oracle.h: what an engine should hold, as one plain sorted array. Slow and obvious.
 *
 * Places are small numbers here; the model test maps them to real ones. */
#ifndef TESTS_CONTRACT_ORACLE_H
#define TESTS_CONTRACT_ORACLE_H

#include "base/span.h"

enum { ORACLE_MAX_S = 40, ORACLE_INLINE = 32, ORACLE_MAX_VALUE = 6000 };

struct oracle_key {
    uint8_t place, n;
    uint8_t s[ORACLE_MAX_S];
};
/* At most ORACLE_INLINE bytes, or bytes made from the seed in the first eight. */
struct oracle_value {
    uint16_t n;
    uint8_t b[ORACLE_INLINE];
};
struct oracle_entry {
    struct oracle_key key;
    struct oracle_value value;
};
struct oracle {
    struct oracle_entry *entry;
    size_t n, cap;
};

struct oracle_key oracle_key_make(unsigned place, span s);
static inline span oracle_s(const struct oracle_key *k) { return SPAN(k->s, k->n); }
int oracle_key_cmp(const struct oracle_key *a, const struct oracle_key *b);

/* The bytes, written into buf (ORACLE_MAX_VALUE) when they are made. */
span oracle_bytes(const struct oracle_value *v, uint8_t *buf);

/* The first entry that is not before the key. */
size_t oracle_find(const struct oracle *o, const struct oracle_key *k);
const struct oracle_entry *oracle_get(const struct oracle *o, const struct oracle_key *k);
void oracle_put(struct oracle *o, const struct oracle_key *k, const struct oracle_value *v);
/* Whether it was there. */
bool oracle_del(struct oracle *o, const struct oracle_key *k);
/* Entries of one place in [lo, hi); hi.p == NULL is unbounded. */
void oracle_span(const struct oracle *o, unsigned place, span lo, span hi, size_t *from,
                 size_t *to);
void oracle_del_span(struct oracle *o, size_t from, size_t to);
void oracle_add(struct oracle *o, const struct oracle_key *k, size_t n, const int64_t *deltas);
void oracle_copy(struct oracle *to, const struct oracle *from);
void oracle_free(struct oracle *o);

#endif
