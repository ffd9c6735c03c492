/* engine/rocks: what the contract suite cannot know: the directory, the lock, the format, what a
 * crash leaves, a disk that fails. A crash is a copy of the directory while the engine has it open:
 * the bytes that kill -9 would leave. */
#include "support/support.h"

#include "base/mem.h"
#include "engine/rocks/rocks.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- a directory per test ---- */

struct fixture {
    char root[200], dir[220], copy[220];
};

static void run(const char *format, const char *a, const char *b)
{
    char command[1200];
    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    const char *tmp = getenv("TMPDIR");
    snprintf(f->root, sizeof f->root, "%.150s/sheaf-rocks-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(f->root)) return -1;
    snprintf(f->dir, sizeof f->dir, "%s/data", f->root);
    snprintf(f->copy, sizeof f->copy, "%s/copy", f->root);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    run("rm -rf '%s'%s", f->root, "");
    free(f);
    return 0;
}

static sheaf_engine *must_open(const char *dir)
{
    sheaf_engine *e = NULL;
    sheaf_error err = {0};
    if (sheaf_engine_open_rocks(dir, NULL, &e, &err) != SHEAF_OK) fail_msg("%s", err.message);
    return e;
}

static void must_refuse(const char *dir, const struct sheaf_rocks_options *o, sheaf_rc rc,
                        const char *part)
{
    sheaf_engine *e = NULL;
    sheaf_error err = {0};
    assert_rc(sheaf_engine_open_rocks(dir, o, &e, &err), rc);
    assert_null(e);
    if (!strstr(err.message, part)) fail_msg("\"%s\" lacks \"%s\"", err.message, part);
}

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool has_file(const char *dir, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

static size_t count_files(const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    size_t n = 0;
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

/* The newest file in dir/db with that ending, into `path`. */
static void find_db_file(const char *dir, const char *ending, char path[600])
{
    char db[300], newest[300] = "";
    snprintf(db, sizeof db, "%s/db", dir);
    DIR *d = opendir(db);
    assert_non_null(d);
    const struct dirent *entry;
    while ((entry = readdir(d)) != NULL) {
        size_t n = strlen(entry->d_name), m = strlen(ending);
        if (n > m && strcmp(entry->d_name + n - m, ending) == 0 &&
            strcmp(entry->d_name, newest) > 0)
            snprintf(newest, sizeof newest, "%s", entry->d_name);
    }
    closedir(d);
    assert_true(newest[0]);
    snprintf(path, 600, "%.290s/%.290s", db, newest);
}

/* ---- keys ---- */

static sheaf_engine_key key_of(uint64_t space, const char *s)
{
    uint8_t hash[16] = {1, 2, 3};
    return (sheaf_engine_key){.p = sheaf_place_make(space, hash), .s = span_cstr(s)};
}

static sheaf_position put_text(sheaf_engine *e, const char *s, const char *value)
{
    sheaf_txn *t;
    sheaf_position at = 0;
    sheaf_engine_key key = key_of(1, s);
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_put(t, &key, span_cstr(value), NULL));
    assert_ok(eng_commit(t, &at, NULL, NULL));
    return at;
}

static void add_one(sheaf_engine *e, const char *s, size_t n, const int64_t deltas[])
{
    sheaf_txn *t;
    sheaf_engine_key key = key_of(1, s);
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_add(t, &key, n, deltas, NULL));
    assert_ok(eng_commit(t, NULL, NULL, NULL));
}

static void assert_value(sheaf_engine *e, const char *s, span want)
{
    sheaf_engine_key key = key_of(1, s);
    span value;
    void *pin;
    assert_ok(eng_read(e, &key, &value, &pin, NULL));
    if (want.p)
        assert_true(value.p && span_eq(value, want));
    else
        assert_null(value.p);
    eng_read_done(e, pin);
}

static void assert_numbers(sheaf_engine *e, const char *s, size_t n, const int64_t want[])
{
    uint8_t bytes[64];
    for (size_t i = 0; i < n; i++) eng_number_set(bytes, i, want[i]);
    assert_value(e, s, SPAN(bytes, n * 8));
}

static void flush_tables(sheaf_engine *e)
{
    char *message = NULL;
    rocksdb_flushoptions_t *how = rocksdb_flushoptions_create();
    rocksdb_flush(rocks_of(e)->db, how, &message);
    assert_null(message);
    rocksdb_flushoptions_destroy(how);
}

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

/* ---- what a crash leaves ---- */

static void take_crash_copy(struct fixture *f)
{
    run("rm -rf '%s'%s", f->copy, "");
    run("cp -r '%s' '%s'", f->dir, f->copy);
}

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

static void flip(const char *path, long at)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    int c = fgetc(file);
    assert_true(c != EOF);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    fputc(c ^ 0x40, file);
    fclose(file);
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
    run("rm -rf '%s/db'%s", f->dir, "");
    must_refuse(f->dir, NULL, SHEAF_CORRUPT, "has lost its database");
    assert_false(has_file(f->dir, "db"));
}

/* ---- durability ---- */

struct calls {
    _Atomic int ok, failed;
};

static void note(void *ctx, sheaf_rc rc)
{
    struct calls *c = ctx;
    if (rc == SHEAF_OK)
        c->ok++;
    else
        c->failed++;
}

static void test_sync__moves_durable_and_shares_fsyncs(void **state)
{
    struct fixture *f = *state;
    struct sheaf_engine_stats s;
    sheaf_engine *e = must_open(f->dir);
    sheaf_position at = 0;
    for (int i = 0; i < 50; i++) at = put_text(e, "k", "v");
    assert_true(eng_durable(e) < at);
    assert_ok(eng_sync(e, at - 10, NULL)); /* takes all that is written along */
    assert_int_equal(eng_durable(e), at);
    assert_ok(eng_sync(e, at, NULL));
    eng_stats(e, &s);
    assert_int_equal(s.syncs, 1);
    assert_int_equal(s.commits, 50);
    assert_true(s.disk_bytes > 0 && s.memory_bytes > 0);
    assert_rc(eng_sync(e, at + 1, NULL), SHEAF_VALIDATION);
    struct calls calls = {0};
    assert_rc(eng_on_durable(e, at + 1, note, &calls, NULL), SHEAF_VALIDATION);
    assert_ok(eng_on_durable(e, at, note, &calls, NULL)); /* before it returns */
    assert_int_equal(calls.ok, 1);
    sheaf_engine_close(e);
    assert_int_equal(calls.failed, 0);
}

static void test_commit__a_full_log_is_synced_before_the_next_one_begins(void **state)
{
    struct fixture *f = *state;
    struct sheaf_rocks_options o = {.write_buffer_bytes = 1 << 20};
    sheaf_engine *e = NULL;
    assert_ok(sheaf_engine_open_rocks(f->dir, &o, &e, NULL));
    sheaf_position before = eng_durable(e), at = 0;
    char first[600], now[600], value[10001];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    find_db_file(f->dir, ".log", first);
    do {
        at = put_text(e, "k", value); /* nobody asks for a sync */
        find_db_file(f->dir, ".log", now);
    } while (strcmp(now, first) == 0 && at < before + 1000);
    assert_string_not_equal(now, first);
    assert_int_equal(eng_durable(e), at);
    /* A copy does not begin a log either. */
    put_text(e, "k", value);
    assert_ok(eng_checkpoint(e, f->copy, NULL));
    find_db_file(f->dir, ".log", first);
    assert_string_equal(now, first);
    assert_true(eng_durable(e) < eng_visible(e));
    sheaf_engine_close(e);
}

static void test_close__runs_every_callback_and_syncs(void **state)
{
    struct fixture *f = *state;
    struct calls calls = {0};
    sheaf_engine *e = must_open(f->dir);
    for (int i = 0; i < 200; i++)
        assert_ok(eng_on_durable(e, put_text(e, "k", "v"), note, &calls, NULL));
    put_text(e, "last", "v");
    sheaf_engine_close(e);
    assert_int_equal(calls.ok, 200);
    assert_int_equal(calls.failed, 0);
    e = must_open(f->dir);
    assert_int_equal(rocks_of(e)->dir.promised, eng_visible(e)); /* one operation per commit */
    sheaf_engine_close(e);
}

struct race {
    sheaf_engine *e;
    sheaf_position base;
    uint64_t rounds;
    _Atomic bool is_over;
    _Atomic uint64_t wrong, reads;
};

/* Whoever has read a commit's bytes asks visible() what to wait for. */
static void *read_and_ask(void *arg)
{
    struct race *r = arg;
    sheaf_engine_key key = key_of(1, "k");
    while (!r->is_over) {
        span value;
        void *pin;
        if (eng_read(r->e, &key, &value, &pin, NULL) != SHEAF_OK) r->wrong++;
        uint64_t i = value.p ? (uint64_t)eng_number_get(value.p, 0) : 0;
        eng_read_done(r->e, pin);
        if (eng_visible(r->e) < r->base + i) r->wrong++;
        if (eng_durable(r->e) > eng_visible(r->e)) r->wrong++;
        r->reads++;
    }
    return NULL;
}

static void test_visible__covers_whatever_a_reader_has_seen(void **state)
{
    struct fixture *f = *state;
    struct race r = {.e = must_open(f->dir), .rounds = test_rounds(3000)};
    r.base = eng_visible(r.e);
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_and_ask, &r), 0);
    for (uint64_t i = 1; i <= r.rounds; i++) {
        uint8_t number[8];
        eng_number_set(number, 0, (int64_t)i);
        sheaf_txn *t;
        sheaf_position at;
        sheaf_engine_key key = key_of(1, "k");
        assert_ok(eng_begin(r.e, SHEAF_TXN_RW, &t, NULL));
        assert_ok(eng_put(t, &key, SPAN(number, 8), NULL));
        assert_ok(eng_commit(t, &at, NULL, NULL));
        assert_int_equal(at, r.base + i);
        if (i % 100 == 0) assert_ok(eng_sync(r.e, at, NULL));
    }
    r.is_over = true;
    pthread_join(reader, NULL);
    assert_int_equal(r.wrong, 0);
    assert_true(r.reads > 0);
    sheaf_engine_close(r.e);
}

static void test_plant_skip_sync__claims_what_it_does_not_do(void **state)
{
    struct fixture *f = *state;
    struct sheaf_rocks_options o = {.plant_skip_sync = true};
    sheaf_engine *e = NULL;
    assert_ok(sheaf_engine_open_rocks(f->dir, &o, &e, NULL));
    sheaf_position at = put_text(e, "k", "v");
    assert_ok(eng_sync(e, at, NULL));
    assert_int_equal(eng_durable(e), at);
    sheaf_engine_close(e);
    e = must_open(f->dir);
    assert_int_equal(rocks_of(e)->dir.promised, 0);
    sheaf_engine_close(e);
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
    assert_rc(eng_on_durable(e, lost, note, &calls, NULL), SHEAF_IO);
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
        sheaf_rc rc = eng_on_durable(e, lost, note, &calls, NULL);
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

/* ---- adds ---- */

static void test_add__a_hot_counter_survives_folding_flushing_and_reopening(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    int64_t sum[3] = {0};
    for (int64_t i = 0; i < 2000; i++) {
        int64_t d[3] = {1, -i, INT64_MAX};
        add_one(e, "n", 3, d);
        for (int k = 0; k < 3; k++) sum[k] = (int64_t)((uint64_t)sum[k] + (uint64_t)d[k]);
        if (i % 300 == 0) flush_tables(e);
        if (i % 97 == 0) assert_numbers(e, "n", 3, sum);
        if (i % 700 == 699) {
            sheaf_engine_close(e);
            e = must_open(f->dir);
        }
    }
    assert_numbers(e, "n", 3, sum);
    rocksdb_compact_range(rocks_of(e)->db, NULL, 0, NULL, 0);
    assert_numbers(e, "n", 3, sum);
    assert_ok(eng_verify(e, NULL, NULL, NULL));
    sheaf_engine_close(e);
}

static void test_add__a_longer_vector_counts_the_missing_numbers_as_zero(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    add_one(e, "n", 1, (int64_t[]){5});
    add_one(e, "n", 3, (int64_t[]){1, 2, 3});
    add_one(e, "n", 2, (int64_t[]){10, 10});
    assert_numbers(e, "n", 3, (int64_t[]){16, 12, 3});
    flush_tables(e);
    assert_numbers(e, "n", 3, (int64_t[]){16, 12, 3});
    sheaf_engine_close(e);
}

static bool count(void *ctx, const sheaf_engine_key *key, const char *what)
{
    assert_non_null(key);
    assert_non_null(what);
    ++*(int *)ctx;
    return true;
}

static void test_add__to_what_is_no_vector_stops_nothing_and_is_told_by_verify(void **state)
{
    struct fixture *f = *state;
    int complaints = 0;
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "n", "hello");
    flush_tables(e);
    add_one(e, "n", 1, (int64_t[]){5});
    assert_value(e, "n", SPAN_LIT("hello"));
    rocksdb_compact_range(rocks_of(e)->db, NULL, 0, NULL, 0);
    assert_value(e, "n", SPAN_LIT("hello"));
    assert_rc(eng_verify(e, count, &complaints, NULL), SHEAF_CORRUPT);
    assert_int_equal(complaints, 1);
    put_text(e, "still", "alive");
    sheaf_engine_close(e);
}

static void test_add__a_damaged_delta_is_left_out_and_told_by_verify(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    uint8_t bytes[SHEAF_PLACE_BYTES + 1];
    static const char *const names[] = {"a", "b"};
    for (int i = 0; i < 2; i++) { /* onto nothing, onto a sum */
        sheaf_engine_key key = key_of(1, names[i]);
        if (i) add_one(e, names[i], 1, (int64_t[]){5});
        for (size_t n = 0; n < 8; n += 3) {
            char *message = NULL;
            rocksdb_merge(rocks_of(e)->db, rocks_of(e)->h.write, (char *)bytes,
                          rocks_key(bytes, &key), "1234567", n, &message);
            assert_null(message);
        }
    }
    for (int flushed = 0; flushed < 2; flushed++) {
        assert_value(e, "a", SPAN_LIT(""));
        assert_numbers(e, "b", 1, (int64_t[]){5});
        rocksdb_compact_range(rocks_of(e)->db, NULL, 0, NULL, 0);
    }
    assert_rc(eng_verify(e, NULL, NULL, NULL), SHEAF_CORRUPT);
    sheaf_engine_close(e);
}

/* ---- verify, spaces, copies ---- */

static void test_verify__finds_a_key_that_cannot_be_ours(void **state)
{
    struct fixture *f = *state;
    int complaints = 0;
    char *message = NULL;
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "a", "1");
    assert_ok(eng_verify(e, count, &complaints, NULL));
    rocksdb_put(rocks_of(e)->db, rocks_of(e)->h.write, "short", 5, "", 0, &message);
    assert_null(message);
    assert_rc(eng_verify(e, count, &complaints, NULL), SHEAF_CORRUPT);
    assert_int_equal(complaints, 1);
    sheaf_engine_close(e);
}

static void test_verify__finds_a_flipped_bit_in_a_table(void **state)
{
    struct fixture *f = *state;
    int complaints = 0;
    char path[600];
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "a", "a value that is long enough to be hit by the bit that flips");
    flush_tables(e);
    sheaf_engine_close(e);
    find_db_file(f->dir, ".sst", path);
    flip(path, 60);
    e = must_open(f->dir);
    assert_rc(eng_verify(e, count, &complaints, NULL), SHEAF_CORRUPT);
    assert_true(complaints >= 1);
    sheaf_engine_key key = key_of(1, "a");
    span value;
    void *pin;
    assert_rc(eng_read(e, &key, &value, &pin, NULL), SHEAF_CORRUPT);
    sheaf_engine_close(e);
}

static void put_in_space(sheaf_engine *e, uint64_t space, int n)
{
    sheaf_txn *t;
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    for (int i = 0; i < n; i++) {
        char s[20];
        snprintf(s, sizeof s, "%06d", i);
        sheaf_engine_key key = key_of(space, s);
        memset(key.p.b + 8, i % 256, 16);
        assert_ok(eng_put(t, &key, SPAN_LIT("value"), NULL));
    }
    assert_ok(eng_commit(t, NULL, NULL, NULL));
}

static int count_space(sheaf_engine *e, uint64_t space)
{
    sheaf_txn *t;
    sheaf_cursor *c;
    struct sheaf_row row;
    bool has_row;
    int n = -1;
    assert_ok(eng_begin(e, SHEAF_TXN_SNAPSHOT, &t, NULL));
    assert_ok(eng_walk(t, &(struct sheaf_walk){.space = space}, &c, NULL));
    do {
        assert_ok(eng_next(c, &row, &has_row, NULL));
        n++;
    } while (has_row);
    eng_cursor_close(c);
    eng_rollback(t);
    return n;
}

static void test_drop_space__also_the_last_there_is(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    put_in_space(e, UINT64_MAX, 2500); /* more than one commit's worth */
    put_in_space(e, UINT64_MAX - 1, 10);
    for (int flushed = 0; flushed < 2; flushed++) {
        assert_int_equal(count_space(e, UINT64_MAX), 2500);
        assert_ok(eng_drop_space(e, UINT64_MAX, NULL));
        assert_int_equal(count_space(e, UINT64_MAX), 0);
        put_in_space(e, UINT64_MAX, 2500);
        rocksdb_compact_range(rocks_of(e)->db, NULL, 0, NULL, 0);
    }
    assert_int_equal(count_space(e, UINT64_MAX - 1), 10);
    sheaf_engine_close(e);
}

static void test_checkpoint__makes_a_directory_like_the_original(void **state)
{
    struct fixture *f = *state;
    sheaf_error err = {0};
    sheaf_engine *e = must_open(f->dir);
    put_text(e, "a", "1");
    assert_ok(eng_checkpoint(e, f->copy, NULL));
    put_text(e, "a", "2");
    assert_rc(eng_checkpoint(e, f->copy, &err), SHEAF_VALIDATION);
    assert_non_null(strstr(err.message, "exists already"));
    assert_rc(eng_checkpoint(e, "/nonexistent/parent/copy", NULL), SHEAF_IO);
    sheaf_engine *copy = must_open(f->copy);
    assert_value(copy, "a", SPAN_LIT("1"));
    put_text(copy, "a", "3");
    assert_value(e, "a", SPAN_LIT("2"));
    sheaf_engine_close(copy);
    sheaf_engine_close(e);
}

/* ---- memory ---- */

static sheaf_rc script(sheaf_engine *e, sheaf_txn **open_txn, sheaf_error *err)
{
    sheaf_txn *t;
    sheaf_cursor *c;
    sheaf_engine_key keys[20];
    span values[20];
    int64_t delta = 1;
    for (int i = 0; i < 20; i++) keys[i] = key_of((uint64_t)i, "k");
    TRY(eng_begin(e, SHEAF_TXN_RW, &t, err));
    *open_txn = t;
    TRY(eng_get(t, 20, keys, values, err));
    TRY(eng_put(t, &keys[0], SPAN_LIT("value"), err));
    TRY(eng_add(t, &keys[1], 1, &delta, err));
    TRY(eng_append(t, &keys[2].p, SPAN_LIT("record"), err));
    TRY(eng_del_range(t, &keys[3].p, SPAN_NONE, SPAN_NONE, err));
    TRY(eng_range(t, &(struct sheaf_range){.p = keys[0].p}, &c, err));
    eng_cursor_close(c);
    *open_txn = NULL;
    TRY(eng_commit(t, NULL, NULL, err));
    return eng_verify(e, NULL, NULL, err);
}

static void test_memory__every_failed_allocation_is_an_error_and_no_more(void **state)
{
    struct fixture *f = *state;
    sheaf_rc rc = SHEAF_NOMEM;
    uint64_t nth = 1;
    for (; rc != SHEAF_OK && nth < 200; nth++) {
        sheaf_engine *e = NULL;
        sheaf_txn *t = NULL;
        mem_fail_at(nth, false);
        rc = sheaf_engine_open_rocks(f->dir, NULL, &e, NULL);
        if (rc == SHEAF_OK) rc = script(e, &t, NULL);
        mem_fail_at(0, false);
        assert_true(rc == SHEAF_OK || rc == SHEAF_NOMEM);
        eng_rollback(t);
        sheaf_engine_close(e);
    }
    assert_ok(rc);
    assert_true(nth > 10);
}

static void test_begin__a_warm_engine_allocates_nothing_of_its_own(void **state)
{
    struct fixture *f = *state;
    sheaf_engine *e = must_open(f->dir);
    sheaf_txn *t = NULL;
    assert_ok(script(e, &t, NULL));
    put_text(e, "k", "v");
    uint64_t before = mem_count();
    for (int i = 0; i < 100; i++) {
        put_text(e, "k", "v");
        assert_value(e, "k", SPAN_LIT("v"));
    }
    assert_int_equal(mem_count(), before);
    sheaf_engine_close(e);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

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
        CASE(test_reopen__keeps_commits_and_never_repeats_a_stamp),
        CASE(test_reopen__after_a_crash_nothing_synced_is_missing),
        CASE(test_reopen__a_torn_tail_that_was_not_synced_is_no_error),
        CASE(test_reopen__a_log_that_lost_synced_commits_is_an_error),
        CASE(test_reopen__no_flipped_bit_of_a_synced_log_is_silent),
        CASE(test_reopen__a_lost_database_is_an_error),
        CASE(test_sync__moves_durable_and_shares_fsyncs),
        CASE(test_commit__a_full_log_is_synced_before_the_next_one_begins),
        CASE(test_close__runs_every_callback_and_syncs),
        CASE(test_visible__covers_whatever_a_reader_has_seen),
        CASE(test_plant_skip_sync__claims_what_it_does_not_do),
        CASE(test_poison__a_failed_write_is_of_unknown_outcome_and_the_last),
        CASE(test_poison__a_failed_fsync_is_never_tried_again),
        CASE(test_add__a_hot_counter_survives_folding_flushing_and_reopening),
        CASE(test_add__a_longer_vector_counts_the_missing_numbers_as_zero),
        CASE(test_add__to_what_is_no_vector_stops_nothing_and_is_told_by_verify),
        CASE(test_add__a_damaged_delta_is_left_out_and_told_by_verify),
        CASE(test_verify__finds_a_key_that_cannot_be_ours),
        CASE(test_verify__finds_a_flipped_bit_in_a_table),
        CASE(test_drop_space__also_the_last_there_is),
        CASE(test_checkpoint__makes_a_directory_like_the_original),
        CASE(test_memory__every_failed_allocation_is_an_error_and_no_more),
        CASE(test_begin__a_warm_engine_allocates_nothing_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
