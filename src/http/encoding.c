/* Turns encoded bodies into plain ones and back, and bytes into checksums, through libdeflate.
 *
 * Know before editing: how much comes out is not known before, and what a gzip trailer says about
 * it is the sender's word. So the output grows by attempts, each from the start, up to the ceiling
 * and never beyond: a bomb costs the ceiling and no more. */
#include "base/mem.h"
#include "http/http.h"
#include "http/scan.h"

#include <libdeflate.h>
#include <pthread.h>

enum { GZIP_LEVEL = 1 }; /* answers are made while a client waits */

uint32_t http_crc32(span bytes) { return libdeflate_crc32(0, bytes.p, bytes.n); }

static void use_our_memory(void) { libdeflate_set_memory_allocator(mem_alloc, mem_free); }

static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, use_our_memory);
}

/* ---- inflating ---- */

typedef enum libdeflate_result inflate_fn(struct libdeflate_decompressor *d, const void *in,
                                          size_t in_n, void *out, size_t cap, size_t *used,
                                          size_t *made);

/* Any number of gzip members one behind the other, as RFC 1952 has it, or one of the others; all of
 * `in` must be used. */
static enum libdeflate_result inflate_all(struct libdeflate_decompressor *d, inflate_fn *fn,
                                          span in, span out, size_t *made_out)
{
    *made_out = 0;
    do {
        size_t used, made;
        uint8_t *to = (uint8_t *)(uintptr_t)out.p + *made_out;
        enum libdeflate_result r = fn(d, in.p, in.n, to, out.n - *made_out, &used, &made);
        if (r != LIBDEFLATE_SUCCESS) return r;
        *made_out += made;
        in = span_from(in, used);
    } while (in.n && fn == libdeflate_gzip_decompress_ex);
    return in.n ? LIBDEFLATE_BAD_DATA : LIBDEFLATE_SUCCESS;
}

static size_t first_guess(size_t n, size_t max)
{
    size_t guess = n < 256 ? 1024 : n > SIZE_MAX / 4 ? max : n * 4;
    return guess < max ? guess : max;
}

static sheaf_rc grow_until_fits(struct ctx *c, struct libdeflate_decompressor *d, inflate_fn *fn,
                                span body, size_t max, span *plain_out)
{
    struct arena_mark mark = arena_mark(c->arena);
    for (size_t cap = first_guess(body.n, max);; cap = cap < max / 4 ? cap * 4 : max) {
        arena_rewind(c->arena, mark);
        uint8_t *out = arena_bytes(c->arena, cap);
        size_t made;
        if (!out) return err_nomem(c->err);
        enum libdeflate_result r = inflate_all(d, fn, body, SPAN(out, cap), &made);
        *plain_out = SPAN(out, made);
        if (r == LIBDEFLATE_SUCCESS) return SHEAF_OK;
        if (r != LIBDEFLATE_INSUFFICIENT_SPACE)
            return err_set(c->err, SHEAF_SERIALIZATION, "The body does not inflate");
        if (cap == max)
            return err_set(c->err, SHEAF_TOO_LARGE, "The body inflates to more than %zu bytes",
                           max);
    }
}

/* RFC 1950: a method, a window, and a check. */
static bool is_zlib(span s)
{
    const uint8_t *p = s.p;
    return s.n >= 2 && (p[0] & 0x0f) == 8 && p[0] >> 4 <= 7 && (p[0] << 8 | p[1]) % 31 == 0;
}

static sheaf_rc inflate_by(struct ctx *c, bool is_gzip, span body, size_t max, span *plain_out)
{
    prepare();
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d) return err_nomem(c->err);
    inflate_fn *fn = is_gzip         ? libdeflate_gzip_decompress_ex
                     : is_zlib(body) ? libdeflate_zlib_decompress_ex
                                     : libdeflate_deflate_decompress_ex;
    sheaf_rc rc = grow_until_fits(c, d, fn, body, max, plain_out);
    /* Raw bytes may begin like zlib's by chance. */
    if (rc == SHEAF_SERIALIZATION && fn == libdeflate_zlib_decompress_ex)
        rc = grow_until_fits(c, d, libdeflate_deflate_decompress_ex, body, max, plain_out);
    libdeflate_free_decompressor(d);
    return rc;
}

sheaf_rc http_inflate(struct ctx *c, span encoding, span body, size_t max, span *plain_out)
{
    *plain_out = SPAN_NONE;
    span name = scan_trim(encoding);
    if (name.n == 0 || scan_same(name, SPAN_LIT("identity"))) {
        if (body.n > max)
            return err_set(c->err, SHEAF_TOO_LARGE, "The body is more than %zu bytes", max);
        *plain_out = body;
        return SHEAF_OK;
    }
    bool is_gzip = scan_same(name, SPAN_LIT("gzip")) || scan_same(name, SPAN_LIT("x-gzip"));
    if (!is_gzip && !scan_same(name, SPAN_LIT("deflate")))
        return err_set(c->err, SHEAF_UNSUPPORTED, "Content-Encoding %.*s is not known here",
                       SPAN_ARG(name));
    sheaf_rc rc = inflate_by(c, is_gzip, body, max, plain_out);
    if (rc != SHEAF_OK) *plain_out = SPAN_NONE;
    return rc;
}

/* ---- gzip ---- */

sheaf_rc http_gzip(struct ctx *c, span plain, span *gzip_out)
{
    *gzip_out = SPAN_NONE;
    prepare();
    struct libdeflate_compressor *z = libdeflate_alloc_compressor(GZIP_LEVEL);
    if (!z) return err_nomem(c->err);
    size_t most = libdeflate_gzip_compress_bound(z, plain.n);
    uint8_t *out = arena_bytes(c->arena, most);
    size_t n = out ? libdeflate_gzip_compress(z, plain.n ? plain.p : "", plain.n, out, most) : 0;
    libdeflate_free_compressor(z);
    if (n == 0) return err_nomem(c->err);
    *gzip_out = SPAN(out, n);
    return SHEAF_OK;
}

/* Whether the parameters behind a coding (";q=0.5") leave it any weight. */
static bool has_weight(span parameters)
{
    const uint8_t *p = parameters.p, *end = p + parameters.n;
    while (p < end && *p != '=') p++;
    if (p == end) return true;
    for (p++; p < end; p++)
        if (*p >= '1' && *p <= '9') return true;
    return false;
}

bool http_takes_gzip(span accept)
{
    const uint8_t *p = accept.p, *end = p + accept.n;
    bool takes_any = false;
    while (p < end) {
        const uint8_t *comma = memchr(p, ',', (size_t)(end - p));
        if (!comma) comma = end;
        const uint8_t *semicolon = memchr(p, ';', (size_t)(comma - p));
        if (!semicolon) semicolon = comma;
        span coding = scan_trim(SPAN(p, (size_t)(semicolon - p)));
        bool has = has_weight(SPAN(semicolon, (size_t)(comma - semicolon)));
        if (scan_same(coding, SPAN_LIT("gzip")) || scan_same(coding, SPAN_LIT("x-gzip")))
            return has;
        if (span_eq(coding, SPAN_LIT("*"))) takes_any = has;
        p = comma + 1;
    }
    return takes_any;
}
