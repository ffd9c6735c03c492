/* Turns a struct table into what DescribeTable says, and the catalog into ListTables' pages. Know
 * before editing: a table dies when its last reference is given back, so everything an outcome says
 * is copied into the request's arena. */
#include "base/limits.h"
#include "core/tables.h"

#include <assert.h>

sheaf_rc tables_not_found(sheaf_error *err, span name)
{
    return err_set(err, SHEAF_RESOURCE_NOT_FOUND,
                   "Requested resource not found: Table: %.*s not found",
                   SPAN_ARG(cat_name_of(name)));
}

sheaf_rc tables_get(struct core *core, struct ctx *c, span name, struct table **table_out)
{
    *table_out = cat_find(core, name);
    return *table_out ? SHEAF_OK : tables_not_found(c->err, name);
}

sheaf_rc tables_get_exclusive(struct core *core, struct ctx *c, span name, struct table **table_out)
{
    assert(name.p);
    *table_out = cat_find_entered(core, name);
    return *table_out ? SHEAF_OK : tables_not_found(c->err, name);
}

/* ---- counts ---- */

static uint64_t load_le(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--) x = x << 8 | p[i];
    return x;
}

static sheaf_rc read_counts(struct core *core, const struct table *t, uint64_t space,
                            uint64_t counts[2], sheaf_error *err)
{
    uint8_t s[8];
    sheaf_engine_key key;
    span value;
    void *pin;
    counts[0] = counts[1] = 0;
    row_stats_key(t, space, NULL, s, &key);
    TRY(eng_read(core->engine, &key, &value, &pin, err));
    bool is_good = !value.p || value.n == 16;
    if (value.p && is_good) {
        counts[0] = load_le(value.p);
        counts[1] = load_le((const uint8_t *)value.p + 8);
    }
    eng_read_done(core->engine, pin);
    if (!is_good) return err_set(err, SHEAF_CORRUPT, "a row of the statistics is damaged");
    return SHEAF_OK;
}

/* ---- copying ---- */

static bool dup(struct arena *a, span *s)
{
    if (!s->p) return true;
    *s = arena_dup(a, *s);
    return s->p != NULL;
}

static bool dup_definitions(struct arena *a, const struct table *t, struct core_table_info *out)
{
    struct core_key *all = ARENA_ARRAY(a, struct core_key, t->n_definitions + 1);
    if (!all) return false;
    for (uint32_t i = 0; i < t->n_definitions; i++) {
        all[i] = t->definitions[i];
        if (!dup(a, &all[i].name)) return false;
    }
    out->definitions = all;
    out->n_definitions = t->n_definitions;
    return true;
}

static sheaf_rc describe_indexes(struct core *core, struct ctx *c, const struct table *t,
                                 struct core_table_info *out)
{
    out->indexes = ARENA_ARRAY(c->arena, struct core_index_info, t->n_indexes + 1);
    if (!out->indexes) return err_nomem(c->err);
    for (uint32_t i = 0; i < t->n_indexes; i++) {
        const struct table_index *x = &t->indexes[i];
        struct core_index_info *to = &out->indexes[i];
        uint64_t counts[2];
        TRY(read_counts(core, t, x->space, counts, c->err));
        *to = (struct core_index_info){.def = x->def,
                                       .status = x->status,
                                       .is_backfilling = x->is_backfilling,
                                       .items = counts[0],
                                       .bytes = counts[1],
                                       .changes = settings_changes(&x->changes, core_now_us(core))};
        if (!x->def.is_local)
            to->def.warm = settings_warm(&x->def.warm, t->is_provisioned, x->def.read_units,
                                         x->def.write_units);
        assert(!x->is_backfilling || x->status == CORE_CREATING);
        if (!table_dup_index(c->arena, &to->def)) return err_nomem(c->err);
    }
    out->n_indexes = t->n_indexes;
    return SHEAF_OK;
}

static bool describe_names(struct arena *a, const struct table *t, struct core_table_info *out)
{
    if (t->n_streams) out->stream_label = t->streams[t->n_streams - 1].label;
    if (!dup(a, &out->name) || !dup(a, &out->id) || !dup(a, &out->hash.name)) return false;
    if (!dup(a, &out->range.name) || !dup(a, &out->stream_label)) return false;
    if (!dup(a, &out->kms_key)) return false;
    return dup(a, &out->ttl_attribute) && dup_definitions(a, t, out);
}

static void describe_settings(struct core *core, const struct table *t, struct core_table_info *out)
{
    out->on_demand = t->on_demand;
    out->warm = settings_warm(&t->warm, t->is_provisioned, t->read_units, t->write_units);
    out->changes = settings_changes(&t->changes, core_now_us(core));
    out->is_kms = t->is_kms;
    out->kms_key = t->kms_key;
    out->on_demand_us = t->on_demand_us || t->is_provisioned ? t->on_demand_us : t->created_us;
    out->class_us = t->class_us;
}

sheaf_rc tables_describe(struct core *core, struct ctx *c, const struct table *t,
                         struct core_table_info *out)
{
    const struct table_stream *stream = table_stream(t);
    uint64_t counts[2];
    TRY(read_counts(core, t, t->space, counts, c->err));
    *out = (struct core_table_info){.name = t->name,
                                    .id = t->id,
                                    .status = CORE_ACTIVE,
                                    .created_us = t->created_us,
                                    .hash = t->hash,
                                    .range = t->range,
                                    .items = counts[0],
                                    .bytes = counts[1],
                                    .is_provisioned = t->is_provisioned,
                                    .is_protected = t->is_protected,
                                    .is_infrequent = t->is_infrequent,
                                    .read_units = t->read_units,
                                    .write_units = t->write_units,
                                    .stream = stream ? stream->view : CORE_STREAM_NONE,
                                    .ttl_attribute = t->ttl_attribute};
    assert(t->has_range == (t->range.name.p != NULL));
    describe_settings(core, t, out);
    if (!describe_names(c->arena, t, out)) return err_nomem(c->err);
    return describe_indexes(core, c, t, out);
}

/* ---- operations ---- */

sheaf_rc core_describe_table(struct core *core, struct ctx *c, span table,
                             struct core_table_outcome *out)
{
    struct table *t;
    struct core_table_outcome answer = {.position = 0};
    *out = answer;
    TRY(faults_check(core, "DescribeTable", table, c->err));
    TRY(tables_check_name(c, table));
    sheaf_rc rc = tables_get(core, c, table, &t);
    if (rc == SHEAF_OK) {
        rc = tables_describe(core, c, t, &answer.table);
        table_unref(t);
    }
    if (rc == SHEAF_OK) *out = answer;
    out->position = eng_visible(core->engine);
    return rc;
}

/* The first table behind a name. */
static uint32_t first_after(struct table *const *all, uint32_t n, span after)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (span_cmp(all[mid]->name, after) <= 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static sheaf_rc take_page(struct ctx *c, struct table *const *all, uint32_t n, uint32_t limit,
                          struct core_names_outcome *out)
{
    assert(limit > 0);
    uint32_t take = n < limit ? n : limit;
    out->names = ARENA_ARRAY(c->arena, span, take + 1);
    if (!out->names) return err_nomem(c->err);
    for (uint32_t i = 0; i < take; i++) {
        out->names[i] = arena_dup(c->arena, all[i]->name);
        if (!out->names[i].p) return err_nomem(c->err);
    }
    out->n = take;
    if (take < n) out->last = out->names[take - 1];
    return SHEAF_OK;
}

sheaf_rc core_list_tables(struct core *core, struct ctx *c, const struct core_list_tables *q,
                          struct core_names_outcome *out)
{
    struct core_names_outcome answer = {.n = 0};
    struct table **all;
    uint32_t n;
    *out = answer;
    TRY(faults_check(core, "ListTables", SPAN_NONE, c->err));
    TRY(tables_check_list(c, q));
    TRY(cat_all(core, c, &all, &n));
    uint32_t from = q->after.p ? first_after(all, n, q->after) : 0;
    sheaf_rc rc =
        take_page(c, all + from, n - from, q->limit ? q->limit : LIMIT_LIST_TABLES, &answer);
    for (uint32_t i = 0; i < n; i++) table_unref(all[i]);
    if (rc != SHEAF_OK) return rc;
    answer.position = eng_visible(core->engine);
    *out = answer;
    return SHEAF_OK;
}
