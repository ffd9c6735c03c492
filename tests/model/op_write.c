/* Writes: what one must do is judged on the oracle's tables first, then done to both. */
#include "model/world.h"

#include <stdlib.h>

enum kind { PUT, UPDATE, DELETE, CHECK };
static const char *const kind_names[] = {"Put", "Update", "Delete", "ConditionCheck"};

struct write {
    struct model_table *t;
    enum kind kind;
    struct tree item; /* or key */
    struct cond *cond;
    struct update update;
    struct words words;
    const char *update_text, *cond_text;
    bool wants_old;
};

/* What a write must do. */
struct judged {
    uint64_t refusals; /* mask of errors it may be refused with; 0: it must succeed */
    bool may_succeed;  /* with refusals: either is fine */
    bool is_canceling; /* every refusal would be a reason of a canceled transaction */
    bool has_failed_condition;
    struct stored *before;
    struct tree after;
    bool has_after;
};

/* ---- drawing ---- */

static void draw_write(struct world *w, struct write *x, enum kind kind)
{
    struct draw *d = &w->draw;
    *x = (struct write){.t = world_table(w), .kind = kind};
    words_init(&x->words, &w->arena);
    x->item = kind == PUT ? draw_item(d, x->t->schema) : draw_key(d, x->t->schema);
    if (kind == UPDATE && !draw_one_in(d, 30)) {
        draw_update(d, &x->update);
        x->update_text = update_text(&x->words, &x->update);
    }
    if (kind == CHECK || draw_one_in(d, 3)) {
        const char *key = x->t->schema->hash.name;
        bool is_simple = draw_one_in(d, 3);
        x->cond = draw_cond(d, 2, is_simple ? &key : NULL, 1);
        x->cond_text = cond_text(&x->words, x->cond);
        x->wants_old = draw_one_in(d, 2);
    }
}

static void say_write(struct world *w, const struct write *x)
{
    if (!w->trace) return;
    struct words *names = (struct words *)(uintptr_t)&x->words;
    world_say(w, "%s %s %s", kind_names[x->kind], x->t->name, world_text(w, &x->item));
    if (x->update_text) world_say(w, " update \"%s\"", x->update_text);
    if (x->cond_text) world_say(w, " if \"%s\"", x->cond_text);
    for (uint32_t i = 0; i < names->n_names; i++)
        world_say(w, " %s=%s", names->names[i].placeholder, names->names[i].name);
    struct tree values =
        tree_of_item(&w->arena, &(sheaf_item){names->values, names->n_values, NULL});
    if (names->n_values) world_say(w, " with %s", world_text(w, &values));
    world_say(w, "\n");
}

/* ---- judging ---- */

static bool has_good_key(const struct model_table *t, const struct tree *item)
{
    const struct tree *hash = tree_find(item, t->schema->hash.name);
    return hash && hash->type == t->schema->hash.type;
}

static uint32_t depth_of(const struct tree *t)
{
    uint32_t deepest = 0;
    for (size_t i = 0; t->type >= SHEAF_M && i < t->n; i++) {
        uint32_t d = depth_of(&t->at[i].v);
        if (d > deepest) deepest = d;
    }
    return deepest + 1;
}

/* Copies of copies may come near a limit: then both answers are fine. */
static bool is_near_limit(const struct tree *item)
{
    return tree_item_size(item) > 100000 || depth_of(item) > 26;
}

static void judge_update(struct world *w, const struct write *x, struct judged *j)
{
    const struct tree *before = j->before ? &j->before->v : NULL;
    j->has_after = true;
    j->after = before ? *before : x->item;
    if (x->update.n &&
        !update_apply(&w->arena, &x->update, before, &x->item, &j->after, &j->has_after)) {
        j->refusals |= RC_BIT(SHEAF_VALIDATION);
        return;
    }
    if (!j->has_after) return;
    const char *bad = model_bad_index_key(x->t, &j->after);
    if (bad) j->refusals |= RC_BIT(SHEAF_VALIDATION);
    /* The attribute is older than the index: nothing says whether it may stay. */
    if (bad && !update_touches(&x->update, bad) && !j->has_failed_condition) j->may_succeed = true;
    if (is_near_limit(&j->after)) {
        j->refusals |= RC_BIT(SHEAF_VALIDATION);
        j->may_succeed = !j->has_failed_condition;
    }
}

static void judge(struct world *w, const struct write *x, struct judged *j)
{
    *j = (struct judged){.is_canceling = true};
    if (!x->t->exists) j->refusals |= RC_BIT(SHEAF_RESOURCE_NOT_FOUND);
    if (!has_good_key(x->t, &x->item) || (x->kind == PUT && model_bad_index_key(x->t, &x->item)))
        j->refusals |= RC_BIT(SHEAF_VALIDATION);
    if (j->refusals) {
        j->is_canceling = false;
        /* A value that an index refuses may also be found too late for the condition. */
        if (x->cond && x->t->exists && has_good_key(x->t, &x->item))
            j->refusals |= RC_BIT(SHEAF_CONDITIONAL_CHECK_FAILED);
        return;
    }
    j->before = model_find(x->t, &x->item);
    if (x->cond && !cond_holds(x->cond, j->before ? &j->before->v : NULL)) {
        j->refusals |= RC_BIT(SHEAF_CONDITIONAL_CHECK_FAILED);
        j->has_failed_condition = true;
    }
    if (x->kind == PUT) {
        j->after = x->item;
        j->has_after = true;
    } else if (x->kind == CHECK && j->before) {
        j->after = j->before->v;
        j->has_after = true;
    } else if (x->kind == UPDATE) {
        judge_update(w, x, j);
    }
}

static uint64_t mask_of(const struct judged *j)
{
    return j->refusals | (!j->refusals || j->may_succeed ? RC_BIT(SHEAF_OK) : 0);
}

static void commit(struct world *w, const struct write *x, const struct judged *j)
{
    if (x->kind == CHECK) return;
    model_write(x->t, &x->item, j->has_after ? &j->after : NULL, w->now_us, 0);
}

/* ---- alone ---- */

static sheaf_rc call(struct world *w, struct write *x, enum sheaf_return_values returns,
                     sheaf_result **r)
{
    const sheaf_item *item = tree_to_item(&w->arena, &x->item);
    const struct sheaf_name *names = words_names(&x->words);
    const sheaf_item *values = words_values(&x->words);
    w->n_calls++;
    if (x->kind == PUT)
        return sheaf_put_item(
            w->db,
            &(struct sheaf_put_item){.table = x->t->name,
                                     .item = item,
                                     .condition_expression = x->cond_text,
                                     .expression_attribute_names = names,
                                     .expression_attribute_values = values,
                                     .return_values = returns,
                                     .return_old_on_condition_failure = x->wants_old,
                                     .error = &w->err},
            r);
    if (x->kind == DELETE)
        return sheaf_delete_item(
            w->db,
            &(struct sheaf_delete_item){.table = x->t->name,
                                        .key = item,
                                        .condition_expression = x->cond_text,
                                        .expression_attribute_names = names,
                                        .expression_attribute_values = values,
                                        .return_values = returns,
                                        .return_old_on_condition_failure = x->wants_old,
                                        .error = &w->err},
            r);
    return sheaf_update_item(
        w->db,
        &(struct sheaf_update_item){.table = x->t->name,
                                    .key = item,
                                    .update_expression = x->update_text,
                                    .condition_expression = x->cond_text,
                                    .expression_attribute_names = names,
                                    .expression_attribute_values = values,
                                    .return_values = returns,
                                    .return_old_on_condition_failure = x->wants_old,
                                    .error = &w->err},
        r);
}

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
    static const enum kind kinds[] = {PUT, PUT, UPDATE, UPDATE, UPDATE, DELETE, PUT, UPDATE};
    struct write x;
    struct judged j;
    sheaf_result *r;
    draw_write(w, &x, kinds[rng_below(&w->rng, 8)]);
    uint64_t n_returns = x.kind == UPDATE ? 5 : 2;
    enum sheaf_return_values returns = (enum sheaf_return_values)rng_below(&w->rng, n_returns);
    say_write(w, &x);
    judge(w, &x, &j);
    sheaf_rc rc = call(w, &x, returns, &r);
    world_expect_rc(w, kind_names[x.kind], rc, mask_of(&j));
    if (rc == SHEAF_OK) {
        expect_returned(w, &x, &j, returns, sheaf_result_item(r));
        commit(w, &x, &j);
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

static bool is_same_item(const struct write *a, const struct write *b)
{
    const struct schema *s = a->t->schema;
    return a->t == b->t &&
           tree_eq(tree_find(&a->item, s->hash.name), tree_find(&b->item, s->hash.name)) &&
           (!s->range.name ||
            tree_eq(tree_find(&a->item, s->range.name), tree_find(&b->item, s->range.name)));
}

/* Draws writes; most times each of another item. Returns whether two are of the same. */
static bool draw_many(struct world *w, struct write *all, uint32_t *n, const enum kind *kinds,
                      uint32_t n_kinds)
{
    bool keeps_twins = world_one_in(w, 40), has_twins = false;
    uint32_t want = *n;
    *n = 0;
    for (uint32_t i = 0; i < want; i++) {
        bool is_twin = false;
        draw_write(w, &all[*n], kinds[rng_below(&w->rng, n_kinds)]);
        for (uint32_t k = 0; k < *n; k++) is_twin |= is_same_item(&all[k], &all[*n]);
        if (is_twin && !keeps_twins) continue;
        has_twins |= is_twin;
        ++*n;
    }
    return has_twins;
}

void op_batch_write(struct world *w)
{
    static const enum kind kinds[] = {PUT, PUT, DELETE};
    struct write *all = tree_room(&w->arena, MANY_MAX * sizeof *all);
    struct sheaf_batch_write *writes = tree_room(&w->arena, MANY_MAX * sizeof *writes);
    struct judged j;
    uint32_t n = 1 + (uint32_t)rng_below(&w->rng, world_one_in(w, 8) ? MANY_MAX : 6);
    bool has_twins = draw_many(w, all, &n, kinds, 3);
    uint64_t refusals = has_twins ? RC_BIT(SHEAF_VALIDATION) : 0;
    sheaf_result *r;
    world_say(w, "BatchWriteItem of %u\n", n);
    for (uint32_t i = 0; i < n; i++) {
        all[i].cond = NULL;
        all[i].cond_text = NULL;
        words_init(&all[i].words, &w->arena);
        say_write(w, &all[i]);
        judge(w, &all[i], &j);
        refusals |= j.refusals;
        const sheaf_item *item = tree_to_item(&w->arena, &all[i].item);
        writes[i] = (struct sheaf_batch_write){all[i].t->name, all[i].kind == PUT ? item : NULL,
                                               all[i].kind == PUT ? NULL : item};
    }
    w->n_calls++;
    sheaf_rc rc = sheaf_batch_write_item(
        w->db, &(struct sheaf_batch_write_item){.writes = writes, .n_writes = n, .error = &w->err},
        &r);
    world_expect_rc(w, "BatchWriteItem", rc, refusals ? refusals : RC_BIT(SHEAF_OK));
    if (rc == SHEAF_OK) world_expect_number(w, "unprocessed", sheaf_result_unprocessed_count(r), 0);
    for (uint32_t i = 0; i < n && rc == SHEAF_OK; i++) {
        judge(w, &all[i], &j);
        commit(w, &all[i], &j);
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

static void fill_action(struct world *w, struct write *x, struct sheaf_transact_write *to)
{
    const sheaf_item *item = tree_to_item(&w->arena, &x->item);
    *to = (struct sheaf_transact_write){.table = x->t->name,
                                        .put = x->kind == PUT ? item : NULL,
                                        .key = x->kind == PUT ? NULL : item,
                                        .update_expression =
                                            x->kind == UPDATE ? x->update_text : NULL,
                                        .condition_expression = x->cond_text,
                                        .expression_attribute_names = words_names(&x->words),
                                        .expression_attribute_values = words_values(&x->words),
                                        .is_delete = x->kind == DELETE,
                                        .is_check = x->kind == CHECK,
                                        .return_old_on_condition_failure = x->wants_old};
}

struct transaction {
    uint32_t n;
    bool has_twins;
    struct token *token; /* NULL: none */
    struct write *all;
    struct judged *judged;
    struct sheaf_transact_write *actions;
};

static struct token *draw_token(struct world *w)
{
    if (!world_one_in(w, 4)) return NULL;
    struct token *t = &w->tokens[rng_below(&w->rng, N_TOKENS)];
    if (!t->text[0]) snprintf(t->text, sizeof t->text, "token-%u", ++w->n_tokens_made);
    return t;
}

static void draw_transaction(struct world *w, struct transaction *t)
{
    static const enum kind kinds[] = {PUT, UPDATE, UPDATE, DELETE, CHECK};
    enum { MAX = 12 };
    t->token = draw_token(w);
    t->all = tree_room(&w->arena, MAX * sizeof *t->all);
    t->judged = tree_room(&w->arena, MAX * sizeof *t->judged);
    t->actions = tree_room(&w->arena, MAX * sizeof *t->actions);
    t->n = 1 + (uint32_t)rng_below(&w->rng, world_one_in(w, 6) ? MAX : 4);
    t->has_twins = draw_many(w, t->all, &t->n, kinds, 5);
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->all[i].kind == UPDATE && !t->all[i].update_text) t->all[i].kind = DELETE;
        if (t->all[i].cond && t->all[i].kind != CHECK && !world_one_in(w, 3)) {
            t->all[i].cond = NULL; /* else hardly one would pass */
            words_init(&t->all[i].words, &w->arena);
            t->all[i].cond_text = NULL;
            if (t->all[i].kind == UPDATE)
                t->all[i].update_text = update_text(&t->all[i].words, &t->all[i].update);
        }
        fill_action(w, &t->all[i], &t->actions[i]);
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
        h = digest(h, kind_names[x->kind]);
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

/* What it may answer. */
static uint64_t judge_transaction(struct world *w, struct transaction *t)
{
    uint64_t mask = 0;
    bool may_succeed = !t->has_twins;
    if (t->has_twins) mask |= RC_BIT(SHEAF_VALIDATION);
    for (uint32_t i = 0; i < t->n; i++) {
        struct judged *j = &t->judged[i];
        say_write(w, &t->all[i]);
        judge(w, &t->all[i], j);
        if (!j->refusals) continue;
        may_succeed &= j->may_succeed;
        mask |= RC_BIT(SHEAF_TRANSACTION_CANCELED);
        mask |= j->refusals & (RC_BIT(SHEAF_VALIDATION) | RC_BIT(SHEAF_RESOURCE_NOT_FOUND));
    }
    return mask | (may_succeed ? RC_BIT(SHEAF_OK) : 0);
}

void op_transact_write(struct world *w, uint64_t seed)
{
    struct transaction t;
    sheaf_result *r;
    /* A request that was made with a token is made again now and then, to the letter. */
    uint64_t again = world_one_in(w, 10) ? w->tokens[rng_below(&w->rng, N_TOKENS)].seed : 0;
    if (again) seed = again;
    rng_init(&w->rng, ~seed);
    draw_transaction(w, &t);
    uint64_t request = t.token ? digest_request(w, &t) : 0;
    uint64_t by_token = judge_token(w, &t, request);
    world_say(w, "TransactWriteItems of %u, token %s%s\n", t.n, t.token ? t.token->text : "none",
              by_token == RC_BIT(SHEAF_OK) ? " (used by the same)" : "");
    uint64_t mask = judge_transaction(w, &t);
    if (by_token && !t.has_twins && !(mask & RC_BIT(SHEAF_RESOURCE_NOT_FOUND)) &&
        !(mask & RC_BIT(SHEAF_VALIDATION)))
        mask = by_token;
    else
        mask |= by_token;
    w->n_calls++;
    sheaf_rc rc = sheaf_transact_write_items(
        w->db,
        &(struct sheaf_transact_write_items){.actions = t.actions,
                                             .n_actions = t.n,
                                             .client_request_token = t.token ? t.token->text : NULL,
                                             .error = &w->err},
        &r);
    world_expect_rc(w, "TransactWriteItems", rc, mask);
    bool is_plain = !t.has_twins;
    for (uint32_t i = 0; i < t.n; i++) is_plain &= t.judged[i].is_canceling;
    if (rc == SHEAF_TRANSACTION_CANCELED && is_plain) expect_reasons(w, t.all, t.judged, t.n, r);
    if (rc == SHEAF_OK && by_token != RC_BIT(SHEAF_OK)) {
        for (uint32_t i = 0; i < t.n; i++) commit(w, &t.all[i], &t.judged[i]);
        if (t.token) {
            t.token->seed = seed;
            t.token->request = request;
            t.token->at_us = w->now_us;
        }
    }
    sheaf_result_free(r);
}
