/* json/scan.h: how far a text goes before a byte that JSON treats in its own way. Only files of
 * json (and their tests) include it.
 *
 * Three twins with one promise: SSE2, NEON, and the scalar one that is compiled everywhere and that
 * the others are tested against. None reads at or beyond `end`. */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* The first byte from p on that is a quote, a backslash or below 0x20, or `end`. Sets *high when a
 * byte before it is 0x80 or more, and else leaves it alone. */
static inline const uint8_t *scan_plain_scalar(const uint8_t *p, const uint8_t *end, bool *high)
{
    uint8_t any = 0;
    for (; p < end && *p >= 0x20 && *p != '"' && *p != '\\'; p++) any |= *p;
    if (any >= 0x80) *high = true;
    return p;
}

/* The same, but a byte of 0x80 or more is a stop, too: for the first look at a text, which most
 * often is ASCII, one comparison finds those and the controls. */
static inline const uint8_t *scan_ascii_scalar(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\') p++;
    return p;
}

#if defined(__SSE2__)
static inline const uint8_t *scan_ascii(const uint8_t *p, const uint8_t *end)
{
    const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(0x20);
    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, back));
        stop = _mm_or_si128(stop, _mm_cmplt_epi8(x, space)); /* signed: 0x80 and more are below */
        unsigned at = (unsigned)_mm_movemask_epi8(stop);
        if (at) return p + __builtin_ctz(at);
    }
    return scan_ascii_scalar(p, end);
}

static inline const uint8_t *scan_plain(const uint8_t *p, const uint8_t *end, bool *high)
{
    const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\');
    const __m128i last = _mm_set1_epi8(0x1F);
    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, back));
        stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(x, last), x));
        unsigned at = (unsigned)_mm_movemask_epi8(stop), above = (unsigned)_mm_movemask_epi8(x);
        if (at) {
            if (above & (at - 1) & ~at) *high = true; /* bits below the lowest of `at` */
            return p + __builtin_ctz(at);
        }
        if (above) *high = true;
    }
    return scan_plain_scalar(p, end, high);
}
#elif defined(__aarch64__) && defined(__ARM_NEON)
/* Four bits of a word for each byte of a comparison's result. */
static inline uint64_t scan_mask(uint8x16_t x)
{
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(x), 4)), 0);
}

static inline const uint8_t *scan_ascii(const uint8_t *p, const uint8_t *end)
{
    const uint8x16_t quote = vdupq_n_u8('"'), back = vdupq_n_u8('\\');
    for (; end - p >= 16; p += 16) {
        uint8x16_t x = vld1q_u8(p);
        uint8x16_t stop = vorrq_u8(vceqq_u8(x, quote), vceqq_u8(x, back));
        stop = vorrq_u8(stop, vcltq_s8(vreinterpretq_s8_u8(x), vdupq_n_s8(0x20)));
        uint64_t at = scan_mask(stop);
        if (at) return p + (__builtin_ctzll(at) >> 2);
    }
    return scan_ascii_scalar(p, end);
}

static inline const uint8_t *scan_plain(const uint8_t *p, const uint8_t *end, bool *high)
{
    const uint8x16_t quote = vdupq_n_u8('"'), back = vdupq_n_u8('\\'), space = vdupq_n_u8(0x20);
    for (; end - p >= 16; p += 16) {
        uint8x16_t x = vld1q_u8(p);
        uint8x16_t stop = vorrq_u8(vceqq_u8(x, quote), vceqq_u8(x, back));
        stop = vorrq_u8(stop, vcltq_u8(x, space));
        uint64_t at = scan_mask(stop);
        if (at) {
            const uint8_t *to = p + (__builtin_ctzll(at) >> 2);
            scan_plain_scalar(p, to, high);
            return to;
        }
        if (vmaxvq_u8(x) >= 0x80) *high = true;
    }
    return scan_plain_scalar(p, end, high);
}
#else
static inline const uint8_t *scan_ascii(const uint8_t *p, const uint8_t *end)
{
    return scan_ascii_scalar(p, end);
}

static inline const uint8_t *scan_plain(const uint8_t *p, const uint8_t *end, bool *high)
{
    return scan_plain_scalar(p, end, high);
}
#endif

#endif
