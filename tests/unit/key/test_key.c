/* key: places, sort keys as ordered bytes, ranges. Values are judged by value/ (num_cmp, byte
 * order), keys by memcmp: the two must always agree. */
#include "support/support.h"

#include "base/limits.h"
#include "base/rng.h"
#include "key/key.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wundef"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop

/* ---- values ---- */

static struct arena memory;

static int set_up(void **state)
{
    (void)state;
    arena_init(&memory, 64 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_deinit(&memory);
    return 0;
}

/* Encoded as val.h draws it: tag, varint, bytes. */
static val make(enum val_type t, span bytes)
{
    uint8_t *p = arena_bytes(&memory, bytes.n + 6);
    assert_non_null(p);
    uint32_t at = 0;
    p[at++] = (uint8_t)t;
    size_t n = bytes.n;
    for (; n >= 0x80; n >>= 7) p[at++] = (uint8_t)(n | 0x80);
    p[at++] = (uint8_t)n;
    if (bytes.n) memcpy(p + at, bytes.p, bytes.n);
    return (val){p, at + (uint32_t)bytes.n};
}

static val make_s(const char *text) { return make(VAL_S, span_cstr(text)); }

static val make_n(const char *text)
{
    struct num a;
    uint8_t enc[NUM_ENC_MAX];
    assert_ok(num_parse(span_cstr(text), &a, NULL));
    return make(VAL_N, SPAN(enc, num_encode(&a, enc)));
}

static int sign(int c) { return (c > 0) - (c < 0); }

/* The order of values, without looking at keys. */
static int value_cmp(val a, val b)
{
    if (val_type(a) != VAL_N) return sign(span_cmp(val_bytes(a), val_bytes(b)));
    struct num x, y;
    assert_true(num_decode(val_bytes(a), &x) && num_decode(val_bytes(b), &y));
    return sign(num_cmp(&x, &y));
}

static span encoded(val v)
{
    struct buf b;
    buf_init(&b, &memory, KEY_SORT_MAX + NUM_ENC_MAX);
    key_put_sort(&b, v);
    assert_false(b.failed);
    return buf_span(&b);
}

/* Bytes from a small alphabet, so that prefixes and equal parts are common. */
static val random_string(struct rng *r, enum val_type t, size_t max)
{
    static const uint8_t binary[] = {0x00, 0x00, 0x01, 0x07, 0x08, 0x7F, 0xFE, 0xFF, 0xFF, 'A'};
    static const uint8_t text[] = {0x00, 0x00, 0x01, 0x07, 0x08, 0x7F, 'A', 'B'};
    uint8_t bytes[LIMIT_SORT_KEY_BYTES];
    size_t n = rng_below(r, 4) ? rng_below(r, 20) : 8 * rng_below(r, 129) + rng_below(r, 3);
    if (n > max) n = max;
    bool is_plain = rng_below(r, 3) == 0;
    for (size_t i = 0; i < n; i++) {
        bytes[i] = is_plain     ? 'A'
                   : t == VAL_B ? binary[rng_below(r, sizeof binary)]
                                : text[rng_below(r, sizeof text)];
    }
    return make(t, SPAN(bytes, n));
}

/* Near v: shorter, longer by a few bytes, or with one byte changed. */
static val near_string(struct rng *r, val v)
{
    uint8_t bytes[LIMIT_SORT_KEY_BYTES + 8] = {0};
    span s = val_bytes(v);
    size_t n = s.n;
    if (n) memcpy(bytes, s.p, n);
    uint64_t how = rng_below(r, 4);
    if (how == 0)
        n = rng_below(r, n + 1);
    else if (how == 1)
        n += rng_below(r, 9);
    else if (how == 2 && n)
        bytes[rng_below(r, n)] = (uint8_t)rng_below(r, 128);
    if (n > LIMIT_SORT_KEY_BYTES) n = LIMIT_SORT_KEY_BYTES;
    return make(val_type(v), SPAN(bytes, n));
}

static val random_number(struct rng *r)
{
    char text[64];
    size_t n = 0, digits = 1 + rng_below(r, 38);
    if (rng_below(r, 20) == 0) return make_n("0");
    if (rng_below(r, 2)) text[n++] = '-';
    for (size_t i = 0; i < digits; i++) {
        text[n++] = (char)(i == 0 ? '1' + rng_below(r, 9) : '0' + rng_below(r, 10));
    }
    int magnitude = rng_below(r, 2) ? (int)rng_below(r, 256) - 130 : (int)rng_below(r, 4);
    snprintf(text + n, sizeof text - n, "e%d", magnitude - (int)digits + 1);
    return make_n(text);
}

static val near_number(struct rng *r, val v)
{
    struct num a, step, b;
    uint8_t enc[NUM_ENC_MAX];
    assert_true(num_decode(val_bytes(v), &a));
    step = (struct num){rng_below(r, 2) ? 1 : -1, a.exp};
    if (step.exp < -130 || step.exp > 125 || num_add(&a, &step, &b, NULL) != SHEAF_OK) return v;
    return make(VAL_N, SPAN(enc, num_encode(&b, enc)));
}

/* ---- sort keys ---- */

static void test_key_put_sort__worked_examples(void **state)
{
    (void)state;
    struct {
        val v;
        const char *hex;
    } rows[] = {
        {make_s("A"), "41 00 00 00 00 00 00 00  01"},
        {make_s("ORDER#12"), "4F 52 44 45 52 23 31 32  FF  00 00 00 00 00 00 00 00  00"},
        {make_s(""), "00 00 00 00 00 00 00 00  00"},
        {make_n("1.5"), "C1 02 33 00"},
        {make_n("-42"), "3E 3B 66"},
        {make_n("0"), "80 00"},
        {make_n("1E-130"), "80 02 00"},
        {make(VAL_B, SPAN_LIT("\xFF\x00")), "FF 00 00 00 00 00 00 00  02"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t want[32];
        span got = encoded(rows[i].v);
        assert_int_equal(got.n, test_hex(rows[i].hex, want, sizeof want));
        assert_memory_equal(got.p, want, got.n);
    }
}

static void check_pair(val a, val b)
{
    span x = encoded(a), y = encoded(b);
    int c = value_cmp(a, b);
    assert_int_equal(sign(span_cmp(x, y)), c);
    assert_int_equal(sign(span_cmp(y, x)), -c);
    if (c != 0) assert_false(span_starts(x, y) || span_starts(y, x));
    /* Whatever comes behind changes nothing. */
    uint8_t longer[2][KEY_SORT_MAX + 1];
    memcpy(longer[0], x.p, x.n);
    memcpy(longer[1], y.p, y.n);
    longer[0][x.n] = 0xFF;
    longer[1][y.n] = 0x00;
    if (c != 0) {
        assert_int_equal(sign(span_cmp(SPAN(longer[0], x.n + 1), SPAN(longer[1], y.n + 1))), c);
    }
}

static void test_key_put_sort__order_is_value_order_and_prefix_free(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(21));
    for (uint64_t i = 0, rounds = test_rounds(120000); i < rounds; i++) {
        arena_reset(&memory);
        enum val_type t = (enum val_type[]){VAL_S, VAL_B, VAL_N}[rng_below(&r, 3)];
        bool is_near = rng_below(&r, 2);
        if (t == VAL_N) {
            val a = random_number(&r);
            check_pair(a, is_near ? near_number(&r, a) : random_number(&r));
        } else {
            val a = random_string(&r, t, LIMIT_SORT_KEY_BYTES);
            check_pair(a,
                       is_near ? near_string(&r, a) : random_string(&r, t, LIMIT_SORT_KEY_BYTES));
        }
    }
}

/* Every length to 1,024, so that every place in a group is the last one. */
static void test_key_put_sort__each_length_is_above_the_shorter(void **state)
{
    (void)state;
    static const uint8_t fills[] = {0x00, 0x01, 0xFE, 0xFF};
    uint8_t bytes[LIMIT_SORT_KEY_BYTES];
    for (size_t f = 0; f < sizeof fills; f++) {
        memset(bytes, fills[f], sizeof bytes);
        arena_reset(&memory);
        span last = encoded(make(VAL_B, SPAN_NONE));
        for (size_t n = 1; n <= sizeof bytes; n++) {
            span now = encoded(make(VAL_B, SPAN(bytes, n)));
            assert_true(span_cmp(last, now) < 0 && !span_starts(now, last));
            assert_int_equal(now.n, (n / 8 + 1) * 9);
            last = now;
        }
        assert_int_equal(last.n, KEY_SORT_MAX);
    }
}

static void test_key_take_sort__gives_back_what_was_put(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(22));
    for (uint64_t i = 0, rounds = test_rounds(20000); i < rounds; i++) {
        arena_reset(&memory);
        struct buf s, out;
        val v[KEY_MAX_ATTRIBUTES];
        size_t n = 1 + rng_below(&r, KEY_MAX_ATTRIBUTES);
        buf_init(&s, &memory, 8192);
        for (size_t k = 0; k < n; k++) {
            enum val_type t = (enum val_type[]){VAL_S, VAL_B, VAL_N}[rng_below(&r, 3)];
            v[k] = t == VAL_N ? random_number(&r) : random_string(&r, t, LIMIT_SORT_KEY_BYTES);
            key_put_sort(&s, v[k]);
        }
        buf_put(&s, "0123456789abcdef", KEY_HASH_BYTES);
        span rest = buf_span(&s);
        for (size_t k = 0; k < n; k++) {
            buf_init(&out, &memory, 2048);
            assert_true(key_take_sort(&rest, val_type(v[k]), &out));
            assert_true(span_eq(buf_span(&out), val_bytes(v[k])));
        }
        assert_span(rest, "0123456789abcdef");
    }
}

static void test_key_take_sort__refuses_other_bytes(void **state)
{
    (void)state;
    static const struct {
        enum val_type t;
        const char *hex;
    } rows[] = {
        {VAL_S, ""},
        {VAL_S, "41 00 00 00 00 00 00 00"},    /* cut */
        {VAL_S, "41 00 00 00 00 00 00 00 08"}, /* 8 is no count */
        {VAL_S, "41 00 00 00 00 00 00 00 FE"}, /* nor is this */
        {VAL_S, "41 42 00 00 00 00 00 00 01"}, /* padding is not zero */
        {VAL_S, "41 42 43 44 45 46 47 48 FF"}, /* no last group */
        {VAL_S, "FF 00 00 00 00 00 00 00 01"}, /* not UTF-8 */
        {VAL_S, "C3 00 00 00 00 00 00 00 01"}, /* half a character */
        {VAL_N, ""},
        {VAL_N, "C1 02 33"},    /* no end */
        {VAL_N, "C1 02 01 00"}, /* trailing zero pair */
        {VAL_N, "C1 00"},       /* no pairs */
        {VAL_N, "3E 3B"},       /* no end */
        {VAL_N, "3E 66"},       /* no pairs */
        {VAL_N, "C1 02020202020202020202020202020202020202020202020202 00"}, /* too long */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t bytes[64];
        struct buf out;
        buf_init(&out, &memory, 64);
        buf_put(&out, "kept", 4);
        span s = SPAN(bytes, test_hex(rows[i].hex, bytes, sizeof bytes)), before = s;
        assert_false(key_take_sort(&s, rows[i].t, &out));
        assert_true(s.p == before.p && s.n == before.n);
        assert_span(buf_span(&out), "kept");
    }
}

static void test_key_sort__four_of_1024_bytes_fit_an_engine_key(void **state)
{
    (void)state;
    uint8_t bytes[LIMIT_SORT_KEY_BYTES];
    memset(bytes, 0xFF, sizeof bytes);
    struct buf s;
    buf_init(&s, &memory, LIMIT_ENGINE_KEY_BYTES - SHEAF_PLACE_BYTES);
    for (int i = 0; i < KEY_MAX_ATTRIBUTES; i++) {
        key_put_sort(&s, make(VAL_B, SPAN(bytes, sizeof bytes)));
        if (i == 0) {
            assert_true(SHEAF_PLACE_BYTES + s.n + KEY_HASH_BYTES <=
                        LIMIT_ENGINE_KEY_BYTES_ORDINARY);
        }
    }
    buf_put(&s, bytes, KEY_HASH_BYTES);
    assert_false(s.failed);
    assert_int_equal(s.n, 4 * KEY_SORT_MAX + KEY_HASH_BYTES);
}

/* ---- ranges ---- */

enum { ATTRIBUTES = KEY_MAX_ATTRIBUTES, DOMAIN = 14, KEYS = 40 };

/* A few values of one type that are near each other. */
static void random_domain(struct rng *r, enum val_type t, val out[DOMAIN])
{
    out[0] = t == VAL_N ? random_number(r) : random_string(r, t, 40);
    for (size_t i = 1; i < DOMAIN; i++) {
        val from = out[rng_below(r, i)];
        bool is_near = rng_below(r, 4) != 0;
        if (t == VAL_N)
            out[i] = is_near ? near_number(r, from) : random_number(r);
        else
            out[i] = is_near ? near_string(r, from) : random_string(r, t, 40);
    }
}

static bool holds(const struct key_condition *c, const val key[])
{
    for (size_t i = 0; i < c->n_eq; i++) {
        if (value_cmp(key[i], c->eq[i]) != 0) return false;
    }
    val v = key[c->n_eq];
    switch (c->op) {
    case KEY_ALL:
        return true;
    case KEY_EQ:
        return value_cmp(v, c->a) == 0;
    case KEY_LT:
        return value_cmp(v, c->a) < 0;
    case KEY_LE:
        return value_cmp(v, c->a) <= 0;
    case KEY_GT:
        return value_cmp(v, c->a) > 0;
    case KEY_GE:
        return value_cmp(v, c->a) >= 0;
    case KEY_BETWEEN:
        return value_cmp(v, c->a) >= 0 && value_cmp(v, c->b) <= 0;
    case KEY_BEGINS_WITH:
        return span_starts(val_bytes(v), val_bytes(c->a));
    }
    return false;
}

static span key_bytes(struct rng *r, size_t n, const val key[])
{
    struct buf s;
    buf_init(&s, &memory, 2048);
    for (size_t i = 0; i < n; i++) key_put_sort(&s, key[i]);
    uint8_t tie[KEY_HASH_BYTES];
    uint64_t kind = rng_below(r, 4);
    for (size_t i = 0; i < sizeof tie; i++) {
        tie[i] = kind == 1 ? 0 : kind == 2 ? 0xFF : (uint8_t)rng_u64(r);
    }
    if (kind) buf_put(&s, tie, sizeof tie);
    return buf_span(&s);
}

static void test_key_range__holds_exactly_the_keys_that_satisfy(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, test_seed(23));
    uint64_t inside[KEY_BEGINS_WITH + 1] = {0}, outside[KEY_BEGINS_WITH + 1] = {0}, empty = 0;
    for (uint64_t round = 0, rounds = test_rounds(12000); round < rounds; round++) {
        arena_reset(&memory);
        struct ctx c = {&memory, NULL};
        size_t n = 1 + rng_below(&r, ATTRIBUTES);
        enum val_type types[ATTRIBUTES];
        val domain[ATTRIBUTES][DOMAIN];
        for (size_t i = 0; i < n; i++) {
            types[i] = (enum val_type[]){VAL_S, VAL_B, VAL_N}[rng_below(&r, 3)];
            random_domain(&r, types[i], domain[i]);
        }
        struct key_condition cond = {.n_eq = rng_below(&r, n)};
        size_t last = cond.n_eq;
        for (size_t i = 0; i < last; i++) cond.eq[i] = domain[i][rng_below(&r, 3)];
        do {
            cond.op = (enum key_op)rng_below(&r, KEY_BEGINS_WITH + 1);
        } while (cond.op == KEY_BEGINS_WITH && types[last] == VAL_N);
        if (cond.op != KEY_ALL) cond.a = domain[last][rng_below(&r, DOMAIN)];
        if (cond.op == KEY_BETWEEN) cond.b = domain[last][rng_below(&r, DOMAIN)];
        span lo, hi;
        assert_ok(key_range(&c, &cond, &lo, &hi));
        assert_non_null(lo.p);
        empty += hi.p && span_eq(lo, hi);
        for (size_t k = 0; k < KEYS; k++) {
            val key[ATTRIBUTES];
            for (size_t i = 0; i < n; i++) key[i] = domain[i][rng_below(&r, i < last ? 3 : DOMAIN)];
            span s = key_bytes(&r, n, key);
            bool is_inside = span_cmp(lo, s) <= 0 && (!hi.p || span_cmp(s, hi) < 0);
            assert_int_equal(is_inside, holds(&cond, key));
            (is_inside ? inside : outside)[cond.op]++;
        }
    }
    for (int op = KEY_ALL; op <= KEY_BEGINS_WITH; op++) {
        assert_true(inside[op] > 100 && outside[op] > 100);
    }
    assert_true(empty > 100);
}

static void test_key_range__edges(void **state)
{
    (void)state;
    sheaf_error err;
    struct ctx c = {&memory, &err};
    span lo, hi;
    struct key_condition all = {.op = KEY_ALL};
    assert_ok(key_range(&c, &all, &lo, &hi));
    assert_true(lo.p && lo.n == 0 && !hi.p);

    /* Nothing is above what begins with FF FF. */
    struct key_condition high = {.op = KEY_BEGINS_WITH, .a = make(VAL_B, SPAN_LIT("\xFF\xFF"))};
    assert_ok(key_range(&c, &high, &lo, &hi));
    assert_null(hi.p);
    high.a = make(VAL_B, SPAN_LIT("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"));
    assert_ok(key_range(&c, &high, &lo, &hi));
    assert_null(hi.p);
    /* Behind an equal attribute there is always something. */
    high.n_eq = 1;
    high.eq[0] = make_s("A");
    assert_ok(key_range(&c, &high, &lo, &hi));
    assert_true(hi.p && span_cmp(lo, hi) < 0);

    struct key_condition none = {.op = KEY_BETWEEN, .a = make_n("2"), .b = make_n("1")};
    assert_ok(key_range(&c, &none, &lo, &hi));
    assert_true(hi.p && span_eq(lo, hi));

    struct key_condition wrong = {.op = KEY_BEGINS_WITH, .a = make_n("2")};
    assert_rc(key_range(&c, &wrong, &lo, &hi), SHEAF_INTERNAL);

    struct arena small;
    arena_init(&small, 16);
    c.arena = &small;
    assert_rc(key_range(&c, &none, &lo, &hi), SHEAF_NOMEM);
    arena_deinit(&small);
}

static void test_key_successor__edges(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", ""},        {"00", "01"},       {"FE", "FF"},
        {"FF", ""},      {"FF FF", ""},      {"41 FF FF", "42"},
        {"FE FF", "FF"}, {"00 00", "00 01"}, {"41 42 43", "41 42 44"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t got[8], want[8];
        size_t n = key_successor(got, test_hex(rows[i].in, got, sizeof got));
        assert_int_equal(n, test_hex(rows[i].out, want, sizeof want));
        assert_memory_equal(got, want, n);
    }
}

/* ---- places ---- */

#define GOLDEN "CE3CEDB2 5005FEEA 07F7BDFA AEFD8351"

static struct key_secret a_secret(uint8_t first)
{
    struct key_secret s;
    for (size_t i = 0; i < sizeof s.b; i++) s.b[i] = (uint8_t)(first + i * 7);
    return s;
}

static void test_key_hash__worked_example(void **state)
{
    (void)state;
    struct key_secret secret = a_secret(1);
    uint8_t got[KEY_HASH_BYTES], want[KEY_HASH_BYTES];
    val v[2] = {make_s("USER#1"), make_n("1.5")};
    key_hash(&secret, 2, v, got);
    /* 'P', then 'S' 6 "USER#1", then 'N' 3 C1 02 33 */
    uint8_t input[64];
    size_t n = test_hex("50  53 06000000 555345522331  4E 03000000 C10233", input, sizeof input);
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical,
                             XXH3_128bits_withSecret(input, n, secret.b, sizeof secret.b));
    assert_memory_equal(got, canonical.digest, sizeof got);
    /* On disk for ever. */
    test_hex(GOLDEN, want, sizeof want);
    assert_memory_equal(got, want, sizeof got);

    sheaf_place place = key_place(&secret, 0x0102030405060708, 2, v);
    test_hex("0102030405060708", want, sizeof want);
    assert_memory_equal(place.b, want, 8);
    assert_memory_equal(place.b + 8, got, sizeof got);
}

/* Short inputs are hashed in one piece and long ones in parts: the same hash all along. */
static void test_key_hash__is_one_function_at_every_length(void **state)
{
    (void)state;
    struct key_secret secret = a_secret(3);
    uint8_t input[6 + LIMIT_PARTITION_KEY_BYTES], got[KEY_HASH_BYTES];
    for (size_t n = 0; n <= LIMIT_PARTITION_KEY_BYTES; n++) {
        arena_reset(&memory);
        input[0] = 'P';
        input[1] = 'B';
        for (int i = 0; i < 4; i++) input[2 + i] = (uint8_t)(n >> (8 * i));
        for (size_t i = 0; i < n; i++) input[6 + i] = (uint8_t)(i * 31 + n);
        val v = make(VAL_B, SPAN(input + 6, n));
        key_hash(&secret, 1, &v, got);
        XXH128_canonical_t want;
        XXH128_canonicalFromHash(&want,
                                 XXH3_128bits_withSecret(input, 6 + n, secret.b, sizeof secret.b));
        assert_memory_equal(got, want.digest, sizeof got);
    }
}

static void test_key_hash__tells_types_values_groupings_and_secrets_apart(void **state)
{
    (void)state;
    uint8_t h[32][KEY_HASH_BYTES];
    size_t n = 0;
    struct key_secret one = a_secret(1), other = a_secret(2);
    uint8_t long_bytes[700] = {0};
    val ab[] = {make_s("a"), make_s("b")}, ba[] = {ab[1], ab[0]};
    val a_empty[] = {make_s("ab"), make_s("")}, empty_a[] = {make_s(""), make_s("ab")};
    val s = make_s("ab"), b = make(VAL_B, SPAN_LIT("ab")), num = make_n("42");
    val enc = make(VAL_B, val_bytes(num)), text = make_s("42");
    val three[] = {ab[0], ab[1], s}, big = make(VAL_B, SPAN(long_bytes, sizeof long_bytes));
    key_hash(&one, 1, &s, h[n++]);
    key_hash(&one, 1, &b, h[n++]);
    key_hash(&one, 1, &num, h[n++]);
    key_hash(&one, 1, &enc, h[n++]);
    key_hash(&one, 1, &text, h[n++]);
    key_hash(&one, 2, ab, h[n++]);
    key_hash(&one, 2, ba, h[n++]);
    key_hash(&one, 2, a_empty, h[n++]);
    key_hash(&one, 2, empty_a, h[n++]);
    key_hash(&one, 1, ab, h[n++]);
    key_hash(&one, 3, three, h[n++]);
    key_hash(&one, 1, &big, h[n++]);
    key_hash(&other, 1, &s, h[n++]);
    key_hash(&other, 1, &big, h[n++]);
    key_tie(&one, s, VAL_ABSENT, h[n++]);
    key_tie(&one, s, s, h[n++]);
    key_tie(&one, ab[0], ab[1], h[n++]);
    key_tie(&other, ab[0], ab[1], h[n++]);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) assert_memory_not_equal(h[i], h[k], KEY_HASH_BYTES);
    }
    /* Equal numbers are one key. */
    val same = make_n("42.00e0");
    key_hash(&one, 1, &same, h[n]);
    assert_memory_equal(h[n], h[2], KEY_HASH_BYTES);
}

static void test_key_digest__tells_lists_and_secrets_apart(void **state)
{
    (void)state;
    static const span lists[][3] = {
        {{"ab", 2}, {"c", 1}, {"", 0}}, {{"a", 1}, {"bc", 2}, {"", 0}},
        {{"abc", 3}, {"", 0}, {"", 0}}, {{"ab", 2}, {"", 0}, {"c", 1}},
        {{"", 0}, {"", 0}, {"", 0}},    {{"ab", 2}, {"d", 1}, {"", 0}},
    };
    enum { N = sizeof lists / sizeof *lists };
    struct key_secret one = a_secret(1), other = a_secret(2);
    uint8_t h[2 * N + 2][KEY_HASH_BYTES], again[KEY_HASH_BYTES];
    for (size_t i = 0; i < N; i++) {
        key_digest(&one, 3, lists[i], h[i]);
        key_digest(&other, 3, lists[i], h[N + i]);
        key_digest(&one, 3, lists[i], again);
        assert_memory_equal(h[i], again, sizeof again);
    }
    key_digest(&one, 2, lists[0], h[2 * N]);
    key_digest(&one, 0, lists[0], h[2 * N + 1]);
    for (size_t i = 0; i < 2 * N + 2; i++)
        for (size_t k = 0; k < i; k++) assert_memory_not_equal(h[i], h[k], sizeof again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_key_put_sort__worked_examples, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_key_put_sort__order_is_value_order_and_prefix_free,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_key_put_sort__each_length_is_above_the_shorter, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_key_take_sort__gives_back_what_was_put, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_key_take_sort__refuses_other_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_key_sort__four_of_1024_bytes_fit_an_engine_key, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_key_range__holds_exactly_the_keys_that_satisfy, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_key_range__edges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_key_successor__edges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_key_hash__worked_example, set_up, tear_down),
        cmocka_unit_test(test_key_digest__tells_lists_and_secrets_apart),
        cmocka_unit_test_setup_teardown(test_key_hash__is_one_function_at_every_length, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_key_hash__tells_types_values_groupings_and_secrets_apart, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
