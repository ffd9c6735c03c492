/* expr/tree.h: a set of document paths as a tree, for projections and updates.
 *
 * Layer rule: internal to expr.
 *
 * The tree has no nodes. Its paths are kept in order (at each step indexes first, by number, then
 * names, by bytes: the order in which encoded lists and maps keep their entries), and each knows
 * how many steps it shares with the one before it. A node of the tree at depth d is then a run of
 * neighbours that share d steps; its children are the shorter runs in it that share d + 1:
 *
 *      a.b       shared 0   ┐ a   ┐ a.b
 *      a.c[0]    shared 1   │     ┐ a.c  ┐ a.c[0]
 *      a.c[7]    shared 2   ┘     ┘      ┐ a.c[7]
 *      d         shared 0   ┐ d
 *
 * So a path of any depth costs one entry, and nothing recurses to build or to check it.
 */
#ifndef EXPR_TREE_H
#define EXPR_TREE_H

#include "expr/expr.h"
#include "expr/parse.h"

struct expr_tree_entry {
    const struct path *path;
    uint32_t written; /* its place in the order written */
    uint32_t shared;  /* leading steps it has in common with the entry before it */
};

struct expr_projection {
    const struct path *paths; /* in the order written */
    struct expr_tree_entry *entries;
    uint32_t n;
};

/* Puts the paths in order; they are borrowed and must outlive the tree. */
SHEAF_NODISCARD sheaf_rc expr_tree_build(struct ctx *c, const struct path *paths, uint32_t n,
                                         struct expr_projection *out);

/* Answers with AWS's message when one path overlaps another ("a" and "a.b"), or else when two take
 * one place for a map and for a list ("a.b" and "a[0]"). Of several such pairs it names the one
 * whose later path comes first. */
SHEAF_NODISCARD sheaf_rc expr_tree_check(const struct expr_parser *p,
                                         const struct expr_projection *tree);

/* Where the child that begins at `lo` ends, in a node at `depth` that ends at `hi`. */
static inline uint32_t expr_tree_run_end(const struct expr_projection *tree, uint32_t lo,
                                         uint32_t hi, uint32_t depth)
{
    uint32_t end = lo + 1;
    while (end < hi && tree->entries[end].shared > depth) end++;
    return end;
}

/* One step down from a value; absent when it leads nowhere. */
static inline val expr_step_get(val v, const struct path_step *step)
{
    if (step->name.p) return val_type(v) == VAL_M ? val_find(v, step->name) : VAL_ABSENT;
    return val_type(v) == VAL_L && step->index < val_count(v) ? val_at(v, step->index) : VAL_ABSENT;
}

#endif
