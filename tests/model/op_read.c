/* Reads: what a Query or Scan must return is filtered and sorted from the oracle's array. */
#include "model/world.h"

#include <stdlib.h>

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

static bool overlap(const struct tree_path *a, const struct tree_path *b)
{
    return strcmp(a->step[0].name, b->step[0].name) == 0;
}

static const char *draw_projection(struct world *w, struct words *words, struct tree_path *paths,
                                   uint32_t *n)
{
    const char *text = NULL;
    *n = 0;
    for (uint64_t want = 1 + rng_below(&w->rng, 3); want; want--) {
        struct tree_path p = draw_path(&w->draw);
        bool is_apart = true;
        for (uint32_t i = 0; i < *n; i++) is_apart &= !overlap(&paths[i], &p);
        if (!is_apart) continue;
        paths[(*n)++] = p;
        const char *one = words_path(words, &p);
        text = text ? words_printf(words, "%s, %s", text, one) : one;
    }
    return text;
}

static void draw_get(struct world *w, struct get *g)
{
    *g = (struct get){.t = world_table(w)};
    words_init(&g->words, &w->arena);
    g->key = draw_key(&w->draw, g->t->schema);
    g->is_consistent = world_one_in(w, 2);
    if (world_one_in(w, 4)) g->projection = draw_projection(w, &g->words, g->paths, &g->n_paths);
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
        gets[i] = (struct sheaf_transact_get){
            .table = all[i].t->name, .key = tree_to_item(&w->arena, &all[i].key),
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

/* ---- lists of texts ---- */

struct lines {
    const char **at;
    uint32_t *group; /* lines of one group have no order among themselves */
    size_t n, cap;
};

static void add_line(struct world *w, struct lines *l, const char *text, uint32_t group)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        const char **at = tree_room(&w->arena, cap * sizeof *at);
        uint32_t *groups = tree_room(&w->arena, cap * sizeof *groups);
        if (l->n) {
            memcpy(at, l->at, l->n * sizeof *at);
            memcpy(groups, l->group, l->n * sizeof *groups);
        }
        *l = (struct lines){at, groups, l->n, cap};
    }
    l->at[l->n] = text;
    l->group[l->n++] = group;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Both in groups as `want` says. */
static void expect_lines(struct world *w, const char *what, struct lines *got, struct lines *want)
{
    w->n_checked++;
    for (size_t i = 0, end; i < want->n && got->n == want->n; i = end) {
        for (end = i + 1; end < want->n && want->group[end] == want->group[i]; end++) {}
        qsort(&want->at[i], end - i, sizeof *want->at, by_text);
        qsort(&got->at[i], end - i, sizeof *got->at, by_text);
    }
    for (size_t i = 0; i < got->n || i < want->n; i++) {
        const char *is = i < got->n ? got->at[i] : "nothing";
        const char *should = i < want->n ? want->at[i] : "nothing";
        if (strcmp(is, should) == 0 && got->n == want->n) continue;
        if (strcmp(is, should) == 0) continue;
        world_differs(w, "%s: item %zu (%zu instead of %zu): got %.2000s, wanted %.2000s", what, i,
                      got->n, want->n, is, should);
    }
}

/* ---- batches ---- */

void op_batch_get(struct world *w)
{
    enum { MAX = 20 };
    struct model_table *tables[2] = {world_table(w), world_table(w)};
    size_t n_tables = tables[0] == tables[1] ? 1 : 1 + rng_below(&w->rng, 2);
    struct sheaf_batch_get gets[2];
    struct lines want = {0}, got = {0};
    struct words words[2];
    uint64_t refusals = 0;
    sheaf_result *r;
    world_say(w, "BatchGetItem\n");
    for (size_t t = 0; t < n_tables; t++) {
        const sheaf_item **keys = tree_room(&w->arena, MAX * sizeof *keys);
        struct tree *trees = tree_room(&w->arena, MAX * sizeof *trees);
        struct get g = {.t = tables[t]};
        size_t n = 0;
        words_init(&words[t], &w->arena);
        if (world_one_in(w, 4)) g.projection = draw_projection(w, &words[t], g.paths, &g.n_paths);
        bool keeps_twins = world_one_in(w, 20);
        for (uint64_t k = 1 + rng_below(&w->rng, MAX); k; k--) {
            bool is_twin = false;
            g.key = draw_key(&w->draw, g.t->schema);
            for (size_t i = 0; i < n; i++) is_twin |= tree_eq(&trees[i], &g.key);
            if (is_twin && !keeps_twins) continue;
            if (is_twin) refusals |= RC_BIT(SHEAF_VALIDATION);
            const struct tree *item;
            world_say(w, "  %s %s\n", g.t->name, world_text(w, &g.key));
            refusals |= judge_get(w, &g, &item) & ~RC_BIT(SHEAF_OK);
            if (item) add_line(w, &want, words_printf(&words[t], "%s ", g.t->name), 0);
            if (item) {
                const char *text = world_text(w, item);
                char *line = tree_room(&w->arena, strlen(text) + 32);
                sprintf(line, "%s %s", g.t->name, text);
                want.at[want.n - 1] = line;
            }
            trees[n] = g.key;
            keys[n++] = tree_to_item(&w->arena, &g.key);
        }
        gets[t] = (struct sheaf_batch_get){.table = g.t->name,
                                           .keys = keys,
                                           .n_keys = n,
                                           .projection_expression = g.projection,
                                           .expression_attribute_names = words_names(&words[t])};
    }
    w->n_calls++;
    sheaf_rc rc = sheaf_batch_get_item(
        w->db,
        &(struct sheaf_batch_get_item){.tables = gets, .n_tables = n_tables, .error = &w->err}, &r);
    world_expect_rc(w, "BatchGetItem", rc, refusals ? refusals : RC_BIT(SHEAF_OK));
    if (rc == SHEAF_OK) {
        world_expect_number(w, "unprocessed", sheaf_result_unprocessed_count(r), 0);
        for (size_t i = 0; i < sheaf_result_count(r); i++) {
            struct tree item = tree_of_item(&w->arena, sheaf_result_at(r, i));
            const char *text = world_text(w, &item);
            char *line = tree_room(&w->arena, strlen(text) + 300);
            sprintf(line, "%s %s", sheaf_result_table_at(r, i), text);
            add_line(w, &got, line, 0);
        }
        expect_lines(w, "BatchGetItem", &got, &want);
    }
    sheaf_result_free(r);
}

/* ---- item collections ---- */

struct look {
    struct model_table *t;
    const struct schema_index *x; /* NULL: the table */
    struct words words;
    const char *key_condition, *filter_text, *projection;
    struct cond *filter;
    struct tree_path paths[3];
    uint32_t n_paths;
    enum sheaf_select select;
    struct tree equal[8]; /* of the first n_equal keys in `keys` */
    struct schema_key keys[8];
    uint32_t n_keys, n_hash, n_equal;
    const char *op; /* on keys[n_equal]; NULL: none */
    struct tree bounds[2];
    bool is_backward, is_consistent;
    uint32_t limit;
    uint64_t refusals;
};

static void draw_target(struct world *w, struct look *l)
{
    uint32_t n = 0;
    l->t = world_table(w);
    while (model_index_at(l->t, n)) n++;
    uint64_t i = rng_below(&w->rng, n + 1);
    l->x = i < n ? model_index_at(l->t, (uint32_t)i) : NULL;
    const struct schema *s = l->t->schema;
    if (l->x) {
        l->n_hash = schema_count(l->x->hash);
        l->n_keys = l->n_hash + schema_count(l->x->range);
        for (uint32_t k = 0; k < l->n_keys; k++)
            l->keys[k] = k < l->n_hash ? l->x->hash[k] : l->x->range[k - l->n_hash];
        return;
    }
    l->n_hash = 1;
    l->n_keys = s->range.name ? 2 : 1;
    l->keys[0] = s->hash;
    l->keys[1] = s->range;
}

static struct tree draw_value_of(struct world *w, const struct look *l, uint32_t key)
{
    const struct domain *d = &w->domain;
    const char *name = l->keys[key].name;
    uint32_t n = strcmp(name, "pk") == 0   ? d->n_hash
                 : strcmp(name, "sk") == 0 ? d->n_range
                                           : d->n_index;
    return draw_key_value(&w->draw, l->keys[key].type, rng_below(&w->rng, n));
}

static const char *range_text(struct world *w, struct look *l, const char *text)
{
    static const char *const ops[] = {"<", "<=", ">", ">=", "BETWEEN", "begins_with"};
    uint32_t key = l->n_equal;
    struct words *words = &l->words;
    l->op = ops[rng_below(&w->rng, l->keys[key].type == SHEAF_N ? 5 : 6)];
    l->bounds[0] = draw_value_of(w, l, key);
    l->bounds[1] = draw_value_of(w, l, key);
    const char *name = words_name(words, l->keys[key].name);
    if (strcmp(l->op, "BETWEEN") == 0) {
        if (tree_cmp(&l->bounds[0], &l->bounds[1]) > 0) {
            struct tree swap = l->bounds[0];
            l->bounds[0] = l->bounds[1];
            l->bounds[1] = swap;
        }
        const char *low = words_value(words, &l->bounds[0]);
        return words_printf(words, "%s AND %s BETWEEN %s AND %s", text, name, low,
                            words_value(words, &l->bounds[1]));
    }
    const char *value = words_value(words, &l->bounds[0]);
    if (strcmp(l->op, "begins_with") == 0)
        return words_printf(words, "%s AND begins_with(%s, %s)", text, name, value);
    return words_printf(words, "%s AND %s %s %s", text, name, l->op, value);
}

static void draw_key_condition(struct world *w, struct look *l)
{
    const char *text = NULL;
    uint32_t n_range = l->n_keys - l->n_hash;
    l->n_equal = l->n_hash + (world_one_in(w, 3) ? (uint32_t)rng_below(&w->rng, n_range + 1) : 0);
    for (uint32_t i = 0; i < l->n_equal; i++) {
        l->equal[i] = draw_value_of(w, l, i);
        const char *name = words_name(&l->words, l->keys[i].name);
        const char *value = words_value(&l->words, &l->equal[i]);
        text = text ? words_printf(&l->words, "%s AND %s = %s", text, name, value)
                    : words_printf(&l->words, "%s = %s", name, value);
    }
    if (l->n_equal < l->n_keys && world_one_in(w, 2)) text = range_text(w, l, text);
    l->key_condition = text;
}

/* Attributes that a filter may speak of: shown by the index and no key of it. */
static void draw_filter(struct world *w, struct look *l)
{
    static const char *const all[] = {"a", "b", "n", "ss", "m", "ns"};
    const char *names[6];
    uint32_t n = 0;
    for (uint32_t i = 0; i < 6; i++)
        if (index_shows(l->t, l->x, all[i])) names[n++] = all[i];
    if (n == 0 || !world_one_in(w, 4)) return;
    l->filter = draw_cond(&w->draw, 1, names, n);
    l->filter_text = cond_text(&l->words, l->filter);
}

static void draw_select(struct world *w, struct look *l)
{
    bool is_whole = !l->x || l->x->projection == SHEAF_PROJECT_ALL;
    if (world_one_in(w, 8)) {
        l->select = SHEAF_SELECT_COUNT;
    } else if (world_one_in(w, 8)) {
        l->select = SHEAF_SELECT_ALL_ATTRIBUTES;
        if (!is_whole && !l->x->is_local) l->refusals |= RC_BIT(SHEAF_VALIDATION);
    } else if (world_one_in(w, 5)) {
        l->projection = draw_projection(w, &l->words, l->paths, &l->n_paths);
        for (uint32_t i = 0; i < l->n_paths; i++)
            if (l->x && !l->x->is_local && !index_shows(l->t, l->x, l->paths[i].step[0].name))
                l->refusals |= RC_BIT(SHEAF_VALIDATION);
    }
}

static void draw_look(struct world *w, struct look *l, bool is_query)
{
    memset(l, 0, sizeof *l);
    words_init(&l->words, &w->arena);
    draw_target(w, l);
    if (is_query) draw_key_condition(w, l);
    draw_filter(w, l);
    draw_select(w, l);
    if (!l->t->exists) l->refusals |= RC_BIT(SHEAF_RESOURCE_NOT_FOUND);
    l->is_backward = is_query && world_one_in(w, 2);
    bool is_global = l->x && !l->x->is_local;
    l->is_consistent = world_one_in(w, is_global ? 60 : 2);
    if (l->is_consistent && is_global) l->refusals |= RC_BIT(SHEAF_VALIDATION);
    if (world_one_in(w, 2)) l->limit = 1 + (uint32_t)rng_below(&w->rng, 8);
    world_say(w, "%s %s %s where \"%s\" filter \"%s\" projection \"%s\" select %d%s limit %u",
              is_query ? "Query" : "Scan", l->t->name, l->x ? l->x->name : "",
              l->key_condition ? l->key_condition : "", l->filter_text ? l->filter_text : "",
              l->projection ? l->projection : "", (int)l->select, l->is_backward ? " backward" : "",
              l->limit);
    if (!w->trace) return;
    struct tree values =
        tree_of_item(&w->arena, &(sheaf_item){l->words.values, l->words.n_values, NULL});
    for (uint32_t i = 0; i < l->words.n_names; i++)
        world_say(w, " %s=%s", l->words.names[i].placeholder, l->words.names[i].name);
    world_say(w, " with %s\n", world_text(w, &values));
}

static bool is_wanted(const struct look *l, const struct tree *item)
{
    for (uint32_t i = 0; i < l->n_equal; i++)
        if (!tree_eq(tree_find(item, l->keys[i].name), &l->equal[i])) return false;
    if (!l->op) return true;
    const struct tree *v = tree_find(item, l->keys[l->n_equal].name), *b = l->bounds;
    int c = tree_cmp(v, &b[0]);
    if (strcmp(l->op, "<") == 0) return c < 0;
    if (strcmp(l->op, "<=") == 0) return c <= 0;
    if (strcmp(l->op, ">") == 0) return c > 0;
    if (strcmp(l->op, ">=") == 0) return c >= 0;
    if (strcmp(l->op, "BETWEEN") == 0) return c >= 0 && tree_cmp(v, &b[1]) <= 0;
    return v->n >= b[0].n && memcmp(v->p, b[0].p, b[0].n) == 0;
}

static int compare_ranges(const struct look *l, const struct tree *a, const struct tree *b)
{
    for (uint32_t i = l->n_hash; i < l->n_keys; i++) {
        int c = tree_cmp(tree_find(a, l->keys[i].name), tree_find(b, l->keys[i].name));
        if (c) return l->is_backward ? -c : c;
    }
    return 0;
}

/* The items of the table or index that the look is about, sorted (insertion: they are few). */
static const struct tree **collect(struct world *w, const struct look *l, bool is_query, size_t *n)
{
    const struct tree **all = tree_room(&w->arena, (l->t->n + 1) * sizeof *all);
    *n = 0;
    for (size_t i = 0; i < l->t->n; i++) {
        const struct tree *item = &l->t->items[i]->v;
        if ((l->x && !index_holds(l->x, item)) || !is_wanted(l, item)) continue;
        size_t at = (*n)++;
        for (; is_query && at > 0 && compare_ranges(l, all[at - 1], item) > 0; at--)
            all[at] = all[at - 1];
        all[at] = item;
    }
    return all;
}

static void expected_lines(struct world *w, const struct look *l, const struct tree **all, size_t n,
                           bool is_query, struct lines *out, uint64_t *matched)
{
    uint32_t group = 0;
    *matched = 0;
    for (size_t i = 0; i < n; i++) {
        struct tree view = index_view(&w->arena, l->t, l->x, all[i]);
        if (is_query && i && compare_ranges(l, all[i - 1], all[i]) != 0) group++;
        if (l->filter && !cond_holds(l->filter, &view)) continue;
        ++*matched;
        /* A local index fetches from the table what it does not show itself. */
        if (l->select == SHEAF_SELECT_ALL_ATTRIBUTES || l->projection) view = *all[i];
        if (l->projection) view = tree_project(&w->arena, &view, l->paths, l->n_paths);
        if (l->select != SHEAF_SELECT_COUNT) add_line(w, out, world_text(w, &view), group);
    }
}

/* ---- pages ---- */

struct pages {
    struct lines got;
    uint64_t matched, scanned, n;
};

/* The key that a page ends with is that of an item there is. */
static void expect_last_key(struct world *w, const struct look *l, const sheaf_item *last)
{
    struct tree key = tree_of_item(&w->arena, last);
    struct stored *s = model_find(l->t, &key);
    struct tree want = {.type = SHEAF_NONE};
    if (s) want = key_of(&w->arena, l->t, l->x, &s->v);
    if (!s || !tree_eq(&key, &want))
        world_differs(w, "LastEvaluatedKey %s is the key of no item", world_text(w, &key));
}

static const sheaf_item *take_page(struct world *w, const struct look *l, struct pages *p,
                                   sheaf_result *r)
{
    for (size_t i = 0; i < sheaf_result_count(r); i++) {
        struct tree item = tree_of_item(&w->arena, sheaf_result_at(r, i));
        if (world_owns(w, l->t, &item)) add_line(w, &p->got, world_text(w, &item), 0);
    }
    uint64_t scanned = sheaf_result_scanned(r);
    const sheaf_item *last = sheaf_result_last_evaluated_key(r), *copy = NULL;
    p->matched += sheaf_result_matched(r);
    p->scanned += scanned;
    if (l->limit && scanned > l->limit) world_differs(w, "a page of more than its Limit");
    if (l->limit && scanned == l->limit && !last)
        world_differs(w, "no LastEvaluatedKey after a page of Limit items");
    if (last && scanned < l->limit && !w->domain.fat)
        world_differs(w, "LastEvaluatedKey after fewer items than Limit");
    if (last && !l->limit && !w->domain.fat && !w->is_sharing)
        world_differs(w, "a page ends early");
    if (last) {
        if (!w->is_sharing) expect_last_key(w, l, last);
        struct tree key = tree_of_item(&w->arena, last);
        copy = tree_to_item(&w->arena, &key);
    }
    sheaf_result_free(r);
    if (++p->n > 3000) world_differs(w, "pages without an end");
    return copy;
}

static sheaf_rc query_page(struct world *w, struct look *l, const sheaf_item *start,
                           sheaf_result **r)
{
    struct sheaf_query q = {.table = l->t->name,
                            .index = l->x ? l->x->name : NULL,
                            .key_condition_expression = l->key_condition,
                            .filter_expression = l->filter_text,
                            .projection_expression = l->projection,
                            .expression_attribute_names = words_names(&l->words),
                            .expression_attribute_values = words_values(&l->words),
                            .exclusive_start_key = start,
                            .select = l->select,
                            .limit = l->limit,
                            .backward = l->is_backward,
                            .consistent_read = l->is_consistent,
                            .error = &w->err};
    w->n_calls++;
    return sheaf_query(w->db, &q, r);
}

static sheaf_rc scan_page(struct world *w, struct look *l, uint32_t segment, uint32_t n_segments,
                          const sheaf_item *start, sheaf_result **r)
{
    struct sheaf_scan q = {.table = l->t->name,
                           .index = l->x ? l->x->name : NULL,
                           .filter_expression = l->filter_text,
                           .projection_expression = l->projection,
                           .expression_attribute_names = words_names(&l->words),
                           .expression_attribute_values = words_values(&l->words),
                           .exclusive_start_key = start,
                           .select = l->select,
                           .limit = l->limit,
                           .segment = segment,
                           .total_segments = n_segments,
                           .consistent_read = l->is_consistent,
                           .error = &w->err};
    w->n_calls++;
    return sheaf_scan(w->db, &q, r);
}

static bool is_filling(const struct look *l)
{
    return l->x == &schema_late && l->t->is_late_filling;
}

/* On the table itself any key of the collection is a place to go on from, whether it has an item or
 * not. */
static const sheaf_item *draw_start(struct world *w, struct look *l, const struct tree **all,
                                    size_t *n)
{
    if (l->x || l->n_keys < 2 || l->op || l->n_equal != 1 || !world_one_in(w, 4)) return NULL;
    struct tree key = tree_box(&w->arena, SHEAF_M, 2);
    tree_set(&key, l->keys[0].name, l->equal[0]);
    tree_set(&key, l->keys[1].name, draw_value_of(w, l, 1));
    size_t skip = 0;
    while (skip < *n && compare_ranges(l, all[skip], &key) <= 0) skip++;
    *n -= skip;
    memmove(all, all + skip, *n * sizeof *all);
    world_say(w, "  starting behind %s\n", world_text(w, &key));
    return tree_to_item(&w->arena, &key);
}

void op_query(struct world *w)
{
    struct look l;
    struct lines want = {0};
    struct pages p = {.n = 0};
    uint64_t matched;
    size_t n;
    sheaf_result *r;
    draw_look(w, &l, true);
    const struct tree **all = collect(w, &l, true, &n);
    const sheaf_item *start = draw_start(w, &l, all, &n);
    if (is_filling(&l)) l.refusals |= RC_BIT(SHEAF_VALIDATION);
    do {
        sheaf_rc rc = query_page(w, &l, start, &r);
        world_expect_rc(w, "Query", rc, l.refusals ? l.refusals : RC_BIT(SHEAF_OK));
        if (rc != SHEAF_OK) return;
        start = take_page(w, &l, &p, r);
    } while (start);
    expected_lines(w, &l, all, n, true, &want, &matched);
    world_expect_number(w, "ScannedCount", p.scanned, n);
    world_expect_number(w, "Count", p.matched, matched);
    expect_lines(w, "Query", &p.got, &want);
}

void op_scan(struct world *w)
{
    struct look l;
    struct lines want = {0};
    struct pages p = {.n = 0};
    uint64_t matched;
    size_t n;
    sheaf_result *r;
    draw_look(w, &l, false);
    uint32_t n_segments = world_one_in(w, 2) ? 0 : 1 + (uint32_t)rng_below(&w->rng, 5);
    const struct tree **all = collect(w, &l, false, &n);
    if (is_filling(&l)) l.refusals |= RC_BIT(SHEAF_VALIDATION);
    for (uint32_t s = 0; s == 0 || s < n_segments; s++) {
        const sheaf_item *start = NULL;
        do {
            sheaf_rc rc = scan_page(w, &l, s, n_segments, start, &r);
            world_expect_rc(w, "Scan", rc, l.refusals ? l.refusals : RC_BIT(SHEAF_OK));
            if (rc != SHEAF_OK) return;
            start = take_page(w, &l, &p, r);
        } while (start);
    }
    expected_lines(w, &l, all, n, false, &want, &matched);
    world_expect_number(w, "ScannedCount", p.scanned, n);
    world_expect_number(w, "Count", p.matched, matched);
    expect_lines(w, "Scan", &p.got, &want);
}

void check_items(struct world *w, struct model_table *t)
{
    for (uint32_t i = 0; i <= t->schema->n_indexes + 1; i++) {
        struct look l = {.t = t, .x = i ? model_index_at(t, i - 1) : NULL};
        struct lines want = {0};
        struct pages p = {.n = 0};
        uint64_t matched;
        size_t n;
        sheaf_result *r;
        if ((i && !l.x) || is_filling(&l)) return;
        words_init(&l.words, &w->arena);
        const struct tree **all = collect(w, &l, false, &n);
        const sheaf_item *start = NULL;
        do {
            sheaf_rc rc = scan_page(w, &l, 0, 0, start, &r);
            world_expect_rc(w, "Scan of everything", rc, RC_BIT(SHEAF_OK));
            start = take_page(w, &l, &p, r);
        } while (start);
        expected_lines(w, &l, all, n, false, &want, &matched);
        expect_lines(w, l.x ? l.x->name : t->name, &p.got, &want);
    }
}
