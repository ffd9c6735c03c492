/* Turns a number into a change of a table, and what was changed into an expectation. Know before
 * editing: a crash may leave a background round half done. Each of its steps is whole (an item
 * expired, the index filled), so changes_adopt takes over the steps that are there. */
#include "model/changes.h"

#include <stdio.h>
#include <string.h>

#define TABLE "changes"
#define INDEX "by-group"
#define NOW_S INT64_C(1700000000)

/* ---- jobs ---- */

struct change_job changes_draw(uint64_t seed, uint64_t n)
{
    static const enum change_kind kinds[] = {
        CHANGE_PUT,       CHANGE_PUT,        CHANGE_PUT,        CHANGE_PUT,      CHANGE_PUT,
        CHANGE_PUT,       CHANGE_PUT,        CHANGE_PUT,        CHANGE_PUT,      CHANGE_DELETE,
        CHANGE_DELETE,    CHANGE_BACKGROUND, CHANGE_BACKGROUND, CHANGE_INDEX_ON, CHANGE_INDEX_OFF,
        CHANGE_STREAM_ON, CHANGE_STREAM_OFF, CHANGE_TTL_ON,     CHANGE_TTL_OFF};
    struct rng r;
    rng_init(&r, (seed * 31 + 77) * UINT64_C(0x9e3779b97f4a7c15) + n);
    return (struct change_job){.kind = kinds[rng_below(&r, sizeof kinds / sizeof *kinds)],
                               .n = n,
                               .key = (unsigned)rng_below(&r, CHANGES_KEYS),
                               .group = (unsigned)rng_below(&r, 4),
                               .is_expired = rng_below(&r, 4) == 0};
}

sheaf_rc changes_create(sheaf_db *db, sheaf_error *err)
{
    sheaf_rc rc =
        sheaf_create_table(db,
                           &(struct sheaf_create_table){
                               .table = TABLE, .partition_key = {"pk", SHEAF_N}, .error = err},
                           NULL);
    return rc == SHEAF_RESOURCE_IN_USE ? SHEAF_OK : rc;
}

static sheaf_rc put(sheaf_db *db, const struct change_job *j, sheaf_error *err)
{
    sheaf_attr attributes[4] = {{"pk", sheaf_int(j->key)}, {"v", sheaf_int((int64_t)j->n)}};
    sheaf_item item = {attributes, 2, NULL};
    if (j->group) attributes[item.n++] = (sheaf_attr){"g", sheaf_int(j->group)};
    if (j->is_expired) attributes[item.n++] = (sheaf_attr){"ttl", sheaf_int(NOW_S - 10)};
    return sheaf_put_item(db, &(struct sheaf_put_item){.table = TABLE, .item = &item, .error = err},
                          NULL);
}

static sheaf_rc change_table(sheaf_db *db, const struct change_job *j, sheaf_error *err)
{
    struct sheaf_index index = {.name = INDEX, .partition_key = {{"g", SHEAF_N}}};
    struct sheaf_update_table q = {.table = TABLE, .error = err};
    if (j->kind == CHANGE_INDEX_ON) q.create_index = &index;
    if (j->kind == CHANGE_INDEX_OFF) q.delete_index = INDEX;
    if (j->kind == CHANGE_STREAM_ON) q.stream_view = SHEAF_STREAM_NEW_AND_OLD_IMAGES;
    if (j->kind == CHANGE_STREAM_ON) q.stream = SHEAF_ON;
    if (j->kind == CHANGE_STREAM_OFF) q.stream = SHEAF_OFF;
    return sheaf_update_table(db, &q, NULL);
}

/* The second run expires what the first gave an expiry row. Rounds promise no durability; the read
 * behind them waits for what it sees. */
static sheaf_rc run_background(sheaf_db *db, sheaf_error *err)
{
    sheaf_rc rc = sheaf_run_background(db, err);
    if (rc == SHEAF_OK) rc = sheaf_run_background(db, err);
    if (rc != SHEAF_OK) return rc;
    return sheaf_describe_table(db, &(struct sheaf_table_name){.table = TABLE, .error = err}, NULL);
}

sheaf_rc changes_call(sheaf_db *db, const struct change_job *j, sheaf_error *err)
{
    switch (j->kind) {
    case CHANGE_PUT:
        return put(db, j, err);
    case CHANGE_DELETE:
        return sheaf_delete_item(
            db,
            &(struct sheaf_delete_item){
                .table = TABLE, .key = SHEAF_ITEM({"pk", sheaf_int(j->key)}), .error = err},
            NULL);
    case CHANGE_BACKGROUND:
        return run_background(db, err);
    case CHANGE_TTL_ON:
    case CHANGE_TTL_OFF:
        return sheaf_update_time_to_live(
            db,
            &(struct sheaf_update_time_to_live){.table = TABLE,
                                                .attribute = "ttl",
                                                .enabled = j->kind == CHANGE_TTL_ON,
                                                .error = err},
            NULL);
    default:
        return change_table(db, j, err);
    }
}

/* ---- the oracle ---- */

sheaf_rc changes_judge(const struct changes *c, const struct change_job *j)
{
    bool is_refused = (j->kind == CHANGE_INDEX_ON && c->has_index) ||
                      (j->kind == CHANGE_STREAM_ON && c->is_streaming) ||
                      (j->kind == CHANGE_STREAM_OFF && !c->is_streaming) ||
                      (j->kind == CHANGE_TTL_ON && c->has_ttl) ||
                      (j->kind == CHANGE_TTL_OFF && !c->has_ttl);
    if (j->kind == CHANGE_INDEX_OFF && !c->has_index) return SHEAF_RESOURCE_NOT_FOUND;
    return is_refused ? SHEAF_VALIDATION : SHEAF_OK;
}

static void digest(uint64_t *n, uint64_t *events, char kind, uint64_t version)
{
    ++*n;
    *events = (*events ^ ((uint64_t)kind << 56) ^ version) * UINT64_C(0x100000001b3) + 1;
}

static void note_event(struct changes *c, unsigned key, char kind, uint64_t version)
{
    if (c->is_streaming) digest(&c->items[key].n_events, &c->items[key].events, kind, version);
}

static void take_away(struct changes *c, unsigned key, char kind)
{
    if (!c->items[key].is_there) return;
    note_event(c, key, kind, c->items[key].version);
    c->items[key].is_there = false;
}

static void commit_put(struct changes *c, const struct change_job *j)
{
    note_event(c, j->key, c->items[j->key].is_there ? 'M' : 'I', j->n);
    c->items[j->key].is_there = true;
    c->items[j->key].version = j->n;
    c->items[j->key].group = j->group;
    c->items[j->key].is_expired = j->is_expired;
}

static void commit_background(struct changes *c)
{
    for (unsigned i = 0; i < CHANGES_KEYS && c->has_ttl; i++)
        if (c->items[i].is_expired) take_away(c, i, 'T');
    c->is_filled = true;
}

void changes_commit(struct changes *c, const struct change_job *j)
{
    switch (j->kind) {
    case CHANGE_PUT:
        commit_put(c, j);
        break;
    case CHANGE_DELETE:
        take_away(c, j->key, 'R');
        break;
    case CHANGE_BACKGROUND:
        commit_background(c);
        break;
    case CHANGE_INDEX_ON:
    case CHANGE_INDEX_OFF:
        c->has_index = j->kind == CHANGE_INDEX_ON;
        c->is_filled = false;
        break;
    case CHANGE_STREAM_ON:
        for (unsigned i = 0; i < CHANGES_KEYS; i++) c->items[i].n_events = c->items[i].events = 0;
        c->has_stream = c->is_streaming = true;
        break;
    case CHANGE_STREAM_OFF:
        c->is_streaming = false;
        break;
    case CHANGE_TTL_ON:
    case CHANGE_TTL_OFF:
        c->has_ttl = j->kind == CHANGE_TTL_ON;
        break;
    }
}

/* ---- what is there ---- */

static bool wrong(char why[512], const char *what, sheaf_rc rc, const char *message)
{
    snprintf(why, 512, "%s of " TABLE ": rc %d %.400s", what, (int)rc, message);
    return false;
}

/* Versions by key, of the table or its index; 0: not there. */
static bool read_items(sheaf_db *db, const char *index, uint64_t versions[CHANGES_KEYS],
                       char why[512])
{
    sheaf_error err;
    sheaf_result *r;
    memset(versions, 0, CHANGES_KEYS * sizeof *versions);
    sheaf_rc rc =
        sheaf_scan(db, &(struct sheaf_scan){.table = TABLE, .index = index, .error = &err}, &r);
    if (rc != SHEAF_OK) return wrong(why, index ? "the index" : "the items", rc, err.message);
    for (size_t i = 0; i < sheaf_result_count(r); i++) {
        int64_t key = CHANGES_KEYS, version = 0;
        (void)sheaf_item_i64(sheaf_result_at(r, i), "pk", &key);
        (void)sheaf_item_i64(sheaf_result_at(r, i), "v", &version);
        if (key < 0 || key >= CHANGES_KEYS || versions[key]) {
            sheaf_result_free(r);
            return wrong(why, "a key", SHEAF_OK, "is odd or there twice");
        }
        versions[key] = (uint64_t)version;
    }
    sheaf_result_free(r);
    return true;
}

struct shape {
    bool has_index, is_filled, is_streaming, has_ttl, has_stream;
    char stream_arn[256];
};

static bool read_shape(sheaf_db *db, struct shape *s, char why[512])
{
    sheaf_error err;
    sheaf_result *r;
    memset(s, 0, sizeof *s);
    sheaf_rc rc =
        sheaf_describe_table(db, &(struct sheaf_table_name){.table = TABLE, .error = &err}, &r);
    if (rc != SHEAF_OK) return wrong(why, "the description", rc, err.message);
    const struct sheaf_table_description *d = sheaf_result_table(r);
    s->has_index = d->n_indexes == 1;
    s->is_filled = s->has_index && !sheaf_table_index(d, 0)->is_backfilling;
    s->is_streaming = d->stream != SHEAF_STREAM_NONE;
    s->has_stream = d->stream_arn != NULL;
    s->has_ttl = d->ttl_attribute != NULL;
    snprintf(s->stream_arn, sizeof s->stream_arn, "%s", d->stream_arn ? d->stream_arn : "");
    sheaf_result_free(r);
    return true;
}

/* ---- the stream ---- */

struct events {
    uint64_t n[CHANGES_KEYS], digests[CHANGES_KEYS];
};

static void take_record(const struct sheaf_stream_record *k, struct events *e)
{
    int64_t key = 0, version = 0;
    const sheaf_item *image = k->new_image ? k->new_image : k->old_image;
    (void)sheaf_item_i64(k->keys, "pk", &key);
    (void)sheaf_item_i64(image, "v", &version);
    char kind = k->is_ttl ? 'T' : k->event_name[0];
    if (key >= 0 && key < CHANGES_KEYS)
        digest(&e->n[key], &e->digests[key], kind, (uint64_t)version);
}

static sheaf_rc read_shard(sheaf_db *db, const char *arn, const char *shard, struct events *e,
                           sheaf_error *err)
{
    char at[800];
    sheaf_result *r;
    sheaf_rc rc = sheaf_get_shard_iterator(
        db,
        &(struct sheaf_get_shard_iterator){
            .stream_arn = arn, .shard_id = shard, .type = SHEAF_TRIM_HORIZON, .error = err},
        &r);
    if (rc != SHEAF_OK) return rc;
    snprintf(at, sizeof at, "%s", sheaf_result_iterator(r));
    sheaf_result_free(r);
    for (size_t n = 1; n > 0 && at[0];) {
        rc = sheaf_get_records(db, &(struct sheaf_get_records){.shard_iterator = at, .error = err},
                               &r);
        if (rc != SHEAF_OK) return rc;
        n = sheaf_result_record_count(r);
        for (size_t i = 0; i < n; i++) take_record(sheaf_result_record(r, i), e);
        const char *next = sheaf_result_iterator(r);
        snprintf(at, sizeof at, "%s", next ? next : "");
        sheaf_result_free(r);
    }
    return SHEAF_OK;
}

static bool read_stream(sheaf_db *db, const char *arn, struct events *e, char why[512])
{
    sheaf_error err;
    sheaf_result *r;
    memset(e, 0, sizeof *e);
    sheaf_rc rc = sheaf_describe_stream(
        db, &(struct sheaf_describe_stream){.stream_arn = arn, .error = &err}, &r);
    if (rc != SHEAF_OK) return wrong(why, "the stream", rc, err.message);
    for (size_t i = 0; i < sheaf_result_shard_count(r) && rc == SHEAF_OK; i++)
        rc = read_shard(db, arn, sheaf_result_shard(r, i)->id, e, &err);
    sheaf_result_free(r);
    return rc == SHEAF_OK || wrong(why, "a shard", rc, err.message);
}

static bool check_stream(const struct changes *c, sheaf_db *db, const struct shape *s,
                         char why[512])
{
    struct events e;
    if (!c->has_stream) return true;
    if (!read_stream(db, s->stream_arn, &e, why)) return false;
    for (unsigned i = 0; i < CHANGES_KEYS; i++)
        if (e.n[i] != c->items[i].n_events || e.digests[i] != c->items[i].events) {
            snprintf(why, 512,
                     "key %u of " TABLE " has %llu records in the stream, not %llu, or others", i,
                     (unsigned long long)e.n[i], (unsigned long long)c->items[i].n_events);
            return false;
        }
    return true;
}

/* ---- comparing ---- */

static bool check_versions(const struct changes *c, const uint64_t versions[], bool is_index,
                           char why[512])
{
    for (unsigned i = 0; i < CHANGES_KEYS; i++) {
        bool is_in = c->items[i].is_there && (!is_index || c->items[i].group);
        uint64_t want = is_in ? c->items[i].version : 0;
        if (versions[i] == want) continue;
        snprintf(why, 512, "key %u of " TABLE "%s is of job %llu, not of %llu", i,
                 is_index ? "'s index" : "", (unsigned long long)versions[i],
                 (unsigned long long)want);
        return false;
    }
    return true;
}

bool changes_check(const struct changes *c, sheaf_db *db, char why[512])
{
    struct shape s;
    uint64_t versions[CHANGES_KEYS];
    if (!read_shape(db, &s, why) || !read_items(db, NULL, versions, why)) return false;
    if (s.has_index != c->has_index || s.is_filled != (c->has_index && c->is_filled) ||
        s.is_streaming != c->is_streaming || s.has_ttl != c->has_ttl ||
        s.has_stream != c->has_stream) {
        snprintf(why, 512,
                 "index %d filled %d stream %d/%d ttl %d of " TABLE ", not %d %d %d/%d %d",
                 s.has_index, s.is_filled, s.has_stream, s.is_streaming, s.has_ttl, c->has_index,
                 c->is_filled, c->has_stream, c->is_streaming, c->has_ttl);
        return false;
    }
    if (!check_versions(c, versions, false, why) || !check_stream(c, db, &s, why)) return false;
    if (!s.is_filled) return true;
    return read_items(db, INDEX, versions, why) && check_versions(c, versions, true, why);
}

bool changes_adopt(struct changes *c, sheaf_db *db, char why[512])
{
    struct shape s;
    uint64_t versions[CHANGES_KEYS];
    if (!read_shape(db, &s, why) || !read_items(db, NULL, versions, why)) return false;
    for (unsigned i = 0; i < CHANGES_KEYS && c->has_ttl; i++)
        if (c->items[i].is_there && c->items[i].is_expired && !versions[i]) take_away(c, i, 'T');
    if (c->has_index && s.is_filled) c->is_filled = true;
    return true;
}
