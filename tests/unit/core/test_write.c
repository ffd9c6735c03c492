/* PutItem, UpdateItem and DeleteItem: what they make of an item, what they return, what they refuse
 * and in which words, what they cost. Entries of indexes are in test_effects.c. */
#include "support/core_support.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_put_item__stores_and_replaces),
        CASE(test_delete_item__removes_and_returns_what_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
