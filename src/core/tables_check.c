/* Turns requests about tables into AWS's refusals. Know before editing: the order of the checks is
 * AWS's, because a request that breaks two rules gets the message of the first; first the shapes
 * (all of them in one message), then billing, the table's keys, local indexes, global indexes, and
 * what is defined but not used. */
#include "base/limits.h"
#include "base/utf8.h"
#include "core/tables.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define INVALID "One or more parameter values were invalid: "
enum { MESSAGE_MAX = 8192, NAME_MIN = 3, NAME_MAX = 255, ARN_MAX = 1024, PATH_BYTES = 256 };
#define UNITS_MAX UINT64_C(1000000000000)

/* ---- shapes: "N validation errors detected: …; …" ---- */

struct shapes {
    struct buf text;
    unsigned n;
};

static void shapes_init(struct shapes *s, struct ctx *c)
{
    buf_init(&s->text, c->arena, MESSAGE_MAX);
    s->n = 0;
}

static void complain(struct shapes *s, span value, const char *at, const char *constraint)
{
    if (s->n++) buf_printf(&s->text, "; ");
    buf_printf(&s->text, "Value '%.*s' at '%s' failed to satisfy constraint: %s", SPAN_ARG(value),
               at, constraint);
}

static sheaf_rc shapes_finish(struct shapes *s, struct ctx *c)
{
    if (s->n == 0) return SHEAF_OK;
    if (s->text.failed && s->text.n == 0) return err_nomem(c->err);
    return err_validation(c->err, "%u validation error%s detected: %.*s", s->n,
                          s->n == 1 ? "" : "s", SPAN_ARG(buf_span(&s->text)));
}

static bool is_name_char(uint8_t ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_' || ch == '.' || ch == '-';
}

static void check_name_shape(struct shapes *s, span name, const char *at)
{
    const uint8_t *p = name.p;
    bool is_good = name.n > 0;
    for (size_t i = 0; i < name.n && is_good; i++) is_good = is_name_char(p[i]);
    if (name.n < NAME_MIN)
        complain(s, name, at, "Member must have length greater than or equal to 3");
    if (name.n > NAME_MAX)
        complain(s, name, at, "Member must have length less than or equal to 255");
    if (!is_good)
        complain(s, name, at, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
}

static void check_attribute_shape(struct shapes *s, span name, const char *at)
{
    if (name.n < 1) complain(s, name, at, "Member must have length greater than or equal to 1");
    if (name.n > LIMIT_KEY_NAME_BYTES)
        complain(s, name, at, "Member must have length less than or equal to 255");
    if (!utf8_check(name)) complain(s, SPAN_NONE, at, "Member must be valid UTF-8");
}

static void check_key_shape(struct shapes *s, span name, const char *path, uint32_t i)
{
    char at[PATH_BYTES];
    snprintf(at, sizeof at, "%.160s.%u.member.attributeName", path, (unsigned)i + 1);
    check_attribute_shape(s, name, at);
}

static void check_definition_shape(struct shapes *s, const struct core_key *d, uint32_t i)
{
    char at[PATH_BYTES];
    check_key_shape(s, d->name, "attributeDefinitions", i);
    if (d->type == VAL_S || d->type == VAL_N || d->type == VAL_B) return;
    snprintf(at, sizeof at, "attributeDefinitions.%u.member.attributeType", (unsigned)i + 1);
    complain(s, span_cstr(val_type_name(d->type)), at,
             "Member must satisfy enum value set: [B, N, S]");
}

/* "[KeySchemaElement(attributeName=a, keyType=HASH), …]" */
static span print_schema(struct ctx *c, const struct core_index_def *x)
{
    struct buf b;
    buf_init(&b, c->arena, MESSAGE_MAX);
    buf_put_u8(&b, '[');
    for (uint32_t i = 0; i < x->n_hash + x->n_range; i++) {
        bool is_hash = i < x->n_hash;
        span name = is_hash ? x->hash[i].name : x->range[i - x->n_hash].name;
        buf_printf(&b, "%sKeySchemaElement(attributeName=%.*s, keyType=%s)", i ? ", " : "",
                   SPAN_ARG(name), is_hash ? "HASH" : "RANGE");
    }
    buf_put_u8(&b, ']');
    return buf_span(&b);
}

static void check_include_shape(struct ctx *c, struct shapes *s, const struct core_index_def *x,
                                const char *path)
{
    bool is_good = true;
    struct buf b;
    char at[PATH_BYTES];
    buf_init(&b, c->arena, MESSAGE_MAX);
    buf_put_u8(&b, '[');
    for (uint32_t i = 0; i < x->n_include; i++) {
        span name = x->include[i];
        buf_printf(&b, "%s%.*s", i ? ", " : "", SPAN_ARG(name));
        if (name.n < 1 || name.n > LIMIT_KEY_NAME_BYTES || !utf8_check(name)) is_good = false;
    }
    buf_put_u8(&b, ']');
    snprintf(at, sizeof at, "%s.projection.nonKeyAttributes", path);
    if (x->n_include > TABLES_INCLUDE_MAX)
        complain(s, buf_span(&b), at, "Member must have length less than or equal to 20");
    if (!is_good)
        complain(s, buf_span(&b), at,
                 "Member must satisfy constraint: [Member must have length less than or equal to "
                 "255, Member must have length greater than or equal to 1]");
}

/* More than the structs can hold was counted by the caller: nothing of it may be read. */
static bool is_overfull(const struct core_index_def *x)
{
    return x->n_hash > LIMIT_INDEX_HASH_ATTRIBUTES || x->n_range > LIMIT_INDEX_RANGE_ATTRIBUTES;
}

static void check_index_shape(struct ctx *c, struct shapes *s, const struct core_index_def *x,
                              const char *path)
{
    char at[PATH_BYTES];
    snprintf(at, sizeof at, "%s.indexName", path);
    check_name_shape(s, x->name, at);
    check_include_shape(c, s, x, path);
    if (is_overfull(x)) return;
    snprintf(at, sizeof at, "%s.keySchema", path);
    if (x->n_hash + x->n_range == 0)
        complain(s, SPAN_LIT("[]"), at, "Member must have length greater than or equal to 1");
    if (x->is_local && x->n_hash + x->n_range > 2)
        complain(s, print_schema(c, x), at, "Member must have length less than or equal to 2");
    for (uint32_t i = 0; i < x->n_hash; i++) check_key_shape(s, x->hash[i].name, at, i);
    for (uint32_t i = 0; i < x->n_range; i++)
        check_key_shape(s, x->range[i].name, at, x->n_hash + i);
}

static sheaf_rc check_create_shapes(struct ctx *c, const struct core_create_table *q)
{
    struct shapes s;
    uint32_t n_of[2] = {0, 0};
    shapes_init(&s, c);
    check_name_shape(&s, q->table, "tableName");
    for (uint32_t i = 0; i < q->n_definitions; i++)
        check_definition_shape(&s, &q->definitions[i], i);
    check_key_shape(&s, q->hash.name, "keySchema", 0);
    if (q->range.name.p) check_key_shape(&s, q->range.name, "keySchema", 1);
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        char path[PATH_BYTES / 2];
        bool is_local = q->indexes[i].is_local;
        snprintf(path, sizeof path, "%sSecondaryIndexes.%u.member", is_local ? "local" : "global",
                 (unsigned)++n_of[is_local]);
        check_index_shape(c, &s, &q->indexes[i], path);
    }
    return shapes_finish(&s, c);
}

static void check_units_shape(struct shapes *s, uint64_t read, uint64_t write, const char *path)
{
    char at[PATH_BYTES];
    snprintf(at, sizeof at, "%s.readCapacityUnits", path);
    if (read < 1)
        complain(s, SPAN_LIT("0"), at, "Member must have value greater than or equal to 1");
    snprintf(at, sizeof at, "%s.writeCapacityUnits", path);
    if (write < 1)
        complain(s, SPAN_LIT("0"), at, "Member must have value greater than or equal to 1");
}

static void check_index_updates(struct ctx *c, struct shapes *s, const struct core_update_table *q)
{
    char path[PATH_BYTES / 2], at[PATH_BYTES];
    unsigned i = 1;
    const char *list = "globalSecondaryIndexUpdates";
    if (q->create_index) {
        snprintf(path, sizeof path, "%s.%u.member.create", list, i++);
        check_index_shape(c, s, q->create_index, path);
    }
    if (q->delete_index.p) {
        snprintf(at, sizeof at, "%s.%u.member.delete.indexName", list, i++);
        check_name_shape(s, q->delete_index, at);
    }
    for (uint32_t k = 0; k < core_n_updates(q); k++) {
        const struct core_index_def *x = &q->update_index[k];
        snprintf(path, sizeof path, "%s.%u.member.update.provisionedThroughput", list, i);
        snprintf(at, sizeof at, "%s.%u.member.update.indexName", list, i++);
        check_name_shape(s, x->name, at);
        check_units_shape(s, x->read_units, x->write_units, path);
    }
}

static sheaf_rc check_bounds(struct ctx *c, uint64_t read, uint64_t write)
{
    if (read > UNITS_MAX)
        return err_validation(
            c->err, "Given value %" PRIu64 " for ReadCapacityUnits is out of bounds", read);
    if (write > UNITS_MAX)
        return err_validation(
            c->err, "Given value %" PRIu64 " for WriteCapacityUnits is out of bounds", write);
    return SHEAF_OK;
}

static sheaf_rc check_definitions(struct ctx *c, struct definitions d);

sheaf_rc tables_check_update_shapes(struct ctx *c, const struct core_update_table *q)
{
    struct shapes s;
    TRY(tables_check_name(c, q->table));
    shapes_init(&s, c);
    for (uint32_t i = 0; i < q->n_definitions; i++)
        check_definition_shape(&s, &q->definitions[i], i);
    if (q->throughput == CORE_ON)
        check_units_shape(&s, q->read_units, q->write_units, "provisionedThroughput");
    check_index_updates(c, &s, q);
    TRY(shapes_finish(&s, c));
    if (q->throughput == CORE_ON) TRY(check_bounds(c, q->read_units, q->write_units));
    for (uint32_t i = 0; i < core_n_updates(q); i++)
        TRY(check_bounds(c, q->update_index[i].read_units, q->update_index[i].write_units));
    return check_definitions(c, (struct definitions){q->definitions, q->n_definitions});
}

sheaf_rc tables_check_name(struct ctx *c, span name)
{
    struct shapes s;
    shapes_init(&s, c);
    if (!span_starts(name, SPAN_LIT("arn:")))
        check_name_shape(&s, name, "tableName");
    else if (name.n > ARN_MAX)
        complain(&s, name, "tableName", "Member must have length less than or equal to 1024");
    return shapes_finish(&s, c);
}

sheaf_rc tables_check_ttl_attribute(struct ctx *c, span attribute)
{
    struct shapes s;
    shapes_init(&s, c);
    check_attribute_shape(&s, attribute, "timeToLiveSpecification.attributeName");
    return shapes_finish(&s, c);
}

sheaf_rc tables_check_list(struct ctx *c, const struct core_list_tables *q)
{
    struct shapes s;
    char text[16];
    shapes_init(&s, c);
    if (q->after.p) check_name_shape(&s, q->after, "exclusiveStartTableName");
    snprintf(text, sizeof text, "%" PRIu32, q->limit);
    if (q->limit > 100)
        complain(&s, span_cstr(text), "limit", "Member must have value less than or equal to 100");
    return shapes_finish(&s, c);
}

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
static bool derive(struct core_key *all, uint32_t *n, const struct core_key *key)
{
    if (key->type < VAL_S || key->type > VAL_B || !key->name.p) return true;
    const struct core_key *known = definitions_find((struct definitions){all, *n}, key->name);
    if (!known) all[(*n)++] = *key;
    return !known || known->type == key->type;
}

static sheaf_rc derive_definitions(struct ctx *c, const struct core_create_table *q,
                                   struct definitions *out)
{
    struct core_key *all = ARENA_ARRAY(c->arena, struct core_key, 2 + 8 * (size_t)q->n_indexes);
    const struct core_key *odd = NULL;
    uint32_t n = 0;
    if (!all) return err_nomem(c->err);
    if (!derive(all, &n, &q->hash)) odd = &q->hash;
    if (!derive(all, &n, &q->range)) odd = &q->range;
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        const struct core_index_def *x = &q->indexes[i];
        if (is_overfull(x)) continue;
        for (uint32_t k = 0; k < x->n_hash; k++)
            if (!derive(all, &n, &x->hash[k])) odd = &x->hash[k];
        for (uint32_t k = 0; k < x->n_range; k++)
            if (!derive(all, &n, &x->range[k])) odd = &x->range[k];
    }
    if (odd)
        return err_validation(c->err, "Attribute Name is duplicated: %.*s", SPAN_ARG(odd->name));
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
    return check_bounds(c, q->read_units, q->write_units);
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
    if (q->n_indexes == 0 && n != d.n)
        return err_validation(c->err, INVALID "Number of attributes in KeySchema does not exactly "
                                              "match number of attributes defined in "
                                              "AttributeDefinitions");
    return SHEAF_OK;
}

/* ---- indexes ---- */

static uint32_t all_keys(const struct core_index_def *x, struct core_key out[8])
{
    assert(!is_overfull(x));
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
    if (x->n_hash == 0)
        return err_validation(
            c->err, "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
    return SHEAF_OK;
}

static const char *projection_name(enum core_projection p)
{
    return p == CORE_PROJECT_ALL ? "ALL" : p == CORE_PROJECT_KEYS_ONLY ? "KEYS_ONLY" : "INCLUDE";
}

static sheaf_rc check_projection(struct ctx *c, const struct core_index_def *x)
{
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

static sheaf_rc check_local(struct ctx *c, const struct core_create_table *q,
                            const struct core_index_def *x, struct definitions d)
{
    TRY(check_key_schema(c, x, d));
    if (x->n_hash > 1)
        return err_validation(
            c->err, "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
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
    return check_projection(c, x);
}

static sheaf_rc check_global(struct ctx *c, const struct core_create_table *q,
                             const struct core_index_def *x, struct definitions d)
{
    TRY(check_key_schema(c, x, d));
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
    return check_bounds(c, x->read_units, x->write_units);
}

/* Local ones before global ones, whatever the order in the request. */
static sheaf_rc check_duplicate(struct ctx *c, const struct core_create_table *q, uint32_t at)
{
    const struct core_index_def *x = &q->indexes[at];
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        const struct core_index_def *y = &q->indexes[i];
        bool is_earlier = y->is_local == x->is_local ? i < at : y->is_local;
        if (is_earlier && span_eq(x->name, y->name))
            return err_validation(c->err, INVALID "Duplicate index name: %.*s", SPAN_ARG(x->name));
    }
    return SHEAF_OK;
}

static sheaf_rc check_locals(struct ctx *c, const struct core_create_table *q, struct definitions d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        if (!q->indexes[i].is_local) continue;
        if (n++ == 0 && !q->range.name.p)
            return err_validation(c->err, INVALID "Table KeySchema does not have a range key, "
                                                  "which is required when specifying a "
                                                  "LocalSecondaryIndex");
        TRY(check_local(c, q, &q->indexes[i], d));
        TRY(check_duplicate(c, q, i));
    }
    if (n > TABLES_LOCAL_MAX)
        return err_validation(c->err, INVALID "Number of LocalSecondaryIndexes exceeds per-table "
                                              "limit of 5");
    return SHEAF_OK;
}

static sheaf_rc check_globals(struct ctx *c, const struct core_create_table *q,
                              struct definitions d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        if (q->indexes[i].is_local) continue;
        n++;
        TRY(check_global(c, q, &q->indexes[i], d));
        TRY(check_duplicate(c, q, i));
    }
    if (n > TABLES_GLOBAL_MAX)
        return err_validation(c->err, INVALID "GlobalSecondaryIndex count exceeds the per-table "
                                              "limit of 20");
    return SHEAF_OK;
}

/* ---- the whole ---- */

static sheaf_rc check_include_total(struct ctx *c, const struct core_create_table *q)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < q->n_indexes; i++) n += q->indexes[i].n_include;
    if (n <= TABLES_INCLUDE_TOTAL_MAX) return SHEAF_OK;
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
    TRY(check_create_shapes(c, q));
    TRY(check_billing(c, q));
    if (q->definitions)
        TRY(check_definitions(c, d));
    else
        TRY(derive_definitions(c, q, &d));
    TRY(check_table_keys(c, q, d));
    TRY(check_locals(c, q, d));
    TRY(check_globals(c, q, d));
    TRY(check_include_total(c, q));
    TRY(check_unused(c, q, d));
    *definitions_out = d;
    return SHEAF_OK;
}

void tables_resolve(struct definitions d, struct core_index_def *def)
{
    for (uint32_t i = 0; i < def->n_hash; i++)
        def->hash[i].type = definitions_find(d, def->hash[i].name)->type;
    for (uint32_t i = 0; i < def->n_range; i++)
        def->range[i].type = definitions_find(d, def->range[i].name)->type;
}

sheaf_rc tables_check_new_index(struct ctx *c, const struct core_index_def *def,
                                struct definitions d)
{
    TRY(check_key_schema(c, def, d));
    TRY(check_projection(c, def));
    return check_bounds(c, def->read_units, def->write_units);
}
