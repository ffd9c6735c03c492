/* Durability, spaces that are dropped, copies, reopening, and what an engine says of itself. */
#include "contract/contract.h"

static sheaf_position put_at(struct world *w, sheaf_engine_key k, const char *value)
{
    sheaf_position at = 0;
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    txn_put(t, k, value);
    assert_ok(txn_commit_at(w, t, &at, NULL));
    return at;
}

static void test_visible__grows_with_every_commit(void **state)
{
    struct world *w = *state;
    sheaf_position last = eng_visible(w->e);
    for (int i = 0; i < 100; i++) {
        sheaf_position at = put_at(w, key_of(1, "k"), "v");
        assert_true(at > last);
        assert_true(eng_visible(w->e) >= at);
        assert_true(eng_durable(w->e) <= eng_visible(w->e));
        last = at;
    }
}

static void test_sync__makes_a_position_durable(void **state)
{
    struct world *w = *state;
    assert_ok(eng_sync(w->e, 0, NULL));
    for (int i = 0; i < 20; i++) {
        sheaf_position at = put_at(w, key_of(1, "k"), "v");
        assert_ok(eng_sync(w->e, at, NULL));
        assert_true(eng_durable(w->e) >= at);
        assert_ok(eng_sync(w->e, at, NULL));
    }
}

struct durable_note {
    sheaf_position at;
    atomic_uint calls;
    atomic_int rc;
};

static void on_durable(void *ctx, sheaf_rc rc)
{
    struct durable_note *n = ctx;
    atomic_store(&n->rc, (int)rc);
    atomic_fetch_add(&n->calls, 1);
}

static void test_on_durable__calls_back_exactly_once(void **state)
{
    struct world *w = *state;
    enum { N = 200 };
    static struct durable_note notes[N];
    memset(notes, 0, sizeof notes);
    for (int i = 0; i < N; i++) {
        notes[i].at = put_at(w, key_of(1, "k"), "v");
        assert_ok(eng_on_durable(w->e, notes[i].at, on_durable, &notes[i], NULL));
    }
    for (int i = 0; i < N; i++) {
        assert_true(wait_for(&notes[i].calls, 1));
        assert_int_equal(atomic_load(&notes[i].rc), SHEAF_OK);
        assert_true(eng_durable(w->e) >= notes[i].at);
    }
    assert_ok(eng_on_durable(w->e, notes[0].at, on_durable, &notes[0], NULL)); /* durable already */
    assert_int_equal(atomic_load(&notes[0].calls), 2);
    put_at(w, key_of(1, "k"), "v");
    assert_ok(eng_sync(w->e, eng_visible(w->e), NULL));
    for (int i = 1; i < N; i++) assert_int_equal(atomic_load(&notes[i].calls), 1);
}

static void test_sync__refuses_a_position_that_is_not_there_yet(void **state)
{
    struct world *w = *state;
    put_at(w, key_of(1, "k"), "v");
    const sheaf_position future[] = {eng_visible(w->e) + 1, eng_visible(w->e) + 1000, UINT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        struct durable_note note = {0};
        assert_rc(eng_sync(w->e, future[i], NULL), SHEAF_VALIDATION);
        assert_rc(eng_on_durable(w->e, future[i], on_durable, &note, NULL), SHEAF_VALIDATION);
        assert_int_equal(atomic_load(&note.calls), 0); /* an error is the whole answer */
    }
    assert_ok(eng_sync(w->e, eng_visible(w->e), NULL));
}

/* Closing waits for callbacks under way: none is lost, none comes later. */
static void test_close__has_run_every_callback(void **state)
{
    struct world *w = *state;
    enum { N = 50 };
    static struct durable_note notes[N];
    memset(notes, 0, sizeof notes);
    for (int i = 0; i < N; i++) {
        notes[i].at = put_at(w, key_of(1, "k"), "v");
        assert_ok(eng_on_durable(w->e, notes[i].at, on_durable, &notes[i], NULL));
    }
    sheaf_engine_close(w->e);
    w->e = NULL;
    for (int i = 0; i < N; i++) {
        assert_int_equal(atomic_load(&notes[i].calls), 1);
        assert_int_equal(atomic_load(&notes[i].rc), SHEAF_OK);
    }
}

static void test_reopen__holds_exactly_what_was_committed(void **state)
{
    struct world *w = *state;
    if (!w->caps.is_durable) skip();
    const int64_t one = 1;
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 300; i++) {
            sheaf_engine_key k = key_of(i % 10, "n");
            sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
            sheaf_engine_key own = key_at(place_of(1, i), SPAN(&i, 8));
            assert_ok(eng_put(t, &own, SPAN(&i, 8), NULL));
            assert_ok(eng_add(t, &k, 1, &one, NULL));
            assert_ok(eng_append(t, &k.p, SPAN(&i, 8), NULL));
            if (i % 7 == 0)
                txn_rollback(w, t);
            else
                assert_ok(txn_commit(w, t));
        }
        struct rows before = space_now(w, 1);
        sheaf_position visible = eng_visible(w->e);
        world_reopen(w);
        struct rows after = space_now(w, 1);
        assert_rows_equal(&before, &after);
        assert_true(eng_visible(w->e) >= visible);
        rows_free(&before);
        rows_free(&after);
    }
    assert_int_equal(read_number(w, key_of(1, "n"), 0), 78);
}

/* ---- drop_space ---- */

static void fill_space(struct world *w, uint64_t space, uint64_t n)
{
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    for (uint64_t i = 0; i < n; i++) {
        sheaf_engine_key k = key_at(place_of(space, i), SPAN(&i, 8));
        assert_ok(eng_put(t, &k, SPAN(&i, 8), NULL));
    }
    assert_ok(txn_commit(w, t));
}

static void assert_space_size(struct world *w, uint64_t space, size_t n)
{
    struct rows r = space_now(w, space);
    assert_int_equal(r.n, n);
    rows_free(&r);
}

static void test_drop_space__frees_only_its_space_and_can_be_repeated(void **state)
{
    struct world *w = *state;
    static const uint64_t spaces[] = {1, 0xFE, 0xFF, 0x100, 0x1FF, 0xFFFFFFFF, 0x100000000};
    enum { N = sizeof spaces / sizeof spaces[0] };
    for (size_t i = 0; i < N; i++) fill_space(w, spaces[i], 100);
    for (size_t dropped = 0; dropped < N; dropped++) {
        for (int again = 0; again < 2; again++)
            assert_ok(eng_drop_space(w->e, spaces[dropped], NULL));
        for (size_t i = 0; i < N; i++) assert_space_size(w, spaces[i], i <= dropped ? 0 : 100);
        uint64_t zero = 0;
        assert_absent(w, key_at(place_of(spaces[dropped], 0), SPAN(&zero, 8)));
    }
    assert_ok(eng_drop_space(w->e, 12345, NULL)); /* was never there */
    if (!w->caps.is_durable) return;
    world_reopen(w);
    for (size_t i = 0; i < N; i++) assert_space_size(w, spaces[i], 0);
    assert_ok(eng_drop_space(w->e, 1, NULL));
}

/* A dropped space stays dropped across reopening, and its neighbours stay. */
static void test_drop_space__holds_after_reopening(void **state)
{
    struct world *w = *state;
    if (!w->caps.is_durable) skip();
    for (uint64_t s = 1; s <= 3; s++) fill_space(w, s, 500);
    assert_ok(eng_drop_space(w->e, 2, NULL));
    for (int i = 0; i < 2; i++) {
        world_reopen(w);
        assert_space_size(w, 1, 500);
        assert_space_size(w, 2, 0);
        assert_space_size(w, 3, 500);
    }
}

static void test_drop_space__conflicts_with_those_who_read_the_space(void **state)
{
    struct world *w = *state;
    for (int absent = 0; absent < 2; absent++) {
        uint64_t space = 30 + (uint64_t)absent, some = absent ? 5000 : 3;
        fill_space(w, space, 100);
        sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
        span got = txn_get(t, key_at(place_of(space, some), SPAN(&some, 8)));
        assert_true((got.p == NULL) == (absent == 1));
        txn_put(t, key_of(1, "on stale grounds"), "v");
        assert_ok(eng_drop_space(w->e, space, NULL));
        assert_rc(txn_commit(w, t), SHEAF_CONFLICT);
        assert_absent(w, key_of(1, "on stale grounds"));
        /* Nobody is turned away afterwards. */
        t = txn_begin(w, SHEAF_TXN_RW);
        assert_null(txn_get(t, key_at(place_of(space, some), SPAN(&some, 8))).p);
        txn_put(t, key_of(1, "k"), "v");
        assert_ok(txn_commit(w, t));
    }
}

/* The commit that retires a space must not be lost when the space is. */
static void test_drop_space__comes_after_what_was_committed_before(void **state)
{
    struct world *w = *state;
    fill_space(w, 2, 10);
    for (int i = 0; i < 3; i++) {
        sheaf_position at = put_at(w, key_of(1, "live spaces"), "none");
        assert_ok(eng_drop_space(w->e, 2, NULL));
        assert_true(eng_durable(w->e) >= at);
    }
}

/* Enough to push what came before it out of every write buffer. */
static void push_out(struct world *w)
{
    static uint8_t v[50000];
    struct rng r;
    rng_init(&r, 1);
    for (size_t i = 0; i + 8 <= sizeof v; i += 8) {
        uint64_t x = rng_u64(&r);
        memcpy(v + i, &x, 8);
    }
    for (uint64_t i = 0; i < 120; i++)
        put_one(w, key_at(place_of(50, i), SPAN("", 0)), SPAN(v, sizeof v));
}

/* A cache of rows may hold what a range deletion has deleted: put, snapshot, delete, flush, and get
 * twice, so that the second one comes from the cache. */
static void test_deleted_data__never_comes_back(void **state)
{
    struct world *w = *state;
    enum { N = 20 };
    for (int reopen = 0; reopen < 2; reopen++) {
        uint64_t live = 10 + (uint64_t)reopen, dead = 20 + (uint64_t)reopen;
        sheaf_place p = place_of(live, 1);
        for (uint64_t i = 0; i < N; i++) put_one(w, key_at(p, SPAN(&i, 8)), SPAN(&i, 8));
        fill_space(w, dead, N);
        push_out(w);
        sheaf_txn *snap = txn_begin(w, SHEAF_TXN_SNAPSHOT);
        for (uint64_t i = 0; i < N; i++) {
            assert_non_null(txn_get(snap, key_at(p, SPAN(&i, 8))).p);
            assert_non_null(txn_get(snap, key_at(place_of(dead, i), SPAN(&i, 8))).p);
            assert_stored(w, key_at(p, SPAN(&i, 8)), SPAN(&i, 8));
        }
        del_range_one(w, &p, SPAN("", 0), SPAN_NONE);
        assert_ok(eng_drop_space(w->e, dead, NULL));
        push_out(w);
        for (int twice = 0; twice < 2; twice++)
            for (uint64_t i = 0; i < N; i++) {
                assert_true(span_eq(txn_get(snap, key_at(p, SPAN(&i, 8))), SPAN(&i, 8)));
                assert_absent(w, key_at(p, SPAN(&i, 8)));
                assert_absent(w, key_at(place_of(dead, i), SPAN(&i, 8)));
            }
        txn_rollback(w, snap);
        if (reopen && w->caps.is_durable) world_reopen(w);
        for (int twice = 0; twice < 2; twice++)
            for (uint64_t i = 0; i < N; i++) {
                assert_absent(w, key_at(p, SPAN(&i, 8)));
                assert_absent(w, key_at(place_of(dead, i), SPAN(&i, 8)));
            }
        assert_space_size(w, live, 0);
        assert_space_size(w, dead, 0);
    }
}

/* ---- copies ---- */

static void test_checkpoint__opens_and_holds_exactly_the_state(void **state)
{
    struct world *w = *state;
    if (!w->caps.can_checkpoint) skip();
    char path[300];
    fill_space(w, 1, 1000);
    fill_space(w, 2, 10);
    add_one(w, key_of(1, "n"), 42);
    assert_ok(eng_drop_space(w->e, 2, NULL));
    struct rows before = space_now(w, 1);
    snprintf(path, sizeof path, "%s/copy", w->dir);
    assert_ok(eng_checkpoint(w->e, path, NULL));
    assert_true(eng_checkpoint(w->e, path, NULL) != SHEAF_OK); /* exists now */
    put_text(w, key_of(1, "later"), "v");
    struct world copy = {.kind = w->kind, .caps = w->caps};
    assert_ok(w->kind->open(path, &copy.e, NULL));
    struct rows after = space_now(&copy, 1);
    assert_rows_equal(&before, &after);
    assert_space_size(&copy, 2, 0);
    put_text(&copy, key_of(1, "own"), "v"); /* a life of its own */
    assert_absent(&copy, key_of(1, "later"));
    assert_absent(w, key_of(1, "own"));
    sheaf_engine_close(copy.e);
    rows_free(&before);
    rows_free(&after);
}

static void test_checkpoint__is_refused_where_caps_say_so(void **state)
{
    struct world *w = *state;
    if (w->caps.can_checkpoint) skip();
    char path[300];
    snprintf(path, sizeof path, "%s/copy", w->dir);
    assert_rc(eng_checkpoint(w->e, path, NULL), SHEAF_UNSUPPORTED);
}

/* ---- what it says of itself ---- */

static bool count_complaint(void *ctx, const sheaf_engine_key *key, const char *what)
{
    (void)key;
    fprintf(stderr, "complaint: %s\n", what);
    ++*(int *)ctx;
    return true;
}

static void test_verify__is_silent_on_a_healthy_engine(void **state)
{
    struct world *w = *state;
    int complaints = 0;
    assert_ok(eng_verify(w->e, count_complaint, &complaints, NULL));
    for (uint64_t s = 1; s < 5; s++) fill_space(w, s, 500);
    for (int i = 0; i < 50; i++) add_one(w, key_of(1, "n"), i);
    sheaf_place p = place_of(1, 1);
    del_range_one(w, &p, SPAN("", 0), SPAN_NONE);
    assert_ok(eng_drop_space(w->e, 3, NULL));
    assert_ok(eng_verify(w->e, count_complaint, &complaints, NULL));
    if (w->caps.is_durable) {
        world_reopen(w);
        assert_ok(eng_verify(w->e, count_complaint, &complaints, NULL));
    }
    assert_int_equal(complaints, 0);
}

static void test_stats__are_plausible(void **state)
{
    struct world *w = *state;
    struct sheaf_engine_stats before, after;
    eng_stats(w->e, &before);
    fill_space(w, 1, 1000);
    for (int i = 0; i < 50; i++) put_text(w, key_of(7, "k"), "v");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW);
    txn_get(t, key_of(7, "k"));
    put_text(w, key_of(7, "k"), "v");
    assert_rc(txn_commit(w, t), SHEAF_CONFLICT);
    assert_ok(eng_sync(w->e, eng_visible(w->e), NULL));
    eng_stats(w->e, &after);
    assert_int_equal(after.commits - before.commits, 52);
    assert_int_equal(after.conflicts - before.conflicts, 1);
    assert_true(after.visible == eng_visible(w->e));
    assert_true(after.durable == eng_durable(w->e));
    assert_true(after.memory_bytes > 0);
    assert_true(after.keys - before.keys >= 900 && after.keys - before.keys <= 1500);
    if (!w->caps.is_durable) assert_int_equal(after.keys - before.keys, 1001);
    assert_true(w->caps.is_durable ? after.disk_bytes > 0 : after.disk_bytes == 0);
    assert_true(w->caps.is_durable ? after.syncs > before.syncs : true);
}

static void test_stats__count_the_commits_that_wrote(void **state)
{
    struct world *w = *state;
    struct sheaf_engine_stats before, after;
    put_text(w, key_of(1, "k"), "v");
    eng_stats(w->e, &before);
    for (int i = 0; i < 5; i++) {
        sheaf_txn *t = txn_begin(w, i % 2 ? SHEAF_TXN_RW : SHEAF_TXN_SNAPSHOT);
        txn_get(t, key_of(1, "k"));
        assert_ok(txn_commit(w, t));
    }
    put_text(w, key_of(1, "k"), "v");
    sheaf_txn *t = txn_begin(w, SHEAF_TXN_RW); /* its reads are checked in earnest */
    txn_get(t, key_of(1, "other"));
    put_text(w, key_of(1, "k"), "v");
    assert_ok(txn_commit(w, t));
    eng_stats(w->e, &after);
    assert_int_equal(after.commits - before.commits, 2);
    assert_int_equal(after.conflicts - before.conflicts, 0);
}

static void test_caps__are_plausible(void **state)
{
    struct world *w = *state;
    assert_true(w->caps.max_key == 0 || w->caps.max_key >= 2600);
    assert_true(w->caps.max_value == 0 || w->caps.max_value >= 100000);
    assert_true(w->caps.max_txn_bytes == 0 || w->caps.max_txn_bytes >= 10u * 1000 * 1000);
    assert_true(w->e->ops->size >= sizeof(struct sheaf_engine_ops));
    assert_non_null(w->e->ops->name);
}

static void test_close__is_clean_after_cursors_are_closed(void **state)
{
    struct world *w = *state;
    fill_space(w, 1, 300);
    sheaf_txn *t[20];
    for (int i = 0; i < 20; i++) {
        sheaf_cursor *c;
        struct sheaf_row row;
        bool has_row;
        t[i] = txn_begin(w, i % 2 ? SHEAF_TXN_RW : SHEAF_TXN_SNAPSHOT);
        assert_ok(eng_walk(t[i], &(struct sheaf_walk){.space = 1}, &c, NULL));
        for (int j = 0; j < i; j++) assert_ok(eng_next(c, &row, &has_row, NULL));
        eng_cursor_close(c); /* half way through */
        if (i % 2) txn_put(t[i], key_of(1, "k"), "v");
    }
    for (int i = 0; i < 20; i++) txn_rollback(w, t[i]);
    sheaf_engine_close(w->e);
    w->e = NULL;
}

struct case_list cases_life(void)
{
    static const struct CMUnitTest cases[] = {
        CASE(test_visible__grows_with_every_commit),
        CASE(test_sync__makes_a_position_durable),
        CASE(test_on_durable__calls_back_exactly_once),
        CASE(test_close__has_run_every_callback),
        CASE(test_reopen__holds_exactly_what_was_committed),
        CASE(test_drop_space__frees_only_its_space_and_can_be_repeated),
        CASE(test_drop_space__holds_after_reopening),
        CASE(test_sync__refuses_a_position_that_is_not_there_yet),
        CASE(test_drop_space__conflicts_with_those_who_read_the_space),
        CASE(test_stats__count_the_commits_that_wrote),
        CASE(test_drop_space__comes_after_what_was_committed_before),
        CASE(test_deleted_data__never_comes_back),
        CASE(test_checkpoint__opens_and_holds_exactly_the_state),
        CASE(test_checkpoint__is_refused_where_caps_say_so),
        CASE(test_verify__is_silent_on_a_healthy_engine),
        CASE(test_stats__are_plausible),
        CASE(test_caps__are_plausible),
        CASE(test_close__is_clean_after_cursors_are_closed),
    };
    return (struct case_list){cases, sizeof cases / sizeof cases[0], false};
}
