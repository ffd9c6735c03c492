/* gzip, zlib and raw deflate. The encoded bytes were made with Python's zlib and gzip. */
#include "base/mem.h"
#include "http/http.h"
#include "support/support.h"

struct fixture {
    struct arena arena;
    sheaf_error err;
    struct ctx c;
};

static void begin(struct fixture *f)
{
    arena_init(&f->arena, 64 << 20);
    f->c = (struct ctx){&f->arena, &f->err};
}

static void test_inflate__reads_what_others_wrote(void **state)
{
    (void)state;
    static const struct {
        const char *encoding, *hex, *want;
        sheaf_rc rc;
    } rows[] = {
        {"gzip", "1F8B08000000000002FFCB48CDC9C9070086A6103605000000", "hello", SHEAF_OK},
        {"GZIP", "1F8B08000000000002FFCB48CDC9C9070086A6103605000000", "hello", SHEAF_OK},
        {" x-gzip ", "1F8B08000000000002FFCB48CDC9C9070086A6103605000000", "hello", SHEAF_OK},
        {"gzip",
         "1F8B08000000000002FFCB48CDC9C9070086A6103605000000"
         "1F8B08000000000002FFCB48CDC9C9070086A6103605000000",
         "hellohello", SHEAF_OK},
        {"deflate", "789CCB48CDC9C90700062C0215", "hello", SHEAF_OK},
        {"deflate", "CB48CDC9C90700", "hello", SHEAF_OK},
        {"identity", "6869", "hi", SHEAF_OK},
        {"", "6869", "hi", SHEAF_OK},
        {"br", "6869", NULL, SHEAF_UNSUPPORTED},
        {"gzip, gzip", "6869", NULL, SHEAF_UNSUPPORTED},
        {"chunked", "6869", NULL, SHEAF_UNSUPPORTED},
        /* cut, with something behind, a wrong check sum, a wrong length, not gzip at all, empty */
        {"gzip", "1F8B08000000000002FFCB48CDC9C9070086A61036050000", NULL, SHEAF_SERIALIZATION},
        {"gzip", "1F8B08000000000002FFCB48CDC9C9070086A610360500000000", NULL, SHEAF_SERIALIZATION},
        {"gzip", "1F8B08000000000002FFCB48CDC9C9070087A6103605000000", NULL, SHEAF_SERIALIZATION},
        {"gzip", "1F8B08000000000002FFCB48CDC9C9070086A6103606000000", NULL, SHEAF_SERIALIZATION},
        {"gzip", "68656c6c6f", NULL, SHEAF_SERIALIZATION},
        {"gzip", "", NULL, SHEAF_SERIALIZATION},
        {"deflate", "", NULL, SHEAF_SERIALIZATION},
        {"deflate", "CB48CDC9C9070000", NULL, SHEAF_SERIALIZATION},
        {"deflate", "789CCB48CDC9C90700062C0216", NULL, SHEAF_SERIALIZATION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        begin(&f);
        uint8_t bytes[256];
        size_t n = test_hex(rows[i].hex, bytes, sizeof bytes);
        span plain;
        assert_rc(http_inflate(&f.c, span_cstr(rows[i].encoding), SPAN(bytes, n), 1000, &plain),
                  rows[i].rc);
        if (rows[i].want)
            assert_span(plain, rows[i].want);
        else
            assert_null(plain.p);
        arena_deinit(&f.arena);
    }
}

static void test_inflate__holds_its_ceiling_at_n_and_n_plus_1(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    size_t n = 100000;
    char *zeros = calloc(1, n);
    assert_non_null(zeros);
    span gzip, plain;
    assert_ok(http_gzip(&f.c, SPAN(zeros, n), &gzip));
    assert_true(gzip.n < 1000);
    assert_ok(http_inflate(&f.c, SPAN_LIT("gzip"), gzip, n, &plain));
    assert_true(span_eq(plain, SPAN(zeros, n)));
    assert_rc(http_inflate(&f.c, SPAN_LIT("gzip"), gzip, n - 1, &plain), SHEAF_TOO_LARGE);
    assert_null(plain.p);
    assert_ok(http_inflate(&f.c, SPAN_LIT("identity"), SPAN(zeros, n), n, &plain));
    assert_rc(http_inflate(&f.c, SPAN_NONE, SPAN(zeros, n), n - 1, &plain), SHEAF_TOO_LARGE);
    free(zeros);
    arena_deinit(&f.arena);
}

/* 1 GiB of zeros in a megabyte: refused, and never more memory than the ceiling at a time. */
static void test_inflate__refuses_a_bomb_within_the_ceiling(void **state)
{
    (void)state;
    struct fixture f;
    struct arena source;
    sheaf_error err;
    arena_init(&source, 64 << 20);
    struct ctx c = {&source, &err};
    span member, plain;
    static uint8_t zeros[1 << 20];
    assert_ok(http_gzip(&c, SPAN(zeros, sizeof zeros), &member));
    struct buf bomb;
    buf_init(&bomb, NULL, 16 << 20);
    for (int i = 0; i < 1024; i++) buf_put_span(&bomb, member);
    begin(&f);
    size_t max = 16 << 20;
    arena_init(&f.arena, max + 4096);
    assert_rc(http_inflate(&f.c, SPAN_LIT("gzip"), buf_span(&bomb), max, &plain), SHEAF_TOO_LARGE);
    buf_deinit(&bomb);
    arena_deinit(&f.arena);
    arena_deinit(&source);
}

static void test_gzip__comes_back_as_it_was(void **state)
{
    (void)state;
    uint64_t x = test_seed(3);
    for (size_t n = 0; n < 5000; n = n * 2 + 1) {
        struct fixture f;
        begin(&f);
        uint8_t bytes[5000];
        for (size_t i = 0; i < n; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (uint8_t)((x >> 60) + 'a');
        }
        span gzip, plain;
        assert_ok(http_gzip(&f.c, SPAN(bytes, n), &gzip));
        assert_ok(http_inflate(&f.c, SPAN_LIT("gzip"), gzip, 5000, &plain));
        assert_true(span_eq(plain, SPAN(bytes, n)));
        arena_deinit(&f.arena);
    }
}

static void test_inflate__fails_cleanly_at_every_allocation(void **state)
{
    (void)state;
    uint8_t bytes[64];
    size_t n = test_hex("1F8B08000000000002FFCB48CDC9C9070086A6103605000000", bytes, sizeof bytes);
    for (uint64_t nth = 1;; nth++) {
        struct fixture f;
        begin(&f);
        span plain, gzip;
        mem_fail_at(nth, false);
        sheaf_rc rc = http_inflate(&f.c, SPAN_LIT("gzip"), SPAN(bytes, n), 1000, &plain);
        if (rc == SHEAF_OK) rc = http_gzip(&f.c, plain, &gzip);
        mem_fail_at(0, false);
        arena_deinit(&f.arena);
        if (rc == SHEAF_OK) {
            assert_true(nth > 3);
            return;
        }
        assert_int_equal(rc, SHEAF_NOMEM);
    }
}

static void test_takes_gzip__reads_accept_encoding(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        bool want;
    } rows[] = {
        {"", false},
        {"gzip", true},
        {"GZIP", true},
        {"x-gzip", true},
        {"identity", false},
        {"deflate, br", false},
        {"gzip, deflate, br", true},
        {"deflate,gzip", true},
        {"deflate;q=1.0, gzip;q=0.5", true},
        {"gzip;q=0", false},
        {"gzip; q=0.000", false},
        {"gzip;q=0.001", true},
        {"gzip ; q = 0", false},
        {"*", true},
        {"*;q=0", false},
        {"gzip;q=0, *", false},
        {"*, gzip;q=0", false},
        {"*;q=0, gzip", true},
        {"identity;q=1, *;q=0", false},
        {"gzipx", false},
        {",,gzip,,", true},
        {";", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (http_takes_gzip(span_cstr(rows[i].accept)) != rows[i].want)
            fail_msg("Accept-Encoding: %s", rows[i].accept);
    assert_false(http_takes_gzip(SPAN_NONE));
}

static void test_crc32__is_the_one_of_gzip(void **state)
{
    (void)state;
    assert_int_equal(http_crc32(SPAN_LIT("")), 0);
    assert_int_equal(http_crc32(SPAN_LIT("123456789")), 0xcbf43926);
    assert_int_equal(http_crc32(SPAN_LIT("{}")), 2745614147);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inflate__reads_what_others_wrote),
        cmocka_unit_test(test_inflate__holds_its_ceiling_at_n_and_n_plus_1),
        cmocka_unit_test(test_inflate__refuses_a_bomb_within_the_ceiling),
        cmocka_unit_test(test_gzip__comes_back_as_it_was),
        cmocka_unit_test(test_inflate__fails_cleanly_at_every_allocation),
        cmocka_unit_test(test_takes_gzip__reads_accept_encoding),
        cmocka_unit_test(test_crc32__is_the_one_of_gzip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
