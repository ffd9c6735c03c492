/* Creating the table of a map, and saying what differs from one that is there. */
#include "shop.h"

static void test_create__makes_the_table_with_all_it_needs(void **state)
{
    struct shop *s = *state;
    sheaf_result *result;
    must(s, sheaf_describe_table(
                s->db, &(struct sheaf_table_name){.table = "shop", .error = &s->err}, &result));
    const struct sheaf_table_description *t = sheaf_result_table(result);
    assert_string_equal(t->partition_key.name, "PK");
    assert_string_equal(t->sort_key.name, "SK");
    assert_int_equal(t->n_indexes, 2);
    sheaf_result_free(result);
    must(s, sheaf_describe_time_to_live(
                s->db, &(struct sheaf_table_name){.table = "shop", .error = &s->err}, &result));
    assert_string_equal(sheaf_result_table(result)->ttl_attribute, "expires_at");
    sheaf_result_free(result);
}

static void test_create__is_fine_with_a_table_that_fits(void **state)
{
    struct shop *s = *state;
    must(s, sheaf_map_create(s->map, &s->err));
    must(s, sheaf_map_check(s->map, NULL, NULL, &s->err));
}

struct heard {
    char text[10][200];
    int n, stop_at;
};

static bool hear(void *ctx, const char *what)
{
    struct heard *h = ctx;
    snprintf(h->text[h->n++], 200, "%s", what);
    return h->n != h->stop_at;
}

static void test_check__lists_every_difference(void **state)
{
    struct shop *s = *state;
    sheaf_db *db;
    sheaf_map *map;
    static const struct sheaf_index wrong[] = {{.name = "GSI1",
                                                .partition_key = {{"GSI1PK", SHEAF_S, {0}}},
                                                .sort_key = {{"GSI1SK", SHEAF_N, {0}}},
                                                .projection = SHEAF_PROJECT_KEYS_ONLY}};
    struct sheaf_table t = shop_table(s);
    t.stream = SHEAF_STREAM_NEW_IMAGE;
    must(s, sheaf_open(":memory:", &(struct sheaf_options){.no_background = true}, &db, &s->err));
    must(s, sheaf_create_table(db,
                               &(struct sheaf_create_table){.table = "shop",
                                                            .partition_key = {"PK", SHEAF_S, {0}},
                                                            .sort_key = {"Sort", SHEAF_S, {0}},
                                                            .global_indexes = wrong,
                                                            .n_global_indexes = 1,
                                                            .error = &s->err},
                               NULL));
    must(s, sheaf_map_open(db, &t, &map, &s->err));
    static const char *const want[] = {"table: the sort key is Sort, not SK",
                                       "index GSI1: GSI1SK is of type N, not S",
                                       "index GSI1: the projection is KEYS_ONLY, not ALL",
                                       "index GSI2 is not there",
                                       "the stream is off, not NEW_IMAGE",
                                       "time to live is off, not expires_at"};
    struct heard h = {.n = 0};
    assert_rc(sheaf_map_check(map, hear, &h, &s->err), SHEAF_VALIDATION);
    assert_int_equal(h.n, COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++) assert_string_equal(h.text[i], want[i]);
    refused(s, sheaf_map_create(map, &s->err),
            "table shop differs: table: the sort key is Sort, not SK; index GSI1: GSI1SK is of "
            "type N, not S; index GSI1: the projection is KEYS_ONLY, not ALL; "
            "index GSI2 is not there; the stream is off, not NEW_IMAGE; time to live is off, not "
            "expires_at");
    h = (struct heard){.stop_at = 2};
    assert_rc(sheaf_map_check(map, hear, &h, &s->err), SHEAF_VALIDATION);
    assert_int_equal(h.n, 2);
    sheaf_map_close(map);
    sheaf_close(db);
}

static void test_check__of_no_table_says_so(void **state)
{
    struct shop *s = *state;
    struct sheaf_table t = shop_table(s);
    sheaf_map *map;
    t.name = "nothing";
    must(s, sheaf_map_open(s->db, &t, &map, &s->err));
    assert_rc(sheaf_map_check(map, NULL, NULL, &s->err), SHEAF_RESOURCE_NOT_FOUND);
    sheaf_map_close(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_TEST(test_create__makes_the_table_with_all_it_needs),
        SHOP_TEST(test_create__is_fine_with_a_table_that_fits),
        SHOP_TEST(test_check__lists_every_difference),
        SHOP_TEST(test_check__of_no_table_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
