/* Items on the heap, built attribute by attribute. Know before editing: values are converted once,
 * when they are set, into the form that getters read; what is replaced stays in the arena until
 * there is more waste than use, then everything that is left moves into a new one. Names are found
 * by a hash, so that building is linear. */
#include "api/api.h"
#include "base/mem.h"

#include <assert.h>

enum { WASTE_MIN = 64 << 10, SCRATCH_BYTES = 2048 };

/* What sheaf_item_new hands out: the item first, so that its address is the caller's pointer.
 * attrs, costs: cap of them. slots: a hash of names, open addressing, 0 is free, else 1 + place. */
struct built {
    sheaf_item item;
    struct arena arena;
    size_t cap;
    uint32_t *costs; /* bytes of the arena that an attribute takes, its name included */
    uint32_t *slots;
    size_t n_slots;    /* a power of two, at least twice as many as attributes */
    size_t live, used; /* bytes: of what is there, of everything set since the arena is new */
};

static sheaf_attr *attrs_of(struct built *b) { return (sheaf_attr *)b->item.attrs; }

static void new_arena(struct arena *a) { arena_init(a, (size_t)4 * API_ITEM_BYTES_MAX); }

sheaf_item *sheaf_item_new(void)
{
    struct built *b = mem_zalloc(sizeof *b);
    if (!b) return NULL;
    new_arena(&b->arena);
    return &b->item;
}

void sheaf_item_free(sheaf_item *item)
{
    if (!item) return;
    struct built *b = (struct built *)item;
    arena_deinit(&b->arena);
    mem_free((void *)b->item.attrs);
    mem_free(b->costs);
    mem_free(b->slots);
    mem_free(b);
}

/* ---- names ---- */

static size_t hash_of(const char *name)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *p = name; *p; p++) h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
    return (size_t)(h ^ (h >> 32));
}

/* The slot of a name, or the free one where it belongs. There is always a free one. */
static size_t slot_of(const struct built *b, const char *name)
{
    size_t mask = b->n_slots - 1, at = hash_of(name) & mask;
    assert(b->n_slots > b->item.n);
    while (b->slots[at] && strcmp(b->item.attrs[b->slots[at] - 1].name, name) != 0)
        at = (at + 1) & mask;
    return at;
}

/* The place of a name among the attributes, or how many there are. */
static size_t place_of(const struct built *b, const char *name)
{
    uint32_t slot = b->n_slots ? b->slots[slot_of(b, name)] : 0;
    return slot ? slot - 1 : b->item.n;
}

/* Closes the gap, so that whatever was pushed behind the freed slot is still found. */
static void free_slot(struct built *b, size_t gap)
{
    size_t mask = b->n_slots - 1;
    b->slots[gap] = 0;
    for (size_t at = (gap + 1) & mask; b->slots[at]; at = (at + 1) & mask) {
        size_t home = hash_of(b->item.attrs[b->slots[at] - 1].name) & mask;
        if (((at - home) & mask) < ((at - gap) & mask)) continue;
        b->slots[gap] = b->slots[at];
        b->slots[at] = 0;
        gap = at;
    }
}

static bool grow_slots(struct built *b, size_t n)
{
    uint32_t *slots = mem_zalloc(n * sizeof *slots);
    if (!slots) return false;
    mem_free(b->slots);
    b->slots = slots;
    b->n_slots = n;
    for (size_t i = 0; i < b->item.n; i++)
        b->slots[slot_of(b, b->item.attrs[i].name)] = (uint32_t)i + 1;
    return true;
}

/* For one more attribute. */
static bool make_room(struct built *b)
{
    if (b->item.n < b->cap) return true;
    size_t cap = b->cap ? b->cap * 2 : 8;
    if (cap > UINT32_MAX / 2) return false;
    sheaf_attr *attrs = mem_realloc((void *)b->item.attrs, cap * sizeof *attrs);
    if (!attrs) return false;
    b->item.attrs = attrs;
    uint32_t *costs = mem_realloc(b->costs, cap * sizeof *costs);
    if (!costs) return false;
    b->costs = costs;
    if (!grow_slots(b, cap * 2)) return false;
    b->cap = cap;
    return true;
}

/* ---- values ---- */

/* Through the encoding: it checks the value, copies it whole, and makes reading uniform. Encoded
 * aside, so that what the builder leaves behind does not stay. */
static sheaf_rc copy_value(struct arena *to, const sheaf_value *v, sheaf_value *out, uint32_t *cost)
{
    _Alignas(16) uint8_t room[SCRATCH_BYTES];
    struct arena aside;
    arena_init_in(&aside, room, sizeof room, (size_t)4 * API_ITEM_BYTES_MAX);
    struct ctx c = {&aside, NULL};
    struct vb builder;
    val box, one = VAL_ABSENT;
    vb_init(&builder, &c, API_ITEM_BYTES_MAX);
    vb_list_begin(&builder);
    api_put_value(&builder, v);
    vb_end(&builder);
    sheaf_rc rc = vb_finish(&builder, &box);
    if (rc == SHEAF_OK) {
        one = val_at(box, 0);
        *cost = one.n + (val_type(one) >= VAL_M ? (uint32_t)sizeof(struct api_view) : 48u);
        if (!api_copy_value(to, one, out)) rc = SHEAF_NOMEM;
    }
    arena_deinit(&aside);
    return rc;
}

/* Moves what is left into a new arena; without memory for it all stays as it is. Views point to
 * their arena, so it keeps its address. */
static void compact(struct built *b)
{
    struct arena old = b->arena;
    size_t n = b->item.n;
    sheaf_attr *moved = mem_alloc((n + 1) * sizeof *moved);
    bool is_good = moved != NULL;
    new_arena(&b->arena);
    for (size_t i = 0; i < n && is_good; i++) {
        const sheaf_attr *a = &b->item.attrs[i];
        uint32_t cost;
        moved[i].name = arena_dup(&b->arena, SPAN(a->name, strlen(a->name) + 1)).p;
        is_good =
            moved[i].name && copy_value(&b->arena, &a->value, &moved[i].value, &cost) == SHEAF_OK;
    }
    if (is_good && n) memcpy(attrs_of(b), moved, n * sizeof *moved);
    if (is_good) b->used = b->live;
    arena_deinit(is_good ? &old : &b->arena);
    if (!is_good) b->arena = old;
    mem_free(moved);
}

static void tidy(struct built *b)
{
    assert(b->used >= b->live);
    if (b->used - b->live > b->live + WASTE_MIN) compact(b);
}

static sheaf_rc add(struct built *b, const char *name, const sheaf_value *value, uint32_t cost)
{
    size_t n = strlen(name) + 1, i = b->item.n;
    if (n > API_ITEM_BYTES_MAX) return SHEAF_VALIDATION;
    span text = arena_dup(&b->arena, SPAN(name, n));
    if (!text.p || !make_room(b)) return SHEAF_NOMEM;
    b->slots[slot_of(b, name)] = (uint32_t)i + 1;
    attrs_of(b)[i] = (sheaf_attr){text.p, *value};
    b->costs[i] = cost + (uint32_t)n;
    b->live += b->costs[i];
    b->used += n;
    b->item.n++;
    return SHEAF_OK;
}

sheaf_rc sheaf_item_set(sheaf_item *item, const char *name, sheaf_value value)
{
    struct built *b = (struct built *)item;
    sheaf_value copy;
    uint32_t cost = 0;
    if (!item || !name) return SHEAF_VALIDATION;
    TRY(copy_value(&b->arena, &value, &copy, &cost));
    b->used += cost;
    size_t i = place_of(b, name);
    if (i == item->n) return add(b, name, &copy, cost);
    uint32_t n = (uint32_t)strlen(name) + 1;
    attrs_of(b)[i].value = copy;
    b->live += cost + n;
    b->live -= b->costs[i];
    b->costs[i] = cost + n;
    tidy(b);
    return SHEAF_OK;
}

sheaf_rc sheaf_item_unset(sheaf_item *item, const char *name)
{
    struct built *b = (struct built *)item;
    if (!item || !name) return SHEAF_VALIDATION;
    size_t i = place_of(b, name), last = item->n - 1;
    if (i == item->n) return SHEAF_OK;
    b->live -= b->costs[i];
    free_slot(b, slot_of(b, name));
    if (i != last) { /* the last one takes its place */
        b->slots[slot_of(b, item->attrs[last].name)] = (uint32_t)i + 1;
        attrs_of(b)[i] = item->attrs[last];
        b->costs[i] = b->costs[last];
    }
    item->n--;
    tidy(b);
    return SHEAF_OK;
}

sheaf_item *sheaf_item_dup(const sheaf_item *item)
{
    sheaf_item *copy = item ? sheaf_item_new() : NULL;
    for (size_t i = 0; copy && i < item->n; i++) {
        sheaf_attr a;
        if (sheaf_item_at(item, i, &a) && sheaf_item_set(copy, a.name, a.value) == SHEAF_OK)
            continue;
        sheaf_item_free(copy);
        copy = NULL;
    }
    return copy;
}
