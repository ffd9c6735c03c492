/* The calls on streams. A stream is named by its ARN: …:table/<table>/stream/<label>. */
#include "api/api.h"

static const char *const event_names[] = {"INSERT", "MODIFY", "REMOVE"};

/* Takes an ARN apart; p == NULL stays so. */
static sheaf_rc take_arn(struct ctx *c, const char *arn, span *table_out, span *label_out)
{
    *table_out = *label_out = SPAN_NONE;
    if (!arn) return SHEAF_OK;
    const char *table = strstr(arn, ":table/");
    const char *label = table ? strstr(table, "/stream/") : NULL;
    if (!label) return err_validation(c->err, "Invalid StreamArn: %s", arn);
    table += strlen(":table/");
    *table_out = SPAN(table, (size_t)(label - table));
    *label_out = span_cstr(label + strlen("/stream/"));
    return SHEAF_OK;
}

static sheaf_rc need(struct ctx *c, const char *text, const char *what)
{
    if (text) return SHEAF_OK;
    return err_validation(c->err,
                          "1 validation error detected: Value null at '%s' failed to satisfy "
                          "constraint: Member must not be null",
                          what);
}

static struct sheaf_stream_description describe(sheaf_result *r, sheaf_db *db,
                                                const struct core_stream_info *s)
{
    struct buf arn;
    buf_init(&arn, &r->arena, 2048);
    if (s->arn.p)
        buf_put_span(&arn, s->arn);
    else
        buf_printf(&arn, "arn:aws:dynamodb:%.*s:000000000000:table/%.*s/stream/%.*s",
                   SPAN_ARG(core_region(db->core)), SPAN_ARG(s->table), SPAN_ARG(s->label));
    if (arn.failed) (void)api_short(r);
    return (struct sheaf_stream_description){.arn = api_cstr(r, buf_span(&arn)),
                                             .label = api_cstr(r, s->label),
                                             .table = api_cstr(r, s->table),
                                             .status = s->is_listed    ? NULL
                                                       : s->is_enabled ? "ENABLED"
                                                                       : "DISABLED",
                                             .view = (enum sheaf_stream_view)s->view,
                                             .created_us = s->created_us};
}

sheaf_rc sheaf_list_streams_sized(sheaf_db *db, const struct sheaf_list_streams *given, size_t size,
                                  sheaf_result **result_out)
{
    API_BEGIN(sheaf_list_streams);
    struct core_list_streams l = {.table = api_text(q->table),
                                  .after_arn = api_text(q->exclusive_start_stream_arn),
                                  .limit = q->limit};
    struct core_streams_outcome o;
    TRY_OUT(take_arn(c, q->exclusive_start_stream_arn, &l.after_table, &l.after_label));
    API_CORE(API_RUN(db, list_streams, c, &l, &o), o);
    r->streams = ARENA_ARRAY(c->arena, struct sheaf_stream_description, o.n_streams + 1);
    TRY_OUT(r->streams ? SHEAF_OK : err_nomem(c->err));
    for (uint32_t i = 0; i < o.n_streams; i++) r->streams[i] = describe(r, db, &o.streams[i]);
    r->n_streams = o.n_streams;
    if (o.last_table.p && o.n_streams) r->last_name = r->streams[o.n_streams - 1].arn;
out:
    return api_finish(db, r, rc, position, result_out);
}

sheaf_rc sheaf_describe_stream_sized(sheaf_db *db, const struct sheaf_describe_stream *given,
                                     size_t size, sheaf_result **result_out)
{
    API_BEGIN(sheaf_describe_stream);
    struct core_describe_stream d = {.arn = api_text(q->stream_arn),
                                     .after_shard = api_text(q->exclusive_start_shard_id),
                                     .limit = q->limit};
    struct core_stream_outcome o;
    TRY_OUT(need(c, q->stream_arn, "streamArn"));
    TRY_OUT(take_arn(c, q->stream_arn, &d.table, &d.label));
    API_CORE(API_RUN(db, describe_stream, c, &d, &o), o);
    r->streams = ARENA_ARRAY(c->arena, struct sheaf_stream_description, 1);
    r->shards = ARENA_ARRAY(c->arena, struct sheaf_shard_description, o.n_shards + 1);
    TRY_OUT(r->streams && r->shards ? SHEAF_OK : err_nomem(c->err));
    r->streams[0] = describe(r, db, &o.stream);
    r->n_streams = 1;
    for (uint32_t i = 0; i < o.n_shards; i++)
        r->shards[i] = (struct sheaf_shard_description){
            api_cstr(r, o.shards[i].id), api_cstr(r, o.shards[i].parent),
            api_cstr(r, o.shards[i].first), api_cstr(r, o.shards[i].last)};
    r->n_shards = o.n_shards;
    r->last_name = api_cstr(r, o.last_shard);
out:
    return api_finish(db, r, rc, position, result_out);
}

sheaf_rc sheaf_get_shard_iterator_sized(sheaf_db *db, const struct sheaf_get_shard_iterator *given,
                                        size_t size, sheaf_result **result_out)
{
    API_BEGIN(sheaf_get_shard_iterator);
    struct core_get_iterator g = {.arn = api_text(q->stream_arn),
                                  .shard = api_text(q->shard_id),
                                  .type = (enum core_iterator)q->type,
                                  .sequence = api_text(q->sequence_number)};
    struct core_iterator_outcome o;
    TRY_OUT(need(c, q->stream_arn, "streamArn"));
    TRY_OUT(need(c, q->shard_id, "shardId"));
    TRY_OUT(take_arn(c, q->stream_arn, &g.table, &g.label));
    API_CORE(API_RUN(db, get_iterator, c, &g, &o), o);
    r->iterator = api_cstr(r, o.iterator);
out:
    return api_finish(db, r, rc, position, result_out);
}

sheaf_rc sheaf_get_records_sized(sheaf_db *db, const struct sheaf_get_records *given, size_t size,
                                 sheaf_result **result_out)
{
    API_BEGIN(sheaf_get_records);
    struct core_records o;
    TRY_OUT(need(c, q->shard_iterator, "shardIterator"));
    API_CORE(API_RUN(db, get_records, c, api_text(q->shard_iterator), q->limit, &o), o);
    r->records = ARENA_ARRAY(c->arena, struct sheaf_stream_record, o.n + 1);
    TRY_OUT(r->records ? SHEAF_OK : err_nomem(c->err));
    for (uint32_t i = 0; i < o.n; i++) {
        const struct core_record *k = &o.records[i];
        r->records[i] =
            (struct sheaf_stream_record){.event_id = api_cstr(r, k->id),
                                         .event_name = event_names[k->event],
                                         .sequence_number = api_cstr(r, k->sequence),
                                         .keys = api_item_view(&r->arena, k->keys),
                                         .old_image = api_item_view(&r->arena, k->old_image),
                                         .new_image = api_item_view(&r->arena, k->new_image),
                                         .view = (enum sheaf_stream_view)o.view,
                                         .is_ttl = k->is_ttl,
                                         .created_us = k->created_us,
                                         .size_bytes = k->size};
        if ((k->keys.p && !r->records[i].keys) || (k->old_image.p && !r->records[i].old_image) ||
            (k->new_image.p && !r->records[i].new_image))
            (void)api_short(r);
    }
    r->n_records = o.n;
    r->iterator = api_cstr(r, o.next_iterator);
out:
    return api_finish(db, r, rc, position, result_out);
}
