/* api: the calls on items, batches and transactions, with what a C program can get wrong in their
 * requests. */
#include "db.h"

#include "base/mem.h"

#define KEY SHEAF_ITEM({"p", sheaf_s("a")}, {"s", sheaf_s("b")})
#define ONE "1 validation error detected: Value '"
#define SET "' failed to satisfy constraint: Member must satisfy enum value set: "
#define RETURNS SET "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
#define CAPACITY ONE "9' at 'returnConsumedCapacity" SET "[INDEXES, TOTAL, NONE]"

static bool has_item(struct scene *s)
{
    sheaf_result *r;
    assert_ok(sheaf_get_item(
        s->db, &(struct sheaf_get_item){.table = "tab", .key = KEY, .error = &s->err}, &r));
    bool has = sheaf_result_item(r) != NULL;
    sheaf_result_free(r);
    return has;
}

/* ---- enums: with a number in place of a name every message is unverified ---- */

static void test_writes__refuse_return_values_out_of_range(void **state)
{
    struct scene *s = *state;
    enum sheaf_return_values odd = (enum sheaf_return_values)77;
    struct sheaf_put_item p = {.table = "tab", .item = KEY, .return_values = odd, .error = &s->err};
    struct sheaf_update_item u = {
        .table = "tab", .key = KEY, .return_values = odd, .error = &s->err};
    struct sheaf_delete_item d = {
        .table = "tab", .key = KEY, .return_values = odd, .error = &s->err};
    assert_refused(s, sheaf_put_item(s->db, &p, NULL), ONE "77' at 'returnValues" RETURNS);
    assert_refused(s, sheaf_update_item(s->db, &u, NULL), ONE "77' at 'returnValues" RETURNS);
    assert_refused(s, sheaf_delete_item(s->db, &d, NULL), ONE "77' at 'returnValues" RETURNS);
    assert_false(has_item(s));
}

static void test_query__refuses_a_select_out_of_range(void **state)
{
    struct scene *s = *state;
    struct sheaf_query q = {.table = "tab",
                            .key_condition_expression = "p = :p",
                            .projection_expression = "p",
                            .expression_attribute_values = SHEAF_ITEM({":p", sheaf_s("a")}),
                            .select = (enum sheaf_select)99,
                            .error = &s->err};
    struct sheaf_scan scan = {.table = "tab", .select = (enum sheaf_select)5, .error = &s->err};
#define SELECT                                                                                     \
    "' at 'select" SET "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
    assert_refused(s, sheaf_query(s->db, &q, NULL), ONE "99" SELECT);
    assert_refused(s, sheaf_scan(s->db, &scan, NULL), ONE "5" SELECT);
}

static void test_calls__refuse_a_capacity_mode_out_of_range(void **state)
{
    struct scene *s = *state;
    enum sheaf_return_capacity odd = (enum sheaf_return_capacity)9;
    const sheaf_item *keys[] = {KEY};
    struct sheaf_batch_get tables = {.table = "tab", .keys = keys, .n_keys = 1};
    struct sheaf_batch_write write = {.table = "tab", .put = KEY};
    struct sheaf_transact_write action = {.table = "tab", .put = KEY};
    struct sheaf_transact_get get = {.table = "tab", .key = KEY};
    struct sheaf_put_item put = {
        .table = "tab", .item = KEY, .return_consumed_capacity = odd, .error = &s->err};
    struct sheaf_get_item one = {
        .table = "tab", .key = KEY, .return_consumed_capacity = odd, .error = &s->err};
    struct sheaf_scan scan = {.table = "tab", .return_consumed_capacity = odd, .error = &s->err};
    struct sheaf_batch_get_item bg = {
        .tables = &tables, .n_tables = 1, .return_consumed_capacity = odd, .error = &s->err};
    struct sheaf_batch_write_item bw = {
        .writes = &write, .n_writes = 1, .return_consumed_capacity = odd, .error = &s->err};
    struct sheaf_transact_write_items tw = {
        .actions = &action, .n_actions = 1, .return_consumed_capacity = odd, .error = &s->err};
    struct sheaf_transact_get_items tg = {
        .gets = &get, .n_gets = 1, .return_consumed_capacity = odd, .error = &s->err};
    assert_refused(s, sheaf_put_item(s->db, &put, NULL), CAPACITY);
    assert_refused(s, sheaf_get_item(s->db, &one, NULL), CAPACITY);
    assert_refused(s, sheaf_scan(s->db, &scan, NULL), CAPACITY);
    assert_refused(s, sheaf_batch_get_item(s->db, &bg, NULL), CAPACITY);
    assert_refused(s, sheaf_batch_write_item(s->db, &bw, NULL), CAPACITY);
    assert_refused(s, sheaf_transact_write_items(s->db, &tw, NULL), CAPACITY);
    assert_refused(s, sheaf_transact_get_items(s->db, &tg, NULL), CAPACITY);
    assert_false(has_item(s));
}

static void test_open__refuses_enums_out_of_range(void **state)
{
    struct scene *s = *state;
    sheaf_db *db = s->db;
    struct sheaf_fault fault = {.rc = (sheaf_rc)1000, .nth = 1};
    struct sheaf_options o = {.durability = (enum sheaf_durability)2};
    assert_refused(s, sheaf_open(":memory:", &o, &db, &s->err), "durability is 2");
    assert_null(db);
    o = (struct sheaf_options){.faults = &fault, .n_faults = 1};
    assert_refused(s, sheaf_open(":memory:", &o, &db, &s->err), "faults[0].rc is 1000");
}

/* ---- which member is at fault ---- */

static void test_batches__name_the_member_at_fault(void **state)
{
    struct scene *s = *state;
    const sheaf_item *odd = SHEAF_ITEM({"p", sheaf_int(1)}, {"s", sheaf_s("b")});
    const sheaf_item *keys[] = {KEY}, *none[] = {NULL};
    struct sheaf_batch_write w[3] = {{.table = "tab", .put = KEY}, {.table = "tab"}};
    struct sheaf_batch_write_item bw = {.writes = w, .n_writes = 2, .error = &s->err};
    assert_rc(sheaf_batch_write_item(s->db, &bw, NULL), SHEAF_VALIDATION);
    assert_int_equal(s->err.action, 1);
    w[1].put = odd; /* core finds it: a key of another type */
    assert_rc(sheaf_batch_write_item(s->db, &bw, NULL), SHEAF_VALIDATION);
    assert_int_equal(s->err.action, 1);
    w[1].put = SHEAF_ITEM({"p", sheaf_s("c")}, {"s", sheaf_s("b")});
    w[2] = w[0]; /* twice */
    bw.n_writes = 3;
    assert_rc(sheaf_batch_write_item(s->db, &bw, NULL), SHEAF_VALIDATION);
    assert_int_equal(s->err.action, 2);
    struct sheaf_batch_get g[2] = {{.table = "tab", .keys = keys, .n_keys = 1},
                                   {.table = "tab", .keys = none, .n_keys = 1}};
    struct sheaf_batch_get_item bg = {.tables = g, .n_tables = 2, .error = &s->err};
    assert_rc(sheaf_batch_get_item(s->db, &bg, NULL), SHEAF_VALIDATION);
    assert_int_equal(s->err.action, 1);
    bw.n_writes = 0;
    assert_rc(sheaf_batch_write_item(s->db, &bw, NULL), SHEAF_VALIDATION);
    assert_int_equal(s->err.action, -1);
    assert_false(has_item(s));
}

static void test_transactions__name_the_member_at_fault(void **state)
{
    struct scene *s = *state;
    struct sheaf_transact_write a[3] = {
        {.table = "tab", .put = KEY},
        {.table = "tab",
         .is_check = true,
         .key = SHEAF_ITEM({"p", sheaf_s("c")}, {"s", sheaf_s("b")}),
         .condition_expression = "attribute_exists(p)"},
        {.table = "tab", .is_delete = true, .is_check = true}};
    struct sheaf_transact_write_items tw = {.actions = a, .n_actions = 3, .error = &s->err};
    assert_rc(sheaf_transact_write_items(s->db, &tw, NULL), SHEAF_VALIDATION);
    assert_int_equal(s->err.action, 2);
    tw.n_actions = 2;
    sheaf_result *r;
    assert_rc(sheaf_transact_write_items(s->db, &tw, &r), SHEAF_TRANSACTION_CANCELED);
    assert_int_equal(s->err.action, 1);
    assert_string_equal(sheaf_result_reason(r, 0)->code, "None");
    assert_string_equal(sheaf_result_reason(r, 1)->code, "ConditionalCheckFailed");
    sheaf_result_free(r);
    struct sheaf_transact_get g[2] = {{.table = "tab", .key = KEY}, {.table = "tab"}};
    struct sheaf_transact_get_items tg = {.gets = g, .n_gets = 2, .error = &s->err};
    assert_rc(sheaf_transact_get_items(s->db, &tg, NULL), SHEAF_VALIDATION);
    assert_int_equal(s->err.action, 1);
    assert_false(has_item(s));
}

/* What core finds in the request, in the third of three members; two good ones come first. */
static void test_transactions__name_the_member_that_core_refuses(void **state)
{
    struct scene *s = *state;
    const sheaf_item *other = SHEAF_ITEM({"p", sheaf_s("c")}, {"s", sheaf_s("b")});
    const sheaf_item *third = SHEAF_ITEM({"p", sheaf_s("d")}, {"s", sheaf_s("b")});
    const sheaf_item *empty = SHEAF_ITEM({"p", sheaf_s("")}, {"s", sheaf_s("b")});
    const struct {
        sheaf_rc rc;
        struct sheaf_transact_write a;
    } rows[] = {
        {SHEAF_RESOURCE_NOT_FOUND, {.table = "ghost", .put = third}},
        {SHEAF_VALIDATION, {.table = "tab", .put = third, .condition_expression = "("}},
        {SHEAF_VALIDATION, {.table = "tab", .key = third, .update_expression = "SET"}},
        {SHEAF_VALIDATION, {.table = "tab", .is_check = true, .key = third}},
        {SHEAF_VALIDATION, {.table = "tab", .put = empty}},
        {SHEAF_VALIDATION, {.table = "tab", .put = KEY}}, /* as the first */
        {SHEAF_TRANSACTION_CANCELED,
         {.table = "tab", .put = SHEAF_ITEM({"p", sheaf_int(1)}, {"s", sheaf_s("b")})}},
        {SHEAF_TRANSACTION_CANCELED,
         {.table = "tab", .key = third, .update_expression = "SET p = p"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sheaf_transact_write a[3] = {
            {.table = "tab", .put = KEY}, {.table = "tab", .put = other}, rows[i].a};
        struct sheaf_transact_write_items q = {.actions = a, .n_actions = 3, .error = &s->err};
        assert_rc(sheaf_transact_write_items(s->db, &q, NULL), rows[i].rc);
        if (s->err.action != 2) fail_msg("write %zu: %d", i, (int)s->err.action);
    }
    const struct {
        sheaf_rc rc;
        struct sheaf_transact_get g;
    } gets[] = {
        {SHEAF_RESOURCE_NOT_FOUND, {.table = "ghost", .key = third}},
        {SHEAF_VALIDATION, {.table = "tab", .key = third, .projection_expression = "("}},
        {SHEAF_VALIDATION, {.table = "tab", .key = empty}},
        {SHEAF_VALIDATION, {.table = "tab", .key = KEY}},
        {SHEAF_VALIDATION, {.table = "arn:aws:dynamodb:r:1:table/tab", .key = KEY}},
        {SHEAF_TRANSACTION_CANCELED, {.table = "tab", .key = SHEAF_ITEM({"p", sheaf_s("a")})}},
    };
    for (size_t i = 0; i < COUNT(gets); i++) {
        struct sheaf_transact_get g[3] = {
            {.table = "tab", .key = KEY}, {.table = "tab", .key = other}, gets[i].g};
        struct sheaf_transact_get_items q = {.gets = g, .n_gets = 3, .error = &s->err};
        assert_rc(sheaf_transact_get_items(s->db, &q, NULL), gets[i].rc);
        if (s->err.action != 2) fail_msg("get %zu: %d", i, (int)s->err.action);
    }
    assert_false(has_item(s));
}

/* Of a BatchGetItem it is the table, whichever key of it is wrong. */
static void test_batch_get__names_the_table_that_core_refuses(void **state)
{
    struct scene *s = *state;
    const sheaf_item *first[] = {SHEAF_ITEM({"p", sheaf_s("x")}, {"s", sheaf_s("1")}),
                                 SHEAF_ITEM({"p", sheaf_s("x")}, {"s", sheaf_s("2")})};
    const sheaf_item *good[] = {KEY}, *twice[] = {KEY, KEY};
    const sheaf_item *odd[] = {KEY, SHEAF_ITEM({"p", sheaf_int(1)}, {"s", sheaf_s("b")})};
    const struct {
        sheaf_rc rc;
        struct sheaf_batch_get g;
    } rows[] = {
        {SHEAF_RESOURCE_NOT_FOUND, {.table = "ghost", .keys = good, .n_keys = 1}},
        {SHEAF_VALIDATION,
         {.table = "tab", .keys = good, .n_keys = 1, .projection_expression = "("}},
        {SHEAF_VALIDATION, {.table = "tab", .keys = odd, .n_keys = 2}},
        {SHEAF_VALIDATION, {.table = "tab", .keys = twice, .n_keys = 2}},
        {SHEAF_VALIDATION, {.table = "arn:aws:dynamodb:r:1:table/tab", .keys = first, .n_keys = 1}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sheaf_batch_get g[2] = {{.table = "tab", .keys = first, .n_keys = 2}, rows[i].g};
        struct sheaf_batch_get_item q = {.tables = g, .n_tables = 2, .error = &s->err};
        assert_rc(sheaf_batch_get_item(s->db, &q, NULL), rows[i].rc);
        if (s->err.action != 1) fail_msg("row %zu: %d", i, (int)s->err.action);
    }
}

/* ---- memory runs out behind the commit ---- */

/* A write in which the nth allocation fails: done exactly when it says so. Whether it was hit. */
static bool put_failing(struct scene *s, uint64_t nth, const char *text, size_t *n_short)
{
    static int64_t stamp;
    sheaf_result *r = NULL;
    stamp++;
    struct sheaf_put_item q = {.table = "tab",
                               .item = SHEAF_ITEM({"p", sheaf_s("a")}, {"s", sheaf_s("b")},
                                                  {"n", sheaf_int(stamp)}, {"t", sheaf_s(text)}),
                               .return_values = SHEAF_ALL_OLD,
                               .return_consumed_capacity = SHEAF_CAPACITY_INDEXES,
                               .error = &s->err};
    uint64_t before = mem_count();
    mem_fail_at(nth, true);
    sheaf_rc rc = sheaf_put_item(s->db, &q, &r);
    mem_fail_at(0, false);
    bool was_hit = mem_count() - before >= nth;
    sheaf_result *now;
    int64_t n = -1;
    assert_ok(sheaf_get_item(
        s->db, &(struct sheaf_get_item){.table = "tab", .key = KEY, .error = &s->err}, &now));
    (void)sheaf_item_i64(sheaf_result_item(now), "n", &n);
    assert_int_equal(rc == SHEAF_OK, n == stamp);
    if (rc != SHEAF_OK) assert_rc(rc, SHEAF_NOMEM);
    assert_int_equal(rc == SHEAF_OK, r != NULL);
    bool is_whole = sheaf_result_item(r) && sheaf_result_capacity_count(r) == 2;
    if (rc == SHEAF_OK) assert_int_equal(sheaf_result_is_complete(r), is_whole);
    *n_short += rc == SHEAF_OK && !is_whole;
    sheaf_result_free(now);
    sheaf_result_free(r);
    return was_hit;
}

static void test_put__that_was_made_says_so_without_memory_for_its_answer(void **state)
{
    struct scene *s = *state;
    static char text[4096];
    size_t n_short = 0;
    assert_ok(sheaf_put_item(
        s->db, &(struct sheaf_put_item){.table = "tab", .item = KEY, .error = &s->err}, NULL));
    for (size_t n = 0; n < sizeof text - 1; n += 8) {
        uint64_t nth = 1;
        memset(text, 'x', n);
        text[n] = '\0';
        while (put_failing(s, nth, text, &n_short)) nth++;
    }
    assert_true(n_short > 0); /* some answers had no room left in the first block */
}

int main(void)
{
#define SCENE(f) cmocka_unit_test_setup_teardown(f, open_scene, close_scene)
    const struct CMUnitTest tests[] = {
        SCENE(test_writes__refuse_return_values_out_of_range),
        SCENE(test_query__refuses_a_select_out_of_range),
        SCENE(test_calls__refuse_a_capacity_mode_out_of_range),
        SCENE(test_open__refuses_enums_out_of_range),
        SCENE(test_batches__name_the_member_at_fault),
        SCENE(test_transactions__name_the_member_at_fault),
        SCENE(test_transactions__name_the_member_that_core_refuses),
        SCENE(test_batch_get__names_the_table_that_core_refuses),
        SCENE(test_put__that_was_made_says_so_without_memory_for_its_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
