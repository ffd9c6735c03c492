/* Turns acknowledgements into oracles, and a directory into a verdict.
 *
 * Know before editing: a lane's jobs are drawn into its world's arena, which each drawing
 * empties; a job is used up before the next is drawn. */
#include "model/crash_check.h"

#include <inttypes.h>
#include <unistd.h>

void ledger_begin(struct ledger *l, uint64_t seed)
{
    memset(l, 0, sizeof *l);
    l->seed = seed;
    for (unsigned i = 0; i < N_LANES; i++) {
        lane_init(&l->lanes[i].w, i);
        l->lanes[i].next = 1;
    }
    l->next_change = 1;
}

void ledger_end(struct ledger *l)
{
    for (unsigned i = 0; i < N_LANES; i++) lane_deinit(&l->lanes[i].w);
}

static void take_ready(struct ledger *l)
{
    if (!l->is_ready)
        for (unsigned i = 0; i < N_LANES; i++)
            for (uint32_t t = 0; t < N_TABLES; t++) begin_table(&l->lanes[i].w.tables[t]);
    l->is_ready = true;
    l->n_ready++;
}

/* The next job of a lane took place with this answer. */
static bool take_job(struct ledger *l, unsigned lane, sheaf_rc rc, char why[512])
{
    struct world *w = &l->lanes[lane].w;
    struct judged judged;
    struct job j;
    uint64_t n = l->lanes[lane].next;
    job_draw(w, l->seed, lane, n, &j);
    uint64_t answers = job_judge(w, &j, &judged);
    if (!(answers >> rc & 1)) {
        snprintf(why, 512, "job %" PRIu64 " of lane %u was answered %d, which cannot be", n, lane,
                 (int)rc);
        return false;
    }
    if (rc == SHEAF_OK) job_commit(w, &j, &judged);
    if (rc == SHEAF_OK && j.has_token) l->lanes[lane].last_token = n;
    l->lanes[lane].next++;
    return true;
}

/* The next change took place with this answer. */
static bool take_change(struct ledger *l, sheaf_rc rc, char why[512])
{
    struct change_job j = changes_draw(l->seed, l->next_change);
    sheaf_rc want = changes_judge(&l->changes, &j);
    if (rc != want) {
        snprintf(why, 512, "change %" PRIu64 " (kind %d) was answered %d, not %d", l->next_change,
                 (int)j.kind, (int)rc, (int)want);
        return false;
    }
    if (rc == SHEAF_OK) changes_commit(&l->changes, &j);
    l->next_change++;
    return true;
}

bool ledger_take(struct ledger *l, const struct job_message *m, char why[512])
{
    if (m->kind == JOB_OPENED) l->n_opened++;
    if (m->kind == JOB_READY) take_ready(l);
    if (m->kind != JOB_ACKED) return true;
    if (m->lane >= N_ALL_LANES || m->n != ledger_next(l, m->lane) || !l->is_ready) {
        snprintf(why, 512, "an acknowledgement out of order");
        return false;
    }
    l->n_acked++;
    if (m->lane == CHANGES_LANE) return take_change(l, (sheaf_rc)m->rc, why);
    return take_job(l, m->lane, (sheaf_rc)m->rc, why);
}

/* ---- comparing ---- */

/* Items, index entries and stream records of the lane's partition keys. */
static bool is_lane(struct world *w, sheaf_db *db)
{
    arena_reset(&w->arena);
    rng_init(&w->rng, 1);
    w->db = db;
    if (setjmp(w->out)) return false;
    for (uint32_t i = 0; i < N_TABLES; i++) {
        check_items(w, &w->tables[i]);
        check_stream(w, &w->tables[i]);
    }
    return true;
}

/* A request that has been answered is answered again, and does nothing; another one is refused. */
static bool is_token_good(struct ledger *l, unsigned lane, struct verdict *v)
{
    struct world *w = &l->lanes[lane].w;
    struct job j;
    uint64_t n = l->lanes[lane].last_token;
    if (n == 0) return true;
    job_draw(w, l->seed, lane, n, &j);
    sheaf_rc rc = job_call(w, &j);
    j.many.actions[0].table = w->tables[j.many.all[0].t == &w->tables[0] ? 1 : 0].name;
    sheaf_rc other = rc == SHEAF_OK ? job_call(w, &j) : SHEAF_OK;
    v->n_tokens++;
    if (rc == SHEAF_OK && (other == SHEAF_IDEMPOTENT_MISMATCH || other == SHEAF_VALIDATION))
        return true;
    snprintf(v->why, sizeof v->why,
             "job %" PRIu64
             " of lane %u is there, and its token answers %d to it and %d to another",
             n, lane, (int)rc, (int)other);
    return false;
}

static bool check_lane(struct ledger *l, unsigned lane, sheaf_db *db, struct verdict *v)
{
    struct world *w = &l->lanes[lane].w;
    char first[400], why[512];
    uint64_t n = l->lanes[lane].next;
    if (!is_lane(w, db)) {
        snprintf(first, sizeof first, "%s", w->message);
        /* Not what was acknowledged: then that and the job that was under way. */
        if (!take_job(l, lane, SHEAF_OK, why) || !is_lane(w, db)) {
            snprintf(v->why, sizeof v->why,
                     "lane %u is neither as after job %" PRIu64 " (%s) nor as after the next (%s)",
                     lane, n - 1, first, l->lanes[lane].next == n ? why : w->message);
            return false;
        }
        v->n_found++;
    }
    if (!is_token_good(l, lane, v)) return false;
    if (is_lane(w, db)) return true;
    snprintf(v->why, sizeof v->why, "a request repeated by its token did something: %.900s",
             w->message);
    return false;
}

/* As after the changes that were acknowledged, and what the one under way had done. */
static bool check_changes(struct ledger *l, sheaf_db *db, struct verdict *v)
{
    char first[512], why[512];
    struct change_job j = changes_draw(l->seed, l->next_change);
    if (j.kind == CHANGE_BACKGROUND && !changes_adopt(&l->changes, db, first)) {
        snprintf(v->why, sizeof v->why, "%s", first);
        return false;
    }
    if (changes_check(&l->changes, db, first)) return true;
    if (take_change(l, SHEAF_OK, why) && changes_check(&l->changes, db, why)) {
        v->n_found++;
        return true;
    }
    snprintf(v->why, sizeof v->why,
             "neither as before change %" PRIu64 " of kind %d (%.400s) nor as after it (%.400s)",
             j.n, (int)j.kind, first, why);
    return false;
}

struct complaints {
    struct verdict *v;
    size_t n;
};

static bool complain(void *ctx, const char *what)
{
    struct complaints *c = ctx;
    if (c->n++ == 0) snprintf(c->v->why, sizeof c->v->why, "sheaf_verify: %s", what);
    return true;
}

static bool is_verified(sheaf_db *db, struct verdict *v)
{
    sheaf_error err = {0};
    struct complaints c = {v, 0};
    sheaf_rc rc = sheaf_verify(db, complain, &c, &err);
    if (rc != SHEAF_OK && c.n == 0)
        snprintf(v->why, sizeof v->why, "sheaf_verify: rc %d %s", (int)rc, err.message);
    return rc == SHEAF_OK;
}

static int64_t now(void *ctx)
{
    (void)ctx;
    return INT64_C(1700000000) * 1000000;
}

bool ledger_check(struct ledger *l, const char *directory, struct verdict *v)
{
    sheaf_db *db;
    sheaf_error err;
    struct sheaf_options o = {
        .now_us = now, .no_background = true, .cache_bytes = 2 << 20, .owner = "crash checker"};
    *v = (struct verdict){.n_found = 0};
    if (!l->is_ready && access(directory, F_OK) != 0) return true;
    sheaf_rc rc = sheaf_open(directory, &o, &db, &err);
    if (rc != SHEAF_OK) {
        snprintf(v->why, sizeof v->why, "sheaf_open: rc %d %s", (int)rc, err.message);
        return false;
    }
    bool ok = is_verified(db, v);
    for (unsigned i = 0; ok && l->is_ready && i < N_LANES; i++) ok = check_lane(l, i, db, v);
    if (ok && l->is_ready) ok = check_changes(l, db, v);
    if (ok) ok = is_verified(db, v);
    sheaf_close(db);
    return ok;
}
