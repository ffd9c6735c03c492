/* tests/crash/check.h: what was acknowledged, and whether it is there. */
#ifndef CRASH_CHECK_H
#define CRASH_CHECK_H

#include "work.h"

#include <stdbool.h>

#define LEDGER_EPOCHS 64
#define LEDGER_COPIES 128

enum {
    ROW_ACKED = 1, /* the writer said so */
    ROW_SEEN = 2   /* an earlier check found it on the disk: it may not go away again */
};
struct ledger_row {
    uint8_t flags;
    sheaf_stamp stamp;
    uint32_t rank;  /* place in the log, from 1; 0 = not known */
    uint32_t check; /* number of the check that found it last */
};
/* The independent record of one data directory, in the driver's memory. */
struct ledger {
    struct {
        struct ledger_row *rows; /* by sequence */
        size_t n, cap;
    } epochs[LEDGER_EPOCHS];
    uint64_t n_acked, n_opened; /* messages taken over */
    uint64_t live;              /* the space that is live, or an older one than it */
    struct {
        uint64_t n, least;
    } copies[LEDGER_COPIES]; /* made and not yet forgotten, and how many records each must have */
    size_t n_copies;
    uint32_t checks;
};

void ledger_clear(struct ledger *l);
/* false: the message itself cannot be true (a stamp given twice, an unknown number). */
bool ledger_take(struct ledger *l, const struct work_message *m);

struct verdict {
    uint64_t present;       /* transactions in the log */
    uint64_t lost;          /* acknowledged or seen before, and not there */
    uint64_t torn;          /* keys, counters that do not say what the log says */
    uint64_t other;         /* order, stamps, verify, cannot be opened … */
    char complaint[4][256]; /* the first ones */
    size_t n_complaints;
    char first_lost[256], first_torn[256];
};
static inline bool verdict_ok(const struct verdict *v) { return !v->lost && !v->torn && !v->other; }

/* Opens the directory and judges it. is_disk: what is found is on the disk, not only in the page
 * cache, and has to stay. */
void check_directory(struct ledger *l, const char *directory, bool is_disk, struct verdict *v);

/* The same for a copy: as much as `least` transactions, whole, and nothing else is asked. */
void check_copy(const char *directory, uint64_t least, struct verdict *v);

#endif
