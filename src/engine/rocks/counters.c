/* Turns adds into puts of their sum where the sum is known. Know before editing: a read shows what
 * is committed, not what the batch at hand has written before; so a key that this very commit has
 * touched is never read, and one whose seat was lost meanwhile begins anew. */
#include "engine/rocks/counters.h"

#include "base/hash.h"
#include "base/mem.h"
#include "engine/keys.h"

#include <assert.h>

enum { ADDS_BEFORE = 3 }; /* a read pays for itself after about so many */

sheaf_rc rocks_counters_init(struct rocks_counters *c, rocksdb_t *db, rocksdb_readoptions_t *how,
                             sheaf_error *err)
{
    *c = (struct rocks_counters){.epoch = 1, .db = db, .how = how};
    c->seats = mem_zalloc(ROCKS_COUNTER_SEATS * sizeof *c->seats);
    return c->seats ? SHEAF_OK : err_nomem(err);
}

void rocks_counters_deinit(struct rocks_counters *c)
{
    mem_free(c->seats);
    *c = (struct rocks_counters){0};
}

void rocks_counters_forget(struct rocks_counters *c)
{
    if (++c->epoch != 0) return;
    memset(c->seats, 0, ROCKS_COUNTER_SEATS * sizeof *c->seats); /* after 2^32 times */
    c->epoch = 1;
}

/* NULL for keys that are too long to be kept. */
static struct rocks_counter *seat_of(const struct rocks_counters *c, span key)
{
    _Static_assert((ROCKS_COUNTER_SEATS & (ROCKS_COUNTER_SEATS - 1)) == 0, "bits of the hash");
    if (key.n > ROCKS_COUNTER_KEY) return NULL;
    return &c->seats[XXH3_64bits(key.p, key.n) & (ROCKS_COUNTER_SEATS - 1)];
}

static bool is_mine(const struct rocks_counters *c, const struct rocks_counter *seat, span key)
{
    return seat->epoch == c->epoch && span_eq(SPAN(seat->key, seat->n_key), key);
}

static void take_seat(const struct rocks_counters *c, struct rocks_counter *seat, span key)
{
    assert(key.n <= ROCKS_COUNTER_KEY);
    seat->epoch = c->epoch;
    seat->n_key = (uint8_t)key.n;
    seat->n_adds = 0;
    seat->n_sum = 0;
    memcpy(seat->key, key.p, key.n);
}

void rocks_counters_written(struct rocks_counters *c, sheaf_position position, span key)
{
    struct rocks_counter *seat = seat_of(c, key);
    if (!seat || !is_mine(c, seat, key)) return;
    seat->n_adds = 0;
    seat->n_sum = 0;
    seat->at = position;
}

/* What was committed before, when that is n bytes; a key that is not there is zeros. False also when
 * it cannot be read: whoever asks for it learns that. */
static bool read_sum(const struct rocks_counters *c, struct rocks_counter *seat, size_t n)
{
    char *message = NULL;
    rocksdb_pinnableslice_t *pin =
        rocksdb_get_pinned(c->db, c->how, (const char *)seat->key, seat->n_key, &message);
    if (message) {
        rocksdb_free(message);
        return false;
    }
    memset(seat->sum, 0, sizeof seat->sum);
    if (!pin) return true;
    size_t has = 0;
    const char *p = rocksdb_pinnableslice_value(pin, &has);
    if (has == n) memcpy(seat->sum, p, n);
    rocksdb_pinnableslice_destroy(pin);
    return has == n;
}

/* Whether the sum of n bytes without this add is known, or now is. */
static bool know(const struct rocks_counters *c, struct rocks_counter *seat,
                 sheaf_position position, size_t n)
{
    bool is_of_this_commit = seat->at == position;
    seat->at = position;
    if (seat->n_sum == n) return true;
    seat->n_sum = 0; /* of another length: the merge knows what to do with it */
    if (n > sizeof seat->sum) return false;
    if (seat->n_adds < ADDS_BEFORE) {
        seat->n_adds++;
        return false;
    }
    if (is_of_this_commit) return false;
    seat->n_adds = 0;
    if (read_sum(c, seat, n)) seat->n_sum = (uint8_t)n;
    return seat->n_sum == n;
}

bool rocks_counters_add(struct rocks_counters *c, sheaf_position position, span key, span deltas,
                        span *sum_out)
{
    *sum_out = SPAN_NONE;
    struct rocks_counter *seat = seat_of(c, key);
    if (!seat) return false;
    assert(deltas.n > 0 && deltas.n % 8 == 0);
    if (!is_mine(c, seat, key)) {
        take_seat(c, seat, key);
        seat->at = position; /* what this commit did to it before is not known any more */
    }
    if (!know(c, seat, position, deltas.n)) return false;
    for (size_t i = 0; i < deltas.n / 8; i++) {
        uint64_t sum =
            (uint64_t)eng_number_get(seat->sum, i) + (uint64_t)eng_number_get(deltas.p, i);
        eng_number_set(seat->sum, i, (int64_t)sum);
    }
    *sum_out = SPAN(seat->sum, deltas.n);
    return true;
}
