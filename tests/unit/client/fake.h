/* A transport that plays a script: each attempt gets the next answer, and what was sent is kept. */
#ifndef TESTS_CLIENT_FAKE_H
#define TESTS_CLIENT_FAKE_H

#include "base/mem.h"
#include "client/wire.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

struct play {
    enum client_fate fate;
    int status;
    const char *body;
    bool has_crc;
    uint32_t crc;
    span raw; /* in place of body; gzip */
};

struct fake {
    struct client_transport base;
    const struct play *plays; /* the last one is repeated */
    uint32_t n_plays, n_sent;
    char *sent;        /* the last body */
    char *headers;     /* of the last attempt, one a line */
    uint64_t costs_us; /* what an attempt takes of the clock */
    struct clock_manual clock;
};

static inline char *keep(char *old, span text)
{
    free(old);
    char *p = malloc(text.n + 1);
    assert_non_null(p);
    if (text.n) memcpy(p, text.p, text.n);
    p[text.n] = '\0';
    return p;
}

static enum client_fate fake_attempt(struct client_transport *t, struct ctx *c,
                                     const struct client_request *q, struct client_answer *out)
{
    struct fake *f = (struct fake *)t;
    const struct play *p = &f->plays[f->n_sent < f->n_plays ? f->n_sent : f->n_plays - 1];
    f->n_sent++;
    f->sent = keep(f->sent, q->body);
    char all[8192] = "";
    for (const char *const *h = q->headers; *h; h++) {
        strncat(all, *h, sizeof all - strlen(all) - 2);
        strcat(all, "\n");
    }
    f->headers = keep(f->headers, span_cstr(all));
    clock_manual_advance(&f->clock, (int64_t)f->costs_us);
    *out = (struct client_answer){.status = p->status, .has_crc = p->has_crc, .crc = p->crc};
    if (p->fate != CLIENT_ANSWERED) {
        (void)err_set(c->err, SHEAF_IO, "%s: the script says so", q->url);
        return p->fate;
    }
    out->is_gzip = p->raw.p != NULL;
    out->body = arena_dup(c->arena, p->raw.p ? p->raw : span_cstr(p->body));
    if (out->body.p) return CLIENT_ANSWERED;
    (void)err_nomem(c->err);
    return CLIENT_NOMEM;
}

static void fake_close(struct client_transport *t)
{
    struct fake *f = (struct fake *)t;
    free(f->sent);
    free(f->headers);
    f->sent = f->headers = NULL;
}

/* A client on the script; `f` is the caller's storage and outlives the client. */
static inline struct client *open_fake(struct fake *f, const struct play *plays, uint32_t n,
                                       const char *url)
{
    struct client *k;
    sheaf_error err;
    *f = (struct fake){.base = {fake_attempt, fake_close}, .plays = plays, .n_plays = n};
    clock_manual_init(&f->clock, INT64_C(1700000000000000));
    struct client_options o = {.url = url,
                               .access_key_id = "AKID",
                               .secret_access_key = "secret",
                               .clock = &f->clock.base,
                               .seed = 1,
                               .transport = &f->base};
    if (client_open(&o, &k, &err) != SHEAF_OK) fail_msg("%s", err.message);
    return k;
}

#endif
