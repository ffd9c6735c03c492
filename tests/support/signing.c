#include "support/signing.h"

#include "support/support.h"

#include <strings.h>

void signing_init(struct signing *s, const char *more)
{
    *s = (struct signing){0};
    arena_init(&s->arena, 4 << 20);
    s->c = (struct ctx){&s->arena, &s->err};
    char text[4096];
    int n = snprintf(text, sizeof text, "[%s]\nsecret = %s\n%s", SIGNING_ID, SIGNING_SECRET, more);
    if (auth_ring_parse("keys.ini", SPAN(text, (size_t)n), &s->ring, &s->err) != SHEAF_OK)
        fail_msg("%s", s->err.message);
    s->gate.ring = s->ring;
    s->secret = sig_secret_new(SPAN_LIT(SIGNING_SECRET));
    assert_non_null(s->secret);
    s->r = (struct sig_request){.method = SPAN_LIT("POST"),
                                .path = SPAN_LIT("/"),
                                .headers = s->headers,
                                .body = SPAN_LIT("{\"TableName\":\"orders\"}")};
    signing_set(s, "Host", "localhost:8000");
    signing_set(s, "Content-Type", "application/x-amz-json-1.0");
    signing_set(s, "X-Amz-Target", "DynamoDB_20120810.PutItem");
    signing_set(s, "User-Agent", "test/1");
}

void signing_deinit(struct signing *s)
{
    auth_ring_unref(s->ring);
    sig_secret_free(s->secret);
    arena_deinit(&s->arena);
}

void signing_add(struct signing *s, const char *name, const char *value)
{
    assert_true(s->r.n_headers < sizeof s->headers / sizeof s->headers[0]);
    s->headers[s->r.n_headers++] = (struct sig_header){span_cstr(name), span_cstr(value)};
}

static bool is_named(const struct sig_header *h, const char *name)
{
    return h->name.n == strlen(name) && strncasecmp(h->name.p, name, h->name.n) == 0;
}

void signing_set(struct signing *s, const char *name, const char *value)
{
    for (uint32_t i = 0; i < s->r.n_headers; i++) {
        if (!is_named(&s->headers[i], name)) continue;
        if (value)
            s->headers[i].value = span_cstr(value);
        else
            s->headers[i] = s->headers[--s->r.n_headers];
        return;
    }
    if (value) signing_add(s, name, value);
}

/* With its NUL. */
static const char *text_of(struct signing *s, span text)
{
    char *p = arena_alloc(&s->arena, text.n + 1);
    assert_non_null(p);
    memcpy(p, text.p, text.n);
    p[text.n] = '\0';
    return p;
}

void signing_sign(struct signing *s, const char *token)
{
    struct sig_credentials who = {.key_id = SPAN_LIT(SIGNING_ID),
                                  .secret = s->secret,
                                  .session_token = token ? span_cstr(token) : SPAN_NONE,
                                  .region = SPAN_LIT("us-east-1")};
    struct sig_headers out;
    assert_ok(sig_sign(&s->c, &who, &s->r, SIGNING_NOW_S * 1000000, &out));
    signing_set(s, "X-Amz-Date", text_of(s, out.x_amz_date));
    if (token) signing_set(s, "X-Amz-Security-Token", token);
    signing_set(s, "Authorization", text_of(s, out.authorization));
}

sheaf_rc signing_verify(struct signing *s, int64_t later_s)
{
    err_clear(&s->err);
    return sig_verify(&s->c, &s->gate, &s->r, (SIGNING_NOW_S + later_s) * 1000000, &s->who);
}
