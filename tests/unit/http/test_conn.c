/* Connections as they are in the world: pipelined, half-closed, reset, too many, short of memory. */
#include "world.h"

#include "base/mem.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

static void test_conn__answers_a_hundred_pipelined_requests_in_order(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    struct buf all;
    buf_init(&all, NULL, 1 << 20);
    for (int i = 0; i < 300; i++)
        buf_printf(&all, "POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", i);
    client_send(fd, buf_span(&all));
    buf_deinit(&all);
    for (int i = 0; i < 300; i++) {
        char want[32];
        snprintf(want, sizeof want, "POST /%d abc", i);
        assert_int_equal(client_reply(fd, &r), 200);
        assert_string_equal(reply_body(&r), want);
    }
    close(fd);
    stop(&w);
}

/* The 65th is not looked at before one of the 64 has been answered. */
static void test_conn__stops_reading_at_max_pipelined(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    for (int i = 0; i < 70; i++) client_say(fd, GET("/late"));
    wait_late(&w, 64);
    struct reply other;
    for (int i = 0; i < 3; i++) assert_int_equal(get(&w, "/", &other), 200); /* turns go by */
    assert_int_equal(w.n_late, 64);
    for (int i = 0; i < 64; i++) let_go(&w, i);
    wait_late(&w, 70);
    for (int i = 64; i < 70; i++) let_go(&w, i);
    for (int i = 0; i < 70; i++) assert_int_equal(client_reply(fd, &r), 200);
    close(fd);
    stop(&w);
    assert_int_equal(w.n_done, 73);
}

static void test_conn__answers_a_client_that_has_closed_its_side(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int now = client_connect(w.port), late = client_connect(w.port);
    client_say(now, GET("/a") GET("/b"));
    shutdown(now, SHUT_WR);
    assert_int_equal(client_reply(now, &r), 200);
    assert_int_equal(client_reply(now, &r), 200);
    assert_string_equal(reply_body(&r), "GET /b ");
    assert_true(client_is_closed(now));
    client_say(late, GET("/late"));
    shutdown(late, SHUT_WR);
    wait_late(&w, 1);
    let_go(&w, 0);
    assert_int_equal(client_reply(late, &r), 200);
    assert_true(client_is_closed(late));
    close(now);
    close(late);
    stop(&w);
}

static void test_conn__says_400_to_a_request_that_ends_early(void **state)
{
    (void)state;
    static const char *const parts[] = {
        "G",
        "GET / HTTP/1.1\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    };
    struct world w;
    struct reply r;
    start(&w, NULL);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int fd = client_connect(w.port);
        client_say(fd, parts[i]);
        shutdown(fd, SHUT_WR);
        assert_int_equal(client_reply(fd, &r), 400);
        assert_true(client_is_closed(fd));
        close(fd);
    }
    stop(&w);
    assert_int_equal(w.n_done, 0);
    assert_int_equal(w.n_refused, 5);
}

static void reset(int fd)
{
    struct linger l = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
    close(fd);
}

static void test_conn__survives_clients_that_vanish_while_an_answer_is_made(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    for (int i = 0; i < 20; i++) {
        int fd = client_connect(w.port);
        client_say(fd, GET("/late") GET("/late"));
        wait_late(&w, 2 * i + 2);
        if (i % 2)
            reset(fd);
        else
            close(fd);
    }
    for (int i = 0; i < 40; i++) let_go(&w, i);
    wait_connections(&w, 0);
    assert_int_equal(get(&w, "/", &r), 200);
    stop(&w);
    assert_int_equal(w.n_done, 41);
}

static void test_conn__survives_resets_at_any_byte(void **state)
{
    (void)state;
    static const char text[] = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    struct world w;
    struct reply r;
    start(&w, NULL);
    for (size_t n = 0; n < sizeof text; n++) {
        int fd = client_connect(w.port);
        client_send(fd, SPAN(text, n));
        reset(fd);
    }
    assert_int_equal(get(&w, "/", &r), 200);
    wait_connections(&w, 0);
    stop(&w);
}

static void test_conn__writes_a_large_answer_to_a_slow_reader(void **state)
{
    (void)state;
    struct world w;
    start(&w, NULL);
    int fd = client_connect(w.port);
    client_say(fd, "GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    size_t total = 0, n;
    char part[8192];
    while ((n = client_recv(fd, part, sizeof part))) total += n;
    assert_true(total > 1 << 20);
    assert_true(total < (1 << 20) + 300);
    close(fd);
    stop(&w);
}

static void test_conn__keeps_http_10_open_only_when_asked(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    client_say(fd, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_int_equal(client_reply(fd, &r), 200);
    assert_non_null(strstr(r.text, "Connection: keep-alive\r\n"));
    client_say(fd, "GET / HTTP/1.0\r\n\r\n");
    assert_int_equal(client_reply(fd, &r), 200);
    assert_non_null(strstr(r.text, "Connection: close\r\n"));
    assert_true(client_is_closed(fd));
    close(fd);
    stop(&w);
}

static void test_conn__sends_no_body_for_head(void **state)
{
    (void)state;
    struct world w;
    start(&w, NULL);
    int fd = client_connect(w.port);
    client_say(fd, "HEAD /abc HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    char text[1024];
    size_t n = 0, got;
    while ((got = client_recv(fd, text + n, sizeof text - 1 - n))) n += got;
    text[n] = 0;
    assert_non_null(strstr(text, "Content-Length: 10\r\n"));
    assert_string_equal(text + n - 4, "\r\n\r\n");
    close(fd);
    stop(&w);
}

static void test_conn__says_continue_only_to_a_body_that_will_be_read(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    client_say(fd,
               "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_int_equal(client_reply(fd, &r), 100);
    assert_string_equal(r.text, "HTTP/1.1 100 Continue\r\n\r\n");
    client_say(fd, "hi");
    assert_int_equal(client_reply(fd, &r), 200);
    /* The body came along: nothing to say. */
    client_say(fd,
               "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi");
    assert_int_equal(client_reply(fd, &r), 200);
    /* Behind an answer that is late it waits for its turn. */
    client_say(fd, GET("/late") "POST / HTTP/1.1\r\nHost: x\r\nExpect: "
                                "100-continue\r\nContent-Length: 2\r\n\r\n");
    wait_late(&w, 1);
    assert_true(client_is_quiet(fd));
    let_go(&w, 0);
    assert_int_equal(client_reply(fd, &r), 200);
    assert_int_equal(client_reply(fd, &r), 100);
    client_say(fd, "hi");
    assert_int_equal(client_reply(fd, &r), 200);
    /* Too large: the refusal, and no word of going on. */
    client_say(fd, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                   "Content-Length: 99999999\r\n\r\n");
    assert_int_equal(client_reply(fd, &r), 413);
    assert_true(client_is_closed(fd));
    close(fd);
    stop(&w);
}

static void test_conn__refuses_behind_what_is_under_way(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    client_say(fd, GET("/late") "nonsense\r\n\r\n" GET("/never"));
    wait_late(&w, 1);
    let_go(&w, 0);
    assert_int_equal(client_reply(fd, &r), 200);
    assert_int_equal(client_reply(fd, &r), 400);
    assert_true(client_is_closed(fd));
    close(fd);
    stop(&w);
    assert_int_equal(w.n_done, 1);
}

/* ---- sizes ---- */

static void post_of(struct world *w, size_t n, bool is_chunked, struct reply *r)
{
    int fd = client_connect(w->port);
    char *body = calloc(1, n + 1);
    assert_non_null(body);
    char head[128];
    if (is_chunked)
        snprintf(head, sizeof head,
                 "POST /late HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n", n);
    else
        snprintf(head, sizeof head, "POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
                 n);
    client_say(fd, head);
    client_send(fd, SPAN(body, n));
    if (is_chunked) client_say(fd, "\r\n0\r\n\r\n");
    free(body);
    if (r->status == 0) { /* taken: let it be answered */
        wait_late(w, 1);
        assert_int_equal(http_request(w->late[0])->body.n, n);
        w->n_late = 0;
        assert_ok(http_loop_post(http_exchange_loop(w->late[0]), answer_late, w->late[0]));
        char part[65536];
        size_t total = 0, got;
        while (total < n && (got = client_recv(fd, part, sizeof part))) total += got;
        assert_true(total >= n);
    } else {
        int want = r->status;
        assert_int_equal(client_reply(fd, r), want);
    }
    close(fd);
}

static void test_conn__takes_16_mib_and_not_a_byte_more(void **state)
{
    (void)state;
    struct world w;
    start(&w, NULL);
    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        struct reply good = {.status = 0}, bad = {.status = 413};
        post_of(&w, 16 << 20, is_chunked, &good);
        post_of(&w, (16 << 20) + 1, is_chunked, &bad);
    }
    stop(&w);
}

static void test_conn__refuses_chunks_that_pass_the_limit_while_they_come(void **state)
{
    (void)state;
    struct http_options o = {.n_loops = 1, .max_body = 10};
    struct world w;
    struct reply r;
    start(&w, &o);
    int fd = client_connect(w.port);
    client_say(fd, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "6\r\nabcdef\r\n5\r\n");
    assert_int_equal(client_reply(fd, &r), 413);
    close(fd);
    stop(&w);
}

/* ---- memory ---- */

static void test_conn__a_keep_alive_request_allocates_nothing(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    start(&w, NULL);
    int fd = client_connect(w.port);
    char body[601] = "";
    memset(body, 'b', 600);
    struct buf text;
    buf_init(&text, NULL, 4096);
    buf_printf(&text, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 600\r\n\r\n%s", body);
    uint64_t before = 0;
    for (int i = 0; i < 60; i++) {
        if (i == 10) before = mem_count();
        client_send(fd, buf_span(&text));
        assert_int_equal(client_reply(fd, &r), 200);
    }
    assert_int_equal(mem_count() - before, 0);
    /* Head and body in two pieces, as many clients send them. */
    size_t head_n = text.n - 600;
    before = mem_count();
    for (int i = 0; i < 20; i++) {
        client_send(fd, SPAN(text.p, head_n));
        client_send(fd, SPAN(text.p + head_n, 600));
        assert_int_equal(client_reply(fd, &r), 200);
    }
    assert_int_equal(mem_count() - before, 0);
    /* An answer from another thread. */
    for (int i = 0; i < 30; i++) {
        if (i == 10) before = mem_count();
        client_say(fd, GET("/late"));
        wait_late(&w, i + 1);
        let_go(&w, i);
        assert_int_equal(client_reply(fd, &r), 200);
    }
    assert_int_equal(mem_count() - before, 0);
    buf_deinit(&text);
    close(fd);
    stop(&w);
}

static void test_conn__gives_the_budget_back(void **state)
{
    (void)state;
    struct world w;
    struct reply r;
    struct http_stats s;
    start(&w, NULL);
    int fd = client_connect(w.port);
    client_say(fd, GET("/late"));
    wait_late(&w, 1);
    http_server_stats(w.server, &s);
    assert_true(s.memory >= 8192);
    let_go(&w, 0);
    assert_int_equal(client_reply(fd, &r), 200);
    close(fd);
    wait_connections(&w, 0);
    http_server_stats(w.server, &s);
    assert_int_equal(s.memory, 0);
    assert_true(s.memory_peak >= 8192);
    assert_int_equal(s.requests, 1);
    assert_int_equal(s.accepted, 1);
    stop(&w);
}

static void test_conn__waits_for_memory_and_goes_on_when_it_comes(void **state)
{
    (void)state;
    struct clock_manual clock;
    clock_manual_init(&clock, 1000000000);
    struct http_options o = {.n_loops = 1, .memory_budget = 100000, .clock = &clock.base};
    struct world w;
    struct reply r;
    start(&w, &o);
    int a = client_connect(w.port), b = client_connect(w.port), c = client_connect(w.port);
    char body[20001] = "";
    memset(body, 'b', 20000);
    struct buf text;
    buf_init(&text, NULL, 1 << 16);
    buf_printf(&text, "POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n%s", body);
    client_send(a, buf_span(&text)); /* 16384 + 40000 of 100000 */
    wait_late(&w, 1);
    client_send(b, buf_span(&text)); /* does not fit */
    struct http_stats s;
    do http_server_stats(w.server, &s); /* until its bytes have been seen */
    while (s.bytes_in < 2 * text.n - 20000);
    assert_int_equal(w.n_late, 1);
    let_go(&w, 0);
    wait_late(&w, 2);
    /* Now b holds it, and c waits longer than a second. */
    client_send(c, buf_span(&text));
    do http_server_stats(w.server, &s);
    while (s.bytes_in < 3 * text.n - 20000);
    assert_int_equal(w.n_late, 2);
    clock_manual_advance(&clock, 900000);
    http_server_poke(w.server);
    assert_true(client_is_quiet(c));
    clock_manual_advance(&clock, 200000);
    http_server_poke(w.server);
    assert_int_equal(client_reply(c, &r), 503);
    assert_true(client_is_closed(c));
    let_go(&w, 1);
    char part[4096];
    assert_true(client_recv(b, part, sizeof part) > 0);
    buf_deinit(&text);
    close(a);
    close(b);
    close(c);
    stop(&w);
}

/* ---- many ---- */

static void raise_files(void)
{
    struct rlimit l;
    getrlimit(RLIMIT_NOFILE, &l);
    if (l.rlim_cur < 8192 && l.rlim_max >= 8192) l.rlim_cur = 8192;
    setrlimit(RLIMIT_NOFILE, &l);
}

static void test_conn__holds_a_thousand_connections(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct http_options o = {.n_loops = 3};
    struct world w;
    struct reply r;
    static int fds[N];
    raise_files();
    start(&w, &o);
    for (int i = 0; i < N; i++) fds[i] = client_connect(w.port);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++) client_say(fds[i], GET("/x"));
        for (int i = 0; i < N; i++) assert_int_equal(client_reply(fds[i], &r), 200);
    }
    struct http_stats s;
    wait_connections(&w, N);
    http_server_stats(w.server, &s);
    assert_int_equal(s.requests, 2 * N);
    for (int i = 0; i < N; i++) close(fds[i]);
    wait_connections(&w, 0);
    stop(&w);
    assert_int_equal(w.n_done, 2 * N);
}

static void test_conn__waits_with_accepting_at_max_connections(void **state)
{
    (void)state;
    struct clock_manual clock;
    clock_manual_init(&clock, 1000000000);
    struct http_options o = {.n_loops = 1, .max_connections = 2, .clock = &clock.base};
    struct world w;
    struct reply r;
    start(&w, &o);
    int a = client_connect(w.port), b = client_connect(w.port), c = client_connect(w.port);
    client_say(a, GET("/"));
    client_say(b, GET("/"));
    client_say(c, GET("/"));
    assert_int_equal(client_reply(a, &r), 200);
    assert_int_equal(client_reply(b, &r), 200);
    assert_true(client_is_quiet(c));
    struct http_stats s;
    http_server_stats(w.server, &s);
    assert_int_equal(s.accepted, 2);
    close(a);
    assert_int_equal(client_reply(c, &r), 200);
    close(b);
    close(c);
    stop(&w);
}

/* Who has been idle for longest, and for more than a second, makes room for who comes. */
static void test_conn__idle_connections_give_way_at_max_connections(void **state)
{
    (void)state;
    struct clock_manual clock;
    clock_manual_init(&clock, 1000000000);
    struct http_options o = {.n_loops = 1, .max_connections = 3, .clock = &clock.base};
    struct world w;
    struct reply r;
    start(&w, &o);
    int busy = client_connect(w.port), a = client_connect(w.port), b = client_connect(w.port);
    client_say(busy, GET("/late"));
    wait_late(&w, 1);
    client_say(a, GET("/"));
    assert_int_equal(client_reply(a, &r), 200);
    client_say(b, GET("/"));
    assert_int_equal(client_reply(b, &r), 200);
    client_say(a, GET("/"));
    assert_int_equal(client_reply(a, &r), 200); /* now b is the one */
    clock_manual_advance(&clock, 2000000);
    int c = client_connect(w.port);
    client_say(c, GET("/"));
    assert_int_equal(client_reply(c, &r), 200);
    assert_true(client_is_closed(b));
    assert_true(client_is_quiet(a));
    let_go(&w, 0);
    assert_int_equal(client_reply(busy, &r), 200);
    close(busy);
    close(a);
    close(b);
    close(c);
    stop(&w);
}

static void test_listen__on_ipv6_where_there_is_any(void **state)
{
    (void)state;
    struct http_options o = {.n_loops = 2, .host = "::1"};
    struct world w = {.n_late = 0};
    struct http_handler h = {&w, on_request, NULL, NULL, NULL};
    struct http_server *s;
    sheaf_error err;
    if (http_server_open(&o, &h, &s, &err) != SHEAF_OK) {
        printf("%s\n", err.message);
        skip();
    }
    assert_ok(http_server_start(s, &err));
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(http_server_port(s))};
    a.sin6_addr = in6addr_loopback;
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    struct reply r;
    client_say(fd, GET("/"));
    assert_int_equal(client_reply(fd, &r), 200);
    assert_non_null(strstr(r.text, "X-Peer: [::1]:"));
    close(fd);
    http_server_close(s);
}

/* Descriptors run out: nothing dies, and accepting goes on when there are some again. */
static void test_conn__survives_running_out_of_descriptors(void **state)
{
    (void)state;
    struct clock_manual clock; /* stands still: nobody is idle for long enough to give way */
    clock_manual_init(&clock, 1000000000);
    struct http_options o = {.n_loops = 1, .clock = &clock.base};
    struct world w;
    struct reply r;
    start(&w, &o);
    int fd = client_connect(w.port);
    client_say(fd, GET("/"));
    assert_int_equal(client_reply(fd, &r), 200);
    int spare = client_connect(w.port); /* a slot for the client's side below */
    client_say(spare, GET("/"));
    assert_int_equal(client_reply(spare, &r), 200);
    struct rlimit old, low;
    getrlimit(RLIMIT_NOFILE, &old);
    int next = dup(fd); /* the lowest free number */
    close(next);
    low = (struct rlimit){(rlim_t)next + 1, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    int starved = client_connect(w.port); /* takes the last number: the server has none */
    client_say(starved, GET("/"));
    client_say(fd, GET("/")); /* the others are served meanwhile */
    assert_int_equal(client_reply(fd, &r), 200);
    assert_true(client_is_quiet(starved));
    setrlimit(RLIMIT_NOFILE, &old);
    clock_manual_advance(&clock, 300000);
    http_server_poke(w.server);
    assert_int_equal(client_reply(starved, &r), 200);
    close(fd);
    close(spare);
    close(starved);
    stop(&w);
}

/* ---- addresses ---- */

static void test_listen__refuses_an_address_in_use(void **state)
{
    (void)state;
    struct http_options o = {.n_loops = 2};
    struct world w;
    start(&w, &o);
    struct http_server *second;
    sheaf_error err;
    struct http_handler h = {.request = on_request, .ctx = &w};
    o.port = w.port;
    assert_rc(http_server_open(&o, &h, &second, &err), SHEAF_IO);
    assert_null(second);
    assert_non_null(strstr(err.message, "another server has it"));
    o.host = "not an address";
    assert_rc(http_server_open(&o, &h, &second, &err), SHEAF_IO);
    o.host = "192.0.2.1"; /* for documentation: nobody's */
    assert_rc(http_server_open(&o, &h, &second, &err), SHEAF_IO);
    stop(&w);
}

static int unix_connect(const char *folder, const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int dir = open(folder, O_RDONLY | O_DIRECTORY);
    assert_true(dir >= 0);
    snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/%s", dir, name);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    close(dir);
    return fd;
}

static void test_listen__on_a_unix_socket_of_any_length_of_path(void **state)
{
    (void)state;
    char root[] = "/tmp/sheaf-http-XXXXXX", folder[256], path[300];
    assert_non_null(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/%0150d", root, 7);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/s.sock", folder);
    struct http_options o = {.n_loops = 2, .unix_path = path};
    struct world w;
    struct reply r;
    for (int round = 0; round < 2; round++) {
        start(&w, &o);
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        assert_true(S_ISSOCK(st.st_mode));
        assert_int_equal(st.st_mode & 0777, 0600);
        for (int i = 0; i < 5; i++) {
            int fd = unix_connect(folder, "s.sock");
            client_say(fd, GET("/u"));
            assert_int_equal(client_reply(fd, &r), 200);
            close(fd);
        }
        struct http_server *second;
        sheaf_error err;
        struct http_handler h = {.request = on_request, .ctx = &w};
        assert_rc(http_server_open(&o, &h, &second, &err), SHEAF_IO);
        assert_non_null(strstr(err.message, "another server listens"));
        stop(&w);
        assert_int_equal(stat(path, &st), -1); /* gone with its server */
        /* The second round finds one that a dead server left. */
        int dead = socket(AF_UNIX, SOCK_STREAM, 0), dir = open(folder, O_RDONLY);
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/s.sock", dir);
        assert_int_equal(bind(dead, (struct sockaddr *)&a, sizeof a), 0);
        close(dead);
        close(dir);
    }
    assert_int_equal(unlink(path), 0);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    close(file);
    struct http_server *none;
    sheaf_error err;
    struct http_handler h = {.request = on_request, .ctx = &w};
    assert_rc(http_server_open(&o, &h, &none, &err), SHEAF_IO); /* a file is not replaced */
    assert_int_equal(unlink(path), 0);
    rmdir(folder);
    rmdir(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conn__answers_a_hundred_pipelined_requests_in_order),
        cmocka_unit_test(test_conn__stops_reading_at_max_pipelined),
        cmocka_unit_test(test_conn__answers_a_client_that_has_closed_its_side),
        cmocka_unit_test(test_conn__says_400_to_a_request_that_ends_early),
        cmocka_unit_test(test_conn__survives_clients_that_vanish_while_an_answer_is_made),
        cmocka_unit_test(test_conn__survives_resets_at_any_byte),
        cmocka_unit_test(test_conn__writes_a_large_answer_to_a_slow_reader),
        cmocka_unit_test(test_conn__keeps_http_10_open_only_when_asked),
        cmocka_unit_test(test_conn__sends_no_body_for_head),
        cmocka_unit_test(test_conn__says_continue_only_to_a_body_that_will_be_read),
        cmocka_unit_test(test_conn__refuses_behind_what_is_under_way),
        cmocka_unit_test(test_conn__takes_16_mib_and_not_a_byte_more),
        cmocka_unit_test(test_conn__refuses_chunks_that_pass_the_limit_while_they_come),
        cmocka_unit_test(test_conn__a_keep_alive_request_allocates_nothing),
        cmocka_unit_test(test_conn__gives_the_budget_back),
        cmocka_unit_test(test_conn__waits_for_memory_and_goes_on_when_it_comes),
        cmocka_unit_test(test_conn__holds_a_thousand_connections),
        cmocka_unit_test(test_conn__waits_with_accepting_at_max_connections),
        cmocka_unit_test(test_conn__idle_connections_give_way_at_max_connections),
        cmocka_unit_test(test_listen__on_ipv6_where_there_is_any),
        cmocka_unit_test(test_conn__survives_running_out_of_descriptors),
        cmocka_unit_test(test_listen__refuses_an_address_in_use),
        cmocka_unit_test(test_listen__on_a_unix_socket_of_any_length_of_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
