/* core: UpdateTable, UpdateTimeToLive, DescribeTimeToLive. */
#include "support/core_support.h"

#include "base/mem.h"
#include "core/tables.h"

#include <inttypes.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define L(text) SPAN_LIT(text)
#define K(name_, t_)                                                                               \
    {                                                                                              \
        SPAN_LIT(name_), VAL_##t_                                                                  \
    }
#define DEFS(...)                                                                                  \
    .definitions = (const struct core_key[]){__VA_ARGS__},                                         \
    .n_definitions = sizeof((const struct core_key[]){__VA_ARGS__}) / sizeof(struct core_key)
#define INDEX(...)                                                                                 \
    &(const struct core_index_def) { __VA_ARGS__ }

/* Where a message comes from. */
#define DYNALITE "dynalite, actions/updateTable.js (run against AWS)"
#define QUIRKS "ack-api-quirks, DDB-TABLE-442 (captured on AWS)"
#define QUIRKS_137 "ack-api-quirks, DDB-TABLE-137 (captured on AWS)"
#define QUIRKS_152 "ack-api-quirks, DDB-TABLE-152 (captured on AWS)"
#define QUIRKS_161 "ack-api-quirks, DDB-TABLE-161 (captured on AWS)"
#define QUIRKS_443 "ack-api-quirks, DDB-TABLE-171 and 443 (captured on AWS)"
#define ALTERNATOR "Alternator, test_gsi_updatetable.py (quotes AWS)"
#define UNVERIFIED NULL

#define INVALID "One or more parameter values were invalid: "

/* "Prov": provisioned, PK:S, gsi on g:S, lsi on l:S. "Dem": on demand, the same. */
static void create_both(struct core_test *t)
{
    struct core_index_def x[2] = {{.name = L("gsi"), .n_hash = 1, .hash = {K("g", S)}},
                                  {.name = L("lsi"),
                                   .is_local = true,
                                   .n_hash = 1,
                                   .n_range = 1,
                                   .hash = {K("PK", S)},
                                   .range = {K("l", S)}}};
    struct core_create_table q = {
        .table = L("Dem"), .hash = K("PK", S), .range = K("SK", S), .indexes = x, .n_indexes = 2};
    struct core_table_outcome out;
    assert_ok(core_create_table(t->core, &t->ctx, &q, &out));
    q.table = L("Prov");
    q.is_provisioned = true;
    q.read_units = q.write_units = x[0].read_units = x[0].write_units = 5;
    assert_ok(core_create_table(t->core, &t->ctx, &q, &out));
}

static int setup(void **state)
{
    static struct core_test t;
    static struct clock_manual clock;
    clock_manual_init(&clock, INT64_C(1794711784567891));
    core_test_init(&t, &(struct core_options){.clock = &clock.base});
    create_both(&t);
    *state = &t;
    return 0;
}

static int teardown(void **state)
{
    core_test_deinit(*state);
    return 0;
}

static struct core_table_info update(struct core_test *t, const struct core_update_table *q)
{
    struct core_table_outcome out;
    if (core_update_table(t->core, &t->ctx, q, &out) != SHEAF_OK)
        fail_msg("UpdateTable: %s", t->err.message);
    return out.table;
}

static struct core_table_info describe(struct core_test *t, span name)
{
    struct core_table_outcome out;
    if (core_describe_table(t->core, &t->ctx, name, &out) != SHEAF_OK)
        fail_msg("DescribeTable: %s", t->err.message);
    return out.table;
}

static void fill(struct core_test *t)
{
    uint64_t did;
    bool has_more = true;
    while (has_more) assert_ok(backfill_round(t->core, 1000, &did, &has_more, &t->err));
}

/* ---- refusals ---- */

struct refused {
    const char *source;
    sheaf_rc rc;
    const char *message;
    struct core_update_table q;
};

static void test_update__refuses_in_aws_words(void **state)
{
    struct core_test *t = *state;
    const struct refused refusals[] = {
        {QUIRKS,
         SHEAF_VALIDATION,
         "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
         "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
         "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, "
         "OnDemandThroughput, WarmThroughput or TableClass is required",
         {.table = L("Dem")}},
        {QUIRKS,
         SHEAF_VALIDATION,
         "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
         "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
         "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, "
         "OnDemandThroughput, WarmThroughput or TableClass is required",
         {.table = L("Dem"), DEFS(K("x", S))}},
        {QUIRKS,
         SHEAF_RESOURCE_NOT_FOUND,
         "Requested resource not found: Table: ghost not found",
         {.table = L("ghost"), .protection = CORE_ON}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "TableClass modification must be the only operation in the request",
         {.table = L("Dem"), .protection = CORE_ON, .infrequent = CORE_ON}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "DeletionProtection modification must be the only operation in the request",
         {.table = L("Dem"), .protection = CORE_ON, .stream = CORE_ON, .view = CORE_STREAM_KEYS}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "You cannot modify stream status while updating table IOPS",
         {.table = L("Prov"),
          .throughput = CORE_ON,
          .read_units = 9,
          .write_units = 9,
          .stream = CORE_ON,
          .view = CORE_STREAM_KEYS}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "You cannot create or delete index while updating table IOPS",
         {.table = L("Prov"),
          .throughput = CORE_ON,
          .read_units = 9,
          .write_units = 9,
          .delete_index = L("gsi")}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "You cannot create or delete index while changing stream status",
         {.table = L("Dem"),
          .delete_index = L("gsi"),
          .stream = CORE_ON,
          .view = CORE_STREAM_KEYS}},
        {DYNALITE,
         SHEAF_VALIDATION,
         "2 validation errors detected: Value '0' at 'provisionedThroughput.readCapacityUnits' "
         "failed to satisfy constraint: Member must have value greater than or equal to 1; Value "
         "'0' at 'provisionedThroughput.writeCapacityUnits' failed to satisfy constraint: Member "
         "must have value greater than or equal to 1",
         {.table = L("Prov"), .throughput = CORE_ON}},
        {DYNALITE,
         SHEAF_VALIDATION,
         "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
         {.table = L("Prov"),
          .throughput = CORE_ON,
          .read_units = UINT64_C(1000000000001),
          .write_units = 1}},
        {DYNALITE,
         SHEAF_VALIDATION,
         "The provisioned throughput for the table will not change. The requested value equals the "
         "current value. Current ReadCapacityUnits provisioned for the table: 5. Requested "
         "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the table: 5. Requested "
         "WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits "
         "and how to request higher limits.",
         {.table = L("Prov"), .throughput = CORE_ON, .read_units = 5, .write_units = 5}},
        {UNVERIFIED,
         SHEAF_VALIDATION,
         "The provisioned throughput for the index gsi will not change. The requested value equals "
         "the current value. Current ReadCapacityUnits provisioned for index gsi: 5. Requested "
         "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for index gsi: 5. Requested "
         "WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for current limits "
         "and how to request higher limits.",
         {.table = L("Prov"),
          .update_index = INDEX(.name = L("gsi"), .read_units = 5, .write_units = 5)}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
                 "BillingMode is PAY_PER_REQUEST",
         {.table = L("Dem"), .throughput = CORE_ON, .read_units = 5, .write_units = 5}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
                 "BillingMode is PAY_PER_REQUEST",
         {.table = L("Prov"),
          .provisioned = CORE_OFF,
          .throughput = CORE_ON,
          .read_units = 5,
          .write_units = 5}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
         {.table = L("Dem"), .provisioned = CORE_ON}},
        {DYNALITE,
         SHEAF_VALIDATION,
         INVALID "ProvisionedThroughput must be specified for index: gsi",
         {.table = L("Dem"),
          .provisioned = CORE_ON,
          .throughput = CORE_ON,
          .read_units = 5,
          .write_units = 5}},
        {QUIRKS_152,
         SHEAF_VALIDATION,
         INVALID "The only Updates for index: gsi when TableThroughputMode is PAY_PER_REQUEST can "
                 "be to OnDemandThroughput, WarmThroughput",
         {.table = L("Dem"),
          .update_index = INDEX(.name = L("gsi"), .read_units = 5, .write_units = 5)}},
        {QUIRKS_161,
         SHEAF_RESOURCE_NOT_FOUND,
         "Requested resource not found: Index ghost for table Prov",
         {.table = L("Prov"),
          .update_index = INDEX(.name = L("ghost"), .read_units = 5, .write_units = 5)}},
        {QUIRKS_161,
         SHEAF_RESOURCE_NOT_FOUND,
         "Requested resource not found: Index ghost for table Dem",
         {.table = L("Dem"), .delete_index = L("ghost")}},
        {QUIRKS_137,
         SHEAF_VALIDATION,
         "Cannot delete an index that is not a GlobalSecondaryIndex: lsi",
         {.table = L("Dem"), .delete_index = L("lsi")}},
        {QUIRKS_137,
         SHEAF_VALIDATION,
         "Cannot update an index that is not a GlobalSecondaryIndex: lsi",
         {.table = L("Prov"),
          .update_index = INDEX(.name = L("lsi"), .read_units = 5, .write_units = 5)}},
        {QUIRKS_137,
         SHEAF_VALIDATION,
         "Attempting to create an index which already exists",
         {.table = L("Dem"),
          .create_index = INDEX(.name = L("lsi"), .n_hash = 1, .hash = {K("x", S)})}},
        {QUIRKS,
         SHEAF_VALIDATION,
         "Attempting to create an index which already exists",
         {.table = L("Dem"),
          .create_index = INDEX(.name = L("gsi"), .n_hash = 1, .hash = {K("x", NONE)})}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "AttributeDefinitions is not specified for index: new",
         {.table = L("Dem"),
          .create_index = INDEX(.name = L("new"), .n_hash = 1, .hash = {K("g", NONE)})}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: [a, b], "
                 "AttributeDefinitions: [a]",
         {.table = L("Dem"),
          DEFS(K("a", S)),
          .create_index = INDEX(.name = L("new"), .n_hash = 1, .n_range = 1, .hash = {K("a", NONE)},
                                .range = {K("b", NONE)})}},
        {ALTERNATOR,
         SHEAF_VALIDATION,
         INVALID "Attributes cannot be redefined. Please check that your attribute has the same "
                 "type as previously defined. Existing schema: Schema:[SchemaElement: "
                 "key{g:S:HASH}] New schema: Schema:[SchemaElement: key{g:N:HASH}]",
         {.table = L("Dem"),
          DEFS(K("g", N)),
          .create_index = INDEX(.name = L("new"), .n_hash = 1, .hash = {K("g", NONE)})}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: new",
         {.table = L("Prov"),
          .create_index = INDEX(.name = L("new"), .n_hash = 1, .hash = {K("x", S)})}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: new "
                 "when BillingMode is PAY_PER_REQUEST",
         {.table = L("Dem"),
          .create_index = INDEX(.name = L("new"), .n_hash = 1, .hash = {K("x", S)}, .read_units = 1,
                                .write_units = 1)}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "The KeySchema exceeds the maximum allowed number of HASH key attributes",
         {.table = L("Dem"), .create_index = INDEX(.name = L("new"), .n_hash = 5)}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
         {.table = L("Dem"),
          .create_index = INDEX(.name = L("new"), .n_hash = 1, .hash = {K("x", S)},
                                .projection = CORE_PROJECT_INCLUDE)}},
        {QUIRKS_443,
         SHEAF_LIMIT_EXCEEDED,
         "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously "
         "per table",
         {.table = L("Dem"),
          .delete_index = L("gsi"),
          .create_index = INDEX(.name = L("new"), .n_hash = 1, .hash = {K("x", S)})}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "Only one global secondary index update per index is allowed simultaneously. "
                 "Index: gsi",
         {.table = L("Prov"),
          .delete_index = L("gsi"),
          .update_index = INDEX(.name = L("gsi"), .read_units = 7, .write_units = 7)}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "If stream is being enabled then UpdateViewType is required",
         {.table = L("Dem"), .stream = CORE_ON}},
        {QUIRKS,
         SHEAF_VALIDATION,
         INVALID "If stream is being disabled, then UpdateViewType must not be specified",
         {.table = L("Dem"), .stream = CORE_OFF, .view = CORE_STREAM_KEYS}},
        {QUIRKS,
         SHEAF_VALIDATION,
         "Table has no stream to disable: TableName: Dem",
         {.table = L("Dem"), .stream = CORE_OFF}},
    };
    size_t unverified = 0;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        const struct refused *r = &refusals[i];
        struct core_table_outcome out;
        sheaf_rc rc = core_update_table(t->core, &t->ctx, &r->q, &out);
        if (rc != r->rc || strcmp(t->err.message, r->message) != 0)
            fail_msg("row %zu: rc %d \"%s\", wanted \"%s\"", i, (int)rc, t->err.message,
                     r->message);
        unverified += r->source == UNVERIFIED;
    }
    assert_int_equal(describe(t, L("Dem")).n_indexes, 2);
    assert_int_equal(describe(t, L("Dem")).n_definitions, 4);
    assert_int_equal(describe(t, L("Prov")).read_units, 5);
    printf("UpdateTable refusals: %zu rows, %zu unverified\n", COUNT(refusals), unverified);
}

/* ---- units, flags ---- */

static void test_update__changes_units_of_table_and_index(void **state)
{
    struct core_test *t = *state;
    struct core_table_info info = update(
        t, &(struct core_update_table){
               .table = L("Prov"), .throughput = CORE_ON, .read_units = 10, .write_units = 20});
    assert_int_equal(info.status, CORE_UPDATING);
    update(t, &(struct core_update_table){
                  .table = L("Prov"),
                  .update_index = INDEX(.name = L("gsi"), .read_units = 7, .write_units = 8)});
    info = describe(t, L("Prov"));
    assert_int_equal(info.status, CORE_ACTIVE);
    assert_int_equal(info.read_units, 10);
    assert_int_equal(info.write_units, 20);
    assert_int_equal(info.indexes[0].def.read_units, 7);
    assert_int_equal(info.indexes[0].def.write_units, 8);
}

static void test_update__switches_billing_both_ways(void **state)
{
    struct core_test *t = *state;
    update(t, &(struct core_update_table){.table = L("Prov"), .provisioned = CORE_OFF});
    struct core_table_info info = describe(t, L("Prov"));
    assert_false(info.is_provisioned);
    assert_int_equal(info.read_units, 0);
    assert_int_equal(info.indexes[0].def.write_units, 0);
    update(t, &(struct core_update_table){.table = L("Prov"), .provisioned = CORE_OFF}); /* again */
    update(t, &(struct core_update_table){
                  .table = L("Prov"),
                  .provisioned = CORE_ON,
                  .throughput = CORE_ON,
                  .read_units = 3,
                  .write_units = 4,
                  .update_index = INDEX(.name = L("gsi"), .read_units = 1, .write_units = 2)});
    info = describe(t, L("Prov"));
    assert_true(info.is_provisioned);
    assert_int_equal(info.write_units, 4);
    assert_int_equal(info.indexes[0].def.write_units, 2);
}

static void test_update__changes_protection_and_class(void **state)
{
    struct core_test *t = *state;
    struct core_table_info info =
        update(t, &(struct core_update_table){.table = L("Dem"), .protection = CORE_ON});
    assert_int_equal(info.status, CORE_ACTIVE); /* takes effect at once, as on AWS */
    update(t, &(struct core_update_table){.table = L("Dem"), .protection = CORE_ON});
    update(t, &(struct core_update_table){.table = L("Dem"), .infrequent = CORE_ON});
    info = describe(t, L("Dem"));
    assert_true(info.is_protected && info.is_infrequent);
    update(t, &(struct core_update_table){.table = L("Dem"), .infrequent = CORE_OFF});
    assert_false(describe(t, L("Dem")).is_infrequent);
}

/* ---- streams ---- */

static void test_update__gives_each_stream_a_label_of_its_own(void **state)
{
    struct core_test *t = *state; /* the clock stands still */
    struct core_table_outcome out;
    const char *labels[] = {"2026-11-15T03:03:04.567", "2026-11-15T03:03:04.568",
                            "2026-11-15T03:03:04.569"};
    for (size_t i = 0; i < COUNT(labels); i++) {
        struct core_update_table on = {
            .table = L("Dem"), .stream = CORE_ON, .view = CORE_STREAM_NEW};
        struct core_table_info info = update(t, &on);
        assert_int_equal(info.stream, CORE_STREAM_NEW);
        assert_span(info.stream_label, labels[i]);
        assert_rc(core_update_table(t->core, &t->ctx, &on, &out), SHEAF_VALIDATION);
        /* QUIRKS */
        assert_string_equal(t->err.message, "Table already has an enabled stream: TableName: Dem");
        update(t, &(struct core_update_table){.table = L("Dem"), .stream = CORE_OFF});
        info = describe(t, L("Dem"));
        assert_int_equal(info.stream, CORE_STREAM_NONE);
        assert_span(info.stream_label, labels[i]); /* the old stream stays readable */
    }
    struct table *table = cat_find(t->core, L("Dem"));
    assert_int_equal(table->n_streams, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(table->streams[i].disabled_us != 0);
        assert_true(i == 0 || table->streams[i].space > table->streams[i - 1].space);
    }
    table_unref(table);
}

/* ---- indexes ---- */

static void test_update__adds_an_index_and_its_definitions(void **state)
{
    struct core_test *t = *state;
    struct core_table_info info =
        update(t, &(struct core_update_table){
                      .table = L("Dem"),
                      DEFS(K("b", N), K("a", S), K("unused", S)),
                      .create_index = INDEX(.name = L("new"), .n_hash = 1, .n_range = 1,
                                            .hash = {K("a", NONE)}, .range = {K("b", NONE)})});
    assert_int_equal(info.status, CORE_UPDATING);
    info = describe(t, L("Dem"));
    assert_int_equal(info.status, CORE_ACTIVE);
    assert_int_equal(info.n_indexes, 3);
    assert_int_equal(info.indexes[2].status, CORE_CREATING);
    assert_true(info.indexes[2].is_backfilling);
    assert_int_equal(info.indexes[2].def.range[0].type, VAL_N);
    assert_int_equal(info.n_definitions, 6); /* what nothing uses is ignored */
    assert_span(info.definitions[4].name, "b");
    fill(t);
    info = describe(t, L("Dem"));
    assert_int_equal(info.indexes[2].status, CORE_ACTIVE);
    assert_false(info.indexes[2].is_backfilling);
}

static void test_update__takes_one_index_change_at_a_time(void **state)
{
    struct core_test *t = *state;
    struct core_table_outcome out;
    struct core_index_def x = {.name = L("new"), .n_hash = 1, .hash = {K("a", S)}};
    struct core_update_table create = {.table = L("Dem"), .create_index = &x};
    update(t, &create);
    x.name = L("more");
    assert_rc(core_update_table(t->core, &t->ctx, &create, &out), SHEAF_LIMIT_EXCEEDED);
    struct core_update_table drop = {.table = L("Dem"), .delete_index = L("gsi")};
    assert_rc(core_update_table(t->core, &t->ctx, &drop, &out), SHEAF_LIMIT_EXCEEDED);
    /* An index that is being filled may be deleted: GlobalSecondaryIndexDescription.Backfilling. */
    drop.delete_index = L("new");
    update(t, &drop);
    update(t, &create);
    fill(t);
    drop.delete_index = L("gsi");
    update(t, &drop);
    struct core_table_info info = describe(t, L("Dem"));
    assert_int_equal(info.n_indexes, 2);
    assert_span(info.indexes[1].def.name, "more");
}

static void test_update__takes_20_global_indexes_and_no_more(void **state)
{
    struct core_test *t = *state;
    struct core_table_outcome out;
    char name[8];
    for (unsigned i = 2; i <= 21; i++) {
        snprintf(name, sizeof name, "i%02u", i);
        struct core_index_def x = {.name = span_cstr(name), .n_hash = 1, .hash = {K("a", S)}};
        struct core_update_table q = {.table = L("Dem"), .create_index = &x};
        sheaf_rc rc = core_update_table(t->core, &t->ctx, &q, &out);
        assert_int_equal(rc, i <= 20 ? SHEAF_OK : SHEAF_LIMIT_EXCEEDED);
        fill(t);
    }
    /* QUIRKS_443 */
    assert_string_equal(t->err.message, "Subscriber limit exceeded: Number of global secondary "
                                        "indexes exceeds per-table limit of 20");
}

static void test_update__deletes_an_index_with_its_rows_and_orphaned_definitions(void **state)
{
    struct core_test *t = *state;
    test_put(t, "Dem", "{PK: 'a', SK: 'b', g: 'x', l: 'y'}");
    struct table *table = cat_find(t->core, L("Dem"));
    uint64_t space = table->indexes[0].space;
    table_unref(table);
    assert_int_equal(test_walk(t, space).items, 1);
    struct core_table_info info =
        update(t, &(struct core_update_table){.table = L("Dem"), .delete_index = L("gsi")});
    assert_int_equal(info.n_indexes, 2);
    assert_int_equal(info.indexes[0].status, CORE_DELETING);
    info = describe(t, L("Dem"));
    assert_int_equal(info.n_indexes, 1);
    assert_int_equal(info.n_definitions, 3);
    for (uint32_t i = 0; i < 3; i++) assert_false(span_eq(info.definitions[i].name, L("g")));
    assert_int_equal(test_walk(t, space).items, 0);
    test_put(t, "Dem", "{PK: 'a', SK: 'b', g: 7, l: 'z'}"); /* g may be anything again */
    test_check_table(t, "Dem");
}

static void test_update__keeps_definitions_that_others_use(void **state)
{
    struct core_test *t = *state;
    struct core_index_def x = {.name = L("also"), .n_hash = 1, .hash = {K("g", S)}};
    update(t, &(struct core_update_table){.table = L("Dem"), .create_index = &x});
    fill(t);
    update(t, &(struct core_update_table){.table = L("Dem"), .delete_index = L("gsi")});
    assert_int_equal(describe(t, L("Dem")).n_definitions, 4);
}

/* ---- TTL ---- */

static void expect_ttl(struct core_test *t, span attribute, bool is_on, const char *message)
{
    sheaf_position at;
    assert_rc(core_update_ttl(t->core, &t->ctx, L("Dem"), attribute, is_on, &at), SHEAF_VALIDATION);
    assert_string_equal(t->err.message, message);
}

static void test_ttl__switches_on_and_off_in_aws_words(void **state)
{
    struct core_test *t = *state;
    sheaf_position at;
    span attribute;
    expect_ttl(t, L("exp"), false, "TimeToLive is already disabled"); /* QUIRKS, as below */
    assert_ok(core_describe_ttl(t->core, &t->ctx, L("Dem"), &attribute, &at));
    assert_null(attribute.p);
    assert_ok(core_update_ttl(t->core, &t->ctx, L("Dem"), L("exp"), true, &at));
    assert_ok(core_describe_ttl(t->core, &t->ctx, L("Dem"), &attribute, &at));
    assert_span(attribute, "exp");
    expect_ttl(t, L("exp"), true, "TimeToLive is already enabled");
    const char *other = "TimeToLive is active on a different AttributeName: current AttributeName "
                        "is exp";
    expect_ttl(t, L("etc"), true, other);
    expect_ttl(t, L("etc"), false, other);
    assert_ok(core_update_ttl(t->core, &t->ctx, L("Dem"), L("exp"), false, &at));
    assert_ok(core_describe_ttl(t->core, &t->ctx, L("Dem"), &attribute, &at));
    assert_null(attribute.p);
    assert_ok(core_update_ttl(t->core, &t->ctx, L("Dem"), L("etc"), true, &at));
}

static void test_ttl__takes_attribute_names_of_1_to_255_bytes(void **state)
{
    struct core_test *t = *state;
    sheaf_position at;
    char name[256];
    memset(name, 'n', sizeof name);
    assert_rc(core_update_ttl(t->core, &t->ctx, L("Dem"), L(""), true, &at), SHEAF_VALIDATION);
    assert_string_equal(t->err.message, /* wording unverified */
                        "1 validation error detected: Value '' at "
                        "'timeToLiveSpecification.attributeName' failed to satisfy constraint: "
                        "Member must have length greater than or equal to 1");
    assert_rc(core_update_ttl(t->core, &t->ctx, L("Dem"), SPAN(name, 256), true, &at),
              SHEAF_VALIDATION);
    assert_ok(core_update_ttl(t->core, &t->ctx, L("Dem"), SPAN(name, 255), true, &at));
}

/* ---- memory ---- */

static void test_update__fails_cleanly_at_every_allocation(void **state)
{
    (void)state;
    bool is_done = false;
    uint64_t nth = 1;
    for (; !is_done && nth < 1000; nth++) {
        struct core_test t;
        struct core_table_outcome out;
        struct core_index_def x = {.name = L("new"), .n_hash = 1, .hash = {K("a", S)}};
        struct core_update_table q = {.table = L("Dem"), .create_index = &x};
        core_test_init(&t, NULL);
        create_both(&t);
        arena_deinit(&t.arena);
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = core_update_table(t.core, &t.ctx, &q, &out);
        mem_fail_at(0, false);
        is_done = mem_count() - before < nth;
        if (rc != SHEAF_OK) assert_int_equal(rc, SHEAF_NOMEM);
        struct core_table_info info = describe(&t, L("Dem"));
        assert_int_equal(info.n_indexes, rc == SHEAF_OK ? 3 : 2);
        assert_int_equal(info.n_definitions, rc == SHEAF_OK ? 5 : 4);
        core_test_deinit(&t);
    }
    printf("%" PRIu64 " allocations failed in turn\n", nth - 2);
    assert_true(is_done && nth > 5);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_update__refuses_in_aws_words),
        T(test_update__changes_units_of_table_and_index),
        T(test_update__switches_billing_both_ways),
        T(test_update__changes_protection_and_class),
        T(test_update__gives_each_stream_a_label_of_its_own),
        T(test_update__adds_an_index_and_its_definitions),
        T(test_update__takes_one_index_change_at_a_time),
        T(test_update__takes_20_global_indexes_and_no_more),
        T(test_update__deletes_an_index_with_its_rows_and_orphaned_definitions),
        T(test_update__keeps_definitions_that_others_use),
        T(test_ttl__switches_on_and_off_in_aws_words),
        T(test_ttl__takes_attribute_names_of_1_to_255_bytes),
        cmocka_unit_test(test_update__fails_cleanly_at_every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
