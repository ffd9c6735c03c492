/* Turns a path into a data directory that is ours, of a format we read, and locked.
 *
 * Know before editing: everything is judged before anything is made. A mistyped path may name
 * somebody's home directory; it gets an error and not one new file. */
#include "engine/rocks/dir.h"

#include "base/mem.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT_TEXT "sheaf 1\nengine rocksdb\n"
_Static_assert(ROCKS_FORMAT == 1, "FORMAT_TEXT says so too");

/* DURABLE: | "sheafdur" | sequence, 8 bytes | its complement, 8 bytes |, host order: the file never
 * leaves the machine, and what does not fit its complement is taken for absent. */
struct promise {
    char magic[8];
    uint64_t sequence, complement;
};

static sheaf_rc fail_errno(sheaf_error *err, const char *what, const char *path)
{
    int e = errno;
    char text[128] = "";
    const char *said = strerror_r(e, text, sizeof text);
    return err_set(err, SHEAF_IO, "cannot %s %s: %s", what, path, said);
}

char *rocks_dir_join(const char *path, const char *name)
{
    assert(path && name && !strchr(name, '/'));
    size_t n = strlen(path), m = strlen(name);
    char *joined = mem_alloc(n + 1 + m + 1);
    if (!joined) return NULL;
    memcpy(joined, path, n);
    joined[n] = '/';
    memcpy(joined + n + 1, name, m + 1);
    return joined;
}

static sheaf_rc sync_directory(const char *path, sheaf_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail_errno(err, "open", path);
    int failed = fsync(fd);
    if (failed) (void)fail_errno(err, "sync", path);
    close(fd);
    return failed ? SHEAF_IO : SHEAF_OK;
}

/* The directory that holds `path`, synced, so that the name survives a power cut too. */
static sheaf_rc sync_parent(const char *path, sheaf_error *err)
{
    char *parent = rocks_dir_join(path, "..");
    if (!parent) return err_nomem(err);
    sheaf_rc rc = sync_directory(parent, err);
    mem_free(parent);
    return rc;
}

sheaf_rc rocks_dir_make(const char *path, sheaf_error *err)
{
    assert(path && *path);
    if (mkdir(path, 0700) != 0) return fail_errno(err, "create", path);
    return sync_parent(path, err);
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t wrote = write(fd, p, n);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        p += wrote;
        n -= (size_t)wrote;
    }
    return true;
}

static sheaf_rc write_new(const char *path, const char *text, sheaf_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return fail_errno(err, "create", path);
    sheaf_rc rc = SHEAF_OK;
    if (!write_all(fd, text, strlen(text)) || fsync(fd) != 0) rc = fail_errno(err, "write", path);
    if (close(fd) != 0 && rc == SHEAF_OK) rc = fail_errno(err, "close", path);
    return rc;
}

sheaf_rc rocks_dir_write_format(const char *path, sheaf_error *err)
{
    sheaf_rc rc = SHEAF_NOMEM;
    char *new = rocks_dir_join(path, "FORMAT.tmp"), *final = rocks_dir_join(path, "FORMAT");
    if (!new || !final) {
        rc = err_nomem(err);
        goto out;
    }
    TRY_OUT(write_new(new, FORMAT_TEXT, err));
    if (rename(new, final) != 0) {
        rc = fail_errno(err, "create", final);
        goto out;
    }
    rc = sync_directory(path, err);
out:
    mem_free(new);
    mem_free(final);
    return rc;
}

/* ---- judging what is there ---- */

/* What a process that died while creating a directory may have left, and what a fresh file system
 * has in its root. */
static bool is_harmless(const char *name)
{
    static const char *const names[] = {".", "..", "LOCK.sheaf", "FORMAT.tmp", "lost+found"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

static sheaf_rc check_empty(const char *path, sheaf_error *err)
{
    DIR *dir = opendir(path);
    if (!dir) return fail_errno(err, "open", path);
    sheaf_rc rc = SHEAF_OK;
    const struct dirent *entry;
    while (rc == SHEAF_OK && (entry = readdir(dir)) != NULL) {
        if (is_harmless(entry->d_name)) continue;
        rc = err_set(err, SHEAF_VALIDATION,
                     "%s is not a Sheaf data directory: it has no FORMAT file but holds other "
                     "files (%s); choose another directory",
                     path, entry->d_name);
    }
    closedir(dir);
    return rc;
}

static sheaf_rc judge_format(const char *path, const char *text, sheaf_error *err)
{
    char *end = NULL;
    bool is_ours = strncmp(text, "sheaf ", 6) == 0 && text[6] >= '1' && text[6] <= '9';
    unsigned long number = is_ours ? strtoul(text + 6, &end, 10) : 0;
    if (!is_ours || *end != '\n')
        return err_set(err, SHEAF_CORRUPT,
                       "%s/FORMAT is damaged: it does not say \"sheaf <number>\"", path);
    if (number > ROCKS_FORMAT)
        return err_set(err, SHEAF_FORMAT,
                       "%s has format %lu; this release reads formats up to %d: use a newer one",
                       path, number, ROCKS_FORMAT);
    if (strncmp(end + 1, "engine rocksdb\n", 15) != 0)
        return err_set(err, SHEAF_FORMAT, "%s was not made by the rocksdb engine; its FORMAT: %s",
                       path, text);
    return SHEAF_OK;
}

/* One look. *has_format_out says whether there is a FORMAT. */
static sheaf_rc look_at(const char *path, const char *file, bool *has_format_out, sheaf_error *err)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    *has_format_out = fd >= 0;
    if (fd < 0) return errno == ENOENT ? check_empty(path, err) : fail_errno(err, "open", file);
    char text[256] = "";
    ssize_t n = read(fd, text, sizeof text - 1);
    sheaf_rc rc = n < 0 ? fail_errno(err, "read", file) : judge_format(path, text, err);
    close(fd);
    return rc;
}

/* SHEAF_OK means: ours, or free to become ours. */
static sheaf_rc check_directory(const char *path, bool *has_format_out, sheaf_error *err)
{
    *has_format_out = false;
    char *file = rocks_dir_join(path, "FORMAT");
    if (!file) return err_nomem(err);
    sheaf_rc rc = look_at(path, file, has_format_out, err);
    /* Another process was creating it just then: what is there is its own, FORMAT came first. */
    if (rc == SHEAF_VALIDATION && !*has_format_out && access(file, F_OK) == 0)
        rc = look_at(path, file, has_format_out, err);
    mem_free(file);
    return rc;
}

/* ---- the lock ---- */

/* The holder's text is read without a lock: in the instant between locking and writing it is
 * empty. */
static sheaf_rc fail_in_use(const struct rocks_dir *d, int fd, sheaf_error *err)
{
    assert(fd >= 0 && d->lock_fd < 0);
    char text[200] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    char *owner = n > 0 ? strchr(text, '\n') : NULL;
    if (!owner)
        return err_set(err, SHEAF_IN_USE,
                       "%s is in use by another process; stop it or choose another directory",
                       d->path);
    *owner++ = '\0';
    owner[strcspn(owner, "\n")] = '\0';
    return err_set(err, SHEAF_IN_USE,
                   "%s is in use by process %s%s%s%s; stop it or choose another directory", d->path,
                   text, *owner ? " (" : "", owner, *owner ? ")" : "");
}

static void write_owner(int fd, const char *owner)
{
    char text[200];
    int n = snprintf(text, sizeof text, "%ld\n%.160s\n", (long)getpid(), owner ? owner : "");
    assert(n > 0 && (size_t)n < sizeof text);
    /* Only the next process's message hangs on it: a failure changes nothing. */
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) != n) (void)ftruncate(fd, 0);
}

/* flock belongs to the open file, not to the process: a second opening in one process is refused
 * as well. */
static sheaf_rc lock_directory(struct rocks_dir *d, const char *owner, sheaf_error *err)
{
    char *file = rocks_dir_join(d->path, "LOCK.sheaf");
    if (!file) return err_nomem(err);
    sheaf_rc rc = SHEAF_OK;
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        rc = fail_errno(err, "open", file);
    } else if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        write_owner(fd, owner);
        d->lock_fd = fd;
    } else {
        rc = errno == EWOULDBLOCK ? fail_in_use(d, fd, err) : fail_errno(err, "lock", file);
        close(fd);
    }
    mem_free(file);
    return rc;
}

/* ---- the promise ---- */

static void read_promise(struct rocks_dir *d)
{
    struct promise p;
    ssize_t n = pread(d->durable_fd, &p, sizeof p, 0);
    if (n != (ssize_t)sizeof p || memcmp(p.magic, "sheafdur", 8) != 0) return;
    if (p.complement == ~p.sequence) d->promised = p.sequence;
}

static sheaf_rc open_promise(struct rocks_dir *d, sheaf_error *err)
{
    char *file = rocks_dir_join(d->path, "DURABLE");
    if (!file) return err_nomem(err);
    d->durable_fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    sheaf_rc rc = d->durable_fd < 0 ? fail_errno(err, "open", file) : SHEAF_OK;
    if (rc == SHEAF_OK) read_promise(d);
    mem_free(file);
    return rc;
}

void rocks_dir_promise(struct rocks_dir *d, uint64_t sequence)
{
    assert(d->durable_fd >= 0);
    struct promise p = {.sequence = sequence, .complement = ~sequence};
    memcpy(p.magic, "sheafdur", 8);
    /* A failure leaves the older, weaker promise. */
    ssize_t n = pwrite(d->durable_fd, &p, sizeof p, 0);
    (void)n;
}

/* ---- opening ---- */

/* A promise without a database: it was moved or deleted. Creating an empty one in its place would
 * hide that. */
static sheaf_rc check_database(const struct rocks_dir *d, sheaf_error *err)
{
    char *current = rocks_dir_join(d->db, "CURRENT");
    if (!current) return err_nomem(err);
    bool is_there = access(current, F_OK) == 0;
    mem_free(current);
    if (is_there || d->promised == 0) return SHEAF_OK;
    return err_set(err, SHEAF_CORRUPT,
                   "%s has lost its database (%s/CURRENT is missing); restore a copy", d->path,
                   d->db);
}

/* RocksDB leaves one empty log behind for every opening without a write. An empty log says nothing,
 * and nothing refers to it. */
static void sweep_empty_logs(const char *db)
{
    DIR *dir = opendir(db);
    if (!dir) return;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        size_t n = strlen(entry->d_name);
        struct stat st;
        if (n < 4 || strcmp(entry->d_name + n - 4, ".log") != 0) continue;
        if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISREG(st.st_mode) && st.st_size == 0) (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    closedir(dir);
}

static sheaf_rc prepare(struct rocks_dir *d, const char *owner, sheaf_error *err)
{
    bool has_format;
    TRY(lock_directory(d, owner, err));
    assert(d->lock_fd >= 0);
    /* Again, now that nobody else can be creating it. */
    TRY(check_directory(d->path, &has_format, err));
    if (!has_format) TRY(rocks_dir_write_format(d->path, err));
    TRY(open_promise(d, err));
    TRY(check_database(d, err));
    if (access(d->db, F_OK) != 0) TRY(rocks_dir_make(d->db, err));
    /* A process that died while creating may have left names that are not synced yet. */
    TRY(sync_directory(d->path, err));
    sweep_empty_logs(d->db);
    return SHEAF_OK;
}

static sheaf_rc find_directory(const char *path, bool must_exist, sheaf_error *err)
{
    struct stat st;
    bool has_format;
    if (stat(path, &st) != 0) {
        if (errno != ENOENT) return fail_errno(err, "open", path);
        if (must_exist) return err_set(err, SHEAF_VALIDATION, "%s does not exist", path);
        if (mkdir(path, 0700) == 0) return sync_parent(path, err);
        /* When another process was faster, its directory is judged like any other. */
        if (errno != EEXIST || stat(path, &st) != 0) return fail_errno(err, "create", path);
    }
    if (!S_ISDIR(st.st_mode)) return err_set(err, SHEAF_VALIDATION, "%s is not a directory", path);
    TRY(check_directory(path, &has_format, err));
    if (must_exist && !has_format)
        return err_set(err, SHEAF_VALIDATION, "%s holds no Sheaf data", path);
    /* FORMAT is written after the parent was synced; without it nobody knows. */
    return has_format ? SHEAF_OK : sync_parent(path, err);
}

sheaf_rc rocks_dir_open(struct rocks_dir *d, const char *path, bool must_exist, const char *owner,
                        sheaf_error *err)
{
    *d = (struct rocks_dir){.lock_fd = -1, .durable_fd = -1};
    if (!path || !*path) return err_set(err, SHEAF_VALIDATION, "no data directory was named");
    TRY(find_directory(path, must_exist, err));
    size_t n = strlen(path);
    d->path = mem_alloc(n + 1);
    if (d->path) memcpy(d->path, path, n + 1);
    d->db = rocks_dir_join(path, "db");
    sheaf_rc rc = d->path && d->db ? prepare(d, owner, err) : err_nomem(err);
    if (rc != SHEAF_OK) rocks_dir_close(d);
    return rc;
}

void rocks_dir_close(struct rocks_dir *d)
{
    if (d->durable_fd >= 0) close(d->durable_fd);
    if (d->lock_fd >= 0) close(d->lock_fd);
    mem_free(d->path);
    mem_free(d->db);
    *d = (struct rocks_dir){.lock_fd = -1, .durable_fd = -1};
}

uint64_t rocks_dir_bytes(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) return 0;
    uint64_t bytes = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        struct stat st;
        if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISREG(st.st_mode)) bytes += (uint64_t)st.st_size;
    }
    closedir(dir);
    return bytes;
}
