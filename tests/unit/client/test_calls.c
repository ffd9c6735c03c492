/* client: each request as JSON, and each answer as an outcome, where the two differ in shape. What
 * they have in common with an embedded handle is compared in tests/remote. */
#include "fake.h"

#include "value/build.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define URL "http://127.0.0.1:1"

struct scene {
    struct fake fake;
    struct client *k;
    struct arena arena;
    sheaf_error err;
    struct ctx c;
    struct play plays[1];
    struct expr_env env;
};

static void set_up(struct scene *s, int status, const char *answer)
{
    memset(s, 0, sizeof *s);
    arena_init(&s->arena, 4 << 20);
    s->c = (struct ctx){&s->arena, &s->err};
    s->plays[0] = (struct play){.status = status, .body = answer};
    s->k = open_fake(&s->fake, s->plays, 1, URL);
}

static void tear_down(struct scene *s)
{
    client_close(s->k);
    arena_deinit(&s->arena);
}

/* {"p": {"S": p}} and, when given, "n". */
static span item(struct scene *s, const char *p, const char *n)
{
    struct vb b;
    span out = SPAN_NONE;
    vb_init(&b, &s->c, 1 << 16);
    vb_map_begin(&b);
    vb_name(&b, SPAN_LIT("p"));
    vb_s(&b, span_cstr(p));
    if (n) vb_name(&b, SPAN_LIT("n"));
    if (n) vb_n_text(&b, span_cstr(n));
    vb_end(&b);
    assert_ok(vb_finish_item(&b, &out));
    return out;
}

static void assert_sent(struct scene *s, const char *body)
{
    if (strcmp(s->fake.sent, body) != 0) fail_msg("sent %s\nwanted %s", s->fake.sent, body);
}

/* ---- requests ---- */

static void test_put__sends_all_that_was_asked(void **state)
{
    (void)state;
    struct scene s;
    struct core_write_outcome out;
    set_up(&s, 200, "{\"Attributes\":{\"p\":{\"S\":\"old\"}}}");
    struct expr_name name = {.placeholder = SPAN_LIT("#n"), .name = SPAN_LIT("n")};
    struct expr_value value = {.placeholder = SPAN_LIT(":v"),
                               .value = val_find(item_map(item(&s, "x", "1.50")), SPAN_LIT("n"))};
    s.env = (struct expr_env){&name, &value, 1, 1, .has_names = true, .has_values = true};
    struct core_write_item q = {.write = {.action = CORE_PUT,
                                          .table = SPAN_LIT("t\"b"),
                                          .item = item(&s, "a", NULL),
                                          .condition = SPAN_LIT("#n = :v"),
                                          .env = &s.env,
                                          .wants_old_on_failure = true},
                                .returns = CORE_ALL_OLD,
                                .capacity = CORE_CAPACITY_TOTAL,
                                .wants_metrics = true};
    assert_ok(client_write_item(s.k, &s.c, &q, &out));
    assert_sent(&s, "{\"TableName\":\"t\\\"b\",\"Item\":{\"p\":{\"S\":\"a\"}},"
                    "\"ConditionExpression\":\"#n = :v\","
                    "\"ExpressionAttributeNames\":{\"#n\":\"n\"},"
                    "\"ExpressionAttributeValues\":{\":v\":{\"N\":\"1.5\"}},"
                    "\"ReturnValues\":\"ALL_OLD\",\"ReturnConsumedCapacity\":\"TOTAL\","
                    "\"ReturnItemCollectionMetrics\":\"SIZE\","
                    "\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"}");
    assert_true(span_eq(out.attributes, item(&s, "old", NULL)));
    tear_down(&s);
}

static void test_query__sends_all_that_was_asked(void **state)
{
    (void)state;
    struct scene s;
    struct core_page out;
    set_up(&s, 200,
           "{\"Count\":2,\"ScannedCount\":3,\"Items\":[{},{\"p\":{\"S\":\"a\"}}],"
           "\"LastEvaluatedKey\":{\"p\":{\"S\":\"a\"}},\"Unknown\":[1,{}],\"X\":null}");
    struct core_query q = {.table = SPAN_LIT("t"),
                           .index = SPAN_LIT("i"),
                           .key_condition = SPAN_LIT("p = :p"),
                           .env = &s.env,
                           .start_key = item(&s, "b", NULL),
                           .select = CORE_SELECT_ALL,
                           .limit = 7,
                           .is_backward = true};
    assert_ok(client_query(s.k, &s.c, &q, &out));
    assert_sent(&s,
                "{\"TableName\":\"t\",\"IndexName\":\"i\",\"KeyConditionExpression\":\"p = :p\","
                "\"ExclusiveStartKey\":{\"p\":{\"S\":\"b\"}},\"Select\":\"ALL_ATTRIBUTES\","
                "\"Limit\":7,\"ScanIndexForward\":false}");
    assert_int_equal(out.n, 2);
    assert_int_equal(out.matched, 2);
    assert_int_equal(out.scanned, 3);
    assert_true(span_eq(out.last_key, item(&s, "a", NULL)));
    tear_down(&s);
}

static void test_transaction__carries_a_token_of_its_own(void **state)
{
    (void)state;
    struct scene s;
    struct core_multi_outcome out;
    char first[2][64];
    set_up(&s, 200, "{}");
    struct core_write w = {
        .action = CORE_DELETE, .table = SPAN_LIT("t"), .item = item(&s, "a", NULL), .env = &s.env};
    for (int i = 0; i < 2; i++) {
        assert_ok(client_transact_write(s.k, &s.c,
                                        &(struct core_transact_write){.writes = &w, .n = 1}, &out));
        const char *token = strstr(s.fake.sent, "\"ClientRequestToken\":\"");
        assert_non_null(token);
        snprintf(first[i], sizeof first[i], "%.55s", token + 22);
        assert_int_equal(strcspn(first[i], "\""), 32);
    }
    assert_string_not_equal(first[0], first[1]);
    tear_down(&s);
}

static void test_transaction__repeats_its_token_with_its_attempts(void **state)
{
    (void)state;
    struct scene s;
    struct core_multi_outcome out;
    set_up(&s, 200, "{}");
    const struct play plays[] = {{.fate = CLIENT_LOST}, {.status = 200, .body = "{}"}};
    s.fake.plays = plays;
    s.fake.n_plays = 1;
    struct core_write w = {
        .action = CORE_DELETE, .table = SPAN_LIT("t"), .item = item(&s, "a", NULL), .env = &s.env};
    const struct core_transact_write q = {.writes = &w, .n = 1};
    assert_rc(client_transact_write(s.k, &s.c, &q, &out), SHEAF_UNKNOWN_OUTCOME);
    assert_int_equal(s.fake.n_sent, 4);
    tear_down(&s);
}

/* ---- leftovers ---- */

static void test_batch_write__finds_its_leftovers(void **state)
{
    (void)state;
    struct scene s;
    struct core_multi_outcome out;
    set_up(&s, 200,
           "{\"UnprocessedItems\":{\"one\":[{\"DeleteRequest\":{\"Key\":{\"p\":{\"S\":\"c\"}}}}],"
           "\"two\":[{\"PutRequest\":{\"Item\":{\"n\":{\"N\":\"10\"},\"p\":{\"S\":\"a\"}}}}]}}");
    const struct core_write w[] = {
        {.action = CORE_PUT, .table = SPAN_LIT("one"), .item = item(&s, "a", "10"), .env = &s.env},
        {.action = CORE_PUT, .table = SPAN_LIT("two"), .item = item(&s, "a", "1E1"), .env = &s.env},
        {.action = CORE_DELETE,
         .table = SPAN_LIT("one"),
         .item = item(&s, "c", NULL),
         .env = &s.env}};
    const struct core_batch_write q = {.writes = w, .n = 3};
    assert_ok(client_batch_write(s.k, &s.c, &q, &out));
    assert_sent(
        &s, "{\"RequestItems\":{\"one\":[{\"PutRequest\":{\"Item\":{\"n\":{\"N\":\"10\"},"
            "\"p\":{\"S\":\"a\"}}}},{\"DeleteRequest\":{\"Key\":{\"p\":{\"S\":\"c\"}}}}],"
            "\"two\":[{\"PutRequest\":{\"Item\":{\"n\":{\"N\":\"10\"},\"p\":{\"S\":\"a\"}}}}]}}");
    assert_int_equal(out.n_unprocessed, 2);
    assert_int_equal(out.unprocessed[0], 1);
    assert_int_equal(out.unprocessed[1], 2);
    tear_down(&s);
    set_up(
        &s, 200,
        "{\"UnprocessedItems\":{\"one\":[{\"DeleteRequest\":{\"Key\":{\"p\":{\"S\":\"?\"}}}}]}}");
    const struct core_write again = {.action = CORE_DELETE,
                                     .table = SPAN_LIT("one"),
                                     .item = item(&s, "c", NULL),
                                     .env = &s.env};
    assert_rc(
        client_batch_write(s.k, &s.c, &(struct core_batch_write){.writes = &again, .n = 1}, &out),
        SHEAF_INTERNAL);
    tear_down(&s);
}

static void test_batch_get__puts_items_beside_their_keys(void **state)
{
    (void)state;
    struct scene s;
    struct core_items_outcome out;
    set_up(&s, 200,
           "{\"Responses\":{\"arn:aws:dynamodb:x:1:table/one\":[{\"p\":{\"S\":\"c\"}},"
           "{\"n\":{\"N\":\"5\"}},{\"p\":{\"S\":\"a\"}}]},"
           "\"UnprocessedKeys\":{\"one\":{\"Keys\":[{\"p\":{\"S\":\"d\"}}],"
           "\"ConsistentRead\":true}}}");
    static const char *const keys[] = {"a", "b", "c", "d"};
    struct core_get gets[4];
    for (size_t i = 0; i < 4; i++)
        gets[i] = (struct core_get){
            .table = SPAN_LIT("one"), .key = item(&s, keys[i], NULL), .env = &s.env};
    const struct core_multi_get q = {.gets = gets, .n = 4};
    assert_ok(client_multi_get(s.k, &s.c, &q, &out));
    assert_true(span_eq(out.items[0], item(&s, "a", NULL)));
    assert_int_equal(val_count(item_map(out.items[1])), 1); /* the one that shows no key */
    assert_true(span_eq(out.items[2], item(&s, "c", NULL)));
    assert_null(out.items[3].p);
    assert_int_equal(out.n_unprocessed, 1);
    assert_int_equal(out.unprocessed[0], 3);
    gets[3].projection = SPAN_LIT("n"); /* two projections of one table: the wire has no way */
    assert_rc(client_multi_get(s.k, &s.c, &q, &out), SHEAF_VALIDATION);
    assert_non_null(strstr(s.err.message, "one projection"));
    tear_down(&s);
}

/* ---- answers that are none ---- */

static void test_answers__are_not_believed(void **state)
{
    (void)state;
    static const char *const rows[] = {"",
                                       "nonsense",
                                       "[]",
                                       "{\"Items\":{}}",
                                       "{\"Items\":[{\"p\":{\"S\":1}}]}",
                                       "{\"Items\":[{\"p\":{\"Q\":\"1\"}}]}",
                                       "{\"Count\":\"x\"}",
                                       "{\"Count\":-1}",
                                       "{\"Count\":1e300}",
                                       "{} trailing",
                                       "{\"Count\":1",
                                       "{\"ConsumedCapacity\":[]}",
                                       "{\"ConsumedCapacity\":{\"Table\":7}}",
                                       "{\"Items\":[{\"p\":{\"N\":\"1.2.3\"}}]}"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct scene s;
        struct core_page out;
        set_up(&s, 200, rows[i]);
        const struct core_query q = {.table = SPAN_LIT("t"), .is_scan = true, .env = &s.env};
        sheaf_rc rc = client_query(s.k, &s.c, &q, &out);
        if (rc != SHEAF_INTERNAL) fail_msg("row %zu (%s): rc %d", i, rows[i], (int)rc);
        assert_non_null(strstr(s.err.message, "The server's answer cannot be read"));
        tear_down(&s);
    }
}

/* ---- memory ---- */

static const char table_answer[] =
    "{\"Table\":{\"TableName\":\"t\",\"TableStatus\":\"ACTIVE\",\"TableArn\":\"arn:x\","
    "\"CreationDateTime\":1.5E9,\"KeySchema\":[{\"AttributeName\":\"p\",\"KeyType\":\"HASH\"}],"
    "\"AttributeDefinitions\":[{\"AttributeName\":\"p\",\"AttributeType\":\"S\"}],"
    "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"i\",\"KeySchema\":[{\"AttributeName\":\"p\","
    "\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":\"INCLUDE\","
    "\"NonKeyAttributes\":[\"a\",\"b\"]}}]}}";

/* Three calls of different kinds, each on what the one before has left of the arena. */
static size_t run_three(struct scene *s)
{
    struct core_table_outcome table;
    struct core_page page;
    struct core_multi_outcome multi;
    const struct core_query q = {.table = SPAN_LIT("t"), .is_scan = true, .env = &s->env};
    const struct core_write w = {
        .action = CORE_CHECK, .table = SPAN_LIT("t"), .condition = SPAN_LIT("x"), .env = &s->env};
    const struct core_transact_write t = {.writes = &w, .n = 1};
    s->plays[0] = (struct play){.status = 200, .body = table_answer};
    sheaf_rc a = client_describe_table(s->k, &s->c, SPAN_LIT("t"), &table);
    if (a == SHEAF_OK) {
        assert_int_equal(table.table.created_us, INT64_C(1500000000000000));
        assert_int_equal(table.table.indexes[0].def.n_include, 2);
    }
    s->plays[0].body = "{\"Items\":[{\"p\":{\"S\":\"\\u00e9\"}},{},{}],\"Count\":3}";
    sheaf_rc b = client_query(s->k, &s->c, &q, &page);
    s->plays[0] = (struct play){
        .status = 400,
        .body = "{\"__type\":\"#TransactionCanceledException\",\"CancellationReasons\":"
                "[{\"Code\":\"ConditionalCheckFailed\",\"Message\":\"m\"}]}"};
    sheaf_rc d = client_transact_write(s->k, &s->c, &t, &multi);
    assert_true(a == SHEAF_OK || a == SHEAF_NOMEM);
    assert_true(b == SHEAF_OK || b == SHEAF_NOMEM);
    assert_true(d == SHEAF_TRANSACTION_CANCELED || d == SHEAF_NOMEM);
    if (d == SHEAF_TRANSACTION_CANCELED && multi.n)
        assert_int_equal(multi.written[0].rc, SHEAF_CONDITIONAL_CHECK_FAILED);
    return (size_t)(a == SHEAF_NOMEM) + (size_t)(b == SHEAF_NOMEM) + (size_t)(d == SHEAF_NOMEM);
}

static void test_calls__survive_the_end_of_memory(void **state)
{
    (void)state;
    size_t refused = 0, last = 1;
    for (uint64_t nth = 1; last; nth++) {
        struct scene s;
        set_up(&s, 200, "");
        mem_fail_at(nth, true);
        last = run_three(&s);
        mem_fail_at(0, false);
        refused += last;
        tear_down(&s);
    }
    assert_true(refused >= 3);
}

/* By a ceiling, which meets allocations that find room in a block, too. */
static void test_calls__survive_a_full_arena(void **state)
{
    (void)state;
    size_t refused = 0, passed = 0;
    for (size_t ceiling = 0; ceiling < 60000; ceiling += 64) {
        struct scene s;
        set_up(&s, 200, "");
        arena_deinit(&s.arena);
        arena_init(&s.arena, ceiling);
        size_t n = run_three(&s);
        refused += n;
        passed += n == 0;
        tear_down(&s);
    }
    assert_true(refused > 10 && passed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put__sends_all_that_was_asked),
        cmocka_unit_test(test_query__sends_all_that_was_asked),
        cmocka_unit_test(test_transaction__carries_a_token_of_its_own),
        cmocka_unit_test(test_transaction__repeats_its_token_with_its_attempts),
        cmocka_unit_test(test_batch_write__finds_its_leftovers),
        cmocka_unit_test(test_batch_get__puts_items_beside_their_keys),
        cmocka_unit_test(test_answers__are_not_believed),
        cmocka_unit_test(test_calls__survive_the_end_of_memory),
        cmocka_unit_test(test_calls__survive_a_full_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
