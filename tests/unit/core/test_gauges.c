/* Heat, largest collections and sizes of collections. */
#include "support/core_support.h"

#include "base/mem.h"
#include "core/gauges.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

static struct core_test t;
static struct clock_manual hands;
static struct core_collections out;

static int setup(void **state)
{
    (void)state;
    clock_manual_init(&hands, INT64_C(1800000000000000));
    core_test_init(&t, &(struct core_options){.clock = &hands.base, .seed = 1});
    test_table(t.core, "T", "PK:S", "SK:N",
               "gsi(G:S) ALL; local lsi(PK:S|L:S) ALL; multi(G:S, H:N) KEYS_ONLY");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

static struct table *table(void)
{
    struct table *tab = cat_find(t.core, SPAN_LIT("T"));
    table_unref(tab); /* the catalog keeps it */
    return tab;
}

static val text_val(const char *text) { return doc_text_val(&t.arena, text); }

static struct throttle_key key_of(val partition)
{
    struct throttle_key k = {.n = val_is_absent(partition) ? 0 : 1, .partition = {partition}};
    if (k.n) k.place = key_place(core_secret(t.core), 1, 1, &partition);
    return k;
}

static sheaf_rc read_key(const struct table *tab, const struct table_index *x, val partition,
                         double units, sheaf_error *err)
{
    struct throttle_key k = key_of(partition);
    return throttle_read(t.core, tab, x, &k, units, err);
}

static sheaf_rc write_key(const struct table *tab, const struct table_index *x, val partition,
                          double units, sheaf_error *err)
{
    struct throttle_key k = key_of(partition);
    return throttle_write(t.core, tab, x, &k, units, err);
}

static void read_n(const char *key, int n)
{
    for (int i = 0; i < n; i++) assert_ok(read_key(table(), NULL, text_val(key), 0.5, NULL));
}

static void write_n(const char *key, int n)
{
    for (int i = 0; i < n; i++) assert_ok(write_key(table(), NULL, text_val(key), 1, NULL));
}

static void hottest(const char *index, uint32_t limit)
{
    assert_ok(core_hottest(t.core, &t.ctx, SPAN_LIT("T"), index ? span_cstr(index) : SPAN_NONE,
                           limit, &out));
}

static void largest(const char *index, uint32_t limit)
{
    assert_ok(core_largest(t.core, &t.ctx, SPAN_LIT("T"), index ? span_cstr(index) : SPAN_NONE,
                           limit, &out));
}

static const char *key_at(uint32_t i) { return test_text(&t, out.all[i].key); }

static bool is_near(double a, double b) { return fabs(a - b) < 1e-9 * (1 + fabs(b)); }

/* ---- heat ---- */

static void test_heat__ranks_by_what_a_partition_can_take(void **state)
{
    (void)state;
    read_n("'a'", 20); /* 10 units */
    write_n("'b'", 5); /* weighs 15 */
    read_n("'c'", 2);
    hottest(NULL, 10);
    assert_int_equal(out.n, 3);
    assert_string_equal(key_at(0), "{PK: 'b'}");
    assert_string_equal(key_at(1), "{PK: 'a'}");
    assert_string_equal(key_at(2), "{PK: 'c'}");
    assert_true(is_near(out.all[0].writes_per_s, 5) && is_near(out.all[0].reads_per_s, 0));
    assert_true(is_near(out.all[1].reads_per_s, 10) && is_near(out.all[1].writes_per_s, 0));
    hottest(NULL, 1);
    assert_int_equal(out.n, 1);
}

static void test_heat__is_of_the_last_minute(void **state)
{
    (void)state;
    read_n("'a'", 120);
    clock_manual_advance(&hands, 30 * 1000000);
    read_n("'b'", 60);
    hottest(NULL, 10);
    assert_true(is_near(out.all[0].reads_per_s, 2)); /* 60 units in 30 seconds */
    clock_manual_advance(&hands, 29 * 1000000);
    hottest(NULL, 10);
    assert_int_equal(out.n, 2);
    assert_string_equal(key_at(0), "{PK: 'a'}");
    clock_manual_advance(&hands, 2 * 1000000);
    hottest(NULL, 10);
    assert_int_equal(out.n, 1);
    assert_string_equal(key_at(0), "{PK: 'b'}");
    assert_true(is_near(out.all[0].reads_per_s, 30 / 51.0)); /* the window is 5 slots and a part */
    clock_manual_advance(&hands, INT64_C(3600) * 1000000);
    hottest(NULL, 10);
    assert_int_equal(out.n, 0);
}

static void test_heat__survives_a_clock_that_goes_back(void **state)
{
    (void)state;
    read_n("'a'", 10);
    clock_manual_advance(&hands, INT64_C(-7200) * 1000000);
    read_n("'b'", 10);
    hottest(NULL, 10);
    assert_int_equal(out.n, 1);
    assert_string_equal(key_at(0), "{PK: 'b'}");
}

/* A thread that looked at the clock and then had to wait comes with a time that is past. */
static void test_heat__loses_nothing_to_one_who_comes_late(void **state)
{
    (void)state;
    read_n("'a'", 100);
    clock_manual_advance(&hands, 35 * 1000000);
    read_n("'b'", 100);
    clock_manual_advance(&hands, -35 * 1000000);
    read_n("'c'", 1);
    clock_manual_advance(&hands, 35 * 1000000);
    hottest(NULL, 10);
    assert_int_equal(out.n, 3);
    assert_true(is_near(out.all[0].reads_per_s, 50 / 35.0));
    assert_true(is_near(out.all[1].reads_per_s, 50 / 35.0));
}

static void test_heat__is_fed_by_operations_and_shows_sizes(void **state)
{
    (void)state;
    test_put(&t, "T", "{PK: 'a', SK: 1, G: 'g'}");
    test_put(&t, "T", "{PK: 'a', SK: 2, G: 'g'}");
    hottest(NULL, 10);
    assert_int_equal(out.n, 1);
    assert_string_equal(key_at(0), "{PK: 'a'}");
    assert_int_equal(out.all[0].items, 2);
    assert_true(out.all[0].bytes > 0 && out.position > 0);
    assert_true(is_near(out.all[0].writes_per_s, 2));
    hottest("gsi", 10);
    assert_string_equal(key_at(0), "{G: 'g'}");
    assert_int_equal(out.all[0].items, 2);
}

static void test_heat__finds_hot_keys_among_very_many(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(7));
    enum { HOT = 10, CALLS = 200000 };
    for (int i = 0; i < CALLS; i++) {
        char text[32];
        /* One call in five goes to ten hot keys, the rest to 100,000 others. */
        if (rng_below(&r, 5) == 0)
            snprintf(text, sizeof text, "'hot%u'", (unsigned)rng_below(&r, HOT));
        else
            snprintf(text, sizeof text, "'cold%u'", (unsigned)rng_below(&r, 100000));
        struct arena_mark at = arena_mark(&t.arena);
        assert_ok(read_key(table(), NULL, text_val(text), 1, NULL));
        arena_rewind(&t.arena, at);
    }
    hottest(NULL, HOT);
    assert_int_equal(out.n, HOT);
    for (uint32_t i = 0; i < HOT; i++) {
        assert_memory_equal(key_at(i), "{PK: 'hot", 9);
        /* 4,000 calls each, give or take what came before it had a seat. */
        assert_true(out.all[i].reads_per_s > 3400 && out.all[i].reads_per_s < 4600);
    }
}

static double cpu_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

/* What a request pays, beside hashing the key alone. Printed, not asserted: machines are shared. */
static void test_heat__costs_little(void **state)
{
    (void)state;
    enum { CALLS = 200000, KEYS = 50000 };
    static const unsigned counts[] = {1, 200, 2000, KEYS};
    core_test_deinit(&t);
    core_test_init(&t, NULL); /* the system's clock */
    struct table *tab = test_table(t.core, "T", "PK:S", NULL, NULL);
    val *keys = ARENA_ARRAY(&t.arena, val, KEYS);
    for (int i = 0; i < KEYS; i++) {
        char text[32];
        snprintf(text, sizeof text, "'USER#%08d'", i);
        keys[i] = text_val(text);
    }
    for (size_t which = 0; which < sizeof counts / sizeof *counts; which++) {
        unsigned sum = 0;
        double from = cpu_ns();
        for (unsigned i = 0; i < CALLS; i++)
            sum += key_place(core_secret(t.core), 99, 1, &keys[i * 7919u % counts[which]]).b[9];
        double hashed = cpu_ns();
        for (unsigned i = 0; i < CALLS; i++)
            assert_ok(read_key(tab, NULL, keys[i * 7919u % counts[which]], 0.5, NULL));
        print_message("throttle_read over %u keys: %.0f ns of CPU (hashing alone %.0f, sum %u)\n",
                      counts[which], (cpu_ns() - hashed) / CALLS, (hashed - from) / CALLS, sum);
    }
}

static void test_heat__keeps_long_keys_and_those_of_many_attributes(void **state)
{
    (void)state;
    char text[2100];
    memset(text, 'k', sizeof text);
    text[0] = text[2049] = '\'';
    text[2050] = 0;
    read_n(text, 3);
    read_n("'short'", 1);
    hottest(NULL, 10);
    assert_int_equal(out.n, 2);
    assert_int_equal(val_bytes(val_find(item_map(out.all[0].key), SPAN_LIT("PK"))).n, 2048);
    const struct table_index *x = table_index(table(), SPAN_LIT("multi"));
    struct throttle_key both = {.partition = {text_val("'g'"), text_val("'p'")}, .n = 2};
    both.place = key_place(core_secret(t.core), 1, 2, both.partition);
    assert_ok(throttle_read(t.core, table(), x, &both, 4, NULL));
    hottest("multi", 10);
    assert_string_equal(key_at(0), "{G: 'g', H: 'p'}");
    /* A scan has no key. */
    assert_ok(read_key(table(), NULL, VAL_ABSENT, 100, NULL));
}

/* ---- sizes ---- */

static void test_collection__is_exact(void **state)
{
    (void)state;
    struct core_collection k;
    for (int i = 0; i < 5; i++) {
        char text[128];
        snprintf(text, sizeof text, "{PK: 'a', SK: %d, G: 'g', H: %d, L: 'l'}", i, i % 2);
        test_put(&t, "T", text);
    }
    test_delete(&t, "T", "{PK: 'a', SK: 4}");
    assert_ok(
        core_collection(t.core, &t.ctx, SPAN_LIT("T"), SPAN_NONE, test_item(&t, "{PK: 'a'}"), &k));
    assert_int_equal(k.items, 4);
    assert_int_equal(k.bytes, test_walk(&t, table()->space).bytes);
    assert_true(is_near(k.writes_per_s, 12)); /* the item and its entry in lsi, each time */
    assert_ok(core_collection(t.core, &t.ctx, SPAN_LIT("T"), SPAN_LIT("multi"),
                              test_item(&t, "{G: 'g', H: 1}"), &k));
    assert_int_equal(k.items, 2);
    assert_string_equal(test_text(&t, k.key), "{G: 'g', H: 1}");
    assert_ok(core_collection(t.core, &t.ctx, SPAN_LIT("T"), SPAN_LIT("gsi"),
                              test_item(&t, "{G: 'nobody'}"), &k));
    assert_int_equal(k.items + k.bytes, 0);
}

static void test_collection__refuses_what_is_no_partition_key(void **state)
{
    (void)state;
    struct core_collection k;
    static const char *const bad[] = {"{}", "{PK: 1}", "{PK: ''}", "{PK: 'a', SK: 1}", "{G: 'g'}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_rc(
            core_collection(t.core, &t.ctx, SPAN_LIT("T"), SPAN_NONE, test_item(&t, bad[i]), &k),
            SHEAF_VALIDATION);
        assert_string_equal(t.err.message, "The provided key element does not match the schema");
    }
    span key = test_item(&t, "{PK: 'a'}");
    assert_rc(core_collection(t.core, &t.ctx, SPAN_LIT("T"), SPAN_LIT("none"), key, &k),
              SHEAF_VALIDATION);
    assert_string_equal(t.err.message, "The table does not have the specified index: none");
    assert_rc(core_collection(t.core, &t.ctx, SPAN_LIT("Nope"), SPAN_NONE, key, &k),
              SHEAF_RESOURCE_NOT_FOUND);
    assert_rc(core_largest(t.core, &t.ctx, SPAN_LIT("Nope"), SPAN_NONE, 5, &out),
              SHEAF_RESOURCE_NOT_FOUND);
    assert_rc(core_hottest(t.core, &t.ctx, SPAN_LIT("T"), SPAN_LIT("none"), 5, &out),
              SHEAF_VALIDATION);
}

static void fill_collection(const char *pk, int n)
{
    for (int i = 0; i < n; i++) {
        char text[128];
        struct arena_mark at = arena_mark(&t.arena);
        snprintf(text, sizeof text, "{PK: '%s', SK: %d, G: 'g%d'}", pk, i, i % 2);
        test_put(&t, "T", text);
        arena_rewind(&t.arena, at);
    }
}

static void test_largest__ranks_by_bytes(void **state)
{
    (void)state;
    fill_collection("small", 2);
    fill_collection("large", 9);
    fill_collection("middle", 4);
    fill_collection("emptied", 1);
    test_delete(&t, "T", "{PK: 'emptied', SK: 0}");
    largest(NULL, 10);
    assert_int_equal(out.n, 3);
    assert_string_equal(key_at(0), "{PK: 'large'}");
    assert_int_equal(out.all[0].items, 9);
    assert_string_equal(key_at(1), "{PK: 'middle'}");
    assert_string_equal(key_at(2), "{PK: 'small'}");
    largest("gsi", 1);
    assert_int_equal(out.n, 1);
    assert_string_equal(key_at(0), "{G: 'g0'}");
    assert_int_equal(out.all[0].items, 8);
    largest("lsi", 10);
    assert_int_equal(out.n, 0);
}

static void test_largest__finds_a_collection_that_grows_among_very_many(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        char pk[16];
        snprintf(pk, sizeof pk, "c%d", i);
        fill_collection(pk, 1);
    }
    fill_collection("grown", 300);
    largest(NULL, 3);
    assert_string_equal(key_at(0), "{PK: 'grown'}");
    assert_int_equal(out.all[0].items, 300);
}

static int scratch_dir(char *to)
{
    strcpy(to, "/tmp/sheaf-gauges-XXXXXX");
    return mkdtemp(to) ? 0 : -1;
}

static void open_rocks(const char *directory)
{
    sheaf_engine *engine;
    assert_ok(sheaf_engine_open_rocks(directory, NULL, &engine, NULL));
    core_test_init_on(&t, engine, &(struct core_options){.clock = &hands.base});
}

static void test_largest__is_found_again_after_a_reopen(void **state)
{
    (void)state;
    char directory[32], command[64];
    assert_int_equal(scratch_dir(directory), 0);
    core_test_deinit(&t);
    open_rocks(directory);
    test_table(t.core, "T", "PK:S", "SK:N", "gsi(G:S) ALL; multi(G:S, PK:S) KEYS_ONLY");
    for (int i = 0; i < 400; i++) {
        char pk[16];
        snprintf(pk, sizeof pk, "c%d", i);
        fill_collection(pk, 1);
    }
    fill_collection("c123", 9);
    core_test_deinit(&t);
    open_rocks(directory);
    struct table *tab = table();
    bool has_more = true;
    int rounds = 0;
    for (; has_more; rounds++) assert_ok(gauges_round(t.core, 100, &has_more, &t.err));
    assert_true(rounds > 8); /* 800 rows and more, a hundred at a time */
    assert_true(tab->gauges->is_rebuilt);
    largest(NULL, 2);
    assert_string_equal(key_at(0), "{PK: 'c123'}");
    assert_int_equal(out.all[0].items, 9);
    largest("multi", 1);
    assert_string_equal(key_at(0), "{G: 'g0', PK: 'c123'}");
    core_test_deinit(&t);
    /* Who asks first need not wait for the background. */
    open_rocks(directory);
    largest("gsi", 1);
    assert_string_equal(key_at(0), "{G: 'g0'}");
    core_test_deinit(&t);
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    core_test_init(&t, NULL);
}

/* ---- life ---- */

static void add_name(struct core *core, struct table *tab)
{
    tab->indexes[0].space = cat_take_number(core);
}

static void test_gauges__outlive_schema_changes_and_let_go_of_deleted_indexes(void **state)
{
    (void)state;
    read_n("'a'", 4);
    for (int i = 0; i < 3 * GAUGES_MAX; i++) {
        struct table *tab = test_change_table(t.core, "T", add_name);
        assert_ok(read_key(tab, &tab->indexes[0], text_val("'g'"), i + 1, NULL));
        hottest("gsi", 5);
        assert_int_equal(out.n, 1);
        assert_true(is_near(out.all[0].reads_per_s, i + 1));
    }
    hottest(NULL, 10);
    assert_true(is_near(out.all[0].reads_per_s, 2));
}

/* A request that began before an index was added leaves the index's figures alone. */
static void test_gauges__are_safe_from_older_versions_of_the_table(void **state)
{
    (void)state;
    struct table *old = cat_find(t.core, SPAN_LIT("T"));
    struct table *tab = test_change_table(t.core, "T", add_name);
    assert_ok(read_key(tab, &tab->indexes[0], text_val("'g'"), 60, NULL));
    assert_ok(read_key(old, &old->indexes[1], text_val("'h'"), 60, NULL));
    assert_ok(read_key(old, &old->indexes[0], text_val("'i'"), 60, NULL));
    table_unref(old);
    hottest("gsi", 5);
    assert_int_equal(out.n, 1);
    assert_string_equal(key_at(0), "{G: 'g'}");
}

static void test_gauges__do_without_memory(void **state)
{
    (void)state;
    char text[300];
    memset(text, 'k', sizeof text);
    text[0] = text[200] = '\'';
    text[201] = 0;
    val key = text_val(text);
    span item = test_item(&t, "{PK: 'a', SK: 1}");
    uint64_t refused = 0;
    for (uint64_t nth = 1, is_reached = true; is_reached; nth++) {
        core_test_deinit(&t);
        core_test_init(&t, &(struct core_options){.clock = &hands.base});
        test_table(t.core, "T", "PK:S", "SK:N", "gsi(G:S) ALL");
        key = text_val(text);
        item = test_item(&t, "{PK: 'a', SK: 1}");
        struct table *tab = table();
        sheaf_engine_key k;
        assert_ok(row_item_key(t.core, &t.ctx, tab, table_hash_of(tab, item_map(item)),
                               table_range_of(tab, item_map(item)), &k));
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        assert_ok(read_key(tab, NULL, key, 1, NULL)); /* figures are lost, not requests */
        gauges_written(t.core, tab, tab->space, &k.p, item_map(item));
        sheaf_rc rc = core_hottest(t.core, &t.ctx, SPAN_LIT("T"), SPAN_NONE, 5, &out);
        if (rc == SHEAF_OK) rc = core_largest(t.core, &t.ctx, SPAN_LIT("T"), SPAN_NONE, 5, &out);
        mem_fail_at(0, false);
        is_reached = mem_count() - before >= nth;
        assert_true(rc == SHEAF_OK || (rc == SHEAF_NOMEM && is_reached));
        refused += rc != SHEAF_OK;
        arena_reset(&t.arena); /* the next round's first bytes are asked for again */
    }
    assert_true(refused > 0);
    hottest(NULL, 5);
    assert_int_equal(out.n, 1); /* nothing failed in the last round */
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 3000 };

static void *hammer(void *ctx)
{
    unsigned id = *(unsigned *)ctx;
    struct arena arena;
    sheaf_error err;
    arena_init(&arena, 16 << 20);
    struct ctx c = {&arena, &err};
    for (unsigned i = 0; i < ROUNDS; i++) {
        char text[64];
        struct core_collections all;
        arena_reset(&arena);
        snprintf(text, sizeof text, "'k%u'", i % 3 == 0 ? i : id);
        val key = doc_text_val(&arena, text);
        struct table *tab = cat_find(t.core, SPAN_LIT("T"));
        if (read_key(tab, NULL, key, 1, NULL) != SHEAF_OK) abort();
        sheaf_place place = key_place(core_secret(t.core), tab->space, 1, &key);
        snprintf(text, sizeof text, "{PK: 'k%u', SK: 1}", i % 3 == 0 ? i : id);
        gauges_written(t.core, tab, tab->space, &place, item_map(doc_text_item(&arena, text)));
        if (i % 500 == 0 &&
            (core_hottest(t.core, &c, SPAN_LIT("T"), SPAN_NONE, 5, &all) != SHEAF_OK ||
             core_largest(t.core, &c, SPAN_LIT("T"), SPAN_NONE, 5, &all) != SHEAF_OK))
            abort();
        if (id == 0 && i % 700 == 0) clock_manual_advance(&hands, 6 * 1000000);
        table_unref(tab);
    }
    arena_deinit(&arena);
    return NULL;
}

static void test_gauges__are_shared_by_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    unsigned ids[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        ids[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &ids[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    hottest(NULL, THREADS);
    assert_int_equal(out.n, THREADS);
    for (uint32_t i = 0; i < THREADS; i++) /* the threads' own keys lead */
        assert_int_equal(strlen(key_at(i)), strlen("{PK: 'k0'}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_heat__ranks_by_what_a_partition_can_take),
        CASE(test_heat__is_of_the_last_minute),
        CASE(test_heat__survives_a_clock_that_goes_back),
        CASE(test_heat__loses_nothing_to_one_who_comes_late),
        CASE(test_heat__is_fed_by_operations_and_shows_sizes),
        CASE(test_heat__finds_hot_keys_among_very_many),
        CASE(test_heat__costs_little),
        CASE(test_heat__keeps_long_keys_and_those_of_many_attributes),
        CASE(test_collection__is_exact),
        CASE(test_collection__refuses_what_is_no_partition_key),
        CASE(test_largest__ranks_by_bytes),
        CASE(test_largest__finds_a_collection_that_grows_among_very_many),
        CASE(test_largest__is_found_again_after_a_reopen),
        CASE(test_gauges__outlive_schema_changes_and_let_go_of_deleted_indexes),
        CASE(test_gauges__are_safe_from_older_versions_of_the_table),
        CASE(test_gauges__do_without_memory),
        CASE(test_gauges__are_shared_by_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
