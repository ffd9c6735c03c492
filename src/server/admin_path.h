/* server/admin_path.h: where the socket of a data directory is. */
#ifndef SERVER_ADMIN_PATH_H
#define SERVER_ADMIN_PATH_H

#include "base/err.h"

#include <sys/un.h>

enum { ADMIN_PATH_BYTES = sizeof(((struct sockaddr_un *)0)->sun_path) };

/* DIR/admin.sock. A socket's address holds 107 bytes; a longer path goes by /proc/self/fd, through
 * a descriptor of the directory that stays open (-1: none is needed). */
SHEAF_NODISCARD sheaf_rc admin_path(const char *directory, char out[ADMIN_PATH_BYTES], int *fd_out,
                                    sheaf_error *err);

#endif
