/* Raw heads and their verdicts: the scan whole, byte by byte and in two pieces, then llhttp. */
#include "heads.h"

#include "http/parse.h"
#include "http/scan.h"
#include "support/support.h"

#include <sys/mman.h>
#include <unistd.h>

static void limits(struct scan *s) { scan_init(s, 64, 128, 4); }
static void wide(struct scan *s) { scan_init(s, 16384, 16384, 100); }

static int verdict_of(const struct scan *s, enum scan_verdict v)
{
    return v == SCAN_DONE ? GOOD : v == SCAN_MORE ? MORE : s->status;
}

/* The head in pieces of `step` bytes, in a block that ends where the piece ends, so that a byte
 * read too far is seen by the sanitizer. */
static int in_pieces(struct scan *s, span head, size_t step)
{
    int v = MORE;
    for (size_t n = 0; v == MORE;) {
        n = n + step < head.n ? n + step : head.n;
        uint8_t *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        if (n) memcpy(copy, head.p, n);
        v = verdict_of(s, scan_head(s, SPAN(copy, n)));
        free(copy);
        if (n == head.n) break;
    }
    return v;
}

static void check(span head, int want, const char *why, void (*init)(struct scan *s))
{
    struct scan s;
    init(&s);
    int got = verdict_of(&s, scan_head(&s, head));
    if (got != want || (why && !(s.why && strstr(s.why, why))))
        fail_msg("%.*s: got %d (%s), wanted %d (%s)", SPAN_ARG(head), got, s.why ? s.why : "", want,
                 why ? why : "");
    for (size_t step = 1; step <= head.n; step++) {
        struct scan t;
        init(&t);
        int again = in_pieces(&t, head, step);
        if (again != want || t.why != s.why || (want == GOOD && t.at != s.at))
            fail_msg("%.*s: in pieces of %zu got %d, whole %d", SPAN_ARG(head), step, again, want);
    }
}

static void test_scan__gives_every_head_its_verdict_however_it_is_cut(void **state)
{
    (void)state;
    assert_true(ROWS >= 150);
    for (size_t i = 0; i < ROWS; i++)
        check(span_cstr(rows[i].head), rows[i].want, rows[i].why, wide);
}

static void test_scan__refuses_nul_bytes_anywhere(void **state)
{
    (void)state;
    static const char head[] = GET H "X: abc\r\n" E;
    for (size_t at = 0; at + 4 < sizeof head - 1; at++) {
        char copy[sizeof head];
        memcpy(copy, head, sizeof head);
        copy[at] = 0;
        struct scan s;
        wide(&s);
        assert_int_equal(scan_head(&s, SPAN(copy, sizeof head - 1)), SCAN_REFUSED);
        assert_int_equal(s.status, 400);
    }
}

/* What the scan accepts, llhttp reads the same way. */
static void test_parse__agrees_with_the_scan_on_every_good_head(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].want != GOOD) continue;
        struct scan s;
        wide(&s);
        assert_int_equal(scan_head(&s, span_cstr(rows[i].head)), SCAN_DONE);
        struct arena a;
        arena_init(&a, 1 << 20);
        span copy = arena_dup(&a, SPAN(rows[i].head + s.start_at, (size_t)(s.at - s.start_at)));
        struct http_request r = {.n_headers = 0};
        int status = parse_head(&a, (uint8_t *)(uintptr_t)copy.p, copy.n, &s, &r);
        if (status) fail_msg("%s: llhttp says %d", rows[i].head, status);
        assert_int_equal(r.n_headers, s.n_headers);
        arena_deinit(&a);
    }
}

static void test_parse__lowers_names_and_trims_values(void **state)
{
    (void)state;
    static const char head[] =
        "POST /p?q HTTP/1.1\r\nHOST: x\r\nX-Amz-Target:\t A b \t\r\nE:\r\n\r\n";
    struct scan s;
    wide(&s);
    assert_int_equal(scan_head(&s, span_cstr(head)), SCAN_DONE);
    struct arena a;
    arena_init(&a, 1 << 20);
    span copy = arena_dup(&a, span_cstr(head));
    struct http_request r;
    assert_int_equal(parse_head(&a, (uint8_t *)(uintptr_t)copy.p, copy.n, &s, &r), 0);
    assert_span(r.method, "POST");
    assert_span(r.target, "/p?q");
    assert_span(r.path, "/p");
    assert_span(r.query, "q");
    assert_int_equal(r.n_headers, 3);
    assert_span(r.headers[0].name, "host");
    assert_span(r.headers[1].name, "x-amz-target");
    assert_span(r.headers[1].value, "A b");
    assert_span(r.headers[2].name, "e");
    assert_span(r.headers[2].value, "");
    assert_non_null(r.headers[2].value.p);
    arena_deinit(&a);
}

static void test_parse__splits_targets(void **state)
{
    (void)state;
    static const struct {
        const char *target, *path, *query;
    } t[] = {
        {"/", "/", NULL},
        {"/a/b", "/a/b", NULL},
        {"/a?", "/a", ""},
        {"/a?b?c", "/a", "b?c"},
        {"*", "*", NULL},
        {"http://x", "/", NULL},
        {"http://x?q", "/", "q"},
        {"https://x:1/a?b", "/a", "b"},
        {"http://[::1]:8000/p", "/p", NULL},
        {"http://x/?q", "/", "q"},
        {"//a", "//a", NULL},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        span path, query;
        parse_target(span_cstr(t[i].target), &path, &query);
        assert_span(path, t[i].path);
        if (t[i].query)
            assert_span(query, t[i].query);
        else
            assert_null(query.p);
    }
}

static void test_scan__tells_what_decides_the_body(void **state)
{
    (void)state;
    struct scan s;
    wide(&s);
    assert_int_equal(scan_head(&s, SPAN_LIT(POST H "Content-Length: 123\r\nConnection: a, Close\r\n"
                                                   "Expect: 100-continue\r\n" E)),
                     SCAN_DONE);
    assert_true(s.has_length && s.length == 123 && !s.is_chunked && s.wants_close && s.expects_100);
    wide(&s);
    assert_int_equal(scan_head(&s, SPAN_LIT("POST / HTTP/1.0\r\nConnection: Keep-Alive\r\n"
                                            "Expect: 100-continue\r\n" E)),
                     SCAN_DONE);
    assert_true(s.is_http10 && s.wants_keep_alive && !s.expects_100 && !s.has_length);
}

/* N passes, N + 1 is refused, whole and in pieces. */
static void limit_row(const char *before, size_t fill, const char *after, int want)
{
    char head[1024];
    int n = snprintf(
        head, sizeof head, "%s%.*s%s", before, (int)fill,
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        after);
    check(SPAN(head, (size_t)n), want, NULL, limits);
}

static void test_scan__holds_its_limits_at_n_and_n_plus_1(void **state)
{
    (void)state;
    /* "GET /" + fill + " HTTP/1.1" is 14 + fill bytes; 64 are allowed. */
    limit_row("GET /", 50, " HTTP/1.1\r\n" H E, GOOD);
    limit_row("GET /", 51, " HTTP/1.1\r\n" H E, 414);
    limit_row("GET /", 60, "", 414);
    limit_row("GET /", 59, "", MORE);
    /* "Host: x\r\n" 9, "X: " 3, CRLF 2: 14 + fill bytes of headers; 128 are allowed. */
    limit_row(GET H "X: ", 114, "\r\n" E, GOOD);
    limit_row(GET H "X: ", 115, "\r\n" E, 431);
    limit_row(GET H "X: ", 116, "", MORE);
    limit_row(GET H "X: ", 117, "", 431);
    limit_row(GET H "A: 1\r\nB: 2\r\nC: ", 1, "\r\n" E, GOOD);
    limit_row(GET H "A: 1\r\nB: 2\r\nC: 3\r\nD: ", 1, "\r\n" E, 431);
}

static void test_scan_control__and_its_plain_twin_see_the_same(void **state)
{
    (void)state;
    uint64_t seed = test_seed(7), x = seed;
    for (uint64_t round = 0; round < test_rounds(20000); round++) {
        uint8_t bytes[80];
        for (size_t i = 0; i < sizeof bytes; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            uint8_t c = (uint8_t)(x >> 56);
            bytes[i] = (x >> 40) % 16 && (c < 32 || c == 127) ? 'a' : c;
        }
        size_t n = (size_t)(x >> 33) % (sizeof bytes + 1), from = n ? (size_t)(x >> 21) % n : 0;
        assert_int_equal(scan_control(bytes, n, from), scan_control_plain(bytes, n, from));
    }
    for (unsigned c = 0; c < 256; c++) {
        uint8_t bytes[40];
        memset(bytes, 'a', sizeof bytes);
        bytes[21] = (uint8_t)c;
        bool is_control = (c < 32 && c != '\t') || c == 127;
        assert_int_equal(scan_control(bytes, 40, 0), is_control ? 21 : 40);
        assert_int_equal(scan_control_plain(bytes, 40, 0), is_control ? 21 : 40);
    }
}

/* Never a byte behind the end: the bytes end at a page that cannot be read. */
static void test_scan__reads_no_byte_behind_the_end(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p + page, page, PROT_NONE), 0);
    for (size_t i = 0; i < ROWS; i++) {
        size_t n = strlen(rows[i].head);
        memcpy(p + page - n, rows[i].head, n);
        struct scan s;
        wide(&s);
        assert_int_equal(verdict_of(&s, scan_head(&s, SPAN(p + page - n, n))), rows[i].want);
    }
    munmap(p, 2 * page);
}

static void test_scan_is_token__is_the_set_of_rfc_9110(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        bool want = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z' && c < 128) ||
                    (c && c < 128 && strchr("!#$%&'*+-.^_`|~", (int)c));
        assert_int_equal(scan_is_token((uint8_t)c), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan__gives_every_head_its_verdict_however_it_is_cut),
        cmocka_unit_test(test_scan__refuses_nul_bytes_anywhere),
        cmocka_unit_test(test_parse__agrees_with_the_scan_on_every_good_head),
        cmocka_unit_test(test_parse__lowers_names_and_trims_values),
        cmocka_unit_test(test_parse__splits_targets),
        cmocka_unit_test(test_scan__tells_what_decides_the_body),
        cmocka_unit_test(test_scan__holds_its_limits_at_n_and_n_plus_1),
        cmocka_unit_test(test_scan_control__and_its_plain_twin_see_the_same),
        cmocka_unit_test(test_scan__reads_no_byte_behind_the_end),
        cmocka_unit_test(test_scan_is_token__is_the_set_of_rfc_9110),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
