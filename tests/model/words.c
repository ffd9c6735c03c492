/* Turns names and values into placeholders and the tables that requests carry. */
#include "model/grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void words_init(struct words *w, struct arena *a)
{
    memset(w, 0, sizeof *w);
    w->arena = a;
}

const struct sheaf_name *words_names(struct words *w) { return w->n_names ? w->names : NULL; }

const sheaf_item *words_values(struct words *w)
{
    w->item = (sheaf_item){w->values, w->n_values, NULL};
    return w->n_values ? &w->item : NULL;
}

const char *words_printf(struct words *w, const char *format, ...)
{
    char text[3000];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof text) abort();
    char *copy = tree_room(w->arena, (size_t)n + 1);
    memcpy(copy, text, (size_t)n);
    return copy;
}

const char *words_name(struct words *w, const char *name)
{
    if (w->n_names + 1 >= EXPR_MAX) abort();
    const char *text = words_printf(w, "#n%u", w->n_names);
    w->names[w->n_names++] = (struct sheaf_name){text, name};
    return text;
}

const char *words_value(struct words *w, const struct tree *v)
{
    if (w->n_values + 1 >= EXPR_MAX) abort();
    const char *text = words_printf(w, ":v%u", w->n_values);
    w->values[w->n_values++] = (sheaf_attr){text, tree_to_value(w->arena, v)};
    return text;
}

const char *words_path(struct words *w, const struct tree_path *p)
{
    const char *text = "";
    for (uint32_t i = 0; i < p->n; i++) {
        const struct tree_step *s = &p->step[i];
        if (s->name)
            text = words_printf(w, "%s%s%s", text, i ? "." : "", words_name(w, s->name));
        else
            text = words_printf(w, "%s[%u]", text, s->index);
    }
    return text;
}
