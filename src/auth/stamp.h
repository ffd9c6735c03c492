/* auth/stamp.h: moments as signatures and credentials files write them. Seconds since 1970, UTC. */
#ifndef AUTH_STAMP_H
#define AUTH_STAMP_H

#include "base/span.h"

enum { STAMP_LEN = 16 };

/* "20150830T123600Z", and nothing else. */
bool stamp_parse(span s, int64_t *seconds_out);
/* A Date header: "Sun, 30 Aug 2015 12:36:00 GMT" (or UTC, +0000, -0000), or stamp_parse's form. The
 * name of the day is not checked. */
bool stamp_parse_date(span s, int64_t *seconds_out);
/* "2015-08-30T12:36:00Z", or stamp_parse's form: what people write. */
bool stamp_parse_expiry(span s, int64_t *seconds_out);
/* Writes STAMP_LEN bytes, no NUL. The year is cut to 0000..9999. */
void stamp_format(int64_t seconds, char out[STAMP_LEN]);

#endif
