/* Turns "the orders of this customer" into Query requests, and pages into rows. Know before editing:
 * the limit counts rows that the caller gets. A page that a filter thinned out is followed by the
 * next, and a token is made from the last row given, not from where the service stopped. */
#include "mapper/plan.h"

#include "base/mem.h"

#include <assert.h>

/* A query ready to run, page after page. */
struct read {
    sheaf_map *map;
    struct sheaf_collect q;
    struct arena arena;
    struct ctx c;
    const struct map_index *index;
    const struct map_plan *only; /* NULL: any */
    struct express express;
    struct buf condition; /* the KeyConditionExpression */
    struct buf bound;     /* what it compares with: a token is bound to that */
    const char *filter, *projection;
    /* The sort keys begin with a whole value: "ORDER#1" is not to find ORDER#12. */
    span whole_prefix;
};

/* ---- the key condition ---- */

static sheaf_rc add_operand(struct read *r, const char *before, const char *attr, const char *op,
                            sheaf_value v)
{
    const char *name = attr ? express_name(&r->express, attr) : "";
    const char *value = express_value(&r->express, v);
    if (!name || !value) return err_nomem(r->c.err);
    buf_printf(&r->condition, "%s%s%s%s", before, name, op, value);
    sheaf_str s = sheaf_value_str(&v);
    buf_printf(&r->bound, "%s|%s|%s|%d|%zu|", before, attr ? attr : "", op, (int)v.type,
               s.p ? s.n : v.n);
    if (s.p)
        buf_put(&r->bound, s.p, s.n);
    else
        buf_printf(&r->bound, "%lld", (long long)v.u.i64);
    return SHEAF_OK;
}

static sheaf_rc add_partition_key(struct read *r, const struct map_plan *plan)
{
    for (uint32_t i = 0; i < r->index->n_partition_key; i++) {
        struct map_key key = map_key_of(plan, r->index->partition_key[i]);
        struct key_text text;
        if (!key.template_ && !key.field)
            return err_validation(r->c.err, "entity %s has nothing for %s, a key of %s%s",
                                  plan->entity->type, key.attr,
                                  r->index->name ? "index " : "table ",
                                  r->index->name ? r->index->name : r->map->table.name);
        TRY(key_render(&r->c, plan, &key, r->q.of.value, KEY_WHOLE, NULL, &text));
        if (text.value.type == SHEAF_NONE)
            return err_validation(r->c.err, "entity %s, key %s: field %s has no value",
                                  plan->entity->type, key.attr,
                                  text.missing ? text.missing->f->member : "?");
        TRY(add_operand(r, i ? " AND " : "", key.attr, " = ", text.value));
    }
    return SHEAF_OK;
}

/* The beginning of a sort key that a reference gives. */
static sheaf_rc sort_text(struct read *r, const struct sheaf_ref *ref, struct key_text *out)
{
    const struct map_plan *plan;
    TRY(map_plan_of(r->map, ref->entity, r->c.err, &plan));
    if (r->index->n_sort_key == 0)
        return err_validation(r->c.err, "%s has no sort key to begin with, or to be in a range",
                              r->index->name ? r->index->name : r->map->table.name);
    struct map_key key = map_key_of(plan, r->index->sort_key[0]);
    if (!key.template_ && !key.field)
        return err_validation(r->c.err, "entity %s has nothing for sort key %s", plan->entity->type,
                              key.attr);
    if (r->q.before && !map_field_named(&plan->shape, span_cstr(r->q.before)))
        return err_validation(r->c.err, "before: %s is no field of entity %s", r->q.before,
                              plan->entity->type);
    return key_render(&r->c, plan, &key, ref->value, KEY_PREFIX, r->q.before, out);
}

static sheaf_rc add_begins(struct read *r)
{
    struct key_text text;
    TRY(sort_text(r, &r->q.begins, &text));
    if (text.value.type == SHEAF_NONE || text.value.n == 0) return SHEAF_OK; /* all of them */
    const char *attr = r->index->sort_key[0];
    if (text.value.type != SHEAF_S) return add_operand(r, " AND ", attr, " = ", text.value);
    TRY(add_operand(r, " AND begins_with(", attr, ", ", text.value));
    buf_put_u8(&r->condition, ')');
    if (text.is_whole && text.ends_in_field) {
        sheaf_str s = sheaf_value_str(&text.value);
        r->whole_prefix = SPAN(s.p, s.n);
    }
    return SHEAF_OK;
}

/* The end of a range that is only begun includes everything that begins so. */
static sheaf_rc end_text(struct read *r, struct key_text *text)
{
    TRY(sort_text(r, &r->q.to, text));
    if (text->is_whole || text->value.type != SHEAF_S) return SHEAF_OK;
    static const char last[] = "\xF4\x8F\xBF\xBF"; /* U+10FFFF */
    sheaf_str s = sheaf_value_str(&text->value);
    uint8_t *p = arena_bytes(&r->arena, s.n + 4);
    if (!p) return err_nomem(r->c.err);
    memcpy(p, s.p, s.n);
    memcpy(p + s.n, last, 4);
    text->value = sheaf_sn((const char *)p, s.n + 4);
    return SHEAF_OK;
}

static sheaf_rc add_range(struct read *r)
{
    struct key_text from = {.value = sheaf_make_(SHEAF_NONE, NULL, 0)}, to = from;
    if (r->q.from.entity) TRY(sort_text(r, &r->q.from, &from));
    if (r->q.to.entity) TRY(end_text(r, &to));
    const char *attr = r->index->sort_key[0];
    bool has_from = from.value.type != SHEAF_NONE && from.value.n != 0;
    bool has_to = to.value.type != SHEAF_NONE;
    if (has_from && has_to) {
        TRY(add_operand(r, " AND ", attr, " BETWEEN ", from.value));
        return add_operand(r, " AND ", NULL, "", to.value);
    }
    if (has_from) return add_operand(r, " AND ", attr, " >= ", from.value);
    return has_to ? add_operand(r, " AND ", attr, " <= ", to.value) : SHEAF_OK;
}

static sheaf_rc make_condition(struct read *r)
{
    const struct map_plan *plan;
    bool is_range = r->q.from.entity || r->q.to.entity;
    if (r->q.begins.entity && is_range)
        return err_validation(r->c.err, "A query takes begins, or from and to, but not both");
    TRY(map_plan_of(r->map, r->q.of.entity, r->c.err, &plan));
    TRY(add_partition_key(r, plan));
    if (r->q.begins.entity) TRY(add_begins(r));
    if (is_range) TRY(add_range(r));
    buf_put_u8(&r->condition, '\0');
    return r->condition.failed || r->bound.failed ? err_nomem(r->c.err) : SHEAF_OK;
}

/* ---- the filter ---- */

static sheaf_rc make_filter(struct read *r)
{
    struct buf b;
    buf_init(&b, &r->arena, 64 << 10);
    r->filter = r->q.filter_expression;
    /* An index without the discriminator tells entities apart by their keys: see is_wanted. */
    if (!r->only || !r->index->has_type) return SHEAF_OK;
    const char *name = express_name(&r->express, r->map->discriminator);
    const char *value = express_value(&r->express, sheaf_s(r->only->entity->type));
    if (!name || !value) return err_nomem(r->c.err);
    buf_printf(&b, "%s = %s", name, value);
    if (r->filter) buf_printf(&b, " AND (%s)", r->filter);
    buf_put_u8(&b, '\0');
    r->filter = (const char *)b.p;
    return b.failed ? err_nomem(r->c.err) : SHEAF_OK;
}

static bool is_wanted(const struct read *r, const sheaf_item *item)
{
    if (r->only && !r->index->has_type && map_plan_of_item(r->map, item) != r->only) return false;
    if (!r->whole_prefix.p) return true;
    sheaf_str s = sheaf_item_str(item, r->index->sort_key[0]);
    return s.n == r->whole_prefix.n || (s.n > r->whole_prefix.n && s.p[r->whole_prefix.n] == '#');
}

static bool may_drop(const struct read *r)
{
    return r->filter || r->whole_prefix.p || (r->only && !r->index->has_type);
}

/* ---- preparing ---- */

static sheaf_rc prepare(struct read *r)
{
    buf_init(&r->condition, &r->arena, 64 << 10);
    buf_init(&r->bound, &r->arena, 64 << 10);
    TRY(map_index_of(r->map, r->q.index, r->c.err, &r->index));
    if (r->q.only) TRY(map_plan_of(r->map, r->q.only, r->c.err, &r->only));
    TRY(express_init(&r->express, &r->c, r->q.expression_attribute_names,
                     r->q.expression_attribute_values));
    TRY(express_fields(&r->express, r->map, r->only, r->index, r->q.fields, &r->projection));
    TRY(make_condition(r));
    return make_filter(r);
}

static sheaf_rc read_init(struct read *r, sheaf_map *map, const struct sheaf_collect *q,
                          size_t size)
{
    sheaf_error *err = MAP_ERROR(q, size);
    memset(r, 0, sizeof *r);
    err_clear(err);
    arena_init(&r->arena, MAP_ARENA_MAX);
    r->map = map;
    r->c = (struct ctx){&r->arena, err};
    TRY(map_take(&r->q, sizeof r->q, q, size, err));
    return prepare(r);
}

static struct token_query token_query(const struct read *r)
{
    return (struct token_query){r->index, buf_span(&r->bound), r->q.backward};
}

/* ---- pages ---- */

static uint32_t page_limit(const struct read *r, uint32_t wanted)
{
    if (!wanted || !may_drop(r)) return wanted;
    return wanted > 16 ? (wanted > UINT32_MAX / 4 ? wanted : wanted * 4) : 64;
}

static sheaf_rc fetch_page(struct read *r, const sheaf_item *start, uint32_t limit,
                           sheaf_rows *rows, sheaf_result **page_out)
{
    struct sheaf_query q = {.table = r->map->table.name,
                            .index = r->index->name,
                            .key_condition_expression = (const char *)r->condition.p,
                            .filter_expression = r->filter,
                            .projection_expression = r->projection,
                            .expression_attribute_names = r->express.names,
                            .expression_attribute_values = express_values(&r->express),
                            .exclusive_start_key = start,
                            .limit = limit,
                            .backward = r->q.backward,
                            .consistent_read = r->q.consistent_read,
                            .error = r->c.err};
    TRY(sheaf_query(r->map->db, &q, page_out));
    return rows_keep(rows, *page_out, r->c.err);
}

static sheaf_rc put_token(struct read *r, sheaf_rows *rows, const sheaf_item *last)
{
    struct buf b;
    struct token_query q = token_query(r);
    buf_init(&b, rows_arena(rows), TOKEN_TEXT_MAX);
    TRY(token_put(r->map, &q, last, r->c.err, &b));
    rows_set_token(rows, (const char *)b.p);
    return SHEAF_OK;
}

/* Rows of a page until there are `limit` (0: all); *is_cut_out: it holds more. */
static sheaf_rc take_rows(struct read *r, const sheaf_result *page, uint32_t limit,
                          sheaf_rows *rows, bool *is_cut_out)
{
    *is_cut_out = false;
    for (size_t i = 0; i < sheaf_result_count(page); i++) {
        const sheaf_item *item = sheaf_result_at(page, i);
        if (!item) return err_nomem(r->c.err);
        if (!is_wanted(r, item)) continue;
        *is_cut_out = limit && sheaf_rows_count(rows) == limit;
        if (*is_cut_out) return SHEAF_OK;
        TRY(rows_add(rows, item, r->c.err));
    }
    return SHEAF_OK;
}

static sheaf_rc fill(struct read *r, const char *token, uint32_t limit, sheaf_rows *rows)
{
    sheaf_item from_token;
    const sheaf_item *start = NULL;
    if (token) {
        struct token_query q = token_query(r);
        TRY(token_get(&r->c, r->map, &q, token, &from_token));
        start = &from_token;
    }
    for (;;) {
        sheaf_result *page;
        bool is_cut;
        uint32_t left = limit ? limit - (uint32_t)sheaf_rows_count(rows) : 0;
        TRY(fetch_page(r, start, page_limit(r, left), rows, &page));
        TRY(take_rows(r, page, limit, rows, &is_cut));
        start = sheaf_result_last_evaluated_key(page);
        if (is_cut) return put_token(r, rows, rows_last(rows)->item);
        if (!start) return SHEAF_OK;
        if (!limit || sheaf_rows_count(rows) == limit) return put_token(r, rows, start);
    }
}

static sheaf_rc read_page(struct read *r, const char *token, uint32_t limit, sheaf_rows **rows_out)
{
    sheaf_rc rc;
    sheaf_rows *rows = rows_new(r->map);
    if (!rows) return err_nomem(r->c.err);
    TRY_OUT(fill(r, token, limit, rows));
    TRY_OUT(rows_finish(rows, r->c.err));
    *rows_out = rows;
    return SHEAF_OK;
out:
    sheaf_rows_free(rows);
    return rc;
}

sheaf_rc sheaf_collect_sized(sheaf_map *map, const struct sheaf_collect *q, size_t size,
                             sheaf_rows **rows_out)
{
    struct read r;
    *rows_out = NULL;
    sheaf_rc rc = read_init(&r, map, q, size);
    if (rc == SHEAF_OK) rc = read_page(&r, r.q.token, r.q.limit, rows_out);
    arena_deinit(&r.arena);
    return rc;
}

/* ---- one item ---- */

static sheaf_rc get(struct ctx *c, sheaf_map *map, const struct sheaf_fetch *q, sheaf_rows *rows)
{
    const struct map_plan *plan;
    struct express e;
    sheaf_item key;
    const char *projection;
    sheaf_result *result;
    TRY(map_plan_of(map, q->of.entity, c->err, &plan));
    TRY(map_encode_key(c, plan, q->of.value, &key));
    TRY(express_init(&e, c, NULL, NULL));
    TRY(express_fields(&e, map, plan, &map->indexes[0], q->fields, &projection));
    struct sheaf_get_item g = {.table = map->table.name,
                               .key = &key,
                               .projection_expression = projection,
                               .expression_attribute_names = e.names,
                               .consistent_read = q->consistent_read,
                               .error = c->err};
    TRY(sheaf_get_item(map->db, &g, &result));
    const sheaf_item *item = sheaf_result_item(result);
    TRY(rows_keep(rows, result, c->err));
    if (item) TRY(rows_add(rows, item, c->err));
    return rows_finish(rows, c->err);
}

sheaf_rc sheaf_fetch_sized(sheaf_map *map, const struct sheaf_fetch *given, size_t size,
                           sheaf_rows **rows_out)
{
    struct sheaf_fetch q;
    sheaf_error *err = MAP_ERROR(given, size);
    uint8_t room[1024] __attribute__((aligned(16)));
    struct arena arena;
    *rows_out = NULL;
    err_clear(err);
    TRY(map_take(&q, sizeof q, given, size, err));
    sheaf_rows *rows = rows_new(map);
    if (!rows) return err_nomem(err);
    arena_init_in(&arena, room, sizeof room, MAP_ARENA_MAX);
    sheaf_rc rc = get(&(struct ctx){&arena, err}, map, &q, rows);
    arena_deinit(&arena);
    if (rc == SHEAF_OK)
        *rows_out = rows;
    else
        sheaf_rows_free(rows);
    return rc;
}

/* ---- walking ---- */

struct sheaf_walk {
    struct read read;
    sheaf_rows *rows; /* the page under way; NULL before the first */
    const sheaf_row *row;
    uint64_t n_given;
    bool is_done;
    struct buf token;
};

sheaf_rc sheaf_walk_open_sized(sheaf_map *map, const struct sheaf_collect *q, size_t size,
                               sheaf_walk **walk_out)
{
    *walk_out = NULL;
    sheaf_walk *w = mem_zalloc(sizeof *w);
    if (!w) return err_nomem(MAP_ERROR(q, size));
    buf_init(&w->token, NULL, TOKEN_TEXT_MAX);
    sheaf_rc rc = read_init(&w->read, map, q, size);
    if (rc == SHEAF_OK)
        *walk_out = w;
    else
        sheaf_walk_close(w);
    return rc;
}

void sheaf_walk_close(sheaf_walk *w)
{
    if (!w) return;
    sheaf_rows_free(w->rows);
    buf_deinit(&w->token);
    arena_deinit(&w->read.arena);
    mem_free(w);
}

static bool is_at_limit(const sheaf_walk *w)
{
    return w->read.q.limit && w->n_given == w->read.q.limit;
}

/* The next page that has a row; w->row is NULL at the end. */
static sheaf_rc turn_page(sheaf_walk *w)
{
    do {
        const char *token = w->rows ? sheaf_rows_token(w->rows) : w->read.q.token;
        uint32_t limit = w->read.q.limit ? w->read.q.limit - (uint32_t)w->n_given : 0;
        sheaf_rows *next;
        if (w->rows && !token) return SHEAF_OK;
        TRY(read_page(&w->read, token, limit, &next));
        sheaf_rows_free(w->rows);
        w->rows = next;
        w->row = sheaf_rows_next_row_(next, NULL);
    } while (!w->row);
    return SHEAF_OK;
}

sheaf_rc sheaf_walk_next(sheaf_walk *w, const sheaf_row **row_out, sheaf_error *err)
{
    *row_out = NULL;
    err_clear(err);
    w->read.c.err = err;
    if (w->row && w->row->next && !is_at_limit(w)) {
        w->row = w->row->next;
    } else if (!w->is_done) {
        w->row = NULL;
        if (!is_at_limit(w)) TRY(turn_page(w));
        w->is_done = w->row == NULL;
    }
    w->n_given += w->row != NULL;
    *row_out = w->row;
    return SHEAF_OK;
}

sheaf_rc sheaf_walk_token(sheaf_walk *w, const char **token_out, sheaf_error *err)
{
    struct token_query q = token_query(&w->read);
    *token_out = NULL;
    err_clear(err);
    if (!w->row) return SHEAF_OK;
    buf_clear(&w->token);
    TRY(token_put(w->read.map, &q, w->row->item, err, &w->token));
    *token_out = (const char *)w->token.p;
    return SHEAF_OK;
}
