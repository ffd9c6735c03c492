/* Turns the bytes of a head into a verdict: more is needed, it is good, or it is refused and why.
 *
 * Know before editing: the scan steps from control byte to control byte, and every decision
 * belongs to one position in the bytes. A limit is checked before the byte behind it is looked at,
 * so that a head cut into pieces gets the verdict it would get whole.
 *
 * Statuses are 4xx throughout, also where 501 or 505 exist: what a client sends wrongly is not
 * counted among the server's faults. */
#include "http/scan.h"

#include <assert.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

void scan_init(struct scan *s, uint32_t max_line, uint32_t max_head, uint32_t max_headers)
{
    *s = (struct scan){.max_line = max_line, .max_head = max_head, .max_headers = max_headers};
}

/* ---- bytes ---- */

size_t scan_control_plain(const uint8_t *p, size_t n, size_t from)
{
    while (from < n && ((p[from] >= 0x20 && p[from] != 0x7f) || p[from] == '\t')) from++;
    return from;
}

size_t scan_control(const uint8_t *p, size_t n, size_t from)
{
#if defined(__SSE2__)
    const __m128i last = _mm_set1_epi8(0x1f), tab = _mm_set1_epi8('\t'), del = _mm_set1_epi8(0x7f);
    for (; n - from >= 16; from += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(p + from));
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, last), x);
        low = _mm_andnot_si128(_mm_cmpeq_epi8(x, tab), low);
        int mask = _mm_movemask_epi8(_mm_or_si128(low, _mm_cmpeq_epi8(x, del)));
        if (mask) return from + (size_t)__builtin_ctz((unsigned)mask);
    }
#elif defined(__aarch64__)
    for (; n - from >= 16; from += 16) {
        uint8x16_t x = vld1q_u8(p + from);
        uint8x16_t low = vbicq_u8(vcltq_u8(x, vdupq_n_u8(0x20)), vceqq_u8(x, vdupq_n_u8('\t')));
        uint8x16_t hit = vorrq_u8(low, vceqq_u8(x, vdupq_n_u8(0x7f)));
        uint64_t mask =
            vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)), 0);
        if (mask) return from + (size_t)__builtin_ctzll(mask) / 4;
    }
#endif
    return scan_control_plain(p, n, from);
}

/* RFC 9110: letters, digits and !#$%&'*+-.^_`|~ */
bool scan_is_token(uint8_t c)
{
    static const uint64_t set[4] = {0x03ff6cfa00000000, 0x57ffffffc7fffffe, 0, 0};
    return set[c >> 6] >> (c & 63) & 1;
}

/* What may stand in a Host: a name, an address, brackets, a port. */
static bool is_host_byte(uint8_t c)
{
    if (c >= '0' && c <= '9') return true;
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') return true;
    return c && strchr("-._~!$&'()*+;=:[]%", c) != NULL;
}

span scan_trim(span s)
{
    const uint8_t *p = s.p;
    while (s.n && (p[s.n - 1] == ' ' || p[s.n - 1] == '\t')) s.n--;
    for (; s.n && (*p == ' ' || *p == '\t'); s.n--) p++;
    return SPAN(p, s.n);
}

bool scan_same(span a, span lower)
{
    if (a.n != lower.n) return false;
    const uint8_t *p = a.p, *q = lower.p;
    for (size_t i = 0; i < a.n; i++) {
        uint8_t c = p[i] >= 'A' && p[i] <= 'Z' ? (uint8_t)(p[i] | 0x20) : p[i];
        if (c != q[i]) return false;
    }
    return true;
}

/* ---- the request line ---- */

static bool refuse(struct scan *s, int status, const char *why)
{
    s->status = status;
    s->why = why;
    return false;
}

/* CONNECT and TRACE are not among them: nothing here tunnels, and an echo leaks credentials. */
static bool is_method(span m)
{
    static const span known[] = {SPAN_LIT("POST"),  SPAN_LIT("GET"),     SPAN_LIT("HEAD"),
                                 SPAN_LIT("PUT"),   SPAN_LIT("OPTIONS"), SPAN_LIT("PATCH"),
                                 SPAN_LIT("DELETE")};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (span_eq(m, known[i])) return true;
    return false;
}

static bool check_version(struct scan *s, span v)
{
    const uint8_t *p = v.p;
    if (v.n != 8 || memcmp(p, "HTTP/", 5) != 0 || p[6] != '.' || p[5] < '0' || p[5] > '9' ||
        p[7] < '0' || p[7] > '9')
        return refuse(s, 400, "the request line does not end in an HTTP version");
    if (p[5] == '2') return refuse(s, 400, "HTTP/2 is not spoken here; use HTTP/1.1");
    if (p[5] != '1' || p[7] > '1') return refuse(s, 400, "only HTTP/1.0 and HTTP/1.1 are spoken");
    s->is_http10 = p[7] == '0';
    return true;
}

/* Origin form, absolute form (RFC 9112 wants it understood), or * for OPTIONS. */
static bool check_target(struct scan *s, span method, span target)
{
    const uint8_t *p = target.p;
    for (size_t i = 0; i < target.n; i++)
        if (p[i] <= 0x20 || p[i] >= 0x7f || p[i] == '#')
            return refuse(s, 400, "the target holds a byte that it may not");
    if (target.n && *p == '/') return true;
    if (span_eq(target, SPAN_LIT("*")) && span_eq(method, SPAN_LIT("OPTIONS"))) return true;
    for (size_t scheme = 7; scheme <= 8; scheme++) {
        span want = scheme == 7 ? SPAN_LIT("http://") : SPAN_LIT("https://");
        if (target.n > scheme && scan_same(SPAN(p, scheme), want) && is_host_byte(p[scheme]))
            return true;
    }
    return refuse(s, 400, "the target is neither a path nor a URL");
}

static bool request_line(struct scan *s, span line)
{
    const uint8_t *p = line.p, *end = p + line.n, *at = p;
    while (at < end && scan_is_token(*at)) at++;
    span method = SPAN(p, (size_t)(at - p));
    if (method.n == 0 || at == end || *at != ' ')
        return refuse(s, 400, "the request line does not begin with a method and a space");
    const uint8_t *target_at = ++at;
    at = memchr(at, ' ', (size_t)(end - at));
    if (!at) return refuse(s, 400, "the request line has no HTTP version");
    if (!check_version(s, SPAN(at + 1, (size_t)(end - at - 1)))) return false;
    if (!is_method(method)) return refuse(s, 405, "the method is not known here");
    return check_target(s, method, SPAN(target_at, (size_t)(at - target_at)));
}

/* ---- header lines ---- */

static bool content_length(struct scan *s, span value)
{
    if (s->has_length) return refuse(s, 400, "two Content-Length headers");
    s->has_length = true;
    const uint8_t *p = value.p;
    if (value.n == 0) return refuse(s, 400, "Content-Length is empty");
    for (size_t i = 0; i < value.n; i++) {
        if (p[i] < '0' || p[i] > '9') return refuse(s, 400, "Content-Length is not a number");
        if (__builtin_mul_overflow(s->length, (uint64_t)10, &s->length) ||
            __builtin_add_overflow(s->length, (uint64_t)(p[i] - '0'), &s->length))
            return refuse(s, 400, "Content-Length is out of range");
    }
    return true;
}

static bool transfer_encoding(struct scan *s, span value)
{
    if (s->is_chunked) return refuse(s, 400, "two Transfer-Encoding headers");
    if (!scan_same(value, SPAN_LIT("chunked")))
        return refuse(s, 400, "the only Transfer-Encoding spoken here is chunked");
    s->is_chunked = true;
    return true;
}

static bool connection(struct scan *s, span value)
{
    const uint8_t *p = value.p, *end = p + value.n;
    while (p < end) {
        const uint8_t *comma = memchr(p, ',', (size_t)(end - p));
        if (!comma) comma = end;
        span word = scan_trim(SPAN(p, (size_t)(comma - p)));
        if (scan_same(word, SPAN_LIT("close"))) s->wants_close = true;
        if (scan_same(word, SPAN_LIT("keep-alive"))) s->wants_keep_alive = true;
        p = comma + 1;
    }
    return true;
}

static bool host(struct scan *s, span value)
{
    if (s->has_host) return refuse(s, 400, "two Host headers");
    s->has_host = true;
    const uint8_t *p = value.p;
    for (size_t i = 0; i < value.n; i++)
        if (!is_host_byte(p[i])) return refuse(s, 400, "Host holds a byte that it may not");
    return true;
}

/* The few headers that decide how the rest of the bytes are read. */
static bool known_header(struct scan *s, span name, span value)
{
    switch (name.n) {
    case 4:
        return !scan_same(name, SPAN_LIT("host")) || host(s, value);
    case 6:
        if (!scan_same(name, SPAN_LIT("expect"))) return true;
        if (scan_same(value, SPAN_LIT("100-continue")))
            s->expects_100 = true;
        else
            s->has_other_expectation = true;
        return true;
    case 10:
        return !scan_same(name, SPAN_LIT("connection")) || connection(s, value);
    case 14:
        return !scan_same(name, SPAN_LIT("content-length")) || content_length(s, value);
    case 17:
        return !scan_same(name, SPAN_LIT("transfer-encoding")) || transfer_encoding(s, value);
    default:
        return true;
    }
}

static bool header_line(struct scan *s, span line)
{
    const uint8_t *p = line.p;
    if (*p == ' ' || *p == '\t') return refuse(s, 400, "a header goes on over a second line");
    size_t n = 0;
    while (n < line.n && scan_is_token(p[n])) n++;
    if (n == 0 || n == line.n || p[n] != ':')
        return refuse(s, 400, "a header line is not a name and a colon");
    if (++s->n_headers > s->max_headers) return refuse(s, 431, "too many headers");
    return known_header(s, SPAN(p, n), scan_trim(span_from(line, n + 1)));
}

static bool end_of_head(struct scan *s)
{
    if (!s->is_http10 && !s->has_host) return refuse(s, 400, "no Host header");
    if (s->has_length && s->is_chunked)
        return refuse(s, 400, "both Content-Length and Transfer-Encoding");
    if (s->is_http10 && s->is_chunked) return refuse(s, 400, "chunks in HTTP/1.0");
    if (s->is_http10) s->expects_100 = s->has_other_expectation = false;
    if (s->has_other_expectation)
        return refuse(s, 417, "the only expectation met here is 100-continue");
    return true;
}

/* ---- lines ---- */

/* Whether the bytes before `end` are within the limits, the line under way ending there or going
 * on. */
static bool within(struct scan *s, size_t end)
{
    if (!s->head_at)
        return end - s->line_at <= s->max_line || refuse(s, 414, "the request line is too long");
    return end - s->head_at <= s->max_head || refuse(s, 431, "the headers are too long");
}

/* A whole line without its CRLF. An empty one ends the head: *is_end_out. */
static bool take_line(struct scan *s, span line, bool *is_end_out)
{
    if (s->head_at) {
        if (line.n) return within(s, s->at) && header_line(s, line);
        *is_end_out = true;
        return end_of_head(s);
    }
    if (line.n == 0) { /* RFC 9112: one empty line before a request is no fault */
        if (s->line_at) return refuse(s, 400, "empty lines before the request");
        s->start_at = s->at;
        return true;
    }
    s->head_at = s->at;
    return request_line(s, line);
}

enum scan_verdict scan_head(struct scan *s, span bytes)
{
    assert(bytes.n >= s->at && bytes.n <= UINT32_MAX);
    const uint8_t *p = bytes.p;
    bool is_end = false;
    while (!is_end) {
        size_t at = scan_control(p, bytes.n, s->at);
        if (!within(s, at)) return SCAN_REFUSED;
        s->at = (uint32_t)at;
        if (at == bytes.n) return SCAN_MORE;
        if (p[at] != '\r') {
            (void)refuse(s, 400, p[at] == '\n' ? "a line ends in LF alone" : "a control byte");
            return SCAN_REFUSED;
        }
        if (at + 1 == bytes.n) return SCAN_MORE;
        if (p[at + 1] != '\n') {
            (void)refuse(s, 400, "CR without LF");
            return SCAN_REFUSED;
        }
        s->at = (uint32_t)at + 2;
        span line = SPAN(p + s->line_at, at - s->line_at);
        if (!take_line(s, line, &is_end)) return SCAN_REFUSED;
        s->line_at = s->at;
    }
    return SCAN_DONE;
}
