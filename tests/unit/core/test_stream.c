/* Streams: what is recorded of each change, in which order, who may read it and for how long. The
 * clock stands still unless a test moves it. */
#include "support/core_support.h"

#include "base/mem.h"
#include "core/stream.h"

#include <pthread.h>
#include <unistd.h>

#define ALTERNATOR "Alternator test/alternator/test_streams.py"

enum { MINUTE = 60, HOUR = 3600, DAY = 24 * HOUR };
#define SECOND_US INT64_C(1000000)
#define START_US (INT64_C(1800000000) * SECOND_US)

static struct core_test t;
static struct clock_manual clock_;
static struct core_options options;

static int setup(void **state)
{
    (void)state;
    clock_manual_init(&clock_, START_US);
    options = (struct core_options){.clock = &clock_.base};
    core_test_init(&t, &options);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

static void pass(int64_t seconds) { clock_manual_advance(&clock_, seconds * SECOND_US); }

/* ---- requests ---- */

static void create(const char *name, enum core_stream_view view)
{
    struct core_table_outcome out;
    struct core_create_table q = {.table = span_cstr(name),
                                  .hash = {SPAN_LIT("PK"), VAL_S},
                                  .range = {SPAN_LIT("SK"), VAL_S},
                                  .stream = view};
    if (core_create_table(t.core, &t.ctx, &q, &out) != SHEAF_OK) fail_msg("%s", t.err.message);
}

static void switch_stream(const char *name, enum core_switch to, enum core_stream_view view)
{
    struct core_table_outcome out;
    struct core_update_table q = {.table = span_cstr(name), .stream = to, .view = view};
    if (core_update_table(t.core, &t.ctx, &q, &out) != SHEAF_OK) fail_msg("%s", t.err.message);
}

/* Labels of the table's streams, oldest first. */
static struct core_streams_outcome list(const char *name)
{
    struct core_streams_outcome out;
    struct core_list_streams q = {.table = name ? span_cstr(name) : SPAN_NONE};
    if (core_list_streams(t.core, &t.ctx, &q, &out) != SHEAF_OK) fail_msg("%s", t.err.message);
    return out;
}

static span label_of(const char *name)
{
    struct core_streams_outcome all = list(name);
    assert_true(all.n_streams > 0);
    return all.streams[all.n_streams - 1].label;
}

static struct core_stream_outcome describe(const char *name, span label)
{
    struct core_stream_outcome out;
    struct core_describe_stream q = {.table = span_cstr(name), .label = label};
    if (core_describe_stream(t.core, &t.ctx, &q, &out) != SHEAF_OK) fail_msg("%s", t.err.message);
    return out;
}

static sheaf_rc iterate(const char *name, span label, uint32_t shard, enum core_iterator type,
                        span sequence, span *out)
{
    struct core_stream_outcome d = describe(name, label);
    struct core_iterator_outcome at;
    sheaf_rc rc = core_get_iterator(t.core, &t.ctx,
                                    &(struct core_get_iterator){.table = span_cstr(name),
                                                                .label = label,
                                                                .shard = d.shards[shard].id,
                                                                .type = type,
                                                                .sequence = sequence},
                                    &at);
    *out = at.iterator;
    return rc;
}

/* One iterator for each shard. */
struct reader {
    span at[STREAM_SHARDS]; /* p == NULL: closed and read */
};

static struct reader begin_at(const char *name, span label, enum core_iterator type)
{
    struct reader r;
    for (uint32_t i = 0; i < STREAM_SHARDS; i++)
        assert_ok(iterate(name, label, i, type, SPAN_NONE, &r.at[i]));
    return r;
}

static struct reader begin(const char *name, enum core_iterator type)
{
    return begin_at(name, label_of(name), type);
}

static const char *event_name(enum core_event e)
{
    return e == CORE_INSERT ? "INSERT" : e == CORE_MODIFY ? "MODIFY" : "REMOVE";
}

static void print_image(struct buf *b, const char *name, span image)
{
    if (image.p) buf_printf(b, " %s %s", name, test_text(&t, image));
}

static void print_record(struct buf *b, const struct core_record *r)
{
    buf_printf(b, "%s%s", event_name(r->event), r->is_ttl ? " by ttl" : "");
    print_image(b, "keys", r->keys);
    print_image(b, "new", r->new_image);
    print_image(b, "old", r->old_image);
    buf_printf(b, "\n");
}

/* Everything that can be read now, shard by shard; one line each. */
static const char *drain(struct reader *r)
{
    struct buf b;
    buf_init(&b, &t.arena, 1 << 20);
    for (uint32_t i = 0; i < STREAM_SHARDS; i++)
        while (r->at[i].p) {
            struct core_records page;
            if (core_get_records(t.core, &t.ctx, r->at[i], 0, &page) != SHEAF_OK)
                fail_msg("%s", t.err.message);
            r->at[i] = page.next_iterator;
            for (uint32_t k = 0; k < page.n; k++) print_record(&b, &page.records[k]);
            if (page.n == 0) break;
        }
    buf_put_u8(&b, 0);
    assert_false(b.failed);
    return (const char *)b.p;
}

static const char *all_of(const char *name)
{
    struct reader r = begin(name, CORE_TRIM_HORIZON);
    return drain(&r);
}

static uint32_t shard_of(const char *name, const char *key)
{
    struct table *table = cat_find(t.core, span_cstr(name));
    val item = item_map(test_item(&t, key));
    sheaf_engine_key k;
    assert_ok(row_item_key(t.core, &t.ctx, table, table_hash_of(table, item),
                           table_range_of(table, item), &k));
    table_unref(table);
    return row_shard_of(&k.p);
}

static struct core_records must_read(span iterator, uint32_t limit)
{
    struct core_records page;
    if (core_get_records(t.core, &t.ctx, iterator, limit, &page) != SHEAF_OK)
        fail_msg("%s", t.err.message);
    return page;
}

static struct core_background run_all(void)
{
    struct core_background sum = {0}, did;
    do {
        if (core_run_background(t.core, &did, &t.err) != SHEAF_OK) fail_msg("%s", t.err.message);
        sum.expired += did.expired;
        sum.trimmed_records += did.trimmed_records;
        sum.trimmed_tokens += did.trimmed_tokens;
    } while (did.has_more);
    return sum;
}

/* ---- texts ---- */

static sheaf_stamp stamp_of(uint64_t commit, uint32_t ordinal)
{
    sheaf_stamp s;
    cat_number_bytes(commit, s.b);
    for (int i = 0; i < 4; i++) s.b[8 + i] = (uint8_t)(ordinal >> (24 - 8 * i));
    return s;
}

static void test_sequence__texts_have_the_order_of_stamps(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, test_seed(7));
    for (uint64_t i = 0; i < test_rounds(20000); i++) {
        sheaf_stamp a = stamp_of(rng_u64(&rng) >> rng_below(&rng, 64), (uint32_t)rng_u64(&rng));
        sheaf_stamp b = stamp_of(rng_u64(&rng) >> rng_below(&rng, 64), (uint32_t)rng_u64(&rng));
        if (rng_below(&rng, 4) == 0) b = stream_stamp_next(&a);
        char x[STREAM_SEQUENCE_DIGITS], y[STREAM_SEQUENCE_DIGITS];
        stream_sequence_format(&a, x);
        stream_sequence_format(&b, y);
        int texts = memcmp(x, y, sizeof x), stamps = stream_stamp_cmp(&a, &b);
        assert_int_equal((texts > 0) - (texts < 0), (stamps > 0) - (stamps < 0));
        sheaf_stamp back;
        assert_true(stream_sequence_parse(SPAN(x, sizeof x), &back));
        assert_memory_equal(&back, &a, sizeof a);
    }
}

static void test_sequence__known_texts(void **state)
{
    (void)state;
    static const struct {
        uint64_t commit;
        uint32_t ordinal;
        const char *text;
    } rows[] = {
        {0, 0, "100000000000000000000000000000"},
        {0, 1, "100000000000000000000000000001"},
        {1, 0, "100000000000000000004294967296"},
        {UINT64_MAX, UINT32_MAX, "179228162514264337593543950335"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[STREAM_SEQUENCE_DIGITS];
        sheaf_stamp s = stamp_of(rows[i].commit, rows[i].ordinal);
        stream_sequence_format(&s, text);
        assert_span(SPAN(text, sizeof text), rows[i].text);
    }
    static const char *const bad[] = {"",
                                      "1",
                                      "000000000000000000000000000000",
                                      "179228162514264337593543950336",
                                      "10000000000000000000000000000x",
                                      "1000000000000000000000000000000"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sheaf_stamp s;
        assert_false(stream_sequence_parse(span_cstr(bad[i]), &s));
    }
}

static void test_stamp__neighbours_stop_at_the_ends(void **state)
{
    (void)state;
    sheaf_stamp zero = stamp_of(0, 0), last = stamp_of(UINT64_MAX, UINT32_MAX),
                edge = stamp_of(4, UINT32_MAX), over = stamp_of(5, 0);
    sheaf_stamp s = stream_stamp_prev(&zero);
    assert_memory_equal(&s, &zero, sizeof s);
    s = stream_stamp_next(&last);
    assert_memory_equal(&s, &last, sizeof s);
    s = stream_stamp_next(&edge);
    assert_memory_equal(&s, &over, sizeof s);
    s = stream_stamp_prev(&over);
    assert_memory_equal(&s, &edge, sizeof s);
}

static void test_iterator__any_change_of_its_text_is_refused(void **state)
{
    (void)state;
    struct stream_iterator it = {.table = SPAN_LIT("Music"),
                                 .space = 77,
                                 .shard = 3,
                                 .after = stamp_of(12, 3),
                                 .made_us = START_US},
                           back;
    const struct key_secret *secret = core_secret(t.core);
    span text;
    assert_ok(stream_iterator_format(&t.ctx, secret, &it, &text));
    assert_ok(stream_iterator_parse(&t.ctx, secret, text, &back));
    assert_span(back.table, "Music");
    assert_true(back.space == 77 && back.shard == 3 && back.made_us == START_US);
    assert_memory_equal(&back.after, &it.after, sizeof it.after);
    for (size_t i = 0; i < text.n; i++) {
        uint8_t *copy = arena_bytes(&t.arena, text.n);
        memcpy(copy, text.p, text.n);
        copy[i] = copy[i] == '0' ? '1' : '0';
        assert_rc(stream_iterator_parse(&t.ctx, secret, SPAN(copy, text.n), &back),
                  SHEAF_VALIDATION);
        assert_string_equal(t.err.message, "Invalid ShardIterator");
        assert_rc(stream_iterator_parse(&t.ctx, secret, SPAN(text.p, i), &back), SHEAF_VALIDATION);
    }
}

/* ---- what is recorded ---- */

static void test_stream__each_view_shows_its_part_of_each_event(void **state)
{
    (void)state;
    static const struct {
        const char *table;
        enum core_stream_view view;
        const char *want;
    } rows[] = {
        {"keys", CORE_STREAM_KEYS,
         "INSERT keys {PK: 'a', SK: 'b'}\n"
         "MODIFY keys {PK: 'a', SK: 'b'}\n"
         "REMOVE keys {PK: 'a', SK: 'b'}\n"},
        {"new", CORE_STREAM_NEW,
         "INSERT keys {PK: 'a', SK: 'b'} new {PK: 'a', SK: 'b', v: 1}\n"
         "MODIFY keys {PK: 'a', SK: 'b'} new {PK: 'a', SK: 'b', v: 2}\n"
         "REMOVE keys {PK: 'a', SK: 'b'}\n"},
        {"old", CORE_STREAM_OLD,
         "INSERT keys {PK: 'a', SK: 'b'}\n"
         "MODIFY keys {PK: 'a', SK: 'b'} old {PK: 'a', SK: 'b', v: 1}\n"
         "REMOVE keys {PK: 'a', SK: 'b'} old {PK: 'a', SK: 'b', v: 2}\n"},
        {"both", CORE_STREAM_BOTH,
         "INSERT keys {PK: 'a', SK: 'b'} new {PK: 'a', SK: 'b', v: 1}\n"
         "MODIFY keys {PK: 'a', SK: 'b'} new {PK: 'a', SK: 'b', v: 2} old {PK: 'a', SK: 'b', v: "
         "1}\n"
         "REMOVE keys {PK: 'a', SK: 'b'} old {PK: 'a', SK: 'b', v: 2}\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = rows[i].table;
        create(name, rows[i].view);
        test_put(&t, name, "{PK: 'a', SK: 'b', v: 1}");
        test_put(&t, name, "{PK: 'a', SK: 'b', v: 2}");
        test_delete(&t, name, "{PK: 'a', SK: 'b'}");
        assert_string_equal(all_of(name), rows[i].want);
    }
}

static void test_stream__a_write_that_changes_nothing_leaves_no_record(void **state)
{
    (void)state;
    create("both", CORE_STREAM_BOTH);
    test_put(&t, "both", "{PK: 'a', SK: 'b', v: 1}");
    test_put(&t, "both", "{PK: 'a', SK: 'b', v: 1.0}");
    test_delete(&t, "both", "{PK: 'a', SK: 'other'}");
    assert_string_equal(all_of("both"),
                        "INSERT keys {PK: 'a', SK: 'b'} new {PK: 'a', SK: 'b', v: 1}\n");
}

static void test_stream__a_record_tells_time_size_and_a_unique_id(void **state)
{
    (void)state;
    create("both", CORE_STREAM_BOTH);
    struct reader r = begin("both", CORE_TRIM_HORIZON);
    test_put(&t, "both", "{PK: 'a', SK: 'b', v: 1}");
    pass(5);
    test_put(&t, "both", "{PK: 'a', SK: 'b', v: 'xyz'}");
    struct core_records page = must_read(r.at[shard_of("both", "{PK: 'a', SK: 'b'}")], 0);
    assert_int_equal(page.n, 2);
    assert_int_equal(page.view, CORE_STREAM_BOTH);
    assert_true(page.position > 0);
    assert_true(page.records[0].created_us == START_US);
    assert_true(page.records[1].created_us == START_US + 5 * SECOND_US);
    assert_int_equal(page.records[0].size, 6 + (6 + 1 + 2)); /* keys, new */
    assert_int_equal(page.records[1].size, 6 + (6 + 1 + 3) + (6 + 1 + 2));
    assert_int_equal(page.records[0].id.n, 32);
    assert_false(span_eq(page.records[0].id, page.records[1].id));
    assert_true(span_cmp(page.records[0].sequence, page.records[1].sequence) < 0);
    assert_true(page.records[0].sequence.n >= 21 && page.records[0].sequence.n <= 40);
    for (uint32_t i = 0; i < STREAM_SHARDS; i++)
        assert_true(span_cmp(describe("both", label_of("both")).shards[i].first,
                             page.records[0].sequence) < 0);
}

/* As deep as a value can be. */
static void test_stream__takes_the_deepest_and_largest_items(void **state)
{
    (void)state;
    enum { DEPTH = 31, SIZE = 400000 };
    create("both", CORE_STREAM_BOTH);
    char text[512] = "{PK: 'a', SK: 'b', v: ";
    for (int i = 0; i < DEPTH; i++) strcat(text, "[");
    for (int i = 0; i < DEPTH; i++) strcat(text, "]");
    strcat(text, "}");
    test_put(&t, "both", text);
    char *large = malloc(SIZE + 64);
    for (char c = 'x'; c <= 'y'; c++) {
        int n = sprintf(large, "{PK: 'a', SK: 'b', v: '");
        memset(large + n, c, SIZE);
        strcpy(large + n + SIZE, "'}");
        test_put(&t, "both", large);
    }
    free(large);
    struct reader r = begin("both", CORE_TRIM_HORIZON);
    struct core_records page = must_read(r.at[shard_of("both", "{PK: 'a', SK: 'b'}")], 0);
    assert_int_equal(page.n, 3);
    assert_string_equal(test_text(&t, page.records[0].new_image), text);
    assert_int_equal(page.records[2].size, 6 + 2 * (6 + 1 + SIZE));
}

static void test_stream__a_transaction_leaves_one_record_for_each_item(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    enum { N = 4 };
    struct core_write writes[N];
    for (int i = 0; i < N; i++) {
        char text[64];
        snprintf(text, sizeof text, "{PK: 'a', SK: '%d'}", i);
        writes[i] = (struct core_write){.action = CORE_PUT,
                                        .table = SPAN_LIT("keys"),
                                        .item = test_item(&t, text),
                                        .env = test_env(&t.arena, NULL, NULL)};
    }
    struct core_multi_outcome out;
    assert_ok(core_transact_write(t.core, &t.ctx,
                                  &(struct core_transact_write){.writes = writes, .n = N}, &out));
    assert_string_equal(all_of("keys"), "INSERT keys {PK: 'a', SK: '0'}\n"
                                        "INSERT keys {PK: 'a', SK: '1'}\n"
                                        "INSERT keys {PK: 'a', SK: '2'}\n"
                                        "INSERT keys {PK: 'a', SK: '3'}\n");
    struct reader r = begin("keys", CORE_TRIM_HORIZON);
    struct core_records page = must_read(r.at[shard_of("keys", "{PK: 'a', SK: '0'}")], 0);
    for (uint32_t i = 1; i < page.n; i++)
        assert_true(span_cmp(page.records[i - 1].sequence, page.records[i].sequence) < 0);
    /* One that is cancelled leaves none. */
    writes[0].condition = SPAN_LIT("attribute_not_exists(PK)");
    assert_rc(core_transact_write(t.core, &t.ctx,
                                  &(struct core_transact_write){.writes = writes, .n = N}, &out),
              SHEAF_TRANSACTION_CANCELED);
    assert_string_equal(drain(&(struct reader){.at = {page.next_iterator}}), "");
}

/* ---- iterators ---- */

static void put_numbered(const char *table, const char *pk, int from, int to)
{
    for (int i = from; i < to; i++) {
        char text[64];
        snprintf(text, sizeof text, "{PK: '%s', SK: '%04d'}", pk, i);
        test_put(&t, table, text);
    }
}

static int first_number(const struct core_records *page)
{
    val sk = val_find(item_map(page->records[0].keys), SPAN_LIT("SK"));
    char digits[8] = {0};
    memcpy(digits, val_bytes(sk).p, 4);
    return atoi(digits);
}

static void test_iterator__latest_shows_what_comes_and_nothing_before(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    struct reader empty = begin("keys", CORE_LATEST);
    put_numbered("keys", "a", 0, 3);
    struct reader r = begin("keys", CORE_LATEST);
    assert_string_equal(drain(&r), "");
    put_numbered("keys", "a", 3, 4);
    assert_string_equal(drain(&r), "INSERT keys {PK: 'a', SK: '0003'}\n");
    assert_string_equal(drain(&r), "");
    assert_string_equal(drain(&empty), "INSERT keys {PK: 'a', SK: '0000'}\n"
                                       "INSERT keys {PK: 'a', SK: '0001'}\n"
                                       "INSERT keys {PK: 'a', SK: '0002'}\n"
                                       "INSERT keys {PK: 'a', SK: '0003'}\n");
}

static void test_iterator__at_and_after_a_sequence_number(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    put_numbered("keys", "a", 0, 5);
    uint32_t shard = shard_of("keys", "{PK: 'a', SK: 'x'}");
    span label = label_of("keys"), at;
    struct reader r = begin("keys", CORE_TRIM_HORIZON);
    struct core_records all = must_read(r.at[shard], 0), page;
    assert_int_equal(all.n, 5);
    for (uint32_t i = 0; i < all.n; i++) {
        assert_ok(iterate("keys", label, shard, CORE_AT_SEQUENCE, all.records[i].sequence, &at));
        page = must_read(at, 0);
        assert_int_equal(page.n, 5 - i);
        assert_int_equal(first_number(&page), i);
        assert_ok(iterate("keys", label, shard, CORE_AFTER_SEQUENCE, all.records[i].sequence, &at));
        page = must_read(at, 0);
        assert_int_equal(page.n, 4 - i);
        if (page.n) assert_int_equal(first_number(&page), i + 1);
    }
    /* The number a shard begins with is as good as TRIM_HORIZON. */
    span first = describe("keys", label).shards[shard].first;
    for (int type = CORE_AT_SEQUENCE; type <= CORE_AFTER_SEQUENCE; type++) {
        assert_ok(iterate("keys", label, shard, (enum core_iterator)type, first, &at));
        assert_int_equal(must_read(at, 0).n, 5);
    }
}

static void test_get_records__pages_by_limit_and_by_size(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    create("new", CORE_STREAM_NEW);
    put_numbered("keys", "a", 0, 10);
    uint32_t shard = shard_of("keys", "{PK: 'a', SK: 'x'}");
    span at = begin("keys", CORE_TRIM_HORIZON).at[shard];
    for (int i = 0; i < 10; i += 3) {
        struct core_records page = must_read(at, 3);
        assert_int_equal(page.n, i < 9 ? 3 : 1);
        assert_int_equal(first_number(&page), i);
        at = page.next_iterator;
    }
    assert_int_equal(must_read(at, 3).n, 0);
    /* 1 MB: the record that reaches it is the last. */
    char *text = malloc(300100);
    for (int i = 0; i < 6; i++) {
        int n = sprintf(text, "{PK: 'a', SK: '%04d', v: '", i);
        memset(text + n, 'x', 300000);
        strcpy(text + n + 300000, "'}");
        test_put(&t, "new", text);
    }
    free(text);
    shard = shard_of("new", "{PK: 'a', SK: 'x'}");
    struct core_records page = must_read(begin("new", CORE_TRIM_HORIZON).at[shard], 0);
    assert_int_equal(page.n, 4);
    page = must_read(page.next_iterator, 0);
    assert_int_equal(page.n, 2);
    assert_int_equal(first_number(&page), 4);
}

static void test_iterator__lives_for_fifteen_minutes(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    struct core_records page;
    span at = begin("keys", CORE_TRIM_HORIZON).at[0];
    pass(15 * MINUTE - 1);
    page = must_read(at, 0);
    pass(1);
    assert_rc(core_get_records(t.core, &t.ctx, at, 0, &page), SHEAF_EXPIRED_ITERATOR);
    assert_string_equal(t.err.exception, "ExpiredIteratorException");
    assert_string_equal(t.err.message, "The provided iterator exceeds the maximum age allowed.");
    assert_int_equal(page.n, 0);
}

static void test_iterator__the_next_one_begins_a_new_life(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    span at = begin("keys", CORE_LATEST).at[0];
    for (int i = 0; i < 200; i++) { /* fifty hours */
        pass(15 * MINUTE - 1);
        at = must_read(at, 0).next_iterator;
    }
}

/* ---- refusals ---- */

static void test_streams__bad_requests(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    span label = label_of("keys"), shard = describe("keys", label).shards[0].id;
    struct core_iterator_outcome at;
    uint32_t unverified = 0;
    span sequence = SPAN_LIT("100000000000000000004294967296");
    const struct {
        struct core_get_iterator q;
        sheaf_rc rc;
        const char *message, *source;
    } rows[] = {
        {{SPAN_LIT("none"), label, shard, SPAN_NONE, CORE_LATEST, SPAN_NONE},
         SHEAF_RESOURCE_NOT_FOUND,
         "Requested resource not found: Stream: "
         "arn:aws:dynamodb:us-east-1:000000000000:table/none/stream/2027-01-15T08:00:00.000 not "
         "found",
         NULL},
        {{SPAN_LIT("keys"), SPAN_LIT("2020-01-15T08:00:00.000"), shard, SPAN_NONE, CORE_LATEST,
          SPAN_NONE},
         SHEAF_RESOURCE_NOT_FOUND,
         "Requested resource not found: Stream: "
         "arn:aws:dynamodb:us-east-1:000000000000:table/keys/stream/2020-01-15T08:00:00.000 not "
         "found",
         NULL},
        {{SPAN_LIT("keys"), label, SPAN_LIT("shardId-0"), SPAN_NONE, CORE_LATEST, SPAN_NONE},
         SHEAF_RESOURCE_NOT_FOUND,
         "Requested resource not found: Shard does not exist",
         "answers of the service quoted in public stream consumers"},
        {{SPAN_LIT("keys"), label, shard, SPAN_NONE, CORE_AT_SEQUENCE, SPAN_NONE},
         SHEAF_VALIDATION,
         "SequenceNumber must be provided for ShardIteratorType AT_SEQUENCE_NUMBER",
         NULL},
        {{SPAN_LIT("keys"), label, shard, SPAN_NONE, CORE_AFTER_SEQUENCE, SPAN_NONE},
         SHEAF_VALIDATION,
         "SequenceNumber must be provided for ShardIteratorType AFTER_SEQUENCE_NUMBER",
         NULL},
        {{SPAN_LIT("keys"), label, shard, SPAN_NONE, CORE_LATEST, sequence},
         SHEAF_VALIDATION,
         "SequenceNumber cannot be provided for ShardIteratorType LATEST",
         NULL},
        {{SPAN_LIT("keys"), label, shard, SPAN_NONE, CORE_TRIM_HORIZON, sequence},
         SHEAF_VALIDATION,
         "SequenceNumber cannot be provided for ShardIteratorType TRIM_HORIZON",
         NULL},
        {{SPAN_LIT("keys"), label, shard, SPAN_NONE, CORE_AT_SEQUENCE, SPAN_LIT("12x")},
         SHEAF_VALIDATION,
         "Invalid SequenceNumber",
         NULL},
        /* No record of the shard: reading on from there would skip those that come. */
        {{SPAN_LIT("keys"), label, shard, SPAN_NONE, CORE_AFTER_SEQUENCE, sequence},
         SHEAF_VALIDATION,
         "Invalid SequenceNumber",
         NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].source) unverified++;
        assert_rc(core_get_iterator(t.core, &t.ctx, &rows[i].q, &at), rows[i].rc);
        assert_string_equal(t.err.message, rows[i].message);
        assert_null(at.iterator.p);
    }
    printf("%u wordings unverified (that they are refused: " ALTERNATOR ")\n", unverified);
}

static void test_streams__limits(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    struct core_records page;
    struct core_streams_outcome streams;
    struct core_stream_outcome stream;
    span label = label_of("keys"), at = begin("keys", CORE_LATEST).at[0];
    assert_ok(core_get_records(t.core, &t.ctx, at, 1000, &page));
    assert_rc(core_get_records(t.core, &t.ctx, at, 1001, &page), SHEAF_VALIDATION);
    assert_string_equal(t.err.message,
                        "1 validation error detected: Value '1001' at 'limit' failed to satisfy "
                        "constraint: Member must have value less than or equal to 1000");
    struct core_list_streams l = {.limit = 100};
    assert_ok(core_list_streams(t.core, &t.ctx, &l, &streams));
    l.limit = 101;
    assert_rc(core_list_streams(t.core, &t.ctx, &l, &streams), SHEAF_VALIDATION);
    struct core_describe_stream d = {.table = SPAN_LIT("keys"), .label = label, .limit = 100};
    assert_ok(core_describe_stream(t.core, &t.ctx, &d, &stream));
    d.limit = 101;
    assert_rc(core_describe_stream(t.core, &t.ctx, &d, &stream), SHEAF_VALIDATION);
    assert_rc(core_get_records(t.core, &t.ctx, SPAN_LIT("sdfsdfsgagaddafgagasgasgasd"), 0, &page),
              SHEAF_VALIDATION);
    assert_string_equal(t.err.message, "Invalid ShardIterator");
}

/* ---- lists ---- */

static void test_list_streams__pages_over_tables_and_their_streams(void **state)
{
    (void)state;
    enum { TABLES = 7 };
    char name[32];
    for (int i = 0; i < TABLES; i++) {
        snprintf(name, sizeof name, "table-%d", i);
        create(name, i % 3 == 2 ? CORE_STREAM_NONE : CORE_STREAM_KEYS);
        if (i % 3 != 0) continue;
        switch_stream(name, CORE_OFF, CORE_STREAM_NONE);
        switch_stream(name, CORE_ON, CORE_STREAM_BOTH); /* the second one */
    }
    struct core_streams_outcome all = list(NULL);
    assert_int_equal(all.n_streams, 3 * 2 + 2);
    assert_null(all.last_table.p);
    for (uint32_t limit = 1; limit <= 8; limit++) {
        struct core_list_streams q = {.limit = limit};
        uint32_t n = 0;
        do {
            struct core_streams_outcome page;
            assert_ok(core_list_streams(t.core, &t.ctx, &q, &page));
            assert_true(page.n_streams <= limit && page.n_streams > 0);
            for (uint32_t i = 0; i < page.n_streams; i++, n++) {
                assert_true(span_eq(page.streams[i].table, all.streams[n].table));
                assert_true(span_eq(page.streams[i].label, all.streams[n].label));
            }
            q.after_table = page.last_table;
            q.after_label = page.last_label;
        } while (q.after_table.p);
        assert_int_equal(n, 8);
    }
    assert_int_equal(list("table-2").n_streams, 0);
    all = list("table-3");
    assert_int_equal(all.n_streams, 2);
    assert_false(all.streams[0].is_enabled);
    assert_true(all.streams[1].is_enabled);
    assert_int_equal(all.streams[1].view, CORE_STREAM_BOTH);
    assert_span(all.streams[1].hash.name, "PK");
    assert_span(all.streams[1].range.name, "SK");
    struct core_streams_outcome out;
    struct core_list_streams q = {.table = SPAN_LIT("none")};
    assert_rc(core_list_streams(t.core, &t.ctx, &q, &out), SHEAF_RESOURCE_NOT_FOUND);
}

static void test_describe_stream__pages_over_shards_in_order_of_ids(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    span label = label_of("keys");
    struct core_stream_outcome all = describe("keys", label), page;
    assert_int_equal(all.n_shards, STREAM_SHARDS);
    assert_null(all.last_shard.p);
    for (uint32_t i = 0; i < STREAM_SHARDS; i++) {
        assert_int_equal(all.shards[i].id.n, 37);
        assert_null(all.shards[i].last.p);
        if (i) assert_true(span_cmp(all.shards[i - 1].id, all.shards[i].id) < 0);
    }
    struct core_describe_stream q = {.table = SPAN_LIT("keys"), .label = label, .limit = 3};
    assert_ok(core_describe_stream(t.core, &t.ctx, &q, &page));
    assert_int_equal(page.n_shards, 3);
    assert_true(span_eq(page.last_shard, all.shards[2].id));
    q.after_shard = page.last_shard;
    assert_ok(core_describe_stream(t.core, &t.ctx, &q, &page));
    assert_int_equal(page.n_shards, 1);
    assert_true(span_eq(page.shards[0].id, all.shards[3].id));
    assert_null(page.last_shard.p);
    q.after_shard = all.shards[3].id;
    assert_ok(core_describe_stream(t.core, &t.ctx, &q, &page));
    assert_int_equal(page.n_shards, 0);
    /* One that is none of them: no error (Alternator test_streams.py, seen on the service). */
    q.after_shard = SPAN_LIT("zzzzzzzzzzzzzzzzzzzzzzzzsfasdgagadfadfgagkjs");
    assert_ok(core_describe_stream(t.core, &t.ctx, &q, &page));
    assert_int_equal(page.n_shards, 0);
}

/* ---- closed shards, retention, trimming ---- */

static void test_stream__a_disabled_one_is_read_to_its_end(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    put_numbered("keys", "a", 0, 5);
    span label = label_of("keys");
    uint32_t shard = shard_of("keys", "{PK: 'a', SK: 'x'}");
    struct reader r = begin("keys", CORE_TRIM_HORIZON);
    switch_stream("keys", CORE_OFF, CORE_STREAM_NONE);
    put_numbered("keys", "a", 5, 6); /* nobody records it */
    struct core_records page = must_read(r.at[shard], 5);
    assert_int_equal(page.n, 5);
    struct core_stream_outcome d = describe("keys", label);
    assert_false(d.stream.is_enabled);
    assert_true(span_eq(d.shards[shard].last, page.records[4].sequence));
    for (uint32_t i = 0; i < STREAM_SHARDS; i++) assert_non_null(d.shards[i].last.p);
    assert_non_null(page.next_iterator.p); /* the page was full */
    page = must_read(page.next_iterator, 5);
    assert_int_equal(page.n, 0);
    assert_null(page.next_iterator.p);
    for (uint32_t i = 0; i < STREAM_SHARDS; i++) assert_null(must_read(r.at[i], 0).next_iterator.p);
    /* Switched on again it is another stream. */
    switch_stream("keys", CORE_ON, CORE_STREAM_KEYS);
    put_numbered("keys", "a", 6, 7);
    assert_false(span_eq(label_of("keys"), label));
    assert_string_equal(all_of("keys"), "INSERT keys {PK: 'a', SK: '0006'}\n");
    r = begin_at("keys", label, CORE_LATEST);
    assert_string_equal(drain(&r), "");
    for (uint32_t i = 0; i < STREAM_SHARDS; i++) assert_null(r.at[i].p);
}

static void test_stream__a_disabled_one_is_gone_after_a_day(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    put_numbered("keys", "a", 0, 5);
    span label = label_of("keys");
    struct table *table = cat_find(t.core, SPAN_LIT("keys"));
    uint64_t space = table->streams[0].space;
    table_unref(table);
    switch_stream("keys", CORE_OFF, CORE_STREAM_NONE);
    pass(DAY - 1);
    run_all();
    assert_int_equal(list("keys").n_streams, 1);
    struct reader r = begin_at("keys", label, CORE_TRIM_HORIZON);
    pass(1);
    for (int trimmed = 0; trimmed < 2; trimmed++) { /* before and after the background comes */
        struct core_records page;
        struct core_stream_outcome d;
        assert_int_equal(list("keys").n_streams, 0);
        struct core_describe_stream q = {.table = SPAN_LIT("keys"), .label = label};
        assert_rc(core_describe_stream(t.core, &t.ctx, &q, &d), SHEAF_RESOURCE_NOT_FOUND);
        assert_rc(core_get_records(t.core, &t.ctx, r.at[0], 0, &page), SHEAF_RESOURCE_NOT_FOUND);
        run_all();
    }
    table = cat_find(t.core, SPAN_LIT("keys"));
    assert_int_equal(table->n_streams, 0);
    table_unref(table);
    assert_int_equal(test_walk(&t, space).items, 0);
    /* Iterators of a table that is gone. */
    struct core_table_outcome out;
    struct core_records page;
    create("other", CORE_STREAM_KEYS);
    r = begin("other", CORE_LATEST);
    assert_ok(core_delete_table(t.core, &t.ctx, SPAN_LIT("other"), &out));
    assert_rc(core_get_records(t.core, &t.ctx, r.at[0], 0, &page), SHEAF_RESOURCE_NOT_FOUND);
}

/* The same answers whether or not the background has been there. */
static void check_retention(bool is_trimming)
{
    enum { N = 40 };
    create("keys", CORE_STREAM_KEYS);
    uint32_t shard = shard_of("keys", "{PK: 'a', SK: 'x'}");
    span label = label_of("keys"), at;
    for (int i = 0; i < N; i++) { /* one a minute */
        put_numbered("keys", "a", i, i + 1);
        pass(MINUTE);
    }
    struct core_records all = must_read(begin("keys", CORE_TRIM_HORIZON).at[shard], 0);
    assert_int_equal(all.n, N);
    pass(DAY - N * MINUTE - 1);
    for (int gone = 0; gone <= N; gone++) {
        if (is_trimming) run_all();
        struct core_records page = must_read(begin("keys", CORE_TRIM_HORIZON).at[shard], 0);
        assert_int_equal(page.n, N - gone);
        if (page.n) assert_int_equal(first_number(&page), gone);
        for (int i = 0; i < N; i++) {
            span sequence = all.records[i].sequence;
            sheaf_rc rc = iterate("keys", label, shard, CORE_AT_SEQUENCE, sequence, &at);
            assert_int_equal(rc, i < gone ? SHEAF_TRIMMED_DATA : SHEAF_OK);
            if (rc == SHEAF_OK) assert_int_equal(must_read(at, 0).n, N - i);
            rc = iterate("keys", label, shard, CORE_AFTER_SEQUENCE, sequence, &at);
            assert_int_equal(rc, i < gone - 1 ? SHEAF_TRIMMED_DATA : SHEAF_OK);
            if (rc == SHEAF_OK) assert_int_equal(must_read(at, 0).n, N - i - 1);
        }
        assert_int_equal(must_read(begin("keys", CORE_LATEST).at[shard], 0).n, 0);
        pass(gone == 0 ? 1 : MINUTE);
    }
    put_numbered("keys", "a", N, N + 1);
    assert_string_equal(all_of("keys"), "INSERT keys {PK: 'a', SK: '0040'}\n");
}

static void test_stream__shows_a_day_before_the_background_comes(void **state)
{
    (void)state;
    check_retention(false);
}

static void test_stream__shows_a_day_after_the_background_came(void **state)
{
    (void)state;
    check_retention(true);
}

static void test_get_records__a_reader_who_lost_records_is_told(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    uint32_t shard = shard_of("keys", "{PK: 'a', SK: 'x'}");
    put_numbered("keys", "a", 0, 10);
    pass(DAY - MINUTE);
    span one = must_read(begin("keys", CORE_TRIM_HORIZON).at[shard], 1).next_iterator;
    span ten = must_read(begin("keys", CORE_TRIM_HORIZON).at[shard], 10).next_iterator;
    pass(MINUTE);
    for (int trimmed = 0; trimmed < 2; trimmed++) {
        struct core_records page;
        assert_rc(core_get_records(t.core, &t.ctx, one, 0, &page), SHEAF_TRIMMED_DATA);
        assert_string_equal(t.err.exception, "TrimmedDataAccessException");
        assert_string_equal(t.err.message, "The data you are trying to access has been trimmed");
        assert_int_equal(must_read(ten, 0).n, 0); /* has lost nothing */
        run_all();
    }
}

static void test_background__trims_many_records_in_bounded_rounds(void **state)
{
    (void)state;
    enum { N = 2500 };
    create("keys", CORE_STREAM_KEYS);
    put_numbered("keys", "a", 0, N);
    struct table *table = cat_find(t.core, SPAN_LIT("keys"));
    uint64_t space = table->streams[0].space;
    table_unref(table);
    pass(DAY);
    put_numbered("keys", "a", N, N + 1);
    struct core_background did;
    assert_ok(core_run_background(t.core, &did, &t.err));
    assert_true(did.has_more);
    assert_true(did.trimmed_records > 0 && did.trimmed_records < N);
    uint64_t first = did.trimmed_records;
    assert_string_equal(all_of("keys"), "INSERT keys {PK: 'a', SK: '2500'}\n");
    assert_true(first + run_all().trimmed_records == N);
    assert_int_equal(test_walk(&t, space).items, 2); /* the new record and the shard's mark */
    assert_string_equal(all_of("keys"), "INSERT keys {PK: 'a', SK: '2500'}\n");
}

static void test_background__trims_tokens_after_ten_minutes(void **state)
{
    (void)state;
    test_table(t.core, "T", "PK:S", NULL, NULL);
    for (int i = 0; i < 3; i++) {
        char item[32], token[16];
        snprintf(item, sizeof item, "{PK: '%d'}", i);
        snprintf(token, sizeof token, "t%d", i);
        struct core_write w = {.action = CORE_PUT,
                               .table = SPAN_LIT("T"),
                               .item = test_item(&t, item),
                               .env = test_env(&t.arena, NULL, NULL)};
        struct core_multi_outcome out;
        assert_ok(core_transact_write(
            t.core, &t.ctx,
            &(struct core_transact_write){.writes = &w, .n = 1, .token = span_cstr(token)}, &out));
        pass(2 * MINUTE);
    }
    assert_int_equal(run_all().trimmed_tokens, 0);
    pass(4 * MINUTE); /* the first is ten minutes old */
    assert_int_equal(run_all().trimmed_tokens, 1);
    pass(4 * MINUTE);
    assert_int_equal(run_all().trimmed_tokens, 2);
}

/* ---- concurrency ---- */

enum { WRITERS = 4, COLLECTIONS = 6, WRITES = 400 };

struct writer {
    pthread_t thread;
    struct core *core;
    uint64_t seed;
};
static _Atomic int writers_left;

/* Adds 1 to a counter of a random collection, again and again. */
static void *write_some(void *arg)
{
    struct writer *w = arg;
    struct arena arena;
    struct rng rng;
    arena_init(&arena, 64 << 20);
    rng_init(&rng, w->seed);
    for (int i = 0; i < WRITES; i++) {
        sheaf_error err;
        struct ctx c = {&arena, &err};
        char key[64];
        arena_reset(&arena);
        snprintf(key, sizeof key, "{PK: 'c%d', SK: 'x'}", (int)rng_below(&rng, COLLECTIONS));
        struct core_write_outcome out;
        struct core_write_item q = {.write = {.action = CORE_UPDATE,
                                              .table = SPAN_LIT("new"),
                                              .item = doc_text_item(&arena, key),
                                              .update = SPAN_LIT("ADD v :one"),
                                              .env = test_env(&arena, NULL, "{':one': 1}")}};
        if (core_write_item(w->core, &c, &q, &out) != SHEAF_OK) i--; /* too many conflicts */
    }
    arena_deinit(&arena);
    writers_left--;
    return NULL;
}

struct follower {
    int64_t seen[COLLECTIONS];
    uint64_t n;
};

static void follow(struct follower *f, const struct core_record *r)
{
    val item = item_map(r->new_image);
    const char *pk = val_bytes(val_find(item, SPAN_LIT("PK"))).p;
    struct num n;
    int64_t v;
    val_num(val_find(item, SPAN_LIT("v")), &n);
    assert_true(num_to_i64(&n, &v));
    int which = pk[1] - '0';
    if (v != f->seen[which] + 1)
        fail_msg("collection %d: %lld after %lld", which, (long long)v, (long long)f->seen[which]);
    f->seen[which] = v;
    f->n++;
}

static void test_stream__a_reader_beside_writers_sees_each_record_once_in_order(void **state)
{
    (void)state;
    create("new", CORE_STREAM_NEW);
    struct writer w[WRITERS];
    struct follower f = {.n = 0};
    struct reader r = begin("new", CORE_LATEST);
    struct arena arena;
    arena_init(&arena, 256 << 20);
    writers_left = WRITERS;
    uint64_t seed = test_seed(11);
    for (int i = 0; i < WRITERS; i++) {
        w[i] = (struct writer){.core = t.core, .seed = seed + (uint64_t)i};
        assert_int_equal(pthread_create(&w[i].thread, NULL, write_some, &w[i]), 0);
    }
    for (bool is_last = false; !is_last;) {
        is_last = writers_left == 0; /* then one more look at everything */
        for (uint32_t i = 0; i < STREAM_SHARDS; i++) {
            struct ctx c = {&arena, &t.err};
            struct core_records page;
            do {
                assert_ok(core_get_records(t.core, &c, r.at[i], 7, &page));
                for (uint32_t k = 0; k < page.n; k++) follow(&f, &page.records[k]);
                r.at[i] = page.next_iterator;
            } while (page.n);
            span kept = arena_dup(&t.arena, r.at[i]);
            assert_non_null(kept.p);
            r.at[i] = kept;
            arena_reset(&arena);
        }
    }
    for (int i = 0; i < WRITERS; i++) pthread_join(w[i].thread, NULL);
    assert_int_equal(f.n, WRITERS * WRITES);
    arena_deinit(&arena);
}

/* ---- rocks ---- */

static void reopen(const char *directory)
{
    if (t.core) core_test_deinit(&t);
    sheaf_engine *engine;
    assert_ok(sheaf_engine_open_rocks(directory, NULL, &engine, NULL));
    core_test_init_on(&t, engine, &options);
}

static void test_stream__sequence_goes_on_after_reopening(void **state)
{
    (void)state;
    char root[200], directory[220], command[256];
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof root, "%.150s/sheaf-stream-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(root));
    snprintf(directory, sizeof directory, "%s/data", root);
    reopen(directory);
    create("keys", CORE_STREAM_KEYS);
    char before[STREAM_SEQUENCE_DIGITS] = {0}, at[1024];
    size_t at_n = 0;
    for (int round = 0; round < 4; round++) {
        put_numbered("keys", "a", round * 3, round * 3 + 3);
        uint32_t shard = shard_of("keys", "{PK: 'a', SK: 'x'}");
        span from = at_n ? SPAN(at, at_n) : begin("keys", CORE_TRIM_HORIZON).at[shard];
        struct core_records page = must_read(from, 0);
        assert_int_equal(page.n, 3);
        assert_int_equal(first_number(&page), round * 3);
        assert_true(memcmp(page.records[0].sequence.p, before, sizeof before) > 0);
        memcpy(before, page.records[2].sequence.p, sizeof before);
        at_n = page.next_iterator.n;
        memcpy(at, page.next_iterator.p, at_n); /* an iterator outlives the process */
        reopen(directory);
    }
    pass(DAY);
    assert_int_equal(run_all().trimmed_records, 12);
    reopen(directory);
    struct core_records page;
    span it;
    assert_rc(iterate("keys", label_of("keys"), shard_of("keys", "{PK: 'a', SK: 'x'}"),
                      CORE_AT_SEQUENCE, SPAN(before, sizeof before), &it),
              SHEAF_TRIMMED_DATA);
    put_numbered("keys", "a", 50, 51);
    page =
        must_read(begin("keys", CORE_TRIM_HORIZON).at[shard_of("keys", "{PK: 'a', SK: 'x'}")], 0);
    assert_int_equal(page.n, 1);
    assert_true(memcmp(page.records[0].sequence.p, before, sizeof before) > 0);
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
}

/* ---- damage and failures ---- */

static sheaf_rc put_damaged(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    const sheaf_place *p = ctx;
    return eng_append(txn, p, SPAN_LIT("no item"), err);
}

static void test_get_records__a_damaged_record_is_reported(void **state)
{
    (void)state;
    create("keys", CORE_STREAM_KEYS);
    struct table *table = cat_find(t.core, SPAN_LIT("keys"));
    sheaf_place p = row_shard_place(&table->streams[0], 2);
    table_unref(table);
    assert_ok(sheaf_engine_run(t.engine, put_damaged, &p, NULL, NULL, NULL));
    struct core_records page;
    span at = begin("keys", CORE_TRIM_HORIZON).at[2];
    sheaf_rc rc = core_get_records(t.core, &t.ctx, at, 0, &page);
    assert_true(rc == SHEAF_CORRUPT || rc == SHEAF_FORMAT);
    assert_int_equal(page.n, 0);
    assert_null(page.records);
}

/* Every allocation of every call fails once: an error, and nothing is lost. */
static void test_streams__allocation_failures(void **state)
{
    (void)state;
    create("both", CORE_STREAM_BOTH);
    put_numbered("both", "a", 0, 3);
    uint32_t shard = shard_of("both", "{PK: 'a', SK: 'x'}");
    span label = label_of("both"), at = begin("both", CORE_TRIM_HORIZON).at[shard];
    span id = describe("both", label).shards[shard].id;
    struct arena arena;
    for (int call = 0; call < 5; call++) {
        for (uint64_t nth = 1;; nth++) {
            arena_init(&arena, 64 << 20);
            struct ctx c = {&arena, &t.err};
            struct core_streams_outcome streams;
            struct core_stream_outcome stream;
            struct core_records page;
            struct core_background did;
            struct core_iterator_outcome text;
            sheaf_rc rc = SHEAF_OK;
            mem_fail_at(nth, false);
            uint64_t before = mem_count();
            if (call == 0)
                rc = core_list_streams(t.core, &c, &(struct core_list_streams){.limit = 1},
                                       &streams);
            if (call == 1)
                rc = core_describe_stream(
                    t.core, &c,
                    &(struct core_describe_stream){.table = SPAN_LIT("both"), .label = label},
                    &stream);
            if (call == 2)
                rc = core_get_iterator(t.core, &c,
                                       &(struct core_get_iterator){.table = SPAN_LIT("both"),
                                                                   .label = label,
                                                                   .shard = id,
                                                                   .type = CORE_LATEST},
                                       &text);
            if (call == 3) rc = core_get_records(t.core, &c, at, 0, &page);
            if (call == 4) rc = core_run_background(t.core, &did, &t.err);
            bool is_hit = mem_count() - before >= nth;
            mem_fail_at(0, false);
            arena_deinit(&arena);
            if (!is_hit) {
                assert_int_equal(rc, SHEAF_OK);
                break;
            }
            if (rc != SHEAF_OK) assert_int_equal(rc, SHEAF_NOMEM);
        }
    }
    assert_int_equal(must_read(at, 0).n, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        cmocka_unit_test(test_sequence__texts_have_the_order_of_stamps),
        cmocka_unit_test(test_sequence__known_texts),
        cmocka_unit_test(test_stamp__neighbours_stop_at_the_ends),
        CASE(test_iterator__any_change_of_its_text_is_refused),
        CASE(test_stream__each_view_shows_its_part_of_each_event),
        CASE(test_stream__a_write_that_changes_nothing_leaves_no_record),
        CASE(test_stream__a_record_tells_time_size_and_a_unique_id),
        CASE(test_stream__takes_the_deepest_and_largest_items),
        CASE(test_stream__a_transaction_leaves_one_record_for_each_item),
        CASE(test_iterator__latest_shows_what_comes_and_nothing_before),
        CASE(test_iterator__at_and_after_a_sequence_number),
        CASE(test_get_records__pages_by_limit_and_by_size),
        CASE(test_iterator__lives_for_fifteen_minutes),
        CASE(test_iterator__the_next_one_begins_a_new_life),
        CASE(test_streams__bad_requests),
        CASE(test_streams__limits),
        CASE(test_list_streams__pages_over_tables_and_their_streams),
        CASE(test_describe_stream__pages_over_shards_in_order_of_ids),
        CASE(test_stream__a_disabled_one_is_read_to_its_end),
        CASE(test_stream__a_disabled_one_is_gone_after_a_day),
        CASE(test_stream__shows_a_day_before_the_background_comes),
        CASE(test_stream__shows_a_day_after_the_background_came),
        CASE(test_get_records__a_reader_who_lost_records_is_told),
        CASE(test_background__trims_many_records_in_bounded_rounds),
        CASE(test_background__trims_tokens_after_ten_minutes),
        CASE(test_stream__a_reader_beside_writers_sees_each_record_once_in_order),
        CASE(test_stream__sequence_goes_on_after_reopening),
        CASE(test_get_records__a_damaged_record_is_reported),
        CASE(test_streams__allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
