/* Fetching, collecting, paging and walking. */
#include "shop.h"

/* Customer 1 with five orders of two lines, and one of customer 2. */
static int open_full(void **state)
{
    open_shop(state);
    struct shop *s = *state;
    put_customer(s, "1", "Ada");
    put_customer(s, "2", "Grace");
    for (int i = 1; i <= 5; i++) {
        char id[12];
        snprintf(id, sizeof id, "%d", i == 5 ? 12 : i);
        put_order(s, "1", id, i % 2 ? PAID : PENDING, i);
        put_line(s, "1", id, 1);
        put_line(s, "1", id, 2);
    }
    put_order(s, "2", "1", PAID, 9);
    return 0;
}
#define FULL_TEST(f) cmocka_unit_test_setup_teardown(f, open_full, close_shop)

/* "Customer Order:3 Line:3/1": the rows in order. */
static const char *told(const sheaf_rows *rows)
{
    static char text[1000];
    size_t n = 0;
    text[0] = '\0';
    SHEAF_ROWS_ALL (rows, row) {
        const struct order *o = sheaf_row_as(row, order);
        const struct line *l = sheaf_row_as(row, line);
        const char *gap = n ? " " : "";
        if (sheaf_row_as(row, customer))
            n += (size_t)snprintf(text + n, sizeof text - n, "%sCustomer", gap);
        else if (o)
            n += (size_t)snprintf(text + n, sizeof text - n, "%sOrder:%s", gap, o->id);
        else if (l)
            n += (size_t)snprintf(text + n, sizeof text - n, "%sLine:%s/%d", gap, l->order_id,
                                  l->number);
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%s?", gap);
    }
    return text;
}

static void test_fetch__gives_one_row_or_none(void **state)
{
    struct shop *s = *state;
    sheaf_rows *rows;
    must(s,
         sheaf_fetch(s->map,
                     &(struct sheaf_fetch){.of = SHEAF_REF(customer, .id = "1"), .error = &s->err},
                     &rows));
    assert_int_equal(sheaf_rows_count(rows), 1);
    assert_string_equal(sheaf_rows_one(rows, customer)->name, "Ada");
    assert_null(sheaf_rows_one(rows, order));
    sheaf_rows_free(rows);
    must(s,
         sheaf_fetch(s->map,
                     &(struct sheaf_fetch){.of = SHEAF_REF(customer, .id = "9"), .error = &s->err},
                     &rows));
    assert_int_equal(sheaf_rows_count(rows), 0);
    assert_null(sheaf_rows_one(rows, customer));
    sheaf_rows_free(rows);
    must(s, sheaf_fetch(s->map,
                        &(struct sheaf_fetch){.of = SHEAF_REF(order, .customer_id = "1", .id = "3"),
                                              .fields = "total_cents",
                                              .consistent_read = true,
                                              .error = &s->err},
                        &rows));
    const struct order *o = sheaf_rows_one(rows, order);
    assert_int_equal(o->total_cents, 103);
    assert_int_equal(o->version, 0); /* not asked for */
    assert_string_equal(o->id, "3"); /* told by the key */
    sheaf_rows_free(rows);
}

static void test_fetch__names_what_is_missing(void **state)
{
    struct shop *s = *state;
    sheaf_rows *rows;
    refused(s,
            sheaf_fetch(
                s->map,
                &(struct sheaf_fetch){.of = SHEAF_REF(order, .customer_id = "1"), .error = &s->err},
                &rows),
            "entity Order, key SK: field id has no value for template #ORDER#{id}");
    assert_null(rows);
    refused(s,
            sheaf_fetch(s->map,
                        &(struct sheaf_fetch){.of = SHEAF_REF(customer, .id = "1"),
                                              .fields = "name nme",
                                              .error = &s->err},
                        &rows),
            "fields: nme is no field of entity Customer");
}

static void test_collect__gives_the_rows_that_the_sort_key_selects(void **state)
{
    struct shop *s = *state;
    struct sheaf_ref of = SHEAF_REF(customer, .id = "1");
    const struct {
        struct sheaf_collect q;
        const char *rows;
    } cases[] = {
        {{.of = of, .limit = 3}, "Order:1 Line:1/1 Line:1/2"},
        {{.of = of, .backward = true, .limit = 2}, "Customer Line:4/2"},
        {{.of = of, .only = SHEAF_ONLY(order)}, "Order:1 Order:12 Order:2 Order:3 Order:4"},
        {{.of = of, .only = SHEAF_ONLY(order), .backward = true, .limit = 2}, "Order:4 Order:3"},
        /* a prefix of a template */
        {{.of = of, .begins = SHEAF_REF(line, .order_id = "2"), .before = "number"},
         "Line:2/1 Line:2/2"},
        {{.of = of, .begins = SHEAF_REF(line, .order_id = "2", .number = 2)}, "Line:2/2"},
        {{.of = of, .begins = SHEAF_REF(order, .id = NULL), .only = SHEAF_ONLY(line), .limit = 1},
         "Line:1/1"},
        /* a whole value ends where it ends: not Order:12 */
        {{.of = of, .begins = SHEAF_REF(order, .id = "1")}, "Order:1 Line:1/1 Line:1/2"},
        {{.of = of, .begins = SHEAF_REF(customer, .id = "1")}, "Customer"},
        /* ranges, both ends inclusive */
        {{.of = of, .from = SHEAF_REF(order, .id = "3")},
         "Order:3 Line:3/1 Line:3/2 Order:4 Line:4/1 Line:4/2 Customer"},
        {{.of = of, .from = SHEAF_REF(order, .id = "2"), .to = SHEAF_REF(order, .id = "3")},
         "Order:2 Line:2/1 Line:2/2 Order:3"},
        {{.of = of,
          .from = SHEAF_REF(line, .order_id = "3", .number = 1),
          .to = SHEAF_REF(line, .order_id = "3", .number = 2)},
         "Line:3/1 Line:3/2"},
        {{.of = of, .to = SHEAF_REF(order, .id = "12"), .only = SHEAF_ONLY(order)},
         "Order:1 Order:12"},
        /* indexes */
        {{.of = SHEAF_REF(order, .status = PAID), .index = "GSI1"},
         "Order:1 Order:3 Order:12 Order:1"},
        {{.of = SHEAF_REF(order, .status = PAID),
          .index = "GSI1",
          .begins = SHEAF_REF(order, .placed_at = {NOON + INT64_C(3 * 3600000000)})},
         "Order:3"},
        {{.of = SHEAF_REF(order, .status = PAID),
          .index = "GSI1",
          .from = SHEAF_REF(order, .placed_at = {NOON + INT64_C(3 * 3600000000)}),
          .to = SHEAF_REF(order, .placed_at = {NOON + INT64_C(5 * 3600000000)})},
         "Order:3 Order:12"},
        /* a filter drops rows, the limit counts those that are left */
        {{.of = of,
          .filter_expression = "total_cents > :t",
          .expression_attribute_values = SHEAF_ITEM({":t", sheaf_int(102)}),
          .limit = 2},
         "Order:12 Order:3"},
        {{.of = of,
          .only = SHEAF_ONLY(order),
          .filter_expression = "#t = :t OR #t = :u",
          SHEAF_NAMES({"#t", "total_cents"}),
          .expression_attribute_values =
              SHEAF_ITEM({":t", sheaf_int(104)}, {":u", sheaf_int(101)})},
         "Order:1 Order:4"},
        {{.of = SHEAF_REF(customer, .id = "nobody")}, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sheaf_collect q = cases[i].q;
        sheaf_rows *rows;
        q.error = &s->err;
        must(s, sheaf_collect(s->map, &q, &rows));
        if (strcmp(told(rows), cases[i].rows) != 0)
            fail_msg("case %zu: got \"%s\", wanted \"%s\"", i, told(rows), cases[i].rows);
        sheaf_rows_free(rows);
    }
}

static void test_collect__says_what_is_wrong_with_a_query(void **state)
{
    struct shop *s = *state;
    struct sheaf_ref of = SHEAF_REF(customer, .id = "1");
    const struct {
        struct sheaf_collect q;
        const char *message;
    } cases[] = {
        {{.of = SHEAF_REF(customer, .name = "x")},
         "entity Customer, key PK: field id has no value"},
        {{.of = of, .index = "GSI7"}, "table shop has no index GSI7"},
        {{.of = of, .index = "GSI1"},
         "entity Customer has nothing for GSI1PK, a key of index GSI1"},
        {{.of = of, .begins = SHEAF_REF(order, .id = "1"), .from = SHEAF_REF(order, .id = "1")},
         "A query takes begins, or from and to, but not both"},
        {{.of = of, .begins = SHEAF_REF(order, .id = "1"), .before = "idd"},
         "before: idd is no field of entity Order"},
        {{.of = of, .fields = "nme"}, "fields: nme is no field of any entity of table shop"},
        {{.of = of, .token = "!"}, "The page token is not one of ours"},
        {{.of = of, .token = ""}, "The page token is cut off"},
        {{.of = {NULL, NULL}}, "entity (NULL) is not one of table shop"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sheaf_collect q = cases[i].q;
        sheaf_rows *rows;
        q.error = &s->err;
        refused(s, sheaf_collect(s->map, &q, &rows), cases[i].message);
        assert_null(rows);
    }
}

static void test_rows__are_reached_by_entity_and_in_order(void **state)
{
    struct shop *s = *state;
    sheaf_rows *rows;
    size_t n, seen = 0;
    must(s, sheaf_put_item(s->db,
                           &(struct sheaf_put_item){
                               .table = "shop",
                               .item = SHEAF_ITEM({"PK", sheaf_s("CUSTOMER#1")},
                                                  {"SK", sheaf_s("B")}, {"Type", sheaf_s("Note")}),
                               .error = &s->err},
                           NULL));
    must(s, sheaf_collect(
                s->map,
                &(struct sheaf_collect){.of = SHEAF_REF(customer, .id = "1"), .error = &s->err},
                &rows));
    assert_int_equal(sheaf_rows_count(rows), 17);
    const struct order *const *orders = sheaf_rows_all(rows, order, &n);
    assert_int_equal(n, 5);
    SHEAF_ROWS_EACH (rows, order, o) assert_ptr_equal(o, orders[seen++]);
    assert_int_equal(seen, 5);
    assert_string_equal(sheaf_rows_one(rows, customer)->name, "Ada");
    /* a row of no entity can be read all the same */
    const sheaf_row *last = NULL;
    SHEAF_ROWS_ALL (rows, row) last = row;
    assert_null(sheaf_row_entity(last));
    assert_null(sheaf_row_as(last, customer));
    assert_string_equal(sheaf_item_s(sheaf_row_item(last), "Type"), "Note");
    assert_null(sheaf_rows_token(rows));
    sheaf_rows_free(rows);
}

static void test_keys_only_index__still_gives_typed_rows(void **state)
{
    struct shop *s = *state;
    sheaf_rows *rows;
    struct order o = {
        .customer_id = "1", .id = "20", .courier = "van#1", .placed_at = {NOON}, .total_cents = 5};
    must(s, sheaf_put(s->map, order, &s->err, &o));
    struct sheaf_collect q = {.of = SHEAF_REF(order, .courier = "van#1"),
                              .index = "GSI2",
                              .only = SHEAF_ONLY(order),
                              .error = &s->err};
    must(s, sheaf_collect(s->map, &q, &rows));
    assert_int_equal(sheaf_rows_count(rows), 1);
    const struct order *got = sheaf_rows_one(rows, order);
    assert_string_equal(got->customer_id, "1");
    assert_string_equal(got->id, "20");
    assert_string_equal(got->courier, "van#1");
    assert_int_equal(got->total_cents, 0);
    sheaf_rows_free(rows);
    q.only = SHEAF_ONLY(line);
    must(s, sheaf_collect(s->map, &q, &rows));
    assert_int_equal(sheaf_rows_count(rows), 0);
    sheaf_rows_free(rows);
}

/* Pages of every size, forwards and backwards, filtered and not, give the same rows as one. */
static void test_pages__together_are_the_whole(void **state)
{
    struct shop *s = *state;
    for (uint32_t limit = 1; limit <= 7; limit++)
        for (int how = 0; how < 8; how++) {
            struct sheaf_collect q = {
                .of = SHEAF_REF(customer, .id = "1"), .backward = how & 1, .error = &s->err};
            struct sheaf_ref first = SHEAF_REF(order, .id = "1");
            if (how & 2) q.only = SHEAF_ONLY(line);
            if (how & 4) q.begins = first;
            sheaf_rows *whole, *rows = NULL;
            char all[1000], parts[1000] = "", token[2000];
            must(s, sheaf_collect(s->map, &q, &whole));
            strcpy(all, told(whole));
            sheaf_rows_free(whole);
            q.limit = limit;
            do {
                sheaf_rows_free(rows);
                must(s, sheaf_collect(s->map, &q, &rows));
                assert_true(sheaf_rows_count(rows) <= limit);
                if (sheaf_rows_count(rows) && parts[0]) strcat(parts, " ");
                strcat(parts, told(rows));
                if (sheaf_rows_token(rows)) q.token = strcpy(token, sheaf_rows_token(rows));
            } while (sheaf_rows_token(rows));
            sheaf_rows_free(rows);
            assert_string_equal(parts, all);
        }
}

static void test_token__is_url_safe_and_bound_to_its_query(void **state)
{
    struct shop *s = *state;
    struct sheaf_collect q = {.of = SHEAF_REF(customer, .id = "1"), .limit = 2, .error = &s->err},
                         other;
    static const char bound[] = "The page token belongs to another query, or was changed";
    sheaf_rows *rows, *more;
    char token[2000];
    must(s, sheaf_collect(s->map, &q, &rows));
    strcpy(token, sheaf_rows_token(rows));
    sheaf_rows_free(rows);
    assert_int_equal(
        strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
        strlen(token));
    q.token = token;
    other = q;
    other.backward = true;
    refused(s, sheaf_collect(s->map, &other, &more), bound);
    other = q;
    other.of = (struct sheaf_ref)SHEAF_REF(customer, .id = "2");
    refused(s, sheaf_collect(s->map, &other, &more), bound);
    other = q;
    other.begins = (struct sheaf_ref)SHEAF_REF(order, .id = NULL);
    refused(s, sheaf_collect(s->map, &other, &more), bound);
    other = q;
    other.of = (struct sheaf_ref)SHEAF_REF(order, .status = PAID);
    other.index = "GSI1";
    refused(s, sheaf_collect(s->map, &other, &more), bound);
    /* each letter of it matters */
    for (size_t i = 0; token[i]; i++) {
        char kept = token[i];
        token[i] = kept == 'A' ? 'B' : 'A';
        assert_rc(sheaf_collect(s->map, &q, &more), SHEAF_VALIDATION);
        token[i] = kept;
    }
    /* another map of the same secret takes it, as another process would; another secret does not */
    struct sheaf_table t = shop_table(s);
    sheaf_map *map;
    must(s, sheaf_map_open(s->db, &t, &map, &s->err));
    must(s, sheaf_collect(map, &q, &more));
    assert_string_equal(told(more), "Line:1/2 Order:12");
    sheaf_rows_free(more);
    sheaf_map_close(map);
    t.token_secret = "another";
    must(s, sheaf_map_open(s->db, &t, &map, &s->err));
    refused(s, sheaf_collect(map, &q, &more), bound);
    sheaf_map_close(map);
}

/* The bytes at the head of token.c, in hexadecimal behind the version. */
static void test_token__is_laid_out_as_drawn(void **state)
{
    struct shop *s = *state;
    struct buf b;
    struct ctx c;
    struct arena arena;
    sheaf_item start;
    const struct token_query q = {&s->map->indexes[0], SPAN_LIT("cond"), false};
    arena_init(&arena, 1 << 20);
    c = (struct ctx){&arena, &s->err};
    buf_init(&b, &arena, 1 << 16);
    must(s, token_put(s->map, &q, SHEAF_ITEM({"PK", sheaf_s("p")}, {"SK", sheaf_s("s")}), &s->err,
                      &b));
    /* 01 | 01 0001 'p' | 01 0001 's' | tag: 9 + 16 bytes, base64url without padding */
    assert_memory_equal(b.p, "AQEAAXABAAFz", 12);
    assert_int_equal(strlen((char *)b.p), 34);
    must(s, token_get(&c, s->map, &q, (char *)b.p, &start));
    assert_string_equal(sheaf_item_s(&start, "PK"), "p");
    assert_string_equal(sheaf_item_s(&start, "SK"), "s");
    arena_deinit(&arena);
}

static void test_walk__goes_over_pages_and_resumes(void **state)
{
    struct shop *s = *state;
    struct sheaf_collect q = {
        .of = SHEAF_REF(customer, .id = "1"), .only = SHEAF_ONLY(order), .error = &s->err};
    sheaf_walk *w;
    const sheaf_row *row;
    const char *token;
    char kept[2000], text[200] = "";
    must(s, sheaf_walk_open(s->map, &q, &w));
    for (int i = 0; i < 2; i++) {
        must(s, sheaf_walk_next(w, &row, &s->err));
        strcat(text, sheaf_row_as(row, order)->id);
        strcat(text, " ");
    }
    must(s, sheaf_walk_token(w, &token, &s->err));
    strcpy(kept, token);
    sheaf_walk_close(w);
    q.token = kept;
    must(s, sheaf_walk_open(s->map, &q, &w));
    while (sheaf_walk_next(w, &row, &s->err) == SHEAF_OK && row) {
        strcat(text, sheaf_row_as(row, order)->id);
        strcat(text, " ");
    }
    assert_string_equal(text, "1 12 2 3 4 ");
    must(s, sheaf_walk_next(w, &row, &s->err));
    assert_null(row);
    must(s, sheaf_walk_token(w, &token, &s->err));
    assert_null(token);
    sheaf_walk_close(w);
    q.token = NULL;
    q.limit = 3;
    must(s, sheaf_walk_open(s->map, &q, &w));
    int n = 0;
    while (sheaf_walk_next(w, &row, &s->err) == SHEAF_OK && row) n++;
    assert_int_equal(n, 3);
    sheaf_walk_close(w);
    q.index = "GSI7";
    assert_rc(sheaf_walk_open(s->map, &q, &w), SHEAF_VALIDATION);
    assert_null(w);
}

/* More than the megabyte of one page. */
static void test_collections_larger_than_a_page__are_walked_whole(void **state)
{
    struct shop *s = *state;
    static char name[100001];
    memset(name, 'x', sizeof name - 1);
    for (int i = 0; i < 25; i++) {
        struct line l = {.customer_id = "big", .order_id = "1", .number = i, .sku = name};
        must(s, sheaf_put(s->map, line, &s->err, &l));
    }
    struct sheaf_collect q = {.of = SHEAF_REF(customer, .id = "big"), .error = &s->err};
    sheaf_rows *rows;
    sheaf_walk *w;
    const sheaf_row *row;
    must(s, sheaf_collect(s->map, &q, &rows));
    assert_true(sheaf_rows_count(rows) < 25 && sheaf_rows_token(rows));
    sheaf_rows_free(rows);
    q.limit = 25;
    must(s, sheaf_collect(s->map, &q, &rows));
    assert_int_equal(sheaf_rows_count(rows), 25);
    sheaf_rows_free(rows);
    q.limit = 0;
    int n = 0;
    must(s, sheaf_walk_open(s->map, &q, &w));
    while (sheaf_walk_next(w, &row, &s->err) == SHEAF_OK && row)
        assert_int_equal(sheaf_row_as(row, line)->number, n++);
    assert_int_equal(n, 25);
    sheaf_walk_close(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FULL_TEST(test_fetch__gives_one_row_or_none),
        FULL_TEST(test_fetch__names_what_is_missing),
        FULL_TEST(test_collect__gives_the_rows_that_the_sort_key_selects),
        FULL_TEST(test_collect__says_what_is_wrong_with_a_query),
        FULL_TEST(test_rows__are_reached_by_entity_and_in_order),
        FULL_TEST(test_keys_only_index__still_gives_typed_rows),
        FULL_TEST(test_pages__together_are_the_whole),
        FULL_TEST(test_token__is_url_safe_and_bound_to_its_query),
        FULL_TEST(test_token__is_laid_out_as_drawn),
        FULL_TEST(test_walk__goes_over_pages_and_resumes),
        FULL_TEST(test_collections_larger_than_a_page__are_walked_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
