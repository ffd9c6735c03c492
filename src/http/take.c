/* Turns bytes of a connection into requests: head, admission, body, and the handler.
 *
 * Know before editing: a body is admitted before any memory of it is taken. Who finds no room in
 * the budget keeps its head among the connection's bytes and tries again from there. */
#include "http/inner.h"
#include "http/parse.h"

static const struct http_options *options(const struct conn *c)
{
    return &c->loop->server->options;
}

/* ---- requests ---- */

static void new_head(struct conn *c)
{
    const struct http_options *o = options(c);
    scan_init(&c->scan, o->max_line, o->max_head, o->max_headers);
    c->since_ns = c->loop->now_ns;
}

static void append(struct conn *c, struct http_exchange *x)
{
    if (c->last)
        c->last->next = x;
    else
        c->first = x;
    c->last = x;
    c->n_queued++;
}

void conn_refuse(struct conn *c, int status, const char *why)
{
    struct http_exchange *x = c->reading;
    c->phase = PHASE_DEAF;
    c->reading = NULL;
    c->lingers = true;
    if (!x) {
        x = exchange_new(c->loop, c);
        if (!x) {
            conn_close(c);
            return;
        }
        append(c, x);
    }
    x->interim = x->interim == sizeof HTTP_CONTINUE - 1 ? 0 : x->interim;
    answer_refusal(x, status, why);
}

static void hand_over(struct conn *c, struct http_exchange *x)
{
    struct http_loop *l = c->loop;
    c->reading = NULL;
    c->phase = x->wants_close ? PHASE_DEAF : PHASE_HEAD;
    new_head(c);
    x->is_handed = true;
    l->had_request = true;
    loop_count(&l->figures.requests, 1);
    l->server->handler.request(l->server->handler.ctx, x);
}

static void begin_body(struct conn *c, struct http_exchange *x, bool is_first_read)
{
    struct scan s = c->scan;
    c->reading = x;
    c->since_ns = c->window_ns = c->loop->now_ns;
    c->window_bytes = 0;
    if (s.is_chunked) {
        c->phase = PHASE_CHUNKED;
        c->body_cap = 0;
        c->chunked = (struct chunked){.max = options(c)->max_body};
    } else {
        uint8_t *p = arena_bytes(&x->arena, s.length);
        if (!p) {
            conn_refuse(c, 503, "the server is out of memory; try again");
            return;
        }
        c->phase = PHASE_BODY;
        c->body_left = s.length;
        x->request.body = SPAN(p, s.length);
    }
    if (s.expects_100 && is_first_read) {
        x->interim = sizeof HTTP_CONTINUE - 1;
        conn_dirty(c);
    }
    conn_arm(c);
}

static bool parse(struct conn *c, struct http_exchange *x, span head)
{
    const struct scan *s = &c->scan;
    struct http_request *r = &x->request;
    span copy = arena_dup(&x->arena, head);
    r->peer = arena_dup(&x->arena, SPAN(c->peer, c->peer_n)); /* may outlive the connection */
    int status = 503;
    if (copy.p && r->peer.p)
        status = parse_head(&x->arena, (uint8_t *)(uintptr_t)copy.p, copy.n, s, r);
    if (status) {
        c->reading = x;
        conn_refuse(c, status, status == 503 ? "out of memory" : "the head is malformed");
        return false;
    }
    r->is_tls = c->tls != NULL;
    r->body = SPAN_LIT("");
    x->is_http10 = s->is_http10;
    x->is_head = span_eq(r->method, SPAN_LIT("HEAD"));
    x->wants_close = s->wants_close || (s->is_http10 && !s->wants_keep_alive);
    x->started_ns = c->loop->now_ns;
    return true;
}

/* A whole head at the front of *in, with `reserved` bytes of the budget. */
static bool begin(struct conn *c, span *in, uint64_t reserved)
{
    struct http_exchange *x = exchange_new(c->loop, c);
    if (!x) {
        (void)budget_release(&c->loop->server->budget, reserved);
        conn_close(c);
        return false;
    }
    x->reserved = reserved;
    append(c, x);
    span head = SPAN((const uint8_t *)in->p + c->scan.start_at, c->scan.at - c->scan.start_at);
    *in = span_from(*in, c->scan.at);
    if (!parse(c, x, head)) return true;
    if (c->scan.is_chunked || c->scan.length)
        begin_body(c, x, in->n == 0);
    else
        hand_over(c, x);
    return true;
}

/* ---- admission ---- */

static void wait_for_room(struct conn *c)
{
    struct http_loop *l = c->loop;
    if (!c->is_waiting) {
        c->is_waiting = true;
        c->next_waiting = NULL;
        if (l->waiting)
            l->waiting_last->next_waiting = c;
        else
            l->waiting = c;
        l->waiting_last = c;
        atomic_fetch_add(&l->server->budget.n_waiting, 1);
        loop_wake_all(l->server); /* whoever is slow may be on another loop */
    }
    if (c->phase != PHASE_WAIT) c->since_ns = l->now_ns;
    c->phase = PHASE_WAIT;
    conn_arm(c);
}

void conn_wait_end(struct conn *c)
{
    struct http_loop *l = c->loop;
    if (!c->is_waiting) return;
    c->is_waiting = false;
    struct conn *before = NULL;
    for (struct conn *w = l->waiting; w != c; w = w->next_waiting) before = w;
    if (before)
        before->next_waiting = c->next_waiting;
    else
        l->waiting = c->next_waiting;
    if (l->waiting_last == c) l->waiting_last = before;
    atomic_fetch_sub(&l->server->budget.n_waiting, 1);
}

/* Before a body is read: is it within the limit, and is there memory for it? */
static bool admit(struct conn *c, span *in)
{
    const struct scan *s = &c->scan;
    struct budget *b = &c->loop->server->budget;
    if (s->length > options(c)->max_body) {
        conn_refuse(c, 413, "the body is too large");
        return true;
    }
    uint64_t need = EXCHANGE_BYTES + 2 * (s->is_chunked ? CHUNKED_FIRST : s->length);
    if (!budget_try(b, need)) {
        wait_for_room(c);
        if (!budget_try(b, need)) return false; /* once more: room may have come before we queued */
    }
    conn_wait_end(c);
    return begin(c, in, need);
}

static bool take_head(struct conn *c, span *in)
{
    if (conn_is_full(c)) return false;
    if (c->scan.at == 0) c->since_ns = c->loop->now_ns;
    switch (scan_head(&c->scan, *in)) {
    case SCAN_DONE:
        return admit(c, in);
    case SCAN_REFUSED:
        conn_refuse(c, c->scan.status, c->scan.why);
        return true;
    default:
        c->byte_ns = c->loop->now_ns;
        conn_arm(c);
        return false;
    }
}

/* ---- bodies ---- */

void conn_took_body(struct conn *c, size_t n)
{
    c->body_left -= n;
    c->window_bytes += n;
    if (c->body_left == 0) hand_over(c, c->reading);
}

uint8_t *conn_body_end(struct conn *c)
{
    span body = c->reading->request.body;
    return (uint8_t *)(uintptr_t)body.p + (body.n - c->body_left);
}

static bool take_body(struct conn *c, span *in)
{
    size_t n = in->n < c->body_left ? in->n : (size_t)c->body_left;
    memcpy(conn_body_end(c), in->p, n);
    *in = span_from(*in, n);
    conn_took_body(c, n);
    return true;
}

/* More memory for a body of unknown length; counted twice like one of known length. */
static bool grow_chunked(struct conn *c, struct http_exchange *x, size_t need)
{
    uint64_t cap = c->body_cap ? c->body_cap * 2 : CHUNKED_FIRST;
    while (cap < need) cap *= 2;
    uint64_t reserved = EXCHANGE_BYTES + 2 * cap;
    if (reserved > x->reserved) {
        if (!budget_try(&c->loop->server->budget, reserved - x->reserved)) return false;
        x->reserved = reserved;
    }
    uint8_t *p = mem_realloc(x->heap_body, cap);
    if (!p) return false;
    x->heap_body = p;
    c->body_cap = cap;
    return true;
}

static bool take_chunks(struct conn *c, span *in)
{
    struct http_exchange *x = c->reading;
    span data;
    size_t before = in->n;
    enum chunked_verdict v = chunked_take(&c->chunked, in, &data);
    c->window_bytes += before - in->n;
    size_t n = x->request.body.n;
    if (v == CHUNKED_REFUSED) {
        conn_refuse(c, c->chunked.status, c->chunked.why);
    } else if (v == CHUNKED_DONE) {
        hand_over(c, x);
    } else if (data.n) {
        if (n + data.n > c->body_cap && !grow_chunked(c, x, n + data.n)) {
            conn_refuse(c, 503, "the server's memory is in use; try again");
            return true;
        }
        memcpy(x->heap_body + n, data.p, data.n);
        x->request.body = SPAN(x->heap_body, n + data.n);
    }
    return true;
}

/* ---- any bytes ---- */

void conn_take(struct conn *c, span *in)
{
    bool goes_on = true;
    while (in->n && goes_on) {
        switch (c->phase) {
        case PHASE_HEAD:
            goes_on = take_head(c, in);
            break;
        case PHASE_WAIT:
            goes_on = admit(c, in);
            break;
        case PHASE_BODY:
            goes_on = take_body(c, in);
            break;
        case PHASE_CHUNKED:
            goes_on = take_chunks(c, in);
            break;
        default: /* refused or closing: nothing behind it counts */
            c->drained += (uint32_t)in->n;
            *in = span_from(*in, in->n);
            break;
        }
    }
}
