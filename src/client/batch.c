/* BatchGetItem and BatchWriteItem: core has gets and writes in a row, the wire has them by table.
 *
 * Know before editing: the answer names neither the place of an item in the request nor, when a
 * projection leaves the key out, which key it belongs to. Found items are put beside their key where
 * it can be seen, and otherwise in the next free place of their table; leftovers are the request's
 * own values and are found by them. */
#include "client/get.h"
#include "client/put.h"

/* A table may be named by its ARN in one place and by its name in another. */
static span table_name(span table)
{
    const uint8_t *p = table.p;
    for (size_t i = table.n; i > 0; i--)
        if (p[i - 1] == '/') return span_from(table, i);
    return table;
}

static bool is_same_table(span a, span b) { return span_eq(table_name(a), table_name(b)); }

/* ---- reads ---- */

static bool is_same_ask(const struct core_get *a, const struct core_get *b)
{
    return a->is_consistent == b->is_consistent && span_eq(a->projection, b->projection) &&
           (a->env == b->env || (!a->env->has_names && !b->env->has_names));
}

/* Whether an earlier get has its table: then this one went out with that one's. */
static bool is_first_of_table(const struct core_multi_get *q, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (span_eq(q->gets[k].table, q->gets[i].table)) return false;
    return true;
}

static sheaf_rc put_table_gets(struct ctx *c, struct buf *b, const struct core_multi_get *q,
                               uint32_t first)
{
    const struct core_get *g = &q->gets[first];
    wire_put_next(b);
    json_put_text(b, g->table);
    buf_put(b, ":{", 2);
    wire_put_open(b, "Keys", '[');
    for (uint32_t i = first; i < q->n; i++) {
        if (!span_eq(q->gets[i].table, g->table)) continue;
        if (!is_same_ask(&q->gets[i], g))
            return err_validation(c->err,
                                  "A remote handle reads a table once in a batch: give all keys of "
                                  "%.*s one projection, one set of names and one consistency",
                                  SPAN_ARG(g->table));
        wire_put_next(b);
        json_put_item(b, q->gets[i].key);
    }
    wire_put_close(b, ']');
    wire_put_text(b, "ProjectionExpression", g->projection);
    wire_put_names(b, g->env);
    wire_put_true(b, "ConsistentRead", g->is_consistent);
    wire_put_close(b, '}');
    return SHEAF_OK;
}

static sheaf_rc encode_batch_get(struct ctx *c, const struct core_multi_get *q, span *body_out)
{
    struct buf b;
    wire_put_begin(&b, c);
    wire_put_open(&b, "RequestItems", '{');
    for (uint32_t i = 0; i < q->n; i++)
        if (is_first_of_table(q, i)) TRY(put_table_gets(c, &b, q, i));
    wire_put_close(&b, '}');
    wire_put_capacity(&b, q->capacity);
    return wire_put_end(&b, c, body_out);
}

/* {"table": <read>, …} into rows of struct by_table. */
struct by_table {
    span table;
    struct rows items; /* of span */
};

static sheaf_rc get_item_list(struct json *j, void *to)
{
    return wire_get_rows(j, to, wire_get_item);
}

static sheaf_rc get_found(struct json *j, struct by_table *t)
{
    return get_item_list(j, &t->items);
}

static sheaf_rc get_left(struct json *j, struct by_table *t)
{
    static const struct field fields[] = {FIELD(struct by_table, items, "Keys", get_item_list)};
    return GET_OBJECT(j, fields, t);
}

static sheaf_rc get_tables(struct json *j, struct rows *tables,
                           sheaf_rc (*read)(struct json *j, struct by_table *t))
{
    TRY(json_object(j));
    for (;;) {
        span name;
        bool has;
        TRY(json_next_name(j, &name, &has));
        if (!has) return SHEAF_OK;
        struct by_table *t = wire_get_row(j->ctx, tables);
        if (!t) return SHEAF_NOMEM;
        *t = (struct by_table){name, {.size = sizeof(span)}};
        TRY(read(j, t));
    }
}

static sheaf_rc get_responses(struct json *j, void *to) { return get_tables(j, to, get_found); }
static sheaf_rc get_unprocessed_keys(struct json *j, void *to)
{
    return get_tables(j, to, get_left);
}

/* Whether the item shows all attributes of the key, with its values. */
static bool has_key(span item, span key)
{
    val map = item_map(item), wanted = item_map(key);
    for (uint32_t i = 0; i < val_count(wanted); i++)
        if (!val_eq(val_find(map, val_name_at(wanted, i)), val_at(wanted, i))) return false;
    return true;
}

/* The free place of an item; q->n when there is none. */
static uint32_t place_of(const struct core_multi_get *q, span table, span item,
                         const struct core_items_outcome *out, bool by_key)
{
    uint32_t i = 0;
    while (i < q->n && (out->items[i].p || !is_same_table(q->gets[i].table, table) ||
                        (by_key && !has_key(item, q->gets[i].key))))
        i++;
    return i;
}

static sheaf_rc stray(struct ctx *c, span table)
{
    return err_set(c->err, SHEAF_INTERNAL,
                   "The server's answer cannot be read: an item of %.*s was not asked for",
                   SPAN_ARG(table));
}

/* Those that show their key first, so that the others do not take their places. */
static sheaf_rc place_items(struct ctx *c, const struct core_multi_get *q, struct rows *tables,
                            struct core_items_outcome *out)
{
    struct by_table *t = (struct by_table *)(void *)tables->all;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < tables->n; k++) {
            span *items = (span *)(void *)t[k].items.all;
            for (uint32_t m = 0; m < t[k].items.n; m++) {
                if (!items[m].p) continue;
                uint32_t i = place_of(q, t[k].table, items[m], out, pass == 0);
                if (i == q->n && pass == 1) return stray(c, t[k].table);
                if (i == q->n) continue;
                out->items[i] = items[m];
                items[m] = SPAN_NONE;
            }
        }
    return SHEAF_OK;
}

static sheaf_rc find_left_keys(struct ctx *c, const struct core_multi_get *q,
                               const struct rows *tables, struct core_items_outcome *out)
{
    uint32_t *left = ARENA_ARRAY(c->arena, uint32_t, q->n + 1u);
    if (!left) return err_nomem(c->err);
    const struct by_table *t = (const struct by_table *)(const void *)tables->all;
    for (uint32_t i = 0; i < q->n; i++)
        for (uint32_t k = 0; k < tables->n; k++) {
            if (!is_same_table(q->gets[i].table, t[k].table)) continue;
            const span *keys = (const span *)(const void *)t[k].items.all;
            for (uint32_t m = 0; m < t[k].items.n; m++)
                if (span_eq(keys[m], q->gets[i].key)) {
                    left[out->n_unprocessed++] = i;
                    break;
                }
        }
    out->unprocessed = left;
    return SHEAF_OK;
}

static sheaf_rc decode_batch_get(struct ctx *c, span answer, const struct core_multi_get *q,
                                 struct core_items_outcome *out)
{
    struct wire {
        struct rows found, left; /* of struct by_table */
        struct capacities capacity;
    } w = {.found = {.size = sizeof(struct by_table)}, .left = {.size = sizeof(struct by_table)}};
    static const struct field fields[] = {
        FIELD(struct wire, found, "Responses", get_responses),
        FIELD(struct wire, left, "UnprocessedKeys", get_unprocessed_keys),
        FIELD(struct wire, capacity, "ConsumedCapacity", wire_get_read_capacities),
    };
    TRY(GET_ANSWER(c, answer, fields, &w));
    out->items = ARENA_ARRAY(c->arena, span, q->n + 1u);
    if (!out->items) return err_nomem(c->err);
    out->n = q->n;
    out->capacity = w.capacity.all;
    out->n_capacity = w.capacity.n;
    TRY(place_items(c, q, &w.found, out));
    return find_left_keys(c, q, &w.left, out);
}

static sheaf_rc batch_get(struct client *k, struct ctx *c, const struct core_multi_get *q,
                          struct core_items_outcome *out)
{
    static const struct client_op op = {.name = "BatchGetItem"};
    span body, answer;
    TRY(encode_batch_get(c, q, &body));
    TRY(client_send(k, c, &op, body, &answer));
    return decode_batch_get(c, answer, q, out);
}

/* ---- TransactGetItems ---- */

static sheaf_rc encode_transact_get(struct ctx *c, const struct core_multi_get *q, span *body_out)
{
    struct buf b;
    wire_put_begin(&b, c);
    wire_put_open(&b, "TransactItems", '[');
    for (uint32_t i = 0; i < q->n; i++) {
        const struct core_get *g = &q->gets[i];
        wire_put_next(&b);
        buf_put_u8(&b, '{');
        wire_put_open(&b, "Get", '{');
        wire_put_text(&b, "TableName", g->table);
        wire_put_item(&b, "Key", g->key);
        wire_put_text(&b, "ProjectionExpression", g->projection);
        wire_put_names(&b, g->env);
        buf_put(&b, "}}", 2);
    }
    wire_put_close(&b, ']');
    wire_put_capacity(&b, q->capacity);
    return wire_put_end(&b, c, body_out);
}

static sheaf_rc get_response(struct json *j, void *to)
{
    static const struct field fields[] = {{"Item", wire_get_item, 0}};
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_response_list(struct json *j, void *to)
{
    return wire_get_rows(j, to, get_response);
}

static sheaf_rc decode_transact_get(struct ctx *c, span answer, const struct core_multi_get *q,
                                    struct core_items_outcome *out)
{
    struct wire {
        struct rows items; /* of span */
        struct capacities capacity;
    } w = {.items = {.size = sizeof(span)}};
    static const struct field fields[] = {
        FIELD(struct wire, items, "Responses", get_response_list),
        FIELD(struct wire, capacity, "ConsumedCapacity", wire_get_read_capacities),
    };
    TRY(GET_ANSWER(c, answer, fields, &w));
    if (w.items.n != q->n)
        return err_set(c->err, SHEAF_INTERNAL,
                       "The server's answer cannot be read: %u items for %u gets", w.items.n, q->n);
    out->items = (span *)(void *)w.items.all;
    out->n = q->n;
    out->capacity = w.capacity.all;
    out->n_capacity = w.capacity.n;
    return SHEAF_OK;
}

sheaf_rc client_multi_get(struct client *k, struct ctx *c, const struct core_multi_get *q,
                          struct core_items_outcome *out)
{
    static const struct client_op op = {.name = "TransactGetItems"};
    span body, answer;
    *out = (struct core_items_outcome){.position = 0};
    if (!q->is_transaction) return batch_get(k, c, q, out);
    TRY(encode_transact_get(c, q, &body));
    sheaf_rc rc = client_send(k, c, &op, body, &answer);
    if (rc == SHEAF_OK) return decode_transact_get(c, answer, q, out);
    if (rc == SHEAF_TRANSACTION_CANCELED) {
        struct core_multi_outcome reasons = {.n = 0};
        client_reasons(c, answer, q->n, &reasons);
        out->written = reasons.written;
        out->n = reasons.n;
    }
    return rc;
}

/* ---- BatchWriteItem ---- */

static bool is_first_write(const struct core_batch_write *q, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (span_eq(q->writes[k].table, q->writes[i].table)) return false;
    return true;
}

static void put_table_writes(struct buf *b, const struct core_batch_write *q, uint32_t first)
{
    wire_put_next(b);
    json_put_text(b, q->writes[first].table);
    buf_put(b, ":[", 2);
    for (uint32_t i = first; i < q->n; i++) {
        const struct core_write *w = &q->writes[i];
        if (!span_eq(w->table, q->writes[first].table)) continue;
        wire_put_next(b);
        buf_put_u8(b, '{');
        wire_put_open(b, w->action == CORE_PUT ? "PutRequest" : "DeleteRequest", '{');
        wire_put_item(b, w->action == CORE_PUT ? "Item" : "Key", w->item);
        buf_put(b, "}}", 2);
    }
    wire_put_close(b, ']');
}

static sheaf_rc encode_batch_write(struct ctx *c, const struct core_batch_write *q, span *body_out)
{
    struct buf b;
    wire_put_begin(&b, c);
    wire_put_open(&b, "RequestItems", '{');
    for (uint32_t i = 0; i < q->n; i++)
        if (is_first_write(q, i)) put_table_writes(&b, q, i);
    wire_put_close(&b, '}');
    wire_put_capacity(&b, q->capacity);
    wire_put_metrics(&b, q->wants_metrics);
    return wire_put_end(&b, c, body_out);
}

/* {"PutRequest": {"Item": …}} or {"DeleteRequest": {"Key": …}} */
static sheaf_rc get_one_item(struct json *j, void *to)
{
    static const struct field fields[] = {{"Item", wire_get_item, 0}, {"Key", wire_get_item, 0}};
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_write(struct json *j, void *to)
{
    static const struct field fields[] = {{"PutRequest", get_one_item, 0},
                                          {"DeleteRequest", get_one_item, 0}};
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_left_writes(struct json *j, struct by_table *t)
{
    return wire_get_rows(j, &t->items, get_write);
}

static sheaf_rc get_unprocessed(struct json *j, void *to)
{
    return get_tables(j, to, get_left_writes);
}

/* A key that is put and one that is deleted look alike only when a table has nothing but keys, and
 * then AWS refuses the two in one batch. */
static sheaf_rc find_left_writes(struct ctx *c, const struct core_batch_write *q,
                                 const struct rows *tables, struct core_multi_outcome *out)
{
    uint32_t *left = ARENA_ARRAY(c->arena, uint32_t, q->n + 1u), n_left = 0;
    if (!left) return err_nomem(c->err);
    const struct by_table *t = (const struct by_table *)(const void *)tables->all;
    for (uint32_t k = 0; k < tables->n; k++) n_left += t[k].items.n;
    for (uint32_t i = 0; i < q->n; i++)
        for (uint32_t k = 0; k < tables->n; k++) {
            if (!is_same_table(q->writes[i].table, t[k].table)) continue;
            const span *items = (const span *)(const void *)t[k].items.all;
            for (uint32_t m = 0; m < t[k].items.n; m++)
                if (span_eq(items[m], q->writes[i].item)) {
                    left[out->n_unprocessed++] = i;
                    break;
                }
        }
    out->unprocessed = left;
    return out->n_unprocessed == n_left ? SHEAF_OK : stray(c, q->writes[0].table);
}

sheaf_rc client_batch_write(struct client *k, struct ctx *c, const struct core_batch_write *q,
                            struct core_multi_outcome *out)
{
    static const struct client_op op = {.name = "BatchWriteItem", .is_write = true};
    struct wire {
        struct rows left; /* of struct by_table */
        struct capacities capacity;
        struct metrics_list metrics;
    } w = {.left = {.size = sizeof(struct by_table)}};
    static const struct field fields[] = {
        FIELD(struct wire, left, "UnprocessedItems", get_unprocessed),
        FIELD(struct wire, capacity, "ConsumedCapacity", wire_get_capacities),
        FIELD(struct wire, metrics, "ItemCollectionMetrics", wire_get_metrics_map),
    };
    span body, answer;
    *out = (struct core_multi_outcome){.position = 0};
    TRY(encode_batch_write(c, q, &body));
    TRY(client_send(k, c, &op, body, &answer));
    TRY(GET_ANSWER(c, answer, fields, &w));
    client_set_totals(out, w.capacity, w.metrics);
    return find_left_writes(c, q, &w.left, out);
}
