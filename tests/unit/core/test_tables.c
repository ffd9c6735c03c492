/* core: CreateTable, DescribeTable, ListTables, DeleteTable. */
#include "support/core_support.h"

#include "base/mem.h"
#include "core/tables.h"
#include "engine/fault/fault.h"

#include <inttypes.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define L(text) SPAN_LIT(text)
#define K(name_, t_)                                                                               \
    {                                                                                              \
        SPAN_LIT(name_), VAL_##t_                                                                  \
    }
#define KEY(name_, t_) ((struct core_key)K(name_, t_))
#define DEFS(...)                                                                                  \
    .definitions = (const struct core_key[]){__VA_ARGS__},                                         \
    .n_definitions = sizeof((const struct core_key[]){__VA_ARGS__}) / sizeof(struct core_key)
#define INDEXES(...)                                                                               \
    .indexes = (const struct core_index_def[]){__VA_ARGS__},                                       \
    .n_indexes =                                                                                   \
        sizeof((const struct core_index_def[]){__VA_ARGS__}) / sizeof(struct core_index_def)
#define ATTRIBUTES(...)                                                                            \
    .include = (const span[]){__VA_ARGS__},                                                        \
    .n_include = sizeof((const span[]){__VA_ARGS__}) / sizeof(span)

#define INCLUDE(...) .projection = CORE_PROJECT_INCLUDE, ATTRIBUTES(__VA_ARGS__)

/* Where a message comes from. */
#define DYNALITE "dynalite, validations/createTable.js (run against AWS)"
#define SUITE "dynamodb-conformance, error-messages/createTable.test.ts (captured on AWS)"
#define QUIRKS "ack-api-quirks, DDB-TABLE-442 (captured on AWS)"
#define QUIRKS_126 "ack-api-quirks, DDB-TABLE-126 (captured on AWS)"
#define UNVERIFIED NULL

#define INVALID "One or more parameter values were invalid: "
#define N255                                                                                       \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "a"                                                                                            \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "a"                                                                                            \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static int setup(void **state)
{
    static struct core_test t;
    core_test_init(&t, NULL);
    *state = &t;
    return 0;
}

static int teardown(void **state)
{
    core_test_deinit(*state);
    return 0;
}

static struct core_table_outcome create(struct core_test *t, const struct core_create_table *q)
{
    struct core_table_outcome out;
    if (core_create_table(t->core, &t->ctx, q, &out) != SHEAF_OK)
        fail_msg("CreateTable: %s", t->err.message);
    return out;
}

static struct core_table_info describe(struct core_test *t, span name)
{
    struct core_table_outcome out;
    if (core_describe_table(t->core, &t->ctx, name, &out) != SHEAF_OK)
        fail_msg("DescribeTable: %s", t->err.message);
    assert_int_equal(out.table.status, CORE_ACTIVE);
    return out.table;
}

static uint32_t count_tables(struct core_test *t)
{
    struct core_names_outcome names;
    assert_ok(core_list_tables(t->core, &t->ctx, &(struct core_list_tables){.limit = 0}, &names));
    return names.n;
}

/* ---- CreateTable ---- */

static void test_create__answers_creating_and_the_table_is_active_at_once(void **state)
{
    struct core_test *t = *state;
    struct core_table_outcome out =
        create(t, &(struct core_create_table){.table = L("Music"),
                                              .hash = K("PK", S),
                                              .range = K("SK", N),
                                              .is_protected = true,
                                              .is_infrequent = true,
                                              INDEXES({.name = L("gsi"),
                                                       .n_hash = 2,
                                                       .n_range = 1,
                                                       .hash = {K("A", S), K("B", B)},
                                                       .range = {K("SK", N)},
                                                       INCLUDE(L("x"), L("y"))},
                                                      {.name = L("lsi"),
                                                       .is_local = true,
                                                       .n_hash = 1,
                                                       .n_range = 1,
                                                       .hash = {K("PK", S)},
                                                       .range = {K("L", S)}})});
    assert_int_equal(out.table.status, CORE_CREATING);
    assert_int_equal(out.table.indexes[0].status, CORE_CREATING);
    struct core_table_info info = describe(t, L("Music"));
    assert_span(info.name, "Music");
    assert_true(span_eq(info.id, out.table.id));
    assert_int_equal(info.hash.type, VAL_S);
    assert_int_equal(info.range.type, VAL_N);
    assert_true(info.is_protected && info.is_infrequent && !info.is_provisioned);
    assert_int_equal(info.n_definitions, 5);
    assert_span(info.definitions[4].name, "L");
    assert_int_equal(info.n_indexes, 2);
    assert_int_equal(info.indexes[0].status, CORE_ACTIVE);
    assert_int_equal(info.indexes[0].def.n_hash, 2);
    assert_int_equal(info.indexes[0].def.hash[1].type, VAL_B);
    assert_int_equal(info.indexes[0].def.n_include, 2);
    assert_span(info.indexes[0].def.include[1], "y");
    assert_true(info.indexes[1].def.is_local);
    assert_null(info.stream_label.p);
    assert_null(info.ttl_attribute.p);
}

static void test_create__gives_each_table_an_id_of_its_own(void **state)
{
    struct core_test *t = *state;
    span a = create(t, &(struct core_create_table){.table = L("one"), .hash = K("p", S)}).table.id;
    span b = create(t, &(struct core_create_table){.table = L("two"), .hash = K("p", S)}).table.id;
    assert_int_equal(a.n, 36);
    assert_false(span_eq(a, b));
    const char *text = a.p;
    for (size_t i = 0; i < a.n; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        assert_true(is_dash ? text[i] == '-' : strchr("0123456789abcdef", text[i]) != NULL);
    }
    assert_int_equal(text[14], '4');
}

static void test_create__takes_types_from_the_definitions(void **state)
{
    struct core_test *t = *state;
    create(t, &(struct core_create_table){
                  .table = L("Defs"),
                  .hash = K("p", NONE),
                  INDEXES({.name = L("gsi"), .n_hash = 1, .hash = {K("g", NONE)}}),
                  DEFS(K("g", B), K("p", N))});
    struct core_table_info info = describe(t, L("Defs"));
    assert_int_equal(info.hash.type, VAL_N);
    assert_int_equal(info.indexes[0].def.hash[0].type, VAL_B);
    assert_span(info.definitions[0].name, "g");
}

static void test_create__starts_a_stream_with_a_label_of_its_time(void **state)
{
    (void)state;
    struct core_test t;
    struct clock_manual clock;
    clock_manual_init(&clock, INT64_C(1794711784567891)); /* 2026-11-15T03:03:04.567 */
    core_test_init(&t, &(struct core_options){.clock = &clock.base});
    struct core_table_outcome out =
        create(&t, &(struct core_create_table){
                       .table = L("Str"), .hash = K("p", S), .stream = CORE_STREAM_BOTH});
    assert_int_equal(out.table.stream, CORE_STREAM_BOTH);
    assert_span(out.table.stream_label, "2026-11-15T03:03:04.567");
    assert_int_equal(out.table.created_us, 1794711784567891);
    core_test_deinit(&t);
}

struct refused {
    const char *source, *message;
    struct core_create_table q;
};

static void test_create__refuses_in_aws_words(void **state)
{
    struct core_test *t = *state;
    size_t unverified = 0;
    const struct refused refusals[] = {
        {SUITE,
         "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
         "Member "
         "must have length greater than or equal to 3",
         {.table = L("ab"), .hash = K("pk", S)}},
        {DYNALITE,
         "1 validation error detected: Value '" N255
         "a' at 'tableName' failed to satisfy constraint: "
         "Member must have length less than or equal to 255",
         {.table = L(N255 "a"), .hash = K("pk", S)}},
        {DYNALITE,
         "1 validation error detected: Value 'abc;' at 'tableName' failed to satisfy constraint: "
         "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
         {.table = L("abc;"), .hash = K("pk", S)}},
        {DYNALITE,
         "2 validation errors detected: Value '/' at 'tableName' failed to satisfy constraint: "
         "Member "
         "must have length greater than or equal to 3; Value '/' at 'tableName' failed to satisfy "
         "constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
         {.table = L("/"), .hash = K("pk", S)}},
        {SUITE,
         "1 validation error detected: Value 'M' at 'attributeDefinitions.1.member.attributeType' "
         "failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]",
         {.table = L("abc"), .hash = K("pk", NONE), DEFS(K("pk", M))}},
        {SUITE,
         "The parameter 'TableName' is required but was not present in the request",
         {.hash = K("pk", S)}},
        {DYNALITE,
         "1 validation error detected: Value null at 'keySchema' failed to satisfy constraint: "
         "Member must not be null",
         {.table = L("abc")}},
        {UNVERIFIED,
         "1 validation error detected: Value '' at 'keySchema.1.member.attributeName' failed to "
         "satisfy constraint: Member must have length greater than or equal to 1",
         {.table = L("abc"), .hash = K("", S)}},
        {UNVERIFIED,
         "1 validation error detected: Value '" N255
         "a' at 'keySchema.2.member.attributeName' failed "
         "to satisfy constraint: Member must have length less than or equal to 255",
         {.table = L("abc"), .hash = K("pk", S), .range = K(N255 "a", S)}},
        {DYNALITE,
         "1 validation error detected: Value 'h-' at 'globalSecondaryIndexes.1.member.indexName' "
         "failed to satisfy constraint: Member must have length greater than or equal to 3",
         {.table = L("abc"),
          .hash = K("pk", S),
          INDEXES({.name = L("h-"), .n_hash = 1, .hash = {K("a", S)}})}},
        {SUITE,
         INVALID
         "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode "
         "is PAY_PER_REQUEST",
         {.table = L("abc"), .hash = K("pk", S), .read_units = 5, .write_units = 5}},
        {QUIRKS,
         INVALID
         "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
         "PROVISIONED",
         {.table = L("abc"), .hash = K("pk", S), .is_provisioned = true, .read_units = 5}},
        {DYNALITE,
         "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
         {.table = L("abc"),
          .hash = K("pk", S),
          .is_provisioned = true,
          .read_units = UINT64_C(1000000000001),
          .write_units = UINT64_C(1000000000001)}},
        {DYNALITE,
         "Given value 1000000000001 for WriteCapacityUnits is out of bounds",
         {.table = L("abc"),
          .hash = K("pk", S),
          .is_provisioned = true,
          .read_units = UINT64_C(1000000000000),
          .write_units = UINT64_C(1000000000001)}},
        {QUIRKS,
         "Attribute Name is duplicated: xyz",
         {.table = L("abc"), .hash = K("xyz", NONE), DEFS(K("xyz", S), K("xyz", N))}},
        {SUITE,
         "Invalid KeySchema: Some index key attribute have no definition",
         {.table = L("abc"), .hash = K("pk", NONE), .range = K("pk", NONE), DEFS(K("pk", S))}},
        {DYNALITE,
         INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: [a], "
                 "AttributeDefinitions: [b]",
         {.table = L("abc"), .hash = K("a", NONE), DEFS(K("b", S))}},
        {DYNALITE,
         "Both the Hash Key and the Range Key element in the KeySchema have the same name",
         {.table = L("abc"),
          .hash = K("a", NONE),
          .range = K("a", NONE),
          DEFS(K("a", S), K("b", S))}},
        {DYNALITE,
         INVALID "Number of attributes in KeySchema does not exactly match number of attributes "
                 "defined in AttributeDefinitions",
         {.table = L("abc"), .hash = K("a", NONE), DEFS(K("a", S), K("b", S))}},
        {SUITE,
         INVALID "Table KeySchema does not have a range key, which is required when specifying a "
                 "LocalSecondaryIndex",
         {.table = L("abc"),
          .hash = K("pk", S),
          INDEXES({.name = L("lsi"),
                   .is_local = true,
                   .n_hash = 1,
                   .n_range = 1,
                   .hash = {K("pk", S)},
                   .range = {K("l", S)}})}},
        {DYNALITE,
         INVALID "Index KeySchema does not have a range key for index: lsi",
         {.table = L("abc"),
          .hash = K("a", S),
          .range = K("b", S),
          INDEXES({.name = L("lsi"), .is_local = true, .n_hash = 1, .hash = {K("a", S)}})}},
        {DYNALITE,
         INVALID "Index KeySchema does not have the same leading hash key as table KeySchema for "
                 "index: lsi. index hash key: b, table hash key: a",
         {.table = L("abc"),
          .hash = K("a", S),
          .range = K("b", S),
          INDEXES({.name = L("lsi"),
                   .is_local = true,
                   .n_hash = 1,
                   .n_range = 1,
                   .hash = {K("b", S)},
                   .range = {K("a", S)}})}},
        {DYNALITE,
         INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: [a, c], "
                 "AttributeDefinitions: [b, a]",
         {.table = L("abc"),
          .hash = K("a", NONE),
          .range = K("b", NONE),
          DEFS(K("b", S), K("a", S)),
          INDEXES({.name = L("lsi"),
                   .is_local = true,
                   .n_hash = 1,
                   .n_range = 1,
                   .hash = {K("a", NONE)},
                   .range = {K("c", NONE)}})}},
        {SUITE,
         INVALID "Duplicate index name: sameIndex",
         {.table = L("abc"),
          .hash = K("a", S),
          INDEXES({.name = L("sameIndex"), .n_hash = 1, .hash = {K("b", S)}},
                  {.name = L("sameIndex"), .n_hash = 1, .hash = {K("c", S)}})}},
        {SUITE,
         INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
         {.table = L("abc"),
          .hash = K("a", S),
          INDEXES({.name = L("gsi"),
                   .n_hash = 1,
                   .hash = {K("b", S)},
                   .projection = CORE_PROJECT_INCLUDE})}},
        {DYNALITE,
         INVALID "ProjectionType is ALL, but NonKeyAttributes is specified",
         {.table = L("abc"),
          .hash = K("a", S),
          INDEXES({.name = L("gsi"),
                   .n_hash = 1,
                   .hash = {K("b", S)},
                   ATTRIBUTES(L("x")),
                   .projection = CORE_PROJECT_ALL})}},
        {DYNALITE,
         INVALID "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
         {.table = L("abc"),
          .hash = K("a", S),
          INDEXES({.name = L("gsi"),
                   .n_hash = 1,
                   .hash = {K("b", S)},
                   ATTRIBUTES(L("x")),
                   .projection = CORE_PROJECT_KEYS_ONLY})}},
        {QUIRKS_126,
         INVALID "Duplicate element in NonKeyAttributes: x",
         {.table = L("abc"),
          .hash = K("a", S),
          INDEXES({.name = L("gsi"),
                   .n_hash = 1,
                   .hash = {K("b", S)},
                   INCLUDE(L("x"), L("y"), L("x"))})}},
        {DYNALITE,
         INVALID "ProvisionedThroughput should not be specified for index: gsi when BillingMode is "
                 "PAY_PER_REQUEST",
         {.table = L("abc"),
          .hash = K("a", S),
          INDEXES({.name = L("gsi"),
                   .n_hash = 1,
                   .hash = {K("b", S)},
                   .read_units = 1,
                   .write_units = 1})}},
        {QUIRKS,
         INVALID "ProvisionedThroughput is not specified for index: gsi",
         {.table = L("abc"),
          .hash = K("a", S),
          .is_provisioned = true,
          .read_units = 1,
          .write_units = 1,
          INDEXES({.name = L("gsi"), .n_hash = 1, .hash = {K("b", S)}})}},
        {QUIRKS,
         "The KeySchema contains multiple key attributes with the same name",
         {.table = L("abc"),
          .hash = K("p", S),
          INDEXES({.name = L("gsi"),
                   .n_hash = 2,
                   .n_range = 1,
                   .hash = {K("a", S), K("b", S)},
                   .range = {K("a", S)}})}},
        {QUIRKS,
         INVALID "The KeySchema exceeds the maximum allowed number of HASH key attributes",
         {.table = L("abc"),
          .hash = K("p", S),
          INDEXES({.name = L("gsi"),
                   .n_hash = 5,
                   .hash = {K("a", S), K("b", S), K("c", S), K("d", S)}})}},
        {QUIRKS,
         INVALID "The KeySchema exceeds the maximum allowed number of RANGE key attributes",
         {.table = L("abc"),
          .hash = K("p", S),
          INDEXES({.name = L("gsi"), .n_hash = 1, .n_range = 5, .hash = {K("a", S)}})}},
        {DYNALITE,
         "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
         {.table = L("abc"),
          .hash = K("p", S),
          INDEXES({.name = L("gsi"), .n_range = 1, .range = {K("a", S)}})}},
        {UNVERIFIED,
         "1 validation error detected: Value '[KeySchemaElement(attributeName=p, keyType=HASH), "
         "KeySchemaElement(attributeName=c, keyType=RANGE), KeySchemaElement(attributeName=l, "
         "keyType=RANGE)]' at 'localSecondaryIndexes.1.member.keySchema' failed to satisfy "
         "constraint: Member must have length less than or equal to 2",
         {.table = L("abc"),
          .hash = K("p", S),
          .range = K("c", S),
          INDEXES({.name = L("lsi"),
                   .is_local = true,
                   .n_hash = 1,
                   .n_range = 2,
                   .hash = {K("p", S)},
                   .range = {K("c", S), K("l", S)}})}},
        {QUIRKS,
         INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [id, user, extra], "
                 "keys used: [id, user]",
         {.table = L("abc"),
          .hash = K("id", NONE),
          DEFS(K("id", S), K("user", S), K("extra", S)),
          INDEXES({.name = L("gsi"), .n_hash = 1, .hash = {K("user", NONE)}})}},
        {SUITE,
         "1 validation error detected: Value 'L' at 'attributeDefinitions.2.member.attributeType' "
         "failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]",
         {.table = L("abc"),
          .hash = K("p", S),
          INDEXES({.name = L("gsi1"), .n_hash = 1, .hash = {K("p", L)}})}},
        {UNVERIFIED,
         "Attribute Name is duplicated: x",
         {.table = L("abc"),
          .hash = K("p", S),
          INDEXES({.name = L("gsi1"), .n_hash = 1, .hash = {K("x", S)}},
                  {.name = L("gsi2"), .n_hash = 1, .hash = {K("x", N)}})}},
    };
    for (size_t i = 0; i < COUNT(refusals); i++) {
        const struct refused *r = &refusals[i];
        struct core_table_outcome out;
        sheaf_rc rc = core_create_table(t->core, &t->ctx, &r->q, &out);
        if (rc != SHEAF_VALIDATION || strcmp(t->err.message, r->message) != 0)
            fail_msg("row %zu: rc %d \"%s\", wanted \"%s\"", i, (int)rc, t->err.message,
                     r->message);
        unverified += r->source == UNVERIFIED;
    }
    assert_int_equal(count_tables(t), 0);
    printf("CreateTable refusals: %zu rows, %zu unverified\n", COUNT(refusals), unverified);
}

static void test_table_encode__refuses_what_decoding_would_refuse(void **state)
{
    struct core_test *t = *state;
    struct core_create_table q = {
        .table = L("Coded"), .hash = K("p", S), .stream = CORE_STREAM_NEW};
    struct table *is;
    struct table_stream stream;
    span item;
    create(t, &q);
    assert_ok(cat_get(t->core, q.table, &is, &t->err));
    struct table odd = *is;
    assert_ok(table_encode(&t->ctx, &odd, &item));
    odd.hash.type = (enum val_type)99;
    assert_rc(table_encode(&t->ctx, &odd, &item), SHEAF_INTERNAL);
    odd = *is;
    stream = is->streams[0];
    stream.view = (enum core_stream_view)77;
    odd.streams = &stream;
    assert_rc(table_encode(&t->ctx, &odd, &item), SHEAF_INTERNAL);
    table_unref(is);
}

static void test_create__refuses_a_name_that_is_taken(void **state)
{
    struct core_test *t = *state;
    struct core_create_table q = {.table = L("Taken"), .hash = K("p", S)};
    struct core_table_outcome out;
    create(t, &q);
    assert_rc(core_create_table(t->core, &t->ctx, &q, &out), SHEAF_RESOURCE_IN_USE);
    /* dynalite, test/createTable.js */
    assert_string_equal(t->err.message, "Table already exists: Taken");
}

/* Index names "i00" … , each on its own attribute. */
static void number_indexes(struct core_test *t, struct core_index_def *x, uint32_t n, bool is_local)
{
    for (uint32_t i = 0; i < n; i++) {
        struct buf name, key;
        buf_init(&name, &t->arena, 16);
        buf_init(&key, &t->arena, 16);
        buf_printf(&name, "i%02u", (unsigned)i);
        buf_printf(&key, "k%02u", (unsigned)i);
        x[i] = (struct core_index_def){.name = buf_span(&name), .is_local = is_local, .n_hash = 1};
        x[i].hash[0] = is_local ? KEY("p", S) : (struct core_key){buf_span(&key), VAL_S};
        x[i].n_range = is_local;
        x[i].range[0] = (struct core_key){buf_span(&key), VAL_S};
    }
}

static void test_create__takes_5_local_and_20_global_indexes_and_no_more(void **state)
{
    struct core_test *t = *state;
    struct core_index_def x[21];
    struct core_create_table q = {
        .table = L("Many"), .hash = K("p", S), .range = K("r", S), .indexes = x};
    struct core_table_outcome out;
    number_indexes(t, x, 21, false);
    q.n_indexes = 21;
    assert_rc(core_create_table(t->core, &t->ctx, &q, &out), SHEAF_VALIDATION);
    assert_string_equal(t->err.message,
                        INVALID "GlobalSecondaryIndex count exceeds the per-table limit of 20");
    q.n_indexes = 20;
    create(t, &q);
    assert_int_equal(describe(t, L("Many")).n_indexes, 20);
    number_indexes(t, x, 6, true);
    q.n_indexes = 6;
    q.table = L("Local");
    assert_rc(core_create_table(t->core, &t->ctx, &q, &out), SHEAF_VALIDATION);
    assert_string_equal(t->err.message,
                        INVALID "Number of LocalSecondaryIndexes exceeds per-table limit of 5");
    q.n_indexes = 5;
    create(t, &q);
    assert_int_equal(describe(t, L("Local")).n_indexes, 5);
}

static void test_create__takes_20_projected_attributes_in_an_index_and_100_in_all(void **state)
{
    struct core_test *t = *state;
    struct core_index_def x[6];
    struct core_create_table q = {
        .table = L("Wide"), .hash = K("p", S), .indexes = x, .n_indexes = 6};
    struct core_table_outcome out;
    span names[21];
    for (size_t i = 0; i < 21; i++) {
        struct buf b;
        buf_init(&b, &t->arena, 16);
        buf_printf(&b, "a%zu", i);
        names[i] = buf_span(&b);
    }
    number_indexes(t, x, 6, false);
    for (size_t i = 0; i < 6; i++) {
        x[i].projection = CORE_PROJECT_INCLUDE;
        x[i].include = names;
        x[i].n_include = i < 5 ? 20 : 1;
    }
    assert_rc(core_create_table(t->core, &t->ctx, &q, &out), SHEAF_VALIDATION);
    assert_non_null(strstr(t->err.message, "limit of 100")); /* wording unverified */
    q.n_indexes = 5;
    create(t, &q);
    x[0].n_include = 21;
    q.table = L("Wider");
    assert_rc(core_create_table(t->core, &t->ctx, &q, &out), SHEAF_VALIDATION);
    assert_non_null(strstr(t->err.message, "'globalSecondaryIndexes.1.member.projection."
                                           "nonKeyAttributes' failed to satisfy constraint: Member "
                                           "must have length less than or equal to 20"));
}

static void test_create__takes_names_of_255_bytes(void **state)
{
    struct core_test *t = *state;
    create(t, &(struct core_create_table){
                  .table = L(N255),
                  .hash = K(N255, S),
                  INDEXES({.name = L(N255),
                           .n_hash = 4,
                           .n_range = 4,
                           .hash = {K("a", S), K("b", N), K("c", B), K("d", S)},
                           .range = {K("e", S), K("f", N), K("g", B), K("h", S)}})});
    struct core_table_info info = describe(t, L(N255));
    assert_int_equal(info.hash.name.n, 255);
    assert_int_equal(info.indexes[0].def.n_range, 4);
    assert_int_equal(info.n_definitions, 9);
}

/* ---- any request ---- */

static span any_name(struct rng *r)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "", N255, N255 "x"};
    return span_cstr(names[rng_below(r, rng_below(r, 8) ? 5 : 8)]);
}

static struct core_key any_key(struct rng *r)
{
    return (struct core_key){
        any_name(r), (enum val_type)(rng_below(r, 12) ? 1 + rng_below(r, 3) : rng_below(r, 11))};
}

static struct core_index_def any_index(struct rng *r, const span *include)
{
    static const char *const names[] = {"gsi1", "gsi2", "gsi3", "lsi1", "x"};
    struct core_index_def x = {.name = span_cstr(names[rng_below(r, rng_below(r, 9) ? 4 : 5)]),
                               .is_local = rng_below(r, 4) == 0,
                               .n_hash = (uint32_t)rng_below(r, rng_below(r, 6) ? 3 : 7),
                               .n_range = (uint32_t)rng_below(r, rng_below(r, 6) ? 3 : 7),
                               .projection = (enum core_projection)rng_below(r, 3),
                               .include = include};
    for (uint32_t i = 0; i < 4; i++) {
        x.hash[i] = any_key(r);
        x.range[i] = any_key(r);
    }
    if (x.projection == CORE_PROJECT_INCLUDE || rng_below(r, 9) == 0)
        x.n_include = (uint32_t)rng_below(r, 3);
    if (rng_below(r, 9) == 0) x.read_units = x.write_units = rng_below(r, 3);
    return x;
}

/* A key without a type has that of its definition, which stands at another key. */
static void expect_key(const struct core_key *is, const struct core_key *was)
{
    assert_true(span_eq(is->name, was->name));
    assert_true(is->type >= VAL_S && is->type <= VAL_B);
    if (was->type != VAL_NONE) assert_int_equal(is->type, was->type);
}

static void expect_index(const struct core_index_def *is, const struct core_index_def *was)
{
    assert_true(span_eq(is->name, was->name));
    assert_true(is->is_local == was->is_local && is->projection == was->projection);
    assert_true(is->n_hash == was->n_hash && is->n_range == was->n_range);
    for (uint32_t i = 0; i < is->n_hash; i++) expect_key(&is->hash[i], &was->hash[i]);
    for (uint32_t i = 0; i < is->n_range; i++) expect_key(&is->range[i], &was->range[i]);
    assert_int_equal(is->n_include, was->n_include);
}

static void test_create__of_anything_is_refused_or_described_as_asked(void **state)
{
    struct core_test *t = *state;
    const span include[] = {L("x"), L("y"), L("z")};
    struct rng r;
    unsigned n_made = 0;
    uint64_t rounds = test_rounds(20000);
    rng_init(&r, test_seed(77));
    for (uint64_t i = 0; i < rounds; i++) {
        struct core_index_def x[4];
        struct core_table_outcome out;
        struct core_create_table q = {.table = L("Any"),
                                      .hash = any_key(&r),
                                      .indexes = x,
                                      .n_indexes = (uint32_t)rng_below(&r, 4)};
        if (rng_below(&r, 2)) q.range = any_key(&r);
        for (uint32_t k = 0; k < q.n_indexes; k++) x[k] = any_index(&r, include);
        arena_reset(&t->arena);
        sheaf_rc rc = core_create_table(t->core, &t->ctx, &q, &out);
        if (rc != SHEAF_OK) {
            assert_int_equal(rc, SHEAF_VALIDATION);
            assert_true(t->err.message[0] != '\0');
            continue;
        }
        n_made++;
        struct core_table_info info = describe(t, L("Any"));
        expect_key(&info.hash, &q.hash);
        assert_int_equal(info.n_indexes, q.n_indexes);
        for (uint32_t k = 0; k < q.n_indexes; k++) expect_index(&info.indexes[k].def, &x[k]);
        assert_ok(core_delete_table(t->core, &t->ctx, L("Any"), &out));
    }
    printf("%u of %" PRIu64 " requests were good\n", n_made, rounds);
    assert_true(n_made > rounds / 50);
}

/* ---- DescribeTable, ListTables ---- */

static void test_describe__counts_items_and_bytes_exactly(void **state)
{
    struct core_test *t = *state;
    create(t, &(struct core_create_table){.table = L("Counted"),
                                          .hash = K("p", S),
                                          INDEXES({.name = L("gsi"),
                                                   .n_hash = 1,
                                                   .hash = {K("g", S)},
                                                   .projection = CORE_PROJECT_KEYS_ONLY})});
    test_put(t, "Counted", "{p: 'a', g: 'x', v: 'hello'}"); /* 2 + 2 + 6 bytes; index 4 */
    test_put(t, "Counted", "{p: 'b', v: 'hello'}");         /* 2 + 6 */
    struct core_table_info info = describe(t, L("Counted"));
    assert_int_equal(info.items, 2);
    assert_int_equal(info.bytes, 18);
    assert_int_equal(info.indexes[0].items, 1);
    assert_int_equal(info.indexes[0].bytes, 4);
    test_delete(t, "Counted", "{p: 'a'}");
    info = describe(t, L("Counted"));
    assert_int_equal(info.items, 1);
    assert_int_equal(info.bytes, 8);
    assert_int_equal(info.indexes[0].items, 0);
    assert_int_equal(info.indexes[0].bytes, 0);
}

static void test_describe__takes_an_arn_for_a_name(void **state)
{
    struct core_test *t = *state;
    create(t, &(struct core_create_table){.table = L("Named"), .hash = K("p", S)});
    assert_span(describe(t, L("arn:aws:dynamodb:eu-west-1:000000000000:table/Named")).name,
                "Named");
}

static void test_describe__names_the_table_that_is_not_there(void **state)
{
    struct core_test *t = *state;
    struct core_table_outcome out;
    sheaf_position at;
    span attribute;
    const char *message = "Requested resource not found: Table: ghost not found"; /* QUIRKS */
    assert_rc(core_describe_table(t->core, &t->ctx, L("ghost"), &out), SHEAF_RESOURCE_NOT_FOUND);
    assert_string_equal(t->err.message, message);
    assert_rc(core_delete_table(t->core, &t->ctx, L("ghost"), &out), SHEAF_RESOURCE_NOT_FOUND);
    assert_string_equal(t->err.message, message);
    assert_rc(core_describe_ttl(t->core, &t->ctx, L("ghost"), &attribute, &at),
              SHEAF_RESOURCE_NOT_FOUND);
    assert_string_equal(t->err.message, message);
    assert_rc(core_describe_table(t->core, &t->ctx, L("no"), &out), SHEAF_VALIDATION);
}

static void test_list__pages_in_the_order_of_names(void **state)
{
    struct core_test *t = *state;
    const char *names[] = {"b.b", "abc", "Zed", "zed", "a-1", "_x_"};
    const char *sorted[] = {"Zed", "_x_", "a-1", "abc", "b.b", "zed"};
    for (size_t i = 0; i < COUNT(names); i++)
        create(t, &(struct core_create_table){.table = span_cstr(names[i]), .hash = K("p", S)});
    for (uint32_t limit = 1; limit <= 7; limit++) {
        struct core_list_tables q = {.limit = limit};
        struct core_names_outcome out;
        size_t at = 0;
        do {
            assert_ok(core_list_tables(t->core, &t->ctx, &q, &out));
            assert_true(out.n <= limit);
            for (uint32_t i = 0; i < out.n; i++) assert_span(out.names[i], sorted[at++]);
            q.after = out.last;
        } while (out.last.p);
        assert_int_equal(at, COUNT(names));
    }
}

static void test_list__starts_behind_a_name_that_need_not_exist(void **state)
{
    struct core_test *t = *state;
    struct core_names_outcome out;
    create(t, &(struct core_create_table){.table = L("aaa"), .hash = K("p", S)});
    create(t, &(struct core_create_table){.table = L("ccc"), .hash = K("p", S)});
    assert_ok(
        core_list_tables(t->core, &t->ctx, &(struct core_list_tables){.after = L("bbb")}, &out));
    assert_int_equal(out.n, 1);
    assert_span(out.names[0], "ccc");
    assert_null(out.last.p);
    assert_ok(
        core_list_tables(t->core, &t->ctx, &(struct core_list_tables){.after = L("ccc")}, &out));
    assert_int_equal(out.n, 0);
    assert_rc(core_list_tables(t->core, &t->ctx, &(struct core_list_tables){.limit = 101}, &out),
              SHEAF_VALIDATION);
    /* dynalite, test/listTables.js */
    assert_string_equal(t->err.message,
                        "1 validation error detected: Value '101' at 'limit' failed to satisfy "
                        "constraint: Member must have value less than or equal to 100");
    assert_ok(core_list_tables(t->core, &t->ctx, &(struct core_list_tables){.limit = 100}, &out));
}

/* ---- DeleteTable ---- */

static void test_delete__frees_every_space_and_leaves_no_note(void **state)
{
    struct core_test *t = *state;
    struct sheaf_engine_stats before, after;
    struct core_table_outcome out;
    sheaf_position at;
    eng_stats(t->engine, &before);
    create(t, &(struct core_create_table){
                  .table = L("Gone"),
                  .hash = K("p", S),
                  .stream = CORE_STREAM_BOTH,
                  INDEXES({.name = L("gsi"), .n_hash = 1, .hash = {K("g", S)}})});
    assert_ok(core_update_ttl(t->core, &t->ctx, L("Gone"), L("ttl"), true, &at));
    for (int i = 0; i < 20; i++) {
        char text[64];
        snprintf(text, sizeof text, "{p: 'i%d', g: 'x', ttl: 1900000000}", i);
        test_put(t, "Gone", text);
    }
    assert_ok(core_delete_table(t->core, &t->ctx, L("Gone"), &out));
    assert_int_equal(out.table.status, CORE_DELETING);
    assert_int_equal(out.table.items, 20);
    eng_stats(t->engine, &after);
    assert_int_equal(after.keys, before.keys);
    create(t, &(struct core_create_table){.table = L("Gone"), .hash = K("other", N)});
    assert_int_equal(describe(t, L("Gone")).items, 0);
}

static void test_delete__is_refused_while_protected(void **state)
{
    struct core_test *t = *state;
    struct core_table_outcome out;
    create(t, &(struct core_create_table){
                  .table = L("Safe"), .hash = K("p", S), .is_protected = true});
    assert_rc(core_delete_table(t->core, &t->ctx, L("Safe"), &out), SHEAF_VALIDATION);
    /* QUIRKS */
    assert_string_equal(t->err.message, "Resource cannot be deleted as it is currently protected "
                                        "against deletion. Disable deletion protection first.");
    assert_ok(core_update_table(
        t->core, &t->ctx, &(struct core_update_table){.table = L("Safe"), .protection = CORE_OFF},
        &out));
    assert_int_equal(out.table.status, CORE_ACTIVE);
    assert_ok(core_delete_table(t->core, &t->ctx, L("Safe"), &out));
}

/* ---- interruptions ---- */

static void remove_dir(const char *dir)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command) != 0) fail_msg("cannot remove %s", dir);
}

static void open_rocks(struct core_test *t, const char *dir, sheaf_engine **fault_out)
{
    sheaf_engine *inner, *e;
    assert_ok(sheaf_engine_open_rocks(dir, NULL, &inner, NULL));
    assert_ok(fault_open(inner, &(struct fault_options){.seed = 1}, &e, NULL));
    if (fault_out) *fault_out = e;
    core_test_init_on(t, e, NULL);
}

static uint64_t count_rows(struct core_test *t, uint64_t space)
{
    sheaf_txn *txn;
    sheaf_cursor *cursor;
    struct sheaf_row row;
    bool has_row = true;
    uint64_t n = 0;
    assert_ok(eng_begin(t->engine, SHEAF_TXN_SNAPSHOT, &txn, NULL));
    assert_ok(eng_walk(txn, &(struct sheaf_walk){.space = space}, &cursor, NULL));
    for (;;) {
        assert_ok(eng_next(cursor, &row, &has_row, NULL));
        if (!has_row) break;
        n++;
    }
    eng_cursor_close(cursor);
    eng_rollback(txn);
    return n;
}

static void test_delete__interrupted_anywhere_is_finished_at_the_next_opening(void **state)
{
    (void)state;
    /* DeleteTable frees four spaces and removes its note; each of these steps fails in turn. */
    static const struct fault_rule rules[] = {
        {.call = FAULT_DROP_SPACE, .nth = 1}, {.call = FAULT_DROP_SPACE, .nth = 2},
        {.call = FAULT_DROP_SPACE, .nth = 3}, {.call = FAULT_DROP_SPACE, .nth = 4},
        {.call = FAULT_COMMIT, .nth = 2}, /* the first is the catalog's */
    };
    for (size_t i = 0; i < COUNT(rules); i++) {
        char dir[] = "/tmp/test_tables_XXXXXX";
        struct core_test t;
        struct core_table_outcome out;
        sheaf_engine *fault;
        assert_non_null(mkdtemp(dir));
        open_rocks(&t, dir, &fault);
        create(&t, &(struct core_create_table){
                       .table = L("Big"),
                       .hash = K("p", S),
                       .stream = CORE_STREAM_KEYS,
                       INDEXES({.name = L("gsi"), .n_hash = 1, .hash = {K("g", S)}})});
        for (int k = 0; k < 10; k++) {
            char text[64];
            snprintf(text, sizeof text, "{p: 'i%d', g: 'x'}", k);
            test_put(&t, "Big", text);
        }
        struct table *big = cat_find(t.core, L("Big"));
        uint64_t spaces[3] = {big->space, big->stats_space, big->indexes[0].space};
        table_unref(big);
        uint64_t meta = count_rows(&t, SPACE_META);
        assert_ok(
            fault_set(fault, &(struct fault_options){.rules = &rules[i], .n_rules = 1}, NULL));
        assert_ok(core_delete_table(t.core, &t.ctx, L("Big"), &out)); /* the table is gone */
        assert_int_equal(fault_fired(fault, 0), 1);
        assert_int_equal(count_rows(&t, SPACE_META), meta + 1);
        core_test_deinit(&t);

        open_rocks(&t, dir, NULL);
        assert_int_equal(count_rows(&t, SPACE_META), meta);
        for (size_t k = 0; k < COUNT(spaces); k++) assert_int_equal(count_rows(&t, spaces[k]), 0);
        assert_int_equal(count_tables(&t), 0);
        core_test_deinit(&t);
        remove_dir(dir);
    }
}

static void test_schema__survives_a_commit_whose_outcome_is_unknown(void **state)
{
    (void)state;
    static const enum fault_action actions[] = {FAULT_UNKNOWN_LOST, FAULT_UNKNOWN_KEPT,
                                                FAULT_CONFLICT};
    for (size_t i = 0; i < COUNT(actions); i++) {
        sheaf_engine *inner, *e;
        struct core_test t;
        struct core_table_outcome out;
        assert_ok(sheaf_engine_open_mem(NULL, &inner, NULL));
        assert_ok(fault_open(inner, &(struct fault_options){.seed = 1}, &e, NULL));
        core_test_init_on(&t, e, NULL);
        struct fault_rule rule = {.call = FAULT_COMMIT, .action = actions[i], .nth = 1, .every = 2};
        assert_ok(fault_set(e, &(struct fault_options){.rules = &rule, .n_rules = 1}, NULL));
        create(&t, &(struct core_create_table){.table = L("Odd"), .hash = K("p", S)});
        assert_ok(core_delete_table(t.core, &t.ctx, L("Odd"), &out));
        create(&t, &(struct core_create_table){.table = L("Odd"), .hash = K("q", S)});
        assert_span(describe(&t, L("Odd")).hash.name, "q");
        core_test_deinit(&t);
    }
}

static void test_schema__survives_reopening(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_tables_XXXXXX";
    struct core_test t;
    assert_non_null(mkdtemp(dir));
    open_rocks(&t, dir, NULL);
    create(&t, &(struct core_create_table){.table = L("Kept"),
                                           .hash = K("p", S),
                                           .range = K("r", B),
                                           .is_provisioned = true,
                                           .read_units = 7,
                                           .write_units = 8,
                                           .stream = CORE_STREAM_OLD,
                                           .is_protected = true,
                                           INDEXES({.name = L("gsi"),
                                                    .n_hash = 1,
                                                    .n_range = 2,
                                                    .hash = {K("g", S)},
                                                    .range = {K("h", N), K("i", S)},
                                                    INCLUDE(L("x"), L("y")),
                                                    .read_units = 3,
                                                    .write_units = 4},
                                                   {.name = L("lsi"),
                                                    .is_local = true,
                                                    .n_hash = 1,
                                                    .n_range = 1,
                                                    .hash = {K("p", S)},
                                                    .range = {K("l", S)},
                                                    .projection = CORE_PROJECT_KEYS_ONLY})});
    sheaf_position at;
    assert_ok(core_update_ttl(t.core, &t.ctx, L("Kept"), L("expires"), true, &at));
    struct core_table_info was = describe(&t, L("Kept"));
    span id = span_cstr(strndup(was.id.p, was.id.n)),
         label = span_cstr(strndup(was.stream_label.p, was.stream_label.n));
    int64_t created = was.created_us;
    core_test_deinit(&t);

    open_rocks(&t, dir, NULL);
    struct core_table_info is = describe(&t, L("Kept"));
    assert_true(span_eq(is.id, id) && span_eq(is.stream_label, label));
    assert_int_equal(is.created_us, created);
    assert_int_equal(is.stream, CORE_STREAM_OLD);
    assert_true(is.is_provisioned && is.is_protected && !is.is_infrequent);
    assert_int_equal(is.read_units, 7);
    assert_int_equal(is.range.type, VAL_B);
    assert_span(is.ttl_attribute, "expires");
    assert_int_equal(is.n_definitions, 6);
    assert_int_equal(is.n_indexes, 2);
    assert_int_equal(is.indexes[0].def.n_range, 2);
    assert_int_equal(is.indexes[0].def.range[0].type, VAL_N);
    assert_int_equal(is.indexes[0].def.write_units, 4);
    assert_span(is.indexes[0].def.include[1], "y");
    assert_int_equal(is.indexes[1].def.projection, CORE_PROJECT_KEYS_ONLY);
    /* Numbers are not given twice. */
    create(&t, &(struct core_create_table){.table = L("New"), .hash = K("p", S)});
    struct table *old = cat_find(t.core, L("Kept")), *new = cat_find(t.core, L("New"));
    assert_true(new->number > old->ttl_space &&new->space > old->ttl_space);
    table_unref(old);
    table_unref(new);
    core_test_deinit(&t);
    free((void *)(uintptr_t)id.p);
    free((void *)(uintptr_t)label.p);
    remove_dir(dir);
}

/* ---- memory ---- */

static sheaf_rc create_big(struct core_test *t, struct core_table_outcome *out)
{
    return core_create_table(
        t->core, &t->ctx,
        &(struct core_create_table){
            .table = L("Mem"),
            .hash = K("p", S),
            .range = K("r", S),
            .stream = CORE_STREAM_BOTH,
            INDEXES({.name = L("gsi"), .n_hash = 1, .hash = {K("g", S)}, INCLUDE(L("x"))},
                    {.name = L("lsi"),
                     .is_local = true,
                     .n_hash = 1,
                     .n_range = 1,
                     .hash = {K("p", S)},
                     .range = {K("l", S)}})},
        out);
}

static void test_create__fails_cleanly_at_every_allocation(void **state)
{
    (void)state;
    bool is_done = false;
    uint64_t nth = 1;
    for (; !is_done && nth < 1000; nth++) {
        struct core_test t;
        struct core_table_outcome out;
        core_test_init(&t, NULL);
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = create_big(&t, &out);
        mem_fail_at(0, false);
        is_done = mem_count() - before < nth; /* the fault did not come to pass */
        if (rc != SHEAF_OK) assert_int_equal(rc, SHEAF_NOMEM);
        assert_int_equal(count_tables(&t), rc == SHEAF_OK);
        if (rc != SHEAF_OK) assert_ok(create_big(&t, &out));
        assert_int_equal(describe(&t, L("Mem")).n_indexes, 2);
        core_test_deinit(&t);
    }
    printf("%" PRIu64 " allocations failed in turn\n", nth - 2);
    assert_true(is_done && nth > 5);
}

static void test_delete__fails_cleanly_at_every_allocation(void **state)
{
    (void)state;
    bool is_done = false;
    for (uint64_t nth = 1; !is_done && nth < 1000; nth++) {
        struct core_test t;
        struct core_table_outcome out;
        core_test_init(&t, NULL);
        assert_ok(create_big(&t, &out));
        arena_deinit(&t.arena); /* so that the request takes its memory from the heap */
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = core_delete_table(t.core, &t.ctx, L("Mem"), &out);
        bool is_gone = rc == SHEAF_OK;
        mem_fail_at(0, false);
        is_done = mem_count() - before < nth;
        if (!is_gone) assert_int_equal(rc, SHEAF_NOMEM);
        assert_int_equal(count_tables(&t), !is_gone);
        /* Freeing may fail after the commit: then the note stays, and the next opening finishes. */
        assert_in_range(count_rows(&t, SPACE_META), 3, is_gone && !is_done ? 4 : 3);
        core_test_deinit(&t);
    }
    assert_true(is_done);
}

/* ---- threads ---- */

enum { WRITERS = 3, READERS = 2, THREAD_ROUNDS = 60 };
struct worker {
    struct core *core;
    pthread_t thread;
    unsigned number;
    unsigned done;
};

static bool is_expected(sheaf_rc rc)
{
    return rc == SHEAF_OK || rc == SHEAF_RESOURCE_IN_USE || rc == SHEAF_RESOURCE_NOT_FOUND ||
           rc == SHEAF_LIMIT_EXCEEDED || rc == SHEAF_VALIDATION;
}

static void *change_tables(void *arg)
{
    struct worker *w = arg;
    struct arena arena;
    sheaf_error err;
    arena_init(&arena, 1 << 20);
    struct ctx c = {&arena, &err};
    for (unsigned i = 0; i < THREAD_ROUNDS; i++, arena_reset(&arena)) {
        static const char *const names[] = {"one", "two"};
        span name = span_cstr(names[(i + w->number) % 2]);
        struct core_table_outcome out;
        struct core_index_def gsi = {.name = L("gsi"), .n_hash = 1, .hash = {K("g", S)}};
        struct core_create_table q = {.table = name, .hash = K("p", S), .stream = CORE_STREAM_KEYS};
        struct core_update_table u = {.table = name};
        sheaf_rc rc;
        switch ((i + w->number) % 5) {
        case 0:
            rc = core_create_table(w->core, &c, &q, &out);
            break;
        case 1:
            rc = core_delete_table(w->core, &c, name, &out);
            break;
        case 2:
            u.create_index = &gsi;
            rc = core_update_table(w->core, &c, &u, &out);
            break;
        case 3:
            u.delete_index = gsi.name;
            rc = core_update_table(w->core, &c, &u, &out);
            break;
        default:
            rc = core_create_table(w->core, &c, &q, &out);
            break;
        }
        w->done += is_expected(rc);
    }
    arena_deinit(&arena);
    return NULL;
}

static void *read_tables(void *arg)
{
    struct worker *w = arg;
    struct arena arena;
    sheaf_error err;
    arena_init(&arena, 1 << 20);
    struct ctx c = {&arena, &err};
    for (unsigned i = 0; i < THREAD_ROUNDS; i++, arena_reset(&arena)) {
        struct core_table_outcome out;
        struct core_names_outcome names;
        uint64_t did;
        bool has_more;
        sheaf_rc rc = core_describe_table(w->core, &c, i % 2 ? L("one") : L("two"), &out);
        if (rc == SHEAF_OK && w->number == WRITERS)
            rc = backfill_round(w->core, 100, &did, &has_more, &err);
        w->done += is_expected(rc) &&
                   core_list_tables(w->core, &c, &(struct core_list_tables){.limit = 1}, &names) ==
                       SHEAF_OK;
    }
    arena_deinit(&arena);
    return NULL;
}

static void test_schema__changes_under_readers_and_other_changes(void **state)
{
    struct core_test *t = *state;
    struct worker workers[WRITERS + READERS];
    for (unsigned i = 0; i < COUNT(workers); i++) {
        workers[i] = (struct worker){.core = t->core, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL,
                                        i < WRITERS ? change_tables : read_tables, &workers[i]),
                         0);
    }
    for (unsigned i = 0; i < COUNT(workers); i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].done, THREAD_ROUNDS);
    }
    struct core_table_outcome out;
    for (int i = 0; i < 2; i++) {
        sheaf_rc rc = core_delete_table(t->core, &t->ctx, i ? L("one") : L("two"), &out);
        assert_true(rc == SHEAF_OK || rc == SHEAF_RESOURCE_NOT_FOUND);
    }
    uint64_t did;
    for (bool has_more = true; has_more;)
        assert_ok(backfill_round(t->core, 1000, &did, &has_more, &t->err));
    assert_int_equal(count_rows(t, SPACE_META), 3); /* no note is left */
    assert_int_equal(count_rows(t, SPACE_CATALOG), 0);
}

struct hammer {
    struct core *core;
    _Atomic bool is_over;
    _Atomic uint64_t entries;
};

/* Requests without a pause: some thread is in the section all the time. */
static void *enter_without_pause(void *arg)
{
    struct hammer *h = arg;
    while (!h->is_over) {
        cat_enter(h->core);
        for (volatile int i = 0; i < 300; i++) {}
        cat_leave(h->core);
        h->entries++;
    }
    return NULL;
}

static void test_schema__changes_get_through_requests_without_a_pause(void **state)
{
    struct core_test *t = *state;
    struct hammer h = {.core = t->core};
    pthread_t threads[6];
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, enter_without_pause, &h), 0);
    while (h.entries < 1000) {}
    for (int i = 0; i < 20; i++) {
        struct core_table_outcome out;
        create(t, &(struct core_create_table){.table = L("Hard"), .hash = K("p", S)});
        assert_ok(core_delete_table(t->core, &t->ctx, L("Hard"), &out));
    }
    h.is_over = true;
    for (size_t i = 0; i < COUNT(threads); i++) pthread_join(threads[i], NULL);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_create__answers_creating_and_the_table_is_active_at_once),
        T(test_create__gives_each_table_an_id_of_its_own),
        T(test_create__takes_types_from_the_definitions),
        cmocka_unit_test(test_create__starts_a_stream_with_a_label_of_its_time),
        T(test_create__refuses_in_aws_words),
        T(test_create__refuses_a_name_that_is_taken),
        T(test_table_encode__refuses_what_decoding_would_refuse),
        T(test_create__takes_5_local_and_20_global_indexes_and_no_more),
        T(test_create__takes_20_projected_attributes_in_an_index_and_100_in_all),
        T(test_create__takes_names_of_255_bytes),
        T(test_create__of_anything_is_refused_or_described_as_asked),
        T(test_describe__counts_items_and_bytes_exactly),
        T(test_describe__takes_an_arn_for_a_name),
        T(test_describe__names_the_table_that_is_not_there),
        T(test_list__pages_in_the_order_of_names),
        T(test_list__starts_behind_a_name_that_need_not_exist),
        T(test_delete__frees_every_space_and_leaves_no_note),
        T(test_delete__is_refused_while_protected),
        cmocka_unit_test(test_delete__interrupted_anywhere_is_finished_at_the_next_opening),
        cmocka_unit_test(test_schema__survives_a_commit_whose_outcome_is_unknown),
        cmocka_unit_test(test_schema__survives_reopening),
        cmocka_unit_test(test_create__fails_cleanly_at_every_allocation),
        cmocka_unit_test(test_delete__fails_cleanly_at_every_allocation),
        T(test_schema__changes_under_readers_and_other_changes),
        T(test_schema__changes_get_through_requests_without_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
