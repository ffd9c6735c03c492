/* A generated id needs its room. */
/* error: sheaf: ULID\(code\): the member must be char\[27\] */
/* names: code */
#include "parts.h"

SHEAF_ENTITY(order, "Order", STR(id)
#ifdef MISTAKE
    ULID(code)
#else
    STR(code)
#endif
    );
