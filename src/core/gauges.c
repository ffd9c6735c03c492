/* Turns committed writes, and after a reopen the statistics rows, into candidates for the largest
 * collections.
 *
 * Know before editing: every committed write comes by here. A collection that is on the list costs
 * a look at one cache line; one that is not is only compared with the list (two engine reads) once
 * in SAMPLE times, while the list is full. A collection that grew large was written often, so it is
 * caught; its exact size is read when somebody asks, never kept. */
#include "core/gauges.h"

#include "base/mem.h"

#include <assert.h>

enum { SAMPLE = 32 };

struct gauges *gauges_new(void)
{
    struct gauges *g = mem_zalloc(sizeof *g);
    if (!g) return NULL;
    atomic_init(&g->refs, 1);
    pthread_mutex_init(&g->lock, NULL);
    pthread_mutex_init(&g->rebuild, NULL);
    return g;
}

struct gauges *gauges_ref(struct gauges *g)
{
    if (g) atomic_fetch_add_explicit(&g->refs, 1, memory_order_relaxed);
    return g;
}

static void free_gauge(struct gauge *one)
{
    if (!one) return;
    roster_deinit(&one->heat.roster);
    roster_deinit(&one->sizes);
    buckets_free(one->buckets);
    pthread_mutex_destroy(&one->bucket_lock);
    mem_free(one);
}

void gauges_unref(struct gauges *g)
{
    if (!g || atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) != 1) return;
    for (int i = 0; i < GAUGES_MAX; i++)
        free_gauge(atomic_load_explicit(&g->all[i], memory_order_relaxed));
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->rebuild);
    mem_free(g);
}

/* ---- the gauge of a space ---- */

const struct table_index *gauges_index(const struct table *t, uint64_t space)
{
    for (uint32_t i = 0; i < t->n_indexes; i++)
        if (t->indexes[i].space == space) return &t->indexes[i];
    return NULL;
}

static struct gauge *find(const struct gauges *g, uint64_t space)
{
    for (int i = 0; i < GAUGES_MAX; i++) {
        struct gauge *one = atomic_load_explicit(&g->all[i], memory_order_acquire);
        if (!one) return NULL;
        if (atomic_load_explicit(&one->space, memory_order_relaxed) == space) return one;
    }
    return NULL;
}

static struct gauge *make(uint64_t space, int64_t now_us)
{
    struct gauge *one = mem_zalloc(sizeof *one);
    if (!one) return NULL;
    atomic_init(&one->space, space);
    heat_init(&one->heat, now_us);
    roster_init(&one->sizes);
    pthread_mutex_init(&one->bucket_lock, NULL);
    return one;
}

/* Of an index that is gone: threads that still hold it may note a few keys of the old space, which
 * readers leave out because the place of a key names its space. */
static struct gauge *reuse(struct gauge *one, uint64_t space)
{
    struct roster *both[2] = {&one->heat.roster, &one->sizes};
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&both[i]->lock);
        for (uint32_t seat = 0; seat < ROSTER_SEATS; seat++) roster_leave(both[i], seat);
        pthread_mutex_unlock(&both[i]->lock);
    }
    pthread_mutex_lock(&one->bucket_lock);
    buckets_free(one->buckets);
    one->buckets = NULL;
    pthread_mutex_unlock(&one->bucket_lock);
    atomic_store_explicit(&one->space, space, memory_order_relaxed);
    return one;
}

/* In a free place, or in that of a space that this version of the table does not have. */
static struct gauge *add_beside(struct core *core, struct gauges *g, const struct table *t,
                                uint64_t space)
{
    struct gauge *one = NULL;
    for (int i = 0; i < GAUGES_MAX; i++) {
        one = atomic_load_explicit(&g->all[i], memory_order_relaxed);
        if (!one) {
            one = make(space, core_now_us(core));
            atomic_store_explicit(&g->all[i], one, memory_order_release);
            return one;
        }
        uint64_t was = atomic_load_explicit(&one->space, memory_order_relaxed);
        if (was != t->space && !gauges_index(t, was)) return reuse(one, space);
    }
    return NULL;
}

/* `t` may be older than the newest version of the table, which alone says what is in use. Under the
 * gauges' lock; nobody takes that inside the catalog's section. */
static struct gauge *add(struct core *core, struct gauges *g, const struct table *t, uint64_t space)
{
    struct table *now = cat_find(core, t->name);
    struct gauge *one = add_beside(core, g, now && now->number == t->number ? now : t, space);
    table_unref(now);
    return one;
}

struct gauge *gauges_of(struct core *core, const struct table *t, uint64_t space)
{
    struct gauges *g = t->gauges;
    if (!g) return NULL;
    struct gauge *one = find(g, space);
    if (one) return one;
    pthread_mutex_lock(&g->lock);
    one = find(g, space);
    if (!one) one = add(core, g, t, space);
    pthread_mutex_unlock(&g->lock);
    return one;
}

/* ---- statistics rows ---- */

static int64_t load_le(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--) x = x << 8 | p[i];
    return (int64_t)x;
}

bool gauges_decode_stats(span value, int64_t out[2])
{
    out[0] = out[1] = 0;
    if (!value.p) return true;
    if (value.n != 16) return false;
    out[0] = load_le(value.p);
    out[1] = load_le((const uint8_t *)value.p + 8);
    return true;
}

static sheaf_rc decode(span value, int64_t out[2], sheaf_error *err)
{
    if (gauges_decode_stats(value, out)) return SHEAF_OK;
    return err_set(err, SHEAF_CORRUPT, "statistics of a collection are damaged");
}

sheaf_rc gauges_stats(const struct table *t, uint64_t space, const sheaf_place *place,
                      sheaf_txn *txn, int64_t out[2], sheaf_error *err)
{
    uint8_t s[8];
    sheaf_engine_key key;
    span value;
    row_stats_key(t, space, place, s, &key);
    TRY(eng_get(txn, 1, &key, &value, err));
    return decode(value, out, err);
}

/* Bytes of a collection now; 0 when they cannot be read. */
static uint64_t bytes_now(struct core *core, const struct table *t, uint64_t space,
                          const sheaf_place *place)
{
    uint8_t s[8];
    sheaf_engine_key key;
    span value;
    void *pin;
    int64_t n[2] = {0, 0};
    row_stats_key(t, space, place, s, &key);
    if (eng_read(core->engine, &key, &value, &pin, NULL) != SHEAF_OK) return 0;
    (void)gauges_decode_stats(value, n);
    eng_read_done(core->engine, pin);
    return n[1] > 0 ? (uint64_t)n[1] : 0;
}

/* ---- candidates ---- */

/* The partition key attributes of a row of the table or index, as a roster keeps them. */
static size_t key_of(const struct table *t, uint64_t space, val item, uint8_t *to, size_t cap)
{
    val attributes[4];
    const struct table_index *x = gauges_index(t, space);
    if (!x && space != t->space) return 0;
    if (!x) {
        attributes[0] = table_hash_of(t, item);
        return roster_put_key(to, cap, 1, attributes);
    }
    for (uint32_t i = 0; i < x->def.n_hash; i++)
        attributes[i] = val_find(item, x->def.hash[i].name);
    return roster_put_key(to, cap, x->def.n_hash, attributes);
}

/* Unless somebody as large sits there meanwhile. */
static void seat_candidate(struct roster *r, uint32_t seat, const sheaf_place *place, span key,
                           uint64_t bytes)
{
    uint32_t mine;
    pthread_mutex_lock(&r->lock);
    if (roster_find(r, place, &mine))
        atomic_store_explicit(roster_weight(r, mine), bytes, memory_order_relaxed);
    else if ((roster_is_free(r, seat) ||
              bytes > atomic_load_explicit(roster_weight(r, seat), memory_order_relaxed)) &&
             roster_take(r, seat, place, key))
        atomic_store_explicit(roster_weight(r, seat), bytes, memory_order_relaxed);
    pthread_mutex_unlock(&r->lock);
}

/* Whether a collection of this size should have the seat. Who sits there may have grown since it
 * was looked at. */
static bool is_larger(struct core *core, const struct table *t, struct gauge *one, uint32_t seat,
                      uint64_t bytes)
{
    struct roster *r = &one->sizes;
    if (bytes <= atomic_load_explicit(roster_weight(r, seat), memory_order_relaxed)) return false;
    pthread_mutex_lock(&r->lock);
    sheaf_place place = r->keys[seat].place;
    pthread_mutex_unlock(&r->lock);
    uint64_t has = bytes_now(core, t, sheaf_place_space(&place), &place);
    atomic_store_explicit(roster_weight(r, seat), has, memory_order_relaxed);
    return bytes > has;
}

static void consider(struct core *core, const struct table *t, struct gauge *one,
                     const sheaf_place *place, val item)
{
    struct roster *r = &one->sizes;
    uint64_t space = sheaf_place_space(place), bytes = 0;
    uint32_t seat = roster_weakest(r, place);
    if (!roster_is_free(r, seat)) {
        if (roster_roll(r, place) % SAMPLE != 0) return;
        bytes = bytes_now(core, t, space, place);
        if (!is_larger(core, t, one, seat, bytes)) return;
    }
    uint8_t key[ROSTER_KEY_MAX];
    size_t n = key_of(t, space, item, key, sizeof key);
    if (n) seat_candidate(r, seat, place, SPAN(key, n), bytes);
}

void gauges_written(struct core *core, const struct table *t, uint64_t space,
                    const sheaf_place *place, val item)
{
    uint32_t seat;
    assert(sheaf_place_space(place) == space);
    if (core->lag) lag_written(core);
    struct gauge *one = gauges_of(core, t, space);
    if (!one || roster_find(&one->sizes, place, &seat)) return;
    consider(core, t, one, place, item);
}

/* ---- after a reopen ---- */

/* One row of the collection tells its key. */
static sheaf_rc seat_stored(struct core *core, const struct table *t, sheaf_txn *txn,
                            const sheaf_place *place, uint64_t bytes, sheaf_error *err)
{
    struct sheaf_range range = {.p = *place, .lo = SPAN_LIT(""), .max_rows = 1};
    sheaf_cursor *cursor = NULL;
    struct sheaf_row row;
    bool has_row = false;
    uint8_t key[ROSTER_KEY_MAX];
    struct gauge *one = gauges_of(core, t, sheaf_place_space(place));
    uint32_t seat;
    if (!one || roster_find(&one->sizes, place, &seat)) return SHEAF_OK;
    seat = roster_weakest(&one->sizes, place);
    if (!roster_is_free(&one->sizes, seat) && !is_larger(core, t, one, seat, bytes))
        return SHEAF_OK;
    sheaf_rc rc = eng_range(txn, &range, &cursor, err);
    if (rc == SHEAF_OK) rc = eng_next(cursor, &row, &has_row, err);
    if (rc == SHEAF_OK && has_row && item_check(row.value, NULL) == SHEAF_OK) {
        size_t n = key_of(t, sheaf_place_space(place), item_map(row.value), key, sizeof key);
        if (n) seat_candidate(&one->sizes, seat, place, SPAN(key, n), bytes);
    }
    eng_cursor_close(cursor);
    return rc;
}

static sheaf_rc take_row(struct core *core, const struct table *t, sheaf_txn *txn,
                         const struct sheaf_row *row, sheaf_error *err)
{
    static const uint8_t whole[16];
    int64_t n[2];
    const uint8_t *hash = row->key.p.b + 8, *s = row->key.s.p;
    if (row->key.s.n != 8 || memcmp(hash, whole, sizeof whole) == 0) return SHEAF_OK;
    if (!gauges_decode_stats(row->value, n) || n[0] <= 0 || n[1] <= 0) return SHEAF_OK;
    uint64_t space = 0;
    for (int i = 0; i < 8; i++) space = space << 8 | s[i];
    if (space != t->space && !gauges_index(t, space))
        return SHEAF_OK; /* of an index that is gone */
    sheaf_place place = sheaf_place_make(space, hash);
    return seat_stored(core, t, txn, &place, (uint64_t)n[1], err);
}

static void note_after(struct gauges *g, const sheaf_engine_key *key)
{
    if (key->s.n != sizeof g->after_s) return; /* not a row of ours; the next one will do */
    g->after_place = key->p;
    memcpy(g->after_s, key->s.p, sizeof g->after_s);
    g->has_after = true;
}

static sheaf_rc rebuild(struct core *core, const struct table *t, uint32_t max_rows,
                        sheaf_error *err)
{
    struct gauges *g = t->gauges;
    uint8_t s[8]; /* a copy: note_after changes the original while the cursor is open */
    memcpy(s, g->after_s, sizeof s);
    sheaf_engine_key after = {g->after_place, SPAN(s, sizeof s)};
    struct sheaf_walk walk = {.space = t->stats_space, .after = g->has_after ? &after : NULL};
    sheaf_txn *txn;
    sheaf_cursor *cursor = NULL;
    sheaf_rc rc;
    TRY(eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &txn, err));
    TRY_OUT(eng_walk(txn, &walk, &cursor, err));
    for (uint32_t i = 0; i < max_rows && !g->is_rebuilt; i++) {
        struct sheaf_row row;
        bool has_row;
        TRY_OUT(eng_next(cursor, &row, &has_row, err));
        if (!has_row) {
            g->is_rebuilt = true;
            break;
        }
        note_after(g, &row.key);
        TRY_OUT(take_row(core, t, txn, &row, err));
    }
out:
    eng_cursor_close(cursor);
    eng_rollback(txn);
    return rc;
}

sheaf_rc gauges_rebuild(struct core *core, const struct table *t, uint32_t max_rows,
                        bool *has_more_out, sheaf_error *err)
{
    struct gauges *g = t->gauges;
    sheaf_rc rc = SHEAF_OK;
    *has_more_out = false;
    if (!g) return SHEAF_OK;
    pthread_mutex_lock(&g->rebuild);
    if (!g->is_rebuilt) rc = rebuild(core, t, max_rows, err);
    *has_more_out = !g->is_rebuilt;
    pthread_mutex_unlock(&g->rebuild);
    return rc;
}

sheaf_rc gauges_round(struct core *core, uint32_t max_rows, bool *has_more_out, sheaf_error *err)
{
    enum { LIST_MAX = 8 << 20 };
    struct arena arena;
    arena_init(&arena, LIST_MAX);
    struct ctx c = {&arena, err};
    struct table **tables;
    uint32_t n;
    *has_more_out = false;
    sheaf_rc rc = cat_all(core, &c, &tables, &n);
    for (uint32_t i = 0; i < n; i++) {
        bool has_more = false;
        if (rc == SHEAF_OK) rc = gauges_rebuild(core, tables[i], max_rows, &has_more, err);
        *has_more_out |= has_more;
        table_unref(tables[i]);
    }
    arena_deinit(&arena);
    return rc;
}
