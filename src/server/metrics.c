/* Turns counters of loops into the text that Prometheus reads. */
#include "server/metrics.h"

#include <assert.h>
#include <inttypes.h>

#define BOUND(us) us,
static const uint32_t bounds_us[] = {METRICS_BOUNDS_US(BOUND)};
#undef BOUND
_Static_assert(sizeof bounds_us / sizeof *bounds_us == METRICS_BUCKETS - 1, "and +Inf");

static uint32_t bucket_of(uint64_t ns)
{
    uint32_t i = 0;
    while (i < METRICS_BUCKETS - 1 && ns > bounds_us[i] * UINT64_C(1000)) i++;
    return i;
}

void metrics_count(struct metrics *m, const struct metrics_sample *s)
{
    assert(s->operation < METRICS_OPERATIONS_MAX && s->rc < SHEAF_RC_COUNT_);
    struct metrics_operation *o = &m->operations[s->operation];
    metric_add(&o->requests, 1);
    metric_add(&o->bytes_in, s->bytes_in);
    metric_add(&o->bytes_out, s->bytes_out);
    if (s->rc != SHEAF_OK) metric_add(&o->errors[s->rc], 1);
    metric_add(&o->buckets[bucket_of(s->ns)], 1);
    metric_add(&o->total_ns, s->ns);
}

/* ---- text ---- */

void metrics_family(struct buf *to, const char *family, const char *type, const char *help)
{
    buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", family, help, family, type);
}

void metrics_one(struct buf *to, const char *family, const char *type, const char *help,
                 uint64_t value)
{
    metrics_family(to, family, type, help);
    buf_printf(to, "%s %" PRIu64 "\n", family, value);
}

void metrics_label(struct buf *to, span value)
{
    const uint8_t *p = value.p;
    for (size_t i = 0; i < value.n; i++) {
        if (p[i] == '\\' || p[i] == '"') buf_put_u8(to, '\\');
        if (p[i] == '\n')
            buf_put(to, "\\n", 2);
        else
            buf_put_u8(to, p[i]);
    }
}

/* All loops and their names, while one text is made. */
struct sum {
    const struct metrics *const *all;
    uint32_t n;
    const char *(*name)(uint32_t operation);
};

static uint64_t sum_at(const struct sum *s, size_t offset)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < s->n; i++)
        total += metric_get((const metric *)(const void *)((const char *)s->all[i] + offset));
    return total;
}
#define SUM(s, member) sum_at((s), offsetof(struct metrics, member))

static const char *name_of(const struct sum *s, uint32_t i)
{
    if (i == METRICS_OPERATIONS_MAX - 1) return "none";
    return s->name(i);
}

/* Calls `one` for each operation that was called. */
static void each_operation(struct buf *to, const struct sum *s,
                           void (*one)(struct buf *, const struct sum *, uint32_t, const char *))
{
    for (uint32_t i = 0; i < METRICS_OPERATIONS_MAX; i++) {
        const char *name = name_of(s, i);
        if (name && SUM(s, operations[i].requests) > 0) one(to, s, i, name);
    }
}

static void put_requests(struct buf *to, const struct sum *s, uint32_t i, const char *name)
{
    buf_printf(to, "sheaf_requests_total{operation=\"%s\"} %" PRIu64 "\n", name,
               SUM(s, operations[i].requests));
}

/* Several codes share an exception's name: they are one line. */
static void put_errors(struct buf *to, const struct sum *s, uint32_t i, const char *name)
{
    bool done[SHEAF_RC_COUNT_] = {false};
    for (int rc = SHEAF_OK + 1; rc < SHEAF_RC_COUNT_; rc++) {
        const char *exception = sheaf_rc_exception((sheaf_rc)rc);
        uint64_t total = 0;
        for (int same = rc; same < SHEAF_RC_COUNT_ && !done[rc]; same++) {
            if (strcmp(sheaf_rc_exception((sheaf_rc)same), exception) != 0) continue;
            total += SUM(s, operations[i].errors[same]);
            done[same] = same != rc;
        }
        if (total > 0)
            buf_printf(to, "sheaf_errors_total{operation=\"%s\",exception=\"%s\"} %" PRIu64 "\n",
                       name, exception, total);
    }
}

static void put_bytes(struct buf *to, const struct sum *s, uint32_t i, const char *name)
{
    buf_printf(to, "sheaf_body_bytes_total{operation=\"%s\",direction=\"in\"} %" PRIu64 "\n", name,
               SUM(s, operations[i].bytes_in));
    buf_printf(to, "sheaf_body_bytes_total{operation=\"%s\",direction=\"out\"} %" PRIu64 "\n", name,
               SUM(s, operations[i].bytes_out));
}

static void put_latency(struct buf *to, const struct sum *s, uint32_t i, const char *name)
{
    uint64_t upto = 0;
    for (uint32_t b = 0; b < METRICS_BUCKETS; b++) {
        upto += SUM(s, operations[i].buckets[b]);
        buf_printf(to, "sheaf_request_seconds_bucket{operation=\"%s\",le=\"", name);
        if (b < METRICS_BUCKETS - 1)
            buf_printf(to, "%g", bounds_us[b] / 1e6);
        else
            buf_put(to, "+Inf", 4);
        buf_printf(to, "\"} %" PRIu64 "\n", upto);
    }
    buf_printf(to, "sheaf_request_seconds_sum{operation=\"%s\"} %.9f\n", name,
               (double)SUM(s, operations[i].total_ns) / 1e9);
    buf_printf(to, "sheaf_request_seconds_count{operation=\"%s\"} %" PRIu64 "\n", name, upto);
}

void metrics_format(struct buf *to, const struct metrics *const all[], uint32_t n,
                    const char *(*name)(uint32_t operation))
{
    struct sum s = {all, n, name};
    metrics_family(to, "sheaf_requests_total", "counter", "Requests answered, by operation.");
    each_operation(to, &s, put_requests);
    metrics_family(to, "sheaf_errors_total", "counter",
                   "Requests answered with an exception, by operation and exception.");
    each_operation(to, &s, put_errors);
    metrics_family(to, "sheaf_body_bytes_total", "counter", "Bytes of bodies, by operation.");
    each_operation(to, &s, put_bytes);
    metrics_family(to, "sheaf_request_seconds", "histogram",
                   "From the whole head to the written answer, by operation.");
    each_operation(to, &s, put_latency);
    metrics_one(to, "sheaf_replies_waiting", "gauge",
                "Answers that wait until what they say is durable.", SUM(&s, parked_now));
    metrics_one(to, "sheaf_unauthenticated_total", "counter",
                "Requests refused because of their signature.", SUM(&s, unauthenticated));
}
