/* Turns the rows of a stream into complaints.
 *
 * What must hold
 *  row     lies in one of the shards, under a stamp that was given out, behind the shard's mark
 *  record  decodes, and its key belongs to the shard
 *  order   of the records of one item each begins where the one before ended: what was removed is
 *          inserted next, what was inserted is modified or removed; with both images, the old one is
 *          the new one of the record before
 *  end     while the stream is enabled, the last record of an item tells what the item is now
 *
 * Know before editing: the last two need a memory of items. It has SLOTS slots and an item that
 * wants a taken one takes it, so in a long stream most items are only held against their near past;
 * memory stays what it is. */
#include "core/verify.h"

#include "base/mem.h"
#include "core/stream.h"

#include <assert.h>

enum { SLOTS = 1 << 14 };

/* The last record seen of an item. */
struct last {
    bool is_used, is_there, has_image; /* there: the record left an item */
    uint32_t shard;
    sheaf_stamp stamp;
    uint8_t item[KEY_HASH_BYTES];
    uint8_t image[KEY_HASH_BYTES]; /* digest of the new image */
};
struct replay {
    const struct table *t;
    const struct table_stream *s;
    sheaf_stamp mark; /* of the shard that is being walked */
    uint32_t shard;
    struct last *slots;
};

static sheaf_rc complain(struct verify *v, const struct replay *r, const char *key,
                         const char *what)
{
    return verify_complain(v, "table %.*s: stream %.*s: shard %lu: %s%s%s", SPAN_ARG(r->t->name),
                           SPAN_ARG(r->s->label), (unsigned long)r->shard, key ? key : "",
                           key ? ": " : "", what);
}

static void digest(struct verify *v, span image, uint8_t out[KEY_HASH_BYTES])
{
    key_digest(core_secret(v->core), 1, &image, out);
}

/* ---- rows ---- */

static bool find_shard(struct replay *r, const sheaf_place *p)
{
    for (uint32_t i = 0; i < STREAM_SHARDS; i++) {
        sheaf_place shard = row_shard_place(r->s, i);
        if (memcmp(&shard, p, sizeof shard) != 0) continue;
        if (r->shard != i) r->mark = (sheaf_stamp){{0}};
        r->shard = i;
        return true;
    }
    return false;
}

static const char *stamp_fault(const struct verify *v, const struct replay *r,
                               const sheaf_stamp *stamp)
{
    uint64_t commit = 0;
    for (int i = 0; i < 8; i++) commit = commit << 8 | stamp->b[i];
    if (commit == 0 || commit > v->visible) return "a record's stamp was never given out";
    if (stream_stamp_cmp(stamp, &r->mark) <= 0)
        return "a record is out of order: the shard was trimmed beyond it";
    return NULL;
}

/* ---- items ---- */

static bool was_there(const struct core_record *rec) { return rec->event != CORE_INSERT; }

static sheaf_rc check_order(struct verify *v, const struct replay *r, const struct last *last,
                            const struct core_record *rec, const char *key)
{
    if (last->is_there && !was_there(rec))
        return complain(v, r, key, "records are out of order: inserted, but it was there");
    if (!last->is_there && was_there(rec))
        return complain(v, r, key, "records are out of order: changed, but it was not there");
    if (r->s->view != CORE_STREAM_BOTH || !last->has_image || !rec->old_image.p) return SHEAF_OK;
    uint8_t image[KEY_HASH_BYTES];
    digest(v, rec->old_image, image);
    if (memcmp(image, last->image, sizeof image) == 0) return SHEAF_OK;
    return complain(v, r, key, "a record is missing: the old image is not the last new one");
}

static sheaf_rc follow(struct verify *v, struct replay *r, const sheaf_stamp *stamp,
                       const struct core_record *rec, const char *key)
{
    uint8_t tie[KEY_HASH_BYTES];
    val item = item_map(rec->keys);
    key_tie(core_secret(v->core), table_hash_of(r->t, item), table_range_of(r->t, item), tie);
    struct last *last = &r->slots[((uint32_t)tie[0] << 8 | tie[1]) % SLOTS];
    if (last->is_used && memcmp(last->item, tie, sizeof tie) == 0)
        TRY(check_order(v, r, last, rec, key));
    *last = (struct last){.is_used = true,
                          .is_there = rec->event != CORE_REMOVE,
                          .has_image = rec->new_image.p != NULL,
                          .shard = r->shard,
                          .stamp = *stamp};
    memcpy(last->item, tie, sizeof tie);
    if (rec->new_image.p) digest(v, rec->new_image, last->image);
    return SHEAF_OK;
}

static sheaf_rc check_record(struct verify *v, struct replay *r, const struct sheaf_row *row)
{
    struct core_record rec;
    struct ctx c = {&v->arena, &v->row_err};
    sheaf_stamp stamp;
    sheaf_rc rc = stream_decode(&c, r->t, r->s, row, &rec);
    if (rc == SHEAF_NOMEM) return err_nomem(v->err);
    if (rc != SHEAF_OK) return complain(v, r, NULL, v->row_err.message);
    const char *key = verify_key_text(v, r->t, NULL, item_map(rec.keys));
    memcpy(stamp.b, row->key.s.p, sizeof stamp.b);
    const char *fault = stamp_fault(v, r, &stamp);
    if (fault) return complain(v, r, key, fault);
    val hash = table_hash_of(r->t, item_map(rec.keys));
    sheaf_place place = key_place(core_secret(v->core), r->t->space, 1, &hash);
    if (row_shard_of(&place) != r->shard)
        return complain(v, r, key, "the record belongs to another shard");
    return follow(v, r, &stamp, &rec, key);
}

static sheaf_rc check_row(struct verify *v, const struct sheaf_row *row, void *ctx)
{
    struct replay *r = ctx;
    if (!find_shard(r, &row->key.p)) return complain(v, r, NULL, "a row lies in no shard");
    if (row->key.s.n != 0) return check_record(v, r, row);
    if (stream_mark_decode(row->value, &r->mark, &v->row_err) == SHEAF_OK) return SHEAF_OK;
    return complain(v, r, NULL, v->row_err.message);
}

/* ---- the end ---- */

static sheaf_rc compare_item(struct verify *v, const struct replay *r, const struct last *last,
                             val keys)
{
    sheaf_engine_key key;
    span item;
    uint8_t image[KEY_HASH_BYTES];
    const char *text = verify_key_text(v, r->t, NULL, keys);
    TRY(row_item_key(v->core, &v->c, r->t, table_hash_of(r->t, keys), table_range_of(r->t, keys),
                     &key));
    TRY(verify_get(v, &key, &item));
    if ((item.p != NULL) != last->is_there)
        return complain(v, r, text,
                        item.p ? "a record is missing: the last one removed it, but it is there"
                               : "a record is missing: the last one left it, but it is gone");
    if (!item.p || !last->has_image) return SHEAF_OK;
    digest(v, item, image);
    if (memcmp(image, last->image, sizeof image) == 0) return SHEAF_OK;
    return complain(v, r, text, "a record is missing: the item is not the last new image");
}

static sheaf_rc check_last(struct verify *v, struct replay *r, const struct last *last)
{
    struct core_record rec;
    struct sheaf_row row = {
        .key = {row_shard_place(r->s, last->shard), SPAN(last->stamp.b, sizeof last->stamp.b)}};
    arena_reset(&v->arena);
    r->shard = last->shard;
    TRY(verify_get(v, &row.key, &row.value));
    TRY(stream_decode(&v->c, r->t, r->s, &row, &rec));
    return compare_item(v, r, last, item_map(rec.keys));
}

sheaf_rc verify_stream(struct verify *v, const struct table *t, const struct table_stream *s)
{
    struct replay r = {.t = t, .s = s, .shard = STREAM_SHARDS};
    r.slots = mem_zalloc(SLOTS * sizeof *r.slots);
    if (!r.slots) return err_nomem(v->err);
    sheaf_rc rc = verify_walk(v, s->space, check_row, &r);
    for (uint32_t i = 0; i < SLOTS && s == table_stream(t) && rc == SHEAF_OK; i++)
        if (r.slots[i].is_used) rc = check_last(v, &r, &r.slots[i]);
    mem_free(r.slots);
    return rc;
}
