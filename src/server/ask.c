/* Turns a question to a running server into lines: the client's side of admin.c. One request on one
 * connection, which the server closes behind its answer. */
#include "server/admin_path.h"
#include "server/server.h"

#include "base/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES_MAX = 64 << 20 };

/* -1 and *is_running false: nobody listens there. */
static sheaf_rc call_server(const char *directory, int *fd_out, sheaf_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int directory_fd;
    *fd_out = -1;
    TRY(admin_path(directory, address.sun_path, &directory_fd, err));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        *fd_out = fd;
    } else if (fd >= 0) {
        close(fd);
    }
    if (directory_fd >= 0) close(directory_fd);
    return SHEAF_OK;
}

static bool send_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        p += sent;
        n -= (size_t)sent;
    }
    return true;
}

static bool read_all(int fd, struct buf *to)
{
    for (;;) {
        uint8_t *room = buf_room(to, 65536);
        if (!room) return false;
        ssize_t n = read(fd, room, 65536);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        to->n += (size_t)n;
    }
}

/* The last line of a failure is its message; the others are said as they are. */
static sheaf_rc say(struct buf *answer, server_line_fn line, void *ctx, sheaf_error *err)
{
    buf_put_u8(answer, 0);
    char *text = (char *)answer->p, *body = answer->failed ? NULL : strstr(text, "\r\n\r\n");
    if (!body || strncmp(text, "HTTP/1.1 ", 9) != 0)
        return err_set(err, SHEAF_IO, "the server gave no answer; see its standard error");
    int status = atoi(text + 9);
    char *last = NULL, *save = NULL;
    for (char *at = strtok_r(body + 4, "\n", &save); at; at = strtok_r(NULL, "\n", &save)) {
        if (last) line(ctx, last);
        last = at;
    }
    if (status == 200) {
        if (last) line(ctx, last);
        return SHEAF_OK;
    }
    return err_set(err, status == 409 ? SHEAF_CORRUPT : SHEAF_INTERNAL, "%s",
                   last ? last : "the server refused");
}

sheaf_rc server_ask(const char *directory, const char *path, const char *body, bool *is_running_out,
                    server_line_fn line, void *ctx, sheaf_error *err)
{
    struct buf b;
    int fd;
    *is_running_out = false;
    TRY(call_server(directory, &fd, err));
    if (fd < 0) return SHEAF_OK;
    *is_running_out = true;
    buf_init(&b, NULL, ANSWER_BYTES_MAX);
    buf_printf(
        &b, "POST %s HTTP/1.1\r\nHost: sheaf\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
        path, strlen(body), body);
    sheaf_rc rc = SHEAF_OK;
    if (b.failed || !send_all(fd, (const char *)b.p, b.n))
        rc = err_set(err, SHEAF_IO, "the server does not take the request");
    buf_clear(&b);
    if (rc == SHEAF_OK && !read_all(fd, &b))
        rc = err_set(err, SHEAF_IO, "the server's answer cannot be read");
    if (rc == SHEAF_OK) rc = say(&b, line, ctx, err);
    close(fd);
    buf_deinit(&b);
    return rc;
}
