/* tests/crash/spawn.h: starting a process, with or without the power-cut shim in front of it. */
#ifndef CRASH_SPAWN_H
#define CRASH_SPAWN_H

#include "powercut.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A history in shared memory; it lives as long as the program. *fd_out is what the child inherits.
 */
struct pc_history *history_new(int *fd_out);
/* Empties it for the next process. */
void history_reset(struct pc_history *h);

/* The same file under a number that no child uses, closed at exec. */
int spawn_high(int fd);

struct spawn {
    const char *const *argv;
    const char *cwd;       /* NULL: as ours */
    const char *shim_root; /* the modelled disk, absolute; NULL: no shim */
    int history_fd;
    int out; /* from spawn_high; becomes descriptor 3 of the child; -1: none */
};
/* The child dies when this program dies. */
pid_t spawn(const struct spawn *s);
/* The status as waitpid gives it. */
int spawn_wait(pid_t pid);
/* By itself, or killed by us. */
bool spawn_ended_well(int status);

/* A pipe for `out`: both ends high. */
void spawn_pipe(int ends[2]);
enum spawn_heard {
    SPAWN_MESSAGE,
    SPAWN_ODD, /* something of another length */
    SPAWN_LATE,
    SPAWN_GONE /* nobody has the other end any more */
};
/* Waits for a message of n bytes until then (on the system's monotonic clock). */
enum spawn_heard spawn_hear(int fd, uint64_t until_ns, void *message, size_t n);

#endif
