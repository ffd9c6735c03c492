/* Figures as text. */
#include "support/support.h"

#include "base/mem.h"
#include "server/metrics.h"

static const char *name(uint32_t i) { return i == 0 ? "GetItem" : i == 1 ? "PutItem" : NULL; }

static void count(struct metrics *m, uint32_t operation, sheaf_rc rc, uint64_t us)
{
    metrics_count(
        m,
        &(struct metrics_sample){
            .operation = operation, .rc = rc, .ns = us * 1000, .bytes_in = 10, .bytes_out = 100});
}

/* The text of two loops' figures. */
static char *format(const struct metrics *a, const struct metrics *b)
{
    const struct metrics *all[] = {a, b};
    struct buf text;
    buf_init(&text, NULL, 1 << 20);
    metrics_format(&text, all, 2, name);
    buf_put_u8(&text, 0);
    assert_false(text.failed);
    return (char *)text.p;
}

static void assert_has(const char *text, const char *line)
{
    if (!strstr(text, line)) fail_msg("no line %s in\n%s", line, text);
}

static void test_metrics__loops_are_summed_by_operation(void **state)
{
    (void)state;
    struct metrics *a = mem_zalloc(sizeof *a), *b = mem_zalloc(sizeof *b);
    count(a, 0, SHEAF_OK, 10);
    count(b, 0, SHEAF_OK, 60);
    count(b, 0, SHEAF_VALIDATION, 6000000);
    char *text = format(a, b);
    assert_has(text, "\nsheaf_requests_total{operation=\"GetItem\"} 3\n");
    assert_has(text, "\nsheaf_errors_total{operation=\"GetItem\","
                     "exception=\"ValidationException\"} 1\n");
    assert_has(text, "\nsheaf_body_bytes_total{operation=\"GetItem\",direction=\"in\"} 30\n");
    assert_has(text, "\nsheaf_body_bytes_total{operation=\"GetItem\",direction=\"out\"} 300\n");
    assert_null(strstr(text, "PutItem"));
    mem_free(text);
    mem_free(a);
    mem_free(b);
}

static void test_metrics__buckets_are_cumulative_and_their_bounds_inclusive(void **state)
{
    (void)state;
    struct metrics *a = mem_zalloc(sizeof *a), *b = mem_zalloc(sizeof *b);
    count(a, 1, SHEAF_OK, 50);
    count(a, 1, SHEAF_OK, 51);
    count(b, 1, SHEAF_OK, 5000001);
    char *text = format(a, b);
    assert_has(text, "\nsheaf_request_seconds_bucket{operation=\"PutItem\",le=\"5e-05\"} 1\n");
    assert_has(text, "\nsheaf_request_seconds_bucket{operation=\"PutItem\",le=\"0.0001\"} 2\n");
    assert_has(text, "\nsheaf_request_seconds_bucket{operation=\"PutItem\",le=\"5\"} 2\n");
    assert_has(text, "\nsheaf_request_seconds_bucket{operation=\"PutItem\",le=\"+Inf\"} 3\n");
    assert_has(text, "\nsheaf_request_seconds_count{operation=\"PutItem\"} 3\n");
    assert_has(text, "\nsheaf_request_seconds_sum{operation=\"PutItem\"} 5.000102000\n");
    mem_free(text);
    mem_free(a);
    mem_free(b);
}

/* InternalServerError is the name of several codes. A line for each would be a duplicate, which
 * Prometheus refuses. */
static void test_metrics__codes_with_one_name_are_one_line(void **state)
{
    (void)state;
    struct metrics *a = mem_zalloc(sizeof *a), *b = mem_zalloc(sizeof *b);
    count(a, 0, SHEAF_INTERNAL, 1);
    count(a, 0, SHEAF_IO, 1);
    count(b, 0, SHEAF_NOMEM, 1);
    char *text = format(a, b);
    const char *line =
        "sheaf_errors_total{operation=\"GetItem\",exception=\"InternalServerError\"}";
    assert_has(text, "exception=\"InternalServerError\"} 3\n");
    char *first = strstr(text, line);
    assert_non_null(first);
    assert_null(strstr(first + 1, line));
    mem_free(text);
    mem_free(a);
    mem_free(b);
}

static void test_metrics_label__escapes_what_would_end_it(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, NULL, 100);
    metrics_label(&b, SPAN_LIT("a\"b\\c\nd"));
    assert_span(buf_span(&b), "a\\\"b\\\\c\\nd");
    buf_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics__loops_are_summed_by_operation),
        cmocka_unit_test(test_metrics__buckets_are_cumulative_and_their_bounds_inclusive),
        cmocka_unit_test(test_metrics__codes_with_one_name_are_one_line),
        cmocka_unit_test(test_metrics_label__escapes_what_would_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
