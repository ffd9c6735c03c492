/* Turns a status, headers and a body into the bytes of an answer.
 *
 * Know before editing: an answer needs memory for its head. When there is none a static 503 takes
 * its place and the connection ends behind it: an exchange once begun always ends in one answer. */
#include "http/date.h"
#include "http/inner.h"

/* clang-format off */
#define STATUSES(X) \
    X(200, "OK") X(201, "Created") X(202, "Accepted") X(204, "No Content") \
    X(301, "Moved Permanently") X(302, "Found") X(304, "Not Modified") \
    X(400, "Bad Request") X(401, "Unauthorized") X(403, "Forbidden") X(404, "Not Found") \
    X(405, "Method Not Allowed") X(406, "Not Acceptable") X(408, "Request Timeout") \
    X(409, "Conflict") X(411, "Length Required") X(412, "Precondition Failed") \
    X(413, "Content Too Large") X(414, "URI Too Long") X(415, "Unsupported Media Type") \
    X(417, "Expectation Failed") X(422, "Unprocessable Content") X(429, "Too Many Requests") \
    X(431, "Request Header Fields Too Large") X(500, "Internal Server Error") \
    X(501, "Not Implemented") X(503, "Service Unavailable") X(504, "Gateway Timeout")
/* clang-format on */

static span status_line(int status)
{
    switch (status) {
#define X(code, text)                                                                              \
    case code:                                                                                     \
        return SPAN_LIT("HTTP/1.1 " #code " " text "\r\nServer: sheaf\r\nDate: ");
        STATUSES(X)
#undef X
    default:
        return SPAN_NONE;
    }
}

static span date(struct http_loop *l)
{
    int64_t now_s = clock_coarse_us(l->clock) / 1000000;
    if (now_s != l->date_s) {
        l->date_s = now_s;
        date_format(now_s, l->date);
    }
    return SPAN(l->date, DATE_BYTES);
}

static uint8_t *put(uint8_t *to, span s)
{
    memcpy(to, s.p, s.n);
    return to + s.n;
}

static uint8_t *put_number(uint8_t *to, uint64_t n)
{
    uint8_t digits[20];
    int i = 20;
    do {
        digits[--i] = (uint8_t)('0' + n % 10);
        n /= 10;
    } while (n);
    return put(to, SPAN(digits + i, (size_t)(20 - i)));
}

static bool has_no_body(int status) { return status == 204 || status == 304 || status < 200; }

static span connection_line(const struct http_exchange *x)
{
    if (x->closes) return SPAN_LIT("Connection: close\r\n");
    return x->is_http10 ? SPAN_LIT("Connection: keep-alive\r\n") : SPAN_LIT("");
}

/* The head in the exchange's arena; p == NULL when memory is out. */
static span format_head(struct http_exchange *x, size_t length)
{
    enum { NUMBERS = 64 }; /* an unknown status, and the length */
    span line = status_line(x->status), connection = connection_line(x);
    if (x->extra.failed) return SPAN_NONE;
    size_t most = line.n + DATE_BYTES + connection.n + x->extra.n + NUMBERS + 64;
    uint8_t *head = arena_bytes(&x->arena, most);
    if (!head) return SPAN_NONE;
    uint8_t *to = head;
    if (line.p) {
        to = put(to, line);
    } else {
        to = put(to, SPAN_LIT("HTTP/1.1 "));
        to = put_number(to, (uint64_t)x->status);
        to = put(to, SPAN_LIT(" \r\nServer: sheaf\r\nDate: "));
    }
    to = put(to, date(x->loop));
    to = put(to, SPAN_LIT("\r\n"));
    if (!has_no_body(x->status)) {
        to = put(to, SPAN_LIT("Content-Length: "));
        to = put_number(to, length);
        to = put(to, SPAN_LIT("\r\n"));
    }
    to = put(to, connection);
    if (x->extra.n) to = put(to, buf_span(&x->extra));
    to = put(to, SPAN_LIT("\r\n"));
    assert((size_t)(to - head) <= most);
    return SPAN(head, (size_t)(to - head));
}

static bool is_one_line(span s)
{
    return s.n == 0 || (!memchr(s.p, '\r', s.n) && !memchr(s.p, '\n', s.n));
}

void http_add_header(struct http_exchange *x, span name, span value)
{
    assert(!x->status);
    if (!is_one_line(name) || !is_one_line(value)) {
        x->extra.failed = true; /* would be an answer of the sender's making */
        return;
    }
    if (!buf_room(&x->extra, name.n + value.n + 4)) return;
    buf_put_span(&x->extra, name);
    buf_put(&x->extra, ": ", 2);
    buf_put_span(&x->extra, value);
    buf_put(&x->extra, "\r\n", 2);
}

static void no_memory(struct http_exchange *x)
{
    x->status = 503;
    x->closes = true;
    x->head = SPAN_LIT("HTTP/1.1 503 Service Unavailable\r\nServer: sheaf\r\n"
                       "Content-Length: 0\r\nConnection: close\r\n\r\n");
    x->body = SPAN_NONE;
}

static void answer(struct http_exchange *x, int status, span body)
{
    struct http_loop *l = x->loop;
    x->status = status;
    /* While draining, the answer behind which nothing is under way says that it is the last. */
    bool is_last = x->conn && x->conn->last == x && !x->conn->reading;
    x->closes = x->wants_close || (l->is_draining && is_last);
    x->body = x->is_head || has_no_body(status) ? SPAN_NONE : body;
    x->head = format_head(x, body.n);
    if (!x->head.p) no_memory(x);
    exchange_reserve(x, x->arena.used + EXCHANGE_BYTES);
    if (!x->conn) {
        exchange_free(x);
        return;
    }
    conn_answered(x->conn, x->reserved);
    conn_dirty(x->conn);
}

void http_answer(struct http_exchange *x, int status, span body)
{
    assert(x->is_handed && !x->status && status >= 200 && status <= 999);
    answer(x, status, body);
}

void answer_refusal(struct http_exchange *x, int status, const char *why)
{
    const struct http_handler *h = &x->loop->server->handler;
    const char *type = "text/plain";
    struct buf body;
    buf_init(&body, &x->arena, 1 << 20);
    if (h->refused)
        h->refused(h->ctx, status, why, &body, &type);
    else
        buf_put_span(&body, span_cstr(why));
    if (body.failed) buf_clear(&body);
    if (body.n) http_add_header(x, SPAN_LIT("Content-Type"), span_cstr(type));
    if (status == 405)
        http_add_header(x, SPAN_LIT("Allow"),
                        SPAN_LIT("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"));
    x->wants_close = true;
    loop_count(&x->loop->figures.refused, 1);
    answer(x, status, buf_span(&body));
}
