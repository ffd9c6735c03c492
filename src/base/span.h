/* base/span.h: borrowed bytes, the currency of the whole code base.
 *
 * Layer rule: base includes nothing of Sheaf but the public <sheaf/error.h> and <sheaf/span.h>. */
#ifndef BASE_SPAN_H
#define BASE_SPAN_H

#include <sheaf/span.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct sheaf_span span;

#define SPAN(p_, n_) ((span){(p_), (n_)})
/* A string literal without its NUL. */
#define SPAN_LIT(s) ((span){"" s, sizeof(s) - 1})
#define SPAN_NONE ((span){NULL, 0})

static inline span span_cstr(const char *s) { return SPAN(s, strlen(s)); }

static inline bool span_eq(span a, span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Unsigned byte order; a proper prefix comes first. <0, 0, >0. */
static inline int span_cmp(span a, span b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    if (n) {
        /* Most pairs differ in their first byte: no call for those. */
        int c = *(const uint8_t *)a.p - *(const uint8_t *)b.p;
        if (c == 0) c = memcmp(a.p, b.p, n);
        if (c) return c;
    }
    return (a.n > b.n) - (a.n < b.n);
}

static inline bool span_starts(span s, span prefix)
{
    return prefix.n <= s.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline span span_from(span s, size_t at)
{
    return SPAN((const uint8_t *)s.p + at, s.n - at);
}

#endif
