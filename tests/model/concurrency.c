/* tests/model/concurrency.c: many threads on one database through the public API.
 *
 * Counters and transfers have sums that must come out; transactions must be seen whole; and every
 * answer of every single-item operation is recorded and the history of each item is checked for
 * linearizability. Planted mistakes show that the checkers see them.
 */
#include "base/rng.h"
#include "model/history.h"
#include "support/support.h"

#include <sheaf/sheaf.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { N_THREADS = 10 };

/* ---- a database ---- */

static bool is_rocks;
static uint64_t n_operations; /* of one case */

struct stage {
    sheaf_db *db;
    char directory[64];
    uint64_t seed;
    atomic_uint_least64_t clock, failures, conflicts;
    char failure[600];
};

static void stage_open(struct stage *s, enum sheaf_durability durability)
{
    sheaf_error err;
    struct sheaf_options o = {.durability = durability, .no_background = true};
    memset(s, 0, sizeof *s);
    s->seed = test_seed(7);
    strcpy(s->directory, "/tmp/model-threads-XXXXXX");
    if (is_rocks) assert_non_null(mkdtemp(s->directory));
    if (sheaf_open(is_rocks ? s->directory : ":memory:", &o, &s->db, &err) != SHEAF_OK)
        fail_msg("sheaf_open: %s", err.message);
    assert_ok(sheaf_create_table(
        s->db,
        &(struct sheaf_create_table){
            .table = "Table",
            .partition_key = {.name = "pk", .type = SHEAF_S},
            .sort_key = {.name = "sk", .type = SHEAF_N},
            .global_indexes =
                &(struct sheaf_index){.name = "by-owner",
                                      .partition_key = {{.name = "owner", .type = SHEAF_S}},
                                      .sort_key = {{.name = "v", .type = SHEAF_N}}},
            .n_global_indexes = 1,
            .stream = SHEAF_STREAM_NEW_AND_OLD_IMAGES},
        NULL));
}

static bool complain(void *ctx, const char *what)
{
    (void)ctx;
    fail_msg("sheaf_verify: %s", what);
    return false;
}

static void stage_close(struct stage *s)
{
    sheaf_error err;
    assert_ok(sheaf_verify(s->db, complain, NULL, &err));
    sheaf_close(s->db);
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", s->directory);
    if (is_rocks) assert_int_equal(system(command), 0);
    if (s->failures) fail_msg("%" PRIu64 " failures, first: %s", s->failures, s->failure);
}

/* From a thread, where the test's own asserts must not be used. */
static void stage_fail(struct stage *s, const char *what, sheaf_rc rc, const char *detail)
{
    if (atomic_fetch_add(&s->failures, 1) == 0)
        snprintf(s->failure, sizeof s->failure, "%s: %d %s %s", what, (int)rc,
                 sheaf_rc_exception(rc), detail);
}

static uint64_t tick(struct stage *s) { return atomic_fetch_add(&s->clock, 1) + 1; }

struct worker {
    struct stage *s;
    struct rng rng;
    unsigned number;
    uint64_t n;
    pthread_t thread;
    /* What it did: */
    uint64_t counted[8], versions[8], moved;
    struct event *events; /* of register events[i].register_ */
    uint32_t *registers;
    size_t n_events;
    char pad[64];
};

static void run_workers(struct stage *s, struct worker *w, uint64_t total, void *(*body)(void *))
{
    for (unsigned i = 0; i < N_THREADS; i++) {
        w[i] = (struct worker){.s = s, .number = i, .n = total / N_THREADS + 1};
        rng_init(&w[i].rng, s->seed * 1000 + i);
        w[i].events = calloc(w[i].n * 2, sizeof *w[i].events);
        w[i].registers = calloc(w[i].n * 2, sizeof *w[i].registers);
        assert_true(w[i].events && w[i].registers);
    }
    for (unsigned i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&w[i].thread, NULL, body, &w[i]), 0);
    for (unsigned i = 0; i < N_THREADS; i++) pthread_join(w[i].thread, NULL);
}

static void free_workers(struct worker *w)
{
    for (unsigned i = 0; i < N_THREADS; i++) {
        free(w[i].events);
        free(w[i].registers);
    }
}

/* ---- counters and optimistic locks ---- */

enum { N_COUNTERS = 8 };

static void count_one(struct worker *w)
{
    uint64_t k = rng_below(&w->rng, N_COUNTERS);
    sheaf_error err;
    sheaf_rc rc = sheaf_update_item(
        w->s->db,
        &(struct sheaf_update_item){
            .table = "Table",
            .key = SHEAF_ITEM({"pk", sheaf_s("counter")}, {"sk", sheaf_int((int64_t)k)}),
            .update_expression = "ADD n :one SET #o = :o",
            SHEAF_NAMES({"#o", "owner"}),
            .expression_attribute_values =
                SHEAF_ITEM({":one", sheaf_int(1)}, {":o", sheaf_s("counters")}),
            .error = &err},
        NULL);
    if (rc == SHEAF_OK)
        w->counted[k]++;
    else if (rc == SHEAF_TRANSACTION_CONFLICT)
        atomic_fetch_add(&w->s->conflicts, 1); /* replays are bounded */
    else
        stage_fail(w->s, "ADD", rc, err.message);
}

static bool read_version(struct worker *w, uint64_t k, int64_t *version)
{
    sheaf_result *r;
    sheaf_error err;
    sheaf_rc rc =
        sheaf_get_item(w->s->db,
                       &(struct sheaf_get_item){.table = "Table",
                                                .key = SHEAF_ITEM({"pk", sheaf_s("lock")},
                                                                  {"sk", sheaf_int((int64_t)k)}),
                                                .consistent_read = true,
                                                .error = &err},
                       &r);
    *version = 0;
    if (rc != SHEAF_OK) {
        stage_fail(w->s, "GetItem", rc, err.message);
        return false;
    }
    const sheaf_item *item = sheaf_result_item(r);
    if (item) (void)sheaf_item_i64(item, "v", version);
    sheaf_result_free(r);
    return true;
}

/* Reads a version and writes the next one if it still is that. */
static void lock_one(struct worker *w)
{
    uint64_t k = rng_below(&w->rng, N_COUNTERS);
    int64_t version;
    sheaf_error err;
    if (!read_version(w, k, &version)) return;
    sheaf_rc rc = sheaf_put_item(
        w->s->db,
        &(struct sheaf_put_item){
            .table = "Table",
            .item = SHEAF_ITEM({"pk", sheaf_s("lock")}, {"sk", sheaf_int((int64_t)k)},
                               {"v", sheaf_int(version + 1)}, {"owner", sheaf_s("locks")}),
            .condition_expression = version ? "v = :v" : "attribute_not_exists(pk)",
            .expression_attribute_values = version ? SHEAF_ITEM({":v", sheaf_int(version)}) : NULL,
            .error = &err},
        NULL);
    if (rc == SHEAF_OK)
        w->versions[k]++;
    else if (rc != SHEAF_CONDITIONAL_CHECK_FAILED && rc != SHEAF_TRANSACTION_CONFLICT)
        stage_fail(w->s, "conditional put", rc, err.message);
}

static void *count_and_lock(void *arg)
{
    struct worker *w = arg;
    for (uint64_t i = 0; i < w->n; i++) {
        if (rng_below(&w->rng, 2))
            count_one(w);
        else
            lock_one(w);
    }
    return NULL;
}

static int64_t number_of(sheaf_db *db, const char *pk, int64_t sk, const char *name)
{
    sheaf_result *r;
    int64_t n = 0;
    assert_ok(sheaf_get_item(
        db,
        &(struct sheaf_get_item){.table = "Table",
                                 .key = SHEAF_ITEM({"pk", sheaf_s(pk)}, {"sk", sheaf_int(sk)}),
                                 .consistent_read = true},
        &r));
    if (sheaf_result_item(r)) (void)sheaf_item_i64(sheaf_result_item(r), name, &n);
    sheaf_result_free(r);
    return n;
}

static void test_counters__lose_no_update(void **state)
{
    (void)state;
    static struct worker w[N_THREADS];
    struct stage s;
    stage_open(&s, SHEAF_RELAXED);
    run_workers(&s, w, n_operations / 4, count_and_lock);
    uint64_t all = 0, locked = 0;
    for (int64_t k = 0; k < N_COUNTERS; k++) {
        uint64_t counted = 0, versions = 0;
        for (unsigned i = 0; i < N_THREADS; i++) counted += w[i].counted[k];
        for (unsigned i = 0; i < N_THREADS; i++) versions += w[i].versions[k];
        assert_int_equal(number_of(s.db, "counter", k, "n"), counted);
        assert_int_equal(number_of(s.db, "lock", k, "v"), versions);
        all += counted;
        locked += versions;
    }
    printf("  %" PRIu64 " additions, %" PRIu64 " versions, %" PRIu64 " given up after conflicts\n",
           all, locked, (uint64_t)s.conflicts);
    assert_true(all > n_operations / 20 && locked > 0);
    free_workers(w);
    stage_close(&s);
}

/* ---- transfers ---- */

enum { N_ACCOUNTS = 12, ACCOUNT_BEGIN = 1000 };

static void transfer(struct worker *w)
{
    int64_t from = (int64_t)rng_below(&w->rng, N_ACCOUNTS);
    int64_t to = (from + 1 + (int64_t)rng_below(&w->rng, N_ACCOUNTS - 1)) % N_ACCOUNTS;
    sheaf_value amount = sheaf_int(1 + (int64_t)rng_below(&w->rng, 100));
    sheaf_result *r = NULL;
    sheaf_error err;
    const struct sheaf_transact_write both[] = {
        {.table = "Table",
         .key = SHEAF_ITEM({"pk", sheaf_s("account")}, {"sk", sheaf_int(from)}),
         .update_expression = "SET v = v - :x",
         .condition_expression = "v >= :x",
         .expression_attribute_values = SHEAF_ITEM({":x", amount})},
        {.table = "Table",
         .key = SHEAF_ITEM({"pk", sheaf_s("account")}, {"sk", sheaf_int(to)}),
         .update_expression = "SET v = v + :x",
         .expression_attribute_values = SHEAF_ITEM({":x", amount})}};
    sheaf_rc rc = sheaf_transact_write_items(
        w->s->db,
        &(struct sheaf_transact_write_items){.actions = both, .n_actions = 2, .error = &err}, &r);
    if (rc == SHEAF_OK) {
        w->moved++;
    } else if (rc != SHEAF_TRANSACTION_CANCELED) {
        stage_fail(w->s, "TransactWriteItems", rc, err.message);
    } else {
        for (size_t i = 0; i < sheaf_result_reason_count(r); i++)
            if (strcmp(sheaf_result_reason(r, i)->code, "TransactionConflict") == 0)
                atomic_fetch_add(&w->s->conflicts, 1);
    }
    sheaf_result_free(r);
}

/* All accounts in one snapshot. */
static void audit(struct worker *w)
{
    static const int64_t numbers[N_ACCOUNTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct sheaf_transact_get gets[N_ACCOUNTS];
    sheaf_attr attrs[N_ACCOUNTS][2];
    sheaf_item keys[N_ACCOUNTS];
    sheaf_result *r;
    sheaf_error err;
    int64_t sum = 0, v;
    for (size_t i = 0; i < N_ACCOUNTS; i++) {
        attrs[i][0] = (sheaf_attr){"pk", sheaf_s("account")};
        attrs[i][1] = (sheaf_attr){"sk", sheaf_int(numbers[i])};
        keys[i] = (sheaf_item){attrs[i], 2, NULL};
        gets[i] = (struct sheaf_transact_get){.table = "Table", .key = &keys[i]};
    }
    sheaf_rc rc = sheaf_transact_get_items(
        w->s->db,
        &(struct sheaf_transact_get_items){.gets = gets, .n_gets = N_ACCOUNTS, .error = &err}, &r);
    if (rc != SHEAF_OK) {
        stage_fail(w->s, "TransactGetItems", rc, err.message);
        return;
    }
    for (size_t i = 0; i < N_ACCOUNTS; i++) {
        if (!sheaf_item_i64(sheaf_result_at(r, i), "v", &v) || v < 0)
            stage_fail(w->s, "an account is overdrawn", rc, "");
        sum += v;
    }
    if (sum != (int64_t)N_ACCOUNTS * ACCOUNT_BEGIN)
        stage_fail(w->s, "TransactGetItems saw half a transaction", rc, "");
    sheaf_result_free(r);
}

/* A query of the collection answers from one moment, too. */
static void audit_by_query(struct worker *w)
{
    sheaf_result *r;
    sheaf_error err;
    int64_t sum = 0, v;
    bool by_index = rng_below(&w->rng, 2);
    sheaf_rc rc = sheaf_query(
        w->s->db,
        &(struct sheaf_query){
            .table = "Table",
            .index = by_index ? "by-owner" : NULL,
            .key_condition_expression = by_index ? "#k = :k" : "pk = :k",
            .expression_attribute_names =
                by_index ? (const struct sheaf_name[]){{"#k", "owner"}, {NULL, NULL}} : NULL,
            .expression_attribute_values =
                SHEAF_ITEM({":k", sheaf_s(by_index ? "bank" : "account")}),
            .consistent_read = !by_index,
            .error = &err},
        &r);
    if (rc != SHEAF_OK) {
        stage_fail(w->s, "Query", rc, err.message);
        return;
    }
    SHEAF_EACH (r, item)
        if (sheaf_item_i64(item, "v", &v)) sum += v;
    if (sum != (int64_t)N_ACCOUNTS * ACCOUNT_BEGIN)
        stage_fail(w->s,
                   by_index ? "the index showed half a transaction"
                            : "a Query showed half a transaction",
                   rc, "");
    sheaf_result_free(r);
}

static void *transfer_and_audit(void *arg)
{
    struct worker *w = arg;
    for (uint64_t i = 0; i < w->n; i++) {
        uint64_t dice = rng_below(&w->rng, 10);
        if (dice < 7)
            transfer(w);
        else if (dice < 9)
            audit(w);
        else
            audit_by_query(w);
    }
    return NULL;
}

static void test_transfers__keep_the_sum_at_every_moment(void **state)
{
    (void)state;
    static struct worker w[N_THREADS];
    struct stage s;
    uint64_t moved = 0;
    int64_t sum = 0;
    stage_open(&s, SHEAF_RELAXED);
    for (int64_t i = 0; i < N_ACCOUNTS; i++)
        assert_ok(sheaf_put_item(
            s.db,
            &(struct sheaf_put_item){
                .table = "Table",
                .item = SHEAF_ITEM({"pk", sheaf_s("account")}, {"sk", sheaf_int(i)},
                                   {"v", sheaf_int(ACCOUNT_BEGIN)}, {"owner", sheaf_s("bank")})},
            NULL));
    run_workers(&s, w, n_operations / 4, transfer_and_audit);
    for (unsigned i = 0; i < N_THREADS; i++) moved += w[i].moved;
    for (int64_t i = 0; i < N_ACCOUNTS; i++) sum += number_of(s.db, "account", i, "v");
    printf("  %" PRIu64 " transfers, %" PRIu64 " given up after conflicts\n", moved,
           (uint64_t)s.conflicts);
    assert_int_equal(sum, (int64_t)N_ACCOUNTS * ACCOUNT_BEGIN);
    assert_true(moved > 0);
    free_workers(w);
    stage_close(&s);
}

/* ---- registers ---- */

enum { N_REGISTERS = 30 };

static uint64_t value_in(const sheaf_item *item)
{
    int64_t v = HISTORY_NONE;
    if (item) (void)sheaf_item_i64(item, "v", &v);
    return (uint64_t)v;
}

static struct event *new_event(struct worker *w, uint32_t reg)
{
    w->registers[w->n_events] = reg;
    return &w->events[w->n_events++];
}

/* Values are never used twice. */
static int64_t new_value(struct worker *w, uint64_t i)
{
    return (int64_t)(((uint64_t)w->number + 1) << 32 | i);
}

static sheaf_rc write_register(struct worker *w, uint32_t reg, int64_t value, bool wants_old,
                               sheaf_result **r)
{
    sheaf_value key = sheaf_int(reg);
    sheaf_value owner = sheaf_s(value % 2 ? "odd" : "even");
    enum sheaf_return_values returns = wants_old ? SHEAF_ALL_OLD : SHEAF_RETURN_NONE;
    if (value % 3)
        return sheaf_put_item(
            w->s->db,
            &(struct sheaf_put_item){.table = "Table",
                                     .item = SHEAF_ITEM({"pk", sheaf_s("register")}, {"sk", key},
                                                        {"v", sheaf_int(value)}, {"owner", owner}),
                                     .return_values = returns},
            r);
    return sheaf_update_item(
        w->s->db,
        &(struct sheaf_update_item){.table = "Table",
                                    .key = SHEAF_ITEM({"pk", sheaf_s("register")}, {"sk", key}),
                                    .update_expression = "SET v = :v, #o = :o",
                                    SHEAF_NAMES({"#o", "owner"}),
                                    .expression_attribute_values =
                                        SHEAF_ITEM({":v", sheaf_int(value)}, {":o", owner}),
                                    .return_values = returns},
        r);
}

/* Any way to read one item, linearizable each. */
static sheaf_rc read_register(struct worker *w, uint32_t reg, uint64_t *value)
{
    const sheaf_item *key = SHEAF_ITEM({"pk", sheaf_s("register")}, {"sk", sheaf_int(reg)});
    sheaf_result *r = NULL;
    sheaf_rc rc;
    const sheaf_item *item = NULL;
    switch (rng_below(&w->rng, 4)) {
    case 0:
        rc = sheaf_transact_get_items(
            w->s->db,
            &(struct sheaf_transact_get_items){
                .gets = &(struct sheaf_transact_get){.table = "Table", .key = key}, .n_gets = 1},
            &r);
        if (rc == SHEAF_OK) item = sheaf_result_at(r, 0);
        break;
    case 1:
        rc = sheaf_query(w->s->db,
                         &(struct sheaf_query){
                             .table = "Table",
                             .key_condition_expression = "pk = :p AND sk = :s",
                             .expression_attribute_values =
                                 SHEAF_ITEM({":p", sheaf_s("register")}, {":s", sheaf_int(reg)}),
                             .consistent_read = true},
                         &r);
        if (rc == SHEAF_OK && sheaf_result_count(r)) item = sheaf_result_at(r, 0);
        break;
    default:
        rc = sheaf_get_item(
            w->s->db, &(struct sheaf_get_item){.table = "Table", .key = key, .consistent_read = true},
            &r);
        if (rc == SHEAF_OK) item = sheaf_result_item(r);
    }
    *value = value_in(item);
    sheaf_result_free(r);
    return rc;
}

/* Replaces what it read, if that is still there; a refusal says what was there instead. */
static void swap_register(struct worker *w, uint32_t reg, int64_t value, uint64_t read)
{
    sheaf_result *r = NULL;
    struct event e = {.is_write = true, .knows_old = true, .value = (uint64_t)value, .old = read};
    e.begun = tick(w->s);
    sheaf_rc rc =
        sheaf_put_item(w->s->db,
                       &(struct sheaf_put_item){
                           .table = "Table",
                           .item = SHEAF_ITEM({"pk", sheaf_s("register")}, {"sk", sheaf_int(reg)},
                                              {"v", sheaf_int(value)}),
                           .condition_expression = read ? "v = :v" : "attribute_not_exists(v)",
                           .expression_attribute_values =
                               read ? SHEAF_ITEM({":v", sheaf_int((int64_t)read)}) : NULL,
                           .return_old_on_condition_failure = true},
                       &r);
    e.ended = tick(w->s);
    if (rc == SHEAF_CONDITIONAL_CHECK_FAILED) {
        e.is_write = e.knows_old = false;
        e.value = value_in(sheaf_result_item(r));
    }
    if (rc == SHEAF_OK || rc == SHEAF_CONDITIONAL_CHECK_FAILED)
        *new_event(w, reg) = e;
    else
        stage_fail(w->s, "conditional put", rc, "");
    sheaf_result_free(r);
}

static void use_register(struct worker *w, uint64_t i, bool is_told)
{
    uint32_t reg = (uint32_t)rng_below(&w->rng, N_REGISTERS);
    struct event e = {.is_write = rng_below(&w->rng, 2)};
    sheaf_result *r = NULL;
    sheaf_rc rc;
    e.begun = tick(w->s);
    if (e.is_write) {
        e.value = (uint64_t)new_value(w, i);
        rc = write_register(w, reg, (int64_t)e.value, is_told, &r);
        e.knows_old = is_told;
        if (rc == SHEAF_OK) e.old = value_in(sheaf_result_item(r));
        sheaf_result_free(r);
    } else {
        rc = read_register(w, reg, &e.value);
    }
    e.ended = tick(w->s);
    if (rc != SHEAF_OK) {
        /* A write that was refused for conflicts did nothing. */
        if (rc != SHEAF_TRANSACTION_CONFLICT) stage_fail(w->s, "register", rc, "");
        atomic_fetch_add(&w->s->conflicts, 1);
        return;
    }
    *new_event(w, reg) = e;
    if (is_told && !e.is_write && rng_below(&w->rng, 2))
        swap_register(w, reg, new_value(w, i), e.value);
}

static void *use_told(void *arg)
{
    struct worker *w = arg;
    for (uint64_t i = 0; i < w->n; i++) use_register(w, i + 1, true);
    return NULL;
}

static void *use_blind(void *arg)
{
    struct worker *w = arg;
    for (uint64_t i = 0; i < w->n; i++) use_register(w, i + 1, false);
    return NULL;
}

/* The history of one register, from all threads. */
static size_t gather(const struct worker *w, uint32_t reg, struct event *out)
{
    size_t n = 0;
    for (unsigned i = 0; i < N_THREADS; i++)
        for (size_t k = 0; k < w[i].n_events; k++)
            if (w[i].registers[k] == reg) out[n++] = w[i].events[k];
    return n;
}

/* Makes one read return what was replaced before it began. false: there is none to change. */
static bool plant_stale_read(struct event *all, size_t n)
{
    for (size_t i = n / 2; i < n; i++) {
        if (all[i].is_write) continue;
        for (size_t k = 0; k < n; k++) {
            if (!all[k].is_write || all[k].value == all[i].value || all[k].ended >= all[i].begun)
                continue;
            /* Another write lies wholly between the two. */
            for (size_t j = 0; j < n; j++) {
                if (!all[j].is_write || all[j].begun <= all[k].ended ||
                    all[j].ended >= all[i].begun)
                    continue;
                all[i].value = all[k].value;
                return true;
            }
        }
    }
    return false;
}

/* Makes two writes replace the same value. */
static bool plant_lost_update(struct event *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; all[i].is_write && k < n; k++)
            if (all[k].is_write && all[k].old == all[i].value && all[k].value != all[i].value) {
                all[k].old = all[i].old;
                return true;
            }
    return false;
}

typedef const char *(*check_fn)(struct event *all, size_t n);
typedef bool (*plant_fn)(struct event *all, size_t n);

static void check_registers(struct stage *s, const struct worker *w, check_fn check,
                            const plant_fn *plants)
{
    size_t most = 0, checked = 0, caught = 0, planted = 0;
    for (unsigned i = 0; i < N_THREADS; i++) most += w[i].n_events;
    struct event *all = calloc(most + 1, sizeof *all), *copy = calloc(most + 1, sizeof *copy);
    assert_true(all && copy);
    for (uint32_t reg = 0; reg < N_REGISTERS; reg++) {
        size_t n = gather(w, reg, all);
        memcpy(copy, all, n * sizeof *copy);
        const char *wrong = check(copy, n);
        if (wrong) fail_msg("register %u: %s", reg, wrong);
        checked += n;
        for (size_t p = 0; plants[p]; p++) {
            memcpy(copy, all, n * sizeof *copy);
            if (!plants[p](copy, n)) continue;
            planted++;
            caught += check(copy, n) != NULL;
        }
    }
    printf("  %zu operations on %d registers are linearizable; %zu of %zu planted mistakes are "
           "seen\n",
           checked, N_REGISTERS, caught, planted);
    assert_true(planted > 0);
    assert_int_equal(caught, planted);
    (void)s;
    free(all);
    free(copy);
}

static void test_single_items__are_linearizable_when_writes_tell_what_they_replaced(void **state)
{
    (void)state;
    static struct worker w[N_THREADS];
    struct stage s;
    stage_open(&s, SHEAF_RELAXED);
    run_workers(&s, w, n_operations / 2, use_told);
    check_registers(&s, w, history_check_chain,
                    (const plant_fn[]){plant_stale_read, plant_lost_update, NULL});
    free_workers(w);
    stage_close(&s);
}

static void test_single_items__are_linearizable_when_writes_tell_nothing(void **state)
{
    (void)state;
    static struct worker w[N_THREADS];
    struct stage s;
    stage_open(&s, SHEAF_RELAXED);
    run_workers(&s, w, n_operations / 2, use_blind);
    check_registers(&s, w, history_check_zones, (const plant_fn[]){plant_stale_read, NULL});
    free_workers(w);
    stage_close(&s);
}

static void test_synced_writes__are_linearizable(void **state)
{
    (void)state;
    static struct worker w[N_THREADS];
    struct stage s;
    stage_open(&s, SHEAF_SYNC);
    run_workers(&s, w, n_operations / 40, use_told);
    check_registers(&s, w, history_check_chain, (const plant_fn[]){plant_lost_update, NULL});
    free_workers(w);
    stage_close(&s);
}

/* ---- the checkers themselves ---- */

static void test_checkers__judge_small_histories_as_by_hand(void **state)
{
    (void)state;
#define W(v, o, b, e)                                                                              \
    {                                                                                              \
        .is_write = true, .knows_old = true, .value = (v), .old = (o), .begun = (b), .ended = (e)  \
    }
#define R(v, b, e)                                                                                 \
    {                                                                                              \
        .value = (v), .begun = (b), .ended = (e)                                                   \
    }
    static const struct {
        struct event all[4];
        size_t n;
        bool chain_ok, zones_ok;
    } rows[] = {
        {{W(1, 0, 1, 2), R(1, 3, 4), W(2, 1, 5, 6), R(2, 7, 8)}, 4, true, true},
        /* a read of what was replaced before it began */
        {{W(1, 0, 1, 2), W(2, 1, 3, 4), R(1, 5, 6)}, 3, false, false},
        /* overlapping: either is fine */
        {{W(1, 0, 1, 2), W(2, 1, 3, 6), R(1, 4, 5)}, 3, true, true},
        {{W(1, 0, 1, 2), W(2, 1, 3, 6), R(2, 4, 5)}, 3, true, true},
        /* new, then old again */
        {{W(1, 0, 1, 2), W(2, 1, 3, 9), R(2, 4, 5), R(1, 6, 7)}, 4, false, false},
        /* a read from the future */
        {{R(1, 1, 2), W(1, 0, 3, 4)}, 2, false, false},
        /* nothing, after something */
        {{W(1, 0, 1, 2), R(0, 3, 4)}, 2, false, false},
        {{R(0, 1, 2), W(1, 0, 3, 4)}, 2, true, true},
        /* two that replaced the same: blind writes cannot tell */
        {{W(1, 0, 1, 2), W(2, 0, 3, 4)}, 2, false, true},
        /* what nobody wrote */
        {{W(1, 0, 1, 2), R(9, 3, 4)}, 2, false, false},
        /* a write told of a value that came after it */
        {{W(1, 2, 1, 2), W(2, 0, 3, 4)}, 2, false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct event copy[4];
        memcpy(copy, rows[i].all, sizeof copy);
        bool chain_ok = !history_check_chain(copy, rows[i].n);
        memcpy(copy, rows[i].all, sizeof copy);
        bool zones_ok = !history_check_zones(copy, rows[i].n);
        if (chain_ok != rows[i].chain_ok || zones_ok != rows[i].zones_ok)
            fail_msg("row %zu: chain %d, zones %d", i, chain_ok, zones_ok);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    is_rocks = strcmp(argv[1], "rocks") == 0;
    n_operations = test_rounds(strtoull(argv[2], NULL, 10));
    setvbuf(stdout, NULL, _IOLBF, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkers__judge_small_histories_as_by_hand),
        cmocka_unit_test(test_counters__lose_no_update),
        cmocka_unit_test(test_transfers__keep_the_sum_at_every_moment),
        cmocka_unit_test(test_single_items__are_linearizable_when_writes_tell_what_they_replaced),
        cmocka_unit_test(test_single_items__are_linearizable_when_writes_tell_nothing),
        cmocka_unit_test(test_synced_writes__are_linearizable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
