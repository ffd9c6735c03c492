/* Turns the body of an answer, as received, into plain JSON: checksum, then gzip. Know before
 * editing: x-amz-crc32 is of the bytes on the wire, before inflating. */
#include "client/wire.h"

#include <libdeflate.h>

/* What the gzip trailer says it inflates to, which is the sender's word: bounded, and grown when it
 * was too little. */
static size_t first_guess(span gzip)
{
    const uint8_t *p = (const uint8_t *)gzip.p + gzip.n - 4;
    size_t n = (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
    return n < 64 ? 64 : n < CLIENT_BODY_MAX ? n : CLIENT_BODY_MAX;
}

static sheaf_rc inflate(struct ctx *c, struct libdeflate_decompressor *d, span gzip,
                        span *plain_out)
{
    struct arena_mark mark = arena_mark(c->arena);
    for (size_t cap = first_guess(gzip);;
         cap = cap < CLIENT_BODY_MAX / 4 ? cap * 4 : CLIENT_BODY_MAX) {
        size_t made = 0;
        arena_rewind(c->arena, mark);
        uint8_t *out = arena_bytes(c->arena, cap);
        if (!out) return err_nomem(c->err);
        enum libdeflate_result r = libdeflate_gzip_decompress(d, gzip.p, gzip.n, out, cap, &made);
        *plain_out = SPAN(out, made);
        if (r == LIBDEFLATE_SUCCESS) return SHEAF_OK;
        if (r != LIBDEFLATE_INSUFFICIENT_SPACE || cap == CLIENT_BODY_MAX)
            return err_set(c->err, SHEAF_INTERNAL, "The server's answer does not inflate");
    }
}

sheaf_rc client_plain_body(struct ctx *c, const struct client_answer *a, span *plain_out)
{
    *plain_out = a->body;
    if (a->has_crc && libdeflate_crc32(0, a->body.p, a->body.n) != a->crc)
        return err_set(c->err, SHEAF_INTERNAL,
                       "The server's answer came damaged: its checksum is another");
    if (!a->is_gzip || a->body.n < 18) return SHEAF_OK; /* gzip's head and trailer */
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d) return err_nomem(c->err);
    sheaf_rc rc = inflate(c, d, a->body, plain_out);
    libdeflate_free_decompressor(d);
    return rc;
}
