/* Turns builds into versions and dead objects into free memory.
 *
 * Know before editing: a pin may only be taken on the current version, under pin_lock, where the
 * version's own pin for being current keeps the count above zero. So a count that reaches zero
 * stays there, and whoever brought it there hands the version on. Readers never wait for
 * write_lock. */
#include "engine/mem/store.h"

#include "base/mem.h"

#include <assert.h>

bool mem_store_init(struct mem_store *s)
{
    *s = (struct mem_store){0};
    s->current = mem_zalloc(sizeof *s->current);
    if (!s->current) return false;
    atomic_init(&s->current->pins, 1);
    if (pthread_mutex_init(&s->write_lock, NULL) == 0) {
        if (pthread_mutex_init(&s->pin_lock, NULL) == 0) return true;
        pthread_mutex_destroy(&s->write_lock);
    }
    mem_free(s->current);
    return false;
}

static void free_chunks(struct mem_garbage *g)
{
    while (g) {
        struct mem_garbage *next = g->next;
        mem_free(g);
        g = next;
    }
}

/* An emptied chunk. */
static void keep_spare(struct mem_store *s, struct mem_garbage *g)
{
    if (s->spare) {
        mem_free(g);
        return;
    }
    g->n = 0;
    g->next = NULL;
    s->spare = g;
}

/* Frees what only the released version could see; the rest stays in the chunk, in front. */
static void free_dead(struct mem_store *s, struct mem_garbage *g, const struct mem_version *older)
{
    uint32_t kept = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        if (older && g->dead[i].birth <= older->position) {
            g->dead[kept++] = g->dead[i];
        } else {
            bytes += g->dead[i].size;
            mem_free(g->dead[i].p);
        }
    }
    g->n = kept;
    atomic_fetch_sub_explicit(&s->bytes, bytes, memory_order_relaxed);
}

/* Notes the chunk's rest with an older version, copied when that has room: chunks fill up. */
static void hand_down(struct mem_store *s, struct mem_garbage *g, struct mem_version *older)
{
    struct mem_garbage *to = older ? older->garbage : NULL;
    if (g->n > 0 && !(to && to->cap - to->n >= g->n)) {
        g->next = to;
        older->garbage = g;
        return;
    }
    if (g->n > 0) {
        memcpy(to->dead + to->n, g->dead, g->n * sizeof g->dead[0]);
        to->n += g->n;
    }
    keep_spare(s, g);
}

/* Under write_lock; the version has no pins. */
static void release(struct mem_store *s, struct mem_version *v)
{
    struct mem_version *older = v->older;
    assert(v != s->current && v->newer && atomic_load(&v->pins) == 0);
    assert(!older || older->position < v->position);
    v->newer->older = older;
    if (older) older->newer = v->newer;
    for (struct mem_garbage *g = v->garbage, *next; g; g = next) {
        next = g->next;
        free_dead(s, g, older);
        hand_down(s, g, older);
    }
    if (s->next) {
        mem_free(v);
    } else {
        s->next = v;
    }
}

static void release_all(struct mem_store *s)
{
    struct mem_version *v = atomic_exchange(&s->released, NULL);
    while (v) {
        struct mem_version *next = v->next_released;
        release(s, v);
        v = next;
    }
}

struct mem_version *mem_store_pin(struct mem_store *s)
{
    pthread_mutex_lock(&s->pin_lock);
    struct mem_version *v = s->current;
    atomic_fetch_add_explicit(&v->pins, 1, memory_order_relaxed);
    pthread_mutex_unlock(&s->pin_lock);
    return v;
}

/* Whoever leaves a version to be released tries to do it; when the lock is taken, its holder looks
 * again after unlocking. */
static void release_if_free(struct mem_store *s)
{
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load(&s->released) && pthread_mutex_trylock(&s->write_lock) == 0) {
        release_all(s);
        pthread_mutex_unlock(&s->write_lock);
        atomic_thread_fence(memory_order_seq_cst);
    }
}

void mem_store_unpin(struct mem_store *s, struct mem_version *v)
{
    if (atomic_fetch_sub_explicit(&v->pins, 1, memory_order_acq_rel) != 1) return;
    struct mem_version *top = atomic_load(&s->released);
    do v->next_released = top;
    while (!atomic_compare_exchange_weak(&s->released, &top, v));
    release_if_free(s);
}

void mem_store_lock(struct mem_store *s) { pthread_mutex_lock(&s->write_lock); }

void mem_store_unlock(struct mem_store *s)
{
    release_all(s);
    pthread_mutex_unlock(&s->write_lock);
    release_if_free(s);
}

bool mem_store_begin(struct mem_store *s, struct mem_build *b)
{
    if (!s->next) s->next = mem_alloc(sizeof *s->next);
    if (!s->next) return false;
    mem_build_init(b, &s->current->tree, s->current->position + 1, s->spare);
    s->spare = NULL;
    return true;
}

void mem_store_publish(struct mem_store *s, struct mem_build *b)
{
    struct mem_version *old = s->current, *v = s->next;
    assert(v && b->number == old->position + 1 && !old->garbage);
    s->next = NULL;
    *v = (struct mem_version){.tree = b->tree, .position = b->number, .older = old};
    atomic_init(&v->pins, 1);
    old->newer = v;
    old->garbage = b->garbage;
    b->garbage = NULL;
    atomic_fetch_add_explicit(&s->bytes, b->bytes_new, memory_order_relaxed);
    pthread_mutex_lock(&s->pin_lock);
    s->current = v;
    atomic_store(&s->position, v->position);
    pthread_mutex_unlock(&s->pin_lock);
    if (atomic_fetch_sub_explicit(&old->pins, 1, memory_order_acq_rel) == 1) release(s, old);
}

void mem_store_deinit(struct mem_store *s)
{
    release_all(s);
    assert(!s->current->older && !s->current->garbage && atomic_load(&s->current->pins) == 1);
    mem_tree_free(&s->current->tree);
    mem_free(s->current);
    mem_free(s->next);
    free_chunks(s->spare);
    pthread_mutex_destroy(&s->pin_lock);
    pthread_mutex_destroy(&s->write_lock);
}
