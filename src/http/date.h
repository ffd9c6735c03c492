/* http/date.h: the Date header. */
#ifndef HTTP_DATE_H
#define HTTP_DATE_H

#include <stdint.h>

enum { DATE_BYTES = 29 };

/* "Sun, 06 Nov 1994 08:49:37 GMT" and a NUL, for the years 1 to 9999. */
void date_format(int64_t unix_s, char out[DATE_BYTES + 1]);

#endif
