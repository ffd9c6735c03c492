/* Turns appends into one contiguous byte string. Know before editing: growing doubles, never past
 * max, and a failure is sticky. */
#include "base/buf.h"

#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

void buf_init(struct buf *b, struct arena *arena, size_t max)
{
    *b = (struct buf){.arena = arena, .max = max};
}

void buf_deinit(struct buf *b)
{
    if (!b->arena) mem_free(b->p);
    buf_init(b, b->arena, b->max);
}

static uint8_t *move(struct buf *b, size_t cap)
{
    if (!b->arena) return mem_realloc(b->p, cap);
    uint8_t *p = arena_bytes(b->arena, cap);
    if (p && b->n) memcpy(p, b->p, b->n);
    return p;
}

uint8_t *buf_room_slow_(struct buf *b, size_t n)
{
    assert(b->n <= b->cap && b->cap <= b->max);
    if (b->failed || n > b->max - b->n) {
        b->failed = true;
        return NULL;
    }
    if (b->cap - b->n < n || !b->p) {
        size_t cap = b->cap < 64 ? 64 : b->cap * 2;
        if (cap < b->n + n) cap = b->n + n;
        if (cap > b->max) cap = b->max;
        uint8_t *p = move(b, cap);
        if (!p) {
            b->failed = true;
            return NULL;
        }
        b->p = p;
        b->cap = cap;
    }
    return b->p + b->n;
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    va_list again;
    va_copy(again, ap);
    int need = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    uint8_t *to = need < 0 ? NULL : buf_room(b, (size_t)need + 1); /* vsnprintf writes a NUL */
    if (to) {
        vsnprintf((char *)to, (size_t)need + 1, format, again);
        b->n += (size_t)need;
    } else {
        b->failed = true;
    }
    va_end(again);
}
