/* Turns an encoded item and a compiled update into the item after it, in two steps: first every
 * action is judged against the item as it was, in the order written, which gives one outcome each
 * and finds every error of the request; then one walk over item and tree of paths together writes
 * the new item, copying raw what no path touches. Know before editing: the walk relies on what the
 * first step proved, above all that the parent of every path is there and of the right type. */
#include "base/limits.h"
#include "expr/update.h"

#include <assert.h>

/* ---- outcomes ---- */

enum outcome_kind {
    KEEP,   /* stays as it is, or missing */
    DROP,   /* is removed */
    COPY,   /* becomes a */
    NUMBER, /* becomes num */
    CONCAT, /* becomes the list a, then b */
    UNION,  /* becomes the set of members of a or b */
    EXCEPT  /* becomes the set of members of a that are not in b; there are some */
};

struct outcome {
    enum outcome_kind kind;
    val a, b;
    struct num num;
};

/* No encoding of an item that AWS's limit allows is longer: an empty string in a list counts 1 byte
 * there and takes 6 here, and nothing else has a worse ratio. */
enum { NEW_BYTES_MAX = 8 * LIMIT_ITEM_BYTES };

static sheaf_rc wrong_type(struct ctx *c)
{
    return err_validation(c->err, "An operand in the update expression has an incorrect data type");
}

static sheaf_rc read_operand(struct ctx *c, const struct expr_operand *from, val item, val *out)
{
    *out = VAL_ABSENT;
    for (uint32_t i = 0; i < from->n_paths && val_is_absent(*out); i++)
        *out = path_get(item, &from->paths[i]);
    if (val_is_absent(*out)) *out = from->fallback;
    if (!val_is_absent(*out)) return SHEAF_OK;
    return err_validation(c->err, "The provided expression refers to an attribute that does not "
                                  "exist in the item");
}

static sheaf_rc read_typed(struct ctx *c, const struct expr_operand *from, val item,
                           enum val_type type, val *out)
{
    TRY(read_operand(c, from, item, out));
    return val_type(*out) == type ? SHEAF_OK : wrong_type(c);
}

static sheaf_rc add_numbers(struct ctx *c, val a, val b, bool is_minus, struct outcome *out)
{
    struct num x, y;
    assert(val_type(a) == VAL_N && val_type(b) == VAL_N);
    val_num(a, &x);
    val_num(b, &y);
    out->kind = NUMBER;
    return is_minus ? num_sub(&x, &y, &out->num, c->err) : num_add(&x, &y, &out->num, c->err);
}

/* What the SET action gives; where it goes is not looked at yet. */
static sheaf_rc judge_set(struct ctx *c, const struct expr_action *action, val item,
                          struct outcome *out)
{
    if (action->kind == EXPR_SET) {
        out->kind = COPY;
        return read_operand(c, &action->a, item, &out->a);
    }
    enum val_type type = action->kind == EXPR_APPEND ? VAL_L : VAL_N;
    TRY(read_typed(c, &action->a, item, type, &out->a));
    TRY(read_typed(c, &action->b, item, type, &out->b));
    if (type == VAL_N) return add_numbers(c, out->a, out->b, action->kind == EXPR_MINUS, out);
    out->kind = CONCAT;
    return SHEAF_OK;
}

/* The value at the path; `invalid for update` unless what it stands in is there. */
static sheaf_rc find_target(struct ctx *c, const struct path *path, val item, val *out)
{
    const struct path_step *last = &path->steps[path->n - 1];
    struct path up = {path->steps, path->n - 1};
    assert(path->n > 0 && (up.n > 0 || last->name.p));
    val parent = up.n ? path_get(item, &up) : item;
    *out = VAL_ABSENT;
    if (val_type(parent) != (last->name.p ? VAL_M : VAL_L))
        return err_validation(c->err, "The document path provided in the update expression is "
                                      "invalid for update");
    *out = expr_step_get(parent, last);
    return SHEAF_OK;
}

static sheaf_rc judge_add(struct ctx *c, val old, val operand, struct outcome *out)
{
    if (val_is_absent(old)) {
        *out = (struct outcome){.kind = COPY, .a = operand};
        return SHEAF_OK;
    }
    if (val_type(old) != val_type(operand)) return wrong_type(c);
    if (val_type(old) == VAL_N) return add_numbers(c, old, operand, false, out);
    *out = (struct outcome){.kind = UNION, .a = old, .b = operand};
    return SHEAF_OK;
}

static uint32_t count_common(val a, val b)
{
    uint32_t n = 0;
    assert(val_type(a) == val_type(b));
    for (uint32_t i = 0; i < val_count(b); i++) n += val_set_has(a, val_member_at(b, i));
    return n;
}

static sheaf_rc judge_delete(struct ctx *c, val old, val operand, struct outcome *out)
{
    out->kind = KEEP;
    if (val_is_absent(old)) return SHEAF_OK;
    if (val_type(old) != val_type(operand)) return wrong_type(c);
    uint32_t common = count_common(old, operand);
    if (common == 0) return SHEAF_OK;
    bool is_all = common == val_count(old);
    *out = (struct outcome){.kind = is_all ? DROP : EXCEPT, .a = old, .b = operand};
    return SHEAF_OK;
}

static sheaf_rc judge_target(struct ctx *c, const struct expr_action *action,
                             const struct path *path, val item, struct outcome *out)
{
    val old;
    TRY(find_target(c, path, item, &old));
    switch (action->kind) {
    case EXPR_REMOVE:
        out->kind = DROP;
        return SHEAF_OK;
    case EXPR_ADD:
        return judge_add(c, old, action->a.fallback, out);
    case EXPR_DELETE:
        return judge_delete(c, old, action->a.fallback, out);
    case EXPR_SET:
    case EXPR_PLUS:
    case EXPR_MINUS:
    case EXPR_APPEND:
        break;
    }
    return SHEAF_OK;
}

/* What the outcome may add to the item's bytes. Paths do not overlap, so these add up to no more
 * than the new item, and an update cannot blow up before its size is judged. */
static size_t new_bytes(const struct outcome *o, const struct path *path)
{
    if (o->kind == KEEP || o->kind == DROP) return 0;
    size_t n = o->kind == NUMBER ? NUM_ENC_MAX : (size_t)o->a.n + o->b.n;
    return n + path->steps[path->n - 1].name.n;
}

static sheaf_rc judge(struct ctx *c, const struct expr_update *u, val item,
                      const struct outcome **out)
{
    uint32_t n = u->touched.n;
    size_t bytes = 0;
    struct outcome *outcomes = ARENA_ARRAY(c->arena, struct outcome, n);
    if (!outcomes) return err_nomem(c->err);
    for (uint32_t i = 0; i < n; i++)
        if (u->actions[i].kind <= EXPR_APPEND)
            TRY(judge_set(c, &u->actions[i], item, &outcomes[i]));
    for (uint32_t i = 0; i < n; i++) {
        const struct path *path = &u->touched.paths[i];
        TRY(judge_target(c, &u->actions[i], path, item, &outcomes[i]));
        bytes += new_bytes(&outcomes[i], path);
        if (bytes > NEW_BYTES_MAX)
            return err_validation(c->err,
                                  "Item size to update has exceeded the maximum allowed size");
    }
    *out = outcomes;
    return SHEAF_OK;
}

/* ---- writing ---- */

struct writer {
    const struct expr_projection *tree;
    const struct outcome *outcomes;
    struct vb b;
};

static void write_elements(struct vb *b, val list)
{
    for (uint32_t i = 0; i < val_count(list); i++) vb_raw(b, val_at(list, i));
}

static void write_member(struct vb *b, enum val_type set, span member)
{
    if (set == VAL_SS)
        vb_s(b, member);
    else if (set == VAL_NS)
        vb_n_encoded(b, member);
    else
        vb_b(b, member);
}

/* Both sets are in order, so one walk over the two gives the new one in order. */
static void write_set(struct vb *b, const struct outcome *o)
{
    enum val_type type = val_type(o->a);
    uint32_t na = val_count(o->a), nb = val_count(o->b), i = 0, j = 0;
    assert(type == val_type(o->b) && (type == VAL_SS || type == VAL_NS || type == VAL_BS));
    vb_set_begin(b, type);
    while (i < na || j < nb) {
        span x = i < na ? val_member_at(o->a, i) : SPAN_NONE;
        span y = j < nb ? val_member_at(o->b, j) : SPAN_NONE;
        int c = i >= na ? 1 : j >= nb ? -1 : span_cmp(x, y);
        if (o->kind == UNION)
            write_member(b, type, c <= 0 ? x : y);
        else if (c < 0)
            write_member(b, type, x);
        i += c <= 0;
        j += c >= 0;
    }
    vb_end(b);
}

static void write_outcome(struct vb *b, const struct outcome *o)
{
    switch (o->kind) {
    case COPY:
        vb_raw(b, o->a);
        return;
    case NUMBER:
        vb_n(b, &o->num);
        return;
    case CONCAT:
        vb_list_begin(b);
        write_elements(b, o->a);
        write_elements(b, o->b);
        vb_end(b);
        return;
    case UNION:
    case EXCEPT:
        write_set(b, o);
        return;
    case KEEP:
    case DROP:
        break;
    }
    assert(false);
}

static void write_container(struct writer *w, uint32_t lo, uint32_t hi, uint32_t depth, val v);

/* The child lo … hi of a node at `depth`: an action's own place, or a container with actions
 * inside. `old` is what stands there, if anything. */
static void write_child(struct writer *w, uint32_t lo, uint32_t hi, uint32_t depth, val old)
{
    const struct expr_tree_entry *e = &w->tree->entries[lo];
    const struct path_step *step = &e->path->steps[depth];
    bool is_leaf = e->path->n == depth + 1;
    const struct outcome *o = &w->outcomes[e->written];
    assert(!is_leaf || hi == lo + 1);
    assert(is_leaf || !val_is_absent(old));
    bool stays = !is_leaf || o->kind == KEEP;
    if (stays ? val_is_absent(old) : o->kind == DROP) return;
    if (step->name.p) vb_name(&w->b, step->name);
    if (!is_leaf)
        write_container(w, lo, hi, depth + 1, old);
    else if (stays)
        vb_raw(&w->b, old);
    else
        write_outcome(&w->b, o);
}

/* Entries of the map and children of the node are both in order of their names. */
static void write_map(struct writer *w, uint32_t lo, uint32_t hi, uint32_t depth, val map)
{
    uint32_t n = val_count(map), i = 0, end;
    for (uint32_t at = lo; at < hi; at = end) {
        span name = w->tree->entries[at].path->steps[depth].name;
        int c = 1;
        for (; i < n && (c = span_cmp(val_name_at(map, i), name)) < 0; i++) {
            vb_name(&w->b, val_name_at(map, i));
            vb_raw(&w->b, val_at(map, i));
        }
        end = expr_tree_run_end(w->tree, at, hi, depth);
        write_child(w, at, end, depth, i < n && c == 0 ? val_at(map, i) : VAL_ABSENT);
        i += i < n && c == 0;
    }
    for (; i < n; i++) {
        vb_name(&w->b, val_name_at(map, i));
        vb_raw(&w->b, val_at(map, i));
    }
}

/* Indexes are those of the list as it was: what is dropped closes up, what lies beyond the end is
 * appended in order. */
static void write_list(struct writer *w, uint32_t lo, uint32_t hi, uint32_t depth, val list)
{
    uint32_t n = val_count(list), i = 0, end;
    for (uint32_t at = lo; at < hi; at = end) {
        uint32_t index = w->tree->entries[at].path->steps[depth].index;
        for (; i < n && i < index; i++) vb_raw(&w->b, val_at(list, i));
        end = expr_tree_run_end(w->tree, at, hi, depth);
        write_child(w, at, end, depth, index < n ? val_at(list, index) : VAL_ABSENT);
        i += index < n;
    }
    for (; i < n; i++) vb_raw(&w->b, val_at(list, i));
}

/* Recursion follows the item, so it ends at the nesting limit. */
static void write_container(struct writer *w, uint32_t lo, uint32_t hi, uint32_t depth, val v)
{
    assert(lo < hi && depth <= LIMIT_NESTING);
    assert(val_type(v) == (w->tree->entries[lo].path->steps[depth].name.p ? VAL_M : VAL_L));
    if (val_type(v) == VAL_M) {
        vb_map_begin(&w->b);
        write_map(w, lo, hi, depth, v);
    } else {
        vb_list_begin(&w->b);
        write_list(w, lo, hi, depth, v);
    }
    vb_end(&w->b);
}

sheaf_rc expr_update_apply(struct ctx *c, const struct expr_update *u, val item, span *item_out)
{
    struct writer w = {.tree = &u->touched};
    *item_out = SPAN_NONE;
    assert(val_type(item) == VAL_M && u->touched.n > 0);
    TRY(judge(c, u, item, &w.outcomes));
    /* Directories may get wider entries, 4 bytes for 1; the 64 are for the heads of a new value. */
    vb_init(&w.b, c, 4 * (size_t)item.n + NEW_BYTES_MAX + 64 * (size_t)u->touched.n);
    write_container(&w, 0, u->touched.n, 0, item);
    return vb_finish_item(&w.b, item_out);
}

const struct expr_projection *expr_update_touched(const struct expr_update *u)
{
    return &u->touched;
}

bool expr_update_creates(const struct expr_update *u) { return u->creates; }

enum val_type expr_update_writes(const struct expr_update *u, uint32_t i, val *value_out)
{
    assert(i < u->touched.n);
    const struct expr_action *a = &u->actions[i];
    *value_out = VAL_ABSENT;
    switch (a->kind) {
    case EXPR_SET:
        if (a->a.n_paths == 0) *value_out = a->a.fallback;
        return val_type(*value_out);
    case EXPR_PLUS:
    case EXPR_MINUS:
        return VAL_N;
    case EXPR_APPEND:
        return VAL_L;
    case EXPR_ADD:
        return val_type(a->a.fallback);
    case EXPR_REMOVE:
    case EXPR_DELETE:
        break;
    }
    return VAL_NONE;
}

const struct path *expr_update_reads(const struct expr_update *u, uint32_t i, int which,
                                     uint32_t *n_out)
{
    assert(i < u->touched.n);
    const struct expr_operand *o = which ? &u->actions[i].b : &u->actions[i].a;
    *n_out = o->n_paths;
    return o->paths;
}
