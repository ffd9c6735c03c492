/* Turns the change of one item into rows: the item, its index entries, statistics, stream record,
 * expiry row.
 *
 * Know before editing: an entry is counted in the statistics exactly when its row exists. While an
 * index is being filled the entry of an older item may be missing, so it is read (and protected)
 * before it is counted out; whoever fills the index counts an entry in only when it finds none. */
#include "core/effects.h"

#include "core/capacity.h"
#include "core/keys.h"
#include "core/state.h"

#include <assert.h>

sheaf_rc effects_check(struct ctx *c, const struct table *t, val after, bool is_update)
{
    if (t->n_indexes == 0 || val_is_absent(after)) return SHEAF_OK;
    enum keys_by by = is_update ? KEYS_BY_UPDATE : KEYS_BY_PUT;
    TRY(keys_check_index_empty(c, t, after, by));
    return keys_check_index(c, t, after, by);
}

uint32_t effects_write_units(uint32_t item_bytes) { return capacity_write_units(item_bytes); }

static uint32_t size_of(span item) { return item.p ? item_size(item) : 0; }

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static bool is_same_key(const sheaf_engine_key *a, const sheaf_engine_key *b)
{
    return memcmp(&a->p, &b->p, sizeof a->p) == 0 && span_eq(a->s, b->s);
}

static bool is_no_change(const struct change *change)
{
    if (!change->before.p || !change->after.p) return change->before.p == change->after.p;
    return span_eq(change->before, change->after);
}

/* ---- plan ---- */

/* The key and the value of an image's entry; value_out->p == NULL: it has none. */
static sheaf_rc entry_of(struct core *core, struct ctx *c, const struct table *t,
                         const struct table_index *x, span image, sheaf_engine_key *key_out,
                         span *value_out)
{
    bool has_entry = false;
    *value_out = SPAN_NONE;
    if (!image.p) return SHEAF_OK;
    TRY(row_index_key(core, c, t, x, item_map(image), key_out, &has_entry));
    return has_entry ? row_index_value(c, t, x, image, value_out) : SHEAF_OK;
}

static uint32_t entry_units(const struct effect_entry *e)
{
    assert(e->has_old || e->has_new);
    assert(e->old_bytes >= 0 && e->new_bytes >= 0);
    uint32_t was = (uint32_t)e->old_bytes, is = (uint32_t)e->new_bytes;
    if (!e->has_new) return capacity_write_units(was);
    if (!e->has_old) return capacity_write_units(is);
    if (!e->is_moved) return capacity_write_units(larger(was, is));
    return capacity_write_units(was) + capacity_write_units(is);
}

/* While the index is being filled. */
static sheaf_rc look_for_old(struct ctx *c, sheaf_txn *txn, struct effect_entry *e)
{
    span stored;
    if (!e->index->is_backfilling || !e->has_old) return SHEAF_OK;
    TRY(eng_get(txn, 1, &e->old_key, &stored, c->err));
    if (stored.p) return SHEAF_OK;
    e->has_old = e->is_moved = false;
    e->old_bytes = 0;
    return SHEAF_OK;
}

static sheaf_rc plan_index(struct core *core, struct ctx *c, sheaf_txn *txn,
                           const struct change *change, const struct table_index *x,
                           struct effects *out)
{
    struct effect_entry e = {.index = x};
    span old_value;
    const struct table *t = change->table;
    TRY(entry_of(core, c, t, x, change->before, &e.old_key, &old_value));
    TRY(entry_of(core, c, t, x, change->after, &e.new_key, &e.new_value));
    e.has_old = old_value.p != NULL;
    e.has_new = e.new_value.p != NULL;
    e.old_bytes = size_of(old_value);
    e.new_bytes = size_of(e.new_value);
    if (x->def.is_local) {
        out->local_bytes += (uint64_t)e.new_bytes;
        out->collection_delta += e.new_bytes - e.old_bytes;
    }
    if (!e.has_old && !e.has_new) return SHEAF_OK;
    e.is_moved = e.has_old && !(e.has_new && is_same_key(&e.old_key, &e.new_key));
    if (e.has_old && e.has_new && !e.is_moved && span_eq(old_value, e.new_value)) return SHEAF_OK;
    out->arms[out->n_arms++] = (struct effect_arm){x, entry_units(&e)};
    TRY(look_for_old(c, txn, &e));
    out->entries[out->n_entries++] = e;
    return SHEAF_OK;
}

sheaf_rc effects_plan(struct core *core, struct ctx *c, sheaf_txn *txn, const struct change *change,
                      struct effects *out)
{
    const struct table *t = change->table;
    uint32_t was = size_of(change->before), is = size_of(change->after);
    *out = (struct effects){.arms = ARENA_ARRAY(c->arena, struct effect_arm, 1 + t->n_indexes),
                            .collection_delta = (int64_t)is - (int64_t)was,
                            .local_bytes = is};
    if (!out->arms) return err_nomem(c->err);
    out->arms[out->n_arms++] = (struct effect_arm){NULL, capacity_write_units(larger(was, is))};
    if (t->n_indexes == 0 || is_no_change(change)) return SHEAF_OK;
    out->entries = ARENA_ARRAY(c->arena, struct effect_entry, t->n_indexes);
    if (!out->entries) return err_nomem(c->err);
    for (uint32_t i = 0; i < t->n_indexes; i++)
        TRY(plan_index(core, c, txn, change, &t->indexes[i], out));
    assert(out->n_arms <= 1 + t->n_indexes && out->n_entries <= t->n_indexes);
    return SHEAF_OK;
}

/* ---- write ---- */

static sheaf_rc add_stats(struct ctx *c, sheaf_txn *txn, const struct table *t, uint64_t space,
                          const sheaf_place *place, const int64_t deltas[2])
{
    uint8_t s[8];
    sheaf_engine_key key;
    if (deltas[0] == 0 && deltas[1] == 0) return SHEAF_OK;
    row_stats_key(t, space, place, s, &key);
    return eng_add(txn, &key, 2, deltas, c->err);
}

/* Of one collection and of the whole table or index. */
static sheaf_rc add_both(struct ctx *c, sheaf_txn *txn, const struct table *t, uint64_t space,
                         const sheaf_place *place, const int64_t deltas[2])
{
    TRY(add_stats(c, txn, t, space, place, deltas));
    return add_stats(c, txn, t, space, NULL, deltas);
}

static sheaf_rc count_entry(struct ctx *c, sheaf_txn *txn, const struct table *t,
                            const struct effect_entry *e)
{
    uint64_t space = e->index->space;
    assert(e->has_old || e->old_bytes == 0);
    assert(e->has_new || e->new_bytes == 0);
    bool is_one_place =
        e->has_old && e->has_new && memcmp(&e->old_key.p, &e->new_key.p, sizeof e->old_key.p) == 0;
    const int64_t all[2] = {(int64_t)e->has_new - (int64_t)e->has_old, e->new_bytes - e->old_bytes};
    if (is_one_place || !e->has_old) return add_both(c, txn, t, space, &e->new_key.p, all);
    const int64_t out[2] = {-1, -e->old_bytes}, in[2] = {1, e->new_bytes};
    TRY(add_stats(c, txn, t, space, &e->old_key.p, out));
    if (e->has_new) TRY(add_stats(c, txn, t, space, &e->new_key.p, in));
    return add_stats(c, txn, t, space, NULL, all);
}

static sheaf_rc write_entry(struct ctx *c, sheaf_txn *txn, const struct table *t,
                            const struct effect_entry *e)
{
    if (e->is_moved) TRY(eng_del(txn, &e->old_key, c->err));
    if (e->has_new) TRY(eng_put(txn, &e->new_key, e->new_value, c->err));
    return e->has_old || e->has_new ? count_entry(c, txn, t, e) : SHEAF_OK;
}

static sheaf_rc write_item(struct ctx *c, sheaf_txn *txn, const struct change *change)
{
    const int64_t deltas[2] = {(int64_t)(change->after.p != NULL) -
                                   (int64_t)(change->before.p != NULL),
                               (int64_t)size_of(change->after) - (int64_t)size_of(change->before)};
    if (change->after.p)
        TRY(eng_put(txn, &change->key, change->after, c->err));
    else
        TRY(eng_del(txn, &change->key, c->err));
    return add_both(c, txn, change->table, change->table->space, &change->key.p, deltas);
}

sheaf_rc effects_write(struct core *core, struct ctx *c, sheaf_txn *txn,
                       const struct change *change, const struct effects *effects)
{
    const struct table *t = change->table;
    assert(effects->n_arms >= 1 && !effects->arms[0].index);
    if (is_no_change(change)) return SHEAF_OK;
    TRY(write_item(c, txn, change));
    for (uint32_t i = 0; i < effects->n_entries; i++)
        TRY(write_entry(c, txn, t, &effects->entries[i]));
    if (table_stream(t)) TRY(stream_append(core, c, txn, change));
    if (t->ttl_space) TRY(ttl_apply(core, c, txn, change));
    return SHEAF_OK;
}

sheaf_rc effects_apply(struct core *core, struct ctx *c, sheaf_txn *txn,
                       const struct change *change, struct effects *out)
{
    TRY(effects_plan(core, c, txn, change, out));
    return effects_write(core, c, txn, change, out);
}

void effects_written(struct core *core, const struct change *change, const struct effects *effects,
                     val item)
{
    const struct table *t = change->table;
    gauges_written(core, t, t->space, &change->key.p, item);
    for (uint32_t i = 0; i < effects->n_entries; i++) {
        const struct effect_entry *e = &effects->entries[i];
        if (e->has_new)
            gauges_written(core, t, e->index->space, &e->new_key.p, item_map(change->after));
    }
}

/* ---- the size of a collection ---- */

static bool is_of_collection(const struct table *t, span s)
{
    uint8_t space[8];
    cat_number_bytes(t->space, space);
    if (span_eq(s, SPAN(space, 8))) return true;
    for (uint32_t i = 0; i < t->n_indexes; i++) {
        cat_number_bytes(t->indexes[i].space, space);
        if (t->indexes[i].def.is_local && span_eq(s, SPAN(space, 8))) return true;
    }
    return false;
}

static int64_t second_number(span value)
{
    assert(value.n == 16);
    const uint8_t *p = value.p;
    uint64_t u = 0;
    for (int i = 15; i >= 8; i--) u = u << 8 | p[i];
    return (int64_t)u;
}

sheaf_rc effects_collection_bytes(struct ctx *c, sheaf_txn *txn, const struct table *t,
                                  const sheaf_place *place, uint64_t *bytes_out)
{
    uint8_t s[8];
    sheaf_engine_key key;
    sheaf_cursor *cursor;
    int64_t total = 0;
    sheaf_rc rc;
    *bytes_out = 0;
    row_stats_key(t, t->space, place, s, &key);
    /* A local index has the table's partition key, so its statistics lie at the same place. */
    TRY(eng_range(txn, &(struct sheaf_range){.p = key.p}, &cursor, c->err));
    for (;;) {
        struct sheaf_row row;
        bool has_row;
        TRY_OUT(eng_next(cursor, &row, &has_row, c->err));
        if (!has_row) break;
        if (row.value.n == 16 && is_of_collection(t, row.key.s)) total += second_number(row.value);
    }
    *bytes_out = total > 0 ? (uint64_t)total : 0;
out:
    eng_cursor_close(cursor);
    return rc;
}
