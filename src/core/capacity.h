/* core/capacity.h: capacity units by AWS's rules, and ConsumedCapacity as it is summed per table.
 *
 * Layer rule: internal to core. */
#ifndef CORE_CAPACITY_H
#define CORE_CAPACITY_H

#include "core/effects.h"

enum { CAPACITY_WRITE_BYTES = 1024, CAPACITY_READ_BYTES = 4096 };

/* Whole kilobytes, at least one. */
uint32_t capacity_write_units(uint32_t bytes);
/* Steps of 4 KB, at least one; eventually consistent half of it, in a transaction twice. */
double capacity_read_units(uint64_t bytes, bool is_consistent, bool is_transaction);

/* The sums of one request: one row per table, in order of first mention. Memory is taken before the
 * work is done and the sums are made after it, so that no write is made whose outcome fails. */
struct capacity {
    enum core_capacity_mode mode;
    struct core_capacity *tables; /* in the arena */
    uint32_t n, max;
};
/* For at most max_tables tables. With CORE_CAPACITY_NONE everything below does nothing. */
SHEAF_NODISCARD sheaf_rc capacity_init(struct ctx *c, struct capacity *k,
                                       enum core_capacity_mode mode, uint32_t max_tables,
                                       bool is_write);
/* Makes room for a table and all its indexes, once. Names are copied into the arena. */
SHEAF_NODISCARD sheaf_rc capacity_reserve(struct ctx *c, struct capacity *k, const struct table *t);
/* Adds units of the base table (x NULL) or of an index of a table with room. */
void capacity_add(struct capacity *k, const struct table *t, const struct table_index *x,
                  double units);
/* A write: twice the units of the base table in a transaction. */
void capacity_add_effects(struct capacity *k, const struct table *t, const struct effects *effects,
                          bool is_transaction);
/* Drops the indexes that were charged nothing: the service names only those that were. */
void capacity_finish(struct capacity *k);

#endif
