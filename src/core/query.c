/* Turns a Query or Scan into a checked plan: table, index, compiled expressions, what to return.
 *
 * Know before editing: the order of checks is the service's, and tests of others depend on it: the
 * request alone, the table, the index, key condition, start key, projection, filter. */
#include "core/query.h"

#include "base/limits.h"
#include "core/enums.h"

#include <assert.h>

#define INVALID "One or more parameter values were invalid: "

/* ---- the request alone ---- */

static sheaf_rc check_env(struct ctx *c, const struct core_query *q)
{
    const struct expr_env *env = q->env;
    if (env->has_names && !q->key_condition.p && !q->filter.p && !q->projection.p)
        return err_validation(
            c->err, "ExpressionAttributeNames can only be specified when using expressions");
    if (env->has_values && !q->key_condition.p && !q->filter.p)
        return err_validation(c->err,
                              "ExpressionAttributeValues can only be specified when using "
                              "expressions: %s null",
                              q->is_scan ? "FilterExpression is"
                                         : "FilterExpression and KeyConditionExpression are");
    return expr_env_check(q->env, c->err);
}

static sheaf_rc check_segments(struct ctx *c, const struct core_query *q)
{
    if (!q->has_segment) return SHEAF_OK;
    if (q->n_segments < 1 || q->n_segments > QUERY_SEGMENTS_MAX)
        return err_validation(
            c->err,
            "1 validation error detected: Value '%u' at 'totalSegments' failed "
            "to satisfy constraint: Member must have value %s than or equal to %d",
            (unsigned)q->n_segments, q->n_segments < 1 ? "greater" : "less",
            q->n_segments < 1 ? 1 : QUERY_SEGMENTS_MAX);
    if (q->segment < q->n_segments) return SHEAF_OK;
    return err_validation(c->err,
                          "The Segment parameter is zero-based and must be less than parameter "
                          "TotalSegments: Segment: %u is not less than TotalSegments: %u",
                          (unsigned)q->segment, (unsigned)q->n_segments);
}

/* What may stand beside Select. Only SPECIFIC_ATTRIBUTES, or none at all, takes a projection. */
static sheaf_rc check_select(struct ctx *c, const struct core_query *q)
{
    static const char *const what[] = {[CORE_SELECT_ALL] = "ALL_ATTRIBUTES",
                                       [CORE_SELECT_PROJECTED] = "ALL_PROJECTED_ATTRIBUTES",
                                       [CORE_SELECT_COUNT] = "only the Count"};
    bool is_free = q->select == CORE_SELECT_DEFAULT || q->select == CORE_SELECT_SPECIFIC;
    if (q->projection.p && !is_free)
        return err_validation(c->err,
                              "Cannot specify the ProjectionExpression when choosing to get %s",
                              what[q->select]);
    if (q->select == CORE_SELECT_PROJECTED && !q->index.p)
        return err_validation(
            c->err, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
    if (q->select == CORE_SELECT_SPECIFIC && !q->projection.p)
        return err_validation(c->err, "Must specify the AttributesToGet or ProjectionExpression "
                                      "when choosing to get SPECIFIC_ATTRIBUTES");
    return SHEAF_OK;
}

static sheaf_rc compile(struct ctx *c, struct query *s)
{
    const struct core_query *q = s->q;
    assert(q->env);
    TRY(enum_check(c, (int64_t)q->select, CORE_SELECT_SPECIFIC, "select", ENUM_SELECT_SET));
    TRY(enum_check(c, (int64_t)q->capacity, CORE_CAPACITY_INDEXES, "returnConsumedCapacity",
                   ENUM_CAPACITY_SET));
    TRY(check_env(c, q));
    if (!q->is_scan && !q->key_condition.p)
        return err_validation(c->err,
                              "Either the KeyConditions or KeyConditionExpression parameter "
                              "must be specified in the request.");
    if (q->is_scan)
        TRY(check_segments(c, q));
    else
        TRY(expr_read_key_condition(c, q->key_condition, q->env, &s->parts));
    if (q->filter.p) TRY(expr_compile(c, EXPR_FILTER, q->filter, q->env, &s->filter));
    if (q->projection.p) TRY(expr_compile_projection(c, q->projection, q->env, &s->projection));
    TRY(expr_env_check_unused(q->env, c->err));
    return check_select(c, q);
}

/* ---- table and index ---- */

static void add_keys(struct expr_key_attribute *to, uint32_t *n_out, const struct core_key *keys,
                     uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = (struct expr_key_attribute){keys[i].name, keys[i].type};
    assert(n <= 4);
    *n_out = n;
}

static void fill_schema(struct query *s)
{
    const struct table *t = s->table;
    const struct core_index_def *d = s->index ? &s->index->def : NULL;
    add_keys(s->schema.hash, &s->schema.n_hash, d ? d->hash : &t->hash, d ? d->n_hash : 1);
    add_keys(s->schema.range, &s->schema.n_range, d ? d->range : &t->range,
             d ? d->n_range : t->has_range);
}

sheaf_rc query_no_index(struct ctx *c, span name)
{
    return err_validation(c->err, "The table does not have the specified index: %.*s",
                          SPAN_ARG(name));
}

static sheaf_rc find_index(struct ctx *c, struct query *s)
{
    span name = s->q->index;
    assert(s->table && !s->index);
    if (!name.p) return SHEAF_OK;
    s->index = table_index(s->table, name);
    if (!s->index) return query_no_index(c, name);
    if (!query_is_global(s)) return SHEAF_OK;
    if (s->q->is_consistent)
        return err_validation(c->err,
                              "Consistent reads are not supported on global secondary indexes");
    if (s->index->is_backfilling || s->index->status == CORE_CREATING)
        return err_validation(c->err, "Cannot read from backfilling global secondary index: %.*s",
                              SPAN_ARG(name));
    return SHEAF_OK;
}

/* Values of a condition can be no longer than a key, so that bounds are no longer than engine
 * keys. */
static sheaf_rc check_sizes(struct ctx *c, const struct query *s)
{
    const struct expr_key_condition *k = &s->condition;
    size_t n = 0;
    for (uint32_t i = 0; i < s->schema.n_hash; i++)
        if (val_bytes(k->hash[i]).n > LIMIT_PARTITION_KEY_BYTES)
            return err_validation(
                c->err, INVALID "Size of hashkey has exceeded the maximum size limit of%d bytes",
                LIMIT_PARTITION_KEY_BYTES);
    for (uint32_t i = 0; i < k->n_eq; i++)
        n = val_bytes(k->eq[i]).n > n ? val_bytes(k->eq[i]).n : n;
    if (!val_is_absent(k->a) && val_bytes(k->a).n > n) n = val_bytes(k->a).n;
    if (!val_is_absent(k->b) && val_bytes(k->b).n > n) n = val_bytes(k->b).n;
    if (n <= LIMIT_SORT_KEY_BYTES) return SHEAF_OK;
    return err_validation(
        c->err, INVALID "Aggregated size of all range keys has exceeded the size limit of %d bytes",
        LIMIT_SORT_KEY_BYTES);
}

static sheaf_rc compile_condition(struct ctx *c, struct query *s)
{
    if (s->q->is_scan) return SHEAF_OK;
    assert(s->schema.n_hash > 0); /* filled already */
    TRY(expr_match_key_condition(c, s->parts, &s->schema, &s->condition));
    return check_sizes(c, s);
}

/* ---- what is returned ---- */

/* The first names of paths that the index does not store, as a list; how many. */
static uint32_t list_missing(const struct query *s, const struct path *paths, uint32_t n,
                             struct buf *out)
{
    uint32_t n_missing = 0;
    assert(s->index && s->index->def.projection != CORE_PROJECT_ALL);
    for (uint32_t i = 0; i < n; i++) {
        span name = paths[i].steps[0].name;
        bool is_known = row_index_has(s->table, s->index, name);
        for (uint32_t k = 0; k < i && !is_known; k++)
            is_known = span_eq(paths[k].steps[0].name, name);
        if (is_known) continue;
        buf_printf(out, "%s%.*s", n_missing ? ", " : "", SPAN_ARG(name));
        n_missing++;
    }
    return n_missing;
}

static sheaf_rc check_all_attributes(struct ctx *c, const struct query *s)
{
    if (s->q->select != CORE_SELECT_ALL || !query_is_global(s) ||
        s->index->def.projection == CORE_PROJECT_ALL)
        return SHEAF_OK;
    return err_validation(c->err,
                          INVALID
                          "Select type ALL_ATTRIBUTES is not supported for global secondary "
                          "index %.*s because its projection type is not ALL",
                          SPAN_ARG(s->index->def.name));
}

/* A local index can fetch what it does not store, a global one cannot. */
static sheaf_rc check_projection(struct ctx *c, struct query *s)
{
    if (!s->index || s->index->def.projection == CORE_PROJECT_ALL) return SHEAF_OK;
    s->is_fetching = s->q->select == CORE_SELECT_ALL;
    if (!s->projection) return SHEAF_OK;
    uint32_t n;
    const struct path *paths = expr_projection_paths(s->projection, &n);
    struct buf missing;
    buf_init(&missing, c->arena, 64 << 10);
    if (list_missing(s, paths, n, &missing) == 0) return SHEAF_OK;
    s->is_fetching = true;
    if (!query_is_global(s)) return SHEAF_OK;
    return err_validation(c->err, INVALID "Global secondary index %.*s does not project [%.*s]",
                          SPAN_ARG(s->index->def.name), SPAN_ARG(buf_span(&missing)));
}

/* ---- the filter ---- */

static bool names_it(const struct path *paths, uint32_t n, span name)
{
    for (uint32_t i = 0; i < n; i++)
        if (span_eq(paths[i].steps[0].name, name)) return true;
    return false;
}

/* Inside a collection the key is the key condition's. The extension lets the sort key in. */
static sheaf_rc check_filter_keys(struct ctx *c, const struct query *s, const struct path *paths,
                                  uint32_t n)
{
    const struct expr_key_schema *k = &s->schema;
    const struct expr_key_attribute *key = NULL;
    for (uint32_t i = 0; i < k->n_hash && !key; i++)
        if (names_it(paths, n, k->hash[i].name)) key = &k->hash[i];
    for (uint32_t i = 0; i < k->n_range && !key && !s->core->allow_sort_key_filter; i++)
        if (names_it(paths, n, k->range[i].name)) key = &k->range[i];
    if (!key) return SHEAF_OK;
    return err_validation(c->err,
                          "Filter Expression can only contain non-primary key attributes: Primary "
                          "key attribute: %.*s",
                          SPAN_ARG(key->name));
}

static sheaf_rc check_filter_stored(struct ctx *c, const struct query *s, const struct path *paths,
                                    uint32_t n)
{
    if (!s->index || s->is_fetching || s->index->def.projection == CORE_PROJECT_ALL)
        return SHEAF_OK;
    struct buf missing;
    buf_init(&missing, c->arena, 64 << 10);
    if (list_missing(s, paths, n, &missing) == 0) return SHEAF_OK;
    return err_validation(c->err,
                          INVALID "Secondary index %.*s does not project one or more filter "
                                  "attributes: [%.*s]",
                          SPAN_ARG(s->index->def.name), SPAN_ARG(buf_span(&missing)));
}

static sheaf_rc check_paths(struct ctx *c, struct query *s)
{
    uint32_t n = 0, n_projected = 0;
    const struct path *paths = s->filter ? expr_paths(s->filter, &n) : NULL;
    const struct path *projected =
        s->projection ? expr_projection_paths(s->projection, &n_projected) : NULL;
    TRY(keys_check_paths(c, s->table, projected, n_projected));
    if (!s->q->is_scan) TRY(check_filter_keys(c, s, paths, n));
    TRY(check_all_attributes(c, s));
    TRY(keys_check_paths(c, s->table, paths, n));
    TRY(check_projection(c, s));
    return check_filter_stored(c, s, paths, n);
}

/* ---- the whole ---- */

static sheaf_rc plan(struct ctx *c, struct query *s)
{
    assert(s->q && !s->table);
    s->drops = cat_drops(s->core);
    TRY(cat_get(s->core, s->q->table, &s->table, c->err));
    TRY(find_index(c, s));
    fill_schema(s);
    TRY(compile_condition(c, s));
    TRY(query_check_start(c, s));
    TRY(check_paths(c, s));
    return query_place(c, s);
}

void query_done(struct query *s)
{
    if (s->table) table_unref(s->table);
    s->table = NULL;
}

sheaf_rc core_query(struct core *core, struct ctx *c, const struct core_query *q,
                    struct core_page *out)
{
    struct query s = {.core = core, .q = q};
    *out = (struct core_page){.n = 0};
    TRY(faults_check(core, q->is_scan ? "Scan" : "Query", q->table, c->err));
    TRY(compile(c, &s));
    sheaf_rc rc = plan(c, &s);
    if (rc == SHEAF_OK) rc = query_run(c, &s, out);
    query_done(&s);
    if (rc != SHEAF_OK) *out = (struct core_page){.position = eng_visible(core->engine)};
    return rc;
}
