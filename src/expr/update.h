/* expr/update.h: an update expression once compiled: what update_parse.c makes and update_apply.c
 * runs.
 *
 * Layer rule: internal to expr.
 */
#ifndef EXPR_UPDATE_H
#define EXPR_UPDATE_H

#include "expr/tree.h"

/* A value to be read: what stands at the first of the paths that leads anywhere, else the fallback
 * (absent: there is none, and then it is an error). One path is `a`, a fallback alone is `:v`, and
 * if_not_exists(a, if_not_exists(b, :v)) is two paths and a fallback: nested calls need no nesting
 * here. */
struct expr_operand {
    const struct path *paths;
    uint32_t n_paths;
    val fallback;
};

enum expr_action_kind {
    EXPR_SET,    /* path = a */
    EXPR_PLUS,   /* path = a + b */
    EXPR_MINUS,  /* path = a - b */
    EXPR_APPEND, /* path = list_append(a, b) */
    EXPR_REMOVE, /* path */
    EXPR_ADD,    /* path a, a number or a set */
    EXPR_DELETE  /* path a, a set */
};

struct expr_action {
    enum expr_action_kind kind;
    struct expr_operand a, b;
};

struct expr_update {
    struct expr_projection touched; /* its paths[i] is where actions[i] writes */
    struct expr_action *actions;
    bool creates;
};

#endif
