/* The data directories of tests/support/rocks.h: made, damaged, copied, looked into. */
#include "support/rocks.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void shell(const char *format, const char *a, const char *b)
{
    char command[1200];
    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}

int fixture_setup(void **state)
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

int fixture_teardown(void **state)
{
    struct fixture *f = *state;
    shell("rm -rf '%s'%s", f->root, "");
    free(f);
    return 0;
}

sheaf_engine *must_open(const char *dir)
{
    sheaf_engine *e = NULL;
    sheaf_error err = {0};
    if (sheaf_engine_open_rocks(dir, NULL, &e, &err) != SHEAF_OK) fail_msg("%s", err.message);
    return e;
}

void must_refuse(const char *dir, const struct sheaf_rocks_options *o, sheaf_rc rc,
                 const char *part)
{
    sheaf_engine *e = NULL;
    sheaf_error err = {0};
    assert_rc(sheaf_engine_open_rocks(dir, o, &e, &err), rc);
    assert_null(e);
    if (!strstr(err.message, part)) fail_msg("\"%s\" lacks \"%s\"", err.message, part);
}

void write_file(const char *dir, const char *name, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

bool has_file(const char *dir, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

size_t count_files(const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    size_t n = 0;
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

/* The newest file in dir/db with that ending, into `path`. */
void find_db_file(const char *dir, const char *ending, char path[600])
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

sheaf_engine_key key_of(uint64_t space, const char *s)
{
    uint8_t hash[16] = {1, 2, 3};
    return (sheaf_engine_key){.p = sheaf_place_make(space, hash), .s = span_cstr(s)};
}

sheaf_position put_text(sheaf_engine *e, const char *s, const char *value)
{
    sheaf_txn *t;
    sheaf_position at = 0;
    sheaf_engine_key key = key_of(1, s);
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_put(t, &key, span_cstr(value), NULL));
    assert_ok(eng_commit(t, &at, NULL, NULL));
    return at;
}

void add_one(sheaf_engine *e, const char *s, size_t n, const int64_t deltas[])
{
    sheaf_txn *t;
    sheaf_engine_key key = key_of(1, s);
    assert_ok(eng_begin(e, SHEAF_TXN_RW, &t, NULL));
    assert_ok(eng_add(t, &key, n, deltas, NULL));
    assert_ok(eng_commit(t, NULL, NULL, NULL));
}

void assert_value(sheaf_engine *e, const char *s, span want)
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

void assert_numbers(sheaf_engine *e, const char *s, size_t n, const int64_t want[])
{
    uint8_t bytes[64];
    for (size_t i = 0; i < n; i++) eng_number_set(bytes, i, want[i]);
    assert_value(e, s, SPAN(bytes, n * 8));
}

void flush_tables(sheaf_engine *e)
{
    char *message = NULL;
    rocksdb_flushoptions_t *how = rocksdb_flushoptions_create();
    rocksdb_flush(rocks_of(e)->db, how, &message);
    assert_null(message);
    rocksdb_flushoptions_destroy(how);
}

void take_crash_copy(struct fixture *f)
{
    shell("rm -rf '%s'%s", f->copy, "");
    shell("cp -r '%s' '%s'", f->dir, f->copy);
}

void flip(const char *path, long at)
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

void note_call(void *ctx, sheaf_rc rc)
{
    struct calls *c = ctx;
    if (rc == SHEAF_OK)
        c->ok++;
    else
        c->failed++;
}

bool count_complaint(void *ctx, const sheaf_engine_key *key, const char *what)
{
    assert_non_null(key);
    assert_non_null(what);
    ++*(int *)ctx;
    return true;
}
