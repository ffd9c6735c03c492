/* tests/model/grammar.h: conditions and updates from a small grammar, with their own meaning.
 *
 * Each is a tree that can be made at random, written as an expression with placeholders, and
 * applied to plain trees here. What it means is written down twice: in src/expr, and here from
 * the documentation. */
#ifndef MODEL_GRAMMAR_H
#define MODEL_GRAMMAR_H

#include "base/rng.h"
#include "model/oracle.h"

/* ---- an expression's text on its way into a request ---- */

enum { EXPR_MAX = 60 };
struct words {
    struct arena *arena;
    struct sheaf_name names[EXPR_MAX];
    sheaf_attr values[EXPR_MAX];
    sheaf_item item; /* of the values */
    uint32_t n_names, n_values;
};
void words_init(struct words *w, struct arena *a);
/* NULL when there are none. */
const struct sheaf_name *words_names(struct words *w);
const sheaf_item *words_values(struct words *w);
/* Placeholders, new each time; the text has the arena's life. */
const char *words_name(struct words *w, const char *name);
const char *words_value(struct words *w, const struct tree *v);
const char *words_path(struct words *w, const struct tree_path *p);
const char *words_printf(struct words *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- random parts ---- */

/* What one round draws its values from. */
struct domain {
    uint32_t n_hash, n_range, n_index; /* how many different values keys have */
    uint32_t hash_from;                /* partition keys begin with this one */
    uint32_t fat;                      /* bytes of a fat string now and then; 0: none */
    int64_t base_s;                    /* TTL values lie around it */
};
struct draw {
    struct rng *rng;
    struct arena *arena;
    const struct domain *domain;
};
bool draw_one_in(struct draw *d, uint64_t n);
/* The k-th value of a key type: distinct for distinct k. */
struct tree draw_key_value(struct draw *d, sheaf_type type, uint64_t k);
/* A value of any type, `depth` levels deep at most. */
struct tree draw_value(struct draw *d, uint32_t depth);
struct tree draw_typed(struct draw *d, sheaf_type type);
/* What an attribute usually holds. */
struct tree draw_attribute(struct draw *d, const char *name);
/* A primary key; a whole item. Now and then not a valid one. */
struct tree draw_key(struct draw *d, const struct schema *s);
struct tree draw_item(struct draw *d, const struct schema *s);
/* A part of an item that is no key of the table. */
struct tree_path draw_path(struct draw *d);
const char *draw_name(struct draw *d);

/* ---- conditions ---- */

enum cond_kind {
    IS_THERE,
    IS_NOT_THERE,
    HAS_TYPE,
    BEGINS_WITH,
    CONTAINS,
    COMPARES,
    COMPARES_SIZE,
    COMPARES_PARTS,
    IS_BETWEEN,
    IS_IN,
    BOTH,
    EITHER,
    NOT
};
struct cond {
    enum cond_kind kind;
    const char *op; /* of the comparisons */
    struct tree_path path, other;
    struct tree v[3];
    uint32_t n;
    struct cond *a, *b;
};
/* names: the attributes it may speak of; NULL: all. */
struct cond *draw_cond(struct draw *d, uint32_t depth, const char *const *names, uint32_t n_names);
const char *cond_text(struct words *w, const struct cond *c);
/* item NULL: there is none. */
bool cond_holds(const struct cond *c, const struct tree *item);

/* ---- updates ---- */

enum action_kind {
    SETS,
    SETS_COPY,
    SETS_IF_MISSING,
    SETS_SUM,
    SETS_DIFFERENCE,
    SETS_APPENDED,
    SETS_PREPENDED,
    REMOVES,
    ADDS,
    DELETES
};
struct action {
    enum action_kind kind;
    struct tree_path path, from;
    struct tree v;
};
enum { ACTIONS_MAX = 6 };
struct update {
    struct action at[ACTIONS_MAX];
    uint32_t n;
};
void draw_update(struct draw *d, struct update *u);
const char *update_text(struct words *w, const struct update *u);
/* false: the request is refused (ValidationException). *has_out false: there is still no item. */
bool update_apply(struct arena *a, const struct update *u, const struct tree *before,
                  const struct tree *key, struct tree *out, bool *has_out);
bool update_touches(const struct update *u, const char *name);

#endif
