/* CreateTable. */
#include "ops/tables.h"

#define INVALID "One or more parameter values were invalid: "

struct create_table_in {
    span table, table_class, policy, vectors;
    struct shape_list definitions, keys, locals, globals, tags;
    struct in_units *units, *on_demand, *warm;
    struct shape_word billing;
    struct in_stream *stream;
    struct in_encryption *encryption;
    uint8_t is_protected;
};
struct create_table_out {
    struct out_table *table;
};

#define IN(field, wire, shape, flags) MEMBER(struct create_table_in, field, wire, shape, flags)
static const struct member in_members[] = {
    IN(definitions, "AttributeDefinitions", shape_definitions, REQUIRED),
    IN(table, "TableName", shape_named_table, REQUIRED | NAMED),
    IN(billing, "BillingMode", shape_billing, 0),
    IN(units, "ProvisionedThroughput", shape_units, 0),
    IN(keys, "KeySchema", shape_key_schema, REQUIRED),
    IN(globals, "GlobalSecondaryIndexes", shape_global_indexes, 0),
    IN(locals, "LocalSecondaryIndexes", shape_local_indexes, 0),
    IN(stream, "StreamSpecification", shape_stream, 0),
    IN(encryption, "SSESpecification", shape_encryption, 0),
    IN(tags, "Tags", shape_tags, 0),
    IN(table_class, "TableClass", shape_string, 0),
    IN(is_protected, "DeletionProtectionEnabled", shape_bool_, 0),
    IN(on_demand, "OnDemandThroughput", shape_on_demand, 0),
    IN(warm, "WarmThroughput", shape_warm, 0),
    IN(policy, "ResourcePolicy", shape_raw, LEGACY),
    IN(vectors, "VectorIndexes", shape_raw, LEGACY),
};
static const struct shape in_shape = STRUCT_SHAPE(struct create_table_in, in_members);
static const struct member out_members[] = {
    MEMBER(struct create_table_out, table, "TableDescription", shape_out_table, 0),
};
static const struct shape out_shape = STRUCT_SHAPE(struct create_table_out, out_members);

static sheaf_rc set_indexes(struct ctx *c, const struct create_table_in *in,
                            struct core_create_table *q)
{
    struct in_index *const *locals = in->locals.all, *const *globals = in->globals.all;
    uint32_t n = in->locals.n + in->globals.n;
    struct core_index_def *all = ARENA_ARRAY(c->arena, struct core_index_def, n + 1);
    if (!all) return err_nomem(c->err);
    if (in->locals.has && in->locals.n == 0)
        return err_validation(c->err, INVALID "List of LocalSecondaryIndexes is empty");
    if (in->globals.has && in->globals.n == 0)
        return err_validation(c->err, INVALID "List of GlobalSecondaryIndexes is empty");
    for (uint32_t i = 0; i < n; i++) {
        bool is_local = i < in->locals.n;
        const struct in_index *x = is_local ? locals[i] : globals[i - in->locals.n];
        op_table_index(x, is_local, q->definitions, q->n_definitions, &all[i]);
    }
    q->indexes = all;
    q->n_indexes = n;
    return SHEAF_OK;
}

/* Without a mode, throughput says which one is meant: none of either is provisioned, and refused by
 * core for its missing units. */
static void set_billing(const struct create_table_in *in, struct core_create_table *q)
{
    q->is_provisioned = in->billing.i != 2;
    if (!in->units) return;
    q->read_units = (uint64_t)in->units->read.v;
    q->write_units = (uint64_t)in->units->write.v;
}

static sheaf_rc set_stream(struct ctx *c, const struct in_stream *in, struct core_create_table *q)
{
    bool is_on = in->is_enabled == SHAPE_TRUE;
    if (is_on && in->view.i == 0)
        return err_validation(c->err, INVALID "Table is being created with a stream enabled, "
                                              "UpdateViewType is required");
    if (!is_on && in->view.i != 0)
        return err_validation(c->err, INVALID "Table is being created with a stream disabled, "
                                              "UpdateViewType should not be specified");
    q->stream = op_table_view(&in->view);
    return SHEAF_OK;
}

static sheaf_rc set_settings(struct ctx *c, const struct create_table_in *in,
                             struct core_create_table *q)
{
    TRY(op_table_class(c, in->table_class, &q->is_infrequent));
    if (in->stream) TRY(set_stream(c, in->stream, q));
    if (in->encryption) {
        TRY(op_table_encryption(c, in->encryption));
        q->is_kms = in->encryption->is_enabled == SHAPE_TRUE;
        q->kms_key = in->encryption->key;
    }
    return op_table_tags(c, &in->tags, &q->tags, &q->n_tags);
}

static sheaf_rc prepare(struct ctx *c, const struct create_table_in *in,
                        struct core_create_table *q)
{
    if (in->policy.p || in->vectors.p)
        return err_validation(c->err, "%s is not supported by Sheaf; leave it out",
                              in->policy.p ? "ResourcePolicy" : "VectorIndexes");
    *q = (struct core_create_table){.table = in->table,
                                    .is_protected = in->is_protected == SHAPE_TRUE,
                                    .on_demand = op_table_throughput(in->on_demand),
                                    .warm = op_table_throughput(in->warm)};
    TRY(op_table_definitions(c, &in->definitions, &q->definitions, &q->n_definitions));
    op_table_keys(&in->keys, q);
    set_billing(in, q);
    TRY(set_indexes(c, in, q));
    return set_settings(c, in, q);
}

static sheaf_rc run(struct op_call *call, const void *in, void *out_)
{
    struct create_table_out *out = out_;
    struct core_create_table q;
    struct core_table_outcome got;
    TRY(prepare(call->c, in, &q));
    sheaf_rc rc = core_create_table(call->core, call->c, &q, &got);
    call->position = got.position;
    TRY(rc);
    return op_table_describe(call, &got.table, &out->table);
}

const struct op op_CreateTable = {
    .name = "CreateTable", .is_write = true, .input = &in_shape, .output = &out_shape, .run = run};
