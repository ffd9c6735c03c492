/* value/num: text, arithmetic, bytes and conversions of numbers. The oracle test beside this one
 * (tests/oracle) compares a million cases with another implementation; here stand the edges. */
#include "support/support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "value/num.h"

#include <inttypes.h>
#include <math.h>

#define OVERFLOW                                                                                   \
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define UNDERFLOW                                                                                  \
    "Number underflow. Attempting to store a number with magnitude smaller than supported range"
#define DIGITS "Attempting to store more than 38 significant digits in a Number"
#define NUMERIC "The parameter cannot be converted to a numeric value"

/* Where a row was seen on the service. */
#define CONFORMANCE "dynamodb-conformance, value messages, run on AWS 2026-10"
#define PRECISION "dynamodb-conformance, numberPrecision, run on AWS"
#define SIZES "dynamodb-conformance, numberByteSize, run on AWS 2026-08"
#define ALTERNATOR "ScyllaDB test/alternator/test_number.py, run on AWS"
#define DYNALITE "dynalite test suite, run on AWS"
#define UNVERIFIED NULL

#define Z10 "0000000000"
#define Z50 Z10 Z10 Z10 Z10 Z10
#define D38 "12345678901234567890123456789012345678"
#define N38 "99999999999999999999999999999999999999"

static struct num parsed(const char *text)
{
    struct num a;
    sheaf_error err;
    if (num_parse(span_cstr(text), &a, &err) != SHEAF_OK) fail_msg("%s: %s", text, err.message);
    return a;
}

static const char *text_of(const struct num *a)
{
    static char text[NUM_TEXT_MAX + 1];
    text[num_format(a, text)] = '\0';
    return text;
}

static bool same(const struct num *a, const struct num *b)
{
    return a->coef == b->coef && a->exp == b->exp;
}

/* ---- text ---- */

struct text_row {
    const char *in, *out, *source;
};

static void print_unverified(const char *what, const struct text_row *rows, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += rows[i].source == UNVERIFIED;
    printf("%s: %zu rows, %zu unverified\n", what, n, count);
}

static void test_num_parse__accepts_what_aws_accepts(void **state)
{
    (void)state;
    static const struct text_row rows[] = {
        {"1", "1", ALTERNATOR},
        {"-5", "-5", ALTERNATOR},
        {"007", "7", ALTERNATOR},
        {"001.23", "1.23", ALTERNATOR},
        {"00", "0", ALTERNATOR},
        {"+3", "3", ALTERNATOR},
        {"+0", "0", ALTERNATOR},
        {"1.0", "1", ALTERNATOR},
        {"100.000", "100", ALTERNATOR},
        {"0.10", "0.1", ALTERNATOR},
        {"1e3", "1000", ALTERNATOR},
        {"1E+3", "1000", ALTERNATOR},
        {"-3e2", "-300", ALTERNATOR},
        {"1.23e4", "12300", ALTERNATOR},
        {"123e-2", "1.23", ALTERNATOR},
        {"1.0e-1", "0.1", ALTERNATOR},
        {"-0", "0", ALTERNATOR},
        {"-0.0", "0", ALTERNATOR},
        {"0e-5", "0", ALTERNATOR},
        {"0e1000", "0", ALTERNATOR},
        {".5", "0.5", ALTERNATOR},
        {"-.5", "-0.5", ALTERNATOR},
        {"-17.4E37", "-174" Z10 Z10 Z10 "000000", ALTERNATOR},
        {"1e20", "1" Z10 Z10, ALTERNATOR},
        {"1e-20", "0.00000000000000000001", ALTERNATOR},
        {"1e125", "1" Z50 Z50 Z10 Z10 "00000", ALTERNATOR},
        {"9.99999999e125", "999999999" Z50 Z50 Z10 "0000000", ALTERNATOR},
        {"1e-130", "0." Z50 Z50 Z10 Z10 "0000000001", ALTERNATOR},
        {"3.1415926535897932384626433832795028841", "3.1415926535897932384626433832795028841",
         ALTERNATOR},
        {"31415926535897932384626433832795028841e30",
         "31415926535897932384626433832795028841" Z10 Z10 Z10, ALTERNATOR},
        {D38, D38, PRECISION},
        {"00042", "42", PRECISION},
        {"3.1400", "3.14", PRECISION},
        {"1.5E2", "150", PRECISION},
        {"9.9999999999999999999999999999999999999E+125", N38 Z50 Z10 Z10 Z10 "00000000", PRECISION},
        {"0042.1200", "42.12", SIZES},
        {"1234567895171680000000000000000000000000", "1234567895171680000000000000000000000000",
         "boto3 pull 4717: accepted by the service"},
        {"1.", "1", UNVERIFIED},
        {"1.e2", "100", UNVERIFIED},
        {"+.5e+1", "5", UNVERIFIED},
        {"0e99999999999999999999999999", "0", UNVERIFIED},
        {"1e0000000000000000000000000000000000000002", "100", UNVERIFIED},
        {Z50 Z50 Z50 D38 "." Z50 Z50 Z50, D38, UNVERIFIED},
        {"0." Z50 Z50 Z50 "12e152", "12", UNVERIFIED},
        {"12" Z50 Z50 Z50 "e-150", "12", UNVERIFIED},
        {"." Z50 Z50 "1" Z50 "e101", "1", UNVERIFIED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct num a = parsed(rows[i].in);
        assert_string_equal(text_of(&a), rows[i].out);
    }
    print_unverified("accepted", rows, sizeof rows / sizeof rows[0]);
}

static void test_num_parse__refuses_with_the_message_of_aws(void **state)
{
    (void)state;
    static const struct text_row rows[] = {
        {"", NUMERIC, CONFORMANCE},
        {"abc", NUMERIC ": abc", CONFORMANCE},
        {"1.2.3", NUMERIC ": 1.2.3", CONFORMANCE},
        {" 1", NUMERIC ":  1", CONFORMANCE},
        {"1 ", NUMERIC ": 1 ", CONFORMANCE},
        {"0x10", NUMERIC ": 0x10", CONFORMANCE},
        {"1e", NUMERIC ": 1e", CONFORMANCE},
        {"NaN", NUMERIC ": NaN", CONFORMANCE},
        {"Infinity", NUMERIC ": Infinity", CONFORMANCE},
        {"-Infinity", NUMERIC ": -Infinity", ALTERNATOR},
        {"-dog", NUMERIC ": -dog", ALTERNATOR},
        {"1e99999999999", OVERFLOW, CONFORMANCE},
        {"-1e99999999999", OVERFLOW, CONFORMANCE},
        {"1e-99999999999", UNDERFLOW, CONFORMANCE},
        {"1e2147483647", OVERFLOW, CONFORMANCE},
        {"1e2147483648", OVERFLOW, CONFORMANCE},
        {"1e-2147483648", UNDERFLOW, CONFORMANCE},
        {"1e126", OVERFLOW, CONFORMANCE},
        {"-1e126", OVERFLOW, DYNALITE},
        {"11e125", OVERFLOW, ALTERNATOR},
        {"1e-131", UNDERFLOW, CONFORMANCE},
        {"-1e-131", UNDERFLOW, DYNALITE},
        {"0.9e-130", UNDERFLOW, ALTERNATOR},
        {"1234567890123456789012345678901234567890", DIGITS, CONFORMANCE},
        {D38 "9", DIGITS, DYNALITE},
        {"-1.23456789012345678901234567890123456789", DIGITS, DYNALITE},
        {"314159265358979323846.264338327950288419", DIGITS, ALTERNATOR},
        {"314159265358979323846264338327950288419e30", DIGITS, ALTERNATOR},
        {".", NUMERIC ": .", UNVERIFIED},
        {"-", NUMERIC ": -", UNVERIFIED},
        {"+-1", NUMERIC ": +-1", UNVERIFIED},
        {"e5", NUMERIC ": e5", UNVERIFIED},
        {".e5", NUMERIC ": .e5", UNVERIFIED},
        {"1e+", NUMERIC ": 1e+", UNVERIFIED},
        {"1e5.0", NUMERIC ": 1e5.0", UNVERIFIED},
        {"1,5", NUMERIC ": 1,5", UNVERIFIED},
        {"1\n", NUMERIC ": 1\n", UNVERIFIED},
        {"\xD9\xA5", NUMERIC ": \xD9\xA5", UNVERIFIED},
        {"1e99999999999999999999999999999", OVERFLOW, UNVERIFIED},
        {"1e-99999999999999999999999999999", UNDERFLOW, UNVERIFIED},
        {"1" Z50 Z50 Z50, OVERFLOW, UNVERIFIED},
        {"." Z50 Z50 Z50 "1", UNDERFLOW, UNVERIFIED},
        {D38 "9e100", OVERFLOW, UNVERIFIED}, /* magnitude is judged before digits */
        {D38 "9e-200", UNDERFLOW, UNVERIFIED},
        {"1" Z50 "1", DIGITS, UNVERIFIED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct num a = {1, 1};
        sheaf_error err;
        assert_rc(num_parse(span_cstr(rows[i].in), &a, &err), SHEAF_VALIDATION);
        assert_string_equal(err.message, rows[i].out);
        assert_string_equal(err.exception, "ValidationException");
        assert_true(a.coef == 0 && a.exp == 0);
        assert_rc(num_parse(span_cstr(rows[i].in), &a, NULL), SHEAF_VALIDATION);
    }
    print_unverified("refused", rows, sizeof rows / sizeof rows[0]);
}

static void test_num_parse__38_digits_pass_and_39_fail(void **state)
{
    (void)state;
    char text[64];
    for (int point = 0; point <= 38; point++) {
        int n = snprintf(text, sizeof text, "-%.*s.%s", point, D38, &D38[point]);
        struct num a = parsed(text);
        assert_true(a.coef < 0);
        snprintf(text + n, sizeof text - (size_t)n, "1");
        assert_rc(num_parse(span_cstr(text), &a, NULL), SHEAF_VALIDATION);
        text[n] = '0';
        assert_ok(num_parse(span_cstr(text), &a, NULL));
    }
}

static void test_num_parse__allocates_nothing_and_survives_megabytes(void **state)
{
    (void)state;
    size_t n = 4 << 20;
    char *text = malloc(n);
    assert_non_null(text);
    uint64_t before = mem_count();
    struct num a;
    memset(text, '0', n);
    assert_ok(num_parse(SPAN(text, n), &a, NULL));
    assert_true(a.coef == 0);
    text[n - 1] = '7';
    assert_ok(num_parse(SPAN(text, n), &a, NULL));
    assert_true(a.coef == 7 && a.exp == 0);
    text[0] = '.'; /* .000…7e(n - 1) is 7 */
    int tail = snprintf(text + n - 16, 16, "7e%zu", n - 16);
    assert_ok(num_parse(SPAN(text, n - 16 + (size_t)tail), &a, NULL));
    assert_true(a.coef == 7 && a.exp == 0);
    memset(text, '9', n);
    sheaf_error err;
    assert_rc(num_parse(SPAN(text, n), &a, &err), SHEAF_VALIDATION);
    assert_string_equal(err.message, OVERFLOW);
    memset(text, 'x', n);
    assert_rc(num_parse(SPAN(text, n), &a, &err), SHEAF_VALIDATION);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(mem_count(), before);
    free(text);
}

/* ---- arithmetic ---- */

static void test_num_add__table(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        char op;
        const char *b, *out, *source; /* out: text, or the message */
    } rows[] = {
        {"1", '+', "10000000000000000000000", "10000000000000000000001", ALTERNATOR},
        {"10000000000000000000000", '-', "1", "9999999999999999999999", ALTERNATOR},
        {"9e125", '+', "9e125", OVERFLOW, ALTERNATOR},
        {"9e125", '-', "-9e125", OVERFLOW, ALTERNATOR},
        {"9e125", '+', "9e124", "99" Z50 Z50 Z10 Z10 "0000", ALTERNATOR},
        {"1e50", '-', "1", OVERFLOW, ALTERNATOR}, /* too many digits, and yet this message */
        {"1e50", '+', "1", OVERFLOW, ALTERNATOR},
        {"9.9e125", '+', "9.9e125", OVERFLOW, PRECISION},
        {"10", '+', "5", "15", "dynamodb-conformance, updateItem, run on AWS"},
        {"0.1", '+', "0.2", "0.3", UNVERIFIED},
        {"99", '+', "1", "100", UNVERIFIED},
        {"1", '-', "1", "0", UNVERIFIED},
        {"-1", '+', "1", "0", UNVERIFIED},
        {"0", '-', "42", "-42", UNVERIFIED},
        {"42", '-', "0", "42", UNVERIFIED},
        {"0", '+', "0", "0", UNVERIFIED},
        {"100", '-', "0.01", "99.99", UNVERIFIED},
        {N38, '+', "1", "1" Z10 Z10 Z10 "00000000", UNVERIFIED},
        {N38, '+', N38, OVERFLOW, UNVERIFIED},
        {N38, '+', "99999999999999999999999999999999999991",
         "19999999999999999999999999999999999999"
         "0",
         UNVERIFIED},
        {"1e38", '-', "1", N38, UNVERIFIED},
        {"1e38", '+', "1", OVERFLOW, UNVERIFIED},
        {"1.9e38", '-', N38, "90000000000000000000000000000000000001", UNVERIFIED},
        {"2e38", '-', "1", OVERFLOW, UNVERIFIED},
        {"1", '+', "1e-37", "1.0000000000000000000000000000000000001", UNVERIFIED},
        {"1", '+', "1e-38", OVERFLOW, UNVERIFIED},
        {"1", '-', "1e-38", "0." N38, UNVERIFIED},
        {"1", '-', "1e-39", OVERFLOW, UNVERIFIED},
        {"1e125", '+', "1e-130", OVERFLOW, UNVERIFIED},
        {"1.01e-129", '-', "1e-129", UNDERFLOW, UNVERIFIED},
        {"1.1e-129", '-', "1e-129", "0." Z50 Z50 Z10 Z10 "0000000001", UNVERIFIED},
        {"9.9999999999999999999999999999999999999e125", '+', "1e88", OVERFLOW, UNVERIFIED},
        {"9223372036854775807", '+', "9223372036854775807", "18446744073709551614", UNVERIFIED},
        {"-9223372036854775808", '-', "9223372036854775808", "-18446744073709551616", UNVERIFIED},
    };
    size_t unverified = 0, n = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < n; i++) {
        struct num a = parsed(rows[i].a), b = parsed(rows[i].b), c = {7, 7};
        sheaf_error err;
        sheaf_rc rc = rows[i].op == '+' ? num_add(&a, &b, &c, &err) : num_sub(&a, &b, &c, &err);
        assert_string_equal(rc == SHEAF_OK ? text_of(&c) : err.message, rows[i].out);
        if (rc != SHEAF_OK) assert_true(c.coef == 7 && c.exp == 7);
        /* The result may land in an operand. */
        rc = rows[i].op == '+' ? num_add(&a, &b, &a, NULL) : num_sub(&a, &b, &a, NULL);
        if (rc == SHEAF_OK) assert_true(same(&a, &c));
        unverified += rows[i].source == UNVERIFIED;
    }
    printf("sums: %zu rows, %zu unverified\n", n, unverified);
}

/* ---- random numbers ---- */

/* Any number in range: every count of digits, magnitude and sign is about equally likely, and one
 * in eight consists of nines or of a one with zeros, where carries happen. */
static void random_num(struct rng *r, struct num *out)
{
    char text[80];
    size_t n = 0, digits = 1 + rng_below(r, 38);
    uint64_t kind = rng_below(r, 16);
    if (rng_below(r, 2)) text[n++] = '-';
    for (size_t i = 0; i < digits; i++) {
        char c = (char)('0' + rng_below(r, 10));
        text[n++] = kind == 0            ? '9'
                    : kind == 1          ? (i == 0 ? '1' : '0')
                    : i == 0 && c == '0' ? '1'
                                         : c;
    }
    int64_t magnitude =
        rng_below(r, 3) ? (int64_t)rng_below(r, 256) - 130 : (int64_t)rng_below(r, 40) - 20;
    n += (size_t)snprintf(text + n, sizeof text - n, "e%" PRId64, magnitude - (int64_t)digits + 1);
    assert_ok(num_parse(SPAN(text, n), out, NULL));
}

/* The number next to a, one unit of its last digit (or of a 38th digit) away. */
static bool neighbour(struct rng *r, const struct num *a, struct num *out)
{
    struct num step = {1, a->exp};
    if (rng_below(r, 2) && a->exp > -160) step.exp -= (int32_t)rng_below(r, 3);
    if (step.exp < -130 || step.exp > 125) return false;
    if (rng_below(r, 2)) step.coef = -1;
    return num_add(a, &step, out, NULL) == SHEAF_OK;
}

static int sign(int c) { return (c > 0) - (c < 0); }

static void test_num_encode__worked_examples(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"0", "80"},
        {"1", "C1 02"},
        {"100", "C2 02"},
        {"1.5", "C1 02 33"},
        {"-42", "3E 3B 66"},
        {"1E-130", "80 02"},
        {"10", "C1 0B"},
        {"0.1", "C0 0B"},
        {"-1", "3E 64 66"},
        {"-1E-130", "7F 64 66"},
        {"1E125", "FF 0B"},
        {"-9.9E125", "00 02 66"},
        {"129.99", "C2 02 1E 64"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct num a = parsed(rows[i].text), back;
        uint8_t enc[NUM_ENC_MAX], want[NUM_ENC_MAX];
        size_t n = num_encode(&a, enc), n_want = test_hex(rows[i].hex, want, sizeof want);
        assert_int_equal(n, n_want);
        assert_memory_equal(enc, want, n);
        assert_true(num_decode(SPAN(enc, n), &back) && same(&a, &back));
    }
}

static void test_num_encode__length_is_the_size_aws_charges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
    } rows[] = {
        {"0", 1},
        {"1", 2},
        {"100", 2},
        {"120", 3},
        {"1234", 3},
        {"1.5", 3},
        {"100.5", 4},
        {"-42", 3},
        {"3.14159", 5},
        {"123456", 4},
        {"0.0000001", 2},
        {"1E125", 2},
        {D38, 20},
        {"1.2345678901234567890123456789012345678", 21},
        {"-1.2345678901234567890123456789012345678", 22},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct num a = parsed(rows[i].text);
        uint8_t enc[NUM_ENC_MAX];
        assert_int_equal(num_encode(&a, enc), rows[i].size);
    }
}

static void test_num_encode__round_trips_through_bytes_and_text(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(11));
    for (uint64_t i = 0, rounds = test_rounds(300000); i < rounds; i++) {
        struct num a, back;
        random_num(&r, &a);
        uint8_t enc[NUM_ENC_MAX];
        char text[NUM_TEXT_MAX], direct[NUM_TEXT_MAX];
        size_t n = num_encode(&a, enc), n_text = num_format(&a, text);
        assert_true(num_check(SPAN(enc, n)));
        assert_true(num_decode(SPAN(enc, n), &back) && same(&a, &back));
        assert_int_equal(num_format_encoded(SPAN(enc, n), direct), n_text);
        assert_memory_equal(direct, text, n_text);
        assert_ok(num_parse(SPAN(text, n_text), &back, NULL));
        assert_true(same(&a, &back));
    }
}

static void test_num_encode__byte_order_is_numeric_order(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(12));
    uint64_t near = 0;
    for (uint64_t i = 0, rounds = test_rounds(300000); i < rounds; i++) {
        struct num a, b, d;
        random_num(&r, &a);
        if (rng_below(&r, 2) && neighbour(&r, &a, &b))
            near++;
        else
            random_num(&r, &b);
        if (rng_below(&r, 8) == 0) b.coef = -b.coef;
        if (rng_below(&r, 50) == 0) b = (struct num){0, 0};
        uint8_t ea[NUM_ENC_MAX], eb[NUM_ENC_MAX];
        span sa = SPAN(ea, num_encode(&a, ea)), sb = SPAN(eb, num_encode(&b, eb));
        int c = num_cmp(&a, &b);
        assert_int_equal(sign(span_cmp(sa, sb)), sign(c));
        assert_int_equal(sign(num_cmp(&b, &a)), -sign(c));
        assert_int_equal(c == 0, same(&a, &b));
        if (num_sub(&a, &b, &d, NULL) == SHEAF_OK) {
            assert_int_equal(sign(c), (d.coef > 0) - (d.coef < 0));
        }
    }
    assert_true(near > 0);
}

static void test_num_add__undoes_itself(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(13));
    uint64_t sums = 0;
    for (uint64_t i = 0, rounds = test_rounds(300000); i < rounds; i++) {
        struct num a, b, c, d;
        random_num(&r, &a);
        random_num(&r, &b);
        struct num minus_b = {-b.coef, b.exp};
        sheaf_rc rc = num_add(&a, &b, &c, NULL);
        assert_rc(num_sub(&a, &minus_b, &d, NULL), rc);
        if (rc != SHEAF_OK) continue;
        sums++;
        assert_true(same(&c, &d));
        assert_ok(num_add(&b, &a, &d, NULL));
        assert_true(same(&c, &d));
        assert_ok(num_sub(&c, &b, &d, NULL));
        assert_true(same(&a, &d));
    }
    assert_true(sums > 0);
}

/* ---- bytes from outside ---- */

static void test_num_check__refuses_what_no_number_encodes_to(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",            /* nothing */
        "81",          /* no pairs */
        "3E",          /* no pairs, no end */
        "3E 66",       /* no pairs */
        "3E 64",       /* a negative one without its end */
        "3E 64 65",    /* another byte as its end */
        "C1 00",       /* byte of no pair */
        "C1 01",       /* leading zero pair */
        "C1 02 01",    /* trailing zero pair */
        "C1 66",       /* pair 101 */
        "C1 65",       /* pair 100 */
        "3E 01 66",    /* pair 100, negative */
        "3E 65 66",    /* zero, negative */
        "3E 64 65 66", /* trailing zero pair, negative */
        "3E 64 66 66", /* the end twice */
        "80 00",       /* zero with something behind it */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t enc[64];
        struct num a = {1, 1};
        span s = SPAN(enc, test_hex(rows[i], enc, sizeof enc));
        assert_false(num_check(s));
        assert_false(num_decode(s, &a));
        assert_true(a.coef == 0 && a.exp == 0);
    }
}

static void test_num_check__counts_38_digits(void **state)
{
    (void)state;
    static const struct {
        size_t pairs;
        unsigned first, last;
        bool is_good;
    } rows[] = {
        {19, 10, 11, true},  {20, 9, 10, true},  {20, 10, 10, false}, {20, 9, 11, false},
        {20, 10, 11, false}, {21, 1, 10, false}, {1, 99, 99, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int is_negative = 0; is_negative < 2; is_negative++) {
            uint8_t enc[32] = {is_negative ? 62 : 193};
            for (size_t k = 0; k < rows[i].pairs; k++) {
                unsigned d = k + 1 == rows[i].pairs ? rows[i].last : k == 0 ? rows[i].first : 77;
                enc[1 + k] = (uint8_t)(is_negative ? 101 - d : d + 1);
            }
            enc[1 + rows[i].pairs] = 102;
            span s = SPAN(enc, 1 + rows[i].pairs + (size_t)is_negative);
            struct num a;
            assert_int_equal(num_check(s), rows[i].is_good);
            assert_int_equal(num_decode(s, &a), rows[i].is_good);
        }
    }
}

static void test_num_check__accepts_only_the_one_encoding(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(14));
    uint64_t accepted = 0, refused = 0;
    for (uint64_t i = 0, rounds = test_rounds(300000); i < rounds; i++) {
        struct num a, back;
        random_num(&r, &a);
        uint8_t enc[NUM_ENC_MAX + 2] = {0}, again[NUM_ENC_MAX];
        size_t n = num_encode(&a, enc);
        uint64_t how = rng_below(&r, 4);
        if (how == 0)
            n -= rng_below(&r, n);
        else if (how == 1)
            n += 1 + rng_below(&r, 2);
        else
            enc[rng_below(&r, how == 2 ? n : 1)] = (uint8_t)rng_u64(&r);
        bool is_good = num_check(SPAN(enc, n));
        assert_int_equal(num_decode(SPAN(enc, n), &back), is_good);
        refused += !is_good;
        if (!is_good) continue;
        accepted++;
        assert_int_equal(num_encode(&back, again), n);
        assert_memory_equal(again, enc, n);
    }
    assert_true(accepted > 0 && refused > 0);
}

/* ---- machine numbers ---- */

static void test_num_i64__goes_there_and_back(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool fits;
        int64_t i;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"1e18", true, INT64_C(1000000000000000000)},
        {"9e18", true, INT64_C(9000000000000000000)},
        {"1e19", false, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"1.5", false, 0},
        {"1e-1", false, 0},
        {"1e125", false, 0},
        {"18446744073709551617", false, 0},
        {N38, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct num a = parsed(rows[i].text), back;
        int64_t out = 0;
        assert_int_equal(num_to_i64(&a, &out), rows[i].fits);
        assert_int_equal(out, rows[i].i);
        if (!rows[i].fits) continue;
        num_from_i64(rows[i].i, &back);
        assert_true(same(&a, &back));
    }
    struct rng r;
    rng_init(&r, test_seed(15));
    for (uint64_t i = 0, rounds = test_rounds(100000); i < rounds; i++) {
        int64_t in = (int64_t)rng_u64(&r) >> rng_below(&r, 64), out = 0;
        if (rng_below(&r, 2)) in = in / 1000 * 1000;
        struct num a;
        num_from_i64(in, &a);
        char want[32];
        snprintf(want, sizeof want, "%" PRId64, in);
        assert_string_equal(text_of(&a), want);
        assert_true(num_to_i64(&a, &out) && in == out);
    }
}

static void test_num_to_double__is_the_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double d;
        bool is_exact;
    } rows[] = {
        {"0", 0, true},
        {"1", 1, true},
        {"-42", -42, true},
        {"0.5", 0.5, true},
        {"0.1", 0.1, false},
        {"129.99", 129.99, false},
        {"1e22", 1e22, true},
        {"1e23", 1e23, false},
        {"9007199254740992", 9007199254740992.0, true},
        {"9007199254740993", 9007199254740992.0, false}, /* half way, to even */
        {"9007199254740995", 9007199254740996.0, false},
        {"18014398509481984", 18014398509481984.0, true},
        {"9007199254740993.0000000000000000000001", 9007199254740994.0, false},
        {"1e-130", 1e-130, false},
        {"9.9999999999999999999999999999999999999e125", 1e126, false},
        {"0.0000019073486328125", 0x1p-19, true},
        {"5e-1", 0.5, true},
        {"85070591730234615865843651857942052864", 0x1p126, true},
        {"85070591730234615865843651857942052865", 0x1p126, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct num a = parsed(rows[i].text);
        bool is_exact = !rows[i].is_exact;
        double d = num_to_double(&a, &is_exact);
        assert_true(d == rows[i].d);
        assert_int_equal(is_exact, rows[i].is_exact);
        assert_true(num_to_double(&a, NULL) == d);
    }
}

/* A double prints exactly in decimal, so the C library is the judge of exactness. */
static void test_num_to_double__knows_when_it_is_exact(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(16));
    uint64_t exact = 0;
    for (uint64_t i = 0, rounds = test_rounds(60000); i < rounds; i++) {
        struct num a;
        if (rng_below(&r, 2)) { /* a dyadic fraction with few bits: often exact */
            double d = ldexp((double)rng_below(&r, 1 << 20), (int)rng_below(&r, 60) - 30);
            char dyadic[128];
            snprintf(dyadic, sizeof dyadic, "%.40f", d);
            if (num_parse(span_cstr(dyadic), &a, NULL) != SHEAF_OK) continue;
        } else {
            random_num(&r, &a);
        }
        char text[NUM_TEXT_MAX + 1], printed[512];
        text[num_format(&a, text)] = '\0';
        bool is_exact;
        double d = num_to_double(&a, &is_exact);
        assert_true(d == strtod(text, NULL));
        int n = snprintf(printed, sizeof printed, "%.180f", d);
        assert_in_range(n, 1, (int)sizeof printed - 1);
        while (printed[n - 1] == '0') n--;
        if (printed[n - 1] == '.') n--;
        printed[n] = '\0';
        bool is_same = strcmp(text, printed) == 0;
        /* 180 places hold 1E-130 with its 38 digits; more places only say "not exact" */
        assert_int_equal(is_exact, is_same);
        exact += is_exact;
    }
    assert_true(exact > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_num_parse__accepts_what_aws_accepts),
        cmocka_unit_test(test_num_parse__refuses_with_the_message_of_aws),
        cmocka_unit_test(test_num_parse__38_digits_pass_and_39_fail),
        cmocka_unit_test(test_num_parse__allocates_nothing_and_survives_megabytes),
        cmocka_unit_test(test_num_add__table),
        cmocka_unit_test(test_num_add__undoes_itself),
        cmocka_unit_test(test_num_encode__worked_examples),
        cmocka_unit_test(test_num_encode__length_is_the_size_aws_charges),
        cmocka_unit_test(test_num_encode__round_trips_through_bytes_and_text),
        cmocka_unit_test(test_num_encode__byte_order_is_numeric_order),
        cmocka_unit_test(test_num_check__refuses_what_no_number_encodes_to),
        cmocka_unit_test(test_num_check__counts_38_digits),
        cmocka_unit_test(test_num_check__accepts_only_the_one_encoding),
        cmocka_unit_test(test_num_i64__goes_there_and_back),
        cmocka_unit_test(test_num_to_double__is_the_nearest),
        cmocka_unit_test(test_num_to_double__knows_when_it_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
