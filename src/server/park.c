/* Turns "this answer waits for position n" into few questions to the engine.
 *
 * Know before editing: the list is in order of arrival, not of position: a read that saw an older
 * state may stand behind a newer write and leave before it. The order of answers on one connection
 * is http's business. */
#include "server/park.h"

#include <assert.h>

void park_init(struct park *p, sheaf_engine *engine, const struct park_hooks *hooks)
{
    *p = (struct park){.engine = engine, .hooks = *hooks};
    atomic_init(&p->has_failed, false);
    atomic_init(&p->is_woken, false);
    pthread_mutex_init(&p->mutex, NULL);
}

void park_close(struct park *p)
{
    pthread_mutex_lock(&p->mutex);
    p->is_closed = true;
    pthread_mutex_unlock(&p->mutex);
}

void park_deinit(struct park *p)
{
    assert(p->is_closed);
    pthread_mutex_destroy(&p->mutex);
}

void park_add(struct park *p, struct parked *one, sheaf_position position)
{
    assert(position > 0);
    one->next = NULL;
    one->position = position;
    if (p->last)
        p->last->next = one;
    else
        p->first = one;
    p->last = one;
    p->n++;
    if (position > p->newest) p->newest = position;
}

/* The engine's thread, or park_turn_end itself when it was durable already. One wake is enough for
 * any number of calls until the loop has looked; a wake that fails is made up for at the end of
 * the next turn. */
static void on_durable(void *ctx, sheaf_rc rc)
{
    struct park *p = ctx;
    if (rc != SHEAF_OK) atomic_store(&p->has_failed, true);
    pthread_mutex_lock(&p->mutex);
    if (!p->is_closed && !atomic_exchange(&p->is_woken, true))
        if (!p->hooks.wake(p->hooks.ctx)) atomic_store(&p->is_woken, false);
    pthread_mutex_unlock(&p->mutex);
}

/* The question itself needs memory; without it the loop waits for the disk, which needs none. */
static sheaf_rc ask(struct park *p, sheaf_position position)
{
    sheaf_rc rc = eng_on_durable(p->engine, position, on_durable, p, NULL);
    return rc == SHEAF_NOMEM ? eng_sync(p->engine, position, NULL) : rc;
}

void park_turn_end(struct park *p)
{
    if (!p->first) return;
    if (p->newest > p->asked) {
        p->asked = p->newest;
        if (ask(p, p->newest) != SHEAF_OK) atomic_store(&p->has_failed, true);
    }
    if (atomic_load(&p->has_failed) || park_is_durable(p, p->first->position)) park_look(p);
}

/* Takes out of the list what leaves now, so that `leave` may add to it. */
static struct parked *take_ready(struct park *p, sheaf_position durable, bool has_failed)
{
    struct parked *ready = NULL, **tail = &ready, **at = &p->first;
    p->last = NULL;
    p->newest = 0;
    while (*at) {
        struct parked *one = *at;
        if (has_failed || one->position <= durable) {
            *at = one->next;
            one->next = NULL;
            *tail = one;
            tail = &one->next;
            p->n--;
        } else {
            p->last = one;
            if (one->position > p->newest) p->newest = one->position;
            at = &one->next;
        }
    }
    return ready;
}

void park_look(struct park *p)
{
    /* First: whatever becomes durable after this line wakes the loop again. */
    atomic_store(&p->is_woken, false);
    bool has_failed = atomic_load(&p->has_failed);
    sheaf_position durable = eng_durable(p->engine);
    struct parked *ready = take_ready(p, durable, has_failed);
    while (ready) {
        struct parked *one = ready;
        ready = one->next;
        p->hooks.leave(p->hooks.ctx, one, one->position <= durable ? SHEAF_OK : SHEAF_IO);
    }
}
