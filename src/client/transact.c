/* TransactWriteItems, and why a transaction was canceled.
 *
 * Know before editing: a transaction goes out with a token, one of ours when the caller has none.
 * That makes the attempts of one call one transaction for the server, however many of them arrive. */
#include "client/get.h"
#include "client/put.h"

static void put_action(struct buf *b, const struct core_write *w)
{
    static const char *const names[] = {"Put", "Update", "Delete", "ConditionCheck"};
    wire_put_next(b);
    buf_put_u8(b, '{');
    wire_put_open(b, names[w->action], '{');
    wire_put_text(b, "TableName", w->table);
    wire_put_item(b, w->action == CORE_PUT ? "Item" : "Key", w->item);
    wire_put_text(b, "UpdateExpression", w->update);
    wire_put_text(b, "ConditionExpression", w->condition);
    wire_put_names(b, w->env);
    wire_put_values(b, w->env);
    if (w->wants_old_on_failure)
        wire_put_text(b, "ReturnValuesOnConditionCheckFailure", SPAN_LIT("ALL_OLD"));
    buf_put(b, "}}", 2);
}

/* 32 hexadecimal digits: 36 characters are the most that AWS takes. */
static sheaf_rc put_token(struct ctx *c, struct buf *b, span given)
{
    uint8_t bytes[16];
    char text[33];
    if (given.p) {
        wire_put_text(b, "ClientRequestToken", given);
        return SHEAF_OK;
    }
    if (!rng_secret(bytes, sizeof bytes))
        return err_set(c->err, SHEAF_INTERNAL, "the kernel has no randomness for a token");
    for (size_t i = 0; i < sizeof bytes; i++) {
        text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    wire_put_text(b, "ClientRequestToken", SPAN(text, 32));
    return SHEAF_OK;
}

static sheaf_rc encode(struct ctx *c, const struct core_transact_write *q, span *body_out)
{
    struct buf b;
    wire_put_begin(&b, c);
    wire_put_open(&b, "TransactItems", '[');
    for (uint32_t i = 0; i < q->n; i++) put_action(&b, &q->writes[i]);
    wire_put_close(&b, ']');
    TRY(put_token(c, &b, q->token));
    wire_put_capacity(&b, q->capacity);
    wire_put_metrics(&b, q->wants_metrics);
    return wire_put_end(&b, c, body_out);
}

/* ---- reasons ---- */

struct wire_reason {
    span code, message, item;
};

static sheaf_rc get_reason(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct wire_reason, code, "Code", wire_get_text),
        FIELD(struct wire_reason, message, "Message", wire_get_text),
        FIELD(struct wire_reason, item, "Item", wire_get_item),
    };
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_reasons(struct json *j, void *to) { return wire_get_rows(j, to, get_reason); }

static sheaf_rc rc_of(span code)
{
    static const struct {
        const char *code;
        sheaf_rc rc;
    } all[] = {{"None", SHEAF_OK},
               {"ConditionalCheckFailed", SHEAF_CONDITIONAL_CHECK_FAILED},
               {"TransactionConflict", SHEAF_TRANSACTION_CONFLICT},
               {"ItemCollectionSizeLimitExceeded", SHEAF_ITEM_COLLECTION_SIZE},
               {"ProvisionedThroughputExceeded", SHEAF_THROUGHPUT_EXCEEDED},
               {"ThrottlingError", SHEAF_THROTTLED},
               {"ValidationError", SHEAF_VALIDATION}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (span_eq(code, span_cstr(all[i].code))) return all[i].rc;
    return SHEAF_INTERNAL;
}

static const char *text_of(struct ctx *c, span text)
{
    char *p = (char *)arena_bytes(c->arena, text.n + 1);
    if (!p) return "out of memory";
    if (text.n) memcpy(p, text.p, text.n);
    p[text.n] = '\0';
    return p;
}

void client_reasons(struct ctx *c, span answer, uint32_t n, struct core_multi_outcome *out)
{
    static const struct field fields[] = {{"CancellationReasons", get_reasons, 0}};
    struct rows found = {.size = sizeof(struct wire_reason)};
    struct ctx quiet = {c->arena, NULL};
    if (GET_ANSWER(&quiet, answer, fields, &found) != SHEAF_OK) return;
    const struct wire_reason *all = (const struct wire_reason *)(const void *)found.all;
    out->written = ARENA_ARRAY(c->arena, struct core_written, found.n + 1u);
    if (!out->written) return;
    for (uint32_t i = 0; i < found.n && i < n; i++)
        out->written[out->n++] =
            (struct core_written){rc_of(all[i].code), text_of(c, all[i].message), all[i].item};
}

sheaf_rc client_transact_write(struct client *k, struct ctx *c, const struct core_transact_write *q,
                               struct core_multi_outcome *out)
{
    static const struct client_op op = {.name = "TransactWriteItems", .is_write = true};
    struct wire {
        struct capacities capacity;
        struct metrics_list metrics;
    } w = {.capacity = {.n = 0}};
    static const struct field fields[] = {
        FIELD(struct wire, capacity, "ConsumedCapacity", wire_get_capacities),
        FIELD(struct wire, metrics, "ItemCollectionMetrics", wire_get_metrics_map),
    };
    span body, answer;
    *out = (struct core_multi_outcome){.position = 0};
    TRY(encode(c, q, &body));
    sheaf_rc rc = client_send(k, c, &op, body, &answer);
    if (rc == SHEAF_TRANSACTION_CANCELED) client_reasons(c, answer, q->n, out);
    TRY(rc);
    TRY(GET_ANSWER(c, answer, fields, &w));
    client_set_totals(out, w.capacity, w.metrics);
    return SHEAF_OK;
}
