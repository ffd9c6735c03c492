/* Turns a value and a run of deltas into their sum.
 *
 *     value, operand:  | int64 little-endian | int64 little-endian | …     (n * 8 bytes)
 *     01 00..00  +  FF FF..FF (-1)  =  00 00..00          the sum wraps, like the header says
 *
 * Know before editing: this runs inside flushes and compactions, where a refusal stops the whole
 * database for good. So it never refuses: vectors of different length count the missing numbers as
 * zero, and what is no vector at all is left out, counted, and told by verify. */
#include "engine/rocks/merge.h"

#include "base/mem.h"
#include "engine/keys.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* Counters are a handful of numbers; those sums need no heap, so that a failed allocation cannot
 * reach a compaction. */
#define SCRATCH_BYTES 512
static _Thread_local uint8_t scratch[SCRATCH_BYTES];

static int is_vector(size_t n) { return n > 0 && n % 8 == 0; }

static void add_into(uint8_t *sum, const char *p, size_t n)
{
    assert(is_vector(n));
    for (size_t i = 0; i < n / 8; i++) {
        uint64_t total = (uint64_t)eng_number_get(sum, i) + (uint64_t)eng_number_get(p, i);
        eng_number_set(sum, i, (int64_t)total);
    }
}

static size_t longest(const size_t *lengths, int n)
{
    size_t most = 0;
    for (int i = 0; i < n; i++) {
        if (is_vector(lengths[i]) && lengths[i] > most) most = lengths[i];
    }
    return most;
}

static uint8_t *take(size_t n)
{
    uint8_t *p = n <= SCRATCH_BYTES ? scratch : mem_alloc(n);
    if (p) memset(p, 0, n);
    return p;
}

static void add_operands(struct rocks_merge *m, uint8_t *sum, const char *const *list,
                         const size_t *lengths, int n)
{
    for (int i = 0; i < n; i++) {
        if (is_vector(lengths[i]))
            add_into(sum, list[i], lengths[i]);
        else
            atomic_fetch_add_explicit(&m->malformed, 1, memory_order_relaxed);
    }
}

/* A value that is no vector keeps its bytes: the adds to it are lost, and counted. */
static char *keep_value(struct rocks_merge *m, const char *value, size_t n, size_t *n_out)
{
    atomic_fetch_add_explicit(&m->malformed, 1, memory_order_relaxed);
    uint8_t *copy = take(n);
    if (copy && n) memcpy(copy, value, n);
    *n_out = copy ? n : 0;
    return (char *)copy;
}

static char *full_merge(void *state, const char *key, size_t key_n, const char *value,
                        size_t value_n, const char *const *list, const size_t *lengths, int n,
                        unsigned char *ok_out, size_t *n_out)
{
    (void)key, (void)key_n;
    if (value && !is_vector(value_n)) {
        char *kept = keep_value(state, value, value_n, n_out);
        *ok_out = kept != NULL;
        return kept;
    }
    assert(state && n > 0);
    size_t most = longest(lengths, n);
    if (value && value_n > most) most = value_n;
    uint8_t *sum = take(most);
    *ok_out = sum != NULL;
    *n_out = sum ? most : 0;
    if (!sum) return NULL;
    if (value) add_into(sum, value, value_n);
    add_operands(state, sum, list, lengths, n);
    return (char *)sum;
}

/* Refusing here is harmless: RocksDB keeps the operands apart. */
static char *partial_merge(void *state, const char *key, size_t key_n, const char *const *list,
                           const size_t *lengths, int n, unsigned char *ok_out, size_t *n_out)
{
    (void)key, (void)key_n;
    assert(state && n > 0);
    size_t most = longest(lengths, n);
    *ok_out = 0;
    *n_out = 0;
    for (int i = 0; i < n; i++) {
        if (!is_vector(lengths[i])) return NULL;
    }
    uint8_t *sum = take(most);
    if (!sum) return NULL;
    add_operands(state, sum, list, lengths, n);
    *ok_out = 1;
    *n_out = most;
    return (char *)sum;
}

static void give_back(void *state, const char *value, size_t n)
{
    (void)state, (void)n;
    if ((const uint8_t *)value != scratch) mem_free((void *)(uintptr_t)value);
}

static const char *name(void *state)
{
    (void)state;
    return "sheaf.add64"; /* on disk: RocksDB refuses to open under another name */
}

static void nothing(void *state) { (void)state; }

rocksdb_mergeoperator_t *rocks_merge_operator(struct rocks_merge *state)
{
    return rocksdb_mergeoperator_create(state, nothing, full_merge, partial_merge, give_back, name);
}
