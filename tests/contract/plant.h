/* tests/contract/plant.h: engines with one planted bug each. The suite must catch every one of
 * them; a suite that has never failed proves nothing.
 *
 * Each plant is a wrapper around mem that breaks one promise of <sheaf/sys/engine.h>. */
#ifndef TESTS_CONTRACT_PLANT_H
#define TESTS_CONTRACT_PLANT_H

#include "engine/engine.h"

/* X(name, the promise it breaks) */
#define PLANTS(X)                                                                                  \
    X(SIGNED_BYTES, "S is ordered by signed bytes")                                                \
    X(LO_EXCLUSIVE, "lo is left out of a range")                                                   \
    X(HI_INCLUSIVE, "hi is part of a range")                                                       \
    X(EMPTY_HI_UNBOUNDED, "hi of no bytes is taken for no bound")                                  \
    X(REVERSE_IGNORED, "a reverse range runs forwards")                                            \
    X(MAX_ROWS_OFF_BY_ONE, "one row more than max_rows")                                           \
    X(MAX_BYTES_OFF_BY_ONE, "max_bytes lets one byte more pass")                                   \
    X(BOUNDS_NOT_COPIED, "a cursor opens its range at the first next, with borrowed bounds")       \
    X(WALK_DROPS_LAST_SEGMENT, "the last segment's keys belong to none")                           \
    X(WALK_SEGMENTS_OVERLAP, "every segment is the whole space")                                   \
    X(WALK_UNEVEN, "segment 0 takes almost everything")                                            \
    X(WALK_AFTER_SKIPS, "a resumed walk skips one row")                                            \
    X(WALK_AFTER_IGNORED, "a resumed walk begins anew")                                            \
    X(ABSENT_UNPROTECTED, "a get of an absent key is not protected")                               \
    X(GET_UNPROTECTED, "a get is not protected at all")                                            \
    X(GUARD_UNPROTECTED, "guard does nothing")                                                     \
    X(READ_ONLY_UNCHECKED, "a commit without writes is not checked")                               \
    X(SEES_OWN_WRITES, "a transaction reads its own puts")                                         \
    X(SNAPSHOT_MOVES, "a snapshot's get answers the newest bytes")                                 \
    X(SNAPSHOT_TAKES_WRITES, "a write in a snapshot is swallowed")                                 \
    X(BLIND_PUT_CONFLICTS, "two blind puts conflict")                                              \
    X(HALF_COMMITS, "a transaction becomes visible in two steps")                                  \
    X(ROLLBACK_COMMITS, "rollback keeps the writes")                                               \
    X(CONFLICT_COMMITS, "a refused commit has left its last put behind")                           \
    X(DEL_RANGE_SKIPS_FIRST, "del_range leaves the first key")                                     \
    X(DEL_RANGE_TAKES_HI, "del_range takes hi, too")                                               \
    X(DEL_RANGE_EARLY, "del_range takes the keys of the call, not of the commit")                  \
    X(ADD_NOT_ATOMIC, "an add is a get and a put")                                                 \
    X(ADD_CONFLICTS, "two adds conflict")                                                          \
    X(ADD_FIRST_ONLY, "only the first number is added to")                                         \
    X(APPEND_EARLY_STAMP, "the stamp is taken at the call of append")                              \
    X(STAMP_OUT_WRONG, "stamp_out is not what is stored")                                          \
    X(KEY_CAP_LOW, "a key of max_key bytes is refused")                                            \
    X(KEY_CAP_HIGH, "a key over max_key is taken")                                                 \
    X(VALUE_CAP_HIGH, "a value over max_value is taken")                                           \
    X(TXN_CAP_HIGH, "a transaction over max_txn_bytes is taken")                                   \
    X(EMPTY_IS_ABSENT, "a value of no bytes reads as absent")                                      \
    X(PIN_NOT_KEPT, "the bytes of read() change under the pin")                                    \
    X(GET_NOT_KEPT, "the bytes of get change before the transaction ends")                         \
    X(STALE_READ, "read() answers an older value now and then")                                    \
    X(DROP_TAKES_NEIGHBOUR, "drop_space takes the next space, too")                                \
    X(DROP_DOES_NOTHING, "drop_space leaves everything")                                           \
    X(VISIBLE_LAGS, "visible() is one commit behind")                                              \
    X(DURABLE_LAGS, "durable() is one commit behind after sync")                                   \
    X(CALLS_BACK_TWICE, "on_durable calls back twice")                                             \
    X(STATS_FORGET, "conflicts are not counted")                                                   \
    X(VERIFY_COMPLAINS, "verify complains about a healthy engine")

enum plant {
    PLANT_NONE,
#define PLANT_X_(name, what) PLANT_##name,
    PLANTS(PLANT_X_)
#undef PLANT_X_
        PLANT_COUNT
};

const char *plant_name(enum plant p);
const char *plant_what(enum plant p);
sheaf_rc plant_open(enum plant p, sheaf_engine **out, sheaf_error *err);

#endif
