/* TTL: which items expire and when, what a deletion leaves behind, and what comes between. The
 * clock stands still unless a test moves it. */
#include "support/core_support.h"

#include "base/mem.h"
#include "core/stream.h"

#include <pthread.h>
#include <sched.h>

#define SECOND_US INT64_C(1000000)
#define NOW_S INT64_C(1800000000)
#define DAY_S INT64_C(86400)

static struct core_test t;
static struct clock_manual clock_;
static struct core_options options;

static int setup(void **state)
{
    (void)state;
    clock_manual_init(&clock_, NOW_S * SECOND_US);
    options = (struct core_options){.clock = &clock_.base};
    core_test_init(&t, &options);
    test_table(t.core, "Items", "PK:S", "SK:S", "gsi(g:S|n:N) ALL; local lsi(PK:S|l:S) KEYS_ONLY");
    test_enable_ttl(t.core, "Items", "expires");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

static void pass_us(int64_t us) { clock_manual_advance(&clock_, us); }

static struct core_background run_all(void)
{
    struct core_background sum = {0}, did;
    do {
        if (core_run_background(t.core, &did, &t.err) != SHEAF_OK) fail_msg("%s", t.err.message);
        sum.expired += did.expired;
        sum.trimmed_records += did.trimmed_records;
    } while (did.has_more);
    return sum;
}

static void put(const char *sk, const char *rest)
{
    char text[256];
    snprintf(text, sizeof text, "{PK: 'a', SK: '%s'%s}", sk, rest);
    test_put(&t, "Items", text);
}

static void put_ttl(const char *sk, int64_t seconds)
{
    char rest[64];
    snprintf(rest, sizeof rest, ", expires: %lld", (long long)seconds);
    put(sk, rest);
}

static bool is_there(const char *sk)
{
    char key[64];
    snprintf(key, sizeof key, "{PK: 'a', SK: '%s'}", sk);
    return strcmp(test_get(&t, "Items", key), "-") != 0;
}

static int64_t expiry_rows(void)
{
    struct table *table = cat_find(t.core, SPAN_LIT("Items"));
    int64_t n = test_walk(&t, table->ttl_space).items;
    table_unref(table);
    return n;
}

/* ---- the attribute ---- */

static void test_ttl_seconds__takes_whole_seconds_of_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *item;
        bool has;
        int64_t seconds;
    } rows[] = {
        {"{PK: 'a'}", false, 0},
        {"{PK: 'a', expires: 0}", true, 0},
        {"{PK: 'a', expires: 1800000000}", true, 1800000000},
        {"{PK: 'a', expires: 1800000000.999}", true, 1800000000},
        {"{PK: 'a', expires: 0.9}", true, 0},
        {"{PK: 'a', expires: 1.8E9}", true, 1800000000},
        {"{PK: 'a', expires: 1E-130}", true, 0},
        {"{PK: 'a', expires: 1.2345678901234567890123456789012345678}", true, 1},
        {"{PK: 'a', expires: 12345678901234567890123456789012345678E-30}", true, 12345678},
        {"{PK: 'a', expires: 9223372036854}", true, 9223372036854},
        {"{PK: 'a', expires: 9223372036855}", false, 0}, /* its microseconds fit no clock */
        {"{PK: 'a', expires: 1E125}", false, 0},
        {"{PK: 'a', expires: 99999999999999999999999999999999999999}", false, 0},
        {"{PK: 'a', expires: -1}", false, 0},
        {"{PK: 'a', expires: -0.5}", false, 0},
        {"{PK: 'a', expires: '1800000000'}", false, 0},
        {"{PK: 'a', expires: true}", false, 0},
        {"{PK: 'a', expires: null}", false, 0},
        {"{PK: 'a', expires: [1]}", false, 0},
        {"{PK: 'a', expires: {a: 1}}", false, 0},
        {"{PK: 'a', expires: <1>}", false, 0},
        {"{PK: 'a', nested: {expires: 1}}", false, 0},
    };
    struct table *table = cat_find(t.core, SPAN_LIT("Items"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t seconds;
        bool has = ttl_seconds(table, item_map(test_item(&t, rows[i].item)), &seconds);
        if (has != rows[i].has || (has && seconds != rows[i].seconds))
            fail_msg("%s: %d %lld", rows[i].item, has, (long long)seconds);
    }
    table_unref(table);
}

/* ---- expiry ---- */

static void test_ttl__an_item_expires_when_its_second_has_passed(void **state)
{
    (void)state;
    put_ttl("past", NOW_S - 1);
    put_ttl("now", NOW_S);
    put_ttl("soon", NOW_S + 1);
    put("never", "");
    assert_int_equal(expiry_rows(), 3);
    assert_true(is_there("past")); /* visible until it is deleted */
    assert_int_equal(run_all().expired, 1);
    assert_false(is_there("past"));
    assert_true(is_there("now"));
    pass_us(1);
    assert_int_equal(run_all().expired, 1);
    assert_false(is_there("now"));
    pass_us(SECOND_US - 1);
    assert_int_equal(run_all().expired, 0);
    pass_us(1);
    assert_int_equal(run_all().expired, 1);
    assert_false(is_there("soon"));
    assert_true(is_there("never"));
    assert_int_equal(expiry_rows(), 0);
    test_check_table(&t, "Items");
}

static void test_ttl__what_is_no_time_stays(void **state)
{
    (void)state;
    put("text", ", expires: '5'");
    put("bool", ", expires: true");
    put("list", ", expires: [5]");
    put("minus", ", expires: -5");
    assert_int_equal(expiry_rows(), 0);
    assert_int_equal(run_all().expired, 0);
    assert_true(is_there("text") && is_there("bool") && is_there("list") && is_there("minus"));
}

static void test_ttl__five_years_ago_is_too_long_ago(void **state)
{
    (void)state;
    put_ttl("old", NOW_S - 1 - 1826 * DAY_S - 1);
    put_ttl("edge", NOW_S - 1 - 1826 * DAY_S);
    put_ttl("zero", 0);
    assert_int_equal(run_all().expired, 1);
    assert_true(is_there("old") && is_there("zero"));
    assert_false(is_there("edge"));
    put_ttl("old", NOW_S - 1); /* a later time counts again */
    assert_int_equal(run_all().expired, 1);
}

static void test_ttl__a_clock_before_1970_expires_nothing(void **state)
{
    (void)state;
    put_ttl("zero", 0);
    pass_us(-NOW_S * SECOND_US);
    assert_int_equal(run_all().expired, 0);
    pass_us(-SECOND_US);
    assert_int_equal(run_all().expired, 0);
    pass_us(SECOND_US + 1);
    assert_int_equal(run_all().expired, 1);
}

static void test_ttl__who_updates_an_item_in_time_keeps_it(void **state)
{
    (void)state;
    put_ttl("moved", NOW_S - 5);
    put_ttl("moved", NOW_S + 5);
    put_ttl("removed", NOW_S - 5);
    put("removed", "");
    put_ttl("retyped", NOW_S - 5);
    put("retyped", ", expires: 'x'");
    put_ttl("deleted", NOW_S - 5);
    test_delete(&t, "Items", "{PK: 'a', SK: 'deleted'}");
    assert_int_equal(expiry_rows(), 1);
    assert_int_equal(run_all().expired, 0);
    assert_true(is_there("moved") && is_there("removed") && is_there("retyped"));
    pass_us(5 * SECOND_US + 1);
    assert_int_equal(run_all().expired, 1);
    assert_false(is_there("moved"));
}

static sheaf_rc put_row(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    const struct cat_extra *row = ctx;
    return eng_put(txn, &row->key, row->value, err);
}

static void put_expiry_row(const char *key, int64_t seconds)
{
    struct table *table = cat_find(t.core, SPAN_LIT("Items"));
    struct cat_extra row = {.value = test_item(&t, key)};
    val item = item_map(row.value);
    assert_ok(row_ttl_key(t.core, &t.ctx, table, seconds, table_hash_of(table, item),
                          table_range_of(table, item), &row.key));
    assert_ok(sheaf_engine_run(t.engine, put_row, &row, NULL, NULL, NULL));
    table_unref(table);
}

/* As a sweep finds them that was overtaken by writers. */
static void test_ttl__a_row_that_fits_no_item_goes_alone(void **state)
{
    (void)state;
    put_ttl("later", NOW_S + 5);
    put("none", "");
    put_expiry_row("{PK: 'a', SK: 'later'}", NOW_S - 5);
    put_expiry_row("{PK: 'a', SK: 'none'}", NOW_S - 5);
    put_expiry_row("{PK: 'a', SK: 'never was'}", NOW_S - 5);
    assert_int_equal(expiry_rows(), 4);
    assert_int_equal(run_all().expired, 0);
    assert_int_equal(expiry_rows(), 1);
    assert_true(is_there("later") && is_there("none"));
}

static void test_ttl__a_damaged_row_stops_no_other(void **state)
{
    (void)state;
    struct table *table = cat_find(t.core, SPAN_LIT("Items"));
    static const uint8_t s[24];
    uint8_t key[24];
    memcpy(key, s, sizeof key);
    cat_number_bytes((uint64_t)NOW_S - 7, key);
    struct cat_extra row = {.key = {row_ttl_place(table, 3), SPAN(key, sizeof key)},
                            .value = SPAN_LIT("no item")};
    table_unref(table);
    assert_ok(sheaf_engine_run(t.engine, put_row, &row, NULL, NULL, NULL));
    for (int i = 0; i < 60; i++) {
        char sk[16];
        snprintf(sk, sizeof sk, "%d", i);
        put_ttl(sk, NOW_S - 5);
    }
    struct core_background did;
    sheaf_rc rc = core_run_background(t.core, &did, &t.err);
    assert_true(rc == SHEAF_CORRUPT || rc == SHEAF_FORMAT);
    assert_int_equal(did.expired, 60);
}

/* More of them in each bucket than a round looks at. */
static void test_ttl__many_damaged_rows_stop_no_other(void **state)
{
    (void)state;
    enum { PER_BUCKET = 70 };
    struct table *table = cat_find(t.core, SPAN_LIT("Items"));
    for (uint32_t i = 0; i < TTL_BUCKETS * PER_BUCKET; i++) {
        uint8_t key[24] = {0};
        cat_number_bytes((uint64_t)NOW_S - 7, key);
        cat_number_bytes(i, key + 8);
        struct cat_extra row = {
            .key = {row_ttl_place(table, i % TTL_BUCKETS), SPAN(key, sizeof key)},
            .value = SPAN_LIT("no item")};
        assert_ok(sheaf_engine_run(t.engine, put_row, &row, NULL, NULL, NULL));
    }
    table_unref(table);
    put_ttl("x", NOW_S - 5);
    put_ttl("y", NOW_S - 5);
    struct core_background did;
    uint64_t expired = 0;
    for (int round = 0; round < 3; round++) {
        sheaf_rc rc = core_run_background(t.core, &did, &t.err);
        assert_true(rc == SHEAF_CORRUPT || rc == SHEAF_FORMAT);
        expired += did.expired;
    }
    assert_int_equal(expired, 2);
}

/* ---- what a deletion leaves ---- */

static void test_ttl__a_deletion_takes_the_index_entries_along(void **state)
{
    (void)state;
    put("x", ", g: 'g', n: 1, l: 'l', expires: 1799999999");
    put("y", ", g: 'g', n: 1, l: 'l', expires: 1899999999");
    test_check_table(&t, "Items");
    assert_int_equal(run_all().expired, 1);
    test_check_table(&t, "Items");
    struct table *table = cat_find(t.core, SPAN_LIT("Items"));
    assert_int_equal(test_walk(&t, table->space).items, 1);
    assert_int_equal(test_walk(&t, table->indexes[0].space).items, 1);
    table_unref(table);
}

static struct core_records read_shard(uint32_t shard)
{
    struct core_streams_outcome streams;
    struct core_stream_outcome stream;
    struct core_records page;
    struct core_iterator_outcome at;
    assert_ok(core_list_streams(t.core, &t.ctx,
                                &(struct core_list_streams){.table = SPAN_LIT("Items")}, &streams));
    struct core_describe_stream q = {.table = SPAN_LIT("Items"), .label = streams.streams[0].label};
    assert_ok(core_describe_stream(t.core, &t.ctx, &q, &stream));
    assert_ok(core_get_iterator(t.core, &t.ctx,
                                &(struct core_get_iterator){.table = SPAN_LIT("Items"),
                                                            .label = q.label,
                                                            .shard = stream.shards[shard].id,
                                                            .type = CORE_TRIM_HORIZON},
                                &at));
    assert_ok(core_get_records(t.core, &t.ctx, at.iterator, 0, &page));
    return page;
}

static void test_ttl__the_stream_says_who_deleted(void **state)
{
    (void)state;
    test_enable_stream(t.core, "Items", CORE_STREAM_BOTH);
    put_ttl("x", NOW_S - 1);
    assert_int_equal(run_all().expired, 1);
    put("y", "");
    test_delete(&t, "Items", "{PK: 'a', SK: 'y'}");
    uint32_t n = 0;
    for (uint32_t shard = 0; shard < STREAM_SHARDS; shard++) {
        struct core_records page = read_shard(shard);
        n += page.n;
        if (page.n == 0) continue;
        assert_int_equal(page.n, 4); /* one collection, one shard */
        assert_int_equal(page.records[1].event, CORE_REMOVE);
        assert_true(page.records[1].is_ttl);
        assert_string_equal(test_text(&t, page.records[1].old_image),
                            "{PK: 'a', SK: 'x', expires: 1799999999}");
        assert_null(page.records[1].new_image.p);
        assert_false(page.records[0].is_ttl || page.records[3].is_ttl);
        assert_int_equal(page.records[3].event, CORE_REMOVE);
    }
    assert_int_equal(n, 4);
}

/* ---- on and off ---- */

static void switch_ttl(bool is_on)
{
    sheaf_position position;
    if (core_update_ttl(t.core, &t.ctx, SPAN_LIT("Items"), SPAN_LIT("expires"), is_on, &position) !=
        SHEAF_OK)
        fail_msg("%s", t.err.message);
}

static void test_ttl__off_deletes_nothing_and_on_finds_what_was_there(void **state)
{
    (void)state;
    put_ttl("x", NOW_S - 1);
    switch_ttl(false);
    put_ttl("y", NOW_S - 1);
    assert_int_equal(run_all().expired, 0);
    assert_true(is_there("x") && is_there("y"));
    switch_ttl(true);
    uint64_t expired = 0;
    for (int i = 0; i < 4; i++) expired += run_all().expired;
    assert_int_equal(expired, 2);
    assert_false(is_there("x") || is_there("y"));
    test_check_table(&t, "Items");
}

/* ---- amounts ---- */

static void put_many(int n, int64_t seconds)
{
    for (int i = 0; i < n; i++) {
        char text[96];
        snprintf(text, sizeof text, "{PK: 'p%d', SK: 's', expires: %lld}", i, (long long)seconds);
        test_put(&t, "Items", text);
    }
}

static void test_ttl__a_round_is_bounded_and_the_next_goes_on(void **state)
{
    (void)state;
    enum { N = 3000 };
    put_many(N, NOW_S - 1);
    struct core_background did;
    assert_ok(core_run_background(t.core, &did, &t.err));
    assert_true(did.expired > 0 && did.expired <= 1024);
    assert_true(did.has_more);
    assert_int_equal(run_all().expired, N - did.expired);
    assert_int_equal(expiry_rows(), 0);
    test_check_table(&t, "Items");
}

/* A walk goes on where the last round ended; nothing is left behind it all the same. */
static void test_ttl__what_comes_behind_a_walk_is_found_before_the_end(void **state)
{
    (void)state;
    enum { N = 3000, LATE = 40 };
    put_many(N, NOW_S - 1);
    struct core_background did;
    assert_ok(core_run_background(t.core, &did, &t.err));
    for (int i = 0; i < LATE; i++) {
        char sk[16];
        snprintf(sk, sizeof sk, "%d", i);
        put_ttl(sk, NOW_S - 100);
    }
    assert_int_equal(run_all().expired, N + LATE - did.expired);
    assert_int_equal(expiry_rows(), 0);
}

static void test_ttl__a_clock_that_goes_back_ends_a_walk(void **state)
{
    (void)state;
    enum { N = 3000 };
    put_many(N, NOW_S - 1);
    struct core_background did;
    assert_ok(core_run_background(t.core, &did, &t.err));
    assert_true(did.has_more);
    pass_us(INT64_C(-3600) * 1000000);
    assert_int_equal(run_all().expired, 0);
    pass_us(INT64_C(3600) * 1000000);
    assert_int_equal(run_all().expired, N - did.expired);
}

/* A switch starts another expiry index: where the walk over the old one stood says nothing. */
static void test_ttl__a_walk_ends_with_its_expiry_index(void **state)
{
    (void)state;
    enum { N = 3000 };
    put_many(N, NOW_S - 1);
    struct core_background did;
    assert_ok(core_run_background(t.core, &did, &t.err));
    assert_true(did.has_more);
    switch_ttl(false);
    assert_int_equal(run_all().expired, 0);
    assert_null(t.core->ttl_walks);
    switch_ttl(true);
    uint64_t expired = did.expired;
    for (int i = 0; i < 4; i++) expired += run_all().expired;
    assert_int_equal(expired, N);
    assert_int_equal(expiry_rows(), 0);
}

/* ---- others at the same time ---- */

static _Atomic bool is_done;
static _Atomic int bad_rc, n_touched;

static void *touch(void *arg)
{
    struct arena arena;
    (void)arg;
    arena_init(&arena, 64 << 20);
    for (int i = 0; !is_done; i++) {
        sheaf_error err;
        struct ctx c = {&arena, &err};
        struct core_write_outcome out;
        char key[64];
        arena_reset(&arena);
        snprintf(key, sizeof key, "{PK: 'p%d', SK: 's'}", i % 200);
        struct core_write_item q = {
            .write = {.action = CORE_UPDATE,
                      .table = SPAN_LIT("Items"),
                      .item = doc_text_item(&arena, key),
                      .update = SPAN_LIT("SET expires = :later ADD n :one"),
                      .condition = SPAN_LIT("attribute_exists(PK)"),
                      .env = test_env(&arena, NULL, "{':later': 1900000000, ':one': 1}")}};
        sheaf_rc rc = core_write_item(t.core, &c, &q, &out);
        if (rc != SHEAF_OK && rc != SHEAF_CONDITIONAL_CHECK_FAILED &&
            rc != SHEAF_TRANSACTION_CONFLICT)
            bad_rc = rc;
        if (rc == SHEAF_OK) n_touched++;
    }
    arena_deinit(&arena);
    return NULL;
}

static void test_ttl__writers_and_the_sweep_agree(void **state)
{
    (void)state;
    pthread_t thread;
    put_many(400, NOW_S - 1);
    is_done = false;
    bad_rc = n_touched = 0;
    assert_int_equal(pthread_create(&thread, NULL, touch, NULL), 0);
    while (n_touched < 20 && bad_rc == 0) sched_yield();
    uint64_t expired = run_all().expired;
    is_done = true;
    pthread_join(thread, NULL);
    assert_int_equal(bad_rc, 0);
    expired += run_all().expired;
    struct table *table = cat_find(t.core, SPAN_LIT("Items"));
    int64_t left = test_walk(&t, table->space).items;
    table_unref(table);
    assert_int_equal((int64_t)expired + left, 400);
    assert_true(left >= 20 && expired >= 200);
    assert_int_equal(expiry_rows(), left); /* all that is left expires later */
    test_check_table(&t, "Items");
}

static void test_ttl__allocation_failures(void **state)
{
    (void)state;
    test_enable_stream(t.core, "Items", CORE_STREAM_BOTH);
    for (uint64_t nth = 1, left = 1; left > 0; nth++) {
        put("x", ", g: 'g', n: 1, l: 'l', expires: 1799999999");
        struct core_background did;
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = core_run_background(t.core, &did, &t.err);
        bool is_hit = mem_count() - before >= nth;
        mem_fail_at(0, false);
        test_check_table(&t, "Items");
        if (rc != SHEAF_OK) {
            assert_int_equal(rc, SHEAF_NOMEM);
            assert_int_equal(is_there("x"), did.expired == 0);
        } else {
            assert_false(is_there("x")); /* the row that failed in a batch went alone */
        }
        left = is_hit;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_ttl_seconds__takes_whole_seconds_of_numbers),
        CASE(test_ttl__an_item_expires_when_its_second_has_passed),
        CASE(test_ttl__what_is_no_time_stays),
        CASE(test_ttl__five_years_ago_is_too_long_ago),
        CASE(test_ttl__a_clock_before_1970_expires_nothing),
        CASE(test_ttl__who_updates_an_item_in_time_keeps_it),
        CASE(test_ttl__a_row_that_fits_no_item_goes_alone),
        CASE(test_ttl__a_damaged_row_stops_no_other),
        CASE(test_ttl__many_damaged_rows_stop_no_other),
        CASE(test_ttl__a_deletion_takes_the_index_entries_along),
        CASE(test_ttl__the_stream_says_who_deleted),
        CASE(test_ttl__off_deletes_nothing_and_on_finds_what_was_there),
        CASE(test_ttl__a_round_is_bounded_and_the_next_goes_on),
        CASE(test_ttl__what_comes_behind_a_walk_is_found_before_the_end),
        CASE(test_ttl__a_clock_that_goes_back_ends_a_walk),
        CASE(test_ttl__a_walk_ends_with_its_expiry_index),
        CASE(test_ttl__writers_and_the_sweep_agree),
        CASE(test_ttl__allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
