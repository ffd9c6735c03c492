/* Turns a few scalars into an item: order them, add up their bytes, write each once. Know before
 * editing: the bytes must be build.c's, because equal items are equal bytes;
 * test_flat__makes_the_bytes_of_the_builder compares them. */
#include "value/flat.h"

#include "base/utf8.h"
#include "value/layout.h"

enum { HEAP_MAX = 64 << 10 };

/* Indexes into the attributes by name. */
struct order {
    uint8_t at[FLAT_MAX];
};

static bool sort(const struct flat_attr *attrs, uint32_t n, struct order *order)
{
    order->at[0] = 0;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t j = i;
        for (; j > 0; j--) {
            int c = span_cmp(attrs[order->at[j - 1]].name, attrs[i].name);
            if (c == 0) return false;
            if (c < 0) break;
            order->at[j] = order->at[j - 1];
        }
        order->at[j] = (uint8_t)i;
    }
    return true;
}

static size_t field_bytes(span s) { return varint_bytes((uint32_t)s.n) + s.n; }

/* Bytes of all entries and their size by AWS's rule; false for what is not taken. */
static bool measure(const struct flat_attr *attrs, uint32_t n, size_t *heap_out, size_t *size_out)
{
    size_t heap = 0, size = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct flat_attr *a = &attrs[i];
        assert(a->type == VAL_S || a->type == VAL_B || (a->type == VAL_N && num_check(a->bytes)));
        if (a->name.n == 0 || a->name.n >= HEAP_MAX || a->bytes.n >= HEAP_MAX) return false;
        if (!utf8_check(a->name) || (a->type == VAL_S && !utf8_check(a->bytes))) return false;
        size += a->name.n + a->bytes.n;
        heap += field_bytes(a->name) + 1 + field_bytes(a->bytes);
    }
    *heap_out = heap;
    *size_out = size;
    return heap < HEAP_MAX;
}

static uint8_t *put_field(uint8_t *to, span s)
{
    to += put_varint(to, (uint32_t)s.n);
    if (s.n) memcpy(to, s.p, s.n);
    return to + s.n;
}

/* Heap, directory and count. */
static void put_entries(uint8_t *heap, size_t heap_n, const struct flat_attr *attrs, uint32_t n,
                        const struct order *order)
{
    uint32_t width = width_of((uint32_t)heap_n);
    uint8_t *to = heap, *dir = heap + heap_n;
    for (uint32_t i = 0; i < n; i++, dir += width) {
        const struct flat_attr *a = &attrs[order->at[i]];
        store_width(dir, width, (uint32_t)(to - heap));
        to = put_field(to, a->name);
        *to++ = (uint8_t)a->type;
        to = put_field(to, a->bytes);
    }
    assert(to == heap + heap_n);
    store_width(dir, width, n);
}

bool flat_encode(struct arena *arena, const struct flat_attr *attrs, uint32_t n, span *item_out)
{
    assert(n >= 1 && n <= FLAT_MAX);
    struct order order;
    size_t heap_n, size;
    *item_out = SPAN_NONE;
    if (!measure(attrs, n, &heap_n, &size) || !sort(attrs, n, &order)) return false;
    uint32_t width = width_of((uint32_t)heap_n);
    size_t len = heap_n + ((size_t)n + 1) * width;
    uint8_t *item = arena_bytes(arena, VAL_ITEM_HEADER + BOX_HEADER + len);
    if (!item) return false;
    uint8_t *box = item + VAL_ITEM_HEADER;
    item[0] = VAL_ITEM_VERSION;
    store_u32(item + 1, (uint32_t)size);
    box[0] = (uint8_t)(width << WIDTH_SHIFT | VAL_M);
    store_u32(box + 1, (uint32_t)len);
    put_entries(box + BOX_HEADER, heap_n, attrs, n, &order);
    *item_out = SPAN(item, VAL_ITEM_HEADER + BOX_HEADER + len);
    return true;
}
