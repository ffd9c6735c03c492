/* Turns moments into ISO-8601 text that sorts as time does, and back. Know before editing: these
 * texts are parts of keys, so every moment has exactly one. */
#include "mapper/plan.h"

#define US_PER_DAY INT64_C(86400000000)

/* Days since 1970-01-01 of a date of the Gregorian calendar, which repeats every 400 years; the
 * year is counted from March, so that the leap day is its last. */
static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day - 719468;
}

static void date_of(int64_t days, int64_t *y, int64_t *m, int64_t *d)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    *d = doy - (153 * mp + 2) / 5 + 1;
    *m = mp < 10 ? mp + 3 : mp - 9;
    *y = yoe + era * 400 + (*m <= 2);
}

static void put_digits(char *to, int n, int64_t v)
{
    while (n-- > 0) {
        to[n] = (char)('0' + v % 10);
        v /= 10;
    }
}

bool map_time_format(int64_t us, char out[MAP_TIME_TEXT])
{
    int64_t days = us / US_PER_DAY, left = us % US_PER_DAY;
    if (left < 0) {
        left += US_PER_DAY;
        days--;
    }
    int64_t y, m, d;
    date_of(days, &y, &m, &d);
    if (y < 0 || y > 9999) return false;
    memcpy(out, "0000-00-00T00:00:00.000000Z", MAP_TIME_TEXT);
    put_digits(out, 4, y);
    put_digits(out + 5, 2, m);
    put_digits(out + 8, 2, d);
    put_digits(out + 11, 2, left / 3600000000);
    put_digits(out + 14, 2, left / 60000000 % 60);
    put_digits(out + 17, 2, left / 1000000 % 60);
    put_digits(out + 20, 6, left % 1000000);
    return true;
}

/* n digits at the front; -1 when they are not there. */
static int64_t take_digits(span *s, size_t n)
{
    const char *p = s->p;
    int64_t v = 0;
    if (s->n < n) return -1;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') return -1;
        v = v * 10 + (p[i] - '0');
    }
    *s = span_from(*s, n);
    return v;
}

static bool take_char(span *s, char c)
{
    if (s->n == 0 || *(const char *)s->p != c) return false;
    *s = span_from(*s, 1);
    return true;
}

static bool take_fraction(span *s, int64_t *us_out)
{
    int64_t unit = 100000, us = 0;
    size_t n = 0;
    for (int64_t d; n < 9 && (d = take_digits(s, 1)) >= 0; n++) {
        us += d * unit;
        unit /= 10; /* digits behind the sixth count nothing */
    }
    *us_out = us;
    return n > 0;
}

static bool take_clock(span *s, int64_t *us_out)
{
    int64_t h = take_digits(s, 2), fraction = 0;
    if (!take_char(s, ':')) return false;
    int64_t m = take_digits(s, 2);
    if (!take_char(s, ':')) return false;
    int64_t sec = take_digits(s, 2);
    if (take_char(s, '.') && !take_fraction(s, &fraction)) return false;
    if (h < 0 || h > 23 || m < 0 || m > 59 || sec < 0 || sec > 59) return false;
    *us_out = ((h * 60 + m) * 60 + sec) * 1000000 + fraction;
    return true;
}

/* "Z", "+02:00": how far the text's clock is ahead. */
static bool take_zone(span *s, int64_t *ahead_us_out)
{
    *ahead_us_out = 0;
    if (take_char(s, 'Z')) return true;
    int64_t sign = take_char(s, '+') ? 1 : take_char(s, '-') ? -1 : 0;
    int64_t h = sign ? take_digits(s, 2) : -1;
    if (h < 0 || !take_char(s, ':')) return false;
    int64_t m = take_digits(s, 2);
    *ahead_us_out = sign * (h * 60 + m) * 60000000;
    return h <= 23 && m >= 0 && m <= 59;
}

static bool take_date(span *s, int64_t *days_out)
{
    int64_t y = take_digits(s, 4), back_y, back_m, back_d;
    if (!take_char(s, '-')) return false;
    int64_t m = take_digits(s, 2);
    if (!take_char(s, '-')) return false;
    int64_t d = take_digits(s, 2);
    if (y < 0 || m < 1 || m > 12 || d < 1 || d > 31) return false;
    *days_out = days_of(y, m, d);
    date_of(*days_out, &back_y, &back_m, &back_d); /* the 30th of February is the 1st of March */
    return back_m == m && back_d == d;
}

bool map_time_parse(span s, int64_t *us_out)
{
    int64_t days, us = 0, ahead = 0;
    if (!take_date(&s, &days)) return false;
    if (s.n && (!take_char(&s, 'T') || !take_clock(&s, &us) || !take_zone(&s, &ahead)))
        return false;
    *us_out = days * US_PER_DAY + us - ahead;
    return s.n == 0;
}
