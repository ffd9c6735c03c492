#include "support/support.h"

#include "base/rng.h"
#include "json/json.h"
#include "json/scan.h"

#include <sys/mman.h>
#include <unistd.h>

/* A page with another behind it that may not be touched. */
static uint8_t *guarded(size_t *page_out)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + page, page, PROT_NONE), 0);
    *page_out = page;
    return p;
}

static void same(const uint8_t *p, const uint8_t *end)
{
    assert_ptr_equal(scan_ascii(p, end), scan_ascii_scalar(p, end));
    for (int before = 0; before < 2; before++) {
        bool high = before, high_scalar = before;
        const uint8_t *got = scan_plain(p, end, &high);
        const uint8_t *want = scan_plain_scalar(p, end, &high_scalar);
        if (got != want || high != high_scalar)
            fail_msg("%zu bytes: stops at %zd and %zd, high %d and %d", (size_t)(end - p), got - p,
                     want - p, high, high_scalar);
    }
}

/* The definition itself, byte by byte. */
static bool stops(uint8_t c) { return c < 0x20 || c == '"' || c == '\\'; }

static void test_scan__stops_at_each_byte_that_it_should(void **state)
{
    (void)state;
    size_t page;
    uint8_t *room = guarded(&page);
    for (size_t n = 0; n <= 50; n++) {
        uint8_t *p = room + page - n;
        for (size_t at = 0; at < n; at++) {
            memset(p, 'x', n);
            for (unsigned c = 0; c < 256; c++) {
                p[at] = (uint8_t)c;
                bool high = false;
                const uint8_t *got = scan_plain(p, p + n, &high);
                assert_ptr_equal(got, stops((uint8_t)c) ? p + at : p + n);
                assert_int_equal(high, c >= 0x80);
                got = scan_ascii(p, p + n);
                assert_ptr_equal(got, stops((uint8_t)c) || c >= 0x80 ? p + at : p + n);
                same(p, p + n);
            }
        }
    }
    munmap(room, 2 * page);
}

static void test_scan__twins_agree_on_random_bytes(void **state)
{
    (void)state;
    size_t page;
    uint8_t *room = guarded(&page);
    struct rng r;
    rng_init(&r, test_seed(5));
    for (uint64_t i = 0, rounds = test_rounds(20000); i < rounds; i++) {
        size_t n = rng_below(&r, 100), room_behind = rng_below(&r, 2) * rng_below(&r, 40);
        uint8_t *end = room + page - room_behind, *p = end - n;
        unsigned mix = (unsigned)rng_below(&r, 3);
        for (size_t k = 0; k < n; k++) {
            uint8_t c = (uint8_t)rng_u64(&r);
            if (mix == 0 || (mix == 1 && rng_below(&r, 30))) c = (uint8_t)(0x23 + c % 0x39);
            p[k] = c;
        }
        same(p, end);
    }
    munmap(room, 2 * page);
}

/* ---- the reader at the end of a page ---- */

static sheaf_rc read_at_the_end(const uint8_t *p, size_t n)
{
    struct arena arena;
    struct json j;
    struct json_item item;
    arena_init(&arena, 1 << 20);
    struct ctx c = {&arena, NULL};
    json_init(&j, &c, SPAN(p, n));
    sheaf_rc rc = json_skip(&j, NULL);
    if (rc == SHEAF_OK) rc = json_end(&j);
    json_init(&j, &c, SPAN(p, n));
    if (json_read_item(&j, &item) == SHEAF_OK) (void)!json_end(&j);
    arena_deinit(&arena);
    return rc;
}

static void test_reader__reads_nothing_beyond_the_end(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\": {\"S\": \"x\\u00e9\\ud834\\udd1e\"}, \"b\":{\"N\":\"-1.5e+3\"},\"c\":{\"L\":[{"
        "\"BOOL\":true},{\"NULL\":true},{\"B\":\"AAAA\"},{\"SS\":[\"a\",\"caf\xC3\xA9\"]},{\"M\":{}"
        "}]"
        "},\"d\":{\"X\":[-12.5e3,null,false],\"S\":\"\"}}  ";
    size_t page, whole = sizeof text - 1;
    uint8_t *room = guarded(&page);
    for (size_t n = 0; n <= whole; n++) {
        uint8_t *p = room + page - n;
        memcpy(p, text, n);
        assert_int_equal(read_at_the_end(p, n), n + 2 >= whole ? SHEAF_OK : SHEAF_SERIALIZATION);
    }
    munmap(room, 2 * page);
}

static void test_reader__reads_nothing_beyond_the_end_of_mutated_text(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":{\"S\":\"\\u00e9\"},\"b\":{\"NS\":[\"1\",\"2\"]},\"c\":[1,true]}";
    static const char bytes[] = "\"\\{}[]:,u0-.eE+tfn \x80\xC3\xED\xF0\x01";
    size_t page;
    uint8_t *room = guarded(&page);
    struct rng r;
    rng_init(&r, test_seed(6));
    for (uint64_t i = 0, rounds = test_rounds(50000); i < rounds; i++) {
        size_t n = 1 + rng_below(&r, sizeof text - 1);
        uint8_t *p = room + page - n;
        memcpy(p, text, n);
        for (uint64_t k = rng_below(&r, 4); k-- > 0;)
            p[rng_below(&r, n)] = (uint8_t)bytes[rng_below(&r, sizeof bytes - 1)];
        (void)!read_at_the_end(p, n);
    }
    munmap(room, 2 * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan__stops_at_each_byte_that_it_should),
        cmocka_unit_test(test_scan__twins_agree_on_random_bytes),
        cmocka_unit_test(test_reader__reads_nothing_beyond_the_end),
        cmocka_unit_test(test_reader__reads_nothing_beyond_the_end_of_mutated_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
