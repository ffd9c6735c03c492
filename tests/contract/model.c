/* Turns a seed into random operations on an engine and on a sorted array, and compares the two
 * after every step. Snapshots and transactions are kept open for a while, so old moments and
 * conflicts are compared, too.
 *
 * Before editing: a divergence is reported with the number of its operation; the same seed must
 * lead there again, so nothing may depend on anything but the seed and the engine's answers. */
#include "contract/contract.h"
#include "contract/oracle.h"

#include <inttypes.h>

enum {
    PLACES = 8, /* 0..3 values, 4 and 5 numbers, 6 and 7 logs */
    FIRST_NUMBER = 4,
    FIRST_LOG = 6,
    SPACES = 3,
    SNAPSHOTS = 4,
    TXNS = 3,
    MAX_WRITES = 12,
    MAX_READS = 24
};

enum write_kind { PUT, DEL, DEL_RANGE, ADD, APPEND };

struct write {
    enum write_kind kind;
    struct oracle_key key; /* DEL_RANGE: lo */
    struct oracle_key hi;
    bool has_hi;
    struct oracle_value value;
    int64_t deltas[2];
};

/* What a get of an open transaction answered: only true if its commit passes. */
struct seen {
    struct oracle_key key;
    bool is_present;
    uint64_t sum;
};

struct open_txn {
    sheaf_txn *t;
    struct write writes[MAX_WRITES];
    struct seen reads[MAX_READS];
    size_t n_writes, n_reads;
    uint64_t began; /* how many commits there were at its first read */
    bool has_read;
    bool is_stale; /* something it read was written since: it must conflict */
};

struct kept {
    sheaf_txn *t;
    struct oracle o;
    sheaf_cursor *c; /* may be NULL; a range of one place held open, at `at`, until `end` */
    size_t at, end;
    bool is_reverse;
};

struct model {
    struct world *w;
    struct rng rng;
    uint64_t op, n_ops, commits, conflicts, spurious;
    sheaf_place place[PLACES];
    uint64_t space[SPACES], next_space;
    struct oracle now;
    struct open_txn txn[TXNS];
    struct kept kept[SNAPSHOTS];
};

#define DIVERGE(m, ...)                                                                            \
    do {                                                                                           \
        char what_[200];                                                                           \
        snprintf(what_, sizeof what_, __VA_ARGS__);                                                \
        fail_msg("operation %" PRIu64 ": %s", (m)->op, what_);                                     \
    } while (0)
#define AGREE(m, claim)                                                                            \
    do {                                                                                           \
        if (!(claim)) DIVERGE(m, "not %s", #claim);                                                \
    } while (0)

static uint64_t below(struct model *m, uint64_t n) { return rng_below(&m->rng, n); }

/* ---- drawing ---- */

/* Few different bytes and lengths: prefixes, equal keys and neighbours are common. */
static struct oracle_key draw_key(struct model *m, unsigned place)
{
    static const uint8_t bytes[] = {0x00, 0x01, 'a', 0x7F, 0x80, 0xFE, 0xFF};
    struct oracle_key k = {.place = (uint8_t)place};
    k.n = (uint8_t)(below(m, 20) ? below(m, 5) : below(m, ORACLE_MAX_S + 1));
    for (uint8_t i = 0; i < k.n; i++) k.s[i] = bytes[below(m, sizeof bytes)];
    return k;
}

/* A log's keys are stamps: a known one, or something between. */
static struct oracle_key draw_any_key(struct model *m, unsigned place)
{
    if (place < FIRST_LOG) return draw_key(m, place);
    size_t from, to;
    oracle_span(&m->now, place, SPAN_NONE, SPAN_NONE, &from, &to);
    if (from == to || below(m, 10) == 0) return draw_key(m, place);
    struct oracle_key k = m->now.entry[from + below(m, to - from)].key;
    if (below(m, 4) == 0) k.s[k.n++] = 0;
    return k;
}

static struct oracle_value draw_value(struct model *m)
{
    struct oracle_value v = {.n = (uint16_t)below(m, ORACLE_INLINE + 1)};
    if (below(m, 20) == 0) v.n = (uint16_t)(ORACLE_INLINE + 1 + below(m, ORACLE_MAX_VALUE - 100));
    uint64_t x = rng_u64(&m->rng);
    for (size_t i = 0; i < ORACLE_INLINE; i++) v.b[i] = (uint8_t)(x >> (i % 8 * 8));
    return v;
}

/* How many numbers a counter has is a property of its key. */
static size_t numbers_of(const struct oracle_key *k) { return 1 + k->n % 2; }

static sheaf_engine_key real_key(const struct model *m, const struct oracle_key *k)
{
    return key_at(m->place[k->place], oracle_s(k));
}

static unsigned place_index(struct model *m, const sheaf_place *p)
{
    for (unsigned i = 0; i < PLACES; i++)
        if (memcmp(m->place[i].b, p->b, sizeof p->b) == 0) return i;
    DIVERGE(m, "a row of a place that was never written");
    return 0;
}

static void agree_value(struct model *m, span got, const struct oracle_entry *want)
{
    static uint8_t buf[ORACLE_MAX_VALUE + 8];
    AGREE(m, (got.p != NULL) == (want != NULL));
    if (want) AGREE(m, span_eq(got, oracle_bytes(&want->value, buf)));
}

static void agree_row(struct model *m, const struct sheaf_row *row, const struct oracle_entry *want)
{
    AGREE(m, memcmp(row->key.p.b, m->place[want->key.place].b, SHEAF_PLACE_BYTES) == 0);
    AGREE(m, span_eq(row->key.s, oracle_s(&want->key)));
    agree_value(m, row->value, want);
}

/* ---- reading ---- */

static uint64_t sum_of(span s)
{
    uint64_t sum = 0xCBF29CE484222325u ^ s.n;
    for (size_t i = 0; i < s.n; i++) sum = (sum ^ ((const uint8_t *)s.p)[i]) * 0x100000001B3u;
    return sum;
}

/* A transaction may read the moment of its first read or a later one, as long as its commit is
 * refused when that matters: so a get is compared at once when nothing was committed since, and
 * always when its commit has passed. */
static void remember(struct open_txn *x, const struct oracle_key *k, span got)
{
    x->reads[x->n_reads++] = (struct seen){*k, got.p != NULL, sum_of(got)};
}

static void agree_seen(struct model *m, const struct open_txn *x)
{
    static uint8_t buf[ORACLE_MAX_VALUE + 8];
    for (size_t i = 0; i < x->n_reads; i++) {
        const struct oracle_entry *e = oracle_get(&m->now, &x->reads[i].key);
        AGREE(m, x->reads[i].is_present == (e != NULL));
        if (e) AGREE(m, x->reads[i].sum == sum_of(oracle_bytes(&e->value, buf)));
    }
}

/* Whether the transaction must still see the newest state. */
static bool is_fresh(const struct model *m, struct open_txn *x)
{
    if (!x->has_read) x->has_read = true, x->began = m->commits;
    return x->began == m->commits;
}

static void read_keys(struct model *m, sheaf_txn *t, const struct oracle *o, struct open_txn *mine)
{
    enum { MAX = 5 };
    struct oracle_key k[MAX];
    sheaf_engine_key keys[MAX];
    span values[MAX];
    size_t n = 1 + below(m, MAX);
    if (mine && mine->n_reads + n > MAX_READS) return;
    for (size_t i = 0; i < n; i++) {
        k[i] = draw_any_key(m, (unsigned)below(m, PLACES));
        keys[i] = real_key(m, &k[i]);
    }
    assert_ok(eng_get(t, n, keys, values, NULL));
    for (size_t i = 0; i < n; i++) {
        if (!mine || is_fresh(m, mine)) agree_value(m, values[i], oracle_get(o, &k[i]));
        if (mine) remember(mine, &k[i], values[i]);
    }
}

static void read_one(struct model *m)
{
    struct oracle_key k = draw_any_key(m, (unsigned)below(m, PLACES));
    sheaf_engine_key key = real_key(m, &k);
    span value;
    void *pin;
    pin_read(m->w, &key, &value, &pin);
    agree_value(m, value, oracle_get(&m->now, &k));
    pin_done(m->w, pin);
}

static void read_range(struct model *m, sheaf_txn *t, const struct oracle *o)
{
    unsigned place = (unsigned)below(m, PLACES);
    struct oracle_key lo = draw_any_key(m, place), hi = draw_any_key(m, place);
    bool has_lo = below(m, 3) > 0, has_hi = below(m, 3) > 0;
    struct sheaf_range range = {.p = m->place[place], .is_reverse = below(m, 2)};
    if (has_lo) range.lo = oracle_s(&lo);
    if (has_hi) range.hi = oracle_s(&hi);
    if (below(m, 4)) range.max_rows = (uint32_t)(1 + below(m, 20));
    if (below(m, 4) == 0) range.max_bytes = 1 + below(m, 2000);
    size_t from, to, rows = 0;
    oracle_span(o, place, range.lo, range.hi, &from, &to);
    sheaf_cursor *c;
    uint64_t bytes = 0;
    assert_ok(eng_range(t, &range, &c, NULL));
    for (;; rows++) {
        struct sheaf_row row;
        bool has_row, want = from < to && (!range.max_rows || rows < range.max_rows) &&
                             (!range.max_bytes || bytes < range.max_bytes);
        assert_ok(eng_next(c, &row, &has_row, NULL));
        AGREE(m, has_row == want);
        if (!has_row) break;
        agree_row(m, &row, &o->entry[range.is_reverse ? --to : from++]);
        bytes += row.key.s.n + row.value.n;
    }
    eng_cursor_close(c);
}

static void count_space(const struct model *m, const struct oracle *o, uint64_t space, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < o->n; i++)
        *n += sheaf_place_space(&m->place[o->entry[i].key.place]) == space;
}

/* Rows of one walk: whole places, each in order, none twice. A place may be cut by the limit. */
struct walk_check {
    size_t at, end; /* in the oracle: what is left of the current place */
    unsigned place;
    bool met[PLACES];
    size_t rows;
};

static void agree_walk_row(struct model *m, const struct oracle *o, struct walk_check *k,
                           const struct sheaf_row *row)
{
    unsigned place = place_index(m, &row->key.p);
    if (k->at == k->end) {
        AGREE(m, !k->met[place]);
        k->met[place] = true;
        oracle_span(o, place, SPAN_NONE, SPAN_NONE, &k->at, &k->end);
    }
    AGREE(m, k->at < k->end);
    agree_row(m, row, &o->entry[k->at++]);
    k->rows++;
}

/* One segment, in pages; each page resumes behind the last row of the one before. */
static void walk_segment(struct model *m, sheaf_txn *t, const struct oracle *o,
                         struct sheaf_walk walk, struct walk_check *k)
{
    sheaf_engine_key after;
    uint8_t s[64];
    for (;;) {
        sheaf_cursor *c;
        size_t page = 0;
        assert_ok(eng_walk(t, &walk, &c, NULL));
        for (;; page++) {
            struct sheaf_row row;
            bool has_row;
            assert_ok(eng_next(c, &row, &has_row, NULL));
            if (!has_row) break;
            agree_walk_row(m, o, k, &row);
            AGREE(m, row.key.s.n <= sizeof s);
            if (row.key.s.n) memcpy(s, row.key.s.p, row.key.s.n);
            after = key_at(row.key.p, SPAN(s, row.key.s.n));
        }
        eng_cursor_close(c);
        AGREE(m, !walk.max_rows || page <= walk.max_rows);
        AGREE(m, k->rows <= o->n);
        if (!walk.max_rows || page < walk.max_rows) return;
        walk.after = &after;
    }
}

static void read_walk(struct model *m, sheaf_txn *t, const struct oracle *o)
{
    uint64_t space = m->space[below(m, SPACES)];
    uint32_t n_segments = (uint32_t)(1 + below(m, 3));
    struct walk_check k = {0};
    size_t n;
    uint32_t max_rows = below(m, 2) ? 0 : (uint32_t)(20 + below(m, 100));
    for (uint32_t i = 0; i < n_segments; i++) {
        walk_segment(m, t, o, (struct sheaf_walk){space, i, n_segments, NULL, max_rows, 0}, &k);
        AGREE(m, k.at == k.end);
    }
    count_space(m, o, space, &n);
    AGREE(m, k.rows == n);
}

/* ---- kept snapshots ---- */

static void kept_drop(struct model *m, struct kept *s)
{
    if (!s->t) return;
    eng_cursor_close(s->c);
    txn_rollback(m->w, s->t);
    s->t = NULL, s->c = NULL;
}

static void kept_take(struct model *m, struct kept *s)
{
    kept_drop(m, s);
    s->t = txn_begin(m->w, SHEAF_TXN_SNAPSHOT);
    oracle_copy(&s->o, &m->now);
}

/* A cursor that stays open: one row of it is read now and then. */
static void kept_step(struct model *m, struct kept *s)
{
    if (!s->c) {
        unsigned place = (unsigned)below(m, PLACES);
        s->is_reverse = below(m, 2);
        oracle_span(&s->o, place, SPAN_NONE, SPAN_NONE, &s->at, &s->end);
        struct sheaf_range range = {.p = m->place[place], .is_reverse = s->is_reverse};
        assert_ok(eng_range(s->t, &range, &s->c, NULL));
    }
    struct sheaf_row row;
    bool has_row;
    assert_ok(eng_next(s->c, &row, &has_row, NULL));
    AGREE(m, has_row == (s->at < s->end));
    if (has_row) {
        agree_row(m, &row, &s->o.entry[s->is_reverse ? --s->end : s->at++]);
        return;
    }
    eng_cursor_close(s->c);
    s->c = NULL;
}

static void do_kept(struct model *m)
{
    struct kept *s = &m->kept[below(m, SNAPSHOTS)];
    if (!s->t || below(m, 100) == 0) kept_take(m, s);
    switch (below(m, 6)) {
    case 0:
        read_range(m, s->t, &s->o);
        break;
    case 1:
        if (below(m, 20) == 0) read_walk(m, s->t, &s->o);
        break;
    case 2:
    case 3:
        read_keys(m, s->t, &s->o, NULL);
        break;
    default:
        kept_step(m, s);
        break;
    }
}

/* ---- writing ---- */

/* Mostly narrow, so that places stay full: what begins with lo and 00. */
static void draw_hi(struct model *m, struct write *x)
{
    bool is_wide = below(m, 20) == 0;
    x->hi = is_wide ? draw_any_key(m, x->key.place) : x->key;
    x->has_hi = !is_wide || below(m, 3) > 0;
    if (!is_wide && x->hi.n < ORACLE_MAX_S) x->hi.s[x->hi.n++] = 1;
}

static void draw_write(struct model *m, struct write *x)
{
    unsigned place = (unsigned)below(m, PLACES);
    *x = (struct write){.key = draw_any_key(m, place), .value = draw_value(m)};
    if (below(m, 12) == 0) {
        x->kind = DEL_RANGE;
        draw_hi(m, x);
    } else if (below(m, 4) == 0) {
        x->kind = DEL;
    } else if (place >= FIRST_LOG) {
        x->kind = APPEND;
    } else if (place >= FIRST_NUMBER) {
        x->kind = below(m, 5) ? ADD : PUT;
        x->value.n = (uint16_t)(8 * numbers_of(&x->key));
        for (size_t i = 0; i < 2; i++) x->deltas[i] = (int64_t)below(m, 2000) - 1000;
    } else {
        x->kind = PUT;
    }
}

static sheaf_rc give_write(struct model *m, sheaf_txn *t, const struct write *x)
{
    static uint8_t buf[ORACLE_MAX_VALUE + 8];
    sheaf_engine_key k = real_key(m, &x->key);
    switch (x->kind) {
    case PUT:
        return eng_put(t, &k, oracle_bytes(&x->value, buf), NULL);
    case DEL:
        return eng_del(t, &k, NULL);
    case DEL_RANGE:
        return eng_del_range(t, &k.p, k.s, x->has_hi ? oracle_s(&x->hi) : SPAN_NONE, NULL);
    case ADD:
        return eng_add(t, &k, numbers_of(&x->key), x->deltas, NULL);
    default:
        return eng_append(t, &k.p, oracle_bytes(&x->value, buf), NULL);
    }
}

/* Whoever has read the key and is still open must conflict. */
static void mark_stale(struct model *m, const struct oracle_key *k)
{
    for (int i = 0; i < TXNS; i++)
        for (size_t r = 0; m->txn[i].t && r < m->txn[i].n_reads; r++)
            if (oracle_key_cmp(&m->txn[i].reads[r].key, k) == 0) m->txn[i].is_stale = true;
}

static void apply_del_range(struct model *m, const struct write *x)
{
    size_t from, to;
    oracle_span(&m->now, x->key.place, oracle_s(&x->key), x->has_hi ? oracle_s(&x->hi) : SPAN_NONE,
                &from, &to);
    for (size_t i = from; i < to; i++) mark_stale(m, &m->now.entry[i].key);
    oracle_del_span(&m->now, from, to);
}

static void apply_append(struct model *m, const struct write *x, sheaf_stamp stamp,
                         uint32_t ordinal)
{
    for (int i = 0; i < 4; i++) stamp.b[8 + i] = (uint8_t)(ordinal >> (24 - 8 * i));
    struct oracle_key k = oracle_key_make(x->key.place, SPAN(stamp.b, sizeof stamp.b));
    size_t from, to;
    oracle_span(&m->now, x->key.place, oracle_s(&k), SPAN_NONE, &from, &to);
    AGREE(m, from == to); /* behind everything in its log */
    oracle_put(&m->now, &k, &x->value);
}

static void apply(struct model *m, const struct open_txn *x, sheaf_stamp stamp)
{
    uint32_t ordinal = 0;
    for (size_t i = 0; i < x->n_writes; i++) {
        const struct write *wr = &x->writes[i];
        switch (wr->kind) {
        case PUT:
            mark_stale(m, &wr->key), oracle_put(&m->now, &wr->key, &wr->value);
            break;
        case DEL:
            if (oracle_del(&m->now, &wr->key)) mark_stale(m, &wr->key);
            break;
        case DEL_RANGE:
            apply_del_range(m, wr);
            break;
        case ADD:
            mark_stale(m, &wr->key);
            oracle_add(&m->now, &wr->key, numbers_of(&wr->key), wr->deltas);
            break;
        case APPEND:
            apply_append(m, wr, stamp, ordinal++);
            break;
        }
    }
}

static void end_txn(struct model *m, struct open_txn *x)
{
    sheaf_stamp stamp;
    sheaf_txn *t = x->t;
    if (below(m, 10) == 0) {
        txn_rollback(m->w, t);
        x->t = NULL;
        return;
    }
    sheaf_rc rc = txn_commit_at(m->w, t, NULL, &stamp);
    x->t = NULL;
    if (rc != SHEAF_OK && rc != SHEAF_CONFLICT) DIVERGE(m, "commit: rc %d", (int)rc);
    if (x->is_stale) AGREE(m, rc == SHEAF_CONFLICT);
    if (x->n_reads == 0) AGREE(m, rc == SHEAF_OK); /* blind writes never conflict */
    m->spurious += rc == SHEAF_CONFLICT && !x->is_stale;
    m->conflicts += rc == SHEAF_CONFLICT;
    m->commits += rc == SHEAF_OK;
    if (rc != SHEAF_OK) return;
    agree_seen(m, x);
    apply(m, x, stamp);
}

static void do_txn(struct model *m)
{
    struct open_txn *x = &m->txn[below(m, TXNS)];
    if (!x->t) *x = (struct open_txn){.t = txn_begin(m->w, SHEAF_TXN_RW)};
    uint64_t what = below(m, 10);
    if (what == 0 && x->n_reads < MAX_READS) {
        read_keys(m, x->t, &m->now, x);
    } else if (what == 1 && is_fresh(m, x)) {
        read_range(m, x->t, &m->now);
    } else if (what < 8 && x->n_writes < MAX_WRITES) {
        struct write *wr = &x->writes[x->n_writes++];
        draw_write(m, wr);
        assert_ok(give_write(m, x->t, wr));
    } else {
        end_txn(m, x);
    }
}

/* ---- the whole ---- */

static void drop_all_open(struct model *m)
{
    for (int i = 0; i < SNAPSHOTS; i++) kept_drop(m, &m->kept[i]);
    for (int i = 0; i < TXNS; i++) {
        if (m->txn[i].t) txn_rollback(m->w, m->txn[i].t);
        m->txn[i].t = NULL;
    }
}

static void compare_all(struct model *m)
{
    sheaf_txn *t = txn_begin(m->w, SHEAF_TXN_SNAPSHOT);
    size_t rows = 0;
    for (int i = 0; i < SPACES; i++) {
        struct walk_check k = {0};
        walk_segment(m, t, &m->now, (struct sheaf_walk){.space = m->space[i]}, &k);
        AGREE(m, k.at == k.end);
        rows += k.rows;
    }
    AGREE(m, rows == m->now.n);
    txn_rollback(m->w, t);
}

/* Places 2i.. belong to space i % SPACES; a dropped space's number is never used again. */
static void name_places(struct model *m, int space)
{
    m->space[space] = m->next_space++;
    for (unsigned i = 0; i < PLACES; i++)
        if ((int)(i % SPACES) == space) m->place[i] = place_of(m->space[space], i);
}

static void drop_one_space(struct model *m)
{
    int space = (int)below(m, SPACES);
    drop_all_open(m);
    assert_ok(eng_drop_space(m->w->e, m->space[space], NULL));
    sheaf_txn *t = txn_begin(m->w, SHEAF_TXN_SNAPSHOT);
    struct rows r = rows_walk(t, &(struct sheaf_walk){.space = m->space[space]});
    AGREE(m, r.n == 0);
    rows_free(&r);
    txn_rollback(m->w, t);
    for (unsigned i = 0; i < PLACES; i++) {
        size_t from, to;
        if ((int)(i % SPACES) != space) continue;
        oracle_span(&m->now, i, SPAN_NONE, SPAN_NONE, &from, &to);
        oracle_del_span(&m->now, from, to);
    }
    name_places(m, space);
}

static bool complain(void *ctx, const sheaf_engine_key *key, const char *what)
{
    (void)key;
    DIVERGE((struct model *)ctx, "verify: %s", what);
    return false;
}

static void now_and_then(struct model *m)
{
    if (m->op % 10000 == 0) compare_all(m);
    if (m->op % 15000 == 0) drop_one_space(m);
    if (m->op % 40000 == 0) {
        drop_all_open(m);
        assert_ok(eng_verify(m->w->e, complain, m, NULL));
        if (m->w->caps.is_durable) world_reopen(m->w);
        compare_all(m);
    }
}

static void test_model__agrees_with_a_sorted_array(void **state)
{
    struct model m = {.w = *state, .next_space = 100};
    rng_init(&m.rng, test_seed(20240607));
    m.n_ops = test_rounds(m.w->kind->model_operations);
    for (int i = 0; i < SPACES; i++) name_places(&m, i);
    for (m.op = 1; m.op <= m.n_ops; m.op++) {
        uint64_t what = below(&m, 100);
        if (what < 70)
            do_txn(&m);
        else if (what < 85)
            do_kept(&m);
        else
            read_one(&m);
        now_and_then(&m);
    }
    compare_all(&m);
    drop_all_open(&m);
    printf("%" PRIu64 " operations: %" PRIu64 " commits, %" PRIu64 " conflicts (%" PRIu64
           " spurious), %zu keys at the end\n",
           m.n_ops, m.commits, m.conflicts, m.spurious, m.now.n);
    assert_true(m.n_ops < 10000 || (m.commits > 0 && m.conflicts > 0));
    for (int i = 0; i < SNAPSHOTS; i++) oracle_free(&m.kept[i].o);
    oracle_free(&m.now);
}

struct case_list cases_model(void)
{
    static const struct CMUnitTest cases[] = {CASE(test_model__agrees_with_a_sorted_array)};
    return (struct case_list){cases, 1, false};
}
