/* Turns a transaction's calls into reads of one version, a log of writes, and at commit the next
 * version.
 *
 * Know before editing: everything an RW transaction reads comes from one version, pinned at its first
 * read together with the position that the conflict check compares with. So a body never sees two
 * moments at once, even when its commit will be refused. */
#include "engine/mem/mem.h"

#include "base/mem.h"

#include <assert.h>

sheaf_rc mem_begin(sheaf_engine *e, enum sheaf_txn_mode mode, sheaf_txn **txn_out, sheaf_error *err)
{
    *txn_out = NULL;
    struct mem_txn *t = mem_alloc(sizeof *t);
    if (!t) return err_nomem(err);
    t->base.ops = &mem_ops;
    t->e = (struct mem_engine *)e;
    t->mode = mode;
    t->n_cursors = 0;
    t->at = NULL;
    eng_reads_init(&t->reads);
    eng_writes_init(&t->writes, &t->e->caps);
    if (mode != SHEAF_TXN_RW) mem_txn_start(t); /* its moment is now */
    *txn_out = &t->base;
    return SHEAF_OK;
}

void mem_txn_start(struct mem_txn *t)
{
    if (t->at) return;
    t->at = mem_store_pin(&t->e->store);
    eng_reads_start(&t->reads, t->at->position);
}

static void end(struct mem_txn *t)
{
    assert(t->n_cursors == 0);
    if (t->at) mem_store_unpin(&t->e->store, t->at);
    eng_reads_deinit(&t->reads);
    eng_writes_deinit(&t->writes);
    mem_free(t);
}

span mem_flat_key(struct mem_flat *f, const sheaf_place *p, span s)
{
    size_t n = s.n < sizeof f->b - SHEAF_PLACE_BYTES ? s.n : sizeof f->b - SHEAF_PLACE_BYTES;
    memcpy(f->b, p->b, SHEAF_PLACE_BYTES);
    if (n) memcpy(f->b + SHEAF_PLACE_BYTES, s.p, n);
    return SPAN(f->b, SHEAF_PLACE_BYTES + n);
}

sheaf_rc mem_guard(sheaf_txn *txn, const sheaf_engine_key *key, sheaf_error *err)
{
    struct mem_txn *t = (struct mem_txn *)txn;
    mem_txn_start(t);
    if (t->mode != SHEAF_TXN_RW) return SHEAF_OK;
    return eng_reads_add(&t->reads, &t->e->conflicts, key, err);
}

sheaf_rc mem_get(sheaf_txn *txn, size_t n, const sheaf_engine_key keys[], span values_out[],
                 sheaf_error *err)
{
    struct mem_txn *t = (struct mem_txn *)txn;
    struct mem_flat flat;
    for (size_t i = 0; i < n; i++) values_out[i] = SPAN_NONE;
    mem_txn_start(t);
    for (size_t i = 0; i < n; i++) {
        TRY(mem_guard(txn, &keys[i], err));
        const struct mem_rec *r =
            mem_tree_get(&t->at->tree, mem_flat_key(&flat, &keys[i].p, keys[i].s));
        if (r) values_out[i] = mem_rec_value(r);
    }
    return SHEAF_OK;
}

/* ---- writes ---- */

static sheaf_rc check_may_write(const struct mem_txn *t, sheaf_error *err)
{
    if (t->mode == SHEAF_TXN_RW) return SHEAF_OK;
    return err_set(err, SHEAF_UNSUPPORTED, "a snapshot cannot write; begin with SHEAF_TXN_RW");
}

sheaf_rc mem_put(sheaf_txn *txn, const sheaf_engine_key *key, span value, sheaf_error *err)
{
    struct mem_txn *t = (struct mem_txn *)txn;
    TRY(check_may_write(t, err));
    return eng_writes_put(&t->writes, key, value, err);
}

sheaf_rc mem_del(sheaf_txn *txn, const sheaf_engine_key *key, sheaf_error *err)
{
    struct mem_txn *t = (struct mem_txn *)txn;
    TRY(check_may_write(t, err));
    return eng_writes_del(&t->writes, key, err);
}

sheaf_rc mem_del_range(sheaf_txn *txn, const sheaf_place *p, span lo, span hi, sheaf_error *err)
{
    struct mem_txn *t = (struct mem_txn *)txn;
    TRY(check_may_write(t, err));
    return eng_writes_del_range(&t->writes, p, lo, hi, err);
}

sheaf_rc mem_add(sheaf_txn *txn, const sheaf_engine_key *key, size_t n, const int64_t deltas[],
                 sheaf_error *err)
{
    struct mem_txn *t = (struct mem_txn *)txn;
    TRY(check_may_write(t, err));
    return eng_writes_add(&t->writes, key, n, deltas, err);
}

sheaf_rc mem_append(sheaf_txn *txn, const sheaf_place *log, span value, sheaf_error *err)
{
    struct mem_txn *t = (struct mem_txn *)txn;
    TRY(check_may_write(t, err));
    return eng_writes_append(&t->writes, log, value, err);
}

/* ---- commit ---- */

struct apply {
    struct mem_engine *e;
    struct mem_build *build;
};

/* Stamping before the build is published, even before it is sure to be: the lock keeps every check
 * out meanwhile, and a stamp left by a failed build costs a replay at most. */
static void stamp(void *ctx, span key)
{
    struct apply *a = ctx;
    eng_conflicts_stamp(&a->e->conflicts, key, a->build->number);
}

static sheaf_rc apply_value(struct apply *a, span key, span value, sheaf_error *err)
{
    struct mem_rec *r = mem_build_rec(a->build, key, value.n);
    if (!r) return err_nomem(err);
    if (value.n) memcpy(r->bytes + r->klen, value.p, value.n);
    if (!mem_build_put(a->build, r)) return err_nomem(err);
    stamp(a, key);
    return SHEAF_OK;
}

static sheaf_rc apply_add(struct apply *a, const struct eng_write *w, sheaf_error *err)
{
    const struct mem_rec *old = mem_tree_get(&a->build->tree, w->key);
    if (!old) return apply_value(a, w->key, w->value, err);
    if (old->vlen != w->value.n)
        return err_validation(err, "an add of %zu bytes does not fit the %u stored under its key",
                              w->value.n, (unsigned)old->vlen);
    struct mem_rec *r = mem_build_rec(a->build, w->key, w->value.n);
    if (!r) return err_nomem(err);
    const void *was = old->bytes + old->klen;
    for (size_t i = 0; i < w->value.n / 8; i++) {
        uint64_t sum = (uint64_t)eng_number_get(was, i) + (uint64_t)eng_number_get(w->value.p, i);
        eng_number_set(r->bytes + r->klen, i, (int64_t)sum);
    }
    if (!mem_build_put(a->build, r)) return err_nomem(err);
    stamp(a, w->key);
    return SHEAF_OK;
}

static sheaf_rc apply_append(struct apply *a, const struct eng_write *w, sheaf_error *err)
{
    uint8_t key[SHEAF_PLACE_BYTES + SHEAF_STAMP_BYTES];
    sheaf_stamp at = eng_stamp(a->build->number, w->ordinal);
    memcpy(key, w->key.p, SHEAF_PLACE_BYTES);
    memcpy(key + SHEAF_PLACE_BYTES, at.b, sizeof at.b);
    return apply_value(a, SPAN(key, sizeof key), w->value, err);
}

static sheaf_rc apply_one(struct apply *a, const struct eng_write *w, sheaf_error *err)
{
    struct mem_cut cut = {.lo = w->key, .end = w->end, .gone = stamp, .ctx = a};
    switch (w->kind) {
    case ENG_WRITE_PUT:
        return apply_value(a, w->key, w->value, err);
    case ENG_WRITE_DEL:
        stamp(a, w->key);
        return mem_build_del(a->build, w->key) ? SHEAF_OK : err_nomem(err);
    case ENG_WRITE_DEL_RANGE:
        return mem_build_cut(a->build, &cut) ? SHEAF_OK : err_nomem(err);
    case ENG_WRITE_ADD:
        return apply_add(a, w, err);
    case ENG_WRITE_APPEND:
        return apply_append(a, w, err);
    }
    assert(false);
    return SHEAF_INTERNAL;
}

/* Under the write lock. All of the transaction's writes become visible at once, or none. */
static sheaf_rc apply_all(struct mem_txn *t, sheaf_error *err)
{
    struct mem_store *store = &t->e->store;
    struct mem_build build;
    struct apply a = {.e = t->e, .build = &build};
    struct eng_write w;
    if (!mem_store_begin(store, &build)) return err_nomem(err);
    for (size_t at = 0; eng_writes_next(&t->writes, &at, &w);) {
        sheaf_rc rc = apply_one(&a, &w, err);
        if (rc != SHEAF_OK) {
            mem_store_abort(store, &build);
            return rc;
        }
    }
    mem_store_publish(store, &build);
    return SHEAF_OK;
}

static sheaf_rc commit_locked(struct mem_txn *t, sheaf_error *err)
{
    if (!eng_conflicts_check(&t->e->conflicts, &t->reads)) {
        atomic_fetch_add_explicit(&t->e->n_conflicts, 1, memory_order_relaxed);
        return err_set(err, SHEAF_CONFLICT, "another transaction has written what this one read");
    }
    return t->writes.n ? apply_all(t, err) : SHEAF_OK;
}

sheaf_rc mem_commit(sheaf_txn *txn, sheaf_position *position_out, sheaf_stamp *stamp_out,
                    sheaf_error *err)
{
    struct mem_txn *t = (struct mem_txn *)txn;
    struct mem_store *store = &t->e->store;
    sheaf_position position = 0;
    sheaf_rc rc = SHEAF_OK;
    if (t->mode != SHEAF_TXN_RW) {
        position = t->at->position;
    } else {
        mem_store_lock(store);
        rc = commit_locked(t, err);
        if (rc == SHEAF_OK) position = store->current->position;
        mem_store_unlock(store);
        if (rc == SHEAF_OK) atomic_fetch_add_explicit(&t->e->n_commits, 1, memory_order_relaxed);
    }
    if (position_out) *position_out = position;
    if (stamp_out) *stamp_out = rc == SHEAF_OK ? eng_stamp(position, 0) : (sheaf_stamp){{0}};
    end(t);
    return rc;
}

void mem_rollback(sheaf_txn *t) { end((struct mem_txn *)t); }
