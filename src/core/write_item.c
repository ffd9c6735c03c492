/* Turns PutItem, UpdateItem and DeleteItem into one committed change each.
 *
 * Know before editing: the body is replayed after a conflict. Whatever an attempt makes lies behind
 * `mark` in the arena and is given back before the next one; what the engine returned dies with the
 * transaction, so the outcome is copied inside the body. */
#include "core/enums.h"
#include "core/token.h"
#include "core/write.h"

#include <assert.h>

/* ---- one write alone ---- */

struct alone {
    struct core *core;
    struct ctx c; /* the request's arena, our own error */
    struct write_alone *a;
    struct token token;
    struct arena_mark mark;
    bool was_charged;
    sheaf_rc verdict; /* of the last attempt */
    sheaf_error err, verdict_err;
};

/* Finds the table; when it is not the one that an earlier attempt saw, checks everything anew. */
static sheaf_rc bind(struct alone *s, sheaf_txn *txn)
{
    struct write_op *op = &s->a->op;
    struct table *t;
    arena_rewind(s->c.arena, s->mark);
    TRY(write_find_table(s->core, &s->c, txn, op->w->table, &t));
    if (t == op->table) {
        table_unref(t);
        return SHEAF_OK;
    }
    sheaf_rc rc = write_check_values(&s->c, op, t);
    if (rc == SHEAF_OK) rc = write_check_schema(&s->c, op, t);
    if (rc != SHEAF_OK) {
        table_unref(t);
        return rc;
    }
    TRY(write_bind(s->core, &s->c, op, t));
    s->mark = arena_mark(s->c.arena);
    return SHEAF_OK;
}

static sheaf_rc dup(struct ctx *c, span item, span *out)
{
    *out = SPAN_NONE;
    if (!item.p) return SHEAF_OK;
    *out = arena_dup(c->arena, item);
    return out->p ? SHEAF_OK : err_nomem(c->err);
}

/* The touched parts of an image; none at all is no item. */
static sheaf_rc touched(struct ctx *c, const struct write_op *op, span image, span *out)
{
    *out = SPAN_NONE;
    if (!image.p || !op->update) return SHEAF_OK;
    TRY(expr_project(c, expr_update_touched(op->update), item_map(image), out));
    if (val_count(item_map(*out)) == 0) *out = SPAN_NONE;
    return SHEAF_OK;
}

static sheaf_rc take_attributes(struct ctx *c, struct write_alone *a)
{
    const struct change *change = &a->op.change;
    switch (a->returns) {
    case CORE_NONE:
        return SHEAF_OK;
    case CORE_ALL_OLD:
        return dup(c, change->before, &a->out.attributes);
    case CORE_UPDATED_OLD:
        return touched(c, &a->op, change->before, &a->out.attributes);
    case CORE_ALL_NEW:
        if (change->after.p != change->before.p) {
            a->out.attributes = change->after; /* of the request or of the arena */
            return SHEAF_OK;
        }
        return dup(c, change->after, &a->out.attributes);
    case CORE_UPDATED_NEW:
        return touched(c, &a->op, change->after, &a->out.attributes);
    }
    assert(false);
    return SHEAF_INTERNAL;
}

/* Units are taken once, however often the body runs. */
static sheaf_rc charge(struct alone *s)
{
    if (s->was_charged) return SHEAF_OK;
    s->was_charged = true;
    return write_throttle(s->core, &s->c, &s->a->op, false);
}

/* Before the commit, so that memory can only run out while nothing is written. */
static sheaf_rc fill_outcome(struct alone *s)
{
    struct write_alone *a = s->a;
    struct capacity k;
    assert(a->op.table);
    TRY(capacity_init(&s->c, &k, a->capacity, 1, true));
    TRY(capacity_reserve(&s->c, &k, a->op.table));
    capacity_add_effects(&k, a->op.table, &a->op.effects, false);
    capacity_finish(&k);
    if (k.n) a->out.capacity = k.tables[0];
    bool has_metrics = a->wants_metrics && s->verdict == SHEAF_OK;
    return has_metrics ? write_metrics(&s->c, &a->op, &a->out.metrics) : SHEAF_OK;
}

/* Keeps the verdict and lets the transaction commit, so that what it was judged on is confirmed. */
static sheaf_rc refuse(struct alone *s, sheaf_rc rc)
{
    struct write_op *op = &s->a->op;
    s->verdict = rc;
    s->verdict_err = s->err;
    write_charge_refused(&s->c, op);
    if (rc == SHEAF_CONDITIONAL_CHECK_FAILED && op->w->wants_old_on_failure)
        TRY(dup(&s->c, op->change.before, &s->a->out.attributes));
    TRY(fill_outcome(s));
    return charge(s);
}

static sheaf_rc body(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    struct alone *s = ctx;
    struct write_alone *a = s->a;
    struct write_op *op = &a->op;
    span before;
    assert(err == &s->err);
    a->out = (struct core_write_outcome){.position = 0};
    s->verdict = SHEAF_OK;
    TRY(bind(s, txn));
    TRY(eng_get(txn, 1, &op->key, &before, err));
    sheaf_rc rc = write_judge(s->core, &s->c, op, before);
    if (rc == SHEAF_OK) rc = write_plan(s->core, &s->c, txn, op, 0, a->wants_metrics);
    if (write_is_verdict(rc)) return refuse(s, rc);
    TRY(rc);
    TRY(charge(s));
    TRY(take_attributes(&s->c, a));
    TRY(fill_outcome(s));
    TRY(effects_write(s->core, &s->c, txn, &op->change, &op->effects));
    return token_write(s->core, &s->c, txn, &s->token);
}

static sheaf_rc outcome_of(struct ctx *c, struct alone *s, sheaf_rc rc)
{
    if (rc == SHEAF_OK && s->verdict != SHEAF_OK) {
        if (c->err) *c->err = s->verdict_err;
        return s->verdict;
    }
    if (rc == SHEAF_CONFLICT)
        return err_set(c->err, SHEAF_TRANSACTION_CONFLICT, "Transaction is ongoing for the item");
    if (c->err && rc != SHEAF_OK) *c->err = s->err;
    return rc;
}

sheaf_rc write_alone(struct core *core, struct ctx *c, struct write_alone *a)
{
    struct alone s;
    s.core = core;
    s.c = (struct ctx){c->arena, &s.err};
    s.a = a;
    s.was_charged = false;
    s.verdict = SHEAF_OK;
    err_clear(&s.err);
    TRY(token_internal(core, c, &s.token));
    s.mark = arena_mark(c->arena);
    struct sheaf_run_options how = {.seed = core_seed(core), .token = token_key(&s.token)};
    struct sheaf_run_result result;
    sheaf_rc rc = sheaf_engine_run(core->engine, body, &s, &how, &result, &s.err);
    if (rc == SHEAF_OK && token_has_settled(&s.token, &result)) s.verdict = SHEAF_OK;
    a->out.position = result.position;
    if (rc == SHEAF_OK && s.verdict == SHEAF_OK)
        effects_written(core, &a->op.change, &a->op.effects, item_map(a->op.w->item));
    return outcome_of(c, &s, rc);
}

/* ---- the operations ---- */

static const char *name_of(enum core_action action)
{
    return action == CORE_PUT ? "PutItem" : action == CORE_UPDATE ? "UpdateItem" : "DeleteItem";
}

static sheaf_rc check_returns(struct ctx *c, const struct core_write_item *q)
{
    TRY(enum_check(c, (int64_t)q->returns, CORE_UPDATED_NEW, "returnValues", ENUM_RETURN_SET));
    TRY(enum_check(c, (int64_t)q->capacity, CORE_CAPACITY_INDEXES, "returnConsumedCapacity",
                   ENUM_CAPACITY_SET));
    if (q->write.action == CORE_UPDATE || q->returns == CORE_NONE || q->returns == CORE_ALL_OLD)
        return SHEAF_OK;
    return err_validation(c->err, "ReturnValues can only be ALL_OLD or NONE");
}

sheaf_rc core_write_item(struct core *core, struct ctx *c, const struct core_write_item *q,
                         struct core_write_outcome *out)
{
    assert(q->write.action != CORE_CHECK);
    *out = (struct core_write_outcome){.position = 0};
    struct write_alone a = {
        .returns = q->returns, .capacity = q->capacity, .wants_metrics = q->wants_metrics};
    TRY(faults_check(core, name_of(q->write.action), q->write.table, c->err));
    out->is_request_fault = true;
    TRY(check_returns(c, q));
    TRY(write_compile(c, &a.op, &q->write));
    out->is_request_fault = false;
    sheaf_rc rc = write_alone(core, c, &a);
    if (rc == SHEAF_OK || rc == SHEAF_CONDITIONAL_CHECK_FAILED) *out = a.out;
    out->position = a.out.position ? a.out.position : eng_visible(core->engine);
    write_done(&a.op);
    return rc;
}
