/* tests/model/oom.c: memory runs out at every allocation of every operation.
 *
 *      model_oom <mem | rocks>
 *
 * Each operation is run on a fresh database with its first allocation failing, then its second,
 * and so on until it asks for no more; once with that one failing, once with all from there on.
 * A call that fails says so and has done nothing: the database is what it was, verifies, and
 * takes the same call afterwards, with the same end as if nothing had happened. When memory runs
 * out only while the answer is made, after the commit, everything is done instead; nothing is
 * ever half done. Leaks are for the leak checker.
 */
#include "base/mem.h"
#include "model/tree.h"
#include "support/support.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define NOW_S INT64_C(1700000000)

static bool is_rocks;
static char home[64];
static int64_t now_us;
static int64_t clock_now(void *ctx)
{
    (void)ctx;
    return now_us;
}

/* ---- a small database ---- */

static char *directory_of(unsigned n)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/db%u", home, n);
    return path;
}

static sheaf_rc open_db(unsigned n, sheaf_db **db)
{
    struct sheaf_options o = {.durability = SHEAF_RELAXED,
                              .now_us = clock_now,
                              .no_background = true,
                              .cache_bytes = 1 << 20,
                              .seed = 1};
    return sheaf_open(is_rocks ? directory_of(n) : ":memory:", &o, db, NULL);
}

static const struct sheaf_index global = {.name = "global",
                                          .partition_key = {{.name = "g1", .type = SHEAF_S}},
                                          .sort_key = {{.name = "n", .type = SHEAF_N}},
                                          .projection = SHEAF_PROJECT_KEYS_ONLY};
static const struct sheaf_index local = {.name = "local",
                                         .partition_key = {{.name = "pk", .type = SHEAF_S}},
                                         .sort_key = {{.name = "n", .type = SHEAF_N}},
                                         .projection = SHEAF_PROJECT_INCLUDE,
                                         .include = (const char *const[]){"m"},
                                         .n_include = 1};
static const struct sheaf_index late = {.name = "late",
                                        .partition_key = {{.name = "g2", .type = SHEAF_S}}};

static void put_song(sheaf_db *db, int64_t sk, int64_t ttl_s)
{
    const sheaf_item *m = SHEAF_ITEM({"x", sheaf_int(sk)}, {"y", sheaf_s("deep")});
    assert_ok(sheaf_put_item(
        db,
        &(struct sheaf_put_item){
            .table = "music",
            .item =
                SHEAF_ITEM({"pk", sheaf_s("a")}, {"sk", sheaf_int(sk)},
                           {"g1", sheaf_s(sk % 2 ? "odd" : "even")}, {"g2", sheaf_s("all")},
                           {"n", sheaf_int(sk * sk)}, {"ttl", sheaf_int(ttl_s)}, {"m", sheaf_m(m)},
                           {"l", sheaf_l(SHEAF_LIST(sheaf_int(1), sheaf_s("two")))},
                           {"ss", sheaf_ss(SHEAF_LIST(sheaf_s("p"), sheaf_s("q")))})},
        NULL));
}

static void fill(sheaf_db *db)
{
    assert_ok(sheaf_create_table(
        db,
        &(struct sheaf_create_table){.table = "music",
                                     .partition_key = {.name = "pk", .type = SHEAF_S},
                                     .sort_key = {.name = "sk", .type = SHEAF_N},
                                     .global_indexes = &global,
                                     .n_global_indexes = 1,
                                     .local_indexes = &local,
                                     .n_local_indexes = 1,
                                     .stream = SHEAF_STREAM_NEW_AND_OLD_IMAGES},
        NULL));
    assert_ok(
        sheaf_create_table(db,
                           &(struct sheaf_create_table){
                               .table = "plain", .partition_key = {.name = "id", .type = SHEAF_B}},
                           NULL));
    assert_ok(sheaf_update_time_to_live(
        db,
        &(struct sheaf_update_time_to_live){.table = "music", .attribute = "ttl", .enabled = true},
        NULL));
    for (int64_t i = 0; i < 8; i++) put_song(db, i, i < 1 ? NOW_S + 50 : NOW_S + 5000);
    assert_ok(sheaf_put_item(
        db, &(struct sheaf_put_item){.table = "plain", .item = SHEAF_ITEM({"id", sheaf_b("k", 1)})},
        NULL));
}

/* ---- what is in it, as text ---- */

struct dump {
    struct arena arena;
    char *p;
    size_t n, cap;
};

static void add(struct dump *d, const char *text)
{
    size_t n = strlen(text);
    if (d->n + n + 2 > d->cap) {
        d->cap = (d->n + n + 2) * 2;
        d->p = realloc(d->p, d->cap);
        assert_non_null(d->p);
    }
    memcpy(d->p + d->n, text, n + 1);
    d->n += n;
    strcpy(d->p + d->n++, "\n");
}

static void add_item(struct dump *d, const sheaf_item *item)
{
    struct tree t = {.type = SHEAF_NONE};
    if (item) t = tree_of_item(&d->arena, item);
    add(d, item ? tree_text(&d->arena, &t) : "-");
}

static void dump_rows(struct dump *d, sheaf_db *db, const char *table, const char *index)
{
    sheaf_result *r;
    assert_ok(sheaf_scan(db, &(struct sheaf_scan){.table = table, .index = index}, &r));
    add(d, index ? index : table);
    /* The order of a scan depends on the database's secret. */
    char *lines[64];
    size_t n = 0;
    SHEAF_EACH (r, item) {
        struct tree t = tree_of_item(&d->arena, item);
        char *line = (char *)(uintptr_t)tree_text(&d->arena, &t);
        size_t at = n++;
        assert_true(n < 64);
        for (; at && strcmp(lines[at - 1], line) > 0; at--) lines[at] = lines[at - 1];
        lines[at] = line;
    }
    for (size_t i = 0; i < n; i++) add(d, lines[i]);
    sheaf_result_free(r);
}

static void dump_shard(struct dump *d, sheaf_db *db, const char *arn, const char *shard)
{
    sheaf_result *r, *records;
    assert_ok(sheaf_get_shard_iterator(
        db, &(struct sheaf_get_shard_iterator){.stream_arn = arn, .shard_id = shard}, &r));
    assert_ok(sheaf_get_records(
        db, &(struct sheaf_get_records){.shard_iterator = sheaf_result_iterator(r)}, &records));
    for (size_t i = 0; i < sheaf_result_record_count(records); i++) {
        const struct sheaf_stream_record *k = sheaf_result_record(records, i);
        add(d, k->event_name);
        add_item(d, k->keys);
        add_item(d, k->old_image);
        add_item(d, k->new_image);
    }
    sheaf_result_free(records);
    sheaf_result_free(r);
}

static void dump_table(struct dump *d, sheaf_db *db, const char *name)
{
    char text[300];
    sheaf_result *r, *shards;
    assert_ok(sheaf_describe_table(db, &(struct sheaf_table_name){.table = name}, &r));
    const struct sheaf_table_description *t = sheaf_result_table(r);
    snprintf(text, sizeof text, "%s: %" PRIu64 " items, %" PRIu64 " bytes, ttl %s, stream %d, %u",
             name, t->item_count, t->size_bytes, t->ttl_attribute ? t->ttl_attribute : "-",
             (int)t->stream, t->n_indexes);
    add(d, text);
    dump_rows(d, db, name, NULL);
    for (uint32_t i = 0; i < t->n_indexes; i++) {
        const struct sheaf_index_description *x = sheaf_table_index(t, i);
        snprintf(text, sizeof text, "%s %" PRIu64 " %" PRIu64, x->name, x->item_count,
                 x->size_bytes);
        if (!x->is_backfilling) add(d, text);
        if (!x->is_backfilling) dump_rows(d, db, name, x->name);
    }
    if (t->stream_arn) {
        assert_ok(sheaf_describe_stream(
            db, &(struct sheaf_describe_stream){.stream_arn = t->stream_arn}, &shards));
        for (size_t i = 0; i < sheaf_result_shard_count(shards); i++)
            dump_shard(d, db, t->stream_arn, sheaf_result_shard(shards, i)->id);
        sheaf_result_free(shards);
    }
    sheaf_result_free(r);
}

static char *dump_db(sheaf_db *db)
{
    struct dump d = {.n = 0};
    sheaf_result *r;
    arena_init(&d.arena, 64 << 20);
    assert_ok(sheaf_list_tables(db, &(struct sheaf_list_tables){.limit = 100}, &r));
    for (size_t i = 0; i < sheaf_result_name_count(r); i++)
        dump_table(&d, db, sheaf_result_name(r, i));
    sheaf_result_free(r);
    arena_deinit(&d.arena);
    if (!d.p) add(&d, "nothing");
    return d.p;
}

/* ---- operations ---- */

#define KEY(i) SHEAF_ITEM({"pk", sheaf_s("a")}, {"sk", sheaf_int(i)})

/* Reads everything out of a result, whatever it is; getters may fail, but no more than that. */
static void read_all(const sheaf_item *item)
{
    sheaf_attr a;
    sheaf_value v;
    for (size_t i = 0; i < sheaf_item_count(item); i++) {
        if (!sheaf_item_at(item, i, &a)) continue;
        if (a.value.type == SHEAF_M) read_all(a.value.u.map);
        for (size_t k = 0; a.value.type >= SHEAF_L && k < sheaf_list_count(a.value.u.list); k++)
            (void)sheaf_list_at(a.value.u.list, k, &v);
    }
}

static sheaf_rc finish(sheaf_rc rc, sheaf_result **result)
{
    sheaf_result *r = *result;
    if (rc == SHEAF_OK && sheaf_result_item(r)) read_all(sheaf_result_item(r));
    for (size_t i = 0; rc == SHEAF_OK && i < sheaf_result_count(r); i++)
        read_all(sheaf_result_at(r, i));
    sheaf_result_free(r);
    return rc;
}

static sheaf_rc do_create(sheaf_db *db)
{
    sheaf_result *r;
    sheaf_rc rc = sheaf_create_table(
        db,
        &(struct sheaf_create_table){.table = "fresh",
                                     .partition_key = {.name = "pk", .type = SHEAF_S},
                                     .sort_key = {.name = "sk", .type = SHEAF_N},
                                     .global_indexes = &global,
                                     .n_global_indexes = 1,
                                     .local_indexes = &local,
                                     .n_local_indexes = 1,
                                     .stream = SHEAF_STREAM_NEW_IMAGE},
        &r);
    return finish(rc, &r);
}
static sheaf_rc do_drop(sheaf_db *db)
{
    sheaf_result *r;
    return finish(sheaf_delete_table(db, &(struct sheaf_table_name){.table = "music"}, &r), &r);
}
static sheaf_rc do_describe(sheaf_db *db)
{
    sheaf_result *r;
    return finish(sheaf_describe_table(db, &(struct sheaf_table_name){.table = "music"}, &r), &r);
}
static sheaf_rc do_list(sheaf_db *db)
{
    sheaf_result *r;
    return finish(sheaf_list_tables(db, &(struct sheaf_list_tables){.limit = 10}, &r), &r);
}
static sheaf_rc do_add_index(sheaf_db *db)
{
    sheaf_result *r;
    return finish(
        sheaf_update_table(
            db, &(struct sheaf_update_table){.table = "music", .create_index = &late}, &r),
        &r);
}
static sheaf_rc do_drop_index(sheaf_db *db)
{
    sheaf_result *r;
    return finish(
        sheaf_update_table(
            db, &(struct sheaf_update_table){.table = "music", .delete_index = "global"}, &r),
        &r);
}
static sheaf_rc do_stream_off(sheaf_db *db)
{
    sheaf_result *r;
    return finish(sheaf_update_table(
                      db, &(struct sheaf_update_table){.table = "music", .stream = SHEAF_OFF}, &r),
                  &r);
}
static sheaf_rc do_ttl_on(sheaf_db *db)
{
    return sheaf_update_time_to_live(
        db,
        &(struct sheaf_update_time_to_live){.table = "plain", .attribute = "t", .enabled = true},
        NULL);
}
static sheaf_rc do_stream_on(sheaf_db *db)
{
    sheaf_result *r;
    struct sheaf_update_table q = {
        .table = "plain", .stream = SHEAF_ON, .stream_view = SHEAF_STREAM_KEYS_ONLY};
    return finish(sheaf_update_table(db, &q, &r), &r);
}
static sheaf_rc do_protect(sheaf_db *db)
{
    sheaf_result *r;
    struct sheaf_update_table q = {.table = "plain", .deletion_protection = SHEAF_ON};
    return finish(sheaf_update_table(db, &q, &r), &r);
}
static sheaf_rc do_ttl_off(sheaf_db *db)
{
    return sheaf_update_time_to_live(
        db, &(struct sheaf_update_time_to_live){.table = "music", .attribute = "ttl"}, NULL);
}
static sheaf_rc do_describe_ttl(sheaf_db *db)
{
    sheaf_result *r;
    return finish(sheaf_describe_time_to_live(db, &(struct sheaf_table_name){.table = "music"}, &r),
                  &r);
}
static sheaf_rc do_put(sheaf_db *db)
{
    sheaf_result *r;
    sheaf_rc rc = sheaf_put_item(
        db,
        &(struct sheaf_put_item){.table = "music",
                                 .item = SHEAF_ITEM({"pk", sheaf_s("a")}, {"sk", sheaf_int(3)},
                                                    {"g1", sheaf_s("x")}, {"n", sheaf_int(-5)},
                                                    {"ttl", sheaf_int(NOW_S + 77)}),
                                 .condition_expression = "attribute_exists(pk) AND n > :n",
                                 .expression_attribute_values = SHEAF_ITEM({":n", sheaf_int(1)}),
                                 .return_values = SHEAF_ALL_OLD,
                                 .return_consumed_capacity = SHEAF_CAPACITY_INDEXES,
                                 .return_item_collection_metrics = true},
        &r);
    return finish(rc, &r);
}
static sheaf_rc do_refused_put(sheaf_db *db)
{
    sheaf_result *r;
    sheaf_rc rc =
        sheaf_put_item(db,
                       &(struct sheaf_put_item){.table = "music",
                                                .item = KEY(3),
                                                .condition_expression = "attribute_not_exists(pk)",
                                                .return_old_on_condition_failure = true,
                                                .return_consumed_capacity = SHEAF_CAPACITY_TOTAL},
                       &r);
    if (rc == SHEAF_CONDITIONAL_CHECK_FAILED) {
        read_all(sheaf_result_item(r));
        rc = SHEAF_OK;
    }
    sheaf_result_free(r);
    return rc;
}
static sheaf_rc do_update(sheaf_db *db)
{
    sheaf_result *r;
    sheaf_rc rc = sheaf_update_item(
        db,
        &(struct sheaf_update_item){
            .table = "music",
            .key = KEY(4),
            .update_expression = "SET #m.x = if_not_exists(q, :v), n = n + :v, l[5] = :v "
                                 "REMOVE g2 ADD c :v DELETE ss :s",
            SHEAF_NAMES({"#m", "m"}),
            .expression_attribute_values =
                SHEAF_ITEM({":v", sheaf_int(1)}, {":s", sheaf_ss(SHEAF_LIST(sheaf_s("p")))}),
            .return_values = SHEAF_UPDATED_NEW,
            .return_consumed_capacity = SHEAF_CAPACITY_INDEXES},
        &r);
    return finish(rc, &r);
}
static sheaf_rc do_delete(sheaf_db *db)
{
    sheaf_result *r;
    sheaf_rc rc =
        sheaf_delete_item(db,
                          &(struct sheaf_delete_item){
                              .table = "music", .key = KEY(5), .return_values = SHEAF_ALL_OLD},
                          &r);
    return finish(rc, &r);
}
static sheaf_rc do_get(sheaf_db *db)
{
    sheaf_result *r;
    sheaf_rc rc =
        sheaf_get_item(db,
                       &(struct sheaf_get_item){.table = "music",
                                                .key = KEY(5),
                                                .projection_expression = "pk, m.x, l[1], ss",
                                                .consistent_read = true,
                                                .return_consumed_capacity = SHEAF_CAPACITY_TOTAL},
                       &r);
    return finish(rc, &r);
}
static sheaf_rc do_query(sheaf_db *db)
{
    sheaf_result *r;
    sheaf_rc rc = sheaf_query(
        db,
        &(struct sheaf_query){.table = "music",
                              .key_condition_expression = "pk = :p AND sk BETWEEN :a AND :b",
                              .filter_expression = "n <> :x OR contains(ss, :s)",
                              .projection_expression = "sk, m, l",
                              .expression_attribute_values = SHEAF_ITEM(
                                  {":p", sheaf_s("a")}, {":a", sheaf_int(1)}, {":b", sheaf_int(6)},
                                  {":x", sheaf_int(9)}, {":s", sheaf_s("q")}),
                              .limit = 4,
                              .return_consumed_capacity = SHEAF_CAPACITY_INDEXES},
        &r);
    return finish(rc, &r);
}
static sheaf_rc do_query_local(sheaf_db *db)
{
    sheaf_result *r;
    sheaf_rc rc =
        sheaf_query(db,
                    &(struct sheaf_query){.table = "music",
                                          .index = "local",
                                          .key_condition_expression = "pk = :p AND n > :n",
                                          .expression_attribute_values = SHEAF_ITEM(
                                              {":p", sheaf_s("a")}, {":n", sheaf_int(3)}),
                                          .select = SHEAF_SELECT_ALL_ATTRIBUTES,
                                          .backward = true,
                                          .consistent_read = true},
                    &r);
    return finish(rc, &r);
}
static sheaf_rc do_query_global(sheaf_db *db)
{
    sheaf_result *r;
    sheaf_rc rc = sheaf_query(
        db,
        &(struct sheaf_query){.table = "music",
                              .index = "global",
                              .key_condition_expression = "g1 = :p",
                              .expression_attribute_values = SHEAF_ITEM({":p", sheaf_s("odd")}),
                              .exclusive_start_key =
                                  SHEAF_ITEM({"pk", sheaf_s("a")}, {"sk", sheaf_int(1)},
                                             {"g1", sheaf_s("odd")}, {"n", sheaf_int(1)})},
        &r);
    return finish(rc, &r);
}
static sheaf_rc do_scan(sheaf_db *db)
{
    sheaf_result *r;
    return finish(sheaf_scan(db,
                             &(struct sheaf_scan){.table = "music",
                                                  .segment = 0,
                                                  .total_segments = 1,
                                                  .filter_expression = "attribute_exists(m)"},
                             &r),
                  &r);
}
static sheaf_rc do_batch_get(sheaf_db *db)
{
    sheaf_result *r;
    const struct sheaf_batch_get both[] = {
        {.table = "music", .keys = (const sheaf_item *const[]){KEY(1), KEY(99)}, .n_keys = 2},
        {.table = "plain",
         .keys = (const sheaf_item *const[]){SHEAF_ITEM({"id", sheaf_b("k", 1)})},
         .n_keys = 1}};
    return finish(
        sheaf_batch_get_item(db, &(struct sheaf_batch_get_item){.tables = both, .n_tables = 2}, &r),
        &r);
}
static sheaf_rc do_batch_write(sheaf_db *db)
{
    sheaf_result *r;
    const struct sheaf_batch_write both[] = {
        {.table = "music", .delete_key = KEY(1)},
        {.table = "plain", .put = SHEAF_ITEM({"id", sheaf_b("j", 1)}, {"v", sheaf_bool(true)})},
        {.table = "music", .put = SHEAF_ITEM({"pk", sheaf_s("a")}, {"sk", sheaf_int(50)})}};
    sheaf_rc rc = sheaf_batch_write_item(
        db,
        &(struct sheaf_batch_write_item){
            .writes = both, .n_writes = 3, .return_consumed_capacity = SHEAF_CAPACITY_TOTAL},
        &r);
    /* What could not be done for want of memory is handed back. */
    if (rc == SHEAF_OK && sheaf_result_unprocessed_count(r)) rc = SHEAF_NOMEM;
    sheaf_result_free(r);
    return rc;
}
static sheaf_rc do_transact_write(sheaf_db *db)
{
    sheaf_result *r;
    const struct sheaf_transact_write all[] = {
        {.table = "music", .key = KEY(2), .is_delete = true},
        {.table = "music",
         .key = KEY(6),
         .update_expression = "SET n = :n",
         .expression_attribute_values = SHEAF_ITEM({":n", sheaf_int(1000)})},
        {.table = "plain", .put = SHEAF_ITEM({"id", sheaf_b("t", 1)})},
        {.table = "music",
         .key = KEY(7),
         .is_check = true,
         .condition_expression = "attribute_exists(pk)"}};
    return finish(sheaf_transact_write_items(db,
                                             &(struct sheaf_transact_write_items){
                                                 .actions = all,
                                                 .n_actions = 4,
                                                 .client_request_token = "token",
                                                 .return_consumed_capacity = SHEAF_CAPACITY_INDEXES,
                                                 .return_item_collection_metrics = true},
                                             &r),
                  &r);
}
static sheaf_rc do_canceled(sheaf_db *db)
{
    sheaf_result *r;
    const struct sheaf_transact_write all[] = {{.table = "music", .key = KEY(2), .is_delete = true},
                                               {.table = "music",
                                                .key = KEY(6),
                                                .is_check = true,
                                                .condition_expression = "attribute_not_exists(pk)",
                                                .return_old_on_condition_failure = true}};
    sheaf_rc rc = sheaf_transact_write_items(
        db, &(struct sheaf_transact_write_items){.actions = all, .n_actions = 2}, &r);
    if (rc == SHEAF_TRANSACTION_CANCELED) {
        read_all(sheaf_result_reason(r, 1)->item);
        rc = SHEAF_OK;
    }
    sheaf_result_free(r);
    return rc;
}
static sheaf_rc do_transact_get(sheaf_db *db)
{
    sheaf_result *r;
    const struct sheaf_transact_get both[] = {{.table = "music", .key = KEY(2)},
                                              {.table = "music", .key = KEY(77)}};
    return finish(sheaf_transact_get_items(
                      db, &(struct sheaf_transact_get_items){.gets = both, .n_gets = 2}, &r),
                  &r);
}
static sheaf_rc do_streams(sheaf_db *db)
{
    sheaf_result *streams = NULL, *shards = NULL, *it = NULL, *records = NULL;
    sheaf_rc rc = sheaf_list_streams(db, &(struct sheaf_list_streams){.table = "music"}, &streams);
    if (rc == SHEAF_OK)
        rc = sheaf_describe_stream(
            db, &(struct sheaf_describe_stream){.stream_arn = sheaf_result_stream(streams, 0)->arn},
            &shards);
    for (size_t i = 0; rc == SHEAF_OK && i < sheaf_result_shard_count(shards); i++) {
        rc = sheaf_get_shard_iterator(
            db,
            &(struct sheaf_get_shard_iterator){.stream_arn = sheaf_result_stream(streams, 0)->arn,
                                               .shard_id = sheaf_result_shard(shards, i)->id},
            &it);
        if (rc == SHEAF_OK)
            rc = sheaf_get_records(
                db, &(struct sheaf_get_records){.shard_iterator = sheaf_result_iterator(it)},
                &records);
        for (size_t k = 0; rc == SHEAF_OK && k < sheaf_result_record_count(records); k++)
            read_all(sheaf_result_record(records, k)->keys);
        sheaf_result_free(it);
        sheaf_result_free(records);
        it = records = NULL;
    }
    sheaf_result_free(streams);
    sheaf_result_free(shards);
    return rc;
}
static sheaf_rc do_collection(sheaf_db *db)
{
    sheaf_result *r;
    return finish(sheaf_describe_collection(
                      db,
                      &(struct sheaf_collection_stats){
                          .table = "music", .partition_key = SHEAF_ITEM({"pk", sheaf_s("a")})},
                      &r),
                  &r);
}
static sheaf_rc do_largest(sheaf_db *db)
{
    sheaf_result *r;
    return finish(sheaf_largest_collections(db, &(struct sheaf_table_report){.table = "music"}, &r),
                  &r);
}
static sheaf_rc do_hot(sheaf_db *db)
{
    sheaf_result *r;
    return finish(sheaf_hot_keys(db, &(struct sheaf_table_report){.table = "music"}, &r), &r);
}
static bool complain(void *ctx, const char *what)
{
    (void)ctx;
    fail_msg("sheaf_verify: %s", what);
    return false;
}
static sheaf_rc do_verify(sheaf_db *db) { return sheaf_verify(db, complain, NULL, NULL); }
/* Expires an item, fills a new index, forgets tokens. */
static sheaf_rc do_background(sheaf_db *db)
{
    now_us = (NOW_S + 100) * 1000000;
    sheaf_rc rc = sheaf_run_background(db, NULL);
    if (rc == SHEAF_OK) rc = sheaf_run_background(db, NULL);
    return rc;
}
static void before_background(sheaf_db *db) { assert_ok(do_add_index(db)); }
static sheaf_rc do_build(sheaf_db *db)
{
    (void)db;
    sheaf_item *item = sheaf_item_new(), *copy = NULL;
    sheaf_rc rc = item ? SHEAF_OK : SHEAF_NOMEM;
    for (int i = 0; i < 20 && rc == SHEAF_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "a%d", i);
        rc = sheaf_item_set(item, name, sheaf_m(SHEAF_ITEM({"x", sheaf_int(i)})));
    }
    if (rc == SHEAF_OK && !(copy = sheaf_item_dup(item))) rc = SHEAF_NOMEM;
    if (rc == SHEAF_OK && sheaf_item_size(copy) == 0) rc = SHEAF_NOMEM;
    sheaf_item_free(item);
    sheaf_item_free(copy);
    return rc;
}
/* Another database, from nothing. */
static sheaf_rc do_open(sheaf_db *db)
{
    sheaf_db *other;
    (void)db;
    static unsigned n = 1000;
    sheaf_rc rc = open_db(is_rocks ? n++ : 0, &other);
    sheaf_close(other);
    return rc;
}

static const struct operation {
    const char *name;
    sheaf_rc (*run)(sheaf_db *db);
    void (*prepare)(sheaf_db *db);
    bool may_be_partly_done; /* in several transactions: what is done is done */
} operations[] = {
    {"CreateTable", do_create, NULL, false},
    {"DeleteTable", do_drop, NULL, false},
    {"DescribeTable", do_describe, NULL, false},
    {"ListTables", do_list, NULL, false},
    {"UpdateTable, a new index", do_add_index, NULL, false},
    {"UpdateTable, an index less", do_drop_index, NULL, false},
    {"UpdateTable, no stream", do_stream_off, NULL, false},
    {"UpdateTable, a stream", do_stream_on, NULL, false},
    {"UpdateTable, protection", do_protect, NULL, false},
    {"UpdateTimeToLive", do_ttl_on, NULL, false},
    {"UpdateTimeToLive, off", do_ttl_off, NULL, false},
    {"DescribeTimeToLive", do_describe_ttl, NULL, false},
    {"PutItem", do_put, NULL, false},
    {"PutItem, refused", do_refused_put, NULL, false},
    {"UpdateItem", do_update, NULL, false},
    {"DeleteItem", do_delete, NULL, false},
    {"GetItem", do_get, NULL, false},
    {"Query", do_query, NULL, false},
    {"Query of a local index", do_query_local, NULL, false},
    {"Query of a global index", do_query_global, NULL, false},
    {"Scan", do_scan, NULL, false},
    {"BatchGetItem", do_batch_get, NULL, false},
    {"BatchWriteItem", do_batch_write, NULL, true},
    {"TransactWriteItems", do_transact_write, NULL, false},
    {"TransactWriteItems, canceled", do_canceled, NULL, false},
    {"TransactGetItems", do_transact_get, NULL, false},
    {"streams", do_streams, NULL, false},
    {"describe_collection", do_collection, NULL, false},
    {"largest_collections", do_largest, NULL, false},
    {"hot_keys", do_hot, NULL, false},
    {"verify", do_verify, NULL, false},
    {"background", do_background, before_background, true},
    {"items built", do_build, NULL, false},
    {"open and close", do_open, NULL, false},
};

/* ---- every allocation ---- */

static sheaf_db *fresh(unsigned n, const struct operation *op)
{
    sheaf_db *db;
    now_us = NOW_S * 1000000;
    assert_ok(open_db(n, &db));
    fill(db);
    if (op->prepare) op->prepare(db);
    return db;
}

static void expect_dump(const char *what, const struct operation *op, uint64_t nth, sheaf_db *db,
                        const char *want)
{
    char *is = dump_db(db);
    if (strcmp(is, want) != 0)
        fail_msg("%s, allocation %" PRIu64 ": %s\n--- is\n%s\n--- should be\n%s", op->name, nth,
                 what, is, want);
    free(is);
}

struct tally {
    uint64_t tried, failed, survived;
};

/* One attempt; whether an allocation failed at all. */
static bool attempt(const struct operation *op, uint64_t nth, bool for_ever, sheaf_db **db,
                    const char *texts[2], struct tally *t)
{
    uint64_t before = mem_count();
    mem_fail_at(nth, for_ever);
    sheaf_rc rc = op->run(*db);
    mem_fail_at(0, false);
    bool was_hit = mem_count() - before >= nth;
    t->tried++;
    t->failed += rc != SHEAF_OK;
    t->survived += rc == SHEAF_OK && was_hit;
    if (rc != SHEAF_OK && rc != SHEAF_NOMEM)
        fail_msg("%s, allocation %" PRIu64 ": rc %d", op->name, nth, (int)rc);
    if (rc != SHEAF_OK && !was_hit) fail_msg("%s failed by itself", op->name);
    if (rc != SHEAF_OK && !op->may_be_partly_done) {
        char *is = dump_db(*db);
        bool is_done = strcmp(is, texts[0]) != 0;
        free(is);
        if (is_done) fail_msg("%s, allocation %" PRIu64 ": failed, but done", op->name, nth);
    }
    assert_ok(sheaf_verify(*db, complain, NULL, NULL));
    if (rc != SHEAF_OK) assert_ok(op->run(*db));
    expect_dump("the end is another one", op, nth, *db, texts[1]);
    return was_hit;
}

static void try_operation(const struct operation *op, unsigned *n)
{
    struct tally t = {0};
    sheaf_db *db = fresh(++*n, op);
    char *texts[2] = {dump_db(db), NULL};
    assert_ok(op->run(db));
    texts[1] = dump_db(db);
    sheaf_close(db);
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        bool was_hit = true;
        for (uint64_t nth = 1; was_hit; nth++) {
            db = fresh(++*n, op);
            was_hit = attempt(op, nth, for_ever, &db, (const char **)texts, &t);
            sheaf_close(db);
        }
    }
    printf("  %-30s %4" PRIu64 " allocations failed, %" PRIu64 " without harm\n", op->name,
           t.failed + t.survived, t.survived);
    free(texts[0]);
    free(texts[1]);
}

static void test_every_operation__survives_every_failed_allocation(void **state)
{
    unsigned n = 0;
    (void)state;
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        char command[100];
        try_operation(&operations[i], &n);
        snprintf(command, sizeof command, "rm -rf '%s'/*", home);
        if (is_rocks) assert_int_equal(system(command), 0);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    is_rocks = strcmp(argv[1], "rocks") == 0;
    strcpy(home, "/tmp/model-oom-XXXXXX");
    if (!mkdtemp(home)) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation__survives_every_failed_allocation),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", home);
    return system(command) != 0 ? 2 : failed;
}
