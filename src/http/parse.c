/* Turns an accepted head into a request, through llhttp.
 *
 * Know before editing: two parsers read every head, ours for what may be refused and llhttp for
 * what it says, and both must agree on what decides where the body ends. Where they differ the
 * request is refused, so that no difference between parsers can be used to smuggle one. */
#include "http/parse.h"

#include <llhttp.h>

#include <assert.h>

/* A parse under way; llhttp's `data` points at it. */
struct parse {
    struct http_request *request;
    struct http_header *headers;
    uint32_t n, cap;
    bool is_whole;
};

static int on_method(llhttp_t *p, const char *at, size_t n)
{
    ((struct parse *)p->data)->request->method = SPAN(at, n);
    return 0;
}

static int on_url(llhttp_t *p, const char *at, size_t n)
{
    ((struct parse *)p->data)->request->target = SPAN(at, n);
    return 0;
}

static int on_name(llhttp_t *p, const char *at, size_t n)
{
    struct parse *q = p->data;
    if (q->n == q->cap) return -1;
    q->headers[q->n++] = (struct http_header){SPAN(at, n), SPAN_LIT("")};
    return 0;
}

static int on_value(llhttp_t *p, const char *at, size_t n)
{
    struct parse *q = p->data;
    if (q->n == 0) return -1;
    q->headers[q->n - 1].value = scan_trim(SPAN(at, n));
    return 0;
}

/* llhttp is told to stop here: bodies are read by body.c. */
static int on_headers_complete(llhttp_t *p)
{
    ((struct parse *)p->data)->is_whole = true;
    return HPE_PAUSED;
}

static const llhttp_settings_t settings = {.on_method = on_method,
                                           .on_url = on_url,
                                           .on_header_field = on_name,
                                           .on_header_value = on_value,
                                           .on_headers_complete = on_headers_complete};

static bool agrees(const llhttp_t *p, const struct parse *q, const struct scan *s)
{
    if (!q->is_whole || q->n != s->n_headers) return false;
    if (p->http_major != 1 || p->http_minor != (s->is_http10 ? 0 : 1)) return false;
    if (((p->flags & F_CHUNKED) != 0) != s->is_chunked) return false;
    if (((p->flags & F_CONTENT_LENGTH) != 0) != s->has_length) return false;
    return !s->has_length || p->content_length == s->length;
}

static void lower(span name)
{
    uint8_t *p = (uint8_t *)(uintptr_t)name.p; /* of the arena's copy */
    for (size_t i = 0; i < name.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z') p[i] |= 0x20;
}

void parse_target(span target, span *path_out, span *query_out)
{
    const uint8_t *p = target.p, *end = p + target.n;
    if (target.n && *p != '/' && *p != '*') { /* absolute: the path is behind the authority */
        p = (const uint8_t *)memchr(p, ':', target.n) + 3;
        while (p < end && *p != '/' && *p != '?') p++;
    }
    const uint8_t *mark = p < end ? memchr(p, '?', (size_t)(end - p)) : NULL;
    *query_out = mark ? SPAN(mark + 1, (size_t)(end - mark - 1)) : SPAN_NONE;
    if (!mark) mark = end;
    *path_out = mark > p ? SPAN(p, (size_t)(mark - p)) : SPAN_LIT("/");
}

int parse_head(struct arena *arena, uint8_t *head, size_t n, const struct scan *s,
               struct http_request *r)
{
    struct parse q = {.request = r, .cap = s->n_headers};
    q.headers = arena_alloc(arena, sizeof *q.headers * (s->n_headers + 1));
    if (!q.headers) return 503;
    llhttp_t p;
    llhttp_init(&p, HTTP_REQUEST, &settings);
    p.data = &q;
    llhttp_errno_t e = llhttp_execute(&p, (const char *)head, n);
    if (e != HPE_PAUSED || !agrees(&p, &q, s)) return 400;
    for (uint32_t i = 0; i < q.n; i++) lower(q.headers[i].name);
    r->headers = q.headers;
    r->n_headers = q.n;
    parse_target(r->target, &r->path, &r->query);
    return 0;
}
