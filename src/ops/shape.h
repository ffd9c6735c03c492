/* ops/shape.h: shapes, the data that says what an operation takes and gives.
 *
 * Layer rule: internal to ops (and to the client, which walks the same shapes the other way).
 *
 * A shape describes the JSON of a value and the C object that holds it. Input and output structs are
 * plain structs; a member names its place by offsetof. One engine decodes, checks and encodes them
 * all:
 *
 *     static const struct member get_item_members[] = {
 *         MEMBER(struct get_item_in, table, "TableName", shape_table_name, REQUIRED),
 *         MEMBER(struct get_item_in, key, "Key", shape_key, REQUIRED),
 *         MEMBER(struct get_item_in, is_consistent, "ConsistentRead", shape_bool, 0), …
 *     };
 *     static const struct shape get_item_in = STRUCT_SHAPE(struct get_item_in, get_item_members);
 *
 * Members stand in the order in which AWS reports their violations.
 *
 * CHECKING  After decoding, every violation is gathered in order and joined as AWS joins them: "2
 * validation errors detected: Value '…' at 'tableName' failed to satisfy constraint: …; Value …".
 * Paths are in lower camel case: 'keySchema.1.member.attributeName'.
 */
#ifndef OPS_SHAPE_H
#define OPS_SHAPE_H

#include "json/json.h"

enum shape_kind {
    SHAPE_STRING, /* span */
    SHAPE_ENUM,   /* struct shape_word */
    SHAPE_BOOL,   /* uint8_t: enum shape_bool */
    SHAPE_INT,    /* struct shape_int, 32 bits on the wire */
    SHAPE_LONG,   /* struct shape_int */
    SHAPE_DOUBLE, /* struct shape_double */
    SHAPE_TIME,   /* struct shape_int, microseconds; on the wire seconds with three decimals */
    SHAPE_ITEM,   /* struct json_item: a map of attribute values */
    SHAPE_NAMES,  /* struct shape_names: a map of strings to strings */
    SHAPE_STRUCT, /* pointer to the struct; NULL: absent */
    SHAPE_LIST,   /* struct shape_list */
    SHAPE_MAP,    /* struct shape_map */
    SHAPE_RAW     /* span: any JSON, checked and kept as text: what is not built yet */
};

enum shape_bool { SHAPE_ABSENT, SHAPE_FALSE, SHAPE_TRUE };
struct shape_int {
    int64_t v;
    bool has;
};
struct shape_double {
    double v;
    bool has;
};
struct shape_word {
    span text;  /* p == NULL: absent */
    uint32_t i; /* 1 + place among the shape's words; 0: none of them */
};
struct shape_pair {
    span name, value;
};
struct shape_names {
    struct shape_pair *all;
    uint32_t n;
    bool has;
};
struct shape_list {
    void *all; /* n objects of the element shape, side by side */
    uint32_t n;
    bool has;
};
struct shape_map {
    span *names;
    void *all; /* n objects of the element shape, in the order of the names */
    uint32_t n;
    bool has;
};

struct shape;
struct member {
    const char *name; /* as on the wire */
    const struct shape *shape;
    uint32_t offset;
    uint32_t flags;
};
enum { REQUIRED = 1 };

/* min and max bound the length of a string, the entries of a list or map, or the value of a number;
 * has_min and has_max say which count. */
struct shape {
    enum shape_kind kind;
    uint32_t size; /* of the C object: a struct's own size for SHAPE_STRUCT */
    bool has_min, has_max;
    bool is_table; /* a table's name or ARN, or (SHAPE_MAP) keys that are: checked by `may` */
    int64_t min, max;
    const char *pattern;          /* as the message prints it; NULL: none */
    bool (*matches)(span text);   /* the pattern */
    const char *const *words;     /* SHAPE_ENUM, ends in NULL */
    const char *words_text;       /* as the message prints the set: "[ALL_NEW, …]" */
    const struct member *members; /* SHAPE_STRUCT */
    uint32_t n_members;
    const struct shape *of;  /* SHAPE_LIST and SHAPE_MAP: the entries */
    const struct shape *key; /* SHAPE_MAP: constraints of the keys; may be NULL */
};

#define MEMBER(T, field, wire, shape_, flags_)                                                     \
    {                                                                                              \
        (wire), &(shape_), (uint32_t)offsetof(T, field), (flags_)                                  \
    }
#define STRUCT_SHAPE(T, members_)                                                                  \
    {                                                                                              \
        .kind = SHAPE_STRUCT, .size = sizeof(T), .members = (members_),                            \
        .n_members = sizeof(members_) / sizeof *(members_)                                         \
    }

/* JSON text to an object of the shape (a struct: `object` is the struct itself, zeroed by the
 * caller). SHEAF_SERIALIZATION. Unknown members are skipped, as AWS does; null counts as absent. */
SHEAF_NODISCARD sheaf_rc shape_decode(struct json *j, const struct shape *s, void *object);
/* SHEAF_VALIDATION with all violations. */
SHEAF_NODISCARD sheaf_rc shape_check(struct ctx *c, const struct shape *s, const void *object);
/* Appends the struct as a JSON object; absent members are left out. */
void shape_encode(struct buf *out, const struct shape *s, const void *object);
/* Calls `visit` with every table that the object names. */
SHEAF_NODISCARD sheaf_rc shape_tables(struct ctx *c, const struct shape *s, const void *object,
                                      sheaf_rc (*visit)(void *ctx, span table), void *ctx);

/* ---- operations ---- */

/* What a run function works with. */
struct op_call {
    struct core *core;
    struct ctx *c;
    const struct op_request *request;
    sheaf_position position; /* set from the outcome, on failure too */
    /* Of a failure that carries data. */
    span failed_item;                   /* ConditionalCheckFailedException's Item */
    const struct core_written *reasons; /* TransactionCanceledException's CancellationReasons */
    uint32_t n_reasons;
};
struct op {
    const char *name;
    bool is_streams, is_write;
    bool touches_all;                   /* names no table: may() is asked about all of them */
    const struct shape *input, *output; /* structs */
    sheaf_rc (*run)(struct op_call *call, const void *in, void *out);
};

/* The list: X(name) for every operation; `const struct op op_<name>` stands in the file that runs
 * it. In name order. */
#define OPS(X)                                                                                     \
    X(BatchGetItem)                                                                                \
    X(BatchWriteItem) X(CreateTable) X(DeleteItem) X(DeleteTable) X(DescribeContinuousBackups)     \
        X(DescribeEndpoints) X(DescribeLimits) X(DescribeStream) X(DescribeTable)                  \
            X(DescribeTimeToLive) X(GetItem) X(GetRecords) X(GetShardIterator) X(ListStreams)      \
                X(ListTables) X(ListTagsOfResource) X(PutItem) X(Query) X(Scan) X(TagResource)     \
                    X(TransactGetItems) X(TransactWriteItems) X(UntagResource) X(UpdateItem)       \
                        X(UpdateTable) X(UpdateTimeToLive)
#define X(name) extern const struct op op_##name;
OPS(X)
#undef X

#endif
