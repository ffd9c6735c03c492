/* expr/cond.h: a condition as the parser leaves it, before it is a program or a key condition.
 *
 * Layer rule: internal to expr.
 *
 * text ─cond_parse→ nodes, leaves and code ─cond_check→ the same with placeholders resolved. A leaf
 * is one comparison or function; the code joins them:
 *
 *      a = :x AND NOT b > :y        0  LEAF a = :x
 *                                   1  JUMP_IF_FALSE 4
 *                                   2  LEAF b > :y
 *                                   3  FLIP
 *                                   4  (end)
 */
#ifndef EXPR_COND_H
#define EXPR_COND_H

#include "expr/parse.h"

/* The functions stand first, so that a function's number is its operator's. */
enum cond_op {
    COND_ATTRIBUTE_EXISTS,
    COND_ATTRIBUTE_NOT_EXISTS,
    COND_ATTRIBUTE_TYPE,
    COND_BEGINS_WITH,
    COND_CONTAINS,
    COND_SIZE,
    COND_FUNCTIONS_, /* how many */
    COND_EQ = COND_FUNCTIONS_,
    COND_NE,
    COND_LT,
    COND_LE,
    COND_GT,
    COND_GE,
    COND_BETWEEN,
    COND_IN,
    COND_OPS_
};
/* As messages spell it. */
const char *cond_op_name(enum cond_op op);

enum { COND_NONE = UINT16_MAX }; /* no node; 4,096 bytes of text make fewer than that */

enum cond_node_kind { COND_PATH, COND_VALUE, COND_CALL };

struct cond_node {
    enum cond_node_kind kind;
    bool is_condition;        /* a call that stands alone, not as an operand */
    uint16_t next;            /* the operand after this one */
    uint16_t first, last, n;  /* of a call: its operands */
    enum cond_op op;          /* of a call, once its name was checked */
    span text;                /* the function's name, or the placeholder of a value */
    struct expr_raw_path raw; /* of a path, as written */
    struct path path;         /* once resolved */
    val value;                /* once resolved */
};

struct cond_leaf {
    enum cond_op op;
    uint16_t first, n;   /* operands; of a lone call: the call itself */
    bool is_call;        /* op is the function's, once checked */
    uint16_t end;        /* how many nodes were complete with this leaf: cond.order */
    const char *outside; /* "OR" or "NOT" when the outermost operator that begins here is one */
};

enum cond_code_kind { COND_LEAF, COND_JUMP_IF_FALSE, COND_JUMP_IF_TRUE, COND_FLIP };
struct cond_code {
    enum cond_code_kind kind;
    uint32_t arg; /* a leaf, or where to go on */
};

/* All arrays in the arena. */
struct cond {
    struct expr_parser p;
    struct cond_node *nodes;
    uint16_t *order; /* the nodes, operands before the calls that take them */
    struct cond_leaf *leaves;
    struct cond_code *code;
    uint16_t n_nodes, n_order, n_leaves, n_code;
    uint16_t max_nodes, max_code; /* room: of nodes, order and leaves; of code */
    uint16_t n_logical;           /* AND, OR, NOT */
    bool has_redundant_parentheses;
};

/* Syntax only: the first syntax error wins over every other error. */
SHEAF_NODISCARD sheaf_rc cond_parse(struct cond *c, struct ctx *ctx, enum expr_kind kind, span text,
                                    struct expr_env *env);
/* Everything else, in the service's order; resolves names and values. */
SHEAF_NODISCARD sheaf_rc cond_check(struct cond *c);

#endif
