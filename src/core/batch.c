/* Turns BatchWriteItem into single writes, each in a transaction of its own.
 *
 * Know before editing: everything is validated before the first write. What fails later (throttled,
 * in conflict, a full disk) fails the request only while nothing is written; after that it goes to
 * the unprocessed ones with all that follow, so that a failed batch has written nothing. */
#include "core/enums.h"
#include "core/write.h"

#include <assert.h>

enum { WRITES_MAX = 25 };

struct batch {
    struct core *core;
    struct write_alone *all;
    uint32_t n;
    uint32_t n_written;
    uint32_t *unprocessed;
    struct capacity capacity;
    struct core_multi_outcome *out;
};

static sheaf_rc check_count(struct ctx *c, uint32_t n)
{
    if (n == 0)
        return err_validation(c->err, "1 validation error detected: Value at 'RequestItems' failed "
                                      "to satisfy constraint: Member must have length greater than "
                                      "or equal to 1");
    if (n > WRITES_MAX)
        return err_validation(c->err, "Too many items requested for the BatchWriteItem call");
    return SHEAF_OK;
}

static sheaf_rc bind(struct core *core, struct ctx *c, struct write_op *op)
{
    struct table *t;
    TRY(cat_get(core, op->w->table, &t, c->err));
    sheaf_rc rc = write_check_values(c, op, t);
    if (rc == SHEAF_OK) rc = write_check_schema(c, op, t);
    if (rc == SHEAF_OK) return write_bind(core, c, op, t);
    table_unref(t);
    return rc;
}

static sheaf_rc check_once(struct ctx *c, const struct batch *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t k = 0; k < i; k++) {
            const sheaf_engine_key *x = &b->all[i].op.key, *y = &b->all[k].op.key;
            if (memcmp(&x->p, &y->p, sizeof x->p) == 0 && span_eq(x->s, y->s))
                return core_blame(
                    c->err, i,
                    err_validation(c->err, "Provided list of item keys contains duplicates"));
        }
    return SHEAF_OK;
}

static sheaf_rc compile(struct ctx *c, const struct core_batch_write *q, struct batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const struct core_write *w = &q->writes[i];
        struct write_alone *a = &b->all[i];
        assert(w->action == CORE_PUT || w->action == CORE_DELETE);
        TRY(core_blame(c->err, i, write_compile(c, &a->op, w)));
        if (w->action == CORE_PUT) a->op.keys_in = KEYS_IN_BATCH_ITEM;
        a->wants_metrics = q->wants_metrics;
    }
    return SHEAF_OK;
}

static sheaf_rc prepare(struct ctx *c, const struct core_batch_write *q, struct batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) TRY(core_blame(c->err, i, bind(b->core, c, &b->all[i].op)));
    TRY(check_once(c, b));
    TRY(capacity_init(c, &b->capacity, q->capacity, b->n, true));
    for (uint32_t i = 0; i < b->n; i++) TRY(capacity_reserve(c, &b->capacity, b->all[i].op.table));
    return SHEAF_OK;
}

/* One per collection, the newest. */
static void keep_metrics(struct core_multi_outcome *out, const struct core_metrics *m)
{
    uint32_t at = 0;
    if (!m->table.p) return;
    while (at < out->n_metrics &&
           !(span_eq(out->metrics[at].table, m->table) && span_eq(out->metrics[at].key, m->key)))
        at++;
    out->metrics[at] = *m;
    if (at == out->n_metrics) out->n_metrics++;
}

static void keep(struct batch *b, const struct write_alone *a)
{
    b->n_written++;
    assert(b->n_written + b->out->n_unprocessed <= b->n && a->op.table);
    capacity_add_effects(&b->capacity, a->op.table, &a->op.effects, false);
    keep_metrics(b->out, &a->out.metrics);
    if (a->out.position > b->out->position) b->out->position = a->out.position;
}

/* Whether another item may still have more luck. */
static bool is_about_one_item(sheaf_rc rc)
{
    return rc == SHEAF_THROUGHPUT_EXCEEDED || rc == SHEAF_TRANSACTION_CONFLICT;
}

static sheaf_rc write_each(struct ctx *c, struct batch *b)
{
    sheaf_rc last = SHEAF_OK;
    bool is_over = false;
    for (uint32_t i = 0; i < b->n; i++) {
        sheaf_rc rc = is_over ? last : write_alone(b->core, c, &b->all[i]);
        if (rc == SHEAF_OK) {
            keep(b, &b->all[i]);
            continue;
        }
        last = rc;
        if (!is_about_one_item(rc)) {
            if (b->n_written == 0) return rc;
            is_over = true;
        }
        b->unprocessed[b->out->n_unprocessed++] = i;
    }
    if (b->n_written == 0) return last; /* as the service does when all are throttled */
    err_clear(c->err);
    return SHEAF_OK;
}

sheaf_rc core_batch_write(struct core *core, struct ctx *c, const struct core_batch_write *q,
                          struct core_multi_outcome *out)
{
    *out = (struct core_multi_outcome){.n = 0};
    TRY(check_count(c, q->n));
    TRY(enum_check(c, (int64_t)q->capacity, CORE_CAPACITY_INDEXES, "returnConsumedCapacity",
                   ENUM_CAPACITY_SET));
    TRY(faults_check(core, "BatchWriteItem", q->writes[0].table, c->err));
    struct batch b = {.core = core,
                      .n = q->n,
                      .all = ARENA_ARRAY(c->arena, struct write_alone, q->n),
                      .unprocessed = ARENA_ARRAY(c->arena, uint32_t, q->n),
                      .out = out};
    out->metrics = ARENA_ARRAY(c->arena, struct core_metrics, q->n);
    out->written = ARENA_ARRAY(c->arena, struct core_written, q->n);
    if (!b.all || !b.unprocessed || !out->metrics || !out->written) return err_nomem(c->err);
    for (uint32_t i = 0; i < q->n; i++) out->written[i].message = "";
    sheaf_rc rc = compile(c, q, &b);
    bool has_looked = rc == SHEAF_OK;
    if (rc == SHEAF_OK) rc = prepare(c, q, &b);
    if (rc == SHEAF_OK) rc = write_each(c, &b);
    for (uint32_t i = 0; i < b.n; i++) write_done(&b.all[i].op);
    if (rc != SHEAF_OK) {
        *out = (struct core_multi_outcome){.position = has_looked ? eng_visible(core->engine) : 0};
        return rc;
    }
    capacity_finish(&b.capacity);
    out->n = q->n;
    out->unprocessed = b.unprocessed;
    out->capacity = b.capacity.tables;
    out->n_capacity = b.capacity.n;
    return SHEAF_OK;
}
