/* tests/crash/disk.h: a model of a disk that forgets what was not synced.
 *
 * Load the real directory (all of it counts as durable), let a process run under the shim, replay
 * its history, cut the power, write the result back over the real directory.
 *
 * What is durable:
 *  - Bytes and length of a file: as they were when its last fsync or fdatasync began.
 *  - A name (created, linked, renamed, removed): when its directory was synced afterwards
 *    (DISK_STRICT: what POSIX promises), or when anything at all was synced afterwards (DISK_EXT4:
 *    one journal that commits names in order). A rename is one change: it is durable when either
 *    of its directories was synced, and never half.
 * What is not durable may still survive a cut, and `struct disk_cut` says how much.
 *
 * Not modelled: space, times, modes, symbolic links, mapped writes, write errors, a disk that lies
 * about a sync, rot of bytes that were durable already, names that survive out of order. */
#ifndef CRASH_DISK_H
#define CRASH_DISK_H

#include "base/rng.h"
#include "powercut.h"

#include <stdbool.h>
#include <stddef.h>

enum disk_mode { DISK_STRICT, DISK_EXT4 };

enum disk_keep {
    KEEP_NONE,   /* exactly what is durable */
    KEEP_PREFIX, /* per file, and for names: everything up to a random moment */
    KEEP_BLOCKS, /* each overwritten block of a file shows a moment of its own: torn and reordered;
                    bytes behind the durable length only as far as the length, which shows
                    a moment too (ext4, XFS, btrfs, ZFS: the length is written after the bytes) */
    KEEP_HOLES,  /* also behind the durable length each block shows a moment of its own: zeros where
                    bytes should be (ext4 with data=writeback). For names both as KEEP_PREFIX. */
    KEEP_ALL     /* as if only the process had died */
};

struct disk_cut {
    enum disk_keep bytes, names;
    size_t block; /* for KEEP_BLOCKS and KEEP_HOLES: 512 or 4096 */
};

/* What a cut took away. */
struct disk_loss {
    uint64_t writes, overwrites; /* un-synced writes; those among them over bytes of the file */
    uint64_t names;              /* names not kept */
};

struct disk;
struct disk *disk_new(const char *root);
void disk_free(struct disk *d);
/* The real directory is the disk, and durable. Forgets everything before. */
void disk_load(struct disk *d);
/* Takes over what the history says; it must stay as it is until the next load. false, with a
 * reason: the history contradicts itself or used something that is not modelled. */
bool disk_replay(struct disk *d, struct pc_history *h, enum disk_mode mode, char why[256]);
/* Whether the real directory is what the history says it was at its end, byte for byte: the proof
 * that the shim saw every change. */
bool disk_is_real(struct disk *d, char why[256]);
struct disk_loss disk_cut(struct disk *d, const struct disk_cut *cut, struct rng *r);
/* Makes the real directory what the disk holds, and loads it. */
void disk_restore(struct disk *d);

#endif
