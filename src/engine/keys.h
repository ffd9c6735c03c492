/* engine/keys.h: the bytes of keys, stamps, segments and counters that all engines agree on.
 *
 * Layer rule: base and the public engine header only. */
#ifndef ENGINE_KEYS_H
#define ENGINE_KEYS_H

#include "base/err.h"

#include <sheaf/sys/engine.h>

/* Number i of an add's value or of a stored counter: little-endian, wherever it lies. */
int64_t eng_number_get(const void *numbers, size_t i);
void eng_number_set(void *numbers, size_t i, int64_t number);

/* The stamp of an append: | position, 8 bytes big-endian | ordinal, 4 bytes big-endian | */
sheaf_stamp eng_stamp(sheaf_position position, uint32_t ordinal);

/* The whole key of an append: | the log's P | stamp |. */
struct eng_append_key {
    uint8_t b[SHEAF_PLACE_BYTES + SHEAF_STAMP_BYTES];
};
span eng_append_key(struct eng_append_key *room, span log, sheaf_position position,
                    uint32_t ordinal);

/* The smallest P above p, in place. false when p is all ones and has none. */
bool eng_place_next(sheaf_place *p);

/* The places of one segment: [lo, end), without an end when the space is the last there can be.
 * Segment i of n begins at the smallest hash whose first 64 bits h have h * n / 2^64 >= i. */
struct eng_segment {
    sheaf_place lo, end;
    bool has_end;
};
SHEAF_NODISCARD sheaf_rc eng_segment(const struct sheaf_walk *walk, struct eng_segment *out,
                                     sheaf_error *err);

#endif
