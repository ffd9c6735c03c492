/* Turns two maps in text into the placeholders of a request. */
#include "support/envs.h"

#include "support/doc.h"
#include "support/support.h"

struct expr_env *test_env(struct arena *a, const char *names, const char *values)
{
    struct expr_env *env = ARENA_NEW(a, struct expr_env);
    const struct doc *n = doc_parse(a, names ? names : "{}");
    const struct doc *v = doc_parse(a, values ? values : "{}");
    if (!env) fail_msg("test_env: out of memory");
    *env = (struct expr_env){.names = ARENA_ARRAY(a, struct expr_name, n->n + 1),
                             .values = ARENA_ARRAY(a, struct expr_value, v->n + 1),
                             .n_names = n->n,
                             .n_values = v->n,
                             .has_names = names != NULL,
                             .has_values = values != NULL};
    if (!env->names || !env->values) fail_msg("test_env: out of memory");
    for (uint32_t i = 0; i < n->n; i++)
        env->names[i] = (struct expr_name){.placeholder = n->names[i], .name = n->kids[i]->bytes};
    for (uint32_t i = 0; i < v->n; i++)
        env->values[i] =
            (struct expr_value){.placeholder = v->names[i], .value = doc_val(a, v->kids[i])};
    return env;
}
