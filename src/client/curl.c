/* The transport: libcurl, one easy handle per request under way, kept with its connection for the
 * next.
 *
 * Know before editing: libcurl is not linked but loaded when the first remote handle is opened. It
 * brings some thirty libraries (LDAP, Kerberos, SSH, …) that a program which only embeds a database,
 * and the server, should neither load nor need installed. The header gives the types; the names
 * below are the whole of what is used. The checksum is of the bytes on the wire, so curl inflates
 * nothing. */
#include "base/mem.h"
#include "client/wire.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <strings.h>

enum { IDLE_MAX = 64, CONNECT_MS = 3000 };

/* ---- the library ---- */

/* X(name) */
#define CURL_NAMES(X)                                                                              \
    X(curl_global_init)                                                                            \
    X(curl_easy_init)                                                                              \
    X(curl_easy_reset)                                                                             \
    X(curl_easy_cleanup)                                                                           \
    X(curl_easy_perform)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)
/* Variadic, and macros in curl's header. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

static struct {
    char why_not[200]; /* "": it is there */
#define X(name) __typeof__(&name) name;
    CURL_NAMES(X)
#undef X
    CURLcode (*setopt)(CURL *handle, CURLoption option, ...);
    CURLcode (*getinfo)(CURL *handle, CURLINFO info, ...);
} lib;

static void *find(void *library, const char *name)
{
    void *at = dlsym(library, name);
    if (!at && !*lib.why_not)
        snprintf(lib.why_not, sizeof lib.why_not, "libcurl.so.4 has no %s", name);
    return at;
}

static void load(void)
{
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(lib.why_not, sizeof lib.why_not, "libcurl.so.4 cannot be loaded (%.100s)",
                 dlerror());
        return;
    }
    /* POSIX makes a function of dlsym's pointer; ISO C has no cast for it. */
#define TAKE(member, name) (*(void **)&lib.member = find(library, name))
#define X(name) TAKE(name, #name);
    CURL_NAMES(X)
#undef X
    TAKE(setopt, "curl_easy_setopt");
    TAKE(getinfo, "curl_easy_getinfo");
    if (!*lib.why_not && lib.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        snprintf(lib.why_not, sizeof lib.why_not, "libcurl does not start");
}

static sheaf_rc load_once(sheaf_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!*lib.why_not) return SHEAF_OK;
    return err_set(err, SHEAF_IO, "A remote handle needs libcurl (Debian: libcurl4): %s",
                   lib.why_not);
}

/* ---- handles ---- */

struct curl_transport {
    struct client_transport base;
    char *ca_file; /* NULL: the system's */
    pthread_mutex_t lock;
    CURL *idle[IDLE_MAX];
    uint32_t n_idle;
};

static CURL *take_handle(struct curl_transport *t)
{
    pthread_mutex_lock(&t->lock);
    CURL *h = t->n_idle ? t->idle[--t->n_idle] : NULL;
    pthread_mutex_unlock(&t->lock);
    return h ? h : lib.curl_easy_init();
}

static void give_handle(struct curl_transport *t, CURL *h)
{
    lib.curl_easy_reset(h); /* keeps the connection, forgets what it carried */
    pthread_mutex_lock(&t->lock);
    bool is_kept = t->n_idle < IDLE_MAX;
    if (is_kept) t->idle[t->n_idle++] = h;
    pthread_mutex_unlock(&t->lock);
    if (!is_kept) lib.curl_easy_cleanup(h);
}

/* ---- one attempt ---- */

struct exchange {
    const struct client_request *q;
    struct buf body; /* on the heap: an arena would keep what growing leaves behind */
    struct client_answer *answer;
    char words[CURL_ERROR_SIZE];
};

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
    struct exchange *x = ctx;
    buf_put(&x->body, p, size * n);
    return x->body.failed ? 0 : size * n;
}

/* The value of the header when the line is that header's; p == NULL otherwise. */
static span header_value(span line, const char *name)
{
    size_t n = strlen(name);
    const char *p = line.p;
    if (line.n <= n || p[n] != ':' || strncasecmp(p, name, n) != 0) return SPAN_NONE;
    span v = span_from(line, n + 1);
    p = v.p;
    while (v.n && (p[v.n - 1] == '\r' || p[v.n - 1] == '\n' || p[v.n - 1] == ' ')) v.n--;
    while (v.n && *p == ' ') p++, v.n--;
    return SPAN(p, v.n);
}

static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
    struct exchange *x = ctx;
    span line = SPAN(p, size * n), value = header_value(line, "x-amz-crc32");
    if (value.p && value.n && value.n <= 10) {
        uint64_t crc = 0;
        for (size_t i = 0; i < value.n; i++) crc = crc * 10 + ((const uint8_t *)value.p)[i] - '0';
        x->answer->has_crc = true;
        x->answer->crc = (uint32_t)crc;
    }
    value = header_value(line, "content-encoding");
    if (value.p) x->answer->is_gzip = value.n == 4 && strncasecmp(value.p, "gzip", 4) == 0;
    return size * n;
}

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    struct exchange *x = ctx;
    return x->q->is_cancelled && x->q->is_cancelled(x->q->cancel_ctx);
}

static void set_options(struct curl_transport *t, CURL *h, struct exchange *x,
                        struct curl_slist *headers)
{
    const struct client_request *q = x->q;
    long ms = q->timeout_ms > 86400000 ? 86400000L : q->timeout_ms ? (long)q->timeout_ms : 1L;
    lib.setopt(h, CURLOPT_URL, q->url);
    lib.setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    lib.setopt(h, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    lib.setopt(h, CURLOPT_POST, 1L);
    lib.setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
    lib.setopt(h, CURLOPT_POSTFIELDS, q->body.p);
    lib.setopt(h, CURLOPT_HTTPHEADER, headers);
    lib.setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    lib.setopt(h, CURLOPT_WRITEDATA, x);
    lib.setopt(h, CURLOPT_HEADERFUNCTION, on_header);
    lib.setopt(h, CURLOPT_HEADERDATA, x);
    lib.setopt(h, CURLOPT_NOPROGRESS, 0L);
    lib.setopt(h, CURLOPT_XFERINFOFUNCTION, on_progress);
    lib.setopt(h, CURLOPT_XFERINFODATA, x);
    lib.setopt(h, CURLOPT_ERRORBUFFER, x->words);
    lib.setopt(h, CURLOPT_NOSIGNAL, 1L);
    lib.setopt(h, CURLOPT_TIMEOUT_MS, ms);
    lib.setopt(h, CURLOPT_CONNECTTIMEOUT_MS, ms < CONNECT_MS ? ms : (long)CONNECT_MS);
    if (t->ca_file) lib.setopt(h, CURLOPT_CAINFO, t->ca_file);
    if (q->is_loopback) lib.setopt(h, CURLOPT_PROXY, "");
}

static enum client_fate fate_of(CURL *h, CURLcode code)
{
    double sent_s = 0;
    switch (code) {
    case CURLE_OK:
        return CLIENT_ANSWERED;
    case CURLE_OUT_OF_MEMORY:
        return CLIENT_NOMEM;
    case CURLE_ABORTED_BY_CALLBACK:
        return CLIENT_CANCELLED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
        return CLIENT_NOT_SENT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WRITE_ERROR:
        return CLIENT_HOPELESS;
    default: /* 0 until the request is about to leave */
        lib.getinfo(h, CURLINFO_PRETRANSFER_TIME, &sent_s);
        return sent_s > 0 ? CLIENT_LOST : CLIENT_NOT_SENT;
    }
}

static enum client_fate finish(struct ctx *c, CURL *h, CURLcode code, struct exchange *x)
{
    long status = 0;
    enum client_fate fate = fate_of(h, code);
    if (fate == CLIENT_NOMEM || (code == CURLE_WRITE_ERROR && x->body.n < x->body.max / 2)) {
        (void)err_nomem(c->err);
        return CLIENT_NOMEM;
    }
    if (fate != CLIENT_ANSWERED) {
        (void)err_set(c->err, SHEAF_IO, "%s: %s", x->q->url,
                      code == CURLE_WRITE_ERROR ? "the answer is too big"
                      : *x->words               ? x->words
                                                : lib.curl_easy_strerror(code));
        return fate;
    }
    lib.getinfo(h, CURLINFO_RESPONSE_CODE, &status);
    x->answer->status = (int)status;
    x->answer->body = arena_dup(c->arena, x->body.n ? buf_span(&x->body) : SPAN("", 0));
    if (x->answer->body.p) return CLIENT_ANSWERED;
    (void)err_nomem(c->err);
    return CLIENT_NOMEM;
}

static struct curl_slist *make_list(const char *const *headers)
{
    struct curl_slist *list = NULL;
    for (; *headers; headers++) {
        struct curl_slist *longer = lib.curl_slist_append(list, *headers);
        if (!longer) {
            lib.curl_slist_free_all(list);
            return NULL;
        }
        list = longer;
    }
    return list;
}

static enum client_fate attempt(struct client_transport *base, struct ctx *c,
                                const struct client_request *q, struct client_answer *out)
{
    struct curl_transport *t = (struct curl_transport *)base;
    struct exchange x = {.q = q, .answer = out};
    struct curl_slist *list = make_list(q->headers);
    CURL *h = list ? take_handle(t) : NULL;
    *out = (struct client_answer){.status = 0};
    if (!h) {
        lib.curl_slist_free_all(list);
        (void)err_nomem(c->err);
        return CLIENT_NOMEM;
    }
    buf_init(&x.body, NULL, CLIENT_BODY_MAX);
    set_options(t, h, &x, list);
    enum client_fate fate = finish(c, h, lib.curl_easy_perform(h), &x);
    give_handle(t, h);
    lib.curl_slist_free_all(list);
    buf_deinit(&x.body);
    return fate;
}

static void close_transport(struct client_transport *base)
{
    struct curl_transport *t = (struct curl_transport *)base;
    while (t->n_idle) lib.curl_easy_cleanup(t->idle[--t->n_idle]);
    pthread_mutex_destroy(&t->lock);
    mem_free(t->ca_file);
    mem_free(t);
}

sheaf_rc curl_transport_new(const char *ca_file, struct client_transport **out, sheaf_error *err)
{
    TRY(load_once(err));
    struct curl_transport *t = mem_zalloc(sizeof *t);
    if (!t) return err_nomem(err);
    if (ca_file) {
        size_t n = strlen(ca_file) + 1;
        t->ca_file = mem_alloc(n);
        if (!t->ca_file) {
            mem_free(t);
            return err_nomem(err);
        }
        memcpy(t->ca_file, ca_file, n);
    }
    t->base = (struct client_transport){attempt, close_transport};
    pthread_mutex_init(&t->lock, NULL);
    *out = &t->base;
    return SHEAF_OK;
}
