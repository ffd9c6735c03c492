/* Turns our options into RocksDB's.
 *
 * Know before editing:
 *  - RocksDB's own defaults make gets five times slower: each line here was measured or has its
 *    reason beside it.
 *  - Recovery stops at the first record that does not fit (point in time). An unsynced tail is then
 *    cut at a commit, never in the middle of one; what was synced lies before it. A log that ends
 *    early, but at a commit, does not count as damaged, and recovery goes on into the next one:
 *    commit.c sees to it that there is no next one before the log is synced, so nothing but
 *    commit.c may make RocksDB flush a memtable. The other modes are worse: "tolerate" goes on
 *    after any cut tail; "skip any" drops what it likes. WAL recycling works with "skip any" only
 *    (7.8 switches it off otherwise), so there is none.
 *  - The database that recovery gives is compared with what was promised (open.c), because
 *    "point in time" takes a damaged record for the end. */
#include "engine/rocks/rocks.h"

#include <assert.h>
#include <inttypes.h>

enum {
    RECOVER_POINT_IN_TIME = 2, /* rocksdb/options.h, WALRecoveryMode */
    LOG_WARNINGS = 2,
    BLOOM_BITS = 10,
};

/* RocksDB clips a write buffer at 64 GiB, and ours is made a little more than twice what is asked;
 * beyond it RocksDB would begin logs by itself. The rest is out of reach of any machine. */
#define WRITE_BUFFER_MAX (UINT64_C(16) << 30)
#define CACHE_MAX (UINT64_C(1) << 44)
#define OPEN_FILES_MAX 1000000u
#define CACHE_USUAL (UINT64_C(64) << 20)

static sheaf_rc check_most(const char *name, uint64_t value, uint64_t most, sheaf_error *err)
{
    if (value <= most) return SHEAF_OK;
    return err_validation(err, "%s is %" PRIu64 ", more than %" PRIu64, name, value, most);
}

sheaf_rc rocks_options_check(const struct sheaf_rocks_options *o, sheaf_error *err)
{
    uint64_t row_cache = o->row_cache_bytes == UINT64_MAX ? 0 : o->row_cache_bytes;
    TRY(check_most("block_cache_bytes", o->block_cache_bytes, CACHE_MAX, err));
    TRY(check_most("row_cache_bytes", row_cache, CACHE_MAX, err));
    TRY(check_most("write_buffer_bytes", o->write_buffer_bytes, WRITE_BUFFER_MAX, err));
    return check_most("max_open_files", o->max_open_files, OPEN_FILES_MAX, err);
}

static uint64_t or_default(uint64_t value, uint64_t usual) { return value ? value : usual; }

uint64_t rocks_log_limit(const struct sheaf_rocks_options *o)
{
    return or_default(o->write_buffer_bytes, 32u << 20);
}

static void set_table(struct rocks_handles *h)
{
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache(table, h->block_cache);
    rocksdb_block_based_options_set_filter_policy(
        table, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS)); /* owned by table */
    rocksdb_block_based_options_set_whole_key_filtering(table, 1);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_block_based_options_set_block_size(table, 4096);
    rocksdb_options_set_block_based_table_factory(h->options, table);
    rocksdb_block_based_options_destroy(table);
}

static void set_caches(struct rocks_handles *h, const struct sheaf_rocks_options *o)
{
    h->block_cache = rocksdb_cache_create_lru(or_default(o->block_cache_bytes, CACHE_USUAL));
}

uint64_t rocks_row_bytes(const struct sheaf_rocks_options *o)
{
    return o->row_cache_bytes == UINT64_MAX ? 0 : or_default(o->row_cache_bytes, CACHE_USUAL);
}

static void set_writes(rocksdb_options_t *to, const struct sheaf_rocks_options *o)
{
    assert(o->write_buffer_bytes <= WRITE_BUFFER_MAX);
    /* Never reached: commit.c ends a log, and its memtable with it, before RocksDB would. */
    rocksdb_options_set_write_buffer_size(to, 2 * rocks_log_limit(o) + (4u << 20));
    rocksdb_options_set_max_total_wal_size(to, UINT64_MAX);
    rocksdb_options_set_max_write_buffer_number(to, 4);
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(to, 0.05);
    rocksdb_options_set_memtable_whole_key_filtering(to, 1);
    rocksdb_options_set_max_successive_merges(to, 0); /* counters.h does better */
    /* One commit at a time comes in: there is nothing to pipeline and the memtable needs no
     * concurrent inserts. */
    rocksdb_options_set_allow_concurrent_memtable_write(to, 0);
    rocksdb_options_set_enable_write_thread_adaptive_yield(to, 0);
    rocksdb_options_set_wal_recovery_mode(to, RECOVER_POINT_IN_TIME);
    rocksdb_options_set_manual_wal_flush(to, 0); /* a commit is in the page cache when it returns */
}

static void set_files(rocksdb_options_t *to, const struct sheaf_rocks_options *o)
{
    assert(o->max_open_files <= OPEN_FILES_MAX);
    rocksdb_options_set_max_open_files(to, (int)or_default(o->max_open_files, 1024));
    rocksdb_options_set_compression(to,
                                    o->use_lz4 ? rocksdb_lz4_compression : rocksdb_no_compression);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(to, 1);
    rocksdb_options_set_max_background_jobs(to, 2);
    rocksdb_options_set_bytes_per_sync(to, 1 << 20); /* compactions do not pile up one big sync */
    rocksdb_options_set_max_manifest_file_size(to, 4 << 20);
    rocksdb_options_set_skip_stats_update_on_db_open(to, 1); /* opens without reading every file */
    rocksdb_options_set_paranoid_checks(to, 1);
}

static void set_log(rocksdb_options_t *to)
{
    rocksdb_options_set_stats_dump_period_sec(to, 0);
    rocksdb_options_set_stats_persist_period_sec(to, 0);
    rocksdb_options_set_info_log_level(to, LOG_WARNINGS);
    rocksdb_options_set_keep_log_file_num(to, 2);
    rocksdb_options_set_max_log_file_size(to, 1 << 20);
}

/* What the C interface has no setter for. A background error is never healed in silence: the handle
 * is to be reopened. */
static bool set_by_name(struct rocks_handles *h)
{
    char *message = NULL;
    rocksdb_options_t *with = rocksdb_options_create();
    rocksdb_get_options_from_string(h->options, "max_bgerror_resume_count=0", with, &message);
    if (message) {
        rocksdb_free(message);
        rocksdb_options_destroy(with);
        return false;
    }
    rocksdb_options_destroy(h->options);
    h->options = with;
    return true;
}

bool rocks_handles_init(struct rocks_handles *h, const struct sheaf_rocks_options *o,
                        struct rocks_merge *merge)
{
    assert(!h->options && !h->block_cache);
    h->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(h->options, 1);
    set_caches(h, o);
    set_table(h);
    set_writes(h->options, o);
    set_files(h->options, o);
    set_log(h->options);
    rocksdb_options_set_merge_operator(h->options, rocks_merge_operator(merge));
    h->latest = rocksdb_readoptions_create();
    h->write = rocksdb_writeoptions_create();
    return set_by_name(h);
}

void rocks_handles_deinit(struct rocks_handles *h)
{
    if (h->write) rocksdb_writeoptions_destroy(h->write);
    if (h->latest) rocksdb_readoptions_destroy(h->latest);
    if (h->options) rocksdb_options_destroy(h->options);
    if (h->block_cache) rocksdb_cache_destroy(h->block_cache);
    *h = (struct rocks_handles){0};
}
