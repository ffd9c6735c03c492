/* tests/support/envs.h: placeholders written as text (tests/support/doc.h). */
#ifndef TESTS_ENVS_H
#define TESTS_ENVS_H

#include "expr/expr.h"

/* "{'#n': 'name'}" and "{':v': 1}"; NULL for none. In the arena; not checked yet. */
struct expr_env *test_env(struct arena *a, const char *names, const char *values);

#endif
