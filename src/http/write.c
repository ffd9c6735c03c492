/* Turns answers into bytes on the wire, in the order of their requests.
 *
 * Know before editing: everything that is ready leaves in one call (heads and bodies of several
 * answers), at the end of a turn; an answer that is ready before the one in front of it waits. */
#include "http/inner.h"
#include "http/tls.h"

#include <errno.h>
#include <sys/socket.h>

struct gather {
    struct iovec v[IOVS];
    int n;
    size_t bytes;
};

static void add(struct gather *g, span s, size_t from)
{
    if (from >= s.n) return;
    g->v[g->n++] = (struct iovec){(uint8_t *)(uintptr_t)s.p + from, s.n - from};
    g->bytes += s.n - from;
}

/* What can leave now, the front of the queue first. */
static void gather(const struct conn *c, struct gather *g)
{
    g->n = 0;
    g->bytes = 0;
    for (struct http_exchange *x = c->first; x && g->n + 3 <= IOVS; x = x->next) {
        span interim = SPAN_LIT(HTTP_CONTINUE);
        if (x->interim) add(g, interim, interim.n - x->interim);
        if (!x->status) return;
        add(g, x->head, x->sent);
        add(g, x->body, x->sent > x->head.n ? x->sent - x->head.n : 0);
    }
}

static bool is_written(const struct http_exchange *x)
{
    return x->status && !x->interim && x->sent == x->head.n + x->body.n;
}

/* The last answer has left. Of a request whose body is under way nobody would read the rest. */
static void hear_no_more(struct conn *c)
{
    if (c->reading) conn_refuse(c, 503, "the connection ends; try again on another");
    c->phase = PHASE_DEAF;
}

/* n bytes have left: whose were they, and which answers are whole now? */
static void settle(struct conn *c, size_t n)
{
    while (c->first) {
        struct http_exchange *x = c->first;
        size_t interim = n < x->interim ? n : x->interim;
        x->interim = (uint8_t)(x->interim - interim);
        n -= interim;
        if (!x->status) return;
        size_t left = x->head.n + x->body.n - x->sent;
        size_t sent = n < left ? n : left;
        x->sent += sent;
        n -= sent;
        if (!is_written(x)) return;
        c->first = x->next;
        if (!c->first) c->last = NULL;
        c->n_queued--;
        conn_sent(c, x->reserved);
        if (x->closes) hear_no_more(c);
        exchange_free(x);
    }
}

/* All is answered and no request will come. A refused client may still be sending: closing now
 * would reset the connection and could destroy the answer on its way, so we shut our side and read
 * on for a while. */
static void end(struct conn *c)
{
    if (c->tls) tls_bye(c);
    if (!c->lingers || c->is_eof) {
        conn_close(c);
        return;
    }
    shutdown(c->fd, SHUT_WR);
    c->phase = PHASE_LINGER;
    c->since_ns = c->loop->now_ns;
    conn_arm(c);
    conn_ready(c);
}

static void written(struct conn *c)
{
    if (c->first || c->reading) {
        /* Fewer are under way than were: the connection may have been held back. */
        if (c->phase == PHASE_HEAD && (c->in || c->is_readable)) conn_ready(c);
        return;
    }
    bool is_last = c->phase == PHASE_DEAF || (c->loop->is_draining && conn_is_idle(c));
    if (is_last) {
        end(c);
        return;
    }
    if (c->phase != PHASE_HEAD) return;
    if (c->scan.at == 0) c->since_ns = c->loop->now_ns;
    conn_used(c);
    conn_arm(c);
    if (c->in || c->is_readable) conn_ready(c);
}

static void blocked(struct conn *c)
{
    c->is_writable = false;
    if (c->write_ns) return;
    c->write_ns = c->loop->now_ns;
    c->write_bytes = 0;
    conn_arm(c);
}

void conn_flush(struct conn *c)
{
    if (c->phase == PHASE_CLOSED || c->phase == PHASE_HANDSHAKE || c->phase == PHASE_LINGER) return;
    struct gather g;
    for (gather(c, &g); g.bytes && c->is_writable; gather(c, &g)) {
        ssize_t n = io_write(c, g.v, g.n);
        if (n == -EAGAIN) {
            blocked(c);
            return;
        }
        if (n < 0) {
            conn_close(c);
            return;
        }
        loop_count(&c->loop->figures.bytes_out, (uint64_t)n);
        c->write_bytes += (uint64_t)n;
        settle(c, (size_t)n);
    }
    if (g.bytes == 0) {
        c->write_ns = 0;
        written(c);
    }
}
