/* Decides who signed a request.
 *
 * Know before editing: the checks stand in the order in which AWS makes them, since the first one
 * that fails names the error. Nothing before the signature depends on the ring but for a key's being
 * there at all, and a key that is not there costs the same HMACs on a secret of nobody's. The
 * session token is looked at last. */
#include "auth/authorization.h"
#include "auth/canonical.h"
#include "auth/ring.h"
#include "auth/stamp.h"

#include <stdio.h>

/* One request on its way through the checks. */
struct check {
    struct ctx *c;
    const struct sig_gate *gate;
    const struct sig_request *r;
    struct sig_pair *headers; /* all of them, names in lower case, in order */
    span authorization;
    struct sig_authorization parts;
    struct sig_scope scope;
    struct sig_pair *names; /* of SignedHeaders, lower case, sorted; no values */
    size_t n_names;
    char stamp[STAMP_LEN];
    char payload[SIG_HEX];
};

#define MISMATCH                                                                                   \
    "The request signature we calculated does not match the signature you provided. Check your "   \
    "AWS Secret Access Key and signing method. Consult the service documentation for details."

/* ---- headers ---- */

static sheaf_rc lower_headers(struct check *k)
{
    uint32_t n = k->r->n_headers;
    k->headers = ARENA_ARRAY(k->c->arena, struct sig_pair, n ? n : 1);
    if (!k->headers) return err_nomem(k->c->err);
    for (uint32_t i = 0; i < n; i++) {
        const struct sig_header *h = &k->r->headers[i];
        k->headers[i] = (struct sig_pair){sig_lower(k->c->arena, h->name), sig_trim(h->value)};
        if (!k->headers[i].name.p) return err_nomem(k->c->err);
    }
    return SHEAF_OK;
}

/* How often the header is there; *value_out is the first one's value, trimmed. */
static unsigned find(const struct check *k, span name, span *value_out)
{
    unsigned found = 0;
    *value_out = SPAN_NONE;
    for (uint32_t i = 0; i < k->r->n_headers; i++) {
        if (!span_eq(k->headers[i].name, name)) continue;
        if (found++ == 0) *value_out = k->headers[i].value;
    }
    return found;
}

/* ---- which form of signature ---- */

/* Whether the query has the parameter, and whether with a value. */
static bool find_parameter(span query, const char *name, bool *is_empty_out)
{
    const char *p = query.p, *end = query.n ? p + query.n : p;
    size_t n = strlen(name);
    *is_empty_out = true;
    while (p < end) {
        const char *next = memchr(p, '&', (size_t)(end - p));
        span part = SPAN(p, (size_t)((next ? next : end) - p));
        if (span_starts(part, SPAN(name, n)) && (part.n == n || p[n] == '=')) {
            *is_empty_out = part.n <= n + 1;
            return true;
        }
        p = next ? next + 1 : end;
    }
    return false;
}

static sheaf_rc refuse_presigned(const struct check *k)
{
    static const char *const names[] = {"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature",
                                        "X-Amz-SignedHeaders", "X-Amz-Date"};
    char missing[512] = "";
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bool is_empty;
        find_parameter(k->r->query, names[i], &is_empty);
        if (!is_empty) continue;
        n += (size_t)snprintf(missing + n, sizeof missing - n,
                              "AWS query-string parameters must include '%s'. ", names[i]);
    }
    if (n)
        return err_set(k->c->err, SHEAF_INCOMPLETE_SIGNATURE,
                       "%sRe-examine the query-string parameters.", missing);
    return err_set(k->c->err, SHEAF_INVALID_SIGNATURE,
                   "Presigned URLs are not accepted. Sign with an Authorization header.");
}

static sheaf_rc check_form(struct check *k)
{
    bool is_empty;
    bool is_presigned = find_parameter(k->r->query, "X-Amz-Algorithm", &is_empty);
    unsigned n = find(k, SPAN_LIT("authorization"), &k->authorization);
    if (n && is_presigned)
        return err_set(k->c->err, SHEAF_INVALID_SIGNATURE,
                       "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' "
                       "as HTTP header.");
    if (is_presigned) return refuse_presigned(k);
    if (n == 0 || !span_starts(k->authorization, SPAN_LIT("AWS4-")))
        return err_set(k->c->err, SHEAF_MISSING_AUTH, "Request is missing Authentication Token");
    if (n > 1)
        return err_set(k->c->err, SHEAF_INCOMPLETE_SIGNATURE,
                       "Request has more than one Authorization header.");
    return SHEAF_OK;
}

/* ---- clock ---- */

/* "15 min.", or in seconds when it is no whole number of minutes. */
static sheaf_rc out_of_window(const struct check *k, int64_t now_s, int64_t window_s, bool is_late)
{
    char edge[STAMP_LEN], now[STAMP_LEN];
    stamp_format(is_late ? now_s - window_s : now_s + window_s, edge);
    stamp_format(now_s, now);
    bool is_minutes = window_s % 60 == 0;
    return err_set(k->c->err, SHEAF_INVALID_SIGNATURE,
                   "Signature %s: %.*s is %s than %.*s (%.*s %c %lld %s)",
                   is_late ? "expired" : "not yet current", STAMP_LEN, k->stamp,
                   is_late ? "now earlier" : "still later", STAMP_LEN, edge, STAMP_LEN, now,
                   is_late ? '-' : '+', (long long)(is_minutes ? window_s / 60 : window_s),
                   is_minutes ? "min." : "s.");
}

/* X-Amz-Date, or else Date. Says all that the header lacks before the date is looked at. */
static sheaf_rc check_date(struct check *k, int64_t now_us)
{
    span date;
    bool is_amz = true;
    unsigned n = find(k, SPAN_LIT("x-amz-date"), &date);
    if (n == 0) {
        is_amz = false;
        n = find(k, SPAN_LIT("date"), &date);
    }
    TRY(sig_authorization_check(k->c->err, k->authorization, &k->parts, n > 0));

    int64_t then_s, now_s = now_us / 1000000;
    int64_t window_s = k->gate->window_s ? k->gate->window_s : SIG_WINDOW_S;
    bool is_date =
        n == 1 && (is_amz ? stamp_parse(date, &then_s) : stamp_parse_date(date, &then_s));
    if (!is_date)
        return err_set(k->c->err, SHEAF_INCOMPLETE_SIGNATURE,
                       "Date must be in ISO-8601 'basic format'. Got '%s'. See "
                       "http://en.wikipedia.org/wiki/ISO_8601",
                       sig_show(date).s);
    stamp_format(then_s, k->stamp);
    if (then_s < now_s - window_s) return out_of_window(k, now_s, window_s, true);
    if (then_s > now_s + window_s) return out_of_window(k, now_s, window_s, false);
    return SHEAF_OK;
}

/* ---- signed headers ---- */

static sheaf_rc take_names(struct check *k)
{
    span list = k->parts.signed_headers;
    const uint8_t *p = list.p;
    size_t n = 1, used = 0, from = 0;
    for (size_t i = 0; i < list.n; i++) n += p[i] == ';';
    k->names = ARENA_ARRAY(k->c->arena, struct sig_pair, n);
    if (!k->names) return err_nomem(k->c->err);
    for (size_t i = 0; i <= list.n; i++) {
        if (i < list.n && p[i] != ';') continue;
        span name = sig_lower(k->c->arena, SPAN(p + from, i - from));
        if (!name.p) return err_nomem(k->c->err);
        if (name.n) k->names[used++].name = name;
        from = i + 1;
    }
    if (!sig_sort(k->c->arena, k->names, used, false)) return err_nomem(k->c->err);
    for (size_t i = 0; i < used; i++) {
        if (i == 0 || !span_eq(k->names[i].name, k->names[k->n_names - 1].name))
            k->names[k->n_names++] = k->names[i];
    }
    return SHEAF_OK;
}

static bool is_signed(const struct check *k, span name)
{
    size_t from = 0, to = k->n_names;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int c = span_cmp(k->names[middle].name, name);
        if (c == 0) return true;
        if (c < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

/* Host, and every X-Amz header but the token: unsigned, a man in the middle could turn GetItem into
 * DeleteItem by X-Amz-Target. */
static sheaf_rc check_signed(struct check *k)
{
    TRY(take_names(k));
    if (!is_signed(k, SPAN_LIT("host")))
        return err_set(k->c->err, SHEAF_INVALID_SIGNATURE,
                       "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.");
    for (uint32_t i = 0; i < k->r->n_headers; i++) {
        span name = k->headers[i].name;
        if (!span_starts(name, SPAN_LIT("x-amz-")) || is_signed(k, name)) continue;
        if (span_eq(name, SPAN_LIT("x-amz-security-token"))) continue;
        return err_set(k->c->err, SHEAF_INVALID_SIGNATURE,
                       "'%s' must be a 'SignedHeader' in the AWS Authorization.", sig_show(name).s);
    }
    return SHEAF_OK;
}

/* The signed headers of the request, sorted; *is_whole_out unless one that was named is not there. */
static sheaf_rc gather(const struct check *k, struct sig_input *in, bool *is_whole_out)
{
    struct sig_pair *to = ARENA_ARRAY(k->c->arena, struct sig_pair, k->r->n_headers + 1u);
    if (!to) return err_nomem(k->c->err);
    size_t n = 0, distinct = 0;
    for (uint32_t i = 0; i < k->r->n_headers; i++) {
        if (is_signed(k, k->headers[i].name)) to[n++] = k->headers[i];
    }
    if (!sig_sort(k->c->arena, to, n, false)) return err_nomem(k->c->err);
    for (size_t i = 0; i < n; i++) distinct += i == 0 || !span_eq(to[i].name, to[i - 1].name);
    in->headers = to;
    in->n_headers = n;
    *is_whole_out = distinct == k->n_names;
    return SHEAF_OK;
}

/* ---- scope ---- */

static bool is_region(const struct sig_gate *gate, span region)
{
    if (region.n == 0 || region.n > SIG_REGION_MAX) return false;
    for (uint32_t i = 0; i < gate->n_regions; i++) {
        if (span_eq(gate->regions[i], region)) return true;
    }
    return gate->n_regions == 0;
}

/* One message for all that is wrong. */
static sheaf_rc check_scope(struct check *k)
{
    if (!span_eq(k->parts.algorithm, SPAN_LIT("AWS4-HMAC-SHA256")))
        return err_set(k->c->err, SHEAF_INCOMPLETE_SIGNATURE,
                       "Unsupported AWS 'algorithm': '%s' (only AWS4-HMAC-SHA256 for now). ",
                       sig_show(k->parts.algorithm).s);
    TRY(sig_scope_parse(k->c->err, k->parts.credential, &k->scope));
    const struct sig_scope *s = &k->scope;
    char room[768];
    struct buf b = {.p = (uint8_t *)room, .cap = sizeof room, .max = sizeof room};
    if (!is_region(k->gate, s->region))
        buf_printf(&b, "Credential should be scoped to a valid region, not '%s'. ",
                   sig_show(s->region).s);
    if (!span_eq(s->service, SPAN_LIT("dynamodb")))
        buf_printf(&b, "Credential should be scoped to correct service: 'dynamodb'. ");
    if (!span_eq(s->term, SPAN_LIT("aws4_request")))
        buf_printf(&b,
                   "Credential should be scoped with a valid terminator: 'aws4_request', not "
                   "'%s'. ",
                   sig_show(s->term).s);
    if (!span_eq(s->date, SPAN(k->stamp, SIG_DAY)))
        buf_printf(&b,
                   "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date "
                   "from HTTP: '%s' != '%.*s', from '%.*s'.",
                   sig_show(s->date).s, SIG_DAY, k->stamp, STAMP_LEN, k->stamp);
    if (b.n == 0) return SHEAF_OK;
    return err_set(k->c->err, SHEAF_INVALID_SIGNATURE, "%.*s", SPAN_ARG(buf_span(&b)));
}

/* ---- payload, signature, token ---- */

static sheaf_rc check_payload(struct check *k)
{
    uint8_t hash[SIG_HASH];
    if (k->r->body_sha256)
        memcpy(hash, k->r->body_sha256, sizeof hash);
    else
        TRY(sig_sha256(k->c->err, k->r->body, hash));
    sig_hex(hash, k->payload);
    span sent;
    unsigned n = find(k, SPAN_LIT("x-amz-content-sha256"), &sent);
    if (n == 0 || (n == 1 && span_eq(sent, SPAN(k->payload, SIG_HEX)))) return SHEAF_OK;
    if (span_eq(sent, SPAN_LIT("UNSIGNED-PAYLOAD")))
        return err_set(k->c->err, SHEAF_INVALID_SIGNATURE,
                       "UNSIGNED-PAYLOAD is not accepted: the signature must cover the body.");
    return err_set(k->c->err, SHEAF_INVALID_SIGNATURE,
                   "The provided 'x-amz-content-sha256' header does not match what was computed.");
}

static sheaf_rc check_signature(const struct check *k, const struct auth_key *key)
{
    struct sig_input in = {.method = k->r->method,
                           .path = k->r->path,
                           .query = k->r->query,
                           .payload = k->payload,
                           .stamp = SPAN(k->stamp, STAMP_LEN),
                           .region = k->scope.region};
    bool is_whole = false;
    span text;
    uint8_t want[SIG_HASH] = {0}, got[SIG_HASH] = {0};
    TRY(gather(k, &in, &is_whole));
    TRY(sig_string_to_sign(k->c, &in, &text));
    struct sig_secret *secret = key ? key->secret : k->gate->ring->nobody;
    TRY(sig_hmac(k->c->err, secret, k->scope.date, k->scope.region, text, want));
    bool is_hex = sig_unhex(k->parts.signature, got);
    bool is_same = sig_same(want, got, sizeof want);
    if (!key)
        return err_set(k->c->err, SHEAF_UNRECOGNIZED_CLIENT,
                       "The security token included in the request is invalid.");
    if (is_same && is_hex && is_whole) return SHEAF_OK;
    return err_set(k->c->err, SHEAF_INVALID_SIGNATURE, MISMATCH);
}

static sheaf_rc check_token(const struct check *k, const struct auth_key *key, int64_t now_us)
{
    span sent, kept = key->token ? span_cstr(key->token) : SPAN_NONE;
    unsigned n = find(k, SPAN_LIT("x-amz-security-token"), &sent);
    if (n == 0 && !key->token) return SHEAF_OK;
    if (n != 1 || sent.n != kept.n || !sig_same(sent.p, kept.p, kept.n))
        return err_set(k->c->err, SHEAF_UNRECOGNIZED_CLIENT,
                       "The security token included in the request is invalid");
    if (now_us / 1000000 >= key->expires_s)
        return err_set(k->c->err, SHEAF_EXPIRED_TOKEN,
                       "The security token included in the request is expired");
    return SHEAF_OK;
}

sheaf_rc sig_verify(struct ctx *c, const struct sig_gate *gate, const struct sig_request *r,
                    int64_t now_us, struct auth_identity *identity_out)
{
    *identity_out = (struct auth_identity){0};
    struct check k = {.c = c, .gate = gate, .r = r};
    TRY(lower_headers(&k));
    TRY(check_form(&k));
    TRY(sig_authorization_parse(c->err, k.authorization, &k.parts));
    TRY(check_date(&k, now_us));
    TRY(check_signed(&k));
    TRY(check_scope(&k));
    TRY(check_payload(&k));
    const struct auth_key *key = auth_ring_find(gate->ring, k.scope.key_id);
    TRY(check_signature(&k, key));
    TRY(check_token(&k, key, now_us));
    *identity_out = (struct auth_identity){.key = key,
                                           .key_id = span_cstr(key->id),
                                           .region = k.scope.region,
                                           .is_admin = key->is_admin};
    return SHEAF_OK;
}
