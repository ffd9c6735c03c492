/* tests/crash/tree.h: small work on files and directories for the crash tests. Whatever goes wrong
 * here is no finding about the engine: it ends the program with a message. */
#ifndef CRASH_TREE_H
#define CRASH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

_Noreturn void give_up(const char *what, const char *detail);
/* Grows an array to hold `need` elements of `size` bytes. */
void *grow(void *p, size_t *cap, size_t need, size_t size);

/* The caller frees it with mem_free. */
uint8_t *tree_read(const char *path, size_t *n_out);
void tree_write(const char *path, const void *p, size_t n);
/* Everything below a directory; the directory itself stays. A missing one is fine. */
void tree_empty(const char *dir);
/* `to` is created. */
void tree_copy(const char *from, const char *to);

/* Calls f for each name in a directory. */
typedef void (*tree_fn)(void *ctx, const char *dir, const char *name, const struct stat *st);
void tree_each(const char *dir, tree_fn f, void *ctx);

#endif
