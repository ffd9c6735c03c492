/* value/build.h: building encoded values and items, in any order, in one pass.
 *
 * Layer rule: value includes base only. */
#ifndef VALUE_BUILD_H
#define VALUE_BUILD_H

#include "base/limits.h"
#include "value/val.h"

/* One entry of a container that is still open: where it starts, and its name or set member. */
struct vb_entry {
    uint32_t at, n;
    uint32_t field_at, field_n;
};
struct vb_level {
    uint32_t at;    /* of the container's tag */
    uint32_t first; /* its first entry in the stack */
    enum val_type type;
    bool has_name;
};

/* Caller's storage; everything else lives in the context's arena. The first error sticks: later
 * calls do nothing and vb_finish reports it, so that building needs no checks line by line.
 *
 * A value is written by one of vb_s … vb_raw, or by a container between a begin and vb_end; inside
 * a map each value is preceded by vb_name. Names and set members may come in any order; a duplicate
 * is an error. */
struct vb {
    struct ctx *ctx;
    struct buf out, scratch;
    struct vb_entry *entries; /* of all open containers, a stack */
    uint32_t n_entries, cap_entries;
    uint32_t depth, deepest; /* open containers now, and around the deepest value */
    uint64_t size;           /* AWS's, of all values so far */
    sheaf_rc rc;
    struct vb_level levels[LIMIT_NESTING + 1];
};

/* `max_bytes` is the ceiling of the encoding. */
void vb_init(struct vb *b, struct ctx *ctx, size_t max_bytes);
/* Forgets what was built but keeps the memory (which must still live: same arena, not reset). The
 * bytes of an earlier vb_finish are overwritten. */
void vb_clear(struct vb *b);

void vb_name(struct vb *b, span name);
void vb_s(struct vb *b, span text); /* UTF-8 is checked */
/* The same for text that is known to be UTF-8. */
void vb_name_utf8(struct vb *b, span name);
void vb_s_utf8(struct vb *b, span text);
void vb_n(struct vb *b, const struct num *n);
void vb_n_text(struct vb *b, span digits); /* parsed; AWS's messages */
void vb_n_encoded(struct vb *b, span enc); /* must have passed num_check */
void vb_b(struct vb *b, span bytes);
void vb_bool(struct vb *b, bool v);
void vb_null(struct vb *b);
void vb_map_begin(struct vb *b);
void vb_list_begin(struct vb *b);
/* VAL_SS, VAL_NS or VAL_BS; members by vb_s, vb_n…, vb_b. An empty set and a duplicate are errors
 * with AWS's messages. */
void vb_set_begin(struct vb *b, enum val_type set);
void vb_end(struct vb *b);
/* A copy of a value that is encoded already. */
void vb_raw(struct vb *b, val v);
/* Makes the builder fail with rc, whose message is in the context already. */
void vb_fail(struct vb *b, sheaf_rc rc);

/* The one value built, in the arena. */
SHEAF_NODISCARD sheaf_rc vb_finish(struct vb *b, val *out);
/* The one map built, as an item with its header. Does not judge the 409,600 bytes: callers have
 * different messages for that. */
SHEAF_NODISCARD sheaf_rc vb_finish_item(struct vb *b, span *item_out);

#endif
