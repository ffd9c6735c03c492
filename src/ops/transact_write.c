/* TransactWriteItems.
 *
 * Know before editing: the service judges the actions one at a time, in order, and a later one's
 * fault never comes before an earlier one's. So a bad value is not raised here but handed to core
 * with its action. */
#include "ops/shared.h"

enum { ACTIONS_MAX = 100, TOKEN_MAX = 36 };

struct action {
    span table, condition, update;
    struct json_item item; /* or the key */
    struct json_item values;
    struct shape_names names;
    struct shape_word on_failure;
};
struct entry {
    struct action *check, *put, *delete_, *update;
};
struct transact_write_in {
    struct shape_list entries; /* of struct entry pointers */
    struct shape_word capacity, metrics;
    span token;
};
struct transact_write_out {
    struct shape_list capacity;
    struct shape_map metrics;
};

#define ACTION(field, wire, shape, flags) MEMBER(struct action, field, wire, shape, flags)
#define TABLE ACTION(table, "TableName", shape_table_name, REQUIRED)
#define KEY ACTION(item, "Key", shape_item, REQUIRED)
#define CONDITION(flags) ACTION(condition, "ConditionExpression", shape_string, flags)
#define NAMES ACTION(names, "ExpressionAttributeNames", shape_names, 0)
#define VALUES ACTION(values, "ExpressionAttributeValues", shape_values, 0)
#define ON_FAILURE                                                                                 \
    ACTION(on_failure, "ReturnValuesOnConditionCheckFailure", shape_return_on_failure, 0)
#define ACTION_SHAPE(members_, title_)                                                             \
    {                                                                                              \
        .kind = SHAPE_STRUCT, .size = sizeof(struct action), .members = (members_),                \
        .n_members = sizeof(members_) / sizeof *(members_), .title = (title_)                      \
    }

static const struct member check_members[] = {KEY,   TABLE,  CONDITION(REQUIRED),
                                              NAMES, VALUES, ON_FAILURE};
static const struct member put_members[] = {
    ACTION(item, "Item", shape_item, REQUIRED), TABLE, CONDITION(0), NAMES, VALUES, ON_FAILURE};
static const struct member delete_members[] = {KEY, TABLE, CONDITION(0), NAMES, VALUES, ON_FAILURE};
static const struct member update_members[] = {
    KEY,        ACTION(update, "UpdateExpression", shape_string, REQUIRED),
    TABLE,      CONDITION(0),
    NAMES,      VALUES,
    ON_FAILURE,
};
static const struct shape check_shape = ACTION_SHAPE(check_members, "ConditionCheck");
static const struct shape put_shape = ACTION_SHAPE(put_members, "Put");
static const struct shape delete_shape = ACTION_SHAPE(delete_members, "Delete");
static const struct shape update_shape = ACTION_SHAPE(update_members, "Update");

static const struct member entry_members[] = {
    MEMBER(struct entry, check, "ConditionCheck", check_shape, 0),
    MEMBER(struct entry, put, "Put", put_shape, 0),
    MEMBER(struct entry, delete_, "Delete", delete_shape, 0),
    MEMBER(struct entry, update, "Update", update_shape, 0),
};
static const struct shape entry_shape = {.kind = SHAPE_STRUCT,
                                         .size = sizeof(struct entry),
                                         .members = entry_members,
                                         .n_members = 4,
                                         .title = "TransactWriteItem"};
static const struct shape entries_shape = {.kind = SHAPE_LIST,
                                           .of = &entry_shape,
                                           .has_min = true,
                                           .min = 1,
                                           .has_max = true,
                                           .max = ACTIONS_MAX,
                                           .is_brief = true};
static const struct shape token_shape = {.kind = SHAPE_STRING,
                                         .has_min = true,
                                         .min = 1,
                                         .has_max = true,
                                         .max = TOKEN_MAX,
                                         .is_brief = true};
#define IN(field, wire, shape, flags) MEMBER(struct transact_write_in, field, wire, shape, flags)
static const struct member in_members[] = {
    IN(token, "ClientRequestToken", token_shape, 0),
    IN(capacity, "ReturnConsumedCapacity", shape_return_capacity, 0),
    IN(metrics, "ReturnItemCollectionMetrics", shape_return_metrics, 0),
    IN(entries, "TransactItems", entries_shape, REQUIRED),
};
static const struct shape in_shape = STRUCT_SHAPE(struct transact_write_in, in_members);
static const struct member out_members[] = {
    MEMBER(struct transact_write_out, capacity, "ConsumedCapacity", shape_capacities, 0),
    MEMBER(struct transact_write_out, metrics, "ItemCollectionMetrics", shape_metrics_map, 0),
};
static const struct shape out_shape = STRUCT_SHAPE(struct transact_write_out, out_members);

/* The one action of an entry. */
static sheaf_rc action_of(struct ctx *c, const struct entry *e, enum core_action *action_out,
                          const struct action **out)
{
    const struct action *all[] = {e->put, e->update, e->delete_, e->check};
    static const enum core_action actions[] = {CORE_PUT, CORE_UPDATE, CORE_DELETE, CORE_CHECK};
    uint32_t n = 0;
    for (uint32_t i = 0; i < 4; i++) {
        if (!all[i]) continue;
        n++;
        *out = all[i];
        *action_out = actions[i];
    }
    if (n == 1) return SHEAF_OK;
    if (n == 0)
        return err_validation(c->err, "Invalid Request: TransactWriteRequest should contain Delete "
                                      "or Put or Update request");
    return err_validation(c->err,
                          "TransactItems can only contain one of Check, Put, Update or Delete");
}

static sheaf_rc add(const struct op_call *call, const struct entry *e, struct core_write *to)
{
    static const struct json_item none = {.has = false};
    const struct action *a = NULL;
    enum core_action action = CORE_PUT;
    TRY(action_of(call->c, e, &action, &a));
    *to = (struct core_write){.action = action,
                              .table = a->table,
                              .item = a->item.item,
                              .update = a->update,
                              .condition = a->condition,
                              .wants_old_on_failure = op_wants_old(&a->on_failure),
                              .value_fault = a->values.fault,
                              .item_fault = a->item.fault};
    return op_env(call, &a->names, a->values.fault ? &none : &a->values, false, &to->env);
}

static sheaf_rc prepare(const struct op_call *call, const struct transact_write_in *in,
                        span *tables, struct core_transact_write *q)
{
    struct ctx *c = call->c;
    struct entry *const *entries = in->entries.all;
    struct core_write *writes = ARENA_ARRAY(c->arena, struct core_write, in->entries.n);
    if (!writes) return err_nomem(c->err);
    for (uint32_t i = 0; i < in->entries.n; i++) {
        TRY(add(call, entries[i], &writes[i]));
        tables[i] = writes[i].table;
    }
    *q = (struct core_transact_write){.writes = writes,
                                      .n = in->entries.n,
                                      .token = in->token,
                                      .capacity = op_capacity_mode(&in->capacity),
                                      .wants_metrics = op_wants_metrics(&in->metrics)};
    return SHEAF_OK;
}

static sheaf_rc run(struct op_call *call, const void *in_, void *out_)
{
    const struct transact_write_in *in = in_;
    struct transact_write_out *out = out_;
    struct core_transact_write q;
    struct core_multi_outcome got;
    span tables[ACTIONS_MAX];
    TRY(prepare(call, in, tables, &q));
    const struct op_given given = {tables, q.n};
    sheaf_rc rc = core_transact_write(call->core, call->c, &q, &got);
    call->position = got.position;
    if (rc == SHEAF_TRANSACTION_CANCELED) {
        call->reasons = got.written;
        call->n_reasons = got.n;
    }
    TRY(rc);
    TRY(op_metrics_map(call->c, got.metrics, got.n_metrics, given, &out->metrics));
    return op_capacities(call->c, got.capacity, got.n_capacity, true, given, &out->capacity);
}

const struct op op_TransactWriteItems = {.name = "TransactWriteItems",
                                         .is_write = true,
                                         .is_brief = true,
                                         .input = &in_shape,
                                         .output = &out_shape,
                                         .run = run};
