/* core/stream.h: what the files of streams share.
 *
 * Layer rule: internal to core; included by stream*.c, background.c and who verifies a database.
 *
 *      change ─stream_append→ row of a shard's log ─stream_decode→ record
 *
 * A shard is one place of the stream's space; its rows are ordered by the stamp of their commit.
 * The row with empty S is the shard's mark: up to which stamp records have been trimmed.
 *
 *      S = stamp, 12 bytes    the record, an encoded item
 *                             e  N  event (enum core_event)
 *                             k  B  the key, an encoded item; only when there is no image
 *                             n  B  the new image       o  B  the old image
 *                             t  N  when it was made, microseconds
 *                             x  BOOL  there and true: made by the TTL service
 *      S empty                the mark, an encoded item: t  B  stamp
 *
 * Images lie in the record as bytes, not as maps: an item may be nested as deep as a value can be.
 */
#ifndef CORE_STREAM_H
#define CORE_STREAM_H

#include "core/state.h"

#define STREAM_RETENTION_US (INT64_C(24) * 3600 * 1000000)
#define STREAM_ITERATOR_LIFE_US (INT64_C(15) * 60 * 1000000)

enum {
    STREAM_SEQUENCE_DIGITS = 30,
    STREAM_EVENT_ID_DIGITS = 32,
    STREAM_SHARD_ID_BYTES = 8 + 20 + 1 + 8,
    STREAM_ITERATOR_MAX = 2048 /* bytes of text, as AWS has it */
};

/* ---- stamps and their texts ---- */

static inline int stream_stamp_cmp(const sheaf_stamp *a, const sheaf_stamp *b)
{
    return memcmp(a->b, b->b, sizeof a->b);
}
bool stream_stamp_is_zero(const sheaf_stamp *s);
/* The neighbours. Of the last stamp there is no next, of zero no previous: both stay. */
sheaf_stamp stream_stamp_next(const sheaf_stamp *s);
sheaf_stamp stream_stamp_prev(const sheaf_stamp *s);
/* "1" and 29 digits: fixed width, so that order of texts is order of stamps. */
void stream_sequence_format(const sheaf_stamp *s, char out[STREAM_SEQUENCE_DIGITS]);
/* false when it is not the text of a stamp. */
bool stream_sequence_parse(span text, sheaf_stamp *out);
/* "shardId-<when the stream was made, 20 digits>-<first hash of the shard, 8 hex digits>" */
void stream_shard_id(const struct table_stream *s, uint32_t shard, char out[STREAM_SHARD_ID_BYTES]);

/* ---- records ---- */

/* The record of a row with a stamp. Images and keys point into row->value or lie in the arena;
 * texts lie in the arena. SHEAF_CORRUPT when the row is no record of this table. */
SHEAF_NODISCARD sheaf_rc stream_decode(struct ctx *c, const struct table *t,
                                       const struct table_stream *s, const struct sheaf_row *row,
                                       struct core_record *out);
/* Only when it was made, and whether it is a record's row at all. */
SHEAF_NODISCARD sheaf_rc stream_created(const struct sheaf_row *row, int64_t *us_out,
                                        sheaf_error *err);
SHEAF_NODISCARD sheaf_rc stream_mark_encode(struct ctx *c, const sheaf_stamp *s, span *value_out);
/* Any bytes are safe; absent (p == NULL) is zero. */
SHEAF_NODISCARD sheaf_rc stream_mark_decode(span value, sheaf_stamp *out, sheaf_error *err);

/* ---- reading a shard ---- */

/* One shard at one moment. */
struct stream_log {
    sheaf_txn *txn;
    sheaf_place p;
    int64_t cutoff_us; /* records made then or before are out of retention */
};
struct stream_peek {
    sheaf_stamp stamp;
    int64_t created_us;
    bool has_row;
};
/* The first record at or behind `from`; the last one of all. */
SHEAF_NODISCARD sheaf_rc stream_first(const struct stream_log *l, const sheaf_stamp *from,
                                      struct stream_peek *out, sheaf_error *err);
SHEAF_NODISCARD sheaf_rc stream_last(const struct stream_log *l, struct stream_peek *out,
                                     sheaf_error *err);
SHEAF_NODISCARD sheaf_rc stream_mark(const struct stream_log *l, sheaf_stamp *out,
                                     sheaf_error *err);
/* Up to which stamp everything is trimmed or out of retention: zero when nothing is. O(log) reads,
 * however far the background is behind. */
SHEAF_NODISCARD sheaf_rc stream_horizon(const struct stream_log *l, sheaf_stamp *out,
                                        sheaf_error *err);

/* ---- streams of tables ---- */

/* Whether it may still be read: enabled, or disabled for less than 24 hours. */
bool stream_is_readable(const struct table_stream *s, int64_t now_us);
/* A counted reference to the table, and its stream. SHEAF_RESOURCE_NOT_FOUND with AWS's message. */
SHEAF_NODISCARD sheaf_rc stream_find(struct core *core, struct ctx *c, span table, span label,
                                     struct table **table_out,
                                     const struct table_stream **stream_out);
sheaf_rc stream_not_found(struct core *core, sheaf_error *err, span table, span label);

/* ---- iterators ---- */

/* `after` zero: from the oldest record that is kept. */
struct stream_iterator {
    span table; /* name */
    uint64_t space;
    uint32_t shard;
    sheaf_stamp after;
    int64_t made_us;
};
SHEAF_NODISCARD sheaf_rc stream_iterator_format(struct ctx *c, const struct key_secret *secret,
                                                const struct stream_iterator *it, span *text_out);
/* Any text is safe. SHEAF_VALIDATION "Invalid ShardIterator" when it was not made with this secret.
 */
SHEAF_NODISCARD sheaf_rc stream_iterator_parse(struct ctx *c, const struct key_secret *secret,
                                               span text, struct stream_iterator *out);

#endif
