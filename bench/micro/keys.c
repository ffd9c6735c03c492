/* Keys: place, sort key, range. */
#include "micro/groups.h"
#include "micro/sample.h"

#include "key/key.h"

#include <string.h>

struct keys {
    struct sample sample;
    struct key_secret secret;
    val pk, sk, n;
};

static void run_place(void *ctx, uint64_t n)
{
    struct keys *x = ctx;
    for (uint64_t i = 0; i < n; i++) {
        sheaf_place p = key_place(&x->secret, i, 1, &x->pk);
        bench_use(p.b[20]);
    }
}

static void put_sort(const val *v, uint64_t n)
{
    uint8_t bytes[KEY_SORT_MAX];
    for (uint64_t i = 0; i < n; i++) {
        struct buf s = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
        key_put_sort(&s, *v);
        bench_use(s.n + bytes[3]);
    }
}

static void run_sort(void *ctx, uint64_t n) { put_sort(&((struct keys *)ctx)->sk, n); }

static void run_sort_number(void *ctx, uint64_t n) { put_sort(&((struct keys *)ctx)->n, n); }

static void run_range(void *ctx, uint64_t n)
{
    struct keys *x = ctx;
    struct key_condition c = {.op = KEY_BEGINS_WITH, .a = x->sk};
    for (uint64_t i = 0; i < n; i++) {
        span lo, hi;
        arena_reset(&x->sample.arena);
        if (key_range(&x->sample.ctx, &c, &lo, &hi) != SHEAF_OK) bench_die("key", "range");
        bench_use(lo.n + hi.n);
    }
}

void bench_keys(const struct bench_options *o)
{
    const char *title = "key";
    if (!bench_wants(o, title)) return;
    static struct keys x;
    sample_init(&x.sample);
    memset(x.secret.b, 0x5A, sizeof x.secret.b);
    x.pk = val_find(item_map(x.sample.item), SPAN_LIT("PK"));
    x.sk = val_find(item_map(x.sample.item), SPAN_LIT("SK"));
    x.n = val_find(item_map(x.sample.item), SPAN_LIT("amount"));
    struct bench b[] = {{.name = "place of a 19-byte partition key", .run = run_place, .ctx = &x},
                        {.name = "27-byte string sort key", .run = run_sort, .ctx = &x},
                        {.name = "number sort key", .run = run_sort_number, .ctx = &x},
                        {.name = "range of begins_with", .run = run_range, .ctx = &x}};
    bench_group(o, title, b, 4);
    sample_deinit(&x.sample);
}
