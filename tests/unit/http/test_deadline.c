/* Deadlines, with a clock that moves only when told. */
#include "world.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

struct timed {
    struct world w;
    struct clock_manual clock;
    uint64_t sent; /* bytes */
};

static void begin(struct timed *t)
{
    clock_manual_init(&t->clock, 1000000000);
    struct http_options o = {.n_loops = 1, .clock = &t->clock.base};
    start(&t->w, &o);
    t->sent = 0;
}

/* Sends and waits until the server has read it: what the clock says then counts. */
static void say(struct timed *t, int fd, const char *text)
{
    client_say(fd, text);
    t->sent += strlen(text);
    struct http_stats s;
    do {
        sched_yield();
        http_server_stats(t->w.server, &s);
    } while (s.bytes_in < t->sent);
}

/* The loops have seen the time when a request made afterwards has been answered. */
static void advance(struct timed *t, int64_t ms)
{
    struct reply r;
    clock_manual_advance(&t->clock, ms * 1000);
    http_server_poke(t->w.server);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(get(&t->w, "/", &r), 200);
        t->sent += strlen(GET("/"));
    }
}

static int connected(struct timed *t)
{
    struct http_stats s;
    http_server_stats(t->w.server, &s);
    uint64_t before = s.accepted;
    int fd = client_connect(t->w.port);
    do {
        sched_yield();
        http_server_stats(t->w.server, &s);
    } while (s.accepted == before);
    return fd;
}

static void test_deadline__idle_connections_end_after_60_s_without_a_word(void **state)
{
    (void)state;
    struct timed t;
    struct reply r;
    begin(&t);
    int fresh = connected(&t), used = connected(&t);
    say(&t, used, GET("/"));
    assert_int_equal(client_reply(used, &r), 200);
    advance(&t, 59000);
    assert_true(client_is_quiet(fresh));
    assert_true(client_is_quiet(used));
    say(&t, used, GET("/")); /* begins anew */
    assert_int_equal(client_reply(used, &r), 200);
    advance(&t, 1200);
    assert_true(client_is_closed(fresh));
    assert_true(client_is_quiet(used));
    advance(&t, 59000);
    assert_true(client_is_closed(used));
    close(fresh);
    close(used);
    stop(&t.w);
}

static void test_deadline__a_head_has_10_s_and_5_between_bytes(void **state)
{
    (void)state;
    struct timed t;
    struct reply r;
    begin(&t);
    int slow = connected(&t), stuck = connected(&t);
    say(&t, slow, "GET / HT");
    say(&t, stuck, "GET / HT");
    for (int i = 0; i < 2; i++) {
        advance(&t, 4000);
        say(&t, slow, "T");
        assert_true(client_is_quiet(slow));
        if (i == 0) assert_true(client_is_quiet(stuck));
    }
    assert_int_equal(client_reply(stuck, &r), 408); /* silent for more than 5 s */
    advance(&t, 2200);
    assert_int_equal(client_reply(slow, &r), 408); /* 10.2 s since its first byte */
    assert_non_null(strstr(r.text, "Connection: close"));
    assert_true(client_is_closed(slow));
    close(slow);
    close(stuck);
    stop(&t.w);
}

static void test_deadline__a_body_brings_a_kib_per_second(void **state)
{
    (void)state;
    struct timed t;
    struct reply r;
    char kib[10241];
    memset(kib, 'k', 10240);
    kib[10240] = 0;
    begin(&t);
    int slow = connected(&t), fair = connected(&t), chunked = connected(&t);
    say(&t, slow, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    say(&t, fair, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    say(&t, chunked, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nf4240\r\n");
    say(&t, slow, kib + 100);
    say(&t, fair, kib);
    advance(&t, 10100);
    assert_int_equal(client_reply(slow, &r), 408);
    assert_int_equal(client_reply(chunked, &r), 408);
    assert_true(client_is_quiet(fair));
    for (int i = 0; i < 4; i++) { /* fast enough, until 60 s are over */
        say(&t, fair, kib);
        advance(&t, 10100);
        assert_true(client_is_quiet(fair));
    }
    say(&t, fair, kib);
    advance(&t, 10100);
    assert_int_equal(client_reply(fair, &r), 408);
    close(slow);
    close(fair);
    close(chunked);
    stop(&t.w);
}

static void test_deadline__a_client_that_does_not_read_is_let_go(void **state)
{
    (void)state;
    struct timed t;
    begin(&t);
    int fd = connected(&t);
    int small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    for (int i = 0; i < 30; i++) say(&t, fd, GET("/big"));
    advance(&t, 59000);
    struct http_stats s;
    http_server_stats(t.w.server, &s);
    assert_true(s.memory > 0);
    advance(&t, 1500);
    wait_connections(&t.w, 0);
    http_server_stats(t.w.server, &s);
    assert_int_equal(s.memory, 0);
    close(fd);
    stop(&t.w);
}

static void test_deadline__a_handler_may_take_as_long_as_it_wants(void **state)
{
    (void)state;
    struct timed t;
    struct reply r;
    begin(&t);
    int fd = connected(&t);
    say(&t, fd, GET("/late"));
    wait_late(&t.w, 1);
    for (int i = 0; i < 5; i++) advance(&t, 61000);
    assert_true(client_is_quiet(fd));
    let_go(&t.w, 0);
    assert_int_equal(client_reply(fd, &r), 200);
    advance(&t, 59000); /* idle time begins with the answer */
    assert_true(client_is_quiet(fd));
    advance(&t, 1200);
    assert_true(client_is_closed(fd));
    close(fd);
    stop(&t.w);
}

/* A refused client that goes on sending sees its answer, and is let go after 64 KiB or 2 s. */
static void test_deadline__lingers_for_a_while_behind_a_refusal(void **state)
{
    (void)state;
    struct timed t;
    struct reply r;
    begin(&t);
    int fd = connected(&t), much = connected(&t);
    say(&t, fd, "nonsense\r\n");
    assert_int_equal(client_reply(fd, &r), 400);
    client_say(fd, "more");
    advance(&t, 1000);
    wait_connections(&t.w, 2);
    t.sent += 4;
    advance(&t, 1200);
    wait_connections(&t.w, 1);
    say(&t, much, "nonsense\r\n");
    assert_int_equal(client_reply(much, &r), 400);
    static char kib64[65536];
    client_send(much, SPAN(kib64, sizeof kib64));
    wait_connections(&t.w, 0);
    close(fd);
    close(much);
    stop(&t.w);
}

static void test_deadline__the_date_follows_the_clock(void **state)
{
    (void)state;
    struct timed t;
    struct reply r;
    begin(&t);
    get(&t.w, "/", &r);
    assert_non_null(strstr(r.text, "Date: Thu, 01 Jan 1970 00:16:40 GMT\r\n"));
    clock_manual_advance(&t.clock, 1000000);
    get(&t.w, "/", &r);
    assert_non_null(strstr(r.text, "Date: Thu, 01 Jan 1970 00:16:41 GMT\r\n"));
    stop(&t.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deadline__idle_connections_end_after_60_s_without_a_word),
        cmocka_unit_test(test_deadline__a_head_has_10_s_and_5_between_bytes),
        cmocka_unit_test(test_deadline__a_body_brings_a_kib_per_second),
        cmocka_unit_test(test_deadline__a_client_that_does_not_read_is_let_go),
        cmocka_unit_test(test_deadline__a_handler_may_take_as_long_as_it_wants),
        cmocka_unit_test(test_deadline__lingers_for_a_while_behind_a_refusal),
        cmocka_unit_test(test_deadline__the_date_follows_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
