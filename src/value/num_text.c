/* Text to struct num and back.
 *
 * The parser reads the significant digits into two 64-bit halves, the first 19 and the next 19;
 * what follows may only be zeros. It never trusts a length: thousands of zeros on either side and
 * exponents of any length are counted in 64 bits (the exponent saturates far beyond any text that
 * could bring it back).
 */
#include "value/num_digits.h"

/* Digits read so far. The value is (hi then lo) * 10^exp. */
struct digits {
    uint64_t hi, lo;
    int32_t n;    /* significant digits kept, at most 38, leading zeros not counted */
    int64_t exp;  /* of the last digit kept */
    bool is_lost; /* a digit other than zero came after the 38th */
    bool is_any;  /* there was a digit at all */
};

static inline bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

/* Reads digits into *word until it has `room` of them or the run ends. */
static inline const uint8_t *take_word(const uint8_t *p, const uint8_t *end, int32_t room,
                                       uint64_t *word)
{
    if (end - p > room) end = p + room;
    uint64_t u = *word;
    for (; p < end && is_digit(*p); p++) u = u * 10 + (uint64_t)(*p - '0');
    *word = u;
    return p;
}

/* One run of digits, before or behind the point. */
static const uint8_t *take_digits(const uint8_t *p, const uint8_t *end, bool is_fraction,
                                  struct digits *d)
{
    const uint8_t *start = p;
    if (d->n == 0) {
        while (p < end && *p == '0') p++;
    }
    const uint8_t *first = p;
    if (d->n < NUM_HALF) p = take_word(p, end, NUM_HALF - d->n, &d->hi);
    d->n += (int32_t)(p - first);
    if (d->n >= NUM_HALF) {
        first = p;
        p = take_word(p, end, NUM_DIGITS - d->n, &d->lo);
        d->n += (int32_t)(p - first);
    }
    const uint8_t *kept = p;
    for (; p < end && is_digit(*p); p++) d->is_lost |= *p != '0';
    d->exp += is_fraction ? start - kept : p - kept;
    d->is_any |= p > start;
    return p;
}

/* [+-] digits; NULL when there is no digit. */
static const uint8_t *take_exponent(const uint8_t *p, const uint8_t *end, int64_t *out)
{
    const int64_t plenty = INT64_C(100000000000000000);
    bool is_negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end || !is_digit(*p)) return NULL;
    int64_t e = 0;
    for (; p < end && is_digit(*p); p++) {
        if (e < plenty) e = e * 10 + (*p - '0');
    }
    *out = is_negative ? -e : e;
    return p;
}

/* The whole text, or false. */
static bool scan(span text, struct digits *d, bool *is_negative_out)
{
    const uint8_t *p = text.p, *end = p + text.n;
    *is_negative_out = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    p = take_digits(p, end, false, d);
    if (p < end && *p == '.') p = take_digits(p + 1, end, true, d);
    if (!d->is_any) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        int64_t e = 0;
        p = take_exponent(p + 1, end, &e);
        d->exp += e;
    }
    return p == end;
}

/* hi and lo without trailing zeros as one coefficient. */
static num_u128 join(struct digits *d)
{
    int32_t n_lo = d->n > NUM_HALF ? d->n - NUM_HALF : 0;
    if (d->lo == 0) {
        d->exp += n_lo + num_strip64(&d->hi);
        return d->hi;
    }
    int32_t zeros = num_strip64(&d->lo);
    d->exp += zeros;
    return (num_u128)d->hi * num_pow10[n_lo - zeros] + d->lo;
}

static sheaf_rc not_numeric(span text, sheaf_error *err)
{
    if (text.n == 0) {
        return err_validation(err, "The parameter cannot be converted to a numeric value");
    }
    return err_validation(err, "The parameter cannot be converted to a numeric value: %.*s",
                          SPAN_ARG(text));
}

sheaf_rc num_parse(span text, struct num *out, sheaf_error *err)
{
    struct digits d = {0};
    bool is_negative;
    *out = (struct num){0, 0};
    if (text.n == 0 || !scan(text, &d, &is_negative)) return not_numeric(text, err);
    if (d.n == 0) return SHEAF_OK;
    int64_t magnitude = d.exp + d.n - 1;
    if (magnitude > NUM_MAG_MAX) return num_overflow(err);
    if (magnitude < NUM_MAG_MIN) return num_underflow(err);
    if (d.is_lost) {
        return err_validation(err,
                              "Attempting to store more than 38 significant digits in a Number");
    }
    num_int128 u = (num_int128)join(&d);
    out->coef = is_negative ? -u : u;
    out->exp = (int32_t)d.exp;
    assert(num_is_normal(out));
    return SHEAF_OK;
}

/* ---- format ---- */

/* Digits of u before `end`, at least `width` of them; returns where they begin. */
static char *put_back(char *end, uint64_t u, int32_t width)
{
    char *least = end - width;
    for (; u >= 10; u /= 100) {
        unsigned pair = (unsigned)(u % 100);
        *--end = (char)('0' + pair % 10);
        *--end = (char)('0' + pair / 10);
    }
    if (u != 0) *--end = (char)('0' + u);
    while (end > least) *--end = '0';
    return end;
}

static char *put(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static char *put_zeros(char *to, int32_t n)
{
    assert(n >= 0);
    memset(to, '0', (size_t)n);
    return to + n;
}

size_t num_format(const struct num *a, char out[NUM_TEXT_MAX])
{
    assert(num_is_normal(a));
    if (a->coef == 0) {
        out[0] = '0';
        return 1;
    }
    char room[2 * NUM_HALF + 2], *end = room + sizeof room;
    uint64_t hi, lo;
    num_split(num_magnitude(a), &hi, &lo);
    char *digits = put_back(end, lo, hi != 0 ? NUM_HALF : 0);
    if (hi != 0) digits = put_back(digits, hi, 0);
    int32_t n = (int32_t)(end - digits), whole = n + a->exp; /* digits before the point */

    char *to = out;
    if (a->coef < 0) *to++ = '-';
    if (a->exp >= 0) {
        to = put(to, digits, (size_t)n);
        to = put_zeros(to, a->exp);
    } else if (whole > 0) {
        to = put(to, digits, (size_t)whole);
        *to++ = '.';
        to = put(to, digits + whole, (size_t)(n - whole));
    } else {
        to = put(to, "0.", 2);
        to = put_zeros(to, -whole);
        to = put(to, digits, (size_t)n);
    }
    assert((size_t)(to - out) <= NUM_TEXT_MAX);
    return (size_t)(to - out);
}
