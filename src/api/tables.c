/* The calls on tables and collections. */
#include "api/api.h"
#include "core/enums.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const status_names[] = {"CREATING", "UPDATING", "DELETING", "ACTIVE"};

/* ---- requests ---- */

static struct core_key key_of(const struct sheaf_key *k)
{
    return (struct core_key){api_text(k->name), (enum val_type)k->type};
}

static sheaf_rc take_index(struct ctx *c, const struct sheaf_index *x, bool is_local,
                           struct core_index_def *out)
{
    *out = (struct core_index_def){.name = api_text(x->name),
                                   .is_local = is_local,
                                   .projection = (enum core_projection)x->projection,
                                   .n_include = x->n_include,
                                   .read_units = x->throughput.read,
                                   .write_units = x->throughput.write};
    while (out->n_hash < 4 && x->partition_key[out->n_hash].name) {
        out->hash[out->n_hash] = key_of(&x->partition_key[out->n_hash]);
        out->n_hash++;
    }
    while (out->n_range < 4 && x->sort_key[out->n_range].name) {
        out->range[out->n_range] = key_of(&x->sort_key[out->n_range]);
        out->n_range++;
    }
    TRY(api_need_zero(c, x->reserved_, "An index"));
    TRY(api_need_list(c, x->include, x->n_include, "include"));
    span *include = ARENA_ARRAY(c->arena, span, (size_t)x->n_include + 1);
    if (!include) return err_nomem(c->err);
    for (uint32_t i = 0; i < x->n_include; i++) include[i] = api_text(x->include[i]);
    out->include = include;
    return SHEAF_OK;
}

/* Local indexes take the table's partition key when they name none. */
static sheaf_rc take_indexes(struct ctx *c, const struct sheaf_create_table *q,
                             struct core_create_table *t)
{
    TRY(api_need_list(c, q->global_indexes, q->n_global_indexes, "global_indexes"));
    TRY(api_need_list(c, q->local_indexes, q->n_local_indexes, "local_indexes"));
    size_t n = q->n_global_indexes + q->n_local_indexes;
    struct core_index_def *all = ARENA_ARRAY(c->arena, struct core_index_def, n + 1);
    if (!all || n > UINT16_MAX) return err_nomem(c->err);
    for (size_t i = 0; i < n; i++) {
        bool is_local = i >= q->n_global_indexes;
        const struct sheaf_index *x =
            is_local ? &q->local_indexes[i - q->n_global_indexes] : &q->global_indexes[i];
        TRY(take_index(c, x, is_local, &all[i]));
        if (is_local && all[i].n_hash == 0) {
            all[i].hash[0] = t->hash;
            all[i].n_hash = 1;
        }
    }
    t->indexes = all;
    t->n_indexes = (uint32_t)n;
    return SHEAF_OK;
}

/* ---- results ---- */

static struct sheaf_key public_key(sheaf_result *r, const struct core_key *k)
{
    struct sheaf_key out = {.name = api_cstr(r, k->name), .type = (sheaf_type)k->type};
    return out;
}

/* <the table's ARN><kind><rest>; what no server told is
 * arn:aws:dynamodb:<region>:000000000000:table/<name>. */
static const char *arn(sheaf_result *r, sheaf_db *db, const struct core_table_info *t,
                       const char *kind, span rest)
{
    struct buf text;
    buf_init(&text, &r->arena, 2048);
    if (t->arn.p)
        buf_put_span(&text, t->arn);
    else
        buf_printf(&text, "arn:aws:dynamodb:%.*s:000000000000:table/%.*s",
                   SPAN_ARG(core_region(db->core)), SPAN_ARG(t->name));
    buf_printf(&text, "%s%.*s", kind, SPAN_ARG(rest));
    if (text.failed) (void)api_short(r);
    return api_cstr(r, buf_span(&text));
}

static sheaf_rc fill_index(sheaf_result *r, sheaf_db *db, const struct core_table_info *t,
                           const struct core_index_info *x, struct sheaf_index_description *out)
{
    *out = (struct sheaf_index_description){.name = api_cstr(r, x->def.name),
                                            .arn = arn(r, db, t, "/index/", x->def.name),
                                            .status = status_names[x->status],
                                            .is_local = x->def.is_local,
                                            .is_backfilling = x->is_backfilling,
                                            .n_partition_key = x->def.n_hash,
                                            .n_sort_key = x->def.n_range,
                                            .projection =
                                                (enum sheaf_projection_type)x->def.projection,
                                            .n_include = x->def.n_include,
                                            .item_count = x->items,
                                            .size_bytes = x->bytes,
                                            .throughput = {x->def.read_units, x->def.write_units}};
    for (uint32_t i = 0; i < x->def.n_hash; i++)
        out->partition_key[i] = public_key(r, &x->def.hash[i]);
    for (uint32_t i = 0; i < x->def.n_range; i++)
        out->sort_key[i] = public_key(r, &x->def.range[i]);
    const char **include = ARENA_ARRAY(&r->arena, const char *, x->def.n_include + 1);
    if (!include) return api_short(r);
    for (uint32_t i = 0; i < x->def.n_include; i++) include[i] = api_cstr(r, x->def.include[i]);
    out->include = include;
    return SHEAF_OK;
}

static sheaf_rc fill_table(sheaf_result *r, sheaf_db *db, const struct core_table_info *t)
{
    struct sheaf_table_description *d = ARENA_NEW(&r->arena, struct sheaf_table_description);
    struct sheaf_index_description *x =
        ARENA_ARRAY(&r->arena, struct sheaf_index_description, t->n_indexes + 1);
    if (!d || !x) return api_short(r);
    *d = (struct sheaf_table_description){.name = api_cstr(r, t->name),
                                          .arn = arn(r, db, t, "", SPAN_NONE),
                                          .id = api_cstr(r, t->id),
                                          .status = status_names[t->status],
                                          .created_us = t->created_us,
                                          .partition_key = public_key(r, &t->hash),
                                          .sort_key = public_key(r, &t->range),
                                          .item_count = t->items,
                                          .size_bytes = t->bytes,
                                          .billing_mode = t->is_provisioned ? SHEAF_PROVISIONED
                                                                            : SHEAF_PAY_PER_REQUEST,
                                          .throughput = {t->read_units, t->write_units},
                                          .deletion_protection = t->is_protected,
                                          .infrequent_access = t->is_infrequent,
                                          .stream = (enum sheaf_stream_view)t->stream,
                                          .stream_label = api_cstr(r, t->stream_label),
                                          .ttl_attribute = api_cstr(r, t->ttl_attribute),
                                          .n_indexes = t->n_indexes,
                                          .indexes_ = x};
    if (t->stream_label.p) d->stream_arn = arn(r, db, t, "/stream/", t->stream_label);
    for (uint32_t i = 0; i < t->n_indexes; i++) TRY(fill_index(r, db, t, &t->indexes[i], &x[i]));
    r->table = d;
    return SHEAF_OK;
}

/* ---- the calls ---- */

sheaf_rc sheaf_create_table_sized(sheaf_db *db, const struct sheaf_create_table *given, size_t size,
                                  sheaf_result **result_out)
{
    API_BEGIN(sheaf_create_table);
    struct core_create_table t = {.table = api_text(q->table),
                                  .hash = key_of(&q->partition_key),
                                  .range = key_of(&q->sort_key),
                                  .is_provisioned = q->billing_mode == SHEAF_PROVISIONED,
                                  .read_units = q->throughput.read,
                                  .write_units = q->throughput.write,
                                  .stream = (enum core_stream_view)q->stream,
                                  .is_protected = q->deletion_protection,
                                  .is_infrequent = q->infrequent_access};
    struct core_table_outcome o;
    TRY_OUT(enum_check(c, (int64_t)q->billing_mode, SHEAF_PROVISIONED, "billingMode",
                       "[PROVISIONED, PAY_PER_REQUEST]"));
    TRY_OUT(take_indexes(c, q, &t));
    API_CORE(API_RUN(db, create_table, c, &t, &o), o);
    api_done(r, rc);
    (void)fill_table(r, db, &o.table);
out:
    return api_finish(db, r, rc, position, result_out);
}

static sheaf_rc by_name(sheaf_db *db, const struct sheaf_table_name *given, size_t size,
                        bool is_delete, sheaf_result **result_out)
{
    API_BEGIN(sheaf_table_name);
    struct core_table_outcome o;
    span table = api_text(q->table);
    API_CORE(is_delete ? API_RUN(db, delete_table, c, table, &o)
                       : API_RUN(db, describe_table, c, table, &o),
             o);
    if (is_delete) api_done(r, rc);
    rc = fill_table(r, db, &o.table);
out:
    return api_finish(db, r, rc, position, result_out);
}

sheaf_rc sheaf_describe_table_sized(sheaf_db *db, const struct sheaf_table_name *q, size_t size,
                                    sheaf_result **result_out)
{
    return by_name(db, q, size, false, result_out);
}

sheaf_rc sheaf_delete_table_sized(sheaf_db *db, const struct sheaf_table_name *q, size_t size,
                                  sheaf_result **result_out)
{
    return by_name(db, q, size, true, result_out);
}

sheaf_rc sheaf_list_tables_sized(sheaf_db *db, const struct sheaf_list_tables *given, size_t size,
                                 sheaf_result **result_out)
{
    API_BEGIN(sheaf_list_tables);
    struct core_list_tables l = {api_text(q->exclusive_start_table_name), q->limit};
    struct core_names_outcome o;
    API_CORE(API_RUN(db, list_tables, c, &l, &o), o);
    r->names = ARENA_ARRAY(c->arena, const char *, o.n + 1);
    TRY_OUT(r->names ? SHEAF_OK : err_nomem(c->err));
    for (uint32_t i = 0; i < o.n; i++) r->names[i] = api_cstr(r, o.names[i]);
    r->n_names = o.n;
    r->last_name = api_cstr(r, o.last);
out:
    return api_finish(db, r, rc, position, result_out);
}

/* NULL when none is to be updated. */
static sheaf_rc take_updates(struct ctx *c, const struct sheaf_update_table *q,
                             struct core_index_def **out)
{
    if (q->n_update_indexes == 0) return SHEAF_OK;
    if (q->n_update_indexes > UINT16_MAX || !q->update_indexes)
        return err_validation(c->err, "update_indexes: a list of n_update_indexes is needed");
    *out = ARENA_ARRAY(c->arena, struct core_index_def, q->n_update_indexes);
    if (!*out) return err_nomem(c->err);
    for (size_t i = 0; i < q->n_update_indexes; i++)
        TRY(take_index(c, &q->update_indexes[i], false, &(*out)[i]));
    return SHEAF_OK;
}

sheaf_rc sheaf_update_table_sized(sheaf_db *db, const struct sheaf_update_table *given, size_t size,
                                  sheaf_result **result_out)
{
    API_BEGIN(sheaf_update_table);
    struct core_update_table u = {.table = api_text(q->table),
                                  .delete_index = api_text(q->delete_index),
                                  .throughput = q->throughput ? CORE_ON : CORE_UNCHANGED,
                                  .protection = (enum core_switch)q->deletion_protection,
                                  .infrequent = (enum core_switch)q->infrequent_access,
                                  .stream = (enum core_switch)q->stream,
                                  .view = (enum core_stream_view)q->stream_view};
    struct core_index_def create, *update = NULL;
    struct core_table_outcome o;
    if (q->throughput) {
        u.read_units = q->throughput->read;
        u.write_units = q->throughput->write;
    }
    TRY_OUT(enum_check(c, (int64_t)q->pay_per_request, SHEAF_OFF, "billingMode",
                       "[PROVISIONED, PAY_PER_REQUEST]"));
    if (q->pay_per_request) u.provisioned = q->pay_per_request == SHEAF_ON ? CORE_OFF : CORE_ON;
    if (q->create_index) TRY_OUT(take_index(c, q->create_index, false, &create));
    TRY_OUT(take_updates(c, q, &update));
    u.create_index = q->create_index ? &create : NULL;
    u.update_index = update;
    u.n_update_index = (uint32_t)q->n_update_indexes;
    API_CORE(API_RUN(db, update_table, c, &u, &o), o);
    api_done(r, rc);
    (void)fill_table(r, db, &o.table);
out:
    return api_finish(db, r, rc, position, result_out);
}

sheaf_rc sheaf_update_time_to_live_sized(sheaf_db *db,
                                         const struct sheaf_update_time_to_live *given, size_t size,
                                         sheaf_result **result_out)
{
    API_BEGIN(sheaf_update_time_to_live);
    rc = API_RUN(db, update_ttl, c, api_text(q->table), api_text(q->attribute), q->enabled,
                 &position);
out:
    return api_finish(db, r, rc, position, result_out);
}

/* What DescribeTimeToLive tells, and no more. */
static sheaf_rc fill_ttl(sheaf_result *r, span table, span attribute)
{
    struct sheaf_table_description *d = ARENA_NEW(&r->arena, struct sheaf_table_description);
    if (!d) return api_short(r);
    *d = (struct sheaf_table_description){.name = api_cstr(r, table),
                                          .ttl_attribute = api_cstr(r, attribute)};
    r->table = d;
    return SHEAF_OK;
}

sheaf_rc sheaf_describe_time_to_live_sized(sheaf_db *db, const struct sheaf_table_name *given,
                                           size_t size, sheaf_result **result_out)
{
    API_BEGIN(sheaf_table_name);
    span table = api_text(q->table), attribute;
    TRY_OUT(API_RUN(db, describe_ttl, c, table, &attribute, &position));
    rc = fill_ttl(r, table, attribute);
out:
    return api_finish(db, r, rc, position, result_out);
}

/* ---- collections ---- */

static const char *warning_of(sheaf_result *r, const struct core_collection *k)
{
    struct buf text;
    buf_init(&text, &r->arena, 400);
    if (k->bytes > UINT64_C(1) << 30)
        buf_printf(&text, "the collection is above 1 GB (%" PRIu64 " bytes); ", k->bytes);
    if (k->items > 10000)
        buf_printf(&text, "it has more than 10,000 items (%" PRIu64 "); ", k->items);
    if (k->reads_per_s > 3000 || k->writes_per_s > 1000)
        buf_printf(&text,
                   "the key is hot: a partition takes 3,000 reads and 1,000 writes per second; ");
    if (text.n < 2) return NULL;
    return api_cstr(r, SPAN(text.p, text.n - 2));
}

static sheaf_rc fill_collections(sheaf_result *r, const struct core_collection *all, uint32_t n)
{
    r->collections = ARENA_ARRAY(&r->arena, struct sheaf_collection, n + 1);
    if (!r->collections) return api_short(r);
    for (uint32_t i = 0; i < n; i++)
        r->collections[i] =
            (struct sheaf_collection){.partition_key = api_item_view(&r->arena, all[i].key),
                                      .items = all[i].items,
                                      .bytes = all[i].bytes,
                                      .reads_per_s = all[i].reads_per_s,
                                      .writes_per_s = all[i].writes_per_s,
                                      .warning = warning_of(r, &all[i])};
    r->n_collections = n;
    return SHEAF_OK;
}

sheaf_rc sheaf_describe_collection_sized(sheaf_db *db, const struct sheaf_collection_stats *given,
                                         size_t size, sheaf_result **result_out)
{
    API_BEGIN(sheaf_collection_stats);
    struct core_collection k = {.items = 0};
    span key;
    TRY_OUT(core_check_table_name(c, api_text(q->table)));
    TRY_OUT(api_encode_item(c, q->partition_key, "partitionKey", &key));
    API_CORE(API_RUN(db, collection, c, api_text(q->table), api_text(q->index), key, &k), k);
    rc = fill_collections(r, &k, 1);
out:
    return api_finish(db, r, rc, position, result_out);
}

static sheaf_rc report(sheaf_db *db, const struct sheaf_table_report *given, size_t size,
                       bool is_hottest, sheaf_result **result_out)
{
    API_BEGIN(sheaf_table_report);
    struct core_collections all;
    span table = api_text(q->table), index = api_text(q->index);
    uint32_t limit = q->limit ? q->limit : 10;
    TRY_OUT(core_check_table_name(c, table));
    API_CORE(is_hottest ? API_RUN(db, hottest, c, table, index, limit, &all)
                        : API_RUN(db, largest, c, table, index, limit, &all),
             all);
    rc = fill_collections(r, all.all, all.n);
out:
    return api_finish(db, r, rc, position, result_out);
}

sheaf_rc sheaf_largest_collections_sized(sheaf_db *db, const struct sheaf_table_report *q,
                                         size_t size, sheaf_result **result_out)
{
    return report(db, q, size, false, result_out);
}

sheaf_rc sheaf_hot_keys_sized(sheaf_db *db, const struct sheaf_table_report *q, size_t size,
                              sheaf_result **result_out)
{
    return report(db, q, size, true, result_out);
}
