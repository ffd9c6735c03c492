/* Turns an address into listening sockets, one per loop, and those into connections.
 *
 * Know before editing: SO_REUSEPORT lets the kernel spread connections over the loops, but it would
 * also let a second server of the same user share the port in silence. So the first socket binds
 * without it (and fails when anyone listens), gets it afterwards, and the others join. */
#include "http/inner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ACCEPTS = 64, ACCEPT_PAUSE_MS = 100 };

static sheaf_rc failed(struct http_server *s, const char *what, int e, sheaf_error *err)
{
    const struct http_options *o = &s->options;
    const char *hint = e == EADDRINUSE      ? "; another server has it: stop it or choose another"
                       : e == EACCES        ? "; ports below 1024 need a privilege"
                       : e == EADDRNOTAVAIL ? "; no interface of this machine has that address"
                                            : "";
    return err_set(err, SHEAF_IO, "Cannot %s %s port %u: %s%s", what, o->host, (unsigned)o->port,
                   strerror(e), hint);
}

static void set(int fd, int option)
{
    int on = 1;
    setsockopt(fd, SOL_SOCKET, option, &on, sizeof on);
}

static sheaf_rc listen_one(struct http_server *s, struct http_loop *l, const struct sockaddr *a,
                           socklen_t n, sheaf_error *err)
{
    bool is_first = l == s->loops;
    int fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return failed(s, "make a socket for", errno, err);
    l->listener = fd;
    set(fd, SO_REUSEADDR);
    if (a->sa_family == AF_INET6) {
        int on = 1;
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    }
    if (!is_first) set(fd, SO_REUSEPORT);
    if (bind(fd, a, n) != 0) return failed(s, "listen on", errno, err);
    if (is_first) set(fd, SO_REUSEPORT);
    if (listen(fd, LISTEN_BACKLOG) != 0) return failed(s, "listen on", errno, err);
    return SHEAF_OK;
}

static uint16_t *port_of(struct sockaddr *a)
{
    return a->sa_family == AF_INET ? &((struct sockaddr_in *)(void *)a)->sin_port
                                   : &((struct sockaddr_in6 *)(void *)a)->sin6_port;
}

static sheaf_rc listen_address(struct http_server *s, struct sockaddr *a, socklen_t n,
                               sheaf_error *err)
{
    *port_of(a) = htons(s->options.port);
    for (uint32_t i = 0; i < s->n_loops; i++) {
        TRY(listen_one(s, &s->loops[i], a, n, err));
        if (i > 0) continue;
        struct sockaddr_storage got;
        socklen_t got_n = sizeof got;
        if (getsockname(s->loops[0].listener, (struct sockaddr *)&got, &got_n) != 0)
            return failed(s, "listen on", errno, err);
        *port_of(a) = *port_of((struct sockaddr *)&got);
        s->port = ntohs(*port_of(a));
    }
    return SHEAF_OK;
}

sheaf_rc listen_open(struct http_server *s, sheaf_error *err)
{
    if (s->options.unix_path) return listen_unix_open(s, err);
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_PASSIVE};
    struct addrinfo *found;
    int e = getaddrinfo(s->options.host, NULL, &hints, &found);
    if (e == EAI_NONAME && strcmp(s->options.host, "localhost") == 0)
        e = getaddrinfo("127.0.0.1", NULL, &hints, &found);
    if (e)
        return err_set(err, SHEAF_IO, "Cannot listen on %s: %s; give a numeric address",
                       s->options.host, gai_strerror(e));
    sheaf_rc rc = listen_address(s, found->ai_addr, found->ai_addrlen, err);
    freeaddrinfo(found);
    return rc;
}

void listen_close(struct http_loop *l)
{
    if (l->listener < 0) return;
    /* A Unix socket is shared by the loops: closing our descriptor would leave it in our epoll. */
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->listener, NULL);
    close(l->listener);
    l->listener = -1;
    l->is_accepting = false;
}

/* ---- accepting ---- */

static void pause_accept(struct http_loop *l)
{
    if (!l->is_accepting) return;
    epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->listener, NULL);
    l->is_accepting = false;
    wheel_arm(&l->wheel, &l->accept_timer, l->now_ns + ACCEPT_PAUSE_MS * 1000000ull);
}

void listen_resume(struct http_loop *l)
{
    if (l->is_accepting || l->listener < 0) return;
    struct epoll_event e = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.ptr = &l->listener};
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->listener, &e) == 0)
        l->is_accepting = true;
    else
        wheel_arm(&l->wheel, &l->accept_timer, l->now_ns + ACCEPT_PAUSE_MS * 1000000ull);
}

static bool is_full(struct http_server *s)
{
    if (atomic_fetch_add(&s->n_conns, 1) < s->options.max_connections) return false;
    atomic_fetch_sub(&s->n_conns, 1);
    return true;
}

/* Closes an idle connection when someone is waiting for its place. */
static bool make_way(struct http_loop *l)
{
    struct pollfd p = {.fd = l->listener, .events = POLLIN};
    return poll(&p, 1, 0) == 1 && conn_give_way(l);
}

/* One who hung up before we came is no reason to stop. */
static bool is_passing(int e)
{
    return e == ECONNABORTED || e == EINTR || e == EPROTO || e == ENETDOWN || e == ENETUNREACH ||
           e == EHOSTUNREACH || e == EHOSTDOWN || e == ENONET || e == ENOPROTOOPT;
}

bool listen_accept(struct http_loop *l)
{
    struct http_server *s = l->server;
    for (int i = 0; i < ACCEPTS && l->listener >= 0; i++) {
        if (is_full(s) && !(make_way(l) && !is_full(s))) {
            pause_accept(l);
            return false;
        }
        struct sockaddr_storage a;
        socklen_t n = sizeof a;
        memset(&a, 0, sizeof a);
        int fd = accept4(l->listener, (struct sockaddr *)&a, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            conn_new(l, fd, &a);
            continue;
        }
        atomic_fetch_sub(&s->n_conns, 1);
        if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
        if (is_passing(errno) || make_way(l)) continue;
        pause_accept(l); /* no descriptors or no memory: they come back when others leave */
        return false;
    }
    return l->listener >= 0;
}
