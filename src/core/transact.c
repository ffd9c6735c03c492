/* Turns TransactWriteItems into one engine transaction: every condition judged on one read, then
 * all writes or none.
 *
 * Know before editing: the service divides faults in two. What it finds before it opens the
 * transaction (expressions, the size of an item to put, empty keys, one item twice) refuses the
 * request; what it finds at an item (types, conditions, updates, sizes that depend on the item)
 * cancels it with one reason per action, in order. Reasons, like all verdicts, are confirmed by a
 * commit before they are reported.
 *
 * CONFLICTS are replayed by the run loop. When attempts are used up, the actions to blame are those
 * whose item is no longer what the last attempt read (a fingerprint is kept); when all of them are
 * (it changed there and back, or it was the schema or the token), the first action is named. */
#include "base/limits.h"
#include "core/token.h"
#include "core/write.h"

#include <assert.h>

enum { ACTIONS_MAX = 100, ATTEMPTS = 32 };
#define ITEMS_BYTES_MAX (UINT64_C(4) << 20)
#define MEMBER "1 validation error detected: Value at '%s' failed to satisfy constraint: "

struct action {
    struct write_op op;
    bool was_charged;
    bool has_key;   /* its key fits the schema */
    sheaf_rc fault; /* else this */
    const char *fault_message;
    span before;                         /* of one attempt */
    uint8_t fingerprint[KEY_HASH_BYTES]; /* of `before`, in the last attempt */
};

struct transact {
    struct core *core;
    struct ctx c; /* the request's arena, our own error */
    const struct core_transact_write *q;
    struct action *actions;
    uint32_t n;
    struct token client, internal;
    struct arena_mark mark;
    sheaf_engine_key *keys; /* of the batched get: the client's token and the items */
    span *values;
    uint32_t calls; /* of the body */
    /* Of one attempt: */
    struct core_multi_outcome out;
    bool is_cancelled;
    bool is_replay;   /* answered by the client's token: nothing is written */
    sheaf_rc verdict; /* about the whole request */
    sheaf_error err, verdict_err;
};

/* ---- the request alone ---- */

static sheaf_rc check_counts(struct ctx *c, const struct core_transact_write *q)
{
    if (q->n < 1 || q->n > ACTIONS_MAX)
        return err_validation(c->err, MEMBER "Member must have length %s than or equal to %d",
                              "TransactItems", q->n ? "less" : "greater", q->n ? ACTIONS_MAX : 1);
    if (q->token.p && (q->token.n < 1 || q->token.n > TOKEN_CLIENT_MAX))
        return err_validation(c->err, MEMBER "Member must have length %s than or equal to %d",
                              "ClientRequestToken", q->token.n ? "less" : "greater",
                              q->token.n ? TOKEN_CLIENT_MAX : 1);
    return SHEAF_OK;
}

/* An update needs its expression, a check its condition. */
static sheaf_rc check_members(struct ctx *c, const struct core_write *w, uint32_t i)
{
    const char *missing = w->action == CORE_UPDATE && !w->update.p ? "update.updateExpression"
                          : w->action == CORE_CHECK && !w->condition.p
                              ? "conditionCheck.conditionExpression"
                              : NULL;
    if (!missing) return SHEAF_OK;
    return err_validation(c->err,
                          "1 validation error detected: Value null at 'transactItems.%u.member.%s' "
                          "failed to satisfy constraint: Member must not be null",
                          (unsigned)i + 1, missing);
}

static sheaf_rc compile_all(struct ctx *c, struct transact *s)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct core_write *w = &s->q->writes[i];
        TRY(core_blame(c->err, i, check_members(c, w, i)));
        if (w->value_fault)
            return core_blame(c->err, i, err_validation(c->err, "%s", w->value_fault));
        TRY(core_blame(c->err, i, write_compile(c, &s->actions[i].op, w)));
        bytes += item_size(w->item);
    }
    if (bytes <= ITEMS_BYTES_MAX) return SHEAF_OK;
    return err_validation(c->err, "Transaction request cannot include items of more than 4 MB");
}

/* ---- tables and keys ---- */

/* All tables in one section, each guarded once. */
static sheaf_rc find_tables(struct transact *s, sheaf_txn *txn, struct table **tables)
{
    sheaf_rc rc = SHEAF_OK;
    cat_enter(s->core);
    for (uint32_t i = 0; i < s->n && rc == SHEAF_OK; i++) {
        rc = core_blame(&s->err, i,
                        cat_get_entered(s->core, s->q->writes[i].table, &tables[i], &s->err));
        bool is_first = true;
        for (uint32_t k = 0; k < i && is_first; k++) is_first = tables[k] != tables[i];
        if (rc == SHEAF_OK && is_first) rc = eng_guard(txn, &tables[i]->catalog_key, &s->err);
    }
    cat_leave(s->core);
    return rc;
}

static const char *dup_message(struct ctx *c)
{
    span text = arena_dup(c->arena, SPAN(c->err->message, strlen(c->err->message) + 1));
    return text.p ? text.p : "";
}

/* The key, or why there is none. Takes the reference. */
static sheaf_rc bind_action(struct transact *s, struct action *a, struct table *t)
{
    sheaf_rc rc = write_check_schema(&s->c, &a->op, t);
    a->has_key = rc == SHEAF_OK;
    a->fault = rc;
    if (a->has_key) return write_bind(s->core, &s->c, &a->op, t);
    write_done(&a->op);
    a->op.table = t;
    a->fault_message = dup_message(&s->c);
    return write_is_verdict(rc) ? SHEAF_OK : rc;
}

static bool is_one_item(const struct action *a, const struct action *b)
{
    return a->has_key && b->has_key &&
           memcmp(&a->op.key.p, &b->op.key.p, sizeof a->op.key.p) == 0 &&
           span_eq(a->op.key.s, b->op.key.s);
}

static sheaf_rc check_once(struct transact *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (is_one_item(&s->actions[i], &s->actions[k]))
                return core_blame(&s->err, i,
                                  err_validation(&s->err, "Transaction request cannot include "
                                                          "multiple operations on one item"));
    return SHEAF_OK;
}

/* Takes the references whatever happens. */
static sheaf_rc bind_tables(struct transact *s, struct table **tables)
{
    sheaf_rc rc = SHEAF_OK;
    for (uint32_t i = 0; i < s->n && rc == SHEAF_OK; i++)
        rc = core_blame(&s->err, i, write_check_values(&s->c, &s->actions[i].op, tables[i]));
    for (uint32_t i = 0; i < s->n; i++) {
        if (rc == SHEAF_OK)
            rc = bind_action(s, &s->actions[i], tables[i]);
        else
            table_unref(tables[i]);
    }
    if (rc == SHEAF_OK) rc = check_once(s);
    if (rc == SHEAF_OK) s->mark = arena_mark(s->c.arena);
    return rc;
}

static sheaf_rc bind(struct transact *s, sheaf_txn *txn)
{
    struct table *tables[ACTIONS_MAX] = {NULL};
    assert(s->n >= 1 && s->n <= ACTIONS_MAX);
    arena_rewind(s->c.arena, s->mark);
    sheaf_rc rc = find_tables(s, txn, tables);
    bool is_same = rc == SHEAF_OK;
    for (uint32_t i = 0; i < s->n && is_same; i++) is_same = tables[i] == s->actions[i].op.table;
    if (rc == SHEAF_OK && !is_same) return bind_tables(s, tables);
    for (uint32_t i = 0; i < s->n; i++) table_unref(tables[i]);
    return rc;
}

/* ---- reading ---- */

/* Everything in one round: the client's token, then the items. */
static sheaf_rc read_all(struct transact *s, sheaf_txn *txn, span *token_out)
{
    uint32_t n = 0;
    *token_out = SPAN_NONE;
    if (s->client.is_used) s->keys[n++] = s->client.key;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->actions[i].has_key) s->keys[n++] = s->actions[i].op.key;
    if (n == 0) return SHEAF_OK;
    assert(n <= s->n + 1);
    TRY(eng_get(txn, n, s->keys, s->values, &s->err));
    n = 0;
    if (s->client.is_used) *token_out = s->values[n++];
    for (uint32_t i = 0; i < s->n; i++)
        s->actions[i].before = s->actions[i].has_key ? s->values[n++] : SPAN_NONE;
    return SHEAF_OK;
}

static void fingerprint(struct core *core, span value, uint8_t out[KEY_HASH_BYTES])
{
    const span parts[2] = {value, value.p ? SPAN_LIT("there") : SPAN_LIT("absent")};
    key_digest(core_secret(core), 2, parts, out);
}

/* ---- reasons ---- */

static const char *code_of(sheaf_rc rc)
{
    switch (rc) {
    case SHEAF_OK:
        return "None";
    case SHEAF_CONDITIONAL_CHECK_FAILED:
        return "ConditionalCheckFailed";
    case SHEAF_ITEM_COLLECTION_SIZE:
        return "ItemCollectionSizeLimitExceeded";
    case SHEAF_TRANSACTION_CONFLICT:
        return "TransactionConflict";
    case SHEAF_THROUGHPUT_EXCEEDED:
        return "ProvisionedThroughputExceeded";
    case SHEAF_THROTTLED:
        return "ThrottlingError";
    default:
        return "ValidationError";
    }
}

static void reset_reasons(struct transact *s)
{
    s->is_cancelled = false;
    for (uint32_t i = 0; i < s->n; i++)
        s->out.written[i] = (struct core_written){.rc = SHEAF_OK, .message = ""};
}

static void give_reason(struct transact *s, uint32_t i, sheaf_rc rc, const char *message)
{
    assert(i < s->n && rc != SHEAF_OK && message);
    s->is_cancelled = true;
    s->out.written[i].rc = rc;
    s->out.written[i].message = message;
}

/* "… specific reasons [None, ConditionalCheckFailed]", as much of it as an error holds. */
sheaf_rc write_cancelled(struct ctx *c, const struct core_written *written, uint32_t n_written)
{
    char codes[sizeof c->err->message];
    size_t n = 0;
    codes[0] = '\0';
    for (uint32_t i = 0; i < n_written; i++) {
        const char *code = code_of(written[i].rc);
        size_t need = strlen(code) + (i ? 2 : 0);
        if (n + need + 1 > sizeof codes) break;
        if (i) memcpy(codes + n, ", ", 2);
        memcpy(codes + n + (i ? 2 : 0), code, strlen(code) + 1);
        n += need;
    }
    return err_set(c->err, SHEAF_TRANSACTION_CANCELED,
                   "Transaction cancelled, please refer cancellation reasons for specific reasons "
                   "[%s]",
                   codes);
}

/* ---- judging ---- */

/* What earlier actions add to the same collection. */
static int64_t growth_before(const struct transact *s, uint32_t i)
{
    const struct action *a = &s->actions[i];
    int64_t growth = 0;
    assert(a->has_key && a->op.table);
    if (!a->op.table->has_local) return 0;
    for (uint32_t k = 0; k < i; k++) {
        const struct write_op *other = &s->actions[k].op;
        if (s->actions[k].has_key && memcmp(&other->key.p, &a->op.key.p, sizeof a->op.key.p) == 0)
            growth += other->effects.collection_delta;
    }
    return growth;
}

static sheaf_rc judge(struct transact *s, sheaf_txn *txn, uint32_t i)
{
    struct action *a = &s->actions[i];
    sheaf_rc rc = write_judge(s->core, &s->c, &a->op, a->before);
    if (rc == SHEAF_OK)
        rc = write_plan(s->core, &s->c, txn, &a->op, growth_before(s, i), s->q->wants_metrics);
    if (rc == SHEAF_OK) return SHEAF_OK;
    if (!write_is_verdict(rc)) return rc;
    give_reason(s, i, rc, dup_message(&s->c));
    write_charge_refused(&s->c, &a->op);
    if (rc != SHEAF_CONDITIONAL_CHECK_FAILED || !a->op.w->wants_old_on_failure || !a->before.p)
        return SHEAF_OK;
    span old = arena_dup(s->c.arena, a->before);
    s->out.written[i].old_item = old;
    return old.p ? SHEAF_OK : err_nomem(&s->err);
}

static sheaf_rc judge_all(struct transact *s, sheaf_txn *txn)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct action *a = &s->actions[i];
        if (!a->has_key) {
            give_reason(s, i, a->fault, a->fault_message);
            continue;
        }
        TRY(judge(s, txn, i));
        bool is_write = a->op.w->action == CORE_PUT || a->op.w->action == CORE_UPDATE;
        uint64_t was = bytes;
        if (is_write && a->op.change.after.p) bytes += item_size(a->op.change.after);
        if (was <= ITEMS_BYTES_MAX && bytes > ITEMS_BYTES_MAX)
            give_reason(s, i, SHEAF_VALIDATION,
                        "Transaction request cannot include items of more than 4 MB");
    }
    return SHEAF_OK;
}

/* Each action once, however often the body runs. One that was throttled has taken nothing and is
 * asked again: the commit that was to confirm it may have been in conflict. */
static sheaf_rc charge_all(struct transact *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        struct action *a = &s->actions[i];
        if (!a->has_key || a->was_charged) continue;
        sheaf_rc rc = write_throttle(s->core, &s->c, &a->op, true);
        a->was_charged = rc == SHEAF_OK;
        if (rc == SHEAF_THROUGHPUT_EXCEEDED || rc == SHEAF_THROTTLED)
            give_reason(s, i, rc, dup_message(&s->c));
        else
            TRY(rc);
    }
    return SHEAF_OK;
}

/* ---- the outcome ---- */

static sheaf_rc fill_capacity(struct transact *s, bool is_replay)
{
    struct capacity k;
    TRY(capacity_init(&s->c, &k, s->q->capacity, s->n, !is_replay));
    for (uint32_t i = 0; i < s->n; i++) {
        const struct action *a = &s->actions[i];
        const struct table *t = a->op.table;
        TRY(capacity_reserve(&s->c, &k, t));
        if (is_replay)
            capacity_add(&k, t, NULL,
                         capacity_read_units(a->before.p ? item_size(a->before) : 0, true, true));
        else
            capacity_add_effects(&k, t, &a->op.effects, true);
    }
    capacity_finish(&k);
    s->out.capacity = k.tables;
    s->out.n_capacity = k.n;
    return SHEAF_OK;
}

/* One per collection, with its size after all of them. */
static sheaf_rc fill_metrics(struct transact *s)
{
    if (!s->q->wants_metrics) return SHEAF_OK;
    s->out.metrics = ARENA_ARRAY(s->c.arena, struct core_metrics, s->n);
    if (!s->out.metrics) return err_nomem(&s->err);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct write_op *op = &s->actions[i].op;
        struct core_metrics m;
        uint32_t at = 0;
        if (!op->table->has_local || op->w->action == CORE_CHECK) continue;
        TRY(write_metrics(&s->c, op, &m));
        while (at < s->out.n_metrics && !(span_eq(s->out.metrics[at].table, m.table) &&
                                          span_eq(s->out.metrics[at].key, m.key)))
            at++;
        s->out.metrics[at] = m;
        if (at == s->out.n_metrics) s->out.n_metrics++;
    }
    return SHEAF_OK;
}

/* ---- the body ---- */

/* The client asked this before: a replay is charged as reads of the items. */
static sheaf_rc answer_by_token(struct transact *s, span row)
{
    if (!token_is_same(&s->client, row)) {
        s->verdict = err_set(&s->err, SHEAF_IDEMPOTENT_MISMATCH,
                             "The request uses the same client token as a previous, but "
                             "non-identical request");
        s->verdict_err = s->err;
        return SHEAF_OK;
    }
    s->is_replay = true;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->actions[i].before.p) TRY(item_check(s->actions[i].before, &s->err));
    return fill_capacity(s, true);
}

static sheaf_rc write_all(struct transact *s, sheaf_txn *txn)
{
    assert(!s->is_cancelled && s->verdict == SHEAF_OK);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct write_op *op = &s->actions[i].op;
        assert(s->actions[i].has_key && op->effects.n_arms >= 1);
        TRY(effects_write(s->core, &s->c, txn, &op->change, &op->effects));
    }
    TRY(token_write(s->core, &s->c, txn, &s->client));
    return token_write(s->core, &s->c, txn, &s->internal);
}

/* What an earlier attempt left points into memory that this one gives back. */
static void reset(struct transact *s)
{
    s->verdict = SHEAF_OK;
    s->out = (struct core_multi_outcome){.written = s->out.written, .n = s->n};
    s->is_replay = false;
    reset_reasons(s);
    for (uint32_t i = 0; i < s->n; i++) {
        s->actions[i].before = SPAN_NONE;
        s->actions[i].op.change = (struct change){.is_ttl = false};
        s->actions[i].op.effects = (struct effects){.n_arms = 0};
    }
}

static sheaf_rc body(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    struct transact *s = ctx;
    span token;
    assert(err == &s->err);
    (void)err;
    s->calls++;
    reset(s);
    TRY(bind(s, txn));
    TRY(read_all(s, txn, &token));
    for (uint32_t i = 0; i < s->n && s->calls == ATTEMPTS; i++)
        fingerprint(s->core, s->actions[i].before, s->actions[i].fingerprint);
    if (!token_is_expired(token, core_now_us(s->core))) return answer_by_token(s, token);
    TRY(judge_all(s, txn));
    TRY(charge_all(s));
    if (s->is_cancelled) return SHEAF_OK;
    TRY(fill_capacity(s, false));
    TRY(fill_metrics(s));
    return write_all(s, txn);
}

/* ---- afterwards ---- */

static bool has_changed(struct transact *s, const struct action *a)
{
    span value;
    void *pin;
    uint8_t now[KEY_HASH_BYTES];
    if (!a->has_key || eng_read(s->core->engine, &a->op.key, &value, &pin, NULL) != SHEAF_OK)
        return false;
    fingerprint(s->core, value, now);
    eng_read_done(s->core->engine, pin);
    return memcmp(now, a->fingerprint, sizeof now) != 0;
}

static void blame(struct transact *s)
{
    static const char ongoing[] = "Transaction is ongoing for the item";
    reset_reasons(s);
    for (uint32_t i = 0; i < s->n && s->calls == ATTEMPTS; i++)
        if (has_changed(s, &s->actions[i])) give_reason(s, i, SHEAF_TRANSACTION_CONFLICT, ongoing);
    if (!s->is_cancelled) give_reason(s, 0, SHEAF_TRANSACTION_CONFLICT, ongoing);
}

static sheaf_rc conclude(struct ctx *c, struct transact *s, sheaf_rc rc,
                         struct core_multi_outcome *out)
{
    if (rc == SHEAF_CONFLICT) {
        blame(s);
        rc = SHEAF_OK;
    }
    const sheaf_error *err = rc != SHEAF_OK ? &s->err : &s->verdict_err;
    if (rc == SHEAF_OK) rc = s->verdict;
    if (rc != SHEAF_OK) {
        if (c->err) *c->err = *err;
        return rc;
    }
    *out = s->out;
    return s->is_cancelled ? write_cancelled(c, out->written, out->n) : SHEAF_OK;
}

static void tell_gauges(struct transact *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct write_op *op = &s->actions[i].op;
        if (op->effects.n_arms && op->w->action != CORE_CHECK)
            effects_written(s->core, &op->change, &op->effects, item_map(op->w->item));
    }
}

static sheaf_rc prepare(struct core *core, struct ctx *c, const struct core_transact_write *q,
                        struct transact *s)
{
    s->core = core;
    s->c = (struct ctx){c->arena, &s->err};
    s->q = q;
    s->n = q->n;
    s->actions = ARENA_ARRAY(c->arena, struct action, s->n);
    s->keys = ARENA_ARRAY(c->arena, sheaf_engine_key, s->n + 1);
    s->values = ARENA_ARRAY(c->arena, span, s->n + 1);
    s->out.written = ARENA_ARRAY(c->arena, struct core_written, s->n);
    if (!s->actions || !s->keys || !s->values || !s->out.written) return err_nomem(c->err);
    s->out.n = s->n;
    TRY(compile_all(c, s));
    TRY(token_of_client(core, c, q->token, q->writes, q->n, &s->client));
    TRY(token_internal(core, c, &s->internal));
    s->mark = arena_mark(c->arena);
    return SHEAF_OK;
}

sheaf_rc core_transact_write(struct core *core, struct ctx *c, const struct core_transact_write *q,
                             struct core_multi_outcome *out)
{
    *out = (struct core_multi_outcome){.n = 0};
    TRY(check_counts(c, q));
    struct transact s = {.calls = 0};
    sheaf_rc rc;
    TRY(prepare(core, c, q, &s));
    rc = faults_check(core, "TransactWriteItems", q->writes[0].table, &s.err);
    if (rc == SHEAF_TRANSACTION_CONFLICT) { /* a scheduled one looks like a real one */
        reset_reasons(&s);
        give_reason(&s, 0, rc, "Transaction is ongoing for the item");
        return conclude(c, &s, SHEAF_OK, out);
    }
    if (rc != SHEAF_OK) return conclude(c, &s, rc, out);
    struct sheaf_run_options how = {
        .seed = core_seed(core), .token = token_key(&s.internal), .max_attempts = ATTEMPTS};
    struct sheaf_run_result result;
    rc = sheaf_engine_run(core->engine, body, &s, &how, &result, &s.err);
    if (rc == SHEAF_OK && token_has_settled(&s.internal, &result)) {
        s.verdict = SHEAF_OK;
        reset_reasons(&s);
    }
    bool is_written = rc == SHEAF_OK && s.verdict == SHEAF_OK && !s.is_cancelled && !s.is_replay;
    if (is_written) tell_gauges(&s);
    rc = conclude(c, &s, rc, out);
    out->position = result.position ? result.position : eng_visible(core->engine);
    for (uint32_t i = 0; i < s.n; i++) write_done(&s.actions[i].op);
    return rc;
}
