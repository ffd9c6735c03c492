/* Turns bytes into capacity units and units into ConsumedCapacity. Know before editing: the outcome
 * outlives the table it speaks of, so every name in it is a copy. */
#include "core/capacity.h"

#include "core/enums.h"

#include <assert.h>

uint32_t capacity_write_units(uint32_t bytes)
{
    return bytes <= CAPACITY_WRITE_BYTES
               ? 1
               : (bytes + CAPACITY_WRITE_BYTES - 1) / CAPACITY_WRITE_BYTES;
}

double capacity_read_units(uint64_t bytes, bool is_consistent, bool is_transaction)
{
    uint64_t steps =
        bytes <= CAPACITY_READ_BYTES ? 1 : (bytes + CAPACITY_READ_BYTES - 1) / CAPACITY_READ_BYTES;
    assert(steps >= 1);
    double units = (double)steps;
    return is_transaction ? 2 * units : is_consistent ? units : units / 2;
}

sheaf_rc capacity_init(struct ctx *c, struct capacity *k, enum core_capacity_mode mode,
                       uint32_t max_tables, bool is_write)
{
    *k = (struct capacity){.mode = CORE_CAPACITY_NONE};
    TRY(enum_check(c, (int64_t)mode, CORE_CAPACITY_INDEXES, "returnConsumedCapacity",
                   ENUM_CAPACITY_SET));
    *k = (struct capacity){.mode = mode, .max = max_tables};
    if (mode == CORE_CAPACITY_NONE) return SHEAF_OK;
    k->tables = ARENA_ARRAY(c->arena, struct core_capacity, max_tables);
    if (!k->tables) return err_nomem(c->err);
    for (uint32_t i = 0; i < max_tables; i++) k->tables[i].is_write = is_write;
    return SHEAF_OK;
}

static struct core_capacity *row_of(const struct capacity *k, const struct table *t)
{
    for (uint32_t i = 0; i < k->n; i++)
        if (span_eq(k->tables[i].table, t->name)) return &k->tables[i];
    return NULL;
}

static sheaf_rc reserve_arms(struct ctx *c, struct core_capacity *row, const struct table *t)
{
    row->arms = ARENA_ARRAY(c->arena, struct core_arm, 1 + t->n_indexes);
    if (!row->arms) return err_nomem(c->err);
    row->n_arms = 1; /* the base table, without a name */
    for (uint32_t i = 0; i < t->n_indexes; i++) {
        const struct core_index_def *def = &t->indexes[i].def;
        span name = arena_dup(c->arena, def->name);
        if (!name.p) return err_nomem(c->err);
        row->arms[row->n_arms++] = (struct core_arm){.index = name, .is_local = def->is_local};
    }
    return SHEAF_OK;
}

sheaf_rc capacity_reserve(struct ctx *c, struct capacity *k, const struct table *t)
{
    if (k->mode == CORE_CAPACITY_NONE || row_of(k, t)) return SHEAF_OK;
    assert(k->n < k->max);
    struct core_capacity *row = &k->tables[k->n];
    row->table = arena_dup(c->arena, t->name);
    if (!row->table.p) return err_nomem(c->err);
    if (k->mode == CORE_CAPACITY_INDEXES) TRY(reserve_arms(c, row, t));
    k->n++;
    return SHEAF_OK;
}

void capacity_add(struct capacity *k, const struct table *t, const struct table_index *x,
                  double units)
{
    if (k->mode == CORE_CAPACITY_NONE) return;
    struct core_capacity *row = row_of(k, t);
    assert(row);
    row->units += units;
    /* An index that was made after the room was (between two writes of a batch) has no arm. */
    for (uint32_t i = 0; i < row->n_arms; i++)
        if (span_eq(row->arms[i].index, x ? x->def.name : SPAN_NONE)) row->arms[i].units += units;
}

void capacity_add_effects(struct capacity *k, const struct table *t, const struct effects *effects,
                          bool is_transaction)
{
    for (uint32_t i = 0; i < effects->n_arms; i++) {
        const struct effect_arm *arm = &effects->arms[i];
        double units = arm->write_units;
        if (is_transaction && !arm->index) units *= 2;
        capacity_add(k, t, arm->index, units);
    }
}

void capacity_finish(struct capacity *k)
{
    for (uint32_t i = 0; i < k->n; i++) {
        struct core_capacity *row = &k->tables[i];
        uint32_t kept = row->n_arms ? 1 : 0;
        for (uint32_t a = 1; a < row->n_arms; a++)
            if (row->arms[a].units > 0) row->arms[kept++] = row->arms[a];
        assert(kept <= row->n_arms);
        row->n_arms = kept;
    }
}
