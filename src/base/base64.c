/* Turns bytes into padded base64 text. */
#include "base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_put(struct buf *out, span s)
{
    const uint8_t *p = s.p;
    for (size_t i = 0; i < s.n; i += 3) {
        size_t left = s.n - i;
        uint32_t x = (uint32_t)p[i] << 16;
        if (left > 1) x |= (uint32_t)p[i + 1] << 8;
        if (left > 2) x |= p[i + 2];
        char four[4] = {digits[x >> 18], digits[x >> 12 & 63], left > 1 ? digits[x >> 6 & 63] : '=',
                        left > 2 ? digits[x & 63] : '='};
        buf_put(out, four, 4);
    }
}
