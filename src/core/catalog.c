/* Turns table names into struct table. Know before editing: `tables` is sorted by name and changed
 * only inside the exclusive
 * section, together with the commit of the catalog row; table.h says why. */
#include "base/mem.h"
#include "core/state.h"

#include <assert.h>

void cat_enter(struct core *core) { pthread_rwlock_rdlock(&core->catalog_lock); }

void cat_leave(struct core *core) { pthread_rwlock_unlock(&core->catalog_lock); }

void cat_enter_exclusive(struct core *core) { pthread_rwlock_wrlock(&core->catalog_lock); }

void cat_leave_exclusive(struct core *core) { pthread_rwlock_unlock(&core->catalog_lock); }

/* Where a table of this name stands, or would stand. */
static bool position_of(const struct core *core, span name, uint32_t *at_out)
{
    uint32_t lo = 0, hi = core->n_tables;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = span_cmp(core->tables[mid]->name, name);
        if (c == 0) {
            *at_out = mid;
            return true;
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *at_out = lo;
    return false;
}

/* "arn:aws:dynamodb:<region>:<account>:table/<name>" stands for the name. */
span cat_name_of(span name)
{
    if (!span_starts(name, SPAN_LIT("arn:"))) return name;
    const char *p = name.p;
    for (size_t i = 0; i + 7 <= name.n; i++)
        if (memcmp(p + i, ":table/", 7) == 0) return span_from(name, i + 7);
    return name;
}

struct table *cat_find_entered(struct core *core, span name)
{
    uint32_t at;
    if (!position_of(core, cat_name_of(name), &at)) return NULL;
    struct table *t = core->tables[at];
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

struct table *cat_find(struct core *core, span name)
{
    cat_enter(core);
    struct table *t = cat_find_entered(core, name);
    cat_leave(core);
    return t;
}

sheaf_rc cat_not_found(sheaf_error *err)
{
    return err_set(err, SHEAF_RESOURCE_NOT_FOUND, "Requested resource not found");
}

sheaf_rc cat_get_entered(struct core *core, span name, struct table **table_out, sheaf_error *err)
{
    *table_out = cat_find_entered(core, name);
    return *table_out ? SHEAF_OK : cat_not_found(err);
}

sheaf_rc cat_get(struct core *core, span name, struct table **table_out, sheaf_error *err)
{
    cat_enter(core);
    sheaf_rc rc = cat_get_entered(core, name, table_out, err);
    cat_leave(core);
    return rc;
}

/* ---- spaces that go ---- */

uint64_t cat_drops(struct core *core) { return atomic_load(&core->drops); }

static bool has_space(const struct table *t, uint64_t space)
{
    if (t->space == space) return true;
    for (uint32_t i = 0; i < t->n_indexes; i++)
        if (t->indexes[i].space == space) return true;
    for (uint32_t i = 0; i < t->n_streams; i++)
        if (t->streams[i].space == space) return true;
    return false;
}

bool cat_still_has(struct core *core, uint64_t drops, const struct table *t, uint64_t space)
{
    if (atomic_load(&core->drops) == drops) return true;
    struct table *now = cat_find(core, t->name);
    bool is_there = now && now->number == t->number && has_space(now, space);
    table_unref(now);
    return is_there;
}

sheaf_rc cat_all(struct core *core, struct ctx *c, struct table ***tables_out, uint32_t *n_out)
{
    *tables_out = NULL;
    *n_out = 0;
    cat_enter(core);
    uint32_t n = core->n_tables;
    struct table **all = ARENA_ARRAY(c->arena, struct table *, n ? n : 1);
    for (uint32_t i = 0; all && i < n; i++) {
        all[i] = core->tables[i];
        atomic_fetch_add_explicit(&all[i]->refs, 1, memory_order_relaxed);
    }
    cat_leave(core);
    if (!all) return err_nomem(c->err);
    *tables_out = all;
    *n_out = n;
    return SHEAF_OK;
}

uint64_t cat_take_number(struct core *core) { return core->next_space++; }

void cat_number_bytes(uint64_t number, uint8_t out[8])
{
    for (int i = 0; i < 8; i++) out[i] = (uint8_t)(number >> (56 - 8 * i));
}

/* ---- installing ---- */

static sheaf_rc make_room(struct core *core, sheaf_error *err)
{
    if (core->n_tables < core->cap_tables) return SHEAF_OK;
    uint32_t cap = core->cap_tables ? core->cap_tables * 2 : 16;
    struct table **more = mem_realloc(core->tables, cap * sizeof *more);
    if (!more) return err_nomem(err);
    core->tables = more;
    core->cap_tables = cap;
    return SHEAF_OK;
}

struct install {
    struct core *core;
    const struct table *old, *next;
    span row; /* of next */
    const struct cat_extra *extra;
};

static sheaf_rc write_row(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    struct install *in = ctx;
    static const sheaf_place meta_place;
    sheaf_engine_key number = {meta_place, SPAN_LIT("next")};
    uint8_t bytes[8];
    cat_number_bytes(in->core->next_space, bytes);
    TRY(eng_put(t, &number, SPAN(bytes, sizeof bytes), err));
    if (in->extra) TRY(eng_put(t, &in->extra->key, in->extra->value, err));
    if (!in->next) return eng_del(t, &in->old->catalog_key, err);
    return eng_put(t, &in->next->catalog_key, in->row, err);
}

static void swap(struct core *core, struct table *old, struct table *next)
{
    uint32_t at;
    bool is_there = position_of(core, old ? old->name : next->name, &at);
    assert(is_there == (old != NULL));
    (void)is_there;
    if (!old) {
        memmove(core->tables + at + 1, core->tables + at,
                (core->n_tables - at) * sizeof *core->tables);
        core->n_tables++;
    }
    if (next) {
        core->tables[at] = next;
    } else {
        core->n_tables--;
        memmove(core->tables + at, core->tables + at + 1,
                (core->n_tables - at) * sizeof *core->tables);
    }
    if (old) table_unref(old);
}

/* An engine that cannot tell whether the commit took place is asked again: the rows are the same
 * however often they are put. */
static sheaf_rc run_install(struct install *in, sheaf_position *position_out, sheaf_error *err)
{
    enum { TRIES = 8 };
    struct sheaf_run_result result = {0};
    sheaf_rc rc = SHEAF_UNKNOWN_OUTCOME;
    for (int i = 0; i < TRIES && rc == SHEAF_UNKNOWN_OUTCOME; i++) {
        struct sheaf_run_options how = {.seed = core_seed(in->core)};
        rc = sheaf_engine_run(in->core->engine, write_row, in, &how, &result, err);
    }
    if (rc == SHEAF_OK && position_out) *position_out = result.position;
    return rc;
}

sheaf_rc cat_install(struct core *core, struct table *old, struct table *next,
                     sheaf_position *position_out, sheaf_error *err)
{
    return cat_install_with(core, old, next, NULL, position_out, err);
}

sheaf_rc cat_install_with(struct core *core, struct table *old, struct table *next,
                          const struct cat_extra *extra, sheaf_position *position_out,
                          sheaf_error *err)
{
    assert(old || next);
    struct arena arena;
    arena_init(&arena, 4 << 20);
    struct ctx c = {&arena, err};
    struct install in = {core, old, next, SPAN_NONE, extra};
    sheaf_rc rc;
    TRY_OUT(make_room(core, err));
    if (next) TRY_OUT(table_encode(&c, next, &in.row));
    TRY_OUT(run_install(&in, position_out, err));
    swap(core, old, next);
out:
    arena_deinit(&arena);
    return rc;
}

/* ---- opening and closing ---- */

static sheaf_rc load_row(struct core *core, const struct sheaf_row *row, sheaf_error *err)
{
    struct table *t;
    TRY(make_room(core, err));
    TRY(table_decode(row->value, &t, err));
    uint32_t at;
    if (position_of(core, t->name, &at)) {
        table_unref(t);
        return err_set(err, SHEAF_CORRUPT, "the catalog has a table twice");
    }
    sheaf_rc rc = table_set_catalog_key(core, t, err);
    if (rc != SHEAF_OK) {
        table_unref(t);
        return rc;
    }
    swap(core, NULL, t);
    return SHEAF_OK;
}

sheaf_rc cat_load(struct core *core, sheaf_error *err)
{
    sheaf_txn *t;
    sheaf_cursor *cursor = NULL;
    TRY(eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &t, err));
    sheaf_rc rc;
    TRY_OUT(eng_walk(t, &(struct sheaf_walk){.space = SPACE_CATALOG}, &cursor, err));
    for (;;) {
        struct sheaf_row row;
        bool has_row;
        TRY_OUT(eng_next(cursor, &row, &has_row, err));
        if (!has_row) break;
        TRY_OUT(load_row(core, &row, err));
    }
out:
    eng_cursor_close(cursor);
    eng_rollback(t);
    return rc;
}

void cat_unload(struct core *core)
{
    for (uint32_t i = 0; i < core->n_tables; i++) table_unref(core->tables[i]);
    mem_free(core->tables);
    core->tables = NULL;
    core->n_tables = core->cap_tables = 0;
}
