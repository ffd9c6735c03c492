/* What the tests of the embedded calls begin with: a database in memory with one table. */
#ifndef TESTS_API_DB_H
#define TESTS_API_DB_H

#include "support/support.h"

#include <sheaf/sheaf.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct scene {
    sheaf_db *db;
    sheaf_error err;
};

/* "tab": p (S) and s (S). */
static inline int open_scene(void **state)
{
    static struct scene s;
    struct sheaf_options o = {.no_background = true};
    assert_ok(sheaf_open(":memory:", &o, &s.db, &s.err));
    assert_ok(sheaf_create_table(s.db,
                                 &(struct sheaf_create_table){.table = "tab",
                                                              .partition_key = {"p", SHEAF_S},
                                                              .sort_key = {"s", SHEAF_S},
                                                              .error = &s.err},
                                 NULL));
    *state = &s;
    return 0;
}

static inline int close_scene(void **state)
{
    struct scene *s = *state;
    sheaf_close(s->db);
    return 0;
}

/* A ValidationException whose message is, or begins with, the given one. */
#define assert_refused(s, call, text)                                                              \
    do {                                                                                           \
        assert_rc((call), SHEAF_VALIDATION);                                                       \
        if (strncmp((s)->err.message, (text), strlen(text)) != 0)                                  \
            fail_msg("%s: got \"%s\", wanted \"%s\"", #call, (s)->err.message, (text));            \
        assert_string_equal((s)->err.exception, "ValidationException");                            \
    } while (0)

#endif
