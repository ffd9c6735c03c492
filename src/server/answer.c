/* Turns a reply into an answer with the headers of the service: x-amzn-RequestId, x-amz-crc32 over
 * the bytes as they are sent, gzip when the client asked for it and the body is worth it. */
#include "server/state.h"

#include <inttypes.h>

enum { GZIP_FROM_BYTES = 1024 };

/* ---- cross-origin requests ---- */

/* Whether `origin` is one of the comma-separated `list`. */
static bool is_listed(const char *list, span origin)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        span one = SPAN(list, n);
        if (span_eq(one, origin)) return true;
        list += n + (list[n] == ',');
    }
    return false;
}

/* What to allow an origin: itself, "*", or p == NULL. */
static span allowed_origin(const struct call *c)
{
    const char *cors = c->loop->server->options.cors;
    span origin = http_header(c->x, SPAN_LIT("origin"));
    if (!origin.p || strcmp(cors, "none") == 0) return SPAN_NONE;
    if (strcmp(cors, "*") == 0) return SPAN_LIT("*");
    return is_listed(cors, origin) ? origin : SPAN_NONE;
}

static void add_cors(struct call *c)
{
    span allowed = allowed_origin(c);
    if (!allowed.p) return;
    http_add_header(c->x, SPAN_LIT("access-control-allow-origin"), allowed);
    http_add_header(c->x, SPAN_LIT("access-control-expose-headers"),
                    SPAN_LIT("x-amzn-RequestId,x-amz-crc32,x-amzn-ErrorType,Date"));
    if (!span_eq(allowed, SPAN_LIT("*")))
        http_add_header(c->x, SPAN_LIT("vary"), SPAN_LIT("Origin"));
}

/* ---- answers ---- */

static void add_crc(struct call *c, span body)
{
    struct buf b;
    buf_init(&b, c->ctx.arena, 16);
    buf_printf(&b, "%" PRIu32, http_crc32(body));
    if (!b.failed) http_add_header(c->x, SPAN_LIT("x-amz-crc32"), buf_span(&b));
}

static void send(struct call *c, int status, span type, span body)
{
    http_add_header(c->x, SPAN_LIT("x-amzn-RequestId"), SPAN(c->id, sizeof c->id));
    if (type.n) http_add_header(c->x, SPAN_LIT("content-type"), type);
    add_cors(c);
    add_crc(c, body);
    http_answer(c->x, status, body);
}

static span squeeze(struct call *c, span body)
{
    span gzip;
    struct ctx quiet = {c->ctx.arena, NULL};
    if (body.n < GZIP_FROM_BYTES) return body;
    if (!http_takes_gzip(http_header(c->x, SPAN_LIT("accept-encoding")))) return body;
    if (http_gzip(&quiet, body, &gzip) != SHEAF_OK || gzip.n >= body.n) return body;
    http_add_header(c->x, SPAN_LIT("content-encoding"), SPAN_LIT("gzip"));
    return gzip;
}

void answer_reply(struct call *c)
{
    if (c->reply.body.failed) { /* not even the error fits: memory is out */
        http_answer(c->x, 500, SPAN_NONE);
        return;
    }
    span body = squeeze(c, buf_span(&c->reply.body));
    send(c, c->reply.status, c->type, body);
}

void answer_refuse(struct call *c, sheaf_rc rc, const char *message)
{
    /* A copy: the message may stand in the very error that op_refuse fills. */
    char text[sizeof c->err.message];
    snprintf(text, sizeof text, "%s", message ? message : "");
    op_refuse(&c->ctx, rc, text, &c->reply);
    answer_reply(c);
}

void answer_text(struct call *c, int status, const char *type, span body)
{
    send(c, status, type ? span_cstr(type) : SPAN_NONE, body);
}

void answer_unknown(struct call *c)
{
    c->reply.rc = SHEAF_UNKNOWN_OPERATION;
    send(c, 404, SPAN_NONE, SPAN_LIT("<UnknownOperationException/>\n"));
}

void answer_preflight(struct call *c)
{
    span headers = http_header(c->x, SPAN_LIT("access-control-request-headers"));
    span method = http_header(c->x, SPAN_LIT("access-control-request-method"));
    if (!allowed_origin(c).p) {
        answer_unknown(c);
        return;
    }
    if (headers.p) http_add_header(c->x, SPAN_LIT("access-control-allow-headers"), headers);
    if (method.p) http_add_header(c->x, SPAN_LIT("access-control-allow-methods"), method);
    http_add_header(c->x, SPAN_LIT("access-control-max-age"), SPAN_LIT("172800"));
    send(c, 200, SPAN_NONE, SPAN_NONE);
}
