/* Turns random numbers into values, keys and items. Know before editing: what is drawn may
 * depend on the random numbers and the schema only, never on the state of the database, so that
 * an operation stays the same when others around it are taken away. */
#include "model/grammar.h"

#include <stdio.h>

bool draw_one_in(struct draw *d, uint64_t n) { return rng_below(d->rng, n) == 0; }

static struct tree text_of(struct draw *d, const char *s)
{
    size_t n = strlen(s);
    char *copy = tree_room(d->arena, n + 1);
    memcpy(copy, s, n);
    return tree_s(copy, n);
}

/* Prefixes of each other, neighbours in byte order, more than one byte per character. */
static struct tree key_text(struct draw *d, uint64_t k)
{
    static const struct {
        const char *p;
        size_t n;
    } some[] = {{"a", 1},    {"ab", 2},       {"a\0", 2},
                {"b", 1},    {"ab#1", 4},     {"ab#10", 5},
                {"ab#2", 4}, {"\xc3\xa9", 2}, {"a\xf0\x9d\x84\x9e", 5},
                {"~", 1},    {"A", 1},        {" ", 1}};
    if (k < sizeof some / sizeof some[0]) {
        struct tree t = tree_s(some[k].p, some[k].n);
        return tree_dup(d->arena, &t);
    }
    char text[32];
    sprintf(text, "k%03u", (unsigned)k);
    return text_of(d, text);
}

static struct tree key_bytes(struct draw *d, uint64_t k)
{
    static const struct {
        const char *p;
        size_t n;
    } some[] = {{"\0", 1},       {"\0\0", 2},   {"\1", 1},   {"\xff", 1},
                {"\xff\xff", 2}, {"\xff\0", 2}, {"\x7f", 1}, {"\x80", 1}};
    struct tree t = {.type = SHEAF_B};
    char text[3] = {'k', (char)k, 0};
    if (k < sizeof some / sizeof some[0]) {
        t.p = some[k].p;
        t.n = some[k].n;
    } else {
        t.p = text;
        t.n = 2;
    }
    return tree_dup(d->arena, &t);
}

struct tree draw_key_value(struct draw *d, sheaf_type type, uint64_t k)
{
    static const int64_t some[] = {0, -100, 100, 1000, 50, -50, 99900, 1, -1, 10000, -99999};
    if (type == SHEAF_S) return key_text(d, k);
    if (type == SHEAF_B) return key_bytes(d, k);
    return tree_n(k < 11 ? some[k] : (int64_t)k * 300);
}

/* ---- any value ---- */

static struct tree draw_set(struct draw *d, sheaf_type type)
{
    struct tree set = tree_box(d->arena, type, 5);
    sheaf_type member = type == SHEAF_SS ? SHEAF_S : type == SHEAF_NS ? SHEAF_N : SHEAF_B;
    for (uint64_t n = 1 + rng_below(d->rng, 4); n; n--)
        tree_include(&set, draw_key_value(d, member, rng_below(d->rng, 6)));
    return set;
}

static struct tree draw_box(struct draw *d, sheaf_type type, uint32_t depth)
{
    static const char *const names[] = {"x", "y", "z"};
    struct tree box = tree_box(d->arena, type, 4);
    for (uint64_t n = rng_below(d->rng, 4); n; n--) {
        struct tree v = draw_value(d, depth - 1);
        if (type == SHEAF_M)
            tree_set(&box, names[rng_below(d->rng, 3)], v);
        else
            tree_append(&box, v);
    }
    return box;
}

struct tree draw_typed(struct draw *d, sheaf_type type)
{
    struct tree t = {.type = type};
    switch (type) {
    case SHEAF_S:
        if (draw_one_in(d, 20)) return text_of(d, "");
        return draw_key_value(d, SHEAF_S, rng_below(d->rng, 14));
    case SHEAF_N:
        return tree_n((int64_t)rng_below(d->rng, 2000) * (draw_one_in(d, 3) ? 1 : 100) - 500);
    case SHEAF_B:
        return draw_key_value(d, SHEAF_B, rng_below(d->rng, 10));
    case SHEAF_BOOL:
        t.flag = draw_one_in(d, 2);
        return t;
    case SHEAF_M:
    case SHEAF_L:
        return draw_box(d, type, 2);
    case SHEAF_SS:
    case SHEAF_NS:
    case SHEAF_BS:
        return draw_set(d, type);
    default:
        return t;
    }
}

struct tree draw_value(struct draw *d, uint32_t depth)
{
    sheaf_type type = (sheaf_type)(SHEAF_S + rng_below(d->rng, SHEAF_BS));
    if ((type == SHEAF_M || type == SHEAF_L) && depth == 0) type = SHEAF_N;
    return type == SHEAF_M || type == SHEAF_L ? draw_box(d, type, depth) : draw_typed(d, type);
}

/* ---- attributes ---- */

static const struct {
    const char *name;
    sheaf_type type; /* SHEAF_NONE: any */
    uint32_t one_in; /* items that have it */
    bool is_key;     /* of an index */
} attributes[] = {
    {"a", SHEAF_NONE, 2, false}, {"b", SHEAF_S, 3, false},   {"n", SHEAF_N, 2, false},
    {"m", SHEAF_M, 3, false},    {"l", SHEAF_L, 4, false},   {"ss", SHEAF_SS, 5, false},
    {"ns", SHEAF_NS, 6, false},  {"bs", SHEAF_BS, 8, false}, {"ttl", SHEAF_N, 4, false},
    {"g1", SHEAF_S, 2, true},    {"g2", SHEAF_N, 2, true},   {"g3", SHEAF_B, 2, true},
    {"l1", SHEAF_S, 2, true},    {"l2", SHEAF_N, 2, true},   {"x1", SHEAF_S, 3, true},
    {"x2", SHEAF_N, 2, true},
};
enum { N_ATTRIBUTES = sizeof attributes / sizeof attributes[0] };

static struct tree draw_nth(struct draw *d, size_t i)
{
    sheaf_type type = attributes[i].type;
    if (type == SHEAF_NONE) return draw_value(d, 2);
    if (draw_one_in(d, attributes[i].is_key ? 150 : 25)) return draw_value(d, 1);
    if (attributes[i].is_key && attributes[i].name[0] == 'x' && draw_one_in(d, 6))
        return draw_value(d, 0);
    if (attributes[i].is_key) return draw_key_value(d, type, rng_below(d->rng, d->domain->n_index));
    if (strcmp(attributes[i].name, "ttl") == 0)
        return tree_n((d->domain->base_s + (int64_t)rng_below(d->rng, 6000)) * 100);
    return draw_typed(d, type);
}

struct tree draw_attribute(struct draw *d, const char *name)
{
    for (size_t i = 0; i < N_ATTRIBUTES; i++)
        if (strcmp(attributes[i].name, name) == 0) return draw_nth(d, i);
    return draw_value(d, 1);
}

const char *draw_name(struct draw *d) { return attributes[rng_below(d->rng, N_ATTRIBUTES)].name; }

struct tree draw_key(struct draw *d, const struct schema *s)
{
    struct tree key = tree_box(d->arena, SHEAF_M, N_ATTRIBUTES + 2);
    sheaf_type type = draw_one_in(d, 2000) ? SHEAF_BOOL : s->hash.type;
    tree_set(
        &key, s->hash.name,
        type == SHEAF_BOOL
            ? draw_typed(d, type)
            : draw_key_value(d, type, d->domain->hash_from + rng_below(d->rng, d->domain->n_hash)));
    if (s->range.name)
        tree_set(&key, s->range.name,
                 draw_key_value(d, s->range.type, rng_below(d->rng, d->domain->n_range)));
    return key;
}

struct tree draw_item(struct draw *d, const struct schema *s)
{
    struct tree item = draw_key(d, s);
    for (size_t i = 0; i < N_ATTRIBUTES; i++)
        if (draw_one_in(d, attributes[i].one_in))
            tree_set(&item, attributes[i].name, draw_nth(d, i));
    if (d->domain->fat && draw_one_in(d, 2)) {
        size_t n = d->domain->fat / 2 + rng_below(d->rng, d->domain->fat);
        char *p = tree_room(d->arena, n + 1);
        memset(p, 'f', n);
        tree_set(&item, "b", tree_s(p, n));
    }
    return item;
}

struct tree_path draw_path(struct draw *d)
{
    static const char *const inner[] = {"x", "y", "z"};
    struct tree_path p = {.n = 1, .step = {{draw_name(d), 0}}};
    bool is_map = strcmp(p.step[0].name, "m") == 0, is_list = strcmp(p.step[0].name, "l") == 0;
    if ((is_map && !draw_one_in(d, 4)) || (strcmp(p.step[0].name, "a") == 0 && draw_one_in(d, 6)))
        p.step[p.n++].name = inner[rng_below(d->rng, 3)];
    else if (is_list && !draw_one_in(d, 4))
        p.step[p.n++] = (struct tree_step){NULL, (uint32_t)rng_below(d->rng, 5)};
    if (p.n == 2 && draw_one_in(d, 5)) {
        p.step[p.n].name = draw_one_in(d, 2) ? inner[rng_below(d->rng, 3)] : NULL;
        p.step[p.n].index = p.step[p.n].name ? 0 : (uint32_t)rng_below(d->rng, 3);
        p.n++;
    }
    return p;
}
