/* engine/rocks/dir.h: the data directory around RocksDB's own.
 *
 *     <directory>/FORMAT       text: "sheaf 1\nengine rocksdb\n"; written before anything else
 *     <directory>/LOCK.sheaf   locked while a process has the directory; text: pid, then owner
 *     <directory>/DURABLE      the newest RocksDB sequence number that was promised to survive
 *     <directory>/db/          RocksDB
 *
 * Directories are made 0700: RocksDB writes its files 0644, so the directory is what keeps others
 * out. */
#ifndef ENGINE_ROCKS_DIR_H
#define ENGINE_ROCKS_DIR_H

#include "base/err.h"

#define ROCKS_FORMAT 1

struct rocks_dir {
    char *path; /* heap */
    char *db;   /* <path>/db, heap */
    int lock_fd, durable_fd;
    uint64_t promised; /* what DURABLE said at opening; 0 = nothing, or it cannot be read */
};

/* Creates what is missing (unless must_exist), checks what is there and locks it. A directory that
 * is not ours is left untouched. On failure there is nothing to close. */
SHEAF_NODISCARD sheaf_rc rocks_dir_open(struct rocks_dir *d, const char *path, bool must_exist,
                                        const char *owner, sheaf_error *err);
/* Releases the lock. */
void rocks_dir_close(struct rocks_dir *d);
/* Notes a sequence number that has just been made durable. Not synced itself: an older number
 * after a power cut only makes the check at opening weaker. */
void rocks_dir_promise(struct rocks_dir *d, uint64_t sequence);

/* Makes <path>/FORMAT, atomically and durably. */
SHEAF_NODISCARD sheaf_rc rocks_dir_write_format(const char *path, sheaf_error *err);
SHEAF_NODISCARD sheaf_rc rocks_dir_make(const char *path, sheaf_error *err);
/* path/name on the heap, or NULL. */
char *rocks_dir_join(const char *path, const char *name);
/* Bytes of the files directly inside; 0 when it cannot be read. */
uint64_t rocks_dir_bytes(const char *path);

#endif
