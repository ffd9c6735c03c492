/* Turns allocation requests into libc blocks. Know before editing: the fault countdown must cost
 * one predictable branch when off. */
#include "base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_least64_t g_count;
static atomic_uint_least64_t g_fail_at; /* absolute allocation number, 0 = off */
static atomic_bool g_for_ever;

static bool is_due(void)
{
    uint64_t n = atomic_fetch_add_explicit(&g_count, 1, memory_order_relaxed) + 1;
    uint64_t at = atomic_load_explicit(&g_fail_at, memory_order_relaxed);
    if (at == 0) return false;
    return n == at || (n > at && atomic_load_explicit(&g_for_ever, memory_order_relaxed));
}

void *mem_alloc(size_t n) { return is_due() ? NULL : malloc(n ? n : 1); }

void *mem_zalloc(size_t n) { return is_due() ? NULL : calloc(1, n ? n : 1); }

void *mem_realloc(void *p, size_t n) { return is_due() ? NULL : realloc(p, n ? n : 1); }

void mem_free(void *p) { free(p); }

void mem_fail_at(uint64_t nth, bool for_ever)
{
    atomic_store(&g_for_ever, for_ever);
    atomic_store(&g_fail_at, nth ? atomic_load(&g_count) + nth : 0);
}

uint64_t mem_count(void) { return atomic_load_explicit(&g_count, memory_order_relaxed); }
