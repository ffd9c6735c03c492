/* http/scan.h: the strict scan of a request head, pure: no memory, no clock, no socket. */
#ifndef HTTP_SCAN_H
#define HTTP_SCAN_H

#include "base/span.h"

enum scan_verdict { SCAN_MORE, SCAN_DONE, SCAN_REFUSED };

/* A head under way, caller's storage. Every byte is looked at once, however the head is cut into
 * pieces, and the verdict does not depend on the cuts. */
struct scan {
    uint32_t max_line, max_head, max_headers;
    uint32_t at;       /* bytes looked at; after SCAN_DONE the length of the head */
    uint32_t line_at;  /* where the line under way begins */
    uint32_t head_at;  /* where the header lines begin; 0: still in the request line */
    uint32_t start_at; /* where the request line begins: behind at most one empty line */
    /* What was read, good after SCAN_DONE. */
    uint32_t n_headers;
    uint64_t length; /* of the body by Content-Length, when has_length */
    bool has_length, is_chunked, expects_100, is_http10;
    bool wants_close, wants_keep_alive; /* as Connection says */
    bool has_host, has_other_expectation;
    /* After SCAN_REFUSED: the status to answer with, and a static sentence. */
    int status;
    const char *why;
};

void scan_init(struct scan *s, uint32_t max_line, uint32_t max_head, uint32_t max_headers);
/* `bytes` begin with the head's first byte and hold at least what the last call was given. */
enum scan_verdict scan_head(struct scan *s, span bytes);

/* The first byte at or behind `from` that may not stand in a line: a control byte other than TAB,
 * or DEL; n when there is none. scan_control_plain is its twin without vector instructions. */
size_t scan_control(const uint8_t *p, size_t n, size_t from);
size_t scan_control_plain(const uint8_t *p, size_t n, size_t from);
/* Whether c may stand in a token (method, header name). */
bool scan_is_token(uint8_t c);
/* Without spaces and tabs around it. */
span scan_trim(span s);
/* a without regard to case; `lower` in lower case. */
bool scan_same(span a, span lower);

#endif
