/* cli/cli.h: the commands of `sheaf`.
 *
 * Layer rule: cli includes public headers and server/server.h only. It prints; nothing below it
 * does. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "server/server.h"

#include <limits.h>

enum { CLI_OK, CLI_FAILED, CLI_USAGE };

/* argv: what follows the command's word. Return the exit status. */
int cli_verify(int argc, char **argv);
int cli_backup(int argc, char **argv);
int cli_restore(int argc, char **argv);

/* "sheaf: message" to stderr; returns CLI_FAILED. */
int cli_fail(const char *format, ...) SHEAF_PRINTF_(1, 2);
/* Opens a data directory that exists; never makes one. */
SHEAF_NODISCARD sheaf_rc cli_open(const char *directory, const char *owner, sheaf_db **db_out,
                                  sheaf_error *err);
/* Prints a line to stdout; for server_verify and server_ask. */
void cli_print_line(void *ctx, const char *text);

/* Fails when the whole path is too long. */
SHEAF_NODISCARD bool cli_absolute(const char *path, char out[PATH_MAX]);
/* Whether a path, which need not exist, is a directory or lies anywhere below it. */
SHEAF_NODISCARD bool cli_is_inside(const char *path, const char *directory);

/* Opening a directory writes into it. What root would write there the directory's owner could not
 * read any more, so root becomes the owner, for the rest of the process. Others stay who they are. */
SHEAF_NODISCARD int cli_become_owner(const char *directory);

/* Copies a directory with everything in it that is a file or a directory, and syncs it. `to` must
 * not exist. Locks, sockets and what is still being written there are left out. 0, or -1 with errno
 * and the path in what[n]. */
int cli_copy_tree(const char *from, const char *to, char *what, size_t n);
/* The directory that holds `path`, so that its name survives a power cut. */
int cli_sync_parent(const char *path);

#endif
