#include "support/support.h"

#include "base/mem.h"
#include "support/doc.h"
#include "json/json.h"

struct fixture {
    struct arena arena;
    sheaf_error err;
    struct ctx ctx;
    struct json j;
};

static void begin(struct fixture *f, span text)
{
    arena_init(&f->arena, 256 << 20);
    err_clear(&f->err);
    f->ctx = (struct ctx){&f->arena, &f->err};
    json_init(&f->j, &f->ctx, text);
}

static void end(struct fixture *f) { arena_deinit(&f->arena); }

static sheaf_rc read_all(struct fixture *f, struct json_item *out)
{
    TRY(json_read_item(&f->j, out));
    return json_end(&f->j);
}

/* ---- what an item becomes ---- */

static const struct {
    const char *json, *doc;
} good_rows[] = {
    {"{}", "{}"},
    {" { } ", "{}"},
    {"{\"a\":{\"S\":\"x\"}}", "{a: 'x'}"},
    {"{\"a\":{\"S\":\"\"}}", "{a: ''}"},
    {"{\"a\" : { \"S\" : \"x\" } , \"b\" : { \"N\" : \"1\" } }", "{a: 'x', b: 1}"},
    {"{\"b\":{\"N\":\"1.50\"},\"a\":{\"N\":\"-1E2\"}}", "{a: -100, b: 1.5}"},
    {"{\"a\":{\"B\":\"AP8=\"}}", "{a: b'\\00\\ff'}"},
    {"{\"a\":{\"B\":\"\"}}", "{a: b''}"},
    {"{\"a\":{\"BOOL\":true},\"b\":{\"BOOL\":false},\"c\":{\"NULL\":true}}",
     "{a: true, b: false, c: null}"},
    {"{\"a\":{\"BOOL\":\"true\"},\"b\":{\"NULL\":\"true\"}}", "{a: true, b: null}"},
    {"{\"a\":{\"SS\":[\"b\",\"a\",\"\"]}}", "{a: <'', 'a', 'b'>}"},
    {"{\"a\":{\"NS\":[\"2\",\"-1\"]}}", "{a: <-1, 2>}"},
    {"{\"a\":{\"BS\":[\"Yg==\",\"YQ==\"]}}", "{a: <b'a', b'b'>}"},
    {"{\"a\":{\"L\":[]},\"b\":{\"M\":{}}}", "{a: [], b: {}}"},
    {"{\"a\":{\"L\":[{\"N\":\"1\"},{\"L\":[{\"S\":\"x\"}]},{\"M\":{\"k\":{\"NULL\":true}}}]}}",
     "{a: [1, ['x'], {k: null}]}"},
    {"{\"a\":{\"M\":{\"c\":{\"S\":\"1\"},\"b\":{\"M\":{\"d\":{\"S\":\"2\"}}}}}}",
     "{a: {b: {d: '2'}, c: '1'}}"},
    {"{\"\\u0061\\n\":{\"S\":\"\\u00e9\\\\\"}}", "{'a\\0a': '\\c3\\a9\\5c'}"},
    /* Members that are null count as absent, unknown ones are passed over (floci, AWS in 2026). */
    {"{\"a\":{\"S\":\"x\",\"N\":null}}", "{a: 'x'}"},
    {"{\"a\":{\"X\":[1,{\"y\":2}],\"S\":\"x\",\"s\":1}}", "{a: 'x'}"},
    {"{\"a\":{\"L\":[{\"S\":\"x\"}],\"SS\":null,\"what\":{}}}", "{a: ['x']}"},
};

static void test_read_item__builds_what_stands_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_rows / sizeof good_rows[0]; i++) {
        struct fixture f;
        struct json_item got;
        begin(&f, span_cstr(good_rows[i].json));
        assert_ok(read_all(&f, &got));
        if (got.fault) fail_msg("%s: %s", good_rows[i].json, got.fault);
        assert_true(got.has);
        assert_ok(item_check(got.item, &f.err));
        span want = doc_text_item(&f.arena, good_rows[i].doc);
        if (!span_eq(got.item, want))
            fail_msg("%s became %s", good_rows[i].json, doc_val_text(&f.arena, item_map(got.item)));
        end(&f);
    }
}

static void test_read_item__of_null_is_absent(void **state)
{
    (void)state;
    struct fixture f;
    struct json_item got;
    begin(&f, SPAN_LIT("null"));
    assert_ok(read_all(&f, &got));
    assert_false(got.has);
    assert_null(got.item.p);
    assert_null(got.fault);
    end(&f);
}

static void test_read_value__is_an_item_of_one_attribute(void **state)
{
    (void)state;
    struct fixture f;
    struct json_item got;
    begin(&f, SPAN_LIT("[{\"L\":[{\"N\":\"1\"}]},{},null,\"x\"]"));
    bool has;
    assert_ok(json_array(&f.j));
    assert_ok(json_next_element(&f.j, &has));
    assert_ok(json_read_value(&f.j, SPAN_LIT("v"), &got));
    assert_true(got.has);
    assert_span(span_cstr(doc_val_text(&f.arena, item_map(got.item))), "{v: [1]}");
    assert_ok(json_next_element(&f.j, &has));
    assert_ok(json_read_value(&f.j, SPAN_LIT("v"), &got));
    assert_string_equal(got.fault, "Supplied AttributeValue is empty, must contain exactly one of "
                                   "the supported datatypes");
    assert_span(got.fault_name, "v");
    assert_ok(json_next_element(&f.j, &has));
    assert_ok(json_read_value(&f.j, SPAN_LIT("v"), &got));
    assert_false(got.has);
    assert_ok(json_next_element(&f.j, &has));
    assert_rc(json_read_value(&f.j, SPAN_LIT("v"), &got), SHEAF_SERIALIZATION);
    assert_string_equal(f.err.message, "Unexpected field type");
    end(&f);
}

/* ---- faults ---- */

#define CONFORMANCE "dynamodb-conformance, error-messages/putItem, run on AWS 2026"
#define DYNALITE "dynalite test/putItem.js, run on AWS"
#define LOCAL "DynamoDB Local; aws/aws-sdk-java issue 2103, the service itself"
#define UNVERIFIED NULL

#define INVALID "One or more parameter values were invalid: "
#define EMPTY                                                                                      \
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
#define SEVERAL                                                                                    \
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "    \
    "supported datatypes"
#define NUMERIC "The parameter cannot be converted to a numeric value"
#define IS_NULL "The supplied Item contains a null AttributeValue"

static const struct {
    const char *value, *fault, *source;
} fault_rows[] = {
    {"{}", EMPTY, DYNALITE},
    {"{\"a\":\"\"}", EMPTY, DYNALITE},
    {"{\"s\":\"x\"}", EMPTY, UNVERIFIED},
    {"{\"S\":null}", EMPTY, UNVERIFIED},
    {"{\"L\":[{}]}", EMPTY, UNVERIFIED},
    {"{\"M\":{\"k\":{}}}", EMPTY, UNVERIFIED},
    {"{\"S\":\"a\",\"N\":\"1\"}", SEVERAL, DYNALITE},
    {"{\"L\":[],\"M\":{\"a\":{\"S\":\"x\"}}}", SEVERAL, UNVERIFIED},
    {"{\"L\":[{\"S\":\"a\",\"SS\":[]}]}", SEVERAL, UNVERIFIED},
    {"{\"NULL\":false}", INVALID "Null attribute value types must have the value of true",
     CONFORMANCE},
    {"{\"NULL\":\"no\"}", INVALID "Null attribute value types must have the value of true",
     DYNALITE},
    {"{\"SS\":[]}", INVALID "An string set  may not be empty", CONFORMANCE},
    {"{\"NS\":[]}", INVALID "An number set  may not be empty", CONFORMANCE},
    {"{\"BS\":[]}", INVALID "Binary sets should not be empty", CONFORMANCE},
    {"{\"SS\":[\"a\",\"a\"]}", INVALID "Input collection [a, a] contains duplicates.", DYNALITE},
    {"{\"NS\":[\"1\",\"1.0\"]}", "Input collection contains duplicates", DYNALITE},
    {"{\"BS\":[\"Yg==\",\"Yg==\"]}",
     INVALID "Input collection [Yg==, Yg==]of type BS contains duplicates.", DYNALITE},
    {"{\"N\":\"\"}", NUMERIC, DYNALITE},
    {"{\"N\":\"b\"}", NUMERIC ": b", DYNALITE},
    {"{\"N\":\" 1\"}", NUMERIC ":  1", UNVERIFIED},
    {"{\"N\":\"1.2.3\"}", NUMERIC ": 1.2.3", UNVERIFIED},
    {"{\"N\":\"NaN\"}", NUMERIC ": NaN", "ScyllaDB test/alternator/test_manual_requests.py"},
    {"{\"NS\":[\"1\",\"b\",\"a\"]}", NUMERIC ": b", DYNALITE},
    {"{\"NS\":[\"1\",\"\"]}", NUMERIC, DYNALITE},
    {"{\"N\":\"1e126\"}",
     "Number overflow. Attempting to store a number with magnitude larger than supported range",
     DYNALITE},
    {"{\"N\":\"1e-131\"}",
     "Number underflow. Attempting to store a number with magnitude smaller than supported range",
     DYNALITE},
    {"{\"N\":\"123456789012345678901234567890123456789\"}",
     "Attempting to store more than 38 significant digits in a Number", DYNALITE},
    {"{\"L\":[null]}", IS_NULL, LOCAL},
    {"{\"M\":{\"k\":null}}", IS_NULL, UNVERIFIED},
    {"null", IS_NULL, UNVERIFIED},
    {"{\"SS\":[\"a\",null]}", INVALID "An string set may not have a null string as a member",
     UNVERIFIED},
    {"{\"NS\":[null]}", INVALID "An number set may not have a null string as a member", UNVERIFIED},
    {"{\"BS\":[null]}", INVALID "Binary sets may not contain null or empty values", UNVERIFIED},
    {"{\"M\":{\"k\":{\"S\":\"1\"},\"k\":{\"S\":\"2\"}}}", INVALID "Duplicate attribute name: k",
     UNVERIFIED},
};

static void test_read_item__tells_faults_from_errors(void **state)
{
    (void)state;
    size_t n = sizeof fault_rows / sizeof fault_rows[0], unverified = 0;
    for (size_t i = 0; i < n; i++) {
        struct fixture f;
        struct json_item got;
        char text[512];
        snprintf(text, sizeof text, "{\"ok\":{\"S\":\"1\"},\"bad\":%s,\"too\":{\"N\":\"x\"}}",
                 fault_rows[i].value);
        begin(&f, span_cstr(text));
        unverified += fault_rows[i].source == UNVERIFIED;
        assert_ok(read_all(&f, &got)); /* to the end, whatever stands in the middle */
        assert_true(got.has);
        assert_null(got.item.p);
        if (!got.fault) fail_msg("%s: no fault", text);
        assert_string_equal(got.fault, fault_rows[i].fault);
        assert_span(got.fault_name, "bad");
        end(&f);
    }
    printf("faults: %zu rows, %zu unverified\n", n, unverified);
}

static void test_read_item__refuses_a_repeated_attribute(void **state)
{
    (void)state;
    struct fixture f;
    struct json_item got;
    begin(&f, SPAN_LIT("{\"a\":{\"S\":\"1\"},\"b\":{\"S\":\"1\"},\"\\u0061\":{\"S\":\"2\"}}"));
    assert_ok(read_all(&f, &got));
    assert_string_equal(got.fault, INVALID "Duplicate attribute name: a");
    assert_null(got.fault_name.p); /* the item's fault, not one attribute's */
    end(&f);
}

static void test_read_item__refuses_a_repeated_type(void **state)
{
    (void)state;
    static const char *const rows[] = {"{\"a\":{\"S\":\"1\",\"S\":\"2\"}}",
                                       "{\"a\":{\"L\":[],\"L\":[]}}",
                                       "{\"a\":{\"x\":1,\"S\":\"1\",\"x\":1}}"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f;
        struct json_item got;
        begin(&f, span_cstr(rows[i]));
        assert_rc(read_all(&f, &got), SHEAF_SERIALIZATION);
        end(&f);
    }
}

/* ---- errors ---- */

#define KINDS "dynalite test/helpers.js assertType AttrStruct, run on AWS"
#define FLOCI "floci DynamoDbAttributeValueValidator, written after AWS in 2026"
#define NOT_EXPECTED "Start of structure or map found where not expected"
#define NOT_BASE64 "only base-64-encoded strings are convertible to bytes"
#define COLLECTION "Unrecognized collection type "
#define MODEL "com.amazonaws.dynamodb.v20120810."
#define LAST "Invalid last non-pad Base64 character dectected"

static const struct {
    const char *value, *message, *source;
} error_rows[] = {
    {"\"23\"", "Unexpected value type in payload", KINDS},
    {"true", "Unexpected value type in payload", KINDS},
    {"34.56", "Unexpected value type in payload", KINDS},
    {"[]", COLLECTION "class " MODEL "AttributeValue", KINDS},
    {"{\"S\":23}", "NUMBER_VALUE cannot be converted to String", KINDS},
    {"{\"S\":34.56}", "DECIMAL_VALUE cannot be converted to String", KINDS},
    {"{\"S\":true}", "TRUE_VALUE cannot be converted to String", KINDS},
    {"{\"S\":[]}", COLLECTION "class java.lang.String", KINDS},
    {"{\"S\":{}}", NOT_EXPECTED, KINDS},
    {"{\"N\":23}", "NUMBER_VALUE cannot be converted to String", KINDS},
    {"{\"N\":{}}", NOT_EXPECTED, KINDS},
    {"{\"B\":true}", NOT_BASE64, KINDS},
    {"{\"B\":23}", NOT_BASE64, KINDS},
    {"{\"B\":[]}", COLLECTION "class java.nio.ByteBuffer", KINDS},
    {"{\"B\":{}}", NOT_EXPECTED, KINDS},
    {"{\"B\":\"23456\"}", "Base64 encoded length is expected a multiple of 4 bytes but found: 5",
     KINDS},
    {"{\"B\":\"=+/=\"}", LAST, KINDS},
    {"{\"B\":\"+/+=\"}", LAST, KINDS},
    {"{\"B\":\"Yg==Yg==\"}", LAST, UNVERIFIED},
    {"{\"B\":\"Yh==\"}", LAST, UNVERIFIED},
    {"{\"B\":\"====\"}", LAST, UNVERIFIED},
    {"{\"B\":\"a-_b\"}", "Unexpected value type in payload", FLOCI},
    {"{\"B\":\"ab\\nc\"}", "Unexpected value type in payload", FLOCI},
    {"{\"BOOL\":\"23\"}", "Unexpected token received from parser", KINDS},
    {"{\"BOOL\":23}", "NUMBER_VALUE cannot be converted to Boolean", KINDS},
    {"{\"BOOL\":[]}", COLLECTION "class java.lang.Boolean", KINDS},
    {"{\"BOOL\":{}}", NOT_EXPECTED, KINDS},
    {"{\"NULL\":23}", "NUMBER_VALUE cannot be converted to Boolean", KINDS},
    {"{\"NULL\":\"23\"}", "Unexpected token received from parser", KINDS},
    {"{\"SS\":\"23\"}", "Unexpected field type", KINDS},
    {"{\"SS\":{}}", NOT_EXPECTED, KINDS},
    {"{\"SS\":[true]}", "TRUE_VALUE cannot be converted to String", KINDS},
    {"{\"NS\":[1]}", "NUMBER_VALUE cannot be converted to String", KINDS},
    {"{\"NS\":[[]]}", COLLECTION "class java.lang.String", KINDS},
    {"{\"BS\":[1]}", NOT_BASE64, KINDS},
    {"{\"BS\":[\"23456\"]}", "Base64 encoded length is expected a multiple of 4 bytes but found: 5",
     KINDS},
    {"{\"L\":\"23\"}", "Unexpected field type", KINDS},
    {"{\"L\":{}}", NOT_EXPECTED, KINDS},
    {"{\"L\":[\"23\"]}", "Unexpected value type in payload", KINDS},
    {"{\"L\":[[]]}", COLLECTION "class " MODEL "AttributeValue", KINDS},
    {"{\"M\":\"23\"}", "Unexpected field type", KINDS},
    {"{\"M\":[]}", COLLECTION "java.util.Map<java.lang.String, " MODEL "AttributeValue>", KINDS},
    {"{\"M\":{\"a\":23}}", "Unexpected value type in payload", KINDS},
    {"{\"M\":{\"a\":[]}}", COLLECTION "class " MODEL "AttributeValue", KINDS},
    {"{\"S\":\"a\"", "", UNVERIFIED},
    {"{\"S\":}", "", UNVERIFIED},
    {"{\"L\":[{\"S\":\"a\"},]}", "", UNVERIFIED},
    {"{\"SS\":[\"a\",]}", "", UNVERIFIED},
    {"{\"X\":[1,]}", "", UNVERIFIED},
    {"{\"S\":\"\xFF\"}", "", UNVERIFIED},
};

static void test_read_item__errors_are_serialization_exceptions(void **state)
{
    (void)state;
    size_t n = sizeof error_rows / sizeof error_rows[0], unverified = 0;
    for (size_t i = 0; i < n; i++) {
        for (int after_fault = 0; after_fault < 2; after_fault++) { /* a fault hides no error */
            struct fixture f;
            struct json_item got;
            char text[512];
            snprintf(text, sizeof text, "{\"ok\":{\"S\":\"1\"},%s\"bad\":%s}",
                     after_fault ? "\"fault\":{}," : "", error_rows[i].value);
            begin(&f, span_cstr(text));
            if (read_all(&f, &got) != SHEAF_SERIALIZATION) fail_msg("taken: %s", text);
            if (strcmp(f.err.message, error_rows[i].message) != 0)
                fail_msg("%s: %s", text, f.err.message);
            end(&f);
        }
        unverified += error_rows[i].source == UNVERIFIED;
    }
    printf("errors: %zu rows, %zu unverified\n", n, unverified);
}

static void test_read_item__wants_an_object(void **state)
{
    (void)state;
    static const struct {
        const char *in, *message;
    } rows[] = {{"\"23\"", "Unexpected field type"}, /* dynalite, Map<AttributeValue>, run on AWS */
                {"true", "Unexpected field type"},
                {"23", "Unexpected field type"},
                {"[]", COLLECTION "java.util.Map<java.lang.String, " MODEL "AttributeValue>"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f;
        struct json_item got;
        begin(&f, span_cstr(rows[i].in));
        assert_rc(read_all(&f, &got), SHEAF_SERIALIZATION);
        assert_string_equal(f.err.message, rows[i].message);
        assert_false(got.has);
        end(&f);
    }
}

/* ---- depth ---- */

/* {"a":{"L":[{"L":[ … {"S":"x"} … ]}]}}, the S being level `levels`. */
static span nested(struct arena *a, size_t levels, const char *open, const char *close)
{
    struct buf b;
    buf_init(&b, a, 64 << 20);
    buf_put(&b, "{\"a\":", 5);
    for (size_t i = 1; i < levels; i++) buf_put(&b, open, strlen(open));
    buf_put(&b, "{\"S\":\"x\"}", 9);
    for (size_t i = 1; i < levels; i++) buf_put(&b, close, strlen(close));
    buf_put_u8(&b, '}');
    return buf_span(&b);
}

#define TOO_DEEP                                                                                   \
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "    \
    "beyond supported limit"

static void test_nesting__of_32_levels_is_taken_and_33_a_fault(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"{\"L\":[", "]}"}, {"{\"M\":{\"k\":", "}}"}};
    for (size_t i = 0; i < 2; i++) {
        for (size_t levels = 31; levels < 64; levels++) {
            struct fixture f;
            struct json_item got;
            begin(&f, SPAN_NONE);
            json_init(&f.j, &f.ctx, nested(&f.arena, levels, pairs[i][0], pairs[i][1]));
            sheaf_rc rc = read_all(&f, &got);
            assert_int_equal(rc, SHEAF_OK);
            if (levels <= 32) {
                assert_null(got.fault);
                assert_int_equal(val_depth(val_at(item_map(got.item), 0)), levels);
            } else {
                assert_string_equal(got.fault, TOO_DEEP); /* dynamodb-conformance, run on AWS */
            }
            end(&f);
        }
    }
}

static void test_nesting__of_200000_levels_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    struct json_item got;
    begin(&f, SPAN_NONE);
    json_init(&f.j, &f.ctx, nested(&f.arena, 100000, "{\"L\":[", "]}"));
    assert_rc(read_all(&f, &got), SHEAF_SERIALIZATION);
    json_init(&f.j, &f.ctx, nested(&f.arena, 100000, "{\"M\":{\"\":", "}}"));
    assert_rc(read_all(&f, &got), SHEAF_SERIALIZATION);
    end(&f);
}

/* ---- size ---- */

static void test_read_item__the_ceiling_holds_for_what_encodes_worst(void **state)
{
    (void)state;
    static const char *const units[] = {"{\"L\":[]}", "{\"M\":{}}", "{\"NULL\":true}",
                                        "{\"S\":\"\"}", "{\"N\":\"1\"}"};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        struct fixture f;
        struct json_item got;
        struct buf b;
        begin(&f, SPAN_NONE);
        buf_init(&b, &f.arena, 64 << 20);
        buf_put(&b, "{\"a\":{\"L\":[", 11);
        for (size_t k = 0; k < 100000; k++) {
            if (k) buf_put_u8(&b, ',');
            buf_put(&b, units[i], strlen(units[i]));
        }
        buf_put(&b, "]}}", 3);
        json_init(&f.j, &f.ctx, buf_span(&b));
        assert_ok(read_all(&f, &got));
        assert_null(got.fault);
        assert_int_equal(val_count(val_at(item_map(got.item), 0)), 100000);
        end(&f);
    }
}

static void test_read_item__takes_texts_of_16_mb(void **state)
{
    (void)state;
    struct fixture f;
    struct json_item got;
    struct buf b;
    begin(&f, SPAN_NONE);
    buf_init(&b, &f.arena, 32 << 20);
    size_t n = (16 << 20) - 32;
    buf_put(&b, "{\"a\":{\"S\":\"", 11);
    memset(buf_room(&b, n), 'x', n);
    b.n += n;
    buf_put(&b, "\"}}", 3);
    json_init(&f.j, &f.ctx, buf_span(&b));
    assert_ok(read_all(&f, &got));
    assert_null(got.fault); /* whether 409,600 bytes are passed is the caller's to say */
    assert_int_equal(item_size(got.item), n + 1);
    end(&f);
}

/* ---- memory ---- */

static void test_read_item__survives_each_failing_allocation(void **state)
{
    (void)state;
    static const char *const texts[] = {"{\"b\":{\"L\":[{\"S\":\"\\n\"},{\"B\":\"AAAA\"},{\"M\":{"
                                        "\"z\":{\"SS\":[\"b\",\"a\"]},\"y\":"
                                        "{\"NULL\":true}}}]},\"a\":{\"N\":\"1\"}}",
                                        "{\"a\":{\"N\":\"x\"}}"};
    for (size_t i = 0; i < 2; i++) {
        for (uint64_t nth = 1;; nth++) {
            struct fixture f;
            struct json_item got;
            begin(&f, span_cstr(texts[i]));
            mem_fail_at(nth, true); /* for ever, since the builder tries once more */
            sheaf_rc rc = read_all(&f, &got);
            mem_fail_at(0, false);
            if (rc == SHEAF_OK) {
                assert_int_equal(got.fault != NULL, i == 1);
                end(&f);
                assert_true(nth > 1);
                break;
            }
            assert_int_equal(rc, SHEAF_NOMEM);
            assert_string_equal(f.err.message, "out of memory");
            end(&f);
        }
    }
}

static void test_read_item__is_refused_at_the_arenas_ceiling(void **state)
{
    (void)state;
    for (size_t ceiling = 0; ceiling < 8192; ceiling += 64) {
        struct fixture f;
        struct json_item got;
        begin(&f,
              span_cstr("{\"b\":{\"L\":[{\"S\":\"\\n\"},{\"B\":\"AAAA\"}]},\"a\":{\"N\":\"1\"}}"));
        f.arena.ceiling = ceiling;
        sheaf_rc rc = read_all(&f, &got);
        assert_true(rc == SHEAF_OK || rc == SHEAF_NOMEM);
        end(&f);
    }
}

static void test_read_item__without_a_place_for_the_error(void **state)
{
    (void)state;
    struct fixture f;
    struct json_item got;
    begin(&f, SPAN_LIT("{\"a\":{}}"));
    f.ctx.err = NULL;
    assert_ok(read_all(&f, &got));
    assert_string_equal(got.fault, EMPTY);
    json_init(&f.j, &f.ctx, SPAN_LIT("{\"a\":1}"));
    assert_rc(read_all(&f, &got), SHEAF_SERIALIZATION);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_item__builds_what_stands_there),
        cmocka_unit_test(test_read_item__of_null_is_absent),
        cmocka_unit_test(test_read_value__is_an_item_of_one_attribute),
        cmocka_unit_test(test_read_item__tells_faults_from_errors),
        cmocka_unit_test(test_read_item__refuses_a_repeated_attribute),
        cmocka_unit_test(test_read_item__refuses_a_repeated_type),
        cmocka_unit_test(test_read_item__errors_are_serialization_exceptions),
        cmocka_unit_test(test_read_item__wants_an_object),
        cmocka_unit_test(test_nesting__of_32_levels_is_taken_and_33_a_fault),
        cmocka_unit_test(test_nesting__of_200000_levels_is_refused),
        cmocka_unit_test(test_read_item__the_ceiling_holds_for_what_encodes_worst),
        cmocka_unit_test(test_read_item__takes_texts_of_16_mb),
        cmocka_unit_test(test_read_item__survives_each_failing_allocation),
        cmocka_unit_test(test_read_item__is_refused_at_the_arenas_ceiling),
        cmocka_unit_test(test_read_item__without_a_place_for_the_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
