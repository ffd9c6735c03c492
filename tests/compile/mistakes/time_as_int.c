/* A time is not an integer. */
/* error: sheaf: INT\(at\): the member must be an integer, or a pointer to one if optional */
/* names: at */
#include "parts.h"

SHEAF_ENTITY(order, "Order", STR(id)
#ifdef MISTAKE
    INT(at)
#else
    TIME(at)
#endif
    );
