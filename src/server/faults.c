/* Turns an ini file into a schedule of failures. */
#include "server/faults.h"

#include "ops/ops.h"
#include "server/ini.h"

#include <errno.h>
#include <stdlib.h>

enum { FAULTS_MAX = 256, SECTION_BYTES = 64 };

struct reader {
    struct arena *arena;
    struct sheaf_fault *faults;
    size_t n;
    char section[SECTION_BYTES];
    struct ini_at last; /* where the section's last line was */
};

/* What the core can be told to answer, by the exception's name. */
static const sheaf_rc schedulable[] = {SHEAF_TRANSACTION_CONFLICT, SHEAF_THROUGHPUT_EXCEEDED,
                                       SHEAF_INTERNAL};

static sheaf_rc check_whole(const struct reader *r)
{
    if (r->n == 0) return SHEAF_OK;
    const struct sheaf_fault *f = &r->faults[r->n - 1];
    if (f->rc == SHEAF_OK) return ini_fail(&r->last, "[%s] has no error", r->section);
    if (!f->one_in && !f->nth && !f->every)
        return ini_fail(&r->last, "[%s] never fails: give it nth, every or one_in", r->section);
    if (f->one_in && (f->nth || f->every))
        return ini_fail(&r->last, "[%s] has one_in (at random) and nth or every (counted): choose",
                        r->section);
    return SHEAF_OK;
}

static sheaf_rc begin_section(struct reader *r, const struct ini_at *at, const char *section)
{
    TRY(check_whole(r));
    if (r->n == FAULTS_MAX) return ini_fail(at, "there are more than %d faults", FAULTS_MAX);
    r->faults[r->n++] = (struct sheaf_fault){0};
    snprintf(r->section, sizeof r->section, "%s", section);
    return SHEAF_OK;
}

static sheaf_rc set_text(struct reader *r, const struct ini_at *at, const char **to,
                         const char *value)
{
    span copy = arena_dup(r->arena, SPAN(value, strlen(value) + 1));
    if (!copy.p) return err_nomem(at->err);
    *to = copy.p;
    return SHEAF_OK;
}

/* A rule for a name that no request has would wait for ever. */
static sheaf_rc set_operation(struct reader *r, const struct ini_at *at, const char *value,
                              struct sheaf_fault *f)
{
    const struct op *op;
    for (uint32_t i = 0; (op = op_at(i)); i++)
        if (strcmp(op_name(op), value) == 0) return set_text(r, at, &f->operation, value);
    return ini_fail(at, "operation is '%.60s'; it takes the name of one, such as PutItem", value);
}

static sheaf_rc set_number(const struct ini_at *at, const char *name, const char *value,
                           uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || n == 0 || n > most)
        return ini_fail(at, "%s is '%.40s'; it takes a number from 1 to %llu", name, value,
                        (unsigned long long)most);
    *out = n;
    return SHEAF_OK;
}

static sheaf_rc set_one_in(const struct ini_at *at, const char *value, struct sheaf_fault *f)
{
    uint64_t n;
    TRY(set_number(at, "one_in", value, UINT32_MAX, &n));
    f->one_in = (uint32_t)n;
    return SHEAF_OK;
}

static sheaf_rc set_error(const struct ini_at *at, const char *value, struct sheaf_fault *f)
{
    for (size_t i = 0; i < sizeof schedulable / sizeof *schedulable; i++)
        if (strcmp(sheaf_rc_exception(schedulable[i]), value) == 0) f->rc = schedulable[i];
    if (f->rc != SHEAF_OK) return SHEAF_OK;
    return ini_fail(at,
                    "error is '%.60s'; it takes TransactionConflictException, "
                    "ProvisionedThroughputExceededException or InternalServerError",
                    value);
}

static sheaf_rc take(void *ctx, const struct ini_at *at, const char *section, const char *name,
                     const char *value)
{
    struct reader *r = ctx;
    if (!*section) return ini_fail(at, "a fault begins with a [name]");
    if (r->n == 0 || strncmp(r->section, section, SECTION_BYTES - 1) != 0)
        TRY(begin_section(r, at, section));
    r->last = *at;
    struct sheaf_fault *f = &r->faults[r->n - 1];
    if (strcmp(name, "operation") == 0) return set_operation(r, at, value, f);
    if (strcmp(name, "table") == 0) return set_text(r, at, &f->table, value);
    if (strcmp(name, "error") == 0) return set_error(at, value, f);
    if (strcmp(name, "nth") == 0) return set_number(at, name, value, UINT64_MAX, &f->nth);
    if (strcmp(name, "every") == 0) return set_number(at, name, value, UINT64_MAX, &f->every);
    if (strcmp(name, "one_in") == 0) return set_one_in(at, value, f);
    return ini_fail(
        at, "a fault has no '%.60s'; it has operation, table, error, nth, every and one_in", name);
}

sheaf_rc faults_read(struct arena *arena, const char *path, struct sheaf_fault **faults_out,
                     size_t *n_out, sheaf_error *err)
{
    struct reader r = {.arena = arena};
    *faults_out = NULL;
    *n_out = 0;
    r.faults = ARENA_ARRAY(arena, struct sheaf_fault, FAULTS_MAX);
    if (!r.faults) return err_nomem(err);
    TRY(ini_read(path, take, &r, err));
    r.last.err = err;
    TRY(check_whole(&r));
    *faults_out = r.faults;
    *n_out = r.n;
    return SHEAF_OK;
}
