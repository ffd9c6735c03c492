/* Turns everything that has a figure into the text of GET /metrics. Made on a thread of its own:
 * the engine's figures and the tables' take reads of the disk. Partition keys are data and do not
 * appear; of the largest collections only their sizes do. */
#include "server/state.h"

#include <inttypes.h>

enum { REPORT_TABLES_MAX = 1000, REPORT_LOOPS_MAX = 256, REPORT_ARENA_MAX = 64 << 20 };

static const char *name_of_operation(uint32_t i)
{
    const struct op *op = op_at(i);
    return op ? op_name(op) : NULL;
}

/* ---- loops, connections, engine ---- */

static void put_loops(struct server *s, struct buf *to)
{
    const struct metrics *all[REPORT_LOOPS_MAX];
    uint32_t n = 0;
    pthread_mutex_lock(&s->mutex);
    for (struct server_loop *l = s->loops; l && n < REPORT_LOOPS_MAX; l = l->next)
        all[n++] = &l->metrics;
    pthread_mutex_unlock(&s->mutex);
    metrics_format(to, all, n, name_of_operation);
}

static void put_http(struct server *s, struct buf *to)
{
    struct http_stats h;
    http_server_stats(s->http, &h);
    metrics_one(to, "sheaf_connections", "gauge", "Connections that are open.", h.connections);
    metrics_one(to, "sheaf_connections_accepted_total", "counter", "Connections accepted.",
                h.accepted);
    metrics_one(to, "sheaf_http_requests_total", "counter", "Whole requests received.", h.requests);
    metrics_one(to, "sheaf_http_refused_total", "counter",
                "Requests refused before the service saw them: malformed, too large, too slow, "
                "over budget.",
                h.refused);
    metrics_one(to, "sheaf_network_received_bytes_total", "counter", "Bytes read.", h.bytes_in);
    metrics_one(to, "sheaf_network_sent_bytes_total", "counter", "Bytes written.", h.bytes_out);
    metrics_one(to, "sheaf_memory_budget_bytes", "gauge", "What bodies and answers may take.",
                s->options.memory_budget);
    metrics_one(to, "sheaf_memory_used_bytes", "gauge", "What they take.", h.memory);
    metrics_one(to, "sheaf_memory_peak_bytes", "gauge", "The most they ever took.", h.memory_peak);
}

static void put_engine(struct server *s, struct buf *to)
{
    struct sheaf_engine_stats e;
    eng_stats(s->engine, &e);
    metrics_one(to, "sheaf_engine_commits_total", "counter", "Transactions that wrote.", e.commits);
    metrics_one(to, "sheaf_engine_conflicts_total", "counter", "Transactions that were replayed.",
                e.conflicts);
    metrics_one(to, "sheaf_engine_syncs_total", "counter", "Times the log was synced.", e.syncs);
    metrics_one(to, "sheaf_engine_keys", "gauge", "Keys; an estimate on disk.", e.keys);
    metrics_one(to, "sheaf_engine_disk_bytes", "gauge", "Bytes on disk.", e.disk_bytes);
    metrics_one(to, "sheaf_engine_memory_bytes", "gauge", "Bytes in memory.", e.memory_bytes);
    metrics_one(to, "sheaf_engine_commits_not_durable", "gauge",
                "How far the disk is behind: the newest position minus the durable one.",
                e.visible - e.durable);
    metrics_one(to, "sheaf_engine_failed", "gauge",
                "1: the disk failed and no more is written until a restart.", health_has_failed(s));
}

/* ---- tables ---- */

struct tables {
    struct core_table_info *all;
    uint32_t n, n_left; /* n_left: not shown */
};

/* A table that was deleted just now is left out; any other failure is the report's, in *rc. */
static bool is_there(sheaf_rc got, sheaf_rc *rc)
{
    if (got != SHEAF_OK && got != SHEAF_RESOURCE_NOT_FOUND) *rc = got;
    return got == SHEAF_OK;
}

static sheaf_rc read_tables(struct core *core, struct ctx *c, struct tables *out)
{
    sheaf_rc rc = SHEAF_OK;
    struct core_list_tables q = {.limit = 100};
    struct core_names_outcome names;
    *out = (struct tables){.all = ARENA_ARRAY(c->arena, struct core_table_info, REPORT_TABLES_MAX)};
    if (!out->all) return err_nomem(c->err);
    do {
        TRY(core_list_tables(core, c, &q, &names));
        for (uint32_t i = 0; i < names.n; i++) {
            struct core_table_outcome table;
            if (out->n == REPORT_TABLES_MAX)
                out->n_left++;
            else if (is_there(core_describe_table(core, c, names.names[i], &table), &rc))
                out->all[out->n++] = table.table;
            if (rc != SHEAF_OK) return rc;
        }
        q.after = names.last;
    } while (names.last.p);
    return SHEAF_OK;
}

static void put_labels(struct buf *to, const char *family, span table, span index)
{
    buf_printf(to, "%s{table=\"", family);
    metrics_label(to, table);
    if (index.n) {
        buf_printf(to, "\",index=\"");
        metrics_label(to, index);
    }
    buf_printf(to, "\"} ");
}

static void put_size(struct buf *to, const struct tables *t, bool is_bytes)
{
    const char *family = is_bytes ? "sheaf_table_bytes" : "sheaf_table_items";
    metrics_family(to, family, "gauge",
                   is_bytes ? "Bytes of a table or index." : "Items of a table or index.");
    for (uint32_t i = 0; i < t->n; i++) {
        const struct core_table_info *info = &t->all[i];
        put_labels(to, family, info->name, SPAN_NONE);
        buf_printf(to, "%" PRIu64 "\n", is_bytes ? info->bytes : info->items);
        for (uint32_t k = 0; k < info->n_indexes; k++) {
            const struct core_index_info *index = &info->indexes[k];
            put_labels(to, family, info->name, index->def.name);
            buf_printf(to, "%" PRIu64 "\n", is_bytes ? index->bytes : index->items);
        }
    }
}

static sheaf_rc put_largest(struct core *core, struct ctx *c, struct buf *to, span table,
                            span index)
{
    struct core_collections largest;
    sheaf_rc rc = SHEAF_OK;
    if (!is_there(core_largest(core, c, table, index, 1, &largest), &rc)) return rc;
    if (largest.n == 0) return SHEAF_OK;
    put_labels(to, "sheaf_largest_collection_bytes", table, index);
    buf_printf(to, "%" PRIu64 "\n", largest.all[0].bytes);
    return SHEAF_OK;
}

static sheaf_rc put_collections(struct core *core, struct ctx *c, struct buf *to,
                                const struct tables *t)
{
    metrics_family(to, "sheaf_largest_collection_bytes", "gauge",
                   "Bytes of the largest item collection of a table or index.");
    for (uint32_t i = 0; i < t->n; i++) {
        const struct core_table_info *info = &t->all[i];
        TRY(put_largest(core, c, to, info->name, SPAN_NONE));
        for (uint32_t k = 0; k < info->n_indexes; k++)
            TRY(put_largest(core, c, to, info->name, info->indexes[k].def.name));
    }
    return SHEAF_OK;
}

static sheaf_rc put_tables_in(struct server *s, struct ctx *c, struct buf *to)
{
    struct tables t;
    TRY(read_tables(s->core, c, &t));
    metrics_one(to, "sheaf_tables", "gauge", "Tables.", t.n + (uint64_t)t.n_left);
    put_size(to, &t, false);
    put_size(to, &t, true);
    return put_collections(s->core, c, to, &t);
}

static sheaf_rc put_tables(struct server *s, struct buf *to)
{
    struct arena arena;
    arena_init(&arena, REPORT_ARENA_MAX);
    struct ctx c = {&arena, NULL};
    sheaf_rc rc = put_tables_in(s, &c, to);
    arena_deinit(&arena);
    return rc;
}

/* ---- the job ---- */

static void work(struct job *job)
{
    struct server *s = job->ctx;
    put_loops(s, &job->text);
    put_http(s, &job->text);
    put_engine(s, &job->text);
    size_t n = job->text.n;
    if (put_tables(s, &job->text) == SHEAF_OK) return;
    /* Half a report would look like tables that are gone. That the disk is gone must be told. */
    if (health_has_failed(s))
        job->text.n = n;
    else
        job->status = 503;
}

static void done(struct job *job)
{
    struct call *c = http_user(job->x);
    span text = arena_dup(c->ctx.arena, buf_span(&job->text));
    if (job->text.failed || !text.p || job->status != 200)
        answer_text(c, 503, NULL, SPAN_NONE);
    else
        answer_text(c, 200, "text/plain; version=0.0.4; charset=utf-8", text);
}

void report_begin(struct call *c)
{
    struct server *s = c->loop->server;
    struct job *job = job_new(&s->jobs, c->x);
    if (job) {
        job->ctx = s;
        job->work = work;
        job->done = done;
    }
    if (!job || !job_start(job)) answer_text(c, 503, NULL, SPAN_LIT("too many reports at once\n"));
}
