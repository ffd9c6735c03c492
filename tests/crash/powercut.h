/* tests/crash/powercut.h: the history that the power-cut shim writes and the disk model reads.
 *
 * A history lives in a memfd that driver and writer share, so it survives SIGKILL of the writer:
 *
 *      | struct pc_history, one page | record | record | …        tail = bytes of records so far
 *      record:  | struct pc_record, 32 bytes | n bytes payload | zero to a multiple of 8 |
 *
 * A record is in the history when `tail` is behind it; a record that was being written when the
 * process died does not exist. Every change is made and recorded under one lock, so the order of
 * the records is the order in which the kernel made the changes. */
#ifndef CRASH_POWERCUT_H
#define CRASH_POWERCUT_H

#include <stdatomic.h>
#include <stdint.h>

#define PC_ENV_FD "POWERCUT_FD"     /* number of the memfd, inherited */
#define PC_ENV_ROOT "POWERCUT_ROOT" /* absolute path of the disk: only what is below is modelled */
#define PC_BYTES (192u << 20)       /* of the mapping; when it is full, the power goes */
#define PC_FIRST 4096u              /* where records begin */

enum pc_kind {
    PC_WRITE = 1, /* ino, a = offset, payload = the bytes written */
    PC_LENGTH,    /* ino, a = the file's new length */
    PC_CREATE,    /* ino, payload = path: a new empty file */
    PC_MKDIR,     /* ino, payload = path */
    PC_UNLINK,    /* payload = path; also rmdir */
    PC_RENAME,    /* payload = from NUL to NUL */
    PC_LINK,      /* payload = from NUL to NUL */
    PC_SYNC,      /* ino, a = tail when the sync began: what came before is on the disk */
    PC_SYNC_ALL   /* a as above, for everything */
};

/* Paths are relative to the root, without "." and "..", "" is the root itself. */
struct pc_record {
    uint32_t kind, n;
    uint64_t ino, a;
    uint64_t reserved;
};
_Static_assert(sizeof(struct pc_record) == 32, "drawn so");

struct pc_history {
    /* Set by the driver before the start. */
    uint64_t die_at;        /* SIGKILL to itself before the n-th record, 0 = never */
    uint64_t sync_delay_ns; /* a sync takes up to this long */
    /* Written by the shim. */
    _Atomic uint64_t tail, records;
    _Atomic uint32_t is_attached;
    _Atomic uint32_t in_flight; /* a change may be made and not yet recorded */
    char unsupported[256];      /* the first call that the model does not know; a run fails on it */
};

static inline struct pc_record *pc_at(struct pc_history *h, uint64_t pos)
{
    return (struct pc_record *)(void *)((char *)h + PC_FIRST + pos);
}
static inline uint64_t pc_size(uint32_t n) { return sizeof(struct pc_record) + ((n + 7u) & ~7ull); }

#endif
