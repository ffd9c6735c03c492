/* tests/support/exprs.h: what tests of expressions share: a request with its arena and
 * placeholders, and where the text of a message comes from. */
#ifndef TESTS_EXPRS_H
#define TESTS_EXPRS_H

#include "base/rng.h"
#include "expr/expr.h"
#include "support/doc.h"
#include "support/support.h"

/* Sources of exact messages and of behaviour: suites run against the service, or words of its users
 * that quote it. NULL is unverified. */
#define DYNALITE_UPDATE "dynalite test/updateItem.js"
#define DYNALITE_SCAN "dynalite test/scan.js"
#define ALTERNATOR_UPDATE "Alternator test_update_expression.py"
#define ALTERNATOR_PROJECTION "Alternator test_projection_expression.py"
#define ALTERNATOR_RETURN "Alternator test_returnvalues.py"
#define PARITY "paritysuite dynamodb-conformance"
#define SDK_JS_3025 "aws/aws-sdk-js issue 3025"
#define TYPEDORM_264 "typedorm/typedorm issue 264"
#define DYNAMOID "dynamoid transaction_write specs"
#define UNVERIFIED NULL

struct request {
    struct arena arena;
    sheaf_error err;
    struct ctx ctx;
    struct expr_env env;
};

void request_init(struct request *r);
void request_deinit(struct request *r);
/* Maps without the leading # and :, such as "{c: 'c'}" and "{a: 1}"; either may be NULL. */
void request_env(struct request *r, const char *names, const char *values);

/* ---- random documents and paths ---- */

/* Names of random maps; those that are no words have a placeholder. */
#define RANDOM_NAMES "{n0: 'x y', n1: '\\c3\\a9', n2: 'a'}"

struct doc *random_doc(struct arena *a, struct rng *r, uint32_t depth);
struct doc *random_item(struct arena *a, struct rng *r);
/* Mostly one that leads somewhere in the item, sometimes a step beside it. */
struct path random_path(struct arena *a, struct rng *r, const struct doc *item);
/* As an expression, with the placeholders of RANDOM_NAMES. */
void random_path_print(struct rng *r, const struct path *path, struct buf *out);

/* The naive answers: by each pair, by each step. */
enum clash { CLASH_NONE, CLASH_OVERLAP, CLASH_CONFLICT };
enum clash naive_clash(const struct path *a, const struct path *b);
/* What stands at the path; NULL when nothing does. */
struct doc *naive_get(struct doc *item, const struct path *path, uint32_t n_steps);

/* Counts a row of a table and tells at the end how many have no source. */
struct sources {
    unsigned rows, unverified;
};
void sources_count(struct sources *s, const char *source);
void sources_print(const struct sources *s, const char *what);

#endif
