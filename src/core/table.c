/* Turns table descriptions into copies, keys and look-ups. Know before editing: everything a struct
 * table points to lies in its own
 * arena, so that one unref frees it. */
#include "core/table.h"

#include "base/mem.h"
#include "core/rows.h"
#include "core/state.h"

#include <assert.h>

enum { TABLE_BYTES_MAX = 8 << 20 };

struct table *table_new(void)
{
    struct table *t = mem_zalloc(sizeof *t);
    if (!t) return NULL;
    arena_init(&t->arena, TABLE_BYTES_MAX);
    atomic_init(&t->refs, 1);
    return t;
}

void table_unref(struct table *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
    gauges_unref(t->gauges);
    arena_deinit(&t->arena);
    mem_free(t);
}

const struct table_stream *table_stream(const struct table *t)
{
    if (t->n_streams == 0) return NULL;
    const struct table_stream *newest = &t->streams[t->n_streams - 1];
    return newest->disabled_us ? NULL : newest;
}

const struct table_index *table_index(const struct table *t, span name)
{
    for (uint32_t i = 0; i < t->n_indexes; i++)
        if (span_eq(t->indexes[i].def.name, name)) return &t->indexes[i];
    return NULL;
}

/* An item of nothing but the key has its two attributes in the order of their names. */
static val find_key(const struct table *t, val item, bool is_range)
{
    const struct core_key *mine = is_range ? &t->range : &t->hash;
    const struct core_key *other = is_range ? &t->hash : &t->range;
    atomic_uint *at = (atomic_uint *)(uintptr_t)(is_range ? &t->range_at : &t->hash_at);
    uint32_t n = val_count(item);
    bool is_key = n <= 2;
    uint32_t was = is_key ? n == 2 && span_cmp(other->name, mine->name) < 0
                          : atomic_load_explicit(at, memory_order_relaxed);
    uint32_t hint = was;
    val v = val_find_near(item, mine->name, &hint);
    if (!is_key && hint != was) atomic_store_explicit(at, hint, memory_order_relaxed);
    return v;
}

val table_hash_of(const struct table *t, val item) { return find_key(t, item, false); }

val table_range_of(const struct table *t, val item)
{
    return t->has_range ? find_key(t, item, true) : VAL_ABSENT;
}

/* ---- key items ---- */

struct key_names {
    span names[10];
    uint32_t n;
};

static void add_name(struct key_names *k, span name)
{
    for (uint32_t i = 0; i < k->n; i++)
        if (span_eq(k->names[i], name)) return;
    k->names[k->n++] = name;
}

sheaf_rc table_key_item(struct ctx *c, const struct table *t, const struct table_index *x, val item,
                        span *key_out)
{
    struct key_names k = {.n = 0};
    add_name(&k, t->hash.name);
    if (t->has_range) add_name(&k, t->range.name);
    for (uint32_t i = 0; x && i < x->def.n_hash; i++) add_name(&k, x->def.hash[i].name);
    for (uint32_t i = 0; x && i < x->def.n_range; i++) add_name(&k, x->def.range[i].name);
    struct vb b;
    vb_init(&b, c, 64 << 10);
    vb_map_begin(&b);
    for (uint32_t i = 0; i < k.n; i++) {
        val v = val_find(item, k.names[i]);
        if (val_is_absent(v)) continue;
        vb_name(&b, k.names[i]);
        vb_raw(&b, v);
    }
    vb_end(&b);
    return vb_finish_item(&b, key_out);
}

sheaf_rc table_set_catalog_key(struct core *core, struct table *t, sheaf_error *err)
{
    struct vb b;
    struct ctx c = {&t->arena, err};
    val name;
    vb_init(&b, &c, 1024);
    vb_s(&b, t->name);
    TRY(vb_finish(&b, &name));
    t->catalog_key =
        (sheaf_engine_key){key_place(core_secret(core), SPACE_CATALOG, 1, &name), t->name};
    return SHEAF_OK;
}

/* ---- copies ---- */

static bool dup(struct arena *a, span *s)
{
    if (!s->p) return true;
    *s = arena_dup(a, *s);
    return s->p != NULL;
}

static bool dup_keys(struct arena *a, struct core_key *keys, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!dup(a, &keys[i].name)) return false;
    return true;
}

bool table_dup_index(struct arena *a, struct core_index_def *def)
{
    if (!dup(a, &def->name)) return false;
    if (!dup_keys(a, def->hash, def->n_hash) || !dup_keys(a, def->range, def->n_range))
        return false;
    span *include = ARENA_ARRAY(a, span, def->n_include + 1);
    if (!include) return false;
    for (uint32_t i = 0; i < def->n_include; i++) {
        include[i] = def->include[i];
        if (!dup(a, &include[i])) return false;
    }
    def->include = include;
    return true;
}

static bool copy_lists(struct table *to, const struct table *from)
{
    struct arena *a = &to->arena;
    to->indexes = ARENA_ARRAY(a, struct table_index, from->n_indexes + 1);
    to->streams = ARENA_ARRAY(a, struct table_stream, from->n_streams + 1);
    struct core_key *definitions = ARENA_ARRAY(a, struct core_key, from->n_definitions + 8);
    if (!to->indexes || !to->streams || !definitions) return false;
    for (uint32_t i = 0; i < from->n_indexes; i++) {
        to->indexes[i] = from->indexes[i];
        if (!table_dup_index(a, &to->indexes[i].def) || !dup(a, &to->indexes[i].backfill_after))
            return false;
    }
    for (uint32_t i = 0; i < from->n_streams; i++) {
        to->streams[i] = from->streams[i];
        if (!dup(a, &to->streams[i].label)) return false;
    }
    for (uint32_t i = 0; i < from->n_definitions; i++) definitions[i] = from->definitions[i];
    to->definitions = definitions;
    return dup_keys(a, definitions, from->n_definitions) &&
           table_dup_tags(a, from->tags, from->n_tags, &to->tags);
}

bool table_dup_tags(struct arena *a, const struct core_tag *tags, uint32_t n,
                    struct core_tag **copy_out)
{
    struct core_tag *copy = ARENA_ARRAY(a, struct core_tag, n + 1);
    *copy_out = copy;
    for (uint32_t i = 0; copy && i < n; i++) {
        copy[i] = tags[i];
        if (!dup(a, &copy[i].key) || !dup(a, &copy[i].value)) return false;
    }
    return copy != NULL;
}

/* What is told of a table and does not shape it. */
static bool copy_settings(struct table *to, const struct table *from)
{
    to->on_demand = from->on_demand;
    to->warm = from->warm;
    to->changes = from->changes;
    to->is_kms = from->is_kms;
    to->kms_key = from->kms_key;
    to->on_demand_us = from->on_demand_us;
    to->class_us = from->class_us;
    to->n_tags = from->n_tags;
    return dup(&to->arena, &to->kms_key);
}

static bool copy_all(struct table *to, const struct table *from)
{
    to->number = from->number;
    to->space = from->space;
    to->stats_space = from->stats_space;
    to->ttl_space = from->ttl_space;
    to->created_us = from->created_us;
    to->hash = from->hash;
    to->range = from->range;
    to->has_range = from->has_range;
    to->has_local = from->has_local;
    to->n_indexes = from->n_indexes;
    to->is_provisioned = from->is_provisioned;
    to->is_protected = from->is_protected;
    to->is_infrequent = from->is_infrequent;
    to->read_units = from->read_units;
    to->write_units = from->write_units;
    to->n_streams = from->n_streams;
    to->n_definitions = from->n_definitions;
    to->name = from->name;
    to->id = from->id;
    to->ttl_attribute = from->ttl_attribute;
    to->is_ttl_filling = from->is_ttl_filling;
    to->ttl_after = from->ttl_after;
    to->catalog_key = from->catalog_key;
    struct arena *a = &to->arena;
    if (!dup(a, &to->name) || !dup(a, &to->id) || !dup(a, &to->ttl_attribute)) return false;
    if (!dup(a, &to->ttl_after)) return false;
    if (!dup(a, &to->hash.name) || !dup(a, &to->range.name)) return false;
    to->catalog_key.s = to->name;
    return copy_settings(to, from) && copy_lists(to, from);
}

sheaf_rc table_copy(const struct table *t, struct table **copy_out, sheaf_error *err)
{
    *copy_out = NULL;
    struct table *copy = table_new();
    if (!copy) return err_nomem(err);
    if (!copy_all(copy, t)) {
        table_unref(copy);
        return err_nomem(err);
    }
    copy->gauges = gauges_ref(t->gauges);
    *copy_out = copy;
    return SHEAF_OK;
}
