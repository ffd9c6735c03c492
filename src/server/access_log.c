/* Turns an answered request into a line of JSON. Know before editing: when authentication is off,
 * key ids and table names are whatever a client sent, so they are escaped and cut, as paths are. */
#include "server/access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES_MAX = 8192 };

static sheaf_rc open_file(const char *path, int *fd_out, sheaf_error *err)
{
    *fd_out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (*fd_out >= 0) return SHEAF_OK;
    return err_validation(err, "cannot open the access log %s: %s", path, strerror(errno));
}

sheaf_rc access_log_open(struct access_log *log, const char *path, sheaf_error *err)
{
    *log = (struct access_log){.fd = -1};
    if (!*path) return SHEAF_OK;
    log->path = path;
    if (strcmp(path, "-") != 0) return open_file(path, &log->fd, err);
    log->fd = dup(STDOUT_FILENO);
    return log->fd >= 0 ? SHEAF_OK : err_validation(err, "--access-log -: no standard output");
}

sheaf_rc access_log_reopen(struct access_log *log, sheaf_error *err)
{
    if (!log->path || strcmp(log->path, "-") == 0) return SHEAF_OK;
    int fd;
    TRY(open_file(log->path, &fd, err));
    /* Writers on other threads use the number all the time: it changes its file in one step. */
    int failed = dup3(fd, log->fd, O_CLOEXEC) < 0;
    close(fd);
    return failed ? err_validation(err, "cannot reopen the access log %s", log->path) : SHEAF_OK;
}

void access_log_close(struct access_log *log)
{
    if (log->path && log->fd >= 0) close(log->fd);
    *log = (struct access_log){.fd = -1};
}

/* ---- lines ---- */

static void put_string(struct buf *to, span s)
{
    const uint8_t *p = s.p;
    buf_put_u8(to, '"');
    for (size_t i = 0; i < s.n && i < ACCESS_TEXT_MAX; i++) {
        if (p[i] == '"' || p[i] == '\\')
            buf_printf(to, "\\%c", p[i]);
        else if (p[i] < 0x20 || p[i] > 0x7E)
            buf_printf(to, "\\u%04x", p[i]);
        else
            buf_put_u8(to, p[i]);
    }
    buf_put_u8(to, '"');
}

static void put_member(struct buf *to, const char *name, span value)
{
    if (value.n == 0) return;
    buf_printf(to, ",\"%s\":", name);
    put_string(to, value);
}

static void put_time(struct buf *to, int64_t us)
{
    time_t s = (time_t)(us / 1000000);
    struct tm utc;
    char text[32] = "";
    if (gmtime_r(&s, &utc)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    buf_printf(to, "\"time\":\"%s.%06dZ\"", text, (int)(us % 1000000));
}

void access_log_format(struct buf *to, const struct access_line *line)
{
    buf_put_u8(to, '{');
    put_time(to, line->time_us);
    put_member(to, "peer", line->peer);
    put_member(to, "key", line->key_id);
    put_member(to, "operation", line->operation);
    put_member(to, "method", line->method);
    put_member(to, "path", line->path);
    put_member(to, "table", line->table);
    buf_printf(to, ",\"status\":%d", line->status);
    put_member(to, "exception", span_cstr(line->exception));
    buf_printf(to, ",\"bytes_in\":%" PRIu64 ",\"bytes_out\":%" PRIu64 ",\"duration_us\":%" PRIu64,
               line->bytes_in, line->bytes_out, line->duration_ns / 1000);
    put_member(to, "request_id", line->request_id);
    buf_put_u8(to, '}');
}

void access_log_write(const struct access_log *log, struct arena *arena,
                      const struct access_line *line)
{
    struct buf b;
    buf_init(&b, arena, LINE_BYTES_MAX);
    access_log_format(&b, line);
    buf_put_u8(&b, '\n');
    if (b.failed) return;
    ssize_t n = write(log->fd, b.p, b.n);
    (void)n;
}
