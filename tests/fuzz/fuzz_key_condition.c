/* Any text as a key condition on keys of one to four attributes: what is accepted has a value of
 * the schema's type for every hash attribute and for each equal range attribute. The first byte
 * chooses the schema. */
#include "expr/expr.h"

#include <stdlib.h>

static void check(bool is_good)
{
    if (!is_good) abort();
}

static const struct expr_key_schema all = {
    4,
    4,
    {{{"p", 1}, VAL_S}, {{"q", 1}, VAL_N}, {{"r", 1}, VAL_B}, {{"s", 1}, VAL_S}},
    {{{"c", 1}, VAL_S}, {{"d", 1}, VAL_N}, {{"e", 1}, VAL_B}, {{"f", 1}, VAL_S}}};

static void check_result(const struct expr_key_schema *schema, const struct expr_key_condition *k)
{
    for (uint32_t i = 0; i < schema->n_hash; i++)
        check(val_type(k->hash[i]) == schema->hash[i].type);
    check(k->n_eq <= schema->n_range);
    for (uint32_t i = 0; i < k->n_eq; i++) check(val_type(k->eq[i]) == schema->range[i].type);
    check((k->op == EXPR_KEY_ALL) == val_is_absent(k->a));
    check((k->op == EXPR_KEY_BETWEEN) == !val_is_absent(k->b));
    check(k->op != EXPR_KEY_EQ);
    if (k->op != EXPR_KEY_ALL) {
        check(k->n_eq < schema->n_range);
        check(val_type(k->a) == schema->range[k->n_eq].type);
    }
    if (k->op == EXPR_KEY_BETWEEN) check(val_cmp(k->a, k->b) <= 0);
}

static void build(struct ctx *c, struct expr_value *rows)
{
    static const char *const names[] = {":s", ":t", ":n", ":b"};
    for (uint32_t i = 0; i < 4; i++) {
        struct vb b;
        vb_init(&b, c, 100);
        if (i == 3)
            vb_b(&b, SPAN_LIT("x"));
        else if (i == 2)
            vb_n_text(&b, SPAN_LIT("7"));
        else
            vb_s(&b, i ? SPAN_LIT("t") : SPAN_LIT("s"));
        rows[i].placeholder = span_cstr(names[i]);
        check(vb_finish(&b, &rows[i].value) == SHEAF_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    struct arena arena;
    arena_init(&arena, 8 << 20);
    sheaf_error err;
    struct ctx c = {&arena, &err};
    struct expr_value values[4] = {{.is_used = false}};
    struct expr_name names[] = {{SPAN_LIT("#p"), SPAN_LIT("p"), false}};
    struct expr_env env = {.names = names, .values = values, .n_names = 1, .n_values = 4};
    build(&c, values);
    check(expr_env_check(&env, &err) == SHEAF_OK);
    struct expr_key_schema schema = all;
    schema.n_hash = 1 + (data[0] & 3);
    schema.n_range = (uint32_t)(data[0] >> 2) % 5;
    struct expr_key_condition k;
    sheaf_rc rc = expr_compile_key_condition(&c, SPAN(data + 1, size - 1), &env, &schema, &k);
    check(rc == SHEAF_OK || rc == SHEAF_VALIDATION);
    if (rc == SHEAF_OK) check_result(&schema, &k);
    arena_deinit(&arena);
    return 0;
}
