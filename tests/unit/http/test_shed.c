/* Who gives way when memory is short: clients that make the server wait, and nobody else. */
#include "world.h"

#include <fcntl.h>

static span post(struct buf *b, size_t length, size_t sent)
{
    buf_clear(b);
    buf_printf(b, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", length);
    for (size_t i = 0; i < sent; i++) buf_put_u8(b, 'b');
    return buf_span(b);
}

static void wait_bytes(struct world *w, uint64_t n)
{
    struct http_stats s;
    do http_server_stats(w->server, &s);
    while (s.bytes_in < n);
}

struct fixture {
    struct clock_manual clock;
    struct world w;
    struct buf text;
    uint64_t sent;
    int a, b;
};

static void begin(struct fixture *f, uint64_t budget)
{
    clock_manual_init(&f->clock, 1000000000);
    struct http_options o = {.n_loops = 1, .memory_budget = budget, .clock = &f->clock.base};
    start(&f->w, &o);
    buf_init(&f->text, NULL, 2 << 20);
    f->sent = 0;
    f->a = client_connect(f->w.port);
    f->b = client_connect(f->w.port);
}

/* Until the server has read all of it, or the head of one whose body it does not admit. */
static void say(struct fixture *f, int fd, size_t length, size_t sent, bool is_admitted)
{
    span text = post(&f->text, length, sent);
    client_send(fd, text);
    f->sent += is_admitted ? text.n : 40;
    wait_bytes(&f->w, f->sent);
}

static void advance(struct fixture *f, int64_t us)
{
    clock_manual_advance(&f->clock, us);
    http_server_poke(f->w.server);
}

static void end(struct fixture *f)
{
    close(f->a);
    close(f->b);
    buf_deinit(&f->text);
    stop(&f->w);
}

static void test_shed__a_body_that_does_not_come_gives_way(void **state)
{
    (void)state;
    struct fixture f;
    struct reply r;
    begin(&f, 100000);
    say(&f, f.a, 20000, 10, true);     /* 16384 + 40000 of 100000 */
    say(&f, f.b, 20000, 20000, false); /* does not fit */
    advance(&f, 200000);
    assert_true(client_is_quiet(f.a));
    assert_true(client_is_quiet(f.b));
    advance(&f, 200000);
    assert_int_equal(client_reply(f.b, &r), 200);
    assert_true(client_is_closed(f.a));
    end(&f);
}

static void test_shed__a_body_that_keeps_up_stays(void **state)
{
    (void)state;
    struct fixture f;
    struct reply r;
    begin(&f, 180000);
    say(&f, f.a, 60000, 50000, true);  /* 16384 + 120000 of 180000 */
    say(&f, f.b, 20000, 20000, false); /* does not fit */
    advance(&f, 400000);
    assert_true(client_is_quiet(f.a));
    assert_true(client_is_quiet(f.b));
    char rest[10000];
    memset(rest, 'b', sizeof rest);
    client_send(f.a, SPAN(rest, sizeof rest));
    char part[4096];
    assert_true(client_recv(f.a, part, sizeof part) > 0);
    assert_int_equal(client_reply(f.b, &r), 200);
    end(&f);
}

static void test_shed__nobody_gives_way_while_there_is_room(void **state)
{
    (void)state;
    struct fixture f;
    struct reply r;
    begin(&f, 200000);
    say(&f, f.a, 20000, 10, true);
    say(&f, f.b, 20000, 20000, true);
    assert_int_equal(client_reply(f.b, &r), 200);
    advance(&f, 5000000);
    assert_true(client_is_quiet(f.a));
    end(&f);
}

/* Requests behind answers that are not read stay in the socket. */
static void test_conn__begins_no_request_while_large_answers_are_unread(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 512u << 20);
    fcntl(f.a, F_SETFL, O_NONBLOCK);
    span text = post(&f.text, 1 << 20, 1 << 20);
    struct pollfd p = {.fd = f.a, .events = POLLOUT};
    for (size_t at = 0, n = 0; n < 60 * text.n && poll(&p, 1, 300) == 1;) {
        ssize_t sent = send(f.a, (const char *)text.p + at, text.n - at, MSG_NOSIGNAL);
        if (sent < 0) continue;
        n += (size_t)sent;
        at = (at + (size_t)sent) % text.n;
    }
    struct http_stats s;
    http_server_stats(f.w.server, &s);
    assert_true(s.memory_peak < 24u << 20);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shed__a_body_that_does_not_come_gives_way),
        cmocka_unit_test(test_shed__a_body_that_keeps_up_stays),
        cmocka_unit_test(test_shed__nobody_gives_way_while_there_is_room),
        cmocka_unit_test(test_conn__begins_no_request_while_large_answers_are_unread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
