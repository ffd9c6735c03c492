/* value/num.h: DynamoDB's Number: 38 significant digits, 1E-130 … 9.99…E+125 either sign, and zero.
 *
 * Layer rule: value includes base only.
 *
 * THE BYTES
 *  A number is stored so that unsigned byte order is numeric order and equal numbers are equal
 *  bytes: comparing, hashing, sets and sort keys need no decoding. Digits go in base-100 pairs
 *  aligned at the decimal point, without leading or trailing zero pairs; e is the power of 100 of
 *  the first pair, -65 … 62.
 *
 *      zero       80
 *      positive   (193 + e)  d+1 …             first byte 80 … FF
 *      negative   (62 - e)   101-d …  66       first byte 00 … 7F; the final 66 (102) makes the
 *                                              shorter of two the larger
 *
 *      1        C1 02              100      C2 02              1.5      C1 02 33
 *      -42      3E 3B 66           1E-130   80 02
 *
 *  1 to 22 bytes, and the length is AWS's size of the number to the byte. The bytes of 1 begin
 *  those of 1.5: where a number must end by itself, sort keys add a terminator (key/key.h).
 */
#ifndef VALUE_NUM_H
#define VALUE_NUM_H

#include "base/err.h"

__extension__ typedef __int128 num_int128;

/* value = coef * 10^exp. Normalised: |coef| < 10^38, no trailing zero digit, zero is {0, 0}. */
struct num {
    num_int128 coef;
    int32_t exp;
};

enum {
    NUM_ENC_MAX = 22,  /* bytes of an encoded number */
    NUM_TEXT_MAX = 180 /* bytes of formatted text; the longest: sign, "0." and 167 digits */
};

/* Text to number: [+-] (digits [. [digits]] | . digits) [eE [+-] digits], nothing around it, ASCII
 * digits only. Leading and trailing zeros are no significant digits, and a zero may have any
 * exponent. Errors carry AWS's messages, the magnitude before the digits:
 *   The parameter cannot be converted to a numeric value: abc     (without ": abc" for empty text)
 *   Number overflow. Attempting to store a number with magnitude larger than supported range
 *   Number underflow. Attempting to store a number with magnitude smaller than supported range
 *   Attempting to store more than 38 significant digits in a Number
 * AWS has two wordings for empty text: the one here (BatchWriteItem, transactions, Scan) and, since
 * 2026, one that keeps ": " (PutItem, UpdateItem, DeleteItem, GetItem, BatchGetItem, Query); who
 * knows the operation tells them apart by text.n == 0. The older of these layers also wraps
 * exponents at 2^31 (1e2147483647 is an underflow there); here every exponent counts in full. */
SHEAF_NODISCARD sheaf_rc num_parse(span text, struct num *out, sheaf_error *err);
/* Canonical decimal text, never an exponent, no NUL; returns its length. "1E+2" prints as "100",
 * "0.10" as "0.1", "-0" as "0". */
size_t num_format(const struct num *a, char out[NUM_TEXT_MAX]);

/* Exact, never rounded. A sum that needs more than 38 digits is refused, and AWS's message for it
 * is "Number overflow. …" whatever its magnitude: 1E50 + 1 and 1E50 - 1 answer so on the service
 * (seen by Alternator's test_number.py, which runs there), not "more than 38 significant digits".
 * Other errors are num_parse's. `out` is left alone on error and may be a or b. Ready for
 * UpdateExpression's + and - and for ADD. */
SHEAF_NODISCARD sheaf_rc num_add(const struct num *a, const struct num *b, struct num *out,
                                 sheaf_error *err);
SHEAF_NODISCARD sheaf_rc num_sub(const struct num *a, const struct num *b, struct num *out,
                                 sheaf_error *err);
/* <0, 0, >0. */
int num_cmp(const struct num *a, const struct num *b);

void num_from_i64(int64_t i, struct num *out);
/* false when a is not an integer or does not fit. */
bool num_to_i64(const struct num *a, int64_t *out);
/* The nearest double; *is_exact_out (may be NULL) tells whether it is the same number. */
double num_to_double(const struct num *a, bool *is_exact_out);

/* To the bytes drawn above; returns their length, 1 … NUM_ENC_MAX. */
size_t num_encode(const struct num *a, uint8_t out[NUM_ENC_MAX]);
/* false when the bytes are not the encoding of a number in range: any input is safe. */
bool num_decode(span enc, struct num *out);
/* Well-formed and canonical, without building the number. */
bool num_check(span enc);
/* Straight from bytes to text, for output; enc must have passed num_check. Returns the length. */
size_t num_format_encoded(span enc, char out[NUM_TEXT_MAX]);

#endif
