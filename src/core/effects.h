/* core/effects.h: everything that follows from one item changing: index entries, statistics, stream
 * record, expiry row.
 *
 * Layer rule: internal to core.
 *
 * One function of (before image, after image), so that PutItem, transactions, TTL and replays go
 * the same way, and so that it can
 * later be driven from an outbox. Nothing here reads the clock or decides about conditions.
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
struct effects {
    struct effect_arm *arms; /* base first, then indexes that changed */
    uint32_t n_arms;
    int64_t collection_delta; /* bytes added to the collection, all local indexes included */
};

/* Checks the after image against the indexes' key schemas (types, empty values, sizes), with AWS's
 * messages; before any write. */
SHEAF_NODISCARD sheaf_rc effects_check(struct ctx *c, const struct table *t, val after);
/* Puts every row that the change implies into the transaction, the base row included. */
SHEAF_NODISCARD sheaf_rc effects_apply(struct core *core, struct ctx *c, sheaf_txn *txn,
                                       const struct change *change, struct effects *out);
/* The charge alone, for writes that were refused by a condition. */
uint32_t effects_write_units(uint32_t item_bytes);

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
