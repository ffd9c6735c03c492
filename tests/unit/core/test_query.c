/* Query: which items in which order, pages and how they go on, what is returned, what it costs, and
 * what is refused in which words. */
#include "base/mem.h"
#include "support/exprs.h"
#include "support/pages.h"

#define DYNALITE_QUERY "dynalite test/query.js"
#define DYNALITE_VALIDATIONS "dynalite validations/index.js"
#define PARITY_SELECT "dynamodb-conformance tier1/scan/select"
#define PARITY_INDEX "dynamodb-conformance error-messages/partiqlIndexQualifier"
#define PARITY_MULTI "paritysuite dynamodb-conformance tier1/query/multiAttributeGsiKey"
#define LOCAL_SELECT "DynamoDB Local, PaginatingFunction"
#define USERS_BACKFILL "messages quoted by users of the service"

#define INVALID "One or more parameter values were invalid: "
#define START "The provided starting key is invalid"
#define NO_MATCH "The provided key element does not match the schema"
#define FILTER_KEY                                                                                 \
    "Filter Expression can only contain non-primary key attributes: Primary key attribute: "

static struct core_test t;
static struct core_page page;

static int setup_with(const struct core_options *o)
{
    core_test_init(&t, o);
    test_table(t.core, "H", "a:S", NULL, NULL);
    test_table(t.core, "T", "PK:S", "SK:S", NULL);
    test_table(t.core, "N", "PK:S", "SK:N", NULL);
    test_table(t.core, "R", "a:S", "b:S",
               "local index1(a:S|c:S) ALL; local index2(a:S|d:S) INCLUDE c; index3(c:S) ALL;"
               "index4(c:S|d:S) INCLUDE e; local index5(a:S|e:S) KEYS_ONLY");
    test_table(t.core, "M", "pk:S", NULL, "gsi(h:S|a:S,b:S,c:S,d:S) ALL; two(h:S,a:S|b:S) ALL");
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return setup_with(NULL);
}

static int setup_extension(void **state)
{
    (void)state;
    return setup_with(&(struct core_options){.allow_sort_key_filter = true});
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

static const char *list(const struct page_req *r, const char *attribute)
{
    page_must(&t, r, &page);
    return page_list(&t, &page, attribute);
}

/* {PK: 'a', SK: '00', v: 0} and so on. */
static void put_many(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        char text[100];
        sprintf(text, "{PK: 'a', SK: '%02u', v: %u, e: %u}", i, i, i % 2);
        test_put(&t, "T", text);
    }
    test_put(&t, "T", "{PK: 'b', SK: '00', v: 99}");
}

/* ---- conditions and order ---- */

static void test_query__reads_what_the_condition_names_in_order(void **state)
{
    (void)state;
    put_many(10);
    static const struct {
        const char *condition, *values, *want;
        bool is_backward;
    } rows[] = {
        {"PK = :p", "{':p': 'a'}", "00 01 02 03 04 05 06 07 08 09", false},
        {"PK = :p", "{':p': 'a'}", "09 08 07 06 05 04 03 02 01 00", true},
        {"PK = :p", "{':p': 'none'}", "", false},
        {"PK = :p AND SK = :s", "{':p': 'a', ':s': '03'}", "03", false},
        {"PK = :p AND SK = :s", "{':p': 'a', ':s': '0'}", "", false},
        {"PK = :p AND SK < :s", "{':p': 'a', ':s': '03'}", "00 01 02", false},
        {"PK = :p AND SK <= :s", "{':p': 'a', ':s': '03'}", "03 02 01 00", true},
        {"PK = :p AND SK > :s", "{':p': 'a', ':s': '06'}", "07 08 09", false},
        {":s <= SK AND :p = PK", "{':p': 'a', ':s': '06'}", "06 07 08 09", false},
        {"PK = :p AND SK BETWEEN :s AND :t", "{':p': 'a', ':s': '02', ':t': '04'}", "02 03 04",
         false},
        {"PK = :p AND begins_with(SK, :s)", "{':p': 'a', ':s': '0'}",
         "09 08 07 06 05 04 03 02 01 00", true},
        {"PK = :p AND begins_with(SK, :s)", "{':p': 'a', ':s': '05'}", "05", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = list(QUERY(.condition = rows[i].condition, .values = rows[i].values,
                                     .is_backward = rows[i].is_backward),
                               "SK");
        assert_string_equal(got, rows[i].want);
        assert_null(page.last_key.p);
        assert_int_equal(page.scanned, page.matched);
        assert_int_equal(page.matched, page.n);
        assert_non_null(page.items);
        assert_true(page.position > 0);
    }
}

static void test_query__orders_numbers_by_value(void **state)
{
    (void)state;
    static const char *const numbers[] = {"3.14159", "-20000000000", "0", "31.4", "-0.00001",
                                          "1",       "-4.1",         "2", "-710", "14000000000"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[100];
        sprintf(text, "{PK: 'a', SK: %s}", numbers[i]);
        test_put(&t, "N", text);
    }
    assert_string_equal(
        list(QUERY(.table = "N", .condition = "PK = :p", .values = "{':p': 'a'}"), "SK"),
        "-20000000000 -710 -4.1 -0.00001 0 1 2 3.14159 31.4 14000000000");
}

/* ---- pages ---- */

static void test_query__ends_a_page_at_its_limit(void **state)
{
    (void)state;
    put_many(5);
    struct page_req r = {.condition = "PK = :p", .values = "{':p': 'a'}", .limit = 2};
    assert_string_equal(list(&r, "SK"), "00 01");
    assert_string_equal(test_text(&t, page.last_key), "{PK: 'a', SK: '01'}");
    r.start_item = page.last_key;
    assert_string_equal(list(&r, "SK"), "02 03");
    r.start_item = page.last_key;
    assert_string_equal(list(&r, "SK"), "04");
    assert_null(page.last_key.p);
    /* Exactly at the end there is a key all the same, and nothing behind it. */
    r = (struct page_req){.condition = "PK = :p", .values = "{':p': 'a'}", .limit = 5};
    assert_string_equal(list(&r, "SK"), "00 01 02 03 04");
    assert_string_equal(test_text(&t, page.last_key), "{PK: 'a', SK: '04'}");
    r.start_item = page.last_key;
    assert_string_equal(list(&r, "SK"), "");
    assert_null(page.last_key.p);
    /* Limit counts what is evaluated, not what passes the filter. */
    r = (struct page_req){.condition = "PK = :p",
                          .filter = "e = :one",
                          .values = "{':p': 'a', ':one': 1}",
                          .limit = 3};
    assert_string_equal(list(&r, "SK"), "01");
    assert_int_equal(page.scanned, 3);
    assert_int_equal(page.matched, 1);
    assert_string_equal(test_text(&t, page.last_key), "{PK: 'a', SK: '02'}");
    /* A start key need not exist; backward goes on below it. */
    r = (struct page_req){.condition = "PK = :p",
                          .values = "{':p': 'a'}",
                          .start = "{PK: 'a', SK: '025'}",
                          .is_backward = true};
    assert_string_equal(list(&r, "SK"), "02 01 00");
    r.is_backward = false;
    assert_string_equal(list(&r, "SK"), "03 04");
}

static void put_sized(uint32_t i, uint32_t bytes)
{
    uint32_t n = bytes - 8; /* 2+1 + 2+2 + 1 */
    char *text = arena_alloc(&t.arena, n + 100);
    assert_non_null(text);
    int at = sprintf(text, "{PK: 'a', SK: '%02u', v: '", i);
    memset(text + at, 'x', n);
    memcpy(text + at + n, "'}", 3);
    test_put(&t, "T", text);
}

static void test_query__ends_a_page_with_the_item_that_reaches_1_mb(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) put_sized(i, 262144);
    struct page_req r = {.condition = "PK = :p", .values = "{':p': 'a'}"};
    assert_string_equal(list(&r, "SK"), "00 01 02 03");
    assert_string_equal(test_text(&t, page.last_key), "{PK: 'a', SK: '03'}");
    r.start_item = page.last_key;
    assert_string_equal(list(&r, "SK"), "04 05");
    assert_null(page.last_key.p);
    put_sized(0, 262143); /* one byte short of it: the item that passes it is still returned */
    r.start_item = SPAN_NONE;
    assert_string_equal(list(&r, "SK"), "00 01 02 03 04");
    assert_string_equal(test_text(&t, page.last_key), "{PK: 'a', SK: '04'}");
    /* Before the filter. */
    r.filter = "attribute_not_exists(v)";
    assert_string_equal(list(&r, "SK"), "");
    assert_int_equal(page.scanned, 5);
    assert_non_null(page.last_key.p);
}

/* ---- indexes ---- */

static void put_indexed(void)
{
    test_put(&t, "R", "{a: 'p', b: '1', c: 'x', d: 'k3', e: 'e1', z: 1}");
    test_put(&t, "R", "{a: 'p', b: '2', c: 'y', d: 'k2', e: 'e2', z: 2}");
    test_put(&t, "R", "{a: 'p', b: '3', c: 'x', d: 'k1', z: 3}");
    test_put(&t, "R", "{a: 'q', b: '1', c: 'x', d: 'k2', z: 4}");
    test_put(&t, "R", "{a: 'p', b: '4', z: 5}");
}

static void test_query__reads_indexes_sparse_and_in_their_order(void **state)
{
    (void)state;
    put_indexed();
    assert_string_equal(list(QUERY(.table = "R", .index = "index2", .condition = "a = :a",
                                   .values = "{':a': 'p'}", .is_consistent = true),
                             "b"),
                        "3 2 1");
    assert_string_equal(page_text(&t, &page),
                        "{a: 'p', b: '3', c: 'x', d: 'k1'} {a: 'p', b: '2', c: 'y', d: 'k2'} "
                        "{a: 'p', b: '1', c: 'x', d: 'k3'}");
    assert_string_equal(
        list(QUERY(.table = "R", .index = "index4", .condition = "c = :c AND d >= :d",
                   .values = "{':c': 'x', ':d': 'k2'}", .is_backward = true),
             "z"),
        "? ?");
    assert_string_equal(page_text(&t, &page),
                        "{a: 'p', b: '1', c: 'x', d: 'k3', e: 'e1'} {a: 'q', b: '1', c: 'x', d: "
                        "'k2'}");
    page_must(
        &t, QUERY(.table = "R", .index = "index3", .condition = "c = :c", .values = "{':c': 'x'}"),
        &page);
    assert_int_equal(page.n, 3);
    /* LastEvaluatedKey has the table's key and the index's. */
    struct page_req r = {.table = "R",
                         .index = "index4",
                         .condition = "c = :c",
                         .values = "{':c': 'x'}",
                         .limit = 1};
    assert_string_equal(list(&r, "d"), "k1");
    assert_string_equal(test_text(&t, page.last_key), "{a: 'p', b: '3', c: 'x', d: 'k1'}");
    r.start_item = page.last_key;
    assert_string_equal(list(&r, "d"), "k2");
}

static void test_query__fetches_what_a_local_index_does_not_store(void **state)
{
    (void)state;
    put_indexed();
    struct page_req r = {.table = "R",
                         .index = "index5",
                         .condition = "a = :a",
                         .values = "{':a': 'p'}",
                         .select = CORE_SELECT_ALL,
                         .capacity = CORE_CAPACITY_INDEXES};
    page_must(&t, &r, &page);
    assert_string_equal(page_text(&t, &page),
                        "{a: 'p', b: '1', c: 'x', d: 'k3', e: 'e1', z: 1} {a: 'p', b: '2', c: 'y', "
                        "d: 'k2', e: 'e2', z: 2}");
    /* Half a unit for the index, and half a unit for each item fetched. */
    assert_true(page.capacity.units == 1.5);
    assert_int_equal(page.capacity.n_arms, 2);
    assert_true(page.capacity.arms[0].units == 1);
    assert_true(page.capacity.arms[1].units == 0.5);
    assert_true(page.capacity.arms[1].is_local);
    assert_span(page.capacity.arms[1].index, "index5");
    r.select = CORE_SELECT_DEFAULT;
    r.projection = "z, e";
    r.filter = "z > :one";
    r.values = "{':a': 'p', ':one': 1}";
    page_must(&t, &r, &page);
    assert_string_equal(page_text(&t, &page), "{e: 'e2', z: 2}");
    assert_int_equal(page.scanned, 2);
    r = (struct page_req){.table = "R",
                          .index = "index5",
                          .condition = "a = :a",
                          .values = "{':a': 'p'}",
                          .capacity = CORE_CAPACITY_INDEXES};
    page_must(&t, &r, &page);
    assert_string_equal(page_text(&t, &page),
                        "{a: 'p', b: '1', e: 'e1'} {a: 'p', b: '2', e: 'e2'}");
    assert_true(page.capacity.units == 0.5);
    assert_true(page.capacity.arms[0].units == 0);
}

static void test_query__ends_a_page_by_what_it_fetched(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        char *text = arena_alloc(&t.arena, 301000);
        assert_non_null(text);
        int at = sprintf(text, "{a: 'p', b: '%u', e: 'e%u', v: '", i, i);
        memset(text + at, 'x', 300000);
        memcpy(text + at + 300000, "'}", 3);
        test_put(&t, "R", text);
    }
    struct page_req r = {.table = "R",
                         .index = "index5",
                         .condition = "a = :a",
                         .values = "{':a': 'p'}",
                         .select = CORE_SELECT_ALL};
    assert_string_equal(list(&r, "b"), "0 1 2 3");
    assert_string_equal(test_text(&t, page.last_key), "{a: 'p', b: '3', e: 'e3'}");
    r.select = CORE_SELECT_DEFAULT;
    assert_string_equal(list(&r, "b"), "0 1 2 3 4");
}

/* paritysuite dynamodb-conformance, tier1/query/multiAttributeGsiKey, run on AWS. */
static void test_query__takes_keys_of_several_attributes(void **state)
{
    (void)state;
    test_put(&t, "M", "{pk: 'p1', h: 'o1', a: 'T', b: 'live', c: 'b', d: 'r1'}");
    test_put(&t, "M", "{pk: 'p2', h: 'o1', a: 'T', b: 'live', c: 'a', d: 'r2'}");
    test_put(&t, "M", "{pk: 'p3', h: 'o1', a: 'T', b: 'live', c: 'a', d: 'r1'}");
    test_put(&t, "M", "{pk: 'p4', h: 'o1', a: 'T', b: 'draft', c: 'c', d: 'r1'}");
    test_put(&t, "M", "{pk: 'p5', h: 'o1', a: 'F', b: 'live', c: 'a', d: 'r0'}");
    test_put(&t, "M", "{pk: 'p6', h: 'o1', a: 'T', b: 'live', d: 'r1'}");
#define OF "':h': 'o1', ':a': 'T'"
    static const struct {
        const char *condition, *values, *want;
        bool is_backward;
    } rows[] = {
        {"h = :h", "{':h': 'o1'}", "p5 p4 p3 p2 p1", false},
        {"h = :h AND a = :a", "{" OF "}", "p4 p3 p2 p1", false},
        {"h = :h AND a = :a", "{" OF "}", "p1 p2 p3 p4", true},
        {"h = :h AND a = :a AND b = :b", "{" OF ", ':b': 'live'}", "p3 p2 p1", false},
        {"b = :b AND h = :h AND a = :a", "{" OF ", ':b': 'live'}", "p3 p2 p1", false},
        {"h = :h AND a = :a AND b = :b AND c > :c", "{" OF ", ':b': 'live', ':c': 'a'}", "p1",
         false},
        {"h = :h AND a = :a AND b < :b", "{" OF ", ':b': 'live'}", "p4", false},
        {"h = :h AND a = :a AND b = :b AND c = :c AND begins_with(d, :d)",
         "{" OF ", ':b': 'live', ':c': 'a', ':d': 'r'}", "p3 p2", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(
            list(QUERY(.table = "M", .index = "gsi", .condition = rows[i].condition,
                       .values = rows[i].values, .is_backward = rows[i].is_backward),
                 "pk"),
            rows[i].want);
    struct page_req r = {.table = "M",
                         .index = "gsi",
                         .condition = "h = :h AND a = :a",
                         .values = "{" OF "}",
                         .limit = 2};
    assert_string_equal(list(&r, "pk"), "p4 p3");
    assert_string_equal(test_text(&t, page.last_key),
                        "{a: 'T', b: 'live', c: 'a', d: 'r1', h: 'o1', pk: 'p3'}");
    r.start_item = page.last_key;
    assert_string_equal(list(&r, "pk"), "p2 p1");
    assert_string_equal(list(QUERY(.table = "M", .index = "two", .condition = "h = :h AND a = :a",
                                   .values = "{" OF "}"),
                             "b"),
                        "draft live live live live");
#undef OF
}

/* ---- what is returned ---- */

static void test_query__returns_what_select_asks_for(void **state)
{
    (void)state;
    put_many(3);
    struct page_req r = {.condition = "PK = :p", .values = "{':p': 'a'}", .limit = 2};
    r.select = CORE_SELECT_COUNT;
    page_must(&t, &r, &page);
    assert_null(page.items);
    assert_int_equal(page.n, 0);
    assert_int_equal(page.matched, 2);
    assert_int_equal(page.scanned, 2);
    assert_non_null(page.last_key.p);
    r.select = CORE_SELECT_ALL;
    assert_string_equal(list(&r, "v"), "0 1");
    r.select = CORE_SELECT_SPECIFIC;
    r.projection = "v, nothing";
    page_must(&t, &r, &page);
    assert_string_equal(page_text(&t, &page), "{v: 0} {v: 1}");
    assert_string_equal(test_text(&t, page.last_key), "{PK: 'a', SK: '01'}");
    r.select = CORE_SELECT_DEFAULT;
    r.projection = "nothing";
    page_must(&t, &r, &page);
    assert_string_equal(page_text(&t, &page), "{} {}");
}

static void test_query__is_charged_for_the_sum_of_what_it_evaluates(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) put_sized(i, 1500);
    struct page_req r = {
        .condition = "PK = :p", .values = "{':p': 'a'}", .capacity = CORE_CAPACITY_TOTAL};
    page_must(&t, &r, &page); /* 9,000 bytes: 3 steps of 4 KB */
    assert_true(page.capacity.units == 1.5);
    r.is_consistent = true;
    r.filter = "attribute_not_exists(v)";
    page_must(&t, &r, &page);
    assert_int_equal(page.n, 0);
    assert_true(page.capacity.units == 3);
    r = (struct page_req){
        .condition = "PK = :p", .values = "{':p': 'none'}", .capacity = CORE_CAPACITY_INDEXES};
    page_must(&t, &r, &page);
    assert_true(page.capacity.units == 0.5);
    put_indexed();
    r = (struct page_req){.table = "R",
                          .index = "index3",
                          .condition = "c = :c",
                          .values = "{':c': 'x'}",
                          .capacity = CORE_CAPACITY_INDEXES};
    page_must(&t, &r, &page);
    assert_true(page.capacity.units == 0.5);
    assert_int_equal(page.capacity.n_arms, 2);
    assert_true(page.capacity.arms[0].units == 0);
    assert_true(page.capacity.arms[1].units == 0.5);
    assert_false(page.capacity.arms[1].is_local);
}

/* ---- the extension ---- */

static void test_query__filters_the_sort_key_when_that_is_allowed(void **state)
{
    (void)state;
    test_put(&t, "T", "{PK: 'a', SK: 'x#inventory::1'}");
    test_put(&t, "T", "{PK: 'a', SK: 'y#order::1'}");
    test_put(&t, "T", "{PK: 'a', SK: 'z#inventory::2'}");
    assert_string_equal(list(QUERY(.condition = "PK = :p", .filter = "contains(SK, :s)",
                                   .values = "{':p': 'a', ':s': '#inventory::'}"),
                             "SK"),
                        "x#inventory::1 z#inventory::2");
    assert_int_equal(page.scanned, 3);
    assert_rc(page_send(&t,
                        QUERY(.condition = "PK = :p", .filter = "contains(PK, :s)",
                              .values = "{':p': 'a', ':s': 'a'}"),
                        &page),
              SHEAF_VALIDATION);
    assert_string_equal(t.err.message, FILTER_KEY "PK");
    assert_rc(page_send(&t,
                        QUERY(.condition = "PK = :p", .filter = "SK.x = :s",
                              .values = "{':p': 'a', ':s': 'a'}"),
                        &page),
              SHEAF_VALIDATION);
    assert_string_equal(t.err.message,
                        "Key attributes must be scalars; list random access '[]' and "
                        "map lookup '.' are not allowed: Key: SK");
}

/* ---- refusals ---- */

static void backfilling(struct core *core, struct table *table)
{
    (void)core;
    for (uint32_t i = 0; i < table->n_indexes; i++)
        if (!table->indexes[i].def.is_local) table->indexes[i].is_backfilling = true;
}

static const char *long_value(const char *head, size_t n)
{
    char *text = arena_alloc(&t.arena, n + 100);
    assert_non_null(text);
    int at = sprintf(text, "%s", head);
    memset(text + at, 'x', n);
    strcpy(text + (size_t)at + n, "'}");
    return text;
}

#define A_IS "a = :a"
#define A_VALUE "{':a': 'b'}"
#define C_IS "c = :a"

static void test_query__refuses_in_aws_words(void **state)
{
    (void)state;
    test_table(t.core, "B", "a:S", NULL, "filling(c:S) ALL");
    test_change_table(t.core, "B", backfilling);
    const struct {
        struct page_req r;
        const char *message, *source;
    } rows[] = {
        /* the request alone */
        {{.table = "none"},
         "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
         "request.",
         DYNALITE_QUERY},
        {{.table = "none", .names = "{'#a': 'a'}"},
         "ExpressionAttributeNames can only be specified when using expressions",
         DYNALITE_QUERY},
        {{.table = "none", .values = A_VALUE},
         "ExpressionAttributeValues can only be specified when using expressions: FilterExpression "
         "and KeyConditionExpression are null",
         DYNALITE_VALIDATIONS},
        {{.table = "none", .condition = A_IS, .values = A_VALUE, .filter = ""},
         "Invalid FilterExpression: The expression can not be empty;",
         DYNALITE_QUERY},
        {{.table = "H", .condition = A_IS, .values = "{':a': 'b', ':b': 1}"},
         "Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}",
         DYNALITE_QUERY},
        /* select */
        {{.table = "H",
          .condition = A_IS,
          .values = A_VALUE,
          .select = CORE_SELECT_ALL,
          .projection = "b"},
         "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
         PARITY_SELECT},
        {{.table = "H",
          .condition = A_IS,
          .values = A_VALUE,
          .select = CORE_SELECT_PROJECTED,
          .projection = "b"},
         "Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES",
         PARITY_SELECT},
        {{.table = "H",
          .condition = A_IS,
          .values = A_VALUE,
          .select = CORE_SELECT_COUNT,
          .projection = "b"},
         "Cannot specify the ProjectionExpression when choosing to get only the Count",
         PARITY_SELECT},
        {{.table = "H", .condition = A_IS, .values = A_VALUE, .select = CORE_SELECT_PROJECTED},
         "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
         PARITY_SELECT},
        {{.table = "H", .condition = A_IS, .values = A_VALUE, .select = CORE_SELECT_SPECIFIC},
         "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
         "SPECIFIC_ATTRIBUTES",
         LOCAL_SELECT},
        /* table and index */
        {{.table = "none", .condition = A_IS, .values = A_VALUE},
         "Requested resource not found",
         DYNALITE_QUERY},
        {{.table = "R", .index = "whatever", .condition = A_IS, .values = A_VALUE},
         "The table does not have the specified index: whatever",
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index3",
          .condition = C_IS,
          .values = A_VALUE,
          .is_consistent = true},
         "Consistent reads are not supported on global secondary indexes",
         DYNALITE_QUERY},
        {{.table = "B", .index = "filling", .condition = C_IS, .values = A_VALUE},
         "Cannot read from backfilling global secondary index: filling",
         USERS_BACKFILL},
        /* key condition */
        {{.table = "H", .condition = "b = :a", .values = A_VALUE},
         "Query condition missed key schema element: a",
         DYNALITE_QUERY},
        {{.table = "R", .index = "index1", .condition = "a = :a AND b = :a", .values = A_VALUE},
         "Query condition missed key schema element: c",
         DYNALITE_QUERY},
        {{.table = "M",
          .index = "gsi",
          .condition = "h = :a AND a = :a AND c = :a",
          .values = A_VALUE},
         "RANGE key attributes b must have equality conditions specified in the query because a "
         "condition is present on key attribute c",
         PARITY_MULTI},
        {{.table = "M",
          .index = "gsi",
          .condition = "h = :a AND a = :a AND b > :a AND c = :a",
          .values = A_VALUE},
         "RANGE key attributes b must have equality conditions specified in the query because a "
         "condition is present on key attribute c",
         PARITY_MULTI},
        {{.table = "M", .index = "gsi", .condition = "h = :a AND b = :a", .values = A_VALUE},
         "RANGE key attributes a must have equality conditions specified in the query because a "
         "condition is present on key attribute b",
         PARITY_MULTI},
        {{.table = "H", .condition = "a > :a", .values = A_VALUE},
         "Query key condition not supported",
         DYNALITE_QUERY},
        {{.table = "H", .condition = A_IS, .values = "{':a': 1}"},
         INVALID "Condition parameter type does not match schema type",
         DYNALITE_QUERY},
        {{.table = "H", .condition = A_IS, .values = long_value("{':a': '", 2049)},
         INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes",
         UNVERIFIED},
        {{.table = "R",
          .condition = "a = :b AND b > :a",
          .values = long_value("{':b': 'x', ':a': '", 1025)},
         INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
         UNVERIFIED},
        /* start key */
        {{.table = "H", .condition = A_IS, .values = A_VALUE, .start = "{}"},
         START,
         DYNALITE_QUERY},
        {{.table = "H", .condition = A_IS, .values = A_VALUE, .start = "{b: 'a'}"},
         START,
         DYNALITE_QUERY},
        {{.table = "H", .condition = A_IS, .values = A_VALUE, .start = "{a: 'b', b: 'a'}"},
         START,
         DYNALITE_QUERY},
        {{.table = "R", .condition = A_IS, .values = A_VALUE, .start = "{a: 'b'}"},
         START,
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index1",
          .condition = A_IS,
          .values = A_VALUE,
          .start = "{a: 'b', b: 'b'}"},
         START,
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index4",
          .condition = C_IS,
          .values = A_VALUE,
          .start = "{a: 'b', b: 'b', c: 'b', d: 'b', e: 'b'}"},
         START,
         DYNALITE_QUERY},
        {{.table = "R", .condition = A_IS, .values = A_VALUE, .start = "{a: 'b', b: 1}"},
         NO_MATCH,
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index1",
          .condition = A_IS,
          .values = A_VALUE,
          .start = "{a: 'b', b: 'a', c: 1}"},
         NO_MATCH,
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index1",
          .condition = A_IS,
          .values = A_VALUE,
          .start = "{a: 'b', b: 1, c: 'a'}"},
         START ": " NO_MATCH,
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index3",
          .condition = C_IS,
          .values = A_VALUE,
          .start = "{x: 1, y: 1, c: 'a'}"},
         START ": " NO_MATCH,
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index4",
          .condition = C_IS,
          .values = A_VALUE,
          .start = "{a: 1, b: '1', c: 'a', d: 'a'}"},
         START ": " NO_MATCH,
         DYNALITE_QUERY},
        {{.table = "R", .condition = A_IS, .values = A_VALUE, .start = "{a: 'b', b: ''}"},
         START,
         UNVERIFIED},
        {{.table = "R", .condition = A_IS, .values = A_VALUE, .start = "{a: 'a', b: 'a'}"},
         "The provided starting key is outside query boundaries based on provided conditions",
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index1",
          .condition = A_IS,
          .values = A_VALUE,
          .start = "{a: 'a', b: 'a', c: 'a'}"},
         "The provided starting key is outside query boundaries based on provided conditions",
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index4",
          .condition = C_IS,
          .values = A_VALUE,
          .start = "{a: 'a', b: 'a', c: 'a', d: 'a'}"},
         "The provided starting key is outside query boundaries based on provided conditions",
         DYNALITE_QUERY},
        {{.table = "R",
          .condition = "a = :a AND b > :a",
          .values = A_VALUE,
          .start = "{a: 'a', b: 'a'}"},
         "The provided starting key does not match the range key predicate",
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index4",
          .condition = "c = :a AND d > :a",
          .values = A_VALUE,
          .start = "{a: 'a', b: 'a', c: 'b', d: 'b'}"},
         "The provided starting key does not match the range key predicate",
         DYNALITE_QUERY},
        {{.table = "R",
          .condition = "a = :a AND b < :a",
          .values = A_VALUE,
          .start = "{a: 'a', b: 'a'}"},
         "The query can return at most one row and cannot be restarted",
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index4",
          .condition = "c = :a AND d = :b",
          .values = "{':a': 'a', ':b': 'a'}",
          .start = "{a: 'a', b: 'a', c: 'c', d: 'a'}"},
         "The query can return at most one row and cannot be restarted",
         DYNALITE_QUERY},
        /* filter and projection */
        {{.table = "H", .condition = A_IS, .filter = "a = :a", .values = A_VALUE},
         FILTER_KEY "a",
         DYNALITE_QUERY},
        {{.table = "H",
          .condition = A_IS,
          .filter = "attribute_exists(a.b) AND b = :a",
          .values = A_VALUE},
         FILTER_KEY "a",
         DYNALITE_QUERY},
        {{.table = "R", .condition = A_IS, .filter = "b[1] = :a", .values = A_VALUE},
         FILTER_KEY "b",
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index4",
          .condition = C_IS,
          .filter = "d = :a",
          .select = CORE_SELECT_ALL,
          .values = A_VALUE},
         FILTER_KEY "d",
         DYNALITE_QUERY},
        {{.table = "R", .condition = A_IS, .filter = "d[1] = :a", .values = A_VALUE},
         "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
         "allowed: IndexKey: d",
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index4",
          .condition = C_IS,
          .filter = "a = :a and a.b = :a",
          .select = CORE_SELECT_ALL,
          .values = "{':a': 'a'}",
          .start = "{a: 'a', b: 'b', c: 'a', d: 'b'}"},
         INVALID "Select type ALL_ATTRIBUTES is not supported for global secondary index index4 "
                 "because its projection type is not ALL",
         DYNALITE_QUERY},
        {{.table = "R",
          .index = "index4",
          .condition = C_IS,
          .projection = "y, e, z.x",
          .values = A_VALUE},
         INVALID "Global secondary index index4 does not project [y, z]",
         PARITY_INDEX},
        {{.table = "R",
          .index = "index4",
          .condition = C_IS,
          .filter = "z = :a AND y = :a",
          .values = A_VALUE},
         INVALID "Secondary index index4 does not project one or more filter attributes: [z, y]",
         PARITY_INDEX},
        {{.table = "R",
          .index = "index5",
          .condition = A_IS,
          .filter = "z = :a",
          .values = A_VALUE},
         INVALID "Secondary index index5 does not project one or more filter attributes: [z]",
         PARITY_INDEX},
    };
    struct sources sources = {0, 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sheaf_rc rc = page_send(&t, &rows[i].r, &page);
        if (rc == SHEAF_OK) fail_msg("row %zu (%s) was taken", i, rows[i].message);
        assert_string_equal(t.err.message, rows[i].message);
        assert_null(page.items);
        sources_count(&sources, rows[i].source);
    }
    sources_print(&sources, "Query");
}

/* ---- damage and memory ---- */

static void plant(const char *key, span value)
{
    struct table *tab = cat_find(t.core, SPAN_LIT("T"));
    val map = item_map(test_item(&t, key));
    sheaf_engine_key k;
    sheaf_txn *txn;
    assert_ok(
        row_item_key(t.core, &t.ctx, tab, table_hash_of(tab, map), table_range_of(tab, map), &k));

    assert_ok(eng_begin(t.engine, SHEAF_TXN_RW, &txn, &t.err));
    assert_ok(eng_put(txn, &k, value, &t.err));
    assert_ok(eng_commit(txn, NULL, NULL, &t.err));
    table_unref(tab);
}

static void test_query__reports_damage_and_never_returns_it(void **state)
{
    (void)state;
    struct page_req r = {.condition = "PK = :p", .values = "{':p': 'a'}"};
    plant("{PK: 'a', SK: '1'}", test_item(&t, "{PK: 'other', SK: '1'}"));
    assert_rc(page_send(&t, &r, &page), SHEAF_CORRUPT);
    plant("{PK: 'a', SK: '1'}", SPAN_LIT("\1\0\0\0\0\x16\xff\0\0\0"));
    assert_rc(page_send(&t, &r, &page), SHEAF_CORRUPT);
    /* A row under the key of another one is found where it would become a start key. */
    plant("{PK: 'a', SK: '1'}", test_item(&t, "{PK: 'a', SK: '2'}"));
    r.limit = 1;
    assert_rc(page_send(&t, &r, &page), SHEAF_CORRUPT);
    assert_rc(page_send(&t, SCAN(.limit = 1), &page), SHEAF_CORRUPT);
    assert_null(page.items);
}

static void test_query__survives_failing_allocations(void **state)
{
    (void)state;
    put_indexed();
    struct core_query q = {.table = SPAN_LIT("R"),
                           .index = SPAN_LIT("index5"),
                           .key_condition = SPAN_LIT("a = :a"),
                           .filter = SPAN_LIT("z > :n"),
                           .projection = SPAN_LIT("z, c"),
                           .env = test_env(&t.arena, NULL, "{':a': 'p', ':n': 0}"),
                           .start_key = test_item(&t, "{a: 'p', b: '0', e: 'a'}"),
                           .limit = 2,
                           .capacity = CORE_CAPACITY_INDEXES};
    for (uint64_t nth = 1;; nth++) {
        struct arena arena;
        arena_init(&arena, 1 << 20);
        struct ctx c = {&arena, &t.err};
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = core_query(t.core, &c, &q, &page);
        mem_fail_at(0, false);
        arena_deinit(&arena);
        if (mem_count() - before < nth) break; /* the n-th did not come */
        if (rc != SHEAF_OK) assert_int_equal(rc, SHEAF_NOMEM);
    }
    /* Each ceiling of the arena, too. */
    for (size_t ceiling = 0;; ceiling += 64) {
        struct arena arena;
        arena_init(&arena, ceiling);
        struct ctx c = {&arena, &t.err};
        sheaf_rc rc = core_query(t.core, &c, &q, &page);
        arena_deinit(&arena);
        if (rc == SHEAF_OK) break;
        assert_int_equal(rc, SHEAF_NOMEM);
        assert_true(ceiling < 1 << 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_query__reads_what_the_condition_names_in_order),
        CASE(test_query__orders_numbers_by_value),
        CASE(test_query__ends_a_page_at_its_limit),
        CASE(test_query__ends_a_page_with_the_item_that_reaches_1_mb),
        CASE(test_query__reads_indexes_sparse_and_in_their_order),
        CASE(test_query__fetches_what_a_local_index_does_not_store),
        CASE(test_query__ends_a_page_by_what_it_fetched),
        CASE(test_query__takes_keys_of_several_attributes),
        CASE(test_query__returns_what_select_asks_for),
        CASE(test_query__is_charged_for_the_sum_of_what_it_evaluates),
        cmocka_unit_test_setup_teardown(test_query__filters_the_sort_key_when_that_is_allowed,
                                        setup_extension, teardown),
        CASE(test_query__refuses_in_aws_words),
        CASE(test_query__reports_damage_and_never_returns_it),
        CASE(test_query__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
