/* The ordered bytes of value/num.h: from struct num, back, and straight to text.
 *
 * Because a normalised coefficient does not end in 0, its last digit decides the last pair: an odd
 * exponent makes it "x0", an even one takes two digits. Taking that pair off first leaves at most
 * 37 digits, which are two 64-bit words cut at a whole number of pairs, and no byte has to be
 * removed again.
 */
#include "value/num_digits.h"

enum {
    POSITIVE = 193, /* first byte is POSITIVE + e … */
    NEGATIVE = 62,  /* … or NEGATIVE - e */
    FIRST_POSITIVE = 0x80,
    END_NEGATIVE = 102,
    E_MIN = -65, /* power of 100 of the first pair */
    E_MAX = 62,
    PAIRS_MAX = 20,
    PAIRS_WORD = 9 /* of the low word: 10^18 */
};

/* ---- encode ---- */

/* Pairs of u before `end`, at least `width` of them; returns where they begin. */
static uint8_t *put_pairs(uint8_t *end, uint64_t u, int width)
{
    uint8_t *least = end - width;
    for (; u != 0; u /= 100) *--end = (uint8_t)(u % 100);
    while (end > least) *--end = 0;
    return end;
}

/* The base-100 digits of a before `end`; returns where they begin. */
static uint8_t *pairs_of(const struct num *a, uint8_t *end)
{
    uint64_t hi, lo;
    num_split(num_magnitude(a), &hi, &lo);
    if (a->exp & 1) { /* rest = hi * 10^18 + lo / 10 */
        *--end = (uint8_t)(lo % 10 * 10);
        lo /= 10;
    } else { /* rest = hi / 10 * 10^18 + hi % 10 * 10^17 + lo / 100 */
        *--end = (uint8_t)(lo % 100);
        lo = lo / 100 + hi % 10 * num_pow10[17];
        hi /= 10;
    }
    if (hi == 0) return put_pairs(end, lo, 0);
    return put_pairs(put_pairs(end, lo, PAIRS_WORD), hi, 0);
}

size_t num_encode(const struct num *a, uint8_t out[NUM_ENC_MAX])
{
    assert(num_is_normal(a));
    if (a->coef == 0) {
        out[0] = FIRST_POSITIVE;
        return 1;
    }
    uint8_t room[PAIRS_MAX + 1], *end = room + sizeof room;
    const uint8_t *pairs = pairs_of(a, end);
    size_t n = (size_t)(end - pairs);
    int last = (a->exp & 1 ? a->exp - 1 : a->exp) / 2; /* power of 100 of the last pair */
    int e = last + (int)n - 1;
    assert(n >= 1 && n <= PAIRS_MAX && e >= E_MIN && e <= E_MAX);
    assert(pairs[0] != 0 && pairs[n - 1] != 0);
    if (a->coef > 0) {
        out[0] = (uint8_t)(POSITIVE + e);
        for (size_t i = 0; i < n; i++) out[1 + i] = (uint8_t)(pairs[i] + 1);
        return n + 1;
    }
    out[0] = (uint8_t)(NEGATIVE - e);
    for (size_t i = 0; i < n; i++) out[1 + i] = (uint8_t)(101 - pairs[i]);
    out[n + 1] = END_NEGATIVE;
    return n + 2;
}

/* ---- decode ---- */

/* Where the pairs stand in an encoding other than zero's. */
struct layout {
    const uint8_t *b;
    int n, e;
    bool is_negative;
};

static inline unsigned pair_at(const struct layout *l, int i)
{
    assert(i >= 0 && i < l->n);
    return l->is_negative ? 101u - l->b[i] : l->b[i] - 1u;
}

static struct layout layout_of(span enc)
{
    const uint8_t *b = enc.p;
    bool is_negative = b[0] < FIRST_POSITIVE;
    return (struct layout){b + 1, (int)enc.n - 1 - is_negative,
                           is_negative ? NEGATIVE - b[0] : b[0] - POSITIVE, is_negative};
}

bool num_check(span enc)
{
    const uint8_t *b = enc.p;
    if (enc.n == 1) return b[0] == FIRST_POSITIVE;
    if (enc.n == 0 || enc.n > NUM_ENC_MAX) return false;
    struct layout l = layout_of(enc);
    if (l.n < 1 || l.n > PAIRS_MAX) return false;
    if (l.is_negative && b[enc.n - 1] != END_NEGATIVE) return false;
    for (int i = 0; i < l.n; i++) {
        if (pair_at(&l, i) > 99) return false; /* unsigned: also below 0 */
    }
    unsigned first = pair_at(&l, 0), last = pair_at(&l, l.n - 1);
    if (first == 0 || last == 0) return false;
    return 2 * l.n - (first < 10) - (last % 10 == 0) <= NUM_DIGITS;
}

static uint64_t word_of(const struct layout *l, int from, int to)
{
    uint64_t u = 0;
    for (int i = from; i < to; i++) u = u * 100 + pair_at(l, i);
    return u;
}

bool num_decode(span enc, struct num *out)
{
    *out = (struct num){0, 0};
    if (!num_check(enc)) return false;
    if (enc.n == 1) return true;
    struct layout l = layout_of(enc);
    /* All pairs but the last: two words, the low one of 9 pairs; the high one has at most 19
     * digits, because 20 pairs begin with a single digit. */
    int cut = l.n - 1 > PAIRS_WORD ? l.n - 1 - PAIRS_WORD : 0;
    num_u128 u = (num_u128)word_of(&l, 0, cut) * num_pow10[18] + word_of(&l, cut, l.n - 1);
    unsigned last = pair_at(&l, l.n - 1);
    bool is_half = last % 10 == 0; /* its second digit is no significant one */
    u = is_half ? u * 10 + last / 10 : u * 100 + last;
    out->coef = l.is_negative ? -(num_int128)u : (num_int128)u;
    out->exp = 2 * (l.e - l.n + 1) + is_half;
    assert(num_is_normal(out));
    return true;
}

/* ---- text ---- */

static char *put_pair(char *to, unsigned pair)
{
    to[0] = (char)('0' + pair / 10);
    to[1] = (char)('0' + pair % 10);
    return to + 2;
}

/* Digits before the point: pairs of power e … 0, those behind the last pair are zeros. Returns in
 * *next the first pair behind the point. */
static char *put_whole(char *to, const struct layout *l, int *next)
{
    *next = 0;
    if (l->e < 0) {
        *to++ = '0';
        return to;
    }
    unsigned first = pair_at(l, 0);
    if (first < 10)
        *to++ = (char)('0' + first);
    else
        to = put_pair(to, first);
    for (int i = 1; i <= l->e; i++) to = put_pair(to, i < l->n ? pair_at(l, i) : 0);
    *next = l->e + 1;
    return to;
}

size_t num_format_encoded(span enc, char out[NUM_TEXT_MAX])
{
    assert(num_check(enc));
    if (enc.n == 1) {
        out[0] = '0';
        return 1;
    }
    struct layout l = layout_of(enc);
    char *to = out;
    int i;
    if (l.is_negative) *to++ = '-';
    to = put_whole(to, &l, &i);
    if (i < l.n) {
        *to++ = '.';
        for (int e = -1; e > l.e; e--) to = put_pair(to, 0);
        for (; i < l.n; i++) to = put_pair(to, pair_at(&l, i));
        if (to[-1] == '0') to--;
    }
    assert((size_t)(to - out) <= NUM_TEXT_MAX);
    return (size_t)(to - out);
}
