/* GetItem. */
#include "ops/shared.h"

struct get_item_in {
    span table, projection, attributes;
    struct json_item key;
    struct shape_names names;
    struct shape_word capacity;
    uint8_t is_consistent;
};
struct get_item_out {
    struct json_item item;
    struct out_capacity *capacity;
};

static const struct member in_members[] = {
    MEMBER(struct get_item_in, capacity, "ReturnConsumedCapacity", shape_return_capacity, 0),
    MEMBER(struct get_item_in, attributes, "AttributesToGet", shape_raw, LEGACY),
    MEMBER(struct get_item_in, table, "TableName", shape_table_name, REQUIRED),
    MEMBER(struct get_item_in, key, "Key", shape_item, REQUIRED),
    MEMBER(struct get_item_in, is_consistent, "ConsistentRead", shape_bool_, 0),
    MEMBER(struct get_item_in, projection, "ProjectionExpression", shape_string, 0),
    MEMBER(struct get_item_in, names, "ExpressionAttributeNames", shape_names, 0),
};
static const struct shape in_shape = STRUCT_SHAPE(struct get_item_in, in_members);
static const struct member out_members[] = {
    MEMBER(struct get_item_out, capacity, "ConsumedCapacity", shape_capacity, 0),
    MEMBER(struct get_item_out, item, "Item", shape_item, 0),
};
static const struct shape out_shape = STRUCT_SHAPE(struct get_item_out, out_members);

static sheaf_rc check_params(struct ctx *c, const struct get_item_in *in)
{
    const struct op_param legacy[] = {{"AttributesToGet", in->attributes.p != NULL}, {NULL, false}};
    const struct op_param expressions[] = {{"ProjectionExpression", in->projection.p != NULL},
                                           {NULL, false}};
    const struct op_params p = {legacy, expressions, .has_names = in->names.has};
    return op_check_params(c, &p);
}

static sheaf_rc run(struct op_call *call, const void *in_, void *out_)
{
    const struct get_item_in *in = in_;
    struct get_item_out *out = out_;
    struct core_item_outcome got;
    struct core_get_item q = {.get = {.table = in->table,
                                      .projection = in->projection,
                                      .is_consistent = in->is_consistent == SHAPE_TRUE},
                              .capacity = op_capacity_mode(&in->capacity)};
    TRY(check_params(call->c, in));
    TRY(op_check_item(call, &in->key));
    TRY(op_env(call, &in->names, NULL, false, &q.get.env));
    q.get.key = in->key.item;
    sheaf_rc rc = core_get_item(call->core, call->c, &q, &got);
    call->position = got.position;
    TRY(rc);
    out->item = op_out_item(got.item);
    return op_capacity(call->c, &got.capacity, false, (struct op_given){&in->table, 1},
                       &out->capacity);
}

const struct op op_GetItem = {.name = "GetItem",
                              .input = &in_shape,
                              .output = &out_shape,
                              .run = run,
                              .is_brief = true,
                              .is_current = true};
