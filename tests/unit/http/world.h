/* tests/unit/http/world.h: a server in this process whose handler echoes the request. Requests for
 * "/late..." are held until the test lets them go; "/big" answers with a megabyte. */
#ifndef TESTS_UNIT_HTTP_WORLD_H
#define TESTS_UNIT_HTTP_WORLD_H

#include "client.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct world {
    struct http_server *server;
    uint16_t port;
    _Atomic int n_done, n_turns, n_refused;
    pthread_mutex_t lock;
    struct http_exchange *late[256]; /* held until let_go */
    int n_late;
};

static inline void echo(struct http_exchange *x)
{
    const struct http_request *r = http_request(x);
    struct buf b;
    buf_init(&b, http_arena(x), 20 << 20);
    buf_printf(&b, "%.*s %.*s ", SPAN_ARG(r->method), SPAN_ARG(r->path));
    buf_put_span(&b, r->body);
    if (b.failed) { /* only when the test makes memory fail */
        http_answer(x, 500, SPAN_LIT(""));
        return;
    }
    http_add_header(x, SPAN_LIT("Content-Type"), SPAN_LIT("text/plain"));
    http_add_header(x, SPAN_LIT("X-Peer"), r->peer);
    http_answer(x, 200, buf_span(&b));
}

static inline void on_request(void *ctx, struct http_exchange *x)
{
    struct world *w = ctx;
    span path = http_request(x)->path;
    if (span_eq(path, SPAN_LIT("/big"))) {
        static const uint8_t big[1 << 20];
        http_answer(x, 200, SPAN(big, sizeof big));
        return;
    }
    if (!span_starts(path, SPAN_LIT("/late"))) {
        echo(x);
        return;
    }
    pthread_mutex_lock(&w->lock);
    w->late[w->n_late++] = x;
    pthread_mutex_unlock(&w->lock);
}

static inline void on_turn_end(void *ctx, struct http_loop *l)
{
    (void)l;
    ((struct world *)ctx)->n_turns++;
}

static inline void on_refused(void *ctx, int status, const char *why, struct buf *body,
                              const char **type_out)
{
    ((struct world *)ctx)->n_refused++;
    *type_out = "application/x-refusal";
    buf_printf(body, "refused %d %s", status, why);
}

static inline void on_done(void *ctx, struct http_exchange *x)
{
    assert_true(http_status(x) == 0 || http_bytes_out(x) > 0 || http_status(x) >= 200);
    ((struct world *)ctx)->n_done++;
}

static inline void start(struct world *w, const struct http_options *options)
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

static inline void stop(struct world *w)
{
    http_server_close(w->server);
    pthread_mutex_destroy(&w->lock);
}

static inline void wait_late(struct world *w, int n)
{
    for (;;) {
        pthread_mutex_lock(&w->lock);
        int have = w->n_late;
        pthread_mutex_unlock(&w->lock);
        if (have >= n) return;
        sched_yield();
    }
}

static inline void answer_late(void *ctx) { echo(ctx); }

static inline void let_go(struct world *w, int i)
{
    assert_ok(http_loop_post(http_exchange_loop(w->late[i]), answer_late, w->late[i]));
}

/* A GET and its answer on a connection of its own. */
static inline int get(struct world *w, const char *path, struct reply *r)
{
    char text[256];
    int fd = client_connect(w->port);
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    client_say(fd, text);
    int status = client_reply(fd, r);
    close(fd);
    return status;
}

/* Until the server holds n connections. */
static inline void wait_connections(struct world *w, uint64_t n)
{
    uint64_t end_ns = clock_mono_ns(clock_system()) + PATIENCE_MS * 1000000ull;
    for (;;) {
        struct http_stats s;
        http_server_stats(w->server, &s);
        if (s.connections == n) return;
        if (clock_mono_ns(clock_system()) > end_ns)
            fail_msg("%u connections, wanted %u", (unsigned)s.connections, (unsigned)n);
        sched_yield();
    }
}

#endif
