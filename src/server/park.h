/* server/park.h: answers that wait until what they say is durable.
 *
 *   loop:    park_add, park_add, … ─turn ends→ one eng_on_durable for the newest of them
 *   engine:  its thread says "durable" ─wake→ the loop is asked to look
 *   loop:    park_look: everything that is durable by now leaves, oldest first
 *
 * One lot per loop. Writes of one wake-up therefore share an fsync, and so do those of other loops
 * that come while the disk is busy: the engine flushes once for all who wait.
 *
 * THREADS  park_add, park_turn_end and park_look on the loop's thread; the engine calls in from its
 * own. park_close from any.
 */
#ifndef SERVER_PARK_H
#define SERVER_PARK_H

#include "base/err.h"
#include "core/core.h"

#include <pthread.h>
#include <stdatomic.h>

/* Part of whatever waits; its memory is the caller's until it has left. */
struct parked {
    struct parked *next;
    sheaf_position position;
};

struct park_hooks {
    void *ctx;
    /* From any thread, short: park_look is to run on the loop soon. false: it will not. */
    bool (*wake)(void *ctx);
    /* It leaves, durable (SHEAF_OK) or never to be (SHEAF_IO). May call park_add. */
    void (*leave)(void *ctx, struct parked *p, sheaf_rc rc);
};

struct park {
    sheaf_engine *engine;
    struct park_hooks hooks;
    struct parked *first, *last;
    uint32_t n;
    sheaf_position newest; /* of those that wait */
    sheaf_position asked;  /* the newest the engine has been asked for */
    atomic_bool has_failed, is_woken;
    /* Between the engine's thread and closing. */
    pthread_mutex_t mutex;
    bool is_closed;
};

void park_init(struct park *p, sheaf_engine *engine, const struct park_hooks *hooks);
/* No wake is under way when it returns, and none comes later: the loop may be ended. What still
 * waits does not leave. */
void park_close(struct park *p);
/* After the engine has been closed, so that it does not call in any more. */
void park_deinit(struct park *p);

/* Whether an answer with this position may leave now. */
static inline bool park_is_durable(const struct park *p, sheaf_position position)
{
    return position == 0 || eng_durable(p->engine) >= position;
}
void park_add(struct park *p, struct parked *one, sheaf_position position);
/* Asks for the durability of everything added since the last time. */
void park_turn_end(struct park *p);
/* Lets go what may go. */
void park_look(struct park *p);

#endif
