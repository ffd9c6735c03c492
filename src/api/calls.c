/* The calls on items: a request struct in, a core request, its outcome, a result out. Know before
 * editing: a call is always begin, take, translate, core, fill, finish, and owns nothing in between
 * but the result, whose arena holds it all. */
#include "api/api.h"

#include <assert.h>

static enum core_capacity_mode capacity_of(enum sheaf_return_capacity mode)
{
    return (enum core_capacity_mode)mode;
}

/* ---- one write ---- */

static sheaf_rc finish_write(sheaf_result *r, const struct core_write_outcome *o)
{
    r->item = api_item_view(&r->arena, o->attributes);
    if (o->attributes.p && !r->item) return api_short(r);
    TRY(api_set_metrics(r, &o->metrics, 1));
    return api_set_capacity(r, &o->capacity, 1);
}

/* What the three single writes have in common behind their own members. */
struct write_call {
    struct core_write_item w;
    const sheaf_item *item;
    const char *what; /* how messages name the item */
    const struct sheaf_name *names;
    const sheaf_item *values;
};

static sheaf_rc write_item(sheaf_db *db, sheaf_result *r, struct write_call *call,
                           sheaf_position *position_out)
{
    struct ctx *c = &r->ctx;
    struct core_write_outcome o = {.position = 0};
    TRY(core_check_table_name(c, call->w.write.table));
    TRY(api_encode_item(c, call->item, call->what, &call->w.write.item));
    TRY(api_env(c, call->names, call->values, &call->w.write.env));
    sheaf_rc rc = API_RUN(db, write_item, c, &call->w, &o);
    *position_out = o.position;
    api_done(r, rc);
    /* The outcome of a failed condition is filled in as well; its error stays. */
    if (rc == SHEAF_OK || rc == SHEAF_CONDITIONAL_CHECK_FAILED) (void)finish_write(r, &o);
    return rc;
}

/* The members that the three request structs spell alike. */
#define WRITE_CALL(q, action_, item_, what_, update_)                                              \
    {                                                                                              \
        .w = {.write = {.action = (action_),                                                       \
                        .table = api_text((q)->table),                                             \
                        .update = api_text(update_),                                               \
                        .condition = api_text((q)->condition_expression),                          \
                        .wants_old_on_failure = (q)->return_old_on_condition_failure},             \
              .returns = (enum core_return)(q)->return_values,                                     \
              .capacity = capacity_of((q)->return_consumed_capacity),                              \
              .wants_metrics = (q)->return_item_collection_metrics},                               \
        .item = (item_), .what = (what_), .names = (q)->expression_attribute_names,                \
        .values = (q)->expression_attribute_values                                                 \
    }

#define WRITE_OPERATION(T, action, member, update)                                                 \
    sheaf_rc sheaf_##T##_sized(sheaf_db *db, const struct sheaf_##T *given, size_t size,           \
                               sheaf_result **result_out)                                          \
    {                                                                                              \
        API_BEGIN(sheaf_##T);                                                                      \
        struct write_call call = WRITE_CALL(q, action, q->member, #member, update);                \
        rc = write_item(db, r, &call, &position);                                                  \
    out:                                                                                           \
        return api_finish(db, r, rc, position, result_out);                                        \
    }
WRITE_OPERATION(put_item, CORE_PUT, item, NULL)
WRITE_OPERATION(update_item, CORE_UPDATE, key, q->update_expression)
WRITE_OPERATION(delete_item, CORE_DELETE, key, NULL)
#undef WRITE_OPERATION

/* ---- reads ---- */

sheaf_rc sheaf_get_item_sized(sheaf_db *db, const struct sheaf_get_item *given, size_t size,
                              sheaf_result **result_out)
{
    API_BEGIN(sheaf_get_item);
    struct core_get_item g = {.capacity = capacity_of(q->return_consumed_capacity)};
    g.get = (struct core_get){.table = api_text(q->table),
                              .projection = api_text(q->projection_expression),
                              .is_consistent = q->consistent_read};
    struct core_item_outcome o;
    TRY_OUT(core_check_table_name(c, g.get.table));
    TRY_OUT(api_encode_item(c, q->key, "key", &g.get.key));
    TRY_OUT(api_env(c, q->expression_attribute_names, NULL, &g.get.env));
    API_CORE(API_RUN(db, get_item, c, &g, &o), o);
    r->item = api_item_view(&r->arena, o.item);
    if (o.item.p && !r->item) rc = api_short(r);
    if (rc == SHEAF_OK) rc = api_set_capacity(r, &o.capacity, 1);
out:
    return api_finish(db, r, rc, position, result_out);
}

static sheaf_rc fill_page(sheaf_result *r, const struct core_page *page)
{
    if (page->items) TRY(api_set_items(r, page->items, page->n));
    r->matched = page->matched;
    r->scanned = page->scanned;
    r->last_key = api_item_view(&r->arena, page->last_key);
    if (page->last_key.p && !r->last_key) return api_short(r);
    return api_set_capacity(r, &page->capacity, 1);
}

/* What Query and Scan have in common behind their own members. */
struct query_call {
    struct core_query k;
    const sheaf_item *start;
    const struct sheaf_name *names;
    const sheaf_item *values;
};

static sheaf_rc run_query(sheaf_db *db, sheaf_result *r, struct query_call *call,
                          sheaf_position *position_out)
{
    struct ctx *c = &r->ctx;
    struct core_query *k = &call->k;
    struct core_page page;
    TRY(core_check_table_name(c, k->table));
    if (call->start) TRY(api_encode_item(c, call->start, "exclusiveStartKey", &k->start_key));
    TRY(api_env(c, call->names, call->values, &k->env));
    sheaf_rc rc = API_RUN(db, query, c, k, &page);
    *position_out = page.position;
    return rc == SHEAF_OK ? fill_page(r, &page) : rc;
}

/* The members that the two request structs spell alike. */
#define QUERY_CALL(q)                                                                              \
    {                                                                                              \
        .k = {.table = api_text((q)->table),                                                       \
              .index = api_text((q)->index),                                                       \
              .filter = api_text((q)->filter_expression),                                          \
              .projection = api_text((q)->projection_expression),                                  \
              .select = (enum core_select)(q)->select,                                             \
              .limit = (q)->limit,                                                                 \
              .is_consistent = (q)->consistent_read,                                               \
              .capacity = capacity_of((q)->return_consumed_capacity)},                             \
        .start = (q)->exclusive_start_key, .names = (q)->expression_attribute_names,               \
        .values = (q)->expression_attribute_values                                                 \
    }

sheaf_rc sheaf_query_sized(sheaf_db *db, const struct sheaf_query *given, size_t size,
                           sheaf_result **result_out)
{
    API_BEGIN(sheaf_query);
    struct query_call call = QUERY_CALL(q);
    call.k.key_condition = api_text(q->key_condition_expression);
    call.k.is_backward = q->backward;
    rc = run_query(db, r, &call, &position);
out:
    return api_finish(db, r, rc, position, result_out);
}

sheaf_rc sheaf_scan_sized(sheaf_db *db, const struct sheaf_scan *given, size_t size,
                          sheaf_result **result_out)
{
    API_BEGIN(sheaf_scan);
    struct query_call call = QUERY_CALL(q);
    call.k.is_scan = true;
    call.k.has_segment = q->total_segments != 0 || q->segment != 0;
    call.k.segment = q->segment;
    call.k.n_segments = q->total_segments;
    rc = run_query(db, r, &call, &position);
out:
    return api_finish(db, r, rc, position, result_out);
}

/* ---- batches ---- */

/* Says which member of a batch or transaction is at fault; rc goes through. */
static sheaf_rc blame(struct ctx *c, size_t member, sheaf_rc rc)
{
    if (rc != SHEAF_OK && c->err) c->err->action = member < INT32_MAX ? (int32_t)member : -1;
    return rc;
}

static size_t count_keys(const struct sheaf_batch_get_item *q)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n_tables && n < UINT32_MAX; i++)
        n += q->tables[i].n_keys < UINT32_MAX ? q->tables[i].n_keys : UINT32_MAX;
    return n;
}

/* The keys of one table; the names are shared by them. */
static sheaf_rc take_keys(struct ctx *c, const struct sheaf_batch_get *t, struct core_get *gets)
{
    struct expr_env *env;
    TRY(api_need_zero(c, t->reserved2_, "A member of tables"));
    TRY(core_check_table_name(c, api_text(t->table)));
    TRY(api_need_list(c, t->keys, t->n_keys, "keys"));
    TRY(api_env(c, t->expression_attribute_names, NULL, &env));
    for (size_t k = 0; k < t->n_keys; k++) {
        gets[k] = (struct core_get){.table = api_text(t->table),
                                    .projection = api_text(t->projection_expression),
                                    .env = env,
                                    .is_consistent = t->consistent_read};
        TRY(api_encode_item(c, t->keys[k], "key", &gets[k].key));
    }
    return SHEAF_OK;
}

/* All keys of all tables in a row; `tables` and `keys` say where each stands in the request. */
static sheaf_rc take_gets(struct ctx *c, const struct sheaf_batch_get_item *q,
                          struct core_get *gets, size_t *tables, size_t *keys)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n_tables; i++) {
        TRY(blame(c, i, take_keys(c, &q->tables[i], &gets[n])));
        for (size_t k = 0; k < q->tables[i].n_keys; k++, n++) {
            tables[n] = i;
            keys[n] = k;
        }
    }
    return SHEAF_OK;
}

/* Only items that were found, with the table each came from. */
static sheaf_rc fill_batch(sheaf_result *r, const struct core_get *gets,
                           const struct core_items_outcome *o)
{
    span *found = ARENA_ARRAY(&r->arena, span, o->n + 1);
    r->item_tables = ARENA_ARRAY(&r->arena, const char *, o->n + 1);
    if (!found || !r->item_tables) return api_short(r);
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        if (!o->items[i].p) continue;
        r->item_tables[n] = gets[i].table.p; /* the caller's string, NUL-terminated */
        found[n++] = o->items[i];
    }
    for (uint32_t i = 0; i < n; i++) r->item_tables[i] = api_cstr(r, span_cstr(r->item_tables[i]));
    return api_set_items(r, found, n);
}

sheaf_rc sheaf_batch_get_item_sized(sheaf_db *db, const struct sheaf_batch_get_item *given,
                                    size_t size, sheaf_result **result_out)
{
    API_BEGIN(sheaf_batch_get_item);
    TRY_OUT(api_need_list(c, q->tables, q->n_tables, "tables"));
    size_t n = count_keys(q);
    struct core_get *gets = ARENA_ARRAY(c->arena, struct core_get, n + 1);
    size_t *tables = ARENA_ARRAY(c->arena, size_t, n + 1),
           *keys = ARENA_ARRAY(c->arena, size_t, n + 1);
    r->unprocessed = arena_zalloc_array(c->arena, n + 1, sizeof *r->unprocessed);
    struct core_items_outcome o;
    TRY_OUT(gets && tables && keys && r->unprocessed && n < UINT32_MAX ? SHEAF_OK
                                                                       : err_nomem(c->err));
    TRY_OUT(take_gets(c, q, gets, tables, keys));
    struct core_multi_get m = {gets, (uint32_t)n, false, capacity_of(q->return_consumed_capacity)};
    rc = API_RUN(db, multi_get, c, &m, &o);
    position = o.position;
    if (rc != SHEAF_OK && c->err->action >= 0) c->err->action = (int32_t)tables[c->err->action];
    TRY_OUT(rc);
    TRY_OUT(fill_batch(r, gets, &o));
    for (uint32_t i = 0; i < o.n_unprocessed; i++) {
        r->unprocessed[i].table = tables[o.unprocessed[i]];
        r->unprocessed[i].key = keys[o.unprocessed[i]];
    }
    r->n_unprocessed = o.n_unprocessed;
    rc = api_set_capacity(r, o.capacity, o.n_capacity);
out:
    return api_finish(db, r, rc, position, result_out);
}

static sheaf_rc fill_multi(sheaf_result *r, const struct core_multi_outcome *o)
{
    TRY(api_set_capacity(r, o->capacity, o->n_capacity));
    return api_set_metrics(r, o->metrics, o->n_metrics);
}

static sheaf_rc check_one_kind(struct ctx *c, const struct sheaf_batch_write *w)
{
    if (w->put && w->delete_key)
        return err_validation(
            c->err, "Supplied AttributeValue has more than one datatypes set, must contain "
                    "exactly one of the supported datatypes");
    if (!w->put && !w->delete_key)
        return err_validation(c->err, "Supplied AttributeValue is empty, must contain exactly one "
                                      "of the supported datatypes");
    return SHEAF_OK;
}

static sheaf_rc take_write(struct ctx *c, const struct sheaf_batch_write *w, struct expr_env *env,
                           struct core_write *out)
{
    TRY(api_need_zero(c, w->reserved_, "A member of writes"));
    TRY(core_check_table_name(c, api_text(w->table)));
    TRY(check_one_kind(c, w));
    *out = (struct core_write){
        .action = w->put ? CORE_PUT : CORE_DELETE, .table = api_text(w->table), .env = env};
    return api_encode_item(c, w->put ? w->put : w->delete_key, w->put ? "item" : "key", &out->item);
}

sheaf_rc sheaf_batch_write_item_sized(sheaf_db *db, const struct sheaf_batch_write_item *given,
                                      size_t size, sheaf_result **result_out)
{
    API_BEGIN(sheaf_batch_write_item);
    TRY_OUT(api_need_list(c, q->writes, q->n_writes, "writes"));
    struct core_write *writes = ARENA_ARRAY(c->arena, struct core_write, q->n_writes + 1);
    r->unprocessed = arena_zalloc_array(c->arena, q->n_writes + 1, sizeof *r->unprocessed);
    struct expr_env *env;
    struct core_multi_outcome o;
    TRY_OUT(writes && r->unprocessed && q->n_writes < UINT32_MAX ? SHEAF_OK : err_nomem(c->err));
    TRY_OUT(api_env(c, NULL, NULL, &env));
    for (size_t i = 0; i < q->n_writes; i++)
        TRY_OUT(blame(c, i, take_write(c, &q->writes[i], env, &writes[i])));
    struct core_batch_write b = {writes, (uint32_t)q->n_writes,
                                 capacity_of(q->return_consumed_capacity),
                                 q->return_item_collection_metrics};
    API_CORE(API_RUN(db, batch_write, c, &b, &o), o);
    for (uint32_t i = 0; i < o.n_unprocessed; i++) r->unprocessed[i].table = o.unprocessed[i];
    r->n_unprocessed = o.n_unprocessed;
    api_done(r, rc);
    (void)fill_multi(r, &o);
out:
    return api_finish(db, r, rc, position, result_out);
}

/* ---- transactions ---- */

static sheaf_rc take_action(struct ctx *c, const struct sheaf_transact_write *a,
                            struct core_write *w)
{
    TRY(api_need_zero(c, a->reserved2_, "A member of actions"));
    int kinds = (a->put != NULL) + a->is_delete + a->is_check + (a->update_expression != NULL);
    if (kinds != 1)
        return err_validation(c->err,
                              "TransactItems can only contain one of Check, Put, Update or Delete");
    *w = (struct core_write){.action = a->put         ? CORE_PUT
                                       : a->is_delete ? CORE_DELETE
                                       : a->is_check  ? CORE_CHECK
                                                      : CORE_UPDATE,
                             .table = api_text(a->table),
                             .update = api_text(a->update_expression),
                             .condition = api_text(a->condition_expression),
                             .wants_old_on_failure = a->return_old_on_condition_failure};
    TRY(core_check_table_name(c, w->table));
    TRY(api_encode_item(c, a->put ? a->put : a->key, a->put ? "item" : "key", &w->item));
    return api_env(c, a->expression_attribute_names, a->expression_attribute_values, &w->env);
}

/* AWS's codes of cancellation reasons. */
static const char *reason_code(sheaf_rc rc)
{
    switch (rc) {
    case SHEAF_OK:
        return "None";
    case SHEAF_CONDITIONAL_CHECK_FAILED:
        return "ConditionalCheckFailed";
    case SHEAF_TRANSACTION_CONFLICT:
    case SHEAF_CONFLICT:
        return "TransactionConflict";
    case SHEAF_ITEM_COLLECTION_SIZE:
        return "ItemCollectionSizeLimitExceeded";
    case SHEAF_THROUGHPUT_EXCEEDED:
        return "ProvisionedThroughputExceeded";
    case SHEAF_THROTTLED:
        return "ThrottlingError";
    case SHEAF_VALIDATION:
    case SHEAF_TOO_LARGE:
        return "ValidationError";
    default:
        return "InternalServerError";
    }
}

static sheaf_rc fill_reasons(sheaf_result *r, const struct core_multi_outcome *o)
{
    for (uint32_t i = o->n; i-- > 0;) (void)blame(&r->ctx, i, o->written[i].rc); /* the first */
    r->reasons = ARENA_ARRAY(&r->arena, struct sheaf_reason, o->n + 1);
    if (!r->reasons) return api_short(r);
    for (uint32_t i = 0; i < o->n; i++) {
        const struct core_written *w = &o->written[i];
        r->reasons[i] = (struct sheaf_reason){reason_code(w->rc), w->rc ? w->message : NULL,
                                              api_item_view(&r->arena, w->old_item)};
        if (w->old_item.p && !r->reasons[i].item) (void)api_short(r);
    }
    r->n_reasons = o->n;
    return SHEAF_OK;
}

sheaf_rc sheaf_transact_write_items_sized(sheaf_db *db,
                                          const struct sheaf_transact_write_items *given,
                                          size_t size, sheaf_result **result_out)
{
    API_BEGIN(sheaf_transact_write_items);
    TRY_OUT(api_need_list(c, q->actions, q->n_actions, "actions"));
    struct core_write *writes = ARENA_ARRAY(c->arena, struct core_write, q->n_actions + 1);
    struct core_multi_outcome o = {.n = 0};
    TRY_OUT(writes && q->n_actions < UINT32_MAX ? SHEAF_OK : err_nomem(c->err));
    for (size_t i = 0; i < q->n_actions; i++)
        TRY_OUT(blame(c, i, take_action(c, &q->actions[i], &writes[i])));
    struct core_transact_write t = {
        writes, (uint32_t)q->n_actions, api_text(q->client_request_token),
        capacity_of(q->return_consumed_capacity), q->return_item_collection_metrics};
    rc = API_RUN(db, transact_write, c, &t, &o);
    position = o.position;
    api_done(r, rc);
    if (rc == SHEAF_TRANSACTION_CANCELED) (void)fill_reasons(r, &o);
    if (rc == SHEAF_OK) (void)fill_multi(r, &o);
out:
    return api_finish(db, r, rc, position, result_out);
}

static sheaf_rc take_get(struct ctx *c, const struct sheaf_transact_get *g, struct core_get *out)
{
    TRY(api_need_zero(c, g->reserved_, "A member of gets"));
    *out = (struct core_get){.table = api_text(g->table),
                             .projection = api_text(g->projection_expression),
                             .is_consistent = true};
    TRY(core_check_table_name(c, out->table));
    TRY(api_encode_item(c, g->key, "key", &out->key));
    return api_env(c, g->expression_attribute_names, NULL, &out->env);
}

sheaf_rc sheaf_transact_get_items_sized(sheaf_db *db, const struct sheaf_transact_get_items *given,
                                        size_t size, sheaf_result **result_out)
{
    API_BEGIN(sheaf_transact_get_items);
    TRY_OUT(api_need_list(c, q->gets, q->n_gets, "gets"));
    struct core_get *gets = ARENA_ARRAY(c->arena, struct core_get, q->n_gets + 1);
    struct core_items_outcome o;
    TRY_OUT(gets && q->n_gets < UINT32_MAX ? SHEAF_OK : err_nomem(c->err));
    for (size_t i = 0; i < q->n_gets; i++) TRY_OUT(blame(c, i, take_get(c, &q->gets[i], &gets[i])));
    struct core_multi_get m = {gets, (uint32_t)q->n_gets, true,
                               capacity_of(q->return_consumed_capacity)};
    rc = API_RUN(db, multi_get, c, &m, &o);
    position = o.position;
    if (rc == SHEAF_TRANSACTION_CANCELED)
        (void)fill_reasons(r, &(struct core_multi_outcome){.written = o.written, .n = o.n});
    TRY_OUT(rc);
    TRY_OUT(api_set_items(r, o.items, o.n));
    rc = api_set_capacity(r, o.capacity, o.n_capacity);
out:
    return api_finish(db, r, rc, position, result_out);
}
