/* Turns random numbers into conditions and updates, those into expressions, and both with an item
 * into what must come out. Know before editing: what an expression means stands here a second time,
 * from the documentation; a disagreement is settled there, not by copying src/expr. */
#include "model/grammar.h"

#include <assert.h>

/* ---- conditions ---- */

static const char *const comparators[] = {"=", "<>", "<", "<=", ">", ">="};

static struct tree_path path_among(struct draw *d, const char *const *names, uint32_t n)
{
    if (!names) return draw_path(d);
    return (struct tree_path){.n = 1, .step = {{names[rng_below(d->rng, n)], 0}}};
}

static struct tree draw_ordered(struct draw *d)
{
    return draw_typed(d, (sheaf_type)(SHEAF_S + rng_below(d->rng, 3)));
}

static void draw_leaf(struct draw *d, struct cond *c)
{
    static const char *const types[] = {"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"};
    const char *name = c->path.step[0].name;
    struct tree v = c->path.n == 1 ? draw_attribute(d, name) : draw_value(d, 1);
    switch (c->kind) {
    case HAS_TYPE:
        name = types[rng_below(d->rng, 10)];
        v = tree_s(name, strlen(name));
        break;
    case BEGINS_WITH:
        v = draw_typed(d, draw_one_in(d, 3) ? SHEAF_B : SHEAF_S);
        break;
    case COMPARES:
        c->op = comparators[rng_below(d->rng, tree_is_scalar(&v) ? 6 : 2)];
        break;
    case COMPARES_SIZE:
        c->op = comparators[rng_below(d->rng, 6)];
        v = tree_n((int64_t)rng_below(d->rng, 6) * 100);
        break;
    case COMPARES_PARTS:
        c->op = comparators[rng_below(d->rng, 6)];
        c->other = draw_path(d);
        if (strcmp(c->other.step[0].name, name) == 0) c->kind = IS_THERE;
        break;
    case IS_BETWEEN:
        if (!tree_is_scalar(&v)) v = draw_ordered(d);
        c->v[1] = draw_typed(d, v.type);
        if (tree_cmp(&v, &c->v[1]) > 0) {
            struct tree swap = v;
            v = c->v[1];
            c->v[1] = swap;
        }
        break;
    case IS_IN:
        c->v[1] = draw_value(d, 1);
        c->v[2] = draw_value(d, 1);
        c->n = 1 + (uint32_t)rng_below(d->rng, 3);
        break;
    default:
        break;
    }
    c->v[0] = v;
}

struct cond *draw_cond(struct draw *d, uint32_t depth, const char *const *names, uint32_t n_names)
{
    struct cond *c = tree_room(d->arena, sizeof *c);
    if (depth > 0 && draw_one_in(d, 3)) {
        c->kind = (enum cond_kind)(BOTH + rng_below(d->rng, 3));
        c->a = draw_cond(d, depth - 1, names, n_names);
        if (c->kind != NOT) c->b = draw_cond(d, depth - 1, names, n_names);
        return c;
    }
    c->kind = (enum cond_kind)rng_below(d->rng, BOTH);
    if (names && c->kind == COMPARES_PARTS) c->kind = IS_NOT_THERE;
    c->path = path_among(d, names, n_names);
    draw_leaf(d, c);
    return c;
}

static const char *leaf_text(struct words *w, const struct cond *c)
{
    const char *path = words_path(w, &c->path), *list;
    switch (c->kind) {
    case IS_THERE:
        return words_printf(w, "attribute_exists(%s)", path);
    case IS_NOT_THERE:
        return words_printf(w, "attribute_not_exists(%s)", path);
    case HAS_TYPE:
        return words_printf(w, "attribute_type(%s, %s)", path, words_value(w, &c->v[0]));
    case BEGINS_WITH:
        return words_printf(w, "begins_with(%s, %s)", path, words_value(w, &c->v[0]));
    case CONTAINS:
        return words_printf(w, "contains(%s, %s)", path, words_value(w, &c->v[0]));
    case COMPARES:
        return words_printf(w, "%s %s %s", path, c->op, words_value(w, &c->v[0]));
    case COMPARES_SIZE:
        return words_printf(w, "size(%s) %s %s", path, c->op, words_value(w, &c->v[0]));
    case COMPARES_PARTS:
        return words_printf(w, "%s %s %s", path, c->op, words_path(w, &c->other));
    case IS_BETWEEN:
        list = words_value(w, &c->v[0]);
        return words_printf(w, "%s BETWEEN %s AND %s", path, list, words_value(w, &c->v[1]));
    default:
        list = words_value(w, &c->v[0]);
        for (uint32_t i = 1; i < c->n; i++)
            list = words_printf(w, "%s, %s", list, words_value(w, &c->v[i]));
        return words_printf(w, "%s IN (%s)", path, list);
    }
}

const char *cond_text(struct words *w, const struct cond *c)
{
    if (c->kind < BOTH) return leaf_text(w, c);
    const char *a = cond_text(w, c->a);
    if (c->kind == NOT) return words_printf(w, "NOT (%s)", a);
    const char *b = cond_text(w, c->b);
    return words_printf(w, "(%s) %s (%s)", a, c->kind == BOTH ? "AND" : "OR", b);
}

/* ---- what conditions mean ---- */

static bool compares(const char *op, const struct tree *a, const struct tree *b)
{
    bool is_equal = a && b && tree_eq(a, b);
    if (strcmp(op, "=") == 0) return is_equal;
    if (strcmp(op, "<>") == 0) return !is_equal;
    if (!tree_is_scalar(a) || !b || a->type != b->type) return false;
    int c = tree_cmp(a, b);
    if (strcmp(op, "<") == 0) return c < 0;
    if (strcmp(op, "<=") == 0) return c <= 0;
    return strcmp(op, ">") == 0 ? c > 0 : c >= 0;
}

static bool compares_size(const struct cond *c, const struct tree *v)
{
    if (!v || v->type == SHEAF_N || v->type == SHEAF_BOOL || v->type == SHEAF_NULL) {
        return strcmp(c->op, "<>") == 0; /* as with any operand that is not there */
    }
    struct tree size = tree_n((int64_t)(v->type == SHEAF_S ? tree_utf16(v) : v->n) * 100);
    return compares(c->op, &size, &c->v[0]);
}

static bool has_bytes(const struct tree *all, const struct tree *some)
{
    for (size_t i = 0; i + some->n <= all->n; i++)
        if (some->n == 0 || memcmp(all->p + i, some->p, some->n) == 0) return true;
    return false;
}

static bool contains(const struct tree *v, const struct tree *part)
{
    if (!v) return false;
    if (v->type == SHEAF_S || v->type == SHEAF_B)
        return v->type == part->type && has_bytes(v, part);
    if (v->type < SHEAF_L) return false;
    for (size_t i = 0; i < v->n; i++)
        if (tree_eq(&v->at[i].v, part)) return true;
    return false;
}

static bool has_type(const struct tree *v, const struct tree *name)
{
    static const char *const names[] = {"",  "S", "N",  "B",  "BOOL", "NULL",
                                        "M", "L", "SS", "NS", "BS"};
    return v && strlen(names[v->type]) == name->n && memcmp(names[v->type], name->p, name->n) == 0;
}

static bool leaf_holds(const struct cond *c, const struct tree *item)
{
    const struct tree *v = tree_at(item, &c->path), *k = &c->v[0];
    switch (c->kind) {
    case IS_THERE:
        return v;
    case IS_NOT_THERE:
        return !v;
    case HAS_TYPE:
        return has_type(v, k);
    case BEGINS_WITH:
        return v && v->type == k->type && v->n >= k->n && (!k->n || memcmp(v->p, k->p, k->n) == 0);
    case CONTAINS:
        return contains(v, k);
    case COMPARES:
        return compares(c->op, v, k);
    case COMPARES_SIZE:
        return compares_size(c, v);
    case COMPARES_PARTS:
        return compares(c->op, v, tree_at(item, &c->other));
    case IS_BETWEEN:
        return compares(">=", v, k) && compares("<=", v, &c->v[1]);
    default:
        for (uint32_t i = 0; i < c->n; i++)
            if (v && tree_eq(v, &c->v[i])) return true;
        return false;
    }
}

bool cond_holds(const struct cond *c, const struct tree *item)
{
    switch (c->kind) {
    case BOTH:
        return cond_holds(c->a, item) && cond_holds(c->b, item);
    case EITHER:
        return cond_holds(c->a, item) || cond_holds(c->b, item);
    case NOT:
        return !cond_holds(c->a, item);
    default:
        return leaf_holds(c, item);
    }
}

/* ---- updates ---- */

static struct action draw_action(struct draw *d)
{
    struct action act = {.kind = (enum action_kind)rng_below(d->rng, DELETES + 1),
                         .path = draw_path(d),
                         .from = draw_path(d)};
    const char *name = act.path.step[0].name;
    act.v = act.path.n == 1 ? draw_attribute(d, name) : draw_value(d, 1);
    if (act.kind == SETS_SUM || act.kind == SETS_DIFFERENCE) {
        if (!draw_one_in(d, 8)) act.path = (struct tree_path){.n = 1, .step = {{"n", 0}}};
        if (!draw_one_in(d, 8)) act.from = act.path;
        act.v = tree_n((int64_t)rng_below(d->rng, 50) * 25);
    }
    if (act.kind == SETS_APPENDED || act.kind == SETS_PREPENDED) {
        if (!draw_one_in(d, 8))
            act.path = act.from = (struct tree_path){.n = 1, .step = {{"l", 0}}};
        act.v = draw_typed(d, SHEAF_L);
    }
    if (act.kind < ADDS) return act;
    static const struct {
        const char *name;
        sheaf_type type;
    } sums[] = {{"n", SHEAF_N}, {"ss", SHEAF_SS}, {"ns", SHEAF_NS}, {"bs", SHEAF_BS},
                {"n", SHEAF_N}, {"ss", SHEAF_SS}, {"g2", SHEAF_N}};
    uint64_t i = act.kind == ADDS ? rng_below(d->rng, 7) : 1 + rng_below(d->rng, 3);
    if (!draw_one_in(d, 10)) act.path = (struct tree_path){.n = 1, .step = {{sums[i].name, 0}}};
    act.v = draw_typed(d, sums[i].type);
    if (act.kind == DELETES && act.v.type == SHEAF_N) act.v = draw_typed(d, SHEAF_SS);
    return act;
}

static bool overlaps(const struct tree_path *a, const struct tree_path *b)
{
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        const struct tree_step *x = &a->step[i], *y = &b->step[i];
        if (!x->name != !y->name) return true; /* a map and a list in one place: refused as well */
        if (x->name ? strcmp(x->name, y->name) != 0 : x->index != y->index) return false;
    }
    return true;
}

void draw_update(struct draw *d, struct update *u)
{
    u->n = 0;
    for (uint64_t n = 1 + rng_below(d->rng, 4); n && u->n < ACTIONS_MAX; n--) {
        struct action act = draw_action(d);
        bool is_apart = true;
        for (uint32_t i = 0; i < u->n; i++) is_apart &= !overlaps(&u->at[i].path, &act.path);
        if (is_apart) u->at[u->n++] = act;
    }
}

static const char *action_text(struct words *w, const struct action *act)
{
    const char *path = words_path(w, &act->path), *from;
    switch (act->kind) {
    case SETS:
        return words_printf(w, "%s = %s", path, words_value(w, &act->v));
    case SETS_COPY:
        return words_printf(w, "%s = %s", path, words_path(w, &act->from));
    case SETS_IF_MISSING:
        from = words_path(w, &act->from);
        return words_printf(w, "%s = if_not_exists(%s, %s)", path, from, words_value(w, &act->v));
    case SETS_SUM:
        from = words_path(w, &act->from);
        return words_printf(w, "%s = %s + %s", path, from, words_value(w, &act->v));
    case SETS_DIFFERENCE:
        from = words_path(w, &act->from);
        return words_printf(w, "%s = %s - %s", path, from, words_value(w, &act->v));
    case SETS_APPENDED:
        from = words_path(w, &act->from);
        return words_printf(w, "%s = list_append(%s, %s)", path, from, words_value(w, &act->v));
    case SETS_PREPENDED:
        from = words_path(w, &act->from);
        return words_printf(w, "%s = list_append(%s, %s)", path, words_value(w, &act->v), from);
    case REMOVES:
        return path;
    default:
        return words_printf(w, "%s %s", path, words_value(w, &act->v));
    }
}

const char *update_text(struct words *w, const struct update *u)
{
    static const char *const clause[] = {"SET", "REMOVE", "ADD", "DELETE"};
    const char *text = "";
    for (int c = 0; c < 4; c++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < u->n; i++) {
            int is = u->at[i].kind < REMOVES ? 0 : (int)(u->at[i].kind - REMOVES) + 1;
            if (is != c) continue;
            const char *one = action_text(w, &u->at[i]);
            text = words_printf(w, "%s%s%s %s", text,
                                n       ? ","
                                : *text ? " "
                                        : "",
                                n ? "" : clause[c], one);
            n++;
        }
    }
    return text;
}

bool update_touches(const struct update *u, const char *name)
{
    for (uint32_t i = 0; i < u->n; i++)
        if (strcmp(u->at[i].path.step[0].name, name) == 0) return true;
    return false;
}

/* ---- what updates mean ---- */

/* What an action leaves at its path; type SHEAF_NONE: nothing. */
struct result {
    struct tree v;
    bool stays; /* as it was */
};

static bool join_lists(struct arena *a, const struct tree *x, const struct tree *y,
                       struct tree *out)
{
    if (x->type != SHEAF_L || y->type != SHEAF_L) return false;
    *out = tree_box(a, SHEAF_L, x->n + y->n);
    for (size_t i = 0; i < x->n; i++) tree_append(out, x->at[i].v);
    for (size_t i = 0; i < y->n; i++) tree_append(out, y->at[i].v);
    return true;
}

static bool judge_set(struct arena *a, const struct action *act, const struct tree *item,
                      struct result *out)
{
    const struct tree *from = tree_at(item, &act->from);
    out->v = act->v;
    if (act->kind == SETS) return true;
    if (act->kind == SETS_IF_MISSING) {
        if (from) out->v = *from;
        return true;
    }
    if (!from) return false;
    if (act->kind == SETS_COPY) {
        out->v = *from;
        return true;
    }
    if (act->kind == SETS_APPENDED) return join_lists(a, from, &act->v, &out->v);
    if (act->kind == SETS_PREPENDED) return join_lists(a, &act->v, from, &out->v);
    if (from->type != SHEAF_N) return false;
    out->v =
        tree_n(act->kind == SETS_SUM ? from->cents + act->v.cents : from->cents - act->v.cents);
    return true;
}

static bool judge_add(struct arena *a, const struct action *act, const struct tree *old,
                      struct result *out)
{
    out->v = act->v;
    if (!old) return true;
    if (old->type != act->v.type) return false;
    if (old->type == SHEAF_N) {
        out->v = tree_n(old->cents + act->v.cents);
        return true;
    }
    out->v = tree_box(a, old->type, old->n + act->v.n);
    for (size_t i = 0; i < old->n; i++) tree_include(&out->v, old->at[i].v);
    for (size_t i = 0; i < act->v.n; i++) tree_include(&out->v, act->v.at[i].v);
    return true;
}

static bool judge_delete(struct arena *a, const struct action *act, const struct tree *old,
                         struct result *out)
{
    out->stays = !old;
    if (!old) return true;
    if (old->type != act->v.type) return false;
    out->v = tree_box(a, old->type, old->n);
    for (size_t i = 0; i < old->n; i++)
        if (!contains(&act->v, &old->at[i].v)) tree_include(&out->v, old->at[i].v);
    if (out->v.n == 0) out->v.type = SHEAF_NONE;
    return true;
}

static bool judge(struct arena *a, const struct action *act, const struct tree *item,
                  struct result *out)
{
    struct tree_path up = act->path;
    const struct tree_step *last = &act->path.step[act->path.n - 1];
    const struct tree *old = tree_at(item, &act->path);
    *out = (struct result){.stays = false};
    if (act->kind < REMOVES && !judge_set(a, act, item, out)) return false;
    up.n--;
    const struct tree *parent = tree_at(item, &up);
    if (!parent || parent->type != (last->name ? SHEAF_M : SHEAF_L)) return false;
    if (act->kind == ADDS) return judge_add(a, act, old, out);
    return act->kind == DELETES ? judge_delete(a, act, old, out) : true;
}

/* The new tree at `v`, whose place is reached by the first `depth` steps of the given actions. */
static struct tree rebuild(struct arena *a, const struct tree *v, const struct action **acts,
                           const struct result **results, uint32_t n, uint32_t depth)
{
    struct tree out = tree_box(a, v->type, v->n + n);
    uint32_t beyond[ACTIONS_MAX], n_beyond = 0;
    for (size_t i = 0; i < v->n; i++) {
        const struct action *in_a[ACTIONS_MAX];
        const struct result *in_r[ACTIONS_MAX];
        uint32_t k = 0;
        for (uint32_t j = 0; j < n; j++) {
            const struct tree_step *s = &acts[j]->path.step[depth];
            if (v->type == SHEAF_M ? strcmp(s->name, v->at[i].name) != 0 : s->index != i) continue;
            in_a[k] = acts[j];
            in_r[k++] = results[j];
        }
        struct tree child = v->at[i].v;
        if (k == 1 && in_a[0]->path.n == depth + 1) {
            if (!in_r[0]->stays) child = in_r[0]->v;
        } else if (k > 0) {
            child = rebuild(a, &v->at[i].v, in_a, in_r, k, depth + 1);
        }
        if (child.type != SHEAF_NONE) out.at[out.n++] = (struct entry){v->at[i].name, child};
    }
    for (uint32_t j = 0; j < n; j++) {
        const struct tree_step *s = &acts[j]->path.step[depth];
        if (acts[j]->path.n != depth + 1 || results[j]->stays || results[j]->v.type == SHEAF_NONE)
            continue;
        if (v->type == SHEAF_M && !tree_find(v, s->name)) tree_set(&out, s->name, results[j]->v);
        if (v->type == SHEAF_L && s->index >= v->n) beyond[n_beyond++] = j;
    }
    for (uint32_t i = 0; i < n_beyond; i++) { /* in the order of their indexes */
        uint32_t least = i;
        for (uint32_t j = i + 1; j < n_beyond; j++)
            if (acts[beyond[j]]->path.step[depth].index <
                acts[beyond[least]]->path.step[depth].index)
                least = j;
        uint32_t swap = beyond[i];
        beyond[i] = beyond[least];
        beyond[least] = swap;
        tree_append(&out, results[beyond[i]]->v);
    }
    return out;
}

bool update_apply(struct arena *a, const struct update *u, const struct tree *before,
                  const struct tree *key, struct tree *out, bool *has_out)
{
    const struct action *acts[ACTIONS_MAX];
    const struct result *pointers[ACTIONS_MAX];
    struct result results[ACTIONS_MAX];
    bool creates = false;
    for (uint32_t i = 0; i < u->n; i++) creates |= u->at[i].kind < REMOVES || u->at[i].kind == ADDS;
    *has_out = before || creates;
    if (!*has_out) return true;
    const struct tree *from = before ? before : key;
    for (uint32_t i = 0; i < u->n; i++) {
        if (!judge(a, &u->at[i], from, &results[i])) return false;
        acts[i] = &u->at[i];
        pointers[i] = &results[i];
    }
    *out = rebuild(a, from, acts, pointers, u->n, 0);
    return true;
}
