/* client: where to send, and as whom. */
#include "client/wire.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void test_endpoint__reads_urls(void **state)
{
    (void)state;
    static const struct {
        const char *url, *host, *streams, *region;
        bool is_loopback;
    } rows[] = {
        {"http://127.0.0.1:8000", "127.0.0.1:8000", "127.0.0.1:8000", "", true},
        {"http://localhost/", "localhost", "localhost", "", true},
        {"http://[::1]:80", "[::1]", "[::1]", "", true},
        {"HTTPS://Example.org:443", "Example.org", "Example.org", "", false},
        {"https://h:80", "h:80", "h:80", "", false},
        {"https://dynamodb.eu-west-1.amazonaws.com", "dynamodb.eu-west-1.amazonaws.com",
         "streams.dynamodb.eu-west-1.amazonaws.com", "eu-west-1", false},
        {"https://dynamodb.cn-north-1.amazonaws.com.cn", "dynamodb.cn-north-1.amazonaws.com.cn",
         "streams.dynamodb.cn-north-1.amazonaws.com.cn", "cn-north-1", false},
        {"https://dynamodb.example.org", "dynamodb.example.org", "dynamodb.example.org", "", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct endpoint e;
        sheaf_error err;
        assert_ok(endpoint_parse(rows[i].url, &e, &err));
        assert_string_equal(e.host, rows[i].host);
        assert_string_equal(e.streams_host, rows[i].streams);
        assert_string_equal(e.region, rows[i].region);
        assert_int_equal(e.is_loopback, rows[i].is_loopback);
        assert_non_null(strstr(e.url, rows[i].host));
    }
}

static void test_endpoint__refuses_what_is_none(void **state)
{
    (void)state;
    static const char *const rows[] = {"http://",        "ftp://h",    "http://h:0",
                                       "http://h:65536", "http://h:x", "http://h/path",
                                       "http://h?q",     "http://a b", "http://a\r\nX: y",
                                       "http://u:p@h",   "http://h:",  "http://:80"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct endpoint e;
        sheaf_error err;
        if (endpoint_parse(rows[i], &e, &err) != SHEAF_VALIDATION) fail_msg("%s", rows[i]);
        assert_null(strstr(err.message, "u:p"));
    }
}

/* ---- credentials ---- */

static const char file_text[] = "# keys\n"
                                "[default]\r\n"
                                "aws_access_key_id = AKDEFAULT\r\n"
                                "aws_secret_access_key=one=two\n"
                                "\n"
                                "[profile work]\n"
                                "  aws_access_key_id\t=AKWORK  \n"
                                "aws_secret_access_key = w\n"
                                "aws_session_token = tok\n"
                                "region = eu-central-1\n"
                                "[half]\n"
                                "aws_access_key_id = AKHALF\n";

static void clear_environment(void)
{
    static const char *const names[] = {
        "AWS_ACCESS_KEY_ID",  "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",           "AWS_REGION",
        "AWS_DEFAULT_REGION", "AWS_PROFILE",           "AWS_SHARED_CREDENTIALS_FILE", "HOME"};
    for (size_t i = 0; i < COUNT(names); i++) unsetenv(names[i]);
}

static sheaf_rc find(const char *url, struct client_options o, struct credentials *who,
                     sheaf_error *err)
{
    struct endpoint e;
    assert_ok(endpoint_parse(url, &e, err));
    return credentials_find(&o, &e, who, err);
}

static void test_credentials__come_from_options_environment_and_file(void **state)
{
    (void)state;
    struct credentials who;
    sheaf_error err;
    char path[] = "/tmp/sheaf-credentials-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, file_text, sizeof file_text - 1), sizeof file_text - 1);
    close(fd);
    const char *far = "https://db.example.org", *aws = "https://dynamodb.eu-west-1.amazonaws.com";
    clear_environment();
    assert_rc(find(far, (struct client_options){.url = far}, &who, &err), SHEAF_VALIDATION);
    assert_non_null(strstr(err.message, "sheaf_options"));
    assert_non_null(strstr(err.message, "AWS_ACCESS_KEY_ID"));
    assert_non_null(strstr(err.message, "~/.aws/credentials"));
    assert_ok(find("http://127.0.0.1:1", (struct client_options){.url = ""}, &who, &err));
    assert_string_equal(who.key_id, "sheaf");
    assert_string_equal(who.region, "us-east-1");

    setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
    assert_ok(find(aws, (struct client_options){.url = aws}, &who, &err));
    assert_string_equal(who.key_id, "AKDEFAULT");
    assert_string_equal(who.secret, "one=two");
    assert_string_equal(who.token, "");
    assert_string_equal(who.region, "eu-west-1");
    setenv("AWS_PROFILE", "work", 1);
    assert_ok(find(far, (struct client_options){.url = far}, &who, &err));
    assert_string_equal(who.key_id, "AKWORK");
    assert_string_equal(who.token, "tok");
    assert_string_equal(who.region, "eu-central-1");
    assert_rc(find(far, (struct client_options){.profile = "half"}, &who, &err), SHEAF_VALIDATION);
    assert_non_null(strstr(err.message, "half"));
    assert_string_equal(who.key_id, "");

    setenv("AWS_ACCESS_KEY_ID", "AKENV", 1);
    assert_rc(find(far, (struct client_options){.url = far}, &who, &err), SHEAF_VALIDATION);
    setenv("AWS_SECRET_ACCESS_KEY", "e", 1);
    setenv("AWS_DEFAULT_REGION", "ap-south-1", 1);
    assert_ok(find(far, (struct client_options){.url = far}, &who, &err));
    assert_string_equal(who.key_id, "AKENV");
    assert_string_equal(who.region, "ap-south-1");
    assert_ok(find(far, (struct client_options){.profile = "default"}, &who, &err));
    assert_string_equal(who.key_id, "AKDEFAULT");
    struct client_options given = {
        .access_key_id = "AKOPT", .secret_access_key = "o", .session_token = "t", .region = "r"};
    assert_ok(find(far, given, &who, &err));
    assert_string_equal(who.key_id, "AKOPT");
    assert_string_equal(who.token, "t");
    assert_string_equal(who.region, "r");
    given.session_token = "a\r\nX: y";
    assert_rc(find(far, given, &who, &err), SHEAF_VALIDATION);
    unlink(path);
    clear_environment();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endpoint__reads_urls),
        cmocka_unit_test(test_endpoint__refuses_what_is_none),
        cmocka_unit_test(test_credentials__come_from_options_environment_and_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
