/* Builds the names, values and projections of requests. Know before editing: placeholders made here
 * begin with "sheaf", so that they stay apart from those of the caller's own expressions. */
#include "mapper/plan.h"

#include <stdio.h>

/* The array with room for n members; NULL when memory is out. */
static void *with_room(struct arena *a, void *array, size_t n, size_t *cap, size_t size)
{
    if (n <= *cap) return array;
    size_t more = *cap ? *cap * 2 : 16;
    void *to = arena_zalloc_array(a, more, size);
    if (!to) return NULL;
    if (*cap) memcpy(to, array, *cap * size);
    *cap = more;
    return to;
}

static bool add_name(struct express *e, const char *placeholder, const char *name)
{
    struct sheaf_name *names =
        with_room(e->c->arena, e->names, e->n_names + 2, &e->cap_names, sizeof *names);
    if (!names) return false;
    e->names = names;
    names[e->n_names++] = (struct sheaf_name){placeholder, name};
    names[e->n_names] = (struct sheaf_name){NULL, NULL};
    return true;
}

static bool add_value(struct express *e, const char *placeholder, sheaf_value v)
{
    sheaf_attr *values =
        with_room(e->c->arena, e->values, e->n_values + 1, &e->cap_values, sizeof *values);
    if (!values) return false;
    e->values = values;
    values[e->n_values++] = (sheaf_attr){placeholder, v};
    return true;
}

sheaf_rc express_init(struct express *e, struct ctx *c, const struct sheaf_name *names,
                      const sheaf_item *values)
{
    *e = (struct express){.c = c};
    for (; names && names->placeholder; names++)
        if (!add_name(e, names->placeholder, names->name)) return err_nomem(c->err);
    for (size_t i = 0; values && i < sheaf_item_count(values); i++) {
        sheaf_attr a;
        if (!sheaf_item_at(values, i, &a) || !add_value(e, a.name, a.value))
            return err_nomem(c->err);
    }
    return SHEAF_OK;
}

static const char *placeholder(struct express *e, char sign, size_t n)
{
    char *p = (char *)arena_bytes(e->c->arena, 16);
    if (p) snprintf(p, 16, "%csheaf%u", sign, (unsigned)n);
    return p;
}

const char *express_name(struct express *e, const char *attr)
{
    for (size_t i = 0; i < e->n_names; i++)
        if (strncmp(e->names[i].placeholder, "#sheaf", 6) == 0 &&
            strcmp(e->names[i].name, attr) == 0)
            return e->names[i].placeholder;
    const char *p = placeholder(e, '#', e->n_names);
    return p && add_name(e, p, attr) ? p : NULL;
}

const char *express_value(struct express *e, sheaf_value v)
{
    const char *p = placeholder(e, ':', e->n_values);
    return p && add_value(e, p, v) ? p : NULL;
}

const sheaf_item *express_values(struct express *e)
{
    e->values_item = (sheaf_item){e->values, e->n_values, NULL};
    return e->n_values ? &e->values_item : NULL;
}

bool next_word(const char **at, span *word_out)
{
    static const char gaps[] = " ,\t\n";
    *at += strspn(*at, gaps);
    *word_out = SPAN(*at, strcspn(*at, gaps));
    *at += word_out->n;
    return word_out->n > 0;
}

/* The attribute of a member, or the attribute itself; NULL: the entity has neither. */
static const char *attr_named(const struct map_plan *plan, span word)
{
    const struct map_field *f = map_field_named(&plan->shape, word);
    if (!f) f = map_field_stored(&plan->shape, word.p, word.n);
    return f ? f->attr : NULL;
}

static const char *attr_in(const sheaf_map *map, const struct map_plan *plan, span word)
{
    const char *attr = plan ? attr_named(plan, word) : NULL;
    for (size_t i = 0; !attr && i < map->n_plans; i++) attr = attr_named(&map->plans[i], word);
    return attr;
}

static void project(struct express *e, struct buf *b, const char *attr)
{
    size_t before = e->n_names;
    const char *name = express_name(e, attr);
    if (!name) {
        b->failed = true;
    } else if (e->n_names > before) { /* not named yet: a path may stand there once */
        if (b->n) buf_put(b, ", ", 2);
        buf_put_span(b, span_cstr(name));
    }
}

static void project_keys(struct express *e, struct buf *b, const struct map_index *x)
{
    for (uint32_t i = 0; i < x->n_partition_key; i++) project(e, b, x->partition_key[i]);
    for (uint32_t i = 0; i < x->n_sort_key; i++) project(e, b, x->sort_key[i]);
}

sheaf_rc express_fields(struct express *e, const sheaf_map *map, const struct map_plan *plan,
                        const struct map_index *index, const char *fields, const char **out)
{
    struct buf b;
    span word;
    *out = NULL;
    if (!fields) return SHEAF_OK;
    buf_init(&b, e->c->arena, 64 << 10);
    project_keys(e, &b, &map->indexes[0]);
    project_keys(e, &b, index);
    project(e, &b, map->discriminator);
    while (next_word(&fields, &word)) {
        const char *attr = attr_in(map, plan, word);
        if (!attr)
            return err_validation(e->c->err, "fields: %.*s is no field of %s%s", SPAN_ARG(word),
                                  plan ? "entity " : "any entity of table ",
                                  plan ? plan->entity->type : map->table.name);
        project(e, &b, attr);
    }
    buf_put_u8(&b, '\0');
    if (b.failed) return err_nomem(e->c->err);
    *out = (const char *)b.p;
    return SHEAF_OK;
}
