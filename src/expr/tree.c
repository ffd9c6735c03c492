/* Turns a list of document paths into an ordered table that reads as a tree, and finds the pairs of
 * paths that cannot stand together. Know before editing: everything here is a walk over neighbours;
 * what makes two paths clash is always visible between neighbours of the order in tree.h. */
#include "expr/tree.h"

#include <assert.h>

/* ---- order ---- */

static int step_cmp(const struct path_step *a, const struct path_step *b)
{
    if (!a->name.p != !b->name.p) return a->name.p ? 1 : -1;
    if (!a->name.p) return (a->index > b->index) - (a->index < b->index);
    /* The same placeholder twice: names can be long, and paths full of them. */
    if (a->name.p == b->name.p && a->name.n == b->name.n) return 0;
    return span_cmp(a->name, b->name);
}

/* A prefix comes before what it is a prefix of. */
static int path_cmp(const struct path *a, const struct path *b, uint32_t *shared_out)
{
    uint32_t n = a->n < b->n ? a->n : b->n, i = 0;
    int c = 0;
    while (i < n && (c = step_cmp(&a->steps[i], &b->steps[i])) == 0) i++;
    *shared_out = i;
    return c ? c : (a->n > b->n) - (a->n < b->n);
}

static void merge(const struct expr_tree_entry *from, struct expr_tree_entry *to, uint32_t mid,
                  uint32_t n)
{
    uint32_t shared;
    for (uint32_t i = 0, j = mid, k = 0; k < n; k++) {
        bool is_left = i < mid && (j >= n || path_cmp(from[i].path, from[j].path, &shared) <= 0);
        to[k] = is_left ? from[i++] : from[j++];
    }
}

/* Bottom-up merge sort; stable, so equal paths stay in the order written. Returns whichever of the
 * two arrays holds the result. */
static struct expr_tree_entry *sort(struct expr_tree_entry *from, struct expr_tree_entry *to,
                                    uint32_t n)
{
    for (uint32_t run = 1; run < n; run *= 2) {
        for (uint32_t i = 0; i < n; i += 2 * run) {
            uint32_t len = n - i < 2 * run ? n - i : 2 * run;
            merge(from + i, to + i, run < len ? run : len, len);
        }
        struct expr_tree_entry *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

sheaf_rc expr_tree_build(struct ctx *c, const struct path *paths, uint32_t n,
                         struct expr_projection *out)
{
    *out = (struct expr_projection){0};
    assert(n < UINT32_MAX / 4);
    if (n == 0) return SHEAF_OK;
    struct expr_tree_entry *room = ARENA_ARRAY(c->arena, struct expr_tree_entry, 2 * (size_t)n);
    if (!room) return err_nomem(c->err);
    for (uint32_t i = 0; i < n; i++) {
        assert(paths[i].n > 0 && paths[i].steps[0].name.p);
        room[i] = (struct expr_tree_entry){.path = &paths[i], .written = i};
    }
    struct expr_tree_entry *entries = sort(room, room + n, n);
    for (uint32_t i = 1; i < n; i++)
        path_cmp(entries[i - 1].path, entries[i].path, &entries[i].shared);
    *out = (struct expr_projection){paths, entries, n};
    return SHEAF_OK;
}

/* ---- clashes ---- */

enum { NOWHERE = UINT32_MAX };

/* Two paths that cannot stand together, by their places in the order written; one < two. */
struct clash {
    uint32_t one, two;
};

static void note(struct clash *c, uint32_t a, uint32_t b)
{
    struct clash pair = {a < b ? a : b, a < b ? b : a};
    assert(a != b);
    if (pair.two < c->two || (pair.two == c->two && pair.one < c->one)) *c = pair;
}

/* An entry that is a prefix of those after it, as far as they share its length. */
struct prefix {
    uint32_t n;     /* steps */
    uint32_t first; /* the earliest written of it and of its own prefixes */
};

/* For each entry the earliest written of its prefixes is enough: any other pair of these ends
 * later. */
static struct clash find_overlap(const struct expr_projection *tree, struct prefix *stack)
{
    struct clash found = {NOWHERE, NOWHERE};
    uint32_t depth = 0;
    for (uint32_t i = 0; i < tree->n; i++) {
        const struct expr_tree_entry *e = &tree->entries[i];
        while (depth > 0 && stack[depth - 1].n > e->shared) depth--;
        uint32_t first = e->written;
        if (depth > 0) {
            note(&found, stack[depth - 1].first, e->written);
            if (stack[depth - 1].first < first) first = stack[depth - 1].first;
        }
        stack[depth++] = (struct prefix){e->path->n, first};
    }
    return found;
}

/* Where entry i and the one before it part: one goes on into a list, the other into a map. */
static bool is_border(const struct expr_projection *tree, uint32_t i)
{
    const struct path *a = tree->entries[i - 1].path, *b = tree->entries[i].path;
    uint32_t at = tree->entries[i].shared;
    return at < a->n && at < b->n && !a->steps[at].name.p != !b->steps[at].name.p;
}

/* Both sides of the border at i are runs that share as much as the two entries beside it. */
static void note_conflict(const struct expr_projection *tree, uint32_t i, struct clash *found)
{
    const struct expr_tree_entry *e = tree->entries;
    uint32_t shared = e[i].shared, left = e[i - 1].written, right = e[i].written;
    for (uint32_t k = i - 1; k > 0 && e[k].shared >= shared; k--)
        if (e[k - 1].written < left) left = e[k - 1].written;
    for (uint32_t k = i + 1; k < tree->n && e[k].shared >= shared; k++)
        if (e[k].written < right) right = e[k].written;
    note(found, left, right);
}

static sheaf_rc refuse(const struct expr_parser *p, const struct expr_projection *tree,
                       const char *what, const struct clash *c)
{
    assert(c->one < c->two && c->two < tree->n);
    return expr_fail(p,
                     "Two document paths %s with each other; must remove or rewrite one of these "
                     "paths; path one: %.*s, path two: %.*s",
                     what, SPAN_ARG(expr_path_text(p, &tree->paths[c->one])),
                     SPAN_ARG(expr_path_text(p, &tree->paths[c->two])));
}

sheaf_rc expr_tree_check(const struct expr_parser *p, const struct expr_projection *tree)
{
    if (tree->n < 2) return SHEAF_OK;
    struct prefix *stack = ARENA_ARRAY(p->ctx->arena, struct prefix, tree->n);
    if (!stack) return err_nomem(p->ctx->err);
    struct clash found = find_overlap(tree, stack);
    if (found.two != NOWHERE) return refuse(p, tree, "overlap", &found);
    for (uint32_t i = 1; i < tree->n; i++)
        if (is_border(tree, i)) note_conflict(tree, i, &found);
    if (found.two != NOWHERE) return refuse(p, tree, "conflict", &found);
    return SHEAF_OK;
}
