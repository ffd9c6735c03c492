/* A member of another type than the kind takes. */
/* error: sheaf: STR\(total\): the member must be const char \*, sheaf_str or char\[N\] */
/* names: total */
#include "parts.h"

SHEAF_ENTITY(order, "Order", STR(id)
#ifdef MISTAKE
    STR(total)
#else
    INT(total)
#endif
    );
