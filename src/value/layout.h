/* value/layout.h: the bytes of val.h taken apart and put together. Only files of value include it.
 *
 * Readers here expect bytes that were checked; check.c reads with its own, careful ones. */
#ifndef VALUE_LAYOUT_H
#define VALUE_LAYOUT_H

#include "base/limits.h"
#include "value/val.h"

#include <assert.h>

enum { BOX_HEADER = 5, WIDTH_SHIFT = 4, TYPE_MASK = 0x0F };

static inline uint32_t load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void store_u32(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(x >> (8 * i));
}

static inline uint32_t load_width(const uint8_t *p, uint32_t width)
{
    if (width == 1) return p[0];
    if (width == 2) return (uint32_t)p[0] | (uint32_t)p[1] << 8;
    return load_u32(p);
}

static inline void store_width(uint8_t *p, uint32_t width, uint32_t x)
{
    for (uint32_t i = 0; i < width; i++) p[i] = (uint8_t)(x >> (8 * i));
}

/* The narrowest offset that holds a heap of n bytes. */
static inline uint32_t width_of(uint32_t n) { return n <= 0xFF ? 1 : n <= 0xFFFF ? 2 : 4; }

/* Takes a varint off *p. */
static inline uint32_t take_varint(const uint8_t **p)
{
    uint32_t x = *(*p)++;
    if (x < 0x80) return x;
    x &= 0x7F;
    for (int shift = 7;; shift += 7) {
        uint32_t c = *(*p)++;
        x |= (c & 0x7F) << shift;
        if (c < 0x80) return x;
    }
}

static inline uint32_t varint_bytes(uint32_t x)
{
    return x < 0x80 ? 1 : x < 0x4000 ? 2 : x < 0x200000 ? 3 : x < 0x10000000 ? 4 : 5;
}

/* Writes a varint at most 5 bytes long; returns its length. */
static inline uint32_t put_varint(uint8_t *p, uint32_t x)
{
    uint32_t n = 0;
    for (; x >= 0x80; x >>= 7) p[n++] = (uint8_t)(x | 0x80);
    p[n++] = (uint8_t)x;
    return n;
}

static inline bool is_box(enum val_type t) { return t >= VAL_M && t <= VAL_BS; }
static inline bool is_set(enum val_type t) { return t >= VAL_SS && t <= VAL_BS; }

/* A container taken apart. */
struct box {
    const uint8_t *heap, *dir;
    uint32_t heap_n, count, width;
};

static inline struct box box_of(val v)
{
    assert(v.n > BOX_HEADER);
    struct box b;
    b.width = v.p[0] >> WIDTH_SHIFT;
    const uint8_t *end = v.p + v.n - b.width;
    b.count = load_width(end, b.width);
    b.dir = end - (size_t)b.count * b.width;
    b.heap = v.p + BOX_HEADER;
    b.heap_n = (uint32_t)(b.dir - b.heap);
    return b;
}

/* The i-th entry: from *p up to *end. */
static inline void box_entry(const struct box *b, uint32_t i, const uint8_t **p,
                             const uint8_t **end)
{
    assert(i < b->count);
    *p = b->heap + load_width(b->dir + (size_t)i * b->width, b->width);
    *end = i + 1 < b->count ? b->heap + load_width(b->dir + (size_t)(i + 1) * b->width, b->width)
                            : b->dir;
}

#endif
