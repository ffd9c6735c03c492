/* auth/canonical.h: the canonical request and the string to sign of Signature Version 4.
 *
 *   canonical request                string to sign
 *     POST                             AWS4-HMAC-SHA256
 *     /                                20150830T123600Z
 *     (query, empty)                   20150830/us-east-1/dynamodb/aws4_request
 *     host:localhost:8000              9aa6a6ba… (SHA-256 of the canonical request)
 *     x-amz-date:20150830T123600Z
 *     x-amz-target:DynamoDB_20120810.ListTables
 *
 *     host;x-amz-date;x-amz-target
 *     44136fa3… (SHA-256 of the body)
 */
#ifndef AUTH_CANONICAL_H
#define AUTH_CANONICAL_H

#include "auth/crypto.h"
#include "base/buf.h"

/* A name and a value. Of headers: the name in lower case. */
struct sig_pair {
    span name, value;
};

/* By name, then as `by_value` says: by value, or in the order they came. Scratch from the arena;
 * false when that is full. */
bool sig_sort(struct arena *arena, struct sig_pair *pairs, size_t n, bool by_value);

/* A name in lower case; p == NULL when the arena is full. */
span sig_lower(struct arena *arena, span name);
/* Without white space at either end. */
span sig_trim(span s);

/* What one request signs: everything but the secret. */
struct sig_input {
    span method, path, query;
    const struct sig_pair *headers; /* the signed ones, sorted by name, duplicates in order */
    size_t n_headers;
    const char *payload; /* SIG_HEX bytes */
    span stamp;          /* "20150830T123600Z" */
    span region;
};

/* The string to sign, in c->arena. */
SHEAF_NODISCARD sheaf_rc sig_string_to_sign(struct ctx *c, const struct sig_input *in,
                                            span *text_out);
/* "host;x-amz-date": each name once. */
void sig_put_names(struct buf *b, const struct sig_pair *headers, size_t n);

/* The canonical request by itself, for tests. */
SHEAF_NODISCARD sheaf_rc sig_canonical(struct ctx *c, const struct sig_input *in, span *text_out);

#endif
