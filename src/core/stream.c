/* Turns ListStreams and DescribeStream into descriptions of streams and their shards.
 *
 * Know before editing: a stream has the same shards from its first day to its last: one for each
 * part of the hash range, open as long as the stream is enabled. Shards that AWS would close and
 * split after some hours have no counterpart, so there are no parents. */
#include "core/stream.h"

#include "core/tables.h"

#include <assert.h>

enum { LIST_MAX = 100, SHARDS_PAGE_MAX = 100 };

/* ---- finding ---- */

bool stream_is_readable(const struct table_stream *s, int64_t now_us)
{
    return s->disabled_us == 0 || now_us - s->disabled_us < STREAM_RETENTION_US;
}

sheaf_rc stream_not_found(struct core *core, sheaf_error *err, span table, span label)
{
    return err_set(err, SHEAF_RESOURCE_NOT_FOUND,
                   "Requested resource not found: Stream: "
                   "arn:aws:dynamodb:%.*s:000000000000:table/%.*s/stream/%.*s not found",
                   SPAN_ARG(core->region), SPAN_ARG(table), SPAN_ARG(label));
}

sheaf_rc stream_find(struct core *core, struct ctx *c, span table, span label,
                     struct table **table_out, const struct table_stream **stream_out)
{
    struct table *t = cat_find(core, table);
    int64_t now = core_now_us(core);
    *table_out = NULL;
    *stream_out = NULL;
    for (uint32_t i = 0; t && i < t->n_streams; i++) {
        const struct table_stream *s = &t->streams[i];
        if (!span_eq(s->label, label) || !stream_is_readable(s, now)) continue;
        *table_out = t;
        *stream_out = s;
        return SHEAF_OK;
    }
    table_unref(t);
    return stream_not_found(core, c->err, table, label);
}

/* ---- descriptions ---- */

static bool dup(struct arena *a, span s, span *out)
{
    *out = SPAN_NONE;
    if (!s.p) return true;
    *out = arena_dup(a, s);
    return out->p != NULL;
}

static sheaf_rc describe(struct ctx *c, const struct table *t, const struct table_stream *s,
                         struct core_stream_info *out)
{
    struct arena *a = c->arena;
    *out = (struct core_stream_info){.is_enabled = s->disabled_us == 0,
                                     .view = s->view,
                                     .created_us = s->created_us,
                                     .hash = {.type = t->hash.type},
                                     .range = {.type = t->range.type}};
    bool is_done = dup(a, t->name, &out->table) && dup(a, s->label, &out->label) &&
                   dup(a, t->hash.name, &out->hash.name) &&
                   dup(a, t->has_range ? t->range.name : SPAN_NONE, &out->range.name);
    return is_done ? SHEAF_OK : err_nomem(c->err);
}

/* ---- ListStreams ---- */

static sheaf_rc check_limit(struct ctx *c, uint32_t limit, uint32_t max)
{
    if (limit <= max) return SHEAF_OK;
    return err_validation(c->err,
                          "1 validation error detected: Value '%lu' at 'limit' failed to satisfy "
                          "constraint: Member must have value less than or equal to %lu",
                          (unsigned long)limit, (unsigned long)max);
}

/* Where the page goes on in a table's list: 0 unless the last page ended in this table. */
static uint32_t first_stream(const struct table *t, const struct core_list_streams *q)
{
    if (!q->after_table.p || !span_eq(q->after_table, t->name)) return 0;
    for (uint32_t i = 0; i < t->n_streams; i++)
        if (span_eq(t->streams[i].label, q->after_label)) return i + 1;
    /* It has been trimmed since: labels grow. */
    for (uint32_t i = 0; i < t->n_streams; i++)
        if (span_cmp(t->streams[i].label, q->after_label) > 0) return i;
    return t->n_streams;
}

static sheaf_rc list_table(struct core *core, struct ctx *c, const struct core_list_streams *q,
                           const struct table *t, struct core_streams_outcome *out)
{
    int64_t now = core_now_us(core);
    uint32_t limit = q->limit ? q->limit : LIST_MAX;
    for (uint32_t i = first_stream(t, q); i < t->n_streams && !out->last_table.p; i++) {
        if (!stream_is_readable(&t->streams[i], now)) continue;
        if (out->n_streams == limit) {
            const struct core_stream_info *last = &out->streams[limit - 1];
            out->last_table = last->table;
            out->last_label = last->label;
            return SHEAF_OK;
        }
        TRY(describe(c, t, &t->streams[i], &out->streams[out->n_streams]));
        out->n_streams++;
    }
    return SHEAF_OK;
}

static sheaf_rc list_all(struct core *core, struct ctx *c, const struct core_list_streams *q,
                         struct core_streams_outcome *out)
{
    struct table **all;
    uint32_t n;
    sheaf_rc rc = SHEAF_OK;
    TRY(cat_all(core, c, &all, &n));
    for (uint32_t i = 0; i < n; i++) {
        bool is_past = q->after_table.p && span_cmp(all[i]->name, q->after_table) < 0;
        if (rc == SHEAF_OK && !is_past && !out->last_table.p)
            rc = list_table(core, c, q, all[i], out);
        table_unref(all[i]);
    }
    return rc;
}

static sheaf_rc list_one(struct core *core, struct ctx *c, const struct core_list_streams *q,
                         struct core_streams_outcome *out)
{
    struct table *t = cat_find(core, q->table);
    if (!t) return tables_not_found(c->err, q->table);
    bool is_past = q->after_table.p && span_cmp(t->name, q->after_table) < 0;
    sheaf_rc rc = is_past ? SHEAF_OK : list_table(core, c, q, t, out);
    table_unref(t);
    return rc;
}

sheaf_rc core_list_streams(struct core *core, struct ctx *c, const struct core_list_streams *q,
                           struct core_streams_outcome *out)
{
    struct core_streams_outcome answer = {.n_streams = 0};
    *out = answer;
    TRY(faults_check(core, "ListStreams", q->table, c->err));
    TRY(check_limit(c, q->limit, LIST_MAX));
    if (q->table.p) TRY(tables_check_name(c, q->table));
    answer.streams = ARENA_ARRAY(c->arena, struct core_stream_info, q->limit ? q->limit : LIST_MAX);
    if (!answer.streams) return err_nomem(c->err);
    sheaf_rc rc = q->table.p ? list_one(core, c, q, &answer) : list_all(core, c, q, &answer);
    if (rc == SHEAF_OK) *out = answer;
    out->position = eng_visible(core->engine);
    return rc;
}

/* ---- DescribeStream ---- */

static sheaf_rc dup_sequence(struct ctx *c, const sheaf_stamp *s, span *out)
{
    char *text = (char *)arena_bytes(c->arena, STREAM_SEQUENCE_DIGITS);
    *out = SPAN_NONE;
    if (!text) return err_nomem(c->err);
    stream_sequence_format(s, text);
    *out = SPAN(text, STREAM_SEQUENCE_DIGITS);
    return SHEAF_OK;
}

/* The last number of a shard that is closed; it stays the same when its records are trimmed. */
static sheaf_rc last_of(struct ctx *c, sheaf_txn *txn, const struct table_stream *s, uint32_t shard,
                        span *out)
{
    struct stream_log log = {.txn = txn, .p = row_shard_place(s, shard)};
    struct stream_peek last;
    TRY(stream_last(&log, &last, c->err));
    if (!last.has_row) TRY(stream_mark(&log, &last.stamp, c->err));
    return dup_sequence(c, &last.stamp, out);
}

static sheaf_rc describe_shard(struct ctx *c, sheaf_txn *txn, const struct table_stream *s,
                               uint32_t shard, struct core_shard_info *out)
{
    static const sheaf_stamp zero;
    char *id = (char *)arena_bytes(c->arena, STREAM_SHARD_ID_BYTES);
    *out = (struct core_shard_info){.parent = SPAN_NONE};
    if (!id) return err_nomem(c->err);
    stream_shard_id(s, shard, id);
    out->id = SPAN(id, STREAM_SHARD_ID_BYTES);
    TRY(dup_sequence(c, &zero, &out->first));
    return s->disabled_us ? last_of(c, txn, s, shard, &out->last) : SHEAF_OK;
}

/* Ids are in order of shards, so that an id which is none of them has its place too. */
static uint32_t first_shard(const struct table_stream *s, span after)
{
    uint32_t i = 0;
    char id[STREAM_SHARD_ID_BYTES];
    for (; after.p && i < STREAM_SHARDS; i++) {
        stream_shard_id(s, i, id);
        if (span_cmp(SPAN(id, sizeof id), after) > 0) break;
    }
    return i;
}

static sheaf_rc describe_shards(struct core *core, struct ctx *c,
                                const struct core_describe_stream *q, const struct table_stream *s,
                                struct core_stream_outcome *out)
{
    uint32_t limit = q->limit ? q->limit : SHARDS_PAGE_MAX;
    sheaf_txn *txn;
    sheaf_rc rc = SHEAF_OK;
    out->shards = ARENA_ARRAY(c->arena, struct core_shard_info, STREAM_SHARDS);
    if (!out->shards) return err_nomem(c->err);
    TRY(eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &txn, c->err));
    for (uint32_t i = first_shard(s, q->after_shard); rc == SHEAF_OK && i < STREAM_SHARDS; i++) {
        if (out->n_shards == limit) {
            out->last_shard = out->shards[limit - 1].id;
            break;
        }
        rc = describe_shard(c, txn, s, i, &out->shards[out->n_shards]);
        out->n_shards++;
    }
    eng_rollback(txn);
    return rc;
}

sheaf_rc core_describe_stream(struct core *core, struct ctx *c,
                              const struct core_describe_stream *q, struct core_stream_outcome *out)
{
    struct core_stream_outcome answer = {.n_shards = 0};
    struct table *t = NULL;
    const struct table_stream *s;
    *out = answer;
    TRY(faults_check(core, "DescribeStream", q->table, c->err));
    TRY(check_limit(c, q->limit, SHARDS_PAGE_MAX));
    sheaf_rc rc = stream_find(core, c, q->table, q->label, &t, &s);
    if (rc == SHEAF_OK) rc = describe(c, t, s, &answer.stream);
    if (rc == SHEAF_OK) rc = describe_shards(core, c, q, s, &answer);
    table_unref(t);
    if (rc == SHEAF_OK) *out = answer;
    out->position = eng_visible(core->engine);
    return rc;
}
