/* Turns environment variables into seeds and rounds, and drawn bytes into real ones. */
#include "support/support.h"

#include <ctype.h>
#include <inttypes.h>

uint64_t test_seed(uint64_t fixed)
{
    const char *text = getenv("SHEAF_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : fixed;
    printf("seed %" PRIu64 " (repeat with SHEAF_SEED=%" PRIu64 ")\n", seed, seed);
    return seed;
}

uint64_t test_rounds(uint64_t n)
{
    const char *text = getenv("SHEAF_TEST_SCALE");
    double scale = text ? strtod(text, NULL) : 1.0;
    double rounds = (double)n * (scale > 0 ? scale : 1.0);
    return rounds < 1 ? 1 : (uint64_t)rounds;
}

static unsigned nibble(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

size_t test_hex(const char *hex, uint8_t *out, size_t cap)
{
    size_t n = 0;
    for (; *hex; hex++) {
        if (!isxdigit((unsigned char)*hex)) continue;
        if (n >= cap || !isxdigit((unsigned char)hex[1])) fail_msg("test_hex: bad text");
        out[n++] = (uint8_t)(nibble(hex[0]) << 4 | nibble(hex[1]));
        hex++;
    }
    return n;
}
