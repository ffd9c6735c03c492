/* A whole server and raw sockets. The handler echoes; "/late" answers through a thread. */
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
