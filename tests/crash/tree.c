/* tests/crash/tree.c: reading, writing, copying and removing directories. See tree.h. */
#include "tree.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void give_up(const char *what, const char *detail)
{
    fprintf(stderr, "crash tests cannot go on: %s %s (%s)\n", what, detail, strerror(errno));
    exit(3);
}

void *grow(void *p, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap) return p;
    size_t n = *cap ? *cap * 2 : 16;
    while (n < need) n *= 2;
    p = mem_realloc(p, n * size);
    if (!p) give_up("out of memory", "");
    *cap = n;
    return p;
}

uint8_t *tree_read(const char *path, size_t *n_out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) give_up("open", path);
    size_t n = (size_t)st.st_size, done = 0;
    uint8_t *p = mem_alloc(n + 1);
    if (!p) give_up("out of memory", path);
    while (done < n) {
        ssize_t got = read(fd, p + done, n - done);
        if (got <= 0) give_up("read", path);
        done += (size_t)got;
    }
    close(fd);
    *n_out = n;
    return p;
}

void tree_write(const char *path, const void *p, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) give_up("create", path);
    for (size_t done = 0; done < n;) {
        ssize_t put = write(fd, (const char *)p + done, n - done);
        if (put <= 0) give_up("write", path);
        done += (size_t)put;
    }
    close(fd);
}

void tree_each(const char *dir, tree_fn f, void *ctx)
{
    DIR *d = opendir(dir);
    if (!d) {
        if (errno == ENOENT) return;
        give_up("opendir", dir);
    }
    struct stat st;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            f(ctx, dir, e->d_name, &st);
    }
    closedir(d);
}

static void join(char to[PATH_MAX], const char *dir, const char *name)
{
    if (snprintf(to, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX) give_up("path too long", dir);
}

static void remove_one(void *ctx, const char *dir, const char *name, const struct stat *st)
{
    char path[PATH_MAX];
    (void)ctx;
    join(path, dir, name);
    if (S_ISDIR(st->st_mode)) tree_empty(path);
    if ((S_ISDIR(st->st_mode) ? rmdir(path) : unlink(path)) != 0) give_up("remove", path);
}

void tree_empty(const char *dir) { tree_each(dir, remove_one, NULL); }

static void copy_one(void *ctx, const char *dir, const char *name, const struct stat *st)
{
    char from[PATH_MAX], to[PATH_MAX];
    join(from, dir, name);
    join(to, ctx, name);
    if (S_ISDIR(st->st_mode)) {
        tree_copy(from, to);
        return;
    }
    size_t n;
    uint8_t *p = tree_read(from, &n);
    tree_write(to, p, n);
    mem_free(p);
}

void tree_copy(const char *from, const char *to)
{
    if (mkdir(to, 0755) != 0 && errno != EEXIST) give_up("mkdir", to);
    tree_each(from, copy_one, (void *)(uintptr_t)to);
}
