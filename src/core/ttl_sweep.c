/* Turns expiry rows whose time has come into deletions.
 *
 * Know before editing: an expiry row only says where to look. The item is read again in the
 * transaction that deletes it, and goes only when its attribute still names the row's second; a row
 * that no longer fits its item goes alone. So whoever updates an item in time keeps it.
 *
 * A backlog takes many rounds, and each goes on behind the last row of the one before: looking from
 * the beginning, RocksDB steps over everything that was deleted so far. When a walk of several
 * rounds has reached the end, one more round looks from the beginning, for what came behind it. */
#include "base/mem.h"
#include "core/background.h"
#include "core/write.h"

#include <assert.h>

enum {
    BUCKET_ROWS = 64, /* of one bucket in one round: 1,024 of one table */
    BATCH_ITEMS = 25, /* of one transaction */
    LIST_MEMORY = 16 << 20,
    BATCH_MEMORY = 64 << 20,
    ROW_KEY_BYTES = 8 + KEY_HASH_BYTES
};
/* What expired longer ago than five years stays, as it does on AWS. */
#define OLDEST_S (INT64_C(1826) * 86400)

/* One expiry row whose time has come. */
struct due {
    sheaf_engine_key row;
    span key; /* of the item, as the row has it: not checked yet */
};

/* Where a walk over an expiry index stands between two rounds. */
struct ttl_walk {
    struct ttl_walk *next;
    uint64_t space;
    struct {
        bool has_ended;
        uint8_t n, after[ROW_KEY_BYTES]; /* the last row seen; n == 0: none */
    } buckets[TTL_BUCKETS];
};

struct sweep {
    struct core *core;
    const struct table *table; /* as it was when the round began */
    struct due *due;
    uint32_t n;
    bool is_full; /* some bucket has more */
    bool is_continued;
    struct ttl_walk walk;
    struct arena attempt;
};

struct batch {
    struct sweep *sweep;
    const struct due *due;
    uint32_t n;
    /* Of the last attempt: */
    struct table *table; /* counted; NULL: gone, or TTL was switched off */
    struct change changes[BATCH_ITEMS];
    struct effects effects[BATCH_ITEMS];
    val keys[BATCH_ITEMS];
    uint32_t n_changes;
};

/* ---- walks ---- */

/* Takes the walk that is under way, or begins one. */
static void resume(struct sweep *s)
{
    struct ttl_walk **at = &s->core->ttl_walks;
    while (*at && (*at)->space != s->table->ttl_space) at = &(*at)->next;
    struct ttl_walk *found = *at;
    s->walk = (struct ttl_walk){.space = s->table->ttl_space};
    s->is_continued = found != NULL;
    if (!found) return;
    s->walk = *found;
    *at = found->next;
    mem_free(found);
}

/* Without memory the next round begins anew. */
static void keep(struct sweep *s)
{
    struct ttl_walk *w = mem_alloc(sizeof *w);
    if (!w) return;
    *w = s->walk;
    w->next = s->core->ttl_walks;
    s->core->ttl_walks = w;
}

void ttl_forget_walks(struct core *core)
{
    while (core->ttl_walks) {
        struct ttl_walk *w = core->ttl_walks;
        core->ttl_walks = w->next;
        mem_free(w);
    }
}

static void note_place(struct sweep *s, uint32_t bucket, span row)
{
    size_t n = row.n < ROW_KEY_BYTES ? row.n : ROW_KEY_BYTES; /* one that is longer is damaged */
    s->walk.buckets[bucket].n = (uint8_t)n;
    memcpy(s->walk.buckets[bucket].after, row.p, n);
}

/* ---- what is due ---- */

static sheaf_rc take_due(struct sweep *s, struct ctx *c, const struct sheaf_row *row)
{
    struct due *d = &s->due[s->n];
    d->row = (sheaf_engine_key){row->key.p, arena_dup(c->arena, row->key.s)};
    d->key = arena_dup(c->arena, row->value);
    if (!d->row.s.p || !d->key.p) return err_nomem(c->err);
    s->n++;
    return SHEAF_OK;
}

/* Where a bucket's rows that are due begin, behind those that the walk has seen. */
static span first_due(const struct sweep *s, uint32_t bucket, int64_t now_s,
                      uint8_t to[ROW_KEY_BYTES + 1])
{
    size_t n = s->walk.buckets[bucket].n;
    cat_number_bytes(now_s > OLDEST_S ? (uint64_t)(now_s - OLDEST_S) : 0, to);
    if (n == 0) return SPAN(to, 8);
    memcpy(to, s->walk.buckets[bucket].after, n);
    to[n] = 0; /* the first key behind another has one byte more */
    return SPAN(to, n + 1);
}

static sheaf_rc collect_bucket(struct sweep *s, struct ctx *c, sheaf_txn *txn, uint32_t bucket,
                               int64_t now_us)
{
    /* Expired: the second lies before now. */
    int64_t now_s = (now_us - 1) / 1000000;
    uint8_t lo[ROW_KEY_BYTES + 1], hi[8];
    cat_number_bytes((uint64_t)now_s + 1, hi);
    struct sheaf_range range = {.p = row_ttl_place(s->table, bucket),
                                .lo = first_due(s, bucket, now_s, lo),
                                .hi = SPAN(hi, sizeof hi),
                                .max_rows = BUCKET_ROWS};
    s->walk.buckets[bucket].has_ended = true; /* so far; a clock that went back leaves no range */
    if (span_cmp(range.lo, range.hi) >= 0) return SHEAF_OK;
    sheaf_cursor *cursor;
    uint32_t before = s->n;
    sheaf_rc rc;
    TRY(eng_range(txn, &range, &cursor, c->err));
    for (;;) {
        struct sheaf_row row;
        bool has_row;
        TRY_OUT(eng_next(cursor, &row, &has_row, c->err));
        if (!has_row) break;
        TRY_OUT(take_due(s, c, &row));
    }
    s->walk.buckets[bucket].has_ended = s->n - before < BUCKET_ROWS;
    if (s->n > before) note_place(s, bucket, s->due[s->n - 1].row.s);
    if (!s->walk.buckets[bucket].has_ended) s->is_full = true;
out:
    eng_cursor_close(cursor);
    return rc;
}

static sheaf_rc collect(struct sweep *s, struct ctx *c)
{
    int64_t now = core_now_us(s->core);
    sheaf_txn *txn;
    sheaf_rc rc = SHEAF_OK;
    if (now <= 0) return SHEAF_OK;
    s->due = ARENA_ARRAY(c->arena, struct due, (size_t)TTL_BUCKETS * BUCKET_ROWS);
    if (!s->due) return err_nomem(c->err);
    TRY(eng_begin(s->core->engine, SHEAF_TXN_SNAPSHOT, &txn, c->err));
    for (uint32_t i = 0; rc == SHEAF_OK && i < TTL_BUCKETS; i++)
        if (!s->walk.buckets[i].has_ended) rc = collect_bucket(s, c, txn, i, now);
    eng_rollback(txn);
    return rc;
}

/* ---- one transaction ---- */

/* The table as it is now, when it still has this expiry index. */
static sheaf_rc bind_table(struct batch *b, struct ctx *c, sheaf_txn *txn)
{
    const struct table *was = b->sweep->table;
    struct table *t;
    if (b->table) table_unref(b->table);
    b->table = NULL;
    b->n_changes = 0;
    sheaf_rc rc = write_find_table(b->sweep->core, c, txn, was->name, &t);
    if (rc == SHEAF_RESOURCE_NOT_FOUND) return SHEAF_OK;
    TRY(rc);
    if (t->number == was->number && t->ttl_space == was->ttl_space && t->ttl_attribute.p)
        b->table = t;
    else
        table_unref(t);
    return SHEAF_OK;
}

static sheaf_rc corrupt(struct ctx *c, const struct table *t, const char *what)
{
    return err_set(c->err, SHEAF_CORRUPT, "table %.*s: %s", SPAN_ARG(t->name), what);
}

static sheaf_rc item_key_of(struct core *core, struct ctx *c, const struct table *t,
                            const struct due *d, sheaf_engine_key *key_out)
{
    if (d->row.s.n != ROW_KEY_BYTES) return corrupt(c, t, "an expiry row has a damaged key");
    TRY(item_check(d->key, c->err));
    val key = item_map(d->key);
    val hash = table_hash_of(t, key), range = table_range_of(t, key);
    if (val_type(hash) != t->hash.type || (t->has_range && val_type(range) != t->range.type))
        return corrupt(c, t, "an expiry row does not name an item");
    return row_item_key(core, c, t, hash, range, key_out);
}

static int64_t row_seconds(const struct due *d)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x = x << 8 | ((const uint8_t *)d->row.s.p)[i];
    return (int64_t)x;
}

static sheaf_rc check_item(struct ctx *c, const struct table *t, span item, val key)
{
    TRY(item_check(item, c->err));
    val is = item_map(item);
    if (val_eq(table_hash_of(t, is), table_hash_of(t, key)) &&
        (!t->has_range || val_eq(table_range_of(t, is), table_range_of(t, key))))
        return SHEAF_OK;
    return corrupt(c, t, "a row holds the item of another key");
}

static sheaf_rc expire(struct batch *b, struct ctx *c, sheaf_txn *txn, const struct due *d,
                       const sheaf_engine_key *key, span item)
{
    struct core *core = b->sweep->core;
    const struct table *t = b->table;
    int64_t seconds;
    if (item.p) TRY(check_item(c, t, item, item_map(d->key)));
    if (!item.p || !ttl_seconds(t, item_map(item), &seconds) || seconds != row_seconds(d))
        return eng_del(txn, &d->row, c->err);
    uint32_t i = b->n_changes++;
    b->keys[i] = item_map(d->key);
    b->changes[i] = (struct change){
        .table = t, .key = *key, .before = item, .now_us = core_now_us(core), .is_ttl = true};
    return effects_apply(core, c, txn, &b->changes[i], &b->effects[i]);
}

static sheaf_rc body(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    struct batch *b = ctx;
    struct core *core = b->sweep->core;
    sheaf_engine_key keys[BATCH_ITEMS];
    span items[BATCH_ITEMS];
    arena_reset(&b->sweep->attempt);
    struct ctx c = {&b->sweep->attempt, err};
    TRY(bind_table(b, &c, txn));
    if (!b->table) return SHEAF_OK;
    for (uint32_t i = 0; i < b->n; i++) TRY(item_key_of(core, &c, b->table, &b->due[i], &keys[i]));
    TRY(eng_get(txn, b->n, keys, items, err));
    for (uint32_t i = 0; i < b->n; i++) TRY(expire(b, &c, txn, &b->due[i], &keys[i], items[i]));
    return SHEAF_OK;
}

static sheaf_rc run_batch(struct sweep *s, const struct due *due, uint32_t n,
                          struct core_background *did, sheaf_error *err)
{
    assert(n > 0 && n <= BATCH_ITEMS);
    struct batch b = {.sweep = s, .due = due, .n = n};
    struct sheaf_run_options how = {.seed = core_seed(s->core)};
    sheaf_rc rc = sheaf_engine_run(s->core->engine, body, &b, &how, NULL, err);
    if (rc == SHEAF_OK) did->expired += b.n_changes;
    for (uint32_t i = 0; rc == SHEAF_OK && i < b.n_changes; i++)
        effects_written(s->core, &b.changes[i], &b.effects[i], b.keys[i]);
    if (b.table) table_unref(b.table);
    return rc;
}

/* ---- one round ---- */

/* After a batch that failed: what can be deleted is, and one bad row stops no other. */
static sheaf_rc run_singly(struct sweep *s, const struct due *due, uint32_t n,
                           struct core_background *did, sheaf_error *err)
{
    sheaf_rc first = SHEAF_OK;
    sheaf_error other;
    for (uint32_t i = 0; i < n; i++) {
        sheaf_rc rc = run_batch(s, &due[i], 1, did, first == SHEAF_OK ? err : &other);
        if (rc == SHEAF_CONFLICT) rc = SHEAF_OK; /* a busy item: the next round looks again */
        if (first == SHEAF_OK) first = rc;
    }
    return first;
}

static sheaf_rc run_all(struct sweep *s, struct core_background *did, sheaf_error *err)
{
    sheaf_rc first = SHEAF_OK;
    sheaf_error other;
    for (uint32_t at = 0; at < s->n; at += BATCH_ITEMS) {
        uint32_t n = s->n - at < BATCH_ITEMS ? s->n - at : BATCH_ITEMS;
        sheaf_error *e = first == SHEAF_OK ? err : &other;
        sheaf_rc rc = run_batch(s, s->due + at, n, did, e);
        if (rc != SHEAF_OK) rc = run_singly(s, s->due + at, n, did, e);
        if (first == SHEAF_OK) first = rc;
    }
    return first;
}

sheaf_rc ttl_sweep(struct core *core, const struct table *t, struct core_background *did,
                   sheaf_error *err)
{
    if (!t->ttl_attribute.p || !t->ttl_space) return SHEAF_OK;
    struct arena list;
    struct ctx c = {&list, err};
    struct sweep s = {.core = core, .table = t};
    arena_init(&list, LIST_MEMORY);
    arena_init(&s.attempt, BATCH_MEMORY);
    resume(&s);
    sheaf_rc rc = collect(&s, &c);
    if (rc == SHEAF_OK && s.is_full) keep(&s);
    if (rc == SHEAF_OK) rc = run_all(&s, did, err);
    if (rc == SHEAF_OK && (s.is_full || s.is_continued)) did->has_more = true;
    arena_deinit(&s.attempt);
    arena_deinit(&list);
    return rc;
}
