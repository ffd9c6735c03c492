/* Turns requests on the socket in the data directory into care of a running server: POST /verify and
 * POST /backup, whose body is the destination. HTTP, because it is there; whoever may write into the
 * directory may use it, and nobody else. Answers are lines of text.
 *
 * Know before editing: the directory is locked by this process when the socket is made, so one that
 * is there already was left by a process that died. */
#include "server/state.h"

#include "base/mem.h"
#include "server/admin_path.h"
#include "server/server.h"

#include <unistd.h>

static void put_line(void *ctx, const char *text)
{
    struct job *job = ctx;
    buf_printf(&job->text, "%s\n", text);
}

static void fail(struct job *job, const sheaf_error *err)
{
    job->status = err->rc == SHEAF_CORRUPT ? 409 : sheaf_rc_status(err->rc);
    buf_printf(&job->text, "%s\n", err->message);
}

static void work_verify(struct job *job)
{
    struct server *s = job->ctx;
    sheaf_error err;
    if (server_verify(s->db, put_line, job, &err) != SHEAF_OK) fail(job, &err);
}

static void work_backup(struct job *job)
{
    struct server *s = job->ctx;
    sheaf_error err;
    if (sheaf_backup(s->db, job->argument, &err) != SHEAF_OK) fail(job, &err);
}

static void done(struct job *job)
{
    span text = arena_dup(http_arena(job->x), buf_span(&job->text));
    if (job->text.failed || (!text.p && job->text.n))
        http_answer(job->x, 500, SPAN_LIT("out of memory\n"));
    else
        http_answer(job->x, job->status, text);
}

static bool take_argument(struct job *job, span body)
{
    bool is_path = body.n > 0 && body.n < sizeof job->argument && *(const char *)body.p == '/' &&
                   !memchr(body.p, 0, body.n);
    if (is_path) memcpy(job->argument, body.p, body.n);
    return is_path;
}

static void on_request(void *ctx, struct http_exchange *x)
{
    struct server *s = ctx;
    const struct http_request *r = http_request(x);
    bool is_backup = span_eq(r->path, SPAN_LIT("/backup"));
    if (!span_eq(r->method, SPAN_LIT("POST")) ||
        (!is_backup && !span_eq(r->path, SPAN_LIT("/verify")))) {
        http_answer(x, 404, SPAN_LIT("there is POST /backup and POST /verify\n"));
        return;
    }
    struct job *job = job_new(&s->jobs, x);
    if (!job) {
        http_answer(x, 503, SPAN_LIT("out of memory\n"));
        return;
    }
    job->ctx = s;
    job->work = is_backup ? work_backup : work_verify;
    job->done = done;
    if (is_backup && !take_argument(job, r->body)) {
        job_free(job);
        http_answer(x, 400, SPAN_LIT("the body is the absolute path of a new directory\n"));
    } else if (!job_start(job)) {
        http_answer(x, 503, SPAN_LIT("too much is under way; try again\n"));
    }
}

sheaf_rc admin_open(struct server *s, sheaf_error *err)
{
    char path[ADMIN_PATH_BYTES];
    TRY(admin_path(s->options.data, path, &s->admin_fd, err));
    (void)unlink(path);
    s->admin_path = mem_alloc(sizeof path);
    if (!s->admin_path) return err_nomem(err);
    memcpy(s->admin_path, path, sizeof path);
    struct http_options o = {.unix_path = s->admin_path, .n_loops = 1, .max_connections = 16};
    struct http_handler handler = {.ctx = s, .request = on_request};
    TRY(http_server_open(&o, &handler, &s->admin, err));
    return http_server_start(s->admin, err);
}

void admin_close(struct server *s)
{
    http_server_close(s->admin);
    s->admin = NULL;
    if (s->admin_path) (void)unlink(s->admin_path);
    mem_free(s->admin_path);
    if (s->admin_fd >= 0) close(s->admin_fd);
    s->admin_fd = -1;
}
