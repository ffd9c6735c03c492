/* Turns GetShardIterator into a place in a shard, and GetRecords into the records behind it.
 *
 * Know before editing: a place is the stamp of the last record that was read (zero: none yet, from
 * the oldest that is kept). The engine gives stamps at commit, in order of visibility, so nothing
 * ever appears before a place that was read up to: that alone is why no reader misses a record.
 * Whether a shard is closed is looked up before the snapshot is taken, because a stream that is
 * switched off in between may have got records that the snapshot lacks. */
#include "core/stream.h"

#include "core/enums.h"

#include <assert.h>

enum { RECORDS_MAX = 1000, RECORDS_BYTES = 1 << 20 };

static int64_t cutoff(int64_t now_us) { return now_us - STREAM_RETENTION_US; }

static sheaf_rc trimmed(struct ctx *c)
{
    return err_set(c->err, SHEAF_TRIMMED_DATA,
                   "The data you are trying to access has been trimmed");
}

/* ---- GetShardIterator ---- */

static bool find_shard(const struct table_stream *s, span id, uint32_t *shard_out)
{
    char text[STREAM_SHARD_ID_BYTES];
    for (*shard_out = 0; *shard_out < STREAM_SHARDS; ++*shard_out) {
        stream_shard_id(s, *shard_out, text);
        if (span_eq(SPAN(text, sizeof text), id)) return true;
    }
    return false;
}

static sheaf_rc check_iterator(struct ctx *c, const struct core_get_iterator *q)
{
    bool takes_sequence = q->type == CORE_AT_SEQUENCE || q->type == CORE_AFTER_SEQUENCE;
    sheaf_stamp stamp;
    TRY(enum_check(c, (int64_t)q->type, CORE_AFTER_SEQUENCE, "shardIteratorType",
                   ENUM_ITERATOR_SET));
    if (takes_sequence && !q->sequence.p)
        return err_validation(c->err, "SequenceNumber must be provided for ShardIteratorType %s",
                              q->type == CORE_AT_SEQUENCE ? "AT_SEQUENCE_NUMBER"
                                                          : "AFTER_SEQUENCE_NUMBER");
    if (!takes_sequence && q->sequence.p)
        return err_validation(c->err, "SequenceNumber cannot be provided for ShardIteratorType %s",
                              q->type == CORE_LATEST ? "LATEST" : "TRIM_HORIZON");
    if (takes_sequence && !stream_sequence_parse(q->sequence, &stamp))
        return err_validation(c->err, "Invalid SequenceNumber");
    return SHEAF_OK;
}

/* The number that a shard begins with stands for its oldest record, whatever has been trimmed. */
static sheaf_rc place_of_sequence(struct ctx *c, const struct stream_log *l,
                                  const struct core_get_iterator *q, sheaf_stamp *after_out)
{
    sheaf_stamp at, horizon;
    struct stream_peek last;
    bool is_stamp = stream_sequence_parse(q->sequence, &at);
    assert(is_stamp);
    (void)is_stamp;
    if (stream_stamp_is_zero(&at)) return SHEAF_OK;
    TRY(stream_horizon(l, &horizon, c->err));
    TRY(stream_last(l, &last, c->err));
    int ahead = stream_stamp_cmp(&at, &horizon);
    /* After the last record that is gone nothing is missing. */
    if (ahead < 0 || (ahead == 0 && q->type == CORE_AT_SEQUENCE)) return trimmed(c);
    /* No record of this shard: to read on from there would skip those that come. */
    if (ahead > 0 && (!last.has_row || stream_stamp_cmp(&at, &last.stamp) > 0))
        return err_validation(c->err, "Invalid SequenceNumber");
    *after_out = q->type == CORE_AT_SEQUENCE ? stream_stamp_prev(&at) : at;
    return SHEAF_OK;
}

static sheaf_rc place_of_latest(struct ctx *c, const struct stream_log *l, sheaf_stamp *after_out)
{
    struct stream_peek last;
    TRY(stream_last(l, &last, c->err));
    if (!last.has_row) return stream_mark(l, after_out, c->err);
    *after_out = last.stamp;
    return SHEAF_OK;
}

static sheaf_rc find_place(struct core *core, struct ctx *c, const struct core_get_iterator *q,
                           const struct table_stream *s, struct stream_iterator *it)
{
    sheaf_rc rc = SHEAF_OK;
    struct stream_log log = {.p = row_shard_place(s, it->shard), .cutoff_us = cutoff(it->made_us)};
    it->after = (sheaf_stamp){{0}};
    if (q->type == CORE_TRIM_HORIZON) return SHEAF_OK;
    TRY(eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &log.txn, c->err));
    if (q->type == CORE_LATEST)
        rc = place_of_latest(c, &log, &it->after);
    else
        rc = place_of_sequence(c, &log, q, &it->after);
    eng_rollback(log.txn);
    return rc;
}

static sheaf_rc make_iterator(struct core *core, struct ctx *c, const struct core_get_iterator *q,
                              const struct table *t, const struct table_stream *s, span *out)
{
    struct stream_iterator it = {.table = t->name, .space = s->space, .made_us = core_now_us(core)};
    if (!find_shard(s, q->shard, &it.shard))
        return err_set(c->err, SHEAF_RESOURCE_NOT_FOUND,
                       "Requested resource not found: Shard does not exist");
    TRY(find_place(core, c, q, s, &it));
    return stream_iterator_format(c, core_secret(core), &it, out);
}

sheaf_rc core_get_iterator(struct core *core, struct ctx *c, const struct core_get_iterator *q,
                           struct core_iterator_outcome *out)
{
    struct table *t = NULL;
    const struct table_stream *s;
    span iterator = SPAN_NONE;
    *out = (struct core_iterator_outcome){.position = 0};
    TRY(faults_check(core, "GetShardIterator", q->table, c->err));
    TRY(check_iterator(c, q));
    sheaf_rc rc = stream_find(core, c, q->table, q->label, &t, &s);
    if (rc == SHEAF_OK) rc = make_iterator(core, c, q, t, s, &iterator);
    table_unref(t);
    if (rc == SHEAF_OK) out->iterator = iterator;
    out->position = eng_visible(core->engine);
    return rc;
}

/* ---- GetRecords ---- */

struct page {
    struct core *core;
    struct ctx *c;
    const struct table *table;
    const struct table_stream *stream;
    struct stream_iterator it;
    struct stream_log log;
    uint32_t limit;
    bool is_full; /* ended by a limit, not by the end of the log */
};

/* Where to read from. A reader that comes from the beginning takes what is left; any other must not
 * have missed a record. */
static sheaf_rc find_start(struct page *p)
{
    sheaf_error *err = p->c->err;
    sheaf_stamp *after = &p->it.after, mark;
    struct stream_peek first;
    bool is_from_oldest = stream_stamp_is_zero(after);
    TRY(stream_mark(&p->log, &mark, err));
    if (!is_from_oldest && stream_stamp_cmp(after, &mark) < 0) return trimmed(p->c);
    if (is_from_oldest) *after = mark;
    sheaf_stamp from = stream_stamp_next(after);
    TRY(stream_first(&p->log, &from, &first, err));
    if (!first.has_row || first.created_us > p->log.cutoff_us) return SHEAF_OK;
    return is_from_oldest ? stream_horizon(&p->log, after, err) : trimmed(p->c);
}

static sheaf_rc take_row(struct page *p, const struct sheaf_row *row, struct core_records *out)
{
    struct ctx *c = p->c;
    struct sheaf_row copy = *row;
    struct core_record *record = &out->records[out->n];
    memcpy(p->it.after.b, row->key.s.p, sizeof p->it.after.b);
    copy.value = arena_dup(c->arena, row->value);
    if (!copy.value.p) return err_nomem(c->err);
    TRY(stream_decode(c, p->table, p->stream, &copy, record));
    if (record->created_us > p->log.cutoff_us) out->n++;
    return SHEAF_OK;
}

static sheaf_rc read_rows(struct page *p, struct core_records *out)
{
    sheaf_stamp from = stream_stamp_next(&p->it.after);
    struct sheaf_range range = {.p = p->log.p,
                                .lo = SPAN(from.b, sizeof from.b),
                                .max_rows = p->limit,
                                .max_bytes = RECORDS_BYTES};
    sheaf_cursor *cursor;
    uint32_t n_rows = 0;
    uint64_t bytes = 0;
    sheaf_rc rc;
    TRY(eng_range(p->log.txn, &range, &cursor, p->c->err));
    for (;;) {
        struct sheaf_row row;
        bool has_row;
        TRY_OUT(eng_next(cursor, &row, &has_row, p->c->err));
        if (!has_row) break;
        n_rows++;
        bytes += row.key.s.n + row.value.n;
        if (row.key.s.n != SHEAF_STAMP_BYTES) {
            rc = err_set(p->c->err, SHEAF_CORRUPT, "a stream has a row that is no record");
            goto out;
        }
        TRY_OUT(take_row(p, &row, out));
    }
    p->is_full = n_rows == p->limit || bytes >= RECORDS_BYTES;
out:
    eng_cursor_close(cursor);
    return rc;
}

static sheaf_rc read_page(struct page *p, struct core_records *out)
{
    struct core *core = p->core;
    struct ctx *c = p->c;
    out->view = p->stream->view;
    out->records = ARENA_ARRAY(c->arena, struct core_record, p->limit);
    if (!out->records) return err_nomem(c->err);
    p->log.p = row_shard_place(p->stream, p->it.shard);
    TRY(eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &p->log.txn, c->err));
    sheaf_rc rc = find_start(p);
    if (rc == SHEAF_OK) rc = read_rows(p, out);
    eng_rollback(p->log.txn);
    TRY(rc);
    if (p->stream->disabled_us && !p->is_full) return SHEAF_OK;
    return stream_iterator_format(c, core_secret(core), &p->it, &out->next_iterator);
}

static sheaf_rc no_stream(struct ctx *c)
{
    return err_set(c->err, SHEAF_RESOURCE_NOT_FOUND,
                   "Requested resource not found: Stream does not exist");
}

static sheaf_rc find_stream(struct page *p, struct table *t)
{
    for (uint32_t i = 0; t && i < t->n_streams; i++)
        if (t->streams[i].space == p->it.space) p->stream = &t->streams[i];
    if (p->stream && stream_is_readable(p->stream, p->it.made_us)) return SHEAF_OK;
    return no_stream(p->c);
}

static sheaf_rc check_records(struct page *p, span iterator, uint32_t limit)
{
    struct ctx *c = p->c;
    if (limit > RECORDS_MAX)
        return err_validation(c->err,
                              "1 validation error detected: Value '%lu' at 'limit' failed to "
                              "satisfy constraint: Member must have value less than or equal to %d",
                              (unsigned long)limit, RECORDS_MAX);
    p->limit = limit ? limit : RECORDS_MAX;
    TRY(stream_iterator_parse(c, core_secret(p->core), iterator, &p->it));
    int64_t now = core_now_us(p->core);
    if (now - p->it.made_us >= STREAM_ITERATOR_LIFE_US)
        return err_set(c->err, SHEAF_EXPIRED_ITERATOR,
                       "The provided iterator exceeds the maximum age allowed.");
    p->it.made_us = now; /* of the next one */
    p->log.cutoff_us = cutoff(now);
    return SHEAF_OK;
}

sheaf_rc core_get_records(struct core *core, struct ctx *c, span iterator, uint32_t limit,
                          struct core_records *out)
{
    struct core_records answer = {.n = 0};
    struct page p = {.core = core, .c = c};
    *out = answer;
    TRY(check_records(&p, iterator, limit));
    TRY(faults_check(core, "GetRecords", p.it.table, c->err));
    uint64_t drops = cat_drops(core);
    struct table *t = cat_find(core, p.it.table);
    p.table = t;
    sheaf_rc rc = find_stream(&p, t);
    if (rc == SHEAF_OK) {
        rc = read_page(&p, &answer);
        if (!cat_still_has(core, drops, t, p.stream->space)) rc = no_stream(c);
    }
    table_unref(t);
    if (rc == SHEAF_OK) *out = answer;
    out->position = eng_visible(core->engine);
    return rc;
}
