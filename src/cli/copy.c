/* Turns a directory into a copy of it that is on the disk when the call returns. */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file, from its beginning to its end, in memory of the kernel where it can. */
static int copy_bytes(int from, int to)
{
    for (;;) {
        ssize_t n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0);
        if (n == 0) return 0;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
    }
    if (errno != EXDEV && errno != ENOSYS && errno != EINVAL && errno != EOPNOTSUPP) return -1;
    char block[65536];
    for (;;) {
        ssize_t n = read(from, block, sizeof block);
        if (n == 0) return 0;
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || write(to, block, (size_t)n) != n) return -1;
    }
}

static int copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), failed = 1;
    if (in < 0) return -1;
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out >= 0) {
        failed = copy_bytes(in, out) != 0 || fsync(out) != 0;
        int kept = errno;
        close(out);
        errno = kept;
    }
    int kept = errno;
    close(in);
    errno = kept;
    return failed ? -1 : 0;
}

static int sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    int failed = fsync(fd);
    close(fd);
    return failed;
}

static bool is_left_out(const char *name)
{
    static const char *const names[] = {".", "..", "LOCK.sheaf", "LOCK", "FORMAT.tmp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static int join(char out[PATH_MAX], const char *directory, const char *name)
{
    int n = snprintf(out, PATH_MAX, "%s/%s", directory, name);
    if (n > 0 && n < PATH_MAX) return 0;
    errno = ENAMETOOLONG;
    return -1;
}

int cli_sync_parent(const char *path)
{
    char parent[PATH_MAX];
    return join(parent, path, "..") == 0 ? sync_directory(parent) : -1;
}

static int copy_entry(const char *from, const char *to, const char *name, char *what, size_t n)
{
    char source[PATH_MAX], copy[PATH_MAX];
    struct stat st;
    if (is_left_out(name)) return 0;
    if (join(source, from, name) != 0 || join(copy, to, name) != 0) return -1;
    snprintf(what, n, "%s", source);
    if (lstat(source, &st) != 0) return -1;
    if (S_ISDIR(st.st_mode)) return cli_copy_tree(source, copy, what, n);
    return S_ISREG(st.st_mode) ? copy_file(source, copy) : 0;
}

int cli_copy_tree(const char *from, const char *to, char *what, size_t n)
{
    snprintf(what, n, "%s", to);
    if (mkdir(to, 0700) != 0) return -1;
    snprintf(what, n, "%s", from);
    DIR *dir = opendir(from);
    if (!dir) return -1;
    const struct dirent *entry;
    int failed = 0;
    while (!failed && (entry = readdir(dir)) != NULL)
        failed = copy_entry(from, to, entry->d_name, what, n);
    int kept = errno;
    closedir(dir);
    if (failed) {
        errno = kept;
        return -1;
    }
    return sync_directory(to) != 0 || cli_sync_parent(to) != 0 ? -1 : 0;
}
