/* ops/tables.h: shapes and steps that the operations on tables share. Internal to ops. */
#ifndef OPS_TABLES_H
#define OPS_TABLES_H

#include "ops/shared.h"

/* ---- inputs ---- */

struct in_definition {
    span name;
    struct shape_word type;
};
struct in_key {
    span name;
    struct shape_word kind;
};
struct in_projection {
    struct shape_word type;
    struct shape_list attributes; /* of spans */
};
/* ProvisionedThroughput, OnDemandThroughput or WarmThroughput. */
struct in_units {
    struct shape_int read, write;
};
struct in_index {
    span name;
    struct shape_list keys; /* of struct in_key pointers */
    struct in_projection *projection;
    struct in_units *units, *on_demand, *warm;
};
struct in_stream {
    uint8_t is_enabled;
    struct shape_word view;
};
struct in_encryption {
    uint8_t is_enabled;
    struct shape_word type;
    span key;
};
struct in_tag {
    span key, value;
};

extern const struct shape shape_definitions, shape_key_schema, shape_units, shape_on_demand,
    shape_warm, shape_local_indexes, shape_global_indexes, shape_global_index, shape_billing,
    shape_stream, shape_encryption, shape_tags, shape_arn, shape_named_table, shape_named_index;

/* *out == NULL: the request has none. */
SHEAF_NODISCARD sheaf_rc op_table_definitions(struct ctx *c, const struct shape_list *in,
                                              const struct core_key **out, uint32_t *n_out);
/* The keys of an index, each with the type of its definition. */
void op_table_index(const struct in_index *in, bool is_local, const struct core_key *definitions,
                    uint32_t n, struct core_index_def *out);
/* The table's own keys, with the types of q's definitions. */
void op_table_keys(const struct shape_list *in, struct core_create_table *q);
struct core_throughput op_table_throughput(const struct in_units *in);
enum core_stream_view op_table_view(const struct shape_word *view);
/* TableClass, which the service checks in words of its own; p == NULL: the usual one. */
SHEAF_NODISCARD sheaf_rc op_table_class(struct ctx *c, span text, bool *is_infrequent_out);
SHEAF_NODISCARD sheaf_rc op_table_encryption(struct ctx *c, const struct in_encryption *in);
SHEAF_NODISCARD sheaf_rc op_table_tags(struct ctx *c, const struct shape_list *in,
                                       const struct core_tag **out, uint32_t *n_out);

/* ---- outputs ---- */

struct out_key {
    span name, kind;
};
/* A table's or a stream's KeySchema. */
SHEAF_NODISCARD sheaf_rc op_table_out_keys(struct ctx *c, const struct core_key *hash,
                                           uint32_t n_hash, const struct core_key *range,
                                           uint32_t n_range, struct shape_list *out);
extern const struct shape shape_out_keys;

struct out_table; /* TableDescription */
extern const struct shape shape_out_table;
SHEAF_NODISCARD sheaf_rc op_table_describe(struct op_call *call, const struct core_table_info *t,
                                           struct out_table **out);
/* "arn:aws:dynamodb:<region>:000000000000:table/<table><kind><rest>"; p == NULL: no memory. */
span op_table_arn(struct op_call *call, span table, const char *kind, span rest);
span op_table_view_name(enum core_stream_view view);

#endif
