/* tests/support/wire.h: a database in memory behind op_run, and tables of requests with the replies
 * they must get.
 *
 *      struct wire_test w;
 *      wire_init(&w);
 *      wire_send(&w, "PutItem", "{\"TableName\": …}");     w.status, w.body
 *      wire_deinit(&w);
 *
 * The database has the tables that wire_init's comment lists. Requests are written with ' for ",
 * which no request here needs itself; expected bodies too.
 */
#ifndef TESTS_WIRE_H
#define TESTS_WIRE_H

#include "ops/ops.h"
#include "support/core_support.h"

/* Where an expected message or rule comes from. UNVERIFIED: nobody has seen the service say it. */
#define UNVERIFIED NULL
#define PARITY "paritysuite/dynamodb-conformance, run on AWS"
#define DYNALITE "dynalite's tests, run on AWS"
#define MODEL "the service model's constraint in the form of the others"
#define GUIDE "Developer Guide and API reference"
#define OURS "a difference of ours, docs/differences.md"

struct wire_test {
    struct core_test core;
    struct clock_manual clock;
    struct arena arena; /* of one request */
    sheaf_error err;
    int status;
    sheaf_rc rc;
    const char *body; /* with a NUL; until the next request */
    uint64_t rows, unverified;
};

/* Tables, provisioned with 5 and 5 units but not throttled:
 *      Hash     pk S
 *      Number   pk N
 *      Binary   pk B
 *      Range    pk S, sk S
 *      Local    pk S, sk S; local index byA (a S) ALL
 *      Global   pk S; global indexes byG (g S | h N) ALL, keys (g S) KEYS_ONLY
 * The clock stands at 2026-11-15T00:00:00Z. */
void wire_init(struct wire_test *w);
void wire_deinit(struct wire_test *w);
/* One request; ' in the text stands for ". Checks that the reply is strict JSON. */
void wire_send(struct wire_test *w, const char *operation, const char *request);
/* The same bytes as they are. */
void wire_send_raw(struct wire_test *w, const char *operation, span request);

/* One row: a request and its reply. type: the exception's name ("ValidationException"; NULL: 200).
 * text: the exact message of an error, or a body. A body that ends in … is the beginning of it. In
 * requests and bodies ' stands for ", in messages it is itself. */
struct wire_row {
    const char *operation, *request, *type, *text, *source;
};
void wire_check(struct wire_test *w, const struct wire_row *row);
/* All rows, then one line with the count of them and of the unverified ones. */
void wire_check_rows(struct wire_test *w, const char *what, const struct wire_row *rows, size_t n);
#define WIRE_CHECK(w, what, rows)                                                                  \
    wire_check_rows((w), (what), (rows), sizeof(rows) / sizeof *(rows))

/* The text with its {} replaced by n times x, or by another text; lives as long as the test. */
const char *wire_repeat(struct wire_test *w, const char *text, char x, size_t n);
const char *wire_fill(struct wire_test *w, const char *text, const char *with);
/* "piece, piece, …" n times, each # in it replaced by 0, 1, 2 …: for lists. */
const char *wire_list(struct wire_test *w, const char *piece, size_t n);

/* For cmocka: a wire_test in *state. */
int wire_setup(void **state);
int wire_teardown(void **state);

/* ---- the service's words ---- */

/* clang-format off */
#define ONE "1 validation error detected: "
#define SEVERAL(n) n " validation errors detected: "
#define INVALID "One or more parameter values were invalid: "
#define NULL_AT(at) "Value null at '" at "' failed to satisfy constraint: Member must not be null"
#define AT(value, at) "Value '" value "' at '" at "' failed to satisfy constraint: "
#define NEW_AT(at) ONE "Value at '" at "' failed to satisfy constraint: "
#define SHORT(n) "Member must have length greater than or equal to " n
#define LONG(n) "Member must have length less than or equal to " n
#define LOW(n) "Member must have value greater than or equal to " n
#define HIGH(n) "Member must have value less than or equal to " n
#define PATTERN "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
#define ENUM(set) "Member must satisfy enum value set: " set
#define CAPACITIES "[INDEXES, TOTAL, NONE]"
#define RETURNS "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
#define SELECTS "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
#define NEW_EMPTY NEW_AT("TableName") SHORT("1")
#define NEW_RETURNS \
    ONE "Failed to satisfy constraint: " ENUM("[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]")
#define BOTH \
    "Can not use both expression and non-expression parameters in the same request: " \
    "Non-expression parameters: "
#define LEGACY_(name) \
    name " is a legacy parameter that Sheaf does not support yet; use expressions"
#define NOT_FOUND "Requested resource not found"
#define V "ValidationException"
#define S "SerializationException"
#define RNF "ResourceNotFoundException"
#define CCF "ConditionalCheckFailedException"
/* clang-format on */

#endif
