/* Turns a readable socket into bytes for take.c.
 *
 * Know before editing: bytes are read into the loop's scratch and used there; only what cannot be
 * used yet (part of a head, requests behind one that waits) is copied into a buffer of the
 * connection, which is freed when it is empty: an idle connection holds no buffer. Bodies of known
 * length are read where they will stay. */
#include "http/inner.h"

#include <errno.h>

/* ---- bytes that wait ---- */

static void drop_kept(struct conn *c)
{
    if (!c->in) return;
    if (budget_release(&c->loop->server->budget, c->in_cap)) loop_wake_all(c->loop->server);
    mem_free(c->in);
    c->in = NULL;
    c->in_at = c->in_n = c->in_cap = 0;
}

/* Room for n more bytes behind the kept ones. Counted in the budget without asking: the bytes are
 * bounded by the limits of a head and of one read, and while they are there others wait. */
static bool make_room(struct conn *c, uint32_t n)
{
    if (c->in && c->in_at) {
        memmove(c->in, c->in + c->in_at, c->in_n - c->in_at);
        c->in_n -= c->in_at;
        c->in_at = 0;
    }
    if (c->in_cap - c->in_n >= n) return true;
    uint32_t cap = c->in_cap ? c->in_cap * 2 : 1024;
    while (cap - c->in_n < n) cap *= 2;
    uint8_t *p = mem_realloc(c->in, cap);
    if (!p) return false;
    budget_force(&c->loop->server->budget, cap - c->in_cap);
    c->in = p;
    c->in_cap = cap;
    return true;
}

static void keep(struct conn *c, span rest)
{
    if (rest.n == 0 || (c->phase != PHASE_HEAD && c->phase != PHASE_WAIT)) return;
    if (!make_room(c, (uint32_t)rest.n)) {
        conn_close(c);
        return;
    }
    memcpy(c->in + c->in_n, rest.p, rest.n);
    c->in_n += (uint32_t)rest.n;
}

/* ---- reading ---- */

static void take_kept(struct conn *c)
{
    span in = SPAN(c->in + c->in_at, c->in_n - c->in_at);
    conn_take(c, &in);
    c->in_at = c->in_n - (uint32_t)in.n;
    if (c->in_at == c->in_n) drop_kept(c);
}

static bool wants_bytes(const struct conn *c)
{
    switch (c->phase) {
    case PHASE_HEAD:
        return !conn_is_full(c);
    case PHASE_BODY:
    case PHASE_CHUNKED:
    case PHASE_LINGER:
        return true;
    default:
        return false;
    }
}

static void at_end(struct conn *c)
{
    c->is_eof = true;
    c->is_readable = false;
    if (c->phase == PHASE_LINGER) {
        conn_close(c);
    } else if (c->phase != PHASE_HEAD || c->scan.at) {
        conn_refuse(c, 400, "the request ended before it was whole");
    } else {
        c->phase = PHASE_DEAF; /* half-closed: what is under way is still answered */
        conn_dirty(c);
    }
}

/* n bytes of the `asked` have come, or the end, or -errno. */
static bool came(struct conn *c, ssize_t n, size_t asked)
{
    if (n > 0) {
        loop_count(&c->loop->figures.bytes_in, (uint64_t)n);
        if ((size_t)n < asked && !c->tls && !c->is_hup) c->is_readable = false;
        return true;
    }
    if (n == 0)
        at_end(c);
    else if (n == -EAGAIN)
        c->is_readable = false;
    else
        conn_close(c);
    return false;
}

static size_t fill_body(struct conn *c)
{
    uint8_t *scratch = c->loop->scratch;
    size_t left = (size_t)c->body_left;
    struct iovec v[2] = {{conn_body_end(c), left}, {scratch, READ_BYTES}};
    ssize_t n = io_read(c, v, 2);
    if (!came(c, n, left + READ_BYTES)) return 0;
    size_t got = (size_t)n, of_body = got < left ? got : left;
    conn_took_body(c, of_body);
    span rest = SPAN(scratch, got - of_body);
    conn_take(c, &rest);
    keep(c, rest);
    return got;
}

/* Behind the part of a head that is there. */
static size_t fill_kept(struct conn *c)
{
    if (!make_room(c, 512)) {
        conn_close(c);
        return 0;
    }
    uint32_t room = c->in_cap - c->in_n;
    struct iovec v = {c->in + c->in_n, room < READ_BYTES ? room : READ_BYTES};
    ssize_t n = io_read(c, &v, 1);
    if (!came(c, n, v.iov_len)) return 0;
    c->in_n += (uint32_t)n;
    take_kept(c);
    return (size_t)n;
}

static size_t fill(struct conn *c)
{
    struct iovec v = {c->loop->scratch, READ_BYTES};
    ssize_t n = io_read(c, &v, 1);
    if (!came(c, n, v.iov_len)) return 0;
    span in = SPAN(v.iov_base, (size_t)n);
    conn_take(c, &in);
    keep(c, in);
    return (size_t)n;
}

void conn_read(struct conn *c)
{
    size_t turn = 0;
    if (c->in) take_kept(c);
    while (c->is_readable && wants_bytes(c)) {
        if (turn >= READ_TURN) {
            conn_ready(c);
            return;
        }
        size_t n = c->phase == PHASE_BODY ? fill_body(c) : c->in ? fill_kept(c) : fill(c);
        if (n == 0) return;
        turn += n;
        if (c->phase == PHASE_LINGER && c->drained >= DRAIN_BYTES) conn_close(c);
    }
}
