/* The calls on tables: schemas out, descriptions in. Know before editing: what the public API cannot
 * ask for (tags, encryption, on-demand limits) is not written; the asserts say so. */
#include "client/get.h"
#include "client/put.h"

#include <assert.h>

static const char *const projection_words[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
static const char *const view_words[] = {"", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE",
                                         "NEW_AND_OLD_IMAGES"};
#define INFREQUENT "STANDARD_INFREQUENT_ACCESS"

/* ---- schemas ---- */

static void put_key(struct buf *b, span name, const char *kind)
{
    if (!name.p) return;
    wire_put_next(b);
    buf_put_u8(b, '{');
    wire_put_text(b, "AttributeName", name);
    wire_put_text(b, "KeyType", span_cstr(kind));
    wire_put_close(b, '}');
}

static void put_keys(struct buf *b, const struct core_key *hash, uint32_t n_hash,
                     const struct core_key *range, uint32_t n_range)
{
    wire_put_open(b, "KeySchema", '[');
    for (uint32_t i = 0; i < n_hash; i++) put_key(b, hash[i].name, "HASH");
    for (uint32_t i = 0; i < n_range; i++) put_key(b, range[i].name, "RANGE");
    wire_put_close(b, ']');
}

/* AttributeDefinitions: each name and type once, in the order of mention. Two types for one name go
 * out both, and the server refuses them. */
struct definitions {
    struct buf *b;
    struct rows all; /* of struct core_key */
};

static bool is_defined(const struct definitions *d, const struct core_key *key)
{
    const struct core_key *all = (const struct core_key *)(const void *)d->all.all;
    for (uint32_t i = 0; i < d->all.n; i++)
        if (all[i].type == key->type && span_eq(all[i].name, key->name)) return true;
    return false;
}

static sheaf_rc define(struct ctx *c, struct definitions *d, const struct core_key *keys,
                       uint32_t n)
{
    static const char *const types[] = {"", "S", "N", "B"}; /* as enum val_type */
    for (uint32_t i = 0; i < n; i++) {
        if (!keys[i].name.p || is_defined(d, &keys[i])) continue;
        struct core_key *row = wire_get_row(c, &d->all);
        if (!row) return SHEAF_NOMEM;
        *row = keys[i];
        if (keys[i].type == VAL_NONE) continue;
        wire_put_next(d->b);
        buf_put_u8(d->b, '{');
        wire_put_text(d->b, "AttributeName", keys[i].name);
        PUT_WORD(d->b, "AttributeType", types, keys[i].type);
        wire_put_close(d->b, '}');
    }
    return SHEAF_OK;
}

static sheaf_rc define_index(struct ctx *c, struct definitions *d, const struct core_index_def *x)
{
    TRY(define(c, d, x->hash, x->n_hash));
    return define(c, d, x->range, x->n_range);
}

static void put_units(struct buf *b, uint64_t read, uint64_t write)
{
    wire_put_open(b, "ProvisionedThroughput", '{');
    wire_put_count(b, "ReadCapacityUnits", read);
    wire_put_count(b, "WriteCapacityUnits", write);
    wire_put_close(b, '}');
}

static void put_projection(struct buf *b, const struct core_index_def *x)
{
    wire_put_open(b, "Projection", '{');
    PUT_WORD(b, "ProjectionType", projection_words, x->projection);
    if (x->n_include) wire_put_open(b, "NonKeyAttributes", '[');
    for (uint32_t i = 0; i < x->n_include; i++) {
        wire_put_next(b);
        json_put_text(b, x->include[i]);
    }
    if (x->n_include) wire_put_close(b, ']');
    wire_put_close(b, '}');
}

/* The members of an index that is to be made. */
static void put_index(struct buf *b, const struct core_index_def *x)
{
    assert(!x->on_demand.has_read && !x->on_demand.has_write);
    assert(!x->warm.has_read && !x->warm.has_write);
    wire_put_text(b, "IndexName", x->name);
    put_keys(b, x->hash, x->n_hash, x->range, x->n_range);
    put_projection(b, x);
    if (x->read_units || x->write_units) put_units(b, x->read_units, x->write_units);
}

static void put_indexes(struct buf *b, const struct core_create_table *q, bool is_local)
{
    bool is_open = false;
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        if (q->indexes[i].is_local != is_local) continue;
        if (!is_open)
            wire_put_open(b, is_local ? "LocalSecondaryIndexes" : "GlobalSecondaryIndexes", '[');
        is_open = true;
        wire_put_next(b);
        buf_put_u8(b, '{');
        put_index(b, &q->indexes[i]);
        wire_put_close(b, '}');
    }
    if (is_open) wire_put_close(b, ']');
}

static void put_stream(struct buf *b, bool is_on, enum core_stream_view view)
{
    wire_put_open(b, "StreamSpecification", '{');
    wire_put_bool(b, "StreamEnabled", is_on);
    if (is_on) PUT_WORD(b, "StreamViewType", view_words, view);
    wire_put_close(b, '}');
}

static sheaf_rc encode_create(struct ctx *c, const struct core_create_table *q, span *body_out)
{
    assert(!q->is_kms && !q->n_tags && !q->definitions);
    assert(!q->on_demand.has_read && !q->on_demand.has_write);
    struct buf b;
    struct definitions d = {&b, {.size = sizeof(struct core_key)}};
    wire_put_begin(&b, c);
    wire_put_text(&b, "TableName", q->table);
    if (q->hash.name.p) put_keys(&b, &q->hash, 1, &q->range, 1);
    wire_put_open(&b, "AttributeDefinitions", '[');
    TRY(define(c, &d, &q->hash, 1));
    TRY(define(c, &d, &q->range, 1));
    for (uint32_t i = 0; i < q->n_indexes; i++) TRY(define_index(c, &d, &q->indexes[i]));
    wire_put_close(&b, ']');
    put_indexes(&b, q, false);
    put_indexes(&b, q, true);
    wire_put_text(&b, "BillingMode",
                  q->is_provisioned ? SPAN_LIT("PROVISIONED") : SPAN_LIT("PAY_PER_REQUEST"));
    if (q->is_provisioned || q->read_units || q->write_units)
        put_units(&b, q->read_units, q->write_units);
    if (q->stream) put_stream(&b, true, q->stream);
    wire_put_true(&b, "DeletionProtectionEnabled", q->is_protected);
    if (q->is_infrequent) wire_put_text(&b, "TableClass", SPAN_LIT(INFREQUENT));
    return wire_put_end(&b, c, body_out);
}

/* ---- changes ---- */

static void put_index_updates(struct buf *b, const struct core_update_table *q)
{
    uint32_t n = core_n_updates(q);
    if (!q->create_index && !q->delete_index.p && n == 0) return;
    wire_put_open(b, "GlobalSecondaryIndexUpdates", '[');
    if (q->create_index) {
        buf_put_span(b, SPAN_LIT("{\"Create\":{"));
        put_index(b, q->create_index);
        buf_put(b, "}}", 2);
    }
    if (q->delete_index.p) {
        wire_put_next(b);
        buf_put_span(b, SPAN_LIT("{\"Delete\":{"));
        wire_put_text(b, "IndexName", q->delete_index);
        buf_put(b, "}}", 2);
    }
    for (uint32_t i = 0; i < n; i++) {
        wire_put_next(b);
        buf_put_span(b, SPAN_LIT("{\"Update\":{"));
        wire_put_text(b, "IndexName", q->update_index[i].name);
        put_units(b, q->update_index[i].read_units, q->update_index[i].write_units);
        buf_put(b, "}}", 2);
    }
    wire_put_close(b, ']');
}

/* A switch that is no switch goes out as its number, for the server to refuse. */
static void put_switch(struct buf *b, const char *name, enum core_switch s)
{
    if (s == CORE_ON || s == CORE_OFF)
        wire_put_bool(b, name, s == CORE_ON);
    else if (s != CORE_UNCHANGED)
        wire_put_count(b, name, (uint64_t)s);
}

static sheaf_rc encode_update(struct ctx *c, const struct core_update_table *q, span *body_out)
{
    static const char *const classes[] = {"", INFREQUENT, "STANDARD"};
    static const char *const modes[] = {"", "PROVISIONED", "PAY_PER_REQUEST"};
    assert(!q->kms && !q->definitions && !q->on_demand.has_read && !q->on_demand.has_write);
    struct buf b;
    struct definitions d = {&b, {.size = sizeof(struct core_key)}};
    wire_put_begin(&b, c);
    wire_put_text(&b, "TableName", q->table);
    if (q->create_index) {
        wire_put_open(&b, "AttributeDefinitions", '[');
        TRY(define_index(c, &d, q->create_index));
        wire_put_close(&b, ']');
    }
    put_index_updates(&b, q);
    PUT_WORD(&b, "BillingMode", modes, q->provisioned);
    if (q->throughput == CORE_ON) put_units(&b, q->read_units, q->write_units);
    put_switch(&b, "DeletionProtectionEnabled", q->protection);
    PUT_WORD(&b, "TableClass", classes, q->infrequent);
    if (q->stream == CORE_ON || q->stream == CORE_OFF)
        put_stream(&b, q->stream == CORE_ON, q->view);
    else if (q->stream != CORE_UNCHANGED)
        wire_put_count(&b, "StreamSpecification", (uint64_t)q->stream);
    return wire_put_end(&b, c, body_out);
}

/* ---- the calls ---- */

static sheaf_rc table_call(struct client *k, struct ctx *c, const struct client_op *op, span body,
                           struct core_table_outcome *out)
{
    span answer;
    TRY(client_send(k, c, op, body, &answer));
    return wire_get_table(c, answer, &out->table);
}

sheaf_rc client_create_table(struct client *k, struct ctx *c, const struct core_create_table *q,
                             struct core_table_outcome *out)
{
    static const struct client_op op = {.name = "CreateTable", .is_write = true};
    span body;
    *out = (struct core_table_outcome){.position = 0};
    TRY(encode_create(c, q, &body));
    return table_call(k, c, &op, body, out);
}

sheaf_rc client_update_table(struct client *k, struct ctx *c, const struct core_update_table *q,
                             struct core_table_outcome *out)
{
    static const struct client_op op = {.name = "UpdateTable", .is_write = true};
    span body;
    *out = (struct core_table_outcome){.position = 0};
    TRY(encode_update(c, q, &body));
    return table_call(k, c, &op, body, out);
}

static sheaf_rc encode_name(struct ctx *c, span table, span *body_out)
{
    struct buf b;
    wire_put_begin(&b, c);
    wire_put_text(&b, "TableName", table);
    return wire_put_end(&b, c, body_out);
}

static sheaf_rc by_name(struct client *k, struct ctx *c, const struct client_op *op, span table,
                        struct core_table_outcome *out)
{
    span body;
    *out = (struct core_table_outcome){.position = 0};
    TRY(encode_name(c, table, &body));
    return table_call(k, c, op, body, out);
}

sheaf_rc client_describe_table(struct client *k, struct ctx *c, span table,
                               struct core_table_outcome *out)
{
    static const struct client_op op = {.name = "DescribeTable"};
    return by_name(k, c, &op, table, out);
}

sheaf_rc client_delete_table(struct client *k, struct ctx *c, span table,
                             struct core_table_outcome *out)
{
    static const struct client_op op = {.name = "DeleteTable", .is_write = true};
    return by_name(k, c, &op, table, out);
}

sheaf_rc client_list_tables(struct client *k, struct ctx *c, const struct core_list_tables *q,
                            struct core_names_outcome *out)
{
    static const struct client_op op = {.name = "ListTables"};
    struct wire {
        struct texts names;
        span last;
    } w = {.last = SPAN_NONE};
    static const struct field fields[] = {
        FIELD(struct wire, names, "TableNames", wire_get_texts),
        FIELD(struct wire, last, "LastEvaluatedTableName", wire_get_text),
    };
    struct buf b;
    span body, answer;
    *out = (struct core_names_outcome){.position = 0};
    wire_put_begin(&b, c);
    wire_put_text(&b, "ExclusiveStartTableName", q->after);
    wire_put_number(&b, "Limit", q->limit);
    TRY(wire_put_end(&b, c, &body));
    TRY(client_send(k, c, &op, body, &answer));
    TRY(GET_ANSWER(c, answer, fields, &w));
    *out = (struct core_names_outcome){.names = w.names.all, .n = w.names.n, .last = w.last};
    return SHEAF_OK;
}

/* ---- time to live ---- */

sheaf_rc client_update_ttl(struct client *k, struct ctx *c, span table, span attribute, bool is_on,
                           sheaf_position *position_out)
{
    static const struct client_op op = {.name = "UpdateTimeToLive", .is_write = true};
    struct buf b;
    span body, answer;
    *position_out = 0;
    wire_put_begin(&b, c);
    wire_put_text(&b, "TableName", table);
    wire_put_open(&b, "TimeToLiveSpecification", '{');
    wire_put_text(&b, "AttributeName", attribute);
    wire_put_bool(&b, "Enabled", is_on);
    wire_put_close(&b, '}');
    TRY(wire_put_end(&b, c, &body));
    return client_send(k, c, &op, body, &answer);
}

struct wire_ttl {
    span attribute, status;
};

static sheaf_rc get_ttl(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct wire_ttl, attribute, "AttributeName", wire_get_text),
        FIELD(struct wire_ttl, status, "TimeToLiveStatus", wire_get_text),
    };
    return GET_OBJECT(j, fields, to);
}

sheaf_rc client_describe_ttl(struct client *k, struct ctx *c, span table, span *attribute_out,
                             sheaf_position *position_out)
{
    static const struct client_op op = {.name = "DescribeTimeToLive"};
    static const struct field fields[] = {{"TimeToLiveDescription", get_ttl, 0}};
    struct wire_ttl w = {.status = SPAN_NONE};
    span body, answer;
    *position_out = 0;
    *attribute_out = SPAN_NONE;
    TRY(encode_name(c, table, &body));
    TRY(client_send(k, c, &op, body, &answer));
    TRY(GET_ANSWER(c, answer, fields, &w));
    if (span_eq(w.status, SPAN_LIT("ENABLED")) || span_eq(w.status, SPAN_LIT("ENABLING")))
        *attribute_out = w.attribute;
    return SHEAF_OK;
}
