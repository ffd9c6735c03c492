/* TransactGetItems. */
#include "ops/shared.h"

enum { ACTIONS_MAX = 100 };

struct get_action {
    span table, projection;
    struct json_item key;
    struct shape_names names;
};
struct get_entry {
    struct get_action *get;
};
struct transact_get_in {
    struct shape_list entries; /* of struct get_entry pointers */
    struct shape_word capacity;
};
struct get_response {
    struct json_item item;
};
struct transact_get_out {
    struct shape_list capacity;
    struct shape_list responses; /* of struct get_response pointers */
};

static const struct member action_members[] = {
    MEMBER(struct get_action, table, "TableName", shape_table_name, REQUIRED),
    MEMBER(struct get_action, key, "Key", shape_item, REQUIRED),
    MEMBER(struct get_action, projection, "ProjectionExpression", shape_string, 0),
    MEMBER(struct get_action, names, "ExpressionAttributeNames", shape_names, 0),
};
static const struct shape action_shape = {.kind = SHAPE_STRUCT,
                                          .size = sizeof(struct get_action),
                                          .members = action_members,
                                          .n_members =
                                              sizeof action_members / sizeof *action_members,
                                          .title = "Get"};
static const struct member entry_members[] = {
    MEMBER(struct get_entry, get, "Get", action_shape, REQUIRED),
};
static const struct shape entry_shape = {.kind = SHAPE_STRUCT,
                                         .size = sizeof(struct get_entry),
                                         .members = entry_members,
                                         .n_members = 1,
                                         .title = "TransactGetItem"};
static const struct shape entries_shape = {.kind = SHAPE_LIST,
                                           .of = &entry_shape,
                                           .has_min = true,
                                           .min = 1,
                                           .has_max = true,
                                           .max = ACTIONS_MAX,
                                           .is_brief = true};
static const struct member in_members[] = {
    MEMBER(struct transact_get_in, capacity, "ReturnConsumedCapacity", shape_return_capacity, 0),
    MEMBER(struct transact_get_in, entries, "TransactItems", entries_shape, REQUIRED),
};
static const struct shape in_shape = STRUCT_SHAPE(struct transact_get_in, in_members);

static const struct member response_members[] = {
    MEMBER(struct get_response, item, "Item", shape_item, 0),
};
static const struct shape response_shape = STRUCT_SHAPE(struct get_response, response_members);
static const struct shape responses_shape = {.kind = SHAPE_LIST, .of = &response_shape};
static const struct member out_members[] = {
    MEMBER(struct transact_get_out, capacity, "ConsumedCapacity", shape_capacities, 0),
    MEMBER(struct transact_get_out, responses, "Responses", responses_shape, 0),
};
static const struct shape out_shape = STRUCT_SHAPE(struct transact_get_out, out_members);

static sheaf_rc prepare(const struct op_call *call, const struct transact_get_in *in, span *tables,
                        struct core_multi_get *q)
{
    struct ctx *c = call->c;
    struct get_entry *const *entries = in->entries.all;
    struct core_get *gets = ARENA_ARRAY(c->arena, struct core_get, in->entries.n);
    if (!gets) return err_nomem(c->err);
    *q = (struct core_multi_get){.gets = gets,
                                 .n = in->entries.n,
                                 .is_transaction = true,
                                 .capacity = op_capacity_mode(&in->capacity)};
    for (uint32_t i = 0; i < q->n; i++) {
        const struct get_action *get = entries[i]->get;
        TRY(op_check_item(call, &get->key));
        gets[i] = (struct core_get){
            .table = get->table, .key = get->key.item, .projection = get->projection};
        TRY(op_env(call, &get->names, NULL, false, &gets[i].env));
        tables[i] = get->table;
    }
    return SHEAF_OK;
}

static sheaf_rc set_responses(struct ctx *c, const struct core_items_outcome *got,
                              struct shape_list *out)
{
    struct get_response *responses = ARENA_ARRAY(c->arena, struct get_response, got->n);
    struct get_response **all = ARENA_ARRAY(c->arena, struct get_response *, got->n);
    if (!responses || !all) return err_nomem(c->err);
    for (uint32_t i = 0; i < got->n; i++) {
        responses[i].item = op_out_item(got->items[i]);
        all[i] = &responses[i];
    }
    *out = (struct shape_list){all, got->n, true};
    return SHEAF_OK;
}

static sheaf_rc run(struct op_call *call, const void *in_, void *out_)
{
    const struct transact_get_in *in = in_;
    struct transact_get_out *out = out_;
    struct core_multi_get q;
    struct core_items_outcome got;
    span tables[ACTIONS_MAX];
    TRY(prepare(call, in, tables, &q));
    sheaf_rc rc = core_multi_get(call->core, call->c, &q, &got);
    call->position = got.position;
    if (rc == SHEAF_TRANSACTION_CANCELED) {
        call->reasons = got.written;
        call->n_reasons = got.n;
    }
    TRY(rc);
    TRY(set_responses(call->c, &got, &out->responses));
    return op_capacities(call->c, got.capacity, got.n_capacity, true,
                         (struct op_given){tables, q.n}, &out->capacity);
}

const struct op op_TransactGetItems = {.name = "TransactGetItems",
                                       .is_brief = true,
                                       .input = &in_shape,
                                       .output = &out_shape,
                                       .run = run};
