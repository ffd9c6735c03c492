/* Any bytes as a row of the catalog: refused, or a table that encodes to what decodes to it again.
 */
#include "base/mem.h"
#include "core/state.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    sheaf_error err;
    struct table *t, *again;
    if (table_decode(SPAN(data, n), &t, &err) != SHEAF_OK) return 0;
    struct arena arena;
    arena_init(&arena, 64 << 20);
    struct ctx c = {&arena, &err};
    span first, second;
    if (table_encode(&c, t, &first) != SHEAF_OK) abort();
    if (table_decode(first, &again, &err) != SHEAF_OK) abort();
    if (table_encode(&c, again, &second) != SHEAF_OK || !span_eq(first, second)) abort();
    table_unref(t);
    table_unref(again);
    arena_deinit(&arena);
    return 0;
}
