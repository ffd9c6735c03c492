/* Ids that sort by the time they were made: ULID, KSUID, UUID version 7.
 *
 *   ULID   48 bits of milliseconds, 80 random                        26 letters of Crockford's base 32
 *   KSUID  32 bits of seconds since 2014-05-13T16:53:20Z, 128 random   27 letters of base 62
 *   UUID   48 bits of milliseconds, version 7, 74 random             36 characters, hexadecimal
 *
 * Know before editing: inside one tick (a millisecond, of KSUID a second) the random part counts up
 * from the last one, so that ids of one process keep their order. Its first bit begins as 0: there is
 * room to count. */
#include "mapper/plan.h"

struct maker {
    int64_t tick;
    uint8_t tail[16];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct maker ulids, ksuids, uuids;

static void fill_random(uint8_t *to, size_t n)
{
    if (rng_secret(to, n)) return;
    struct rng r; /* a kernel without randomness: unlikely to repeat, which is all that is needed */
    rng_init(&r, clock_mono_ns(clock_system()));
    for (size_t i = 0; i < n; i++) to[i] = (uint8_t)rng_u64(&r);
}

/* The tail of the next id; its first byte keeps the bits of `mask` only. */
static void next_tail(struct maker *m, int64_t tick, size_t n, uint8_t mask, uint8_t *out)
{
    pthread_mutex_lock(&lock);
    if (m->tick != tick || tick == 0) {
        fill_random(m->tail, n);
        m->tail[0] &= mask >> 1;
        m->tick = tick;
    } else {
        for (size_t i = n; i-- > 0 && ++m->tail[i] == 0;) {}
    }
    memcpy(out, m->tail, n);
    pthread_mutex_unlock(&lock);
}

static int64_t moment(int64_t now_us) { return now_us ? now_us : clock_now_us(clock_system()); }

static void put_be(uint8_t *to, size_t n, uint64_t v)
{
    while (n-- > 0) {
        to[n] = (uint8_t)v;
        v >>= 8;
    }
}

/* Big-endian bytes in another base, `n` digits; the bytes are used up. */
static void put_base(uint8_t *bytes, size_t n_bytes, unsigned base, const char *digits, char *to,
                     size_t n)
{
    while (n-- > 0) {
        unsigned rest = 0;
        for (size_t i = 0; i < n_bytes; i++) {
            unsigned v = rest << 8 | bytes[i];
            bytes[i] = (uint8_t)(v / base);
            rest = v % base;
        }
        to[n] = digits[rest];
    }
}

void sheaf_ulid(char out[27], int64_t now_us)
{
    uint8_t b[16];
    int64_t ms = moment(now_us) / 1000;
    put_be(b, 6, (uint64_t)ms);
    next_tail(&ulids, ms, 10, 0xff, b + 6);
    put_base(b, 16, 32, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", out, 26);
    out[26] = '\0';
}

void sheaf_ksuid(char out[28], int64_t now_us)
{
    uint8_t b[20];
    int64_t s = moment(now_us) / 1000000 - 1400000000;
    put_be(b, 4, (uint64_t)s);
    next_tail(&ksuids, s, 16, 0xff, b + 4);
    put_base(b, 20, 62, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", out, 27);
    out[27] = '\0';
}

void sheaf_uuid7(char out[37], int64_t now_us)
{
    uint8_t tail[10];
    uint64_t ms = (uint64_t)(moment(now_us) / 1000);
    next_tail(&uuids, (int64_t)ms, 10, 0x03, tail); /* 74 bits: 12 and 62 */
    uint64_t high = (uint64_t)tail[0] << 8 | tail[1], low = 0;
    for (size_t i = 2; i < 10; i++) low = low << 8 | tail[i];
    uint64_t a = high << 2 | low >> 62;
    low = (low & (UINT64_MAX >> 2)) | UINT64_C(1) << 63;
    uint8_t b[16];
    put_be(b, 6, ms);
    put_be(b + 6, 2, 0x7000 | (a & 0xfff));
    put_be(b + 8, 8, low);
    for (size_t i = 0, to = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) out[to++] = '-';
        out[to++] = "0123456789abcdef"[b[i] >> 4];
        out[to++] = "0123456789abcdef"[b[i] & 15];
    }
    out[36] = '\0';
}
