/* Turns seconds since 1970 into the text of a Date header. The C library's strftime writes the
 * names of the user's locale; HTTP wants English. */
#include "http/date.h"

#include <string.h>

static void two(char *to, int64_t n)
{
    to[0] = (char)('0' + n / 10);
    to[1] = (char)('0' + n % 10);
}

/* The Gregorian calendar, its years begun in March so that the leap day comes last. */
static void civil(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
    days += 719468; /* from 0000-03-01 */
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t of_era = days - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
    int64_t m = (5 * of_year + 2) / 153;
    *day = of_year - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = y + era * 400 + (*month <= 2);
}

void date_format(int64_t unix_s, char out[DATE_BYTES + 1])
{
    static const char days[] = "ThuFriSatSunMonTueWed"; /* 1970 began on a Thursday */
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int64_t day = unix_s / 86400, s = unix_s % 86400;
    if (s < 0) {
        s += 86400;
        day--;
    }
    int64_t y, m, d;
    civil(day, &y, &m, &d);
    memcpy(out, "Xxx, 00 Xxx 0000 00:00:00 GMT", DATE_BYTES + 1);
    memcpy(out, days + 3 * ((day % 7 + 7) % 7), 3);
    two(out + 5, d);
    memcpy(out + 8, months + 3 * (m - 1), 3);
    two(out + 12, y / 100 % 100);
    two(out + 14, y % 100);
    two(out + 17, s / 3600);
    two(out + 20, s / 60 % 60);
    two(out + 23, s % 60);
}
