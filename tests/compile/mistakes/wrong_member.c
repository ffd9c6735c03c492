/* A member that the struct does not have. */
/* error: idd */
/* names: idd */
#include "parts.h"

SHEAF_ENTITY(order, "Order",
    KEY(PK, "ORDER#{id}")
#ifdef MISTAKE
    STR(idd)
#else
    STR(id)
#endif
    INT(total));
