/* Turns an engine into a buggy one: writes are kept back until the commit, and the planted bug
 * decides what becomes of them. Know before editing: core writes the item first, then its index
 * entries, then the stream record; "an index entry" is the second put of a transaction. */
#include "model/plant.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"

#include <pthread.h>

const char *const plant_names[] = {"none", "skip-index", "skip-stream", "halves", "skip-sync"};

enum plant plant_by_name(const char *name)
{
    for (int i = PLANT_SKIP_INDEX; i <= PLANT_SKIP_SYNC; i++)
        if (strcmp(name, plant_names[i]) == 0) return (enum plant)i;
    return PLANT_NONE;
}

struct planted {
    sheaf_engine base;
    sheaf_engine *inner;
    enum plant plant;
    pthread_mutex_t lock;
    struct rng rng; /* under lock */
};
enum write_op { OP_PUT, OP_DEL, OP_ADD, OP_APPEND };
struct kept {
    enum write_op op;
    sheaf_engine_key key;
    span value; /* or the deltas */
};
struct planted_txn {
    sheaf_txn base;
    sheaf_txn *inner;
    struct planted *engine;
    struct arena arena;
    struct kept *kept;
    size_t n, cap;
};

static struct planted *engine_of(const sheaf_engine *e) { return (struct planted *)(uintptr_t)e; }
static struct planted_txn *txn_of(sheaf_txn *t) { return (struct planted_txn *)t; }
static const struct sheaf_engine_ops planted_ops;

static bool one_in(struct planted *p, uint64_t n)
{
    pthread_mutex_lock(&p->lock);
    bool is_it = rng_below(&p->rng, n) == 0;
    pthread_mutex_unlock(&p->lock);
    return is_it;
}

/* ---- the engine ---- */

static void planted_close(sheaf_engine *e)
{
    sheaf_engine_close(engine_of(e)->inner);
    pthread_mutex_destroy(&engine_of(e)->lock);
    mem_free(engine_of(e));
}
static void planted_caps(const sheaf_engine *e, struct sheaf_engine_caps *out)
{
    eng_caps(engine_of(e)->inner, out);
}
static sheaf_rc planted_begin(sheaf_engine *e, enum sheaf_txn_mode mode, sheaf_txn **out,
                              sheaf_error *err)
{
    struct planted_txn *t = mem_zalloc(sizeof *t);
    *out = NULL;
    if (!t) return err_nomem(err);
    t->base.ops = &planted_ops;
    t->engine = engine_of(e);
    arena_init(&t->arena, 64 << 20);
    sheaf_rc rc = eng_begin(t->engine->inner, mode, &t->inner, err);
    if (rc == SHEAF_OK)
        *out = &t->base;
    else
        mem_free(t);
    return rc;
}
static sheaf_rc planted_read(sheaf_engine *e, const sheaf_engine_key *key, span *value, void **pin,
                             sheaf_error *err)
{
    return eng_read(engine_of(e)->inner, key, value, pin, err);
}
static void planted_read_done(sheaf_engine *e, void *pin)
{
    eng_read_done(engine_of(e)->inner, pin);
}
static sheaf_position planted_visible(sheaf_engine *e) { return eng_visible(engine_of(e)->inner); }
static sheaf_position planted_durable(sheaf_engine *e) { return eng_durable(engine_of(e)->inner); }
static sheaf_rc planted_sync(sheaf_engine *e, sheaf_position at, sheaf_error *err)
{
    return eng_sync(engine_of(e)->inner, at, err);
}
static sheaf_rc planted_on_durable(sheaf_engine *e, sheaf_position at, sheaf_durable_fn done,
                                   void *ctx, sheaf_error *err)
{
    return eng_on_durable(engine_of(e)->inner, at, done, ctx, err);
}
static sheaf_rc planted_drop_space(sheaf_engine *e, uint64_t space, sheaf_error *err)
{
    return eng_drop_space(engine_of(e)->inner, space, err);
}
static sheaf_rc planted_checkpoint(sheaf_engine *e, const char *directory, sheaf_error *err)
{
    return eng_checkpoint(engine_of(e)->inner, directory, err);
}
static void planted_stats(sheaf_engine *e, struct sheaf_engine_stats *out)
{
    eng_stats(engine_of(e)->inner, out);
}
static sheaf_rc planted_verify(sheaf_engine *e, sheaf_complaint_fn complain, void *ctx,
                               sheaf_error *err)
{
    return eng_verify(engine_of(e)->inner, complain, ctx, err);
}

/* ---- reading ---- */

static sheaf_rc planted_get(sheaf_txn *t, size_t n, const sheaf_engine_key keys[], span values[],
                            sheaf_error *err)
{
    return eng_get(txn_of(t)->inner, n, keys, values, err);
}
static sheaf_rc planted_guard(sheaf_txn *t, const sheaf_engine_key *key, sheaf_error *err)
{
    return eng_guard(txn_of(t)->inner, key, err);
}
/* Cursors are the wrapped engine's own. */
static sheaf_rc planted_range(sheaf_txn *t, const struct sheaf_range *r, sheaf_cursor **out,
                              sheaf_error *err)
{
    return eng_range(txn_of(t)->inner, r, out, err);
}
static sheaf_rc planted_walk(sheaf_txn *t, const struct sheaf_walk *w, sheaf_cursor **out,
                             sheaf_error *err)
{
    return eng_walk(txn_of(t)->inner, w, out, err);
}

/* ---- writing ---- */

static sheaf_rc keep(sheaf_txn *t, enum write_op op, const sheaf_engine_key *key, span value,
                     sheaf_error *err)
{
    struct planted_txn *p = txn_of(t);
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 32;
        struct kept *more = arena_alloc(&p->arena, cap * sizeof *more);
        if (!more) return err_nomem(err);
        if (p->n) memcpy(more, p->kept, p->n * sizeof *more);
        p->kept = more;
        p->cap = cap;
    }
    struct kept *k = &p->kept[p->n++];
    *k = (struct kept){op, {key->p, arena_dup(&p->arena, key->s)}, SPAN(NULL, value.n)};
    void *copy = arena_alloc(&p->arena, value.n + 1);
    if (!copy) return err_nomem(err);
    if (value.n) memcpy(copy, value.p, value.n);
    k->value.p = copy;
    return SHEAF_OK;
}
static sheaf_rc planted_put(sheaf_txn *t, const sheaf_engine_key *key, span value, sheaf_error *err)
{
    return keep(t, OP_PUT, key, value, err);
}
static sheaf_rc planted_del(sheaf_txn *t, const sheaf_engine_key *key, sheaf_error *err)
{
    return keep(t, OP_DEL, key, SPAN_NONE, err);
}
static sheaf_rc planted_del_range(sheaf_txn *t, const sheaf_place *p, span lo, span hi,
                                  sheaf_error *err)
{
    return eng_del_range(txn_of(t)->inner, p, lo, hi, err);
}
static sheaf_rc planted_add(sheaf_txn *t, const sheaf_engine_key *key, size_t n,
                            const int64_t deltas[], sheaf_error *err)
{
    return keep(t, OP_ADD, key, SPAN(deltas, n * sizeof *deltas), err);
}
static sheaf_rc planted_append(sheaf_txn *t, const sheaf_place *log, span value, sheaf_error *err)
{
    sheaf_engine_key key = {*log, SPAN_NONE};
    return keep(t, OP_APPEND, &key, value, err);
}

static sheaf_rc apply(sheaf_txn *to, const struct kept *k, sheaf_error *err)
{
    switch (k->op) {
    case OP_PUT:
        return eng_put(to, &k->key, k->value, err);
    case OP_DEL:
        return eng_del(to, &k->key, err);
    case OP_ADD:
        return eng_add(to, &k->key, k->value.n / sizeof(int64_t), k->value.p, err);
    default:
        return eng_append(to, &k->key.p, k->value, err);
    }
}

/* Whether the bug lets this write fall out. */
static bool is_skipped(struct planted_txn *p, size_t i, size_t *n_puts)
{
    const struct kept *k = &p->kept[i];
    if (k->op == OP_PUT && ++*n_puts == 2 && p->engine->plant == PLANT_SKIP_INDEX)
        return one_in(p->engine, 40);
    return k->op == OP_APPEND && p->engine->plant == PLANT_SKIP_STREAM && one_in(p->engine, 40);
}

static sheaf_rc apply_some(struct planted_txn *p, sheaf_txn *to, size_t from, size_t end,
                           sheaf_error *err)
{
    size_t n_puts = 0;
    for (size_t i = from; i < end; i++)
        if (!is_skipped(p, i, &n_puts)) TRY(apply(to, &p->kept[i], err));
    return SHEAF_OK;
}

static sheaf_rc commit_half(struct planted_txn *p, sheaf_txn *to, size_t from, size_t end,
                            sheaf_position *position, sheaf_stamp *stamp, sheaf_error *err)
{
    sheaf_rc rc = apply_some(p, to, from, end, err);
    if (rc == SHEAF_OK) return eng_commit(to, position, stamp, err);
    eng_rollback(to);
    return rc;
}

static sheaf_rc planted_commit(sheaf_txn *t, sheaf_position *position, sheaf_stamp *stamp,
                               sheaf_error *err)
{
    struct planted_txn *p = txn_of(t);
    struct planted *e = p->engine;
    sheaf_position first = 0;
    bool splits = e->plant == PLANT_HALVES && p->n > 3;
    size_t half = splits ? p->n / 2 : p->n;
    sheaf_rc rc = commit_half(p, p->inner, 0, half, splits ? &first : position, stamp, err);
    if (rc == SHEAF_OK && splits) rc = eng_sync(e->inner, first, err);
    if (rc == SHEAF_OK && splits) rc = eng_begin(e->inner, SHEAF_TXN_RW, &p->inner, err);
    if (rc == SHEAF_OK && splits) rc = commit_half(p, p->inner, half, p->n, position, stamp, err);
    arena_deinit(&p->arena);
    mem_free(p);
    return rc;
}
static void planted_rollback(sheaf_txn *t)
{
    struct planted_txn *p = txn_of(t);
    eng_rollback(p->inner);
    arena_deinit(&p->arena);
    mem_free(p);
}

static const struct sheaf_engine_ops planted_ops = {
    .size = sizeof(struct sheaf_engine_ops),
    .name = "planted",
    .close = planted_close,
    .caps = planted_caps,
    .begin = planted_begin,
    .get = planted_get,
    .guard = planted_guard,
    .range = planted_range,
    .walk = planted_walk,
    .put = planted_put,
    .del = planted_del,
    .del_range = planted_del_range,
    .add = planted_add,
    .append = planted_append,
    .commit = planted_commit,
    .rollback = planted_rollback,
    .read = planted_read,
    .read_done = planted_read_done,
    .visible = planted_visible,
    .durable = planted_durable,
    .sync = planted_sync,
    .on_durable = planted_on_durable,
    .drop_space = planted_drop_space,
    .checkpoint = planted_checkpoint,
    .stats = planted_stats,
    .verify = planted_verify,
};

sheaf_rc plant_open(sheaf_engine *inner, enum plant plant, uint64_t seed, sheaf_engine **out)
{
    struct planted *p = mem_zalloc(sizeof *p);
    if (!p) return SHEAF_NOMEM;
    *p = (struct planted){.base = {&planted_ops}, .inner = inner, .plant = plant};
    pthread_mutex_init(&p->lock, NULL);
    rng_init(&p->rng, seed);
    *out = &p->base;
    return SHEAF_OK;
}
