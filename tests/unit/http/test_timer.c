/* The wheel of deadlines, told any time, and the Date header. */
#include "http/budget.h"
#include "http/date.h"
#include "http/timer.h"
#include "support/support.h"

enum { N = 500 };

static void test_wheel__is_never_early_and_at_most_a_tick_late(void **state)
{
    (void)state;
    uint64_t x = test_seed(11);
    static struct wheel w;
    static struct wheel_entry e[N];
    static uint64_t due[N];
    uint64_t now = 123456789;
    wheel_init(&w, now);
    for (size_t i = 0; i < N; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        due[i] = now + (x >> 20) % (60ull * 1000000000);
        e[i] = (struct wheel_entry){NULL, NULL, 0};
        wheel_arm(&w, &e[i], due[i]);
    }
    size_t fired = 0;
    while (fired < N) {
        uint64_t wait = wheel_wait(&w, now);
        assert_true(wait != UINT64_MAX);
        now += wait ? wait : 1;
        struct wheel_entry *up;
        while ((up = wheel_pop(&w, now))) {
            uint64_t at = due[up - e];
            assert_true(now >= at);
            assert_true(now - at <= WHEEL_TICK_NS);
            fired++;
        }
    }
    assert_true(wheel_wait(&w, now) == UINT64_MAX);
}

static void test_wheel__comes_up_early_for_what_is_further_than_it_is_round(void **state)
{
    (void)state;
    static struct wheel w;
    struct wheel_entry e = {NULL, NULL, 0};
    wheel_init(&w, 0);
    uint64_t day = 86400ull * 1000000000, now = 0;
    wheel_arm(&w, &e, day);
    int times = 0;
    while (now < day) {
        now += wheel_wait(&w, now);
        if (wheel_pop(&w, now) != &e) continue;
        times++;
        if (now < day) wheel_arm(&w, &e, day);
    }
    assert_true(times > 1000 && times < 1400); /* every 68 seconds */
    assert_true(now - day <= WHEEL_TICK_NS);
}

static void test_wheel_arm__only_moves_an_entry_forward(void **state)
{
    (void)state;
    static struct wheel w;
    struct wheel_entry e = {NULL, NULL, 0};
    wheel_init(&w, 0);
    wheel_arm(&w, &e, 10ull * WHEEL_TICK_NS);
    wheel_arm(&w, &e, 20ull * WHEEL_TICK_NS);
    assert_int_equal(e.tick, 11);
    wheel_arm(&w, &e, 5ull * WHEEL_TICK_NS);
    assert_int_equal(e.tick, 6);
    wheel_remove(&w, &e);
    wheel_remove(&w, &e);
    assert_null(wheel_pop(&w, 100ull * WHEEL_TICK_NS));
    wheel_arm(&w, &e, 0); /* long past: comes up with the next tick */
    assert_ptr_equal(wheel_pop(&w, 101ull * WHEEL_TICK_NS), &e);
}

static void test_wheel__survives_a_jump_of_the_clock(void **state)
{
    (void)state;
    static struct wheel w;
    struct wheel_entry e[3] = {{NULL, NULL, 0}, {NULL, NULL, 0}, {NULL, NULL, 0}};
    wheel_init(&w, 0);
    for (uint64_t i = 0; i < 3; i++) wheel_arm(&w, &e[i], (i * 300 + 1) * WHEEL_TICK_NS);
    uint64_t later = 1000000ull * WHEEL_TICK_NS;
    for (int i = 0; i < 3; i++) assert_ptr_equal(wheel_pop(&w, later), &e[i]);
    assert_null(wheel_pop(&w, later));
    wheel_arm(&w, &e[0], later + WHEEL_TICK_NS);
    assert_null(wheel_pop(&w, later + WHEEL_TICK_NS));
    assert_ptr_equal(wheel_pop(&w, later + 2ull * WHEEL_TICK_NS), &e[0]);
}

static void test_date_format__writes_what_http_wants(void **state)
{
    (void)state;
    static const struct {
        int64_t s;
        const char *want;
    } t[] = {
        {784111777, "Sun, 06 Nov 1994 08:49:37 GMT"}, /* RFC 9110's example */
        {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {-1, "Wed, 31 Dec 1969 23:59:59 GMT"},
        {951782400, "Tue, 29 Feb 2000 00:00:00 GMT"},
        {4107542399, "Sun, 28 Feb 2100 23:59:59 GMT"},
        {4107542400, "Mon, 01 Mar 2100 00:00:00 GMT"},
        {1709164800, "Thu, 29 Feb 2024 00:00:00 GMT"},
        {1735689599, "Tue, 31 Dec 2024 23:59:59 GMT"},
        {253402300799, "Fri, 31 Dec 9999 23:59:59 GMT"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char got[DATE_BYTES + 1];
        date_format(t[i].s, got);
        assert_string_equal(got, t[i].want);
    }
}

static void test_budget__gives_to_the_last_byte_and_no_more(void **state)
{
    (void)state;
    struct budget b;
    budget_init(&b, 100);
    assert_true(budget_try(&b, 60));
    assert_false(budget_try(&b, 41));
    assert_true(budget_try(&b, 40));
    assert_false(budget_try(&b, 1));
    assert_false(budget_try(&b, UINT64_MAX));
    budget_force(&b, 50);
    assert_int_equal(b.peak, 150);
    assert_false(budget_release(&b, 60));
    assert_true(budget_try(&b, 10));
    b.n_waiting = 1;
    assert_true(budget_release(&b, 100));
    assert_int_equal(b.used, 0);
    assert_int_equal(b.peak, 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wheel__is_never_early_and_at_most_a_tick_late),
        cmocka_unit_test(test_wheel__comes_up_early_for_what_is_further_than_it_is_round),
        cmocka_unit_test(test_wheel_arm__only_moves_an_entry_forward),
        cmocka_unit_test(test_wheel__survives_a_jump_of_the_clock),
        cmocka_unit_test(test_date_format__writes_what_http_wants),
        cmocka_unit_test(test_budget__gives_to_the_last_byte_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
