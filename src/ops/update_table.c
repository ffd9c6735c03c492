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
    span table, table_class, replicas, witnesses, consistency, vectors;
    struct shape_list definitions, changes;
    struct in_units *units, *on_demand, *warm;
    struct shape_word billing;
    struct in_stream *stream;
    struct in_encryption *encryption;
    uint8_t is_protected;
};
struct update_table_out {
    struct out_table *table;
};

static const struct member update_members[] = {
    MEMBER(struct in_index, name, "IndexName", shape_named_index, REQUIRED),
    MEMBER(struct in_index, units, "ProvisionedThroughput", shape_units, 0),
    MEMBER(struct in_index, on_demand, "OnDemandThroughput", shape_on_demand, 0),
    MEMBER(struct in_index, warm, "WarmThroughput", shape_warm, 0),
};
static const struct shape update_shape = STRUCT_SHAPE(struct in_index, update_members);
static const struct member delete_members[] = {
    MEMBER(struct index_name, name, "IndexName", shape_named_index, REQUIRED),
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
    IN(table, "TableName", shape_named_table, REQUIRED | NAMED),
    IN(billing, "BillingMode", shape_billing, 0),
    IN(units, "ProvisionedThroughput", shape_units, 0),
    IN(changes, "GlobalSecondaryIndexUpdates", changes_shape, 0),
    IN(stream, "StreamSpecification", shape_stream, 0),
    IN(encryption, "SSESpecification", shape_encryption, 0),
    IN(table_class, "TableClass", shape_string, 0),
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

static sheaf_rc check_change(struct ctx *c, const struct index_change *x)
{
    int n = (x->update != NULL) + (x->create != NULL) + (x->delete_ != NULL);
    if (n == 0)
        return err_validation(c->err, INVALID "One of GlobalSecondaryIndexUpdate.Update, "
                                              "GlobalSecondaryIndexUpdate.Create, "
                                              "GlobalSecondaryIndexUpdate.Delete must not be null");
    if (n > 1)
        return err_validation(c->err, INVALID "Only one global secondary index action is allowed "
                                              "per GlobalSecondaryIndexUpdate object");
    if (x->update && x->update->warm && !x->update->warm->read.has && !x->update->warm->write.has)
        return err_validation(c->err,
                              INVALID "WarmThroughput must have at least one of "
                                      "ReadUnitsPerSecond or WriteUnitsPerSecond specified for "
                                      "index: %.*s",
                              SPAN_ARG(x->update->name));
    return SHEAF_OK;
}

static span index_of(const struct index_change *x)
{
    return x->update ? x->update->name : x->create ? x->create->name : x->delete_->name;
}

static sheaf_rc check_changes(struct ctx *c, const struct shape_list *in)
{
    struct index_change *const *all = in->all;
    for (uint32_t i = 0; i < in->n; i++) TRY(check_change(c, all[i]));
    for (uint32_t i = 0; i < in->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (span_eq(index_of(all[i]), index_of(all[k])))
                return err_validation(c->err,
                                      INVALID "Only one global secondary index update per index "
                                              "is allowed simultaneously. Index: %.*s",
                                      SPAN_ARG(index_of(all[i])));
    return SHEAF_OK;
}

static void add_update(const struct in_index *x, struct core_index_def *to)
{
    *to = (struct core_index_def){.name = x->name,
                                  .read_units = x->units ? (uint64_t)x->units->read.v : 0,
                                  .write_units = x->units ? (uint64_t)x->units->write.v : 0,
                                  .on_demand = op_table_throughput(x->on_demand),
                                  .warm = op_table_throughput(x->warm)};
}

static sheaf_rc add_change(struct ctx *c, const struct index_change *x, struct core_update_table *q)
{
    q->has_more_changes = q->create_index || q->delete_index.p;
    if (q->has_more_changes) return SHEAF_OK; /* refused by core, once it knows the table */
    if (x->delete_) {
        q->delete_index = x->delete_->name;
        return SHEAF_OK;
    }
    struct core_index_def *created = ARENA_NEW(c->arena, struct core_index_def);
    if (!created) return err_nomem(c->err);
    q->create_index = created;
    op_table_index(x->create, false, q->definitions, q->n_definitions, created);
    return SHEAF_OK;
}

static sheaf_rc set_changes(struct ctx *c, const struct shape_list *in, struct core_update_table *q)
{
    struct index_change *const *all = in->all;
    if (in->n == 0) return SHEAF_OK;
    struct core_index_def *updates = ARENA_ARRAY(c->arena, struct core_index_def, in->n);
    if (!updates) return err_nomem(c->err);
    TRY(check_changes(c, in));
    for (uint32_t i = 0; i < in->n; i++) {
        if (all[i]->update)
            add_update(all[i]->update, &updates[q->n_update_index++]);
        else
            TRY(add_change(c, all[i], q));
    }
    if (q->n_update_index) q->update_index = updates;
    return SHEAF_OK;
}

/* An empty list is as good as none, unless the request changes something else. */
static sheaf_rc check_empty(struct ctx *c, const struct update_table_in *in)
{
    bool is_other = in->units || in->billing.i || in->table_class.p || in->stream ||
                    in->encryption || in->is_protected != SHAPE_ABSENT || in->on_demand || in->warm;
    if (!in->changes.has || in->changes.n || !is_other) return SHEAF_OK;
    return err_validation(c->err, INVALID "List of GlobalSecondaryIndexUpdates is empty");
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
    bool is_infrequent;
    TRY(op_table_class(c, in->table_class, &is_infrequent));
    if (in->table_class.p) q->infrequent = is_infrequent ? CORE_ON : CORE_OFF;
    if (in->stream) {
        q->stream = switch_of(in->stream->is_enabled);
        q->view = op_table_view(&in->stream->view);
    }
    if (in->encryption) {
        TRY(op_table_encryption(c, in->encryption));
        q->kms = in->encryption->is_enabled == SHAPE_TRUE ? CORE_ON : CORE_OFF;
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
    TRY(check_empty(c, in));
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
