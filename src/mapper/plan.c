/* Turns a table's description and the field lists of its entities into plans, and checks them: what
 * is wrong with a template or a list is said here, once, and not by the first write. Know before
 * editing: a plan is shared by threads and never changes after sheaf_map_open. */
#include "mapper/plan.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

/* ---- finding ---- */

sheaf_rc map_plan_of(const sheaf_map *map, const sheaf_entity *entity, sheaf_error *err,
                     const struct map_plan **plan_out)
{
    for (size_t i = 0; i < map->n_plans; i++)
        if (map->plans[i].entity == entity) {
            *plan_out = &map->plans[i];
            return SHEAF_OK;
        }
    *plan_out = NULL;
    return err_validation(err, "entity %s is not one of table %s", entity ? entity->type : "(NULL)",
                          map->table.name);
}

const struct map_field *map_field_named(const struct map_shape *shape, span member)
{
    for (size_t i = 0; i < shape->n_fields; i++)
        if (span_eq(span_cstr(shape->fields[i].f->member), member)) return &shape->fields[i];
    return NULL;
}

const struct map_field *map_field_stored(const struct map_shape *shape, const char *attr, size_t n)
{
    size_t lo = 0, hi = shape->n_by_attr;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const struct map_field *f = shape->by_attr[mid];
        int c = span_cmp(SPAN(attr, n), SPAN(f->attr, f->attr_n));
        if (c == 0) return f;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

struct map_key map_key_of(const struct map_plan *plan, const char *attr)
{
    struct map_key key = {.attr = attr};
    for (size_t i = 0; i < plan->n_templates; i++)
        if (strcmp(plan->templates[i].attr, attr) == 0) key.template_ = &plan->templates[i];
    if (key.template_) return key;
    const struct map_field *f = map_field_stored(&plan->shape, attr, strlen(attr));
    if (f && f->f->kind != SHEAF_IS_KEY) key.field = f;
    return key;
}

sheaf_rc map_index_of(const sheaf_map *map, const char *name, sheaf_error *err,
                      const struct map_index **index_out)
{
    *index_out = &map->indexes[0];
    for (size_t i = 1; name && i < map->n_indexes; i++)
        if (strcmp(map->indexes[i].name, name) == 0) {
            *index_out = &map->indexes[i];
            return SHEAF_OK;
        }
    if (!name) return SHEAF_OK;
    return err_validation(err, "table %s has no index %s", map->table.name, name);
}

static bool fits(const struct map_key *key, const sheaf_item *item)
{
    if (!key->attr) return true;
    sheaf_str s = sheaf_item_str(item, key->attr);
    return key->template_ && s.p && template_match(key->template_, SPAN(s.p, s.n), SIZE_MAX, NULL);
}

const struct map_plan *map_plan_of_item(const sheaf_map *map, const sheaf_item *item)
{
    sheaf_value type;
    const struct map_plan *found = NULL;
    bool has_type = sheaf_item_get(item, map->discriminator, &type);
    sheaf_str name = has_type ? sheaf_value_str(&type) : (sheaf_str){NULL, 0};
    for (size_t i = 0; i < map->n_plans; i++) {
        const struct map_plan *p = &map->plans[i];
        bool is_it = has_type ? name.p && span_eq(SPAN(name.p, name.n), span_cstr(p->entity->type))
                              : fits(&p->partition_key, item) && fits(&p->sort_key, item);
        if (is_it && has_type) return p;
        if (is_it && found) return NULL; /* two could have made these keys */
        if (is_it) found = p;
    }
    return found;
}

/* ---- shapes ---- */

static const sheaf_field known_attribute = {.kind = SHEAF_IS_KEY};

static int by_attr(const void *a, const void *b)
{
    const struct map_field *x = *(const struct map_field *const *)a,
                           *y = *(const struct map_field *const *)b;
    return span_cmp(SPAN(x->attr, x->attr_n), SPAN(y->attr, y->attr_n));
}

static struct map_field field_of(const sheaf_field *f, const char *attr)
{
    return (struct map_field){.f = f, .attr = attr, .attr_n = strlen(attr)};
}

static sheaf_rc add_shape(struct ctx *c, sheaf_map *map, const sheaf_shape *shape,
                          const struct map_shape **out);

/* Kinds that mean something for an item as a whole. */
static bool is_for_items(unsigned kind)
{
    return kind == SHEAF_IS_KEY || (kind >= SHEAF_IS_VERSION && kind <= SHEAF_IS_UUID);
}

static sheaf_rc resolve_field(struct ctx *c, sheaf_map *map, const sheaf_field *f, bool is_nested,
                              struct map_shape *s)
{
    if (is_nested && is_for_items(f->kind))
        return err_validation(c->err,
                              "struct %s: %s is of a kind for entities, not for the "
                              "structs nested in them",
                              s->shape->name, f->member);
    if (f->kind == SHEAF_IS_KEY) return SHEAF_OK;
    struct map_field *to = &s->fields[s->n_fields++];
    *to = field_of(f, f->attr[0] ? f->attr : f->member);
    if (f->kind == SHEAF_IS_NEST || f->kind == SHEAF_IS_LIST)
        TRY(add_shape(c, map, f->aux, &to->shape));
    if (f->kind != SHEAF_IS_EXTRA) {
        s->by_attr[s->n_by_attr++] = to;
        return SHEAF_OK;
    }
    if (s->extra) return err_validation(c->err, "struct %s: two EXTRA fields", s->shape->name);
    s->extra = to;
    return SHEAF_OK;
}

/* Sorts the names and refuses two of the same. */
static sheaf_rc sort_names(struct ctx *c, struct map_shape *s)
{
    if (s->n_by_attr) qsort(s->by_attr, s->n_by_attr, sizeof *s->by_attr, by_attr);
    for (size_t i = 1; i < s->n_by_attr; i++)
        if (by_attr(&s->by_attr[i - 1], &s->by_attr[i]) == 0)
            return err_validation(c->err, "struct %s: two things are stored as attribute \"%s\"",
                                  s->shape->name, s->by_attr[i]->attr);
    return SHEAF_OK;
}

static sheaf_rc resolve_fields(struct ctx *c, sheaf_map *map, const sheaf_shape *shape,
                               bool is_nested, struct map_shape *s)
{
    size_t n;
    if (shape->field_size != sizeof(sheaf_field))
        return err_validation(c->err, "struct %s was compiled with another <sheaf/fields.h>",
                              shape->name);
    const sheaf_field *list = shape->fields(&n);
    s->shape = shape;
    s->fields = ARENA_ARRAY(c->arena, struct map_field, n + 1);
    s->by_attr = ARENA_ARRAY(c->arena, const struct map_field *, n + 2);
    if (!s->fields || !s->by_attr) return err_nomem(c->err);
    for (size_t i = 0; i < n; i++) TRY(resolve_field(c, map, &list[i], is_nested, s));
    return SHEAF_OK;
}

/* Known before its fields are looked at, so that a struct may hold a list of its own kind. */
static sheaf_rc add_shape(struct ctx *c, sheaf_map *map, const sheaf_shape *shape,
                          const struct map_shape **out)
{
    for (struct map_shape *s = map->shapes; s; s = s->next)
        if (s->shape == shape) {
            *out = s;
            return SHEAF_OK;
        }
    struct map_shape *s = ARENA_NEW(c->arena, struct map_shape);
    if (!s) return err_nomem(c->err);
    s->shape = shape;
    s->next = map->shapes;
    map->shapes = s;
    *out = s;
    TRY(resolve_fields(c, map, shape, true, s));
    return sort_names(c, s);
}

/* ---- entities ---- */

static bool is_key_attr(const sheaf_map *map, const char *attr)
{
    for (size_t i = 0; i < map->n_indexes; i++) {
        const struct map_index *x = &map->indexes[i];
        for (uint32_t k = 0; k < x->n_partition_key; k++)
            if (strcmp(x->partition_key[k], attr) == 0) return true;
        for (uint32_t k = 0; k < x->n_sort_key; k++)
            if (strcmp(x->sort_key[k], attr) == 0) return true;
    }
    return false;
}

/* Attributes that are no fields: known, so that they are not EXTRA. */
static sheaf_rc know_attribute(struct ctx *c, struct map_plan *plan, const char *attr)
{
    struct map_field *known = ARENA_NEW(c->arena, struct map_field);
    if (!known) return err_nomem(c->err);
    *known = field_of(&known_attribute, attr);
    plan->shape.by_attr[plan->shape.n_by_attr++] = known;
    return SHEAF_OK;
}

static sheaf_rc add_templates(struct ctx *c, sheaf_map *map, struct map_plan *plan)
{
    size_t n;
    const sheaf_field *list = plan->entity->shape.fields(&n);
    plan->templates = ARENA_ARRAY(c->arena, struct map_template, n + 1);
    if (!plan->templates) return err_nomem(c->err);
    for (size_t i = 0; i < n; i++) {
        if (list[i].kind != SHEAF_IS_KEY) continue;
        if (!is_key_attr(map, list[i].attr))
            return err_validation(c->err, "entity %s: KEY(%s) is no key of table %s or its indexes",
                                  plan->entity->type, list[i].attr, map->table.name);
        TRY(template_parse(c, map, plan, &list[i], &plan->templates[plan->n_templates++]));
        TRY(know_attribute(c, plan, list[i].attr));
    }
    return SHEAF_OK;
}

static sheaf_rc take_special(struct ctx *c, struct map_plan *plan, const struct map_field *f)
{
    const struct map_field **to = f->f->kind == SHEAF_IS_VERSION   ? &plan->version
                                  : f->f->kind == SHEAF_IS_CREATED ? &plan->created
                                  : f->f->kind == SHEAF_IS_UPDATED ? &plan->updated
                                  : f->f->kind == SHEAF_IS_TTL     ? &plan->ttl
                                                                   : NULL;
    if (to && *to)
        return err_validation(c->err, "entity %s: %s and %s are of a kind that it has once",
                              plan->entity->type, (*to)->f->member, f->f->member);
    if (to) *to = f;
    return SHEAF_OK;
}

static bool is_string_kind(unsigned kind)
{
    return kind == SHEAF_IS_STR || kind == SHEAF_IS_ENUM || kind == SHEAF_IS_TIME ||
           kind == SHEAF_IS_CREATED || (kind >= SHEAF_IS_ULID && kind <= SHEAF_IS_UUID);
}

static sheaf_rc find_table_key(struct ctx *c, const sheaf_map *map, struct map_plan *plan,
                               const char *attr, struct map_key *out)
{
    *out = map_key_of(plan, attr);
    if (out->template_) return SHEAF_OK;
    if (!out->field)
        return err_validation(c->err,
                              "entity %s: nothing makes %s, a key of table %s: add KEY(%s, "
                              "\"…\")",
                              plan->entity->type, attr, map->table.name, attr);
    if (!is_string_kind(out->field->f->kind))
        return err_validation(c->err,
                              "entity %s, field %s: %s is a key of table %s and must be a "
                              "string",
                              plan->entity->type, out->field->f->member, attr, map->table.name);
    struct map_field *f = (struct map_field *)out->field;
    f->is_table_key = f->is_in_table_key = true;
    return SHEAF_OK;
}

static sheaf_rc same_ttl(struct ctx *c, sheaf_map *map, const struct map_plan *plan)
{
    if (!plan->ttl) return SHEAF_OK;
    if (map->ttl && strcmp(map->ttl, plan->ttl->attr) != 0)
        return err_validation(c->err,
                              "entity %s: TTL is stored as %s, that of another entity as "
                              "%s; a table has one",
                              plan->entity->type, plan->ttl->attr, map->ttl);
    map->ttl = plan->ttl->attr;
    return SHEAF_OK;
}

static sheaf_rc make_plan(struct ctx *c, sheaf_map *map, const sheaf_entity *entity,
                          struct map_plan *plan)
{
    const struct map_index *table = &map->indexes[0];
    plan->entity = entity;
    for (const struct map_plan *p = map->plans; p < plan; p++)
        if (strcmp(p->entity->type, entity->type) == 0)
            return err_validation(c->err, "table %s: two entities have the type \"%s\"",
                                  map->table.name, entity->type);
    if (!entity->type[0])
        return err_validation(c->err, "struct %s: an entity's type is not empty",
                              entity->shape.name);
    TRY(resolve_fields(c, map, &entity->shape, false, &plan->shape));
    TRY(add_templates(c, map, plan));
    TRY(know_attribute(c, plan, map->discriminator));
    TRY(sort_names(c, &plan->shape));
    for (size_t i = 0; i < plan->shape.n_fields; i++)
        TRY(take_special(c, plan, &plan->shape.fields[i]));
    TRY(find_table_key(c, map, plan, table->partition_key[0], &plan->partition_key));
    if (table->n_sort_key) TRY(find_table_key(c, map, plan, table->sort_key[0], &plan->sort_key));
    return same_ttl(c, map, plan);
}

static sheaf_rc make_plans(struct ctx *c, sheaf_map *map)
{
    size_t n = 0;
    while (map->table.entities && map->table.entities[n]) n++;
    if (n == 0) return err_validation(c->err, "table %s has no entities", map->table.name);
    map->plans = ARENA_ARRAY(c->arena, struct map_plan, n);
    if (!map->plans) return err_nomem(c->err);
    for (; map->n_plans < n; map->n_plans++)
        TRY(make_plan(c, map, map->table.entities[map->n_plans], &map->plans[map->n_plans]));
    return SHEAF_OK;
}

/* ---- tables ---- */

static uint32_t take_keys(const struct sheaf_key keys[4], const char *to[4])
{
    uint32_t n = 0;
    while (n < 4 && keys[n].name) {
        to[n] = keys[n].name;
        n++;
    }
    return n;
}

static bool projects_type(const struct sheaf_index *as, const char *type)
{
    if (!as || as->projection == SHEAF_PROJECT_ALL) return true;
    for (uint32_t i = 0; as->projection == SHEAF_PROJECT_INCLUDE && i < as->n_include; i++)
        if (strcmp(as->include[i], type) == 0) return true;
    return false;
}

static sheaf_rc make_index(struct ctx *c, const sheaf_map *map, const struct sheaf_table_index *x,
                           struct map_index *to)
{
    to->name = x->name;
    to->has_type = projects_type(x->as, map->discriminator);
    if (x->as) {
        to->n_partition_key = take_keys(x->as->partition_key, to->partition_key);
        to->n_sort_key = take_keys(x->as->sort_key, to->sort_key);
    } else {
        to->n_partition_key = x->partition_key != NULL;
        to->partition_key[0] = x->partition_key;
        to->n_sort_key = x->sort_key != NULL;
        to->sort_key[0] = x->sort_key;
    }
    if (to->n_partition_key == 0)
        return err_validation(c->err, "table %s, index %s: no partition key", map->table.name,
                              x->name);
    return SHEAF_OK;
}

static sheaf_rc make_indexes(struct ctx *c, sheaf_map *map)
{
    const struct sheaf_table *t = &map->table;
    size_t n = 0;
    if (!t->name || !t->partition_key)
        return err_validation(c->err, "A table needs a name and a partition key");
    while (t->indexes && t->indexes[n].name) n++;
    map->indexes = ARENA_ARRAY(c->arena, struct map_index, n + 1);
    if (!map->indexes) return err_nomem(c->err);
    map->n_indexes = n + 1;
    map->indexes[0] = (struct map_index){.partition_key = {t->partition_key},
                                         .n_partition_key = 1,
                                         .sort_key = {t->sort_key},
                                         .n_sort_key = t->sort_key != NULL,
                                         .has_type = true};
    for (size_t i = 0; i < n; i++) TRY(make_index(c, map, &t->indexes[i], &map->indexes[i + 1]));
    return SHEAF_OK;
}

/* ---- the map ---- */

sheaf_rc map_take(void *to, size_t to_n, const void *from, size_t from_n, sheaf_error *err)
{
    size_t n = from_n < to_n ? from_n : to_n;
    memset(to, 0, to_n);
    if (!from) return err_validation(err, "The request is NULL");
    memcpy(to, from, n);
    for (size_t i = n; i < from_n; i++)
        if (((const uint8_t *)from)[i])
            return err_validation(err, "The program uses members of a request that this library "
                                       "does not know: it was compiled with a later one");
    return SHEAF_OK;
}

static void set_token_key(sheaf_map *map)
{
    static const uint8_t fixed[16] = "sheaf page token";
    const char *secret = map->table.token_secret;
    siphash128(fixed, span_cstr(secret ? secret : ""), map->token_key);
}

sheaf_rc sheaf_map_open_sized(sheaf_db *db, const struct sheaf_table *table, size_t size,
                              sheaf_map **map_out, sheaf_error *err)
{
    *map_out = NULL;
    err_clear(err);
    if (!db) return err_validation(err, "The handle is NULL");
    sheaf_map *map = mem_zalloc(sizeof *map);
    if (!map) return err_nomem(err);
    map->db = db;
    map->clock = clock_system();
    arena_init(&map->arena, MAP_ARENA_MAX);
    pthread_mutex_init(&map->lock, NULL);
    rng_init(&map->rng, (uint64_t)clock_mono_ns(map->clock));
    struct ctx c = {&map->arena, err};
    sheaf_rc rc;
    TRY_OUT(map_take(&map->table, sizeof map->table, table, size, err));
    map->discriminator = map->table.discriminator ? map->table.discriminator : "Type";
    set_token_key(map);
    TRY_OUT(make_indexes(&c, map));
    TRY_OUT(make_plans(&c, map));
    *map_out = map;
    return SHEAF_OK;
out:
    sheaf_map_close(map);
    return rc;
}

void sheaf_map_close(sheaf_map *map)
{
    if (!map) return;
    arena_deinit(&map->arena);
    pthread_mutex_destroy(&map->lock);
    mem_free(map);
}

sheaf_db *sheaf_map_db(const sheaf_map *map) { return map->db; }

int64_t map_now(const sheaf_map *map)
{
    return map->table.now_us ? map->table.now_us(map->table.now_ctx) : clock_now_us(map->clock);
}

void map_back_off(sheaf_map *map, uint32_t n)
{
    uint64_t most_ms = n < 7 ? UINT64_C(50) << n : 5000;
    pthread_mutex_lock(&map->lock);
    uint64_t ms = most_ms / 2 + rng_below(&map->rng, most_ms / 2 + 1);
    pthread_mutex_unlock(&map->lock);
    clock_sleep_ns(map->clock, ms * 1000000);
}
