/* Turns questions about item collections into answers: the size of one, the largest, the hottest.
 *
 * Know before editing: sizes always come from the statistics rows, which commit with the items; the
 * gauges only say which collections to look at, and how often each was read and written. */
#include "core/gauges.h"

#include <assert.h>
#include <stdlib.h>

enum { REBUILD_ROWS = 1024 };

/* The table and what of it is meant. */
struct subject {
    uint64_t drops; /* before it was looked up */
    struct table *table;
    const struct table_index *x; /* NULL: the base table */
    uint64_t space;
    const struct core_key *keys;
    uint32_t n_keys;
};

static sheaf_rc find_subject(struct core *core, struct ctx *c, span table, span index,
                             struct subject *s)
{
    *s = (struct subject){.drops = cat_drops(core)};
    TRY(cat_get(core, table, &s->table, c->err));
    s->space = s->table->space;
    s->keys = &s->table->hash;
    s->n_keys = 1;
    if (!index.p) return SHEAF_OK;
    s->x = table_index(s->table, index);
    if (!s->x)
        return err_validation(c->err, "The table does not have the specified index: %.*s",
                              SPAN_ARG(index));
    s->space = s->x->space;
    s->keys = s->x->def.hash;
    s->n_keys = s->x->def.n_hash;
    return SHEAF_OK;
}

/* The statistics of what is deleted meanwhile go while they are read. */
static sheaf_rc check_there(struct core *core, struct ctx *c, const struct subject *s, sheaf_rc rc)
{
    if (!s->table || cat_still_has(core, s->drops, s->table, s->space)) return rc;
    return cat_not_found(c->err);
}

/* ---- one collection ---- */

static sheaf_rc check_key(struct ctx *c, const struct subject *s, span key, val out[4])
{
    val item = item_map(key);
    bool is_good = val_count(item) == s->n_keys;
    for (uint32_t i = 0; is_good && i < s->n_keys; i++) {
        out[i] = val_find(item, s->keys[i].name);
        is_good = val_type(out[i]) == s->keys[i].type && val_bytes(out[i]).n > 0 &&
                  val_bytes(out[i]).n <= LIMIT_PARTITION_KEY_BYTES;
    }
    if (is_good) return SHEAF_OK;
    return err_validation(c->err, "The provided key element does not match the schema");
}

static void fill_rates(struct gauge *one, const sheaf_place *place, int64_t now_us,
                       struct core_collection *out)
{
    uint32_t seat;
    double rates[2] = {0, 0};
    if (one) heat_turn(&one->heat, now_us);
    if (one && roster_find(&one->heat.roster, place, &seat))
        heat_rates(&one->heat, seat, now_us, rates);
    out->reads_per_s = rates[HEAT_READ];
    out->writes_per_s = rates[HEAT_WRITE];
}

static void fill_sizes(const int64_t n[2], struct core_collection *out)
{
    out->items = n[0] > 0 ? (uint64_t)n[0] : 0;
    out->bytes = n[1] > 0 ? (uint64_t)n[1] : 0;
}

static sheaf_rc read_one(struct core *core, struct ctx *c, const struct subject *s, span key,
                         struct core_collection *out)
{
    val attributes[4];
    uint8_t sort[8];
    sheaf_engine_key row;
    span value;
    void *pin;
    int64_t n[2];
    TRY(check_key(c, s, key, attributes));
    sheaf_place place = key_place(core_secret(core), s->space, s->n_keys, attributes);
    row_stats_key(s->table, s->space, &place, sort, &row);
    TRY(eng_read(core->engine, &row, &value, &pin, c->err));
    bool is_good = gauges_decode_stats(value, n);
    eng_read_done(core->engine, pin);
    if (!is_good)
        return err_set(c->err, SHEAF_CORRUPT, "table %.*s: statistics of a collection are damaged",
                       SPAN_ARG(s->table->name));
    out->key = key;
    fill_sizes(n, out);
    fill_rates(gauges_of(core, s->table, s->space), &place, core_now_us(core), out);
    return SHEAF_OK;
}

sheaf_rc core_collection(struct core *core, struct ctx *c, span table, span index, span key,
                         struct core_collection *out)
{
    struct subject s;
    struct core_collection answer = {.items = 0};
    *out = answer;
    assert(key.p);
    sheaf_rc rc = find_subject(core, c, table, index, &s);
    if (rc == SHEAF_OK) rc = read_one(core, c, &s, key, &answer);
    rc = check_there(core, c, &s, rc);
    table_unref(s.table);
    if (rc == SHEAF_OK) *out = answer;
    out->position = eng_visible(core->engine);
    return rc;
}

/* ---- rankings ---- */

/* A copy of one seat, so that nothing is held while the engine is read. */
struct guest {
    sheaf_place place;
    span key;
    uint32_t seat;
    int64_t stats[2];
    double rates[2];
    double score;
};
struct guests {
    struct guest *all;
    uint32_t n;
};

static sheaf_rc copy_guests(struct ctx *c, struct roster *r, uint64_t space, struct guests *out)
{
    *out = (struct guests){ARENA_ARRAY(c->arena, struct guest, ROSTER_SEATS), 0};
    bool is_out = !out->all;
    pthread_mutex_lock(&r->lock);
    for (uint32_t seat = 0; seat < ROSTER_SEATS && !is_out; seat++) {
        const struct roster_key *k = &r->keys[seat];
        if (roster_is_free(r, seat) || sheaf_place_space(&k->place) != space) continue;
        span key = arena_dup(c->arena, roster_key(r, seat));
        is_out = !key.p;
        out->all[out->n++] = (struct guest){.place = k->place, .key = key, .seat = seat};
    }
    pthread_mutex_unlock(&r->lock);
    return is_out ? err_nomem(c->err) : SHEAF_OK;
}

/* The exact sizes of all of them, from one moment. */
static sheaf_rc read_sizes(struct core *core, struct ctx *c, const struct subject *s,
                           struct guests *g)
{
    sheaf_txn *txn;
    TRY(eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &txn, c->err));
    sheaf_rc rc = SHEAF_OK;
    for (uint32_t i = 0; i < g->n && rc == SHEAF_OK; i++)
        rc = gauges_stats(s->table, s->space, &g->all[i].place, txn, g->all[i].stats, c->err);
    eng_rollback(txn);
    return rc;
}

static int by_score(const void *a, const void *b)
{
    const struct guest *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return memcmp(&x->place, &y->place, sizeof x->place); /* repeatable */
}

static sheaf_rc key_item(struct ctx *c, const struct subject *s, span key, span *out)
{
    val attributes[4];
    uint32_t n = roster_take_key(key, attributes);
    struct vb b;
    vb_init(&b, c, 64 << 10);
    vb_map_begin(&b);
    for (uint32_t i = 0; i < n && i < s->n_keys; i++) {
        vb_name(&b, s->keys[i].name);
        vb_raw(&b, attributes[i]);
    }
    vb_end(&b);
    return vb_finish_item(&b, out);
}

static sheaf_rc fill(struct ctx *c, const struct subject *s, struct guests *g, uint32_t limit,
                     struct core_collections *out)
{
    qsort(g->all, g->n, sizeof *g->all, by_score);
    out->all = ARENA_ARRAY(c->arena, struct core_collection, g->n + 1);
    if (!out->all) return err_nomem(c->err);
    for (uint32_t i = 0; i < g->n && out->n < limit && g->all[i].score > 0; i++) {
        const struct guest *from = &g->all[i];
        struct core_collection *to = &out->all[out->n++];
        TRY(key_item(c, s, from->key, &to->key));
        fill_sizes(from->stats, to);
        to->reads_per_s = from->rates[HEAT_READ];
        to->writes_per_s = from->rates[HEAT_WRITE];
    }
    return SHEAF_OK;
}

/* ---- the largest ---- */

/* The list learns what was read; collections that are gone leave it. */
static void settle(struct roster *r, const struct guests *g)
{
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < g->n; i++) {
        const struct guest *one = &g->all[i];
        if (memcmp(&r->keys[one->seat].place, &one->place, sizeof one->place) != 0) continue;
        if (one->stats[0] <= 0)
            roster_leave(r, one->seat);
        else
            atomic_store_explicit(roster_weight(r, one->seat), (uint64_t)one->stats[1],
                                  memory_order_relaxed);
    }
    pthread_mutex_unlock(&r->lock);
}

static sheaf_rc rank_largest(struct core *core, struct ctx *c, const struct subject *s,
                             uint32_t limit, struct core_collections *out)
{
    bool has_more;
    struct guests g;
    TRY(gauges_rebuild(core, s->table, REBUILD_ROWS, &has_more, c->err));
    struct gauge *one = gauges_of(core, s->table, s->space);
    if (!one) return err_nomem(c->err);
    TRY(copy_guests(c, &one->sizes, s->space, &g));
    TRY(read_sizes(core, c, s, &g));
    settle(&one->sizes, &g);
    int64_t now_us = core_now_us(core);
    for (uint32_t i = 0; i < g.n; i++) {
        struct core_collection rates;
        g.all[i].score = g.all[i].stats[0] > 0 ? (double)g.all[i].stats[1] : 0;
        fill_rates(one, &g.all[i].place, now_us, &rates);
        g.all[i].rates[HEAT_READ] = rates.reads_per_s;
        g.all[i].rates[HEAT_WRITE] = rates.writes_per_s;
    }
    return fill(c, s, &g, limit, out);
}

/* ---- the hottest ---- */

/* By the share of what one partition can take that a key uses up. */
static sheaf_rc rank_hottest(struct core *core, struct ctx *c, const struct subject *s,
                             uint32_t limit, struct core_collections *out)
{
    struct guests g;
    int64_t now_us = core_now_us(core);
    struct gauge *one = gauges_of(core, s->table, s->space);
    if (!one) return err_nomem(c->err);
    heat_turn(&one->heat, now_us);
    TRY(copy_guests(c, &one->heat.roster, s->space, &g));
    TRY(read_sizes(core, c, s, &g));
    for (uint32_t i = 0; i < g.n; i++) {
        struct guest *k = &g.all[i];
        heat_rates(&one->heat, k->seat, now_us, k->rates);
        k->score = k->rates[HEAT_READ] + 3 * k->rates[HEAT_WRITE];
    }
    return fill(c, s, &g, limit, out);
}

typedef sheaf_rc (*rank_fn)(struct core *core, struct ctx *c, const struct subject *s,
                            uint32_t limit, struct core_collections *out);

static sheaf_rc report(struct core *core, struct ctx *c, span table, span index, uint32_t limit,
                       rank_fn rank, struct core_collections *out)
{
    struct subject s;
    struct core_collections answer = {.n = 0};
    *out = answer;
    sheaf_rc rc = find_subject(core, c, table, index, &s);
    if (rc == SHEAF_OK) rc = rank(core, c, &s, limit, &answer);
    rc = check_there(core, c, &s, rc);
    table_unref(s.table);
    if (rc == SHEAF_OK) *out = answer;
    out->position = eng_visible(core->engine);
    return rc;
}

sheaf_rc core_largest(struct core *core, struct ctx *c, span table, span index, uint32_t limit,
                      struct core_collections *out)
{
    return report(core, c, table, index, limit, rank_largest, out);
}

sheaf_rc core_hottest(struct core *core, struct ctx *c, span table, span index, uint32_t limit,
                      struct core_collections *out)
{
    return report(core, c, table, index, limit, rank_hottest, out);
}
