/* Structs to items and back: every kind, its mistakes, and the identity for random structs. */
#include "shop.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>

struct part {
    const char *name;
    int16_t weight;
    const sheaf_item *rest;
};
struct gadget {
    const char *id;
    const char *text;
    sheaf_str any;
    char chars[12];
    struct sheaf_span bytes;
    int8_t i8;
    uint8_t u8;
    int32_t i32;
    uint64_t u64;
    const int64_t *maybe_int;
    double ratio;
    const double *maybe_ratio;
    const char *price;
    bool yes;
    const bool *maybe_yes;
    enum order_status status;
    sheaf_time at, since;
    const sheaf_time *maybe_at;
    struct part main;
    const struct part *spare;
    const struct part *parts;
    size_t n_parts;
    const char *const *tags;
    size_t n_tags;
    const char *const *colours;
    size_t n_colours;
    const int64_t *sizes;
    size_t n_sizes;
    const struct sheaf_span *blobs;
    size_t n_blobs;
    const struct sheaf_pair *labels;
    size_t n_labels;
    char ulid[27];
    const sheaf_item *extra;
};
SHEAF_SHAPE(part, STR(name) INT(weight, "w") EXTRA(rest));
SHEAF_ENTITY(gadget, "Gadget",
    STR(id) STR(text) STR(any) STR(chars) BYTES(bytes) INT(i8) INT(u8) INT(i32) INT(u64)
    INT(maybe_int) DOUBLE(ratio) DOUBLE(maybe_ratio) DECIMAL(price) BOOL(yes) BOOL(maybe_yes)
    ENUM(status, order_status_names) TIME(at) EPOCH(since) TIME(maybe_at) NEST(main, part)
    NEST(spare, part) LIST(parts, n_parts, part) STRS(tags, n_tags) STRSET(colours, n_colours)
    INTSET(sizes, n_sizes) BYTESET(blobs, n_blobs) MAP(labels, n_labels) ULID(ulid) EXTRA(extra));

struct bench_top {
    sheaf_db *db;
    sheaf_map *map;
    sheaf_error err;
};

static int open_gadgets(void **state)
{
    static struct bench_top s;
    static const sheaf_entity *const entities[] = {&gadget_entity, NULL};
    static const struct sheaf_table t = {
        .name = "gadgets", .partition_key = "id", .entities = entities};
    const char *url = getenv("SHEAF_TEST_URL");
    assert_ok(sheaf_open(url ? url : ":memory:", &(struct sheaf_options){.no_background = true},
                         &s.db, &s.err));
    must(&s, sheaf_map_open(s.db, &t, &s.map, &s.err));
    must(&s, sheaf_map_create(s.map, &s.err));
    *state = &s;
    return 0;
}

static int close_gadgets(void **state)
{
    struct bench_top *s = *state;
    sheaf_map_close(s->map);
    sheaf_close(s->db);
    return 0;
}

/* ---- comparing ---- */

static bool same_cstr(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_bytes(const void *a, size_t an, const void *b, size_t bn)
{
    return !a == !b && span_eq(SPAN(a, an), SPAN(b, bn));
}

static bool same_value(const sheaf_value *a, const sheaf_value *b)
{
    sheaf_str x = sheaf_value_str(a), y = sheaf_value_str(b);
    return a->type == b->type && span_eq(SPAN(x.p, x.n), SPAN(y.p, y.n));
}

static bool same_item(const sheaf_item *a, const sheaf_item *b)
{
    if (!a || !b) return sheaf_item_count(a) == sheaf_item_count(b);
    if (sheaf_item_count(a) != sheaf_item_count(b)) return false;
    for (size_t i = 0; i < sheaf_item_count(a); i++) {
        sheaf_attr x;
        sheaf_value y;
        assert_true(sheaf_item_at(a, i, &x));
        if (!sheaf_item_get(b, x.name, &y) || !same_value(&x.value, &y)) return false;
    }
    return true;
}

static bool same_part(const struct part *a, const struct part *b)
{
    if (!a || !b) return a == b;
    return same_cstr(a->name, b->name) && a->weight == b->weight && same_item(a->rest, b->rest);
}

/* Sets have no order. */
static bool same_set(const char *const *a, size_t an, const char *const *b, size_t bn)
{
    for (size_t i = 0; i < an; i++) {
        bool is_there = false;
        for (size_t k = 0; k < bn; k++) is_there |= strcmp(a[i], b[k]) == 0;
        if (!is_there) return false;
    }
    return an == bn;
}

#define SAME(cond)                                                                                 \
    if (!(cond)) fail_msg("differs: %s", #cond)
#define SAME_OPT(m) SAME(!a->m == !b->m && (!a->m || *a->m == *b->m))

static void assert_same(const struct gadget *a, const struct gadget *b)
{
    SAME(same_cstr(a->id, b->id));
    SAME(same_cstr(a->text, b->text));
    SAME(same_bytes(a->any.p, a->any.n, b->any.p, b->any.n));
    SAME(strcmp(a->chars, b->chars) == 0);
    SAME(same_bytes(a->bytes.p, a->bytes.n, b->bytes.p, b->bytes.n));
    SAME(a->i8 == b->i8 && a->u8 == b->u8 && a->i32 == b->i32 && a->u64 == b->u64);
    SAME_OPT(maybe_int);
    SAME(a->ratio == b->ratio);
    SAME_OPT(maybe_ratio);
    SAME(same_cstr(a->price, b->price));
    SAME(a->yes == b->yes && a->status == b->status);
    SAME_OPT(maybe_yes);
    SAME(a->at.us == b->at.us && a->since.us == b->since.us);
    SAME(!a->maybe_at == !b->maybe_at && (!a->maybe_at || a->maybe_at->us == b->maybe_at->us));
    SAME(same_part(&a->main, &b->main) && same_part(a->spare, b->spare));
    SAME(a->n_parts == b->n_parts && !a->parts == !b->parts);
    for (size_t i = 0; i < a->n_parts; i++) SAME(same_part(&a->parts[i], &b->parts[i]));
    SAME(a->n_tags == b->n_tags && !a->tags == !b->tags);
    for (size_t i = 0; i < a->n_tags; i++) SAME(same_cstr(a->tags[i], b->tags[i]));
    SAME(same_set(a->colours, a->n_colours, b->colours, b->n_colours));
    SAME(a->n_sizes == b->n_sizes && a->n_blobs == b->n_blobs && a->n_labels == b->n_labels);
    for (size_t i = 0; i < a->n_labels; i++)
        SAME(same_cstr(a->labels[i].name, b->labels[i].name) &&
             same_cstr(a->labels[i].value, b->labels[i].value));
    int64_t sum = 0;
    for (size_t i = 0; i < a->n_sizes; i++) sum += a->sizes[i] - b->sizes[i];
    SAME(sum == 0);
    for (size_t i = 0; i < a->n_blobs; i++) {
        bool is_there = false;
        for (size_t k = 0; k < b->n_blobs; k++) is_there |= span_eq(a->blobs[i], b->blobs[k]);
        SAME(is_there);
    }
    SAME(strcmp(a->ulid, b->ulid) == 0);
    SAME(same_item(a->extra, b->extra));
}

/* ---- random gadgets ---- */

struct maker {
    struct rng r;
    struct arena a;
};

static char *letters(struct maker *m, size_t most)
{
    size_t n = rng_below(&m->r, most + 1);
    char *p = (char *)arena_bytes(&m->a, n + 1);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++) p[i] = (char)(32 + rng_below(&m->r, 95));
    p[n] = '\0';
    return p;
}

static bool coin(struct maker *m) { return rng_below(&m->r, 2); }

static struct sheaf_span some_bytes(struct maker *m, size_t most)
{
    size_t n = rng_below(&m->r, most + 1);
    uint8_t *p = arena_bytes(&m->a, n + 1);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++) p[i] = (uint8_t)rng_u64(&m->r);
    return SPAN(p, n);
}

static double some_double(struct maker *m)
{
    switch (rng_below(&m->r, 4)) {
    case 0:
        return 0;
    case 1:
        return (double)(int64_t)rng_u64(&m->r);
    case 2:
        return (double)rng_below(&m->r, 100000) / 100;
    default:
        return ldexp((double)(int64_t)rng_u64(&m->r), (int)rng_below(&m->r, 600) - 400);
    }
}

static const sheaf_item *some_item(struct maker *m)
{
    if (coin(m)) return NULL;
    sheaf_attr *attrs = ARENA_ARRAY(&m->a, sheaf_attr, 2);
    sheaf_item *item = ARENA_NEW(&m->a, sheaf_item);
    assert_non_null(item);
    attrs[0] = (sheaf_attr){"unknown", sheaf_s(letters(m, 9))};
    attrs[1] = (sheaf_attr){"other", sheaf_n("12.5")};
    *item = (sheaf_item){attrs, 2, NULL};
    return item;
}

static struct part some_part(struct maker *m)
{
    return (struct part){coin(m) ? letters(m, 5) : NULL, (int16_t)rng_u64(&m->r), some_item(m)};
}

/* n texts that differ. */
static const char *const *texts(struct maker *m, size_t n)
{
    const char **p = ARENA_ARRAY(&m->a, const char *, n + 1);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++) {
        char *t = letters(m, 6);
        char *with = (char *)arena_bytes(&m->a, strlen(t) + 2);
        with[0] = (char)('a' + i);
        strcpy(with + 1, t);
        p[i] = with;
    }
    return p;
}

#define MAYBE(T, ...)                                                                              \
    (coin(m) ? memcpy(arena_alloc(&m->a, sizeof(T)), &(T){__VA_ARGS__}, sizeof(T)) : NULL)

static struct gadget some_gadget(struct maker *m)
{
    static const char *const prices[] = {"0", "-1.5", "12345678901234567890.123456789", "1E-130",
                                         NULL};
    struct gadget g = {.id = "g",
                       .text = coin(m) ? letters(m, 40) : NULL,
                       .i8 = (int8_t)rng_u64(&m->r),
                       .u8 = (uint8_t)rng_u64(&m->r),
                       .i32 = (int32_t)rng_u64(&m->r),
                       .u64 = rng_u64(&m->r),
                       .maybe_int = MAYBE(int64_t, (int64_t)rng_u64(&m->r)),
                       .ratio = some_double(m),
                       .maybe_ratio = MAYBE(double, some_double(m)),
                       .yes = coin(m),
                       .maybe_yes = MAYBE(bool, coin(m)),
                       .status = (enum order_status)rng_below(&m->r, 3),
                       .at = {(int64_t)(rng_u64(&m->r) >> 7)},
                       .since = {(int64_t)(rng_u64(&m->r) >> 36) * 1000000},
                       .maybe_at = MAYBE(sheaf_time, NOON),
                       .main = some_part(m),
                       .spare = MAYBE(struct part, .name = "spare"),
                       .extra = some_item(m)};
    if (coin(m)) {
        struct sheaf_span s = some_bytes(m, 20);
        char *p = memcpy(arena_bytes(&m->a, s.n + 1), s.p, s.n);
        for (size_t i = 0; i < s.n; i++) p[i] &= 0x7f; /* NULs and all, but UTF-8 */
        g.any = (sheaf_str){p, s.n};
    }
    if (coin(m)) g.bytes = some_bytes(m, 20);
    strcpy(g.chars, letters(m, 11));
    g.price = coin(m) ? NULL : prices[rng_below(&m->r, 4)];
    if (g.price && strcmp(g.price, "1E-130") == 0) g.price = "0.1";
    if (coin(m)) {
        struct part *p = ARENA_ARRAY(&m->a, struct part, 4);
        g.n_parts = rng_below(&m->r, 4);
        for (size_t i = 0; i < g.n_parts; i++) p[i] = some_part(m);
        g.parts = p;
    }
    if (coin(m)) g.n_tags = rng_below(&m->r, 4), g.tags = texts(m, g.n_tags);
    if (coin(m)) g.n_colours = 1 + rng_below(&m->r, 4), g.colours = texts(m, g.n_colours);
    if (coin(m)) {
        int64_t *p = ARENA_ARRAY(&m->a, int64_t, 4);
        g.n_sizes = 1 + rng_below(&m->r, 3);
        for (size_t i = 0; i < g.n_sizes; i++)
            p[i] = (int64_t)(rng_u64(&m->r) >> 4) * 4 + (int64_t)i;
        g.sizes = p;
    }
    if (coin(m)) {
        struct sheaf_span *p = ARENA_ARRAY(&m->a, struct sheaf_span, 2);
        p[0] = SPAN_LIT("x\0y");
        p[1] = SPAN_LIT("z");
        g.blobs = p;
        g.n_blobs = 2;
    }
    if (coin(m)) {
        struct sheaf_pair *p = ARENA_ARRAY(&m->a, struct sheaf_pair, 2);
        p[0] = (struct sheaf_pair){"colour", letters(m, 4)};
        p[1] = (struct sheaf_pair){"size", letters(m, 4)};
        g.labels = p;
        g.n_labels = rng_below(&m->r, 3);
    }
    if (coin(m)) sheaf_ulid(g.ulid, NOON);
    return g;
}

/* ---- tests ---- */

/* Through the map alone, through the database, and through sheaf_dup. */
static void test_struct_to_item_to_struct__is_the_identity(void **state)
{
    struct bench_top *s = *state;
    struct maker m;
    rng_init(&m.r, test_seed(4711));
    arena_init(&m.a, 1 << 24);
    for (uint64_t i = 0; i < test_rounds(3000); i++) {
        struct gadget g = some_gadget(&m);
        sheaf_item *item;
        sheaf_rows *rows;
        must(s, sheaf_item_of(s->map, gadget, &item, &s->err, &g));
        must(s, sheaf_rows_of(s->map, (const sheaf_item *const *)&item, 1, &rows, &s->err));
        sheaf_item_free(item);
        assert_same(&g, sheaf_rows_one(rows, gadget));
        struct gadget *kept = sheaf_dup(gadget, sheaf_rows_one(rows, gadget));
        sheaf_rows_free(rows);
        assert_same(&g, kept);
        if (i % 8 == 0) {
            if (!g.ulid[0]) sheaf_ulid(g.ulid, NOON);
            must(s, sheaf_put(s->map, gadget, &s->err, &g));
            must(s, sheaf_fetch(
                        s->map,
                        &(struct sheaf_fetch){.of = SHEAF_REF(gadget, .id = "g"), .error = &s->err},
                        &rows));
            assert_same(&g, sheaf_rows_one(rows, gadget));
            sheaf_rows_free(rows);
        }
        sheaf_dup_free(kept);
        arena_reset(&m.a);
    }
    arena_deinit(&m.a);
}

static void test_encode__names_what_it_cannot_store(void **state)
{
    struct bench_top *s = *state;
    static const char *const with_null[] = {"a", NULL};
    static const struct sheaf_pair bad_pair[] = {{"a", NULL}};
    static const struct {
        struct gadget g;
        const char *message;
    } rows[] = {
        {{.id = "1", .status = (enum order_status)7},
         "entity Gadget, field status, item \"1\": 7 has no name"},
        {{.id = "1", .ratio = NAN},
         "entity Gadget, field ratio, item \"1\": nan is not a number that an item can hold"},
        {{.id = "1", .ratio = 1e200},
         "entity Gadget, field ratio, item \"1\": 1e+200 is not a number that an item can hold"},
        {{.id = "1", .at = {INT64_MAX}},
         "entity Gadget, field at, item \"1\": the time is not in the years 0 to 9999"},
        {{.id = "1", .n_tags = 3},
         "entity Gadget, field tags, item \"1\": the count is 3, the pointer NULL"},
        {{.id = "1", .tags = with_null, .n_tags = 2},
         "entity Gadget, field tags, item \"1\": text 1 is NULL"},
        {{.id = "1", .labels = bad_pair, .n_labels = 1},
         "entity Gadget, field labels, item \"1\": the name or the value of pair 0 is NULL"},
        {{.text = "no id"}, "entity Gadget, key id: field id has no value"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct gadget g = rows[i].g;
        refused(s, sheaf_put(s->map, gadget, &s->err, &g), rows[i].message);
    }
}

static void test_decode__names_what_does_not_fit(void **state)
{
    struct bench_top *s = *state;
    const struct {
        const char *attr;
        sheaf_value value;
        const char *message;
    } rows[] = {
        {"text", sheaf_n("1"), "field text, item \"1\": attribute \"text\" is of type N, not S"},
        {"text", sheaf_sn("a\0b", 3),
         "field text, item \"1\": the text holds a NUL byte: map it as sheaf_str"},
        {"chars", sheaf_s("twelve bytes"),
         "field chars, item \"1\": a text of 12 bytes does not fit into char[12]"},
        {"i8", sheaf_int(128), "field i8, item \"1\": 128 is not an integer of 1 bytes"},
        {"i8", sheaf_int(-129), "field i8, item \"1\": -129 is not an integer of 1 bytes"},
        {"u8", sheaf_int(-1), "field u8, item \"1\": -1 is not an unsigned integer of 1 bytes"},
        {"i32", sheaf_n("1.5"), "field i32, item \"1\": 1.5 is not an integer of 4 bytes"},
        {"u64", sheaf_n("18446744073709551616"),
         "field u64, item \"1\": 18446744073709551616 is not an unsigned integer of 8 bytes"},
        {"yes", sheaf_s("true"), "field yes, item \"1\": attribute \"yes\" is of type S, not BOOL"},
        {"status", sheaf_s("LOST"), "field status, item \"1\": \"LOST\" is not one of its names"},
        {"at", sheaf_s("yesterday"), "field at, item \"1\": \"yesterday\" is no ISO-8601 time"},
        {"since", sheaf_n("1.5"),
         "field since, item \"1\": the number is not a time in whole seconds"},
        {"main", sheaf_m(SHEAF_ITEM({"w", sheaf_s("x")})),
         "field main.weight, item \"1\": attribute \"w\" is of type S, not N"},
        {"parts",
         sheaf_l(SHEAF_LIST(sheaf_m(SHEAF_ITEM({"w", sheaf_int(1)})),
                            sheaf_m(SHEAF_ITEM({"w", sheaf_int(70000)})))),
         "field parts[1].weight, item \"1\": 70000 is not an integer of 2 bytes"},
        {"parts", sheaf_l(SHEAF_LIST(sheaf_s("x"))),
         "field parts, item \"1\": attribute \"parts\" is of type S, not M"},
        {"colours", sheaf_l(SHEAF_LIST(sheaf_s("x"))),
         "field colours, item \"1\": attribute \"colours\" is of type L, not SS"},
        {"sizes", sheaf_ns(SHEAF_LIST(sheaf_n("0.5"))),
         "field sizes, item \"1\": a number is not an integer of 8 bytes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char want[300];
        sheaf_rows *out;
        const sheaf_item *item = SHEAF_ITEM({"id", sheaf_s("1")}, {"Type", sheaf_s("Gadget")},
                                            {rows[i].attr, rows[i].value});
        snprintf(want, sizeof want, "entity Gadget, %s", rows[i].message);
        refused(s, sheaf_rows_of(s->map, &item, 1, &out, &s->err), want);
        assert_null(out);
    }
}

static void test_decode__takes_what_is_absent_or_null_for_nothing(void **state)
{
    struct bench_top *s = *state;
    sheaf_rows *rows;
    const sheaf_item *item = SHEAF_ITEM({"id", sheaf_s("1")}, {"Type", sheaf_s("Gadget")},
                                        {"text", sheaf_null()}, {"maybe_int", sheaf_null()});
    must(s, sheaf_rows_of(s->map, &item, 1, &rows, &s->err));
    assert_same(sheaf_rows_one(rows, gadget), &(struct gadget){.id = "1"});
    sheaf_rows_free(rows);
}

static void test_dup__gives_nothing_when_memory_is_out(void **state)
{
    (void)state;
    struct gadget g = {.id = "1", .text = "x", .extra = SHEAF_ITEM({"a", sheaf_s("b")})};
    for (uint64_t n = 1;; n++) {
        mem_fail_at(n, false);
        struct gadget *copy = sheaf_dup(gadget, &g);
        mem_fail_at(0, false);
        if (!copy) continue;
        assert_same(&g, copy);
        assert_ptr_not_equal(copy->extra, g.extra);
        sheaf_dup_free(copy);
        assert_true(n > 2);
        return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_struct_to_item_to_struct__is_the_identity),
        cmocka_unit_test(test_encode__names_what_it_cannot_store),
        cmocka_unit_test(test_decode__names_what_does_not_fit),
        cmocka_unit_test(test_decode__takes_what_is_absent_or_null_for_nothing),
        cmocka_unit_test(test_dup__gives_nothing_when_memory_is_out),
    };
    return cmocka_run_group_tests(tests, open_gadgets, close_gadgets);
}
