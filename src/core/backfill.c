/* Turns items that are older than an index into its entries, and items that are older than TTL into
 * expiry rows, while others write.
 *
 * Know before editing: from the commit that adds the index on, every writer keeps its entries, so
 * only rows that a snapshot taken afterwards shows can lack one. The walk goes over the base rows
 * in the engine's order, a batch at a time; a batch reads the rows anew in an RW transaction, which
 * protects them and the entries it finds missing, so a writer in between makes the batch replay.
 * How far the walk has come is kept in the catalog row after each round; a crash repeats at most a
 * round, which changes nothing, because an entry that is there is left alone. */
#include "core/tables.h"

#include <assert.h>

enum {
    BATCH_ROWS = 64,
    BATCH_BYTES = 1 << 20,  /* of rows walked; they may have grown when they are read again */
    BATCH_MEMORY = 96 << 20 /* 64 items of 400 KB as entries, and then some */
};

/* One walk that is not at its end: of an index, or of the expiry rows. */
struct job {
    struct core *core;
    span name;       /* of the table */
    uint64_t number; /* of the table: a new one of the same name has another */
    uint64_t base;   /* the space that is walked */
    uint64_t space;  /* of the index or of the expiry rows */
    bool is_ttl;
    bool is_gone;  /* index or table were deleted meanwhile */
    bool is_ended; /* the walk has seen every row */
    struct buf after;
    struct arena *memory; /* of one batch, reset with each */
};

/* An entry that was added: whoever watches the collections is told after the commit. */
struct added {
    sheaf_place place;
    span key; /* item: the key attributes */
};

struct batch {
    struct job *job;
    const sheaf_engine_key *keys;
    uint32_t n;
    struct arena *memory; /* of one attempt, as everything below */
    struct table *t;      /* as the attempt saw it, a counted reference */
    const struct table_index *x;
    struct added *added;
    uint32_t n_added;
};

/* ---- the place in the walk: P ‖ S ---- */

static void set_after(struct job *job, const sheaf_engine_key *key)
{
    assert(sheaf_place_space(&key->p) == job->base);
    buf_clear(&job->after);
    buf_put(&job->after, key->p.b, sizeof key->p.b);
    buf_put_span(&job->after, key->s);
}

static bool get_after(const struct job *job, sheaf_engine_key *key)
{
    span s = buf_span(&job->after);
    if (s.n < sizeof key->p.b) return false;
    memcpy(key->p.b, s.p, sizeof key->p.b);
    key->s = span_from(s, sizeof key->p.b);
    return true;
}

/* ---- one item ---- */

static sheaf_rc add_stats(sheaf_txn *txn, const struct table *t, uint64_t space,
                          const sheaf_place *place, uint32_t bytes, sheaf_error *err)
{
    uint8_t s[8];
    sheaf_engine_key key;
    const int64_t deltas[2] = {1, bytes};
    row_stats_key(t, space, place, s, &key);
    return eng_add(txn, &key, 2, deltas, err);
}

static sheaf_rc fill_entry(struct batch *b, struct ctx *c, sheaf_txn *txn, span item)
{
    struct core *core = b->job->core;
    const struct table *t = b->t;
    const struct table_index *x = b->x;
    sheaf_engine_key key;
    bool has_entry;
    span stored, value;
    TRY(row_index_key(core, c, t, x, item_map(item), &key, &has_entry));
    if (!has_entry) return SHEAF_OK;
    TRY(eng_get(txn, 1, &key, &stored, c->err));
    assert(sheaf_place_space(&key.p) == x->space);
    if (stored.p) return SHEAF_OK;
    TRY(row_index_value(c, t, x, item, &value));
    TRY(eng_put(txn, &key, value, c->err));
    struct added *added = &b->added[b->n_added++];
    added->place = key.p;
    TRY(table_key_item(c, t, x, item_map(item), &added->key));
    TRY(add_stats(txn, t, x->space, &key.p, item_size(value), c->err));
    return add_stats(txn, t, x->space, NULL, item_size(value), c->err);
}

static sheaf_rc fill_item(struct batch *b, struct ctx *c, sheaf_txn *txn,
                          const sheaf_engine_key *key, span item)
{
    TRY(item_check(item, c->err));
    if (!b->job->is_ttl) return fill_entry(b, c, txn, item);
    struct change change = {.table = b->t, .key = *key, .after = item};
    return ttl_apply(b->job->core, c, txn, &change);
}

/* ---- one batch ---- */

/* The table, when the walk still has a purpose in it; *x_out is NULL for expiry rows. */
static bool is_wanted(const struct job *job, const struct table *t,
                      const struct table_index **x_out)
{
    *x_out = NULL;
    if (!t || t->number != job->number) return false;
    if (job->is_ttl) return t->is_ttl_filling && t->ttl_space == job->space;
    for (uint32_t i = 0; i < t->n_indexes; i++)
        if (t->indexes[i].space == job->space) *x_out = &t->indexes[i];
    return *x_out && (*x_out)->is_backfilling;
}

static sheaf_rc fill_rows(struct batch *b, struct ctx *c, sheaf_txn *txn)
{
    assert(b->n > 0 && b->n <= BATCH_ROWS && (b->x != NULL) == !b->job->is_ttl);
    span *items = ARENA_ARRAY(c->arena, span, b->n);
    b->added = ARENA_ARRAY(c->arena, struct added, b->n);
    if (!items || !b->added) return err_nomem(c->err);
    TRY(eng_get(txn, b->n, b->keys, items, c->err));
    for (uint32_t i = 0; i < b->n; i++)
        if (items[i].p) TRY(fill_item(b, c, txn, &b->keys[i], items[i]));
    return SHEAF_OK;
}

static sheaf_rc fill_body(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    struct batch *b = ctx;
    struct core *core = b->job->core;
    struct ctx c = {b->memory, err};
    arena_reset(b->memory);
    table_unref(b->t);
    b->n_added = 0;
    cat_enter(core);
    b->t = cat_find_entered(core, b->job->name);
    bool is_there = is_wanted(b->job, b->t, &b->x);
    sheaf_rc rc = is_there ? eng_guard(txn, &b->t->catalog_key, err) : SHEAF_OK;
    cat_leave(core);
    b->job->is_gone = !is_there;
    return rc == SHEAF_OK && is_there ? fill_rows(b, &c, txn) : rc;
}

static sheaf_rc run_batch(struct batch *b, sheaf_error *err)
{
    struct core *core = b->job->core;
    struct sheaf_run_options how = {.seed = core_seed(core)};
    assert(!b->t);
    sheaf_rc rc = sheaf_engine_run(core->engine, fill_body, b, &how, NULL, err);
    for (uint32_t i = 0; rc == SHEAF_OK && i < b->n_added; i++)
        gauges_written(core, b->t, b->x->space, &b->added[i].place, item_map(b->added[i].key));
    table_unref(b->t);
    b->t = NULL;
    return rc;
}

/* A batch that writers keep disturbing, or that is too large for the engine, goes row by row. A
 * single entry over the engine's caps is left out, as a write of it would be refused. */
static sheaf_rc run_singly(struct batch *b, sheaf_error *err)
{
    struct batch one = *b;
    one.n = 1;
    for (uint32_t i = 0; i < b->n && !b->job->is_gone; i++, one.keys++) {
        sheaf_rc rc = run_batch(&one, err);
        if (rc != SHEAF_OK && rc != SHEAF_TOO_LARGE) return rc;
    }
    return SHEAF_OK;
}

static sheaf_rc dup_row_key(struct ctx *c, const struct sheaf_row *row, sheaf_engine_key *out)
{
    out->p = row->key.p;
    out->s = SPAN_NONE;
    if (row->key.s.n == 0) return SHEAF_OK;
    out->s = arena_dup(c->arena, row->key.s);
    return out->s.p ? SHEAF_OK : err_nomem(c->err);
}

/* Up to `max` keys behind the place where the walk stands. */
static sheaf_rc read_keys(struct job *job, struct ctx *c, uint32_t max, sheaf_engine_key *keys,
                          uint32_t *n_out)
{
    sheaf_txn *txn;
    sheaf_cursor *cursor = NULL;
    sheaf_engine_key after;
    struct sheaf_walk walk = {.space = job->base, .max_rows = max, .max_bytes = BATCH_BYTES};
    sheaf_rc rc;
    *n_out = 0;
    assert(max > 0 && max <= BATCH_ROWS);
    if (get_after(job, &after)) walk.after = &after;
    TRY(eng_begin(job->core->engine, SHEAF_TXN_SNAPSHOT, &txn, c->err));
    TRY_OUT(eng_walk(txn, &walk, &cursor, c->err));
    while (*n_out < max) {
        struct sheaf_row row;
        bool has_row;
        TRY_OUT(eng_next(cursor, &row, &has_row, c->err));
        if (!has_row) break;
        TRY_OUT(dup_row_key(c, &row, &keys[*n_out]));
        ++*n_out;
    }
out:
    eng_cursor_close(cursor);
    eng_rollback(txn);
    return rc;
}

static sheaf_rc step(struct job *job, struct arena *attempt, uint32_t max, uint32_t *did_out,
                     sheaf_error *err)
{
    sheaf_engine_key keys[BATCH_ROWS];
    struct ctx c = {job->memory, err};
    struct batch b = {.job = job, .keys = keys, .memory = attempt};
    *did_out = 0;
    arena_reset(job->memory);
    TRY(read_keys(job, &c, max < BATCH_ROWS ? max : BATCH_ROWS, keys, &b.n));
    job->is_ended = b.n == 0;
    if (job->is_ended) return SHEAF_OK;
    sheaf_rc rc = run_batch(&b, err);
    if (rc == SHEAF_CONFLICT || rc == SHEAF_TOO_LARGE) rc = run_singly(&b, err);
    if (rc != SHEAF_OK) return rc;
    set_after(job, &keys[b.n - 1]);
    *did_out = b.n;
    return job->after.failed ? err_nomem(err) : SHEAF_OK;
}

/* ---- progress ---- */

static bool note_ttl(struct job *job, struct table *next)
{
    next->is_ttl_filling = !job->is_ended;
    next->ttl_after = SPAN_NONE;
    if (job->is_ended || job->after.n == 0) return true;
    next->ttl_after = arena_dup(&next->arena, buf_span(&job->after));
    return next->ttl_after.p != NULL;
}

static bool note_index(struct job *job, struct table *next, struct table_index *x)
{
    x->is_backfilling = !job->is_ended;
    x->backfill_after = SPAN_NONE;
    if (job->is_ended) x->status = CORE_ACTIVE;
    if (job->is_ended || job->after.n == 0) return true;
    x->backfill_after = arena_dup(&next->arena, buf_span(&job->after));
    return x->backfill_after.p != NULL;
}

static sheaf_rc note_entered(struct job *job, struct table *t, sheaf_error *err)
{
    const struct table_index *x;
    struct table *next;
    if (!is_wanted(job, t, &x)) {
        job->is_gone = true;
        return SHEAF_OK;
    }
    TRY(table_copy(t, &next, err));
    assert(job->is_ttl || (x && next->indexes[x - t->indexes].space == job->space));
    bool is_noted =
        job->is_ttl ? note_ttl(job, next) : note_index(job, next, &next->indexes[x - t->indexes]);
    sheaf_rc rc = is_noted ? cat_install(job->core, t, next, NULL, err) : err_nomem(err);
    if (rc != SHEAF_OK) table_unref(next);
    return rc;
}

static sheaf_rc note_progress(struct job *job, sheaf_error *err)
{
    cat_enter_exclusive(job->core);
    struct table *t = cat_find_entered(job->core, job->name);
    sheaf_rc rc = note_entered(job, t, err);
    cat_leave_exclusive(job->core);
    table_unref(t);
    return rc;
}

/* ---- one round ---- */

/* As far as `max` rows reach, or to the end; then the place is noted, also after a failure. */
static sheaf_rc run_job(struct job *job, uint32_t max, uint64_t *did, sheaf_error *err)
{
    struct arena attempt;
    sheaf_rc rc = SHEAF_OK;
    uint32_t left = max;
    arena_init(&attempt, BATCH_MEMORY);
    while (rc == SHEAF_OK && left > 0 && !job->is_ended && !job->is_gone) {
        uint32_t n;
        rc = step(job, &attempt, left, &n, err);
        assert(n <= left);
        left -= n;
    }
    arena_deinit(&attempt);
    *did += max - left;
    if (job->is_gone || (left == max && !job->is_ended)) return rc;
    sheaf_error other;
    sheaf_rc noted = note_progress(job, rc == SHEAF_OK ? err : &other);
    return rc == SHEAF_OK ? noted : rc;
}

/* The first walk of a table that is not at its end. */
static bool find_job(const struct table *t, struct job *job)
{
    assert(job->after.n == 0 && !job->is_ttl);
    job->name = t->name;
    job->number = t->number;
    job->base = t->space;
    for (uint32_t i = 0; i < t->n_indexes; i++) {
        const struct table_index *x = &t->indexes[i];
        if (!x->is_backfilling) continue;
        job->space = x->space;
        buf_put_span(&job->after, x->backfill_after);
        return true;
    }
    job->is_ttl = t->is_ttl_filling;
    job->space = t->ttl_space;
    if (job->is_ttl) buf_put_span(&job->after, t->ttl_after);
    return job->is_ttl;
}

static sheaf_rc run_table(struct core *core, const struct table *t, uint32_t max, uint64_t *did,
                          bool *has_more, sheaf_error *err)
{
    enum { KEYS_MEMORY = 1 << 20 };
    struct arena keys;
    struct job job = {.core = core, .memory = &keys};
    sheaf_rc rc = SHEAF_OK;
    arena_init(&keys, KEYS_MEMORY);
    buf_init(&job.after, NULL, 8192);
    if (find_job(t, &job)) {
        *has_more = true; /* until a later round finds nothing to do */
        rc = job.after.failed ? err_nomem(err) : run_job(&job, max, did, err);
    }
    buf_deinit(&job.after);
    arena_deinit(&keys);
    return rc;
}

sheaf_rc backfill_round(struct core *core, uint32_t max_items, uint64_t *did_out,
                        bool *has_more_out, sheaf_error *err)
{
    enum { LIST_MEMORY = 16 << 20 };
    struct arena arena;
    struct table **all;
    uint32_t n;
    *did_out = 0;
    *has_more_out = false;
    arena_init(&arena, LIST_MEMORY);
    struct ctx c = {&arena, err};
    sheaf_rc rc = cat_all(core, &c, &all, &n);
    if (rc != SHEAF_OK) {
        arena_deinit(&arena);
        return rc;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t left = *did_out < max_items ? max_items - (uint32_t)*did_out : 0;
        if (rc == SHEAF_OK && left) rc = run_table(core, all[i], left, did_out, has_more_out, err);
        table_unref(all[i]);
    }
    arena_deinit(&arena);
    uint64_t swept = 0;
    if (rc == SHEAF_OK && *did_out < max_items)
        rc = sweep_round(core, max_items - (uint32_t)*did_out, &swept, has_more_out, err);
    *did_out += swept;
    return rc;
}
