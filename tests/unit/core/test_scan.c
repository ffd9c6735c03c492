/* Scan: everything once, in segments and pages, of tables and indexes; and random collections,
 * queried and scanned in every way, against a naive answer. */
#include "base/mem.h"
#include "base/rng.h"
#include "support/exprs.h"
#include "support/pages.h"

#define PARITY_SCAN "dynamodb-conformance error-messages/scan"
#define PARITY_SELECT "dynamodb-conformance tier1/scan/select"

#define INVALID "One or more parameter values were invalid: "
#define START "The provided starting key is invalid"
#define NO_MATCH "The provided key element does not match the schema"

static struct core_test t;
static struct core_page page;

static int setup(void **state)
{
    (void)state;
    core_test_init(&t, NULL);
    test_table(t.core, "H", "a:S", NULL, NULL);
    test_table(t.core, "R", "a:S", "b:S",
               "local index1(a:S|c:S) ALL; index3(c:S) ALL; index4(c:S|d:S) KEYS_ONLY;"
               "local index5(a:S|e:S) KEYS_ONLY");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

/* ---- one collection of everything, told by attribute `i` of each item ---- */

enum { ITEMS = 200 };

static void put_items(void)
{
    for (uint32_t i = 0; i < ITEMS; i++) {
        char text[200];
        sprintf(text, "{a: 'h%u', b: '%u', i: %u%s%s}", i % 37, i, i, i % 3 ? ", c: 'c'" : "",
                i % 2 ? ", d: 'd', e: 'e'" : "");
        test_put(&t, "R", text);
    }
}

static uint32_t number_of(val item, const char *name)
{
    val v = val_find(item, span_cstr(name));
    assert_int_equal(val_type(v), VAL_N);
    return (uint32_t)atoi(doc_val_text(&t.arena, v));
}

/* Pages through one segment; counts what it sees in seen[]. */
static uint32_t scan_segment(struct page_req r, uint8_t seen[ITEMS])
{
    uint32_t n = 0;
    r.start_item = SPAN_NONE;
    do {
        page_must(&t, &r, &page);
        if (r.limit) assert_true(page.scanned <= r.limit);
        for (uint32_t k = 0; k < page.n; k++, n++) seen[number_of(item_map(page.items[k]), "i")]++;
        r.start_item = page.last_key;
    } while (page.last_key.p);
    return n;
}

static void test_scan__sees_everything_once(void **state)
{
    (void)state;
    put_items();
    static const struct {
        const char *index;
        uint32_t each, rest; /* items whose number is not a multiple of `each` (0: all) */
    } rows[] = {{NULL, 0, 0}, {"index1", 3, 0}, {"index3", 3, 0}};
    static const uint32_t limits[] = {0, 1, 2, 7, 100, 200, 1000}, splits[] = {0, 1, 2, 3, 8, 100};
    for (size_t x = 0; x < 3; x++)
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
            for (size_t k = 0; k < sizeof splits / sizeof *splits; k++) {
                uint8_t seen[ITEMS] = {0};
                struct page_req r = {.table = "R",
                                     .index = rows[x].index,
                                     .is_scan = true,
                                     .limit = limits[l],
                                     .has_segment = splits[k] > 0,
                                     .n_segments = splits[k]};
                for (r.segment = 0; r.segment == 0 || r.segment < splits[k]; r.segment++)
                    scan_segment(r, seen);
                for (uint32_t i = 0; i < ITEMS; i++)
                    assert_int_equal(seen[i], !rows[x].each || i % rows[x].each ? 1 : 0);
            }
}

static void test_scan__splits_the_work(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ITEMS; i++) {
        char text[64];
        sprintf(text, "{a: 'h%u', i: %u}", i, i);
        test_put(&t, "H", text);
    }
    uint8_t seen[ITEMS] = {0};
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t n = scan_segment(
            (struct page_req){
                .table = "H", .is_scan = true, .has_segment = true, .segment = i, .n_segments = 4},
            seen);
        assert_in_range(n, ITEMS / 8, ITEMS / 2);
    }
    for (uint32_t i = 0; i < ITEMS; i++) assert_int_equal(seen[i], 1);
    /* The largest number of segments there may be: each has next to nothing. */
    page_must(&t, SCAN(.table = "H", .has_segment = true, .segment = 999999, .n_segments = 1000000),
              &page);
    assert_true(page.n < 3);
}

static void test_scan__filters_counts_projects_and_fetches(void **state)
{
    (void)state;
    put_items();
    page_must(
        &t,
        SCAN(.table = "R", .filter = "i < :n", .values = "{':n': 10}", .select = CORE_SELECT_COUNT),
        &page);
    assert_null(page.items);
    assert_int_equal(page.matched, 10);
    assert_int_equal(page.scanned, ITEMS);
    /* Scan may filter by keys. */
    page_must(&t,
              SCAN(.table = "R", .filter = "a = :h AND b = :b", .values = "{':h': 'h3', ':b': '3'}",
                   .projection = "i, b"),
              &page);
    assert_string_equal(page_text(&t, &page), "{b: '3', i: 3}");
    page_must(&t, SCAN(.table = "R", .index = "index4", .limit = 1), &page);
    assert_int_equal(val_count(item_map(page.items[0])), 4);
    assert_int_equal(val_count(item_map(page.last_key)), 4);
    page_must(&t,
              SCAN(.table = "R", .index = "index5", .select = CORE_SELECT_ALL, .filter = "i = :n",
                   .values = "{':n': 1}", .capacity = CORE_CAPACITY_INDEXES),
              &page);
    assert_string_equal(page_text(&t, &page), "{a: 'h1', b: '1', c: 'c', d: 'd', e: 'e', i: 1}");
    assert_int_equal(page.scanned, ITEMS / 2);
    assert_true(page.capacity.arms[0].units == ITEMS / 2 * 0.5);
    assert_true(page.capacity.arms[1].units == 0.5);
}

static void test_scan__refuses_in_aws_words(void **state)
{
    (void)state;
    put_items();
    page_must(&t,
              SCAN(.table = "R", .has_segment = true, .segment = 1, .n_segments = 2, .limit = 1),
              &page);
    span other_segment = page.last_key;
    const struct {
        struct page_req r;
        const char *message, *source;
    } rows[] = {
        {{.table = "none", .names = "{'#a': 'a'}"},
         "ExpressionAttributeNames can only be specified when using expressions",
         DYNALITE_SCAN},
        {{.table = "none", .values = "{':a': 'a'}"},
         "ExpressionAttributeValues can only be specified when using expressions: FilterExpression "
         "is null",
         DYNALITE_SCAN},
        {{.table = "none", .filter = "a = :a", .values = "{':a': 'a', ':b': 1}"},
         "Value provided in ExpressionAttributeValues unused in expressions: keys: {:b}",
         DYNALITE_SCAN},
        {{.table = "none", .has_segment = true, .segment = 5, .n_segments = 5},
         "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
         "Segment: 5 is not less than TotalSegments: 5",
         PARITY_SCAN},
        {{.table = "none", .has_segment = true, .segment = 0, .n_segments = 0},
         "1 validation error detected: Value '0' at 'totalSegments' failed to satisfy constraint: "
         "Member must have value greater than or equal to 1",
         DYNALITE_SCAN},
        {{.table = "none", .has_segment = true, .segment = 0, .n_segments = 1000001},
         "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy "
         "constraint: Member must have value less than or equal to 1000000",
         UNVERIFIED},
        {{.table = "none", .select = CORE_SELECT_PROJECTED},
         "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
         PARITY_SELECT},
        {{.table = "none", .select = CORE_SELECT_COUNT, .projection = "a"},
         "Cannot specify the ProjectionExpression when choosing to get only the Count",
         PARITY_SELECT},
        {{.table = "none"}, "Requested resource not found", PARITY_SCAN},
        {{.table = "R", .index = "whatever", .filter = "attribute_exists(a.b.c)"},
         "The table does not have the specified index: whatever",
         DYNALITE_SCAN},
        {{.table = "R", .index = "whatever", .start = "{}"},
         "The table does not have the specified index: whatever",
         DYNALITE_SCAN},
        {{.table = "R", .index = "index3", .is_consistent = true},
         "Consistent reads are not supported on global secondary indexes",
         DYNALITE_SCAN},
        {{.table = "H", .start = "{}"}, START ": " NO_MATCH, DYNALITE_SCAN},
        {{.table = "H", .start = "{b: 'a'}"}, START ": " NO_MATCH, DYNALITE_SCAN},
        {{.table = "H", .start = "{a: 'a', b: 'a'}"}, START ": " NO_MATCH, DYNALITE_SCAN},
        {{.table = "H", .start = "{a: 1}"}, START ": " NO_MATCH, DYNALITE_SCAN},
        {{.table = "H", .start = "{a: {}}"}, START ": " NO_MATCH, DYNALITE_SCAN},
        {{.table = "R", .start = "{a: 'a', b: 1}"}, START ": " NO_MATCH, DYNALITE_SCAN},
        {{.table = "R", .index = "index1", .start = "{a: 'a', b: 'a'}"}, START, DYNALITE_SCAN},
        {{.table = "R", .index = "index3", .start = "{a: 'a', b: 'a', z: 'a'}"},
         START,
         DYNALITE_SCAN},
        {{.table = "R", .index = "index1", .start = "{a: 'a', b: 'a', c: 1}"},
         NO_MATCH,
         DYNALITE_SCAN},
        {{.table = "R", .index = "index4", .start = "{x: 1, y: 1, c: '1', d: 1}"},
         NO_MATCH,
         DYNALITE_SCAN},
        {{.table = "R", .index = "index1", .start = "{a: '1', b: 1, c: 'a'}"},
         START ": " NO_MATCH,
         DYNALITE_SCAN},
        {{.table = "R", .index = "index3", .start = "{x: 1, y: 1, c: 'a'}"},
         START ": " NO_MATCH,
         DYNALITE_SCAN},
        {{.table = "R",
          .index = "index4",
          .select = CORE_SELECT_ALL,
          .filter = "attribute_exists(a.b.c)"},
         INVALID "Select type ALL_ATTRIBUTES is not supported for global secondary index index4 "
                 "because its projection type is not ALL",
         DYNALITE_SCAN},
        {{.table = "R",
          .start_item = other_segment,
          .has_segment = true,
          .segment = 0,
          .n_segments = 2},
         START ": Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. "
               "TotalSegments: 2 Segment: 0",
         DYNALITE_SCAN},
        {{.table = "H", .filter = "attribute_exists(#a[0])", .names = "{'#a': 'a'}"},
         "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
         "allowed: Key: a",
         DYNALITE_SCAN},
    };
    struct sources sources = {0, 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct page_req r = rows[i].r;
        r.is_scan = true;
        if (page_send(&t, &r, &page) == SHEAF_OK)
            fail_msg("row %zu (%s) was taken", i, rows[i].message);
        assert_string_equal(t.err.message, rows[i].message);
        sources_count(&sources, rows[i].source);
    }
    sources_print(&sources, "Scan");
}

/* ---- random collections against a naive answer ---- */

enum { MODEL_MAX = 60 };

/* One item of the model: its sort key, in the order of the type, and two attributes. */
struct model_item {
    const char *hash, *sort; /* texts of doc.h */
    val sort_val;
    int e;
    span item;
};
struct model {
    enum val_type type;
    struct model_item items[MODEL_MAX]; /* by sort key */
    uint32_t n;
};

static const char *random_sort(struct rng *r, enum val_type type)
{
    char *text = arena_alloc(&t.arena, 64);
    if (type == VAL_N) {
        int n = (int)rng_below(r, 400) - 200;
        sprintf(text, rng_below(r, 2) ? "%d" : "%d.25", n);
        return text;
    }
    /* Few letters and lengths around a group of the key encoding, so that prefixes are common. */
    static const uint64_t lengths[] = {1, 2, 7, 8, 9, 16};
    uint64_t n = lengths[rng_below(r, 6)];
    char *at = text;
    if (type == VAL_B) *at++ = 'b';
    *at++ = '\'';
    while (n--) {
        const char *letter = type == VAL_B ? (const char *[]){"a", "\\00", "\\ff"}[rng_below(r, 3)]
                                           : (const char *[]){"a", "b", "z"}[rng_below(r, 3)];
        if (at - text + 6 > 64) break;
        at += sprintf(at, "%s", letter);
    }
    sprintf(at, "'");
    return text;
}

static void model_put(struct model *m, struct model_item x)
{
    uint32_t at = 0;
    while (at < m->n && val_cmp(m->items[at].sort_val, x.sort_val) < 0) at++;
    if (at < m->n && val_cmp(m->items[at].sort_val, x.sort_val) == 0) {
        m->items[at] = x;
        return;
    }
    if (m->n == MODEL_MAX) return;
    memmove(m->items + at + 1, m->items + at, (m->n - at) * sizeof x);
    m->items[at] = x;
    m->n++;
}

static void fill(struct model *m, struct rng *r, const char *table)
{
    uint64_t n = rng_below(r, 50);
    for (uint64_t i = 0; i < n; i++) {
        struct model_item x = {.hash = "'h'", .sort = random_sort(r, m->type)};
        x.e = (int)rng_below(r, 4);
        char *text = arena_alloc(&t.arena, 200);
        sprintf(text, "{PK: 'h', SK: %s, e: %d, i: %d}", x.sort, x.e, (int)i);
        x.item = test_item(&t, text);
        x.sort_val = val_find(item_map(x.item), SPAN_LIT("SK"));
        test_put(&t, table, text);
        model_put(m, x);
    }
}

enum { OP_ALL, OP_EQ, OP_LT, OP_LE, OP_GT, OP_GE, OP_BETWEEN, OP_BEGINS, OPS };
static const char *const op_texts[OPS] = {"PK = :p",
                                          "PK = :p AND SK = :s",
                                          "PK = :p AND SK < :s",
                                          "PK = :p AND SK <= :s",
                                          "PK = :p AND SK > :s",
                                          "PK = :p AND SK >= :s",
                                          "PK = :p AND SK BETWEEN :s AND :u",
                                          "PK = :p AND begins_with(SK, :s)"};

static bool naive_match(int op, val sort, val s, val u)
{
    int c = op == OP_ALL ? 0 : val_cmp(sort, s);
    switch (op) {
    case OP_EQ:
        return c == 0;
    case OP_LT:
        return c < 0;
    case OP_LE:
        return c <= 0;
    case OP_GT:
        return c > 0;
    case OP_GE:
        return c >= 0;
    case OP_BETWEEN:
        return c >= 0 && val_cmp(sort, u) <= 0;
    case OP_BEGINS:
        return span_starts(val_bytes(sort), val_bytes(s));
    default:
        return true;
    }
}

/* One random query: the answer as a whole, and the pages of every kind of limit. */
struct question {
    struct page_req r;
    int op, e; /* e < 0: no filter */
    val s, u;
};

static struct question random_question(struct rng *r, enum val_type type, const char *table)
{
    struct question q = {.op = (int)rng_below(r, type == VAL_N ? OP_BEGINS : OPS)};
    const char *s = random_sort(r, type), *u = random_sort(r, type);
    if (val_cmp(doc_text_val(&t.arena, s), doc_text_val(&t.arena, u)) > 0) {
        const char *swap = s;
        s = u;
        u = swap;
    }
    q.s = doc_text_val(&t.arena, s);
    q.u = doc_text_val(&t.arena, u);
    q.e = rng_below(r, 2) ? (int)rng_below(r, 4) : -1;
    char *values = arena_alloc(&t.arena, 300);
    int n = sprintf(values, "{':p': 'h'");
    if (q.op != OP_ALL) n += sprintf(values + n, ", ':s': %s", s);
    if (q.op == OP_BETWEEN) n += sprintf(values + n, ", ':u': %s", u);
    if (q.e >= 0) n += sprintf(values + n, ", ':e': %d", q.e);
    sprintf(values + n, "}");
    q.r = (struct page_req){.table = table,
                            .condition = op_texts[q.op],
                            .filter = q.e >= 0 ? "e = :e" : NULL,
                            .values = values,
                            .is_backward = rng_below(r, 2),
                            .is_consistent = rng_below(r, 2),
                            .projection = rng_below(r, 3) ? NULL : "i"};
    return q;
}

/* The indexes of the items that the question evaluates, in its order. */
static uint32_t naive_answer(const struct model *m, const struct question *q,
                             uint32_t out[MODEL_MAX])
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->n; k++) {
        uint32_t i = q->r.is_backward ? m->n - 1 - k : k;
        if (naive_match(q->op, m->items[i].sort_val, q->s, q->u)) out[n++] = i;
    }
    return n;
}

static void check_item(const struct model_item *x, const struct question *q, span got)
{
    if (q->r.projection) {
        assert_int_equal(val_count(item_map(got)), 1);
        assert_true(val_eq(val_find(item_map(got), SPAN_LIT("i")),
                           val_find(item_map(x->item), SPAN_LIT("i"))));
    } else if (!span_eq(got, x->item)) {
        fail_msg("got %s, wanted %s", test_text(&t, got), test_text(&t, x->item));
    }
}

/* Pages with one limit: the naive order cut into runs of that many. */
static void check_pages(const struct model *m, struct question *q, uint32_t limit)
{
    uint32_t want[MODEL_MAX], n = naive_answer(m, q, want), at = 0;
    q->r.limit = limit;
    q->r.start_item = SPAN_NONE;
    for (;;) {
        page_must(&t, &q->r, &page);
        uint32_t step = limit && limit < n - at ? limit : n - at, k = 0;
        assert_int_equal(page.scanned, step);
        for (uint32_t i = at; i < at + step; i++) {
            const struct model_item *x = &m->items[want[i]];
            if (q->e >= 0 && x->e != q->e) continue;
            assert_true(k < page.n);
            check_item(x, q, page.items[k++]);
        }
        assert_int_equal(page.n, k);
        assert_int_equal(page.matched, k);
        at += step;
        assert_true((page.last_key.p != NULL) == (limit != 0 && step == limit));
        if (!page.last_key.p) break;
        assert_true(val_eq(val_find(item_map(page.last_key), SPAN_LIT("SK")),
                           m->items[want[at - 1]].sort_val));
        q->r.start_item = page.last_key;
    }
    assert_int_equal(at, n);
}

static void check_table(struct rng *r, const char *table, enum val_type type)
{
    struct model *m = ARENA_NEW(&t.arena, struct model);
    assert_non_null(m);
    m->type = type;
    fill(m, r, table);
    for (int i = 0; i < 12; i++) {
        struct question q = random_question(r, type, table);
        check_pages(m, &q, 0);
        check_pages(m, &q, 1);
        check_pages(m, &q, (uint32_t)rng_below(r, 10) + 2);
        check_pages(m, &q, m->n ? m->n : 1);
    }
}

static void check_round(struct rng *r)
{
    test_table(t.core, "S", "PK:S", "SK:S", NULL);
    test_table(t.core, "N", "PK:S", "SK:N", NULL);
    test_table(t.core, "B", "PK:S", "SK:B", NULL);
    check_table(r, "S", VAL_S);
    check_table(r, "N", VAL_N);
    check_table(r, "B", VAL_B);
}

static void test_query__random_collections_read_as_the_naive_answer_says(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(20261115));
    for (uint64_t round = 0, n = test_rounds(25); round < n; round++) {
        core_test_deinit(&t);
        core_test_init(&t, NULL);
        check_round(&r);
    }
}

static void test_query__random_collections_on_disk_read_the_same(void **state)
{
    (void)state;
    char dir[] = "/tmp/sheaf-scan-XXXXXX", path[64], command[80];
    struct rng r;
    rng_init(&r, test_seed(15112026));
    assert_non_null(mkdtemp(dir));
    for (uint64_t round = 0, n = test_rounds(2); round < n; round++) {
        sheaf_engine *engine;
        core_test_deinit(&t);
        sprintf(path, "%s/%u", dir, (unsigned)round);
        assert_ok(sheaf_engine_open_rocks(path, NULL, &engine, NULL));
        core_test_init_on(&t, engine, NULL);
        check_round(&r);
    }
    core_test_deinit(&t);
    core_test_init(&t, NULL);
    sprintf(command, "rm -rf '%s'", dir);
    if (system(command) != 0) fail_msg("cannot remove %s", dir);
}

/* An index orders equal sort keys by a hash: pages must still be the whole page cut. */
static void test_query__pages_of_an_index_are_the_whole_cut(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        char text[100];
        sprintf(text, "{a: 'h%u', b: '%u', c: 'c', d: 'd%u', i: %u}", i % 5, i, i % 3, i);
        test_put(&t, "R", text);
    }
    static const char *const indexes[] = {"index3", "index4"};
    for (int x = 0; x < 2; x++)
        for (int is_backward = 0; is_backward < 2; is_backward++)
            for (uint32_t limit = 1; limit <= 41; limit++) {
                struct page_req r = {.table = "R",
                                     .index = indexes[x],
                                     .condition = "c = :c",
                                     .values = "{':c': 'c'}",
                                     .is_backward = is_backward};
                struct core_page whole;
                page_must(&t, &r, &whole);
                assert_int_equal(whole.n, 40);
                r.limit = limit;
                uint32_t at = 0;
                do {
                    page_must(&t, &r, &page);
                    for (uint32_t i = 0; i < page.n; i++, at++)
                        assert_true(span_eq(page.items[i], whole.items[at]));
                    r.start_item = page.last_key;
                } while (page.last_key.p);
                assert_int_equal(at, 40);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_scan__sees_everything_once),
        CASE(test_scan__splits_the_work),
        CASE(test_scan__filters_counts_projects_and_fetches),
        CASE(test_scan__refuses_in_aws_words),
        CASE(test_query__random_collections_read_as_the_naive_answer_says),
        CASE(test_query__random_collections_on_disk_read_the_same),
        CASE(test_query__pages_of_an_index_are_the_whole_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
