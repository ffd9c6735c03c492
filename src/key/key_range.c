/* A condition on sort key attributes to a range [lo, hi) of bytes.
 *
 * Attributes are self-delimiting and in order, so every condition is one range. P is the encoding
 * of the equal attributes, E is P followed by the encoded operand, and x+ is the smallest string
 * above everything that starts with x:
 *
 *      all [P, P+)      = [E, E+)      < [P, E)      <= [P, E+)      > [E+, P+)      >= [E, P+)
 *      between [E(a), E(b)+)           begins_with [E, T+)
 *
 * T is P followed by the operand's bytes in groups, the last one cut where the operand ends. Keys
 * equal to the operand are those that start with E, so more attributes or a tie behind them change
 * nothing.
 *
 * Know before editing: T would be wrong as the lower bound of begins_with. "A" is padded with
 * zeros, so its bytes start with the T of "A\0", with which it does not begin; but it is below E.
 */
#include "key/key.h"

#include <assert.h>

enum { GROUP = 8 };

size_t key_successor(uint8_t *s, size_t n)
{
    while (n > 0 && s[n - 1] == 0xFF) n--;
    if (n > 0) s[n - 1]++;
    return n;
}

/* A bound as the drawing above names it. */
struct bound {
    enum { BOUND_P, BOUND_E, BOUND_T } what;
    bool is_b; /* the operand is b, not a */
    bool is_successor;
};

static const struct {
    struct bound lo, hi;
} ranges[] = {
    [KEY_ALL] = {{BOUND_P, false, false}, {BOUND_P, false, true}},
    [KEY_EQ] = {{BOUND_E, false, false}, {BOUND_E, false, true}},
    [KEY_LT] = {{BOUND_P, false, false}, {BOUND_E, false, false}},
    [KEY_LE] = {{BOUND_P, false, false}, {BOUND_E, false, true}},
    [KEY_GT] = {{BOUND_E, false, true}, {BOUND_P, false, true}},
    [KEY_GE] = {{BOUND_E, false, false}, {BOUND_P, false, true}},
    [KEY_BETWEEN] = {{BOUND_E, false, false}, {BOUND_E, true, true}},
    [KEY_BEGINS_WITH] = {{BOUND_E, false, false}, {BOUND_T, false, true}},
};

/* Not less than the encoding of v takes. */
static size_t encoded_max(val v)
{
    return (val_bytes(v).n / GROUP + 1) * (GROUP + 1) + NUM_ENC_MAX + 1;
}

/* The last group of an S or B operand is cut where its bytes end: padding and count go. */
static void cut(struct buf *s, val operand)
{
    size_t rest = val_bytes(operand).n % GROUP;
    assert(s->n >= GROUP + 1);
    s->n -= GROUP + 1 - rest;
}

/* *out->p is NULL when the successor does not exist. */
static sheaf_rc make(struct ctx *c, const struct key_condition *cond, struct bound bound, span *out)
{
    val operand = bound.what == BOUND_P ? VAL_ABSENT : bound.is_b ? cond->b : cond->a;
    size_t max = 1;
    for (size_t i = 0; i < cond->n_eq; i++) max += encoded_max(cond->eq[i]);
    if (!val_is_absent(operand)) max += encoded_max(operand);
    struct buf s;
    buf_init(&s, c->arena, max);
    if (!buf_room(&s, max)) return err_nomem(c->err); /* once, so that growing leaves no waste */
    for (size_t i = 0; i < cond->n_eq; i++) key_put_sort(&s, cond->eq[i]);
    if (!val_is_absent(operand)) key_put_sort(&s, operand);
    if (bound.what == BOUND_T) cut(&s, operand);
    assert(!s.failed);
    if (bound.is_successor) s.n = key_successor(s.p, s.n);
    *out = bound.is_successor && s.n == 0 ? SPAN_NONE : buf_span(&s);
    return SHEAF_OK;
}

sheaf_rc key_range(struct ctx *c, const struct key_condition *cond, span *lo_out, span *hi_out)
{
    assert(cond->n_eq <= KEY_MAX_ATTRIBUTES && (unsigned)cond->op <= KEY_BEGINS_WITH);
    *lo_out = *hi_out = SPAN_NONE;
    if (cond->op == KEY_BEGINS_WITH && val_type(cond->a) == VAL_N) {
        return err_set(c->err, SHEAF_INTERNAL, "begins_with on a number reached the key layer");
    }
    TRY(make(c, cond, ranges[cond->op].lo, lo_out));
    TRY(make(c, cond, ranges[cond->op].hi, hi_out));
    assert(lo_out->p); /* an encoded attribute never ends in FF, so E has a successor */
    if (hi_out->p && span_cmp(*lo_out, *hi_out) > 0) *hi_out = *lo_out;
    return SHEAF_OK;
}
