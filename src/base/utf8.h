/* base/utf8.h: UTF-8 as DynamoDB checks and counts it. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/span.h"

/* Well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
bool utf8_check(span s);
/* How many UTF-16 code units the text takes, which is what size() counts. s must be well-formed. */
size_t utf8_utf16_units(span s);

#endif
