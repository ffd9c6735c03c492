/* BatchWriteItem: puts and deletes by table in, and those that were not done out. */
#include "ops/shared.h"

enum { WRITES_MAX = 25 };

struct put_request {
    struct json_item item;
};
struct delete_request {
    struct json_item key;
};
struct write_request {
    struct put_request *put;
    struct delete_request *delete_;
};
struct batch_write_in {
    struct shape_map tables; /* of lists of struct write_request pointers */
    struct shape_word capacity, metrics;
};
struct batch_write_out {
    struct shape_map unprocessed;
    struct shape_map metrics;
    struct shape_list capacity;
};

static const struct member put_members[] = {
    MEMBER(struct put_request, item, "Item", shape_item, REQUIRED),
};
static const struct shape put_shape = {.kind = SHAPE_STRUCT,
                                       .size = sizeof(struct put_request),
                                       .members = put_members,
                                       .n_members = 1,
                                       .title = "PutRequest"};
static const struct member delete_members[] = {
    MEMBER(struct delete_request, key, "Key", shape_item, REQUIRED),
};
static const struct shape delete_shape = {.kind = SHAPE_STRUCT,
                                          .size = sizeof(struct delete_request),
                                          .members = delete_members,
                                          .n_members = 1,
                                          .title = "DeleteRequest"};
static const struct member request_members[] = {
    MEMBER(struct write_request, put, "PutRequest", put_shape, 0),
    MEMBER(struct write_request, delete_, "DeleteRequest", delete_shape, 0),
};
static const struct shape request_shape = {.kind = SHAPE_STRUCT,
                                           .size = sizeof(struct write_request),
                                           .members = request_members,
                                           .n_members = 2,
                                           .title = "WriteRequest"};
static const struct shape list_shape = {.kind = SHAPE_LIST,
                                        .of = &request_shape,
                                        .has_min = true,
                                        .min = 1,
                                        .has_max = true,
                                        .max = WRITES_MAX,
                                        .is_brief = true};
static const struct shape tables_shape = {
    .kind = SHAPE_MAP,
    .of = &list_shape,
    .key = &shape_table_name,
    .is_table = true,
    .has_min = true,
    .min = 1,
    .has_max = true,
    .max = WRITES_MAX,
    .is_brief = true,
    .echo = ECHO_JAVA,
    .title = "java.util.List<com.amazonaws.dynamodb.v20120810.WriteRequest>"};
static const struct member in_members[] = {
    MEMBER(struct batch_write_in, capacity, "ReturnConsumedCapacity", shape_return_capacity, 0),
    MEMBER(struct batch_write_in, metrics, "ReturnItemCollectionMetrics", shape_return_metrics, 0),
    MEMBER(struct batch_write_in, tables, "RequestItems", tables_shape, REQUIRED),
};
static const struct shape in_shape = STRUCT_SHAPE(struct batch_write_in, in_members);
static const struct member out_members[] = {
    MEMBER(struct batch_write_out, capacity, "ConsumedCapacity", shape_capacities, 0),
    MEMBER(struct batch_write_out, metrics, "ItemCollectionMetrics", shape_metrics_map, 0),
    MEMBER(struct batch_write_out, unprocessed, "UnprocessedItems", tables_shape, 0),
};
static const struct shape out_shape = STRUCT_SHAPE(struct batch_write_out, out_members);

static sheaf_rc add(const struct op_call *call, span table, const struct write_request *r,
                    struct expr_env *env, struct core_write *to)
{
    if ((r->put == NULL) == (r->delete_ == NULL))
        return err_validation(call->c->err,
                              "Supplied AttributeValue has more than one datatypes set, "
                              "must contain exactly one of the supported datatypes");
    const struct json_item *item = r->put ? &r->put->item : &r->delete_->key;
    TRY(op_check_item(call, item));
    *to = (struct core_write){
        .action = r->put ? CORE_PUT : CORE_DELETE, .table = table, .item = item->item, .env = env};
    return SHEAF_OK;
}

static sheaf_rc prepare(const struct op_call *call, const struct batch_write_in *in,
                        struct core_batch_write *q)
{
    struct ctx *c = call->c;
    const struct shape_list *lists = in->tables.all;
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->tables.n; i++) n += lists[i].n;
    struct core_write *writes = ARENA_ARRAY(c->arena, struct core_write, n);
    struct expr_env *env = ARENA_NEW(c->arena, struct expr_env);
    if (!writes || !env) return err_nomem(c->err);
    *q = (struct core_batch_write){.writes = writes,
                                   .capacity = op_capacity_mode(&in->capacity),
                                   .wants_metrics = op_wants_metrics(&in->metrics)};
    for (uint32_t i = 0; i < in->tables.n; i++) {
        struct write_request *const *requests = lists[i].all;
        for (uint32_t k = 0; k < lists[i].n; k++)
            TRY(add(call, in->tables.names[i], requests[k], env, &writes[q->n++]));
    }
    return SHEAF_OK;
}

/* The requests that `unprocessed` (in ascending order) names, by table. */
static sheaf_rc set_unprocessed(struct ctx *c, const struct batch_write_in *in,
                                const struct core_multi_outcome *got, struct shape_map *out)
{
    const struct shape_list *lists = in->tables.all;
    struct shape_list *all = ARENA_ARRAY(c->arena, struct shape_list, in->tables.n);
    *out = (struct shape_map){
        .names = ARENA_ARRAY(c->arena, span, in->tables.n), .all = all, .has = true};
    if (!all || !out->names) return err_nomem(c->err);
    uint32_t first = 0, u = 0;
    for (uint32_t i = 0; i < in->tables.n && u < got->n_unprocessed; i++) {
        struct write_request *const *from = lists[i].all;
        uint32_t end = first + lists[i].n;
        struct write_request **left = ARENA_ARRAY(c->arena, struct write_request *, lists[i].n);
        if (!left) return err_nomem(c->err);
        uint32_t n = 0;
        for (; u < got->n_unprocessed && got->unprocessed[u] < end; u++)
            left[n++] = from[got->unprocessed[u] - first];
        first = end;
        if (n == 0) continue;
        out->names[out->n] = in->tables.names[i];
        all[out->n++] = (struct shape_list){left, n, true};
    }
    return SHEAF_OK;
}

static sheaf_rc run(struct op_call *call, const void *in_, void *out_)
{
    const struct batch_write_in *in = in_;
    struct batch_write_out *out = out_;
    struct core_batch_write q;
    struct core_multi_outcome got;
    const struct op_given given = {in->tables.names, in->tables.n};
    TRY(prepare(call, in, &q));
    sheaf_rc rc = core_batch_write(call->core, call->c, &q, &got);
    call->position = got.position;
    TRY(rc);
    TRY(set_unprocessed(call->c, in, &got, &out->unprocessed));
    TRY(op_metrics_map(call->c, got.metrics, got.n_metrics, given, &out->metrics));
    return op_capacities(call->c, got.capacity, got.n_capacity, false, given, &out->capacity);
}

const struct op op_BatchWriteItem = {.name = "BatchWriteItem",
                                     .is_write = true,
                                     .is_brief = true,
                                     .input = &in_shape,
                                     .output = &out_shape,
                                     .run = run};
