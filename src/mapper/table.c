/* Makes the table that a map describes, or says in which ways the one that is there differs. */
#include "mapper/plan.h"

#include <stdarg.h>
#include <stdio.h>

enum { LOOKS = 40 }; /* at a table that is being created: some minutes */

/* ---- describing ---- */

/* A table's index as the service takes it. */
static void describe_index(const struct sheaf_table_index *x, struct sheaf_index *out)
{
    if (x->as) {
        *out = *x->as;
        out->name = x->name;
        return;
    }
    *out =
        (struct sheaf_index){.name = x->name, .partition_key = {{x->partition_key, SHEAF_S, {0}}}};
    if (x->sort_key) out->sort_key[0] = (struct sheaf_key){x->sort_key, SHEAF_S, {0}};
}

struct description {
    struct sheaf_index *global, *local;
    size_t n_global, n_local;
};

static sheaf_rc describe(struct ctx *c, const sheaf_map *map, struct description *d)
{
    size_t n = map->n_indexes;
    *d = (struct description){ARENA_ARRAY(c->arena, struct sheaf_index, n),
                              ARENA_ARRAY(c->arena, struct sheaf_index, n), 0, 0};
    if (!d->global || !d->local) return err_nomem(c->err);
    for (size_t i = 0; i + 1 < n; i++) {
        const struct sheaf_table_index *x = &map->table.indexes[i];
        describe_index(x, x->is_local ? &d->local[d->n_local++] : &d->global[d->n_global++]);
    }
    return SHEAF_OK;
}

static sheaf_rc create(struct ctx *c, sheaf_map *map)
{
    const struct sheaf_table *t = &map->table;
    struct description d;
    TRY(describe(c, map, &d));
    struct sheaf_create_table q = {.table = t->name,
                                   .partition_key = {t->partition_key, SHEAF_S, {0}},
                                   .global_indexes = d.global,
                                   .n_global_indexes = d.n_global,
                                   .local_indexes = d.local,
                                   .n_local_indexes = d.n_local,
                                   .stream = t->stream,
                                   .error = c->err};
    if (t->sort_key) q.sort_key = (struct sheaf_key){t->sort_key, SHEAF_S, {0}};
    return sheaf_create_table(map->db, &q, NULL);
}

/* ---- comparing ---- */

struct check {
    sheaf_map *map;
    bool (*differs)(void *ctx, const char *what);
    void *ctx;
    struct buf all; /* every difference, for the message */
    bool is_stopped;
};

__attribute__((format(printf, 2, 3))) static void differ(struct check *k, const char *format, ...)
{
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (k->is_stopped) return;
    if (k->all.n) buf_put(&k->all, "; ", 2);
    buf_put_span(&k->all, span_cstr(what));
    if (k->differs) k->is_stopped = !k->differs(k->ctx, what);
}

static const char *or_none(const char *s) { return s ? s : "none"; }

static bool same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static const char *type_name(sheaf_type t)
{
    return t == SHEAF_S ? "S" : t == SHEAF_N ? "N" : t == SHEAF_B ? "B" : "?";
}

static void check_key(struct check *k, const char *where, const char *which,
                      const struct sheaf_key *want, const struct sheaf_key *is)
{
    if (!same_text(want->name, is->name))
        differ(k, "%s: the %s key is %s, not %s", where, which, or_none(is->name),
               or_none(want->name));
    else if (want->name && want->type != is->type)
        differ(k, "%s: %s is of type %s, not %s", where, is->name, type_name(is->type),
               type_name(want->type));
}

static bool includes(const char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static void check_projection(struct check *k, const struct sheaf_index *want,
                             const struct sheaf_index_description *is)
{
    static const char *const names[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
    if (want->projection != is->projection) {
        differ(k, "index %s: the projection is %s, not %s", want->name, names[is->projection],
               names[want->projection]);
        return;
    }
    for (uint32_t i = 0; want->projection == SHEAF_PROJECT_INCLUDE && i < want->n_include; i++)
        if (!includes(is->include, is->n_include, want->include[i]))
            differ(k, "index %s: %s is not projected", want->name, want->include[i]);
}

static void check_index(struct check *k, const struct sheaf_index *want, bool is_local,
                        const struct sheaf_table_description *table)
{
    const struct sheaf_index_description *is = NULL;
    char where[300];
    for (uint32_t i = 0; i < table->n_indexes; i++) {
        const struct sheaf_index_description *x = sheaf_table_index(table, i);
        if (x && strcmp(x->name, want->name) == 0) is = x;
    }
    snprintf(where, sizeof where, "index %s", want->name);
    if (!is) {
        differ(k, "%s is not there", where);
        return;
    }
    if (is->is_local != is_local)
        differ(k, "%s is %s, not %s", where, is->is_local ? "local" : "global",
               is_local ? "local" : "global");
    for (int i = 0; i < 4; i++) {
        check_key(k, where, "partition", &want->partition_key[i], &is->partition_key[i]);
        check_key(k, where, "sort", &want->sort_key[i], &is->sort_key[i]);
    }
    check_projection(k, want, is);
}

static void check_table(struct check *k, const struct description *d,
                        const struct sheaf_table_description *is)
{
    static const char *const views[] = {"off", "KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE",
                                        "NEW_AND_OLD_IMAGES"};
    const struct sheaf_table *want = &k->map->table;
    struct sheaf_key pk = {want->partition_key, SHEAF_S, {0}}, sk = {want->sort_key, SHEAF_S, {0}};
    check_key(k, "table", "partition", &pk, &is->partition_key);
    check_key(k, "table", "sort", &sk, &is->sort_key);
    for (size_t i = 0; i < d->n_global; i++) check_index(k, &d->global[i], false, is);
    for (size_t i = 0; i < d->n_local; i++) check_index(k, &d->local[i], true, is);
    if (want->stream != SHEAF_STREAM_NONE && want->stream != is->stream)
        differ(k, "the stream is %s, not %s", views[is->stream], views[want->stream]);
}

/* Time to live is not part of DescribeTable. */
static sheaf_rc check_ttl(struct check *k, sheaf_error *err)
{
    sheaf_result *result;
    if (!k->map->ttl) return SHEAF_OK;
    TRY(sheaf_describe_time_to_live(
        k->map->db, &(struct sheaf_table_name){.table = k->map->table.name, .error = err},
        &result));
    const struct sheaf_table_description *t = sheaf_result_table(result);
    const char *is = t ? t->ttl_attribute : NULL;
    if (!same_text(is, k->map->ttl))
        differ(k, "time to live is %s, not %s", is ? is : "off", k->map->ttl);
    sheaf_result_free(result);
    return SHEAF_OK;
}

static sheaf_rc run_check(struct ctx *c, struct check *k)
{
    struct description d;
    sheaf_result *result;
    TRY(describe(c, k->map, &d));
    TRY(sheaf_describe_table(
        k->map->db, &(struct sheaf_table_name){.table = k->map->table.name, .error = c->err},
        &result));
    const struct sheaf_table_description *is = sheaf_result_table(result);
    if (is) check_table(k, &d, is);
    sheaf_result_free(result);
    if (!is) return err_nomem(c->err);
    TRY(check_ttl(k, c->err));
    if (k->all.failed) return err_nomem(c->err);
    if (k->all.n == 0) return SHEAF_OK;
    return err_validation(c->err, "table %s differs: %.*s", k->map->table.name,
                          SPAN_ARG(buf_span(&k->all)));
}

sheaf_rc sheaf_map_check(sheaf_map *map, bool (*differs)(void *ctx, const char *what), void *ctx,
                         sheaf_error *err)
{
    struct arena arena;
    struct check k = {.map = map, .differs = differs, .ctx = ctx};
    err_clear(err);
    arena_init(&arena, MAP_ARENA_MAX);
    buf_init(&k.all, &arena, 1 << 20);
    sheaf_rc rc = run_check(&(struct ctx){&arena, err}, &k);
    arena_deinit(&arena);
    return rc;
}

/* ---- creating ---- */

static sheaf_rc wait_until_active(sheaf_map *map, sheaf_error *err)
{
    for (uint32_t i = 0; i < LOOKS; i++) {
        sheaf_result *result;
        TRY(sheaf_describe_table(
            map->db, &(struct sheaf_table_name){.table = map->table.name, .error = err}, &result));
        const struct sheaf_table_description *t = sheaf_result_table(result);
        bool is_active = t && t->status && strcmp(t->status, "ACTIVE") == 0;
        sheaf_result_free(result);
        if (is_active) return SHEAF_OK;
        map_back_off(map, i);
    }
    return err_set(err, SHEAF_RESOURCE_IN_USE, "Table %s is not active yet", map->table.name);
}

static sheaf_rc switch_ttl_on(sheaf_map *map, sheaf_error *err)
{
    if (!map->ttl) return SHEAF_OK;
    struct sheaf_update_time_to_live q = {
        .table = map->table.name, .attribute = map->ttl, .enabled = true, .error = err};
    return sheaf_update_time_to_live(map->db, &q, NULL);
}

sheaf_rc sheaf_map_create(sheaf_map *map, sheaf_error *err)
{
    struct arena arena;
    err_clear(err);
    arena_init(&arena, MAP_ARENA_MAX);
    sheaf_rc rc = create(&(struct ctx){&arena, err}, map);
    arena_deinit(&arena);
    bool is_there = rc == SHEAF_RESOURCE_IN_USE;
    if (rc != SHEAF_OK && !is_there) return rc;
    TRY(wait_until_active(map, err));
    if (is_there) return sheaf_map_check(map, NULL, NULL, err);
    return switch_ttl_on(map, err);
}
