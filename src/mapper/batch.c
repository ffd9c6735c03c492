/* Batches of any size: cut into requests of 25 writes or 100 gets, the last write of a key wins, what
 * the service leaves over is tried again after a pause. Know before editing: a batch keeps copies of
 * items, so structs need not live until the run; versions, stamps and ids are written into a struct
 * when it is added. */
#include "mapper/plan.h"

#include "base/hash.h"
#include "base/mem.h"

enum { WRITES = 25, GETS = 100, PAUSES = 9 };

struct entry {
    span key;         /* both key attributes, with their lengths */
    sheaf_item *item; /* of a put, or the key of the others; owned */
    bool is_put;
    bool is_dead; /* a later one has the same key */
};
/* Entries, found by key: open addressing over a power of two, 0 is free, else place + 1. */
struct entries {
    struct entry *all;
    size_t n, cap;
    size_t *slots, n_slots;
};
struct sheaf_batch {
    sheaf_map *map;
    struct arena arena;
    struct entries writes, gets;
    sheaf_rc rc; /* of the first mistake */
    sheaf_error err;
};

sheaf_batch *sheaf_batch_begin(sheaf_map *map)
{
    sheaf_batch *b = mem_zalloc(sizeof *b);
    if (!b) return NULL;
    b->map = map;
    arena_init(&b->arena, MAP_ROWS_MAX);
    return b;
}

static void free_entries(struct entries *e)
{
    for (size_t i = 0; i < e->n; i++) sheaf_item_free(e->all[i].item);
}

void sheaf_batch_abandon(sheaf_batch *b)
{
    if (!b) return;
    free_entries(&b->writes);
    free_entries(&b->gets);
    arena_deinit(&b->arena);
    mem_free(b);
}

/* ---- entries ---- */

static size_t *slot_of(const struct entries *e, span key)
{
    size_t i = (size_t)XXH3_64bits(key.p, key.n) & (e->n_slots - 1);
    while (e->slots[i] && !span_eq(e->all[e->slots[i] - 1].key, key))
        i = (i + 1) & (e->n_slots - 1);
    return &e->slots[i];
}

static bool grow(struct arena *a, struct entries *e)
{
    if (e->n < e->cap) return true;
    size_t cap = e->cap ? e->cap * 2 : 32;
    struct entry *all = ARENA_ARRAY(a, struct entry, cap);
    size_t *slots = ARENA_ARRAY(a, size_t, cap * 2);
    if (!all || !slots) return false;
    if (e->n) memcpy(all, e->all, e->n * sizeof *all);
    *e = (struct entries){all, e->n, cap, slots, cap * 2};
    for (size_t i = 0; i < e->n; i++)
        if (!all[i].is_dead) *slot_of(e, all[i].key) = i + 1;
    return true;
}

static span key_bytes(struct arena *a, const struct map_index *table, const sheaf_item *item)
{
    struct buf b;
    buf_init(&b, a, (size_t)32 * MAP_KEY_MAX);
    const char *names[2] = {table->partition_key[0], table->n_sort_key ? table->sort_key[0] : NULL};
    for (int i = 0; i < 2 && names[i]; i++) {
        sheaf_str s = sheaf_item_str(item, names[i]);
        buf_put(&b, &s.n, sizeof s.n);
        buf_put(&b, s.p, s.n);
    }
    return b.failed ? SPAN_NONE : buf_span(&b);
}

/* Takes a copy of the item. A key that is there already: the new one wins. */
static sheaf_rc add_entry(sheaf_batch *b, struct entries *e, const sheaf_item *item, bool is_put)
{
    struct entry new = {.is_put = is_put};
    if (!grow(&b->arena, e)) return err_nomem(&b->err);
    new.key = key_bytes(&b->arena, &b->map->indexes[0], item);
    new.item = sheaf_item_dup(item);
    if (!new.key.p || !new.item) {
        bool is_bad = new.key.p &&sheaf_item_size(item) == 0;
        sheaf_item_free(new.item);
        return is_bad ? err_validation(&b->err, "A struct of the batch makes no valid item")
                      : err_nomem(&b->err);
    }
    size_t *slot = slot_of(e, new.key);
    if (*slot) e->all[*slot - 1].is_dead = true;
    e->all[e->n++] = new;
    *slot = e->n;
    return SHEAF_OK;
}

static sheaf_rc add_write(sheaf_batch *b, struct ctx *c, enum sheaf_save_how how,
                          const sheaf_entity *entity, void *object)
{
    const struct map_plan *plan;
    sheaf_item item;
    TRY(map_plan_of(b->map, entity, c->err, &plan));
    if (!object) return err_validation(c->err, "entity %s: the struct is NULL", entity->type);
    if (how == SHEAF_DELETE) {
        TRY(map_encode_key(c, plan, object, &item));
        return add_entry(b, &b->writes, &item, false);
    }
    if (how != SHEAF_PUT)
        return err_validation(c->err,
                              "A batch puts and deletes; it can neither put new nor update");
    TRY(act_stamp(b->map, plan, how, object));
    TRY(map_encode(c, b->map, plan, object, &item));
    return add_entry(b, &b->writes, &item, true);
}

void sheaf_batch_add_(sheaf_batch *b, enum sheaf_save_how how, const sheaf_entity *entity,
                      void *object)
{
    struct arena arena;
    if (!b || b->rc != SHEAF_OK) return;
    arena_init(&arena, MAP_ARENA_MAX);
    b->rc = add_write(b, &(struct ctx){&arena, &b->err}, how, entity, object);
    arena_deinit(&arena);
}

static sheaf_rc add_get(sheaf_batch *b, struct ctx *c, const sheaf_entity *entity,
                        const void *object)
{
    const struct map_plan *plan;
    sheaf_item key;
    TRY(map_plan_of(b->map, entity, c->err, &plan));
    if (!object) return err_validation(c->err, "entity %s: the struct is NULL", entity->type);
    TRY(map_encode_key(c, plan, object, &key));
    return add_entry(b, &b->gets, &key, false);
}

void sheaf_batch_get_(sheaf_batch *b, const sheaf_entity *entity, const void *object)
{
    struct arena arena;
    if (!b || b->rc != SHEAF_OK) return;
    arena_init(&arena, MAP_ARENA_MAX);
    b->rc = add_get(b, &(struct ctx){&arena, &b->err}, entity, object);
    arena_deinit(&arena);
}

/* ---- running ---- */

/* Places of entries that are still to be done. */
struct queue {
    size_t *at, n;
};

static sheaf_rc make_queue(sheaf_batch *b, const struct entries *e, sheaf_error *err,
                           struct queue *q)
{
    q->n = 0;
    q->at = ARENA_ARRAY(&b->arena, size_t, e->n + 1);
    if (!q->at) return err_nomem(err);
    for (size_t i = 0; i < e->n; i++)
        if (!e->all[i].is_dead) q->at[q->n++] = i;
    return SHEAF_OK;
}

/* One request for the first n of the queue: moves what is left over to its front. */
typedef sheaf_rc (*request_fn)(sheaf_batch *b, struct queue *q, size_t n, void *to,
                               size_t *n_left_out, sheaf_error *err);

static sheaf_rc write_some(sheaf_batch *b, struct queue *q, size_t n, void *to, size_t *n_left_out,
                           sheaf_error *err)
{
    struct sheaf_batch_write w[WRITES];
    size_t left[WRITES];
    sheaf_result *result;
    (void)to;
    memset(w, 0, sizeof w);
    for (size_t i = 0; i < n; i++) {
        const struct entry *e = &b->writes.all[q->at[i]];
        w[i].table = b->map->table.name;
        *(e->is_put ? &w[i].put : &w[i].delete_key) = e->item;
    }
    struct sheaf_batch_write_item r = {.writes = w, .n_writes = n, .error = err};
    TRY(sheaf_batch_write_item(b->map->db, &r, &result));
    *n_left_out = sheaf_result_unprocessed_count(result);
    for (size_t i = 0; i < *n_left_out; i++) {
        size_t at = 0, key;
        if (sheaf_result_unprocessed_at(result, i, &at, &key)) left[i] = q->at[at];
    }
    memcpy(q->at, left, *n_left_out * sizeof *left);
    sheaf_result_free(result);
    return SHEAF_OK;
}

/* What the gets bring, in the order asked for. */
struct harvest {
    sheaf_rows *rows;
    const sheaf_item **items; /* by place of the entry */
};

static sheaf_rc get_some(sheaf_batch *b, struct queue *q, size_t n, void *to, size_t *n_left_out,
                         sheaf_error *err)
{
    struct harvest *h = to;
    const sheaf_item *keys[GETS];
    size_t left[GETS];
    sheaf_result *result;
    for (size_t i = 0; i < n; i++) keys[i] = b->gets.all[q->at[i]].item;
    struct sheaf_batch_get table = {.table = b->map->table.name, .keys = keys, .n_keys = n};
    struct sheaf_batch_get_item r = {.tables = &table, .n_tables = 1, .error = err};
    TRY(sheaf_batch_get_item(b->map->db, &r, &result));
    TRY(rows_keep(h->rows, result, err));
    for (size_t i = 0; i < sheaf_result_count(result); i++) {
        const sheaf_item *item = sheaf_result_at(result, i);
        span key = key_bytes(&b->arena, &b->map->indexes[0], item);
        if (!key.p) return err_nomem(err);
        size_t at = *slot_of(&b->gets, key);
        if (at) h->items[at - 1] = item;
    }
    *n_left_out = sheaf_result_unprocessed_count(result);
    for (size_t i = 0; i < *n_left_out; i++) {
        size_t t, at = 0;
        if (sheaf_result_unprocessed_at(result, i, &t, &at)) left[i] = q->at[at];
    }
    memcpy(q->at, left, *n_left_out * sizeof *left);
    return SHEAF_OK;
}

/* Until the queue is empty, or nothing has moved for PAUSES pauses. */
static sheaf_rc run_queue(sheaf_batch *b, struct queue *q, size_t chunk, request_fn request,
                          void *to, sheaf_error *err)
{
    uint32_t idle = 0;
    while (q->n) {
        size_t n = q->n < chunk ? q->n : chunk, n_left = n;
        sheaf_rc rc = request(b, q, n, to, &n_left, err);
        bool is_throttled = rc == SHEAF_THROUGHPUT_EXCEEDED || rc == SHEAF_THROTTLED;
        if (rc != SHEAF_OK && !is_throttled) return rc;
        idle = n_left == n ? idle + 1 : n_left ? 1 : 0;
        if (idle > PAUSES)
            return err_set(err, SHEAF_THROUGHPUT_EXCEEDED,
                           "%zu requests of the batch were not processed after %d pauses", q->n,
                           PAUSES);
        memmove(q->at + n_left, q->at + n, (q->n - n) * sizeof *q->at);
        q->n -= n - n_left;
        if (idle) map_back_off(b->map, idle - 1);
    }
    return SHEAF_OK;
}

static sheaf_rc run_gets(sheaf_batch *b, sheaf_rows *rows, sheaf_error *err)
{
    struct queue q;
    struct harvest h = {rows, ARENA_ARRAY(&b->arena, const sheaf_item *, b->gets.n + 1)};
    if (!h.items) return err_nomem(err);
    TRY(make_queue(b, &b->gets, err, &q));
    TRY(run_queue(b, &q, GETS, get_some, &h, err));
    for (size_t i = 0; i < b->gets.n; i++)
        if (h.items[i]) TRY(rows_add(rows, h.items[i], err));
    return rows_finish(rows, err);
}

static sheaf_rc run_all(sheaf_batch *b, sheaf_rows *rows, sheaf_error *err)
{
    struct queue q;
    TRY(make_queue(b, &b->writes, err, &q));
    TRY(run_queue(b, &q, WRITES, write_some, NULL, err));
    return rows ? run_gets(b, rows, err) : SHEAF_OK;
}

sheaf_rc sheaf_batch_run(sheaf_batch *b, sheaf_rows **rows_out, sheaf_error *err)
{
    if (rows_out) *rows_out = NULL;
    err_clear(err);
    if (!b) return err_nomem(err);
    sheaf_rc rc = b->rc;
    sheaf_rows *rows = rows_out ? rows_new(b->map) : NULL;
    if (rc != SHEAF_OK && err) *err = b->err;
    if (rc == SHEAF_OK && rows_out && !rows) rc = err_nomem(err);
    if (rc == SHEAF_OK) rc = run_all(b, rows, err);
    if (rc == SHEAF_OK && rows_out)
        *rows_out = rows;
    else
        sheaf_rows_free(rows);
    sheaf_batch_abandon(b);
    return rc;
}
