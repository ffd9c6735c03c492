/* A line of JSON for every request. */
#include "support/support.h"

#include "server/access_log.h"

#include <fcntl.h>
#include <unistd.h>

static const struct access_line line = {
    .time_us = 1794720000123456,
    .peer = {"127.0.0.1:5000", 14},
    .key_id = {"AKID", 4},
    .operation = {"GetItem", 7},
    .table = {"orders", 6},
    .request_id = {"ABC", 3},
    .exception = "ValidationException",
    .status = 400,
    .bytes_in = 12,
    .bytes_out = 345,
    .duration_ns = 67890,
};

static void test_access_log__a_line_is_one_object(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, NULL, 4096);
    access_log_format(&b, &line);
    assert_span(buf_span(&b),
                "{\"time\":\"2026-11-15T05:20:00.123456Z\",\"peer\":\"127.0.0.1:5000\",\"key\":"
                "\"AKID\",\"operation\":\"GetItem\",\"table\":\"orders\",\"status\":400,"
                "\"exception\":\"ValidationException\",\"bytes_in\":12,\"bytes_out\":345,"
                "\"duration_us\":67,\"request_id\":\"ABC\"}");
    buf_deinit(&b);
}

static void test_access_log__what_a_client_sent_is_escaped_and_cut(void **state)
{
    (void)state;
    struct buf b;
    char long_name[1000];
    memset(long_name, 'x', sizeof long_name);
    struct access_line hostile = {.exception = "", .key_id = SPAN_LIT("a\"\\\n\xff")};
    buf_init(&b, NULL, 8192);
    access_log_format(&b, &hostile);
    buf_put_u8(&b, 0);
    assert_non_null(strstr((char *)b.p, "\"key\":\"a\\\"\\\\\\u000a\\u00ff\""));
    assert_null(strstr((char *)b.p, "exception"));
    buf_clear(&b);
    hostile.key_id = SPAN(long_name, sizeof long_name);
    access_log_format(&b, &hostile);
    assert_true(b.n < 400);
    buf_clear(&b);
    struct access_line other = {
        .exception = "", .method = SPAN_LIT("GET"), .path = SPAN_LIT("/a\"b")};
    access_log_format(&b, &other);
    buf_put_u8(&b, 0);
    assert_non_null(strstr((char *)b.p, ",\"method\":\"GET\",\"path\":\"/a\\\"b\","));
    buf_deinit(&b);
}

static void test_access_log__reopens_a_file_that_was_moved_away(void **state)
{
    (void)state;
    char folder[] = "/tmp/sheaf_log_XXXXXX", path[64], moved[64], text[1024];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.log", folder);
    snprintf(moved, sizeof moved, "%s/b.log", folder);
    struct access_log log;
    struct arena arena;
    sheaf_error err;
    arena_init(&arena, 1 << 20);
    assert_ok(access_log_open(&log, path, &err));
    access_log_write(&log, &arena, &line);
    assert_int_equal(rename(path, moved), 0);
    assert_ok(access_log_reopen(&log, &err));
    access_log_write(&log, &arena, &line);
    access_log_write(&log, &arena, &line);
    access_log_close(&log);
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    assert_true(n > 0 && text[n - 1] == '\n');
    int lines = 0;
    for (ssize_t i = 0; i < n; i++) lines += text[i] == '\n';
    assert_int_equal(lines, 2);
    assert_int_equal(unlink(path) | unlink(moved) | rmdir(folder), 0);
    arena_deinit(&arena);
}

static void test_access_log__a_path_that_cannot_be_opened_is_named(void **state)
{
    (void)state;
    struct access_log log;
    sheaf_error err;
    assert_rc(access_log_open(&log, "/nonexistent/a.log", &err), SHEAF_VALIDATION);
    assert_string_equal(err.message,
                        "cannot open the access log /nonexistent/a.log: No such file or directory");
    access_log_close(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_access_log__a_line_is_one_object),
        cmocka_unit_test(test_access_log__what_a_client_sent_is_escaped_and_cut),
        cmocka_unit_test(test_access_log__reopens_a_file_that_was_moved_away),
        cmocka_unit_test(test_access_log__a_path_that_cannot_be_opened_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
