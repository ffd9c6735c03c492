/* Turns pressure on the memory budget into room for those who wait.
 *
 * Know before editing: memory is reserved before a body comes and kept until its answer has left,
 * so whoever sends slowly or does not read keeps it for as long as the deadlines allow, and a few
 * such clients keep all of it. The deadlines stay generous, because most of the time memory is
 * there; they end when others would be turned away. Only who makes us wait gives way: never a
 * request that the handler works on, and of two clients the one that has kept more for longer.
 * They are closed without a word, because an answer would keep the memory until it is read. */
#include "http/inner.h"

void conn_answered(struct conn *c, uint64_t n)
{
    c->n_answered += n;
    atomic_fetch_add_explicit(&c->loop->server->n_unread, n, memory_order_relaxed);
}

void conn_sent(struct conn *c, uint64_t n)
{
    assert(c->n_answered >= n);
    c->n_answered -= n;
    atomic_fetch_sub_explicit(&c->loop->server->n_unread, n, memory_order_relaxed);
}

/* Memory that goes when the connection does. */
static uint64_t held(const struct conn *c)
{
    uint64_t n = c->in_cap;
    for (const struct http_exchange *x = c->first; x; x = x->next)
        if (x->status || !x->is_handed) n += x->reserved;
    return n;
}

/* Since when the client makes us wait, and how much has come or gone since then. */
static bool waits_for_client(const struct conn *c, uint64_t *since_ns_out, uint64_t *bytes_out)
{
    *since_ns_out = c->write_ns ? c->write_ns : c->since_ns;
    if (c->write_ns) {
        *bytes_out = c->write_bytes;
        return true;
    }
    switch (c->phase) {
    case PHASE_HEAD:
        *bytes_out = c->scan.at;
        return c->scan.at != 0;
    case PHASE_BODY:
        *bytes_out = c->reading->request.body.n - c->body_left;
        return true;
    case PHASE_CHUNKED:
        *bytes_out = c->reading->request.body.n;
        return true;
    default:
        return false;
    }
}

static uint64_t ms_since(const struct conn *c, uint64_t ns)
{
    return (c->loop->now_ns - ns) / 1000000;
}

/* How much of the pressure is this client's: bytes times the time it has kept them; 0: none. */
static uint64_t blame_slow(const struct conn *c)
{
    uint64_t since_ns, bytes;
    if (!waits_for_client(c, &since_ns, &bytes)) return 0;
    uint64_t ms = ms_since(c, since_ns), n = held(c);
    if (ms < SHED_AFTER_MS || bytes >= SHED_BELOW * ms / 1000 || n < SHED_LEAST) return 0;
    return n / 1024 * ms;
}

static uint64_t blame_unread(const struct conn *c)
{
    return c->write_ns ? c->n_answered / 1024 * (ms_since(c, c->write_ns) + 1) : 0;
}

static bool close_worst(struct http_loop *l, uint64_t (*blame)(const struct conn *c))
{
    struct conn *worst = NULL;
    uint64_t most = 0;
    for (struct conn *c = l->conns; c; c = c->right) {
        uint64_t b = blame(c);
        if (b <= most) continue;
        most = b;
        worst = c;
    }
    if (worst) conn_close(worst);
    return worst != NULL;
}

bool shed_slow(struct http_loop *l) { return close_worst(l, blame_slow); }

static bool is_unread_too_much(const struct http_server *s)
{
    return atomic_load_explicit(&s->n_unread, memory_order_relaxed) > s->budget.max / 2;
}

void shed_unread(struct http_loop *l)
{
    for (int i = 0; i < SHEDS && is_unread_too_much(l->server); i++)
        if (!close_worst(l, blame_unread)) return;
}
