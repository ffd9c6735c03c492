/* Turns a parsed condition into a checked one: functions, words, placeholders, operands. Know
 * before editing: the order of the checks is the service's and can be seen from outside. The whole
 * text is checked for one kind of error before the next (parentheses, names of functions, their
 * places, reserved words); after that, leaf by leaf, operands before what takes them. */
#include "expr/cond.h"

#include "base/base64.h"
#include "base/limits.h"

#include <assert.h>

#define BIT(t) (1u << (t))
enum {
    ORDERED = BIT(VAL_S) | BIT(VAL_N) | BIT(VAL_B),
    ALL = BIT(VAL_S) | BIT(VAL_N) | BIT(VAL_B) | BIT(VAL_BOOL) | BIT(VAL_NULL) | BIT(VAL_M) |
          BIT(VAL_L) | BIT(VAL_SS) | BIT(VAL_NS) | BIT(VAL_BS),
    SIZED = ALL & ~(BIT(VAL_N) | BIT(VAL_BOOL) | BIT(VAL_NULL)),
    ANY_NUMBER = 0
};

/* How many operands an operator takes, and which types a constant among them may have. */
static const struct {
    const char *name;
    uint16_t n;
    uint16_t types;
} ops[COND_OPS_] = {
    [COND_ATTRIBUTE_EXISTS] = {"attribute_exists", 1, ALL},
    [COND_ATTRIBUTE_NOT_EXISTS] = {"attribute_not_exists", 1, ALL},
    [COND_ATTRIBUTE_TYPE] = {"attribute_type", 2, ALL},
    [COND_BEGINS_WITH] = {"begins_with", 2, BIT(VAL_S) | BIT(VAL_B)},
    [COND_CONTAINS] = {"contains", 2, ALL},
    [COND_SIZE] = {"size", 1, SIZED},
    [COND_EQ] = {"=", 2, ALL},
    [COND_NE] = {"<>", 2, ALL},
    [COND_LT] = {"<", 2, ORDERED},
    [COND_LE] = {"<=", 2, ORDERED},
    [COND_GT] = {">", 2, ORDERED},
    [COND_GE] = {">=", 2, ORDERED},
    [COND_BETWEEN] = {"BETWEEN", 3, ORDERED},
    [COND_IN] = {"IN", ANY_NUMBER, ALL},
};

const char *cond_op_name(enum cond_op op)
{
    assert((unsigned)op < COND_OPS_);
    return ops[op].name;
}

/* ---- functions ---- */

static sheaf_rc check_function(struct cond *c, struct cond_node *call)
{
    for (unsigned op = 0; op < COND_FUNCTIONS_; op++) {
        if (!span_eq(call->text, span_cstr(ops[op].name))) continue;
        call->op = (enum cond_op)op;
        return SHEAF_OK;
    }
    if (span_eq(call->text, SPAN_LIT("if_not_exists")) ||
        span_eq(call->text, SPAN_LIT("list_append")))
        return expr_fail(&c->p,
                         "The function is not allowed in a condition expression; function: %.*s",
                         SPAN_ARG(call->text));
    return expr_fail(&c->p, "Invalid function name; function: %.*s", SPAN_ARG(call->text));
}

/* size is a number and never a condition; the others are conditions and never operands. */
static sheaf_rc check_place(struct cond *c, const struct cond_node *call)
{
    if ((call->op == COND_SIZE) != call->is_condition) return SHEAF_OK;
    return expr_fail(&c->p,
                     "The function is not allowed to be used this way in an expression; "
                     "function: %.*s",
                     SPAN_ARG(call->text));
}

static sheaf_rc check_text(struct cond *c)
{
    if (c->has_redundant_parentheses)
        return expr_fail(&c->p, "The expression has redundant parentheses;");
    for (uint32_t i = 0; i < c->n_order; i++) {
        struct cond_node *n = &c->nodes[c->order[i]];
        if (n->kind == COND_CALL) TRY(check_function(c, n));
    }
    for (uint32_t i = 0; i < c->n_order; i++) {
        const struct cond_node *n = &c->nodes[c->order[i]];
        if (n->kind == COND_CALL) TRY(check_place(c, n));
    }
    for (uint32_t i = 0; i < c->n_order; i++) {
        const struct cond_node *n = &c->nodes[c->order[i]];
        if (n->kind == COND_PATH) TRY(expr_path_check_words(&c->p, &n->raw));
    }
    return SHEAF_OK;
}

/* ---- operands ---- */

static sheaf_rc wrong_type(struct cond *c, enum cond_op op, const char *type)
{
    return expr_fail(&c->p,
                     "Incorrect operand type for operator or function; operator or function: %s, "
                     "operand type: %s",
                     ops[op].name, type);
}

static sheaf_rc check_types(struct cond *c, enum cond_op op, uint16_t first)
{
    for (uint16_t i = first; i != COND_NONE; i = c->nodes[i].next) {
        const struct cond_node *n = &c->nodes[i];
        if (n->kind == COND_PATH) continue;
        enum val_type t = n->kind == COND_CALL ? VAL_N : val_type(n->value);
        assert(t != VAL_NONE);
        if (!(ops[op].types & BIT(t))) return wrong_type(c, op, val_type_name(t));
    }
    return SHEAF_OK;
}

static sheaf_rc check_distinct(struct cond *c, enum cond_op op, uint16_t first)
{
    const struct cond_node *a = &c->nodes[first];
    if (a->kind != COND_PATH) return SHEAF_OK;
    for (uint16_t i = a->next; i != COND_NONE; i = c->nodes[i].next) {
        const struct cond_node *b = &c->nodes[i];
        if (b->kind != COND_PATH || !expr_path_eq(&a->path, &b->path)) continue;
        span path = expr_path_text(&c->p, &a->path);
        return expr_fail(&c->p,
                         "The first operand must be distinct from the remaining operands for this "
                         "operator or function; operator: %s, first operand: %.*s",
                         ops[op].name, SPAN_ARG(path));
    }
    return SHEAF_OK;
}

static sheaf_rc check_attribute_type(struct cond *c, uint16_t first)
{
    assert(c->nodes[first].next != COND_NONE);
    const struct cond_node *n = &c->nodes[c->nodes[first].next];
    enum val_type t;
    if (n->kind == COND_PATH)
        return wrong_type(c, COND_ATTRIBUTE_TYPE, "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}");
    if (n->kind == COND_CALL) return wrong_type(c, COND_ATTRIBUTE_TYPE, "N");
    if (val_type(n->value) != VAL_S)
        return wrong_type(c, COND_ATTRIBUTE_TYPE, val_type_name(val_type(n->value)));
    span name = val_bytes(n->value);
    if (val_type_parse(name, &t)) return SHEAF_OK;
    return expr_fail(&c->p,
                     "Invalid attribute type name found; type: %.*s, valid types: "
                     "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
                     SPAN_ARG(name));
}

/* ---- BETWEEN ---- */

enum { BOUND_TEXT_MAX = 160 };

/* A constant of type S, N or B as the service's messages write it, cut when it is long. */
static span bound_text(const struct cond *c, val v)
{
    struct buf b;
    assert(ORDERED & BIT(val_type(v)));
    span bytes = val_bytes(v);
    buf_init(&b, c->p.ctx->arena, NUM_TEXT_MAX + 2 * BOUND_TEXT_MAX);
    size_t n = bytes.n < BOUND_TEXT_MAX ? bytes.n : BOUND_TEXT_MAX;
    if (val_type(v) == VAL_S) {
        while (n < bytes.n && n > 0 && (((const uint8_t *)bytes.p)[n] & 0xC0) == 0x80) n--;
        return SPAN(bytes.p, n);
    }
    if (val_type(v) == VAL_B) {
        base64_put(&b, SPAN(bytes.p, n));
    } else {
        uint8_t *to = buf_room(&b, NUM_TEXT_MAX);
        if (to) b.n = num_format_encoded(bytes, (char *)to);
    }
    return buf_span(&b);
}

static sheaf_rc check_between(struct cond *c, uint16_t first)
{
    const struct cond_node *low = &c->nodes[c->nodes[first].next], *high = &c->nodes[low->next];
    assert(high->next == COND_NONE);
    if (low->kind != COND_VALUE || high->kind != COND_VALUE) return SHEAF_OK;
    enum val_type a = val_type(low->value), b = val_type(high->value);
    const char *wants = "same data type for lower and upper bounds";
    if (a == b) {
        if (val_cmp(low->value, high->value) <= 0) return SHEAF_OK;
        wants = "upper bound to be greater than or equal to lower bound";
    }
    span low_text = bound_text(c, low->value), high_text = bound_text(c, high->value);
    return expr_fail(&c->p,
                     "The BETWEEN operator requires %s; lower bound operand: AttributeValue: "
                     "{%s:%.*s}, upper bound operand: AttributeValue: {%s:%.*s}",
                     wants, val_type_name(a), SPAN_ARG(low_text), val_type_name(b),
                     SPAN_ARG(high_text));
}

/* ---- operators, once their operands are resolved ---- */

static sheaf_rc check_special(struct cond *c, enum cond_op op, uint16_t first, uint16_t n)
{
    switch (op) {
    case COND_ATTRIBUTE_EXISTS:
    case COND_ATTRIBUTE_NOT_EXISTS:
        if (c->nodes[first].kind == COND_PATH) return SHEAF_OK;
        return expr_fail(&c->p,
                         "Operator or function requires a document path; operator or function: %s",
                         ops[op].name);
    case COND_ATTRIBUTE_TYPE:
        return check_attribute_type(c, first);
    case COND_BETWEEN:
        return check_between(c, first);
    case COND_IN:
        if (n - 1 <= LIMIT_IN_OPERANDS) return SHEAF_OK;
        return expr_fail(&c->p,
                         "The IN operator is provided with too many operands; number of operands: "
                         "%d",
                         n - 1);
    default:
        return SHEAF_OK;
    }
}

static sheaf_rc check_operator(struct cond *c, enum cond_op op, uint16_t first, uint16_t n)
{
    assert(first != COND_NONE && n > 0);
    if (ops[op].n != ANY_NUMBER && ops[op].n != n)
        return expr_fail(&c->p,
                         "Incorrect number of operands for operator or function; operator or "
                         "function: %s, number of operands: %d",
                         ops[op].name, n);
    TRY(check_types(c, op, first));
    TRY(check_distinct(c, op, first));
    return check_special(c, op, first, n);
}

static sheaf_rc count_operators(struct cond *c, uint32_t *n, uint32_t more)
{
    *n += more;
    if (*n <= LIMIT_EXPRESSION_OPERATORS) return SHEAF_OK;
    return expr_fail(&c->p, "The expression contains too many operators; operator count: %d",
                     LIMIT_EXPRESSION_OPERATORS + 1);
}

static sheaf_rc check_node(struct cond *c, struct cond_node *n, uint32_t *n_operators)
{
    if (n->kind == COND_PATH) return expr_path_resolve(&c->p, &n->raw, &n->path);
    if (n->kind == COND_VALUE) return expr_value_resolve(&c->p, n->text, &n->value);
    assert(n->kind == COND_CALL && n->n > 0);
    TRY(check_operator(c, n->op, n->first, n->n));
    return count_operators(c, n_operators, 1);
}

sheaf_rc cond_check(struct cond *c)
{
    assert(c->n_leaves > 0 && c->n_order == c->n_nodes);
    TRY(check_text(c));
    uint32_t n_operators = 0, at = 0;
    for (uint32_t i = 0; i < c->n_leaves; i++) {
        struct cond_leaf *leaf = &c->leaves[i];
        for (; at < leaf->end; at++) TRY(check_node(c, &c->nodes[c->order[at]], &n_operators));
        if (leaf->is_call) {
            const struct cond_node *call = &c->nodes[leaf->first];
            leaf->op = call->op;
            leaf->first = call->first;
            leaf->n = call->n;
            continue;
        }
        TRY(check_operator(c, leaf->op, leaf->first, leaf->n));
        TRY(count_operators(c, &n_operators, 1));
    }
    assert(at == c->n_order);
    return count_operators(c, &n_operators, c->n_logical);
}
