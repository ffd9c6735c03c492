/* A program of somebody else's: opens both engines, so that a static link needs all of RocksDB, and
 * asks the embedded API for an item it has put. */
#include <sheaf/sheaf.h>
#include <sheaf/sys/engine.h>
#include <stdio.h>

static int report(const char *what, sheaf_rc rc, const sheaf_error *err)
{
    if (rc != SHEAF_OK) printf("%s: %s: %s\n", what, err->exception, err->message);
    return rc != SHEAF_OK;
}

static int use_engines(const char *directory)
{
    sheaf_error err;
    sheaf_engine *mem = NULL, *rocks = NULL;
    int bad = report("mem", sheaf_engine_open_mem(NULL, &mem, &err), &err);
    bad |= report("rocks", sheaf_engine_open_rocks(directory, NULL, &rocks, &err), &err);
    if (!bad) printf("%s %s ", mem->ops->name, rocks->ops->name);
    sheaf_engine_close(mem);
    sheaf_engine_close(rocks);
    return bad;
}

static int use_items(sheaf_db *db)
{
    sheaf_error err;
    sheaf_result *page = NULL;
    struct sheaf_create_table shop = {
        .table = "shop", .partition_key = {"PK", SHEAF_S}, .sort_key = {"SK", SHEAF_S}};
    struct sheaf_put_item put = {.table = "shop", .error = &err};
    struct sheaf_query query = {.table = "shop", .key_condition_expression = "PK = :pk"};
    shop.error = query.error = &err;
    put.item = SHEAF_ITEM({"PK", sheaf_s("C#1")}, {"SK", sheaf_s("A")}, {"n", sheaf_n("1.50")});
    query.expression_attribute_values = SHEAF_ITEM({":pk", sheaf_s("C#1")});
    int bad = report("create", sheaf_create_table(db, &shop, NULL), &err) ||
              report("put", sheaf_put_item(db, &put, NULL), &err) ||
              report("query", sheaf_query(db, &query, &page), &err);
    SHEAF_EACH (page, item) printf("%s %s\n", sheaf_item_s(item, "SK"), sheaf_item_n(item, "n"));
    sheaf_result_free(page);
    return bad;
}

int main(int argc, char **argv)
{
    sheaf_error err;
    sheaf_db *db = NULL;
    int bad = use_engines(argc > 1 ? argv[1] : "") ||
              report("open", sheaf_open(":memory:", NULL, &db, &err), &err) || use_items(db);
    sheaf_close(db);
    return bad;
}
