/* The engine of shapes by itself, on a shape of every kind. */
#include "support/support.h"

#include "ops/shape.h"

struct leaf {
    span name;
    struct shape_int count;
};
struct whole {
    span text, raw, arn;
    struct shape_word word;
    uint8_t flag;
    struct shape_int small, large, when;
    struct shape_double real;
    struct json_item item;
    struct shape_names names;
    struct leaf *leaf;
    struct shape_list leaves;
    struct shape_map by_name;
};

static const struct shape text_shape = {
    .kind = SHAPE_STRING, .has_min = true, .min = 2, .has_max = true, .max = 4};
static const struct shape plain_shape = {.kind = SHAPE_STRING};
static const struct shape arn_shape = {
    .kind = SHAPE_STRING, .is_table = true, .has_max = true, .max = 8};
static const struct shape raw_shape = {.kind = SHAPE_RAW};
static const char *const words[] = {"ONE", "TWO", NULL};
static const struct shape word_shape = {
    .kind = SHAPE_ENUM, .words = words, .words_text = "[ONE, TWO]"};
static const struct shape flag_shape = {.kind = SHAPE_BOOL};
static const struct shape int_shape = {.kind = SHAPE_INT, .has_max = true, .max = 10};
static const struct shape long_shape = {.kind = SHAPE_LONG};
static const struct shape time_shape = {.kind = SHAPE_TIME};
static const struct shape double_shape = {.kind = SHAPE_DOUBLE};
static const struct shape item_shape = {.kind = SHAPE_ITEM};
static const struct shape names_shape = {.kind = SHAPE_NAMES};
static const struct member leaf_members[] = {
    MEMBER(struct leaf, name, "Name", plain_shape, REQUIRED),
    MEMBER(struct leaf, count, "Count", int_shape, 0),
};
static const struct shape leaf_shape = STRUCT_SHAPE(struct leaf, leaf_members);
static const struct shape leaves_shape = {
    .kind = SHAPE_LIST, .of = &leaf_shape, .has_max = true, .max = 3};
static const struct shape map_shape = {.kind = SHAPE_MAP, .of = &leaves_shape};
#define WHOLE(field, wire, shape) MEMBER(struct whole, field, wire, shape, 0)
static const struct member members[] = {
    WHOLE(text, "Text", text_shape),     WHOLE(raw, "Raw", raw_shape),
    WHOLE(word, "Word", word_shape),     WHOLE(flag, "Flag", flag_shape),
    WHOLE(small, "Small", int_shape),    WHOLE(large, "Large", long_shape),
    WHOLE(when, "When", time_shape),     WHOLE(real, "Real", double_shape),
    WHOLE(item, "Item", item_shape),     WHOLE(names, "Names", names_shape),
    WHOLE(leaf, "Leaf", leaf_shape),     WHOLE(leaves, "Leaves", leaves_shape),
    WHOLE(by_name, "ByName", map_shape), WHOLE(arn, "Arn", arn_shape),
};
static const struct shape shape = STRUCT_SHAPE(struct whole, members);

static struct arena arena;
static sheaf_error err;
static struct ctx ctx = {&arena, &err};

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 24);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static struct whole *decode(const char *text)
{
    struct json j;
    struct whole *out = ARENA_NEW(&arena, struct whole);
    json_init(&j, &ctx, span_cstr(text));
    assert_ok(shape_decode(&j, &shape, out));
    assert_ok(json_end(&j));
    return out;
}

static void assert_encodes(const struct whole *w, const char *text)
{
    struct buf out;
    buf_init(&out, &arena, 1 << 20);
    shape_encode(&out, &shape, w);
    assert_false(out.failed);
    assert_span(buf_span(&out), text);
}

static void assert_violates(const char *text, const char *want)
{
    span message;
    assert_rc(shape_check(&ctx, &shape, decode(text), false, &message), SHEAF_VALIDATION);
    assert_span(message, want);
}

/* ---- there and back ---- */

static void test_shape__what_is_decoded_is_encoded_again(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"Text\":\"a\\\"\\\\\\n\"}",
        "{\"Raw\":{\"x\":[1,null,{}]}}",
        "{\"Word\":\"TWO\"}",
        "{\"Flag\":false}",
        "{\"Flag\":true,\"Small\":-5}",
        "{\"Small\":2147483647,\"Large\":-9000000000000000000}",
        "{\"When\":1700000000.123}",
        "{\"Real\":0.5}",
        "{\"Item\":{}}",
        "{\"Item\":{\"a\":{\"M\":{\"b\":{\"L\":[{\"NULL\":true}]}}}}}",
        "{\"Names\":{}}",
        "{\"Names\":{\"#b\":\"b\",\"#a\":\"a\"}}",
        "{\"Leaf\":{}}",
        "{\"Leaf\":{\"Name\":\"\",\"Count\":0}}",
        "{\"Leaves\":[]}",
        "{\"Leaves\":[{\"Name\":\"a\"},null,{\"Count\":3}]}",
        "{\"ByName\":{\"k\":[{\"Name\":\"a\"}],\"l\":[]}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_encodes(decode(texts[i]), texts[i]);
}

static void test_shape_decode__takes_members_in_any_order_and_skips_others(void **state)
{
    (void)state;
    assert_encodes(decode("{\"Small\":1,\"Text\":\"ab\",\"Nobody\":{\"Text\":[[]]},\"Flag\":\"no\","
                          "\"text\":\"lower\",\"Word\":null}"),
                   "{\"Text\":\"ab\",\"Flag\":false,\"Small\":1}");
}

static void test_shape_decode__reads_numbers_as_java_casts_them(void **state)
{
    static const struct {
        const char *digits;
        int64_t small, large;
    } rows[] = {
        {"0", 0, 0},
        {"-0", 0, 0},
        {"1.9", 1, 1},
        {"-1.9", -1, -1},
        {"1e2", 100, 100},
        {"1e-5", 0, 0},
        {"2147483648", INT32_MAX, INT64_C(2147483648)},
        {"-2147483649", INT32_MIN, INT64_C(-2147483649)},
        {"9223372036854775807", INT32_MAX, INT64_MAX},
        {"9223372036854775808", INT32_MAX, INT64_MAX},
        {"-9223372036854775809", INT32_MIN, INT64_MIN},
        {"99999999999999999999999999999999999999999999999999", INT32_MAX, INT64_MAX},
        {"1e999", INT32_MAX, INT64_MAX},
        {"-1e999", INT32_MIN, INT64_MIN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"Small\":%s,\"Large\":%s}", rows[i].digits, rows[i].digits);
        const struct whole *w = decode(text);
        assert_true(w->small.has && w->large.has);
        assert_int_equal(w->small.v, rows[i].small);
        assert_int_equal(w->large.v, rows[i].large);
    }
}

/* A list that is too long is counted, not kept. */
static void test_shape_decode__keeps_one_more_than_the_maximum(void **state)
{
    (void)state;
    const struct whole *w = decode("{\"Leaves\":[{},{},{},{\"Name\":\"4th\"},{},{},{\"x\":[{}]}]}");
    assert_int_equal(w->leaves.n, 7);
    struct leaf *const *leaves = w->leaves.all;
    assert_span(leaves[3]->name, "4th");
}

/* ---- checking ---- */

#define F "failed to satisfy constraint: "

static void test_shape_check__names_paths_as_the_service_does(void **state)
{
    span message;
    (void)state;
    assert_ok(
        shape_check(&ctx, &shape, decode("{\"Text\":\"abcd\",\"Small\":10}"), false, &message));
    assert_violates("{\"Text\":\"a\"}", "1 validation error detected: Value 'a' at 'text' " F
                                        "Member must have length greater than or equal to 2");
    assert_violates("{\"Text\":\"abcde\",\"Small\":11}",
                    "2 validation errors detected: Value 'abcde' at 'text' " F
                    "Member must have length less than or equal to 4; Value '11' at 'small' " F
                    "Member must have value less than or equal to 10");
    assert_violates("{\"Word\":\"THREE\"}",
                    "1 validation error detected: Value 'THREE' at 'word' " F
                    "Member must satisfy enum value set: [ONE, TWO]");
    assert_ok(shape_check(&ctx, &shape, decode("{\"Arn\":\"no;arn\"}"), false, &message));
    assert_violates("{\"Arn\":\"arn:12345\"}",
                    "1 validation error detected: Value 'arn:12345' at 'arn' " F
                    "Member must have length less than or equal to 8");
    assert_violates("{\"Leaf\":{}}", "1 validation error detected: Value null at 'leaf.name' " F
                                     "Member must not be null");
    assert_violates("{\"Leaves\":[{\"Name\":\"a\"},{\"Name\":\"a\",\"Count\":11}]}",
                    "1 validation error detected: Value '11' at 'leaves.2.member.count' " F
                    "Member must have value less than or equal to 10");
    assert_violates("{\"ByName\":{\"Key\":[{\"Name\":\"a\"},null]}}",
                    "1 validation error detected: Value null at 'byName.Key.member.2.member' " F
                    "Member must not be null");
}

static void test_shape_check__tells_at_most_ten(void **state)
{
    struct buf text, want;
    (void)state;
    buf_init(&text, &arena, 1 << 16);
    buf_init(&want, &arena, 1 << 16);
    buf_printf(&text, "{\"ByName\":{");
    buf_printf(&want, "10 validation errors detected: ");
    for (int i = 0; i < 12; i++) {
        buf_printf(&text, "%s\"k%d\":[{}]", i ? "," : "", i);
        if (i < 10)
            buf_printf(&want,
                       "%sValue null at 'byName.k%d.member.1.member.name' " F
                       "Member must not be null",
                       i ? "; " : "", i);
    }
    buf_printf(&text, "}}%c", 0);
    buf_put_u8(&want, 0);
    assert_violates((const char *)text.p, (const char *)want.p);
    assert_int_equal(strlen(err.message), 495); /* the caller's error is cut, the message is not */
}

/* A value of any length is shown up to a bound, and never half a character of it. */
static void test_shape_check__shows_long_values_in_part(void **state)
{
    static char text[20000];
    span message;
    (void)state;
    size_t n = (size_t)snprintf(text, sizeof text, "{\"Text\":\"a");
    while (n < 19000) n += (size_t)snprintf(text + n, sizeof text - n, "\xC3\xA9");
    snprintf(text + n, sizeof text - n, "\"}");
    assert_rc(shape_check(&ctx, &shape, decode(text), false, &message), SHEAF_VALIDATION);
    assert_true(message.n > 4000 && message.n < 4300);
    const uint8_t *at = memmem(message.p, message.n, "' at 'text'", 11);
    assert_non_null(at);
    assert_int_equal(at[-1], 0xA9);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_shape__what_is_decoded_is_encoded_again),
        CASE(test_shape_decode__takes_members_in_any_order_and_skips_others),
        CASE(test_shape_decode__reads_numbers_as_java_casts_them),
        CASE(test_shape_decode__keeps_one_more_than_the_maximum),
        CASE(test_shape_check__names_paths_as_the_service_does),
        CASE(test_shape_check__tells_at_most_ten),
        CASE(test_shape_check__shows_long_values_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
