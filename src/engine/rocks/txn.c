/* Turns begin, get, put and their kin into reads of RocksDB and a log of writes for commit.c.
 *
 * Know before editing: a get in RW mode reads the newest bytes, without a snapshot, and is made
 * true afterwards by the commit's check. For that the position that it reads at is taken first
 * (`written`: every commit up to it is in RocksDB already) and the bytes second. */
#include "base/mem.h"
#include "engine/rocks/rocks.h"

#include <assert.h>

static const struct sheaf_engine_caps caps = {
    .max_key = ROCKS_KEY_MAX,
    .max_value = ROCKS_VALUE_MAX,
    .max_txn_bytes = ROCKS_TXN_MAX,
    .is_durable = true,
    .can_checkpoint = true,
};

void rocks_caps(const sheaf_engine *e, struct sheaf_engine_caps *caps_out)
{
    (void)e;
    *caps_out = caps;
}

/* ---- what a read holds on to ---- */

/* A pin is a row of the cache, or a slice of RocksDB's with the lowest bit set. */
static void *tag_slice(rocksdb_pinnableslice_t *slice)
{
    assert(((uintptr_t)slice & 1) == 0);
    return (void *)((uintptr_t)slice | 1);
}

static void unpin(void *pin)
{
    if ((uintptr_t)pin & 1)
        rocksdb_pinnableslice_destroy((rocksdb_pinnableslice_t *)((uintptr_t)pin & ~(uintptr_t)1));
    else
        rocks_row_done(pin);
}

/* ---- begin and end ---- */

static struct rocks_txn *new_txn(struct rocks *e)
{
    struct rocks_txn *t = mem_zalloc(sizeof *t);
    if (!t) return NULL;
    t->base.ops = &rocks_ops;
    t->engine = e;
    eng_writes_init(&t->writes, &caps);
    eng_reads_init(&t->reads);
    t->pins = t->few;
    t->cap_pins = sizeof t->few / sizeof *t->few;
    pthread_mutex_lock(&e->pool_mutex);
    e->n_txns++;
    pthread_mutex_unlock(&e->pool_mutex);
    return t;
}

static void free_txn(struct rocks_txn *t)
{
    struct rocks *e = t->engine;
    assert(t->n_pins == 0 && !t->moment);
    if (t->pins != t->few) mem_free(t->pins);
    if (t->batch) rocksdb_writebatch_destroy(t->batch);
    if (t->at_moment) rocksdb_readoptions_destroy(t->at_moment);
    eng_reads_deinit(&t->reads);
    eng_writes_deinit(&t->writes);
    mem_free(t);
    pthread_mutex_lock(&e->pool_mutex);
    assert(e->n_txns > 0);
    e->n_txns--;
    pthread_mutex_unlock(&e->pool_mutex);
}

static struct rocks_txn *take_txn(struct rocks *e)
{
    struct rocks_txn *t = atomic_exchange_explicit(&e->spare_txn, NULL, memory_order_acquire);
    if (t) return t;
    pthread_mutex_lock(&e->pool_mutex);
    t = e->free_txns;
    if (t) {
        e->free_txns = t->next_free;
        e->n_free_txns--;
    }
    pthread_mutex_unlock(&e->pool_mutex);
    return t ? t : new_txn(e);
}

static void give_txn(struct rocks *e, struct rocks_txn *t)
{
    struct rocks_txn *none = NULL;
    if (atomic_compare_exchange_strong_explicit(&e->spare_txn, &none, t, memory_order_release,
                                                memory_order_relaxed))
        return;
    pthread_mutex_lock(&e->pool_mutex);
    bool is_kept = e->n_free_txns < ROCKS_POOL_MAX;
    if (is_kept) {
        t->next_free = e->free_txns;
        e->free_txns = t;
        e->n_free_txns++;
    }
    pthread_mutex_unlock(&e->pool_mutex);
    if (!is_kept) free_txn(t);
}

void rocks_txns_deinit(struct rocks *e)
{
    struct rocks_txn *spare = atomic_exchange(&e->spare_txn, NULL);
    if (spare) free_txn(spare);
    while (e->free_txns) {
        struct rocks_txn *t = e->free_txns;
        e->free_txns = t->next_free;
        free_txn(t);
    }
    e->n_free_txns = 0;
    assert(e->n_txns == 0 && "every transaction must have ended");
}

static void start_moment(struct rocks_txn *t)
{
    assert(!t->moment && t->mode != SHEAF_TXN_RW);
    if (!t->at_moment) t->at_moment = rocksdb_readoptions_create();
    t->moment = rocksdb_create_snapshot(t->engine->db);
    rocksdb_readoptions_set_snapshot(t->at_moment, t->moment);
}

static void end_moment(struct rocks_txn *t)
{
    rocksdb_readoptions_set_snapshot(t->at_moment, NULL);
    rocksdb_release_snapshot(t->engine->db, t->moment);
    t->moment = NULL;
}

sheaf_rc rocks_begin(sheaf_engine *base, enum sheaf_txn_mode mode, sheaf_txn **txn_out,
                     sheaf_error *err)
{
    struct rocks *e = rocks_of(base);
    *txn_out = NULL;
    TRY(rocks_check(e, err));
    struct rocks_txn *t = take_txn(e);
    if (!t) return err_nomem(err);
    assert(t->writes.n == 0 && t->reads.n == 0 && !t->moment);
    t->mode = mode;
    if (mode != SHEAF_TXN_RW) start_moment(t);
    *txn_out = &t->base;
    return SHEAF_OK;
}

/* What one big transaction needed is not kept for all the small ones after it. */
static void shrink(struct rocks_txn *t)
{
    size_t n = 0;
    if (t->batch) (void)rocksdb_writebatch_data(t->batch, &n);
    if (n > ROCKS_KEEP_BYTES) {
        rocksdb_writebatch_destroy(t->batch);
        t->batch = NULL;
    }
    if (t->writes.log.cap > ROCKS_KEEP_BYTES)
        eng_writes_deinit(&t->writes);
    else
        eng_writes_clear(&t->writes);
    if (t->cap_pins * sizeof *t->pins > ROCKS_KEEP_BYTES) {
        mem_free(t->pins);
        t->pins = t->few;
        t->cap_pins = sizeof t->few / sizeof *t->few;
    }
}

void rocks_txn_end(struct rocks_txn *t)
{
    assert(t->n_pins <= t->cap_pins && t->base.ops == &rocks_ops);
    for (size_t i = 0; i < t->n_pins; i++) unpin(t->pins[i]);
    t->n_pins = 0;
    if (t->moment) end_moment(t);
    if (t->reads.has_begun) eng_reads_deinit(&t->reads);
    t->has_del_range = t->ends_drop = false;
    shrink(t);
    give_txn(t->engine, t);
}

void rocks_rollback(sheaf_txn *base) { rocks_txn_end(rocks_txn_of(base)); }

/* ---- reads ---- */

/* Nothing can be stored under a longer one. */
static bool can_exist(const sheaf_engine_key *key) { return key->s.n <= ROCKS_S_MAX; }

/* What RocksDB has under the key; *pin_out NULL: nothing. */
static sheaf_rc get_slice(struct rocks *e, const rocksdb_readoptions_t *how, span key,
                          span *value_out, void **pin_out, sheaf_error *err)
{
    char *message = NULL;
    rocksdb_pinnableslice_t *slice = rocksdb_get_pinned(e->db, how, key.p, key.n, &message);
    if (message) return rocks_fail(err, message, "cannot read");
    if (!slice) return SHEAF_OK;
    size_t n = 0;
    const char *p = rocksdb_pinnableslice_value(slice, &n);
    *value_out = rocks_found(p, n);
    *pin_out = tag_slice(slice);
    return SHEAF_OK;
}

/* The newest committed bytes; the cache's, when it has them. */
static sheaf_rc get_latest(struct rocks *e, span key, span *value_out, void **pin_out,
                           sheaf_error *err)
{
    struct rocks_row_miss miss;
    struct rocks_row *row = rocks_rows_find(&e->rows, key, &miss);
    if (row) {
        *value_out = rocks_row_value(row);
        *pin_out = row;
        return SHEAF_OK;
    }
    TRY(get_slice(e, e->h.latest, key, value_out, pin_out, err));
    if (*pin_out) rocks_rows_offer(&e->rows, &miss, key, *value_out);
    return SHEAF_OK;
}

static sheaf_rc make_room(struct rocks_txn *t, size_t more, sheaf_error *err)
{
    if (t->cap_pins - t->n_pins >= more) return SHEAF_OK;
    size_t need = t->n_pins + more, cap = t->cap_pins * 2 > need ? t->cap_pins * 2 : need;
    if (cap > SIZE_MAX / sizeof *t->pins) return err_nomem(err);
    void **old = t->pins == t->few ? NULL : t->pins;
    void **pins = mem_realloc(old, cap * sizeof *pins);
    if (!pins) return err_nomem(err);
    if (!old) memcpy(pins, t->few, t->n_pins * sizeof *pins);
    t->pins = pins;
    t->cap_pins = cap;
    assert(t->cap_pins - t->n_pins >= more);
    return SHEAF_OK;
}

static sheaf_rc protect(struct rocks_txn *t, const sheaf_engine_key *key, sheaf_error *err)
{
    struct rocks *e = t->engine;
    assert(t->mode == SHEAF_TXN_RW);
    if (!t->reads.has_begun)
        eng_reads_start(&t->reads, atomic_load_explicit(&e->written, memory_order_acquire));
    return eng_reads_add(&t->reads, &e->conflicts, key, err);
}

static sheaf_rc get_one(struct rocks_txn *t, const sheaf_engine_key *key, span *value_out,
                        sheaf_error *err)
{
    uint8_t bytes[ROCKS_KEY_MAX];
    void *pin = NULL;
    if (t->mode == SHEAF_TXN_RW) TRY(protect(t, key, err));
    if (!can_exist(key)) return SHEAF_OK;
    span whole = SPAN(bytes, rocks_key(bytes, key));
    if (t->mode == SHEAF_TXN_RW)
        TRY(get_latest(t->engine, whole, value_out, &pin, err));
    else
        TRY(get_slice(t->engine, t->at_moment, whole, value_out, &pin, err));
    assert(t->n_pins < t->cap_pins);
    if (pin) t->pins[t->n_pins++] = pin;
    return SHEAF_OK;
}

sheaf_rc rocks_get(sheaf_txn *base, size_t n, const sheaf_engine_key keys[], span values_out[],
                   sheaf_error *err)
{
    struct rocks_txn *t = rocks_txn_of(base);
    for (size_t i = 0; i < n; i++) values_out[i] = SPAN_NONE;
    TRY(make_room(t, n, err));
    for (size_t i = 0; i < n; i++) TRY(get_one(t, &keys[i], &values_out[i], err));
    return SHEAF_OK;
}

sheaf_rc rocks_guard(sheaf_txn *base, const sheaf_engine_key *key, sheaf_error *err)
{
    struct rocks_txn *t = rocks_txn_of(base);
    return t->mode == SHEAF_TXN_RW ? protect(t, key, err) : SHEAF_OK;
}

/* RocksDB's newest sequence is read inside the call: whatever was committed before is in. */
sheaf_rc rocks_read(sheaf_engine *base, const sheaf_engine_key *key, span *value_out,
                    void **pin_out, sheaf_error *err)
{
    struct rocks *e = rocks_of(base);
    *value_out = SPAN_NONE;
    *pin_out = NULL;
    TRY(rocks_check(e, err));
    if (!can_exist(key)) return SHEAF_OK;
    uint8_t bytes[ROCKS_KEY_MAX];
    return get_latest(e, SPAN(bytes, rocks_key(bytes, key)), value_out, pin_out, err);
}

void rocks_read_done(sheaf_engine *e, void *pin)
{
    (void)e;
    if (pin) unpin(pin);
}

/* ---- writes ---- */

static sheaf_rc check_writable(const struct rocks_txn *t, sheaf_error *err)
{
    if (t->mode == SHEAF_TXN_RW) return SHEAF_OK;
    return err_set(err, SHEAF_UNSUPPORTED, "a snapshot transaction cannot write");
}

sheaf_rc rocks_put(sheaf_txn *base, const sheaf_engine_key *key, span value, sheaf_error *err)
{
    struct rocks_txn *t = rocks_txn_of(base);
    TRY(check_writable(t, err));
    return eng_writes_put(&t->writes, key, value, err);
}

sheaf_rc rocks_del(sheaf_txn *base, const sheaf_engine_key *key, sheaf_error *err)
{
    struct rocks_txn *t = rocks_txn_of(base);
    TRY(check_writable(t, err));
    return eng_writes_del(&t->writes, key, err);
}

sheaf_rc rocks_del_range(sheaf_txn *base, const sheaf_place *p, span lo, span hi, sheaf_error *err)
{
    struct rocks_txn *t = rocks_txn_of(base);
    TRY(check_writable(t, err));
    TRY(eng_writes_del_range(&t->writes, p, lo, hi, err));
    t->has_del_range = true;
    return SHEAF_OK;
}

sheaf_rc rocks_add(sheaf_txn *base, const sheaf_engine_key *key, size_t n, const int64_t deltas[],
                   sheaf_error *err)
{
    struct rocks_txn *t = rocks_txn_of(base);
    TRY(check_writable(t, err));
    return eng_writes_add(&t->writes, key, n, deltas, err);
}

sheaf_rc rocks_append(sheaf_txn *base, const sheaf_place *log, span value, sheaf_error *err)
{
    struct rocks_txn *t = rocks_txn_of(base);
    TRY(check_writable(t, err));
    return eng_writes_append(&t->writes, log, value, err);
}
