/* engine/mem: the tree against a sorted array, versions held while others are written, every
 * allocation failing in turn, readers and a writer at once. */
#include "support/support.h"

#include "base/mem.h"
#include "base/rng.h"
#include "engine/mem/node.h"
#include "engine/mem/store.h"

#include <pthread.h>

/* ---- helpers ---- */

static bool refuse(void *ctx, span key, const char *what)
{
    const char **first = ctx;
    (void)key;
    if (!*first) *first = what;
    return true;
}

static const char *check_at(const struct mem_tree *t, uint64_t number, uint64_t *bytes)
{
    const char *first = NULL;
    struct mem_checker c = {.complain = refuse, .ctx = &first, .number = number};
    bool is_well = mem_tree_check(t, &c, bytes);
    assert_int_equal(is_well, first == NULL);
    return first;
}

static void assert_well(const struct mem_version *v)
{
    uint64_t bytes;
    const char *what = check_at(&v->tree, v->position, &bytes);
    if (what) fail_msg("the tree is unwell: %s", what);
}

static void assert_store_well(struct mem_store *s)
{
    uint64_t bytes;
    const char *what = check_at(&s->current->tree, s->current->position, &bytes);
    if (what) fail_msg("the tree is unwell: %s", what);
    if (!s->current->older) assert_int_equal(bytes, atomic_load(&s->bytes));
}

/* Builds of tests are locked and cannot fail unless a fault is planted. */
static void begin(struct mem_store *s, struct mem_build *b)
{
    mem_store_lock(s);
    assert_true(mem_store_begin(s, b));
}
static void publish(struct mem_store *s, struct mem_build *b)
{
    mem_store_publish(s, b);
    mem_store_unlock(s);
}
static bool put(struct mem_build *b, span key, span value)
{
    struct mem_rec *r = mem_build_rec(b, key, value.n);
    if (!r) return false;
    if (value.n) memcpy(r->bytes + r->klen, value.p, value.n);
    return mem_build_put(b, r);
}

/* ---- the model: numbered keys, each with the number that was put last ---- */

enum { MODEL = 6000, KEY_ROOM = 112 };

struct model {
    uint32_t value[MODEL]; /* 0 = absent */
    uint64_t n;
};

/* Key i of the model, ascending with i: long and short prefixes, keys that are prefixes of others,
 * zeros that heads cannot tell from the end of a key. */
static span key_of(uint32_t i, uint8_t *to)
{
    uint8_t group = (uint8_t)(i / 1000);
    size_t n = 0;
    to[n++] = group;
    size_t same = group == 1 ? 50 : group == 3 ? 5 : group == 4 ? 43 : 0;
    memset(to + n, 'p', same);
    n += same;
    uint32_t in = i % 1000;
    if (group == 2) { /* 0, 00, 000 … : each a prefix of the next; then others */
        if (in < 60) {
            memset(to + n, 0, in);
            return SPAN(to, n + in);
        }
    }
    if (group == 5) { /* pairs k, k0 */
        to[n++] = (uint8_t)(1 + in / 2 / 100);
        to[n++] = (uint8_t)(1 + in / 2 % 100);
        if (in % 2) to[n++] = 0;
        return SPAN(to, n);
    }
    to[n++] = (uint8_t)(1 + in / 100);
    to[n++] = (uint8_t)(in % 100);
    size_t tail = (size_t)(in * 7919 % 40);
    memset(to + n, 0xFF, tail);
    return SPAN(to, n + tail);
}

static span value_of(uint32_t number, uint8_t to[64])
{
    size_t n = 4 + number % 60;
    memset(to, (int)(number & 0xFF), n);
    memcpy(to, &number, 4);
    return SPAN(to, n);
}

static void assert_rec(const struct mem_rec *r, uint32_t i, uint32_t number)
{
    uint8_t k[KEY_ROOM], v[64];
    assert_non_null(r);
    assert_true(span_eq(mem_rec_key(r), key_of(i, k)));
    assert_true(span_eq(mem_rec_value(r), value_of(number, v)));
}

static void assert_get(const struct mem_tree *t, const struct model *m, uint32_t i)
{
    uint8_t k[KEY_ROOM];
    const struct mem_rec *r = mem_tree_get(t, key_of(i, k));
    if (m->value[i])
        assert_rec(r, i, m->value[i]);
    else
        assert_null(r);
}

/* A scan of up to `max` rows from key i on, in either direction. */
static void assert_scan(const struct mem_tree *t, const struct model *m, uint32_t i, unsigned max,
                        bool is_back)
{
    uint8_t k[KEY_ROOM];
    struct mem_path p;
    span key = key_of(i, k);
    bool has = is_back ? mem_path_seek_before(&p, t, key) : mem_path_seek(&p, t, key);
    int64_t at = is_back ? (int64_t)i - 1 : i;
    for (unsigned n = 0; n < max; n++) {
        while (at >= 0 && at < MODEL && !m->value[at]) at += is_back ? -1 : 1;
        if (at < 0 || at >= MODEL) {
            assert_false(has);
            return;
        }
        assert_true(has);
        assert_rec(mem_path_rec(&p), (uint32_t)at, m->value[at]);
        has = is_back ? mem_path_prev(&p) : mem_path_next(&p);
        at += is_back ? -1 : 1;
    }
}

static void assert_equals_model(const struct mem_tree *t, const struct model *m)
{
    struct mem_path p;
    assert_int_equal(t->n_keys, m->n);
    assert_scan(t, m, 0, MODEL + 1, false);
    bool has = mem_path_seek_before(&p, t, SPAN_NONE);
    assert_int_equal(has, m->n > 0);
    for (int64_t i = MODEL - 1; i >= 0; i--) {
        if (!m->value[i]) continue;
        assert_true(has);
        assert_rec(mem_path_rec(&p), (uint32_t)i, m->value[i]);
        has = mem_path_prev(&p);
    }
    assert_false(has);
}

static void model_put(struct model *m, uint32_t i, uint32_t number)
{
    m->n += m->value[i] == 0;
    m->value[i] = number;
}
static void model_del(struct model *m, uint32_t i)
{
    m->n -= m->value[i] != 0;
    m->value[i] = 0;
}

/* Removes [i, end) from both. */
static void cut_both(struct mem_build *b, struct model *m, uint32_t i, uint32_t end)
{
    uint8_t k[KEY_ROOM], e[KEY_ROOM];
    struct mem_cut cut = {.lo = key_of(i, k)};
    if (end < MODEL) cut.end = key_of(end, e);
    uint64_t before = m->n;
    for (uint32_t at = i; at < end; at++) model_del(m, at);
    assert_true(mem_build_cut(b, &cut));
    assert_int_equal(cut.n_removed, before - m->n);
}

static void test_keys_of_the_model__ascend(void **state)
{
    (void)state;
    uint8_t a[KEY_ROOM], b[KEY_ROOM];
    for (uint32_t i = 1; i < MODEL; i++) {
        span low = key_of(i - 1, a), high = key_of(i, b);
        if (span_cmp(low, high) >= 0) fail_msg("key %u is not below key %u", i - 1, i);
    }
}

/* ---- the model test ---- */

enum { HELD = 12 };
struct held {
    struct mem_version *v;
    struct model *m;
};

static void drop_held(struct mem_store *s, struct held *h)
{
    if (!h->v) return;
    mem_store_unpin(s, h->v);
    free(h->m);
    h->v = NULL;
}

static void hold(struct mem_store *s, struct held *h, const struct model *m)
{
    drop_held(s, h);
    h->v = mem_store_pin(s);
    h->m = malloc(sizeof *m);
    assert_non_null(h->m);
    *h->m = *m;
}

/* One random change to tree and model. `lean` moves between mostly putting and mostly removing, so
 * that the tree grows and shrinks through all its shapes. */
static void change(struct mem_build *b, struct model *m, struct rng *r, uint64_t lean)
{
    uint8_t k[KEY_ROOM], v[64];
    uint32_t i = (uint32_t)rng_below(r, MODEL);
    uint64_t what = rng_below(r, 1000);
    if (what < 3) {
        uint32_t end = i + (uint32_t)rng_below(r, lean > 500 ? 30 : 900);
        cut_both(b, m, i, end < MODEL ? end : MODEL);
    } else if (rng_below(r, 1000) < lean) {
        uint32_t number = 1 + (uint32_t)rng_below(r, 1u << 30);
        assert_true(put(b, key_of(i, k), value_of(number, v)));
        model_put(m, i, number);
    } else {
        assert_true(mem_build_del(b, key_of(i, k)));
        model_del(m, i);
    }
}

static void test_tree__equals_a_sorted_array_and_so_do_its_snapshots(void **state)
{
    (void)state;
    static struct model m;
    static struct held held[HELD];
    struct mem_store s;
    struct rng r;
    memset(&m, 0, sizeof m);
    rng_init(&r, test_seed(1));
    uint64_t rounds = test_rounds(1000000);
    assert_true(mem_store_init(&s));
    for (uint64_t done = 0, round = 0; done < rounds; round++) {
        struct mem_build b;
        uint64_t lean = done / 20000 % 2 ? 250 : 750;
        begin(&s, &b);
        struct model before = m;
        for (uint64_t n = 1 + rng_below(&r, 12); n > 0; n--, done++) change(&b, &m, &r, lean);
        if (round % 50 == 7) { /* thrown away: as if it had never been */
            mem_build_abort(&b);
            mem_store_unlock(&s);
            m = before;
        } else {
            publish(&s, &b);
        }
        uint32_t i = (uint32_t)rng_below(&r, MODEL);
        assert_get(&s.current->tree, &m, i);
        assert_scan(&s.current->tree, &m, i, 5, round % 2);
        if (round % 200 == 0) {
            struct held *h = &held[rng_below(&r, HELD)];
            if (h->v) assert_get(&h->v->tree, h->m, i);
            if (rng_below(&r, 4))
                hold(&s, h, &m);
            else
                drop_held(&s, h);
        }
        if (round % 2000 == 0) {
            struct held *h = &held[rng_below(&r, HELD)];
            if (h->v) assert_well(h->v);
            if (h->v) assert_equals_model(&h->v->tree, h->m);
            assert_store_well(&s);
            assert_equals_model(&s.current->tree, &m);
        }
    }
    for (int i = 0; i < HELD; i++) {
        if (held[i].v) assert_equals_model(&held[i].v->tree, held[i].m);
        drop_held(&s, &held[i]);
    }
    assert_null(s.current->older);
    assert_store_well(&s);
    mem_store_deinit(&s);
}

static void test_tree__fills_and_empties_in_both_directions(void **state)
{
    (void)state;
    struct mem_store s;
    struct mem_build b;
    assert_true(mem_store_init(&s));
    for (int way = 0; way < 4; way++) {
        enum { N = 20000 };
        uint64_t leaves_before = atomic_load(&s.bytes);
        assert_int_equal(leaves_before, 0);
        for (uint32_t n = 0; n < N; n += 100) {
            begin(&s, &b);
            for (uint32_t j = n; j < n + 100; j++) {
                uint32_t i = way % 2 ? N - 1 - j : j;
                uint8_t k[4] = {(uint8_t)(i >> 24), (uint8_t)(i >> 16), (uint8_t)(i >> 8),
                                (uint8_t)i};
                assert_true(put(&b, SPAN(k, 4), SPAN(k, 4)));
            }
            publish(&s, &b);
        }
        assert_int_equal(s.current->tree.n_keys, N);
        assert_store_well(&s);
        /* Ascending and descending keys leave nodes three quarters full. */
        assert_true(atomic_load(&s.bytes) < N * 24 + N / 20 * (sizeof(struct mem_leaf) + 48));
        for (uint32_t n = 0; n < N; n++) {
            uint32_t i = way / 2 ? N - 1 - n : n;
            uint8_t k[4] = {(uint8_t)(i >> 24), (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
            begin(&s, &b);
            assert_true(mem_build_del(&b, SPAN(k, 4)));
            publish(&s, &b);
            if (n % 1999 == 0) assert_store_well(&s);
        }
        assert_null(s.current->tree.root);
    }
    mem_store_deinit(&s);
}

static void test_cut__stops_soon_after_max(void **state)
{
    (void)state;
    static struct model m;
    struct mem_store s;
    struct mem_build b;
    uint8_t k[KEY_ROOM], v[64];
    memset(&m, 0, sizeof m);
    assert_true(mem_store_init(&s));
    begin(&s, &b);
    for (uint32_t i = 0; i < MODEL; i++) assert_true(put(&b, key_of(i, k), value_of(7, v)));
    publish(&s, &b);
    begin(&s, &b);
    struct mem_cut cut = {.lo = key_of(10, k), .max = 1000};
    assert_true(mem_build_cut(&b, &cut));
    assert_in_range(cut.n_removed, 1000, 1000 + MEM_LEAF_MAX);
    assert_int_equal(b.tree.n_keys, MODEL - cut.n_removed);
    publish(&s, &b);
    assert_store_well(&s);
    mem_store_deinit(&s);
}

/* ---- snapshots keep what they see and nothing else ---- */

static void test_store__an_old_snapshot_keeps_only_what_it_sees(void **state)
{
    (void)state;
    struct mem_store s;
    struct mem_build b;
    uint8_t k[KEY_ROOM], v[64];
    assert_true(mem_store_init(&s));
    begin(&s, &b);
    for (uint32_t i = 0; i < 2000; i++) assert_true(put(&b, key_of(i, k), value_of(i + 1, v)));
    publish(&s, &b);
    uint64_t once = atomic_load(&s.bytes);
    struct mem_version *snap = mem_store_pin(&s);
    for (uint32_t n = 0; n < 50000; n++) {
        struct mem_version *brief = mem_store_pin(&s); /* readers come and go meanwhile */
        begin(&s, &b);
        assert_true(put(&b, key_of(n % 2000, k), value_of(n, v)));
        publish(&s, &b);
        mem_store_unpin(&s, brief);
    }
    assert_true(atomic_load(&s.bytes) < 3 * once);
    for (uint32_t i = 0; i < 2000; i++)
        assert_rec(mem_tree_get(&snap->tree, key_of(i, k)), i, i + 1);
    mem_store_unpin(&s, snap);
    assert_null(s.current->older);
    assert_store_well(&s);
    assert_true(atomic_load(&s.bytes) < 2 * once);
    mem_store_deinit(&s);
}

static void test_store__snapshots_may_be_dropped_in_any_order(void **state)
{
    (void)state;
    enum { N = 60 };
    struct rng r;
    rng_init(&r, test_seed(9));
    for (int order = 0; order < 3; order++) {
        static struct model m, then[N];
        struct mem_version *v[N];
        struct mem_store s;
        struct mem_build b;
        memset(&m, 0, sizeof m);
        assert_true(mem_store_init(&s));
        for (int i = 0; i < N; i++) {
            begin(&s, &b);
            for (int n = 0; n < 100; n++) change(&b, &m, &r, 700);
            publish(&s, &b);
            v[i] = mem_store_pin(&s);
            then[i] = m;
        }
        for (int n = 0; n < N; n++) {
            int i = order == 0 ? n : order == 1 ? N - 1 - n : (n * 37 + 11) % N;
            assert_equals_model(&v[i]->tree, &then[i]);
            mem_store_unpin(&s, v[i]);
        }
        assert_null(s.current->older);
        assert_store_well(&s);
        mem_store_deinit(&s);
    }
}

/* ---- out of memory ---- */

/* Whether the changes went through; false: memory was out and all is as before. */
static bool try_changes(struct mem_store *s, uint32_t from, bool is_removing)
{
    struct mem_build b;
    uint8_t k[KEY_ROOM], v[64];
    bool is_well = mem_store_begin(s, &b);
    if (!is_well) return false;
    for (uint32_t i = from; is_well && i < MODEL; i += 97) {
        span key = key_of(i, k);
        is_well = is_removing ? mem_build_del(&b, key) : put(&b, key, value_of(i + 1, v));
    }
    struct mem_cut cut = {.lo = key_of(from * 31, k)};
    uint8_t e[KEY_ROOM];
    cut.end = key_of(from * 31 + 150, e);
    is_well = is_well && mem_build_cut(&b, &cut);
    if (is_well)
        mem_store_publish(s, &b);
    else
        mem_build_abort(&b);
    return is_well;
}

static void test_build__every_failed_allocation_leaves_the_tree_as_it_was(void **state)
{
    (void)state;
    struct mem_store s;
    uint64_t failures = 0;
    assert_true(mem_store_init(&s));
    for (uint32_t from = 1; from < 97; from += 3) {
        for (uint64_t nth = 1;; nth++) {
            uint64_t keys = s.current->tree.n_keys, bytes = atomic_load(&s.bytes);
            struct mem_node *root = s.current->tree.root;
            mem_store_lock(&s);
            mem_fail_at(nth, false);
            bool is_done = try_changes(&s, from, from % 2 == 0);
            mem_fail_at(0, false);
            mem_store_unlock(&s);
            if (is_done) break;
            failures++;
            assert_int_equal(s.current->tree.n_keys, keys);
            assert_int_equal(atomic_load(&s.bytes), bytes);
            assert_ptr_equal(s.current->tree.root, root);
            if (nth % 16 == 1) assert_store_well(&s);
        }
        assert_store_well(&s);
    }
    assert_true(failures > 1000);
    mem_store_deinit(&s);
}

/* ---- the checker can see ---- */

static struct mem_leaf *first_leaf(struct mem_node *n)
{
    while (n->level) n = mem_children(n)[0];
    return (struct mem_leaf *)n;
}

static void test_check__sees_each_kind_of_damage(void **state)
{
    (void)state;
    struct mem_store s;
    struct mem_build b;
    uint8_t k[KEY_ROOM], v[64];
    assert_true(mem_store_init(&s));
    begin(&s, &b);
    for (uint32_t i = 0; i < MODEL; i++) assert_true(put(&b, key_of(i, k), value_of(i + 1, v)));
    publish(&s, &b);
    struct mem_tree t = s.current->tree;
    uint64_t at = s.current->position, bytes;
    struct mem_leaf *leaf = first_leaf(t.root);
    struct mem_inner *root = (struct mem_inner *)t.root;
    assert_null(check_at(&t, at, &bytes));

    leaf->head[1] ^= 1;
    assert_string_equal(check_at(&t, at, &bytes), "a head differs from its key");
    leaf->head[1] ^= 1;
    leaf->print[1] ^= 1;
    assert_string_equal(check_at(&t, at, &bytes), "a print differs from its key");
    leaf->print[1] ^= 1;
    struct mem_rec *r = leaf->key[0];
    leaf->key[0] = leaf->key[1];
    assert_non_null(check_at(&t, at, &bytes));
    leaf->key[0] = r;
    uint8_t n = leaf->node.n;
    leaf->node.n = MEM_LEAF_MIN - 1;
    assert_string_equal(check_at(&t, at, &bytes), "a node has too few entries");
    leaf->node.n = n;
    leaf->node.plen++;
    assert_non_null(check_at(&t, at, &bytes));
    leaf->node.plen--;
    leaf->node.birth++;
    assert_string_equal(check_at(&t, at, &bytes), "a node is younger than its parent");
    leaf->node.birth--;
    leaf->key[2]->birth++;
    assert_string_equal(check_at(&t, at, &bytes), "a record is younger than its node");
    leaf->key[2]->birth--;
    t.n_keys++;
    assert_string_equal(check_at(&t, at, &bytes), "the number of keys is not what was counted");
    t.n_keys--;
    struct mem_node *low = root->child[0], *high = root->child[1];
    root->child[0] = high;
    assert_string_equal(check_at(&t, at, &bytes),
                        "a key is not below the separator after its node");
    root->child[0] = low;
    root->child[1] = low;
    assert_string_equal(check_at(&t, at, &bytes), "a key is below the separator before its node");
    root->child[1] = high;
    if (root->node.level > 1) {
        root->child[1] = &leaf->node;
        assert_string_equal(check_at(&t, at, &bytes), "a child is not one level below its parent");
        root->child[1] = high;
    }
    assert_null(check_at(&t, at, &bytes));
    mem_store_deinit(&s);
}

/* ---- threads ---- */

struct threads {
    struct mem_store s;
    atomic_bool is_over;
    atomic_uint_least64_t n_reads, n_wrong;
};

/* The writer puts the same number under every key of a group in one build; a reader that sees two
 * numbers in one version has seen half a commit. */
enum { GROUP = 40, ROUNDS = 3000 };

static void *read_groups(void *arg)
{
    struct threads *t = arg;
    struct mem_version *kept = mem_store_pin(&t->s);
    uint64_t kept_keys = kept->tree.n_keys;
    do {
        struct mem_version *v = mem_store_pin(&t->s);
        struct mem_path p;
        uint32_t number = 0, seen = 0;
        uint8_t k[KEY_ROOM];
        for (bool has = mem_path_seek(&p, &v->tree, key_of(0, k)); has; has = mem_path_next(&p)) {
            uint32_t got;
            memcpy(&got, mem_rec_value(mem_path_rec(&p)).p, 4);
            if (seen++ && got != number) atomic_fetch_add(&t->n_wrong, 1);
            number = got;
        }
        if (seen != v->tree.n_keys) atomic_fetch_add(&t->n_wrong, 1);
        if (kept->tree.n_keys != kept_keys) atomic_fetch_add(&t->n_wrong, 1);
        if (number % 16 == 0) {
            mem_store_unpin(&t->s, kept);
            kept = v;
            kept_keys = v->tree.n_keys;
        } else {
            mem_store_unpin(&t->s, v);
        }
        atomic_fetch_add(&t->n_reads, 1);
    } while (!atomic_load(&t->is_over));
    mem_store_unpin(&t->s, kept);
    return NULL;
}

static void test_store__readers_see_whole_commits_while_a_writer_writes(void **state)
{
    (void)state;
    static struct threads t;
    pthread_t reader[3];
    uint8_t k[KEY_ROOM], v[64];
    assert_true(mem_store_init(&t.s));
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&reader[i], NULL, read_groups, &t), 0);
    uint64_t rounds = test_rounds(ROUNDS);
    for (uint32_t n = 1; n <= rounds; n++) {
        struct mem_build b;
        begin(&t.s, &b);
        for (uint32_t i = 0; i < GROUP; i++) {
            uint32_t key = i * 100 + (n % 3 == 0 ? 0 : i % 7);
            assert_true(put(&b, key_of(key, k), value_of(n, v)));
        }
        for (uint32_t i = 0; n % 3 == 0 && i < GROUP; i++)
            if (i % 7) assert_true(mem_build_del(&b, key_of(i * 100 + i % 7, k)));
        for (uint32_t i = 0; n % 3 != 0 && i < GROUP; i++)
            if (i % 7) assert_true(mem_build_del(&b, key_of(i * 100, k)));
        publish(&t.s, &b);
    }
    atomic_store(&t.is_over, true);
    for (int i = 0; i < 3; i++) pthread_join(reader[i], NULL);
    assert_int_equal(atomic_load(&t.n_wrong), 0);
    assert_true(atomic_load(&t.n_reads) >= 3);
    assert_null(t.s.current->older);
    assert_store_well(&t.s);
    mem_store_deinit(&t.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_of_the_model__ascend),
        cmocka_unit_test(test_tree__equals_a_sorted_array_and_so_do_its_snapshots),
        cmocka_unit_test(test_tree__fills_and_empties_in_both_directions),
        cmocka_unit_test(test_cut__stops_soon_after_max),
        cmocka_unit_test(test_store__an_old_snapshot_keeps_only_what_it_sees),
        cmocka_unit_test(test_store__snapshots_may_be_dropped_in_any_order),
        cmocka_unit_test(test_build__every_failed_allocation_leaves_the_tree_as_it_was),
        cmocka_unit_test(test_check__sees_each_kind_of_damage),
        cmocka_unit_test(test_store__readers_see_whole_commits_while_a_writer_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
