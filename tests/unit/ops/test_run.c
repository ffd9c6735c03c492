/* What surrounds the operations: finding them, refusing, rights, every class of error, memory that
 * runs out, and members of the wrong kind everywhere. */
#include "support/wire.h"

#include "base/mem.h"
#include "ops/shape.h"

/* ---- the list ---- */

static void test_op_find__knows_targets_by_their_whole_name(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "GetItem",
                                        "DynamoDB_20120810.",
                                        "DynamoDB_20120810.getItem",
                                        "DynamoDB_20120810.GetItems",
                                        "DynamoDB_20111205.GetItem",
                                        "DynamoDBStreams_20120810.GetItem",
                                        "DynamoDB_20120810.ListTable",
                                        "DynamoDB_20120810.GetItem ",
                                        "DynamoDB_20120810.SearchVectors",
                                        "DynamoDB_20120810.ExecuteStatement"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(op_find(span_cstr(wrong[i])));
    uint32_t n = 0;
    for (const struct op *op; (op = op_at(n)); n++) {
        char target[96];
        snprintf(target, sizeof target, "DynamoDB%s_20120810.%s", op->is_streams ? "Streams" : "",
                 op_name(op));
        assert_ptr_equal(op_find(span_cstr(target)), op);
        assert_int_equal(op_number(op), n);
        if (n) assert_true(strcmp(op_name(op_at(n - 1)), op_name(op)) < 0);
    }
    assert_true(n >= 10);
    assert_true(op_is_write(op_find(SPAN_LIT("DynamoDB_20120810.PutItem"))));
    assert_false(op_is_write(op_find(SPAN_LIT("DynamoDB_20120810.Query"))));
}

static void test_op_unbuilt__every_operation_of_dynamodb_is_built_or_named(void **state)
{
    (void)state;
    /* All 58 under that version of the API, by name. */
    static const char names[] =
        "BatchExecuteStatement BatchGetItem BatchWriteItem CreateBackup CreateGlobalTable "
        "CreateTable DeleteBackup DeleteItem DeleteResourcePolicy DeleteTable DescribeBackup "
        "DescribeContinuousBackups DescribeContributorInsights DescribeEndpoints DescribeExport "
        "DescribeGlobalTable DescribeGlobalTableSettings DescribeImport "
        "DescribeKinesisStreamingDestination DescribeLimits DescribeTable "
        "DescribeTableReplicaAutoScaling DescribeTimeToLive DisableKinesisStreamingDestination "
        "EnableKinesisStreamingDestination ExecuteStatement ExecuteTransaction "
        "ExportTableToPointInTime GetItem GetResourcePolicy ImportTable ListBackups "
        "ListContributorInsights ListExports ListGlobalTables ListImports ListTables "
        "ListTagsOfResource PutItem PutResourcePolicy Query RestoreTableFromBackup "
        "RestoreTableToPointInTime Scan SearchVectors TagResource TransactGetItems "
        "TransactWriteItems UntagResource UpdateContinuousBackups UpdateContributorInsights "
        "UpdateGlobalTable UpdateGlobalTableSettings UpdateItem UpdateKinesisStreamingDestination "
        "UpdateTable UpdateTableReplicaAutoScaling UpdateTimeToLive";
    uint32_t n = 0;
    for (const char *at = names; *at; at += at[0] == ' ', n++) {
        char target[96];
        size_t length = strcspn(at, " ");
        snprintf(target, sizeof target, "DynamoDB_20120810.%.*s", (int)length, at);
        const char *unbuilt = op_unbuilt(span_cstr(target));
        assert_true((op_find(span_cstr(target)) != NULL) != (unbuilt != NULL));
        if (unbuilt) assert_string_equal(unbuilt, target + strlen("DynamoDB_20120810."));
        at += length;
    }
    assert_int_equal(n, 58);
    static const char *const others[] = {"", "DynamoDB_20120810.", "DynamoDB_20120810.ListBackup",
                                         "DynamoDBStreams_20120810.ListBackups", "ListBackups"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(op_unbuilt(span_cstr(others[i])));
}

static void test_op_refuse__answers_without_an_operation(void **state)
{
    struct wire_test *w = *state;
    struct ctx c = {&w->arena, NULL};
    struct op_reply reply;
    op_refuse(&c, SHEAF_UNKNOWN_OPERATION, "", &reply);
    assert_span(buf_span(&reply.body),
                "{\"__type\":\"com.amazon.coral.service#UnknownOperationException\"}");
    assert_int_equal(reply.status, 400);
    assert_int_equal(reply.rc, SHEAF_UNKNOWN_OPERATION);
    op_refuse(&c, SHEAF_ACCESS_DENIED, "no \"entry\"", &reply);
    assert_span(buf_span(&reply.body),
                "{\"__type\":\"com.amazon.coral.service#AccessDeniedException"
                "\",\"Message\":\"no \\\"entry\\\"\"}");
    op_refuse(&c, SHEAF_THROTTLED, "slow down", &reply);
    assert_span(buf_span(&reply.body), "{\"__type\":\"com.amazonaws.dynamodb.v20120810#"
                                       "ThrottlingException\",\"message\":\"slow down\"}");
}

/* ---- errors ---- */

/* Every code that core can answer with, as the wire has it. */
static void test_errors__have_their_names_and_statuses(void **state)
{
    (void)state;
#define X(code, name, status, again, what) SHEAF_##code,
    static const sheaf_rc codes[] = {SHEAF_ERRORS(X)};
#undef X
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct wire_test w;
        struct ctx c = {&w.arena, &w.err};
        struct op_reply reply;
        char want[128];
        arena_init(&w.arena, 1 << 20);
        op_refuse(&c, codes[i], "some words", &reply);
        assert_int_equal(reply.status, sheaf_rc_status(codes[i]));
        span body = buf_span(&reply.body);
        snprintf(want, sizeof want, "#%s\"", sheaf_rc_exception(codes[i]));
        assert_non_null(memmem(body.p, body.n, want, strlen(want)));
        /* What happened inside stays inside. */
        bool is_told = memmem(body.p, body.n, "some words", 10) != NULL;
        assert_int_equal(is_told, reply.status < 500);
        arena_deinit(&w.arena);
    }
}

static void test_errors__of_injected_faults_reach_the_wire(void **state)
{
    static const struct {
        sheaf_rc rc;
        int status;
        const char *type;
    } all[] = {
        {SHEAF_THROUGHPUT_EXCEEDED, 400,
         "dynamodb.v20120810#ProvisionedThroughputExceededException"},
        {SHEAF_INTERNAL, 500, "dynamodb.v20120810#InternalServerError"},
        {SHEAF_TRANSACTION_CONFLICT, 400, "dynamodb.v20120810#TransactionConflictException"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct core_fault fault = {
            .operation = SPAN_LIT("GetItem"), .rc = all[i].rc, .every = 1, .nth = 1};
        struct core_options options = {.faults = &fault, .n_faults = 1, .seed = 1};
        struct wire_test w = {.rows = 0};
        core_test_init(&w.core, &options);
        arena_init(&w.arena, 1 << 24);
        test_table(w.core.core, "Hash", "pk:S", NULL, NULL);
        wire_send(&w, "GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}}}");
        assert_int_equal(w.status, all[i].status);
        assert_non_null(strstr(w.body, all[i].type));
        wire_deinit(&w);
    }
}

/* ---- rights ---- */

struct rights {
    char asked[256];
    const char *denied;
};

static sheaf_rc may(void *ctx, const struct op *op, span table, sheaf_error *err)
{
    struct rights *r = ctx;
    size_t n = strlen(r->asked);
    snprintf(r->asked + n, sizeof r->asked - n, "%s:%.*s ", op_name(op), SPAN_ARG(table));
    if (!r->denied || !span_eq(table, span_cstr(r->denied))) return SHEAF_OK;
    return err_set(err, SHEAF_ACCESS_DENIED, "not you");
}

static void send_with(struct wire_test *w, struct rights *r, const char *operation,
                      const char *request, struct op_reply *reply)
{
    char target[96], text[1024];
    struct ctx c = {&w->arena, &w->err};
    snprintf(target, sizeof target, "DynamoDB_20120810.%s", operation);
    snprintf(text, sizeof text, "%s", request);
    for (char *p = text; *p; p++)
        if (*p == '\'') *p = '"';
    r->asked[0] = '\0';
    const struct op_request q = {
        .op = op_find(span_cstr(target)), .body = span_cstr(text), .may = may, .may_ctx = r};
    op_run(w->core.core, &c, &q, reply);
}

static void test_may__is_asked_about_every_table_by_name(void **state)
{
    static const struct {
        const char *operation, *request, *asked;
    } all[] = {
        {"GetItem", "{'TableName':'Hash','Key':{'pk':{'S':'a'}}}", "GetItem:Hash "},
        {"PutItem",
         "{'TableName':'arn:aws:dynamodb:us-east-1:000000000000:table/"
         "Hash','Item':{'pk':{'S':'a'}}}",
         "PutItem:Hash "},
        {"Query",
         "{'TableName':'Hash','KeyConditionExpression':'pk = "
         ":p','ExpressionAttributeValues':{':p':{"
         "'S':'a'}}}",
         "Query:Hash "},
        {"BatchGetItem",
         "{'RequestItems':{'Hash':{'Keys':[{'pk':{'S':'a'}}]},'Number':{'Keys':[{'pk':{'N':'1'}}]}}"
         "}",
         "BatchGetItem:Hash BatchGetItem:Number "},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'pk':{'S':'a'}}}}],'Number':[{"
         "'DeleteRequest':{'Key':{'pk':{'N':'1'}}}}]}}",
         "BatchWriteItem:Hash BatchWriteItem:Number "},
        {"TransactWriteItems",
         "{'TransactItems':[{'Put':{'TableName':'Hash','Item':{'pk':{'S':'a'}}}},{'ConditionCheck':"
         "{"
         "'TableName':'Number','Key':{'pk':{'N':'9'}},'ConditionExpression':"
         "'attribute_not_exists(pk)'}}]}",
         "TransactWriteItems:Hash TransactWriteItems:Number "},
        {"TransactGetItems",
         "{'TransactItems':[{'Get':{'TableName':'Hash','Key':{'pk':{'S':'a'}}}},{'Get':{'TableName'"
         ":"
         "'Number','Key':{'pk':{'N':'9'}}}}]}",
         "TransactGetItems:Hash TransactGetItems:Number "},
    };
    struct wire_test *w = *state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct rights r = {.denied = NULL};
        struct op_reply reply;
        send_with(w, &r, all[i].operation, all[i].request, &reply);
        assert_int_equal(reply.status, 200);
        assert_string_equal(r.asked, all[i].asked);
    }
}

static void test_may__refuses_before_anything_is_written(void **state)
{
    struct wire_test *w = *state;
    struct rights r = {.denied = "Number"};
    struct op_reply reply;
    send_with(w, &r, "BatchWriteItem",
              "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'pk':{'S':'x'}}}}],'Number':[{"
              "'DeleteRequest':{'Key':{'pk':{'N':'1'}}}}]}}",
              &reply);
    assert_int_equal(reply.rc, SHEAF_ACCESS_DENIED);
    assert_span(buf_span(&reply.body),
                "{\"__type\":\"com.amazon.coral.service#AccessDeniedException"
                "\",\"Message\":\"not you\"}");
    assert_string_equal(test_get(&w->core, "Hash", "{pk: 'x'}"), "-");
    /* What is malformed is told first: it names no table that could be asked about. */
    send_with(w, &r, "GetItem", "{'TableName':'Number'}", &reply);
    assert_int_equal(reply.rc, SHEAF_VALIDATION);
    assert_string_equal(r.asked, "");
}

/* ---- what was not reached ---- */

static void provision(struct core *core, struct table *t)
{
    (void)core;
    t->is_provisioned = true;
    t->read_units = t->write_units = 1;
}

static void test_batch__gives_back_what_it_could_not_write(void **state)
{
    (void)state;
    struct wire_test w = {.rows = 0};
    clock_manual_init(&w.clock, INT64_C(1794700800000000));
    struct core_options options = {.clock = &w.clock.base, .throttle = true, .seed = 1};
    core_test_init(&w.core, &options);
    arena_init(&w.arena, 1 << 26);
    test_table(w.core.core, "Slow", "pk:S", NULL, NULL);
    test_change_table(w.core.core, "Slow", provision);
    const char *big =
        wire_repeat(&w, "{'PutRequest':{'Item':{'pk':{'S':'#'},'v':{'S':'{}'}}}}", 'x', 200 * 1024);
    wire_send(&w, "BatchWriteItem",
              wire_fill(&w, "{'RequestItems':{'Slow':[{}]}}", wire_list(&w, big, 4)));
    assert_int_equal(w.status, 200);
    assert_non_null(strstr(w.body, "{\"UnprocessedItems\":{\"Slow\":[{\"PutRequest\":{\"Item\":{"
                                   "\"pk\":{\"S\":\""));
    assert_null(strstr(w.body, "\"pk\":{\"S\":\"0\"}"));
    assert_non_null(strstr(w.body, "\"pk\":{\"S\":\"3\"}"));
    wire_deinit(&w);
}

/* 16 MB of items and no more; the keys that are left come back with all that was asked. */
static void test_batch__gives_back_the_keys_it_could_not_read(void **state)
{
    struct wire_test *w = *state;
    for (int i = 0; i < 45; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        const char *request = wire_repeat(
            w, wire_fill(w, "{'TableName':'Hash','Item':{'pk':{'S':'{}'},'v':{'S':'{}'}}}", key),
            'x', 400000);
        wire_send(w, "PutItem", request);
        assert_int_equal(w->status, 200);
    }
    wire_send(w, "BatchGetItem",
              wire_fill(w,
                        "{'RequestItems':{'Hash':{'Keys':[{}],'ProjectionExpression':'#v',"
                        "'ExpressionAttributeNames':{'#v':'v'},'ConsistentRead':true}}}",
                        wire_list(w, "{'pk':{'S':'#'}}", 45)));
    assert_int_equal(w->status, 200);
    const char *left = strstr(w->body, "\"UnprocessedKeys\":");
    assert_non_null(left);
    assert_non_null(strstr(left, "{\"Hash\":{\"Keys\":[{\"pk\":{\"S\":\""));
    assert_non_null(strstr(left, "{\"pk\":{\"S\":\"44\"}}],\"ConsistentRead\":true,"
                                 "\"ProjectionExpression\":\"#v\",\"ExpressionAttributeNames\":{"
                                 "\"#v\":\"v\"}}}}"));
    assert_true(strlen(w->body) > 15 * 1000 * 1000);
}

/* ---- wrong kinds ---- */

struct kinds {
    struct wire_test *w;
    const char *operation;
    uint32_t n;
};

static void send_kind(struct kinds *k, const char *begin, const char *value, const char *end,
                      bool is_null)
{
    char request[1024];
    snprintf(request, sizeof request, "%s%s%s", begin, value, end);
    wire_send(k->w, k->operation, request);
    k->n++;
    bool is_serialization = strstr(k->w->body, "#SerializationException") != NULL;
    if (k->w->status != (is_null ? k->w->status : 400) || k->w->status >= 500 ||
        is_serialization == is_null)
        fail_msg("%s %s answers %d %s", k->operation, request, k->w->status, k->w->body);
}

static void check_members(struct kinds *k, const struct shape *s, const char *begin,
                          const char *end);

static void check_kinds(struct kinds *k, const struct shape *s, const char *begin, const char *end)
{
    static const char *const texts[] = {"1", "true", "[]", "{}", "1.5", NULL};
    static const char *const ints[] = {"'x'", "true", "[]", "{}", NULL};
    static const char *const bools[] = {"1", "'maybe'", "[]", "{}", NULL};
    static const char *const maps[] = {"1", "'x'", "[]", "false", NULL};
    static const char *const lists[] = {"1", "'x'", "{}", "true", NULL};
    static const char *const none[] = {NULL};
    static const char *const *const wrong[] = {
        [SHAPE_STRING] = texts, [SHAPE_ENUM] = texts,  [SHAPE_BOOL] = bools,  [SHAPE_INT] = ints,
        [SHAPE_LONG] = ints,    [SHAPE_DOUBLE] = ints, [SHAPE_TIME] = ints,   [SHAPE_ITEM] = maps,
        [SHAPE_ITEMS] = none,   [SHAPE_NAMES] = maps,  [SHAPE_STRUCT] = maps, [SHAPE_LIST] = lists,
        [SHAPE_MAP] = maps,     [SHAPE_RAW] = none};
    char b[512], e[512];
    for (const char *const *v = wrong[s->kind]; *v; v++) send_kind(k, begin, *v, end, false);
    send_kind(k, begin, "null", end, true);
    if (s->kind == SHAPE_STRUCT) check_members(k, s, begin, end);
    if (s->kind == SHAPE_LIST || s->kind == SHAPE_MAP) {
        snprintf(b, sizeof b, "%s%s", begin, s->kind == SHAPE_LIST ? "[" : "{'Hash':");
        snprintf(e, sizeof e, "%s%s", s->kind == SHAPE_LIST ? "]" : "}", end);
        check_kinds(k, s->of, b, e);
    }
}

static void check_members(struct kinds *k, const struct shape *s, const char *begin,
                          const char *end)
{
    char b[512], e[512];
    for (uint32_t i = 0; i < s->n_members; i++) {
        snprintf(b, sizeof b, "%s{'%s':", begin, s->members[i].name);
        snprintf(e, sizeof e, "}%s", end);
        check_kinds(k, s->members[i].shape, b, e);
    }
}

/* Of every member of every operation, at any depth. */
static void test_members__of_the_wrong_kind_are_refused(void **state)
{
    struct kinds k = {.w = *state};
    const struct op *op;
    for (uint32_t i = 0; (op = op_at(i)); i++) {
        if (op->is_streams) continue; /* wire_send names the other target */
        k.operation = op_name(op);
        check_members(&k, op->input, "", "");
    }
    printf("%u members of the wrong kind\n", (unsigned)k.n);
}

/* ---- no memory ---- */

/* A set of a million numbers takes many times its bytes while it is read. */
static void test_op_run__that_takes_too_much_is_the_clients_fault(void **state)
{
    struct wire_test *w = *state;
    struct arena arena;
    sheaf_error err;
    struct ctx c = {&arena, &err};
    struct op_reply reply;
    const char *text = wire_fill(w, "{\"TableName\":\"Hash\",\"Item\":{\"pk\":{\"NS\":[{}]}}}",
                                 wire_list(w, "\"#\"", 100000));
    const struct op_request q = {.op = op_find(SPAN_LIT("DynamoDB_20120810.PutItem")),
                                 .body = span_cstr(text)};
    arena_init(&arena, 1 << 20);
    op_run(w->core.core, &c, &q, &reply);
    assert_int_equal(reply.status, 400);
    assert_int_equal(err.rc, SHEAF_TOO_LARGE);
    assert_non_null(memmem(reply.body.p, reply.body.n, "ValidationException", 19));
    arena_deinit(&arena);
}

static void test_op_run__survives_every_allocation_that_fails(void **state)
{
    static const struct {
        const char *operation, *request;
    } all[] = {
        {"PutItem",
         "{'TableName':'Local','Item':{'pk':{'S':'a'},'sk':{'S':'b'},'a':{'S':'\\u00e9'}},"
         "'ReturnConsumedCapacity':'INDEXES','ReturnItemCollectionMetrics':'SIZE',"
         "'ReturnValues':'ALL_OLD'}"},
        {"GetItem",
         "{'TableName':'Local','Key':{'pk':{'S':'a'},'sk':{'S':'b'}},'ProjectionExpression':'#a',"
         "'ExpressionAttributeNames':{'#a':'a'},'ReturnConsumedCapacity':'INDEXES'}"},
        {"UpdateItem",
         "{'TableName':'Global','Key':{'pk':{'S':'u'}},'UpdateExpression':'SET g = :g ADD n :n',"
         "'ExpressionAttributeValues':{':g':{'S':'x'},':n':{'N':'1'}},'ReturnValues':'ALL_NEW',"
         "'ReturnConsumedCapacity':'INDEXES'}"},
        {"DeleteItem",
         "{'TableName':'Local','Key':{'pk':{'S':'a'},'sk':{'S':'b'}},'ConditionExpression':"
         "'attribute_exists(nope)','ReturnValuesOnConditionCheckFailure':'ALL_OLD'}"},
        {"Query",
         "{'TableName':'Local','IndexName':'byA','KeyConditionExpression':'pk = :p',"
         "'ExpressionAttributeValues':{':p':{'S':'a'}},'ReturnConsumedCapacity':'INDEXES'}"},
        {"Scan", "{'TableName':'Global','Limit':1,'ReturnConsumedCapacity':'INDEXES'}"},
        {"BatchGetItem",
         "{'RequestItems':{'Hash':{'Keys':[{'pk':{'S':'a'}},{'pk':{'S':'b'}}]},'Local':{'Keys':[{"
         "'pk':{'S':'a'},'sk':{'S':'b'}}]}},'ReturnConsumedCapacity':'INDEXES'}"},
        {"BatchWriteItem",
         "{'RequestItems':{'Hash':[{'PutRequest':{'Item':{'pk':{'S':'a'}}}}],'Local':[{"
         "'PutRequest':{'Item':{'pk':{'S':'a'},'sk':{'S':'c'}}}}]},'ReturnConsumedCapacity':"
         "'INDEXES','ReturnItemCollectionMetrics':'SIZE'}"},
        {"TransactWriteItems",
         "{'TransactItems':[{'Put':{'TableName':'Hash','Item':{'pk':{'S':'t'}}}},{'ConditionCheck':"
         "{"
         "'TableName':'Hash','Key':{'pk':{'S':'a'}},'ConditionExpression':'attribute_exists(no)',"
         "'ReturnValuesOnConditionCheckFailure':'ALL_OLD'}}]}"},
        {"TransactGetItems",
         "{'TransactItems':[{'Get':{'TableName':'Hash','Key':{'pk':{'S':'a'}}}}],"
         "'ReturnConsumedCapacity':'INDEXES'}"},
        {"BatchGetItem", "{'RequestItems':{'a!':{}},'ReturnConsumedCapacity':'x'}"},
        {"BatchWriteItem", "{'RequestItems':{'a!':[{'PutRequest':{'Item':{'pk':{'S':'x'}}}}]}}"},
        {"PutItem", "{'TableName':'Hash','Item':{'pk':{'S':'a'},'x':{'SS':['a','a']}}}"},
    };
    struct wire_test *w = *state;
    uint64_t points = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        bool is_reached = true;
        arena_reset(&w->arena);
        for (uint64_t nth = 1; is_reached; nth++, points++) {
            uint64_t count = mem_count();
            struct arena arena;
            struct ctx c = {&arena, NULL};
            struct op_reply reply;
            char target[96], text[1024];
            snprintf(target, sizeof target, "DynamoDB_20120810.%s", all[i].operation);
            snprintf(text, sizeof text, "%s", all[i].request);
            for (char *p = text; *p; p++)
                if (*p == '\'') *p = '"';
            const struct op_request q = {.op = op_find(span_cstr(target)), .body = span_cstr(text)};
            arena_init(&arena, 1 << 24);
            mem_fail_at(nth, false);
            op_run(w->core.core, &c, &q, &reply);
            mem_fail_at(0, false);
            is_reached = mem_count() - count >= nth;
            assert_true(reply.body.n > 0);
            if (reply.rc == SHEAF_NOMEM) assert_int_equal(reply.status, 500);
            if (!is_reached) assert_true(reply.status < 500);
            arena_deinit(&arena);
        }
        test_check_table(&w->core, "Local");
        test_check_table(&w->core, "Global");
    }
    printf("%d allocations failed\n", (int)points);
    assert_true(points > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_op_find__knows_targets_by_their_whole_name),
        cmocka_unit_test(test_op_unbuilt__every_operation_of_dynamodb_is_built_or_named),
        cmocka_unit_test_setup_teardown(test_op_refuse__answers_without_an_operation, wire_setup,
                                        wire_teardown),
        cmocka_unit_test(test_errors__have_their_names_and_statuses),
        cmocka_unit_test(test_errors__of_injected_faults_reach_the_wire),
        cmocka_unit_test_setup_teardown(test_may__is_asked_about_every_table_by_name, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_may__refuses_before_anything_is_written, wire_setup,
                                        wire_teardown),
        cmocka_unit_test(test_batch__gives_back_what_it_could_not_write),
        cmocka_unit_test_setup_teardown(test_batch__gives_back_the_keys_it_could_not_read,
                                        wire_setup, wire_teardown),
        cmocka_unit_test_setup_teardown(test_members__of_the_wrong_kind_are_refused, wire_setup,
                                        wire_teardown),
        cmocka_unit_test_setup_teardown(test_op_run__that_takes_too_much_is_the_clients_fault,
                                        wire_setup, wire_teardown),
        cmocka_unit_test_setup_teardown(test_op_run__survives_every_allocation_that_fails,
                                        wire_setup, wire_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
