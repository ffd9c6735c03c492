/* An enum is a number in the struct. */
/* error: sheaf: ENUM\(id\): the member must be an enum or an integer */
/* names: id */
#include "parts.h"

SHEAF_ENTITY(order, "Order",
#ifdef MISTAKE
    ENUM(id, colour_names)
#else
    ENUM(colour, colour_names)
#endif
    INT(total));
