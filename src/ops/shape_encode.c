/* Turns a struct into JSON, and finds the tables that it names. Know before editing: what does not
 * fit marks the buffer as failed, so nothing here looks at errors. */
#include "ops/shape.h"

#include <assert.h>
#include <stdio.h>

static void put_bool(struct buf *out, bool v)
{
    if (v)
        buf_put(out, "true", 4);
    else
        buf_put(out, "false", 5);
}

/* Seconds with three decimals. */
static void put_time(struct buf *out, int64_t us)
{
    char text[32];
    int64_t ms = us / 1000;
    int n =
        snprintf(text, sizeof text, "%lld.%03lld", (long long)(ms / 1000), (long long)(ms % 1000));
    buf_put(out, text, (size_t)n);
}

static void put_names(struct buf *out, const struct shape_names *names)
{
    buf_put_u8(out, '{');
    for (uint32_t i = 0; i < names->n; i++) {
        if (i) buf_put_u8(out, ',');
        json_put_text(out, names->all[i].name);
        buf_put_u8(out, ':');
        if (names->all[i].value.p)
            json_put_text(out, names->all[i].value);
        else
            buf_put(out, "null", 4);
    }
    buf_put_u8(out, '}');
}

static void put_items(struct buf *out, const struct shape_items *items)
{
    buf_put_u8(out, '[');
    for (uint32_t i = 0; i < items->n; i++) {
        if (i) buf_put_u8(out, ',');
        json_put_item(out, items->all[i]);
    }
    buf_put_u8(out, ']');
}

/* One with a fault has no bytes: it is met where a request is repeated in a complaint. */
static void put_item(struct buf *out, const struct json_item *item)
{
    if (item->item.p)
        json_put_item(out, item->item);
    else
        buf_put(out, "{}", 2);
}

/* An entry of a list or map, which may be null. */
static void put_entry(struct buf *out, const struct shape *s, const void *all, uint32_t i)
{
    const void *object = (const uint8_t *)all + (size_t)i * shape_size(s);
    if (shape_has(s, object))
        shape_encode_value(out, s, object);
    else
        buf_put(out, "null", 4);
}

/* What a list or map from outside kept. */
static uint32_t stored(const struct shape *s, uint32_t n)
{
    return s->has_max && (int64_t)n > s->max ? (uint32_t)s->max + 1 : n;
}

static void put_list(struct buf *out, const struct shape *s, const struct shape_list *list)
{
    buf_put_u8(out, '[');
    for (uint32_t i = 0; i < stored(s, list->n); i++) {
        if (i) buf_put_u8(out, ',');
        put_entry(out, s->of, list->all, i);
    }
    buf_put_u8(out, ']');
}

static void put_map(struct buf *out, const struct shape *s, const struct shape_map *map)
{
    buf_put_u8(out, '{');
    for (uint32_t i = 0; i < stored(s, map->n); i++) {
        if (i) buf_put_u8(out, ',');
        json_put_text(out, map->names[i]);
        buf_put_u8(out, ':');
        put_entry(out, s->of, map->all, i);
    }
    buf_put_u8(out, '}');
}

void shape_encode_value(struct buf *out, const struct shape *s, const void *object)
{
    assert(shape_has(s, object));
    switch (s->kind) {
    case SHAPE_STRING:
        json_put_text(out, *(const span *)object);
        return;
    case SHAPE_ENUM:
        json_put_text(out, ((const struct shape_word *)object)->text);
        return;
    case SHAPE_BOOL:
        put_bool(out, *(const uint8_t *)object == SHAPE_TRUE);
        return;
    case SHAPE_INT:
    case SHAPE_LONG:
        json_put_int(out, ((const struct shape_int *)object)->v);
        return;
    case SHAPE_DOUBLE:
        json_put_double(out, ((const struct shape_double *)object)->v);
        return;
    case SHAPE_TIME:
        put_time(out, ((const struct shape_int *)object)->v);
        return;
    case SHAPE_ITEM:
        put_item(out, object);
        return;
    case SHAPE_ITEMS:
        put_items(out, object);
        return;
    case SHAPE_NAMES:
        put_names(out, object);
        return;
    case SHAPE_STRUCT:
        shape_encode(out, s, *(void *const *)object);
        return;
    case SHAPE_LIST:
        put_list(out, s, object);
        return;
    case SHAPE_MAP:
        put_map(out, s, object);
        return;
    case SHAPE_RAW:
        buf_put_span(out, *(const span *)object);
        return;
    }
    assert(false);
}

void shape_encode(struct buf *out, const struct shape *s, const void *object)
{
    char before = '{';
    assert(s->kind == SHAPE_STRUCT);
    for (uint32_t i = 0; i < s->n_members; i++) {
        const struct member *m = &s->members[i];
        const void *at = (const uint8_t *)object + m->offset;
        if (!shape_has(m->shape, at)) continue;
        uint8_t *to = buf_room(out, (size_t)m->name_n + 4);
        if (!to) return;
        *to++ = (uint8_t)before;
        *to++ = '"';
        memcpy(to, m->name, m->name_n);
        to += m->name_n;
        *to++ = '"';
        *to++ = ':';
        out->n += (size_t)m->name_n + 4;
        shape_encode_value(out, m->shape, at);
        before = ',';
    }
    if (before == '{') buf_put_u8(out, '{');
    buf_put_u8(out, '}');
}

/* ---- tables ---- */

struct visit {
    sheaf_rc (*call)(void *ctx, span table);
    void *ctx;
};

static sheaf_rc visit_value(const struct shape *s, const void *object, const struct visit *v);

static sheaf_rc visit_struct(const struct shape *s, const void *object, const struct visit *v)
{
    for (uint32_t i = 0; i < s->n_members; i++)
        TRY(visit_value(s->members[i].shape, (const uint8_t *)object + s->members[i].offset, v));
    return SHEAF_OK;
}

static sheaf_rc visit_entries(const struct shape *s, const void *all, uint32_t n,
                              const struct visit *v)
{
    for (uint32_t i = 0; i < n; i++)
        TRY(visit_value(s, (const uint8_t *)all + (size_t)i * shape_size(s), v));
    return SHEAF_OK;
}

static sheaf_rc visit_value(const struct shape *s, const void *object, const struct visit *v)
{
    if (!shape_has(s, object)) return SHEAF_OK;
    if (s->kind == SHAPE_STRING)
        return s->is_table ? v->call(v->ctx, *(const span *)object) : SHEAF_OK;
    if (s->kind == SHAPE_STRUCT) return visit_struct(s, *(void *const *)object, v);
    if (s->kind == SHAPE_LIST) {
        const struct shape_list *list = object;
        return visit_entries(s->of, list->all, list->n, v);
    }
    if (s->kind != SHAPE_MAP) return SHEAF_OK;
    const struct shape_map *map = object;
    for (uint32_t i = 0; i < map->n && s->is_table; i++) TRY(v->call(v->ctx, map->names[i]));
    return visit_entries(s->of, map->all, map->n, v);
}

sheaf_rc shape_tables(const struct shape *s, const void *object,
                      sheaf_rc (*visit)(void *ctx, span table), void *ctx)
{
    const struct visit v = {visit, ctx};
    return visit_struct(s, object, &v);
}
