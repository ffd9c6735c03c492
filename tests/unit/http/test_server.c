/* A whole server and raw sockets. The handler echoes; "/late" answers through a thread. */
#include "client.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>

struct world {
    struct http_server *server;
    uint16_t port;
    _Atomic int n_done, n_turns, n_refused;
    pthread_mutex_t lock;
    struct http_exchange *late[256]; /* held until let_go */
    int n_late;
};

static void echo(struct http_exchange *x)
{
    const struct http_request *r = http_request(x);
    struct buf b;
    buf_init(&b, http_arena(x), 20 << 20);
    buf_printf(&b, "%.*s %.*s ", SPAN_ARG(r->method), SPAN_ARG(r->path));
    buf_put_span(&b, r->body);
    assert_false(b.failed);
    http_add_header(x, SPAN_LIT("Content-Type"), SPAN_LIT("text/plain"));
    http_answer(x, 200, buf_span(&b));
}

static void on_request(void *ctx, struct http_exchange *x)
{
    struct world *w = ctx;
    if (!span_starts(http_request(x)->path, SPAN_LIT("/late"))) {
        echo(x);
        return;
    }
    pthread_mutex_lock(&w->lock);
    w->late[w->n_late++] = x;
    pthread_mutex_unlock(&w->lock);
}

static void on_turn_end(void *ctx, struct http_loop *l)
{
    (void)l;
    ((struct world *)ctx)->n_turns++;
}

static void on_refused(void *ctx, int status, const char *why, struct buf *body,
                       const char **type_out)
{
    ((struct world *)ctx)->n_refused++;
    *type_out = "application/x-refusal";
    buf_printf(body, "refused %d %s", status, why);
}

static void on_done(void *ctx, struct http_exchange *x)
{
    assert_true(http_status(x) == 0 || http_bytes_out(x) > 0 || http_status(x) == 200);
    ((struct world *)ctx)->n_done++;
}

static void start(struct world *w, const struct http_options *options)
{
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    struct http_options o = options ? *options : (struct http_options){.n_loops = 1};
    struct http_handler h = {w, on_request, on_turn_end, on_refused, on_done};
    sheaf_error err;
    if (http_server_open(&o, &h, &w->server, &err) != SHEAF_OK) fail_msg("%s", err.message);
    assert_ok(http_server_start(w->server, &err));
    w->port = http_server_port(w->server);
}

static void stop(struct world *w)
{
    http_server_close(w->server);
    pthread_mutex_destroy(&w->lock);
}

static void wait_late(struct world *w, int n)
{
    for (;;) {
        pthread_mutex_lock(&w->lock);
        int have = w->n_late;
        pthread_mutex_unlock(&w->lock);
        if (have >= n) return;
        sched_yield();
    }
}

static void answer_late(void *ctx) { echo(ctx); }

static void let_go(struct world *w, int i)
{
    assert_ok(http_loop_post(http_exchange_loop(w->late[i]), answer_late, w->late[i]));
}

static void test_server__answers_a_post_and_keeps_the_connection(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    for (int i = 0; i < 3; i++) {
        client_say(fd, "POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
        assert_int_equal(client_reply(fd, &r), 200);
        assert_string_equal(reply_body(&r), "POST /a hello");
        assert_non_null(strstr(r.text, "\r\nServer: sheaf\r\n"));
        assert_non_null(strstr(r.text, "\r\nDate: "));
        assert_null(strstr(r.text, "Connection:"));
    }
    close(fd);
    stop(&w);
    assert_int_equal(w.n_done, 3);
    assert_int_equal(w.n_turns, 3);
}

static void test_server__takes_a_request_byte_by_byte(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    const char *text = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nx: y\r\n\r\n";
    for (const char *p = text; *p; p++) client_send(fd, SPAN(p, 1));
    assert_int_equal(client_reply(fd, &r), 200);
    assert_string_equal(reply_body(&r), "POST / hello world");
    close(fd);
    stop(&w);
}

static void test_server__answers_in_order_whatever_order_the_answers_come_in(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    client_say(fd, "GET /late/0 HTTP/1.1\r\nHost: x\r\n\r\nGET /now HTTP/1.1\r\nHost: x\r\n\r\n"
                   "GET /late/1 HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_late(&w, 2);
    let_go(&w, 1);
    assert_true(client_is_quiet(fd));
    let_go(&w, 0);
    static const char *const want[] = {"GET /late/0 ", "GET /now ", "GET /late/1 "};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(client_reply(fd, &r), 200);
        assert_string_equal(reply_body(&r), want[i]);
    }
    close(fd);
    stop(&w);
    assert_int_equal(w.n_done, 3);
}

static void test_server__drain_lets_what_is_under_way_end(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int idle = client_connect(w.port), busy = client_connect(w.port);
    client_say(idle, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(client_reply(idle, &r), 200);
    client_say(busy, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_late(&w, 1);
    assert_false(http_server_drain(w.server, 1));
    assert_true(client_is_closed(idle));
    let_go(&w, 0);
    assert_true(http_server_drain(w.server, PATIENCE_MS));
    assert_int_equal(client_reply(busy, &r), 200);
    assert_non_null(strstr(r.text, "Connection: close\r\n"));
    assert_true(client_is_closed(busy));
    close(idle);
    close(busy);
    stop(&w);
}

static void test_server__close_ends_whatever_is_under_way(void **state)
{
    (void)state;
    struct world w;
    start(&w, NULL);
    int fd = client_connect(w.port);
    client_say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_late(&w, 1);
    stop(&w);
    assert_int_equal(w.n_done, 1);
    assert_true(client_is_closed(fd));
    close(fd);
}

static void test_server__refuses_in_the_words_of_the_handler(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    client_say(fd, "GET / HTTP/1.1\r\n\r\n");
    assert_int_equal(client_reply(fd, &r), 400);
    assert_string_equal(reply_body(&r), "refused 400 no Host header");
    assert_non_null(strstr(r.text, "Content-Type: application/x-refusal\r\n"));
    assert_non_null(strstr(r.text, "Connection: close\r\n"));
    assert_true(client_is_closed(fd));
    close(fd);
    stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server__answers_a_post_and_keeps_the_connection),
        cmocka_unit_test(test_server__takes_a_request_byte_by_byte),
        cmocka_unit_test(test_server__answers_in_order_whatever_order_the_answers_come_in),
        cmocka_unit_test(test_server__drain_lets_what_is_under_way_end),
        cmocka_unit_test(test_server__close_ends_whatever_is_under_way),
        cmocka_unit_test(test_server__refuses_in_the_words_of_the_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
