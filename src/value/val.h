/* value/val.h: attribute values and items as bytes, and views into them.
 *
 * Layer rule: value includes base only.
 *
 * THE BYTES
 *  One value is one contiguous byte string. Equal values are equal bytes (maps and sets are kept
 *  in order), so `=` is memcmp.
 *
 *      value        = tag payload
 *      S B          = tag varint(n) byte*n               S is UTF-8
 *      N            = tag u8(n) byte*n                   bytes of value/num.h
 *      NULL FALSE TRUE = tag
 *      M L SS NS BS = tag|width u32(len) heap dir count  len = bytes of heap, dir and count
 *
 *      heap         = entry*count, back to back
 *      entry of M   = varint(n) name*n value             of L: value
 *      of SS, BS    = varint(n) byte*n                   of NS: u8(n) byte*n
 *      dir          = offset of each entry from the start of the heap, `width` bytes each
 *      count        = number of entries, `width` bytes
 *
 *  Integers are little-endian; varint is LEB128 in its shortest form, at most 5 bytes. width is
 *  1, 2 or 4, the smallest that holds the heap's length; it stands in the tag's high half as 0x10,
 *  0x20 or 0x40. The entries of M are ordered by name (unsigned bytes), those of sets by their
 *  bytes; both without duplicates; a set has at least one entry.
 *
 *      item         = 01 u32(size) value                 version, AWS's item size, an M
 *
 *  WORKED EXAMPLE  {"PK": {"S": "A"}, "n": {"N": "1.5"}}, AWS size 2+1 + 1+3 = 7
 *      01  07 00 00 00                                   version, size
 *      16  10 00 00 00                                   M, width 1; 16 bytes follow
 *          02 50 4B  01 01 41                            heap: "PK" S "A"
 *          01 6E     02 03 C1 02 33                      "n"  N 1.5
 *          00 06  02                                     dir 0, 6; count 2
 *      (test_item__worked_example repeats this)
 *
 *  Views borrow: a val is valid as long as the bytes it points into. Accessors expect bytes that
 *  passed item_check or val_check, or that this process built; on others they are undefined, so
 *  check untrusted bytes once, at the door.
 */
#ifndef VALUE_VAL_H
#define VALUE_VAL_H

#include "base/buf.h"
#include "base/err.h"
#include "value/num.h"

enum val_type {
    VAL_NONE = 0,
    VAL_S = 1,
    VAL_N = 2,
    VAL_B = 3,
    VAL_BOOL = 4, /* two tags, see below */
    VAL_NULL = 5,
    VAL_M = 6,
    VAL_L = 7,
    VAL_SS = 8,
    VAL_NS = 9,
    VAL_BS = 10,
};
enum { VAL_TAG_FALSE = VAL_BOOL, VAL_TAG_TRUE = 11, VAL_ITEM_VERSION = 1, VAL_ITEM_HEADER = 5 };

/* A borrowed view of one encoded value. p == NULL: there is none. */
typedef struct val {
    const uint8_t *p;
    uint32_t n;
} val;

#define VAL_ABSENT ((val){NULL, 0})

static inline bool val_is_absent(val v) { return v.p == NULL; }
/* VAL_NONE when absent. */
static inline enum val_type val_type(val v)
{
    if (!v.p) return VAL_NONE;
    unsigned tag = v.p[0] & 0x0F; /* the high half is a container's width */
    return tag == VAL_TAG_TRUE ? VAL_BOOL : (enum val_type)tag;
}
const char *val_type_name(enum val_type t); /* "S" … "BS" */
bool val_type_parse(span name, enum val_type *out);

/* Scalars. */
span val_bytes(val v); /* of S, B: the bytes; of N: the encoded number */
bool val_bool(val v);
void val_num(val v, struct num *out); /* of N */

/* Containers: M, L, SS, NS, BS. O(1) but map_find and set_has, which are O(log count). */
uint32_t val_count(val v);
val val_at(val v, uint32_t i);         /* of L, M */
span val_name_at(val v, uint32_t i);   /* of M */
span val_member_at(val v, uint32_t i); /* of sets; encoded number for NS */
val val_find(val v, span name);        /* of M; absent when it has no such name */
/* The same for rows that are made alike: looks at entry *hint first, and leaves there where the
 * name was found. Any hint is good; begin with 0. */
val val_find_near(val v, span name, uint32_t *hint);
bool val_find_index(val v, span name, uint32_t *i_out); /* of M */
bool val_set_has(val v, span member);                   /* of sets */

/* Same type and same value, documents and sets included. */
static inline bool val_eq(val a, val b)
{
    return a.n == b.n && a.p && b.p && memcmp(a.p, b.p, a.n) == 0;
}
/* Order of two values of one type S, N or B: <0, 0, >0. */
int val_cmp(val a, val b);
/* Bytes by AWS's rule: S B length, N length of its encoding, BOOL NULL 1, L M 3 + 1 per entry +
 * contents, sets their members. */
uint32_t val_size(val v);
/* Levels: a scalar, a set or an empty container is 1, a container one more than its deepest entry.
 * DynamoDB takes 32 for an attribute's value. */
uint32_t val_depth(val v);

/* Whether the bytes are one whole value: structure, order, UTF-8, numbers, depth. Any input is
 * safe. SHEAF_CORRUPT, with a text that names what is wrong. */
SHEAF_NODISCARD sheaf_rc val_check(span bytes, sheaf_error *err);

/* ---- items ---- */

/* Whole validation of bytes from outside (disk, network): version, size field, value. SHEAF_FORMAT
 * for an unknown version, SHEAF_CORRUPT for the rest. */
SHEAF_NODISCARD sheaf_rc item_check(span item, sheaf_error *err);
/* What of item_check keeps readers inside the bytes: version, lengths, offsets, tags, depth,
 * numbers; not UTF-8, not the order of names, not the size field. For bytes that were checked once
 * and came back through something that keeps checksums. */
bool item_check_shape(span item);
static inline val item_map(span item)
{
    return (val){(const uint8_t *)item.p + VAL_ITEM_HEADER, (uint32_t)(item.n - VAL_ITEM_HEADER)};
}
/* AWS's size of the item, O(1). */
uint32_t item_size(span item);

/* ---- document paths ---- */

/* One step: a name, or an index when name.p == NULL. */
struct path_step {
    span name;
    uint32_t index;
};
struct path {
    const struct path_step *steps; /* at least one; the first has a name */
    uint32_t n;
};

/* Follows the path from a map; absent when it leads nowhere. */
val path_get(val map, const struct path *p);
/* "[a, b, [3], c]", as AWS's messages print paths. */
void path_format(const struct path *p, struct buf *out);

#endif
