/* Turns bytes into JSON's parts, one call at a time. Know before editing: nothing here looks at or
 * beyond `end` (tests put a guard page there), and nothing recurses, so that the input decides
 * neither the stack nor, beyond its own size, the memory. */
#include "json/read.h"

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

bool json_take_late(struct json *j, uint8_t c)
{
    skip_space(j);
    if (j->at == j->end || *j->at != c) return false;
    j->at++;
    return true;
}

/* ---- numbers, literals ---- */

static const uint8_t *digits(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

const uint8_t *json_number_end(const uint8_t *p, const uint8_t *end)
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
    if (j->at == j->end) return json_malformed(j);
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
        return json_malformed(j);
    return SHEAF_OK;
}

sheaf_rc json_text(struct json *j, span *text_out)
{
    *text_out = SPAN_NONE;
    if (!take(j, '"')) return json_not_the_kind(j, "String");
    return read_text(j, text_out);
}

/* ---- other scalars ---- */

sheaf_rc json_number(struct json *j, span *digits_out)
{
    *digits_out = SPAN_NONE;
    skip_space(j);
    const uint8_t *end = json_number_end(j->at, j->end);
    if (!end) return json_not_the_kind(j, "Double");
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
    if (j->at < j->end && (*j->at == 't' || *j->at == 'f')) return json_malformed(j);
    return json_not_the_kind(j, "Boolean");
}

sheaf_rc json_null(struct json *j)
{
    skip_space(j);
    return take_word(j, SPAN_LIT("null")) ? SHEAF_OK : json_malformed(j);
}

/* ---- containers ---- */

static sheaf_rc too_deep(struct json *j)
{
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "More than %d objects and arrays are nested",
                   JSON_DEPTH_MAX);
}

sheaf_rc json_open(struct json *j)
{
    if (j->depth == JSON_DEPTH_MAX) return too_deep(j);
    j->first[j->depth++] = j->n_names;
    j->is_first = true;
    return SHEAF_OK;
}

sheaf_rc json_object(struct json *j)
{
    if (!take(j, '{')) return json_not_the_kind(j, "");
    return json_open(j);
}

sheaf_rc json_array(struct json *j)
{
    if (!take(j, '[')) return json_not_the_kind(j, "List");
    return json_open(j);
}

sheaf_rc json_next_name(struct json *j, span *name_out, bool *has_out)
{
    uint32_t depth = j->depth;
    *name_out = SPAN_NONE;
    TRY(read_name(j, name_out, has_out));
    if (*has_out) return json_note_name(j, *name_out);
    return json_forget_names(j, depth);
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
    if (!is_first && !take(j, ',')) return json_malformed(j);
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
        return read_text(j, NULL);
    }
    if (kind == JSON_NUMBER)
        return json_number_end(j->at, j->end) ? json_number(j, &digits_of) : json_malformed(j);
    if (kind == JSON_NULL) return json_null(j);
    return take_word(j, SPAN_LIT("true")) || take_word(j, SPAN_LIT("false")) ? SHEAF_OK
                                                                             : json_malformed(j);
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
            TRY(json_open(j));
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
    return j->at == j->end ? SHEAF_OK : json_malformed(j);
}
