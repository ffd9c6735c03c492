/* tests/crash/shim_test.c: the power-cut shim and its disk model, judged by small programs.
 *
 * The program starts itself under the shim to run one scene on a small disk, cuts the power, and
 * compares what is left with a listing. The disk before every scene:
 *
 *      d/  d/in=I  gone=G  old=ABCDEF        (all durable)
 *
 * To know before editing: the listing has every name in byte order, "path=contents" or "path/".
 */
#include "support/support.h"

#include "base/mem.h"
#include "disk.h"
#include "spawn.h"
#include "tree.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pc_history *history;
static int history_fd;
static char root[64];

/* ---- what scenes are made of; a failing call ends the scene with a status that fails the test */

static void must(bool ok)
{
    if (!ok) _exit(9);
}
static int create(const char *path) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644); }
static void put(int fd, const char *text)
{
    must(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}
static void sync_path(const char *path)
{
    int fd = open(path, O_RDONLY);
    must(fd >= 0 && fsync(fd) == 0 && close(fd) == 0);
}
static int made(const char *path, const char *text)
{
    int fd = create(path);
    put(fd, text);
    return fd;
}

static void write_only(void)
{
    made("new", "hello");
    sync_path(".");
}
static void write_fsync(void)
{
    must(fsync(made("new", "hello")) == 0);
    sync_path(".");
}
static void write_fdatasync_more(void)
{
    int fd = made("new", "hello");
    must(fdatasync(fd) == 0);
    put(fd, " world");
    sync_path(".");
}
static void write_range_hint(void)
{
    int fd = made("new", "hello");
    must(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) == 0);
    sync_path(".");
}
static void fsync_without_directory(void) { must(fsync(made("new", "hello")) == 0); }
static void fsync_through_dup(void)
{
    int fd = made("new", "hello"), copy = fcntl(dup(fd), F_DUPFD_CLOEXEC, 20);
    must(copy >= 20 && close(fd) == 0 && fsync(copy) == 0);
    sync_path(".");
}
static void everything_synced(void)
{
    made("new", "hello");
    sync();
}
static void overwrite(void)
{
    int fd = open("old", O_RDWR);
    must(pwrite(fd, "xy", 2, 2) == 2);
}
static void overwrite_twice_one_synced(void)
{
    int fd = open("old", O_RDWR);
    must(pwrite(fd, "xy", 2, 2) == 2 && fdatasync(fd) == 0 && pwrite(fd, "12345678", 8, 1) == 8);
}
static void append(void)
{
    int fd = open("old", O_WRONLY | O_APPEND);
    struct iovec v[2] = {{(void *)(uintptr_t) "gh", 2}, {(void *)(uintptr_t) "i", 1}};
    must(writev(fd, v, 2) == 3);
}
static void append_synced(void)
{
    append();
    sync_path("old");
}
static void vector_at(void)
{
    int fd = open("old", O_WRONLY);
    struct iovec v[2] = {{(void *)(uintptr_t) "1", 1}, {(void *)(uintptr_t) "23", 2}};
    must(pwritev(fd, v, 2, 4) == 3 && fsync(fd) == 0);
}
static void shorten(void) { must(truncate("old", 2) == 0); }
static void shorten_synced(void)
{
    int fd = open("old", O_RDWR);
    must(ftruncate(fd, 2) == 0 && fsync(fd) == 0 && ftruncate(fd, 4) == 0);
}
static void open_truncates(void) { put(create("old"), "z"); }
static void allocate(void)
{
    int fd = open("old", O_RDWR);
    must(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 65536) == 0 && fsync(fd) == 0);
    must(posix_fallocate(fd, 0, 9) == 0);
}
static void punch(void)
{
    int fd = open("old", O_RDWR);
    must(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1, 2) == 0);
}
static void rename_only(void) { must(rename("old", "older") == 0); }
static void rename_synced(void)
{
    rename_only();
    sync_path(".");
}
static void rename_over(void)
{
    int fd = made("tmp", "NEW");
    must(fsync(fd) == 0 && rename("tmp", "old") == 0);
}
static void rename_over_synced(void)
{
    rename_over();
    sync_path(".");
}
static void rename_across(void)
{
    must(renameat(AT_FDCWD, "old", AT_FDCWD, "d/old") == 0);
    sync_path("d");
}
static void rename_then_sync_file(void)
{
    rename_only();
    sync_path("older");
}
/* What recycling a log file does. */
static void rename_and_overwrite(void)
{
    rename_only();
    int fd = open("older", O_WRONLY);
    put(fd, "xyz");
}
static void unlink_only(void) { must(unlink("gone") == 0); }
static void unlink_synced(void)
{
    unlink_only();
    sync_path(".");
}
static void unlink_below(void)
{
    int dir = open("d", O_RDONLY | O_DIRECTORY);
    must(unlinkat(dir, "in", 0) == 0 && fsync(dir) == 0);
}
static void link_synced(void)
{
    must(link("old", "twin") == 0);
    sync_path(".");
}
static void mkdir_only(void)
{
    must(mkdir("e", 0755) == 0);
    must(fsync(made("e/f", "1")) == 0);
    sync_path("e");
}
static void mkdir_synced(void)
{
    mkdir_only();
    sync_path(".");
}
/* The same inode number may serve twice in one run. */
static void create_again(void)
{
    for (int i = 0; i < 8; i++) {
        must(close(made("new", "first")) == 0);
        if (i < 7) must(unlink("new") == 0);
    }
    sync_path("new");
    sync_path(".");
}
static void absolute_paths(void)
{
    char path[PATH_MAX], here[PATH_MAX];
    must(getcwd(here, sizeof here) != NULL);
    must(snprintf(path, sizeof path, "%s//d/../d/./x", here) < (int)sizeof path);
    must(fsync(made(path, "1")) == 0);
    sync_path("d");
}
static void elsewhere(void)
{
    int fd = memfd_create("x", 0);
    must(write(fd, "abc", 3) == 3 && ftruncate(fd, 1) == 0 && fsync(fd) == 0);
}
static void unseen(void) { must(syscall(SYS_write, create("new"), "x", 1) == 1); }
static void mapped(void)
{
    int fd = open("old", O_RDWR);
    must(mmap(NULL, 6, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
}
/* 64 KiB of 'o', then all of it un-synced 'n', then 8 KiB more. */
static void blocks(void)
{
    static char page[65536];
    int fd = create("big");
    memset(page, 'o', sizeof page);
    must(write(fd, page, sizeof page) == (ssize_t)sizeof page && fsync(fd) == 0);
    sync_path(".");
    memset(page, 'n', sizeof page);
    must(pwrite(fd, page, sizeof page, 0) == (ssize_t)sizeof page);
    must(pwrite(fd, page, 8192, sizeof page) == 8192);
}

/* ---- scenes and what must be left of them ---- */

#define BASE "d/ d/in=I gone=G old=ABCDEF"
#define NONE KEEP_NONE, DISK_STRICT
#define ALL KEEP_ALL, DISK_STRICT
#define EXT4 KEEP_NONE, DISK_EXT4

static const struct scene {
    const char *name;
    void (*run)(void);
    enum disk_keep keep;
    enum disk_mode mode;
    const char *left;
} scenes[] = {
    {"write without fsync is lost", write_only, NONE, "d/ d/in=I gone=G new= old=ABCDEF"},
    {"… and kept when only the process dies", write_only, ALL,
     "d/ d/in=I gone=G new=hello old=ABCDEF"},
    {"write and fsync is kept", write_fsync, NONE, "d/ d/in=I gone=G new=hello old=ABCDEF"},
    {"fdatasync covers what came before it", write_fdatasync_more, NONE,
     "d/ d/in=I gone=G new=hello old=ABCDEF"},
    {"sync_file_range is no sync", write_range_hint, NONE, "d/ d/in=I gone=G new= old=ABCDEF"},
    {"fsync of a file does not keep its name", fsync_without_directory, NONE, BASE},
    {"… but on ext4 it does", fsync_without_directory, EXT4,
     "d/ d/in=I gone=G new=hello old=ABCDEF"},
    {"fsync through a copied descriptor", fsync_through_dup, NONE,
     "d/ d/in=I gone=G new=hello old=ABCDEF"},
    {"sync keeps everything", everything_synced, NONE, "d/ d/in=I gone=G new=hello old=ABCDEF"},
    {"un-synced overwrite: the old bytes are back", overwrite, NONE, BASE},
    {"… and kept when only the process dies", overwrite, ALL, "d/ d/in=I gone=G old=ABxyEF"},
    {"only the synced one of two overwrites", overwrite_twice_one_synced, NONE,
     "d/ d/in=I gone=G old=ABxyEF"},
    {"un-synced append: the old length is back", append, NONE, BASE},
    {"synced append is kept", append_synced, NONE, "d/ d/in=I gone=G old=ABCDEFghi"},
    {"pwritev lands where it says", vector_at, NONE, "d/ d/in=I gone=G old=ABCD123"},
    {"un-synced truncate is undone", shorten, NONE, BASE},
    {"… and kept when only the process dies", shorten, ALL, "d/ d/in=I gone=G old=AB"},
    {"synced truncate is kept, growing after it not", shorten_synced, NONE,
     "d/ d/in=I gone=G old=AB"},
    {"un-synced O_TRUNC is undone", open_truncates, NONE, BASE},
    {"un-synced allocation is undone", allocate, NONE, BASE},
    {"allocation grows the file", allocate, ALL, "d/ d/in=I gone=G old=ABCDEF..."},
    {"un-synced hole is undone", punch, NONE, BASE},
    {"a hole reads as zeros", punch, ALL, "d/ d/in=I gone=G old=A..DEF"},
    {"rename without directory fsync is undone", rename_only, NONE, BASE},
    {"rename with directory fsync is kept", rename_synced, NONE, "d/ d/in=I gone=G older=ABCDEF"},
    {"rename over a name without directory fsync", rename_over, NONE, BASE},
    {"rename over a name with directory fsync", rename_over_synced, NONE,
     "d/ d/in=I gone=G old=NEW"},
    {"rename across directories is whole", rename_across, NONE, "d/ d/in=I d/old=ABCDEF gone=G"},
    {"fsync of a renamed file does not keep its name", rename_then_sync_file, NONE, BASE},
    {"… but on ext4 it does", rename_then_sync_file, EXT4, "d/ d/in=I gone=G older=ABCDEF"},
    {"a recycled file has its old name and bytes", rename_and_overwrite, NONE, BASE},
    {"un-synced unlink is undone", unlink_only, NONE, BASE},
    {"synced unlink is kept", unlink_synced, NONE, "d/ d/in=I old=ABCDEF"},
    {"unlinkat below a directory descriptor", unlink_below, NONE, "d/ gone=G old=ABCDEF"},
    {"link with directory fsync is kept", link_synced, NONE,
     "d/ d/in=I gone=G old=ABCDEF twin=ABCDEF"},
    {"mkdir without fsync of its parent loses all in it", mkdir_only, NONE, BASE},
    {"mkdir with fsync of its parent is kept", mkdir_synced, NONE,
     "d/ d/in=I e/ e/f=1 gone=G old=ABCDEF"},
    {"a name created again is the new file", create_again, NONE,
     "d/ d/in=I gone=G new=first old=ABCDEF"},
    {"absolute and crooked paths", absolute_paths, NONE, "d/ d/in=I d/x=1 gone=G old=ABCDEF"},
    {"files elsewhere are left alone", elsewhere, NONE, BASE},
    {"unseen", unseen, NONE, ""},
    {"mapped", mapped, NONE, ""},
    {"blocks", blocks, NONE, ""},
};
#define N_SCENES (sizeof scenes / sizeof scenes[0])

static const struct scene *scene_named(const char *name)
{
    for (size_t i = 0; i < N_SCENES; i++)
        if (strcmp(scenes[i].name, name) == 0) return &scenes[i];
    fail_msg("no scene %s", name);
    return NULL;
}

/* ---- running one ---- */

struct listing {
    char text[1024];
    const char *below;
};

/* In byte order, because the listing is sorted afterwards by name as it is built. */
static void list_one(void *ctx, const char *dir, const char *name, const struct stat *st)
{
    struct listing *l = ctx;
    char path[PATH_MAX], item[512];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path) return;
    int n = snprintf(item, sizeof item, "%.200s", path + strlen(root) + 1);
    if (S_ISDIR(st->st_mode)) {
        snprintf(item + n, sizeof item - (size_t)n, "/");
    } else {
        size_t size;
        uint8_t *p = tree_read(path, &size);
        for (size_t i = 0; i < size; i++)
            if (p[i] == 0) p[i] = '.';
        snprintf(item + n, sizeof item - (size_t)n, "=%.*s", (int)(size < 64 ? size : 64), p);
        mem_free(p);
    }
    char *at = l->text;
    while (*at && strncmp(at, item, strcspn(item, "=")) < 0) at += strcspn(at, " ") + 1;
    size_t len = strlen(item) + 1;
    if (strlen(l->text) + len + 1 > sizeof l->text) return;
    memmove(at + len, at, strlen(at) + 1);
    memcpy(at, item, len - 1);
    at[len - 1] = ' ';
    if (S_ISDIR(st->st_mode)) tree_each(path, list_one, l);
}

static void prepare(struct disk *d)
{
    char path[128];
    static const char *const files[][2] = {{"d/in", "I"}, {"gone", "G"}, {"old", "ABCDEF"}};
    tree_empty(root);
    snprintf(path, sizeof path, "%s/d", root);
    assert_int_equal(mkdir(path, 0755), 0);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i][0]);
        tree_write(path, files[i][1], strlen(files[i][1]));
    }
    disk_load(d);
}

/* Runs a scene under the shim; returns the status of its process. */
static int run_scene(struct disk *d, const struct scene *scene, uint64_t die_at)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)(scene - scenes));
    const char *const argv[] = {"/proc/self/exe", "scene", number, NULL};
    prepare(d);
    history_reset(history);
    history->die_at = die_at;
    struct spawn s = {
        .argv = argv, .cwd = root, .shim_root = root, .history_fd = history_fd, .out = -1};
    int status = spawn_wait(spawn(&s));
    assert_true(atomic_load(&history->is_attached));
    return status;
}

static void test_shim__leaves_what_was_synced(void **state)
{
    struct disk *d = *state;
    char why[256];
    size_t judged = 0;
    for (size_t i = 0; i < N_SCENES; i++) {
        const struct scene *s = &scenes[i];
        if (!s->left[0]) continue;
        int status = run_scene(d, s, 0);
        if (status != 0) fail_msg("%s: status %x", s->name, status);
        if (!disk_replay(d, history, s->mode, why)) fail_msg("%s: %s", s->name, why);
        if (!disk_is_real(d, why)) fail_msg("%s: %s", s->name, why);
        struct rng r;
        rng_init(&r, i);
        disk_cut(d, &(struct disk_cut){.bytes = s->keep, .names = s->keep}, &r);
        disk_restore(d);
        struct listing l = {.text = ""};
        tree_each(root, list_one, &l);
        l.text[strlen(l.text) - 1] = 0;
        if (strcmp(l.text, s->left) != 0)
            fail_msg("%s\n left   %s\n wanted %s", s->name, l.text, s->left);
        judged++;
    }
    print_message("%zu scenes judged\n", judged);
}

static void test_shim__notices_a_change_that_slips_past_it(void **state)
{
    char why[256];
    assert_int_equal(run_scene(*state, scene_named("unseen"), 0), 0);
    assert_true(disk_replay(*state, history, DISK_STRICT, why));
    assert_false(disk_is_real(*state, why));
}

static void test_shim__refuses_what_it_does_not_model(void **state)
{
    char why[256];
    assert_int_equal(run_scene(*state, scene_named("mapped"), 0), 0);
    assert_false(disk_replay(*state, history, DISK_STRICT, why));
    assert_non_null(strstr(why, "mmap"));
}

/* The process dies before its n-th change, for every n, and the history says exactly that. */
static void test_shim__dies_at_every_change(void **state)
{
    char why[256];
    const struct scene *scene = scene_named("rename over a name with directory fsync");
    uint64_t total = 0;
    for (uint64_t n = 1;; n++) {
        int status = run_scene(*state, scene, n);
        if (status == 0) break;
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        assert_int_equal(atomic_load(&history->records), n - 1);
        assert_true(disk_replay(*state, history, DISK_STRICT, why));
        assert_true(disk_is_real(*state, why));
        total = n;
    }
    assert_int_equal(total, 5); /* create, write, fsync, rename, fsync of the directory */
}

struct torn {
    uint64_t olds, news, holes, shorts;
};

/* One cut of the scene "blocks": every block is of one moment. */
static void tear(struct disk *d, const struct disk_cut *cut, struct rng *r, struct torn *t)
{
    char why[256], path[128];
    size_t n;
    assert_int_equal(run_scene(d, scene_named("blocks"), 0), 0);
    assert_true(disk_replay(d, history, DISK_STRICT, why));
    disk_cut(d, cut, r);
    disk_restore(d);
    snprintf(path, sizeof path, "%s/big", root);
    uint8_t *p = tree_read(path, &n);
    assert_true(n == 65536 || n == 65536 + 8192);
    t->shorts += n == 65536;
    for (size_t i = 0; i < n; i++) {
        assert_true(p[i] == 'n' || (i < 65536 ? p[i] == 'o' : p[i] == 0));
        if (i % cut->block)
            assert_int_equal(p[i], p[i - 1]);
        else
            *(p[i] == 'o' ? &t->olds : p[i] ? &t->news : &t->holes) += 1;
    }
    mem_free(p);
}

static void test_cut__tears_and_reorders_blocks(void **state)
{
    struct rng r;
    rng_init(&r, test_seed(20));
    for (int holes = 0; holes < 2; holes++) {
        struct disk_cut cut = {.bytes = holes ? KEEP_HOLES : KEEP_BLOCKS};
        struct torn t = {0};
        for (int round = 0; round < 20; round++) {
            cut.block = round % 2 ? 512 : 4096;
            tear(*state, &cut, &r, &t);
        }
        assert_true(t.olds > 100 && t.news > 100 && t.shorts > 0 && t.shorts < 20);
        assert_int_equal(t.holes > 0, holes);
    }
}

static int setup(void **state)
{
    history = history_new(&history_fd);
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof root, "%.40s/shim-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(root)) return -1;
    *state = disk_new(root);
    return 0;
}

static int teardown(void **state)
{
    disk_free(*state);
    tree_empty(root);
    return rmdir(root);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "scene") == 0) {
        scenes[atoi(argv[2])].run();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shim__leaves_what_was_synced),
        cmocka_unit_test(test_shim__notices_a_change_that_slips_past_it),
        cmocka_unit_test(test_shim__refuses_what_it_does_not_model),
        cmocka_unit_test(test_shim__dies_at_every_change),
        cmocka_unit_test(test_cut__tears_and_reorders_blocks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
