/* UpdateTable. */
#include "ops/tables.h"

#define INVALID "One or more parameter values were invalid: "

struct index_name {
    span name;
};
struct index_change {
    struct in_index *update, *create;
    struct index_name *delete_;
};
struct update_table_in {
    span table, replicas, witnesses, consistency, vectors;
    struct shape_list definitions, changes;
    struct in_units *units, *on_demand, *warm;
    struct shape_word billing, table_class;
    struct in_stream *stream;
    struct in_encryption *encryption;
    uint8_t is_protected;
};
struct update_table_out {
    struct out_table *table;
};

static const struct member update_members[] = {
    MEMBER(struct in_index, name, "IndexName", shape_index_name, REQUIRED),
    MEMBER(struct in_index, units, "ProvisionedThroughput", shape_units, 0),
    MEMBER(struct in_index, on_demand, "OnDemandThroughput", shape_on_demand, 0),
    MEMBER(struct in_index, warm, "WarmThroughput", shape_warm, 0),
};
static const struct shape update_shape = STRUCT_SHAPE(struct in_index, update_members);
static const struct member delete_members[] = {
    MEMBER(struct index_name, name, "IndexName", shape_index_name, REQUIRED),
};
static const struct shape delete_shape = STRUCT_SHAPE(struct index_name, delete_members);
static const struct member change_members[] = {
    MEMBER(struct index_change, update, "Update", update_shape, 0),
    MEMBER(struct index_change, create, "Create", shape_global_index, 0),
    MEMBER(struct index_change, delete_, "Delete", delete_shape, 0),
};
static const struct shape change_shape = STRUCT_SHAPE(struct index_change, change_members);
static const struct shape changes_shape = {.kind = SHAPE_LIST, .of = &change_shape};

#define IN(field, wire, shape, flags) MEMBER(struct update_table_in, field, wire, shape, flags)
static const struct member in_members[] = {
    IN(definitions, "AttributeDefinitions", shape_definitions, 0),
    IN(table, "TableName", shape_table_name, REQUIRED),
    IN(billing, "BillingMode", shape_billing, 0),
    IN(units, "ProvisionedThroughput", shape_units, 0),
    IN(changes, "GlobalSecondaryIndexUpdates", changes_shape, 0),
    IN(stream, "StreamSpecification", shape_stream, 0),
    IN(encryption, "SSESpecification", shape_encryption, 0),
    IN(table_class, "TableClass", shape_class, 0),
    IN(is_protected, "DeletionProtectionEnabled", shape_bool_, 0),
    IN(on_demand, "OnDemandThroughput", shape_on_demand, 0),
    IN(warm, "WarmThroughput", shape_warm, 0),
    IN(replicas, "ReplicaUpdates", shape_raw, LEGACY),
    IN(witnesses, "GlobalTableWitnessUpdates", shape_raw, LEGACY),
    IN(consistency, "MultiRegionConsistency", shape_raw, LEGACY),
    IN(vectors, "VectorIndexUpdates", shape_raw, LEGACY),
};
static const struct shape in_shape = STRUCT_SHAPE(struct update_table_in, in_members);
static const struct member out_members[] = {
    MEMBER(struct update_table_out, table, "TableDescription", shape_out_table, 0),
};
static const struct shape out_shape = STRUCT_SHAPE(struct update_table_out, out_members);

static enum core_switch switch_of(uint8_t b)
{
    return b == SHAPE_ABSENT ? CORE_UNCHANGED : b == SHAPE_TRUE ? CORE_ON : CORE_OFF;
}

static sheaf_rc refuse_two(struct ctx *c)
{
    return err_set(c->err, SHEAF_LIMIT_EXCEEDED,
                   "Subscriber limit exceeded: Only 1 online index can be created or deleted "
                   "simultaneously per table");
}

static sheaf_rc add_change(struct ctx *c, const struct index_change *x, struct core_index_def *to,
                           uint32_t *n_updates, struct core_update_table *q)
{
    int n = (x->update != NULL) + (x->create != NULL) + (x->delete_ != NULL);
    if (n != 1)
        return err_validation(c->err, INVALID "One of GlobalSecondaryIndexUpdate, "
                                              "CreateGlobalSecondaryIndexAction or "
                                              "DeleteGlobalSecondaryIndexAction must not be null");
    if (x->update) {
        to[(*n_updates)++] = (struct core_index_def){
            .name = x->update->name,
            .read_units = x->update->units ? (uint64_t)x->update->units->read.v : 0,
            .write_units = x->update->units ? (uint64_t)x->update->units->write.v : 0,
            .on_demand = op_table_throughput(x->update->on_demand),
            .warm = op_table_throughput(x->update->warm)};
        return SHEAF_OK;
    }
    if (q->create_index || q->delete_index.p) return refuse_two(c);
    if (x->delete_) {
        q->delete_index = x->delete_->name;
        return SHEAF_OK;
    }
    struct core_index_def *created = ARENA_NEW(c->arena, struct core_index_def);
    if (!created) return err_nomem(c->err);
    q->create_index = created;
    return op_table_index(c, x->create, false, q->definitions, q->n_definitions, created);
}

static sheaf_rc set_changes(struct ctx *c, const struct shape_list *in, struct core_update_table *q)
{
    struct index_change *const *all = in->all;
    uint32_t n_updates = 0;
    if (in->n == 0) return SHEAF_OK;
    struct core_index_def *updates = ARENA_ARRAY(c->arena, struct core_index_def, in->n);
    if (!updates) return err_nomem(c->err);
    for (uint32_t i = 0; i < in->n; i++) TRY(add_change(c, all[i], updates, &n_updates, q));
    if (n_updates) q->update_index = updates;
    q->n_update_index = n_updates;
    return SHEAF_OK;
}

static sheaf_rc set_settings(struct ctx *c, const struct update_table_in *in,
                             struct core_update_table *q)
{
    if (in->units) {
        q->throughput = CORE_ON;
        q->read_units = (uint64_t)in->units->read.v;
        q->write_units = (uint64_t)in->units->write.v;
    }
    if (in->billing.i) q->provisioned = in->billing.i == 1 ? CORE_ON : CORE_OFF;
    if (in->table_class.i) q->infrequent = in->table_class.i == 2 ? CORE_ON : CORE_OFF;
    if (in->stream) {
        TRY(op_table_stream(c, in->stream));
        q->stream = switch_of(in->stream->is_enabled);
        q->view = op_table_view(&in->stream->view);
    }
    if (in->encryption) {
        q->kms = switch_of(in->encryption->is_enabled);
        q->kms_key = in->encryption->key;
    }
    return SHEAF_OK;
}

static const char *not_built(const struct update_table_in *in)
{
    if (in->replicas.p) return "ReplicaUpdates";
    if (in->witnesses.p) return "GlobalTableWitnessUpdates";
    if (in->consistency.p) return "MultiRegionConsistency";
    return in->vectors.p ? "VectorIndexUpdates" : NULL;
}

static sheaf_rc prepare(struct ctx *c, const struct update_table_in *in,
                        struct core_update_table *q)
{
    const char *missing = not_built(in);
    if (missing)
        return err_validation(c->err, "%s is not supported by Sheaf; leave it out", missing);
    *q = (struct core_update_table){.table = in->table,
                                    .protection = switch_of(in->is_protected),
                                    .on_demand = op_table_throughput(in->on_demand),
                                    .warm = op_table_throughput(in->warm)};
    TRY(op_table_definitions(c, &in->definitions, &q->definitions, &q->n_definitions));
    TRY(set_changes(c, &in->changes, q));
    return set_settings(c, in, q);
}

static sheaf_rc run(struct op_call *call, const void *in, void *out_)
{
    struct update_table_out *out = out_;
    struct core_update_table q;
    struct core_table_outcome got;
    TRY(prepare(call->c, in, &q));
    sheaf_rc rc = core_update_table(call->core, call->c, &q, &got);
    call->position = got.position;
    TRY(rc);
    return op_table_describe(call, &got.table, &out->table);
}

const struct op op_UpdateTable = {
    .name = "UpdateTable", .is_write = true, .input = &in_shape, .output = &out_shape, .run = run};
