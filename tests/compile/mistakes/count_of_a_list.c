/* The count of a list is a size_t. */
/* error: sheaf: COUNT\(count\): the count of lines must be size_t */
/* names: count */
#include "parts.h"

SHEAF_ENTITY(order, "Order", STR(id)
#ifdef MISTAKE
    LIST(lines, count, address)
#else
    LIST(lines, n_lines, address)
#endif
    );
