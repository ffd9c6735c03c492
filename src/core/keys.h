/* core/keys.h: whether the attributes of an item can be keys, with AWS's messages.
 *
 * Layer rule: internal to core. Nothing here reads the engine.
 *
 * The service finds some faults in the request alone (empty values) and others once it looks at the
 * table (types, sizes); inside a transaction the former refuse the request and the latter cancel it
 * with a reason. Hence two functions for each kind of key.
 */
#ifndef CORE_KEYS_H
#define CORE_KEYS_H

#include "core/table.h"

/* Where key attributes stand decides how the service words what is wrong with them. */
enum keys_in {
    KEYS_IN_ITEM,      /* Item of PutItem */
    KEYS_IN_KEY,       /* Key of everything else: the key attributes and nothing more */
    KEYS_IN_BATCH_ITEM /* Item of a PutRequest */
};
/* An empty string or binary as a key attribute of the table. */
SHEAF_NODISCARD sheaf_rc keys_check_empty(struct ctx *c, const struct table *t, val item);
/* Missing and surplus attributes, types, sizes. */
SHEAF_NODISCARD sheaf_rc keys_check_schema(struct ctx *c, const struct table *t, val item,
                                           enum keys_in in);
/* The key attributes of an item; range is absent where the schema has none. */
struct keys_pair {
    val hash, range;
};
/* Both, for requests about one item. *pair_out is what was looked up for it. */
SHEAF_NODISCARD sheaf_rc keys_check(struct ctx *c, const struct table *t, val item, enum keys_in in,
                                    struct keys_pair *pair_out);

/* Who gave the value of an index key. */
enum keys_by {
    KEYS_BY_PUT,
    KEYS_BY_TEXT,  /* a constant of an update expression */
    KEYS_BY_UPDATE /* what an update made of the item */
};
/* The same of one attribute that may be a key of indexes, and of a whole item. */
SHEAF_NODISCARD sheaf_rc keys_check_index_empty(struct ctx *c, const struct table *t, val item,
                                                enum keys_by by);
SHEAF_NODISCARD sheaf_rc keys_check_index(struct ctx *c, const struct table *t, val item,
                                          enum keys_by by);
SHEAF_NODISCARD sheaf_rc keys_check_index_value(struct ctx *c, const struct table *t, span name,
                                                val value);
SHEAF_NODISCARD sheaf_rc keys_check_index_type(struct ctx *c, const struct table *t, span name,
                                               enum val_type type);

/* Key attributes, of the table and of indexes, are scalars: no document path goes into one. */
SHEAF_NODISCARD sheaf_rc keys_check_paths(struct ctx *c, const struct table *t,
                                          const struct path *paths, uint32_t n);
bool keys_has(const struct table *t, span name);

#endif
