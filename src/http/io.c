/* Turns reads and writes of a connection into system calls, plain or through TLS. */
#include "http/inner.h"
#include "http/tls.h"

#include <errno.h>
#include <sys/socket.h>

static ssize_t result(ssize_t n)
{
    if (n >= 0) return n;
    return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

ssize_t io_read(struct conn *c, struct iovec *v, int n)
{
    if (c->tls) return tls_read(c, v, n);
    ssize_t got;
    do {
        got = n == 1 ? recv(c->fd, v->iov_base, v->iov_len, 0) : readv(c->fd, v, n);
    } while (got < 0 && errno == EINTR);
    return result(got);
}

ssize_t io_write(struct conn *c, struct iovec *v, int n)
{
    if (c->tls) return tls_write(c, v, n);
    struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
    ssize_t sent;
    do {
        sent = sendmsg(c->fd, &m, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return result(sent);
}
