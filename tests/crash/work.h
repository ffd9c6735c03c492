/* tests/crash/work.h: the transactions that writers run and the checker expects.
 *
 * A transaction is its number n = epoch << 24 | sequence; everything it writes is a function of n:
 *
 *      group(n)    six keys under two places, all put with bytes made of n, or deleted, by style(n)
 *      counter     add(1, n)
 *      log         append(n, what it read of its group, and some bytes)
 *
 * An odd n reads its group first and says in its log record whom it found there, so that a
 * transaction which survives the one it has read is noticed.
 *
 * So the log alone says what every other key must hold. Numbers are never used twice in a
 * directory; each writer has an epoch of its own, larger than those before.
 *
 * Beside them one thread keeps house, as the layer above does with tables: it fills a new space g
 * (numbered like a transaction), commits that g is the live one, and drops the space that was live
 * before, without waiting until the commit is durable. So whatever the catalog key calls live must
 * be there in full. The first space of each writer is an empty one: it begins by retiring what it
 * finds. Now and then it takes a copy. */
#ifndef CRASH_WORK_H
#define CRASH_WORK_H

#include "engine/engine.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    WORK_SPACE = 7,
    WORK_GROUPS = 16,
    WORK_KEYS = 6,
    WORK_SEQUENCE_BITS = 24,
    WORK_ROWS = 64, /* of a live space */
    WORK_ROW_BYTES = 4000,
    WORK_CATALOG_SPACE = 8,
    WORK_VALUE_MAX = 48 << 10
};

/* What a writer tells the driver, in one write of its pipe. */
enum work_news {
    WORK_OPENED = 1, /* the engine is open; count and n, stamp: the log's length and last record,
                        durable by the engine's word (count 0: it is empty) */
    WORK_ACKED,      /* n is durable by the engine's word; stamp is its own */
    WORK_LIVE,       /* that space n is the live one is durable by the engine's word */
    WORK_COPIED      /* copy number n is made; the log had `count` records before it was begun */
};
struct work_message {
    uint32_t kind;
    sheaf_stamp stamp;
    uint64_t n, count;
};
_Static_assert(sizeof(struct work_message) == 32, "less than PIPE_BUF: a write is whole");

unsigned work_group(uint64_t n);
/* The S of a key lies in static storage. */
sheaf_engine_key work_key(unsigned group, unsigned k);
/* What transaction n leaves under key k of its group: the length, 0 for no such key. `to` has room
 * for WORK_VALUE_MAX. */
size_t work_value(uint64_t n, unsigned k, uint8_t *to);

sheaf_engine_key work_counter(void);
sheaf_place work_log(void);
/* The log record of n. `found` is what it read: 0 for nothing, else a number plus 1. */
size_t work_record(uint64_t n, uint64_t found, uint8_t *to);
enum { WORK_RECORD_MIN = 16, WORK_RECORD_MAX = 128 };
/* From a record of at least WORK_RECORD_MIN bytes. */
uint64_t work_number(const void *record);
uint64_t work_found(const void *record);
static inline bool work_reads(uint64_t n) { return n % 2 == 1; }

/* The live space's number, 8 bytes little-endian, under the catalog key; absent: none yet. */
sheaf_engine_key work_catalog(void);
static inline uint64_t work_space(uint64_t g) { return (UINT64_C(1) << 40) + g; }
static inline unsigned work_rows(uint64_t g)
{
    return g & ((1u << WORK_SEQUENCE_BITS) - 1) ? WORK_ROWS : 0;
}
sheaf_engine_key work_row_key(uint64_t g, unsigned i);
/* `to` has room for WORK_ROW_BYTES. */
size_t work_row(uint64_t g, unsigned i, uint8_t *to);

enum work_part { WORK_WHOLE, WORK_FIRST_HALF, WORK_SECOND_HALF };
/* Writes transaction n, or for the planted bug a half of it, into t. */
sheaf_rc work_write(sheaf_txn *t, uint64_t n, uint64_t found, enum work_part part,
                    sheaf_error *err);

#endif
