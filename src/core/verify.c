/* Turns a database into complaints about whatever in it does not hold: the frame. Header, catalog,
 * tokens and spaces are looked at here, tables and streams in verify_table.c and verify_stream.c.
 *
 * Know before editing: all of it comes from one snapshot, also the catalog, so requests and schema
 * changes go on. Only spaces are not freed meanwhile, because a snapshot does not keep them. A
 * complaint goes to a function that may use the database: no lock is held here. Values come
 * through cursors, not through get: what get returns is kept until the transaction ends. */
#include "core/verify.h"

#include "core/tables.h"
#include "core/token.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW_MEMORY = 64 << 20, SPACES_MEMORY = 256 << 20, SHOWN_BYTES = 60 };

/* ---- complaints ---- */

sheaf_rc verify_complain(struct verify *v, const char *format, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    v->n_complaints++;
    if (!v->complain || v->complain(v->complain_ctx, text)) return SHEAF_OK;
    v->was_stopped = true;
    return err_set(v->err, SHEAF_CORRUPT, "%s", text);
}

const char *verify_hex(struct verify *v, span bytes)
{
    struct buf b;
    buf_init(&b, &v->arena, 256);
    for (size_t i = 0; i < bytes.n && i < SHOWN_BYTES; i++)
        buf_printf(&b, "%02x", ((const uint8_t *)bytes.p)[i]);
    buf_put_u8(&b, 0);
    return b.failed ? "?" : (const char *)b.p;
}

static void show(struct verify *v, struct buf *b, val value)
{
    span bytes = val_bytes(value);
    char digits[NUM_TEXT_MAX];
    size_t n = bytes.n < SHOWN_BYTES ? bytes.n : SHOWN_BYTES;
    const char *more = bytes.n > SHOWN_BYTES ? "…" : "";
    switch (val_type(value)) {
    case VAL_S:
        buf_printf(b, "'%.*s%s'", (int)n, (const char *)bytes.p, more);
        return;
    case VAL_N:
        buf_printf(b, "%.*s", (int)num_format_encoded(bytes, digits), digits);
        return;
    case VAL_B:
        buf_printf(b, "b'%s%s'", verify_hex(v, bytes), more);
        return;
    default:
        buf_printf(b, "(%s)", val_is_absent(value) ? "missing" : val_type_name(val_type(value)));
    }
}

static void show_key(struct verify *v, struct buf *b, const struct core_key *k, val item)
{
    buf_printf(b, "%s%.*s: ", b->n > 1 ? ", " : "", SPAN_ARG(k->name));
    show(v, b, val_find(item, k->name));
}

const char *verify_key_text(struct verify *v, const struct table *t, const struct table_index *x,
                            val item)
{
    struct buf b;
    buf_init(&b, &v->arena, 4096);
    buf_put_u8(&b, '{');
    for (uint32_t i = 0; x && i < x->def.n_hash; i++) show_key(v, &b, &x->def.hash[i], item);
    for (uint32_t i = 0; x && i < x->def.n_range; i++) show_key(v, &b, &x->def.range[i], item);
    show_key(v, &b, &t->hash, item);
    if (t->has_range) show_key(v, &b, &t->range, item);
    buf_put(&b, "}", 2);
    return b.failed ? "{?}" : (const char *)b.p;
}

/* ---- reading ---- */

static sheaf_rc first_row(struct verify *v, const sheaf_place *p, span lo,
                          sheaf_cursor **cursor_out, struct sheaf_row *row, bool *has_row_out)
{
    struct sheaf_range range = {.p = *p, .lo = lo, .max_rows = 1};
    TRY(eng_range(v->txn, &range, cursor_out, v->err));
    return eng_next(*cursor_out, row, has_row_out, v->err);
}

sheaf_rc verify_get(struct verify *v, const sheaf_engine_key *key, span *value_out)
{
    sheaf_cursor *cursor = NULL;
    struct sheaf_row row;
    bool has_row = false;
    *value_out = SPAN_NONE;
    sheaf_rc rc = first_row(v, &key->p, key->s, &cursor, &row, &has_row);
    if (rc == SHEAF_OK && has_row && span_eq(row.key.s, key->s)) {
        *value_out = row.value.n ? arena_dup(&v->arena, row.value) : SPAN_LIT("");
        if (!value_out->p) rc = err_nomem(v->err);
    }
    eng_cursor_close(cursor);
    return rc;
}

sheaf_rc verify_has_rows(struct verify *v, const sheaf_place *p, bool *has_rows_out)
{
    sheaf_cursor *cursor = NULL;
    struct sheaf_row row;
    *has_rows_out = false;
    sheaf_rc rc = first_row(v, p, SPAN_LIT(""), &cursor, &row, has_rows_out);
    eng_cursor_close(cursor);
    return rc;
}

sheaf_rc verify_walk(struct verify *v, uint64_t space, verify_row_fn each, void *ctx)
{
    sheaf_cursor *cursor = NULL;
    sheaf_rc rc;
    TRY_OUT(eng_walk(v->txn, &(struct sheaf_walk){.space = space}, &cursor, v->err));
    for (;;) {
        struct sheaf_row row;
        bool has_row;
        TRY_OUT(eng_next(cursor, &row, &has_row, v->err));
        if (!has_row) break;
        arena_reset(&v->arena);
        TRY_OUT(each(v, &row, ctx));
    }
out:
    eng_cursor_close(cursor);
    return rc;
}

/* ---- spaces ---- */

static sheaf_rc note_space(struct verify *v, uint64_t space)
{
    if (space) buf_put(&v->spaces, &space, sizeof space);
    return v->spaces.failed ? err_nomem(v->err) : SHEAF_OK;
}

static sheaf_rc note_spaces(struct verify *v, const struct table *t)
{
    TRY(note_space(v, t->space));
    TRY(note_space(v, t->stats_space));
    TRY(note_space(v, t->ttl_space));
    for (uint32_t i = 0; i < t->n_indexes; i++) TRY(note_space(v, t->indexes[i].space));
    for (uint32_t i = 0; i < t->n_streams; i++) TRY(note_space(v, t->streams[i].space));
    return SHEAF_OK;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

bool verify_is_known_space(const struct verify *v, uint64_t space)
{
    return v->spaces.n &&
           bsearch(&space, v->spaces.p, v->spaces.n / sizeof space, sizeof space, by_number);
}

bool verify_is_dropped_space(const struct verify *v, uint64_t space)
{
    if (space < SPACE_FIRST_FREE || space >= v->next_space) return false;
    if (!verify_is_known_space(v, space)) return true;
    for (size_t at = 0; at < v->dropped.n; at += sizeof space)
        if (memcmp(v->dropped.p + at, &space, sizeof space) == 0) return true;
    return false;
}

/* Two users of one space, numbers that were never given out. */
static sheaf_rc check_numbers(struct verify *v)
{
    uint64_t before = 0, space;
    if (v->spaces.n) qsort(v->spaces.p, v->spaces.n / sizeof space, sizeof space, by_number);
    for (size_t at = 0; at < v->spaces.n; at += sizeof space) {
        memcpy(&space, v->spaces.p + at, sizeof space);
        if (space == before)
            TRY(verify_complain(v, "space %llu has two users", (unsigned long long)space));
        if (space < SPACE_FIRST_FREE || space >= v->next_space)
            TRY(verify_complain(v, "space %llu is in use but was never given out",
                                (unsigned long long)space));
        before = space;
    }
    return SHEAF_OK;
}

static sheaf_rc check_empty(struct verify *v, uint64_t space)
{
    sheaf_cursor *cursor = NULL;
    struct sheaf_row row;
    bool has_row = false;
    struct sheaf_walk walk = {.space = space, .max_rows = 1};
    sheaf_rc rc = eng_walk(v->txn, &walk, &cursor, v->err);
    if (rc == SHEAF_OK) rc = eng_next(cursor, &row, &has_row, v->err);
    eng_cursor_close(cursor);
    if (rc != SHEAF_OK || !has_row) return rc;
    return verify_complain(v, "space %llu has rows but belongs to no table",
                           (unsigned long long)space);
}

/* An engine cannot list its spaces, so every number that was given out is tried, and some beyond.
 */
static sheaf_rc check_leftovers(struct verify *v)
{
    enum { BEYOND = 64 };
    for (uint64_t space = SPACE_TOKENS + 1; space < v->next_space + BEYOND; space++)
        if (!verify_is_known_space(v, space)) TRY(check_empty(v, space));
    return SHEAF_OK;
}

/* ---- the header ---- */

static uint64_t load_be(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x = x << 8 | p[i];
    return x;
}

/* Spaces on their way out are freed by the next opening at the latest: no leftovers. The first
 * number is the space of statistics to sweep afterwards, which stays in use. */
static sheaf_rc check_note(struct verify *v, const struct sheaf_row *row)
{
    if (row->key.s.n != 12 || row->value.n < 16 || row->value.n % 8)
        return verify_complain(v, "header: a note of spaces to free is damaged");
    for (size_t at = 8; at < row->value.n; at += 8) {
        uint64_t space = load_be((const uint8_t *)row->value.p + at);
        TRY(note_space(v, space));
        buf_put(&v->dropped, &space, sizeof space);
    }
    return v->dropped.failed ? err_nomem(v->err) : SHEAF_OK;
}

/* Statistics of a deleted index that the background has not swept yet; drawn in sweep.c. */
static sheaf_rc check_sweep(struct verify *v, const struct sheaf_row *row)
{
    enum { PREFIX = 5, AFTER_BYTES = SHEAF_PLACE_BYTES + 8 };
    bool is_good =
        row->key.s.n == PREFIX + 8 && (row->value.n == 8 || row->value.n == 8 + AFTER_BYTES);
    if (is_good) return SHEAF_OK;
    return verify_complain(v, "header: a note of statistics to sweep is damaged");
}

static sheaf_rc check_meta(struct verify *v, const struct sheaf_row *row, void *ctx)
{
    (void)ctx;
    static const sheaf_place meta_place;
    span name = row->key.s;
    if (memcmp(&row->key.p, &meta_place, sizeof meta_place) == 0) {
        if (span_eq(name, SPAN_LIT("next"))) {
            if (row->value.n != 8) return verify_complain(v, "header: the next space is damaged");
            v->next_space = load_be(row->value.p);
            return SHEAF_OK;
        }
        if (span_starts(name, SPAN_LIT("drop"))) return check_note(v, row);
        if (span_starts(name, SPAN_LIT("sweep"))) return check_sweep(v, row);
        if (span_eq(name, SPAN_LIT("format")) && row->value.n == 1) return SHEAF_OK;
        const struct key_secret *secret = core_secret(v->core);
        if (span_eq(name, SPAN_LIT("secret")) &&
            span_eq(row->value, SPAN(secret->b, sizeof secret->b)))
            return SHEAF_OK;
    }
    return verify_complain(v, "header: row '%.*s' is unknown or damaged", SPAN_ARG(name));
}

/* ---- the catalog ---- */

static sheaf_rc decode_table(struct verify *v, const struct sheaf_row *row, struct table **out)
{
    *out = NULL;
    sheaf_rc rc = table_decode(row->value, out, &v->row_err);
    if (rc == SHEAF_NOMEM) return err_nomem(v->err);
    if (rc != SHEAF_OK)
        return verify_complain(v, "catalog: table %.*s: %s", SPAN_ARG(row->key.s),
                               v->row_err.message);
    TRY(table_set_catalog_key(v->core, *out, v->err));
    const sheaf_engine_key *want = &(*out)->catalog_key;
    if (memcmp(&want->p, &row->key.p, sizeof want->p) == 0 && span_eq(want->s, row->key.s))
        return SHEAF_OK;
    return verify_complain(v, "catalog: table %.*s lies in the row of another name",
                           SPAN_ARG((*out)->name));
}

static sheaf_rc note_table(struct verify *v, const struct sheaf_row *row, void *ctx)
{
    (void)ctx;
    struct table *t;
    sheaf_rc rc = decode_table(v, row, &t);
    if (rc == SHEAF_OK && t) rc = note_spaces(v, t);
    table_unref(t);
    return rc;
}

static sheaf_rc check_table(struct verify *v, const struct sheaf_row *row, void *ctx)
{
    (void)ctx;
    struct table *t;
    if (table_decode(row->value, &t, &v->row_err) != SHEAF_OK)
        return v->row_err.rc == SHEAF_NOMEM ? err_nomem(v->err) : SHEAF_OK; /* complained of */
    sheaf_rc rc = verify_table(v, t);
    for (uint32_t i = 0; i < t->n_streams && rc == SHEAF_OK; i++)
        rc = verify_stream(v, t, &t->streams[i]);
    table_unref(t);
    return rc;
}

/* ---- tokens ---- */

static sheaf_rc check_token(struct verify *v, const struct sheaf_row *row, void *ctx)
{
    (void)ctx;
    span s = row->key.s;
    char kind = s.n ? *(const char *)s.p : 0;
    bool is_good = (kind == 'c' && s.n >= 2 && s.n <= 1 + TOKEN_CLIENT_MAX) ||
                   (kind == 'i' && s.n == 1 + KEY_HASH_BYTES);
    uint8_t hash[KEY_HASH_BYTES];
    key_digest(core_secret(v->core), 1, &s, hash);
    if (!is_good || memcmp(row->key.p.b + 8, hash, sizeof hash) != 0)
        return verify_complain(v, "token %s: its row is not where it belongs", verify_hex(v, s));
    if (row->value.n == TOKEN_VALUE_BYTES) return SHEAF_OK;
    return verify_complain(v, "token %s: %zu bytes instead of %d", verify_hex(v, s), row->value.n,
                           TOKEN_VALUE_BYTES);
}

/* ---- everything ---- */

static bool pass_on(void *ctx, const sheaf_engine_key *key, const char *what)
{
    struct verify *v = ctx;
    arena_reset(&v->arena);
    const char *where =
        key ? verify_hex(v, SPAN(key->p.b, sizeof key->p.b)) : "the engine as a whole";
    return verify_complain(v, "engine: %s: %s", where, what) == SHEAF_OK;
}

static sheaf_rc check_all(struct verify *v)
{
    TRY(verify_walk(v, SPACE_META, check_meta, NULL));
    TRY(verify_walk(v, SPACE_CATALOG, note_table, NULL));
    TRY(check_numbers(v));
    TRY(verify_walk(v, SPACE_CATALOG, check_table, NULL));
    TRY(verify_walk(v, SPACE_TOKENS, check_token, NULL));
    return check_leftovers(v);
}

/* A place that cannot be read is a complaint like any other, except that nothing behind it is looked
 * at. */
static sheaf_rc complain_of_end(struct verify *v)
{
    char why[sizeof v->err->message];
    snprintf(why, sizeof why, "%s", v->err->message);
    TRY(verify_complain(v, "unreadable, and what follows was not looked at: %s", why));
    return err_set(v->err, SHEAF_CORRUPT, "%llu complaints, the last of what cannot be read",
                   (unsigned long long)v->n_complaints);
}

sheaf_rc core_verify(struct core *core, bool (*complain)(void *ctx, const char *what), void *ctx,
                     sheaf_error *err)
{
    sheaf_error unasked;
    if (!err) err = &unasked;
    struct verify v = {.core = core, .err = err, .complain = complain, .complain_ctx = ctx};
    arena_init(&v.arena, ROW_MEMORY);
    v.c = (struct ctx){&v.arena, err};
    buf_init(&v.spaces, NULL, SPACES_MEMORY);
    buf_init(&v.dropped, NULL, SPACES_MEMORY);
    drops_hold(core);
    sheaf_rc rc = eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &v.txn, err);
    if (rc == SHEAF_OK) {
        v.visible = eng_visible(core->engine); /* behind the snapshot: at least its moment */
        rc = check_all(&v);
        eng_rollback(v.txn);
    }
    drops_let_go(core);
    if (rc == SHEAF_CORRUPT && !v.was_stopped) rc = complain_of_end(&v);
    if (rc == SHEAF_OK) rc = eng_verify(core->engine, pass_on, &v, err);
    buf_deinit(&v.spaces);
    buf_deinit(&v.dropped);
    arena_deinit(&v.arena);
    if (rc == SHEAF_OK && v.n_complaints)
        rc = err_set(err, SHEAF_CORRUPT, "%llu complaints", (unsigned long long)v.n_complaints);
    return rc;
}
