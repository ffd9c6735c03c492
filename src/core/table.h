/* core/table.h: what a table is, as every part of core sees it.
 *
 * Layer rule: internal to core.
 *
 * A struct table is immutable and counted; the catalog swaps in a new one when the schema changes.
 * STALE SCHEMAS  A writer must not commit under a schema that has changed since it looked. So a
 * writing request, in one cat_enter … cat_leave section, begins its engine transaction, looks its
 * tables up and guards each table's catalog row (an engine fixes the position of a transaction with
 * its first read or guard). A schema change commits and swaps the cache inside the exclusive side
 * of
 * the same section, so a transaction that guarded before it is refused with SHEAF_CONFLICT and
 * replays with the new table.
 */
#ifndef CORE_TABLE_H
#define CORE_TABLE_H

#include "core/core.h"
#include "key/key.h"

#include <stdatomic.h>

struct table_index {
    struct core_index_def def;
    uint64_t space; /* of its entries */
    enum core_status status;
    struct core_unit_changes changes; /* decreases_today: of the day of the last one */
    bool is_backfilling;              /* entries of older items may be missing still */
    span
        backfill_after; /* where the backfill goes on: P ‖ S of a base row; empty: from the beginning */
};

/* One stream: each enabling makes a new one; old ones stay readable for 24 hours. */
struct table_stream {
    uint64_t space;
    span label;
    enum core_stream_view view;
    int64_t created_us;
    int64_t disabled_us; /* 0: still enabled */
};

struct gauges; /* heat, largest collections and token buckets: see gauges.h */

struct table {
    atomic_uint refs;
    struct arena arena; /* holds everything below */
    span name, id;
    uint64_t number;      /* never reused */
    uint64_t space;       /* items */
    uint64_t stats_space; /* collection statistics of the table and its indexes, see rows.h */
    uint64_t ttl_space;   /* expiry index, a new one each time TTL is switched on; 0: TTL is off */
    int64_t created_us;
    struct core_key hash, range;
    bool has_range;
    bool has_local; /* any local index: collections are limited to 10 GB */
    struct table_index *indexes;
    uint32_t n_indexes;
    bool is_provisioned, is_protected, is_infrequent;
    uint64_t read_units, write_units;
    /* Settings that are kept and told: see tables_settings.c. */
    struct core_throughput on_demand, warm;
    struct core_unit_changes changes; /* decreases_today: of the day of the last one */
    bool is_kms;
    span kms_key;
    int64_t on_demand_us, class_us;
    struct core_tag *tags; /* in order of keys */
    uint32_t n_tags;
    struct table_stream *streams; /* oldest first */
    uint32_t n_streams;
    span ttl_attribute;  /* p == NULL: off */
    bool is_ttl_filling; /* expiry rows of items that are older than the switch may be missing */
    span ttl_after;      /* where that filling goes on, as backfill_after */
    const struct core_key *definitions;
    uint32_t n_definitions;
    sheaf_engine_key catalog_key; /* for guard */
    struct gauges *gauges;        /* counted, shared by all versions of the table */
    /* Where the item looked at last had the key attributes: the items of a table are made alike.
     * Hints only, not part of the table's value. */
    atomic_uint hash_at, range_at;
};

/* The newest stream when it is enabled, else NULL. */
const struct table_stream *table_stream(const struct table *t);
/* NULL when there is no such index. */
const struct table_index *table_index(const struct table *t, span name);
/* The key attributes of an item, NULL-safe: absent when missing. */
val table_hash_of(const struct table *t, val item);
val table_range_of(const struct table *t, val item);
/* A new encoded item with just the key attributes of the base table (and of the index, when not
 * NULL). */
SHEAF_NODISCARD sheaf_rc table_key_item(struct ctx *c, const struct table *t,
                                        const struct table_index *x, val item, span *key_out);

/* ---- the catalog ---- */

/* Shared section: see the head of this file. Not recursive. */
void cat_enter(struct core *core);
void cat_leave(struct core *core);
/* The name that a name or an ARN stands for. */
span cat_name_of(span name);
/* Inside or outside a section. A counted reference; give it back with table_unref. The name may be
 * an ARN of this
 * service. SHEAF_RESOURCE_NOT_FOUND "Requested resource not found" (some operations have longer
 * texts: cat_find returns
 * NULL instead of an error). */
SHEAF_NODISCARD sheaf_rc cat_get(struct core *core, span name, struct table **table_out,
                                 sheaf_error *err);
struct table *cat_find(struct core *core, span name);
/* The same for who is in a section already. */
SHEAF_NODISCARD sheaf_rc cat_get_entered(struct core *core, span name, struct table **table_out,
                                         sheaf_error *err);
struct table *cat_find_entered(struct core *core, span name);
void table_unref(struct table *t);
/* For reads, which guard nothing: the rows of a table or index that is deleted meanwhile go while
 * they are read. Take cat_drops before the table is looked up; when all is read, no answer counts
 * unless cat_still_has says that the space (of the table, an index or a stream) is still in use. */
uint64_t cat_drops(struct core *core);
bool cat_still_has(struct core *core, uint64_t drops, const struct table *t, uint64_t space);
sheaf_rc cat_not_found(sheaf_error *err);
/* All tables, in order of names, counted references in the arena's array. */
SHEAF_NODISCARD sheaf_rc cat_all(struct core *core, struct ctx *c, struct table ***tables_out,
                                 uint32_t *n_out);

/* ---- changing the schema ---- */

/* Exclusive section: no request is between its look-up and its guard. Everything below happens
 * inside it. */
void cat_enter_exclusive(struct core *core);
void cat_leave_exclusive(struct core *core);
/* Numbers for new tables and spaces; taken for good with the next cat_install. */
uint64_t cat_take_number(struct core *core);
/* A new, empty table with one reference, nothing in it but its arena (whose memory dies with it);
 * NULL when memory is out. */
struct table *table_new(void);
/* A deep copy to be changed and installed: lists have room for one more index and one more stream.
 * Shares the gauges. */
SHEAF_NODISCARD sheaf_rc table_copy(const struct table *t, struct table **copy_out,
                                    sheaf_error *err);
/* Copies what an index definition points to into the arena. false when memory is out. */
bool table_dup_index(struct arena *a, struct core_index_def *def);
bool table_dup_tags(struct arena *a, const struct core_tag *tags, uint32_t n,
                    struct core_tag **copy_out);
/* Commits the catalog row (next NULL: removes it) and swaps the cache; `next` becomes the
 * catalog's, `old` (NULL: a new table) loses
 * the catalog's reference. On failure nothing has changed and `next` stays the caller's. */
SHEAF_NODISCARD sheaf_rc cat_install(struct core *core, struct table *old, struct table *next,
                                     sheaf_position *position_out, sheaf_error *err);
/* A row of the caller's that is put in the same transaction. */
struct cat_extra {
    sheaf_engine_key key;
    span value;
};
SHEAF_NODISCARD sheaf_rc cat_install_with(struct core *core, struct table *old, struct table *next,
                                          const struct cat_extra *extra,
                                          sheaf_position *position_out, sheaf_error *err);
/* 8 bytes big-endian, as the header keeps the next number. */
void cat_number_bytes(uint64_t number, uint8_t out[8]);
/* Reads the whole catalog at opening. */
SHEAF_NODISCARD sheaf_rc cat_load(struct core *core, sheaf_error *err);
void cat_unload(struct core *core);

/* Fills t->catalog_key from the name; bytes in the table's arena. */
SHEAF_NODISCARD sheaf_rc table_set_catalog_key(struct core *core, struct table *t,
                                               sheaf_error *err);
/* The table as it is stored: an encoded item. Decoding checks everything it needs. */
SHEAF_NODISCARD sheaf_rc table_encode(struct ctx *c, const struct table *t, span *item_out);
SHEAF_NODISCARD sheaf_rc table_decode(span item, struct table **table_out, sheaf_error *err);

#endif
