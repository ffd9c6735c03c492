/* BatchGetItem: keys by table in, items by table out, and the keys that were not reached. */
#include "ops/shared.h"

enum { GETS_MAX = 100 };

struct keys {
    struct shape_list keys; /* of struct json_item */
    span attributes, projection;
    struct shape_names names;
    uint8_t is_consistent;
};
struct batch_get_in {
    struct shape_map tables; /* of struct keys pointers */
    struct shape_word capacity;
};
struct batch_get_out {
    struct shape_map responses;   /* of struct shape_items */
    struct shape_map unprocessed; /* of struct keys pointers */
    struct shape_list capacity;
};

static const struct shape key_list_shape = {.kind = SHAPE_LIST,
                                            .of = &shape_item,
                                            .has_min = true,
                                            .min = 1,
                                            .has_max = true,
                                            .max = GETS_MAX,
                                            .is_brief = true};
static const struct member keys_members[] = {
    MEMBER(struct keys, keys, "Keys", key_list_shape, REQUIRED),
    MEMBER(struct keys, attributes, "AttributesToGet", shape_raw, LEGACY),
    MEMBER(struct keys, is_consistent, "ConsistentRead", shape_bool_, 0),
    MEMBER(struct keys, projection, "ProjectionExpression", shape_string, 0),
    MEMBER(struct keys, names, "ExpressionAttributeNames", shape_names, 0),
};
static const struct shape keys_shape = {.kind = SHAPE_STRUCT,
                                        .size = sizeof(struct keys),
                                        .members = keys_members,
                                        .n_members = sizeof keys_members / sizeof *keys_members,
                                        .title = "KeysAndAttributes"};
static const struct shape tables_shape = {.kind = SHAPE_MAP,
                                          .of = &keys_shape,
                                          .key = &shape_table_name,
                                          .is_table = true,
                                          .has_min = true,
                                          .min = 1,
                                          .has_max = true,
                                          .max = GETS_MAX,
                                          .is_brief = true,
                                          .echo = ECHO_JSON,
                                          .title =
                                              "com.amazonaws.dynamodb.v20120810.KeysAndAttributes"};
static const struct member in_members[] = {
    MEMBER(struct batch_get_in, tables, "RequestItems", tables_shape, REQUIRED),
    MEMBER(struct batch_get_in, capacity, "ReturnConsumedCapacity", shape_return_capacity, 0),
};
static const struct shape in_shape = STRUCT_SHAPE(struct batch_get_in, in_members);

static const struct shape responses_shape = {.kind = SHAPE_MAP, .of = &shape_items};
static const struct member out_members[] = {
    MEMBER(struct batch_get_out, capacity, "ConsumedCapacity", shape_capacities, 0),
    MEMBER(struct batch_get_out, responses, "Responses", responses_shape, 0),
    MEMBER(struct batch_get_out, unprocessed, "UnprocessedKeys", tables_shape, 0),
};
static const struct shape out_shape = STRUCT_SHAPE(struct batch_get_out, out_members);

static sheaf_rc check_params(struct ctx *c, const struct keys *keys)
{
    const struct op_param legacy[] = {{"AttributesToGet", keys->attributes.p != NULL},
                                      {NULL, false}};
    const struct op_param expressions[] = {{"ProjectionExpression", keys->projection.p != NULL},
                                           {NULL, false}};
    const struct op_params p = {legacy, expressions, .has_names = keys->names.has};
    return op_check_params(c, &p);
}

static const struct json_item *key_at(const struct keys *keys, uint32_t i)
{
    return &((const struct json_item *)keys->keys.all)[i];
}

/* The gets of one table, one after the other with the same placeholders. */
static sheaf_rc add_table(const struct op_call *call, span table, const struct keys *keys,
                          struct core_multi_get *q)
{
    struct core_get *to = (struct core_get *)q->gets + q->n;
    struct expr_env *env;
    TRY(check_params(call->c, keys));
    TRY(op_env(call, &keys->names, NULL, false, &env));
    for (uint32_t i = 0; i < keys->keys.n; i++) {
        TRY(op_check_item(call, key_at(keys, i)));
        to[i] = (struct core_get){.table = table,
                                  .key = key_at(keys, i)->item,
                                  .projection = keys->projection,
                                  .env = env,
                                  .is_consistent = keys->is_consistent == SHAPE_TRUE};
    }
    q->n += keys->keys.n;
    return SHEAF_OK;
}

static sheaf_rc prepare(const struct op_call *call, const struct batch_get_in *in,
                        struct core_multi_get *q)
{
    struct ctx *c = call->c;
    struct keys *const *tables = in->tables.all;
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->tables.n; i++) n += tables[i]->keys.n;
    *q = (struct core_multi_get){.gets = ARENA_ARRAY(c->arena, struct core_get, n),
                                 .capacity = op_capacity_mode(&in->capacity)};
    if (!q->gets) return err_nomem(c->err);
    for (uint32_t i = 0; i < in->tables.n; i++)
        TRY(add_table(call, in->tables.names[i], tables[i], q));
    return SHEAF_OK;
}

/* ---- the answer ---- */

/* Every table is named, whether anything of it was found or not. */
static sheaf_rc set_responses(struct ctx *c, const struct batch_get_in *in,
                              const struct core_items_outcome *got, struct shape_map *out)
{
    struct keys *const *tables = in->tables.all;
    struct shape_items *lists = ARENA_ARRAY(c->arena, struct shape_items, in->tables.n);
    span *items = ARENA_ARRAY(c->arena, span, got->n);
    if (!lists || !items) return err_nomem(c->err);
    uint32_t at = 0, n_items = 0;
    for (uint32_t i = 0; i < in->tables.n; i++) {
        lists[i] = (struct shape_items){.all = items + n_items, .has = true};
        for (uint32_t k = 0; k < tables[i]->keys.n; k++, at++) {
            if (!got->items[at].p) continue;
            items[n_items++] = got->items[at];
            lists[i].n++;
        }
    }
    *out = (struct shape_map){in->tables.names, lists, in->tables.n, true};
    return SHEAF_OK;
}

/* The keys that `unprocessed` (in ascending order) names, with all that was asked beside them. */
static sheaf_rc set_unprocessed(struct ctx *c, const struct batch_get_in *in,
                                const struct core_items_outcome *got, struct shape_map *out)
{
    struct keys *const *tables = in->tables.all;
    struct keys **all = ARENA_ARRAY(c->arena, struct keys *, in->tables.n);
    *out = (struct shape_map){
        .names = ARENA_ARRAY(c->arena, span, in->tables.n), .all = all, .has = true};
    if (!all || !out->names) return err_nomem(c->err);
    uint32_t first = 0, u = 0;
    for (uint32_t i = 0; i < in->tables.n && u < got->n_unprocessed; i++) {
        uint32_t end = first + tables[i]->keys.n;
        struct json_item *keys = ARENA_ARRAY(c->arena, struct json_item, tables[i]->keys.n);
        struct keys *left = ARENA_NEW(c->arena, struct keys);
        if (!keys || !left) return err_nomem(c->err);
        *left = *tables[i];
        left->keys = (struct shape_list){.all = keys, .has = true};
        for (; u < got->n_unprocessed && got->unprocessed[u] < end; u++)
            keys[left->keys.n++] = *key_at(tables[i], got->unprocessed[u] - first);
        first = end;
        if (left->keys.n == 0) continue;
        out->names[out->n] = in->tables.names[i];
        all[out->n++] = left;
    }
    return SHEAF_OK;
}

static sheaf_rc run(struct op_call *call, const void *in_, void *out_)
{
    const struct batch_get_in *in = in_;
    struct batch_get_out *out = out_;
    struct core_multi_get q;
    struct core_items_outcome got;
    TRY(prepare(call, in, &q));
    sheaf_rc rc = core_multi_get(call->core, call->c, &q, &got);
    call->position = got.position;
    TRY(rc);
    TRY(set_responses(call->c, in, &got, &out->responses));
    TRY(set_unprocessed(call->c, in, &got, &out->unprocessed));
    return op_capacities(call->c, got.capacity, got.n_capacity, false,
                         (struct op_given){in->tables.names, in->tables.n}, &out->capacity);
}

const struct op op_BatchGetItem = {.name = "BatchGetItem",
                                   .is_brief = true,
                                   .is_current = true,
                                   .input = &in_shape,
                                   .output = &out_shape,
                                   .run = run};
