/* Turns a KeyConditionExpression into the values and the range that a query walks. Know before
 * editing: it is parsed and checked as any condition first, and only then must it have the shape of
 * a key condition; the messages of the two steps differ ("Invalid KeyConditionExpression: …" and
 * those here), and the order of the checks is the service's. */
#include "base/limits.h"
#include "expr/cond.h"

#include <assert.h>

enum { KEY_ATTRIBUTES_MAX = 8 };

/* One condition, the attribute on its left. */
struct part {
    span name;
    enum cond_op op;
    val a, b;
};

struct expr_key_parts {
    struct part p[KEY_ATTRIBUTES_MAX];
    uint32_t n;      /* of all conditions */
    uint32_t n_kept; /* of p: a schema has no more attributes than that */
};

/* ---- shape ---- */

#define WRONG_CONDITION "Invalid condition in KeyConditionExpression: "

static sheaf_rc check_op(const struct cond *c, const struct cond_leaf *leaf)
{
    const char *what = leaf->outside;
    if (!what && (leaf->op == COND_IN || leaf->op == COND_NE)) what = cond_op_name(leaf->op);
    if (!what && leaf->is_call && leaf->op != COND_BEGINS_WITH) what = cond_op_name(leaf->op);
    if (what)
        return err_validation(c->p.ctx->err, "Invalid operator used in KeyConditionExpression: %s",
                              what);
    bool is_path_first = leaf->op == COND_BETWEEN || leaf->op == COND_BEGINS_WITH;
    if (!is_path_first || c->nodes[leaf->first].kind == COND_PATH) return SHEAF_OK;
    return err_validation(c->p.ctx->err,
                          WRONG_CONDITION
                          "%s operator must have the key attribute as its first operand",
                          cond_op_name(leaf->op));
}

/* The only operand that is an attribute. */
static sheaf_rc find_attribute(const struct cond *c, const struct cond_leaf *leaf,
                               uint16_t *node_out)
{
    sheaf_error *err = c->p.ctx->err;
    *node_out = COND_NONE;
    for (uint16_t i = leaf->first; i != COND_NONE; i = c->nodes[i].next) {
        const struct cond_node *n = &c->nodes[i];
        if (n->kind == COND_CALL)
            return err_validation(err, "KeyConditionExpressions cannot contain nested operations");
        if (n->kind != COND_PATH) continue;
        if (*node_out != COND_NONE)
            return err_validation(err,
                                  WRONG_CONDITION "Multiple attribute names used in one condition");
        if (n->path.n > 1)
            return err_validation(
                err, "KeyConditionExpressions cannot have conditions on nested attributes");
        *node_out = i;
    }
    if (*node_out == COND_NONE)
        return err_validation(err, WRONG_CONDITION "No key attribute specified");
    return SHEAF_OK;
}

/* :v < a is a > :v. */
static enum cond_op turned(enum cond_op op)
{
    switch (op) {
    case COND_LT:
        return COND_GT;
    case COND_LE:
        return COND_GE;
    case COND_GT:
        return COND_LT;
    case COND_GE:
        return COND_LE;
    default:
        return op;
    }
}

static void read_part(const struct cond *c, const struct cond_leaf *leaf, uint16_t attribute,
                      struct part *out)
{
    const struct cond_node *first = &c->nodes[leaf->first], *second = &c->nodes[first->next];
    bool is_turned = attribute != leaf->first;
    assert(!is_turned || leaf->n == 2);
    *out = (struct part){.name = c->nodes[attribute].path.steps[0].name,
                         .op = is_turned ? turned(leaf->op) : leaf->op,
                         .a = is_turned ? first->value : second->value,
                         .b = leaf->n == 3 ? c->nodes[second->next].value : VAL_ABSENT};
}

static bool has_name(const struct expr_key_parts *parts, span name)
{
    for (uint32_t i = 0; i < parts->n_kept; i++) {
        if (span_eq(parts->p[i].name, name)) return true;
    }
    return false;
}

static sheaf_rc read_parts(const struct cond *c, struct expr_key_parts *out)
{
    for (uint32_t i = 0; i < c->n_leaves; i++) {
        const struct cond_leaf *leaf = &c->leaves[i];
        uint16_t attribute;
        struct part part;
        TRY(check_op(c, leaf));
        TRY(find_attribute(c, leaf, &attribute));
        read_part(c, leaf, attribute, &part);
        if (has_name(out, part.name))
            return err_validation(
                c->p.ctx->err, "KeyConditionExpressions must only contain one condition per key");
        if (out->n_kept < KEY_ATTRIBUTES_MAX) out->p[out->n_kept++] = part;
        out->n++;
    }
    return SHEAF_OK;
}

/* ---- schema ---- */

static const struct part *find_part(const struct expr_key_parts *parts, span name)
{
    for (uint32_t i = 0; i < parts->n_kept; i++) {
        if (span_eq(parts->p[i].name, name)) return &parts->p[i];
    }
    return NULL;
}

static sheaf_rc missed(sheaf_error *err, span name)
{
    return err_validation(err, "Query condition missed key schema element: %.*s", SPAN_ARG(name));
}

static sheaf_rc not_supported(sheaf_error *err)
{
    return err_validation(err, "Query key condition not supported");
}

static sheaf_rc check_value(val v, const struct expr_key_attribute *attribute, sheaf_error *err)
{
    enum val_type t = val_type(v);
    if (t != attribute->type)
        return err_validation(err, "One or more parameter values were invalid: Condition parameter "
                                   "type does not match schema type");
    if (t == VAL_N || val_bytes(v).n > 0) return SHEAF_OK;
    return err_validation(
        err,
        "One or more parameter values are not valid. The AttributeValue for a key "
        "attribute cannot contain an empty %s value. Key: %.*s",
        t == VAL_S ? "string" : "binary", SPAN_ARG(attribute->name));
}

static sheaf_rc check_values(const struct part *part, const struct expr_key_attribute *attribute,
                             sheaf_error *err)
{
    assert(!val_is_absent(part->a) && (part->op == COND_BETWEEN) == !val_is_absent(part->b));
    TRY(check_value(part->a, attribute, err));
    return part->op == COND_BETWEEN ? check_value(part->b, attribute, err) : SHEAF_OK;
}

static enum expr_key_op key_op(enum cond_op op)
{
    switch (op) {
    case COND_LT:
        return EXPR_KEY_LT;
    case COND_LE:
        return EXPR_KEY_LE;
    case COND_GT:
        return EXPR_KEY_GT;
    case COND_GE:
        return EXPR_KEY_GE;
    case COND_BETWEEN:
        return EXPR_KEY_BETWEEN;
    default:
        assert(op == COND_BEGINS_WITH);
        return EXPR_KEY_BEGINS;
    }
}

static sheaf_rc match_hash(const struct expr_key_parts *parts, const struct expr_key_schema *schema,
                           struct expr_key_condition *out, sheaf_error *err)
{
    for (uint32_t i = 0; i < schema->n_hash; i++) {
        const struct part *part = find_part(parts, schema->hash[i].name);
        if (!part) return missed(err, schema->hash[i].name);
        TRY(check_values(part, &schema->hash[i], err));
        if (part->op != COND_EQ) return not_supported(err);
        out->hash[i] = part->a;
    }
    return SHEAF_OK;
}

/* `left` conditions are on something else than hash attributes: they must be on the first range
 * attributes, without a gap, and only the last may be a range. */
static sheaf_rc match_range(const struct expr_key_parts *parts,
                            const struct expr_key_schema *schema, uint32_t left,
                            struct expr_key_condition *out, sheaf_error *err)
{
    assert(left <= parts->n && out->n_eq == 0);
    for (uint32_t i = 0; left > 0 && i < schema->n_range; i++, left--) {
        const struct part *part = find_part(parts, schema->range[i].name);
        if (!part) return missed(err, schema->range[i].name);
        TRY(check_values(part, &schema->range[i], err));
        if (part->op == COND_EQ) {
            out->eq[out->n_eq++] = part->a;
            continue;
        }
        if (left > 1) return not_supported(err);
        out->op = key_op(part->op);
        out->a = part->a;
        out->b = part->b;
    }
    return left > 0 ? not_supported(err) : SHEAF_OK;
}

/* A key of several range attributes: what stands before the last one named must be an equality. */
static sheaf_rc check_gaps(struct ctx *c, const struct expr_key_parts *parts,
                           const struct expr_key_schema *schema)
{
    uint32_t last = 0, n_missing = 0;
    for (uint32_t i = 0; i < schema->n_range; i++)
        if (find_part(parts, schema->range[i].name)) last = i;
    struct buf names;
    buf_init(&names, c->arena, 4 * (LIMIT_KEY_NAME_BYTES + 2));
    for (uint32_t i = 0; i < last; i++) {
        const struct part *part = find_part(parts, schema->range[i].name);
        if (part && part->op == COND_EQ) continue;
        buf_printf(&names, "%s%.*s", n_missing++ ? ", " : "", SPAN_ARG(schema->range[i].name));
    }
    if (n_missing == 0) return SHEAF_OK;
    return err_validation(
        c->err,
        "RANGE key attributes %.*s must have equality conditions specified in the "
        "query because a condition is present on key attribute %.*s",
        SPAN_ARG(buf_span(&names)), SPAN_ARG(schema->range[last].name));
}

static sheaf_rc match(struct ctx *c, const struct expr_key_parts *parts,
                      const struct expr_key_schema *schema, struct expr_key_condition *out)
{
    sheaf_error *err = c->err;
    uint32_t n_keys = schema->n_hash + schema->n_range;
    if (n_keys <= 2 && parts->n > 2)
        return err_validation(err, "Conditions can be of length 1 or 2 only");
    if (schema->n_range == 0 && parts->n > schema->n_hash) return not_supported(err);
    TRY(match_hash(parts, schema, out, err));
    assert(parts->n >= schema->n_hash);
    if (schema->n_range > 1) TRY(check_gaps(c, parts, schema));
    return match_range(parts, schema, parts->n - schema->n_hash, out, err);
}

sheaf_rc expr_read_key_condition(struct ctx *ctx, span text, struct expr_env *env,
                                 const struct expr_key_parts **out)
{
    struct cond c;
    *out = NULL;
    TRY(cond_parse(&c, ctx, EXPR_KEY_CONDITION, text, env));
    TRY(cond_check(&c));
    struct expr_key_parts *parts = ARENA_NEW(ctx->arena, struct expr_key_parts);
    if (!parts) return err_nomem(ctx->err);
    TRY(read_parts(&c, parts));
    *out = parts;
    return SHEAF_OK;
}

sheaf_rc expr_match_key_condition(struct ctx *ctx, const struct expr_key_parts *parts,
                                  const struct expr_key_schema *schema,
                                  struct expr_key_condition *out)
{
    assert(schema->n_hash >= 1 && schema->n_hash <= 4 && schema->n_range <= 4);
    *out = (struct expr_key_condition){.op = EXPR_KEY_ALL};
    struct expr_key_condition result = *out;
    TRY(match(ctx, parts, schema, &result));
    *out = result;
    return SHEAF_OK;
}

sheaf_rc expr_compile_key_condition(struct ctx *ctx, span text, struct expr_env *env,
                                    const struct expr_key_schema *schema,
                                    struct expr_key_condition *out)
{
    const struct expr_key_parts *parts;
    *out = (struct expr_key_condition){.op = EXPR_KEY_ALL};
    TRY(expr_read_key_condition(ctx, text, env, &parts));
    return expr_match_key_condition(ctx, parts, schema, out);
}
