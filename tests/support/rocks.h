/* tests/support/rocks.h: a data directory for each unit test of engine/rocks, and short spellings
 * for what they all do with it. A crash is a copy of the directory while the engine has it open:
 * the bytes that kill -9 would leave. */
#ifndef TESTS_SUPPORT_ROCKS_H
#define TESTS_SUPPORT_ROCKS_H

#include "support/support.h"

#include "engine/rocks/rocks.h"

struct fixture {
    char root[200]; /* exists, removed at the end */
    char dir[220], copy[220];
};
int fixture_setup(void **state);
int fixture_teardown(void **state);
#define CASE(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

/* Runs a command with two words filled in; it must succeed. */
void shell(const char *format, const char *a, const char *b);

sheaf_engine *must_open(const char *dir);
/* With that code, and a message that holds `part`. */
void must_refuse(const char *dir, const struct sheaf_rocks_options *o, sheaf_rc rc,
                 const char *part);

/* ---- files ---- */

void write_file(const char *dir, const char *name, const char *text);
bool has_file(const char *dir, const char *name);
size_t count_files(const char *dir);
/* The newest file in dir/db with that ending, into `path`. */
void find_db_file(const char *dir, const char *ending, char path[600]);
void take_crash_copy(struct fixture *f);
/* Flips a bit; at < 0 counts from the end. */
void flip(const char *path, long at);

/* ---- data ---- */

sheaf_engine_key key_of(uint64_t space, const char *s);
/* In space 1, each in a transaction of its own. */
sheaf_position put_text(sheaf_engine *e, const char *s, const char *value);
void add_one(sheaf_engine *e, const char *s, size_t n, const int64_t deltas[]);
/* want.p == NULL: absent. */
void assert_value(sheaf_engine *e, const char *s, span want);
void assert_numbers(sheaf_engine *e, const char *s, size_t n, const int64_t want[]);
void flush_tables(sheaf_engine *e);

/* ---- callbacks ---- */

struct calls {
    _Atomic int ok, failed;
};
/* A sheaf_durable_fn on struct calls. */
void note_call(void *ctx, sheaf_rc rc);
/* A sheaf_complaint_fn on an int. */
bool count_complaint(void *ctx, const sheaf_engine_key *key, const char *what);

#endif
