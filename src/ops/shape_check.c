/* Turns a decoded struct into the list of its violations, in AWS's words and order.
 *
 * Know before editing: the service has two ways of saying the same (ops/shape.h, CHECKING). The
 * older one gathers; the newer one stands alone. Both are collected in one walk and the end decides.
 * The newer one is given up when a required member is missing: such a request never reaches the
 * service's newer checks. */
#include "ops/shape.h"

#include "base/limits.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum { TOLD_MAX = 10, ECHO_BYTES = 4096, MESSAGE_BYTES = 64 << 10, ARN_BYTES = 1024 };

/* One step of a path, on the stack of the walk. */
struct at {
    const struct at *up;
    span name;      /* of a member or of a map's entry */
    uint32_t index; /* 1 …: of a list's entry; 0: a name */
    bool is_entry;  /* ".member" follows */
};

struct check {
    struct ctx *c;
    struct buf text; /* violations, joined */
    uint32_t n;
    bool is_missing;  /* a required member */
    span unnamed;     /* the NAMED member that is missing */
    bool is_brief;    /* the operation has the newer way */
    struct buf brief; /* the first violation with a newer form; n == 0: none */
    struct buf late;  /* what is told only when nothing else is wrong */
};

/* ---- words ---- */

static void put_path(struct buf *out, const struct at *at, bool is_lower)
{
    if (at->up) {
        put_path(out, at->up, is_lower);
        buf_put_u8(out, '.');
    }
    if (at->index) {
        buf_printf(out, "%" PRIu32, at->index);
    } else if (is_lower && !at->is_entry && at->name.n) {
        uint8_t first = *(const uint8_t *)at->name.p;
        buf_put_u8(out, first >= 'A' && first <= 'Z' ? first + ('a' - 'A') : first);
        buf_put_span(out, span_from(at->name, 1));
    } else {
        buf_put_span(out, at->name);
    }
    if (at->is_entry) buf_put(out, ".member", 7);
}

/* No more of it than a message should hold, cut at a UTF-8 border. */
static span cut(span value)
{
    if (value.n <= ECHO_BYTES) return value;
    size_t n = ECHO_BYTES;
    while (n > 0 && (((const uint8_t *)value.p)[n] & 0xC0) == 0x80) n--;
    return SPAN(value.p, n);
}

static void begin(struct check *k, const struct at *at, span value)
{
    if (k->n) buf_put(&k->text, "; ", 2);
    if (value.p) {
        buf_put(&k->text, "Value '", 7);
        buf_put_span(&k->text, cut(value));
        buf_put(&k->text, "' at '", 6);
    } else {
        buf_put(&k->text, "Value null at '", 15);
    }
    put_path(&k->text, at, true);
    buf_put_span(&k->text, SPAN_LIT("' failed to satisfy constraint: "));
    k->n++;
}

static void complain(struct check *k, const struct at *at, span value, const char *what)
{
    if (k->n >= TOLD_MAX) return;
    begin(k, at, value.p ? value : SPAN_LIT(""));
    buf_put_span(&k->text, span_cstr(what));
}

static void complain_missing(struct check *k, const struct at *at)
{
    k->is_missing = true;
    if (k->n >= TOLD_MAX) return;
    begin(k, at, SPAN_NONE);
    buf_put_span(&k->text, SPAN_LIT("Member must not be null"));
}

/* "Member must have length less than or equal to 255" */
static const char *bound(char *text, size_t size, const char *what, bool is_less, int64_t limit)
{
    snprintf(text, size, "Member must have %s %s than or equal to %" PRId64, what,
             is_less ? "less" : "greater", limit);
    return text;
}

static void complain_brief(struct check *k, const struct at *at, const char *what)
{
    if (k->brief.n) return;
    buf_put_span(&k->brief, SPAN_LIT("1 validation error detected: Value at '"));
    put_path(&k->brief, at, false);
    buf_put_span(&k->brief, SPAN_LIT("' failed to satisfy constraint: "));
    buf_put_span(&k->brief, span_cstr(what));
}

/* ---- the value as Java prints it ---- */

static void echo(struct buf *out, const struct shape *s, const void *object);

static uint32_t stored(const struct shape *s, uint32_t n)
{
    return s->has_max && (int64_t)n > s->max ? (uint32_t)s->max + 1 : n;
}

static void echo_struct(struct buf *out, const struct shape *s, const void *object)
{
    buf_printf(out, "%s(", s->title ? s->title : "");
    for (uint32_t i = 0; i < s->n_members; i++) {
        const struct member *m = &s->members[i];
        const struct at at = {.name = SPAN(m->name, m->name_n)};
        if (i) buf_put(out, ", ", 2);
        put_path(out, &at, true);
        buf_put_u8(out, '=');
        echo(out, m->shape, (const uint8_t *)object + m->offset);
    }
    buf_put_u8(out, ')');
}

static void echo_item(struct buf *out, const struct json_item *item)
{
    buf_put_u8(out, '{');
    val map = item->item.p ? item_map(item->item) : VAL_ABSENT;
    for (uint32_t i = 0; item->item.p && i < val_count(map); i++) {
        if (i) buf_put(out, ", ", 2);
        buf_put_span(out, val_name_at(map, i));
        buf_put_u8(out, '=');
        json_put_value(out, val_at(map, i));
    }
    buf_put_u8(out, '}');
}

static void echo_entries(struct buf *out, const struct shape *s, const span *names, const void *all,
                         uint32_t n)
{
    buf_put_u8(out, names ? '{' : '[');
    for (uint32_t i = 0; i < n && out->n < ECHO_BYTES; i++) {
        if (i) buf_put(out, ", ", 2);
        if (names) {
            buf_put_span(out, cut(names[i]));
            buf_put_u8(out, '=');
        }
        echo(out, s, (const uint8_t *)all + (size_t)i * shape_size(s));
    }
    buf_put_u8(out, names ? '}' : ']');
}

static void echo(struct buf *out, const struct shape *s, const void *object)
{
    const struct shape_list *list = object;
    const struct shape_map *map = object;
    if (!shape_has(s, object)) {
        buf_put(out, "null", 4);
    } else if (s->kind == SHAPE_STRUCT) {
        echo_struct(out, s, *(void *const *)object);
    } else if (s->kind == SHAPE_ITEM) {
        echo_item(out, object);
    } else if (s->kind == SHAPE_LIST) {
        echo_entries(out, s->of, NULL, list->all, stored(s, list->n));
    } else if (s->kind == SHAPE_MAP) {
        span none = SPAN_LIT("");
        echo_entries(out, s->of, map->names ? map->names : &none, map->all, stored(s, map->n));
    } else if (s->kind == SHAPE_STRING || s->kind == SHAPE_ENUM) {
        span text = s->kind == SHAPE_ENUM ? ((const struct shape_word *)object)->text
                                          : *(const span *)object;
        buf_put_span(out, cut(text));
    } else {
        shape_encode_value(out, s, object);
    }
}

/* Of what did not fit only the beginning, which is enough for who reads it. */
static span echo_of(struct check *k, const struct shape *s, const void *object)
{
    struct buf out;
    buf_init(&out, k->c->arena, MESSAGE_BYTES);
    if (s->echo == ECHO_JAVA)
        echo(&out, s, object);
    else
        shape_encode_value(&out, s, object);
    return out.n ? buf_span(&out) : SPAN_LIT("");
}

/* ---- one value ---- */

static void check_length(struct check *k, const struct shape *s, const struct at *at, span value,
                         uint64_t n)
{
    char text[96];
    if (s->has_min && (int64_t)n < s->min)
        complain(k, at, value, bound(text, sizeof text, "length", false, s->min));
    if (s->has_max && n > (uint64_t)s->max)
        complain(k, at, value, bound(text, sizeof text, "length", true, s->max));
}

static void check_pattern(struct check *k, const struct shape *s, const struct at *at, span text)
{
    char what[256];
    if (!s->pattern || s->matches(text)) return;
    snprintf(what, sizeof what, "Member must satisfy regular expression pattern: %s", s->pattern);
    complain(k, at, text, what);
}

/* A name or an ARN; without a pattern an ARN. The newer checks find the empty one first and say so
 * differently. */
static void check_table(struct check *k, const struct shape *s, const struct at *at, span name)
{
    static const char empty[] = "Member must have length greater than or equal to 1";
    if (name.n == 0 && s->is_brief) {
        complain(k, at, name, empty);
        buf_clear(&k->brief); /* the newer checks look at the table first */
        complain_brief(k, at, empty);
        return;
    }
    if (s->pattern && span_starts(name, SPAN_LIT("arn:"))) {
        if (name.n > ARN_BYTES)
            complain(k, at, name, "Member must have length less than or equal to 1024");
        return;
    }
    if (!s->is_length_first) check_pattern(k, s, at, name);
    check_length(k, s, at, name, name.n);
    if (s->is_length_first) check_pattern(k, s, at, name);
}

static void check_string(struct check *k, const struct shape *s, const struct at *at, span text)
{
    char what[96];
    if (s->is_table) {
        check_table(k, s, at, text);
        return;
    }
    if (!s->is_length_first) check_pattern(k, s, at, text);
    check_length(k, s, at, text, text.n);
    if (s->is_length_first) check_pattern(k, s, at, text);
    if (!s->is_brief) return;
    if (s->has_min && (int64_t)text.n < s->min)
        complain_brief(k, at, bound(what, sizeof what, "length", false, s->min));
    if (s->has_max && (int64_t)text.n > s->max)
        complain_brief(k, at, bound(what, sizeof what, "length", true, s->max));
}

static void check_word(struct check *k, const struct shape *s, const struct at *at,
                       const struct shape_word *word)
{
    char what[512];
    if (word->i) return;
    snprintf(what, sizeof what, "Member must satisfy enum value set: %s", s->words_text);
    complain(k, at, word->text, what);
    if (s->brief && k->brief.n == 0) buf_put_span(&k->brief, span_cstr(s->brief));
}

static void check_number(struct check *k, const struct shape *s, const struct at *at, int64_t v)
{
    char digits[24], text[96];
    bool is_low = s->has_min && v < s->min, is_high = s->has_max && v > s->max;
    if (!is_low && !is_high) return;
    snprintf(digits, sizeof digits, "%" PRId64, v);
    complain(k, at, span_cstr(digits),
             bound(text, sizeof text, "value", is_high, is_high ? s->max : s->min));
    if (is_low && s->brief && k->brief.n == 0) buf_put_span(&k->brief, span_cstr(s->brief));
}

/* ---- containers ---- */

static void check_value(struct check *k, const struct shape *s, const struct at *at,
                        const void *object);

static void check_count(struct check *k, const struct shape *s, const struct at *at, uint32_t n,
                        const void *object)
{
    char text[96];
    bool is_low = s->has_min && (int64_t)n < s->min, is_high = s->has_max && (int64_t)n > s->max;
    if (!is_low && !is_high) return;
    bound(text, sizeof text, "length", is_high, is_high ? s->max : s->min);
    if (s->is_brief) complain_brief(k, at, text);
    complain(k, at, echo_of(k, s, object), text);
}

static bool is_good_key(const struct shape *key, span name)
{
    if (key->is_table && span_starts(name, SPAN_LIT("arn:"))) return name.n <= ARN_BYTES;
    return (!key->has_min || (int64_t)name.n >= key->min) &&
           (!key->has_max || (int64_t)name.n <= key->max) && (!key->matches || key->matches(name));
}

/* What is wrong with a map's keys or values is told once, of the whole map. */
static void complain_map(struct check *k, const struct shape *s, const struct at *at,
                         const void *object, const char *what)
{
    if (s->echo == ECHO_JSON) {
        complain(k, at, echo_of(k, s, object), what);
        return;
    }
    if (k->late.n) return;
    struct check alone = {.c = k->c};
    buf_init(&alone.text, k->c->arena, MESSAGE_BYTES);
    complain(&alone, at, echo_of(k, s, object), what);
    k->late = alone.text;
}

static void check_keys(struct check *k, const struct shape *s, const struct at *at,
                       const struct shape_map *map)
{
    char what[512];
    const struct shape *key = s->key;
    bool is_good = true;
    for (uint32_t i = 0; key && i < stored(s, map->n) && is_good; i++)
        is_good = is_good_key(key, map->names[i]);
    if (is_good) return;
    snprintf(what, sizeof what,
             "Map keys must satisfy constraint: [Member must have length less than or equal to "
             "%" PRId64 ", Member must have length greater than or equal to %" PRId64
             ", Member must satisfy regular expression pattern: %s]",
             key->max, key->min, key->pattern);
    complain_map(k, s, at, map, what);
}

/* Lists as values of a map: one that is too short is the map's fault. */
static void check_lists(struct check *k, const struct shape *s, const struct at *at,
                        const struct shape_map *map)
{
    char what[256];
    const struct shape_list *lists = map->all;
    if (s->of->kind != SHAPE_LIST || !s->of->has_min) return;
    bool is_good = true;
    for (uint32_t i = 0; i < stored(s, map->n); i++)
        is_good = is_good && (!lists[i].has || (int64_t)lists[i].n >= s->of->min);
    if (is_good) return;
    snprintf(what, sizeof what,
             "Map value must satisfy constraint: [Member must have length less than or equal to "
             "%" PRId64 ", Member must have length greater than or equal to %" PRId64 "]",
             s->of->max, s->of->min);
    complain_map(k, s, at, map, what);
}

/* Strings of a list: one that is too short or too long is the list's fault, told once. */
static void check_strings(struct check *k, const struct shape *s, const struct at *at,
                          const struct shape_list *list)
{
    char what[256];
    const span *all = list->all;
    bool is_good = true;
    for (uint32_t i = 0; i < stored(s, list->n); i++)
        is_good = is_good && (int64_t)all[i].n >= s->of->min && (int64_t)all[i].n <= s->of->max;
    if (is_good) return;
    snprintf(what, sizeof what,
             "Member must satisfy constraint: [Member must have length less than or equal to "
             "%" PRId64 ", Member must have length greater than or equal to %" PRId64 "]",
             s->of->max, s->of->min);
    complain(k, at, echo_of(k, s, list), what);
}

static void check_list(struct check *k, const struct shape *s, const struct at *at,
                       const struct shape_list *list)
{
    uint32_t size = shape_size(s->of);
    /* As an entry of a map a short list is told by the map. */
    bool is_short_entry = at->is_entry && !at->index && s->has_min && (int64_t)list->n < s->min;
    if (!is_short_entry) check_count(k, s, at, list->n, list);
    if (s->of->kind == SHAPE_STRING && s->of->has_min && s->of->has_max) {
        check_strings(k, s, at, list);
        return;
    }
    for (uint32_t i = 0; i < stored(s, list->n); i++) {
        const struct at under = {.up = at, .index = i + 1, .is_entry = true};
        check_value(k, s->of, &under, (const uint8_t *)list->all + (size_t)i * size);
    }
}

static void check_map(struct check *k, const struct shape *s, const struct at *at,
                      const struct shape_map *map)
{
    uint32_t size = shape_size(s->of);
    check_count(k, s, at, map->n, map);
    check_keys(k, s, at, map);
    check_lists(k, s, at, map);
    for (uint32_t i = 0; i < stored(s, map->n); i++) {
        const struct at under = {.up = at, .name = map->names[i], .is_entry = true};
        check_value(k, s->of, &under, (const uint8_t *)map->all + (size_t)i * size);
    }
}

static void check_struct(struct check *k, const struct shape *s, const struct at *at,
                         const void *object)
{
    for (uint32_t i = 0; i < s->n_members; i++) {
        const struct member *m = &s->members[i];
        const void *value = (const uint8_t *)object + m->offset;
        const struct at under = {.up = at, .name = SPAN(m->name, m->name_n)};
        if (shape_has(m->shape, value))
            check_value(k, m->shape, &under, value);
        else if (m->flags & NAMED)
            k->unnamed = under.name;
        else if ((m->flags & REQUIRED) && !(m->flags & LATER))
            complain_missing(k, &under);
    }
}

static void check_value(struct check *k, const struct shape *s, const struct at *at,
                        const void *object)
{
    if (!shape_has(s, object)) {
        complain_missing(k, at); /* an entry of a list or map */
        return;
    }
    switch (s->kind) {
    case SHAPE_STRING:
        check_string(k, s, at, *(const span *)object);
        return;
    case SHAPE_ENUM:
        check_word(k, s, at, object);
        return;
    case SHAPE_INT:
    case SHAPE_LONG:
        check_number(k, s, at, ((const struct shape_int *)object)->v);
        return;
    case SHAPE_STRUCT:
        check_struct(k, s, at, *(void *const *)object);
        return;
    case SHAPE_LIST:
        check_list(k, s, at, object);
        return;
    case SHAPE_MAP:
        check_map(k, s, at, object);
        return;
    case SHAPE_BOOL:
    case SHAPE_DOUBLE:
    case SHAPE_TIME:
    case SHAPE_ITEM:
    case SHAPE_ITEMS:
    case SHAPE_NAMES:
    case SHAPE_RAW:
        return;
    }
}

sheaf_rc shape_check(struct ctx *c, const struct shape *s, const void *object, bool is_brief,
                     span *message_out)
{
    struct check k = {.c = c, .is_brief = is_brief};
    struct buf whole;
    buf_init(&k.text, c->arena, MESSAGE_BYTES);
    buf_init(&k.brief, c->arena, MESSAGE_BYTES);
    buf_init(&k.late, c->arena, MESSAGE_BYTES);
    check_struct(&k, s, NULL, object);
    if (k.unnamed.p)
        return err_validation(c->err,
                              "The parameter '%.*s' is required but was not present in the request",
                              SPAN_ARG(k.unnamed));
    if (k.n == 0 && k.late.n == 0 && k.brief.n == 0) return SHEAF_OK;
    buf_init(&whole, c->arena, MESSAGE_BYTES);
    if (k.brief.n && is_brief && !k.is_missing) {
        whole = k.brief;
    } else {
        buf_printf(&whole, "%u validation error%s detected: ", k.n ? (unsigned)k.n : 1u,
                   k.n > 1 ? "s" : "");
        buf_put_span(&whole, buf_span(k.n ? &k.text : &k.late));
    }
    *message_out = buf_span(&whole);
    return err_validation(c->err, "%.*s", SPAN_ARG(*message_out));
}
