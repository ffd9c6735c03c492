/* core: filling new indexes while others write. */
#include "support/core_support.h"

#include "base/mem.h"
#include "core/tables.h"
#include "engine/fault/fault.h"

#include <inttypes.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define L(text) SPAN_LIT(text)
#define K(name_, t_)                                                                               \
    {                                                                                              \
        SPAN_LIT(name_), VAL_##t_                                                                  \
    }

static const struct core_index_def gsi = {
    .name = {"gsi", 3}, .n_hash = 1, .hash = {{{"g", 1}, VAL_S}}};

static void create(struct core_test *t)
{
    struct core_table_outcome out;
    struct core_create_table q = {.table = L("Tab"), .hash = K("p", S), .range = K("r", N)};
    assert_ok(core_create_table(t->core, &t->ctx, &q, &out));
}

static void put_items(struct core_test *t, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char text[80];
        snprintf(text, sizeof text, "{p: 'p%u', r: %u, g: 'g%u', v: 'value'}", i % 17, i, i % 5);
        test_put(t, "Tab", text);
    }
}

static void add_index(struct core_test *t, const struct core_index_def *x)
{
    struct core_table_outcome out;
    struct core_update_table q = {.table = L("Tab"), .create_index = x};
    if (core_update_table(t->core, &t->ctx, &q, &out) != SHEAF_OK)
        fail_msg("UpdateTable: %s", t->err.message);
}

static void drop_index(struct core_test *t, span name)
{
    struct core_table_outcome out;
    struct core_update_table q = {.table = L("Tab"), .delete_index = name};
    assert_ok(core_update_table(t->core, &t->ctx, &q, &out));
}

static bool round_of(struct core_test *t, uint32_t max)
{
    uint64_t did;
    bool has_more;
    if (backfill_round(t->core, max, &did, &has_more, &t->err) != SHEAF_OK)
        fail_msg("backfill_round: %s", t->err.message);
    assert_true(did <= max);
    return has_more;
}

static void fill(struct core_test *t, uint32_t max)
{
    while (round_of(t, max)) {}
}

static struct core_index_info index_info(struct core_test *t, uint32_t i)
{
    struct core_table_outcome out;
    assert_ok(core_describe_table(t->core, &t->ctx, L("Tab"), &out));
    assert_true(i < out.table.n_indexes);
    return out.table.indexes[i];
}

static int setup(void **state)
{
    static struct core_test t;
    core_test_init(&t, NULL);
    create(&t);
    *state = &t;
    return 0;
}

static int teardown(void **state)
{
    core_test_deinit(*state);
    return 0;
}

/* ---- which items ---- */

static void test_backfill__indexes_every_older_item(void **state)
{
    struct core_test *t = *state;
    static const uint32_t rounds[] = {1, 7, 64, 65, 100000};
    put_items(t, 300);
    for (size_t i = 0; i < COUNT(rounds); i++) {
        add_index(t, &gsi);
        assert_true(index_info(t, 0).is_backfilling);
        fill(t, rounds[i]);
        struct core_index_info info = index_info(t, 0);
        assert_int_equal(info.status, CORE_ACTIVE);
        assert_false(info.is_backfilling);
        assert_int_equal(info.items, 300);
        test_check_table(t, "Tab");
        drop_index(t, gsi.name);
    }
}

static void test_backfill__of_an_empty_table_ends_at_once(void **state)
{
    struct core_test *t = *state;
    add_index(t, &gsi);
    assert_true(round_of(t, 10));
    assert_int_equal(index_info(t, 0).status, CORE_ACTIVE);
    assert_false(round_of(t, 10));
}

/* A string of n bytes as an item's text. */
static const char *with_long_g(struct core_test *t, unsigned r, size_t n)
{
    struct buf b;
    buf_init(&b, &t->arena, 4096);
    buf_printf(&b, "{p: 'long', r: %u, g: '", r);
    for (size_t i = 0; i < n; i++) buf_put_u8(&b, 'x');
    buf_printf(&b, "'}");
    buf_put_u8(&b, '\0');
    return (const char *)b.p;
}

/* Alternator, test_gsi_updatetable.py: test_gsi_backfill, _empty_string, _key_limits. */
static void test_backfill__leaves_out_what_cannot_be_a_key(void **state)
{
    struct core_test *t = *state;
    struct core_index_def by_range = {
        .name = L("ranged"), .n_hash = 1, .n_range = 1, .hash = {K("p", S)}, .range = {K("g", S)}};
    test_put(t, "Tab", "{p: 'a', r: 1, g: 'good'}");
    test_put(t, "Tab", "{p: 'a', r: 2}");
    test_put(t, "Tab", "{p: 'a', r: 3, g: 7}");
    test_put(t, "Tab", "{p: 'a', r: 4, g: ''}");
    test_put(t, "Tab", "{p: 'a', r: 5, g: ['good']}");
    static const unsigned lengths[] = {1024, 1025, 2048, 2049};
    for (unsigned i = 0; i < 4; i++) test_put(t, "Tab", with_long_g(t, i, lengths[i]));
    add_index(t, &gsi);
    fill(t, 3);
    assert_int_equal(index_info(t, 0).items, 4); /* good and three that 2,048 bytes hold */
    add_index(t, &by_range);
    fill(t, 3);
    assert_int_equal(index_info(t, 1).items, 2); /* good and the one that 1,024 bytes hold */
    test_check_table(t, "Tab");
    test_delete(t, "Tab", "{p: 'a', r: 4}"); /* had no entry to count out */
    test_delete(t, "Tab", "{p: 'long', r: 3}");
    test_put(t, "Tab", "{p: 'a', r: 3, g: 'better'}");
    assert_int_equal(index_info(t, 0).items, 5);
    test_check_table(t, "Tab");
}

static void test_backfill__fills_keys_of_several_attributes(void **state)
{
    struct core_test *t = *state;
    static const span include[] = {{"v", 1}};
    struct core_index_def x = {.name = L("multi"),
                               .n_hash = 2,
                               .n_range = 2,
                               .hash = {K("g", S), K("p", S)},
                               .range = {K("v", S), K("r", N)},
                               .projection = CORE_PROJECT_INCLUDE,
                               .include = include,
                               .n_include = 1};
    put_items(t, 100);
    test_put(t, "Tab", "{p: 'x', r: 1, g: 'without v'}");
    add_index(t, &x);
    fill(t, 10);
    assert_int_equal(index_info(t, 0).items, 100);
    test_check_table(t, "Tab");
}

/* ---- with others ---- */

static void test_backfill__goes_on_while_items_change(void **state)
{
    struct core_test *t = *state;
    put_items(t, 200);
    add_index(t, &gsi);
    bool has_more = true;
    for (unsigned i = 0; has_more; i++) {
        char text[80];
        snprintf(text, sizeof text, "{p: 'p%u', r: %u}", i * 7 % 200 % 17, i * 7 % 200);
        test_delete(t, "Tab", text);
        snprintf(text, sizeof text, "{p: 'p%u', r: %u, g: 'moved'}", i * 3 % 200 % 17, i * 3 % 200);
        test_put(t, "Tab", text);
        snprintf(text, sizeof text, "{p: 'new', r: %u, g: 'new'}", i);
        test_put(t, "Tab", text);
        has_more = round_of(t, 5);
    }
    assert_false(index_info(t, 0).is_backfilling);
    test_check_table(t, "Tab");
}

enum { WRITERS = 3, WRITES = 400 };
struct writer {
    struct core *core;
    pthread_t thread;
    uint64_t seed;
    unsigned failed;
};

static void *write_items(void *arg)
{
    struct writer *w = arg;
    struct rng rng;
    struct arena arena;
    sheaf_error err;
    rng_init(&rng, w->seed);
    arena_init(&arena, 4 << 20);
    struct ctx c = {&arena, &err};
    for (unsigned i = 0; i < WRITES; i++, arena_reset(&arena)) {
        struct core_write_outcome out;
        struct vb b;
        uint64_t r = rng_below(&rng, 300);
        struct num n;
        bool is_put = rng_below(&rng, 3) != 0;
        char p[8], g[8];
        snprintf(p, sizeof p, "p%u", (unsigned)(r % 17));
        snprintf(g, sizeof g, "g%u", (unsigned)rng_below(&rng, 9));
        num_from_i64((int64_t)r, &n);
        struct core_write_item q = {.write = {.action = is_put ? CORE_PUT : CORE_DELETE,
                                              .table = L("Tab"),
                                              .env = test_env(&arena, NULL, NULL)}};
        vb_init(&b, &c, 4096);
        vb_map_begin(&b);
        vb_name(&b, L("p"));
        vb_s(&b, span_cstr(p));
        vb_name(&b, L("r"));
        vb_n(&b, &n);
        if (is_put) {
            vb_name(&b, L("g"));
            vb_s(&b, span_cstr(g));
        }
        vb_end(&b);
        if (vb_finish_item(&b, &q.write.item) != SHEAF_OK ||
            core_write_item(w->core, &c, &q, &out) != SHEAF_OK)
            w->failed++;
    }
    arena_deinit(&arena);
    return NULL;
}

static void test_backfill__and_writers_agree(void **state)
{
    struct core_test *t = *state;
    struct writer writers[WRITERS];
    uint64_t seed = test_seed(11);
    put_items(t, 300);
    add_index(t, &gsi);
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.core = t->core, .seed = seed + i};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_items, &writers[i]), 0);
    }
    fill(t, 20);
    for (unsigned i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        assert_int_equal(writers[i].failed, 0);
    }
    assert_int_equal(index_info(t, 0).status, CORE_ACTIVE);
    test_check_table(t, "Tab");
}

static void test_backfill__stops_when_its_index_is_deleted(void **state)
{
    struct core_test *t = *state;
    struct core_table_outcome out;
    put_items(t, 50);
    add_index(t, &gsi);
    round_of(t, 10);
    drop_index(t, gsi.name);
    fill(t, 10);        /* what is left is to sweep */
    add_index(t, &gsi); /* another of the same name starts from the beginning */
    fill(t, 10);
    assert_int_equal(index_info(t, 0).items, 50);
    drop_index(t, gsi.name);
    add_index(t, &gsi);
    round_of(t, 10);
    assert_ok(core_delete_table(t->core, &t->ctx, L("Tab"), &out));
    fill(t, 10);
    create(t);
    put_items(t, 20);
    add_index(t, &gsi);
    fill(t, 7);
    assert_int_equal(index_info(t, 0).items, 20);
    test_check_table(t, "Tab");
}

/* ---- statistics of deleted indexes ---- */

static uint64_t count_rows(struct core_test *t, uint64_t space)
{
    sheaf_txn *txn;
    sheaf_cursor *cursor;
    struct sheaf_row row;
    bool has_row;
    uint64_t n = 0;
    assert_ok(eng_begin(t->engine, SHEAF_TXN_SNAPSHOT, &txn, NULL));
    assert_ok(eng_walk(txn, &(struct sheaf_walk){.space = space}, &cursor, NULL));
    for (;; n++) {
        assert_ok(eng_next(cursor, &row, &has_row, NULL));
        if (!has_row) break;
    }
    eng_cursor_close(cursor);
    eng_rollback(txn);
    return n;
}

static void test_sweep__takes_only_the_statistics_of_the_deleted_index(void **state)
{
    struct core_test *t = *state;
    struct core_index_def other = gsi;
    other.name = L("other");
    put_items(t, 50); /* 17 collections, 5 in an index */
    uint64_t meta = count_rows(t, SPACE_META);
    struct table *table = cat_find(t->core, L("Tab"));
    uint64_t stats = table->stats_space;
    table_unref(table);
    assert_int_equal(count_rows(t, stats), 18);
    add_index(t, &gsi);
    fill(t, 100);
    add_index(t, &other);
    fill(t, 100);
    assert_int_equal(count_rows(t, stats), 18 + 6 + 6);
    for (uint32_t max = 1; max < 100; max += 30) {
        drop_index(t, gsi.name);
        assert_int_equal(count_rows(t, SPACE_META), meta + 1);
        fill(t, max);
        assert_int_equal(count_rows(t, SPACE_META), meta);
        assert_int_equal(count_rows(t, stats), 18 + 6);
        test_check_table(t, "Tab");
        add_index(t, &gsi);
        fill(t, 100);
    }
}

static void test_sweep__ends_when_the_table_is_gone(void **state)
{
    struct core_test *t = *state;
    struct core_table_outcome out;
    uint64_t meta = count_rows(t, SPACE_META);
    put_items(t, 50);
    add_index(t, &gsi);
    fill(t, 100);
    drop_index(t, gsi.name);
    round_of(t, 3);
    assert_ok(core_delete_table(t->core, &t->ctx, L("Tab"), &out));
    fill(t, 3);
    assert_int_equal(count_rows(t, SPACE_META), meta);
}

/* ---- interruptions ---- */

static void remove_dir(const char *dir)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command) != 0) fail_msg("cannot remove %s", dir);
}

static void reopen(struct core_test *t, const char *dir)
{
    sheaf_engine *e;
    if (t->core) core_test_deinit(t);
    assert_ok(sheaf_engine_open_rocks(dir, NULL, &e, NULL));
    core_test_init_on(t, e, NULL);
}

static void test_backfill__goes_on_where_it_was_after_reopening(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_backfill_XXXXXX";
    struct core_test t = {.core = NULL};
    assert_non_null(mkdtemp(dir));
    reopen(&t, dir);
    create(&t);
    put_items(&t, 100);
    add_index(&t, &gsi);
    unsigned rounds = 0;
    while (index_info(&t, 0).is_backfilling) {
        round_of(&t, 30);
        reopen(&t, dir);
        rounds++;
    }
    assert_int_equal(rounds, 4); /* 30, 30, 30, 10: nothing was walked twice */
    assert_int_equal(index_info(&t, 0).items, 100);
    test_check_table(&t, "Tab");
    core_test_deinit(&t);
    remove_dir(dir);
}

static void test_backfill__survives_failing_and_conflicting_commits(void **state)
{
    (void)state;
    static const struct fault_rule rules[] = {
        {.call = FAULT_COMMIT, .action = FAULT_CONFLICT, .one_in = 2},
        {.call = FAULT_COMMIT, .action = FAULT_FAIL, .rc = SHEAF_IO, .one_in = 3},
        {.call = FAULT_COMMIT, .action = FAULT_UNKNOWN_KEPT, .one_in = 3},
        {.call = FAULT_COMMIT, .action = FAULT_UNKNOWN_LOST, .one_in = 3},
        {.call = FAULT_GET, .action = FAULT_FAIL, .rc = SHEAF_IO, .one_in = 40},
        {.call = FAULT_NEXT, .action = FAULT_FAIL, .rc = SHEAF_IO, .one_in = 40},
    };
    for (size_t i = 0; i < COUNT(rules); i++) {
        sheaf_engine *inner, *e;
        struct core_test t;
        uint64_t did, seed = test_seed(5);
        bool has_more = true;
        assert_ok(sheaf_engine_open_mem(NULL, &inner, NULL));
        assert_ok(fault_open(inner, &(struct fault_options){.seed = 1}, &e, NULL));
        core_test_init_on(&t, e, NULL);
        create(&t);
        put_items(&t, 120);
        add_index(&t, &gsi);
        struct fault_options schedule = {.rules = &rules[i], .n_rules = 1, .seed = seed};
        assert_ok(fault_set(e, &schedule, NULL));
        unsigned calls = 0;
        for (; has_more && calls < 10000; calls++)
            if (backfill_round(t.core, 25, &did, &has_more, &t.err) != SHEAF_OK) has_more = true;
        assert_true(fault_fired(e, 0) > 0);
        assert_ok(fault_set(e, &(struct fault_options){.seed = 1}, NULL));
        assert_int_equal(index_info(&t, 0).status, CORE_ACTIVE);
        assert_int_equal(index_info(&t, 0).items, 120);
        test_check_table(&t, "Tab");
        core_test_deinit(&t);
    }
}

static void test_backfill__fails_cleanly_at_every_allocation(void **state)
{
    (void)state;
    bool is_done = false;
    uint64_t nth = 1;
    for (; !is_done && nth < 2000; nth++) {
        struct core_test t;
        uint64_t did;
        bool has_more;
        core_test_init(&t, NULL);
        create(&t);
        put_items(&t, 10);
        add_index(&t, &gsi);
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = backfill_round(t.core, 100, &did, &has_more, &t.err);
        mem_fail_at(0, false);
        is_done = mem_count() - before < nth;
        if (rc != SHEAF_OK) assert_int_equal(rc, SHEAF_NOMEM);
        fill(&t, 100);
        assert_int_equal(index_info(&t, 0).items, 10);
        test_check_table(&t, "Tab");
        core_test_deinit(&t);
    }
    printf("%" PRIu64 " allocations failed in turn\n", nth - 2);
    assert_true(is_done && nth > 5);
}

/* ---- expiry rows ---- */

static void test_backfill__gives_older_items_their_expiry_rows(void **state)
{
    struct core_test *t = *state;
    sheaf_position at;
    for (unsigned i = 0; i < 40; i++) {
        char text[80];
        snprintf(text, sizeof text, "{p: 'a', r: %u, %s: %u}", i, i % 2 ? "exp" : "other",
                 1800000000 + i);
        test_put(t, "Tab", text);
    }
    assert_ok(core_update_ttl(t->core, &t->ctx, L("Tab"), L("exp"), true, &at));
    test_put(t, "Tab", "{p: 'b', r: 1, exp: 1800000000}");
    test_delete(t, "Tab", "{p: 'a', r: 1}");
    fill(t, 7);
    struct table *table = cat_find(t->core, L("Tab"));
    assert_false(table->is_ttl_filling);
    assert_int_equal(test_walk(t, table->ttl_space).items, 20);
    uint64_t space = table->ttl_space;
    table_unref(table);
    assert_ok(core_update_ttl(t->core, &t->ctx, L("Tab"), L("exp"), false, &at));
    assert_int_equal(test_walk(t, space).items, 0);
}

static void run_background(struct core_test *t, struct core_background *sum)
{
    struct core_background did = {.has_more = true};
    while (did.has_more) {
        if (core_run_background(t->core, &did, &t->err) != SHEAF_OK)
            fail_msg("core_run_background: %s", t->err.message);
        sum->expired += did.expired;
        sum->backfilled += did.backfilled;
    }
}

static void test_background__expires_items_that_are_older_than_ttl(void **state)
{
    (void)state;
    struct core_test t;
    struct clock_manual clock;
    struct core_background sum = {.expired = 0};
    struct core_table_outcome out;
    sheaf_position at;
    clock_manual_init(&clock, INT64_C(1800000000) * 1000000);
    core_test_init(&t, &(struct core_options){.clock = &clock.base});
    create(&t);
    for (unsigned i = 0; i < 100; i++) {
        char text[80];
        snprintf(text, sizeof text, "{p: 'a', r: %u, exp: %u}", i, 1800000000 + i * 10);
        test_put(&t, "Tab", text);
    }
    assert_ok(core_update_ttl(t.core, &t.ctx, L("Tab"), L("exp"), true, &at));
    clock_manual_advance(&clock, INT64_C(505) * 1000000);
    run_background(&t, &sum);
    assert_int_equal(sum.backfilled, 100);
    assert_int_equal(sum.expired, 51);
    assert_ok(core_describe_table(t.core, &t.ctx, L("Tab"), &out));
    assert_int_equal(out.table.items, 49);
    core_test_deinit(&t);
}

static void test_background__fills_an_index_and_ranks_its_collections(void **state)
{
    struct core_test *t = *state;
    struct core_background sum = {.expired = 0};
    struct core_collections largest;
    put_items(t, 103); /* g0 … g2 have 21, g3 and g4 20 */
    add_index(t, &gsi);
    run_background(t, &sum);
    assert_int_equal(sum.backfilled, 103);
    assert_int_equal(index_info(t, 0).status, CORE_ACTIVE);
    assert_ok(core_largest(t->core, &t->ctx, L("Tab"), gsi.name, 10, &largest));
    assert_int_equal(largest.n, 5);
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(largest.all[i].items, i < 3 ? 21 : 20);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_backfill__indexes_every_older_item),
        T(test_backfill__of_an_empty_table_ends_at_once),
        T(test_backfill__leaves_out_what_cannot_be_a_key),
        T(test_backfill__fills_keys_of_several_attributes),
        T(test_backfill__goes_on_while_items_change),
        T(test_backfill__and_writers_agree),
        T(test_backfill__stops_when_its_index_is_deleted),
        T(test_sweep__takes_only_the_statistics_of_the_deleted_index),
        T(test_sweep__ends_when_the_table_is_gone),
        cmocka_unit_test(test_backfill__goes_on_where_it_was_after_reopening),
        cmocka_unit_test(test_backfill__survives_failing_and_conflicting_commits),
        cmocka_unit_test(test_backfill__fails_cleanly_at_every_allocation),
        T(test_backfill__gives_older_items_their_expiry_rows),
        cmocka_unit_test(test_background__expires_items_that_are_older_than_ttl),
        T(test_background__fills_an_index_and_ranks_its_collections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
