/* Turns a POST into an operation and its reply:
 *
 *   content type → target → signature → inflate → op_run → durable? → answer
 *
 * Know before editing: nothing of the body is looked at before its signature holds, and the
 * signature is over the bytes as they came. A reply leaves at once only if what it says is durable;
 * otherwise it is parked (park.h). */
#include "server/state.h"

enum { BODY_BYTES_MAX = 16 << 20 };

/* ---- who ---- */

/* What stands between two slashes of a credential, the n-th part from 0. */
static span scope_part(span credential, unsigned n)
{
    const char *p = credential.p, *end = p + credential.n;
    for (; n > 0 && p < end; n--) {
        const char *slash = memchr(p, '/', (size_t)(end - p));
        p = slash ? slash + 1 : end;
    }
    const char *slash = p < end ? memchr(p, '/', (size_t)(end - p)) : NULL;
    return SPAN(p, (size_t)((slash ? slash : end) - p));
}

/* "Credential=AKID/20261115/eu-west-1/dynamodb/aws4_request" of an Authorization header. */
static span credential_of(span authorization)
{
    static const char word[] = "Credential=";
    const char *at =
        authorization.n ? memmem(authorization.p, authorization.n, word, sizeof word - 1) : NULL;
    if (!at) return SPAN_NONE;
    at += sizeof word - 1;
    size_t left = (size_t)((const char *)authorization.p + authorization.n - at), n = 0;
    while (n < left && at[n] != ',' && at[n] != ' ') n++;
    return SPAN(at, n);
}

/* As the request claims, proved or not: for ARNs and the log. */
static void read_claim(struct call *c)
{
    span credential = credential_of(http_header(c->x, SPAN_LIT("authorization")));
    span region = scope_part(credential, 2);
    c->key_id = scope_part(credential, 0);
    c->region = options_is_region(region) ? region : span_cstr(c->loop->server->options.region);
}

/* The ring as of the last reload. The lock is taken when it has changed only. */
static struct auth_ring *ring_of(struct server_loop *l)
{
    struct server *s = l->server;
    unsigned version = atomic_load_explicit(&s->ring_version, memory_order_acquire);
    if (version == l->ring_version) return l->ring;
    pthread_mutex_lock(&s->mutex);
    auth_ring_unref(l->ring);
    l->ring = s->ring ? auth_ring_ref(s->ring) : NULL;
    l->ring_version = atomic_load_explicit(&s->ring_version, memory_order_relaxed);
    pthread_mutex_unlock(&s->mutex);
    return l->ring;
}

static sheaf_rc verify(struct call *c, struct auth_ring *ring)
{
    const struct server *s = c->loop->server;
    const struct http_request *r = http_request(c->x);
    struct sig_header *headers = ARENA_ARRAY(c->ctx.arena, struct sig_header, r->n_headers);
    if (!headers) return err_nomem(c->ctx.err);
    for (uint32_t i = 0; i < r->n_headers; i++)
        headers[i] = (struct sig_header){r->headers[i].name, r->headers[i].value};
    struct sig_gate gate = {.ring = ring,
                            .window_s = (uint32_t)s->options.auth_window,
                            .regions = s->regions,
                            .n_regions = s->n_regions};
    struct sig_request request = {.method = r->method,
                                  .path = r->path,
                                  .query = r->query.p ? r->query : SPAN("", 0),
                                  .headers = headers,
                                  .n_headers = r->n_headers,
                                  .body = r->body};
    TRY(sig_verify(&c->ctx, &gate, &request, clock_now_us(s->clock), &c->who));
    c->is_known = true;
    return SHEAF_OK;
}

static sheaf_rc authenticate(struct call *c)
{
    read_claim(c);
    struct auth_ring *ring = ring_of(c->loop);
    if (!ring) return SHEAF_OK;
    sheaf_rc rc = verify(c, ring);
    if (rc != SHEAF_OK) metric_add(&c->loop->metrics.unauthenticated, 1);
    return rc;
}

bool dispatch_is_admin(struct call *c)
{
    return authenticate(c) == SHEAF_OK && c->is_known && c->who.is_admin;
}

/* Asked by the operation for each table it will touch; p == NULL: for all of them, which a key of
 * some tables may not. */
static sheaf_rc may(void *ctx, const struct op *op, span table, sheaf_error *err)
{
    struct call *c = ctx;
    if (!c->table.p && table.p) c->table = arena_dup(c->ctx.arena, table);
    if (!c->is_known) return SHEAF_OK;
    span name = table.p ? table : SPAN_LIT("*");
    if (auth_may(&c->who, op_is_write(op), name)) return SHEAF_OK;
    return auth_denied(err, &c->who, span_cstr(op_name(op)), c->region, name);
}

/* ---- what ---- */

/* Lines of one name are one header, joined by commas (RFC 9110, 5.2); where a list means nothing,
 * two lines name nothing. To take the first would be to differ from whoever takes the last. */
static span only_header(const struct http_exchange *x, span name)
{
    const struct http_request *r = http_request(x);
    span found = SPAN_NONE;
    for (uint32_t i = 0; i < r->n_headers; i++)
        if (span_eq(r->headers[i].name, name))
            found = found.p ? SPAN_LIT(",") : r->headers[i].value;
    return found;
}

/* Without what follows a ';' and without spaces. */
static span media_type(span s)
{
    const char *p = s.p;
    size_t n = 0;
    while (n < s.n && p[n] != ';') n++;
    while (n && p[n - 1] == ' ') n--;
    return SPAN(p, n);
}

/* The answer has the type of the request; a body of another type is not for this service. */
static bool take_type(struct call *c)
{
    span type = media_type(only_header(c->x, SPAN_LIT("content-type")));
    bool is_amz = span_eq(type, SPAN_LIT("application/x-amz-json-1.0"));
    c->type = is_amz ? SPAN_LIT("application/x-amz-json-1.0") : SPAN_LIT("application/json");
    return is_amz || span_eq(type, SPAN_LIT("application/json")) || http_request(c->x)->body.n == 0;
}

static bool inflate(struct call *c, span *body_out)
{
    span body = http_request(c->x)->body;
    span encoding = only_header(c->x, SPAN_LIT("content-encoding"));
    sheaf_rc rc = http_inflate(&c->ctx, encoding, body, BODY_BYTES_MAX, body_out);
    if (rc == SHEAF_OK) return true;
    if (rc == SHEAF_TOO_LARGE) {
        c->reply.rc = rc;
        answer_text(c, 413, NULL, SPAN_NONE);
    } else if (rc == SHEAF_UNSUPPORTED) {
        answer_refuse(c, SHEAF_SERIALIZATION, "the Content-Encoding is not supported");
    } else {
        answer_refuse(c, rc, rc == SHEAF_SERIALIZATION ? NULL : c->err.message);
    }
    return false;
}

static void run(struct call *c, span body)
{
    struct server *s = c->loop->server;
    struct op_request q = {.op = c->op,
                           .body = body,
                           .region = c->region,
                           .endpoint = http_header(c->x, SPAN_LIT("host")),
                           .may = may,
                           .may_ctx = c};
    op_run(s->core, &c->ctx, &q, &c->reply);
    if (c->reply.rc == SHEAF_IO || c->reply.rc == SHEAF_UNKNOWN_OUTCOME) (void)health_has_failed(s);
    if (s->is_relaxed || park_is_durable(&c->loop->park, c->reply.position)) {
        answer_reply(c);
        return;
    }
    http_hold(c->x);
    park_add(&c->loop->park, &c->parked, c->reply.position);
}

/* AWS has no message here; one that says what is missing is worth more where AWS would not refuse. */
static void refuse_target(struct call *c, span target)
{
    const char *name = op_unbuilt(target);
    char text[100];
    snprintf(text, sizeof text, "%s is not supported by Sheaf yet", name ? name : "");
    read_claim(c);
    answer_refuse(c, SHEAF_UNKNOWN_OPERATION, name ? text : NULL);
}

void dispatch_post(struct call *c)
{
    span body, target = only_header(c->x, SPAN_LIT("x-amz-target"));
    if (!take_type(c)) {
        answer_unknown(c);
        return;
    }
    c->op = op_find(target);
    if (!c->op) {
        refuse_target(c, target);
        return;
    }
    sheaf_rc rc = authenticate(c);
    if (rc != SHEAF_OK)
        answer_refuse(c, rc, c->err.message);
    else if (inflate(c, &body))
        run(c, body);
}

void dispatch_leave(void *ctx, struct parked *p, sheaf_rc rc)
{
    (void)ctx;
    struct call *c = (struct call *)((char *)p - offsetof(struct call, parked));
    if (rc == SHEAF_OK) {
        answer_reply(c);
        return;
    }
    (void)health_has_failed(c->loop->server);
    answer_refuse(c, SHEAF_INTERNAL,
                  "The disk failed: whether the request took effect is not known");
}
