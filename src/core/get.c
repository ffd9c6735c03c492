/* Turns GetItem into one read of the engine: request → key → stored bytes → item in the arena.
 *
 * Know before editing: there is no transaction here. One latest value is linearizable by itself;
 * the position is taken after the read, so that it covers whatever the read may have seen. */
#include "core/read.h"

#include <assert.h>

/* ---- one item ---- */

sheaf_rc read_corrupt(struct ctx *c, const struct table *t, const char *what)
{
    return err_set(c->err, SHEAF_CORRUPT, "table %.*s: %s", SPAN_ARG(t->name), what);
}

sheaf_rc read_check_row(struct ctx *c, const struct table *t, span stored)
{
    if (item_check_shape(stored)) return SHEAF_OK;
    sheaf_error why;
    sheaf_rc rc = item_check(stored, &why);
    if (rc == SHEAF_FORMAT) return err_set(c->err, rc, "%s", why.message);
    return read_corrupt(c, t, rc == SHEAF_OK ? "a row is damaged" : why.message);
}

static sheaf_rc check_env(struct ctx *c, const struct core_get *q)
{
    if (!q->projection.p && q->env->has_names)
        return err_validation(
            c->err, "ExpressionAttributeNames can only be specified when using expressions");
    return expr_env_check(q->env, c->err);
}

sheaf_rc read_compile(struct ctx *c, struct read_op *op, const struct core_get *q)
{
    assert(q->key.p && q->env);
    *op = (struct read_op){.q = q};
    TRY(check_env(c, q));
    if (q->projection.p) TRY(expr_compile_projection(c, q->projection, q->env, &op->projection));
    return expr_env_check_unused(q->env, c->err);
}

sheaf_rc read_bind(struct core *core, struct ctx *c, struct read_op *op, struct table *t)
{
    val key = item_map(op->q->key);
    assert(t && t != op->table);
    read_done(op);
    op->table = t;
    struct keys_pair pair;
    TRY(keys_check(c, t, key, KEYS_IN_KEY, &pair));
    if (op->projection) {
        uint32_t n;
        const struct path *paths = expr_projection_paths(op->projection, &n);
        TRY(keys_check_paths(c, t, paths, n));
    }
    op->hash = pair.hash;
    op->range = pair.range;
    return row_item_key(core, c, t, op->hash, op->range, &op->key);
}

void read_done(struct read_op *op)
{
    if (op->table) table_unref(op->table);
    op->table = NULL;
}

sheaf_rc read_take(struct ctx *c, const struct read_op *op, span stored, span *item_out,
                   uint32_t *bytes_out)
{
    const struct table *t = op->table;
    assert(t);
    *item_out = SPAN_NONE;
    *bytes_out = 0;
    if (!stored.p) return SHEAF_OK;
    TRY(read_check_row(c, t, stored));
    val is = item_map(stored);
    if (!val_eq(table_hash_of(t, is), op->hash) ||
        (t->has_range && !val_eq(table_range_of(t, is), op->range)))
        return read_corrupt(c, t, "a row holds the item of another key");
    *bytes_out = item_size(stored);
    if (op->projection) return expr_project(c, op->projection, is, item_out);
    *item_out = arena_dup(c->arena, stored);
    return item_out->p ? SHEAF_OK : err_nomem(c->err);
}

/* ---- GetItem ---- */

static sheaf_rc charge(struct core *core, struct ctx *c, const struct core_get_item *q,
                       const struct read_op *op, double units, struct core_item_outcome *out)
{
    struct capacity k;
    const struct table *t = op->table;
    struct throttle_key key = {op->key.p, {op->hash}, 1};
    TRY(throttle_read(core, t, NULL, &key, units, c->err));
    if (q->capacity == CORE_CAPACITY_NONE) return SHEAF_OK;
    TRY(capacity_init(c, &k, q->capacity, 1, false));
    TRY(capacity_reserve(c, &k, t));
    capacity_add(&k, t, NULL, units);
    capacity_finish(&k);
    if (k.n) out->capacity = k.tables[0];
    return SHEAF_OK;
}

/* The bytes are likely to be in no cache of the processor: asks for all of them at once, before the
 * check walks from one to the next. */
static void prefetch(span stored)
{
    enum { LINE = 64, MOST = 2048 };
    for (size_t at = 0; at < stored.n && at < MOST; at += LINE)
        __builtin_prefetch((const uint8_t *)stored.p + at);
}

static sheaf_rc get(struct core *core, struct ctx *c, const struct core_get_item *q,
                    struct read_op *op, struct core_item_outcome *out)
{
    span stored;
    void *pin;
    uint32_t bytes;
    struct table *t;
    uint64_t drops = cat_drops(core);
    TRY(cat_get(core, q->get.table, &t, c->err));
    TRY(read_bind(core, c, op, t));
    TRY(eng_read(core->engine, &op->key, &stored, &pin, c->err));
    prefetch(stored);
    sheaf_rc rc = read_take(c, op, stored, &out->item, &bytes);
    eng_read_done(core->engine, pin);
    if (!cat_still_has(core, drops, t, t->space)) return cat_not_found(c->err);
    TRY(rc);
    out->position = eng_visible(core->engine);
    return charge(core, c, q, op, capacity_read_units(bytes, q->get.is_consistent, false), out);
}

sheaf_rc core_get_item(struct core *core, struct ctx *c, const struct core_get_item *q,
                       struct core_item_outcome *out)
{
    struct read_op op = {.table = NULL};
    *out = (struct core_item_outcome){.position = 0};
    TRY(faults_check(core, "GetItem", q->get.table, c->err));
    TRY(read_compile(c, &op, &q->get));
    sheaf_rc rc = get(core, c, q, &op, out);
    read_done(&op);
    if (rc != SHEAF_OK) *out = (struct core_item_outcome){.position = eng_visible(core->engine)};
    return rc;
}
