/* Turns a credentials file into a key ring:
 *
 *   [AKIDORDERS]                  ; the access key id
 *   secret = …
 *   tables = orders, audit-*      ; default: every table
 *   access = read-only            ; default: read-write
 *
 * Know before editing: the parser is Debian's inih, which cuts lines at 199 bytes and section names
 * at 49 without a word, calls back for values only, and does not tell the line. So lines are handed
 * to it one by one from here, where they are counted and measured first. The text is wiped when it
 * has been read, and no message repeats a value. */
#include "auth/ring.h"
#include "auth/stamp.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, LINE_BYTES = 196, ID_MAX = 49, TOKEN_MAX = 8192, TABLES_MAX = 65536 };
_Static_assert((int)LINE_BYTES <= (int)SIG_SECRET_MAX, "any secret that fits a line can be kept");

struct reader {
    const char *name; /* of the file */
    span rest;
    int line;         /* the one that inih has in hand, from 1 */
    int section_line; /* where the last section began; 0: none yet */
    bool is_used;     /* the last section has said something */
    struct auth_ring *ring;
    struct auth_key *key; /* the section in hand; NULL: none */
    sheaf_error *err;
    sheaf_rc rc; /* the first thing wrong; later ones are not looked at */
};

static bool wrong(struct reader *r, int line, const char *format, ...) SHEAF_PRINTF_(3, 4);

/* Notes the first thing wrong; always false. */
static bool wrong(struct reader *r, int line, const char *format, ...)
{
    if (r->rc != SHEAF_OK) return false;
    char text[400];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    r->rc = err_validation(r->err, "%s:%d: %s", r->name, line, text);
    return false;
}

static bool nomem(struct reader *r)
{
    if (r->rc == SHEAF_OK) r->rc = err_nomem(r->err);
    return false;
}

/* ---- values ---- */

static char *dup_text(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = mem_alloc(n);
    if (copy) memcpy(copy, s, n);
    return copy;
}

static bool set_secret(struct reader *r, const char *value)
{
    size_t n = strlen(value);
    if (r->key->secret) return wrong(r, r->line, "secret is given twice");
    if (n == 0) return wrong(r, r->line, "a secret is not empty");
    r->key->secret = sig_secret_new(SPAN(value, n));
    return r->key->secret || nomem(r);
}

/* Tokens of AWS are longer than a line of inih: what is indented goes on. */
static bool add_token(struct reader *r, const char *value)
{
    char *old = r->key->token;
    size_t had = old ? strlen(old) : 0, n = strlen(value);
    if (n == 0 || had + n > TOKEN_MAX)
        return wrong(r, r->line, "a session token has 1 to %d characters", TOKEN_MAX);
    char *token = mem_alloc(had + n + 1);
    if (!token) return nomem(r);
    if (old) memcpy(token, old, had);
    memcpy(token + had, value, n + 1);
    if (old) explicit_bzero(old, had);
    mem_free(old);
    r->key->token = token;
    return true;
}

static bool set_expires(struct reader *r, const char *value)
{
    if (r->key->expires_s != INT64_MAX) return wrong(r, r->line, "expires is given twice");
    if (stamp_parse_expiry(span_cstr(value), &r->key->expires_s)) return true;
    return wrong(r, r->line, "expires is a moment like 2026-12-31T23:59:59Z");
}

static bool is_pattern(span s)
{
    const char *p = s.p;
    if (s.n == 0 || s.n > 255) return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = p[i];
        bool is_name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.' || c == '-';
        if (!is_name && !(c == '*' && i + 1 == s.n)) return false;
    }
    return true;
}

/* The length of "a\0b*\0", without the NUL that ends the list. */
static size_t list_length(const char *list)
{
    size_t n = 0;
    while (list && list[n]) n += strlen(list + n) + 1;
    return n;
}

static bool add_table(struct reader *r, span pattern)
{
    size_t had = list_length(r->key->tables);
    if (!is_pattern(pattern))
        return wrong(r, r->line,
                     "tables are names of a-z A-Z 0-9 _ . - separated by commas, with a * at the "
                     "end or none");
    if (had + pattern.n > TABLES_MAX) return wrong(r, r->line, "too many tables for one key");
    char *list = mem_realloc(r->key->tables, had + pattern.n + 2);
    if (!list) return nomem(r);
    memcpy(list + had, pattern.p, pattern.n);
    memset(list + had + pattern.n, 0, 2);
    r->key->tables = list;
    return true;
}

static bool add_tables(struct reader *r, const char *value)
{
    for (const char *p = value; *p;) {
        p += strspn(p, " \t");
        size_t n = strcspn(p, ","), used = n;
        while (used && (p[used - 1] == ' ' || p[used - 1] == '\t')) used--;
        bool is_end = p[n] == '\0';
        if (used == 0 && is_end && p > value) return true; /* a comma at the end of a line */
        if (!add_table(r, SPAN(p, used))) return false;
        p += n + !is_end;
    }
    return *value != '\0' || add_table(r, SPAN_NONE);
}

static bool set_access(struct reader *r, const char *value)
{
    r->key->is_read_only = strcmp(value, "read-only") == 0;
    if (r->key->is_read_only || strcmp(value, "read-write") == 0) return true;
    return wrong(r, r->line, "access is read-only or read-write");
}

static bool set_admin(struct reader *r, const char *value)
{
    r->key->is_admin = strcmp(value, "yes") == 0;
    if (r->key->is_admin || strcmp(value, "no") == 0) return true;
    return wrong(r, r->line, "admin is yes or no");
}

/* ---- sections ---- */

static bool begin_key(struct reader *r, const char *id)
{
    if (strpbrk(id, "/ \t,="))
        return wrong(r, r->section_line, "an access key id has no / , = or space");
    r->key = auth_ring_add(r->ring);
    if (!r->key) return nomem(r);
    r->key->line = r->section_line;
    r->key->id = dup_text(id);
    if (r->key->id) return true;
    r->ring->n--; /* a key without an id cannot be sorted */
    r->key = NULL;
    return nomem(r);
}

static int on_value(void *user, const char *section, const char *name, const char *value)
{
    static const struct {
        const char *name;
        bool (*set)(struct reader *r, const char *value);
    } names[] = {{"secret", set_secret}, {"session_token", add_token}, {"expires", set_expires},
                 {"tables", add_tables}, {"access", set_access},       {"admin", set_admin}};
    struct reader *r = user;
    if (r->rc != SHEAF_OK) return 0;
    if (r->section_line == 0)
        return wrong(r, r->line, "begin with the access key id in brackets: [AKID]");
    if (!r->is_used && !begin_key(r, section)) return 0;
    r->is_used = true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i].name) == 0) return names[i].set(r, value);
    }
    return wrong(r, r->line,
                 "a key has secret, session_token, expires, tables, access and admin, and nothing "
                 "else");
}

/* What only a whole section can tell. */
static bool end_section(struct reader *r)
{
    const struct auth_key *key = r->key;
    if (r->section_line == 0 || r->rc != SHEAF_OK) return true;
    if (!r->is_used || !key->secret) return wrong(r, r->section_line, "this key has no secret");
    if (key->expires_s != INT64_MAX && !key->token)
        return wrong(r, r->section_line, "expires goes with a session_token");
    if (key->is_admin && (key->tables || key->is_read_only))
        return wrong(r, r->section_line, "an admin is not restricted: leave out tables and access");
    return true;
}

static void begin_section(struct reader *r, span line)
{
    end_section(r);
    const char *end = memchr(line.p, ']', line.n);
    size_t n = end ? (size_t)(end - (const char *)line.p) - 1 : 0;
    if (end && (n == 0 || n > ID_MAX))
        wrong(r, r->line, "an access key id has 1 to %d characters", ID_MAX);
    r->section_line = r->line;
    r->is_used = false;
    r->key = NULL;
}

/* ---- lines ---- */

/* inih's fgets. A line too long or with a NUL in it is not handed on. */
static char *next_line(char *to, int room, void *user)
{
    struct reader *r = user;
    if (r->rest.n == 0 || r->rc != SHEAF_OK) return NULL;
    const char *p = r->rest.p, *end = memchr(p, '\n', r->rest.n);
    size_t n = end ? (size_t)(end - p) + 1 : r->rest.n;
    r->line++;
    r->rest = span_from(r->rest, n);
    if (n > LINE_BYTES || n + 1 > (size_t)room) {
        wrong(r, r->line, "a line has at most %d bytes; indent what goes on on the next",
              LINE_BYTES);
        return NULL;
    }
    if (memchr(p, '\0', n)) {
        wrong(r, r->line, "there is a NUL byte");
        return NULL;
    }
    memcpy(to, p, n);
    to[n] = '\0';
    size_t blank = strspn(to, " \t");
    if (to[blank] == '[') begin_section(r, SPAN(to + blank, n - blank));
    return to;
}

static bool has_twins(struct reader *r)
{
    for (uint32_t i = 1; i < r->ring->n; i++) {
        const struct auth_key *a = &r->ring->keys[i - 1], *b = &r->ring->keys[i];
        if (strcmp(a->id, b->id) == 0)
            return !wrong(r, b->line, "the key of line %d again", a->line);
    }
    return false;
}

sheaf_rc auth_ring_parse(const char *name, span text, struct auth_ring **ring_out, sheaf_error *err)
{
    *ring_out = NULL;
    struct reader r = {.name = name, .rest = text, .err = err, .ring = auth_ring_new()};
    if (!r.ring) return err_nomem(err);
    int bad_line = ini_parse_stream(next_line, &r, on_value, &r);
    if (bad_line > 0) wrong(&r, bad_line, "neither [a section] nor name = value");
    end_section(&r);
    if (r.rc == SHEAF_OK && r.ring->n == 0) wrong(&r, 1, "there is no key");
    if (r.rc == SHEAF_OK) auth_ring_sort(r.ring);
    if (r.rc == SHEAF_OK) has_twins(&r);
    if (r.rc == SHEAF_OK)
        *ring_out = r.ring;
    else
        auth_ring_unref(r.ring);
    return r.rc;
}

/* ---- the file ---- */

static sheaf_rc check_file(const char *path, int fd, sheaf_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return err_validation(err, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return err_validation(err, "%s: not a regular file", path);
    if (st.st_uid != geteuid())
        return err_validation(err, "%s: belongs to another user (uid %lu, and this is %lu)", path,
                              (unsigned long)st.st_uid, (unsigned long)geteuid());
    if (st.st_mode & 077)
        return err_validation(err, "%s: others may read it (mode %04o); chmod 600 it", path,
                              (unsigned)st.st_mode & 07777);
    if (st.st_size > FILE_MAX)
        return err_validation(err, "%s: longer than %d bytes", path, FILE_MAX);
    return SHEAF_OK;
}

/* Reads at most FILE_MAX bytes; a file that grows meanwhile is cut. */
static bool read_all(int fd, char *to, size_t *n_out)
{
    size_t n = 0;
    while (n < FILE_MAX) {
        ssize_t got = read(fd, to + n, FILE_MAX - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        n += (size_t)got;
    }
    *n_out = n;
    return true;
}

sheaf_rc auth_ring_load(const char *path, struct auth_ring **ring_out, sheaf_error *err)
{
    *ring_out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return err_validation(err, "%s: %s", path, strerror(errno));
    sheaf_rc rc = SHEAF_OK;
    size_t n = 0;
    char *text = NULL;
    TRY_OUT(check_file(path, fd, err));
    text = mem_alloc(FILE_MAX);
    if (!text) {
        rc = err_nomem(err);
        goto out;
    }
    if (read_all(fd, text, &n))
        rc = auth_ring_parse(path, SPAN(text, n), ring_out, err);
    else
        rc = err_validation(err, "%s: %s", path, strerror(errno));
out:
    if (text) explicit_bzero(text, n);
    mem_free(text);
    close(fd);
    return rc;
}
