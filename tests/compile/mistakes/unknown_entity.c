/* Rows of an entity that there is not. */
/* error: invoice_(sheaf_t|entity) */
/* names: invoice */
#include "parts.h"

SHEAF_ENTITY(order, "Order", STR(id));
size_t use(const sheaf_rows *rows);
size_t use(const sheaf_rows *rows)
{
    size_t n = 0;
#ifdef MISTAKE
    SHEAF_ROWS_EACH (rows, invoice, o) n++;
#else
    SHEAF_ROWS_EACH (rows, order, o) n++;
#endif
    return n;
}
