/* Turns a struct table into an encoded item and back. Know before editing: a stored catalog
 * outlives the program, so a member that is
 * missing takes its zero, and a member is never given another meaning. A new member needs a new
 * FORMAT in core.c, or an older release would lose it with its next change of the table. */
#include "base/mem.h"
#include "core/state.h"

#include <assert.h>

enum { CATALOG_ROW_MAX = 4 << 20 };

/* ---- encoding ---- */

static void put_s(struct vb *b, const char *name, span s)
{
    if (!s.p) return;
    vb_name(b, span_cstr(name));
    vb_s(b, s);
}

static void put_b(struct vb *b, const char *name, span s)
{
    if (!s.n) return;
    vb_name(b, span_cstr(name));
    vb_b(b, s);
}

static void put_i(struct vb *b, const char *name, int64_t i)
{
    if (i == 0) return;
    struct num n;
    num_from_i64(i, &n);
    vb_name(b, span_cstr(name));
    vb_n(b, &n);
}

static void put_u(struct vb *b, const char *name, uint64_t u)
{
    assert(u <= INT64_MAX);
    put_i(b, name, (int64_t)u);
}

static void put_key(struct vb *b, const struct core_key *k)
{
    vb_map_begin(b);
    put_s(b, "name", k->name);
    put_u(b, "type", (uint64_t)k->type);
    vb_end(b);
}

static void put_keys(struct vb *b, const char *name, const struct core_key *keys, uint32_t n)
{
    vb_name(b, span_cstr(name));
    vb_list_begin(b);
    for (uint32_t i = 0; i < n; i++) put_key(b, &keys[i]);
    vb_end(b);
}

/* A figure of 0 is none: no figure that is kept is 0. */
static void put_throughput(struct vb *b, const char *name, const struct core_throughput *x)
{
    if (!x->read && !x->write) return;
    vb_name(b, span_cstr(name));
    vb_map_begin(b);
    put_i(b, "read", x->read);
    put_i(b, "write", x->write);
    vb_end(b);
}

static void put_changes(struct vb *b, const struct core_unit_changes *x)
{
    put_i(b, "increased_us", x->increased_us);
    put_i(b, "decreased_us", x->decreased_us);
    put_u(b, "decreases", x->decreases_today);
}

static void put_tags(struct vb *b, const struct core_tag *tags, uint32_t n)
{
    if (n == 0) return;
    vb_name(b, SPAN_LIT("tags"));
    vb_list_begin(b);
    for (uint32_t i = 0; i < n; i++) {
        vb_map_begin(b);
        put_s(b, "key", tags[i].key);
        put_s(b, "value", tags[i].value);
        vb_end(b);
    }
    vb_end(b);
}

static void put_index(struct vb *b, const struct table_index *x)
{
    vb_map_begin(b);
    put_s(b, "name", x->def.name);
    put_u(b, "space", x->space);
    put_u(b, "is_local", x->def.is_local);
    put_u(b, "status", (uint64_t)x->status);
    put_u(b, "is_backfilling", x->is_backfilling);
    put_b(b, "backfill_after", x->backfill_after);
    put_keys(b, "hash", x->def.hash, x->def.n_hash);
    put_keys(b, "range", x->def.range, x->def.n_range);
    put_u(b, "projection", (uint64_t)x->def.projection);
    vb_name(b, SPAN_LIT("include"));
    vb_list_begin(b);
    for (uint32_t i = 0; i < x->def.n_include; i++) vb_s(b, x->def.include[i]);
    vb_end(b);
    put_u(b, "read_units", x->def.read_units);
    put_u(b, "write_units", x->def.write_units);
    put_throughput(b, "on_demand", &x->def.on_demand);
    put_throughput(b, "warm", &x->def.warm);
    put_changes(b, &x->changes);
    vb_end(b);
}

static void put_stream(struct vb *b, const struct table_stream *s)
{
    vb_map_begin(b);
    put_u(b, "space", s->space);
    put_s(b, "label", s->label);
    put_u(b, "view", (uint64_t)s->view);
    put_i(b, "created_us", s->created_us);
    put_i(b, "disabled_us", s->disabled_us);
    vb_end(b);
}

static void put_settings(struct vb *b, const struct table *t)
{
    put_throughput(b, "on_demand", &t->on_demand);
    put_throughput(b, "warm", &t->warm);
    put_changes(b, &t->changes);
    put_u(b, "is_kms", t->is_kms);
    put_s(b, "kms_key", t->kms_key);
    put_i(b, "on_demand_us", t->on_demand_us);
    put_i(b, "class_us", t->class_us);
    put_tags(b, t->tags, t->n_tags);
}

static void put_table(struct vb *b, const struct table *t)
{
    put_s(b, "name", t->name);
    put_s(b, "id", t->id);
    put_u(b, "number", t->number);
    put_u(b, "space", t->space);
    put_u(b, "stats_space", t->stats_space);
    put_u(b, "ttl_space", t->ttl_space);
    put_i(b, "created_us", t->created_us);
    put_keys(b, "hash", &t->hash, 1);
    put_keys(b, "range", &t->range, t->has_range);
    put_u(b, "is_provisioned", t->is_provisioned);
    put_u(b, "is_protected", t->is_protected);
    put_u(b, "is_infrequent", t->is_infrequent);
    put_u(b, "read_units", t->read_units);
    put_u(b, "write_units", t->write_units);
    put_settings(b, t);
    put_s(b, "ttl_attribute", t->ttl_attribute);
    put_u(b, "is_ttl_filling", t->is_ttl_filling);
    put_b(b, "ttl_after", t->ttl_after);
    put_keys(b, "definitions", t->definitions, t->n_definitions);
    vb_name(b, SPAN_LIT("indexes"));
    vb_list_begin(b);
    for (uint32_t i = 0; i < t->n_indexes; i++) put_index(b, &t->indexes[i]);
    vb_end(b);
    vb_name(b, SPAN_LIT("streams"));
    vb_list_begin(b);
    for (uint32_t i = 0; i < t->n_streams; i++) put_stream(b, &t->streams[i]);
    vb_end(b);
}

/* Whether decoding would take it: a row that cannot be read back makes the whole directory
 * unopenable, so it must never be written. */
static bool are_keys_good(const struct core_key *keys, uint32_t n, uint32_t max)
{
    for (uint32_t i = 0; i < n && n <= max; i++)
        if (!keys[i].name.p || keys[i].type < VAL_S || keys[i].type > VAL_B) return false;
    return n <= max;
}

static bool is_index_good(const struct table_index *x)
{
    for (uint32_t i = 0; i < x->def.n_include; i++)
        if (!x->def.include[i].p) return false;
    return x->def.name.p && x->space && x->def.n_hash > 0 && (unsigned)x->status <= CORE_ACTIVE &&
           (unsigned)x->def.projection <= CORE_PROJECT_INCLUDE &&
           are_keys_good(x->def.hash, x->def.n_hash, 4) &&
           are_keys_good(x->def.range, x->def.n_range, 4);
}

static bool is_table_good(const struct table *t)
{
    for (uint32_t i = 0; i < t->n_indexes; i++)
        if (!is_index_good(&t->indexes[i])) return false;
    for (uint32_t i = 0; i < t->n_streams; i++)
        if ((unsigned)t->streams[i].view > CORE_STREAM_BOTH) return false;
    for (uint32_t i = 0; i < t->n_tags; i++)
        if (!t->tags[i].key.p || !t->tags[i].value.p) return false;
    return t->name.p && t->space && t->stats_space && are_keys_good(&t->hash, 1, 1) &&
           are_keys_good(&t->range, t->has_range, 1) &&
           are_keys_good(t->definitions, t->n_definitions, UINT32_MAX);
}

sheaf_rc table_encode(struct ctx *c, const struct table *t, span *item_out)
{
    if (!is_table_good(t))
        return err_set(c->err, SHEAF_INTERNAL, "a table's description cannot be stored");
    struct vb b;
    vb_init(&b, c, CATALOG_ROW_MAX);
    vb_map_begin(&b);
    put_table(&b, t);
    vb_end(&b);
    return vb_finish_item(&b, item_out);
}

/* ---- decoding ---- */

/* What has been read so far is good; a missing or odd member of a list makes the row corrupt. */
struct row {
    struct arena *arena;
    bool is_bad;
    bool is_out; /* of memory, which is no damage; is_bad too */
};

static span get_bytes(struct row *r, val m, const char *name, enum val_type type)
{
    val v = val_find(m, span_cstr(name));
    if (val_type(v) != type) return SPAN_NONE;
    span s = arena_dup(r->arena, val_bytes(v));
    if (!s.p) r->is_bad = r->is_out = true;
    return s;
}

static span get_s(struct row *r, val m, const char *name) { return get_bytes(r, m, name, VAL_S); }

static span get_b(struct row *r, val m, const char *name) { return get_bytes(r, m, name, VAL_B); }

static int64_t get_i(val m, const char *name)
{
    val v = val_find(m, span_cstr(name));
    int64_t i = 0;
    if (val_type(v) != VAL_N) return 0;
    struct num n;
    val_num(v, &n);
    return num_to_i64(&n, &i) ? i : 0;
}

static uint64_t get_u(val m, const char *name)
{
    int64_t i = get_i(m, name);
    return i < 0 ? 0 : (uint64_t)i;
}

/* One of the values 0 … last of an enum. */
static unsigned get_enum(struct row *r, val m, const char *name, unsigned last)
{
    uint64_t u = get_u(m, name);
    if (u > last) r->is_bad = true;
    return u > last ? 0 : (unsigned)u;
}

static val get_list(struct row *r, val m, const char *name)
{
    val v = val_find(m, span_cstr(name));
    if (val_type(v) != VAL_L) r->is_bad = true;
    return v;
}

static val map_at(struct row *r, val list, uint32_t i)
{
    val v = val_at(list, i);
    if (val_type(v) != VAL_M) r->is_bad = true;
    return v;
}

/* Up to `max` keys. */
static uint32_t get_keys(struct row *r, val m, const char *name, struct core_key *keys,
                         uint32_t max)
{
    val list = get_list(r, m, name);
    if (r->is_bad || val_count(list) > max) {
        r->is_bad = true;
        return 0;
    }
    uint32_t n = val_count(list);
    for (uint32_t i = 0; i < n; i++) {
        val k = map_at(r, list, i);
        if (r->is_bad) return 0;
        keys[i] =
            (struct core_key){get_s(r, k, "name"), (enum val_type)get_enum(r, k, "type", VAL_B)};
        if (!keys[i].name.p || keys[i].type < VAL_S || keys[i].type > VAL_B) r->is_bad = true;
    }
    return n;
}

static void get_include(struct row *r, val m, struct core_index_def *def)
{
    val list = get_list(r, m, "include");
    if (r->is_bad) return;
    uint32_t n = val_count(list);
    span *include = ARENA_ARRAY(r->arena, span, n + 1);
    if (!include) r->is_bad = r->is_out = true;
    for (uint32_t i = 0; i < n && !r->is_bad; i++) {
        val v = val_at(list, i);
        if (val_type(v) == VAL_S) include[i] = arena_dup(r->arena, val_bytes(v));
        if (!include[i].p) r->is_bad = true;
        if (val_type(v) == VAL_S && !include[i].p) r->is_out = true;
    }
    def->include = include;
    def->n_include = n;
}

static struct core_throughput get_throughput(val m, const char *name)
{
    val x = val_find(m, span_cstr(name));
    if (val_type(x) != VAL_M) return (struct core_throughput){.read = 0};
    int64_t read = get_i(x, "read"), write = get_i(x, "write");
    return (struct core_throughput){read != 0, write != 0, read, write};
}

static struct core_unit_changes get_changes(val m)
{
    return (struct core_unit_changes){get_i(m, "increased_us"), get_i(m, "decreased_us"),
                                      get_u(m, "decreases")};
}

static void get_tags(struct row *r, val m, struct table *t)
{
    if (val_is_absent(val_find(m, SPAN_LIT("tags")))) return;
    val list = get_list(r, m, "tags");
    if (r->is_bad) return;
    t->n_tags = val_count(list);
    t->tags = ARENA_ARRAY(r->arena, struct core_tag, t->n_tags + 1);
    if (!t->tags) r->is_bad = r->is_out = true;
    for (uint32_t i = 0; i < t->n_tags && !r->is_bad; i++) {
        val tag = map_at(r, list, i);
        if (r->is_bad) return;
        t->tags[i] = (struct core_tag){get_s(r, tag, "key"), get_s(r, tag, "value")};
        if (!t->tags[i].key.p || !t->tags[i].value.p) r->is_bad = true;
    }
}

static void get_settings(struct row *r, val m, struct table *t)
{
    t->on_demand = get_throughput(m, "on_demand");
    t->warm = get_throughput(m, "warm");
    t->changes = get_changes(m);
    t->is_kms = get_u(m, "is_kms") != 0;
    t->kms_key = get_s(r, m, "kms_key");
    t->on_demand_us = get_i(m, "on_demand_us");
    t->class_us = get_i(m, "class_us");
    get_tags(r, m, t);
}

static void get_index(struct row *r, val m, struct table_index *x)
{
    x->def.name = get_s(r, m, "name");
    x->space = get_u(m, "space");
    x->def.is_local = get_u(m, "is_local") != 0;
    x->status = (enum core_status)get_enum(r, m, "status", CORE_ACTIVE);
    x->is_backfilling = get_u(m, "is_backfilling") != 0;
    x->backfill_after = get_b(r, m, "backfill_after");
    x->def.n_hash = get_keys(r, m, "hash", x->def.hash, 4);
    x->def.n_range = get_keys(r, m, "range", x->def.range, 4);
    x->def.projection = (enum core_projection)get_enum(r, m, "projection", CORE_PROJECT_INCLUDE);
    x->def.read_units = get_u(m, "read_units");
    x->def.write_units = get_u(m, "write_units");
    x->def.on_demand = get_throughput(m, "on_demand");
    x->def.warm = get_throughput(m, "warm");
    x->changes = get_changes(m);
    get_include(r, m, &x->def);
    if (!x->def.name.p || !x->space || x->def.n_hash == 0) r->is_bad = true;
}

static void get_indexes(struct row *r, val m, struct table *t)
{
    val list = get_list(r, m, "indexes");
    if (r->is_bad) return;
    t->n_indexes = val_count(list);
    t->indexes = ARENA_ARRAY(r->arena, struct table_index, t->n_indexes + 1);
    if (!t->indexes) r->is_bad = r->is_out = true;
    for (uint32_t i = 0; i < t->n_indexes && !r->is_bad; i++) {
        val x = map_at(r, list, i);
        if (!r->is_bad) get_index(r, x, &t->indexes[i]);
        if (t->indexes[i].def.is_local) t->has_local = true;
    }
}

static void get_streams(struct row *r, val m, struct table *t)
{
    val list = get_list(r, m, "streams");
    if (r->is_bad) return;
    t->n_streams = val_count(list);
    t->streams = ARENA_ARRAY(r->arena, struct table_stream, t->n_streams + 1);
    if (!t->streams) r->is_bad = r->is_out = true;
    for (uint32_t i = 0; i < t->n_streams && !r->is_bad; i++) {
        val s = map_at(r, list, i);
        if (r->is_bad) return;
        t->streams[i] = (struct table_stream){
            .space = get_u(s, "space"),
            .label = get_s(r, s, "label"),
            .view = (enum core_stream_view)get_enum(r, s, "view", CORE_STREAM_BOTH),
            .created_us = get_i(s, "created_us"),
            .disabled_us = get_i(s, "disabled_us")};
    }
}

static void get_definitions(struct row *r, val m, struct table *t)
{
    val list = get_list(r, m, "definitions");
    if (r->is_bad) return;
    struct core_key *keys = ARENA_ARRAY(r->arena, struct core_key, val_count(list) + 1);
    if (!keys) {
        r->is_bad = r->is_out = true;
        return;
    }
    t->n_definitions = get_keys(r, m, "definitions", keys, val_count(list));
    t->definitions = keys;
}

static void get_table(struct row *r, val m, struct table *t)
{
    t->name = get_s(r, m, "name");
    t->id = get_s(r, m, "id");
    t->number = get_u(m, "number");
    t->space = get_u(m, "space");
    t->stats_space = get_u(m, "stats_space");
    t->ttl_space = get_u(m, "ttl_space");
    t->created_us = get_i(m, "created_us");
    t->has_range = get_keys(r, m, "range", &t->range, 1) == 1;
    if (get_keys(r, m, "hash", &t->hash, 1) != 1) r->is_bad = true;
    t->is_provisioned = get_u(m, "is_provisioned") != 0;
    t->is_protected = get_u(m, "is_protected") != 0;
    t->is_infrequent = get_u(m, "is_infrequent") != 0;
    t->read_units = get_u(m, "read_units");
    t->write_units = get_u(m, "write_units");
    get_settings(r, m, t);
    t->ttl_attribute = get_s(r, m, "ttl_attribute");
    t->is_ttl_filling = get_u(m, "is_ttl_filling") != 0;
    t->ttl_after = get_b(r, m, "ttl_after");
    get_definitions(r, m, t);
    get_indexes(r, m, t);
    get_streams(r, m, t);
    if (!t->name.p || !t->space || !t->stats_space) r->is_bad = true;
}

sheaf_rc table_decode(span item, struct table **table_out, sheaf_error *err)
{
    *table_out = NULL;
    TRY(item_check(item, err));
    struct table *t = table_new();
    if (!t) return err_nomem(err);
    struct row r = {.arena = &t->arena};
    get_table(&r, item_map(item), t);
    t->gauges = r.is_bad ? NULL : gauges_new();
    if (r.is_bad || !t->gauges) {
        bool is_damaged = r.is_bad && !r.is_out;
        table_unref(t);
        if (!is_damaged) return err_nomem(err);
        return err_set(err, SHEAF_CORRUPT, "a row of the catalog is damaged");
    }
    *table_out = t;
    return SHEAF_OK;
}
