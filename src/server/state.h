/* server/state.h: what the files of the server share. */
#ifndef SERVER_STATE_H
#define SERVER_STATE_H

#include "api/api.h"
#include "auth/auth.h"
#include "base/rng.h"
#include "http/http.h"
#include "ops/ops.h"
#include "server/access_log.h"
#include "server/jobs.h"
#include "server/metrics.h"
#include "server/options.h"
#include "server/park.h"

enum { REQUEST_ID_BYTES = 52, REGIONS_MAX = 64 };

struct server {
    struct server_options options;
    struct arena arena; /* of the options and what is made of them */
    struct clock_source *clock;
    sheaf_db *db;
    struct core *core;
    sheaf_engine *engine;
    bool is_relaxed;
    bool has_random_faults; /* options.seed is then never 0 */
    struct http_server *http, *admin;
    char *admin_path; /* of the socket; NULL: none */
    int admin_fd;     /* of its directory; -1: not needed */
    struct access_log log;
    struct jobs jobs;
    span regions[REGIONS_MAX]; /* of --auth-regions */
    uint32_t n_regions;
    atomic_bool has_failed; /* of health.c */

    pthread_mutex_t mutex; /* of what follows */
    struct server_loop *loops;
    bool is_closing;        /* no loop joins any more */
    struct auth_ring *ring; /* NULL: authentication is off */
    atomic_uint ring_version;
};

/* What a loop has for itself. */
struct server_loop {
    struct server *server;
    struct http_loop *loop;
    struct server_loop *next;
    struct park park;
    struct rng ids;         /* of request ids */
    struct auth_ring *ring; /* of ring_version */
    unsigned ring_version;
    struct metrics metrics;
};

/* One request on its way, in the exchange's arena. */
struct call {
    struct http_exchange *x;
    struct server_loop *loop;
    struct ctx ctx;
    sheaf_error err;
    const struct op *op; /* NULL: none */
    struct auth_identity who;
    bool is_known;              /* who is set */
    span key_id, region, table; /* for the log; the first table that was asked about */
    /* Copies: the connection may be gone when the line is written. */
    span peer, method, path;
    span type; /* Content-Type of the answer */
    struct op_reply reply;
    struct parked parked;
    char id[REQUEST_ID_BYTES];
};

/* ---- handler.c: what http calls ---- */

struct http_handler server_handler(struct server *s);
/* No loop is woken after it, so that they may be ended. */
void server_loops_close(struct server *s);
/* After the engine was closed. */
void server_loops_free(struct server *s);

/* ---- answer.c: the way out ---- */

/* `reply` leaves, with the headers of the service. */
void answer_reply(struct call *c);
/* A failure outside of an operation. message may be NULL. */
void answer_refuse(struct call *c, sheaf_rc rc, const char *message);
/* Anything else: text with a status; type may be NULL. */
void answer_text(struct call *c, int status, const char *type, span body);
/* What the service answers to what it does not know: 404 and a scrap of XML. */
void answer_unknown(struct call *c);
/* OPTIONS. */
void answer_preflight(struct call *c);

/* ---- dispatch.c: POST ---- */

void dispatch_post(struct call *c);
/* Whether the request is signed by a key with admin = yes. */
bool dispatch_is_admin(struct call *c);
/* A parked call leaves. */
void dispatch_leave(void *ctx, struct parked *p, sheaf_rc rc);

/* ---- health.c: GET / ---- */

void health_answer(struct call *c);
/* Whether the engine has given up on the disk. Asked from any thread, whenever something has failed;
 * the first time it is so, standard error is told why. */
bool health_has_failed(struct server *s);

/* ---- report.c: GET /metrics ---- */

void report_begin(struct call *c);

/* ---- admin.c: the socket in the data directory ---- */

SHEAF_NODISCARD sheaf_rc admin_open(struct server *s, sheaf_error *err);
/* Removes the socket's file. */
void admin_close(struct server *s);

#endif
