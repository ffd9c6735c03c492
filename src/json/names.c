/* Turns the names of an object into a verdict: does one repeat? Know before editing: the names of
 * all open objects lie on one stack, those of the innermost on top; and nothing may depend on a
 * hash, whose collisions a client could choose. */
#include "json/read.h"

sheaf_rc json_repeated(struct json *j, span name)
{
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "A name occurs twice in one object: %.*s",
                   SPAN_ARG(name));
}

static sheaf_rc grow_names(struct json *j)
{
    uint32_t cap = j->cap_names * 2;
    span *more = arena_alloc(j->ctx->arena, (size_t)cap * sizeof *more);
    if (!more) return err_nomem(j->ctx->err);
    memcpy(more, j->names, j->n_names * sizeof *more);
    j->names = more;
    j->cap_names = cap;
    return SHEAF_OK;
}

sheaf_rc json_note_name(struct json *j, span name)
{
    const span *names = j->names + j->first[j->depth - 1];
    size_t n = (size_t)(j->names + j->n_names - names);
    if (n < JSON_FEW_NAMES)
        for (size_t i = 0; i < n; i++)
            if (span_eq(names[i], name)) return json_repeated(j, name);
    if (j->n_names == j->cap_names) TRY(grow_names(j));
    j->names[j->n_names++] = name;
    return SHEAF_OK;
}

/* By length first: most pairs need no look at their bytes. */
static bool is_less(const span *a, const span *b)
{
    return a->n != b->n ? a->n < b->n : a->n && memcmp(a->p, b->p, a->n) < 0;
}

static void sift_down(span *names, size_t at, size_t n)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_less(&names[child], &names[child + 1])) child++;
        if (!is_less(&names[at], &names[child])) return;
        span swap = names[at];
        names[at] = names[child];
        names[child] = swap;
    }
}

/* Heapsort: in place, and no order of names makes it slow. */
static void sort_names(span *names, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) sift_down(names, i, n);
    for (size_t i = n; i-- > 1;) {
        span swap = names[0];
        names[0] = names[i];
        names[i] = swap;
        sift_down(names, 0, i);
    }
}

sheaf_rc json_forget_names(struct json *j, uint32_t depth)
{
    span *names = j->names + j->first[depth - 1];
    size_t n = (size_t)(j->names + j->n_names - names);
    j->n_names = j->first[depth - 1];
    if (n <= JSON_FEW_NAMES) return SHEAF_OK;
    sort_names(names, n);
    for (size_t i = 1; i < n; i++)
        if (span_eq(names[i - 1], names[i])) return json_repeated(j, names[i]);
    return SHEAF_OK;
}
