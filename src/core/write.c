/* Turns one requested write into a compiled, then bound, then judged change.
 *
 * Know before editing: the order of checks is the service's. It looks at the request before it
 * looks for the table, and judges the condition before the update, so that a refused condition
 * hides a faulty update. */
#include "core/write.h"

#include "base/limits.h"

#include <assert.h>

#define INVALID "One or more parameter values were invalid: "

/* ---- the request alone ---- */

static sheaf_rc check_env(struct ctx *c, const struct core_write *w)
{
    bool has_expression = w->update.p || w->condition.p;
    if (!has_expression && w->env->has_names)
        return err_validation(
            c->err, "ExpressionAttributeNames can only be specified when using expressions");
    if (!has_expression && w->env->has_values)
        return err_validation(
            c->err, "ExpressionAttributeValues can only be specified when using expressions");
    return expr_env_check(w->env, c->err);
}

sheaf_rc write_compile(struct ctx *c, struct write_op *op, const struct core_write *w)
{
    *op = (struct write_op){.w = w, .keys_in = w->action == CORE_PUT ? KEYS_IN_ITEM : KEYS_IN_KEY};
    assert((w->item.p || w->item_fault) && w->env);
    TRY(check_env(c, w));
    if (w->update.p) TRY(expr_compile_update(c, w->update, w->env, &op->update));
    if (w->condition.p) TRY(expr_compile(c, EXPR_CONDITION, w->condition, w->env, &op->condition));
    TRY(expr_env_check_unused(w->env, c->err));
    if (w->item_fault) return err_validation(c->err, "%s", w->item_fault);
    if (w->action == CORE_PUT && item_size(w->item) > LIMIT_ITEM_BYTES)
        return err_validation(c->err, "Item size has exceeded the maximum allowed size");
    return SHEAF_OK;
}

/* ---- with the table ---- */

/* Constants that an update writes to keys of indexes. */
static sheaf_rc check_update_values(struct ctx *c, const struct expr_update *u,
                                    const struct table *t)
{
    uint32_t n;
    const struct path *paths = expr_projection_paths(expr_update_touched(u), &n);
    for (uint32_t i = 0; i < n; i++) {
        val value;
        (void)expr_update_writes(u, i, &value);
        if (paths[i].n == 1 && !val_is_absent(value))
            TRY(keys_check_index_value(c, t, paths[i].steps[0].name, value));
    }
    return SHEAF_OK;
}

sheaf_rc write_check_values(struct ctx *c, const struct write_op *op, const struct table *t)
{
    val item = item_map(op->w->item);
    TRY(keys_check_empty(c, t, item));
    if (t->n_indexes == 0) return SHEAF_OK;
    if (op->w->action == CORE_PUT) return keys_check_index_empty(c, t, item, KEYS_BY_PUT);
    return op->update ? check_update_values(c, op->update, t) : SHEAF_OK;
}

/* Keys cannot be updated; keys of indexes can, to what their type is. */
static sheaf_rc check_update_targets(struct ctx *c, const struct expr_update *u,
                                     const struct table *t)
{
    uint32_t n;
    const struct path *paths = expr_projection_paths(expr_update_touched(u), &n);
    for (uint32_t i = 0; i < n; i++)
        if (keys_has(t, paths[i].steps[0].name))
            return err_validation(
                c->err, INVALID "Cannot update attribute %.*s. This attribute is part of the key",
                SPAN_ARG(paths[i].steps[0].name));
    for (uint32_t i = 0; i < n; i++) {
        val value;
        enum val_type type = expr_update_writes(u, i, &value);
        if (paths[i].n == 1 && type != VAL_NONE)
            TRY(keys_check_index_type(c, t, paths[i].steps[0].name, type));
    }
    return keys_check_paths(c, t, paths, n);
}

static sheaf_rc check_update_operands(struct ctx *c, const struct expr_update *u,
                                      const struct table *t)
{
    uint32_t n, n_read;
    (void)expr_projection_paths(expr_update_touched(u), &n);
    for (uint32_t i = 0; i < n; i++)
        for (int which = 0; which < 2; which++) {
            const struct path *read = expr_update_reads(u, i, which, &n_read);
            TRY(keys_check_paths(c, t, read, n_read));
        }
    return SHEAF_OK;
}

sheaf_rc write_check_schema(struct ctx *c, const struct write_op *op, const struct table *t)
{
    val item = item_map(op->w->item);
    TRY(keys_check_schema(c, t, item, op->keys_in));
    if (op->w->action == CORE_PUT && t->n_indexes) TRY(keys_check_index(c, t, item, KEYS_BY_PUT));
    if (op->update) {
        TRY(check_update_targets(c, op->update, t));
        TRY(check_update_operands(c, op->update, t));
    }
    if (!op->condition) return SHEAF_OK;
    uint32_t n;
    const struct path *read = expr_paths(op->condition, &n);
    return keys_check_paths(c, t, read, n);
}

sheaf_rc write_bind(struct core *core, struct ctx *c, struct write_op *op, struct table *t)
{
    val item = item_map(op->w->item);
    assert(t);
    if (op->table) table_unref(op->table); /* may be the same: each has its own reference */
    op->table = t;
    op->hash = table_hash_of(t, item);
    op->range = table_range_of(t, item);
    return row_item_key(core, c, t, op->hash, op->range, &op->key);
}

void write_done(struct write_op *op)
{
    if (op->table) table_unref(op->table);
    op->table = NULL;
}

sheaf_rc write_find_table(struct core *core, struct ctx *c, sheaf_txn *txn, span name,
                          struct table **table_out)
{
    cat_enter(core);
    sheaf_rc rc = cat_get_entered(core, name, table_out, c->err);
    if (rc == SHEAF_OK) rc = eng_guard(txn, &(*table_out)->catalog_key, c->err);
    cat_leave(core);
    if (rc != SHEAF_OK && *table_out) {
        table_unref(*table_out);
        *table_out = NULL;
    }
    return rc;
}

/* ---- with the item ---- */

bool write_is_verdict(sheaf_rc rc)
{
    return rc == SHEAF_CONDITIONAL_CHECK_FAILED || rc == SHEAF_VALIDATION ||
           rc == SHEAF_ITEM_COLLECTION_SIZE;
}

/* Bytes from the engine: an item, and the one that was asked for. */
static sheaf_rc check_stored(struct ctx *c, const struct write_op *op, span stored)
{
    const struct table *t = op->table;
    assert(t && stored.p);
    TRY(item_check(stored, c->err));
    val is = item_map(stored);
    bool is_same = val_eq(table_hash_of(t, is), op->hash) &&
                   (!t->has_range || val_eq(table_range_of(t, is), op->range));
    if (is_same) return SHEAF_OK;
    return err_set(c->err, SHEAF_CORRUPT, "table %.*s: a row holds the item of another key",
                   SPAN_ARG(t->name));
}

static sheaf_rc too_large(struct ctx *c, const struct write_op *op)
{
    return err_validation(c->err, "Item size %shas exceeded the maximum allowed size",
                          op->w->action == CORE_UPDATE ? "to update " : "");
}

static sheaf_rc apply_update(struct ctx *c, struct write_op *op)
{
    span before = op->change.before, *after = &op->change.after;
    assert(op->w->action == CORE_UPDATE && !after->p);
    bool creates = !op->update || expr_update_creates(op->update);
    if (!before.p && !creates) return SHEAF_OK;
    *after = before.p ? before : op->w->item;
    if (op->update) TRY(expr_update_apply(c, op->update, item_map(*after), after));
    if (item_size(*after) > LIMIT_ITEM_BYTES) return too_large(c, op);
    return effects_check(c, op->table, item_map(*after), true);
}

sheaf_rc write_judge(struct core *core, struct ctx *c, struct write_op *op, span before)
{
    assert(op->table && op->change.is_ttl == false);
    op->change = (struct change){.table = op->table, .key = op->key, .before = before};
    op->effects = (struct effects){.n_arms = 0};
    if (before.p) TRY(check_stored(c, op, before));
    op->change.now_us = core_now_us(core);
    if (op->condition && !expr_eval(op->condition, before.p ? item_map(before) : VAL_ABSENT))
        return err_set(c->err, SHEAF_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
    switch (op->w->action) {
    case CORE_PUT:
        op->change.after = op->w->item;
        break;
    case CORE_UPDATE:
        return apply_update(c, op);
    case CORE_CHECK:
        op->change.after = before;
        break;
    case CORE_DELETE:
        break;
    }
    return SHEAF_OK;
}

sheaf_rc write_plan(struct core *core, struct ctx *c, sheaf_txn *txn, struct write_op *op,
                    int64_t collection_growth, bool wants_metrics)
{
    const struct table *t = op->table;
    TRY(effects_plan(core, c, txn, &op->change, &op->effects));
    if (!t->has_local) return SHEAF_OK;
    if (op->effects.local_bytes > LIMIT_ITEM_BYTES) return too_large(c, op);
    int64_t growth = op->effects.collection_delta;
    if (growth <= 0 && !wants_metrics) return SHEAF_OK;
    uint64_t bytes;
    TRY(effects_collection_bytes(c, txn, t, &op->key.p, &bytes));
    int64_t total = (int64_t)bytes + collection_growth + growth;
    op->collection_bytes = total > 0 ? (uint64_t)total : 0;
    if (growth > 0 && op->collection_bytes > core->max_collection_bytes)
        return err_set(c->err, SHEAF_ITEM_COLLECTION_SIZE, "Collection size exceeded.");
    return SHEAF_OK;
}

/* ---- charges ---- */

void write_charge_refused(struct ctx *c, struct write_op *op)
{
    uint32_t bytes = op->change.before.p ? item_size(op->change.before) : 0;
    op->effects = (struct effects){.arms = ARENA_NEW(c->arena, struct effect_arm)};
    if (!op->effects.arms) return; /* charged nothing rather than failing what has failed already */
    op->effects.arms[op->effects.n_arms++] = (struct effect_arm){NULL, effects_write_units(bytes)};
}

/* The partition key of the item's entry in an index: of the new entry, else of the old one. */
static struct throttle_key index_key(const struct write_op *op, const struct table_index *x)
{
    struct throttle_key key = {.n = 0};
    const struct effects *all = &op->effects;
    for (uint32_t i = 0; i < all->n_entries; i++) {
        const struct effect_entry *e = &all->entries[i];
        if (e->index != x || !(e->has_new || e->has_old)) continue;
        val item = item_map(e->has_new ? op->change.after : op->change.before);
        key.place = e->has_new ? e->new_key.p : e->old_key.p;
        key.n = x->def.n_hash;
        for (uint32_t k = 0; k < key.n; k++) key.partition[k] = val_find(item, x->def.hash[k].name);
    }
    return key;
}

static bool has_own_throughput(const struct effect_arm *arm)
{
    return arm->index && !arm->index->def.is_local; /* a local index lives on the table's */
}

/* What the first n_arms took from their indexes. */
static void give_back(struct core *core, const struct write_op *op, uint32_t n_arms)
{
    for (uint32_t i = 0; i < n_arms; i++) {
        const struct effect_arm *arm = &op->effects.arms[i];
        if (!has_own_throughput(arm)) continue;
        struct throttle_key key = index_key(op, arm->index);
        throttle_unwrite(core, op->table, arm->index, &key, arm->write_units);
    }
}

/* From the table and all indexes, or from none. */
sheaf_rc write_throttle(struct core *core, struct ctx *c, const struct write_op *op,
                        bool is_transaction)
{
    const struct table *t = op->table;
    const struct effects *all = &op->effects;
    assert(t);
    double own = 0;
    sheaf_rc rc = SHEAF_OK;
    uint32_t n = 0;
    for (; n < all->n_arms && rc == SHEAF_OK; n++) {
        const struct effect_arm *arm = &all->arms[n];
        if (!has_own_throughput(arm)) {
            own += arm->write_units * (is_transaction && !arm->index ? 2.0 : 1.0);
            continue;
        }
        struct throttle_key key = index_key(op, arm->index);
        rc = throttle_write(core, t, arm->index, &key, arm->write_units, c->err);
    }
    struct throttle_key key = {op->key.p, {op->hash}, 1};
    if (rc != SHEAF_OK)
        n--; /* the last one was refused */
    else
        rc = throttle_write(core, t, NULL, &key, own, c->err);
    if (rc != SHEAF_OK) give_back(core, op, n);
    return rc;
}

sheaf_rc write_metrics(struct ctx *c, const struct write_op *op, struct core_metrics *out)
{
    const struct table *t = op->table;
    *out = (struct core_metrics){.bytes = op->collection_bytes};
    if (!t->has_local) return SHEAF_OK;
    struct vb b;
    vb_init(&b, c, LIMIT_PARTITION_KEY_BYTES + 1024);
    vb_map_begin(&b);
    vb_name(&b, t->hash.name);
    vb_raw(&b, op->hash);
    vb_end(&b);
    TRY(vb_finish_item(&b, &out->key));
    out->table = arena_dup(c->arena, t->name);
    return out->table.p ? SHEAF_OK : err_nomem(c->err);
}
