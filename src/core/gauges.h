/* core/gauges.h: what a table's partition keys are doing: heat, largest collections, token buckets.
 *
 * Layer rule: internal to core.
 *
 * One struct gauges per table, counted and shared by all versions of it; inside, one struct gauge
 * per table or index in use, made when first needed. Nothing here is stored: after a reopen heat
 * starts cold and the candidates for the largest collections are found again by gauges_rebuild.
 *
 * MEMORY  About 70 KB per table or index in use, plus keys longer than 48 bytes; with throttling
 * 650 KB more. Fixed, whatever the number of keys.
 */
#ifndef CORE_GAUGES_H
#define CORE_GAUGES_H

#include "core/roster.h"
#include "core/state.h"

/* ---- heat ---- */

/* A sliding window of a minute, in slots on the core's clock. */
enum { HEAT_SLOTS = 6, HEAT_READ = 0, HEAT_WRITE = 1 };
#define HEAT_SLOT_US INT64_C(10000000)

/* Half units of one key, per slot and kind. */
struct heat_counts {
    _Atomic uint32_t n[HEAT_SLOTS][2];
};
struct heat {
    struct roster roster; /* weights: half units read plus three times half units written */
    _Atomic int64_t slot; /* the newest: time divided by HEAT_SLOT_US */
    int64_t since_us;     /* since when anything is counted */
    struct heat_counts counts[ROSTER_SEATS];
};
void heat_init(struct heat *h, int64_t now_us);
/* What was used of one key: its attributes, HEAT_READ or HEAT_WRITE, and how much. */
struct heat_units {
    const val *partition;
    uint32_t n;
    int kind;
    double units;
};
/* `place` tells keys apart. Exact up to 256 keys;
 * beyond, a key that is not on the list takes the weakest seat of its set by chance, the likelier
 * the heavier it weighs against it, and is credited with what it displaces: on average that is
 * right. Lock-free unless a key moves in. */
void heat_note(struct heat *h, const sheaf_place *place, const struct heat_units *used,
               int64_t now_us);
/* Lets go of what has left the window; heat_note does so too. Not with the roster's lock held. */
void heat_turn(struct heat *h, int64_t now_us);
/* Units per second inside the window, of one seat, as of the last turn. */
void heat_rates(const struct heat *h, uint32_t seat, int64_t now_us, double rates_out[2]);

/* ---- one table or index ---- */

struct buckets; /* throttle.c */

struct gauge {
    _Atomic uint64_t space;
    struct heat heat;
    struct roster sizes; /* candidates for the largest; weights: bytes when last looked at */
    pthread_mutex_t bucket_lock;
    struct buckets *buckets; /* NULL until something is throttled */
};
/* A table has 25 indexes at most; one that is gone leaves its gauge to the next. */
enum { GAUGES_MAX = 32 };

struct gauges {
    atomic_uint refs;
    pthread_mutex_t lock; /* making gauges */
    _Atomic(struct gauge *) all[GAUGES_MAX];
    pthread_mutex_t rebuild; /* one walk at a time; the two below */
    bool is_rebuilt;
    bool has_after;
    sheaf_place after_place;
    uint8_t after_s[8];
};

/* The gauge of a table (x NULL) or index, made when there is none; NULL when memory is out. */
struct gauge *gauges_of(struct core *core, const struct table *t, uint64_t space);
void buckets_free(struct buckets *b);

/* The index that has this space; NULL for the table's own. */
const struct table_index *gauges_index(const struct table *t, uint64_t space);
/* Items and bytes of one collection, as a transaction sees them; zeros when nothing is kept. */
SHEAF_NODISCARD sheaf_rc gauges_stats(const struct table *t, uint64_t space,
                                      const sheaf_place *place, sheaf_txn *txn, int64_t out[2],
                                      sheaf_error *err);
/* False when the bytes are no statistics. */
bool gauges_decode_stats(span value, int64_t out[2]);

/* Goes on looking for candidates after a reopen, at most max_rows statistics rows of one table. */
SHEAF_NODISCARD sheaf_rc gauges_rebuild(struct core *core, const struct table *t, uint32_t max_rows,
                                        bool *has_more_out, sheaf_error *err);
/* The same for all tables: one round of the background. */
SHEAF_NODISCARD sheaf_rc gauges_round(struct core *core, uint32_t max_rows, bool *has_more_out,
                                      sheaf_error *err);

/* ---- lag ---- */

/* After a committed write, when gsi_lag_ms is on (core->lag is there). */
void lag_written(struct core *core);

#endif
