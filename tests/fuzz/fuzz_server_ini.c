/* Any bytes as the files of --config and --faults: options, faults, or a message that says where. */
#include "server/faults.h"
#include "server/options.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

static void read_options(struct arena *arena, char *path, sheaf_error *err)
{
    struct server_options o;
    char flag[] = "--config";
    char *argv[] = {flag, path};
    sheaf_rc rc = options_read(arena, 2, argv, NULL, &o, err);
    must(rc == SHEAF_OK || (rc == SHEAF_VALIDATION && *err->message));
    must(rc != SHEAF_OK || (o.port <= 65535 && (o.memory || *o.data)));
}

static void read_faults(struct arena *arena, const char *path, sheaf_error *err)
{
    struct sheaf_fault *faults;
    size_t n;
    sheaf_rc rc = faults_read(arena, path, &faults, &n, err);
    must(rc == SHEAF_OK || (rc == SHEAF_VALIDATION && n == 0 && *err->message));
    for (size_t i = 0; i < n; i++)
        must(faults[i].rc != SHEAF_OK && (faults[i].one_in || faults[i].nth || faults[i].every));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    struct arena arena;
    sheaf_error err;
    int fd = memfd_create("ini", MFD_CLOEXEC);
    if (fd < 0) return 0;
    must(write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    arena_init(&arena, 1 << 20);
    read_options(&arena, path, &err);
    arena_reset(&arena);
    read_faults(&arena, path, &err);
    arena_deinit(&arena);
    close(fd);
    return 0;
}
