/* engine/conflicts.h: who may commit. Optimistic conflict detection for engines that check reads at
 * commit themselves.
 *
 * Layer rule: base and the public engine header only.
 *
 * Every key falls into one of n stripes; a stripe remembers the position of the last commit that
 * wrote a key of it. A transaction remembers the stripes it read and the position it read at; at
 * its commit any of them being newer is a conflict. Absent keys have stripes as well, so they are
 * protected alike. Two keys in one stripe conflict falsely now and then; the replay costs time, not
 * truth.
 *
 * The protocol, in the engine's hands:
 *   1. fix the position first, then read: eng_reads_start(r, visible position), read the bytes of
 *      a state that holds at least that position, eng_reads_add() per key got or guarded;
 *   2. at commit, under the engine's commit mutex: eng_conflicts_check(); apply the writes;
 *      eng_conflicts_stamp() every written key (put, del, append, add, and each key that a
 *      del_range removed) with the new position. Not after anyone can begin at that position, and
 *      not before the commit is sure: a stamp above the newest position turns away every reader of
 *      its stripe until another commit passes. An add stamps, because it changes what others read,
 *      but it is no read: it never makes its own transaction conflict. */
#ifndef ENGINE_CONFLICTS_H
#define ENGINE_CONFLICTS_H

#include "base/err.h"

#include <sheaf/sys/engine.h>

/* Under the engine's commit mutex, but for init, deinit and eng_reads_*. */
struct eng_conflicts {
    sheaf_position *last; /* per stripe */
    sheaf_position floor; /* every stripe counts as written at this position at least */
    uint32_t mask;
};

enum { ENG_STRIPES = 1 << 16, ENG_STRIPES_MAX = 1 << 24 };

/* n_stripes: a power of two up to ENG_STRIPES_MAX; 0 = ENG_STRIPES. Its pages are touched as they
 * are used. */
SHEAF_NODISCARD sheaf_rc eng_conflicts_init(struct eng_conflicts *c, uint32_t n_stripes,
                                            sheaf_error *err);
void eng_conflicts_deinit(struct eng_conflicts *c);

/* What one transaction has read. Caller's storage; never holds more than 2 * n_stripes numbers. */
struct eng_reads {
    uint32_t *stripes; /* `few` or the heap */
    uint32_t n, cap;
    bool has_begun;
    sheaf_position begin;
    uint32_t few[12];
};

/* Takes no memory. */
void eng_reads_init(struct eng_reads *r);
void eng_reads_deinit(struct eng_reads *r);
/* The position of the state that is about to be read. Once per transaction. */
void eng_reads_start(struct eng_reads *r, sheaf_position begin);
/* After eng_reads_start. SHEAF_NOMEM: the key is not protected, the transaction must not commit. */
SHEAF_NODISCARD sheaf_rc eng_reads_add(struct eng_reads *r, const struct eng_conflicts *c,
                                       const sheaf_engine_key *key, sheaf_error *err);

/* Whether everything read is still the newest. true for a transaction that read nothing. */
bool eng_conflicts_check(const struct eng_conflicts *c, const struct eng_reads *r);
/* key: P and S in one piece, 24 bytes at least. Positions only grow. */
void eng_conflicts_stamp(struct eng_conflicts *c, span key, sheaf_position position);
/* Every key at once, for what is not written key by key (drop_space). */
void eng_conflicts_stamp_all(struct eng_conflicts *c, sheaf_position position);

#endif
