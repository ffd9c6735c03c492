/* Turns a data directory into the address of its socket. */
#include "server/admin_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

sheaf_rc admin_path(const char *directory, char out[ADMIN_PATH_BYTES], int *fd_out,
                    sheaf_error *err)
{
    *fd_out = -1;
    int n = snprintf(out, ADMIN_PATH_BYTES, "%s/admin.sock", directory);
    if (n > 0 && n < ADMIN_PATH_BYTES) return SHEAF_OK;
    *fd_out = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*fd_out < 0) return err_validation(err, "cannot open %s: %s", directory, strerror(errno));
    snprintf(out, ADMIN_PATH_BYTES, "/proc/self/fd/%d/admin.sock", *fd_out);
    return SHEAF_OK;
}
