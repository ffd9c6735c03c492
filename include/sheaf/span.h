/* <sheaf/span.h>: bytes with their length. Includes nothing of Sheaf. */
#ifndef SHEAF_SPAN_H
#define SHEAF_SPAN_H

#include <stddef.h>

/* Borrowed bytes. p may be NULL only when n is 0; a getter that finds nothing returns p == NULL. */
struct sheaf_span {
    const void *p;
    size_t n;
};

#endif
