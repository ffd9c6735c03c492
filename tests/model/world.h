/* tests/model/world.h: a database, its oracle, and the operations that are done to both.
 *
 * Every operation is one 64-bit seed: what it asks is drawn from that seed and the schemas
 * alone, so a sequence can be shortened by leaving seeds out. The first answer that differs from
 * the oracle's ends the run through world_differs, which does not return. */
#ifndef MODEL_WORLD_H
#define MODEL_WORLD_H

#include "model/grammar.h"

#include <setjmp.h>
#include <stdio.h>

enum { N_TABLES = N_SCHEMAS, N_TOKENS = 8 };

struct token {
    char text[40];
    uint64_t seed;    /* of the operation that used it; 0: free */
    uint64_t request; /* what it asked, as a digest */
    int64_t at_us;
};

struct world {
    sheaf_db *db;
    const char *directory; /* NULL: in memory */
    bool is_relaxed;
    bool is_sharing;    /* others write to the same tables, under other partition keys */
    struct arena arena; /* of one operation */
    struct rng rng;     /* of one operation */
    struct domain domain;
    struct draw draw;
    struct model_table tables[N_TABLES];
    struct token tokens[N_TOKENS];
    uint32_t n_tokens_made, n_sweeps;
    int64_t now_us;
    FILE *trace; /* NULL: silent */
    jmp_buf out;
    char message[8192];
    sheaf_error err;
    uint64_t n_calls, n_checked; /* calls of the library, answers compared */
};

/* A fresh database with all tables; everything about it follows from the seed. false: it could not
 * be opened, or differed (message). directory NULL: in memory; else it must not exist. */
bool world_open(struct world *w, uint64_t seed, const char *directory);
void world_close(struct world *w);
/* One operation. false: the answers differ, see message. */
bool world_step(struct world *w, uint64_t seed);
/* Compares everything there is, and asks the database to verify itself. */
bool world_check(struct world *w);

/* ---- for the operations ---- */

_Noreturn void world_differs(struct world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Tells the trace what is being done. */
void world_say(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define RC_BIT(rc) (UINT64_C(1) << (rc))
/* The answer must be one of those in the mask. */
void world_expect_rc(struct world *w, const char *what, sheaf_rc rc, uint64_t mask);
void world_expect_item(struct world *w, const char *what, const sheaf_item *got,
                       const struct tree *want);
void world_expect_number(struct world *w, const char *what, uint64_t got, uint64_t want);
const char *world_text(struct world *w, const struct tree *t);
struct model_table *world_table(struct world *w); /* a random one */
bool world_one_in(struct world *w, uint64_t n);
sheaf_rc world_reopen(struct world *w);
/* Whether the item's partition key is one of the world's domain; true when it shares with
 * nobody. */
bool world_owns(struct world *w, const struct model_table *t, const struct tree *item);

void op_write(struct world *w);
void op_batch_write(struct world *w);
void op_transact_write(struct world *w, uint64_t seed);
void op_get(struct world *w);
void op_batch_get(struct world *w);
void op_transact_get(struct world *w);
void op_query(struct world *w);
void op_scan(struct world *w);
void op_describe(struct world *w);
void op_collection(struct world *w);
void op_stream(struct world *w);
void op_background(struct world *w);
void op_clock(struct world *w);
void op_tables(struct world *w);
void op_check(struct world *w);

void check_stream(struct world *w, struct model_table *t);
void check_counts(struct world *w, struct model_table *t);
void check_items(struct world *w, struct model_table *t);
void check_verify(struct world *w);
sheaf_rc create_table(struct world *w, const struct model_table *t);
sheaf_rc switch_ttl(struct world *w, struct model_table *t, bool is_on);
/* The oracle's table as CreateTable makes it. */
void begin_table(struct model_table *t);
void make_table(struct world *w, struct model_table *t);

#endif
