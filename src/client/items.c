/* The calls on single items, and Query and Scan: core request to JSON, JSON to outcome. */
#include "client/get.h"
#include "client/put.h"

/* ---- one write ---- */

static const char *const write_names[] = {"PutItem", "UpdateItem", "DeleteItem"};
static const char *const return_words[] = {"", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"};

static sheaf_rc encode_write(struct ctx *c, const struct core_write_item *q, span *body_out)
{
    const struct core_write *w = &q->write;
    struct buf b;
    wire_put_begin(&b, c);
    wire_put_text(&b, "TableName", w->table);
    wire_put_item(&b, w->action == CORE_PUT ? "Item" : "Key", w->item);
    wire_put_text(&b, "UpdateExpression", w->update);
    wire_put_text(&b, "ConditionExpression", w->condition);
    wire_put_names(&b, w->env);
    wire_put_values(&b, w->env);
    PUT_WORD(&b, "ReturnValues", return_words, q->returns);
    wire_put_capacity(&b, q->capacity);
    wire_put_metrics(&b, q->wants_metrics);
    if (w->wants_old_on_failure)
        wire_put_text(&b, "ReturnValuesOnConditionCheckFailure", SPAN_LIT("ALL_OLD"));
    return wire_put_end(&b, c, body_out);
}

static sheaf_rc decode_written(struct ctx *c, span answer, span table,
                               struct core_write_outcome *out)
{
    static const struct field fields[] = {
        FIELD(struct core_write_outcome, attributes, "Attributes", wire_get_item),
        FIELD(struct core_write_outcome, attributes, "Item", wire_get_item), /* of a refusal */
        FIELD(struct core_write_outcome, capacity, "ConsumedCapacity", wire_get_capacity),
        FIELD(struct core_write_outcome, metrics, "ItemCollectionMetrics", wire_get_metrics),
    };
    TRY(GET_ANSWER(c, answer, fields, out));
    if (out->metrics.key.p) out->metrics.table = table;
    return SHEAF_OK;
}

sheaf_rc client_write_item(struct client *k, struct ctx *c, const struct core_write_item *q,
                           struct core_write_outcome *out)
{
    const struct client_op op = {.name = write_names[q->write.action], .is_write = true};
    span body, answer;
    *out = (struct core_write_outcome){.position = 0};
    TRY(encode_write(c, q, &body));
    sheaf_rc rc = client_send(k, c, &op, body, &answer);
    if (rc != SHEAF_OK && rc != SHEAF_CONDITIONAL_CHECK_FAILED) return rc;
    sheaf_error refusal;
    if (rc != SHEAF_OK && c->err) refusal = *c->err;
    sheaf_rc read = decode_written(c, answer, q->write.table, out);
    if (rc == SHEAF_OK) return read;
    if (c->err) *c->err = refusal; /* without its item it is a refusal still */
    return rc;
}

/* ---- one read ---- */

sheaf_rc client_get_item(struct client *k, struct ctx *c, const struct core_get_item *q,
                         struct core_item_outcome *out)
{
    static const struct client_op op = {.name = "GetItem"};
    static const struct field fields[] = {
        FIELD(struct core_item_outcome, item, "Item", wire_get_item),
        FIELD(struct core_item_outcome, capacity, "ConsumedCapacity", wire_get_read_capacity),
    };
    struct buf b;
    span body, answer;
    *out = (struct core_item_outcome){.position = 0};
    wire_put_begin(&b, c);
    wire_put_text(&b, "TableName", q->get.table);
    wire_put_item(&b, "Key", q->get.key);
    wire_put_text(&b, "ProjectionExpression", q->get.projection);
    wire_put_names(&b, q->get.env);
    wire_put_true(&b, "ConsistentRead", q->get.is_consistent);
    wire_put_capacity(&b, q->capacity);
    TRY(wire_put_end(&b, c, &body));
    TRY(client_send(k, c, &op, body, &answer));
    return GET_ANSWER(c, answer, fields, out);
}

/* ---- Query and Scan ---- */

static sheaf_rc encode_query(struct ctx *c, const struct core_query *q, span *body_out)
{
    static const char *const select_words[] = {"", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES",
                                               "COUNT", "SPECIFIC_ATTRIBUTES"};
    struct buf b;
    wire_put_begin(&b, c);
    wire_put_text(&b, "TableName", q->table);
    wire_put_text(&b, "IndexName", q->index);
    wire_put_text(&b, "KeyConditionExpression", q->key_condition);
    wire_put_text(&b, "FilterExpression", q->filter);
    wire_put_text(&b, "ProjectionExpression", q->projection);
    wire_put_names(&b, q->env);
    wire_put_values(&b, q->env);
    wire_put_item(&b, "ExclusiveStartKey", q->start_key);
    PUT_WORD(&b, "Select", select_words, q->select);
    wire_put_number(&b, "Limit", q->limit);
    if (q->has_segment) wire_put_count(&b, "Segment", q->segment);
    if (q->has_segment) wire_put_count(&b, "TotalSegments", q->n_segments);
    if (q->is_backward) wire_put_bool(&b, "ScanIndexForward", false);
    wire_put_true(&b, "ConsistentRead", q->is_consistent);
    wire_put_capacity(&b, q->capacity);
    return wire_put_end(&b, c, body_out);
}

struct wire_page {
    struct core_page page;
    struct rows items; /* of span */
};

static sheaf_rc get_items(struct json *j, void *to) { return wire_get_rows(j, to, wire_get_item); }

static sheaf_rc decode_page(struct ctx *c, span answer, struct core_page *out)
{
    static const struct field fields[] = {
        FIELD(struct wire_page, items, "Items", get_items),
        FIELD(struct wire_page, page.matched, "Count", wire_get_u64),
        FIELD(struct wire_page, page.scanned, "ScannedCount", wire_get_u64),
        FIELD(struct wire_page, page.last_key, "LastEvaluatedKey", wire_get_item),
        FIELD(struct wire_page, page.capacity, "ConsumedCapacity", wire_get_read_capacity),
    };
    struct wire_page w = {.items = {.size = sizeof(span)}};
    TRY(GET_ANSWER(c, answer, fields, &w));
    *out = w.page;
    out->items = (span *)(void *)w.items.all;
    out->n = w.items.n;
    return SHEAF_OK;
}

sheaf_rc client_query(struct client *k, struct ctx *c, const struct core_query *q,
                      struct core_page *out)
{
    const struct client_op op = {.name = q->is_scan ? "Scan" : "Query"};
    span body, answer;
    *out = (struct core_page){.position = 0};
    TRY(encode_query(c, q, &body));
    TRY(client_send(k, c, &op, body, &answer));
    return decode_page(c, answer, out);
}
