/* tests/unit/http/client.h: a server in this process and raw sockets that talk to it.
 *
 * No sleeps: everything waits for a socket to become readable, with a time-out that only a failure
 * reaches. */
#ifndef TESTS_UNIT_HTTP_CLIENT_H
#define TESTS_UNIT_HTTP_CLIENT_H

#include "base/clock.h"
#include "http/http.h"
#include "support/support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000 };

static inline int client_connect(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static inline void client_send(int fd, span s)
{
    while (s.n) {
        ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);
        if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) return; /* the answer tells */
        assert_true(n > 0);
        s = span_from(s, (size_t)n);
    }
}

static inline void client_say(int fd, const char *text) { client_send(fd, span_cstr(text)); }

/* Bytes, or 0 at the end (a reset counts as one). */
static inline size_t client_recv(int fd, void *to, size_t cap)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready = poll(&p, 1, PATIENCE_MS);
    if (ready != 1) fail_msg("nothing came within %d ms", PATIENCE_MS);
    ssize_t n = recv(fd, to, cap, 0);
    return n < 0 ? 0 : (size_t)n;
}

static inline bool client_is_quiet(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 0;
}

/* One answer: its status, and head and body in `text`. */
struct reply {
    int status; /* 0: the connection ended before it was whole */
    size_t n, head_n;
    char text[65536];
};

static inline const char *reply_body(const struct reply *r) { return r->text + r->head_n; }

/* Byte by byte, so that nothing of the next answer is taken. */
static inline int client_reply(int fd, struct reply *r)
{
    r->n = r->head_n = 0;
    r->status = 0;
    size_t want = SIZE_MAX;
    while (r->n < want) {
        assert_true(r->n + 1 < sizeof r->text);
        size_t ask = want == SIZE_MAX ? 1 : want - r->n;
        size_t n = client_recv(fd, r->text + r->n, ask);
        if (n == 0) return 0;
        r->n += n;
        r->text[r->n] = 0;
        if (want != SIZE_MAX || r->n < 4 || memcmp(r->text + r->n - 4, "\r\n\r\n", 4) != 0)
            continue;
        r->head_n = r->n;
        const char *length = strstr(r->text, "Content-Length: ");
        want = r->n + (length ? strtoul(length + 16, NULL, 10) : 0);
        assert_true(want < sizeof r->text);
    }
    assert_memory_equal(r->text, "HTTP/1.1 ", 9);
    return r->status = atoi(r->text + 9);
}

static inline bool client_is_closed(int fd)
{
    char c;
    return client_recv(fd, &c, 1) == 0;
}

#endif
