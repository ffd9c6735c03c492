/* Turns expression text into tokens. Know before editing: a character that begins no token is a
 * token of its own (TOK_BAD), also `_` at the start of a word and `#` or `:` alone, so that the
 * syntax error names that one character, as the service does. */
#include "expr/lex.h"

#include <assert.h>

static bool is_letter(uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }
static bool is_word(uint8_t c) { return is_letter(c) || is_digit(c) || c == '_'; }
static bool is_space(uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* The bytes of one UTF-8 character, or one byte where the text is not UTF-8. */
static size_t character_bytes(const uint8_t *p, size_t n)
{
    size_t want = p[0] < 0xC0 ? 1 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (want > n) return 1;
    for (size_t i = 1; i < want; i++) {
        if ((p[i] & 0xC0) != 0x80) return 1;
    }
    return want;
}

static enum expr_tok single(uint8_t c)
{
    switch (c) {
    case '(':
        return TOK_LPAREN;
    case ')':
        return TOK_RPAREN;
    case '[':
        return TOK_LBRACKET;
    case ']':
        return TOK_RBRACKET;
    case ',':
        return TOK_COMMA;
    case '.':
        return TOK_DOT;
    case '+':
        return TOK_PLUS;
    case '-':
        return TOK_MINUS;
    case '=':
        return TOK_EQ;
    case '<':
        return TOK_LT;
    case '>':
        return TOK_GT;
    default:
        return TOK_BAD;
    }
}

/* In any expression, in any case: the words of the grammar are tokens before they are names. */
static bool is_keyword(span word)
{
    static const char *const keywords[] = {"AND", "OR",  "NOT",    "IN",    "BETWEEN",
                                           "SET", "ADD", "DELETE", "REMOVE"};
    if (word.n < 2 || word.n > 7) return false;
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (expr_word_is(word, keywords[i])) return true;
    }
    return false;
}

static size_t run(const uint8_t *p, size_t n, size_t from, bool (*is_part)(uint8_t))
{
    while (from < n && is_part(p[from])) from++;
    return from;
}

/* The token at p, and its length; n > 0 and p[0] is no white space. */
static enum expr_tok scan(const uint8_t *p, size_t n, size_t *length_out)
{
    uint8_t c = p[0], after = n > 1 ? p[1] : 0;
    *length_out = 1;
    if (is_letter(c)) {
        *length_out = run(p, n, 1, is_word);
        return is_keyword(SPAN(p, *length_out)) ? TOK_KEYWORD : TOK_WORD;
    }
    if (is_digit(c)) {
        if (c != '0') *length_out = run(p, n, 1, is_digit);
        return TOK_NUMBER;
    }
    if ((c == '#' || c == ':') && is_word(after)) {
        *length_out = run(p, n, 2, is_word);
        return c == '#' ? TOK_NAME : TOK_VALUE;
    }
    if ((c == '<' && (after == '>' || after == '=')) || (c == '>' && after == '=')) {
        *length_out = 2;
        return c == '>' ? TOK_GE : after == '=' ? TOK_LE : TOK_NE;
    }
    enum expr_tok kind = single(c);
    if (kind == TOK_BAD) *length_out = character_bytes(p, n);
    return kind;
}

static struct expr_token lex(struct expr_cursor *c)
{
    const uint8_t *p = c->text.p;
    while (c->at < c->text.n && is_space(p[c->at])) c->at++;
    if (c->at == c->text.n) return (struct expr_token){TOK_EOF, SPAN(p + c->at, 0)};
    size_t length;
    enum expr_tok kind = scan(p + c->at, c->text.n - c->at, &length);
    assert(length > 0 && length <= c->text.n - c->at);
    struct expr_token t = {kind, SPAN(p + c->at, length)};
    c->at += length;
    return t;
}

void expr_cursor_init(struct expr_cursor *c, span text)
{
    if (!text.p) text = SPAN("", 0);
    *c = (struct expr_cursor){.text = text, .prev = {TOK_EOF, SPAN(text.p, 0)}};
    c->cur = lex(c);
    c->next = lex(c);
}

void expr_cursor_step(struct expr_cursor *c)
{
    if (c->cur.kind == TOK_EOF) return;
    c->prev = c->cur;
    c->cur = c->next;
    c->next = lex(c);
}

span expr_cursor_near(const struct expr_cursor *c)
{
    span first = c->prev.text.n ? c->prev.text : c->cur.text;
    span last = c->next.text.n ? c->next.text : c->cur.text.n ? c->cur.text : c->prev.text;
    const uint8_t *from = first.p, *to = (const uint8_t *)last.p + last.n;
    assert(from <= to);
    return SPAN(from, (size_t)(to - from));
}

bool expr_word_is(span word, const char *upper)
{
    const uint8_t *p = word.p;
    size_t i = 0;
    for (; i < word.n && upper[i]; i++) {
        uint8_t c = p[i] >= 'a' && p[i] <= 'z' ? (uint8_t)(p[i] - 32) : p[i];
        if (c != (uint8_t)upper[i]) return false;
    }
    return i == word.n && !upper[i];
}
