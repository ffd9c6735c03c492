/* A customer and the newest orders, in one query.
 *
 *   customer_orders [URL]     :memory: (the default), a directory, http://127.0.0.1:8000, …
 */
#include <sheaf/mapper.h>
#include <stdio.h>

enum order_status { PENDING, PAID, SHIPPED };
static const char *const order_status_names[] = {"PENDING", "PAID", "SHIPPED"};

struct customer {
    const char *id, *name, *email;
    int64_t version;
};
struct order {
    const char *customer_id, *id;
    enum order_status status;
    sheaf_time created_at;
    int64_t total_cents, version;
};

SHEAF_ENTITY(customer, "Customer",
    KEY(PK, "CUSTOMER#{id}")                     KEY(SK, "A")
    STR(id) STR(name) STR(email) VERSION(version));

SHEAF_ENTITY(order, "Order",
    KEY(PK, "CUSTOMER#{customer_id}")            KEY(SK, "#ORDER#{id}")
    KEY(GSI1PK, "STATUS#{status}")               KEY(GSI1SK, "ORDER#{created_at}#{id}")
    STR(customer_id) STR(id) ENUM(status, order_status_names) TIME(created_at) INT(total_cents)
    VERSION(version));

static const struct sheaf_table shop_table = {
    .name = "shop",
    .partition_key = "PK",
    .sort_key = "SK",
    .indexes = SHEAF_INDEXES(SHEAF_GSI("GSI1", "GSI1PK", "GSI1SK")),
    .entities = SHEAF_ENTITIES(customer, order)};

/* The customer and four orders, all or nothing. */
static sheaf_rc fill(sheaf_map *shop, sheaf_error *err)
{
    struct customer ada = {.id = "123", .name = "Ada", .email = "ada@example.org"};
    static struct order orders[] = {
        {"123", "2020-11-25", SHIPPED, {INT64_C(1606262400000000)}, 1999, 0},
        {"123", "2020-12-01", SHIPPED, {INT64_C(1606780800000000)}, 500, 0},
        {"123", "2020-12-06", PAID, {INT64_C(1607212800000000)}, 12999, 0},
        {"123", "2020-12-24", PENDING, {INT64_C(1608768000000000)}, 4250, 0}};
    struct sheaf_why why;
    sheaf_tx *tx = sheaf_tx_begin(shop);
    sheaf_tx_put_new(tx, customer, &ada);
    for (size_t i = 0; i < 4; i++) sheaf_tx_put_new(tx, order, &orders[i]);
    sheaf_rc rc = sheaf_tx_commit(tx, &why);
    if (rc == SHEAF_TRANSACTION_CANCELED && why.row) rc = SHEAF_OK; /* they are there already */
    *err = why.error;
    sheaf_rows_free(why.rows);
    return rc;
}

static sheaf_rc show_newest(sheaf_map *shop, sheaf_error *err)
{
    sheaf_rows *rows;
    sheaf_rc rc = sheaf_collect(shop,
                                &(struct sheaf_collect){.of = SHEAF_REF(customer, .id = "123"),
                                                        .backward = true,
                                                        .limit = 4,
                                                        .error = err},
                                &rows);
    if (rc != SHEAF_OK) return rc;
    const struct customer *who = sheaf_rows_one(rows, customer);
    if (who) printf("%s <%s>\n", who->name, who->email);
    SHEAF_ROWS_EACH(rows, order, o)
        printf("%s  %-8s %7.2f\n", o->id, order_status_names[o->status],
               (double)o->total_cents / 100.0);
    sheaf_rows_free(rows);
    return SHEAF_OK;
}

static sheaf_rc show_shipped(sheaf_map *shop, sheaf_error *err)
{
    sheaf_rows *rows;
    sheaf_rc rc = sheaf_collect(shop,
                                &(struct sheaf_collect){.of = SHEAF_REF(order, .status = SHIPPED),
                                                        .index = "GSI1",
                                                        .error = err},
                                &rows);
    if (rc != SHEAF_OK) return rc;
    printf("shipped:");
    SHEAF_ROWS_EACH(rows, order, o) printf(" %s", o->id);
    printf("\n");
    sheaf_rows_free(rows);
    return SHEAF_OK;
}

int main(int argc, char **argv)
{
    sheaf_db *db;
    sheaf_map *shop = NULL;
    sheaf_error err;
    if (sheaf_open(argc > 1 ? argv[1] : ":memory:", NULL, &db, &err) != SHEAF_OK)
        return sheaf_die(&err);
    sheaf_rc rc = sheaf_map_open(db, &shop_table, &shop, &err);
    if (rc == SHEAF_OK) rc = sheaf_map_create(shop, &err);
    if (rc == SHEAF_OK) rc = fill(shop, &err);
    if (rc == SHEAF_OK) rc = show_newest(shop, &err);
    if (rc == SHEAF_OK) rc = show_shipped(shop, &err);
    sheaf_map_close(shop);
    sheaf_close(db);
    return rc == SHEAF_OK ? 0 : sheaf_die(&err);
}
