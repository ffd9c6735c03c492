/* tests/crash/spawn.c: fork and exec of a writer under the shim. Between the two only calls that
 * are allowed after a fork in a program with threads, because the checker's engine has some. */
#include "spawn.h"

#include "base/clock.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int spawn_high(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 100);
    if (high < 0) give_up("descriptor", "");
    close(fd);
    return high;
}

struct pc_history *history_new(int *fd_out)
{
    int fd = spawn_high(memfd_create("powercut", MFD_CLOEXEC));
    if (ftruncate(fd, PC_BYTES) != 0) give_up("memfd", "");
    void *map = mmap(NULL, PC_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) give_up("mmap", "");
    *fd_out = fd;
    return map;
}

void history_reset(struct pc_history *h) { memset(h, 0, sizeof *h); }

/* The environment with the shim's three variables in front. They point into `text`. */
static char **shim_environment(const struct spawn *s, char text[3][PATH_MAX + 32], char **env,
                               size_t cap)
{
    size_t n = 0;
    snprintf(text[0], sizeof text[0], "LD_PRELOAD=%s", POWERCUT_SO);
    snprintf(text[1], sizeof text[1], "%s=4", PC_ENV_FD);
    snprintf(text[2], sizeof text[2], "%s=%s", PC_ENV_ROOT, s->shim_root);
    for (; n < 3; n++) env[n] = text[n];
    for (char **e = environ; *e && n + 1 < cap; e++)
        if (strncmp(*e, "LD_PRELOAD=", 11) != 0) env[n++] = *e;
    env[n] = NULL;
    return env;
}

/* Descriptors 3 and 4 of the child; the originals lie higher and close at exec. */
static bool pass(int from, int to)
{
    if (from < 0) return true;
    return dup2(from, to) == to;
}

pid_t spawn(const struct spawn *s)
{
    static char text[3][PATH_MAX + 32];
    static char *env[512];
    char **with = s->shim_root ? shim_environment(s, text, env, 512) : environ;
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) give_up("fork", "");
    if (pid > 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(125);
    if (s->cwd && chdir(s->cwd) != 0) _exit(126);
    if (!pass(s->out, 3) || (s->shim_root && !pass(s->history_fd, 4))) _exit(126);
    execve(s->argv[0], (char *const *)(uintptr_t)s->argv, with);
    _exit(127);
}

int spawn_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) give_up("waitpid", "");
    return status;
}

bool spawn_ended_well(int status)
{
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGKILL;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void spawn_pipe(int ends[2])
{
    if (pipe(ends) != 0) give_up("pipe", "");
    ends[0] = spawn_high(ends[0]);
    ends[1] = spawn_high(ends[1]);
}

enum spawn_heard spawn_hear(int fd, uint64_t until_ns, void *message, size_t n)
{
    for (;;) {
        uint64_t now = clock_mono_ns(clock_system());
        if (now >= until_ns) return SPAWN_LATE;
        uint64_t left = until_ns - now;
        struct timespec t = {.tv_sec = (time_t)(left / 1000000000),
                             .tv_nsec = (long)(left % 1000000000)};
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (ppoll(&p, 1, &t, NULL) <= 0) continue;
        ssize_t got = read(fd, message, n);
        return got == 0 ? SPAWN_GONE : got == (ssize_t)n ? SPAWN_MESSAGE : SPAWN_ODD;
    }
}
