/* A whole server and raw sockets. The handler echoes; "/late" answers through a thread. */
#include "heads.h"
#include "world.h"

#include "base/mem.h"

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

static void wait_requests(struct world *w, uint64_t n)
{
    struct http_stats s;
    do {
        sched_yield();
        http_server_stats(w->server, &s);
    } while (s.requests < n);
}

/* Half a request stands behind an answer that promises to be the last. */
static void test_server__drain_does_not_wait_for_a_body_behind_the_last_answer(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    client_say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_late(&w, 1);
    assert_false(http_server_drain(w.server, 1));
    client_say(fd, "GET /now HTTP/1.1\r\nHost: x\r\n\r\n"
                   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf");
    wait_requests(&w, 2);
    let_go(&w, 0);
    assert_int_equal(client_reply(fd, &r), 200);
    assert_int_equal(client_reply(fd, &r), 200);
    assert_non_null(strstr(r.text, "Connection: close\r\n"));
    assert_int_equal(client_reply(fd, &r), 503);
    close(fd);
    assert_true(http_server_drain(w.server, PATIENCE_MS));
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

static void test_server__answers_every_bad_head_with_its_status_and_closes(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    int n = 0;
    start(&w, NULL);
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].want < 400) continue;
        int fd = client_connect(w.port);
        client_say(fd, rows[i].head);
        if (client_reply(fd, &r) != rows[i].want) fail_msg("%s: %d", rows[i].head, r.status);
        assert_non_null(strstr(r.text, "Connection: close\r\n"));
        assert_int_equal(r.status == 405, strstr(r.text, "\r\nAllow: ") != NULL);
        assert_true(client_is_closed(fd));
        close(fd);
        n++;
    }
    assert_true(n >= 150);
    wait_connections(&w, 0);
    stop(&w);
}

/* At the limits the server really has. */
static void test_server__holds_16_kib_of_line_and_of_headers(void **state)
{
    (void)state;
    static char a[20000];
    memset(a, 'a', sizeof a);
    struct world w;
    struct reply r;
    start(&w, NULL);
    for (int more = 0; more < 2; more++) {
        int line = client_connect(w.port), headers = client_connect(w.port);
        client_say(line, "GET /"); /* with " HTTP/1.1" 14 bytes */
        client_send(line, SPAN(a, (size_t)(16384 - 14 + more)));
        client_say(line, " HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_int_equal(client_reply(line, &r), more ? 414 : 200);
        client_say(headers, "GET / HTTP/1.1\r\nHost: x\r\nX: "); /* 9 + 3 + 2 bytes */
        client_send(headers, SPAN(a, (size_t)(16384 - 14 + more)));
        client_say(headers, "\r\n\r\n");
        assert_int_equal(client_reply(headers, &r), more ? 431 : 200);
        close(line);
        close(headers);
    }
    for (int n = 100; n <= 101; n++) {
        int fd = client_connect(w.port);
        client_say(fd, "GET / HTTP/1.1\r\nHost: x\r\n");
        for (int i = 1; i < n; i++) client_say(fd, "X: y\r\n");
        client_say(fd, "\r\n");
        assert_int_equal(client_reply(fd, &r), n == 100 ? 200 : 431);
        close(fd);
    }
    stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server__answers_a_post_and_keeps_the_connection),
        cmocka_unit_test(test_server__takes_a_request_byte_by_byte),
        cmocka_unit_test(test_server__answers_in_order_whatever_order_the_answers_come_in),
        cmocka_unit_test(test_server__drain_lets_what_is_under_way_end),
        cmocka_unit_test(test_server__drain_does_not_wait_for_a_body_behind_the_last_answer),
        cmocka_unit_test(test_server__close_ends_whatever_is_under_way),
        cmocka_unit_test(test_server__refuses_in_the_words_of_the_handler),
        cmocka_unit_test(test_server__answers_every_bad_head_with_its_status_and_closes),
        cmocka_unit_test(test_server__holds_16_kib_of_line_and_of_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
