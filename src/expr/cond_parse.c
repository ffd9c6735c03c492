/* Turns the text of a condition into nodes, leaves and code with forward jumps. Know before
 * editing: input drives no recursion. One stack holds the open parentheses, calls and operators;
 * what stands on it decides whether a `(` before an operand was around the operand or around a
 * condition, because both begin alike: `(a) = :v`, `(a = :v)`. */
#include "expr/cond.h"

#include <assert.h>

/* By rising precedence from OR on. */
enum open_kind { OPEN_PAREN, OPEN_GROUP, OPEN_CALL, OPEN_OR, OPEN_AND, OPEN_NOT };

struct open {
    uint8_t kind;
    uint16_t node;  /* of a call */
    uint16_t jump;  /* of AND and OR: the instruction to aim */
    uint16_t left;  /* first leaf of the whole operation */
    uint16_t right; /* first leaf of what follows it */
};

struct parse {
    struct cond *c;
    struct expr_parser *p;
    struct open *open;
    uint32_t depth, max_depth;
};

/* ---- storage: sized by counting the tokens, so that nothing grows ---- */

static sheaf_rc allocate(struct parse *s)
{
    struct expr_cursor at = s->p->at;
    uint32_t operands = 1, keywords = 1, brackets = 1;
    for (; at.cur.kind != TOK_EOF; expr_cursor_step(&at)) {
        operands += at.cur.kind == TOK_WORD || at.cur.kind == TOK_NAME || at.cur.kind == TOK_VALUE;
        keywords += at.cur.kind == TOK_KEYWORD;
        brackets += at.cur.kind == TOK_LPAREN;
    }
    struct arena *arena = s->p->ctx->arena;
    struct cond *c = s->c;
    assert(operands + keywords < COND_NONE);
    c->max_nodes = (uint16_t)operands;
    c->max_code = (uint16_t)(operands + keywords);
    c->nodes = ARENA_ARRAY(arena, struct cond_node, operands);
    c->order = ARENA_ARRAY(arena, uint16_t, operands);
    c->leaves = ARENA_ARRAY(arena, struct cond_leaf, operands);
    c->code = ARENA_ARRAY(arena, struct cond_code, c->max_code);
    s->max_depth = keywords + brackets;
    s->open = ARENA_ARRAY(arena, struct open, s->max_depth);
    if (!c->nodes || !c->order || !c->leaves || !c->code || !s->open)
        return err_nomem(s->p->ctx->err);
    return SHEAF_OK;
}

static struct open *push(struct parse *s, enum open_kind kind)
{
    assert(s->depth < s->max_depth);
    struct open *o = &s->open[s->depth++];
    *o = (struct open){.kind = (uint8_t)kind, .left = s->c->n_leaves, .right = s->c->n_leaves};
    return o;
}

static bool is_open(const struct parse *s, enum open_kind kind)
{
    return s->depth > 0 && s->open[s->depth - 1].kind == kind;
}

static uint16_t emit(struct cond *c, enum cond_code_kind kind, uint32_t arg)
{
    assert(c->n_code < c->max_code);
    c->code[c->n_code] = (struct cond_code){kind, arg};
    return c->n_code++;
}

/* ---- operands ---- */

static uint16_t add_node(struct cond *c, enum cond_node_kind kind, span text)
{
    assert(c->n_nodes < c->max_nodes);
    c->nodes[c->n_nodes] = (struct cond_node){
        .kind = kind, .text = text, .next = COND_NONE, .first = COND_NONE, .last = COND_NONE};
    return c->n_nodes++;
}

static void complete(struct cond *c, uint16_t node)
{
    assert(node < c->n_nodes && c->n_order < c->n_nodes);
    c->order[c->n_order++] = node;
}

static void add_operand(struct cond *c, uint16_t call, uint16_t operand)
{
    struct cond_node *n = &c->nodes[call];
    assert(n->kind == COND_CALL && c->nodes[operand].next == COND_NONE);
    if (n->first == COND_NONE)
        n->first = operand;
    else
        c->nodes[n->last].next = operand;
    n->last = operand;
    n->n++;
}

/* What an operand begins with, opening parentheses and calls; ends with a path or a value. */
static sheaf_rc open_operand(struct parse *s, uint16_t *node_out)
{
    struct cond *c = s->c;
    for (;;) {
        if (expr_accept(s->p, TOK_LPAREN)) {
            push(s, OPEN_GROUP);
        } else if (expr_at_call(s->p)) {
            uint16_t call = add_node(c, COND_CALL, expr_tok_text(s->p));
            push(s, OPEN_CALL)->node = call;
            expr_step(s->p);
            expr_step(s->p);
        } else {
            break;
        }
    }
    if (expr_tok(s->p) == TOK_VALUE) {
        *node_out = add_node(c, COND_VALUE, expr_tok_text(s->p));
        expr_step(s->p);
    } else {
        *node_out = add_node(c, COND_PATH, SPAN_NONE);
        TRY(expr_parse_path(s->p, &c->nodes[*node_out].raw));
    }
    complete(c, *node_out);
    return SHEAF_OK;
}

/* A path may go on behind the parenthesis around it: (a.b)[0]. */
static sheaf_rc more_steps(struct parse *s, uint16_t node, uint32_t *closed)
{
    struct cond_node *n = &s->c->nodes[node];
    if (n->kind != COND_PATH || !expr_at_steps(s->p)) return SHEAF_OK;
    *closed = 0;
    return expr_parse_steps(s->p, &n->raw);
}

/* `closed` pairs of parentheses stand around the same thing. */
static void close_paren(struct parse *s, uint32_t *closed)
{
    assert(is_open(s, OPEN_PAREN) || is_open(s, OPEN_GROUP));
    s->depth--;
    if (++*closed > 1) s->c->has_redundant_parentheses = true;
}

/* Closes what open_operand opened, as far as the text does. false: another operand must follow. */
static sheaf_rc close_operand(struct parse *s, uint32_t base, uint16_t *node, bool *is_whole_out)
{
    uint32_t closed = 0;
    *is_whole_out = false;
    while (s->depth > base) {
        if (is_open(s, OPEN_GROUP)) {
            TRY(expr_expect(s->p, TOK_RPAREN));
            close_paren(s, &closed);
            TRY(more_steps(s, *node, &closed));
            continue;
        }
        uint16_t call = s->open[s->depth - 1].node;
        add_operand(s->c, call, *node);
        if (expr_accept(s->p, TOK_COMMA)) return SHEAF_OK;
        TRY(expr_expect(s->p, TOK_RPAREN));
        s->depth--;
        complete(s->c, call);
        *node = call;
        closed = 0;
    }
    *is_whole_out = true;
    return SHEAF_OK;
}

static sheaf_rc parse_operand(struct parse *s, uint16_t *node_out)
{
    uint32_t base = s->depth;
    bool is_whole;
    do {
        TRY(open_operand(s, node_out));
        TRY(close_operand(s, base, node_out, &is_whole));
    } while (!is_whole);
    return SHEAF_OK;
}

/* ---- leaves ---- */

static bool comparator(enum expr_tok tok, enum cond_op *op_out)
{
    switch (tok) {
    case TOK_EQ:
        *op_out = COND_EQ;
        return true;
    case TOK_NE:
        *op_out = COND_NE;
        return true;
    case TOK_LT:
        *op_out = COND_LT;
        return true;
    case TOK_LE:
        *op_out = COND_LE;
        return true;
    case TOK_GT:
        *op_out = COND_GT;
        return true;
    case TOK_GE:
        *op_out = COND_GE;
        return true;
    default:
        return false;
    }
}

/* One more operand of the leaf. */
static sheaf_rc next_operand(struct parse *s, struct cond_leaf *leaf, uint16_t *last)
{
    uint16_t node;
    TRY(parse_operand(s, &node));
    s->c->nodes[*last].next = node;
    *last = node;
    leaf->n++;
    return SHEAF_OK;
}

static sheaf_rc parse_between(struct parse *s, struct cond_leaf *leaf, uint16_t last)
{
    TRY(next_operand(s, leaf, &last));
    if (!expr_at_word(s->p, "AND")) return expr_syntax_error(s->p);
    expr_step(s->p);
    return next_operand(s, leaf, &last);
}

static sheaf_rc parse_in(struct parse *s, struct cond_leaf *leaf, uint16_t last)
{
    TRY(expr_expect(s->p, TOK_LPAREN));
    do {
        TRY(next_operand(s, leaf, &last));
    } while (expr_accept(s->p, TOK_COMMA));
    return expr_expect(s->p, TOK_RPAREN);
}

/* The comparison that begins with an operand, or the call that is a condition by itself. */
static sheaf_rc parse_leaf(struct parse *s, uint16_t first, bool *is_call_out)
{
    struct cond *c = s->c;
    struct cond_leaf leaf = {.first = first, .n = 1};
    *is_call_out = false;
    if (comparator(expr_tok(s->p), &leaf.op)) {
        uint16_t last = first;
        expr_step(s->p);
        TRY(next_operand(s, &leaf, &last));
    } else if (expr_at_word(s->p, "BETWEEN")) {
        leaf.op = COND_BETWEEN;
        expr_step(s->p);
        TRY(parse_between(s, &leaf, first));
    } else if (expr_at_word(s->p, "IN")) {
        leaf.op = COND_IN;
        expr_step(s->p);
        TRY(parse_in(s, &leaf, first));
    } else if (c->nodes[first].kind == COND_CALL) {
        leaf.is_call = *is_call_out = c->nodes[first].is_condition = true;
    } else {
        return expr_syntax_error(s->p);
    }
    assert(c->n_leaves < c->max_nodes);
    leaf.end = c->n_order;
    emit(c, COND_LEAF, c->n_leaves);
    c->leaves[c->n_leaves++] = leaf;
    return SHEAF_OK;
}

/* ---- operators ---- */

/* Takes one operator off the stack: its operands are complete. */
static void reduce(struct parse *s)
{
    struct cond *c = s->c;
    struct open o = s->open[--s->depth];
    assert(o.kind >= OPEN_OR && o.left < c->n_leaves);
    if (o.kind == OPEN_NOT)
        emit(c, COND_FLIP, 0);
    else
        c->code[o.jump].arg = c->n_code;
    /* The outermost operator is reduced last, so that it is the one that stays. */
    if (o.kind != OPEN_AND) c->leaves[o.left].outside = o.kind == OPEN_OR ? "OR" : "NOT";
}

/* Everything that binds closer than `kind`, as far as the nearest parenthesis. */
static void reduce_above(struct parse *s, enum open_kind kind, bool *is_grouped)
{
    while (s->depth > 0 && s->open[s->depth - 1].kind > kind) {
        reduce(s);
        *is_grouped = false;
    }
}

static uint16_t first_leaf_here(const struct parse *s)
{
    return s->depth ? s->open[s->depth - 1].right : 0;
}

static void push_logical(struct parse *s, enum open_kind kind)
{
    bool is_grouped;
    reduce_above(s, kind, &is_grouped);
    uint16_t left = first_leaf_here(s);
    uint16_t jump = emit(s->c, kind == OPEN_AND ? COND_JUMP_IF_FALSE : COND_JUMP_IF_TRUE, 0);
    struct open *o = push(s, kind);
    o->left = left;
    o->jump = jump;
    s->c->n_logical++;
    expr_step(s->p);
}

/* NOT and ( in front of a condition. */
static void parse_prefix(struct parse *s)
{
    for (;;) {
        if (expr_at_word(s->p, "NOT")) {
            push(s, OPEN_NOT);
            s->c->n_logical++;
        } else if (expr_tok(s->p) == TOK_LPAREN) {
            push(s, OPEN_PAREN);
        } else {
            return;
        }
        expr_step(s->p);
    }
}

/* Parentheses behind the first operand belong to it, or to the call that is a condition. */
static sheaf_rc close_first(struct parse *s, uint16_t node, uint32_t *closed)
{
    *closed = 0;
    while (is_open(s, OPEN_PAREN) && expr_accept(s->p, TOK_RPAREN)) {
        close_paren(s, closed);
        TRY(more_steps(s, node, closed));
    }
    return SHEAF_OK;
}

/* Parentheses behind a condition. */
static sheaf_rc close_conditions(struct parse *s, bool is_grouped)
{
    while (expr_tok(s->p) == TOK_RPAREN) {
        reduce_above(s, OPEN_CALL, &is_grouped);
        if (!is_open(s, OPEN_PAREN)) return expr_syntax_error(s->p);
        s->depth--;
        if (is_grouped) s->c->has_redundant_parentheses = true;
        is_grouped = true;
        expr_step(s->p);
    }
    return SHEAF_OK;
}

static sheaf_rc parse_all(struct parse *s)
{
    for (;;) {
        uint16_t node;
        uint32_t closed;
        bool is_call;
        parse_prefix(s);
        TRY(parse_operand(s, &node));
        TRY(close_first(s, node, &closed));
        TRY(parse_leaf(s, node, &is_call));
        TRY(close_conditions(s, is_call && closed > 0));
        if (expr_at_word(s->p, "AND"))
            push_logical(s, OPEN_AND);
        else if (expr_at_word(s->p, "OR"))
            push_logical(s, OPEN_OR);
        else
            break;
    }
    bool is_grouped;
    reduce_above(s, OPEN_CALL, &is_grouped);
    return expr_tok(s->p) == TOK_EOF && s->depth == 0 ? SHEAF_OK : expr_syntax_error(s->p);
}

/* A jump that lands on a jump knows where that one goes. From behind, so that each is final. */
static void thread_jumps(struct cond *c)
{
    for (uint32_t i = c->n_code; i-- > 0;) {
        struct cond_code *jump = &c->code[i];
        if (jump->kind != COND_JUMP_IF_FALSE && jump->kind != COND_JUMP_IF_TRUE) continue;
        while (jump->arg < c->n_code) {
            const struct cond_code *at = &c->code[jump->arg];
            if (at->kind == jump->kind)
                jump->arg = at->arg;
            else if (at->kind == COND_JUMP_IF_FALSE || at->kind == COND_JUMP_IF_TRUE)
                jump->arg++;
            else
                break;
        }
        assert(jump->arg > i && jump->arg <= c->n_code);
    }
}

sheaf_rc cond_parse(struct cond *c, struct ctx *ctx, enum expr_kind kind, span text,
                    struct expr_env *env)
{
    *c = (struct cond){0};
    TRY(expr_parser_init(&c->p, ctx, kind, text, env));
    struct parse s = {.c = c, .p = &c->p};
    TRY(allocate(&s));
    TRY(parse_all(&s));
    thread_jumps(c);
    return SHEAF_OK;
}
