/* client/wire.h: one request on its way to the server and back. Only files of the client (and its
 * tests, which put a transport of their own in place of libcurl) include it. */
#ifndef CLIENT_WIRE_H
#define CLIENT_WIRE_H

#include "auth/auth.h"
#include "base/rng.h"
#include "client/client.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CLIENT_BODY_MAX = 64 << 20 }; /* of a request and of an answer, plain */

/* ---- transports ---- */

struct client_request {
    const char *url;
    const char *const *headers; /* "Name: value", ends in NULL */
    span body;
    uint64_t timeout_ms;
    bool is_loopback; /* no proxy */
    /* Asked while waiting; true: give up. */
    bool (*is_cancelled)(void *ctx);
    void *cancel_ctx;
};
struct client_answer {
    int status;
    span body; /* as received; in the context's arena */
    bool is_gzip, has_crc;
    uint32_t crc; /* of the body as received */
};
/* How an attempt ended; all but ANSWERED leave a message in the context's error. */
enum client_fate {
    CLIENT_ANSWERED,
    CLIENT_NOT_SENT,  /* the server has seen nothing of it */
    CLIENT_LOST,      /* it may have seen all of it */
    CLIENT_HOPELESS,  /* another attempt ends the same way */
    CLIENT_CANCELLED, /* is_cancelled said so */
    CLIENT_NOMEM
};
struct client_transport {
    enum client_fate (*attempt)(struct client_transport *t, struct ctx *c,
                                const struct client_request *q, struct client_answer *out);
    void (*close)(struct client_transport *t);
};
/* libcurl, loaded when the first client is opened. ca_file may be NULL. */
SHEAF_NODISCARD sheaf_rc curl_transport_new(const char *ca_file, struct client_transport **out,
                                            sheaf_error *err);

/* The plain bytes of an answer. SHEAF_INTERNAL when the checksum is another, or the bytes do not
 * inflate. */
SHEAF_NODISCARD sheaf_rc client_plain_body(struct ctx *c, const struct client_answer *a,
                                           span *plain_out);

/* ---- where ---- */

struct endpoint {
    char url[512], streams_url[512];   /* http://host:port/ */
    char host[256], streams_host[256]; /* as the Host header says it */
    char region[65];                   /* "" : the host does not tell */
    bool is_loopback;
};
/* SHEAF_VALIDATION for what is no URL of a server. */
SHEAF_NODISCARD sheaf_rc endpoint_parse(const char *url, struct endpoint *out, sheaf_error *err);

/* ---- who ---- */

struct credentials {
    char key_id[129], region[65];
    char secret[SIG_SECRET_MAX + 1];
    char token[8193];
};
/* From the options, the environment or the shared credentials file: the first that has an access
 * key. SHEAF_VALIDATION naming the three when none has; a server on this machine takes dummies. */
SHEAF_NODISCARD sheaf_rc credentials_find(const struct client_options *o,
                                          const struct endpoint *where, struct credentials *out,
                                          sheaf_error *err);
/* One profile of a credentials file's text. false: it is not there. For tests and fuzzing. */
bool credentials_parse(span text, span profile, struct credentials *out);
void credentials_wipe(struct credentials *who);

/* ---- the client ---- */

struct client {
    struct client_transport *transport;
    struct clock_source *clock;
    struct endpoint where;
    struct sig_secret *secret;
    char key_id[129], region[65];
    char *token; /* NULL: none */
    uint32_t timeout_ms, max_attempts;
    atomic_uint_fast64_t cancels;
    pthread_mutex_t dice_lock;
    struct rng dice;
};

struct client_op {
    const char *name;
    bool is_streams, is_write;
};
/* Signs, sends, tries again; *answer_out is the JSON of a 200, or of a refusal that carries data. */
SHEAF_NODISCARD sheaf_rc client_send(struct client *k, struct ctx *c, const struct client_op *op,
                                     span body, span *answer_out);
/* A number from the client's dice, in [0, n). */
uint64_t client_roll(struct client *k, uint64_t n);

/* The code of an error answer, its message left in the context's error. */
sheaf_rc client_refusal(struct ctx *c, int status, span body);
/* Whether AWS's SDKs would try again. */
bool client_is_transient(sheaf_rc rc, int status);

#endif
