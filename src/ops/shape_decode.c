/* Turns JSON into the struct that a shape describes, in one pass.
 *
 * Know before editing: recursion follows the shapes, which are ours and shallow, never the input:
 * what no shape knows is skipped by the reader without recursion. SDKs send members in one order,
 * so the member after the last one found is tried first. */
#include "ops/shape.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t shape_size(const struct shape *s)
{
    static const uint8_t sizes[] = {
        [SHAPE_STRING] = sizeof(span),
        [SHAPE_ENUM] = sizeof(struct shape_word),
        [SHAPE_BOOL] = sizeof(uint8_t),
        [SHAPE_INT] = sizeof(struct shape_int),
        [SHAPE_LONG] = sizeof(struct shape_int),
        [SHAPE_DOUBLE] = sizeof(struct shape_double),
        [SHAPE_TIME] = sizeof(struct shape_int),
        [SHAPE_ITEM] = sizeof(struct json_item),
        [SHAPE_ITEMS] = sizeof(struct shape_items),
        [SHAPE_NAMES] = sizeof(struct shape_names),
        [SHAPE_STRUCT] = sizeof(void *),
        [SHAPE_LIST] = sizeof(struct shape_list),
        [SHAPE_MAP] = sizeof(struct shape_map),
        [SHAPE_RAW] = sizeof(span),
    };
    return sizes[s->kind];
}

bool shape_has(const struct shape *s, const void *object)
{
    switch (s->kind) {
    case SHAPE_STRING:
    case SHAPE_RAW:
        return ((const span *)object)->p != NULL;
    case SHAPE_ENUM:
        return ((const struct shape_word *)object)->text.p != NULL;
    case SHAPE_BOOL:
        return *(const uint8_t *)object != SHAPE_ABSENT;
    case SHAPE_INT:
    case SHAPE_LONG:
    case SHAPE_TIME:
        return ((const struct shape_int *)object)->has;
    case SHAPE_DOUBLE:
        return ((const struct shape_double *)object)->has;
    case SHAPE_ITEM:
        return ((const struct json_item *)object)->has;
    case SHAPE_ITEMS:
        return ((const struct shape_items *)object)->has;
    case SHAPE_NAMES:
        return ((const struct shape_names *)object)->has;
    case SHAPE_STRUCT:
        return *(void *const *)object != NULL;
    case SHAPE_LIST:
        return ((const struct shape_list *)object)->has;
    case SHAPE_MAP:
        return ((const struct shape_map *)object)->has;
    }
    assert(false);
    return false;
}

/* ---- scalars ---- */

static sheaf_rc decode_word(struct json *j, const struct shape *s, struct shape_word *out)
{
    TRY(json_text(j, &out->text));
    if (!out->text.p) out->text = SPAN_LIT("");
    for (uint32_t i = 0; s->words[i]; i++)
        if (span_eq(out->text, span_cstr(s->words[i]))) out->i = i + 1;
    return SHEAF_OK;
}

static sheaf_rc decode_bool(struct json *j, uint8_t *out)
{
    bool is_true;
    TRY(json_bool(j, &is_true));
    *out = is_true ? SHAPE_TRUE : SHAPE_FALSE;
    return SHEAF_OK;
}

/* Digits are JSON's: an optional sign, digits, perhaps a fraction and an exponent. */
static double to_double(span digits)
{
    char text[64];
    int n = digits.n < sizeof text ? (int)digits.n : (int)sizeof text - 1;
    snprintf(text, sizeof text, "%.*s", n, (const char *)digits.p);
    return strtod(text, NULL);
}

/* A fraction is cut off and what is out of range is held at its end, as a cast in Java does. */
static int64_t to_int(span digits, int64_t min, int64_t max)
{
    const char *p = digits.p;
    bool is_negative = digits.n && p[0] == '-';
    int64_t v = 0;
    for (size_t i = is_negative; i < digits.n; i++) {
        int digit = p[i] - '0';
        if (digit < 0 || digit > 9) {
            double d = to_double(digits);
            return d <= (double)min ? min : d >= (double)max ? max : (int64_t)d;
        }
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, is_negative ? -digit : digit, &v))
            return is_negative ? min : max;
    }
    return v < min ? min : v > max ? max : v;
}

static sheaf_rc decode_int(struct json *j, bool is_long, struct shape_int *out)
{
    span digits;
    TRY(json_number(j, &digits));
    out->v = is_long ? to_int(digits, INT64_MIN, INT64_MAX) : to_int(digits, INT32_MIN, INT32_MAX);
    out->has = true;
    return SHEAF_OK;
}

static sheaf_rc decode_double(struct json *j, struct shape_double *out)
{
    span digits;
    TRY(json_number(j, &digits));
    out->v = to_double(digits);
    out->has = true;
    return SHEAF_OK;
}

/* Seconds with a fraction to microseconds. */
static sheaf_rc decode_time(struct json *j, struct shape_int *out)
{
    struct shape_double seconds = {.has = false};
    TRY(decode_double(j, &seconds));
    double us = seconds.v * 1e6;
    out->v = us > 9e18 ? INT64_MAX : us < -9e18 ? INT64_MIN : (int64_t)us;
    out->has = true;
    return SHEAF_OK;
}

static sheaf_rc decode_text(struct json *j, span *out)
{
    TRY(json_text(j, out));
    if (!out->p) out->p = "";
    return SHEAF_OK;
}

/* ---- lists and maps ---- */

/* Room for one more of `size` bytes beside n others; grows by doubling, old room stays behind in
 * the arena. */
static void *grow(struct arena *a, void *all, uint32_t n, uint32_t size)
{
    bool is_full = n == 0 || (n >= 4 && (n & (n - 1)) == 0);
    if (!is_full) return all;
    void *more = arena_zalloc_array(a, n ? (size_t)n * 2 : 4, size);
    if (more && n) memcpy(more, all, (size_t)n * size);
    return more;
}

static sheaf_rc decode_value(struct json *j, const struct shape *s, bool is_entry, void *object);

static const struct shape text_shape = {.kind = SHAPE_STRING};

static sheaf_rc decode_names(struct json *j, struct shape_names *out)
{
    struct shape_pair pair;
    bool has;
    TRY(json_object(j));
    out->has = true;
    for (;;) {
        TRY(json_next_name(j, &pair.name, &has));
        if (!has) return SHEAF_OK;
        pair.value = SPAN_NONE;
        TRY(decode_value(j, &text_shape, true, &pair.value));
        out->all = grow(j->ctx->arena, out->all, out->n, sizeof pair);
        if (!out->all) return err_nomem(j->ctx->err);
        out->all[out->n++] = pair;
    }
}

static bool is_kept(const struct shape *s, uint32_t n)
{
    return !s->has_max || (int64_t)n <= s->max;
}

static sheaf_rc decode_list(struct json *j, const struct shape *s, struct shape_list *out)
{
    uint32_t size = shape_size(s->of);
    bool has;
    TRY(json_array(j));
    out->has = true;
    for (;; out->n++) {
        TRY(json_next_element(j, &has));
        if (!has) return SHEAF_OK;
        if (!is_kept(s, out->n)) {
            TRY(json_skip(j, NULL));
            continue;
        }
        out->all = grow(j->ctx->arena, out->all, out->n, size);
        if (!out->all) return err_nomem(j->ctx->err);
        TRY(decode_value(j, s->of, true, (uint8_t *)out->all + (size_t)out->n * size));
    }
}

static sheaf_rc decode_map(struct json *j, const struct shape *s, struct shape_map *out)
{
    uint32_t size = shape_size(s->of);
    span name;
    bool has;
    TRY(json_object(j));
    out->has = true;
    for (;; out->n++) {
        TRY(json_next_name(j, &name, &has));
        if (!has) return SHEAF_OK;
        if (!is_kept(s, out->n)) {
            TRY(json_skip(j, NULL));
            continue;
        }
        out->all = grow(j->ctx->arena, out->all, out->n, size);
        out->names = grow(j->ctx->arena, out->names, out->n, sizeof name);
        if (!out->all || !out->names) return err_nomem(j->ctx->err);
        out->names[out->n] = name;
        TRY(decode_value(j, s->of, true, (uint8_t *)out->all + (size_t)out->n * size));
    }
}

/* ---- structs ---- */

static const struct member *find(const struct shape *s, span name, uint32_t *next)
{
    uint32_t i = *next < s->n_members ? *next : 0;
    for (uint32_t tried = 0; tried < s->n_members; tried++) {
        const struct member *m = &s->members[i];
        uint32_t after = i + 1 < s->n_members ? i + 1 : 0;
        if (m->name_n == name.n && memcmp(m->name, name.p, name.n) == 0) {
            *next = after;
            return m;
        }
        i = after;
    }
    return NULL;
}

sheaf_rc shape_decode(struct json *j, const struct shape *s, void *object)
{
    uint32_t next = 0;
    span name;
    bool has;
    assert(s->kind == SHAPE_STRUCT);
    TRY(json_object(j));
    for (;;) {
        TRY(json_next_name(j, &name, &has));
        if (!has) return SHEAF_OK;
        const struct member *m = find(s, name, &next);
        TRY(m ? decode_value(j, m->shape, false, (uint8_t *)object + m->offset)
              : json_skip(j, NULL));
    }
}

static sheaf_rc decode_struct(struct json *j, const struct shape *s, void **out)
{
    *out = arena_zalloc(j->ctx->arena, s->size);
    return *out ? shape_decode(j, s, *out) : err_nomem(j->ctx->err);
}

static sheaf_rc decode_present(struct json *j, const struct shape *s, void *object)
{
    switch (s->kind) {
    case SHAPE_STRING:
        return decode_text(j, object);
    case SHAPE_ENUM:
        return decode_word(j, s, object);
    case SHAPE_BOOL:
        return decode_bool(j, object);
    case SHAPE_INT:
    case SHAPE_LONG:
        return decode_int(j, s->kind == SHAPE_LONG, object);
    case SHAPE_DOUBLE:
        return decode_double(j, object);
    case SHAPE_TIME:
        return decode_time(j, object);
    case SHAPE_ITEM:
        return json_read_item(j, object);
    case SHAPE_NAMES:
        return decode_names(j, object);
    case SHAPE_STRUCT:
        return decode_struct(j, s, object);
    case SHAPE_LIST:
        return decode_list(j, s, object);
    case SHAPE_MAP:
        return decode_map(j, s, object);
    case SHAPE_RAW:
        return json_skip(j, object);
    case SHAPE_ITEMS:
        break;
    }
    assert(false);
    return SHEAF_INTERNAL;
}

/* ---- the right kind ---- */

static bool is_kind(const struct shape *s, enum json_kind kind)
{
    switch (s->kind) {
    case SHAPE_STRING:
    case SHAPE_ENUM:
        return kind == JSON_STRING;
    case SHAPE_INT:
    case SHAPE_LONG:
    case SHAPE_DOUBLE:
    case SHAPE_TIME:
        return kind == JSON_NUMBER;
    case SHAPE_NAMES:
    case SHAPE_STRUCT:
    case SHAPE_MAP:
        return kind == JSON_OBJECT;
    case SHAPE_LIST:
        return kind == JSON_ARRAY;
    case SHAPE_BOOL:
    case SHAPE_ITEM:
    case SHAPE_ITEMS:
    case SHAPE_RAW:
        return true; /* their readers say it better, or take all */
    }
    return false;
}

/* What the service calls the type that should stand here. */
static const char *type_name(const struct shape *s, char *text, size_t size)
{
    switch (s->kind) {
    case SHAPE_INT:
        return "Integer";
    case SHAPE_LONG:
        return "Long";
    case SHAPE_DOUBLE:
    case SHAPE_TIME:
        return "Double";
    case SHAPE_LIST:
        return "List";
    case SHAPE_NAMES:
        return "java.util.Map<java.lang.String, java.lang.String>";
    case SHAPE_MAP:
        snprintf(text, size, "java.util.Map<java.lang.String, %s>", s->title ? s->title : "");
        return text;
    case SHAPE_STRUCT:
        snprintf(text, size, "class com.amazonaws.dynamodb.v20120810.%s", s->title ? s->title : "");
        return text;
    default:
        return "String";
    }
}

static sheaf_rc wrong_kind(struct json *j, const struct shape *s, enum json_kind kind,
                           bool is_entry)
{
    char text[160];
    const char *wanted = type_name(s, text, sizeof text);
    return is_entry ? json_wrong_element(j, kind, wanted) : json_wrong_kind(j, kind, wanted);
}

static sheaf_rc decode_value(struct json *j, const struct shape *s, bool is_entry, void *object)
{
    enum json_kind kind;
    TRY(json_peek(j, &kind));
    if (kind == JSON_NULL) return json_null(j);
    if (!is_kind(s, kind)) return wrong_kind(j, s, kind, is_entry);
    return decode_present(j, s, object);
}
