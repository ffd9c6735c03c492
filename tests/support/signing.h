/* tests/support/signing.h: a request as an SDK sends it, signed, to be changed and verified. */
#ifndef TESTS_SIGNING_H
#define TESTS_SIGNING_H

#include "auth/auth.h"

/* 2015-08-30T12:36:00Z */
#define SIGNING_NOW_S INT64_C(1440938160)
#define SIGNING_ID "AKIDEXAMPLE"
#define SIGNING_SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

struct signing {
    struct arena arena;
    sheaf_error err;
    struct ctx c;
    struct auth_ring *ring;
    struct sig_gate gate;
    struct sig_secret *secret;
    struct sig_header headers[24];
    struct sig_request r;
    struct auth_identity who;
};

/* A PutItem, not signed yet, and a ring with SIGNING_ID and what `more` adds to its section (or
 * after it). Fails the test when the ring is refused. */
void signing_init(struct signing *s, const char *more);
void signing_deinit(struct signing *s);
/* Sets, adds (no such header yet) or removes (value NULL) a header. Borrows the strings. */
void signing_set(struct signing *s, const char *name, const char *value);
/* Adds another header of that name. */
void signing_add(struct signing *s, const char *name, const char *value);
/* Signs with sig_sign for us-east-1 at SIGNING_NOW_S and puts the headers in. token may be NULL. */
void signing_sign(struct signing *s, const char *token);
/* Verifies at SIGNING_NOW_S + later_s; s->err and s->who have the outcome. */
sheaf_rc signing_verify(struct signing *s, int64_t later_s);

#endif
