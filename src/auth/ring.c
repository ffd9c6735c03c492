/* The keys in memory: finding one, and what it may touch. Know before editing: a ring does not
 * change once it is built, but for the signing keys that each secret keeps under its own lock. */
#include "auth/ring.h"

#include "base/mem.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>

struct auth_ring *auth_ring_new(void)
{
    uint8_t noise[SIG_HASH];
    struct auth_ring *ring = mem_zalloc(sizeof *ring);
    if (!ring) return NULL;
    ring->refs = 1;
    if (rng_secret(noise, sizeof noise)) ring->nobody = sig_secret_new(SPAN(noise, sizeof noise));
    if (ring->nobody) return ring;
    auth_ring_unref(ring);
    return NULL;
}

struct auth_key *auth_ring_add(struct auth_ring *ring)
{
    if (ring->n == ring->cap) {
        uint32_t cap = ring->cap ? 2 * ring->cap : 8;
        struct auth_key *more = mem_realloc(ring->keys, cap * sizeof *more);
        if (!more) return NULL;
        ring->keys = more;
        ring->cap = cap;
    }
    struct auth_key *key = &ring->keys[ring->n++];
    *key = (struct auth_key){.expires_s = INT64_MAX};
    return key;
}

static int by_id(const void *a, const void *b)
{
    const struct auth_key *x = a, *y = b;
    int c = strcmp(x->id, y->id);
    return c ? c : x->line - y->line;
}

void auth_ring_sort(struct auth_ring *ring)
{
    if (ring->n) qsort(ring->keys, ring->n, sizeof *ring->keys, by_id);
}

const struct auth_key *auth_ring_find(const struct auth_ring *ring, span id)
{
    uint32_t from = 0, to = ring->n;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        int c = span_cmp(span_cstr(ring->keys[middle].id), id);
        if (c == 0) return &ring->keys[middle];
        if (c < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

struct auth_ring *auth_ring_ref(struct auth_ring *ring)
{
    atomic_fetch_add_explicit(&ring->refs, 1, memory_order_relaxed);
    return ring;
}

static void key_free(struct auth_key *key)
{
    if (key->token) explicit_bzero(key->token, strlen(key->token));
    mem_free(key->token);
    mem_free(key->tables);
    mem_free(key->id);
    sig_secret_free(key->secret);
}

void auth_ring_unref(struct auth_ring *ring)
{
    if (!ring) return;
    uint64_t before = atomic_fetch_sub_explicit(&ring->refs, 1, memory_order_acq_rel);
    assert(before > 0);
    if (before != 1) return;
    for (uint32_t i = 0; i < ring->n; i++) key_free(&ring->keys[i]);
    mem_free(ring->keys);
    sig_secret_free(ring->nobody);
    mem_free(ring);
}

uint32_t auth_ring_count(const struct auth_ring *ring) { return ring->n; }

/* ---- what a key may touch ---- */

/* A star at the end stands for any rest. */
static bool matches(span pattern, span name)
{
    const char *p = pattern.p;
    if (pattern.n && p[pattern.n - 1] == '*') return span_starts(name, SPAN(p, pattern.n - 1));
    return span_eq(pattern, name);
}

bool auth_may(const struct auth_identity *who, bool is_write, span table)
{
    const struct auth_key *key = who->key;
    if (is_write && key->is_read_only) return false;
    if (!key->tables || table.n == 0) return true;
    for (const char *p = key->tables; *p; p += strlen(p) + 1) {
        if (matches(span_cstr(p), table)) return true;
    }
    return false;
}

sheaf_rc auth_denied(sheaf_error *err, const struct auth_identity *who, span action, span region,
                     span table)
{
    if (table.n == 0) table = SPAN_LIT("*");
    return err_set(err, SHEAF_ACCESS_DENIED,
                   "User: arn:aws:iam::000000000000:user/%.*s is not authorized to perform: "
                   "dynamodb:%.*s on resource: arn:aws:dynamodb:%.*s:000000000000:table/%.*s "
                   "because no identity-based policy allows the dynamodb:%.*s action",
                   SPAN_ARG(who->key_id), SPAN_ARG(action), SPAN_ARG(region), SPAN_ARG(table),
                   SPAN_ARG(action));
}
