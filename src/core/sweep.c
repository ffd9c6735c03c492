/* Turns the statistics of deleted indexes into free space. Know before editing: the statistics of a
 * table and its indexes share a space, so those of one index cannot be dropped as a whole; they are
 * looked for by a walk, a bounded number of rows at a time. Nobody else touches them: their index
 * is gone and its number is never used again.
 *
 * THE NOTE  space 0, S = "sweep" ‖ space of the index; value = space of the statistics ‖ P ‖ S of
 * the last row that was looked at, when there was one. Numbers are 8 bytes big-endian. */
#include "core/tables.h"

#include <assert.h>

enum { PREFIX = 5, NOTE_KEY_BYTES = PREFIX + 8, STEP_ROWS = 256, STATS_S = 8 };
static const sheaf_place meta_place;

struct sweep {
    uint8_t key[NOTE_KEY_BYTES]; /* of the note; ends in the number of the index */
    uint64_t stats_space;
    uint8_t after[SHEAF_PLACE_BYTES + STATS_S];
    size_t n_after;
    uint32_t max, n_dead;
    bool is_ended;
    sheaf_place dead[STEP_ROWS]; /* collections whose row goes */
};

static uint64_t load_be(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x = x << 8 | p[i];
    return x;
}

static sheaf_engine_key note_key(const uint8_t key[NOTE_KEY_BYTES])
{
    return (sheaf_engine_key){meta_place, SPAN(key, NOTE_KEY_BYTES)};
}

sheaf_rc sweep_note(sheaf_txn *txn, uint64_t space, uint64_t stats_space, sheaf_error *err)
{
    uint8_t key[NOTE_KEY_BYTES], value[8];
    assert(space >= SPACE_FIRST_FREE && stats_space >= SPACE_FIRST_FREE);
    memcpy(key, "sweep", PREFIX);
    cat_number_bytes(space, key + PREFIX);
    cat_number_bytes(stats_space, value);
    sheaf_engine_key note = note_key(key);
    return eng_put(txn, &note, SPAN(value, sizeof value), err);
}

static sheaf_rc read_note(const struct sheaf_row *row, struct sweep *w, sheaf_error *err)
{
    span value = row->value;
    if (row->key.s.n != NOTE_KEY_BYTES || (value.n != 8 && value.n != 8 + sizeof w->after))
        return err_set(err, SHEAF_CORRUPT, "a note of statistics to sweep is damaged");
    memcpy(w->key, row->key.s.p, NOTE_KEY_BYTES);
    w->stats_space = load_be(value.p);
    w->n_after = value.n - 8;
    memcpy(w->after, (const uint8_t *)value.p + 8, w->n_after);
    return SHEAF_OK;
}

static sheaf_rc find_note(sheaf_txn *txn, struct sweep *w, bool *has_note_out, sheaf_error *err)
{
    sheaf_cursor *cursor;
    struct sheaf_row row;
    struct sheaf_range range = {
        .p = meta_place, .lo = SPAN_LIT("sweep"), .hi = SPAN_LIT("sweeq"), .max_rows = 1};
    TRY(eng_range(txn, &range, &cursor, err));
    sheaf_rc rc = eng_next(cursor, &row, has_note_out, err);
    if (rc == SHEAF_OK && *has_note_out) rc = read_note(&row, w, err);
    eng_cursor_close(cursor);
    return rc;
}

static sheaf_rc look_at(struct sweep *w, const struct sheaf_row *row, sheaf_error *err)
{
    if (row->key.s.n != STATS_S)
        return err_set(err, SHEAF_CORRUPT, "a row of the statistics has a damaged key");
    assert(w->n_dead < STEP_ROWS && sheaf_place_space(&row->key.p) == w->stats_space);
    if (span_eq(row->key.s, SPAN(w->key + PREFIX, 8))) w->dead[w->n_dead++] = row->key.p;
    memcpy(w->after, row->key.p.b, SHEAF_PLACE_BYTES);
    memcpy(w->after + SHEAF_PLACE_BYTES, row->key.s.p, STATS_S);
    w->n_after = sizeof w->after;
    return SHEAF_OK;
}

static sheaf_rc walk_step(sheaf_txn *txn, struct sweep *w, uint64_t *did, sheaf_error *err)
{
    sheaf_cursor *cursor;
    uint8_t from[STATS_S]; /* look_at moves the place while the cursor may still read its own */
    sheaf_engine_key after = {.s = SPAN(from, sizeof from)};
    struct sheaf_walk walk = {.space = w->stats_space, .max_rows = w->max};
    sheaf_rc rc;
    memcpy(after.p.b, w->after, sizeof after.p.b);
    memcpy(from, w->after + sizeof after.p.b, sizeof from);
    if (w->n_after) walk.after = &after;
    TRY(eng_walk(txn, &walk, &cursor, err));
    uint32_t n = 0;
    for (; n < w->max; n++) {
        struct sheaf_row row;
        bool has_row;
        TRY_OUT(eng_next(cursor, &row, &has_row, err));
        if (!has_row) break;
        TRY_OUT(look_at(w, &row, err));
    }
    w->is_ended = n == 0;
    *did += n;
out:
    eng_cursor_close(cursor);
    return rc;
}

static sheaf_rc write_step(void *ctx, sheaf_txn *txn, sheaf_error *err)
{
    const struct sweep *w = ctx;
    uint8_t value[8 + sizeof w->after];
    assert(w->n_dead <= w->max && w->n_after <= sizeof w->after);
    sheaf_engine_key note = note_key(w->key);
    for (uint32_t i = 0; i < w->n_dead; i++) {
        sheaf_engine_key key = {w->dead[i], SPAN(w->key + PREFIX, 8)};
        TRY(eng_del(txn, &key, err));
    }
    if (w->is_ended) return eng_del(txn, &note, err);
    cat_number_bytes(w->stats_space, value);
    memcpy(value + 8, w->after, w->n_after);
    return eng_put(txn, &note, SPAN(value, 8 + w->n_after), err);
}

static sheaf_rc step(struct core *core, uint32_t max, uint64_t *did, bool *has_note_out,
                     sheaf_error *err)
{
    struct sweep w = {.max = max < STEP_ROWS ? max : STEP_ROWS};
    sheaf_txn *txn;
    *has_note_out = false;
    TRY(eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &txn, err));
    sheaf_rc rc = find_note(txn, &w, has_note_out, err);
    if (rc == SHEAF_OK && *has_note_out) rc = walk_step(txn, &w, did, err);
    eng_rollback(txn);
    if (rc != SHEAF_OK || !*has_note_out) return rc;
    struct sheaf_run_options how = {.seed = core_seed(core)};
    return sheaf_engine_run(core->engine, write_step, &w, &how, NULL, err);
}

sheaf_rc sweep_round(struct core *core, uint32_t max_rows, uint64_t *did_out, bool *has_more_out,
                     sheaf_error *err)
{
    *did_out = 0;
    assert(max_rows > 0);
    for (bool has_note = true; has_note && *did_out < max_rows;) {
        TRY(step(core, max_rows - (uint32_t)*did_out, did_out, &has_note, err));
        if (has_note) *has_more_out = true;
    }
    return SHEAF_OK;
}
