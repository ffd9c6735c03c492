/* Turns the whole store into less of it, a copy of it, figures and complaints about it.
 *
 * Know before editing: nothing here may make RocksDB flush its memtable (options.c says why). */
#include "base/mem.h"
#include "engine/rocks/rocks.h"

#include <assert.h>
#include <unistd.h>

/* ---- dropping a space ---- */

/* RocksDB 7.8 with a row cache may answer a point read of a range-deleted key with its old value.
 * So this engine never writes a range delete. Whole files go at once; what is left in the memtable,
 * in level 0 and in files shared with a neighbour is bounded and deleted key by key. */

enum { KEYS_PER_COMMIT = 1000 };

/* The first key behind a space; behind the last space, what no key can reach. */
static size_t space_end(uint8_t out[ROCKS_KEY_MAX + 1], const uint8_t space[8])
{
    size_t n = rocks_after_prefix(out, space, 8);
    if (n > 0) return n;
    memset(out, 0xFF, ROCKS_KEY_MAX + 1);
    return ROCKS_KEY_MAX + 1;
}

static sheaf_rc delete_rows(sheaf_txn *t, sheaf_cursor *c, uint64_t *n_out, sheaf_error *err)
{
    struct sheaf_row row;
    bool has_row;
    for (;;) {
        TRY(rocks_next(c, &row, &has_row, err));
        if (!has_row) return SHEAF_OK;
        assert(row.key.s.n <= ROCKS_S_MAX);
        TRY(rocks_del(t, &row.key, err));
        ++*n_out;
    }
}

/* The last commit of a drop. Files went without one, so nobody knows which keys were written: every
 * reader from before it conflicts. It takes a position by deleting a key of the space. */
static sheaf_rc delete_last(sheaf_txn *t, uint64_t space, sheaf_error *err)
{
    static const uint8_t zeros[16];
    sheaf_engine_key key = {.p = sheaf_place_make(space, zeros)};
    assert(rocks_txn_of(t)->writes.n == 0);
    rocks_txn_of(t)->ends_drop = true;
    return rocks_del(t, &key, err);
}

/* An ordinary commit: it takes a position and is durable like any other. */
static sheaf_rc delete_some(sheaf_engine *e, uint64_t space, uint64_t *n_out, sheaf_error *err)
{
    *n_out = 0;
    sheaf_txn *t;
    TRY(rocks_begin(e, SHEAF_TXN_RW, &t, err));
    struct sheaf_walk walk = {.space = space, .max_rows = KEYS_PER_COMMIT};
    sheaf_cursor *c;
    sheaf_rc rc = rocks_walk(t, &walk, &c, err);
    if (rc == SHEAF_OK) {
        rc = delete_rows(t, c, n_out, err);
        assert(*n_out <= KEYS_PER_COMMIT);
        rocks_cursor_close(c);
    }
    if (rc == SHEAF_OK && *n_out == 0) rc = delete_last(t, space, err);
    if (rc == SHEAF_OK) return rocks_commit(t, NULL, NULL, err);
    rocks_rollback(t);
    return rc;
}

sheaf_rc rocks_drop_space(sheaf_engine *base, uint64_t space, sheaf_error *err)
{
    struct rocks *e = rocks_of(base);
    TRY(rocks_check(e, err));
    /* A file that goes is gone for good, at once, while the commit that retired the space may be in
     * the log only. A power cut must not undo the one and keep the other. */
    TRY(rocks_sync(base, rocks_visible(base), err));
    uint8_t first[8], end[ROCKS_KEY_MAX + 1];
    for (int i = 0; i < 8; i++) first[i] = (uint8_t)(space >> (56 - 8 * i));
    size_t end_n = space_end(end, first);
    assert(span_cmp(SPAN(first, sizeof first), SPAN(end, end_n)) < 0);
    const char *from = (const char *)first, *to = (const char *)end;
    char *message = NULL;
    rocksdb_delete_file_in_range(e->db, from, sizeof first, to, end_n, &message);
    if (message) return rocks_fail(err, message, "cannot free the space");
    uint64_t n;
    do TRY(delete_some(base, space, &n, err));
    while (n > 0);
    rocksdb_suggest_compact_range(e->db, from, sizeof first, to, end_n, &message);
    if (message) rocksdb_free(message); /* advice only */
    return SHEAF_OK;
}

/* ---- copies ---- */

static sheaf_rc copy_db(struct rocks *e, const char *to, sheaf_error *err)
{
    char *message = NULL;
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(e->db, &message);
    if (message) return rocks_fail(err, message, "cannot begin the copy");
    /* Never by a flush, which would begin a new log before the old one is synced (commit.c): the
     * copy gets a copy of the log. */
    rocksdb_checkpoint_create(checkpoint, to, UINT64_MAX, &message);
    rocksdb_checkpoint_object_destroy(checkpoint);
    return message ? rocks_fail(err, message, "cannot make the copy") : SHEAF_OK;
}

/* FORMAT comes last: a copy that was cut off is not taken for a whole one. */
sheaf_rc rocks_checkpoint(sheaf_engine *base, const char *directory, sheaf_error *err)
{
    struct rocks *e = rocks_of(base);
    assert(directory);
    TRY(rocks_check(e, err));
    if (access(directory, F_OK) == 0)
        return err_set(err, SHEAF_VALIDATION, "%s exists already; a copy needs a new directory",
                       directory);
    char *db = rocks_dir_join(directory, "db");
    if (!db) return err_nomem(err);
    sheaf_rc rc;
    TRY_OUT(rocks_dir_make(directory, err));
    rc = copy_db(e, db, err);
    if (rc != SHEAF_OK)
        (void)rmdir(directory); /* RocksDB has removed what it made */
    else
        rc = rocks_dir_write_format(directory, err);
out:
    mem_free(db);
    return rc;
}

/* ---- figures ---- */

static uint64_t property(struct rocks *e, const char *name)
{
    uint64_t value = 0;
    return rocksdb_property_int(e->db, name, &value) == 0 ? value : 0;
}

void rocks_stats(sheaf_engine *base, struct sheaf_engine_stats *stats_out)
{
    struct rocks *e = rocks_of(base);
    uint64_t memory = property(e, "rocksdb.cur-size-all-mem-tables") +
                      property(e, "rocksdb.estimate-table-readers-mem") +
                      rocksdb_cache_get_usage(e->h.block_cache) + rocks_rows_bytes(&e->rows);
    sheaf_position durable = rocks_durable(base), visible = rocks_visible(base);
    assert(durable <= visible);
    *stats_out = (struct sheaf_engine_stats){
        .commits = atomic_load(&e->commits),
        .conflicts = atomic_load(&e->conflict_count),
        .syncs = atomic_load(&e->sync.count),
        .keys = property(e, "rocksdb.estimate-num-keys"),
        .disk_bytes = rocks_dir_bytes(e->dir.db),
        .memory_bytes = memory,
        .durable = durable,
        .visible = visible,
    };
}

/* ---- verification ---- */

struct check {
    sheaf_complaint_fn complain;
    void *ctx;
    uint64_t complaints;
    sheaf_engine_key last; /* the last sound key; its S is copied into `s` */
    uint8_t s[ROCKS_S_MAX];
};

static bool complain(struct check *k, const sheaf_engine_key *key, const char *what)
{
    k->complaints++;
    return !k->complain || k->complain(k->ctx, key, what);
}

/* What there is of a key that is too short, filled up with zeros. */
static bool complain_short(struct check *k, span key)
{
    assert(key.n < SHEAF_PLACE_BYTES);
    sheaf_engine_key shown = {0};
    if (key.n) memcpy(shown.p.b, key.p, key.n);
    return complain(k, &shown, "a key has fewer than 24 bytes");
}

static bool check_key(struct check *k, span key)
{
    if (key.n < SHEAF_PLACE_BYTES) return complain_short(k, key);
    memcpy(k->last.p.b, key.p, SHEAF_PLACE_BYTES);
    k->last.s = span_from(key, SHEAF_PLACE_BYTES);
    if (key.n > ROCKS_KEY_MAX) {
        bool go_on = complain(k, &k->last, "a key is longer than the engine takes");
        k->last.s.n = ROCKS_S_MAX;
        return go_on;
    }
    return true;
}

/* Every block of every file is read, with its checksum, and kept out of the cache. */
static bool check_keys(struct rocks *e, struct check *k)
{
    rocksdb_readoptions_t *how = rocksdb_readoptions_create();
    rocksdb_readoptions_set_verify_checksums(how, 1);
    rocksdb_readoptions_set_fill_cache(how, 0);
    rocksdb_readoptions_set_total_order_seek(how, 1);
    rocksdb_iterator_t *it = rocksdb_create_iterator(e->db, how);
    bool go_on = true;
    for (rocksdb_iter_seek_to_first(it); go_on && rocksdb_iter_valid(it); rocksdb_iter_next(it)) {
        span key;
        key.p = rocksdb_iter_key(it, &key.n);
        go_on = check_key(k, key);
        assert(k->last.s.n <= ROCKS_S_MAX);
        if (k->last.s.n) memcpy(k->s, k->last.s.p, k->last.s.n);
        k->last.s.p = k->s;
    }
    char *message = NULL;
    rocksdb_iter_get_error(it, &message);
    if (message) go_on = complain(k, &k->last, message) && go_on;
    rocksdb_free(message);
    rocksdb_iter_destroy(it);
    rocksdb_readoptions_destroy(how);
    return go_on;
}

sheaf_rc rocks_verify(sheaf_engine *base, sheaf_complaint_fn fn, void *ctx, sheaf_error *err)
{
    struct rocks *e = rocks_of(base);
    struct check *k = mem_zalloc(sizeof *k);
    if (!k) return err_nomem(err);
    k->complain = fn;
    k->ctx = ctx;
    bool go_on = check_keys(e, k);
    sheaf_engine_key nowhere = {0};
    if (go_on && atomic_load(&e->merge.malformed) > 0)
        (void)complain(k, &nowhere, "a number was added to a value that is no vector of numbers");
    uint64_t complaints = k->complaints;
    mem_free(k);
    if (complaints == 0) return SHEAF_OK;
    return err_set(err, SHEAF_CORRUPT, "the store is damaged: %llu complaints",
                   (unsigned long long)complaints);
}
