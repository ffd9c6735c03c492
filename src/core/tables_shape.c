/* Turns values of the wrong shape (names, lengths, types, bounds) into one message that lists them
 * all: "2 validation errors detected: Value … at 'tableName' failed to satisfy constraint: …; …".
 * Know before editing: the paths are those of the service's request members, in camel case, because
 * programs look at them; the wire reports the shapes of a request in the same words. */
#include "base/limits.h"
#include "base/utf8.h"
#include "core/enums.h"
#include "core/tables.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum { MESSAGE_MAX = 8192, ARN_MAX = 1024, PATH_BYTES = 256 };

struct shapes {
    struct buf text;
    unsigned n;
};

static void shapes_init(struct shapes *s, struct ctx *c)
{
    buf_init(&s->text, c->arena, MESSAGE_MAX);
    s->n = 0;
}

/* value.p == NULL prints as null. */
static void complain(struct shapes *s, span value, const char *at, const char *constraint)
{
    const char *quote = value.p ? "'" : "";
    if (!value.p) value = SPAN_LIT("null");
    if (s->n++) buf_printf(&s->text, "; ");
    buf_printf(&s->text, "Value %s%.*s%s at '%s' failed to satisfy constraint: %s", quote,
               SPAN_ARG(value), quote, at, constraint);
}

static bool is_missing(struct shapes *s, span value, const char *at)
{
    if (!value.p) complain(s, value, at, "Member must not be null");
    return !value.p;
}

static sheaf_rc shapes_finish(struct shapes *s, struct ctx *c)
{
    assert((s->n == 0) == (s->text.n == 0 && !s->text.failed));
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
    if (is_missing(s, name, at)) return;
    for (size_t i = 0; i < name.n && is_good; i++) is_good = is_name_char(p[i]);
    if (name.n < LIMIT_TABLE_NAME_MIN)
        complain(s, name, at, "Member must have length greater than or equal to 3");
    if (name.n > LIMIT_TABLE_NAME_MAX)
        complain(s, name, at, "Member must have length less than or equal to 255");
    if (!is_good)
        complain(s, name, at, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
}

static void check_attribute_shape(struct shapes *s, span name, const char *at)
{
    if (is_missing(s, name, at)) return;
    if (name.n < 1) complain(s, name, at, "Member must have length greater than or equal to 1");
    if (name.n > LIMIT_KEY_NAME_BYTES)
        complain(s, name, at, "Member must have length less than or equal to 255");
    if (!utf8_check(name)) complain(s, SPAN_LIT(""), at, "Member must be valid UTF-8");
}

static void check_key_shape(struct shapes *s, span name, const char *path, uint32_t i)
{
    char at[PATH_BYTES];
    snprintf(at, sizeof at, "%.160s.%u.member.attributeName", path, (unsigned)i + 1);
    check_attribute_shape(s, name, at);
}

/* A value outside an enum: its number, as enum_check has it. */
static void check_enum_shape(struct shapes *s, int64_t value, int64_t last, const char *at,
                             const char *set)
{
    char text[24], constraint[PATH_BYTES];
    if (value >= 0 && value <= last) return;
    snprintf(text, sizeof text, "%" PRId64, value);
    snprintf(constraint, sizeof constraint, "Member must satisfy enum value set: %.160s", set);
    complain(s, span_cstr(text), at, constraint);
}

static void check_type_shape(struct shapes *s, enum val_type type, uint32_t i)
{
    char at[PATH_BYTES];
    if (type == VAL_S || type == VAL_N || type == VAL_B) return;
    snprintf(at, sizeof at, "attributeDefinitions.%u.member.attributeType", (unsigned)i + 1);
    if ((unsigned)type > VAL_BS)
        check_enum_shape(s, (int64_t)type, VAL_BS, at, "[B, N, S]");
    else
        complain(s, span_cstr(val_type_name(type)), at,
                 "Member must satisfy enum value set: [B, N, S]");
}

static void check_definition_shape(struct shapes *s, const struct core_key *d, uint32_t i)
{
    check_key_shape(s, d->name, "attributeDefinitions", i);
    check_type_shape(s, d->type, i);
}

sheaf_rc tables_check_type(struct ctx *c, enum val_type type, uint32_t i)
{
    struct shapes s;
    shapes_init(&s, c);
    if (type != VAL_NONE) check_type_shape(&s, type, i);
    return shapes_finish(&s, c);
}

/* "[KeySchemaElement(attributeName=a, keyType=HASH), …]" */
static span print_schema(struct ctx *c, const struct core_index_def *x)
{
    struct buf b;
    assert(!tables_is_overfull(x));
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
    if (x->n_include > LIMIT_INDEX_NON_KEY_ATTRIBUTES)
        complain(s, buf_span(&b), at, "Member must have length less than or equal to 20");
    if (!is_good)
        complain(s, buf_span(&b), at,
                 "Member must satisfy constraint: [Member must have length less than or equal to "
                 "255, Member must have length greater than or equal to 1]");
}

static void check_index_shape(struct ctx *c, struct shapes *s, const struct core_index_def *x,
                              const char *path)
{
    char at[PATH_BYTES];
    snprintf(at, sizeof at, "%s.indexName", path);
    check_name_shape(s, x->name, at);
    snprintf(at, sizeof at, "%s.projection.projectionType", path);
    check_enum_shape(s, (int64_t)x->projection, CORE_PROJECT_INCLUDE, at, ENUM_PROJECTION_SET);
    check_include_shape(c, s, x, path);
    if (tables_is_overfull(x)) return;
    snprintf(at, sizeof at, "%s.keySchema", path);
    if (x->n_hash + x->n_range == 0)
        complain(s, SPAN_LIT("[]"), at, "Member must have length greater than or equal to 1");
    if (x->is_local && x->n_hash + x->n_range > 2)
        complain(s, print_schema(c, x), at, "Member must have length less than or equal to 2");
    for (uint32_t i = 0; i < x->n_hash; i++) check_key_shape(s, x->hash[i].name, at, i);
    for (uint32_t i = 0; i < x->n_range; i++)
        check_key_shape(s, x->range[i].name, at, x->n_hash + i);
}

static sheaf_rc check_has_name(struct ctx *c, span name)
{
    if (name.p) return SHEAF_OK;
    return err_validation(c->err, "The parameter 'TableName' is required but was not present in "
                                  "the request");
}

sheaf_rc tables_check_create_shapes(struct ctx *c, const struct core_create_table *q)
{
    struct shapes s;
    uint32_t n_of[2] = {0, 0};
    assert(q->n_indexes == 0 || q->indexes);
    assert(q->n_definitions == 0 || q->definitions);
    TRY(check_has_name(c, q->table));
    shapes_init(&s, c);
    check_name_shape(&s, q->table, "tableName");
    for (uint32_t i = 0; i < q->n_definitions; i++)
        check_definition_shape(&s, &q->definitions[i], i);
    if (!is_missing(&s, q->hash.name, "keySchema"))
        check_key_shape(&s, q->hash.name, "keySchema", 0);
    if (q->range.name.p) check_key_shape(&s, q->range.name, "keySchema", 1);
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        char path[PATH_BYTES / 2];
        bool is_local = q->indexes[i].is_local;
        snprintf(path, sizeof path, "%sSecondaryIndexes.%u.member", is_local ? "local" : "global",
                 (unsigned)++n_of[is_local]);
        check_index_shape(c, &s, &q->indexes[i], path);
    }
    check_enum_shape(&s, (int64_t)q->stream, CORE_STREAM_BOTH, "streamSpecification.streamViewType",
                     ENUM_VIEW_SET);
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
        if (x->read_units || x->write_units || !settings_are_given(x))
            check_units_shape(s, x->read_units, x->write_units, path);
    }
}

/* The service's switches are booleans and names; ours say "unchanged" as well. */
static void check_switches(struct shapes *s, const struct core_update_table *q)
{
    check_enum_shape(s, (int64_t)q->throughput, CORE_OFF, "provisionedThroughput", ENUM_SWITCH_SET);
    check_enum_shape(s, (int64_t)q->provisioned, CORE_OFF, "billingMode",
                     "[PROVISIONED, PAY_PER_REQUEST]");
    check_enum_shape(s, (int64_t)q->protection, CORE_OFF, "deletionProtectionEnabled",
                     ENUM_SWITCH_SET);
    check_enum_shape(s, (int64_t)q->infrequent, CORE_OFF, "tableClass",
                     "[STANDARD, STANDARD_INFREQUENT_ACCESS]");
    check_enum_shape(s, (int64_t)q->stream, CORE_OFF, "streamSpecification.streamEnabled",
                     ENUM_SWITCH_SET);
    check_enum_shape(s, (int64_t)q->view, CORE_STREAM_BOTH, "streamSpecification.streamViewType",
                     ENUM_VIEW_SET);
    check_enum_shape(s, (int64_t)q->kms, CORE_OFF, "sSESpecification.enabled", ENUM_SWITCH_SET);
}

sheaf_rc tables_check_update_shapes(struct ctx *c, const struct core_update_table *q)
{
    struct shapes s;
    assert(q->n_definitions == 0 || q->definitions);
    TRY(tables_check_name(c, q->table));
    shapes_init(&s, c);
    for (uint32_t i = 0; i < q->n_definitions; i++)
        check_definition_shape(&s, &q->definitions[i], i);
    if (q->throughput == CORE_ON)
        check_units_shape(&s, q->read_units, q->write_units, "provisionedThroughput");
    check_index_updates(c, &s, q);
    check_switches(&s, q);
    return shapes_finish(&s, c);
}

sheaf_rc tables_check_name(struct ctx *c, span name)
{
    struct shapes s;
    TRY(check_has_name(c, name));
    shapes_init(&s, c);
    if (!span_starts(name, SPAN_LIT("arn:")))
        check_name_shape(&s, name, "tableName");
    else if (name.n > ARN_MAX)
        complain(&s, name, "tableName", "Member must have length less than or equal to 1024");
    return shapes_finish(&s, c);
}

sheaf_rc core_check_table_name(struct ctx *c, span table) { return tables_check_name(c, table); }

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
    if (q->limit > LIMIT_LIST_TABLES)
        complain(&s, span_cstr(text), "limit", "Member must have value less than or equal to 100");
    return shapes_finish(&s, c);
}
