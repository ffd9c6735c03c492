/* Finds who to sign as: the options, the AWS_… environment, or a profile of the shared credentials
 * file. The three are not mixed: the first that has an access key gives all of it.
 *
 *   [default]
 *   aws_access_key_id = AKID…
 *   aws_secret_access_key = …
 *   aws_session_token = …         ; optional
 *
 * Know before editing: no message repeats a value, and every copy is wiped. */
#include "base/mem.h"
#include "client/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

void credentials_wipe(struct credentials *who) { explicit_bzero(who, sizeof *who); }

/* false: too long. */
static bool copy(char *to, size_t size, span from)
{
    if (from.n >= size) return false;
    if (from.n) memcpy(to, from.p, from.n);
    to[from.n] = '\0';
    return true;
}

static const char *env(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* What cannot stand in a header, or was cut. */
static bool is_clean(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || (unsigned char)*s > '~') return false;
    return true;
}

/* ---- the shared credentials file ---- */

static span trim(span s)
{
    const char *p = s.p;
    while (s.n && (p[0] == ' ' || p[0] == '\t')) p++, s.n--;
    while (s.n && (p[s.n - 1] == ' ' || p[s.n - 1] == '\t' || p[s.n - 1] == '\r')) s.n--;
    return SPAN(p, s.n);
}

/* "[default]" and "[profile default]" name a profile. */
static bool is_section(span line, span profile)
{
    span name = trim(SPAN((const char *)line.p + 1, line.n - 2));
    if (span_starts(name, SPAN_LIT("profile "))) name = trim(span_from(name, 8));
    return span_eq(name, profile);
}

static bool take_line(span line, struct credentials *out)
{
    const char *equals = memchr(line.p, '=', line.n);
    if (!equals) return true;
    size_t at = (size_t)(equals - (const char *)line.p);
    span name = trim(SPAN(line.p, at)), value = trim(span_from(line, at + 1));
    if (span_eq(name, SPAN_LIT("aws_access_key_id")))
        return copy(out->key_id, sizeof out->key_id, value);
    if (span_eq(name, SPAN_LIT("aws_secret_access_key")))
        return copy(out->secret, sizeof out->secret, value);
    if (span_eq(name, SPAN_LIT("aws_session_token")))
        return copy(out->token, sizeof out->token, value);
    if (span_eq(name, SPAN_LIT("region"))) return copy(out->region, sizeof out->region, value);
    return true;
}

bool credentials_parse(span text, span profile, struct credentials *out)
{
    bool is_in = false, is_good = true;
    while (text.n && is_good) {
        const char *p = text.p, *end = memchr(p, '\n', text.n);
        size_t n = end ? (size_t)(end - p) : text.n;
        span line = trim(SPAN(p, n));
        const char *first = line.p;
        text = span_from(text, end ? n + 1 : n);
        if (line.n == 0 || *first == '#' || *first == ';') continue;
        if (line.n > 2 && *first == '[' && first[line.n - 1] == ']')
            is_in = is_section(line, profile);
        else if (is_in)
            is_good = take_line(line, out);
    }
    return is_good && *out->key_id && *out->secret;
}

/* The file's bytes on the heap, to be wiped; NULL when there is none. */
static char *read_file(const char *path, size_t *n_out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    char *text = mem_alloc(FILE_MAX);
    size_t n = 0;
    ssize_t got = text ? 1 : -1;
    while (got > 0 && n < FILE_MAX) {
        got = read(fd, text + n, FILE_MAX - n);
        if (got > 0) n += (size_t)got;
        if (got < 0 && errno == EINTR) got = 1;
    }
    close(fd);
    *n_out = n;
    return text;
}

static bool from_file(const char *path, const char *profile, struct credentials *out)
{
    size_t n = 0;
    char *text = read_file(path, &n);
    if (!text) return false;
    bool is_found = credentials_parse(SPAN(text, n), span_cstr(profile), out);
    explicit_bzero(text, n);
    mem_free(text);
    return is_found;
}

/* ---- the order ---- */

static sheaf_rc set(struct credentials *out, const char *key_id, const char *secret,
                    const char *token, const char *whence, sheaf_error *err)
{
    if (!secret)
        return err_validation(err, "%s: an access key id needs a secret access key", whence);
    if (!copy(out->key_id, sizeof out->key_id, span_cstr(key_id)) ||
        !copy(out->secret, sizeof out->secret, span_cstr(secret)) ||
        !copy(out->token, sizeof out->token, span_cstr(token ? token : "")))
        return err_validation(err, "%s: a credential is too long", whence);
    return SHEAF_OK;
}

static sheaf_rc find_key(const struct client_options *o, const struct endpoint *where,
                         struct credentials *out, sheaf_error *err)
{
    if (o->access_key_id && *o->access_key_id)
        return set(out, o->access_key_id, o->secret_access_key, o->session_token, "sheaf_options",
                   err);
    /* A profile that is named in the options goes before keys that happen to be around. */
    if (!o->profile && env("AWS_ACCESS_KEY_ID"))
        return set(out, env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"),
                   env("AWS_SESSION_TOKEN"), "the environment", err);
    const char *profile = o->profile ? o->profile : env("AWS_PROFILE"), *home = env("HOME");
    const char *given = env("AWS_SHARED_CREDENTIALS_FILE");
    char path[4096] = "";
    if (given || home)
        snprintf(path, sizeof path, "%s%s", given ? given : home, given ? "" : "/.aws/credentials");
    if (*path && from_file(path, profile ? profile : "default", out)) return SHEAF_OK;
    credentials_wipe(out);
    if (profile)
        return err_validation(err, "%s has no access key for the profile %s",
                              *path ? path : "the shared credentials file", profile);
    if (where->is_loopback) /* a server on this machine: one that checks will say so */
        return set(out, "sheaf", "sheaf", NULL, "", err);
    return err_validation(
        err,
        "No credentials for %s: give access_key_id and secret_access_key in sheaf_options, set "
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials",
        where->url);
}

/* The host knows its region best; a signature for another is refused there. */
static sheaf_rc find_region(const struct client_options *o, const struct endpoint *where,
                            struct credentials *out, sheaf_error *err)
{
    const char *region = o->region && *o->region ? o->region : NULL;
    if (!region && *where->region) region = where->region;
    if (!region) region = env("AWS_REGION");
    if (!region) region = env("AWS_DEFAULT_REGION");
    if (!region) region = *out->region ? out->region : "us-east-1";
    char text[sizeof out->region];
    if (!copy(text, sizeof text, span_cstr(region)))
        return err_validation(err, "the region is too long");
    memcpy(out->region, text, sizeof text);
    return SHEAF_OK;
}

sheaf_rc credentials_find(const struct client_options *o, const struct endpoint *where,
                          struct credentials *out, sheaf_error *err)
{
    memset(out, 0, sizeof *out);
    sheaf_rc rc = find_key(o, where, out, err);
    if (rc == SHEAF_OK) rc = find_region(o, where, out, err);
    if (rc == SHEAF_OK &&
        (!is_clean(out->key_id) || !is_clean(out->token) || !is_clean(out->region)))
        rc = err_validation(err, "a credential or the region holds a space or a control character");
    if (rc != SHEAF_OK) credentials_wipe(out);
    return rc;
}
