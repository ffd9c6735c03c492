/* Turns texts into tables and items of a database, and what it stored back into texts and counts.
 * Know before editing: test_check_table is the judge of index entries and statistics, so it uses
 * only the engine, the item encoding and rows.c, nothing of the write path. */
#include "support/core_support.h"

#include <ctype.h>

enum { ARENA_MAX = 512 << 20 };

void core_test_init_on(struct core_test *t, sheaf_engine *engine,
                       const struct core_options *options)
{
    *t = (struct core_test){.engine = engine};
    arena_init(&t->arena, ARENA_MAX);
    t->ctx = (struct ctx){&t->arena, &t->err};
    if (core_open(engine, options, &t->core, &t->err) != SHEAF_OK)
        fail_msg("core_open: %s", t->err.message);
}

void core_test_init(struct core_test *t, const struct core_options *options)
{
    sheaf_engine *engine;
    assert_ok(sheaf_engine_open_mem(NULL, &engine, NULL));
    core_test_init_on(t, engine, options);
}

void core_test_deinit(struct core_test *t)
{
    core_close(t->core);
    arena_deinit(&t->arena);
}

/* ---- tables from text ---- */

struct text {
    struct arena *a;
    const char *all, *at;
};

static _Noreturn void bad(const struct text *x)
{
    fail_msg("test_table: cannot read \"%s\" at \"%s\"", x->all, x->at);
    abort();
}

static bool accept(struct text *x, const char *what)
{
    while (isspace((unsigned char)*x->at)) x->at++;
    size_t n = strlen(what);
    if (strncmp(x->at, what, n) != 0) return false;
    if (isalnum((unsigned char)what[0]) && (isalnum((unsigned char)x->at[n]) || x->at[n] == '_'))
        return false;
    x->at += n;
    return true;
}

static span read_name(struct text *x)
{
    while (isspace((unsigned char)*x->at)) x->at++;
    const char *from = x->at;
    while (isalnum((unsigned char)*x->at) || *x->at == '_' || *x->at == '.' || *x->at == '-')
        x->at++;
    if (x->at == from) bad(x);
    span s = arena_dup(x->a, SPAN(from, (size_t)(x->at - from)));
    if (!s.p) fail_msg("test_table: out of memory");
    return s;
}

static struct core_key read_key(struct text *x)
{
    struct core_key k = {.name = read_name(x)};
    if (!accept(x, ":") || !val_type_parse(SPAN(x->at, 1), &k.type)) bad(x);
    x->at++;
    return k;
}

static uint32_t read_keys(struct text *x, struct core_key keys[4])
{
    uint32_t n = 0;
    do {
        if (n == 4) bad(x);
        keys[n++] = read_key(x);
    } while (accept(x, ","));
    return n;
}

static void read_projection(struct text *x, struct core_index_def *def)
{
    static const uint32_t max = 20;
    span *include = ARENA_ARRAY(x->a, span, max);
    if (!include) fail_msg("test_table: out of memory");
    def->include = include;
    if (accept(x, "ALL")) {
        def->projection = CORE_PROJECT_ALL;
    } else if (accept(x, "KEYS_ONLY")) {
        def->projection = CORE_PROJECT_KEYS_ONLY;
    } else if (accept(x, "INCLUDE")) {
        def->projection = CORE_PROJECT_INCLUDE;
        do {
            if (def->n_include == max) bad(x);
            include[def->n_include++] = read_name(x);
        } while (accept(x, ","));
    } else {
        bad(x);
    }
}

static void read_index(struct text *x, struct core *core, struct table_index *out)
{
    *out = (struct table_index){.status = CORE_ACTIVE, .space = cat_take_number(core)};
    struct core_index_def *def = &out->def;
    def->is_local = accept(x, "local");
    def->name = read_name(x);
    if (!accept(x, "(")) bad(x);
    def->n_hash = read_keys(x, def->hash);
    if (accept(x, "|")) def->n_range = read_keys(x, def->range);
    if (!accept(x, ")")) bad(x);
    read_projection(x, def);
}

static void define(struct core_key *all, uint32_t *n, const struct core_key *k)
{
    for (uint32_t i = 0; i < *n; i++)
        if (span_eq(all[i].name, k->name)) return;
    all[(*n)++] = *k;
}

static void fill_definitions(struct table *t)
{
    struct core_key *all = ARENA_ARRAY(&t->arena, struct core_key, 2 + 8 * t->n_indexes);
    uint32_t n = 0;
    if (!all) fail_msg("test_table: out of memory");
    define(all, &n, &t->hash);
    if (t->has_range) define(all, &n, &t->range);
    for (uint32_t i = 0; i < t->n_indexes; i++) {
        const struct core_index_def *d = &t->indexes[i].def;
        for (uint32_t k = 0; k < d->n_hash; k++) define(all, &n, &d->hash[k]);
        for (uint32_t k = 0; k < d->n_range; k++) define(all, &n, &d->range[k]);
    }
    t->definitions = all;
    t->n_definitions = n;
}

static void fill_table(struct core *core, struct table *t, const char *name)
{
    struct arena *a = &t->arena;
    t->name = arena_dup(a, span_cstr(name));
    t->id = arena_dup(a, SPAN_LIT("11111111-2222-3333-4444-555555555555"));
    t->indexes = ARENA_ARRAY(a, struct table_index, 25);
    t->streams = ARENA_ARRAY(a, struct table_stream, 1);
    t->gauges = gauges_new();
    if (!t->name.p || !t->id.p || !t->indexes || !t->streams || !t->gauges)
        fail_msg("test_table: out of memory");
    t->number = cat_take_number(core);
    t->space = cat_take_number(core);
    t->stats_space = cat_take_number(core);
    t->created_us = core_now_us(core);
}

static void install(struct core *core, struct table *old, struct table *t)
{
    sheaf_error err;
    if (table_set_catalog_key(core, t, &err) != SHEAF_OK ||
        cat_install(core, old, t, NULL, &err) != SHEAF_OK)
        fail_msg("test_table: %s", err.message);
}

struct table *test_table(struct core *core, const char *name, const char *hash, const char *range,
                         const char *indexes)
{
    struct table *t = table_new();
    if (!t) fail_msg("test_table: out of memory");
    struct text h = {&t->arena, hash, hash}, r = {&t->arena, range, range},
                x = {&t->arena, indexes, indexes};
    cat_enter_exclusive(core);
    fill_table(core, t, name);
    t->hash = read_key(&h);
    t->has_range = range != NULL;
    if (range) t->range = read_key(&r);
    if (indexes) do {
            read_index(&x, core, &t->indexes[t->n_indexes]);
            if (t->indexes[t->n_indexes].def.is_local) t->has_local = true;
            t->n_indexes++;
        } while (accept(&x, ";"));
    fill_definitions(t);
    install(core, NULL, t);
    cat_leave_exclusive(core);
    return t;
}

struct table *test_change_table(struct core *core, const char *name, test_change_fn change)
{
    sheaf_error err;
    struct table *copy = NULL;
    cat_enter_exclusive(core);
    struct table *old = cat_find_entered(core, span_cstr(name));
    if (!old || table_copy(old, &copy, &err) != SHEAF_OK) fail_msg("test_change_table: %s", name);
    change(core, copy);
    install(core, old, copy);
    table_unref(old);
    cat_leave_exclusive(core);
    return copy;
}

static enum core_stream_view view_wanted;
static const char *ttl_wanted;

static void add_stream(struct core *core, struct table *t)
{
    span label = arena_dup(&t->arena, SPAN_LIT("2026-11-15T02:03:04.567"));
    t->streams[t->n_streams++] = (struct table_stream){.space = cat_take_number(core),
                                                       .label = label,
                                                       .view = view_wanted,
                                                       .created_us = core_now_us(core)};
}

struct table *test_enable_stream(struct core *core, const char *name, enum core_stream_view view)
{
    view_wanted = view;
    return test_change_table(core, name, add_stream);
}

static void set_ttl(struct core *core, struct table *t)
{
    t->ttl_attribute = arena_dup(&t->arena, span_cstr(ttl_wanted));
    if (!t->ttl_space) t->ttl_space = cat_take_number(core);
}

struct table *test_enable_ttl(struct core *core, const char *name, const char *attribute)
{
    ttl_wanted = attribute;
    return test_change_table(core, name, set_ttl);
}

/* ---- items ---- */

span test_item(struct core_test *t, const char *text) { return doc_text_item(&t->arena, text); }

const char *test_text(struct core_test *t, span item)
{
    return item.p ? doc_val_text(&t->arena, item_map(item)) : "-";
}

static void must_write(struct core_test *t, enum core_action action, const char *table,
                       const char *item)
{
    struct core_write_outcome out;
    struct core_write_item q = {.write = {.action = action,
                                          .table = span_cstr(table),
                                          .item = test_item(t, item),
                                          .env = test_env(&t->arena, NULL, NULL)}};
    if (core_write_item(t->core, &t->ctx, &q, &out) != SHEAF_OK)
        fail_msg("write of %s: %s", item, t->err.message);
}

void test_put(struct core_test *t, const char *table, const char *item)
{
    must_write(t, CORE_PUT, table, item);
}

void test_delete(struct core_test *t, const char *table, const char *key)
{
    must_write(t, CORE_DELETE, table, key);
}

const char *test_get(struct core_test *t, const char *table, const char *key)
{
    struct table *tab = cat_find(t->core, span_cstr(table));
    val item = item_map(test_item(t, key));
    sheaf_engine_key k;
    span value;
    void *pin;
    if (!tab) fail_msg("test_get: no table %s", table);
    assert_ok(row_item_key(t->core, &t->ctx, tab, table_hash_of(tab, item),
                           table_range_of(tab, item), &k));
    assert_ok(eng_read(t->engine, &k, &value, &pin, &t->err));
    const char *text = test_text(t, value);
    eng_read_done(t->engine, pin);
    table_unref(tab);
    return text;
}

/* ---- counting ---- */

static int64_t load_i64(const uint8_t *p)
{
    uint64_t u = 0;
    for (int i = 7; i >= 0; i--) u = u << 8 | p[i];
    return (int64_t)u;
}

struct test_count test_stats(struct core_test *t, const struct table *table, uint64_t space,
                             const sheaf_place *place)
{
    uint8_t s[8];
    sheaf_engine_key k;
    span value;
    void *pin;
    struct test_count n = {0, 0};
    row_stats_key(table, space, place, s, &k);
    assert_ok(eng_read(t->engine, &k, &value, &pin, &t->err));
    if (value.p) {
        assert_int_equal(value.n, 16);
        n = (struct test_count){load_i64(value.p), load_i64((const uint8_t *)value.p + 8)};
    }
    eng_read_done(t->engine, pin);
    return n;
}

/* One walk over a space, row by row, inside its own snapshot. */
struct walk {
    sheaf_txn *txn;
    sheaf_cursor *cursor;
    struct sheaf_row row;
};

static void walk_begin(struct walk *w, struct core_test *t, uint64_t space)
{
    assert_ok(eng_begin(t->engine, SHEAF_TXN_SNAPSHOT, &w->txn, &t->err));
    assert_ok(eng_walk(w->txn, &(struct sheaf_walk){.space = space}, &w->cursor, &t->err));
}

static bool walk_next(struct walk *w, struct core_test *t)
{
    bool has_row;
    assert_ok(eng_next(w->cursor, &w->row, &has_row, &t->err));
    return has_row;
}

static void walk_end(struct walk *w)
{
    eng_cursor_close(w->cursor);
    eng_rollback(w->txn);
}

struct test_count test_walk(struct core_test *t, uint64_t space)
{
    struct test_count n = {0, 0};
    struct walk w;
    walk_begin(&w, t, space);
    while (walk_next(&w, t)) {
        assert_ok(item_check(w.row.value, &t->err));
        n.items++;
        n.bytes += item_size(w.row.value);
    }
    walk_end(&w);
    return n;
}

static void check_count(const char *what, struct test_count kept, struct test_count counted)
{
    if (kept.items != counted.items || kept.bytes != counted.bytes)
        fail_msg("%s: kept %lld items of %lld bytes, counted %lld of %lld", what,
                 (long long)kept.items, (long long)kept.bytes, (long long)counted.items,
                 (long long)counted.bytes);
}

/* Each collection and the whole of one space against what is kept. */
static void check_statistics(struct core_test *t, const struct table *table, uint64_t space)
{
    struct test_count all = {0, 0}, one = {0, 0};
    sheaf_place place = {{0}};
    struct walk w;
    walk_begin(&w, t, space);
    while (walk_next(&w, t)) {
        if (one.items && memcmp(&place, &w.row.key.p, sizeof place) != 0) {
            check_count("a collection", test_stats(t, table, space, &place), one);
            one = (struct test_count){0, 0};
        }
        place = w.row.key.p;
        int64_t bytes = item_size(w.row.value);
        one.items++, all.items++;
        one.bytes += bytes, all.bytes += bytes;
    }
    walk_end(&w);
    if (one.items) check_count("a collection", test_stats(t, table, space, &place), one);
    check_count("the whole", test_stats(t, table, space, NULL), all);
}

/* No statistics but of collections that exist, or zero. */
static struct test_count sum_of_statistics(struct core_test *t, const struct table *table,
                                           uint64_t space)
{
    static const uint8_t whole[16];
    uint8_t s[8];
    struct test_count n = {0, 0};
    struct walk w;
    cat_number_bytes(space, s);
    walk_begin(&w, t, table->stats_space);
    while (walk_next(&w, t)) {
        if (!span_eq(w.row.key.s, SPAN(s, 8)) || !memcmp(w.row.key.p.b + 8, whole, 16)) continue;
        n.items += load_i64(w.row.value.p);
        n.bytes += load_i64((const uint8_t *)w.row.value.p + 8);
    }
    walk_end(&w);
    return n;
}

static void check_entry(struct core_test *t, const struct table *table, const struct table_index *x,
                        span item, int64_t *n_out)
{
    sheaf_engine_key k;
    bool has_entry;
    span want, got;
    void *pin;
    assert_ok(row_index_key(t->core, &t->ctx, table, x, item_map(item), &k, &has_entry));
    if (!has_entry) return;
    ++*n_out;
    assert_ok(row_index_value(&t->ctx, table, x, item, &want));
    assert_ok(eng_read(t->engine, &k, &got, &pin, &t->err));
    if (!got.p || !span_eq(got, want))
        fail_msg("index %.*s: the entry of %s is %s", SPAN_ARG(x->def.name), test_text(t, item),
                 test_text(t, got));
    eng_read_done(t->engine, pin);
}

void test_check_table(struct core_test *t, const char *name)
{
    struct table *table = cat_find(t->core, span_cstr(name));
    if (!table) fail_msg("test_check_table: no table %s", name);
    int64_t entries[32] = {0};
    struct walk w;
    walk_begin(&w, t, table->space);
    while (walk_next(&w, t)) {
        assert_ok(item_check(w.row.value, &t->err));
        for (uint32_t i = 0; i < table->n_indexes; i++)
            check_entry(t, table, &table->indexes[i], w.row.value, &entries[i]);
    }
    walk_end(&w);
    check_statistics(t, table, table->space);
    check_count("all collections", sum_of_statistics(t, table, table->space),
                test_stats(t, table, table->space, NULL));
    for (uint32_t i = 0; i < table->n_indexes; i++) {
        uint64_t space = table->indexes[i].space;
        assert_int_equal(test_walk(t, space).items, entries[i]);
        check_statistics(t, table, space);
        check_count("all collections of an index", sum_of_statistics(t, table, space),
                    test_stats(t, table, space, NULL));
    }
    table_unref(table);
}
