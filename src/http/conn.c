/* Turns events and deadlines of a socket into reading, writing and closing.
 *
 * Know before editing: sockets are edge-triggered and registered once for everything, so that
 * back-pressure and blocked writes cost no system call. The price: is_readable and is_writable stay
 * true until a call has said EAGAIN (or read less than it asked for), and who stops early must come
 * back by conn_ready or conn_dirty. */
#include "http/inner.h"
#include "http/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void name_peer(struct conn *c, const struct sockaddr *a)
{
    char host[INET6_ADDRSTRLEN] = "";
    int n;
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)a;
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        n = snprintf(c->peer, sizeof c->peer, "%s:%u", host, ntohs(v4->sin_port));
    } else if (a->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)a;
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        n = snprintf(c->peer, sizeof c->peer, "[%s]:%u", host, ntohs(v6->sin6_port));
    } else {
        n = snprintf(c->peer, sizeof c->peer, "unix");
    }
    c->peer_n = (uint8_t)n;
}

static bool add(struct conn *c)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    return epoll_ctl(c->loop->epoll, EPOLL_CTL_ADD, c->fd, &e) == 0;
}

static void link_in(struct conn *c)
{
    struct http_loop *l = c->loop;
    c->left = NULL;
    c->right = l->conns;
    if (c->right)
        c->right->left = c;
    else
        l->conns_last = c;
    l->conns = c;
}

static void link_out(struct conn *c)
{
    struct http_loop *l = c->loop;
    *(c->left ? &c->left->right : &l->conns) = c->right;
    *(c->right ? &c->right->left : &l->conns_last) = c->left;
}

void conn_used(struct conn *c)
{
    if (c->loop->conns == c) return;
    link_out(c);
    link_in(c);
}

bool conn_give_way(struct http_loop *l)
{
    enum { LOOKS = 64 }; /* those in front of it are busy; beyond so many we do not look */
    struct conn *c = l->conns_last;
    for (int i = 0; c && i < LOOKS; i++, c = c->left) {
        if (!conn_is_idle(c) || l->now_ns - c->since_ns < GIVE_WAY_MS * 1000000ull) continue;
        conn_close(c);
        return true;
    }
    return false;
}

void conn_new(struct http_loop *l, int fd, const void *address)
{
    struct http_server *s = l->server;
    const struct http_options *o = &s->options;
    struct conn *c = mem_zalloc(sizeof *c);
    if (!c) goto failed;
    c->loop = l;
    c->fd = fd;
    c->is_writable = true;
    c->since_ns = l->now_ns;
    c->phase = PHASE_HEAD;
    scan_init(&c->scan, o->max_line, o->max_head, o->max_headers);
    name_peer(c, address);
    if (s->tls) {
        c->phase = PHASE_HANDSHAKE;
        c->tls = tls_session_new(s->tls, fd);
        if (!c->tls) goto failed;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fails on Unix sockets: no matter */
    if (!add(c)) goto failed;
    link_in(c);
    l->n_conns++;
    loop_count(&l->figures.accepted, 1);
    conn_arm(c);
    return;
failed:
    if (c && c->tls) tls_session_free(c->tls);
    mem_free(c);
    close(fd);
    atomic_fetch_sub(&s->n_conns, 1);
}

void conn_dirty(struct conn *c)
{
    if (c->is_dirty) return;
    c->is_dirty = true;
    c->next_dirty = c->loop->dirty;
    c->loop->dirty = c;
}

void conn_ready(struct conn *c)
{
    if (c->is_ready) return;
    c->is_ready = true;
    c->next_ready = c->loop->ready;
    c->loop->ready = c;
}

/* What a client does not read fills the kernel's buffers, megabytes each, and would stay there
 * after the close for as long as the client keeps its side open. */
static void forget_unsent(struct conn *c)
{
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

void conn_close(struct conn *c)
{
    struct http_loop *l = c->loop;
    if (c->phase == PHASE_CLOSED) return;
    c->phase = PHASE_CLOSED;
    conn_wait_end(c);
    conn_sent(c, c->n_answered);
    wheel_remove(&l->wheel, &c->timer);
    struct http_exchange *next;
    for (struct http_exchange *x = c->first; x; x = next) {
        next = x->next;
        exchange_lose(x);
    }
    c->first = c->last = c->reading = NULL;
    if (c->tls) tls_session_free(c->tls);
    c->tls = NULL;
    if (c->write_ns) forget_unsent(c);
    close(c->fd); /* which takes it out of epoll */
    link_out(c);
    c->next_dead = l->dead;
    l->dead = c;
    l->n_conns--;
    atomic_fetch_sub(&l->server->n_conns, 1);
    listen_resume(l);
}

void conn_reap(struct http_loop *l)
{
    while (l->dead) {
        struct conn *c = l->dead;
        l->dead = c->next_dead;
        if (c->in && budget_release(&l->server->budget, c->in_cap)) loop_wake_all(l->server);
        mem_free(c->in);
        mem_free(c);
    }
}

bool conn_is_idle(const struct conn *c) { return c->phase == PHASE_HEAD && !c->first && !c->in; }

/* ---- deadlines ---- */

static uint64_t after_ms(uint64_t from_ns, uint32_t ms) { return from_ns + ms * 1000000ull; }

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t phase_deadline(const struct conn *c)
{
    const struct http_options *o = &c->loop->server->options;
    switch (c->phase) {
    case PHASE_HANDSHAKE:
        return after_ms(c->since_ns, o->tls_ms);
    case PHASE_HEAD:
        if (c->scan.at == 0) return c->first ? UINT64_MAX : after_ms(c->since_ns, o->idle_ms);
        /* The whole head in time, and half of that between any two of its bytes. */
        return least(after_ms(c->since_ns, o->head_ms), after_ms(c->byte_ns, o->head_ms / 2));
    case PHASE_WAIT:
        return after_ms(c->since_ns, BUDGET_WAIT_MS);
    case PHASE_BODY:
    case PHASE_CHUNKED:
        return least(after_ms(c->since_ns, o->body_ms), after_ms(c->window_ns, BODY_WINDOW_MS));
    case PHASE_LINGER:
        return after_ms(c->since_ns, LINGER_MS);
    default:
        return UINT64_MAX;
    }
}

static uint64_t write_deadline(const struct conn *c)
{
    return c->write_ns ? after_ms(c->write_ns, c->loop->server->options.write_ms) : UINT64_MAX;
}

void conn_arm(struct conn *c)
{
    uint64_t at = least(phase_deadline(c), write_deadline(c));
    if (at != UINT64_MAX) wheel_arm(&c->loop->wheel, &c->timer, at);
}

static bool is_fast(uint64_t bytes, uint32_t ms) { return bytes >= (uint64_t)SLOWEST * ms / 1000; }

static void late_body(struct conn *c)
{
    uint64_t now = c->loop->now_ns;
    bool is_late = now >= after_ms(c->since_ns, c->loop->server->options.body_ms);
    if (is_late || !is_fast(c->window_bytes, BODY_WINDOW_MS)) {
        conn_refuse(c, 408, "the body came too slowly");
        return;
    }
    c->window_ns = now;
    c->window_bytes = 0;
}

static void late(struct conn *c)
{
    switch (c->phase) {
    case PHASE_HEAD:
        if (c->scan.at)
            conn_refuse(c, 408, "the head came too slowly");
        else
            conn_close(c);
        break;
    case PHASE_WAIT:
        conn_wait_end(c);
        conn_refuse(c, 503, "the server's memory is in use; try again");
        break;
    case PHASE_BODY:
    case PHASE_CHUNKED:
        late_body(c);
        break;
    default:
        conn_close(c);
        break;
    }
}

void conn_timer(struct conn *c)
{
    uint64_t now = c->loop->now_ns;
    if (now >= write_deadline(c)) {
        if (!is_fast(c->write_bytes, c->loop->server->options.write_ms)) {
            conn_close(c);
            return;
        }
        c->write_ns = now;
        c->write_bytes = 0;
    }
    if (now >= phase_deadline(c)) late(c);
    if (c->phase != PHASE_CLOSED) conn_arm(c);
}

/* ---- events ---- */

static void shake(struct conn *c)
{
    int done = tls_handshake(c);
    if (done == -EAGAIN) return;
    if (done < 0) {
        conn_close(c);
        return;
    }
    c->phase = PHASE_HEAD;
    c->since_ns = c->loop->now_ns;
    c->is_readable = c->is_writable = true;
    conn_arm(c);
}

void conn_event(struct conn *c, uint32_t events)
{
    if (c->phase == PHASE_CLOSED) return;
    if (events & EPOLLERR) { /* reset: nothing can be said any more */
        conn_close(c);
        return;
    }
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) c->is_readable = true;
    if (events & (EPOLLRDHUP | EPOLLHUP)) c->is_hup = true;
    if (events & EPOLLOUT && !c->is_writable) {
        c->is_writable = true;
        conn_dirty(c);
    }
    if (c->phase == PHASE_HANDSHAKE) shake(c);
    if (c->phase != PHASE_HANDSHAKE && c->phase != PHASE_CLOSED) conn_read(c);
}
