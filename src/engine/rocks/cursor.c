/* Turns a range inside one P, or a segment of a space, into a bounded RocksDB iterator.
 *
 *     range:  [ P lo , P hi )  or  [ P lo , P + 1 )
 *     walk:   [ P where the segment begins , P where the next one does )
 *
 * Know before editing: the bounds are borrowed by the iterator for as long as it lives, so they lie
 * in the cursor. A cursor moves at the beginning of next, because the caller still reads the row
 * before. */
#include "base/mem.h"
#include "engine/rocks/rocks.h"

#include <assert.h>

struct rocks_cursor {
    sheaf_cursor base;
    struct rocks *engine;
    struct rocks_cursor *next_free;
    rocksdb_readoptions_t *how;
    rocksdb_iterator_t *it; /* NULL when nothing can be inside the bounds */
    bool is_reverse, is_placed, is_done;
    uint64_t rows_left, bytes_left; /* UINT64_MAX: no limit */
    size_t lower_n, upper_n;        /* upper_n == 0: no bound */
    uint8_t lower[ROCKS_KEY_MAX + 1], upper[ROCKS_KEY_MAX + 1];
};

static struct rocks_cursor *new_cursor(struct rocks *e)
{
    struct rocks_cursor *c = mem_alloc(sizeof *c);
    if (!c) return NULL;
    memset(c, 0, offsetof(struct rocks_cursor, lower));
    c->base.ops = &rocks_ops;
    c->engine = e;
    c->how = rocksdb_readoptions_create();
    return c;
}

static void free_cursor(struct rocks_cursor *c)
{
    assert(!c->it);
    rocksdb_readoptions_destroy(c->how);
    mem_free(c);
}

static struct rocks_cursor *take_cursor(struct rocks *e, sheaf_error *err)
{
    pthread_mutex_lock(&e->pool_mutex);
    struct rocks_cursor *c = e->free_cursors;
    if (c) {
        e->free_cursors = c->next_free;
        e->n_free_cursors--;
    }
    pthread_mutex_unlock(&e->pool_mutex);
    if (!c) c = new_cursor(e);
    if (!c) (void)err_nomem(err);
    return c;
}

void rocks_cursor_close(sheaf_cursor *base)
{
    struct rocks_cursor *c = (struct rocks_cursor *)base;
    struct rocks *e = c->engine;
    assert(c->base.ops == &rocks_ops);
    if (c->it) rocksdb_iter_destroy(c->it);
    c->it = NULL;
    pthread_mutex_lock(&e->pool_mutex);
    bool is_kept = e->n_free_cursors < ROCKS_POOL_MAX;
    if (is_kept) {
        c->next_free = e->free_cursors;
        e->free_cursors = c;
        e->n_free_cursors++;
    }
    pthread_mutex_unlock(&e->pool_mutex);
    if (!is_kept) free_cursor(c);
}

void rocks_cursors_deinit(struct rocks *e)
{
    while (e->free_cursors) {
        struct rocks_cursor *c = e->free_cursors;
        e->free_cursors = c->next_free;
        free_cursor(c);
    }
    e->n_free_cursors = 0;
}

/* Bounds are set. */
static void start(struct rocks_cursor *c, const struct rocks_txn *t, uint32_t max_rows,
                  uint64_t max_bytes)
{
    assert(!c->it);
    assert(c->lower_n > 0 && c->lower_n <= sizeof c->lower && c->upper_n <= sizeof c->upper);
    c->rows_left = max_rows ? max_rows : UINT64_MAX;
    c->bytes_left = max_bytes ? max_bytes : UINT64_MAX;
    c->is_placed = false;
    c->is_done =
        c->upper_n > 0 && span_cmp(SPAN(c->lower, c->lower_n), SPAN(c->upper, c->upper_n)) >= 0;
    if (c->is_done) return;
    const char *lower = (const char *)c->lower, *upper = (const char *)c->upper;
    rocksdb_readoptions_set_snapshot(c->how, t->moment);
    rocksdb_readoptions_set_iterate_lower_bound(c->how, c->is_reverse ? lower : NULL, c->lower_n);
    rocksdb_readoptions_set_iterate_upper_bound(c->how, c->upper_n ? upper : NULL, c->upper_n);
    c->it = rocksdb_create_iterator(c->engine->db, c->how);
}

sheaf_rc rocks_range(sheaf_txn *base, const struct sheaf_range *range, sheaf_cursor **cursor_out,
                     sheaf_error *err)
{
    const struct rocks_txn *t = rocks_txn_of(base);
    *cursor_out = NULL;
    struct rocks_cursor *c = take_cursor(t->engine, err);
    if (!c) return SHEAF_NOMEM;
    c->is_reverse = range->is_reverse;
    c->lower_n = rocks_bound(c->lower, &range->p, range->lo);
    c->upper_n = range->hi.p ? rocks_bound(c->upper, &range->p, range->hi)
                             : rocks_after_prefix(c->upper, range->p.b, SHEAF_PLACE_BYTES);
    start(c, t, range->max_rows, range->max_bytes);
    *cursor_out = &c->base;
    return SHEAF_OK;
}

/* Behind a key that was returned: the key and a zero byte. */
static void resume(struct rocks_cursor *c, const sheaf_engine_key *after)
{
    uint8_t at[ROCKS_KEY_MAX + 2];
    size_t n = rocks_bound(at, &after->p, after->s);
    if (after->s.n <= ROCKS_S_MAX) at[n++] = 0; /* a longer one has its zero already */
    assert(n <= sizeof c->lower);
    if (span_cmp(SPAN(at, n), SPAN(c->lower, c->lower_n)) <= 0) return;
    memcpy(c->lower, at, n);
    c->lower_n = n;
}

sheaf_rc rocks_walk(sheaf_txn *base, const struct sheaf_walk *walk, sheaf_cursor **cursor_out,
                    sheaf_error *err)
{
    const struct rocks_txn *t = rocks_txn_of(base);
    *cursor_out = NULL;
    struct eng_segment segment;
    TRY(eng_segment(walk, &segment, err));
    struct rocks_cursor *c = take_cursor(t->engine, err);
    if (!c) return SHEAF_NOMEM;
    c->is_reverse = false;
    c->lower_n = rocks_bound(c->lower, &segment.lo, SPAN_NONE);
    c->upper_n = segment.has_end ? rocks_bound(c->upper, &segment.end, SPAN_NONE) : 0;
    if (walk->after) resume(c, walk->after);
    start(c, t, walk->max_rows, walk->max_bytes);
    *cursor_out = &c->base;
    return SHEAF_OK;
}

static void move(struct rocks_cursor *c)
{
    assert(c->it && !c->is_done);
    if (!c->is_placed && c->is_reverse)
        rocksdb_iter_seek_to_last(c->it);
    else if (!c->is_placed)
        rocksdb_iter_seek(c->it, (const char *)c->lower, c->lower_n);
    else if (c->is_reverse)
        rocksdb_iter_prev(c->it);
    else
        rocksdb_iter_next(c->it);
    c->is_placed = true;
}

static sheaf_rc check_end(struct rocks_cursor *c, sheaf_error *err)
{
    char *message = NULL;
    c->is_done = true;
    rocksdb_iter_get_error(c->it, &message);
    return message ? rocks_fail(err, message, "cannot read on") : SHEAF_OK;
}

static sheaf_rc fill(struct rocks_cursor *c, struct sheaf_row *row, sheaf_error *err)
{
    size_t key_n, value_n;
    const char *key = rocksdb_iter_key(c->it, &key_n);
    if (key_n < SHEAF_PLACE_BYTES)
        return err_set(err, SHEAF_CORRUPT, "a stored key has %zu bytes, fewer than any key has",
                       key_n);
    assert(c->is_reverse || span_cmp(SPAN(key, key_n), SPAN(c->lower, c->lower_n)) >= 0);
    const char *value = rocksdb_iter_value(c->it, &value_n);
    memcpy(row->key.p.b, key, SHEAF_PLACE_BYTES);
    row->key.s = SPAN(key + SHEAF_PLACE_BYTES, key_n - SHEAF_PLACE_BYTES);
    row->value = rocks_found(value, value_n);
    return SHEAF_OK;
}

static void spend(struct rocks_cursor *c, const struct sheaf_row *row)
{
    uint64_t bytes = row->key.s.n + row->value.n;
    if (c->rows_left != UINT64_MAX) c->rows_left--;
    if (c->bytes_left != UINT64_MAX) c->bytes_left -= bytes < c->bytes_left ? bytes : c->bytes_left;
}

sheaf_rc rocks_next(sheaf_cursor *base, struct sheaf_row *row_out, bool *has_row_out,
                    sheaf_error *err)
{
    struct rocks_cursor *c = (struct rocks_cursor *)base;
    assert(c->base.ops == &rocks_ops);
    *row_out = (struct sheaf_row){0};
    *has_row_out = false;
    if (c->is_done || c->rows_left == 0 || c->bytes_left == 0) return SHEAF_OK;
    move(c);
    if (!rocksdb_iter_valid(c->it)) return check_end(c, err);
    TRY(fill(c, row_out, err));
    spend(c, row_out);
    *has_row_out = true;
    return SHEAF_OK;
}
