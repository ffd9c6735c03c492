/* Turns the members of CreateTable and UpdateTable that are kept and told into settings of a table:
 * OnDemandThroughput, WarmThroughput, encryption, and what became of provisioned units. Know before
 * editing: warm throughput never falls, neither by request nor with the units, so what is stored is
 * the highest yet and what is told is that or what the billing mode gives, whichever is more. */
#include "base/limits.h"
#include "base/utf8.h"
#include "core/tables.h"

#include <assert.h>
#include <inttypes.h>

#define INVALID "One or more parameter values were invalid: "
#define INITIAL                                                                                    \
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"                            \
    "on-demand-capacity-mode.html#on-demand-capacity-mode-initial"

/* What a table or index that is billed on demand takes from its first moment on. */
enum { INITIAL_READ = 12000, INITIAL_WRITE = 4000 };
#define DAY_US INT64_C(86400000000)

/* One member of a struct core_throughput, with the service's words for it. */
struct figure {
    bool is_given;
    int64_t value;
    const char *on_demand, *warm, *units;
};

static void take_figures(const struct core_throughput *x, struct figure out[2])
{
    out[0] = (struct figure){x->has_read, x->read, "MaxReadRequestUnits", "ReadUnitsPerSecond",
                             "ReadCapacityUnits"};
    out[1] = (struct figure){x->has_write, x->write, "MaxWriteRequestUnits", "WriteUnitsPerSecond",
                             "WriteCapacityUnits"};
}

/* What is checked: the table, or one of its global indexes. */
struct subject {
    span index; /* p == NULL: the table */
    bool is_provisioned;
    uint64_t units[2];
};

/* ---- OnDemandThroughput ---- */

static sheaf_rc not_on_demand(struct ctx *c, const char *member, span index, bool is_update)
{
    if (index.p)
        return err_validation(c->err,
                              INVALID "%s for OnDemandThroughput cannot be specified for index : "
                                      "%.*s when the table BillingMode is PROVISIONED",
                              member, SPAN_ARG(index));
    return err_validation(c->err,
                          INVALID "%s for OnDemandThroughput cannot be specified when %stable "
                                  "BillingMode is PROVISIONED%s",
                          member, is_update ? "the " : "", is_update ? "" : ".");
}

static sheaf_rc check_on_demand(struct ctx *c, const struct core_throughput *x,
                                const struct subject *of, bool is_update)
{
    struct figure f[2];
    take_figures(x, f);
    for (int i = 0; i < 2; i++) {
        if (!f[i].is_given) continue;
        if (of->is_provisioned) return not_on_demand(c, f[i].on_demand, of->index, is_update);
        if (f[i].value >= 1 || (is_update && f[i].value == -1)) continue;
        return err_validation(c->err,
                              INVALID "Requested %s for OnDemandThroughput for %s%.*s is outside "
                                      "of valid range",
                              f[i].on_demand, of->index.p ? "index : " : "table",
                              SPAN_ARG(of->index));
    }
    return SHEAF_OK;
}

static void merge_on_demand(struct core_throughput *to, const struct core_throughput *x)
{
    if (x->has_read) to->read = x->read > 0 ? x->read : 0;
    if (x->has_write) to->write = x->write > 0 ? x->write : 0;
    to->has_read = to->read != 0;
    to->has_write = to->write != 0;
}

/* ---- WarmThroughput ---- */

static int64_t more(int64_t a, uint64_t b)
{
    int64_t other = b > INT64_MAX ? INT64_MAX : (int64_t)b;
    return a > other ? a : other;
}

struct core_throughput settings_warm(const struct core_throughput *warm, bool is_provisioned,
                                     uint64_t read_units, uint64_t write_units)
{
    return (struct core_throughput){
        true, true, more(warm->read, is_provisioned ? read_units : INITIAL_READ),
        more(warm->write, is_provisioned ? write_units : INITIAL_WRITE)};
}

/* Of a new table or index. */
static sheaf_rc check_new_warm(struct ctx *c, const struct core_throughput *x,
                               const struct subject *of)
{
    struct figure f[2];
    static const int64_t initial[2] = {INITIAL_READ, INITIAL_WRITE};
    take_figures(x, f);
    for (int i = 0; i < 2; i++) {
        int64_t least = of->is_provisioned ? more(0, of->units[i]) : initial[i];
        if (!f[i].is_given || f[i].value >= least) continue;
        const char *what = of->index.p ? "index " : "table";
        if (of->is_provisioned)
            return err_validation(c->err,
                                  INVALID "Requested %s for WarmThroughput for %s%.*s is lower "
                                          "than %s of ProvisionedThroughput",
                                  f[i].warm, what, SPAN_ARG(of->index), f[i].units);
        return err_validation(c->err,
                              INVALID "Requested %s for WarmThroughput for %s%.*s is lower than "
                                      "initial throughput for OnDemand. See: " INITIAL,
                              f[i].warm, what, SPAN_ARG(of->index));
    }
    return SHEAF_OK;
}

/* `now` is what the table or index is told to have. */
static sheaf_rc raise_warm(struct ctx *c, const struct core_throughput *x, span index,
                           struct core_throughput *now)
{
    struct figure f[2];
    int64_t *members[2] = {&now->read, &now->write};
    take_figures(x, f);
    for (int i = 0; i < 2; i++) {
        if (!f[i].is_given) continue;
        if (f[i].value < *members[i])
            return err_validation(c->err,
                                  INVALID "Requested %s for WarmThroughput for %s%.*s is lower "
                                          "than current WarmThroughput, decreasing "
                                          "WarmThroughput is not supported",
                                  f[i].warm, index.p ? "index " : "table", SPAN_ARG(index));
        *members[i] = f[i].value;
    }
    return SHEAF_OK;
}

/* ---- encryption ---- */

static sheaf_rc check_kms(struct ctx *c, bool is_on, span key)
{
    if (!is_on && key.p)
        return err_validation(c->err,
                              INVALID "KMSMasterKeyId can not be specified if Enabled is false");
    if (key.p && (key.n == 0 || key.n > LIMIT_KMS_KEY_BYTES || !utf8_check(key)))
        return err_validation(c->err, INVALID "KMSMasterKeyId is not valid");
    return SHEAF_OK;
}

static sheaf_rc update_kms(struct ctx *c, const struct table *t, struct table *next,
                           const struct core_update_table *q)
{
    if (q->kms == CORE_UNCHANGED) return SHEAF_OK;
    if (q->kms == CORE_OFF && !t->is_kms)
        return err_validation(c->err, INVALID "Table is already encrypted by default");
    if (q->kms == CORE_ON && t->is_kms && (!q->kms_key.p || span_eq(q->kms_key, t->kms_key)))
        return err_validation(c->err, INVALID "Table is already encrypted with given "
                                              "KMSMasterKeyId. Use KMSMasterKeyId parameter if "
                                              "you want to change Master Key");
    next->is_kms = q->kms == CORE_ON;
    next->kms_key = SPAN_NONE;
    if (!q->kms_key.p) return SHEAF_OK;
    next->kms_key = arena_dup(&next->arena, q->kms_key);
    return next->kms_key.p ? SHEAF_OK : err_nomem(c->err);
}

/* ---- checks ---- */

sheaf_rc settings_check_index(struct ctx *c, const struct core_index_def *x, bool is_provisioned)
{
    struct subject of = {x->name, is_provisioned, {x->read_units, x->write_units}};
    TRY(check_on_demand(c, &x->on_demand, &of, false));
    return check_new_warm(c, &x->warm, &of);
}

sheaf_rc settings_check_create(struct ctx *c, const struct core_create_table *q)
{
    struct subject of = {SPAN_NONE, q->is_provisioned, {q->read_units, q->write_units}};
    TRY(check_on_demand(c, &q->on_demand, &of, false));
    TRY(check_new_warm(c, &q->warm, &of));
    TRY(check_kms(c, q->is_kms, q->kms_key));
    return tags_check(c, q->tags, q->n_tags);
}

/* Whether the table is provisioned is not known yet, so only the ranges are judged. */
sheaf_rc settings_check_update(struct ctx *c, const struct core_update_table *q)
{
    struct subject table = {.is_provisioned = false};
    TRY(check_on_demand(c, &q->on_demand, &table, true));
    for (uint32_t i = 0; i < core_n_updates(q); i++) {
        struct subject index = {.index = q->update_index[i].name};
        TRY(check_on_demand(c, &q->update_index[i].on_demand, &index, true));
    }
    return check_kms(c, q->kms == CORE_ON, q->kms_key);
}

/* ---- a new table ---- */

bool settings_create(struct table *t, const struct core_create_table *q)
{
    struct arena *a = &t->arena;
    merge_on_demand(&t->on_demand, &q->on_demand);
    struct core_throughput warm = {.read = q->warm.has_read ? q->warm.read : 0,
                                   .write = q->warm.has_write ? q->warm.write : 0};
    t->warm = settings_warm(&warm, t->is_provisioned, t->read_units, t->write_units);
    t->is_kms = q->is_kms;
    t->on_demand_us = t->is_provisioned ? 0 : t->created_us;
    if (q->kms_key.p) t->kms_key = arena_dup(a, q->kms_key);
    if (q->kms_key.p && !t->kms_key.p) return false;
    t->n_tags = q->n_tags;
    if (!table_dup_tags(a, q->tags, q->n_tags, &t->tags)) return false;
    tags_sort(t->tags, t->n_tags);
    return true;
}

/* ---- a changed one ---- */

static int64_t day_of(int64_t us) { return us >= 0 ? us / DAY_US : -((DAY_US - 1 - us) / DAY_US); }

struct core_unit_changes settings_changes(const struct core_unit_changes *changes, int64_t now_us)
{
    struct core_unit_changes out = *changes;
    if (day_of(out.decreased_us) != day_of(now_us)) out.decreases_today = 0;
    return out;
}

static void note_units(struct core_unit_changes *changes, const uint64_t from[2],
                       const uint64_t to[2], int64_t now_us)
{
    *changes = settings_changes(changes, now_us);
    if (to[0] > from[0] || to[1] > from[1]) changes->increased_us = now_us;
    if (to[0] >= from[0] && to[1] >= from[1]) return;
    changes->decreased_us = now_us;
    changes->decreases_today++;
}

static sheaf_rc update_index(struct ctx *c, struct table_index *x, const struct core_index_def *q,
                             bool is_provisioned)
{
    struct subject of = {x->def.name, is_provisioned, {0, 0}};
    TRY(check_on_demand(c, &q->on_demand, &of, true));
    merge_on_demand(&x->def.on_demand, &q->on_demand);
    return raise_warm(c, &q->warm, x->def.name, &x->def.warm);
}

/* Units that changed, and the warm throughput that went up with them. */
static void follow_units(const struct table *t, struct table *next, int64_t now_us)
{
    bool was = t->is_provisioned, is = next->is_provisioned;
    if (was && is)
        note_units(&next->changes, (uint64_t[]){t->read_units, t->write_units},
                   (uint64_t[]){next->read_units, next->write_units}, now_us);
    next->warm = settings_warm(&next->warm, was, t->read_units, t->write_units);
    next->warm = settings_warm(&next->warm, is, next->read_units, next->write_units);
    assert(t->n_indexes == next->n_indexes);
    for (uint32_t i = 0; i < next->n_indexes; i++) {
        const struct core_index_def *old = &t->indexes[i].def;
        struct core_index_def *def = &next->indexes[i].def;
        if (def->is_local) continue;
        if (was && is)
            note_units(&next->indexes[i].changes, (uint64_t[]){old->read_units, old->write_units},
                       (uint64_t[]){def->read_units, def->write_units}, now_us);
        def->warm = settings_warm(&def->warm, was, old->read_units, old->write_units);
        def->warm = settings_warm(&def->warm, is, def->read_units, def->write_units);
    }
}

static void follow_billing(const struct table *t, struct table *next, int64_t now_us)
{
    if (t->is_provisioned && !next->is_provisioned) next->on_demand_us = now_us;
    if (!t->is_provisioned && !t->on_demand_us) next->on_demand_us = t->created_us;
    if (!next->is_provisioned) return;
    next->on_demand = (struct core_throughput){.read = 0};
    for (uint32_t i = 0; i < next->n_indexes; i++)
        next->indexes[i].def.on_demand = (struct core_throughput){.read = 0};
}

sheaf_rc settings_update(struct core *core, struct ctx *c, const struct table *t,
                         struct table *next, const struct core_update_table *q)
{
    int64_t now_us = core_now_us(core);
    struct subject of = {.is_provisioned = next->is_provisioned};
    follow_units(t, next, now_us);
    TRY(check_on_demand(c, &q->on_demand, &of, true));
    merge_on_demand(&next->on_demand, &q->on_demand);
    TRY(raise_warm(c, &q->warm, SPAN_NONE, &next->warm));
    for (uint32_t i = 0; i < core_n_updates(q); i++) {
        const struct table_index *x = table_index(next, q->update_index[i].name);
        assert(x && !x->def.is_local); /* its units were updated already */
        TRY(update_index(c, &next->indexes[x - next->indexes], &q->update_index[i],
                         next->is_provisioned));
    }
    follow_billing(t, next, now_us);
    if (q->infrequent != CORE_UNCHANGED && next->is_infrequent != t->is_infrequent)
        next->class_us = now_us;
    return update_kms(c, t, next, q);
}
