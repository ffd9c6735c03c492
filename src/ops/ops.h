/* ops/ops.h: DynamoDB's operations as the wire has them. JSON in, core request, outcome, JSON out.
 *
 * Layer rule: ops includes json, value, core and base. It knows no HTTP.
 *
 * OPERATIONS ARE DATA  Each is one `struct op`: a name, an input shape, an output shape and a run
 * function (ops/shape.h). The shapes drive decoding, validation with AWS's messages, encoding, the
 * table names that are checked against a key's rights, docs/operations.md, and later the client.
 *
 * body ─json→ ─shape decode→ input struct ─shape check→ ─may→ run: core request → outcome
 *      → output struct ─shape encode→ body
 */
#ifndef OPS_OPS_H
#define OPS_OPS_H

#include "base/buf.h"
#include "base/err.h"
#include "core/core.h"

struct op;

/* By the X-Amz-Target header: "DynamoDB_20120810.GetItem". NULL: there is no such operation. */
const struct op *op_find(span target);
/* The name of an operation of DynamoDB that is not built, by the same header. NULL: there is none. */
const char *op_unbuilt(span target);
/* All operations, by name; i from 0, NULL at the end. For metrics and docs. */
const struct op *op_at(uint32_t i);
uint32_t op_number(const struct op *op); /* its i */
const char *op_name(const struct op *op);
bool op_is_write(const struct op *op);

struct op_request {
    const struct op *op;
    span body;   /* JSON, inflated */
    span region; /* of ARNs in the answer: the request's */
    /* Where the client reached us, "127.0.0.1:8000", for DescribeEndpoints. Empty: AWS's address. */
    span endpoint;
    /* Whether the caller may touch a table (a name, never an ARN; p == NULL: all of them, as
     * ListTables does). Fills the error. NULL: everybody may. */
    sheaf_rc (*may)(void *ctx, const struct op *op, span table, sheaf_error *err);
    void *may_ctx;
};
struct op_reply {
    int status;
    sheaf_rc rc;
    struct buf body;         /* in the context's arena */
    sheaf_position position; /* the answer may leave when the engine is durable up to it */
};
/* Always gives a reply, errors included. c->err is where the failure's detail is left too (may be
 * NULL). Nothing answers 500 for bad input. */
void op_run(struct core *core, struct ctx *c, const struct op_request *q, struct op_reply *out);
/* The reply for a failure that happened outside of an operation: no such target, a bad signature.
 */
void op_refuse(struct ctx *c, sheaf_rc rc, const char *message, struct op_reply *out);

#endif
