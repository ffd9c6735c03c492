/* Turns tables and indexes that are gone into free space. Know before editing: an engine frees a
 * space outside any transaction, so the transaction that forgets the space notes its number, and
 * the note is removed when the space is free. Whatever interrupts this in between, the next opening
 * finds the note and frees the space (again).
 *
 * THE NOTE  space 0, S = "drop" ‖ id; value = the space of statistics that know the freed ones, or
 * 0, then the numbers; all 8 bytes big-endian. */
#include "core/tables.h"

#include <assert.h>

enum { NOTE_KEY_BYTES = 4 + 8 };
static const sheaf_place meta_place;

static size_t note_bytes(uint32_t n_spaces) { return 8 * (1 + (size_t)n_spaces); }

sheaf_rc drops_init(struct drops *d, struct ctx *c, const struct table *t)
{
    *d = (struct drops){.cap = 3 + t->n_indexes + t->n_streams};
    d->note = arena_zalloc(c->arena, note_bytes(d->cap));
    return d->note ? SHEAF_OK : err_nomem(c->err);
}

void drops_add(struct drops *d, uint64_t space)
{
    if (space == 0) return;
    assert(space >= SPACE_FIRST_FREE);
    assert(d->n < d->cap);
    cat_number_bytes(space, d->note + note_bytes(d->n++));
}

void drops_sweep(struct drops *d, const struct table *t)
{
    cat_number_bytes(t->stats_space, d->note);
}

static sheaf_engine_key note_key(uint64_t id, uint8_t bytes[NOTE_KEY_BYTES])
{
    memcpy(bytes, "drop", 4);
    cat_number_bytes(id, bytes + 4);
    return (sheaf_engine_key){meta_place, SPAN(bytes, NOTE_KEY_BYTES)};
}

sheaf_rc drops_install(struct core *core, struct table *old, struct table *next, struct drops *d,
                       sheaf_position *position_out, sheaf_error *err)
{
    uint8_t key[NOTE_KEY_BYTES];
    assert(old);
    if (d->n == 0) return cat_install(core, old, next, position_out, err);
    d->id = cat_take_number(core);
    struct cat_extra note = {note_key(d->id, key), SPAN(d->note, note_bytes(d->n))};
    return cat_install_with(core, old, next, &note, position_out, err);
}

static uint64_t load_be(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x = x << 8 | p[i];
    return x;
}

/* The i-th space that is freed. */
static uint64_t space_at(const struct drops *d, uint32_t i)
{
    assert(i < d->n);
    return load_be(d->note + note_bytes(i));
}

static sheaf_rc remove_note(void *ctx, sheaf_txn *t, sheaf_error *err)
{
    const struct drops *d = ctx;
    uint8_t bytes[NOTE_KEY_BYTES];
    sheaf_engine_key note = note_key(d->id, bytes);
    uint64_t stats_space = load_be(d->note);
    for (uint32_t i = 0; stats_space && i < d->n; i++)
        TRY(sweep_note(t, space_at(d, i), stats_space, err));
    return eng_del(t, &note, err);
}

void drops_hold(struct core *core)
{
    pthread_mutex_lock(&core->drops_lock);
    core->n_drop_holds++;
    pthread_mutex_unlock(&core->drops_lock);
}

void drops_let_go(struct core *core)
{
    pthread_mutex_lock(&core->drops_lock);
    assert(core->n_drop_holds);
    bool has_work = --core->n_drop_holds == 0 && core->has_held_drops;
    if (has_work) core->has_held_drops = false;
    pthread_mutex_unlock(&core->drops_lock);
    if (!has_work) return;
    sheaf_rc rc = tables_finish_drops(core, NULL);
    (void)rc; /* as in drops_finish */
}

/* Asked when the note is committed already, so that whoever holds after this sees the note, and no
 * table that has the spaces. */
static bool is_held(struct core *core)
{
    pthread_mutex_lock(&core->drops_lock);
    bool is = core->n_drop_holds > 0;
    if (is) core->has_held_drops = true;
    pthread_mutex_unlock(&core->drops_lock);
    return is;
}

static sheaf_rc free_spaces(struct core *core, const struct drops *d, sheaf_error *err)
{
    struct sheaf_run_options how = {.seed = core_seed(core)};
    atomic_fetch_add(&core->drops, 1);
    for (uint32_t i = 0; i < d->n; i++) TRY(eng_drop_space(core->engine, space_at(d, i), err));
    return sheaf_engine_run(core->engine, remove_note, (void *)(uintptr_t)d, &how, NULL, err);
}

void drops_finish(struct core *core, const struct drops *d)
{
    if (d->n == 0) return;
    assert(d->id);
    if (is_held(core)) return;
    sheaf_rc rc = free_spaces(core, d, NULL);
    (void)rc; /* the table is gone either way; the note makes the next opening finish */
}

/* ---- at opening ---- */

static sheaf_rc read_note(struct ctx *c, const struct sheaf_row *row, struct drops *d)
{
    span value = arena_dup(c->arena, row->value);
    if (!value.p) return err_nomem(c->err);
    bool is_good = row->key.s.n == NOTE_KEY_BYTES && value.n % 8 == 0 && value.n >= note_bytes(1);
    if (is_good)
        *d = (struct drops){.note = (uint8_t *)(uintptr_t)value.p,
                            .n = (uint32_t)(value.n / 8 - 1),
                            .id = load_be((const uint8_t *)row->key.s.p + 4)};
    for (uint32_t i = 0; is_good && i < d->n; i++) is_good = space_at(d, i) >= SPACE_FIRST_FREE;
    if (!is_good) return err_set(c->err, SHEAF_CORRUPT, "a note of spaces to free is damaged");
    return SHEAF_OK;
}

/* The next note, in a snapshot of its own, because freeing happens outside of transactions. */
static sheaf_rc next_note(struct core *core, struct ctx *c, struct drops *d, bool *has_note_out)
{
    sheaf_txn *t;
    sheaf_cursor *cursor = NULL;
    struct sheaf_row row;
    struct sheaf_range range = {
        .p = meta_place, .lo = SPAN_LIT("drop"), .hi = SPAN_LIT("droq"), .max_rows = 1};
    *has_note_out = false;
    TRY(eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, &t, c->err));
    sheaf_rc rc = eng_range(t, &range, &cursor, c->err);
    if (rc == SHEAF_OK) rc = eng_next(cursor, &row, has_note_out, c->err);
    if (rc == SHEAF_OK && *has_note_out) rc = read_note(c, &row, d);
    eng_cursor_close(cursor);
    eng_rollback(t);
    return rc;
}

sheaf_rc tables_finish_drops(struct core *core, sheaf_error *err)
{
    enum { NOTE_MAX = 4 << 20 };
    struct arena arena;
    arena_init(&arena, NOTE_MAX);
    struct ctx c = {&arena, err};
    sheaf_rc rc = SHEAF_OK;
    for (bool has_note = true; rc == SHEAF_OK && has_note;) {
        struct drops d;
        arena_reset(&arena);
        rc = next_note(core, &c, &d, &has_note);
        if (rc == SHEAF_OK && has_note && is_held(core)) break;
        if (rc == SHEAF_OK && has_note) rc = free_spaces(core, &d, err);
    }
    arena_deinit(&arena);
    return rc;
}

/* ---- DeleteTable ---- */

static sheaf_rc delete_entered(struct core *core, struct ctx *c, struct table *t, struct drops *d,
                               sheaf_position *position_out)
{
    if (t->is_protected)
        return err_validation(c->err, "Resource cannot be deleted as it is currently protected "
                                      "against deletion. Disable deletion protection first.");
    TRY(drops_init(d, c, t));
    drops_add(d, t->space);
    drops_add(d, t->stats_space);
    drops_add(d, t->ttl_space);
    for (uint32_t i = 0; i < t->n_indexes; i++) drops_add(d, t->indexes[i].space);
    for (uint32_t i = 0; i < t->n_streams; i++) drops_add(d, t->streams[i].space);
    return drops_install(core, t, NULL, d, position_out, c->err);
}

sheaf_rc core_delete_table(struct core *core, struct ctx *c, span table,
                           struct core_table_outcome *out)
{
    struct core_table_outcome answer = {.position = 0};
    struct table *t = NULL;
    struct drops d = {.n = 0};
    sheaf_rc rc;
    *out = answer;
    TRY(faults_check(core, "DeleteTable", table, c->err));
    TRY(tables_check_name(c, table));
    cat_enter_exclusive(core);
    rc = tables_get_exclusive(core, c, table, &t);
    if (rc == SHEAF_OK) rc = tables_describe(core, c, t, &answer.table);
    if (rc == SHEAF_OK) rc = delete_entered(core, c, t, &d, &answer.position);
    cat_leave_exclusive(core);
    table_unref(t);
    if (rc != SHEAF_OK) {
        out->position = eng_visible(core->engine);
        return rc;
    }
    drops_finish(core, &d);
    answer.table.status = CORE_DELETING;
    *out = answer;
    return SHEAF_OK;
}
