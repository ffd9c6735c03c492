/* client: the transport of libcurl against a server of a few lines, which misbehaves as told. */
#include "client/wire.h"
#include "support/support.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the server answers, request by request; "" and what is behind the last one: it closes without
 * a word. */
struct naughty {
    int listener;
    char url[64];
    const char *const *answers;
    size_t n_answers, at;
    int connections;
    bool keeps_silent; /* reads, and never answers */
    pthread_t thread;
    char last[8192]; /* the last request */
    int stop[2];
};

#define OK_(body, more) "HTTP/1.1 200 OK\r\nContent-Length: " body "\r\n" more "\r\n"

/* Reads one request whole; false: the client has gone, or the test is over. */
static bool read_request(struct naughty *n, int fd)
{
    size_t got = 0;
    for (;;) {
        struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = n->stop[0], .events = POLLIN}};
        if (poll(p, 2, 20000) <= 0 || p[1].revents) return false;
        ssize_t more = read(fd, n->last + got, sizeof n->last - 1 - got);
        if (more <= 0) return false;
        got += (size_t)more;
        n->last[got] = '\0';
        const char *end = strstr(n->last, "\r\n\r\n"),
                   *length = strstr(n->last, "Content-Length: ");
        if (end && length && strlen(end + 4) >= (size_t)atoi(length + 16)) return true;
    }
}

static void serve_one(struct naughty *n, int fd)
{
    while (read_request(n, fd)) {
        if (n->keeps_silent) continue;
        const char *answer = n->at < n->n_answers ? n->answers[n->at++] : NULL;
        if (!answer || !*answer) return;
        if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0) return;
        if (answer[strlen(answer) - 1] == '{') return; /* cut in the middle */
    }
}

static void *serve(void *ctx)
{
    struct naughty *n = ctx;
    for (;;) {
        struct pollfd p[2] = {{.fd = n->listener, .events = POLLIN},
                              {.fd = n->stop[0], .events = POLLIN}};
        if (poll(p, 2, 20000) <= 0 || p[1].revents) return NULL;
        int fd = accept(n->listener, NULL, NULL);
        if (fd < 0) return NULL;
        n->connections++;
        serve_one(n, fd);
        close(fd);
    }
}

static void start(struct naughty *n, const char *const *answers, size_t n_answers)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    n->answers = answers;
    n->n_answers = n_answers;
    n->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(n->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(n->listener, 8), 0);
    assert_int_equal(getsockname(n->listener, (struct sockaddr *)&at, &size), 0);
    assert_int_equal(pipe(n->stop), 0);
    snprintf(n->url, sizeof n->url, "http://127.0.0.1:%d", ntohs(at.sin_port));
    assert_int_equal(pthread_create(&n->thread, NULL, serve, n), 0);
}

static void stop(struct naughty *n)
{
    assert_int_equal(write(n->stop[1], "x", 1), 1);
    pthread_join(n->thread, NULL);
    close(n->listener);
    close(n->stop[0]);
    close(n->stop[1]);
}

static struct client *open_client(const char *url, uint32_t timeout_ms, uint32_t attempts)
{
    struct client *k;
    sheaf_error err;
    struct client_options o = {.url = url,
                               .access_key_id = "AKID",
                               .secret_access_key = "secret",
                               .session_token = "token",
                               .timeout_ms = timeout_ms,
                               .max_attempts = attempts,
                               .seed = 3};
    if (client_open(&o, &k, &err) != SHEAF_OK) fail_msg("%s", err.message);
    return k;
}

static sheaf_rc call(struct client *k, const char *operation, sheaf_error *err, char answer[64])
{
    struct arena arena;
    span got;
    arena_init(&arena, 1 << 20);
    struct ctx c = {&arena, err};
    err_clear(err);
    sheaf_rc rc = client_call(k, &c, span_cstr(operation), SPAN_LIT("{\"x\":1}"), &got);
    snprintf(answer, 64, "%.*s", SPAN_ARG(got));
    arena_deinit(&arena);
    return rc;
}

static void test_curl__sends_a_signed_post_and_keeps_the_connection(void **state)
{
    (void)state;
    static const char *const answers[] = {OK_("2", "") "{}",
                                          OK_("7", "x-AMZ-crc32: 362988500\r\n") "{\"a\":1}"};
    struct naughty n = {.at = 0};
    sheaf_error err;
    char answer[64];
    start(&n, answers, 2);
    struct client *k = open_client(n.url, 0, 1);
    assert_ok(call(k, "GetItem", &err, answer));
    assert_string_equal(answer, "{}");
    /* The checksum that stands there is another's: the bytes are not believed. */
    assert_rc(call(k, "GetItem", &err, answer), SHEAF_INTERNAL);
    client_close(k);
    stop(&n);
    assert_int_equal(n.connections, 1);
    static const char *const parts[] = {"POST / HTTP/1.1\r\n",
                                        "Content-Length: 7\r\n",
                                        "X-Amz-Target: DynamoDB_20120810.GetItem\r\n",
                                        "Content-Type: application/x-amz-json-1.0\r\n",
                                        "X-Amz-Security-Token: token\r\n",
                                        "Authorization: AWS4-HMAC-SHA256 Credential=AKID/",
                                        "\r\n\r\n{\"x\":1}"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(n.last, parts[i])) fail_msg("no %s in %s", parts[i], n.last);
}

static void test_curl__goes_on_after_a_cut_connection(void **state)
{
    (void)state;
    static const char *const answers[] = {"", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
                                          OK_("2", "") "{}"};
    struct naughty n = {.at = 0};
    sheaf_error err;
    char answer[64];
    start(&n, answers, 3);
    struct client *k = open_client(n.url, 20000, 10);
    assert_ok(call(k, "PutItem", &err, answer));
    assert_string_equal(answer, "{}");
    client_close(k);
    stop(&n);
}

static void test_curl__says_when_the_outcome_is_not_known(void **state)
{
    (void)state;
    static const char *const answers[] = {""};
    struct naughty n = {.at = 0};
    sheaf_error err;
    char answer[64];
    start(&n, answers, 1);
    struct client *k = open_client(n.url, 20000, 2);
    assert_rc(call(k, "PutItem", &err, answer), SHEAF_UNKNOWN_OUTCOME);
    assert_non_null(strstr(err.message, n.url));
    assert_rc(call(k, "GetItem", &err, answer), SHEAF_RETRY_LATER);
    client_close(k);
    stop(&n);
}

static void test_curl__ends_with_its_deadline(void **state)
{
    (void)state;
    struct naughty n = {.keeps_silent = true};
    sheaf_error err;
    char answer[64];
    start(&n, NULL, 0);
    struct client *k = open_client(n.url, 100, 10);
    assert_rc(call(k, "GetItem", &err, answer), SHEAF_RETRY_LATER);
    assert_non_null(strstr(err.message, "timed out"));
    client_close(k);
    stop(&n);
}

static void test_curl__says_that_nobody_listens(void **state)
{
    (void)state;
    struct naughty n = {.at = 0};
    sheaf_error err;
    char answer[64];
    start(&n, NULL, 0);
    stop(&n); /* its port is free now */
    struct client *k = open_client(n.url, 20000, 2);
    assert_rc(call(k, "PutItem", &err, answer), SHEAF_RETRY_LATER);
    assert_non_null(strstr(err.message, "connect"));
    client_close(k);
}

struct waiting {
    struct client *k;
    sheaf_rc rc;
    sheaf_error err;
};

static void *wait_for_ever(void *ctx)
{
    struct waiting *w = ctx;
    char answer[64];
    w->rc = call(w->k, "GetItem", &w->err, answer);
    return NULL;
}

static void test_cancel__ends_the_calls_under_way(void **state)
{
    (void)state;
    struct naughty n = {.keeps_silent = true};
    pthread_t thread;
    start(&n, NULL, 0);
    struct waiting w = {.k = open_client(n.url, 60000, 1)};
    struct timespec soon;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, &w), 0);
    do { /* until the call has begun, whenever that is */
        client_cancel(w.k);
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 50000000;
        if (soon.tv_nsec >= 1000000000) soon.tv_sec++, soon.tv_nsec -= 1000000000;
    } while (pthread_timedjoin_np(thread, NULL, &soon) != 0);
    assert_int_equal(w.rc, SHEAF_IO);
    assert_string_equal(w.err.message, "the call was cancelled");
    client_close(w.k);
    stop(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curl__sends_a_signed_post_and_keeps_the_connection),
        cmocka_unit_test(test_curl__goes_on_after_a_cut_connection),
        cmocka_unit_test(test_curl__says_when_the_outcome_is_not_known),
        cmocka_unit_test(test_curl__ends_with_its_deadline),
        cmocka_unit_test(test_curl__says_that_nobody_listens),
        cmocka_unit_test(test_cancel__ends_the_calls_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
