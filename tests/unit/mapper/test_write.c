/* Puts, updates, deletes, counters: what is stored, what is checked, what comes back. */
#include "shop.h"

#include "base/mem.h"

struct doc {
    char id[27];
    char other[28], third[37];
    const char *title;
};
SHEAF_ENTITY(doc, "Doc",
    KEY(PK, "DOC#{id}") KEY(SK, "A") ULID(id) KSUID(other) UUID(third) STR(title));

static void test_put__checks_and_increments_the_version(void **state)
{
    struct shop *s = *state;
    struct customer c = {.id = "1", .name = "Ada"}, stale;
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    assert_int_equal(c.version, 1);
    stale = c;
    c.name = "Ada L.";
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    assert_int_equal(c.version, 2);
    assert_rc(sheaf_put(s->map, customer, &s->err, &stale), SHEAF_CONDITIONAL_CHECK_FAILED);
    assert_int_equal(stale.version, 1);
    struct customer fresh = {.id = "1", .name = "Other"};
    assert_rc(sheaf_put(s->map, customer, &s->err, &fresh), SHEAF_CONDITIONAL_CHECK_FAILED);
    assert_int_equal(fresh.version, 0);
}

static void test_a_stale_write__is_handed_the_current_row(void **state)
{
    struct shop *s = *state;
    struct customer c = {.id = "1", .name = "Ada"}, stale;
    sheaf_rows *rows;
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    stale = c;
    c.name = "New";
    must(s, sheaf_update(s->map, customer, &s->err, &c));
    for (enum sheaf_save_how how = SHEAF_PUT; how <= SHEAF_DELETE; how++) {
        assert_rc(sheaf_save(s->map,
                             &(struct sheaf_save){
                                 .how = how, .of = SHEAF_OF(customer, &stale), .error = &s->err},
                             &rows),
                  SHEAF_CONDITIONAL_CHECK_FAILED);
        const struct customer *now = sheaf_rows_one(rows, customer);
        assert_string_equal(now->name, "New");
        assert_int_equal(now->version, 2);
        sheaf_rows_free(rows);
    }
}

static void test_save__gives_the_row_as_stored(void **state)
{
    struct shop *s = *state;
    struct customer c = {.id = "1", .name = "Ada"};
    struct sheaf_save q = {.of = SHEAF_OF(customer, &c), .error = &s->err};
    static const char *const names[] = {"Ada", "B", "C", "C"};
    static const enum sheaf_save_how hows[] = {SHEAF_PUT_NEW, SHEAF_PUT, SHEAF_UPDATE,
                                               SHEAF_DELETE};
    for (size_t i = 0; i < COUNT(hows); i++) {
        sheaf_rows *rows;
        q.how = hows[i];
        c.name = names[i];
        must(s, sheaf_save(s->map, &q, &rows));
        assert_string_equal(sheaf_rows_one(rows, customer)->name, names[i]);
        assert_int_equal(sheaf_rows_one(rows, customer)->version, i == 3 ? 3 : i + 1);
        sheaf_rows_free(rows);
    }
}

static void test_put_new__refuses_what_is_there(void **state)
{
    struct shop *s = *state;
    struct line l = {.customer_id = "1", .order_id = "1", .number = 1, .sku = "a"};
    must(s, sheaf_put_new(s->map, line, &s->err, &l));
    l.sku = "b";
    assert_rc(sheaf_put_new(s->map, line, &s->err, &l), SHEAF_CONDITIONAL_CHECK_FAILED);
    must(s, sheaf_put(s->map, line, &s->err, &l)); /* no version: whatever was there */
}

static void test_update__touches_only_its_fields(void **state)
{
    struct shop *s = *state;
    sheaf_result *result;
    struct customer c = {.id = "1",
                         .name = "Ada",
                         .email = "a@example.org",
                         .extra = SHEAF_ITEM({"Shoe", sheaf_int(42)})};
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    must(s, sheaf_add(s->map, customer, visits, 5, &s->err, &c));
    assert_int_equal(c.visits, 5);
    s->now += 1000000;
    struct customer mine = {
        .id = "1", .name = "Ada L.", .version = 1}; /* no e-mail, no visits, no extra */
    must(s, sheaf_update(s->map, customer, &s->err, &mine));
    const sheaf_item *item = stored(s, "CUSTOMER#1", "A", &result);
    int64_t n;
    assert_string_equal(sheaf_item_s(item, "name"), "Ada L.");
    assert_int_equal(sheaf_item_type(item, "EmailAddress"),
                     SHEAF_NONE); /* an absent optional is removed */
    assert_true(sheaf_item_i64(item, "visits", &n) && n == 5);
    assert_true(sheaf_item_i64(item, "Shoe", &n) && n == 42);
    assert_true(sheaf_item_i64(item, "version", &n) && n == 2);
    assert_string_equal(sheaf_item_s(item, "created_at"), "2020-11-25T12:00:00.000000Z");
    assert_string_equal(sheaf_item_s(item, "updated_at"), "2020-11-25T12:00:01.000000Z");
    assert_string_equal(sheaf_item_s(item, "Type"), "Customer");
    assert_int_equal(mine.updated_at.us, NOON + 1000000);
    sheaf_result_free(result);
}

static void test_unknown_attributes__survive_read_modify_write(void **state)
{
    struct shop *s = *state;
    sheaf_result *result;
    sheaf_rows *rows;
    must(s, sheaf_put_item(
                s->db,
                &(struct sheaf_put_item){
                    .table = "shop",
                    .item = SHEAF_ITEM({"PK", sheaf_s("CUSTOMER#1")}, {"SK", sheaf_s("A")},
                                       {"Type", sheaf_s("Customer")}, {"id", sheaf_s("1")},
                                       {"version", sheaf_int(7)},
                                       {"Shoe", sheaf_m(SHEAF_ITEM({"size", sheaf_int(42)}))},
                                       {"Hats", sheaf_ss(SHEAF_LIST(sheaf_s("a"), sheaf_s("b")))}),
                    .error = &s->err},
                NULL));
    must(s,
         sheaf_fetch(s->map,
                     &(struct sheaf_fetch){.of = SHEAF_REF(customer, .id = "1"), .error = &s->err},
                     &rows));
    struct customer c = *sheaf_rows_one(rows, customer);
    assert_int_equal(sheaf_item_count(c.extra), 2);
    c.name = "Ada";
    must(s, sheaf_put(s->map, customer, &s->err, &c)); /* the whole item */
    sheaf_rows_free(rows);
    const sheaf_item *item = stored(s, "CUSTOMER#1", "A", &result);
    int64_t n;
    assert_true(sheaf_item_i64(sheaf_item_m(item, "Shoe"), "size", &n) && n == 42);
    assert_int_equal(sheaf_list_count(sheaf_item_l(item, "Hats")), 2);
    assert_string_equal(sheaf_item_s(item, "name"), "Ada");
    sheaf_result_free(result);
}

static void test_update_fields__keeps_index_keys_in_step(void **state)
{
    struct shop *s = *state;
    sheaf_result *result;
    struct order o = {
        .customer_id = "1", .id = "7", .placed_at = {NOON}, .courier = "van", .total_cents = 5};
    must(s, sheaf_put(s->map, order, &s->err, &o));
    /* a struct with only what the update needs */
    struct order u = {.customer_id = "1", .id = "7", .status = SHIPPED, .version = 1};
    must(s, sheaf_update_fields(s->map, order, "status courier", &s->err, &u));
    const sheaf_item *item = stored(s, "CUSTOMER#1", "#ORDER#7", &result);
    int64_t n;
    assert_string_equal(sheaf_item_s(item, "GSI1PK"), "STATUS#SHIPPED");
    assert_string_equal(sheaf_item_s(item, "GSI1SK"),
                        "ORDER#2020-11-25T12:00:00.000000Z#7"); /* not touched */
    assert_null(sheaf_item_s(item, "GSI2PK"));                  /* no courier: not in the index */
    assert_null(sheaf_item_s(item, "courier"));
    assert_true(sheaf_item_i64(item, "total_cents", &n) && n == 5);
    assert_true(sheaf_item_i64(item, "version", &n) && n == 2);
    sheaf_result_free(result);
    refused(s, sheaf_update_fields(s->map, order, "statsu", &s->err, &u),
            "entity Order, update of statsu: that is not one of its fields");
    refused(s, sheaf_update_fields(s->map, order, "id", &s->err, &u),
            "entity Order, update of id: that is part of the table's key");
    struct customer c = {.id = "1"};
    refused(s, sheaf_update_fields(s->map, customer, "visits", &s->err, &c),
            "entity Customer, update of visits: that is a COUNTER: sheaf_add changes it");
}

static void test_sparse_index__holds_what_has_a_value(void **state)
{
    struct shop *s = *state;
    sheaf_result *result;
    put_order(s, "1", "1", PAID, 0);
    const sheaf_item *item = stored(s, "CUSTOMER#1", "#ORDER#1", &result);
    assert_null(sheaf_item_s(item, "GSI2PK"));
    assert_string_equal(sheaf_item_s(item, "GSI2SK"), "2020-11#1");
    assert_int_equal(sheaf_item_type(item, "expires_at"), SHEAF_NONE); /* a TTL of 0 is none */
    sheaf_result_free(result);
}

static void test_update__needs_an_item_of_that_version(void **state)
{
    struct shop *s = *state;
    struct customer c = {.id = "1", .name = "x"};
    assert_rc(sheaf_update(s->map, customer, &s->err, &c), SHEAF_CONDITIONAL_CHECK_FAILED);
    must(s,
         sheaf_put_item(s->db,
                        &(struct sheaf_put_item){
                            .table = "shop",
                            .item = SHEAF_ITEM({"PK", sheaf_s("CUSTOMER#1")}, {"SK", sheaf_s("A")}),
                            .error = &s->err},
                        NULL));
    must(s, sheaf_update(s->map, customer, &s->err, &c)); /* one from before there were versions */
    assert_int_equal(c.version, 1);
    c.version = 0;
    assert_rc(sheaf_update(s->map, customer, &s->err, &c), SHEAF_CONDITIONAL_CHECK_FAILED);
}

static void test_delete__checks_the_version_when_there_is_one(void **state)
{
    struct shop *s = *state;
    struct customer c = {.id = "1", .name = "x"}, stale;
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    stale = c;
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    assert_rc(sheaf_delete(s->map, customer, &s->err, &stale), SHEAF_CONDITIONAL_CHECK_FAILED);
    must(s, sheaf_delete(s->map, customer, &s->err, &c));
    must(s, sheaf_delete(s->map, customer, &s->err,
                         &(struct customer){.id = "1"})); /* nothing there: fine */
}

static void test_save__takes_a_further_condition(void **state)
{
    struct shop *s = *state;
    struct order o = {.customer_id = "1", .id = "7", .total_cents = 5};
    must(s, sheaf_put(s->map, order, &s->err, &o));
    struct sheaf_save q = {.how = SHEAF_UPDATE,
                           .of = SHEAF_OF(order, &o),
                           .fields = "status",
                           .condition_expression = "#t = :t OR #t = :u",
                           SHEAF_NAMES({"#t", "total_cents"}),
                           .expression_attribute_values =
                               SHEAF_ITEM({":t", sheaf_int(6)}, {":u", sheaf_int(7)}),
                           .error = &s->err};
    assert_rc(sheaf_save(s->map, &q, NULL), SHEAF_CONDITIONAL_CHECK_FAILED);
    q.expression_attribute_values = SHEAF_ITEM({":t", sheaf_int(5)}, {":u", sheaf_int(7)});
    must(s, sheaf_save(s->map, &q, NULL));
    q.how = SHEAF_PUT;
    refused(s, sheaf_save(s->map, &q, NULL), "fields: only an update takes them");
    q.how = (enum sheaf_save_how)9;
    refused(s, sheaf_save(s->map, &q, NULL), "how: no such write");
}

static void test_add__counts_without_a_version(void **state)
{
    struct shop *s = *state;
    struct customer c = {.id = "1", .name = "x"};
    assert_rc(sheaf_add(s->map, customer, visits, 1, &s->err, &c), SHEAF_CONDITIONAL_CHECK_FAILED);
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    for (int i = 0; i < 3; i++) must(s, sheaf_add(s->map, customer, visits, 2, &s->err, &c));
    must(s, sheaf_add(s->map, customer, visits, -1, &s->err, &c));
    assert_int_equal(c.visits, 5);
    must(s, sheaf_put(s->map, customer, &s->err, &c)); /* still version 1 */
    refused(s, sheaf_add(s->map, customer, name, 1, &s->err, &c),
            "entity Customer: name is not a COUNTER");
}

static void test_ids__are_made_when_empty_and_told_after_the_write(void **state)
{
    struct shop *s = *state;
    static const sheaf_entity *const entities[] = {&doc_entity, NULL};
    struct sheaf_table t = {.name = "shop",
                            .partition_key = "PK",
                            .sort_key = "SK",
                            .entities = entities,
                            .now_us = shop_now,
                            .now_ctx = s};
    sheaf_map *map;
    sheaf_rows *rows;
    must(s, sheaf_map_open(s->db, &t, &map, &s->err));
    struct doc a = {.title = "a"}, b = {.title = "b"}, given = {.id = "MINE", .title = "c"};
    must(s, sheaf_put_new(map, doc, &s->err, &a));
    must(s, sheaf_put_new(map, doc, &s->err, &b));
    must(s, sheaf_put_new(map, doc, &s->err, &given));
    assert_int_equal(strlen(a.id), 26);
    assert_int_equal(strlen(a.other), 27);
    assert_int_equal(strlen(a.third), 36);
    assert_true(strcmp(a.id, b.id) < 0 && strcmp(a.other, b.other) < 0 &&
                strcmp(a.third, b.third) < 0);
    assert_string_equal(given.id, "MINE");
    must(s,
         sheaf_fetch(map, &(struct sheaf_fetch){.of = {&doc_entity, &b}, .error = &s->err}, &rows));
    assert_string_equal(sheaf_rows_one(rows, doc)->title, "b");
    sheaf_rows_free(rows);
    struct doc empty = {.title = "x"};
    refused(s, sheaf_update(map, doc, &s->err, &empty),
            "entity Doc, key PK: field id has no value for template DOC#{id}");
    assert_string_equal(empty.id, "");
    sheaf_map_close(map);
}

static void test_ids__sort_by_time_and_are_what_they_say(void **state)
{
    char u[3][27], k[3][28], v[3][37];
    (void)state;
    for (int i = 0; i < 3; i++) {
        sheaf_ulid(u[i], NOON + i * 5000);
        sheaf_ksuid(k[i], NOON + i * INT64_C(5000000));
        sheaf_uuid7(v[i], NOON + i * 5000);
    }
    for (int i = 0; i < 2; i++)
        assert_true(strcmp(u[i], u[i + 1]) < 0 && strcmp(k[i], k[i + 1]) < 0 &&
                    strcmp(v[i], v[i + 1]) < 0);
    static const char alphabet[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    int64_t ms = 0;
    for (int i = 0; i < 10; i++) ms = ms * 32 + (strchr(alphabet, u[0][i]) - alphabet);
    assert_int_equal(ms, NOON / 1000);
    assert_memory_equal(v[0], "0175ff46-5200-7", 15); /* 1606305600000 in hexadecimal */
    assert_true(strchr("89ab", v[0][19]) != NULL);
    char before[27];
    sheaf_ulid(before, NOON);
    for (int i = 0; i < 1000; i++) { /* inside one millisecond */
        char next[27];
        sheaf_ulid(next, NOON);
        assert_true(strcmp(before, next) < 0);
        assert_memory_equal(before, next, 10);
        memcpy(before, next, 27);
    }
}

static void test_stamps__are_set_once_and_at_every_write(void **state)
{
    struct shop *s = *state;
    struct customer c = {.id = "1", .name = "x"};
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    assert_int_equal(c.created_at.us, NOON);
    assert_int_equal(c.updated_at.us, NOON);
    s->now += 5;
    must(s, sheaf_put(s->map, customer, &s->err, &c));
    assert_int_equal(c.created_at.us, NOON);
    assert_int_equal(c.updated_at.us, NOON + 5);
}

/* Every allocation of a put, a fetch and a collect fails in turn: an error that says so, nothing half
 * done, nothing leaked. */
static void test_calls__survive_any_failing_allocation(void **state)
{
    struct shop *s = *state;
    put_customer(s, "1", "Ada");
    for (int i = 0; i < 3; i++) put_order(s, "1", i == 0 ? "1" : i == 1 ? "2" : "3", PAID, i);
    for (int what = 0; what < 5; what++) {
        for (uint64_t n = 1;; n++) {
            struct customer c = {.id = "2", .name = "x", .extra = SHEAF_ITEM({"a", sheaf_s("b")})};
            sheaf_rows *rows = NULL;
            sheaf_rc rc;
            assert_true(n < 2000);
            mem_fail_at(n, false);
            switch (what) {
            case 0:
                rc = sheaf_save(s->map,
                                &(struct sheaf_save){.how = SHEAF_PUT_NEW,
                                                     .of = SHEAF_OF(customer, &c),
                                                     .error = &s->err},
                                &rows);
                break;
            case 1:
                rc = sheaf_fetch(s->map,
                                 &(struct sheaf_fetch){.of = SHEAF_REF(customer, .id = "1"),
                                                       .fields = "name",
                                                       .error = &s->err},
                                 &rows);
                break;
            case 2:
                rc = sheaf_collect(s->map,
                                   &(struct sheaf_collect){.of = SHEAF_REF(customer, .id = "1"),
                                                           .only = SHEAF_ONLY(order),
                                                           .limit = 2,
                                                           .error = &s->err},
                                   &rows);
                break;
            case 3:
                rc = sheaf_update(s->map, customer, &s->err,
                                  &(struct customer){.id = "1", .name = "y", .version = 1});
                break;
            default: {
                struct sheaf_table t = shop_table(s);
                sheaf_map *map;
                rc = sheaf_map_open(s->db, &t, &map, &s->err);
                sheaf_map_close(map);
            }
            }
            mem_fail_at(0, false);
            if (rc == SHEAF_OK) {
                if (what == 1) assert_string_equal(sheaf_rows_one(rows, customer)->name, "Ada");
                if (what == 2) assert_int_equal(sheaf_rows_count(rows), 2);
                sheaf_rows_free(rows);
                assert_true(n > 1);
                break;
            }
            /* the version moves with the write: a retry of a write that was not made passes */
            if (rc != SHEAF_NOMEM)
                fail_msg("call %d, allocation %d: %s: %s", what, (int)n, sheaf_rc_exception(rc),
                         s->err.message);
            if (what == 0 || what == 3) assert_int_equal(c.version, 0);
            assert_null(rows);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_TEST(test_put__checks_and_increments_the_version),
        SHOP_TEST(test_a_stale_write__is_handed_the_current_row),
        SHOP_TEST(test_save__gives_the_row_as_stored),
        SHOP_TEST(test_put_new__refuses_what_is_there),
        SHOP_TEST(test_update__touches_only_its_fields),
        SHOP_TEST(test_unknown_attributes__survive_read_modify_write),
        SHOP_TEST(test_update_fields__keeps_index_keys_in_step),
        SHOP_TEST(test_sparse_index__holds_what_has_a_value),
        SHOP_TEST(test_update__needs_an_item_of_that_version),
        SHOP_TEST(test_delete__checks_the_version_when_there_is_one),
        SHOP_TEST(test_save__takes_a_further_condition),
        SHOP_TEST(test_add__counts_without_a_version),
        SHOP_TEST(test_ids__are_made_when_empty_and_told_after_the_write),
        SHOP_TEST(test_ids__sort_by_time_and_are_what_they_say),
        SHOP_TEST(test_stamps__are_set_once_and_at_every_write),
        SHOP_TEST(test_calls__survive_any_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
