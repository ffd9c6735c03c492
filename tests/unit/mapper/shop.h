/* What the mapper's tests share: a shop of customers, orders and their lines in one table, and a map
 * over it. The handle is :memory:, or what SHEAF_TEST_URL names. */
#ifndef TESTS_MAPPER_SHOP_H
#define TESTS_MAPPER_SHOP_H

#include "support/support.h"

#include "mapper/plan.h"

#include <sheaf/mapper.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum order_status { PENDING, PAID, SHIPPED };
static const char *const order_status_names[] = {"PENDING", "PAID", "SHIPPED"};

struct customer {
    const char *id, *name, *email;
    int64_t version, visits;
    sheaf_time created_at, updated_at;
    const sheaf_item *extra;
};
struct order {
    const char *customer_id, *id;
    enum order_status status;
    sheaf_time placed_at;
    int64_t total_cents, version;
    const char *courier; /* index GSI2 holds the orders that have one */
    sheaf_time expires_at;
};
struct line {
    const char *customer_id, *order_id;
    int32_t number;
    const char *sku;
};

SHEAF_ENTITY(customer, "Customer",
    KEY(PK, "CUSTOMER#{id}")            KEY(SK, "A")
    STR(id) STR(name) STR(email, "EmailAddress") VERSION(version) COUNTER(visits)
    CREATED(created_at) UPDATED(updated_at) EXTRA(extra));
SHEAF_ENTITY(order, "Order",
    KEY(PK, "CUSTOMER#{customer_id}")   KEY(SK, "#ORDER#{id}")
    KEY(GSI1PK, "STATUS#{status}")      KEY(GSI1SK, "ORDER#{placed_at}#{id}")
    KEY(GSI2PK, "COURIER#{courier}")    KEY(GSI2SK, "{placed_at:yyyy-mm}#{id}")
    STR(customer_id) STR(id) ENUM(status, order_status_names) TIME(placed_at) INT(total_cents)
    VERSION(version) STR(courier) TTL(expires_at));
SHEAF_ENTITY(line, "Line",
    KEY(PK, "CUSTOMER#{customer_id}")   KEY(SK, "#ORDER#{order_id}#LINE#{number:03}")
    STR(customer_id) STR(order_id) INT(number) STR(sku));

static const struct sheaf_index courier_index = {.name = "GSI2",
                                                 .partition_key = {{"GSI2PK", SHEAF_S, {0}}},
                                                 .sort_key = {{"GSI2SK", SHEAF_S, {0}}},
                                                 .projection = SHEAF_PROJECT_KEYS_ONLY};

/* 2020-11-25T12:00:00Z */
#define NOON INT64_C(1606305600000000)

struct shop {
    sheaf_db *db;
    sheaf_map *map;
    sheaf_error err;
    int64_t now; /* of stamps */
};

static inline int64_t shop_now(void *ctx) { return ((struct shop *)ctx)->now; }

static inline struct sheaf_table shop_table(struct shop *s)
{
    static const struct sheaf_table_index indexes[] = {
        SHEAF_GSI("GSI1", "GSI1PK", "GSI1SK"), {.name = "GSI2", .as = &courier_index}, {0}};
    static const sheaf_entity *const entities[] = {&customer_entity, &order_entity, &line_entity,
                                                   NULL};
    return (struct sheaf_table){.name = "shop",
                                .partition_key = "PK",
                                .sort_key = "SK",
                                .indexes = indexes,
                                .entities = entities,
                                .token_secret = "a secret of the tests",
                                .now_us = shop_now,
                                .now_ctx = s};
}

static inline void open_shop_at(struct shop *s, const char *url)
{
    struct sheaf_options o = {.no_background = true, .durability = SHEAF_RELAXED};
    struct sheaf_table table = shop_table(s);
    memset(&s->err, 0, sizeof s->err);
    s->now = NOON;
    assert_ok(sheaf_open(url, &o, &s->db, &s->err));
    assert_ok(sheaf_map_open(s->db, &table, &s->map, &s->err));
    assert_ok(sheaf_map_create(s->map, &s->err));
}

static inline void close_shop_at(struct shop *s)
{
    sheaf_map_close(s->map);
    sheaf_close(s->db);
}

static inline int open_shop(void **state)
{
    static struct shop s;
    const char *url = getenv("SHEAF_TEST_URL");
    open_shop_at(&s, url ? url : ":memory:");
    *state = &s;
    return 0;
}

static inline int close_shop(void **state)
{
    close_shop_at(*state);
    return 0;
}
#define SHOP_TEST(f) cmocka_unit_test_setup_teardown(f, open_shop, close_shop)

/* Fails and shows the message. */
#define must(s, call)                                                                              \
    do {                                                                                           \
        sheaf_rc must_rc_ = (call);                                                                \
        if (must_rc_ != SHEAF_OK)                                                                  \
            fail_msg("%s: %s: %s", #call, sheaf_rc_exception(must_rc_), (s)->err.message);         \
    } while (0)
/* A ValidationException with that message. */
#define refused(s, call, text)                                                                     \
    do {                                                                                           \
        assert_rc((call), SHEAF_VALIDATION);                                                       \
        assert_string_equal((s)->err.message, (text));                                             \
    } while (0)

static inline void put_customer(struct shop *s, const char *id, const char *name)
{
    struct customer c = {.id = id, .name = name};
    must(s, sheaf_put(s->map, customer, &s->err, &c));
}

/* Placed n hours after NOON. */
static inline void put_order(struct shop *s, const char *customer_id, const char *id,
                             enum order_status status, int hours)
{
    struct order o = {.customer_id = customer_id,
                      .id = id,
                      .status = status,
                      .placed_at = {NOON + hours * INT64_C(3600000000)},
                      .total_cents = 100 + hours};
    must(s, sheaf_put(s->map, order, &s->err, &o));
}

static inline void put_line(struct shop *s, const char *customer_id, const char *order_id, int n)
{
    struct line l = {.customer_id = customer_id, .order_id = order_id, .number = n, .sku = "sku"};
    must(s, sheaf_put(s->map, line, &s->err, &l));
}

/* The item as it is stored; free the result. */
static inline const sheaf_item *stored(struct shop *s, const char *pk, const char *sk,
                                       sheaf_result **result)
{
    struct sheaf_get_item q = {.table = "shop",
                               .key = SHEAF_ITEM({"PK", sheaf_s(pk)}, {"SK", sheaf_s(sk)}),
                               .consistent_read = true,
                               .error = &s->err};
    must(s, sheaf_get_item(s->db, &q, result));
    return sheaf_result_item(*result);
}

#endif
