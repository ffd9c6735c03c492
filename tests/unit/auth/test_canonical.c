/* The canonical request, line by line, as the published rules of Signature Version 4 have it. */
#include "support/support.h"

#include "auth/canonical.h"
#include "base/rng.h"

#define PAYLOAD "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static struct arena arena;
static sheaf_error err;
static struct ctx c = {&arena, &err};

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static span canonical(const char *path, const char *query, const struct sig_pair *headers, size_t n)
{
    struct sig_input in = {.method = SPAN_LIT("GET"),
                           .path = span_cstr(path),
                           .query = span_cstr(query),
                           .headers = headers,
                           .n_headers = n,
                           .payload = PAYLOAD};
    span text;
    assert_ok(sig_canonical(&c, &in, &text));
    return text;
}

/* Line `n`, from 0. */
static span line_of(span text, int n)
{
    const char *p = text.p, *end = p + text.n;
    for (; n > 0; n--) p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
    const char *to = memchr(p, '\n', (size_t)(end - p));
    return SPAN(p, (size_t)((to ? to : end) - p));
}

static void test_sig_canonical__is_drawn_in_the_header(void **state)
{
    (void)state;
    const struct sig_pair headers[] = {
        {SPAN_LIT("host"), SPAN_LIT("localhost:8000")},
        {SPAN_LIT("x-amz-date"), SPAN_LIT("20150830T123600Z")},
        {SPAN_LIT("x-amz-target"), SPAN_LIT("DynamoDB_20120810.ListTables")}};
    assert_span(canonical("/", "", headers, 3), "GET\n/\n\nhost:localhost:8000\nx-amz-date:"
                                                "20150830T123600Z\nx-amz-target:"
                                                "DynamoDB_20120810.ListTables\n\n"
                                                "host;x-amz-date;x-amz-target\n" PAYLOAD);
}

static void test_sig_canonical__normalises_and_encodes_the_path(void **state)
{
    (void)state;
    static const struct {
        const char *path, *want;
    } rows[] = {
        {"", "/"},
        {"/", "/"},
        {"//", "/"},
        {"/.", "/"},
        {"/..", "/"},
        {"/../..", "/"},
        {"/a/..", "/"},
        {"/a/../", "/"},
        {"/a/../b", "/b"},
        {"/a/b/..", "/a"},
        {"/a/b/../", "/a/"},
        {"/a/./b", "/a/b"},
        {"/./a", "/a"},
        {"//a//b//", "/a/b/"},
        {"/a/", "/a/"},
        {"/a/.", "/a"},
        {"/...", "/..."},
        {"/a b", "/a%20b"},
        {"/a%20b", "/a%2520b"}, /* what is encoded is encoded again */
        {"/%2e%2e/a", "/%252e%252e/a"},
        {"/-_.~AZaz09", "/-_.~AZaz09"},
        {"/\xE1\x88\xB4", "/%E1%88%B4"},
        {"/a+b=c&d;e,f:g@h!i$j'k(l)m*n", "/a%2Bb%3Dc%26d%3Be%2Cf%3Ag%40h%21i%24j%27k%28l%29m%2An"},
        {"a/b", "a/b"},
        {"*", "%2A"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        span got = line_of(canonical(rows[i].path, "", NULL, 0), 1);
        if (!span_eq(got, span_cstr(rows[i].want)))
            fail_msg("%s: %.*s", rows[i].path, SPAN_ARG(got));
    }
}

static void test_sig_canonical__sorts_and_recodes_the_query(void **state)
{
    (void)state;
    static const struct {
        const char *query, *want;
    } rows[] = {
        {"", ""},
        {"a=b", "a=b"},
        {"a", "a="},
        {"a=", "a="},
        {"b=1&a=2", "a=2&b=1"},
        {"a=2&a=1", "a=1&a=2"},         /* by value where names are equal */
        {"B=1&a=2&A=3", "A=3&B=1&a=2"}, /* by byte, not by letter */
        {"a-b=1&a=2", "a=2&a-b=1"},     /* the name decides, not "a-b=" against "a=" */
        {"a=b=c", "a=b%3Dc"},
        {"a=%20", "a=%20"},
        {"a=%2f", "a=%2F"},
        {"a=%7E&%41=1", "A=1&a=~"},
        {"\xE1\x88\xB4=bar", "%E1%88%B4=bar"},
        {"a=%", "a=%25"},
        {"a=%4", "a=%254"},
        {"a=%zz", "a=%25zz"},
        {"a=1+2", "a=1%2B2"},
        {"&&a=1&", "a=1"},
        {"=v", "=v"},
        {"-_.~=-_.~", "-_.~=-_.~"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        span got = line_of(canonical("/", rows[i].query, NULL, 0), 2);
        if (!span_eq(got, span_cstr(rows[i].want)))
            fail_msg("%s: %.*s", rows[i].query, SPAN_ARG(got));
    }
}

static void test_sig_canonical__trims_collapses_and_joins_headers(void **state)
{
    (void)state;
    const struct sig_pair headers[] = {
        {SPAN_LIT("a"), SPAN_LIT("  x \t y  ")}, {SPAN_LIT("b"), SPAN_LIT("\"q   q\"")},
        {SPAN_LIT("c"), SPAN_LIT("2")},          {SPAN_LIT("c"), SPAN_LIT(" 1 ")},
        {SPAN_LIT("c"), SPAN_LIT("2")},          {SPAN_LIT("d"), SPAN_LIT("")},
        {SPAN_LIT("e"), SPAN_LIT(" \t ")},       {SPAN_LIT("f"), SPAN_NONE}};
    assert_span(canonical("/", "", headers, 8), "GET\n/\n\na:x y\nb:\"q q\"\nc:2,1,2\nd:\ne:\nf:\n"
                                                "\na;b;c;d;e;f\n" PAYLOAD);
}

/* At every place of values of every length around a machine word. */
static void test_sig_canonical__finds_white_space_anywhere(void **state)
{
    (void)state;
    static const char spaces[] = " \t\n\v\f\r";
    for (size_t n = 3; n < 28; n++) {
        for (size_t at = 1; at + 2 < n; at++) {
            for (size_t i = 0; i < 36; i++) {
                char value[32], want[64];
                memset(value, i % 2 ? 'a' : '\xFF', n);
                value[at] = spaces[i / 6];
                value[at + 1] = spaces[i % 6];
                snprintf(want, sizeof want, "GET\n/\n\nh:%.*s %.*s\n\nh\n", (int)at, value,
                         (int)(n - at - 2), value + at + 2);
                const struct sig_pair header = {SPAN_LIT("h"), SPAN(value, n)};
                assert_true(span_starts(canonical("/", "", &header, 1), span_cstr(want)));
                arena_reset(&arena);
            }
        }
    }
}

static void test_sig_sort__is_stable_at_any_length(void **state)
{
    (void)state;
    static const char letters[] = "abcdefgh";
    static const char digits[] = "0123456789";
    struct rng rng;
    rng_init(&rng, test_seed(2));
    for (size_t n = 0; n < 70; n++) {
        struct sig_pair pairs[70], sorted[70];
        for (size_t i = 0; i < n; i++)
            pairs[i] = (struct sig_pair){SPAN(letters + rng_below(&rng, 8), 1),
                                         SPAN(digits + rng_below(&rng, 10), 1)};
        memcpy(sorted, pairs, sizeof pairs);
        assert_true(sig_sort(&arena, sorted, n, false));
        size_t at = 0;
        for (const char *letter = letters; *letter; letter++) {
            for (size_t i = 0; i < n; i++) {
                if (*(const char *)pairs[i].name.p != *letter) continue;
                assert_memory_equal(&sorted[at], &pairs[i], sizeof pairs[i]);
                at++;
            }
        }
        assert_int_equal(at, n);
        assert_true(sig_sort(&arena, sorted, n, true));
        for (size_t i = 1; i < n; i++) {
            int by_name = span_cmp(sorted[i - 1].name, sorted[i].name);
            assert_true(by_name < 0 ||
                        (by_name == 0 && span_cmp(sorted[i - 1].value, sorted[i].value) <= 0));
        }
        arena_reset(&arena);
    }
}

static void test_sig_string_to_sign__names_the_scope(void **state)
{
    (void)state;
    struct sig_input in = {.method = SPAN_LIT("GET"),
                           .path = SPAN_LIT("/"),
                           .payload = PAYLOAD,
                           .stamp = SPAN_LIT("20150830T123600Z"),
                           .region = SPAN_LIT("eu-west-1")};
    span text, request;
    uint8_t hash[SIG_HASH];
    char hex[SIG_HEX], want[256];
    assert_ok(sig_canonical(&c, &in, &request));
    assert_ok(sig_sha256(&err, request, hash));
    sig_hex(hash, hex);
    assert_ok(sig_string_to_sign(&c, &in, &text));
    snprintf(want, sizeof want,
             "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/eu-west-1/dynamodb/aws4_request\n%.64s",
             hex);
    assert_span(text, want);
}

static void test_sig_canonical__says_when_memory_is_out(void **state)
{
    (void)state;
    static char query[20000];
    memset(query, '&', sizeof query - 1);
    for (size_t i = 0; i < sizeof query - 1; i += 2) query[i] = (char)('z' - i % 26);
    struct sig_input in = {.path = SPAN_LIT("/"), .query = span_cstr(query), .payload = PAYLOAD};
    size_t refused = 0;
    for (size_t ceiling = 1000;; ceiling += 10000) {
        struct arena small;
        arena_init(&small, ceiling);
        struct ctx tight = {&small, &err};
        span text;
        sheaf_rc rc = sig_canonical(&tight, &in, &text);
        arena_deinit(&small);
        if (rc == SHEAF_OK) break;
        assert_int_equal(rc, SHEAF_NOMEM);
        refused++;
    }
    assert_true(refused > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sig_canonical__is_drawn_in_the_header),
        cmocka_unit_test(test_sig_canonical__normalises_and_encodes_the_path),
        cmocka_unit_test(test_sig_canonical__sorts_and_recodes_the_query),
        cmocka_unit_test(test_sig_canonical__trims_collapses_and_joins_headers),
        cmocka_unit_test(test_sig_canonical__finds_white_space_anywhere),
        cmocka_unit_test(test_sig_sort__is_stable_at_any_length),
        cmocka_unit_test(test_sig_string_to_sign__names_the_scope),
        cmocka_unit_test(test_sig_canonical__says_when_memory_is_out),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
