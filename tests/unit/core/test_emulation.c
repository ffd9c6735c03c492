/* What the service does to a program, on demand: throttling, scheduled failures, lagging indexes.
 * Each switch is tested through its hook and through an operation that calls it. */
#include "support/core_support.h"

#include "base/mem.h"
#include "core/gauges.h"
#include "engine/fault/fault.h"

#include <pthread.h>

#define AWS_CANCEL "AWS API reference, TransactWriteItems, cancellation reasons"
#define SEEN_LIVE "public bug reports with the service's answer"

#define TABLE_EXCEEDED                                                                             \
    "The level of configured provisioned throughput for the table was exceeded. Consider "         \
    "increasing your provisioning level with the UpdateTable API."
#define INDEX_EXCEEDED                                                                             \
    "The level of configured provisioned throughput for one or more global secondary indexes of "  \
    "the table was exceeded. Consider increasing your provisioning level for the under-"           \
    "provisioned global secondary indexes with the UpdateTable API."
#define KEY_EXCEEDED                                                                               \
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically "   \
    "scaling your table or index so please try again shortly. If exceptions persist, check if "    \
    "you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"        \
    "bp-partition-key-design.html"

static struct core_test t;
static struct clock_manual hands;

static void open_with(struct core_options o)
{
    clock_manual_init(&hands, INT64_C(1800000000000000));
    o.clock = &hands.base;
    core_test_init(&t, &o);
    test_table(t.core, "T", "PK:S", "SK:N", "gsi(G:S) ALL; local lsi(PK:S|L:S) ALL");
    test_table(t.core, "Other", "PK:S", NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

static struct table *table(const char *name)
{
    struct table *tab = cat_find(t.core, span_cstr(name));
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

static sheaf_rc do_read(const char *key, double units)
{
    return read_key(table("T"), NULL, text_val(key), units, &t.err);
}

static sheaf_rc do_write(const char *key, double units)
{
    return write_key(table("T"), NULL, text_val(key), units, &t.err);
}

static sheaf_rc put(const char *name, const char *item)
{
    struct core_write_outcome out;
    struct core_write_item q = {.write = {.action = CORE_PUT,
                                          .table = span_cstr(name),
                                          .item = test_item(&t, item),
                                          .env = test_env(&t.arena, NULL, NULL)}};
    return core_write_item(t.core, &t.ctx, &q, &out);
}

/* ---- throttling ---- */

static int setup_throttle(void **state)
{
    (void)state;
    open_with((struct core_options){.throttle = true, .seed = 1});
    return 0;
}

static void test_throttle__is_off_by_default(void **state)
{
    (void)state;
    core_test_deinit(&t);
    open_with((struct core_options){.throttle = false});
    for (int i = 0; i < 10; i++) assert_ok(do_write("'a'", 1000));
    assert_null(gauges_of(t.core, table("T"), table("T")->space)->buckets);
}

static void test_throttle__takes_what_a_partition_takes(void **state)
{
    (void)state;
    assert_ok(do_read("'a'", 2999));
    assert_ok(do_read("'a'", 1));
    assert_rc(do_read("'a'", 0.5), SHEAF_THROUGHPUT_EXCEEDED);
    assert_string_equal(t.err.message, KEY_EXCEEDED); /* SEEN_LIVE */
    assert_string_equal(t.err.exception, "ProvisionedThroughputExceededException");
    assert_ok(do_write("'a'", 1000)); /* apart from reads */
    assert_rc(do_write("'a'", 1), SHEAF_THROUGHPUT_EXCEEDED);
    assert_ok(do_read("'b'", 3000));    /* apart from other keys */
    clock_manual_advance(&hands, 1000); /* 3 read units, 1 write unit */
    assert_ok(do_read("'a'", 3));
    assert_rc(do_read("'a'", 0.5), SHEAF_THROUGHPUT_EXCEEDED);
    assert_ok(do_write("'a'", 1));
    assert_rc(do_write("'a'", 1), SHEAF_THROUGHPUT_EXCEEDED);
    clock_manual_advance(&hands, INT64_C(3600) * 1000000); /* no burst is saved up */
    assert_ok(do_read("'a'", 3000));
    assert_rc(do_read("'a'", 1), SHEAF_THROUGHPUT_EXCEEDED);
    clock_manual_advance(&hands, -5000000);
    assert_rc(do_read("'a'", 1), SHEAF_THROUGHPUT_EXCEEDED);
}

static void
test_throttle__lets_a_request_larger_than_the_bucket_through_when_it_is_full(void **state)
{
    (void)state;
    assert_ok(do_write("'a'", 2500));
    clock_manual_advance(&hands, 1000000);
    assert_rc(do_write("'a'", 1), SHEAF_THROUGHPUT_EXCEEDED); /* it is paid off first */
    clock_manual_advance(&hands, 1501000);
    assert_ok(do_write("'a'", 1));
}

static void make_provisioned(struct core *core, struct table *tab)
{
    (void)core;
    tab->is_provisioned = true;
    tab->read_units = 10;
    tab->write_units = 2;
    tab->indexes[0].def.read_units = 4;
    tab->indexes[0].def.write_units = 1;
}

static void faster(struct core *core, struct table *tab)
{
    (void)core;
    tab->write_units = 20;
}

static void test_throttle__keeps_five_minutes_of_provisioned_units(void **state)
{
    (void)state;
    test_change_table(t.core, "T", make_provisioned);
    assert_ok(do_write("'a'", 300));
    assert_ok(do_write("'b'", 300)); /* 2 units for 300 seconds */
    assert_rc(do_write("'c'", 1), SHEAF_THROUGHPUT_EXCEEDED);
    assert_string_equal(t.err.message, TABLE_EXCEEDED); /* AWS_CANCEL */
    assert_ok(do_read("'c'", 3000));
    assert_rc(do_read("'d'", 1), SHEAF_THROUGHPUT_EXCEEDED);
    clock_manual_advance(&hands, 1000000);
    assert_ok(do_write("'c'", 2));
    assert_rc(do_write("'c'", 1), SHEAF_THROUGHPUT_EXCEEDED);
    clock_manual_advance(&hands, INT64_C(3600) * 1000000);
    assert_ok(do_write("'c'", 600));
    assert_rc(do_write("'c'", 1), SHEAF_THROUGHPUT_EXCEEDED);
    clock_manual_advance(&hands, 1000000);
    test_change_table(t.core, "T", faster); /* what is left grows in proportion */
    assert_ok(do_write("'d'", 20));
    assert_rc(do_write("'d'", 1), SHEAF_THROUGHPUT_EXCEEDED);
}

static void test_throttle__judges_global_indexes_apart_and_local_ones_with_the_table(void **state)
{
    (void)state;
    struct table *tab = test_change_table(t.core, "T", make_provisioned);
    assert_ok(write_key(tab, &tab->indexes[0], text_val("'g'"), 300, &t.err));
    assert_rc(write_key(tab, &tab->indexes[0], text_val("'h'"), 1, &t.err),
              SHEAF_THROUGHPUT_EXCEEDED);
    assert_string_equal(t.err.message, INDEX_EXCEEDED); /* AWS_CANCEL */
    assert_ok(read_key(tab, &tab->indexes[1], text_val("'a'"), 3000, &t.err));
    assert_rc(do_read("'b'", 1), SHEAF_THROUGHPUT_EXCEEDED);
    /* A scan has no key: only the table's units count. */
    clock_manual_advance(&hands, 1000000);
    assert_ok(read_key(tab, NULL, VAL_ABSENT, 10, &t.err));
    assert_rc(read_key(tab, NULL, VAL_ABSENT, 1, &t.err), SHEAF_THROUGHPUT_EXCEEDED);
}

static void test_throttle__makes_operations_fail_and_writes_nothing(void **state)
{
    (void)state;
    assert_ok(do_write("'a'", 1000));
    assert_rc(put("T", "{PK: 'a', SK: 1}"), SHEAF_THROUGHPUT_EXCEEDED);
    assert_string_equal(test_get(&t, "T", "{PK: 'a', SK: 1}"), "-");
    assert_ok(put("T", "{PK: 'b', SK: 1}"));
    clock_manual_advance(&hands, 1000000);
    assert_ok(put("T", "{PK: 'a', SK: 1}"));
    assert_ok(do_read("'a'", 3000));
    struct core_item_outcome out;
    struct core_get_item q = {.get = {.table = SPAN_LIT("T"),
                                      .key = test_item(&t, "{PK: 'a', SK: 1}"),
                                      .env = test_env(&t.arena, NULL, NULL)}};
    assert_rc(core_get_item(t.core, &t.ctx, &q, &out), SHEAF_THROUGHPUT_EXCEEDED);
    assert_null(out.item.p);
}

static void test_throttle__takes_nothing_from_an_index_when_the_table_refuses(void **state)
{
    (void)state;
    struct table *tab = test_change_table(t.core, "T", make_provisioned);
    const struct table_index *x = &tab->indexes[0];
    assert_ok(write_key(tab, x, text_val("'g'"), 299, &t.err)); /* one is left */
    assert_ok(do_write("'z'", 600));                            /* and none of the table's */
    for (int i = 0; i < 3; i++)
        assert_rc(put("T", "{PK: 'a', SK: 1, G: 'g'}"), SHEAF_THROUGHPUT_EXCEEDED);
    assert_string_equal(t.err.message, TABLE_EXCEEDED);
    assert_ok(write_key(tab, x, text_val("'g'"), 1, &t.err));
    assert_rc(write_key(tab, x, text_val("'g'"), 1, &t.err), SHEAF_THROUGHPUT_EXCEEDED);
}

/* That a transaction is throttled is confirmed by a commit. When that is in conflict, the attempt
 * that follows is throttled like the first, and what was taken is not taken again. */
static void test_throttle__holds_for_a_transaction_that_is_replayed(void **state)
{
    (void)state;
    sheaf_engine *mem, *engine;
    const struct fault_rule once = {.call = FAULT_COMMIT, .action = FAULT_CONFLICT, .nth = 1};
    core_test_deinit(&t);
    assert_ok(sheaf_engine_open_mem(NULL, &mem, NULL));
    assert_ok(fault_open(mem, NULL, &engine, NULL));
    core_test_init_on(&t, engine,
                      &(struct core_options){.clock = &hands.base, .throttle = true, .seed = 1});
    test_table(t.core, "T", "PK:S", "SK:N", NULL);
    assert_ok(do_write("'b'", 1000)); /* all it has */
    struct core_write writes[2];
    for (int i = 0; i < 2; i++)
        writes[i] =
            (struct core_write){.action = CORE_PUT,
                                .table = SPAN_LIT("T"),
                                .item = test_item(&t, i ? "{PK: 'b', SK: 1}" : "{PK: 'a', SK: 1}"),
                                .env = test_env(&t.arena, NULL, NULL)};
    struct core_transact_write q = {.writes = writes, .n = 2};
    struct core_multi_outcome out;
    assert_ok(fault_set(engine, &(struct fault_options){.rules = &once, .n_rules = 1}, NULL));
    assert_rc(core_transact_write(t.core, &t.ctx, &q, &out), SHEAF_TRANSACTION_CANCELED);
    assert_int_equal(fault_fired(engine, 0), 1);
    assert_int_equal(out.written[0].rc, SHEAF_OK);
    assert_int_equal(out.written[1].rc, SHEAF_THROUGHPUT_EXCEEDED);
    assert_string_equal(test_get(&t, "T", "{PK: 'b', SK: 1}"), "-");
    assert_ok(do_write("'a'", 998)); /* two were taken, once */
    assert_rc(do_write("'a'", 1), SHEAF_THROUGHPUT_EXCEEDED);
}

/* Two keys that begin alike are two keys. */
static void test_throttle__tells_keys_of_many_attributes_apart(void **state)
{
    (void)state;
    test_table(t.core, "M", "PK:S", NULL, "multi(A:S, B:S) ALL");
    struct table *tab = table("M");
    const struct table_index *x = &tab->indexes[0];
    struct throttle_key one = {.partition = {text_val("'a'"), text_val("'b'")}, .n = 2};
    one.place = key_place(core_secret(t.core), x->space, 2, one.partition);
    assert_ok(throttle_write(t.core, tab, x, &one, 1000, &t.err));
    assert_rc(put("M", "{PK: 'p', A: 'a', B: 'b'}"), SHEAF_THROUGHPUT_EXCEEDED);
    assert_ok(put("M", "{PK: 'p', A: 'a', B: 'c'}"));
}

static void test_throttle__forgets_keys_in_bounded_memory(void **state)
{
    (void)state;
    uint8_t bytes[16];
    val key = text_val("'k00000'");
    struct table *tab = table("T");
    memcpy(bytes, key.p, key.n);
    assert_ok(write_key(tab, NULL, key, 1000, NULL));
    uint64_t before = mem_count();
    for (int i = 1; i < 50000; i++) {
        char digits[16];
        snprintf(digits, sizeof digits, "%05d", i);
        memcpy(bytes + key.n - 5, digits, 5);
        if (i % 1000 == 0) clock_manual_advance(&hands, 1000); /* 50 ms in all */
        assert_ok(write_key(tab, NULL, (val){bytes, key.n}, 1, NULL));
    }
    assert_int_equal(mem_count(), before);
}

static void test_throttle__runs_out_of_memory_with_an_error(void **state)
{
    (void)state;
    uint64_t refused = 0;
    for (uint64_t nth = 1, is_reached = true; is_reached; nth++) {
        core_test_deinit(&t);
        open_with((struct core_options){.throttle = true});
        val key = text_val("'a'");
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = write_key(table("T"), NULL, key, 1, &t.err);
        mem_fail_at(0, false);
        is_reached = mem_count() - before >= nth;
        assert_true(rc == SHEAF_OK || (rc == SHEAF_NOMEM && is_reached));
        refused += rc != SHEAF_OK;
        assert_ok(write_key(table("T"), NULL, key, 1, &t.err));
    }
    assert_true(refused > 0);
}

/* ---- faults ---- */

static int setup_nothing(void **state)
{
    (void)state;
    open_with((struct core_options){.seed = 1});
    return 0;
}

static void with_faults(const struct core_fault *faults, size_t n, uint64_t seed)
{
    core_test_deinit(&t);
    open_with((struct core_options){.faults = faults, .n_faults = n, .seed = seed});
}

/* '.' or the first letter of what came back, for each of n requests. */
static const char *pattern(const char *operation, const char *name, int n)
{
    char *p = arena_zalloc(&t.arena, (size_t)n + 1);
    for (int i = 0; i < n; i++) {
        sheaf_rc rc = faults_check(t.core, operation, name ? span_cstr(name) : SPAN_NONE, &t.err);
        p[i] = rc == SHEAF_OK ? '.' : sheaf_rc_exception(rc)[0];
    }
    return p;
}

static void test_faults__come_at_the_nth_and_every(void **state)
{
    (void)state;
    static const struct {
        uint64_t nth, every;
        const char *want;
    } rows[] = {{3, 0, "..I......."}, {1, 0, "I........."}, {0, 0, ".........."},
                {2, 3, ".I..I..I.."}, {0, 4, "...I...I.."}, {5, 1, "....IIIIII"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct core_fault f = {.rc = SHEAF_INTERNAL, .nth = rows[i].nth, .every = rows[i].every};
        with_faults(&f, 1, 1);
        assert_string_equal(pattern("PutItem", "T", 10), rows[i].want);
    }
}

static void test_faults__cancel_transactions_with_reasons(void **state)
{
    (void)state;
    struct core_fault f = {.rc = SHEAF_TRANSACTION_CONFLICT, .nth = 1};
    with_faults(&f, 1, 1);
    struct expr_env *env = test_env(&t.arena, NULL, NULL);
    struct core_get gets[2] = {
        {.table = SPAN_LIT("T"), .key = test_item(&t, "{PK: 'a', SK: 1}"), .env = env},
        {.table = SPAN_LIT("T"), .key = test_item(&t, "{PK: 'a', SK: 2}"), .env = env}};
    struct core_multi_get q = {.gets = gets, .n = 2, .is_transaction = true};
    struct core_items_outcome out;
    assert_rc(core_multi_get(t.core, &t.ctx, &q, &out), SHEAF_TRANSACTION_CANCELED);
    assert_string_equal(t.err.message,
                        "Transaction cancelled, please refer cancellation reasons for specific "
                        "reasons [TransactionConflict, None]");
    assert_int_equal(out.n, 2);
    assert_int_equal(out.written[0].rc, SHEAF_TRANSACTION_CONFLICT);
    assert_int_equal(out.written[1].rc, SHEAF_OK);
    assert_ok(core_multi_get(t.core, &t.ctx, &q, &out));
}

static void test_faults__match_operation_and_table(void **state)
{
    (void)state;
    struct core_fault f[] = {
        {SPAN_LIT("PutItem"), SPAN_LIT("T"), SHEAF_TRANSACTION_CONFLICT, 2, 0, 0},
        {SPAN_LIT("GetItem"), SPAN_NONE, SHEAF_THROUGHPUT_EXCEEDED, 1, 2, 0},
        {SPAN_NONE, SPAN_LIT("Other"), SHEAF_INTERNAL, 0, 1, 0},
    };
    with_faults(f, 3, 1);
    f[0].operation = SPAN_LIT("changed"); /* copied */
    assert_string_equal(pattern("GetItem", "T", 4), "P.P.");
    assert_string_equal(pattern("PutItem", "Other", 2), "II");
    assert_string_equal(pattern("PutItem", "T", 1), ".");
    assert_string_equal(pattern("PutItem", "arn:aws:dynamodb:us-east-1:000000000000:table/T", 2),
                        "T.");
    assert_string_equal(pattern("PutItem", "NotT", 2), "..");
    assert_string_equal(pattern("BatchGetItem", NULL, 2), "..");
}

static void test_faults__answer_with_the_services_words(void **state)
{
    (void)state;
    static const struct {
        sheaf_rc rc;
        const char *message, *source; /* NULL: unverified */
    } rows[] = {
        {SHEAF_TRANSACTION_CONFLICT, "Transaction is ongoing for the item", AWS_CANCEL},
        {SHEAF_THROUGHPUT_EXCEEDED, TABLE_EXCEEDED, AWS_CANCEL},
        {SHEAF_INTERNAL, "Internal server error", SEEN_LIVE},
    };
    int n_unverified = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct core_fault f = {.rc = rows[i].rc, .nth = 1};
        with_faults(&f, 1, 1);
        assert_rc(put("T", "{PK: 'a', SK: 1}"), rows[i].rc);
        assert_string_equal(t.err.message, rows[i].message);
        assert_string_equal(test_get(&t, "T", "{PK: 'a', SK: 1}"), "-");
        assert_ok(put("T", "{PK: 'a', SK: 1}"));
        if (!rows[i].source) n_unverified++;
    }
    print_message("%d messages unverified\n", n_unverified);
}

static void test_faults__at_random_are_the_same_with_the_same_seed(void **state)
{
    (void)state;
    struct core_fault f = {.rc = SHEAF_INTERNAL, .one_in = 10};
    enum { N = 5000 };
    char first[N + 1];
    with_faults(&f, 1, 77);
    strcpy(first, pattern("PutItem", "T", N));
    with_faults(&f, 1, 77);
    assert_string_equal(pattern("PutItem", "T", N), first);
    with_faults(&f, 1, 78);
    assert_string_not_equal(pattern("PutItem", "T", N), first);
    int n = 0;
    for (int i = 0; i < N; i++) n += first[i] == 'I';
    assert_in_range(n, N / 10 - 150, N / 10 + 150);
}

static void test_faults__refuse_other_codes(void **state)
{
    (void)state;
    struct core_fault f[] = {{.rc = SHEAF_INTERNAL, .nth = 1}, {.rc = SHEAF_VALIDATION, .nth = 1}};
    sheaf_engine *engine;
    struct core *core;
    assert_ok(sheaf_engine_open_mem(NULL, &engine, NULL));
    assert_rc(core_open(engine, &(struct core_options){.faults = f, .n_faults = 2}, &core, &t.err),
              SHEAF_VALIDATION);
    assert_non_null(strstr(t.err.message, "fault 1: "));
    sheaf_engine_close(engine);
}

static void *count_faults(void *ctx)
{
    uint64_t *n = ctx;
    for (int i = 0; i < 10000; i++)
        if (faults_check(t.core, "PutItem", SPAN_LIT("T"), NULL) != SHEAF_OK) ++*n;
    return NULL;
}

static void test_faults__are_counted_once_by_threads(void **state)
{
    (void)state;
    struct core_fault f = {.rc = SHEAF_INTERNAL, .nth = 7, .every = 10};
    pthread_t threads[4];
    uint64_t n[4] = {0};
    with_faults(&f, 1, 1);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, count_faults, &n[i]);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_int_equal(n[0] + n[1] + n[2] + n[3], 4000);
}

/* ---- lag ---- */

enum { LAG_MS = 800 }; /* steps of 100 ms */

static int setup_lag(void **state)
{
    (void)state;
    open_with((struct core_options){.gsi_lag_ms = LAG_MS, .seed = 1});
    return 0;
}

/* Entries of an index, or rows of the table, as a read through lag_begin sees them. */
static int64_t rows_seen(const char *index)
{
    struct table *tab = table("T");
    const struct table_index *x = index ? table_index(tab, span_cstr(index)) : NULL;
    sheaf_txn *txn;
    sheaf_cursor *cursor;
    int64_t n = 0;
    assert_ok(lag_begin(t.core, x, &txn, &t.err));
    assert_ok(
        eng_walk(txn, &(struct sheaf_walk){.space = x ? x->space : tab->space}, &cursor, &t.err));
    for (;;) {
        struct sheaf_row row;
        bool has_row;
        assert_ok(eng_next(cursor, &row, &has_row, NULL));
        if (!has_row) break;
        n++;
    }
    eng_cursor_close(cursor);
    lag_end(t.core, txn);
    return n;
}

static void put_nth(int i)
{
    char text[64];
    snprintf(text, sizeof text, "{PK: 'p', SK: %d, G: 'g', L: 'l'}", i);
    test_put(&t, "T", text);
}

static void test_lag__shows_a_write_when_it_is_old_enough(void **state)
{
    (void)state;
    put_nth(1);
    put_nth(2);
    assert_int_equal(rows_seen("gsi"), 0);
    assert_int_equal(rows_seen("lsi"), 2); /* only global indexes lag */
    assert_int_equal(rows_seen(NULL), 2);
    clock_manual_advance(&hands, LAG_MS * 1000 - 1);
    assert_int_equal(rows_seen("gsi"), 0);
    clock_manual_advance(&hands, 1);
    assert_int_equal(rows_seen("gsi"), 2);
    put_nth(3);
    assert_int_equal(rows_seen("gsi"), 2);
    clock_manual_advance(&hands, INT64_C(3600) * 1000000);
    assert_int_equal(rows_seen("gsi"), 3); /* nobody came by in between */
}

static void test_lag__works_on_rocks(void **state)
{
    char directory[] = "/tmp/sheaf-lag-XXXXXX", command[64];
    sheaf_engine *engine;
    assert_non_null(mkdtemp(directory));
    core_test_deinit(&t);
    assert_ok(sheaf_engine_open_rocks(directory, NULL, &engine, NULL));
    core_test_init_on(&t, engine,
                      &(struct core_options){.clock = &hands.base, .gsi_lag_ms = LAG_MS});
    test_table(t.core, "T", "PK:S", "SK:N", "gsi(G:S) ALL; local lsi(PK:S|L:S) ALL");
    test_lag__shows_a_write_when_it_is_old_enough(state);
    core_test_deinit(&t);
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    setup_lag(state);
}

static void test_lag__is_off_by_default(void **state)
{
    (void)state;
    core_test_deinit(&t);
    open_with((struct core_options){.seed = 1});
    put_nth(1);
    assert_int_equal(rows_seen("gsi"), 1);
}

static void test_lag__goes_for_queries(void **state)
{
    (void)state;
    struct core_page page;
    struct core_query q = {.table = SPAN_LIT("T"),
                           .index = SPAN_LIT("gsi"),
                           .key_condition = SPAN_LIT("G = :g"),
                           .env = test_env(&t.arena, NULL, "{':g': 'g'}")};
    put_nth(1);
    assert_ok(core_query(t.core, &t.ctx, &q, &page));
    assert_int_equal(page.n, 0);
    clock_manual_advance(&hands, LAG_MS * 1000);
    q.env = test_env(&t.arena, NULL, "{':g': 'g'}");
    assert_ok(core_query(t.core, &t.ctx, &q, &page));
    assert_int_equal(page.n, 1);
}

/* Random writes at random times; each read is held against the times of all writes. */
static void test_lag__is_never_early_and_at_most_a_step_late(void **state)
{
    (void)state;
    enum { N = 2000 };
    static int64_t at[N];
    struct rng r;
    rng_init(&r, test_seed(11));
    int n = 0;
    while (n < N) {
        clock_manual_advance(&hands, (int64_t)rng_below(&r, 30000));
        if (rng_below(&r, 50) == 0) clock_manual_advance(&hands, 2000000);
        int64_t now = hands.us;
        if (rng_below(&r, 2) == 0) {
            put_nth(n);
            at[n++] = now;
            continue;
        }
        int64_t seen = rows_seen("gsi"), may = 0, must = 0;
        for (int i = 0; i < n; i++) {
            may += at[i] <= now - LAG_MS * 1000;
            must += at[i] <= now - LAG_MS * 1000 - LAG_MS * 1000 / 8;
        }
        if (seen < must || seen > may)
            fail_msg("saw %lld, may %lld, must %lld", (long long)seen, (long long)may,
                     (long long)must);
    }
}

static sheaf_rc quiet_write(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    return eng_put(txn, ctx, SPAN_LIT("row"), err);
}

static void test_lag__notices_writes_that_did_not_come_by(void **state)
{
    (void)state;
    uint8_t hash[16] = {1};
    sheaf_engine_key key = {sheaf_place_make(table("T")->indexes[0].space, hash), SPAN_LIT("s")};
    assert_ok(sheaf_engine_run(t.engine, quiet_write, &key, NULL, NULL, NULL));
    clock_manual_advance(&hands, INT64_C(3600) * 1000000);
    assert_int_equal(rows_seen("gsi"), 0); /* found now, young from now on */
    clock_manual_advance(&hands, LAG_MS * 1000);
    assert_int_equal(rows_seen("gsi"), 1);
}

static void test_lag__keeps_a_snapshot_that_is_being_read(void **state)
{
    (void)state;
    sheaf_txn *txn;
    put_nth(1);
    clock_manual_advance(&hands, LAG_MS * 1000);
    assert_ok(lag_begin(t.core, &table("T")->indexes[0], &txn, &t.err));
    for (int i = 2; i < 40; i++) {
        clock_manual_advance(&hands, 90000);
        put_nth(i);
    }
    sheaf_cursor *cursor;
    struct sheaf_row row;
    bool has_row;
    assert_ok(eng_walk(txn, &(struct sheaf_walk){.space = table("T")->indexes[0].space}, &cursor,
                       &t.err));
    assert_ok(eng_next(cursor, &row, &has_row, &t.err));
    assert_true(has_row);
    assert_ok(eng_next(cursor, &row, &has_row, &t.err));
    assert_false(has_row);
    eng_cursor_close(cursor);
    lag_end(t.core, txn);
    lag_end(t.core, NULL);
    assert_true(rows_seen("gsi") > 25);
}

static void test_lag__needs_an_engine_that_keeps_snapshots(void **state)
{
    (void)state;
    sheaf_engine *engine;
    struct core *core;
    assert_ok(sheaf_engine_open_mem(&(struct sheaf_mem_options){.caps = {.max_txn_ms = 5000}},
                                    &engine, NULL));
    assert_rc(core_open(engine, &(struct core_options){.gsi_lag_ms = 100}, &core, &t.err),
              SHEAF_UNSUPPORTED);
    sheaf_engine_close(engine);
}

static sheaf_rc put_aside(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    (void)ctx;
    sheaf_engine_key key = {sheaf_place_make(1 << 20, (const uint8_t[16]){1}), SPAN_LIT("s")};
    return eng_put(txn, &key, SPAN_LIT("v"), err);
}

/* A snapshot is due, because something was written that no request wrote: it is taken when a write
 * tells (which never fails for it), or else when a read comes. */
static sheaf_rc take_snapshot(bool is_told)
{
    sheaf_txn *txn;
    if (is_told) lag_written(t.core);
    TRY(lag_begin(t.core, &table("T")->indexes[0], &txn, &t.err));
    lag_end(t.core, txn);
    return SHEAF_OK;
}

static void test_lag__survives_allocation_failures(void **state)
{
    (void)state;
    uint64_t refused[2] = {0, 0}, reached[2] = {0, 0};
    int n = 0;
    for (int is_told = 0; is_told < 2; is_told++)
        for (uint64_t nth = 1, is_reached = true; is_reached; nth++) {
            put_nth(++n);
            clock_manual_advance(&hands, LAG_MS * 1000);
            assert_ok(sheaf_engine_run(t.engine, put_aside, NULL, NULL, NULL, &t.err));
            uint64_t before = mem_count();
            mem_fail_at(nth, false);
            sheaf_rc rc = take_snapshot(is_told);
            mem_fail_at(0, false);
            is_reached = mem_count() - before >= nth;
            assert_true(rc == SHEAF_OK || (rc == SHEAF_NOMEM && is_reached));
            reached[is_told] += is_reached;
            refused[is_told] += rc != SHEAF_OK;
            assert_int_equal(rows_seen("gsi"), n);
        }
    assert_true(refused[0] > 0 && reached[1] > 0);
    assert_int_equal(refused[1], 0); /* the read makes good what the write could not */
}

/* Writers and readers at once; what a reader sees only grows. */
static atomic_bool is_over;

static void *read_on(void *ctx)
{
    (void)ctx;
    int64_t most = 0;
    while (!atomic_load(&is_over)) {
        int64_t n = rows_seen("gsi");
        if (n < most) abort();
        most = n;
    }
    return NULL;
}

static void test_lag__serves_readers_while_writing(void **state)
{
    (void)state;
    pthread_t threads[3];
    atomic_store(&is_over, false);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, read_on, NULL);
    for (int i = 0; i < 400; i++) {
        put_nth(i);
        clock_manual_advance(&hands, 20000);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    clock_manual_advance(&hands, LAG_MS * 1000);
    assert_int_equal(rows_seen("gsi"), 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define THROTTLE(f) cmocka_unit_test_setup_teardown(f, setup_throttle, teardown)
#define FAULTS(f) cmocka_unit_test_setup_teardown(f, setup_nothing, teardown)
#define LAG(f) cmocka_unit_test_setup_teardown(f, setup_lag, teardown)
        THROTTLE(test_throttle__is_off_by_default),
        THROTTLE(test_throttle__takes_what_a_partition_takes),
        THROTTLE(test_throttle__lets_a_request_larger_than_the_bucket_through_when_it_is_full),
        THROTTLE(test_throttle__keeps_five_minutes_of_provisioned_units),
        THROTTLE(test_throttle__judges_global_indexes_apart_and_local_ones_with_the_table),
        THROTTLE(test_throttle__makes_operations_fail_and_writes_nothing),
        THROTTLE(test_throttle__takes_nothing_from_an_index_when_the_table_refuses),
        THROTTLE(test_throttle__holds_for_a_transaction_that_is_replayed),
        THROTTLE(test_throttle__tells_keys_of_many_attributes_apart),
        THROTTLE(test_throttle__forgets_keys_in_bounded_memory),
        THROTTLE(test_throttle__runs_out_of_memory_with_an_error),
        FAULTS(test_faults__come_at_the_nth_and_every),
        FAULTS(test_faults__cancel_transactions_with_reasons),
        FAULTS(test_faults__match_operation_and_table),
        FAULTS(test_faults__answer_with_the_services_words),
        FAULTS(test_faults__at_random_are_the_same_with_the_same_seed),
        FAULTS(test_faults__refuse_other_codes),
        FAULTS(test_faults__are_counted_once_by_threads),
        LAG(test_lag__shows_a_write_when_it_is_old_enough),
        LAG(test_lag__works_on_rocks),
        LAG(test_lag__is_off_by_default),
        LAG(test_lag__goes_for_queries),
        LAG(test_lag__is_never_early_and_at_most_a_step_late),
        LAG(test_lag__notices_writes_that_did_not_come_by),
        LAG(test_lag__keeps_a_snapshot_that_is_being_read),
        LAG(test_lag__needs_an_engine_that_keeps_snapshots),
        LAG(test_lag__survives_allocation_failures),
        LAG(test_lag__serves_readers_while_writing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
