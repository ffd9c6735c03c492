/* Preloaded into a server by test_durability.py: the disk does what files say. While
 * $SYNC_SHIM/hold exists, syncs do not return; while $SYNC_SHIM/fail exists, they fail with EIO. Each
 * sync that is being held is announced by $SYNC_SHIM/held. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void path_of(char out[512], const char *name)
{
    const char *folder = getenv("SYNC_SHIM");
    snprintf(out, 512, "%s/%s", folder ? folder : "/nonexistent", name);
}

static bool is_there(const char *name)
{
    char path[512];
    path_of(path, name);
    return access(path, F_OK) == 0;
}

static void announce(void)
{
    char path[512];
    path_of(path, "held");
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
}

static int sync_by(const char *name, int fd)
{
    int (*real)(int) = (int (*)(int))(void *)dlsym(RTLD_NEXT, name);
    if (is_there("hold")) announce();
    while (is_there("hold")) usleep(1000);
    if (is_there("fail")) {
        errno = EIO;
        return -1;
    }
    return real(fd);
}

int fsync(int fd) { return sync_by("fsync", fd); }
int fdatasync(int fd) { return sync_by("fdatasync", fd); }
