/* A nested struct of another shape. */
/* error: sheaf: NEST\(code\): the member must be struct address, or a pointer to one if optional */
/* names: code */
#include "parts.h"

SHEAF_ENTITY(order, "Order", STR(id)
#ifdef MISTAKE
    NEST(code, address)
#else
    NEST(home, address)
#endif
    );
