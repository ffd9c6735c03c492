/* base/rng.h: the only place that reads randomness. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A seeded generator for tests, jitter and fault schedules; never for secrets. Caller's storage,
 * one thread at a time. */
struct rng {
    uint64_t s[2];
};
void rng_init(struct rng *r, uint64_t seed);
uint64_t rng_u64(struct rng *r);
/* Evenly in [0, n); n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);

/* Unpredictable bytes from the kernel, for secrets. false when the kernel has none. */
bool rng_secret(void *to, size_t n) __attribute__((warn_unused_result));

#endif
