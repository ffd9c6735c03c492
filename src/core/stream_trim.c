/* Turns records that are out of retention into nothing, and forgets streams that were switched off
 * a day ago.
 *
 * Know before editing: records go from the oldest on, in small transactions that also raise the
 * shard's mark, so that a reader can tell "gone" from "never was" afterwards. Readers do not wait
 * for this: they leave out old records themselves. */
#include "core/background.h"
#include "core/stream.h"
#include "core/tables.h"

#include <assert.h>

enum {
    BATCH_ROWS = 250,
    BATCH_BYTES = 4 << 20,
    BATCHES = 4, /* of one shard in one round */
    BATCH_MEMORY = 64 << 10
};

/* ---- records ---- */

struct trim {
    struct core *core;
    const struct table *table;
    uint64_t space; /* of the stream */
    struct stream_log log;
    sheaf_stamp up_to; /* the last record to go */
    uint32_t n;
    bool is_full; /* ended by a limit: there may be more */
    bool is_gone; /* of the last attempt: the stream is no longer the table's */
};

/* The oldest records, as many as a transaction takes. */
static sheaf_rc find_old(struct trim *t, sheaf_error *err)
{
    static const sheaf_stamp zero;
    struct sheaf_range range = {.p = t->log.p,
                                .lo = SPAN(zero.b, sizeof zero.b),
                                .max_rows = BATCH_ROWS,
                                .max_bytes = BATCH_BYTES};
    sheaf_cursor *cursor = NULL;
    sheaf_rc rc;
    t->n = 0;
    t->is_full = true;
    TRY(eng_begin(t->core->engine, SHEAF_TXN_SNAPSHOT, &t->log.txn, err));
    TRY_OUT(eng_range(t->log.txn, &range, &cursor, err));
    for (;;) {
        struct sheaf_row row;
        bool has_row;
        int64_t created_us;
        TRY_OUT(eng_next(cursor, &row, &has_row, err));
        if (!has_row) break;
        TRY_OUT(stream_created(&row, &created_us, err));
        if (created_us > t->log.cutoff_us) {
            t->is_full = false;
            break;
        }
        memcpy(t->up_to.b, row.key.s.p, sizeof t->up_to.b);
        t->n++;
    }
    if (t->n == 0) t->is_full = false;
out:
    eng_cursor_close(cursor);
    eng_rollback(t->log.txn);
    return rc;
}

static bool has_stream(const struct table *now, const struct trim *t)
{
    if (!now || now->number != t->table->number) return false;
    for (uint32_t i = 0; i < now->n_streams; i++)
        if (now->streams[i].space == t->space) return true;
    return false;
}

/* Nothing may be written to the space of a stream that has gone: nobody would free it again. */
static sheaf_rc guard_stream(struct trim *t, sheaf_txn *txn, sheaf_error *err)
{
    sheaf_rc rc = SHEAF_OK;
    cat_enter(t->core);
    struct table *now = cat_find_entered(t->core, t->table->name);
    t->is_gone = !has_stream(now, t);
    if (!t->is_gone) rc = eng_guard(txn, &now->catalog_key, err);
    cat_leave(t->core);
    table_unref(now);
    return rc;
}

static sheaf_rc delete_old(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    struct trim *t = ctx;
    struct arena arena;
    struct ctx c = {&arena, err};
    sheaf_engine_key key = {t->log.p, SPAN_LIT("")};
    static const sheaf_stamp zero;
    sheaf_stamp mark, end = stream_stamp_next(&t->up_to);
    span stored, value;
    sheaf_rc rc;
    TRY(guard_stream(t, txn, err));
    if (t->is_gone) return SHEAF_OK;
    arena_init(&arena, BATCH_MEMORY);
    TRY_OUT(eng_get(txn, 1, &key, &stored, err));
    TRY_OUT(stream_mark_decode(stored, &mark, err));
    TRY_OUT(
        eng_del_range(txn, &t->log.p, SPAN(zero.b, sizeof zero.b), SPAN(end.b, sizeof end.b), err));
    if (stream_stamp_cmp(&mark, &t->up_to) < 0) {
        TRY_OUT(stream_mark_encode(&c, &t->up_to, &value));
        TRY_OUT(eng_put(txn, &key, value, err));
    }
out:
    arena_deinit(&arena);
    return rc;
}

static sheaf_rc trim_shard(struct core *core, const struct table *table,
                           const struct table_stream *s, uint32_t shard,
                           struct core_background *did, sheaf_error *err)
{
    struct trim t = {.core = core,
                     .table = table,
                     .space = s->space,
                     .log = {.p = row_shard_place(s, shard),
                             .cutoff_us = core_now_us(core) - STREAM_RETENTION_US}};
    for (int i = 0; i < BATCHES; i++) {
        struct sheaf_run_options how = {.seed = core_seed(core)};
        TRY(find_old(&t, err));
        if (t.n == 0) return SHEAF_OK;
        TRY(sheaf_engine_run(core->engine, delete_old, &t, &how, NULL, err));
        if (t.is_gone) return SHEAF_OK;
        did->trimmed_records += t.n;
        if (!t.is_full) return SHEAF_OK;
    }
    did->has_more = true;
    return SHEAF_OK;
}

/* ---- streams ---- */

static bool has_retired(const struct table *t, int64_t now_us)
{
    for (uint32_t i = 0; i < t->n_streams; i++)
        if (!stream_is_readable(&t->streams[i], now_us)) return true;
    return false;
}

static void remove_retired(struct table *t, int64_t now_us, struct drops *d)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_streams; i++) {
        if (stream_is_readable(&t->streams[i], now_us))
            t->streams[n++] = t->streams[i];
        else
            drops_add(d, t->streams[i].space);
    }
    t->n_streams = n;
}

static sheaf_rc retire_entered(struct core *core, struct ctx *c, span name, struct drops *d)
{
    int64_t now = core_now_us(core);
    struct table *next = NULL, *t = cat_find_entered(core, name);
    sheaf_rc rc = SHEAF_OK;
    if (!t || !has_retired(t, now)) goto out;
    TRY_OUT(drops_init(d, c, t));
    TRY_OUT(table_copy(t, &next, c->err));
    remove_retired(next, now, d);
    rc = drops_install(core, t, next, d, NULL, c->err);
    if (rc != SHEAF_OK) table_unref(next);
out:
    table_unref(t);
    return rc;
}

static sheaf_rc retire(struct core *core, const struct table *t, sheaf_error *err)
{
    struct arena arena;
    struct ctx c = {&arena, err};
    struct drops d = {.n = 0};
    arena_init(&arena, BATCH_MEMORY);
    cat_enter_exclusive(core);
    sheaf_rc rc = retire_entered(core, &c, t->name, &d);
    cat_leave_exclusive(core);
    if (rc == SHEAF_OK) drops_finish(core, &d);
    arena_deinit(&arena);
    return rc;
}

sheaf_rc stream_trim(struct core *core, const struct table *t, struct core_background *did,
                     sheaf_error *err)
{
    int64_t now = core_now_us(core);
    if (has_retired(t, now)) TRY(retire(core, t, err));
    for (uint32_t i = 0; i < t->n_streams; i++) {
        if (!stream_is_readable(&t->streams[i], now)) continue;
        for (uint32_t shard = 0; shard < STREAM_SHARDS; shard++)
            TRY(trim_shard(core, t, &t->streams[i], shard, did, err));
    }
    return SHEAF_OK;
}
