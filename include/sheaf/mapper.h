/* <sheaf/mapper.h>: C structs as items of a single table, and whole item collections as typed rows.
 *
 *     struct customer { const char *id, *name; int64_t version; };
 *     struct order    { const char *customer_id, *id; sheaf_time created_at; int64_t total_cents; };
 *
 *     SHEAF_ENTITY(customer, "Customer",
 *         KEY(PK, "CUSTOMER#{id}")           KEY(SK, "A")
 *         STR(id) STR(name) VERSION(version));
 *     SHEAF_ENTITY(order, "Order",
 *         KEY(PK, "CUSTOMER#{customer_id}")  KEY(SK, "#ORDER#{id}")
 *         STR(customer_id) STR(id) TIME(created_at) INT(total_cents));
 *
 *     const struct sheaf_table shop_table = {
 *         .name = "shop", .partition_key = "PK", .sort_key = "SK",
 *         .entities = SHEAF_ENTITIES(customer, order) };
 *
 *     sheaf_map_open(db, &shop_table, &shop, &err);
 *     sheaf_collect(shop, &(struct sheaf_collect){ .of = SHEAF_REF(customer, .id = "123"),
 *                                                  .backward = true, .limit = 4 }, &rows);
 *     const struct customer *who = sheaf_rows_one(rows, customer);
 *     SHEAF_ROWS_EACH(rows, order, o) printf("%s\n", o->id);
 *     sheaf_rows_free(rows);
 *
 * Works over any handle of <sheaf/sheaf.h>: in memory, a directory, http://, https://.
 *
 * OWNERSHIP  Rows live in one arena: what a struct in them points to (strings, lists, nested
 * structs) is valid until sheaf_rows_free. A struct copied out by value keeps pointers into it;
 * sheaf_dup copies one whole. Structs given to a call are read, and on success written: the version,
 * timestamps and generated ids are what was stored.
 * THREADS  Descriptors are const data. A map may be used from any number of threads; rows and
 * transactions by one at a time.
 * ERRORS  As in <sheaf/sheaf.h>. A message names the entity, the field and the item's key. A write
 * that fails its condition (a stale version, an item in the way) returns
 * SHEAF_CONDITIONAL_CHECK_FAILED, and the current row when rows are asked for.
 *
 * KINDS  A field list is words side by side; no macro of these names is defined. The struct's member
 * comes first; the attribute has the member's name unless a last argument names another:
 * STR(email, "EmailAddress"). Optional = a pointer (NULL: no attribute).
 *
 *   STR(m)           S     const char *, sheaf_str, or char[N] (too long is an error)
 *   BYTES(m)         B     struct sheaf_span
 *   INT(m)           N     any integer, or a pointer to one
 *   DOUBLE(m)        N     double, or a pointer to one
 *   DECIMAL(m)       N     const char *: the digits, exact to 38 places
 *   BOOL(m)          BOOL  bool, or a pointer to one
 *   ENUM(m, names)   S     an enum; names is an array of strings
 *   TIME(m)          S     sheaf_time as ISO-8601 UTC with microseconds: sorts as text
 *   EPOCH(m)         N     sheaf_time in whole seconds
 *   NEST(m, shape)   M     a struct of SHEAF_SHAPE, or a pointer to one
 *   LIST(m, n, shape) L    pointer to structs and their count (size_t)
 *   STRS(m, n)       L     const char *const *, and their count
 *   STRSET(m, n)     SS    the same as a set (none: no attribute)
 *   INTSET(m, n)     NS    const int64_t *
 *   BYTESET(m, n)    BS    const struct sheaf_span *
 *   MAP(m, n)        M     const struct sheaf_pair *: a map of strings
 *   VERSION(m)       N     int64_t: 0 for a new item; checked and incremented by every write
 *   CREATED(m), UPDATED(m) S  sheaf_time: set by the first, by every write
 *   COUNTER(m)       N     int64_t: sheaf_add changes it; a whole update leaves it alone
 *   TTL(m)           N     sheaf_time: the table's time-to-live attribute; 0: none
 *   ULID(m)          S     char[27]: made when empty; sorts by time (also KSUID char[28], UUID
 *                          char[37], version 7)
 *   KEY(attr, "T")   S     a key attribute of the table or of an index, from a template
 *   EXTRA(m)               const sheaf_item *: attributes that no field names
 *
 * A list or map without a pointer is absent; one with a pointer and a count of 0 is empty.
 *
 * TEMPLATES  "ORDER#{order_id}#ITEM#{item_id}", "V#{revision:08}" (zero padded), "{created_at}"
 * (ISO), or {created_at:yyyy}, :yyyy-mm, :yyyy-mm-dd, :yyyy-mm-ddThh. A text inside braces is escaped
 * so that no id can forge another key: '#' and '%' become %23 and %25, and a text field is followed
 * by '#' or by nothing; fields are recovered from keys by the same rule. A template with a missing
 * field (NULL, or an empty text) gives no attribute on an index (sparse) and an error on the table's
 * key. A key attribute may also be a plain field: STR(id) in a table whose partition key is id.
 */
#ifndef SHEAF_MAPPER_H
#define SHEAF_MAPPER_H

#include <sheaf/fields.h> /* the kinds, SHEAF_ENTITY, SHEAF_SHAPE */
#include <sheaf/sheaf.h>

#ifdef __cplusplus
extern "C" {
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#endif

typedef struct sheaf_map sheaf_map;
typedef struct sheaf_rows sheaf_rows;
typedef struct sheaf_row sheaf_row;
typedef struct sheaf_tx sheaf_tx;
typedef struct sheaf_batch sheaf_batch;
typedef struct sheaf_walk sheaf_walk;

/* ---- tables ---- */

/* One global or local secondary index over key attributes that templates fill. */
struct sheaf_table_index {
    const char *name, *partition_key, *sort_key; /* sort_key NULL: none */
    const struct sheaf_index *as; /* NULL: strings, ALL; else the whole description */
    bool is_local;
    char reserved_[7];
    const void *reserved2_[2]; /* zero */
};
struct sheaf_table {
    const char *name;
    const char *partition_key, *sort_key;    /* sort_key NULL: none. Both are strings */
    const struct sheaf_table_index *indexes; /* ends in an entry without a name; may be NULL */
    const sheaf_entity *const *entities;     /* ends in NULL */
    const char *discriminator;               /* NULL: "Type" */
    enum sheaf_stream_view stream;
    char reserved_[4];
    /* Keys page tokens, so that a changed or foreign one is refused; NULL: only accidents are. */
    const char *token_secret;
    /* The clock of CREATED, UPDATED and generated ids, in microseconds since 1970; NULL: the
     * system's. Must be thread-safe. */
    int64_t (*now_us)(void *ctx);
    void *now_ctx;
};
#ifndef __cplusplus
/* .indexes = SHEAF_INDEXES(SHEAF_GSI("GSI1", "GSI1PK", "GSI1SK"), …) */
#define SHEAF_GSI(name_, pk, sk)                                                                   \
    {                                                                                              \
        .name = (name_), .partition_key = (pk), .sort_key = (sk)                                   \
    }
#define SHEAF_LSI(name_, pk, sk)                                                                   \
    {                                                                                              \
        .name = (name_), .partition_key = (pk), .sort_key = (sk), .is_local = true                 \
    }
#define SHEAF_INDEXES(...)                                                                         \
    (const struct sheaf_table_index[])                                                             \
    {                                                                                              \
        __VA_ARGS__, { .name = NULL }                                                              \
    }
#endif

/* Binds a table's entities to a handle: every template is parsed and checked here. The handle, the
 * table and the entities outlive the map. */
SHEAF_API sheaf_rc sheaf_map_open_sized(sheaf_db *db, const struct sheaf_table *table, size_t size,
                                        sheaf_map **map_out, sheaf_error *err) SHEAF_NODISCARD;
SHEAF_NODISCARD static inline sheaf_rc sheaf_map_open(sheaf_db *db, const struct sheaf_table *table,
                                                      sheaf_map **map_out, sheaf_error *err)
{
    return sheaf_map_open_sized(db, table, sizeof *table, map_out, err);
}
SHEAF_API void sheaf_map_close(sheaf_map *map); /* NULL is fine */
SHEAF_API sheaf_db *sheaf_map_db(const sheaf_map *map);
/* Creates the table (and switches its TTL on), or checks that the one that is there fits. */
SHEAF_API sheaf_rc sheaf_map_create(sheaf_map *map, sheaf_error *err) SHEAF_NODISCARD;
/* SHEAF_VALIDATION when the table differs, with the differences in the message; `differs` (may be
 * NULL) gets them one by one and returns false to hear no more. Indexes and a stream that the
 * description does not name are no difference. */
SHEAF_API sheaf_rc sheaf_map_check(sheaf_map *map, bool (*differs)(void *ctx, const char *what),
                                   void *ctx, sheaf_error *err) SHEAF_NODISCARD;

/* ---- rows ---- */

SHEAF_API void sheaf_rows_free(sheaf_rows *rows); /* NULL is fine */
SHEAF_API size_t sheaf_rows_count(const sheaf_rows *rows);
/* Where the next page begins; NULL: that was all (a last page may be empty). URL-safe text, valid
 * until the rows are freed; may be given to another process, for the same table, index, key
 * condition and direction. */
SHEAF_API const char *sheaf_rows_token(const sheaf_rows *rows);
/* A row in key order: its entity (NULL: none of the table's), its struct, its item. */
SHEAF_API const sheaf_entity *sheaf_row_entity(const sheaf_row *row);
SHEAF_API const sheaf_item *sheaf_row_item(const sheaf_row *row);

SHEAF_API const void *sheaf_rows_next_(const sheaf_rows *rows, const sheaf_entity *entity,
                                       const void *after);
SHEAF_API const sheaf_row *sheaf_rows_next_row_(const sheaf_rows *rows, const sheaf_row *after);
SHEAF_API const void *sheaf_row_as_(const sheaf_row *row, const sheaf_entity *entity);
SHEAF_API const void *const *sheaf_rows_all_(const sheaf_rows *rows, const sheaf_entity *entity,
                                             size_t *n_out);

/* ---- reading ---- */

struct sheaf_fetch {
    struct sheaf_ref of; /* every field of the table's key */
    const char *fields;  /* "name email": only these; NULL: all */
    bool consistent_read;
    char reserved_[7];
    sheaf_error *error;
};
/* One item by its key; none: SHEAF_OK and rows without a row. */
SHEAF_API sheaf_rc sheaf_fetch_sized(sheaf_map *map, const struct sheaf_fetch *q, size_t size,
                                     sheaf_rows **rows_out) SHEAF_NODISCARD;

/* One collection, or the part of it that the sort key's templates select. */
struct sheaf_collect {
    struct sheaf_ref of; /* names the collection: the fields of its partition key's template */
    const char *index;   /* NULL: the table itself */
    /* At most one of: the sort keys that begin like this entity's template, up to the first field
     * that is not given (a NULL or empty string, a time of 0) or the field named by `before`. When
     * all are given, the last one ends there: "ORDER#{id}" with id 1 finds ORDER#1 and
     * ORDER#1#ITEM#7, but not ORDER#12. */
    struct sheaf_ref begins;
    const char *before;
    /* Or a range, both ends inclusive, made the same way; either may be left out. */
    struct sheaf_ref from, to;
    const sheaf_entity *only; /* SHEAF_ONLY(order): rows of that entity, filtered by the service */
    const char *filter_expression;
    const struct sheaf_name *expression_attribute_names;
    const sheaf_item *expression_attribute_values;
    const char *fields; /* "name total": only these, beside keys and discriminator; NULL: all */
    const char *token;  /* of sheaf_rows_token */
    uint32_t limit;     /* rows at most, whatever a filter drops; 0: a page of the service */
    bool backward, consistent_read;
    char reserved_[2];
    sheaf_error *error;
};
SHEAF_API sheaf_rc sheaf_collect_sized(sheaf_map *map, const struct sheaf_collect *q, size_t size,
                                       sheaf_rows **rows_out) SHEAF_NODISCARD;

/* The same, page after page as needed: while (sheaf_walk_next(w, &row, &err) == SHEAF_OK && row).
 * The limit is of all rows. A row is valid until the walk moves on. Nothing of q is kept but what it
 * points to, which must outlive the walk. */
SHEAF_API sheaf_rc sheaf_walk_open_sized(sheaf_map *map, const struct sheaf_collect *q, size_t size,
                                         sheaf_walk **walk_out) SHEAF_NODISCARD;
SHEAF_API sheaf_rc sheaf_walk_next(sheaf_walk *walk, const sheaf_row **row_out,
                                   sheaf_error *err) SHEAF_NODISCARD;
/* Resumes behind the row given last; valid until the walk moves on. NULL at the end. */
SHEAF_API sheaf_rc sheaf_walk_token(sheaf_walk *walk, const char **token_out,
                                    sheaf_error *err) SHEAF_NODISCARD;
SHEAF_API void sheaf_walk_close(sheaf_walk *walk);

/* ---- writing ---- */

enum sheaf_save_how {
    SHEAF_PUT,     /* the whole item, whatever was there (but a version is checked) */
    SHEAF_PUT_NEW, /* only when there is none */
    SHEAF_UPDATE,  /* the fields of an item that is there; other attributes, CREATED and COUNTERs
                      stay; the keys of indexes follow */
    SHEAF_DELETE   /* a version of 0 is not checked */
};
struct sheaf_save {
    enum sheaf_save_how how;
    char reserved_[4];
    struct sheaf_ref_rw of;
    const char *fields;               /* SHEAF_UPDATE: "status total_cents" only; NULL: all */
    const char *condition_expression; /* beside those of the version */
    const struct sheaf_name *expression_attribute_names;
    const sheaf_item *expression_attribute_values;
    sheaf_error *error;
};
/* rows_out may be NULL; else the row as stored (of a delete: as it was), or the one in the way, with
 * SHEAF_CONDITIONAL_CHECK_FAILED. A write that was made is SHEAF_OK even when its row could not be
 * read; then *rows_out is NULL. */
SHEAF_API sheaf_rc sheaf_save_sized(sheaf_map *map, const struct sheaf_save *q, size_t size,
                                    sheaf_rows **rows_out) SHEAF_NODISCARD;
SHEAF_API sheaf_rc sheaf_save_(sheaf_map *map, enum sheaf_save_how how, const char *fields,
                               const sheaf_entity *entity, void *object,
                               sheaf_error *err) SHEAF_NODISCARD;
/* Adds to a COUNTER of an item that is there; the member gets the new value. Neither checks nor
 * changes a version. */
SHEAF_API sheaf_rc sheaf_add_(sheaf_map *map, const sheaf_entity *entity, const char *member,
                              int64_t delta, void *object, sheaf_error *err) SHEAF_NODISCARD;

/* sheaf_put(shop, order, &err, &o): the struct comes last, so that its commas do no harm. */
#define sheaf_put(map, name, err, ...)                                                             \
    sheaf_save_((map), SHEAF_PUT, NULL, &name##_entity, SHEAF_IO_(name, __VA_ARGS__), (err))
#define sheaf_put_new(map, name, err, ...)                                                         \
    sheaf_save_((map), SHEAF_PUT_NEW, NULL, &name##_entity, SHEAF_IO_(name, __VA_ARGS__), (err))
#define sheaf_update(map, name, err, ...)                                                          \
    sheaf_save_((map), SHEAF_UPDATE, NULL, &name##_entity, SHEAF_IO_(name, __VA_ARGS__), (err))
#define sheaf_update_fields(map, name, fields, err, ...)                                           \
    sheaf_save_((map), SHEAF_UPDATE, (fields), &name##_entity, SHEAF_IO_(name, __VA_ARGS__), (err))
#define sheaf_delete(map, name, err, ...)                                                          \
    sheaf_save_((map), SHEAF_DELETE, NULL, &name##_entity, SHEAF_IO_(name, __VA_ARGS__), (err))
#define sheaf_add(map, name, member, delta, err, ...)                                              \
    sheaf_add_((map), &name##_entity, #member, (delta), SHEAF_IO_(name, __VA_ARGS__), (err))

/* ---- batches ---- of any size: chunked, the last write of a key wins, leftovers are retried with
 * back-off. The first mistake of a builder sticks and is reported by the run. The service checks no
 * conditions in a batch: a VERSION is incremented and not checked. Structs are copied, and written
 * (version, stamps, ids), when they are added. */

SHEAF_API sheaf_batch *sheaf_batch_begin(sheaf_map *map); /* NULL when memory is out: run says so */
SHEAF_API void sheaf_batch_add_(sheaf_batch *batch, enum sheaf_save_how how,
                                const sheaf_entity *entity, void *object);
SHEAF_API void sheaf_batch_get_(sheaf_batch *batch, const sheaf_entity *entity, const void *object);
/* Writes, then gets (rows_out NULL: no gets), then frees the batch. Rows come in the order asked
 * for; what is not there has none. */
SHEAF_API sheaf_rc sheaf_batch_run(sheaf_batch *batch, sheaf_rows **rows_out,
                                   sheaf_error *err) SHEAF_NODISCARD;
SHEAF_API void sheaf_batch_abandon(sheaf_batch *batch); /* NULL is fine */
#define sheaf_batch_put(batch, name, ...)                                                          \
    sheaf_batch_add_((batch), SHEAF_PUT, &name##_entity, SHEAF_IO_(name, __VA_ARGS__))
#define sheaf_batch_delete(batch, name, ...)                                                       \
    sheaf_batch_add_((batch), SHEAF_DELETE, &name##_entity, SHEAF_IO_(name, __VA_ARGS__))
#define sheaf_batch_get(batch, name, ...)                                                          \
    sheaf_batch_get_((batch), &name##_entity, SHEAF_IN_(name, __VA_ARGS__))

/* ---- transactions ---- all or nothing, any entities. Structs must live until the commit, which
 * writes versions and ids into them when it succeeds. */

SHEAF_API sheaf_tx *sheaf_tx_begin(sheaf_map *map);
SHEAF_API void sheaf_tx_add_(sheaf_tx *tx, enum sheaf_save_how how, const char *fields,
                             const sheaf_entity *entity, void *object);
SHEAF_API void sheaf_tx_check_(sheaf_tx *tx, bool exists, const sheaf_entity *entity,
                               const void *object);
/* Any action with an extra condition. */
SHEAF_API void sheaf_tx_save_sized(sheaf_tx *tx, const struct sheaf_save *q, size_t size);
struct sheaf_why {
    size_t action;    /* the first that failed, from 0 in the order added */
    const char *code; /* "ConditionalCheckFailed", … */
    const sheaf_entity *entity;
    const sheaf_row *row; /* the item in its way; NULL: none */
    sheaf_rows *rows;     /* owns the above: free it */
    const void *reserved_[3];
    sheaf_error error;
};
/* Frees the transaction. why may be NULL; it is filled whatever comes out. Carries a token of its
 * own, so that a request repeated on its way is done once. */
SHEAF_API sheaf_rc sheaf_tx_commit(sheaf_tx *tx, struct sheaf_why *why) SHEAF_NODISCARD;
SHEAF_API void sheaf_tx_abandon(sheaf_tx *tx);
#define sheaf_tx_put(tx, name, ...)                                                                \
    sheaf_tx_add_((tx), SHEAF_PUT, NULL, &name##_entity, SHEAF_IO_(name, __VA_ARGS__))
#define sheaf_tx_put_new(tx, name, ...)                                                            \
    sheaf_tx_add_((tx), SHEAF_PUT_NEW, NULL, &name##_entity, SHEAF_IO_(name, __VA_ARGS__))
#define sheaf_tx_update(tx, name, fields, ...)                                                     \
    sheaf_tx_add_((tx), SHEAF_UPDATE, (fields), &name##_entity, SHEAF_IO_(name, __VA_ARGS__))
#define sheaf_tx_delete(tx, name, ...)                                                             \
    sheaf_tx_add_((tx), SHEAF_DELETE, NULL, &name##_entity, SHEAF_IO_(name, __VA_ARGS__))
#define sheaf_tx_check_exists(tx, name, ...)                                                       \
    sheaf_tx_check_((tx), true, &name##_entity, SHEAF_IN_(name, __VA_ARGS__))
#define sheaf_tx_check_absent(tx, name, ...)                                                       \
    sheaf_tx_check_((tx), false, &name##_entity, SHEAF_IN_(name, __VA_ARGS__))

/* ---- structs and items by hand ---- */

/* The item that a put would write (keys and discriminator included); the caller frees it. */
/* sheaf_item_of(shop, order, &item, &err, &o) */
#define sheaf_item_of(map, name, item_out, err, ...)                                               \
    sheaf_entity_item_((map), &name##_entity, SHEAF_IN_(name, __VA_ARGS__), (item_out), (err))
SHEAF_API sheaf_rc sheaf_entity_item_(sheaf_map *map, const sheaf_entity *entity,
                                      const void *object, sheaf_item **item_out,
                                      sheaf_error *err) SHEAF_NODISCARD;
/* Rows of items that came another way: a scan, a stream. */
SHEAF_API sheaf_rc sheaf_rows_of(sheaf_map *map, const sheaf_item *const *items, size_t n,
                                 sheaf_rows **rows_out, sheaf_error *err) SHEAF_NODISCARD;
/* A whole copy in one block: one sheaf_dup_free. NULL when memory is out. */
SHEAF_API void *sheaf_dup_(const sheaf_entity *entity, const void *object);
SHEAF_API void sheaf_dup_free(void *object);
/* Makes ids as the kinds do. now_us 0: the clock's. Ids of one process that were made in the same
 * millisecond (KSUID: second) keep their order. */
SHEAF_API void sheaf_ulid(char out[27], int64_t now_us);
SHEAF_API void sheaf_ksuid(char out[28], int64_t now_us);
SHEAF_API void sheaf_uuid7(char out[37], int64_t now_us);

#define SHEAF_SIZED_(call, T)                                                                      \
    SHEAF_NODISCARD static inline sheaf_rc call(sheaf_map *map, const struct T *q,                 \
                                                sheaf_rows **rows_out)                             \
    {                                                                                              \
        return call##_sized(map, q, sizeof *q, rows_out);                                          \
    }
SHEAF_SIZED_(sheaf_fetch, sheaf_fetch)
SHEAF_SIZED_(sheaf_collect, sheaf_collect)
SHEAF_SIZED_(sheaf_save, sheaf_save)
#undef SHEAF_SIZED_
SHEAF_NODISCARD static inline sheaf_rc
sheaf_walk_open(sheaf_map *map, const struct sheaf_collect *q, sheaf_walk **walk_out)
{
    return sheaf_walk_open_sized(map, q, sizeof *q, walk_out);
}
static inline void sheaf_tx_save(sheaf_tx *tx, const struct sheaf_save *q)
{
    sheaf_tx_save_sized(tx, q, sizeof *q);
}

#ifdef __cplusplus
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
}
#endif

/* Typed use: the entity's name gives the descriptor and the type. */
#define SHEAF_ONLY(name) (&name##_entity)
#define SHEAF_ROWS_EACH(rows, name, o)                                                             \
    for (const name##_sheaf_t *o =                                                                 \
             SHEAF_CAST_(name##_sheaf_t, sheaf_rows_next_((rows), &name##_entity, NULL));          \
         o; o = SHEAF_CAST_(name##_sheaf_t, sheaf_rows_next_((rows), &name##_entity, o)))
#define SHEAF_ROWS_ALL(rows, row)                                                                  \
    for (const sheaf_row *row = sheaf_rows_next_row_((rows), NULL); row;                           \
         row = sheaf_rows_next_row_((rows), row))
#define sheaf_rows_one(rows, name)                                                                 \
    SHEAF_CAST_(name##_sheaf_t, sheaf_rows_next_((rows), &name##_entity, NULL))
/* An array of pointers to the structs of one entity, in key order; *n_out its length. */
#define sheaf_rows_all(rows, name, n_out)                                                          \
    SHEAF_CAST_(name##_sheaf_t *const, sheaf_rows_all_((rows), &name##_entity, (n_out)))
#define sheaf_row_as(row, name) SHEAF_CAST_(name##_sheaf_t, sheaf_row_as_((row), &name##_entity))
#define sheaf_dup(name, ...)                                                                       \
    ((name##_sheaf_t *)sheaf_dup_(&name##_entity, SHEAF_IN_(name, __VA_ARGS__)))

#endif
