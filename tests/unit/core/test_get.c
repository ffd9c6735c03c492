/* GetItem, BatchGetItem and TransactGetItems: what they return, what they refuse and in which
 * words, what they cost. */
#include "support/core_support.h"

#include "base/mem.h"
#include "support/exprs.h"

#define DYNALITE_GET "dynalite test/getItem.js"
#define DYNALITE_BATCH_GET "dynalite test/batchGetItem.js"
#define PARITY_BATCH_GET "dynamodb-conformance error-messages/batchGetItem"
#define PARITY_TRANSACT_GET "dynamodb-conformance captures, transact-get-empty-transact-items"
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
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = core_get_item(t.core, &c, &q, &out);
        mem_fail_at(0, false);
        arena_deinit(&arena);
        if (mem_count() - before < nth) break; /* the n-th did not come */
        if (rc != SHEAF_OK) assert_int_equal(rc, SHEAF_NOMEM);
    }
}

/* ---- BatchGetItem and TransactGetItems ---- */

static struct core_items_outcome many;

static sheaf_rc send_many(const struct req *reqs, uint32_t n, bool is_transaction,
                          enum core_capacity_mode capacity)
{
    struct core_get *gets = ARENA_ARRAY(&t.arena, struct core_get, n + 1);
    assert_non_null(gets);
    for (uint32_t i = 0; i < n; i++) {
        gets[i] = get_of(&reqs[i]);
        bool is_like = i > 0 && reqs[i].projection == reqs[i - 1].projection && !reqs[i].names;
        if (is_like) gets[i].env = gets[i - 1].env, gets[i].projection = gets[i - 1].projection;
    }
    err_clear(&t.err);
    struct core_multi_get q = {gets, n, is_transaction, capacity};
    return core_multi_get(t.core, &t.ctx, &q, &many);
}

static const char *many_text(void)
{
    struct buf b;
    buf_init(&b, &t.arena, 1 << 20);
    for (uint32_t i = 0; i < many.n; i++)
        buf_printf(&b, "%s%s", i ? " " : "", test_text(&t, many.items[i]));
    buf_put_u8(&b, 0);
    return (const char *)b.p;
}

static void test_multi_get__answers_in_the_order_asked(void **state)
{
    (void)state;
    test_put(&t, "T", "{PK: 'a', SK: '1', v: 1}");
    test_put(&t, "T", "{PK: 'a', SK: '2', v: 2}");
    test_put(&t, "H", "{a: 'x', v: 3, w: 4}");
    const struct req reqs[] = {{.table = "H", .key = "{a: 'x'}", .projection = "w"},
                               {.key = "{PK: 'a', SK: '2'}"},
                               {.key = "{PK: 'none', SK: '2'}"},
                               {.key = "{PK: 'a', SK: '1'}", .is_consistent = true}};
    for (int is_transaction = 0; is_transaction < 2; is_transaction++) {
        assert_ok(send_many(reqs, 4, is_transaction, CORE_CAPACITY_INDEXES));
        assert_string_equal(many_text(),
                            "{w: 4} {PK: 'a', SK: '2', v: 2} - {PK: 'a', SK: '1', v: 1}");
        assert_int_equal(many.n_unprocessed, 0);
        assert_null(many.written);
        assert_true(many.position > 0);
        assert_int_equal(many.n_capacity, 2);
        assert_span(many.capacity[0].table, "H");
        assert_span(many.capacity[1].table, "T");
        assert_true(many.capacity[0].units == (is_transaction ? 2 : 0.5));
        assert_true(many.capacity[1].units == (is_transaction ? 6 : 2));
        assert_int_equal(many.capacity[1].n_arms, 1);
    }
}

static void test_batch_get__rounds_each_item(void **state)
{
    (void)state;
    put_sized("T", "1", 4097);
    put_sized("T", "2", 100);
    const struct req reqs[] = {{.key = "{PK: 'p', SK: '1'}"}, {.key = "{PK: 'p', SK: '2'}"}};
    assert_ok(send_many(reqs, 2, false, CORE_CAPACITY_TOTAL));
    assert_true(many.capacity[0].units == 1.5);
    assert_ok(send_many(reqs, 2, true, CORE_CAPACITY_TOTAL));
    assert_true(many.capacity[0].units == 6);
}

static struct req *sized_reqs(uint32_t n, uint32_t bytes)
{
    struct req *reqs = ARENA_ARRAY(&t.arena, struct req, n);
    assert_non_null(reqs);
    for (uint32_t i = 0; i < n; i++) {
        char sort[16], *key = arena_alloc(&t.arena, 64);
        sprintf(sort, "%03u", i);
        sprintf(key, "{PK: 'p', SK: '%s'}", sort);
        if (bytes) put_sized("T", sort, bytes - 2);
        reqs[i] = (struct req){.key = key};
    }
    return reqs;
}

static void test_batch_get__returns_16_mb_and_the_rest_later(void **state)
{
    (void)state;
    struct req *reqs = sized_reqs(50, 400000);
    assert_ok(send_many(reqs, 50, false, CORE_CAPACITY_TOTAL));
    uint32_t n_there = (16 << 20) / 400000, n_found = 0;
    for (uint32_t i = 0; i < 50; i++) n_found += many.items[i].p != NULL;
    assert_int_equal(n_found, n_there);
    assert_int_equal(many.n_unprocessed, 50 - n_there);
    for (uint32_t i = 0; i < many.n_unprocessed; i++) {
        assert_int_equal(many.unprocessed[i], n_there + i);
        assert_null(many.items[n_there + i].p);
    }
    assert_true(many.capacity[0].units == n_there * 49.0);
    assert_rc(send_many(reqs, 11, true, CORE_CAPACITY_TOTAL), SHEAF_VALIDATION);
    assert_ok(send_many(reqs, 10, true, CORE_CAPACITY_TOTAL));
}

static void test_multi_get__refuses_in_aws_words(void **state)
{
    (void)state;
    struct req *full = sized_reqs(101, 0);
    const struct req twice[] = {{.table = "none", .key = "{PK: 'a', SK: '1'}"},
                                {.table = "none", .key = "{PK: 'b', SK: '1'}"},
                                {.table = "none", .key = "{PK: 'a', SK: '1'}"}};
    const struct req missing[] = {{.key = "{PK: 'a', SK: '1'}"},
                                  {.table = "none", .key = "{a: 'x'}"}};
    const struct req alias[] = {
        {.key = "{PK: 'a', SK: '1'}"},
        {.table = "arn:aws:dynamodb:us-east-1:000000000000:table/T", .key = "{PK: 'a', SK: '2'}"},
        {.table = "arn:aws:dynamodb:us-east-1:000000000000:table/T", .key = "{PK: 'a', SK: '1'}"}};
    const struct req unlike[] = {{.key = "{PK: 'a', SK: '1'}"}, {.key = "{PK: 'a', SK: 1}"}};
    const struct req empty[] = {{.key = "{PK: 'a', SK: 1}"}, {.key = "{PK: 'a', SK: ''}"}};
    const struct req unused[] = {
        {.table = "none", .key = "{a: 'x'}", .projection = "a", .names = "{'#a': 'b'}"}};
    const struct {
        const struct req *reqs;
        uint32_t n;
        bool is_transaction;
        sheaf_rc rc;
        const char *message, *source;
    } rows[] = {
        {full, 0, false, SHEAF_VALIDATION,
         "The requestItems parameter is required for BatchGetItem", PARITY_BATCH_GET},
        {full, 100, false, SHEAF_OK, "", DYNALITE_BATCH_GET},
        {full, 101, false, SHEAF_VALIDATION, "Too many items requested for the BatchGetItem call",
         DYNALITE_BATCH_GET},
        {full, 0, true, SHEAF_VALIDATION,
         "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: "
         "Member must have length greater than or equal to 1",
         PARITY_TRANSACT_GET},
        {full, 100, true, SHEAF_OK, "", PARITY_TRANSACT_GET},
        {full, 101, true, SHEAF_VALIDATION,
         "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
         "Member "
         "must have length less than or equal to 100",
         UNVERIFIED},
        {twice, 2, false, SHEAF_RESOURCE_NOT_FOUND, "Requested resource not found",
         PARITY_BATCH_GET},
        {twice, 3, false, SHEAF_VALIDATION, "Provided list of item keys contains duplicates",
         PARITY_BATCH_GET},
        {twice, 3, true, SHEAF_VALIDATION,
         "Transaction request cannot include multiple operations on one item", PARITY},
        {alias, 2, false, SHEAF_OK, "", PARITY_BATCH_GET},
        {alias, 3, false, SHEAF_VALIDATION, "Provided list of item keys contains duplicates",
         PARITY_BATCH_GET},
        {alias, 3, true, SHEAF_VALIDATION,
         "Transaction request cannot include multiple operations on one item", PARITY},
        {missing, 2, false, SHEAF_RESOURCE_NOT_FOUND, "Requested resource not found",
         PARITY_BATCH_GET},
        {missing, 2, true, SHEAF_RESOURCE_NOT_FOUND, "Requested resource not found", PARITY},
        {unlike, 2, false, SHEAF_VALIDATION, NO_MATCH, DYNALITE_BATCH_GET},
        {unlike, 2, true, SHEAF_TRANSACTION_CANCELED,
         "Transaction cancelled, please refer cancellation reasons for specific reasons [None, "
         "ValidationError]",
         PARITY},
        {empty, 2, true, SHEAF_VALIDATION, NOT_VALID EMPTY_KEY "string value. Key: SK", UNVERIFIED},
        {unused, 1, false, SHEAF_VALIDATION,
         "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
         DYNALITE_BATCH_GET},
    };
    struct sources sources = {0, 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (send_many(rows[i].reqs, rows[i].n, rows[i].is_transaction, CORE_CAPACITY_NONE) !=
            rows[i].rc)
            fail_msg("row %zu: rc differs, message \"%s\"", i, t.err.message);
        assert_string_equal(t.err.message, rows[i].message);
        if (rows[i].rc) assert_null(many.items);
        if (rows[i].rc == SHEAF_TRANSACTION_CANCELED) {
            assert_int_equal(many.n, 2);
            assert_true(many.position > 0);
            assert_int_equal(many.written[0].rc, SHEAF_OK);
            assert_int_equal(many.written[1].rc, SHEAF_VALIDATION);
            assert_string_equal(many.written[1].message, NO_MATCH);
        }
        sources_count(&sources, rows[i].source);
    }
    sources_print(&sources, "BatchGetItem and TransactGetItems");
}

static void test_multi_get__survives_failing_allocations(void **state)
{
    (void)state;
    test_put(&t, "T", "{PK: 'a', SK: '1', v: 1}");
    test_put(&t, "H", "{a: 'x', v: 3, w: 4}");
    struct core_get gets[] = {get_of(GET(.table = "H", .key = "{a: 'x'}", .projection = "w")),
                              get_of(GET(.key = "{PK: 'a', SK: '1'}")),
                              get_of(GET(.key = "{PK: 'a', SK: 1}"))};
    for (int kind = 0; kind < 3; kind++) {
        struct core_multi_get q = {gets, kind == 2 ? 3 : 2, kind > 0, CORE_CAPACITY_INDEXES};
        sheaf_rc want = kind == 2 ? SHEAF_TRANSACTION_CANCELED : SHEAF_OK;
        for (uint64_t nth = 1;; nth++) {
            struct arena arena;
            arena_init(&arena, 1 << 20);
            struct ctx c = {&arena, &t.err};
            uint64_t before = mem_count();
            mem_fail_at(nth, false);
            sheaf_rc rc = core_multi_get(t.core, &c, &q, &many);
            mem_fail_at(0, false);
            arena_deinit(&arena);
            if (mem_count() - before < nth) break; /* the n-th did not come */
            if (rc != want) assert_int_equal(rc, SHEAF_NOMEM);
        }
        for (size_t ceiling = 0;; ceiling += 64) {
            struct arena arena;
            arena_init(&arena, ceiling);
            struct ctx c = {&arena, &t.err};
            sheaf_rc rc = core_multi_get(t.core, &c, &q, &many);
            arena_deinit(&arena);
            if (rc == want) break;
            assert_int_equal(rc, SHEAF_NOMEM);
        }
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
        CASE(test_multi_get__answers_in_the_order_asked),
        CASE(test_batch_get__rounds_each_item),
        CASE(test_batch_get__returns_16_mb_and_the_rest_later),
        CASE(test_multi_get__refuses_in_aws_words),
        CASE(test_multi_get__survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
