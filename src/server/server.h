/* server/server.h: the face of the server to the command line.
 *
 * Layer rule: server includes http, auth, ops, api, core and base: the only room where they meet.
 * This header includes public headers only, for cli includes no other of ours. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <sheaf/sheaf.h>

/* `sheaf serve`: argv is what follows the word. Returns the exit status: 0 after a clean end, 1 for
 * a failure, 2 for options that make no sense. Prints to stdout and stderr. Blocks signals of the
 * calling thread. */
int server_main(int argc, char *const argv[], char *const envp[]);
void server_help(FILE *to);

/* One line of what a long work has to say. */
typedef void (*server_line_fn)(void *ctx, const char *text);

/* Walks a database and says what it found, disagreements first. SHEAF_CORRUPT when there was one. */
SHEAF_NODISCARD sheaf_rc server_verify(sheaf_db *db, server_line_fn line, void *ctx,
                                       sheaf_error *err);

/* Asks the server that has the data directory open, over the socket in it. *is_running_out: whether
 * there is one; if not, nothing was done. path: "/verify" or "/backup"; body: its argument. What the
 * server says comes line by line. */
SHEAF_NODISCARD sheaf_rc server_ask(const char *directory, const char *path, const char *body,
                                    bool *is_running_out, server_line_fn line, void *ctx,
                                    sheaf_error *err);

#endif
