/* Any text as an update, of a sample item or of one that comes with it: it compiles or is refused,
 * and what compiles gives an item that passes its check or an error and no item. What no path
 * touches is the same before and after. */
#include "sample.h"

static bool touches(const struct expr_projection *touched, span name)
{
    uint32_t n;
    const struct path *paths = expr_projection_paths(touched, &n);
    for (uint32_t i = 0; i < n; i++)
        if (span_eq(paths[i].steps[0].name, name)) return true;
    return false;
}

/* Each attribute of a that is not touched stands in b. */
static void check_untouched(const struct expr_projection *touched, val a, val b)
{
    for (uint32_t i = 0; i < val_count(a); i++) {
        span name = val_name_at(a, i);
        if (!touches(touched, name)) check(val_eq(val_at(a, i), val_find(b, name)));
    }
}

static void apply(struct ctx *c, const struct expr_update *u, span item)
{
    span after, old, new;
    const struct expr_projection *touched = expr_update_touched(u);
    sheaf_rc rc = expr_update_apply(c, u, item_map(item), &after);
    check(rc == SHEAF_OK || (rc == SHEAF_VALIDATION && !after.p && c->err->message[0]));
    if (rc != SHEAF_OK) return;
    check(item_check(after, c->err) == SHEAF_OK);
    check_untouched(touched, item_map(item), item_map(after));
    check_untouched(touched, item_map(after), item_map(item));
    check(expr_project(c, touched, item_map(item), &old) == SHEAF_OK);
    check(expr_project(c, touched, item_map(after), &new) == SHEAF_OK);
    check(item_check(old, c->err) == SHEAF_OK && item_check(new, c->err) == SHEAF_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct sample s;
    sheaf_error err;
    const struct expr_update *u;
    arena_init(&arena, 64 << 20);
    struct ctx c = {&arena, &err};
    sample_init(&s, data, size);
    sheaf_rc rc = expr_compile_update(&c, s.text, &s.env, &u);
    check(rc == SHEAF_OK ? u != NULL : rc == SHEAF_VALIDATION && !u && err.message[0]);
    if (rc == SHEAF_OK) apply(&c, u, s.item);
    arena_deinit(&arena);
    return 0;
}
