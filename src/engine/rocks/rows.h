/* engine/rocks/rows.h: rows that were read lately, ready to be read again.
 *
 * Layer rule: as rocks.h, which includes it.
 *
 * WHY  A get of RocksDB takes about 4,000 instructions and half a dozen cache misses even when its
 * own row cache has the row, because it looks through the memtables and finds out the file first.
 * Its row cache also forgets a row with the file it lay in. This one stands in front of RocksDB: one
 * look-up, and a row stays until it is written. It knows the newest committed rows only; snapshots
 * and cursors go past it.
 *
 * NEVER STALE. A commit tells every key it writes twice, under commit_mutex: rocks_rows_begin
 * before RocksDB has the batch, rocks_rows_end behind it. Between the two the row cannot be found,
 * and nobody puts a row of that shard in. A reader who did not find a row takes the shard's version
 * with it, reads RocksDB, and may put the row in only if no commit of the shard has begun since and
 * none was under way then. So a row that is found is the newest: a commit that began after it was
 * read has hidden it, one that began before had ended before the reader looked.
 *
 * A row is counted: whoever has found one keeps its bytes until rocks_row_done, in or out of the
 * cache. */
#ifndef ENGINE_ROCKS_ROWS_H
#define ENGINE_ROCKS_ROWS_H

#include "base/err.h"

#include <pthread.h>
#include <stdatomic.h>

#include <sheaf/sys/engine.h>

enum { ROCKS_ROW_SHARDS = 256 };

struct rocks_row {
    atomic_uint refs;
    bool is_used;       /* since the hand came by last */
    uint32_t n_changes; /* of the commit under way; it is hidden while there are any */
    uint32_t n_key, n_value, room;
    uint64_t hash;
    struct rocks_row *next;          /* in its bucket */
    struct rocks_row *older, *newer; /* in the ring */
    uint8_t bytes[];                 /* key, value */
};

struct rocks_row_shard {
    _Alignas(64) pthread_mutex_t mutex;
    uint64_t version; /* commits that have begun */
    uint32_t n_busy;  /* keys of commits under way */
    struct rocks_row **buckets;
    struct rocks_row *hand;  /* of the ring; NULL: the shard is empty */
    struct rocks_row *spare; /* memory of a row that went */
    uint64_t bytes;
};

struct rocks_rows {
    struct rocks_row_shard *shards; /* NULL: no cache */
    uint64_t max_bytes;             /* of a shard */
    uint32_t mask;                  /* of its buckets */
};

/* What a reader who did not find a row needs to put it in afterwards. */
struct rocks_row_miss {
    uint64_t hash, version;
    bool is_open; /* it may */
};

/* max_bytes 0: no cache, and nothing is ever found. */
SHEAF_NODISCARD sheaf_rc rocks_rows_init(struct rocks_rows *r, uint64_t max_bytes,
                                         sheaf_error *err);
/* Nobody may hold a row any more. */
void rocks_rows_deinit(struct rocks_rows *r);
/* Any thread. */
uint64_t rocks_rows_bytes(const struct rocks_rows *r);

/* The row of a key (P and S in one piece), counted, or NULL. Any thread. */
struct rocks_row *rocks_rows_find(struct rocks_rows *r, span key, struct rocks_row_miss *miss_out);
/* What RocksDB had for the key after rocks_rows_find had not found it. */
void rocks_rows_offer(struct rocks_rows *r, const struct rocks_row_miss *miss, span key,
                      span value);
static inline span rocks_row_value(const struct rocks_row *row)
{
    return SPAN(row->bytes + row->n_key, row->n_value);
}
void rocks_row_done(struct rocks_row *row);

/* Under commit_mutex, for every write of a batch; once each for each begin, in the order of the
 * batch. A row that is in the cache takes the value that was put; p == NULL (deleted, added to)
 * takes it out. */
void rocks_rows_begin(struct rocks_rows *r, span key);
void rocks_rows_end(struct rocks_rows *r, span key, span value);
/* Under commit_mutex: the rows of a space went without being named. */
void rocks_rows_forget_space(struct rocks_rows *r, const uint8_t space[8]);

#endif
