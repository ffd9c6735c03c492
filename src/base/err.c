/* Turns a code and a format into the caller's sheaf_error. Know before editing: runs when memory is
 * out, so it may not allocate. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

_Static_assert(sizeof(sheaf_error) == 512,
               "sheaf_error lives in storage of programs compiled earlier: 512 bytes for ever");

static const struct {
    const char *exception;
    int status, is_retryable;
} codes[] = {[SHEAF_OK] = {"", 200, 0},
#define X(code, name, status, again, what) [SHEAF_##code] = {name, status, again},
             SHEAF_ERRORS(X)
#undef X
};

static sheaf_rc known(sheaf_rc rc) { return (unsigned)rc < SHEAF_RC_COUNT_ ? rc : SHEAF_INTERNAL; }

const char *sheaf_rc_exception(sheaf_rc rc) { return codes[known(rc)].exception; }

int sheaf_rc_status(sheaf_rc rc) { return codes[known(rc)].status; }

int sheaf_rc_is_retryable(sheaf_rc rc) { return codes[known(rc)].is_retryable; }

/* Where a cut at n would not split a UTF-8 sequence. */
static size_t utf8_border(const char *s, size_t n)
{
    size_t at = n;
    while (at > 0 && n - at < 4 && ((unsigned char)s[at] & 0xC0) == 0x80) at--;
    return at;
}

sheaf_rc err_set(sheaf_error *err, sheaf_rc rc, const char *format, ...)
{
    if (!err) return rc;
    err->exception = sheaf_rc_exception(rc);
    err->rc = rc;
    err->action = -1;
    char text[sizeof err->message + 4];
    va_list ap;
    va_start(ap, format);
    int need = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    size_t n = need < 0 ? 0 : (size_t)need;
    if (n >= sizeof err->message) n = utf8_border(text, sizeof err->message - 1);
    memcpy(err->message, text, n);
    err->message[n] = '\0';
    return rc;
}

sheaf_rc err_nomem(sheaf_error *err) { return err_set(err, SHEAF_NOMEM, "out of memory"); }

void err_clear(sheaf_error *err)
{
    if (!err) return;
    err->exception = "";
    err->rc = SHEAF_OK;
    err->action = -1;
    err->message[0] = '\0'; /* the other 495 bytes are nobody's: every call comes by here */
}
