/* Turns key condition and start key into the range of a Query or the place where a Scan goes on.
 *
 * Know before editing: a start key is a position, not a row. It need not exist any more, and it may
 * be anything a client made up, so it is checked like a key that is to be written. */
#include "core/query.h"

#include "base/limits.h"

#include <assert.h>

#define START "The provided starting key is invalid"
#define NO_MATCH "The provided key element does not match the schema"

/* ---- checking ---- */

static bool is_table_key(const struct query *s, span name) { return keys_has(s->table, name); }

/* The table's key attributes and those of the index, each once. */
static uint32_t count_names(const struct query *s)
{
    uint32_t n = s->table->has_range ? 2 : 1;
    if (!s->index) return n;
    for (uint32_t i = 0; i < s->schema.n_hash; i++) n += !is_table_key(s, s->schema.hash[i].name);
    for (uint32_t i = 0; i < s->schema.n_range; i++) n += !is_table_key(s, s->schema.range[i].name);
    return n;
}

static sheaf_rc check_attribute(struct ctx *c, val key, const struct expr_key_attribute *k,
                                size_t max_bytes)
{
    val v = val_find(key, k->name);
    if (val_is_absent(v)) return err_validation(c->err, START);
    if (val_type(v) != k->type) return err_validation(c->err, NO_MATCH);
    size_t n = val_bytes(v).n;
    return n > 0 && n <= max_bytes ? SHEAF_OK : err_validation(c->err, START);
}

/* The attributes of what is queried; a Scan of the table itself checks them with the table's key.
 */
static sheaf_rc check_schema(struct ctx *c, const struct query *s, val key)
{
    if (s->q->is_scan && !s->index) return SHEAF_OK;
    for (uint32_t i = 0; i < s->schema.n_hash; i++)
        TRY(check_attribute(c, key, &s->schema.hash[i], LIMIT_PARTITION_KEY_BYTES));
    for (uint32_t i = 0; i < s->schema.n_range; i++)
        TRY(check_attribute(c, key, &s->schema.range[i], LIMIT_SORT_KEY_BYTES));
    return SHEAF_OK;
}

static sheaf_rc check_table_key(struct ctx *c, const struct query *s, val key)
{
    sheaf_error why;
    err_clear(&why);
    struct ctx inner = {c->arena, &why};
    struct keys_pair pair;
    sheaf_rc rc = keys_check(&inner, s->table, key, KEYS_IN_BATCH_ITEM, &pair);
    return rc == SHEAF_OK ? rc : err_set(c->err, rc, START ": %s", why.message);
}

static bool is_same_hash(const struct query *s, val key)
{
    for (uint32_t i = 0; i < s->schema.n_hash; i++)
        if (!val_eq(val_find(key, s->schema.hash[i].name), s->condition.hash[i])) return false;
    return true;
}

sheaf_rc query_check_start(struct ctx *c, struct query *s)
{
    if (!s->q->start_key.p) return SHEAF_OK;
    val key = item_map(s->q->start_key);
    assert(s->schema.n_hash > 0);
    bool is_table_scan = s->q->is_scan && !s->index;
    if (val_count(key) != count_names(s))
        return err_validation(c->err, is_table_scan ? START ": " NO_MATCH : START);
    TRY(check_schema(c, s, key));
    return check_table_key(c, s, key);
}

/* ---- placing ---- */

static sheaf_rc make_start(struct ctx *c, struct query *s)
{
    val key = item_map(s->q->start_key);
    const struct table *t = s->table;
    if (!s->index)
        return row_item_key(s->core, c, t, table_hash_of(t, key), table_range_of(t, key),
                            &s->after);
    bool has_entry;
    TRY(row_index_key(s->core, c, t, s->index, key, &s->after, &has_entry));
    assert(has_entry); /* every attribute was checked */
    return has_entry ? SHEAF_OK : err_validation(c->err, START);
}

/* The smallest bytes above all of s. */
static sheaf_rc make_next(struct ctx *c, span s, span *out)
{
    uint8_t *p = arena_bytes(c->arena, s.n + 1);
    if (!p) return err_nomem(c->err);
    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = 0;
    *out = SPAN(p, s.n + 1);
    return SHEAF_OK;
}

static sheaf_rc resume_range(struct ctx *c, struct query *s)
{
    struct sheaf_range *r = &s->range;
    bool has_condition = s->condition.n_eq > 0 || s->condition.op != EXPR_KEY_ALL;
    assert(r->lo.p);
    TRY(make_start(c, s));
    span at = s->after.s;
    if (has_condition && (span_cmp(at, r->lo) < 0 || (r->hi.p && span_cmp(at, r->hi) >= 0)))
        return err_validation(c->err,
                              "The provided starting key does not match the range key predicate");
    if (!is_same_hash(s, item_map(s->q->start_key)))
        return err_validation(
            c->err, has_condition
                        ? "The query can return at most one row and cannot be restarted"
                        : "The provided starting key is outside query boundaries based on provided "
                          "conditions");
    if (!r->is_reverse) return make_next(c, at, &r->lo);
    r->hi = at.p ? at : SPAN_LIT("");
    return SHEAF_OK;
}

static sheaf_rc place_range(struct ctx *c, struct query *s)
{
    _Static_assert((int)EXPR_KEY_ALL == KEY_ALL && (int)EXPR_KEY_EQ == KEY_EQ &&
                       (int)EXPR_KEY_BETWEEN == KEY_BETWEEN &&
                       (int)EXPR_KEY_BEGINS == KEY_BEGINS_WITH,
                   "the two name the same operators");
    const struct expr_key_condition *k = &s->condition;
    struct key_condition on_bytes = {
        .n_eq = k->n_eq, .op = (enum key_op)k->op, .a = k->a, .b = k->b};
    for (uint32_t i = 0; i < k->n_eq; i++) on_bytes.eq[i] = k->eq[i];
    s->range.p = key_place(core_secret(s->core), query_space(s), s->schema.n_hash, k->hash);
    s->range.is_reverse = s->q->is_backward;
    s->range.max_rows = s->q->limit;
    TRY(key_range(c, &on_bytes, &s->range.lo, &s->range.hi));
    return s->q->start_key.p ? resume_range(c, s) : SHEAF_OK;
}

/* Segments split the hash evenly: h * n / 2^64 of its first 64 bits. */
static uint32_t segment_of(const sheaf_place *p, uint32_t n)
{
    assert(n > 0);
    uint64_t h = 0;
    for (int i = 8; i < 16; i++) h = h << 8 | p->b[i];
    return (uint32_t)(((unsigned __int128)h * n) >> 64);
}

static sheaf_rc place_walk(struct ctx *c, struct query *s)
{
    const struct core_query *q = s->q;
    s->walk = (struct sheaf_walk){.space = query_space(s), .max_rows = q->limit};
    if (q->has_segment) {
        s->walk.segment = q->segment;
        s->walk.n_segments = q->n_segments;
    }
    if (!q->start_key.p) return SHEAF_OK;
    TRY(make_start(c, s));
    s->walk.after = &s->after;
    if (!q->has_segment || segment_of(&s->after.p, q->n_segments) == q->segment) return SHEAF_OK;
    return err_validation(c->err,
                          START ": Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
                                "correct Segment. TotalSegments: %u Segment: %u",
                          (unsigned)q->n_segments, (unsigned)q->segment);
}

sheaf_rc query_place(struct ctx *c, struct query *s)
{
    return s->q->is_scan ? place_walk(c, s) : place_range(c, s);
}
