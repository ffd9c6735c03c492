/* Turns a request that is to be sent into the headers that prove who sends it. Know before editing:
 * what is left unsigned is what a proxy on the way may change. */
#include "auth/canonical.h"
#include "auth/stamp.h"

#include <assert.h>

static bool is_left_out(span name)
{
    static const char *const names[] = {"authorization",     "connection", "expect",
                                        "transfer-encoding", "user-agent", "x-amzn-trace-id"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (span_eq(name, span_cstr(names[i]))) return true;
    }
    return false;
}

/* The headers to sign: those of the request, then ours. */
static sheaf_rc gather(struct ctx *c, const struct sig_request *r, const struct sig_headers *ours,
                       struct sig_input *in)
{
    struct sig_pair *to = ARENA_ARRAY(c->arena, struct sig_pair, r->n_headers + 2u);
    if (!to) return err_nomem(c->err);
    size_t n = 0;
    for (uint32_t i = 0; i < r->n_headers; i++) {
        span name = sig_lower(c->arena, r->headers[i].name);
        if (!name.p) return err_nomem(c->err);
        assert(!span_eq(name, SPAN_LIT("x-amz-date")));
        assert(!span_eq(name, SPAN_LIT("x-amz-security-token")));
        if (!is_left_out(name)) to[n++] = (struct sig_pair){name, r->headers[i].value};
    }
    to[n++] = (struct sig_pair){SPAN_LIT("x-amz-date"), ours->x_amz_date};
    if (ours->x_amz_security_token.n)
        to[n++] = (struct sig_pair){SPAN_LIT("x-amz-security-token"), ours->x_amz_security_token};
    if (!sig_sort(c->arena, to, n, false)) return err_nomem(c->err);
    in->headers = to;
    in->n_headers = n;
    return SHEAF_OK;
}

static sheaf_rc put_authorization(struct ctx *c, const struct sig_credentials *who,
                                  const struct sig_input *in, const uint8_t signature[SIG_HASH],
                                  span *text_out)
{
    char hex[SIG_HEX];
    struct buf b;
    buf_init(&b, c->arena, SIZE_MAX / 4); /* the arena is the ceiling */
    buf_room(&b, 512);
    buf_put(&b, "AWS4-HMAC-SHA256 Credential=", 28);
    buf_put_span(&b, who->key_id);
    buf_put_u8(&b, '/');
    buf_put(&b, in->stamp.p, SIG_DAY);
    buf_put_u8(&b, '/');
    buf_put_span(&b, who->region);
    buf_put_span(&b, SPAN_LIT("/dynamodb/aws4_request, SignedHeaders="));
    sig_put_names(&b, in->headers, in->n_headers);
    buf_put_span(&b, SPAN_LIT(", Signature="));
    sig_hex(signature, hex);
    buf_put(&b, hex, sizeof hex);
    if (b.failed) return err_nomem(c->err);
    *text_out = buf_span(&b);
    return SHEAF_OK;
}

sheaf_rc sig_sign(struct ctx *c, const struct sig_credentials *who, const struct sig_request *r,
                  int64_t now_us, struct sig_headers *headers_out)
{
    *headers_out = (struct sig_headers){0};
    if (who->region.n == 0 || who->region.n > SIG_REGION_MAX)
        return err_validation(c->err, "a region has 1 to %d characters", SIG_REGION_MAX);
    char stamp[STAMP_LEN], payload[SIG_HEX];
    uint8_t hash[SIG_HASH];
    stamp_format(now_us / 1000000, stamp);
    if (r->body_sha256)
        memcpy(hash, r->body_sha256, sizeof hash);
    else
        TRY(sig_sha256(c->err, r->body, hash));
    sig_hex(hash, payload);

    struct sig_headers out = {.x_amz_date = arena_dup(c->arena, SPAN(stamp, STAMP_LEN)),
                              .x_amz_security_token = who->session_token};
    if (!out.x_amz_date.p) return err_nomem(c->err);
    struct sig_input in = {.method = r->method,
                           .path = r->path,
                           .query = r->query,
                           .payload = payload,
                           .stamp = out.x_amz_date,
                           .region = who->region};
    span text;
    TRY(gather(c, r, &out, &in));
    TRY(sig_string_to_sign(c, &in, &text));
    TRY(sig_hmac(c->err, who->secret, SPAN(stamp, SIG_DAY), who->region, text, hash));
    TRY(put_authorization(c, who, &in, hash, &out.authorization));
    *headers_out = out;
    return SHEAF_OK;
}
