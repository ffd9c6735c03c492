/* Turns mem into an engine with one bug. Before editing: with PLANT_NONE it must pass the whole
 * suite, so that what is caught is the plant and not the wrapper. */
#include "contract/plant.h"

#include "base/err.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_ROOM = 8192 };

struct plant_engine {
    sheaf_engine base;
    sheaf_engine *inner;
    enum plant plant;
    struct sheaf_engine_caps caps;
    atomic_uint_fast64_t stamps, reads;
    uint8_t shared[1 << 12];
};
struct plant_txn {
    sheaf_txn base;
    sheaf_txn *inner, *second, *unprotected;
    struct plant_engine *e;
    enum sheaf_txn_mode mode;
    bool has_writes;
    uint64_t puts;
    sheaf_engine_key last_key; /* of the last put, with its bytes */
    uint8_t last_s[KEY_ROOM], *last_value;
    size_t last_n;
    sheaf_stamp stamp;
    bool has_stamp;
};
struct plant_cursor {
    sheaf_cursor base;
    sheaf_cursor *inner;
    struct plant_txn *t;
    const struct sheaf_range *late; /* BOUNDS_NOT_COPIED */
    struct sheaf_range range;
    uint8_t s[KEY_ROOM];
};

static const struct sheaf_engine_ops plant_ops;

static struct plant_engine *engine_of(const sheaf_engine *e)
{
    return (struct plant_engine *)(uintptr_t)e;
}
static struct plant_txn *txn_of(sheaf_txn *t) { return (struct plant_txn *)t; }
static struct plant_cursor *cursor_of(sheaf_cursor *c) { return (struct plant_cursor *)c; }
static bool has(const struct plant_engine *e, enum plant p) { return e->plant == p; }

/* SIGNED_BYTES: the key as it is stored. The buffer must live as long as the key. */
static sheaf_engine_key stored_key(const struct plant_engine *e, const sheaf_engine_key *k,
                                   uint8_t *room)
{
    if (!has(e, PLANT_SIGNED_BYTES) || k->s.n > KEY_ROOM) return *k;
    for (size_t i = 0; i < k->s.n; i++) room[i] = ((const uint8_t *)k->s.p)[i] ^ 0x80;
    return (sheaf_engine_key){k->p, SPAN(room, k->s.n)};
}

/* ---- reads ---- */

static sheaf_rc unprotected_get(struct plant_txn *t, const sheaf_engine_key *k, span *v,
                                sheaf_error *err)
{
    if (!t->unprotected) TRY(eng_begin(t->e->inner, SHEAF_TXN_SNAPSHOT, &t->unprotected, err));
    return eng_get(t->unprotected, 1, k, v, err);
}

static sheaf_rc newest_get(struct plant_txn *t, const sheaf_engine_key *k, span *v,
                           sheaf_error *err)
{
    if (t->unprotected) eng_rollback(t->unprotected);
    t->unprotected = NULL;
    return unprotected_get(t, k, v, err);
}

static sheaf_rc get_one(struct plant_txn *t, const sheaf_engine_key *key, span *v, sheaf_error *err)
{
    uint8_t room[KEY_ROOM];
    sheaf_engine_key k = stored_key(t->e, key, room);
    bool is_rw = t->mode == SHEAF_TXN_RW;
    if (has(t->e, PLANT_SEES_OWN_WRITES) && t->last_value && span_eq(key->s, t->last_key.s) &&
        memcmp(&key->p, &t->last_key.p, sizeof key->p) == 0) {
        *v = SPAN(t->last_value, t->last_n);
        return SHEAF_OK;
    }
    if (has(t->e, PLANT_SNAPSHOT_MOVES) && !is_rw) return newest_get(t, &k, v, err);
    if (has(t->e, PLANT_GET_UNPROTECTED) && is_rw) return unprotected_get(t, &k, v, err);
    if (has(t->e, PLANT_ABSENT_UNPROTECTED) && is_rw) {
        TRY(unprotected_get(t, &k, v, err));
        if (!v->p) return SHEAF_OK;
    }
    TRY(eng_get(t->inner, 1, &k, v, err));
    if (has(t->e, PLANT_EMPTY_IS_ABSENT) && v->n == 0) *v = SPAN_NONE;
    if (has(t->e, PLANT_GET_NOT_KEPT) && v->p && v->n <= sizeof t->e->shared) {
        if (v->n) memcpy(t->e->shared, v->p, v->n);
        v->p = t->e->shared;
    }
    return SHEAF_OK;
}

static sheaf_rc plant_get(sheaf_txn *t, size_t n, const sheaf_engine_key keys[], span values[],
                          sheaf_error *err)
{
    for (size_t i = 0; i < n; i++) values[i] = SPAN_NONE;
    for (size_t i = 0; i < n; i++) TRY(get_one(txn_of(t), &keys[i], &values[i], err));
    return SHEAF_OK;
}

static sheaf_rc plant_guard(sheaf_txn *txn, const sheaf_engine_key *key, sheaf_error *err)
{
    struct plant_txn *t = txn_of(txn);
    uint8_t room[KEY_ROOM];
    sheaf_engine_key k = stored_key(t->e, key, room);
    return has(t->e, PLANT_GUARD_UNPROTECTED) ? SHEAF_OK : eng_guard(t->inner, &k, err);
}

static sheaf_rc plant_read(sheaf_engine *engine, const sheaf_engine_key *key, span *v, void **pin,
                           sheaf_error *err)
{
    struct plant_engine *e = engine_of(engine);
    uint8_t room[KEY_ROOM];
    sheaf_engine_key k = stored_key(e, key, room);
    TRY(eng_read(e->inner, &k, v, pin, err));
    if (has(e, PLANT_EMPTY_IS_ABSENT) && v->p && v->n == 0) {
        eng_read_done(e->inner, *pin);
        *v = SPAN_NONE, *pin = NULL;
    }
    bool is_small = v->p && v->n <= sizeof e->shared;
    if (has(e, PLANT_PIN_NOT_KEPT) && is_small) {
        if (v->n) memcpy(e->shared, v->p, v->n);
        v->p = e->shared;
    }
    if (has(e, PLANT_STALE_READ) && is_small && v->n == 8) { /* keeps one answer for ten reads */
        if (atomic_fetch_add(&e->reads, 1) % 10 == 0) memcpy(e->shared, v->p, 8);
        v->p = e->shared;
    }
    return SHEAF_OK;
}

static void plant_read_done(sheaf_engine *e, void *pin) { eng_read_done(engine_of(e)->inner, pin); }

/* ---- cursors ---- */

static sheaf_cursor *cursor_new(struct plant_txn *t, sheaf_cursor *inner)
{
    struct plant_cursor *c = calloc(1, sizeof *c);
    c->base.ops = &plant_ops;
    c->inner = inner;
    c->t = t;
    return &c->base;
}

/* A bound one 00 longer is the next possible key: inclusive becomes exclusive and the reverse. */
static span longer(span s, uint8_t *room)
{
    if (s.n) memcpy(room, s.p, s.n);
    room[s.n] = 0;
    return SPAN(room, s.n + 1);
}

static sheaf_rc open_range(struct plant_txn *t, const struct sheaf_range *asked, sheaf_cursor **c,
                           sheaf_error *err)
{
    const struct plant_engine *e = t->e;
    struct sheaf_range r = *asked;
    uint8_t lo[KEY_ROOM + 1], hi[KEY_ROOM + 1];
    sheaf_engine_key a = {r.p, r.lo}, b = {r.p, r.hi};
    r.lo = stored_key(e, &a, lo).s;
    if (r.hi.p) r.hi = stored_key(e, &b, hi).s;
    if (has(e, PLANT_LO_EXCLUSIVE) && r.lo.p) r.lo = longer(r.lo, lo);
    if (has(e, PLANT_HI_INCLUSIVE) && r.hi.p) r.hi = longer(r.hi, hi);
    if (has(e, PLANT_EMPTY_HI_UNBOUNDED) && r.hi.n == 0) r.hi = SPAN_NONE;
    if (has(e, PLANT_REVERSE_IGNORED)) r.is_reverse = false;
    if (has(e, PLANT_MAX_ROWS_OFF_BY_ONE) && r.max_rows) r.max_rows++;
    if (has(e, PLANT_MAX_BYTES_OFF_BY_ONE) && r.max_bytes) r.max_bytes++;
    return eng_range(t->inner, &r, c, err);
}

static sheaf_rc plant_range(sheaf_txn *txn, const struct sheaf_range *range, sheaf_cursor **out,
                            sheaf_error *err)
{
    struct plant_txn *t = txn_of(txn);
    sheaf_cursor *inner = NULL;
    *out = NULL;
    if (has(t->e, PLANT_BOUNDS_NOT_COPIED)) {
        struct plant_cursor *c = cursor_of(cursor_new(t, NULL));
        c->range = *range;
        c->late = &c->range;
        *out = &c->base;
        return SHEAF_OK;
    }
    TRY(open_range(t, range, &inner, err));
    *out = cursor_new(t, inner);
    return SHEAF_OK;
}

static sheaf_rc plant_walk(sheaf_txn *txn, const struct sheaf_walk *walk, sheaf_cursor **out,
                           sheaf_error *err)
{
    struct plant_txn *t = txn_of(txn);
    struct sheaf_walk w = *walk;
    sheaf_cursor *inner = NULL;
    struct sheaf_row row;
    bool has_row;
    uint8_t room[KEY_ROOM];
    sheaf_engine_key after;
    *out = NULL;
    if (w.after) after = stored_key(t->e, w.after, room), w.after = &after;
    if (has(t->e, PLANT_WALK_DROPS_LAST_SEGMENT) && w.n_segments > 1) w.n_segments++;
    if (has(t->e, PLANT_WALK_SEGMENTS_OVERLAP)) w.segment = 0, w.n_segments = 1;
    if (has(t->e, PLANT_WALK_UNEVEN) && w.n_segments > 1) {
        if (w.segment == 0)
            w.n_segments = 1;
        else
            w.segment = w.n_segments, w.max_rows = 1, w.space = ~(uint64_t)0 - 1;
        w.segment = 0;
    }
    if (has(t->e, PLANT_WALK_AFTER_IGNORED)) w.after = NULL;
    if (has(t->e, PLANT_WALK_AFTER_SKIPS) && w.after && w.max_rows) w.max_rows++;
    TRY(eng_walk(t->inner, &w, &inner, err));
    if (has(t->e, PLANT_WALK_AFTER_SKIPS) && w.after) TRY(eng_next(inner, &row, &has_row, err));
    *out = cursor_new(t, inner);
    return SHEAF_OK;
}

static sheaf_rc plant_next(sheaf_cursor *cursor, struct sheaf_row *row, bool *has_row,
                           sheaf_error *err)
{
    struct plant_cursor *c = cursor_of(cursor);
    if (c->late) TRY(open_range(c->t, c->late, &c->inner, err));
    c->late = NULL;
    TRY(eng_next(c->inner, row, has_row, err));
    if (*has_row) row->key = stored_key(c->t->e, &row->key, c->s);
    return SHEAF_OK;
}

static void plant_cursor_close(sheaf_cursor *c)
{
    eng_cursor_close(cursor_of(c)->inner);
    free(c);
}

/* ---- writes ---- */

static bool swallows(const struct plant_txn *t)
{
    return has(t->e, PLANT_SNAPSHOT_TAKES_WRITES) && t->mode != SHEAF_TXN_RW;
}

static void keep_last(struct plant_txn *t, const sheaf_engine_key *k, span value)
{
    if (k->s.n > KEY_ROOM) return;
    if (k->s.n) memcpy(t->last_s, k->s.p, k->s.n);
    t->last_key = (sheaf_engine_key){k->p, SPAN(t->last_s, k->s.n)};
    free(t->last_value);
    t->last_value = malloc(value.n + 1);
    if (value.n) memcpy(t->last_value, value.p, value.n);
    t->last_n = value.n;
}

static sheaf_rc plant_put(sheaf_txn *txn, const sheaf_engine_key *key, span value, sheaf_error *err)
{
    struct plant_txn *t = txn_of(txn);
    uint8_t room[KEY_ROOM];
    sheaf_engine_key k = stored_key(t->e, key, room);
    if (swallows(t)) return SHEAF_OK;
    t->has_writes = true;
    if (has(t->e, PLANT_BLIND_PUT_CONFLICTS)) TRY(eng_guard(t->inner, &k, err));
    if (has(t->e, PLANT_HALF_COMMITS) && t->puts++ % 2) {
        if (!t->second) TRY(eng_begin(t->e->inner, t->mode, &t->second, err));
        return eng_put(t->second, &k, value, err);
    }
    TRY(eng_put(t->inner, &k, value, err));
    if (has(t->e, PLANT_SEES_OWN_WRITES) || has(t->e, PLANT_CONFLICT_COMMITS))
        keep_last(t, &k, value);
    return SHEAF_OK;
}

static sheaf_rc plant_del(sheaf_txn *txn, const sheaf_engine_key *key, sheaf_error *err)
{
    struct plant_txn *t = txn_of(txn);
    uint8_t room[KEY_ROOM];
    sheaf_engine_key k = stored_key(t->e, key, room);
    t->has_writes = true;
    return swallows(t) ? SHEAF_OK : eng_del(t->inner, &k, err);
}

/* DEL_RANGE_EARLY: what is there now, one by one. */
static sheaf_rc del_range_now(struct plant_txn *t, const struct sheaf_range *r, sheaf_error *err)
{
    sheaf_cursor *c;
    struct sheaf_row row;
    bool has_row = true;
    TRY(eng_range(t->inner, r, &c, err));
    sheaf_rc rc = SHEAF_OK;
    while (rc == SHEAF_OK && has_row) {
        rc = eng_next(c, &row, &has_row, err);
        if (rc == SHEAF_OK && has_row) rc = eng_del(t->inner, &row.key, err);
    }
    eng_cursor_close(c);
    return rc;
}

static sheaf_rc plant_del_range(sheaf_txn *txn, const sheaf_place *p, span lo, span hi,
                                sheaf_error *err)
{
    struct plant_txn *t = txn_of(txn);
    uint8_t lo_room[KEY_ROOM + 1], hi_room[KEY_ROOM + 1];
    sheaf_engine_key a = {*p, lo}, b = {*p, hi};
    if (swallows(t)) return SHEAF_OK;
    t->has_writes = true;
    lo = stored_key(t->e, &a, lo_room).s;
    if (hi.p) hi = stored_key(t->e, &b, hi_room).s;
    if (has(t->e, PLANT_DEL_RANGE_SKIPS_FIRST)) lo = longer(lo, lo_room);
    if (has(t->e, PLANT_DEL_RANGE_TAKES_HI) && hi.p) hi = longer(hi, hi_room);
    if (has(t->e, PLANT_DEL_RANGE_EARLY) && t->mode == SHEAF_TXN_RW)
        return del_range_now(t, &(struct sheaf_range){.p = *p, .lo = lo, .hi = hi}, err);
    return eng_del_range(t->inner, p, lo, hi, err);
}

/* ADD_NOT_ATOMIC: reads what is there now, without protection, and puts the sum. */
static sheaf_rc add_by_put(struct plant_txn *t, const sheaf_engine_key *k, size_t n,
                           const int64_t deltas[], sheaf_error *err)
{
    uint64_t sum[64] = {0};
    span v;
    TRY(newest_get(t, k, &v, err));
    if (v.p) memcpy(sum, v.p, v.n < sizeof sum ? v.n : sizeof sum);
    for (size_t i = 0; i < n && i < 64; i++) sum[i] += (uint64_t)deltas[i];
    return eng_put(t->inner, k, SPAN(sum, 8 * n), err);
}

static sheaf_rc plant_add(sheaf_txn *txn, const sheaf_engine_key *key, size_t n,
                          const int64_t deltas[], sheaf_error *err)
{
    struct plant_txn *t = txn_of(txn);
    uint8_t room[KEY_ROOM];
    sheaf_engine_key k = stored_key(t->e, key, room);
    int64_t first[64] = {0};
    if (swallows(t)) return SHEAF_OK;
    t->has_writes = true;
    if (has(t->e, PLANT_ADD_CONFLICTS)) TRY(eng_guard(t->inner, &k, err));
    if (has(t->e, PLANT_ADD_NOT_ATOMIC) && t->mode == SHEAF_TXN_RW)
        return add_by_put(t, &k, n, deltas, err);
    first[0] = deltas[0];
    return eng_add(t->inner, &k, n, has(t->e, PLANT_ADD_FIRST_ONLY) ? first : deltas, err);
}

static sheaf_rc plant_append(sheaf_txn *txn, const sheaf_place *log, span value, sheaf_error *err)
{
    struct plant_txn *t = txn_of(txn);
    if (swallows(t)) return SHEAF_OK;
    t->has_writes = true;
    if (!has(t->e, PLANT_APPEND_EARLY_STAMP)) return eng_append(t->inner, log, value, err);
    sheaf_stamp stamp = {{0}};
    uint64_t number = atomic_fetch_add(&t->e->stamps, 1) + 1;
    for (int i = 0; i < 8; i++) stamp.b[i] = (uint8_t)(number >> (56 - 8 * i));
    if (!t->has_stamp) t->stamp = stamp, t->has_stamp = true;
    sheaf_engine_key k = {*log, SPAN(stamp.b, sizeof stamp.b)};
    return eng_put(t->inner, &k, value, err);
}

/* ---- the end of a transaction ---- */

static void free_txn(struct plant_txn *t)
{
    if (t->unprotected) eng_rollback(t->unprotected);
    if (t->second) eng_rollback(t->second);
    free(t->last_value);
    free(t);
}

/* CONFLICT_COMMITS: the last put goes in all the same. */
static void put_anyway(struct plant_txn *t)
{
    sheaf_txn *again;
    if (!t->last_value || eng_begin(t->e->inner, SHEAF_TXN_RW, &again, NULL) != SHEAF_OK) return;
    sheaf_rc rc = eng_put(again, &t->last_key, SPAN(t->last_value, t->last_n), NULL);
    if (rc == SHEAF_OK) rc = eng_commit(again, NULL, NULL, NULL);
    (void)rc;
}

static sheaf_rc plant_commit(sheaf_txn *txn, sheaf_position *at, sheaf_stamp *stamp,
                             sheaf_error *err)
{
    struct plant_txn *t = txn_of(txn);
    sheaf_rc rc = SHEAF_OK;
    if (has(t->e, PLANT_READ_ONLY_UNCHECKED) && !t->has_writes) {
        if (at) *at = eng_visible(t->e->inner);
        eng_rollback(t->inner);
    } else {
        rc = eng_commit(t->inner, at, stamp, err);
    }
    if (rc == SHEAF_OK && t->second) {
        sched_yield(); /* as an engine with two writes in a row would be interrupted */
        rc = eng_commit(t->second, at, NULL, err);
        t->second = NULL;
    }
    if (rc == SHEAF_OK && stamp && t->has_stamp) *stamp = t->stamp;
    if (rc == SHEAF_OK && stamp && has(t->e, PLANT_STAMP_OUT_WRONG)) stamp->b[11] = 1;
    if (rc == SHEAF_CONFLICT && has(t->e, PLANT_CONFLICT_COMMITS)) put_anyway(t);
    free_txn(t);
    return rc;
}

static void plant_rollback(sheaf_txn *txn)
{
    struct plant_txn *t = txn_of(txn);
    sheaf_rc rc = SHEAF_OK;
    if (has(t->e, PLANT_ROLLBACK_COMMITS))
        rc = eng_commit(t->inner, NULL, NULL, NULL);
    else
        eng_rollback(t->inner);
    (void)rc;
    free_txn(t);
}

static sheaf_rc plant_begin(sheaf_engine *engine, enum sheaf_txn_mode mode, sheaf_txn **out,
                            sheaf_error *err)
{
    sheaf_txn *inner;
    *out = NULL;
    TRY(eng_begin(engine_of(engine)->inner, mode, &inner, err));
    struct plant_txn *t = calloc(1, sizeof *t);
    t->base.ops = &plant_ops;
    t->inner = inner;
    t->e = engine_of(engine);
    t->mode = mode;
    *out = &t->base;
    return SHEAF_OK;
}

/* ---- the engine ---- */

static void plant_close(sheaf_engine *e)
{
    sheaf_engine_close(engine_of(e)->inner);
    free(e);
}

static void plant_caps(const sheaf_engine *e, struct sheaf_engine_caps *out)
{
    *out = engine_of(e)->caps;
}

static sheaf_position plant_visible(sheaf_engine *e)
{
    sheaf_position at = eng_visible(engine_of(e)->inner);
    return at - (at && has(engine_of(e), PLANT_VISIBLE_LAGS));
}

static sheaf_position plant_durable(sheaf_engine *e)
{
    sheaf_position at = eng_durable(engine_of(e)->inner);
    return at - (at && has(engine_of(e), PLANT_DURABLE_LAGS));
}

static sheaf_rc plant_sync(sheaf_engine *e, sheaf_position at, sheaf_error *err)
{
    return eng_sync(engine_of(e)->inner, at, err);
}

static sheaf_rc plant_on_durable(sheaf_engine *e, sheaf_position at, sheaf_durable_fn done,
                                 void *ctx, sheaf_error *err)
{
    if (has(engine_of(e), PLANT_CALLS_BACK_TWICE)) done(ctx, SHEAF_OK);
    return eng_on_durable(engine_of(e)->inner, at, done, ctx, err);
}

static sheaf_rc plant_drop_space(sheaf_engine *engine, uint64_t space, sheaf_error *err)
{
    struct plant_engine *e = engine_of(engine);
    if (has(e, PLANT_DROP_DOES_NOTHING)) return SHEAF_OK;
    if (has(e, PLANT_DROP_TAKES_NEIGHBOUR)) TRY(eng_drop_space(e->inner, space + 1, err));
    return eng_drop_space(e->inner, space, err);
}

static sheaf_rc plant_checkpoint(sheaf_engine *e, const char *directory, sheaf_error *err)
{
    return eng_checkpoint(engine_of(e)->inner, directory, err);
}

static void plant_stats(sheaf_engine *e, struct sheaf_engine_stats *out)
{
    eng_stats(engine_of(e)->inner, out);
    out->visible = plant_visible(e);
    out->durable = plant_durable(e);
    if (has(engine_of(e), PLANT_STATS_FORGET)) out->conflicts = 0;
}

static sheaf_rc plant_verify(sheaf_engine *e, sheaf_complaint_fn complain, void *ctx,
                             sheaf_error *err)
{
    TRY(eng_verify(engine_of(e)->inner, complain, ctx, err));
    return has(engine_of(e), PLANT_VERIFY_COMPLAINS) ? SHEAF_CORRUPT : SHEAF_OK;
}

static const struct sheaf_engine_ops plant_ops = {
    .size = sizeof(struct sheaf_engine_ops),
    .name = "plant",
    .close = plant_close,
    .caps = plant_caps,
    .begin = plant_begin,
    .get = plant_get,
    .guard = plant_guard,
    .range = plant_range,
    .walk = plant_walk,
    .next = plant_next,
    .cursor_close = plant_cursor_close,
    .put = plant_put,
    .del = plant_del,
    .del_range = plant_del_range,
    .add = plant_add,
    .append = plant_append,
    .commit = plant_commit,
    .rollback = plant_rollback,
    .read = plant_read,
    .read_done = plant_read_done,
    .visible = plant_visible,
    .durable = plant_durable,
    .sync = plant_sync,
    .on_durable = plant_on_durable,
    .drop_space = plant_drop_space,
    .checkpoint = plant_checkpoint,
    .stats = plant_stats,
    .verify = plant_verify,
};

static const char *const names[] = {"NONE",
#define PLANT_X_(name, what) #name,
                                    PLANTS(PLANT_X_)
#undef PLANT_X_
};
static const char *const whats[] = {"nothing is planted",
#define PLANT_X_(name, what) what,
                                    PLANTS(PLANT_X_)
#undef PLANT_X_
};

const char *plant_name(enum plant p) { return names[p]; }
const char *plant_what(enum plant p) { return whats[p]; }

sheaf_rc plant_open(enum plant p, sheaf_engine **out, sheaf_error *err)
{
    sheaf_engine *inner;
    struct sheaf_mem_options options = {
        .caps = {.max_key = 3000, .max_value = 500000, .max_txn_bytes = 12 * 1000 * 1000}};
    TRY(sheaf_engine_open_mem(&options, &inner, err));
    struct plant_engine *e = calloc(1, sizeof *e);
    e->base.ops = &plant_ops;
    e->inner = inner;
    e->plant = p;
    eng_caps(inner, &e->caps);
    if (p == PLANT_KEY_CAP_LOW) e->caps.max_key++;
    if (p == PLANT_KEY_CAP_HIGH) e->caps.max_key--;
    if (p == PLANT_VALUE_CAP_HIGH) e->caps.max_value--;
    if (p == PLANT_TXN_CAP_HIGH) e->caps.max_txn_bytes--;
    *out = &e->base;
    return SHEAF_OK;
}
