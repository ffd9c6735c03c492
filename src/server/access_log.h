/* server/access_log.h: a line of JSON for every request. Holds no secret: of the credentials only
 * the key's id, of the body nothing but the table's name. */
#ifndef SERVER_ACCESS_LOG_H
#define SERVER_ACCESS_LOG_H

#include "base/buf.h"
#include "base/err.h"

/* Any thread may write: a line is one write(2) to a file that is only appended to. */
struct access_log {
    const char *path; /* borrowed; NULL: no log */
    int fd;
};

/* path "": no log; "-": standard output. SHEAF_VALIDATION with the path and the reason. */
SHEAF_NODISCARD sheaf_rc access_log_open(struct access_log *log, const char *path,
                                         sheaf_error *err);
/* After the file was moved away. On failure the old one stays in use. */
SHEAF_NODISCARD sheaf_rc access_log_reopen(struct access_log *log, sheaf_error *err);
void access_log_close(struct access_log *log);
static inline bool access_log_is_on(const struct access_log *log) { return log->path != NULL; }

enum { ACCESS_TEXT_MAX = 256 }; /* bytes of a text; longer ones are cut */

/* What is empty is left out. A path is without its query, which may hold a signature. */
struct access_line {
    int64_t time_us;
    span peer, key_id, operation, method, path, table, request_id;
    const char *exception;
    int status;
    uint64_t bytes_in, bytes_out, duration_ns;
};
/* Scratch memory comes from the arena. A line that cannot be written is lost. */
void access_log_write(const struct access_log *log, struct arena *arena,
                      const struct access_line *line);
/* The line without its end. */
void access_log_format(struct buf *to, const struct access_line *line);

#endif
