/* Turns a place in a shard into opaque text and back.
 *
 * THE BYTES, printed as lower-case hex
 *      | 01 | shard | space, 8 | after, 12 | made, 8 | tag, 8 | name of the table |
 *
 * Numbers are big-endian. The tag is a keyed hash of everything else, so that a text that was made
 * up or changed is refused. Know before editing: the hash is not made to be shown to strangers, so
 * what is shown is a hash of its hash, and half of it. */
#include "core/stream.h"

#include <assert.h>

enum {
    VERSION = 1,
    AT_SHARD = 1,
    AT_SPACE = 2,
    AT_AFTER = 10,
    AT_MADE = 22,
    AT_TAG = 30,
    TAG_BYTES = 8,
    AT_NAME = AT_TAG + TAG_BYTES,
    NAME_MAX_BYTES = 255,
    BYTES_MAX = AT_NAME + NAME_MAX_BYTES
};

static void make_tag(const struct key_secret *secret, const uint8_t *b, size_t n,
                     uint8_t out[TAG_BYTES])
{
    uint8_t inner[KEY_HASH_BYTES], outer[KEY_HASH_BYTES];
    const span all[2] = {SPAN(b, AT_TAG), SPAN(b + AT_NAME, n - AT_NAME)};
    key_digest(secret, 2, all, inner);
    const span again[2] = {SPAN_LIT("iterator"), SPAN(inner, sizeof inner)};
    key_digest(secret, 2, again, outer);
    memcpy(out, outer, TAG_BYTES);
}

static uint64_t load_be(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x = x << 8 | p[i];
    return x;
}

sheaf_rc stream_iterator_format(struct ctx *c, const struct key_secret *secret,
                                const struct stream_iterator *it, span *text_out)
{
    static const char hex[] = "0123456789abcdef";
    uint8_t b[BYTES_MAX];
    size_t n = AT_NAME + it->table.n;
    assert(it->table.n <= NAME_MAX_BYTES && it->shard < STREAM_SHARDS);
    b[0] = VERSION;
    b[AT_SHARD] = (uint8_t)it->shard;
    cat_number_bytes(it->space, b + AT_SPACE);
    memcpy(b + AT_AFTER, it->after.b, sizeof it->after.b);
    cat_number_bytes((uint64_t)it->made_us, b + AT_MADE);
    memcpy(b + AT_NAME, it->table.p, it->table.n);
    make_tag(secret, b, n, b + AT_TAG);
    uint8_t *text = arena_bytes(c->arena, 2 * n);
    *text_out = SPAN_NONE;
    if (!text) return err_nomem(c->err);
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = (uint8_t)hex[b[i] >> 4];
        text[2 * i + 1] = (uint8_t)hex[b[i] & 15];
    }
    *text_out = SPAN(text, 2 * n);
    return SHEAF_OK;
}

static int digit(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number of bytes; 0 when the text is not their hex. */
static size_t from_hex(span text, uint8_t out[BYTES_MAX])
{
    const uint8_t *p = text.p;
    if (text.n % 2 || text.n > 2 * (size_t)BYTES_MAX || text.n < 2 * (size_t)AT_NAME) return 0;
    for (size_t i = 0; i < text.n / 2; i++) {
        int hi = digit(p[2 * i]), lo = digit(p[2 * i + 1]);
        if (hi < 0 || lo < 0) return 0;
        out[i] = (uint8_t)(hi << 4 | lo);
    }
    return text.n / 2;
}

sheaf_rc stream_iterator_parse(struct ctx *c, const struct key_secret *secret, span text,
                               struct stream_iterator *out)
{
    uint8_t b[BYTES_MAX], tag[TAG_BYTES];
    *out = (struct stream_iterator){.table = SPAN_NONE};
    size_t n = from_hex(text, b);
    if (n == 0 || b[0] != VERSION || b[AT_SHARD] >= STREAM_SHARDS)
        return err_validation(c->err, "Invalid ShardIterator");
    make_tag(secret, b, n, tag);
    if (memcmp(tag, b + AT_TAG, TAG_BYTES) != 0)
        return err_validation(c->err, "Invalid ShardIterator");
    out->table = arena_dup(c->arena, SPAN(b + AT_NAME, n - AT_NAME));
    if (!out->table.p) return err_nomem(c->err);
    out->space = load_be(b + AT_SPACE);
    out->shard = b[AT_SHARD];
    memcpy(out->after.b, b + AT_AFTER, sizeof out->after.b);
    out->made_us = (int64_t)load_be(b + AT_MADE);
    return SHEAF_OK;
}

sheaf_rc core_iterator_table(struct core *core, struct ctx *c, span iterator, span *table_out)
{
    struct stream_iterator it;
    sheaf_rc rc = stream_iterator_parse(c, core_secret(core), iterator, &it);
    *table_out = it.table;
    return rc;
}
