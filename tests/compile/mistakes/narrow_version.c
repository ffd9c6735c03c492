/* A version has 64 bits. */
/* error: sheaf: VERSION\(small\): the member must be int64_t */
/* names: small */
#include "parts.h"

SHEAF_ENTITY(order, "Order", STR(id)
#ifdef MISTAKE
    VERSION(small)
#else
    VERSION(version)
#endif
    );
