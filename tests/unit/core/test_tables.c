/* core: CreateTable, DescribeTable, ListTables, DeleteTable. */
#include "support/support.h"

#include "core/tables.h"

/* ---- a database per test ---- */

struct db {
    struct core *core;
    struct arena arena;
    sheaf_error err;
    struct ctx c;
    struct clock_manual clock;
};

static int open_db(void **state)
{
    struct db *db = calloc(1, sizeof *db);
    sheaf_engine *e;
    arena_init(&db->arena, 64 << 20);
    db->c = (struct ctx){&db->arena, &db->err};
    clock_manual_init(&db->clock, INT64_C(1800000000000000));
    assert_ok(sheaf_engine_open_mem(NULL, &e, NULL));
    assert_ok(core_open(e, &(struct core_options){.clock = &db->clock.base, .seed = 1}, &db->core,
                        NULL));
    *state = db;
    return 0;
}

static int close_db(void **state)
{
    struct db *db = *state;
    core_close(db->core);
    arena_deinit(&db->arena);
    free(db);
    return 0;
}

#define S(text) SPAN_LIT(text)
#define K(name_, t_) {SPAN_LIT(name_), VAL_##t_}

static void test_create__answers_creating_and_the_table_is_there(void **state)
{
    struct db *db = *state;
    struct core_table_outcome out;
    assert_ok(core_create_table(
        db->core, &db->c,
        &(struct core_create_table){.table = S("Music"), .hash = K("PK", S), .range = K("SK", N)},
        &out));
    assert_int_equal(out.table.status, CORE_CREATING);
    assert_int_equal(out.table.id.n, 36);
    assert_int_equal(out.table.created_us, 1800000000000000);
    assert_ok(core_describe_table(db->core, &db->c, S("Music"), &out));
    assert_int_equal(out.table.status, CORE_ACTIVE);
    assert_span(out.table.hash.name, "PK");
    assert_span(out.table.range.name, "SK");
    assert_int_equal(out.table.range.type, VAL_N);
    assert_int_equal(out.table.n_definitions, 2);
    assert_int_equal(out.table.items, 0);
    assert_ok(core_delete_table(db->core, &db->c, S("Music"), &out));
    assert_int_equal(out.table.status, CORE_DELETING);
    assert_rc(core_describe_table(db->core, &db->c, S("Music"), &out), SHEAF_RESOURCE_NOT_FOUND);
    assert_string_equal(db->err.message, "Requested resource not found: Table: Music not found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_create__answers_creating_and_the_table_is_there,
                                        open_db, close_db),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
