/* key/key.h: from key attributes to the engine's (P, S), order kept.
 *
 * Layer rule: key includes value and base; of the engine it knows the shape of a key
 * (<sheaf/sys/engine.h>), nothing else.
 *
 * P = space number, 8 bytes big-endian ‖ XXH3-128 of the partition key under a secret of the
 *     database. Clients cannot choose collisions because they do not know the secret; the real key
 *     attributes live in the value and are compared on read.
 * S = the sort key attributes one after the other, each self-delimiting, so that unsigned byte
 *     order is value order and no encoding is the beginning of another; in an index 16 bytes of
 *     hash of the base key follow and make the entry unique.
 *
 * THE BYTES OF ONE SORT KEY ATTRIBUTE
 *  S, B   groups of 9: 8 bytes of the value, then FF; the last group, of 0 … 7 bytes, is padded
 *         with 00 and ends in the number of its bytes.
 *             "A"          41 00 00 00 00 00 00 00  01
 *             "ORDER#12"   4F 52 44 45 52 23 31 32  FF    00 00 00 00 00 00 00 00  00
 *         1,024 bytes become 1,161: the growth is bounded whatever the bytes are, which an escape
 *         of 00 is not.
 *  N      the bytes of value/num.h, then 00 when zero or positive (a negative one ends in 66).
 *             1.5          C1 02 33 00                 -42          3E 3B 66
 */
#ifndef KEY_KEY_H
#define KEY_KEY_H

#include "base/buf.h"
#include "base/limits.h"
#include "value/val.h"

#include <sheaf/sys/engine.h>

enum {
    KEY_HASH_BYTES = 16,
    KEY_SECRET_BYTES = 192,
    KEY_SORT_MAX = 1161,
    KEY_MAX_ATTRIBUTES = LIMIT_INDEX_RANGE_ATTRIBUTES
};

/* Made once per database with rng_secret and kept in it: other bytes, other places. */
struct key_secret {
    uint8_t b[KEY_SECRET_BYTES];
};

/* Hash of 1 … 4 partition key attributes (S, N or B). Different types, values or groupings are
 * different inputs. */
void key_hash(const struct key_secret *secret, size_t n, const val attributes[],
              uint8_t out[KEY_HASH_BYTES]);
/* The place of a partition key in a space. */
sheaf_place key_place(const struct key_secret *secret, uint64_t space, size_t n,
                      const val attributes[]);
/* What ends an index entry: a hash of the base table's key (sort may be absent). */
void key_tie(const struct key_secret *secret, val partition, val sort, uint8_t out[KEY_HASH_BYTES]);

/* Appends one sort key attribute (S, N or B) to S. */
void key_put_sort(struct buf *s, val attribute);
/* Takes one attribute of the given type off the front of *s and appends its value to `out`: raw
 * bytes for S and B, the encoded number for N. false when the bytes are not a valid encoding (any
 * input is safe). For verify and tests: no request decodes keys. */
bool key_take_sort(span *s, enum val_type type, struct buf *out);

/* ---- ranges ---- */

enum key_op { KEY_ALL, KEY_EQ, KEY_LT, KEY_LE, KEY_GT, KEY_GE, KEY_BETWEEN, KEY_BEGINS_WITH };

/* A condition on the sort key attributes: the first n_eq are equal to eq[], and on the next one
 * stands `op` (KEY_ALL: nothing). */
struct key_condition {
    size_t n_eq;
    val eq[KEY_MAX_ATTRIBUTES];
    enum key_op op;
    val a, b; /* operand; upper bound of BETWEEN */
};
/* The byte range [lo, hi) of S that holds exactly the keys which satisfy the condition, with or
 * without a tie behind them. Bytes in the arena. hi.p == NULL: unbounded. An impossible condition
 * gives an empty range (lo == hi). KEY_BEGINS_WITH takes S and B only. */
SHEAF_NODISCARD sheaf_rc key_range(struct ctx *c, const struct key_condition *cond, span *lo_out,
                                   span *hi_out);
/* The smallest byte string above everything that starts with s, in place; returns its length, 0
 * when there is none. */
size_t key_successor(uint8_t *s, size_t n);

#endif
