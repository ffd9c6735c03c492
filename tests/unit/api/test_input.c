/* api: pointers and values that a C program can get wrong. Every one is a ValidationException that
 * names the member, never a crash. The wording is ours where AWS has no such mistake. */
#include "db.h"

#include <stdlib.h>

#define KEY SHEAF_ITEM({"p", sheaf_s("a")}, {"s", sheaf_s("b")})

static void test_calls__refuse_a_list_that_is_null(void **state)
{
    struct scene *s = *state;
    struct sheaf_batch_get no_keys = {.table = "tab", .n_keys = 1};
    const sheaf_item *null_key[] = {NULL};
    struct sheaf_batch_get has_null = {.table = "tab", .keys = null_key, .n_keys = 1};
    struct sheaf_batch_write_item bw = {.n_writes = 2, .error = &s->err};
    struct sheaf_batch_get_item bg = {.n_tables = 2, .error = &s->err};
    struct sheaf_batch_get_item keys = {.tables = &no_keys, .n_tables = 1, .error = &s->err};
    struct sheaf_batch_get_item key = {.tables = &has_null, .n_tables = 1, .error = &s->err};
    struct sheaf_transact_write_items tw = {.n_actions = 2, .error = &s->err};
    struct sheaf_transact_get_items tg = {.n_gets = 2, .error = &s->err};
    assert_refused(s, sheaf_batch_write_item(s->db, &bw, NULL), "writes is NULL, but n_writes");
    assert_refused(s, sheaf_batch_get_item(s->db, &bg, NULL), "tables is NULL, but n_tables is 2");
    assert_refused(s, sheaf_batch_get_item(s->db, &keys, NULL), "keys is NULL, but n_keys is 1");
    assert_refused(s, sheaf_batch_get_item(s->db, &key, NULL),
                   "1 validation error detected: Value null at 'key' failed to satisfy "
                   "constraint: Member must not be null");
    assert_refused(s, sheaf_transact_write_items(s->db, &tw, NULL), "actions is NULL, but n_act");
    assert_refused(s, sheaf_transact_get_items(s->db, &tg, NULL), "gets is NULL, but n_gets is 2");
}

static void test_create_table__refuses_a_list_that_is_null(void **state)
{
    struct scene *s = *state;
    const char *no_name[] = {NULL};
    struct sheaf_index x = {.name = "gsi",
                            .partition_key = {{"g", SHEAF_S, {0}}},
                            .projection = SHEAF_PROJECT_INCLUDE,
                            .n_include = 1};
    struct sheaf_create_table q = {
        .table = "new", .partition_key = {"p", SHEAF_S, {0}}, .error = &s->err};
    q.n_global_indexes = 1;
    assert_refused(s, sheaf_create_table(s->db, &q, NULL), "global_indexes is NULL, but n_global");
    q.global_indexes = &x;
    assert_refused(s, sheaf_create_table(s->db, &q, NULL), "include is NULL, but n_include is 1");
    x.include = no_name;
    assert_refused(s, sheaf_create_table(s->db, &q, NULL),
                   "1 validation error detected: Value '[]' at "
                   "'globalSecondaryIndexes.1.member.projection.nonKeyAttributes'");
    q.n_global_indexes = 0;
    q.n_local_indexes = 3;
    assert_refused(s, sheaf_create_table(s->db, &q, NULL), "local_indexes is NULL, but n_local");
}

static sheaf_rc put(struct scene *s, const sheaf_item *item)
{
    return sheaf_put_item(
        s->db, &(struct sheaf_put_item){.table = "tab", .item = item, .error = &s->err}, NULL);
}

#define WITH(v) SHEAF_ITEM({"p", sheaf_s("a")}, {"s", sheaf_s("b")}, {"v", v})

static void test_put__refuses_values_that_cannot_be(void **state)
{
    struct scene *s = *state;
    sheaf_item no_attrs = {NULL, 1, NULL};
    sheaf_list no_values = {NULL, 1, NULL};
    assert_refused(s, put(s, &no_attrs), "An item's attrs are NULL, but its n is not 0");
    assert_refused(s, put(s, WITH(sheaf_m(&no_attrs))), "An item's attrs are NULL");
    assert_refused(s, put(s, WITH(sheaf_l(&no_values))), "A list's values are NULL, but its n");
    assert_refused(s, put(s, WITH(sheaf_ss(&no_values))), "A list's values are NULL, but its n");
    assert_refused(s, put(s, WITH(sheaf_s(NULL))), "Supplied AttributeValue is empty");
    assert_refused(s, put(s, WITH(sheaf_n(NULL))), "Supplied AttributeValue is empty");
    assert_refused(s, put(s, WITH(sheaf_sn("x", SHEAF_N_INT64_))), "Item size has exceeded");
    assert_refused(s, put(s, WITH(sheaf_b("x", SHEAF_N_INT64_))), "Item size has exceeded");
    assert_refused(s, put(s, WITH(sheaf_make_((sheaf_type)99, "x", 1))), "Supplied Attribute");
    sheaf_attr a;
    sheaf_value v;
    assert_false(sheaf_item_at(&no_attrs, 0, &a));
    assert_false(sheaf_list_at(&no_values, 0, &v));
    assert_false(sheaf_item_get(&no_attrs, "a", &v));
}

/* Wording unverified. */
static void test_put__refuses_a_set_of_several_types(void **state)
{
    struct scene *s = *state;
    assert_refused(s, put(s, WITH(sheaf_ss(SHEAF_LIST(sheaf_s("a"), sheaf_int(1))))),
                   "One or more parameter values were invalid: A set of type SS may contain "
                   "members of type S only");
    assert_refused(s, put(s, WITH(sheaf_ns(SHEAF_LIST(sheaf_s("1"))))),
                   "One or more parameter values were invalid: A set of type NS");
    assert_refused(s, put(s, WITH(sheaf_bs(SHEAF_LIST(sheaf_l(NULL))))),
                   "One or more parameter values were invalid: A set of type BS");
}

static void test_put__does_not_turn_a_list_that_was_read_into_a_set(void **state)
{
    struct scene *s = *state;
    sheaf_result *r;
    assert_ok(put(s, WITH(sheaf_l(SHEAF_LIST(sheaf_s("x"))))));
    assert_ok(sheaf_get_item(
        s->db, &(struct sheaf_get_item){.table = "tab", .key = KEY, .error = &s->err}, &r));
    const sheaf_list *list = sheaf_item_l(sheaf_result_item(r), "v");
    assert_ok(put(s, WITH(sheaf_l(list))));
    assert_refused(s, put(s, WITH(sheaf_ss(list))),
                   "One or more parameter values were invalid: A value that was read as L cannot");
    sheaf_result_free(r);
}

static void test_put__answers_the_item_size_over_16_mb(void **state)
{
    struct scene *s = *state;
    size_t n = (size_t)20 << 20;
    char *text = malloc(n + 1);
    assert_non_null(text);
    memset(text, 'x', n);
    text[n] = '\0';
    assert_refused(s, put(s, WITH(sheaf_s(text))), "Item size has exceeded the maximum allowed");
    text[n / 2] = '\0';
    sheaf_value half = sheaf_s(text);
    assert_refused(s, put(s, WITH(sheaf_l(SHEAF_LIST(half, half)))), "Item size has exceeded");
    free(text);
}

static void test_calls__refuse_a_handle_that_is_null(void **state)
{
    struct scene *s = *state;
    sheaf_result *r = (sheaf_result *)s;
#define X(call, request)                                                                           \
    assert_refused(s, sheaf_##call(NULL, &(struct request){.error = &s->err}, &r),                 \
                   "the handle is NULL");                                                          \
    assert_null(r);
    SHEAF_CALLS_(X)
#undef X
    assert_refused(s, sheaf_run_background(NULL, &s->err), "the handle is NULL");
    assert_refused(s, sheaf_verify(NULL, NULL, NULL, &s->err), "the handle is NULL");
    assert_refused(s, sheaf_backup(NULL, "x", &s->err), "the handle is NULL");
}

/* Nothing in the request but where the error goes. */
static void test_calls__refuse_an_empty_request(void **state)
{
    struct scene *s = *state;
#define X(call, request)                                                                           \
    if (strcmp(#call, "list_tables") != 0 && strcmp(#call, "list_streams") != 0) {                 \
        assert_rc(sheaf_##call(s->db, &(struct request){.error = &s->err}, NULL),                  \
                  SHEAF_VALIDATION);                                                               \
        assert_int_not_equal(s->err.message[0], 0);                                                \
        assert_rc(sheaf_##call(s->db, NULL, NULL), SHEAF_VALIDATION);                              \
    }
    SHEAF_CALLS_(X)
#undef X
}

static void test_open__refuses_pointers_that_are_null(void **state)
{
    struct scene *s = *state;
    sheaf_db *db;
    struct sheaf_options o = {.n_faults = 1};
    assert_refused(s, sheaf_open(":memory:", &o, &db, &s->err), "faults is NULL, but n_faults is");
    assert_refused(s, sheaf_open(":memory:", NULL, NULL, &s->err), "db_out is NULL");
    assert_refused(s, sheaf_open(NULL, NULL, &db, &s->err), "sheaf_open needs a directory");
    assert_rc(sheaf_open(NULL, NULL, &db, NULL), SHEAF_VALIDATION);
}

/* A short name: the public suite run on AWS; a missing one: DynamoDB Local. */
static void test_item_calls__judge_the_tables_name_first(void **state)
{
    struct scene *s = *state;
    static const char *const names[] = {"ab", NULL};
    static const char *const messages[] = {
        "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3",
        "The parameter 'TableName' is required but was not present in the request"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *table = names[i], *want = messages[i];
        const sheaf_item *keys[] = {KEY};
        struct sheaf_batch_get bg = {.table = table, .keys = keys, .n_keys = 1};
        struct sheaf_batch_write bw = {.table = table, .put = KEY};
        struct sheaf_transact_write tw = {.table = table, .put = KEY};
        struct sheaf_transact_get tg = {.table = table, .key = KEY};
        struct sheaf_put_item put_it = {.table = table, .item = KEY, .error = &s->err};
        struct sheaf_get_item get = {.table = table, .key = KEY, .error = &s->err};
        struct sheaf_query query = {.table = table, .error = &s->err};
        struct sheaf_scan scan = {.table = table, .error = &s->err};
        struct sheaf_batch_get_item gets = {.tables = &bg, .n_tables = 1, .error = &s->err};
        struct sheaf_batch_write_item writes = {.writes = &bw, .n_writes = 1, .error = &s->err};
        struct sheaf_transact_write_items all = {.actions = &tw, .n_actions = 1, .error = &s->err};
        struct sheaf_transact_get_items tgs = {.gets = &tg, .n_gets = 1, .error = &s->err};
        assert_refused(s, sheaf_put_item(s->db, &put_it, NULL), want);
        assert_refused(s, sheaf_get_item(s->db, &get, NULL), want);
        assert_refused(s, sheaf_query(s->db, &query, NULL), want);
        assert_refused(s, sheaf_scan(s->db, &scan, NULL), want);
        assert_refused(s, sheaf_batch_get_item(s->db, &gets, NULL), want);
        assert_refused(s, sheaf_batch_write_item(s->db, &writes, NULL), want);
        assert_refused(s, sheaf_transact_write_items(s->db, &all, NULL), want);
        assert_refused(s, sheaf_transact_get_items(s->db, &tgs, NULL), want);
    }
}

/* A newer program with an older library. */
static void test_calls__refuse_room_that_is_used(void **state)
{
    struct scene *s = *state;
    const sheaf_item *keys[] = {KEY};
    struct sheaf_batch_get bg = {
        .table = "tab", .keys = keys, .n_keys = 1, .reserved2_ = {NULL, keys}};
    struct sheaf_batch_write bw = {.table = "tab", .put = KEY, .reserved_ = {keys, NULL}};
    struct sheaf_transact_write tw = {.table = "tab", .put = KEY, .reserved2_ = {keys, NULL}};
    struct sheaf_transact_get tg = {.table = "tab", .key = KEY, .reserved_ = {keys, NULL}};
    struct sheaf_index x = {
        .name = "gsi", .partition_key = {{"g", SHEAF_S, {0}}}, .reserved_ = {NULL, keys}};
    struct sheaf_fault f = {.rc = SHEAF_INTERNAL, .nth = 1, .reserved_ = {NULL, keys}};
    struct sheaf_options o = {.faults = &f, .n_faults = 1};
    struct sheaf_batch_get_item gets = {.tables = &bg, .n_tables = 1, .error = &s->err};
    struct sheaf_batch_write_item writes = {.writes = &bw, .n_writes = 1, .error = &s->err};
    struct sheaf_transact_write_items all = {.actions = &tw, .n_actions = 1, .error = &s->err};
    struct sheaf_transact_get_items tgs = {.gets = &tg, .n_gets = 1, .error = &s->err};
    struct sheaf_update_table u = {.table = "tab", .create_index = &x, .error = &s->err};
    sheaf_db *db;
    assert_refused(s, sheaf_batch_get_item(s->db, &gets, NULL), "A member of tables uses a member");
    assert_refused(s, sheaf_batch_write_item(s->db, &writes, NULL), "A member of writes uses a");
    assert_refused(s, sheaf_transact_write_items(s->db, &all, NULL), "A member of actions uses a");
    assert_refused(s, sheaf_transact_get_items(s->db, &tgs, NULL), "A member of gets uses a");
    assert_refused(s, sheaf_update_table(s->db, &u, NULL), "An index uses a member that this");
    assert_refused(s, sheaf_open(":memory:", &o, &db, &s->err), "A member of faults uses a");
}

/* Wording of the second unverified. */
static void test_batch_write__is_a_put_or_a_delete(void **state)
{
    struct scene *s = *state;
    struct sheaf_batch_write w = {.table = "tab", .put = KEY, .delete_key = KEY};
    struct sheaf_batch_write_item q = {.writes = &w, .n_writes = 1, .error = &s->err};
    assert_refused(s, sheaf_batch_write_item(s->db, &q, NULL),
                   "Supplied AttributeValue has more than one datatypes set");
    w.put = w.delete_key = NULL;
    assert_refused(s, sheaf_batch_write_item(s->db, &q, NULL),
                   "Supplied AttributeValue is empty, must contain exactly one");
}

int main(void)
{
#define SCENE(f) cmocka_unit_test_setup_teardown(f, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        SCENE(test_calls__refuse_a_list_that_is_null),
        SCENE(test_create_table__refuses_a_list_that_is_null),
        SCENE(test_put__refuses_values_that_cannot_be),
        SCENE(test_put__refuses_a_set_of_several_types),
        SCENE(test_put__does_not_turn_a_list_that_was_read_into_a_set),
        SCENE(test_put__answers_the_item_size_over_16_mb),
        SCENE(test_calls__refuse_a_handle_that_is_null),
        SCENE(test_calls__refuse_an_empty_request),
        SCENE(test_open__refuses_pointers_that_are_null),
        SCENE(test_item_calls__judge_the_tables_name_first),
        SCENE(test_calls__refuse_room_that_is_used),
        SCENE(test_batch_write__is_a_put_or_a_delete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
