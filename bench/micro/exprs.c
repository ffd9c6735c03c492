/* Expressions: compile, evaluate a filter, apply an update, project. */
#include "micro/groups.h"
#include "micro/sample.h"

#include "base/mem.h"
#include "expr/expr.h"

#include <stdio.h>

struct exprs {
    struct sample sample;
    struct arena programs;
    struct ctx ctx;
    struct expr_name names[4];
    struct expr_value values[4];
    struct expr_env env;
    const struct expr_program *filter;
    const struct expr_update *update;
    const struct expr_projection *projection;
};

static const char filter_text[] = "#a = :x AND size(#b) > :n";
static const char update_text[] = "SET amount = version - :n, created_at = :x ADD version_2 :n";
static const char projection_text[] = "PK, SK, amount";

static val value_of(struct ctx *c, const char *s, const char *n)
{
    struct vb b;
    vb_init(&b, c, 4096);
    if (s)
        vb_s(&b, span_cstr(s));
    else
        vb_n_text(&b, span_cstr(n));
    val v;
    if (vb_finish(&b, &v) != SHEAF_OK) bench_die("expression", "value");
    return v;
}

static void must(struct exprs *x, sheaf_rc rc)
{
    if (rc != SHEAF_OK) bench_die("expression", x->sample.err.message);
}

static void init(struct exprs *x)
{
    sample_init(&x->sample);
    arena_init(&x->programs, 1 << 20);
    x->ctx = (struct ctx){&x->programs, &x->sample.err};
    x->names[0] = (struct expr_name){.placeholder = SPAN_LIT("#a"), .name = SPAN_LIT("status")};
    x->names[1] = (struct expr_name){.placeholder = SPAN_LIT("#b"), .name = SPAN_LIT("note")};
    x->values[0] = (struct expr_value){SPAN_LIT(":x"), value_of(&x->ctx, "SHIPPED", NULL), false};
    x->values[1] = (struct expr_value){SPAN_LIT(":n"), value_of(&x->ctx, NULL, "10"), false};
    x->env = (struct expr_env){.names = x->names,
                               .values = x->values,
                               .n_names = 2,
                               .n_values = 2,
                               .has_names = true,
                               .has_values = true};
    must(x, expr_env_check(&x->env, &x->sample.err));
    must(x, expr_compile(&x->ctx, EXPR_FILTER, span_cstr(filter_text), &x->env, &x->filter));
    must(x, expr_compile_update(&x->ctx, span_cstr(update_text), &x->env, &x->update));
    must(x, expr_compile_projection(&x->ctx, span_cstr(projection_text), &x->env, &x->projection));
}

static void run_compile(void *ctx, uint64_t n)
{
    struct exprs *x = ctx;
    for (uint64_t i = 0; i < n; i++) {
        arena_reset(&x->sample.arena);
        const struct expr_program *p;
        must(x, expr_compile(&x->sample.ctx, EXPR_FILTER, span_cstr(filter_text), &x->env, &p));
        bench_use((uint64_t)(uintptr_t)p);
    }
}

static void run_filter(void *ctx, uint64_t n)
{
    struct exprs *x = ctx;
    val m = item_map(x->sample.item);
    for (uint64_t i = 0; i < n; i++) bench_use(expr_eval(x->filter, m));
}

static void run_update(void *ctx, uint64_t n)
{
    struct exprs *x = ctx;
    for (uint64_t i = 0; i < n; i++) {
        arena_reset(&x->sample.arena);
        span item;
        must(x, expr_update_apply(&x->sample.ctx, x->update, item_map(x->sample.item), &item));
        bench_use(item.n);
    }
}

static void run_project(void *ctx, uint64_t n)
{
    struct exprs *x = ctx;
    for (uint64_t i = 0; i < n; i++) {
        arena_reset(&x->sample.arena);
        span item;
        must(x, expr_project(&x->sample.ctx, x->projection, item_map(x->sample.item), &item));
        bench_use(item.n);
    }
}

void bench_expressions(const struct bench_options *o)
{
    const char *title = "expression on that item";
    if (!bench_wants(o, title)) return;
    static struct exprs x;
    init(&x);
    struct bench b[] = {
        {.name = "compile #a = :x AND size(#b) > :n", .run = run_compile, .ctx = &x},
        {.name = "filter  #a = :x AND size(#b) > :n", .run = run_filter, .ctx = &x},
        {.name = "update  SET, SET, ADD", .run = run_update, .ctx = &x},
        {.name = "project three attributes", .run = run_project, .ctx = &x}};
    bench_group(o, title, b, 4);
    bench_at_most("filter evaluation", b[1].ns, 300);
    uint64_t before = mem_count();
    run_filter(&x, 1000);
    printf("    heap allocations in 1000 evaluations: %llu\n",
           (unsigned long long)(mem_count() - before));
    arena_deinit(&x.programs);
    sample_deinit(&x.sample);
}
