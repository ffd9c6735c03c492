/* What is signed is verified; a changed bit of what was signed is not. */
#include "support/support.h"

#include "base/rng.h"
#include "support/signing.h"

/* A text of the arena's, of bytes that a header, path or query may hold. */
static span draw(struct signing *s, struct rng *rng, const char *letters, size_t max)
{
    size_t n = rng_below(rng, max + 1);
    char *p = (char *)arena_bytes(&s->arena, n + 1);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++) p[i] = letters[rng_below(rng, strlen(letters))];
    return SPAN(p, n);
}

static void draw_request(struct signing *s, struct rng *rng)
{
    static const char path[] = "/./..//ab%2e20~-_+!\xC3\xA9",
                      query[] = "ab&&==%20%7e+/?\xE2\x82\xAC";
    static const char value[] = "aZ09  \t,;=\"/\xC3\xBC";
    static const char *const names[] = {"X-One",  "x-two", "X-Amz-Meta",
                                        "ACCEPT", "x-one", "Cookie"};
    s->r.path = draw(s, rng, path, 12);
    s->r.query = rng_below(rng, 2) ? draw(s, rng, query, 24) : SPAN_NONE;
    s->r.body = draw(s, rng, value, 200);
    for (uint64_t i = rng_below(rng, 7); i > 0; i--)
        s->headers[s->r.n_headers++] =
            (struct sig_header){span_cstr(names[rng_below(rng, 6)]), draw(s, rng, value, 20)};
}

static void test_sig_sign__is_what_sig_verify_takes(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, test_seed(3));
    for (uint64_t i = 0; i < test_rounds(5000); i++) {
        struct signing s;
        bool has_token = rng_below(&rng, 2);
        signing_init(&s, has_token ? "session_token = some/token==\n" : "");
        draw_request(&s, &rng);
        signing_sign(&s, has_token ? "some/token==" : NULL);
        if (signing_verify(&s, 0) != SHEAF_OK) fail_msg("round %d: %s", (int)i, s.err.message);
        signing_deinit(&s);
    }
}

/* A copy of *text with one bit changed. */
static void flip(struct signing *s, span *text, size_t bit)
{
    uint8_t *copy = arena_bytes(&s->arena, text->n);
    assert_non_null(copy);
    memcpy(copy, text->p, text->n);
    copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
    *text = SPAN(copy, text->n);
}

static bool is_among(span name, const char *const *names)
{
    for (; *names; names++) {
        if (span_eq(name, span_cstr(*names))) return true;
    }
    return false;
}

/* Changes each bit of one text of the request in turn; of a name, all but the bit of the case. */
static size_t refuse_flips(struct signing *s, span *text, const char *what, bool is_name)
{
    span whole = *text;
    for (size_t bit = 0; bit < 8 * whole.n; bit++) {
        if (is_name && bit % 8 == 5) continue;
        struct arena_mark mark = arena_mark(&s->arena);
        flip(s, text, bit);
        if (signing_verify(s, 0) == SHEAF_OK) fail_msg("%s: bit %zu", what, bit);
        *text = whole;
        arena_rewind(&s->arena, mark);
    }
    return 8 * whole.n;
}

/* Every bit of the method, path, query, body, signature, and of signed names and values. */
static void test_sig_verify__refuses_a_changed_bit_anywhere(void **state)
{
    (void)state;
    static const char *const unsigned_names[] = {"User-Agent", NULL};
    struct signing s;
    signing_init(&s, "session_token = token\n");
    s.r.path = SPAN_LIT("/some/path");
    s.r.query = SPAN_LIT("one=1&two=2");
    signing_set(&s, "X-Amz-Meta", "a b");
    signing_sign(&s, "token");
    assert_ok(signing_verify(&s, 0));
    size_t n = refuse_flips(&s, &s.r.method, "method", false);
    n += refuse_flips(&s, &s.r.path, "path", false);
    n += refuse_flips(&s, &s.r.query, "query", false);
    n += refuse_flips(&s, &s.r.body, "body", false);
    for (uint32_t i = 0; i < s.r.n_headers; i++) {
        struct sig_header *h = &s.headers[i];
        if (is_among(h->name, unsigned_names)) continue;
        n += refuse_flips(&s, &h->name, h->name.p, true);
        if (!span_eq(h->name, SPAN_LIT("Authorization"))) {
            n += refuse_flips(&s, &h->value, h->name.p, false);
            continue;
        }
        const char *signature = strstr(h->value.p, "Signature=");
        assert_non_null(signature);
        span whole = h->value;
        for (const char *p = signature + 10; *p; p++) {
            for (int bit = 0; bit < 8; bit++, n++) {
                struct arena_mark mark = arena_mark(&s.arena);
                flip(&s, &h->value, 8 * (size_t)(p - (const char *)whole.p) + (size_t)bit);
                assert_int_not_equal(signing_verify(&s, 0), SHEAF_OK);
                h->value = whole;
                arena_rewind(&s.arena, mark);
            }
        }
    }
    assert_ok(signing_verify(&s, 0));
    printf("%zu changed bits refused\n", n);
    signing_deinit(&s);
}

static void test_sig_verify__passes_over_what_is_not_signed(void **state)
{
    (void)state;
    static const char *const names[] = {"User-Agent", "Connection", "Expect", "Transfer-Encoding",
                                        "X-Amzn-Trace-Id"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct signing s;
        signing_init(&s, "");
        signing_set(&s, names[i], "before");
        signing_sign(&s, NULL);
        signing_set(&s, names[i], "after");
        assert_ok(signing_verify(&s, 0));
        signing_deinit(&s);
    }
}

static void test_sig_sign__knows_the_other_secret(void **state)
{
    (void)state;
    struct signing s;
    signing_init(&s, "");
    sig_secret_free(s.secret);
    s.secret = sig_secret_new(SPAN_LIT("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEZ"));
    signing_sign(&s, NULL);
    assert_rc(signing_verify(&s, 0), SHEAF_INVALID_SIGNATURE);
    signing_deinit(&s);
}

static void test_sig_sign__refuses_a_region_that_no_one_has(void **state)
{
    (void)state;
    static const char name[] = "a-region-a-region-a-region-a-region-a-region-a-region-a-region-a-r";
    struct signing s;
    signing_init(&s, "");
    for (size_t n = 63; n <= 65; n++) {
        struct sig_credentials who = {SPAN_LIT(SIGNING_ID), s.secret, SPAN_NONE, SPAN(name, n)};
        struct sig_headers out;
        assert_rc(sig_sign(&s.c, &who, &s.r, 0, &out), n <= 64 ? SHEAF_OK : SHEAF_VALIDATION);
    }
    signing_deinit(&s);
}

static void test_sig_sign__says_when_memory_is_out(void **state)
{
    (void)state;
    struct signing s;
    signing_init(&s, "");
    struct sig_credentials who = {SPAN_LIT(SIGNING_ID), s.secret, SPAN_NONE, SPAN_LIT("us-east-1")};
    size_t refused = 0;
    for (size_t ceiling = 0;; ceiling += 64, refused++) {
        struct arena small;
        arena_init(&small, ceiling);
        struct ctx c = {&small, &s.err};
        struct sig_headers out;
        sheaf_rc rc = sig_sign(&c, &who, &s.r, 0, &out);
        arena_deinit(&small);
        if (rc == SHEAF_OK) break;
        assert_int_equal(rc, SHEAF_NOMEM);
        assert_null(out.authorization.p);
    }
    assert_true(refused > 0);
    signing_deinit(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sig_sign__is_what_sig_verify_takes),
        cmocka_unit_test(test_sig_verify__refuses_a_changed_bit_anywhere),
        cmocka_unit_test(test_sig_verify__passes_over_what_is_not_signed),
        cmocka_unit_test(test_sig_sign__knows_the_other_secret),
        cmocka_unit_test(test_sig_sign__refuses_a_region_that_no_one_has),
        cmocka_unit_test(test_sig_sign__says_when_memory_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
