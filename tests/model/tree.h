/* tests/model/tree.h: values as small plain trees, the currency of the oracle.
 *
 * Nothing here knows how the library keeps values. Numbers are hundredths in an int64; names are
 * static strings; maps are sorted by name and sets by value, so that two equal trees have one
 * text. */
#ifndef MODEL_TREE_H
#define MODEL_TREE_H

#include "base/arena.h"

#include <sheaf/sheaf.h>

struct entry;
struct tree {
    sheaf_type type; /* SHEAF_NONE: absent */
    bool flag;
    int64_t cents;    /* N */
    const char *p;    /* S, B */
    size_t n;         /* bytes of p, or entries */
    struct entry *at; /* M, L and sets */
};
struct entry {
    const char *name; /* M only; static or as long as the tree */
    struct tree v;
};

/* Where a part of an item is: "m.x[2]". */
struct tree_step {
    const char *name; /* NULL: an index */
    uint32_t index;
};
struct tree_path {
    struct tree_step step[3];
    uint32_t n;
};

/* Trees are allocated in an arena, or on the heap when it is NULL. Memory that runs out ends the
 * program. */
void *tree_room(struct arena *a, size_t n);
struct tree tree_dup(struct arena *a, const struct tree *t);
/* Of a heap tree. */
void tree_free(struct tree *t);

struct tree tree_s(const char *p, size_t n);
struct tree tree_n(int64_t cents);
struct tree tree_box(struct arena *a, sheaf_type type, size_t room);
/* Adds to a map with room (replacing), to a list, or to a set (once). */
void tree_set(struct tree *map, const char *name, struct tree v);
void tree_append(struct tree *list, struct tree v);
void tree_include(struct tree *set, struct tree v);
void tree_unset(struct tree *map, const char *name);

/* NULL when absent. */
const struct tree *tree_find(const struct tree *map, const char *name);
const struct tree *tree_at(const struct tree *item, const struct tree_path *path);

/* <0, 0, >0; a and b are both S, N or B. */
int tree_cmp(const struct tree *a, const struct tree *b);
bool tree_eq(const struct tree *a, const struct tree *b);
bool tree_is_scalar(const struct tree *t); /* S, N or B */
/* AWS's size of a value; of an item (its names and values) with is_item. */
uint64_t tree_size(const struct tree *t);
uint64_t tree_item_size(const struct tree *item);
/* UTF-16 code units of a string. */
uint64_t tree_utf16(const struct tree *s);

/* The tree as text, NUL-terminated, in the arena: equal trees have equal texts. "-" for NULL. */
const char *tree_text(struct arena *a, const struct tree *t);
/* Digits of a number as AWS writes them. At least 32 bytes. */
size_t tree_digits(int64_t cents, char *to);

/* To and from the public API; both in the arena. */
const sheaf_item *tree_to_item(struct arena *a, const struct tree *map);
sheaf_value tree_to_value(struct arena *a, const struct tree *t);
struct tree tree_of_item(struct arena *a, const sheaf_item *item);

/* Only what the paths name; containers on the way appear when something in them does. */
struct tree tree_project(struct arena *a, const struct tree *item, const struct tree_path *paths,
                         size_t n);

#endif
