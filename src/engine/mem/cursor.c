/* Turns ranges and walks into rows of the version that the transaction reads.
 *
 * Know before editing: a range within one P and a segment of a space are both one interval of whole
 * keys, so there is one cursor for both. The far end of the interval is copied, because the
 * caller's bounds are only lent for the call. */
#include "engine/mem/mem.h"

#include "base/mem.h"

#include <assert.h>

struct mem_cursor {
    sheaf_cursor base;
    struct mem_txn *txn;
    struct mem_path path;
    bool has_rec; /* the path stands on the next row, not yet compared with the far end */
    bool is_reverse, has_far;
    uint32_t rows_left; /* UINT32_MAX = no limit, like bytes_left */
    uint64_t bytes_left;
    uint32_t far_n;
    uint8_t
        far[]; /* the end of a forward cursor, exclusive; the start of a reverse one, inclusive */
};

/* An interval of whole keys: [lo, end), end.p == NULL being no end. */
struct interval {
    span lo, end;
    bool is_reverse;
    uint32_t max_rows;
    uint64_t max_bytes;
};

static sheaf_rc open_cursor(struct mem_txn *t, const struct interval *i, sheaf_cursor **cursor_out,
                            sheaf_error *err)
{
    span far = i->is_reverse ? i->lo : i->end;
    assert(i->lo.p && far.n <= sizeof(struct mem_flat));
    struct mem_cursor *c = mem_alloc(sizeof *c + far.n);
    if (!c) return err_nomem(err);
    c->base.ops = &mem_ops;
    c->txn = t;
    c->is_reverse = i->is_reverse;
    c->rows_left = i->max_rows ? i->max_rows : UINT32_MAX;
    c->bytes_left = i->max_bytes ? i->max_bytes : UINT64_MAX;
    c->has_far = far.p != NULL;
    c->far_n = (uint32_t)far.n;
    if (far.n) memcpy(c->far, far.p, far.n);
    mem_txn_start(t);
    c->has_rec = i->is_reverse ? mem_path_seek_before(&c->path, &t->at->tree, i->end)
                               : mem_path_seek(&c->path, &t->at->tree, i->lo);
    t->n_cursors++;
    *cursor_out = &c->base;
    return SHEAF_OK;
}

void mem_cursor_close(sheaf_cursor *cursor)
{
    struct mem_cursor *c = (struct mem_cursor *)cursor;
    assert(c->txn->n_cursors > 0);
    c->txn->n_cursors--;
    mem_free(c);
}

static bool is_inside(const struct mem_cursor *c, const struct mem_rec *r)
{
    if (!c->has_far) return true;
    int order = span_cmp(mem_rec_key(r), SPAN(c->far, c->far_n));
    return c->is_reverse ? order >= 0 : order < 0;
}

sheaf_rc mem_next(sheaf_cursor *cursor, struct sheaf_row *row_out, bool *has_row_out,
                  sheaf_error *err)
{
    struct mem_cursor *c = (struct mem_cursor *)cursor;
    (void)err;
    *has_row_out = false;
    *row_out = (struct sheaf_row){0};
    if (!c->has_rec || c->rows_left == 0 || c->bytes_left == 0) return SHEAF_OK;
    const struct mem_rec *r = mem_path_rec(&c->path);
    if (!is_inside(c, r)) {
        c->has_rec = false;
        return SHEAF_OK;
    }
    assert(r->klen >= SHEAF_PLACE_BYTES);
    memcpy(row_out->key.p.b, r->bytes, SHEAF_PLACE_BYTES);
    row_out->key.s = span_from(mem_rec_key(r), SHEAF_PLACE_BYTES);
    row_out->value = mem_rec_value(r);
    *has_row_out = true;
    uint64_t bytes = row_out->key.s.n + row_out->value.n;
    if (c->rows_left != UINT32_MAX) c->rows_left--;
    if (c->bytes_left != UINT64_MAX) c->bytes_left -= bytes < c->bytes_left ? bytes : c->bytes_left;
    c->has_rec = c->is_reverse ? mem_path_prev(&c->path) : mem_path_next(&c->path);
    return SHEAF_OK;
}

sheaf_rc mem_range(sheaf_txn *txn, const struct sheaf_range *range, sheaf_cursor **cursor_out,
                   sheaf_error *err)
{
    struct mem_flat lo, end;
    sheaf_place after = range->p;
    struct interval i = {.is_reverse = range->is_reverse,
                         .max_rows = range->max_rows,
                         .max_bytes = range->max_bytes};
    *cursor_out = NULL;
    i.lo = mem_flat_key(&lo, &range->p, range->lo);
    if (range->hi.p)
        i.end = mem_flat_key(&end, &range->p, range->hi);
    else if (eng_place_next(&after))
        i.end = mem_flat_key(&end, &after, SPAN_NONE);
    return open_cursor((struct mem_txn *)txn, &i, cursor_out, err);
}

sheaf_rc mem_walk(sheaf_txn *txn, const struct sheaf_walk *walk, sheaf_cursor **cursor_out,
                  sheaf_error *err)
{
    struct mem_flat lo, end, after;
    struct eng_segment segment;
    struct interval i = {.max_rows = walk->max_rows, .max_bytes = walk->max_bytes};
    *cursor_out = NULL;
    TRY(eng_segment(walk, &segment, err));
    i.lo = mem_flat_key(&lo, &segment.lo, SPAN_NONE);
    if (segment.has_end) i.end = mem_flat_key(&end, &segment.end, SPAN_NONE);
    if (walk->after) {
        span behind = mem_flat_key(&after, &walk->after->p, walk->after->s);
        if (behind.n < sizeof after.b) after.b[behind.n++] = 0; /* the smallest key above it */
        if (span_cmp(behind, i.lo) > 0) i.lo = behind;
    }
    return open_cursor((struct mem_txn *)txn, &i, cursor_out, err);
}
