/* Chunked bodies and their verdicts, whole and in pieces of every size. */
#include "base/buf.h"
#include "http/body.h"
#include "support/support.h"

enum { MORE = -1, GOOD = 0 };

struct row {
    const char *bytes;
    int want;
    const char *data; /* what came out, when good */
    const char *rest; /* what is left behind the body, when good */
};

static const struct row rows[] = {
    {"0\r\n\r\n", GOOD, "", ""},
    {"5\r\nhello\r\n0\r\n\r\n", GOOD, "hello", ""},
    {"5\r\nhello\r\n0\r\n\r\nGET /", GOOD, "hello", "GET /"},
    {"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", GOOD, "hello world", ""},
    {"a\r\n0123456789\r\n0\r\n\r\n", GOOD, "0123456789", ""},
    {"A\r\n0123456789\r\n0\r\n\r\n", GOOD, "0123456789", ""},
    {"000a\r\n0123456789\r\n000\r\n\r\n", GOOD, "0123456789", ""},
    {"0000000000000001\r\nx\r\n0\r\n\r\n", GOOD, "x", ""},
    {"1;\r\nx\r\n0\r\n\r\n", GOOD, "x", ""},
    {"1;a\r\nx\r\n0\r\n\r\n", GOOD, "x", ""},
    {"1;a=b;c=\"d e\"\r\nx\r\n0;last\r\n\r\n", GOOD, "x", ""},
    {"1\r\nx\r\n0\r\nA: b\r\n\r\n", GOOD, "x", ""},
    {"1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\nrest", GOOD, "x", "rest"},
    {"1\r\nx\r\n0\r\nContent-Length: 99\r\nHost: evil\r\n\r\n", GOOD, "x", ""},
    {"2\r\n\r\n\r\n0\r\n\r\n", GOOD, "\r\n", ""},
    {"", MORE, NULL, NULL},
    {"5", MORE, NULL, NULL},
    {"5\r", MORE, NULL, NULL},
    {"5\r\nhel", MORE, NULL, NULL},
    {"5\r\nhello", MORE, NULL, NULL},
    {"5\r\nhello\r\n", MORE, NULL, NULL},
    {"5\r\nhello\r\n0\r\n", MORE, NULL, NULL},
    {"5\r\nhello\r\n0\r\n\r", MORE, NULL, NULL},
    {"5\r\nhello\r\n0\r\nA: b\r\n", MORE, NULL, NULL},
    /* sizes */
    {"\r\n", 400, NULL, NULL},
    {";a\r\n", 400, NULL, NULL},
    {"g\r\n", 400, NULL, NULL},
    {"-1\r\n", 400, NULL, NULL},
    {"+1\r\n", 400, NULL, NULL},
    {" 1\r\n", 400, NULL, NULL},
    {"1 \r\n", 400, NULL, NULL},
    {"1\t\r\n", 400, NULL, NULL},
    {"0x1\r\n", 400, NULL, NULL},
    {"1g\r\n", 400, NULL, NULL},
    {"1,\r\n", 400, NULL, NULL},
    {"00000000000000001\r\n", 400, NULL, NULL},
    {"10000000000000000\r\n", 400, NULL, NULL},
    {"fffffffffffffffff\r\n", 400, NULL, NULL},
    /* line ends */
    {"1\nx\n0\n\n", 400, NULL, NULL},
    {"1\r\rx", 400, NULL, NULL},
    {"1;a\n", 400, NULL, NULL},
    {"1\r\nx\n0\r\n\r\n", 400, NULL, NULL},
    {"1\r\nxy\r\n", 400, NULL, NULL},
    {"1\r\nx\rz", 400, NULL, NULL},
    {"1\r\nx0\r\n\r\n", 400, NULL, NULL},
    {"0\r\n\n", 400, NULL, NULL},
    {"0\r\n\rx", 400, NULL, NULL},
    {"0\r\nA: b\n\r\n", 400, NULL, NULL},
    {"0\r\nA: b\rx", 400, NULL, NULL},
    /* extensions and trailers */
    {"1;a\x01\r\n", 400, NULL, NULL},
    {"1;a\x7f\r\n", 400, NULL, NULL},
    {"0\r\n: b\r\n\r\n", 400, NULL, NULL},
    {"0\r\nA\r\n\r\n", 400, NULL, NULL},
    {"0\r\nA : b\r\n\r\n", 400, NULL, NULL},
    {"0\r\n A: b\r\n\r\n", 400, NULL, NULL},
    {"0\r\nA: b\r\n c\r\n\r\n", 400, NULL, NULL},
    {"0\r\nA: \x01\r\n\r\n", 400, NULL, NULL},
    {"0\r\nGET / HTTP/1.1\r\n\r\n", 400, NULL, NULL},
    /* over the limit of 100 bytes */
    {"64\r\n", MORE, NULL, NULL},
    {"65\r\n", 413, NULL, NULL},
    {"1\r\nx\r\n64\r\n", 413, NULL, NULL},
    {"ffffffffffffffff\r\n", 413, NULL, NULL},
    {"1\r\nx\r\nffffffffffffffff\r\n", 413, NULL, NULL},
};

/* In pieces of `step`; what came out in `data`, what was left in *rest_out. */
static int in_pieces(struct chunked *c, span bytes, size_t step, struct buf *data, span *rest_out)
{
    const uint8_t *p = bytes.p;
    for (size_t at = 0; at < bytes.n;) {
        size_t n = bytes.n - at < step ? bytes.n - at : step;
        uint8_t *copy = malloc(n); /* ends where the piece ends */
        assert_non_null(copy);
        memcpy(copy, p + at, n);
        span in = SPAN(copy, n), piece;
        enum chunked_verdict v = CHUNKED_MORE;
        while (in.n && v == CHUNKED_MORE) {
            v = chunked_take(c, &in, &piece);
            buf_put_span(data, piece);
        }
        *rest_out = SPAN(p + at + n - in.n, bytes.n - at - n + in.n);
        free(copy);
        if (v != CHUNKED_MORE) return v == CHUNKED_DONE ? GOOD : c->status;
        at += n;
    }
    return MORE;
}

static int verdict(const char *text, size_t n, uint64_t max, size_t step)
{
    struct chunked c = {.max = max};
    struct buf data;
    span rest;
    buf_init(&data, NULL, 1 << 26);
    int v = in_pieces(&c, SPAN(text, n), step, &data, &rest);
    buf_deinit(&data);
    return v;
}

static void test_chunked__gives_every_body_its_verdict_however_it_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        span bytes = span_cstr(r->bytes);
        for (size_t step = 1; step <= bytes.n + 1; step++) {
            struct chunked c = {.max = 100};
            struct buf data;
            span rest = SPAN_NONE;
            buf_init(&data, NULL, 4096);
            int got = in_pieces(&c, bytes, step, &data, &rest);
            if (got != r->want)
                fail_msg("%s: step %zu: got %d, wanted %d", r->bytes, step, got, r->want);
            if (got == GOOD) {
                assert_span(buf_span(&data), r->data);
                assert_span(rest, r->rest);
            }
            buf_deinit(&data);
        }
    }
}

static void test_chunked__bounds_a_size_line_at_n_and_n_plus_1(void **state)
{
    (void)state;
    char text[1024];
    for (size_t n = CHUNK_LINE_MAX; n <= CHUNK_LINE_MAX + 1; n++) {
        memset(text, 'e', sizeof text);
        memcpy(text, "1;", 2);
        memcpy(text + n, "\r\nx\r\n0\r\n\r\n", 10);
        assert_int_equal(verdict(text, n + 10, 100, 7), n == CHUNK_LINE_MAX ? GOOD : 400);
    }
}

static void test_chunked__bounds_trailers_at_n_and_n_plus_1(void **state)
{
    (void)state;
    static char text[CHUNK_TRAILER_MAX + 64];
    /* Counted: every byte of the trailer but its LF, and the CR of the empty line. */
    for (size_t n = CHUNK_TRAILER_MAX; n <= CHUNK_TRAILER_MAX + 1; n++) {
        memset(text, 'v', sizeof text);
        memcpy(text, "0\r\nA:", 5);
        memcpy(text + 3 + n - 2, "\r\n\r\n", 4);
        assert_int_equal(verdict(text, 3 + n + 2, 100, 999), n == CHUNK_TRAILER_MAX ? GOOD : 431);
    }
}

static void test_chunked__refuses_a_body_of_tiny_chunks(void **state)
{
    (void)state;
    size_t n = 0, chunks = 20000;
    char *text = malloc(chunks * 6 + 8);
    assert_non_null(text);
    for (size_t i = 0; i < chunks; i++, n += 6) memcpy(text + n, "1\r\nx\r\n", 6);
    memcpy(text + n, "0\r\n\r\n", 5);
    assert_int_equal(verdict(text, n + 5, 1 << 20, 4096), 400);
    /* A few of them are fine. */
    size_t few = 1000;
    memcpy(text + few * 6, "0\r\n\r\n", 5);
    assert_int_equal(verdict(text, few * 6 + 5, 1 << 20, 4096), GOOD);
    free(text);
}

static void test_chunked__takes_many_chunks_of_ordinary_size(void **state)
{
    (void)state;
    size_t n = 0, chunks = 4000;
    char *text = malloc(chunks * 140 + 8);
    assert_non_null(text);
    for (size_t i = 0; i < chunks; i++) {
        n += (size_t)sprintf(text + n, "80\r\n%0128d\r\n", (int)i);
    }
    memcpy(text + n, "0\r\n\r\n", 5);
    assert_int_equal(verdict(text, n + 5, 1 << 20, 1000), GOOD);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunked__gives_every_body_its_verdict_however_it_is_cut),
        cmocka_unit_test(test_chunked__bounds_a_size_line_at_n_and_n_plus_1),
        cmocka_unit_test(test_chunked__bounds_trailers_at_n_and_n_plus_1),
        cmocka_unit_test(test_chunked__refuses_a_body_of_tiny_chunks),
        cmocka_unit_test(test_chunked__takes_many_chunks_of_ordinary_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
