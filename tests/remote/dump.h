/* A result as text, whole: what two handles answered is compared by it. Times and ids, which differ
 * from one run to the next, are shown as given or not. */
#ifndef TESTS_REMOTE_DUMP_H
#define TESTS_REMOTE_DUMP_H

#include <sheaf/sheaf.h>
#include <stdio.h>

void dump_item(FILE *to, const sheaf_item *item);
/* Frees the result. */
void dump(FILE *to, const char *what, sheaf_rc rc, const sheaf_error *err, sheaf_result *r);

#endif
