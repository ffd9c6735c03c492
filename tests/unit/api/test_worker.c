/* api: how the background thread shares the engine with those who wait for answers. */
#include "support/support.h"

#include "api/api.h"

static void test_rest__lets_at_most_40000_expire_in_a_second(void **state)
{
    (void)state;
    static const struct {
        uint64_t expired, took_us;
        bool has_more;
        uint32_t ms;
    } rows[] = {
        {0, 0, false, 500},        /* nothing to do: twice a second */
        {1024, 8000, false, 500},  /* all done */
        {0, 3000, true, 1},        /* other work, which has no limit of its own */
        {1024, 0, true, 25},       /* 1,024 in 25 ms are 40,960 in a second */
        {1024, 8000, true, 17},    /* a fast engine rests most of the time */
        {1024, 24000, true, 1},    /* one that takes longer has its millisecond */
        {1024, 50000, true, 1},    /* 51 ms: still 20,000 in a second */
        {4096, 8900, true, 94},    /* of several tables; a part of a millisecond is not counted */
        {1024000, 1000, true, 500} /* never longer than when there is nothing to do */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct core_background did = {.expired = rows[i].expired, .has_more = rows[i].has_more};
        uint32_t ms = api_rest_ms(&did, rows[i].took_us * 1000);
        if (ms != rows[i].ms) fail_msg("row %zu: %u ms, wanted %u", i, ms, rows[i].ms);
    }
}

/* A sweep that finds nothing still steps over what RocksDB has not compacted away. */
static void test_rest__lets_a_round_without_work_take_a_twentieth_of_the_time(void **state)
{
    (void)state;
    static const struct {
        uint64_t took_ms;
        uint32_t ms;
    } rows[] = {{0, 500}, {25, 500}, {26, 520}, {135, 2700}, {500, 10000}, {60000, 10000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct core_background did = {.has_more = false};
        uint32_t ms = api_rest_ms(&did, rows[i].took_ms * 1000000);
        if (ms != rows[i].ms) fail_msg("row %zu: %u ms, wanted %u", i, ms, rows[i].ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest__lets_at_most_40000_expire_in_a_second),
        cmocka_unit_test(test_rest__lets_a_round_without_work_take_a_twentieth_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
