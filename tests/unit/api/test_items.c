/* api: item literals, built items and what the getters say of them. Nothing here needs a database.
 */
#include "support/support.h"

#include "api/api.h"
#include "base/mem.h"

struct fixture {
    struct arena arena;
    sheaf_error err;
    struct ctx c;
};

static void begin(struct fixture *f)
{
    arena_init(&f->arena, 64 << 20);
    f->c = (struct ctx){&f->arena, &f->err};
    err_clear(&f->err);
}

/* Through the encoding and back: what a result would hand out. */
static const sheaf_item *read_back(struct fixture *f, const sheaf_item *item)
{
    span encoded;
    assert_ok(api_encode_item(&f->c, item, "item", &encoded));
    assert_ok(item_check(encoded, &f->err));
    const sheaf_item *view = api_item_view(&f->arena, encoded);
    assert_non_null(view);
    return view;
}

#define EVERYTHING                                                                                 \
    SHEAF_ITEM({"s", sheaf_s("text")}, {"n", sheaf_n("129.990")}, {"i", sheaf_int(-42)},           \
               {"b", sheaf_b("\0\1", 2)}, {"t", sheaf_bool(true)}, {"f", sheaf_bool(false)},       \
               {"nil", sheaf_null()},                                                              \
               {"m", sheaf_m(SHEAF_ITEM({"deep", sheaf_s("down")}, {"x", sheaf_int(1)}))},         \
               {"l", sheaf_l(SHEAF_LIST(sheaf_s("a"), sheaf_int(7)))},                             \
               {"ss", sheaf_ss(SHEAF_LIST(sheaf_s("red"), sheaf_s("blue")))},                      \
               {"ns", sheaf_ns(SHEAF_LIST(sheaf_int(10), sheaf_n("9")))},                          \
               {"bs", sheaf_bs(SHEAF_LIST(sheaf_b("z", 1)))}, {"nul", sheaf_sn("a\0b", 3)})

static void test_read_item__says_what_the_literal_said(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    const sheaf_item *it = read_back(&f, EVERYTHING);
    assert_string_equal(sheaf_item_s(it, "s"), "text");
    assert_string_equal(sheaf_item_n(it, "n"), "129.99");
    int64_t i;
    assert_true(sheaf_item_i64(it, "i", &i) && i == -42);
    assert_false(sheaf_item_i64(it, "n", &i)); /* not an integer */
    double d;
    bool is_exact;
    assert_true(sheaf_item_double(it, "n", &d, &is_exact));
    assert_false(is_exact);
    assert_true(sheaf_item_double(it, "i", &d, &is_exact) && is_exact && d == -42.0);
    struct sheaf_span b = sheaf_item_b(it, "b");
    assert_int_equal(b.n, 2);
    assert_memory_equal(b.p, "\0\1", 2);
    bool t;
    assert_true(sheaf_item_bool(it, "t", &t) && t);
    assert_true(sheaf_item_bool(it, "f", &t) && !t);
    assert_false(sheaf_item_bool(it, "s", &t));
    assert_int_equal(sheaf_item_type(it, "nil"), SHEAF_NULL);
    assert_int_equal(sheaf_item_type(it, "nothing"), SHEAF_NONE);
    assert_string_equal(sheaf_item_s(sheaf_item_m(it, "m"), "deep"), "down");
    const sheaf_list *l = sheaf_item_l(it, "l");
    sheaf_value v;
    assert_int_equal(sheaf_list_count(l), 2);
    assert_true(sheaf_list_at(l, 1, &v) && sheaf_value_i64(&v, &i) && i == 7);
    assert_false(sheaf_list_at(l, 2, &v));
    assert_true(sheaf_list_at(sheaf_item_l(it, "ss"), 0, &v)); /* in the order of their bytes */
    assert_string_equal(sheaf_value_str(&v).p, "blue");
    assert_true(sheaf_list_at(sheaf_item_l(it, "ns"), 0, &v));
    assert_string_equal(sheaf_value_str(&v).p, "9");
    arena_deinit(&f.arena);
}

static void test_getters__give_nothing_for_the_wrong_type(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    const sheaf_item *it = read_back(&f, EVERYTHING);
    assert_null(sheaf_item_s(it, "n"));
    assert_null(sheaf_item_n(it, "s"));
    assert_null(sheaf_item_m(it, "l"));
    assert_null(sheaf_item_l(it, "m"));
    assert_null(sheaf_item_b(it, "s").p);
    assert_null(sheaf_item_s(it, "nul")); /* a NUL inside: never cut short */
    assert_int_equal(sheaf_item_str(it, "nul").n, 3);
    assert_null(sheaf_item_s(NULL, "s"));
    assert_null(sheaf_item_s(it, NULL));
    assert_int_equal(sheaf_item_count(NULL), 0);
    arena_deinit(&f.arena);
}

static void test_getters__in_a_loop_take_no_more_memory(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    const sheaf_item *it = read_back(&f, EVERYTHING);
    const char *first = sheaf_item_s(it, "s");
    (void)sheaf_item_n(it, "n");
    size_t used = f.arena.used;
    for (int i = 0; i < 100000; i++) {
        assert_ptr_equal(sheaf_item_s(it, "s"), first);
        assert_non_null(sheaf_item_n(it, "n"));
    }
    assert_int_equal(f.arena.used, used);
    arena_deinit(&f.arena);
}

static void test_iteration__is_in_the_order_of_names(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    const sheaf_item *it = read_back(&f, EVERYTHING);
    char names[64] = "";
    for (size_t i = 0; i < sheaf_item_count(it); i++) {
        sheaf_attr a;
        assert_true(sheaf_item_at(it, i, &a));
        strcat(strcat(names, a.name), " ");
    }
    assert_string_equal(names, "b bs f i l m n nil ns nul s ss t ");
    arena_deinit(&f.arena);
}

static void test_built_item__outlives_and_replaces(void **state)
{
    (void)state;
    sheaf_item *it = sheaf_item_new();
    assert_non_null(it);
    {
        char text[] = "gone soon";
        assert_ok(sheaf_item_set(it, "s", sheaf_s(text)));
        memset(text, 'x', sizeof text - 1);
    }
    assert_ok(
        sheaf_item_set(it, "doc", sheaf_m(SHEAF_ITEM({"l", sheaf_l(SHEAF_LIST(sheaf_int(1)))}))));
    assert_ok(sheaf_item_set(it, "s", sheaf_int(5)));
    assert_ok(sheaf_item_set(it, "gone", sheaf_null()));
    assert_ok(sheaf_item_unset(it, "gone"));
    assert_ok(sheaf_item_unset(it, "never there"));
    assert_rc(sheaf_item_set(it, "bad", sheaf_n("12x")), SHEAF_VALIDATION);
    assert_rc(sheaf_item_set(it, "bad", sheaf_ss(SHEAF_LIST(sheaf_s("a"), sheaf_s("a")))),
              SHEAF_VALIDATION);
    assert_rc(sheaf_item_set(it, NULL, sheaf_null()), SHEAF_VALIDATION);
    assert_int_equal(sheaf_item_count(it), 2);
    assert_string_equal(sheaf_item_n(it, "s"), "5");
    sheaf_item *copy = sheaf_item_dup(it);
    sheaf_item_free(it);
    sheaf_value v;
    assert_true(sheaf_list_at(sheaf_item_l(sheaf_item_m(copy, "doc"), "l"), 0, &v));
    assert_int_equal(sheaf_item_size(copy), 1 + 2 + 3 + 3 + 1 + 1 + 3 + 1 + 2);
    sheaf_item_free(copy);
    sheaf_item_free(NULL);
}

static void test_encoding__refuses_with_awss_messages(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    span out;
    assert_rc(api_encode_item(&f.c, NULL, "item", &out), SHEAF_VALIDATION);
    assert_string_equal(f.err.message,
                        "1 validation error detected: Value null at 'item' failed to "
                        "satisfy constraint: Member must not be null");
    assert_rc(api_encode_item(&f.c, SHEAF_ITEM({"a", sheaf_s(NULL)}), "item", &out),
              SHEAF_VALIDATION);
    assert_string_equal(f.err.message,
                        "Supplied AttributeValue is empty, must contain exactly one of "
                        "the supported datatypes");
    assert_rc(api_encode_item(&f.c, SHEAF_ITEM({"a", {0}}), "item", &out), SHEAF_VALIDATION);
    assert_rc(api_encode_item(&f.c, SHEAF_ITEM({NULL, sheaf_null()}), "item", &out),
              SHEAF_VALIDATION);
    assert_rc(api_encode_item(&f.c, SHEAF_ITEM({"a", sheaf_n("")}), "item", &out),
              SHEAF_VALIDATION);
    assert_rc(api_encode_item(&f.c, SHEAF_ITEM({"a", sheaf_s("\xFF")}), "item", &out),
              SHEAF_VALIDATION);
    sheaf_item loop = {NULL, 1, NULL}; /* a document that contains itself */
    sheaf_attr self = {"a", sheaf_m(&loop)};
    loop.attrs = &self;
    assert_rc(api_encode_item(&f.c, &loop, "item", &out), SHEAF_VALIDATION);
    arena_deinit(&f.arena);
}

static void test_request__of_another_size(void **state)
{
    (void)state;
    struct old {
        int a;
    } old = {7};
    struct now {
        int a, b;
    } now;
    struct later {
        int a, b, c;
    } later = {1, 2, 0};
    sheaf_error err;
    assert_ok(api_take(&now, sizeof now, &old, sizeof old, &err));
    assert_true(now.a == 7 && now.b == 0);
    assert_ok(api_take(&now, sizeof now, &later, sizeof later, &err));
    later.c = 3; /* means something that this library does not know */
    assert_rc(api_take(&now, sizeof now, &later, sizeof later, &err), SHEAF_VALIDATION);
    assert_rc(api_take(&now, sizeof now, NULL, 0, &err), SHEAF_VALIDATION);
}

static void test_built_item__every_failed_allocation_is_an_error(void **state)
{
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        mem_fail_at(nth, true);
        sheaf_item *it = sheaf_item_new();
        sheaf_rc rc = it ? sheaf_item_set(it, "a", sheaf_s("text")) : SHEAF_NOMEM;
        sheaf_item *copy = rc == SHEAF_OK ? sheaf_item_dup(it) : NULL;
        mem_fail_at(0, false);
        bool is_done = copy != NULL;
        sheaf_item_free(copy);
        sheaf_item_free(it);
        if (is_done) break;
        assert_true(rc == SHEAF_OK || rc == SHEAF_NOMEM);
        assert_true(nth < 100);
    }
}

/* ---- built items under load ---- */

static void test_built_item__takes_any_number_of_replacements(void **state)
{
    (void)state;
    sheaf_item *it = sheaf_item_new();
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_ok(sheaf_item_set(it, "kept", sheaf_m(SHEAF_ITEM({"deep", sheaf_s("down")}))));
    for (int i = 0; i < 200000; i++) {
        text[i % 900] = (char)('a' + i % 26);
        assert_ok(sheaf_item_set(it, "again", sheaf_s(text)));
    }
    assert_string_equal(sheaf_item_s(it, "again"), text);
    assert_string_equal(sheaf_item_s(sheaf_item_m(it, "kept"), "deep"), "down");
    assert_int_equal(sheaf_item_count(it), 2);
    sheaf_item_free(it);
}

/* Quadratic, this would take minutes. */
static void test_built_item__takes_many_attributes(void **state)
{
    enum { N = 300000 };
    (void)state;
    sheaf_item *it = sheaf_item_new();
    char name[16];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "a%d", i);
        assert_ok(sheaf_item_set(it, name, sheaf_int(i)));
    }
    sheaf_item *copy = sheaf_item_dup(it);
    assert_non_null(copy);
    assert_int_equal(sheaf_item_count(copy), N);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "a%d", i);
        assert_ok(sheaf_item_unset(it, name));
    }
    assert_int_equal(sheaf_item_count(it), 0);
    sheaf_item_free(copy);
    sheaf_item_free(it);
}

/* Random sets and unsets against an array. */
static void test_built_item__is_what_was_set_last(void **state)
{
    enum { NAMES = 60 };
    (void)state;
    int64_t want[NAMES] = {0}; /* 0: not there */
    uint64_t x = test_seed(7), rounds = test_rounds(20000);
    sheaf_item *it = sheaf_item_new();
    for (uint64_t i = 1; i <= rounds; i++) {
        char name[16];
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        unsigned at = (unsigned)(x >> 33) % NAMES;
        snprintf(name, sizeof name, "n%u", at * 7919);
        bool is_set = (x >> 60) % 2;
        want[at] = is_set ? (int64_t)i : 0;
        if (is_set)
            assert_ok(sheaf_item_set(it, name, sheaf_int((int64_t)i)));
        else
            assert_ok(sheaf_item_unset(it, name));
        size_t n = 0;
        for (unsigned k = 0; k < NAMES && i % 16 == 0; k++) {
            int64_t is;
            snprintf(name, sizeof name, "n%u", k * 7919);
            assert_int_equal(sheaf_item_i64(it, name, &is), want[k] != 0);
            assert_int_equal(is, want[k]);
            n += want[k] != 0;
        }
        if (i % 16 == 0) assert_int_equal(sheaf_item_count(it), n);
    }
    sheaf_item_free(it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_item__says_what_the_literal_said),
        cmocka_unit_test(test_getters__give_nothing_for_the_wrong_type),
        cmocka_unit_test(test_getters__in_a_loop_take_no_more_memory),
        cmocka_unit_test(test_iteration__is_in_the_order_of_names),
        cmocka_unit_test(test_built_item__outlives_and_replaces),
        cmocka_unit_test(test_encoding__refuses_with_awss_messages),
        cmocka_unit_test(test_request__of_another_size),
        cmocka_unit_test(test_built_item__every_failed_allocation_is_an_error),
        cmocka_unit_test(test_built_item__takes_any_number_of_replacements),
        cmocka_unit_test(test_built_item__takes_many_attributes),
        cmocka_unit_test(test_built_item__is_what_was_set_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
