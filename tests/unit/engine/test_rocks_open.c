/* engine/rocks, opening: the directory, the lock, the format, the options. */
#include "support/rocks.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- directory, lock, format ---- */

static void test_open__writes_the_format_and_keeps_others_out(void **state)
{
    struct fixture *f = *state;
    sheaf_engine_close(must_open(f->dir));
    char path[300], text[100] = "";
    snprintf(path, sizeof path, "%s/FORMAT", f->dir);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "sheaf 1\nengine rocksdb\n");
    struct stat st;
    assert_int_equal(stat(f->dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    snprintf(path, sizeof path, "%s/db", f->dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_false(has_file(f->dir, "FORMAT.tmp"));
}

static void test_open__a_directory_in_use_names_its_user(void **state)
{
    struct fixture *f = *state;
    struct sheaf_rocks_options o = {.owner = "sheaf serve on port 8000"};
    sheaf_engine *e = NULL;
    assert_ok(sheaf_engine_open_rocks(f->dir, &o, &e, NULL));
    char want[600];
    snprintf(want, sizeof want,
             "%s is in use by process %ld (sheaf serve on port 8000); stop it or choose another "
             "directory",
             f->dir, (long)getpid());
    must_refuse(f->dir, NULL, SHEAF_IN_USE, want);
    sheaf_engine_close(e);
    e = must_open(f->dir);
    snprintf(want, sizeof want, "in use by process %ld; stop it", (long)getpid());
    must_refuse(f->dir, &o, SHEAF_IN_USE, want);
    sheaf_engine_close(e);
}

static void test_open__a_newer_format_is_refused_with_both_numbers(void **state)
{
    struct fixture *f = *state;
    sheaf_engine_close(must_open(f->dir));
    write_file(f->dir, "FORMAT", "sheaf 12\nengine rocksdb\nand more\n");
    must_refuse(f->dir, NULL, SHEAF_FORMAT, "has format 12; this release reads formats up to 1");
}

static void test_open__a_damaged_format_is_refused(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text;
        sheaf_rc rc;
    } rows[] = {
        {"", SHEAF_CORRUPT},
        {"sheaf", SHEAF_CORRUPT},
        {"sheaf \n", SHEAF_CORRUPT},
        {"sheaf -1\nengine rocksdb\n", SHEAF_CORRUPT},
        {"sheaf 0\nengine rocksdb\n", SHEAF_CORRUPT},
        {"sheaf 1x\nengine rocksdb\n", SHEAF_CORRUPT},
        {"something else\n", SHEAF_CORRUPT},
        {"sheaf 99999999999999999999999\nengine rocksdb\n", SHEAF_FORMAT},
        {"sheaf 1\nengine other\n", SHEAF_FORMAT},
        {"sheaf 1\n", SHEAF_FORMAT},
    };
    sheaf_engine_close(must_open(f->dir));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_file(f->dir, "FORMAT", rows[i].text);
        must_refuse(f->dir, NULL, rows[i].rc, f->dir);
    }
}

static void test_open__a_directory_that_is_not_ours_is_left_untouched(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(f->dir, 0755), 0);
    write_file(f->dir, "holiday.jpg", "x");
    must_refuse(f->dir, NULL, SHEAF_VALIDATION, "holiday.jpg");
    assert_int_equal(count_files(f->dir), 1);
    char path[600];
    snprintf(path, sizeof path, "%s/holiday.jpg", f->dir);
    must_refuse(path, NULL, SHEAF_VALIDATION, "is not a directory");
    snprintf(path, sizeof path, "%s/no/such/parent", f->dir);
    must_refuse(path, NULL, SHEAF_IO, "cannot create");
    must_refuse("", NULL, SHEAF_VALIDATION, "no data directory");
}

static void test_open__goes_on_where_a_creation_was_cut_off(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(f->dir, 0700), 0);
    write_file(f->dir, "LOCK.sheaf", "");
    write_file(f->dir, "FORMAT.tmp", "sheaf");
    sheaf_engine_close(must_open(f->dir));
    assert_true(has_file(f->dir, "FORMAT"));
}

static void test_open__must_exist_creates_nothing(void **state)
{
    struct fixture *f = *state;
    struct sheaf_rocks_options o = {.must_exist = true};
    must_refuse(f->dir, &o, SHEAF_VALIDATION, "does not exist");
    assert_false(has_file(f->root, "data"));
    assert_int_equal(mkdir(f->dir, 0700), 0);
    must_refuse(f->dir, &o, SHEAF_VALIDATION, "holds no Sheaf data");
    assert_int_equal(count_files(f->dir), 0);
    sheaf_engine_close(must_open(f->dir));
    sheaf_engine *e = NULL;
    assert_ok(sheaf_engine_open_rocks(f->dir, &o, &e, NULL));
    sheaf_engine_close(e);
}

static void test_open__many_times_leaves_no_pile_of_files(void **state)
{
    struct fixture *f = *state;
    char db[300];
    snprintf(db, sizeof db, "%s/db", f->dir);
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "k", "v");
    sheaf_engine_close(e);
    for (int i = 0; i < 12; i++) sheaf_engine_close(must_open(f->dir));
    assert_true(count_files(db) < 12);
    e = must_open(f->dir);
    assert_value(e, "k", SPAN_LIT("v"));
    sheaf_engine_close(e);
}

static void test_open__every_option_works(void **state)
{
    struct fixture *f = *state;
    struct sheaf_rocks_options o = {.block_cache_bytes = 1 << 20,
                                    .row_cache_bytes = UINT64_MAX,
                                    .write_buffer_bytes = 1 << 20,
                                    .max_open_files = 20,
                                    .use_lz4 = true};
    for (int i = 0; i < 3; i++) {
        sheaf_engine *e = NULL;
        assert_ok(sheaf_engine_open_rocks(f->dir, &o, &e, NULL));
        put_text(e, "k", i == 0 ? "0" : i == 1 ? "1" : "2");
        flush_tables(e);
        assert_value(e, "k", span_cstr(i == 0 ? "0" : i == 1 ? "1" : "2"));
        sheaf_engine_close(e);
        o.use_lz4 = !o.use_lz4;
        o.row_cache_bytes = 0;
    }
}

static void test_open__sizes_that_cannot_be_are_refused_by_name(void **state)
{
    struct fixture *f = *state;
    static const struct {
        struct sheaf_rocks_options o;
        const char *part;
    } rows[] = {
        {{.write_buffer_bytes = (UINT64_C(16) << 30) + 1},
         "write_buffer_bytes is 17179869185, more than 17179869184"},
        {{.write_buffer_bytes = UINT64_C(1) << 63}, "write_buffer_bytes"},
        {{.write_buffer_bytes = UINT64_MAX}, "write_buffer_bytes"},
        {{.block_cache_bytes = UINT64_MAX}, "block_cache_bytes"},
        {{.block_cache_bytes = (UINT64_C(1) << 44) + 1}, "block_cache_bytes"},
        {{.row_cache_bytes = UINT64_MAX - 1}, "row_cache_bytes"},
        {{.max_open_files = 1000001}, "max_open_files is 1000001, more than 1000000"},
        {{.max_open_files = UINT32_MAX}, "max_open_files"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        must_refuse(f->dir, &rows[i].o, SHEAF_VALIDATION, rows[i].part);
    assert_false(has_file(f->root, "data"));
    const struct sheaf_rocks_options most = {.write_buffer_bytes = UINT64_C(16) << 30,
                                             .block_cache_bytes = UINT64_C(1) << 44,
                                             .row_cache_bytes = UINT64_C(1) << 44,
                                             .max_open_files = 1000000};
    sheaf_engine *e = NULL;
    assert_ok(sheaf_engine_open_rocks(f->dir, &most, &e, NULL));
    put_text(e, "k", "v");
    assert_value(e, "k", SPAN_LIT("v"));
    sheaf_engine_close(e);
}

/* ---- two at once ---- */

/* flock belongs to the open file, so threads stand for processes. */
struct opener {
    const char *path;
    pthread_barrier_t *together;
    struct rocks_dir dir;
    sheaf_error err;
    sheaf_rc rc;
};

static void *open_directory(void *arg)
{
    struct opener *o = arg;
    pthread_barrier_wait(o->together);
    o->rc = rocks_dir_open(&o->dir, o->path, false, "one of some", &o->err);
    pthread_barrier_wait(o->together);
    if (o->rc == SHEAF_OK) rocks_dir_close(&o->dir);
    return NULL;
}

static void test_open__of_those_who_create_a_directory_together_one_gets_it(void **state)
{
    enum { N = 4 };
    struct fixture *f = *state;
    pthread_barrier_t together;
    assert_int_equal(pthread_barrier_init(&together, NULL, N), 0);
    for (uint64_t round = 0; round < test_rounds(300); round++) {
        struct opener o[N];
        pthread_t thread[N];
        char path[300];
        int ok = 0;
        snprintf(path, sizeof path, "%s/%d", f->root, (int)round);
        for (int i = 0; i < N; i++) {
            o[i] = (struct opener){.path = path, .together = &together};
            assert_int_equal(pthread_create(&thread[i], NULL, open_directory, &o[i]), 0);
        }
        for (int i = 0; i < N; i++) pthread_join(thread[i], NULL);
        for (int i = 0; i < N; i++) {
            ok += o[i].rc == SHEAF_OK;
            if (o[i].rc != SHEAF_OK && o[i].rc != SHEAF_IN_USE)
                fail_msg("rc %d: %s", (int)o[i].rc, o[i].err.message);
        }
        assert_int_equal(ok, 1);
    }
    pthread_barrier_destroy(&together);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_open__writes_the_format_and_keeps_others_out),
        CASE(test_open__a_directory_in_use_names_its_user),
        CASE(test_open__a_newer_format_is_refused_with_both_numbers),
        CASE(test_open__a_damaged_format_is_refused),
        CASE(test_open__a_directory_that_is_not_ours_is_left_untouched),
        CASE(test_open__goes_on_where_a_creation_was_cut_off),
        CASE(test_open__must_exist_creates_nothing),
        CASE(test_open__many_times_leaves_no_pile_of_files),
        CASE(test_open__every_option_works),
        CASE(test_open__sizes_that_cannot_be_are_refused_by_name),
        CASE(test_open__of_those_who_create_a_directory_together_one_gets_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
