/* Turns structs into items: an array of attributes that point into the struct, so that no text is
 * copied before the item operation itself copies it. Know before editing: what is made here (digits,
 * times, nested arrays) lives in the call's arena, and the struct must outlive the call. */
#include "mapper/plan.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- messages ---- */

static void put_path(char *to, size_t n, const struct map_step *step, const struct map_field *field)
{
    char up[160] = "";
    if (step) put_path(up, sizeof up, step->up, step->field);
    if (step && step->i != SIZE_MAX)
        snprintf(to, n, "%s[%zu].%s", up, step->i, field->f->member);
    else
        snprintf(to, n, "%s%s%s", up, step ? "." : "", field->f->member);
}

/* A key attribute for a message, from the item or, when it can be made, from the struct. */
static void put_key(char *to, size_t n, const struct map_place *place, const struct map_key *key)
{
    sheaf_str s = {NULL, 0};
    uint8_t room[1024] __attribute__((aligned(16)));
    struct arena arena;
    arena_init_in(&arena, room, sizeof room, MAP_KEY_MAX * 32);
    struct key_text text;
    if (place->item)
        s = sheaf_item_str(place->item, key->attr);
    else if (place->object && key_render(&(struct ctx){&arena, NULL}, place->plan, key,
                                         place->object, KEY_WHOLE, NULL, &text) == SHEAF_OK)
        s = text.value.type == SHEAF_S ? sheaf_value_str(&text.value) : s;
    if (s.p)
        snprintf(to, n, "\"%.*s\"", s.n < 100 ? (int)s.n : 100, s.p);
    else
        snprintf(to, n, "(none)");
    arena_deinit(&arena);
}

sheaf_rc map_fail(struct ctx *c, const struct map_place *place, const struct map_field *field,
                  const char *format, ...)
{
    char path[160], pk[128], sk[128] = "", what[256];
    if (!c->err) return SHEAF_VALIDATION; /* also ends the recursion of put_key */
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    put_path(path, sizeof path, place->step, field);
    put_key(pk, sizeof pk, place, &place->plan->partition_key);
    if (place->plan->sort_key.attr) put_key(sk, sizeof sk, place, &place->plan->sort_key);
    return err_validation(c->err, "entity %s, field %s, item %s%s%s: %s", place->plan->entity->type,
                          path, pk, sk[0] ? " / " : "", sk, what);
}

/* ---- members ---- */

int64_t map_load_int(const void *p, size_t size)
{
    switch (size) {
    case 1:
        return *(const int8_t *)p;
    case 2:
        return *(const int16_t *)p;
    case 4:
        return *(const int32_t *)p;
    default:
        assert(size == 8);
        return *(const int64_t *)p;
    }
}

uint64_t map_load_uint(const void *p, size_t size)
{
    switch (size) {
    case 1:
        return *(const uint8_t *)p;
    case 2:
        return *(const uint16_t *)p;
    case 4:
        return *(const uint32_t *)p;
    default:
        assert(size == 8);
        return *(const uint64_t *)p;
    }
}

struct enc {
    struct ctx *c;
    const struct map_place *place;
    int depth;
};

static sheaf_rc value_of(const struct enc *e, const struct map_field *field, const void *object,
                         sheaf_value *out);

static sheaf_rc nomem(const struct enc *e) { return err_nomem(e->c->err); }

/* A copy of some text, NUL-terminated, as a value. */
static sheaf_rc text_value(const struct enc *e, sheaf_type type, const char *text, size_t n,
                           sheaf_value *out)
{
    uint8_t *p = arena_bytes(e->c->arena, n + 1);
    if (!p) return nomem(e);
    memcpy(p, text, n);
    p[n] = '\0';
    *out = sheaf_make_(type, p, type == SHEAF_N ? SIZE_MAX : n);
    return SHEAF_OK;
}

static void string_value(const struct map_field *field, const void *p, sheaf_value *out)
{
    const char *text;
    switch (field->f->rep) {
    case SHEAF_REP_CSTR:
        text = *(const char *const *)p;
        if (text) *out = sheaf_s(text);
        return;
    case SHEAF_REP_STR:
        if (((const sheaf_str *)p)->p)
            *out = sheaf_sn(((const sheaf_str *)p)->p, ((const sheaf_str *)p)->n);
        return;
    default:
        assert(field->f->rep == SHEAF_REP_CHARS);
        *out = sheaf_sn(p, strnlen(p, field->f->size));
    }
}

static sheaf_rc int_value(const struct enc *e, const struct map_field *field, const void *p,
                          size_t size, sheaf_value *out)
{
    char text[24];
    bool is_unsigned = (field->f->rep & ~(unsigned)SHEAF_REP_OPT) == SHEAF_REP_UINT;
    if (!is_unsigned || size < 8 || map_load_uint(p, size) <= INT64_MAX) {
        *out = sheaf_int(is_unsigned ? (int64_t)map_load_uint(p, size) : map_load_int(p, size));
        return SHEAF_OK;
    }
    int n = snprintf(text, sizeof text, "%llu", (unsigned long long)map_load_uint(p, size));
    return text_value(e, SHEAF_N, text, (size_t)n, out);
}

static sheaf_rc double_value(const struct enc *e, const struct map_field *field, double d,
                             sheaf_value *out)
{
    char text[40];
    if (d == floor(d) && fabs(d) < 9007199254740992.0) {
        *out = sheaf_int((int64_t)d);
        return SHEAF_OK;
    }
    if (!isfinite(d) || fabs(d) > 9.9999999999999999e125 || fabs(d) < 1e-130)
        return map_fail(e->c, e->place, field, "%g is not a number that an item can hold", d);
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) { /* the shortest that reads back the same */
        n = snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d) break;
    }
    return text_value(e, SHEAF_N, text, (size_t)n, out);
}

static sheaf_rc enum_value(const struct enc *e, const struct map_field *field, const void *p,
                           sheaf_value *out)
{
    const char *const *names = field->f->aux;
    int64_t i = field->f->rep == SHEAF_REP_UINT ? (int64_t)map_load_uint(p, field->f->size)
                                                : map_load_int(p, field->f->size);
    if (i < 0 || (uint64_t)i >= field->f->n_aux || !names[i])
        return map_fail(e->c, e->place, field, "%lld has no name", (long long)i);
    *out = sheaf_s(names[i]);
    return SHEAF_OK;
}

static sheaf_rc time_value(const struct enc *e, const struct map_field *field, int64_t us,
                           sheaf_value *out)
{
    char text[MAP_TIME_TEXT];
    if (!map_time_format(us, text))
        return map_fail(e->c, e->place, field, "the time is not in the years 0 to 9999");
    return text_value(e, SHEAF_S, text, sizeof text, out);
}

static int64_t seconds(int64_t us) { return us / 1000000 - (us % 1000000 < 0); }

/* ---- documents ---- */

/* One level deeper, with the way to it for messages. */
static sheaf_rc go_in(const struct enc *e, const struct map_field *field, size_t i,
                      struct map_step *step, struct map_place *place, struct enc *in)
{
    *step = (struct map_step){e->place->step, field, i};
    *place = *e->place;
    place->step = step;
    *in = (struct enc){e->c, place, e->depth + 1};
    if (in->depth >= MAP_NEST_MAX)
        return map_fail(e->c, e->place, field, "nested deeper than %d levels", MAP_NEST_MAX);
    return SHEAF_OK;
}

static sheaf_rc add_extra(const struct enc *e, const struct map_shape *shape, const void *object,
                          sheaf_attr *attrs, size_t *n)
{
    const sheaf_item *extra = *(const sheaf_item *const *)map_at(object, shape->extra);
    for (size_t i = 0; i < sheaf_item_count(extra); i++) {
        if (!sheaf_item_at(extra, i, &attrs[*n])) return nomem(e);
        const char *name = attrs[*n].name;
        if (!map_field_stored(shape, name, strlen(name))) ++*n;
    }
    return SHEAF_OK;
}

static size_t extra_count(const struct map_shape *shape, const void *object)
{
    const sheaf_item *extra =
        shape->extra ? *(const sheaf_item *const *)map_at(object, shape->extra) : NULL;
    return extra ? sheaf_item_count(extra) : 0;
}

/* The fields of one struct behind the attributes that are there already. */
static sheaf_rc add_fields(const struct enc *e, const struct map_shape *shape, const void *object,
                           sheaf_attr *attrs, size_t *n)
{
    for (size_t i = 0; i < shape->n_fields; i++) {
        const struct map_field *f = &shape->fields[i];
        if (f->f->kind == SHEAF_IS_EXTRA) continue;
        TRY(value_of(e, f, object, &attrs[*n].value));
        attrs[*n].name = f->attr;
        *n += attrs[*n].value.type != SHEAF_NONE;
    }
    return extra_count(shape, object) ? add_extra(e, shape, object, attrs, n) : SHEAF_OK;
}

static sheaf_rc struct_value(const struct enc *e, const struct map_field *field, size_t i,
                             const void *object, sheaf_value *out)
{
    struct map_step step;
    struct map_place place;
    struct enc in;
    const struct map_shape *shape = field->shape;
    TRY(go_in(e, field, i, &step, &place, &in));
    sheaf_attr *attrs =
        ARENA_ARRAY(e->c->arena, sheaf_attr, shape->n_fields + extra_count(shape, object) + 1);
    sheaf_item *item = ARENA_NEW(e->c->arena, sheaf_item);
    if (!attrs || !item) return nomem(e);
    TRY(add_fields(&in, shape, object, attrs, &item->n));
    item->attrs = attrs;
    *out = sheaf_m(item);
    return SHEAF_OK;
}

static sheaf_rc map_of_strings(const struct enc *e, const struct map_field *field,
                               const struct sheaf_pair *pairs, size_t n, sheaf_value *out)
{
    sheaf_attr *attrs = ARENA_ARRAY(e->c->arena, sheaf_attr, n + 1);
    sheaf_item *item = ARENA_NEW(e->c->arena, sheaf_item);
    if (!attrs || !item) return nomem(e);
    for (size_t i = 0; i < n; i++) {
        if (!pairs[i].name || !pairs[i].value)
            return map_fail(e->c, e->place, field, "the name or the value of pair %zu is NULL", i);
        attrs[i] = (sheaf_attr){pairs[i].name, sheaf_s(pairs[i].value)};
    }
    *item = (sheaf_item){attrs, n, NULL};
    *out = sheaf_m(item);
    return SHEAF_OK;
}

static sheaf_rc member_value(const struct enc *e, const struct map_field *field, const void *p,
                             size_t i, sheaf_value *out)
{
    struct sheaf_span s;
    const char *text;
    switch (field->f->kind) {
    case SHEAF_IS_LIST:
        return struct_value(e, field, i, (const uint8_t *)p + i * field->f->item_size, out);
    case SHEAF_IS_INTSET:
        *out = sheaf_int(((const int64_t *)p)[i]);
        return SHEAF_OK;
    case SHEAF_IS_BYTESET:
        s = ((const struct sheaf_span *)p)[i];
        *out = sheaf_b(s.p ? s.p : "", s.n);
        return SHEAF_OK;
    default:
        text = ((const char *const *)p)[i];
        if (!text) return map_fail(e->c, e->place, field, "text %zu is NULL", i);
        *out = sheaf_s(text);
        return SHEAF_OK;
    }
}

/* A pointer and a count. No pointer: absent. An empty set: absent too, for items have none. */
static sheaf_rc many_value(const struct enc *e, const struct map_field *field, const void *object,
                           sheaf_value *out)
{
    const void *p = *(const void *const *)map_at(object, field);
    size_t n = *(const size_t *)((const uint8_t *)object + field->f->count_offset);
    sheaf_type type = map_many_type(field->f->kind);
    if (!p && n) return map_fail(e->c, e->place, field, "the count is %zu, the pointer NULL", n);
    if (!p || (n == 0 && type != SHEAF_L)) return SHEAF_OK;
    if (field->f->kind == SHEAF_IS_MAP) return map_of_strings(e, field, p, n, out);
    sheaf_value *values = ARENA_ARRAY(e->c->arena, sheaf_value, n + 1);
    sheaf_list *list = ARENA_NEW(e->c->arena, sheaf_list);
    if (!values || !list) return nomem(e);
    for (size_t i = 0; i < n; i++) TRY(member_value(e, field, p, i, &values[i]));
    *list = (sheaf_list){values, n, NULL};
    *out = sheaf_make_(type, list, 0);
    return SHEAF_OK;
}

/* ---- any field ---- */

static sheaf_rc scalar_value(const struct enc *e, const struct map_field *field, const void *p,
                             sheaf_value *out)
{
    const sheaf_field *f = field->f;
    switch (f->kind) {
    case SHEAF_IS_INT:
    case SHEAF_IS_VERSION:
    case SHEAF_IS_COUNTER:
        return int_value(e, field, p, f->rep & SHEAF_REP_OPT ? f->item_size : f->size, out);
    case SHEAF_IS_DOUBLE:
        return double_value(e, field, *(const double *)p, out);
    case SHEAF_IS_BOOL:
        *out = sheaf_bool(*(const bool *)p);
        return SHEAF_OK;
    case SHEAF_IS_TIME:
    case SHEAF_IS_CREATED:
    case SHEAF_IS_UPDATED:
        return time_value(e, field, ((const sheaf_time *)p)->us, out);
    case SHEAF_IS_TTL:
        if (((const sheaf_time *)p)->us == 0 && !(f->rep & SHEAF_REP_OPT)) return SHEAF_OK;
        /* fall through */
    case SHEAF_IS_EPOCH:
        *out = sheaf_int(seconds(((const sheaf_time *)p)->us));
        return SHEAF_OK;
    case SHEAF_IS_NEST:
        return struct_value(e, field, SIZE_MAX, p, out);
    default:
        return many_value(e, field, (const uint8_t *)p - f->offset, out);
    }
}

static sheaf_rc value_of(const struct enc *e, const struct map_field *field, const void *object,
                         sheaf_value *out)
{
    const void *p = map_at(object, field);
    *out = sheaf_make_(SHEAF_NONE, NULL, 0);
    switch (field->f->kind) {
    case SHEAF_IS_STR:
        string_value(field, p, out);
        return SHEAF_OK;
    case SHEAF_IS_ULID:
    case SHEAF_IS_KSUID:
    case SHEAF_IS_UUID:
        if (*(const char *)p) string_value(field, p, out);
        return SHEAF_OK;
    case SHEAF_IS_DECIMAL:
        if (*(const char *const *)p) *out = sheaf_n(*(const char *const *)p);
        return SHEAF_OK;
    case SHEAF_IS_BYTES:
        if (((const struct sheaf_span *)p)->p)
            *out = sheaf_b(((const struct sheaf_span *)p)->p, ((const struct sheaf_span *)p)->n);
        return SHEAF_OK;
    case SHEAF_IS_ENUM:
        return enum_value(e, field, p, out);
    default:
        if (field->f->rep & SHEAF_REP_OPT) p = *(const void *const *)p;
        return p ? scalar_value(e, field, p, out) : SHEAF_OK;
    }
}

sheaf_rc map_value_of(struct ctx *c, const struct map_place *place, const struct map_field *field,
                      const void *object, sheaf_value *out)
{
    return value_of(&(struct enc){c, place, 0}, field, object, out);
}

/* ---- keys and the whole ---- */

static sheaf_rc missing(struct ctx *c, const struct map_plan *plan, const struct map_key *key,
                        const struct key_text *text)
{
    const struct map_field *f = text->missing ? text->missing : key->field;
    return err_validation(c->err, "entity %s, key %s: field %s has no value%s%s",
                          plan->entity->type, key->attr, f ? f->f->member : "?",
                          key->template_ ? " for template " : "",
                          key->template_ ? key->template_->text : "");
}

static sheaf_rc table_key(struct ctx *c, const struct map_plan *plan, const struct map_key *key,
                          const void *object, sheaf_attr *out)
{
    struct key_text text;
    TRY(key_render(c, plan, key, object, KEY_WHOLE, NULL, &text));
    if (text.value.type == SHEAF_NONE) return missing(c, plan, key, &text);
    *out = (sheaf_attr){key->attr, text.value};
    return SHEAF_OK;
}

sheaf_rc map_encode_key(struct ctx *c, const struct map_plan *plan, const void *object,
                        sheaf_item *out)
{
    sheaf_attr *attrs = ARENA_ARRAY(c->arena, sheaf_attr, 2);
    if (!attrs) return err_nomem(c->err);
    TRY(table_key(c, plan, &plan->partition_key, object, &attrs[0]));
    if (plan->sort_key.attr) TRY(table_key(c, plan, &plan->sort_key, object, &attrs[1]));
    *out = (sheaf_item){attrs, plan->sort_key.attr ? 2 : 1, NULL};
    return SHEAF_OK;
}

static sheaf_rc add_keys(struct ctx *c, const struct map_plan *plan, const void *object,
                         sheaf_attr *attrs, size_t *n)
{
    for (size_t i = 0; i < plan->n_templates; i++) {
        struct map_key key = {plan->templates[i].attr, &plan->templates[i], NULL};
        struct key_text text;
        TRY(key_render(c, plan, &key, object, KEY_WHOLE, NULL, &text));
        if (text.value.type != SHEAF_NONE)
            attrs[(*n)++] = (sheaf_attr){key.attr, text.value};
        else if (plan->templates[i].is_table_key)
            return missing(c, plan, &key, &text);
    }
    return SHEAF_OK;
}

/* A field that is itself a key of the table must have a value. */
static sheaf_rc need_key_field(struct ctx *c, const struct map_plan *plan,
                               const struct map_key *key, const void *object)
{
    sheaf_attr unused;
    return key->field ? table_key(c, plan, key, object, &unused) : SHEAF_OK;
}

sheaf_rc map_encode(struct ctx *c, const sheaf_map *map, const struct map_plan *plan,
                    const void *object, sheaf_item *out)
{
    struct map_place place = {.plan = plan, .object = object};
    struct enc e = {c, &place, 0};
    const struct map_shape *s = &plan->shape;
    size_t n = 0, n_max = s->n_fields + plan->n_templates + extra_count(s, object) + 2;
    sheaf_attr *attrs = arena_alloc(c->arena, n_max * sizeof *attrs);
    if (!attrs) return err_nomem(c->err);
    TRY(add_keys(c, plan, object, attrs, &n));
    TRY(need_key_field(c, plan, &plan->partition_key, object));
    TRY(need_key_field(c, plan, &plan->sort_key, object));
    attrs[n++] = (sheaf_attr){map->discriminator, sheaf_s(plan->entity->type)};
    TRY(add_fields(&e, s, object, attrs, &n));
    assert(n <= n_max);
    *out = (sheaf_item){attrs, n, NULL};
    return SHEAF_OK;
}
