/* Page tokens: the start key of the next page, as text that may travel through URLs and outlive the
 * process.
 *
 *   base64url, no padding, of:
 *     01                      version
 *     for each key attribute of the table, then of the index (each once):
 *       type (1 = S, 2 = N, 3 = B)   length, 2 bytes, big endian   bytes
 *     tag, 16 bytes           SipHash-2-4-128 under the table's token key of
 *                             everything before it and the query it belongs to
 *
 * Know before editing: the tag covers table, index, key condition and direction, so that a token of
 * another query is refused, and so is one that was changed. */
#include "mapper/plan.h"

#include "base/base64.h"

enum { VERSION = 1, TAG = 16 };

/* ---- the keyed hash ---- */

static uint64_t rotl(uint64_t x, unsigned n) { return x << n | x >> (64 - n); }

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[0] = rotl(v[0], 32);
    v[2] += v[3];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[2] = rotl(v[2], 32);
}

static uint64_t little(const uint8_t *p, size_t n)
{
    uint64_t x = 0;
    for (size_t i = 0; i < n; i++) x |= (uint64_t)p[i] << (8 * i);
    return x;
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

static void squeeze(uint64_t v[4], uint64_t mark, uint8_t out[8])
{
    v[mark == 0xee ? 2 : 1] ^= mark;
    for (int i = 0; i < 4; i++) sip_round(v);
    uint64_t x = v[0] ^ v[1] ^ v[2] ^ v[3];
    for (int i = 0; i < 8; i++) out[i] = (uint8_t)(x >> (8 * i));
}

void siphash128(const uint8_t key[16], span text, uint8_t out[16])
{
    uint64_t k0 = little(key, 8), k1 = little(key + 8, 8);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee,
                     k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};
    const uint8_t *p = text.p;
    size_t n = text.n;
    for (; n >= 8; n -= 8, p += 8) absorb(v, little(p, 8));
    absorb(v, little(p, n) | (uint64_t)text.n << 56);
    squeeze(v, 0xee, out);
    squeeze(v, 0xdd, out + 8);
}

/* ---- what it is bound to ---- */

static void put_bound(struct buf *b, span s)
{
    uint8_t n[4] = {(uint8_t)(s.n >> 24), (uint8_t)(s.n >> 16), (uint8_t)(s.n >> 8), (uint8_t)s.n};
    buf_put(b, n, sizeof n);
    buf_put_span(b, s);
}

static sheaf_rc make_tag(struct arena *arena, const sheaf_map *map, const struct token_query *q,
                         span payload, sheaf_error *err, uint8_t tag[TAG])
{
    struct buf b;
    buf_init(&b, arena, 1 << 20);
    put_bound(&b, payload);
    put_bound(&b, span_cstr(map->table.name));
    put_bound(&b, span_cstr(q->index->name ? q->index->name : ""));
    put_bound(&b, q->condition);
    buf_put_u8(&b, q->is_backward);
    if (b.failed) {
        buf_deinit(&b);
        return err_nomem(err);
    }
    siphash128(map->token_key, buf_span(&b), tag);
    buf_deinit(&b);
    return SHEAF_OK;
}

/* ---- key attributes, each once ---- */

struct attrs {
    const char *names[10];
    size_t n;
};

static void add_attr(struct attrs *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->names[i], name) == 0) return;
    a->names[a->n++] = name;
}

static void add_keys(struct attrs *a, const struct map_index *x)
{
    for (uint32_t i = 0; i < x->n_partition_key; i++) add_attr(a, x->partition_key[i]);
    for (uint32_t i = 0; i < x->n_sort_key; i++) add_attr(a, x->sort_key[i]);
}

static void key_attrs(const sheaf_map *map, const struct token_query *q, struct attrs *out)
{
    out->n = 0;
    add_keys(out, &map->indexes[0]);
    add_keys(out, q->index);
}

/* ---- writing ---- */

static sheaf_rc put_attr(const sheaf_item *item, const char *name, sheaf_error *err, struct buf *b)
{
    sheaf_value v;
    bool is_scalar = sheaf_item_get(item, name, &v) && v.type >= SHEAF_S && v.type <= SHEAF_B;
    sheaf_str s = is_scalar ? sheaf_value_str(&v) : (sheaf_str){NULL, 0};
    if (!s.p || s.n > UINT16_MAX)
        return err_validation(err, "A page token needs the key attribute %s, which the item lacks",
                              name);
    uint8_t head[3] = {(uint8_t)v.type, (uint8_t)(s.n >> 8), (uint8_t)s.n};
    buf_put(b, head, sizeof head);
    buf_put(b, s.p, s.n);
    return SHEAF_OK;
}

static void put_url_safe(struct buf *out, span bytes)
{
    size_t begin = out->n;
    base64_put(out, bytes);
    for (size_t i = begin; i < out->n && !out->failed; i++) {
        if (out->p[i] == '+') out->p[i] = '-';
        if (out->p[i] == '/') out->p[i] = '_';
    }
    while (out->n > begin && out->p[out->n - 1] == '=') out->n--;
    buf_put_u8(out, '\0');
}

sheaf_rc token_put(const sheaf_map *map, const struct token_query *q, const sheaf_item *last,
                   sheaf_error *err, struct buf *out)
{
    struct attrs attrs;
    struct buf b;
    sheaf_rc rc = SHEAF_OK;
    uint8_t tag[TAG];
    key_attrs(map, q, &attrs);
    buf_init(&b, NULL, TOKEN_TEXT_MAX);
    buf_put_u8(&b, VERSION);
    for (size_t i = 0; i < attrs.n; i++) TRY_OUT(put_attr(last, attrs.names[i], err, &b));
    if (!b.failed) TRY_OUT(make_tag(NULL, map, q, buf_span(&b), err, tag));
    if (!b.failed) buf_put(&b, tag, TAG);
    if (!b.failed) put_url_safe(out, buf_span(&b));
    if (b.failed || out->failed) rc = err_nomem(err);
out:
    buf_deinit(&b);
    return rc;
}

/* ---- reading ---- */

static sheaf_rc refuse(struct ctx *c, const char *why)
{
    return err_validation(c->err, "The page token %s", why);
}

static sheaf_rc get_bytes(struct ctx *c, const char *text, span *out)
{
    size_t n = strlen(text), padded = (n + 3) / 4 * 4;
    if (n > TOKEN_TEXT_MAX) return refuse(c, "is too long");
    uint8_t *p = arena_bytes(c->arena, padded + 4), *bytes = arena_bytes(c->arena, padded + 4);
    if (!p || !bytes) return err_nomem(c->err);
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)(text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i]);
        if (text[i] == '+' || text[i] == '/') return refuse(c, "is not one of ours");
    }
    memset(p + n, '=', padded - n);
    if (base64_get(SPAN(p, padded), bytes, &out->n) != BASE64_OK)
        return refuse(c, "is not one of ours");
    out->p = bytes;
    return SHEAF_OK;
}

static bool get_attr(struct arena *arena, span *left, sheaf_value *out)
{
    const uint8_t *p = left->p;
    if (left->n < 3 || p[0] < SHEAF_S || p[0] > SHEAF_B) return false;
    size_t n = (size_t)(p[1] << 8 | p[2]);
    if (left->n < n + 3) return false;
    uint8_t *text = arena_bytes(arena, n + 1);
    if (!text) return false;
    memcpy(text, p + 3, n);
    text[n] = '\0';
    *out = sheaf_make_((sheaf_type)p[0], text, n);
    *left = span_from(*left, n + 3);
    return true;
}

static bool same_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
    uint8_t d = 0; /* in the same time whatever differs */
    for (size_t i = 0; i < n; i++) d |= a[i] ^ b[i];
    return d == 0;
}

sheaf_rc token_get(struct ctx *c, const sheaf_map *map, const struct token_query *q,
                   const char *text, sheaf_item *start_out)
{
    struct attrs names;
    span all;
    uint8_t tag[TAG];
    TRY(get_bytes(c, text, &all));
    const uint8_t *p = all.p;
    if (all.n < 1 + TAG) return refuse(c, "is cut off");
    if (p[0] != VERSION) return refuse(c, "is of another version of Sheaf");
    span payload = SPAN(p, all.n - TAG);
    TRY(make_tag(c->arena, map, q, payload, c->err, tag));
    if (!same_bytes(tag, p + payload.n, TAG))
        return refuse(c, "belongs to another query, or was changed");
    key_attrs(map, q, &names);
    sheaf_attr *attrs = ARENA_ARRAY(c->arena, sheaf_attr, names.n);
    if (!attrs) return err_nomem(c->err);
    span left = span_from(payload, 1);
    for (size_t i = 0; i < names.n; i++) {
        attrs[i].name = names.names[i];
        if (!get_attr(c->arena, &left, &attrs[i].value)) return refuse(c, "is not one of ours");
    }
    *start_out = (sheaf_item){attrs, names.n, NULL};
    return left.n == 0 ? SHEAF_OK : refuse(c, "is not one of ours");
}
