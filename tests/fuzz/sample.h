/* tests/fuzz/sample.h: an item with nested documents and sets, placeholders of many types, and how
 * an input is split: the expression, and after a NUL perhaps an item to use instead. */
#ifndef FUZZ_SAMPLE_H
#define FUZZ_SAMPLE_H

#include "expr/expr.h"

#include <stdlib.h>

static inline void check(bool is_good)
{
    if (!is_good) abort();
}

static inline void sample_set(struct vb *b, enum val_type set)
{
    vb_set_begin(b, set);
    if (set == VAL_NS) vb_n_text(b, SPAN_LIT("5"));
    if (set == VAL_NS) vb_n_text(b, SPAN_LIT("-5"));
    if (set == VAL_SS) vb_s(b, SPAN_LIT("x"));
    if (set == VAL_SS) vb_s(b, SPAN_LIT(""));
    if (set == VAL_BS) vb_b(b, SPAN_LIT("\x01"));
    vb_end(b);
}

static inline void sample_list(struct vb *b, uint32_t depth)
{
    vb_list_begin(b);
    vb_n_text(b, SPAN_LIT("9e125"));
    if (depth) sample_list(b, depth - 1);
    vb_map_begin(b);
    vb_name(b, SPAN_LIT("s"));
    sample_set(b, VAL_SS);
    vb_name(b, SPAN_LIT("n"));
    vb_n_text(b, SPAN_LIT("1"));
    vb_end(b);
    vb_end(b);
}

/* :a … :g, and the attributes a … g. */
static inline void sample_value(struct vb *b, uint32_t i)
{
    if (i == 0) vb_n_text(b, SPAN_LIT("1e-130"));
    if (i == 1) vb_s(b, SPAN_LIT("text"));
    if (i == 2) sample_list(b, 2);
    if (i == 3) sample_set(b, VAL_SS);
    if (i == 4) sample_set(b, VAL_NS);
    if (i == 5) sample_set(b, VAL_BS);
    if (i == 6) {
        vb_map_begin(b);
        for (uint32_t k = 0; k < 6; k++) {
            vb_name(b, SPAN(&"abcdef"[k], 1));
            sample_value(b, k);
        }
        vb_end(b);
    }
}

static const char sample_names[] = "#a#b#c#d#e#f#g:a:b:c:d:e:f:g";

struct sample {
    struct expr_name names[7];
    struct expr_value values[7];
    struct expr_env env;
    span text, item;
};

static inline span sample_item(struct ctx *c)
{
    struct vb b;
    span item;
    vb_init(&b, c, 1 << 16);
    vb_map_begin(&b);
    for (uint32_t i = 0; i < 7; i++) {
        vb_name(&b, SPAN(&"abcdefg"[i], 1));
        sample_value(&b, i);
    }
    vb_end(&b);
    check(vb_finish_item(&b, &item) == SHEAF_OK);
    return item;
}

/* Built once: an input should not pay for it, nor the fuzzer look into it. */
static inline const struct sample *sample_base(void)
{
    static struct arena arena;
    static struct sample base;
    struct ctx c = {&arena, NULL};
    if (base.item.p) return &base;
    arena_init(&arena, 1 << 20);
    for (uint32_t i = 0; i < 7; i++) {
        struct vb b;
        vb_init(&b, &c, 1 << 16);
        sample_value(&b, i);
        base.names[i].placeholder = SPAN(sample_names + 2 * i, 2);
        base.names[i].name = SPAN(sample_names + 2 * i + 1, 1);
        base.values[i].placeholder = SPAN(sample_names + 14 + 2 * i, 2);
        check(vb_finish(&b, &base.values[i].value) == SHEAF_OK);
    }
    base.item = sample_item(&c);
    return &base;
}

static inline void sample_init(struct sample *s, const uint8_t *data, size_t size)
{
    *s = *sample_base();
    s->env = (struct expr_env){.names = s->names, .values = s->values, .n_names = 7};
    s->env.n_values = 7;
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    s->text = SPAN(data, nul ? (size_t)(nul - data) : size);
    if (!nul) return;
    span item = SPAN(nul + 1, size - s->text.n - 1);
    if (item_check(item, NULL) == SHEAF_OK) s->item = item;
}

#endif
