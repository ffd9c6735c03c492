/* <sheaf/sheaf.h>: DynamoDB's data model in your process, or on a server.
 *
 *     sheaf_db *db; sheaf_error err;
 *     sheaf_open("shop.sheaf", NULL, &db, &err)             a directory: durable
 *     sheaf_open(":memory:", NULL, &db, &err)               gone when closed
 *     sheaf_open("http://127.0.0.1:8000", NULL, &db, &err)  a server: sheaf serve, or AWS
 *
 * CALLS  Each operation takes the handle, a request struct and a result pointer (which may be NULL
 * when nothing is wanted back).
 * Zero in a request means AWS's default; a boolean whose default is true on AWS appears negated.
 * Words are AWS's, in snake case.
 * ERRORS Every call returns a sheaf_rc; name a sheaf_error in the request (.error = &err) for the
 * exception and the message.
 * OWNERSHIP  A result belongs to the caller: one sheaf_result_free, which is fine with NULL;
 * everything got from it is borrowed until
 * then. The result is set on success, and on the failures that carry data (the item that failed a
 * condition, cancellation reasons);
 * otherwise it is NULL. Nothing of a request is kept after the call.
 * THREADS  A handle may be used from any number of threads; a result by one thread at a time.
 * sheaf_close waits for calls under way.
 * GROWTH  Request structs grow at their end only; a program compiled earlier keeps working (see
 * sheaf_…_sized). Structs that a request holds in an array cannot grow, for the library walks the
 * array in steps of their size: struct sheaf_index, sheaf_fault, sheaf_batch_get,
 * sheaf_batch_write, sheaf_transact_write and sheaf_transact_get are frozen with some room
 * (reserved members, which must be zero), struct sheaf_key, sheaf_name and sheaf_throughput as they
 * are, and so are sheaf_value, sheaf_attr, sheaf_item and sheaf_list of <sheaf/value.h>. What a
 * result hands out by pointer may grow at its end.
 */
#ifndef SHEAF_SHEAF_H
#define SHEAF_SHEAF_H

#include <sheaf/error.h>
#include <sheaf/value.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored                                                                     \
    "-Wshadow" /* struct sheaf_query and sheaf_query() share a name, as struct stat and stat() do */
#endif
#endif

typedef struct sheaf_db sheaf_db;
typedef struct sheaf_result sheaf_result;

/* ---- opening ---- */

enum sheaf_durability {
    SHEAF_SYNC,   /* a call returns when what it says would survive a power cut */
    SHEAF_RELAXED /* … would survive the end of the process; the disk follows within moments */
};

struct sheaf_options {
    enum sheaf_durability durability;
    bool
        allow_sort_key_filter; /* extension: filters and contains() on the sort key inside one collection */
    char reserved_[3];
    const char *region; /* of ARNs, stream records and signatures; NULL = "us-east-1" */
    const char *owner;  /* what the next process is told that finds the directory in use */
    uint64_t cache_bytes;
    /* Injected clock, microseconds since 1970; NULL = the system's. Must be thread-safe. */
    int64_t (*now_us)(void *ctx);
    void *now_ctx;
    uint32_t gsi_lag_ms; /* emulation: eventually consistent GSI reads see the past */
    bool throttle;       /* emulation: 3,000 RCU / 1,000 WCU per key, and the table's throughput */
    bool no_background;  /* no TTL sweeper thread: the program calls sheaf_run_background */
    char reserved2_[2];
    uint64_t max_collection_bytes;    /* of a table with an LSI; 0 = AWS's 10 GB */
    const struct sheaf_fault *faults; /* emulation: a seeded schedule of failures */
    size_t n_faults;
    uint64_t seed; /* of jitter and faults; 0 = from the clock */
    /* Remote handles only; docs/remote.md. Who signs: these, else AWS_ACCESS_KEY_ID and its
     * companions, else a profile of the shared credentials file. */
    const char *access_key_id, *secret_access_key, *session_token;
    const char *profile;   /* of the shared credentials file; NULL = AWS_PROFILE, or "default" */
    const char *ca_file;   /* certificates to trust, PEM; NULL = the system's */
    uint32_t timeout_ms;   /* of a whole call, its attempts together; 0 = 30,000 */
    uint32_t max_attempts; /* 0 = 4 */
};

/* The n-th matching request (and every `every`-th after it) answers with the given code. */
struct sheaf_fault {
    const char *operation; /* "PutItem"; NULL = any */
    const char *table;     /* NULL = any */
    sheaf_rc rc;     /* SHEAF_TRANSACTION_CONFLICT, SHEAF_THROUGHPUT_EXCEEDED, SHEAF_INTERNAL */
    uint32_t one_in; /* at random, one in so many; 0 = by nth and every */
    uint64_t nth, every;
    const void *reserved_[2]; /* zero */
};

SHEAF_API sheaf_rc sheaf_open_sized(const char *url, const struct sheaf_options *options,
                                    size_t size, sheaf_db **db_out, sheaf_error *err);
SHEAF_NODISCARD static inline sheaf_rc sheaf_open(const char *url,
                                                  const struct sheaf_options *options,
                                                  sheaf_db **db_out, sheaf_error *err)
{
    return sheaf_open_sized(url, options, sizeof *options, db_out, err);
}
/* NULL is fine. Waits for calls under way; later calls on the handle are the program's mistake. */
SHEAF_API void sheaf_close(sheaf_db *db);
/* Calls under way on a remote handle end with SHEAF_IO, within about a second, done or not; calls
 * that begin later are not touched. An embedded handle's calls do not wait, and run to their end. */
SHEAF_API void sheaf_cancel(sheaf_db *db);
/* Prints "exception: message" to stderr and returns 1: for small programs, `return
 * sheaf_die(&err);`. Inline, so that it is the program that prints and never the library. */
static inline int sheaf_die(const sheaf_error *err)
{
    fprintf(stderr, "%s: %s\n", err && err->exception ? err->exception : "error",
            err ? err->message : "");
    return 1;
}
/* Background work until nothing is left for now: expired items, old stream records, old tokens,
 * index backfill. For programs that set no_background, as tests with an injected clock do. What it
 * did is visible when it returns and, unless durability is SHEAF_RELAXED, durable. */
SHEAF_API sheaf_rc sheaf_run_background(sheaf_db *db, sheaf_error *err) SHEAF_NODISCARD;

/* ---- tables ---- */

enum sheaf_projection_type { SHEAF_PROJECT_ALL, SHEAF_PROJECT_KEYS_ONLY, SHEAF_PROJECT_INCLUDE };
enum sheaf_billing_mode { SHEAF_PAY_PER_REQUEST, SHEAF_PROVISIONED };
enum sheaf_stream_view {
    SHEAF_STREAM_NONE,
    SHEAF_STREAM_KEYS_ONLY,
    SHEAF_STREAM_NEW_IMAGE,
    SHEAF_STREAM_OLD_IMAGE,
    SHEAF_STREAM_NEW_AND_OLD_IMAGES
};

struct sheaf_key {
    const char *name;
    sheaf_type type; /* SHEAF_S, SHEAF_N or SHEAF_B */
    char reserved_[4];
};
struct sheaf_throughput {
    uint64_t read, write;
};
/* A global or local secondary index. One partition and sort key stand in the first elements; a
 * global one takes up to four each. */
struct sheaf_index {
    const char *name;
    struct sheaf_key partition_key[4];
    struct sheaf_key sort_key[4];
    enum sheaf_projection_type projection;
    uint32_t n_include;
    const char *const *include; /* SHEAF_PROJECT_INCLUDE */
    struct sheaf_throughput throughput;
    const void *reserved_[2]; /* zero */
};
struct sheaf_create_table {
    const char *table;
    struct sheaf_key partition_key, sort_key;
    const struct sheaf_index *global_indexes;
    size_t n_global_indexes;
    const struct sheaf_index *local_indexes;
    size_t n_local_indexes;
    enum sheaf_billing_mode billing_mode;
    enum sheaf_stream_view stream;
    struct sheaf_throughput throughput;
    bool deletion_protection;
    bool infrequent_access; /* table class STANDARD_INFREQUENT_ACCESS */
    char reserved_[6];
    sheaf_error *error;
};
struct sheaf_table_name {
    const char *table;
    sheaf_error *error;
};
struct sheaf_list_tables {
    const char *exclusive_start_table_name;
    uint32_t limit;
    char reserved_[4];
    sheaf_error *error;
};
enum sheaf_switch { SHEAF_UNCHANGED, SHEAF_ON, SHEAF_OFF };
struct sheaf_update_table {
    const char *table;
    const struct sheaf_index *create_index; /* at most one of these two */
    const char *delete_index;
    const struct sheaf_index *update_indexes; /* names and throughput of global ones */
    size_t n_update_indexes;
    const struct sheaf_throughput *throughput;
    enum sheaf_switch deletion_protection;
    enum sheaf_switch stream; /* SHEAF_ON with a view */
    enum sheaf_stream_view stream_view;
    enum sheaf_switch pay_per_request; /* SHEAF_ON: on demand; SHEAF_OFF: provisioned */
    enum sheaf_switch infrequent_access;
    char reserved_[4];
    sheaf_error *error;
};
struct sheaf_update_time_to_live {
    const char *table;
    const char *attribute;
    bool enabled;
    char reserved_[7];
    sheaf_error *error;
};

/* ---- items ---- */

enum sheaf_return_values {
    SHEAF_RETURN_NONE,
    SHEAF_ALL_OLD,
    SHEAF_UPDATED_OLD,
    SHEAF_ALL_NEW,
    SHEAF_UPDATED_NEW
};
enum sheaf_return_capacity { SHEAF_CAPACITY_NONE, SHEAF_CAPACITY_TOTAL, SHEAF_CAPACITY_INDEXES };
/* ExpressionAttributeNames: {"#s", "status"}. */
struct sheaf_name {
    const char *placeholder, *name;
};
#ifndef __cplusplus
#define SHEAF_NAMES(...)                                                                           \
    .expression_attribute_names = (const struct sheaf_name[])                                      \
    {                                                                                              \
        __VA_ARGS__, { NULL, NULL }                                                                \
    }
#endif

struct sheaf_put_item {
    const char *table;
    const sheaf_item *item;
    const char *condition_expression;
    const struct sheaf_name *expression_attribute_names; /* ends in {NULL, NULL} */
    const sheaf_item *expression_attribute_values;
    enum sheaf_return_values return_values; /* SHEAF_ALL_OLD */
    enum sheaf_return_capacity return_consumed_capacity;
    bool return_old_on_condition_failure;
    bool return_item_collection_metrics;
    char reserved_[6];
    sheaf_error *error;
};
struct sheaf_get_item {
    const char *table;
    const sheaf_item *key;
    const char *projection_expression;
    const struct sheaf_name *expression_attribute_names;
    enum sheaf_return_capacity return_consumed_capacity;
    bool consistent_read;
    char reserved_[3];
    sheaf_error *error;
};
struct sheaf_update_item {
    const char *table;
    const sheaf_item *key;
    const char *update_expression;
    const char *condition_expression;
    const struct sheaf_name *expression_attribute_names;
    const sheaf_item *expression_attribute_values;
    enum sheaf_return_values return_values;
    enum sheaf_return_capacity return_consumed_capacity;
    bool return_old_on_condition_failure;
    bool return_item_collection_metrics;
    char reserved_[6];
    sheaf_error *error;
};
struct sheaf_delete_item {
    const char *table;
    const sheaf_item *key;
    const char *condition_expression;
    const struct sheaf_name *expression_attribute_names;
    const sheaf_item *expression_attribute_values;
    enum sheaf_return_values return_values; /* SHEAF_ALL_OLD */
    enum sheaf_return_capacity return_consumed_capacity;
    bool return_old_on_condition_failure;
    bool return_item_collection_metrics;
    char reserved_[6];
    sheaf_error *error;
};

/* ---- item collections ---- */

enum sheaf_select {
    SHEAF_SELECT_DEFAULT, /* all attributes of a table, the projected ones of an index, or the projection's */
    SHEAF_SELECT_ALL_ATTRIBUTES,
    SHEAF_SELECT_ALL_PROJECTED_ATTRIBUTES,
    SHEAF_SELECT_COUNT,
    SHEAF_SELECT_SPECIFIC_ATTRIBUTES
};
struct sheaf_query {
    const char *table, *index;
    const char *key_condition_expression;
    const char *filter_expression;
    const char *projection_expression;
    const struct sheaf_name *expression_attribute_names;
    const sheaf_item *expression_attribute_values;
    const sheaf_item *exclusive_start_key;
    enum sheaf_select select;
    enum sheaf_return_capacity return_consumed_capacity;
    uint32_t limit; /* items evaluated; 0 = no limit */
    bool backward;
    bool consistent_read;
    char reserved_[2];
    sheaf_error *error;
};
struct sheaf_scan {
    const char *table, *index;
    const char *filter_expression;
    const char *projection_expression;
    const struct sheaf_name *expression_attribute_names;
    const sheaf_item *expression_attribute_values;
    const sheaf_item *exclusive_start_key;
    enum sheaf_select select;
    enum sheaf_return_capacity return_consumed_capacity;
    uint32_t limit;
    uint32_t segment, total_segments; /* total_segments 0: not a parallel scan */
    bool consistent_read;
    char reserved_[3];
    sheaf_error *error;
};

/* ---- batches and transactions ----
 *
 * The error's `action` is the index of the member at fault where one is known: the first action
 * that made a transaction fail (SHEAF_TRANSACTION_CANCELED; the reasons tell of all), or the write,
 * action or get that is not valid; of a BatchGetItem the index of the table. Otherwise -1. */

struct sheaf_batch_get {
    const char *table;
    const sheaf_item *const *keys;
    size_t n_keys;
    const char *projection_expression;
    const struct sheaf_name *expression_attribute_names;
    bool consistent_read;
    char reserved_[7];
    const void *reserved2_[2]; /* zero */
};
struct sheaf_batch_get_item {
    const struct sheaf_batch_get *tables;
    size_t n_tables;
    enum sheaf_return_capacity return_consumed_capacity;
    char reserved_[4];
    sheaf_error *error;
};
/* A put (item) or a delete (key). */
struct sheaf_batch_write {
    const char *table;
    const sheaf_item *put;
    const sheaf_item *delete_key;
    const void *reserved_[2]; /* zero */
};
struct sheaf_batch_write_item {
    const struct sheaf_batch_write *writes;
    size_t n_writes;
    enum sheaf_return_capacity return_consumed_capacity;
    bool return_item_collection_metrics;
    char reserved_[3];
    sheaf_error *error;
};
/* Exactly one of put, update_expression (with key), is_delete (with key) and is_check (with key and
 * condition). */
struct sheaf_transact_write {
    const char *table;
    const sheaf_item *put;
    const sheaf_item *key;
    const char *update_expression;
    const char *condition_expression;
    const struct sheaf_name *expression_attribute_names;
    const sheaf_item *expression_attribute_values;
    bool is_delete, is_check;
    bool return_old_on_condition_failure;
    char reserved_[5];
    const void *reserved2_[2]; /* zero */
};
struct sheaf_transact_write_items {
    const struct sheaf_transact_write *actions;
    size_t n_actions;
    const char *client_request_token;
    enum sheaf_return_capacity return_consumed_capacity;
    bool return_item_collection_metrics;
    char reserved_[3];
    sheaf_error *error;
};
struct sheaf_transact_get {
    const char *table;
    const sheaf_item *key;
    const char *projection_expression;
    const struct sheaf_name *expression_attribute_names;
    const void *reserved_[2]; /* zero */
};
struct sheaf_transact_get_items {
    const struct sheaf_transact_get *gets;
    size_t n_gets;
    enum sheaf_return_capacity return_consumed_capacity;
    char reserved_[4];
    sheaf_error *error;
};

/* ---- streams ---- */

enum sheaf_iterator_type {
    SHEAF_TRIM_HORIZON,
    SHEAF_LATEST,
    SHEAF_AT_SEQUENCE_NUMBER,
    SHEAF_AFTER_SEQUENCE_NUMBER
};
struct sheaf_list_streams {
    const char *table; /* NULL = all */
    const char *exclusive_start_stream_arn;
    uint32_t limit;
    char reserved_[4];
    sheaf_error *error;
};
struct sheaf_describe_stream {
    const char *stream_arn;
    const char *exclusive_start_shard_id;
    uint32_t limit;
    char reserved_[4];
    sheaf_error *error;
};
struct sheaf_get_shard_iterator {
    const char *stream_arn, *shard_id;
    const char *sequence_number;
    enum sheaf_iterator_type type;
    char reserved_[4];
    sheaf_error *error;
};
struct sheaf_get_records {
    const char *shard_iterator;
    uint32_t limit;
    char reserved_[4];
    sheaf_error *error;
};

/* ---- collections as a whole: what DynamoDB does not tell ---- */

struct sheaf_collection_stats {
    const char *table, *index; /* index NULL: the base table */
    const sheaf_item *partition_key;
    sheaf_error *error;
};
struct sheaf_table_report {
    const char *table, *index;
    uint32_t limit; /* 0 = 10 */
    char reserved_[4];
    sheaf_error *error;
};

/* ---- the calls ---- */

/* X(name of the call and of its request struct) */
#define SHEAF_CALLS_(X)                                                                            \
    X(create_table, sheaf_create_table)                                                            \
    X(describe_table, sheaf_table_name)                                                            \
    X(delete_table, sheaf_table_name)                                                              \
    X(list_tables, sheaf_list_tables)                                                              \
    X(update_table, sheaf_update_table)                                                            \
    X(update_time_to_live, sheaf_update_time_to_live)                                              \
    X(describe_time_to_live, sheaf_table_name)                                                     \
    X(put_item, sheaf_put_item)                                                                    \
    X(get_item, sheaf_get_item)                                                                    \
    X(update_item, sheaf_update_item)                                                              \
    X(delete_item, sheaf_delete_item)                                                              \
    X(query, sheaf_query)                                                                          \
    X(scan, sheaf_scan)                                                                            \
    X(batch_get_item, sheaf_batch_get_item)                                                        \
    X(batch_write_item, sheaf_batch_write_item)                                                    \
    X(transact_write_items, sheaf_transact_write_items)                                            \
    X(transact_get_items, sheaf_transact_get_items)                                                \
    X(list_streams, sheaf_list_streams)                                                            \
    X(describe_stream, sheaf_describe_stream)                                                      \
    X(get_shard_iterator, sheaf_get_shard_iterator)                                                \
    X(get_records, sheaf_get_records)                                                              \
    X(describe_collection, sheaf_collection_stats)                                                 \
    X(largest_collections, sheaf_table_report)                                                     \
    X(hot_keys, sheaf_table_report)

/* sheaf_put_item(db, &(struct sheaf_put_item){…}, &result) and so on. The _sized form is for
 * callers in other languages: `size` is the
 * size of the request struct as they know it. */
#define SHEAF_X_(call, request)                                                                    \
    SHEAF_API sheaf_rc sheaf_##call##_sized(sheaf_db *db, const struct request *q, size_t size,    \
                                            sheaf_result **result_out) SHEAF_NODISCARD;            \
    SHEAF_NODISCARD static inline sheaf_rc sheaf_##call(sheaf_db *db, const struct request *q,     \
                                                        sheaf_result **result_out)                 \
    {                                                                                              \
        return sheaf_##call##_sized(db, q, sizeof *q, result_out);                                 \
    }
SHEAF_CALLS_(SHEAF_X_)
#undef SHEAF_X_

/* Any operation by its name, as the wire has it: sheaf_call(db, "ListTables", "{}", &r, &err), then
 * sheaf_result_json(r). An embedded handle answers with the words of sheaf serve; a remote one hands
 * the server's through, also for operations that this library does not know. */
SHEAF_API sheaf_rc sheaf_call(sheaf_db *db, const char *operation, const char *json,
                              sheaf_result **result_out, sheaf_error *err) SHEAF_NODISCARD;

/* ---- results ---- Descriptions are handed out as pointers into the result, so that they may grow;
 * NULL behind the end. */

SHEAF_API void sheaf_result_free(sheaf_result *r);
/* Whether the answer has all its parts. A write or a schema change that was made answers SHEAF_OK
 * even when memory ran out while its answer was filled in; then this is false, and returned
 * attributes, capacity, metrics or the description may be missing. The same holds for the item or
 * the reasons of a refusal. A read without its parts is SHEAF_NOMEM instead. false for NULL. */
SHEAF_API bool sheaf_result_is_complete(const sheaf_result *r);
/* The answer of sheaf_call, or the body of its refusal with data; NULL for other results. */
SHEAF_API const char *sheaf_result_json(const sheaf_result *r);

/* The one item of GetItem, the returned attributes of a write, or the item that failed a condition;
 * NULL when there is none. */
SHEAF_API const sheaf_item *sheaf_result_item(const sheaf_result *r);
/* Items of a page, a batch or a TransactGetItems, in order. An absent item of TransactGetItems is
 * NULL. */
SHEAF_API size_t sheaf_result_count(const sheaf_result *r);
SHEAF_API const sheaf_item *sheaf_result_at(const sheaf_result *r, size_t i);
/* Of a batch: the table that item i came from. */
SHEAF_API const char *sheaf_result_table_at(const sheaf_result *r, size_t i);
/* Query and Scan: items that matched (also with SHEAF_SELECT_COUNT) and items evaluated. */
SHEAF_API uint64_t sheaf_result_matched(const sheaf_result *r);
SHEAF_API uint64_t sheaf_result_scanned(const sheaf_result *r);
/* Where to go on: give it as exclusive_start_key. NULL at the end. */
SHEAF_API const sheaf_item *sheaf_result_last_evaluated_key(const sheaf_result *r);
/* The item after `item`, or the first one. */
SHEAF_API const sheaf_item *sheaf_result_next_(const sheaf_result *r, const sheaf_item *item);
#define SHEAF_EACH(result, item)                                                                   \
    for (const sheaf_item *item = sheaf_result_next_((result), NULL); item;                        \
         item = sheaf_result_next_((result), item))

/* A batch's leftovers: UnprocessedKeys or UnprocessedItems, as indexes into the request. */
SHEAF_API size_t sheaf_result_unprocessed_count(const sheaf_result *r);
/* table: index of the table (batch get) or of the write (batch write); key: index of the key (batch
 * get), else 0. */
SHEAF_API bool sheaf_result_unprocessed_at(const sheaf_result *r, size_t i, size_t *table_out,
                                           size_t *key_out);

/* Why a transaction was canceled: one reason per action. */
struct sheaf_reason {
    const char *code;       /* "None", "ConditionalCheckFailed", "TransactionConflict", … */
    const char *message;    /* NULL with "None" */
    const sheaf_item *item; /* when the action asked for it */
};
SHEAF_API size_t sheaf_result_reason_count(const sheaf_result *r);
SHEAF_API const struct sheaf_reason *sheaf_result_reason(const sheaf_result *r, size_t i);

/* ConsumedCapacity, one per table. */
struct sheaf_capacity {
    const char *table;
    const char *
        index; /* NULL: the whole; else one arm, with SHEAF_CAPACITY_INDEXES; "" is the base table */
    double units, read_units, write_units;
};
SHEAF_API size_t sheaf_result_capacity_count(const sheaf_result *r);
SHEAF_API const struct sheaf_capacity *sheaf_result_capacity(const sheaf_result *r, size_t i);

/* ItemCollectionMetrics: the partition key and the collection's size, in bytes; of a remote handle
 * the lower end of the estimate. */
SHEAF_API size_t sheaf_result_metrics_count(const sheaf_result *r);
SHEAF_API bool sheaf_result_metrics(const sheaf_result *r, size_t i, const sheaf_item **key_out,
                                    uint64_t *bytes_out);

struct sheaf_index_description {
    const char *name, *arn, *status; /* "ACTIVE", "CREATING", "DELETING" */
    bool is_local, is_backfilling;
    uint32_t n_partition_key, n_sort_key;
    struct sheaf_key partition_key[4], sort_key[4];
    enum sheaf_projection_type projection;
    uint32_t n_include;
    const char *const *include;
    uint64_t item_count, size_bytes;
    struct sheaf_throughput throughput;
};
/* DescribeTimeToLive fills in name and ttl_attribute only. */
struct sheaf_table_description {
    const char *name, *arn, *id, *status;
    int64_t created_us;
    struct sheaf_key partition_key, sort_key; /* sort_key.name NULL: none */
    uint64_t item_count, size_bytes;
    enum sheaf_billing_mode billing_mode;
    struct sheaf_throughput throughput;
    bool deletion_protection, infrequent_access;
    enum sheaf_stream_view stream;
    const char *stream_arn, *stream_label;
    /* NULL: off. A remote handle knows it from sheaf_describe_time_to_live only. */
    const char *ttl_attribute;
    uint32_t n_indexes;
    const void *indexes_; /* by sheaf_table_index only */
};
SHEAF_API const struct sheaf_table_description *sheaf_result_table(const sheaf_result *r);
/* Index i of a table, global and local ones; NULL behind the end. */
SHEAF_API const struct sheaf_index_description *
sheaf_table_index(const struct sheaf_table_description *table, size_t i);
/* ListTables: names. Where to go on, NULL at the end: the last table's name of ListTables, the last
 * stream's ARN of ListStreams, the last shard's id of DescribeStream. */
SHEAF_API size_t sheaf_result_name_count(const sheaf_result *r);
SHEAF_API const char *sheaf_result_name(const sheaf_result *r, size_t i);
SHEAF_API const char *sheaf_result_last_name(const sheaf_result *r);

struct sheaf_stream_description {
    /* "ENABLED", "DISABLED"; NULL in a list of a remote handle, which tells only the names. */
    const char *arn, *label, *table, *status;
    enum sheaf_stream_view view;
    int64_t created_us;
};
struct sheaf_shard_description {
    const char *id, *parent_id;
    const char *first_sequence_number, *last_sequence_number; /* last NULL: open */
};
struct sheaf_stream_record {
    const char *event_id, *event_name, *sequence_number; /* "INSERT", "MODIFY", "REMOVE" */
    const sheaf_item *keys, *old_image, *new_image;
    enum sheaf_stream_view view;
    bool is_ttl; /* deleted by TTL: principal dynamodb.amazonaws.com, type Service */
    int64_t created_us;
    uint64_t size_bytes;
};
SHEAF_API size_t sheaf_result_stream_count(const sheaf_result *r);
SHEAF_API const struct sheaf_stream_description *sheaf_result_stream(const sheaf_result *r,
                                                                     size_t i);
SHEAF_API size_t sheaf_result_shard_count(const sheaf_result *r);
SHEAF_API const struct sheaf_shard_description *sheaf_result_shard(const sheaf_result *r, size_t i);
SHEAF_API size_t sheaf_result_record_count(const sheaf_result *r);
SHEAF_API const struct sheaf_stream_record *sheaf_result_record(const sheaf_result *r, size_t i);
/* GetShardIterator's iterator, GetRecords' next one; NULL when the shard is closed and read to its
 * end. */
SHEAF_API const char *sheaf_result_iterator(const sheaf_result *r);

struct sheaf_collection {
    const sheaf_item *partition_key;
    uint64_t items, bytes;
    double reads_per_s, writes_per_s; /* hot_keys: in the sliding window */
    const char *warning;              /* NULL, or what a designer should know */
};
SHEAF_API size_t sheaf_result_collection_count(const sheaf_result *r);
SHEAF_API const struct sheaf_collection *sheaf_result_collection(const sheaf_result *r, size_t i);

/* ---- care ---- */

/* Walks everything: items, index entries, streams, statistics, tokens, and the engine's own checks.
 * `complain` is called for each
 * disagreement and returns false to stop. SHEAF_CORRUPT when there was one. */
SHEAF_API sheaf_rc sheaf_verify(sheaf_db *db, bool (*complain)(void *ctx, const char *what),
                                void *ctx, sheaf_error *err) SHEAF_NODISCARD;
/* A consistent copy of a database on disk, while it is in use; `directory` must not exist. */
SHEAF_API sheaf_rc sheaf_backup(sheaf_db *db, const char *directory,
                                sheaf_error *err) SHEAF_NODISCARD;

#ifdef __cplusplus
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
}
#endif
#endif
