/* Turns a code and its message into the reply that AWS's SDKs decode.
 *
 *      {"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"…"}
 *
 * Know before editing: SDKs tell errors apart by what stands after the # and by the status. The
 * spelling of `message` differs from error to error, and old clients look for the one they know. */
#include "ops/errors.h"

#include <assert.h>

enum { BODY_MAX = 64 << 20 };

#define SERVICE "com.amazonaws.dynamodb.v20120810#"
#define CORAL "com.amazon.coral.service#"
#define CORAL_VALIDATE "com.amazon.coral.validate#"

static const char *space_of(sheaf_rc rc)
{
    switch (rc) {
    case SHEAF_VALIDATION:
    case SHEAF_TOO_LARGE:
        return CORAL_VALIDATE;
    case SHEAF_SERIALIZATION:
    case SHEAF_UNKNOWN_OPERATION:
    case SHEAF_ACCESS_DENIED:
    case SHEAF_MISSING_AUTH:
    case SHEAF_INCOMPLETE_SIGNATURE:
    case SHEAF_INVALID_SIGNATURE:
    case SHEAF_UNRECOGNIZED_CLIENT:
    case SHEAF_EXPIRED_TOKEN:
        return CORAL;
    default:
        return SERVICE;
    }
}

static const char *message_name(sheaf_rc rc)
{
    bool is_upper =
        rc == SHEAF_SERIALIZATION || rc == SHEAF_TRANSACTION_CANCELED || rc == SHEAF_ACCESS_DENIED;
    return is_upper ? "Message" : "message";
}

/* ---- cancelled transactions ---- */

static span code_of(sheaf_rc rc)
{
    switch (rc) {
    case SHEAF_OK:
        return SPAN_LIT("None");
    case SHEAF_CONDITIONAL_CHECK_FAILED:
        return SPAN_LIT("ConditionalCheckFailed");
    case SHEAF_ITEM_COLLECTION_SIZE:
        return SPAN_LIT("ItemCollectionSizeLimitExceeded");
    case SHEAF_TRANSACTION_CONFLICT:
    case SHEAF_CONFLICT:
        return SPAN_LIT("TransactionConflict");
    case SHEAF_THROUGHPUT_EXCEEDED:
        return SPAN_LIT("ProvisionedThroughputExceeded");
    case SHEAF_THROTTLED:
        return SPAN_LIT("ThrottlingError");
    default:
        return SPAN_LIT("ValidationError");
    }
}

static void put_reason(struct buf *out, const struct core_written *w)
{
    buf_put_span(out, SPAN_LIT("{\"Code\":"));
    json_put_text(out, code_of(w->rc));
    if (w->old_item.p) {
        buf_put_span(out, SPAN_LIT(",\"Item\":"));
        json_put_item(out, w->old_item);
    }
    if (w->rc != SHEAF_OK) {
        buf_put_span(out, SPAN_LIT(",\"Message\":"));
        json_put_text(out, span_cstr(w->message));
    }
    buf_put_u8(out, '}');
}

static void put_reasons(struct buf *out, const struct op_call *call)
{
    buf_put_span(out, SPAN_LIT(",\"CancellationReasons\":["));
    for (uint32_t i = 0; i < call->n_reasons; i++) {
        if (i) buf_put_u8(out, ',');
        put_reason(out, &call->reasons[i]);
    }
    buf_put_u8(out, ']');
}

/* The error's message is cut at its end: a hundred reasons need more. */
static void put_cancelled_text(struct buf *out, const struct op_call *call)
{
    buf_put_span(out, SPAN_LIT("\"Transaction cancelled, please refer cancellation reasons for "
                               "specific reasons ["));
    for (uint32_t i = 0; i < call->n_reasons; i++) {
        if (i) buf_put(out, ", ", 2);
        buf_put_span(out, code_of(call->reasons[i].rc));
    }
    buf_put(out, "]\"", 2);
}

/* ---- all of them ---- */

/* What happened below the API is the log's business, not the client's. */
static span message_of(struct ctx *c, sheaf_rc rc, const struct op_call *call)
{
    if (sheaf_rc_status(rc) >= 500) return SPAN_LIT("Internal server error");
    if (call && call->message.p) return call->message;
    return span_cstr(c->err->message);
}

static void put_message(struct ctx *c, sheaf_rc rc, const struct op_call *call, struct buf *out)
{
    span text = message_of(c, rc, call);
    bool is_cancelled = rc == SHEAF_TRANSACTION_CANCELED && call && call->n_reasons;
    if (text.n == 0 && !is_cancelled) return;
    buf_put(out, ",\"", 2);
    buf_put_span(out, span_cstr(message_name(rc)));
    buf_put(out, "\":", 2);
    if (is_cancelled) {
        put_cancelled_text(out, call);
    } else if (rc == SHEAF_VALIDATION && call && call->is_enveloped && !call->message.p) {
        struct buf whole;
        buf_init(&whole, c->arena, BODY_MAX);
        buf_put_span(&whole, SPAN_LIT("1 validation error detected: "));
        buf_put_span(&whole, text);
        out->failed = out->failed || whole.failed;
        json_put_text(out, buf_span(&whole));
    } else {
        json_put_text(out, text);
    }
}

static void put_body(struct ctx *c, sheaf_rc rc, const struct op_call *call, struct buf *out)
{
    buf_put_span(out, SPAN_LIT("{\"__type\":\""));
    buf_put_span(out, span_cstr(space_of(rc)));
    buf_put_span(out, span_cstr(sheaf_rc_exception(rc)));
    buf_put_u8(out, '"');
    if (rc == SHEAF_TRANSACTION_CANCELED && call && call->n_reasons) put_reasons(out, call);
    if (rc == SHEAF_CONDITIONAL_CHECK_FAILED && call && call->failed_item.p) {
        buf_put_span(out, SPAN_LIT(",\"Item\":"));
        json_put_item(out, call->failed_item);
    }
    put_message(c, rc, call, out);
    buf_put_u8(out, '}');
}

void error_reply(struct ctx *c, sheaf_rc rc, const struct op_call *call, struct op_reply *out)
{
    static char short_of_memory[] = "{\"__type\":\"" SERVICE "InternalServerError\",\"message\":"
                                    "\"Internal server error\"}";
    assert(rc != SHEAF_OK);
    out->status = sheaf_rc_status(rc);
    out->rc = rc;
    buf_init(&out->body, c->arena, BODY_MAX);
    put_body(c, rc, call, &out->body);
    if (!out->body.failed) return;
    out->status = 500;
    out->rc = SHEAF_NOMEM;
    size_t n = sizeof short_of_memory - 1;
    out->body = (struct buf){.p = (uint8_t *)short_of_memory, .n = n, .cap = n, .max = n};
}
