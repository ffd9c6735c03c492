/* core/verify.h: what the files of core_verify share.
 *
 * Layer rule: internal to core.
 *
 * Everything is looked at in one snapshot. Memory does not grow with the database: rows are held
 * against each other by looking them up, and collections are counted as they go by, since the rows
 * of one lie together.
 */
#ifndef CORE_VERIFY_H
#define CORE_VERIFY_H

#include "core/state.h"

struct verify {
    struct core *core;
    sheaf_txn *txn;
    struct arena arena;  /* of one row */
    struct ctx c;        /* that arena and err */
    sheaf_error *err;    /* the caller's: what stops the walk */
    sheaf_error row_err; /* what becomes a complaint */
    bool (*complain)(void *ctx, const char *what);
    void *complain_ctx;
    uint64_t n_complaints;
    bool was_stopped;    /* by what hears the complaints */
    struct buf spaces;   /* uint64_t each: those in use */
    struct buf dropped;  /* those among them that are on their way out */
    uint64_t next_space; /* as the header says */
    sheaf_position visible;
};

/* Says what is wrong. SHEAF_OK: go on; SHEAF_CORRUPT: whoever listens has heard enough. */
SHEAF_NODISCARD sheaf_rc verify_complain(struct verify *v, const char *format, ...)
    SHEAF_PRINTF_(2, 3);
/* The row of a key, copied into the arena; value_out->p == NULL: there is none. */
SHEAF_NODISCARD sheaf_rc verify_get(struct verify *v, const sheaf_engine_key *key, span *value_out);
/* Whether anything lies at a place. */
SHEAF_NODISCARD sheaf_rc verify_has_rows(struct verify *v, const sheaf_place *p,
                                         bool *has_rows_out);
/* Calls `each` for every row of a space; the arena is emptied before each. */
typedef sheaf_rc (*verify_row_fn)(struct verify *v, const struct sheaf_row *row, void *ctx);
SHEAF_NODISCARD sheaf_rc verify_walk(struct verify *v, uint64_t space, verify_row_fn each,
                                     void *ctx);
/* An item's key attributes for a complaint, "{PK: 'a', SK: 7}"; cut when long, in the arena, never
 * NULL. x may be NULL. */
const char *verify_key_text(struct verify *v, const struct table *t, const struct table_index *x,
                            val item);
/* A place nobody can name: hexadecimal, in the arena. */
const char *verify_hex(struct verify *v, span bytes);
bool verify_is_known_space(const struct verify *v, uint64_t space);
/* Of something that was deleted; its statistics may still be there. */
bool verify_is_dropped_space(const struct verify *v, uint64_t space);

/* Items, index entries, statistics and expiry rows of a table. */
SHEAF_NODISCARD sheaf_rc verify_table(struct verify *v, const struct table *t);
SHEAF_NODISCARD sheaf_rc verify_stream(struct verify *v, const struct table *t,
                                       const struct table_stream *s);

#endif
