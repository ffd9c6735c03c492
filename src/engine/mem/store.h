/* engine/mem/store.h: the trees of the mem engine through time: who may read which, and when the
 * rest is freed.
 *
 * Every commit publishes a *version*: a tree and a position. A reader pins the current version and
 * reads it for as long as it likes; only taking and giving back the pin is synchronised. Versions
 * form a chain, oldest to current; one that is neither current nor pinned is released.
 *
 * An object lives in the versions from its birth to the one before its death. When it is taken out
 * of the tree it is noted with the newest version that still has it. When that version is released,
 * the note moves to the next older version if that is not older than the object, else the object is
 * freed. So what a long snapshot keeps alive is what it can see and nothing else.
 *
 *     versions:      7 (pinned)      12 (pinned)      15 (current)
 *     noted with 12: born 3 -> moves to 7 when 12 is released;  born 9 -> is freed then
 */
#ifndef ENGINE_MEM_STORE_H
#define ENGINE_MEM_STORE_H

#include "engine/mem/tree.h"

#include <pthread.h>
#include <sheaf/sys/engine.h>
#include <stdatomic.h>

struct mem_version {
    struct mem_tree tree;
    sheaf_position position;     /* also the number of the build that made it */
    atomic_uint_least64_t pins;  /* readers, and one for being current */
    struct mem_garbage *garbage; /* under write_lock, as the links are */
    struct mem_version *older, *newer;
    struct mem_version *next_released;
};

struct mem_store {
    pthread_mutex_t write_lock; /* one build at a time; the chain and the garbage */
    pthread_mutex_t pin_lock;   /* short: `current` and its first pin go together */
    struct mem_version *current;
    _Atomic(struct mem_version *) released; /* versions whose last pin is gone, to be freed */
    atomic_uint_least64_t position;         /* current->position, for those who pin nothing */
    atomic_uint_least64_t bytes;            /* of all nodes and records, dead ones too */
    struct mem_garbage *spare;              /* an empty chunk for the next build */
    struct mem_version *next;               /* made before a build begins: publishing cannot fail */
};

/* false: out of memory. */
bool mem_store_init(struct mem_store *s) __attribute__((warn_unused_result));
/* Nothing may be pinned. */
void mem_store_deinit(struct mem_store *s);

/* The current version, readable until given back. Any thread. */
struct mem_version *mem_store_pin(struct mem_store *s);
void mem_store_unpin(struct mem_store *s, struct mem_version *v);

/* The one writer at a time. Unlocking also frees what readers have let go meanwhile. */
void mem_store_lock(struct mem_store *s);
void mem_store_unlock(struct mem_store *s);
/* The following under the lock. Begins a build of the version after the current one, which
 * mem_store_publish or mem_build_abort ends; false: out of memory, nothing to abort. */
bool mem_store_begin(struct mem_store *s, struct mem_build *b) __attribute__((warn_unused_result));
/* Makes the build the current version, for all readers at once. Cannot fail. */
void mem_store_publish(struct mem_store *s, struct mem_build *b);

#endif
