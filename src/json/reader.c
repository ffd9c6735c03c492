/* Turns bytes into JSON's parts, one call at a time. Know before editing: nothing here looks at or
 * beyond `end` (tests put a guard page there), and nothing recurses, so that the input decides
 * neither the stack nor, beyond its own size, the memory. */
#include "json/scan.h"

#include "base/utf8.h"
#include "json/json.h"

#include <assert.h>

void json_init(struct json *j, struct ctx *c, span text)
{
    j->begin = j->at = text.p;
    j->end = text.n ? j->begin + text.n : j->begin;
    j->ctx = c;
    j->depth = 0;
    j->is_first = false;
    j->names = j->few;
    j->n_names = 0;
    j->cap_names = JSON_FEW_NAMES;
}

/* ---- errors ---- */

/* Not JSON: AWS answers the exception's name and no message. */
static sheaf_rc malformed(struct json *j)
{
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "%s", "");
}

static sheaf_rc repeated(struct json *j, span name)
{
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "A name occurs twice in one object: %.*s",
                   SPAN_ARG(name));
}

static sheaf_rc too_deep(struct json *j)
{
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "More than %d objects and arrays are nested",
                   JSON_DEPTH_MAX);
}

/* ---- white space, numbers, literals ---- */

static bool is_space(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

static inline void skip_space(struct json *j)
{
    while (j->at < j->end && *j->at <= ' ' && is_space(*j->at)) j->at++;
}

/* Takes the byte c, behind white space. */
static inline bool take(struct json *j, uint8_t c)
{
    skip_space(j);
    if (j->at == j->end || *j->at != c) return false;
    j->at++;
    return true;
}

static const uint8_t *digits(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

/* Behind the number at p, NULL when there is none by JSON's grammar. */
static const uint8_t *number_end(const uint8_t *p, const uint8_t *end)
{
    if (p < end && *p == '-') p++;
    const uint8_t *whole = p;
    p = digits(p, end);
    if (p == whole || (*whole == '0' && p - whole > 1)) return NULL;
    if (p < end && *p == '.') {
        const uint8_t *point = p;
        p = digits(p + 1, end);
        if (p == point + 1) return NULL;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        const uint8_t *power = p;
        p = digits(p, end);
        if (p == power) return NULL;
    }
    return p;
}

static bool take_word(struct json *j, span word)
{
    if ((size_t)(j->end - j->at) < word.n || memcmp(j->at, word.p, word.n) != 0) return false;
    j->at += word.n;
    return true;
}

sheaf_rc json_peek(struct json *j, enum json_kind *kind_out)
{
    *kind_out = JSON_NULL;
    skip_space(j);
    if (j->at == j->end) return malformed(j);
    uint8_t c = *j->at;
    if (c == '"')
        *kind_out = JSON_STRING;
    else if (c == '{')
        *kind_out = JSON_OBJECT;
    else if (c == '[')
        *kind_out = JSON_ARRAY;
    else if (c == 't' || c == 'f')
        *kind_out = JSON_BOOL;
    else if (c == '-' || (c >= '0' && c <= '9'))
        *kind_out = JSON_NUMBER;
    else if (c != 'n')
        return malformed(j);
    return SHEAF_OK;
}

/* ---- a value of the wrong kind ---- */

/* "NUMBER_VALUE", what AWS's parser calls a scalar; NULL when it is not one after all. */
static const char *token_name(const struct json *j, enum json_kind found)
{
    if (found == JSON_STRING) return "STRING_VALUE";
    if (found == JSON_NULL) return "NULL_VALUE";
    if (found == JSON_BOOL) return *j->at == 't' ? "TRUE_VALUE" : "FALSE_VALUE";
    const uint8_t *end = number_end(j->at, j->end);
    if (!end) return NULL;
    for (const uint8_t *p = j->at; p < end; p++)
        if (*p == '.' || *p == 'e' || *p == 'E') return "DECIMAL_VALUE";
    return "NUMBER_VALUE";
}

static sheaf_rc complain(struct json *j, const char *text, const char *more)
{
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "%s%s", text, more);
}

static bool is_scalar(const char *wanted)
{
    static const char *const names[] = {"String", "Boolean", "Integer", "Long", "Double"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(wanted, names[i]) == 0) return true;
    return false;
}

static sheaf_rc wrong_scalar(struct json *j, enum json_kind found, const char *wanted)
{
    if (found == JSON_ARRAY)
        return complain(j, "Unrecognized collection type class java.lang.", wanted);
    const char *token = token_name(j, found);
    if (!token) return malformed(j);
    if (found == JSON_STRING && strcmp(wanted, "Boolean") == 0)
        return complain(j, "Unexpected token received from parser", "");
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "%s cannot be converted to %s", token, wanted);
}

/* `other` are the words for a scalar where a map, list or structure should stand. */
static sheaf_rc wrong(struct json *j, enum json_kind found, const char *wanted, const char *other)
{
    bool is_blob = strcmp(wanted, "Blob") == 0;
    if (found == JSON_OBJECT)
        return complain(j, "Start of structure or map found where not expected", "");
    if (is_scalar(wanted)) return wrong_scalar(j, found, wanted);
    if (found == JSON_ARRAY)
        return complain(j, "Unrecognized collection type ",
                        is_blob ? "class java.nio.ByteBuffer" : wanted);
    if (!token_name(j, found)) return malformed(j);
    return complain(j, is_blob ? "only base-64-encoded strings are convertible to bytes" : other,
                    "");
}

sheaf_rc json_wrong_kind(struct json *j, enum json_kind found, const char *wanted)
{
    return wrong(j, found, wanted, "Unexpected field type");
}

sheaf_rc json_wrong_element(struct json *j, enum json_kind found, const char *wanted)
{
    return wrong(j, found, wanted, "Unexpected value type in payload");
}

/* What comes next is not what it should be: not that kind, or no value at all. */
static sheaf_rc not_the_kind(struct json *j, const char *wanted)
{
    enum json_kind found;
    TRY(json_peek(j, &found));
    return json_wrong_kind(j, found, wanted);
}

/* ---- texts ---- */

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of a \u escape; -1 when they are not. p has at least four bytes. */
static int32_t hex4(const uint8_t *p)
{
    int32_t x = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0) return -1;
        x = x << 4 | digit;
    }
    return x;
}

static uint8_t *put_utf8(uint8_t *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (uint8_t)c;
    } else if (c < 0x800) {
        *to++ = (uint8_t)(0xC0 | c >> 6);
        *to++ = (uint8_t)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *to++ = (uint8_t)(0xE0 | c >> 12);
        *to++ = (uint8_t)(0x80 | (c >> 6 & 63));
        *to++ = (uint8_t)(0x80 | (c & 63));
    } else {
        *to++ = (uint8_t)(0xF0 | c >> 18);
        *to++ = (uint8_t)(0x80 | (c >> 12 & 63));
        *to++ = (uint8_t)(0x80 | (c >> 6 & 63));
        *to++ = (uint8_t)(0x80 | (c & 63));
    }
    return to;
}

/* The character of the \u escape whose digits begin at p, and where they end; a surrogate must
 * come with its other half. NULL when it is wrong. */
static const uint8_t *take_unicode(const uint8_t *p, const uint8_t *end, uint32_t *out)
{
    int32_t x = end - p >= 4 ? hex4(p) : -1;
    if (x < 0 || (x >= 0xDC00 && x <= 0xDFFF)) return NULL;
    p += 4;
    *out = (uint32_t)x;
    if (x < 0xD800 || x > 0xDBFF) return p;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') return NULL;
    int32_t low = hex4(p + 2);
    if (low < 0xDC00 || low > 0xDFFF) return NULL;
    *out = 0x10000 + (((uint32_t)x & 0x3FF) << 10 | ((uint32_t)low & 0x3FF));
    return p + 6;
}

/* The same for any escape, p behind the backslash. */
static const uint8_t *take_escape(const uint8_t *p, const uint8_t *end, uint32_t *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (p == end) return NULL;
    if (*p == 'u') return take_unicode(p + 1, end, out);
    const char *found = *p ? strchr(from, *p) : NULL;
    if (!found) return NULL;
    *out = (uint8_t)to[found - from];
    return p + 1;
}

/* Where a text that holds a backslash at p ends: at its quote, or NULL. Only that is known of it. */
static const uint8_t *find_quote(const uint8_t *p, const uint8_t *end)
{
    bool high = false;
    while (p < end && *p != '"') {
        if (*p == '\\') {
            if (end - p < 2) return NULL;
            p += 2;
        } else if (*p < 0x20) {
            return NULL;
        }
        p = scan_plain(p, end, &high);
    }
    return p < end ? p : NULL;
}

/* The text between p and its closing quote, checked, and written to `to` unless that is NULL: never
 * more bytes than were read. Each run between escapes is UTF-8 by itself when the whole is, since
 * an escape never stands for a part of a character. Returns how many bytes it has, or -1. */
static ptrdiff_t unescape(const uint8_t *p, const uint8_t *quote, uint8_t *to)
{
    ptrdiff_t n = 0;
    while (p < quote) {
        bool high = false;
        uint8_t four[4];
        const uint8_t *run = p, *next;
        uint32_t c;
        p = scan_plain(p, quote, &high);
        if (high && !utf8_check(SPAN(run, (size_t)(p - run)))) return -1;
        if (to) memcpy(to + n, run, (size_t)(p - run));
        n += p - run;
        if (p == quote) break;
        next = take_escape(p + 1, quote, &c);
        if (!next) return -1;
        p = next;
        n += put_utf8(to ? to + n : four, c) - (to ? to + n : four);
    }
    return n;
}

/* A text that holds an escape; *out may be NULL: then it is checked and nothing else. */
static sheaf_rc escaped_text(struct json *j, const uint8_t *start, const uint8_t *escape, span *out)
{
    const uint8_t *quote = find_quote(escape, j->end);
    if (!quote) return malformed(j);
    uint8_t *to = out ? arena_bytes(j->ctx->arena, (size_t)(quote - start)) : NULL;
    if (out && !to) return err_nomem(j->ctx->err);
    ptrdiff_t n = unescape(start, quote, to);
    if (n < 0) return malformed(j);
    if (out) *out = SPAN(to, (size_t)n);
    j->at = quote + 1;
    return SHEAF_OK;
}

/* The rest of a text whose opening quote is taken; out as above. */
static sheaf_rc rest_of_text(struct json *j, span *out)
{
    const uint8_t *start = j->at;
    bool high = false;
    const uint8_t *p = scan_plain(start, j->end, &high);
    if (p == j->end) return malformed(j);
    if (*p == '\\') return escaped_text(j, start, p, out);
    span text = SPAN(start, (size_t)(p - start));
    if (*p != '"' || (high && !utf8_check(text))) return malformed(j);
    if (out) *out = text;
    j->at = p + 1;
    return SHEAF_OK;
}

sheaf_rc json_text(struct json *j, span *text_out)
{
    *text_out = SPAN_NONE;
    if (!take(j, '"')) return not_the_kind(j, "String");
    return rest_of_text(j, text_out);
}

/* ---- other scalars ---- */

sheaf_rc json_number(struct json *j, span *digits_out)
{
    *digits_out = SPAN_NONE;
    skip_space(j);
    const uint8_t *end = number_end(j->at, j->end);
    if (!end) return not_the_kind(j, "Double");
    *digits_out = SPAN(j->at, (size_t)(end - j->at));
    j->at = end;
    return SHEAF_OK;
}

static bool is_word(span text, const char *word)
{
    const uint8_t *p = text.p;
    if (text.n != strlen(word)) return false;
    for (size_t i = 0; i < text.n; i++)
        if ((p[i] | 0x20) != word[i]) return false;
    return true;
}

static sheaf_rc quoted_bool(struct json *j, bool *out)
{
    span text;
    const uint8_t *start = j->at;
    TRY(json_text(j, &text));
    *out = is_word(text, "true") || is_word(text, "yes");
    if (*out || is_word(text, "false") || is_word(text, "no")) return SHEAF_OK;
    j->at = start;
    return json_wrong_kind(j, JSON_STRING, "Boolean");
}

sheaf_rc json_bool(struct json *j, bool *out)
{
    *out = false;
    skip_space(j);
    if (take_word(j, SPAN_LIT("true"))) {
        *out = true;
        return SHEAF_OK;
    }
    if (take_word(j, SPAN_LIT("false"))) return SHEAF_OK;
    if (j->at < j->end && *j->at == '"') return quoted_bool(j, out);
    if (j->at < j->end && (*j->at == 't' || *j->at == 'f')) return malformed(j);
    return not_the_kind(j, "Boolean");
}

sheaf_rc json_null(struct json *j)
{
    skip_space(j);
    return take_word(j, SPAN_LIT("null")) ? SHEAF_OK : malformed(j);
}

/* ---- names of an object ---- */

static sheaf_rc grow_names(struct json *j)
{
    uint32_t cap = j->cap_names * 2;
    span *more = arena_alloc(j->ctx->arena, (size_t)cap * sizeof *more);
    if (!more) return err_nomem(j->ctx->err);
    memcpy(more, j->names, j->n_names * sizeof *more);
    j->names = more;
    j->cap_names = cap;
    return SHEAF_OK;
}

/* Remembers a name of the innermost object; compares it with those before, while they are few. */
static sheaf_rc note_name(struct json *j, span name)
{
    const span *names = j->names + j->first[j->depth - 1];
    size_t n = (size_t)(j->names + j->n_names - names);
    if (n < JSON_FEW_NAMES)
        for (size_t i = 0; i < n; i++)
            if (span_eq(names[i], name)) return repeated(j, name);
    if (j->n_names == j->cap_names) TRY(grow_names(j));
    j->names[j->n_names++] = name;
    return SHEAF_OK;
}

/* By length first: most pairs need no look at their bytes. */
static bool is_less(const span *a, const span *b)
{
    return a->n != b->n ? a->n < b->n : a->n && memcmp(a->p, b->p, a->n) < 0;
}

static void sift_down(span *names, size_t at, size_t n)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_less(&names[child], &names[child + 1])) child++;
        if (!is_less(&names[at], &names[child])) return;
        span swap = names[at];
        names[at] = names[child];
        names[child] = swap;
    }
}

/* Heapsort: in place, and no order of names makes it slow. */
static void sort_names(span *names, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift_down(names, i, n);
    for (size_t i = n; i-- > 1;) {
        span swap = names[0];
        names[0] = names[i];
        names[i] = swap;
        sift_down(names, 0, i);
    }
}

/* The end of an object: looks for repeated names when they were too many to look before. */
static sheaf_rc forget_names(struct json *j)
{
    span *names = j->names + j->first[j->depth - 1];
    size_t n = (size_t)(j->names + j->n_names - names);
    j->n_names = j->first[j->depth - 1];
    if (n <= JSON_FEW_NAMES) return SHEAF_OK;
    sort_names(names, n);
    for (size_t i = 1; i < n; i++)
        if (span_eq(names[i - 1], names[i])) return repeated(j, names[i]);
    return SHEAF_OK;
}

/* ---- containers ---- */

static sheaf_rc open(struct json *j)
{
    if (j->depth == JSON_DEPTH_MAX) return too_deep(j);
    j->first[j->depth++] = j->n_names;
    j->is_first = true;
    return SHEAF_OK;
}

static void leave(struct json *j)
{
    assert(j->depth > 0);
    j->depth--;
    j->is_first = false;
}

sheaf_rc json_object(struct json *j)
{
    if (!take(j, '{')) return not_the_kind(j, "");
    return open(j);
}

sheaf_rc json_array(struct json *j)
{
    if (!take(j, '[')) return not_the_kind(j, "List");
    return open(j);
}

sheaf_rc json_next_name(struct json *j, span *name_out, bool *has_out)
{
    assert(j->depth > 0);
    *name_out = SPAN_NONE;
    *has_out = false;
    bool is_first = j->is_first;
    if (!is_first && !take(j, ',')) {
        if (!take(j, '}')) return malformed(j);
        sheaf_rc rc = forget_names(j);
        leave(j);
        return rc;
    }
    if (!take(j, '"')) {
        if (!is_first || !take(j, '}')) return malformed(j);
        leave(j);
        return SHEAF_OK;
    }
    j->is_first = false;
    TRY(rest_of_text(j, name_out));
    if (!take(j, ':')) return malformed(j);
    *has_out = true;
    return note_name(j, *name_out);
}

sheaf_rc json_next_element(struct json *j, bool *has_out)
{
    assert(j->depth > 0);
    bool is_first = j->is_first;
    *has_out = false;
    if (take(j, ']')) {
        leave(j);
        return SHEAF_OK;
    }
    if (!is_first && !take(j, ',')) return malformed(j);
    j->is_first = false;
    *has_out = true;
    return SHEAF_OK;
}

/* ---- whole values ---- */

static sheaf_rc skip_scalar(struct json *j, enum json_kind kind)
{
    span digits_of;
    if (kind == JSON_STRING) {
        j->at++;
        return rest_of_text(j, NULL);
    }
    if (kind == JSON_NUMBER)
        return number_end(j->at, j->end) ? json_number(j, &digits_of) : malformed(j);
    if (kind == JSON_NULL) return json_null(j);
    return take_word(j, SPAN_LIT("true")) || take_word(j, SPAN_LIT("false")) ? SHEAF_OK
                                                                             : malformed(j);
}

/* To the next value inside the container that is open, or out of those that end here; *has_out is
 * false when that was the outermost of them. */
static sheaf_rc next_inside(struct json *j, uint32_t outside, const bool *is_object, bool *has_out)
{
    span name;
    for (*has_out = false; !*has_out && j->depth > outside;) {
        if (is_object[j->depth - 1])
            TRY(json_next_name(j, &name, has_out));
        else
            TRY(json_next_element(j, has_out));
    }
    return SHEAF_OK;
}

sheaf_rc json_skip(struct json *j, span *raw_out)
{
    bool is_object[JSON_DEPTH_MAX], has = true;
    uint32_t outside = j->depth;
    const uint8_t *start = NULL;
    if (raw_out) *raw_out = SPAN_NONE;
    while (has) {
        enum json_kind kind;
        TRY(json_peek(j, &kind));
        if (!start) start = j->at;
        if (kind == JSON_OBJECT || kind == JSON_ARRAY) {
            j->at++;
            TRY(open(j));
            is_object[j->depth - 1] = kind == JSON_OBJECT;
        } else {
            TRY(skip_scalar(j, kind));
        }
        TRY(next_inside(j, outside, is_object, &has));
    }
    if (raw_out) *raw_out = SPAN(start, (size_t)(j->at - start));
    return SHEAF_OK;
}

sheaf_rc json_end(struct json *j)
{
    assert(j->depth == 0);
    skip_space(j);
    return j->at == j->end ? SHEAF_OK : malformed(j);
}
