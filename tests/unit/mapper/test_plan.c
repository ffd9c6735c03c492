/* What sheaf_map_open says about entities that do not fit their table. */
#include "shop.h"

struct pair_of {
    const char *id, *a, *b;
    int64_t n, m;
    sheaf_time t, u;
};
struct inner {
    int64_t v;
};
struct outer {
    const char *id;
    struct inner in;
};
SHEAF_SHAPE(inner, VERSION(v));
SHEAF_ENTITY(outer, "Outer", STR(id) NEST(in, inner));
SHEAF_ENTITY(pair_of, "Two", STR(id) STR(a) STR(b, "a"));
#define NAMED(name_, ...)                                                                          \
    static const sheaf_field *name_##_list(size_t *n_out)                                          \
    {                                                                                              \
        static const sheaf_field f[] = {__VA_ARGS__};                                              \
        *n_out = sizeof f / sizeof *f;                                                             \
        return f;                                                                                  \
    }                                                                                              \
    static const sheaf_entity name_ = {                                                            \
        {"pair_of", sizeof(struct pair_of), name_##_list, sizeof(sheaf_field)}, #name_}
#define FIELD(kind_, rep_, m)                                                                      \
    {                                                                                              \
        "", #m, SHEAF_IS_##kind_, SHEAF_REP_##rep_, offsetof(struct pair_of, m), 8, 0, 0, NULL, 0  \
    }
#define KEY_OF(attr_, text)                                                                        \
    {                                                                                              \
        attr_, text, SHEAF_IS_KEY, 0, 0, 0, 0, 0, NULL, 0                                          \
    }

NAMED(foreign_key, FIELD(STR, CSTR, id), KEY_OF("GSI9PK", "{id}"));
NAMED(no_key, FIELD(STR, CSTR, a));
NAMED(number_key, FIELD(INT, INT, n),
      {"id", "m", SHEAF_IS_INT, SHEAF_REP_INT, 0, 8, 0, 0, NULL, 0});
NAMED(two_versions, FIELD(STR, CSTR, id), FIELD(VERSION, INT, n), FIELD(VERSION, INT, m));
NAMED(ttl_one, FIELD(STR, CSTR, id), FIELD(TTL, TIME, t));
NAMED(ttl_two, FIELD(STR, CSTR, id), FIELD(TTL, TIME, u));
NAMED(hides_type, FIELD(STR, CSTR, id),
      {"Type", "a", SHEAF_IS_STR, SHEAF_REP_CSTR, 8, 8, 0, 0, NULL, 0});
static const sheaf_entity older = {{"pair_of", sizeof(struct pair_of), ttl_one_list, 40}, "Older"};
static const sheaf_entity unnamed = {
    {"pair_of", sizeof(struct pair_of), ttl_one_list, sizeof(sheaf_field)}, ""};

static void test_map_open__says_what_does_not_fit(void **state)
{
    static const struct {
        const sheaf_entity *entities[3];
        const char *message;
    } rows[] = {
        {{NULL}, "table t has no entities"},
        {{&foreign_key}, "entity foreign_key: KEY(GSI9PK) is no key of table t or its indexes"},
        {{&no_key}, "entity no_key: nothing makes id, a key of table t: add KEY(id, \"…\")"},
        {{&number_key}, "entity number_key, field m: id is a key of table t and must be a string"},
        {{&two_versions}, "entity two_versions: n and m are of a kind that it has once"},
        {{&ttl_one, &ttl_two},
         "entity ttl_two: TTL is stored as u, that of another entity as t; a table has one"},
        {{&ttl_one, &ttl_one}, "table t: two entities have the type \"ttl_one\""},
        {{&pair_of_entity}, "struct pair_of: two things are stored as attribute \"a\""},
        {{&hides_type}, "struct pair_of: two things are stored as attribute \"Type\""},
        {{&outer_entity},
         "struct inner: v is of a kind for entities, not for the structs nested in them"},
        {{&older}, "struct pair_of was compiled with another <sheaf/fields.h>"},
        {{&unnamed}, "struct pair_of: an entity's type is not empty"},
    };
    struct shop *s = *state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        sheaf_map *map;
        struct sheaf_table t = {.name = "t", .partition_key = "id", .entities = rows[i].entities};
        refused(s, sheaf_map_open(s->db, &t, &map, &s->err), rows[i].message);
        assert_null(map);
    }
}

static void test_map_open__takes_a_table_of_an_older_or_later_program(void **state)
{
    struct shop *s = *state;
    struct {
        struct sheaf_table table;
        const char *later;
    } t = {shop_table(s), NULL};
    sheaf_map *map;
    must(s, sheaf_map_open_sized(s->db, &t.table, sizeof t, &map, &s->err));
    sheaf_map_close(map);
    t.later = "x";
    assert_rc(sheaf_map_open_sized(s->db, &t.table, sizeof t, &map, &s->err), SHEAF_VALIDATION);
    must(s, sheaf_map_open_sized(s->db, &t.table, offsetof(struct sheaf_table, token_secret), &map,
                                 &s->err));
    sheaf_map_close(map);
}

static void test_a_call_with_an_entity_of_another_table__is_refused(void **state)
{
    struct shop *s = *state;
    struct outer o = {.id = "1"};
    refused(s, sheaf_put(s->map, outer, &s->err, &o), "entity Outer is not one of table shop");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_open__says_what_does_not_fit),
        cmocka_unit_test(test_map_open__takes_a_table_of_an_older_or_later_program),
        cmocka_unit_test(test_a_call_with_an_entity_of_another_table__is_refused),
    };
    return cmocka_run_group_tests(tests, open_shop, close_shop);
}
