/* Turns a request into the text that both sides sign.
 *
 * Know before editing: every byte here is part of a protocol. A path is normalised and then encoded
 * as it stands, so that a '%' becomes "%25" (only S3 does without that second encoding); a query's
 * names and values are decoded before they are encoded, so that each has one spelling. */
#include "auth/canonical.h"

/* ---- text ---- */

static bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

span sig_trim(span s)
{
    if (s.n == 0) return SPAN("", 0);
    const uint8_t *p = s.p, *end = p + s.n;
    while (p < end && is_space(*p)) p++;
    while (end > p && is_space(end[-1])) end--;
    return SPAN(p, (size_t)(end - p));
}

span sig_lower(struct arena *arena, span name)
{
    uint8_t *to = arena_bytes(arena, name.n);
    if (!to) return SPAN_NONE;
    const uint8_t *p = name.p;
    for (size_t i = 0; i < name.n; i++)
        to[i] = (uint8_t)(p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]);
    return SPAN(to, name.n);
}

/* Every run of white space becomes one space; the ends lose theirs. */
static void put_collapsed(struct buf *b, span s)
{
    s = sig_trim(s);
    const uint8_t *p = s.p;
    uint8_t *to = buf_room(b, s.n);
    if (!to) return;
    size_t n = 0;
    bool was_space = false;
    for (size_t i = 0; i < s.n; i++) { /* without branches: it sees every byte of the head */
        bool is_blank = is_space(p[i]);
        to[n] = is_blank ? ' ' : p[i];
        n += !(is_blank & was_space);
        was_space = is_blank;
    }
    b->n += n;
}

static bool is_unreserved(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

static void put_encoded(struct buf *b, uint8_t c)
{
    static const char digits[] = "0123456789ABCDEF";
    if (is_unreserved(c)) {
        buf_put_u8(b, c);
        return;
    }
    const char text[3] = {'%', digits[c >> 4], digits[c & 15]};
    buf_put(b, text, 3);
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c = (uint8_t)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decoded, then encoded. A '%' that begins no escape stands for itself. */
static void put_recoded(struct buf *b, span s)
{
    const uint8_t *p = s.p;
    for (size_t i = 0; i < s.n; i++) {
        int high = p[i] == '%' && s.n - i > 2 ? hex_digit(p[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(p[i + 2]) : -1;
        put_encoded(b, (uint8_t)(low >= 0 ? high << 4 | low : p[i]));
        if (low >= 0) i += 2;
    }
}

/* ---- order ---- */

static int compare(const struct sig_pair *a, const struct sig_pair *b, bool by_value)
{
    int c = span_cmp(a->name, b->name);
    return c || !by_value ? c : span_cmp(a->value, b->value);
}

/* Merges [from, middle) and [middle, to) of `in` into `out`, keeping the order of equals. */
static void merge(const struct sig_pair *in, struct sig_pair *out, const size_t at[3],
                  bool by_value)
{
    size_t left = at[0], right = at[1];
    for (size_t i = at[0]; i < at[2]; i++) {
        bool is_left =
            right == at[2] || (left < at[1] && compare(&in[left], &in[right], by_value) <= 0);
        out[i] = in[is_left ? left++ : right++];
    }
}

/* Bottom-up merge sort: a query of thousands of parameters is sorted before anyone is known. */
static void merge_sort(struct sig_pair *pairs, struct sig_pair *other, size_t n, bool by_value)
{
    struct sig_pair *in = pairs, *out = other;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t middle = i + width < n ? i + width : n,
                   end = middle + width < n ? middle + width : n;
            merge(in, out, (size_t[3]){i, middle, end}, by_value);
        }
        struct sig_pair *swap = in;
        in = out;
        out = swap;
    }
    if (in != pairs) memcpy(pairs, in, n * sizeof *pairs);
}

bool sig_sort(struct arena *arena, struct sig_pair *pairs, size_t n, bool by_value)
{
    size_t i = 1;
    while (i < n && compare(&pairs[i - 1], &pairs[i], by_value) <= 0) i++;
    if (i >= n) return true; /* most requests come sorted */
    struct sig_pair *other = ARENA_ARRAY(arena, struct sig_pair, n);
    if (!other) return false;
    merge_sort(pairs, other, n, by_value);
    return true;
}

/* ---- path and query ---- */

/* Takes the next part before `separator` off *rest; false when nothing is left. */
static bool take_part(span *rest, uint8_t separator, span *part_out)
{
    if (!rest->p) return false;
    const uint8_t *at = rest->n ? memchr(rest->p, separator, rest->n) : NULL;
    size_t n = at ? (size_t)(at - (const uint8_t *)rest->p) : rest->n;
    *part_out = SPAN(rest->p, n);
    *rest = at ? span_from(*rest, n + 1) : SPAN_NONE;
    return true;
}

/* Takes the last segment off what was written since `start`. */
static void drop_segment(struct buf *b, size_t start)
{
    while (b->n > start && b->p[b->n - 1] != '/') b->n--;
    if (b->n > start) b->n--;
}

static void put_path(struct buf *b, span path)
{
    if (path.n == 0 || (path.n == 1 && *(const char *)path.p == '/')) {
        buf_put_u8(b, '/');
        return;
    }
    const char *p = path.p;
    bool is_folder = p[path.n - 1] == '/';
    if (p[0] == '/') buf_put_u8(b, '/');
    size_t start = b->n;
    for (span part; take_part(&path, '/', &part);) {
        if (part.n == 0 || span_eq(part, SPAN_LIT("."))) continue;
        if (span_eq(part, SPAN_LIT(".."))) {
            drop_segment(b, start);
            continue;
        }
        if (b->n > start) buf_put_u8(b, '/');
        for (size_t i = 0; i < part.n; i++) put_encoded(b, ((const uint8_t *)part.p)[i]);
    }
    if (is_folder && b->n > start) buf_put_u8(b, '/');
}

/* Encodes into the arena; p == NULL when that is full. */
static span recode(struct arena *arena, span s)
{
    struct buf b;
    buf_init(&b, arena, 3 * s.n + 1);
    buf_room(&b, 3 * s.n + 1);
    put_recoded(&b, s);
    return b.failed ? SPAN_NONE : buf_span(&b);
}

static sheaf_rc put_query(struct ctx *c, struct buf *b, span query)
{
    if (query.n == 0) return SHEAF_OK;
    size_t n = 1, used = 0;
    for (size_t i = 0; i < query.n; i++) n += ((const uint8_t *)query.p)[i] == '&';
    struct sig_pair *pairs = ARENA_ARRAY(c->arena, struct sig_pair, n);
    if (!pairs) return err_nomem(c->err);
    for (span part; take_part(&query, '&', &part);) {
        if (part.n == 0) continue;
        span name, value = part;
        take_part(&value, '=', &name);
        struct sig_pair *to = &pairs[used++];
        *to = (struct sig_pair){recode(c->arena, name), recode(c->arena, value)};
        if (!to->name.p || !to->value.p) return err_nomem(c->err);
    }
    if (!sig_sort(c->arena, pairs, used, true)) return err_nomem(c->err);
    for (size_t i = 0; i < used; i++) {
        if (i) buf_put_u8(b, '&');
        buf_put_span(b, pairs[i].name);
        buf_put_u8(b, '=');
        buf_put_span(b, pairs[i].value);
    }
    return SHEAF_OK;
}

/* ---- the whole ---- */

static void put_headers(struct buf *b, const struct sig_pair *headers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool is_again = i > 0 && span_eq(headers[i].name, headers[i - 1].name);
        if (is_again)
            b->n -= !b->failed; /* the line goes on: its newline comes off */
        else
            buf_put_span(b, headers[i].name);
        buf_put_u8(b, is_again ? ',' : ':');
        put_collapsed(b, headers[i].value);
        buf_put_u8(b, '\n');
    }
}

void sig_put_names(struct buf *b, const struct sig_pair *headers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i && span_eq(headers[i].name, headers[i - 1].name)) continue;
        if (i) buf_put_u8(b, ';');
        buf_put_span(b, headers[i].name);
    }
}

static size_t room_for(const struct sig_input *in)
{
    size_t n = in->method.n + 3 * in->path.n + 3 * in->query.n + 2 * SIG_HEX;
    for (size_t i = 0; i < in->n_headers; i++)
        n += 2 * in->headers[i].name.n + in->headers[i].value.n + 3;
    return n;
}

sheaf_rc sig_canonical(struct ctx *c, const struct sig_input *in, span *text_out)
{
    *text_out = SPAN_NONE;
    struct buf b;
    buf_init(&b, c->arena, SIZE_MAX / 4); /* the arena is the ceiling */
    if (!buf_room(&b, room_for(in))) return err_nomem(c->err);
    buf_put_span(&b, in->method);
    buf_put_u8(&b, '\n');
    put_path(&b, in->path);
    buf_put_u8(&b, '\n');
    TRY(put_query(c, &b, in->query));
    buf_put_u8(&b, '\n');
    put_headers(&b, in->headers, in->n_headers);
    buf_put_u8(&b, '\n');
    sig_put_names(&b, in->headers, in->n_headers);
    buf_put_u8(&b, '\n');
    buf_put(&b, in->payload, SIG_HEX);
    if (b.failed) return err_nomem(c->err);
    *text_out = buf_span(&b);
    return SHEAF_OK;
}

sheaf_rc sig_string_to_sign(struct ctx *c, const struct sig_input *in, span *text_out)
{
    *text_out = SPAN_NONE;
    span canonical;
    uint8_t hash[SIG_HASH];
    char hex[SIG_HEX];
    TRY(sig_canonical(c, in, &canonical));
    TRY(sig_sha256(c->err, canonical, hash));
    sig_hex(hash, hex);

    struct buf b;
    buf_init(&b, c->arena, 256 + SIG_REGION_MAX);
    buf_room(&b, 256);
    buf_put(&b, "AWS4-HMAC-SHA256\n", 17);
    buf_put_span(&b, in->stamp);
    buf_put_u8(&b, '\n');
    buf_put(&b, in->stamp.p, SIG_DAY);
    buf_put_u8(&b, '/');
    buf_put_span(&b, in->region);
    buf_put(&b, "/dynamodb/aws4_request\n", 23);
    buf_put(&b, hex, SIG_HEX);
    if (b.failed) return err_nomem(c->err);
    *text_out = buf_span(&b);
    return SHEAF_OK;
}
