/* api: the calls on tables, with what a C program can get wrong in their requests. */
#include "db.h"

#define ONE "1 validation error detected: Value '"
#define SET "' failed to satisfy constraint: Member must satisfy enum value set: "
/* The sets as AWS lists them; with a number in place of a name every row is unverified. */
#define VIEWS SET "[NEW_IMAGE, OLD_IMAGE, NEW_AND_OLD_IMAGES, KEYS_ONLY]"
#define SWITCH SET "[true, false]"

static void refuse_create(struct scene *s, struct sheaf_create_table q, const char *message)
{
    sheaf_result *r = (sheaf_result *)s;
    q.table = "new";
    if (!q.partition_key.name) q.partition_key = (struct sheaf_key){"p", SHEAF_S, {0}};
    q.error = &s->err;
    assert_refused(s, sheaf_create_table(s->db, &q, &r), message);
    assert_null(r);
    assert_rc(sheaf_describe_table(
                  s->db, &(struct sheaf_table_name){.table = "new", .error = &s->err}, NULL),
              SHEAF_RESOURCE_NOT_FOUND);
}

static void test_create__refuses_enums_out_of_range(void **state)
{
    struct scene *s = *state;
    struct sheaf_index x = {.name = "gsi",
                            .partition_key = {{"g", SHEAF_S, {0}}},
                            .projection = (enum sheaf_projection_type)9};
    refuse_create(s, (struct sheaf_create_table){.stream = (enum sheaf_stream_view)77},
                  ONE "77' at 'streamSpecification.streamViewType" VIEWS);
    refuse_create(s, (struct sheaf_create_table){.global_indexes = &x, .n_global_indexes = 1},
                  ONE "9' at 'globalSecondaryIndexes.1.member.projection.projectionType" SET
                      "[ALL, INCLUDE, KEYS_ONLY]");
    refuse_create(s, (struct sheaf_create_table){.billing_mode = (enum sheaf_billing_mode)4},
                  ONE "4' at 'billingMode" SET "[PROVISIONED, PAY_PER_REQUEST]");
    refuse_create(s, (struct sheaf_create_table){.partition_key = {"p", (sheaf_type)99, {0}}},
                  ONE "99' at 'attributeDefinitions.1.member.attributeType" SET "[B, N, S]");
    refuse_create(s, (struct sheaf_create_table){.sort_key = {"s", (sheaf_type)-1, {0}}},
                  ONE "4294967295' at 'attributeDefinitions.2.member.attributeType" SET
                      "[B, N, S]");
    printf("CreateTable enums: 5 rows, 5 unverified\n");
}

static void test_update__refuses_enums_out_of_range(void **state)
{
    struct scene *s = *state;
    const struct {
        struct sheaf_update_table q;
        const char *message;
    } rows[] = {
        {{.stream = (enum sheaf_switch)5}, ONE "5' at 'streamSpecification.streamEnabled" SWITCH},
        {{.stream = SHEAF_ON, .stream_view = (enum sheaf_stream_view)9},
         ONE "9' at 'streamSpecification.streamViewType" VIEWS},
        {{.deletion_protection = (enum sheaf_switch)3},
         ONE "3' at 'deletionProtectionEnabled" SWITCH},
        {{.pay_per_request = (enum sheaf_switch)3},
         ONE "3' at 'billingMode" SET "[PROVISIONED, PAY_PER_REQUEST]"},
        {{.infrequent_access = (enum sheaf_switch)3},
         ONE "3' at 'tableClass" SET "[STANDARD, STANDARD_INFREQUENT_ACCESS]"},
        {{.create_index = &(struct sheaf_index){.name = "gsi",
                                                .partition_key = {{"g", SHEAF_S, {0}}},
                                                .projection = (enum sheaf_projection_type)3}},
         ONE "3' at 'globalSecondaryIndexUpdates.1.member.create.projection.projectionType" SET
             "[ALL, INCLUDE, KEYS_ONLY]"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sheaf_update_table q = rows[i].q;
        q.table = "tab";
        q.error = &s->err;
        assert_refused(s, sheaf_update_table(s->db, &q, NULL), rows[i].message);
    }
    printf("UpdateTable enums: %zu rows, %zu unverified\n", COUNT(rows), COUNT(rows));
}

static void test_describe__hands_out_its_indexes_one_by_one(void **state)
{
    struct scene *s = *state;
    struct sheaf_index x[2] = {{.name = "one", .partition_key = {{"g", SHEAF_S, {0}}}},
                               {.name = "two", .partition_key = {{"h", SHEAF_N, {0}}}}};
    struct sheaf_create_table q = {.table = "new",
                                   .partition_key = {"p", SHEAF_S, {0}},
                                   .global_indexes = x,
                                   .n_global_indexes = 2,
                                   .error = &s->err};
    sheaf_result *r;
    assert_ok(sheaf_create_table(s->db, &q, &r));
    assert_true(sheaf_result_is_complete(r));
    const struct sheaf_table_description *d = sheaf_result_table(r);
    assert_int_equal(d->n_indexes, 2);
    assert_string_equal(sheaf_table_index(d, 0)->name, "one");
    assert_string_equal(sheaf_table_index(d, 1)->name, "two");
    assert_null(sheaf_table_index(d, 2));
    assert_null(sheaf_table_index(NULL, 0));
    sheaf_result_free(r);
}

/* "tab" with time to live, on a handle of its own whose next DescribeTimeToLive fails. */
static void test_describe_time_to_live__is_an_operation_of_its_own(void **state)
{
    (void)state;
    struct sheaf_fault fault = {
        .operation = "DescribeTimeToLive", .rc = SHEAF_INTERNAL, .nth = 1, .every = 0};
    struct sheaf_options o = {.no_background = true, .faults = &fault, .n_faults = 1};
    struct scene s;
    sheaf_result *r;
    struct sheaf_table_name tab = {.table = "tab", .error = &s.err};
    assert_ok(sheaf_open(":memory:", &o, &s.db, &s.err));
    assert_ok(sheaf_create_table(s.db,
                                 &(struct sheaf_create_table){.table = "tab",
                                                              .partition_key = {"p", SHEAF_S, {0}},
                                                              .error = &s.err},
                                 NULL));
    assert_ok(sheaf_describe_table(s.db, &tab, NULL)); /* not what the schedule counts */
    assert_rc(sheaf_describe_time_to_live(s.db, &tab, NULL), SHEAF_INTERNAL);
    assert_ok(sheaf_describe_time_to_live(s.db, &tab, &r));
    assert_string_equal(sheaf_result_table(r)->name, "tab");
    assert_null(sheaf_result_table(r)->ttl_attribute);
    sheaf_result_free(r);
    assert_ok(sheaf_update_time_to_live(
        s.db,
        &(struct sheaf_update_time_to_live){
            .table = "tab", .attribute = "expires", .enabled = true, .error = &s.err},
        NULL));
    assert_ok(sheaf_describe_time_to_live(s.db, &tab, &r));
    assert_string_equal(sheaf_result_table(r)->ttl_attribute, "expires");
    assert_null(sheaf_result_table(r)->status); /* DescribeTable says the rest */
    sheaf_result_free(r);
    sheaf_close(s.db);
}

int main(void)
{
#define SCENE(f) cmocka_unit_test_setup_teardown(f, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        SCENE(test_create__refuses_enums_out_of_range),
        SCENE(test_update__refuses_enums_out_of_range),
        SCENE(test_describe__hands_out_its_indexes_one_by_one),
        cmocka_unit_test(test_describe_time_to_live__is_an_operation_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
