/* tests/support/core_support.h: a database to test core on, and tables written as text. Everything
 * fails the test instead of answering an error.
 *
 *      struct core_test t;
 *      core_test_init(&t, NULL);
 *      test_table(t.core, "T", "PK:S", "SK:S", "g(GPK:S|GSK:N) ALL; local l(PK:S|L:S) KEYS_ONLY");
 *      test_put(&t, "T", "{PK: 'a', SK: 'b', GPK: 'x', GSK: 7}");
 *      … test_get(&t, "T", "{PK: 'a', SK: 'b'}") is "{GPK: 'x', …}" (tests/support/doc.h)
 *      core_test_deinit(&t);
 */
#ifndef TESTS_CORE_SUPPORT_H
#define TESTS_CORE_SUPPORT_H

#include "core/state.h"
#include "support/doc.h"
#include "support/envs.h"
#include "support/support.h"

/* A database in memory and one request at a time. */
struct core_test {
    struct core *core;
    sheaf_engine *engine; /* the core's */
    struct arena arena;   /* of the request and of texts made here */
    sheaf_error err;
    struct ctx ctx; /* arena and err */
};

/* options may be NULL. core_test_init: the in-memory engine; core_test_init_on: any; it becomes the
 * core's. */
void core_test_init(struct core_test *t, const struct core_options *options);
void core_test_init_on(struct core_test *t, sheaf_engine *engine,
                       const struct core_options *options);
void core_test_deinit(struct core_test *t);

/* Installs a table directly, without CreateTable's checks. hash and range: "NAME:TYPE", range may
 * be NULL. indexes (may be NULL), separated by ';':
 *
 *      [local] name(hash:T[, hash:T …][| range:T …]) ALL | KEYS_ONLY | INCLUDE a, b
 *
 * Borrowed: the catalog keeps it as long as the table is not changed. */
struct table *test_table(struct core *core, const char *name, const char *hash, const char *range,
                         const char *indexes);
/* A copy of the table with one thing changed, installed in its place. */
typedef void (*test_change_fn)(struct core *core, struct table *t);
struct table *test_change_table(struct core *core, const char *name, test_change_fn change);
/* Turns a stream on. */
struct table *test_enable_stream(struct core *core, const char *name, enum core_stream_view view);
struct table *test_enable_ttl(struct core *core, const char *name, const char *attribute);

/* Items in the text form of doc.h, encoded in the test's arena. */
span test_item(struct core_test *t, const char *text);
/* The text of an item; "-" when there is none. */
const char *test_text(struct core_test *t, span item);
/* PutItem and DeleteItem that must succeed. */
void test_put(struct core_test *t, const char *table, const char *item);
void test_delete(struct core_test *t, const char *table, const char *key);
/* The item as it is stored, read straight from the engine: "-" when there is none. */
const char *test_get(struct core_test *t, const char *table, const char *key);

/* ---- what is stored, counted by walking ---- */

struct test_count {
    int64_t items, bytes;
};
/* The rows of a space (a table's, an index's) and their AWS sizes. */
struct test_count test_walk(struct core_test *t, uint64_t space);
/* The statistics kept of a whole table or index; of one collection when place is not NULL. */
struct test_count test_stats(struct core_test *t, const struct table *table, uint64_t space,
                             const sheaf_place *place);
/* Walks the table and all its indexes: every item has exactly its entries, every entry its item,
 * and all statistics, of each collection and of the whole, are what the walk counts. */
void test_check_table(struct core_test *t, const char *table);

#endif
