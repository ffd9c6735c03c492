/* base/buf.h: growing bytes, born with a ceiling. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/arena.h"

/* Bytes live in the arena when there is one (growing leaves the old bytes behind in it), else on
 * the heap. A failed append sets `failed` and changes nothing else, so that a row of appends needs
 * one check at the end. */
struct buf {
    uint8_t *p;
    size_t n, cap, max;
    struct arena *arena;
    bool failed;
};

/* `max` is the most bytes it will ever hold. arena may be NULL. Takes no memory yet. */
void buf_init(struct buf *b, struct arena *arena, size_t max);
/* Frees heap bytes; bytes in an arena stay there. */
void buf_deinit(struct buf *b);
static inline void buf_clear(struct buf *b)
{
    b->n = 0;
    b->failed = false;
}
static inline span buf_span(const struct buf *b) { return SPAN(b->p, b->n); }

/* Room for n more bytes at p + n, uncounted; NULL when that fails. */
uint8_t *buf_room_slow_(struct buf *b, size_t n);
static inline uint8_t *buf_room(struct buf *b, size_t n)
{
    if (b->cap - b->n >= n && !b->failed) return b->p + b->n;
    return buf_room_slow_(b, n);
}
static inline void buf_put(struct buf *b, const void *p, size_t n)
{
    if (n == 0) return; /* a buffer without memory has no place to add 0 to */
    uint8_t *to = buf_room(b, n);
    if (!to) return;
    memcpy(to, p, n);
    b->n += n;
}
static inline void buf_put_span(struct buf *b, span s) { buf_put(b, s.p, s.n); }
static inline void buf_put_u8(struct buf *b, uint8_t c)
{
    uint8_t *to = buf_room(b, 1);
    if (!to) return;
    *to = c;
    b->n++;
}
/* Formatted text, without its NUL. For messages and tools, not for hot paths. */
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
