/* tests/contract/contract.h: the promises of <sheaf/sys/engine.h> as cases that every engine must
 * pass. A case gets a fresh engine in a struct world and never asks which engine it is; where caps
 * decide, it reads the caps.
 *
 * cmocka's asserts jump, so only the main thread may use them: threads note what they find with
 * NOTE, and the case asserts afterwards. */
#ifndef TESTS_CONTRACT_H
#define TESTS_CONTRACT_H

#include "support/support.h"

#include "base/rng.h"
#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* How to make one kind of engine. `open` is called again on the same directory to reopen. */
struct engine_kind {
    const char *name;
    sheaf_rc (*open)(const char *directory, sheaf_engine **out, sheaf_error *err);
    uint64_t model_operations;
    enum { ALL_CASES, ONLY_THREADS, NO_THREADS } which; /* threads: what goes by the run loop */
};

struct world {
    const struct engine_kind *kind;
    char dir[256]; /* exists; the engine may keep its files in "<dir>/db" */
    sheaf_engine *e;
    struct sheaf_engine_caps caps;
    int held; /* transactions and pins; a case that fails with some leaves its engine open */
};

/* Every file of cases hands out its list. */
struct case_list {
    const struct CMUnitTest *cases;
    size_t n;
    bool uses_run_loop; /* survives injected conflicts */
};
struct case_list cases_order(void);
struct case_list cases_walk(void);
struct case_list cases_isolation(void);
struct case_list cases_write(void);
struct case_list cases_add_append(void);
struct case_list cases_caps(void);
struct case_list cases_life(void);
struct case_list cases_threads(void);
struct case_list cases_model(void);

int world_setup(void **state);
int world_teardown(void **state);
#define CASE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

/* ---- keys ---- */

/* A place whose hash is well mixed from n. */
sheaf_place place_of(uint64_t space, uint64_t n);
static inline sheaf_engine_key key_at(sheaf_place p, span s)
{
    return (sheaf_engine_key){.p = p, .s = s};
}
/* S is text, in space 1. */
sheaf_engine_key key_of(uint64_t n, const char *s);
/* By P, then by S. */
int key_cmp(const sheaf_engine_key *a, const sheaf_engine_key *b);

/* ---- transactions, with every step asserted; main thread only ---- */

sheaf_txn *txn_begin(struct world *w, enum sheaf_txn_mode mode);
sheaf_rc txn_commit(struct world *w, sheaf_txn *t);
sheaf_rc txn_commit_at(struct world *w, sheaf_txn *t, sheaf_position *at, sheaf_stamp *stamp);
void txn_rollback(struct world *w, sheaf_txn *t);
span txn_get(sheaf_txn *t, sheaf_engine_key key);
void txn_put(sheaf_txn *t, sheaf_engine_key key, const char *value);

/* read() and read_done(), counted. */
void pin_read(struct world *w, const sheaf_engine_key *key, span *value_out, void **pin_out);
void pin_done(struct world *w, void *pin);

/* One write in a transaction of its own. */
void put_one(struct world *w, sheaf_engine_key key, span value);
void put_text(struct world *w, sheaf_engine_key key, const char *value);
void del_one(struct world *w, sheaf_engine_key key);
void del_range_one(struct world *w, const sheaf_place *p, span lo, span hi);
void add_one(struct world *w, sheaf_engine_key key, int64_t delta);

/* By read() and by get() of a snapshot: both must say the same. NULL = absent. */
void assert_stored(struct world *w, sheaf_engine_key key, span want);
void assert_text(struct world *w, sheaf_engine_key key, const char *want);
void assert_absent(struct world *w, sheaf_engine_key key);
int64_t read_number(struct world *w, sheaf_engine_key key, size_t i);
int64_t number_at(span value, size_t i);

/* ---- rows ---- */

/* Copies of what a cursor returned; rows_free gives them back. */
struct rows {
    struct sheaf_row *row;
    size_t n, cap;
};
void rows_free(struct rows *r);
void rows_add(struct rows *r, const struct sheaf_row *row);
/* Drains and closes the cursor. */
struct rows rows_of(sheaf_cursor *c);
struct rows rows_range(sheaf_txn *t, const struct sheaf_range *range);
struct rows rows_walk(sheaf_txn *t, const struct sheaf_walk *walk);
/* The same in a snapshot of its own. */
struct rows rows_now(struct world *w, sheaf_place p);
struct rows space_now(struct world *w, uint64_t space);
void assert_rows_equal(const struct rows *a, const struct rows *b);

void world_reopen(struct world *w);

/* ---- threads ---- */

struct notes {
    atomic_int n;
    char first[200];
};
void note(struct notes *notes, const char *file, int line, const char *what, int64_t got);
/* Notes and leaves the thread when the claim does not hold. */
#define NOTE(notes, claim, got)                                                                    \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            note((notes), __FILE__, __LINE__, #claim, (int64_t)(got));                             \
            return NULL;                                                                           \
        }                                                                                          \
    } while (0)
void assert_no_notes(struct notes *notes);

/* Until the counter has reached n; false when it has not after a minute. */
bool wait_for(atomic_uint *counter, unsigned n);

enum { MAX_THREADS = 16 };
/* Threads that all begin together; each gets args + i * size. Caller's storage until joined. */
struct threads {
    pthread_t thread[MAX_THREADS];
    struct thread_start {
        void *(*body)(void *);
        void *arg;
        pthread_barrier_t *barrier;
    } start[MAX_THREADS];
    pthread_barrier_t barrier;
    size_t n;
};
void threads_start(struct threads *g, size_t n, void *(*body)(void *), void *args, size_t size);
void threads_join(struct threads *g);
/* Both. */
void run_threads(size_t n, void *(*body)(void *), void *args, size_t size);

#endif
