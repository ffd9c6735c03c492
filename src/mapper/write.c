/* Single writes: put, put new, update, delete, add to a counter. Know before editing: a write that
 * was made answers SHEAF_OK whatever happens to its row afterwards; then there are no rows. */
#include "mapper/plan.h"

#include <assert.h>

enum { ROOM = 2048 };

/* The write itself; the result is set on success and on a failed condition. */
static sheaf_rc put(sheaf_map *map, struct act *a, bool wants_row, sheaf_error *err,
                    sheaf_result **result)
{
    struct sheaf_put_item q = {.table = map->table.name,
                               .item = &a->item,
                               .condition_expression = a->condition,
                               .expression_attribute_names = a->express.names,
                               .expression_attribute_values = express_values(&a->express),
                               .return_old_on_condition_failure = wants_row,
                               .error = err};
    return sheaf_put_item(map->db, &q, result);
}

static sheaf_rc update(sheaf_map *map, struct act *a, bool wants_row, sheaf_error *err,
                       sheaf_result **result)
{
    struct sheaf_update_item q = {.table = map->table.name,
                                  .key = &a->key,
                                  .update_expression = a->update,
                                  .condition_expression = a->condition,
                                  .expression_attribute_names = a->express.names,
                                  .expression_attribute_values = express_values(&a->express),
                                  .return_values = wants_row ? SHEAF_ALL_NEW : SHEAF_RETURN_NONE,
                                  .return_old_on_condition_failure = wants_row,
                                  .error = err};
    return sheaf_update_item(map->db, &q, result);
}

static sheaf_rc delete (sheaf_map *map, struct act *a, bool wants_row, sheaf_error *err,
                        sheaf_result **result)
{
    struct sheaf_delete_item q = {.table = map->table.name,
                                  .key = &a->key,
                                  .condition_expression = a->condition,
                                  .expression_attribute_names = a->express.names,
                                  .expression_attribute_values = express_values(&a->express),
                                  .return_values = wants_row ? SHEAF_ALL_OLD : SHEAF_RETURN_NONE,
                                  .return_old_on_condition_failure = wants_row,
                                  .error = err};
    return sheaf_delete_item(map->db, &q, result);
}

static sheaf_rc run(sheaf_map *map, struct act *a, bool wants_row, sheaf_error *err,
                    sheaf_result **result)
{
    if (a->how == SHEAF_UPDATE) return update(map, a, wants_row, err, result);
    if (a->how == SHEAF_DELETE) return delete (map, a, wants_row, err, result);
    return put(map, a, wants_row, err, result);
}

/* The row of a write: the item returned or in the way; a put returns nothing, its row is what was
 * written. Takes the result. */
static sheaf_rc fill_rows(sheaf_rows *rows, const struct act *a, bool is_put, sheaf_result *result)
{
    const sheaf_item *item = sheaf_result_item(result);
    TRY(rows_keep(rows, result, NULL));
    if (is_put) TRY(rows_keep_copy(rows, &a->item, NULL, &item));
    if (item) TRY(rows_add(rows, item, NULL));
    return rows_finish(rows, NULL);
}

static sheaf_rc save_with_rows(sheaf_map *map, struct act *a, sheaf_error *err,
                               sheaf_rows **rows_out)
{
    sheaf_result *result;
    sheaf_rows *rows = rows_new(map);
    if (!rows) return err_nomem(err);
    sheaf_rc rc = run(map, a, true, err, &result);
    bool is_put = rc == SHEAF_OK && (a->how == SHEAF_PUT || a->how == SHEAF_PUT_NEW);
    if (result && fill_rows(rows, a, is_put, result) == SHEAF_OK)
        *rows_out = rows;
    else
        sheaf_rows_free(rows);
    return rc;
}

sheaf_rc sheaf_save_sized(sheaf_map *map, const struct sheaf_save *given, size_t size,
                          sheaf_rows **rows_out)
{
    struct sheaf_save q;
    struct act a;
    sheaf_error *err = MAP_ERROR(given, size);
    uint8_t room[ROOM] __attribute__((aligned(16)));
    struct arena arena;
    if (rows_out) *rows_out = NULL;
    err_clear(err);
    TRY(map_take(&q, sizeof q, given, size, err));
    arena_init_in(&arena, room, sizeof room, MAP_ARENA_MAX);
    sheaf_rc rc = act_make(&(struct ctx){&arena, err}, map, &q, &a);
    if (rc == SHEAF_OK)
        rc = rows_out ? save_with_rows(map, &a, err, rows_out) : run(map, &a, false, err, NULL);
    if (rc == SHEAF_OK) act_done(&a);
    arena_deinit(&arena);
    return rc;
}

sheaf_rc sheaf_save_(sheaf_map *map, enum sheaf_save_how how, const char *fields,
                     const sheaf_entity *entity, void *object, sheaf_error *err)
{
    struct sheaf_save q = {.how = how, .of = {entity, object}, .fields = fields, .error = err};
    return sheaf_save_sized(map, &q, sizeof q, NULL);
}

/* ---- counters ---- */

static sheaf_rc make_add(struct ctx *c, sheaf_map *map, const struct map_field *f, int64_t delta,
                         struct act *a)
{
    struct buf b;
    const char *name = express_name(&a->express, f->attr);
    const char *value = express_value(&a->express, sheaf_int(delta));
    if (!name || !value) return err_nomem(c->err);
    buf_init(&b, c->arena, 1024);
    buf_printf(&b, "ADD %s %s", name, value);
    if (a->plan->updated) {
        sheaf_time now = {map_now(map)};
        char *text = (char *)arena_bytes(c->arena, MAP_TIME_TEXT);
        name = express_name(&a->express, a->plan->updated->attr);
        if (!text || !name || !map_time_format(now.us, text)) return err_nomem(c->err);
        value = express_value(&a->express, sheaf_sn(text, MAP_TIME_TEXT));
        if (!value) return err_nomem(c->err);
        buf_printf(&b, " SET %s = %s", name, value);
    }
    buf_put_u8(&b, '\0');
    a->update = (const char *)b.p;
    return b.failed ? err_nomem(c->err) : SHEAF_OK;
}

static sheaf_rc add(struct ctx *c, sheaf_map *map, const sheaf_entity *entity, const char *member,
                    int64_t delta, void *object)
{
    struct act a;
    sheaf_result *result = NULL;
    TRY(act_make_check(c, map, true, entity, object, &a));
    const struct map_field *f = map_field_named(&a.plan->shape, span_cstr(member));
    if (!f || f->f->kind != SHEAF_IS_COUNTER)
        return err_validation(c->err, "entity %s: %s is not a COUNTER", entity->type, member);
    TRY(make_add(c, map, f, delta, &a));
    struct sheaf_update_item q = {.table = map->table.name,
                                  .key = &a.key,
                                  .update_expression = a.update,
                                  .condition_expression = a.condition,
                                  .expression_attribute_names = a.express.names,
                                  .expression_attribute_values = express_values(&a.express),
                                  .return_values = SHEAF_UPDATED_NEW,
                                  .error = c->err};
    sheaf_rc rc = sheaf_update_item(map->db, &q, &result);
    int64_t now;
    if (rc == SHEAF_OK && sheaf_item_i64(sheaf_result_item(result), f->attr, &now))
        *(int64_t *)((uint8_t *)object + f->f->offset) = now;
    sheaf_result_free(result);
    return rc;
}

sheaf_rc sheaf_add_(sheaf_map *map, const sheaf_entity *entity, const char *member, int64_t delta,
                    void *object, sheaf_error *err)
{
    uint8_t room[ROOM] __attribute__((aligned(16)));
    struct arena arena;
    err_clear(err);
    arena_init_in(&arena, room, sizeof room, MAP_ARENA_MAX);
    sheaf_rc rc = add(&(struct ctx){&arena, err}, map, entity, member, delta, object);
    arena_deinit(&arena);
    return rc;
}

/* ---- by hand ---- */

sheaf_rc sheaf_entity_item_(sheaf_map *map, const sheaf_entity *entity, const void *object,
                            sheaf_item **item_out, sheaf_error *err)
{
    const struct map_plan *plan;
    struct arena arena;
    sheaf_item item;
    *item_out = NULL;
    err_clear(err);
    TRY(map_plan_of(map, entity, err, &plan));
    arena_init(&arena, MAP_ARENA_MAX);
    sheaf_rc rc = map_encode(&(struct ctx){&arena, err}, map, plan, object, &item);
    if (rc == SHEAF_OK) *item_out = sheaf_item_dup(&item);
    if (rc == SHEAF_OK && !*item_out)
        rc = sheaf_item_size(&item)
                 ? err_nomem(err)
                 : err_validation(err, "entity %s: the struct makes no valid item", entity->type);
    arena_deinit(&arena);
    return rc;
}
