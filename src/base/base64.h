/* base/base64.h: binary values as AWS prints and reads them. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

/* Appends the padded base64 of s. */
void base64_put(struct buf *out, span s);

enum base64_fault {
    BASE64_OK,
    BASE64_LENGTH,    /* not a multiple of four */
    BASE64_CHARACTER, /* one outside the alphabet */
    BASE64_LAST       /* a pad that is not at the end, or bits behind the last byte */
};
/* The bytes of padded base64, strictly: one text for each byte string. `out` has room for
 * text.n / 4 * 3 bytes and may not overlap the text; what it holds after a fault is nothing. */
enum base64_fault base64_get(span text, uint8_t *out, size_t *n_out);

#endif
