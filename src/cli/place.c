/* Turns the paths of a command line into answers about where they lie. */
#include "cli/cli.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The server may stand in another directory: its paths must not be relative to ours. */
bool cli_absolute(const char *path, char out[PATH_MAX])
{
    char cwd[PATH_MAX];
    if (*path == '/') return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
    if (!getcwd(cwd, sizeof cwd)) return false;
    size_t n = strlen(cwd), m = strlen(path);
    if (n + 1 + m >= PATH_MAX) return false;
    memcpy(out, cwd, n);
    out[n] = '/';
    memcpy(out + n + 1, path, m + 1);
    return true;
}

/* The part of an absolute path that exists, without links. What does not exist lies in there,
 * whatever it is called. */
static bool resolve(const char *path, char out[PATH_MAX])
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) return false;
    while (!realpath(part, out)) {
        char *last = strrchr(part, '/');
        if (!last) return false;
        last[last == part] = '\0';
        if (last == part && !realpath(part, out)) return false;
    }
    return true;
}

static bool is_same(const char *path, const struct stat *st)
{
    struct stat other;
    return stat(path, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* By the identity of each directory above and not by name, which a bind mount changes. */
bool cli_is_inside(const char *path, const char *directory)
{
    char whole[PATH_MAX], real[PATH_MAX];
    struct stat st;
    if (stat(directory, &st) != 0 || !cli_absolute(path, whole) || !resolve(whole, real))
        return false;
    for (char *end = real + strlen(real); end > real; end = strrchr(real, '/')) {
        *end = '\0';
        if (is_same(real, &st)) return true;
    }
    return is_same("/", &st);
}

/* For good: nothing of what follows needs root again. */
static bool become(uid_t user, gid_t group)
{
    return setgroups(0, NULL) == 0 && setresgid(group, group, group) == 0 &&
           setresuid(user, user, user) == 0;
}

int cli_become_owner(const char *directory)
{
    struct stat st;
    if (stat(directory, &st) != 0)
        return cli_fail("cannot look into %s: %s", directory, strerror(errno));
    if (geteuid() != 0 || st.st_uid == 0 || become(st.st_uid, st.st_gid)) return CLI_OK;
    return cli_fail("%s belongs to user %u, and root cannot become that here: %s; run it as that "
                    "user (sudo -u '#%u' sheaf ...)",
                    directory, (unsigned)st.st_uid, strerror(errno), (unsigned)st.st_uid);
}
