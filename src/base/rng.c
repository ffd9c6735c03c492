/* Turns a seed into a repeatable sequence (xoroshiro128+ seeded by splitmix64), and the kernel's
 * randomness into secrets. */
#include "base/rng.h"

#include <assert.h>
#include <errno.h>
#include <sys/random.h>

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void rng_init(struct rng *r, uint64_t seed)
{
    r->s[0] = splitmix(&seed);
    r->s[1] = splitmix(&seed);
    if (!r->s[0] && !r->s[1]) r->s[0] = 1; /* the one state it could not leave */
}

static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

uint64_t rng_u64(struct rng *r)
{
    uint64_t a = r->s[0], b = r->s[1], out = a + b;
    b ^= a;
    r->s[0] = rotl(a, 24) ^ b ^ (b << 16);
    r->s[1] = rotl(b, 37);
    return out;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    assert(n > 0);
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)(((u128)rng_u64(r) * n) >> 64);
}

bool rng_secret(void *to, size_t n)
{
    uint8_t *p = to;
    while (n > 0) {
        ssize_t got = getrandom(p, n, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}
