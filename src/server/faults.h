/* server/faults.h: the file of --faults, a schedule of failures. */
#ifndef SERVER_FAULTS_H
#define SERVER_FAULTS_H

#include "base/err.h"

#include <sheaf/sheaf.h>

/* Each section is one fault:
 *
 *     [every tenth put]
 *     operation = PutItem                          any operation when missing
 *     table = orders                               any table when missing
 *     error = ProvisionedThroughputExceededException
 *     nth = 10                                     the first one that fails
 *     every = 10                                   and every so many after it; missing: only that one
 *     one_in = 100                                 instead of nth: at random
 *
 * Everything lives in the arena. SHEAF_VALIDATION with "path:line: " for what is not understood. */
SHEAF_NODISCARD sheaf_rc faults_read(struct arena *arena, const char *path,
                                     struct sheaf_fault **faults_out, size_t *n_out,
                                     sheaf_error *err);

#endif
