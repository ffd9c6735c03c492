/* Any bytes as an item: refused, faulty, or an item that passes its check, whose JSON reads back to
 * the same bytes. What the item's reader takes, the plain reader takes, too. */
#include "json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool is_good)
{
    if (!is_good) abort();
}

static void again(struct ctx *c, span item)
{
    struct json j;
    struct json_item back;
    struct buf text;
    check(item_check(item, c->err) == SHEAF_OK);
    buf_init(&text, c->arena, 1 << 28);
    json_put_item(&text, item);
    check(!text.failed);
    json_init(&j, c, buf_span(&text));
    check(json_read_item(&j, &back) == SHEAF_OK && json_end(&j) == SHEAF_OK);
    check(back.has && !back.fault && span_eq(back.item, item));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena arena;
    sheaf_error err;
    arena_init(&arena, 1 << 28);
    struct ctx c = {&arena, &err};
    struct json j;
    struct json_item item;
    json_init(&j, &c, SPAN(data, n));
    sheaf_rc rc = json_read_item(&j, &item);
    check(rc == SHEAF_OK || rc == SHEAF_SERIALIZATION);
    if (rc == SHEAF_OK && !item.fault) {
        const uint8_t *end = j.at;
        json_init(&j, &c, SPAN(data, n));
        check(json_skip(&j, NULL) == SHEAF_OK && j.at == end);
        check(item.has == (item.item.p != NULL));
        if (item.has) again(&c, item.item);
    }
    if (rc == SHEAF_OK && item.fault) check(!item.item.p && item.has && item.fault[0]);
    arena_deinit(&arena);
    return 0;
}
