/* Turns requests about tables into AWS's refusals. Know before editing: the order of the checks is
 * AWS's, because a request that breaks two rules gets the message of the first; first the shapes
 * (tables_shape.c), then billing, the table's keys, the indexes' keys, what is defined but not used,
 * and the rest of local and of global indexes. */
#include "base/limits.h"
#include "core/tables.h"

#include <assert.h>
#include <inttypes.h>

#define INVALID "One or more parameter values were invalid: "
enum { MESSAGE_MAX = 8192 };
#define UNITS_MAX UINT64_C(1000000000000)

/* ---- definitions ---- */

const struct core_key *definitions_find(struct definitions d, span name)
{
    for (uint32_t i = 0; i < d.n; i++)
        if (span_eq(d.all[i].name, name)) return &d.all[i];
    return NULL;
}

void tables_put_names(struct buf *b, const struct core_key *keys, uint32_t n)
{
    buf_put_u8(b, '[');
    for (uint32_t i = 0; i < n; i++) buf_printf(b, "%s%.*s", i ? ", " : "", SPAN_ARG(keys[i].name));
    buf_put_u8(b, ']');
}

static sheaf_rc check_definitions(struct ctx *c, struct definitions d)
{
    for (uint32_t i = 0; i < d.n; i++)
        if (definitions_find(d, d.all[i].name) != &d.all[i])
            return err_validation(c->err, "Attribute Name is duplicated: %.*s",
                                  SPAN_ARG(d.all[i].name));
    return SHEAF_OK;
}

/* Adds a key that was given with its type; the same attribute may be a key several times. */
static sheaf_rc derive(struct ctx *c, const struct core_key *key, struct core_key *all, uint32_t *n)
{
    TRY(tables_check_type(c, key->type, *n));
    if (key->type == VAL_NONE || !key->name.p) return SHEAF_OK;
    const struct core_key *known = definitions_find((struct definitions){all, *n}, key->name);
    if (known && known->type != key->type)
        return err_validation(c->err, "Attribute Name is duplicated: %.*s", SPAN_ARG(key->name));
    if (!known) all[(*n)++] = *key;
    return SHEAF_OK;
}

sheaf_rc tables_derive(struct ctx *c, const struct core_index_def *x, struct core_key *all,
                       uint32_t *n)
{
    if (tables_is_overfull(x)) return SHEAF_OK;
    for (uint32_t i = 0; i < x->n_hash; i++) TRY(derive(c, &x->hash[i], all, n));
    for (uint32_t i = 0; i < x->n_range; i++) TRY(derive(c, &x->range[i], all, n));
    return SHEAF_OK;
}

static sheaf_rc derive_definitions(struct ctx *c, const struct core_create_table *q,
                                   struct definitions *out)
{
    struct core_key *all = ARENA_ARRAY(c->arena, struct core_key, 2 + 8 * (size_t)q->n_indexes);
    uint32_t n = 0;
    if (!all) return err_nomem(c->err);
    TRY(derive(c, &q->hash, all, &n));
    TRY(derive(c, &q->range, all, &n));
    for (uint32_t i = 0; i < q->n_indexes; i++) TRY(tables_derive(c, &q->indexes[i], all, &n));
    *out = (struct definitions){all, n};
    return SHEAF_OK;
}

static sheaf_rc not_defined(struct ctx *c, const struct core_key *keys, uint32_t n,
                            struct definitions d)
{
    struct buf b;
    buf_init(&b, c->arena, MESSAGE_MAX);
    buf_printf(&b, "Keys: ");
    tables_put_names(&b, keys, n);
    buf_printf(&b, ", AttributeDefinitions: ");
    tables_put_names(&b, d.all, d.n);
    return err_validation(c->err,
                          INVALID "Some index key attributes are not defined in "
                                  "AttributeDefinitions. %.*s",
                          SPAN_ARG(buf_span(&b)));
}

static sheaf_rc check_defined(struct ctx *c, const struct core_key *keys, uint32_t n,
                              struct definitions d)
{
    for (uint32_t i = 0; i < n; i++)
        if (!definitions_find(d, keys[i].name)) return not_defined(c, keys, n, d);
    return SHEAF_OK;
}

/* ---- the table's own keys and billing ---- */

sheaf_rc tables_check_bounds(struct ctx *c, uint64_t read, uint64_t write)
{
    if (read > UNITS_MAX)
        return err_validation(
            c->err, "Given value %" PRIu64 " for ReadCapacityUnits is out of bounds", read);
    if (write > UNITS_MAX)
        return err_validation(
            c->err, "Given value %" PRIu64 " for WriteCapacityUnits is out of bounds", write);
    return SHEAF_OK;
}

static sheaf_rc check_billing(struct ctx *c, const struct core_create_table *q)
{
    if (!q->is_provisioned && (q->read_units || q->write_units))
        return err_validation(c->err, INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits "
                                              "can be specified when BillingMode is "
                                              "PAY_PER_REQUEST");
    if (!q->is_provisioned) return SHEAF_OK;
    if (!q->read_units || !q->write_units)
        return err_validation(c->err, INVALID "ReadCapacityUnits and WriteCapacityUnits must both "
                                              "be specified when BillingMode is PROVISIONED");
    return tables_check_bounds(c, q->read_units, q->write_units);
}

static sheaf_rc check_order(struct ctx *c, enum core_key_order order)
{
    switch (order) {
    case CORE_KEYS_OK:
        return SHEAF_OK;
    case CORE_KEYS_FIRST_NOT_HASH:
        return err_validation(
            c->err, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
    case CORE_KEYS_SECOND_NOT_RANGE:
        return err_validation(
            c->err, "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
    case CORE_KEYS_HASH_AFTER_RANGE:
        break;
    }
    return err_validation(c->err, INVALID "All HASH key attributes must precede RANGE key "
                                          "attributes in the KeySchema");
}

static sheaf_rc check_table_keys(struct ctx *c, const struct core_create_table *q,
                                 struct definitions d)
{
    const struct core_key keys[2] = {q->hash, q->range};
    uint32_t n = q->range.name.p ? 2 : 1;
    if (n > d.n)
        return err_validation(c->err,
                              "Invalid KeySchema: Some index key attribute have no definition");
    TRY(check_defined(c, keys, n, d));
    if (n == 2 && span_eq(keys[0].name, keys[1].name))
        return err_validation(c->err, "Both the Hash Key and the Range Key element in the "
                                      "KeySchema have the same name");
    TRY(check_order(c, q->key_order));
    if (q->n_indexes == 0 && n != d.n)
        return err_validation(c->err, INVALID "Number of attributes in KeySchema does not exactly "
                                              "match number of attributes defined in "
                                              "AttributeDefinitions");
    return SHEAF_OK;
}

/* ---- indexes ---- */

static uint32_t all_keys(const struct core_index_def *x, struct core_key out[8])
{
    assert(!tables_is_overfull(x));
    for (uint32_t i = 0; i < x->n_hash; i++) out[i] = x->hash[i];
    for (uint32_t i = 0; i < x->n_range; i++) out[x->n_hash + i] = x->range[i];
    return x->n_hash + x->n_range;
}

static sheaf_rc check_same_names(struct ctx *c, const struct core_key *keys, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (definitions_find((struct definitions){keys, i}, keys[i].name))
            return err_validation(
                c->err, "%s",
                n == 2 ? "Both the Hash Key and the Range Key element in the KeySchema have the "
                         "same name"
                       : "The KeySchema contains multiple key attributes with the same name");
    return SHEAF_OK;
}

static sheaf_rc check_key_schema(struct ctx *c, const struct core_index_def *x,
                                 struct definitions d)
{
    struct core_key keys[8];
    if (x->n_hash > LIMIT_INDEX_HASH_ATTRIBUTES)
        return err_validation(c->err, INVALID "The KeySchema exceeds the maximum allowed number of "
                                              "HASH key attributes");
    if (x->n_range > LIMIT_INDEX_RANGE_ATTRIBUTES)
        return err_validation(c->err, INVALID "The KeySchema exceeds the maximum allowed number of "
                                              "RANGE key attributes");
    uint32_t n = all_keys(x, keys);
    TRY(check_defined(c, keys, n, d));
    TRY(check_same_names(c, keys, n));
    return check_order(c, x->n_hash ? x->key_order : CORE_KEYS_FIRST_NOT_HASH);
}

static const char *projection_name(enum core_projection p)
{
    return p == CORE_PROJECT_ALL ? "ALL" : p == CORE_PROJECT_KEYS_ONLY ? "KEYS_ONLY" : "INCLUDE";
}

static sheaf_rc check_projection(struct ctx *c, const struct core_index_def *x)
{
    if (x->has_no_projection) return err_validation(c->err, INVALID "Unknown ProjectionType: null");
    if (x->projection != CORE_PROJECT_INCLUDE && x->n_include)
        return err_validation(c->err,
                              INVALID "ProjectionType is %s, but NonKeyAttributes is specified",
                              projection_name(x->projection));
    if (x->projection == CORE_PROJECT_INCLUDE && !x->n_include)
        return err_validation(c->err, INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is "
                                              "not specified");
    for (uint32_t i = 1; i < x->n_include; i++)
        for (uint32_t k = 0; k < i; k++)
            if (span_eq(x->include[i], x->include[k]))
                return err_validation(c->err, INVALID "Duplicate element in NonKeyAttributes: %.*s",
                                      SPAN_ARG(x->include[i]));
    return SHEAF_OK;
}

static sheaf_rc check_local_keys(struct ctx *c, const struct core_create_table *q,
                                 const struct core_index_def *x, struct definitions d)
{
    if (!q->range.name.p)
        return err_validation(c->err, INVALID "Table KeySchema does not have a range key, which "
                                              "is required when specifying a "
                                              "LocalSecondaryIndex");
    TRY(check_key_schema(c, x, d));
    if (x->n_hash > 1) return check_order(c, CORE_KEYS_SECOND_NOT_RANGE);
    if (x->n_range == 0)
        return err_validation(c->err,
                              INVALID "Index KeySchema does not have a range key for index: %.*s",
                              SPAN_ARG(x->name));
    if (!span_eq(x->hash[0].name, q->hash.name))
        return err_validation(c->err,
                              INVALID "Index KeySchema does not have the same leading hash key as "
                                      "table KeySchema for index: %.*s. index hash key: %.*s, "
                                      "table hash key: %.*s",
                              SPAN_ARG(x->name), SPAN_ARG(x->hash[0].name), SPAN_ARG(q->hash.name));
    return SHEAF_OK;
}

/* Keys come before everything else about indexes, local ones first. */
static sheaf_rc check_index_keys(struct ctx *c, const struct core_create_table *q,
                                 struct definitions d)
{
    for (uint32_t i = 0; i < q->n_indexes; i++)
        if (q->indexes[i].is_local) TRY(check_local_keys(c, q, &q->indexes[i], d));
    for (uint32_t i = 0; i < q->n_indexes; i++)
        if (!q->indexes[i].is_local) TRY(check_key_schema(c, &q->indexes[i], d));
    return SHEAF_OK;
}

static sheaf_rc check_global(struct ctx *c, const struct core_create_table *q,
                             const struct core_index_def *x)
{
    TRY(check_projection(c, x));
    if (!q->is_provisioned && (x->read_units || x->write_units))
        return err_validation(c->err,
                              INVALID "ProvisionedThroughput should not be specified for index: "
                                      "%.*s when BillingMode is PAY_PER_REQUEST",
                              SPAN_ARG(x->name));
    if (q->is_provisioned && (!x->read_units || !x->write_units))
        return err_validation(c->err,
                              INVALID "ProvisionedThroughput is not specified for index: %.*s",
                              SPAN_ARG(x->name));
    TRY(tables_check_bounds(c, x->read_units, x->write_units));
    return settings_check_index(c, x, q->is_provisioned);
}

/* Local ones before global ones, whatever the order in the request. */
static sheaf_rc check_duplicate(struct ctx *c, const struct core_create_table *q, uint32_t at)
{
    assert(at < q->n_indexes);
    const struct core_index_def *x = &q->indexes[at];
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        const struct core_index_def *y = &q->indexes[i];
        bool is_earlier = y->is_local == x->is_local ? i < at : y->is_local;
        if (is_earlier && span_eq(x->name, y->name))
            return err_validation(c->err, INVALID "Duplicate index name: %.*s", SPAN_ARG(x->name));
    }
    return SHEAF_OK;
}

static sheaf_rc check_locals(struct ctx *c, const struct core_create_table *q)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        if (!q->indexes[i].is_local) continue;
        n++;
        TRY(check_projection(c, &q->indexes[i]));
        TRY(check_duplicate(c, q, i));
    }
    if (n > LIMIT_LOCAL_INDEXES)
        return err_validation(c->err, INVALID "Number of LocalSecondaryIndexes exceeds per-table "
                                              "limit of 5");
    return SHEAF_OK;
}

static sheaf_rc check_globals(struct ctx *c, const struct core_create_table *q)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        if (q->indexes[i].is_local) continue;
        n++;
        TRY(check_global(c, q, &q->indexes[i]));
        TRY(check_duplicate(c, q, i));
    }
    if (n > LIMIT_GLOBAL_INDEXES)
        return err_validation(c->err, INVALID "GlobalSecondaryIndex count exceeds the per-table "
                                              "limit of 20");
    return SHEAF_OK;
}

/* ---- the whole ---- */

static sheaf_rc check_include_total(struct ctx *c, const struct core_create_table *q)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < q->n_indexes; i++) n += q->indexes[i].n_include;
    if (n <= LIMIT_TABLE_NON_KEY_ATTRIBUTES) return SHEAF_OK;
    return err_validation(c->err, INVALID "Number of NonKeyAttributes across all the indexes "
                                          "exceeds the per-table limit of 100");
}

/* Each attribute once, in the order of its first use. */
static sheaf_rc collect_used(struct ctx *c, const struct core_create_table *q,
                             struct definitions *out)
{
    struct core_key *used = ARENA_ARRAY(c->arena, struct core_key, 2 + 8 * (size_t)q->n_indexes);
    if (!used) return err_nomem(c->err);
    uint32_t n = 0;
    used[n++] = q->hash;
    if (q->range.name.p) used[n++] = q->range;
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        struct core_key keys[8];
        uint32_t n_keys = all_keys(&q->indexes[i], keys);
        for (uint32_t k = 0; k < n_keys; k++)
            if (!definitions_find((struct definitions){used, n}, keys[k].name)) used[n++] = keys[k];
    }
    *out = (struct definitions){used, n};
    return SHEAF_OK;
}

static sheaf_rc check_unused(struct ctx *c, const struct core_create_table *q, struct definitions d)
{
    struct definitions used = {NULL, 0};
    TRY(collect_used(c, q, &used));
    if (d.n == used.n) return SHEAF_OK;
    assert(d.n > used.n); /* every key is defined */
    struct buf b;
    buf_init(&b, c->arena, MESSAGE_MAX);
    buf_printf(&b, "AttributeDefinitions: ");
    tables_put_names(&b, d.all, d.n);
    buf_printf(&b, ", keys used: ");
    tables_put_names(&b, used.all, used.n);
    return err_validation(c->err, INVALID "Some AttributeDefinitions are not used. %.*s",
                          SPAN_ARG(buf_span(&b)));
}

sheaf_rc tables_check_create(struct ctx *c, const struct core_create_table *q,
                             struct definitions *definitions_out)
{
    struct definitions d = {q->definitions, q->n_definitions};
    TRY(tables_check_create_shapes(c, q));
    TRY(check_billing(c, q));
    if (q->definitions)
        TRY(check_definitions(c, d));
    else
        TRY(derive_definitions(c, q, &d));
    TRY(check_table_keys(c, q, d));
    TRY(check_index_keys(c, q, d));
    TRY(check_unused(c, q, d));
    TRY(check_locals(c, q));
    TRY(check_globals(c, q));
    TRY(check_include_total(c, q));
    TRY(settings_check_create(c, q));
    assert(definitions_find(d, q->hash.name));
    assert(!q->range.name.p || definitions_find(d, q->range.name));
    *definitions_out = d;
    return SHEAF_OK;
}

void tables_resolve(struct definitions d, struct core_index_def *def)
{
    assert(!tables_is_overfull(def));
    for (uint32_t i = 0; i < def->n_hash; i++)
        def->hash[i].type = definitions_find(d, def->hash[i].name)->type;
    for (uint32_t i = 0; i < def->n_range; i++)
        def->range[i].type = definitions_find(d, def->range[i].name)->type;
}

sheaf_rc tables_check_update(struct ctx *c, const struct core_update_table *q)
{
    TRY(tables_check_update_shapes(c, q));
    if (q->throughput == CORE_ON) TRY(tables_check_bounds(c, q->read_units, q->write_units));
    TRY(settings_check_update(c, q));
    return check_definitions(c, (struct definitions){q->definitions, q->n_definitions});
}

sheaf_rc tables_check_new_index(struct ctx *c, const struct core_index_def *def,
                                struct definitions d)
{
    TRY(check_key_schema(c, def, d));
    TRY(check_projection(c, def));
    return tables_check_bounds(c, def->read_units, def->write_units);
}
