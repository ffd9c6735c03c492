/* Turns a path into a listening socket that only its owner may use.
 *
 * Know before editing: a socket's address holds 107 bytes and paths may be longer, so the directory
 * is opened and the socket named through it (/proc/self/fd/N/name). A socket that nobody listens on
 * is left over from a server that died, and is replaced; the directory is locked meanwhile, so that
 * of two servers that start at once only one does so. */
#include "http/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static sheaf_rc failed(struct http_server *s, const char *what, sheaf_error *err)
{
    return err_set(err, SHEAF_IO, "Cannot listen on %s: %s", s->options.unix_path, what);
}

/* The directory, opened, and the name in it. */
static sheaf_rc open_folder(struct http_server *s, sheaf_error *err)
{
    const char *path = s->options.unix_path, *slash = strrchr(path, '/');
    s->unix_name = slash ? slash + 1 : path;
    if (*s->unix_name == 0) return failed(s, "the path names a directory, not a socket", err);
    if (strlen(s->unix_name) > 64) return failed(s, "the socket's name is over 64 bytes", err);
    size_t n = slash ? (size_t)(slash - path) + 1 : 2;
    char *folder = mem_alloc(n + 1);
    if (!folder) return err_nomem(err);
    memcpy(folder, slash ? path : "./", n);
    folder[n] = 0;
    s->unix_folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mem_free(folder);
    if (s->unix_folder < 0) return failed(s, strerror(errno), err);
    return SHEAF_OK;
}

static struct sockaddr_un address_of(const struct http_server *s)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/%s", s->unix_folder, s->unix_name);
    return a;
}

/* Whether someone answers at the address; -1 when that cannot be told. */
static int is_alive(const struct sockaddr_un *a)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    int done = connect(fd, (const struct sockaddr *)a, sizeof *a), e = errno;
    close(fd);
    if (done == 0 || e == EAGAIN) return 1; /* EAGAIN: alive, and its queue is full */
    return e == ECONNREFUSED ? 0 : -1;
}

static sheaf_rc clear_way(struct http_server *s, const struct sockaddr_un *a, sheaf_error *err)
{
    struct stat st;
    if (fstatat(s->unix_folder, s->unix_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? SHEAF_OK : failed(s, strerror(errno), err);
    if (!S_ISSOCK(st.st_mode)) return failed(s, "there is a file that is no socket", err);
    int alive = is_alive(a);
    if (alive == 1) return failed(s, "another server listens there", err);
    if (alive < 0) return failed(s, "it cannot be told whether another server listens there", err);
    if (unlinkat(s->unix_folder, s->unix_name, 0) != 0) return failed(s, strerror(errno), err);
    return SHEAF_OK;
}

static sheaf_rc listen_at(struct http_server *s, const struct sockaddr_un *a, sheaf_error *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return failed(s, strerror(errno), err);
    s->loops[0].listener = fd;
    /* The file takes its mode from the socket, so that it is never open to others, not even
     * before a chmod. */
    if (fchmod(fd, 0600) != 0 || bind(fd, (const struct sockaddr *)a, sizeof *a) != 0)
        return failed(s, strerror(errno), err);
    struct stat st;
    if (fstatat(s->unix_folder, s->unix_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        s->unix_inode = (uint64_t)st.st_ino;
        s->unix_device = (uint64_t)st.st_dev;
    }
    if (listen(fd, LISTEN_BACKLOG) != 0) return failed(s, strerror(errno), err);
    return SHEAF_OK;
}

sheaf_rc listen_unix_open(struct http_server *s, sheaf_error *err)
{
    TRY(open_folder(s, err));
    struct sockaddr_un a = address_of(s);
    if (flock(s->unix_folder, LOCK_EX) != 0) return failed(s, strerror(errno), err);
    sheaf_rc rc = clear_way(s, &a, err);
    if (rc == SHEAF_OK) rc = listen_at(s, &a, err);
    flock(s->unix_folder, LOCK_UN);
    TRY(rc);
    for (uint32_t i = 1; i < s->n_loops; i++) {
        s->loops[i].listener = fcntl(s->loops[0].listener, F_DUPFD_CLOEXEC, 0);
        if (s->loops[i].listener < 0) return failed(s, strerror(errno), err);
    }
    return SHEAF_OK;
}

void listen_unix_close(struct http_server *s)
{
    if (s->unix_folder < 0) return;
    struct stat st;
    bool is_ours = s->unix_inode &&
                   fstatat(s->unix_folder, s->unix_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                   (uint64_t)st.st_ino == s->unix_inode && (uint64_t)st.st_dev == s->unix_device;
    if (is_ours) unlinkat(s->unix_folder, s->unix_name, 0);
    close(s->unix_folder);
    s->unix_folder = -1;
}
