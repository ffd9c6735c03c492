/* tests/model/lines.h: lists of items as texts, and whether two of them say the same. */
#ifndef MODEL_LINES_H
#define MODEL_LINES_H

#include "model/world.h"

struct lines {
    const char **at;
    uint32_t *group; /* lines of one group have no order among themselves */
    size_t n, cap;
};
void lines_add(struct world *w, struct lines *l, const char *text, uint32_t group);
/* Both in groups as `want` says. */
void lines_expect(struct world *w, const char *what, struct lines *got, struct lines *want);

/* "a, #b.c" and the paths it names. */
const char *projection_draw(struct world *w, struct words *words, struct tree_path *paths,
                            uint32_t *n);

#endif
