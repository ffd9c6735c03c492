/* Transactions: a list of writes and checks over any entities, committed whole or not at all. Know
 * before editing: building cannot fail visibly. The first mistake is kept and told by the commit, so
 * that a row of calls needs one check. */
#include "mapper/plan.h"

#include "base/mem.h"

enum { FIRST_ACTS = 8 };

struct sheaf_tx {
    sheaf_map *map;
    struct arena arena;
    struct ctx ctx; /* of the acts, which keep it */
    struct act *acts;
    bool *is_check;
    size_t n, cap;
    sheaf_rc rc; /* of the first mistake */
    sheaf_error err;
};

sheaf_tx *sheaf_tx_begin(sheaf_map *map)
{
    sheaf_tx *tx = mem_zalloc(sizeof *tx);
    if (!tx) return NULL;
    tx->map = map;
    arena_init(&tx->arena, MAP_ARENA_MAX);
    tx->ctx = (struct ctx){&tx->arena, &tx->err};
    return tx;
}

void sheaf_tx_abandon(sheaf_tx *tx)
{
    if (!tx) return;
    arena_deinit(&tx->arena);
    mem_free(tx);
}

/* Room for one more; NULL when there is none, or after a mistake. */
static struct act *next_act(sheaf_tx *tx, bool is_check)
{
    if (!tx || tx->rc != SHEAF_OK) return NULL;
    if (tx->n == tx->cap) {
        size_t cap = tx->cap ? tx->cap * 2 : FIRST_ACTS;
        struct act *acts = ARENA_ARRAY(&tx->arena, struct act, cap);
        bool *checks = ARENA_ARRAY(&tx->arena, bool, cap);
        if (!acts || !checks) {
            tx->rc = err_nomem(&tx->err);
            return NULL;
        }
        if (tx->n) {
            memcpy(acts, tx->acts, tx->n * sizeof *acts);
            memcpy(checks, tx->is_check, tx->n * sizeof *checks);
        }
        tx->acts = acts;
        tx->is_check = checks;
        tx->cap = cap;
    }
    tx->is_check[tx->n] = is_check;
    return &tx->acts[tx->n];
}

static void added(sheaf_tx *tx, sheaf_rc rc)
{
    tx->rc = rc;
    if (rc != SHEAF_OK) tx->err.action = (int32_t)tx->n;
    tx->n += rc == SHEAF_OK;
}

void sheaf_tx_save_sized(sheaf_tx *tx, const struct sheaf_save *given, size_t size)
{
    struct sheaf_save q;
    struct act *a = next_act(tx, false);
    if (!a) return;
    sheaf_rc rc = map_take(&q, sizeof q, given, size, &tx->err);
    if (rc == SHEAF_OK) rc = act_make(&tx->ctx, tx->map, &q, a);
    added(tx, rc);
}

void sheaf_tx_add_(sheaf_tx *tx, enum sheaf_save_how how, const char *fields,
                   const sheaf_entity *entity, void *object)
{
    struct sheaf_save q = {.how = how, .of = {entity, object}, .fields = fields};
    sheaf_tx_save_sized(tx, &q, sizeof q);
}

void sheaf_tx_check_(sheaf_tx *tx, bool exists, const sheaf_entity *entity, const void *object)
{
    struct act *a = next_act(tx, true);
    if (!a) return;
    added(tx, act_make_check(&tx->ctx, tx->map, exists, entity, object, a));
}

/* ---- the commit ---- */

static struct sheaf_transact_write action_of(const sheaf_tx *tx, size_t i)
{
    struct act *a = &tx->acts[i];
    bool is_put = !tx->is_check[i] && (a->how == SHEAF_PUT || a->how == SHEAF_PUT_NEW);
    return (struct sheaf_transact_write){.table = tx->map->table.name,
                                         .put = is_put ? &a->item : NULL,
                                         .key = is_put ? NULL : &a->key,
                                         .update_expression = a->update,
                                         .condition_expression = a->condition,
                                         .expression_attribute_names = a->express.names,
                                         .expression_attribute_values = express_values(&a->express),
                                         .is_delete = !tx->is_check[i] && a->how == SHEAF_DELETE,
                                         .is_check = tx->is_check[i],
                                         .return_old_on_condition_failure = true};
}

static sheaf_rc run(sheaf_tx *tx, sheaf_error *err, sheaf_result **result)
{
    char token[37];
    *result = NULL;
    if (tx->n == 0) return err_validation(err, "A transaction holds at least one action");
    struct sheaf_transact_write *actions =
        ARENA_ARRAY(&tx->arena, struct sheaf_transact_write, tx->n);
    if (!actions) return err_nomem(err);
    for (size_t i = 0; i < tx->n; i++) actions[i] = action_of(tx, i);
    sheaf_uuid7(token, 0);
    struct sheaf_transact_write_items q = {
        .actions = actions, .n_actions = tx->n, .client_request_token = token, .error = err};
    return sheaf_transact_write_items(tx->map->db, &q, result);
}

static const struct sheaf_reason *first_reason(const sheaf_result *result, size_t *i_out)
{
    for (size_t i = 0; i < sheaf_result_reason_count(result); i++) {
        const struct sheaf_reason *r = sheaf_result_reason(result, i);
        *i_out = i;
        if (r && r->code && strcmp(r->code, "None") != 0) return r;
    }
    return NULL;
}

/* Static, for it outlives the result. */
static const char *code_of(const char *code)
{
    static const char *const codes[] = {"ConditionalCheckFailed",
                                        "TransactionConflict",
                                        "ItemCollectionSizeLimitExceeded",
                                        "ProvisionedThroughputExceeded",
                                        "ThrottlingError",
                                        "ValidationError",
                                        "AccessDenied",
                                        "DuplicateItem"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strcmp(codes[i], code) == 0) return codes[i];
    return "Other";
}

/* Which action failed, and the row in its way. Takes the result. */
static void explain(const sheaf_tx *tx, sheaf_result *result, struct sheaf_why *why)
{
    size_t i = 0;
    const struct sheaf_reason *r = first_reason(result, &i);
    if (r && i < tx->n) {
        why->action = i;
        why->code = code_of(r->code);
        why->entity = tx->acts[i].plan->entity;
    }
    const sheaf_item *item = r ? r->item : NULL;
    sheaf_rows *rows = item ? rows_new(tx->map) : NULL;
    if (!rows) {
        sheaf_result_free(result);
        return;
    }
    if (rows_keep(rows, result, NULL) == SHEAF_OK && rows_add(rows, item, NULL) == SHEAF_OK &&
        rows_finish(rows, NULL) == SHEAF_OK) {
        why->rows = rows;
        why->row = sheaf_rows_next_row_(rows, NULL);
    } else {
        sheaf_rows_free(rows);
    }
}

sheaf_rc sheaf_tx_commit(sheaf_tx *tx, struct sheaf_why *why)
{
    struct sheaf_why unseen;
    sheaf_result *result = NULL;
    if (!why) why = &unseen;
    memset(why, 0, sizeof *why);
    err_clear(&why->error);
    if (!tx) return err_nomem(&why->error);
    sheaf_rc rc = tx->rc;
    if (rc != SHEAF_OK) {
        why->error = tx->err;
        why->action = tx->n;
    } else {
        rc = run(tx, &why->error, &result);
    }
    for (size_t i = 0; rc == SHEAF_OK && i < tx->n; i++)
        if (!tx->is_check[i]) act_done(&tx->acts[i]);
    if (rc == SHEAF_TRANSACTION_CANCELED && result)
        explain(tx, result, why);
    else
        sheaf_result_free(result);
    if (why == &unseen) sheaf_rows_free(unseen.rows);
    sheaf_tx_abandon(tx);
    return rc;
}
