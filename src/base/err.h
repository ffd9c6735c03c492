/* base/err.h: errors on their way up. The request context carries the arena and the caller's error
 * through every layer. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/arena.h"

#include <sheaf/error.h>

/* One request: memory that dies with it, and the place where the caller wants the detail (may be
 * NULL). */
struct ctx {
    struct arena *arena;
    sheaf_error *err;
};

/* Fills err (when there is one) and returns rc, so that `return err_set(...)` is the whole error
 * path. A message longer than the 495 bytes of sheaf_error is cut at a UTF-8 border. Allocates
 * nothing. `format` uses %.*s for spans. */
sheaf_rc err_set(sheaf_error *err, sheaf_rc rc, const char *format, ...) SHEAF_PRINTF_(3, 4);
/* The usual case: SHEAF_VALIDATION. */
#define err_validation(err, ...) err_set((err), SHEAF_VALIDATION, __VA_ARGS__)
/* Out of memory or over a ceiling. */
sheaf_rc err_nomem(sheaf_error *err);
void err_clear(sheaf_error *err);

/* For %.*s. */
#define SPAN_ARG(s)                                                                                \
    (int)((s).n > 0x7fffffff ? 0x7fffffff : (s).n), (const char *)((s).p ? (s).p : "")

#define TRY(call)                                                                                  \
    do {                                                                                           \
        sheaf_rc try_rc_ = (call);                                                                 \
        if (try_rc_ != SHEAF_OK) return try_rc_;                                                   \
    } while (0)
/* With a local `rc` and an `out:` label. */
#define TRY_OUT(call)                                                                              \
    do {                                                                                           \
        rc = (call);                                                                               \
        if (rc != SHEAF_OK) goto out;                                                              \
    } while (0)

#endif
