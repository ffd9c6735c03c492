/* auth/ring.h: what a key ring is made of; for the files of this room. */
#ifndef AUTH_RING_H
#define AUTH_RING_H

#include "auth/crypto.h"

#include <stdatomic.h>

struct auth_key {
    char *id;
    struct sig_secret *secret;
    char *token;       /* the session token, NULL: a long-term key */
    int64_t expires_s; /* of the session; INT64_MAX: never */
    char *tables;      /* "orders\0audit-*\0\0", NULL: every table */
    bool is_read_only, is_admin;
    int line; /* of the file, where its section begins */
};

struct auth_ring {
    _Atomic uint64_t refs;
    struct sig_secret *nobody; /* stands in for the secret of a key that is not there */
    struct auth_key *keys;     /* sorted by id */
    uint32_t n, cap;
};

/* An empty ring with one reference; NULL when memory or randomness is out. */
struct auth_ring *auth_ring_new(void) __attribute__((warn_unused_result));
/* A zeroed key of the ring, valid until the next add; NULL when memory is out. */
struct auth_key *auth_ring_add(struct auth_ring *ring) __attribute__((warn_unused_result));
/* Must be called once all keys are there. */
void auth_ring_sort(struct auth_ring *ring);
/* NULL when there is none. */
const struct auth_key *auth_ring_find(const struct auth_ring *ring, span id);

#endif
