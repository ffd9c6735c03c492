/* Turns encoded values into what C programs read: NUL-terminated strings, digits, nested items.
 * Know before editing: every entry is converted once and kept, so that a getter called in a loop
 * gives the same pointer and takes no more memory. */
#include "api/api.h"

#include <assert.h>

struct api_view *api_view_new(struct arena *arena, val v)
{
    struct api_view *view = ARENA_NEW(arena, struct api_view);
    if (!view) return NULL;
    view->v = v;
    view->arena = arena;
    view->item.impl_ = view->list.impl_ = view;
    view->item.n = view->list.n = val_count(v);
    return view;
}

const sheaf_item *api_item_view(struct arena *arena, span item)
{
    if (!item.p) return NULL;
    struct api_view *view = api_view_new(arena, item_map(item));
    return view ? &view->item : NULL;
}

static const char *terminated(struct arena *arena, span s)
{
    uint8_t *p = arena_bytes(arena, s.n + 1);
    if (!p) return NULL;
    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (const char *)p;
}

static bool set_bytes(struct arena *arena, sheaf_type type, span s, sheaf_value *out)
{
    *out = sheaf_make_(type, terminated(arena, s), s.n);
    return out->u.p != NULL;
}

static bool set_number(struct arena *arena, span enc, sheaf_value *out)
{
    char text[NUM_TEXT_MAX];
    return set_bytes(arena, SHEAF_N, SPAN(text, num_format_encoded(enc, text)), out);
}

static bool set_box(struct arena *arena, val v, sheaf_value *out)
{
    struct api_view *view = api_view_new(arena, v);
    if (!view) return false;
    *out = sheaf_make_((sheaf_type)val_type(v), NULL, 0);
    if (val_type(v) == VAL_M)
        out->u.map = &view->item;
    else
        out->u.list = &view->list;
    return true;
}

static bool convert(struct arena *arena, val v, sheaf_value *out)
{
    switch (val_type(v)) {
    case VAL_S:
        return set_bytes(arena, SHEAF_S, val_bytes(v), out);
    case VAL_B:
        return set_bytes(arena, SHEAF_B, val_bytes(v), out);
    case VAL_N:
        return set_number(arena, val_bytes(v), out);
    case VAL_BOOL:
        *out = sheaf_bool(val_bool(v));
        return true;
    case VAL_NULL:
        *out = sheaf_null();
        return true;
    default:
        return set_box(arena, v, out);
    }
}

bool api_copy_value(struct arena *arena, val v, sheaf_value *out)
{
    if (val_type(v) < VAL_M) return convert(arena, v, out);
    span bytes = arena_dup(arena, SPAN(v.p, v.n)); /* a container's view borrows its bytes */
    return bytes.p && convert(arena, (val){bytes.p, (uint32_t)bytes.n}, out);
}

static bool convert_member(struct arena *arena, val set, uint32_t i, sheaf_value *out)
{
    span member = val_member_at(set, i);
    switch (val_type(set)) {
    case VAL_SS:
        return set_bytes(arena, SHEAF_S, member, out);
    case VAL_NS:
        return set_number(arena, member, out);
    default:
        return set_bytes(arena, SHEAF_B, member, out);
    }
}

/* The i-th entry, converted when it is asked for first; NULL when memory is out. */
static const sheaf_attr *entry(const struct api_view *const_view, uint32_t i)
{
    struct api_view *view = (struct api_view *)const_view; /* the cache is not part of its value */
    if (!view->cache) view->cache = ARENA_ARRAY(view->arena, sheaf_attr, val_count(view->v));
    if (!view->cache) return NULL;
    sheaf_attr *a = &view->cache[i];
    if (a->value.type != SHEAF_NONE) return a;
    sheaf_value v;
    enum val_type t = val_type(view->v);
    if (t == VAL_M) a->name = terminated(view->arena, val_name_at(view->v, i));
    if (t == VAL_M && !a->name) return NULL;
    bool is_done = t == VAL_M || t == VAL_L ? convert(view->arena, val_at(view->v, i), &v)
                                            : convert_member(view->arena, view->v, i, &v);
    if (!is_done) return NULL;
    a->value = v;
    return a;
}

/* ---- any item: a view, a literal or a built one ---- */

static const sheaf_value *find(const sheaf_item *item, const char *name)
{
    if (!item || !name) return NULL;
    const struct api_view *view = item->impl_;
    if (view) {
        uint32_t i;
        if (!val_find_index(view->v, span_cstr(name), &i)) return NULL;
        const sheaf_attr *a = entry(view, i);
        return a ? &a->value : NULL;
    }
    for (size_t i = 0; item->attrs && i < item->n; i++)
        if (item->attrs[i].name && strcmp(item->attrs[i].name, name) == 0)
            return &item->attrs[i].value;
    return NULL;
}

sheaf_type sheaf_item_type(const sheaf_item *item, const char *name)
{
    if (item && item->impl_ && name) { /* without converting it */
        const struct api_view *view = item->impl_;
        return (sheaf_type)val_type(val_find(view->v, span_cstr(name)));
    }
    const sheaf_value *v = find(item, name);
    return v ? v->type : SHEAF_NONE;
}

bool sheaf_item_get(const sheaf_item *item, const char *name, sheaf_value *value_out)
{
    const sheaf_value *v = find(item, name);
    *value_out = v ? *v : sheaf_make_(SHEAF_NONE, NULL, 0);
    return v != NULL;
}

/* S, N and B as bytes; an int64 literal has none. */
static sheaf_str bytes_of(const sheaf_value *v)
{
    if (!v || v->type < SHEAF_S || v->type > SHEAF_B || v->n == SHEAF_N_INT64_ || !v->u.p)
        return (sheaf_str){NULL, 0};
    const char *p = v->u.p;
    return (sheaf_str){p, v->n == SIZE_MAX ? strlen(p) : v->n};
}

sheaf_str sheaf_item_str(const sheaf_item *item, const char *name)
{
    const sheaf_value *v = find(item, name);
    return v && v->type == SHEAF_S ? bytes_of(v) : (sheaf_str){NULL, 0};
}

const char *sheaf_item_s(const sheaf_item *item, const char *name)
{
    sheaf_str s = sheaf_item_str(item, name);
    return s.p && memchr(s.p, '\0', s.n) == NULL ? s.p : NULL;
}

const char *sheaf_item_n(const sheaf_item *item, const char *name)
{
    const sheaf_value *v = find(item, name);
    return v && v->type == SHEAF_N ? bytes_of(v).p : NULL;
}

struct sheaf_span sheaf_item_b(const sheaf_item *item, const char *name)
{
    const sheaf_value *v = find(item, name);
    sheaf_str s = v && v->type == SHEAF_B ? bytes_of(v) : (sheaf_str){NULL, 0};
    return SPAN(s.p, s.n);
}

bool sheaf_item_bool(const sheaf_item *item, const char *name, bool *out)
{
    const sheaf_value *v = find(item, name);
    *out = v && v->type == SHEAF_BOOL && v->boolean;
    return v && v->type == SHEAF_BOOL;
}

const sheaf_item *sheaf_item_m(const sheaf_item *item, const char *name)
{
    const sheaf_value *v = find(item, name);
    return v && v->type == SHEAF_M ? v->u.map : NULL;
}

const sheaf_list *sheaf_item_l(const sheaf_item *item, const char *name)
{
    const sheaf_value *v = find(item, name);
    return v && v->type >= SHEAF_L ? v->u.list : NULL;
}

size_t sheaf_item_count(const sheaf_item *item) { return item ? item->n : 0; }

bool sheaf_item_at(const sheaf_item *item, size_t i, sheaf_attr *attr_out)
{
    *attr_out = (sheaf_attr){NULL, sheaf_make_(SHEAF_NONE, NULL, 0)};
    if (!item || i >= item->n || (!item->impl_ && !item->attrs)) return false;
    const sheaf_attr *a = item->impl_ ? entry(item->impl_, (uint32_t)i) : &item->attrs[i];
    if (a) *attr_out = *a;
    return a != NULL;
}

size_t sheaf_list_count(const sheaf_list *list) { return list ? list->n : 0; }

bool sheaf_list_at(const sheaf_list *list, size_t i, sheaf_value *value_out)
{
    *value_out = sheaf_make_(SHEAF_NONE, NULL, 0);
    if (!list || i >= list->n || (!list->impl_ && !list->values)) return false;
    if (!list->impl_) {
        *value_out = list->values[i];
        return true;
    }
    const sheaf_attr *a = entry(list->impl_, (uint32_t)i);
    if (a) *value_out = a->value;
    return a != NULL;
}

/* ---- values ---- */

sheaf_str sheaf_value_str(const sheaf_value *v) { return bytes_of(v); }

static bool number_of(const sheaf_value *v, struct num *out)
{
    if (!v || v->type != SHEAF_N) return false;
    if (v->n == SHEAF_N_INT64_) {
        num_from_i64(v->u.i64, out);
        return true;
    }
    sheaf_str s = bytes_of(v);
    return s.p && num_parse(SPAN(s.p, s.n), out, NULL) == SHEAF_OK;
}

bool sheaf_value_i64(const sheaf_value *v, int64_t *out)
{
    struct num n;
    *out = 0;
    return number_of(v, &n) && num_to_i64(&n, out);
}

bool sheaf_value_double(const sheaf_value *v, double *out, bool *is_exact_out)
{
    struct num n;
    *out = 0;
    if (is_exact_out) *is_exact_out = false;
    if (!number_of(v, &n)) return false;
    *out = num_to_double(&n, is_exact_out);
    return true;
}

bool sheaf_item_i64(const sheaf_item *item, const char *name, int64_t *out)
{
    return sheaf_value_i64(find(item, name), out);
}

bool sheaf_item_double(const sheaf_item *item, const char *name, double *out, bool *is_exact_out)
{
    return sheaf_value_double(find(item, name), out, is_exact_out);
}
