/* Turns items into structs. Texts, bytes and extra attributes point into the item; lists and nested
 * structs are made in the arena. Know before editing: an item that was read has its attributes in
 * the order of their names, and so has a plan, so that looking up is one comparison most times. */
#include "mapper/plan.h"

#include <assert.h>

struct dec {
    struct ctx *c;
    const struct map_place *place;
    int depth;
    uint64_t *seen; /* of the whole struct: a bit for each of its first 64 fields; NULL: nested */
};

static const char *type_name(sheaf_type t)
{
    static const char *const names[] = {"nothing", "S", "N",  "B",  "BOOL", "NULL",
                                        "M",       "L", "SS", "NS", "BS"};
    return (size_t)t < sizeof names / sizeof *names ? names[t] : "unknown";
}

static sheaf_rc nomem(const struct dec *d) { return err_nomem(d->c->err); }

static sheaf_rc need(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                     sheaf_type type)
{
    if (v->type == type) return SHEAF_OK;
    return map_fail(d->c, d->place, f, "attribute \"%s\" is of type %s, not %s", f->attr,
                    type_name(v->type), type_name(type));
}

static void *at(void *object, const struct map_field *f)
{
    return (uint8_t *)object + f->f->offset;
}

/* Where a scalar goes: the member, or what the optional pointer is made to point to. NULL: no
 * memory. */
static void *scalar_at(const struct dec *d, const struct map_field *f, void *object)
{
    if (!(f->f->rep & SHEAF_REP_OPT)) return at(object, f);
    void *to = arena_zalloc(d->c->arena, f->f->item_size);
    *(void **)at(object, f) = to;
    return to;
}

bool map_store_int(void *p, size_t size, bool is_unsigned, int64_t i)
{
    unsigned bits = (unsigned)size * 8;
    bool fits = is_unsigned ? i >= 0 && (bits == 64 || i >> bits == 0)
                            : bits == 64 || (i >= -(INT64_C(1) << (bits - 1)) &&
                                             i < INT64_C(1) << (bits - 1));
    if (!fits) return false;
    switch (size) {
    case 1:
        *(uint8_t *)p = (uint8_t)i;
        return true;
    case 2:
        *(uint16_t *)p = (uint16_t)i;
        return true;
    case 4:
        *(uint32_t *)p = (uint32_t)i;
        return true;
    default:
        assert(size == 8);
        *(uint64_t *)p = (uint64_t)i;
        return true;
    }
}

/* ---- texts ---- */

static sheaf_rc get_chars(const struct dec *d, const struct map_field *f, sheaf_str s, char *to)
{
    if (s.n >= f->f->size)
        return map_fail(d->c, d->place, f, "a text of %zu bytes does not fit into char[%u]", s.n,
                        f->f->size);
    memcpy(to, s.p, s.n);
    to[s.n] = '\0';
    return SHEAF_OK;
}

static sheaf_rc put_text(const struct dec *d, const struct map_field *f, sheaf_str s, void *to)
{
    if (f->f->rep == SHEAF_REP_STR) {
        *(sheaf_str *)to = s;
        return SHEAF_OK;
    }
    if (s.n && memchr(s.p, '\0', s.n))
        return map_fail(d->c, d->place, f, "the text holds a NUL byte: map it as sheaf_str");
    if (f->f->rep == SHEAF_REP_CHARS) return get_chars(d, f, s, to);
    *(const char **)to = s.p;
    return SHEAF_OK;
}

static sheaf_rc get_text(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                         void *to)
{
    TRY(need(d, f, v, SHEAF_S));
    return put_text(d, f, sheaf_value_str(v), to);
}

static sheaf_rc get_enum(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                         void *to)
{
    TRY(need(d, f, v, SHEAF_S));
    const char *const *names = f->f->aux;
    sheaf_str s = sheaf_value_str(v);
    for (size_t i = 0; i < f->f->n_aux; i++)
        if (names[i] && span_eq(span_cstr(names[i]), SPAN(s.p, s.n))) {
            if (map_store_int(to, f->f->size, f->f->rep == SHEAF_REP_UINT, (int64_t)i))
                return SHEAF_OK;
        }
    return map_fail(d->c, d->place, f, "\"%.*s\" is not one of its names",
                    (int)(s.n < 100 ? s.n : 100), s.p);
}

/* ---- numbers and times ---- */

static bool get_u64(const sheaf_value *v, uint64_t *out)
{
    sheaf_str s = sheaf_value_str(v);
    uint64_t n = 0;
    if (!s.p || s.n == 0 || s.n > 20) return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned)(s.p[i] - '0');
        if (digit > 9 || n > (UINT64_MAX - digit) / 10) return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

/* Most integers: the digits of one that surely fits. */
static bool get_small(const sheaf_value *v, int64_t *out)
{
    if (v->n == 0 || v->n > 18) return false;
    const char *p = v->u.p, *end = p + v->n;
    bool is_negative = *p == '-';
    int64_t i = 0;
    for (p += is_negative; p < end; p++) {
        if (*p < '0' || *p > '9') return false;
        i = i * 10 + (*p - '0');
    }
    *out = is_negative ? -i : i;
    return true;
}

static sheaf_rc get_int(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                        void *to)
{
    TRY(need(d, f, v, SHEAF_N));
    size_t size = f->f->rep & SHEAF_REP_OPT ? f->f->item_size : f->f->size;
    bool is_unsigned = (f->f->rep & ~(unsigned)SHEAF_REP_OPT) == SHEAF_REP_UINT;
    int64_t i;
    bool is_int = get_small(v, &i) || sheaf_value_i64(v, &i);
    if (is_int && map_store_int(to, size, is_unsigned, i)) return SHEAF_OK;
    if (is_unsigned && size == 8 && get_u64(v, to)) return SHEAF_OK;
    return map_fail(d->c, d->place, f, "%s is not %s integer of %zu bytes",
                    v->n == SHEAF_N_INT64_ ? "the number" : sheaf_value_str(v).p,
                    is_unsigned ? "an unsigned" : "an", size);
}

static sheaf_rc get_double(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                           double *to)
{
    TRY(need(d, f, v, SHEAF_N));
    if (sheaf_value_double(v, to, NULL)) return SHEAF_OK;
    return map_fail(d->c, d->place, f, "the number cannot be read");
}

static sheaf_rc get_decimal(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                            const char **to)
{
    TRY(need(d, f, v, SHEAF_N));
    *to = sheaf_value_str(v).p;
    return *to ? SHEAF_OK : map_fail(d->c, d->place, f, "the number cannot be read");
}

static sheaf_rc get_time(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                         sheaf_time *to)
{
    TRY(need(d, f, v, SHEAF_S));
    sheaf_str s = sheaf_value_str(v);
    if (map_time_parse(SPAN(s.p, s.n), &to->us)) return SHEAF_OK;
    return map_fail(d->c, d->place, f, "\"%.*s\" is no ISO-8601 time", (int)(s.n < 100 ? s.n : 100),
                    s.p);
}

static sheaf_rc get_epoch(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                          sheaf_time *to)
{
    int64_t s;
    TRY(need(d, f, v, SHEAF_N));
    if (sheaf_value_i64(v, &s) && !__builtin_mul_overflow(s, INT64_C(1000000), &to->us))
        return SHEAF_OK;
    return map_fail(d->c, d->place, f, "the number is not a time in whole seconds");
}

/* ---- documents ---- */

static sheaf_rc get_struct(const struct dec *d, const struct map_shape *shape,
                           const sheaf_item *item, void *object);

static sheaf_rc get_nested(const struct dec *d, const struct map_field *f, size_t i,
                           const sheaf_item *item, void *to)
{
    struct map_step step = {d->place->step, f, i};
    struct map_place place = *d->place;
    place.step = &step;
    struct dec in = {d->c, &place, d->depth + 1, NULL};
    if (in.depth >= MAP_NEST_MAX)
        return map_fail(d->c, d->place, f, "nested deeper than %d levels", MAP_NEST_MAX);
    return get_struct(&in, f->shape, item, to);
}

static sheaf_rc get_member(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                           size_t i, void *to)
{
    sheaf_str s;
    switch (f->f->kind) {
    case SHEAF_IS_LIST:
        TRY(need(d, f, v, SHEAF_M));
        return get_nested(d, f, i, v->u.map, to);
    case SHEAF_IS_INTSET:
        if (sheaf_value_i64(v, to)) return SHEAF_OK;
        return map_fail(d->c, d->place, f, "a number is not an integer of 8 bytes");
    case SHEAF_IS_BYTESET:
        *(struct sheaf_span *)to = SPAN(v->u.p, v->n);
        return SHEAF_OK;
    default:
        TRY(need(d, f, v, SHEAF_S));
        s = sheaf_value_str(v);
        if (s.n && memchr(s.p, '\0', s.n))
            return map_fail(d->c, d->place, f, "text %zu holds a NUL byte", i);
        *(const char **)to = s.p;
        return SHEAF_OK;
    }
}

static sheaf_rc get_many(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                         void *object)
{
    TRY(need(d, f, v, map_many_type(f->f->kind)));
    size_t n = sheaf_list_count(v->u.list), size = f->f->item_size;
    uint8_t *to = arena_zalloc_array(d->c->arena, n + 1, size); /* never NULL, even for none */
    if (!to) return nomem(d);
    for (size_t i = 0; i < n; i++) {
        sheaf_value member;
        if (!sheaf_list_at(v->u.list, i, &member)) return nomem(d);
        TRY(get_member(d, f, &member, i, to + i * size));
    }
    *(void **)at(object, f) = to;
    *(size_t *)((uint8_t *)object + f->f->count_offset) = n;
    return SHEAF_OK;
}

static sheaf_rc get_map(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                        void *object)
{
    TRY(need(d, f, v, SHEAF_M));
    size_t n = sheaf_item_count(v->u.map);
    struct sheaf_pair *pairs = ARENA_ARRAY(d->c->arena, struct sheaf_pair, n + 1);
    if (!pairs) return nomem(d);
    for (size_t i = 0; i < n; i++) {
        sheaf_attr a;
        if (!sheaf_item_at(v->u.map, i, &a)) return nomem(d);
        TRY(need(d, f, &a.value, SHEAF_S));
        sheaf_str s = sheaf_value_str(&a.value);
        if (s.n && memchr(s.p, '\0', s.n))
            return map_fail(d->c, d->place, f, "the value of \"%s\" holds a NUL byte", a.name);
        pairs[i] = (struct sheaf_pair){a.name, s.p};
    }
    *(struct sheaf_pair **)at(object, f) = pairs;
    *(size_t *)((uint8_t *)object + f->f->count_offset) = n;
    return SHEAF_OK;
}

/* ---- any field ---- */

static sheaf_rc get_scalar(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                           void *to)
{
    switch (f->f->kind) {
    case SHEAF_IS_INT:
    case SHEAF_IS_VERSION:
    case SHEAF_IS_COUNTER:
        return get_int(d, f, v, to);
    case SHEAF_IS_DOUBLE:
        return get_double(d, f, v, to);
    case SHEAF_IS_BOOL:
        TRY(need(d, f, v, SHEAF_BOOL));
        *(bool *)to = v->boolean;
        return SHEAF_OK;
    case SHEAF_IS_TIME:
    case SHEAF_IS_CREATED:
    case SHEAF_IS_UPDATED:
        return get_time(d, f, v, to);
    case SHEAF_IS_EPOCH:
    case SHEAF_IS_TTL:
        return get_epoch(d, f, v, to);
    default:
        assert(f->f->kind == SHEAF_IS_NEST);
        TRY(need(d, f, v, SHEAF_M));
        return get_nested(d, f, SIZE_MAX, v->u.map, to);
    }
}

static sheaf_rc get_field(const struct dec *d, const struct map_field *f, const sheaf_value *v,
                          void *object)
{
    void *to = at(object, f);
    if (v->type == SHEAF_NULL) return SHEAF_OK; /* as good as absent */
    switch (f->f->kind) {
    case SHEAF_IS_KEY:
        return SHEAF_OK;
    case SHEAF_IS_STR:
    case SHEAF_IS_ULID:
    case SHEAF_IS_KSUID:
    case SHEAF_IS_UUID:
        return get_text(d, f, v, to);
    case SHEAF_IS_DECIMAL:
        return get_decimal(d, f, v, to);
    case SHEAF_IS_BYTES:
        TRY(need(d, f, v, SHEAF_B));
        *(struct sheaf_span *)to = SPAN(v->u.p, v->n);
        return SHEAF_OK;
    case SHEAF_IS_ENUM:
        return get_enum(d, f, v, to);
    case SHEAF_IS_LIST:
    case SHEAF_IS_STRS:
    case SHEAF_IS_STRSET:
    case SHEAF_IS_INTSET:
    case SHEAF_IS_BYTESET:
        return get_many(d, f, v, object);
    case SHEAF_IS_MAP:
        return get_map(d, f, v, object);
    default:
        to = scalar_at(d, f, object);
        return to ? get_scalar(d, f, v, to) : nomem(d);
    }
}

/* The field of an attribute; *hint is where it is when names come in order. */
static const struct map_field *look_up(const struct map_shape *s, const char *name, size_t *hint)
{
    for (size_t i = *hint; i < s->n_by_attr && i < *hint + 2; i++)
        if (strcmp(s->by_attr[i]->attr, name) == 0) {
            *hint = i + 1;
            return s->by_attr[i];
        }
    return map_field_stored(s, name, strlen(name));
}

/* 0 for what is no field, or behind the 64th. */
static uint64_t bit_of(const struct map_shape *s, const struct map_field *f)
{
    if (f->f->kind == SHEAF_IS_KEY) return 0;
    size_t i = (size_t)(f - s->fields);
    return i < 64 ? UINT64_C(1) << i : 0;
}

static sheaf_rc add_extra(const struct dec *d, const sheaf_attr *a, size_t room, sheaf_item **extra)
{
    if (!*extra) {
        *extra = ARENA_NEW(d->c->arena, sheaf_item);
        if (!*extra) return nomem(d);
        (*extra)->attrs = ARENA_ARRAY(d->c->arena, sheaf_attr, room);
        if (!(*extra)->attrs) return nomem(d);
    }
    ((sheaf_attr *)(*extra)->attrs)[(*extra)->n++] = *a;
    return SHEAF_OK;
}

static sheaf_rc get_struct(const struct dec *d, const struct map_shape *shape,
                           const sheaf_item *item, void *object)
{
    size_t n = sheaf_item_count(item), hint = 0;
    sheaf_item *extra = NULL;
    for (size_t i = 0; i < n; i++) {
        sheaf_attr a;
        if (!sheaf_item_at(item, i, &a)) return nomem(d);
        const struct map_field *f = look_up(shape, a.name, &hint);
        if (f && d->seen) *d->seen |= bit_of(shape, f);
        if (f)
            TRY(get_field(d, f, &a.value, object));
        else if (shape->extra)
            TRY(add_extra(d, &a, n - i, &extra));
    }
    if (extra) *(const sheaf_item **)at(object, shape->extra) = extra;
    return SHEAF_OK;
}

/* ---- fields that are only in keys ---- */

static const char *without_zeros(const char *digits)
{
    while (digits[0] == '0' && digits[1]) digits++;
    return digits;
}

sheaf_rc map_decode_text(struct ctx *c, const struct map_place *place, const struct map_field *f,
                         span text, void *object)
{
    struct dec d = {c, place, 0, NULL};
    span plain = template_unescape(c->arena, text);
    if (!plain.p) return err_nomem(c->err);
    sheaf_value v = sheaf_sn(plain.p, plain.n);
    switch (f->f->kind) {
    case SHEAF_IS_INT:
    case SHEAF_IS_VERSION:
    case SHEAF_IS_EPOCH:
    case SHEAF_IS_TTL:
    case SHEAF_IS_DECIMAL:
        v = sheaf_n(without_zeros(plain.p));
        break;
    case SHEAF_IS_BOOL:
        v = sheaf_bool(span_eq(plain, SPAN_LIT("true")));
        break;
    default:
        break;
    }
    return get_field(&d, f, &v, object);
}

static bool determines(const struct map_part *part)
{
    return part->field && (!part->time_len || part->time_len == MAP_TIME_TEXT);
}

/* A projection may leave out an attribute whose value the keys tell. */
static sheaf_rc recover(struct ctx *c, const struct map_place *place, uint64_t seen, void *object)
{
    for (size_t k = 0; k < place->plan->n_templates; k++) {
        const struct map_template *t = &place->plan->templates[k];
        sheaf_str key = {NULL, 0};
        for (size_t i = 0; i < t->n_parts; i++) {
            const struct map_field *f = t->parts[i].field;
            span text;
            if (!determines(&t->parts[i]) || (bit_of(&place->plan->shape, f) & seen) ||
                sheaf_item_type(place->item, f->attr) != SHEAF_NONE)
                continue;
            if (!key.p) key = sheaf_item_str(place->item, t->attr);
            if (!key.p || !template_match(t, SPAN(key.p, key.n), i, &text)) break;
            TRY(map_decode_text(c, place, f, text, object));
        }
    }
    return SHEAF_OK;
}

sheaf_rc map_decode(struct ctx *c, const struct map_plan *plan, const sheaf_item *item,
                    void *object)
{
    struct map_place place = {.plan = plan, .item = item};
    uint64_t seen = 0;
    TRY(get_struct(&(struct dec){c, &place, 0, &seen}, &plan->shape, item, object));
    return recover(c, &place, seen, object);
}
