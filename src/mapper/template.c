/* Turns templates into parts, structs into key texts, and key texts back into fields.
 *
 *   "ORDER#{id}#V{version:08}"  =  "ORDER#" {id}   "#V" {version, 8 digits}
 *   id = "a#b", version = 3    ->  ORDER#a%23b#V00000003
 *
 * Know before editing: two different lists of fields never give the same text. A text field is
 * escaped, so that it holds no '#', and must be followed by '#' or by nothing; the other kinds have a
 * fixed width, or an alphabet that ends where the next literal begins. template_match relies on it. */
#include "mapper/plan.h"

#include <stdio.h>

enum form { NOT_A_KEY, TEXT, NUMBER, TIME };

static enum form form_of(const sheaf_field *f)
{
    switch (f->kind) {
    case SHEAF_IS_STR:
    case SHEAF_IS_DECIMAL:
    case SHEAF_IS_BOOL:
    case SHEAF_IS_ENUM:
    case SHEAF_IS_ULID:
    case SHEAF_IS_KSUID:
    case SHEAF_IS_UUID:
        return TEXT;
    case SHEAF_IS_INT:
    case SHEAF_IS_VERSION:
    case SHEAF_IS_EPOCH:
    case SHEAF_IS_TTL:
        return NUMBER;
    case SHEAF_IS_TIME:
    case SHEAF_IS_CREATED:
    case SHEAF_IS_UPDATED:
        return TIME;
    default:
        return NOT_A_KEY;
    }
}

static bool is_moment(const sheaf_field *f)
{
    return (f->rep & ~(unsigned)SHEAF_REP_OPT) == SHEAF_REP_TIME;
}

/* ---- parsing ---- */

struct parse {
    struct ctx *c;
    const struct map_plan *plan;
    const struct map_template *t;
};

static sheaf_rc refuse(const struct parse *p, const char *what, span name)
{
    return err_validation(p->c->err, "entity %s, key %s: template \"%s\" %s%.*s",
                          p->plan->entity->type, p->t->attr, p->t->text, what, SPAN_ARG(name));
}

/* How much of the ISO text a format like yyyy-mm takes; 0: no such format. */
static uint8_t time_len_of(span format)
{
    static const char whole[] = "yyyy-mm-ddThh";
    bool is_border = format.n == 4 || format.n == 7 || format.n == 10 || format.n == 13;
    return is_border && memcmp(format.p, whole, format.n) == 0 ? (uint8_t)format.n : 0;
}

static uint8_t width_of(span format)
{
    const char *p = format.p;
    if (format.n < 2 || format.n > 3 || p[0] != '0') return 0;
    unsigned width = 0;
    for (size_t i = 1; i < format.n; i++) {
        if (p[i] < '0' || p[i] > '9') return 0;
        width = width * 10 + (unsigned)(p[i] - '0');
    }
    return width <= 20 ? (uint8_t)width : 0;
}

static sheaf_rc parse_format(const struct parse *p, span format, struct map_part *part)
{
    const sheaf_field *f = part->field->f;
    if (form_of(f) == TIME) part->time_len = MAP_TIME_TEXT;
    if (!format.p) return SHEAF_OK;
    if (is_moment(f)) part->time_len = time_len_of(format);
    if (part->time_len && form_of(f) != TEXT && is_moment(f)) return SHEAF_OK;
    if (form_of(f) == NUMBER) part->width = width_of(format);
    if (part->width) return SHEAF_OK;
    return refuse(p,
                  is_moment(f) ? "has an unknown time format (yyyy, yyyy-mm, yyyy-mm-dd, "
                                 "yyyy-mm-ddThh): "
                               : "has an unknown format (a width like :08, for numbers only): ",
                  format);
}

static sheaf_rc parse_field(const struct parse *p, span name, struct map_part *part)
{
    const char *colon = name.n ? memchr(name.p, ':', name.n) : NULL;
    span format = SPAN_NONE;
    if (colon) {
        format = span_from(name, (size_t)(colon - (const char *)name.p) + 1);
        name.n = (size_t)(colon - (const char *)name.p);
    }
    part->field = map_field_named(&p->plan->shape, name);
    if (!part->field)
        return err_validation(p->c->err,
                              "entity %s, key %s: template \"%s\" names {%.*s}, which is not a "
                              "field of struct %s",
                              p->plan->entity->type, p->t->attr, p->t->text, SPAN_ARG(name),
                              p->plan->entity->shape.name);
    if (form_of(part->field->f) == NOT_A_KEY)
        return refuse(p, "names a field of a kind that no key can hold: ", name);
    bool moves =
        part->field->f->kind == SHEAF_IS_VERSION || part->field->f->kind == SHEAF_IS_UPDATED;
    if (moves && p->t->is_table_key)
        return refuse(p, "is the table's key and names a field that every write changes: ", name);
    return parse_format(p, format, part);
}

/* The rule of the file's head: whether the text of a field can be told from what follows. */
static bool is_separated(const struct map_part *part, char next, bool is_last)
{
    if (is_last || part->time_len || part->width) return true;
    if (form_of(part->field->f) == NUMBER) return next != '\0' && (next < '0' || next > '9');
    return next == '#';
}

static sheaf_rc parse_part(const struct parse *p, span *left, struct map_part *part)
{
    const char *open = memchr(left->p, '{', left->n);
    part->literal = SPAN(left->p, open ? (size_t)(open - (const char *)left->p) : left->n);
    if (part->literal.n && memchr(part->literal.p, '}', part->literal.n))
        return refuse(p, "has a } without its {", SPAN_NONE);
    *left = span_from(*left, part->literal.n);
    if (!open) return SHEAF_OK;
    const char *close = memchr(left->p, '}', left->n);
    if (!close) return refuse(p, "has a { without its }", SPAN_NONE);
    size_t n = (size_t)(close - open);
    span name = SPAN(open + 1, n - 1);
    *left = span_from(*left, n + 1);
    TRY(parse_field(p, name, part));
    if (!is_separated(part, left->n ? *(const char *)left->p : '\0', left->n == 0))
        return refuse(p, "lets one value forge another's key: put a # behind ", SPAN(open, n + 1));
    return SHEAF_OK;
}

sheaf_rc template_parse(struct ctx *c, const sheaf_map *map, struct map_plan *plan,
                        const sheaf_field *key, struct map_template *t)
{
    t->attr = key->attr;
    t->text = key->member;
    const struct map_index *table = &map->indexes[0];
    t->is_table_key = strcmp(t->attr, table->partition_key[0]) == 0 ||
                      (table->n_sort_key && strcmp(t->attr, table->sort_key[0]) == 0);
    struct parse p = {c, plan, t};
    span left = span_cstr(t->text);
    size_t n_max = 1;
    if (left.n == 0) return refuse(&p, "is empty", SPAN_NONE);
    for (const char *at = t->text; *at; at++) n_max += *at == '{';
    t->parts = ARENA_ARRAY(c->arena, struct map_part, n_max);
    if (!t->parts) return err_nomem(c->err);
    while (left.n) TRY(parse_part(&p, &left, &t->parts[t->n_parts++]));
    for (size_t i = 0; t->is_table_key && i < t->n_parts; i++)
        if (t->parts[i].field) ((struct map_field *)t->parts[i].field)->is_in_table_key = true;
    return SHEAF_OK;
}

bool template_uses(const struct map_template *t, const struct map_field *field)
{
    for (size_t i = 0; i < t->n_parts; i++)
        if (t->parts[i].field == field) return true;
    return false;
}

/* ---- rendering ---- */

static void put_escaped(struct buf *b, span s)
{
    const char *p = s.p;
    size_t begin = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (p[i] != '#' && p[i] != '%') continue;
        buf_put(b, p + begin, i - begin);
        buf_put(b, p[i] == '#' ? "%23" : "%25", 3);
        begin = i + 1;
    }
    buf_put(b, p + begin, s.n - begin);
}

static sheaf_rc put_number(struct ctx *c, const struct map_place *place,
                           const struct map_part *part, sheaf_value v, struct buf *b)
{
    char text[24];
    bool is_int = v.n == SHEAF_N_INT64_; /* else the digits of an unsigned one above INT64_MAX */
    if (is_int) snprintf(text, sizeof text, "%lld", (long long)v.u.i64);
    span digits = span_cstr(is_int ? text : v.u.p);
    if (part->width && is_int && v.u.i64 < 0)
        return map_fail(c, place, part->field, "%s is negative and cannot be zero padded", text);
    if (part->width && digits.n > part->width)
        return map_fail(c, place, part->field, "%.*s has more than %u digits", SPAN_ARG(digits),
                        part->width);
    for (size_t n = digits.n; n < part->width; n++) buf_put_u8(b, '0');
    buf_put_span(b, digits);
    return SHEAF_OK;
}

static sheaf_rc put_time(struct ctx *c, const struct map_place *place, const struct map_part *part,
                         struct buf *b)
{
    const void *at = map_at(place->object, part->field);
    const sheaf_time *t = part->field->f->rep & SHEAF_REP_OPT ? *(const sheaf_time *const *)at : at;
    char text[MAP_TIME_TEXT];
    if (!map_time_format(t->us, text))
        return map_fail(c, place, part->field, "the time is not in the years 0 to 9999");
    buf_put(b, text, part->time_len);
    return SHEAF_OK;
}

/* A time of 0 in a query was not given. */
static bool is_unset_time(const struct map_part *part, const void *object)
{
    const sheaf_field *f = part->field->f;
    return f->rep == SHEAF_REP_TIME && ((const sheaf_time *)map_at(object, part->field))->us == 0;
}

/* *is_missing_out: there is no value. An empty text is none: it would make a key without an id. */
static sheaf_rc put_field(struct ctx *c, const struct map_place *place, const struct map_part *part,
                          enum key_extent extent, struct buf *b, bool *is_missing_out)
{
    sheaf_value v;
    TRY(map_value_of(c, place, part->field, place->object, &v));
    *is_missing_out =
        v.type == SHEAF_NONE || (extent == KEY_PREFIX && is_unset_time(part, place->object));
    if (*is_missing_out) return SHEAF_OK;
    if (part->time_len) return put_time(c, place, part, b);
    if (form_of(part->field->f) == NUMBER) return put_number(c, place, part, v, b);
    span s = v.type == SHEAF_BOOL ? (v.boolean ? SPAN_LIT("true") : SPAN_LIT("false"))
             : v.n == SIZE_MAX    ? span_cstr(v.u.p)
                                  : SPAN(v.u.p, v.n);
    *is_missing_out = s.n == 0;
    put_escaped(b, s);
    return SHEAF_OK;
}

static bool is_named(const struct map_field *f, const char *before)
{
    return f && before && strcmp(f->f->member, before) == 0;
}

static sheaf_rc render_template(struct ctx *c, const struct map_place *place,
                                const struct map_template *t, enum key_extent extent,
                                const char *before, struct key_text *out)
{
    struct buf b;
    buf_init(&b, c->arena, (size_t)16 * MAP_KEY_MAX);
    if (!buf_room(&b, 64)) return err_nomem(c->err);
    out->is_whole = true;
    for (size_t i = 0; i < t->n_parts && out->is_whole; i++) {
        const struct map_part *part = &t->parts[i];
        buf_put_span(&b, part->literal);
        if (part->literal.n) out->ends_in_field = false;
        if (!part->field) break;
        bool is_missing = is_named(part->field, before);
        if (!is_missing) TRY(put_field(c, place, part, extent, &b, &is_missing));
        out->is_whole = !is_missing;
        if (is_missing)
            out->missing = part->field;
        else
            out->ends_in_field = true;
    }
    if (b.failed)
        return err_validation(c->err, "entity %s, key %s: the value is too long for a key",
                              place->plan->entity->type, t->attr);
    if (out->is_whole || extent == KEY_PREFIX) out->value = sheaf_sn((const char *)b.p, b.n);
    return SHEAF_OK;
}

sheaf_rc key_render(struct ctx *c, const struct map_plan *plan, const struct map_key *key,
                    const void *object, enum key_extent extent, const char *before,
                    struct key_text *out)
{
    struct map_place place = {.plan = plan, .object = object};
    *out = (struct key_text){.value = sheaf_make_(SHEAF_NONE, NULL, 0)};
    if (key->template_) return render_template(c, &place, key->template_, extent, before, out);
    if (!key->field || is_named(key->field, before)) return SHEAF_OK;
    TRY(map_value_of(c, &place, key->field, object, &out->value));
    bool is_empty =
        out->value.type == SHEAF_S &&
        (out->value.n == 0 || (out->value.n == SIZE_MAX && *(const char *)out->value.u.p == '\0'));
    if (is_empty) out->value.type = SHEAF_NONE;
    out->is_whole = out->ends_in_field = out->value.type != SHEAF_NONE;
    out->missing = out->is_whole ? NULL : key->field;
    return SHEAF_OK;
}

/* ---- matching ---- */

static size_t digits_len(span s)
{
    const char *p = s.p;
    size_t n = s.n && p[0] == '-';
    while (n < s.n && p[n] >= '0' && p[n] <= '9') n++;
    return n;
}

/* How many bytes of the key are the field's; 0: it is not there. */
static size_t field_len(const struct map_part *part, span key)
{
    size_t fixed = part->time_len ? part->time_len : part->width;
    if (fixed) {
        bool fits = key.n >= fixed && *(const char *)key.p >= '0' && *(const char *)key.p <= '9';
        return fits ? fixed : 0;
    }
    if (form_of(part->field->f) == NUMBER) return digits_len(key);
    const char *end = key.n ? memchr(key.p, '#', key.n) : NULL;
    return end ? (size_t)(end - (const char *)key.p) : key.n;
}

bool template_match(const struct map_template *t, span key, size_t at, span *text_out)
{
    for (size_t i = 0; i < t->n_parts; i++) {
        const struct map_part *part = &t->parts[i];
        if (!span_starts(key, part->literal)) return false;
        key = span_from(key, part->literal.n);
        if (!part->field) continue;
        size_t n = field_len(part, key);
        if (n == 0) return false;
        if (i == at) *text_out = SPAN(key.p, n);
        key = span_from(key, n);
    }
    return key.n == 0;
}

span template_unescape(struct arena *arena, span text)
{
    char *to = (char *)arena_bytes(arena, text.n + 1), *end = to;
    const char *p = text.p;
    if (!to) return SPAN_NONE;
    for (size_t i = 0; i < text.n; i++) {
        bool is_escape = p[i] == '%' && i + 2 < text.n && p[i + 1] == '2';
        if (is_escape && (p[i + 2] == '3' || p[i + 2] == '5')) {
            *end++ = p[i + 2] == '3' ? '#' : '%';
            i += 2;
        } else {
            *end++ = p[i];
        }
    }
    *end = '\0';
    return SPAN(to, (size_t)(end - to));
}
