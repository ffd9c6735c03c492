/* A write of the struct of another entity. */
/* error: _Generic|generic association|static_cast|cannot convert */
/* names: customer */
#include "parts.h"

SHEAF_ENTITY(order, "Order", STR(id));
sheaf_rc use(sheaf_map *map, struct order *o, struct customer *c);
sheaf_rc use(sheaf_map *map, struct order *o, struct customer *c)
{
    (void)o;
    (void)c;
#ifdef MISTAKE
    return sheaf_put(map, order, NULL, c);
#else
    return sheaf_put(map, order, NULL, o);
#endif
}
