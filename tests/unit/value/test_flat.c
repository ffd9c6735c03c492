/* value: items of a few scalars. The builder is the oracle for their bytes. */
#include "support/support.h"

#include "base/rng.h"
#include "value/build.h"
#include "value/flat.h"

struct fixture {
    struct arena arena;
    sheaf_error err;
    struct ctx ctx;
};

static void begin(struct fixture *f)
{
    arena_init(&f->arena, 64 << 20);
    f->ctx = (struct ctx){&f->arena, &f->err};
    err_clear(&f->err);
}

static void end(struct fixture *f) { arena_deinit(&f->arena); }

/* SHEAF_OK, or what the builder says of the same attributes. */
static sheaf_rc build(struct fixture *f, const struct flat_attr *attrs, uint32_t n, span *out)
{
    struct vb b;
    vb_init(&b, &f->ctx, 16 << 20);
    vb_map_begin(&b);
    for (uint32_t i = 0; i < n; i++) {
        vb_name(&b, attrs[i].name);
        if (attrs[i].type == VAL_S) vb_s(&b, attrs[i].bytes);
        if (attrs[i].type == VAL_N) vb_n_encoded(&b, attrs[i].bytes);
        if (attrs[i].type == VAL_B) vb_b(&b, attrs[i].bytes);
    }
    vb_end(&b);
    return vb_finish_item(&b, out);
}

static void assert_same(struct fixture *f, const struct flat_attr *attrs, uint32_t n)
{
    span got, want;
    assert_true(flat_encode(&f->arena, attrs, n, &got));
    assert_ok(build(f, attrs, n, &want));
    assert_int_equal(got.n, want.n);
    assert_memory_equal(got.p, want.p, want.n);
    assert_ok(item_check(got, &f->err));
    assert_true(item_check_shape(got));
}

static span random_text(struct fixture *f, struct rng *r, size_t n)
{
    uint8_t *p = arena_bytes(&f->arena, n);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++) p[i] = (uint8_t)('a' + rng_below(r, 4));
    return SPAN(p, n);
}

static span random_number(struct fixture *f, struct rng *r)
{
    struct num n;
    uint8_t *p = arena_bytes(&f->arena, NUM_ENC_MAX);
    assert_non_null(p);
    num_from_i64((int64_t)rng_below(r, 2000000) - 1000000, &n);
    return SPAN(p, num_encode(&n, p));
}

static bool has_name(const struct flat_attr *attrs, uint32_t n, span name)
{
    for (uint32_t i = 0; i < n; i++)
        if (span_eq(attrs[i].name, name)) return true;
    return false;
}

/* Lengths around every border of the encoding: one and two bytes of length, widths of offsets. */
static void test_flat__makes_the_bytes_of_the_builder(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 7, 126, 127, 128, 129, 255, 256, 300, 3000, 16383};
    struct rng r;
    rng_init(&r, test_seed(7));
    for (uint64_t round = test_rounds(2000); round > 0; round--) {
        struct fixture f;
        begin(&f);
        struct flat_attr attrs[FLAT_MAX];
        uint32_t n = 0, want = 1 + (uint32_t)rng_below(&r, FLAT_MAX);
        size_t total = 0;
        while (n < want) {
            size_t bytes = lengths[rng_below(&r, sizeof lengths / sizeof *lengths)];
            span name = random_text(&f, &r, 1 + (rng_below(&r, 20) ? rng_below(&r, 6) : 150));
            if (has_name(attrs, n, name) || total + bytes > 60000) continue;
            total += bytes;
            enum val_type t = (enum val_type)(VAL_S + rng_below(&r, 3));
            span v = t == VAL_N ? random_number(&f, &r) : random_text(&f, &r, bytes);
            attrs[n++] = (struct flat_attr){name, t, v};
        }
        assert_same(&f, attrs, n);
        end(&f);
    }
}

/* What the builder refuses, or what it alone can do, is left to it. */
static void test_flat__leaves_the_rest_to_the_builder(void **state)
{
    (void)state;
    static char long_text[65536];
    memset(long_text, 'x', sizeof long_text);
    const struct {
        struct flat_attr attrs[2];
        uint32_t n;
        bool is_good; /* for the builder */
    } rows[] = {
        {{{SPAN_LIT(""), VAL_S, SPAN_LIT("a")}}, 1, false},
        {{{SPAN_LIT("a"), VAL_S, SPAN_LIT("1")}, {SPAN_LIT("a"), VAL_S, SPAN_LIT("2")}}, 2, false},
        {{{SPAN_LIT("\xFF"), VAL_S, SPAN_LIT("1")}}, 1, false},
        {{{SPAN_LIT("a"), VAL_S, SPAN_LIT("\xC3")}}, 1, false},
        {{{SPAN_LIT("a"), VAL_S, SPAN(long_text, sizeof long_text)}}, 1, true},
        {{{SPAN(long_text, sizeof long_text), VAL_S, SPAN_LIT("a")}}, 1, false},
        {{{SPAN_LIT("a"), VAL_B, SPAN(long_text, 40000)},
          {SPAN_LIT("b"), VAL_B, SPAN(long_text, 40000)}},
         2,
         true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        begin(&f);
        span got, built;
        assert_false(flat_encode(&f.arena, rows[i].attrs, rows[i].n, &got));
        assert_null(got.p);
        assert_int_equal(build(&f, rows[i].attrs, rows[i].n, &built) == SHEAF_OK, rows[i].is_good);
        end(&f);
    }
}

static void test_flat__takes_utf8_and_bytes_that_are_not(void **state)
{
    (void)state;
    const struct flat_attr attrs[] = {{SPAN_LIT("\xC3\xA9"), VAL_S, SPAN_LIT("\xE2\x82\xAC")},
                                      {SPAN_LIT("b"), VAL_B, SPAN_LIT("\xFF\x00\xFE")},
                                      {SPAN_LIT("a"), VAL_S, SPAN_LIT("")}};
    struct fixture f;
    begin(&f);
    assert_same(&f, attrs, 3);
    end(&f);
}

static void test_flat__without_memory_is_not_taken(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    const struct flat_attr a = {SPAN_LIT("a"), VAL_S, SPAN_LIT("b")};
    span got;
    assert_false(flat_encode(&arena, &a, 1, &got));
    assert_null(got.p);
    arena_deinit(&arena);
}

/* A hint may be right, wrong or out of bounds; what is found does not depend on it. */
static void test_find_near__finds_what_find_does(void **state)
{
    (void)state;
    const struct flat_attr attrs[] = {{SPAN_LIT("a"), VAL_S, SPAN_LIT("1")},
                                      {SPAN_LIT("bb"), VAL_S, SPAN_LIT("2")},
                                      {SPAN_LIT("c"), VAL_B, SPAN_LIT("")},
                                      {SPAN_LIT("d"), VAL_S, SPAN_LIT("4")}};
    static const char *const names[] = {"", "a", "b", "bb", "c", "d", "dd", "z"};
    struct fixture f;
    begin(&f);
    span item;
    assert_true(flat_encode(&f.arena, attrs, 4, &item));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (uint32_t first = 0; first < 7; first++) {
            uint32_t hint = first;
            val want = val_find(item_map(item), span_cstr(names[i]));
            for (int again = 0; again < 2; again++) {
                val got = val_find_near(item_map(item), span_cstr(names[i]), &hint);
                assert_ptr_equal(got.p, want.p);
                assert_int_equal(got.n, want.n);
            }
        }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat__makes_the_bytes_of_the_builder),
        cmocka_unit_test(test_flat__leaves_the_rest_to_the_builder),
        cmocka_unit_test(test_flat__takes_utf8_and_bytes_that_are_not),
        cmocka_unit_test(test_flat__without_memory_is_not_taken),
        cmocka_unit_test(test_find_near__finds_what_find_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
