/* Turns bytes into padded base64 text, and back. */
#include "base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_put(struct buf *out, span s)
{
    if (s.n == 0) return;
    const uint8_t *p = s.p;
    size_t room = (out->max - out->n) / 4; /* a message wants as much of it as there is room for */
    if (!out->failed && room > 0 && (s.n + 2) / 3 > room) base64_put(out, SPAN(p, room * 3));
    size_t whole = s.n / 3, left = s.n % 3, n = 4 * (whole + (left != 0));
    uint8_t *to = buf_room(out, n);
    if (!to) return;
    for (size_t i = 0; i < whole; i++, p += 3, to += 4) {
        uint32_t x = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        to[0] = (uint8_t)digits[x >> 18];
        to[1] = (uint8_t)digits[x >> 12 & 63];
        to[2] = (uint8_t)digits[x >> 6 & 63];
        to[3] = (uint8_t)digits[x & 63];
    }
    if (left) {
        uint32_t x = (uint32_t)p[0] << 16 | (left > 1 ? (uint32_t)p[1] << 8 : 0);
        to[0] = (uint8_t)digits[x >> 18];
        to[1] = (uint8_t)digits[x >> 12 & 63];
        to[2] = left > 1 ? (uint8_t)digits[x >> 6 & 63] : '=';
        to[3] = '=';
    }
    out->n += n;
}

/* Of each byte its six bits, or one of these. */
enum { PAD = 0x40, BAD = 0x80 };

#define BAD4 BAD, BAD, BAD, BAD
#define BAD16 BAD4, BAD4, BAD4, BAD4
static const uint8_t values[256] = {
    BAD16, BAD16, BAD4, BAD4, BAD,  BAD,   BAD,   62,    BAD,   BAD,   BAD,   63,  /* + / */
    52,    53,    54,   55,   56,   57,    58,    59,    60,    61,    BAD,   BAD, /* 0 … */
    BAD,   PAD,   BAD,  BAD,                                                       /* = */
    BAD,   0,     1,    2,    3,    4,     5,     6,     7,     8,     9,     10,    11,   12,
    13,    14,    15,   16,   17,   18,    19,    20,    21,    22,    23,    24,    25,   BAD4,
    BAD,   BAD,   26,   27,   28,   29,    30,    31,    32,    33,    34, /* A … Z, a … */
    35,    36,    37,   38,   39,   40,    41,    42,    43,    44,    45,    46,    47,   48,
    49,    50,    51,   BAD,  BAD4, BAD16, BAD16, BAD16, BAD16, BAD16, BAD16, BAD16, BAD16};

/* The last four digits, of which one or two may be pads. */
static enum base64_fault get_last(const uint8_t *p, uint8_t **to)
{
    uint8_t a = values[p[0]], b = values[p[1]], c = values[p[2]], d = values[p[3]];
    if ((a | b | c | d) & BAD) return BASE64_CHARACTER;
    if ((a | b) & PAD || (c == PAD && d != PAD)) return BASE64_LAST;
    *(*to)++ = (uint8_t)(a << 2 | b >> 4);
    if (c == PAD) return b & 15 ? BASE64_LAST : BASE64_OK;
    *(*to)++ = (uint8_t)(b << 4 | c >> 2);
    if (d == PAD) return c & 3 ? BASE64_LAST : BASE64_OK;
    *(*to)++ = (uint8_t)(c << 6 | d);
    return BASE64_OK;
}

enum base64_fault base64_get(span text, uint8_t *out, size_t *n_out)
{
    const uint8_t *p = text.p;
    uint8_t *to = out;
    *n_out = 0;
    if (text.n % 4) return BASE64_LENGTH;
    if (text.n == 0) return BASE64_OK;
    uint8_t any = 0;
    for (const uint8_t *last = p + text.n - 4; p < last; p += 4, to += 3) {
        uint8_t a = values[p[0]], b = values[p[1]], c = values[p[2]], d = values[p[3]];
        any |= (uint8_t)(a | b | c | d);
        to[0] = (uint8_t)(a << 2 | b >> 4);
        to[1] = (uint8_t)(b << 4 | c >> 2);
        to[2] = (uint8_t)(c << 6 | d);
    }
    enum base64_fault fault = get_last(p, &to);
    if (any & BAD) return BASE64_CHARACTER;
    if (any & PAD && fault != BASE64_CHARACTER) return BASE64_LAST;
    if (fault == BASE64_OK) *n_out = (size_t)(to - out);
    return fault;
}
