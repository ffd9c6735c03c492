/* core: the settings of tables that are kept and told: OnDemandThroughput, WarmThroughput,
 * encryption, the table class and what became of provisioned units. */
#include "support/core_support.h"

#include "base/mem.h"
#include "core/tables.h"

#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define L(text) SPAN_LIT(text)
#define BOTH(r, w)                                                                                 \
    {                                                                                              \
        true, true, r, w                                                                           \
    }
#define READ(r)                                                                                    \
    {                                                                                              \
        true, false, r, 0                                                                          \
    }
#define WRITE(w)                                                                                   \
    {                                                                                              \
        false, true, 0, w                                                                          \
    }
#define INDEX(...)                                                                                 \
    &(const struct core_index_def) { __VA_ARGS__ }

/* Where a message comes from. */
#define QUIRKS_038 "ack-api-quirks, DDB-TABLE-038 (captured on AWS)"
#define QUIRKS_039 "ack-api-quirks, DDB-TABLE-039 (captured on AWS)"
#define QUIRKS_051 "ack-api-quirks, DDB-TABLE-051 (captured on AWS)"
#define QUIRKS_059 "ack-api-quirks, DDB-TABLE-059 (captured on AWS)"
#define QUIRKS_061 "ack-api-quirks, DDB-TABLE-061 (captured on AWS)"
#define QUIRKS_174 "ack-api-quirks, DDB-TABLE-174 (captured on AWS)"
#define QUIRKS_433 "ack-api-quirks, DDB-TABLE-433 (captured on AWS)"
#define CATALOGUE "ack-api-quirks, catalogue of ValidationException (captured on AWS)"
#define UNVERIFIED NULL
#define INVALID "One or more parameter values were invalid: "
#define INITIAL                                                                                    \
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"                            \
    "on-demand-capacity-mode.html#on-demand-capacity-mode-initial"

#define NOW INT64_C(1794711784567891) /* 2026-11-15, UTC */
#define DAY INT64_C(86400000000)

static struct clock_manual clock_;
static struct core_test t;

/* "Dem": on demand; "Prov": provisioned, 5 and 5. Both have a global index "gsi". */
static void create_both(void)
{
    struct core_index_def x = {.name = L("gsi"), .n_hash = 1, .hash = {{L("g"), VAL_S}}};
    struct core_create_table q = {
        .table = L("Dem"), .hash = {L("p"), VAL_S}, .indexes = &x, .n_indexes = 1};
    struct core_table_outcome out;
    assert_ok(core_create_table(t.core, &t.ctx, &q, &out));
    q.table = L("Prov");
    q.is_provisioned = true;
    q.read_units = q.write_units = x.read_units = x.write_units = 5;
    assert_ok(core_create_table(t.core, &t.ctx, &q, &out));
}

static int setup(void **state)
{
    (void)state;
    clock_manual_init(&clock_, NOW);
    core_test_init(&t, &(struct core_options){.clock = &clock_.base});
    create_both();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_test_deinit(&t);
    return 0;
}

static struct core_table_info describe(const char *table)
{
    struct core_table_outcome out;
    assert_ok(core_describe_table(t.core, &t.ctx, span_cstr(table), &out));
    return out.table;
}

static struct core_table_info update(const struct core_update_table *q)
{
    struct core_table_outcome out;
    if (core_update_table(t.core, &t.ctx, q, &out) != SHEAF_OK)
        fail_msg("UpdateTable: %s", t.err.message);
    return out.table;
}

static void assert_figures(const struct core_throughput *x, int64_t read, int64_t write)
{
    assert_int_equal(x->has_read, read != 0);
    assert_int_equal(x->has_write, write != 0);
    assert_int_equal(x->read, read);
    assert_int_equal(x->write, write);
}

/* ---- creating ---- */

static void test_create__tells_what_was_given_and_the_defaults(void **state)
{
    (void)state;
    struct core_index_def x = {.name = L("gsi"),
                               .n_hash = 1,
                               .hash = {{L("g"), VAL_S}},
                               .on_demand = WRITE(70),
                               .warm = READ(13000)};
    struct core_create_table q = {.table = L("Set"),
                                  .hash = {L("p"), VAL_S},
                                  .indexes = &x,
                                  .n_indexes = 1,
                                  .on_demand = BOTH(100, 50),
                                  .warm = WRITE(5000),
                                  .is_kms = true,
                                  .kms_key = L("arn:aws:kms:us-east-1:0:key/k")};
    struct core_table_outcome out;
    assert_ok(core_create_table(t.core, &t.ctx, &q, &out));
    struct core_table_info info = describe("Set");
    assert_figures(&info.on_demand, 100, 50);
    assert_figures(&info.warm, 12000, 5000);
    assert_figures(&info.indexes[0].def.on_demand, 0, 70);
    assert_figures(&info.indexes[0].def.warm, 13000, 4000);
    assert_true(info.is_kms);
    assert_span(info.kms_key, "arn:aws:kms:us-east-1:0:key/k");
    assert_int_equal(info.on_demand_us, NOW);
    assert_int_equal(info.class_us, 0);
    info = describe("Prov");
    assert_figures(&info.on_demand, 0, 0);
    assert_figures(&info.warm, 5, 5);
    assert_figures(&info.indexes[0].def.warm, 5, 5);
    assert_int_equal(info.on_demand_us, 0);
    assert_false(info.is_kms);
    assert_int_equal(info.changes.increased_us, 0);
}

static void test_create__refuses_settings(void **state)
{
    (void)state;
    static const struct {
        const char *source, *message;
        struct core_throughput on_demand, warm, index_on_demand, index_warm;
        bool is_provisioned, is_key;
    } rows[] = {
        {QUIRKS_039,
         INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of "
                 "valid range",
         .on_demand = BOTH(0, 0)},
        {QUIRKS_039,
         INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of "
                 "valid range",
         .on_demand = BOTH(-1, -1)},
        {QUIRKS_051,
         INVALID "Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of "
                 "valid range",
         .on_demand = BOTH(1, 0)},
        {CATALOGUE,
         INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for index : gsi is outside "
                 "of valid range",
         .index_on_demand = READ(0)},
        {QUIRKS_038,
         INVALID "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table "
                 "BillingMode is PROVISIONED.",
         .on_demand = BOTH(1, 1), .is_provisioned = true},
        {UNVERIFIED,
         INVALID "MaxWriteRequestUnits for OnDemandThroughput cannot be specified for index : gsi "
                 "when the table BillingMode is PROVISIONED",
         .index_on_demand = WRITE(1), .is_provisioned = true},
        {QUIRKS_039,
         INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than initial "
                 "throughput for OnDemand. See: " INITIAL,
         .warm = BOTH(1, 1)},
        {QUIRKS_039,
         INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than initial "
                 "throughput for OnDemand. See: " INITIAL,
         .warm = BOTH(0, 0)},
        {UNVERIFIED,
         INVALID "Requested WriteUnitsPerSecond for WarmThroughput for table is lower than initial "
                 "throughput for OnDemand. See: " INITIAL,
         .warm = BOTH(12000, 3999)},
        {CATALOGUE,
         INVALID "Requested ReadUnitsPerSecond for WarmThroughput for index gsi is lower than "
                 "initial throughput for OnDemand. See: " INITIAL,
         .index_warm = READ(11999)},
        {QUIRKS_039,
         INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than "
                 "ReadCapacityUnits of ProvisionedThroughput",
         .warm = BOTH(9, 9), .is_provisioned = true},
        {CATALOGUE, INVALID "KMSMasterKeyId can not be specified if Enabled is false",
         .is_key = true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t units = rows[i].is_provisioned ? 10 : 0;
        struct core_index_def x = {.name = L("gsi"),
                                   .n_hash = 1,
                                   .hash = {{L("g"), VAL_S}},
                                   .read_units = units,
                                   .write_units = units,
                                   .on_demand = rows[i].index_on_demand,
                                   .warm = rows[i].index_warm};
        struct core_create_table q = {.table = L("Bad"),
                                      .hash = {L("p"), VAL_S},
                                      .indexes = &x,
                                      .n_indexes = 1,
                                      .is_provisioned = rows[i].is_provisioned,
                                      .read_units = units,
                                      .write_units = units,
                                      .on_demand = rows[i].on_demand,
                                      .warm = rows[i].warm,
                                      .kms_key = rows[i].is_key ? L("key") : SPAN_NONE};
        struct core_table_outcome out;
        sheaf_rc rc = core_create_table(t.core, &t.ctx, &q, &out);
        if (rc != SHEAF_VALIDATION || strcmp(t.err.message, rows[i].message) != 0)
            fail_msg("row %zu: rc %d \"%s\", wanted \"%s\"", i, (int)rc, t.err.message,
                     rows[i].message);
    }
}

/* ---- updating ---- */

static void test_update__merges_maxima_and_forgets_those_of_minus_one(void **state)
{
    (void)state;
    struct core_table_info info =
        update(&(struct core_update_table){.table = L("Dem"), .on_demand = BOTH(1000, 500)});
    assert_int_equal(info.status, CORE_ACTIVE);
    info = update(&(struct core_update_table){.table = L("Dem"), .on_demand = READ(2000)});
    assert_figures(&info.on_demand, 2000, 500);
    info = update(&(struct core_update_table){.table = L("Dem"), .on_demand = WRITE(-1)});
    assert_figures(&info.on_demand, 2000, 0);
    info = update(&(struct core_update_table){
        .table = L("Dem"), .update_index = INDEX(.name = L("gsi"), .on_demand = BOTH(7, 8))});
    assert_figures(&info.indexes[0].def.on_demand, 7, 8);
    info = update(&(struct core_update_table){
        .table = L("Dem"),
        .provisioned = CORE_ON,
        .throughput = CORE_ON,
        .read_units = 1,
        .write_units = 1,
        .update_index = INDEX(.name = L("gsi"), .read_units = 1, .write_units = 1)});
    assert_figures(&info.on_demand, 0, 0);
    assert_figures(&info.indexes[0].def.on_demand, 0, 0);
}

static void test_warm__rises_with_units_and_never_falls(void **state)
{
    (void)state;
    static const uint64_t units[] = {7, 9, 2}; /* QUIRKS_061 */
    static const int64_t warm[] = {7, 9, 9};
    struct core_table_info info;
    for (size_t i = 0; i < COUNT(units); i++) {
        info = update(&(struct core_update_table){.table = L("Prov"),
                                                  .throughput = CORE_ON,
                                                  .read_units = units[i],
                                                  .write_units = units[i]});
        assert_figures(&info.warm, warm[i], warm[i]);
        assert_figures(&info.indexes[0].def.warm, 5, 5);
    }
    info = update(&(struct core_update_table){.table = L("Prov"), .warm = WRITE(50)});
    assert_int_equal(info.status, CORE_ACTIVE);
    assert_figures(&info.warm, 9, 50);
    info = update(&(struct core_update_table){
        .table = L("Prov"), .update_index = INDEX(.name = L("gsi"), .warm = READ(60))});
    assert_figures(&info.indexes[0].def.warm, 60, 5);
    info = update(&(struct core_update_table){.table = L("Prov"), .provisioned = CORE_OFF});
    assert_figures(&info.warm, 12000, 4000);
    info = update(&(struct core_update_table){
        .table = L("Prov"),
        .provisioned = CORE_ON,
        .throughput = CORE_ON,
        .read_units = 1,
        .write_units = 1,
        .update_index = INDEX(.name = L("gsi"), .read_units = 1, .write_units = 1)});
    assert_figures(&info.warm, 12000, 4000);
    assert_figures(&info.indexes[0].def.warm, 12000, 4000);
}

static void test_units__tell_their_last_changes_and_todays_decreases(void **state)
{
    (void)state;
    struct core_update_table q = {
        .table = L("Prov"), .throughput = CORE_ON, .read_units = 6, .write_units = 5};
    struct core_table_info info = update(&q);
    assert_int_equal(info.changes.increased_us, NOW);
    assert_int_equal(info.changes.decreased_us, 0);
    clock_manual_advance(&clock_, 1);
    q.read_units = 4;
    update(&q);
    q.read_units = 3;
    q.write_units = 9;
    info = update(&q); /* one down, the other up */
    assert_int_equal(info.changes.increased_us, NOW + 1);
    assert_int_equal(info.changes.decreased_us, NOW + 1);
    assert_int_equal(info.changes.decreases_today, 2);
    assert_int_equal(info.indexes[0].changes.increased_us, 0);
    clock_manual_advance(&clock_, DAY);
    info = describe("Prov");
    assert_int_equal(info.changes.decreases_today, 0);
    assert_int_equal(info.changes.decreased_us, NOW + 1);
    info = update(&(struct core_update_table){
        .table = L("Prov"),
        .update_index = INDEX(.name = L("gsi"), .read_units = 5, .write_units = 1)});
    assert_int_equal(info.indexes[0].changes.decreases_today, 1);
    assert_int_equal(info.changes.decreases_today, 0);
}

static void test_update__tells_when_billing_and_class_changed(void **state)
{
    (void)state;
    clock_manual_advance(&clock_, 5);
    struct core_table_info info =
        update(&(struct core_update_table){.table = L("Prov"), .provisioned = CORE_OFF});
    assert_int_equal(info.on_demand_us, NOW + 5);
    info = update(&(struct core_update_table){.table = L("Dem"), .infrequent = CORE_OFF});
    assert_int_equal(info.class_us, 0); /* as it was */
    info = update(&(struct core_update_table){.table = L("Dem"), .infrequent = CORE_ON});
    assert_int_equal(info.class_us, NOW + 5);
    assert_int_equal(info.on_demand_us, NOW);
}

static void test_update__switches_encryption(void **state)
{
    (void)state;
    struct core_table_info info =
        update(&(struct core_update_table){.table = L("Dem"), .kms = CORE_ON});
    assert_true(info.is_kms);
    assert_null(info.kms_key.p);
    info =
        update(&(struct core_update_table){.table = L("Dem"), .kms = CORE_ON, .kms_key = L("key")});
    assert_span(info.kms_key, "key");
    info = update(&(struct core_update_table){.table = L("Dem"), .kms = CORE_OFF});
    assert_false(info.is_kms);
    assert_null(info.kms_key.p);
}

static void test_update__refuses_settings(void **state)
{
    (void)state;
    update(&(struct core_update_table){.table = L("Prov"), .kms = CORE_ON});
    const struct {
        const char *source, *message;
        struct core_update_table q;
    } rows[] = {
        {QUIRKS_059,
         INVALID "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "
                 "BillingMode is PROVISIONED",
         {.table = L("Prov"), .on_demand = BOTH(100, 100)}},
        {QUIRKS_051,
         INVALID "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of "
                 "valid range",
         {.table = L("Dem"), .on_demand = READ(-2)}},
        {CATALOGUE,
         INVALID "Requested MaxWriteRequestUnits for OnDemandThroughput for index : gsi is outside "
                 "of valid range",
         {.table = L("Dem"), .update_index = INDEX(.name = L("gsi"), .on_demand = WRITE(0))}},
        {UNVERIFIED,
         INVALID "MaxReadRequestUnits for OnDemandThroughput cannot be specified for index : gsi "
                 "when the table BillingMode is PROVISIONED",
         {.table = L("Prov"), .update_index = INDEX(.name = L("gsi"), .on_demand = READ(1))}},
        {QUIRKS_061,
         INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current "
                 "WarmThroughput, decreasing WarmThroughput is not supported",
         {.table = L("Prov"), .warm = BOTH(1, 1)}},
        {QUIRKS_061,
         INVALID "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current "
                 "WarmThroughput, decreasing WarmThroughput is not supported",
         {.table = L("Dem"), .warm = BOTH(11999, 4000)}},
        {CATALOGUE,
         INVALID "Requested WriteUnitsPerSecond for WarmThroughput for index gsi is lower than "
                 "current WarmThroughput, decreasing WarmThroughput is not supported",
         {.table = L("Dem"), .update_index = INDEX(.name = L("gsi"), .warm = WRITE(3999))}},
        {QUIRKS_433,
         INVALID "WarmThroughput must be the only operation in the request",
         {.table = L("Dem"), .warm = BOTH(12000, 4000), .provisioned = CORE_OFF}},
        {QUIRKS_174,
         INVALID "Create global secondary index cannot be specified when updating WarmThroughput",
         {.table = L("Dem"),
          .warm = BOTH(12000, 4000),
          .create_index = INDEX(.name = L("new"), .n_hash = 1, .hash = {{L("n"), VAL_S}})}},
        {QUIRKS_433,
         INVALID "OnDemandThroughput can only be combined with BillingMode in an UpdateTable "
                 "request",
         {.table = L("Dem"), .on_demand = BOTH(1, 1), .stream = CORE_ON, .view = CORE_STREAM_NEW}},
        {QUIRKS_433,
         INVALID "OnDemandThroughput can only be combined with BillingMode in an UpdateTable "
                 "request",
         {.table = L("Dem"), .on_demand = BOTH(1, 1), .warm = BOTH(12000, 4000)}},
        {QUIRKS_433,
         INVALID "Server-Side Encryption modification must be the only operation in the request",
         {.table = L("Dem"), .kms = CORE_ON, .protection = CORE_ON}},
        {QUIRKS_433,
         INVALID "DeletionProtection modification must be the only operation in the request",
         {.table = L("Dem"), .warm = BOTH(12000, 4000), .protection = CORE_ON}},
        {CATALOGUE,
         INVALID "Table is already encrypted by default",
         {.table = L("Dem"), .kms = CORE_OFF}},
        {CATALOGUE,
         INVALID "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId "
                 "parameter if you want to change Master Key",
         {.table = L("Prov"), .kms = CORE_ON}},
        {CATALOGUE,
         INVALID "KMSMasterKeyId can not be specified if Enabled is false",
         {.table = L("Dem"), .kms = CORE_OFF, .kms_key = L("key")}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct core_table_outcome out;
        sheaf_rc rc = core_update_table(t.core, &t.ctx, &rows[i].q, &out);
        if (rc != SHEAF_VALIDATION || strcmp(t.err.message, rows[i].message) != 0)
            fail_msg("row %zu: rc %d \"%s\", wanted \"%s\"", i, (int)rc, t.err.message,
                     rows[i].message);
    }
    struct core_table_info info = describe("Dem");
    assert_figures(&info.on_demand, 0, 0);
    assert_figures(&info.warm, 12000, 4000);
    /* The one pair that goes together. */
    info = update(&(struct core_update_table){
        .table = L("Prov"), .provisioned = CORE_OFF, .on_demand = BOTH(3, 4)});
    assert_figures(&info.on_demand, 3, 4);
}

/* ---- stored ---- */

static void test_settings__are_there_after_reopening(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_settings_XXXXXX", command[64];
    struct core_test own = t;
    assert_non_null(mkdtemp(dir));
    for (int round = 0; round < 2; round++) {
        sheaf_engine *e;
        assert_ok(sheaf_engine_open_rocks(dir, NULL, &e, NULL));
        core_test_init_on(&t, e, &(struct core_options){.clock = &clock_.base});
        if (round == 0) {
            create_both();
            update(&(struct core_update_table){
                .table = L("Prov"), .throughput = CORE_ON, .read_units = 9, .write_units = 4});
            update(&(struct core_update_table){.table = L("Prov"), .infrequent = CORE_ON});
            update(&(struct core_update_table){
                .table = L("Prov"), .kms = CORE_ON, .kms_key = L("key")});
            update(&(struct core_update_table){.table = L("Dem"), .on_demand = READ(6)});
        }
        struct core_table_info info = describe("Prov");
        assert_figures(&info.warm, 9, 5);
        assert_int_equal(info.changes.increased_us, NOW);
        assert_int_equal(info.changes.decreases_today, 1);
        assert_int_equal(info.class_us, NOW);
        assert_span(info.kms_key, "key");
        info = describe("Dem");
        assert_figures(&info.on_demand, 6, 0);
        core_test_deinit(&t);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
    t = own;
}

/* A row as format 1 had it: no settings, no tags. */
static void test_table_decode__reads_a_row_of_format_1(void **state)
{
    (void)state;
    struct table *is, *again;
    span row;
    assert_ok(cat_get(t.core, L("Dem"), &is, &t.err));
    struct table old = *is;
    old.on_demand_us = 0;
    old.warm = old.on_demand = (struct core_throughput){.read = 0};
    assert_ok(table_encode(&t.ctx, &old, &row));
    static const char *const members[] = {"warm", "on_demand", "tags", "is_kms", "on_demand_us"};
    for (size_t i = 0; i < COUNT(members); i++)
        assert_true(val_is_absent(val_find(item_map(row), span_cstr(members[i]))));
    assert_ok(table_decode(row, &again, &t.err));
    struct core_table_info info;
    assert_ok(tables_describe(t.core, &t.ctx, again, &info));
    assert_figures(&info.warm, 12000, 4000);
    assert_figures(&info.on_demand, 0, 0);
    assert_int_equal(info.on_demand_us, info.created_us);
    assert_int_equal(again->n_tags, 0);
    table_unref(again);
    table_unref(is);
}

static sheaf_rc put_version(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    static const sheaf_place meta_place;
    sheaf_engine_key key = {meta_place, SPAN_LIT("format")};
    return eng_put(txn, &key, SPAN(ctx, 1), err);
}

static uint8_t read_version(sheaf_engine *e)
{
    static const sheaf_place meta_place;
    sheaf_engine_key key = {meta_place, SPAN_LIT("format")};
    span value;
    void *pin;
    assert_ok(eng_read(e, &key, &value, &pin, NULL));
    assert_int_equal(value.n, 1);
    uint8_t version = *(const uint8_t *)value.p;
    eng_read_done(e, pin);
    return version;
}

static void test_open__makes_an_older_format_this_one_and_refuses_a_newer(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_settings_XXXXXX", command[64];
    static const uint8_t versions[] = {1, 2, 3};
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < COUNT(versions); i++) {
        sheaf_engine *e;
        struct core *core;
        uint8_t version = versions[i];
        assert_ok(sheaf_engine_open_rocks(dir, NULL, &e, NULL));
        assert_ok(core_open(e, NULL, &core, &t.err));
        assert_ok(sheaf_engine_run(e, put_version, &version, &(struct sheaf_run_options){.seed = 1},
                                   NULL, &t.err));
        core_close(core);
        assert_ok(sheaf_engine_open_rocks(dir, NULL, &e, NULL));
        sheaf_rc rc = core_open(e, NULL, &core, &t.err);
        if (version <= 2) {
            assert_ok(rc);
            assert_int_equal(read_version(e), 2);
            core_close(core);
            continue;
        }
        assert_int_equal(rc, SHEAF_FORMAT);
        assert_string_equal(t.err.message, "the database has format 3; this release reads up to 2: "
                                           "use a newer sheaf");
        sheaf_engine_close(e);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

static sheaf_rc change_all(struct core *core, struct ctx *c)
{
    struct core_table_outcome out;
    struct core_update_table q = {.table = L("Dem"), .kms = CORE_ON, .kms_key = L("key")};
    TRY(core_update_table(core, c, &q, &out));
    q = (struct core_update_table){.table = L("Dem"), .kms = CORE_OFF};
    return core_update_table(core, c, &q, &out);
}

static void test_settings__survive_every_failed_allocation(void **state)
{
    (void)state;
    uint64_t refused = 0;
    for (uint64_t nth = 1, is_reached = true; is_reached; nth++) {
        struct arena arena;
        struct core_table_outcome out;
        arena_init(&arena, 1 << 20);
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = change_all(t.core, &(struct ctx){&arena, &t.err});
        mem_fail_at(0, false);
        is_reached = mem_count() - before >= nth;
        arena_deinit(&arena);
        assert_true(rc == SHEAF_OK || (rc == SHEAF_NOMEM && is_reached));
        refused += rc != SHEAF_OK;
        struct core_table_info info = describe("Dem");
        assert_int_equal(info.is_kms, info.kms_key.p != NULL);
        if (info.is_kms)
            assert_ok(core_update_table(
                t.core, &t.ctx, &(struct core_update_table){.table = L("Dem"), .kms = CORE_OFF},
                &out));
    }
    assert_true(refused > 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_create__tells_what_was_given_and_the_defaults),
        T(test_create__refuses_settings),
        T(test_update__merges_maxima_and_forgets_those_of_minus_one),
        T(test_warm__rises_with_units_and_never_falls),
        T(test_units__tell_their_last_changes_and_todays_decreases),
        T(test_update__tells_when_billing_and_class_changed),
        T(test_update__switches_encryption),
        T(test_update__refuses_settings),
        T(test_settings__are_there_after_reopening),
        T(test_table_decode__reads_a_row_of_format_1),
        T(test_open__makes_an_older_format_this_one_and_refuses_a_newer),
        T(test_settings__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
