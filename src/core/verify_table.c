/* Turns the rows of a table into complaints: items, index entries, statistics, expiry rows.
 *
 * What must hold
 *  item        its bytes are an item, and its key attributes say that it lies where it lies
 *  index       every item has the entry that row_index_key and row_index_value make of it, and every
 *              entry has such an item; while an index is being filled entries may be missing
 *  statistics  a collection's row counts the collection's rows, the whole row all of them; rows of
 *              zeros may be there or not; rows of an index that was deleted stay and are passed over
 *  expiry      every item that expires has its row and every row its item; while TTL is being
 *              switched on rows may be missing
 *
 * Know before editing: each rule is held in both directions by looking up, never by remembering. */
#include "core/verify.h"

#include "core/gauges.h"

#include <assert.h>

/* One walk over a table or an index. */
struct tally {
    const struct table *t;
    const struct table_index *x; /* NULL: the table */
    uint64_t space;
    sheaf_place place; /* of the collection that is being counted */
    int64_t one[2], all[2];
    struct buf sample; /* the keys of its first row, for complaints; empty: damaged */
};

/* ---- statistics ---- */

static const char *space_text(struct verify *v, const struct table *t, const struct table_index *x)
{
    struct buf b;
    buf_init(&b, &v->arena, 1024);
    buf_printf(&b, "table %.*s", SPAN_ARG(t->name));
    if (x) buf_printf(&b, ": index %.*s", SPAN_ARG(x->def.name));
    buf_put_u8(&b, 0);
    return b.failed ? "?" : (const char *)b.p;
}

static sheaf_rc compare(struct verify *v, const struct tally *k, const sheaf_place *place,
                        const int64_t counted[2], const char *what)
{
    uint8_t s[8];
    sheaf_engine_key key;
    span value;
    int64_t kept[2];
    row_stats_key(k->t, k->space, place, s, &key);
    TRY(verify_get(v, &key, &value));
    const char *where = space_text(v, k->t, k->x);
    if (!gauges_decode_stats(value, kept))
        return verify_complain(v, "%s: the statistics of %s are damaged", where, what);
    if (kept[0] == counted[0] && kept[1] == counted[1]) return SHEAF_OK;
    return verify_complain(v,
                           "%s: the statistics of %s say %lld items of %lld bytes; there are %lld "
                           "of %lld",
                           where, what, (long long)kept[0], (long long)kept[1],
                           (long long)counted[0], (long long)counted[1]);
}

static sheaf_rc end_collection(struct verify *v, struct tally *k)
{
    if (k->one[0] == 0) return SHEAF_OK;
    struct buf what;
    buf_init(&what, &v->arena, 8192);
    const char *key = "a damaged key";
    if (k->sample.n) key = verify_key_text(v, k->t, k->x, item_map(buf_span(&k->sample)));
    buf_printf(&what, "the collection of %s", key);
    buf_put_u8(&what, 0);
    return compare(v, k, &k->place, k->one, what.failed ? "a collection" : (const char *)what.p);
}

/* Counts a row; at the border of two collections the one that ended is compared. */
static sheaf_rc count(struct verify *v, struct tally *k, const struct sheaf_row *row, bool is_item)
{
    if (k->one[0] && memcmp(&k->place, &row->key.p, sizeof k->place) != 0) {
        TRY(end_collection(v, k));
        k->one[0] = k->one[1] = 0;
    }
    if (k->one[0] == 0) {
        span sample = SPAN_NONE;
        buf_clear(&k->sample);
        if (is_item) TRY(table_key_item(&v->c, k->t, k->x, item_map(row->value), &sample));
        buf_put_span(&k->sample, sample);
        if (k->sample.failed) return err_nomem(v->err);
        k->place = row->key.p;
    }
    int64_t bytes = is_item ? item_size(row->value) : 0;
    k->one[0]++, k->all[0]++;
    k->one[1] += bytes, k->all[1] += bytes;
    return SHEAF_OK;
}

static sheaf_rc walk_counted(struct verify *v, struct tally *k, verify_row_fn each)
{
    buf_init(&k->sample, NULL, 1 << 20);
    sheaf_rc rc = verify_walk(v, k->space, each, k);
    arena_reset(&v->arena);
    if (rc == SHEAF_OK) rc = end_collection(v, k);
    if (rc == SHEAF_OK) rc = compare(v, k, NULL, k->all, "the whole");
    buf_deinit(&k->sample);
    return rc;
}

/* A row that says there is something where there is nothing. Collections that exist were compared
 * while they were counted. */
static sheaf_rc check_stats_row(struct verify *v, const struct sheaf_row *row, void *ctx)
{
    const struct table *t = ctx;
    static const uint8_t whole[16];
    int64_t n[2];
    const uint8_t *hash = row->key.p.b + 8, *s = row->key.s.p;
    if (row->key.s.n != 8 || !gauges_decode_stats(row->value, n))
        return verify_complain(v, "table %.*s: a statistics row is damaged: %s", SPAN_ARG(t->name),
                               verify_hex(v, SPAN(row->key.p.b, sizeof row->key.p.b)));
    uint64_t space = 0;
    for (int i = 0; i < 8; i++) space = space << 8 | s[i];
    const struct table_index *x = gauges_index(t, space);
    if (space != t->space && !x) {
        if (verify_is_dropped_space(v, space)) return SHEAF_OK;
        return verify_complain(v, "table %.*s: statistics of space %llu, which is no index of it",
                               SPAN_ARG(t->name), (unsigned long long)space);
    }
    if ((n[0] == 0 && n[1] == 0) || memcmp(hash, whole, sizeof whole) == 0) return SHEAF_OK;
    bool has_rows;
    sheaf_place place = sheaf_place_make(space, hash);
    TRY(verify_has_rows(v, &place, &has_rows));
    if (has_rows) return SHEAF_OK;
    return verify_complain(v,
                           "%s: the statistics of a collection say %lld items of %lld bytes; it "
                           "has none",
                           space_text(v, t, x), (long long)n[0], (long long)n[1]);
}

/* ---- items ---- */

static bool is_key(const struct core_key *k, val v, uint32_t max_bytes)
{
    return val_type(v) == k->type && val_bytes(v).n > 0 && val_bytes(v).n <= max_bytes;
}

static bool has_keys(const struct table *t, val item)
{
    return is_key(&t->hash, table_hash_of(t, item), LIMIT_PARTITION_KEY_BYTES) &&
           (!t->has_range || is_key(&t->range, table_range_of(t, item), LIMIT_SORT_KEY_BYTES));
}

static bool is_same_key(const sheaf_engine_key *a, const sheaf_engine_key *b)
{
    return memcmp(&a->p, &b->p, sizeof a->p) == 0 && span_eq(a->s, b->s);
}

/* The entry that an item should have in an index. */
static sheaf_rc check_entry_of(struct verify *v, const struct table *t, const struct table_index *x,
                               span item)
{
    sheaf_engine_key key;
    bool has_entry;
    span want, got;
    TRY(row_index_key(v->core, &v->c, t, x, item_map(item), &key, &has_entry));
    if (!has_entry) return SHEAF_OK;
    TRY(verify_get(v, &key, &got));
    if (!got.p && x->is_backfilling) return SHEAF_OK;
    const char *text = verify_key_text(v, t, x, item_map(item));
    if (!got.p)
        return verify_complain(v, "%s: the item %s has no entry", space_text(v, t, x), text);
    TRY(row_index_value(&v->c, t, x, item, &want));
    if (span_eq(got, want)) return SHEAF_OK;
    return verify_complain(v, "%s: the entry of %s is not what the item says", space_text(v, t, x),
                           text);
}

static sheaf_rc check_expiry_of(struct verify *v, const struct table *t, val item)
{
    int64_t seconds;
    sheaf_engine_key key;
    span got, want;
    if (!t->ttl_space || !ttl_seconds(t, item, &seconds)) return SHEAF_OK;
    TRY(row_ttl_key(v->core, &v->c, t, seconds, table_hash_of(t, item), table_range_of(t, item),
                    &key));
    TRY(verify_get(v, &key, &got));
    if (!got.p && t->is_ttl_filling) return SHEAF_OK;
    const char *text = verify_key_text(v, t, NULL, item);
    if (!got.p)
        return verify_complain(v, "table %.*s: the item %s has no expiry row", SPAN_ARG(t->name),
                               text);
    TRY(table_key_item(&v->c, t, NULL, item, &want));
    if (span_eq(got, want)) return SHEAF_OK;
    return verify_complain(v, "table %.*s: the expiry row of %s holds another key",
                           SPAN_ARG(t->name), text);
}

static sheaf_rc damaged(struct verify *v, const struct tally *k, const struct sheaf_row *row)
{
    return verify_complain(v, "%s: the row %s/%s is damaged: %s", space_text(v, k->t, k->x),
                           verify_hex(v, SPAN(row->key.p.b, sizeof row->key.p.b)),
                           verify_hex(v, row->key.s), v->row_err.message);
}

static sheaf_rc check_item(struct verify *v, const struct sheaf_row *row, void *ctx)
{
    struct tally *k = ctx;
    const struct table *t = k->t;
    sheaf_engine_key key;
    bool is_item = item_check(row->value, &v->row_err) == SHEAF_OK;
    TRY(count(v, k, row, is_item));
    if (!is_item) return damaged(v, k, row);
    val item = item_map(row->value);
    const char *text = verify_key_text(v, t, NULL, item);
    if (!has_keys(t, item))
        return verify_complain(v, "table %.*s: the item %s lacks a key", SPAN_ARG(t->name), text);
    TRY(row_item_key(v->core, &v->c, t, table_hash_of(t, item), table_range_of(t, item), &key));
    if (!is_same_key(&key, &row->key))
        return verify_complain(v, "table %.*s: the item %s lies in the row of another key",
                               SPAN_ARG(t->name), text);
    for (uint32_t i = 0; i < t->n_indexes; i++)
        TRY(check_entry_of(v, t, &t->indexes[i], row->value));
    return check_expiry_of(v, t, item);
}

/* ---- from entries and expiry rows back to items ---- */

/* The item of a key; SPAN_NONE when there is none, or none that can be read: complained of when the
 * items were walked. */
static sheaf_rc item_of(struct verify *v, const struct table *t, val keys, span *out)
{
    sheaf_engine_key key;
    TRY(row_item_key(v->core, &v->c, t, table_hash_of(t, keys), table_range_of(t, keys), &key));
    TRY(verify_get(v, &key, out));
    if (out->p && item_check(*out, NULL) != SHEAF_OK) *out = SPAN_NONE;
    return SHEAF_OK;
}

static sheaf_rc check_entry(struct verify *v, const struct sheaf_row *row, void *ctx)
{
    struct tally *k = ctx;
    sheaf_engine_key key;
    span item;
    bool is_mine = false;
    bool is_item = item_check(row->value, &v->row_err) == SHEAF_OK;
    TRY(count(v, k, row, is_item));
    if (!is_item) return damaged(v, k, row);
    val entry = item_map(row->value);
    const char *where = space_text(v, k->t, k->x), *text = verify_key_text(v, k->t, k->x, entry);
    if (!has_keys(k->t, entry))
        return verify_complain(v, "%s: the entry %s lacks a key of its item", where, text);
    TRY(item_of(v, k->t, entry, &item));
    if (!item.p) return verify_complain(v, "%s: the entry %s has no item", where, text);
    TRY(row_index_key(v->core, &v->c, k->t, k->x, item_map(item), &key, &is_mine));
    if (is_mine && is_same_key(&key, &row->key)) return SHEAF_OK; /* its value was compared */
    return verify_complain(v, "%s: the entry %s is a stray: its item says otherwise", where, text);
}

static sheaf_rc check_expiry(struct verify *v, const struct sheaf_row *row, void *ctx)
{
    const struct table *t = ctx;
    sheaf_engine_key key;
    int64_t seconds;
    span item;
    if (item_check(row->value, &v->row_err) != SHEAF_OK || !has_keys(t, item_map(row->value)))
        return verify_complain(v, "table %.*s: the expiry row %s is damaged", SPAN_ARG(t->name),
                               verify_hex(v, row->key.s));
    val keys = item_map(row->value);
    const char *text = verify_key_text(v, t, NULL, keys);
    TRY(item_of(v, t, keys, &item));
    if (!item.p || !ttl_seconds(t, item_map(item), &seconds))
        return verify_complain(v, "table %.*s: an expiry row of %s, which does not expire",
                               SPAN_ARG(t->name), text);
    TRY(row_ttl_key(v->core, &v->c, t, seconds, table_hash_of(t, keys), table_range_of(t, keys),
                    &key));
    if (is_same_key(&key, &row->key)) return SHEAF_OK;
    return verify_complain(v, "table %.*s: the expiry row of %s has the wrong time or place",
                           SPAN_ARG(t->name), text);
}

sheaf_rc verify_table(struct verify *v, const struct table *t)
{
    struct tally items = {.t = t, .space = t->space};
    TRY(walk_counted(v, &items, check_item));
    for (uint32_t i = 0; i < t->n_indexes; i++) {
        struct tally entries = {.t = t, .x = &t->indexes[i], .space = t->indexes[i].space};
        TRY(walk_counted(v, &entries, check_entry));
    }
    TRY(verify_walk(v, t->stats_space, check_stats_row, (void *)(uintptr_t)t));
    if (!t->ttl_space) return SHEAF_OK;
    return verify_walk(v, t->ttl_space, check_expiry, (void *)(uintptr_t)t);
}
