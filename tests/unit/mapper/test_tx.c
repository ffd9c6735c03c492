/* Transactions: all or nothing, and which action stood in the way. */
#include "shop.h"

#include "base/mem.h"

static void test_tx__writes_all_entities_or_none(void **state)
{
    struct shop *s = *state;
    struct sheaf_why why;
    sheaf_rows *rows;
    put_customer(s, "1", "Ada");
    struct order o = {.customer_id = "1", .id = "7", .placed_at = {NOON}};
    struct line lines[] = {{.customer_id = "1", .order_id = "7", .number = 1, .sku = "a"},
                           {.customer_id = "1", .order_id = "7", .number = 2, .sku = "b"}};
    sheaf_tx *tx = sheaf_tx_begin(s->map);
    sheaf_tx_check_exists(tx, customer, &(struct customer){.id = "1"});
    sheaf_tx_put_new(tx, order, &o);
    for (size_t i = 0; i < COUNT(lines); i++) sheaf_tx_put_new(tx, line, &lines[i]);
    assert_int_equal(o.version, 0);
    assert_ok(sheaf_tx_commit(tx, &why));
    assert_int_equal(o.version, 1); /* written on success */
    must(s, sheaf_collect(
                s->map,
                &(struct sheaf_collect){.of = SHEAF_REF(customer, .id = "1"), .error = &s->err},
                &rows));
    assert_int_equal(sheaf_rows_count(rows), 4);
    sheaf_rows_free(rows);
    /* update, delete and a counter-check, all entities mixed */
    o.status = SHIPPED;
    tx = sheaf_tx_begin(s->map);
    sheaf_tx_update(tx, order, "status", &o);
    sheaf_tx_delete(tx, line, &lines[0]);
    sheaf_tx_check_absent(tx, customer, &(struct customer){.id = "9"});
    sheaf_tx_put(tx, line,
                 &(struct line){.customer_id = "1", .order_id = "7", .number = 3, .sku = "c"});
    assert_ok(sheaf_tx_commit(tx, NULL));
    assert_int_equal(o.version, 2);
    sheaf_result *result;
    assert_string_equal(sheaf_item_s(stored(s, "CUSTOMER#1", "#ORDER#7", &result), "GSI1PK"),
                        "STATUS#SHIPPED");
    sheaf_result_free(result);
}

static void test_tx__names_the_action_that_failed_and_the_row_in_its_way(void **state)
{
    struct shop *s = *state;
    struct sheaf_why why;
    put_customer(s, "1", "Ada");
    put_order(s, "1", "7", PAID, 3);
    struct order o = {.customer_id = "1", .id = "7"}, fresh = {.customer_id = "1", .id = "8"};
    sheaf_tx *tx = sheaf_tx_begin(s->map);
    sheaf_tx_check_exists(tx, customer, &(struct customer){.id = "1"});
    sheaf_tx_put_new(tx, order, &fresh);
    sheaf_tx_put_new(tx, order, &o);
    assert_rc(sheaf_tx_commit(tx, &why), SHEAF_TRANSACTION_CANCELED);
    assert_int_equal(why.action, 2);
    assert_string_equal(why.code, "ConditionalCheckFailed");
    assert_ptr_equal(why.entity, &order_entity);
    assert_int_equal(sheaf_row_as(why.row, order)->total_cents, 103);
    assert_int_equal(sheaf_row_as(why.row, order)->status, PAID);
    assert_string_equal(why.error.exception, "TransactionCanceledException");
    assert_int_equal(why.error.action, 2);
    sheaf_rows_free(why.rows);
    assert_int_equal(fresh.version, 0); /* nothing was written, to structs neither */
    sheaf_result *result;
    assert_null(stored(s, "CUSTOMER#1", "#ORDER#8", &result));
    sheaf_result_free(result);
    /* a parent that is not there has no row */
    tx = sheaf_tx_begin(s->map);
    sheaf_tx_put_new(tx, order, &fresh);
    sheaf_tx_check_exists(tx, customer, &(struct customer){.id = "9"});
    assert_rc(sheaf_tx_commit(tx, &why), SHEAF_TRANSACTION_CANCELED);
    assert_int_equal(why.action, 1);
    assert_ptr_equal(why.entity, &customer_entity);
    assert_null(why.row);
    assert_null(why.rows);
}

static void test_tx__checks_versions_and_further_conditions(void **state)
{
    struct shop *s = *state;
    struct sheaf_why why;
    struct customer c = {.id = "1", .name = "Ada"}, stale;
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    stale = c;
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    sheaf_tx *tx = sheaf_tx_begin(s->map);
    sheaf_tx_update(tx, customer, NULL, &stale);
    assert_rc(sheaf_tx_commit(tx, &why), SHEAF_TRANSACTION_CANCELED);
    assert_int_equal(sheaf_row_as(why.row, customer)->version, 2);
    sheaf_rows_free(why.rows);
    tx = sheaf_tx_begin(s->map);
    sheaf_tx_save(tx, &(struct sheaf_save){.how = SHEAF_DELETE,
                                           .of = SHEAF_OF(customer, &c),
                                           .condition_expression = "#n = :n",
                                           SHEAF_NAMES({"#n", "name"}),
                                           .expression_attribute_values =
                                               SHEAF_ITEM({":n", sheaf_s("Bob")})});
    assert_rc(sheaf_tx_commit(tx, &why), SHEAF_TRANSACTION_CANCELED);
    sheaf_rows_free(why.rows);
}

static void test_tx__tells_its_first_mistake_at_the_commit(void **state)
{
    struct shop *s = *state;
    struct sheaf_why why;
    struct line l = {.customer_id = "1", .order_id = "1", .sku = "x"};
    sheaf_tx *tx = sheaf_tx_begin(s->map);
    sheaf_tx_put(tx, line, &l);
    sheaf_tx_put(tx, line, &(struct line){.order_id = "1"});
    sheaf_tx_delete(tx, customer, &(struct customer){.name = "x"});
    assert_rc(sheaf_tx_commit(tx, &why), SHEAF_VALIDATION);
    assert_int_equal(why.action, 1);
    assert_string_equal(
        why.error.message,
        "entity Line, key PK: field customer_id has no value for template CUSTOMER#{customer_id}");
    assert_rc(sheaf_tx_commit(sheaf_tx_begin(s->map), &why), SHEAF_VALIDATION);
    assert_rc(sheaf_tx_commit(NULL, &why), SHEAF_NOMEM);
    sheaf_tx_abandon(NULL);
    sheaf_tx_abandon(sheaf_tx_begin(s->map));
}

static void test_tx__of_a_hundred_actions_is_whole_and_one_more_is_refused(void **state)
{
    struct shop *s = *state;
    struct sheaf_why why;
    static struct line lines[101];
    for (int n = 100; n <= 101; n++) {
        sheaf_tx *tx = sheaf_tx_begin(s->map);
        for (int i = 0; i < n; i++) {
            lines[i] = (struct line){
                .customer_id = n == 100 ? "a" : "b", .order_id = "1", .number = i, .sku = "x"};
            sheaf_tx_put_new(tx, line, &lines[i]);
        }
        assert_rc(sheaf_tx_commit(tx, &why), n == 100 ? SHEAF_OK : SHEAF_VALIDATION);
    }
}

static void test_tx__survives_any_failing_allocation(void **state)
{
    struct shop *s = *state;
    put_order(s, "1", "1", PAID, 0);
    for (uint64_t n = 1;; n++) {
        struct sheaf_why why;
        struct order o = {.customer_id = "1", .id = "1"};
        struct line l = {.customer_id = "1", .order_id = "1", .sku = "x"};
        assert_true(n < 3000);
        mem_fail_at(n, false);
        sheaf_tx *tx = sheaf_tx_begin(s->map);
        sheaf_tx_put(tx, line, &l);
        sheaf_tx_put_new(tx, order, &o); /* is there */
        sheaf_rc rc = sheaf_tx_commit(tx, &why);
        mem_fail_at(0, false);
        bool is_told = rc == SHEAF_TRANSACTION_CANCELED && why.row;
        sheaf_rows_free(why.rows);
        if (is_told) {
            assert_true(n > 3);
            return;
        }
        assert_true(rc == SHEAF_NOMEM || rc == SHEAF_TRANSACTION_CANCELED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_TEST(test_tx__writes_all_entities_or_none),
        SHOP_TEST(test_tx__names_the_action_that_failed_and_the_row_in_its_way),
        SHOP_TEST(test_tx__checks_versions_and_further_conditions),
        SHOP_TEST(test_tx__tells_its_first_mistake_at_the_commit),
        SHOP_TEST(test_tx__of_a_hundred_actions_is_whole_and_one_more_is_refused),
        SHOP_TEST(test_tx__survives_any_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
