/* tests/model/writes.h: one write, or several in a transaction: drawn, judged on the oracle, done.
 *
 * Drawing needs the schemas only; judging and committing need the oracle's tables of the world. */
#ifndef MODEL_WRITES_H
#define MODEL_WRITES_H

#include "model/world.h"

enum write_kind { PUT, UPDATE, DELETE, CHECK };
extern const char *const write_kind_names[];

struct write {
    struct model_table *t;
    enum write_kind kind;
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

void planned_draw(struct world *w, struct write *x, enum write_kind kind);
/* Draws *n writes or fewer; most times each of another item. Returns whether two are of the
 * same. */
bool planned_draw_many(struct world *w, struct write *all, uint32_t *n,
                       const enum write_kind *kinds, uint32_t n_kinds);
void planned_say(struct world *w, const struct write *x);
void planned_judge(struct world *w, const struct write *x, struct judged *j);
/* The answers it may get. */
uint64_t planned_answers(const struct judged *j);
sheaf_rc planned_call(struct world *w, struct write *x, enum sheaf_return_values returns,
                      sheaf_result **r);
/* Into the oracle. */
void planned_commit(struct world *w, const struct write *x, const struct judged *j);

struct transaction {
    uint32_t n;
    bool has_twins;
    struct token *token; /* NULL: none */
    struct write *all;
    struct judged *judged;
    struct sheaf_transact_write *actions;
};

void transaction_draw(struct world *w, struct transaction *t);
/* The answers it may get, its token apart; fills t->judged. */
uint64_t transaction_judge(struct world *w, struct transaction *t);
sheaf_rc transaction_call(struct world *w, const struct transaction *t, const char *token,
                          sheaf_result **r);
void transaction_commit(struct world *w, const struct transaction *t);

#endif
