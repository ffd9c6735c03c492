/* Turns verify, backup and restore into calls of the library, or into questions to the server that
 * has the directory open. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void cli_print_line(void *ctx, const char *text)
{
    (void)ctx;
    puts(text);
}

static int usage(const char *how)
{
    fprintf(stderr, "sheaf: usage: sheaf %s\n", how);
    return CLI_USAGE;
}

/* Opening makes a directory that is missing, so it is looked at first. CLI_OK, or says what is
 * wrong. */
static int look_at(const char *directory)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/FORMAT", directory);
    if (n < 0 || n >= (int)sizeof path) return cli_fail("%s: the path is too long", directory);
    if (access(path, F_OK) == 0) return CLI_OK;
    if (errno == ENOENT || errno == ENOTDIR)
        return cli_fail("%s is no data directory: it has no FORMAT file", directory);
    return cli_fail("cannot look into %s: %s%s", directory, strerror(errno),
                    errno == EACCES ? "; run it as the user the directory belongs to" : "");
}

sheaf_rc cli_open(const char *directory, const char *owner, sheaf_db **db_out, sheaf_error *err)
{
    struct sheaf_options o = {.owner = owner, .no_background = true};
    return sheaf_open(directory, &o, db_out, err);
}

/* A copy inside of what it copies would copy itself, or be taken for a part of the original. */
static int refuse_inside(const char *destination, const char *directory)
{
    return cli_fail("%s lies inside of %s; a copy needs a place outside", destination, directory);
}

/* ---- verify ---- */

static int verdict(const char *directory, sheaf_rc rc, const sheaf_error *err)
{
    if (rc == SHEAF_OK) return CLI_OK;
    return cli_fail(
        "%s: %s%s", directory, err->message,
        rc == SHEAF_CORRUPT
            ? "; keep the directory, and restore a backup into a new one: sheaf restore BACKUP NEW"
            : "");
}

int cli_verify(int argc, char **argv)
{
    sheaf_error err;
    sheaf_db *db;
    bool is_running;
    if (argc != 1) return usage("verify DIR");
    const char *directory = argv[0];
    if (look_at(directory) != CLI_OK) return CLI_FAILED;
    sheaf_rc rc = server_ask(directory, "/verify", "", &is_running, cli_print_line, NULL, &err);
    if (is_running || rc != SHEAF_OK) return verdict(directory, rc, &err);
    if (cli_become_owner(directory) != CLI_OK) return CLI_FAILED;
    if (cli_open(directory, "sheaf verify", &db, &err) != SHEAF_OK)
        return cli_fail("%s", err.message);
    rc = server_verify(db, cli_print_line, NULL, &err);
    sheaf_close(db);
    return verdict(directory, rc, &err);
}

/* ---- backup ---- */

int cli_backup(int argc, char **argv)
{
    sheaf_error err;
    sheaf_db *db;
    bool is_running;
    char destination[PATH_MAX];
    if (argc != 2) return usage("backup DIR DEST");
    if (look_at(argv[0]) != CLI_OK) return CLI_FAILED;
    if (!cli_absolute(argv[1], destination)) return cli_fail("%s: the path is too long", argv[1]);
    if (cli_is_inside(destination, argv[0])) return refuse_inside(argv[1], argv[0]);
    sheaf_rc rc =
        server_ask(argv[0], "/backup", destination, &is_running, cli_print_line, NULL, &err);
    if (!is_running && rc == SHEAF_OK) {
        if (cli_become_owner(argv[0]) != CLI_OK) return CLI_FAILED;
        rc = cli_open(argv[0], "sheaf backup", &db, &err);
        if (rc == SHEAF_OK) {
            rc = sheaf_backup(db, destination, &err);
            sheaf_close(db);
        }
    }
    if (rc != SHEAF_OK) return cli_fail("%s", err.message);
    printf("backup of %s%s in %s\n", argv[0], is_running ? " (running)" : "", argv[1]);
    return CLI_OK;
}

/* ---- restore ---- */

/* Keeps a server from opening the backup while it is read. -1: one has it open; -2: there is no lock
 * file, because nobody has opened the backup since it was made. */
static int hold(const char *backup)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/LOCK.sheaf", backup);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return -2;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    close(fd);
    return -1;
}

static int check_copy(const char *copy)
{
    sheaf_error err;
    sheaf_db *db;
    if (cli_open(copy, "sheaf restore", &db, &err) != SHEAF_OK)
        return cli_fail("the copy does not open: %s", err.message);
    sheaf_rc rc = server_verify(db, cli_print_line, NULL, &err);
    sheaf_close(db);
    return rc == SHEAF_OK ? CLI_OK
                          : cli_fail("the copy is not sound, take another backup: %s", err.message);
}

static int copy_and_check(const char *backup, const char *copy, const char *directory)
{
    char what[PATH_MAX];
    if (cli_copy_tree(backup, copy, what, sizeof what) != 0)
        return cli_fail("cannot copy %s: %s", what, strerror(errno));
    int status = check_copy(copy);
    if (status != CLI_OK) {
        fprintf(stderr, "sheaf: what was copied stays in %s\n", copy);
        return status;
    }
    if (renameat2(AT_FDCWD, copy, AT_FDCWD, directory, RENAME_NOREPLACE) != 0)
        return cli_fail("cannot rename %s to %s: %s", copy, directory, strerror(errno));
    if (cli_sync_parent(directory) != 0)
        return cli_fail("cannot sync the name of %s: %s", directory, strerror(errno));
    printf("restored %s into %s\n", backup, directory);
    return CLI_OK;
}

int cli_restore(int argc, char **argv)
{
    char copy[PATH_MAX];
    struct stat st;
    if (argc != 2) return usage("restore BACKUP DIR");
    if (look_at(argv[0]) != CLI_OK) return CLI_FAILED;
    if (lstat(argv[1], &st) == 0)
        return cli_fail("%s exists already; nothing is overwritten: move it away first", argv[1]);
    if (cli_is_inside(argv[1], argv[0])) return refuse_inside(argv[1], argv[0]);
    size_t n = strlen(argv[1]);
    while (n > 1 && argv[1][n - 1] == '/') argv[1][--n] = '\0';
    if (snprintf(copy, sizeof copy, "%s.restoring", argv[1]) >= (int)sizeof copy)
        return cli_fail("%s: the path is too long", argv[1]);
    if (lstat(copy, &st) == 0)
        return cli_fail("%s is left of an earlier restore; delete it first", copy);
    int lock = hold(argv[0]);
    if (lock == -1)
        return cli_fail("%s is in use by a server; copy it with `sheaf backup`", argv[0]);
    int status = copy_and_check(argv[0], copy, argv[1]);
    if (lock >= 0) close(lock);
    return status;
}
