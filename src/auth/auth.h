/* auth/auth.h: who sent this request, and what they may touch.
 *
 * Layer rule: includes base only. Knows OpenSSL and the credentials file, and no HTTP library.
 *
 *   request as received ──sig_verify──► identity ──auth_may──► allowed, table by table
 *   request to be sent  ──sig_sign────► three headers to add
 *
 * Signatures are AWS Signature Version 4. The server verifies with the code the client signs with;
 * both build the same canonical request (auth/canonical.h). Nothing here logs, and no message holds
 * an Authorization header, a secret or a session token. */
#ifndef AUTH_AUTH_H
#define AUTH_AUTH_H

#include "base/err.h"

/* ---- requests ---- */

struct sig_header {
    span name, value; /* as received: any case, any spaces */
};

/* Borrowed for the length of the call. */
struct sig_request {
    span method;
    span path;  /* raw, as received: not decoded, before any '?' */
    span query; /* raw, after the '?'; empty when there is none */
    const struct sig_header *headers;
    uint32_t n_headers;
    span body;                  /* bytes as received, before any inflating */
    const uint8_t *body_sha256; /* 32 bytes when the caller hashed while reading; NULL: hash body */
};

/* ---- the key ring ---- */

/* The credentials file as read at one moment: immutable, reference counted, used from any thread.
 * A reload makes a new ring; whoever holds the old one keeps it until unref. */
struct auth_ring;

/* Reads the ini file that docs/authentication.md describes. Refused with SHEAF_VALIDATION and a
 * message that begins "path:line: " (or "path: "): a file that group or others may read, that
 * another user owns, that is not a regular file, or that says what is not understood. The message
 * holds no secret. On success *ring_out has one reference. */
SHEAF_NODISCARD sheaf_rc auth_ring_load(const char *path, struct auth_ring **ring_out,
                                        sheaf_error *err);
/* The same from text, `name` standing for the path in messages. Checks no permissions: for tests
 * and fuzzing. */
SHEAF_NODISCARD sheaf_rc auth_ring_parse(const char *name, span text, struct auth_ring **ring_out,
                                         sheaf_error *err);
/* Returns its argument. */
struct auth_ring *auth_ring_ref(struct auth_ring *ring);
/* NULL is fine. The last one wipes the secrets. */
void auth_ring_unref(struct auth_ring *ring);
/* How many keys there are. */
uint32_t auth_ring_count(const struct auth_ring *ring);

/* ---- verifying ---- */

/* What sig_verify holds a request against. Caller's storage; the same for many requests. */
struct sig_gate {
    struct auth_ring *ring;
    uint32_t window_s;   /* how far the request's clock may be off; 0: SIG_WINDOW_S */
    const span *regions; /* the regions a scope may name; none: any */
    uint32_t n_regions;
};
enum { SIG_WINDOW_S = 15 * 60 };

struct auth_key;
struct auth_identity {
    const struct auth_key *key; /* lives as long as the ring */
    span key_id;                /* likewise */
    span region;                /* of the credential's scope; borrowed from the request's headers */
    bool is_admin;              /* may use what is the server's own and not DynamoDB's */
};

/* Whether the request was signed, in this hour, by a key of the ring. SHEAF_OK and *identity_out,
 * or one of
 *   MISSING_AUTH          no Authorization header
 *   INCOMPLETE_SIGNATURE  the header does not say all it should
 *   INVALID_SIGNATURE     wrong scope, clock, signed headers, payload hash or signature
 *   UNRECOGNIZED_CLIENT   no such key, or its session token is another
 *   EXPIRED_TOKEN         the session is over
 *   NOMEM                 c->arena is at its ceiling
 * with AWS's message in c->err. A presigned URL is refused with INVALID_SIGNATURE. Scratch memory
 * comes from c->arena: about the size of the head. Any thread. */
SHEAF_NODISCARD sheaf_rc sig_verify(struct ctx *c, const struct sig_gate *gate,
                                    const struct sig_request *r, int64_t now_us,
                                    struct auth_identity *identity_out);

/* Whether this identity may read, or write, this table. An empty name stands for what touches no
 * table (ListTables, DescribeLimits, DescribeEndpoints). The name is a plain table name, not an
 * ARN. */
bool auth_may(const struct auth_identity *who, bool is_write, span table);

/* The error of a refused auth_may, in AWS's words. `action` is the operation: "PutItem". */
sheaf_rc auth_denied(sheaf_error *err, const struct auth_identity *who, span action, span region,
                     span table);

/* ---- signing ---- */

/* A secret access key with the signing keys derived from it, one per day and region, at most
 * SIG_SLOTS at a time. Any thread may sign with it. */
struct sig_secret;
enum { SIG_SLOTS = 4, SIG_SECRET_MAX = 256 };

/* Copies the text; NULL when memory is out or it is longer than SIG_SECRET_MAX. */
struct sig_secret *sig_secret_new(span text) SHEAF_NODISCARD;
/* Wipes it. NULL is fine. */
void sig_secret_free(struct sig_secret *secret);

struct sig_credentials {
    span key_id;
    struct sig_secret *secret;
    span session_token; /* empty: none */
    span region;
};

/* What to add to the request; x_amz_security_token is empty when there is no token. */
struct sig_headers {
    span authorization, x_amz_date, x_amz_security_token;
};

/* Signs a request for DynamoDB. Every header of r is signed but those that proxies change or that
 * say nothing (Authorization, Connection, Expect, Transfer-Encoding, User-Agent, X-Amzn-Trace-Id);
 * r must have Host and may not have X-Amz-Date or X-Amz-Security-Token yet. The spans live in
 * c->arena, the token where it was. */
SHEAF_NODISCARD sheaf_rc sig_sign(struct ctx *c, const struct sig_credentials *who,
                                  const struct sig_request *r, int64_t now_us,
                                  struct sig_headers *headers_out);

#endif
