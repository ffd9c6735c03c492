/* GetItem, BatchGetItem and TransactGetItems: what they return, what they refuse and in which words,
 * what they cost. */
#include "support/core_support.h"

#include "base/mem.h"
#include "support/exprs.h"

#define DYNALITE_GET "dynalite test/getItem.js"
#define DYNALITE_BATCH_GET "dynalite test/batchGetItem.js"
#define PARITY_BATCH_GET "dynamodb-conformance error-messages/batchGetItem"
#define PARITY_TRANSACT_GET "dynamodb-conformance captures, transact-get-empty-transact-items"
#define DYNALITE_CODE "dynalite db/index.js"
#define WRITE_TESTS "as PutItem, Alternator test_limits.py"

#define NO_MATCH "The provided key element does not match the schema"
#define NOT_VALID "One or more parameter values are not valid. "
#define EMPTY_KEY "The AttributeValue for a key attribute cannot contain an empty "

static struct core_test t;
static struct core_item_outcome out;

struct req {
    const char *table, *key, *projection, *names;
    bool is_consistent;
    enum core_capacity_mode capacity;
};

static span text_or_none(const char *s) { return s ? span_cstr(s) : SPAN_NONE; }

static struct core_get get_of(const struct req *r)
{
    return (struct core_get){.table = span_cstr(r->table ? r->table : "T"),
                             .key = test_item(&t, r->key),
                             .projection = text_or_none(r->projection),
                             .env = test_env(&t.arena, r->names, NULL),
                             .is_consistent = r->is_consistent};
}

static sheaf_rc send(const struct req *r)
{
    struct core_get_item q = {.get = get_of(r), .capacity = r->capacity};
    return core_get_item(t.core, &t.ctx, &q, &out);
}

#define GET(...) (&(struct req){__VA_ARGS__})

static const char *got(const struct req *r)
{
    if (send(r) != SHEAF_OK) fail_msg("%s: %s", r->key, t.err.message);
    return test_text(&t, out.item);
}

static int setup(void **state)
{
    (void)state;
    core_test_init(&t, NULL);
    test_table(t.core, "H", "a:S", NULL, NULL);
    test_table(t.core, "T", "PK:S", "SK:S", NULL);
    test_table(t.core, "N", "PK:N", "SK:B", NULL);
    test_table(t.core, "X", "a:S", "b:S", "index1(c:S) ALL; local index2(a:S|d:S) KEYS_ONLY");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

/* ---- GetItem ---- */

static void test_get_item__returns_the_item_or_none(void **state)
{
    (void)state;
    test_put(&t, "T", "{PK: 'a', SK: 'b', v: 1, m: {x: [1, {y: 'z'}]}}");
    assert_string_equal(got(GET(.key = "{PK: 'a', SK: 'b'}")),
                        "{PK: 'a', SK: 'b', m: {x: [1, {y: 'z'}]}, v: 1}");
    assert_true(out.position > 0);
    assert_string_equal(got(GET(.key = "{PK: 'a', SK: 'c'}")), "-");
    assert_string_equal(got(GET(.key = "{PK: 'b', SK: 'b'}", .is_consistent = true)), "-");
    test_put(&t, "N", "{PK: 1.50, SK: b'\\00\\ff', v: <1, 2>}");
    assert_string_equal(got(GET(.table = "N", .key = "{PK: 1.5, SK: b'\\00\\ff'}")),
                        "{PK: 1.5, SK: b'\\00\\ff', v: <1, 2>}");
    test_put(&t, "H", "{a: 'x'}");
    assert_string_equal(got(GET(.table = "H", .key = "{a: 'x'}")), "{a: 'x'}");
}

static void test_get_item__projects(void **state)
{
    (void)state;
    test_put(&t, "T", "{PK: 'a', SK: 'b', v: 1, m: {x: [1, {y: 'z'}], w: 2}}");
    assert_string_equal(got(GET(.key = "{PK: 'a', SK: 'b'}", .projection = "v, m.x[1], nothing")),
                        "{m: {x: [{y: 'z'}]}, v: 1}");
    assert_string_equal(got(GET(.key = "{PK: 'a', SK: 'b'}", .projection = "nothing")), "{}");
    assert_string_equal(
        got(GET(.key = "{PK: 'a', SK: 'b'}", .projection = "#p", .names = "{'#p': 'PK'}")),
        "{PK: 'a'}");
    assert_string_equal(got(GET(.key = "{PK: 'a', SK: 'c'}", .projection = "v")), "-");
}

/* An item of exactly `bytes` bytes under the key {PK: 'p', SK: 's'}: 2+1 + 2+1 + 1 + the rest. */
static void put_sized(const char *table, const char *sort, uint32_t bytes)
{
    uint32_t n = bytes - 7;
    char *text = arena_alloc(&t.arena, n + 100);
    assert_non_null(text);
    int at = sprintf(text, "{PK: 'p', SK: '%s', v: '", sort);
    memset(text + at, 'x', n);
    memcpy(text + at + n, "'}", 3);
    test_put(&t, table, text);
}

static void test_get_item__is_charged_by_4_kb(void **state)
{
    (void)state;
    static const struct {
        uint32_t bytes;
        bool is_consistent;
        double units;
    } rows[] = {{8, false, 0.5},     {8, true, 1},    {4096, true, 1},    {4097, true, 2},
                {8192, false, 1},    {8193, true, 3}, {8193, false, 1.5}, {409600, true, 100},
                {409600, false, 50}, {0, false, 0.5}, {0, true, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].bytes) put_sized("T", "s", rows[i].bytes);
        struct req r = {.key = rows[i].bytes ? "{PK: 'p', SK: 's'}" : "{PK: 'p', SK: 'none'}",
                        .is_consistent = rows[i].is_consistent,
                        .projection = i % 2 ? "SK" : NULL,
                        .capacity = CORE_CAPACITY_TOTAL};
        got(&r);
        assert_true(out.capacity.units == rows[i].units);
        assert_span(out.capacity.table, "T");
        assert_false(out.capacity.is_write);
        assert_int_equal(out.capacity.n_arms, 0);
        r.capacity = CORE_CAPACITY_INDEXES;
        got(&r);
        assert_int_equal(out.capacity.n_arms, 1);
        assert_true(out.capacity.arms[0].units == rows[i].units);
        r.capacity = CORE_CAPACITY_NONE;
        got(&r);
        assert_null(out.capacity.table.p);
    }
}

static const char *repeated(const char *head, char c, size_t n, const char *tail)
{
    char *text = arena_alloc(&t.arena, n + 100);
    assert_non_null(text);
    int at = sprintf(text, "%s", head);
    memset(text + at, c, n);
    strcpy(text + (size_t)at + n, tail);
    return text;
}

static void test_get_item__refuses_in_aws_words(void **state)
{
    (void)state;
    const char *hash_2049 = repeated("{PK: '", 'x', 2049, "', SK: 'a'}");
    const char *hash_2048 = repeated("{PK: '", 'x', 2048, "', SK: 'a'}");
    const char *sort_1025 = repeated("{PK: 'a', SK: '", 'x', 1025, "'}");
    const char *sort_1024 = repeated("{PK: 'a', SK: '", 'x', 1024, "'}");
    const struct {
        struct req r;
        sheaf_rc rc;
        const char *message, *source;
    } rows[] = {
        {{.table = "nope", .key = "{a: 'a'}"},
         SHEAF_RESOURCE_NOT_FOUND,
         "Requested resource not found",
         DYNALITE_GET},
        {{.table = "H", .key = "{}"}, SHEAF_VALIDATION, NO_MATCH, DYNALITE_GET},
        {{.table = "H", .key = "{b: 'a'}"}, SHEAF_VALIDATION, NO_MATCH, DYNALITE_GET},
        {{.table = "H", .key = "{a: 'a', b: 'a'}"}, SHEAF_VALIDATION, NO_MATCH, DYNALITE_GET},
        {{.table = "H", .key = "{a: 1}"}, SHEAF_VALIDATION, NO_MATCH, DYNALITE_GET},
        {{.table = "H", .key = "{a: b'a'}"}, SHEAF_VALIDATION, NO_MATCH, DYNALITE_GET},
        {{.table = "H", .key = "{a: <'a'>}"}, SHEAF_VALIDATION, NO_MATCH, DYNALITE_GET},
        {{.table = "H", .key = "{a: true}"}, SHEAF_VALIDATION, NO_MATCH, DYNALITE_GET},
        {{.table = "H", .key = "{a: {}}"}, SHEAF_VALIDATION, NO_MATCH, DYNALITE_GET},
        {{.table = "T", .key = "{PK: 'a'}"}, SHEAF_VALIDATION, NO_MATCH, DYNALITE_GET},
        {{.table = "T", .key = "{PK: 'a', SK: 'a', z: 'a'}"},
         SHEAF_VALIDATION,
         NO_MATCH,
         DYNALITE_GET},
        {{.table = "T", .key = "{PK: 'a', SK: 1}"}, SHEAF_VALIDATION, NO_MATCH, DYNALITE_GET},
        {{.table = "T", .key = "{PK: '', SK: 'a'}"},
         SHEAF_VALIDATION,
         NOT_VALID EMPTY_KEY "string value. Key: PK",
         WRITE_TESTS},
        {{.table = "N", .key = "{PK: 1, SK: b''}"},
         SHEAF_VALIDATION,
         NOT_VALID EMPTY_KEY "binary value. Key: SK",
         WRITE_TESTS},
        {{.table = "T", .key = hash_2049},
         SHEAF_VALIDATION,
         "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size "
         "limit of2048 bytes",
         DYNALITE_GET},
        {{.table = "T", .key = hash_2048}, SHEAF_OK, "", DYNALITE_GET},
        {{.table = "T", .key = sort_1025},
         SHEAF_VALIDATION,
         "One or more parameter values were invalid: Aggregated size of all range keys has "
         "exceeded "
         "the size limit of 1024 bytes",
         DYNALITE_GET},
        {{.table = "T", .key = sort_1024}, SHEAF_OK, "", DYNALITE_GET},
        {{.table = "nope", .key = "{a: 'a'}", .names = "{'#a': 'a'}"},
         SHEAF_VALIDATION,
         "ExpressionAttributeNames can only be specified when using expressions",
         DYNALITE_GET},
        {{.table = "nope", .key = "{a: 'a'}", .projection = "a", .names = "{'#a': 'a'}"},
         SHEAF_VALIDATION,
         "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
         DYNALITE_GET},
        {{.table = "nope", .key = "{a: 'a'}", .projection = ""},
         SHEAF_VALIDATION,
         "Invalid ProjectionExpression: The expression can not be empty;",
         DYNALITE_GET},
        {{.table = "H", .key = "{a: 'a'}", .projection = "a.b"},
         SHEAF_VALIDATION,
         "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
         "allowed: Key: a",
         DYNALITE_GET},
        {{.table = "X", .key = "{a: 'a', b: 'b'}", .projection = "x, d[0]"},
         SHEAF_VALIDATION,
         "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
         "allowed: IndexKey: d",
         DYNALITE_GET},
    };
    struct sources sources = {0, 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err_clear(&t.err);
        if (send(&rows[i].r) != rows[i].rc)
            fail_msg("row %zu: rc differs, message \"%s\"", i, t.err.message);
        assert_string_equal(t.err.message, rows[i].message);
        assert_null(out.item.p);
        sources_count(&sources, rows[i].source);
    }
    sources_print(&sources, "GetItem");
}

/* Writes under the key of an item what the test wants there. */
static void plant(const char *table, const char *key, span value)
{
    struct table *tab = cat_find(t.core, span_cstr(table));
    val map = item_map(test_item(&t, key));
    sheaf_engine_key k;
    sheaf_txn *txn;
    assert_ok(
        row_item_key(t.core, &t.ctx, tab, table_hash_of(tab, map), table_range_of(tab, map), &k));
    assert_ok(eng_begin(t.engine, SHEAF_TXN_RW, &txn, &t.err));
    assert_ok(eng_put(txn, &k, value, &t.err));
    assert_ok(eng_commit(txn, NULL, NULL, &t.err));
    table_unref(tab);
}

static void test_get_item__reports_damage_and_never_returns_it(void **state)
{
    (void)state;
    struct req r = {.key = "{PK: 'a', SK: 'b'}"};
    plant("T", r.key, test_item(&t, "{PK: 'a', SK: 'other', v: 1}"));
    assert_rc(send(&r), SHEAF_CORRUPT);
    plant("T", r.key, test_item(&t, "{PK: 'other', SK: 'b', v: 1}"));
    assert_rc(send(&r), SHEAF_CORRUPT);
    plant("T", r.key, SPAN_LIT("\1"));
    assert_rc(send(&r), SHEAF_CORRUPT);
    plant("T", r.key, SPAN_LIT("\2\0\0\0\0\0\0"));
    assert_rc(send(&r), SHEAF_FORMAT);
    assert_null(out.item.p);
    /* Each byte of an item, spoilt: an error or an item that can be read, never a crash. */
    span good = test_item(&t, "{PK: 'a', SK: 'b', l: [1, 'x', {m: <'a', 'b'>}], n: -1.5}");
    for (size_t i = 0; i < good.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            span bad = arena_dup(&t.arena, good);
            ((uint8_t *)(uintptr_t)bad.p)[i] ^= (uint8_t)(1 << bit);
            plant("T", r.key, bad);
            if (send(&r) == SHEAF_OK) (void)doc_of(&t.arena, item_map(out.item));
        }
}

static void test_get_item__survives_failing_allocations(void **state)
{
    (void)state;
    test_put(&t, "T", "{PK: 'a', SK: 'b', v: 1, m: {x: [1, {y: 'z'}]}}");
    struct core_get_item q = {.get =
                                  get_of(GET(.key = "{PK: 'a', SK: 'b'}", .projection = "m.x, v")),
                              .capacity = CORE_CAPACITY_INDEXES};
    for (uint64_t nth = 1;; nth++) {
        struct arena arena;
        arena_init(&arena, 1 << 20);
        struct ctx c = {&arena, &t.err};
        mem_fail_at(nth, false);
        sheaf_rc rc = core_get_item(t.core, &c, &q, &out);
        mem_fail_at(0, false);
        arena_deinit(&arena);
        if (rc == SHEAF_OK) break;
        assert_int_equal(rc, SHEAF_NOMEM);
        assert_true(nth < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_get_item__returns_the_item_or_none),
        CASE(test_get_item__projects),
        CASE(test_get_item__is_charged_by_4_kb),
        CASE(test_get_item__refuses_in_aws_words),
        CASE(test_get_item__reports_damage_and_never_returns_it),
        CASE(test_get_item__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
