/* Any bytes as a request: "METHOD path?query\nName: value\n...\n\nbody". As it stands it must be
 * refused, since nobody knows the secret, in words that are printable. Signed by us it must be let
 * in, and with its body changed it must not. */
#include "auth/auth.h"

#include <stdlib.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADERS = 32 };
#define NOW_US (INT64_C(1440938160) * 1000000) /* 20150830T123600Z */

static void must(bool holds)
{
    if (!holds) abort();
}

/* Takes the text before `end` off *rest; all of it when there is none. */
static span take(span *rest, char end)
{
    const char *p = rest->p, *at = rest->n ? memchr(p, end, rest->n) : NULL;
    size_t n = at ? (size_t)(at - p) : rest->n;
    *rest = SPAN(p + n + (at != NULL), rest->n - n - (at != NULL));
    return SPAN(p, n);
}

static void split(span text, struct sig_request *r, struct sig_header headers[HEADERS + 1])
{
    span line = take(&text, '\n'), target;
    r->method = take(&line, ' ');
    target = line;
    r->path = take(&target, '?');
    r->query = target;
    r->headers = headers;
    while (text.n && r->n_headers < HEADERS) {
        line = take(&text, '\n');
        if (line.n == 0) break;
        span name = take(&line, ':');
        headers[r->n_headers++] = (struct sig_header){name, line};
    }
    r->body = text;
}

static bool is_reserved(span name)
{
    static const char *const names[] = {"authorization", "x-amz-date", "x-amz-security-token",
                                        "x-amz-content-sha256"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (name.n == strlen(names[i]) && strncasecmp(name.p, names[i], name.n) == 0) return true;
    }
    return false;
}

/* A header that no list of names could hold: a client does not send it. */
static bool is_name(span name)
{
    const uint8_t *p = name.p;
    for (size_t i = 0; i < name.n; i++) {
        if (p[i] <= ' ' || p[i] == ';' || p[i] == ',' || p[i] == '=' || p[i] > '~') return false;
    }
    return name.n > 0;
}

static void check_refused(struct ctx *c, const struct sig_gate *gate, const struct sig_request *r)
{
    struct auth_identity who;
    must(sig_verify(c, gate, r, NOW_US, &who) != SHEAF_OK && !who.key);
    must(c->err->message[0] != '\0');
    for (const char *p = c->err->message; *p; p++) must(*p >= ' ' && *p <= '~');
}

static void check_signed(struct ctx *c, const struct sig_gate *gate, struct sig_request r,
                         struct sig_secret *secret)
{
    struct sig_header headers[HEADERS + 3];
    uint32_t n = 0;
    if (memmem(r.query.p, r.query.n, "X-Amz-Algorithm", 15)) return;
    for (uint32_t i = 0; i < r.n_headers; i++) {
        if (is_name(r.headers[i].name) && !is_reserved(r.headers[i].name))
            headers[n++] = r.headers[i];
    }
    headers[n++] = (struct sig_header){SPAN_LIT("host"), SPAN_LIT("h")};
    r.headers = headers;
    r.n_headers = n;
    struct sig_credentials us = {SPAN_LIT("AKID"), secret, SPAN_NONE, SPAN_LIT("us-east-1")};
    struct sig_headers out;
    must(sig_sign(c, &us, &r, NOW_US, &out) == SHEAF_OK);
    headers[r.n_headers++] = (struct sig_header){SPAN_LIT("X-Amz-Date"), out.x_amz_date};
    headers[r.n_headers++] = (struct sig_header){SPAN_LIT("Authorization"), out.authorization};
    struct auth_identity who;
    must(sig_verify(c, gate, &r, NOW_US, &who) == SHEAF_OK);
    must(span_eq(who.key_id, SPAN_LIT("AKID")));
    r.body = r.body.n ? SPAN(r.body.p, r.body.n - 1) : SPAN_LIT("x");
    check_refused(c, gate, &r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct auth_ring *ring;
    static struct sig_secret *secret;
    static const char keys[] = "[AKID]\nsecret = nobody/knows+this\n";
    if (size > 32768) return 0;
    if (!ring) {
        must(auth_ring_parse("keys", span_cstr(keys), &ring, NULL) == SHEAF_OK);
        must((secret = sig_secret_new(SPAN_LIT("nobody/knows+this"))) != NULL);
    }
    struct arena arena;
    sheaf_error err;
    struct ctx c = {&arena, &err};
    arena_init(&arena, 16 << 20);
    struct sig_gate gate = {.ring = ring};
    struct sig_header headers[HEADERS + 1];
    struct sig_request r = {0};
    split(SPAN(data, size), &r, headers);
    check_refused(&c, &gate, &r);
    check_signed(&c, &gate, r, secret);
    arena_deinit(&arena);
    return 0;
}
