/* base/mem.h: the only place that calls malloc, so that a test can make the n-th allocation fail.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL when memory is out or a fault is due; n may be 0. Owner: the caller, until mem_free. */
void *mem_alloc(size_t n) __attribute__((malloc, warn_unused_result));
void *mem_zalloc(size_t n) __attribute__((malloc, warn_unused_result));
/* On failure the old block stays as it was. */
void *mem_realloc(void *p, size_t n) __attribute__((warn_unused_result));
void mem_free(void *p);

/* Fault seam, product code: the n-th allocation from now fails (1 = the next one), and every later
 * one too when `for_ever`. 0 switches it off. Process-wide; tests that use it run single-threaded
 * or expect any thread to be hit. */
void mem_fail_at(uint64_t nth, bool for_ever);
/* Allocations since the process began; the difference around a call proves "allocates nothing". */
uint64_t mem_count(void);

#endif
