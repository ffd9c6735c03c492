/* Rows: items and the structs they became, in one arena, freed once. Know before editing: a struct
 * lies right behind the header of its row, so that the typed pointer is all that a loop needs. */
#include "mapper/plan.h"

#include "base/mem.h"

#include <assert.h>

struct kept {
    struct kept *next;
    sheaf_result *result;
    sheaf_item *item;
};
/* The structs of one entity. */
struct group {
    const sheaf_entity *entity;
    const void **all;
    size_t n;
};
struct sheaf_rows {
    const sheaf_map *map;
    struct arena arena;
    struct kept *kept;
    sheaf_row *first, *last;
    size_t n;
    const char *token;
    struct group *groups;
    size_t n_groups;
    uint8_t room[1024] __attribute__((aligned(16)));
};

enum { HEADER = (sizeof(struct sheaf_row) + 15) / 16 * 16 };

static const void *object_of(const sheaf_row *row) { return (const uint8_t *)row + HEADER; }

sheaf_rows *rows_new(const sheaf_map *map)
{
    sheaf_rows *rows = mem_alloc(sizeof *rows);
    if (!rows) return NULL;
    memset(rows, 0, offsetof(struct sheaf_rows, room));
    rows->map = map;
    arena_init_in(&rows->arena, rows->room, sizeof rows->room, MAP_ROWS_MAX);
    return rows;
}

void sheaf_rows_free(sheaf_rows *rows)
{
    if (!rows) return;
    for (struct kept *k = rows->kept; k; k = k->next) {
        sheaf_result_free(k->result);
        sheaf_item_free(k->item);
    }
    arena_deinit(&rows->arena);
    mem_free(rows);
}

static struct kept *keep(sheaf_rows *rows)
{
    struct kept *k = ARENA_NEW(&rows->arena, struct kept);
    if (!k) return NULL;
    k->next = rows->kept;
    rows->kept = k;
    return k;
}

sheaf_rc rows_keep(sheaf_rows *rows, sheaf_result *result, sheaf_error *err)
{
    struct kept *k = keep(rows);
    if (!k) {
        sheaf_result_free(result);
        return err_nomem(err);
    }
    k->result = result;
    return SHEAF_OK;
}

sheaf_rc rows_keep_copy(sheaf_rows *rows, const sheaf_item *item, sheaf_error *err,
                        const sheaf_item **copy_out)
{
    struct kept *k = keep(rows);
    *copy_out = NULL;
    if (k) k->item = sheaf_item_dup(item);
    if (!k || !k->item) return err_nomem(err);
    *copy_out = k->item;
    return SHEAF_OK;
}

sheaf_rc rows_add(sheaf_rows *rows, const sheaf_item *item, sheaf_error *err)
{
    const struct map_plan *plan = map_plan_of_item(rows->map, item);
    sheaf_row *row = arena_zalloc(&rows->arena, HEADER + (plan ? plan->entity->shape.size : 0));
    if (!row) return err_nomem(err);
    *row = (sheaf_row){.rows = rows, .plan = plan, .item = item};
    struct ctx c = {&rows->arena, err};
    if (plan) TRY(map_decode(&c, plan, item, (uint8_t *)row + HEADER));
    if (rows->last)
        rows->last->next = row;
    else
        rows->first = row;
    rows->last = row;
    rows->n++;
    return SHEAF_OK;
}

static sheaf_rc fill_group(sheaf_rows *rows, const struct map_plan *plan, sheaf_error *err)
{
    struct group *g = &rows->groups[rows->n_groups];
    size_t n = 0;
    for (const sheaf_row *r = rows->first; r; r = r->next) n += r->plan == plan;
    g->all = ARENA_ARRAY(&rows->arena, const void *, n + 1);
    if (!g->all) return err_nomem(err);
    for (const sheaf_row *r = rows->first; r; r = r->next)
        if (r->plan == plan) g->all[g->n++] = object_of(r);
    g->entity = plan->entity;
    rows->n_groups++;
    return SHEAF_OK;
}

sheaf_rc rows_finish(sheaf_rows *rows, sheaf_error *err)
{
    if (!rows->n) return SHEAF_OK;
    rows->groups = ARENA_ARRAY(&rows->arena, struct group, rows->map->n_plans);
    if (!rows->groups) return err_nomem(err);
    for (size_t i = 0; i < rows->map->n_plans; i++)
        TRY(fill_group(rows, &rows->map->plans[i], err));
    return SHEAF_OK;
}

void rows_set_token(sheaf_rows *rows, const char *token) { rows->token = token; }

struct arena *rows_arena(sheaf_rows *rows) { return &rows->arena; }

const sheaf_row *rows_last(const sheaf_rows *rows) { return rows->last; }

/* ---- reading ---- */

size_t sheaf_rows_count(const sheaf_rows *rows) { return rows ? rows->n : 0; }

const char *sheaf_rows_token(const sheaf_rows *rows) { return rows ? rows->token : NULL; }

const sheaf_entity *sheaf_row_entity(const sheaf_row *row)
{
    return row && row->plan ? row->plan->entity : NULL;
}

const sheaf_item *sheaf_row_item(const sheaf_row *row) { return row ? row->item : NULL; }

const void *sheaf_row_as_(const sheaf_row *row, const sheaf_entity *entity)
{
    return row && row->plan && row->plan->entity == entity ? object_of(row) : NULL;
}

const sheaf_row *sheaf_rows_next_row_(const sheaf_rows *rows, const sheaf_row *after)
{
    return after ? after->next : rows ? rows->first : NULL;
}

const void *sheaf_rows_next_(const sheaf_rows *rows, const sheaf_entity *entity, const void *after)
{
    const sheaf_row *row =
        after ? (const sheaf_row *)(const void *)((const uint8_t *)after - HEADER) : NULL;
    while ((row = sheaf_rows_next_row_(rows, row)))
        if (row->plan && row->plan->entity == entity) return object_of(row);
    return NULL;
}

const void *const *sheaf_rows_all_(const sheaf_rows *rows, const sheaf_entity *entity,
                                   size_t *n_out)
{
    static const void *const none[1] = {NULL};
    *n_out = 0;
    for (size_t i = 0; rows && i < rows->n_groups; i++)
        if (rows->groups[i].entity == entity) {
            *n_out = rows->groups[i].n;
            return rows->groups[i].all;
        }
    return none;
}

sheaf_rc sheaf_rows_of(sheaf_map *map, const sheaf_item *const *items, size_t n,
                       sheaf_rows **rows_out, sheaf_error *err)
{
    *rows_out = NULL;
    err_clear(err);
    sheaf_rc rc = SHEAF_OK;
    sheaf_rows *rows = rows_new(map);
    if (!rows) return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        const sheaf_item *copy;
        TRY_OUT(rows_keep_copy(rows, items[i], err, &copy));
        TRY_OUT(rows_add(rows, copy, err));
    }
    TRY_OUT(rows_finish(rows, err));
    *rows_out = rows;
    return SHEAF_OK;
out:
    sheaf_rows_free(rows);
    return rc;
}
