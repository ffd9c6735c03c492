/* Random and mutated documents, read by us and by simdjson: the same verdict, and the same events
 *
 *      { … }  [ … ]  s5:hello  t  f  n  d-12;  x0x1.8p+1;      texts with their length, integers,
 *                                                              other numbers as doubles
 *
 * Where the two differ on purpose, and how that is told apart:
 *  - a repeated name: we refuse it, by its message;
 *  - nesting: we take 256, simdjson 1,024; by our message;
 *  - a number outside 64 bits or double: we give its digits, simdjson refuses; such documents count
 *    as skipped when simdjson names the number.
 */
#include "support/support.h"

#include "base/rng.h"
#include "json/json.h"
#include "json/simdjson.h"

struct reading {
    struct json j;
    sheaf_error err;
    struct ctx ctx;
    struct buf out;
};

static void put_text(struct buf *out, span text)
{
    buf_printf(out, "s%zu:", text.n);
    buf_put_span(out, text);
}

static void put_number(struct buf *out, span digits)
{
    char text[4096];
    const char *p = digits.p;
    if (digits.n >= sizeof text) return;
    memcpy(text, p, digits.n);
    text[digits.n] = '\0';
    if (strpbrk(text, ".eE"))
        buf_printf(out, "x%a;", strtod(text, NULL));
    else
        buf_printf(out, "d%s;", strcmp(text, "-0") == 0 ? "0" : text);
}

static sheaf_rc events(struct reading *r);

static sheaf_rc object_events(struct reading *r)
{
    span name;
    bool has;
    buf_put_u8(&r->out, '{');
    TRY(json_object(&r->j));
    for (;;) {
        TRY(json_next_name(&r->j, &name, &has));
        if (!has) break;
        put_text(&r->out, name);
        TRY(events(r));
    }
    buf_put_u8(&r->out, '}');
    return SHEAF_OK;
}

static sheaf_rc array_events(struct reading *r)
{
    bool has;
    buf_put_u8(&r->out, '[');
    TRY(json_array(&r->j));
    for (;;) {
        TRY(json_next_element(&r->j, &has));
        if (!has) break;
        TRY(events(r));
    }
    buf_put_u8(&r->out, ']');
    return SHEAF_OK;
}

/* The test may recurse: the reader bounds the depth. */
static sheaf_rc events(struct reading *r)
{
    enum json_kind kind;
    span text;
    bool truth;
    TRY(json_peek(&r->j, &kind));
    switch (kind) {
    case JSON_OBJECT:
        return object_events(r);
    case JSON_ARRAY:
        return array_events(r);
    case JSON_STRING:
        TRY(json_text(&r->j, &text));
        put_text(&r->out, text);
        return SHEAF_OK;
    case JSON_NUMBER:
        TRY(json_number(&r->j, &text));
        put_number(&r->out, text);
        return SHEAF_OK;
    case JSON_BOOL:
        TRY(json_bool(&r->j, &truth));
        buf_put_u8(&r->out, truth ? 't' : 'f');
        return SHEAF_OK;
    case JSON_NULL:
        buf_put_u8(&r->out, 'n');
        return json_null(&r->j);
    }
    return SHEAF_INTERNAL;
}

struct tally {
    uint64_t taken, refused, ours, numbers;
};

static sheaf_rc read_all(struct reading *r, struct arena *a, span doc)
{
    err_clear(&r->err);
    r->ctx = (struct ctx){a, &r->err};
    buf_init(&r->out, a, 16 << 20);
    json_init(&r->j, &r->ctx, doc);
    TRY(events(r));
    return json_end(&r->j);
}

static sheaf_rc skip_all(struct reading *r, span doc)
{
    json_init(&r->j, &r->ctx, doc);
    TRY(json_skip(&r->j, NULL));
    return json_end(&r->j);
}

static void agree(span doc, struct tally *t)
{
    static char theirs[1 << 20];
    static struct reading r;
    struct arena arena;
    size_t n;
    arena_init(&arena, 256 << 20);
    sheaf_rc rc = read_all(&r, &arena, doc);
    bool is_ours = rc == SHEAF_SERIALIZATION && r.err.message[0] != '\0';
    enum simd_verdict verdict = simd_events(doc.p, doc.n, theirs, sizeof theirs, &n);
    if (skip_all(&r, doc) != rc) fail_msg("skip disagrees: %.*s", SPAN_ARG(doc));
    if (is_ours) {
        t->ours++;
    } else if (verdict == SIMD_NUMBER && rc == SHEAF_OK) {
        t->numbers++;
    } else if (verdict == SIMD_TAKEN) {
        if (rc != SHEAF_OK) fail_msg("we alone refuse: %.*s", SPAN_ARG(doc));
        if (!span_eq(buf_span(&r.out), SPAN(theirs, n)))
            fail_msg("%.*s\nours   %.*s\ntheirs %.*s", SPAN_ARG(doc), SPAN_ARG(buf_span(&r.out)),
                     (int)n, theirs);
        t->taken++;
    } else {
        if (rc == SHEAF_OK) fail_msg("we alone take: %.*s", SPAN_ARG(doc));
        t->refused++;
    }
    arena_deinit(&arena);
}

static void print_tally(const struct tally *t)
{
    printf("both took %llu, both refused %llu; refused by our own rules %llu, numbers out of "
           "simdjson's range %llu\n",
           (unsigned long long)t->taken, (unsigned long long)t->refused,
           (unsigned long long)t->ours, (unsigned long long)t->numbers);
}

/* ---- documents ---- */

static void random_value(struct rng *r, struct buf *b, int depth)
{
    static const char *const scalars[] = {"null",
                                          "true",
                                          "false",
                                          "0",
                                          "-1",
                                          "12.5",
                                          "1e3",
                                          "-0.0",
                                          "2E-2",
                                          "9223372036854775807",
                                          "18446744073709551615",
                                          "\"\"",
                                          "\"a\"",
                                          "\"caf\xC3\xA9\"",
                                          "\"\\u00e9\\n\\\\\"",
                                          "\"\\ud834\\udd1e\"",
                                          "\"0123456789abcdef0123456789\"",
                                          "\"\xF0\x9D\x84\x9E\"",
                                          "1e308"};
    static const char *const spaces[] = {"", "", "", " ", "\n\t", "\r "};
    uint64_t kind = rng_below(r, depth > 6 ? 2 : 5);
    if (kind < 3) {
        const char *s = scalars[rng_below(r, sizeof scalars / sizeof scalars[0])];
        buf_put(b, s, strlen(s));
        return;
    }
    buf_put_u8(b, kind == 3 ? '{' : '[');
    for (uint64_t i = 0, n = rng_below(r, 5); i < n; i++) {
        const char *s = spaces[rng_below(r, 6)];
        buf_put(b, s, strlen(s));
        if (i) buf_put_u8(b, ',');
        if (kind == 3)
            buf_printf(b, "\"%c%d\"%s:", (char)('a' + rng_below(r, 26)),
                       (int)(rng_below(r, 4) ? i : 0), s);
        random_value(r, b, depth + 1);
    }
    buf_put_u8(b, kind == 3 ? '}' : ']');
}

static void mutate(struct rng *r, struct buf *b)
{
    static const char bytes[] =
        "\"\\{}[]:,u0189-.eE+tfn abAF\x80\xBF\xC3\xED\xF0\xF4\x01\x1F\x7F\n";
    for (uint64_t k = 1 + rng_below(r, 3); k-- > 0 && b->n > 0;) {
        size_t at = rng_below(r, b->n);
        uint64_t how = rng_below(r, 4);
        if (how == 0) b->n = at;
        if (how == 1) b->p[at] = (uint8_t)bytes[rng_below(r, sizeof bytes - 1)];
        if (how == 2) memmove(b->p + at, b->p + at + 1, --b->n - at);
        if (how == 3 && buf_room(b, 1)) {
            memmove(b->p + at + 1, b->p + at, b->n++ - at);
            b->p[at] = (uint8_t)bytes[rng_below(r, sizeof bytes - 1)];
        }
    }
}

static void test_documents__are_read_alike(void **state)
{
    (void)state;
    struct rng r;
    struct tally t = {0};
    rng_init(&r, test_seed(21));
    for (uint64_t i = 0, rounds = test_rounds(60000); i < rounds; i++) {
        struct buf b;
        buf_init(&b, NULL, 1 << 20);
        random_value(&r, &b, 0);
        if (i % 4) mutate(&r, &b);
        assert_false(b.failed);
        agree(buf_span(&b), &t);
        buf_deinit(&b);
    }
    print_tally(&t);
    assert_true(t.taken > test_rounds(10000) && t.refused > test_rounds(10000));
}

/* Every text of two or three odd bytes between quotes, alone and behind a plain run. */
static void test_texts__are_judged_alike(void **state)
{
    (void)state;
    static const uint8_t odd[] = {0x00, 0x1F, 0x20, '"',  '\\', 'u',  'n',  'a',  0x7F, 0x80,
                                  0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
                                  0xE1, 0xEC, 0xED, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    struct tally t = {0};
    size_t m = sizeof odd;
    for (size_t i = 0; i < m * m * m; i++) {
        for (size_t lead = 0; lead <= 15; lead += 15) {
            uint8_t doc[32];
            doc[0] = '"';
            memset(doc + 1, 'x', lead);
            doc[1 + lead] = odd[i % m];
            doc[2 + lead] = odd[i / m % m];
            doc[3 + lead] = odd[i / m / m];
            doc[4 + lead] = '"';
            agree(SPAN(doc, 5 + lead), &t);
        }
    }
    print_tally(&t);
}

static void test_known_differences__are_these(void **state)
{
    (void)state;
    struct tally t = {0};
    agree(SPAN_LIT("{\"a\":1,\"a\":2}"), &t);
    assert_int_equal(t.ours, 1);
    char deep[600];
    memset(deep, '[', 300);
    memset(deep + 300, ']', 300);
    agree(SPAN(deep, 600), &t);
    assert_int_equal(t.ours, 2);
    agree(SPAN_LIT("[1e999]"), &t);
    agree(SPAN_LIT("123456789012345678901234567890"), &t);
    assert_int_equal(t.numbers, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_documents__are_read_alike),
                                       cmocka_unit_test(test_texts__are_judged_alike),
                                       cmocka_unit_test(test_known_differences__are_these)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
