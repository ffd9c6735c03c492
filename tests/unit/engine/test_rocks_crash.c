/* engine/rocks: what a crash leaves behind, and a disk that fails. */
#include "support/rocks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a crash leaves ---- */

static void test_reopen__keeps_commits_and_never_repeats_a_stamp(void **state)
{
    struct fixture *f = *state;
    sheaf_stamp last = {{0}};
    for (int round = 0; round < 5; round++) {
        sheaf_engine *e = must_open(f->dir);
        for (int i = 0; i < 10; i++) {
            sheaf_txn *t;
            sheaf_stamp stamp;
            sheaf_place log = key_of(2, "").p, none = key_of(9, "").p;
            assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
            assert_ok(eng_append(t, &log, SPAN_LIT("record"), NULL));
            assert_ok(eng_commit(t, NULL, &stamp, NULL));
            assert_true(memcmp(stamp.b, last.b, sizeof stamp.b) > 0);
            last = stamp;
            /* commits that take no number */
            assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
            assert_ok(eng_del_range(t, &none, SPAN_NONE, SPAN_NONE, NULL));
            assert_ok(eng_commit(t, NULL, NULL, NULL));
        }
        assert_true(eng_visible(e) <= rocksdb_get_latest_sequence_number(rocks_of(e)->db));
        if (round % 2) flush_tables(e);
        sheaf_engine_close(e);
    }
}

static void test_reopen__after_a_crash_nothing_synced_is_missing(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    assert_ok(eng_sync(e, put_text(e, "a", "synced"), NULL));
    put_text(e, "b", "not synced");
    take_crash_copy(f);
    sheaf_engine_close(e);
    e = must_open(f->copy);
    assert_value(e, "a", SPAN_LIT("synced"));
    assert_value(e, "b", SPAN_LIT("not synced"));
    assert_int_equal(eng_durable(e), eng_visible(e));
    sheaf_engine_close(e);
}

/* Cuts n bytes off the newest log of the copy. */
static void cut_log(struct fixture *f, off_t n)
{
    char path[600];
    struct stat st;
    find_db_file(f->copy, ".log", path);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > n);
    assert_int_equal(truncate(path, st.st_size - n), 0);
}

static void test_reopen__a_torn_tail_that_was_not_synced_is_no_error(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    assert_ok(eng_sync(e, put_text(e, "a", "synced"), NULL));
    put_text(e, "b", "not synced");
    take_crash_copy(f);
    sheaf_engine_close(e);
    cut_log(f, 3);
    e = must_open(f->copy);
    assert_value(e, "a", SPAN_LIT("synced"));
    assert_value(e, "b", SPAN_NONE);
    put_text(e, "b", "again");
    sheaf_engine_close(e);
    e = must_open(f->copy);
    assert_value(e, "b", SPAN_LIT("again"));
    sheaf_engine_close(e);
}

static void test_reopen__a_log_that_lost_synced_commits_is_an_error(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "a", "one");
    assert_ok(eng_sync(e, put_text(e, "b", "two"), NULL));
    take_crash_copy(f);
    sheaf_engine_close(e);
    cut_log(f, 3);
    must_refuse(f->copy, NULL, SHEAF_CORRUPT, "has lost writes that were durable");
    must_refuse(f->copy, NULL, SHEAF_CORRUPT, "has lost writes that were durable");
    char path[600];
    snprintf(path, sizeof path, "%s/DURABLE", f->copy);
    assert_int_equal(unlink(path), 0); /* the loss is accepted */
    e = must_open(f->copy);
    assert_value(e, "a", SPAN_LIT("one"));
    assert_value(e, "b", SPAN_NONE);
    sheaf_engine_close(e);
}

static void test_reopen__no_flipped_bit_of_a_synced_log_is_silent(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "a", "one");
    assert_ok(eng_sync(e, put_text(e, "b", "two"), NULL));
    for (long at = 0; at < 100; at += 9) {
        char path[600];
        take_crash_copy(f);
        find_db_file(f->copy, ".log", path);
        flip(path, at);
        must_refuse(f->copy, NULL, SHEAF_CORRUPT, "durable");
    }
    sheaf_engine_close(e);
}

static void test_reopen__a_lost_database_is_an_error(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    assert_ok(eng_sync(e, put_text(e, "a", "one"), NULL));
    sheaf_engine_close(e);
    shell("rm -rf '%s/db'%s", f->dir, "");
    must_refuse(f->dir, NULL, SHEAF_CORRUPT, "has lost its database");
    assert_false(has_file(f->dir, "db"));
}

/* ---- a disk that fails ---- */

/* Puts another file in the place of the open log: /dev/full takes no byte, /dev/null takes all and
 * cannot be synced. */
static void replace_log(const struct fixture *f, const char *by)
{
    int replaced = 0, other = open(by, O_RDWR | O_CLOEXEC);
    assert_true(other >= 0);
    for (int fd = 3; fd < 1024; fd++) {
        char name[40], path[600];
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(name, path, sizeof path - 1);
        if (n < 4) continue;
        path[n] = '\0';
        if (strncmp(path, f->dir, strlen(f->dir)) != 0 || strcmp(path + n - 4, ".log") != 0)
            continue;
        assert_true(dup2(other, fd) == fd);
        replaced++;
    }
    close(other);
    assert_true(replaced > 0);
}

static void assert_poisoned(sheaf_engine *e, sheaf_position lost)
{
    sheaf_txn *t;
    span value;
    void *pin;
    struct calls calls = {0};
    sheaf_engine_key key = key_of(1, "a");
    assert_rc(eng_begin(e, SHEAF_TXN_RW, &t, NULL), SHEAF_IO);
    assert_rc(eng_begin(e, SHEAF_TXN_SNAPSHOT, &t, NULL), SHEAF_IO);
    assert_rc(eng_read(e, &key, &value, &pin, NULL), SHEAF_IO);
    assert_rc(eng_sync(e, lost, NULL), SHEAF_IO);
    assert_rc(eng_on_durable(e, lost, note_call, &calls, NULL), SHEAF_IO);
    assert_rc(eng_drop_space(e, 3, NULL), SHEAF_IO);
    assert_int_equal(calls.ok + calls.failed, 0);
    assert_true(eng_durable(e) < lost);
}

static void test_poison__a_failed_write_is_of_unknown_outcome_and_the_last(void **state)
{
    struct fixture *f = *state;
    sheaf_error err = {0};
    sheaf_txn *t, *other;
    sheaf_engine_key key = key_of(1, "b");
    sheaf_engine *e = must_open(f->dir);
    assert_ok(eng_sync(e, put_text(e, "a", "before"), NULL));
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &other, NULL));
    assert_ok(eng_put(t, &key, SPAN_LIT("lost"), NULL));
    assert_ok(eng_put(other, &key, SPAN_LIT("after"), NULL));
    replace_log(f, "/dev/full");
    assert_rc(eng_commit(t, NULL, NULL, &err), SHEAF_UNKNOWN_OUTCOME);
    assert_int_equal(err.rc, SHEAF_UNKNOWN_OUTCOME);
    assert_rc(eng_commit(other, NULL, NULL, NULL), SHEAF_IO);
    assert_poisoned(e, eng_visible(e));
    sheaf_engine_close(e);
    e = must_open(f->dir);
    assert_value(e, "a", SPAN_LIT("before"));
    assert_value(e, "b", SPAN_NONE);
    sheaf_engine_close(e);
}

static void test_poison__a_failed_fsync_is_never_tried_again(void **state)
{
    struct fixture *f = *state;
    struct calls calls = {0};
    sheaf_engine *e = must_open(f->dir);
    assert_ok(eng_sync(e, put_text(e, "a", "before"), NULL));
    replace_log(f, "/dev/null");
    sheaf_position lost = put_text(e, "b", "lost");
    for (int i = 0; i < 3; i++) {
        sheaf_rc rc = eng_on_durable(e, lost, note_call, &calls, NULL);
        assert_true(rc == SHEAF_OK || rc == SHEAF_IO);
        if (rc == SHEAF_IO) calls.failed++;
    }
    assert_rc(eng_sync(e, lost, NULL), SHEAF_IO);
    assert_poisoned(e, lost);
    sheaf_engine_close(e);
    assert_int_equal(calls.ok, 0);
    assert_int_equal(calls.failed, 3);
    e = must_open(f->dir);
    assert_value(e, "a", SPAN_LIT("before"));
    sheaf_engine_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_reopen__keeps_commits_and_never_repeats_a_stamp),
        CASE(test_reopen__after_a_crash_nothing_synced_is_missing),
        CASE(test_reopen__a_torn_tail_that_was_not_synced_is_no_error),
        CASE(test_reopen__a_log_that_lost_synced_commits_is_an_error),
        CASE(test_reopen__no_flipped_bit_of_a_synced_log_is_silent),
        CASE(test_reopen__a_lost_database_is_an_error),
        CASE(test_poison__a_failed_write_is_of_unknown_outcome_and_the_last),
        CASE(test_poison__a_failed_fsync_is_never_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
