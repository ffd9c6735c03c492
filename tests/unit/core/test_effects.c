/* What follows from a write: entries of indexes, statistics, charges of indexes, collections with
 * local indexes. The judge is test_check_table: a walk over everything. */
#include "support/core_support.h"

#include "support/exprs.h"

#define PARITY_INDEXES "dynamodb-conformance tests/tier1/putItem/indexConsumedCapacity.test.ts"

static struct core_test t;
static struct core_write_outcome out;

static sheaf_rc write_one(enum core_action action, const char *table, const char *item,
                          const char *update, const char *values)
{
    struct core_write_item q = {.write = {.action = action,
                                          .table = span_cstr(table),
                                          .item = test_item(&t, item),
                                          .update = update ? span_cstr(update) : SPAN_NONE,
                                          .env = test_env(&t.arena, NULL, values)},
                                .capacity = CORE_CAPACITY_INDEXES,
                                .wants_metrics = true};
    return core_write_item(t.core, &t.ctx, &q, &out);
}

static int setup(void **state)
{
    (void)state;
    core_test_init(&t, &(struct core_options){.max_collection_bytes = 20000});
    test_table(t.core, "T", "pk:S", "sk:S",
               "gsi(gsiPk:S) INCLUDE proj; local lsi1(pk:S|lsiSk:S) ALL");
    test_table(t.core, "M", "pk:S", "sk:N",
               "many(a:S, b:N|c:S, d:B) ALL; keys(a:S|pk:S) KEYS_ONLY; some(b:N) INCLUDE v, w; "
               "local l(pk:S|c:S) KEYS_ONLY");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

/* ---- what an index is charged ---- */

struct ladder {
    const char *before, *update, *values, *put; /* put: over `before`; neither: DeleteItem */
    double total, table, gsi, lsi;              /* 0: no arm */
    const char *source;
};

#define FULL "{pk: 'p', sk: '1', gsiPk: 'g', lsiSk: 'L1', proj: 'p', oth: 'o'}"

static const struct ladder ladders[] = {
    {NULL, 0, 0, "{pk: 'p', sk: '1', gsiPk: 'g1', proj: 'p'}", 2, 1, 1, 0, PARITY_INDEXES},
    {NULL, 0, 0, "{pk: 'p', sk: '1', oth: 'o'}", 1, 1, 0, 0, PARITY_INDEXES},
    {NULL, 0, 0, "{pk: 'p', sk: '1', lsiSk: 'L1'}", 2, 1, 0, 1, PARITY_INDEXES},
    {NULL, 0, 0, FULL, 3, 1, 1, 1, PARITY_INDEXES},
    {FULL, 0, 0, FULL, 1, 1, 0, 0, PARITY_INDEXES},
    {FULL, "SET oth = :v", "{':v': 'o2'}", 0, 2, 1, 0, 1, PARITY_INDEXES},
    {FULL, "SET proj = :v", "{':v': 'p2'}", 0, 3, 1, 1, 1, PARITY_INDEXES},
    {FULL, "SET gsiPk = :v", "{':v': 'g2'}", 0, 4, 1, 2, 1, PARITY_INDEXES},
    {FULL, "REMOVE gsiPk", 0, 0, 3, 1, 1, 1, PARITY_INDEXES},
    {FULL, "SET lsiSk = :v", "{':v': 'L2'}", 0, 3, 1, 0, 2, PARITY_INDEXES},
    {FULL, 0, 0, 0, 3, 1, 1, 1, PARITY_INDEXES},
    {"{pk: 'p', sk: '1', oth: 'o'}", 0, 0, 0, 1, 1, 0, 0, PARITY_INDEXES},
};

static double arm(const char *name)
{
    for (uint32_t i = 0; i < out.capacity.n_arms; i++)
        if (span_eq(out.capacity.arms[i].index, span_cstr(name))) return out.capacity.arms[i].units;
    return 0;
}

static void test_capacity__of_indexes_follows_the_service(void **state)
{
    (void)state;
    struct sources sources = {0, 0};
    static const char key[] = "{pk: 'p', sk: '1'}";
    for (size_t i = 0; i < sizeof ladders / sizeof *ladders; i++) {
        const struct ladder *x = &ladders[i];
        assert_ok(write_one(CORE_DELETE, "T", key, NULL, NULL));
        if (x->before) assert_ok(write_one(CORE_PUT, "T", x->before, NULL, NULL));
        if (x->put)
            assert_ok(write_one(CORE_PUT, "T", x->put, NULL, NULL));
        else if (x->update)
            assert_ok(write_one(CORE_UPDATE, "T", key, x->update, x->values));
        else
            assert_ok(write_one(CORE_DELETE, "T", key, NULL, NULL));
        if (out.capacity.units != x->total || arm("") != x->table || arm("gsi") != x->gsi ||
            arm("lsi1") != x->lsi)
            fail_msg("ladder %zu: total %g, table %g, gsi %g, lsi %g", i, out.capacity.units,
                     arm(""), arm("gsi"), arm("lsi1"));
        assert_int_equal(out.capacity.n_arms, 1 + (x->gsi > 0) + (x->lsi > 0));
        test_check_table(&t, "T");
        sources_count(&sources, x->source);
    }
    sources_print(&sources, "charges of indexes");
}

/* ---- random writes against a walk ---- */

static const char *random_attribute(struct rng *r, const char *name, char type, char *to)
{
    unsigned long long v = rng_below(r, 4);
    int n = type == 'N'   ? sprintf(to, ", %s: %llu", name, v)
            : type == 'B' ? sprintf(to, ", %s: b'x%llu'", name, v)
                          : sprintf(to, ", %s: 'x%llu'", name, v);
    return rng_below(r, 3) ? to + n : (*to = '\0', to);
}

static void write_at_random(uint64_t seed, uint64_t rounds)
{
    struct rng r;
    rng_init(&r, seed);
    for (uint64_t i = 0; i < rounds; i++) {
        char item[256], *at = item;
        at += sprintf(at, "{pk: 'p%d', sk: %d", (int)rng_below(&r, 4), (int)rng_below(&r, 5));
        uint64_t what = rng_below(&r, 8);
        if (what > 1) {
            static const char types[] = "SNSBSS", *names[] = {"a", "b", "c", "d", "v", "w"};
            for (size_t k = 0; k < 6; k++)
                at = (char *)(uintptr_t)random_attribute(&r, names[k], types[k], at);
        }
        memcpy(at, "}", 2);
        if (what == 0)
            assert_ok(write_one(CORE_DELETE, "M", item, NULL, NULL));
        else if (what == 1)
            assert_ok(write_one(CORE_UPDATE, "M", item, "REMOVE c SET v = :v, a = :a",
                                rng_below(&r, 2) ? "{':v': 'vvv', ':a': 'x1'}"
                                                 : "{':v': 'v', ':a': 'x2'}"));
        else
            assert_ok(write_one(CORE_PUT, "M", item, NULL, NULL));
        if (i % 50 == 0 || i + 1 == rounds) test_check_table(&t, "M");
        if (i % 200 == 0) arena_reset(&t.arena);
    }
}

static void test_entries__and_statistics_hold_after_random_writes(void **state)
{
    (void)state;
    write_at_random(test_seed(20261115), test_rounds(3000));
}

static void open_rocks(const char *directory)
{
    sheaf_engine *engine;
    assert_ok(sheaf_engine_open_rocks(directory, NULL, &engine, NULL));
    core_test_init_on(&t, engine, NULL);
}

static void test_entries__and_statistics_hold_on_disk(void **state)
{
    (void)state;
    char directory[] = "/tmp/sheaf-effects-XXXXXX", command[64];
    core_test_deinit(&t);
    assert_non_null(mkdtemp(directory));
    open_rocks(directory);
    test_table(t.core, "M", "pk:S", "sk:N",
               "many(a:S, b:N|c:S, d:B) ALL; keys(a:S|pk:S) KEYS_ONLY; local l(pk:S|c:S) ALL");
    write_at_random(test_seed(20261116), test_rounds(500));
    core_test_deinit(&t);
    open_rocks(directory);
    test_check_table(&t, "M");
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    core_test_deinit(&t);
    assert_int_equal(system(command), 0);
    core_test_init(&t, NULL); /* for the tear-down */
}

/* ---- collections with local indexes ---- */

static char text[64 << 10];

static const char *sized(const char *sk, size_t n)
{
    int at = sprintf(text, "{pk: 'p', sk: '%s', lsiSk: 'x', v: '", sk);
    memset(text + at, 'v', n);
    memcpy(text + at + n, "'}", 3);
    return text;
}

static void test_collection__counts_the_local_indexes_and_has_a_limit(void **state)
{
    (void)state;
    /* One item: pk 2 + 1, sk 2 + 1, lsiSk 5 + 1, v 1 + 4,900 = 4,913; its entry in lsi1 as much. */
    assert_ok(write_one(CORE_PUT, "T", sized("1", 4900), NULL, NULL));
    assert_span(out.metrics.table, "T");
    assert_string_equal(test_text(&t, out.metrics.key), "{pk: 'p'}");
    assert_int_equal(out.metrics.bytes, 2 * 4913);
    assert_ok(write_one(CORE_PUT, "T", sized("2", 4900), NULL, NULL));
    assert_int_equal(out.metrics.bytes, 4 * 4913); /* 19,652 of 20,000 */
    assert_rc(write_one(CORE_PUT, "T", sized("3", 400), NULL, NULL), SHEAF_ITEM_COLLECTION_SIZE);
    assert_string_equal(t.err.message, "Collection size exceeded.");
    assert_rc(write_one(CORE_PUT, "T", sized("3", 162), NULL, NULL), SHEAF_ITEM_COLLECTION_SIZE);
    assert_ok(write_one(CORE_PUT, "T", sized("3", 161), NULL, NULL)); /* 2 * 174 + 19,652 */
    assert_int_equal(out.metrics.bytes, 20000);
    assert_ok(write_one(CORE_PUT, "T", sized("1", 4800), NULL, NULL)); /* to shrink is allowed */
    assert_ok(write_one(CORE_DELETE, "T", "{pk: 'p', sk: '2'}", NULL, NULL));
    assert_int_equal(out.metrics.bytes, 20000 - 200 - 2 * 4913);
    assert_ok(write_one(CORE_PUT, "T", "{pk: 'q', sk: '1'}", NULL, NULL)); /* another collection */
    test_check_table(&t, "T");
}

static void test_collection__of_a_table_without_local_indexes_is_not_reported(void **state)
{
    (void)state;
    test_table(t.core, "G", "pk:S", NULL, "g(v:S) ALL");
    assert_ok(write_one(CORE_PUT, "G", "{pk: 'p', v: 'v'}", NULL, NULL));
    assert_null(out.metrics.table.p);
}

static void test_item__with_its_local_entries_has_400_kilobytes(void **state)
{
    (void)state;
    core_test_deinit(&t);
    core_test_init(&t, NULL);
    test_table(t.core, "T", "pk:S", "sk:S", "local lsi1(pk:S|lsiSk:S) ALL");
    static char big[300 << 10];
    /* 13 + 204,787 = 204,800 with as much in lsi1 */
    int at = sprintf(big, "{pk: 'p', sk: '1', lsiSk: 'x', v: '");
    memset(big + at, 'v', 204787);
    memcpy(big + at + 204787, "'}", 3);
    assert_ok(write_one(CORE_PUT, "T", big, NULL, NULL));
    memcpy(big + at + 204787, "v'}", 4);
    assert_rc(write_one(CORE_PUT, "T", big, NULL, NULL), SHEAF_VALIDATION);
    assert_string_equal(t.err.message, "Item size has exceeded the maximum allowed size");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_capacity__of_indexes_follows_the_service),
        CASE(test_entries__and_statistics_hold_after_random_writes),
        CASE(test_entries__and_statistics_hold_on_disk),
        CASE(test_collection__counts_the_local_indexes_and_has_a_limit),
        CASE(test_collection__of_a_table_without_local_indexes_is_not_reported),
        CASE(test_item__with_its_local_entries_has_400_kilobytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
