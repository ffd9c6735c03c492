/* Turns a request into a reply: finds the operation, decodes, checks, asks for the right to touch
 * the tables, runs, encodes.
 *
 * Know before editing: this order is the contract. Nothing runs before every table was allowed, and
 * nothing is written before the whole input was checked. */
#include "ops/errors.h"
#include "ops/shared.h"

#include <assert.h>

enum { BODY_FIRST = 1000, BODY_MAX = 256 << 20 };

static const struct op *const all[] = {
#define X(name) &op_##name,
    OPS(X)
#undef X
};
enum { N_OPS = sizeof all / sizeof *all };

/* ---- the list ---- */

/* By name; the list is in name order. */
static uint32_t position_of(span name)
{
    uint32_t low = 0, high = N_OPS;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int c = span_cmp(span_cstr(all[middle]->name), name);
        if (c == 0) return middle;
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return N_OPS;
}

const struct op *op_find(span target)
{
    static const span data = {"DynamoDB_20120810.", 18},
                      streams = {"DynamoDBStreams_20120810.", 25};
    bool is_streams = span_starts(target, streams);
    if (!is_streams && !span_starts(target, data)) return NULL;
    uint32_t i = position_of(span_from(target, is_streams ? streams.n : data.n));
    return i < N_OPS && all[i]->is_streams == is_streams ? all[i] : NULL;
}

const struct op *op_at(uint32_t i) { return i < N_OPS ? all[i] : NULL; }

uint32_t op_number(const struct op *op) { return position_of(span_cstr(op->name)); }

const char *op_name(const struct op *op) { return op->name; }

bool op_is_write(const struct op *op) { return op->is_write; }

/* ---- one request ---- */

static sheaf_rc ask(void *ctx, span table)
{
    struct op_call *call = ctx;
    const struct op_request *q = call->request;
    return q->may(q->may_ctx, q->op, op_table_name(table), call->c->err);
}

static sheaf_rc may(struct op_call *call, const void *in)
{
    const struct op_request *q = call->request;
    if (!q->may) return SHEAF_OK;
    if (q->op->touches_all) return q->may(q->may_ctx, q->op, SPAN_NONE, call->c->err);
    return shape_tables(q->op->input, in, ask, call);
}

static sheaf_rc decode(struct op_call *call, void *in)
{
    const struct op_request *q = call->request;
    struct json j;
    enum json_kind kind;
    json_init(&j, call->c, q->body);
    TRY(json_peek(&j, &kind));
    if (kind != JSON_OBJECT) return err_set(call->c->err, SHEAF_SERIALIZATION, "%s", "");
    TRY(shape_decode(&j, q->op->input, in));
    TRY(json_end(&j));
    return shape_check(call->c, q->op->input, in, q->op->is_brief, &call->message);
}

/* A body that grows over the request's memory while it is read is the client's fault and no
 * failure of ours; out of memory without that is. */
static sheaf_rc blame(struct ctx *c, sheaf_rc rc)
{
    if (rc != SHEAF_NOMEM || !c->arena->is_over) return rc;
    return err_set(c->err, SHEAF_TOO_LARGE,
                   "The request takes more memory than the server gives to one request");
}

static sheaf_rc run(struct op_call *call, struct op_reply *out)
{
    const struct op *op = call->request->op;
    void *in = arena_zalloc(call->c->arena, op->input->size);
    void *answer = arena_zalloc(call->c->arena, op->output->size);
    if (!in || !answer) return err_nomem(call->c->err);
    TRY(blame(call->c, decode(call, in)));
    TRY(may(call, in));
    TRY(op->run(call, in, answer));
    buf_init(&out->body, call->c->arena, BODY_MAX);
    (void)buf_room(&out->body, BODY_FIRST); /* most answers never have to grow */
    shape_encode(&out->body, op->output, answer);
    return out->body.failed ? err_nomem(call->c->err) : SHEAF_OK;
}

void op_run(struct core *core, struct ctx *c, const struct op_request *q, struct op_reply *out)
{
    sheaf_error own;
    struct ctx inner = {c->arena, c->err ? c->err : &own};
    struct op_call call = {.core = core, .c = &inner, .request = q};
    assert(q->op);
    err_clear(inner.err);
    *out = (struct op_reply){.status = 200};
    sheaf_rc rc = run(&call, out);
    if (rc != SHEAF_OK) error_reply(&inner, rc, &call, out);
    out->position = call.position;
}

void op_refuse(struct ctx *c, sheaf_rc rc, const char *message, struct op_reply *out)
{
    sheaf_error own;
    struct ctx inner = {c->arena, c->err ? c->err : &own};
    *out = (struct op_reply){.status = 400};
    (void)err_set(inner.err, rc, "%s", message);
    error_reply(&inner, rc, NULL, out);
}
