/* The calls on streams, which have a target prefix of their own and, on AWS, a host of their own. */
#include "client/get.h"
#include "client/put.h"

static bool is_enabled(span status)
{
    return span_eq(status, SPAN_LIT("ENABLED")) || span_eq(status, SPAN_LIT("ENABLING"));
}

struct wire_stream {
    struct core_stream_info head;
    span status, view, last_shard;
    struct rows shards; /* of struct core_shard_info */
};

/* ---- ListStreams ---- */

static sheaf_rc get_stream(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct core_stream_info, arn, "StreamArn", wire_get_text),
        FIELD(struct core_stream_info, table, "TableName", wire_get_text),
        FIELD(struct core_stream_info, label, "StreamLabel", wire_get_text),
    };
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_streams(struct json *j, void *to) { return wire_get_rows(j, to, get_stream); }

/* The operation tells neither status nor view. */
sheaf_rc client_list_streams(struct client *k, struct ctx *c, const struct core_list_streams *q,
                             struct core_streams_outcome *out)
{
    static const struct client_op op = {.name = "ListStreams", .is_streams = true};
    struct wire {
        struct rows streams;
        span last;
    } w = {.streams = {.size = sizeof(struct core_stream_info)}};
    static const struct field fields[] = {
        FIELD(struct wire, streams, "Streams", get_streams),
        FIELD(struct wire, last, "LastEvaluatedStreamArn", wire_get_text),
    };
    struct buf b;
    span body, answer;
    *out = (struct core_streams_outcome){.position = 0};
    wire_put_begin(&b, c);
    wire_put_text(&b, "TableName", q->table);
    wire_put_text(&b, "ExclusiveStartStreamArn", q->after_arn);
    wire_put_number(&b, "Limit", q->limit);
    TRY(wire_put_end(&b, c, &body));
    TRY(client_send(k, c, &op, body, &answer));
    TRY(GET_ANSWER(c, answer, fields, &w));
    out->streams = (struct core_stream_info *)(void *)w.streams.all;
    out->n_streams = w.streams.n;
    for (uint32_t i = 0; i < out->n_streams; i++) out->streams[i].is_listed = true;
    if (w.last.p && out->n_streams) {
        out->last_table = out->streams[out->n_streams - 1].table;
        out->last_label = out->streams[out->n_streams - 1].label;
    }
    return SHEAF_OK;
}

/* ---- DescribeStream ---- */

static sheaf_rc get_range(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct core_shard_info, first, "StartingSequenceNumber", wire_get_text),
        FIELD(struct core_shard_info, last, "EndingSequenceNumber", wire_get_text),
    };
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_shard(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct core_shard_info, id, "ShardId", wire_get_text),
        FIELD(struct core_shard_info, parent, "ParentShardId", wire_get_text),
        {"SequenceNumberRange", get_range, 0},
    };
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_shards(struct json *j, void *to) { return wire_get_rows(j, to, get_shard); }

static sheaf_rc get_description(struct json *j, void *to)
{
    static const struct field fields[] = {
        {"StreamArn", wire_get_text, offsetof(struct wire_stream, head.arn)},
        {"TableName", wire_get_text, offsetof(struct wire_stream, head.table)},
        {"StreamLabel", wire_get_text, offsetof(struct wire_stream, head.label)},
        {"CreationRequestDateTime", wire_get_time, offsetof(struct wire_stream, head.created_us)},
        FIELD(struct wire_stream, status, "StreamStatus", wire_get_text),
        FIELD(struct wire_stream, view, "StreamViewType", wire_get_text),
        FIELD(struct wire_stream, last_shard, "LastEvaluatedShardId", wire_get_text),
        FIELD(struct wire_stream, shards, "Shards", get_shards),
    };
    return GET_OBJECT(j, fields, to);
}

sheaf_rc client_describe_stream(struct client *k, struct ctx *c,
                                const struct core_describe_stream *q,
                                struct core_stream_outcome *out)
{
    static const struct client_op op = {.name = "DescribeStream", .is_streams = true};
    static const struct field fields[] = {{"StreamDescription", get_description, 0}};
    struct wire_stream w = {.shards = {.size = sizeof(struct core_shard_info)}};
    struct buf b;
    span body, answer;
    *out = (struct core_stream_outcome){.position = 0};
    wire_put_begin(&b, c);
    wire_put_text(&b, "StreamArn", q->arn);
    wire_put_text(&b, "ExclusiveStartShardId", q->after_shard);
    wire_put_number(&b, "Limit", q->limit);
    TRY(wire_put_end(&b, c, &body));
    TRY(client_send(k, c, &op, body, &answer));
    TRY(GET_ANSWER(c, answer, fields, &w));
    out->stream = w.head;
    out->stream.is_enabled = is_enabled(w.status);
    out->stream.view = wire_get_view(w.view);
    out->shards = (struct core_shard_info *)(void *)w.shards.all;
    out->n_shards = w.shards.n;
    out->last_shard = w.last_shard;
    return SHEAF_OK;
}

/* ---- records ---- */

sheaf_rc client_get_iterator(struct client *k, struct ctx *c, const struct core_get_iterator *q,
                             struct core_iterator_outcome *out)
{
    static const struct client_op op = {.name = "GetShardIterator", .is_streams = true};
    static const char *const types[] = {"TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER",
                                        "AFTER_SEQUENCE_NUMBER"};
    static const struct field fields[] = {
        FIELD(struct core_iterator_outcome, iterator, "ShardIterator", wire_get_text)};
    struct buf b;
    span body, answer;
    *out = (struct core_iterator_outcome){.position = 0};
    wire_put_begin(&b, c);
    wire_put_text(&b, "StreamArn", q->arn);
    wire_put_text(&b, "ShardId", q->shard);
    PUT_WORD(&b, "ShardIteratorType", types, q->type);
    wire_put_text(&b, "SequenceNumber", q->sequence);
    TRY(wire_put_end(&b, c, &body));
    TRY(client_send(k, c, &op, body, &answer));
    return GET_ANSWER(c, answer, fields, out);
}

struct wire_record {
    struct core_record head;
    span event, view, principal;
};

static sheaf_rc get_change(struct json *j, void *to)
{
    static const struct field fields[] = {
        {"ApproximateCreationDateTime", wire_get_time,
         offsetof(struct wire_record, head.created_us)},
        {"Keys", wire_get_item, offsetof(struct wire_record, head.keys)},
        {"NewImage", wire_get_item, offsetof(struct wire_record, head.new_image)},
        {"OldImage", wire_get_item, offsetof(struct wire_record, head.old_image)},
        {"SequenceNumber", wire_get_text, offsetof(struct wire_record, head.sequence)},
        {"SizeBytes", wire_get_u64, offsetof(struct wire_record, head.size)},
        FIELD(struct wire_record, view, "StreamViewType", wire_get_text),
    };
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_identity(struct json *j, void *to)
{
    static const struct field fields[] = {{"PrincipalId", wire_get_text, 0},
                                          {"principalId", wire_get_text, 0}};
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_record(struct json *j, void *to)
{
    static const struct field fields[] = {
        {"eventID", wire_get_text, offsetof(struct wire_record, head.id)},
        FIELD(struct wire_record, event, "eventName", wire_get_text),
        {"dynamodb", get_change, 0},
        FIELD(struct wire_record, principal, "userIdentity", get_identity),
    };
    return GET_OBJECT(j, fields, to);
}

static sheaf_rc get_record_list(struct json *j, void *to)
{
    return wire_get_rows(j, to, get_record);
}

static sheaf_rc set_records(struct ctx *c, const struct rows *found, struct core_records *out)
{
    static const char *const events[] = {"INSERT", "MODIFY", "REMOVE"};
    const struct wire_record *w = (const struct wire_record *)(const void *)found->all;
    out->records = ARENA_ARRAY(c->arena, struct core_record, found->n + 1u);
    if (!out->records) return err_nomem(c->err);
    for (uint32_t i = 0; i < found->n; i++) {
        uint32_t event = GET_PLACE(w[i].event, events);
        if (event == 3)
            return err_set(c->err, SHEAF_INTERNAL,
                           "The server's answer cannot be read: the event %.*s",
                           SPAN_ARG(w[i].event));
        out->records[i] = w[i].head;
        out->records[i].event = (enum core_event)event;
        out->records[i].is_ttl = span_eq(w[i].principal, SPAN_LIT("dynamodb.amazonaws.com"));
    }
    out->n = found->n;
    if (found->n) out->view = wire_get_view(w[0].view);
    return SHEAF_OK;
}

sheaf_rc client_get_records(struct client *k, struct ctx *c, span iterator, uint32_t limit,
                            struct core_records *out)
{
    static const struct client_op op = {.name = "GetRecords", .is_streams = true};
    struct wire {
        struct rows records;
        span next;
    } w = {.records = {.size = sizeof(struct wire_record)}};
    static const struct field fields[] = {
        FIELD(struct wire, records, "Records", get_record_list),
        FIELD(struct wire, next, "NextShardIterator", wire_get_text),
    };
    struct buf b;
    span body, answer;
    *out = (struct core_records){.position = 0};
    wire_put_begin(&b, c);
    wire_put_text(&b, "ShardIterator", iterator);
    wire_put_number(&b, "Limit", limit);
    TRY(wire_put_end(&b, c, &body));
    TRY(client_send(k, c, &op, body, &answer));
    TRY(GET_ANSWER(c, answer, fields, &w));
    out->next_iterator = w.next;
    return set_records(c, &w.records, out);
}
