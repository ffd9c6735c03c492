/* One request to the server: signed, sent, judged, and tried again while that may help.
 *
 * Know before editing: an attempt that was lost on the way back may have been carried out. It is
 * repeated all the same, as AWS's SDKs do: puts, deletes and updates without arithmetic come out
 * the same, transactions carry a token. When every attempt fails the caller of a write is told that
 * the outcome is not known. */
#include "client/wire.h"

#include <stdio.h>

enum {
    BACKOFF_FIRST_MS = 50,
    BACKOFF_MAX_MS = 5000,
    ATTEMPT_MS = 10000, /* a connection that died without a word costs so much of the deadline */
    NAP_MS = 50         /* how late a sleeper hears of a cancellation */
};

struct sending {
    struct client *k;
    struct ctx *c;
    const struct client_op *op;
    span body;
    uint64_t deadline_ns, cancels;
    bool may_have_happened;
};

static bool is_cancelled(void *ctx)
{
    struct sending *s = ctx;
    return atomic_load(&s->k->cancels) != s->cancels;
}

static uint64_t left_ms(struct sending *s)
{
    uint64_t now = clock_mono_ns(s->k->clock);
    return now < s->deadline_ns ? (s->deadline_ns - now) / 1000000u : 0;
}

/* ---- signing ---- */

static const char *header(struct ctx *c, const char *name, span value)
{
    size_t n = strlen(name);
    char *p = (char *)arena_bytes(c->arena, n + 2 + value.n + 1);
    if (!p) return NULL;
    memcpy(p, name, n);
    memcpy(p + n, ": ", 2);
    if (value.n) memcpy(p + n + 2, value.p, value.n);
    p[n + 2 + value.n] = '\0';
    return p;
}

enum { HEADERS_MAX = 12 };

static sheaf_rc sign(struct sending *s, const char *headers[HEADERS_MAX])
{
    struct client *k = s->k;
    bool is_streams = s->op->is_streams;
    char target[128];
    int n = snprintf(target, sizeof target, "%s.%s",
                     is_streams ? "DynamoDBStreams_20120810" : "DynamoDB_20120810", s->op->name);
    const struct sig_header signed_ones[] = {
        {SPAN_LIT("Host"), span_cstr(is_streams ? k->where.streams_host : k->where.host)},
        {SPAN_LIT("Content-Type"), SPAN_LIT("application/x-amz-json-1.0")},
        {SPAN_LIT("X-Amz-Target"), SPAN(target, (size_t)n)}};
    const struct sig_request r = {.method = SPAN_LIT("POST"),
                                  .path = SPAN_LIT("/"),
                                  .headers = signed_ones,
                                  .n_headers = 3,
                                  .body = s->body};
    const struct sig_credentials who = {.key_id = span_cstr(k->key_id),
                                        .secret = k->secret,
                                        .session_token = k->token ? span_cstr(k->token) : SPAN_NONE,
                                        .region = span_cstr(k->region)};
    struct sig_headers proof;
    TRY(sig_sign(s->c, &who, &r, clock_now_us(k->clock), &proof));
    size_t at = 0;
    for (size_t i = 0; i < 3; i++)
        headers[at++] = header(s->c, signed_ones[i].name.p, signed_ones[i].value);
    headers[at++] = header(s->c, "Authorization", proof.authorization);
    headers[at++] = header(s->c, "X-Amz-Date", proof.x_amz_date);
    if (k->token) headers[at++] = header(s->c, "X-Amz-Security-Token", proof.x_amz_security_token);
    headers[at++] = k->where.is_loopback ? "Accept-Encoding: identity" : "Accept-Encoding: gzip";
    headers[at++] = "User-Agent: libsheaf";
    headers[at++] = "Expect:"; /* a round trip that saves nothing here */
    headers[at] = NULL;
    for (size_t i = 0; i < at; i++)
        if (!headers[i]) return err_nomem(s->c->err);
    return SHEAF_OK;
}

/* ---- one attempt ---- */

/* Of an attempt that brought no answer; the message is there already. */
static sheaf_rc rc_of(struct sending *s, enum client_fate fate)
{
    sheaf_error *err = s->c->err;
    sheaf_rc rc = SHEAF_RETRY_LATER;
    if (fate == CLIENT_NOMEM) return SHEAF_NOMEM;
    if (fate == CLIENT_CANCELLED) return err_set(err, SHEAF_IO, "the call was cancelled");
    if (fate == CLIENT_LOST && s->op->is_write) s->may_have_happened = true;
    if (fate == CLIENT_HOPELESS) rc = SHEAF_IO;
    if (err) {
        err->rc = rc;
        err->exception = sheaf_rc_exception(rc);
    }
    return rc;
}

static sheaf_rc try_once(struct sending *s, span *answer_out, bool *again_out)
{
    struct client *k = s->k;
    struct client_answer a = {.status = 0};
    const char *headers[HEADERS_MAX];
    uint64_t left = left_ms(s);
    *again_out = false;
    TRY(sign(s, headers));
    const struct client_request q = {.url = s->op->is_streams ? k->where.streams_url : k->where.url,
                                     .headers = headers,
                                     .body = s->body,
                                     .timeout_ms = left < ATTEMPT_MS ? left : ATTEMPT_MS,
                                     .is_loopback = k->where.is_loopback,
                                     .is_cancelled = is_cancelled,
                                     .cancel_ctx = s};
    enum client_fate fate = k->transport->attempt(k->transport, s->c, &q, &a);
    *again_out = fate == CLIENT_NOT_SENT || fate == CLIENT_LOST;
    if (fate != CLIENT_ANSWERED) return rc_of(s, fate);
    sheaf_rc rc = client_plain_body(s->c, &a, answer_out);
    if (rc == SHEAF_OK && a.status == 200) return SHEAF_OK;
    if (rc == SHEAF_OK) {
        rc = client_refusal(s->c, a.status, *answer_out);
        *again_out = client_is_transient(rc, a.status);
    } else {
        *again_out = rc == SHEAF_INTERNAL; /* a damaged answer: as good as lost */
        if (s->op->is_write) s->may_have_happened = true;
    }
    return rc;
}

/* ---- again ---- */

uint64_t client_roll(struct client *k, uint64_t n)
{
    pthread_mutex_lock(&k->dice_lock);
    uint64_t v = rng_below(&k->dice, n);
    pthread_mutex_unlock(&k->dice_lock);
    return v;
}

/* Anywhere between nothing and twice the last bound. false: there is no time left for it. */
static bool wait(struct sending *s, uint32_t attempt)
{
    uint64_t bound = BACKOFF_FIRST_MS;
    while (--attempt && bound < BACKOFF_MAX_MS) bound *= 2;
    uint64_t ms = client_roll(s->k, bound < BACKOFF_MAX_MS ? bound : BACKOFF_MAX_MS) + 1;
    if (ms >= left_ms(s)) return false;
    while (ms && !is_cancelled(s)) {
        uint64_t nap = ms < NAP_MS ? ms : NAP_MS;
        clock_sleep_ns(s->k->clock, nap * 1000000u);
        ms -= nap;
    }
    return true;
}

/* A write that may have been carried out has no known outcome, whatever ended the last attempt. */
static sheaf_rc give_up(struct sending *s, sheaf_rc rc)
{
    sheaf_error *err = s->c->err;
    bool is_answer = rc != SHEAF_RETRY_LATER && rc != SHEAF_INTERNAL && rc != SHEAF_IO;
    if (!s->may_have_happened || is_answer) return rc;
    if (err) {
        err->rc = SHEAF_UNKNOWN_OUTCOME;
        err->exception = sheaf_rc_exception(SHEAF_UNKNOWN_OUTCOME);
    }
    return SHEAF_UNKNOWN_OUTCOME;
}

sheaf_rc client_send(struct client *k, struct ctx *c, const struct client_op *op, span body,
                     span *answer_out)
{
    struct sending s = {
        .k = k, .c = c, .op = op, .body = body, .cancels = atomic_load(&k->cancels)};
    s.deadline_ns = clock_mono_ns(k->clock) + (uint64_t)k->timeout_ms * 1000000u;
    struct arena_mark mark = arena_mark(c->arena);
    for (uint32_t attempt = 1;; attempt++) {
        bool again;
        *answer_out = SPAN_NONE;
        sheaf_rc rc = try_once(&s, answer_out, &again);
        if (rc == SHEAF_OK) {
            err_clear(c->err); /* of attempts before */
            return SHEAF_OK;
        }
        if (!again || attempt >= k->max_attempts || !wait(&s, attempt)) return give_up(&s, rc);
        if (is_cancelled(&s)) return err_set(c->err, SHEAF_IO, "the call was cancelled");
        arena_rewind(c->arena, mark);
    }
}
