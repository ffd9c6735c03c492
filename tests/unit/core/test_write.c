/* PutItem, UpdateItem and DeleteItem: what they make of an item, what they return, what they refuse
 * and in which words, what they cost. Entries of indexes are in test_effects.c. */
#include "support/core_support.h"

#include "base/mem.h"
#include "support/exprs.h"

#define DYNALITE_PUT "dynalite test/putItem.js"
#define DYNALITE_DELETE "dynalite test/deleteItem.js"
#define ALTERNATOR_LIMITS "Alternator test_limits.py"
#define AWS_TRANSACT_DOC "AWS API reference, TransactWriteItems, cancellation reasons"
#define DYNALITE_CODE "dynalite db/index.js"

#define INVALID "One or more parameter values were invalid: "
#define NOT_VALID "One or more parameter values are not valid. "
#define NO_MATCH "The provided key element does not match the schema"
#define EMPTY_KEY "The AttributeValue for a key attribute cannot contain an empty "

/* One request in text; the outcome of the last one stays. */
struct req {
    enum core_action action;
    const char *table, *item, *update, *condition, *names, *values;
    enum core_return returns;
    enum core_capacity_mode capacity;
    bool wants_old, wants_metrics;
};

static struct core_test t;
static struct core_write_outcome out;

static span text_or_none(const char *s) { return s ? span_cstr(s) : SPAN_NONE; }

static sheaf_rc send(const struct req *r)
{
    struct core_write_item q = {.write = {.action = r->action,
                                          .table = span_cstr(r->table ? r->table : "T"),
                                          .item = test_item(&t, r->item),
                                          .update = text_or_none(r->update),
                                          .condition = text_or_none(r->condition),
                                          .env = test_env(&t.arena, r->names, r->values),
                                          .wants_old_on_failure = r->wants_old},
                                .returns = r->returns,
                                .capacity = r->capacity,
                                .wants_metrics = r->wants_metrics};
    return core_write_item(t.core, &t.ctx, &q, &out);
}

static void must(const struct req *r)
{
    if (send(r) != SHEAF_OK) fail_msg("%s: %s", r->item, t.err.message);
}

static int setup(void **state)
{
    (void)state;
    core_test_init(&t, NULL);
    test_table(t.core, "H", "PK:S", NULL, NULL);
    test_table(t.core, "T", "PK:S", "SK:S", NULL);
    test_table(t.core, "N", "PK:N", "SK:B", NULL);
    test_table(t.core, "X", "a:S", "b:S",
               "index2(a:S|c:S) ALL; index1(c:S) ALL; index3(d:S|n:N) KEYS_ONLY; index4(x:B) ALL");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

#define PUT(...) (&(struct req){.action = CORE_PUT, __VA_ARGS__})
#define UPDATE(...) (&(struct req){.action = CORE_UPDATE, __VA_ARGS__})
#define DELETE(...) (&(struct req){.action = CORE_DELETE, __VA_ARGS__})

/* ---- what they do ---- */

static void test_put_item__stores_and_replaces(void **state)
{
    (void)state;
    must(PUT(.item = "{PK: 'a', SK: 'b', v: 1}"));
    assert_string_equal(test_get(&t, "T", "{PK: 'a', SK: 'b'}"), "{PK: 'a', SK: 'b', v: 1}");
    assert_null(out.attributes.p);
    assert_true(out.position > 0);
    must(PUT(.item = "{PK: 'a', SK: 'b', w: 2}", .returns = CORE_ALL_OLD));
    assert_string_equal(test_text(&t, out.attributes), "{PK: 'a', SK: 'b', v: 1}");
    assert_string_equal(test_get(&t, "T", "{PK: 'a', SK: 'b'}"), "{PK: 'a', SK: 'b', w: 2}");
    test_check_table(&t, "T");
}

static void test_delete_item__removes_and_returns_what_was(void **state)
{
    (void)state;
    must(PUT(.item = "{PK: 'a', SK: 'b', v: 1}"));
    must(DELETE(.item = "{PK: 'a', SK: 'b'}", .returns = CORE_ALL_OLD));
    assert_string_equal(test_text(&t, out.attributes), "{PK: 'a', SK: 'b', v: 1}");
    assert_string_equal(test_get(&t, "T", "{PK: 'a', SK: 'b'}"), "-");
    must(DELETE(.item = "{PK: 'a', SK: 'b'}", .returns = CORE_ALL_OLD));
    assert_null(out.attributes.p);
    test_check_table(&t, "T");
}

/* ---- conditions ---- */

static void test_condition__is_judged_on_the_item_as_it_was(void **state)
{
    (void)state;
    must(PUT(.item = "{PK: 'a', SK: 'b', v: 1}", .condition = "attribute_not_exists(PK)"));
    assert_rc(send(PUT(.item = "{PK: 'a', SK: 'b', v: 2}", .condition = "attribute_not_exists(PK)",
                       .capacity = CORE_CAPACITY_TOTAL)),
              SHEAF_CONDITIONAL_CHECK_FAILED);
    assert_string_equal(t.err.message, "The conditional request failed");
    assert_null(out.attributes.p);
    assert_true(out.capacity.units == 1); /* still charged */
    assert_rc(send(PUT(.item = "{PK: 'a', SK: 'b', v: 2}", .condition = "v = :x",
                       .values = "{':x': 7}", .wants_old = true)),
              SHEAF_CONDITIONAL_CHECK_FAILED);
    assert_string_equal(test_text(&t, out.attributes), "{PK: 'a', SK: 'b', v: 1}");
    assert_rc(send(DELETE(.item = "{PK: 'a', SK: 'b'}", .condition = "attribute_not_exists(v)")),
              SHEAF_CONDITIONAL_CHECK_FAILED);
    must(UPDATE(.item = "{PK: 'a', SK: 'b'}", .update = "SET v = v + :x", .condition = "v = :x",
                .values = "{':x': 1}"));
    assert_string_equal(test_get(&t, "T", "{PK: 'a', SK: 'b'}"), "{PK: 'a', SK: 'b', v: 2}");
    test_check_table(&t, "T");
}

static void test_condition__of_a_missing_item_sees_no_attributes(void **state)
{
    (void)state;
    assert_rc(
        send(UPDATE(.item = "{PK: 'a', SK: 'b'}", .update = "SET v = :x",
                    .condition = "attribute_exists(PK)", .values = "{':x': 1}", .wants_old = true)),
        SHEAF_CONDITIONAL_CHECK_FAILED);
    assert_null(out.attributes.p);
    assert_string_equal(test_get(&t, "T", "{PK: 'a', SK: 'b'}"), "-");
    must(DELETE(.item = "{PK: 'a', SK: 'b'}", .condition = "attribute_not_exists(PK)"));
}

static void test_condition__hides_a_faulty_update(void **state)
{
    (void)state;
    assert_rc(send(UPDATE(.item = "{PK: 'a', SK: 'b'}", .update = "SET v = w",
                          .condition = "attribute_exists(PK)")),
              SHEAF_CONDITIONAL_CHECK_FAILED);
}

/* ---- updates ---- */

struct update_case {
    const char *before; /* NULL: no item */
    const char *update, *values;
    const char *after;       /* NULL: no item */
    const char *returned[5]; /* by enum core_return; NULL: nothing */
};

static const struct update_case updates[] = {
    {NULL,
     "SET v = :x",
     "{':x': 1}",
     "{PK: 'a', SK: 'b', v: 1}",
     {NULL, NULL, NULL, "{PK: 'a', SK: 'b', v: 1}", "{v: 1}"}},
    {NULL, NULL, NULL, "{PK: 'a', SK: 'b'}", {NULL, NULL, NULL, "{PK: 'a', SK: 'b'}", NULL}},
    {NULL, "REMOVE v", NULL, NULL, {NULL, NULL, NULL, NULL, NULL}},
    {NULL, "DELETE v :x", "{':x': <'q'>}", NULL, {NULL, NULL, NULL, NULL, NULL}},
    {NULL,
     "ADD v :x",
     "{':x': 5}",
     "{PK: 'a', SK: 'b', v: 5}",
     {NULL, NULL, NULL, "{PK: 'a', SK: 'b', v: 5}", "{v: 5}"}},
    {"{PK: 'a', SK: 'b', m: {x: 1, y: 2}, w: 3}",
     "SET m.x = :x REMOVE w",
     "{':x': 9}",
     "{PK: 'a', SK: 'b', m: {x: 9, y: 2}}",
     {NULL, "{PK: 'a', SK: 'b', m: {x: 1, y: 2}, w: 3}", "{m: {x: 1}, w: 3}",
      "{PK: 'a', SK: 'b', m: {x: 9, y: 2}}", "{m: {x: 9}}"}},
    {"{PK: 'a', SK: 'b', s: <'p', 'q'>}",
     "DELETE s :x",
     "{':x': <'p', 'q'>}",
     "{PK: 'a', SK: 'b'}",
     {NULL, "{PK: 'a', SK: 'b', s: <'p', 'q'>}", "{s: <'p', 'q'>}", "{PK: 'a', SK: 'b'}", NULL}},
    {"{PK: 'a', SK: 'b', v: 1}",
     NULL,
     NULL,
     "{PK: 'a', SK: 'b', v: 1}",
     {NULL, "{PK: 'a', SK: 'b', v: 1}", NULL, "{PK: 'a', SK: 'b', v: 1}", NULL}},
};

static void test_update_item__changes_and_returns_by_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        const struct update_case *u = &updates[i];
        for (int mode = CORE_NONE; mode <= CORE_UPDATED_NEW; mode++) {
            must(DELETE(.item = "{PK: 'a', SK: 'b'}"));
            if (u->before) must(PUT(.item = u->before));
            must(UPDATE(.item = "{PK: 'a', SK: 'b'}", .update = u->update, .values = u->values,
                        .returns = (enum core_return)mode));
            assert_string_equal(test_get(&t, "T", "{PK: 'a', SK: 'b'}"), u->after ? u->after : "-");
            const char *want = u->returned[mode] ? u->returned[mode] : "-";
            if (strcmp(test_text(&t, out.attributes), want) != 0)
                fail_msg("case %zu, mode %d: %s, wanted %s", i, mode, test_text(&t, out.attributes),
                         want);
            test_check_table(&t, "T");
        }
    }
}

/* ---- refusals ---- */

static char long_text[1 << 20];
/* "{PK: 'aaa…'}" with n letters. */
static const char *with_long(const char *before, size_t n, const char *after)
{
    size_t at = strlen(before);
    memcpy(long_text, before, at);
    memset(long_text + at, 'k', n);
    memcpy(long_text + at + n, after, strlen(after) + 1);
    return long_text;
}

struct refusal {
    struct req r;
    const char *message, *source;
    size_t long_n; /* put so many letters between item and names (as the end) */
};

#define P .action = CORE_PUT
#define U .action = CORE_UPDATE
#define D .action = CORE_DELETE

static const struct refusal refusals[] = {
    /* keys in an item */
    {{P, .item = "{SK: 'a'}"}, INVALID "Missing the key PK in the item", DYNALITE_PUT, 0},
    {{P, .item = "{PK: 'a'}"}, INVALID "Missing the key SK in the item", DYNALITE_PUT, 0},
    {{P, .item = "{PK: 1, SK: 'a'}"},
     INVALID "Type mismatch for key PK expected: S actual: N",
     DYNALITE_PUT,
     0},
    {{P, .item = "{PK: 'a', SK: <'x'>}"},
     INVALID "Type mismatch for key SK expected: S actual: SS",
     DYNALITE_PUT,
     0},
    {{P, .item = "{PK: '', SK: 'a'}"}, NOT_VALID EMPTY_KEY "string value. Key: PK", PARITY, 0},
    {{P, .table = "N", .item = "{PK: 1, SK: b''}"},
     NOT_VALID EMPTY_KEY "binary value. Key: SK",
     PARITY,
     0},
    /* keys alone */
    {{D, .item = "{}"}, NO_MATCH, DYNALITE_DELETE, 0},
    {{D, .item = "{PK: 'a'}"}, NO_MATCH, DYNALITE_UPDATE, 0},
    {{D, .item = "{PK: 'a', SK: 'b', v: 1}"}, NO_MATCH, DYNALITE_UPDATE, 0},
    {{D, .item = "{PK: 'a', SK: 1}"}, NO_MATCH, DYNALITE_UPDATE, 0},
    {{U, .item = "{PK: 'a', sk: 'b'}", .update = "REMOVE v"}, NO_MATCH, DYNALITE_UPDATE, 0},
    {{U, .item = "{PK: '', SK: 'b'}", .update = "REMOVE v"},
     NOT_VALID EMPTY_KEY "string value. Key: PK",
     PARITY,
     0},
    /* sizes of keys */
    {{P, .table = "H", .item = "{PK: '", .names = "'}"},
     INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes",
     DYNALITE_PUT,
     2049},
    {{P, .item = "{PK: 'a', SK: '", .names = "'}"},
     INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
     DYNALITE_PUT,
     1025},
    {{D, .item = "{PK: 'a', SK: '", .names = "'}"},
     INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
     DYNALITE_DELETE,
     1025},
    /* sizes of items: PK 2 + 1, v 1 */
    {{P, .table = "H", .item = "{PK: 'a', v: '", .names = "'}"},
     "Item size has exceeded the maximum allowed size",
     PARITY,
     409600 - 3},
    /* keys of indexes */
    {{P, .table = "X", .item = "{a: 'a', b: 'b', c: 1}"},
     INVALID "Type mismatch for Index Key c Expected: S Actual: N IndexName: index1",
     PARITY,
     0},
    {{P, .table = "X", .item = "{a: 'a', b: 'b', d: ['x']}"},
     INVALID "Type mismatch for Index Key d Expected: S Actual: L IndexName: index3",
     PARITY,
     0},
    {{P, .table = "X", .item = "{a: 'a', b: 'b', c: ''}"},
     NOT_VALID "A value specified for a secondary index key is not supported. " EMPTY_KEY
               "string value. IndexName: index1, IndexKey: c",
     PARITY,
     0},
    {{P, .table = "X", .item = "{a: 'a', b: 'b', x: b''}"},
     NOT_VALID "A value specified for a secondary index key is not supported. " EMPTY_KEY
               "binary value. IndexName: index4, IndexKey: x",
     PARITY,
     0},
    {{P, .table = "X", .item = "{a: 'a', b: 'b', d: '", .names = "'}"},
     INVALID "Size of hashkey has exceeded the maximum size limit of2048 bytes",
     UNVERIFIED,
     2049},
    {{P, .table = "X", .item = "{a: 'a', b: 'b', c: '", .names = "'}"},
     INVALID "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
     UNVERIFIED,
     1025},
    {{U, .table = "X", .item = "{a: 'a', b: 'b'}", .update = "SET c = :v", .values = "{':v': 1}"},
     INVALID "Type mismatch for Index Key c Expected: S Actual: N IndexName: index1",
     DYNALITE_UPDATE,
     0},
    {{U, .table = "X", .item = "{a: 'a', b: 'b'}", .update = "SET q.a = a ADD c :v",
      .values = "{':v': 1}"},
     INVALID "Type mismatch for Index Key c Expected: S Actual: N IndexName: index1",
     DYNALITE_UPDATE,
     0},
    {{U, .table = "X", .item = "{a: 'a', b: 'b'}", .update = "SET e = c[1], c = a + :v",
      .values = "{':v': 1}"},
     INVALID "Type mismatch for Index Key c Expected: S Actual: N IndexName: index1",
     DYNALITE_UPDATE,
     0},
    {{U, .table = "X", .item = "{a: 'A', b: 'B'}", .update = "SET c = e"},
     "The update expression attempted to update the secondary index key to unsupported type",
     DYNALITE_UPDATE,
     0},
    {{U, .table = "X", .item = "{a: 'A', b: 'B'}", .update = "SET d = e"},
     "The update expression attempted to update the secondary index key to unsupported type",
     DYNALITE_UPDATE,
     0},
    {{U, .table = "X", .item = "{a: 'A', b: 'B'}", .update = "SET d = f"},
     "The update expression attempted to update the secondary index key beyond allowed size limits",
     AWS_TRANSACT_DOC,
     0},
    {{U, .table = "X", .item = "{a: 'a', b: 'b'}", .update = "SET c = :v", .values = "{':v': ''}"},
     NOT_VALID "The update expression attempted to update a secondary index key to a value that is "
               "not supported. " EMPTY_KEY "string value.",
     PARITY,
     0},
    {{U, .table = "X", .item = "{a: 'a', b: 'b'}", .update = "SET x = :v", .values = "{':v': b''}"},
     NOT_VALID "The update expression attempted to update a secondary index key to a value that is "
               "not supported. " EMPTY_KEY "binary value.",
     PARITY,
     0},
    {{U, .table = "X", .item = "{a: 'a', b: 'b'}", .update = "ADD d.b :v", .values = "{':v': 1}"},
     "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
     "IndexKey: d",
     DYNALITE_UPDATE,
     0},
    {{U, .table = "X", .item = "{a: 'a', b: 'b'}", .update = "SET e = list_append(a, b), f = d[1]"},
     "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
     "IndexKey: d",
     DYNALITE_UPDATE,
     0},
    {{P, .item = "{PK: 'a', SK: 'b'}", .condition = "attribute_exists(PK.x)"},
     "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
     "Key: PK",
     DYNALITE_CODE,
     0},
    /* keys cannot be updated */
    {{U, .item = "{PK: 'a', SK: 'b'}", .update = "SET PK = :v", .values = "{':v': 'c'}"},
     INVALID "Cannot update attribute PK. This attribute is part of the key",
     PARITY,
     0},
    {{U, .item = "{PK: 'a', SK: 'b'}", .update = "ADD SK.x :v", .values = "{':v': 1}"},
     INVALID "Cannot update attribute SK. This attribute is part of the key",
     DYNALITE_UPDATE,
     0},
    {{U, .item = "{PK: 'a', SK: 'b'}", .update = "REMOVE v SET PK = PK.b + PK[1]"},
     INVALID "Cannot update attribute PK. This attribute is part of the key",
     DYNALITE_UPDATE,
     0},
    /* updates that the item does not allow */
    {{U, .item = "{PK: 'a', SK: 'b'}", .update = "SET c = b"},
     "The provided expression refers to an attribute that does not exist in the item",
     DYNALITE_UPDATE,
     0},
    {{U, .item = "{PK: 'a', SK: 'b'}", .update = "SET b.a = PK"},
     "The document path provided in the update expression is invalid for update",
     DYNALITE_UPDATE,
     0},
    {{U, .item = "{PK: 'a', SK: 'b'}", .update = "SET e = PK + :v", .values = "{':v': 1}"},
     "An operand in the update expression has an incorrect data type",
     DYNALITE_UPDATE,
     0},
    {{U, .table = "H", .item = "{PK: 'big'}", .update = "SET w = v"},
     "Item size to update has exceeded the maximum allowed size",
     DYNALITE_UPDATE,
     0},
    /* placeholders and expressions */
    {{P, .item = "{PK: 'a', SK: 'b'}", .values = "{':v': 1}"},
     "ExpressionAttributeValues can only be specified when using expressions",
     PARITY,
     0},
    {{P, .item = "{PK: 'a', SK: 'b'}", .names = "{'#v': 'v'}"},
     "ExpressionAttributeNames can only be specified when using expressions",
     PARITY,
     0},
    {{U, .item = "{PK: 'a', SK: 'b'}", .update = "SET v = :v", .values = "{':v': 1, ':unused': 2}"},
     "Value provided in ExpressionAttributeValues unused in expressions: keys: {:unused}",
     PARITY,
     0},
    {{U, .item = "{PK: 'a', SK: 'b'}", .update = "SET v = :v", .names = "{'#unused': 'x'}",
      .values = "{':v': 1}"},
     "Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}",
     PARITY,
     0},
    {{D, .item = "{PK: 'a', SK: 'b'}", .condition = "v ="},
     "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"=\"",
     DYNALITE_DELETE,
     0},
    {{P, .item = "{PK: 'a', SK: 'b'}", .returns = CORE_ALL_NEW},
     "ReturnValues can only be ALL_OLD or NONE",
     DYNALITE_PUT,
     0},
    {{D, .item = "{PK: 'a', SK: 'b'}", .returns = CORE_UPDATED_OLD},
     "ReturnValues can only be ALL_OLD or NONE",
     DYNALITE_DELETE,
     0},
};

/* Everything stored, to see that a refusal wrote nothing. */
static uint64_t keys_stored(void)
{
    struct sheaf_engine_stats s;
    eng_stats(t.engine, &s);
    return s.keys;
}

static void test_refusals__have_the_services_words_and_write_nothing(void **state)
{
    (void)state;
    struct sources sources = {0, 0};
    test_put(&t, "X", with_long("{a: 'A', b: 'B', e: 1, f: '", 2049, "'}"));
    test_put(&t, "H", with_long("{PK: 'big', v: '", 300000, "'}"));
    uint64_t keys = keys_stored();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *x = &refusals[i];
        struct req r = x->r;
        if (x->long_n) {
            r.item = with_long(x->r.item, x->long_n, x->r.names);
            r.names = NULL;
        }
        if (send(&r) != SHEAF_VALIDATION || strcmp(t.err.message, x->message) != 0)
            fail_msg("refusal %zu: \"%s\", wanted \"%s\"", i, t.err.message, x->message);
        assert_null(out.attributes.p);
        assert_int_equal(keys_stored(), keys);
        sources_count(&sources, x->source);
    }
    assert_rc(send(PUT(.table = "none", .item = "{PK: 'a'}")), SHEAF_RESOURCE_NOT_FOUND);
    assert_string_equal(t.err.message, "Requested resource not found");
    sources_print(&sources, "refusals of single writes");
}

static void test_limits__are_allowed_to_be_reached(void **state)
{
    (void)state;
    must(PUT(.table = "H", .item = with_long("{PK: '", 2048, "'}")));
    must(PUT(.item = with_long("{PK: 'a', SK: '", 1024, "'}")));
    must(PUT(.table = "H", .item = with_long("{PK: 'a', v: '", 409600 - 4, "'}")));
    must(PUT(.table = "X", .item = with_long("{a: 'a', b: 'b', d: '", 2048, "', n: 1}")));
    must(PUT(.table = "X", .item = with_long("{a: 'a', b: 'b', c: '", 1024, "'}")));
    must(UPDATE(.table = "H", .item = "{PK: 'a'}", .update = "SET v = v"));
    test_check_table(&t, "H");
    test_check_table(&t, "X");
}

/* ---- charges ---- */

struct charge {
    const char *before, *item; /* PutItem of item over before; item NULL: DeleteItem */
    size_t before_n, item_n;   /* letters in between */
    double units;
};

static const struct charge charges[] = {
    {NULL, "{PK: 'a', v: '", 0, 1020, 1}, /* 1,024 bytes */
    {NULL, "{PK: 'a', v: '", 0, 1021, 2},
    {"{PK: 'a', v: '", "{PK: 'a', v: '", 4000, 10, 4}, /* the larger image */
    {"{PK: 'a', v: '", "{PK: 'a', v: '", 10, 4000, 4},
    {"{PK: 'a', v: '", NULL, 4000, 0, 4},
    {NULL, NULL, 0, 0, 1},
};

static void test_capacity__is_of_the_larger_image_in_whole_kilobytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof charges / sizeof *charges; i++) {
        const struct charge *x = &charges[i];
        must(DELETE(.table = "H", .item = "{PK: 'a'}"));
        if (x->before) must(PUT(.table = "H", .item = with_long(x->before, x->before_n, "'}")));
        if (x->item)
            must(PUT(.table = "H", .item = with_long(x->item, x->item_n, "'}"),
                     .capacity = CORE_CAPACITY_TOTAL));
        else
            must(DELETE(.table = "H", .item = "{PK: 'a'}", .capacity = CORE_CAPACITY_TOTAL));
        if (out.capacity.units != x->units)
            fail_msg("charge %zu: %g units, wanted %g", i, out.capacity.units, x->units);
        assert_span(out.capacity.table, "H");
        assert_true(out.capacity.is_write);
        assert_int_equal(out.capacity.n_arms, 0);
    }
}

/* ---- conflicts ---- */

/* A clock that writes to the table under the body that asks it for the time. */
struct meddler {
    struct clock_source base;
    struct core *core;
    int left; /* how often still */
    const char *item;
    bool is_inside;
};

static int64_t meddle(struct clock_source *self)
{
    struct meddler *m = (struct meddler *)self;
    int64_t now = clock_now_us(clock_system());
    if (!m->core || m->is_inside || m->left == 0) return now;
    m->left--;
    m->is_inside = true;
    struct core_test inner = {.core = m->core};
    arena_init(&inner.arena, 1 << 20);
    inner.ctx = (struct ctx){&inner.arena, &inner.err};
    struct core_write_item q = {.write = {.action = CORE_UPDATE,
                                          .table = SPAN_LIT("T"),
                                          .item = test_item(&inner, m->item),
                                          .update = SPAN_LIT("ADD v :one"),
                                          .env = test_env(&inner.arena, NULL, "{':one': 1}")}};
    struct core_write_outcome ignored;
    assert_ok(core_write_item(m->core, &inner.ctx, &q, &ignored));
    arena_deinit(&inner.arena);
    m->is_inside = false;
    return now;
}

static uint64_t system_mono(struct clock_source *self)
{
    (void)self;
    return clock_mono_ns(clock_system());
}

static void no_sleep(struct clock_source *self, uint64_t ns) { (void)self, (void)ns; }

static void test_conflict__is_replayed_without_a_lost_update(void **state)
{
    (void)state;
    core_test_deinit(&t);
    struct meddler m = {.base = {meddle, system_mono, no_sleep}, .item = "{PK: 'a', SK: 'b'}"};
    core_test_init(&t, &(struct core_options){.clock = &m.base});
    test_table(t.core, "T", "PK:S", "SK:S", "g(v:N) ALL");
    m.core = t.core;
    m.left = 5;
    must(UPDATE(.item = "{PK: 'a', SK: 'b'}", .update = "ADD v :x", .values = "{':x': 100}",
                .returns = CORE_UPDATED_NEW));
    assert_string_equal(test_text(&t, out.attributes), "{v: 105}");
    m.left = 1; /* the condition is true of stale bytes only */
    assert_rc(send(PUT(.item = "{PK: 'a', SK: 'b', v: 0}", .condition = "v = :x",
                       .values = "{':x': 105}")),
              SHEAF_CONDITIONAL_CHECK_FAILED);
    m.left = 1; /* and here false of stale bytes only */
    must(PUT(.item = "{PK: 'a', SK: 'b', v: 0}", .condition = "v = :x", .values = "{':x': 107}"));
    m.left = -1;
    assert_rc(send(PUT(.item = "{PK: 'a', SK: 'b', v: 0}")), SHEAF_TRANSACTION_CONFLICT);
    assert_string_equal(t.err.message, "Transaction is ongoing for the item");
    m.left = 0;
    test_check_table(&t, "T");
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 150 };

/* Counts up one item, and moves one from left to right in transactions. */
static void *count_and_move(void *ctx)
{
    struct core *core = ctx;
    uint64_t failures = 0;
    struct arena arena;
    arena_init(&arena, 4 << 20);
    for (int i = 0; i < ROUNDS; i++) {
        sheaf_error err;
        struct ctx c = {&arena, &err};
        struct core_write_outcome one;
        struct core_multi_outcome many;
        struct core_write_item q = {.write = {.action = CORE_UPDATE,
                                              .table = SPAN_LIT("T"),
                                              .item = doc_text_item(&arena, "{PK: 'n', SK: 'n'}"),
                                              .update = SPAN_LIT("ADD v :x"),
                                              .env = test_env(&arena, NULL, "{':x': 1}")}};
        if (core_write_item(core, &c, &q, &one) != SHEAF_OK) failures++;
        struct core_write moves[2] = {{.action = CORE_UPDATE,
                                       .table = SPAN_LIT("T"),
                                       .item = doc_text_item(&arena, "{PK: 'm', SK: 'left'}"),
                                       .update = SPAN_LIT("ADD v :x"),
                                       .env = test_env(&arena, NULL, "{':x': -1}")},
                                      {.action = CORE_UPDATE,
                                       .table = SPAN_LIT("T"),
                                       .item = doc_text_item(&arena, "{PK: 'm', SK: 'right'}"),
                                       .update = SPAN_LIT("ADD v :x"),
                                       .env = test_env(&arena, NULL, "{':x': 1}")}};
        struct core_transact_write tq = {.writes = moves, .n = 2};
        sheaf_rc rc = core_transact_write(core, &c, &tq, &many);
        while (rc == SHEAF_TRANSACTION_CANCELED) {
            for (int k = 0; k < 2; k++)
                moves[k].env = test_env(&arena, NULL, k ? "{':x': 1}" : "{':x': -1}");
            rc = core_transact_write(core, &c, &tq, &many);
        }
        if (rc != SHEAF_OK) failures++;
        arena_reset(&arena);
    }
    arena_deinit(&arena);
    return (void *)(uintptr_t)failures;
}

static void test_threads__lose_no_update(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    core_test_deinit(&t);
    core_test_init(&t, NULL);
    test_table(t.core, "T", "PK:S", "SK:S", "g(v:N) ALL; local l(PK:S|v:N) ALL");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_and_move, t.core), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failures;
        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_null(failures);
    }
    assert_string_equal(test_get(&t, "T", "{PK: 'n', SK: 'n'}"), "{PK: 'n', SK: 'n', v: 600}");
    assert_string_equal(test_get(&t, "T", "{PK: 'm', SK: 'left'}"),
                        "{PK: 'm', SK: 'left', v: -600}");
    assert_string_equal(test_get(&t, "T", "{PK: 'm', SK: 'right'}"),
                        "{PK: 'm', SK: 'right', v: 600}");
    test_check_table(&t, "T");
}

/* ---- memory ---- */

static const struct req hungry[] = {
    {P, .table = "X", .item = "{a: 'k', b: 'l', c: 'c', d: 'e', n: 2, v: 'new'}",
     .condition = "attribute_exists(v) AND #v = :v", .names = "{'#v': 'v'}",
     .values = "{':v': 'old'}", .returns = CORE_ALL_OLD, .capacity = CORE_CAPACITY_INDEXES,
     .wants_metrics = true},
    {P, .table = "X", .item = "{a: 'k', b: 'l'}", .condition = "v = :v", .values = "{':v': 'no'}",
     .capacity = CORE_CAPACITY_INDEXES, .wants_old = true},
    {U, .table = "X", .item = "{a: 'k', b: 'l'}", .update = "SET v = :v REMOVE c ADD n :one",
     .values = "{':v': 'new', ':one': 1}", .returns = CORE_UPDATED_NEW,
     .capacity = CORE_CAPACITY_INDEXES},
    {D, .table = "X", .item = "{a: 'k', b: 'l'}", .returns = CORE_ALL_OLD,
     .capacity = CORE_CAPACITY_INDEXES},
};

static void test_memory__can_run_out_anywhere_and_nothing_is_half_written(void **state)
{
    (void)state;
    static const char before[] = "{a: 'k', b: 'l', c: 'd', d: 'e', n: 1, v: 'old'}";
    for (size_t i = 0; i < sizeof hungry / sizeof *hungry; i++) {
        sheaf_rc rc = SHEAF_NOMEM;
        uint64_t nth = 1;
        bool is_reached = true; /* some failures are survived: go on until none comes to pass */
        uint64_t refused = 0;
        for (; is_reached; nth++) {
            test_put(&t, "X", before);
            struct req r = hungry[i];
            struct core_write_item q = {.write = {.action = r.action,
                                                  .table = span_cstr(r.table),
                                                  .item = test_item(&t, r.item),
                                                  .update = text_or_none(r.update),
                                                  .condition = text_or_none(r.condition),
                                                  .env = test_env(&t.arena, r.names, r.values),
                                                  .wants_old_on_failure = r.wants_old},
                                        .returns = r.returns,
                                        .capacity = r.capacity,
                                        .wants_metrics = r.wants_metrics};
            struct arena arena; /* a new one: the request takes its memory from the heap */
            arena_init(&arena, 1 << 20);
            struct ctx c = {&arena, &t.err};
            uint64_t count = mem_count();
            mem_fail_at(nth, false);
            rc = core_write_item(t.core, &c, &q, &out);
            mem_fail_at(0, false);
            is_reached = mem_count() - count >= nth;
            arena_deinit(&arena);
            refused += rc == SHEAF_NOMEM;
            if (rc == SHEAF_NOMEM)
                assert_string_equal(test_get(&t, "X", "{a: 'k', b: 'l'}"), before);
            test_check_table(&t, "X");
        }
        if (rc != SHEAF_OK) assert_int_equal(rc, SHEAF_CONDITIONAL_CHECK_FAILED);
        assert_true(refused > 1);
    }
}

/* ---- schemas that change ---- */

static void add_index(struct core *core, struct table *table)
{
    struct core_index_def def = {.name = SPAN_LIT("late"),
                                 .n_hash = 1,
                                 .hash = {{SPAN_LIT("v"), VAL_S}},
                                 .projection = CORE_PROJECT_ALL};
    if (!table_dup_index(&table->arena, &def)) fail();
    table->indexes[table->n_indexes++] = (struct table_index){.def = def,
                                                              .space = cat_take_number(core),
                                                              .status = CORE_CREATING,
                                                              .is_backfilling = true};
}

static void test_schema__that_changed_is_seen_by_the_next_write(void **state)
{
    (void)state;
    must(PUT(.item = "{PK: 'a', SK: 'b', v: 'old'}"));
    const struct table *x = test_change_table(t.core, "T", add_index);
    /* Nobody has filled the index: the old entry is missing, and is not counted out. */
    must(PUT(.item = "{PK: 'a', SK: 'b', v: 'new'}", .capacity = CORE_CAPACITY_INDEXES));
    assert_true(out.capacity.units == 3);
    assert_int_equal(test_stats(&t, x, x->indexes[0].space, NULL).items, 1);
    assert_int_equal(test_walk(&t, x->indexes[0].space).items, 1);
    must(PUT(.item = "{PK: 'a', SK: 'b', v: 'newer'}"));
    must(PUT(.item = "{PK: 'a', SK: 'c', v: 'newer'}"));
    assert_int_equal(test_stats(&t, x, x->indexes[0].space, NULL).items, 2);
    must(DELETE(.item = "{PK: 'a', SK: 'b'}"));
    test_check_table(&t, "T");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_put_item__stores_and_replaces),
        CASE(test_delete_item__removes_and_returns_what_was),
        CASE(test_condition__is_judged_on_the_item_as_it_was),
        CASE(test_condition__of_a_missing_item_sees_no_attributes),
        CASE(test_condition__hides_a_faulty_update),
        CASE(test_update_item__changes_and_returns_by_table),
        CASE(test_refusals__have_the_services_words_and_write_nothing),
        CASE(test_limits__are_allowed_to_be_reached),
        CASE(test_capacity__is_of_the_larger_image_in_whole_kilobytes),
        CASE(test_conflict__is_replayed_without_a_lost_update),
        CASE(test_threads__lose_no_update),
        CASE(test_memory__can_run_out_anywhere_and_nothing_is_half_written),
        CASE(test_schema__that_changed_is_seen_by_the_next_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
