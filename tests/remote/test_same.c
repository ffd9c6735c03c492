/* Every call gives the same on a remote handle as on an embedded one: each script runs on a database
 * in memory and, over HTTP with signatures, on `sheaf serve`; what the two say is compared. */
#include "dump.h"
#include "sheaf_fixture.h"
#include "support/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct sheaf_fixture server;
static char keys_path[] = "/tmp/sheaf-remote-XXXXXX";

#define KEY_ID "AKIDREMOTETEST"
#define SECRET "not/a+secret"

static sheaf_db *open_remote(const char *secret)
{
    struct sheaf_options o = {.access_key_id = KEY_ID, .secret_access_key = secret, .seed = 7};
    sheaf_db *db;
    sheaf_error err;
    sheaf_rc rc = sheaf_open(server.endpoint, &o, &db, &err);
    if (rc) fail_msg("%s", err.message);
    return db;
}

struct script {
    sheaf_db *db;
    FILE *log;
    sheaf_error err;
};

/* A call with its request's members; what it says goes to the log. */
#define CALL(s, call, request, ...)                                                                \
    do {                                                                                           \
        sheaf_result *r_ = NULL;                                                                   \
        struct request q_ = {__VA_ARGS__, .error = &(s)->err};                                     \
        sheaf_rc rc_ = sheaf_##call((s)->db, &q_, &r_);                                            \
        dump((s)->log, #call, rc_, &(s)->err, r_);                                                 \
    } while (0)

#define ITEM(...) SHEAF_ITEM(__VA_ARGS__)
#define KEY(p, s) SHEAF_ITEM({"p", sheaf_s(p)}, {"s", sheaf_s(s)})

static void make_table(struct script *s)
{
    static const struct sheaf_index by_g = {
        .name = "by_g", .partition_key = {{"g", SHEAF_S, {0}}}, .sort_key = {{"n", SHEAF_N, {0}}}};
    static const char *const include[] = {"n"};
    static const struct sheaf_index by_x = {.name = "by_x",
                                            .sort_key = {{"x", SHEAF_B, {0}}},
                                            .projection = SHEAF_PROJECT_INCLUDE,
                                            .include = include,
                                            .n_include = 1};
    CALL(s, create_table, sheaf_create_table, .table = "tab", .partition_key = {"p", SHEAF_S, {0}},
         .sort_key = {"s", SHEAF_S, {0}}, .global_indexes = &by_g, .n_global_indexes = 1,
         .local_indexes = &by_x, .n_local_indexes = 1);
}

static void script_tables(struct script *s)
{
    static const struct sheaf_index late = {.name = "late",
                                            .partition_key = {{"h", SHEAF_N, {0}}},
                                            .projection = SHEAF_PROJECT_KEYS_ONLY};
    make_table(s);
    make_table(s); /* in use */
    CALL(s, create_table, sheaf_create_table, .table = "two", .partition_key = {"k", SHEAF_N, {0}},
         .billing_mode = SHEAF_PROVISIONED, .throughput = {3, 4},
         .stream = SHEAF_STREAM_NEW_AND_OLD_IMAGES, .deletion_protection = true,
         .infrequent_access = true);
    CALL(s, create_table, sheaf_create_table, .table = "x", .partition_key = {"k", SHEAF_N, {0}});
    CALL(s, create_table, sheaf_create_table, .table = "bad");
    CALL(s, describe_table, sheaf_table_name, .table = "tab");
    CALL(s, describe_table, sheaf_table_name, .table = "none");
    CALL(s, list_tables, sheaf_list_tables, .limit = 1);
    CALL(s, list_tables, sheaf_list_tables, .exclusive_start_table_name = "tab");
    CALL(s, update_table, sheaf_update_table, .table = "two", .deletion_protection = SHEAF_OFF);
    CALL(s, update_table, sheaf_update_table, .table = "two",
         .throughput = &(struct sheaf_throughput){5, 6});
    CALL(s, update_table, sheaf_update_table, .table = "two", .create_index = &late);
    CALL(s, update_table, sheaf_update_table, .table = "two", .delete_index = "nothing");
    CALL(s, update_time_to_live, sheaf_update_time_to_live, .table = "tab", .attribute = "t",
         .enabled = true);
    CALL(s, describe_time_to_live, sheaf_table_name, .table = "tab");
    CALL(s, delete_table, sheaf_table_name, .table = "tab");
    CALL(s, delete_table, sheaf_table_name, .table = "tab");
}

static void script_items(struct script *s)
{
    make_table(s);
    CALL(s, put_item, sheaf_put_item, .table = "tab",
         .item = ITEM({"p", sheaf_s("a")}, {"s", sheaf_s("\xc3\xa9\n\"\\")},
                      {"n", sheaf_n("12345678901234567890123456789012345678")},
                      {"b", sheaf_b("\0\xff", 2)}, {"t", sheaf_bool(true)}, {"z", sheaf_null()},
                      {"m", sheaf_m(ITEM({"deep", sheaf_l(SHEAF_LIST(sheaf_int(-1)))}))},
                      {"ss", sheaf_ss(SHEAF_LIST(sheaf_s("x"), sheaf_s("y")))},
                      {"ns", sheaf_ns(SHEAF_LIST(sheaf_int(1), sheaf_n("2.50")))},
                      {"bs", sheaf_bs(SHEAF_LIST(sheaf_b("q", 1)))}),
         .return_consumed_capacity = SHEAF_CAPACITY_INDEXES,
         .return_item_collection_metrics = true);
    CALL(s, get_item, sheaf_get_item, .table = "tab", .key = KEY("a", "\xc3\xa9\n\"\\"),
         .consistent_read = true, .return_consumed_capacity = SHEAF_CAPACITY_TOTAL);
    CALL(s, get_item, sheaf_get_item, .table = "tab", .key = KEY("a", "\xc3\xa9\n\"\\"),
         .projection_expression = "#n, m.deep[0]", SHEAF_NAMES({"#n", "n"}));
    CALL(s, get_item, sheaf_get_item, .table = "tab", .key = KEY("no", "such"));
    CALL(s, get_item, sheaf_get_item, .table = "none", .key = KEY("no", "such"));
    CALL(s, get_item, sheaf_get_item, .table = "tab", .key = ITEM({"p", sheaf_s("a")}));
    CALL(s, update_item, sheaf_update_item, .table = "tab", .key = KEY("a", "c"),
         .update_expression = "SET #c = if_not_exists(#c, :z) + :d", SHEAF_NAMES({"#c", "count"}),
         .expression_attribute_values = ITEM({":z", sheaf_int(0)}, {":d", sheaf_int(5)}),
         .return_values = SHEAF_ALL_NEW);
    CALL(s, update_item, sheaf_update_item, .table = "tab", .key = KEY("a", "c"),
         .update_expression = "SET #c = :d", .condition_expression = "#c < :d",
         SHEAF_NAMES({"#c", "count"}), .expression_attribute_values = ITEM({":d", sheaf_int(5)}),
         .return_old_on_condition_failure = true);
    CALL(s, update_item, sheaf_update_item, .table = "tab", .key = KEY("a", "c"),
         .update_expression = "SET", .return_values = SHEAF_UPDATED_OLD);
    CALL(s, put_item, sheaf_put_item, .table = "tab", .item = KEY("a", "c"),
         .condition_expression = "attribute_not_exists(p)");
    CALL(s, delete_item, sheaf_delete_item, .table = "tab", .key = KEY("a", "c"),
         .return_values = SHEAF_ALL_OLD);
    CALL(s, delete_item, sheaf_delete_item, .table = "tab", .key = KEY("a", "c"),
         .return_values = SHEAF_ALL_OLD);
}

static void fill_collection(struct script *s, int n)
{
    for (int i = 0; i < n; i++) {
        char sort[16];
        snprintf(sort, sizeof sort, "item%03d", i);
        CALL(s, put_item, sheaf_put_item, .table = "tab",
             .item = ITEM({"p", sheaf_s("c")}, {"s", sheaf_s(sort)}, {"n", sheaf_int(i)},
                          {"g", sheaf_s(i % 2 ? "odd" : "even")}));
    }
}

static void script_queries(struct script *s)
{
    const sheaf_item *const of_c = ITEM({":p", sheaf_s("c")}), *const odd =
                                                                   ITEM({":g", sheaf_s("odd")},
                                                                        {":n", sheaf_int(4)});
    make_table(s);
    fill_collection(s, 10);
    CALL(s, query, sheaf_query, .table = "tab", .key_condition_expression = "p = :p",
         .expression_attribute_values = of_c, .limit = 3, .backward = true,
         .return_consumed_capacity = SHEAF_CAPACITY_INDEXES);
    CALL(s, query, sheaf_query, .table = "tab", .key_condition_expression = "p = :p",
         .expression_attribute_values = of_c, .limit = 3,
         .exclusive_start_key = KEY("c", "item007"), .consistent_read = true);
    CALL(s, query, sheaf_query, .table = "tab", .index = "by_g",
         .key_condition_expression = "g = :g AND n > :n", .expression_attribute_values = odd,
         .return_consumed_capacity = SHEAF_CAPACITY_INDEXES);
    CALL(s, query, sheaf_query, .table = "tab", .key_condition_expression = "p = :p",
         .expression_attribute_values = of_c, .select = SHEAF_SELECT_COUNT);
    CALL(s, query, sheaf_query, .table = "tab", .key_condition_expression = "p > :p",
         .expression_attribute_values = of_c);
    CALL(s, query, sheaf_query, .table = "tab", .index = "none",
         .key_condition_expression = "p = :p", .expression_attribute_values = of_c);
    CALL(s, scan, sheaf_scan, .table = "tab", .filter_expression = "n BETWEEN :a AND :b",
         .expression_attribute_values = ITEM({":a", sheaf_int(2)}, {":b", sheaf_int(4)}),
         .projection_expression = "s");
    CALL(s, scan, sheaf_scan, .table = "tab", .segment = 1, .total_segments = 1);
    CALL(s, scan, sheaf_scan, .table = "tab", .total_segments = 1, .limit = 2);
}

static void script_batches(struct script *s)
{
    const struct sheaf_batch_write writes[] = {
        {.table = "tab",
         .put = ITEM({"p", sheaf_s("a")}, {"s", sheaf_s("1")}, {"n", sheaf_int(1)})},
        {.table = "tab", .delete_key = KEY("a", "2")},
        {.table = "tab", .put = KEY("a", "3")}};
    const sheaf_item *const keys[] = {KEY("a", "3"), KEY("a", "2"), KEY("a", "1")};
    const struct sheaf_batch_get get = {.table = "tab", .keys = keys, .n_keys = 3};
    const struct sheaf_batch_get some = {
        .table = "tab", .keys = keys, .n_keys = 3, .projection_expression = "s"};
    const struct sheaf_batch_write twice[] = {writes[0], writes[0]};
    make_table(s);
    CALL(s, batch_write_item, sheaf_batch_write_item, .writes = writes, .n_writes = 3,
         .return_consumed_capacity = SHEAF_CAPACITY_TOTAL, .return_item_collection_metrics = true);
    CALL(s, batch_get_item, sheaf_batch_get_item, .tables = &get, .n_tables = 1,
         .return_consumed_capacity = SHEAF_CAPACITY_TOTAL);
    CALL(s, batch_get_item, sheaf_batch_get_item, .tables = &some, .n_tables = 1);
    CALL(s, batch_write_item, sheaf_batch_write_item, .writes = twice, .n_writes = 2);
}

static void script_transactions(struct script *s)
{
    const struct sheaf_transact_write good[] = {
        {.table = "tab",
         .put = ITEM({"p", sheaf_s("a")}, {"s", sheaf_s("1")}, {"n", sheaf_int(1)})},
        {.table = "tab",
         .key = KEY("a", "2"),
         .update_expression = "SET n = :n",
         .expression_attribute_values = ITEM({":n", sheaf_int(2)})},
        {.table = "tab", .key = KEY("a", "3"), .is_delete = true}};
    const struct sheaf_transact_write bad[] = {
        {.table = "tab", .put = KEY("b", "1")},
        {.table = "tab",
         .key = KEY("a", "1"),
         .is_check = true,
         .condition_expression = "n = :n",
         .expression_attribute_values = ITEM({":n", sheaf_int(9)}),
         .return_old_on_condition_failure = true}};
    const struct sheaf_transact_get gets[] = {
        {.table = "tab", .key = KEY("a", "2"), .projection_expression = "n"},
        {.table = "tab", .key = KEY("b", "1")}};
    make_table(s);
    for (int i = 0; i < 2; i++)
        CALL(s, transact_write_items, sheaf_transact_write_items, .actions = good, .n_actions = 3,
             .client_request_token = "the same", .return_consumed_capacity = SHEAF_CAPACITY_TOTAL);
    CALL(s, transact_write_items, sheaf_transact_write_items, .actions = good, .n_actions = 2,
         .client_request_token = "the same");
    CALL(s, transact_write_items, sheaf_transact_write_items, .actions = bad, .n_actions = 2);
    CALL(s, transact_get_items, sheaf_transact_get_items, .gets = gets, .n_gets = 2,
         .return_consumed_capacity = SHEAF_CAPACITY_TOTAL);
}

/* Which shard has the records is another in every database: empty ones are left out. */
static void read_shard(struct script *s, const char *iterator)
{
    sheaf_result *r;
    struct sheaf_get_records q = {.shard_iterator = iterator, .error = &s->err};
    assert_ok(sheaf_get_records(s->db, &q, &r));
    assert_non_null(sheaf_result_iterator(r));
    if (sheaf_result_record_count(r))
        dump(s->log, "get_records", SHEAF_OK, &s->err, r);
    else
        sheaf_result_free(r);
}

/* ARNs and iterators hold times, so that each handle follows its own. */
static void script_streams(struct script *s)
{
    sheaf_result *r = NULL, *stream = NULL, *it = NULL;
    make_table(s);
    CALL(s, update_table, sheaf_update_table, .table = "tab", .stream = SHEAF_ON,
         .stream_view = SHEAF_STREAM_NEW_AND_OLD_IMAGES);
    CALL(s, put_item, sheaf_put_item, .table = "tab", .item = KEY("a", "1"));
    CALL(s, update_item, sheaf_update_item, .table = "tab", .key = KEY("a", "1"),
         .update_expression = "SET n = :n",
         .expression_attribute_values = ITEM({":n", sheaf_int(1)}));
    CALL(s, delete_item, sheaf_delete_item, .table = "tab", .key = KEY("a", "1"));
    assert_ok(sheaf_list_streams(s->db, &(struct sheaf_list_streams){.table = "tab"}, &r));
    const char *arn = sheaf_result_stream(r, 0)->arn;
    assert_ok(
        sheaf_describe_stream(s->db, &(struct sheaf_describe_stream){.stream_arn = arn}, &stream));
    const struct sheaf_stream_description *d = sheaf_result_stream(stream, 0);
    fprintf(s->log, "%s %d\n", d->status, (int)d->view);
    for (size_t i = 0; i < sheaf_result_shard_count(stream); i++) {
        assert_ok(sheaf_get_shard_iterator(
            s->db,
            &(struct sheaf_get_shard_iterator){.stream_arn = arn,
                                               .shard_id = sheaf_result_shard(stream, i)->id,
                                               .type = SHEAF_TRIM_HORIZON},
            &it));
        read_shard(s, sheaf_result_iterator(it));
        sheaf_result_free(it);
    }
    dump(s->log, "list_streams", SHEAF_OK, &s->err, r);
    dump(s->log, "describe_stream", SHEAF_OK, &s->err, stream);
    CALL(s, get_records, sheaf_get_records, .shard_iterator = "nonsense");
    CALL(s, describe_stream, sheaf_describe_stream, .stream_arn = "nonsense");
}

static void script_call(struct script *s)
{
    static const struct {
        const char *operation, *json;
    } rows[] = {
        {"PutItem", "{\"TableName\":\"tab\",\"Item\":{\"p\":{\"S\":\"a\"},\"s\":{\"S\":\"b\"}}}"},
        {"GetItem", "{\"TableName\":\"tab\",\"Key\":{\"p\":{\"S\":\"a\"},\"s\":{\"S\":\"b\"}}}"},
        {"PutItem", "{\"TableName\":\"tab\",\"Item\":{\"p\":{\"S\":\"a\"},\"s\":{\"S\":\"b\"}},"
                    "\"ConditionExpression\":\"attribute_not_exists(p)\","
                    "\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"}"},
        {"ListTables", "{}"},
        {"ListStreams", "{}"},
        {"GetItem", "{\"TableName\":1}"}};
    make_table(s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sheaf_result *r = NULL;
        sheaf_rc rc = sheaf_call(s->db, rows[i].operation, rows[i].json, &r, &s->err);
        dump(s->log, rows[i].operation, rc, &s->err, r);
    }
}

/* ---- running ---- */

static void clear(sheaf_db *db)
{
    sheaf_result *r;
    assert_ok(sheaf_list_tables(db, &(struct sheaf_list_tables){.limit = 0}, &r));
    for (size_t i = 0; i < sheaf_result_name_count(r); i++) {
        sheaf_error err;
        struct sheaf_table_name q = {.table = sheaf_result_name(r, i), .error = &err};
        if (sheaf_delete_table(db, &q, NULL)) fail_msg("%s: %s", q.table, err.message);
    }
    sheaf_result_free(r);
}

static char *run(sheaf_db *db, void (*script)(struct script *s))
{
    char *text = NULL;
    size_t n = 0;
    struct script s = {.db = db, .log = open_memstream(&text, &n)};
    assert_non_null(s.log);
    script(&s);
    clear(db);
    fclose(s.log);
    return text;
}

static void compare(void (*script)(struct script *s))
{
    sheaf_db *here, *there = open_remote(SECRET);
    assert_ok(sheaf_open(":memory:", NULL, &here, NULL));
    char *a = run(here, script), *b = run(there, script);
    if (strcmp(a, b) != 0) {
        size_t i = 0, line = 0;
        for (; a[i] && a[i] == b[i]; i++)
            if (a[i] == '\n') line = i + 1;
        fail_msg("embedded: %.*s\nremote:   %.*s", (int)strcspn(a + line, "\n"), a + line,
                 (int)strcspn(b + line, "\n"), b + line);
    }
    assert_true(strlen(a) > 100);
    free(a);
    free(b);
    sheaf_close(here);
    sheaf_close(there);
}

#define SAME(what)                                                                                 \
    static void test_remote__is_the_same_for_##what(void **state)                                  \
    {                                                                                              \
        (void)state;                                                                               \
        compare(script_##what);                                                                    \
    }
SAME(tables)
SAME(items)
SAME(queries)
SAME(batches)
SAME(transactions)
SAME(streams)
SAME(call)

/* ---- what is a remote handle's own ---- */

static void test_remote__refuses_a_wrong_secret(void **state)
{
    (void)state;
    sheaf_db *db = open_remote("another");
    sheaf_error err;
    assert_rc(sheaf_list_tables(db, &(struct sheaf_list_tables){.error = &err}, NULL),
              SHEAF_INVALID_SIGNATURE);
    assert_string_equal(err.exception, "InvalidSignatureException");
    sheaf_close(db);
}

static void test_remote__says_what_it_cannot_do(void **state)
{
    (void)state;
    sheaf_db *db = open_remote(SECRET);
    sheaf_error err;
    assert_rc(sheaf_run_background(db, &err), SHEAF_UNSUPPORTED);
    assert_rc(sheaf_verify(db, NULL, NULL, &err), SHEAF_UNSUPPORTED);
    assert_rc(sheaf_backup(db, "somewhere", &err), SHEAF_UNSUPPORTED);
    struct sheaf_table_report q = {.table = "tab", .error = &err};
    struct sheaf_collection_stats c = {.table = "tab", .partition_key = KEY("a", "b"), &err};
    assert_rc(sheaf_largest_collections(db, &q, NULL), SHEAF_UNSUPPORTED);
    assert_rc(sheaf_hot_keys(db, &q, NULL), SHEAF_UNSUPPORTED);
    assert_rc(sheaf_describe_collection(db, &c, NULL), SHEAF_UNSUPPORTED);
    assert_non_null(strstr(err.message, "where the data is"));
    sheaf_close(db);
}

enum { THREADS = 6, ADDS = 40 };

static void *add(void *ctx)
{
    sheaf_db *db = ctx;
    for (int i = 0; i < ADDS; i++) {
        sheaf_error err;
        struct sheaf_update_item q = {.table = "tab",
                                      .key = KEY("a", "count"),
                                      .update_expression = "ADD n :one",
                                      .expression_attribute_values =
                                          SHEAF_ITEM({":one", sheaf_int(1)}),
                                      .error = &err};
        if (sheaf_update_item(db, &q, NULL)) return "failed";
    }
    return NULL;
}

static void test_remote__is_shared_by_threads(void **state)
{
    (void)state;
    sheaf_db *db = open_remote(SECRET);
    pthread_t threads[THREADS];
    sheaf_result *r;
    int64_t n = 0;
    free(run(db, make_table));
    struct script s = {.db = db, .log = fopen("/dev/null", "w")};
    make_table(&s);
    fclose(s.log);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add, db), 0);
    for (int i = 0; i < THREADS; i++) {
        void *said;
        pthread_join(threads[i], &said);
        assert_null(said);
    }
    assert_ok(
        sheaf_get_item(db, &(struct sheaf_get_item){.table = "tab", .key = KEY("a", "count")}, &r));
    assert_true(sheaf_item_i64(sheaf_result_item(r), "n", &n));
    assert_int_equal(n, THREADS * ADDS);
    sheaf_result_free(r);
    clear(db);
    sheaf_close(db);
}

/* ---- TLS ---- */

static sheaf_rc list_over_tls(const char *url, const char *ca_file, sheaf_error *err)
{
    struct sheaf_options o = {.access_key_id = KEY_ID,
                              .secret_access_key = SECRET,
                              .ca_file = ca_file,
                              .max_attempts = 1};
    sheaf_db *db;
    assert_ok(sheaf_open(url, &o, &db, err));
    sheaf_rc rc = sheaf_list_tables(db, &(struct sheaf_list_tables){.error = err}, NULL);
    sheaf_close(db);
    return rc;
}

static void test_remote__trusts_only_known_certificates(void **state)
{
    (void)state;
    char folder[] = "/tmp/sheaf-tls-XXXXXX", command[512], cert[64], key[64], url[64];
    assert_non_null(mkdtemp(folder));
    snprintf(cert, sizeof cert, "%s/cert.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
             "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 "
             "-keyout %s -out %s 2>/dev/null && chmod 600 %s",
             key, cert, key);
    assert_int_equal(system(command), 0);
    const char *arguments[] = {"--auth", keys_path, "--tls-cert", cert, "--tls-key", key, NULL};
    struct sheaf_fixture tls = {.arguments = arguments};
    sheaf_error err;
    if (sheaf_fixture_start(&tls)) fail_msg("%s", tls.error);
    snprintf(url, sizeof url, "https://127.0.0.1:%d", tls.port);
    assert_ok(list_over_tls(url, cert, &err));
    assert_rc(list_over_tls(url, NULL, &err), SHEAF_IO);
    assert_non_null(strstr(err.message, "certificate"));
    assert_int_equal(sheaf_fixture_stop(&tls), 0);
    unlink(cert);
    unlink(key);
    rmdir(folder);
}

static int start(void **state)
{
    (void)state;
    int fd = mkstemp(keys_path);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, 0600), 0);
    static const char text[] = "[" KEY_ID "]\nsecret = " SECRET "\n";
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    static const char *arguments[] = {"--auth", keys_path, NULL};
    server.arguments = arguments;
    if (sheaf_fixture_start(&server)) fail_msg("%s", server.error);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    unlink(keys_path);
    assert_int_equal(sheaf_fixture_stop(&server), 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remote__is_the_same_for_tables),
        cmocka_unit_test(test_remote__is_the_same_for_items),
        cmocka_unit_test(test_remote__is_the_same_for_queries),
        cmocka_unit_test(test_remote__is_the_same_for_batches),
        cmocka_unit_test(test_remote__is_the_same_for_transactions),
        cmocka_unit_test(test_remote__is_the_same_for_streams),
        cmocka_unit_test(test_remote__is_the_same_for_call),
        cmocka_unit_test(test_remote__refuses_a_wrong_secret),
        cmocka_unit_test(test_remote__says_what_it_cannot_do),
        cmocka_unit_test(test_remote__is_shared_by_threads),
        cmocka_unit_test(test_remote__trusts_only_known_certificates),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
