/* base/base64.h: binary values as AWS prints them. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

/* Appends the padded base64 of s. */
void base64_put(struct buf *out, span s);

#endif
