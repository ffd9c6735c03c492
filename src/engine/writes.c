/* Turns the writes of a transaction into one byte string that can be read back in order.
 *
 *     | kind 1 | 0 x3 | ordinal 4 | key length 4 | value length 4 | key | value |   repeated
 *
 * Lengths are in the machine's order: the log never leaves the process. A del_range keeps its end
 * where others keep the value. Know before editing: everything is checked before the first byte is
 * written, so that a refused write leaves no trace. */
#include "engine/writes.h"

#include <assert.h>

struct head {
    uint8_t kind, zero[3];
    uint32_t ordinal, key_n, value_n;
};
_Static_assert(sizeof(struct head) == 16, "the log's header has no padding");
_Static_assert(sizeof(struct head) < SHEAF_PLACE_BYTES,
               "headers must not take more than keys do: the log's ceiling is twice max_txn_bytes");

void eng_writes_init(struct eng_writes *w, const struct sheaf_engine_caps *caps)
{
    uint64_t max = caps->max_txn_bytes ? caps->max_txn_bytes : ENG_TXN_BYTES_DEFAULT;
    if (max > SIZE_MAX / 2) max = SIZE_MAX / 2;
    *w = (struct eng_writes){
        .max_bytes = max, .max_key = caps->max_key, .max_value = caps->max_value};
    buf_init(&w->log, NULL, (size_t)max * 2);
}

void eng_writes_deinit(struct eng_writes *w)
{
    buf_deinit(&w->log);
    eng_writes_clear(w);
}

void eng_writes_clear(struct eng_writes *w)
{
    buf_clear(&w->log);
    w->n = 0;
    w->n_appends = 0;
    w->bytes = 0;
    w->found = 0;
}

static sheaf_rc check_key(const struct eng_writes *w, size_t s_n, sheaf_error *err)
{
    uint64_t max = w->max_key ? w->max_key : UINT32_MAX;
    if (s_n <= max && s_n + SHEAF_PLACE_BYTES <= max) return SHEAF_OK;
    return err_set(err, SHEAF_TOO_LARGE,
                   "the key has %zu bytes, more than the engine's max_key of %llu",
                   s_n + SHEAF_PLACE_BYTES, (unsigned long long)max);
}

static sheaf_rc check_value(const struct eng_writes *w, size_t n, sheaf_error *err)
{
    uint64_t max = w->max_value ? w->max_value : UINT32_MAX;
    if (n <= max) return SHEAF_OK;
    return err_set(err, SHEAF_TOO_LARGE,
                   "the value has %zu bytes, more than the engine's max_value of %llu", n,
                   (unsigned long long)max);
}

/* The pieces of one write: value and key are up to two spans each, P among them. */
struct pieces {
    span key[2], value[2];
};

/* Room for the whole write with its header filled in, or NULL with the reason in *rc_out. */
static uint8_t *record(struct eng_writes *w, enum eng_write_kind kind, const struct pieces *p,
                       sheaf_rc *rc_out, sheaf_error *err)
{
    uint64_t left = w->max_bytes - w->bytes;
    size_t n[4] = {p->key[0].n, p->key[1].n, p->value[0].n, p->value[1].n};
    assert(w->bytes <= w->max_bytes && n[0] == SHEAF_PLACE_BYTES);
    uint64_t total = 0;
    bool fits = true;
    for (int i = 0; i < 4 && fits; i++) {
        fits = n[i] < UINT32_MAX / 2 && n[i] <= left - total;
        if (fits) total += n[i];
    }
    if (!fits) {
        *rc_out = err_set(err, SHEAF_TOO_LARGE,
                          "the transaction would write more than the engine's max_txn_bytes of "
                          "%llu",
                          (unsigned long long)w->max_bytes);
        return NULL;
    }
    uint8_t *to = buf_room(&w->log, sizeof(struct head) + (size_t)total);
    if (!to) {
        w->log.failed = false; /* the write is lost, the log is not */
        *rc_out = err_nomem(err);
        return NULL;
    }
    struct head head = {.kind = (uint8_t)kind,
                        .ordinal = w->n_appends,
                        .key_n = (uint32_t)(n[0] + n[1]),
                        .value_n = (uint32_t)(n[2] + n[3])};
    memcpy(to, &head, sizeof head);
    w->log.n += sizeof head + (size_t)total;
    w->bytes += total;
    w->n++;
    if (kind == ENG_WRITE_APPEND) w->n_appends++;
    *rc_out = SHEAF_OK;
    return to + sizeof head;
}

static uint8_t *copy(uint8_t *to, span s)
{
    if (s.n) memcpy(to, s.p, s.n);
    return to + s.n;
}

static sheaf_rc write_pieces(struct eng_writes *w, enum eng_write_kind kind, const struct pieces *p,
                             sheaf_error *err)
{
    sheaf_rc rc;
    uint8_t *to = record(w, kind, p, &rc, err);
    if (!to) return rc;
    for (int i = 0; i < 2; i++) to = copy(to, p->key[i]);
    for (int i = 0; i < 2; i++) to = copy(to, p->value[i]);
    assert(to == w->log.p + w->log.n);
    return SHEAF_OK;
}

static span place_span(const sheaf_place *p) { return SPAN(p->b, SHEAF_PLACE_BYTES); }

sheaf_rc eng_writes_put(struct eng_writes *w, const sheaf_engine_key *key, span value,
                        sheaf_error *err)
{
    TRY(check_key(w, key->s.n, err));
    TRY(check_value(w, value.n, err));
    struct pieces p = {.key = {place_span(&key->p), key->s}, .value = {value}};
    return write_pieces(w, ENG_WRITE_PUT, &p, err);
}

sheaf_rc eng_writes_del(struct eng_writes *w, const sheaf_engine_key *key, sheaf_error *err)
{
    TRY(check_key(w, key->s.n, err));
    struct pieces p = {.key = {place_span(&key->p), key->s}};
    return write_pieces(w, ENG_WRITE_DEL, &p, err);
}

sheaf_rc eng_writes_del_range(struct eng_writes *w, const sheaf_place *place, span lo, span hi,
                              sheaf_error *err)
{
    struct pieces p = {.key = {place_span(place), lo}, .value = {place_span(place), hi}};
    sheaf_place after = *place;
    if (!hi.p) p.value[0] = eng_place_next(&after) ? place_span(&after) : SPAN_NONE;
    return write_pieces(w, ENG_WRITE_DEL_RANGE, &p, err);
}

sheaf_rc eng_writes_add(struct eng_writes *w, const sheaf_engine_key *key, size_t n,
                        const int64_t deltas[], sheaf_error *err)
{
    if (n == 0) return err_validation(err, "an add needs at least one number");
    TRY(check_key(w, key->s.n, err));
    TRY(check_value(w, n > SIZE_MAX / 8 ? SIZE_MAX : n * 8, err));
    struct pieces p = {.key = {place_span(&key->p), key->s}, .value = {SPAN(deltas, n * 8)}};
    sheaf_rc rc;
    uint8_t *to = record(w, ENG_WRITE_ADD, &p, &rc, err);
    if (!to) return rc;
    to = copy(copy(to, p.key[0]), p.key[1]);
    for (size_t i = 0; i < n; i++) eng_number_set(to, i, deltas[i]);
    return SHEAF_OK;
}

sheaf_rc eng_writes_append(struct eng_writes *w, const sheaf_place *log, span value,
                           sheaf_error *err)
{
    TRY(check_key(w, SHEAF_STAMP_BYTES, err));
    TRY(check_value(w, value.n, err));
    if (w->n_appends == UINT32_MAX)
        return err_set(err, SHEAF_TOO_LARGE, "the transaction has too many appends");
    struct pieces p = {.key = {place_span(log)}, .value = {value}};
    return write_pieces(w, ENG_WRITE_APPEND, &p, err);
}

bool eng_writes_next(const struct eng_writes *w, size_t *at, struct eng_write *write_out)
{
    *write_out = (struct eng_write){0};
    if (*at == w->log.n) return false;
    struct head head;
    assert(w->log.n - *at >= sizeof head);
    const uint8_t *from = w->log.p + *at;
    memcpy(&head, from, sizeof head);
    from += sizeof head;
    *at += sizeof head + head.key_n + head.value_n;
    assert(*at <= w->log.n && head.key_n >= SHEAF_PLACE_BYTES);
    span second = SPAN(from + head.key_n, head.value_n);
    bool is_range = head.kind == ENG_WRITE_DEL_RANGE;
    *write_out = (struct eng_write){.kind = (enum eng_write_kind)head.kind,
                                    .ordinal = head.ordinal,
                                    .key = SPAN(from, head.key_n)};
    if (is_range)
        write_out->end = second.n ? second : SPAN_NONE;
    else
        write_out->value = second;
    return true;
}

bool eng_write_covers(const struct eng_write *range, span key)
{
    assert(range->kind == ENG_WRITE_DEL_RANGE);
    return span_cmp(key, range->key) >= 0 && (!range->end.p || span_cmp(key, range->end) < 0);
}

sheaf_rc eng_writes_found(struct eng_writes *w, span key, sheaf_error *err)
{
    assert(key.n >= SHEAF_PLACE_BYTES);
    w->found += key.n;
    if (w->bytes + w->found <= w->max_bytes) return SHEAF_OK;
    return err_set(err, SHEAF_TOO_LARGE,
                   "the transaction would delete and write more than the engine's max_txn_bytes of "
                   "%llu",
                   (unsigned long long)w->max_bytes);
}

span eng_write_key(const struct eng_write *w, sheaf_position position, struct eng_append_key *room)
{
    assert(w->kind != ENG_WRITE_DEL_RANGE);
    if (w->kind != ENG_WRITE_APPEND) return w->key;
    return eng_append_key(room, w->key, position, w->ordinal);
}

void eng_writes_stamp(const struct eng_writes *w, struct eng_conflicts *c, sheaf_position position)
{
    struct eng_append_key room;
    struct eng_write write;
    for (size_t at = 0; eng_writes_next(w, &at, &write);) {
        if (write.kind == ENG_WRITE_DEL_RANGE) continue;
        eng_conflicts_stamp(c, eng_write_key(&write, position, &room), position);
    }
}
