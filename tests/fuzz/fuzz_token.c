/* Any text as a page token must be refused, for nobody knows the secret; one that we made of the bytes
 * gives them back, and with any letter changed it must be refused too. */
#include "mapper/plan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

static void check_made(const sheaf_map *map, const struct token_query *q, struct ctx *c, span bytes)
{
    struct buf b;
    sheaf_item start;
    size_t half = bytes.n / 2;
    const uint8_t *p = bytes.p;
    sheaf_attr attrs[2] = {{"PK", sheaf_sn((const char *)p, half)},
                           {"SK", sheaf_sn((const char *)p + half, bytes.n - half)}};
    const sheaf_item item = {attrs, 2, NULL};
    buf_init(&b, c->arena, TOKEN_TEXT_MAX);
    must(token_put(map, q, &item, c->err, &b) == SHEAF_OK);
    must(token_get(c, map, q, (const char *)b.p, &start) == SHEAF_OK);
    sheaf_str pk = sheaf_item_str(&start, "PK"), sk = sheaf_item_str(&start, "SK");
    must(span_eq(SPAN(pk.p, pk.n), SPAN(p, half)));
    must(span_eq(SPAN(sk.p, sk.n), span_from(bytes, half)));
    uint8_t *letter = &b.p[p[0] % (b.n - 1)];
    *letter = *letter == 'A' ? 'B' : 'A';
    must(token_get(c, map, q, (const char *)b.p, &start) == SHEAF_VALIDATION);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct map_index table = {
        .partition_key = {"PK"}, .n_partition_key = 1, .sort_key = {"SK"}, .n_sort_key = 1};
    static sheaf_map map = {
        .table = {.name = "t"}, .indexes = &table, .n_indexes = 1, .token_key = "nobody knows it"};
    const struct token_query q = {&table, SPAN_LIT("condition"), false};
    struct arena arena;
    sheaf_error err;
    sheaf_item start;
    char text[4096];
    if (size == 0 || size >= sizeof text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    arena_init(&arena, 1 << 22);
    struct ctx c = {&arena, &err};
    must(token_get(&c, &map, &q, text, &start) == SHEAF_VALIDATION);
    check_made(&map, &q, &c, SPAN(data, size));
    arena_deinit(&arena);
    return 0;
}
