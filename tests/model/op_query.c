/* Reads of collections: what a Query or Scan must return is filtered and sorted from the oracle's
 * array. */
#include "model/lines.h"

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
        l->projection = projection_draw(w, &l->words, l->paths, &l->n_paths);
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
        if (l->select != SHEAF_SELECT_COUNT) lines_add(w, out, world_text(w, &view), group);
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
        if (world_owns(w, l->t, &item)) lines_add(w, &p->got, world_text(w, &item), 0);
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
    lines_expect(w, "Query", &p.got, &want);
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
    lines_expect(w, "Scan", &p.got, &want);
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
        lines_expect(w, l.x ? l.x->name : t->name, &p.got, &want);
    }
}
