/* server/ini.h: an ini file, line by line, with messages that say where. */
#ifndef SERVER_INI_H
#define SERVER_INI_H

#include "base/err.h"

/* The place of the line being read. */
struct ini_at {
    const char *path;
    int line;
    sheaf_error *err;
};
/* section is "" before the first. The texts are borrowed for the call. */
typedef sheaf_rc (*ini_line_fn)(void *ctx, const struct ini_at *at, const char *section,
                                const char *name, const char *value);

/* Every "name = value" of the file; stops at the first that `line` does not take. SHEAF_VALIDATION
 * for a file that cannot be read or is no ini file; every message begins "path:line: ". */
SHEAF_NODISCARD sheaf_rc ini_read(const char *path, ini_line_fn line, void *ctx, sheaf_error *err);
/* SHEAF_VALIDATION with a message that begins "path:line: ". */
sheaf_rc ini_fail(const struct ini_at *at, const char *format, ...) SHEAF_PRINTF_(2, 3);

#endif
