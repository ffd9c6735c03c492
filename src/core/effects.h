/* core/effects.h: everything that follows from one item changing: index entries, statistics, stream
 * record, expiry row.
 *
 * Layer rule: internal to core.
 *
 * One function of (before image, after image), so that PutItem, transactions, TTL and replays go
 * the same way, and so that it can later be driven from an outbox. Nothing here reads the clock or
 * decides about conditions.
 *
 *      change ─effects_plan→ entries, charges, growth ─effects_write→ rows in the transaction
 *
 * Two steps, because a collection that would grow too large is refused before anything is written.
 */
#ifndef CORE_EFFECTS_H
#define CORE_EFFECTS_H

#include "core/rows.h"

/* One change of one item. Images are encoded items, p == NULL: absent. */
struct change {
    const struct table *table;
    sheaf_engine_key key; /* of the base row */
    span before, after;
    int64_t now_us;
    bool is_ttl; /* made by the TTL service */
};

/* What an index (or the base table, index == NULL) is charged for. */
struct effect_arm {
    const struct table_index *index;
    uint32_t write_units; /* without the factor of transactions */
};
/* What becomes of the item's entry in one index. */
struct effect_entry {
    const struct table_index *index;
    sheaf_engine_key old_key, new_key;
    span new_value;
    int64_t old_bytes, new_bytes;
    bool has_old, has_new; /* an entry to take out of the statistics, one to put in */
    bool is_moved;         /* the old entry has to go */
};
struct effects {
    struct effect_arm *arms; /* base first, then indexes that changed */
    uint32_t n_arms;
    struct effect_entry *entries; /* of the indexes that changed */
    uint32_t n_entries;
    int64_t collection_delta; /* bytes added to the collection, all local indexes included */
    uint64_t local_bytes;     /* the after image with its entries in local indexes */
};

/* Checks the after image against the indexes' key schemas (types, empty values, sizes), with AWS's
 * messages for PutItem or UpdateItem; before any write. */
SHEAF_NODISCARD sheaf_rc effects_check(struct ctx *c, const struct table *t, val after,
                                       bool is_update);
/* What the change implies. Writes nothing; reads (and protects) entries only of indexes that are
 * still being filled, where an old entry may be missing. */
SHEAF_NODISCARD sheaf_rc effects_plan(struct core *core, struct ctx *c, sheaf_txn *txn,
                                      const struct change *change, struct effects *out);
/* Puts every row that the change implies into the transaction, the base row included. A change that
 * changes nothing writes nothing. */
SHEAF_NODISCARD sheaf_rc effects_write(struct core *core, struct ctx *c, sheaf_txn *txn,
                                       const struct change *change, const struct effects *effects);
/* Both steps. */
SHEAF_NODISCARD sheaf_rc effects_apply(struct core *core, struct ctx *c, sheaf_txn *txn,
                                       const struct change *change, struct effects *out);
/* Tells the gauges, after the commit. `item` has at least the key attributes of the base table;
 * change->before is not read. */
void effects_written(struct core *core, const struct change *change, const struct effects *effects,
                     val item);
/* The charge alone, for writes that were refused by a condition. */
uint32_t effects_write_units(uint32_t item_bytes);
/* The bytes of an item collection with all its local indexes, as the transaction sees them; not
 * protected, so that writers of one collection do not conflict. */
SHEAF_NODISCARD sheaf_rc effects_collection_bytes(struct ctx *c, sheaf_txn *txn,
                                                  const struct table *t, const sheaf_place *place,
                                                  uint64_t *bytes_out);

/* One entry appended to the stream of the table when it has one. */
SHEAF_NODISCARD sheaf_rc stream_append(struct core *core, struct ctx *c, sheaf_txn *txn,
                                       const struct change *change);
/* The expiry rows of both images. */
SHEAF_NODISCARD sheaf_rc ttl_apply(struct core *core, struct ctx *c, sheaf_txn *txn,
                                   const struct change *change);
/* The second an item expires, from its TTL attribute; false when it does not (absent, no number,
 * out of the range that AWS honours). */
bool ttl_seconds(const struct table *t, val item, int64_t *seconds_out);

#endif
