/* Copies a struct with everything it points to into one block. Know before editing: the same walk
 * runs twice, first to measure (no block yet), then to copy; both must take the same steps.
 *
 *   header: EXTRA items that are owned │ the struct │ texts, lists, nested structs … */
#include "mapper/plan.h"

#include "base/mem.h"

#include <assert.h>

struct header {
    size_t n_items;
    sheaf_item **items; /* copies that sheaf_dup_free gives back */
};
enum { HEADER = (sizeof(struct header) + 15) / 16 * 16 };

struct copy {
    uint8_t *block; /* NULL: measuring */
    size_t used;
    struct header *header;
    size_t n_items;
    bool has_failed;
};

static void *take(struct copy *c, const void *from, size_t n)
{
    size_t at = (c->used + 15) / 16 * 16;
    c->used = at + n;
    if (!c->block) return NULL;
    if (n) memcpy(c->block + at, from, n);
    return c->block + at;
}

/* n bytes of text and a NUL. */
static void *take_text(struct copy *c, const void *from, size_t n)
{
    size_t at = c->used;
    c->used += n + 1;
    if (!c->block) return NULL;
    if (n) memcpy(c->block + at, from, n);
    c->block[at + n] = '\0';
    return c->block + at;
}

static void copy_members(struct copy *c, const sheaf_shape *shape, const void *from, void *to);

static void copy_texts(struct copy *c, const char *const *from, size_t n, const char **to)
{
    for (size_t i = 0; i < n; i++) {
        void *p = from[i] ? take_text(c, from[i], strlen(from[i])) : NULL;
        if (to) to[i] = p;
    }
}

static void copy_spans(struct copy *c, const struct sheaf_span *from, size_t n,
                       struct sheaf_span *to)
{
    for (size_t i = 0; i < n; i++) {
        void *p = take_text(c, from[i].p, from[i].n);
        if (to) to[i].p = p;
    }
}

static void copy_pairs(struct copy *c, const struct sheaf_pair *from, size_t n,
                       struct sheaf_pair *to)
{
    for (size_t i = 0; i < n; i++) {
        void *name = take_text(c, from[i].name, strlen(from[i].name));
        void *value = take_text(c, from[i].value, strlen(from[i].value));
        if (to) to[i] = (struct sheaf_pair){name, value};
    }
}

static void copy_many(struct copy *c, const sheaf_field *f, const void *from, void *to)
{
    const uint8_t *list = *(const uint8_t *const *)((const uint8_t *)from + f->offset);
    size_t n = *(const size_t *)((const uint8_t *)from + f->count_offset);
    if (!list) return;
    uint8_t *copy = take(c, list, n * f->item_size);
    if (f->kind == SHEAF_IS_STRS || f->kind == SHEAF_IS_STRSET)
        copy_texts(c, (const char *const *)(const void *)list, n, (const char **)(void *)copy);
    if (f->kind == SHEAF_IS_BYTESET) copy_spans(c, (const void *)list, n, (void *)copy);
    if (f->kind == SHEAF_IS_MAP) copy_pairs(c, (const void *)list, n, (void *)copy);
    for (size_t i = 0; f->kind == SHEAF_IS_LIST && i < n; i++)
        copy_members(c, f->aux, list + i * f->item_size, copy ? copy + i * f->item_size : NULL);
    if (to) *(void **)((uint8_t *)to + f->offset) = copy;
}

static void copy_text(struct copy *c, const sheaf_field *f, const void *p, void *to)
{
    if (f->rep == SHEAF_REP_CSTR) {
        const char *s = *(const char *const *)p;
        void *copy = s ? take_text(c, s, strlen(s)) : NULL;
        if (to) *(const char **)to = copy;
    } else if (f->rep == SHEAF_REP_STR) {
        const sheaf_str *s = p;
        void *copy = s->p ? take_text(c, s->p, s->n) : NULL;
        if (to) ((sheaf_str *)to)->p = copy;
    }
}

static void copy_extra(struct copy *c, const void *p, void *to)
{
    const sheaf_item *item = *(const sheaf_item *const *)p;
    if (!item) return;
    size_t i = c->n_items++;
    if (!to) return;
    c->header->items[i] = sheaf_item_dup(item);
    if (!c->header->items[i]) c->has_failed = true;
    c->header->n_items = i + 1;
    *(const sheaf_item **)to = c->header->items[i];
}

static void copy_member(struct copy *c, const sheaf_field *f, const void *from, void *to)
{
    const uint8_t *p = (const uint8_t *)from + f->offset;
    void *at = to ? (uint8_t *)to + f->offset : NULL;
    const void *there;
    void *copy;
    switch (f->kind) {
    case SHEAF_IS_KEY:
        return;
    case SHEAF_IS_STR:
    case SHEAF_IS_DECIMAL:
        copy_text(c, f, p, at);
        return;
    case SHEAF_IS_BYTES:
        if (((const struct sheaf_span *)(const void *)p)->p) copy_spans(c, (const void *)p, 1, at);
        return;
    case SHEAF_IS_EXTRA:
        copy_extra(c, p, at);
        return;
    case SHEAF_IS_LIST:
    case SHEAF_IS_STRS:
    case SHEAF_IS_STRSET:
    case SHEAF_IS_INTSET:
    case SHEAF_IS_BYTESET:
    case SHEAF_IS_MAP:
        copy_many(c, f, from, to);
        return;
    case SHEAF_IS_NEST:
        if (!(f->rep & SHEAF_REP_OPT)) copy_members(c, f->aux, p, at);
        break;
    default:
        break;
    }
    if (!(f->rep & SHEAF_REP_OPT)) return;
    there = *(const void *const *)(const void *)p;
    if (!there) return;
    copy = take(c, there, f->item_size);
    if (f->kind == SHEAF_IS_NEST) copy_members(c, f->aux, there, copy);
    if (at) *(void **)at = copy;
}

static void copy_members(struct copy *c, const sheaf_shape *shape, const void *from, void *to)
{
    size_t n;
    const sheaf_field *fields = shape->fields(&n);
    for (size_t i = 0; i < n; i++) copy_member(c, &fields[i], from, to);
}

/* The struct and all behind it; `to` is NULL when measuring. */
static void *copy_all(struct copy *c, const sheaf_shape *shape, const void *object)
{
    void *to = take(c, object, shape->size);
    copy_members(c, shape, object, to);
    return to;
}

void *sheaf_dup_(const sheaf_entity *entity, const void *object)
{
    struct copy measure = {.used = HEADER};
    copy_all(&measure, &entity->shape, object);
    size_t items_at = (measure.used + 15) / 16 * 16;
    uint8_t *block = mem_zalloc(items_at + measure.n_items * sizeof(sheaf_item *));
    if (!block) return NULL;
    struct copy c = {.block = block, .used = HEADER, .header = (struct header *)(void *)block};
    c.header->items = (sheaf_item **)(void *)(block + items_at);
    void *to = copy_all(&c, &entity->shape, object);
    assert(c.used == measure.used && c.n_items == measure.n_items);
    if (!c.has_failed) return to;
    sheaf_dup_free(to);
    return NULL;
}

void sheaf_dup_free(void *object)
{
    if (!object) return;
    struct header *h = (struct header *)(void *)((uint8_t *)object - HEADER);
    for (size_t i = 0; i < h->n_items; i++) sheaf_item_free(h->items[i]);
    mem_free(h);
}
