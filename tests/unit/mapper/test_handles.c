/* The same story on every handle: memory, a directory, and what SHEAF_TEST_URLS names (URLs with
 * spaces between them), so that a server's address can join. */
#include "shop.h"

#include "base/rng.h"

#include <unistd.h>

/* A customer, orders, lines: written, read in one query, changed, conflicted, transacted, paged. */
static void tell_the_story(struct shop *s)
{
    struct customer ada = {.id = "a#1", .name = "Ada"}, stale;
    sheaf_rows *rows;
    must(s, sheaf_put_new(s->map, customer, &s->err, &ada));
    stale = ada;
    ada.email = "ada@example.org";
    must(s, sheaf_update(s->map, customer, &s->err, &ada));
    assert_rc(sheaf_update(s->map, customer, &s->err, &stale), SHEAF_CONDITIONAL_CHECK_FAILED);
    must(s, sheaf_add(s->map, customer, visits, 3, &s->err, &ada));
    for (int i = 0; i < 30; i++) {
        struct order o = {.customer_id = "a#1",
                          .placed_at = {NOON + i * INT64_C(60000000)},
                          .status = i % 3 ? PAID : PENDING};
        char id[12];
        snprintf(id, sizeof id, "%04d", i);
        o.id = id;
        struct sheaf_why why;
        sheaf_tx *tx = sheaf_tx_begin(s->map);
        sheaf_tx_check_exists(tx, customer, &ada);
        sheaf_tx_put_new(tx, order, &o);
        sheaf_rc rc = sheaf_tx_commit(tx, &why);
        if (rc != SHEAF_OK) fail_msg("%s", why.error.message);
    }
    sheaf_batch *b = sheaf_batch_begin(s->map);
    for (int i = 0; i < 60; i++)
        sheaf_batch_put(
            b, line,
            &(struct line){.customer_id = "a#1", .order_id = "0003", .number = i, .sku = "s"});
    must(s, sheaf_batch_run(b, NULL, &s->err));
    /* the customer and the newest three orders, in one query */
    must(s, sheaf_collect(s->map,
                          &(struct sheaf_collect){.of = SHEAF_REF(customer, .id = "a#1"),
                                                  .backward = true,
                                                  .limit = 4,
                                                  .error = &s->err},
                          &rows));
    const struct customer *who = sheaf_rows_one(rows, customer);
    assert_string_equal(who->id, "a#1");
    assert_string_equal(who->email, "ada@example.org");
    assert_int_equal(who->visits, 3);
    int next = 29;
    SHEAF_ROWS_EACH (rows, order, o) assert_int_equal(atoi(o->id), next--);
    assert_int_equal(next, 26);
    sheaf_rows_free(rows);
    /* by status, walked */
    sheaf_walk *w;
    const sheaf_row *row;
    int n = 0;
    struct sheaf_collect by_status = {
        .of = SHEAF_REF(order, .status = PENDING), .index = "GSI1", .error = &s->err};
    must(s, sheaf_walk_open(s->map, &by_status, &w));
    while (sheaf_walk_next(w, &row, &s->err) == SHEAF_OK && row) {
        assert_int_equal(sheaf_row_as(row, order)->placed_at.us, NOON + n * INT64_C(180000000));
        n++;
    }
    assert_int_equal(n, 10);
    sheaf_walk_close(w);
    must(s, sheaf_collect(s->map,
                          &(struct sheaf_collect){.of = SHEAF_REF(customer, .id = "a#1"),
                                                  .begins = SHEAF_REF(order, .id = "0003"),
                                                  .limit = 100,
                                                  .error = &s->err},
                          &rows));
    assert_int_equal(sheaf_rows_count(rows), 61);
    sheaf_rows_free(rows);
    must(s, sheaf_delete(s->map, customer, &s->err, &ada));
}

static void on(const char *url)
{
    struct shop s = {.now = NOON};
    print_message("handle %s\n", url);
    open_shop_at(&s, url);
    tell_the_story(&s);
    close_shop_at(&s);
}

static void test_the_story__holds_in_memory(void **state)
{
    (void)state;
    on(":memory:");
}

static void test_the_story__holds_in_a_directory(void **state)
{
    char dir[] = "/tmp/sheaf-mapper-XXXXXX", path[64], command[100];
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/shop.sheaf", dir);
    on(path);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

static void test_the_story__holds_on_the_handles_that_are_named(void **state)
{
    const char *urls = getenv("SHEAF_TEST_URLS");
    span word;
    (void)state;
    while (urls && next_word(&urls, &word)) {
        char url[300];
        snprintf(url, sizeof url, "%.*s", SPAN_ARG(word));
        on(url);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_story__holds_in_memory),
        cmocka_unit_test(test_the_story__holds_in_a_directory),
        cmocka_unit_test(test_the_story__holds_on_the_handles_that_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
