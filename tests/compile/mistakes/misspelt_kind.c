/* A kind that there is not. */
/* error: sheaf: no such kind of field: SHEAF_KIND_SRT ?\(id\) */
/* names: SRT */
#include "parts.h"

SHEAF_ENTITY(order, "Order", INT(total)
#ifdef MISTAKE
    SRT(id)
#else
    STR(id)
#endif
    VERSION(version));
