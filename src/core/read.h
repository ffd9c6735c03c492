/* core/read.h: what GetItem, BatchGetItem, TransactGetItems and Query share: one item asked for by
 * its key, and rows of the engine turned into items of an outcome.
 *
 * Layer rule: internal to core.
 *
 * TRUST  Bytes of the engine are looked at with item_check_shape: everything that later code walks
 * by (lengths, offsets, tags, depth, numbers) is checked, so no damaged row can make a reader
 * leave its bytes. What costs the most and harms nobody is left to verify: UTF-8, the order of
 * names, the size field. RocksDB checks the checksum of each block it reads, and the rows of the
 * in-memory engine are our own memory, so damage between those two checks means a broken machine.
 * Key attributes are compared with what was asked for, because the hash of a partition key may
 * collide.
 */
#ifndef CORE_READ_H
#define CORE_READ_H

#include "core/capacity.h"
#include "core/keys.h"
#include "core/state.h"

/* One item asked for by its key. */
struct read_op {
    const struct core_get *q;
    const struct expr_projection *projection; /* NULL: everything */
    struct table *table;                      /* counted; NULL until bound */
    val hash, range;                          /* of q->key, once bound */
    sheaf_engine_key key;                     /* once bound */
};

/* What can be said of the request alone: placeholders and expressions. */
SHEAF_NODISCARD sheaf_rc read_compile(struct ctx *c, struct read_op *op, const struct core_get *q);
/* Checks key and projection against the table, of which it takes the reference over (also when it
 * fails), and makes the engine's key. */
SHEAF_NODISCARD sheaf_rc read_bind(struct core *core, struct ctx *c, struct read_op *op,
                                   struct table *t);
/* Turns what the engine has under the key (p == NULL: nothing) into the item asked for, in the
 * arena; *bytes_out is the size that is charged. */
SHEAF_NODISCARD sheaf_rc read_take(struct ctx *c, const struct read_op *op, span stored,
                                   span *item_out, uint32_t *bytes_out);
void read_done(struct read_op *op);

/* A row as the engine has it: whether it can be walked. */
SHEAF_NODISCARD sheaf_rc read_check_row(struct ctx *c, const struct table *t, span stored);
SHEAF_NODISCARD sheaf_rc read_corrupt(struct ctx *c, const struct table *t, const char *what);

#endif
