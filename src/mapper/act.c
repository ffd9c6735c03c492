/* Turns "write this struct" into one action of the service: item or key, update expression, condition.
 *
 *   put        item                    version: none there, or the one that was read
 *   put new    item                    none there
 *   update     SET … REMOVE …          one there, with the version that was read
 *   delete     key                     the version that was read, when one was
 *
 * Know before editing: the caller's struct is not touched before the write has succeeded. Versions,
 * stamps and ids go into a copy, which is what gets encoded; act_done takes them back. */
#include "mapper/plan.h"

#include <assert.h>

/* ---- stamps ---- */

static void *at(void *object, const struct map_field *f)
{
    return (uint8_t *)object + f->f->offset;
}

static int64_t version_of(const struct map_plan *plan, const void *object)
{
    return *(const int64_t *)map_at(object, plan->version);
}

static void make_id(const struct map_field *f, int64_t now, void *object)
{
    char *to = at(object, f);
    if (*to) return;
    if (f->f->kind == SHEAF_IS_ULID) sheaf_ulid(to, now);
    if (f->f->kind == SHEAF_IS_KSUID) sheaf_ksuid(to, now);
    if (f->f->kind == SHEAF_IS_UUID) sheaf_uuid7(to, now);
}

static bool is_id(const struct map_field *f)
{
    return f->f->kind >= SHEAF_IS_ULID && f->f->kind <= SHEAF_IS_UUID;
}

sheaf_rc act_stamp(sheaf_map *map, const struct map_plan *plan, enum sheaf_save_how how,
                   void *object)
{
    bool is_put = how == SHEAF_PUT || how == SHEAF_PUT_NEW;
    int64_t now = map_now(map);
    if (how == SHEAF_DELETE) return SHEAF_OK;
    if (plan->version) {
        int64_t *v = at(object, plan->version);
        *v = how == SHEAF_PUT_NEW || *v == INT64_MAX ? 1 : *v + 1;
    }
    if (plan->updated) ((sheaf_time *)at(object, plan->updated))->us = now;
    if (is_put && plan->created && ((sheaf_time *)at(object, plan->created))->us == 0)
        ((sheaf_time *)at(object, plan->created))->us = now;
    for (size_t i = 0; is_put && i < plan->shape.n_fields; i++)
        if (is_id(&plan->shape.fields[i])) make_id(&plan->shape.fields[i], now, object);
    return SHEAF_OK;
}

static void take_back(const struct act *a, const struct map_field *f)
{
    if (f) memcpy(at(a->object, f), map_at(a->stamped, f), f->f->size);
}

void act_done(const struct act *a)
{
    if (!a->stamped || a->how == SHEAF_DELETE) return;
    take_back(a, a->plan->version);
    take_back(a, a->plan->updated);
    take_back(a, a->plan->created);
    for (size_t i = 0; i < a->plan->shape.n_fields; i++)
        if (is_id(&a->plan->shape.fields[i])) take_back(a, &a->plan->shape.fields[i]);
}

/* ---- conditions ---- */

struct building {
    struct ctx *c;
    struct act *a;
    struct buf condition, set, remove;
};

static void and (struct buf * b)
{
    if (b->n) buf_put(b, " AND ", 5);
}

static sheaf_rc need_presence(struct building *w, const char *function)
{
    const char *pk = express_name(&w->a->express, w->a->plan->partition_key.attr);
    if (!pk) return err_nomem(w->c->err);
    and(&w->condition);
    buf_printf(&w->condition, "%s(%s)", function, pk);
    return SHEAF_OK;
}

/* The version that the caller read; 0: there is none. */
static sheaf_rc need_version(struct building *w, int64_t version)
{
    const char *name = express_name(&w->a->express, w->a->plan->version->attr);
    if (!name) return err_nomem(w->c->err);
    and(&w->condition);
    if (version == 0) {
        buf_printf(&w->condition, "attribute_not_exists(%s)", name);
        return SHEAF_OK;
    }
    const char *value = express_value(&w->a->express, sheaf_int(version));
    if (!value) return err_nomem(w->c->err);
    buf_printf(&w->condition, "%s = %s", name, value);
    return SHEAF_OK;
}

static sheaf_rc make_condition(struct building *w, const char *extra)
{
    const struct map_plan *plan = w->a->plan;
    int64_t version = plan->version ? version_of(plan, w->a->object) : 0;
    switch (w->a->how) {
    case SHEAF_PUT_NEW:
        TRY(need_presence(w, "attribute_not_exists"));
        break;
    case SHEAF_UPDATE:
        TRY(need_presence(w, "attribute_exists"));
        if (plan->version) TRY(need_version(w, version));
        break;
    case SHEAF_PUT:
        if (plan->version && version == 0) TRY(need_presence(w, "attribute_not_exists"));
        /* fall through */
    default:
        if (version != 0) TRY(need_version(w, version));
    }
    if (!extra) return SHEAF_OK;
    and(&w->condition);
    buf_printf(&w->condition, "(%s)", extra);
    return SHEAF_OK;
}

/* ---- update expressions ---- */

static sheaf_rc assign(struct building *w, const char *attr, sheaf_value v)
{
    const char *name = express_name(&w->a->express, attr);
    const char *value = v.type != SHEAF_NONE ? express_value(&w->a->express, v) : "";
    if (!name || !value) return err_nomem(w->c->err);
    if (v.type == SHEAF_NONE)
        buf_printf(&w->remove, "%s%s", w->remove.n ? ", " : "REMOVE ", name);
    else
        buf_printf(&w->set, "%s%s = %s", w->set.n ? ", " : "SET ", name, value);
    return SHEAF_OK;
}

static bool is_named(const char *fields, const struct map_field *f)
{
    span word;
    while (fields && next_word(&fields, &word))
        if (span_eq(word, span_cstr(f->f->member))) return true;
    return false;
}

static bool is_updated(const struct map_field *f, const char *fields)
{
    switch (f->f->kind) {
    case SHEAF_IS_VERSION:
    case SHEAF_IS_UPDATED:
        return true;
    case SHEAF_IS_EXTRA:
    case SHEAF_IS_COUNTER:
        return false;
    case SHEAF_IS_CREATED:
        return is_named(fields, f);
    default:
        return !f->is_table_key && (!fields || is_named(fields, f));
    }
}

static sheaf_rc check_names(struct building *w, const char *fields)
{
    const struct map_plan *plan = w->a->plan;
    span word;
    while (fields && next_word(&fields, &word)) {
        const struct map_field *f = map_field_named(&plan->shape, word);
        const char *why = !f                               ? "is not one of its fields"
                          : f->is_in_table_key             ? "is part of the table's key"
                          : f->f->kind == SHEAF_IS_COUNTER ? "is a COUNTER: sheaf_add changes it"
                          : f->f->kind == SHEAF_IS_EXTRA   ? "is EXTRA: an update leaves it alone"
                                                           : NULL;
        if (why)
            return err_validation(w->c->err, "entity %s, update of %.*s: that %s",
                                  plan->entity->type, SPAN_ARG(word), why);
    }
    return SHEAF_OK;
}

static bool is_touched(const struct map_plan *plan, const struct map_template *t,
                       const char *fields)
{
    if (t->is_table_key) return false;
    if (!fields) return true;
    for (size_t i = 0; i < plan->shape.n_fields; i++)
        if (template_uses(t, &plan->shape.fields[i]) && is_updated(&plan->shape.fields[i], fields))
            return true;
    return false;
}

static sheaf_rc make_update(struct building *w, const char *fields)
{
    const struct map_plan *plan = w->a->plan;
    struct map_place place = {.plan = plan, .object = w->a->stamped};
    TRY(check_names(w, fields));
    for (size_t i = 0; i < plan->shape.n_fields; i++) {
        const struct map_field *f = &plan->shape.fields[i];
        sheaf_value v;
        if (!is_updated(f, fields)) continue;
        TRY(map_value_of(w->c, &place, f, w->a->stamped, &v));
        TRY(assign(w, f->attr, v));
    }
    for (size_t i = 0; i < plan->n_templates; i++) {
        const struct map_template *t = &plan->templates[i];
        struct map_key key = {t->attr, t, NULL};
        struct key_text text;
        if (!is_touched(plan, t, fields)) continue;
        TRY(key_render(w->c, plan, &key, w->a->stamped, KEY_WHOLE, NULL, &text));
        TRY(assign(w, t->attr, text.value));
    }
    if (w->set.n && w->remove.n) buf_put_u8(&w->set, ' ');
    buf_put_span(&w->set, buf_span(&w->remove));
    return SHEAF_OK;
}

/* ---- the whole ---- */

static sheaf_rc finish_text(struct building *w, struct buf *b, const char **out)
{
    bool is_any = b->n > 0;
    if (is_any) buf_put_u8(b, '\0');
    *out = is_any ? (const char *)b->p : NULL;
    return b->failed ? err_nomem(w->c->err) : SHEAF_OK;
}

static void begin(struct building *w, struct ctx *c, struct act *a)
{
    enum { MOST = 256 << 10 };
    w->c = c;
    w->a = a;
    buf_init(&w->condition, c->arena, MOST);
    buf_init(&w->set, c->arena, MOST);
    buf_init(&w->remove, c->arena, MOST);
}

sheaf_rc act_make(struct ctx *c, sheaf_map *map, const struct sheaf_save *q, struct act *a)
{
    struct building w;
    *a = (struct act){.how = q->how, .object = q->of.value};
    begin(&w, c, a);
    if ((unsigned)q->how > SHEAF_DELETE) return err_validation(c->err, "how: no such write");
    TRY(map_plan_of(map, q->of.entity, c->err, &a->plan));
    if (!q->of.value)
        return err_validation(c->err, "entity %s: the struct is NULL", a->plan->entity->type);
    if (q->fields && q->how != SHEAF_UPDATE)
        return err_validation(c->err, "fields: only an update takes them");
    TRY(express_init(&a->express, c, q->expression_attribute_names,
                     q->expression_attribute_values));
    a->stamped = (void *)(uintptr_t)arena_alloc(c->arena, a->plan->entity->shape.size);
    if (!a->stamped) return err_nomem(c->err);
    memcpy(a->stamped, a->object, a->plan->entity->shape.size);
    TRY(act_stamp(map, a->plan, a->how, a->stamped));
    if (a->how == SHEAF_PUT || a->how == SHEAF_PUT_NEW)
        TRY(map_encode(c, map, a->plan, a->stamped, &a->item));
    else
        TRY(map_encode_key(c, a->plan, a->stamped, &a->key));
    if (a->how == SHEAF_UPDATE) TRY(make_update(&w, q->fields));
    TRY(make_condition(&w, q->condition_expression));
    TRY(finish_text(&w, &w.set, &a->update));
    return finish_text(&w, &w.condition, &a->condition);
}

sheaf_rc act_make_check(struct ctx *c, sheaf_map *map, bool exists, const sheaf_entity *entity,
                        const void *object, struct act *a)
{
    struct building w;
    *a = (struct act){.how = SHEAF_DELETE};
    begin(&w, c, a);
    TRY(map_plan_of(map, entity, c->err, &a->plan));
    if (!object) return err_validation(c->err, "entity %s: the struct is NULL", entity->type);
    TRY(express_init(&a->express, c, NULL, NULL));
    TRY(map_encode_key(c, a->plan, object, &a->key));
    TRY(need_presence(&w, exists ? "attribute_exists" : "attribute_not_exists"));
    return finish_text(&w, &w.condition, &a->condition);
}
