/* value/build.h: building encoded values and items, in any order, in one pass.
 *
 * Layer rule: value includes base only. */
#ifndef VALUE_BUILD_H
#define VALUE_BUILD_H

#include "value/val.h"

/* Caller's storage; everything else lives in the context's arena. The first error sticks: later
 * calls do nothing and vb_finish reports it, so that building needs no checks line by line.
 *
 * A value is written by one of vb_s … vb_raw, or by a container between a begin and vb_end; inside
 * a map each value is preceded by vb_name. Names and set members may come in any order; a duplicate
 * is an error. */
struct vb_entry;
struct vb_level;
struct vb {
    struct ctx *ctx;
    struct buf out;
    struct vb_entry *entries; /* of all open containers, a stack */
    uint32_t n_entries, cap_entries;
    struct vb_level *levels;
    uint32_t depth, max_depth; /* depth: open containers */
    sheaf_rc rc;
};

/* `max_bytes` is the ceiling of the encoding. Takes no memory yet. */
void vb_init(struct vb *b, struct ctx *ctx, size_t max_bytes);
/* Forgets what was built but keeps the memory (which must still live: same arena, not reset). */
void vb_clear(struct vb *b);

void vb_name(struct vb *b, span name);
void vb_s(struct vb *b, span text); /* UTF-8 is checked */
void vb_n(struct vb *b, const struct num *n);
void vb_n_text(struct vb *b, span digits); /* parsed; AWS's messages */
void vb_n_encoded(struct vb *b, span enc); /* must have passed num_check */
void vb_b(struct vb *b, span bytes);
void vb_bool(struct vb *b, bool v);
void vb_null(struct vb *b);
void vb_map_begin(struct vb *b);
void vb_list_begin(struct vb *b);
/* VAL_SS, VAL_NS or VAL_BS; members by vb_s, vb_n…, vb_b. Errors with AWS's messages: an empty set
 * "An number set  may not be empty" and its relatives, a duplicate "Input collection [a, a]
 * contains duplicates." */
void vb_set_begin(struct vb *b, enum val_type set);
void vb_end(struct vb *b);
/* A copy of a value that is encoded already. */
void vb_raw(struct vb *b, val v);

/* The one value built, in the arena. */
SHEAF_NODISCARD sheaf_rc vb_finish(struct vb *b, val *out);
/* The one map built, as an item with its header. Does not judge the 409,600 bytes: callers have
 * different messages for that. */
SHEAF_NODISCARD sheaf_rc vb_finish_item(struct vb *b, span *item_out);

#endif
