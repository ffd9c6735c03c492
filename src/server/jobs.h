/* server/jobs.h: work that would hold up a loop, each on a thread of its own. */
#ifndef SERVER_JOBS_H
#define SERVER_JOBS_H

#include "base/buf.h"
#include "base/clock.h"
#include "http/http.h"

#include <pthread.h>
#include <stdatomic.h>

enum { JOBS_MAX = 8, JOB_TEXT_MAX = 64 << 20 };

struct jobs {
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    uint32_t n;
    bool is_closing; /* none begins any more */
    struct clock_source *clock;
};

struct job {
    struct jobs *jobs;
    struct http_exchange *x;
    void *ctx;                     /* of the server */
    void (*work)(struct job *job); /* on the job's thread; fills text and status */
    void (*done)(struct job *job); /* on the loop's thread; answers the exchange */
    struct buf text;               /* on the heap */
    int status;
    atomic_int holders; /* the thread, and the loop that will answer */
    char argument[4096];
};

void jobs_init(struct jobs *j, struct clock_source *clock);
/* Lets none begin any more and waits until none is under way. */
void jobs_wait(struct jobs *j);
void jobs_deinit(struct jobs *j);

/* A job about an exchange; NULL when memory is out. Handed over by job_start. */
struct job *job_new(struct jobs *j, struct http_exchange *x);
/* One that was not started. */
void job_free(struct job *job);
/* false: there are JOBS_MAX already, or no thread could be had; the job is freed. Otherwise `work`
 * and then `done` will run, and the job is freed behind them. */
bool job_start(struct job *job);

#endif
