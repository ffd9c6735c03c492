/* Turns what http calls into calls of the service: sets up what a loop has for itself, gives each
 * request its place in the exchange's arena, and counts it when it is over. */
#include "server/state.h"

#include "base/mem.h"

#include <assert.h>

/* ---- loops ---- */

static void look(void *ctx)
{
    struct server_loop *l = ctx;
    park_look(&l->park);
    metric_set(&l->metrics.parked_now, l->park.n);
}

static bool wake(void *ctx)
{
    struct server_loop *l = ctx;
    return http_loop_post(l->loop, look, l) == SHEAF_OK;
}

/* false: the server is being closed, and nobody would close this one. */
static bool loop_join(struct server *s, struct server_loop *l)
{
    pthread_mutex_lock(&s->mutex);
    bool is_open = !s->is_closing;
    if (is_open) {
        park_init(&l->park, s->engine,
                  &(struct park_hooks){.ctx = l, .wake = wake, .leave = dispatch_leave});
        l->next = s->loops;
        s->loops = l;
    }
    pthread_mutex_unlock(&s->mutex);
    return is_open;
}

static struct server_loop *loop_new(struct server *s, struct http_loop *loop)
{
    struct server_loop *l = mem_zalloc(sizeof *l);
    uint64_t seed;
    if (!l) return NULL;
    l->server = s;
    l->loop = loop;
    if (!rng_secret(&seed, sizeof seed)) seed = clock_mono_ns(s->clock) ^ (uintptr_t)l;
    rng_init(&l->ids, seed);
    if (!loop_join(s, l)) {
        mem_free(l);
        return NULL;
    }
    http_loop_set_user(loop, l);
    return l;
}

static struct server_loop *loop_of(struct server *s, struct http_loop *loop)
{
    struct server_loop *l = http_loop_user(loop);
    return l ? l : loop_new(s, loop);
}

void server_loops_close(struct server *s)
{
    pthread_mutex_lock(&s->mutex);
    s->is_closing = true;
    for (struct server_loop *l = s->loops; l; l = l->next) park_close(&l->park);
    pthread_mutex_unlock(&s->mutex);
}

void server_loops_free(struct server *s)
{
    while (s->loops) {
        struct server_loop *l = s->loops;
        s->loops = l->next;
        park_deinit(&l->park);
        auth_ring_unref(l->ring);
        mem_free(l);
    }
}

/* ---- requests ---- */

/* 52 characters as the service's: digits and the letters up to V, five bits each. */
static void make_id(struct rng *r, char out[REQUEST_ID_BYTES])
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
    uint64_t bits = 0;
    for (unsigned i = 0, left = 0; i < REQUEST_ID_BYTES; i++, left--, bits >>= 5) {
        if (left == 0) {
            bits = rng_u64(r) >> 4;
            left = 12;
        }
        out[i] = digits[bits & 31];
    }
}

static bool peer_is_loopback(span peer)
{
    return span_starts(peer, SPAN_LIT("127.")) || span_starts(peer, SPAN_LIT("[::1]")) ||
           span_starts(peer, SPAN_LIT("::1")) || span_starts(peer, SPAN_LIT("[::ffff:127.")) ||
           span_eq(peer, SPAN_LIT("unix"));
}

static bool may_read_figures(struct call *c, const struct http_request *r)
{
    return c->loop->server->options.metrics_open || peer_is_loopback(r->peer) ||
           dispatch_is_admin(c);
}

static void answer_get(struct call *c, const struct http_request *r)
{
    if (span_eq(r->path, SPAN_LIT("/")))
        health_answer(c);
    else if (span_eq(r->path, SPAN_LIT("/metrics")) && may_read_figures(c, r))
        report_begin(c);
    else
        answer_unknown(c);
}

static void keep_for_log(struct call *c, const struct http_request *r)
{
    size_t n = r->path.n < ACCESS_TEXT_MAX ? r->path.n : ACCESS_TEXT_MAX;
    c->peer = arena_dup(c->ctx.arena, r->peer);
    c->method = arena_dup(c->ctx.arena, r->method);
    c->path = arena_dup(c->ctx.arena, SPAN(r->path.p, n));
}

static void on_request(void *ctx, struct http_exchange *x)
{
    struct server *s = ctx;
    const struct http_request *r = http_request(x);
    struct server_loop *l = loop_of(s, http_exchange_loop(x));
    struct call *c = l ? ARENA_NEW(http_arena(x), struct call) : NULL;
    if (!c) {
        http_answer(x, 503, SPAN_NONE);
        return;
    }
    c->x = x;
    c->loop = l;
    c->ctx = (struct ctx){http_arena(x), &c->err};
    make_id(&l->ids, c->id);
    if (access_log_is_on(&s->log)) keep_for_log(c, r);
    http_set_user(x, c);
    if (span_eq(r->method, SPAN_LIT("POST")))
        dispatch_post(c);
    else if (span_eq(r->method, SPAN_LIT("GET")) || span_eq(r->method, SPAN_LIT("HEAD")))
        answer_get(c, r);
    else if (span_eq(r->method, SPAN_LIT("OPTIONS")))
        answer_preflight(c);
    else
        answer_unknown(c);
}

static void on_turn_end(void *ctx, struct http_loop *loop)
{
    (void)ctx;
    struct server_loop *l = http_loop_user(loop);
    if (!l) return;
    park_turn_end(&l->park);
    metric_set(&l->metrics.parked_now, l->park.n);
}

/* ---- afterwards ---- */

static void log_call(struct call *c, const struct http_request *r, uint64_t ns)
{
    const struct server *s = c->loop->server;
    struct access_line line = {
        .time_us = clock_now_us(s->clock),
        .peer = c->peer,
        .key_id = c->key_id,
        .operation = c->op ? span_cstr(op_name(c->op)) : SPAN_NONE,
        .method = c->op ? SPAN_NONE : c->method,
        .path = c->op ? SPAN_NONE : c->path,
        .table = c->table,
        .request_id = SPAN(c->id, sizeof c->id),
        .exception = c->reply.rc == SHEAF_OK ? "" : sheaf_rc_exception(c->reply.rc),
        .status = http_status(c->x),
        .bytes_in = r->body.n,
        .bytes_out = http_bytes_out(c->x),
        .duration_ns = ns,
    };
    access_log_write(&s->log, c->ctx.arena, &line);
}

static void on_done(void *ctx, struct http_exchange *x)
{
    (void)ctx;
    struct call *c = http_user(x);
    if (!c) return;
    const struct http_request *r = http_request(x);
    const struct server *s = c->loop->server;
    uint64_t ns = clock_mono_ns(s->clock) - http_started_ns(x);
    metrics_count(&c->loop->metrics,
                  &(struct metrics_sample){
                      .operation = c->op ? op_number(c->op) : METRICS_OPERATIONS_MAX - 1,
                      .rc = c->reply.rc,
                      .ns = ns,
                      .bytes_in = r->body.n,
                      .bytes_out = http_bytes_out(x),
                  });
    if (access_log_is_on(&s->log)) log_call(c, r, ns);
}

/* What http refuses by itself gets a body that SDKs can read. */
static void on_refused(void *ctx, int status, const char *why, struct buf *body,
                       const char **type_out)
{
    (void)ctx;
    const char *name = status == 503   ? "ServiceUnavailableException"
                       : status == 413 ? "RequestEntityTooLargeException"
                       : status == 408 ? "RequestTimeoutException"
                                       : "BadRequestException";
    *type_out = "application/x-amz-json-1.0";
    buf_printf(body, "{\"__type\":\"com.amazon.coral.service#%s\",\"message\":\"%s\"}", name, why);
}

struct http_handler server_handler(struct server *s)
{
    return (struct http_handler){.ctx = s,
                                 .request = on_request,
                                 .turn_end = on_turn_end,
                                 .refused = on_refused,
                                 .done = on_done};
}
