/* Turns a TableDescription into core's. Know before editing: types of keys stand apart from the key
 * schemas, in AttributeDefinitions, which may come before or after them; so they are put together
 * when all is read. */
#include "client/get.h"

struct wire_key {
    span name, kind;
};
struct wire_type {
    span name, type;
};
struct wire_units {
    uint64_t read, write;
};
struct wire_projection {
    span type;
    struct texts include;
};
struct wire_index {
    span name, status;
    bool is_local, is_backfilling;
    struct rows keys; /* of struct wire_key */
    struct wire_projection projection;
    struct wire_units units;
    uint64_t items, bytes;
};
struct wire_table {
    struct core_table_info head;
    span status, billing, table_class, view;
    struct rows keys, types, indexes;
    struct wire_units units;
};

/* ---- reading ---- */

static sheaf_rc get_key(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct wire_key, name, "AttributeName", wire_get_text),
        FIELD(struct wire_key, kind, "KeyType", wire_get_text)};
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_keys(struct json *j, void *to)
{
    ((struct rows *)to)->size = sizeof(struct wire_key);
    return wire_get_rows(j, to, get_key);
}

static sheaf_rc get_type(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct wire_type, name, "AttributeName", wire_get_text),
        FIELD(struct wire_type, type, "AttributeType", wire_get_text)};
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_types(struct json *j, void *to)
{
    ((struct rows *)to)->size = sizeof(struct wire_type);
    return wire_get_rows(j, to, get_type);
}

static sheaf_rc get_units(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct wire_units, read, "ReadCapacityUnits", wire_get_u64),
        FIELD(struct wire_units, write, "WriteCapacityUnits", wire_get_u64)};
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_projection(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct wire_projection, type, "ProjectionType", wire_get_text),
        FIELD(struct wire_projection, include, "NonKeyAttributes", wire_get_texts)};
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_index(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct wire_index, name, "IndexName", wire_get_text),
        FIELD(struct wire_index, status, "IndexStatus", wire_get_text),
        FIELD(struct wire_index, is_backfilling, "Backfilling", wire_get_bool),
        FIELD(struct wire_index, keys, "KeySchema", get_keys),
        FIELD(struct wire_index, projection, "Projection", get_projection),
        FIELD(struct wire_index, units, "ProvisionedThroughput", get_units),
        FIELD(struct wire_index, items, "ItemCount", wire_get_u64),
        FIELD(struct wire_index, bytes, "IndexSizeBytes", wire_get_u64),
    };
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_indexes(struct json *j, struct rows *all, bool is_local)
{
    all->size = sizeof(struct wire_index);
    uint32_t first = all->n;
    TRY(wire_get_rows(j, all, get_index));
    struct wire_index *x = (struct wire_index *)(void *)all->all;
    for (uint32_t i = first; i < all->n; i++) x[i].is_local = is_local;
    return SHEAF_OK;
}

static sheaf_rc get_locals(struct json *j, void *to) { return get_indexes(j, to, true); }
static sheaf_rc get_globals(struct json *j, void *to) { return get_indexes(j, to, false); }

static sheaf_rc get_billing(struct json *j, void *to)
{
    static const struct field fields[] = {{"BillingMode", wire_get_text, 0}};
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_class(struct json *j, void *to)
{
    static const struct field fields[] = {{"TableClass", wire_get_text, 0}};
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_stream(struct json *j, void *to)
{
    struct wire_stream {
        bool is_on;
        span view;
    } w = {.is_on = false};
    static const struct field fields[] = {
        FIELD(struct wire_stream, is_on, "StreamEnabled", wire_get_bool),
        FIELD(struct wire_stream, view, "StreamViewType", wire_get_text)};
    TRY(GET_OBJECT(j, fields, &w));
    if (w.is_on) *(span *)to = w.view;
    return SHEAF_OK;
}

static sheaf_rc get_description(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct wire_table, head.name, "TableName", wire_get_text),
        FIELD(struct wire_table, head.id, "TableId", wire_get_text),
        FIELD(struct wire_table, head.arn, "TableArn", wire_get_text),
        FIELD(struct wire_table, status, "TableStatus", wire_get_text),
        FIELD(struct wire_table, head.created_us, "CreationDateTime", wire_get_time),
        FIELD(struct wire_table, keys, "KeySchema", get_keys),
        FIELD(struct wire_table, types, "AttributeDefinitions", get_types),
        FIELD(struct wire_table, indexes, "GlobalSecondaryIndexes", get_globals),
        FIELD(struct wire_table, indexes, "LocalSecondaryIndexes", get_locals),
        FIELD(struct wire_table, head.items, "ItemCount", wire_get_u64),
        FIELD(struct wire_table, head.bytes, "TableSizeBytes", wire_get_u64),
        FIELD(struct wire_table, billing, "BillingModeSummary", get_billing),
        FIELD(struct wire_table, table_class, "TableClassSummary", get_class),
        FIELD(struct wire_table, units, "ProvisionedThroughput", get_units),
        FIELD(struct wire_table, head.is_protected, "DeletionProtectionEnabled", wire_get_bool),
        FIELD(struct wire_table, view, "StreamSpecification", get_stream),
        FIELD(struct wire_table, head.stream_label, "LatestStreamLabel", wire_get_text),
    };
    return GET_OBJECT(j, fields, to);
}

/* ---- putting together ---- */

static enum val_type type_of(const struct rows *types, span name)
{
    const struct wire_type *all = (const struct wire_type *)(const void *)types->all;
    enum val_type type = VAL_NONE;
    for (uint32_t i = 0; i < types->n; i++)
        if (span_eq(all[i].name, name)) (void)val_type_parse(all[i].type, &type);
    return type;
}

static sheaf_rc set_keys(struct ctx *c, const struct rows *keys, const struct rows *types,
                         struct core_index_def *out)
{
    const struct wire_key *all = (const struct wire_key *)(const void *)keys->all;
    for (uint32_t i = 0; i < keys->n; i++) {
        bool is_range = span_eq(all[i].kind, SPAN_LIT("RANGE"));
        uint32_t *n = is_range ? &out->n_range : &out->n_hash;
        struct core_key *to = is_range ? out->range : out->hash;
        if (*n == 4)
            return err_set(c->err, SHEAF_INTERNAL,
                           "The server's answer cannot be read: a key of more than 4 attributes");
        to[(*n)++] = (struct core_key){all[i].name, type_of(types, all[i].name)};
    }
    return SHEAF_OK;
}

static enum core_status status_of(span word)
{
    static const char *const words[] = {"CREATING", "UPDATING", "DELETING", "ACTIVE"};
    uint32_t i = GET_PLACE(word, words);
    return i < 4 ? (enum core_status)i : CORE_ACTIVE;
}

static enum core_projection projection_of(span word)
{
    static const char *const words[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
    uint32_t i = GET_PLACE(word, words);
    return i < 3 ? (enum core_projection)i : CORE_PROJECT_ALL;
}

enum core_stream_view wire_get_view(span word)
{
    static const char *const words[] = {"", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE",
                                        "NEW_AND_OLD_IMAGES"};
    uint32_t i = GET_PLACE(word, words);
    return i < 5 ? (enum core_stream_view)i : CORE_STREAM_NONE;
}

/* A local index has no status of its own: it is made with its table. */
static enum core_status index_status(const struct wire_index *x, const struct wire_table *w)
{
    if (x->status.p) return status_of(x->status);
    return status_of(w->status) == CORE_CREATING ? CORE_CREATING : CORE_ACTIVE;
}

static sheaf_rc set_index(struct ctx *c, const struct wire_index *x, const struct wire_table *w,
                          struct core_index_info *out)
{
    *out = (struct core_index_info){.status = index_status(x, w),
                                    .is_backfilling = x->is_backfilling,
                                    .items = x->items,
                                    .bytes = x->bytes};
    out->def = (struct core_index_def){.name = x->name,
                                       .is_local = x->is_local,
                                       .projection = projection_of(x->projection.type),
                                       .include = x->projection.include.all,
                                       .n_include = x->projection.include.n,
                                       .read_units = x->units.read,
                                       .write_units = x->units.write};
    return set_keys(c, &x->keys, &w->types, &out->def);
}

/* The global ones first, as a table is made; the answer may have them in any order. */
static sheaf_rc set_indexes(struct ctx *c, const struct wire_table *w, struct core_table_info *out)
{
    const struct wire_index *x = (const struct wire_index *)(const void *)w->indexes.all;
    out->indexes = ARENA_ARRAY(c->arena, struct core_index_info, w->indexes.n + 1u);
    if (!out->indexes) return err_nomem(c->err);
    for (int is_local = 0; is_local < 2; is_local++)
        for (uint32_t i = 0; i < w->indexes.n; i++)
            if (x[i].is_local == is_local)
                TRY(set_index(c, &x[i], w, &out->indexes[out->n_indexes++]));
    return SHEAF_OK;
}

sheaf_rc wire_get_table(struct ctx *c, span answer, struct core_table_info *out)
{
    static const struct field fields[] = {{"TableDescription", get_description, 0},
                                          {"Table", get_description, 0}};
    struct wire_table w = {.status = SPAN_NONE};
    struct core_index_def keys = {.n_hash = 0};
    TRY(GET_ANSWER(c, answer, fields, &w));
    if (!w.head.name.p)
        return err_set(c->err, SHEAF_INTERNAL, "The server's answer describes no table");
    *out = w.head;
    out->status = status_of(w.status);
    out->is_provisioned = !span_eq(w.billing, SPAN_LIT("PAY_PER_REQUEST"));
    out->is_infrequent = span_eq(w.table_class, SPAN_LIT("STANDARD_INFREQUENT_ACCESS"));
    out->read_units = w.units.read;
    out->write_units = w.units.write;
    out->stream = wire_get_view(w.view);
    TRY(set_keys(c, &w.keys, &w.types, &keys));
    out->hash = keys.hash[0];
    out->range = keys.range[0];
    return set_indexes(c, &w, out);
}
