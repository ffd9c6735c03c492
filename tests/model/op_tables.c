/* Operations on whole tables, the clock, and everything that can be compared at once. */
#include "model/world.h"

#include <stdlib.h>

#define RETENTION_US (INT64_C(24) * 3600 * 1000000)
#define TTL_OLDEST_S (INT64_C(1826) * 86400)

/* ---- making and dropping ---- */

static struct sheaf_key public_key(const struct schema_key *k)
{
    return (struct sheaf_key){.name = k->name, .type = k->type};
}

static struct sheaf_index public_index(const struct schema_index *x)
{
    struct sheaf_index out = {.name = x->name, .projection = x->projection};
    for (uint32_t i = 0; i < 4; i++) {
        out.partition_key[i] = public_key(&x->hash[i]);
        out.sort_key[i] = public_key(&x->range[i]);
    }
    if (x->projection != SHEAF_PROJECT_INCLUDE) return out;
    out.include = x->include;
    while (out.n_include < 3 && x->include[out.n_include]) out.n_include++;
    return out;
}

sheaf_rc create_table(struct world *w, const struct model_table *t)
{
    const struct schema *s = t->schema;
    struct sheaf_index global[4], local[4];
    size_t n_global = 0, n_local = 0;
    for (uint32_t i = 0; i < s->n_indexes; i++) {
        if (s->indexes[i].is_local)
            local[n_local++] = public_index(&s->indexes[i]);
        else
            global[n_global++] = public_index(&s->indexes[i]);
    }
    w->n_calls++;
    return sheaf_create_table(w->db,
                              &(struct sheaf_create_table){.table = t->name,
                                                           .partition_key = public_key(&s->hash),
                                                           .sort_key = public_key(&s->range),
                                                           .global_indexes = global,
                                                           .n_global_indexes = n_global,
                                                           .local_indexes = local,
                                                           .n_local_indexes = n_local,
                                                           .stream = s->stream,
                                                           .error = &w->err},
                              NULL);
}

sheaf_rc switch_ttl(struct world *w, struct model_table *t, bool is_on)
{
    w->n_calls++;
    return sheaf_update_time_to_live(
        w->db,
        &(struct sheaf_update_time_to_live){
            .table = t->name, .attribute = "ttl", .enabled = is_on, .error = &w->err},
        NULL);
}

/* Requests with tokens name tables: a table that comes back is another one. */
static void forget_tokens(struct world *w) { memset(w->tokens, 0, sizeof w->tokens); }

void begin_table(struct model_table *t)
{
    model_clear(t);
    t->exists = true;
    t->view = t->schema->stream;
    t->is_streaming = t->view != SHEAF_STREAM_NONE;
    t->has_ttl = t->schema->has_ttl;
}

void make_table(struct world *w, struct model_table *t)
{
    sheaf_rc rc = create_table(w, t);
    world_expect_rc(w, "CreateTable", rc, RC_BIT(t->exists ? SHEAF_RESOURCE_IN_USE : SHEAF_OK));
    if (rc != SHEAF_OK) return;
    begin_table(t);
    forget_tokens(w);
    if (!t->schema->has_ttl) return;
    world_expect_rc(w, "UpdateTimeToLive", switch_ttl(w, t, true), RC_BIT(SHEAF_OK));
}

static void drop_table(struct world *w, struct model_table *t)
{
    world_say(w, "DeleteTable %s\n", t->name);
    w->n_calls++;
    sheaf_rc rc = sheaf_delete_table(
        w->db, &(struct sheaf_table_name){.table = t->name, .error = &w->err}, NULL);
    world_expect_rc(w, "DeleteTable", rc, RC_BIT(t->exists ? SHEAF_OK : SHEAF_RESOURCE_NOT_FOUND));
    if (rc != SHEAF_OK) return;
    model_clear(t);
    forget_tokens(w);
}

/* ---- changing ---- */

static sheaf_rc update(struct world *w, struct sheaf_update_table q)
{
    q.error = &w->err;
    w->n_calls++;
    return sheaf_update_table(w->db, &q, NULL);
}

static uint64_t unless_missing(const struct model_table *t, sheaf_rc rc)
{
    return RC_BIT(t->exists ? rc : SHEAF_RESOURCE_NOT_FOUND);
}

static void add_index(struct world *w, struct model_table *t)
{
    struct sheaf_index x = public_index(&schema_late);
    world_say(w, "UpdateTable %s: create index late\n", t->name);
    sheaf_rc rc = update(w, (struct sheaf_update_table){.table = t->name, .create_index = &x});
    world_expect_rc(w, "UpdateTable (create index)", rc,
                    unless_missing(t, t->has_late ? SHEAF_VALIDATION : SHEAF_OK));
    if (rc == SHEAF_OK) t->has_late = t->is_late_filling = true;
}

static void drop_index(struct world *w, struct model_table *t)
{
    world_say(w, "UpdateTable %s: delete index late\n", t->name);
    sheaf_rc rc =
        update(w, (struct sheaf_update_table){.table = t->name, .delete_index = schema_late.name});
    world_expect_rc(w, "UpdateTable (delete index)", rc,
                    unless_missing(t, t->has_late ? SHEAF_OK : SHEAF_RESOURCE_NOT_FOUND));
    if (rc == SHEAF_OK) t->has_late = t->is_late_filling = false;
}

static void change_stream(struct world *w, struct model_table *t)
{
    bool is_on = world_one_in(w, 2);
    enum sheaf_stream_view view =
        (enum sheaf_stream_view)(SHEAF_STREAM_KEYS_ONLY + rng_below(&w->rng, 4));
    w->now_us += 2000; /* a stream is named by its millisecond */
    world_say(w, "UpdateTable %s: stream %s\n", t->name, is_on ? "on" : "off");
    sheaf_rc rc =
        update(w, (struct sheaf_update_table){.table = t->name,
                                              .stream = is_on ? SHEAF_ON : SHEAF_OFF,
                                              .stream_view = is_on ? view : SHEAF_STREAM_NONE});
    world_expect_rc(w, "UpdateTable (stream)", rc,
                    unless_missing(t, is_on == t->is_streaming ? SHEAF_VALIDATION : SHEAF_OK));
    if (rc != SHEAF_OK) return;
    t->is_streaming = is_on;
    t->stream_off_us = w->now_us;
    if (!is_on) return;
    t->view = view;
    model_clear_log(t);
}

static void change_ttl(struct world *w, struct model_table *t)
{
    bool is_on = world_one_in(w, 2);
    world_say(w, "UpdateTimeToLive %s %s\n", t->name, is_on ? "on" : "off");
    sheaf_rc rc = switch_ttl(w, t, is_on);
    world_expect_rc(w, "UpdateTimeToLive", rc,
                    unless_missing(t, is_on == t->has_ttl ? SHEAF_VALIDATION : SHEAF_OK));
    if (rc == SHEAF_OK) t->has_ttl = is_on;
}

static void protect(struct world *w, struct model_table *t)
{
    if (!t->exists) return;
    world_say(w, "UpdateTable %s: protected, deleted, not protected\n", t->name);
    sheaf_rc rc =
        update(w, (struct sheaf_update_table){.table = t->name, .deletion_protection = SHEAF_ON});
    world_expect_rc(w, "UpdateTable (protection)", rc, RC_BIT(SHEAF_OK));
    rc = sheaf_delete_table(w->db, &(struct sheaf_table_name){t->name, &w->err}, NULL);
    world_expect_rc(w, "DeleteTable of a protected one", rc, RC_BIT(SHEAF_VALIDATION));
    rc = update(w, (struct sheaf_update_table){.table = t->name, .deletion_protection = SHEAF_OFF});
    world_expect_rc(w, "UpdateTable (protection)", rc, RC_BIT(SHEAF_OK));
}

static void list_tables(struct world *w)
{
    uint32_t limit = 1 + (uint32_t)rng_below(&w->rng, 4), n = 0;
    char after[64] = "";
    sheaf_result *r;
    world_say(w, "ListTables by %u\n", limit);
    do {
        sheaf_rc rc = sheaf_list_tables(
            w->db,
            &(struct sheaf_list_tables){.exclusive_start_table_name = *after ? after : NULL,
                                        .limit = limit,
                                        .error = &w->err},
            &r);
        world_expect_rc(w, "ListTables", rc, RC_BIT(SHEAF_OK));
        for (size_t i = 0; i < sheaf_result_name_count(r); i++, n++) {
            while (n < N_TABLES && !w->tables[n].exists) n++;
            if (n == N_TABLES || strcmp(sheaf_result_name(r, i), w->tables[n].name) != 0)
                world_differs(w, "ListTables names %s", sheaf_result_name(r, i));
        }
        const char *last = sheaf_result_last_name(r);
        snprintf(after, sizeof after, "%s", last ? last : "");
        sheaf_result_free(r);
    } while (*after);
    while (n < N_TABLES && !w->tables[n].exists) n++;
    world_expect_number(w, "ListTables", n, N_TABLES);
}

static void reopen(struct world *w)
{
    if (!w->directory) return;
    world_say(w, "close and open again\n");
    world_expect_rc(w, "sheaf_open", world_reopen(w), RC_BIT(SHEAF_OK));
}

void op_tables(struct world *w)
{
    struct model_table *t = world_table(w);
    switch (rng_below(&w->rng, 12)) {
    case 0:
        drop_table(w, t);
        if (world_one_in(w, 3)) return;
        /* fallthrough */
    case 1:
    case 2:
        world_say(w, "CreateTable %s\n", t->name);
        make_table(w, t);
        return;
    case 3:
    case 4:
        add_index(w, t);
        return;
    case 5:
        drop_index(w, t);
        return;
    case 6:
        change_stream(w, t);
        return;
    case 7:
        change_ttl(w, t);
        return;
    case 8:
        protect(w, t);
        return;
    case 9:
        list_tables(w);
        return;
    default:
        reopen(w);
    }
}

/* ---- time ---- */

void op_clock(struct world *w)
{
    int64_t seconds = (int64_t)rng_below(&w->rng, 30);
    if (world_one_in(w, 30)) seconds = 700;        /* tokens end */
    if (world_one_in(w, 120)) seconds = 15 * 3600; /* and, in two steps, stream records */
    w->now_us += seconds * 1000000 + (int64_t)rng_below(&w->rng, 1000000);
    world_say(w, "%llds pass\n", (long long)seconds);
}

static bool is_expired(const struct world *w, const struct tree *item)
{
    const struct tree *v = tree_find(item, "ttl");
    int64_t now_s = (w->now_us - 1) / 1000000;
    if (!v || v->type != SHEAF_N || v->cents < 0) return false;
    return v->cents / 100 <= now_s && v->cents / 100 >= now_s - TTL_OLDEST_S;
}

static void expire(struct world *w, struct model_table *t)
{
    size_t i = 0;
    w->n_sweeps++;
    while (i < t->n) {
        struct tree key;
        if (!is_expired(w, &t->items[i]->v)) {
            i++;
            continue;
        }
        key = key_of(&w->arena, t, NULL, &t->items[i]->v);
        key = tree_dup(&w->arena, &key);
        model_write(t, &key, NULL, w->now_us, w->n_sweeps); /* the last one takes its place */
    }
}

void op_background(struct world *w)
{
    world_say(w, "background\n");
    /* The second call sweeps what the first one has only found. */
    for (int i = 0; i < 2; i++) {
        w->n_calls++;
        world_expect_rc(w, "sheaf_run_background", sheaf_run_background(w->db, &w->err),
                        RC_BIT(SHEAF_OK));
    }
    for (uint32_t i = 0; i < N_TABLES; i++) {
        w->tables[i].is_late_filling = false;
        if (w->tables[i].has_ttl) expire(w, &w->tables[i]);
    }
}

/* ---- counting ---- */

static void expect_index(struct world *w, const struct model_table *t,
                         const struct sheaf_index_description *d)
{
    const struct schema_index *x;
    uint32_t i = 0;
    while ((x = model_index_at(t, i)) && strcmp(x->name, d->name) != 0) i++;
    if (!x) world_differs(w, "DescribeTable %s names an index %s", t->name, d->name);
    if (x == &schema_late && t->is_late_filling) return;
    struct count want = model_count(&w->arena, t, x, NULL);
    char what[200];
    snprintf(what, sizeof what, "ItemCount of %s %s", t->name, d->name);
    world_expect_number(w, what, d->item_count, want.items);
    snprintf(what, sizeof what, "IndexSizeBytes of %s %s", t->name, d->name);
    world_expect_number(w, what, d->size_bytes, want.bytes);
    if (strcmp(d->status, "ACTIVE") != 0) world_differs(w, "%s is %s", d->name, d->status);
}

void check_counts(struct world *w, struct model_table *t)
{
    sheaf_result *r;
    w->n_calls++;
    sheaf_rc rc = sheaf_describe_table(w->db, &(struct sheaf_table_name){t->name, &w->err}, &r);
    world_expect_rc(w, "DescribeTable", rc, unless_missing(t, SHEAF_OK));
    if (rc != SHEAF_OK) return;
    const struct sheaf_table_description *d = sheaf_result_table(r);
    struct count want = model_count(&w->arena, t, NULL, NULL);
    world_expect_number(w, "ItemCount", d->item_count, want.items);
    world_expect_number(w, "TableSizeBytes", d->size_bytes, want.bytes);
    world_expect_number(w, "indexes", d->n_indexes, t->schema->n_indexes + t->has_late);
    world_expect_number(w, "stream", d->stream, t->is_streaming ? t->view : SHEAF_STREAM_NONE);
    world_expect_number(w, "TTL", d->ttl_attribute != NULL, t->has_ttl);
    for (uint32_t i = 0; i < d->n_indexes; i++) expect_index(w, t, sheaf_table_index(d, i));
    sheaf_result_free(r);
}

void op_describe(struct world *w)
{
    struct model_table *t = world_table(w);
    world_say(w, "DescribeTable %s\n", t->name);
    check_counts(w, t);
}

void op_collection(struct world *w)
{
    struct model_table *t = world_table(w);
    uint32_t n = 0;
    while (model_index_at(t, n)) n++;
    const struct schema_index *x = model_index_at(t, (uint32_t)rng_below(&w->rng, n + 1));
    if (x == &schema_late && t->is_late_filling) return;
    struct tree partition = tree_box(&w->arena, SHEAF_M, 4);
    const struct schema_key *keys = x ? x->hash : &t->schema->hash;
    for (uint32_t i = 0; i < (x ? schema_count(x->hash) : 1); i++) {
        uint32_t room = strcmp(keys[i].name, "pk") == 0   ? w->domain.n_hash
                        : strcmp(keys[i].name, "sk") == 0 ? w->domain.n_range
                                                          : w->domain.n_index;
        tree_set(&partition, keys[i].name,
                 draw_key_value(&w->draw, keys[i].type, rng_below(&w->rng, room)));
    }
    sheaf_result *r;
    world_say(w, "collection %s %s %s\n", t->name, x ? x->name : "", world_text(w, &partition));
    w->n_calls++;
    sheaf_rc rc = sheaf_describe_collection(
        w->db,
        &(struct sheaf_collection_stats){.table = t->name,
                                         .index = x ? x->name : NULL,
                                         .partition_key = tree_to_item(&w->arena, &partition),
                                         .error = &w->err},
        &r);
    world_expect_rc(w, "sheaf_describe_collection", rc, unless_missing(t, SHEAF_OK));
    if (rc != SHEAF_OK) return;
    struct count want = model_count(&w->arena, t, x, &partition);
    const struct sheaf_collection *got = sheaf_result_collection(r, 0);
    if (!got) world_differs(w, "no collection");
    world_expect_number(w, "items of a collection", got->items, want.items);
    world_expect_number(w, "bytes of a collection", got->bytes, want.bytes);
    sheaf_result_free(r);
}

/* ---- streams ---- */

struct record {
    const char *partition, *text;
    uint32_t sweep;
    size_t order;
};
struct records {
    struct record *at;
    size_t n, cap;
};

static void add_record(struct world *w, struct records *all, struct record r)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 256;
        struct record *more = tree_room(&w->arena, cap * sizeof *more);
        if (all->n) memcpy(more, all->at, all->n * sizeof *more);
        *all = (struct records){more, all->n, cap};
    }
    r.order = all->n;
    all->at[all->n++] = r;
}

static const char *record_text(struct world *w, const char *event, const char *const parts[3],
                               int64_t at_us, bool is_ttl)
{
    size_t n = strlen(parts[0]) + strlen(parts[1]) + strlen(parts[2]) + 200;
    char *text = tree_room(&w->arena, n);
    snprintf(text, n, "%s keys %s old %s new %s at %lld%s", event, parts[0], parts[1], parts[2],
             (long long)at_us, is_ttl ? " by TTL" : "");
    return text;
}

static void expected_records(struct world *w, const struct model_table *t, struct records *out)
{
    bool shows_new =
        t->view == SHEAF_STREAM_NEW_IMAGE || t->view == SHEAF_STREAM_NEW_AND_OLD_IMAGES;
    bool shows_old =
        t->view == SHEAF_STREAM_OLD_IMAGE || t->view == SHEAF_STREAM_NEW_AND_OLD_IMAGES;
    for (size_t i = 0; i < t->n_log; i++) {
        const struct logged *l = &t->log[i];
        if (l->at_us <= w->now_us - RETENTION_US) continue;
        const struct tree *any = l->new ? &l->new->v : &l->old->v;
        struct tree key = key_of(&w->arena, t, NULL, any);
        const char *parts[3] = {world_text(w, &key),
                                world_text(w, shows_old && l->old ? &l->old->v : NULL),
                                world_text(w, shows_new && l->new ? &l->new->v : NULL)};
        const char *event = !l->old ? "INSERT" : l->new ? "MODIFY" : "REMOVE";
        add_record(w, out,
                   (struct record){.partition = world_text(w, tree_find(any, t->schema->hash.name)),
                                   .text = record_text(w, event, parts, l->at_us, l->sweep),
                                   .sweep = l->sweep});
    }
}

static const char *image_text(struct world *w, const sheaf_item *item)
{
    if (!item) return "-";
    struct tree t = tree_of_item(&w->arena, item);
    return world_text(w, &t);
}

static void take_records(struct world *w, const struct model_table *t, const sheaf_result *r,
                         char last[64], struct records *out)
{
    for (size_t i = 0; i < sheaf_result_record_count(r); i++) {
        const struct sheaf_stream_record *got = sheaf_result_record(r, i);
        if (!got) world_differs(w, "record %zu is missing", i);
        if (strcmp(got->sequence_number, last) <= 0)
            world_differs(w, "sequence number %s after %s", got->sequence_number, last);
        snprintf(last, 64, "%s", got->sequence_number);
        const char *parts[3] = {image_text(w, got->keys), image_text(w, got->old_image),
                                image_text(w, got->new_image)};
        struct tree keys = tree_of_item(&w->arena, got->keys);
        if (!world_owns(w, t, &keys)) continue;
        add_record(
            w, out,
            (struct record){
                .partition = world_text(w, tree_find(&keys, t->schema->hash.name)),
                .text = record_text(w, got->event_name, parts, got->created_us, got->is_ttl)});
    }
}

/* The records of one page behind a new iterator. The caller frees it. */
static sheaf_result *read_from(struct world *w, const struct sheaf_get_shard_iterator *q,
                               uint32_t limit)
{
    sheaf_result *it, *r;
    w->n_calls += 2;
    world_expect_rc(w, "GetShardIterator", sheaf_get_shard_iterator(w->db, q, &it),
                    RC_BIT(SHEAF_OK));
    sheaf_rc rc = sheaf_get_records(
        w->db,
        &(struct sheaf_get_records){
            .shard_iterator = sheaf_result_iterator(it), .limit = limit, .error = &w->err},
        &r);
    world_expect_rc(w, "GetRecords", rc, RC_BIT(SHEAF_OK));
    sheaf_result_free(it);
    return r;
}

/* AT and AFTER the sequence number of the n-th record of a page, and behind the LATEST. */
static void check_places(struct world *w, struct sheaf_get_shard_iterator q,
                         const sheaf_result *page)
{
    size_t n = sheaf_result_record_count(page), i = n ? (size_t)rng_below(&w->rng, n) : 0;
    sheaf_result *r;
    for (int after = 0; after < 2 && n; after++) {
        q.type = after ? SHEAF_AFTER_SEQUENCE_NUMBER : SHEAF_AT_SEQUENCE_NUMBER;
        q.sequence_number = sheaf_result_record(page, i)->sequence_number;
        r = read_from(w, &q, 1);
        const struct sheaf_stream_record *got = sheaf_result_record(r, 0);
        const struct sheaf_stream_record *want =
            sheaf_result_record(page, i + (size_t)after); /* NULL behind the page */
        if (want && (!got || strcmp(got->sequence_number, want->sequence_number) != 0))
            world_differs(w, "%s %s gives %s", after ? "AFTER" : "AT", q.sequence_number,
                          got ? got->sequence_number : "nothing");
        sheaf_result_free(r);
    }
    q.type = SHEAF_LATEST;
    q.sequence_number = NULL;
    r = read_from(w, &q, 0);
    world_expect_number(w, "records behind LATEST", sheaf_result_record_count(r), 0);
    sheaf_result_free(r);
}

static void read_shard(struct world *w, const struct model_table *t, const char *arn,
                       const char *shard, struct records *out)
{
    char last[64] = "";
    size_t n;
    uint32_t limit = world_one_in(w, 2) ? 0 : 1 + (uint32_t)rng_below(&w->rng, 1000);
    struct sheaf_get_shard_iterator q = {
        .stream_arn = arn, .shard_id = shard, .type = SHEAF_TRIM_HORIZON, .error = &w->err};
    sheaf_result *r = read_from(w, &q, limit), *next;
    check_places(w, q, r);
    take_records(w, t, r, last, out);
    do {
        const char *iterator = sheaf_result_iterator(r);
        if (!iterator) break;
        w->n_calls++;
        sheaf_rc rc =
            sheaf_get_records(w->db,
                              &(struct sheaf_get_records){
                                  .shard_iterator = iterator, .limit = limit, .error = &w->err},
                              &next);
        world_expect_rc(w, "GetRecords", rc, RC_BIT(SHEAF_OK));
        sheaf_result_free(r);
        r = next;
        n = sheaf_result_record_count(r);
        take_records(w, t, r, last, out);
    } while (n);
    sheaf_result_free(r);
}

static void read_stream(struct world *w, const struct model_table *t, const char *arn,
                        struct records *out)
{
    sheaf_result *r;
    sheaf_rc rc = sheaf_describe_stream(
        w->db, &(struct sheaf_describe_stream){.stream_arn = arn, .error = &w->err}, &r);
    world_expect_rc(w, "DescribeStream", rc, RC_BIT(SHEAF_OK));
    for (size_t i = 0; i < sheaf_result_shard_count(r); i++)
        read_shard(w, t, arn, sheaf_result_shard(r, i)->id, out);
    sheaf_result_free(r);
}

static int by_partition(const void *pa, const void *pb)
{
    const struct record *a = pa, *b = pb;
    int c = strcmp(a->partition, b->partition);
    return c ? c : (a->order > b->order) - (a->order < b->order);
}

static int by_record_text(const void *pa, const void *pb)
{
    const struct record *a = pa, *b = pb;
    return strcmp(a->text, b->text);
}

/* Inside one sweep of TTL the order is not given. */
static void expect_records(struct world *w, struct records *got, struct records *want)
{
    world_expect_number(w, "stream records", got->n, want->n);
    if (got->n == 0) return;
    qsort(got->at, got->n, sizeof *got->at, by_partition);
    qsort(want->at, want->n, sizeof *want->at, by_partition);
    for (size_t i = 0, end; i < want->n; i = end) {
        const struct record *first = &want->at[i];
        for (end = i + 1; end < want->n && first->sweep && want->at[end].sweep == first->sweep &&
                          strcmp(want->at[end].partition, first->partition) == 0;
             end++) {}
        qsort(&got->at[i], end - i, sizeof *got->at, by_record_text);
        qsort(&want->at[i], end - i, sizeof *want->at, by_record_text);
        for (size_t k = i; k < end; k++)
            if (strcmp(got->at[k].text, want->at[k].text) != 0)
                world_differs(w, "stream record: got %.3000s, wanted %.3000s", got->at[k].text,
                              want->at[k].text);
    }
}

void check_stream(struct world *w, struct model_table *t)
{
    struct records got = {0}, want = {0};
    sheaf_result *r;
    if (!t->exists || t->view == SHEAF_STREAM_NONE) return;
    /* A stream that was switched off goes away with its last record. */
    if (!t->is_streaming && t->stream_off_us <= w->now_us - RETENTION_US) return;
    sheaf_rc rc = sheaf_describe_table(w->db, &(struct sheaf_table_name){t->name, &w->err}, &r);
    world_expect_rc(w, "DescribeTable", rc, RC_BIT(SHEAF_OK));
    const char *arn = sheaf_result_table(r)->stream_arn;
    if (!arn && t->is_streaming) world_differs(w, "a stream without an ARN");
    if (arn) {
        read_stream(w, t, arn, &got);
        expected_records(w, t, &want);
        expect_records(w, &got, &want);
    }
    sheaf_result_free(r);
}

void op_stream(struct world *w)
{
    struct model_table *t = world_table(w);
    world_say(w, "stream of %s\n", t->name);
    check_stream(w, t);
}

/* ---- everything ---- */

struct complaints {
    char first[500];
    size_t n;
};

static bool complain(void *ctx, const char *what)
{
    struct complaints *c = ctx;
    if (c->n++ == 0) snprintf(c->first, sizeof c->first, "%s", what);
    return true;
}

void check_verify(struct world *w)
{
    struct complaints c = {.n = 0};
    w->n_calls++;
    sheaf_rc rc = sheaf_verify(w->db, complain, &c, &w->err);
    if (c.n) world_differs(w, "sheaf_verify complains %zu times: %s", c.n, c.first);
    world_expect_rc(w, "sheaf_verify", rc, RC_BIT(SHEAF_OK));
}

void op_check(struct world *w)
{
    world_say(w, "check everything\n");
    for (uint32_t i = 0; i < N_TABLES; i++) {
        check_counts(w, &w->tables[i]);
        if (!w->tables[i].exists) continue;
        check_items(w, &w->tables[i]);
        check_stream(w, &w->tables[i]);
    }
    check_verify(w);
}
