/* tests/model/job.h: what the writers of the crash tests do, and how driver and writer know the
 * same of it.
 *
 * A writer has a few lanes, each a thread with partition keys of its own. A lane does its jobs
 * one after the other, and the n-th job of a lane is always the same request; so after a crash
 * the items of a lane must be what its acknowledged jobs leave, or those and the one that was
 * under way. */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include "model/changes.h"
#include "model/writes.h"

/* The last lane changes tables (changes.h); the others write. */
enum { N_LANES = 3, CHANGES_LANE = N_LANES, N_ALL_LANES };

enum job_message_kind {
    JOB_OPENED = 1, /* the database is open */
    JOB_READY,      /* all tables exist, durably */
    JOB_ACKED       /* job n of the lane got this answer, durably */
};
struct job_message {
    uint32_t kind, lane;
    uint64_t n;
    uint32_t rc, reserved;
};

struct job {
    bool is_transaction, has_token;
    struct write one;
    struct transaction many;
    char token[40];
};

/* The world of one lane, without a database. */
void lane_init(struct world *w, unsigned lane);
void lane_deinit(struct world *w);
/* The n-th job (from 1) of a lane. Its memory is the world's until the next one. */
void job_draw(struct world *w, uint64_t seed, unsigned lane, uint64_t n, struct job *out);
sheaf_rc job_call(struct world *w, struct job *j);
/* The answers it may get now; what it leaves goes into the oracle with job_commit. */
uint64_t job_judge(struct world *w, struct job *j, struct judged *judged);
void job_commit(struct world *w, const struct job *j, const struct judged *judged);

#endif
