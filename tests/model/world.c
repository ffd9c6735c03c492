/* Turns a seed into one operation, and a seed into a fresh world. */
#include "model/world.h"

#include <stdarg.h>
#include <stdlib.h>

/* ---- telling ---- */

void world_differs(struct world *w, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(w->message, sizeof w->message, format, ap);
    va_end(ap);
    longjmp(w->out, 1);
}

void world_say(struct world *w, const char *format, ...)
{
    va_list ap;
    if (!w->trace) return;
    va_start(ap, format);
    vfprintf(w->trace, format, ap);
    va_end(ap);
    fflush(w->trace);
}

const char *world_text(struct world *w, const struct tree *t) { return tree_text(&w->arena, t); }

void world_expect_rc(struct world *w, const char *what, sheaf_rc rc, uint64_t mask)
{
    w->n_checked++;
    if (mask >> rc & 1) return;
    char wanted[400] = "";
    for (int i = 0; i < SHEAF_RC_COUNT_; i++) {
        if (!(mask >> i & 1)) continue;
        size_t n = strlen(wanted);
        snprintf(wanted + n, sizeof wanted - n, " %s",
                 i ? sheaf_rc_exception((sheaf_rc)i) : "success");
    }
    world_differs(w, "%s: got %d %s (%s), wanted%s", what, (int)rc,
                  rc ? sheaf_rc_exception(rc) : "success", rc ? w->err.message : "", wanted);
}

void world_expect_item(struct world *w, const char *what, const sheaf_item *got,
                       const struct tree *want)
{
    w->n_checked++;
    if (!got && !want) return;
    struct tree is = {.type = SHEAF_NONE};
    if (got) is = tree_of_item(&w->arena, got);
    if (got && want && tree_eq(&is, want)) return;
    world_differs(w, "%s: got %.3000s, wanted %.3000s", what, got ? world_text(w, &is) : "-",
                  world_text(w, want));
}

void world_expect_number(struct world *w, const char *what, uint64_t got, uint64_t want)
{
    w->n_checked++;
    if (got != want)
        world_differs(w, "%s: got %llu, wanted %llu", what, (unsigned long long)got,
                      (unsigned long long)want);
}

bool world_one_in(struct world *w, uint64_t n) { return rng_below(&w->rng, n) == 0; }

struct model_table *world_table(struct world *w)
{
    return &w->tables[rng_below(&w->rng, N_TABLES)];
}

bool world_owns(struct world *w, const struct model_table *t, const struct tree *item)
{
    const struct tree *hash = tree_find(item, t->schema->hash.name);
    if (!w->is_sharing) return true;
    for (uint32_t i = 0; i < w->domain.n_hash; i++) {
        struct tree mine = draw_key_value(&w->draw, t->schema->hash.type, w->domain.hash_from + i);
        if (tree_eq(hash, &mine)) return true;
    }
    return false;
}

/* ---- opening ---- */

static int64_t now(void *ctx) { return ((struct world *)ctx)->now_us; }

sheaf_rc world_reopen(struct world *w)
{
    struct sheaf_options o = {.durability = w->is_relaxed ? SHEAF_RELAXED : SHEAF_SYNC,
                              .now_us = now,
                              .now_ctx = w,
                              .no_background = true,
                              .cache_bytes = 8 << 20,
                              .seed = 1};
    sheaf_close(w->db);
    w->db = NULL;
    return sheaf_open(w->directory ? w->directory : ":memory:", &o, &w->db, &w->err);
}

bool world_open(struct world *w, uint64_t seed, const char *directory)
{
    struct rng r;
    rng_init(&r, seed);
    memset(w, 0, sizeof *w);
    w->directory = directory;
    w->now_us = INT64_C(1700000000) * 1000000;
    w->domain = (struct domain){.n_hash = 1 + (uint32_t)rng_below(&r, 6),
                                .n_range = 2 + (uint32_t)rng_below(&r, 24),
                                .n_index = 1 + (uint32_t)rng_below(&r, 5),
                                .base_s = w->now_us / 1000000};
    if (rng_below(&r, 16) == 0) w->domain.fat = 60000;
    w->is_relaxed = rng_below(&r, 20) != 0;
    arena_init(&w->arena, (size_t)1 << 30);
    w->draw = (struct draw){&w->rng, &w->arena, &w->domain};
    if (setjmp(w->out)) return false;
    world_expect_rc(w, "sheaf_open", world_reopen(w), RC_BIT(SHEAF_OK));
    rng_init(&w->rng, seed);
    for (uint32_t i = 0; i < N_TABLES; i++) {
        w->tables[i].schema = &schemas[i];
        snprintf(w->tables[i].name, sizeof w->tables[i].name, "table-%u", i);
        make_table(w, &w->tables[i]);
    }
    return true;
}

void world_close(struct world *w)
{
    sheaf_close(w->db);
    for (uint32_t i = 0; i < N_TABLES; i++) model_clear(&w->tables[i]);
    arena_deinit(&w->arena);
}

/* ---- operations ---- */

static void run(struct world *w, uint64_t seed)
{
    static const struct {
        uint32_t weight;
        void (*op)(struct world *w);
    } ops[] = {
        {430, op_write},     {120, op_get},        {120, op_query},       {12, op_scan},
        {15, op_batch_get},  {25, op_batch_write}, {15, op_transact_get}, {10, op_describe},
        {15, op_collection}, {2, op_stream},       {8, op_background},    {12, op_clock},
        {4, op_tables},      {1, op_check},
    };
    uint64_t dice = rng_below(&w->rng, 850);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (dice < ops[i].weight) {
            ops[i].op(w);
            return;
        }
        dice -= ops[i].weight;
    }
    op_transact_write(w, seed);
}

bool world_step(struct world *w, uint64_t seed)
{
    arena_reset(&w->arena);
    rng_init(&w->rng, seed);
    if (setjmp(w->out)) return false;
    run(w, seed);
    return true;
}

bool world_check(struct world *w)
{
    arena_reset(&w->arena);
    if (setjmp(w->out)) return false;
    op_check(w);
    return true;
}
