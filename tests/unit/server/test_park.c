/* Answers wait for durability: who leaves when, and how often the engine is asked. The engine is a
 * fake whose disk the test moves by hand. */
#include "support/support.h"

#include "server/park.h"

#include <unistd.h>

struct fake {
    sheaf_engine base;
    sheaf_position durable;
    uint32_t asks, syncs;
    sheaf_position asked;
    sheaf_durable_fn done;
    void *done_ctx;
    sheaf_rc refuses; /* what on_durable returns */
    bool sync_fails;
};

static sheaf_position fake_durable(sheaf_engine *e) { return ((struct fake *)e)->durable; }

static sheaf_rc fake_on_durable(sheaf_engine *e, sheaf_position at, sheaf_durable_fn done,
                                void *ctx, sheaf_error *err)
{
    struct fake *f = (struct fake *)e;
    (void)err;
    f->asks++;
    f->asked = at;
    if (f->refuses != SHEAF_OK) return f->refuses;
    f->done = done;
    f->done_ctx = ctx;
    return SHEAF_OK;
}

static sheaf_rc fake_sync(sheaf_engine *e, sheaf_position at, sheaf_error *err)
{
    struct fake *f = (struct fake *)e;
    (void)err;
    f->syncs++;
    if (f->sync_fails) return SHEAF_IO;
    f->durable = at;
    return SHEAF_OK;
}

static const struct sheaf_engine_ops fake_ops = {.size = sizeof(struct sheaf_engine_ops),
                                                 .durable = fake_durable,
                                                 .on_durable = fake_on_durable,
                                                 .sync = fake_sync};

/* What left, in order: "3 5 7!" (! failed); and how often the loop was woken. */
struct seen {
    char left[256];
    uint32_t wakes;
    bool wake_fails;
};

static bool wake(void *ctx)
{
    struct seen *s = ctx;
    s->wakes++;
    return !s->wake_fails;
}

static void leave(void *ctx, struct parked *p, sheaf_rc rc)
{
    struct seen *s = ctx;
    size_t n = strlen(s->left);
    snprintf(s->left + n, sizeof s->left - n, "%s%llu%s", n ? " " : "",
             (unsigned long long)p->position, rc == SHEAF_OK ? "" : "!");
}

struct scene {
    struct fake engine;
    struct seen seen;
    struct park park;
    struct parked parked[16];
    uint32_t n;
};

static void begin(struct scene *s)
{
    *s = (struct scene){.engine = {.base = {&fake_ops}}};
    park_init(&s->park, &s->engine.base,
              &(struct park_hooks){.ctx = &s->seen, .wake = wake, .leave = leave});
}

static void end(struct scene *s)
{
    park_close(&s->park);
    park_deinit(&s->park);
}

static void add(struct scene *s, sheaf_position at) { park_add(&s->park, &s->parked[s->n++], at); }

/* The engine's thread says that its disk has reached a position. */
static void become_durable(struct scene *s, sheaf_position at)
{
    s->engine.durable = at;
    s->engine.done(s->engine.done_ctx, SHEAF_OK);
}

static void test_park__one_turn_asks_once_for_its_newest(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    add(&s, 3);
    add(&s, 7);
    add(&s, 5);
    park_turn_end(&s.park);
    park_turn_end(&s.park);
    assert_int_equal(s.engine.asks, 1);
    assert_int_equal(s.engine.asked, 7);
    assert_string_equal(s.seen.left, "");
    become_durable(&s, 7);
    assert_int_equal(s.seen.wakes, 1);
    park_look(&s.park);
    assert_string_equal(s.seen.left, "3 7 5");
    assert_int_equal(s.park.n, 0);
    end(&s);
}

static void test_park__nothing_leaves_before_it_is_durable(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    add(&s, 4);
    add(&s, 6);
    park_turn_end(&s.park);
    become_durable(&s, 5);
    park_look(&s.park);
    assert_string_equal(s.seen.left, "4");
    add(&s, 9);
    park_turn_end(&s.park);
    assert_int_equal(s.engine.asked, 9);
    become_durable(&s, 8);
    park_look(&s.park);
    assert_string_equal(s.seen.left, "4 6");
    become_durable(&s, 9);
    park_look(&s.park);
    assert_string_equal(s.seen.left, "4 6 9");
    end(&s);
}

static void test_park__a_read_of_an_older_state_does_not_ask_again(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    add(&s, 8);
    park_turn_end(&s.park);
    add(&s, 6); /* saw a state that will be durable no later than what is asked for */
    park_turn_end(&s.park);
    assert_int_equal(s.engine.asks, 1);
    become_durable(&s, 8);
    park_look(&s.park);
    assert_string_equal(s.seen.left, "8 6");
    end(&s);
}

static void test_park__many_callbacks_wake_the_loop_once(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    add(&s, 1);
    park_turn_end(&s.park);
    add(&s, 2);
    park_turn_end(&s.park);
    assert_int_equal(s.engine.asks, 2);
    become_durable(&s, 1);
    become_durable(&s, 2);
    assert_int_equal(s.seen.wakes, 1);
    park_look(&s.park);
    assert_string_equal(s.seen.left, "1 2");
    end(&s);
}

static void test_park__a_failed_disk_fails_all_that_is_not_durable(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    add(&s, 1);
    add(&s, 2);
    park_turn_end(&s.park);
    s.engine.durable = 1;
    s.engine.done(s.engine.done_ctx, SHEAF_IO);
    park_look(&s.park);
    assert_string_equal(s.seen.left, "1 2!");
    s.engine.refuses = SHEAF_IO;
    add(&s, 3);
    park_turn_end(&s.park);
    assert_string_equal(s.seen.left, "1 2! 3!");
    end(&s);
}

static void test_park__without_memory_for_the_question_the_loop_waits_itself(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    s.engine.refuses = SHEAF_NOMEM;
    add(&s, 1);
    park_turn_end(&s.park);
    assert_int_equal(s.engine.syncs, 1);
    assert_string_equal(s.seen.left, "1");
    s.engine.sync_fails = true;
    add(&s, 2);
    park_turn_end(&s.park);
    assert_string_equal(s.seen.left, "1 2!");
    end(&s);
}

static void test_park__a_wake_that_failed_is_made_up_for_at_the_next_turn(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    s.seen.wake_fails = true;
    add(&s, 1);
    park_turn_end(&s.park);
    become_durable(&s, 1);
    assert_string_equal(s.seen.left, "");
    add(&s, 2);
    park_turn_end(&s.park);
    assert_string_equal(s.seen.left, "1");
    end(&s);
}

static void test_park__closed_it_wakes_nobody(void **state)
{
    (void)state;
    struct scene s;
    begin(&s);
    add(&s, 1);
    park_turn_end(&s.park);
    park_close(&s.park);
    become_durable(&s, 1);
    assert_int_equal(s.seen.wakes, 0);
    park_deinit(&s.park);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_park__one_turn_asks_once_for_its_newest),
        cmocka_unit_test(test_park__nothing_leaves_before_it_is_durable),
        cmocka_unit_test(test_park__a_read_of_an_older_state_does_not_ask_again),
        cmocka_unit_test(test_park__many_callbacks_wake_the_loop_once),
        cmocka_unit_test(test_park__a_failed_disk_fails_all_that_is_not_durable),
        cmocka_unit_test(test_park__without_memory_for_the_question_the_loop_waits_itself),
        cmocka_unit_test(test_park__a_wake_that_failed_is_made_up_for_at_the_next_turn),
        cmocka_unit_test(test_park__closed_it_wakes_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
