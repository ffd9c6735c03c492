/* Numbers and items: parse, compare, add; build, look up. */
#include "micro/groups.h"
#include "micro/sample.h"

#include "base/mem.h"

#include <stdio.h>

struct numbers {
    span text[2];
    struct num a, b;
    uint8_t enc_a[NUM_ENC_MAX], enc_b[NUM_ENC_MAX];
    size_t n_a, n_b;
};

static void run_parse(void *ctx, uint64_t n)
{
    struct numbers *x = ctx;
    struct num out;
    for (uint64_t i = 0; i < n; i++) {
        if (num_parse(x->text[0], &out, NULL) != SHEAF_OK) bench_die("number", "parse failed");
        bench_use((uint64_t)out.coef);
    }
}

static void run_parse_long(void *ctx, uint64_t n)
{
    struct numbers *x = ctx;
    struct num out;
    for (uint64_t i = 0; i < n; i++) {
        if (num_parse(x->text[1], &out, NULL) != SHEAF_OK) bench_die("number", "parse failed");
        bench_use((uint64_t)out.coef);
    }
}

static void run_cmp_encoded(void *ctx, uint64_t n)
{
    struct numbers *x = ctx;
    for (uint64_t i = 0; i < n; i++)
        bench_use((uint64_t)span_cmp(SPAN(x->enc_a, x->n_a), SPAN(x->enc_b, x->n_b)));
}

static void run_add(void *ctx, uint64_t n)
{
    struct numbers *x = ctx;
    struct num out;
    for (uint64_t i = 0; i < n; i++) {
        if (num_add(&x->a, &x->b, &out, NULL) != SHEAF_OK) bench_die("number", "add failed");
        bench_use((uint64_t)out.coef);
    }
}

static void run_encode(void *ctx, uint64_t n)
{
    struct numbers *x = ctx;
    uint8_t enc[NUM_ENC_MAX];
    for (uint64_t i = 0; i < n; i++) bench_use(num_encode(&x->a, enc) + enc[1]);
}

static void run_format(void *ctx, uint64_t n)
{
    struct numbers *x = ctx;
    char text[NUM_TEXT_MAX];
    for (uint64_t i = 0; i < n; i++)
        bench_use(num_format_encoded(SPAN(x->enc_a, x->n_a), text) + (uint64_t)text[0]);
}

void bench_numbers(const struct bench_options *o)
{
    const char *title = "number";
    if (!bench_wants(o, title)) return;
    struct numbers x = {
        .text = {SPAN_LIT("129.99"), SPAN_LIT("1234567890123456789.0123456789012345678")}};
    if (num_parse(x.text[0], &x.a, NULL) || num_parse(SPAN_LIT("-0.01"), &x.b, NULL))
        bench_die(title, "parse failed");
    x.n_a = num_encode(&x.a, x.enc_a);
    x.n_b = num_encode(&x.b, x.enc_b);
    struct bench b[] = {{.name = "parse \"129.99\"", .run = run_parse, .ctx = &x},
                        {.name = "parse 38 digits", .run = run_parse_long, .ctx = &x},
                        {.name = "compare, encoded", .run = run_cmp_encoded, .ctx = &x},
                        {.name = "add 129.99 + -0.01", .run = run_add, .ctx = &x},
                        {.name = "encode", .run = run_encode, .ctx = &x},
                        {.name = "format from bytes", .run = run_format, .ctx = &x}};
    bench_group(o, title, b, 6);
}

static void run_build(void *ctx, uint64_t n)
{
    struct sample *s = ctx;
    for (uint64_t i = 0; i < n; i++) {
        arena_reset(&s->arena);
        bench_use(sample_build(s).n);
    }
}

static void run_find(void *ctx, uint64_t n)
{
    struct sample *s = ctx;
    val m = item_map(s->item);
    for (uint64_t i = 0; i < n; i++) bench_use(val_find(m, SPAN_LIT("created_at")).n);
}

static void run_check(void *ctx, uint64_t n)
{
    struct sample *s = ctx;
    for (uint64_t i = 0; i < n; i++) bench_use((uint64_t)item_check(s->item, NULL));
}

void bench_items(const struct bench_options *o)
{
    const char *title = "item of 10 attributes, 400 bytes";
    if (!bench_wants(o, title)) return;
    struct sample builder, reader;
    sample_init(&builder);
    sample_init(&reader);
    struct bench b[] = {{.name = "build from its parts", .run = run_build, .ctx = &builder},
                        {.name = "find one attribute", .run = run_find, .ctx = &reader},
                        {.name = "check as untrusted bytes", .run = run_check, .ctx = &reader}};
    bench_group(o, title, b, 3);
    bench_at_most("item build", b[0].ns, 800);
    sample_deinit(&builder);
    sample_deinit(&reader);
}
