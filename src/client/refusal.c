/* Turns an error answer into a code and a message.
 *
 *   {"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"…"}
 *
 * Know before editing: the list of <sheaf/error.h> has some names twice, the service's own meaning
 * first; so the first one counts. */
#include "client/get.h"

/* Names that other layers of the service use. */
static const struct {
    const char *name;
    sheaf_rc rc;
} others[] = {
    {"Throttling", SHEAF_THROTTLED},
    {"RequestLimitExceeded", SHEAF_THROTTLED},
    {"ServiceUnavailable", SHEAF_RETRY_LATER},
    {"ServiceUnavailableException", SHEAF_RETRY_LATER},
    {"InternalFailure", SHEAF_INTERNAL},
    {"ReplicatedWriteConflictException", SHEAF_CONFLICT},
    {"PolicyNotFoundException", SHEAF_RESOURCE_NOT_FOUND},
    {"ExpiredTokenException", SHEAF_EXPIRED_TOKEN},
};

static const struct {
    const char *name;
    sheaf_rc rc;
} ours[] = {
#define X(code, name, status, again, what) {name, SHEAF_##code},
    SHEAF_ERRORS(X)
#undef X
};

/* SHEAF_OK: a name that is not known. */
static sheaf_rc rc_of(span name)
{
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (span_eq(name, span_cstr(ours[i].name))) return ours[i].rc;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (span_eq(name, span_cstr(others[i].name))) return others[i].rc;
    return SHEAF_OK;
}

static span behind_hash(span type)
{
    const char *p = type.n ? memchr(type.p, '#', type.n) : NULL;
    return p ? span_from(type, (size_t)(p - (const char *)type.p) + 1) : type;
}

sheaf_rc client_refusal(struct ctx *c, int status, span body)
{
    struct wire {
        span type, message;
    } w = {.type = SPAN_NONE};
    static const struct field fields[] = {
        FIELD(struct wire, type, "__type", wire_get_text),
        FIELD(struct wire, message, "message", wire_get_text),
        FIELD(struct wire, message, "Message", wire_get_text),
    };
    struct ctx quiet = {c->arena, NULL};
    if (GET_ANSWER(&quiet, body, fields, &w) != SHEAF_OK) w = (struct wire){.type = SPAN_NONE};
    span name = behind_hash(w.type);
    sheaf_rc rc = rc_of(name);
    if (rc != SHEAF_OK) return err_set(c->err, rc, "%.*s", SPAN_ARG(w.message));
    rc = status == 503 ? SHEAF_RETRY_LATER : status >= 500 ? SHEAF_INTERNAL : SHEAF_VALIDATION;
    if (status == 429) rc = SHEAF_THROTTLED;
    if (name.n) return err_set(c->err, rc, "%.*s: %.*s", SPAN_ARG(name), SPAN_ARG(w.message));
    return err_set(c->err, rc, "The server answered with the status %d and no DynamoDB error",
                   status);
}

bool client_is_transient(sheaf_rc rc, int status)
{
    return status >= 500 || rc == SHEAF_THROTTLED || rc == SHEAF_THROUGHPUT_EXCEEDED ||
           rc == SHEAF_TRANSACTION_IN_PROGRESS;
}
