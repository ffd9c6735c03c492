/* Any bytes as a server's answer: every call of the client reads them, and ends with an outcome or an
 * error, never with memory that is not its own. */
#include "base/mem.h"
#include "client/wire.h"
#include "value/build.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct echo {
    struct client_transport base;
    int status;
    span body;
};

static enum client_fate answer(struct client_transport *t, struct ctx *c,
                               const struct client_request *q, struct client_answer *out)
{
    struct echo *e = (struct echo *)t;
    (void)c, (void)q;
    *out = (struct client_answer){.status = e->status, .body = e->body};
    return CLIENT_ANSWERED;
}

static void no_close(struct client_transport *t) { (void)t; }

/* {"p": {"S": "a"}} */
static span key(struct ctx *c)
{
    struct vb b;
    span out;
    vb_init(&b, c, 1024);
    vb_map_begin(&b);
    vb_name(&b, SPAN_LIT("p"));
    vb_s(&b, SPAN_LIT("a"));
    vb_end(&b);
    if (vb_finish_item(&b, &out) != SHEAF_OK) abort();
    return out;
}

static void check_item(span item)
{
    if (item.p && item_check(item, NULL) != SHEAF_OK) abort();
}

static void read_items(struct client *k, struct ctx *c, struct expr_env *env)
{
    struct core_page page;
    struct core_items_outcome items;
    struct core_write_outcome written;
    struct core_multi_outcome multi;
    struct core_get gets[2] = {{.table = SPAN_LIT("t"), .key = key(c), .env = env},
                               {.table = SPAN_LIT("t"), .key = key(c), .env = env}};
    struct core_write w = {
        .action = CORE_DELETE, .table = SPAN_LIT("t"), .item = gets[0].key, .env = env};
    if (client_query(k, c, &(struct core_query){.table = w.table, .env = env}, &page) == SHEAF_OK)
        for (uint32_t i = 0; i < page.n; i++) check_item(page.items[i]);
    for (int is_transaction = 0; is_transaction < 2; is_transaction++) {
        struct core_multi_get q = {gets, 2, is_transaction, CORE_CAPACITY_NONE};
        if (client_multi_get(k, c, &q, &items) == SHEAF_OK)
            for (uint32_t i = 0; i < items.n; i++) check_item(items.items[i]);
    }
    (void)!client_write_item(k, c, &(struct core_write_item){.write = w}, &written);
    check_item(written.attributes);
    (void)!client_batch_write(k, c, &(struct core_batch_write){.writes = &w, .n = 1}, &multi);
    (void)!client_transact_write(k, c, &(struct core_transact_write){.writes = &w, .n = 1}, &multi);
}

static void read_others(struct client *k, struct ctx *c)
{
    struct core_table_outcome table;
    struct core_names_outcome names;
    struct core_streams_outcome streams;
    struct core_stream_outcome stream;
    struct core_records records;
    (void)!client_describe_table(k, c, SPAN_LIT("t"), &table);
    (void)!client_list_tables(k, c, &(struct core_list_tables){.limit = 1}, &names);
    (void)!client_list_streams(k, c, &(struct core_list_streams){.limit = 1}, &streams);
    (void)!client_describe_stream(k, c, &(struct core_describe_stream){.limit = 1}, &stream);
    if (client_get_records(k, c, SPAN_LIT("i"), 1, &records) == SHEAF_OK)
        for (uint32_t i = 0; i < records.n; i++) check_item(records.records[i].new_image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    struct echo e = {{answer, no_close}, *data & 1 ? 400 : 200, {data + 1, size - 1}};
    struct client_options o = {.url = "http://127.0.0.1:1",
                               .access_key_id = "A",
                               .secret_access_key = "s",
                               .max_attempts = 1,
                               .seed = 1,
                               .transport = &e.base};
    struct expr_env env = {.n_names = 0};
    struct arena arena;
    struct client *k;
    sheaf_error err;
    arena_init(&arena, 16 << 20);
    struct ctx c = {&arena, &err};
    if (client_open(&o, &k, &err) != SHEAF_OK) abort();
    read_items(k, &c, &env);
    read_others(k, &c);
    client_close(k);
    arena_deinit(&arena);
    return 0;
}
