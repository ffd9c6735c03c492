/* http/inner.h: what the files of this room share: servers, loops, connections, exchanges.
 *
 * OWNERS  server → loops → connections → exchanges. An exchange outlives its connection until the
 * handler has answered it. Everything of a loop is touched on the loop's thread only, but for the
 * inbox, the figures and what says atomic.
 * TURN  One wake-up of a loop: those who waited for memory → events → posts → connections that go
 * on → slow ones give way → deadlines → turn_end → answers are written → what was closed is freed.
 * Nothing is freed before the end of a turn, so that every pointer seen in one stays good in it.
 */
#ifndef HTTP_INNER_H
#define HTTP_INNER_H

#include "base/mem.h"
#include "http/body.h"
#include "http/budget.h"
#include "http/http.h"
#include "http/scan.h"
#include "http/timer.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/uio.h>

enum {
    EXCHANGE_BYTES = 16384,    /* an exchange and the first bytes of its arena, one block */
    SPARE_EXCHANGES = 64,      /* blocks a loop keeps for later */
    READ_BYTES = 16384,        /* read at once, and the most that can wait behind a request */
    READ_TURN = 256 * 1024,    /* of one connection in one turn: others want to be heard too */
    DRAIN_BYTES = 64 * 1024,   /* read and forgotten, so that a refused client sees its answer */
    CHUNKED_FIRST = 64 * 1024, /* reserved for a body of unknown length to begin with */
    LINGER_MS = 2000,
    BUDGET_WAIT_MS = 1000,
    GIVE_WAY_MS = 1000,     /* idle for this long: may be closed when there are too many */
    SHED_AFTER_MS = 300,    /* slow for this long: may be closed when memory is short */
    SHED_BELOW = 64 * 1024, /* and slow is less than this per second */
    SHED_LEAST = 32 * 1024, /* who holds less is left alone */
    SHED_LOOK_MS = 100,     /* how often to look, while memory is short */
    SHEDS = 8,              /* connections closed for that in one turn */
    ANSWERS_MAX = 4 << 20,  /* memory of unread answers, beyond which no request is begun */
    BODY_WINDOW_MS = 10000, /* a body brings 1 KiB/s over this */
    SLOWEST = 1024,         /* bytes per second, of bodies and of answers read */
    EVENTS = 64,
    IOVS = 64,
};

struct tls_session; /* OpenSSL's SSL */

#define HTTP_CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

/* ---- exchanges ---- */

struct http_exchange {
    struct http_exchange *next;         /* behind it on the connection, or in the spare list */
    struct http_exchange *left, *right; /* all of a loop */
    struct http_loop *loop;
    struct conn *conn; /* NULL: lost */
    struct http_request request;
    struct arena arena;
    struct buf extra;   /* header lines of the answer */
    uint8_t *heap_body; /* a chunked body, owned; else NULL */
    void *user;
    uint64_t started_ns;
    uint64_t reserved; /* of the budget */
    span head, body;   /* the answer */
    size_t sent;       /* of head and body */
    int status;        /* 0: not answered yet */
    uint8_t interim;   /* bytes of "100 Continue" still to be sent */
    bool is_handed;    /* the handler has it, or had it */
    bool is_head;      /* HEAD: an answer without its body */
    bool is_http10, wants_close, closes;
};

/* ---- connections ---- */

enum phase {
    PHASE_HANDSHAKE,
    PHASE_HEAD,    /* a head, or idle before one */
    PHASE_WAIT,    /* a whole head, no room in the budget */
    PHASE_BODY,    /* by Content-Length */
    PHASE_CHUNKED, /* by chunks */
    PHASE_DEAF,    /* reads no more requests; answers may be under way */
    PHASE_LINGER,  /* all is answered and shut; reads and forgets until the client ends */
    PHASE_CLOSED,
};

struct conn {
    struct wheel_entry timer; /* first: an entry is its connection */
    struct conn *left, *right;
    struct conn *next_dirty, *next_ready, *next_waiting, *next_dead;
    struct http_loop *loop;
    struct tls_session *tls;
    int fd;
    uint8_t phase;
    bool is_readable, is_writable; /* edge-triggered: true until EAGAIN */
    bool is_eof, is_hup, is_dirty, is_ready, is_waiting, lingers;
    uint8_t peer_n;
    uint8_t *in; /* bytes received and not yet used; NULL: none */
    uint32_t in_at, in_n, in_cap;
    struct http_exchange *first, *last; /* requests in order, the one under way last */
    struct http_exchange *reading;      /* the one whose body is under way */
    uint32_t n_queued;
    uint64_t n_answered;              /* bytes reserved for answers that have not left */
    uint32_t drained;                 /* bytes read and forgotten in PHASE_LINGER */
    uint64_t since_ns;                /* begin of the phase; of idle time when there is nothing */
    uint64_t byte_ns;                 /* last byte of a head */
    uint64_t window_ns, window_bytes; /* of a body, for its speed */
    uint64_t write_ns, write_bytes;   /* of a client that does not read; write_ns 0: none waiting */
    uint64_t body_left;               /* PHASE_BODY */
    uint64_t body_cap;                /* PHASE_CHUNKED: of heap_body */
    union {
        struct scan scan;       /* PHASE_HEAD, PHASE_WAIT */
        struct chunked chunked; /* PHASE_CHUNKED */
    };
    char peer[54];
};

/* ---- loops ---- */

struct post {
    void (*fn)(void *ctx);
    void *ctx;
};
struct posts {
    struct post *p;
    size_t n, cap;
};

struct figures { /* written by the loop alone, read by any */
    _Atomic uint64_t accepted, requests, refused, bytes_in, bytes_out;
};

struct http_loop {
    struct http_server *server;
    struct clock_source *clock;
    pthread_t thread;
    int epoll, wake, listener; /* listener -1: closed */
    bool is_started, is_accepting, is_draining, is_drained, had_request;
    uint64_t now_ns; /* when the turn began */
    struct wheel wheel;
    struct wheel_entry accept_timer; /* accepting again after EMFILE */
    struct conn *conns, *conns_last; /* last used first */
    struct conn *dirty, *ready, *dead;
    struct conn *waiting, *waiting_last; /* for room in the budget, in order */
    struct http_exchange *exchanges, *spare;
    uint32_t n_conns, n_exchanges, n_spare;
    int64_t date_s; /* second of `date` */
    char date[32];  /* "Sun, 06 Nov 1994 08:49:37 GMT" */
    void *user;
    struct figures figures;
    pthread_mutex_t inbox_lock;
    struct posts inbox; /* under inbox_lock */
    struct posts running;
    _Atomic bool is_woken;
    uint8_t *scratch; /* READ_BYTES */
};

struct http_server {
    struct http_options options; /* defaults filled in */
    struct http_handler handler;
    struct budget budget;
    _Atomic uint64_t n_unread; /* of the budget: answers that have not left, of all connections */
    struct http_loop *loops;
    uint32_t n_loops;
    uint16_t port;
    _Atomic uint32_t n_conns;
    _Atomic uint32_t n_drained;
    _Atomic bool is_draining, is_ending;
    int drained; /* eventfd */
    struct tls *tls;
    int unix_folder; /* -1: listens on a port */
    const char *unix_name;
    uint64_t unix_inode, unix_device; /* of our socket; 0: not made yet */
};

enum { LISTEN_BACKLOG = 4096 };

/* listen.c */
SHEAF_NODISCARD sheaf_rc listen_open(struct http_server *s, sheaf_error *err);
void listen_close(struct http_loop *l);  /* the loop's own */
bool listen_accept(struct http_loop *l); /* true: there may be more */
void listen_resume(struct http_loop *l); /* after a pause; fine at any time */

/* listen_unix.c */
SHEAF_NODISCARD sheaf_rc listen_unix_open(struct http_server *s, sheaf_error *err);
void listen_unix_close(struct http_server *s); /* removes the socket's file, when it is ours */

/* loop.c */
SHEAF_NODISCARD sheaf_rc loop_init(struct http_loop *l, struct http_server *s, sheaf_error *err);
SHEAF_NODISCARD sheaf_rc loop_start(struct http_loop *l, sheaf_error *err);
void loop_deinit(struct http_loop *l); /* its thread has ended */
void loop_wake(struct http_loop *l);
void loop_wake_all(struct http_server *s);
static inline void loop_count(_Atomic uint64_t *figure, uint64_t n)
{
    uint64_t now = atomic_load_explicit(figure, memory_order_relaxed);
    atomic_store_explicit(figure, now + n, memory_order_relaxed);
}

/* conn.c */
void conn_new(struct http_loop *l, int fd, const void *address); /* sockaddr; takes fd */
void conn_event(struct conn *c, uint32_t events);
void conn_timer(struct conn *c);
void conn_arm(struct conn *c);           /* after its deadline may have come nearer */
void conn_dirty(struct conn *c);         /* there may be something to write, or an end to come to */
void conn_ready(struct conn *c);         /* goes on reading in this turn or the next */
void conn_close(struct conn *c);         /* at once; its exchanges become orphans */
void conn_used(struct conn *c);          /* an answer has left: the last to give way to others */
bool conn_give_way(struct http_loop *l); /* closes the one idle for longest; false: none */
bool conn_is_idle(const struct conn *c); /* nothing under way in either direction */
void conn_reap(struct http_loop *l);     /* frees what was closed */

/* read.c */
void conn_read(struct conn *c);

/* take.c */
void conn_take(struct conn *c, span *in); /* uses what it can off the front of *in */
/* PHASE_BODY: where the next byte of the body goes, and that n bytes have come there. */
uint8_t *conn_body_end(struct conn *c);
void conn_took_body(struct conn *c, size_t n);
void conn_wait_end(struct conn *c);             /* fine when it does not */
void conn_answered(struct conn *c, uint64_t n); /* n bytes more, or have left */
void conn_sent(struct conn *c, uint64_t n);
/* Whether as much is under way as one connection may have: it is not read until some has left. */
static inline bool conn_is_full(const struct conn *c)
{
    return c->n_queued >= c->loop->server->options.max_pipelined || c->n_answered >= ANSWERS_MAX;
}
/* Answers for the handler and reads no more requests: queued behind what is under way. */
void conn_refuse(struct conn *c, int status, const char *why);

/* shed.c */
/* Closes connections of the loop that are to blame for want of memory, the worst first. */
void shed_unread(struct http_loop *l); /* when unread answers take more than half of it */
bool shed_slow(struct http_loop *l);   /* one; false: none is */

/* write.c */
void conn_flush(struct conn *c);

/* exchange.c */
struct http_exchange *exchange_new(struct http_loop *l, struct conn *c);
void exchange_free(struct http_exchange *x);                /* gives its budget back, calls done */
void exchange_lose(struct http_exchange *x);                /* its connection is gone */
void exchange_reserve(struct http_exchange *x, uint64_t n); /* forced */
void exchange_pool_deinit(struct http_loop *l);

/* answer.c */
void answer_refusal(struct http_exchange *x, int status, const char *why);

/* io.c: bytes, 0 at the end, -errno; -EAGAIN: not now. */
ssize_t io_read(struct conn *c, struct iovec *v, int n);
ssize_t io_write(struct conn *c, struct iovec *v, int n);

#endif
