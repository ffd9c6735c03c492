/* Turns BatchGetItem and TransactGetItems into many reads: of the newest values one by one, or all
 * of one snapshot.
 *
 * Know before editing: the keys of one table come one after the other with the same expressions,
 * so a get that shares its predecessor's placeholders and projection shares what was compiled of
 * them. */
#include "core/read.h"
#include "core/write.h"

#include <assert.h>

enum {
    GETS_MAX = 100,
    BATCH_BYTES_MAX = 16 << 20,
    TRANSACTION_BYTES_MAX = 4 << 20,
    SLOTS = 256 /* a power of two above GETS_MAX */
};

struct multi {
    struct core *core;
    struct ctx *c;
    const struct core_multi_get *q;
    struct core_items_outcome *out;
    struct read_op *ops;
    uint32_t *unprocessed;
    struct capacity capacity;
    uint64_t drops;      /* before the tables were looked up */
    uint64_t bytes;      /* of the items returned */
    bool is_cancelled;   /* a transaction, by a reason in out->written */
    sheaf_error refusal; /* of one get, until it has become a reason */
};

/* ---- the request alone ---- */

static sheaf_rc check_count(struct ctx *c, const struct core_multi_get *q)
{
    if (q->is_transaction) {
        if (q->n < 1)
            return err_validation(c->err, "1 validation error detected: Value '[]' at "
                                          "'transactItems' failed to satisfy constraint: Member "
                                          "must have length greater than or equal to 1");
        if (q->n > GETS_MAX)
            return err_validation(c->err,
                                  "1 validation error detected: Value at 'transactItems' failed to "
                                  "satisfy constraint: Member must have length less than or equal "
                                  "to %d",
                                  GETS_MAX);
    }
    if (q->n < 1)
        return err_validation(c->err, "The requestItems parameter is required for BatchGetItem");
    if (q->n > GETS_MAX)
        return err_validation(c->err, "Too many items requested for the BatchGetItem call");
    return SHEAF_OK;
}

static sheaf_rc duplicates(struct ctx *c, const struct core_multi_get *q)
{
    return err_validation(c->err,
                          q->is_transaction
                              ? "Transaction request cannot include multiple operations on one item"
                              : "Provided list of item keys contains duplicates");
}

/* The same item twice, told by a digest of table and key in a small table of digests. Before any
 * table is looked for, as the service does. */
static sheaf_rc check_duplicates(struct core *core, struct ctx *c, const struct core_multi_get *q)
{
    uint8_t digests[GETS_MAX][KEY_HASH_BYTES];
    uint8_t slots[SLOTS] = {0}; /* index + 1 */
    assert(q->n <= GETS_MAX);
    for (uint32_t i = 0; i < q->n; i++) {
        const span parts[2] = {q->gets[i].table, q->gets[i].key};
        key_digest(core_secret(core), 2, parts, digests[i]);
        uint32_t at = digests[i][0];
        for (; slots[at]; at = (at + 1) % SLOTS)
            if (memcmp(digests[slots[at] - 1], digests[i], KEY_HASH_BYTES) == 0)
                return core_blame(c->err, i, duplicates(c, q));
        slots[at] = (uint8_t)(i + 1);
    }
    return SHEAF_OK;
}

static bool is_like(const struct core_get *a, const struct core_get *b)
{
    return a->env == b->env && a->projection.p == b->projection.p &&
           a->projection.n == b->projection.n;
}

static sheaf_rc compile(struct multi *m)
{
    const struct core_multi_get *q = m->q;
    for (uint32_t i = 0; i < q->n; i++) {
        if (i > 0 && is_like(&q->gets[i], &q->gets[i - 1]))
            m->ops[i] = (struct read_op){.q = &q->gets[i], .projection = m->ops[i - 1].projection};
        else
            TRY(core_blame(m->c->err, i, read_compile(m->c, &m->ops[i], &q->gets[i])));
    }
    return SHEAF_OK;
}

/* ---- tables ---- */

static struct table *ref(struct table *t)
{
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

/* What the service finds wrong with one get of a transaction becomes a reason to cancel it. */
static sheaf_rc give_reason(struct multi *m, uint32_t i, sheaf_rc rc)
{
    if (rc != SHEAF_VALIDATION && rc != SHEAF_THROUGHPUT_EXCEEDED) {
        if (m->c->err && rc != SHEAF_OK) *m->c->err = m->refusal;
        return rc;
    }
    span text = arena_dup(m->c->arena, SPAN(m->refusal.message, strlen(m->refusal.message) + 1));
    assert(m->q->is_transaction && i < m->q->n);
    if (!text.p) return err_nomem(m->c->err);
    m->out->written[i] = (struct core_written){.rc = rc, .message = text.p};
    m->is_cancelled = true;
    return SHEAF_OK;
}

static sheaf_rc bind_one(struct multi *m, uint32_t i, struct table *t)
{
    struct read_op *op = &m->ops[i];
    if (!m->q->is_transaction) return read_bind(m->core, m->c, op, t);
    sheaf_rc rc = keys_check_empty(m->c, t, item_map(op->q->key));
    if (rc != SHEAF_OK) {
        table_unref(t);
        return rc;
    }
    struct ctx c = {m->c->arena, &m->refusal};
    return give_reason(m, i, read_bind(m->core, &c, op, t));
}

static sheaf_rc bind(struct multi *m)
{
    const struct core_multi_get *q = m->q;
    m->drops = cat_drops(m->core);
    for (uint32_t i = 0; i < q->n; i++) {
        struct table *t;
        if (i > 0 && span_eq(q->gets[i].table, q->gets[i - 1].table))
            t = ref(m->ops[i - 1].table);
        else
            TRY(core_blame(m->c->err, i, cat_get(m->core, q->gets[i].table, &t, m->c->err)));
        TRY(core_blame(m->c->err, i, bind_one(m, i, t)));
        TRY(capacity_reserve(m->c, &m->capacity, t));
    }
    return SHEAF_OK;
}

/* A table has one name but many ARNs: the engine's keys tell. */
static sheaf_rc check_aliases(struct multi *m)
{
    const struct core_multi_get *q = m->q;
    bool has_arn = false;
    for (uint32_t i = 0; i < q->n; i++)
        has_arn = has_arn || span_starts(q->gets[i].table, SPAN_LIT("arn:"));
    for (uint32_t i = 0; has_arn && i < q->n; i++)
        for (uint32_t k = 0; k < i; k++) {
            const sheaf_engine_key *x = &m->ops[i].key, *y = &m->ops[k].key;
            if (sheaf_place_space(&x->p) == 0) continue; /* no key: cancelled for that */
            if (memcmp(&x->p, &y->p, sizeof x->p) == 0 && span_eq(x->s, y->s))
                return core_blame(m->c->err, i, duplicates(m->c, q));
        }
    return SHEAF_OK;
}

/* The list of reasons to cancel a transaction, all of them "none". */
static sheaf_rc make_reasons(struct multi *m)
{
    m->out->written = ARENA_ARRAY(m->c->arena, struct core_written, m->q->n);
    if (!m->out->written) return err_nomem(m->c->err);
    for (uint32_t i = 0; i < m->q->n; i++) m->out->written[i].message = "";
    return SHEAF_OK;
}

static sheaf_rc prepare(struct multi *m)
{
    struct arena *a = m->c->arena;
    uint32_t n = m->q->n;
    m->ops = ARENA_ARRAY(a, struct read_op, n);
    m->unprocessed = ARENA_ARRAY(a, uint32_t, n);
    m->out->items = ARENA_ARRAY(a, span, n);
    if (!m->ops || !m->unprocessed || !m->out->items) return err_nomem(m->c->err);
    m->out->n = n;
    if (m->q->is_transaction) TRY(make_reasons(m));
    TRY(capacity_init(m->c, &m->capacity, m->q->capacity, n, false));
    return compile(m);
}

/* ---- reading ---- */

static sheaf_rc charge(struct multi *m, uint32_t i, uint32_t bytes, sheaf_error *err)
{
    const struct read_op *op = &m->ops[i];
    double units = capacity_read_units(bytes, op->q->is_consistent, m->q->is_transaction);
    struct throttle_key key = {op->key.p, {op->hash}, 1};
    TRY(throttle_read(m->core, op->table, NULL, &key, units, err));
    capacity_add(&m->capacity, op->table, NULL, units);
    return SHEAF_OK;
}

/* One item of a batch, or its place in the list of those to ask for again: because it is throttled,
 * or because the answer is full. */
static sheaf_rc take_one(struct multi *m, uint32_t i, span stored)
{
    struct arena_mark mark = arena_mark(m->c->arena);
    uint32_t bytes;
    span *item = &m->out->items[i];
    TRY(read_take(m->c, &m->ops[i], stored, item, &bytes));
    bool is_full = m->bytes + bytes > BATCH_BYTES_MAX;
    sheaf_rc rc = is_full ? SHEAF_THROUGHPUT_EXCEEDED : charge(m, i, bytes, m->c->err);
    if (rc == SHEAF_OK) m->bytes += bytes;
    if (rc != SHEAF_THROUGHPUT_EXCEEDED) return rc;
    arena_rewind(m->c->arena, mark);
    *item = SPAN_NONE;
    assert(m->out->n_unprocessed <= i);
    m->unprocessed[m->out->n_unprocessed++] = i;
    return SHEAF_OK;
}

static sheaf_rc run_batch(struct multi *m)
{
    sheaf_engine *engine = m->core->engine;
    for (uint32_t i = 0; i < m->q->n; i++) {
        span stored;
        void *pin;
        TRY(eng_read(engine, &m->ops[i].key, &stored, &pin, m->c->err));
        sheaf_rc rc = take_one(m, i, stored);
        eng_read_done(engine, pin);
        TRY(rc);
    }
    /* None at all: the request itself is refused, with the message of the throttle. */
    if (m->out->n_unprocessed == m->q->n) return SHEAF_THROUGHPUT_EXCEEDED;
    err_clear(m->c->err);
    m->out->unprocessed = m->unprocessed;
    return SHEAF_OK;
}

static sheaf_rc take_all(struct multi *m, const span stored[])
{
    for (uint32_t i = 0; i < m->q->n; i++) {
        uint32_t bytes;
        TRY(read_take(m->c, &m->ops[i], stored[i], &m->out->items[i], &bytes));
        m->bytes += bytes;
        if (m->bytes > TRANSACTION_BYTES_MAX)
            return err_validation(m->c->err,
                                  "Transaction request cannot include items of more than 4 MB");
        TRY(give_reason(m, i, charge(m, i, bytes, &m->refusal)));
    }
    return SHEAF_OK;
}

static sheaf_rc run_transaction(struct multi *m)
{
    uint32_t n = m->q->n;
    sheaf_engine_key *keys = ARENA_ARRAY(m->c->arena, sheaf_engine_key, n);
    span *stored = ARENA_ARRAY(m->c->arena, span, n);
    sheaf_txn *txn;
    if (!keys || !stored) return err_nomem(m->c->err);
    if (m->is_cancelled) return write_cancelled(m->c, m->out->written, n);
    for (uint32_t i = 0; i < n; i++) keys[i] = m->ops[i].key;
    TRY(eng_begin(m->core->engine, SHEAF_TXN_SNAPSHOT, &txn, m->c->err));
    sheaf_rc rc = eng_get(txn, n, keys, stored, m->c->err);
    if (rc == SHEAF_OK) rc = take_all(m, stored);
    eng_rollback(txn);
    if (rc == SHEAF_OK && m->is_cancelled) return write_cancelled(m->c, m->out->written, n);
    return rc;
}

/* Whatever was read, or failed to be read, of a table that went meanwhile counts for nothing. */
static sheaf_rc check_tables(struct multi *m)
{
    for (uint32_t i = 0; i < m->q->n; i++) {
        const struct table *t = m->ops[i].table;
        if (i > 0 && t == m->ops[i - 1].table) continue;
        if (!cat_still_has(m->core, m->drops, t, t->space)) return cat_not_found(m->c->err);
    }
    return SHEAF_OK;
}

static sheaf_rc run(struct multi *m)
{
    TRY(bind(m));
    TRY(check_aliases(m));
    sheaf_rc rc = m->q->is_transaction ? run_transaction(m) : run_batch(m);
    TRY(check_tables(m));
    TRY(rc);
    capacity_finish(&m->capacity);
    m->out->capacity = m->capacity.tables;
    m->out->n_capacity = m->capacity.n;
    return SHEAF_OK;
}

/* A scheduled conflict looks like a real one. */
static sheaf_rc cancel_by_schedule(struct multi *m)
{
    TRY(check_count(m->c, m->q));
    TRY(make_reasons(m));
    m->out->n = m->q->n;
    m->out->written[0] = (struct core_written){.rc = SHEAF_TRANSACTION_CONFLICT,
                                               .message = "Transaction is ongoing for the item"};
    return write_cancelled(m->c, m->out->written, m->q->n);
}

sheaf_rc core_multi_get(struct core *core, struct ctx *c, const struct core_multi_get *q,
                        struct core_items_outcome *out)
{
    struct multi m = {.core = core, .c = c, .q = q, .out = out};
    *out = (struct core_items_outcome){.n = 0};
    sheaf_rc rc = faults_check(core, q->is_transaction ? "TransactGetItems" : "BatchGetItem",
                               q->n ? q->gets[0].table : SPAN_NONE, c->err);
    if (rc == SHEAF_TRANSACTION_CONFLICT && q->is_transaction) return cancel_by_schedule(&m);
    TRY(rc);
    TRY(check_count(c, q));
    TRY(check_duplicates(core, c, q));
    rc = prepare(&m);
    bool has_looked = rc == SHEAF_OK;
    if (rc == SHEAF_OK) rc = run(&m);
    for (uint32_t i = 0; m.ops && i < q->n; i++) read_done(&m.ops[i]);
    if (rc == SHEAF_TRANSACTION_CANCELED)
        *out = (struct core_items_outcome){.n = q->n, .written = out->written};
    else if (rc != SHEAF_OK)
        *out = (struct core_items_outcome){.n = 0};
    else
        out->written = NULL;
    if (has_looked) out->position = eng_visible(core->engine);
    return rc;
}
