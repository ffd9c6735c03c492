/* Any bytes: either refused, or an item that can be read whole and rebuilds to the same bytes. What
 * has the shape of an item, though perhaps not its contents, can be walked whole, too. */
#include "base/mem.h"
#include "value/build.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void rebuild(struct vb *b, val v)
{
    enum val_type t = val_type(v);
    if (t == VAL_S) vb_s(b, val_bytes(v));
    if (t == VAL_N) vb_n_encoded(b, val_bytes(v));
    if (t == VAL_B) vb_b(b, val_bytes(v));
    if (t == VAL_BOOL) vb_bool(b, val_bool(v));
    if (t == VAL_NULL) vb_null(b);
    if (t < VAL_M) return;
    if (t == VAL_M) vb_map_begin(b);
    if (t == VAL_L) vb_list_begin(b);
    if (t >= VAL_SS) vb_set_begin(b, t);
    for (uint32_t i = val_count(v); i-- > 0;) { /* backwards: the builder must sort */
        uint32_t k = t == VAL_L ? val_count(v) - 1 - i : i;
        if (t == VAL_M) vb_name(b, val_name_at(v, k));
        if (t == VAL_M || t == VAL_L) rebuild(b, val_at(v, k));
        if (t == VAL_SS) vb_s(b, val_member_at(v, k));
        if (t == VAL_NS) vb_n_encoded(b, val_member_at(v, k));
        if (t == VAL_BS) vb_b(b, val_member_at(v, k));
    }
    vb_end(b);
}

/* Everything a reader may touch. */
static uint64_t walk(val v)
{
    enum val_type t = val_type(v);
    struct num number;
    uint64_t sum = val_size(v) + val_depth(v);
    if (t == VAL_N) val_num(v, &number);
    if (t == VAL_S || t == VAL_N || t == VAL_B) {
        span bytes = val_bytes(v);
        for (size_t i = 0; i < bytes.n; i++) sum += ((const uint8_t *)bytes.p)[i];
    }
    if (t < VAL_M) return sum;
    for (uint32_t i = 0; i < val_count(v); i++) {
        span name = t == VAL_M ? val_name_at(v, i) : t == VAL_L ? SPAN_NONE : val_member_at(v, i);
        for (size_t k = 0; k < name.n; k++) sum += ((const uint8_t *)name.p)[k];
        if (t == VAL_M) sum += val_find(v, name).n;
        if (t >= VAL_SS) sum += val_set_has(v, name);
        if (t == VAL_M || t == VAL_L) sum += walk(val_at(v, i));
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    sheaf_error err;
    static volatile uint64_t sink;
    bool is_item = item_check(SPAN(data, n), &err) == SHEAF_OK;
    bool has_shape = item_check_shape(SPAN(data, n));
    if (is_item && !has_shape) abort();
    if (has_shape) sink = walk(item_map(SPAN(data, n)));
    (void)sink;
    if (!is_item && val_check(SPAN(data, n), &err) != SHEAF_OK) return 0;
    struct arena arena;
    arena_init(&arena, 256 << 20);
    struct ctx ctx = {&arena, &err};
    struct vb b;
    vb_init(&b, &ctx, 64 << 20);
    rebuild(&b, is_item ? item_map(SPAN(data, n)) : (val){data, (uint32_t)n});
    span got = SPAN_NONE;
    val v;
    if (is_item && vb_finish_item(&b, &got) != SHEAF_OK) abort();
    if (!is_item) {
        if (vb_finish(&b, &v) != SHEAF_OK) abort();
        got = SPAN(v.p, v.n);
    }
    if (!span_eq(got, SPAN(data, n))) abort();
    arena_deinit(&arena);
    return 0;
}
