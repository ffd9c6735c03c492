/* Turns a transaction's log of writes into one RocksDB batch, if nothing it read has changed.
 *
 * One commit at a time, under commit_mutex: check the reads, take the next number, write (into the
 * log's page cache, no fsync), mark the written keys, publish the number.
 *
 * COMMIT NUMBERS ARE NEVER USED TWICE, without being stored. The counter starts at RocksDB's
 * sequence number when the engine opens. RocksDB raises its sequence by one for every operation of
 * a batch; the counter is raised by one for a batch, and only for a batch that is not empty. So
 * counter <= sequence always holds. When a commit N survives a crash, the sequence of its batch
 * survives with it (in the log record, or in the manifest once it is in a table), and that is >= N:
 * the next opening starts at or above every number that can be found in the data. Numbers above it
 * were lost with their commits before anybody was told they are durable. This is why a commit
 * without writes takes no number.
 *
 * Know before editing: a write that failed may still be in the log and come back at the next
 * opening. It is answered with SHEAF_UNKNOWN_OUTCOME, and nothing goes through the handle after
 * it. */
#include "engine/rocks/rocks.h"

#include <assert.h>

/* Deletes a key for del_range. */
static sheaf_rc del_found(struct rocks_txn *t, span key, sheaf_error *err)
{
    TRY(eng_writes_found(&t->writes, key, err));
    rocksdb_writebatch_delete(t->batch, key.p, key.n);
    return SHEAF_OK;
}

static sheaf_rc del_each(struct rocks_txn *t, const struct eng_write *range, rocksdb_iterator_t *it,
                         sheaf_error *err)
{
    for (; rocksdb_iter_valid(it); rocksdb_iter_next(it)) {
        span key;
        key.p = rocksdb_iter_key(it, &key.n);
        if (key.n < SHEAF_PLACE_BYTES) continue; /* not ours: verify complains about it */
        assert(eng_write_covers(range, key));
        (void)range;
        TRY(del_found(t, key, err));
    }
    char *message = NULL;
    rocksdb_iter_get_error(it, &message);
    return message ? rocks_fail(err, message, "cannot read the range to delete") : SHEAF_OK;
}

static sheaf_rc del_stored(struct rocks_txn *t, const struct eng_write *range, sheaf_error *err)
{
    assert(range->kind == ENG_WRITE_DEL_RANGE);
    rocksdb_readoptions_t *how = rocksdb_readoptions_create();
    if (range->end.p) rocksdb_readoptions_set_iterate_upper_bound(how, range->end.p, range->end.n);
    rocksdb_readoptions_set_fill_cache(how, 0);
    rocksdb_iterator_t *it = rocksdb_create_iterator(t->engine->db, how);
    rocksdb_iter_seek(it, range->key.p, range->key.n);
    sheaf_rc rc = del_each(t, range, it, err);
    rocksdb_iter_destroy(it);
    rocksdb_readoptions_destroy(how);
    return rc;
}

/* What this transaction wrote into the range before: a batch is applied in order, so a delete
 * behind the write is enough. */
static sheaf_rc del_own(struct rocks_txn *t, const struct eng_write *range, size_t upto,
                        sheaf_position position, sheaf_error *err)
{
    struct eng_append_key room;
    struct eng_write w;
    assert(upto <= t->writes.log.n);
    for (size_t at = 0; at < upto && eng_writes_next(&t->writes, &at, &w);) {
        if (w.kind == ENG_WRITE_DEL || w.kind == ENG_WRITE_DEL_RANGE) continue;
        span key = eng_write_key(&w, position, &room);
        if (eng_write_covers(range, key)) TRY(del_found(t, key, err));
    }
    return SHEAF_OK;
}

static void build_add(struct rocks_txn *t, const struct eng_write *w, sheaf_position position)
{
    span sum;
    if (rocks_counters_add(&t->engine->counters, position, w->key, w->value, &sum))
        rocksdb_writebatch_put(t->batch, w->key.p, w->key.n, sum.p, sum.n);
    else
        rocksdb_writebatch_merge(t->batch, w->key.p, w->key.n, w->value.p, w->value.n);
}

/* `from`: where the write begins in the log. */
static sheaf_rc build_one(struct rocks_txn *t, const struct eng_write *w, size_t from,
                          sheaf_position position, sheaf_error *err)
{
    struct eng_append_key room;
    if (w->kind == ENG_WRITE_DEL_RANGE) {
        rocks_counters_forget(&t->engine->counters);
        TRY(del_stored(t, w, err));
        return del_own(t, w, from, position, err);
    }
    span key = eng_write_key(w, position, &room);
    if (w->kind == ENG_WRITE_DEL)
        rocksdb_writebatch_delete(t->batch, key.p, key.n);
    else if (w->kind == ENG_WRITE_ADD)
        build_add(t, w, position);
    else
        rocksdb_writebatch_put(t->batch, key.p, key.n, w->value.p, w->value.n);
    return SHEAF_OK;
}

/* Only appends, del_ranges and adds have to know what the commit finds; what comes before the first
 * of them is copied outside of the lock. Returns where that ends in the log. */
static size_t build_ahead(struct rocks_txn *t)
{
    if (!t->batch)
        t->batch = rocksdb_writebatch_create();
    else
        rocksdb_writebatch_clear(t->batch);
    struct eng_write w;
    size_t from = 0;
    for (size_t at = 0; eng_writes_next(&t->writes, &at, &w); from = at) {
        if (w.kind == ENG_WRITE_PUT)
            rocksdb_writebatch_put(t->batch, w.key.p, w.key.n, w.value.p, w.value.n);
        else if (w.kind == ENG_WRITE_DEL)
            rocksdb_writebatch_delete(t->batch, w.key.p, w.key.n);
        else
            break;
    }
    return from;
}

/* Under commit_mutex: the rest, and what the whole means to the counters. */
static sheaf_rc build(struct rocks_txn *t, size_t ahead, sheaf_position position, sheaf_error *err)
{
    struct eng_write w;
    sheaf_rc rc = SHEAF_OK;
    for (size_t at = 0, from = 0; rc == SHEAF_OK && eng_writes_next(&t->writes, &at, &w);
         from = at) {
        if (w.kind == ENG_WRITE_PUT || w.kind == ENG_WRITE_DEL)
            rocks_counters_written(&t->engine->counters, position, w.key);
        if (from >= ahead) rc = build_one(t, &w, from, position, err);
    }
    if (rc != SHEAF_OK || t->ends_drop) rocks_counters_forget(&t->engine->counters);
    return rc;
}

/* ---- telling others ---- */

/* Calls `tell` with every key that the commit writes, and with what is put there. What del_ranges
 * found is in the batch, as deletes, and comes last: a row deleted too much is read again. */
struct telling {
    struct rocks *engine;
    sheaf_position position;
    void (*tell)(struct rocks *e, sheaf_position position, span key, span value);
};

static void tell_deleted(void *ctx, const char *key, size_t n)
{
    const struct telling *t = ctx;
    t->tell(t->engine, t->position, SPAN(key, n), SPAN_NONE);
}

static void pass_put(void *ctx, const char *key, size_t key_n, const char *value, size_t value_n)
{
    (void)ctx, (void)key, (void)key_n, (void)value, (void)value_n;
}

static void tell_keys(struct rocks_txn *t, struct telling *how)
{
    struct eng_append_key room;
    struct eng_write w;
    for (size_t at = 0; eng_writes_next(&t->writes, &at, &w);)
        if (w.kind != ENG_WRITE_DEL_RANGE)
            how->tell(t->engine, how->position, eng_write_key(&w, how->position, &room),
                      w.kind == ENG_WRITE_PUT ? w.value : SPAN_NONE);
    if (t->has_del_range) rocksdb_writebatch_iterate(t->batch, how, pass_put, tell_deleted);
}

static void tell_begin(struct rocks *e, sheaf_position position, span key, span value)
{
    (void)position, (void)value;
    rocks_rows_begin(&e->rows, key);
}

static void tell_end(struct rocks *e, sheaf_position position, span key, span value)
{
    rocks_rows_end(&e->rows, key, value);
    eng_conflicts_stamp(&e->conflicts, key, position);
}

static void begin_rows(struct rocks_txn *t, sheaf_position position)
{
    struct telling how = {t->engine, position, tell_begin};
    tell_keys(t, &how);
}

/* Rows of the space that a drop ends have gone with their files. */
static void end_drop(struct rocks_txn *t, sheaf_position position)
{
    struct eng_write last;
    size_t at = 0;
    bool has_last = eng_writes_next(&t->writes, &at, &last);
    assert(has_last && last.kind == ENG_WRITE_DEL);
    if (has_last) rocks_rows_forget_space(&t->engine->rows, last.key.p);
    eng_conflicts_stamp_all(&t->engine->conflicts, position);
}

/* Only once RocksDB has the batch: a stamp above the newest position would turn away every reader
 * of its stripe until some other transaction commits. */
static void stamp(struct rocks_txn *t, sheaf_position position)
{
    struct telling how = {t->engine, position, tell_end};
    tell_keys(t, &how);
    if (t->ends_drop) end_drop(t, position);
}

/* A log full enough is synced, and only then RocksDB may begin the next one. If RocksDB did this by
 * itself, the next log could reach the disk before the tail of this one, and a power cut would keep
 * a commit and lose one before it, which it may have read: recovery takes a log that ends early,
 * but at a commit, for a whole one. Under commit_mutex; the commit itself is made already, so a
 * failure is told to the next one. */
static void end_log(struct rocks *e)
{
    e->log_bytes = 0;
    if (rocks_sync_log(e) != SHEAF_OK) return;
    rocks_raise_durable(e, atomic_load_explicit(&e->written, memory_order_relaxed));
    char *message = NULL;
    rocksdb_flushoptions_t *how = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(how, 0);
    rocksdb_flush(e->db, how, &message);
    rocksdb_flushoptions_destroy(how);
    if (!message) return;
    rocks_poison(e, message);
    rocksdb_free(message);
}

/* What a batch takes in the log and, with what RocksDB keeps beside each entry, in memory. */
static uint64_t batch_bytes(rocksdb_writebatch_t *batch)
{
    enum { PER_ENTRY = 96 };
    size_t n = 0;
    (void)rocksdb_writebatch_data(batch, &n);
    return n + (uint64_t)rocksdb_writebatch_count(batch) * PER_ENTRY;
}

/* Under commit_mutex. Readers may see the bytes from here on, so `visible` goes first. */
static sheaf_rc write_batch(struct rocks_txn *t, sheaf_position position, sheaf_error *err)
{
    struct rocks *e = t->engine;
    assert(position == atomic_load_explicit(&e->written, memory_order_relaxed) + 1);
    begin_rows(t, position);
    atomic_store_explicit(&e->visible, position, memory_order_release);
    char *message = NULL;
    rocksdb_write(e->db, e->h.write, t->batch, &message);
    if (message) {
        rocks_poison(e, message);
        (void)rocks_fail(err, message, "whether the commit was written is not known");
        if (err) err->rc = SHEAF_UNKNOWN_OUTCOME;
        return SHEAF_UNKNOWN_OUTCOME;
    }
    assert(position <= rocksdb_get_latest_sequence_number(e->db));
    stamp(t, position);
    atomic_store_explicit(&e->written, position, memory_order_release);
    atomic_fetch_add_explicit(&e->commits, 1, memory_order_relaxed);
    e->log_bytes += batch_bytes(t->batch);
    if (e->log_bytes >= e->log_limit) end_log(e);
    return SHEAF_OK;
}

static sheaf_rc refuse_conflict(struct rocks *e, sheaf_error *err)
{
    atomic_fetch_add_explicit(&e->conflict_count, 1, memory_order_relaxed);
    return err_set(err, SHEAF_CONFLICT, "another transaction changed what this one has read");
}

/* Under commit_mutex. *position_out: where it was committed, or the newest commit when there was
 * nothing to write. */
static sheaf_rc commit_locked(struct rocks_txn *t, size_t ahead, sheaf_position *position_out,
                              sheaf_error *err)
{
    struct rocks *e = t->engine;
    TRY(rocks_check(e, err));
    if (!eng_conflicts_check(&e->conflicts, &t->reads)) return refuse_conflict(e, err);
    *position_out = atomic_load_explicit(&e->written, memory_order_relaxed);
    if (t->writes.n == 0) return SHEAF_OK;
    TRY(build(t, ahead, *position_out + 1, err));
    if (rocksdb_writebatch_count(t->batch) == 0) return SHEAF_OK;
    TRY(write_batch(t, *position_out + 1, err));
    ++*position_out;
    return SHEAF_OK;
}

/* Whether a transaction without writes is true as it stands: no commit has even begun since it
 * began to read (`visible` rises before RocksDB is told), or it has read nothing. */
static bool needs_no_check(const struct rocks_txn *t)
{
    if (t->writes.n > 0) return false;
    return t->reads.n == 0 ||
           atomic_load_explicit(&t->engine->visible, memory_order_acquire) == t->reads.begin;
}

/* *position_out comes as the newest visible one. */
static sheaf_rc commit_rw(struct rocks_txn *t, sheaf_position *position_out, sheaf_error *err)
{
    struct rocks *e = t->engine;
    if (needs_no_check(t)) return rocks_check(e, err);
    size_t ahead = t->writes.n > 0 ? build_ahead(t) : 0;
    pthread_mutex_lock(&e->commit_mutex);
    sheaf_rc rc = commit_locked(t, ahead, position_out, err);
    pthread_mutex_unlock(&e->commit_mutex);
    return rc;
}

sheaf_rc rocks_commit(sheaf_txn *base, sheaf_position *position_out, sheaf_stamp *stamp_out,
                      sheaf_error *err)
{
    struct rocks_txn *t = rocks_txn_of(base);
    assert(t->base.ops == &rocks_ops);
    sheaf_position position = rocks_visible(&t->engine->base);
    sheaf_rc rc = t->mode == SHEAF_TXN_RW ? commit_rw(t, &position, err) : SHEAF_OK;
    if (position_out) *position_out = rc == SHEAF_OK ? position : 0;
    if (stamp_out) *stamp_out = rc == SHEAF_OK ? eng_stamp(position, 0) : (sheaf_stamp){{0}};
    rocks_txn_end(t);
    return rc;
}
