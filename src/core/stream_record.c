/* Turns changes into records of a stream's log, and rows of the log back into records. The bytes
 * are drawn in stream.h.
 *
 * Know before editing: everything here is format. What can be told from the rest is not stored:
 * keys when there is an image, sizes, the sequence number (the row's stamp) and the event's id. */
#include "core/stream.h"

#include <assert.h>
#include <stdio.h>

__extension__ typedef unsigned __int128 uint128;

/* ---- stamps and their texts ---- */

bool stream_stamp_is_zero(const sheaf_stamp *s)
{
    static const sheaf_stamp zero;
    return stream_stamp_cmp(s, &zero) == 0;
}

static uint128 load(const sheaf_stamp *s)
{
    uint128 x = 0;
    for (int i = 0; i < SHEAF_STAMP_BYTES; i++) x = x << 8 | s->b[i];
    return x;
}

static sheaf_stamp store(uint128 x)
{
    sheaf_stamp s;
    for (int i = SHEAF_STAMP_BYTES - 1; i >= 0; i--, x >>= 8) s.b[i] = (uint8_t)x;
    assert(x == 0);
    return s;
}

#define STAMP_LAST (((uint128)1 << 8 * SHEAF_STAMP_BYTES) - 1)

sheaf_stamp stream_stamp_next(const sheaf_stamp *s)
{
    uint128 x = load(s);
    return x == STAMP_LAST ? *s : store(x + 1);
}

sheaf_stamp stream_stamp_prev(const sheaf_stamp *s)
{
    uint128 x = load(s);
    return x == 0 ? *s : store(x - 1);
}

void stream_sequence_format(const sheaf_stamp *s, char out[STREAM_SEQUENCE_DIGITS])
{
    uint128 x = load(s);
    for (int i = STREAM_SEQUENCE_DIGITS - 1; i > 0; i--, x /= 10) out[i] = (char)('0' + x % 10);
    assert(x == 0); /* 2^96 has 29 digits */
    out[0] = '1';
}

bool stream_sequence_parse(span text, sheaf_stamp *out)
{
    const char *p = text.p;
    uint128 x = 0;
    *out = (sheaf_stamp){{0}};
    if (text.n != STREAM_SEQUENCE_DIGITS || p[0] != '1') return false;
    for (size_t i = 1; i < text.n; i++) {
        if (p[i] < '0' || p[i] > '9') return false;
        x = x * 10 + (unsigned)(p[i] - '0');
    }
    if (x > STAMP_LAST) return false;
    *out = store(x);
    return true;
}

void stream_shard_id(const struct table_stream *s, uint32_t shard, char out[STREAM_SHARD_ID_BYTES])
{
    char text[64];
    assert(shard < STREAM_SHARDS);
    uint32_t first_hash = shard * (UINT32_MAX / STREAM_SHARDS + 1);
    int n = snprintf(text, sizeof text, "shardId-%020llu-%08lx", (unsigned long long)s->created_us,
                     (unsigned long)first_hash);
    assert(n == STREAM_SHARD_ID_BYTES);
    (void)n;
    memcpy(out, text, STREAM_SHARD_ID_BYTES);
}

/* The database has each stamp once; the stream's space goes first. */
static void format_event_id(const struct table_stream *s, const sheaf_stamp *stamp, char *out)
{
    static const char hex[] = "0123456789abcdef";
    uint8_t b[16];
    for (int i = 0; i < 4; i++) b[i] = (uint8_t)(s->space >> (24 - 8 * i));
    memcpy(b + 4, stamp->b, sizeof stamp->b);
    for (size_t i = 0; i < sizeof b; i++) {
        out[2 * i] = hex[b[i] >> 4];
        out[2 * i + 1] = hex[b[i] & 15];
    }
}

/* ---- writing ---- */

static bool wants_new(enum core_stream_view v)
{
    return v == CORE_STREAM_NEW || v == CORE_STREAM_BOTH;
}

static bool wants_old(enum core_stream_view v)
{
    return v == CORE_STREAM_OLD || v == CORE_STREAM_BOTH;
}

static enum core_event event_of(const struct change *change)
{
    if (!change->before.p) return CORE_INSERT;
    return change->after.p ? CORE_MODIFY : CORE_REMOVE;
}

static bool is_no_change(const struct change *change)
{
    if (!change->before.p || !change->after.p) return change->before.p == change->after.p;
    return span_eq(change->before, change->after);
}

static void put_number(struct vb *b, span name, int64_t i)
{
    struct num n;
    num_from_i64(i, &n);
    vb_name(b, name);
    vb_n(b, &n);
}

static void put_image(struct vb *b, span name, span image)
{
    if (!image.p) return;
    vb_name(b, name);
    vb_b(b, image);
}

static sheaf_rc encode(struct ctx *c, const struct change *change, enum core_stream_view view,
                       span *value_out)
{
    enum { FRAME = 256 };
    span new_image = wants_new(view) ? change->after : SPAN_NONE;
    span old_image = wants_old(view) ? change->before : SPAN_NONE;
    span keys = SPAN_NONE;
    val any = item_map(change->after.p ? change->after : change->before);
    if (!new_image.p && !old_image.p) TRY(table_key_item(c, change->table, NULL, any, &keys));
    struct vb b;
    vb_init(&b, c, keys.n + new_image.n + old_image.n + FRAME);
    vb_map_begin(&b);
    put_number(&b, SPAN_LIT("e"), (int64_t)event_of(change));
    put_image(&b, SPAN_LIT("k"), keys);
    put_image(&b, SPAN_LIT("n"), new_image);
    put_image(&b, SPAN_LIT("o"), old_image);
    put_number(&b, SPAN_LIT("t"), change->now_us);
    if (change->is_ttl) {
        vb_name(&b, SPAN_LIT("x"));
        vb_bool(&b, true);
    }
    vb_end(&b);
    return vb_finish_item(&b, value_out);
}

sheaf_rc stream_append(struct core *core, struct ctx *c, sheaf_txn *txn,
                       const struct change *change)
{
    (void)core;
    const struct table_stream *s = table_stream(change->table);
    span value;
    if (!s || is_no_change(change)) return SHEAF_OK;
    assert(s->view != CORE_STREAM_NONE);
    TRY(encode(c, change, s->view, &value));
    sheaf_place shard = row_shard_place(s, row_shard_of(&change->key.p));
    return eng_append(txn, &shard, value, c->err);
}

/* ---- reading ---- */

static sheaf_rc corrupt(sheaf_error *err, const char *what)
{
    return err_set(err, SHEAF_CORRUPT, "a stream record is damaged: %s", what);
}

static bool get_number(val record, span name, int64_t *out)
{
    val v = val_find(record, name);
    struct num n;
    if (val_type(v) != VAL_N) return false;
    val_num(v, &n);
    return num_to_i64(&n, out);
}

sheaf_rc stream_created(const struct sheaf_row *row, int64_t *us_out, sheaf_error *err)
{
    *us_out = 0;
    if (row->key.s.n != SHEAF_STAMP_BYTES) return corrupt(err, "its key is no stamp");
    TRY(item_check(row->value, err));
    if (!get_number(item_map(row->value), SPAN_LIT("t"), us_out)) return corrupt(err, "no time");
    return SHEAF_OK;
}

/* An encoded item of this table inside the record; p == NULL when there is none. */
static sheaf_rc get_image(const struct table *t, val record, span name, span *out, sheaf_error *err)
{
    val v = val_find(record, name);
    *out = SPAN_NONE;
    if (val_is_absent(v)) return SHEAF_OK;
    if (val_type(v) != VAL_B) return corrupt(err, "an image is no item");
    span image = val_bytes(v);
    TRY(item_check(image, err));
    val item = item_map(image);
    if (val_type(table_hash_of(t, item)) != t->hash.type ||
        (t->has_range && val_type(table_range_of(t, item)) != t->range.type))
        return corrupt(err, "an image lacks the table's key");
    *out = image;
    return SHEAF_OK;
}

static sheaf_rc put_texts(struct ctx *c, const struct table_stream *s, span stamp,
                          struct core_record *out)
{
    char *text = (char *)arena_bytes(c->arena, STREAM_SEQUENCE_DIGITS + STREAM_EVENT_ID_DIGITS);
    if (!text) return err_nomem(c->err);
    sheaf_stamp at;
    memcpy(at.b, stamp.p, sizeof at.b);
    stream_sequence_format(&at, text);
    format_event_id(s, &at, text + STREAM_SEQUENCE_DIGITS);
    out->sequence = SPAN(text, STREAM_SEQUENCE_DIGITS);
    out->id = SPAN(text + STREAM_SEQUENCE_DIGITS, STREAM_EVENT_ID_DIGITS);
    return SHEAF_OK;
}

sheaf_rc stream_decode(struct ctx *c, const struct table *t, const struct table_stream *s,
                       const struct sheaf_row *row, struct core_record *out)
{
    int64_t event, created_us;
    *out = (struct core_record){.event = CORE_INSERT};
    TRY(stream_created(row, &created_us, c->err));
    val record = item_map(row->value);
    if (!get_number(record, SPAN_LIT("e"), &event) || event < CORE_INSERT || event > CORE_REMOVE)
        return corrupt(c->err, "no event");
    TRY(get_image(t, record, SPAN_LIT("k"), &out->keys, c->err));
    TRY(get_image(t, record, SPAN_LIT("n"), &out->new_image, c->err));
    TRY(get_image(t, record, SPAN_LIT("o"), &out->old_image, c->err));
    span any = out->new_image.p ? out->new_image : out->old_image;
    if (!out->keys.p && !any.p) return corrupt(c->err, "no key");
    if (!out->keys.p) TRY(table_key_item(c, t, NULL, item_map(any), &out->keys));
    val by_ttl = val_find(record, SPAN_LIT("x"));
    out->event = (enum core_event)event;
    out->created_us = created_us;
    out->is_ttl = val_type(by_ttl) == VAL_BOOL && val_bool(by_ttl);
    out->size = item_size(out->keys);
    if (out->new_image.p) out->size += item_size(out->new_image);
    if (out->old_image.p) out->size += item_size(out->old_image);
    return put_texts(c, s, row->key.s, out);
}

/* ---- the mark ---- */

sheaf_rc stream_mark_encode(struct ctx *c, const sheaf_stamp *s, span *value_out)
{
    struct vb b;
    vb_init(&b, c, 64);
    vb_map_begin(&b);
    vb_name(&b, SPAN_LIT("t"));
    vb_b(&b, SPAN(s->b, sizeof s->b));
    vb_end(&b);
    return vb_finish_item(&b, value_out);
}

sheaf_rc stream_mark_decode(span value, sheaf_stamp *out, sheaf_error *err)
{
    *out = (sheaf_stamp){{0}};
    if (!value.p) return SHEAF_OK;
    TRY(item_check(value, err));
    val v = val_find(item_map(value), SPAN_LIT("t"));
    if (val_type(v) != VAL_B || val_bytes(v).n != sizeof out->b)
        return err_set(err, SHEAF_CORRUPT, "the mark of a shard is damaged");
    memcpy(out->b, val_bytes(v).p, sizeof out->b);
    return SHEAF_OK;
}
