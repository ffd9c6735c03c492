/* core/tables.h: what the files of the table operations share.
 *
 * Layer rule: internal to core; included by tables*.c, backfill.c and core.c. */
#ifndef CORE_TABLES_H
#define CORE_TABLES_H

#include "core/state.h"

/* ---- validation, with AWS's messages; nothing here reads the catalog ---- */

/* Type by name. */
struct definitions {
    const struct core_key *all;
    uint32_t n;
};
const struct core_key *definitions_find(struct definitions d, span name);

/* A whole CreateTable request. definitions_out: as given, or derived from the keys; every key is in
 * it. */
SHEAF_NODISCARD sheaf_rc tables_check_create(struct ctx *c, const struct core_create_table *q,
                                             struct definitions *definitions_out);
/* Adds the definitions that the keys of an index carry to all[*n …], which has room for 8. */
SHEAF_NODISCARD sheaf_rc tables_derive(struct ctx *c, const struct core_index_def *x,
                                       struct core_key *all, uint32_t *n);
/* Gives an index's keys the types of their definitions. */
void tables_resolve(struct definitions d, struct core_index_def *def);
/* The members of an UpdateTable request, each for itself: names, units, definitions. */
SHEAF_NODISCARD sheaf_rc tables_check_update(struct ctx *c, const struct core_update_table *q);
SHEAF_NODISCARD sheaf_rc tables_check_create_shapes(struct ctx *c,
                                                    const struct core_create_table *q);
SHEAF_NODISCARD sheaf_rc tables_check_update_shapes(struct ctx *c,
                                                    const struct core_update_table *q);
/* More keys than the struct can hold were counted by the caller: none of them may be read. */
static inline bool tables_is_overfull(const struct core_index_def *x)
{
    return x->n_hash > sizeof x->hash / sizeof x->hash[0] ||
           x->n_range > sizeof x->range / sizeof x->range[0];
}
/* "Given value … for ReadCapacityUnits is out of bounds" */
SHEAF_NODISCARD sheaf_rc tables_check_bounds(struct ctx *c, uint64_t read, uint64_t write);
/* A global index that UpdateTable adds. */
SHEAF_NODISCARD sheaf_rc tables_check_new_index(struct ctx *c, const struct core_index_def *def,
                                                struct definitions d);
/* A table name where an ARN may stand too. */
SHEAF_NODISCARD sheaf_rc tables_check_name(struct ctx *c, span name);
/* The type of a key that stands for its own definition, which would be the i-th; VAL_NONE is none.
 */
SHEAF_NODISCARD sheaf_rc tables_check_type(struct ctx *c, enum val_type type, uint32_t i);
SHEAF_NODISCARD sheaf_rc tables_check_ttl_attribute(struct ctx *c, span attribute);
SHEAF_NODISCARD sheaf_rc tables_check_list(struct ctx *c, const struct core_list_tables *q);
/* "[a, b]" */
void tables_put_names(struct buf *b, const struct core_key *keys, uint32_t n);

/* ---- settings that are kept and told ---- */

/* OnDemandThroughput, WarmThroughput, encryption and tags of a CreateTable request; of one of its
 * global indexes. */
SHEAF_NODISCARD sheaf_rc settings_check_create(struct ctx *c, const struct core_create_table *q);
SHEAF_NODISCARD sheaf_rc settings_check_index(struct ctx *c, const struct core_index_def *x,
                                              bool is_provisioned);
/* The members of an UpdateTable request, each for itself. */
SHEAF_NODISCARD sheaf_rc settings_check_update(struct ctx *c, const struct core_update_table *q);
/* Those of a new table, whose keys, units and indexes are set. false when memory is out. */
bool settings_create(struct table *t, const struct core_create_table *q);
/* Changes `next`, which is `t` with its new billing mode and units already. */
SHEAF_NODISCARD sheaf_rc settings_update(struct core *core, struct ctx *c, const struct table *t,
                                         struct table *next, const struct core_update_table *q);
static inline bool core_is_given(const struct core_throughput *x)
{
    return x->has_read || x->has_write;
}
/* What has been given by UpdateTable beyond the units of an index. */
static inline bool settings_are_given(const struct core_index_def *x)
{
    return core_is_given(&x->on_demand) || core_is_given(&x->warm);
}
/* As a table or index is told to be: what an older release did not write takes its default. */
struct core_throughput settings_warm(const struct core_throughput *warm, bool is_provisioned,
                                     uint64_t read_units, uint64_t write_units);
struct core_unit_changes settings_changes(const struct core_unit_changes *changes, int64_t now_us);
/* Each tag and the number of them. */
SHEAF_NODISCARD sheaf_rc tags_check(struct ctx *c, const struct core_tag *tags, uint32_t n);
/* In order of keys. */
void tags_sort(struct core_tag *tags, uint32_t n);

/* ---- descriptions ---- */

/* "Requested resource not found: Table: … not found" */
sheaf_rc tables_not_found(sheaf_error *err, span name);
/* Looks a table up, by a name that has been checked, for DescribeTable and its like; a counted
 * reference. */
SHEAF_NODISCARD sheaf_rc tables_get(struct core *core, struct ctx *c, span name,
                                    struct table **table_out);
/* The same inside the exclusive section. */
SHEAF_NODISCARD sheaf_rc tables_get_exclusive(struct core *core, struct ctx *c, span name,
                                              struct table **table_out);
/* Everything an outcome says, copied into the arena, with the counts of this moment. */
SHEAF_NODISCARD sheaf_rc tables_describe(struct core *core, struct ctx *c, const struct table *t,
                                         struct core_table_info *out);

/* ---- parts of a new table ---- */

/* A new stream at the end of t's list, which has room; the label differs from every earlier one. */
SHEAF_NODISCARD sheaf_rc tables_add_stream(struct core *core, struct table *t,
                                           enum core_stream_view view, sheaf_error *err);

/* ---- dropping spaces ---- */

/* Spaces that a schema change leaves behind. They are noted in the transaction of the change, freed
 * after it, and the note goes last: an interruption in between is made good at the next opening. */
struct drops {
    uint8_t *note; /* as it is stored: 8 bytes for drops_sweep, then 8 for each space */
    uint32_t n, cap;
    uint64_t id; /* of the note */
};
/* Room for every space of a table, in the arena. */
SHEAF_NODISCARD sheaf_rc drops_init(struct drops *d, struct ctx *c, const struct table *t);
/* 0 is no space and is not added. */
void drops_add(struct drops *d, uint64_t space);
/* The spaces are of indexes of a table that stays: their statistics are to be swept out of it. */
void drops_sweep(struct drops *d, const struct table *t);
/* Installs like cat_install, with the note in the same transaction. */
SHEAF_NODISCARD sheaf_rc drops_install(struct core *core, struct table *old, struct table *next,
                                       struct drops *d, sheaf_position *position_out,
                                       sheaf_error *err);
/* Frees the spaces and removes the note. A failure is not the caller's: the note stays. */
void drops_finish(struct core *core, const struct drops *d);
/* Between the two no space is freed whose table was there at the first; drops_finish leaves its
 * note, and the last one to let go does the work. Nobody waits for anybody. */
void drops_hold(struct core *core);
void drops_let_go(struct core *core);
/* At opening: finishes what earlier runs left noted. */
SHEAF_NODISCARD sheaf_rc tables_finish_drops(struct core *core, sheaf_error *err);
/* Notes that the statistics of a space are to be swept out of another. */
SHEAF_NODISCARD sheaf_rc sweep_note(sheaf_txn *txn, uint64_t space, uint64_t stats_space,
                                    sheaf_error *err);
/* Goes on sweeping: looks at no more than max_rows. */
SHEAF_NODISCARD sheaf_rc sweep_round(struct core *core, uint32_t max_rows, uint64_t *did_out,
                                     bool *has_more_out, sheaf_error *err);

#endif
