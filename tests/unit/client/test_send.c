/* client: retries, deadlines, refusals, checksums and cancellation, on a transport that plays a
 * script and a clock that stands still. */
#include "fake.h"

#include <libdeflate.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define URL "http://127.0.0.1:1"
#define THROTTLED                                                                                  \
    "{\"__type\":\"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException\","     \
    "\"message\":\"slow down\"}"

struct outcome {
    sheaf_rc rc;
    sheaf_error err;
    uint32_t attempts;
    uint64_t slept_ms;
    char answer[256];
};

static struct outcome play_as(const struct client_op *op, const struct play *plays, uint32_t n,
                              uint64_t costs_us)
{
    struct fake f;
    struct outcome o;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct client *k = open_fake(&f, plays, n, URL);
    f.costs_us = costs_us;
    struct ctx c = {&arena, &o.err};
    span answer;
    err_clear(&o.err);
    o.rc = client_send(k, &c, op, SPAN_LIT("{}"), &answer);
    o.attempts = f.n_sent;
    o.slept_ms = f.clock.slept_ns / 1000000u;
    snprintf(o.answer, sizeof o.answer, "%.*s", SPAN_ARG(answer));
    client_close(k);
    arena_deinit(&arena);
    return o;
}

static const struct client_op op_read = {.name = "GetItem"};
static const struct client_op op_write = {.name = "PutItem", .is_write = true};

static void test_send__tries_again_what_is_worth_it(void **state)
{
    (void)state;
    static const struct {
        struct play plays[3];
        uint32_t n;
        bool is_write;
        sheaf_rc rc;
        uint32_t attempts;
    } rows[] = {
        {{{.status = 200, .body = "{}"}}, 1, false, SHEAF_OK, 1},
        {{{.status = 400, .body = THROTTLED}, {.status = 200, .body = "{}"}}, 2, true, SHEAF_OK, 2},
        {{{.status = 500, .body = "oops"},
          {.status = 503, .body = ""},
          {.status = 200, .body = "{}"}},
         3,
         false,
         SHEAF_OK,
         3},
        {{{.fate = CLIENT_NOT_SENT}, {.fate = CLIENT_LOST}, {.status = 200, .body = "{}"}},
         3,
         true,
         SHEAF_OK,
         3},
        {{{.status = 400, .body = THROTTLED}}, 1, true, SHEAF_THROUGHPUT_EXCEEDED, 4},
        {{{.status = 500, .body = "oops"}}, 1, false, SHEAF_INTERNAL, 4},
        {{{.fate = CLIENT_NOT_SENT}}, 1, true, SHEAF_RETRY_LATER, 4},
        {{{.fate = CLIENT_LOST}}, 1, false, SHEAF_RETRY_LATER, 4},
        {{{.fate = CLIENT_LOST}}, 1, true, SHEAF_UNKNOWN_OUTCOME, 4},
        /* One lost attempt is enough, whatever came after. */
        {{{.fate = CLIENT_LOST}, {.fate = CLIENT_NOT_SENT}}, 2, true, SHEAF_UNKNOWN_OUTCOME, 4},
        {{{.fate = CLIENT_LOST}, {.status = 500, .body = ""}}, 2, true, SHEAF_UNKNOWN_OUTCOME, 4},
        {{{.fate = CLIENT_HOPELESS}}, 1, true, SHEAF_IO, 1},
        {{{.fate = CLIENT_NOMEM}}, 1, true, SHEAF_NOMEM, 1},
        {{{.fate = CLIENT_CANCELLED}}, 1, true, SHEAF_IO, 1},
        {{{.status = 400, .body = "{\"__type\":\"x#ValidationException\"}"}},
         1,
         false,
         SHEAF_VALIDATION,
         1},
        {{{.status = 413, .body = "<html>"}}, 1, false, SHEAF_VALIDATION, 1},
        {{{.status = 429, .body = ""}}, 1, false, SHEAF_THROTTLED, 4},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct outcome o =
            play_as(rows[i].is_write ? &op_write : &op_read, rows[i].plays, rows[i].n, 0);
        if (o.rc != rows[i].rc || o.attempts != rows[i].attempts)
            fail_msg("row %zu: rc %d after %u attempts: %s", i, (int)o.rc, o.attempts,
                     o.err.message);
        assert_int_equal(o.err.rc, o.rc == SHEAF_NOMEM ? o.err.rc : o.rc);
        if (o.rc == SHEAF_OK) assert_string_equal(o.err.message, "");
    }
}

static void test_send__keeps_the_server_s_words(void **state)
{
    (void)state;
    const struct play plays[] = {{.status = 400, .body = THROTTLED}};
    struct outcome o = play_as(&op_read, plays, 1, 0);
    assert_string_equal(o.err.exception, "ProvisionedThroughputExceededException");
    assert_string_equal(o.err.message, "slow down");
    const struct play odd[] = {{.status = 400, .body = "{\"__type\":\"a#Odd\",\"Message\":\"m\"}"}};
    o = play_as(&op_read, odd, 1, 0);
    assert_string_equal(o.err.message, "Odd: m");
    const struct play lost[] = {{.fate = CLIENT_LOST}};
    o = play_as(&op_read, lost, 1, 0);
    assert_string_equal(o.err.message, URL "/: the script says so");
}

static void test_send__waits_longer_and_longer(void **state)
{
    (void)state;
    const struct play plays[] = {{.status = 500, .body = ""}};
    struct outcome o = play_as(&op_read, plays, 1, 0);
    assert_in_range(o.slept_ms, 3, 50 + 100 + 200 + 3);
}

static void test_send__keeps_the_deadline(void **state)
{
    (void)state;
    const struct play plays[] = {{.fate = CLIENT_LOST}};
    struct outcome o = play_as(&op_read, plays, 1, 20 * 1000000); /* of 30 s */
    assert_int_equal(o.attempts, 2);
    assert_int_equal(o.rc, SHEAF_RETRY_LATER);
}

static void test_send__checks_the_checksum(void **state)
{
    (void)state;
    uint32_t crc = libdeflate_crc32(0, "{\"a\":1}", 7);
    const struct play plays[] = {
        {.status = 200, .body = "{\"a\":1}", .has_crc = true, .crc = crc + 1},
        {.status = 200, .body = "{\"a\":1}", .has_crc = true, .crc = crc}};
    struct outcome o = play_as(&op_read, plays, 2, 0);
    assert_int_equal(o.rc, SHEAF_OK);
    assert_int_equal(o.attempts, 2);
    o = play_as(&op_write, plays, 1, 0);
    assert_int_equal(o.rc, SHEAF_UNKNOWN_OUTCOME);
    assert_non_null(strstr(o.err.message, "checksum"));
}

static void test_send__inflates(void **state)
{
    (void)state;
    uint8_t gzip[256];
    struct libdeflate_compressor *z = libdeflate_alloc_compressor(6);
    size_t n = libdeflate_gzip_compress(z, "{\"a\":\"bbbbbbbbbbbb\"}", 20, gzip, sizeof gzip);
    libdeflate_free_compressor(z);
    const struct play good[] = {
        {.status = 200, .raw = {gzip, n}, .has_crc = true, .crc = libdeflate_crc32(0, gzip, n)}};
    struct outcome o = play_as(&op_read, good, 1, 0);
    assert_int_equal(o.rc, SHEAF_OK);
    assert_string_equal(o.answer, "{\"a\":\"bbbbbbbbbbbb\"}");
    gzip[15] ^= 0x5a;
    const struct play bad[] = {{.status = 200, .raw = {gzip, n}}};
    o = play_as(&op_read, bad, 1, 0);
    assert_int_equal(o.rc, SHEAF_INTERNAL);
}

static void test_send__signs_every_attempt(void **state)
{
    (void)state;
    const struct play plays[] = {{.status = 200, .body = "{}"}};
    struct fake f;
    struct arena arena;
    sheaf_error err;
    arena_init(&arena, 1 << 20);
    struct client *k = open_fake(&f, plays, 1, "https://dynamodb.eu-west-1.amazonaws.com");
    struct ctx c = {&arena, &err};
    const struct client_op op = {.name = "GetRecords", .is_streams = true};
    span answer;
    assert_int_equal(client_send(k, &c, &op, SPAN_LIT("{}"), &answer), SHEAF_OK);
    static const char *const parts[] = {
        "Host: streams.dynamodb.eu-west-1.amazonaws.com\n",
        "X-Amz-Target: DynamoDBStreams_20120810.GetRecords\n",
        "X-Amz-Date: 20231114T221320Z\n",
        "Authorization: AWS4-HMAC-SHA256 Credential=AKID/20231114/eu-west-1/dynamodb/aws4_request",
        "SignedHeaders=content-type;host;x-amz-date;x-amz-target",
        "Accept-Encoding: gzip\n"};
    for (size_t i = 0; i < COUNT(parts); i++)
        if (!strstr(f.headers, parts[i])) fail_msg("no %s in %s", parts[i], f.headers);
    client_close(k);
    arena_deinit(&arena);
}

static void test_call__knows_operations_by_name(void **state)
{
    (void)state;
    const struct play plays[] = {{.status = 200, .body = "{\"x\":1}"}};
    struct fake f;
    struct arena arena;
    sheaf_error err;
    arena_init(&arena, 1 << 20);
    struct client *k = open_fake(&f, plays, 1, URL);
    struct ctx c = {&arena, &err};
    span answer;
    assert_ok(client_call(k, &c, SPAN_LIT("ListStreams"), SPAN_LIT("{}"), &answer));
    assert_non_null(strstr(f.headers, "DynamoDBStreams_20120810.ListStreams"));
    assert_ok(client_call(k, &c, SPAN_LIT("CreateBackup"), SPAN_LIT("{\"a\":1}"), &answer));
    assert_non_null(strstr(f.headers, "DynamoDB_20120810.CreateBackup"));
    assert_string_equal(f.sent, "{\"a\":1}");
    assert_span(answer, "{\"x\":1}");
    assert_rc(client_call(k, &c, SPAN_LIT("a\r\nb"), SPAN_LIT("{}"), &answer),
              SHEAF_UNKNOWN_OPERATION);
    client_close(k);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send__tries_again_what_is_worth_it),
        cmocka_unit_test(test_send__keeps_the_server_s_words),
        cmocka_unit_test(test_send__waits_longer_and_longer),
        cmocka_unit_test(test_send__keeps_the_deadline),
        cmocka_unit_test(test_send__checks_the_checksum),
        cmocka_unit_test(test_send__inflates),
        cmocka_unit_test(test_send__signs_every_attempt),
        cmocka_unit_test(test_call__knows_operations_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
