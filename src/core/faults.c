/* Turns a schedule of failures into failures, each at its request.
 *
 * Know before editing: whether a request fails depends on the rule, on how many requests matched it
 * before and on the seed, on nothing else: the same requests in the same order fail the same way.
 */
#include "core/state.h"

#include "base/mem.h"

#include <assert.h>

struct rule {
    struct core_fault how; /* texts lie behind the rules */
    atomic_uint_least64_t seen;
};
struct faults {
    uint64_t seed;
    size_t n;
    struct rule rules[];
};

static const char *message_of(sheaf_rc rc)
{
    switch (rc) {
    case SHEAF_TRANSACTION_CONFLICT:
        return "Transaction is ongoing for the item";
    case SHEAF_THROUGHPUT_EXCEEDED:
        return "The level of configured provisioned throughput for the table was exceeded. "
               "Consider increasing your provisioning level with the UpdateTable API.";
    case SHEAF_INTERNAL:
        return "Internal server error";
    default:
        return NULL;
    }
}

static sheaf_rc check_rules(const struct core_options *o, sheaf_error *err)
{
    for (size_t i = 0; i < o->n_faults; i++)
        if (!message_of(o->faults[i].rc))
            return err_validation(err,
                                  "fault %zu: only TransactionConflictException, "
                                  "ProvisionedThroughputExceededException and "
                                  "InternalServerError can be scheduled",
                                  i);
    return SHEAF_OK;
}

static span copy(uint8_t **to, span s)
{
    if (!s.p) return s;
    if (s.n) memcpy(*to, s.p, s.n);
    span out = SPAN(*to, s.n);
    *to += s.n;
    return out;
}

sheaf_rc faults_open(struct core *core, const struct core_options *o, sheaf_error *err)
{
    enum { RULES_MAX = 1 << 16 };
    if (o->n_faults == 0) return SHEAF_OK;
    if (o->n_faults > RULES_MAX) return err_validation(err, "more than 65,536 faults");
    TRY(check_rules(o, err));
    size_t text = 0;
    for (size_t i = 0; i < o->n_faults; i++)
        text += o->faults[i].operation.n + o->faults[i].table.n;
    struct faults *f = mem_zalloc(sizeof *f + o->n_faults * sizeof f->rules[0] + text);
    if (!f) return err_nomem(err);
    uint8_t *to = (uint8_t *)&f->rules[o->n_faults];
    f->n = o->n_faults;
    f->seed = o->seed ? o->seed : (uint64_t)core_now_us(core);
    for (size_t i = 0; i < f->n; i++) {
        f->rules[i].how = o->faults[i];
        f->rules[i].how.operation = copy(&to, o->faults[i].operation);
        f->rules[i].how.table = copy(&to, o->faults[i].table);
        atomic_init(&f->rules[i].seen, 0);
    }
    core->faults = f;
    return SHEAF_OK;
}

void faults_close(struct core *core)
{
    mem_free(core->faults);
    core->faults = NULL;
}

/* A request may name its table by ARN. */
static bool is_table(span want, span table)
{
    if (!table.p) return false;
    if (span_eq(want, table)) return true;
    return span_starts(table, SPAN_LIT("arn:")) && table.n > want.n + 7 &&
           span_eq(span_from(table, table.n - want.n), want) &&
           memcmp((const char *)table.p + table.n - want.n - 7, ":table/", 7) == 0;
}

static bool is_match(const struct core_fault *how, span operation, span table)
{
    if (how->operation.p && !span_eq(how->operation, operation)) return false;
    return !how->table.p || is_table(how->table, table);
}

/* The count-th matching request of the i-th rule, counted from 1. */
static bool is_due(const struct faults *f, size_t i, uint64_t count)
{
    const struct core_fault *how = &f->rules[i].how;
    assert(count > 0);
    if (how->one_in) {
        struct rng r;
        rng_init(&r, f->seed ^ (i + 1) * 0x9E3779B97F4A7C15u ^ count * 0xD6E8FEB86659FD93u);
        return rng_below(&r, how->one_in) == 0;
    }
    if (how->every) return count >= how->nth && (count - how->nth) % how->every == 0;
    return how->nth != 0 && count == how->nth;
}

sheaf_rc faults_check(struct core *core, const char *operation, span table, sheaf_error *err)
{
    struct faults *f = core->faults;
    if (!f) return SHEAF_OK;
    sheaf_rc rc = SHEAF_OK;
    for (size_t i = 0; i < f->n; i++) {
        struct rule *r = &f->rules[i];
        if (!is_match(&r->how, span_cstr(operation), table)) continue;
        uint64_t count = atomic_fetch_add_explicit(&r->seen, 1, memory_order_relaxed) + 1;
        if (rc == SHEAF_OK && is_due(f, i, count)) rc = r->how.rc; /* every rule counts on */
    }
    return rc == SHEAF_OK ? rc : err_set(err, rc, "%s", message_of(rc));
}
