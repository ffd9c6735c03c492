/* base/arena.h: memory with one lifetime. Nothing in an arena is freed singly. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/span.h"

struct arena_block;

/* Caller's storage. One thread at a time. */
struct arena {
    struct arena_block *head; /* newest first */
    uint8_t *at, *end;        /* room left in the newest block */
    size_t used, ceiling;     /* bytes asked of the heap, and how many may be */
    uint8_t *room;            /* storage of the caller's that is used first; NULL: none */
    size_t room_n;
    bool is_over; /* the ceiling has refused something since the last init, deinit or reset */
};

/* `ceiling` bounds all bytes taken from the heap: an arena is born with its limit. Takes no memory
 * yet. */
void arena_init(struct arena *a, size_t ceiling);
/* The same with n bytes of the caller's to begin with, aligned to 16, which outlive the arena: a
 * small request then takes nothing from the heap. */
void arena_init_in(struct arena *a, void *room, size_t n, size_t ceiling);
/* Gives everything back. The arena may be used again. */
void arena_deinit(struct arena *a);
/* Forgets everything but keeps the newest block, for the next request. */
void arena_reset(struct arena *a);

/* A moment of an arena, and back to it: what was allocated since is given back, what was there
 * before stays. For work that may be repeated: each attempt begins at the same mark. The arena may
 * not have been reset since. */
struct arena_mark {
    struct arena_block *head;
    uint8_t *at;
};
static inline struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->head, a->at};
}
void arena_rewind(struct arena *a, struct arena_mark mark);

/* Aligned to 16; NULL when memory is out or the ceiling would be passed. Not zeroed. */
void *arena_alloc(struct arena *a, size_t n) __attribute__((warn_unused_result));
void *arena_zalloc(struct arena *a, size_t n) __attribute__((warn_unused_result));
/* Unaligned bytes, for text and encodings. */
uint8_t *arena_bytes(struct arena *a, size_t n) __attribute__((warn_unused_result));
/* A copy with the arena's lifetime; p == NULL when out of memory. */
span arena_dup(struct arena *a, span s) __attribute__((warn_unused_result));

#define ARENA_NEW(a, T) ((T *)arena_zalloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_zalloc_array((a), (n), sizeof(T)))
/* NULL on overflow of n * size too. */
void *arena_zalloc_array(struct arena *a, size_t n, size_t size)
    __attribute__((warn_unused_result));

#endif
