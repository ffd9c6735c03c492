/* What the operations on tables share on their way in: shapes, and the steps from a decoded schema
 * to core's definitions of keys and indexes.
 *
 * Know before editing: a KeySchema is a list on the wire and two groups in core, so its order is
 * looked at here; core, which judges tables, is told of it. */
#include "ops/tables.h"

#include "base/limits.h"

#include <assert.h>

#define INVALID "One or more parameter values were invalid: "
/* ---- shapes ---- */

/* The operations on tables tell a name's length before its pattern, and judge an empty one by its
 * constraints. */
const struct shape shape_named_table = {.kind = SHAPE_STRING,
                                        .is_table = true,
                                        .is_length_first = true,
                                        .has_min = true,
                                        .min = LIMIT_TABLE_NAME_MIN,
                                        .has_max = true,
                                        .max = LIMIT_TABLE_NAME_MAX,
                                        .pattern = "[a-zA-Z0-9_.-]+",
                                        .matches = op_is_name};
const struct shape shape_named_index = {.kind = SHAPE_STRING,
                                        .is_length_first = true,
                                        .has_min = true,
                                        .min = LIMIT_TABLE_NAME_MIN,
                                        .has_max = true,
                                        .max = LIMIT_TABLE_NAME_MAX,
                                        .pattern = "[a-zA-Z0-9_.-]+",
                                        .matches = op_is_name};

static const struct shape attribute_name = {
    .kind = SHAPE_STRING, .has_min = true, .min = 1, .has_max = true, .max = LIMIT_KEY_NAME_BYTES};
static const char *const type_words[] = {"B", "N", "S", NULL};
static const struct shape attribute_type = {
    .kind = SHAPE_ENUM, .words = type_words, .words_text = "[B, N, S]"};
static const struct member definition_members[] = {
    MEMBER(struct in_definition, type, "AttributeType", attribute_type, REQUIRED),
    MEMBER(struct in_definition, name, "AttributeName", attribute_name, REQUIRED),
};
static const struct shape definition_shape = STRUCT_SHAPE(struct in_definition, definition_members);
const struct shape shape_definitions = {.kind = SHAPE_LIST, .of = &definition_shape};

static const char *const kind_words[] = {"HASH", "RANGE", NULL};
static const struct shape key_kind = {
    .kind = SHAPE_ENUM, .words = kind_words, .words_text = "[HASH, RANGE]"};
static const struct member key_members[] = {
    MEMBER(struct in_key, name, "AttributeName", attribute_name, REQUIRED),
    MEMBER(struct in_key, kind, "KeyType", key_kind, REQUIRED),
};
static const struct shape key_shape = {.kind = SHAPE_STRUCT,
                                       .size = sizeof(struct in_key),
                                       .members = key_members,
                                       .n_members = 2,
                                       .title = "KeySchemaElement"};
const struct shape shape_key_schema = {.kind = SHAPE_LIST,
                                       .of = &key_shape,
                                       .has_min = true,
                                       .min = 1,
                                       .has_max = true,
                                       .max = 2,
                                       .echo = ECHO_JAVA};
/* Too many of either kind is core's to say. */
static const struct shape global_keys = {
    .kind = SHAPE_LIST, .of = &key_shape, .has_min = true, .min = 1, .echo = ECHO_JAVA};

static const char *const projection_words[] = {"ALL", "KEYS_ONLY", "INCLUDE", NULL};
static const struct shape projection_type = {
    .kind = SHAPE_ENUM, .words = projection_words, .words_text = "[ALL, INCLUDE, KEYS_ONLY]"};
static const struct shape non_key_attributes = {.kind = SHAPE_LIST,
                                                .of = &attribute_name,
                                                .has_min = true,
                                                .min = 1,
                                                .has_max = true,
                                                .max = LIMIT_INDEX_NON_KEY_ATTRIBUTES,
                                                .echo = ECHO_JAVA};
static const struct member projection_members[] = {
    MEMBER(struct in_projection, type, "ProjectionType", projection_type, 0),
    MEMBER(struct in_projection, attributes, "NonKeyAttributes", non_key_attributes, 0),
};
static const struct shape projection_shape = STRUCT_SHAPE(struct in_projection, projection_members);

static const struct shape unit = {.kind = SHAPE_LONG, .has_min = true, .min = 1};
static const struct shape any_long = {.kind = SHAPE_LONG};
static const struct member units_members[] = {
    MEMBER(struct in_units, write, "WriteCapacityUnits", unit, REQUIRED),
    MEMBER(struct in_units, read, "ReadCapacityUnits", unit, REQUIRED),
};
const struct shape shape_units = STRUCT_SHAPE(struct in_units, units_members);
static const struct member on_demand_members[] = {
    MEMBER(struct in_units, read, "MaxReadRequestUnits", any_long, 0),
    MEMBER(struct in_units, write, "MaxWriteRequestUnits", any_long, 0),
};
const struct shape shape_on_demand = STRUCT_SHAPE(struct in_units, on_demand_members);
static const struct member warm_members[] = {
    MEMBER(struct in_units, read, "ReadUnitsPerSecond", any_long, 0),
    MEMBER(struct in_units, write, "WriteUnitsPerSecond", any_long, 0),
};
const struct shape shape_warm = STRUCT_SHAPE(struct in_units, warm_members);

static const struct member local_members[] = {
    MEMBER(struct in_index, keys, "KeySchema", shape_key_schema, REQUIRED),
    MEMBER(struct in_index, projection, "Projection", projection_shape, REQUIRED),
    MEMBER(struct in_index, name, "IndexName", shape_named_index, REQUIRED),
};
static const struct shape local_shape = STRUCT_SHAPE(struct in_index, local_members);
const struct shape shape_local_indexes = {.kind = SHAPE_LIST, .of = &local_shape};
static const struct member global_members[] = {
    MEMBER(struct in_index, keys, "KeySchema", global_keys, REQUIRED),
    MEMBER(struct in_index, projection, "Projection", projection_shape, REQUIRED),
    MEMBER(struct in_index, name, "IndexName", shape_named_index, REQUIRED),
    MEMBER(struct in_index, units, "ProvisionedThroughput", shape_units, 0),
    MEMBER(struct in_index, on_demand, "OnDemandThroughput", shape_on_demand, 0),
    MEMBER(struct in_index, warm, "WarmThroughput", shape_warm, 0),
};
const struct shape shape_global_index = STRUCT_SHAPE(struct in_index, global_members);
const struct shape shape_global_indexes = {.kind = SHAPE_LIST, .of = &shape_global_index};

static const char *const billing_words[] = {"PROVISIONED", "PAY_PER_REQUEST", NULL};
const struct shape shape_billing = {
    .kind = SHAPE_ENUM, .words = billing_words, .words_text = "[PROVISIONED, PAY_PER_REQUEST]"};

/* In the order of enum core_stream_view, whose first is none. */
static const char *const view_words[] = {"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE",
                                         "NEW_AND_OLD_IMAGES", NULL};
static const struct shape view_shape = {
    .kind = SHAPE_ENUM,
    .words = view_words,
    .words_text = "[OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"};
static const struct member stream_members[] = {
    MEMBER(struct in_stream, is_enabled, "StreamEnabled", shape_bool_, REQUIRED),
    MEMBER(struct in_stream, view, "StreamViewType", view_shape, 0),
};
const struct shape shape_stream = STRUCT_SHAPE(struct in_stream, stream_members);

static const char *const encryption_words[] = {"AES256", "KMS", NULL};
static const struct shape encryption_type = {
    .kind = SHAPE_ENUM, .words = encryption_words, .words_text = "[AES256, KMS]"};
static const struct shape key_id = {
    .kind = SHAPE_STRING, .has_min = true, .min = 1, .has_max = true, .max = LIMIT_KMS_KEY_BYTES};
static const struct member encryption_members[] = {
    MEMBER(struct in_encryption, is_enabled, "Enabled", shape_bool_, 0),
    MEMBER(struct in_encryption, type, "SSEType", encryption_type, 0),
    MEMBER(struct in_encryption, key, "KMSMasterKeyId", key_id, 0),
};
const struct shape shape_encryption = STRUCT_SHAPE(struct in_encryption, encryption_members);

/* What is wrong with a tag, a missing part too, is core's to say. */
static const struct member tag_members[] = {
    MEMBER(struct in_tag, key, "Key", shape_string, REQUIRED | LATER),
    MEMBER(struct in_tag, value, "Value", shape_string, REQUIRED | LATER),
};
static const struct shape tag_shape = STRUCT_SHAPE(struct in_tag, tag_members);
const struct shape shape_tags = {.kind = SHAPE_LIST, .of = &tag_shape};
const struct shape shape_arn = {.kind = SHAPE_STRING, .is_table = true};

/* ---- keys and indexes ---- */

sheaf_rc op_table_definitions(struct ctx *c, const struct shape_list *in,
                              const struct core_key **out, uint32_t *n_out)
{
    static const enum val_type types[] = {VAL_NONE, VAL_B, VAL_N, VAL_S};
    struct in_definition *const *all = in->all;
    *out = NULL;
    *n_out = 0;
    if (!in->has) return SHEAF_OK;
    struct core_key *keys = ARENA_ARRAY(c->arena, struct core_key, in->n + 1);
    if (!keys) return err_nomem(c->err);
    for (uint32_t i = 0; i < in->n; i++) {
        assert(all[i]->type.i < sizeof types / sizeof *types);
        keys[i] = (struct core_key){all[i]->name, types[all[i]->type.i]};
    }
    *out = keys;
    *n_out = in->n;
    return SHEAF_OK;
}

static struct core_key typed(span name, const struct core_key *definitions, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (span_eq(definitions[i].name, name)) return definitions[i];
    return (struct core_key){name, VAL_NONE};
}

static bool is_hash(const struct in_key *k) { return k->kind.i == 1; }

/* HASH first; behind the first RANGE only RANGE. A table has one of each. What is wrong is for core
 * to say, which knows what else is. */
static enum core_key_order order_of(const struct shape_list *keys, bool is_table)
{
    struct in_key *const *all = keys->all;
    if (!is_hash(all[0])) return CORE_KEYS_FIRST_NOT_HASH;
    if (is_table) return keys->n > 1 && is_hash(all[1]) ? CORE_KEYS_SECOND_NOT_RANGE : CORE_KEYS_OK;
    for (uint32_t i = 2; i < keys->n; i++)
        if (is_hash(all[i]) && !is_hash(all[i - 1])) return CORE_KEYS_HASH_AFTER_RANGE;
    return CORE_KEYS_OK;
}

void op_table_keys(const struct shape_list *in, struct core_create_table *q)
{
    struct in_key *const *all = in->all;
    q->key_order = order_of(in, true);
    q->hash = typed(all[0]->name, q->definitions, q->n_definitions);
    q->range = (struct core_key){.name = SPAN_NONE};
    if (in->n > 1) q->range = typed(all[1]->name, q->definitions, q->n_definitions);
}

static void set_keys(const struct in_index *in, const struct core_key *definitions, uint32_t n,
                     struct core_index_def *out)
{
    struct in_key *const *all = in->keys.all;
    out->key_order = order_of(&in->keys, false);
    for (uint32_t i = 0; i < in->keys.n; i++) {
        struct core_key key = typed(all[i]->name, definitions, n);
        uint32_t *count = is_hash(all[i]) ? &out->n_hash : &out->n_range;
        struct core_key *to = is_hash(all[i]) ? out->hash : out->range;
        if (*count < LIMIT_INDEX_HASH_ATTRIBUTES) to[*count] = key;
        (*count)++;
    }
}

static void set_projection(const struct in_projection *in, struct core_index_def *out)
{
    out->has_no_projection = in->type.i == 0;
    if (in->type.i) out->projection = (enum core_projection)(in->type.i - 1);
    out->include = in->attributes.all;
    out->n_include = in->attributes.n;
}

struct core_throughput op_table_throughput(const struct in_units *in)
{
    if (!in) return (struct core_throughput){.has_read = false};
    return (struct core_throughput){in->read.has, in->write.has, in->read.v, in->write.v};
}

void op_table_index(const struct in_index *in, bool is_local, const struct core_key *definitions,
                    uint32_t n, struct core_index_def *out)
{
    *out = (struct core_index_def){.name = in->name,
                                   .is_local = is_local,
                                   .on_demand = op_table_throughput(in->on_demand),
                                   .warm = op_table_throughput(in->warm)};
    if (in->units) {
        out->read_units = (uint64_t)in->units->read.v;
        out->write_units = (uint64_t)in->units->write.v;
    }
    set_keys(in, definitions, n, out);
    set_projection(in->projection, out);
}

enum core_stream_view op_table_view(const struct shape_word *view)
{
    return (enum core_stream_view)view->i;
}

sheaf_rc op_table_class(struct ctx *c, span text, bool *is_infrequent_out)
{
    *is_infrequent_out = span_eq(text, SPAN_LIT("STANDARD_INFREQUENT_ACCESS"));
    if (!text.p || *is_infrequent_out || span_eq(text, SPAN_LIT("STANDARD"))) return SHEAF_OK;
    return err_validation(c->err, "Invalid table-class parameter provided. Please try again with a "
                                  "valid table-class value: [STANDARD, "
                                  "STANDARD_INFREQUENT_ACCESS].");
}

sheaf_rc op_table_encryption(struct ctx *c, const struct in_encryption *in)
{
    bool is_on = in->is_enabled == SHAPE_TRUE;
    if (!is_on && in->type.i)
        return err_validation(c->err, INVALID "SSEType can not be specified if Enabled is false");
    if (!is_on && in->key.p)
        return err_validation(c->err,
                              INVALID "KMSMasterKeyId can not be specified if Enabled is false");
    if (in->type.i == 1) return err_validation(c->err, INVALID "SSEType AES256 is not supported");
    if (in->key.p && !in->type.i)
        return err_validation(c->err,
                              INVALID "SSEType KMS is required if KMSMasterKeyId is specified");
    return SHEAF_OK;
}

sheaf_rc op_table_tags(struct ctx *c, const struct shape_list *in, const struct core_tag **out,
                       uint32_t *n_out)
{
    struct in_tag *const *all = in->all;
    struct core_tag *tags = ARENA_ARRAY(c->arena, struct core_tag, in->n + 1);
    if (!tags) return err_nomem(c->err);
    for (uint32_t i = 0; i < in->n; i++) tags[i] = (struct core_tag){all[i]->key, all[i]->value};
    *out = tags;
    *n_out = in->n;
    return SHEAF_OK;
}
