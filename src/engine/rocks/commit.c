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
static void del_and_stamp(struct rocks_txn *t, span key, sheaf_position position)
{
    assert(key.n >= SHEAF_PLACE_BYTES);
    rocksdb_writebatch_delete(t->batch, key.p, key.n);
    eng_conflicts_stamp(&t->engine->conflicts, key, position);
}

static bool is_inside(const struct eng_write *range, span key)
{
    return span_cmp(key, range->key) >= 0 && (!range->end.p || span_cmp(key, range->end) < 0);
}

static sheaf_rc del_stored(struct rocks_txn *t, const struct eng_write *range,
                           sheaf_position position, sheaf_error *err)
{
    assert(range->kind == ENG_WRITE_DEL_RANGE);
    rocksdb_readoptions_t *how = rocksdb_readoptions_create();
    if (range->end.p) rocksdb_readoptions_set_iterate_upper_bound(how, range->end.p, range->end.n);
    rocksdb_readoptions_set_fill_cache(how, 0);
    rocksdb_iterator_t *it = rocksdb_create_iterator(t->engine->db, how);
    rocksdb_iter_seek(it, range->key.p, range->key.n);
    for (; rocksdb_iter_valid(it); rocksdb_iter_next(it)) {
        span key;
        key.p = rocksdb_iter_key(it, &key.n);
        if (key.n < SHEAF_PLACE_BYTES) continue; /* not ours: verify complains about it */
        assert(is_inside(range, key));
        del_and_stamp(t, key, position);
    }
    char *message = NULL;
    rocksdb_iter_get_error(it, &message);
    rocksdb_iter_destroy(it);
    rocksdb_readoptions_destroy(how);
    return message ? rocks_fail(err, message, "cannot read the range to delete") : SHEAF_OK;
}

/* The key of an append, into `out` of SHEAF_PLACE_BYTES + SHEAF_STAMP_BYTES. */
static span append_key(uint8_t *out, const struct eng_write *w, sheaf_position position)
{
    sheaf_stamp stamp = eng_stamp(position, w->ordinal);
    assert(w->key.n == SHEAF_PLACE_BYTES);
    memcpy(out, w->key.p, SHEAF_PLACE_BYTES);
    memcpy(out + SHEAF_PLACE_BYTES, stamp.b, SHEAF_STAMP_BYTES);
    return SPAN(out, SHEAF_PLACE_BYTES + SHEAF_STAMP_BYTES);
}

/* What this transaction wrote into the range before: a batch is applied in order, so a delete
 * behind the write is enough. */
static void del_own(struct rocks_txn *t, const struct eng_write *range, size_t upto,
                    sheaf_position position)
{
    uint8_t room[SHEAF_PLACE_BYTES + SHEAF_STAMP_BYTES];
    struct eng_write w;
    assert(upto <= t->writes.log.n);
    for (size_t at = 0; at < upto && eng_writes_next(&t->writes, &at, &w);) {
        if (w.kind == ENG_WRITE_DEL || w.kind == ENG_WRITE_DEL_RANGE) continue;
        span key = w.kind == ENG_WRITE_APPEND ? append_key(room, &w, position) : w.key;
        if (is_inside(range, key)) del_and_stamp(t, key, position);
    }
}

/* `from`: where the write begins in the log. */
static sheaf_rc build_one(struct rocks_txn *t, const struct eng_write *w, size_t from,
                          sheaf_position position, sheaf_error *err)
{
    uint8_t room[SHEAF_PLACE_BYTES + SHEAF_STAMP_BYTES];
    span key = w->key;
    switch (w->kind) {
    case ENG_WRITE_APPEND:
        key = append_key(room, w, position);
        /* fall through */
    case ENG_WRITE_PUT:
        rocksdb_writebatch_put(t->batch, key.p, key.n, w->value.p, w->value.n);
        return SHEAF_OK;
    case ENG_WRITE_DEL:
        rocksdb_writebatch_delete(t->batch, key.p, key.n);
        return SHEAF_OK;
    case ENG_WRITE_ADD:
        rocksdb_writebatch_merge(t->batch, key.p, key.n, w->value.p, w->value.n);
        return SHEAF_OK;
    case ENG_WRITE_DEL_RANGE:
        TRY(del_stored(t, w, position, err));
        del_own(t, w, from, position);
        return SHEAF_OK;
    }
    assert(false);
    return SHEAF_OK;
}

static sheaf_rc build(struct rocks_txn *t, sheaf_position position, sheaf_error *err)
{
    if (!t->batch)
        t->batch = rocksdb_writebatch_create();
    else
        rocksdb_writebatch_clear(t->batch);
    struct eng_write w;
    for (size_t at = 0, from = 0; eng_writes_next(&t->writes, &at, &w); from = at)
        TRY(build_one(t, &w, from, position, err));
    return SHEAF_OK;
}

/* del_range has marked the keys that it met. */
static void stamp_writes(struct rocks_txn *t, sheaf_position position)
{
    uint8_t room[SHEAF_PLACE_BYTES + SHEAF_STAMP_BYTES];
    struct eng_write w;
    for (size_t at = 0; eng_writes_next(&t->writes, &at, &w);) {
        if (w.kind == ENG_WRITE_DEL_RANGE) continue;
        span key = w.kind == ENG_WRITE_APPEND ? append_key(room, &w, position) : w.key;
        eng_conflicts_stamp(&t->engine->conflicts, key, position);
    }
}

/* A log full enough is synced, and only then RocksDB may begin the next one. If RocksDB did this by
 * itself, the next log could reach the disk before the tail of this one, and a power cut would keep
 * a commit and lose one before it, which it may have read: recovery takes a log that ends early,
 * but at a commit, for a whole one. Under commit_mutex; the commit itself is made already, so a
 * failure is told to the next one. */
static void end_log(struct rocks *e)
{
    char *message = NULL;
    if (!e->skips_sync) rocksdb_flush_wal(e->db, 1, &message);
    if (!message) {
        rocks_raise_durable(e, atomic_load_explicit(&e->written, memory_order_relaxed));
        rocksdb_flushoptions_t *how = rocksdb_flushoptions_create();
        rocksdb_flushoptions_set_wait(how, 0);
        rocksdb_flush(e->db, how, &message);
        rocksdb_flushoptions_destroy(how);
    }
    e->log_bytes = 0;
    if (!message) return;
    rocksdb_free(message);
    rocks_poison(e);
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
    atomic_store_explicit(&e->visible, position, memory_order_release);
    char *message = NULL;
    rocksdb_write(e->db, e->h.write, t->batch, &message);
    if (message) {
        rocks_poison(e);
        (void)rocks_fail(err, message, "whether the commit was written is not known");
        if (err) err->rc = SHEAF_UNKNOWN_OUTCOME;
        return SHEAF_UNKNOWN_OUTCOME;
    }
    assert(position <= rocksdb_get_latest_sequence_number(e->db));
    stamp_writes(t, position);
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
static sheaf_rc commit_locked(struct rocks_txn *t, bool is_built, sheaf_position *position_out,
                              sheaf_error *err)
{
    struct rocks *e = t->engine;
    TRY(rocks_check(e, err));
    if (!eng_conflicts_check(&e->conflicts, &t->reads)) return refuse_conflict(e, err);
    *position_out = atomic_load_explicit(&e->written, memory_order_relaxed);
    if (t->writes.n == 0) return SHEAF_OK;
    assert(!is_built || (t->writes.n_appends == 0 && !t->has_del_range));
    if (!is_built) TRY(build(t, *position_out + 1, err));
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
    /* Only appends and del_range have to know what the commit finds; the rest is copied outside of
     * the lock. */
    bool is_built = t->writes.n > 0 && t->writes.n_appends == 0 && !t->has_del_range;
    if (is_built) TRY(build(t, 0, err));
    pthread_mutex_lock(&e->commit_mutex);
    sheaf_rc rc = commit_locked(t, is_built, position_out, err);
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
