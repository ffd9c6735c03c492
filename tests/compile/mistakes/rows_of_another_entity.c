/* A row of one entity as the struct of another. */
/* error: incompatible pointer type|cannot convert|cannot initialize */
/* names: customer */
#include "parts.h"

SHEAF_ENTITY(order, "Order", STR(id));
SHEAF_ENTITY(customer, "Customer", STR(id));
const char *use(const sheaf_rows *rows);
const char *use(const sheaf_rows *rows)
{
#ifdef MISTAKE
    const struct customer *c = sheaf_rows_one(rows, order);
#else
    const struct customer *c = sheaf_rows_one(rows, customer);
#endif
    return c->id;
}
