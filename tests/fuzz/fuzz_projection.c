/* Any text as a projection, of a sample item or of one that comes with it: it compiles or is
 * refused, and what it keeps is an item that passes its check, is no longer than the one before,
 * and projects to itself where no list is involved. */
#include "sample.h"

static bool has_index(const struct expr_projection *p)
{
    uint32_t n;
    const struct path *paths = expr_projection_paths(p, &n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < paths[i].n; k++)
            if (!paths[i].steps[k].name.p) return true;
    return false;
}

static void project(struct ctx *c, const struct expr_projection *p, span item)
{
    span once, twice;
    uint32_t n;
    const struct path *paths = expr_projection_paths(p, &n);
    check(expr_project(c, p, item_map(item), &once) == SHEAF_OK);
    check(item_check(once, c->err) == SHEAF_OK && once.n <= item.n);
    check(expr_project(c, p, item_map(once), &twice) == SHEAF_OK);
    if (has_index(p)) return;
    check(span_eq(once, twice));
    for (uint32_t i = 0; i < n; i++) {
        val a = path_get(item_map(item), &paths[i]), b = path_get(item_map(once), &paths[i]);
        check(val_is_absent(a) ? val_is_absent(b) : val_eq(a, b));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct sample s;
    sheaf_error err;
    const struct expr_projection *p;
    arena_init(&arena, 64 << 20);
    struct ctx c = {&arena, &err};
    sample_init(&s, data, size);
    sheaf_rc rc = expr_compile_projection(&c, s.text, &s.env, &p);
    check(rc == SHEAF_OK ? p != NULL : rc == SHEAF_VALIDATION && !p && err.message[0]);
    if (rc == SHEAF_OK) project(&c, p, s.item);
    arena_deinit(&arena);
    return 0;
}
