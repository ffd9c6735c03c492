/* tests/model/changes.h: the lane of the crash tests that changes its table while the others write
 * to theirs: an index comes, is filled and goes, a stream is switched on and off, expiry too, and
 * the background's rounds run. It has a table of its own, so that its oracle is exact. */
#ifndef MODEL_CHANGES_H
#define MODEL_CHANGES_H

#include "base/rng.h"

#include <sheaf/sheaf.h>

enum { CHANGES_KEYS = 24 };

/* What the table must be after the jobs that took place. */
struct changes {
    struct {
        bool is_there, is_expired;
        uint64_t version; /* the number of the job that put it */
        unsigned group;   /* 0: not in the index */
        /* Of the newest stream's records of this key: how many, and a digest of them in order. */
        uint64_t n_events, events;
    } items[CHANGES_KEYS];
    bool has_index, is_filled;
    bool has_stream; /* ever had one */
    bool is_streaming, has_ttl;
};

enum change_kind {
    CHANGE_PUT,
    CHANGE_DELETE,
    CHANGE_BACKGROUND,
    CHANGE_INDEX_ON,
    CHANGE_INDEX_OFF,
    CHANGE_STREAM_ON,
    CHANGE_STREAM_OFF,
    CHANGE_TTL_ON,
    CHANGE_TTL_OFF
};
struct change_job {
    enum change_kind kind;
    uint64_t n;
    unsigned key, group;
    bool is_expired;
};

/* What is there already is fine. */
sheaf_rc changes_create(sheaf_db *db, sheaf_error *err);
/* The n-th job (from 1): always the same. */
struct change_job changes_draw(uint64_t seed, uint64_t n);
sheaf_rc changes_call(sheaf_db *db, const struct change_job *j, sheaf_error *err);
/* The one answer it must get, and what it leaves. */
sheaf_rc changes_judge(const struct changes *c, const struct change_job *j);
void changes_commit(struct changes *c, const struct change_job *j);
/* Takes over what a background round that was under way had done. */
bool changes_adopt(struct changes *c, sheaf_db *db, char why[512]);
/* Items, index and stream are as they must be. */
bool changes_check(const struct changes *c, sheaf_db *db, char why[512]);

#endif
