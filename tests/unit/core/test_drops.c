/* Tables and indexes that are deleted while somebody reads them: no answer is made of rows that
 * were going. The deletion happens at the worst moment, when the reader has found its table and
 * turns to the engine. */
#include "support/core_support.h"

#include "core/background.h"

#define NOT_FOUND "Requested resource not found"

static struct core_test t;
static struct sheaf_engine_ops hooked;
static const struct sheaf_engine_ops *plain;
static void (*before_reading)(void); /* called once */
static void (*before_writing)(void); /* so, too, before an RW transaction */
static struct clock_manual hands;

static void interrupt(void)
{
    void (*act)(void) = before_reading;
    before_reading = NULL;
    if (act) act();
}

static sheaf_rc read_later(sheaf_engine *e, const sheaf_engine_key *key,
                           struct sheaf_span *value_out, void **pin_out, sheaf_error *err)
{
    interrupt();
    return plain->read(e, key, value_out, pin_out, err);
}

static sheaf_rc begin_later(sheaf_engine *e, enum sheaf_txn_mode mode, sheaf_txn **txn_out,
                            sheaf_error *err)
{
    interrupt();
    void (*act)(void) = before_writing;
    if (mode == SHEAF_TXN_RW && act) {
        before_writing = NULL;
        act();
    }
    return plain->begin(e, mode, txn_out, err);
}

static int setup(void **state)
{
    (void)state;
    clock_manual_init(&hands, INT64_C(1800000000) * 1000000);
    core_test_init(&t, &(struct core_options){.clock = &hands.base});
    plain = t.engine->ops;
    hooked = *plain;
    hooked.read = read_later;
    hooked.begin = begin_later;
    t.engine->ops = &hooked;
    before_reading = before_writing = NULL;
    test_table(t.core, "Tab", "p:S", "s:S", "gsi(x:S) ALL; local l(p:S|x:S) KEYS_ONLY");
    test_table(t.core, "Other", "p:S", NULL, NULL);
    test_put(&t, "Tab", "{p: 'a', s: 'b', x: 'c', more: 1}");
    test_put(&t, "Other", "{p: 'a'}");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    t.engine->ops = plain;
    core_test_deinit(&t);
    return 0;
}

/* ---- what happens meanwhile ---- */

static struct arena act_arena;
static sheaf_error act_err;
static struct ctx act_ctx = {&act_arena, &act_err};

static void delete_table(const char *name)
{
    struct core_table_outcome ignored;
    arena_init(&act_arena, 1 << 20);
    assert_ok(core_delete_table(t.core, &act_ctx, span_cstr(name), &ignored));
    arena_deinit(&act_arena);
}

static void delete_it(void) { delete_table("Tab"); }

static void delete_other(void) { delete_table("Other"); }

static void replace_it(void)
{
    delete_table("Tab");
    test_table(t.core, "Tab", "p:S", "s:S", "gsi(x:S) ALL; local l(p:S|x:S) KEYS_ONLY");
}

static void delete_index(void)
{
    struct core_table_outcome ignored;
    struct core_update_table q = {.table = SPAN_LIT("Tab"), .delete_index = SPAN_LIT("gsi")};
    arena_init(&act_arena, 1 << 20);
    assert_ok(core_update_table(t.core, &act_ctx, &q, &ignored));
    arena_deinit(&act_arena);
}

/* ---- reading ---- */

static struct core_page page;

static sheaf_rc get(void)
{
    struct core_item_outcome out;
    struct core_get_item q = {.get = {.table = SPAN_LIT("Tab"),
                                      .key = test_item(&t, "{p: 'a', s: 'b'}"),
                                      .env = test_env(&t.arena, NULL, NULL)}};
    return core_get_item(t.core, &t.ctx, &q, &out);
}

static sheaf_rc get_many(bool is_transaction)
{
    struct core_items_outcome out;
    struct expr_env *env = test_env(&t.arena, NULL, NULL);
    struct core_get gets[2] = {
        {.table = SPAN_LIT("Other"), .key = test_item(&t, "{p: 'a'}"), .env = env},
        {.table = SPAN_LIT("Tab"), .key = test_item(&t, "{p: 'a', s: 'b'}"), .env = env}};
    struct core_multi_get q = {.gets = gets, .n = 2, .is_transaction = is_transaction};
    return core_multi_get(t.core, &t.ctx, &q, &out);
}

static sheaf_rc get_batch(void) { return get_many(false); }

static sheaf_rc get_transaction(void) { return get_many(true); }

static sheaf_rc query(const char *index, const char *condition, enum core_select select)
{
    struct core_query q = {.table = SPAN_LIT("Tab"),
                           .index = index ? span_cstr(index) : SPAN_NONE,
                           .is_scan = !condition,
                           .key_condition = condition ? span_cstr(condition) : SPAN_NONE,
                           .env = test_env(&t.arena, NULL,
                                           !condition            ? NULL
                                           : condition[0] == 'p' ? "{':v': 'a'}"
                                                                 : "{':v': 'c'}"),
                           .select = select};
    return core_query(t.core, &t.ctx, &q, &page);
}

static sheaf_rc query_table(void) { return query(NULL, "p = :v", CORE_SELECT_DEFAULT); }

static sheaf_rc query_local(void) { return query("l", "p = :v", CORE_SELECT_ALL); }

static sheaf_rc query_global(void) { return query("gsi", "x = :v", CORE_SELECT_DEFAULT); }

static sheaf_rc scan(void) { return query(NULL, NULL, CORE_SELECT_DEFAULT); }

static sheaf_rc collection(void)
{
    struct core_collection out;
    return core_collection(t.core, &t.ctx, SPAN_LIT("Tab"), SPAN_NONE, test_item(&t, "{p: 'a'}"),
                           &out);
}

static sheaf_rc (*const reads[])(void) = {
    get, get_batch, get_transaction, query_table, query_local, query_global, scan, collection};
enum { N_READS = sizeof reads / sizeof reads[0] };

static void test_reads__find_no_table_that_goes_meanwhile(void **state)
{
    for (int i = 0; i < N_READS; i++) {
        if (i > 0) setup(state);
        assert_ok(reads[i]());
        before_reading = delete_it;
        assert_rc(reads[i](), SHEAF_RESOURCE_NOT_FOUND);
        assert_string_equal(t.err.message, NOT_FOUND);
        if (i < N_READS - 1) teardown(state);
    }
}

static void test_reads__do_not_take_the_next_table_of_the_name_for_theirs(void **state)
{
    for (int i = 0; i < N_READS; i++) {
        if (i > 0) setup(state);
        before_reading = replace_it;
        assert_rc(reads[i](), SHEAF_RESOURCE_NOT_FOUND);
        if (i < N_READS - 1) teardown(state);
    }
}

static void test_reads__go_on_when_another_table_goes(void **state)
{
    (void)state;
    before_reading = delete_other;
    assert_ok(query_local());
    assert_int_equal(page.n, 1);
    test_table(t.core, "Other", "p:S", NULL, NULL);
    before_reading = delete_other;
    assert_ok(get());
}

static void test_query__finds_no_index_that_goes_meanwhile(void **state)
{
    (void)state;
    before_reading = delete_index;
    assert_rc(query_global(), SHEAF_VALIDATION);
    assert_string_equal(t.err.message, "The table does not have the specified index: gsi");
    assert_ok(query_table());
    assert_int_equal(page.n, 1);
}

/* ---- refusals ---- */

static sheaf_rc update_with(const char *update, struct core_write_outcome *out)
{
    struct core_write_item q = {.write = {.action = CORE_UPDATE,
                                          .table = SPAN_LIT("Tab"),
                                          .item = test_item(&t, "{p: 'a', s: 'b'}"),
                                          .update = span_cstr(update),
                                          .env = test_env(&t.arena, NULL, NULL)}};
    return core_write_item(t.core, &t.ctx, &q, out);
}

/* What was read is durable before it is told. */
static void test_refusals__carry_the_position_they_were_read_at(void **state)
{
    (void)state;
    sheaf_position newest = eng_visible(t.engine);
    struct core_write_outcome written;
    assert_rc(update_with("SET v = nothing", &written), SHEAF_VALIDATION);
    assert_true(written.position >= newest);
    struct core_table_outcome table;
    struct core_create_table q = {.table = SPAN_LIT("Tab"), .hash = {SPAN_LIT("p"), VAL_S}};
    assert_rc(core_create_table(t.core, &t.ctx, &q, &table), SHEAF_RESOURCE_IN_USE);
    assert_true(table.position >= newest);
    delete_it();
    newest = eng_visible(t.engine);
    assert_rc(core_delete_table(t.core, &t.ctx, SPAN_LIT("Tab"), &table), SHEAF_RESOURCE_NOT_FOUND);
    assert_true(table.position >= newest);
    assert_rc(core_describe_table(t.core, &t.ctx, SPAN_LIT("Tab"), &table),
              SHEAF_RESOURCE_NOT_FOUND);
    assert_true(table.position >= newest);
    assert_rc(scan(), SHEAF_RESOURCE_NOT_FOUND);
    assert_true(page.position >= newest);
}

/* ---- streams ---- */

static void test_get_records__finds_no_stream_that_goes_meanwhile(void **state)
{
    (void)state;
    test_enable_stream(t.core, "Tab", CORE_STREAM_KEYS);
    struct table *tab = cat_find(t.core, SPAN_LIT("Tab"));
    span label = arena_dup(&t.arena, tab->streams[0].label);
    struct core_iterator_outcome at;
    table_unref(tab);
    struct core_stream_outcome stream;
    struct core_describe_stream d = {.table = SPAN_LIT("Tab"), .label = label};
    assert_ok(core_describe_stream(t.core, &t.ctx, &d, &stream));
    struct core_get_iterator q = {
        .table = d.table, .label = label, .shard = stream.shards[0].id, .type = CORE_TRIM_HORIZON};
    assert_ok(core_get_iterator(t.core, &t.ctx, &q, &at));
    struct core_records records;
    assert_ok(core_get_records(t.core, &t.ctx, at.iterator, 0, &records));
    before_reading = delete_it;
    assert_rc(core_get_records(t.core, &t.ctx, at.iterator, 0, &records), SHEAF_RESOURCE_NOT_FOUND);
    assert_null(before_reading);
}

static void test_trim__writes_nothing_to_a_stream_that_has_gone(void **state)
{
    (void)state;
    struct core_background did = {.expired = 0};
    test_enable_stream(t.core, "Tab", CORE_STREAM_KEYS);
    test_put(&t, "Tab", "{p: 'a', s: 'z'}");
    struct table *tab = cat_find(t.core, SPAN_LIT("Tab"));
    clock_manual_advance(&hands, INT64_C(25) * 3600 * 1000000);
    before_writing = delete_it;
    assert_ok(stream_trim(t.core, tab, &did, &t.err));
    assert_null(before_writing);
    assert_int_equal(did.trimmed_records, 0);
    assert_int_equal(test_walk(&t, tab->streams[0].space).items, 0);
    table_unref(tab);
    assert_ok(core_verify(t.core, NULL, NULL, &t.err));
}

/* ---- verify ---- */

static int n_heard;

/* Uses the database in every way that a lock of verify's would be in the way of. */
static bool meddle(void *ctx, const char *what)
{
    (void)ctx;
    (void)what;
    if (n_heard++) return true;
    delete_it();
    test_table(t.core, "New", "p:S", NULL, NULL);
    test_put(&t, "New", "{p: 'a'}");
    return true;
}

static bool count(void *ctx, const char *what)
{
    (void)ctx;
    (void)what;
    n_heard++;
    return true;
}

static sheaf_rc plant(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    (void)ctx;
    static const sheaf_place meta_place;
    return eng_put(txn, &(sheaf_engine_key){meta_place, SPAN_LIT("strange")}, SPAN_LIT("x"), err);
}

static void test_verify__lets_its_listener_use_the_database(void **state)
{
    (void)state;
    struct table *was = cat_find(t.core, SPAN_LIT("Tab"));
    uint64_t space = was->space;
    table_unref(was);
    assert_ok(sheaf_engine_run(t.engine, plant, NULL, NULL, NULL, &t.err));
    n_heard = 0;
    assert_rc(core_verify(t.core, meddle, NULL, &t.err), SHEAF_CORRUPT);
    assert_int_equal(n_heard, 1); /* the table that went was still whole to verify */
    assert_int_equal(test_walk(&t, space).items, 0);
    n_heard = 0;
    assert_rc(core_verify(t.core, count, NULL, &t.err), SHEAF_CORRUPT);
    assert_int_equal(n_heard, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_reads__find_no_table_that_goes_meanwhile),
        CASE(test_reads__do_not_take_the_next_table_of_the_name_for_theirs),
        CASE(test_reads__go_on_when_another_table_goes),
        CASE(test_query__finds_no_index_that_goes_meanwhile),
        CASE(test_refusals__carry_the_position_they_were_read_at),
        CASE(test_get_records__finds_no_stream_that_goes_meanwhile),
        CASE(test_trim__writes_nothing_to_a_stream_that_has_gone),
        CASE(test_verify__lets_its_listener_use_the_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
