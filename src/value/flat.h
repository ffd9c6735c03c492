/* value/flat.h: items that are nothing but a few scalars, encoded in one go.
 *
 * Layer rule: value includes base only.
 *
 * Keys are such items, and so are most rows. The builder of build.h takes values one by one, in any
 * depth, and explains what is wrong with them; that costs several times as much as the bytes. */
#ifndef VALUE_FLAT_H
#define VALUE_FLAT_H

#include "value/val.h"

enum { FLAT_MAX = 16 };

struct flat_attr {
    span name;
    enum val_type type; /* VAL_S, VAL_N or VAL_B */
    span bytes;         /* of VAL_N: its encoding, which passes num_check */
};

/* The very bytes that build.h makes of the same attributes, in the arena; n is 1 … FLAT_MAX.
 * False, and nothing is said, for whatever it does not take: empty or equal names, text that is not
 * UTF-8, more than 64 KB in all, memory that is out. The builder takes it, or says what is wrong. */
bool flat_encode(struct arena *arena, const struct flat_attr *attrs, uint32_t n, span *item_out);

#endif
