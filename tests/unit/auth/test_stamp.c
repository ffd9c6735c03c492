#include "support/support.h"

#include "auth/stamp.h"
#include "base/rng.h"

#include <time.h>

static void test_stamp_parse__takes_one_form_only(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds; /* -1: refused */
    } rows[] = {
        {"20150830T123600Z", 1440938160}, {"19700101T000000Z", 0},  {"20000229T235959Z", 951868799},
        {"20160229T000000Z", 1456704000}, {"20150229T000000Z", -1}, {"21000229T000000Z", -1},
        {"20150001T000000Z", -1},         {"20151301T000000Z", -1}, {"20150800T000000Z", -1},
        {"20150832T000000Z", -1},         {"20150830T240000Z", -1}, {"20150830T236000Z", -1},
        {"20161231T235960Z", -1},         {"20150830T123600", -1},  {"20150830T123600ZZ", -1},
        {"20150830t123600Z", -1},         {"20150830T123600z", -1}, {" 20150830T123600Z", -1},
        {"2015-08-30T12:36:00Z", -1},     {"2015083OT123600Z", -1}, {"", -1},
        {"20150830T12360:Z", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t seconds = -1;
        bool is_ok = stamp_parse(span_cstr(rows[i].text), &seconds);
        if (is_ok != (rows[i].seconds >= 0) || (is_ok && seconds != rows[i].seconds))
            fail_msg("%s: %d %lld", rows[i].text, is_ok, (long long)seconds);
    }
}

static void test_stamp_parse_date__takes_what_http_sends(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_ok;
    } rows[] = {
        {"Sun, 30 Aug 2015 12:36:00 GMT", true},
        {"Sun, 30 Aug 2015 12:36:00 UTC", true},
        {"Sun, 30 Aug 2015 12:36:00 +0000", true},
        {"Sun, 30 Aug 2015 12:36:00 -0000", true},
        {"20150830T123600Z", true},
        {"Sun, 30 Aug 2015 12:36:00", false},
        {"Sun, 30 Aug 2015 12:36:00 CET", false},
        {"Sun, 30 Aug 2015 12:36:00 +0100", false},
        {"Sun, 30 aug 2015 12:36:00 GMT", false},
        {"Sunday, 30-Aug-15 12:36:00 GMT", false},
        {"Sun Aug 30 12:36:00 2015", false},
        {"Sun, 31 Jun 2015 12:36:00 GMT", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t seconds = 0;
        bool is_ok = stamp_parse_date(span_cstr(rows[i].text), &seconds);
        if (is_ok != rows[i].is_ok || (is_ok && seconds != 1440938160))
            fail_msg("%s: %d %lld", rows[i].text, is_ok, (long long)seconds);
    }
}

static void test_stamp_parse_expiry__takes_what_people_write(void **state)
{
    (void)state;
    int64_t seconds;
    assert_true(stamp_parse_expiry(SPAN_LIT("2015-08-30T12:36:00Z"), &seconds));
    assert_int_equal(seconds, 1440938160);
    assert_true(stamp_parse_expiry(SPAN_LIT("20150830T123600Z"), &seconds));
    assert_false(stamp_parse_expiry(SPAN_LIT("2015-08-30"), &seconds));
    assert_false(stamp_parse_expiry(SPAN_LIT("2015-08-30 12:36:00"), &seconds));
}

/* Against the C library's calendar, over 8,000 years. */
static void test_stamp__agrees_with_gmtime(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, test_seed(1));
    for (uint64_t i = 0; i < test_rounds(100000); i++) {
        time_t t = (time_t)rng_below(&rng, 253402300800u); /* the end of 9999 */
        char got[STAMP_LEN], want[32];
        struct tm tm;
        gmtime_r(&t, &tm);
        strftime(want, sizeof want, "%Y%m%dT%H%M%SZ", &tm);
        stamp_format(t, got);
        assert_memory_equal(got, want, STAMP_LEN);
        int64_t back;
        assert_true(stamp_parse(SPAN(got, STAMP_LEN), &back));
        assert_int_equal(back, t);
    }
}

static void test_stamp_format__stays_in_four_digit_years(void **state)
{
    (void)state;
    char text[STAMP_LEN];
    stamp_format(INT64_MAX, text);
    assert_memory_equal(text, "99991231T235959Z", STAMP_LEN);
    stamp_format(INT64_MIN, text);
    assert_memory_equal(text, "00000101T000000Z", STAMP_LEN);
    stamp_format(-1, text);
    assert_memory_equal(text, "19691231T235959Z", STAMP_LEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stamp_parse__takes_one_form_only),
        cmocka_unit_test(test_stamp_parse_date__takes_what_http_sends),
        cmocka_unit_test(test_stamp_parse_expiry__takes_what_people_write),
        cmocka_unit_test(test_stamp__agrees_with_gmtime),
        cmocka_unit_test(test_stamp_format__stays_in_four_digit_years),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
