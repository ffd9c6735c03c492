/* core: TagResource, UntagResource, ListTagsOfResource and the tags of CreateTable. */
#include "support/core_support.h"

#include "base/limits.h"
#include "base/mem.h"
#include "core/tables.h"

#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define L(text) SPAN_LIT(text)
#define TAG(k, v)                                                                                  \
    {                                                                                              \
        SPAN_LIT(k), SPAN_LIT(v)                                                                   \
    }
#define TAGS(...)                                                                                  \
    (const struct core_tag[]){__VA_ARGS__},                                                        \
        sizeof((const struct core_tag[]){__VA_ARGS__}) / sizeof(struct core_tag)
#define KEYS(...) (const span[]){__VA_ARGS__}, sizeof((const span[]){__VA_ARGS__}) / sizeof(span)

/* Where a message comes from. */
#define QUIRKS_107 "ack-api-quirks, DDB-TABLE-107 (captured on AWS)"
#define QUIRKS_108 "ack-api-quirks, DDB-TABLE-108 (captured on AWS)"
#define QUIRKS_372 "ack-api-quirks, DDB-TABLE-372 (captured on AWS)"
#define QUIRKS_457 "ack-api-quirks, DDB-TABLE-457 (captured on AWS)"
#define CATALOGUE "ack-api-quirks, catalogue of ValidationException (captured on AWS)"
#define DYNALITE "dynalite, validations/tagResource.js (run against AWS)"

#define ARN "arn:aws:dynamodb:us-east-1:000000000000:table/"

static void create(struct core_test *t, const char *name)
{
    struct core_table_outcome out;
    struct core_create_table q = {.table = span_cstr(name), .hash = {L("p"), VAL_S}};
    assert_ok(core_create_table(t->core, &t->ctx, &q, &out));
}

static int setup(void **state)
{
    static struct core_test t;
    core_test_init(&t, NULL);
    create(&t, "Tab");
    *state = &t;
    return 0;
}

static int teardown(void **state)
{
    core_test_deinit(*state);
    return 0;
}

static void tag(struct core_test *t, const char *table, const struct core_tag *tags, uint32_t n)
{
    sheaf_position position;
    if (core_tag(t->core, &t->ctx, span_cstr(table), tags, n, &position) != SHEAF_OK)
        fail_msg("TagResource: %s", t->err.message);
    assert_true(position > 0);
}

/* "k=v k=v", in order. */
static const char *list(struct core_test *t, const char *table)
{
    struct core_tags_outcome out;
    struct core_list_tags q = {.table = span_cstr(table)};
    if (core_list_tags(t->core, &t->ctx, &q, &out) != SHEAF_OK)
        fail_msg("ListTagsOfResource: %s", t->err.message);
    assert_null(out.last.p);
    assert_true(out.position > 0);
    struct buf b;
    buf_init(&b, &t->arena, 1 << 20);
    for (uint32_t i = 0; i < out.n; i++)
        buf_printf(&b, "%s%.*s=%.*s", i ? " " : "", SPAN_ARG(out.tags[i].key),
                   SPAN_ARG(out.tags[i].value));
    buf_put_u8(&b, '\0');
    return buf_span(&b).p;
}

static void test_tag__sets_and_overwrites_and_lists_by_key(void **state)
{
    struct core_test *t = *state;
    assert_string_equal(list(t, "Tab"), "");
    tag(t, "Tab", TAGS(TAG("b", "1"), TAG("a", ""), TAG(" ", "x y")));
    tag(t, ARN "Tab", TAGS(TAG("b", "2"), TAG("c", "3")));
    assert_string_equal(list(t, ARN "Tab"), " =x y a= b=2 c=3");
}

static void test_untag__removes_what_is_there_and_minds_nothing_else(void **state)
{
    struct core_test *t = *state;
    sheaf_position position;
    tag(t, "Tab", TAGS(TAG("a", "1"), TAG("b", "2"), TAG("c", "3")));
    assert_ok(core_untag(t->core, &t->ctx, L("Tab"), KEYS(L("b"), L("ghost")), &position));
    assert_true(position > 0);
    assert_string_equal(list(t, "Tab"), "a=1 c=3");
}

static void test_list_tags__pages_by_key(void **state)
{
    struct core_test *t = *state;
    struct core_tags_outcome out;
    tag(t, "Tab", TAGS(TAG("a", "1"), TAG("b", "2"), TAG("c", "3")));
    struct core_list_tags q = {.table = L("Tab"), .limit = 2};
    assert_ok(core_list_tags(t->core, &t->ctx, &q, &out));
    assert_int_equal(out.n, 2);
    assert_span(out.last, "b");
    q.after = out.last;
    assert_ok(core_list_tags(t->core, &t->ctx, &q, &out));
    assert_int_equal(out.n, 1);
    assert_span(out.tags[0].key, "c");
    assert_null(out.last.p);
}

static void test_tags__go_with_the_table_and_come_with_it(void **state)
{
    struct core_test *t = *state;
    struct core_table_outcome out;
    tag(t, "Tab", TAGS(TAG("a", "1")));
    assert_ok(core_delete_table(t->core, &t->ctx, L("Tab"), &out));
    create(t, "Tab");
    assert_string_equal(list(t, "Tab"), "");
    struct core_tag tags[] = {TAG("z", "1"), TAG("y", "2")};
    struct core_create_table q = {
        .table = L("Tagged"), .hash = {L("p"), VAL_S}, .tags = tags, .n_tags = 2};
    assert_ok(core_create_table(t->core, &t->ctx, &q, &out));
    assert_string_equal(list(t, "Tagged"), "y=2 z=1");
}

static void test_tags__survive_other_changes_of_the_table(void **state)
{
    struct core_test *t = *state;
    struct core_table_outcome out;
    sheaf_position position;
    tag(t, "Tab", TAGS(TAG("a", "1")));
    struct core_update_table q = {.table = L("Tab"), .protection = CORE_ON};
    assert_ok(core_update_table(t->core, &t->ctx, &q, &out));
    assert_ok(core_update_ttl(t->core, &t->ctx, L("Tab"), L("ttl"), true, &position));
    assert_string_equal(list(t, "Tab"), "a=1");
}

static void number_tags(struct core_test *t, struct core_tag *tags, uint32_t n, const char *value)
{
    for (uint32_t i = 0; i < n; i++) {
        struct buf b;
        buf_init(&b, &t->arena, 16);
        buf_printf(&b, "k%03u", i);
        tags[i] = (struct core_tag){buf_span(&b), span_cstr(value)};
    }
}

static void test_tag__takes_fifty_and_counts_what_there_will_be(void **state)
{
    struct core_test *t = *state;
    struct core_tag tags[LIMIT_TAGS + 1];
    struct core_tags_outcome out;
    sheaf_position position;
    number_tags(t, tags, COUNT(tags), "v");
    tag(t, "Tab", tags, LIMIT_TAGS);
    struct {
        const struct core_tag *tags;
        uint32_t n;
    } rows[] = {{tags + LIMIT_TAGS, 1}, {tags + LIMIT_TAGS - 1, 2}, {tags, LIMIT_TAGS + 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_rc(core_tag(t->core, &t->ctx, L("Tab"), rows[i].tags, rows[i].n, &position),
                  SHEAF_VALIDATION);
        assert_string_equal(t->err.message, /* QUIRKS_108 */
                            "Number of Tags exceed the current limit for the provided ResourceArn");
    }
    number_tags(t, tags, COUNT(tags), "w");
    tag(t, "Tab", tags, LIMIT_TAGS); /* all there already */
    struct core_list_tags q = {.table = L("Tab")};
    assert_ok(core_list_tags(t->core, &t->ctx, &q, &out));
    assert_int_equal(out.n, LIMIT_TAGS);
    assert_null(out.last.p);
    for (uint32_t i = 0; i < out.n; i++) assert_span(out.tags[i].value, "w");
    struct core_table_outcome table;
    struct core_create_table many = {
        .table = L("Many"), .hash = {L("p"), VAL_S}, .tags = tags, .n_tags = LIMIT_TAGS + 1};
    assert_rc(core_create_table(t->core, &t->ctx, &many, &table), SHEAF_VALIDATION);
    assert_rc(core_describe_table(t->core, &t->ctx, many.table, &table), SHEAF_RESOURCE_NOT_FOUND);
}

/* n characters of two bytes each. */
static span letters(struct core_test *t, size_t n)
{
    struct buf b;
    buf_init(&b, &t->arena, 4096);
    for (size_t i = 0; i < n; i++) buf_printf(&b, "\xD7\x90");
    return buf_span(&b);
}

static void test_tag__counts_characters(void **state)
{
    struct core_test *t = *state;
    sheaf_position position;
    struct core_tag longest = {letters(t, 128), letters(t, 256)};
    tag(t, "Tab", &longest, 1);
    struct core_tag key = {letters(t, 129), L("v")}, value = {L("k"), letters(t, 257)};
    assert_rc(core_tag(t->core, &t->ctx, L("Tab"), &key, 1, &position), SHEAF_VALIDATION);
    assert_memory_equal(t->err.message, "The Tag Key provided is invalid, Key: ", 38);
    assert_rc(core_tag(t->core, &t->ctx, L("Tab"), &value, 1, &position), SHEAF_VALIDATION);
    assert_memory_equal(t->err.message, "The Tag Value provided is invalid, Value: ", 42);
}

static void test_tag__takes_letters_of_any_script_and_few_signs(void **state)
{
    struct core_test *t = *state;
    /* QUIRKS_372: the accepted, then the refused. */
    static const char *const good[] = {
        "ключ", "café", "表", "a\u00A0b", "a\u3000b", "a+b-c=d.e_f:g/h@i", "0", "٣", " "};
    static const char *const bad[] = {"🔑",   "100%", "a,b",  "it's", "\"q\"", "(x)",  "[y]", "{z}",
                                      "a&b", "a*b",  "a;b",  "a?b",  "a|b",   "a\\b", "<a>", "~a",
                                      "#",   "!",    "\x01", "\x80", "…",     "€",    "→"};
    sheaf_position position;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct core_tag x = {span_cstr(good[i]), span_cstr(good[i])};
        tag(t, "Tab", &x, 1);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct core_tag key = {span_cstr(bad[i]), L("v")}, value = {L("k"), span_cstr(bad[i])};
        if (core_tag(t->core, &t->ctx, L("Tab"), &key, 1, &position) != SHEAF_VALIDATION ||
            core_tag(t->core, &t->ctx, L("Tab"), &value, 1, &position) != SHEAF_VALIDATION)
            fail_msg("\"%s\" is taken", bad[i]);
    }
}

struct refused {
    const char *source;
    sheaf_rc rc;
    const char *message;
    const char *table;
    struct core_tag tags[2];
    uint32_t n;
};

static void test_tag__refuses_whole_requests(void **state)
{
    struct core_test *t = *state;
    static const struct refused rows[] = {
        {DYNALITE, SHEAF_VALIDATION, "Invalid TableArn", NULL, {TAG("a", "1")}, 1},
        {CATALOGUE,
         SHEAF_RESOURCE_NOT_FOUND,
         "Requested resource not found: ResourceArn: " ARN "Ghost not found",
         ARN "Ghost",
         {TAG("a", "1")},
         1},
        {CATALOGUE,
         SHEAF_VALIDATION,
         "One or more parameter values were invalid: Invalid resource arn provided, only table or "
         "stream is accepted. Provided resource arn: " ARN "Tab/index/gsi",
         ARN "Tab/index/gsi",
         {TAG("a", "1")},
         1},
        {CATALOGUE,
         SHEAF_VALIDATION,
         "One or more parameter values were invalid: Provided Arn is not a DynamoDB resource arn: "
         "arn:aws:dynamodb:us-east-1:0:global-table/Tab",
         "arn:aws:dynamodb:us-east-1:0:global-table/Tab",
         {TAG("a", "1")},
         1},
        {QUIRKS_107,
         SHEAF_VALIDATION,
         "Atleast one Tag needs to be provided as Input.",
         "Tab",
         {TAG("a", "1")},
         0},
        {QUIRKS_107,
         SHEAF_VALIDATION,
         "The Tag Key provided is invalid, Key: ",
         "Tab",
         {TAG("good", "1"), TAG("", "1")},
         2},
        {QUIRKS_457,
         SHEAF_VALIDATION,
         "The Tag Key provided is invalid, Key: null",
         "Tab",
         {{{NULL, 0}, {"1", 1}}},
         1},
        {QUIRKS_107,
         SHEAF_VALIDATION,
         "The Tag Value provided is invalid, Value: null",
         "Tab",
         {{{"k", 1}, {NULL, 0}}},
         1},
        {QUIRKS_107,
         SHEAF_VALIDATION,
         "Duplicate Tag Keys provided as input: Duplicate Tag Key found dup",
         "Tab",
         {TAG("dup", "1"), TAG("dup", "2")},
         2},
        {QUIRKS_107,
         SHEAF_VALIDATION,
         "Tag Key cannot be prefixed with aws:, Key: aws:zzz",
         "Tab",
         {TAG("good", "1"), TAG("aws:zzz", "1")},
         2},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        sheaf_position position;
        span table = rows[i].table ? span_cstr(rows[i].table) : SPAN_NONE;
        sheaf_rc rc = core_tag(t->core, &t->ctx, table, rows[i].tags, rows[i].n, &position);
        if (rc != rows[i].rc || strcmp(t->err.message, rows[i].message) != 0)
            fail_msg("row %zu: rc %d \"%s\", wanted \"%s\"", i, (int)rc, t->err.message,
                     rows[i].message);
        assert_int_equal(position > 0, rc == SHEAF_RESOURCE_NOT_FOUND);
    }
    assert_string_equal(list(t, "Tab"), "");
}

static void test_untag__refuses_whole_requests(void **state)
{
    struct core_test *t = *state;
    sheaf_position position;
    span many[LIMIT_TAGS + 1];
    for (size_t i = 0; i < COUNT(many); i++) many[i] = L("a");
    tag(t, "Tab", TAGS(TAG("a", "1")));
    assert_rc(core_untag(t->core, &t->ctx, L("Tab"), many, 0, &position), SHEAF_VALIDATION);
    assert_string_equal(t->err.message, "Atleast one Tag Key needs to be provided as Input.");
    assert_rc(core_untag(t->core, &t->ctx, L("Tab"), many, COUNT(many), &position),
              SHEAF_VALIDATION);
    assert_string_equal(t->err.message,
                        "Number of Tags exceed the current limit for the provided ResourceArn");
    many[1] = L("");
    assert_rc(core_untag(t->core, &t->ctx, L("Tab"), many, 2, &position), SHEAF_VALIDATION);
    assert_string_equal(t->err.message, "The Tag Key provided is invalid, Key: ");
    assert_rc(core_untag(t->core, &t->ctx, L("Ghost"), many, 1, &position),
              SHEAF_RESOURCE_NOT_FOUND);
    assert_string_equal(list(t, "Tab"), "a=1");
}

static void test_tags__are_there_after_reopening(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_tags_XXXXXX", command[64];
    struct core_test t;
    sheaf_engine *e;
    assert_non_null(mkdtemp(dir));
    for (int round = 0; round < 2; round++) {
        assert_ok(sheaf_engine_open_rocks(dir, NULL, &e, NULL));
        core_test_init_on(&t, e, NULL);
        if (round == 0) {
            create(&t, "Tab");
            tag(&t, "Tab", TAGS(TAG("a", "1"), TAG("ключ", "")));
        }
        assert_string_equal(list(&t, "Tab"), "a=1 ключ=");
        core_test_deinit(&t);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

static sheaf_rc tag_and_list(struct core *core, struct ctx *c)
{
    struct core_tags_outcome out;
    sheaf_position position;
    static const struct core_tag tags[] = {TAG("b", "2"), TAG("c", "3")};
    static const span gone[] = {SPAN_LIT("b")};
    TRY(core_tag(core, c, L("Tab"), tags, 2, &position));
    TRY(core_untag(core, c, L("Tab"), gone, 1, &position));
    return core_list_tags(core, c, &(struct core_list_tags){.table = L("Tab")}, &out);
}

static void test_tags__survive_every_failed_allocation(void **state)
{
    struct core_test *t = *state;
    tag(t, "Tab", TAGS(TAG("a", "1")));
    uint64_t refused = 0;
    for (uint64_t nth = 1, is_reached = true; is_reached; nth++) {
        struct arena arena;
        arena_init(&arena, 1 << 20);
        uint64_t before = mem_count();
        mem_fail_at(nth, false);
        sheaf_rc rc = tag_and_list(t->core, &(struct ctx){&arena, &t->err});
        mem_fail_at(0, false);
        is_reached = mem_count() - before >= nth;
        arena_deinit(&arena);
        assert_true(rc == SHEAF_OK || (rc == SHEAF_NOMEM && is_reached));
        refused += rc != SHEAF_OK;
        const char *now = list(t, "Tab");
        assert_true(strcmp(now, "a=1") == 0 || strcmp(now, "a=1 c=3") == 0 ||
                    strcmp(now, "a=1 b=2 c=3") == 0);
    }
    assert_true(refused > 0);
    assert_string_equal(list(t, "Tab"), "a=1 c=3");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_tag__sets_and_overwrites_and_lists_by_key),
        T(test_untag__removes_what_is_there_and_minds_nothing_else),
        T(test_list_tags__pages_by_key),
        T(test_tags__go_with_the_table_and_come_with_it),
        T(test_tags__survive_other_changes_of_the_table),
        T(test_tag__takes_fifty_and_counts_what_there_will_be),
        T(test_tag__counts_characters),
        T(test_tag__takes_letters_of_any_script_and_few_signs),
        T(test_tag__refuses_whole_requests),
        T(test_untag__refuses_whole_requests),
        cmocka_unit_test(test_tags__are_there_after_reopening),
        T(test_tags__survive_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
