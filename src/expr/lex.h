/* expr/lex.h: expression text to tokens, three at a time.
 *
 * Layer rule: internal to expr; includes base only.
 *
 * The cursor is a value of a few words and takes no memory: copy it to look further ahead, assign
 * the copy back to return. It keeps the token before and the token after the current one because
 * AWS's syntax errors quote all three: `Syntax error; token: "x", near: "a x b"`.
 */
#ifndef EXPR_LEX_H
#define EXPR_LEX_H

#include "base/span.h"

enum expr_tok {
    TOK_EOF,
    TOK_WORD,    /* a letter, then letters, digits and _ */
    TOK_KEYWORD, /* a word that is never a name: AND BETWEEN IN NOT OR, ADD DELETE REMOVE SET */
    TOK_NAME,    /* #name */
    TOK_VALUE,   /* :value */
    TOK_NUMBER,  /* 0, or digits that do not begin with 0 */
    TOK_LPAREN,
    TOK_RPAREN,
    TOK_LBRACKET,
    TOK_RBRACKET,
    TOK_COMMA,
    TOK_DOT,
    TOK_PLUS,
    TOK_MINUS,
    TOK_EQ,
    TOK_NE,
    TOK_LT,
    TOK_LE,
    TOK_GT,
    TOK_GE,
    TOK_BAD /* one character that begins no token */
};

struct expr_token {
    enum expr_tok kind;
    span text; /* of the expression; empty for TOK_EOF */
};

struct expr_cursor {
    span text;                         /* the whole expression */
    size_t at;                         /* where the token after `next` is looked for */
    struct expr_token prev, cur, next; /* prev is TOK_EOF and empty at the beginning */
};

/* Stands on the first token. Any bytes are safe. */
void expr_cursor_init(struct expr_cursor *c, span text);
/* To the next token; stays on TOK_EOF. */
void expr_cursor_step(struct expr_cursor *c);
/* From the previous token to the next one, as written, white space included. */
span expr_cursor_near(const struct expr_cursor *c);

/* Whether it is this word in any case; `upper` in capitals. */
bool expr_word_is(span word, const char *upper);

#endif
