/* Arithmetic on struct num: add, subtract, compare, and conversions to and from machine numbers.
 *
 * Know before editing: 10^38 fits a signed __int128 (1.7 * 10^38) but the sum of two coefficients
 * does not, so sums are made of unsigned magnitudes (3.4 * 10^38). Everything rests on both
 * operands being normalised: the last digit of a coefficient is never 0, so when exponents differ
 * the exact sum ends exactly where the operand with the smaller exponent ends, and whether it fits
 * is a comparison instead of a search.
 */
#include "value/num_digits.h"

#include <stdio.h>
#include <stdlib.h>

const uint64_t num_pow10[NUM_HALF + 1] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    NUM_E19,
};

sheaf_rc num_overflow(sheaf_error *err)
{
    return err_validation(err,
                          "Number overflow. Attempting to store a number with magnitude larger "
                          "than supported range");
}

sheaf_rc num_underflow(sheaf_error *err)
{
    return err_validation(err, "Number underflow. Attempting to store a number with magnitude "
                               "smaller than supported range");
}

/* ---- addition ---- */

/* 2^64 mod 10 is 6. */
static bool ends_in_zero(num_u128 u)
{
    if (u & 1) return false;
    return ((uint64_t)(u >> 64) % 10 * 6 + (uint64_t)u % 10) % 10 == 0;
}

/* Takes trailing zeros off a sum of two coefficients, u < 2 * 10^38, u != 0. */
static num_u128 strip(num_u128 u, int32_t *exp)
{
    while (u >> 64 != 0) {
        if (!ends_in_zero(u)) return u;
        u /= 10;
        ++*exp;
    }
    uint64_t low = (uint64_t)u;
    *exp += num_strip64(&low);
    return low;
}

/* A magnitude without trailing zeros becomes a number, when it fits. */
static sheaf_rc settle(num_u128 u, int32_t exp, bool is_negative, struct num *out, sheaf_error *err)
{
    assert(u != 0);
    if (u >= num_pow10_wide(NUM_DIGITS)) return num_overflow(err);
    if (exp < NUM_MAG_MIN || exp > NUM_MAG_MAX - NUM_DIGITS + 1) {
        int32_t magnitude = exp + num_count(u) - 1;
        if (magnitude > NUM_MAG_MAX) return num_overflow(err);
        if (magnitude < NUM_MAG_MIN) return num_underflow(err);
    }
    out->coef = is_negative ? -(num_int128)u : (num_int128)u;
    out->exp = exp;
    assert(num_is_normal(out));
    return SHEAF_OK;
}

/* u * 10^shift. false when the product is so large that no other coefficient brings the sum back
 * below 10^38. */
static bool scale(num_u128 u, int32_t shift, num_u128 *out)
{
    if (shift > NUM_DIGITS) return false;
    if (__builtin_mul_overflow(u, num_pow10_wide(shift), out)) return false;
    return *out < 2 * num_pow10_wide(NUM_DIGITS);
}

/* a + b, b with its sign as given. */
static sheaf_rc sum(const struct num *a, const struct num *b, bool is_b_negative, struct num *out,
                    sheaf_error *err)
{
    num_u128 ua = num_magnitude(a), ub = num_magnitude(b);
    bool is_a_negative = a->coef < 0;
    int32_t exp = a->exp;
    if (a->exp > b->exp) {
        exp = b->exp;
        if (!scale(ua, a->exp - b->exp, &ua)) return num_overflow(err);
    } else if (a->exp < b->exp) {
        if (!scale(ub, b->exp - a->exp, &ub)) return num_overflow(err);
    }
    num_u128 u;
    bool is_negative = is_a_negative;
    if (is_a_negative == is_b_negative) {
        u = ua + ub; /* both below 2 * 10^38, and one of them below 10^38 */
    } else if (ua >= ub) {
        u = ua - ub;
    } else {
        u = ub - ua;
        is_negative = is_b_negative;
    }
    if (u == 0) {
        *out = (struct num){0, 0};
        return SHEAF_OK;
    }
    if (a->exp == b->exp) u = strip(u, &exp);
    return settle(u, exp, is_negative, out, err);
}

/* The usual case: 64-bit coefficients, exponents near each other. Nothing can overflow 127 bits. */
static bool is_small_pair(const struct num *a, const struct num *b)
{
    int32_t shift = a->exp - b->exp;
    return a->coef == (int64_t)a->coef && b->coef == (int64_t)b->coef && shift >= -18 &&
           shift <= 18;
}

static sheaf_rc sum_small(const struct num *a, const struct num *b, bool is_minus, struct num *out,
                          sheaf_error *err)
{
    num_int128 ca = a->coef, cb = is_minus ? -b->coef : b->coef;
    int32_t shift = a->exp - b->exp, exp = shift > 0 ? b->exp : a->exp;
    if (shift > 0)
        ca *= num_pow10[shift];
    else if (shift < 0)
        cb *= num_pow10[-shift];
    num_int128 c = ca + cb;
    if (c == 0) {
        *out = (struct num){0, 0};
        return SHEAF_OK;
    }
    num_u128 u = c < 0 ? -(num_u128)c : (num_u128)c;
    if (shift == 0) u = strip(u, &exp);
    return settle(u, exp, c < 0, out, err);
}

/* *out is left alone on error, and may be one of the operands. */
static sheaf_rc add(const struct num *a, const struct num *b, bool is_minus, struct num *out,
                    sheaf_error *err)
{
    assert(num_is_normal(a) && num_is_normal(b));
    if (b->coef == 0) {
        *out = *a;
        return SHEAF_OK;
    }
    if (a->coef == 0) {
        *out = (struct num){is_minus ? -b->coef : b->coef, b->exp};
        return SHEAF_OK;
    }
    if (is_small_pair(a, b)) return sum_small(a, b, is_minus, out, err);
    return sum(a, b, (b->coef < 0) != is_minus, out, err);
}

sheaf_rc num_add(const struct num *a, const struct num *b, struct num *out, sheaf_error *err)
{
    return add(a, b, false, out, err);
}

sheaf_rc num_sub(const struct num *a, const struct num *b, struct num *out, sheaf_error *err)
{
    return add(a, b, true, out, err);
}

/* ---- comparison ---- */

static int cmp_u128(num_u128 a, num_u128 b) { return (a > b) - (a < b); }

/* Magnitudes of two numbers other than zero, exp_a >= exp_b. A product of 10^38 or more is above
 * any coefficient. */
static int cmp_scaled(num_u128 a, num_u128 b, int32_t shift)
{
    num_u128 scaled;
    if (!scale(a, shift, &scaled)) return 1;
    return cmp_u128(scaled, b);
}

int num_cmp(const struct num *a, const struct num *b)
{
    assert(num_is_normal(a) && num_is_normal(b));
    int sign_a = (a->coef > 0) - (a->coef < 0), sign_b = (b->coef > 0) - (b->coef < 0);
    if (sign_a != sign_b) return sign_a < sign_b ? -1 : 1;
    if (sign_a == 0) return 0;
    num_u128 ua = num_magnitude(a), ub = num_magnitude(b);
    int c = a->exp >= b->exp ? cmp_scaled(ua, ub, a->exp - b->exp)
                             : -cmp_scaled(ub, ua, b->exp - a->exp);
    return sign_a * c;
}

/* ---- machine numbers ---- */

void num_from_i64(int64_t i, struct num *out)
{
    if (i == 0) {
        *out = (struct num){0, 0};
        return;
    }
    uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i;
    int32_t exp = num_strip64(&u);
    *out = (struct num){i < 0 ? -(num_int128)u : (num_int128)u, exp};
    assert(num_is_normal(out));
}

bool num_to_i64(const struct num *a, int64_t *out)
{
    assert(num_is_normal(a));
    if (a->exp < 0 || a->exp > 18) return false;
    num_u128 u = num_magnitude(a);
    if (u >> 64 != 0) return false;
    u *= num_pow10[a->exp];
    if (u > (num_u128)INT64_MAX + (a->coef < 0)) return false;
    *out = a->coef < 0 ? (int64_t)(0 - (uint64_t)u) : (int64_t)u;
    return true;
}

/* A double is an odd number below 2^53 times a power of two, and every power that a Number can ask
 * for exists. So coef * 10^exp is one when coef * 5^exp, freed of its factors of two, is a whole
 * number below 2^53. */
static bool is_double(num_u128 u, int32_t exp)
{
    const uint64_t limit = UINT64_C(1) << 53;
    if (u == 0) return true;
    if (exp < -54) return false; /* 5^55 > 10^38 */
    for (; exp < 0; exp++) {
        if (u % 5 != 0) return false;
        u /= 5;
    }
    while ((u & 1) == 0) u >>= 1;
    for (; exp > 0 && u < limit; exp--) u *= 5;
    return u < limit;
}

/* The library's strtod rounds correctly; without a decimal point the locale has no say. */
static double through_text(const struct num *a)
{
    char text[64];
    uint64_t hi, lo;
    num_split(num_magnitude(a), &hi, &lo);
    const char *sign = a->coef < 0 ? "-" : "";
    int n = snprintf(text, sizeof text, "%s%llu%019llue%d", sign, (unsigned long long)hi,
                     (unsigned long long)lo, (int)a->exp);
    assert(n > 0 && (size_t)n < sizeof text);
    (void)n;
    return strtod(text, NULL);
}

double num_to_double(const struct num *a, bool *is_exact_out)
{
    assert(num_is_normal(a));
    num_u128 u = num_magnitude(a);
    if (is_exact_out) *is_exact_out = is_double(u, a->exp);
    if (u >= (num_u128)1 << 53 || a->exp < -18 || a->exp > 18) return through_text(a);
    /* Both operands are exact, so one operation rounds once. */
    double coef = (double)(int64_t)a->coef;
    return a->exp < 0 ? coef / (double)num_pow10[-a->exp] : coef * (double)num_pow10[a->exp];
}
