/* Templates: what they refuse, what they make, and that they run both ways. */
#include "shop.h"

#include "base/rng.h"

struct thing {
    const char *a, *b;
    char c[8];
    int32_t n;
    uint64_t big;
    sheaf_time t;
    const sheaf_time *maybe;
    double d;
    bool yes;
    int64_t version;
    sheaf_time updated;
};

/* One template as the sort key of struct thing. */
static const char *sk_template;
static const sheaf_field *thing_fields(size_t *n_out);
SHEAF_ENTITY(thing, "Thing",
    KEY(PK, "T#{a}") KEY(SK, "x")
    STR(a) STR(b) STR(c) INT(n) INT(big) TIME(t) TIME(maybe) DOUBLE(d) BOOL(yes) VERSION(version)
    UPDATED(updated));
static const sheaf_entity thing_with = {
    {"thing", sizeof(struct thing), thing_fields, sizeof(sheaf_field)}, "Thing"};
static const sheaf_field *thing_fields(size_t *n_out)
{
    static sheaf_field copy[20];
    const sheaf_field *fields = thing_entity.shape.fields(n_out);
    memcpy(copy, fields, *n_out * sizeof *fields);
    copy[1].member = sk_template;
    return copy;
}

static sheaf_rc open_thing(sheaf_db *db, const char *text, sheaf_map **map, sheaf_error *err)
{
    static const sheaf_entity *const entities[] = {&thing_with, NULL};
    struct sheaf_table t = {
        .name = "things", .partition_key = "PK", .sort_key = "SK", .entities = entities};
    sk_template = text;
    return sheaf_map_open(db, &t, map, err);
}

static sheaf_db *memory(void)
{
    sheaf_db *db;
    assert_ok(sheaf_open(":memory:", &(struct sheaf_options){.no_background = true}, &db, NULL));
    return db;
}

static void test_template__is_checked_when_the_map_is_opened(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"ORDER#{order}", "names {order}, which is not a field of struct thing"},
        {"{d}", "names a field of a kind that no key can hold: d"},
        {"{a", "has a { without its }"},
        {"a}", "has a } without its {"},
        {"", "is empty"},
        {"{a}{b}", "lets one value forge another's key: put a # behind {a}"},
        {"{a}-{b}", "lets one value forge another's key: put a # behind {a}"},
        {"{n}0", "lets one value forge another's key: put a # behind {n}"},
        {"{yes}x", "lets one value forge another's key: put a # behind {yes}"},
        {"{a:08}", "has an unknown format (a width like :08, for numbers only): 08"},
        {"{n:8}", "has an unknown format (a width like :08, for numbers only): 8"},
        {"{n:021}", "has an unknown format (a width like :08, for numbers only): 021"},
        {"{t:mm}", "has an unknown time format (yyyy, yyyy-mm, yyyy-mm-dd, yyyy-mm-ddThh): mm"},
        {"{version}", "is the table's key and names a field that every write changes: version"},
        {"{updated}", "is the table's key and names a field that every write changes: updated"},
    };
    sheaf_db *db = memory();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        sheaf_map *map;
        sheaf_error err;
        char want[300];
        snprintf(want, sizeof want, "entity Thing, key SK: template \"%s\" %s", rows[i].text,
                 rows[i].message);
        assert_rc(open_thing(db, rows[i].text, &map, &err), SHEAF_VALIDATION);
        assert_null(map);
        assert_string_equal(err.message, want);
    }
    sheaf_close(db);
}

static void test_template__makes_keys(void **state)
{
    static const sheaf_time maybe = {NOON};
    static const struct {
        const char *text;
        struct thing thing;
        const char *key;
    } rows[] = {
        {"plain", {.a = "1"}, "plain"},
        {"{b}", {.a = "1", .b = "x"}, "x"},
        {"A#{b}#B", {.a = "1", .b = "x"}, "A#x#B"},
        {"A#{b}", {.a = "1", .b = "x#y%z%23"}, "A#x%23y%25z%2523"},
        {"{c}", {.a = "1", .c = "seven77"}, "seven77"},
        {"{n}#{b}", {.a = "1", .b = "x", .n = -12}, "-12#x"},
        {"{n:08}", {.a = "1", .n = 42}, "00000042"},
        {"{big:020}", {.a = "1", .big = UINT64_MAX}, "18446744073709551615"},
        {"{t}", {.a = "1", .t = {NOON + 1}}, "2020-11-25T12:00:00.000001Z"},
        {"{t:yyyy}{b}", {.a = "1", .b = "x", .t = {NOON}}, "2020x"},
        {"{t:yyyy-mm}", {.a = "1", .t = {NOON}}, "2020-11"},
        {"{t:yyyy-mm-dd}", {.a = "1", .t = {NOON}}, "2020-11-25"},
        {"{t:yyyy-mm-ddThh}", {.a = "1", .t = {NOON}}, "2020-11-25T12"},
        {"{maybe:yyyy-mm}", {.a = "1", .maybe = &maybe}, "2020-11"},
        {"{t}", {.a = "1"}, "1970-01-01T00:00:00.000000Z"},
        {"{t}", {.a = "1", .t = {-1}}, "1969-12-31T23:59:59.999999Z"},
        {"{yes}", {.a = "1", .yes = true}, "true"},
    };
    sheaf_db *db = memory();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        sheaf_map *map;
        sheaf_error err;
        sheaf_item *item;
        assert_ok(open_thing(db, rows[i].text, &map, &err));
        assert_ok(sheaf_entity_item_(map, &thing_with, &rows[i].thing, &item, &err));
        assert_string_equal(sheaf_item_s(item, "SK"), rows[i].key);
        assert_string_equal(sheaf_item_s(item, "PK"), "T#1");
        sheaf_item_free(item);
        sheaf_map_close(map);
    }
    sheaf_close(db);
}

static void test_template__a_value_that_makes_no_key_is_named(void **state)
{
    static const struct {
        const char *text;
        struct thing thing;
        const char *message;
    } rows[] = {
        {"B#{b}", {.a = "1"}, "entity Thing, key SK: field b has no value for template B#{b}"},
        {"B#{b}",
         {.a = "1", .b = ""},
         "entity Thing, key SK: field b has no value for template B#{b}"},
        {"{maybe}",
         {.a = "1"},
         "entity Thing, key SK: field maybe has no value for template {maybe}"},
        {"{n:03}",
         {.a = "1", .n = 1000},
         "entity Thing, field n, item \"T#1\" / (none): 1000 has more than 3 digits"},
        {"{n:03}",
         {.a = "1", .n = -1},
         "entity Thing, field n, item \"T#1\" / (none): -1 is negative and cannot be zero padded"},
        {"{t}",
         {.a = "1", .t = {INT64_MAX}},
         "entity Thing, field t, item \"T#1\" / (none): the time is not in the years 0 to 9999"},
    };
    sheaf_db *db = memory();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        sheaf_map *map;
        sheaf_error err;
        sheaf_item *item;
        assert_ok(open_thing(db, rows[i].text, &map, &err));
        assert_rc(sheaf_entity_item_(map, &thing_with, &rows[i].thing, &item, &err),
                  SHEAF_VALIDATION);
        assert_string_equal(err.message, rows[i].message);
        sheaf_map_close(map);
    }
    sheaf_close(db);
}

static char *random_text(struct rng *r, char *to)
{
    static const char letters[] = "#%23 5ab\xC3\xA4";
    size_t n = 1 + rng_below(r, 6);
    for (size_t i = 0; i < n; i++) to[i] = letters[rng_below(r, 8)];
    to[n] = '\0';
    return to;
}

/* Two different structs never make the same key, and a key tells its fields. */
static void test_template__runs_both_ways_and_nothing_is_forged(void **state)
{
    static const char *const templates[] = {"X#{b}#{a}", "{n}#{b}#Y{n:05}{a}", "{b}#LINE#{t}{a}"};
    struct rng r;
    sheaf_db *db = memory();
    (void)state;
    rng_init(&r, test_seed(20201125));
    for (size_t k = 0; k < COUNT(templates); k++) {
        sheaf_map *map;
        assert_ok(open_thing(db, templates[k], &map, NULL));
        for (uint64_t i = 0; i < test_rounds(2000); i++) {
            char text[4][8];
            struct thing x = {.a = random_text(&r, text[0]),
                              .b = random_text(&r, text[1]),
                              .n = (int32_t)rng_below(&r, 100),
                              .t = {(int64_t)rng_below(&r, NOON)}};
            struct thing y = x;
            if (rng_below(&r, 2)) y.a = random_text(&r, text[2]);
            if (rng_below(&r, 2)) y.b = random_text(&r, text[3]);
            sheaf_item *xi, *yi;
            sheaf_rows *rows;
            assert_ok(sheaf_entity_item_(map, &thing_with, &x, &xi, NULL));
            assert_ok(sheaf_entity_item_(map, &thing_with, &y, &yi, NULL));
            bool is_same = strcmp(x.a, y.a) == 0 && strcmp(x.b, y.b) == 0;
            assert_int_equal(strcmp(sheaf_item_s(xi, "SK"), sheaf_item_s(yi, "SK")) == 0, is_same);
            /* only the keys: the fields come from them, and so does the entity */
            const sheaf_item *keys = SHEAF_ITEM({"PK", sheaf_s(sheaf_item_s(xi, "PK"))},
                                                {"SK", sheaf_s(sheaf_item_s(xi, "SK"))});
            assert_ok(sheaf_rows_of(map, &keys, 1, &rows, NULL));
            const struct thing *back = sheaf_rows_next_(rows, &thing_with, NULL);
            assert_non_null(back);
            assert_string_equal(back->a, x.a);
            assert_string_equal(back->b, x.b);
            if (k == 1) assert_int_equal(back->n, x.n);
            if (k == 2) assert_int_equal(back->t.us, x.t.us);
            sheaf_rows_free(rows);
            sheaf_item_free(xi);
            sheaf_item_free(yi);
        }
        sheaf_map_close(map);
    }
    sheaf_close(db);
}

static void test_times__are_read_in_every_usual_form(void **state)
{
    static const struct {
        const char *text;
        int64_t us; /* INT64_MIN: refused */
    } rows[] = {
        {"2020-11-25T12:00:00.000000Z", NOON},
        {"2020-11-25T12:00:00Z", NOON},
        {"2020-11-25T12:00:00.5Z", NOON + 500000},
        {"2020-11-25T12:00:00.123456789Z", NOON + 123456},
        {"2020-11-25T14:30:00+02:30", NOON},
        {"2020-11-25T07:00:00-05:00", NOON},
        {"2020-11-25", NOON - INT64_C(43200000000)},
        {"2000-02-29", INT64_C(951782400000000)},
        {"0000-01-01", INT64_C(-62167219200000000)},
        {"9999-12-31T23:59:59.999999Z", INT64_C(253402300799999999)},
        {"1900-02-29", INT64_MIN},
        {"2020-13-01", INT64_MIN},
        {"2020-11-25T24:00:00Z", INT64_MIN},
        {"2020-11-25T12:00:00", INT64_MIN},
        {"2020-11-25T12:00:00.Z", INT64_MIN},
        {"2020-11-25T12:00:00Zx", INT64_MIN},
        {"20-11-25", INT64_MIN},
        {"", INT64_MIN},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t us;
        bool is_ok = map_time_parse(span_cstr(rows[i].text), &us);
        assert_int_equal(is_ok, rows[i].us != INT64_MIN);
        if (is_ok) assert_int_equal(us, rows[i].us);
    }
}

static void test_times__format_and_parse_are_inverse(void **state)
{
    struct rng r;
    (void)state;
    rng_init(&r, test_seed(7));
    for (uint64_t i = 0; i < test_rounds(20000); i++) {
        int64_t us = (int64_t)(rng_u64(&r) % UINT64_C(315569519999999999)) -
                     INT64_C(62167219200000000),
                back;
        char text[MAP_TIME_TEXT];
        assert_true(map_time_format(us, text));
        assert_true(map_time_parse(SPAN(text, sizeof text), &back));
        assert_int_equal(us, back);
    }
}

/* Vectors of the reference implementation: key 00..0f, text 00..n-1. */
static void test_siphash__is_the_published_one(void **state)
{
    static const struct {
        size_t n;
        const char *hex;
    } rows[] = {{0, "A3 81 7F 04 BA 25 A8 E6 6D F6 72 14 C7 55 02 93"},
                {1, "DA 87 C1 D8 6B 99 AF 44 34 76 59 11 9B 22 FC 45"}};
    uint8_t key[16], text[16], want[16], got[16];
    (void)state;
    for (uint8_t i = 0; i < 16; i++) key[i] = text[i] = i;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(test_hex(rows[i].hex, want, sizeof want), 16);
        siphash128(key, SPAN(text, rows[i].n), got);
        assert_memory_equal(got, want, 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_template__is_checked_when_the_map_is_opened),
        cmocka_unit_test(test_template__makes_keys),
        cmocka_unit_test(test_template__a_value_that_makes_no_key_is_named),
        cmocka_unit_test(test_template__runs_both_ways_and_nothing_is_forged),
        cmocka_unit_test(test_times__are_read_in_every_usual_form),
        cmocka_unit_test(test_times__format_and_parse_are_inverse),
        cmocka_unit_test(test_siphash__is_the_published_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
