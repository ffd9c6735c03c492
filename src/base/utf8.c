/* Turns bytes into a verdict (well-formed UTF-8?) or a count of UTF-16 units. Know before editing:
 * ASCII runs go eight bytes at a time with plain 64-bit words, so there is one code path on every
 * architecture. */
#include "base/utf8.h"

#include <assert.h>

static uint64_t load8(const uint8_t *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

static bool is_ascii8(const uint8_t *p) { return (load8(p) & 0x8080808080808080u) == 0; }

/* Most text is ASCII and short: one look at each word, the last one overlapping. */
static bool is_ascii(const uint8_t *p, size_t n)
{
    if (n < 8) {
        uint8_t any = 0;
        for (size_t i = 0; i < n; i++) any |= p[i];
        return any < 0x80;
    }
    uint64_t any = load8(p + n - 8);
    for (size_t i = 0; i + 8 < n; i += 8) any |= load8(p + i);
    return (any & 0x8080808080808080u) == 0;
}

static bool is_tail(uint8_t c) { return (c & 0xC0) == 0x80; }

/* Length of the sequence at p with `left` bytes to come, 0 when malformed. */
static size_t sequence(const uint8_t *p, size_t left)
{
    uint8_t c = p[0];
    if (c < 0x80) return 1;
    if (c >= 0xC2 && c <= 0xDF) return left >= 2 && is_tail(p[1]) ? 2 : 0;
    if ((c & 0xF0) == 0xE0) {
        if (left < 3 || !is_tail(p[1]) || !is_tail(p[2])) return 0;
        if (c == 0xE0 && p[1] < 0xA0) return 0; /* overlong */
        if (c == 0xED && p[1] > 0x9F) return 0; /* surrogate */
        return 3;
    }
    if (c >= 0xF0 && c <= 0xF4) {
        if (left < 4 || !is_tail(p[1]) || !is_tail(p[2]) || !is_tail(p[3])) return 0;
        if (c == 0xF0 && p[1] < 0x90) return 0; /* overlong */
        if (c == 0xF4 && p[1] > 0x8F) return 0; /* above U+10FFFF */
        return 4;
    }
    return 0;
}

bool utf8_check(span s)
{
    const uint8_t *p = s.p;
    if (is_ascii(p, s.n)) return true;
    size_t i = 0;
    while (i < s.n) {
        if (s.n - i >= 8 && is_ascii8(p + i)) {
            i += 8;
            continue;
        }
        size_t n = sequence(p + i, s.n - i);
        if (n == 0) return false;
        i += n;
    }
    return true;
}

/* Of eight bytes at once: 10xxxxxx begins nothing, 1111xxxx begins two units. */
static size_t units8(const uint8_t *p)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t w = load8(p);
    uint64_t tails = w >> 7 & ~w >> 6 & ones;
    uint64_t pairs = w >> 7 & w >> 6 & w >> 5 & w >> 4 & ones;
    return 8 - (size_t)((tails * ones) >> 56) + (size_t)((pairs * ones) >> 56);
}

size_t utf8_utf16_units(span s)
{
    const uint8_t *p = s.p;
    size_t units = 0, i = 0;
    for (; s.n - i >= 8; i += 8) units += units8(p + i);
    for (; i < s.n; i++) units += !is_tail(p[i]) + (size_t)(p[i] >= 0xF0);
    assert(units <= s.n);
    return units;
}
