/* Turns the TTL attribute of an item into its expiry row.
 *
 * Know before editing: an expiry row exists exactly when the item's attribute names a second that
 * ttl_seconds takes. It does not look at the clock: items that expired more than five years ago
 * have rows too, but the sweep does not look at those. */
#include "core/effects.h"

#include <assert.h>

/* Seconds whose microseconds fit an int64: far beyond any date. */
#define SECONDS_MAX (INT64_MAX / 1000000)

/* The integer part of a number that is not negative; false when it is too large. */
static bool whole(const struct num *n, int64_t *out)
{
    num_int128 x = n->coef;
    if (x < 0) return false;
    for (int32_t e = n->exp; e < 0 && x != 0; e++) x /= 10;
    for (int32_t e = n->exp; e > 0; e--) {
        if (x > SECONDS_MAX) return false;
        x *= 10;
    }
    *out = (int64_t)x;
    return x <= SECONDS_MAX;
}

bool ttl_seconds(const struct table *t, val item, int64_t *seconds_out)
{
    *seconds_out = 0;
    if (!t->ttl_attribute.p || val_is_absent(item)) return false;
    val v = val_find(item, t->ttl_attribute);
    struct num n;
    if (val_type(v) != VAL_N) return false;
    val_num(v, &n);
    return whole(&n, seconds_out);
}

static bool expiry_of(const struct table *t, span image, int64_t *seconds_out)
{
    *seconds_out = 0;
    return image.p && ttl_seconds(t, item_map(image), seconds_out);
}

static sheaf_rc row_of(struct core *core, struct ctx *c, const struct table *t, span image,
                       int64_t seconds, sheaf_engine_key *key_out)
{
    val item = item_map(image);
    return row_ttl_key(core, c, t, seconds, table_hash_of(t, item), table_range_of(t, item),
                       key_out);
}

sheaf_rc ttl_apply(struct core *core, struct ctx *c, sheaf_txn *txn, const struct change *change)
{
    const struct table *t = change->table;
    int64_t was, is;
    sheaf_engine_key key;
    span value;
    if (!t->ttl_space) return SHEAF_OK;
    bool had = expiry_of(t, change->before, &was), has = expiry_of(t, change->after, &is);
    if (had && has && was == is) return SHEAF_OK;
    if (had) {
        TRY(row_of(core, c, t, change->before, was, &key));
        TRY(eng_del(txn, &key, c->err));
    }
    if (!has) return SHEAF_OK;
    TRY(row_of(core, c, t, change->after, is, &key));
    TRY(table_key_item(c, t, NULL, item_map(change->after), &value));
    return eng_put(txn, &key, value, c->err);
}
