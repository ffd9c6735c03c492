/* What the operations on tables share on their way out: TableDescription. */
#include "ops/tables.h"

#define MAX_ARN 1024

struct out_definition {
    span name, type;
};
struct out_projection {
    span type;
    struct shape_list attributes;
};
struct out_provisioned {
    struct shape_int increased, decreased, decreases, read, write;
};
struct out_throughput {
    struct shape_int read, write;
    span status;
};
struct out_billing {
    span mode;
    struct shape_int since;
};
struct out_index {
    span name, status, arn;
    struct shape_list keys;
    struct out_projection *projection;
    struct out_provisioned *units;
    struct out_throughput *on_demand, *warm;
    struct shape_int bytes, items;
    uint8_t is_backfilling;
};
struct out_stream {
    uint8_t is_enabled;
    span view;
};
struct out_encryption {
    span status, type, key;
};
struct out_class {
    span name;
    struct shape_int since;
};
struct out_table {
    span name, status, arn, id, stream_label, stream_arn;
    struct shape_list definitions, keys, locals, globals;
    struct shape_int created, bytes, items;
    struct out_provisioned *units;
    struct out_billing *billing;
    struct out_stream *stream;
    struct out_encryption *encryption;
    struct out_class *table_class;
    struct out_throughput *on_demand, *warm;
    uint8_t is_protected;
};

/* ---- shapes ---- */

static const struct shape shape_long = {.kind = SHAPE_LONG};
static const struct shape shape_time = {.kind = SHAPE_TIME};
static const struct shape strings = {.kind = SHAPE_LIST, .of = &shape_string};

static const struct member definition_members[] = {
    MEMBER(struct out_definition, name, "AttributeName", shape_string, 0),
    MEMBER(struct out_definition, type, "AttributeType", shape_string, 0),
};
static const struct shape definition_shape =
    STRUCT_SHAPE(struct out_definition, definition_members);
static const struct shape definitions_shape = {.kind = SHAPE_LIST, .of = &definition_shape};
static const struct member key_members[] = {
    MEMBER(struct out_key, name, "AttributeName", shape_string, 0),
    MEMBER(struct out_key, kind, "KeyType", shape_string, 0),
};
static const struct shape key_shape = STRUCT_SHAPE(struct out_key, key_members);
const struct shape shape_out_keys = {.kind = SHAPE_LIST, .of = &key_shape};
static const struct member projection_members[] = {
    MEMBER(struct out_projection, type, "ProjectionType", shape_string, 0),
    MEMBER(struct out_projection, attributes, "NonKeyAttributes", strings, 0),
};
static const struct shape projection_shape =
    STRUCT_SHAPE(struct out_projection, projection_members);
static const struct member provisioned_members[] = {
    MEMBER(struct out_provisioned, increased, "LastIncreaseDateTime", shape_time, 0),
    MEMBER(struct out_provisioned, decreased, "LastDecreaseDateTime", shape_time, 0),
    MEMBER(struct out_provisioned, decreases, "NumberOfDecreasesToday", shape_long, 0),
    MEMBER(struct out_provisioned, read, "ReadCapacityUnits", shape_long, 0),
    MEMBER(struct out_provisioned, write, "WriteCapacityUnits", shape_long, 0),
};
static const struct shape provisioned_shape =
    STRUCT_SHAPE(struct out_provisioned, provisioned_members);
static const struct member on_demand_members[] = {
    MEMBER(struct out_throughput, read, "MaxReadRequestUnits", shape_long, 0),
    MEMBER(struct out_throughput, write, "MaxWriteRequestUnits", shape_long, 0),
};
static const struct shape on_demand_shape = STRUCT_SHAPE(struct out_throughput, on_demand_members);
static const struct member warm_members[] = {
    MEMBER(struct out_throughput, read, "ReadUnitsPerSecond", shape_long, 0),
    MEMBER(struct out_throughput, write, "WriteUnitsPerSecond", shape_long, 0),
    MEMBER(struct out_throughput, status, "Status", shape_string, 0),
};
static const struct shape warm_shape = STRUCT_SHAPE(struct out_throughput, warm_members);
static const struct member billing_members[] = {
    MEMBER(struct out_billing, mode, "BillingMode", shape_string, 0),
    MEMBER(struct out_billing, since, "LastUpdateToPayPerRequestDateTime", shape_time, 0),
};
static const struct shape billing_shape = STRUCT_SHAPE(struct out_billing, billing_members);
static const struct member index_members[] = {
    MEMBER(struct out_index, name, "IndexName", shape_string, 0),
    MEMBER(struct out_index, keys, "KeySchema", shape_out_keys, 0),
    MEMBER(struct out_index, projection, "Projection", projection_shape, 0),
    MEMBER(struct out_index, status, "IndexStatus", shape_string, 0),
    MEMBER(struct out_index, is_backfilling, "Backfilling", shape_bool_, 0),
    MEMBER(struct out_index, units, "ProvisionedThroughput", provisioned_shape, 0),
    MEMBER(struct out_index, bytes, "IndexSizeBytes", shape_long, 0),
    MEMBER(struct out_index, items, "ItemCount", shape_long, 0),
    MEMBER(struct out_index, arn, "IndexArn", shape_string, 0),
    MEMBER(struct out_index, on_demand, "OnDemandThroughput", on_demand_shape, 0),
    MEMBER(struct out_index, warm, "WarmThroughput", warm_shape, 0),
};
static const struct shape index_shape = STRUCT_SHAPE(struct out_index, index_members);
static const struct shape indexes_shape = {.kind = SHAPE_LIST, .of = &index_shape};
static const struct member stream_members[] = {
    MEMBER(struct out_stream, is_enabled, "StreamEnabled", shape_bool_, 0),
    MEMBER(struct out_stream, view, "StreamViewType", shape_string, 0),
};
static const struct shape stream_shape = STRUCT_SHAPE(struct out_stream, stream_members);
static const struct member encryption_members[] = {
    MEMBER(struct out_encryption, status, "Status", shape_string, 0),
    MEMBER(struct out_encryption, type, "SSEType", shape_string, 0),
    MEMBER(struct out_encryption, key, "KMSMasterKeyArn", shape_string, 0),
};
static const struct shape encryption_shape =
    STRUCT_SHAPE(struct out_encryption, encryption_members);
static const struct member class_members[] = {
    MEMBER(struct out_class, name, "TableClass", shape_string, 0),
    MEMBER(struct out_class, since, "LastUpdateDateTime", shape_time, 0),
};
static const struct shape class_shape = STRUCT_SHAPE(struct out_class, class_members);
static const struct member table_members[] = {
    MEMBER(struct out_table, definitions, "AttributeDefinitions", definitions_shape, 0),
    MEMBER(struct out_table, name, "TableName", shape_string, 0),
    MEMBER(struct out_table, keys, "KeySchema", shape_out_keys, 0),
    MEMBER(struct out_table, status, "TableStatus", shape_string, 0),
    MEMBER(struct out_table, created, "CreationDateTime", shape_time, 0),
    MEMBER(struct out_table, units, "ProvisionedThroughput", provisioned_shape, 0),
    MEMBER(struct out_table, bytes, "TableSizeBytes", shape_long, 0),
    MEMBER(struct out_table, items, "ItemCount", shape_long, 0),
    MEMBER(struct out_table, arn, "TableArn", shape_string, 0),
    MEMBER(struct out_table, id, "TableId", shape_string, 0),
    MEMBER(struct out_table, billing, "BillingModeSummary", billing_shape, 0),
    MEMBER(struct out_table, locals, "LocalSecondaryIndexes", indexes_shape, 0),
    MEMBER(struct out_table, globals, "GlobalSecondaryIndexes", indexes_shape, 0),
    MEMBER(struct out_table, stream, "StreamSpecification", stream_shape, 0),
    MEMBER(struct out_table, stream_label, "LatestStreamLabel", shape_string, 0),
    MEMBER(struct out_table, stream_arn, "LatestStreamArn", shape_string, 0),
    MEMBER(struct out_table, encryption, "SSEDescription", encryption_shape, 0),
    MEMBER(struct out_table, table_class, "TableClassSummary", class_shape, 0),
    MEMBER(struct out_table, is_protected, "DeletionProtectionEnabled", shape_bool_, 0),
    MEMBER(struct out_table, on_demand, "OnDemandThroughput", on_demand_shape, 0),
    MEMBER(struct out_table, warm, "WarmThroughput", warm_shape, 0),
};
const struct shape shape_out_table = STRUCT_SHAPE(struct out_table, table_members);

/* ---- parts ---- */

span op_table_arn(struct op_call *call, span table, const char *kind, span rest)
{
    struct buf text;
    buf_init(&text, call->c->arena, MAX_ARN);
    buf_printf(&text, "arn:aws:dynamodb:%.*s:000000000000:table/%.*s%s%.*s",
               SPAN_ARG(call->request->region), SPAN_ARG(table), kind, SPAN_ARG(rest));
    return text.failed ? SPAN_NONE : buf_span(&text);
}

span op_table_view_name(enum core_stream_view view)
{
    static const char *const names[] = {"", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE",
                                        "NEW_AND_OLD_IMAGES"};
    return span_cstr(names[view]);
}

static span status_name(enum core_status status)
{
    static const char *const names[] = {"CREATING", "UPDATING", "DELETING", "ACTIVE"};
    return span_cstr(names[status]);
}

static struct shape_int given(int64_t v) { return (struct shape_int){v, true}; }

/* A time that may never have been. */
static struct shape_int moment(int64_t us) { return (struct shape_int){us, us != 0}; }

static struct out_key *put_key(struct ctx *c, const struct core_key *key, const char *kind)
{
    struct out_key *k = ARENA_NEW(c->arena, struct out_key);
    if (k) *k = (struct out_key){key->name, span_cstr(kind)};
    return k;
}

sheaf_rc op_table_out_keys(struct ctx *c, const struct core_key *hash, uint32_t n_hash,
                           const struct core_key *range, uint32_t n_range, struct shape_list *out)
{
    struct out_key **all = ARENA_ARRAY(c->arena, struct out_key *, n_hash + n_range);
    if (!all) return err_nomem(c->err);
    for (uint32_t i = 0; i < n_hash + n_range; i++) {
        bool is_hash = i < n_hash;
        all[i] = put_key(c, is_hash ? &hash[i] : &range[i - n_hash], is_hash ? "HASH" : "RANGE");
        if (!all[i]) return err_nomem(c->err);
    }
    *out = (struct shape_list){.all = all, .n = n_hash + n_range, .has = true};
    return SHEAF_OK;
}

static sheaf_rc put_definitions(struct ctx *c, const struct core_key *keys, uint32_t n,
                                struct shape_list *out)
{
    struct out_definition **all = ARENA_ARRAY(c->arena, struct out_definition *, n + 1);
    struct out_definition *each = ARENA_ARRAY(c->arena, struct out_definition, n + 1);
    if (!all || !each) return err_nomem(c->err);
    for (uint32_t i = 0; i < n; i++) {
        each[i] = (struct out_definition){keys[i].name, span_cstr(val_type_name(keys[i].type))};
        all[i] = &each[i];
    }
    *out = (struct shape_list){.all = all, .n = n, .has = true};
    return SHEAF_OK;
}

static struct out_provisioned *put_units(struct ctx *c, const struct core_unit_changes *changes,
                                         uint64_t read, uint64_t write)
{
    struct out_provisioned *u = ARENA_NEW(c->arena, struct out_provisioned);
    if (u)
        *u = (struct out_provisioned){.increased = moment(changes->increased_us),
                                      .decreased = moment(changes->decreased_us),
                                      .decreases = given((int64_t)changes->decreases_today),
                                      .read = given((int64_t)read),
                                      .write = given((int64_t)write)};
    return u;
}

/* NULL with SHEAF_OK when nothing is given. */
static sheaf_rc put_throughput(struct ctx *c, const struct core_throughput *t, const char *status,
                               struct out_throughput **out)
{
    *out = NULL;
    if (!t->has_read && !t->has_write) return SHEAF_OK;
    *out = ARENA_NEW(c->arena, struct out_throughput);
    if (!*out) return err_nomem(c->err);
    **out = (struct out_throughput){.read = {t->read, t->has_read},
                                    .write = {t->write, t->has_write},
                                    .status = status ? span_cstr(status) : SPAN_NONE};
    return SHEAF_OK;
}

static sheaf_rc put_projection(struct ctx *c, const struct core_index_def *def,
                               struct out_projection **out)
{
    static const char *const names[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
    *out = ARENA_NEW(c->arena, struct out_projection);
    if (!*out) return err_nomem(c->err);
    (*out)->type = span_cstr(names[def->projection]);
    if (def->projection != CORE_PROJECT_INCLUDE) return SHEAF_OK;
    span *all = ARENA_ARRAY(c->arena, span, def->n_include + 1);
    if (!all) return err_nomem(c->err);
    for (uint32_t i = 0; i < def->n_include; i++) all[i] = def->include[i];
    (*out)->attributes = (struct shape_list){.all = all, .n = def->n_include, .has = true};
    return SHEAF_OK;
}

/* ---- indexes ---- */

static sheaf_rc put_global(struct ctx *c, const struct core_index_info *x, struct out_index *out)
{
    out->status = status_name(x->status);
    if (x->is_backfilling) out->is_backfilling = SHAPE_TRUE;
    out->units = put_units(c, &x->changes, x->def.read_units, x->def.write_units);
    if (!out->units) return err_nomem(c->err);
    TRY(put_throughput(c, &x->def.on_demand, NULL, &out->on_demand));
    return put_throughput(c, &x->def.warm, "ACTIVE", &out->warm);
}

static sheaf_rc put_index(struct op_call *call, span table, const struct core_index_info *x,
                          struct out_index *out)
{
    struct ctx *c = call->c;
    out->name = x->def.name;
    out->arn = op_table_arn(call, table, "/index/", x->def.name);
    out->bytes = given((int64_t)x->bytes);
    out->items = given((int64_t)x->items);
    if (!out->arn.p) return err_nomem(c->err);
    TRY(op_table_out_keys(c, x->def.hash, x->def.n_hash, x->def.range, x->def.n_range, &out->keys));
    TRY(put_projection(c, &x->def, &out->projection));
    return x->def.is_local ? SHEAF_OK : put_global(c, x, out);
}

static sheaf_rc put_indexes(struct op_call *call, const struct core_table_info *t, bool is_local,
                            struct shape_list *out)
{
    struct ctx *c = call->c;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_indexes; i++) n += t->indexes[i].def.is_local == is_local;
    if (n == 0) return SHEAF_OK;
    struct out_index **all = ARENA_ARRAY(c->arena, struct out_index *, n);
    if (!all) return err_nomem(c->err);
    *out = (struct shape_list){.all = all, .has = true};
    for (uint32_t i = 0; i < t->n_indexes; i++) {
        if (t->indexes[i].def.is_local != is_local) continue;
        all[out->n] = ARENA_NEW(c->arena, struct out_index);
        if (!all[out->n]) return err_nomem(c->err);
        TRY(put_index(call, t->name, &t->indexes[i], all[out->n]));
        out->n++;
    }
    return SHEAF_OK;
}

/* ---- the table ---- */

/* A table that was always provisioned has no summary, as with AWS. */
static sheaf_rc put_billing(struct ctx *c, const struct core_table_info *t, struct out_table *out)
{
    out->units = put_units(c, &t->changes, t->read_units, t->write_units);
    if (!out->units) return err_nomem(c->err);
    if (t->is_provisioned && t->on_demand_us == 0) return SHEAF_OK;
    out->billing = ARENA_NEW(c->arena, struct out_billing);
    if (!out->billing) return err_nomem(c->err);
    out->billing->mode = span_cstr(t->is_provisioned ? "PROVISIONED" : "PAY_PER_REQUEST");
    out->billing->since = moment(t->on_demand_us);
    return SHEAF_OK;
}

static sheaf_rc put_stream(struct op_call *call, const struct core_table_info *t,
                           struct out_table *out)
{
    struct ctx *c = call->c;
    if (t->stream_label.p) {
        out->stream_label = t->stream_label;
        out->stream_arn = op_table_arn(call, t->name, "/stream/", t->stream_label);
        if (!out->stream_arn.p) return err_nomem(c->err);
    }
    if (t->stream == CORE_STREAM_NONE) return SHEAF_OK;
    out->stream = ARENA_NEW(c->arena, struct out_stream);
    if (!out->stream) return err_nomem(c->err);
    *out->stream = (struct out_stream){SHAPE_TRUE, op_table_view_name(t->stream)};
    return SHEAF_OK;
}

static sheaf_rc put_settings(struct ctx *c, const struct core_table_info *t, struct out_table *out)
{
    out->is_protected = t->is_protected ? SHAPE_TRUE : SHAPE_FALSE;
    if (t->is_infrequent || t->class_us) {
        out->table_class = ARENA_NEW(c->arena, struct out_class);
        if (!out->table_class) return err_nomem(c->err);
        out->table_class->name =
            span_cstr(t->is_infrequent ? "STANDARD_INFREQUENT_ACCESS" : "STANDARD");
        out->table_class->since = moment(t->class_us);
    }
    if (t->is_kms) {
        out->encryption = ARENA_NEW(c->arena, struct out_encryption);
        if (!out->encryption) return err_nomem(c->err);
        *out->encryption =
            (struct out_encryption){SPAN_LIT("ENABLED"), SPAN_LIT("KMS"), t->kms_key};
    }
    TRY(put_throughput(c, &t->on_demand, NULL, &out->on_demand));
    return put_throughput(c, &t->warm, "ACTIVE", &out->warm);
}

sheaf_rc op_table_describe(struct op_call *call, const struct core_table_info *t,
                           struct out_table **out_)
{
    struct ctx *c = call->c;
    struct out_table *out = *out_ = ARENA_NEW(c->arena, struct out_table);
    if (!out) return err_nomem(c->err);
    out->name = t->name;
    out->id = t->id;
    out->status = status_name(t->status);
    out->created = given(t->created_us);
    out->bytes = given((int64_t)t->bytes);
    out->items = given((int64_t)t->items);
    out->arn = op_table_arn(call, t->name, "", SPAN_NONE);
    if (!out->arn.p) return err_nomem(c->err);
    TRY(put_definitions(c, t->definitions, t->n_definitions, &out->definitions));
    TRY(op_table_out_keys(c, &t->hash, 1, &t->range, t->range.name.p ? 1 : 0, &out->keys));
    TRY(put_billing(c, t, out));
    TRY(put_indexes(call, t, true, &out->locals));
    TRY(put_indexes(call, t, false, &out->globals));
    TRY(put_stream(call, t, out));
    return put_settings(c, t, out);
}
