/* http/http.h: an HTTP/1.1 server on epoll loops, one per core. Knows no DynamoDB.
 *
 * Layer rule: http includes base only, llhttp, OpenSSL and libdeflate. No other room includes those.
 *
 * bytes ─head scan→ refused, or ─llhttp→ head ─admission→ body → handler → answer → bytes
 *
 * STRICT  Before llhttp sees a head it is scanned for what llhttp lets pass: bare LF, obs-fold, a
 * space before the colon, control bytes, no or two Host, both Content-Length and Transfer-Encoding,
 * two lengths. Where the two parsers disagree on the body, that is a refusal too. What a client
 * sends wrongly is answered with 4xx (never 501 or 505) and the connection closes: 400 malformed,
 * 405 CONNECT, TRACE and unknown methods, 408 too slow, 413 body, 414 line, 417 expectation, 431
 * headers. 503 says that memory is short.
 * LIMITS  Every limit is a member of http_options; all are held before memory is taken: the budget
 * is asked before a body is read, for twice its length and 16 KiB, and waited for up to a second.
 * A chunked body asks for more as it grows, and is refused when there is none.
 * THREADS  The handler runs on the loop's thread and must not block. An exchange belongs to its
 * loop; another thread reaches it only through http_loop_post.
 * ORDER  Answers of one connection leave in the order of its requests (pipelining), whatever order
 * they are given in.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"

struct http_server;
struct http_loop;
struct http_exchange;

struct http_header {
    span name, value; /* name in lower case; value without white space around it */
};
/* Borrowed until the exchange is answered. */
struct http_request {
    span method, target; /* as sent */
    span path, query;    /* target before and behind the '?'; query.p == NULL: none */
    const struct http_header *headers;
    uint32_t n_headers;
    span body; /* as received, chunks joined, still encoded */
    span peer; /* "127.0.0.1:5000"; "unix" */
    bool is_tls;
};
struct http_handler {
    void *ctx;
    /* A whole request. Ends in exactly one http_answer, now or later. */
    void (*request)(void *ctx, struct http_exchange *x);
    /* After the events of one wake-up, when any request was handled in it: the moment to ask for
     * one durability of all of them. May be NULL. */
    void (*turn_end)(void *ctx, struct http_loop *loop);
    /* About to answer for itself (a refused head, a time-out, over budget) with this status; the
     * handler may write a body and headers that suit its protocol into `body` (content type in
     * *type_out). May be NULL. */
    void (*refused)(void *ctx, int status, const char *why, struct buf *body,
                    const char **type_out);
    /* Once for every exchange that `request` was given, after its answer has been written whole, or
     * was given to a lost connection, or never came before http_server_close; for logs and figures.
     * The exchange is gone afterwards. May be NULL. */
    void (*done)(void *ctx, struct http_exchange *x);
};

/* Strings outlive the server. */
struct http_options {
    const char *host;               /* "127.0.0.1", "::1", "0.0.0.0" */
    uint16_t port;                  /* 0: any free one */
    const char *unix_path;          /* instead of host and port; mode 0600, gone at the end */
    uint32_t n_loops;               /* 0: one per core */
    const char *tls_cert, *tls_key; /* PEM files; NULL: plain */
    struct clock_source *clock;     /* NULL: the system's */
    /* 0 everywhere: the default behind it. */
    uint32_t max_line;        /* bytes of the request line: 16 KiB */
    uint32_t max_head;        /* of all headers: 16 KiB */
    uint32_t max_headers;     /* 100 */
    uint32_t max_body;        /* 16 MiB, also while chunks are read */
    uint32_t max_connections; /* 10,000; at the limit idle ones give way, then accepting waits */
    uint32_t max_pipelined;   /* requests of one connection under way: 64 */
    uint64_t memory_budget;   /* bytes for bodies and answers: 512 MiB */
    uint32_t head_ms;         /* the whole head within: 10 s; half of that between two bytes */
    uint32_t body_ms;         /* the whole body within: 60 s, and at least 1 KiB/s over 10 s */
    uint32_t idle_ms;         /* keep-alive: 60 s */
    uint32_t write_ms;        /* a client that reads less than 1 KiB/s over: 60 s */
    uint32_t tls_ms;          /* handshake: 10 s */
};

/* Binds and listens; nothing is accepted before http_server_start. The message of a failure names
 * the address and what to do. The handler is copied. */
SHEAF_NODISCARD sheaf_rc http_server_open(const struct http_options *options,
                                          const struct http_handler *handler,
                                          struct http_server **server_out, sheaf_error *err);
uint16_t http_server_port(const struct http_server *s);
SHEAF_NODISCARD sheaf_rc http_server_start(struct http_server *s, sheaf_error *err);
/* Reads the certificate and key again; on failure the old ones stay in use. */
SHEAF_NODISCARD sheaf_rc http_server_reload_tls(struct http_server *s, sheaf_error *err);
/* Stops accepting, closes idle connections, lets exchanges under way end; true when all had ended
 * within `ms`. */
bool http_server_drain(struct http_server *s, uint32_t ms);
/* Ends the loops, whatever is under way, and frees everything. NULL is fine. */
void http_server_close(struct http_server *s);

/* Wakes the loops, so that they look at their deadlines: for who has moved an injected clock. */
void http_server_poke(struct http_server *s);

struct http_stats {
    uint64_t accepted, connections, requests, refused, bytes_in, bytes_out;
    uint64_t memory, memory_peak; /* of the budget */
};
void http_server_stats(struct http_server *s, struct http_stats *out);

/* ---- inside the handler ---- */

const struct http_request *http_request(const struct http_exchange *x);
/* name in lower case. p == NULL: no such header; of several the first. */
span http_header(const struct http_exchange *x, span name);
/* The memory of this exchange, gone when its answer has been written. */
struct arena *http_arena(struct http_exchange *x);
/* Counts in the budget what that memory holds by now. An answer does so itself; this is for one
 * that comes later, so that what waits keeps others out. */
void http_hold(struct http_exchange *x);
struct http_loop *http_exchange_loop(struct http_exchange *x);
/* For the handler's own use, NULL at first. */
void http_set_user(struct http_exchange *x, void *user);
void *http_user(const struct http_exchange *x);
uint64_t http_started_ns(const struct http_exchange *x); /* clock_mono_ns when its head was whole */

/* Headers of the answer, copied, kept in order; Date, Content-Length, Connection and Server are
 * http's own. A name or value with a line end, or no memory, turns the answer into a 503. */
void http_add_header(struct http_exchange *x, span name, span value);
/* body: in the exchange's arena, or static. Only on the loop's thread. Leaves at the end of the
 * turn; an answer to HEAD leaves without its body. */
void http_answer(struct http_exchange *x, int status, span body);
int http_status(const struct http_exchange *x); /* of the answer given */
uint64_t http_bytes_out(const struct http_exchange *x);
/* For the handler's own use, one per loop, NULL at first. */
void *http_loop_user(struct http_loop *loop);
void http_loop_set_user(struct http_loop *loop, void *user);
/* From any thread: runs fn on the loop's thread soon. SHEAF_NOMEM: it will not. */
SHEAF_NODISCARD sheaf_rc http_loop_post(struct http_loop *loop, void (*fn)(void *ctx), void *ctx);

/* ---- encodings ---- */

/* "gzip", "deflate" (zlib or raw), "identity" or none. At most `max` bytes come out, else
 * SHEAF_TOO_LARGE; SHEAF_SERIALIZATION for what does not inflate; SHEAF_UNSUPPORTED for another
 * encoding. */
SHEAF_NODISCARD sheaf_rc http_inflate(struct ctx *c, span encoding, span body, size_t max,
                                      span *plain_out);
SHEAF_NODISCARD sheaf_rc http_gzip(struct ctx *c, span plain, span *gzip_out);
/* Whether Accept-Encoding lets an answer be gzip (q=0 counts as no). */
bool http_takes_gzip(span accept_encoding);
uint32_t http_crc32(span bytes);

#endif
