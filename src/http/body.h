/* http/body.h: chunked bodies, pure: no memory, no clock, no socket. */
#ifndef HTTP_BODY_H
#define HTTP_BODY_H

#include "base/span.h"

enum {
    CHUNK_LINE_MAX = 256,     /* bytes of a size line with its extensions, CRLF not counted */
    CHUNK_TRAILER_MAX = 4096, /* bytes of all trailer lines */
    CHUNK_OVERHEAD = 16384,   /* bytes of framing that any body may have */
    CHUNK_RATIO = 2,          /* and beyond those, for each byte of the body */
};

enum chunked_verdict { CHUNKED_MORE, CHUNKED_DONE, CHUNKED_REFUSED };

/* A body under way, caller's storage; zeroed to begin with but for `max`. */
struct chunked {
    uint64_t max;      /* bytes of data allowed */
    uint64_t left;     /* of the chunk under way */
    uint64_t data;     /* bytes of data promised so far, the chunk under way included */
    uint64_t overhead; /* bytes that were no data */
    uint32_t line;     /* bytes of the line under way */
    uint32_t trailer;  /* bytes of trailers */
    uint8_t state;
    bool has_digit, has_colon;
    int status; /* after CHUNKED_REFUSED: 400 or 413, */
    const char *why;
};

/* Takes bytes off the front of *in. When *data_out is not empty it is a piece of the body, borrowed
 * from `in`, and there may be more to take. CHUNKED_MORE with an empty *in: give more. After
 * CHUNKED_DONE *in begins with what follows the body. */
enum chunked_verdict chunked_take(struct chunked *c, span *in, span *data_out);

#endif
