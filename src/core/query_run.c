/* Turns a placed Query or Scan into a page: rows of a cursor → filter → items in the arena.
 *
 * Know before editing: a row lives until the cursor moves. It is judged where it is; what goes
 * into the page is copied once, or projected straight into the arena. A page never looks one row
 * further than it returns: when Limit or the size is reached there is a LastEvaluatedKey, though
 * nothing may follow, which is what the service does. */
#include "core/query.h"

#include <assert.h>

struct run {
    struct query *s;
    struct ctx *c;
    struct core_page *out;
    sheaf_txn *txn;
    uint32_t cap;        /* of out->items */
    uint64_t bytes;      /* evaluated, of the table or of the index */
    uint64_t page;       /* evaluated, for the end of the page: items fetched instead of entries */
    double fetch_units;  /* of items fetched from the table */
    uint32_t hash_at[4]; /* where the row before had the attributes of the partition key */
};

/* ---- transactions ---- */

/* One cursor sees one moment by itself. Only a read of two spaces needs a snapshot around both, and
 * only a global index may be read in the past. */
static sheaf_rc begin(struct run *r)
{
    struct query *s = r->s;
    if (query_is_global(s)) return lag_begin(s->core, s->index, &r->txn, r->c->err);
    return eng_begin(s->core->engine, s->is_fetching ? SHEAF_TXN_SNAPSHOT : SHEAF_TXN_RW, &r->txn,
                     r->c->err);
}

static void end(struct run *r)
{
    if (!r->txn) return;
    if (query_is_global(r->s))
        lag_end(r->s->core, r->txn);
    else
        eng_rollback(r->txn);
}

/* ---- one row ---- */

static sheaf_rc check_row(struct run *r, const struct sheaf_row *row)
{
    const struct query *s = r->s;
    TRY(read_check_row(r->c, s->table, row->value));
    val item = item_map(row->value);
    for (uint32_t i = 0; i < s->schema.n_hash && !s->q->is_scan; i++)
        if (!val_eq(val_find_near(item, s->schema.hash[i].name, &r->hash_at[i]),
                    s->condition.hash[i]))
            return read_corrupt(r->c, s->table, "a row holds an item of another collection");
    return SHEAF_OK;
}

/* The item of an entry in a local index. Charged like a read of its own. */
static sheaf_rc fetch(struct run *r, span entry, span *item_out)
{
    const struct table *t = r->s->table;
    assert(r->s->index && r->s->index->def.is_local);
    val map = item_map(entry);
    val hash = table_hash_of(t, map), range = table_range_of(t, map);
    sheaf_engine_key key;
    if (val_type(hash) != t->hash.type || (t->has_range && val_type(range) != t->range.type))
        return read_corrupt(r->c, t, "an index entry lacks the table's key");
    TRY(row_item_key(r->s->core, r->c, t, hash, range, &key));
    TRY(eng_get(r->txn, 1, &key, item_out, r->c->err));
    if (!item_out->p) return read_corrupt(r->c, t, "an index entry without its item");
    TRY(read_check_row(r->c, t, *item_out));
    val item = item_map(*item_out);
    if (!val_eq(table_hash_of(t, item), hash) ||
        (t->has_range && !val_eq(table_range_of(t, item), range)))
        return read_corrupt(r->c, t, "a row holds the item of another key");
    r->fetch_units += capacity_read_units(item_size(*item_out), r->s->q->is_consistent, false);
    return SHEAF_OK;
}

static sheaf_rc make_room(struct run *r)
{
    enum { FIRST = 32 };
    struct core_page *out = r->out;
    if (out->n < r->cap) return SHEAF_OK;
    uint32_t limit = r->s->q->limit, cap = r->cap ? r->cap * 2 : FIRST;
    if (limit && r->cap < limit && limit < cap) cap = limit;
    assert(cap <= UINT32_MAX / 2);
    span *more = arena_alloc(r->c->arena, cap * sizeof *more);
    if (!more) return err_nomem(r->c->err);
    if (out->n) memcpy(more, out->items, out->n * sizeof *more);
    out->items = more;
    r->cap = cap;
    return SHEAF_OK;
}

static sheaf_rc keep(struct run *r, span item)
{
    struct core_page *out = r->out;
    assert(out->matched < out->scanned);
    out->matched++;
    if (r->s->q->select == CORE_SELECT_COUNT) return SHEAF_OK;
    TRY(make_room(r));
    assert(out->n < r->cap);
    span *to = &out->items[out->n];
    if (r->s->projection) {
        TRY(expr_project(r->c, r->s->projection, item_map(item), to));
    } else {
        *to = arena_dup(r->c->arena, item);
        if (!to->p) return err_nomem(r->c->err);
    }
    out->n++;
    return SHEAF_OK;
}

static sheaf_rc take_row(struct run *r, const struct sheaf_row *row)
{
    const struct query *s = r->s;
    span item = row->value;
    TRY(check_row(r, row));
    r->out->scanned++;
    r->bytes += item_size(row->value);
    if (s->is_fetching) TRY(fetch(r, row->value, &item));
    r->page += item_size(item);
    if (s->filter && !expr_eval(s->filter, item_map(item))) return SHEAF_OK;
    return keep(r, item);
}

static bool is_full(const struct run *r)
{
    uint32_t limit = r->s->q->limit;
    return (limit && r->out->scanned >= limit) || r->page >= QUERY_PAGE_BYTES;
}

/* ---- the page ---- */

/* The key of the last row, which must be the key that it lies under. */
static sheaf_rc take_last_key(struct run *r, const struct sheaf_row *row)
{
    struct query *s = r->s;
    struct ctx *c = r->c;
    const struct table *t = s->table;
    val item = item_map(row->value);
    val hash = table_hash_of(t, item), range = table_range_of(t, item);
    sheaf_engine_key key;
    bool is_there =
        val_type(hash) == t->hash.type && (!t->has_range || val_type(range) == t->range.type);
    if (is_there && s->index)
        TRY(row_index_key(s->core, c, t, s->index, item, &key, &is_there));
    else if (is_there)
        TRY(row_item_key(s->core, c, t, hash, range, &key));
    if (!is_there || memcmp(&key.p, &row->key.p, sizeof key.p) != 0 || !span_eq(key.s, row->key.s))
        return read_corrupt(c, t, "a row lies under another key than its item's");
    return table_key_item(c, t, s->index, item, &r->out->last_key);
}

static sheaf_rc read_rows(struct run *r, sheaf_cursor *cursor)
{
    for (;;) {
        struct sheaf_row row;
        bool has_row;
        TRY(eng_next(cursor, &row, &has_row, r->c->err));
        if (!has_row) return SHEAF_OK;
        TRY(take_row(r, &row));
        if (is_full(r)) return take_last_key(r, &row);
    }
}

static sheaf_rc read_page(struct run *r)
{
    struct query *s = r->s;
    sheaf_cursor *cursor = NULL;
    sheaf_rc rc;
    TRY_OUT(begin(r));
    if (s->q->is_scan)
        TRY_OUT(eng_walk(r->txn, &s->walk, &cursor, r->c->err));
    else
        TRY_OUT(eng_range(r->txn, &s->range, &cursor, r->c->err));
    rc = read_rows(r, cursor);
out:
    eng_cursor_close(cursor);
    end(r);
    return rc;
}

/* Whatever was read, or failed to be read, of a table or index that went meanwhile counts for
 * nothing. */
static sheaf_rc check_there(struct ctx *c, const struct query *s)
{
    if (cat_still_has(s->core, s->drops, s->table, query_space(s))) return SHEAF_OK;
    if (s->index && cat_still_has(s->core, s->drops, s->table, s->table->space))
        return query_no_index(c, s->index->def.name);
    return cat_not_found(c->err);
}

static sheaf_rc charge(struct run *r)
{
    struct query *s = r->s;
    struct ctx *c = r->c;
    const struct table *t = s->table;
    double units = capacity_read_units(r->bytes, s->q->is_consistent, false);
    double own = r->fetch_units + (query_is_global(s) ? 0 : units);
    struct throttle_key key = {.n = s->q->is_scan ? 0 : s->schema.n_hash};
    if (key.n) key.place = s->range.p;
    for (uint32_t i = 0; i < key.n; i++) key.partition[i] = s->condition.hash[i];
    struct capacity k;
    if (query_is_global(s)) TRY(throttle_read(s->core, t, s->index, &key, units, c->err));
    if (own > 0) TRY(throttle_read(s->core, t, NULL, &key, own, c->err));
    TRY(capacity_init(c, &k, s->q->capacity, 1, false));
    TRY(capacity_reserve(c, &k, t));
    capacity_add(&k, t, s->index, units);
    if (r->fetch_units > 0) capacity_add(&k, t, NULL, r->fetch_units);
    capacity_finish(&k);
    if (k.n) r->out->capacity = k.tables[0];
    return SHEAF_OK;
}

sheaf_rc query_run(struct ctx *c, struct query *s, struct core_page *out)
{
    assert(s->table && out->n == 0);
    struct run r = {.s = s, .c = c, .out = out};
    static span nothing[1]; /* an empty page has items, a count has none */
    if (s->q->select != CORE_SELECT_COUNT) out->items = nothing;
    sheaf_rc rc = read_page(&r);
    TRY(check_there(c, s));
    TRY(rc);
    out->position = eng_visible(s->core->engine);
    return charge(&r);
}
