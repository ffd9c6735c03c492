/* Turns a directory into an engine, and back.
 *
 * Know before editing: Debian's RocksDB keeps its asserts, so a handle that outlives rocksdb_close
 * aborts the process. Everything made here is destroyed in rocks_close, in reverse. */
#include "base/mem.h"
#include "engine/rocks/rocks.h"

#include <assert.h>
#include <inttypes.h>

static void rocks_close(sheaf_engine *e);

const struct sheaf_engine_ops rocks_ops = {
    .size = sizeof(struct sheaf_engine_ops),
    .name = "rocks",
    .close = rocks_close,
    .caps = rocks_caps,
    .begin = rocks_begin,
    .get = rocks_get,
    .guard = rocks_guard,
    .range = rocks_range,
    .walk = rocks_walk,
    .next = rocks_next,
    .cursor_close = rocks_cursor_close,
    .put = rocks_put,
    .del = rocks_del,
    .del_range = rocks_del_range,
    .add = rocks_add,
    .append = rocks_append,
    .commit = rocks_commit,
    .rollback = rocks_rollback,
    .read = rocks_read,
    .read_done = rocks_read_done,
    .visible = rocks_visible,
    .durable = rocks_durable,
    .sync = rocks_sync,
    .on_durable = rocks_on_durable,
    .drop_space = rocks_drop_space,
    .checkpoint = rocks_checkpoint,
    .stats = rocks_stats,
    .verify = rocks_verify,
};

sheaf_rc rocks_fail(sheaf_error *err, char *message, const char *what)
{
    assert(message);
    bool is_corrupt = strncmp(message, "Corruption", 10) == 0;
    sheaf_rc rc = err_set(err, is_corrupt ? SHEAF_CORRUPT : SHEAF_IO, "%s: %s", what, message);
    rocksdb_free(message);
    return rc;
}

sheaf_rc rocks_refuse_poisoned(const struct rocks *e, sheaf_error *err)
{
    return err_set(
        err, SHEAF_IO,
        "an earlier write to the disk failed (%s): the engine must be closed and reopened",
        e->poison);
}

/* Recovery takes a damaged log record for the end of the log. It cannot know that more was
 * promised; DURABLE does. */
static sheaf_rc check_promise(struct rocks *e, sheaf_error *err)
{
    uint64_t sequence = rocksdb_get_latest_sequence_number(e->db);
    if (sequence >= e->dir.promised) return SHEAF_OK;
    return err_set(err, SHEAF_CORRUPT,
                   "%s has lost writes that were durable: its log is damaged or cut (it ends at "
                   "%" PRIu64 ", %" PRIu64 " was synced); restore a copy, or remove %s/DURABLE to "
                   "accept the loss",
                   e->dir.path, sequence, e->dir.promised, e->dir.path);
}

static sheaf_rc open_db(struct rocks *e, const struct sheaf_rocks_options *o, sheaf_error *err)
{
    if (!rocks_handles_init(&e->h, o, &e->merge))
        return err_set(err, SHEAF_UNSUPPORTED, "this RocksDB does not take the engine's options");
    char *message = NULL;
    e->db = rocksdb_open(e->h.options, e->dir.db, &message);
    if (message) return rocks_fail(err, message, "cannot open the database");
    TRY(check_promise(e, err));
    /* Recovery has written what it found into tables and synced them: all of it is durable. */
    assert(e->db && !atomic_load(&e->is_poisoned));
    uint64_t at = rocksdb_get_latest_sequence_number(e->db);
    atomic_init(&e->visible, at);
    atomic_init(&e->written, at);
    atomic_init(&e->durable, at);
    e->log_limit = rocks_log_limit(o);
    return rocks_counters_init(&e->counters, e->db, e->h.latest, err);
}

/* Also of an engine that was opened half. */
static void teardown(struct rocks *e)
{
    rocks_cursors_deinit(e);
    rocks_txns_deinit(e);
    rocks_counters_deinit(&e->counters);
    rocks_rows_deinit(&e->rows);
    if (e->db) rocksdb_close(e->db);
    rocks_handles_deinit(&e->h);
    rocks_dir_close(&e->dir);
    eng_conflicts_deinit(&e->conflicts);
    rocks_sync_deinit(&e->sync);
    pthread_mutex_destroy(&e->pool_mutex);
    pthread_mutex_destroy(&e->commit_mutex);
    mem_free(e);
}

static void rocks_close(sheaf_engine *base)
{
    struct rocks *e = rocks_of(base);
    rocks_sync_stop(e);
    teardown(e);
}

static struct rocks *new_engine(void)
{
    struct rocks *e = mem_zalloc(sizeof *e);
    if (!e) return NULL;
    e->base.ops = &rocks_ops;
    e->dir.lock_fd = e->dir.durable_fd = -1;
    pthread_mutex_init(&e->commit_mutex, NULL);
    pthread_mutex_init(&e->pool_mutex, NULL);
    rocks_sync_init(&e->sync);
    return e;
}

sheaf_rc sheaf_engine_open_rocks(const char *directory, const struct sheaf_rocks_options *options,
                                 sheaf_engine **engine_out, sheaf_error *err)
{
    *engine_out = NULL;
    const struct sheaf_rocks_options usual = {0};
    const struct sheaf_rocks_options *o = options ? options : &usual;
    TRY(rocks_options_check(o, err));
    struct rocks *e = new_engine();
    if (!e) return err_nomem(err);
    sheaf_rc rc;
    TRY_OUT(eng_conflicts_init(&e->conflicts, 0, err));
    TRY_OUT(rocks_rows_init(&e->rows, rocks_row_bytes(o), err));
    TRY_OUT(rocks_dir_open(&e->dir, directory, o->must_exist, o->owner, err));
    TRY_OUT(open_db(e, o, err));
    *engine_out = &e->base;
out:
    if (rc != SHEAF_OK) teardown(e);
    return rc;
}
