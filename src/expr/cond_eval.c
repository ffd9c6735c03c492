/* Turns a checked condition into a program, and a program and an item into true or false. Know
 * before editing: expr_eval runs for every item that a Scan reads. It may not allocate, recurse or
 * keep a stack: one boolean, instructions in a row, jumps forward only. Operands are views into the
 * item; size() builds its number in 24 bytes on the C stack. */
#include "expr/cond.h"

#include "base/utf8.h"

#include <assert.h>

enum operand_kind { OPERAND_CONSTANT, OPERAND_ATTRIBUTE, OPERAND_PATH };

struct operand {
    enum operand_kind kind;
    bool is_size;            /* size() of it */
    val value;               /* of a constant */
    span name;               /* of a top-level attribute: the whole path */
    const struct path *path; /* of an attribute or a path */
};

struct instr {
    enum cond_code_kind kind;
    enum cond_op op;
    enum val_type type; /* of attribute_type */
    uint32_t arg;       /* of a jump: where to; of a leaf: how many operands */
    const struct operand *operands;
};

struct expr_program {
    const struct instr *code;
    const struct path *paths;
    uint32_t n_code, n_paths;
};

/* ---- sizes ---- */

struct size_buf {
    uint8_t bytes[2 + NUM_ENC_MAX];
};

/* size() as an encoded number in `to`; absent when the type has no size. */
static val size_of(val v, struct size_buf *to)
{
    int64_t n;
    switch (val_type(v)) {
    case VAL_S:
        n = (int64_t)utf8_utf16_units(val_bytes(v));
        break;
    case VAL_B:
        n = (int64_t)val_bytes(v).n;
        break;
    case VAL_M:
    case VAL_L:
    case VAL_SS:
    case VAL_NS:
    case VAL_BS:
        n = val_count(v);
        break;
    default:
        return VAL_ABSENT;
    }
    struct num number;
    num_from_i64(n, &number);
    size_t length = num_encode(&number, to->bytes + 2);
    to->bytes[0] = VAL_N;
    to->bytes[1] = (uint8_t)length;
    return (val){to->bytes, (uint32_t)(2 + length)};
}

/* ---- compiling ---- */

struct compile {
    struct arena *arena;
    struct path *paths;
    uint32_t n_paths;
    struct operand *operands;
    uint32_t n_operands;
};

/* size() of a constant is a constant. */
static sheaf_rc fold_size(struct compile *s, struct operand *o)
{
    struct size_buf buf;
    val v = size_of(o->value, &buf);
    assert(!val_is_absent(v));
    span copy = arena_dup(s->arena, SPAN(v.p, v.n));
    if (!copy.p) return SHEAF_NOMEM;
    o->value = (val){copy.p, v.n};
    o->is_size = false;
    return SHEAF_OK;
}

static sheaf_rc compile_operand(struct compile *s, const struct cond *c, const struct cond_node *n)
{
    struct operand *o = &s->operands[s->n_operands++];
    *o = (struct operand){.is_size = n->kind == COND_CALL};
    if (o->is_size) n = &c->nodes[n->first];
    assert(n->kind != COND_CALL);
    if (n->kind == COND_VALUE) {
        o->kind = OPERAND_CONSTANT;
        o->value = n->value;
        return o->is_size ? fold_size(s, o) : SHEAF_OK;
    }
    o->kind = n->path.n == 1 ? OPERAND_ATTRIBUTE : OPERAND_PATH;
    o->name = n->path.steps[0].name;
    s->paths[s->n_paths] = n->path;
    o->path = &s->paths[s->n_paths++];
    return SHEAF_OK;
}

static sheaf_rc compile_leaf(struct compile *s, const struct cond *c, const struct cond_leaf *leaf,
                             struct instr *to)
{
    *to = (struct instr){
        .kind = COND_LEAF, .op = leaf->op, .arg = leaf->n, .operands = &s->operands[s->n_operands]};
    for (uint16_t i = leaf->first; i != COND_NONE; i = c->nodes[i].next)
        TRY(compile_operand(s, c, &c->nodes[i]));
    if (leaf->op != COND_ATTRIBUTE_TYPE) return SHEAF_OK;
    bool is_known = val_type_parse(val_bytes(to->operands[1].value), &to->type);
    assert(is_known);
    (void)is_known;
    return SHEAF_OK;
}

static sheaf_rc compile_code(struct compile *s, const struct cond *c, struct instr *code)
{
    for (uint32_t i = 0; i < c->n_code; i++) {
        const struct cond_code *from = &c->code[i];
        assert(from->kind == COND_LEAF || from->kind == COND_FLIP || from->arg > i);
        code[i] = (struct instr){.kind = from->kind, .arg = from->arg};
        if (from->kind == COND_LEAF) TRY(compile_leaf(s, c, &c->leaves[from->arg], &code[i]));
    }
    return SHEAF_OK;
}

sheaf_rc expr_compile(struct ctx *ctx, enum expr_kind kind, span text, struct expr_env *env,
                      const struct expr_program **out)
{
    assert(kind == EXPR_CONDITION || kind == EXPR_FILTER);
    *out = NULL;
    struct cond c;
    TRY(cond_parse(&c, ctx, kind, text, env));
    TRY(cond_check(&c));
    struct expr_program *program = ARENA_NEW(ctx->arena, struct expr_program);
    struct instr *code = ARENA_ARRAY(ctx->arena, struct instr, c.n_code);
    struct compile s = {.arena = ctx->arena,
                        .paths = ARENA_ARRAY(ctx->arena, struct path, c.n_nodes),
                        .operands = ARENA_ARRAY(ctx->arena, struct operand, c.n_nodes)};
    if (!program || !code || !s.paths || !s.operands) return err_nomem(ctx->err);
    if (compile_code(&s, &c, code) != SHEAF_OK) return err_nomem(ctx->err);
    assert(s.n_operands <= c.n_nodes && s.n_paths <= c.n_nodes);
    *program = (struct expr_program){
        .code = code, .paths = s.paths, .n_code = c.n_code, .n_paths = s.n_paths};
    *out = program;
    return SHEAF_OK;
}

const struct path *expr_paths(const struct expr_program *program, uint32_t *n_out)
{
    *n_out = program->n_paths;
    return program->paths;
}

/* ---- evaluation ---- */

static val fetch(const struct operand *o, val item, struct size_buf *to)
{
    val v = o->value;
    if (o->kind == OPERAND_ATTRIBUTE)
        v = val_is_absent(item) ? VAL_ABSENT : val_find(item, o->name);
    else if (o->kind == OPERAND_PATH)
        v = val_is_absent(item) ? VAL_ABSENT : path_get(item, o->path);
    return o->is_size ? size_of(v, to) : v;
}

/* Two values of one type that has an order. */
static bool is_ordered(val a, val b)
{
    enum val_type t = val_type(a);
    return (t == VAL_S || t == VAL_N || t == VAL_B) && val_type(b) == t;
}

static bool begins_with(val v, val prefix)
{
    enum val_type t = val_type(v);
    if ((t != VAL_S && t != VAL_B) || val_type(prefix) != t) return false;
    return span_starts(val_bytes(v), val_bytes(prefix));
}

static bool has_part(val v, val part)
{
    if (val_type(part) != val_type(v)) return false;
    span all = val_bytes(v), some = val_bytes(part);
    return some.n == 0 || (some.n <= all.n && memmem(all.p, all.n, some.p, some.n));
}

static bool contains(val v, val part)
{
    static const enum val_type member[] = {[VAL_SS] = VAL_S, [VAL_NS] = VAL_N, [VAL_BS] = VAL_B};
    enum val_type t = val_type(v);
    switch (t) {
    case VAL_S:
    case VAL_B:
        return has_part(v, part);
    case VAL_SS:
    case VAL_NS:
    case VAL_BS:
        return val_type(part) == member[t] && val_set_has(v, val_bytes(part));
    case VAL_L:
        for (uint32_t i = 0, n = val_count(v); i < n; i++) {
            if (val_eq(val_at(v, i), part)) return true;
        }
        return false;
    default:
        return false;
    }
}

static bool in(const struct instr *at, val v, val item)
{
    struct size_buf buf;
    for (uint32_t i = 1; i < at->arg; i++) {
        if (val_eq(v, fetch(&at->operands[i], item, &buf))) return true;
    }
    return false;
}

static bool between(const struct instr *at, val v, val item)
{
    assert(at->arg == 3);
    struct size_buf low_buf, high_buf;
    val low = fetch(&at->operands[1], item, &low_buf);
    val high = fetch(&at->operands[2], item, &high_buf);
    return is_ordered(v, low) && is_ordered(v, high) && val_cmp(low, v) <= 0 &&
           val_cmp(v, high) <= 0;
}

static bool compare(enum cond_op op, val a, val b)
{
    if (op == COND_EQ) return val_eq(a, b);
    if (op == COND_NE) return !val_eq(a, b);
    if (!is_ordered(a, b)) return false;
    int c = val_cmp(a, b);
    switch (op) {
    case COND_LT:
        return c < 0;
    case COND_LE:
        return c <= 0;
    case COND_GT:
        return c > 0;
    default:
        assert(op == COND_GE);
        return c >= 0;
    }
}

static bool eval_leaf(const struct instr *at, val item)
{
    struct size_buf a_buf, b_buf;
    val a = fetch(&at->operands[0], item, &a_buf);
    switch (at->op) {
    case COND_ATTRIBUTE_EXISTS:
        return !val_is_absent(a);
    case COND_ATTRIBUTE_NOT_EXISTS:
        return val_is_absent(a);
    case COND_ATTRIBUTE_TYPE:
        return val_type(a) == at->type;
    case COND_BEGINS_WITH:
        return begins_with(a, fetch(&at->operands[1], item, &b_buf));
    case COND_CONTAINS:
        return contains(a, fetch(&at->operands[1], item, &b_buf));
    case COND_BETWEEN:
        return between(at, a, item);
    case COND_IN:
        return in(at, a, item);
    default:
        return compare(at->op, a, fetch(&at->operands[1], item, &b_buf));
    }
}

bool expr_eval(const struct expr_program *program, val item)
{
    assert(val_is_absent(item) || val_type(item) == VAL_M);
    bool truth = false;
    for (uint32_t i = 0; i < program->n_code;) {
        const struct instr *at = &program->code[i++];
        switch (at->kind) {
        case COND_LEAF:
            truth = eval_leaf(at, item);
            break;
        case COND_JUMP_IF_FALSE:
            i = truth ? i : at->arg;
            break;
        case COND_JUMP_IF_TRUE:
            i = truth ? at->arg : i;
            break;
        case COND_FLIP:
            truth = !truth;
            break;
        }
    }
    return truth;
}
