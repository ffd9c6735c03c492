/* TransactWriteItems: all or nothing, reasons in order, tokens, conflicts and unknown outcomes. */
#include "support/core_support.h"

#include "base/mem.h"
#include "core/token.h"
#include "engine/fault/fault.h"
#include "support/exprs.h"

#define INVALID "One or more parameter values were invalid: "
#define NOT_VALID "One or more parameter values are not valid. "
#define NO_MATCH "The provided key element does not match the schema"
#define EMPTY_KEY "The AttributeValue for a key attribute cannot contain an empty "
#define CANCELLED "Transaction cancelled, please refer cancellation reasons for specific reasons "
#define FAILED "The conditional request failed"
#define ONGOING "Transaction is ongoing for the item"

struct act {
    enum core_action action;
    const char *table, *item, *update, *condition, *values;
    bool wants_old;
};

static struct core_test t;
static struct core_multi_outcome out;
static sheaf_engine *faulty; /* when the engine under test is wrapped */
static struct clock_manual hands;

#define P .action = CORE_PUT
#define U .action = CORE_UPDATE
#define D .action = CORE_DELETE
#define C .action = CORE_CHECK

static struct core_write *writes_of(const struct act *all, uint32_t n)
{
    struct core_write *writes = ARENA_ARRAY(&t.arena, struct core_write, n + 1);
    for (uint32_t i = 0; i < n; i++)
        writes[i] = (struct core_write){
            .action = all[i].action,
            .table = span_cstr(all[i].table ? all[i].table : "H"),
            .item = test_item(&t, all[i].item),
            .update = all[i].update ? span_cstr(all[i].update) : SPAN_NONE,
            .condition = all[i].condition ? span_cstr(all[i].condition) : SPAN_NONE,
            .env = test_env(&t.arena, NULL, all[i].values),
            .wants_old_on_failure = all[i].wants_old};
    return writes;
}

static sheaf_rc send_with(const struct act *all, uint32_t n, const char *token)
{
    struct core_transact_write q = {.writes = writes_of(all, n),
                                    .n = n,
                                    .token = token ? span_cstr(token) : SPAN_NONE,
                                    .capacity = CORE_CAPACITY_INDEXES,
                                    .wants_metrics = true};
    return core_transact_write(t.core, &t.ctx, &q, &out);
}

#define SEND(...)                                                                                  \
    send_with((const struct act[]){__VA_ARGS__},                                                   \
              sizeof((const struct act[]){__VA_ARGS__}) / sizeof(struct act), NULL)
#define SEND_WITH(token, ...)                                                                      \
    send_with((const struct act[]){__VA_ARGS__},                                                   \
              sizeof((const struct act[]){__VA_ARGS__}) / sizeof(struct act), token)

static void make_tables(void)
{
    test_table(t.core, "H", "pk:S", NULL, NULL);
    test_table(t.core, "X", "pk:S", "sk:S", "gsi1(x:S) ALL; local lsi1(pk:S|x:S) ALL");
    test_table(t.core, "Y", "pk:S", NULL, "gsib(bidx:B) ALL");
}

static void open_on(const struct sheaf_mem_options *mem_options)
{
    sheaf_engine *mem;
    clock_manual_init(&hands, INT64_C(1800000000) * 1000000);
    assert_ok(sheaf_engine_open_mem(mem_options, &mem, NULL));
    assert_ok(fault_open(mem, &(struct fault_options){.n_rules = 0}, &faulty, NULL));
    core_test_init_on(&t, faulty,
                      &(struct core_options){.clock = &hands.base, .max_collection_bytes = 20000});
    make_tables();
}

static int setup(void **state)
{
    (void)state;
    open_on(NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

static void check_all(void)
{
    test_check_table(&t, "H");
    test_check_table(&t, "X");
    test_check_table(&t, "Y");
}

static void set_faults(const struct fault_rule *rules, size_t n)
{
    assert_ok(fault_set(faulty, &(struct fault_options){.rules = rules, .n_rules = n}, NULL));
}

/* ---- all ---- */

static void test_transaction__does_everything_at_once(void **state)
{
    (void)state;
    test_put(&t, "H", "{pk: 'b', n: 1}");
    test_put(&t, "H", "{pk: 'c'}");
    test_put(&t, "H", "{pk: 'd', ok: true}");
    assert_ok(SEND({P, .item = "{pk: 'a', v: 1}"},
                   {U, .item = "{pk: 'b'}", .update = "ADD n :one", .values = "{':one': 1}"},
                   {D, .item = "{pk: 'c'}", .condition = "attribute_exists(pk)"},
                   {C, .item = "{pk: 'd'}", .condition = "ok = :t", .values = "{':t': true}"},
                   {P, .table = "X", .item = "{pk: 'p', sk: 's', x: 'x'}"}));
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{pk: 'a', v: 1}");
    assert_string_equal(test_get(&t, "H", "{pk: 'b'}"), "{n: 2, pk: 'b'}");
    assert_string_equal(test_get(&t, "H", "{pk: 'c'}"), "-");
    assert_string_equal(test_get(&t, "H", "{pk: 'd'}"), "{ok: true, pk: 'd'}");
    assert_int_equal(out.n, 5);
    assert_int_equal(out.n_capacity, 2);
    assert_true(out.capacity[0].units == 8); /* twice for each */
    assert_true(out.capacity[1].units == 4); /* twice for the table, once for each index */
    assert_int_equal(out.capacity[1].n_arms, 3);
    assert_true(out.capacity[1].arms[0].units == 2);
    assert_int_equal(out.n_metrics, 1);
    assert_int_equal(out.metrics[0].bytes, 16);
    assert_true(out.position > 0);
    check_all();
}

/* ---- or nothing ---- */

struct cancellation {
    struct act acts[3];
    const char *message;
    struct {
        sheaf_rc rc;
        const char *message, *old_item;
    } reasons[3];
    const char *source;
};

#define OK_                                                                                        \
    {                                                                                              \
        SHEAF_OK, "", "-"                                                                          \
    }
#define BAD(text)                                                                                  \
    {                                                                                              \
        SHEAF_VALIDATION, text, "-"                                                                \
    }
#define GOOD_PUT                                                                                   \
    {                                                                                              \
        P, .item = "{pk: 'fresh'}"                                                                 \
    }

static const struct cancellation cancellations[] = {
    {{{P, .item = "{pk: 'one', v: 2}", .condition = "attribute_not_exists(pk)"},
      {P, .item = "{pk: 'two', v: 2}", .condition = "attribute_not_exists(pk)"}},
     CANCELLED "[ConditionalCheckFailed, ConditionalCheckFailed]",
     {{SHEAF_CONDITIONAL_CHECK_FAILED, FAILED, "-"}, {SHEAF_CONDITIONAL_CHECK_FAILED, FAILED, "-"}},
     PARITY},
    {{{P, .item = "{pk: 'fresh'}", .condition = "attribute_not_exists(pk)"},
      {P, .item = "{pk: 'one'}", .condition = "attribute_not_exists(pk)", .wants_old = true}},
     CANCELLED "[None, ConditionalCheckFailed]",
     {OK_, {SHEAF_CONDITIONAL_CHECK_FAILED, FAILED, "{pk: 'one', v: 1}"}},
     PARITY},
    {{{C, .item = "{pk: 'gone'}", .condition = "attribute_exists(pk)", .wants_old = true},
      GOOD_PUT},
     CANCELLED "[ConditionalCheckFailed, None]",
     {{SHEAF_CONDITIONAL_CHECK_FAILED, FAILED, "-"}, OK_},
     PARITY},
    {{{P, .item = "{pk: 5}"}},
     CANCELLED "[ValidationError]",
     {BAD(INVALID "Type mismatch for key pk expected: S actual: N")},
     PARITY},
    {{{P, .item = "{pk: ['x']}"}, {P, .item = "{pk: 'one'}", .condition = "v = pk"}},
     CANCELLED "[ValidationError, ConditionalCheckFailed]",
     {BAD(INVALID "Type mismatch for key pk expected: S actual: L"),
      {SHEAF_CONDITIONAL_CHECK_FAILED, FAILED, "-"}},
     PARITY},
    {{{P, .item = "{v: 1}"}},
     CANCELLED "[ValidationError]",
     {BAD(INVALID "Missing the key pk in the item")},
     UNVERIFIED},
    {{{U, .item = "{pk: 5}", .update = "REMOVE v"}},
     CANCELLED "[ValidationError]",
     {BAD(NO_MATCH)},
     PARITY},
    {{{D, .item = "{pk: ['x']}"}}, CANCELLED "[ValidationError]", {BAD(NO_MATCH)}, PARITY},
    {{{C, .item = "{pk: 5}", .condition = "attribute_not_exists(pk)"}},
     CANCELLED "[ValidationError]",
     {BAD(NO_MATCH)},
     PARITY},
    {{{P, .table = "X", .item = "{pk: 'p', sk: 'a', x: 5}"}},
     CANCELLED "[ValidationError]",
     {BAD(INVALID "Type mismatch for Index Key x Expected: S Actual: N IndexName: gsi1")},
     PARITY},
    {{{U, .table = "X", .item = "{pk: 'p', sk: 'a'}", .update = "SET x = :v",
       .values = "{':v': ['x']}"}},
     CANCELLED "[ValidationError]",
     {BAD(INVALID "Type mismatch for Index Key x Expected: S Actual: L IndexName: gsi1")},
     PARITY},
    {{GOOD_PUT, {U, .item = "{pk: 'one'}", .update = "SET w = pk + :one", .values = "{':one': 1}"}},
     CANCELLED "[None, ValidationError]",
     {OK_, BAD("An operand in the update expression has an incorrect data type")},
     PARITY},
    {{GOOD_PUT, {U, .item = "{pk: 'big'}", .update = "SET w = v"}},
     CANCELLED "[None, ValidationError]",
     {OK_, BAD("Item size to update has exceeded the maximum allowed size")},
     PARITY},
    {{GOOD_PUT, {U, .item = "{pk: 'one'}", .update = "SET pk = :v", .values = "{':v': 'x'}"}},
     CANCELLED "[None, ValidationError]",
     {OK_, BAD(INVALID "Cannot update attribute pk. This attribute is part of the key")},
     UNVERIFIED},
};

static char *big_item(const char *before, size_t n)
{
    char *text = arena_alloc(&t.arena, n + strlen(before) + 8);
    size_t at = strlen(before);
    memcpy(text, before, at);
    memset(text + at, 'k', n);
    memcpy(text + at + n, "'}", 3);
    return text;
}

static void test_cancellation__names_a_reason_for_each_action_and_writes_nothing(void **state)
{
    (void)state;
    struct sources sources = {0, 0};
    test_put(&t, "H", "{pk: 'one', v: 1}");
    test_put(&t, "H", "{pk: 'two', v: 1}");
    test_put(&t, "H", big_item("{pk: 'big', v: '", 300000));
    struct sheaf_engine_stats before, after;
    eng_stats(t.engine, &before);
    for (size_t i = 0; i < sizeof cancellations / sizeof *cancellations; i++) {
        const struct cancellation *x = &cancellations[i];
        uint32_t n = 0;
        while (n < 3 && x->acts[n].item) n++;
        if (send_with(x->acts, n, NULL) != SHEAF_TRANSACTION_CANCELED ||
            strcmp(t.err.message, x->message) != 0)
            fail_msg("cancellation %zu: \"%s\", wanted \"%s\"", i, t.err.message, x->message);
        assert_int_equal(out.n, n);
        for (uint32_t k = 0; k < n; k++) {
            assert_int_equal(out.written[k].rc, x->reasons[k].rc);
            assert_string_equal(out.written[k].message, x->reasons[k].message);
            assert_string_equal(test_text(&t, out.written[k].old_item), x->reasons[k].old_item);
        }
        eng_stats(t.engine, &after);
        assert_int_equal(after.keys, before.keys);
        sources_count(&sources, x->source);
    }
    sources_print(&sources, "cancellations");
    check_all();
}

struct refusal {
    struct act acts[2];
    const char *message, *source;
};

static const struct refusal refusals[] = {
    {{{P, .item = "{pk: 'a'}"}, {P, .item = "{pk: 'a'}"}},
     "Transaction request cannot include multiple operations on one item",
     PARITY},
    {{{C, .item = "{pk: 'a'}", .condition = "attribute_exists(pk)"}, {D, .item = "{pk: 'a'}"}},
     "Transaction request cannot include multiple operations on one item",
     PARITY},
    {{GOOD_PUT, {P, .item = "{pk: ''}"}}, NOT_VALID EMPTY_KEY "string value. Key: pk", PARITY},
    {{GOOD_PUT, {U, .item = "{pk: ''}", .update = "REMOVE v"}},
     NOT_VALID EMPTY_KEY "string value. Key: pk",
     PARITY},
    {{GOOD_PUT, {C, .item = "{pk: ''}", .condition = "attribute_exists(pk)"}},
     NOT_VALID EMPTY_KEY "string value. Key: pk",
     PARITY},
    {{GOOD_PUT, {P, .table = "X", .item = "{pk: 'p', sk: 's', x: ''}"}},
     NOT_VALID "A value specified for a secondary index key is not supported. " EMPTY_KEY
               "string value. IndexName: gsi1, IndexKey: x",
     PARITY},
    {{GOOD_PUT, {P, .table = "Y", .item = "{pk: 'p', bidx: b''}"}},
     NOT_VALID "A value specified for a secondary index key is not supported. " EMPTY_KEY
               "binary value. IndexName: gsib, IndexKey: bidx",
     PARITY},
    {{GOOD_PUT,
      {U, .table = "Y", .item = "{pk: 'p'}", .update = "SET bidx = :v", .values = "{':v': b''}"}},
     NOT_VALID "The update expression attempted to update a secondary index key to a value that is "
               "not supported. " EMPTY_KEY "binary value.",
     PARITY},
    /* a malformed expression wins over a missing table, an unused value too */
    {{{P, .table = "none", .item = "{pk: 'a'}"},
      {C, .item = "{pk: 'a'}", .condition = "attribute_not_exists("}},
     "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"",
     PARITY},
    {{{P, .table = "none", .item = "{pk: 'a'}"},
      {C, .item = "{pk: 'a'}", .condition = "attribute_exists(pk)", .values = "{':v': 'x'}"}},
     "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}",
     PARITY},
    {{GOOD_PUT, {C, .item = "{pk: 'a'}"}},
     "1 validation error detected: Value null at "
     "'transactItems.2.member.conditionCheck.conditionExpression' failed to satisfy constraint: "
     "Member must not be null",
     UNVERIFIED},
};

static void test_refusals__come_before_the_transaction(void **state)
{
    (void)state;
    struct sources sources = {0, 0};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *x = &refusals[i];
        if (send_with(x->acts, 2, NULL) != SHEAF_VALIDATION ||
            strcmp(t.err.message, x->message) != 0)
            fail_msg("refusal %zu: \"%s\", wanted \"%s\"", i, t.err.message, x->message);
        assert_null(out.written);
        sources_count(&sources, x->source);
    }
    assert_rc(SEND({P, .item = "{pk: 'a'}"}, {P, .table = "none", .item = "{pk: 'a'}"}),
              SHEAF_RESOURCE_NOT_FOUND);
    assert_string_equal(t.err.message, "Requested resource not found");
    assert_rc(SEND({P, .item = big_item("{pk: 'a', v: '", 409600 - 3)}), SHEAF_VALIDATION);
    assert_string_equal(t.err.message, "Item size has exceeded the maximum allowed size");
    struct table *h = cat_find(t.core, SPAN_LIT("H"));
    assert_int_equal(test_walk(&t, h->space).items, 0);
    table_unref(h);
    sources_print(&sources, "refusals of transactions");
}

static void test_limits__100_actions_and_4_megabytes(void **state)
{
    (void)state;
    struct act all[101];
    for (int i = 0; i < 101; i++) {
        char *item = arena_alloc(&t.arena, 32);
        sprintf(item, "{pk: 'k%d'}", i);
        all[i] = (struct act){P, .item = item};
    }
    assert_ok(send_with(all, 100, NULL));
    assert_rc(send_with(all, 101, NULL), SHEAF_VALIDATION);
    assert_string_equal(t.err.message,
                        "1 validation error detected: Value at 'TransactItems' failed to satisfy "
                        "constraint: Member must have length less than or equal to 100");
    assert_rc(send_with(all, 0, NULL), SHEAF_VALIDATION);
    assert_string_equal(t.err.message,
                        "1 validation error detected: Value at 'TransactItems' failed to satisfy "
                        "constraint: Member must have length greater than or equal to 1");
    for (int i = 0; i < 12; i++) {
        char head[32];
        sprintf(head, "{pk: 'm%d', v: '", i);
        all[i].item = big_item(head, 350000);
    }
    assert_rc(send_with(all, 12, NULL), SHEAF_VALIDATION);
    assert_ok(send_with(all, 11, NULL));
    test_check_table(&t, "H");
}

static void test_collection__limit_counts_all_actions_together(void **state)
{
    (void)state;
    char *one = big_item("{pk: 'p', sk: '1', v: '", 9000),
         *two = big_item("{pk: 'p', sk: '2', v: '", 9000),
         *three = big_item("{pk: 'p', sk: '3', v: '", 9000);
    assert_rc(SEND({P, .table = "X", .item = one}, {P, .table = "X", .item = two},
                   {P, .table = "X", .item = three}),
              SHEAF_TRANSACTION_CANCELED);
    assert_string_equal(t.err.message, CANCELLED "[None, None, ItemCollectionSizeLimitExceeded]");
    assert_string_equal(out.written[2].message, "Collection size exceeded.");
    assert_ok(SEND({P, .table = "X", .item = one}, {P, .table = "X", .item = two}));
    assert_int_equal(out.n_metrics, 1);
    assert_int_equal(out.metrics[0].bytes, 2 * 9007);
    check_all();
}

/* ---- tokens ---- */

static void test_token__makes_a_repeated_request_harmless(void **state)
{
    (void)state;
    static const struct act add = {U, .item = "{pk: 'a'}", .update = "ADD n :one",
                                   .values = "{':one': 1}"};
    assert_ok(send_with(&add, 1, "token-1"));
    assert_true(out.capacity[0].is_write && out.capacity[0].units == 2);
    assert_ok(send_with(&add, 1, "token-1"));
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{n: 1, pk: 'a'}");
    assert_true(!out.capacity[0].is_write && out.capacity[0].units == 2); /* charged as a read */
    assert_int_equal(out.written[0].rc, SHEAF_OK);
    assert_ok(send_with(&add, 1, "token-2"));
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{n: 2, pk: 'a'}");
    clock_manual_advance(&hands, TOKEN_LIFE_US - 1);
    assert_ok(send_with(&add, 1, "token-1"));
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{n: 2, pk: 'a'}");
    clock_manual_advance(&hands, 1);
    assert_ok(send_with(&add, 1, "token-1")); /* ten minutes are over: a new request */
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{n: 3, pk: 'a'}");
    check_all();
}

static void test_token__of_another_request_is_a_mismatch(void **state)
{
    (void)state;
    static const struct act base = {U, .item = "{pk: 'a'}", .update = "SET n = :one",
                                    .condition = "attribute_not_exists(x)",
                                    .values = "{':one': 1}"};
    assert_ok(send_with(&base, 1, "token"));
    struct act others[] = {base, base, base, base, base, base};
    others[0].item = "{pk: 'b'}";
    others[1].update = "SET n=:one";
    others[2].condition = NULL;
    others[3].values = "{':one': 2}";
    others[4].table = "Y";
    others[5].wants_old = true;
    for (size_t i = 0; i < 6; i++)
        assert_rc(send_with(&others[i], 1, "token"), SHEAF_IDEMPOTENT_MISMATCH);
    assert_rc(SEND_WITH("token", base, GOOD_PUT), SHEAF_IDEMPOTENT_MISMATCH);
    assert_ok(send_with(&base, 1, "token"));
    check_all();
}

static void test_token__of_a_cancelled_transaction_is_not_kept(void **state)
{
    (void)state;
    static const struct act check = {C, .item = "{pk: 'a'}", .condition = "attribute_exists(pk)"};
    assert_rc(SEND_WITH("token", check, GOOD_PUT), SHEAF_TRANSACTION_CANCELED);
    test_put(&t, "H", "{pk: 'a'}");
    assert_ok(SEND_WITH("token", check, GOOD_PUT));
    assert_string_equal(test_get(&t, "H", "{pk: 'fresh'}"), "{pk: 'fresh'}");
}

static void test_token__is_1_to_36_characters(void **state)
{
    (void)state;
    static const struct act put = GOOD_PUT;
    assert_ok(send_with(&put, 1, "123456789012345678901234567890123456"));
    assert_rc(send_with(&put, 1, "1234567890123456789012345678901234567"), SHEAF_VALIDATION);
    assert_string_equal(t.err.message,
                        "1 validation error detected: Value at 'ClientRequestToken' failed to "
                        "satisfy constraint: Member must have length less than or equal to 36");
    assert_rc(send_with(&put, 1, ""), SHEAF_VALIDATION);
}

/* ---- conflicts and unknown outcomes ---- */

static void test_conflict__is_replayed_then_cancels(void **state)
{
    (void)state;
    static const struct act acts[] = {
        {C, .item = "{pk: 'x'}", .condition = "attribute_not_exists(pk)"},
        {U, .item = "{pk: 'a'}", .update = "ADD n :one", .values = "{':one': 1}"}};
    const struct fault_rule thrice[] = {{.call = FAULT_COMMIT, .action = FAULT_CONFLICT, .nth = 1},
                                        {.call = FAULT_COMMIT, .action = FAULT_CONFLICT, .nth = 2},
                                        {.call = FAULT_COMMIT, .action = FAULT_CONFLICT, .nth = 3}};
    set_faults(thrice, 3);
    assert_ok(send_with(acts, 2, NULL));
    assert_int_equal(fault_calls(faulty, FAULT_COMMIT), 4);
    const struct fault_rule always = {
        .call = FAULT_COMMIT, .action = FAULT_CONFLICT, .nth = 1, .every = 1};
    set_faults(&always, 1);
    assert_rc(send_with(acts, 2, "token"), SHEAF_TRANSACTION_CANCELED);
    assert_string_equal(t.err.message, CANCELLED "[TransactionConflict, None]");
    assert_string_equal(out.written[0].message, ONGOING);
    set_faults(NULL, 0);
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{n: 1, pk: 'a'}");
    assert_ok(send_with(acts, 2, "token")); /* the token was not used up */
    check_all();
}

/* A clock that does something whenever the body asks it for the time. */
struct meddler {
    struct clock_source base;
    struct core *core;
    void (*act)(struct core_test *inner);
    bool is_once;
    bool is_inside;
};

static int64_t meddle(struct clock_source *self)
{
    struct meddler *m = (struct meddler *)self;
    if (!m->core || m->is_inside) return 1;
    m->is_inside = true;
    struct core_test inner = {.core = m->core};
    arena_init(&inner.arena, 8 << 20);
    inner.ctx = (struct ctx){&inner.arena, &inner.err};
    m->act(&inner);
    arena_deinit(&inner.arena);
    m->is_inside = false;
    if (m->is_once) m->core = NULL;
    return 1;
}

static void count_up(struct core_test *inner)
{
    struct core_write_item q = {.write = {.action = CORE_UPDATE,
                                          .table = SPAN_LIT("H"),
                                          .item = test_item(inner, "{pk: 'hot'}"),
                                          .update = SPAN_LIT("ADD n :one"),
                                          .env = test_env(&inner->arena, NULL, "{':one': 1}")}};
    struct core_write_outcome ignored;
    assert_ok(core_write_item(inner->core, &inner->ctx, &q, &ignored));
}

static uint64_t no_time(struct clock_source *self)
{
    (void)self;
    return 1;
}

static void no_sleep(struct clock_source *self, uint64_t ns) { (void)self, (void)ns; }

static void test_conflict__is_blamed_on_the_item_that_was_written(void **state)
{
    (void)state;
    core_test_deinit(&t);
    struct meddler m = {.base = {meddle, no_time, no_sleep}, .act = count_up};
    core_test_init(&t, &(struct core_options){.clock = &m.base});
    make_tables();
    m.core = t.core;
    assert_rc(SEND({P, .item = "{pk: 'calm'}"},
                   {C, .item = "{pk: 'hot'}", .condition = "attribute_exists(pk)"},
                   {D, .item = "{pk: 'calm2'}"}),
              SHEAF_TRANSACTION_CANCELED);
    m.core = NULL;
    assert_string_equal(t.err.message, CANCELLED "[None, TransactionConflict, None]");
    assert_string_equal(test_get(&t, "H", "{pk: 'calm'}"), "-");
    check_all();
}

enum { MANY = 60 };

/* Enough actions that what an attempt made goes back to the system before the next one. */
static const struct core_transact_write *many(struct core_test *of)
{
    struct core_transact_write *q = ARENA_NEW(&of->arena, struct core_transact_write);
    struct core_write *writes = ARENA_ARRAY(&of->arena, struct core_write, MANY);
    char key[64];
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "{pk: 'p%d', sk: 's'}", i);
        writes[i] =
            (struct core_write){.action = CORE_UPDATE,
                                .table = SPAN_LIT("X"),
                                .item = test_item(of, key),
                                .update = SPAN_LIT("ADD n :one SET x = :x"),
                                .env = test_env(&of->arena, NULL, "{':one': 1, ':x': 'x'}")};
    }
    *q = (struct core_transact_write){.writes = writes, .n = MANY, .token = SPAN_LIT("token")};
    return q;
}

static void send_many(struct core_test *inner)
{
    struct core_multi_outcome ignored;
    assert_ok(core_transact_write(inner->core, &inner->ctx, many(inner), &ignored));
}

/* Nothing of the attempt that lost is looked at afterwards (a matter for the sanitizers). */
static void test_conflict__with_the_same_token_is_answered_by_it(void **state)
{
    (void)state;
    core_test_deinit(&t);
    struct meddler m = {.base = {meddle, no_time, no_sleep}, .act = send_many, .is_once = true};
    core_test_init(&t, &(struct core_options){.clock = &m.base});
    make_tables();
    const struct core_transact_write *q = many(&t);
    struct arena own; /* with blocks that are small beside what an attempt makes */
    arena_init(&own, 8 << 20);
    m.core = t.core;
    assert_ok(core_transact_write(t.core, &(struct ctx){&own, &t.err}, q, &out));
    assert_null(m.core);
    arena_deinit(&own);
    assert_string_equal(test_get(&t, "X", "{pk: 'p7', sk: 's'}"),
                        "{n: 1, pk: 'p7', sk: 's', x: 'x'}");
    check_all();
}

static void protect(struct core *core, struct table *table)
{
    (void)core;
    table->is_protected = true;
}

static void change_one_table(struct core_test *inner)
{
    (void)test_change_table(inner->core, "Y", protect);
}

static void test_conflict__by_a_change_of_one_table_of_two(void **state)
{
    (void)state;
    core_test_deinit(&t);
    struct meddler m = {
        .base = {meddle, no_time, no_sleep}, .act = change_one_table, .is_once = true};
    core_test_init(&t, &(struct core_options){.clock = &m.base});
    make_tables();
    m.core = t.core;
    assert_ok(SEND({U, .item = "{pk: 'a'}", .update = "ADD n :one", .values = "{':one': 1}"},
                   {P, .table = "Y", .item = "{pk: 'b'}"}, {P, .item = "{pk: 'c'}"}));
    assert_null(m.core);
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{n: 1, pk: 'a'}");
    assert_string_equal(test_get(&t, "Y", "{pk: 'b'}"), "{pk: 'b'}");
    check_all();
}

/* On an engine whose commits may be unknown, an internal token settles them. */
static void test_unknown_outcome__is_settled_by_a_token(void **state)
{
    (void)state;
    static const struct act add = {U, .item = "{pk: 'a'}", .update = "ADD n :one",
                                   .values = "{':one': 1}"};
    core_test_deinit(&t);
    open_on(&(struct sheaf_mem_options){.caps = {.is_shared = true}});
    const struct fault_rule kept = {.call = FAULT_COMMIT, .action = FAULT_UNKNOWN_KEPT, .nth = 1};
    const struct fault_rule lost = {.call = FAULT_COMMIT, .action = FAULT_UNKNOWN_LOST, .nth = 1};
    set_faults(&kept, 1);
    assert_ok(send_with(&add, 1, NULL));
    set_faults(&lost, 1);
    assert_ok(send_with(&add, 1, "token"));
    set_faults(&kept, 1);
    assert_ok(send_with(&add, 1, "token")); /* a replay by the client's token */
    set_faults(NULL, 0);
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{n: 2, pk: 'a'}");
    struct core_write_item one = {.write = *writes_of(&add, 1), .returns = CORE_UPDATED_NEW};
    struct core_write_outcome single;
    set_faults(&kept, 1);
    assert_ok(core_write_item(t.core, &t.ctx, &one, &single));
    assert_string_equal(test_text(&t, single.attributes), "{n: 3}");
    set_faults(&lost, 1);
    one.write = *writes_of(&add, 1);
    assert_ok(core_write_item(t.core, &t.ctx, &one, &single));
    assert_string_equal(test_text(&t, single.attributes), "{n: 4}");
    set_faults(NULL, 0);
    assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "{n: 4, pk: 'a'}");
    check_all();
}

static void test_engine_failures__reach_the_caller_and_leave_nothing(void **state)
{
    (void)state;
    static const struct act acts[] = {GOOD_PUT, {P, .table = "X", .item = "{pk: 'p', sk: 's'}"}};
    static const enum fault_call calls[] = {FAULT_BEGIN, FAULT_GUARD, FAULT_GET, FAULT_RANGE,
                                            FAULT_NEXT,  FAULT_PUT,   FAULT_ADD, FAULT_COMMIT};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const struct fault_rule rule = {.call = calls[i], .action = FAULT_FAIL, .nth = 1};
        set_faults(&rule, 1);
        assert_rc(send_with(acts, 2, "token"), SHEAF_IO);
        assert_null(out.written);
        assert_int_equal(fault_fired(faulty, 0), 1);
        set_faults(NULL, 0);
        check_all();
        assert_string_equal(test_get(&t, "H", "{pk: 'fresh'}"), "-");
    }
}

/* ---- memory ---- */

static void test_memory__can_run_out_anywhere_and_nothing_is_half_written(void **state)
{
    (void)state;
    static const struct act acts[] = {
        {P, .item = "{pk: 'a', v: 1}"},
        {U, .item = "{pk: 'b'}", .update = "ADD n :one", .values = "{':one': 1}"},
        {C, .item = "{pk: 'd'}", .condition = "ok = :t", .values = "{':t': true}",
         .wants_old = true},
        {P, .table = "X", .item = "{pk: 'p', sk: 's', x: 'x'}"}};
    for (int round = 0; round < 2; round++) { /* one that succeeds, one that is cancelled */
        sheaf_rc rc = SHEAF_NOMEM;
        uint64_t nth = 1, refused = 0;
        for (bool is_reached = true; is_reached; nth++) { /* some failures are survived */
            test_put(&t, "H", round ? "{pk: 'd', ok: false}" : "{pk: 'd', ok: true}");
            test_delete(&t, "H", "{pk: 'a'}");
            test_put(&t, "H", "{pk: 'b', n: 1}");
            test_delete(&t, "X", "{pk: 'p', sk: 's'}");
            char token[32];
            sprintf(token, "token %d.%d", round, (int)nth);
            struct core_transact_write q = {.writes = writes_of(acts, 4),
                                            .n = 4,
                                            .token = span_cstr(token),
                                            .capacity = CORE_CAPACITY_INDEXES,
                                            .wants_metrics = true};
            struct arena arena;
            arena_init(&arena, 1 << 20);
            struct ctx c = {&arena, &t.err};
            uint64_t count = mem_count();
            mem_fail_at(nth, false);
            rc = core_transact_write(t.core, &c, &q, &out);
            mem_fail_at(0, false);
            is_reached = mem_count() - count >= nth;
            arena_deinit(&arena);
            refused += rc == SHEAF_NOMEM;
            if (rc != SHEAF_OK) {
                assert_string_equal(test_get(&t, "H", "{pk: 'a'}"), "-");
                assert_string_equal(test_get(&t, "H", "{pk: 'b'}"), "{n: 1, pk: 'b'}");
            }
            check_all();
        }
        assert_int_equal(rc, round ? SHEAF_TRANSACTION_CANCELED : SHEAF_OK);
        assert_true(refused > 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        CASE(test_transaction__does_everything_at_once),
        CASE(test_cancellation__names_a_reason_for_each_action_and_writes_nothing),
        CASE(test_refusals__come_before_the_transaction),
        CASE(test_limits__100_actions_and_4_megabytes),
        CASE(test_collection__limit_counts_all_actions_together),
        CASE(test_token__makes_a_repeated_request_harmless),
        CASE(test_token__of_another_request_is_a_mismatch),
        CASE(test_token__of_a_cancelled_transaction_is_not_kept),
        CASE(test_token__is_1_to_36_characters),
        CASE(test_conflict__is_replayed_then_cancels),
        CASE(test_conflict__is_blamed_on_the_item_that_was_written),
        CASE(test_conflict__with_the_same_token_is_answered_by_it),
        CASE(test_conflict__by_a_change_of_one_table_of_two),
        CASE(test_unknown_outcome__is_settled_by_a_token),
        CASE(test_engine_failures__reach_the_caller_and_leave_nothing),
        CASE(test_memory__can_run_out_anywhere_and_nothing_is_half_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
