/* Turns positions, ordinals and segments into the bytes that keys are made of.
 *
 * Know before editing: stamps and numbers are on disk; segments are not, but a walk that is resumed
 * on another engine, or after an upgrade, must find the same borders. */
#include "engine/keys.h"

#include <assert.h>

int64_t eng_number_get(const void *numbers, size_t i)
{
    const uint8_t *b = (const uint8_t *)numbers + i * 8;
    uint64_t u = 0;
    for (int k = 7; k >= 0; k--) u = u << 8 | b[k];
    int64_t number;
    memcpy(&number, &u, sizeof number);
    return number;
}

void eng_number_set(void *numbers, size_t i, int64_t number)
{
    uint8_t *b = (uint8_t *)numbers + i * 8;
    uint64_t u = (uint64_t)number;
    for (int k = 0; k < 8; k++) b[k] = (uint8_t)(u >> (8 * k));
}

sheaf_stamp eng_stamp(sheaf_position position, uint32_t ordinal)
{
    sheaf_stamp stamp;
    for (int i = 0; i < 8; i++) stamp.b[i] = (uint8_t)(position >> (56 - 8 * i));
    for (int i = 0; i < 4; i++) stamp.b[8 + i] = (uint8_t)(ordinal >> (24 - 8 * i));
    return stamp;
}

span eng_append_key(struct eng_append_key *room, span log, sheaf_position position,
                    uint32_t ordinal)
{
    sheaf_stamp stamp = eng_stamp(position, ordinal);
    assert(log.n == SHEAF_PLACE_BYTES);
    memcpy(room->b, log.p, SHEAF_PLACE_BYTES);
    memcpy(room->b + SHEAF_PLACE_BYTES, stamp.b, SHEAF_STAMP_BYTES);
    return SPAN(room->b, sizeof room->b);
}

bool eng_place_next(sheaf_place *p)
{
    sheaf_place next = *p;
    for (int i = SHEAF_PLACE_BYTES - 1; i >= 0; i--) {
        if (++next.b[i] != 0) {
            *p = next;
            return true;
        }
    }
    return false;
}

static sheaf_place segment_start(uint64_t space, uint32_t i, uint32_t n)
{
    __extension__ typedef unsigned __int128 wide;
    assert(i < n);
    uint64_t high = (uint64_t)((((wide)i << 64) + n - 1) / n);
    uint8_t hash[16] = {0};
    for (int k = 0; k < 8; k++) hash[k] = (uint8_t)(high >> (56 - 8 * k));
    return sheaf_place_make(space, hash);
}

sheaf_rc eng_segment(const struct sheaf_walk *walk, struct eng_segment *out, sheaf_error *err)
{
    uint32_t n = walk->n_segments ? walk->n_segments : 1, i = walk->segment;
    *out = (struct eng_segment){0};
    if (n > SHEAF_SEGMENTS_MAX)
        return err_validation(err, "%u segments are more than %d", (unsigned)n, SHEAF_SEGMENTS_MAX);
    if (i >= n)
        return err_validation(err, "there is no segment %u of %u", (unsigned)i, (unsigned)n);
    bool is_last = i + 1 == n;
    out->lo = segment_start(walk->space, i, n);
    out->has_end = !is_last || walk->space != UINT64_MAX;
    if (!out->has_end) return SHEAF_OK;
    out->end =
        is_last ? segment_start(walk->space + 1, 0, 1) : segment_start(walk->space, i + 1, n);
    assert(memcmp(out->lo.b, out->end.b, SHEAF_PLACE_BYTES) < 0);
    return SHEAF_OK;
}
