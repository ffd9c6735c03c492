/* Turns the date forms of HTTP and SigV4 into seconds and back, without the C library's notion of
 * locale and time zone. Know before editing: each form is a pattern that a text matches from end to
 * end; there is no lenient reading of a signed date. */
#include "auth/stamp.h"

struct moment {
    int64_t year;
    int month, day, hour, minute, second; /* month and day from 1 */
};

/* Days since 1970-01-01 in the Gregorian calendar: years begin in March, so that the leap day is
 * the last of its year. */
static int64_t days(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int month_days(int64_t year, int month)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return lengths[month - 1] + (month == 2 && is_leap);
}

/* False when there is no such moment. Leap seconds are not known: they would be signed as written
 * and counted as another. */
static bool seconds_of(const struct moment *m, int64_t *seconds_out)
{
    if (m->month < 1 || m->month > 12 || m->day < 1 || m->day > month_days(m->year, m->month))
        return false;
    if (m->hour > 23 || m->minute > 59 || m->second > 59) return false;
    *seconds_out =
        days(m->year, m->month, m->day) * 86400 + m->hour * 3600 + m->minute * 60 + m->second;
    return true;
}

static int month_named(const uint8_t *p)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++) {
        if (memcmp(p, names + 3 * i, 3) == 0) return i + 1;
    }
    return 0;
}

/* Matches s against a pattern of equal length: Y M D h m s stand for a digit each of that part, b
 * for a letter of the month's name, ? for anything, all else for itself. */
static bool match(span s, const char *pattern, struct moment *m)
{
    const uint8_t *p = s.p;
    if (s.n != strlen(pattern)) return false;
    int part[128] = {0};
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)pattern[i];
        if (c == '?') continue;
        if (c == 'b') {
            m->month = month_named(p + i);
            i += 2;
        } else if (strchr("YMDhms", c)) {
            if (p[i] < '0' || p[i] > '9') return false;
            part[c] = part[c] * 10 + (p[i] - '0');
        } else if (p[i] != c) {
            return false;
        }
    }
    m->year = part['Y'];
    if (part['M']) m->month = part['M'];
    m->day = part['D'];
    m->hour = part['h'];
    m->minute = part['m'];
    m->second = part['s'];
    return true;
}

static bool parse(span s, const char *pattern, int64_t *seconds_out)
{
    struct moment m = {0};
    return match(s, pattern, &m) && seconds_of(&m, seconds_out);
}

bool stamp_parse(span s, int64_t *seconds_out) { return parse(s, "YYYYMMDDThhmmssZ", seconds_out); }

bool stamp_parse_date(span s, int64_t *seconds_out)
{
    static const char pattern[] = "???, DD bbb YYYY hh:mm:ss";
    static const char *const zones[] = {" GMT", " UTC", " +0000", " -0000"};
    const size_t n = sizeof pattern - 1;
    if (stamp_parse(s, seconds_out)) return true;
    if (s.n < n || !parse(SPAN(s.p, n), pattern, seconds_out)) return false;
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
        if (span_eq(span_from(s, n), span_cstr(zones[i]))) return true;
    }
    return false;
}

bool stamp_parse_expiry(span s, int64_t *seconds_out)
{
    return stamp_parse(s, seconds_out) || parse(s, "YYYY-MM-DDThh:mm:ssZ", seconds_out);
}

/* The inverse of days(). */
static void civil(int64_t day, struct moment *m)
{
    day += 719468;
    int64_t era = (day >= 0 ? day : day - 146096) / 146097;
    int64_t of_era = day - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t march = (5 * of_year + 2) / 153;
    m->day = (int)(of_year - (153 * march + 2) / 5 + 1);
    m->month = (int)(march < 10 ? march + 3 : march - 9);
    m->year = year + era * 400 + (m->month <= 2);
}

static char *digits(char *to, int64_t value, int n)
{
    for (int i = n; i-- > 0; value /= 10) to[i] = (char)('0' + value % 10);
    return to + n;
}

void stamp_format(int64_t seconds, char out[STAMP_LEN])
{
    const int64_t first = days(0, 1, 1) * 86400, last = days(10000, 1, 1) * 86400 - 1;
    if (seconds < first) seconds = first;
    if (seconds > last) seconds = last;
    int64_t day = seconds / 86400 - (seconds % 86400 < 0), rest = seconds - day * 86400;
    struct moment m;
    civil(day, &m);
    char *at = digits(digits(digits(out, m.year, 4), m.month, 2), m.day, 2);
    *at++ = 'T';
    at = digits(digits(digits(at, rest / 3600, 2), rest / 60 % 60, 2), rest % 60, 2);
    *at = 'Z';
}
