/* Operations that write: alone, in batches, in transactions. */
#include "model/writes.h"

/* ---- alone ---- */

/* Only the touched parts; none at all is no item. */
static bool touched(struct world *w, const struct write *x, const struct tree *image,
                    struct tree *out)
{
    struct tree_path paths[ACTIONS_MAX];
    for (uint32_t i = 0; i < x->update.n; i++) paths[i] = x->update.at[i].path;
    if (!image || x->update.n == 0) return false;
    *out = tree_project(&w->arena, image, paths, x->update.n);
    return out->n > 0;
}

static void expect_returned(struct world *w, const struct write *x, const struct judged *j,
                            enum sheaf_return_values returns, const sheaf_item *got)
{
    const struct tree *before = j->before ? &j->before->v : NULL;
    const struct tree *after = j->has_after ? &j->after : NULL, *want = NULL;
    struct tree part;
    if (returns == SHEAF_ALL_OLD) want = before;
    if (returns == SHEAF_ALL_NEW) want = after;
    if (returns == SHEAF_UPDATED_OLD && touched(w, x, before, &part)) want = &part;
    if (returns == SHEAF_UPDATED_NEW && touched(w, x, after, &part)) want = &part;
    world_expect_item(w, "returned attributes", got, want);
}

void op_write(struct world *w)
{
    static const enum write_kind kinds[] = {PUT, PUT, UPDATE, UPDATE, UPDATE, DELETE, PUT, UPDATE};
    struct write x;
    struct judged j;
    sheaf_result *r;
    planned_draw(w, &x, kinds[rng_below(&w->rng, 8)]);
    uint64_t n_returns = x.kind == UPDATE ? 5 : 2;
    enum sheaf_return_values returns = (enum sheaf_return_values)rng_below(&w->rng, n_returns);
    planned_say(w, &x);
    planned_judge(w, &x, &j);
    sheaf_rc rc = planned_call(w, &x, returns, &r);
    world_expect_rc(w, write_kind_names[x.kind], rc, planned_answers(&j));
    if (rc == SHEAF_OK) {
        expect_returned(w, &x, &j, returns, sheaf_result_item(r));
        planned_commit(w, &x, &j);
    } else if (rc == SHEAF_CONDITIONAL_CHECK_FAILED && j.has_failed_condition) {
        bool shows = x.wants_old && j.before;
        world_expect_item(w, "item that failed", r ? sheaf_result_item(r) : NULL,
                          shows ? &j.before->v : NULL);
    } else if (r && rc != SHEAF_CONDITIONAL_CHECK_FAILED) {
        world_differs(w, "a result with a refused request");
    }
    sheaf_result_free(r);
}

/* ---- several ---- */

enum { MANY_MAX = 25 };

void op_batch_write(struct world *w)
{
    static const enum write_kind kinds[] = {PUT, PUT, DELETE};
    struct write *all = tree_room(&w->arena, MANY_MAX * sizeof *all);
    struct sheaf_batch_write *writes = tree_room(&w->arena, MANY_MAX * sizeof *writes);
    struct judged j;
    uint32_t n = 1 + (uint32_t)rng_below(&w->rng, world_one_in(w, 8) ? MANY_MAX : 6);
    bool has_twins = planned_draw_many(w, all, &n, kinds, 3);
    uint64_t refusals = has_twins ? RC_BIT(SHEAF_VALIDATION) : 0;
    sheaf_result *r;
    world_say(w, "BatchWriteItem of %u\n", n);
    for (uint32_t i = 0; i < n; i++) {
        all[i].cond = NULL;
        all[i].cond_text = NULL;
        words_init(&all[i].words, &w->arena);
        planned_say(w, &all[i]);
        planned_judge(w, &all[i], &j);
        refusals |= j.refusals;
        const sheaf_item *item = tree_to_item(&w->arena, &all[i].item);
        writes[i] = (struct sheaf_batch_write){.table = all[i].t->name,
                                               .put = all[i].kind == PUT ? item : NULL,
                                               .delete_key = all[i].kind == PUT ? NULL : item};
    }
    w->n_calls++;
    sheaf_rc rc = sheaf_batch_write_item(
        w->db, &(struct sheaf_batch_write_item){.writes = writes, .n_writes = n, .error = &w->err},
        &r);
    world_expect_rc(w, "BatchWriteItem", rc, refusals ? refusals : RC_BIT(SHEAF_OK));
    if (rc == SHEAF_OK) world_expect_number(w, "unprocessed", sheaf_result_unprocessed_count(r), 0);
    for (uint32_t i = 0; i < n && rc == SHEAF_OK; i++) {
        planned_judge(w, &all[i], &j);
        planned_commit(w, &all[i], &j);
    }
    sheaf_result_free(r);
}

/* ---- transactions ---- */

static void expect_reasons(struct world *w, const struct write *all, const struct judged *j,
                           uint32_t n, const sheaf_result *r)
{
    world_expect_number(w, "reasons", sheaf_result_reason_count(r), n);
    for (uint32_t i = 0; i < n; i++) {
        const struct sheaf_reason *reason = sheaf_result_reason(r, i);
        if (!reason) world_differs(w, "reason %u is missing", i);
        bool is_condition = strcmp(reason->code, "ConditionalCheckFailed") == 0;
        bool may_be_invalid = j[i].refusals & RC_BIT(SHEAF_VALIDATION);
        /* Which of two faults is told depends on when the second can be seen. */
        bool fits = is_condition ? j[i].has_failed_condition
                    : strcmp(reason->code, "ValidationError") == 0
                        ? may_be_invalid
                        : strcmp(reason->code, "None") == 0 && (!j[i].refusals || j[i].may_succeed);
        if (!fits) world_differs(w, "reason %u of %u is %s", i, n, reason->code);
        bool shows = is_condition && all[i].wants_old && j[i].before;
        world_expect_item(w, "item of a reason", reason->item, shows ? &j[i].before->v : NULL);
    }
}

static uint64_t digest(uint64_t h, const char *text)
{
    for (; *text; text++) h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (h ^ 255) * UINT64_C(0x100000001b3);
}

/* Of everything that the request says. */
static uint64_t digest_request(struct world *w, const struct transaction *t)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct write *x = &t->all[i];
        h = digest(h, write_kind_names[x->kind]);
        h = digest(h, x->t->name);
        h = digest(h, world_text(w, &x->item));
        h = digest(h, x->kind == UPDATE ? x->update_text : "");
        h = digest(h, x->cond_text ? x->cond_text : "");
        h = digest(h, x->wants_old ? "old" : "");
        for (uint32_t k = 0; k < x->words.n_names; k++) h = digest(h, x->words.names[k].name);
        struct tree values =
            tree_of_item(&w->arena, &(sheaf_item){x->words.values, x->words.n_values, NULL});
        h = digest(h, world_text(w, &values));
    }
    return h;
}

/* What the token makes of the request: 0, or the one answer there is. */
static uint64_t judge_token(struct world *w, const struct transaction *t, uint64_t request)
{
    enum { LIFE_US = 600 * 1000000 };
    const struct token *token = t->token;
    if (!token || !token->seed || w->now_us - token->at_us >= LIFE_US) return 0;
    return token->request == request ? RC_BIT(SHEAF_OK) : RC_BIT(SHEAF_IDEMPOTENT_MISMATCH);
}

void op_transact_write(struct world *w, uint64_t seed)
{
    struct transaction t;
    sheaf_result *r;
    /* A request that was made with a token is made again now and then, to the letter. */
    uint64_t again = world_one_in(w, 10) ? w->tokens[rng_below(&w->rng, N_TOKENS)].seed : 0;
    if (again) seed = again;
    rng_init(&w->rng, ~seed);
    transaction_draw(w, &t);
    uint64_t request = t.token ? digest_request(w, &t) : 0;
    uint64_t by_token = judge_token(w, &t, request);
    world_say(w, "TransactWriteItems of %u, token %s%s\n", t.n, t.token ? t.token->text : "none",
              by_token == RC_BIT(SHEAF_OK) ? " (used by the same)" : "");
    uint64_t mask = transaction_judge(w, &t);
    if (by_token && !t.has_twins && !(mask & RC_BIT(SHEAF_RESOURCE_NOT_FOUND)) &&
        !(mask & RC_BIT(SHEAF_VALIDATION)))
        mask = by_token;
    else
        mask |= by_token;
    sheaf_rc rc = transaction_call(w, &t, t.token ? t.token->text : NULL, &r);
    world_expect_rc(w, "TransactWriteItems", rc, mask);
    bool is_plain = !t.has_twins;
    for (uint32_t i = 0; i < t.n; i++) is_plain &= t.judged[i].is_canceling;
    if (rc == SHEAF_TRANSACTION_CANCELED && is_plain) expect_reasons(w, t.all, t.judged, t.n, r);
    if (rc == SHEAF_OK && by_token != RC_BIT(SHEAF_OK)) {
        transaction_commit(w, &t);
        if (t.token) {
            t.token->seed = seed;
            t.token->request = request;
            t.token->at_us = w->now_us;
        }
    }
    sheaf_result_free(r);
}
