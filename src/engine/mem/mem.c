/* Turns sheaf_engine_open_mem into an engine: opening, single reads, positions, spaces and what the
 * engine says of itself. Transactions are in txn.c, cursors in cursor.c, the data in store.c.
 *
 * Know before editing: nothing here survives the process, so every commit counts as durable the
 * moment it is visible. */
#include "engine/mem/mem.h"

#include "base/mem.h"

#include <assert.h>

/* ---- opening ---- */

static sheaf_rc check_options(const struct sheaf_engine_caps *caps, sheaf_error *err)
{
    if (caps->is_durable || caps->can_checkpoint)
        return err_set(err, SHEAF_UNSUPPORTED,
                       "the mem engine cannot be durable or checkpointed; open rocks for that");
    if (caps->max_key > MEM_KEY_MAX)
        return err_validation(err, "max_key of the mem engine is at most %d", MEM_KEY_MAX);
    if (caps->max_value > MEM_VALUE_CEILING)
        return err_validation(err, "max_value of the mem engine is at most %d", MEM_VALUE_CEILING);
    return SHEAF_OK;
}

static struct sheaf_engine_caps caps_of(const struct sheaf_engine_caps *asked)
{
    struct sheaf_engine_caps caps = *asked;
    if (!caps.max_key) caps.max_key = MEM_KEY_MAX;
    if (!caps.max_value) caps.max_value = MEM_VALUE_MAX;
    if (!caps.max_txn_bytes) caps.max_txn_bytes = ENG_TXN_BYTES_DEFAULT;
    return caps;
}

sheaf_rc sheaf_engine_open_mem(const struct sheaf_mem_options *options, sheaf_engine **engine_out,
                               sheaf_error *err)
{
    static const struct sheaf_mem_options none;
    const struct sheaf_engine_caps *asked = options ? &options->caps : &none.caps;
    *engine_out = NULL;
    TRY(check_options(asked, err));
    struct mem_engine *e = mem_zalloc(sizeof *e);
    if (!e) return err_nomem(err);
    e->base.ops = &mem_ops;
    e->caps = caps_of(asked);
    sheaf_rc rc = eng_conflicts_init(&e->conflicts, 0, err);
    if (rc == SHEAF_OK && !mem_store_init(&e->store)) {
        eng_conflicts_deinit(&e->conflicts);
        rc = err_nomem(err);
    }
    if (rc != SHEAF_OK) {
        mem_free(e);
        return rc;
    }
    assert(e->caps.max_key > 0 && e->caps.max_key <= MEM_KEY_MAX);
    *engine_out = &e->base;
    return SHEAF_OK;
}

static void close_engine(sheaf_engine *engine)
{
    struct mem_engine *e = (struct mem_engine *)engine;
    assert(e->base.ops->close == close_engine);
    mem_store_deinit(&e->store);
    eng_conflicts_deinit(&e->conflicts);
    mem_free(e);
}

static void get_caps(const sheaf_engine *e, struct sheaf_engine_caps *caps_out)
{
    *caps_out = ((const struct mem_engine *)e)->caps;
}

/* ---- single reads ---- */

static sheaf_rc read_one(sheaf_engine *engine, const sheaf_engine_key *key, span *value_out,
                         void **pin_out, sheaf_error *err)
{
    struct mem_engine *e = (struct mem_engine *)engine;
    struct mem_flat flat;
    (void)err;
    *value_out = SPAN_NONE;
    *pin_out = NULL;
    struct mem_version *v = mem_store_pin(&e->store);
    const struct mem_rec *r = mem_tree_get(&v->tree, mem_flat_key(&flat, &key->p, key->s));
    if (!r) {
        mem_store_unpin(&e->store, v);
        return SHEAF_OK;
    }
    assert(key->s.n <= e->caps.max_key - SHEAF_PLACE_BYTES);
    *value_out = mem_rec_value(r);
    *pin_out = v;
    return SHEAF_OK;
}

static void read_done(sheaf_engine *e, void *pin)
{
    if (pin) mem_store_unpin(&((struct mem_engine *)e)->store, pin);
}

/* ---- positions ---- */

static sheaf_position position(sheaf_engine *e)
{
    return atomic_load(&((struct mem_engine *)e)->store.position);
}

static sheaf_rc sync_to(sheaf_engine *e, sheaf_position at, sheaf_error *err)
{
    if (at > position(e)) return err_validation(err, "the position is after the newest commit");
    atomic_fetch_add_explicit(&((struct mem_engine *)e)->n_syncs, 1, memory_order_relaxed);
    return SHEAF_OK;
}

static sheaf_rc on_durable(sheaf_engine *e, sheaf_position at, sheaf_durable_fn done, void *ctx,
                           sheaf_error *err)
{
    TRY(sync_to(e, at, err));
    done(ctx, SHEAF_OK);
    return SHEAF_OK;
}

/* ---- spaces ---- */

/* Few enough that other writers wait for about a millisecond at most. */
enum { DROP_AT_ONCE = 4096 };

static sheaf_rc drop_some(struct mem_engine *e, struct mem_cut *cut, sheaf_error *err)
{
    struct mem_build build;
    if (!mem_store_begin(&e->store, &build)) return err_nomem(err);
    bool is_done = mem_build_cut(&build, cut);
    if (!is_done || cut->n_removed == 0) {
        mem_build_abort(&build);
        return is_done ? SHEAF_OK : err_nomem(err);
    }
    eng_conflicts_stamp_all(&e->conflicts, build.number);
    assert(cut->n_removed <= e->store.current->tree.n_keys);
    mem_store_publish(&e->store, &build);
    return SHEAF_OK;
}

static sheaf_rc drop_space(sheaf_engine *engine, uint64_t space, sheaf_error *err)
{
    struct mem_engine *e = (struct mem_engine *)engine;
    static const uint8_t zeros[16];
    sheaf_place lo = sheaf_place_make(space, zeros), end = sheaf_place_make(space + 1, zeros);
    struct mem_cut cut = {.lo = SPAN(lo.b, sizeof lo.b), .max = DROP_AT_ONCE};
    if (space != UINT64_MAX) cut.end = SPAN(end.b, sizeof end.b);
    sheaf_rc rc;
    do {
        mem_store_lock(&e->store);
        rc = drop_some(e, &cut, err);
        mem_store_unlock(&e->store);
    } while (rc == SHEAF_OK && cut.n_removed >= cut.max);
    return rc;
}

static sheaf_rc checkpoint(sheaf_engine *e, const char *directory, sheaf_error *err)
{
    (void)e;
    (void)directory;
    return err_set(err, SHEAF_UNSUPPORTED,
                   "the mem engine has no files to copy; walk its spaces in a snapshot, or open "
                   "rocks to have checkpoints");
}

/* ---- what it says of itself ---- */

static void get_stats(sheaf_engine *engine, struct sheaf_engine_stats *stats_out)
{
    struct mem_engine *e = (struct mem_engine *)engine;
    struct mem_version *v = mem_store_pin(&e->store);
    *stats_out = (struct sheaf_engine_stats){
        .commits = atomic_load(&e->n_commits),
        .conflicts = atomic_load(&e->n_conflicts),
        .syncs = atomic_load(&e->n_syncs),
        .keys = v->tree.n_keys,
        .memory_bytes = sizeof *e + atomic_load(&e->store.bytes),
        .visible = v->position,
        .durable = v->position,
    };
    mem_store_unpin(&e->store, v);
}

struct verify {
    sheaf_complaint_fn complain;
    void *ctx;
    const char *first;
};

static bool pass_on(void *ctx, span key, const char *what)
{
    struct verify *v = ctx;
    sheaf_engine_key k;
    if (!v->first) v->first = what;
    if (!v->complain) return false;
    if (key.n < SHEAF_PLACE_BYTES) return v->complain(v->ctx, NULL, what); /* a cut separator */
    memcpy(k.p.b, key.p, SHEAF_PLACE_BYTES);
    k.s = span_from(key, SHEAF_PLACE_BYTES);
    return v->complain(v->ctx, &k, what);
}

/* When nothing but the pinned version is alive, its bytes are all there are: a difference is a leak
 * or something freed twice. */
static bool is_accounted_for(struct mem_store *s, const struct mem_version *pinned, uint64_t bytes)
{
    mem_store_lock(s);
    bool is_alone = s->current == pinned && !pinned->older;
    bool is_well = !is_alone || atomic_load(&s->bytes) == bytes;
    mem_store_unlock(s);
    return is_well;
}

static sheaf_rc verify(sheaf_engine *engine, sheaf_complaint_fn complain, void *ctx,
                       sheaf_error *err)
{
    struct mem_engine *e = (struct mem_engine *)engine;
    struct verify v = {.complain = complain, .ctx = ctx};
    struct mem_version *pinned = mem_store_pin(&e->store);
    struct mem_checker checker = {.complain = pass_on, .ctx = &v, .number = pinned->position};
    uint64_t bytes = 0;
    if (mem_tree_check(&pinned->tree, &checker, &bytes) &&
        !is_accounted_for(&e->store, pinned, bytes))
        pass_on(&v, SPAN_NONE, "memory is not what was counted");
    mem_store_unpin(&e->store, pinned);
    return v.first ? err_set(err, SHEAF_CORRUPT, "%s", v.first) : SHEAF_OK;
}

const struct sheaf_engine_ops mem_ops = {
    .size = sizeof(struct sheaf_engine_ops),
    .name = "mem",
    .close = close_engine,
    .caps = get_caps,
    .begin = mem_begin,
    .get = mem_get,
    .guard = mem_guard,
    .range = mem_range,
    .walk = mem_walk,
    .next = mem_next,
    .cursor_close = mem_cursor_close,
    .put = mem_put,
    .del = mem_del,
    .del_range = mem_del_range,
    .add = mem_add,
    .append = mem_append,
    .commit = mem_commit,
    .rollback = mem_rollback,
    .read = read_one,
    .read_done = read_done,
    .visible = position,
    .durable = position,
    .sync = sync_to,
    .on_durable = on_durable,
    .drop_space = drop_space,
    .checkpoint = checkpoint,
    .stats = get_stats,
    .verify = verify,
};
