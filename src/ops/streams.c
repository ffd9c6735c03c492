/* The four operations on streams. A stream is named by its ARN, …:table/<table>/stream/<label>.
 *
 * Know before editing: SDKs find these under another target prefix, DynamoDBStreams_20120810. */
#include "ops/tables.h"

/* ---- ARNs ---- */

/* p == NULL stays so. */
static sheaf_rc take_arn(struct ctx *c, span arn, span *table_out, span *label_out)
{
    static const span mark = {"/stream/", 8};
    *table_out = *label_out = SPAN_NONE;
    if (!arn.p) return SHEAF_OK;
    const char *label = memmem(arn.p, arn.n, mark.p, mark.n);
    *table_out = op_table_name(arn);
    if (!label || !span_starts(arn, SPAN_LIT("arn:")) || table_out->n == arn.n)
        return err_validation(c->err, "Invalid StreamArn");
    *label_out = span_from(arn, (size_t)(label - (const char *)arn.p) + mark.n);
    return SHEAF_OK;
}

static const struct shape stream_arn = {.kind = SHAPE_STRING,
                                        .is_table = true,
                                        .has_min = true,
                                        .min = 37,
                                        .has_max = true,
                                        .max = 1024};
static const struct shape shard_id = {
    .kind = SHAPE_STRING, .has_min = true, .min = 28, .has_max = true, .max = 65};
static const struct shape page_limit = {
    .kind = SHAPE_INT, .has_min = true, .min = 1, .has_max = true, .max = 100};
static const struct shape shape_time = {.kind = SHAPE_TIME};
static const struct shape shape_long = {.kind = SHAPE_LONG};

/* ---- ListStreams ---- */

struct list_in {
    span table, after;
    struct shape_int limit;
};
struct out_stream {
    span arn, table, label;
};
struct list_out {
    struct shape_list streams;
    span last;
};
static const struct member list_members[] = {
    MEMBER(struct list_in, table, "TableName", shape_named_table, 0),
    MEMBER(struct list_in, limit, "Limit", page_limit, 0),
    MEMBER(struct list_in, after, "ExclusiveStartStreamArn", stream_arn, 0),
};
static const struct shape list_shape = STRUCT_SHAPE(struct list_in, list_members);
static const struct member stream_members[] = {
    MEMBER(struct out_stream, arn, "StreamArn", shape_string, 0),
    MEMBER(struct out_stream, table, "TableName", shape_string, 0),
    MEMBER(struct out_stream, label, "StreamLabel", shape_string, 0),
};
static const struct shape stream_shape = STRUCT_SHAPE(struct out_stream, stream_members);
static const struct shape streams_shape = {.kind = SHAPE_LIST, .of = &stream_shape};
static const struct member listed_members[] = {
    MEMBER(struct list_out, streams, "Streams", streams_shape, 0),
    MEMBER(struct list_out, last, "LastEvaluatedStreamArn", shape_string, 0),
};
static const struct shape listed_shape = STRUCT_SHAPE(struct list_out, listed_members);

static sheaf_rc put_streams(struct op_call *call, const struct core_streams_outcome *got,
                            struct shape_list *out)
{
    struct ctx *c = call->c;
    struct out_stream **all = ARENA_ARRAY(c->arena, struct out_stream *, got->n_streams + 1);
    if (!all) return err_nomem(c->err);
    for (uint32_t i = 0; i < got->n_streams; i++) {
        const struct core_stream_info *s = &got->streams[i];
        all[i] = ARENA_NEW(c->arena, struct out_stream);
        if (!all[i]) return err_nomem(c->err);
        *all[i] = (struct out_stream){op_table_arn(call, s->table, "/stream/", s->label), s->table,
                                      s->label};
        if (!all[i]->arn.p) return err_nomem(c->err);
    }
    *out = (struct shape_list){.all = all, .n = got->n_streams, .has = true};
    return SHEAF_OK;
}

/* Without a table it shows those of all, so it needs the right to all. */
static sheaf_rc may_list(struct op_call *call, const struct list_in *in)
{
    const struct op_request *q = call->request;
    return in->table.p || !q->may ? SHEAF_OK : q->may(q->may_ctx, q->op, SPAN_NONE, call->c->err);
}

static sheaf_rc run_list(struct op_call *call, const void *in_, void *out_)
{
    const struct list_in *in = in_;
    struct list_out *out = out_;
    struct core_list_streams q = {.table = in->table, .limit = (uint32_t)in->limit.v};
    struct core_streams_outcome got;
    TRY(may_list(call, in));
    TRY(take_arn(call->c, in->after, &q.after_table, &q.after_label));
    sheaf_rc rc = core_list_streams(call->core, call->c, &q, &got);
    call->position = got.position;
    TRY(rc);
    if (got.last_table.p) {
        out->last = op_table_arn(call, got.last_table, "/stream/", got.last_label);
        if (!out->last.p) return err_nomem(call->c->err);
    }
    return put_streams(call, &got, &out->streams);
}

const struct op op_ListStreams = {.name = "ListStreams",
                                  .is_streams = true,
                                  .input = &list_shape,
                                  .output = &listed_shape,
                                  .run = run_list};

/* ---- DescribeStream ---- */

struct filter_in {
    struct shape_word type;
    span shard;
};
struct describe_in {
    span arn, after;
    struct filter_in *filter;
    struct shape_int limit;
};
struct out_range {
    span first, last;
};
struct out_shard {
    span id, parent;
    struct out_range *range;
};
struct out_description {
    span arn, label, status, view, table, last;
    struct shape_int created;
    struct shape_list keys, shards;
};
struct describe_out {
    struct out_description *stream;
};
static const char *const filter_words[] = {"CHILD_SHARDS", NULL};
static const struct shape filter_type = {
    .kind = SHAPE_ENUM, .words = filter_words, .words_text = "[CHILD_SHARDS]"};
static const struct member filter_members[] = {
    MEMBER(struct filter_in, type, "Type", filter_type, 0),
    MEMBER(struct filter_in, shard, "ShardId", shard_id, 0),
};
static const struct shape filter_shape = STRUCT_SHAPE(struct filter_in, filter_members);
static const struct member describe_members[] = {
    MEMBER(struct describe_in, arn, "StreamArn", stream_arn, REQUIRED),
    MEMBER(struct describe_in, limit, "Limit", page_limit, 0),
    MEMBER(struct describe_in, after, "ExclusiveStartShardId", shard_id, 0),
    MEMBER(struct describe_in, filter, "ShardFilter", filter_shape, 0),
};
static const struct shape describe_shape = STRUCT_SHAPE(struct describe_in, describe_members);
static const struct member range_members[] = {
    MEMBER(struct out_range, first, "StartingSequenceNumber", shape_string, 0),
    MEMBER(struct out_range, last, "EndingSequenceNumber", shape_string, 0),
};
static const struct shape range_shape = STRUCT_SHAPE(struct out_range, range_members);
static const struct member shard_members[] = {
    MEMBER(struct out_shard, id, "ShardId", shape_string, 0),
    MEMBER(struct out_shard, range, "SequenceNumberRange", range_shape, 0),
    MEMBER(struct out_shard, parent, "ParentShardId", shape_string, 0),
};
static const struct shape shard_shape = STRUCT_SHAPE(struct out_shard, shard_members);
static const struct shape shards_shape = {.kind = SHAPE_LIST, .of = &shard_shape};
static const struct member description_members[] = {
    MEMBER(struct out_description, arn, "StreamArn", shape_string, 0),
    MEMBER(struct out_description, label, "StreamLabel", shape_string, 0),
    MEMBER(struct out_description, status, "StreamStatus", shape_string, 0),
    MEMBER(struct out_description, view, "StreamViewType", shape_string, 0),
    MEMBER(struct out_description, created, "CreationRequestDateTime", shape_time, 0),
    MEMBER(struct out_description, table, "TableName", shape_string, 0),
    MEMBER(struct out_description, keys, "KeySchema", shape_out_keys, 0),
    MEMBER(struct out_description, shards, "Shards", shards_shape, 0),
    MEMBER(struct out_description, last, "LastEvaluatedShardId", shape_string, 0),
};
static const struct shape description_shape =
    STRUCT_SHAPE(struct out_description, description_members);
static const struct member described_members[] = {
    MEMBER(struct describe_out, stream, "StreamDescription", description_shape, 0),
};
static const struct shape described_shape = STRUCT_SHAPE(struct describe_out, described_members);

static sheaf_rc put_shards(struct ctx *c, const struct core_stream_outcome *got, span parent,
                           struct shape_list *out)
{
    struct out_shard **all = ARENA_ARRAY(c->arena, struct out_shard *, got->n_shards + 1);
    if (!all) return err_nomem(c->err);
    *out = (struct shape_list){.all = all, .has = true};
    for (uint32_t i = 0; i < got->n_shards; i++) {
        const struct core_shard_info *s = &got->shards[i];
        if (parent.p && !span_eq(s->parent, parent)) continue;
        struct out_range *range = ARENA_NEW(c->arena, struct out_range);
        all[out->n] = ARENA_NEW(c->arena, struct out_shard);
        if (!all[out->n] || !range) return err_nomem(c->err);
        *range = (struct out_range){s->first, s->last};
        *all[out->n++] = (struct out_shard){s->id, s->parent, range};
    }
    return SHEAF_OK;
}

/* parent.p == NULL: all shards, else the children of one. */
static sheaf_rc put_stream(struct op_call *call, const struct core_stream_outcome *got, span parent,
                           struct out_description **out)
{
    struct ctx *c = call->c;
    const struct core_stream_info *s = &got->stream;
    *out = ARENA_NEW(c->arena, struct out_description);
    if (!*out) return err_nomem(c->err);
    **out = (struct out_description){.arn = op_table_arn(call, s->table, "/stream/", s->label),
                                     .label = s->label,
                                     .status =
                                         s->is_enabled ? SPAN_LIT("ENABLED") : SPAN_LIT("DISABLED"),
                                     .view = op_table_view_name(s->view),
                                     .table = s->table,
                                     .last = got->last_shard,
                                     .created = {s->created_us, true}};
    if (!(*out)->arn.p) return err_nomem(c->err);
    TRY(op_table_out_keys(c, &s->hash, 1, &s->range, s->range.name.p ? 1 : 0, &(*out)->keys));
    return put_shards(c, got, parent, &(*out)->shards);
}

static sheaf_rc run_describe(struct op_call *call, const void *in_, void *out_)
{
    const struct describe_in *in = in_;
    struct describe_out *out = out_;
    struct core_describe_stream q = {.after_shard = in->after, .limit = (uint32_t)in->limit.v};
    struct core_stream_outcome got;
    if (in->filter && (!in->filter->type.i || !in->filter->shard.p))
        return err_validation(call->c->err, "ShardFilter must have a Type and a ShardId");
    TRY(take_arn(call->c, in->arn, &q.table, &q.label));
    sheaf_rc rc = core_describe_stream(call->core, call->c, &q, &got);
    call->position = got.position;
    TRY(rc);
    return put_stream(call, &got, in->filter ? in->filter->shard : SPAN_NONE, &out->stream);
}

const struct op op_DescribeStream = {.name = "DescribeStream",
                                     .is_streams = true,
                                     .input = &describe_shape,
                                     .output = &described_shape,
                                     .run = run_describe};

/* ---- GetShardIterator ---- */

struct iterator_in {
    span arn, shard, sequence;
    struct shape_word type;
};
struct iterator_out {
    span iterator;
};
/* In the order of enum core_iterator. */
static const char *const iterator_words[] = {"TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER",
                                             "AFTER_SEQUENCE_NUMBER", NULL};
static const struct shape iterator_type = {
    .kind = SHAPE_ENUM,
    .words = iterator_words,
    .words_text = "[AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]"};
static const struct shape sequence_shape = {
    .kind = SHAPE_STRING, .has_min = true, .min = 21, .has_max = true, .max = 40};
static const struct member iterator_members[] = {
    MEMBER(struct iterator_in, type, "ShardIteratorType", iterator_type, REQUIRED),
    MEMBER(struct iterator_in, shard, "ShardId", shard_id, REQUIRED),
    MEMBER(struct iterator_in, arn, "StreamArn", stream_arn, REQUIRED),
    MEMBER(struct iterator_in, sequence, "SequenceNumber", sequence_shape, 0),
};
static const struct shape iterator_shape = STRUCT_SHAPE(struct iterator_in, iterator_members);
static const struct member iterator_out_members[] = {
    MEMBER(struct iterator_out, iterator, "ShardIterator", shape_string, 0),
};
static const struct shape iterator_out_shape =
    STRUCT_SHAPE(struct iterator_out, iterator_out_members);

static sheaf_rc run_iterator(struct op_call *call, const void *in_, void *out_)
{
    const struct iterator_in *in = in_;
    struct iterator_out *out = out_;
    struct core_get_iterator q = {
        .shard = in->shard, .type = (enum core_iterator)(in->type.i - 1), .sequence = in->sequence};
    TRY(take_arn(call->c, in->arn, &q.table, &q.label));
    struct core_iterator_outcome got;
    sheaf_rc rc = core_get_iterator(call->core, call->c, &q, &got);
    call->position = got.position;
    out->iterator = got.iterator;
    return rc;
}

const struct op op_GetShardIterator = {.name = "GetShardIterator",
                                       .is_streams = true,
                                       .input = &iterator_shape,
                                       .output = &iterator_out_shape,
                                       .run = run_iterator};

/* ---- GetRecords ---- */

struct records_in {
    span iterator;
    struct shape_int limit;
};
struct out_identity {
    span principal, type;
};
struct out_change {
    struct shape_int created, size;
    struct json_item keys, old_image, new_image;
    span sequence, view;
};
struct out_record {
    span id, name, version, source, region;
    struct out_change *change;
    struct out_identity *identity;
};
struct records_out {
    struct shape_list records;
    span next;
};
static const struct shape iterator_text = {.kind = SHAPE_STRING, .has_min = true, .min = 1};
static const struct shape records_limit = {
    .kind = SHAPE_INT, .has_min = true, .min = 1, .has_max = true, .max = 1000};
static const struct member records_members[] = {
    MEMBER(struct records_in, iterator, "ShardIterator", iterator_text, REQUIRED),
    MEMBER(struct records_in, limit, "Limit", records_limit, 0),
};
static const struct shape records_shape = STRUCT_SHAPE(struct records_in, records_members);
static const struct member identity_members[] = {
    MEMBER(struct out_identity, principal, "PrincipalId", shape_string, 0),
    MEMBER(struct out_identity, type, "Type", shape_string, 0),
};
static const struct shape identity_shape = STRUCT_SHAPE(struct out_identity, identity_members);
static const struct member change_members[] = {
    MEMBER(struct out_change, created, "ApproximateCreationDateTime", shape_long, 0),
    MEMBER(struct out_change, keys, "Keys", shape_item, 0),
    MEMBER(struct out_change, new_image, "NewImage", shape_item, 0),
    MEMBER(struct out_change, old_image, "OldImage", shape_item, 0),
    MEMBER(struct out_change, sequence, "SequenceNumber", shape_string, 0),
    MEMBER(struct out_change, size, "SizeBytes", shape_long, 0),
    MEMBER(struct out_change, view, "StreamViewType", shape_string, 0),
};
static const struct shape change_shape = STRUCT_SHAPE(struct out_change, change_members);
static const struct member record_members[] = {
    MEMBER(struct out_record, id, "eventID", shape_string, 0),
    MEMBER(struct out_record, name, "eventName", shape_string, 0),
    MEMBER(struct out_record, version, "eventVersion", shape_string, 0),
    MEMBER(struct out_record, source, "eventSource", shape_string, 0),
    MEMBER(struct out_record, region, "awsRegion", shape_string, 0),
    MEMBER(struct out_record, change, "dynamodb", change_shape, 0),
    MEMBER(struct out_record, identity, "userIdentity", identity_shape, 0),
};
static const struct shape record_shape = STRUCT_SHAPE(struct out_record, record_members);
static const struct shape record_list = {.kind = SHAPE_LIST, .of = &record_shape};
static const struct member records_out_members[] = {
    MEMBER(struct records_out, next, "NextShardIterator", shape_string, 0),
    MEMBER(struct records_out, records, "Records", record_list, 0),
};
static const struct shape records_out_shape = STRUCT_SHAPE(struct records_out, records_out_members);

static sheaf_rc put_record(struct op_call *call, const struct core_record *r,
                           enum core_stream_view view, struct out_record **out)
{
    static const char *const events[] = {"INSERT", "MODIFY", "REMOVE"};
    static struct out_identity ttl = {{"dynamodb.amazonaws.com", 22}, {"Service", 7}};
    struct out_change *change = ARENA_NEW(call->c->arena, struct out_change);
    *out = ARENA_NEW(call->c->arena, struct out_record);
    if (!*out || !change) return err_nomem(call->c->err);
    *change = (struct out_change){.created = {r->created_us / 1000000, true},
                                  .size = {(int64_t)r->size, true},
                                  .keys = op_out_item(r->keys),
                                  .old_image = op_out_item(r->old_image),
                                  .new_image = op_out_item(r->new_image),
                                  .sequence = r->sequence,
                                  .view = op_table_view_name(view)};
    **out = (struct out_record){.id = r->id,
                                .name = span_cstr(events[r->event]),
                                .version = SPAN_LIT("1.1"),
                                .source = SPAN_LIT("aws:dynamodb"),
                                .region = call->request->region,
                                .change = change,
                                .identity = r->is_ttl ? &ttl : NULL};
    return SHEAF_OK;
}

/* The iterator hides the table that it walks. */
static sheaf_rc may_read(struct op_call *call, span iterator)
{
    const struct op_request *q = call->request;
    span table;
    if (!q->may) return SHEAF_OK;
    TRY(core_iterator_table(call->core, call->c, iterator, &table));
    return q->may(q->may_ctx, q->op, table, call->c->err);
}

static sheaf_rc run_records(struct op_call *call, const void *in_, void *out_)
{
    const struct records_in *in = in_;
    struct records_out *out = out_;
    struct core_records got;
    TRY(may_read(call, in->iterator));
    sheaf_rc rc = core_get_records(call->core, call->c, in->iterator, (uint32_t)in->limit.v, &got);
    call->position = got.position;
    TRY(rc);
    struct out_record **all = ARENA_ARRAY(call->c->arena, struct out_record *, got.n + 1);
    if (!all) return err_nomem(call->c->err);
    for (uint32_t i = 0; i < got.n; i++) TRY(put_record(call, &got.records[i], got.view, &all[i]));
    out->records = (struct shape_list){.all = all, .n = got.n, .has = true};
    out->next = got.next_iterator;
    return SHEAF_OK;
}

const struct op op_GetRecords = {.name = "GetRecords",
                                 .is_streams = true,
                                 .input = &records_shape,
                                 .output = &records_out_shape,
                                 .run = run_records};
