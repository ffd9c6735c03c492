#define SHEAF_SHORT_NAMES /* S() and N() */
#include <sheaf/sheaf.h>

int main(int argc, char **argv)
{
    sheaf_db *db;
    sheaf_result *page;
    sheaf_error err;
    if (sheaf_open(argc > 1 ? argv[1] : ":memory:", NULL, &db, &err)) return sheaf_die(&err);

    struct sheaf_create_table shop = {.table = "shop", .error = &err,
        .partition_key = {"PK", SHEAF_S}, .sort_key = {"SK", SHEAF_S}};
    if (sheaf_create_table(db, &shop, NULL) && err.rc != SHEAF_RESOURCE_IN_USE)
        return sheaf_die(&err);

    const char *orders[][2] = {{"#ORDER#2020-12-01", "5.49"}, {"#ORDER#2020-12-06", "129.99"}};
    for (int i = 0; i < 2; i++)
        if (sheaf_put_item(db, &(struct sheaf_put_item){.table = "shop", .error = &err,
                .item = SHEAF_ITEM({"PK", S("CUSTOMER#123")}, {"SK", S(orders[i][0])},
                                   {"total", N(orders[i][1])})}, NULL)) return sheaf_die(&err);

    if (sheaf_query(db, &(struct sheaf_query){.table = "shop", .error = &err,
            .key_condition_expression = "PK = :pk", .backward = true, .limit = 2,
            .expression_attribute_values = SHEAF_ITEM({":pk", S("CUSTOMER#123")})}, &page))
        return sheaf_die(&err);
    SHEAF_EACH (page, item)
        printf("%s  %s\n", sheaf_item_s(item, "SK"), sheaf_item_n(item, "total"));
    sheaf_result_free(page);
    sheaf_close(db);
}
