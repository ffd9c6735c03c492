/* Turns a shard's log into single facts: its first record, its last, and how far it is trimmed.
 *
 * Know before editing: retention holds for readers however far the background's trimming is behind.
 * So the horizon is looked for by halving the commit numbers, which asks that records were made in
 * about the order they were committed; readers look at each record's time besides. */
#include "core/stream.h"

#include <assert.h>

static sheaf_rc peek(const struct stream_log *l, const struct sheaf_range *range,
                     struct stream_peek *out, sheaf_error *err)
{
    sheaf_cursor *cursor;
    struct sheaf_row row;
    *out = (struct stream_peek){.has_row = false};
    TRY(eng_range(l->txn, range, &cursor, err));
    sheaf_rc rc = eng_next(cursor, &row, &out->has_row, err);
    if (rc == SHEAF_OK && out->has_row) rc = stream_created(&row, &out->created_us, err);
    if (rc == SHEAF_OK && out->has_row) memcpy(out->stamp.b, row.key.s.p, sizeof out->stamp.b);
    eng_cursor_close(cursor);
    return rc;
}

sheaf_rc stream_first(const struct stream_log *l, const sheaf_stamp *from, struct stream_peek *out,
                      sheaf_error *err)
{
    struct sheaf_range range = {.p = l->p, .lo = SPAN(from->b, sizeof from->b), .max_rows = 1};
    return peek(l, &range, out, err);
}

/* The last record before `end`; of all when that is NULL. The mark stands before every record. */
static sheaf_rc last_before(const struct stream_log *l, const sheaf_stamp *end,
                            struct stream_peek *out, sheaf_error *err)
{
    static const sheaf_stamp zero;
    struct sheaf_range range = {.p = l->p,
                                .lo = SPAN(zero.b, sizeof zero.b),
                                .hi = end ? SPAN(end->b, sizeof end->b) : SPAN_NONE,
                                .max_rows = 1,
                                .is_reverse = true};
    return peek(l, &range, out, err);
}

sheaf_rc stream_last(const struct stream_log *l, struct stream_peek *out, sheaf_error *err)
{
    return last_before(l, NULL, out, err);
}

sheaf_rc stream_mark(const struct stream_log *l, sheaf_stamp *out, sheaf_error *err)
{
    sheaf_engine_key key = {l->p, SPAN_LIT("")};
    span value;
    *out = (sheaf_stamp){{0}};
    TRY(eng_get(l->txn, 1, &key, &value, err));
    return stream_mark_decode(value, out, err);
}

static uint64_t commit_of(const sheaf_stamp *s)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x = x << 8 | s->b[i];
    return x;
}

static sheaf_stamp first_of_commit(uint64_t commit)
{
    sheaf_stamp s = {{0}};
    cat_number_bytes(commit, s.b);
    return s;
}

/* The last record out of retention, when `stale` is one and `fresh`, behind it, is not. */
static sheaf_rc halve(const struct stream_log *l, uint64_t stale, uint64_t fresh, sheaf_stamp *out,
                      sheaf_error *err)
{
    struct stream_peek at;
    while (stale + 1 < fresh) {
        uint64_t mid = stale + (fresh - stale) / 2;
        sheaf_stamp from = first_of_commit(mid);
        TRY(stream_first(l, &from, &at, err));
        if (at.has_row && at.created_us <= l->cutoff_us && commit_of(&at.stamp) < fresh)
            stale = commit_of(&at.stamp);
        else
            fresh = mid;
    }
    sheaf_stamp end = first_of_commit(fresh);
    TRY(last_before(l, &end, &at, err));
    if (at.has_row) *out = at.stamp;
    return SHEAF_OK;
}

sheaf_rc stream_horizon(const struct stream_log *l, sheaf_stamp *out, sheaf_error *err)
{
    struct stream_peek first, last;
    TRY(stream_mark(l, out, err));
    sheaf_stamp from = stream_stamp_next(out);
    TRY(stream_first(l, &from, &first, err));
    if (!first.has_row || first.created_us > l->cutoff_us) return SHEAF_OK;
    TRY(stream_last(l, &last, err));
    if (last.created_us <= l->cutoff_us) {
        *out = last.stamp;
        return SHEAF_OK;
    }
    assert(last.has_row && stream_stamp_cmp(&first.stamp, &last.stamp) < 0);
    if (commit_of(&first.stamp) == commit_of(&last.stamp)) return SHEAF_OK;
    return halve(l, commit_of(&first.stamp), commit_of(&last.stamp), out, err);
}
