/* Turns a transaction's calls into reads of one version, a log of writes, and at commit the next
 * version.
 *
 * Know before editing: everything an RW transaction reads comes from one version, pinned at its
 * first read together with the position that the conflict check compares with. So a body never sees
 * two moments at once, even when its commit will be refused. */
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
    assert(t->reads.n == 0);
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
    assert(s.p || s.n == 0);
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

static sheaf_rc apply_value(struct mem_build *b, span key, span value, sheaf_error *err)
{
    struct mem_rec *r = mem_build_rec(b, key, value.n);
    if (!r) return err_nomem(err);
    if (value.n) memcpy(r->bytes + r->klen, value.p, value.n);
    return mem_build_put(b, r) ? SHEAF_OK : err_nomem(err);
}

static sheaf_rc apply_add(struct mem_build *b, const struct eng_write *w, sheaf_error *err)
{
    const struct mem_rec *old = mem_tree_get(&b->tree, w->key);
    if (!old) return apply_value(b, w->key, w->value, err);
    if (old->vlen != w->value.n)
        return err_validation(err, "an add of %zu bytes does not fit the %u stored under its key",
                              w->value.n, (unsigned)old->vlen);
    struct mem_rec *r = mem_build_rec(b, w->key, w->value.n);
    if (!r) return err_nomem(err);
    const void *was = old->bytes + old->klen;
    for (size_t i = 0; i < w->value.n / 8; i++) {
        uint64_t sum = (uint64_t)eng_number_get(was, i) + (uint64_t)eng_number_get(w->value.p, i);
        eng_number_set(r->bytes + r->klen, i, (int64_t)sum);
    }
    return mem_build_put(b, r) ? SHEAF_OK : err_nomem(err);
}

/* What the range finds counts towards the size of the transaction, so that every engine takes the
 * same ones. */
static sheaf_rc apply_del_range(struct mem_txn *t, struct mem_build *b, const struct eng_write *w,
                                sheaf_error *err)
{
    struct mem_cut cut = {.lo = w->key, .end = w->end};
    struct mem_path p;
    for (bool has = mem_path_seek(&p, &b->tree, w->key); has; has = mem_path_next(&p)) {
        span key = mem_rec_key(mem_path_rec(&p));
        if (!eng_write_covers(w, key)) break;
        TRY(eng_writes_found(&t->writes, key, err));
    }
    return mem_build_cut(b, &cut) ? SHEAF_OK : err_nomem(err);
}

static sheaf_rc apply_one(struct mem_txn *t, struct mem_build *b, const struct eng_write *w,
                          sheaf_error *err)
{
    struct eng_append_key room;
    switch (w->kind) {
    case ENG_WRITE_PUT:
        return apply_value(b, w->key, w->value, err);
    case ENG_WRITE_DEL:
        return mem_build_del(b, w->key) ? SHEAF_OK : err_nomem(err);
    case ENG_WRITE_DEL_RANGE:
        return apply_del_range(t, b, w, err);
    case ENG_WRITE_ADD:
        return apply_add(b, w, err);
    case ENG_WRITE_APPEND:
        return apply_value(b, eng_write_key(w, b->number, &room), w->value, err);
    }
    assert(false);
    return SHEAF_INTERNAL;
}

/* The keys of a del_range are those of the old tree: what the transaction itself had put there
 * before is stamped as put. */
static void stamp_range(struct eng_conflicts *c, const struct mem_tree *old,
                        const struct eng_write *w, sheaf_position position)
{
    struct mem_path p;
    for (bool has = mem_path_seek(&p, old, w->key); has; has = mem_path_next(&p)) {
        span key = mem_rec_key(mem_path_rec(&p));
        if (!eng_write_covers(w, key)) return;
        eng_conflicts_stamp(c, key, position);
    }
}

/* Only once nothing can fail any more: a stamp above the newest position would turn away every
 * reader of its stripe until some other transaction commits. */
static void stamp_writes(struct mem_txn *t, sheaf_position position)
{
    struct eng_write w;
    eng_writes_stamp(&t->writes, &t->e->conflicts, position);
    for (size_t at = 0; eng_writes_next(&t->writes, &at, &w);)
        if (w.kind == ENG_WRITE_DEL_RANGE)
            stamp_range(&t->e->conflicts, &t->e->store.current->tree, &w, position);
}

/* Under the write lock. All of the transaction's writes become visible at once, or none. */
static sheaf_rc apply_all(struct mem_txn *t, sheaf_error *err)
{
    struct mem_store *store = &t->e->store;
    struct mem_build build;
    struct eng_write w;
    if (!mem_store_begin(store, &build)) return err_nomem(err);
    for (size_t at = 0; eng_writes_next(&t->writes, &at, &w);) {
        sheaf_rc rc = apply_one(t, &build, &w, err);
        if (rc != SHEAF_OK) {
            mem_build_abort(&build);
            return rc;
        }
    }
    assert(build.number == store->current->position + 1);
    stamp_writes(t, build.number);
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
        if (rc == SHEAF_OK && t->writes.n > 0)
            atomic_fetch_add_explicit(&t->e->n_commits, 1, memory_order_relaxed);
    }
    if (position_out) *position_out = position;
    if (stamp_out) *stamp_out = rc == SHEAF_OK ? eng_stamp(position, 0) : (sheaf_stamp){{0}};
    end(t);
    return rc;
}

void mem_rollback(sheaf_txn *t) { end((struct mem_txn *)t); }
