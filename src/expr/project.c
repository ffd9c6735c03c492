/* Turns "a, b.c[2]" into a tree of paths, and an encoded item into a new one with only those parts.
 * Know before editing: a container on the way to a kept part is begun only when the first part
 * under it is found, so that a path that leads nowhere leaves no empty parent behind. */
#include "base/limits.h"
#include "expr/parse.h"
#include "expr/tree.h"

#include <assert.h>

/* ---- compiling ---- */

static uint32_t count_commas(const struct expr_parser *p)
{
    struct expr_cursor at = p->at;
    uint32_t n = 0;
    for (; at.cur.kind != TOK_EOF; expr_cursor_step(&at)) n += at.cur.kind == TOK_COMMA;
    return n;
}

static sheaf_rc parse_paths(struct expr_parser *p, struct expr_raw_path *raw, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0) TRY(expr_expect(p, TOK_COMMA));
        TRY(expr_parse_path(p, &raw[i]));
    }
    return expr_expect(p, TOK_EOF);
}

sheaf_rc expr_compile_projection(struct ctx *c, span text, struct expr_env *env,
                                 const struct expr_projection **out)
{
    struct expr_parser p;
    *out = NULL;
    TRY(expr_parser_init(&p, c, EXPR_PROJECTION, text, env));
    uint32_t n = count_commas(&p) + 1;
    struct expr_raw_path *raw = ARENA_ARRAY(c->arena, struct expr_raw_path, n);
    struct path *paths = ARENA_ARRAY(c->arena, struct path, n);
    struct expr_projection *tree = ARENA_NEW(c->arena, struct expr_projection);
    if (!raw || !paths || !tree) return err_nomem(c->err);
    TRY(parse_paths(&p, raw, n));
    for (uint32_t i = 0; i < n; i++) TRY(expr_path_check_words(&p, &raw[i]));
    for (uint32_t i = 0; i < n; i++) TRY(expr_path_resolve(&p, &raw[i], &paths[i]));
    TRY(expr_tree_build(c, paths, n, tree));
    TRY(expr_tree_check(&p, tree));
    *out = tree;
    return SHEAF_OK;
}

sheaf_rc expr_projection_of(struct ctx *c, const struct path *paths, uint32_t n,
                            const struct expr_projection **out)
{
    *out = NULL;
    struct expr_projection *tree = ARENA_NEW(c->arena, struct expr_projection);
    if (!tree) return err_nomem(c->err);
    TRY(expr_tree_build(c, paths, n, tree));
    *out = tree;
    return SHEAF_OK;
}

const struct path *expr_projection_paths(const struct expr_projection *p, uint32_t *n_out)
{
    *n_out = p->n;
    return p->paths;
}

/* ---- projecting ---- */

/* A container on the way down, and the step that led into it. */
struct frame {
    const struct path_step *step;
    enum val_type type;
};

struct projector {
    const struct expr_projection *tree;
    struct vb b;
    struct frame frames[LIMIT_NESTING + 1];
    uint32_t n_frames, n_begun; /* the first n_begun of the frames stand in b already */
};

static void name_value(struct projector *pr, const struct path_step *step)
{
    if (step->name.p) vb_name(&pr->b, step->name);
}

static void keep(struct projector *pr, const struct path_step *step, val v)
{
    for (; pr->n_begun < pr->n_frames; pr->n_begun++) {
        const struct frame *f = &pr->frames[pr->n_begun];
        name_value(pr, f->step);
        if (f->type == VAL_L)
            vb_list_begin(&pr->b);
        else
            vb_map_begin(&pr->b);
    }
    name_value(pr, step);
    vb_raw(&pr->b, v);
}

static void enter(struct projector *pr, const struct path_step *step, val v)
{
    assert(pr->n_frames <= LIMIT_NESTING);
    pr->frames[pr->n_frames++] = (struct frame){step, val_type(v)};
}

static void leave(struct projector *pr)
{
    assert(pr->n_frames > 0);
    if (pr->n_begun == pr->n_frames) {
        vb_end(&pr->b);
        pr->n_begun--;
    }
    pr->n_frames--;
}

/* The node lo … hi at `depth` stands for v. Recursion follows the item, so it ends at the nesting
 * limit. */
static void walk(struct projector *pr, uint32_t lo, uint32_t hi, uint32_t depth, val v)
{
    uint32_t end;
    for (uint32_t i = lo; i < hi; i = end) {
        const struct path *path = pr->tree->entries[i].path;
        const struct path_step *step = &path->steps[depth];
        end = expr_tree_run_end(pr->tree, i, hi, depth);
        val child = expr_step_get(v, step);
        if (val_is_absent(child)) continue;
        if (path->n == depth + 1) {
            keep(pr, step, child);
        } else if (val_type(child) == VAL_M || val_type(child) == VAL_L) {
            enter(pr, step, child);
            walk(pr, i, end, depth + 1, child);
            leave(pr);
        }
    }
}

sheaf_rc expr_project(struct ctx *c, const struct expr_projection *p, val item, span *item_out)
{
    struct projector pr = {.tree = p};
    *item_out = SPAN_NONE;
    assert(val_is_absent(item) || val_type(item) == VAL_M);
    /* Its parts are parts of the item, so it is never longer; an item without parts has 7 bytes. */
    vb_init(&pr.b, c, VAL_ITEM_HEADER + (size_t)item.n + 16);
    vb_map_begin(&pr.b);
    walk(&pr, 0, p->n, 0, item);
    vb_end(&pr.b);
    assert(pr.n_frames == 0 && pr.n_begun == 0);
    return vb_finish_item(&pr.b, item_out);
}
