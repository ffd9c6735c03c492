/* Any text as a condition: it compiles or is refused, and what compiles evaluates on an item whose
 * attributes have every type. Placeholders #a … #d and :a … :j are defined. */
#include "base/mem.h"
#include "expr/expr.h"

#include <stdlib.h>

static void check(bool is_good)
{
    if (!is_good) abort();
}

/* One value of each type: :a … :j, and the item's attributes a … j. */
static void put(struct vb *b, uint32_t i)
{
    switch (i) {
    case 0:
        vb_s(b, SPAN_LIT("hello"));
        break;
    case 1:
        vb_n_text(b, SPAN_LIT("5"));
        break;
    case 2:
        vb_b(b, SPAN_LIT("\x01\x02"));
        break;
    case 3:
        vb_bool(b, true);
        break;
    case 4:
        vb_null(b);
        break;
    case 5:
        vb_map_begin(b);
        vb_name(b, SPAN_LIT("x"));
        vb_s(b, SPAN_LIT("S"));
        vb_end(b);
        break;
    case 6:
        vb_list_begin(b);
        vb_n_text(b, SPAN_LIT("5"));
        vb_s(b, SPAN_LIT("S"));
        vb_end(b);
        break;
    default:
        vb_set_begin(b, i == 7 ? VAL_SS : i == 8 ? VAL_NS : VAL_BS);
        if (i == 7) vb_s(b, SPAN_LIT("S"));
        if (i == 8) vb_n_text(b, SPAN_LIT("5"));
        if (i == 9) vb_b(b, SPAN_LIT("\x01"));
        vb_end(b);
        break;
    }
}

static const char letters[] = "#a#b#c#d:a:b:c:d:e:f:g:h:i:j";

static void fill_env(struct ctx *c, struct expr_env *env)
{
    for (uint32_t i = 0; i < env->n_names; i++)
        env->names[i] =
            (struct expr_name){SPAN(letters + 2 * i, 2), SPAN(letters + 2 * i + 1, 1), false};
    for (uint32_t i = 0; i < env->n_values; i++) {
        struct vb b;
        vb_init(&b, c, 1000);
        put(&b, i);
        env->values[i].placeholder = SPAN(letters + 8 + 2 * i, 2);
        check(vb_finish(&b, &env->values[i].value) == SHEAF_OK);
    }
}

static val make_item(struct ctx *c)
{
    struct vb b;
    val item;
    vb_init(&b, c, 4000);
    vb_map_begin(&b);
    for (uint32_t i = 0; i < 10; i++) {
        vb_name(&b, SPAN(letters + 9 + 2 * i, 1));
        put(&b, i);
    }
    vb_end(&b);
    check(vb_finish(&b, &item) == SHEAF_OK);
    return item;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    arena_init(&arena, 8 << 20);
    sheaf_error err;
    struct ctx c = {&arena, &err};
    struct expr_name names[4];
    struct expr_value values[10] = {{.is_used = false}};
    struct expr_env env = {.names = names, .values = values, .n_names = 4, .n_values = 10};
    fill_env(&c, &env);
    check(expr_env_check(&env, &err) == SHEAF_OK);
    val item = make_item(&c);
    const struct expr_program *program;
    sheaf_rc rc =
        expr_compile(&c, size % 2 ? EXPR_CONDITION : EXPR_FILTER, SPAN(data, size), &env, &program);
    check(rc == SHEAF_OK || rc == SHEAF_VALIDATION);
    if (rc == SHEAF_OK) {
        uint64_t before = mem_count();
        bool first = expr_eval(program, item);
        check(expr_eval(program, item) == first);
        (void)expr_eval(program, VAL_ABSENT);
        check(mem_count() == before);
        uint32_t n;
        const struct path *paths = expr_paths(program, &n);
        for (uint32_t i = 0; i < n; i++) check(paths[i].n >= 1 && paths[i].n <= 32);
    }
    arena_deinit(&arena);
    return 0;
}
