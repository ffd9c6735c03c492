/* api: sheaf_close while a call is under way. The call is held inside the injected clock, so that
 * it is certainly under way when closing begins. */
#include "support/support.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sheaf/sheaf.h>
#include <stdatomic.h>

struct scene {
    sheaf_db *db;
    atomic_bool is_armed; /* the next look at the clock waits */
    sem_t inside, go_on;
    atomic_bool is_closed;
    sheaf_rc rc;
    sheaf_error err;
};

static int64_t held_clock(void *ctx)
{
    struct scene *s = ctx;
    if (atomic_exchange(&s->is_armed, false)) {
        sem_post(&s->inside);
        sem_wait(&s->go_on);
    }
    return INT64_C(1800000000000000);
}

static void *put(void *ctx)
{
    struct scene *s = ctx;
    s->rc = sheaf_put_item(s->db,
                           &(struct sheaf_put_item){.table = "load",
                                                    .item = SHEAF_ITEM({"PK", sheaf_int(1)}),
                                                    .error = &s->err},
                           NULL);
    return NULL;
}

static void *closing(void *ctx)
{
    struct scene *s = ctx;
    sheaf_close(s->db);
    atomic_store(&s->is_closed, true);
    return NULL;
}

static void test_close__waits_for_a_call_under_way(void **state)
{
    (void)state;
    struct scene s = {.db = NULL};
    sem_init(&s.inside, 0, 0);
    sem_init(&s.go_on, 0, 0);
    struct sheaf_options o = {.now_us = held_clock, .now_ctx = &s, .no_background = true};
    assert_ok(sheaf_open(":memory:", &o, &s.db, &s.err));
    assert_ok(sheaf_create_table(s.db,
                                 &(struct sheaf_create_table){.table = "load",
                                                              .partition_key = {"PK", SHEAF_N},
                                                              .error = &s.err},
                                 NULL));
    pthread_t caller, closer;
    atomic_store(&s.is_armed, true);
    assert_int_equal(pthread_create(&caller, NULL, put, &s), 0);
    sem_wait(&s.inside);
    assert_int_equal(pthread_create(&closer, NULL, closing, &s), 0);
    for (int i = 0; i < 2000; i++) sched_yield(); /* it may run now, and must not get through */
    assert_false(atomic_load(&s.is_closed));
    sem_post(&s.go_on);
    pthread_join(caller, NULL);
    pthread_join(closer, NULL);
    assert_ok(s.rc);
    assert_true(atomic_load(&s.is_closed));
    sem_destroy(&s.inside);
    sem_destroy(&s.go_on);
}

static void test_close__stops_the_background_thread_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        sheaf_db *db;
        sheaf_error err;
        assert_ok(sheaf_open(":memory:", NULL, &db, &err));
        sheaf_close(db);
    }
    sheaf_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close__waits_for_a_call_under_way),
        cmocka_unit_test(test_close__stops_the_background_thread_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
