/* tests/support/pages.h: Query and Scan written as text.
 *
 *      page(&p, QUERY(.condition = "PK = :p", .values = "{':p': 'a'}", .limit = 2));
 *      … pages_text(&p) is "{…} {…}"
 */
#ifndef TESTS_PAGES_H
#define TESTS_PAGES_H

#include "support/core_support.h"

struct page_req {
    const char *table, *index; /* table NULL: "T" */
    const char *condition, *filter, *projection, *names, *values;
    const char *start; /* item as text */
    span start_item;   /* or as it was returned */
    enum core_select select;
    uint32_t limit;
    bool has_segment;
    uint32_t segment, n_segments;
    bool is_scan, is_backward, is_consistent;
    enum core_capacity_mode capacity;
};
#define QUERY(...) (&(struct page_req){__VA_ARGS__})
#define SCAN(...) (&(struct page_req){.is_scan = true, __VA_ARGS__})

/* Sends it; the error stays in t->err. */
sheaf_rc page_send(struct core_test *t, const struct page_req *r, struct core_page *out);
/* The same, and the test fails when it does not succeed. */
void page_must(struct core_test *t, const struct page_req *r, struct core_page *out);
/* The items of one page, one after the other; "-" when there are none to return. */
const char *page_text(struct core_test *t, const struct core_page *page);
/* Just one attribute of each item: "a b c". */
const char *page_list(struct core_test *t, const struct core_page *page, const char *attribute);

#endif
