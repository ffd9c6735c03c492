/* Turns an engine into one that misbehaves on schedule: every call of the vtable is first judged by
 * the schedule, then handed to the wrapped engine.
 *
 * Before editing: out-parameters are emptied before the judgement, because a failed call promises
 * that too; and commit ends the wrapped transaction in every branch, because commit ends a
 * transaction whatever it returns. Calls that cannot fail are forwarded and not counted. */
#include "engine/fault/fault.h"

#include "base/err.h"
#include "base/mem.h"
#include "engine/fault/schedule.h"

#include <assert.h>

struct fault_engine {
    sheaf_engine base;
    sheaf_engine *inner; /* owned */
    struct fault_schedule schedule;
};
struct fault_txn {
    sheaf_txn base;
    sheaf_txn *inner;
    struct fault_engine *engine;
};
struct fault_cursor {
    sheaf_cursor base;
    sheaf_cursor *inner;
    struct fault_engine *engine;
};

static const struct sheaf_engine_ops fault_ops;

static struct fault_engine *engine_of(const sheaf_engine *e)
{
    assert(e && e->ops == &fault_ops);
    return (struct fault_engine *)(uintptr_t)e;
}
static struct fault_txn *txn_of(sheaf_txn *t)
{
    assert(t && t->ops == &fault_ops);
    return (struct fault_txn *)t;
}
static struct fault_cursor *cursor_of(sheaf_cursor *c)
{
    assert(c && c->ops == &fault_ops);
    return (struct fault_cursor *)c;
}

/* For every call but commit, the schedule can only let it pass or fail it. */
static sheaf_rc gate(struct fault_engine *f, enum fault_call call, sheaf_error *err)
{
    struct fault_verdict v = fault_schedule_judge(&f->schedule, call);
    if (v.action == FAULT_DELAY) return SHEAF_OK;
    assert(v.action == FAULT_FAIL && v.rc != SHEAF_OK);
    return err_set(err, v.rc, "injected fault");
}

/* ---- the engine ---- */

static void fault_close(sheaf_engine *e)
{
    struct fault_engine *f = engine_of(e);
    sheaf_engine_close(f->inner);
    fault_schedule_deinit(&f->schedule);
    mem_free(f);
}

static void fault_caps(const sheaf_engine *e, struct sheaf_engine_caps *caps_out)
{
    eng_caps(engine_of(e)->inner, caps_out);
}

static sheaf_rc fault_begin(sheaf_engine *e, enum sheaf_txn_mode mode, sheaf_txn **txn_out,
                            sheaf_error *err)
{
    struct fault_engine *f = engine_of(e);
    *txn_out = NULL;
    TRY(gate(f, FAULT_BEGIN, err));
    struct fault_txn *t = mem_alloc(sizeof *t);
    if (!t) return err_nomem(err);
    *t = (struct fault_txn){.base = {&fault_ops}, .engine = f};
    sheaf_rc rc = eng_begin(f->inner, mode, &t->inner, err);
    if (rc != SHEAF_OK) {
        mem_free(t);
        return rc;
    }
    assert(t->inner);
    *txn_out = &t->base;
    return SHEAF_OK;
}

static sheaf_rc fault_read(sheaf_engine *e, const sheaf_engine_key *key, span *value_out,
                           void **pin_out, sheaf_error *err)
{
    *value_out = SPAN_NONE;
    *pin_out = NULL;
    TRY(gate(engine_of(e), FAULT_READ, err));
    return eng_read(engine_of(e)->inner, key, value_out, pin_out, err);
}

static void fault_read_done(sheaf_engine *e, void *pin) { eng_read_done(engine_of(e)->inner, pin); }

static sheaf_position fault_visible(sheaf_engine *e) { return eng_visible(engine_of(e)->inner); }

static sheaf_position fault_durable(sheaf_engine *e) { return eng_durable(engine_of(e)->inner); }

static sheaf_rc fault_sync(sheaf_engine *e, sheaf_position position, sheaf_error *err)
{
    TRY(gate(engine_of(e), FAULT_SYNC, err));
    return eng_sync(engine_of(e)->inner, position, err);
}

static sheaf_rc fault_on_durable(sheaf_engine *e, sheaf_position position, sheaf_durable_fn done,
                                 void *ctx, sheaf_error *err)
{
    TRY(gate(engine_of(e), FAULT_ON_DURABLE, err));
    return eng_on_durable(engine_of(e)->inner, position, done, ctx, err);
}

static sheaf_rc fault_drop_space(sheaf_engine *e, uint64_t space, sheaf_error *err)
{
    TRY(gate(engine_of(e), FAULT_DROP_SPACE, err));
    return eng_drop_space(engine_of(e)->inner, space, err);
}

static sheaf_rc fault_checkpoint(sheaf_engine *e, const char *directory, sheaf_error *err)
{
    TRY(gate(engine_of(e), FAULT_CHECKPOINT, err));
    return eng_checkpoint(engine_of(e)->inner, directory, err);
}

static void fault_stats(sheaf_engine *e, struct sheaf_engine_stats *stats_out)
{
    eng_stats(engine_of(e)->inner, stats_out);
}

static sheaf_rc fault_verify(sheaf_engine *e, sheaf_complaint_fn complain, void *ctx,
                             sheaf_error *err)
{
    TRY(gate(engine_of(e), FAULT_VERIFY, err));
    return eng_verify(engine_of(e)->inner, complain, ctx, err);
}

/* ---- a transaction ---- */

static sheaf_rc fault_get(sheaf_txn *t, size_t n, const sheaf_engine_key keys[], span values_out[],
                          sheaf_error *err)
{
    for (size_t i = 0; i < n; i++) values_out[i] = SPAN_NONE;
    TRY(gate(txn_of(t)->engine, FAULT_GET, err));
    return eng_get(txn_of(t)->inner, n, keys, values_out, err);
}

static sheaf_rc fault_guard(sheaf_txn *t, const sheaf_engine_key *key, sheaf_error *err)
{
    TRY(gate(txn_of(t)->engine, FAULT_GUARD, err));
    return eng_guard(txn_of(t)->inner, key, err);
}

static sheaf_rc fault_put(sheaf_txn *t, const sheaf_engine_key *key, span value, sheaf_error *err)
{
    TRY(gate(txn_of(t)->engine, FAULT_PUT, err));
    return eng_put(txn_of(t)->inner, key, value, err);
}

static sheaf_rc fault_del(sheaf_txn *t, const sheaf_engine_key *key, sheaf_error *err)
{
    TRY(gate(txn_of(t)->engine, FAULT_DEL, err));
    return eng_del(txn_of(t)->inner, key, err);
}

static sheaf_rc fault_del_range(sheaf_txn *t, const sheaf_place *p, span lo, span hi,
                                sheaf_error *err)
{
    TRY(gate(txn_of(t)->engine, FAULT_DEL_RANGE, err));
    return eng_del_range(txn_of(t)->inner, p, lo, hi, err);
}

static sheaf_rc fault_add(sheaf_txn *t, const sheaf_engine_key *key, size_t n,
                          const int64_t deltas[], sheaf_error *err)
{
    TRY(gate(txn_of(t)->engine, FAULT_ADD, err));
    return eng_add(txn_of(t)->inner, key, n, deltas, err);
}

static sheaf_rc fault_append(sheaf_txn *t, const sheaf_place *log, span value, sheaf_error *err)
{
    TRY(gate(txn_of(t)->engine, FAULT_APPEND, err));
    return eng_append(txn_of(t)->inner, log, value, err);
}

static void empty_outcome(sheaf_position *position_out, sheaf_stamp *stamp_out)
{
    if (position_out) *position_out = 0;
    if (stamp_out) memset(stamp_out, 0, sizeof *stamp_out);
}

/* The wrapped transaction really commits, and the caller is told that nobody knows. When that
 * commit fails by itself, its own answer goes up: that outcome is known. */
static sheaf_rc commit_untold(sheaf_txn *inner, sheaf_error *err)
{
    TRY(eng_commit(inner, NULL, NULL, err));
    return err_set(err, SHEAF_UNKNOWN_OUTCOME, "injected unknown outcome");
}

static sheaf_rc refuse(sheaf_txn *inner, struct fault_verdict v, sheaf_error *err)
{
    eng_rollback(inner);
    switch (v.action) {
    case FAULT_CONFLICT:
        return err_set(err, SHEAF_CONFLICT, "injected conflict");
    case FAULT_UNKNOWN_LOST:
        return err_set(err, SHEAF_UNKNOWN_OUTCOME, "injected unknown outcome");
    default:
        assert(v.action == FAULT_FAIL);
        return err_set(err, v.rc, "injected fault");
    }
}

static sheaf_rc fault_commit(sheaf_txn *t, sheaf_position *position_out, sheaf_stamp *stamp_out,
                             sheaf_error *err)
{
    struct fault_txn *ft = txn_of(t);
    sheaf_txn *inner = ft->inner;
    empty_outcome(position_out, stamp_out);
    struct fault_verdict v = fault_schedule_judge(&ft->engine->schedule, FAULT_COMMIT);
    mem_free(ft);
    if (v.action == FAULT_DELAY) return eng_commit(inner, position_out, stamp_out, err);
    if (v.action == FAULT_UNKNOWN_KEPT) return commit_untold(inner, err);
    return refuse(inner, v, err);
}

static void fault_rollback(sheaf_txn *t)
{
    struct fault_txn *ft = txn_of(t);
    eng_rollback(ft->inner);
    mem_free(ft);
}

/* ---- a cursor ---- */

/* Memory first: a cursor of the wrapped engine is opened only when it can be handed out. */
static struct fault_cursor *cursor_new(sheaf_txn *t)
{
    struct fault_cursor *c = mem_alloc(sizeof *c);
    if (c) *c = (struct fault_cursor){.base = {&fault_ops}, .engine = txn_of(t)->engine};
    return c;
}

static sheaf_rc cursor_give(struct fault_cursor *c, sheaf_rc rc, sheaf_cursor **cursor_out)
{
    if (rc != SHEAF_OK) {
        mem_free(c);
        return rc;
    }
    assert(c->inner);
    *cursor_out = &c->base;
    return SHEAF_OK;
}

static sheaf_rc fault_range(sheaf_txn *t, const struct sheaf_range *range,
                            sheaf_cursor **cursor_out, sheaf_error *err)
{
    *cursor_out = NULL;
    TRY(gate(txn_of(t)->engine, FAULT_RANGE, err));
    struct fault_cursor *c = cursor_new(t);
    if (!c) return err_nomem(err);
    return cursor_give(c, eng_range(txn_of(t)->inner, range, &c->inner, err), cursor_out);
}

static sheaf_rc fault_walk(sheaf_txn *t, const struct sheaf_walk *walk, sheaf_cursor **cursor_out,
                           sheaf_error *err)
{
    *cursor_out = NULL;
    TRY(gate(txn_of(t)->engine, FAULT_WALK, err));
    struct fault_cursor *c = cursor_new(t);
    if (!c) return err_nomem(err);
    return cursor_give(c, eng_walk(txn_of(t)->inner, walk, &c->inner, err), cursor_out);
}

static sheaf_rc fault_next(sheaf_cursor *c, struct sheaf_row *row_out, bool *has_row_out,
                           sheaf_error *err)
{
    *row_out = (struct sheaf_row){0};
    *has_row_out = false;
    TRY(gate(cursor_of(c)->engine, FAULT_NEXT, err));
    return eng_next(cursor_of(c)->inner, row_out, has_row_out, err);
}

static void fault_cursor_close(sheaf_cursor *c)
{
    struct fault_cursor *fc = cursor_of(c);
    eng_cursor_close(fc->inner);
    mem_free(fc);
}

static const struct sheaf_engine_ops fault_ops = {
    .size = sizeof(struct sheaf_engine_ops),
    .name = "fault",
    .close = fault_close,
    .caps = fault_caps,
    .begin = fault_begin,
    .get = fault_get,
    .guard = fault_guard,
    .range = fault_range,
    .walk = fault_walk,
    .next = fault_next,
    .cursor_close = fault_cursor_close,
    .put = fault_put,
    .del = fault_del,
    .del_range = fault_del_range,
    .add = fault_add,
    .append = fault_append,
    .commit = fault_commit,
    .rollback = fault_rollback,
    .read = fault_read,
    .read_done = fault_read_done,
    .visible = fault_visible,
    .durable = fault_durable,
    .sync = fault_sync,
    .on_durable = fault_on_durable,
    .drop_space = fault_drop_space,
    .checkpoint = fault_checkpoint,
    .stats = fault_stats,
    .verify = fault_verify,
};

/* ---- opening ---- */

sheaf_rc fault_open(sheaf_engine *inner, const struct fault_options *options,
                    sheaf_engine **engine_out, sheaf_error *err)
{
    *engine_out = NULL;
    if (inner->ops->size < sizeof(struct sheaf_engine_ops))
        return err_set(err, SHEAF_UNSUPPORTED, "fault: the %s engine has an older vtable",
                       inner->ops->name);
    struct fault_engine *f = mem_zalloc(sizeof *f);
    if (!f) return err_nomem(err);
    f->base.ops = &fault_ops;
    f->inner = inner;
    sheaf_rc rc = fault_schedule_init(&f->schedule, options, err);
    if (rc != SHEAF_OK) {
        mem_free(f);
        return rc;
    }
    *engine_out = &f->base;
    return SHEAF_OK;
}

sheaf_rc fault_set(sheaf_engine *fault, const struct fault_options *options, sheaf_error *err)
{
    return fault_schedule_set(&engine_of(fault)->schedule, options, err);
}

uint64_t fault_fired(sheaf_engine *fault, size_t rule)
{
    return fault_schedule_fired(&engine_of(fault)->schedule, rule);
}

uint64_t fault_calls(sheaf_engine *fault, enum fault_call call)
{
    return fault_schedule_calls(&engine_of(fault)->schedule, call);
}
