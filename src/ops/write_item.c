/* PutItem, UpdateItem and DeleteItem: three inputs, one way through.
 *
 * Know before editing: the service reports what it finds in these requests before it looks for the
 * table inside "1 validation error detected: ", and what it finds afterwards bare. */
#include "ops/shared.h"

struct write_in {
    span table, condition, update;
    struct json_item item; /* or the key */
    struct json_item values;
    struct shape_names names;
    struct shape_word capacity, metrics, returns, on_failure;
    span expected, operator_, updates; /* legacy */
};
struct write_out {
    struct json_item attributes;
    struct out_capacity *capacity;
    struct out_metrics *metrics;
};

#define WRITE(field, wire, shape, flags) MEMBER(struct write_in, field, wire, shape, flags)
#define CAPACITY WRITE(capacity, "ReturnConsumedCapacity", shape_return_capacity, 0)
#define TABLE WRITE(table, "TableName", shape_table_name, REQUIRED)
#define METRICS WRITE(metrics, "ReturnItemCollectionMetrics", shape_return_metrics, 0)
#define RETURNS WRITE(returns, "ReturnValues", shape_return_values, 0)
#define ON_FAILURE                                                                                 \
    WRITE(on_failure, "ReturnValuesOnConditionCheckFailure", shape_return_on_failure, 0)
#define KEY WRITE(item, "Key", shape_item, REQUIRED)
#define OPERATOR WRITE(operator_, "ConditionalOperator", shape_raw, LEGACY)
#define EXPECTED WRITE(expected, "Expected", shape_raw, LEGACY)
#define CONDITION WRITE(condition, "ConditionExpression", shape_string, 0)
#define VALUES WRITE(values, "ExpressionAttributeValues", shape_values, 0)
#define NAMES WRITE(names, "ExpressionAttributeNames", shape_names, 0)

static const struct member put_members[] = {
    CAPACITY, RETURNS,  TABLE,      WRITE(item, "Item", shape_item, REQUIRED),
    OPERATOR, EXPECTED, METRICS,    CONDITION,
    VALUES,   NAMES,    ON_FAILURE,
};
static const struct member update_members[] = {
    CAPACITY,   TABLE,
    METRICS,    RETURNS,
    KEY,        OPERATOR,
    EXPECTED,   WRITE(updates, "AttributeUpdates", shape_raw, LEGACY),
    CONDITION,  WRITE(update, "UpdateExpression", shape_string, 0),
    VALUES,     NAMES,
    ON_FAILURE,
};
static const struct member delete_members[] = {
    CAPACITY, TABLE,     RETURNS, METRICS, KEY,        OPERATOR,
    EXPECTED, CONDITION, VALUES,  NAMES,   ON_FAILURE,
};
static const struct shape put_shape = STRUCT_SHAPE(struct write_in, put_members);
static const struct shape update_shape = STRUCT_SHAPE(struct write_in, update_members);
static const struct shape delete_shape = STRUCT_SHAPE(struct write_in, delete_members);

static const struct member out_members[] = {
    MEMBER(struct write_out, attributes, "Attributes", shape_item, 0),
    MEMBER(struct write_out, capacity, "ConsumedCapacity", shape_capacity, 0),
    MEMBER(struct write_out, metrics, "ItemCollectionMetrics", shape_metrics, 0),
};
static const struct shape out_shape = STRUCT_SHAPE(struct write_out, out_members);

static sheaf_rc check_params(struct ctx *c, const struct write_in *in)
{
    const struct op_param legacy[] = {{"AttributeUpdates", in->updates.p != NULL},
                                      {"Expected", in->expected.p != NULL},
                                      {NULL, false}};
    const struct op_param expressions[] = {{"UpdateExpression", in->update.p != NULL},
                                           {"ConditionExpression", in->condition.p != NULL},
                                           {NULL, false}};
    const struct op_params p = {.legacy = legacy,
                                .expressions = expressions,
                                .has_operator = in->operator_.p != NULL,
                                .has_names = in->names.has,
                                .has_values = in->values.has};
    return op_check_params(c, &p);
}

static enum core_return returns_of(const struct write_in *in)
{
    return in->returns.i ? (enum core_return)(in->returns.i - 1) : CORE_NONE;
}

static sheaf_rc prepare(struct op_call *call, const struct write_in *in, enum core_action action,
                        struct core_write_item *q)
{
    TRY(check_params(call->c, in));
    TRY(op_check_item(call, &in->item));
    *q = (struct core_write_item){
        .write = {.action = action,
                  .table = in->table,
                  .item = in->item.item,
                  .update = in->update,
                  .condition = in->condition,
                  .wants_old_on_failure = op_wants_old(&in->on_failure)},
        .returns = returns_of(in),
        .capacity = op_capacity_mode(&in->capacity),
        .wants_metrics = op_wants_metrics(&in->metrics),
    };
    return op_env(call, &in->names, &in->values, false, &q->write.env);
}

static sheaf_rc write(struct op_call *call, const struct write_in *in, enum core_action action,
                      struct write_out *out)
{
    struct core_write_item q;
    struct core_write_outcome got;
    call->is_enveloped = true;
    TRY(prepare(call, in, action, &q));
    sheaf_rc rc = core_write_item(call->core, call->c, &q, &got);
    call->is_enveloped = got.is_request_fault;
    call->position = got.position;
    if (rc == SHEAF_CONDITIONAL_CHECK_FAILED) call->failed_item = got.attributes;
    TRY(rc);
    out->attributes = op_out_item(got.attributes);
    TRY(op_metrics(call->c, &got.metrics, &out->metrics));
    return op_capacity(call->c, &got.capacity, false, (struct op_given){&in->table, 1},
                       &out->capacity);
}

static sheaf_rc put(struct op_call *call, const void *in, void *out)
{
    return write(call, in, CORE_PUT, out);
}

static sheaf_rc update(struct op_call *call, const void *in, void *out)
{
    return write(call, in, CORE_UPDATE, out);
}

static sheaf_rc delete_(struct op_call *call, const void *in, void *out)
{
    return write(call, in, CORE_DELETE, out);
}

const struct op op_PutItem = {.name = "PutItem",
                              .is_write = true,
                              .is_brief = true,
                              .is_current = true,
                              .input = &put_shape,
                              .output = &out_shape,
                              .run = put};
const struct op op_UpdateItem = {.name = "UpdateItem",
                                 .is_write = true,
                                 .is_brief = true,
                                 .is_current = true,
                                 .input = &update_shape,
                                 .output = &out_shape,
                                 .run = update};
const struct op op_DeleteItem = {.name = "DeleteItem",
                                 .is_write = true,
                                 .is_brief = true,
                                 .is_current = true,
                                 .input = &delete_shape,
                                 .output = &out_shape,
                                 .run = delete_};
