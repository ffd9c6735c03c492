/* Turns long work into a thread and, at its end, an answer on the loop that asked. Know before
 * editing: the exchange belongs to its loop; the thread touches only the job. */
#include "server/jobs.h"

#include "base/mem.h"

#include <assert.h>

void jobs_init(struct jobs *j, struct clock_source *clock)
{
    *j = (struct jobs){.clock = clock};
    pthread_mutex_init(&j->mutex, NULL);
    pthread_cond_init(&j->ended, NULL);
}

void jobs_wait(struct jobs *j)
{
    pthread_mutex_lock(&j->mutex);
    j->is_closing = true;
    while (j->n > 0) pthread_cond_wait(&j->ended, &j->mutex);
    pthread_mutex_unlock(&j->mutex);
}

void jobs_deinit(struct jobs *j)
{
    assert(j->n == 0);
    pthread_cond_destroy(&j->ended);
    pthread_mutex_destroy(&j->mutex);
}

struct job *job_new(struct jobs *j, struct http_exchange *x)
{
    struct job *job = mem_zalloc(sizeof *job);
    if (!job) return NULL;
    job->jobs = j;
    job->x = x;
    job->status = 200;
    atomic_init(&job->holders, 2);
    buf_init(&job->text, NULL, JOB_TEXT_MAX);
    return job;
}

void job_free(struct job *job)
{
    buf_deinit(&job->text);
    mem_free(job);
}

static bool take_place(struct jobs *j)
{
    pthread_mutex_lock(&j->mutex);
    bool is_free = j->n < JOBS_MAX && !j->is_closing;
    if (is_free) j->n++;
    pthread_mutex_unlock(&j->mutex);
    return is_free;
}

static void leave_place(struct jobs *j)
{
    pthread_mutex_lock(&j->mutex);
    j->n--;
    pthread_cond_broadcast(&j->ended);
    pthread_mutex_unlock(&j->mutex);
}

/* The place is free when neither the thread nor the loop is in it any more: whoever waits for that
 * ends the loops next, and the thread must not be in the middle of a post then. */
static void let_go(struct job *job)
{
    struct jobs *j = job->jobs;
    if (atomic_fetch_sub(&job->holders, 1) > 1) return;
    job_free(job);
    leave_place(j);
}

static void on_loop(void *ctx)
{
    struct job *job = ctx;
    job->done(job);
    let_go(job);
}

static void *run(void *ctx)
{
    struct job *job = ctx;
    job->work(job);
    struct clock_source *clock = job->jobs->clock;
    struct http_loop *loop = http_exchange_loop(job->x);
    /* Somebody waits for the answer, and memory may come back. */
    while (http_loop_post(loop, on_loop, job) != SHEAF_OK) clock_sleep_ns(clock, 10000000);
    let_go(job);
    return NULL;
}

bool job_start(struct job *job)
{
    struct jobs *j = job->jobs;
    pthread_attr_t detached;
    pthread_t thread;
    if (!take_place(j)) {
        job_free(job);
        return false;
    }
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &detached, run, job);
    pthread_attr_destroy(&detached);
    if (!failed) return true;
    job_free(job);
    leave_place(j);
    return false;
}
