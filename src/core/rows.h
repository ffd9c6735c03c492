/* core/rows.h: where every row of the database lives: spaces, places, sort bytes and values.
 *
 * Layer rule: internal to core.
 *
 *  space      P.hash                    S                         value
 *  0 meta     zero                      name of the row           see meta.c: secret, next space,
 *  format
 *  1 catalog  hash of the table's name  name                      the table as an encoded item
 *  2 tokens   hash of S                 kind, token               see token.h
 *  table      hash(partition key)       sort key                  the item
 *  index      hash(index partition key) index sort keys ‖ tie     the projected item
 *  stats      hash(collection's key)    space of table or index,  int64 items, int64 bytes (engine
 *  add)
 *             (zero: the whole)         8 bytes big-endian
 *  stream     shard number, big-endian  stamp; empty: the mark    encoded item: see stream.h
 *  ttl        bucket 0 … 15             seconds ‖ tie             encoded item: the key of the item
 *
 * A collision of partition-key hashes would put two collections under one P: whoever reads a row
 * compares the key attributes
 * in the value with what was asked for and reports SHEAF_CORRUPT on a mismatch.
 */
#ifndef CORE_ROWS_H
#define CORE_ROWS_H

#include "core/table.h"

enum { SPACE_META = 0, SPACE_CATALOG = 1, SPACE_TOKENS = 2, SPACE_FIRST_FREE = 16 };
enum { STREAM_SHARDS = 4, TTL_BUCKETS = 16 };

const struct key_secret *core_secret(struct core *core);

/* A key whose sort bytes lie in the arena. */
SHEAF_NODISCARD sheaf_rc row_item_key(struct core *core, struct ctx *c, const struct table *t,
                                      val hash, val range, sheaf_engine_key *key_out);
/* The entry of an item in an index; *has_entry_out false when the item lacks a key attribute of it
 * (sparse), or has one that cannot be a key: wrong type, empty, too long. Writes refuse those
 * (effects_check), but an item may be older than the index. */
SHEAF_NODISCARD sheaf_rc row_index_key(struct core *core, struct ctx *c, const struct table *t,
                                       const struct table_index *x, val item,
                                       sheaf_engine_key *key_out, bool *has_entry_out);
/* What the index stores of an item: an encoded item with its keys, the table's keys and what it
 * projects. */
SHEAF_NODISCARD sheaf_rc row_index_value(struct ctx *c, const struct table *t,
                                         const struct table_index *x, span item, span *value_out);
/* Statistics of one collection (P of the collection in `place`), or of the whole table or index
 * (place NULL). */
void row_stats_key(const struct table *t, uint64_t space, const sheaf_place *place,
                   uint8_t s_out[8], sheaf_engine_key *key_out);
sheaf_place row_shard_place(const struct table_stream *stream, uint32_t shard);
/* The shard that records of a partition key go to: by hash range. */
uint32_t row_shard_of(const sheaf_place *item_place);
/* Expiry row. `tie` is the hash of the item's key. */
SHEAF_NODISCARD sheaf_rc row_ttl_key(struct core *core, struct ctx *c, const struct table *t,
                                     int64_t seconds, val hash, val range,
                                     sheaf_engine_key *key_out);
sheaf_place row_ttl_place(const struct table *t, uint32_t bucket);
/* Whether the index stores an attribute of this name. */
bool row_index_has(const struct table *t, const struct table_index *x, span name);

#endif
