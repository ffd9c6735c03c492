/* Turns literals, built items and read items into encoded ones. Know before editing: a literal may
 * be anything a C program can write, so nothing here believes a pointer more than C does, and
 * nesting is bounded by the builder. */
#include "api/api.h"
#include "value/flat.h"

#include <assert.h>

static const char item_too_large[] = "Item size has exceeded the maximum allowed size";

static void refuse(struct vb *b, const char *message)
{
    vb_fail(b, err_validation(b->ctx->err, "%s", message));
}

static const char empty_value[] = "Supplied AttributeValue is empty, must contain exactly one of "
                                  "the supported datatypes";

static void put_list(struct vb *b, const sheaf_list *list)
{
    if (list && list->n && !list->values) {
        refuse(b, "A list's values are NULL, but its n is not 0");
        return;
    }
    for (size_t i = 0; list && i < list->n && b->rc == SHEAF_OK; i++)
        api_put_value(b, &list->values[i]);
}

/* The builder takes a member of another type for a mistake of ours. */
static void put_set(struct vb *b, sheaf_type type, const sheaf_list *list)
{
    sheaf_type member = type == SHEAF_SS ? SHEAF_S : type == SHEAF_NS ? SHEAF_N : SHEAF_B;
    for (size_t i = 0; list && list->values && i < list->n; i++)
        if (list->values[i].type != member) {
            vb_fail(b, err_validation(b->ctx->err,
                                      "One or more parameter values were invalid: A set of type "
                                      "%s may contain members of type %s only",
                                      val_type_name((enum val_type)type),
                                      val_type_name((enum val_type)member)));
            return;
        }
    vb_set_begin(b, (enum val_type)type);
    put_list(b, list);
}

static void put_map(struct vb *b, const sheaf_item *item)
{
    vb_map_begin(b);
    if (item && item->n && !item->attrs) {
        refuse(b, "An item's attrs are NULL, but its n is not 0");
        return;
    }
    for (size_t i = 0; item && i < item->n && b->rc == SHEAF_OK; i++) {
        const sheaf_attr *a = &item->attrs[i];
        if (!a->name) {
            refuse(b, "An attribute has no name (NULL)");
            return;
        }
        vb_name(b, span_cstr(a->name));
        api_put_value(b, &a->value);
    }
    vb_end(b);
}

static void put_bytes(struct vb *b, const sheaf_value *v)
{
    bool is_int = v->type == SHEAF_N && v->n == SHEAF_N_INT64_;
    if (!is_int && !v->u.p && v->n != 0) {
        refuse(b, empty_value);
        return;
    }
    span s = SPAN(is_int ? NULL : v->u.p, is_int ? 0 : v->n);
    if (v->n == SIZE_MAX) s = span_cstr(v->u.p);
    if (s.n > API_ITEM_BYTES_MAX) { /* also a length that no memory can have */
        refuse(b, item_too_large);
        return;
    }
    if (v->type == SHEAF_S) vb_s(b, s);
    if (v->type == SHEAF_B) vb_b(b, s);
    if (v->type != SHEAF_N) return;
    if (!is_int) {
        vb_n_text(b, s);
        return;
    }
    struct num n;
    num_from_i64(v->u.i64, &n);
    vb_n(b, &n);
}

/* A map, list or set that was read is copied as it is. */
static const struct api_view *view_of(const sheaf_value *v)
{
    if (v->type == SHEAF_M) return v->u.map ? v->u.map->impl_ : NULL;
    return v->u.list ? v->u.list->impl_ : NULL;
}

static void put_box(struct vb *b, const sheaf_value *v)
{
    const struct api_view *view = view_of(v);
    if (view && val_type(view->v) != (enum val_type)v->type) {
        vb_fail(b, err_validation(b->ctx->err,
                                  "One or more parameter values were invalid: A value that was "
                                  "read as %s cannot be written as %s",
                                  val_type_name(val_type(view->v)),
                                  val_type_name((enum val_type)v->type)));
        return;
    }
    if (view) {
        vb_raw(b, view->v);
        return;
    }
    if (v->type == SHEAF_M) {
        put_map(b, v->u.map);
        return;
    }
    if (v->type == SHEAF_L) {
        vb_list_begin(b);
        put_list(b, v->u.list);
    } else {
        put_set(b, v->type, v->u.list);
    }
    vb_end(b);
}

void api_put_value(struct vb *b, const sheaf_value *v)
{
    switch (v->type) {
    case SHEAF_S:
    case SHEAF_N:
    case SHEAF_B:
        put_bytes(b, v);
        return;
    case SHEAF_BOOL:
        vb_bool(b, v->boolean);
        return;
    case SHEAF_NULL:
        vb_null(b);
        return;
    case SHEAF_M:
    case SHEAF_L:
    case SHEAF_SS:
    case SHEAF_NS:
    case SHEAF_BS:
        put_box(b, v);
        return;
    default:
        refuse(b, empty_value);
    }
}

/* ---- literals of a few scalars ---- */

struct flat {
    struct flat_attr attrs[FLAT_MAX];
    uint8_t numbers[FLAT_MAX][NUM_ENC_MAX];
};

/* False: not of those, or wrong in a way that the builder explains. */
static bool take_scalar(const sheaf_value *v, uint8_t number[NUM_ENC_MAX], struct flat_attr *out)
{
    struct num n;
    if (v->type < SHEAF_S || v->type > SHEAF_B) return false;
    out->type = (enum val_type)v->type;
    if (v->type == SHEAF_N && v->n == SHEAF_N_INT64_) {
        num_from_i64(v->u.i64, &n);
        out->bytes = SPAN(number, num_encode(&n, number));
        return true;
    }
    if (!v->u.p && v->n != 0) return false;
    span s = v->n == SIZE_MAX ? span_cstr(v->u.p) : SPAN(v->u.p, v->n);
    out->bytes = s;
    if (v->type != SHEAF_N) return true;
    if (s.n > API_ITEM_BYTES_MAX || num_parse(s, &n, NULL) != SHEAF_OK) return false;
    out->bytes = SPAN(number, num_encode(&n, number));
    return true;
}

static bool encode_flat(struct ctx *c, const sheaf_item *item, span *item_out)
{
    struct flat f; /* members are set when they are used */
    if (!item->attrs || item->n == 0 || item->n > FLAT_MAX) return false;
    for (size_t i = 0; i < item->n; i++) {
        const sheaf_attr *a = &item->attrs[i];
        if (!a->name || !take_scalar(&a->value, f.numbers[i], &f.attrs[i])) return false;
        f.attrs[i].name = span_cstr(a->name);
    }
    return flat_encode(c->arena, f.attrs, (uint32_t)item->n, item_out);
}

static sheaf_rc encode_any(struct ctx *c, const sheaf_item *item, span *item_out)
{
    struct vb b;
    vb_init(&b, c, API_ITEM_BYTES_MAX);
    const struct api_view *view = item->impl_;
    if (view)
        vb_raw(&b, view->v);
    else
        put_map(&b, item);
    sheaf_rc rc = vb_finish_item(&b, item_out);
    /* Over the builder's ceiling: the service's words, whatever the memory would have said. */
    bool is_over = b.size > LIMIT_ITEM_BYTES || b.out.n > API_ITEM_BYTES_MAX / 2;
    return rc == SHEAF_NOMEM && is_over ? err_validation(c->err, "%s", item_too_large) : rc;
}

sheaf_rc api_encode_item(struct ctx *c, const sheaf_item *item, const char *what, span *item_out)
{
    *item_out = SPAN_NONE;
    if (!item)
        return err_validation(c->err,
                              "1 validation error detected: Value null at '%s' failed to satisfy "
                              "constraint: Member must not be null",
                              what);
    if (!item->impl_ && encode_flat(c, item, item_out)) return SHEAF_OK;
    return encode_any(c, item, item_out);
}

/* ---- expressions' placeholders ---- */

static uint32_t count_names(const struct sheaf_name *names)
{
    uint32_t n = 0;
    while (names && names[n].placeholder) n++;
    return n;
}

sheaf_rc api_env(struct ctx *c, const struct sheaf_name *names, const sheaf_item *values,
                 struct expr_env **env_out)
{
    struct expr_env *env = ARENA_NEW(c->arena, struct expr_env);
    span item = SPAN_NONE;
    if (values) TRY(api_encode_item(c, values, "expressionAttributeValues", &item));
    uint32_t n_names = count_names(names);
    uint32_t n_values = values ? val_count(item_map(item)) : 0;
    if (!env) return err_nomem(c->err);
    if (n_names) env->names = ARENA_ARRAY(c->arena, struct expr_name, n_names);
    if (n_values) env->values = ARENA_ARRAY(c->arena, struct expr_value, n_values);
    if ((n_names && !env->names) || (n_values && !env->values)) return err_nomem(c->err);
    for (uint32_t i = 0; i < n_names; i++)
        env->names[i] = (struct expr_name){.placeholder = span_cstr(names[i].placeholder),
                                           .name = api_text(names[i].name)};
    for (uint32_t i = 0; i < n_values; i++)
        env->values[i] = (struct expr_value){.placeholder = val_name_at(item_map(item), i),
                                             .value = val_at(item_map(item), i)};
    env->n_names = n_names;
    env->n_values = n_values;
    env->has_names = names != NULL;
    env->has_values = values != NULL;
    *env_out = env;
    return SHEAF_OK;
}

size_t sheaf_item_size(const sheaf_item *item)
{
    struct arena arena;
    arena_init(&arena, (size_t)4 * API_ITEM_BYTES_MAX);
    struct ctx c = {&arena, NULL};
    span encoded;
    size_t size =
        item && api_encode_item(&c, item, "item", &encoded) == SHEAF_OK ? item_size(encoded) : 0;
    arena_deinit(&arena);
    return size;
}
