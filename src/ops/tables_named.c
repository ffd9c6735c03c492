/* The operations that take a table's name and little else: DescribeTable, DeleteTable, ListTables,
 * the two of time to live, and DescribeContinuousBackups. */
#include "ops/tables.h"

#include "base/limits.h"

/* ---- DescribeTable, DeleteTable ---- */

struct name_in {
    span table;
};
struct described {
    struct out_table *table;
};
static const struct member name_members[] = {
    MEMBER(struct name_in, table, "TableName", shape_named_table, REQUIRED | NAMED),
};
static const struct shape name_shape = STRUCT_SHAPE(struct name_in, name_members);
static const struct member described_members[] = {
    MEMBER(struct described, table, "Table", shape_out_table, 0),
};
static const struct shape described_shape = STRUCT_SHAPE(struct described, described_members);
static const struct member deleted_members[] = {
    MEMBER(struct described, table, "TableDescription", shape_out_table, 0),
};
static const struct shape deleted_shape = STRUCT_SHAPE(struct described, deleted_members);

typedef sheaf_rc (*core_by_name)(struct core *core, struct ctx *c, span table,
                                 struct core_table_outcome *out);

static sheaf_rc run_by_name(struct op_call *call, core_by_name fn, const struct name_in *in,
                            struct described *out)
{
    struct core_table_outcome got;
    sheaf_rc rc = fn(call->core, call->c, in->table, &got);
    call->position = got.position;
    TRY(rc);
    return op_table_describe(call, &got.table, &out->table);
}

static sheaf_rc run_describe(struct op_call *call, const void *in, void *out)
{
    return run_by_name(call, core_describe_table, in, out);
}

static sheaf_rc run_delete(struct op_call *call, const void *in, void *out)
{
    return run_by_name(call, core_delete_table, in, out);
}

const struct op op_DescribeTable = {
    .name = "DescribeTable", .input = &name_shape, .output = &described_shape, .run = run_describe};
const struct op op_DeleteTable = {.name = "DeleteTable",
                                  .is_write = true,
                                  .input = &name_shape,
                                  .output = &deleted_shape,
                                  .run = run_delete};

/* ---- ListTables ---- */

struct list_in {
    span after;
    struct shape_int limit;
};
struct list_out {
    struct shape_list names;
    span last;
};
static const struct shape list_limit = {
    .kind = SHAPE_INT, .has_min = true, .min = 1, .has_max = true, .max = LIMIT_LIST_TABLES};
static const struct member list_in_members[] = {
    MEMBER(struct list_in, limit, "Limit", list_limit, 0),
    MEMBER(struct list_in, after, "ExclusiveStartTableName", shape_index_name, 0),
};
static const struct shape list_in_shape = STRUCT_SHAPE(struct list_in, list_in_members);
static const struct shape strings = {.kind = SHAPE_LIST, .of = &shape_string};
static const struct member list_out_members[] = {
    MEMBER(struct list_out, last, "LastEvaluatedTableName", shape_string, 0),
    MEMBER(struct list_out, names, "TableNames", strings, 0),
};
static const struct shape list_out_shape = STRUCT_SHAPE(struct list_out, list_out_members);

static sheaf_rc run_list(struct op_call *call, const void *in_, void *out_)
{
    const struct list_in *in = in_;
    struct list_out *out = out_;
    struct core_list_tables q = {.after = in->after, .limit = (uint32_t)in->limit.v};
    struct core_names_outcome got;
    sheaf_rc rc = core_list_tables(call->core, call->c, &q, &got);
    call->position = got.position;
    TRY(rc);
    out->names = (struct shape_list){.all = got.names, .n = got.n, .has = true};
    out->last = got.last;
    return SHEAF_OK;
}

const struct op op_ListTables = {.name = "ListTables",
                                 .touches_all = true,
                                 .input = &list_in_shape,
                                 .output = &list_out_shape,
                                 .run = run_list};

/* ---- time to live ---- */

struct ttl_spec {
    uint8_t is_enabled;
    span attribute;
};
struct ttl_in {
    span table;
    struct ttl_spec *spec;
};
struct ttl_out {
    struct ttl_spec *spec;
};
struct ttl_status {
    span status, attribute;
};
struct ttl_described {
    struct ttl_status *ttl;
};
static const struct shape ttl_attribute = {
    .kind = SHAPE_STRING, .has_min = true, .min = 1, .has_max = true, .max = LIMIT_KEY_NAME_BYTES};
static const struct member spec_members[] = {
    MEMBER(struct ttl_spec, attribute, "AttributeName", ttl_attribute, REQUIRED),
    MEMBER(struct ttl_spec, is_enabled, "Enabled", shape_bool_, REQUIRED),
};
static const struct shape spec_shape = STRUCT_SHAPE(struct ttl_spec, spec_members);
static const struct member ttl_in_members[] = {
    MEMBER(struct ttl_in, table, "TableName", shape_named_table, REQUIRED | NAMED),
    MEMBER(struct ttl_in, spec, "TimeToLiveSpecification", spec_shape, REQUIRED),
};
static const struct shape ttl_in_shape = STRUCT_SHAPE(struct ttl_in, ttl_in_members);
static const struct member ttl_out_members[] = {
    MEMBER(struct ttl_out, spec, "TimeToLiveSpecification", spec_shape, 0),
};
static const struct shape ttl_out_shape = STRUCT_SHAPE(struct ttl_out, ttl_out_members);
static const struct member status_members[] = {
    MEMBER(struct ttl_status, status, "TimeToLiveStatus", shape_string, 0),
    MEMBER(struct ttl_status, attribute, "AttributeName", shape_string, 0),
};
static const struct shape status_shape = STRUCT_SHAPE(struct ttl_status, status_members);
static const struct member ttl_described_members[] = {
    MEMBER(struct ttl_described, ttl, "TimeToLiveDescription", status_shape, 0),
};
static const struct shape ttl_described_shape =
    STRUCT_SHAPE(struct ttl_described, ttl_described_members);

static sheaf_rc run_update_ttl(struct op_call *call, const void *in_, void *out_)
{
    const struct ttl_in *in = in_;
    struct ttl_out *out = out_;
    out->spec = in->spec;
    return core_update_ttl(call->core, call->c, in->table, in->spec->attribute,
                           in->spec->is_enabled == SHAPE_TRUE, &call->position);
}

static sheaf_rc run_describe_ttl(struct op_call *call, const void *in_, void *out_)
{
    const struct name_in *in = in_;
    struct ttl_described *out = out_;
    span attribute;
    TRY(core_describe_ttl(call->core, call->c, in->table, &attribute, &call->position));
    out->ttl = ARENA_NEW(call->c->arena, struct ttl_status);
    if (!out->ttl) return err_nomem(call->c->err);
    out->ttl->status = span_cstr(attribute.p ? "ENABLED" : "DISABLED");
    out->ttl->attribute = attribute;
    return SHEAF_OK;
}

const struct op op_UpdateTimeToLive = {.name = "UpdateTimeToLive",
                                       .is_write = true,
                                       .input = &ttl_in_shape,
                                       .output = &ttl_out_shape,
                                       .run = run_update_ttl};
const struct op op_DescribeTimeToLive = {.name = "DescribeTimeToLive",
                                         .input = &name_shape,
                                         .output = &ttl_described_shape,
                                         .run = run_describe_ttl};

/* ---- DescribeContinuousBackups ---- there are none, and the answer says so. */

struct recovery {
    span status;
};
struct backups {
    span status;
    struct recovery *recovery;
};
struct backups_out {
    struct backups *backups;
};
static const struct member recovery_members[] = {
    MEMBER(struct recovery, status, "PointInTimeRecoveryStatus", shape_string, 0),
};
static const struct shape recovery_shape = STRUCT_SHAPE(struct recovery, recovery_members);
static const struct member backups_members[] = {
    MEMBER(struct backups, status, "ContinuousBackupsStatus", shape_string, 0),
    MEMBER(struct backups, recovery, "PointInTimeRecoveryDescription", recovery_shape, 0),
};
static const struct shape backups_shape = STRUCT_SHAPE(struct backups, backups_members);
static const struct member backups_out_members[] = {
    MEMBER(struct backups_out, backups, "ContinuousBackupsDescription", backups_shape, 0),
};
static const struct shape backups_out_shape = STRUCT_SHAPE(struct backups_out, backups_out_members);

static sheaf_rc run_backups(struct op_call *call, const void *in_, void *out_)
{
    static struct recovery no_recovery = {{"DISABLED", 8}};
    static struct backups none = {{"DISABLED", 8}, &no_recovery};
    const struct name_in *in = in_;
    struct backups_out *out = out_;
    struct core_table_outcome got;
    sheaf_rc rc = core_describe_table(call->core, call->c, in->table, &got);
    call->position = got.position;
    if (rc == SHEAF_RESOURCE_NOT_FOUND)
        return err_set(call->c->err, SHEAF_TABLE_NOT_FOUND, "Table not found: %.*s",
                       SPAN_ARG(op_table_name(in->table)));
    out->backups = &none;
    return rc;
}

const struct op op_DescribeContinuousBackups = {.name = "DescribeContinuousBackups",
                                                .input = &name_shape,
                                                .output = &backups_out_shape,
                                                .run = run_backups};
