/* api: no answer, a refusal neither, before what it was judged on is durable. The engine's sync
 * fails or is held back on schedule: a call that waits shows it. */
#include "support/support.h"

#include "api/api.h"
#include "engine/fault/fault.h"

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A handle by hand, because the engine is one that misbehaves. */
struct scene {
    sheaf_db db;
    sheaf_engine *engine;
    struct clock_source clock;
    sem_t inside, go_on;
    sheaf_error err;
    char stream_arn[200], shard[100], iterator[600]; /* of "gone", which is deleted */
};
static struct scene s;

static int64_t now_us(struct clock_source *c)
{
    (void)c;
    return INT64_C(1800000000000000);
}

static uint64_t mono_ns(struct clock_source *c)
{
    (void)c;
    return 1;
}

/* What the schedule delays stands here until the test lets it go on. */
static void sleep_ns(struct clock_source *c, uint64_t ns)
{
    (void)c;
    (void)ns;
    sem_post(&s.inside);
    sem_wait(&s.go_on);
}

static void on_sync(enum fault_action action)
{
    const struct fault_rule rule = {
        .call = FAULT_SYNC, .action = action, .nth = 1, .every = 1, .delay_ns = 1};
    assert_ok(fault_set(s.engine,
                        &(struct fault_options){.rules = &rule, .n_rules = 1, .clock = &s.clock},
                        &s.err));
}

static void without_faults(void)
{
    assert_ok(fault_set(s.engine, &(struct fault_options){.n_rules = 0}, &s.err));
}

static void create(const char *name, enum sheaf_stream_view stream)
{
    assert_ok(sheaf_create_table(
        &s.db,
        &(struct sheaf_create_table){
            .table = name, .partition_key = {"p", SHEAF_S}, .stream = stream, .error = &s.err},
        NULL));
}

/* An iterator of a stream whose table is deleted then. */
static void take_iterator(void)
{
    sheaf_result *r;
    create("gone", SHEAF_STREAM_KEYS_ONLY);
    assert_ok(sheaf_list_streams(
        &s.db, &(struct sheaf_list_streams){.table = "gone", .error = &s.err}, &r));
    snprintf(s.stream_arn, sizeof s.stream_arn, "%s", sheaf_result_stream(r, 0)->arn);
    sheaf_result_free(r);
    assert_ok(sheaf_describe_stream(
        &s.db, &(struct sheaf_describe_stream){.stream_arn = s.stream_arn, .error = &s.err}, &r));
    snprintf(s.shard, sizeof s.shard, "%s", sheaf_result_shard(r, 0)->id);
    sheaf_result_free(r);
    assert_ok(
        sheaf_get_shard_iterator(&s.db,
                                 &(struct sheaf_get_shard_iterator){.stream_arn = s.stream_arn,
                                                                    .shard_id = s.shard,
                                                                    .type = SHEAF_TRIM_HORIZON,
                                                                    .error = &s.err},
                                 &r));
    snprintf(s.iterator, sizeof s.iterator, "%s", sheaf_result_iterator(r));
    sheaf_result_free(r);
    assert_ok(sheaf_delete_table(
        &s.db, &(struct sheaf_table_name){.table = "gone", .error = &s.err}, NULL));
}

static int setup(void **state)
{
    (void)state;
    sheaf_engine *mem;
    memset(&s, 0, sizeof s);
    s.clock = (struct clock_source){now_us, mono_ns, sleep_ns};
    sem_init(&s.inside, 0, 0);
    sem_init(&s.go_on, 0, 0);
    assert_ok(sheaf_engine_open_mem(NULL, &mem, &s.err));
    assert_ok(fault_open(mem, NULL, &s.engine, &s.err));
    assert_ok(core_open(s.engine, &(struct core_options){.clock = &s.clock}, &s.db.core, &s.err));
    s.db.durability = SHEAF_SYNC;
    pthread_rwlock_init(&s.db.in_use, NULL);
    create("tab", SHEAF_STREAM_NONE);
    assert_ok(sheaf_put_item(&s.db,
                             &(struct sheaf_put_item){.table = "tab",
                                                      .item = SHEAF_ITEM({"p", sheaf_s("a")}),
                                                      .error = &s.err},
                             NULL));
    take_iterator();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_close(s.db.core);
    pthread_rwlock_destroy(&s.db.in_use);
    sem_destroy(&s.inside);
    sem_destroy(&s.go_on);
    return 0;
}

/* ---- calls that are refused for what is stored ---- */

#define KEY SHEAF_ITEM({"p", sheaf_s("a")})
#define CALL(name, type, ...)                                                                      \
    static sheaf_rc name(void)                                                                     \
    {                                                                                              \
        return sheaf_##type(&s.db, &(struct sheaf_##type){__VA_ARGS__, .error = &s.err}, NULL);    \
    }
#define BY_NAME(name, call)                                                                        \
    static sheaf_rc name(void)                                                                     \
    {                                                                                              \
        return sheaf_##call(&s.db, &(struct sheaf_table_name){.table = "ghost", .error = &s.err},  \
                            NULL);                                                                 \
    }

CALL(put_ghost, put_item, .table = "ghost", .item = KEY)
CALL(put_failing, put_item, .table = "tab", .item = KEY,
     .condition_expression = "attribute_not_exists(p)")
CALL(put_wrong_key, put_item, .table = "tab", .item = SHEAF_ITEM({"q", sheaf_int(1)}))
CALL(update_ghost, update_item, .table = "ghost", .key = KEY)
CALL(delete_ghost, delete_item, .table = "ghost", .key = KEY)
CALL(get_ghost, get_item, .table = "ghost", .key = KEY)
CALL(get_wrong_key, get_item, .table = "tab", .key = SHEAF_ITEM({"q", sheaf_int(1)}))
CALL(query_ghost, query, .table = "ghost", .key_condition_expression = "p = :p",
     .expression_attribute_values = SHEAF_ITEM({":p", sheaf_s("a")}))
CALL(query_no_index, query, .table = "tab", .index = "ghost", .key_condition_expression = "p = :p",
     .expression_attribute_values = SHEAF_ITEM({":p", sheaf_s("a")}))
CALL(scan_ghost, scan, .table = "ghost")
CALL(batch_get_ghost, batch_get_item,
     .tables = (const struct sheaf_batch_get[]){{.table = "ghost",
                                                 .keys = (const sheaf_item *[]){KEY},
                                                 .n_keys = 1}},
     .n_tables = 1)
CALL(batch_write_ghost, batch_write_item,
     .writes = (const struct sheaf_batch_write[]){{.table = "ghost", .put = KEY}}, .n_writes = 1)
CALL(transact_ghost, transact_write_items,
     .actions = (const struct sheaf_transact_write[]){{.table = "ghost", .put = KEY}},
     .n_actions = 1)
CALL(transact_cancelled, transact_write_items,
     .actions =
         (const struct sheaf_transact_write[]){
             {.table = "tab", .put = KEY, .condition_expression = "attribute_not_exists(p)"}},
     .n_actions = 1)
CALL(transact_get_ghost, transact_get_items,
     .gets = (const struct sheaf_transact_get[]){{.table = "ghost", .key = KEY}}, .n_gets = 1)
CALL(transact_get_cancelled, transact_get_items,
     .gets = (const struct sheaf_transact_get[]){{.table = "tab",
                                                  .key = SHEAF_ITEM({"p", sheaf_int(1)})}},
     .n_gets = 1)
CALL(create_again, create_table, .table = "tab", .partition_key = {"p", SHEAF_S})
CALL(update_table_ghost, update_table, .table = "ghost", .deletion_protection = SHEAF_ON)
CALL(update_ttl_ghost, update_time_to_live, .table = "ghost", .attribute = "ttl", .enabled = true)
BY_NAME(describe_ghost, describe_table)
BY_NAME(delete_table_ghost, delete_table)
BY_NAME(describe_ttl_ghost, describe_time_to_live)
CALL(list_streams_ghost, list_streams, .table = "ghost")
CALL(describe_stream_gone, describe_stream, .stream_arn = s.stream_arn)
CALL(iterator_gone, get_shard_iterator, .stream_arn = s.stream_arn, .shard_id = s.shard,
     .type = SHEAF_TRIM_HORIZON)
CALL(records_gone, get_records, .shard_iterator = s.iterator)

static sheaf_rc collection_ghost(void)
{
    return sheaf_describe_collection(
        &s.db,
        &(struct sheaf_collection_stats){.table = "ghost", .partition_key = KEY, .error = &s.err},
        NULL);
}

static sheaf_rc largest_ghost(void)
{
    return sheaf_largest_collections(
        &s.db, &(struct sheaf_table_report){.table = "ghost", .error = &s.err}, NULL);
}

static sheaf_rc hottest_ghost(void)
{
    return sheaf_hot_keys(&s.db, &(struct sheaf_table_report){.table = "ghost", .error = &s.err},
                          NULL);
}

/* The token was used for something else. */
static sheaf_rc transact_mismatch(void)
{
    struct sheaf_transact_write a = {.table = "tab", .put = KEY};
    struct sheaf_transact_write_items q = {
        .actions = &a, .n_actions = 1, .client_request_token = "t", .error = &s.err};
    without_faults();
    assert_ok(sheaf_transact_write_items(&s.db, &q, NULL));
    a.put = SHEAF_ITEM({"p", sheaf_s("b")});
    on_sync(FAULT_FAIL);
    return sheaf_transact_write_items(&s.db, &q, NULL);
}

static const struct {
    const char *name;
    sheaf_rc (*call)(void);
    sheaf_rc rc;
} refusals[] = {
#define ROW(f, rc)                                                                                 \
    {                                                                                              \
#f, f, SHEAF_##rc                                                                          \
    }
    ROW(put_ghost, RESOURCE_NOT_FOUND),
    ROW(put_failing, CONDITIONAL_CHECK_FAILED),
    ROW(put_wrong_key, VALIDATION),
    ROW(update_ghost, RESOURCE_NOT_FOUND),
    ROW(delete_ghost, RESOURCE_NOT_FOUND),
    ROW(get_ghost, RESOURCE_NOT_FOUND),
    ROW(get_wrong_key, VALIDATION),
    ROW(query_ghost, RESOURCE_NOT_FOUND),
    ROW(query_no_index, VALIDATION),
    ROW(scan_ghost, RESOURCE_NOT_FOUND),
    ROW(batch_get_ghost, RESOURCE_NOT_FOUND),
    ROW(batch_write_ghost, RESOURCE_NOT_FOUND),
    ROW(transact_ghost, RESOURCE_NOT_FOUND),
    ROW(transact_cancelled, TRANSACTION_CANCELED),
    ROW(transact_get_ghost, RESOURCE_NOT_FOUND),
    ROW(transact_get_cancelled, TRANSACTION_CANCELED),
    ROW(create_again, RESOURCE_IN_USE),
    ROW(update_table_ghost, RESOURCE_NOT_FOUND),
    ROW(update_ttl_ghost, RESOURCE_NOT_FOUND),
    ROW(describe_ghost, RESOURCE_NOT_FOUND),
    ROW(delete_table_ghost, RESOURCE_NOT_FOUND),
    ROW(describe_ttl_ghost, RESOURCE_NOT_FOUND),
    ROW(list_streams_ghost, RESOURCE_NOT_FOUND),
    ROW(describe_stream_gone, RESOURCE_NOT_FOUND),
    ROW(iterator_gone, RESOURCE_NOT_FOUND),
    ROW(records_gone, RESOURCE_NOT_FOUND),
    ROW(collection_ghost, RESOURCE_NOT_FOUND),
    ROW(largest_ghost, RESOURCE_NOT_FOUND),
    ROW(hottest_ghost, RESOURCE_NOT_FOUND),
};

static void test_refusals__are_no_answer_when_their_reason_cannot_be_made_durable(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        without_faults();
        sheaf_rc rc = refusals[i].call();
        if (rc != refusals[i].rc)
            fail_msg("%s: rc %d, \"%s\"", refusals[i].name, (int)rc, s.err.message);
        on_sync(FAULT_FAIL);
        if (refusals[i].call() != SHEAF_IO) fail_msg("%s does not wait", refusals[i].name);
    }
    assert_rc(transact_mismatch(), SHEAF_IO);
    without_faults();
}

CALL(create_odd, create_table, .table = "a", .partition_key = {"p", SHEAF_S})
CALL(put_odd_expression, put_item, .table = "ghost", .item = KEY, .condition_expression = "(")
CALL(get_odd_expression, get_item, .table = "ghost", .key = KEY, .projection_expression = "(")
CALL(query_odd_expression, query, .table = "ghost", .key_condition_expression = "p = :p",
     .filter_expression = "(", .expression_attribute_values = SHEAF_ITEM({":p", sheaf_s("a")}))
CALL(batch_get_none, batch_get_item, .n_tables = 0)
CALL(transact_get_odd, transact_get_items,
     .gets = (const struct sheaf_transact_get[]){{.table = "ghost",
                                                  .key = KEY,
                                                  .projection_expression = "("}},
     .n_gets = 1)
CALL(describe_odd, update_time_to_live, .table = "a", .attribute = "ttl")

static void test_refusals__of_the_request_alone_wait_for_nothing(void **state)
{
    (void)state;
    sheaf_rc (*const calls[])(void) = {create_odd,           put_odd_expression, get_odd_expression,
                                       query_odd_expression, batch_get_none,     transact_get_odd,
                                       describe_odd};
    on_sync(FAULT_FAIL);
    for (size_t i = 0; i < COUNT(calls); i++) assert_rc(calls[i](), SHEAF_VALIDATION);
    assert_int_equal(fault_calls(s.engine, FAULT_SYNC), 0);
    without_faults();
}

struct caller {
    pthread_t thread;
    atomic_bool is_back;
    sheaf_rc rc;
};

static void *call(void *arg)
{
    struct caller *c = arg;
    c->rc = create_again();
    atomic_store(&c->is_back, true);
    sem_post(&s.inside); /* one that does not wait must not keep the test waiting */
    return NULL;
}

static void test_refusal__comes_when_what_it_saw_is_durable(void **state)
{
    (void)state;
    struct caller c = {.rc = SHEAF_OK};
    on_sync(FAULT_DELAY);
    assert_int_equal(pthread_create(&c.thread, NULL, call, &c), 0);
    sem_wait(&s.inside);
    for (int i = 0; i < 2000; i++) sched_yield(); /* it may run now, and must not get back */
    assert_false(atomic_load(&c.is_back));
    sem_post(&s.go_on);
    pthread_join(c.thread, NULL);
    assert_int_equal(c.rc, SHEAF_RESOURCE_IN_USE);
    assert_string_equal(s.err.message, "Table already exists: tab");
    without_faults();
}

/* ---- background work ---- */

static void expect_items(uint64_t n)
{
    sheaf_result *r;
    without_faults();
    assert_ok(sheaf_scan(&s.db, &(struct sheaf_scan){.table = "tab", .error = &s.err}, &r));
    assert_int_equal(sheaf_result_count(r), n);
    sheaf_result_free(r);
}

/* One more item, whose time has passed. */
static void put_expired(void)
{
    assert_ok(sheaf_put_item(
        &s.db,
        &(struct sheaf_put_item){
            .table = "tab",
            .item = SHEAF_ITEM({"p", sheaf_s("old")}, {"until", sheaf_int(INT64_C(1799999999))}),
            .error = &s.err},
        NULL));
    expect_items(2);
}

static void test_background__is_done_when_it_is_durable(void **state)
{
    (void)state;
    assert_ok(sheaf_update_time_to_live(
        &s.db,
        &(struct sheaf_update_time_to_live){
            .table = "tab", .attribute = "until", .enabled = true, .error = &s.err},
        NULL));
    put_expired();
    on_sync(FAULT_FAIL);
    assert_rc(sheaf_run_background(&s.db, &s.err), SHEAF_IO);
    expect_items(1);
    put_expired();
    assert_ok(sheaf_run_background(&s.db, &s.err));
    assert_int_equal(eng_durable(s.engine), eng_visible(s.engine));
    expect_items(1);
    put_expired();
    s.db.durability = SHEAF_RELAXED;
    on_sync(FAULT_FAIL);
    assert_ok(sheaf_run_background(&s.db, &s.err)); /* it waits for nothing then */
    assert_int_equal(fault_calls(s.engine, FAULT_SYNC), 0);
    expect_items(1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_refusals__are_no_answer_when_their_reason_cannot_be_made_durable),
        T(test_refusals__of_the_request_alone_wait_for_nothing),
        T(test_refusal__comes_when_what_it_saw_is_durable),
        T(test_background__is_done_when_it_is_durable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
