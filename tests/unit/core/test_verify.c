/* core_verify: silent about a database that was only ever written through core, and each planted
 * damage is complained of by name. */
#include "support/core_support.h"

#include "base/mem.h"
#include "core/gauges.h"
#include "core/stream.h"
#include "core/token.h"

#include <pthread.h>
#include <unistd.h>

static struct core_test t;

/* ---- complaints ---- */

static char heard[64][1024];
static int n_heard, stop_after;

static bool listen(void *ctx, const char *what)
{
    (void)ctx;
    if (n_heard < 64) snprintf(heard[n_heard++], sizeof heard[0], "%s", what);
    return stop_after == 0 || n_heard < stop_after;
}

static sheaf_rc verify(void)
{
    n_heard = 0;
    return core_verify(t.core, listen, NULL, &t.err);
}

static void assert_sound(void)
{
    sheaf_rc rc = verify();
    if (rc != SHEAF_OK) fail_msg("%s: %s", t.err.message, n_heard ? heard[0] : "-");
    assert_int_equal(n_heard, 0);
}

static bool was_heard(const char *what)
{
    for (int i = 0; i < n_heard; i++)
        if (strstr(heard[i], what)) return true;
    return false;
}

static void assert_heard(const char *what)
{
    assert_rc(verify(), SHEAF_CORRUPT);
    if (was_heard(what)) return;
    for (int i = 0; i < n_heard; i++) print_message("heard: %s\n", heard[i]);
    fail_msg("nobody complained: %s", what);
}

/* That and nothing else. */
static void assert_only(const char *what)
{
    assert_heard(what);
    if (n_heard != 1)
        for (int i = 0; i < n_heard; i++) print_message("heard: %s\n", heard[i]);
    assert_int_equal(n_heard, 1);
}

/* ---- damage ---- */

struct raw {
    sheaf_engine_key key;
    span value; /* p == NULL: delete */
};

static sheaf_rc write_raw(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    struct raw *r = ctx;
    return r->value.p ? eng_put(txn, &r->key, r->value, err) : eng_del(txn, &r->key, err);
}

static void put_raw(sheaf_engine_key key, span value)
{
    assert_ok(sheaf_engine_run(t.engine, write_raw, &(struct raw){key, value}, NULL, NULL, NULL));
}

static struct table *table(const char *name)
{
    struct table *tab = cat_find(t.core, span_cstr(name));
    assert_non_null(tab);
    table_unref(tab); /* the catalog keeps it */
    return tab;
}

static sheaf_engine_key entry_key(const char *name, uint32_t index, const char *item)
{
    struct table *tab = table(name);
    sheaf_engine_key key;
    bool has_entry;
    assert_ok(row_index_key(t.core, &t.ctx, tab, &tab->indexes[index],
                            item_map(test_item(&t, item)), &key, &has_entry));
    assert_true(has_entry);
    return key;
}

static sheaf_engine_key item_key(const char *name, const char *keys)
{
    struct table *tab = table(name);
    val item = item_map(test_item(&t, keys));
    sheaf_engine_key key;
    assert_ok(row_item_key(t.core, &t.ctx, tab, table_hash_of(tab, item), table_range_of(tab, item),
                           &key));
    return key;
}

static span stored(sheaf_engine_key key)
{
    span value;
    void *pin;
    assert_ok(eng_read(t.engine, &key, &value, &pin, NULL));
    assert_non_null(value.p);
    span copy = arena_dup(&t.arena, value);
    eng_read_done(t.engine, pin);
    return copy;
}

#define ITEM_A "{PK: 'a', SK: 1, G: 'x', H: 7, L: 'l', big: 'payload', exp: 1900000000}"
#define ITEM_B "{PK: 'a', SK: 2, G: 'x', H: 8, exp: 1900000001}"
#define ITEM_C "{PK: 'b', SK: 1, big: 'sparse'}"

static void fill_database(void)
{
    test_table(t.core, "T", "PK:S", "SK:N",
               "gsi(G:S|H:N) ALL; local lsi(PK:S|L:S) KEYS_ONLY; multi(G:S, H:N|SK:N) INCLUDE big");
    test_enable_stream(t.core, "T", CORE_STREAM_BOTH);
    test_enable_ttl(t.core, "T", "exp");
    test_table(t.core, "Other", "PK:B", NULL, NULL);
    test_put(&t, "T", ITEM_A);
    test_put(&t, "T", ITEM_B);
    test_put(&t, "T", ITEM_C);
    test_put(&t, "T", "{PK: 'gone', SK: 1, G: 'x', H: 9}");
    test_delete(&t, "T", "{PK: 'gone', SK: 1}");
    test_put(&t, "T", "{PK: 'b', SK: 1, big: 'changed'}");
    test_put(&t, "Other", "{PK: b'\x01', v: 1}");
}

static int setup(void **state)
{
    (void)state;
    stop_after = 0;
    core_test_init(&t, NULL);
    fill_database();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

/* ---- sound ---- */

static void test_verify__is_silent_about_a_sound_database(void **state)
{
    (void)state;
    assert_sound();
}

static void test_verify__is_silent_about_an_empty_database(void **state)
{
    (void)state;
    core_test_deinit(&t);
    core_test_init(&t, NULL);
    assert_sound();
}

static void test_verify__is_silent_about_random_writes(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(42));
    for (uint64_t i = 0, n = test_rounds(600); i < n; i++) {
        char text[256];
        unsigned pk = (unsigned)rng_below(&r, 5), sk = (unsigned)rng_below(&r, 6);
        if (rng_below(&r, 4) == 0) {
            snprintf(text, sizeof text, "{PK: 'p%u', SK: %u}", pk, sk);
            test_delete(&t, "T", text);
        } else {
            snprintf(text, sizeof text, "{PK: 'p%u', SK: %u, G: 'g%u', H: %u, L: 'l%u', exp: %u}",
                     pk, sk, (unsigned)rng_below(&r, 3), (unsigned)rng_below(&r, 3),
                     (unsigned)rng_below(&r, 9), 1900000000 + (unsigned)rng_below(&r, 5));
            test_put(&t, "T", text);
        }
    }
    assert_sound();
}

static void make_backfilling(struct core *core, struct table *tab)
{
    (void)core;
    tab->indexes[0].is_backfilling = true;
    tab->is_ttl_filling = true;
}

static void test_verify__lets_an_index_that_is_being_filled_miss_entries(void **state)
{
    (void)state;
    struct table *tab = test_change_table(t.core, "T", make_backfilling);
    sheaf_engine_key gone = entry_key("T", 0, ITEM_A), expiry;
    val item = item_map(test_item(&t, ITEM_A));
    assert_ok(row_ttl_key(t.core, &t.ctx, tab, 1900000000, table_hash_of(tab, item),
                          table_range_of(tab, item), &expiry));
    put_raw(expiry, SPAN_NONE);
    assert_sound();
    put_raw(gone, SPAN_NONE);
    /* The entry may be missing; that it was counted is what is wrong. */
    assert_heard("table T: index gsi: the statistics of the collection of {G: 'x', H: 8, PK: 'a', "
                 "SK: 2} say 2 items");
    assert_int_equal(n_heard, 2);
}

static void drop_last_index(struct core *core, struct table *tab)
{
    (void)core;
    tab->n_indexes--;
}

static void test_verify__passes_over_statistics_of_a_deleted_index(void **state)
{
    (void)state;
    uint64_t space = table("T")->indexes[2].space;
    test_change_table(t.core, "T", drop_last_index);
    assert_ok(eng_drop_space(t.engine, space, NULL));
    assert_sound();
}

/* ---- planted ---- */

static void test_verify__misses_a_removed_index_entry(void **state)
{
    (void)state;
    put_raw(entry_key("T", 2, ITEM_A), SPAN_NONE);
    assert_heard(
        "table T: index multi: the item {G: 'x', H: 7, SK: 1, PK: 'a', SK: 1} has no entry");
    assert_true(was_heard("table T: index multi: the statistics of a collection say 1 items"));
    assert_true(was_heard("table T: index multi: the statistics of the whole say 2 items"));
}

static void test_verify__finds_an_entry_without_item(void **state)
{
    (void)state;
    const char *item = "{PK: 'ghost', SK: 3, G: 'x', H: 7}";
    put_raw(entry_key("T", 0, item), test_item(&t, item));
    assert_heard("table T: index gsi: the entry {G: 'x', H: 7, PK: 'ghost', SK: 3} has no item");
}

static void test_verify__finds_a_stray_entry(void **state)
{
    (void)state;
    const char *item = "{PK: 'a', SK: 1, G: 'y', H: 7}";
    put_raw(entry_key("T", 0, item), test_item(&t, item));
    assert_heard("table T: index gsi: the entry {G: 'y', H: 7, PK: 'a', SK: 1} is a stray");
}

static void test_verify__compares_the_value_of_an_entry(void **state)
{
    (void)state;
    put_raw(
        entry_key("T", 0, ITEM_A),
        test_item(&t, "{PK: 'a', SK: 1, G: 'x', H: 7, L: 'l', big: 'PAYLOAD', exp: 1900000000}"));
    assert_only("table T: index gsi: the entry of {G: 'x', H: 7, PK: 'a', SK: 1} is not what the "
                "item says");
}

static void test_verify__recounts_statistics_of_a_collection(void **state)
{
    (void)state;
    uint8_t s[8], n[16] = {3};
    sheaf_engine_key key, item = item_key("T", "{PK: 'a', SK: 1}");
    row_stats_key(table("T"), table("T")->space, &item.p, s, &key);
    put_raw(key, SPAN(n, sizeof n));
    assert_only("table T: the statistics of the collection of {PK: 'a', SK: 1} say 3 items of 0 "
                "bytes; there are 2 of ");
}

static void test_verify__recounts_statistics_of_the_whole(void **state)
{
    (void)state;
    uint8_t s[8], n[16] = {9};
    sheaf_engine_key key;
    row_stats_key(table("Other"), table("Other")->space, NULL, s, &key);
    put_raw(key, SPAN(n, sizeof n));
    assert_only(
        "table Other: the statistics of the whole say 9 items of 0 bytes; there are 1 of 6");
    put_raw(key, SPAN(n, 15));
    assert_heard("table Other: the statistics of the whole are damaged");
}

static void test_verify__finds_statistics_of_a_collection_that_is_not_there(void **state)
{
    (void)state;
    uint8_t s[8], n[16] = {2};
    sheaf_engine_key key, item = item_key("T", "{PK: 'nobody', SK: 1}");
    row_stats_key(table("T"), table("T")->space, &item.p, s, &key);
    put_raw(key, SPAN(n, sizeof n));
    assert_only("table T: the statistics of a collection say 2 items of 0 bytes; it has none");
    n[0] = 0;
    put_raw(key, SPAN(n, sizeof n)); /* zeros are allowed */
    assert_sound();
    row_stats_key(table("T"), table("Other")->space, &item.p, s, &key);
    put_raw(key, SPAN(n, sizeof n));
    assert_heard("which is no index of it");
}

static void test_verify__finds_a_damaged_item(void **state)
{
    (void)state;
    sheaf_engine_key key = item_key("Other", "{PK: b'\x01'}");
    span value = stored(key);
    ((uint8_t *)(uintptr_t)value.p)[1] ^= 1; /* the size */
    put_raw(key, value);
    assert_heard("table Other: the row ");
    assert_true(was_heard("is damaged"));
    put_raw(key, SPAN_LIT("no item"));
    assert_heard("is damaged");
    put_raw(key, test_item(&t, "{PK: 'a string', v: 1}"));
    assert_heard("table Other: the item {PK: 'a string'} lacks a key");
}

static void test_verify__finds_an_item_in_the_row_of_another(void **state)
{
    (void)state;
    put_raw(item_key("Other", "{PK: b'\x01'}"), test_item(&t, "{PK: b'\x02', v: 1}"));
    assert_only("table Other: the item {PK: b'02'} lies in the row of another key");
}

static void test_verify__misses_an_expiry_row(void **state)
{
    (void)state;
    struct table *tab = table("T");
    val item = item_map(test_item(&t, ITEM_A));
    sheaf_engine_key key, late;
    assert_ok(row_ttl_key(t.core, &t.ctx, tab, 1900000000, table_hash_of(tab, item),
                          table_range_of(tab, item), &key));
    assert_ok(row_ttl_key(t.core, &t.ctx, tab, 1900000007, table_hash_of(tab, item),
                          table_range_of(tab, item), &late));
    span value = stored(key);
    put_raw(key, SPAN_NONE);
    assert_only("table T: the item {PK: 'a', SK: 1} has no expiry row");
    put_raw(key, value);
    assert_sound();
    put_raw(late, value);
    assert_only("table T: the expiry row of {PK: 'a', SK: 1} has the wrong time or place");
    put_raw(late, test_item(&t, "{PK: 'b', SK: 1}"));
    assert_only("table T: an expiry row of {PK: 'b', SK: 1}, which does not expire");
}

/* ---- streams ---- */

/* The first or last record of the shard that a partition key belongs to. */
static sheaf_engine_key record_key(const char *keys, bool is_last)
{
    const struct table_stream *s = table_stream(table("T"));
    sheaf_engine_key item = item_key("T", keys);
    struct sheaf_range range = {.p = row_shard_place(s, row_shard_of(&item.p)),
                                .lo = SPAN_LIT("\0"),
                                .max_rows = 1,
                                .is_reverse = is_last};
    sheaf_txn *txn;
    sheaf_cursor *cursor;
    struct sheaf_row row;
    bool has_row;
    assert_ok(eng_begin(t.engine, SHEAF_TXN_SNAPSHOT, &txn, NULL));
    assert_ok(eng_range(txn, &range, &cursor, NULL));
    assert_ok(eng_next(cursor, &row, &has_row, NULL));
    assert_true(has_row);
    sheaf_engine_key key = {row.key.p, arena_dup(&t.arena, row.key.s)};
    eng_cursor_close(cursor);
    eng_rollback(txn);
    return key;
}

static void test_verify__misses_a_stream_record(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        char text[64];
        snprintf(text, sizeof text, "{PK: 'only', SK: 1, v: %d}", i);
        test_put(&t, "T", text);
    }
    assert_sound();
    sheaf_engine_key last = record_key("{PK: 'only', SK: 1}", true);
    span value = stored(last);
    put_raw(last, SPAN_NONE);
    assert_only("{PK: 'only', SK: 1}: a record is missing: the item is not the last new image");
    put_raw(last, value);
    test_put(&t, "T", "{PK: 'only', SK: 1, v: 3}");
    put_raw(last, SPAN_NONE); /* now in the middle */
    assert_only("{PK: 'only', SK: 1}: a record is missing: the old image is not the last new one");
}

static void test_verify__finds_records_out_of_order(void **state)
{
    (void)state;
    test_put(&t, "T", "{PK: 'only', SK: 1, v: 1}");
    sheaf_engine_key at = record_key("{PK: 'only', SK: 1}", true), to = at;
    span value = stored(at);
    sheaf_stamp stamp, never;
    memcpy(stamp.b, at.s.p, sizeof stamp.b);

    sheaf_stamp next = stream_stamp_next(&stamp);
    to.s = SPAN(next.b, sizeof next.b);
    put_raw(to, value);
    assert_only("{PK: 'only', SK: 1}: records are out of order: inserted, but it was there");
    put_raw(to, SPAN_NONE);

    memset(never.b, 0x77, sizeof never.b);
    to.s = SPAN(never.b, sizeof never.b);
    put_raw(to, value);
    assert_only("{PK: 'only', SK: 1}: a record's stamp was never given out");
    put_raw(to, SPAN_NONE);

    span mark;
    assert_ok(stream_mark_encode(&t.ctx, &stamp, &mark));
    put_raw((sheaf_engine_key){at.p, SPAN_LIT("")}, mark);
    assert_heard("{PK: 'only', SK: 1}: a record is out of order: the shard was trimmed beyond it");
    put_raw((sheaf_engine_key){at.p, SPAN_LIT("")}, SPAN_NONE);
    assert_sound();

    to = at;
    to.p.b[8 + 3] = (uint8_t)((to.p.b[8 + 3] + 1) % STREAM_SHARDS);
    put_raw(to, value);
    assert_heard("{PK: 'only', SK: 1}: the record belongs to another shard");
    put_raw(to, SPAN_NONE);
    to.p.b[8 + 15] = 1;
    put_raw(to, value);
    assert_only("a row lies in no shard");
    put_raw(to, SPAN_NONE);
    put_raw(at, SPAN_LIT("x"));
    assert_heard("table T: stream 2026-11-15T02:03:04.567: shard ");
}

/* ---- the rest ---- */

static void test_verify__reports_leftovers(void **state)
{
    (void)state;
    uint64_t space;
    cat_enter_exclusive(t.core);
    space = cat_take_number(t.core);
    cat_leave_exclusive(t.core);
    test_table(t.core, "Later", "PK:S", NULL, NULL); /* writes down that the number is taken */
    uint8_t hash[16] = {5};
    sheaf_engine_key key = {sheaf_place_make(space, hash), SPAN_LIT("s")};
    put_raw(key, SPAN_LIT("left"));
    char want[80];
    snprintf(want, sizeof want, "space %llu has rows but belongs to no table",
             (unsigned long long)space);
    assert_only(want);
    /* A note says that it will be freed. */
    static const sheaf_place meta_place;
    uint8_t numbers[16] = {0}; /* no statistics to sweep, one space */
    cat_number_bytes(space, numbers + 8);
    sheaf_engine_key note = {meta_place, SPAN_LIT("drop\0\0\0\0\0\0\0\1")};
    put_raw(note, SPAN(numbers, sizeof numbers));
    assert_sound();
    put_raw(note, SPAN(numbers, 3));
    assert_heard("header: a note of spaces to free is damaged");
}

static void test_verify__checks_header_and_tokens(void **state)
{
    (void)state;
    static const sheaf_place meta_place;
    sheaf_engine_key strange = {meta_place, SPAN_LIT("strange")};
    put_raw(strange, SPAN_LIT("x"));
    assert_only("header: row 'strange' is unknown or damaged");
    put_raw(strange, SPAN_NONE);

    struct token token;
    struct core_write w = {.table = SPAN_LIT("T"),
                           .item = test_item(&t, ITEM_A),
                           .env = test_env(&t.arena, NULL, NULL)};
    assert_ok(expr_env_check(w.env, NULL));
    assert_ok(token_of_client(t.core, &t.ctx, SPAN_LIT("my-token"), &w, 1, &token));
    uint8_t value[TOKEN_VALUE_BYTES] = {0};
    put_raw(token.key, SPAN(value, sizeof value));
    assert_sound();
    put_raw(token.key, SPAN(value, 7));
    assert_only("token 636d792d746f6b656e: 7 bytes instead of 24");
    put_raw(token.key, SPAN_NONE);
    token.key.p.b[20] ^= 1;
    put_raw(token.key, SPAN(value, sizeof value));
    assert_only("token 636d792d746f6b656e: its row is not where it belongs");
}

static void test_verify__checks_the_catalog(void **state)
{
    (void)state;
    sheaf_engine_key key = table("Other")->catalog_key;
    span value = stored(key);
    put_raw(key, SPAN_LIT("nothing"));
    assert_heard("catalog: table Other: ");
    assert_true(was_heard("has rows but belongs to no table"));
    put_raw(key, value);
    assert_sound();
    sheaf_engine_key other = key;
    other.s = SPAN_LIT("Twin");
    put_raw(other, value);
    assert_heard("catalog: table Other lies in the row of another name");
    assert_true(was_heard("has two users"));
}

static void test_verify__stops_when_told(void **state)
{
    (void)state;
    put_raw(entry_key("T", 2, ITEM_A), SPAN_NONE);
    put_raw(item_key("Other", "{PK: b'\x01'}"), SPAN_LIT("no item"));
    assert_rc(verify(), SHEAF_CORRUPT);
    assert_true(n_heard > 2);
    stop_after = 2;
    assert_rc(verify(), SHEAF_CORRUPT);
    assert_int_equal(n_heard, 2);
    assert_rc(core_verify(t.core, NULL, NULL, NULL), SHEAF_CORRUPT); /* nobody listens */
}

static void test_verify__survives_every_allocation_failure(void **state)
{
    (void)state;
    int n = 0;
    for (uint64_t nth = 1;; nth++) {
        n_heard = 0;
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = core_verify(t.core, listen, NULL, &t.err);
        mem_fail_at(0, false);
        if (rc == SHEAF_OK && mem_count() - before < nth) break;
        if (rc != SHEAF_OK && rc != SHEAF_NOMEM)
            fail_msg("allocation %d: %s: %s", (int)nth, t.err.message, n_heard ? heard[0] : "-");
        assert_int_equal(n_heard, 0);
        n++;
    }
    assert_true(n > 10);
    assert_sound();
}

static void test_verify__reads_rocks_alike(void **state)
{
    (void)state;
    char directory[] = "/tmp/sheaf-verify-XXXXXX", command[64];
    sheaf_engine *engine;
    assert_non_null(mkdtemp(directory));
    core_test_deinit(&t);
    assert_ok(sheaf_engine_open_rocks(directory, NULL, &engine, NULL));
    core_test_init_on(&t, engine, NULL);
    fill_database();
    assert_sound();
    put_raw(
        entry_key("T", 0, ITEM_A),
        test_item(&t, "{PK: 'a', SK: 1, G: 'x', H: 7, L: 'l', big: 'PAYLOAD', exp: 1900000000}"));
    assert_only("table T: index gsi: the entry of {G: 'x', H: 7, PK: 'a', SK: 1} is not what the "
                "item says");
    core_test_deinit(&t);
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
    core_test_init(&t, NULL);
}

/* ---- while others write ---- */

static atomic_bool is_over;

static void *write_on(void *ctx)
{
    unsigned id = *(unsigned *)ctx;
    struct core_test mine = {.core = t.core, .engine = t.engine};
    arena_init(&mine.arena, 64 << 20);
    mine.ctx = (struct ctx){&mine.arena, &mine.err};
    for (unsigned i = 0; !atomic_load(&is_over); i++) {
        char text[128];
        arena_reset(&mine.arena);
        snprintf(text, sizeof text, "{PK: 'w%u', SK: %u, G: 'g%u', H: 1, L: 'l', exp: 19%08u}", id,
                 i % 20, i % 3, i % 1000);
        test_put(&mine, "T", text);
        snprintf(text, sizeof text, "{PK: 'w%u', SK: %u}", id, (i + 7) % 20);
        test_delete(&mine, "T", text);
    }
    arena_deinit(&mine.arena);
    return NULL;
}

static void test_verify__is_silent_while_others_write(void **state)
{
    (void)state;
    pthread_t threads[2];
    unsigned ids[2] = {0, 1};
    atomic_store(&is_over, false);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, write_on, &ids[i]);
    sheaf_rc rc = SHEAF_OK;
    for (int i = 0; i < 20 && rc == SHEAF_OK; i++) rc = verify();
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    if (rc != SHEAF_OK) fail_msg("%s: %s", t.err.message, n_heard ? heard[0] : "-");
    assert_sound();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_verify__is_silent_about_a_sound_database),
        CASE(test_verify__is_silent_about_an_empty_database),
        CASE(test_verify__is_silent_about_random_writes),
        CASE(test_verify__lets_an_index_that_is_being_filled_miss_entries),
        CASE(test_verify__passes_over_statistics_of_a_deleted_index),
        CASE(test_verify__misses_a_removed_index_entry),
        CASE(test_verify__finds_an_entry_without_item),
        CASE(test_verify__finds_a_stray_entry),
        CASE(test_verify__compares_the_value_of_an_entry),
        CASE(test_verify__recounts_statistics_of_a_collection),
        CASE(test_verify__recounts_statistics_of_the_whole),
        CASE(test_verify__finds_statistics_of_a_collection_that_is_not_there),
        CASE(test_verify__finds_a_damaged_item),
        CASE(test_verify__finds_an_item_in_the_row_of_another),
        CASE(test_verify__misses_an_expiry_row),
        CASE(test_verify__misses_a_stream_record),
        CASE(test_verify__finds_records_out_of_order),
        CASE(test_verify__reports_leftovers),
        CASE(test_verify__checks_header_and_tokens),
        CASE(test_verify__checks_the_catalog),
        CASE(test_verify__stops_when_told),
        CASE(test_verify__survives_every_allocation_failure),
        CASE(test_verify__reads_rocks_alike),
        CASE(test_verify__is_silent_while_others_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
