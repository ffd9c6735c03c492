/* core/write.h: one write of one item, from request to change: shared by PutItem and its kin, by
 * batches and by transactions.
 *
 * Layer rule: internal to core.
 *
 *      request ─write_compile→ programs ─write_bind→ key ─write_judge→ after image
 *              ─write_plan→ effects
 *
 * write_compile needs no table; write_bind the table; write_judge and write_plan the item before.
 * The last two are pure functions of what the transaction read, so an attempt that is replayed
 * repeats them.
 *
 * VERDICTS  What write_judge and write_plan refuse (write_is_verdict) was judged on bytes that are
 * only true when the transaction commits: commit it, without writes, before reporting.
 */
#ifndef CORE_WRITE_H
#define CORE_WRITE_H

#include "core/capacity.h"
#include "core/keys.h"
#include "core/state.h"

struct write_op {
    const struct core_write *w;
    enum keys_in keys_in;
    const struct expr_program *condition; /* NULL: none */
    const struct expr_update *update;     /* NULL: none */
    struct table *table;                  /* counted; NULL until bound */
    val hash, range;                      /* of the item to write, once bound */
    sheaf_engine_key key;                 /* of the base row, once bound */
    /* Of one attempt: */
    struct change change;
    struct effects effects;
    uint64_t collection_bytes; /* after the change, when it was asked for or checked */
};

/* What can be said of the request alone: placeholders, expressions, the size of an item to put. */
SHEAF_NODISCARD sheaf_rc write_compile(struct ctx *c, struct write_op *op,
                                       const struct core_write *w);
/* Faults that the service finds before it opens a transaction: empty key values. */
SHEAF_NODISCARD sheaf_rc write_check_values(struct ctx *c, const struct write_op *op,
                                            const struct table *t);
/* All the others that need the table: key schema, types and sizes of keys, paths into keys. */
SHEAF_NODISCARD sheaf_rc write_check_schema(struct ctx *c, const struct write_op *op,
                                            const struct table *t);
/* Takes over the reference to the table, gives the older one back, and makes the key. */
SHEAF_NODISCARD sheaf_rc write_bind(struct core *core, struct ctx *c, struct write_op *op,
                                    struct table *t);
/* Judges the condition and makes the after image. `before` is as the engine returned it. */
SHEAF_NODISCARD sheaf_rc write_judge(struct core *core, struct ctx *c, struct write_op *op,
                                     span before);
/* What follows, and whether the collection may grow so. collection_growth is what other writes of
 * the same transaction add to it. */
SHEAF_NODISCARD sheaf_rc write_plan(struct core *core, struct ctx *c, sheaf_txn *txn,
                                    struct write_op *op, int64_t collection_growth,
                                    bool wants_metrics);
/* Whether a code is a verdict about the item, not a failure. */
bool write_is_verdict(sheaf_rc rc);
/* Takes the write's units from the buckets of table and indexes. */
SHEAF_NODISCARD sheaf_rc write_throttle(struct core *core, struct ctx *c, const struct write_op *op,
                                        bool is_transaction);
/* What a write that was refused by its condition is charged. */
void write_charge_refused(struct ctx *c, struct write_op *op);
/* ItemCollectionMetrics; empty when the table has no local index. */
SHEAF_NODISCARD sheaf_rc write_metrics(struct ctx *c, const struct write_op *op,
                                       struct core_metrics *out);
void write_done(struct write_op *op);

/* Looks the table up and guards its schema; in one section, as table.h asks. Counted. */
SHEAF_NODISCARD sheaf_rc write_find_table(struct core *core, struct ctx *c, sheaf_txn *txn,
                                          span name, struct table **table_out);

/* One write in a transaction of its own. */
struct write_alone {
    struct write_op op; /* compiled */
    enum core_return returns;
    enum core_capacity_mode capacity;
    bool wants_metrics;
    struct core_write_outcome out; /* also of a write that its condition refused */
};
SHEAF_NODISCARD sheaf_rc write_alone(struct core *core, struct ctx *c, struct write_alone *a);

/* TransactionCanceledException, with the code of each action's reason. */
SHEAF_NODISCARD sheaf_rc write_cancelled(struct ctx *c, const struct core_written *written,
                                         uint32_t n_written);

#endif
