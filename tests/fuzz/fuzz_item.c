/* Any bytes: either refused, or an item that can be read whole and rebuilds to the same bytes. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    sheaf_error err;
    bool is_item = item_check(SPAN(data, n), &err) == SHEAF_OK;
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
