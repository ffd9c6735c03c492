/* core/core.h: the data plane. Requests in, outcomes out; no JSON, no HTTP, no RocksDB.
 *
 * Layer rule: core includes value, key, expr, base and engine/engine.h. It is used by api (embedded
 * calls) and ops (the wire).
 *
 * request ─plan→ table, keys, compiled expressions (pure) ─exec→ one engine transaction → outcome
 *
 * LIFETIMES  Everything in an outcome lives in the request's arena (ctx->arena) or is borrowed from
 * the request. Items are encoded items (value/val.h), whole with their header.
 * DURABILITY  Every outcome carries `position`; whoever answers a client waits until the engine is
 * durable up to it, whatever the return code. Reads carry the position they may have seen, and so
 * do refusals by what is stored: a table that is (not) there, a key that does not fit it, a
 * condition, a token that was used. A refusal of the request alone (or a scheduled one) carries 0:
 * there is nothing to wait for.
 * THREADS  Every function is thread-safe; a request belongs to one thread.
 * ERRORS  SHEAF_CONDITIONAL_CHECK_FAILED and SHEAF_TRANSACTION_CANCELED come with data in the
 * outcome; every other error leaves the outcome empty. When an operation fails nothing is written.
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "base/clock.h"
#include "base/err.h"
#include "engine/engine.h"
#include "expr/expr.h"
#include "value/val.h"

struct core;

/* ---- opening ---- */

/* A schedule of failures, as <sheaf/sheaf.h>'s struct sheaf_fault. */
struct core_fault {
    span operation, table; /* p == NULL: any */
    sheaf_rc rc;
    uint64_t nth, every, one_in;
};
struct core_options {
    struct clock_source *clock; /* NULL = the system's */
    span region;                /* empty = "us-east-1" */
    bool allow_sort_key_filter;
    bool throttle;
    uint32_t gsi_lag_ms;
    uint64_t max_collection_bytes;   /* 0 = 10 GB */
    const struct core_fault *faults; /* copied */
    size_t n_faults;
    uint64_t seed;
};
/* Takes ownership of the engine (on failure it stays the caller's). Creates the database's header
 * in
 * an empty engine. */
SHEAF_NODISCARD sheaf_rc core_open(sheaf_engine *engine, const struct core_options *options,
                                   struct core **core_out, sheaf_error *err);
/* No request may be under way. Closes the engine. */
void core_close(struct core *core);
sheaf_engine *core_engine(struct core *core);
/* Of ARNs and stream records. */
span core_region(struct core *core);

/* ---- parts of requests and outcomes ---- */

enum core_return { CORE_NONE, CORE_ALL_OLD, CORE_UPDATED_OLD, CORE_ALL_NEW, CORE_UPDATED_NEW };
enum core_capacity_mode { CORE_CAPACITY_NONE, CORE_CAPACITY_TOTAL, CORE_CAPACITY_INDEXES };

/* ConsumedCapacity of one table. Units are doubles because half units exist. */
struct core_arm {
    span index; /* empty: the base table */
    bool is_local;
    double units;
};
struct core_capacity {
    span table;
    double units;          /* of everything */
    bool is_write;         /* for the split into read and write units */
    struct core_arm *arms; /* [0] is the base table; CORE_CAPACITY_INDEXES only */
    uint32_t n_arms;
};

/* ItemCollectionMetrics of a write on a table with local indexes. */
struct core_metrics {
    span table;
    span key; /* item: the partition key attribute */
    uint64_t bytes;
};

/* ---- tables ---- */

struct core_key {
    span name;
    enum val_type type; /* VAL_NONE: no definition was given */
};
/* OnDemandThroughput or WarmThroughput: two figures, each given or not. */
struct core_throughput {
    bool has_read, has_write;
    int64_t read, write;
};
/* What became of provisioned units; times are 0 when it never happened. */
struct core_unit_changes {
    int64_t increased_us, decreased_us;
    uint64_t decreases_today; /* of the UTC day */
};
struct core_tag {
    span key, value;
};
enum core_projection { CORE_PROJECT_ALL, CORE_PROJECT_KEYS_ONLY, CORE_PROJECT_INCLUDE };
/* A KeySchema is a list on the wire; in what way its order is none. */
enum core_key_order {
    CORE_KEYS_OK,
    CORE_KEYS_FIRST_NOT_HASH,
    CORE_KEYS_SECOND_NOT_RANGE,
    CORE_KEYS_HASH_AFTER_RANGE
};
struct core_index_def {
    span name;
    bool is_local;
    uint32_t n_hash, n_range;
    struct core_key hash[4], range[4];
    enum core_projection projection;
    const span *include;
    uint32_t n_include;
    uint64_t read_units, write_units;
    struct core_throughput on_demand, warm; /* of a global index */
    /* Of requests that came over the wire, to be refused in their turn. */
    enum core_key_order key_order;
    bool has_no_projection;
};
enum core_stream_view {
    CORE_STREAM_NONE,
    CORE_STREAM_KEYS,
    CORE_STREAM_NEW,
    CORE_STREAM_OLD,
    CORE_STREAM_BOTH
};

struct core_create_table {
    span table;
    struct core_key hash, range;          /* range.name.p == NULL: simple key */
    enum core_key_order key_order;        /* of those two, on the wire */
    const struct core_index_def *indexes; /* global and local */
    uint32_t n_indexes;
    bool is_provisioned;
    uint64_t read_units, write_units;
    enum core_stream_view stream;
    bool is_protected, is_infrequent;
    struct core_throughput on_demand, warm;
    bool is_kms;  /* SSESpecification.Enabled: kept and told, nothing is encrypted by it */
    span kms_key; /* p == NULL: the service's own */
    const struct core_tag *tags;
    uint32_t n_tags;
    /* AttributeDefinitions as given, to check that each is used and each key is defined; NULL:
     * derived. */
    const struct core_key *definitions;
    uint32_t n_definitions;
};

enum core_status { CORE_CREATING, CORE_UPDATING, CORE_DELETING, CORE_ACTIVE };
struct core_index_info {
    struct core_index_def def;
    enum core_status status;
    bool is_backfilling;
    uint64_t items, bytes;
    struct core_unit_changes changes;
};
struct core_table_info {
    span name, id; /* id: the table's UUID as text */
    span arn;      /* as a server told it; core leaves p == NULL: it follows from region and name */
    enum core_status status;
    int64_t created_us;
    struct core_key hash, range;
    struct core_index_info *indexes;
    uint32_t n_indexes;
    uint64_t items, bytes;
    bool is_provisioned, is_protected, is_infrequent;
    uint64_t read_units, write_units;
    struct core_throughput on_demand; /* what has no maximum is not given */
    struct core_throughput warm;      /* both always given */
    struct core_unit_changes changes;
    bool is_kms;
    span kms_key;
    int64_t on_demand_us; /* when billing was last set to PAY_PER_REQUEST; 0: never */
    int64_t class_us;     /* when the table class was last changed; 0: never */
    enum core_stream_view stream;
    span
        stream_label; /* of the newest stream, "2026-11-15T02:03:04.567"; p == NULL: never had one */
    span ttl_attribute; /* p == NULL: off */
    const struct core_key *definitions;
    uint32_t n_definitions;
};
struct core_table_outcome {
    struct core_table_info table;
    sheaf_position position;
};
SHEAF_NODISCARD sheaf_rc core_create_table(struct core *core, struct ctx *c,
                                           const struct core_create_table *q,
                                           struct core_table_outcome *out);
SHEAF_NODISCARD sheaf_rc core_describe_table(struct core *core, struct ctx *c, span table,
                                             struct core_table_outcome *out);
SHEAF_NODISCARD sheaf_rc core_delete_table(struct core *core, struct ctx *c, span table,
                                           struct core_table_outcome *out);

/* The shape of a table's name or ARN, which item operations judge before anything else. */
SHEAF_NODISCARD sheaf_rc core_check_table_name(struct ctx *c, span table);

struct core_list_tables {
    span after;     /* p == NULL: from the beginning */
    uint32_t limit; /* 0 = 100 */
};
struct core_names_outcome {
    span *names;
    uint32_t n;
    span last; /* p == NULL: that was all */
    sheaf_position position;
};
SHEAF_NODISCARD sheaf_rc core_list_tables(struct core *core, struct ctx *c,
                                          const struct core_list_tables *q,
                                          struct core_names_outcome *out);

enum core_switch { CORE_UNCHANGED, CORE_ON, CORE_OFF };
struct core_update_table {
    span table;
    const struct core_index_def *create_index;
    span delete_index;     /* p == NULL: none */
    bool has_more_changes; /* the request creates or deletes more than one, which is refused */
    const struct core_index_def *update_index; /* names and units, on_demand or warm */
    uint32_t n_update_index;                   /* 0 with an update_index: 1 */
    enum core_switch throughput;               /* CORE_ON: read_units and write_units below */
    uint64_t read_units, write_units;
    enum core_switch provisioned, protection, infrequent, stream;
    enum core_stream_view view;
    struct core_throughput on_demand; /* what is not given stays; -1: no maximum any more */
    struct core_throughput warm;      /* what is not given stays */
    enum core_switch kms;
    span kms_key;
    const struct core_key *definitions;
    uint32_t n_definitions;
};
static inline uint32_t core_n_updates(const struct core_update_table *q)
{
    return !q->update_index ? 0 : q->n_update_index ? q->n_update_index : 1;
}
SHEAF_NODISCARD sheaf_rc core_update_table(struct core *core, struct ctx *c,
                                           const struct core_update_table *q,
                                           struct core_table_outcome *out);
/* attribute.p == NULL in the outcome of describe: off. */
SHEAF_NODISCARD sheaf_rc core_update_ttl(struct core *core, struct ctx *c, span table,
                                         span attribute, bool is_on, sheaf_position *position_out);
SHEAF_NODISCARD sheaf_rc core_describe_ttl(struct core *core, struct ctx *c, span table,
                                           span *attribute_out, sheaf_position *position_out);

/* Tags of a table, which is named by its ARN or its name. They go with the table. A key that is
 * there already takes the new value; a key that is not there is no error when it is removed. */
SHEAF_NODISCARD sheaf_rc core_tag(struct core *core, struct ctx *c, span table,
                                  const struct core_tag *tags, uint32_t n,
                                  sheaf_position *position_out);
SHEAF_NODISCARD sheaf_rc core_untag(struct core *core, struct ctx *c, span table, const span *keys,
                                    uint32_t n, sheaf_position *position_out);
struct core_list_tags {
    span table;
    span after;     /* a key; p == NULL: from the beginning */
    uint32_t limit; /* 0: all, which are at most 50 */
};
struct core_tags_outcome {
    struct core_tag *tags; /* in order of keys */
    uint32_t n;
    span last; /* p == NULL: that was all */
    sheaf_position position;
};
SHEAF_NODISCARD sheaf_rc core_list_tags(struct core *core, struct ctx *c,
                                        const struct core_list_tags *q,
                                        struct core_tags_outcome *out);

/* ---- writing items ---- */

enum core_action { CORE_PUT, CORE_UPDATE, CORE_DELETE, CORE_CHECK };

/* One write: alone, in a batch or in a transaction. */
struct core_write {
    enum core_action action;
    span table;
    span item;            /* encoded: the item (CORE_PUT) or the key (all others) */
    span update;          /* text; p == NULL: none (an update that only touches the key) */
    span condition;       /* text; p == NULL: none */
    struct expr_env *env; /* never NULL; may be empty */
    bool wants_old_on_failure;
    /* What is wrong with a value or the item, found while they were read: refuses the request in
     * this write's turn, when those before it are good; the item's after its expressions. NULL:
     * nothing. Transactions only. */
    const char *value_fault, *item_fault;
};
/* What one write did. */
struct core_written {
    sheaf_rc rc;         /* SHEAF_OK, or why this action made a transaction fail */
    const char *message; /* of that, never NULL; in the arena or static */
    span old_item;       /* on failure: the item in its way, when asked for */
};

struct core_write_item {
    struct core_write write; /* not CORE_CHECK */
    enum core_return returns;
    enum core_capacity_mode capacity;
    bool wants_metrics;
};
struct core_write_outcome {
    span
        attributes; /* item: as `returns` asks, or the item that failed the condition; p == NULL: none */
    struct core_capacity capacity; /* table.p == NULL: not asked for */
    struct core_metrics metrics;   /* table.p == NULL: none */
    /* With SHEAF_VALIDATION: the request alone was at fault, no table was looked for. */
    bool is_request_fault;
    sheaf_position position;
};
/* PutItem, UpdateItem, DeleteItem. Conflicts are replayed invisibly. */
SHEAF_NODISCARD sheaf_rc core_write_item(struct core *core, struct ctx *c,
                                         const struct core_write_item *q,
                                         struct core_write_outcome *out);

struct core_transact_write {
    const struct core_write *writes;
    uint32_t n;
    span token; /* p == NULL: none */
    enum core_capacity_mode capacity;
    bool wants_metrics;
};
struct core_multi_outcome {
    struct core_written *written; /* one per write; set also with SHEAF_TRANSACTION_CANCELED */
    uint32_t n;
    const uint32_t *unprocessed; /* batch: indexes of writes not done */
    uint32_t n_unprocessed;
    struct core_capacity *capacity; /* one per table, in order of first mention */
    uint32_t n_capacity;
    struct core_metrics *metrics;
    uint32_t n_metrics;
    sheaf_position position;
};
SHEAF_NODISCARD sheaf_rc core_transact_write(struct core *core, struct ctx *c,
                                             const struct core_transact_write *q,
                                             struct core_multi_outcome *out);
struct core_batch_write {
    const struct core_write *writes; /* CORE_PUT and CORE_DELETE without conditions */
    uint32_t n;
    enum core_capacity_mode capacity;
    bool wants_metrics;
};
SHEAF_NODISCARD sheaf_rc core_batch_write(struct core *core, struct ctx *c,
                                          const struct core_batch_write *q,
                                          struct core_multi_outcome *out);

/* ---- reading items ---- */

struct core_get {
    span table;
    span key;        /* encoded item with the key attributes */
    span projection; /* text; p == NULL: everything */
    struct expr_env *env;
    bool is_consistent;
};
struct core_get_item {
    struct core_get get;
    enum core_capacity_mode capacity;
};
struct core_item_outcome {
    span item; /* p == NULL: there is none */
    struct core_capacity capacity;
    sheaf_position position;
};
SHEAF_NODISCARD sheaf_rc core_get_item(struct core *core, struct ctx *c,
                                       const struct core_get_item *q,
                                       struct core_item_outcome *out);

/* BatchGetItem and TransactGetItems: gets in the order asked. */
struct core_multi_get {
    const struct core_get *gets;
    uint32_t n;
    bool is_transaction; /* one snapshot; else as if each were a GetItem */
    enum core_capacity_mode capacity;
};
struct core_items_outcome {
    span *items; /* one per get; p == NULL: there is none */
    uint32_t n;
    struct core_written *written; /* one per get; with SHEAF_TRANSACTION_CANCELED only */
    const uint32_t *unprocessed;
    uint32_t n_unprocessed;
    struct core_capacity *capacity;
    uint32_t n_capacity;
    sheaf_position position;
};
SHEAF_NODISCARD sheaf_rc core_multi_get(struct core *core, struct ctx *c,
                                        const struct core_multi_get *q,
                                        struct core_items_outcome *out);

enum core_select {
    CORE_SELECT_DEFAULT,
    CORE_SELECT_ALL,
    CORE_SELECT_PROJECTED,
    CORE_SELECT_COUNT,
    CORE_SELECT_SPECIFIC
};
/* Query, or Scan when key_condition.p == NULL and is_scan. */
struct core_query {
    span table, index; /* index.p == NULL: the base table */
    bool is_scan;
    span key_condition, filter, projection; /* texts; p == NULL: none */
    struct expr_env *env;
    span start_key; /* encoded item; p == NULL: from the beginning */
    enum core_select select;
    uint32_t limit; /* 0: none */
    bool has_segment;
    uint32_t segment, n_segments;
    bool is_backward, is_consistent;
    enum core_capacity_mode capacity;
};
struct core_page {
    span *items; /* NULL with CORE_SELECT_COUNT */
    uint32_t n;
    uint64_t matched, scanned;
    span last_key; /* encoded item; p == NULL: that was all */
    struct core_capacity capacity;
    sheaf_position position;
};
SHEAF_NODISCARD sheaf_rc core_query(struct core *core, struct ctx *c, const struct core_query *q,
                                    struct core_page *out);

/* ---- streams ---- */

struct core_stream_info {
    span table, label;
    span arn;       /* as core_table_info has it */
    bool is_listed; /* a server told no more than the three; never of core */
    bool is_enabled;
    enum core_stream_view view;
    int64_t created_us;
    struct core_key hash, range;
};
struct core_shard_info {
    span id, parent;  /* parent.p == NULL: none */
    span first, last; /* sequence numbers as text; last.p == NULL: open */
};
struct core_streams_outcome {
    struct core_stream_info *streams;
    uint32_t n_streams;
    span last_table, last_label; /* p == NULL: that was all */
    sheaf_position position;
};
struct core_list_streams {
    span table;                    /* p == NULL: all */
    span after_table, after_label; /* p == NULL: from the beginning */
    span after_arn;                /* the same, whole; core does not read it */
    uint32_t limit;                /* 0 = 100 */
};
SHEAF_NODISCARD sheaf_rc core_list_streams(struct core *core, struct ctx *c,
                                           const struct core_list_streams *q,
                                           struct core_streams_outcome *out);
struct core_stream_outcome {
    struct core_stream_info stream;
    struct core_shard_info *shards;
    uint32_t n_shards;
    span last_shard; /* p == NULL: that was all */
    sheaf_position position;
};
struct core_describe_stream {
    span table, label;
    span arn; /* the same, whole; core does not read it */
    span after_shard;
    uint32_t limit;
};
SHEAF_NODISCARD sheaf_rc core_describe_stream(struct core *core, struct ctx *c,
                                              const struct core_describe_stream *q,
                                              struct core_stream_outcome *out);
enum core_iterator { CORE_TRIM_HORIZON, CORE_LATEST, CORE_AT_SEQUENCE, CORE_AFTER_SEQUENCE };
struct core_get_iterator {
    span table, label, shard;
    span arn; /* of the stream, whole; core does not read it */
    enum core_iterator type;
    span sequence; /* AT and AFTER */
};
struct core_iterator_outcome {
    span iterator; /* opaque text */
    sheaf_position position;
};
SHEAF_NODISCARD sheaf_rc core_get_iterator(struct core *core, struct ctx *c,
                                           const struct core_get_iterator *q,
                                           struct core_iterator_outcome *out);
/* The table that an iterator walks, for who decides on rights. */
SHEAF_NODISCARD sheaf_rc core_iterator_table(struct core *core, struct ctx *c, span iterator,
                                             span *table_out);
enum core_event { CORE_INSERT, CORE_MODIFY, CORE_REMOVE };
struct core_record {
    enum core_event event;
    span sequence, id;
    span keys, old_image, new_image; /* encoded items; p == NULL: not in this view */
    int64_t created_us;
    uint64_t size;
    bool is_ttl;
};
struct core_records {
    struct core_record *records;
    uint32_t n;
    enum core_stream_view view;
    span next_iterator; /* p == NULL: the shard is closed and read */
    sheaf_position position;
};
SHEAF_NODISCARD sheaf_rc core_get_records(struct core *core, struct ctx *c, span iterator,
                                          uint32_t limit, struct core_records *out);

/* ---- collections ---- */

struct core_collection {
    span key; /* item: the partition key attributes; p == NULL when not known */
    uint64_t items, bytes;
    double reads_per_s, writes_per_s;
    sheaf_position position; /* of core_collection; lists have one for all */
};
struct core_collections {
    struct core_collection *all;
    uint32_t n;
    sheaf_position position;
};
/* Exact and O(1). key: encoded item with the partition key attributes. */
SHEAF_NODISCARD sheaf_rc core_collection(struct core *core, struct ctx *c, span table, span index,
                                         span key, struct core_collection *out);
SHEAF_NODISCARD sheaf_rc core_largest(struct core *core, struct ctx *c, span table, span index,
                                      uint32_t limit, struct core_collections *out);
SHEAF_NODISCARD sheaf_rc core_hottest(struct core *core, struct ctx *c, span table, span index,
                                      uint32_t limit, struct core_collections *out);

/* ---- background and care ---- */

struct core_background {
    uint64_t expired, trimmed_records, trimmed_tokens, backfilled;
    bool has_more; /* call again soon */
};
/* One bounded round: expired items, old stream records, old tokens, index backfill. */
SHEAF_NODISCARD sheaf_rc core_run_background(struct core *core, struct core_background *did_out,
                                             sheaf_error *err);
SHEAF_NODISCARD sheaf_rc core_verify(struct core *core,
                                     bool (*complain)(void *ctx, const char *what), void *ctx,
                                     sheaf_error *err);

#endif
