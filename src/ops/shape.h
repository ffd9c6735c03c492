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
 * Paths are in lower camel case: 'keySchema.1.member.attributeName'. At most ten are told.
 *
 * Since 2026 the service has a second, newer way to say it, which some members of some operations
 * have moved to: one violation stands alone, its path in the words of the wire and without the
 * value. Such a shape says so by `brief`; a request that misses a required member is still judged
 * the old way as a whole.
 */
#ifndef OPS_SHAPE_H
#define OPS_SHAPE_H

#include "ops/ops.h"
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
    SHAPE_ITEMS,  /* struct shape_items: a list of items, for answers */
    SHAPE_NAMES,  /* struct shape_names: a map of strings to strings */
    SHAPE_STRUCT, /* pointer to the struct; NULL: absent. In lists and maps as well */
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
/* Lists and maps from outside keep one entry more than their shape's max, so that a long one costs
 * no memory; n counts all of them and is over the max then. */
struct shape_list {
    void *all; /* objects of the element shape, side by side */
    uint32_t n;
    bool has;
};
struct shape_map {
    span *names;
    void *all; /* objects of the element shape, in the order of the names */
    uint32_t n;
    bool has;
};
struct shape_items {
    const span *all; /* encoded items */
    uint32_t n;
    bool has;
};

struct shape;
struct member {
    const char *name; /* as on the wire */
    const struct shape *shape;
    uint32_t offset;
    uint16_t name_n;
    uint16_t flags;
};
enum {
    REQUIRED = 1,
    /* With REQUIRED: a missing one is told alone, by its name on the wire; or by core, in its turn. */
    NAMED = 4,
    LATER = 8,
    LEGACY = 2 /* known and not built: what the docs say, see op_check_params */
};
/* How a violation of a map's entries shows the map: as JSON, or as Java prints objects. */
enum shape_echo { ECHO_JSON, ECHO_JAVA };

/* min and max bound the length of a string, the entries of a list or map, or the value of a number;
 * has_min and has_max say which count. */
struct shape {
    enum shape_kind kind;
    uint32_t size; /* of the C object: a struct's own size for SHAPE_STRUCT */
    bool has_min, has_max;
    bool is_table; /* a table's name or ARN, or (SHAPE_MAP) keys that are: checked by `may` */
    /* SHAPE_STRING: its length is told before its pattern. The service does both. */
    bool is_length_first;
    int64_t min, max;
    const char *pattern;          /* as the message prints it; NULL: none */
    bool (*matches)(span text);   /* the pattern */
    const char *const *words;     /* SHAPE_ENUM, ends in NULL */
    const char *words_text;       /* as the message prints the set: "[ALL_NEW, …]" */
    const struct member *members; /* SHAPE_STRUCT */
    uint32_t n_members;
    const struct shape *of;  /* SHAPE_LIST and SHAPE_MAP: the entries */
    const struct shape *key; /* SHAPE_MAP: constraints of the keys; may be NULL */
    /* The newer way. SHAPE_LIST, SHAPE_MAP: its length; SHAPE_STRING: its least length. */
    bool is_brief;
    const char *brief; /* SHAPE_ENUM, SHAPE_INT: the whole message */
    enum shape_echo echo;
    /* SHAPE_STRUCT: its name at AWS; SHAPE_MAP: the whole Java type of its values. For messages. */
    const char *title;
};

#define MEMBER(T, field, wire, shape_, flags_)                                                     \
    {                                                                                              \
        (wire), &(shape_), (uint32_t)offsetof(T, field), (uint16_t)(sizeof(wire) - 1), (flags_)    \
    }
#define STRUCT_SHAPE(T, members_)                                                                  \
    {                                                                                              \
        .kind = SHAPE_STRUCT, .size = sizeof(T), .members = (members_),                            \
        .n_members = sizeof(members_) / sizeof *(members_)                                         \
    }

/* The bytes of the C object that a member of this shape is. */
uint32_t shape_size(const struct shape *s);
/* Whether the member is there. */
bool shape_has(const struct shape *s, const void *object);

/* JSON text to a struct, zeroed by the caller. SHEAF_SERIALIZATION. Unknown members are skipped, as
 * AWS does; null counts as absent. */
SHEAF_NODISCARD sheaf_rc shape_decode(struct json *j, const struct shape *s, void *object);
/* SHEAF_VALIDATION with all violations: cut in the context's error, whole in *message_out (in the
 * arena). is_brief: the operation has moved to the newer way. */
SHEAF_NODISCARD sheaf_rc shape_check(struct ctx *c, const struct shape *s, const void *object,
                                     bool is_brief, span *message_out);
/* Appends the struct as a JSON object; absent members are left out. */
void shape_encode(struct buf *out, const struct shape *s, const void *object);
/* Appends a member's value, which must be there. */
void shape_encode_value(struct buf *out, const struct shape *s, const void *object);
/* Calls `visit` with every table that the object names, as it is named there. */
SHEAF_NODISCARD sheaf_rc shape_tables(const struct shape *s, const void *object,
                                      sheaf_rc (*visit)(void *ctx, span table), void *ctx);

/* ---- operations ---- */

/* What a run function works with. */
struct op_call {
    struct core *core;
    struct ctx *c;
    const struct op_request *request;
    sheaf_position position; /* set from the outcome, on failure too */
    /* Of a failure. */
    span message;                       /* whole, where the error's is cut; p == NULL: it is not */
    bool is_enveloped;                  /* "1 validation error detected: " belongs before it */
    span failed_item;                   /* ConditionalCheckFailedException's Item */
    const struct core_written *reasons; /* TransactionCanceledException's CancellationReasons */
    uint32_t n_reasons;
};
struct op {
    const char *name;
    bool is_streams, is_write;
    bool touches_all; /* names no table: may() is asked about all of them */
    bool is_brief;    /* reports violations in the newer way where the shape has one */
    bool is_current;  /* and the faults of values in its newer words */
    const struct shape *input, *output; /* structs */
    sheaf_rc (*run)(struct op_call *call, const void *in, void *out);
};

/* The list: X(name) for every operation; `const struct op op_<name>` stands in the file that runs
 * it. In name order. */
/* clang-format off */
#define OPS(X) \
    X(BatchGetItem) \
    X(BatchWriteItem) \
    X(CreateTable) \
    X(DeleteItem) \
    X(DeleteTable) \
    X(DescribeContinuousBackups) \
    X(DescribeEndpoints) \
    X(DescribeLimits) \
    X(DescribeStream) \
    X(DescribeTable) \
    X(DescribeTimeToLive) \
    X(GetItem) \
    X(GetRecords) \
    X(GetShardIterator) \
    X(ListStreams) \
    X(ListTables) \
    X(ListTagsOfResource) \
    X(PutItem) \
    X(Query) \
    X(Scan) \
    X(TagResource) \
    X(TransactGetItems) \
    X(TransactWriteItems) \
    X(UntagResource) \
    X(UpdateItem) \
    X(UpdateTable) \
    X(UpdateTimeToLive)
/* clang-format on */
#define X(name) extern const struct op op_##name;
OPS(X)
#undef X

#endif
