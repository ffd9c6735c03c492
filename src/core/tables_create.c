/* Turns a CreateTable request into a table of the catalog. Know before editing: the table is usable
 * as soon as the catalog's row is committed; that the answer says CREATING is AWS's manner, nothing
 * waits for anything. */
#include "core/tables.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

/* ---- names of things ---- */

/* A random UUID, version 4. */
static sheaf_rc make_id(struct table *t, sheaf_error *err)
{
    static const char hex[] = "0123456789abcdef";
    uint8_t b[16];
    if (!rng_secret(b, sizeof b))
        return err_set(err, SHEAF_IO, "the system has no randomness to make a table's id of");
    b[6] = (uint8_t)((b[6] & 0x0F) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3F) | 0x80);
    char *text = (char *)arena_bytes(&t->arena, 36);
    if (!text) return err_nomem(err);
    size_t n = 0;
    for (size_t i = 0; i < sizeof b; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text[n++] = '-';
        text[n++] = hex[b[i] >> 4];
        text[n++] = hex[b[i] & 15];
    }
    assert(n == 36);
    t->id = SPAN(text, n);
    return SHEAF_OK;
}

/* "2026-11-15T02:03:04.567" */
static int print_label(char to[32], int64_t ms)
{
    int64_t s = ms / 1000, rest = ms % 1000;
    if (rest < 0) {
        rest += 1000;
        s--;
    }
    time_t when = (time_t)s;
    struct tm tm;
    if (!gmtime_r(&when, &tm)) memset(&tm, 0, sizeof tm);
    return snprintf(to, 32, "%04d-%02d-%02dT%02d:%02d:%02d.%03d",
                    (int)((tm.tm_year + 1900) % 10000), tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                    tm.tm_min, tm.tm_sec, (int)rest);
}

static bool has_label(const struct table *t, span label)
{
    for (uint32_t i = 0; i < t->n_streams; i++)
        if (span_eq(t->streams[i].label, label)) return true;
    return false;
}

sheaf_rc tables_add_stream(struct core *core, struct table *t, enum core_stream_view view,
                           sheaf_error *err)
{
    assert(view != CORE_STREAM_NONE && !table_stream(t));
    int64_t now = core_now_us(core);
    char text[32];
    int n = 0;
    for (int64_t ms = now / 1000;; ms++) { /* a clock that stands still must not repeat a label */
        n = print_label(text, ms);
        if (!has_label(t, SPAN(text, (size_t)n))) break;
    }
    assert(n > 0 && n < (int)sizeof text);
    span label = arena_dup(&t->arena, SPAN(text, (size_t)n));
    if (!label.p) return err_nomem(err);
    t->streams[t->n_streams++] = (struct table_stream){
        .space = cat_take_number(core), .label = label, .view = view, .created_us = now};
    return SHEAF_OK;
}

/* ---- building ---- */

static bool dup_key(struct arena *a, struct core_key *to, const struct core_key *from)
{
    assert(from && from->type >= VAL_S && from->type <= VAL_B);
    *to = (struct core_key){arena_dup(a, from->name), from->type};
    return to->name.p != NULL;
}

static bool set_keys(struct table *t, const struct core_create_table *q, struct definitions d)
{
    struct core_key *all = ARENA_ARRAY(&t->arena, struct core_key, d.n + 1);
    if (!all) return false;
    for (uint32_t i = 0; i < d.n; i++)
        if (!dup_key(&t->arena, &all[i], &d.all[i])) return false;
    t->definitions = all;
    t->n_definitions = d.n;
    t->has_range = q->range.name.p != NULL;
    if (!dup_key(&t->arena, &t->hash, definitions_find(d, q->hash.name))) return false;
    return !t->has_range || dup_key(&t->arena, &t->range, definitions_find(d, q->range.name));
}

static bool set_indexes(struct core *core, struct table *t, const struct core_create_table *q,
                        struct definitions d)
{
    t->indexes = ARENA_ARRAY(&t->arena, struct table_index, q->n_indexes + 1);
    if (!t->indexes) return false;
    for (uint32_t i = 0; i < q->n_indexes; i++) {
        struct table_index *x = &t->indexes[i];
        x->def = q->indexes[i];
        tables_resolve(d, &x->def);
        if (!table_dup_index(&t->arena, &x->def)) return false;
        x->space = cat_take_number(core);
        x->status = CORE_ACTIVE;
        if (x->def.is_local) x->def.on_demand = x->def.warm = (struct core_throughput){.read = 0};
        if (x->def.is_local) t->has_local = true;
    }
    t->n_indexes = q->n_indexes;
    return true;
}

static sheaf_rc fill(struct core *core, struct table *t, const struct core_create_table *q,
                     struct definitions d, sheaf_error *err)
{
    t->name = arena_dup(&t->arena, q->table);
    t->streams = ARENA_ARRAY(&t->arena, struct table_stream, 1);
    t->gauges = gauges_new();
    if (!t->name.p || !t->streams || !t->gauges) return err_nomem(err);
    TRY(make_id(t, err));
    TRY(table_set_catalog_key(core, t, err));
    t->number = cat_take_number(core);
    t->space = cat_take_number(core);
    t->stats_space = cat_take_number(core);
    t->created_us = core_now_us(core);
    t->is_provisioned = q->is_provisioned;
    t->read_units = q->read_units;
    t->write_units = q->write_units;
    t->is_protected = q->is_protected;
    t->is_infrequent = q->is_infrequent;
    assert(t->space >= SPACE_FIRST_FREE && t->stats_space != t->space);
    if (!set_keys(t, q, d) || !set_indexes(core, t, q, d)) return err_nomem(err);
    if (!settings_create(t, q)) return err_nomem(err);
    assert(!t->has_local || t->has_range);
    if (q->stream == CORE_STREAM_NONE) return SHEAF_OK;
    return tables_add_stream(core, t, q->stream, err);
}

/* ---- the operation ---- */

/* The answer is made before the commit, so that nothing can fail after it. */
static sheaf_rc create_entered(struct core *core, struct ctx *c, const struct core_create_table *q,
                               struct definitions d, struct core_table_outcome *answer)
{
    struct table *there = cat_find_entered(core, q->table);
    if (there) {
        table_unref(there);
        return err_set(c->err, SHEAF_RESOURCE_IN_USE, "Table already exists: %.*s",
                       SPAN_ARG(q->table));
    }
    struct table *t = table_new();
    if (!t) return err_nomem(c->err);
    sheaf_rc rc = fill(core, t, q, d, c->err);
    if (rc == SHEAF_OK) rc = tables_describe(core, c, t, &answer->table);
    if (rc == SHEAF_OK) rc = cat_install(core, NULL, t, &answer->position, c->err);
    if (rc != SHEAF_OK) table_unref(t);
    return rc;
}

sheaf_rc core_create_table(struct core *core, struct ctx *c, const struct core_create_table *q,
                           struct core_table_outcome *out)
{
    *out = (struct core_table_outcome){.position = 0};
    struct definitions d;
    struct core_table_outcome answer = {.position = 0};
    TRY(faults_check(core, "CreateTable", q->table, c->err));
    TRY(tables_check_create(c, q, &d));
    cat_enter_exclusive(core);
    sheaf_rc rc = create_entered(core, c, q, d, &answer);
    cat_leave_exclusive(core);
    if (rc != SHEAF_OK) {
        out->position = eng_visible(core->engine);
        return rc;
    }
    answer.table.status = CORE_CREATING;
    for (uint32_t i = 0; i < answer.table.n_indexes; i++)
        answer.table.indexes[i].status = CORE_CREATING;
    *out = answer;
    return SHEAF_OK;
}
