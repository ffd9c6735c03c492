/* expr/expr.h: DynamoDB's expression language, compiled once per request and evaluated on encoded
 * items.
 *
 * Layer rule: expr includes value and base. It knows no table: key schemas come in as data.
 *
 * text ─lex→ tokens ─parse→ program, in the request's arena. Conditions become straight-line code
 * with forward jumps and one boolean register, so evaluation needs neither a stack nor memory, and
 * no input can make it recurse. All messages are AWS's.
 *
 * LIFETIMES  Programs live in the context's arena and borrow the expression text, the placeholders
 * and their values: all must outlive the program. Evaluation is thread-safe: a program is const
 * once compiled.
 */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include "base/buf.h"
#include "base/limits.h"
#include "value/build.h"
#include "value/val.h"

enum expr_kind { EXPR_CONDITION, EXPR_FILTER, EXPR_KEY_CONDITION, EXPR_PROJECTION, EXPR_UPDATE };

/* "ConditionExpression" and so on, as the messages name them. */
const char *expr_kind_name(enum expr_kind kind);

/* ---- placeholders ---- */

struct expr_name {
    span placeholder; /* with its # */
    span name;
    bool is_used;
};
struct expr_value {
    span placeholder; /* with its : */
    val value;        /* checked or built here */
    bool is_used;
};
/* ExpressionAttributeNames and ExpressionAttributeValues of one request, shared by all its
 * expressions. Arrays of the caller's. */
struct expr_env {
    struct expr_name *names;
    struct expr_value *values;
    uint32_t n_names, n_values;
    bool has_names, has_values; /* the parameter was given, though perhaps empty */
    bool is_sorted;             /* by expr_env_check */
};

/* Syntax of the placeholders, sizes, empty maps, duplicates; call it once before compiling. Sorts
 * both arrays by placeholder, so that looking one up costs no walk. */
SHEAF_NODISCARD sheaf_rc expr_env_check(struct expr_env *env, sheaf_error *err);
/* After all expressions of the request: "Value provided in ExpressionAttributeNames unused in
 * expressions: keys: {#a}". */
SHEAF_NODISCARD sheaf_rc expr_env_check_unused(const struct expr_env *env, sheaf_error *err);
bool expr_is_reserved(span word);

/* ---- conditions and filters ---- */

struct expr_program; /* opaque */

/* kind: EXPR_CONDITION or EXPR_FILTER. */
SHEAF_NODISCARD sheaf_rc expr_compile(struct ctx *c, enum expr_kind kind, span text,
                                      struct expr_env *env, const struct expr_program **out);
/* Whether the item (its map; absent = no item, so no attributes) satisfies the program. Allocates
 * nothing. */
bool expr_eval(const struct expr_program *program, val item);
/* Every document path the program reads, for checks such as "non-primary key attributes" in a
 * filter. */
const struct path *expr_paths(const struct expr_program *program, uint32_t *n_out);

/* ---- key conditions ---- */

struct expr_key_attribute {
    span name;
    enum val_type type;
};
/* The key schema queried: 1 … 4 hash attributes, 0 … 4 range attributes, in order. */
struct expr_key_schema {
    uint32_t n_hash, n_range;
    struct expr_key_attribute hash[LIMIT_INDEX_HASH_ATTRIBUTES];
    struct expr_key_attribute range[LIMIT_INDEX_RANGE_ATTRIBUTES];
};
enum expr_key_op {
    EXPR_KEY_ALL,
    EXPR_KEY_EQ,
    EXPR_KEY_LT,
    EXPR_KEY_LE,
    EXPR_KEY_GT,
    EXPR_KEY_GE,
    EXPR_KEY_BETWEEN,
    EXPR_KEY_BEGINS
};
/* hash[i] is the value of the i-th hash attribute. The first n_eq range attributes equal eq[]; on
 * the next stands op (EXPR_KEY_ALL: nothing). A condition `SK = :v` on the last named attribute is
 * counted in n_eq. */
struct expr_key_condition {
    val hash[LIMIT_INDEX_HASH_ATTRIBUTES];
    uint32_t n_eq;
    val eq[LIMIT_INDEX_RANGE_ATTRIBUTES];
    enum expr_key_op op;
    val a, b;
};
/* In two steps, because the service judges the text before it looks for the table. Opaque. */
struct expr_key_parts;
SHEAF_NODISCARD sheaf_rc expr_read_key_condition(struct ctx *c, span text, struct expr_env *env,
                                                 const struct expr_key_parts **out);
SHEAF_NODISCARD sheaf_rc expr_match_key_condition(struct ctx *c, const struct expr_key_parts *parts,
                                                  const struct expr_key_schema *schema,
                                                  struct expr_key_condition *out);
/* Both. */
SHEAF_NODISCARD sheaf_rc expr_compile_key_condition(struct ctx *c, span text, struct expr_env *env,
                                                    const struct expr_key_schema *schema,
                                                    struct expr_key_condition *out);

/* ---- projections ---- */

/* A set of document paths without overlaps, as a tree: what a projection keeps, what an update
 * touches. Opaque. */
struct expr_projection;
SHEAF_NODISCARD sheaf_rc expr_compile_projection(struct ctx *c, span text, struct expr_env *env,
                                                 const struct expr_projection **out);
/* From paths that the caller has (no overlaps among them). */
SHEAF_NODISCARD sheaf_rc expr_projection_of(struct ctx *c, const struct path *paths, uint32_t n,
                                            const struct expr_projection **out);
/* The paths, in the order written. */
const struct path *expr_projection_paths(const struct expr_projection *p, uint32_t *n_out);
/* A new item with the projected parts, in the arena. List elements that are kept close up, as in
 * DynamoDB. */
SHEAF_NODISCARD sheaf_rc expr_project(struct ctx *c, const struct expr_projection *p, val item,
                                      span *item_out);

/* ---- updates ---- */

struct expr_update; /* opaque */
SHEAF_NODISCARD sheaf_rc expr_compile_update(struct ctx *c, span text, struct expr_env *env,
                                             const struct expr_update **out);
/* The item after the update, in the arena. `item` is the map before it; for an item that does not
 * exist, a map of its key attributes. Operands are read from the item as it was. Errors: "The
 * provided expression refers to an attribute that does not exist in the item", "An operand in the
 * update expression has an incorrect data type", "The document path provided in the update
 * expression is invalid for update", numbers out of range. Does not judge the item's size. */
SHEAF_NODISCARD sheaf_rc expr_update_apply(struct ctx *c, const struct expr_update *u, val item,
                                           span *item_out);
/* What the update touches, in the order written: UPDATED_OLD and UPDATED_NEW are this projection of
 * the old and the new item. */
const struct expr_projection *expr_update_touched(const struct expr_update *u);
/* What the text alone says about the i-th of those paths, for checks that know the table: the type
 * it will have (VAL_NONE: the item decides), and the value when it is a constant (else absent). */
enum val_type expr_update_writes(const struct expr_update *u, uint32_t i, val *value_out);
/* The paths that the i-th action reads, `which` 0 or 1 for its first or second operand. */
const struct path *expr_update_reads(const struct expr_update *u, uint32_t i, int which,
                                     uint32_t *n_out);
/* false when it has only REMOVE and DELETE: such an update does not create a missing item. */
bool expr_update_creates(const struct expr_update *u);

#endif
