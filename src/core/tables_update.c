/* Turns an UpdateTable request into the next version of a table. Know before editing: AWS takes one
 * kind of change per call and refuses the others in words that name the kind; what the request
 * alone tells is refused before the table is looked up, the rest inside the exclusive section, and
 * the catalog changes in one commit or not at all. */
#include "base/limits.h"
#include "core/tables.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define INVALID "One or more parameter values were invalid: "

/* ---- what the request alone tells ---- */

static bool is_index_change(const struct core_update_table *q)
{
    return q->create_index || q->delete_index.p;
}

static bool is_table_units(const struct core_update_table *q)
{
    return q->throughput == CORE_ON || q->provisioned != CORE_UNCHANGED;
}

/* How many kinds of change the request asks for. */
static unsigned count_kinds(const struct core_update_table *q)
{
    return (unsigned)is_table_units(q) + (is_index_change(q) || core_n_updates(q)) +
           (q->protection != CORE_UNCHANGED) + (q->infrequent != CORE_UNCHANGED) +
           (q->stream != CORE_UNCHANGED) + core_is_given(&q->on_demand) + core_is_given(&q->warm) +
           (q->kms != CORE_UNCHANGED);
}

static sheaf_rc check_alone(struct ctx *c, const struct core_update_table *q)
{
    unsigned n = count_kinds(q);
    if (n == 0)
        return err_validation(
            c->err,
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
            "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, "
            "MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
            "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is "
            "required");
    if (n > 1 && q->kms != CORE_UNCHANGED)
        return err_validation(c->err, INVALID "Server-Side Encryption modification must be the "
                                              "only operation in the request");
    if (n > 1 && q->infrequent != CORE_UNCHANGED)
        return err_validation(c->err, INVALID
                              "TableClass modification must be the only operation in the request");
    if (n > 1 && q->protection != CORE_UNCHANGED)
        return err_validation(c->err, INVALID "DeletionProtection modification must be the only "
                                              "operation in the request");
    if (q->create_index && core_is_given(&q->warm))
        return err_validation(c->err, INVALID "Create global secondary index cannot be specified "
                                              "when updating WarmThroughput");
    /* Billing may change with it. */
    if (core_is_given(&q->on_demand) && n - (q->provisioned != CORE_UNCHANGED) > 1)
        return err_validation(c->err, INVALID "OnDemandThroughput can only be combined with "
                                              "BillingMode in an UpdateTable request");
    if (n > 1 && core_is_given(&q->warm))
        return err_validation(c->err,
                              INVALID "WarmThroughput must be the only operation in the request");
    return SHEAF_OK;
}

static sheaf_rc check_together(struct ctx *c, const struct core_update_table *q)
{
    bool is_units = q->throughput == CORE_ON || q->provisioned == CORE_ON;
    if (is_units && q->stream != CORE_UNCHANGED)
        return err_validation(c->err,
                              INVALID "You cannot modify stream status while updating table IOPS");
    if (is_table_units(q) && is_index_change(q))
        return err_validation(c->err, INVALID
                              "You cannot create or delete index while updating table IOPS");
    if (is_index_change(q) && q->stream != CORE_UNCHANGED)
        return err_validation(c->err, INVALID
                              "You cannot create or delete index while changing stream status");
    return SHEAF_OK;
}

static sheaf_rc check_request_units(struct ctx *c, const struct core_update_table *q)
{
    if (q->provisioned == CORE_OFF && q->throughput == CORE_ON)
        return err_validation(c->err, INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits "
                                              "can be specified when BillingMode is "
                                              "PAY_PER_REQUEST");
    if (q->provisioned == CORE_ON && q->throughput != CORE_ON)
        return err_validation(c->err, INVALID "ProvisionedThroughput must be specified when "
                                              "BillingMode is PROVISIONED");
    return SHEAF_OK;
}

static sheaf_rc check_request_stream(struct ctx *c, const struct core_update_table *q)
{
    if (q->stream == CORE_ON && q->view == CORE_STREAM_NONE)
        return err_validation(c->err,
                              INVALID "If stream is being enabled then UpdateViewType is required");
    if (q->stream == CORE_OFF && q->view != CORE_STREAM_NONE)
        return err_validation(c->err, INVALID "If stream is being disabled, then UpdateViewType "
                                              "must not be specified");
    return SHEAF_OK;
}

static sheaf_rc twice(struct ctx *c, span name)
{
    return err_validation(c->err,
                          INVALID "Only one global secondary index update per index is allowed "
                                  "simultaneously. Index: %.*s",
                          SPAN_ARG(name));
}

static sheaf_rc limit_exceeded(struct ctx *c)
{
    return err_set(c->err, SHEAF_LIMIT_EXCEEDED,
                   "Subscriber limit exceeded: Only 1 online index can be created or deleted "
                   "simultaneously per table");
}

static sheaf_rc check_request_indexes(struct ctx *c, const struct core_update_table *q)
{
    uint32_t n = core_n_updates(q);
    assert(n == 0 || q->update_index);
    span created = q->create_index ? q->create_index->name : SPAN_NONE;
    if (created.p && q->delete_index.p && span_eq(created, q->delete_index))
        return twice(c, created);
    for (uint32_t i = 0; i < n; i++) {
        span name = q->update_index[i].name;
        if ((created.p && span_eq(name, created)) ||
            (q->delete_index.p && span_eq(name, q->delete_index)))
            return twice(c, name);
        for (uint32_t k = 0; k < i; k++)
            if (span_eq(name, q->update_index[k].name)) return twice(c, name);
    }
    return SHEAF_OK;
}

static sheaf_rc check_request(struct ctx *c, const struct core_update_table *q)
{
    TRY(tables_check_update(c, q));
    TRY(check_alone(c, q));
    TRY(check_together(c, q));
    TRY(check_request_units(c, q));
    TRY(check_request_stream(c, q));
    return check_request_indexes(c, q);
}

/* ---- one change under way ---- */

struct update {
    struct core *core;
    struct ctx *c;
    const struct core_update_table *q;
    const struct table *t; /* as it is */
    struct table *next;
    struct drops drops;
    bool will_be_provisioned;
};

/* ---- units ---- */

/* index.p == NULL: of the table. */
static sheaf_rc same_units(struct ctx *c, span index, uint64_t read, uint64_t write)
{
    char of[32 + LIMIT_TABLE_NAME_MAX] = "the table";
    if (index.p) snprintf(of, sizeof of, "index %.*s", SPAN_ARG(index));
    return err_validation(
        c->err,
        "The provisioned throughput for %s%s will not change. The requested value equals the "
        "current value. Current ReadCapacityUnits provisioned for %s: %" PRIu64
        ". Requested ReadCapacityUnits: %" PRIu64
        ". Current WriteCapacityUnits provisioned for %s: %" PRIu64
        ". Requested WriteCapacityUnits: %" PRIu64
        ". Refer to the Amazon DynamoDB Developer Guide for current limits and how to request "
        "higher limits.",
        index.p ? "the " : "", of, of, read, read, of, write, write);
}

static sheaf_rc update_table_units(struct update *u)
{
    const struct core_update_table *q = u->q;
    if (q->throughput != CORE_ON) return SHEAF_OK;
    if (!u->will_be_provisioned)
        return err_validation(u->c->err, INVALID "Neither ReadCapacityUnits nor "
                                                 "WriteCapacityUnits can be specified when "
                                                 "BillingMode is PAY_PER_REQUEST");
    if (u->t->is_provisioned && q->read_units == u->t->read_units &&
        q->write_units == u->t->write_units)
        return same_units(u->c, SPAN_NONE, q->read_units, q->write_units);
    u->next->read_units = q->read_units;
    u->next->write_units = q->write_units;
    return SHEAF_OK;
}

static struct table_index *find_index(struct table *t, span name)
{
    return (struct table_index *)(uintptr_t)table_index(t, name);
}

static sheaf_rc no_index(struct update *u, span name)
{
    return err_set(u->c->err, SHEAF_RESOURCE_NOT_FOUND,
                   "Requested resource not found: Index %.*s for table %.*s", SPAN_ARG(name),
                   SPAN_ARG(u->t->name));
}

static sheaf_rc update_index_units(struct update *u, const struct core_index_def *want)
{
    struct table_index *x = find_index(u->next, want->name);
    if (!x) return no_index(u, want->name);
    TRY(tables_check_bounds(u->c, want->read_units, want->write_units));
    if (x->def.is_local)
        return err_validation(u->c->err,
                              "Cannot update an index that is not a GlobalSecondaryIndex: %.*s",
                              SPAN_ARG(want->name));
    if (!want->read_units && settings_are_given(want)) return SHEAF_OK;
    if (!u->will_be_provisioned)
        return err_validation(u->c->err,
                              INVALID "The only Updates for index: %.*s when "
                                      "TableThroughputMode is PAY_PER_REQUEST can be to "
                                      "OnDemandThroughput, WarmThroughput",
                              SPAN_ARG(want->name));
    if (x->def.read_units == want->read_units && x->def.write_units == want->write_units)
        return same_units(u->c, want->name, want->read_units, want->write_units);
    x->def.read_units = want->read_units;
    x->def.write_units = want->write_units;
    return SHEAF_OK;
}

/* A table that becomes provisioned needs units for every global index at once. */
static sheaf_rc check_all_have_units(struct update *u)
{
    struct buf b;
    buf_init(&b, u->c->arena, 8192);
    for (uint32_t i = 0; i < u->next->n_indexes; i++) {
        const struct core_index_def *x = &u->next->indexes[i].def;
        if (x->is_local || x->read_units) continue;
        buf_printf(&b, "%s%.*s", b.n ? "," : "", SPAN_ARG(x->name));
    }
    if (b.n == 0 && !b.failed) return SHEAF_OK;
    return err_validation(u->c->err,
                          INVALID "ProvisionedThroughput must be specified for index: %.*s",
                          SPAN_ARG(buf_span(&b)));
}

static void forget_units(struct table *t)
{
    assert(!t->is_provisioned);
    t->read_units = t->write_units = 0;
    for (uint32_t i = 0; i < t->n_indexes; i++)
        t->indexes[i].def.read_units = t->indexes[i].def.write_units = 0;
}

static sheaf_rc update_units(struct update *u)
{
    TRY(update_table_units(u));
    for (uint32_t i = 0; i < core_n_updates(u->q); i++)
        TRY(update_index_units(u, &u->q->update_index[i]));
    u->next->is_provisioned = u->will_be_provisioned;
    if (!u->will_be_provisioned) forget_units(u->next);
    if (u->will_be_provisioned && !u->t->is_provisioned) return check_all_have_units(u);
    return SHEAF_OK;
}

/* ---- streams ---- */

static sheaf_rc update_stream(struct update *u)
{
    const struct table_stream *stream = table_stream(u->t);
    if (u->q->stream == CORE_ON && stream)
        return err_validation(u->c->err, "Table already has an enabled stream: TableName: %.*s",
                              SPAN_ARG(u->t->name));
    if (u->q->stream == CORE_OFF && !stream)
        return err_validation(u->c->err, "Table has no stream to disable: TableName: %.*s",
                              SPAN_ARG(u->t->name));
    if (u->q->stream == CORE_ON) return tables_add_stream(u->core, u->next, u->q->view, u->c->err);
    int64_t now = core_now_us(u->core);
    assert(u->q->stream != CORE_OFF || u->next->n_streams > 0);
    if (u->q->stream == CORE_OFF)
        u->next->streams[u->next->n_streams - 1].disabled_us = now ? now : 1;
    return SHEAF_OK;
}

/* ---- indexes ---- */

static const struct table_index *index_under_way(const struct table *t)
{
    for (uint32_t i = 0; i < t->n_indexes; i++)
        if (t->indexes[i].is_backfilling) return &t->indexes[i];
    return NULL;
}

/* The definitions that come with a new index, or those that its keys carry. */
static sheaf_rc new_definitions(struct update *u, struct definitions *out)
{
    const struct core_index_def *x = u->q->create_index;
    *out = (struct definitions){u->q->definitions, u->q->n_definitions};
    if (u->q->definitions || tables_is_overfull(x)) return SHEAF_OK;
    struct core_key *all = ARENA_ARRAY(u->c->arena, struct core_key, 8);
    uint32_t n = 0;
    if (!all) return err_nomem(u->c->err);
    TRY(tables_derive(u->c, x, all, &n));
    *out = (struct definitions){all, n};
    if (n) return SHEAF_OK;
    return err_validation(u->c->err,
                          INVALID "AttributeDefinitions is not specified for index: %.*s",
                          SPAN_ARG(x->name));
}

/* HASH or RANGE, as the attribute is used by the table or its first index that has it. */
static const char *role_of(const struct table *t, span name)
{
    if (span_eq(t->hash.name, name)) return "HASH";
    if (t->has_range && span_eq(t->range.name, name)) return "RANGE";
    for (uint32_t i = 0; i < t->n_indexes; i++)
        for (uint32_t k = 0; k < t->indexes[i].def.n_hash; k++)
            if (span_eq(t->indexes[i].def.hash[k].name, name)) return "HASH";
    return "RANGE";
}

static sheaf_rc check_type(struct update *u, const struct core_key *key, const char *role)
{
    struct definitions known = {u->t->definitions, u->t->n_definitions};
    const struct core_key *old = definitions_find(known, key->name);
    if (!old || old->type == key->type) return SHEAF_OK;
    return err_validation(
        u->c->err,
        INVALID "Attributes cannot be redefined. Please check that your attribute has the same "
                "type as previously defined. Existing schema: Schema:[SchemaElement: "
                "key{%.*s:%s:%s}] New schema: Schema:[SchemaElement: key{%.*s:%s:%s}]",
        SPAN_ARG(key->name), val_type_name(old->type), role_of(u->t, key->name),
        SPAN_ARG(key->name), val_type_name(key->type), role);
}

static sheaf_rc check_index_units(struct update *u, const struct core_index_def *x)
{
    if (!u->t->is_provisioned && (x->read_units || x->write_units))
        return err_validation(u->c->err,
                              INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be "
                                      "specified for index: %.*s when BillingMode is "
                                      "PAY_PER_REQUEST",
                              SPAN_ARG(x->name));
    if (u->t->is_provisioned && (!x->read_units || !x->write_units))
        return err_validation(u->c->err,
                              INVALID "Both ReadCapacityUnits and WriteCapacityUnits must be "
                                      "specified for index: %.*s",
                              SPAN_ARG(x->name));
    return SHEAF_OK;
}

static sheaf_rc check_counts(struct update *u, const struct core_index_def *x)
{
    uint32_t n_global = 0, n_include = x->n_include;
    for (uint32_t i = 0; i < u->t->n_indexes; i++) {
        n_global += !u->t->indexes[i].def.is_local;
        n_include += u->t->indexes[i].def.n_include;
    }
    if (n_global >= LIMIT_GLOBAL_INDEXES)
        return err_set(u->c->err, SHEAF_LIMIT_EXCEEDED,
                       "Subscriber limit exceeded: Number of global secondary indexes exceeds "
                       "per-table limit of 20");
    if (n_include > LIMIT_TABLE_NON_KEY_ATTRIBUTES)
        return err_validation(u->c->err, INVALID "Number of NonKeyAttributes across all the "
                                                 "indexes exceeds the per-table limit of 100");
    return SHEAF_OK;
}

static bool is_used(const struct table *t, span name)
{
    if (span_eq(t->hash.name, name) || (t->has_range && span_eq(t->range.name, name))) return true;
    for (uint32_t i = 0; i < t->n_indexes; i++) {
        const struct core_index_def *x = &t->indexes[i].def;
        if (definitions_find((struct definitions){x->hash, x->n_hash}, name)) return true;
        if (definitions_find((struct definitions){x->range, x->n_range}, name)) return true;
    }
    return false;
}

/* The definitions that the next version uses: those it had, then those of the new index. */
static sheaf_rc set_definitions(struct update *u, struct definitions added)
{
    struct table *t = u->next;
    struct core_key *all =
        ARENA_ARRAY(&t->arena, struct core_key, (size_t)t->n_definitions + added.n + 1);
    uint32_t n = 0;
    if (!all) return err_nomem(u->c->err);
    for (uint32_t i = 0; i < t->n_definitions; i++)
        if (is_used(t, t->definitions[i].name)) all[n++] = t->definitions[i];
    for (uint32_t i = 0; i < added.n; i++) {
        span name = added.all[i].name;
        if (!is_used(t, name) || definitions_find((struct definitions){all, n}, name)) continue;
        all[n] = (struct core_key){arena_dup(&t->arena, name), added.all[i].type};
        if (!all[n++].name.p) return err_nomem(u->c->err);
    }
    assert(n > t->has_range);
    t->definitions = all;
    t->n_definitions = n;
    return SHEAF_OK;
}

static sheaf_rc create_index(struct update *u)
{
    struct core_index_def def = *u->q->create_index;
    struct definitions d;
    def.is_local = false;
    if (table_index(u->t, def.name))
        return err_validation(u->c->err, "Attempting to create an index which already exists");
    if (index_under_way(u->t)) return limit_exceeded(u->c);
    TRY(new_definitions(u, &d));
    TRY(tables_check_new_index(u->c, &def, d));
    tables_resolve(d, &def);
    for (uint32_t i = 0; i < def.n_hash; i++) TRY(check_type(u, &def.hash[i], "HASH"));
    for (uint32_t i = 0; i < def.n_range; i++) TRY(check_type(u, &def.range[i], "RANGE"));
    TRY(check_index_units(u, &def));
    TRY(settings_check_index(u->c, &def, u->t->is_provisioned));
    TRY(check_counts(u, &def));
    assert(u->next->n_indexes == u->t->n_indexes && !index_under_way(u->next));
    if (!table_dup_index(&u->next->arena, &def)) return err_nomem(u->c->err);
    u->next->indexes[u->next->n_indexes++] = (struct table_index){.def = def,
                                                                  .space = cat_take_number(u->core),
                                                                  .status = CORE_CREATING,
                                                                  .is_backfilling = true};
    return set_definitions(u, d);
}

static sheaf_rc delete_index(struct update *u)
{
    span name = u->q->delete_index;
    struct table_index *x = find_index(u->next, name);
    if (!x) return no_index(u, name);
    if (x->def.is_local)
        return err_validation(u->c->err,
                              "Cannot delete an index that is not a GlobalSecondaryIndex: %.*s",
                              SPAN_ARG(name));
    const struct table_index *busy = index_under_way(u->next);
    if (busy && busy != x) return limit_exceeded(u->c);
    drops_add(&u->drops, x->space);
    drops_sweep(&u->drops, u->t);
    uint32_t at = (uint32_t)(x - u->next->indexes);
    assert(at < u->next->n_indexes && u->drops.n == 1);
    memmove(x, x + 1, (u->next->n_indexes - at - 1) * sizeof *x);
    u->next->n_indexes--;
    return set_definitions(u, (struct definitions){NULL, 0});
}

/* ---- the operation ---- */

static sheaf_rc apply(struct update *u)
{
    const struct core_update_table *q = u->q;
    assert(u->next != u->t && u->next->number == u->t->number);
    u->will_be_provisioned =
        q->provisioned == CORE_ON || (q->provisioned == CORE_UNCHANGED && u->t->is_provisioned);
    TRY(update_units(u));
    if (q->protection != CORE_UNCHANGED) u->next->is_protected = q->protection == CORE_ON;
    if (q->infrequent != CORE_UNCHANGED) u->next->is_infrequent = q->infrequent == CORE_ON;
    TRY(settings_update(u->core, u->c, u->t, u->next, q));
    TRY(update_stream(u));
    if (q->create_index) TRY(create_index(u));
    if (q->delete_index.p) TRY(delete_index(u));
    return SHEAF_OK;
}

/* An index that goes is still in the answer, as DELETING; readers do not see it any more. */
static sheaf_rc describe_answer(struct update *u, struct core_table_info *out)
{
    if (!u->q->delete_index.p) return tables_describe(u->core, u->c, u->next, out);
    TRY(tables_describe(u->core, u->c, u->t, out));
    for (uint32_t i = 0; i < out->n_indexes; i++)
        if (span_eq(out->indexes[i].def.name, u->q->delete_index))
            out->indexes[i].status = CORE_DELETING;
    return SHEAF_OK;
}

static sheaf_rc update_entered(struct update *u, struct core_table_outcome *answer)
{
    struct table *t;
    sheaf_rc rc;
    TRY(tables_get_exclusive(u->core, u->c, u->q->table, &t));
    u->t = t;
    if (u->q->has_more_changes || (u->q->create_index && u->q->delete_index.p))
        TRY_OUT(limit_exceeded(u->c));
    TRY_OUT(drops_init(&u->drops, u->c, t));
    TRY_OUT(table_copy(t, &u->next, u->c->err));
    TRY_OUT(apply(u));
    TRY_OUT(describe_answer(u, &answer->table));
    TRY_OUT(drops_install(u->core, t, u->next, &u->drops, &answer->position, u->c->err));
out:
    if (rc != SHEAF_OK) table_unref(u->next);
    table_unref(t);
    return rc;
}

sheaf_rc core_update_table(struct core *core, struct ctx *c, const struct core_update_table *q,
                           struct core_table_outcome *out)
{
    struct update u = {.core = core, .c = c, .q = q};
    struct core_table_outcome answer = {.position = 0};
    *out = answer;
    TRY(faults_check(core, "UpdateTable", q->table, c->err));
    TRY(check_request(c, q));
    cat_enter_exclusive(core);
    sheaf_rc rc = update_entered(&u, &answer);
    cat_leave_exclusive(core);
    if (rc != SHEAF_OK) {
        out->position = eng_visible(core->engine);
        return rc;
    }
    drops_finish(core, &u.drops);
    bool is_at_once = q->protection != CORE_UNCHANGED || core_is_given(&q->warm) ||
                      (core_is_given(&q->on_demand) && q->provisioned == CORE_UNCHANGED);
    if (!is_at_once) answer.table.status = CORE_UPDATING;
    *out = answer;
    return SHEAF_OK;
}
