/* expr/parse.h: what every expression parser shares: the token cursor with its request, document
 * paths, placeholders, and the messages "Invalid UpdateExpression: …".
 *
 * Layer rule: internal to expr.
 *
 * ORDER OF ERRORS  The service reads the whole text first, so a syntax error anywhere wins over an
 * undefined placeholder before it. Therefore a path is parsed raw (its #names as written) and
 * resolved in a second step, and a :value is kept as a token until then.
 */
#ifndef EXPR_PARSE_H
#define EXPR_PARSE_H

#include "base/err.h"
#include "expr/expr.h"
#include "expr/lex.h"

struct expr_parser {
    struct ctx *ctx;
    struct expr_env *env; /* may be NULL: no placeholders */
    enum expr_kind kind;
    struct expr_cursor at;
};

/* Checks the length and that there is text, and stands on the first token. */
SHEAF_NODISCARD sheaf_rc expr_parser_init(struct expr_parser *p, struct ctx *ctx,
                                          enum expr_kind kind, span text, struct expr_env *env);

/* ---- tokens ---- */

static inline enum expr_tok expr_tok(const struct expr_parser *p) { return p->at.cur.kind; }
static inline span expr_tok_text(const struct expr_parser *p) { return p->at.cur.text; }
static inline void expr_step(struct expr_parser *p) { expr_cursor_step(&p->at); }
/* Steps over the token when it is of this kind. */
static inline bool expr_accept(struct expr_parser *p, enum expr_tok kind)
{
    if (expr_tok(p) != kind) return false;
    expr_step(p);
    return true;
}
/* Whether the current token is this keyword, in any case; `upper` in capitals. */
static inline bool expr_at_word(const struct expr_parser *p, const char *upper)
{
    return expr_tok(p) == TOK_KEYWORD && expr_word_is(expr_tok_text(p), upper);
}
/* Whether the current token begins a call: a word, then an opening parenthesis. */
static inline bool expr_at_call(const struct expr_parser *p)
{
    return expr_tok(p) == TOK_WORD && p->at.next.kind == TOK_LPAREN;
}
/* Steps over the token or answers a syntax error. */
SHEAF_NODISCARD sheaf_rc expr_expect(struct expr_parser *p, enum expr_tok kind);

/* ---- errors ---- */

/* `Invalid UpdateExpression: Syntax error; token: "x", near: "a x b"` at the current token. */
SHEAF_NODISCARD sheaf_rc expr_syntax_error(const struct expr_parser *p);
/* "Invalid UpdateExpression: " and the formatted text. */
SHEAF_NODISCARD sheaf_rc expr_fail(const struct expr_parser *p, const char *format, ...)
    SHEAF_PRINTF_(2, 3);
/* "[a, b, [3]]" for a message; in the arena, "" when that is full. */
span expr_path_text(const struct expr_parser *p, const struct path *path);

/* ---- document paths ---- */

/* a.b[3].#c, raw: a name is the text as written, #c with its #. */
struct expr_raw_path {
    struct path_step *steps;
    uint32_t n;
    uint32_t n_kept;       /* how many of the n steps are stored: all, but in hopeless paths */
    const char *far_index; /* digits of the first index above 2^31 - 1, else NULL */
    uint32_t far_index_n;
};
/* Checks syntax only. */
SHEAF_NODISCARD sheaf_rc expr_parse_path(struct expr_parser *p, struct expr_raw_path *out);
/* Whether a dot or a bracket follows, and the steps it begins, appended: `(a.b)[0]` goes on after
 * its parenthesis. */
static inline bool expr_at_steps(const struct expr_parser *p)
{
    return expr_tok(p) == TOK_DOT || expr_tok(p) == TOK_LBRACKET;
}
SHEAF_NODISCARD sheaf_rc expr_parse_steps(struct expr_parser *p, struct expr_raw_path *raw);
/* Bare names against the reserved words, and the range of its indexes. */
SHEAF_NODISCARD sheaf_rc expr_path_check_words(const struct expr_parser *p,
                                               const struct expr_raw_path *raw);
/* At most 32 steps, and #names to names, marking them used. Once for each path: a name may begin
 * with # itself. */
SHEAF_NODISCARD sheaf_rc expr_path_resolve(const struct expr_parser *p, struct expr_raw_path *raw,
                                           struct path *out);
/* All three in a row, for grammars where the order cannot be seen. */
SHEAF_NODISCARD sheaf_rc expr_parse_whole_path(struct expr_parser *p, struct path *out);
bool expr_path_eq(const struct path *a, const struct path *b);

/* ---- words ---- */

enum { EXPR_RESERVED_WORDS = 573 };
/* The i-th reserved word, in capitals, in order. */
const char *expr_reserved_at(uint32_t i);

/* ---- placeholders ---- */

/* The name behind #placeholder, NULL when there is none. */
struct expr_name *expr_env_name(const struct expr_env *env, span placeholder);
struct expr_value *expr_env_value(const struct expr_env *env, span placeholder);
/* The value of :placeholder, marked used; borrowed from the environment. */
SHEAF_NODISCARD sheaf_rc expr_value_resolve(const struct expr_parser *p, span placeholder,
                                            val *out);

#endif
