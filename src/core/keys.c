/* Turns an item and a key schema into AWS's complaint about it, or none. Know before editing: every
 * message is the service's, quirks of spelling included ("limit of2048 bytes"); test_write.c names
 * where each was seen. */
#include "core/keys.h"

#include "base/limits.h"

#include <assert.h>

#define INVALID "One or more parameter values were invalid: "
#define NOT_VALID "One or more parameter values are not valid. "
#define EMPTY_VALUE "The AttributeValue for a key attribute cannot contain an empty %s value."

static bool is_empty(val v)
{
    enum val_type t = val_type(v);
    return (t == VAL_S || t == VAL_B) && val_bytes(v).n == 0;
}

static const char *kind_of_empty(val v) { return val_type(v) == VAL_S ? "string" : "binary"; }

static sheaf_rc mismatch(struct ctx *c)
{
    return err_validation(c->err, "The provided key element does not match the schema");
}

/* ---- the table's key ---- */

static struct keys_pair pair_of(const struct table *t, val item)
{
    return (struct keys_pair){table_hash_of(t, item), table_range_of(t, item)};
}

static sheaf_rc check_empty(struct ctx *c, const struct core_key *k, val v)
{
    if (val_is_absent(v) || !is_empty(v)) return SHEAF_OK;
    return err_validation(c->err, NOT_VALID EMPTY_VALUE " Key: %.*s", kind_of_empty(v),
                          SPAN_ARG(k->name));
}

static sheaf_rc check_both_empty(struct ctx *c, const struct table *t, const struct keys_pair *p)
{
    TRY(check_empty(c, &t->hash, p->hash));
    return check_empty(c, &t->range, p->range);
}

sheaf_rc keys_check_empty(struct ctx *c, const struct table *t, val item)
{
    struct keys_pair p = pair_of(t, item);
    return check_both_empty(c, t, &p);
}

static sheaf_rc check_type(struct ctx *c, const struct core_key *k, val v, enum keys_in in)
{
    if (val_type(v) == k->type) return SHEAF_OK;
    if (in != KEYS_IN_ITEM) return mismatch(c);
    if (val_is_absent(v))
        return err_validation(c->err, INVALID "Missing the key %.*s in the item",
                              SPAN_ARG(k->name));
    return err_validation(c->err, INVALID "Type mismatch for key %.*s expected: %s actual: %s",
                          SPAN_ARG(k->name), val_type_name(k->type), val_type_name(val_type(v)));
}

static sheaf_rc check_hash_size(struct ctx *c, val v)
{
    assert(val_type(v) >= VAL_S && val_type(v) <= VAL_B);
    if (val_bytes(v).n <= LIMIT_PARTITION_KEY_BYTES) return SHEAF_OK;
    return err_validation(c->err,
                          INVALID "Size of hashkey has exceeded the maximum size limit of%d bytes",
                          LIMIT_PARTITION_KEY_BYTES);
}

static sheaf_rc check_range_size(struct ctx *c, val v)
{
    assert(val_type(v) >= VAL_S && val_type(v) <= VAL_B);
    if (val_bytes(v).n <= LIMIT_SORT_KEY_BYTES) return SHEAF_OK;
    return err_validation(
        c->err, INVALID "Aggregated size of all range keys has exceeded the size limit of %d bytes",
        LIMIT_SORT_KEY_BYTES);
}

static sheaf_rc check_schema(struct ctx *c, const struct table *t, const struct keys_pair *p,
                             enum keys_in in)
{
    TRY(check_type(c, &t->hash, p->hash, in));
    if (t->has_range) TRY(check_type(c, &t->range, p->range, in));
    TRY(check_hash_size(c, p->hash));
    return t->has_range ? check_range_size(c, p->range) : SHEAF_OK;
}

static bool has_surplus(const struct table *t, val item, enum keys_in in)
{
    return in == KEYS_IN_KEY && val_count(item) != (t->has_range ? 2 : 1);
}

sheaf_rc keys_check_schema(struct ctx *c, const struct table *t, val item, enum keys_in in)
{
    if (has_surplus(t, item, in)) return mismatch(c);
    struct keys_pair p = pair_of(t, item);
    return check_schema(c, t, &p, in);
}

sheaf_rc keys_check(struct ctx *c, const struct table *t, val item, enum keys_in in,
                    struct keys_pair *pair_out)
{
    *pair_out = pair_of(t, item);
    TRY(check_both_empty(c, t, pair_out));
    if (has_surplus(t, item, in)) return mismatch(c);
    return check_schema(c, t, pair_out, in);
}

/* ---- keys of indexes ---- */

/* Walks every key attribute of every index. */
struct index_key {
    const struct table_index *index;
    const struct core_key *key;
    bool is_hash;
};
struct index_walk {
    uint32_t index, at;
};

static bool next_key(const struct table *t, struct index_walk *w, struct index_key *out)
{
    for (; w->index < t->n_indexes; w->index++, w->at = 0) {
        const struct table_index *x = &t->indexes[w->index];
        uint32_t at = w->at++;
        if (at >= x->def.n_hash + x->def.n_range) continue;
        bool is_hash = at < x->def.n_hash;
        *out = (struct index_key){x, is_hash ? &x->def.hash[at] : &x->def.range[at - x->def.n_hash],
                                  is_hash};
        return true;
    }
    return false;
}

/* Of the indexes that have this key attribute the service names the first by alphabet. */
static span index_named(const struct table *t, span attribute)
{
    struct index_walk w = {0, 0};
    struct index_key k;
    span name = SPAN_NONE;
    while (next_key(t, &w, &k))
        if (span_eq(k.key->name, attribute) && (!name.p || span_cmp(k.index->def.name, name) < 0))
            name = k.index->def.name;
    return name;
}

static sheaf_rc refuse_empty(struct ctx *c, const struct table *t, span name, val v,
                             enum keys_by by)
{
    assert(is_empty(v) && index_named(t, name).p);
    if (by != KEYS_BY_PUT)
        return err_validation(c->err,
                              NOT_VALID "The update expression attempted to update a secondary "
                                        "index key to a value that is not supported. " EMPTY_VALUE,
                              kind_of_empty(v));
    return err_validation(c->err,
                          NOT_VALID "A value specified for a secondary index key is not "
                                    "supported. " EMPTY_VALUE " IndexName: %.*s, IndexKey: %.*s",
                          kind_of_empty(v), SPAN_ARG(index_named(t, name)), SPAN_ARG(name));
}

static sheaf_rc refuse_type(struct ctx *c, const struct table *t, const struct core_key *k,
                            enum val_type actual, enum keys_by by)
{
    assert(actual != k->type);
    if (by == KEYS_BY_UPDATE)
        return err_validation(c->err, "The update expression attempted to update the secondary "
                                      "index key to unsupported type");
    return err_validation(
        c->err, INVALID "Type mismatch for Index Key %.*s Expected: %s Actual: %s IndexName: %.*s",
        SPAN_ARG(k->name), val_type_name(k->type), val_type_name(actual),
        SPAN_ARG(index_named(t, k->name)));
}

static sheaf_rc check_size(struct ctx *c, const struct index_key *k, val v, enum keys_by by)
{
    uint32_t max = k->is_hash ? LIMIT_PARTITION_KEY_BYTES : LIMIT_SORT_KEY_BYTES;
    if (by != KEYS_BY_PUT && val_bytes(v).n > max)
        return err_validation(c->err, "The update expression attempted to update the secondary "
                                      "index key beyond allowed size limits");
    return k->is_hash ? check_hash_size(c, v) : check_range_size(c, v);
}

sheaf_rc keys_check_index_empty(struct ctx *c, const struct table *t, val item, enum keys_by by)
{
    struct index_walk w = {0, 0};
    struct index_key k;
    while (next_key(t, &w, &k)) {
        val v = val_find(item, k.key->name);
        if (!val_is_absent(v) && is_empty(v)) return refuse_empty(c, t, k.key->name, v, by);
    }
    return SHEAF_OK;
}

sheaf_rc keys_check_index(struct ctx *c, const struct table *t, val item, enum keys_by by)
{
    struct index_walk w = {0, 0};
    struct index_key k;
    while (next_key(t, &w, &k)) {
        val v = val_find(item, k.key->name);
        if (val_is_absent(v)) continue;
        if (val_type(v) != k.key->type) return refuse_type(c, t, k.key, val_type(v), by);
        TRY(check_size(c, &k, v, by));
    }
    return SHEAF_OK;
}

sheaf_rc keys_check_index_value(struct ctx *c, const struct table *t, span name, val value)
{
    struct index_walk w = {0, 0};
    struct index_key k;
    while (next_key(t, &w, &k))
        if (span_eq(k.key->name, name) && is_empty(value))
            return refuse_empty(c, t, name, value, KEYS_BY_TEXT);
    return SHEAF_OK;
}

sheaf_rc keys_check_index_type(struct ctx *c, const struct table *t, span name, enum val_type type)
{
    struct index_walk w = {0, 0};
    struct index_key k;
    while (next_key(t, &w, &k))
        if (span_eq(k.key->name, name) && k.key->type != type)
            return refuse_type(c, t, k.key, type, KEYS_BY_TEXT);
    return SHEAF_OK;
}

/* ---- paths ---- */

bool keys_has(const struct table *t, span name)
{
    return span_eq(name, t->hash.name) || (t->has_range && span_eq(name, t->range.name));
}

sheaf_rc keys_check_paths(struct ctx *c, const struct table *t, const struct path *paths,
                          uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        assert(paths[i].n > 0);
        if (paths[i].n == 1) continue;
        span name = paths[i].steps[0].name;
        bool is_key = keys_has(t, name);
        if (!is_key && !index_named(t, name).p) continue;
        return err_validation(c->err,
                              "Key attributes must be scalars; list random access '[]' and map "
                              "lookup '.' are not allowed: %s: %.*s",
                              is_key ? "Key" : "IndexKey", SPAN_ARG(name));
    }
    return SHEAF_OK;
}
