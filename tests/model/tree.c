/* Turns values into trees, trees into values, and compares them.
 *
 * Know before editing: this is the oracle's arithmetic. It is written to be obviously right for
 * small values, never to be fast, and shares no code with src/value. */
#include "model/tree.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

void *tree_room(struct arena *a, size_t n)
{
    void *p = a ? arena_zalloc(a, n ? n : 1) : calloc(1, n ? n : 1);
    if (!p) abort();
    return p;
}

static bool is_box(const struct tree *t) { return t->type >= SHEAF_M; }

struct tree tree_dup(struct arena *a, const struct tree *t)
{
    struct tree copy = *t;
    if (is_box(t)) {
        copy.at = tree_room(a, (t->n + 1) * sizeof *copy.at);
        for (size_t i = 0; i < t->n; i++) {
            copy.at[i].name = t->at[i].name;
            copy.at[i].v = tree_dup(a, &t->at[i].v);
        }
    } else if (t->type == SHEAF_S || t->type == SHEAF_B) {
        char *p = tree_room(a, t->n + 1);
        if (t->n) memcpy(p, t->p, t->n);
        copy.p = p;
    }
    return copy;
}

void tree_free(struct tree *t)
{
    if (is_box(t)) {
        for (size_t i = 0; i < t->n; i++) tree_free(&t->at[i].v);
        free(t->at);
    } else if (t->type == SHEAF_S || t->type == SHEAF_B) {
        free((void *)(uintptr_t)t->p);
    }
    *t = (struct tree){.type = SHEAF_NONE};
}

struct tree tree_s(const char *p, size_t n)
{
    return (struct tree){.type = SHEAF_S, .p = p, .n = n};
}
struct tree tree_n(int64_t cents) { return (struct tree){.type = SHEAF_N, .cents = cents}; }

struct tree tree_box(struct arena *a, sheaf_type type, size_t room)
{
    struct tree t = {.type = type};
    t.at = tree_room(a, (room + 1) * sizeof *t.at);
    return t;
}

void tree_set(struct tree *map, const char *name, struct tree v)
{
    size_t i = 0;
    while (i < map->n && strcmp(map->at[i].name, name) < 0) i++;
    if (i == map->n || strcmp(map->at[i].name, name) != 0) {
        memmove(&map->at[i + 1], &map->at[i], (map->n - i) * sizeof *map->at);
        map->n++;
    }
    map->at[i] = (struct entry){name, v};
}

void tree_append(struct tree *list, struct tree v)
{
    list->at[list->n++] = (struct entry){NULL, v};
}

void tree_include(struct tree *set, struct tree v)
{
    size_t i = 0;
    while (i < set->n && tree_cmp(&set->at[i].v, &v) < 0) i++;
    if (i < set->n && tree_cmp(&set->at[i].v, &v) == 0) return;
    memmove(&set->at[i + 1], &set->at[i], (set->n - i) * sizeof *set->at);
    set->n++;
    set->at[i] = (struct entry){NULL, v};
}

void tree_unset(struct tree *map, const char *name)
{
    for (size_t i = 0; i < map->n; i++) {
        if (strcmp(map->at[i].name, name) != 0) continue;
        memmove(&map->at[i], &map->at[i + 1], (map->n - i - 1) * sizeof *map->at);
        map->n--;
        return;
    }
}

const struct tree *tree_find(const struct tree *map, const char *name)
{
    for (size_t i = 0; map && map->type == SHEAF_M && i < map->n; i++)
        if (strcmp(map->at[i].name, name) == 0) return &map->at[i].v;
    return NULL;
}

static const struct tree *step_into(const struct tree *t, const struct tree_step *s)
{
    if (s->name) return tree_find(t, s->name);
    return t->type == SHEAF_L && s->index < t->n ? &t->at[s->index].v : NULL;
}

const struct tree *tree_at(const struct tree *item, const struct tree_path *path)
{
    for (uint32_t i = 0; item && i < path->n; i++) item = step_into(item, &path->step[i]);
    return item;
}

/* ---- comparing ---- */

bool tree_is_scalar(const struct tree *t)
{
    return t && (t->type == SHEAF_S || t->type == SHEAF_N || t->type == SHEAF_B);
}

int tree_cmp(const struct tree *a, const struct tree *b)
{
    assert(tree_is_scalar(a) && a->type == b->type);
    if (a->type == SHEAF_N) return (a->cents > b->cents) - (a->cents < b->cents);
    size_t n = a->n < b->n ? a->n : b->n;
    int c = n ? memcmp(a->p, b->p, n) : 0;
    return c ? c : (a->n > b->n) - (a->n < b->n);
}

bool tree_eq(const struct tree *a, const struct tree *b)
{
    if (!a || !b || a->type != b->type) return a == b;
    if (tree_is_scalar(a)) return tree_cmp(a, b) == 0;
    if (!is_box(a)) return a->flag == b->flag;
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++) {
        if (a->type == SHEAF_M && strcmp(a->at[i].name, b->at[i].name) != 0) return false;
        if (!tree_eq(&a->at[i].v, &b->at[i].v)) return false;
    }
    return true;
}

/* ---- sizes ---- */

/* Pairs of digits around the decimal point, from the first to the last that is not 00. Hundredths
 * are aligned with the pairs. */
static uint64_t number_size(int64_t cents)
{
    uint64_t u = cents < 0 ? (uint64_t)-cents : (uint64_t)cents, pairs = 0;
    if (u == 0) return 1;
    while (u % 100 == 0) u /= 100;
    for (; u; u /= 100) pairs++;
    return 1 + pairs + (cents < 0);
}

uint64_t tree_item_size(const struct tree *item)
{
    uint64_t n = 0;
    for (size_t i = 0; i < item->n; i++) n += strlen(item->at[i].name) + tree_size(&item->at[i].v);
    return n;
}

uint64_t tree_size(const struct tree *t)
{
    uint64_t n = 0;
    switch (t->type) {
    case SHEAF_S:
    case SHEAF_B:
        return t->n;
    case SHEAF_N:
        return number_size(t->cents);
    case SHEAF_M:
        return 3 + t->n + tree_item_size(t);
    case SHEAF_L:
    case SHEAF_SS:
    case SHEAF_NS:
    case SHEAF_BS:
        for (size_t i = 0; i < t->n; i++) n += tree_size(&t->at[i].v);
        return t->type == SHEAF_L ? 3 + t->n + n : n;
    default:
        return 1;
    }
}

uint64_t tree_utf16(const struct tree *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        unsigned c = (unsigned char)s->p[i];
        n += (c & 0xC0) != 0x80;
        n += c >= 0xF0;
    }
    return n;
}

/* ---- text ---- */

struct text {
    struct arena *arena;
    char *p;
    size_t n, cap;
};

static void put(struct text *t, const char *p, size_t n)
{
    if (t->n + n + 1 > t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 256;
        while (cap < t->n + n + 1) cap *= 2;
        char *more = tree_room(t->arena, cap);
        if (t->n) memcpy(more, t->p, t->n);
        t->p = more;
        t->cap = cap;
    }
    memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = '\0';
}

static void put_str(struct text *t, const char *s) { put(t, s, strlen(s)); }

/* A long row of one character is told by its length. */
static bool put_row(struct text *t, const struct tree *v)
{
    char text[64];
    if (v->n < 64 || memcmp(v->p, v->p + 1, v->n - 1) != 0) return false;
    put(t, text, (size_t)snprintf(text, sizeof text, "%zu times '%c'", v->n, v->p[0]));
    return true;
}

static void put_bytes(struct text *t, const struct tree *v)
{
    if (v->type == SHEAF_S && put_row(t, v)) return;
    static const char hex[] = "0123456789abcdef";
    put_str(t, v->type == SHEAF_S ? "'" : "<");
    for (size_t i = 0; i < v->n; i++) {
        unsigned char c = (unsigned char)v->p[i];
        char two[3] = {hex[c >> 4], hex[c & 15], 0};
        if (v->type == SHEAF_S && c >= ' ') {
            put(t, &v->p[i], 1);
            continue;
        }
        if (v->type == SHEAF_S) put_str(t, "\\");
        put(t, two, 2);
    }
    put_str(t, v->type == SHEAF_S ? "'" : ">");
}

size_t tree_digits(int64_t cents, char *to)
{
    uint64_t u = cents < 0 ? (uint64_t)-cents : (uint64_t)cents;
    char *p = to;
    if (cents < 0) *p++ = '-';
    p += sprintf(p, "%llu", (unsigned long long)(u / 100));
    if (u % 100) p += sprintf(p, ".%02u", (unsigned)(u % 100));
    if (u % 100 && u % 10 == 0) p--;
    *p = '\0';
    return (size_t)(p - to);
}

static void put_tree(struct text *t, const struct tree *v);

static void put_box(struct text *t, const struct tree *v)
{
    static const char *const open[] = {[SHEAF_M] = "{",
                                       [SHEAF_L] = "[",
                                       [SHEAF_SS] = "(S:",
                                       [SHEAF_NS] = "(N:",
                                       [SHEAF_BS] = "(B:"};
    static const char *const close[] = {
        [SHEAF_M] = "}", [SHEAF_L] = "]", [SHEAF_SS] = ")", [SHEAF_NS] = ")", [SHEAF_BS] = ")"};
    put_str(t, open[v->type]);
    for (size_t i = 0; i < v->n; i++) {
        if (i) put_str(t, ", ");
        if (v->type == SHEAF_M) {
            put_str(t, v->at[i].name);
            put_str(t, ": ");
        }
        put_tree(t, &v->at[i].v);
    }
    put_str(t, close[v->type]);
}

static void put_tree(struct text *t, const struct tree *v)
{
    char digits[32];
    switch (v->type) {
    case SHEAF_S:
    case SHEAF_B:
        put_bytes(t, v);
        return;
    case SHEAF_N:
        put(t, digits, tree_digits(v->cents, digits));
        return;
    case SHEAF_BOOL:
        put_str(t, v->flag ? "true" : "false");
        return;
    case SHEAF_NULL:
        put_str(t, "null");
        return;
    case SHEAF_NONE:
        put_str(t, "?");
        return;
    default:
        put_box(t, v);
    }
}

const char *tree_text(struct arena *a, const struct tree *t)
{
    struct text text = {.arena = a};
    if (!t) return "-";
    put_tree(&text, t);
    return text.p;
}

/* ---- to the public API ---- */

static const sheaf_list *to_list(struct arena *a, const struct tree *t)
{
    sheaf_list *list = tree_room(a, sizeof *list);
    sheaf_value *values = tree_room(a, (t->n + 1) * sizeof *values);
    for (size_t i = 0; i < t->n; i++) values[i] = tree_to_value(a, &t->at[i].v);
    *list = (sheaf_list){values, t->n, NULL};
    return list;
}

sheaf_value tree_to_value(struct arena *a, const struct tree *t)
{
    char *digits;
    switch (t->type) {
    case SHEAF_S:
        return sheaf_sn(t->p, t->n);
    case SHEAF_B:
        return sheaf_b(t->p, t->n);
    case SHEAF_N:
        if (t->cents % 100 == 0 && t->cents % 7) return sheaf_int(t->cents / 100);
        digits = tree_room(a, 32);
        (void)tree_digits(t->cents, digits);
        return sheaf_n(digits);
    case SHEAF_BOOL:
        return sheaf_bool(t->flag);
    case SHEAF_NULL:
        return sheaf_null();
    case SHEAF_M:
        return sheaf_m(tree_to_item(a, t));
    case SHEAF_L:
        return sheaf_l(to_list(a, t));
    default:
        return sheaf_make_(t->type, to_list(a, t), 0);
    }
}

const sheaf_item *tree_to_item(struct arena *a, const struct tree *map)
{
    sheaf_item *item = tree_room(a, sizeof *item);
    sheaf_attr *attrs = tree_room(a, (map->n + 1) * sizeof *attrs);
    for (size_t i = 0; i < map->n; i++)
        attrs[i] = (sheaf_attr){map->at[i].name, tree_to_value(a, &map->at[i].v)};
    *item = (sheaf_item){attrs, map->n, NULL};
    return item;
}

/* ---- and back ---- */

/* Text that is no small number gives a tree of type SHEAF_NONE, which equals nothing. */
static struct tree parse_number(sheaf_str s)
{
    int64_t u = 0;
    size_t i = s.n > 0 && s.p[0] == '-' ? 1 : 0, after = 0;
    bool has_point = false, is_good = i < s.n && s.n < 20;
    for (; i < s.n && is_good; i++) {
        if (s.p[i] == '.' && !has_point) {
            has_point = true;
            continue;
        }
        is_good = s.p[i] >= '0' && s.p[i] <= '9' && after < 2;
        u = u * 10 + (s.p[i] - '0');
        after += has_point;
    }
    if (!is_good) return (struct tree){.type = SHEAF_NONE};
    for (; after < 2; after++) u *= 10;
    return tree_n(s.p[0] == '-' ? -u : u);
}

static struct tree of_value(struct arena *a, const sheaf_value *v)
{
    struct tree t = {.type = v->type};
    size_t n;
    sheaf_value member;
    switch (v->type) {
    case SHEAF_S:
    case SHEAF_B:
        t.p = v->u.p;
        t.n = v->n;
        return tree_dup(a, &t);
    case SHEAF_N:
        if (v->n == SHEAF_N_INT64_) return tree_n(v->u.i64 * 100);
        return parse_number(v->n == SIZE_MAX ? (sheaf_str){v->u.p, strlen(v->u.p)}
                                             : sheaf_value_str(v));
    case SHEAF_BOOL:
        t.flag = v->boolean;
        return t;
    case SHEAF_M:
        return tree_of_item(a, v->u.map);
    case SHEAF_L:
    case SHEAF_SS:
    case SHEAF_NS:
    case SHEAF_BS:
        n = sheaf_list_count(v->u.list);
        t = tree_box(a, v->type, n);
        for (size_t i = 0; i < n; i++) {
            if (!sheaf_list_at(v->u.list, i, &member)) abort();
            if (v->type == SHEAF_L)
                tree_append(&t, of_value(a, &member));
            else
                tree_include(&t, of_value(a, &member));
        }
        if (t.n != n) t.type = SHEAF_NONE; /* a set with a member twice */
        return t;
    default:
        return t;
    }
}

struct tree tree_of_item(struct arena *a, const sheaf_item *item)
{
    size_t n = sheaf_item_count(item);
    struct tree t = tree_box(a, SHEAF_M, n);
    for (size_t i = 0; i < n; i++) {
        sheaf_attr attr;
        if (!sheaf_item_at(item, i, &attr)) abort();
        size_t length = strlen(attr.name);
        char *name = tree_room(a, length + 1);
        memcpy(name, attr.name, length);
        tree_set(&t, name, of_value(a, &attr.value));
    }
    return t;
}

/* ---- projecting ---- */

/* The part of v under the paths that agree with `at` in their first `depth` steps. */
static bool project(struct arena *a, const struct tree *v, const struct tree_path **paths, size_t n,
                    uint32_t depth, struct tree *out)
{
    for (size_t i = 0; i < n; i++) {
        if (paths[i]->n == depth) {
            *out = tree_dup(a, v);
            return true;
        }
    }
    if (v->type != SHEAF_M && v->type != SHEAF_L) return false;
    *out = tree_box(a, v->type, v->n);
    for (size_t i = 0; i < v->n; i++) {
        const struct tree_path *inside[16];
        size_t n_inside = 0;
        struct tree part;
        for (size_t k = 0; k < n && n_inside < 16; k++) {
            const struct tree_step *s = &paths[k]->step[depth];
            bool is_here = v->type == SHEAF_M ? s->name && strcmp(s->name, v->at[i].name) == 0
                                              : !s->name && s->index == i;
            if (is_here) inside[n_inside++] = paths[k];
        }
        if (n_inside && project(a, &v->at[i].v, inside, n_inside, depth + 1, &part))
            out->at[out->n++] = (struct entry){v->at[i].name, part};
    }
    return out->n > 0;
}

struct tree tree_project(struct arena *a, const struct tree *item, const struct tree_path *paths,
                         size_t n)
{
    const struct tree_path *all[16];
    struct tree out;
    assert(n <= 16);
    for (size_t i = 0; i < n; i++) all[i] = &paths[i];
    if (!project(a, item, all, n, 0, &out)) out = tree_box(a, SHEAF_M, 0);
    return out;
}
