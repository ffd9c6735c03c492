/* Turns an engine that takes no more writes into words: one line on standard error, 503 to whoever
 * asks for health, a gauge, and the exit status. */
#include "server/state.h"

/* Beginning a transaction touches no disk, and an engine that has failed refuses it and says why. */
static bool is_refused(struct server *s, sheaf_error *err)
{
    sheaf_txn *t = NULL;
    sheaf_rc rc = eng_begin(s->engine, SHEAF_TXN_RW, &t, err);
    if (rc == SHEAF_OK) eng_rollback(t);
    return rc == SHEAF_IO;
}

bool health_has_failed(struct server *s)
{
    sheaf_error err;
    if (atomic_load(&s->has_failed)) return true;
    if (!is_refused(s, &err)) return false;
    if (!atomic_exchange(&s->has_failed, true))
        fprintf(stderr, "sheaf: %s; restart the server when the disk is well\n", err.message);
    return true;
}

void health_answer(struct call *c)
{
    struct server *s = c->loop->server;
    struct buf b;
    if (health_has_failed(s)) {
        answer_text(c, 503, NULL, SPAN_LIT("unhealthy: the disk failed, restart the server\n"));
        return;
    }
    buf_init(&b, c->ctx.arena, 1024);
    buf_printf(&b, "healthy: dynamodb.%s.amazonaws.com ", s->options.region);
    answer_text(c, 200, NULL, buf_span(&b));
}
