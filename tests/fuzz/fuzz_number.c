/* Any bytes as a number: the first byte picks text (even) or encoded bytes (odd). What is accepted
 * must come back unchanged by every way there is; what is refused must be refused by all. */
#include "value/num.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

static bool same(const struct num *a, const struct num *b)
{
    return a->coef == b->coef && a->exp == b->exp;
}

/* a came from somewhere: bytes and text must lead back to it. */
static void check_number(const struct num *a)
{
    uint8_t enc[NUM_ENC_MAX];
    char text[NUM_TEXT_MAX], direct[NUM_TEXT_MAX];
    struct num back;
    span bytes = SPAN(enc, num_encode(a, enc));
    must(bytes.n >= 1 && bytes.n <= NUM_ENC_MAX && num_check(bytes));
    must(num_decode(bytes, &back) && same(a, &back));
    span shown = SPAN(text, num_format(a, text));
    must(shown.n >= 1 && shown.n <= NUM_TEXT_MAX);
    must(span_eq(shown, SPAN(direct, num_format_encoded(bytes, direct))));
    must(num_parse(shown, &back, NULL) == SHEAF_OK && same(a, &back));
    must(num_cmp(a, &back) == 0);

    struct num zero, twice;
    must(num_sub(a, &back, &zero, NULL) == SHEAF_OK && zero.coef == 0 && zero.exp == 0);
    if (num_add(a, a, &twice, NULL) == SHEAF_OK) {
        must(num_sub(&twice, a, &back, NULL) == SHEAF_OK && same(a, &back));
    }
    int64_t i;
    if (num_to_i64(a, &i)) {
        num_from_i64(i, &back);
        must(same(a, &back));
    }
    bool is_exact;
    double d = num_to_double(a, &is_exact);
    must(a->coef == 0 ? d == 0 : (a->coef < 0) == (d < 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    struct num a;
    span rest = SPAN(data + 1, size - 1);
    if (data[0] & 1) {
        bool is_good = num_check(rest);
        must(num_decode(rest, &a) == is_good);
        if (!is_good) return 0;
        uint8_t enc[NUM_ENC_MAX];
        must(span_eq(rest, SPAN(enc, num_encode(&a, enc)))); /* one number, one encoding */
    } else {
        sheaf_error err;
        sheaf_rc rc = num_parse(rest, &a, &err);
        must(rc == SHEAF_OK || (rc == SHEAF_VALIDATION && err.message[0] != '\0'));
        if (rc != SHEAF_OK) return 0;
    }
    check_number(&a);
    return 0;
}
