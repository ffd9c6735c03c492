/* Turns a history of one register into a verdict, in time n log n. */
#include "model/history.h"

#include <stdlib.h>

/* Writes first, then reads, of each value. */
static int by_value(const void *pa, const void *pb)
{
    const struct event *a = pa, *b = pb;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return (int)b->is_write - (int)a->is_write;
}

/* All operations on one value. */
struct cluster {
    uint64_t value;
    size_t first, end;
    const struct event *write; /* NULL: of the value before the first write */
};

static size_t find(const struct cluster *all, size_t n, uint64_t value)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (all[mid].value < value)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && all[lo].value == value ? lo : n;
}

/* Groups the events; a read of what nobody wrote and a value written twice are errors at once. */
static const char *group(struct event *all, size_t n, struct cluster **out, size_t *n_out)
{
    struct cluster *c = malloc((n + 1) * sizeof *c);
    if (!c) abort();
    *out = c;
    *n_out = 0;
    qsort(all, n, sizeof *all, by_value);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && all[end].value == all[i].value; end++)
            if (all[end].is_write) return "a value was written twice";
        if (all[i].value != HISTORY_NONE && !all[i].is_write)
            return "a read returned what nobody wrote";
        c[(*n_out)++] = (struct cluster){all[i].value, i, end, all[i].is_write ? &all[i] : NULL};
    }
    return NULL;
}

/* ---- when writes know what they replaced ---- */

/* The write that replaced each cluster's value: next[i] is its cluster. */
static const char *link_writes(const struct cluster *c, size_t n, size_t *next)
{
    for (size_t i = 0; i < n; i++) next[i] = n;
    for (size_t i = 0; i < n; i++) {
        if (!c[i].write) continue;
        size_t before = find(c, n, c[i].write->old);
        if (before == n) {
            if (c[i].write->old != HISTORY_NONE) return "a write replaced what nobody wrote";
            continue; /* the first write, and nobody read before it */
        }
        if (next[before] != n) return "two writes replaced the same value: an update is lost";
        next[before] = i;
    }
    return NULL;
}

/* Walks the writes in their order and gives each operation the earliest moment it can have. */
static const char *walk(const struct event *all, const struct cluster *c, size_t n,
                        const size_t *next, size_t first)
{
    uint64_t now = 0;
    size_t n_seen = 0;
    for (size_t i = first; i < n; i = next[i], n_seen++) {
        uint64_t latest = 0;
        if (n_seen == n) return "writes replace each other in a circle";
        if (c[i].write && c[i].write->begun > now) now = c[i].write->begun;
        if (c[i].write && c[i].write->ended < now)
            return "a write took effect after it had ended, or before an earlier one began";
        for (size_t k = c[i].first + (c[i].write != NULL); k < c[i].end; k++) {
            if (all[k].ended < now) return "a read returned a value that was not written yet";
            if (all[k].begun > latest) latest = all[k].begun;
        }
        if (latest > now) now = latest; /* the next write comes after every read of this value */
    }
    return n_seen == n ? NULL : "a write replaced a value that was never current";
}

const char *history_check_chain(struct event *all, size_t n)
{
    struct cluster *c;
    size_t n_clusters, first;
    const char *wrong = group(all, n, &c, &n_clusters);
    size_t *next = malloc((n + 1) * sizeof *next);
    if (!next) abort();
    if (!wrong) wrong = link_writes(c, n_clusters, next);
    if (!wrong && n_clusters) {
        first = find(c, n_clusters, HISTORY_NONE);
        for (size_t i = 0; first == n_clusters && i < n_clusters; i++)
            if (c[i].write->old == HISTORY_NONE) first = i;
        wrong = walk(all, c, n_clusters, next, first);
    }
    free(next);
    free(c);
    return wrong;
}

/* ---- when they do not ---- */

struct zone {
    uint64_t lo, hi;
    bool is_forward; /* the value was surely current from lo to hi */
};

static int by_low(const void *pa, const void *pb)
{
    const struct zone *a = pa, *b = pb;
    return a->lo < b->lo ? -1 : a->lo > b->lo;
}

static const char *zone_of(const struct event *all, const struct cluster *c, struct zone *out)
{
    uint64_t first_end = UINT64_MAX, last_begin = 0;
    for (size_t i = c->first; i < c->end; i++) {
        if (all[i].ended < first_end) first_end = all[i].ended;
        if (all[i].begun > last_begin) last_begin = all[i].begun;
        if (c->write && all[i].ended < c->write->begun)
            return "a read returned a value that was not written yet";
    }
    if (!c->write) first_end = 0; /* current from the beginning */
    bool is_forward = first_end < last_begin;
    *out = (struct zone){is_forward ? first_end : last_begin, is_forward ? last_begin : first_end,
                         is_forward};
    return NULL;
}

/* Forward zones may not overlap, and a backward one may not lie inside a forward one. Sorted by
 * their lower ends, the forward zone to compare with is always the one that reaches farthest. */
static const char *collide(struct zone *z, size_t n)
{
    qsort(z, n, sizeof *z, by_low);
    const struct zone *reach = NULL;
    for (size_t i = 0; i < n; i++) {
        if (reach && z[i].is_forward && z[i].lo < reach->hi)
            return "two values were current at the same time: a stale read";
        if (reach && !z[i].is_forward && z[i].hi < reach->hi)
            return "a value came and went while another one was current: a stale read";
        if (z[i].is_forward && (!reach || z[i].hi > reach->hi)) reach = &z[i];
    }
    return NULL;
}

const char *history_check_zones(struct event *all, size_t n)
{
    struct cluster *c;
    size_t n_clusters;
    const char *wrong = group(all, n, &c, &n_clusters);
    struct zone *z = malloc((n + 1) * sizeof *z);
    if (!z) abort();
    for (size_t i = 0; !wrong && i < n_clusters; i++) wrong = zone_of(all, &c[i], &z[i]);
    if (!wrong) wrong = collide(z, n_clusters);
    free(z);
    free(c);
    return wrong;
}
