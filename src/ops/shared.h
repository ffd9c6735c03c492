/* ops/shared.h: shapes and steps that several operations share. Internal to ops. */
#ifndef OPS_SHARED_H
#define OPS_SHARED_H

#include "ops/ops.h"
#include "ops/shape.h"

/* ---- shapes of inputs ---- */

extern const struct shape shape_string;     /* any text */
extern const struct shape shape_bool_;      /* true or false */
extern const struct shape shape_table_name; /* a name or an ARN */
extern const struct shape shape_index_name;
extern const struct shape shape_item;   /* attributes by name; keys are items too */
extern const struct shape shape_values; /* ExpressionAttributeValues */
extern const struct shape shape_names;  /* ExpressionAttributeNames */
extern const struct shape shape_raw;    /* what is not built */
extern const struct shape shape_int;
extern const struct shape shape_double_;
extern const struct shape shape_items;
extern const struct shape shape_return_capacity; /* words in enum core_capacity_mode's order */
extern const struct shape shape_return_metrics;
extern const struct shape shape_return_values; /* words in enum core_return's order */
extern const struct shape shape_return_on_failure;

bool op_is_name(span text); /* [a-zA-Z0-9_.-]+ */
/* The name that an ARN stands for; a name is itself. */
span op_table_name(span table);

/* ---- shapes of outputs ---- */

/* ConsumedCapacity. */
struct out_units {
    struct shape_double units, read, write;
};
struct out_capacity {
    span table;
    struct shape_double units, read, write;
    struct out_units *base;
    struct shape_map local, global; /* of struct out_units pointers */
};
/* ItemCollectionMetrics. */
struct out_metrics {
    struct json_item key;
    struct shape_list range; /* two doubles */
};
extern const struct shape shape_capacity;   /* struct */
extern const struct shape shape_capacities; /* list of them */
extern const struct shape shape_metrics;    /* struct */
extern const struct shape shape_metrics_list;
extern const struct shape shape_metrics_map;

/* The tables as the request named them: an ARN comes back as the ARN it was. */
struct op_given {
    const span *all;
    uint32_t n;
};
/* *out stays NULL when nothing was asked for. is_split: with ReadCapacityUnits or
 * WriteCapacityUnits as well, as transactions have them. */
SHEAF_NODISCARD sheaf_rc op_capacity(struct ctx *c, const struct core_capacity *k, bool is_split,
                                     struct op_given given, struct out_capacity **out);
SHEAF_NODISCARD sheaf_rc op_capacities(struct ctx *c, const struct core_capacity *k, uint32_t n,
                                       bool is_split, struct op_given given,
                                       struct shape_list *out);
SHEAF_NODISCARD sheaf_rc op_metrics(struct ctx *c, const struct core_metrics *m,
                                    struct out_metrics **out);
/* By table, in order of first mention. */
SHEAF_NODISCARD sheaf_rc op_metrics_map(struct ctx *c, const struct core_metrics *m, uint32_t n,
                                        struct op_given given, struct shape_map *out);

/* ---- steps ---- */

enum core_capacity_mode op_capacity_mode(const struct shape_word *word);
static inline bool op_wants_metrics(const struct shape_word *word) { return word->i == 1; }
static inline bool op_wants_old(const struct shape_word *on_failure) { return on_failure->i == 1; }
/* Raises an item's fault, in the words of the call's operation. */
SHEAF_NODISCARD sheaf_rc op_check_item(const struct op_call *call, const struct json_item *item);
/* A fault in those words. */
const char *op_fault(const struct op_call *call, const char *fault);
/* Placeholders for core; raises the fault of a value. is_wrapped: in the words of the operations
 * that name its placeholder, "ExpressionAttributeValues contains invalid value: … for key :v". */
SHEAF_NODISCARD sheaf_rc op_env(const struct op_call *call, const struct shape_names *names,
                                const struct json_item *values, bool is_wrapped,
                                struct expr_env **env_out);

/* A parameter and whether the request has it. */
struct op_param {
    const char *name;
    bool has;
};
/* What a request has of the two generations of parameters. Lists end in an empty name. */
struct op_params {
    const struct op_param *legacy, *expressions;
    bool has_operator;          /* ConditionalOperator, where it is not one of `legacy` */
    bool has_names, has_values; /* of expressions' placeholders */
    const char *without;        /* what follows "… when using expressions" for values; or NULL */
};
/* "Can not use both expression and non-expression parameters in the same request: …" and its kin;
 * then what there is of the older generation, which is not built. */
SHEAF_NODISCARD sheaf_rc op_check_params(struct ctx *c, const struct op_params *p);

static inline struct json_item op_out_item(span item)
{
    return (struct json_item){.item = item, .has = item.p != NULL};
}

#endif
