/* What the operations on tables share on their way in: shapes, and the steps from a decoded schema
 * to core's definitions of keys and indexes.
 *
 * Know before editing: a KeySchema is a list on the wire and two groups in core, so its order is
 * judged here; everything else about tables is judged in core. */
#include "ops/tables.h"

#include "base/limits.h"

#include <assert.h>

#define INVALID "One or more parameter values were invalid: "
enum { KEYS_MAX = LIMIT_INDEX_HASH_ATTRIBUTES + LIMIT_INDEX_RANGE_ATTRIBUTES, ARN_MAX = 1283 };

/* ---- shapes ---- */

static const struct shape attribute_name = {
    .kind = SHAPE_STRING, .has_min = true, .min = 1, .has_max = true, .max = LIMIT_KEY_NAME_BYTES};
static const char *const type_words[] = {"B", "N", "S", NULL};
static const struct shape attribute_type = {
    .kind = SHAPE_ENUM, .words = type_words, .words_text = "[B, N, S]"};
static const struct member definition_members[] = {
    MEMBER(struct in_definition, name, "AttributeName", attribute_name, REQUIRED),
    MEMBER(struct in_definition, type, "AttributeType", attribute_type, REQUIRED),
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
const struct shape shape_key_schema = {
    .kind = SHAPE_LIST, .of = &key_shape, .has_min = true, .min = 1, .has_max = true, .max = 2};
static const struct shape global_keys = {.kind = SHAPE_LIST,
                                         .of = &key_shape,
                                         .has_min = true,
                                         .min = 1,
                                         .has_max = true,
                                         .max = KEYS_MAX};

static const char *const projection_words[] = {"ALL", "KEYS_ONLY", "INCLUDE", NULL};
static const struct shape projection_type = {
    .kind = SHAPE_ENUM, .words = projection_words, .words_text = "[ALL, INCLUDE, KEYS_ONLY]"};
static const struct shape non_key_attributes = {.kind = SHAPE_LIST,
                                                .of = &attribute_name,
                                                .has_min = true,
                                                .min = 1,
                                                .has_max = true,
                                                .max = LIMIT_INDEX_NON_KEY_ATTRIBUTES};
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
    MEMBER(struct in_units, read, "ReadUnitsPerSecond", unit, 0),
    MEMBER(struct in_units, write, "WriteUnitsPerSecond", unit, 0),
};
const struct shape shape_warm = STRUCT_SHAPE(struct in_units, warm_members);

static const struct member local_members[] = {
    MEMBER(struct in_index, keys, "KeySchema", shape_key_schema, REQUIRED),
    MEMBER(struct in_index, projection, "Projection", projection_shape, REQUIRED),
    MEMBER(struct in_index, name, "IndexName", shape_index_name, REQUIRED),
};
static const struct shape local_shape = STRUCT_SHAPE(struct in_index, local_members);
const struct shape shape_local_indexes = {.kind = SHAPE_LIST, .of = &local_shape};
static const struct member global_members[] = {
    MEMBER(struct in_index, keys, "KeySchema", global_keys, REQUIRED),
    MEMBER(struct in_index, projection, "Projection", projection_shape, REQUIRED),
    MEMBER(struct in_index, name, "IndexName", shape_index_name, REQUIRED),
    MEMBER(struct in_index, units, "ProvisionedThroughput", shape_units, 0),
    MEMBER(struct in_index, on_demand, "OnDemandThroughput", shape_on_demand, 0),
    MEMBER(struct in_index, warm, "WarmThroughput", shape_warm, 0),
};
const struct shape shape_global_index = STRUCT_SHAPE(struct in_index, global_members);
const struct shape shape_global_indexes = {.kind = SHAPE_LIST, .of = &shape_global_index};

static const char *const billing_words[] = {"PROVISIONED", "PAY_PER_REQUEST", NULL};
const struct shape shape_billing = {
    .kind = SHAPE_ENUM, .words = billing_words, .words_text = "[PROVISIONED, PAY_PER_REQUEST]"};
static const char *const class_words[] = {"STANDARD", "STANDARD_INFREQUENT_ACCESS", NULL};
const struct shape shape_class = {.kind = SHAPE_ENUM,
                                  .words = class_words,
                                  .words_text = "[STANDARD, STANDARD_INFREQUENT_ACCESS]"};

/* In the order of enum core_stream_view, whose first is none. */
static const char *const view_words[] = {"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE",
                                         "NEW_AND_OLD_IMAGES", NULL};
static const struct shape view_shape = {
    .kind = SHAPE_ENUM,
    .words = view_words,
    .words_text = "[NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY]"};
static const struct member stream_members[] = {
    MEMBER(struct in_stream, is_enabled, "StreamEnabled", shape_bool_, REQUIRED),
    MEMBER(struct in_stream, view, "StreamViewType", view_shape, 0),
};
const struct shape shape_stream = STRUCT_SHAPE(struct in_stream, stream_members);

static const char *const encryption_words[] = {"AES256", "KMS", NULL};
static const struct shape encryption_type = {
    .kind = SHAPE_ENUM, .words = encryption_words, .words_text = "[AES256, KMS]"};
static const struct member encryption_members[] = {
    MEMBER(struct in_encryption, is_enabled, "Enabled", shape_bool_, 0),
    MEMBER(struct in_encryption, type, "SSEType", encryption_type, 0),
    MEMBER(struct in_encryption, key, "KMSMasterKeyId", shape_string, 0),
};
const struct shape shape_encryption = STRUCT_SHAPE(struct in_encryption, encryption_members);

static const struct shape tag_key = {
    .kind = SHAPE_STRING, .has_min = true, .min = 1, .has_max = true, .max = 128};
static const struct shape tag_value = {.kind = SHAPE_STRING, .has_max = true, .max = 256};
static const struct member tag_members[] = {
    MEMBER(struct in_tag, key, "Key", tag_key, REQUIRED),
    MEMBER(struct in_tag, value, "Value", tag_value, REQUIRED),
};
static const struct shape tag_shape = STRUCT_SHAPE(struct in_tag, tag_members);
const struct shape shape_tags = {.kind = SHAPE_LIST, .of = &tag_shape};
const struct shape shape_arn = {.kind = SHAPE_STRING,
                                .is_table = true,
                                .has_min = true,
                                .min = 1,
                                .has_max = true,
                                .max = ARN_MAX};

/* ---- keys and indexes ---- */

sheaf_rc op_table_definitions(struct ctx *c, const struct shape_list *in,
                              const struct core_key **out, uint32_t *n_out)
{
    static const enum val_type types[] = {VAL_NONE, VAL_B, VAL_N, VAL_S};
    struct in_definition *const *all = in->all;
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

/* HASH first; behind the first RANGE only RANGE. A table and a local index have one of each. */
static sheaf_rc check_order(struct ctx *c, const struct shape_list *keys, bool is_global)
{
    struct in_key *const *all = keys->all;
    if (!is_hash(all[0]))
        return err_validation(c->err, "Invalid KeySchema: The first KeySchemaElement is not a HASH "
                                      "key type");
    if (!is_global) {
        if (keys->n > 1 && is_hash(all[1]))
            return err_validation(c->err, "Invalid KeySchema: The second KeySchemaElement is not a "
                                          "RANGE key type");
        return SHEAF_OK;
    }
    for (uint32_t i = 2; i < keys->n; i++)
        if (is_hash(all[i]) && !is_hash(all[i - 1]))
            return err_validation(c->err,
                                  "Invalid KeySchema: HASH key types must come before RANGE key "
                                  "types");
    return SHEAF_OK;
}

sheaf_rc op_table_keys(struct ctx *c, const struct shape_list *in,
                       const struct core_key *definitions, uint32_t n, struct core_key *hash,
                       struct core_key *range)
{
    struct in_key *const *all = in->all;
    TRY(check_order(c, in, false));
    *hash = typed(all[0]->name, definitions, n);
    *range = (struct core_key){.name = SPAN_NONE};
    if (in->n > 1) *range = typed(all[1]->name, definitions, n);
    return SHEAF_OK;
}

static sheaf_rc set_keys(struct ctx *c, const struct in_index *in, bool is_local,
                         const struct core_key *definitions, uint32_t n, struct core_index_def *out)
{
    struct in_key *const *all = in->keys.all;
    TRY(check_order(c, &in->keys, !is_local));
    for (uint32_t i = 0; i < in->keys.n; i++) {
        struct core_key key = typed(all[i]->name, definitions, n);
        uint32_t *count = is_hash(all[i]) ? &out->n_hash : &out->n_range;
        struct core_key *to = is_hash(all[i]) ? out->hash : out->range;
        if (*count < LIMIT_INDEX_HASH_ATTRIBUTES) to[*count] = key;
        (*count)++;
    }
    return SHEAF_OK;
}

static sheaf_rc set_projection(struct ctx *c, const struct in_projection *in,
                               struct core_index_def *out)
{
    if (in->type.i == 0) return err_validation(c->err, INVALID "Unknown ProjectionType: null");
    out->projection = (enum core_projection)(in->type.i - 1);
    out->include = in->attributes.all;
    out->n_include = in->attributes.n;
    return SHEAF_OK;
}

struct core_throughput op_table_throughput(const struct in_units *in)
{
    if (!in) return (struct core_throughput){.has_read = false};
    return (struct core_throughput){in->read.has, in->write.has, in->read.v, in->write.v};
}

sheaf_rc op_table_index(struct ctx *c, const struct in_index *in, bool is_local,
                        const struct core_key *definitions, uint32_t n, struct core_index_def *out)
{
    *out = (struct core_index_def){.name = in->name,
                                   .is_local = is_local,
                                   .on_demand = op_table_throughput(in->on_demand),
                                   .warm = op_table_throughput(in->warm)};
    if (in->units) {
        out->read_units = (uint64_t)in->units->read.v;
        out->write_units = (uint64_t)in->units->write.v;
    }
    TRY(set_keys(c, in, is_local, definitions, n, out));
    return set_projection(c, in->projection, out);
}

enum core_stream_view op_table_view(const struct shape_word *view)
{
    return (enum core_stream_view)view->i;
}

sheaf_rc op_table_stream(struct ctx *c, const struct in_stream *in)
{
    bool is_on = in->is_enabled == SHAPE_TRUE;
    if (is_on && in->view.i == 0)
        return err_validation(c->err, INVALID "StreamViewType must be specified when "
                                              "StreamEnabled is true");
    if (!is_on && in->view.i != 0)
        return err_validation(c->err, INVALID "StreamViewType cannot be specified when "
                                              "StreamEnabled is false");
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
