/* Turns chunks into the bytes they carry.
 *
 *   5;name=value CRLF   size line: 1 to 16 hex digits, extensions are skipped
 *   hello CRLF          data
 *   0 CRLF              the last chunk
 *   name: value CRLF    trailers, skipped: nothing they say is trusted
 *   CRLF
 *
 * Know before editing: framing costs the sender little and the reader much, so it is bounded by the
 * line, by the trailers, and by its share of the body (a body of one-byte chunks is refused). */
#include "http/body.h"

#include "http/scan.h"

enum { SIZE, EXTENSION, SIZE_LF, DATA, DATA_CR, DATA_LF, TRAILER, TRAILER_LF, TRAILERS_LF };

static enum chunked_verdict refuse(struct chunked *c, int status, const char *why)
{
    c->status = status;
    c->why = why;
    return CHUNKED_REFUSED;
}

static int hex(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_text(uint8_t c) { return (c >= 0x20 && c != 0x7f) || c == '\t'; }

static enum chunked_verdict size_byte(struct chunked *c, uint8_t byte)
{
    int digit = hex(byte);
    if (digit >= 0) {
        c->has_digit = true;
        if (c->line > 16) return refuse(c, 400, "a chunk's size is out of range");
        c->left = c->left << 4 | (unsigned)digit;
        return CHUNKED_MORE;
    }
    if (!c->has_digit || (byte != ';' && byte != '\r'))
        return refuse(c, 400, "a chunk does not begin with its size");
    c->state = byte == ';' ? EXTENSION : SIZE_LF;
    return CHUNKED_MORE;
}

/* The size line is whole. */
static enum chunked_verdict begin_chunk(struct chunked *c)
{
    if (c->left > c->max || c->data > c->max - c->left)
        return refuse(c, 413, "the body is too large");
    c->data += c->left;
    c->state = c->left ? DATA : TRAILER;
    c->line = 0;
    c->has_digit = c->has_colon = false;
    return CHUNKED_MORE;
}

/* Trailers are thrown away, but must look like headers: what is skipped here might be read as a
 * request by someone else. */
static enum chunked_verdict trailer_byte(struct chunked *c, uint8_t byte)
{
    if (++c->trailer > CHUNK_TRAILER_MAX) return refuse(c, 431, "the trailers are too long");
    if (byte == '\r' && (c->line == 1 || c->has_colon)) {
        c->state = c->line == 1 ? TRAILERS_LF : TRAILER_LF;
        return CHUNKED_MORE;
    }
    if (byte == ':' && c->line > 1) c->has_colon = true;
    if (c->has_colon ? is_text(byte) : scan_is_token(byte)) return CHUNKED_MORE;
    return refuse(c, 400, "a trailer is not a name and a colon");
}

static enum chunked_verdict framing_byte(struct chunked *c, uint8_t byte)
{
    c->line++;
    switch (c->state) {
    case SIZE:
        return size_byte(c, byte);
    case EXTENSION:
        if (byte == '\r')
            c->state = SIZE_LF;
        else if (!is_text(byte))
            return refuse(c, 400, "a control byte in a chunk's extension");
        else if (c->line > CHUNK_LINE_MAX)
            return refuse(c, 400, "a chunk's extensions are too long");
        return CHUNKED_MORE;
    case SIZE_LF:
        return byte == '\n' ? begin_chunk(c)
                            : refuse(c, 400, "a chunk's size line ends in no CRLF");
    case DATA_CR:
        c->state = DATA_LF;
        return byte == '\r' ? CHUNKED_MORE : refuse(c, 400, "a chunk is longer than its size");
    case DATA_LF:
        c->state = SIZE;
        c->line = 0;
        return byte == '\n' ? CHUNKED_MORE : refuse(c, 400, "a chunk ends in no CRLF");
    case TRAILER:
        return trailer_byte(c, byte);
    case TRAILER_LF:
        c->state = TRAILER;
        c->line = 0;
        c->has_colon = false;
        return byte == '\n' ? CHUNKED_MORE : refuse(c, 400, "a trailer ends in no CRLF");
    default:
        return byte == '\n' ? CHUNKED_DONE : refuse(c, 400, "the trailers end in no CRLF");
    }
}

static bool is_wasteful(const struct chunked *c)
{
    return c->overhead > CHUNK_OVERHEAD && (c->overhead - CHUNK_OVERHEAD) / CHUNK_RATIO > c->data;
}

enum chunked_verdict chunked_take(struct chunked *c, span *in, span *data_out)
{
    *data_out = SPAN_NONE;
    while (in->n) {
        if (c->state == DATA) {
            size_t n = in->n < c->left ? in->n : (size_t)c->left;
            *data_out = SPAN(in->p, n);
            *in = span_from(*in, n);
            c->left -= n;
            if (c->left == 0) c->state = DATA_CR;
            return CHUNKED_MORE;
        }
        uint8_t byte = *(const uint8_t *)in->p;
        c->overhead++;
        enum chunked_verdict v = framing_byte(c, byte);
        if (v == CHUNKED_REFUSED) return v;
        *in = span_from(*in, 1);
        if (v == CHUNKED_DONE) return v;
        if (is_wasteful(c)) return refuse(c, 400, "the chunks are too small for their framing");
    }
    return CHUNKED_MORE;
}
