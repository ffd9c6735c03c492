/* Reads of single items: alone, in batches, in one snapshot. */
#include "model/lines.h"

/* ---- single items ---- */

/* Key, and now and then a projection that shows only parts. */
struct get {
    struct model_table *t;
    struct tree key;
    struct words words;
    struct tree_path paths[3];
    uint32_t n_paths;
    const char *projection;
    bool is_consistent;
};

static void draw_get(struct world *w, struct get *g)
{
    *g = (struct get){.t = world_table(w)};
    words_init(&g->words, &w->arena);
    g->key = draw_key(&w->draw, g->t->schema);
    g->is_consistent = world_one_in(w, 2);
    if (world_one_in(w, 4)) g->projection = projection_draw(w, &g->words, g->paths, &g->n_paths);
    world_say(w, "get %s %s projection %s\n", g->t->name, world_text(w, &g->key),
              g->projection ? g->projection : "none");
}

/* The errors that the request deserves, or the item. */
static uint64_t judge_get(struct world *w, const struct get *g, const struct tree **item)
{
    const struct tree *hash = tree_find(&g->key, g->t->schema->hash.name);
    uint64_t mask = 0;
    *item = NULL;
    if (!g->t->exists) mask |= RC_BIT(SHEAF_RESOURCE_NOT_FOUND);
    if (hash->type != g->t->schema->hash.type) mask |= RC_BIT(SHEAF_VALIDATION);
    if (mask) return mask;
    struct stored *s = model_find(g->t, &g->key);
    if (!s) return RC_BIT(SHEAF_OK);
    struct tree *part = tree_room(&w->arena, sizeof *part);
    *part = g->projection ? tree_project(&w->arena, &s->v, g->paths, g->n_paths) : s->v;
    *item = part;
    return RC_BIT(SHEAF_OK);
}

void op_get(struct world *w)
{
    struct get g;
    const struct tree *want;
    sheaf_result *r;
    draw_get(w, &g);
    uint64_t mask = judge_get(w, &g, &want);
    w->n_calls++;
    sheaf_rc rc =
        sheaf_get_item(w->db,
                       &(struct sheaf_get_item){.table = g.t->name,
                                                .key = tree_to_item(&w->arena, &g.key),
                                                .projection_expression = g.projection,
                                                .expression_attribute_names = words_names(&g.words),
                                                .consistent_read = g.is_consistent,
                                                .error = &w->err},
                       &r);
    world_expect_rc(w, "GetItem", rc, mask);
    if (rc == SHEAF_OK) world_expect_item(w, "GetItem", sheaf_result_item(r), want);
    sheaf_result_free(r);
}

void op_transact_get(struct world *w)
{
    enum { MAX = 10 };
    struct get *all = tree_room(&w->arena, MAX * sizeof *all);
    struct sheaf_transact_get gets[MAX];
    const struct tree *want[MAX];
    uint64_t refusals = 0;
    bool has_twins = false;
    size_t n = 1 + rng_below(&w->rng, MAX);
    sheaf_result *r;
    world_say(w, "TransactGetItems of %zu\n", n);
    for (size_t i = 0; i < n; i++) {
        draw_get(w, &all[i]);
        refusals |= judge_get(w, &all[i], &want[i]) & ~RC_BIT(SHEAF_OK);
        for (size_t k = 0; k < i; k++)
            has_twins |= all[k].t == all[i].t && tree_eq(&all[k].key, &all[i].key);
        gets[i] =
            (struct sheaf_transact_get){.table = all[i].t->name,
                                        .key = tree_to_item(&w->arena, &all[i].key),
                                        .projection_expression = all[i].projection,
                                        .expression_attribute_names = words_names(&all[i].words)};
    }
    if (has_twins) refusals |= RC_BIT(SHEAF_VALIDATION);
    /* A key of the wrong type may be told as a reason. */
    if (refusals & RC_BIT(SHEAF_VALIDATION)) refusals |= RC_BIT(SHEAF_TRANSACTION_CANCELED);
    w->n_calls++;
    sheaf_rc rc = sheaf_transact_get_items(
        w->db, &(struct sheaf_transact_get_items){.gets = gets, .n_gets = n, .error = &w->err}, &r);
    world_expect_rc(w, "TransactGetItems", rc, refusals ? refusals : RC_BIT(SHEAF_OK));
    if (rc == SHEAF_OK) {
        world_expect_number(w, "TransactGetItems", sheaf_result_count(r), n);
        for (size_t i = 0; i < n; i++)
            world_expect_item(w, "TransactGetItems", sheaf_result_at(r, i), want[i]);
    }
    sheaf_result_free(r);
}

/* ---- batches ---- */

static const char *line_of(struct world *w, const char *table, const struct tree *item)
{
    const char *text = world_text(w, item);
    char *line = tree_room(&w->arena, strlen(table) + strlen(text) + 2);
    sprintf(line, "%s %s", table, text);
    return line;
}

/* One table's part of a batch: keys, most times each once, and what they must give. */
enum { KEYS_MAX = 20 };
struct part {
    struct words words;
    struct sheaf_batch_get get;
    const sheaf_item *keys[KEYS_MAX];
    struct tree trees[KEYS_MAX];
};

static uint64_t draw_part(struct world *w, struct model_table *t, struct part *p,
                          struct lines *want)
{
    struct get g = {.t = t};
    uint64_t refusals = 0;
    size_t n = 0;
    bool keeps_twins = world_one_in(w, 20);
    words_init(&p->words, &w->arena);
    if (world_one_in(w, 4)) g.projection = projection_draw(w, &p->words, g.paths, &g.n_paths);
    for (uint64_t k = 1 + rng_below(&w->rng, KEYS_MAX); k; k--) {
        const struct tree *item;
        bool is_twin = false;
        g.key = draw_key(&w->draw, t->schema);
        for (size_t i = 0; i < n; i++) is_twin |= tree_eq(&p->trees[i], &g.key);
        if (is_twin && !keeps_twins) continue;
        if (is_twin) refusals |= RC_BIT(SHEAF_VALIDATION);
        world_say(w, "  %s %s\n", t->name, world_text(w, &g.key));
        refusals |= judge_get(w, &g, &item) & ~RC_BIT(SHEAF_OK);
        if (item) lines_add(w, want, line_of(w, t->name, item), 0);
        p->trees[n] = g.key;
        p->keys[n++] = tree_to_item(&w->arena, &g.key);
    }
    p->get = (struct sheaf_batch_get){.table = t->name,
                                      .keys = p->keys,
                                      .n_keys = n,
                                      .projection_expression = g.projection,
                                      .expression_attribute_names = words_names(&p->words)};
    return refusals;
}

void op_batch_get(struct world *w)
{
    struct model_table *tables[2] = {world_table(w), world_table(w)};
    size_t n_tables = tables[0] == tables[1] ? 1 : 1 + rng_below(&w->rng, 2);
    struct part *parts = tree_room(&w->arena, 2 * sizeof *parts);
    struct sheaf_batch_get gets[2];
    struct lines want = {0}, got = {0};
    uint64_t refusals = 0;
    sheaf_result *r;
    world_say(w, "BatchGetItem\n");
    for (size_t i = 0; i < n_tables; i++) {
        refusals |= draw_part(w, tables[i], &parts[i], &want);
        gets[i] = parts[i].get;
    }
    w->n_calls++;
    sheaf_rc rc = sheaf_batch_get_item(
        w->db,
        &(struct sheaf_batch_get_item){.tables = gets, .n_tables = n_tables, .error = &w->err}, &r);
    world_expect_rc(w, "BatchGetItem", rc, refusals ? refusals : RC_BIT(SHEAF_OK));
    if (rc != SHEAF_OK) return;
    world_expect_number(w, "unprocessed", sheaf_result_unprocessed_count(r), 0);
    for (size_t i = 0; i < sheaf_result_count(r); i++) {
        struct tree item = tree_of_item(&w->arena, sheaf_result_at(r, i));
        lines_add(w, &got, line_of(w, sheaf_result_table_at(r, i), &item), 0);
    }
    lines_expect(w, "BatchGetItem", &got, &want);
    sheaf_result_free(r);
}
