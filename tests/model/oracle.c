/* Turns changes into arrays of items and of log records. Know before editing: every look-up
 * walks the array, every count is counted anew; that is the point. */
#include "model/oracle.h"

#include <assert.h>
#include <stdlib.h>

#define S_(name_)                                                                                  \
    {                                                                                              \
        name_, SHEAF_S                                                                             \
    }
#define N_(name_)                                                                                  \
    {                                                                                              \
        name_, SHEAF_N                                                                             \
    }
#define B_(name_)                                                                                  \
    {                                                                                              \
        name_, SHEAF_B                                                                             \
    }
/* clang-format off */
#define ALL SHEAF_PROJECT_ALL
#define KEYS SHEAF_PROJECT_KEYS_ONLY
#define SOME SHEAF_PROJECT_INCLUDE
const struct schema schemas[N_SCHEMAS] = {
    /* A simple key, nothing else. */
    {.hash = S_("pk")},
    /* Local indexes, and a global one on the same attribute. */
    {.hash = S_("pk"), .range = S_("sk"), .n_indexes = 4,
     .stream = SHEAF_STREAM_NEW_AND_OLD_IMAGES,
     .indexes = {{"local-keys", true, {S_("pk")}, {N_("l2")}, KEYS, {0}},
                 {"local-all", true, {S_("pk")}, {S_("l1")}, ALL, {0}},
                 {"global-all", false, {S_("l1")}, {N_("l2")}, ALL, {0}},
                 {"local-some", true, {S_("pk")}, {N_("g2")}, SOME, {"a", "m", NULL}}}},
    /* All projections; sparse; an index over the table's own keys turned around. */
    {.hash = S_("pk"), .range = N_("sk"), .n_indexes = 4,
     .stream = SHEAF_STREAM_NEW_IMAGE, .has_ttl = true,
     .indexes = {{"keys", false, {S_("g1")}, {N_("g2")}, KEYS, {0}},
                 {"some", false, {N_("g2")}, {S_("g1")}, SOME, {"a", "n", "ss"}},
                 {"all", false, {B_("g3")}, {{0}}, ALL, {0}},
                 {"turned", false, {N_("sk")}, {S_("pk")}, KEYS, {0}}}},
    /* Binary keys; indexes with several attributes. */
    {.hash = B_("pk"), .range = B_("sk"), .n_indexes = 2, .stream = SHEAF_STREAM_KEYS_ONLY,
     .indexes = {{"many", false, {S_("g1"), N_("g2")}, {S_("l1"), N_("l2"), B_("g3")}, ALL, {0}},
                 {"many-keys", false, {B_("g3"), S_("l1")}, {N_("g2"), B_("sk")}, KEYS, {0}}}},
    /* A number as the only key; an index without a sort key. */
    {.hash = N_("pk"), .n_indexes = 1, .stream = SHEAF_STREAM_OLD_IMAGE, .has_ttl = true,
     .indexes = {{"by-g1", false, {S_("g1")}, {{0}}, SOME, {"b", NULL}}}},
    /* Numbers and binaries, a local index on binaries, a global one on the partition key. */
    {.hash = N_("pk"), .range = B_("sk"), .n_indexes = 2,
     .indexes = {{"local-b", true, {N_("pk")}, {B_("g3")}, ALL, {0}},
                 {"again", false, {N_("pk")}, {N_("g2")}, KEYS, {0}}}},
};
const struct schema_index schema_late =
    {"late", false, {S_("x1")}, {N_("x2")}, SOME, {"b", "l", NULL}};
/* clang-format on */

uint32_t schema_count(const struct schema_key keys[4])
{
    uint32_t n = 0;
    while (n < 4 && keys[n].name) n++;
    return n;
}

struct stored *stored_new(const struct tree *v)
{
    struct stored *s = tree_room(NULL, sizeof *s);
    *s = (struct stored){.refs = 1, .v = tree_dup(NULL, v)};
    return s;
}

void stored_drop(struct stored *s)
{
    if (!s || --s->refs) return;
    tree_free(&s->v);
    free(s);
}

static struct stored *stored_take(struct stored *s)
{
    if (s) s->refs++;
    return s;
}

/* ---- indexes ---- */

const struct schema_index *model_index_at(const struct model_table *t, uint32_t i)
{
    if (i < t->schema->n_indexes) return &t->schema->indexes[i];
    return i == t->schema->n_indexes && t->has_late ? &schema_late : NULL;
}

/* Whether the item's value can be this key: of its type, not empty, not too long. */
static bool is_fit(const struct schema_key *k, const struct tree *item, size_t max)
{
    const struct tree *v = tree_find(item, k->name);
    return v && v->type == k->type && (k->type == SHEAF_N || (v->n > 0 && v->n <= max));
}

enum { HASH_MAX = 2048, RANGE_MAX = 1024 };

bool index_holds(const struct schema_index *x, const struct tree *item)
{
    for (uint32_t i = 0; i < schema_count(x->hash); i++)
        if (!is_fit(&x->hash[i], item, HASH_MAX)) return false;
    for (uint32_t i = 0; i < schema_count(x->range); i++)
        if (!is_fit(&x->range[i], item, RANGE_MAX)) return false;
    return true;
}

static bool is_among(const struct schema_key keys[4], const char *name)
{
    for (uint32_t i = 0; i < schema_count(keys); i++)
        if (strcmp(keys[i].name, name) == 0) return true;
    return false;
}

bool is_key_name(const struct model_table *t, const char *name)
{
    return strcmp(t->schema->hash.name, name) == 0 ||
           (t->schema->range.name && strcmp(t->schema->range.name, name) == 0);
}

bool index_shows(const struct model_table *t, const struct schema_index *x, const char *name)
{
    if (!x || x->projection == SHEAF_PROJECT_ALL) return true;
    if (is_key_name(t, name) || is_among(x->hash, name) || is_among(x->range, name)) return true;
    for (uint32_t i = 0; x->projection == SHEAF_PROJECT_INCLUDE && i < 3 && x->include[i]; i++)
        if (strcmp(x->include[i], name) == 0) return true;
    return false;
}

struct tree index_view(struct arena *a, const struct model_table *t, const struct schema_index *x,
                       const struct tree *item)
{
    struct tree view = tree_box(a, SHEAF_M, item->n);
    for (size_t i = 0; i < item->n; i++)
        if (index_shows(t, x, item->at[i].name)) tree_set(&view, item->at[i].name, item->at[i].v);
    return view;
}

static const char *bad_key(const struct schema_key keys[4], const struct tree *item, size_t max)
{
    for (uint32_t i = 0; i < schema_count(keys); i++)
        if (tree_find(item, keys[i].name) && !is_fit(&keys[i], item, max)) return keys[i].name;
    return NULL;
}

const char *model_bad_index_key(const struct model_table *t, const struct tree *item)
{
    const struct schema_index *x;
    for (uint32_t i = 0; (x = model_index_at(t, i)); i++) {
        const char *bad = bad_key(x->hash, item, HASH_MAX);
        if (!bad) bad = bad_key(x->range, item, RANGE_MAX);
        if (bad) return bad;
    }
    return NULL;
}

struct tree key_of(struct arena *a, const struct model_table *t, const struct schema_index *x,
                   const struct tree *item)
{
    struct tree key = tree_box(a, SHEAF_M, 10);
    for (size_t i = 0; i < item->n; i++) {
        const char *name = item->at[i].name;
        if (is_key_name(t, name) || (x && (is_among(x->hash, name) || is_among(x->range, name))))
            tree_set(&key, name, item->at[i].v);
    }
    return key;
}

/* ---- changing ---- */

void model_clear_log(struct model_table *t)
{
    for (size_t i = 0; i < t->n_log; i++) {
        stored_drop(t->log[i].old);
        stored_drop(t->log[i].new);
    }
    t->n_log = 0;
}

void model_clear(struct model_table *t)
{
    for (size_t i = 0; i < t->n; i++) stored_drop(t->items[i]);
    model_clear_log(t);
    free(t->items);
    free(t->log);
    struct model_table fresh = {.schema = t->schema};
    memcpy(fresh.name, t->name, sizeof fresh.name);
    *t = fresh;
}

static bool has_key(const struct model_table *t, const struct tree *item, const struct tree *key)
{
    const struct schema *s = t->schema;
    return tree_eq(tree_find(item, s->hash.name), tree_find(key, s->hash.name)) &&
           (!s->range.name ||
            tree_eq(tree_find(item, s->range.name), tree_find(key, s->range.name)));
}

static size_t place_of(const struct model_table *t, const struct tree *key)
{
    size_t i = 0;
    while (i < t->n && !has_key(t, &t->items[i]->v, key)) i++;
    return i;
}

struct stored *model_find(const struct model_table *t, const struct tree *key)
{
    size_t i = place_of(t, key);
    return i < t->n ? t->items[i] : NULL;
}

static void add_log(struct model_table *t, struct stored *old, struct stored *new, int64_t now_us,
                    uint32_t sweep)
{
    if (t->n_log == t->cap_log) {
        t->cap_log = t->cap_log ? t->cap_log * 2 : 64;
        t->log = realloc(t->log, t->cap_log * sizeof *t->log);
        if (!t->log) abort();
    }
    t->log[t->n_log++] = (struct logged){stored_take(old), stored_take(new), now_us, sweep};
}

static void insert(struct model_table *t, struct stored *s)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 64;
        t->items = realloc(t->items, t->cap * sizeof(struct stored *));
        if (!t->items) abort();
    }
    t->items[t->n++] = s;
}

void model_write(struct model_table *t, const struct tree *key, const struct tree *after,
                 int64_t now_us, uint32_t sweep)
{
    size_t i = place_of(t, key);
    struct stored *old = i < t->n ? t->items[i] : NULL;
    if (!old && !after) return;
    if (old && after && tree_eq(&old->v, after)) return;
    struct stored *new = after ? stored_new(after) : NULL;
    if (t->is_streaming) add_log(t, old, new, now_us, sweep);
    if (!old)
        insert(t, new);
    else if (new)
        t->items[i] = new;
    else
        t->items[i] = t->items[--t->n];
    stored_drop(old);
}

static bool is_of(const struct tree *item, const struct tree *partition)
{
    for (size_t i = 0; partition && i < partition->n; i++)
        if (!tree_eq(tree_find(item, partition->at[i].name), &partition->at[i].v)) return false;
    return true;
}

struct count model_count(struct arena *a, const struct model_table *t, const struct schema_index *x,
                         const struct tree *partition)
{
    struct count c = {0, 0};
    for (size_t i = 0; i < t->n; i++) {
        const struct tree *item = &t->items[i]->v;
        if ((x && !index_holds(x, item)) || !is_of(item, partition)) continue;
        struct tree view = index_view(a, t, x, item);
        c.items++;
        c.bytes += tree_item_size(&view);
    }
    return c;
}
