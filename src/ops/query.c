/* Query and Scan: two inputs, one way through. */
#include "ops/shared.h"

struct query_in {
    span table, index;
    span key_condition, filter, projection;
    struct json_item values, start_key;
    struct shape_names names;
    struct shape_word capacity, select;
    struct shape_int limit, segment, segments;
    uint8_t is_consistent, is_forward;
    span attributes, filter_conditions, operator_, key_conditions; /* legacy */
};
struct query_out {
    struct shape_items items;
    struct shape_int matched, scanned;
    struct json_item last_key;
    struct out_capacity *capacity;
};

static const char *const select_words[] = {"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES",
                                           "ALL_PROJECTED_ATTRIBUTES", NULL};
static const struct shape select_shape = {
    .kind = SHAPE_ENUM,
    .words = select_words,
    .words_text = "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"};
static const struct shape query_limit_shape = {
    .kind = SHAPE_INT,
    .has_min = true,
    .min = 1,
    .brief = "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member "
             "must have value greater than or equal to 1"};
static const struct shape scan_limit_shape = {.kind = SHAPE_INT, .has_min = true, .min = 1};
static const struct shape segment_shape = {
    .kind = SHAPE_INT, .has_min = true, .min = 0, .has_max = true, .max = 999999};
static const struct shape segments_shape = {
    .kind = SHAPE_INT, .has_min = true, .min = 1, .has_max = true, .max = 1000000};

#define QUERY(field, wire, shape, flags) MEMBER(struct query_in, field, wire, shape, flags)
#define START_KEY QUERY(start_key, "ExclusiveStartKey", shape_item, 0)
#define CAPACITY QUERY(capacity, "ReturnConsumedCapacity", shape_return_capacity, 0)
#define ATTRIBUTES QUERY(attributes, "AttributesToGet", shape_raw, LEGACY)
#define SELECT QUERY(select, "Select", select_shape, 0)
#define OPERATOR QUERY(operator_, "ConditionalOperator", shape_raw, LEGACY)
#define TABLE QUERY(table, "TableName", shape_table_name, REQUIRED)
#define CONSISTENT QUERY(is_consistent, "ConsistentRead", shape_bool_, 0)
#define INDEX QUERY(index, "IndexName", shape_index_name, 0)
#define FILTER QUERY(filter, "FilterExpression", shape_string, 0)
#define PROJECTION QUERY(projection, "ProjectionExpression", shape_string, 0)
#define VALUES QUERY(values, "ExpressionAttributeValues", shape_values, 0)
#define NAMES QUERY(names, "ExpressionAttributeNames", shape_names, 0)

static const struct member query_members[] = {
    QUERY(limit, "Limit", query_limit_shape, 0),
    START_KEY,
    CAPACITY,
    ATTRIBUTES,
    QUERY(filter_conditions, "QueryFilter", shape_raw, LEGACY),
    SELECT,
    OPERATOR,
    QUERY(key_conditions, "KeyConditions", shape_raw, LEGACY),
    TABLE,
    CONSISTENT,
    INDEX,
    QUERY(is_forward, "ScanIndexForward", shape_bool_, 0),
    QUERY(key_condition, "KeyConditionExpression", shape_string, 0),
    FILTER,
    PROJECTION,
    VALUES,
    NAMES,
};
static const struct member scan_members[] = {
    QUERY(limit, "Limit", scan_limit_shape, 0),
    CAPACITY,
    ATTRIBUTES,
    QUERY(segment, "Segment", segment_shape, 0),
    SELECT,
    QUERY(filter_conditions, "ScanFilter", shape_raw, LEGACY),
    OPERATOR,
    QUERY(segments, "TotalSegments", segments_shape, 0),
    TABLE,
    START_KEY,
    INDEX,
    CONSISTENT,
    FILTER,
    PROJECTION,
    VALUES,
    NAMES,
};
static const struct shape query_shape = STRUCT_SHAPE(struct query_in, query_members);
static const struct shape scan_shape = STRUCT_SHAPE(struct query_in, scan_members);

static const struct member out_members[] = {
    MEMBER(struct query_out, capacity, "ConsumedCapacity", shape_capacity, 0),
    MEMBER(struct query_out, matched, "Count", shape_int, 0),
    MEMBER(struct query_out, items, "Items", shape_items, 0),
    MEMBER(struct query_out, last_key, "LastEvaluatedKey", shape_item, 0),
    MEMBER(struct query_out, scanned, "ScannedCount", shape_int, 0),
};
static const struct shape out_shape = STRUCT_SHAPE(struct query_out, out_members);

static sheaf_rc check_params(struct ctx *c, const struct query_in *in, bool is_scan)
{
    const struct op_param legacy[] = {
        {"AttributesToGet", in->attributes.p != NULL},
        {is_scan ? "ScanFilter" : "QueryFilter", in->filter_conditions.p != NULL},
        {"ConditionalOperator", in->operator_.p != NULL},
        {"KeyConditions", in->key_conditions.p != NULL},
        {NULL, false}};
    const struct op_param expressions[] = {{"ProjectionExpression", in->projection.p != NULL},
                                           {"FilterExpression", in->filter.p != NULL},
                                           {"KeyConditionExpression", in->key_condition.p != NULL},
                                           {NULL, false}};
    const struct op_params p = {.legacy = legacy,
                                .expressions = expressions,
                                .has_names = in->names.has,
                                .has_values = in->values.has,
                                .without = is_scan ? ": FilterExpression is null"
                                                   : ": FilterExpression and "
                                                     "KeyConditionExpression are null"};
    return op_check_params(c, &p);
}

/* The two go together. */
static sheaf_rc check_segments(struct ctx *c, const struct query_in *in)
{
    if (in->segment.has == in->segments.has) return SHEAF_OK;
    if (in->segment.has)
        return err_validation(c->err, "The TotalSegments parameter is required but was not present "
                                      "in the request when Segment parameter is present");
    return err_validation(c->err, "The Segment parameter is required but was not present in the "
                                  "request when parameter TotalSegments is present");
}

static sheaf_rc check_start_key(const struct op_call *call, const struct query_in *in, bool is_scan)
{
    if (!in->start_key.fault) return SHEAF_OK;
    return err_validation(call->c->err, "%s%s",
                          is_scan ? "The provided starting key is invalid: " : "",
                          op_fault(call, in->start_key.fault));
}

static enum core_select select_of(const struct shape_word *word)
{
    static const enum core_select selects[] = {CORE_SELECT_DEFAULT, CORE_SELECT_SPECIFIC,
                                               CORE_SELECT_COUNT, CORE_SELECT_ALL,
                                               CORE_SELECT_PROJECTED};
    return selects[word->i];
}

static sheaf_rc prepare(const struct op_call *call, const struct query_in *in, bool is_scan,
                        struct core_query *q)
{
    struct ctx *c = call->c;
    TRY(check_params(c, in, is_scan));
    TRY(check_start_key(call, in, is_scan));
    TRY(check_segments(c, in));
    *q = (struct core_query){
        .table = in->table,
        .index = in->index,
        .is_scan = is_scan,
        .key_condition = in->key_condition,
        .filter = in->filter,
        .projection = in->projection,
        .start_key = in->start_key.item,
        .select = select_of(&in->select),
        .limit = in->limit.has ? (uint32_t)in->limit.v : 0,
        .has_segment = in->segments.has,
        .segment = (uint32_t)in->segment.v,
        .n_segments = (uint32_t)in->segments.v,
        .is_backward = in->is_forward == SHAPE_FALSE,
        .is_consistent = in->is_consistent == SHAPE_TRUE,
        .capacity = op_capacity_mode(&in->capacity),
    };
    return op_env(call, &in->names, &in->values, is_scan, &q->env);
}

/* Of core's refusals Query has moved this one, and not Scan, into the envelope. */
static bool is_enveloped(const struct ctx *c, sheaf_rc rc, bool is_scan)
{
    static const span moved = {"Must specify the AttributesToGet or ProjectionExpression", 56};
    return rc == SHEAF_VALIDATION && !is_scan && span_starts(span_cstr(c->err->message), moved);
}

static sheaf_rc read(struct op_call *call, const struct query_in *in, bool is_scan,
                     struct query_out *out)
{
    struct core_query q;
    struct core_page page;
    TRY(prepare(call, in, is_scan, &q));
    sheaf_rc rc = core_query(call->core, call->c, &q, &page);
    call->position = page.position;
    call->is_enveloped = is_enveloped(call->c, rc, is_scan);
    TRY(rc);
    bool is_count = q.select == CORE_SELECT_COUNT;
    out->items = (struct shape_items){page.items, page.n, !is_count};
    out->matched = (struct shape_int){(int64_t)page.matched, true};
    out->scanned = (struct shape_int){(int64_t)page.scanned, true};
    out->last_key = op_out_item(page.last_key);
    return op_capacity(call->c, &page.capacity, false, (struct op_given){&in->table, 1},
                       &out->capacity);
}

static sheaf_rc query(struct op_call *call, const void *in, void *out)
{
    return read(call, in, false, out);
}

static sheaf_rc scan(struct op_call *call, const void *in, void *out)
{
    return read(call, in, true, out);
}

const struct op op_Query = {.name = "Query",
                            .is_brief = true,
                            .is_current = true,
                            .input = &query_shape,
                            .output = &out_shape,
                            .run = query};
const struct op op_Scan = {
    .name = "Scan", .is_brief = true, .input = &scan_shape, .output = &out_shape, .run = scan};
