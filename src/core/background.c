/* Turns time that has passed into work done: one bounded round of everything that happens without a
 * request.
 *
 * Know before editing: a round goes on after a failure of one part or one table, so that a damaged
 * table does not stop the others; the first failure is what it answers. */
#include "core/background.h"
#include "core/gauges.h"
#include "core/token.h"

#include <assert.h>

enum {
    LIST_MEMORY = 16 << 20,
    TOKEN_ROWS = 2000, /* walked in one round */
    TOKEN_BATCH = 100, /* deleted in one transaction */
    TOKEN_MEMORY = 1 << 20,
    BACKFILL_ITEMS = 1000,
    GAUGE_ROWS = 1000 /* statistics looked at per table */
};
/* A walk over the tokens begins at most this often: they live ten times as long. */
#define TOKEN_WALK_US (INT64_C(60) * 1000000)

/* ---- tokens ---- */

struct token_batch {
    struct core *core;
    const sheaf_engine_key *keys;
    uint32_t n, n_deleted;
};

/* A token that was used again since has another time, so each is read once more. */
static sheaf_rc delete_tokens(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    struct token_batch *b = ctx;
    span values[TOKEN_BATCH];
    int64_t now = core_now_us(b->core);
    b->n_deleted = 0;
    TRY(eng_get(txn, b->n, b->keys, values, err));
    for (uint32_t i = 0; i < b->n; i++) {
        if (!values[i].p || !token_is_expired(values[i], now)) continue;
        TRY(eng_del(txn, &b->keys[i], err));
        b->n_deleted++;
    }
    return SHEAF_OK;
}

static sheaf_rc delete_all(struct core *core, const sheaf_engine_key *keys, uint32_t n,
                           struct core_background *did, sheaf_error *err)
{
    for (uint32_t at = 0; at < n; at += TOKEN_BATCH) {
        struct token_batch b = {core, keys + at, n - at < TOKEN_BATCH ? n - at : TOKEN_BATCH, 0};
        struct sheaf_run_options how = {.seed = core_seed(core)};
        TRY(sheaf_engine_run(core->engine, delete_tokens, &b, &how, NULL, err));
        did->trimmed_tokens += b.n_deleted;
    }
    return SHEAF_OK;
}

static sheaf_rc note_place(struct core *core, const sheaf_engine_key *key, sheaf_error *err)
{
    struct core_walk *w = &core->token_walk;
    if (key->s.n > sizeof w->s) return err_set(err, SHEAF_CORRUPT, "a token's key is too long");
    w->p = key->p;
    w->n = (uint32_t)key->s.n;
    if (key->s.n) memcpy(w->s, key->s.p, key->s.n);
    return SHEAF_OK;
}

/* Goes on with the walk for one round; keys_out: what has expired. */
static sheaf_rc walk_tokens(struct core *core, struct ctx *c, sheaf_engine_key *keys,
                            uint32_t *n_out)
{
    struct core_walk *w = &core->token_walk;
    sheaf_engine_key after = {w->p, SPAN(w->s, w->n)};
    struct sheaf_walk walk = {
        .space = SPACE_TOKENS, .max_rows = TOKEN_ROWS, .after = w->is_under_way ? &after : NULL};
    int64_t now = core_now_us(core);
    uint32_t n_rows = 0;
    sheaf_txn *txn;
    sheaf_cursor *cursor = NULL;
    sheaf_rc rc;
    TRY(eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &txn, c->err));
    TRY_OUT(eng_walk(txn, &walk, &cursor, c->err));
    for (;; n_rows++) {
        struct sheaf_row row;
        bool has_row;
        TRY_OUT(eng_next(cursor, &row, &has_row, c->err));
        if (!has_row) break;
        TRY_OUT(note_place(core, &row.key, c->err));
        if (!token_is_expired(row.value, now)) continue;
        keys[*n_out] = (sheaf_engine_key){row.key.p, arena_dup(c->arena, row.key.s)};
        if (!keys[*n_out].s.p) rc = err_nomem(c->err);
        if (rc != SHEAF_OK) goto out;
        ++*n_out;
    }
    w->is_under_way = n_rows == TOKEN_ROWS;
out:
    eng_cursor_close(cursor);
    eng_rollback(txn);
    return rc;
}

static sheaf_rc trim_tokens(struct core *core, struct core_background *did, sheaf_error *err)
{
    struct core_walk *w = &core->token_walk;
    int64_t now = core_now_us(core);
    if (!w->is_under_way) {
        if (w->has_begun && now - w->begun_us < TOKEN_WALK_US && now >= w->begun_us)
            return SHEAF_OK;
        w->has_begun = true;
        w->begun_us = now;
    }
    struct arena arena;
    struct ctx c = {&arena, err};
    uint32_t n = 0;
    arena_init(&arena, TOKEN_MEMORY);
    sheaf_engine_key *keys = ARENA_ARRAY(&arena, sheaf_engine_key, TOKEN_ROWS);
    sheaf_rc rc = keys ? walk_tokens(core, &c, keys, &n) : err_nomem(err);
    if (rc == SHEAF_OK) rc = delete_all(core, keys, n, did, err);
    arena_deinit(&arena);
    if (rc != SHEAF_OK)
        *w = (struct core_walk){.is_under_way = false};
    else if (w->is_under_way)
        did->has_more = true;
    return rc;
}

/* ---- one round ---- */

/* What every table needs. */
static sheaf_rc run_tables(struct core *core, struct core_background *did, sheaf_error *err)
{
    struct arena arena;
    struct ctx c = {&arena, err};
    struct table **all;
    uint32_t n = 0;
    sheaf_error other;
    arena_init(&arena, LIST_MEMORY);
    sheaf_rc first = cat_all(core, &c, &all, &n);
    for (uint32_t i = 0; i < n; i++) {
        sheaf_rc rc = ttl_sweep(core, all[i], did, first == SHEAF_OK ? err : &other);
        if (first == SHEAF_OK) first = rc;
        rc = stream_trim(core, all[i], did, first == SHEAF_OK ? err : &other);
        if (first == SHEAF_OK) first = rc;
        table_unref(all[i]);
    }
    /* With nothing left to do, what walks there are belong to expiry indexes that are gone. */
    if (first == SHEAF_OK && !did->has_more) ttl_forget_walks(core);
    arena_deinit(&arena);
    return first;
}

static sheaf_rc run_round(struct core *core, struct core_background *did, sheaf_error *err)
{
    sheaf_error other;
    bool has_more = false;
    sheaf_rc first = run_tables(core, did, err);
    sheaf_rc rc = trim_tokens(core, did, first == SHEAF_OK ? err : &other);
    if (first == SHEAF_OK) first = rc;
    rc = backfill_round(core, BACKFILL_ITEMS, &did->backfilled, &has_more,
                        first == SHEAF_OK ? err : &other);
    if (first == SHEAF_OK) first = rc;
    did->has_more = did->has_more || has_more;
    rc = gauges_round(core, GAUGE_ROWS, &has_more, first == SHEAF_OK ? err : &other);
    if (first == SHEAF_OK) first = rc;
    did->has_more = did->has_more || has_more;
    return first;
}

sheaf_rc core_run_background(struct core *core, struct core_background *did_out, sheaf_error *err)
{
    struct core_background did = {.has_more = false};
    pthread_mutex_lock(&core->background);
    sheaf_rc rc = run_round(core, &did, err);
    pthread_mutex_unlock(&core->background);
    if (did_out) *did_out = did;
    return rc;
}
