/* JSON: a PutItem of 571 bytes and a BatchWriteItem of 13 KB into items, a Query's answer of 25
 * items out of them; simdjson reads the same bytes beside it. */
#include "micro/groups.h"

#include "common/simdjson.h"
#include "json/json.h"

#include <stdio.h>

struct jsons {
    struct arena arena, keep;
    sheaf_error err;
    struct ctx ctx;
    span put, batch;
    span items[25];
    struct buf out;
    simd_reader *simd;
};

static const char item_json[] =
    "{\"PK\":{\"S\":\"CUSTOMER#0123456789\"},\"SK\":{\"S\":\"#ORDER#2020-12-06T10:11:12Z\"},"
    "\"Type\":{\"S\":\"Order\"},\"amount\":{\"N\":\"129.99\"},\"version\":{\"N\":\"7\"},"
    "\"created_at\":{\"S\":\"2020-12-06T10:11:12.345Z\"},\"status\":{\"S\":\"SHIPPED\"},"
    "\"gift\":{\"BOOL\":true},\"tags\":{\"SS\":[\"express\",\"fragile\"]},\"note\":{\"S\":\"Leave "
    "the parcel with the neighbour on the second floor when nobody answers, ring twice, and mind "
    "the dog, which is friendly but large; the gate code is the one of last time. If it rains, "
    "please do not leave it at the door but in the shed beside the house.\"}}";

static sheaf_rc read_put(struct json *j, struct json_item *out)
{
    span name, table;
    bool has;
    TRY(json_object(j));
    for (;;) {
        TRY(json_next_name(j, &name, &has));
        if (!has) return json_end(j);
        if (span_eq(name, SPAN_LIT("Item")))
            TRY(json_read_item(j, out));
        else
            TRY(json_text(j, &table));
    }
}

/* One name, and what stands behind it. */
static sheaf_rc enter(struct json *j)
{
    span name;
    bool has;
    TRY(json_object(j));
    return json_next_name(j, &name, &has);
}

static sheaf_rc leave(struct json *j)
{
    span name;
    bool has;
    return json_next_name(j, &name, &has);
}

static sheaf_rc read_batch(struct json *j, uint64_t *sum)
{
    struct json_item item;
    bool has;
    TRY(enter(j)); /* RequestItems */
    TRY(enter(j)); /* the table */
    TRY(json_array(j));
    for (;;) {
        TRY(json_next_element(j, &has));
        if (!has) break;
        TRY(enter(j)); /* PutRequest */
        TRY(enter(j)); /* Item */
        TRY(json_read_item(j, &item));
        *sum += item.item.n;
        TRY(leave(j));
        TRY(leave(j));
    }
    TRY(leave(j));
    TRY(leave(j));
    return json_end(j);
}

static void run_put(void *ctx, uint64_t n)
{
    struct jsons *x = ctx;
    for (uint64_t i = 0; i < n; i++) {
        struct json j;
        struct json_item item = {0};
        arena_reset(&x->arena);
        json_init(&j, &x->ctx, x->put);
        if (read_put(&j, &item) != SHEAF_OK || !item.item.p) bench_die("json", x->err.message);
        bench_use(item.item.n);
    }
}

static void run_skip(void *ctx, uint64_t n)
{
    struct jsons *x = ctx;
    for (uint64_t i = 0; i < n; i++) {
        struct json j;
        arena_reset(&x->arena);
        json_init(&j, &x->ctx, x->put);
        if (json_skip(&j, NULL) != SHEAF_OK) bench_die("json", x->err.message);
        bench_use(j.depth);
    }
}

static void run_batch(void *ctx, uint64_t n)
{
    struct jsons *x = ctx;
    for (uint64_t i = 0; i < n; i++) {
        struct json j;
        uint64_t sum = 0;
        arena_reset(&x->arena);
        json_init(&j, &x->ctx, x->batch);
        if (read_batch(&j, &sum) != SHEAF_OK) bench_die("json", x->err.message);
        bench_use(sum);
    }
}

static void run_simd_put(void *ctx, uint64_t n)
{
    struct jsons *x = ctx;
    for (uint64_t i = 0; i < n; i++) bench_use(simd_reader_walk(x->simd, x->put.p, x->put.n));
}

static void run_simd_batch(void *ctx, uint64_t n)
{
    struct jsons *x = ctx;
    for (uint64_t i = 0; i < n; i++) bench_use(simd_reader_walk(x->simd, x->batch.p, x->batch.n));
}

static void write_answer(struct jsons *x)
{
    buf_clear(&x->out);
    buf_put(&x->out, "{\"Count\":25,\"Items\":[", 21);
    for (int i = 0; i < 25; i++) {
        if (i) buf_put_u8(&x->out, ',');
        json_put_item(&x->out, x->items[i]);
    }
    buf_put(&x->out, "],\"ScannedCount\":25}", 20);
}

static void run_write(void *ctx, uint64_t n)
{
    struct jsons *x = ctx;
    for (uint64_t i = 0; i < n; i++) {
        write_answer(x);
        bench_use(x->out.n);
    }
}

static span text(struct jsons *x, const char *head, int n, const char *each, const char *tail)
{
    struct buf b;
    buf_init(&b, &x->keep, 1 << 20);
    buf_printf(&b, "%s", head);
    for (int i = 0; i < n; i++) buf_printf(&b, each, i ? "," : "", item_json);
    buf_printf(&b, "%s", tail);
    return buf_span(&b);
}

static void prepare(struct jsons *x)
{
    arena_init(&x->arena, 1 << 24);
    arena_init(&x->keep, 1 << 24);
    x->ctx = (struct ctx){&x->arena, &x->err};
    x->put = text(x, "{\"TableName\":\"shop\",\"Item\":", 1, "%s%s", "}");
    x->batch =
        text(x, "{\"RequestItems\":{\"shop\":[", 25, "%s{\"PutRequest\":{\"Item\":%s}}", "]}}");
    struct json j;
    struct json_item item = {0};
    json_init(&j, &x->ctx, x->put);
    if (read_put(&j, &item) != SHEAF_OK || !item.item.p) bench_die("json", x->err.message);
    for (int i = 0; i < 25; i++) x->items[i] = arena_dup(&x->keep, item.item);
    buf_init(&x->out, &x->keep, 1 << 20);
    write_answer(x);
    x->simd = simd_reader_new();
}

static void speed(const char *what, span bytes, double ns)
{
    printf("  %-44s %8.0f MB/s\n", what, (double)bytes.n * 1e3 / ns);
}

void bench_jsons(const struct bench_options *o)
{
    const char *title = "JSON";
    if (!bench_wants(o, title)) return;
    struct jsons x = {0};
    prepare(&x);
    char names[3][64];
    snprintf(names[0], sizeof names[0], "PutItem of %zu B into an item", x.put.n);
    snprintf(names[1], sizeof names[1], "BatchWriteItem of %zu B into 25 items", x.batch.n);
    snprintf(names[2], sizeof names[2], "25 items into an answer of %zu B", x.out.n);
    struct bench b[] = {
        {.name = names[0], .run = run_put, .ctx = &x},
        {.name = "  the same bytes: only checked (skip)", .run = run_skip, .ctx = &x},
        {.name = "  the same bytes: simdjson, nothing built", .run = run_simd_put, .ctx = &x},
        {.name = names[1], .run = run_batch, .ctx = &x},
        {.name = "  the same bytes: simdjson, nothing built", .run = run_simd_batch, .ctx = &x},
        {.name = names[2], .run = run_write, .ctx = &x}};
    bench_group(o, title, b, 6);
    speed("PutItem", x.put, b[0].ns);
    speed("PutItem, skip", x.put, b[1].ns);
    speed("PutItem, simdjson", x.put, b[2].ns);
    speed("BatchWriteItem", x.batch, b[3].ns);
    speed("BatchWriteItem, simdjson", x.batch, b[4].ns);
    speed("answer", buf_span(&x.out), b[5].ns);
    simd_reader_free(x.simd);
    arena_deinit(&x.arena);
    arena_deinit(&x.keep);
}
