/* tests/support/support.h: what every unit test begins with. cmocka's asserts, plus the house's
 * own. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>

/* The seed of a randomised test: SHEAF_SEED when set, else the given one. Printed, so that a
 * failure can be repeated. */
uint64_t test_seed(uint64_t fixed);
/* How many rounds a randomised test takes: `n`, times SHEAF_TEST_SCALE when that is set (soak
 * runs). */
uint64_t test_rounds(uint64_t n);

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        sheaf_rc ok_rc_ = (call);                                                                  \
        if (ok_rc_ != SHEAF_OK)                                                                    \
            fail_msg("%s: rc %d (%s)", #call, (int)ok_rc_, sheaf_rc_exception(ok_rc_));            \
    } while (0)
#define assert_rc(call, want)                                                                      \
    do {                                                                                           \
        sheaf_rc got_rc_ = (call);                                                                 \
        if (got_rc_ != (want))                                                                     \
            fail_msg("%s: rc %d (%s), wanted %d", #call, (int)got_rc_,                             \
                     sheaf_rc_exception(got_rc_), (int)(want));                                    \
    } while (0)
#define assert_span(got, text)                                                                     \
    do {                                                                                           \
        span got_ = (got);                                                                         \
        span want_ = span_cstr(text);                                                              \
        if (!span_eq(got_, want_))                                                                 \
            fail_msg("%s: got \"%.*s\", wanted \"%s\"", #got, SPAN_ARG(got_), text);               \
    } while (0)

/* "1A 2B" to bytes, for comparing with a layout drawn in a header. Returns the length. */
size_t test_hex(const char *hex, uint8_t *out, size_t cap);

#endif
