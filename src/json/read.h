/* json/read.h: the reader's small parts, inlined where every byte counts. Only files of json
 * include it. */
#ifndef JSON_READ_H
#define JSON_READ_H

#include "json/json.h"
#include "json/scan.h"

#include <assert.h>

/* Not JSON: AWS answers the exception's name and no message. */
SHEAF_NODISCARD sheaf_rc json_malformed(struct json *j);
SHEAF_NODISCARD sheaf_rc json_repeated(struct json *j, span name);
/* What comes next is not of the kind wanted, or no value at all; `wanted` as in json_wrong_kind. */
SHEAF_NODISCARD sheaf_rc json_not_the_kind(struct json *j, const char *wanted);
/* Behind the number at p, NULL when there is none by JSON's grammar. */
const uint8_t *json_number_end(const uint8_t *p, const uint8_t *end);
/* A text, its quote taken, of which p is how far scan_ascii came: it holds an escape, or bytes above
 * ASCII, or ends badly. out == NULL: it is checked and nothing else. */
SHEAF_NODISCARD sheaf_rc json_text_slow(struct json *j, const uint8_t *p, span *out);

/* Opens the container whose brace or bracket is taken. */
SHEAF_NODISCARD sheaf_rc json_open(struct json *j);
/* Remembers a name of the innermost object, and compares it with those before while they are few. */
SHEAF_NODISCARD sheaf_rc json_note_name(struct json *j, span name);
/* At the end of the object that was the depth-th: forgets its names, after a look at those that
 * were too many. */
SHEAF_NODISCARD sheaf_rc json_forget_names(struct json *j, uint32_t depth);

static inline bool is_space(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

static inline void skip_space(struct json *j)
{
    while (j->at < j->end && *j->at <= ' ' && is_space(*j->at)) j->at++;
}

/* Takes the byte c, behind white space, which is rare enough to look for it second. */
bool json_take_late(struct json *j, uint8_t c);
static inline bool take(struct json *j, uint8_t c)
{
    if (j->at < j->end && *j->at == c) {
        j->at++;
        return true;
    }
    return j->at < j->end && *j->at <= ' ' && json_take_late(j, c);
}

/* The rest of a text whose opening quote is taken. */
static inline sheaf_rc read_text(struct json *j, span *out)
{
    const uint8_t *p = scan_ascii(j->at, j->end);
    if (p == j->end || *p != '"') return json_text_slow(j, p, out);
    if (out) *out = SPAN(j->at, (size_t)(p - j->at));
    j->at = p + 1;
    return SHEAF_OK;
}

static inline void leave(struct json *j)
{
    assert(j->depth > 0);
    j->depth--;
    j->is_first = false;
}

/* json_next_name without the look for a repeated name: the caller finds those himself. */
static inline sheaf_rc read_name(struct json *j, span *name_out, bool *has_out)
{
    assert(j->depth > 0);
    bool is_first = j->is_first;
    *has_out = false;
    if (!is_first && !take(j, ',')) {
        if (!take(j, '}')) return json_malformed(j);
        leave(j);
        return SHEAF_OK;
    }
    if (!take(j, '"')) {
        if (!is_first || !take(j, '}')) return json_malformed(j);
        leave(j);
        return SHEAF_OK;
    }
    j->is_first = false;
    TRY(read_text(j, name_out));
    if (!take(j, ':')) return json_malformed(j);
    *has_out = true;
    return SHEAF_OK;
}

#endif
