/* The mapper: a struct of ten fields to an item and back, beside the item operation alone. */
#include "micro/groups.h"

#include <sheaf/mapper.h>
#include <string.h>

enum kind { RED, GREEN };
static const char *const kind_names[] = {"RED", "GREEN"};

struct sold {
    const char *customer, *id, *sku, *note;
    int64_t cents, stock;
    int32_t quantity;
    enum kind kind;
    sheaf_time at;
    bool is_gift;
};
SHEAF_ENTITY(sold, "Sold",
    KEY(PK, "CUSTOMER#{customer}")  KEY(SK, "SOLD#{id}")
    STR(customer) STR(id) STR(sku) STR(note) INT(cents) INT(stock) INT(quantity)
    ENUM(kind, kind_names) TIME(at) BOOL(is_gift));

struct mappers {
    sheaf_db *db;
    sheaf_map *map;
    struct sold sold;
    sheaf_item *item;
};

static const sheaf_entity *const entities[] = {&sold_entity, NULL};
static const struct sheaf_table table = {
    .name = "bench", .partition_key = "PK", .sort_key = "SK", .entities = entities};

static void must(sheaf_rc rc)
{
    if (rc != SHEAF_OK) bench_die("mapper", sheaf_rc_exception(rc));
}

static void run_put_item(void *ctx, uint64_t n)
{
    struct mappers *x = ctx;
    struct sheaf_put_item q = {.table = "bench", .item = x->item};
    for (uint64_t i = 0; i < n; i++) must(sheaf_put_item(x->db, &q, NULL));
}

static void run_put(void *ctx, uint64_t n)
{
    struct mappers *x = ctx;
    struct sheaf_save q = {.how = SHEAF_PUT, .of = SHEAF_OF(sold, &x->sold)};
    for (uint64_t i = 0; i < n; i++) must(sheaf_save(x->map, &q, NULL));
}

static const sheaf_item *key_of(void)
{
    static const sheaf_attr attrs[2] = {
        {"PK", {SHEAF_S, false, {0}, {"CUSTOMER#0000123"}, SIZE_MAX}},
        {"SK", {SHEAF_S, false, {0}, {"SOLD#2020-11-25-0001"}, SIZE_MAX}}};
    static const sheaf_item key = {attrs, 2, NULL};
    return &key;
}

static void run_get_item(void *ctx, uint64_t n)
{
    struct mappers *x = ctx;
    struct sheaf_get_item q = {.table = "bench", .key = key_of()};
    for (uint64_t i = 0; i < n; i++) {
        sheaf_result *r;
        must(sheaf_get_item(x->db, &q, &r));
        bench_use(sheaf_item_count(sheaf_result_item(r)));
        sheaf_result_free(r);
    }
}

static void run_fetch(void *ctx, uint64_t n)
{
    struct mappers *x = ctx;
    struct sheaf_fetch q = {.of = {&sold_entity, &x->sold}};
    for (uint64_t i = 0; i < n; i++) {
        sheaf_rows *rows;
        must(sheaf_fetch(x->map, &q, &rows));
        bench_use((uint64_t)sheaf_rows_one(rows, sold)->cents);
        sheaf_rows_free(rows);
    }
}

static void open_all(struct mappers *x)
{
    static const char note[] = "a note of some forty bytes, as people write";
    x->sold = (struct sold){"0000123", "2020-11-25-0001",           "sku-000042", note, 12999, 0, 3,
                            GREEN,     {INT64_C(1606305600123456)}, true};
    must(sheaf_open(":memory:", NULL, &x->db, NULL));
    must(sheaf_map_open(x->db, &table, &x->map, NULL));
    must(sheaf_map_create(x->map, NULL));
    must(sheaf_put(x->map, sold, NULL, &x->sold));
    must(sheaf_item_of(x->map, sold, &x->item, NULL, &x->sold));
}

void bench_mappers(const struct bench_options *o)
{
    const char *title = "mapper";
    if (!bench_wants(o, title)) return;
    static struct mappers x;
    open_all(&x);
    struct bench b[] = {{.name = "PutItem of the item", .run = run_put_item, .ctx = &x},
                        {.name = "put of the struct", .run = run_put, .ctx = &x},
                        {.name = "GetItem", .run = run_get_item, .ctx = &x},
                        {.name = "fetch of the struct", .run = run_fetch, .ctx = &x}};
    bench_group(o, title, b, 4);
    bench_at_most("ten fields both ways, beyond the item operation",
                  b[1].ns - b[0].ns + b[3].ns - b[2].ns, 1500);
    sheaf_item_free(x.item);
    sheaf_map_close(x.map);
    sheaf_close(x.db);
}
