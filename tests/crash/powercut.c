/* tests/crash/powercut.c: an LD_PRELOAD shim that records what a process does to a disk.
 *
 * It turns every libc call that changes something below POWERCUT_ROOT into the same system call
 * plus a record in the shared history (powercut.h). It decides nothing: which of the changes a
 * power cut leaves is computed afterwards by the disk model (disk.c). Syncs are recorded and not
 * done, because the model, not this machine's disk, says what is durable.
 *
 * To know before editing: a call that changes a modelled file and is not understood here must end
 * in unsupported(), which fails the run; otherwise the model would lie. The driver also compares
 * the model with the real directory after each run, so a call that slips past is noticed. System
 * calls are made directly: no dlsym, no allocation, nothing that could come back here. A history
 * has one process at a time: a forked child's changes would not be in order.
 */
#include "powercut.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_FD 65536

static struct pc_history *history;
static char root[PATH_MAX];
static size_t root_n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The inode behind each descriptor of a modelled file or directory; 0 for all others. */
static _Atomic uint64_t ino_of[MAX_FD];

__attribute__((constructor)) static void attach(void)
{
    const char *fd = getenv(PC_ENV_FD), *dir = getenv(PC_ENV_ROOT);
    if (!fd || !dir || strlen(dir) >= sizeof root) return;
    void *map = mmap(NULL, PC_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
    if (map == MAP_FAILED) return;
    root_n = strlen(strcpy(root, dir));
    history = map;
    atomic_store(&history->is_attached, 1);
}

/* ---- the history ---- */

static void die(void)
{
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

static void unsupported(const char *call, const char *what)
{
    pthread_mutex_lock(&lock);
    if (!history->unsupported[0])
        snprintf(history->unsupported, sizeof history->unsupported, "%.48s %.200s", call, what);
    pthread_mutex_unlock(&lock);
}

static void begin(void)
{
    pthread_mutex_lock(&lock);
    if (history->die_at && atomic_load(&history->records) + 1 >= history->die_at) die();
    atomic_store(&history->in_flight, 1);
}

static int end(void)
{
    int e = errno;
    atomic_store(&history->in_flight, 0);
    pthread_mutex_unlock(&lock);
    return e;
}

/* Room for one record with n bytes of payload, or the power goes. Between begin and end. */
static char *record(enum pc_kind kind, uint64_t ino, uint64_t a, size_t n)
{
    uint64_t tail = atomic_load(&history->tail);
    if (n > UINT32_MAX || PC_FIRST + tail + pc_size((uint32_t)n) > PC_BYTES) die();
    struct pc_record *r = pc_at(history, tail);
    *r = (struct pc_record){.kind = (uint32_t)kind, .n = (uint32_t)n, .ino = ino, .a = a};
    return (char *)(r + 1);
}

/* The record made last is complete. */
static void recorded(void)
{
    uint64_t tail = atomic_load(&history->tail);
    atomic_fetch_add(&history->records, 1);
    atomic_store(&history->tail, tail + pc_size(pc_at(history, tail)->n));
}

static void record_path(enum pc_kind kind, uint64_t ino, const char *path)
{
    size_t n = strlen(path) + 1;
    memcpy(record(kind, ino, 0, n), path, n);
    recorded();
}

static void record_two(enum pc_kind kind, const char *from, const char *to)
{
    size_t n = strlen(from) + 1, m = strlen(to) + 1;
    char *p = record(kind, 0, 0, n + m);
    memcpy(p, from, n);
    memcpy(p + n, to, m);
    recorded();
}

static void record_length(uint64_t ino, uint64_t length)
{
    (void)record(PC_LENGTH, ino, length, 0);
    recorded();
}

/* ---- paths and descriptors ---- */

/* Takes "." and ".." and empty parts out of an absolute path, in place. */
static void normalise(char *path)
{
    char *out = path;
    for (const char *in = path; *in;) {
        while (*in == '/') in++;
        size_t n = strcspn(in, "/");
        if (n == 2 && in[0] == '.' && in[1] == '.') {
            while (out > path && *--out != '/') {}
        } else if (n > 0 && !(n == 1 && in[0] == '.')) {
            *out++ = '/';
            memmove(out, in, n);
            out += n;
        }
        in += n;
    }
    *out = 0;
}

/* The path relative to the root, into `to`; false when it lies elsewhere. */
static bool inside(int at, const char *path, char to[PATH_MAX])
{
    char whole[PATH_MAX] = "";
    if (!history || !path) return false;
    if (path[0] != '/') {
        char link[64];
        snprintf(link, sizeof link, at == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", at);
        ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, whole, sizeof whole - 1);
        if (n < 0) return false;
        whole[n] = 0;
    }
    size_t n = strlen(whole), m = strlen(path);
    if (n + 1 + m >= sizeof whole) return false;
    whole[n] = '/';
    memcpy(whole + n + 1, path, m + 1);
    normalise(whole);
    if (strncmp(whole, root, root_n) != 0) return false;
    if (whole[root_n] != 0 && whole[root_n] != '/') return false;
    strcpy(to, whole[root_n] ? whole + root_n + 1 : "");
    return true;
}

/* fclose closes a descriptor behind our back, so the number may stand for something else by now. */
static uint64_t tracked(int fd)
{
    uint64_t ino = history && fd >= 0 && fd < MAX_FD ? atomic_load(&ino_of[fd]) : 0;
    if (!ino) return 0;
    struct stat st;
    int e = errno;
    if (fstat(fd, &st) != 0 || st.st_ino != ino) ino = 0;
    errno = e;
    return ino;
}

static void track(int fd, uint64_t ino)
{
    if (fd < 0) return;
    if (fd < MAX_FD)
        atomic_store(&ino_of[fd], ino);
    else if (ino)
        unsupported("open", "descriptor number too large");
}

static bool stat_path(int at, const char *path, struct stat *st)
{
    int e = errno;
    bool ok = fstatat(at, path, st, AT_SYMLINK_NOFOLLOW) == 0;
    errno = e;
    return ok;
}

/* ---- open, close, copies of descriptors ---- */

static int real_open(int at, const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, at, path, flags, mode);
}

static void record_open(int fd, int flags, const char *path, bool existed)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return;
    if (!existed)
        record_path(PC_CREATE, st.st_ino, path);
    else if ((flags & O_TRUNC) && S_ISREG(st.st_mode))
        record_length(st.st_ino, 0);
    track(fd, st.st_ino);
}

static int do_open(int at, const char *path, int flags, mode_t mode)
{
    char rel[PATH_MAX];
    if (!inside(at, path, rel)) {
        int other = real_open(at, path, flags, mode);
        if (history) track(other, 0);
        return other;
    }
    bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if ((flags & O_TMPFILE) == O_TMPFILE || (writes && (flags & (O_SYNC | O_DSYNC))))
        unsupported("open with O_TMPFILE, O_SYNC or O_DSYNC", rel);
    struct stat before;
    begin();
    bool existed = stat_path(at, path, &before);
    int fd = real_open(at, path, flags, mode);
    if (fd >= 0) record_open(fd, flags, rel, existed);
    errno = end();
    return fd;
}

#define OPEN_BODY(at)                                                                              \
    mode_t mode = 0;                                                                               \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                           \
        va_list ap;                                                                                \
        va_start(ap, flags);                                                                       \
        mode = va_arg(ap, mode_t);                                                                 \
        va_end(ap);                                                                                \
    }                                                                                              \
    return do_open(at, path, flags, mode)

EXPORT int open(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD); }
EXPORT int open64(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD); }
EXPORT int openat(int at, const char *path, int flags, ...) { OPEN_BODY(at); }
EXPORT int openat64(int at, const char *path, int flags, ...) { OPEN_BODY(at); }
/* What fortified callers reach; glibc declares them nowhere. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int at, const char *path, int flags);
int __openat64_2(int at, const char *path, int flags);
EXPORT int __open_2(const char *path, int flags) { return do_open(AT_FDCWD, path, flags, 0); }
EXPORT int __open64_2(const char *path, int flags) { return do_open(AT_FDCWD, path, flags, 0); }
EXPORT int __openat_2(int at, const char *path, int flags) { return do_open(at, path, flags, 0); }
EXPORT int __openat64_2(int at, const char *path, int flags) { return do_open(at, path, flags, 0); }
EXPORT int creat(const char *path, mode_t mode)
{
    return do_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
EXPORT int creat64(const char *path, mode_t mode) { return creat(path, mode); }

EXPORT int close(int fd)
{
    if (history) track(fd, 0);
    return (int)syscall(SYS_close, fd);
}

static int copied(int from, int to)
{
    if (history) track(to, tracked(from));
    return to;
}
EXPORT int dup(int fd) { return copied(fd, (int)syscall(SYS_dup, fd)); }
EXPORT int dup3(int from, int to, int flags)
{
    return copied(from, (int)syscall(SYS_dup3, from, to, flags));
}
EXPORT int dup2(int from, int to)
{
    if (from == to) return (int)syscall(SYS_fcntl, from, F_GETFD) < 0 ? -1 : to;
    return copied(from, (int)syscall(SYS_dup3, from, to, 0));
}

static int do_fcntl(int fd, int command, void *arg)
{
    int rc = (int)syscall(SYS_fcntl, fd, command, arg);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, rc) : rc;
}
#define FCNTL_BODY                                                                                 \
    va_list ap;                                                                                    \
    va_start(ap, command);                                                                         \
    void *arg = va_arg(ap, void *);                                                                \
    va_end(ap);                                                                                    \
    return do_fcntl(fd, command, arg)
EXPORT int fcntl(int fd, int command, ...) { FCNTL_BODY; }
EXPORT int fcntl64(int fd, int command, ...) { FCNTL_BODY; }

/* ---- writing ---- */

/* The first n bytes of a vector, as they now stand at `offset` of the file. */
static void record_vector(uint64_t ino, uint64_t offset, const struct iovec *v, size_t n)
{
    char *p = record(PC_WRITE, ino, offset, n);
    for (size_t left = n, m; left > 0; left -= m, v++) {
        m = v->iov_len < left ? v->iov_len : left;
        memcpy(p, v->iov_base, m);
        p += m;
    }
    recorded();
}

/* offset < 0: at the descriptor's own offset, which the kernel knows after the write, also with
 * O_APPEND. pwrite to an O_APPEND descriptor appends on Linux, whatever the offset. */
static ssize_t do_writev(int fd, const struct iovec *v, int count, off_t offset)
{
    uint64_t ino = tracked(fd);
    if (!ino) {
        if (offset < 0) return syscall(SYS_writev, fd, v, count);
        return syscall(SYS_pwritev, fd, v, count, offset, 0);
    }
    if (offset >= 0 && ((int)syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND))
        unsupported("pwrite", "with O_APPEND");
    begin();
    ssize_t n = offset < 0 ? syscall(SYS_writev, fd, v, count)
                           : syscall(SYS_pwritev, fd, v, count, offset, 0);
    if (n > 0) {
        off_t at = offset < 0 ? lseek(fd, 0, SEEK_CUR) - n : offset;
        record_vector(ino, (uint64_t)at, v, (size_t)n);
    }
    errno = end();
    return n;
}

static ssize_t do_write(int fd, const void *p, size_t n, off_t offset)
{
    struct iovec v = {.iov_base = (void *)(uintptr_t)p, .iov_len = n};
    return do_writev(fd, &v, 1, offset);
}

EXPORT ssize_t write(int fd, const void *p, size_t n)
{
    if (!tracked(fd)) return syscall(SYS_write, fd, p, n);
    return do_write(fd, p, n, -1);
}
static ssize_t do_pwrite(int fd, const void *p, size_t n, off_t offset)
{
    if (offset >= 0) return do_write(fd, p, n, offset);
    errno = EINVAL;
    return -1;
}
EXPORT ssize_t pwrite(int fd, const void *p, size_t n, off_t at) { return do_pwrite(fd, p, n, at); }
EXPORT ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    return do_pwrite(fd, p, n, at);
}
EXPORT ssize_t writev(int fd, const struct iovec *v, int n) { return do_writev(fd, v, n, -1); }
static ssize_t do_pwritev(int fd, const struct iovec *v, int n, off_t at)
{
    if (at >= 0) return do_writev(fd, v, n, at);
    errno = EINVAL;
    return -1;
}
EXPORT ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at)
{
    return do_pwritev(fd, v, n, at);
}
EXPORT ssize_t pwritev64(int fd, const struct iovec *v, int n, off64_t at)
{
    return do_pwritev(fd, v, n, at);
}
EXPORT ssize_t pwritev2(int fd, const struct iovec *v, int n, off_t at, int flags)
{
    if (tracked(fd) && flags) unsupported("pwritev2", "with flags");
    return at == -1 ? do_writev(fd, v, n, -1) : do_pwritev(fd, v, n, at);
}

/* ---- lengths ---- */

static int do_ftruncate(int fd, off_t length)
{
    uint64_t ino = tracked(fd);
    if (!ino) return (int)syscall(SYS_ftruncate, fd, length);
    begin();
    int rc = (int)syscall(SYS_ftruncate, fd, length);
    if (rc == 0) record_length(ino, (uint64_t)length);
    errno = end();
    return rc;
}
EXPORT int ftruncate(int fd, off_t length) { return do_ftruncate(fd, length); }
EXPORT int ftruncate64(int fd, off64_t length) { return do_ftruncate(fd, length); }

static int do_truncate(const char *path, off_t length)
{
    char rel[PATH_MAX];
    struct stat st;
    if (!inside(AT_FDCWD, path, rel)) return (int)syscall(SYS_truncate, path, length);
    begin();
    int rc = (int)syscall(SYS_truncate, path, length);
    if (rc == 0 && stat_path(AT_FDCWD, path, &st)) record_length(st.st_ino, (uint64_t)length);
    errno = end();
    return rc;
}
EXPORT int truncate(const char *path, off_t length) { return do_truncate(path, length); }
EXPORT int truncate64(const char *path, off64_t length) { return do_truncate(path, length); }

static void record_zeros(uint64_t ino, uint64_t from, uint64_t to)
{
    if (from >= to) return;
    memset(record(PC_WRITE, ino, from, to - from), 0, to - from);
    recorded();
}

/* Space is not modelled, only bytes and lengths: allocation that keeps the length is nothing. */
static int do_fallocate(int fd, int mode, off_t offset, off_t n)
{
    uint64_t ino = tracked(fd);
    if (!ino) return (int)syscall(SYS_fallocate, fd, mode, offset, n);
    const int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    if (mode != 0 && mode != FALLOC_FL_KEEP_SIZE && mode != punch) unsupported("fallocate", "mode");
    struct stat before, after;
    begin();
    fstat(fd, &before);
    int rc = (int)syscall(SYS_fallocate, fd, mode, offset, n);
    if (rc == 0 && fstat(fd, &after) == 0) {
        if (after.st_size != before.st_size) record_length(ino, (uint64_t)after.st_size);
        off_t to = offset + n < before.st_size ? offset + n : before.st_size;
        if (mode == punch && offset < to) record_zeros(ino, (uint64_t)offset, (uint64_t)to);
    }
    errno = end();
    return rc;
}
EXPORT int fallocate(int fd, int mode, off_t at, off_t n) { return do_fallocate(fd, mode, at, n); }
EXPORT int fallocate64(int fd, int mode, off64_t at, off64_t n)
{
    return do_fallocate(fd, mode, at, n);
}
EXPORT int posix_fallocate(int fd, off_t at, off_t n)
{
    return do_fallocate(fd, 0, at, n) == 0 ? 0 : errno;
}
EXPORT int posix_fallocate64(int fd, off64_t at, off64_t n) { return posix_fallocate(fd, at, n); }

/* ---- syncs ---- */

/* A disk takes its time, and what is written meanwhile is not covered. */
static void disk_works(void)
{
    static _Thread_local uint64_t state;
    if (!history->sync_delay_ns) return;
    if (!state) state = (uint64_t)(uintptr_t)&state | 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    struct timespec t = {.tv_nsec = (long)((state >> 33) % history->sync_delay_ns)};
    nanosleep(&t, NULL);
}

static int do_sync(enum pc_kind kind, uint64_t ino)
{
    int e = errno;
    pthread_mutex_lock(&lock);
    uint64_t covered = atomic_load(&history->tail);
    pthread_mutex_unlock(&lock);
    disk_works();
    begin();
    (void)record(kind, ino, covered, 0);
    recorded();
    (void)end();
    errno = e;
    return 0;
}

static int sync_fd(int fd, long call)
{
    uint64_t ino = tracked(fd);
    return ino ? do_sync(PC_SYNC, ino) : (int)syscall(call, fd);
}
EXPORT int fsync(int fd) { return sync_fd(fd, SYS_fsync); }
EXPORT int fdatasync(int fd) { return sync_fd(fd, SYS_fdatasync); }
EXPORT int syncfs(int fd)
{
    return tracked(fd) ? do_sync(PC_SYNC_ALL, 0) : (int)syscall(SYS_syncfs, fd);
}
EXPORT void sync(void)
{
    if (history)
        (void)do_sync(PC_SYNC_ALL, 0);
    else
        syscall(SYS_sync);
}
/* Its own manual says that it promises nothing after a crash. */
EXPORT int sync_file_range(int fd, off64_t at, off64_t n, unsigned flags)
{
    return tracked(fd) ? 0 : (int)syscall(SYS_sync_file_range, fd, at, n, flags);
}

/* ---- names ---- */

static int do_rename(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    char a[PATH_MAX], b[PATH_MAX];
    bool from_in = inside(from_at, from, a), to_in = inside(to_at, to, b);
    if (!from_in && !to_in) return (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
    if (from_in != to_in || (flags & ~(unsigned)RENAME_NOREPLACE)) unsupported("rename", from);
    begin();
    int rc = (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
    if (rc == 0 && from_in && to_in) record_two(PC_RENAME, a, b);
    errno = end();
    return rc;
}
EXPORT int rename(const char *from, const char *to)
{
    return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0);
}
EXPORT int renameat(int from_at, const char *from, int to_at, const char *to)
{
    return do_rename(from_at, from, to_at, to, 0);
}
EXPORT int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    return do_rename(from_at, from, to_at, to, flags);
}

static int do_unlink(int at, const char *path, int flags)
{
    char rel[PATH_MAX];
    if (!inside(at, path, rel)) return (int)syscall(SYS_unlinkat, at, path, flags);
    begin();
    int rc = (int)syscall(SYS_unlinkat, at, path, flags);
    if (rc == 0) record_path(PC_UNLINK, 0, rel);
    errno = end();
    return rc;
}
EXPORT int unlink(const char *path) { return do_unlink(AT_FDCWD, path, 0); }
EXPORT int unlinkat(int at, const char *path, int flags) { return do_unlink(at, path, flags); }
EXPORT int rmdir(const char *path) { return do_unlink(AT_FDCWD, path, AT_REMOVEDIR); }
EXPORT int remove(const char *path)
{
    struct stat st;
    bool is_dir = stat_path(AT_FDCWD, path, &st) && S_ISDIR(st.st_mode);
    return do_unlink(AT_FDCWD, path, is_dir ? AT_REMOVEDIR : 0);
}

static int do_link(int from_at, const char *from, int to_at, const char *to, int flags)
{
    char a[PATH_MAX], b[PATH_MAX];
    bool from_in = inside(from_at, from, a), to_in = inside(to_at, to, b);
    if (!to_in) return (int)syscall(SYS_linkat, from_at, from, to_at, to, flags);
    if (!from_in) unsupported("link", from);
    begin();
    int rc = (int)syscall(SYS_linkat, from_at, from, to_at, to, flags);
    if (rc == 0 && from_in) record_two(PC_LINK, a, b);
    errno = end();
    return rc;
}
EXPORT int link(const char *from, const char *to)
{
    return do_link(AT_FDCWD, from, AT_FDCWD, to, 0);
}
EXPORT int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
    return do_link(from_at, from, to_at, to, flags);
}

static int do_mkdir(int at, const char *path, mode_t mode)
{
    char rel[PATH_MAX];
    struct stat st;
    if (!inside(at, path, rel)) return (int)syscall(SYS_mkdirat, at, path, mode);
    begin();
    int rc = (int)syscall(SYS_mkdirat, at, path, mode);
    if (rc == 0 && stat_path(at, path, &st)) record_path(PC_MKDIR, st.st_ino, rel);
    errno = end();
    return rc;
}
EXPORT int mkdir(const char *path, mode_t mode) { return do_mkdir(AT_FDCWD, path, mode); }
EXPORT int mkdirat(int at, const char *path, mode_t mode) { return do_mkdir(at, path, mode); }

/* ---- what the model does not know ---- */

static void refuse_path(const char *call, int at, const char *path)
{
    char rel[PATH_MAX];
    if (inside(at, path, rel)) unsupported(call, rel);
}

EXPORT void *mmap(void *address, size_t n, int prot, int flags, int fd, off_t offset)
{
    if (tracked(fd) && (prot & PROT_WRITE) && (flags & MAP_TYPE) != MAP_PRIVATE)
        unsupported("mmap", "shared and writable");
    return (void *)syscall(SYS_mmap, address, n, prot, flags, fd, offset); // NOLINT
}
EXPORT void *mmap64(void *address, size_t n, int prot, int flags, int fd, off64_t offset)
{
    return mmap(address, n, prot, flags, fd, offset);
}
EXPORT int symlink(const char *target, const char *path)
{
    refuse_path("symlink", AT_FDCWD, path);
    return (int)syscall(SYS_symlinkat, target, AT_FDCWD, path);
}
EXPORT int symlinkat(const char *target, int at, const char *path)
{
    refuse_path("symlink", at, path);
    return (int)syscall(SYS_symlinkat, target, at, path);
}
EXPORT ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t n,
                               unsigned flags)
{
    if (tracked(out)) unsupported("copy_file_range", "");
    return syscall(SYS_copy_file_range, in, in_at, out, out_at, n, flags);
}
EXPORT ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags)
{
    if (tracked(out)) unsupported("splice", "");
    return syscall(SYS_splice, in, in_at, out, out_at, n, flags);
}
ssize_t sendfile(int out, int in, off_t *at, size_t n);
EXPORT ssize_t sendfile(int out, int in, off_t *at, size_t n)
{
    if (tracked(out)) unsupported("sendfile", "");
    return syscall(SYS_sendfile, out, in, at, n);
}
