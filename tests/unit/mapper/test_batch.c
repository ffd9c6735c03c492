/* Batches of any size: chunks, duplicates, leftovers. */
#include "shop.h"

#include "base/mem.h"

static void test_batch__of_any_size_is_written_and_read(void **state)
{
    struct shop *s = *state;
    static const size_t sizes[] = {1, 25, 26, 100, 101, 260};
    for (size_t k = 0; k < COUNT(sizes); k++) {
        sheaf_batch *b = sheaf_batch_begin(s->map);
        sheaf_rows *rows;
        for (size_t i = 0; i < sizes[k]; i++) { /* the struct is gone when the batch runs */
            char sku[32];
            snprintf(sku, sizeof sku, "sku %zu", i);
            struct line l = {.customer_id = "1", .order_id = "7", .number = (int32_t)i, .sku = sku};
            sheaf_batch_put(b, line, &l);
            sheaf_batch_get(b, line, &l);
        }
        sheaf_batch_get(b, line, &(struct line){.customer_id = "none", .order_id = "1"});
        must(s, sheaf_batch_run(b, &rows, &s->err));
        assert_int_equal(sheaf_rows_count(rows), sizes[k]);
        int32_t n = 0;
        SHEAF_ROWS_EACH (rows, line, l) /* in the order asked for */
        {
            char sku[32];
            snprintf(sku, sizeof sku, "sku %d", n);
            assert_int_equal(l->number, n++);
            assert_string_equal(l->sku, sku);
        }
        sheaf_rows_free(rows);
        b = sheaf_batch_begin(s->map);
        for (size_t i = 0; i < sizes[k]; i++)
            sheaf_batch_delete(
                b, line, &(struct line){.customer_id = "1", .order_id = "7", .number = (int32_t)i});
        must(s, sheaf_batch_run(b, NULL, &s->err));
        must(s, sheaf_collect(
                    s->map,
                    &(struct sheaf_collect){.of = SHEAF_REF(customer, .id = "1"), .error = &s->err},
                    &rows));
        assert_int_equal(sheaf_rows_count(rows), 0);
        sheaf_rows_free(rows);
    }
}

static void test_batch__the_last_write_of_a_key_wins(void **state)
{
    struct shop *s = *state;
    sheaf_batch *b = sheaf_batch_begin(s->map);
    struct line l = {.customer_id = "1", .order_id = "1", .number = 1};
    static const char *const skus[] = {"a", "b", "c"};
    sheaf_rows *rows;
    for (size_t i = 0; i < 3; i++) {
        l.sku = skus[i];
        sheaf_batch_put(b, line, &l);
    }
    struct line gone = {.customer_id = "1", .order_id = "1", .number = 2, .sku = "x"};
    sheaf_batch_put(b, line, &gone);
    sheaf_batch_delete(b, line, &gone);
    sheaf_batch_get(b, line, &l);
    sheaf_batch_get(b, line, &l); /* asked twice: one row */
    sheaf_batch_get(b, line, &gone);
    must(s, sheaf_batch_run(b, &rows, &s->err));
    assert_int_equal(sheaf_rows_count(rows), 1);
    assert_string_equal(sheaf_rows_one(rows, line)->sku, "c");
    sheaf_rows_free(rows);
}

static void test_batch__stamps_when_a_struct_is_added(void **state)
{
    struct shop *s = *state;
    sheaf_batch *b = sheaf_batch_begin(s->map);
    struct customer c = {.id = "1", .name = "x"};
    sheaf_batch_put(b, customer, &c);
    assert_int_equal(c.version, 1);
    assert_int_equal(c.created_at.us, NOON);
    must(s, sheaf_batch_run(b, NULL, &s->err));
    must(s, sheaf_put(s->map, customer, &s->err, &c)); /* it is that version */
}

static void test_batch__tells_its_first_mistake_when_it_runs(void **state)
{
    struct shop *s = *state;
    sheaf_batch *b = sheaf_batch_begin(s->map);
    sheaf_rows *rows;
    struct line l = {.customer_id = "1", .order_id = "1", .sku = "x"};
    sheaf_batch_put(b, line, &l);
    sheaf_batch_put(b, line, &(struct line){.order_id = "1"});
    sheaf_batch_get(b, customer, &(struct customer){.name = "x"});
    refused(
        s, sheaf_batch_run(b, &rows, &s->err),
        "entity Line, key PK: field customer_id has no value for template CUSTOMER#{customer_id}");
    assert_null(rows);
    sheaf_result *result;
    assert_null(stored(s, "CUSTOMER#1", "#ORDER#1#LINE#000", &result)); /* nothing was sent */
    sheaf_result_free(result);
    b = sheaf_batch_begin(s->map);
    sheaf_batch_add_(b, SHEAF_UPDATE, &line_entity, &l);
    refused(s, sheaf_batch_run(b, NULL, &s->err),
            "A batch puts and deletes; it can neither put new nor update");
    assert_rc(sheaf_batch_run(NULL, NULL, &s->err), SHEAF_NOMEM);
    sheaf_batch_abandon(NULL);
    sheaf_batch_abandon(sheaf_batch_begin(s->map));
}

static int64_t manual_now(void *ctx)
{
    struct clock_manual *c = ctx;
    return clock_now_us(&c->base);
}

/* 1,000 writes of a kilobyte per key and second is what a partition takes; the rest comes back
 * unprocessed until the clock has moved on, which the pauses see to. */
static void test_batch__leftovers_are_tried_again_after_pauses(void **state)
{
    struct clock_manual clock;
    struct shop s = {.now = NOON};
    static char text[1001];
    sheaf_rows *rows;
    (void)state;
    memset(text, 'x', 1000);
    clock_manual_init(&clock, NOON);
    struct sheaf_options o = {
        .no_background = true, .throttle = true, .now_us = manual_now, .now_ctx = &clock};
    struct sheaf_table t = shop_table(&s);
    assert_ok(sheaf_open(":memory:", &o, &s.db, &s.err));
    must(&s, sheaf_map_open(s.db, &t, &s.map, &s.err));
    s.map->clock = &clock.base;
    must(&s, sheaf_map_create(s.map, &s.err));
    sheaf_batch *b = sheaf_batch_begin(s.map);
    for (int i = 0; i < 999; i++) {
        struct line l = {.customer_id = "1", .order_id = "1", .number = i, .sku = text};
        sheaf_batch_put(b, line, &l);
        sheaf_batch_get(b, line, &l);
    }
    must(&s, sheaf_batch_run(b, &rows, &s.err));
    assert_int_equal(sheaf_rows_count(rows), 999);
    assert_true(clock.slept_ns > 0);
    sheaf_rows_free(rows);
    close_shop_at(&s);
}

static void test_batch__gives_up_when_nothing_moves(void **state)
{
    struct clock_manual clock;
    struct shop s = {.now = NOON};
    (void)state;
    static const struct sheaf_fault faults[] = {
        {.operation = "BatchWriteItem", .rc = SHEAF_THROUGHPUT_EXCEEDED, .nth = 1, .every = 1}};
    struct sheaf_options o = {.no_background = true, .faults = faults, .n_faults = 1};
    struct sheaf_table t = shop_table(&s);
    clock_manual_init(&clock, NOON);
    assert_ok(sheaf_open(":memory:", &o, &s.db, &s.err));
    must(&s, sheaf_map_open(s.db, &t, &s.map, &s.err));
    s.map->clock = &clock.base;
    must(&s, sheaf_map_create(s.map, &s.err));
    sheaf_batch *b = sheaf_batch_begin(s.map);
    sheaf_batch_put(b, line, &(struct line){.customer_id = "1", .order_id = "1", .sku = "x"});
    assert_rc(sheaf_batch_run(b, NULL, &s.err), SHEAF_THROUGHPUT_EXCEEDED);
    assert_string_equal(s.err.message, "1 requests of the batch were not processed after 9 pauses");
    assert_true(clock.slept_ns > UINT64_C(5000000000) && clock.slept_ns < UINT64_C(20000000000));
    close_shop_at(&s);
}

static void test_batch__survives_any_failing_allocation(void **state)
{
    struct shop *s = *state;
    for (uint64_t n = 1;; n++) {
        sheaf_rows *rows = NULL;
        assert_true(n < 3000);
        mem_fail_at(n, false);
        sheaf_batch *b = sheaf_batch_begin(s->map);
        for (int i = 0; i < 30; i++) {
            struct line l = {.customer_id = "1", .order_id = "7", .number = i, .sku = "x"};
            sheaf_batch_put(b, line, &l);
            sheaf_batch_get(b, line, &l);
        }
        sheaf_rc rc = sheaf_batch_run(b, &rows, &s->err);
        mem_fail_at(0, false);
        if (rc == SHEAF_OK) {
            assert_int_equal(sheaf_rows_count(rows), 30);
            sheaf_rows_free(rows);
            assert_true(n > 10);
            return;
        }
        assert_int_equal(rc, SHEAF_NOMEM);
        assert_null(rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_TEST(test_batch__of_any_size_is_written_and_read),
        SHOP_TEST(test_batch__the_last_write_of_a_key_wins),
        SHOP_TEST(test_batch__stamps_when_a_struct_is_added),
        SHOP_TEST(test_batch__tells_its_first_mistake_when_it_runs),
        cmocka_unit_test(test_batch__leftovers_are_tried_again_after_pauses),
        cmocka_unit_test(test_batch__gives_up_when_nothing_moves),
        SHOP_TEST(test_batch__survives_any_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
