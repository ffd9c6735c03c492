/* Every allocation of a request and its answer fails in turn, once and for ever: the client sees an
 * answer or the end of its connection, nothing leaks, and the next client is served. */
#include "world.h"

#include "base/mem.h"

static bool ended_well(int fd, int want)
{
    struct reply r;
    int status = client_reply(fd, &r);
    if (status != 0 && status != want && status != 500 && status != 503)
        fail_msg("status %d", status);
    return status == want;
}

/* Part of a head that must be kept, chunks that need a heap buffer, an answer larger than the
 * exchange's room. */
static bool chunked_round(struct world *w)
{
    static char chunk[20000];
    int fd = client_connect(w->port);
    memset(chunk, 'c', sizeof chunk);
    client_say(fd, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-");
    client_say(fd, "Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 3; i++) {
        client_say(fd, "4e20\r\n");
        client_send(fd, SPAN(chunk, sizeof chunk));
        client_say(fd, "\r\n");
    }
    client_say(fd, "0\r\n\r\n");
    bool is_good = ended_well(fd, 200);
    close(fd);
    return is_good;
}

static bool length_round(struct world *w)
{
    static char body[30000];
    int fd = client_connect(w->port);
    client_say(fd, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n");
    client_send(fd, SPAN(body, sizeof body));
    bool is_good = ended_well(fd, 200);
    close(fd);
    return is_good;
}

static bool refused_round(struct world *w)
{
    int fd = client_connect(w->port);
    client_say(fd, "nonsense\r\n\r\n");
    bool is_good = ended_well(fd, 400);
    close(fd);
    return is_good;
}

static bool late_round(struct world *w)
{
    int fd = client_connect(w->port);
    client_say(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int n_late = 0;
    while (n_late == 0 && poll(&p, 1, 0) == 0) { /* it arrives, or the connection ends */
        pthread_mutex_lock(&w->lock);
        n_late = w->n_late;
        w->n_late = 0;
        pthread_mutex_unlock(&w->lock);
        sched_yield();
    }
    bool is_good = false;
    if (n_late) {
        while (http_loop_post(http_exchange_loop(w->late[0]), answer_late, w->late[0]) != SHEAF_OK)
            mem_fail_at(0, false); /* the handler's own affair: it tries again */
        is_good = ended_well(fd, 200);
    }
    close(fd);
    return is_good;
}

static void fail_each(bool (*round)(struct world *w), bool for_ever)
{
    struct world w;
    for (uint64_t nth = 1;; nth++) {
        start(&w, NULL); /* a new one each time: nothing is kept from the last round */
        mem_fail_at(nth, for_ever);
        bool is_good = round(&w);
        mem_fail_at(0, false);
        struct reply r;
        assert_int_equal(get(&w, "/", &r), 200);
        wait_connections(&w, 0);
        struct http_stats s;
        http_server_stats(w.server, &s);
        assert_int_equal(s.memory, 0);
        stop(&w);
        if (is_good) {
            assert_true(nth > 1);
            return;
        }
        assert_true(nth < 100);
    }
}

static void test_oom__chunked(void **state)
{
    (void)state;
    fail_each(chunked_round, false);
    fail_each(chunked_round, true);
}

static void test_oom__by_length(void **state)
{
    (void)state;
    fail_each(length_round, false);
    fail_each(length_round, true);
}

static void test_oom__refusal(void **state)
{
    (void)state;
    fail_each(refused_round, false);
    fail_each(refused_round, true);
}

static void test_oom__late_answer(void **state)
{
    (void)state;
    fail_each(late_round, false);
    fail_each(late_round, true);
}

static void test_oom__opening_a_server(void **state)
{
    (void)state;
    struct http_options o = {.n_loops = 2};
    struct http_handler h = {.request = on_request};
    for (uint64_t nth = 1;; nth++) {
        struct http_server *s;
        sheaf_error err;
        mem_fail_at(nth, false);
        sheaf_rc rc = http_server_open(&o, &h, &s, &err);
        mem_fail_at(0, false);
        if (rc == SHEAF_OK) {
            http_server_close(s);
            assert_true(nth > 3);
            return;
        }
        assert_int_equal(rc, SHEAF_NOMEM);
        assert_null(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oom__chunked),          cmocka_unit_test(test_oom__by_length),
        cmocka_unit_test(test_oom__refusal),          cmocka_unit_test(test_oom__late_answer),
        cmocka_unit_test(test_oom__opening_a_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
