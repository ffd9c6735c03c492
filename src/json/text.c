/* Turns texts with escapes or bytes above ASCII into UTF-8; the plain ones never come here. Know
 * before editing: what comes out is never longer than what went in. */
#include "base/utf8.h"
#include "json/read.h"

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of a \u escape; -1 when they are not. p has at least four bytes. */
static int32_t hex4(const uint8_t *p)
{
    int32_t x = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0) return -1;
        x = x << 4 | digit;
    }
    return x;
}

static uint8_t *put_utf8(uint8_t *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (uint8_t)c;
    } else if (c < 0x800) {
        *to++ = (uint8_t)(0xC0 | c >> 6);
        *to++ = (uint8_t)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *to++ = (uint8_t)(0xE0 | c >> 12);
        *to++ = (uint8_t)(0x80 | (c >> 6 & 63));
        *to++ = (uint8_t)(0x80 | (c & 63));
    } else {
        *to++ = (uint8_t)(0xF0 | c >> 18);
        *to++ = (uint8_t)(0x80 | (c >> 12 & 63));
        *to++ = (uint8_t)(0x80 | (c >> 6 & 63));
        *to++ = (uint8_t)(0x80 | (c & 63));
    }
    return to;
}

/* The character of the \u escape whose digits begin at p, and where they end; a surrogate must
 * come with its other half. NULL when it is wrong. */
static const uint8_t *take_unicode(const uint8_t *p, const uint8_t *end, uint32_t *out)
{
    int32_t x = end - p >= 4 ? hex4(p) : -1;
    if (x < 0 || (x >= 0xDC00 && x <= 0xDFFF)) return NULL;
    p += 4;
    *out = (uint32_t)x;
    if (x < 0xD800 || x > 0xDBFF) return p;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') return NULL;
    int32_t low = hex4(p + 2);
    if (low < 0xDC00 || low > 0xDFFF) return NULL;
    *out = 0x10000 + (((uint32_t)x & 0x3FF) << 10 | ((uint32_t)low & 0x3FF));
    return p + 6;
}

/* The same for any escape, p behind the backslash. */
static const uint8_t *take_escape(const uint8_t *p, const uint8_t *end, uint32_t *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (p == end) return NULL;
    if (*p == 'u') return take_unicode(p + 1, end, out);
    const char *found = *p ? strchr(from, *p) : NULL;
    if (!found) return NULL;
    *out = (uint8_t)to[found - from];
    return p + 1;
}

/* Where a text that holds a backslash at p ends: at its quote, or NULL. Only that is known of it. */
static const uint8_t *find_quote(const uint8_t *p, const uint8_t *end)
{
    bool high = false;
    while (p < end && *p != '"') {
        if (*p == '\\') {
            if (end - p < 2) return NULL;
            p += 2;
        } else if (*p < 0x20) {
            return NULL;
        }
        p = scan_plain(p, end, &high);
    }
    return p < end ? p : NULL;
}

/* The text between p and its closing quote, checked, and written to `to` unless that is NULL: never
 * more bytes than were read. Each run between escapes is UTF-8 by itself when the whole is, since
 * an escape never stands for a part of a character. Returns how many bytes it has, or -1. */
static ptrdiff_t unescape(const uint8_t *p, const uint8_t *quote, uint8_t *to)
{
    ptrdiff_t n = 0;
    while (p < quote) {
        bool high = false;
        uint8_t four[4];
        const uint8_t *run = p, *next;
        uint32_t c;
        p = scan_plain(p, quote, &high);
        if (high && !utf8_check(SPAN(run, (size_t)(p - run)))) return -1;
        if (to) memcpy(to + n, run, (size_t)(p - run));
        n += p - run;
        if (p == quote) break;
        next = take_escape(p + 1, quote, &c);
        if (!next) return -1;
        p = next;
        n += put_utf8(to ? to + n : four, c) - (to ? to + n : four);
    }
    return n;
}

/* A text that holds an escape; *out may be NULL: then it is checked and nothing else. */
static sheaf_rc escaped_text(struct json *j, const uint8_t *start, const uint8_t *escape, span *out)
{
    const uint8_t *quote = find_quote(escape, j->end);
    if (!quote) return json_malformed(j);
    uint8_t *to = out ? arena_bytes(j->ctx->arena, (size_t)(quote - start)) : NULL;
    if (out && !to) return err_nomem(j->ctx->err);
    ptrdiff_t n = unescape(start, quote, to);
    if (n < 0) return json_malformed(j);
    if (out) *out = SPAN(to, (size_t)n);
    j->at = quote + 1;
    return SHEAF_OK;
}

sheaf_rc json_text_slow(struct json *j, const uint8_t *p, span *out)
{
    bool high = false;
    p = scan_plain(p, j->end, &high);
    if (p == j->end) return json_malformed(j);
    if (*p == '\\') return escaped_text(j, j->at, p, out);
    span text = SPAN(j->at, (size_t)(p - j->at));
    if (*p != '"' || (high && !utf8_check(text))) return json_malformed(j);
    if (out) *out = text;
    j->at = p + 1;
    return SHEAF_OK;
}
