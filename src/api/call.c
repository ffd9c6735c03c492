/* sheaf_call: any operation as JSON, run by ops on a database of this process and by the server on a
 * remote handle. */
#include "api/api.h"
#include "ops/ops.h"

#include <stdio.h>

static const struct op *find(const char *operation)
{
    char target[128];
    snprintf(target, sizeof target, "DynamoDB_20120810.%s", operation);
    const struct op *op = op_find(span_cstr(target));
    if (op) return op;
    snprintf(target, sizeof target, "DynamoDBStreams_20120810.%s", operation);
    return op_find(span_cstr(target));
}

static sheaf_rc run_here(sheaf_db *db, struct ctx *c, const char *operation, span body,
                         span *answer_out, sheaf_position *position_out)
{
    struct op_request q = {.op = find(operation), .body = body, .region = core_region(db->core)};
    struct op_reply reply;
    if (!q.op)
        return err_set(c->err, SHEAF_UNKNOWN_OPERATION, "%s is no operation of Sheaf", operation);
    op_run(db->core, c, &q, &reply);
    *answer_out = buf_span(&reply.body);
    *position_out = reply.position;
    return reply.rc;
}

sheaf_rc sheaf_call(sheaf_db *db, const char *operation, const char *json,
                    sheaf_result **result_out, sheaf_error *err)
{
    if (result_out) *result_out = NULL;
    if (!db) return api_no_handle(err);
    sheaf_result *r = api_begin(db, err);
    if (!r) return SHEAF_NOMEM;
    struct ctx *c = &r->ctx;
    sheaf_position position = 0;
    sheaf_rc rc;
    span answer = SPAN_NONE;
    TRY_OUT(operation && json ? SHEAF_OK
                              : err_validation(c->err, "sheaf_call needs an operation and JSON"));
    rc = db->core ? run_here(db, c, operation, span_cstr(json), &answer, &position)
                  : client_call(db->remote, c, span_cstr(operation), span_cstr(json), &answer);
    r->json = api_cstr(r, answer);
    /* A read is nothing without its answer; a write has happened without it. */
    if (rc == SHEAF_OK && r->is_short && position) api_done(r, rc);
out:
    return api_finish(db, r, rc, position, result_out);
}

const char *sheaf_result_json(const sheaf_result *r) { return r ? r->json : NULL; }
