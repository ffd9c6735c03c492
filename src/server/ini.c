/* Turns an ini file into calls. Know before editing: libinih reads 200 bytes of a line and takes the
 * rest for the next line; the reader here refuses such lines instead. */
#include "server/ini.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>

struct reading {
    struct ini_at at;
    FILE *file;
    ini_line_fn line;
    void *ctx;
    sheaf_rc rc;
};

sheaf_rc ini_fail(const struct ini_at *at, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return err_validation(at->err, "%s:%d: %s", at->path, at->line, text);
}

static char *next_line(char *to, int n, void *ctx)
{
    struct reading *r = ctx;
    if (r->rc != SHEAF_OK || !fgets(to, n, r->file)) return NULL;
    r->at.line++;
    size_t length = strlen(to);
    if (length + 1 < (size_t)n || (length && to[length - 1] == '\n')) return to;
    r->rc = ini_fail(&r->at, "the line is longer than %d bytes", n - 2);
    return NULL;
}

static int take(void *ctx, const char *section, const char *name, const char *value)
{
    struct reading *r = ctx;
    if (r->rc == SHEAF_OK) r->rc = r->line(r->ctx, &r->at, section, name, value);
    return 1;
}

sheaf_rc ini_read(const char *path, ini_line_fn line, void *ctx, sheaf_error *err)
{
    struct reading r = {.at = {path, 0, err}, .line = line, .ctx = ctx};
    r.file = fopen(path, "re");
    if (!r.file) return err_validation(err, "cannot read %s: %s", path, strerror(errno));
    int bad = ini_parse_stream(next_line, &r, take, &r);
    if (r.rc == SHEAF_OK && ferror(r.file))
        r.rc = err_validation(err, "cannot read %s: %s", path, strerror(errno));
    fclose(r.file);
    if (r.rc != SHEAF_OK || bad == 0) return r.rc;
    r.at.line = bad;
    return ini_fail(&r.at, "this is neither a [section] nor \"name = value\"");
}
