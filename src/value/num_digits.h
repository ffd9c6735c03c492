/* value/num_digits.h: digits of a 38-digit coefficient, for the num*.c files only.
 *
 * A coefficient below 10^38 is handled as two 64-bit halves of 19 digits wherever digits are
 * needed: one 128-bit division splits it, and numbers that fit 64 bits, nearly all there are, need
 * none.
 */
#ifndef VALUE_NUM_DIGITS_H
#define VALUE_NUM_DIGITS_H

#include "base/limits.h"
#include "value/num.h"

#include <assert.h>

__extension__ typedef unsigned __int128 num_u128;

#define NUM_E19 UINT64_C(10000000000000000000)

enum {
    NUM_DIGITS = LIMIT_NUMBER_DIGITS,
    NUM_HALF = 19, /* digits of one half; 10^19 is the largest power of ten below 2^64 */
    NUM_MAG_MAX = LIMIT_NUMBER_EXPONENT_MAX,
    NUM_MAG_MIN = LIMIT_NUMBER_EXPONENT_MIN
};

/* 10^0 … 10^19. */
extern const uint64_t num_pow10[NUM_HALF + 1];

/* 10^n, n <= 38. */
static inline num_u128 num_pow10_wide(int32_t n)
{
    assert(n >= 0 && n <= NUM_DIGITS);
    if (n <= NUM_HALF) return num_pow10[n];
    return (num_u128)NUM_E19 * num_pow10[n - NUM_HALF];
}

static inline num_u128 num_magnitude(const struct num *a)
{
    return a->coef < 0 ? -(num_u128)a->coef : (num_u128)a->coef;
}

/* Decimal digits of u, 0 for 0. The shift estimates log10 from log2 (1233/4096 = 0.30103). */
static inline int32_t num_count64(uint64_t u)
{
    if (u == 0) return 0;
    int32_t bits = 64 - __builtin_clzll(u);
    int32_t guess = bits * 1233 >> 12;
    return guess + (u >= num_pow10[guess]);
}

/* Decimal digits of u < 10^38. */
static inline int32_t num_count(num_u128 u)
{
    if (u >> 64 == 0) return num_count64((uint64_t)u);
    int32_t bits = 128 - __builtin_clzll((uint64_t)(u >> 64));
    int32_t guess = bits * 1233 >> 12;
    return guess + (guess <= NUM_DIGITS && u >= num_pow10_wide(guess));
}

/* u = hi * 10^19 + lo, u < 10^38. */
static inline void num_split(num_u128 u, uint64_t *hi_out, uint64_t *lo_out)
{
    if (u < NUM_E19) {
        *hi_out = 0;
        *lo_out = (uint64_t)u;
        return;
    }
    num_u128 q = u / NUM_E19;
    assert(q < NUM_E19);
    *hi_out = (uint64_t)q;
    *lo_out = (uint64_t)(u - q * NUM_E19);
}

/* Takes trailing zero digits off *u != 0 and returns how many. */
static inline int32_t num_strip64(uint64_t *u)
{
    assert(*u != 0);
    int32_t n = 0;
    while (*u % 100 == 0) {
        *u /= 100;
        n += 2;
    }
    if (*u % 10 == 0) {
        *u /= 10;
        n++;
    }
    return n;
}

/* Whether `a` has the form that num.h promises. */
static inline bool num_is_normal(const struct num *a)
{
    if (a->coef == 0) return a->exp == 0;
    num_u128 u = num_magnitude(a);
    if (u >= num_pow10_wide(NUM_DIGITS) || u % 10 == 0) return false;
    int32_t magnitude = a->exp + num_count(u) - 1;
    return magnitude >= NUM_MAG_MIN && magnitude <= NUM_MAG_MAX;
}

/* The errors of a number that is not stored. */
sheaf_rc num_overflow(sheaf_error *err);
sheaf_rc num_underflow(sheaf_error *err);

#endif
