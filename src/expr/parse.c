/* Turns tokens into document paths, and placeholders into names and values. Know before editing:
 * syntax is judged before words, words before placeholders (parse.h says why). */
#include "expr/parse.h"

#include "base/limits.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { FORMATTED_PATH_MAX = 512, INDEX_MAX = 0x7fffffff };

const char *expr_kind_name(enum expr_kind kind)
{
    static const char *const names[] = {
        [EXPR_CONDITION] = "ConditionExpression",
        [EXPR_FILTER] = "FilterExpression",
        [EXPR_KEY_CONDITION] = "KeyConditionExpression",
        [EXPR_PROJECTION] = "ProjectionExpression",
        [EXPR_UPDATE] = "UpdateExpression",
    };
    assert((unsigned)kind < sizeof names / sizeof names[0]);
    return names[kind];
}

sheaf_rc expr_fail(const struct expr_parser *p, const char *format, ...)
{
    char text[sizeof p->ctx->err->message];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return err_validation(p->ctx->err, "Invalid %s: %s", expr_kind_name(p->kind), text);
}

sheaf_rc expr_syntax_error(const struct expr_parser *p)
{
    span token = expr_tok(p) == TOK_EOF ? SPAN_LIT("<EOF>") : expr_tok_text(p);
    span near = expr_cursor_near(&p->at);
    return expr_fail(p, "Syntax error; token: \"%.*s\", near: \"%.*s\"", SPAN_ARG(token),
                     SPAN_ARG(near));
}

/* The service adds the size for two kinds and not for the others. */
static sheaf_rc too_long(const struct expr_parser *p, size_t n)
{
    static const char what[] = "Expression size has exceeded the maximum allowed size;";
    if (p->kind == EXPR_CONDITION || p->kind == EXPR_FILTER)
        return expr_fail(p, "%s expression size: %zu", what, n);
    return expr_fail(p, "%s", what);
}

sheaf_rc expr_parser_init(struct expr_parser *p, struct ctx *ctx, enum expr_kind kind, span text,
                          struct expr_env *env)
{
    assert(ctx && ctx->arena);
    *p = (struct expr_parser){.ctx = ctx, .env = env, .kind = kind};
    expr_cursor_init(&p->at, SPAN_NONE);
    if (text.n > LIMIT_EXPRESSION_BYTES) return too_long(p, text.n);
    expr_cursor_init(&p->at, text);
    if (expr_tok(p) == TOK_EOF) return expr_fail(p, "The expression can not be empty;");
    return SHEAF_OK;
}

sheaf_rc expr_expect(struct expr_parser *p, enum expr_tok kind)
{
    return expr_accept(p, kind) ? SHEAF_OK : expr_syntax_error(p);
}

span expr_path_text(const struct expr_parser *p, const struct path *path)
{
    struct buf b;
    buf_init(&b, p->ctx->arena, FORMATTED_PATH_MAX);
    path_format(path, &b);
    return buf_span(&b);
}

/* ---- document paths ---- */

static bool at_name(const struct expr_parser *p)
{
    return expr_tok(p) == TOK_WORD || expr_tok(p) == TOK_NAME;
}

/* The step at the cursor: a name after the beginning or a dot, or an index in brackets. */
static sheaf_rc parse_step(struct expr_parser *p, bool is_first, span *text_out, bool *is_index_out)
{
    *is_index_out = !is_first && expr_accept(p, TOK_LBRACKET);
    if (*is_index_out) {
        *text_out = expr_tok_text(p);
        TRY(expr_expect(p, TOK_NUMBER));
        return expr_expect(p, TOK_RBRACKET);
    }
    if (!is_first) TRY(expr_expect(p, TOK_DOT));
    if (!at_name(p)) return expr_syntax_error(p);
    *text_out = expr_tok_text(p);
    expr_step(p);
    return SHEAF_OK;
}

/* How many steps there are at the cursor, which stays where it is. */
static sheaf_rc count_steps(struct expr_parser *p, bool is_first, uint32_t *n_out)
{
    struct expr_cursor start = p->at;
    span text;
    bool is_index;
    *n_out = 0;
    do {
        TRY(parse_step(p, is_first && *n_out == 0, &text, &is_index));
        (*n_out)++;
    } while (expr_at_steps(p));
    p->at = start;
    return SHEAF_OK;
}

/* false when the index is out of range. */
static bool parse_index(span digits, uint32_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < digits.n && v <= INDEX_MAX; i++)
        v = v * 10 + (uint64_t)(((const uint8_t *)digits.p)[i] - '0');
    *out = v <= INDEX_MAX ? (uint32_t)v : 0;
    return v <= INDEX_MAX;
}

/* Parses the next step into `to`, which may be NULL. */
static sheaf_rc keep_step(struct expr_parser *p, struct expr_raw_path *raw, struct path_step *to)
{
    span text;
    bool is_index;
    TRY(parse_step(p, raw->n == 0, &text, &is_index));
    raw->n++;
    if (!to) return SHEAF_OK;
    raw->n_kept++;
    if (!is_index) {
        to->name = text;
    } else if (!parse_index(text, &to->index) && !raw->far_index) {
        raw->far_index = text.p;
        raw->far_index_n = (uint32_t)text.n;
    }
    return SHEAF_OK;
}

sheaf_rc expr_parse_steps(struct expr_parser *p, struct expr_raw_path *raw)
{
    struct path_step *steps = NULL;
    uint32_t before = raw->n, more;
    TRY(count_steps(p, before == 0, &more));
    /* A path over the limit is refused later; until then its copies must not grow without end. */
    if (before <= LIMIT_NESTING) {
        steps = ARENA_ARRAY(p->ctx->arena, struct path_step, before + more);
        if (!steps) return err_nomem(p->ctx->err);
        if (before) memcpy(steps, raw->steps, before * sizeof *steps);
        raw->steps = steps;
    }
    for (uint32_t i = 0; i < more; i++) TRY(keep_step(p, raw, steps ? &steps[before + i] : NULL));
    assert(!expr_at_steps(p) && raw->n_kept <= raw->n);
    return SHEAF_OK;
}

sheaf_rc expr_parse_path(struct expr_parser *p, struct expr_raw_path *out)
{
    *out = (struct expr_raw_path){0};
    return expr_parse_steps(p, out);
}

static bool is_placeholder(span name) { return name.n > 0 && *(const char *)name.p == '#'; }

sheaf_rc expr_path_check_words(const struct expr_parser *p, const struct expr_raw_path *raw)
{
    assert(raw->n_kept > 0 && raw->n_kept <= raw->n);
    for (uint32_t i = 0; i < raw->n_kept; i++) {
        span name = raw->steps[i].name;
        if (!name.p || is_placeholder(name) || !expr_is_reserved(name)) continue;
        return expr_fail(p, "Attribute name is a reserved keyword; reserved keyword: %.*s",
                         SPAN_ARG(name));
    }
    if (!raw->far_index) return SHEAF_OK;
    return expr_fail(p, "List index is not within the allowable range; index: [%.*s]",
                     (int)raw->far_index_n, raw->far_index);
}

sheaf_rc expr_path_resolve(const struct expr_parser *p, struct expr_raw_path *raw, struct path *out)
{
    assert(raw->n > 0 && raw->steps[0].name.p);
    if (raw->n > LIMIT_NESTING)
        return expr_fail(p, "The document path has too many nesting levels; nesting levels: %u",
                         raw->n);
    assert(raw->n == raw->n_kept);
    for (uint32_t i = 0; i < raw->n; i++) {
        struct path_step *step = &raw->steps[i];
        if (!is_placeholder(step->name)) continue;
        struct expr_name *found = expr_env_name(p->env, step->name);
        if (!found)
            return expr_fail(p,
                             "An expression attribute name used in the document path is not "
                             "defined; attribute name: %.*s",
                             SPAN_ARG(step->name));
        found->is_used = true;
        step->name = found->name;
    }
    *out = (struct path){raw->steps, raw->n};
    return SHEAF_OK;
}

sheaf_rc expr_parse_whole_path(struct expr_parser *p, struct path *out)
{
    struct expr_raw_path raw;
    TRY(expr_parse_path(p, &raw));
    TRY(expr_path_check_words(p, &raw));
    return expr_path_resolve(p, &raw, out);
}

bool expr_path_eq(const struct path *a, const struct path *b)
{
    assert(a->n > 0 && b->n > 0);
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct path_step *x = &a->steps[i], *y = &b->steps[i];
        if (!x->name.p != !y->name.p) return false;
        if (x->name.p ? !span_eq(x->name, y->name) : x->index != y->index) return false;
    }
    return true;
}

/* ---- placeholders ---- */

sheaf_rc expr_value_resolve(const struct expr_parser *p, span placeholder, val *out)
{
    assert(placeholder.n > 1 && *(const char *)placeholder.p == ':');
    struct expr_value *found = expr_env_value(p->env, placeholder);
    if (found) {
        found->is_used = true;
        *out = found->value;
        return SHEAF_OK;
    }
    *out = VAL_ABSENT;
    return expr_fail(p,
                     "An expression attribute value used in expression is not defined; attribute "
                     "value: %.*s",
                     SPAN_ARG(placeholder));
}
