/* Turns random numbers into writes, and writes into what they must do. */
#include "model/writes.h"

#include <stdlib.h>

const char *const write_kind_names[] = {"Put", "Update", "Delete", "ConditionCheck"};

/* ---- drawing ---- */

void planned_draw(struct world *w, struct write *x, enum write_kind kind)
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

void planned_say(struct world *w, const struct write *x)
{
    if (!w->trace) return;
    struct words *names = (struct words *)(uintptr_t)&x->words;
    world_say(w, "%s %s %s", write_kind_names[x->kind], x->t->name, world_text(w, &x->item));
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

void planned_judge(struct world *w, const struct write *x, struct judged *j)
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

uint64_t planned_answers(const struct judged *j)
{
    return j->refusals | (!j->refusals || j->may_succeed ? RC_BIT(SHEAF_OK) : 0);
}

void planned_commit(struct world *w, const struct write *x, const struct judged *j)
{
    if (x->kind == CHECK) return;
    model_write(x->t, &x->item, j->has_after ? &j->after : NULL, w->now_us, 0);
}

/* ---- alone ---- */

sheaf_rc planned_call(struct world *w, struct write *x, enum sheaf_return_values returns,
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

/* ---- several ---- */

static bool is_same_item(const struct write *a, const struct write *b)
{
    const struct schema *s = a->t->schema;
    return a->t == b->t &&
           tree_eq(tree_find(&a->item, s->hash.name), tree_find(&b->item, s->hash.name)) &&
           (!s->range.name ||
            tree_eq(tree_find(&a->item, s->range.name), tree_find(&b->item, s->range.name)));
}

bool planned_draw_many(struct world *w, struct write *all, uint32_t *n,
                       const enum write_kind *kinds, uint32_t n_kinds)
{
    bool keeps_twins = world_one_in(w, 40), has_twins = false;
    uint32_t want = *n;
    *n = 0;
    for (uint32_t i = 0; i < want; i++) {
        bool is_twin = false;
        planned_draw(w, &all[*n], kinds[rng_below(&w->rng, n_kinds)]);
        for (uint32_t k = 0; k < *n; k++) is_twin |= is_same_item(&all[k], &all[*n]);
        if (is_twin && !keeps_twins) continue;
        has_twins |= is_twin;
        ++*n;
    }
    return has_twins;
}

/* ---- transactions ---- */

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

static struct token *draw_token(struct world *w)
{
    if (!world_one_in(w, 4)) return NULL;
    struct token *t = &w->tokens[rng_below(&w->rng, N_TOKENS)];
    if (!t->text[0]) snprintf(t->text, sizeof t->text, "token-%u", ++w->n_tokens_made);
    return t;
}

void transaction_draw(struct world *w, struct transaction *t)
{
    static const enum write_kind kinds[] = {PUT, UPDATE, UPDATE, DELETE, CHECK};
    enum { MAX = 12 };
    t->token = draw_token(w);
    t->all = tree_room(&w->arena, MAX * sizeof *t->all);
    t->judged = tree_room(&w->arena, MAX * sizeof *t->judged);
    t->actions = tree_room(&w->arena, MAX * sizeof *t->actions);
    t->n = 1 + (uint32_t)rng_below(&w->rng, world_one_in(w, 6) ? MAX : 4);
    t->has_twins = planned_draw_many(w, t->all, &t->n, kinds, 5);
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

/* What it may answer. */
uint64_t transaction_judge(struct world *w, struct transaction *t)
{
    uint64_t mask = 0;
    bool may_succeed = !t->has_twins;
    if (t->has_twins) mask |= RC_BIT(SHEAF_VALIDATION);
    for (uint32_t i = 0; i < t->n; i++) {
        struct judged *j = &t->judged[i];
        planned_say(w, &t->all[i]);
        planned_judge(w, &t->all[i], j);
        if (!j->refusals) continue;
        may_succeed &= j->may_succeed;
        mask |= RC_BIT(SHEAF_TRANSACTION_CANCELED);
        mask |= j->refusals & (RC_BIT(SHEAF_VALIDATION) | RC_BIT(SHEAF_RESOURCE_NOT_FOUND));
    }
    return mask | (may_succeed ? RC_BIT(SHEAF_OK) : 0);
}

sheaf_rc transaction_call(struct world *w, const struct transaction *t, const char *token,
                          sheaf_result **r)
{
    w->n_calls++;
    return sheaf_transact_write_items(
        w->db,
        &(struct sheaf_transact_write_items){.actions = t->actions,
                                             .n_actions = t->n,
                                             .client_request_token = token,
                                             .error = &w->err},
        r);
}

void transaction_commit(struct world *w, const struct transaction *t)
{
    for (uint32_t i = 0; i < t->n; i++) planned_commit(w, &t->all[i], &t->judged[i]);
}
