/* Turns items into lines of text and compares them. */
#include "model/lines.h"

#include <stdlib.h>

void lines_add(struct world *w, struct lines *l, const char *text, uint32_t group)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        const char **at = tree_room(&w->arena, cap * sizeof *at);
        uint32_t *groups = tree_room(&w->arena, cap * sizeof *groups);
        if (l->n) {
            memcpy(at, l->at, l->n * sizeof *at);
            memcpy(groups, l->group, l->n * sizeof *groups);
        }
        *l = (struct lines){at, groups, l->n, cap};
    }
    l->at[l->n] = text;
    l->group[l->n++] = group;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void lines_expect(struct world *w, const char *what, struct lines *got, struct lines *want)
{
    w->n_checked++;
    for (size_t i = 0, end; i < want->n && got->n == want->n; i = end) {
        for (end = i + 1; end < want->n && want->group[end] == want->group[i]; end++) {}
        qsort(&want->at[i], end - i, sizeof *want->at, by_text);
        qsort(&got->at[i], end - i, sizeof *got->at, by_text);
    }
    for (size_t i = 0; i < got->n || i < want->n; i++) {
        const char *is = i < got->n ? got->at[i] : "nothing";
        const char *should = i < want->n ? want->at[i] : "nothing";
        if (strcmp(is, should) == 0 && got->n == want->n) continue;
        if (strcmp(is, should) == 0) continue;
        world_differs(w, "%s: item %zu (%zu instead of %zu): got %.2000s, wanted %.2000s", what, i,
                      got->n, want->n, is, should);
    }
}

static bool overlap(const struct tree_path *a, const struct tree_path *b)
{
    return strcmp(a->step[0].name, b->step[0].name) == 0;
}

const char *projection_draw(struct world *w, struct words *words, struct tree_path *paths,
                            uint32_t *n)
{
    const char *text = NULL;
    *n = 0;
    for (uint64_t want = 1 + rng_below(&w->rng, 3); want; want--) {
        struct tree_path p = draw_path(&w->draw);
        bool is_apart = true;
        for (uint32_t i = 0; i < *n; i++) is_apart &= !overlap(&paths[i], &p);
        if (!is_apart) continue;
        paths[(*n)++] = p;
        const char *one = words_path(words, &p);
        text = text ? words_printf(words, "%s, %s", text, one) : one;
    }
    return text;
}
