/* Turns an update expression into actions. Know before editing: the service reads the whole text,
 * then asks one question after another of all of it, so a reserved word anywhere is reported before
 * an undefined placeholder, that before overlapping paths, those before a wrong type. Hence the
 * shape here: a parser that judges syntax only and strings all nodes on a chain, then one pass over
 * the chain for each question, in that order. Calls nest as deep as the text is long: the parser
 * keeps the open ones on a list, not on the C stack. */
#include "base/limits.h"
#include "expr/update.h"

#include <assert.h>

enum section { SECTION_SET, SECTION_REMOVE, SECTION_ADD, SECTION_DELETE, N_SECTIONS };

static const char *const section_names[N_SECTIONS] = {"SET", "REMOVE", "ADD", "DELETE"};

enum node_kind { NODE_PATH, NODE_VALUE, NODE_CALL, NODE_PAREN };
enum function { FN_IF_NOT_EXISTS, FN_LIST_APPEND, FN_PLUS, FN_MINUS };

struct node {
    enum node_kind kind;
    enum function function;   /* of a call, once known */
    span text;                /* of a call its name, of a value its placeholder */
    struct expr_raw_path raw; /* of a path */
    struct path path;
    val value;
    struct node *args, *last_arg, *sibling; /* of a call, in order */
    uint32_t n_args;
    struct node *around; /* the call or parenthesis it stands in */
    struct node *after;  /* the chain: arguments before their call */
};

struct raw_action {
    enum section section;
    struct node *target, *value; /* REMOVE has no value */
    struct raw_action *after;
};

struct update_parser {
    struct expr_parser p;
    struct node *first, *last;
    struct raw_action *first_action, *last_action;
    uint32_t n_actions, n_operators;
    bool seen[N_SECTIONS];
    const char *twice; /* the first section to come a second time */
};

/* ---- syntax ---- */

static struct node *new_node(struct update_parser *u, enum node_kind kind)
{
    struct node *n = ARENA_NEW(u->p.ctx->arena, struct node);
    if (n) n->kind = kind;
    return n;
}

static void chain(struct update_parser *u, struct node *n)
{
    assert(n->kind != NODE_PAREN && !n->after);
    if (u->last)
        u->last->after = n;
    else
        u->first = n;
    u->last = n;
}

static bool at_section(const struct update_parser *u, enum section *out)
{
    for (int i = 0; i < N_SECTIONS; i++) {
        *out = (enum section)i;
        if (expr_at_word(&u->p, section_names[i])) return true;
    }
    return false;
}

static sheaf_rc parse_path(struct update_parser *u, struct node **out)
{
    *out = new_node(u, NODE_PATH);
    if (!*out) return err_nomem(u->p.ctx->err);
    TRY(expr_parse_path(&u->p, &(*out)->raw));
    chain(u, *out);
    return SHEAF_OK;
}

static sheaf_rc parse_value(struct update_parser *u, struct node **out)
{
    *out = new_node(u, NODE_VALUE);
    if (!*out) return err_nomem(u->p.ctx->err);
    (*out)->text = expr_tok_text(&u->p);
    TRY(expr_expect(&u->p, TOK_VALUE));
    chain(u, *out);
    return SHEAF_OK;
}

/* Opens the call or parenthesis at the cursor, if there is one. */
static sheaf_rc open_nest(struct update_parser *u, struct node **open, bool *is_open_out)
{
    bool is_paren = expr_tok(&u->p) == TOK_LPAREN;
    *is_open_out = is_paren || expr_at_call(&u->p);
    if (!*is_open_out) return SHEAF_OK;
    if (is_paren && *open && (*open)->kind == NODE_PAREN)
        return expr_fail(&u->p, "The expression has redundant parentheses;");
    struct node *n = new_node(u, is_paren ? NODE_PAREN : NODE_CALL);
    if (!n) return err_nomem(u->p.ctx->err);
    if (!is_paren) {
        n->text = expr_tok_text(&u->p);
        u->n_operators++;
        expr_step(&u->p);
    }
    n->around = *open;
    *open = n;
    return expr_expect(&u->p, TOK_LPAREN);
}

static void add_arg(struct node *call, struct node *arg)
{
    assert(call->kind == NODE_CALL && !arg->sibling);
    if (call->last_arg)
        call->last_arg->sibling = arg;
    else
        call->args = arg;
    call->last_arg = arg;
    call->n_args++;
}

/* `n` is complete: closes what ends with it. Leaves *open where an operand is to follow; when there
 * is none, n is the whole operand. */
static sheaf_rc close_nests(struct update_parser *u, struct node **open, struct node **n)
{
    while (*open) {
        struct node *nest = *open;
        if (nest->kind == NODE_CALL) {
            add_arg(nest, *n);
            if (expr_accept(&u->p, TOK_COMMA)) return SHEAF_OK;
            *n = nest;
            chain(u, nest);
        }
        TRY(expr_expect(&u->p, TOK_RPAREN));
        *open = nest->around;
    }
    return SHEAF_OK;
}

/* operand = path | :value | name(operand, …), each perhaps in one pair of parentheses. */
static sheaf_rc parse_operand(struct update_parser *u, struct node **out)
{
    struct node *open = NULL;
    do {
        bool is_open;
        TRY(open_nest(u, &open, &is_open));
        if (is_open) continue;
        if (expr_tok(&u->p) == TOK_VALUE)
            TRY(parse_value(u, out));
        else
            TRY(parse_path(u, out));
        TRY(close_nests(u, &open, out));
    } while (open);
    return SHEAF_OK;
}

static bool at_sign(const struct update_parser *u)
{
    return expr_tok(&u->p) == TOK_PLUS || expr_tok(&u->p) == TOK_MINUS;
}

/* The sign at the cursor and the operand behind it, as a call of two arguments. */
static sheaf_rc parse_sum(struct update_parser *u, struct node **left)
{
    struct node *sum = new_node(u, NODE_CALL), *right = NULL;
    assert(at_sign(u));
    if (!sum) return err_nomem(u->p.ctx->err);
    sum->text = expr_tok_text(&u->p);
    u->n_operators++;
    expr_step(&u->p);
    TRY(parse_operand(u, &right));
    add_arg(sum, *left);
    add_arg(sum, right);
    chain(u, sum);
    *left = sum;
    return SHEAF_OK;
}

/* Whether two pairs of parentheses open here and close together: ((a)), ((a + b)). Looks ahead on a
 * copy of the cursor. */
static bool is_doubled(const struct update_parser *u)
{
    struct expr_cursor at = u->p.at;
    if (at.cur.kind != TOK_LPAREN || at.next.kind != TOK_LPAREN) return false;
    uint32_t depth = 0;
    do {
        depth += at.cur.kind == TOK_LPAREN;
        if (at.cur.kind == TOK_RPAREN && --depth == 1) return at.next.kind == TOK_RPAREN;
        expr_cursor_step(&at);
    } while (at.cur.kind != TOK_EOF);
    return false;
}

/* value = operand [(+ | -) operand], perhaps the whole in one pair of parentheses. "(a) + b" begins
 * like "(a + b)": which it is shows behind the first operand. */
static sheaf_rc parse_set_value(struct update_parser *u, struct node **out)
{
    if (is_doubled(u)) return expr_fail(&u->p, "The expression has redundant parentheses;");
    bool is_whole = expr_accept(&u->p, TOK_LPAREN);
    TRY(parse_operand(u, out));
    if (is_whole && !at_sign(u)) {
        TRY(expr_expect(&u->p, TOK_RPAREN));
        is_whole = false;
    }
    if (at_sign(u)) TRY(parse_sum(u, out));
    return is_whole ? expr_expect(&u->p, TOK_RPAREN) : SHEAF_OK;
}

static sheaf_rc parse_action(struct update_parser *u, enum section section)
{
    struct raw_action *a = ARENA_NEW(u->p.ctx->arena, struct raw_action);
    if (!a) return err_nomem(u->p.ctx->err);
    a->section = section;
    TRY(parse_path(u, &a->target));
    if (section == SECTION_SET) {
        TRY(expr_expect(&u->p, TOK_EQ));
        TRY(parse_set_value(u, &a->value));
    } else if (section != SECTION_REMOVE) {
        TRY(parse_value(u, &a->value));
    }
    if (u->last_action)
        u->last_action->after = a;
    else
        u->first_action = a;
    u->last_action = a;
    u->n_actions++;
    return SHEAF_OK;
}

static sheaf_rc parse_sections(struct update_parser *u)
{
    while (expr_tok(&u->p) != TOK_EOF) {
        enum section section;
        if (!at_section(u, &section)) return expr_syntax_error(&u->p);
        expr_step(&u->p);
        if (u->seen[section] && !u->twice) u->twice = section_names[section];
        u->seen[section] = true;
        do {
            TRY(parse_action(u, section));
        } while (expr_accept(&u->p, TOK_COMMA));
    }
    return SHEAF_OK;
}

/* ---- one question after another ---- */

static sheaf_rc check_words(struct update_parser *u)
{
    for (struct node *n = u->first; n; n = n->after)
        if (n->kind == NODE_PATH) TRY(expr_path_check_words(&u->p, &n->raw));
    return SHEAF_OK;
}

static bool is_condition_function(span name)
{
    static const char *const names[] = {"attribute_exists", "attribute_not_exists",
                                        "attribute_type",   "begins_with",
                                        "contains",         "size"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (span_eq(name, span_cstr(names[i]))) return true;
    return false;
}

static bool find_function(span name, enum function *out)
{
    static const char *const names[] = {[FN_IF_NOT_EXISTS] = "if_not_exists",
                                        [FN_LIST_APPEND] = "list_append",
                                        [FN_PLUS] = "+",
                                        [FN_MINUS] = "-"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        *out = (enum function)i;
        if (span_eq(name, span_cstr(names[i]))) return true;
    }
    return false;
}

static sheaf_rc check_functions(struct update_parser *u)
{
    for (struct node *n = u->first; n; n = n->after) {
        if (n->kind != NODE_CALL || find_function(n->text, &n->function)) continue;
        if (is_condition_function(n->text))
            return expr_fail(&u->p,
                             "The function is not allowed in an update expression; function: %.*s",
                             SPAN_ARG(n->text));
        return expr_fail(&u->p, "Invalid function name; function: %.*s", SPAN_ARG(n->text));
    }
    return SHEAF_OK;
}

static sheaf_rc check_counts(struct update_parser *u)
{
    if (u->twice)
        return expr_fail(&u->p, "The \"%s\" section can only be used once in an update expression;",
                         u->twice);
    if (u->n_operators > LIMIT_EXPRESSION_OPERATORS)
        return expr_fail(&u->p, "The expression contains too many operators; operator count: %u",
                         u->n_operators);
    return SHEAF_OK;
}

static sheaf_rc resolve(struct update_parser *u)
{
    for (struct node *n = u->first; n; n = n->after)
        if (n->kind == NODE_PATH) TRY(expr_path_resolve(&u->p, &n->raw, &n->path));
    for (struct node *n = u->first; n; n = n->after)
        if (n->kind == NODE_VALUE) TRY(expr_value_resolve(&u->p, n->text, &n->value));
    return SHEAF_OK;
}

/* ADD and DELETE spell types out. */
static const char *long_type_name(enum val_type t)
{
    static const char *const names[] = {
        [VAL_S] = "STRING",      [VAL_N] = "NUMBER",      [VAL_B] = "BINARY",
        [VAL_BOOL] = "BOOLEAN",  [VAL_NULL] = "NULL",     [VAL_M] = "MAP",
        [VAL_L] = "LIST",        [VAL_SS] = "STRING_SET", [VAL_NS] = "NUMBER_SET",
        [VAL_BS] = "BINARY_SET",
    };
    assert(t > VAL_NONE && (size_t)t < sizeof names / sizeof names[0]);
    return names[t];
}

static bool is_set_type(enum val_type t) { return t == VAL_SS || t == VAL_NS || t == VAL_BS; }

static sheaf_rc check_add_delete(struct update_parser *u)
{
    for (struct raw_action *a = u->first_action; a; a = a->after) {
        if (a->section != SECTION_ADD && a->section != SECTION_DELETE) continue;
        enum val_type t = val_type(a->value->value);
        if (is_set_type(t) || (t == VAL_N && a->section == SECTION_ADD)) continue;
        const char *name = section_names[a->section];
        return expr_fail(&u->p,
                         "Incorrect operand type for operator or function; operator: %s, operand "
                         "type: %s, typeSet: ALLOWED_FOR_%s_OPERAND",
                         name, long_type_name(t), name);
    }
    return SHEAF_OK;
}

/* Only if_not_exists may stand inside another call or beside a sign. */
static sheaf_rc check_nesting(struct update_parser *u, const struct node *call)
{
    for (const struct node *arg = call->args; arg; arg = arg->sibling) {
        if (arg->kind != NODE_CALL || arg->function == FN_IF_NOT_EXISTS) continue;
        return expr_fail(&u->p,
                         "The function is not allowed to be used this way in an expression; "
                         "function: %.*s",
                         SPAN_ARG(arg->text));
    }
    return SHEAF_OK;
}

static sheaf_rc check_call(struct update_parser *u, const struct node *call)
{
    TRY(check_nesting(u, call));
    if (call->n_args != 2)
        return expr_fail(&u->p,
                         "Incorrect number of operands for operator or function; operator or "
                         "function: %.*s, number of operands: %u",
                         SPAN_ARG(call->text), call->n_args);
    if (call->function == FN_IF_NOT_EXISTS) {
        if (call->args->kind == NODE_PATH) return SHEAF_OK;
        return expr_fail(&u->p,
                         "Operator or function requires a document path; operator or function: "
                         "%.*s",
                         SPAN_ARG(call->text));
    }
    enum val_type want = call->function == FN_LIST_APPEND ? VAL_L : VAL_N;
    for (const struct node *arg = call->args; arg; arg = arg->sibling) {
        if (arg->kind != NODE_VALUE || val_type(arg->value) == want) continue;
        return expr_fail(&u->p,
                         "Incorrect operand type for operator or function; operator or function: "
                         "%.*s, operand type: %s",
                         SPAN_ARG(call->text), val_type_name(val_type(arg->value)));
    }
    return SHEAF_OK;
}

/* ---- actions ---- */

static bool is_if_not_exists(const struct node *n)
{
    return n->kind == NODE_CALL && n->function == FN_IF_NOT_EXISTS;
}

/* A value, a path, or a chain of if_not_exists that ends in one of them. */
static sheaf_rc make_operand(struct update_parser *u, const struct node *n,
                             struct expr_operand *out)
{
    uint32_t n_paths = n->kind == NODE_PATH;
    for (const struct node *i = n; is_if_not_exists(i); i = i->last_arg)
        n_paths += i->last_arg->kind == NODE_PATH ? 2 : 1;
    struct path *paths = ARENA_ARRAY(u->p.ctx->arena, struct path, n_paths);
    if (!paths) return err_nomem(u->p.ctx->err);
    *out = (struct expr_operand){.paths = paths, .n_paths = n_paths};
    for (; is_if_not_exists(n); n = n->last_arg) *paths++ = n->args->path;
    assert(n->kind != NODE_CALL);
    if (n->kind == NODE_PATH)
        *paths++ = n->path;
    else
        out->fallback = n->value;
    assert(paths == out->paths + n_paths);
    return SHEAF_OK;
}

static sheaf_rc make_set(struct update_parser *u, const struct node *value, struct expr_action *out)
{
    if (value->kind != NODE_CALL || value->function == FN_IF_NOT_EXISTS) {
        out->kind = EXPR_SET;
        return make_operand(u, value, &out->a);
    }
    out->kind = value->function == FN_PLUS    ? EXPR_PLUS
                : value->function == FN_MINUS ? EXPR_MINUS
                                              : EXPR_APPEND;
    assert(value->n_args == 2 && value->args->sibling == value->last_arg);
    TRY(make_operand(u, value->args, &out->a));
    return make_operand(u, value->last_arg, &out->b);
}

static sheaf_rc make_actions(struct update_parser *u, struct expr_action *actions)
{
    struct expr_action *to = actions;
    for (struct raw_action *a = u->first_action; a; a = a->after, to++) {
        if (a->section == SECTION_SET) {
            TRY(make_set(u, a->value, to));
        } else if (a->section == SECTION_REMOVE) {
            to->kind = EXPR_REMOVE;
        } else {
            to->kind = a->section == SECTION_ADD ? EXPR_ADD : EXPR_DELETE;
            to->a.fallback = a->value->value;
        }
    }
    assert(to == actions + u->n_actions);
    return SHEAF_OK;
}

/* The places the actions write to, as a tree. */
static sheaf_rc make_tree(struct update_parser *u, struct expr_projection *out)
{
    struct ctx *c = u->p.ctx;
    struct path *paths = ARENA_ARRAY(c->arena, struct path, u->n_actions);
    if (!paths) return err_nomem(c->err);
    uint32_t n = 0;
    for (struct raw_action *a = u->first_action; a; a = a->after) paths[n++] = a->target->path;
    assert(n == u->n_actions);
    TRY(expr_tree_build(c, paths, n, out));
    return expr_tree_check(&u->p, out);
}

sheaf_rc expr_compile_update(struct ctx *c, span text, struct expr_env *env,
                             const struct expr_update **out)
{
    struct update_parser u = {0};
    *out = NULL;
    TRY(expr_parser_init(&u.p, c, EXPR_UPDATE, text, env));
    TRY(parse_sections(&u));
    assert(u.n_actions > 0);
    struct expr_update *update = ARENA_NEW(c->arena, struct expr_update);
    struct expr_action *actions = ARENA_ARRAY(c->arena, struct expr_action, u.n_actions);
    if (!update || !actions) return err_nomem(c->err);
    TRY(check_words(&u));
    TRY(check_functions(&u));
    TRY(check_counts(&u));
    TRY(resolve(&u));
    TRY(make_tree(&u, &update->touched));
    TRY(check_add_delete(&u));
    for (struct node *n = u.first; n; n = n->after)
        if (n->kind == NODE_CALL) TRY(check_call(&u, n));
    TRY(make_actions(&u, actions));
    update->actions = actions;
    update->creates = u.seen[SECTION_SET] || u.seen[SECTION_ADD];
    *out = update;
    return SHEAF_OK;
}
