/* tests/model/crash_check.h: what was acknowledged, and whether it is there. */
#ifndef MODEL_CRASH_CHECK_H
#define MODEL_CRASH_CHECK_H

#include "model/job.h"

/* The driver's own record of one data directory: an oracle for each lane. */
struct ledger {
    uint64_t seed; /* of the jobs */
    bool is_ready; /* a writer said that all tables exist */
    struct {
        struct world w;
        uint64_t next;       /* the job that is not acknowledged yet */
        uint64_t last_token; /* the last job with a token that succeeded; 0: none */
    } lanes[N_LANES];
    struct changes changes;
    uint64_t next_change;
    uint64_t n_opened, n_ready, n_acked;
};
/* The job of a lane that is not acknowledged yet. */
static inline uint64_t ledger_next(const struct ledger *l, unsigned lane)
{
    return lane == CHANGES_LANE ? l->next_change : l->lanes[lane].next;
}
void ledger_begin(struct ledger *l, uint64_t seed);
void ledger_end(struct ledger *l);
/* false: the message cannot be true: an answer that the oracle does not know; the reason in
 * `why`. */
bool ledger_take(struct ledger *l, const struct job_message *m, char why[512]);

/* Opens the directory and compares everything; takes over jobs that were under way and are there.
 * false: something is wrong. */
struct verdict {
    char why[1024];
    uint64_t n_found;  /* jobs under way that are there */
    uint64_t n_tokens; /* requests repeated by their token */
};
bool ledger_check(struct ledger *l, const char *directory, struct verdict *v);

#endif
