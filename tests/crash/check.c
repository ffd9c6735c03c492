/* tests/crash/check.c: from a data directory and a ledger to a verdict.
 *
 * The log of the directory says which transactions are present and in which order; from that
 * follows what every key and the counter must be. The ledger says which ones must be present.
 *
 * To know before editing: the checker itself is tested by planted bugs (crash.c). A new rule here
 * deserves a plant there. */
#include "check.h"

#include "base/err.h"
#include "base/mem.h"
#include "tree.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- ledger ---- */

void ledger_clear(struct ledger *l)
{
    for (size_t i = 0; i < LEDGER_EPOCHS; i++) mem_free(l->epochs[i].rows);
    *l = (struct ledger){0};
}

static struct ledger_row *row_of(struct ledger *l, uint64_t n)
{
    uint64_t epoch = n >> WORK_SEQUENCE_BITS, i = n & ((1u << WORK_SEQUENCE_BITS) - 1);
    if (epoch >= LEDGER_EPOCHS || i > 1u << 20) return NULL;
    if (i >= l->epochs[epoch].n) {
        size_t old = l->epochs[epoch].n, need = i + 1;
        l->epochs[epoch].rows =
            grow(l->epochs[epoch].rows, &l->epochs[epoch].cap, need, sizeof *l->epochs[epoch].rows);
        memset(l->epochs[epoch].rows + old, 0, (need - old) * sizeof(struct ledger_row));
        l->epochs[epoch].n = need;
    }
    return &l->epochs[epoch].rows[i];
}

static bool same_stamp(const sheaf_stamp *a, const void *b)
{
    return memcmp(a->b, b, SHEAF_STAMP_BYTES) == 0;
}

bool ledger_take(struct ledger *l, const struct work_message *m)
{
    if (m->kind == 0) return true;
    if (m->kind == WORK_LIVE) {
        bool is_newer = m->n > l->live;
        l->live = m->n;
        return is_newer;
    }
    if (m->kind == WORK_COPIED) {
        if (l->n_copies == LEDGER_COPIES) return false;
        l->copies[l->n_copies].n = m->n;
        l->copies[l->n_copies++].least = m->count;
        return true;
    }
    if (m->kind == WORK_OPENED) l->n_opened++;
    if (m->kind == WORK_OPENED && m->count == 0) return true;
    struct ledger_row *row = row_of(l, m->n);
    if (!row || m->kind > WORK_COPIED) return false;
    if (row->flags && !same_stamp(&row->stamp, m->stamp.b)) return false;
    if (m->kind == WORK_ACKED && (row->flags & ROW_ACKED)) return false;
    if (m->kind == WORK_ACKED)
        l->n_acked++;
    else
        row->rank = (uint32_t)m->count;
    row->flags |= ROW_ACKED;
    row->stamp = m->stamp;
    return true;
}

static bool ledger_expects_anything(const struct ledger *l)
{
    if (l->live) return true;
    for (size_t e = 0; e < LEDGER_EPOCHS; e++)
        for (size_t i = 0; i < l->epochs[e].n; i++)
            if (l->epochs[e].rows[i].flags) return true;
    return false;
}

/* ---- complaining ---- */

static void complain(struct verdict *v, uint64_t *which, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void complain(struct verdict *v, uint64_t *which, const char *format, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (v->n_complaints < 4) memcpy(v->complaint[v->n_complaints++], text, sizeof text);
    if (which == &v->lost && v->lost == 0) memcpy(v->first_lost, text, sizeof text);
    if (which == &v->torn && v->torn == 0) memcpy(v->first_torn, text, sizeof text);
    ++*which;
}

/* ---- the log ---- */

struct check {
    struct ledger *l;
    struct verdict *v;
    sheaf_engine *e;
    bool is_disk;
    uint64_t count, sum, last_epoch;
    uint64_t newest[WORK_GROUPS]; /* the last transaction of each group, plus 1 */
    sheaf_error err;
};

static void check_known(struct check *c, struct ledger_row *row, uint64_t n, const void *stamp)
{
    struct verdict *v = c->v;
    if (row->check == c->l->checks) complain(v, &v->other, "%" PRIx64 " is in the log twice", n);
    row->check = c->l->checks;
    if (row->flags && !same_stamp(&row->stamp, stamp))
        complain(v, &v->other, "%" PRIx64 " has another stamp than was acknowledged", n);
    if (row->rank && row->rank != c->count)
        complain(v, &v->other, "%" PRIx64 " was record %u of the log, now %" PRIu64, n, row->rank,
                 c->count);
    if (!c->is_disk) return;
    row->flags |= ROW_SEEN;
    row->rank = (uint32_t)c->count;
    memcpy(row->stamp.b, stamp, SHEAF_STAMP_BYTES);
}

static void check_record(struct check *c, const struct sheaf_row *r)
{
    uint8_t want[WORK_RECORD_MAX];
    struct verdict *v = c->v;
    bool is_long = r->value.n >= WORK_RECORD_MIN;
    uint64_t found = is_long ? work_found(r->value.p) : 0;
    uint64_t n = is_long ? work_number(r->value.p) : UINT64_MAX;
    struct ledger_row *row = n == UINT64_MAX ? NULL : row_of(c->l, n);
    c->count++;
    if (!row || r->key.s.n != SHEAF_STAMP_BYTES ||
        !span_eq(r->value, SPAN(want, work_record(n, found, want)))) {
        complain(v, &v->other, "record %" PRIu64 " of the log is not ours", c->count);
        return;
    }
    c->sum += n;
    if (work_reads(n) && found != c->newest[work_group(n)])
        complain(v, &v->other, "%" PRIx64 " read %" PRIx64 ", which is not there any more", n,
                 found - 1);
    c->newest[work_group(n)] = n + 1;
    /* A later writer got a smaller stamp, or one that had been given before. */
    if (n >> WORK_SEQUENCE_BITS < c->last_epoch)
        complain(v, &v->other, "%" PRIx64 " is behind a transaction of a later writer", n);
    c->last_epoch = n >> WORK_SEQUENCE_BITS;
    check_known(c, row, n, r->key.s.p);
}

static sheaf_rc check_log(struct check *c, sheaf_txn *t)
{
    sheaf_cursor *cursor;
    struct sheaf_row row;
    bool has_row = true;
    TRY(eng_range(t, &(struct sheaf_range){.p = work_log()}, &cursor, &c->err));
    sheaf_rc rc = SHEAF_OK;
    while (rc == SHEAF_OK && has_row) {
        rc = eng_next(cursor, &row, &has_row, &c->err);
        if (rc == SHEAF_OK && has_row) check_record(c, &row);
    }
    eng_cursor_close(cursor);
    return rc;
}

static void check_lost(struct check *c)
{
    struct verdict *v = c->v;
    for (size_t e = 0; e < LEDGER_EPOCHS; e++) {
        for (size_t i = 0; i < c->l->epochs[e].n; i++) {
            const struct ledger_row *row = &c->l->epochs[e].rows[i];
            if (!row->flags || row->check == c->l->checks) continue;
            complain(v, &v->lost, "transaction %zu of writer %zu was %s and is lost", i, e,
                     row->flags & ROW_ACKED ? "acknowledged" : "on the disk");
        }
    }
}

/* ---- the rest follows from the log ---- */

static sheaf_rc check_group(struct check *c, sheaf_txn *t, unsigned g, uint64_t *keys)
{
    static uint8_t want[WORK_VALUE_MAX];
    struct verdict *v = c->v;
    for (unsigned k = 0; k < WORK_KEYS; k++) {
        sheaf_engine_key key = work_key(g, k);
        span value;
        TRY(eng_get(t, 1, &key, &value, &c->err));
        size_t n = c->newest[g] ? work_value(c->newest[g] - 1, k, want) : 0;
        *keys += n > 0;
        if (n == 0 ? value.p == NULL : value.p && span_eq(value, SPAN(want, n))) continue;
        complain(v, &v->torn, "key %u of group %u is not what transaction %" PRIx64 " wrote: %s", k,
                 g, c->newest[g] - 1,
                 !value.p ? "absent"
                 : n      ? "other bytes"
                          : "not deleted");
    }
    return SHEAF_OK;
}

static sheaf_rc check_counter(struct check *c, sheaf_txn *t)
{
    uint64_t got[2] = {0};
    span value;
    sheaf_engine_key key = work_counter();
    struct verdict *v = c->v;
    TRY(eng_get(t, 1, &key, &value, &c->err));
    if (value.n == sizeof got) memcpy(got, value.p, sizeof got);
    if (got[0] != c->count || got[1] != c->sum)
        complain(v, &v->torn, "the counter says %" PRIu64 " transactions, the log %" PRIu64, got[0],
                 c->count);
    return SHEAF_OK;
}

/* Every key of the space, walked: none too many. */
static sheaf_rc check_walk(struct check *c, sheaf_txn *t, uint64_t want)
{
    sheaf_cursor *cursor;
    struct sheaf_row row;
    bool has_row = true;
    uint64_t n = 0;
    TRY(eng_walk(t, &(struct sheaf_walk){.space = WORK_SPACE}, &cursor, &c->err));
    sheaf_rc rc = SHEAF_OK;
    while (rc == SHEAF_OK && has_row) {
        rc = eng_next(cursor, &row, &has_row, &c->err);
        n += rc == SHEAF_OK && has_row;
    }
    eng_cursor_close(cursor);
    if (rc == SHEAF_OK && n != want)
        complain(c->v, &c->v->torn, "%" PRIu64 " keys in the space instead of %" PRIu64, n, want);
    return rc;
}

/* ---- the live space ---- */

static sheaf_rc check_rows(struct check *c, sheaf_txn *t, uint64_t g)
{
    uint8_t want[WORK_ROW_BYTES];
    struct verdict *v = c->v;
    for (unsigned i = 0; i < work_rows(g); i++) {
        sheaf_engine_key key = work_row_key(g, i);
        span value;
        TRY(eng_get(t, 1, &key, &value, &c->err));
        if (value.p && span_eq(value, SPAN(want, work_row(g, i, want)))) continue;
        complain(v, &v->lost, "row %u of the live space %" PRIx64 " is %s", i, g,
                 value.p ? "not what was written" : "gone");
    }
    return SHEAF_OK;
}

static sheaf_rc check_live(struct check *c, sheaf_txn *t)
{
    struct verdict *v = c->v;
    sheaf_engine_key key = work_catalog();
    span value;
    uint64_t g = 0;
    TRY(eng_get(t, 1, &key, &value, &c->err));
    if (value.n == sizeof g) memcpy(&g, value.p, sizeof g);
    if (g < c->l->live)
        complain(v, &v->lost, "space %" PRIx64 " is live, but %" PRIx64 " was already", g,
                 c->l->live);
    if (c->is_disk) c->l->live = g;
    return g ? check_rows(c, t, g) : SHEAF_OK;
}

static sheaf_rc check_all(struct check *c, sheaf_txn *t)
{
    uint64_t keys = 0;
    TRY(check_log(c, t));
    check_lost(c);
    for (unsigned g = 0; g < WORK_GROUPS; g++) TRY(check_group(c, t, g, &keys));
    TRY(check_counter(c, t));
    TRY(check_live(c, t));
    return check_walk(c, t, keys + c->count + (c->count > 0));
}

static bool engine_complains(void *ctx, const sheaf_engine_key *key, const char *what)
{
    struct check *c = ctx;
    (void)key;
    complain(c->v, &c->v->other, "verify: %s", what);
    return true;
}

static sheaf_rc check_engine(struct check *c)
{
    sheaf_txn *t;
    TRY(eng_begin(c->e, SHEAF_TXN_SNAPSHOT, &t, &c->err));
    sheaf_rc rc = check_all(c, t);
    eng_rollback(t);
    if (rc == SHEAF_OK) rc = eng_verify(c->e, engine_complains, c, &c->err);
    return rc;
}

void check_directory(struct ledger *l, const char *directory, bool is_disk, struct verdict *v)
{
    *v = (struct verdict){0};
    struct check c = {.l = l, .v = v, .is_disk = is_disk};
    struct sheaf_rocks_options options = {.block_cache_bytes = 1 << 20,
                                          .row_cache_bytes = 1 << 20,
                                          .must_exist = ledger_expects_anything(l),
                                          .owner = "crash checker"};
    l->checks++;
    /* A writer that died before it had made its directory, and nobody expects anything of it. */
    if (!options.must_exist && access(directory, F_OK) != 0) return;
    sheaf_rc rc = sheaf_engine_open_rocks(directory, &options, &c.e, &c.err);
    if (rc == SHEAF_OK) rc = check_engine(&c);
    if (rc != SHEAF_OK) complain(v, &v->other, "rc %d: %s", (int)rc, c.err.message);
    sheaf_engine_close(c.e);
    v->present = c.count;
}

void check_copy(const char *directory, uint64_t least, struct verdict *v)
{
    struct ledger *nothing = mem_zalloc(sizeof *nothing);
    if (!nothing) give_up("memory", "");
    check_directory(nothing, directory, false, v);
    if (v->present < least || access(directory, F_OK) != 0)
        complain(v, &v->lost, "a copy holds %" PRIu64 " transactions of %" PRIu64, v->present,
                 least);
    ledger_clear(nothing);
    mem_free(nothing);
}
