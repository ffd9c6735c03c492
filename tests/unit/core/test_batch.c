/* BatchWriteItem: all is validated before anything is written; each item is a write of its own. */
#include "support/core_support.h"

#include "base/mem.h"
#include "engine/fault/fault.h"
#include "support/exprs.h"

#define NOT_VALID "One or more parameter values are not valid. "
#define NO_MATCH "The provided key element does not match the schema"
#define DYNALITE_BATCH "dynalite test/batchWriteItem.js"

static struct core_test t;
static struct core_multi_outcome out;

struct entry {
    enum core_action action;
    const char *table, *item;
};

static sheaf_rc send(const struct entry *all, uint32_t n, struct ctx *c)
{
    struct core_write *writes = ARENA_ARRAY(&t.arena, struct core_write, n + 1);
    struct expr_env *env = test_env(&t.arena, NULL, NULL); /* shared, as the API does */
    for (uint32_t i = 0; i < n; i++)
        writes[i] = (struct core_write){.action = all[i].action,
                                        .table = span_cstr(all[i].table),
                                        .item = test_item(&t, all[i].item),
                                        .env = env};
    struct core_batch_write q = {
        .writes = writes, .n = n, .capacity = CORE_CAPACITY_INDEXES, .wants_metrics = true};
    return core_batch_write(t.core, c, &q, &out);
}

static void make_tables(void)
{
    test_table(t.core, "H", "pk:S", NULL, NULL);
    test_table(t.core, "B", "pk:B", NULL, NULL);
    test_table(t.core, "X", "pk:S", "sk:S", "gsi1(x:S) ALL; local lsi1(pk:S|x:S) ALL");
}

static int setup(void **state)
{
    (void)state;
    core_test_init(&t, NULL);
    make_tables();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

static void test_batch__writes_each_and_sums_by_table(void **state)
{
    (void)state;
    static const struct entry all[] = {
        {CORE_PUT, "X", "{pk: 'p', sk: '1', x: 'x'}"},
        {CORE_PUT, "H", "{pk: 'a', v: 1}"},
        {CORE_PUT, "X", "{pk: 'p', sk: '2'}"},
        {CORE_DELETE, "H", "{pk: 'b'}"},
    };
    test_put(&t, "H", "{pk: 'b', v: 2}");
    assert_ok(send(all, 4, &t.ctx));
    assert_int_equal(out.n, 4);
    assert_int_equal(out.n_unprocessed, 0);
    assert_int_equal(out.n_capacity, 2);
    assert_span(out.capacity[0].table, "X");
    assert_true(out.capacity[0].units == 4); /* 2 of the table, 1 each of gsi1 and lsi1 */
    assert_int_equal(out.capacity[0].n_arms, 3);
    assert_true(out.capacity[0].arms[0].units == 2);
    assert_span(out.capacity[1].table, "H");
    assert_true(out.capacity[1].units == 2);
    assert_int_equal(out.capacity[1].n_arms, 1);
    assert_int_equal(out.n_metrics, 1); /* one collection */
    assert_int_equal(out.metrics[0].bytes, 2 * 8 + 6);
    assert_true(out.position > 0);
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{pk: 'a', v: 1}");
    assert_string_equal(test_get(&t, "H", "{pk: 'b'}"), "-");
    test_check_table(&t, "X");
    test_check_table(&t, "H");
}

struct refusal {
    struct entry second; /* after a good first one */
    const char *message, *source;
};

static const struct refusal refusals[] = {
    {{CORE_PUT, "H", "{pk: 'good', v: 2}"},
     "Provided list of item keys contains duplicates",
     PARITY},
    {{CORE_DELETE, "H", "{pk: 'good'}"}, "Provided list of item keys contains duplicates", PARITY},
    {{CORE_PUT, "H", "{pk: 5}"}, NO_MATCH, PARITY},
    {{CORE_PUT, "H", "{pk: ['x']}"}, NO_MATCH, PARITY},
    {{CORE_PUT, "H", "{v: 'x'}"}, NO_MATCH, PARITY},
    {{CORE_DELETE, "H", "{v: 'x'}"}, NO_MATCH, PARITY},
    {{CORE_PUT, "H", "{pk: ''}"},
     NOT_VALID "The AttributeValue for a key attribute cannot contain an empty string value. "
               "Key: pk",
     PARITY},
    {{CORE_DELETE, "B", "{pk: b''}"},
     NOT_VALID "The AttributeValue for a key attribute cannot contain an empty binary value. "
               "Key: pk",
     PARITY},
    {{CORE_PUT, "X", "{pk: 'p', sk: 'a', x: 5}"},
     "One or more parameter values were invalid: Type mismatch for Index Key x Expected: S Actual: "
     "N IndexName: gsi1",
     PARITY},
    {{CORE_PUT, "X", "{pk: 'p', sk: 'a', x: ''}"},
     NOT_VALID "A value specified for a secondary index key is not supported. The AttributeValue "
               "for a key attribute cannot contain an empty string value. IndexName: gsi1, "
               "IndexKey: x",
     PARITY},
};

static void test_refusals__write_nothing_at_all(void **state)
{
    (void)state;
    struct sources sources = {0, 0};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct entry all[] = {{CORE_PUT, "H", "{pk: 'good'}"}, refusals[i].second};
        if (send(all, 2, &t.ctx) != SHEAF_VALIDATION ||
            strcmp(t.err.message, refusals[i].message) != 0)
            fail_msg("refusal %zu: \"%s\", wanted \"%s\"", i, t.err.message, refusals[i].message);
        assert_string_equal(test_get(&t, "H", "{pk: 'good'}"), "-");
        sources_count(&sources, refusals[i].source);
    }
    struct entry none[] = {{CORE_PUT, "H", "{pk: 'good'}"}, {CORE_PUT, "none", "{pk: 'a'}"}};
    assert_rc(send(none, 2, &t.ctx), SHEAF_RESOURCE_NOT_FOUND);
    assert_string_equal(test_get(&t, "H", "{pk: 'good'}"), "-");
    sources_print(&sources, "refusals of batches");
}

static void test_count__is_1_to_25(void **state)
{
    (void)state;
    struct entry all[26];
    char items[26][32];
    for (int i = 0; i < 26; i++) {
        sprintf(items[i], "{pk: 'k%d'}", i);
        all[i] = (struct entry){CORE_PUT, "H", items[i]};
    }
    assert_ok(send(all, 25, &t.ctx));
    assert_rc(send(all, 26, &t.ctx), SHEAF_VALIDATION);
    assert_string_equal(t.err.message, "Too many items requested for the BatchWriteItem call");
    assert_string_equal(test_get(&t, "H", "{pk: 'k25'}"), "-");
    assert_rc(send(all, 0, &t.ctx), SHEAF_VALIDATION);
    assert_string_equal(t.err.message,
                        "1 validation error detected: Value at 'RequestItems' failed to satisfy "
                        "constraint: Member must have length greater than or equal to 1");
    test_check_table(&t, "H");
}

static void test_failures__after_the_first_write_leave_the_rest_unprocessed(void **state)
{
    (void)state;
    sheaf_engine *mem, *engine;
    core_test_deinit(&t);
    assert_ok(sheaf_engine_open_mem(NULL, &mem, NULL));
    assert_ok(fault_open(mem, &(struct fault_options){.n_rules = 0}, &engine, NULL));
    core_test_init_on(&t, engine, NULL);
    make_tables();
    static const struct entry all[] = {
        {CORE_PUT, "H", "{pk: 'a'}"}, {CORE_PUT, "H", "{pk: 'b'}"}, {CORE_PUT, "H", "{pk: 'c'}"}};
    const struct fault_rule second = {
        .call = FAULT_COMMIT, .action = FAULT_FAIL, .rc = SHEAF_IO, .nth = 2};
    assert_ok(fault_set(engine, &(struct fault_options){.rules = &second, .n_rules = 1}, NULL));
    assert_ok(send(all, 3, &t.ctx));
    assert_int_equal(out.n_unprocessed, 2);
    assert_int_equal(out.unprocessed[0], 1);
    assert_int_equal(out.unprocessed[1], 2);
    assert_true(out.capacity[0].units == 1);
    const struct fault_rule first = {
        .call = FAULT_COMMIT, .action = FAULT_FAIL, .rc = SHEAF_IO, .nth = 1};
    assert_ok(fault_set(engine, &(struct fault_options){.rules = &first, .n_rules = 1}, NULL));
    assert_rc(send(all, 3, &t.ctx), SHEAF_IO);
    const struct fault_rule busy = {
        .call = FAULT_COMMIT, .action = FAULT_CONFLICT, .nth = 1, .every = 1};
    assert_ok(fault_set(engine, &(struct fault_options){.rules = &busy, .n_rules = 1}, NULL));
    assert_rc(send(all, 1, &t.ctx), SHEAF_TRANSACTION_CONFLICT);
    assert_ok(fault_set(engine, &(struct fault_options){.n_rules = 0}, NULL));
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{pk: 'a'}");
    assert_string_equal(test_get(&t, "H", "{pk: 'b'}"), "-");
    test_check_table(&t, "H");
}

static void test_memory__can_run_out_anywhere(void **state)
{
    (void)state;
    static const struct entry all[] = {{CORE_PUT, "X", "{pk: 'p', sk: '1', x: 'x'}"},
                                       {CORE_PUT, "X", "{pk: 'p', sk: '2', x: 'y'}"}};
    uint64_t nth = 1, refused = 0;
    for (bool is_reached = true; is_reached;
         nth++) { /* some failures are survived: go on to the end */
        test_delete(&t, "X", "{pk: 'p', sk: '1'}");
        test_delete(&t, "X", "{pk: 'p', sk: '2'}");
        struct core_write writes[2];
        for (int i = 0; i < 2; i++)
            writes[i] = (struct core_write){.action = all[i].action,
                                            .table = span_cstr(all[i].table),
                                            .item = test_item(&t, all[i].item),
                                            .env = test_env(&t.arena, NULL, NULL)};
        struct core_batch_write q = {
            .writes = writes, .n = 2, .capacity = CORE_CAPACITY_INDEXES, .wants_metrics = true};
        struct arena arena;
        arena_init(&arena, 1 << 20);
        struct ctx c = {&arena, &t.err};
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = core_batch_write(t.core, &c, &q, &out);
        mem_fail_at(0, false);
        is_reached = mem_count() - before >= nth;
        if (rc != SHEAF_OK) {
            assert_int_equal(rc, SHEAF_NOMEM);
            assert_string_equal(test_get(&t, "X", "{pk: 'p', sk: '1'}"), "-");
            refused++;
        }
        if (!is_reached) assert_true(rc == SHEAF_OK && out.n_unprocessed == 0);
        arena_deinit(&arena);
        test_check_table(&t, "X");
    }
    print_message("%llu allocations failed in turn, %llu refused the batch\n",
                  (unsigned long long)nth - 2, (unsigned long long)refused);
    assert_true(refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_batch__writes_each_and_sums_by_table),
        CASE(test_refusals__write_nothing_at_all),
        CASE(test_count__is_1_to_25),
        CASE(test_failures__after_the_first_write_leave_the_rest_unprocessed),
        CASE(test_memory__can_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
