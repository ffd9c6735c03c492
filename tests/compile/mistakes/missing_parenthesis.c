/* A parenthesis that was forgotten. */
/* error: unterminated (argument list invoking|function-like) macro|unterminated */
/* names: SHEAF_ENTITY */
#include "parts.h"

#ifdef MISTAKE
SHEAF_ENTITY(order, "Order", STR(id INT(total));
#else
SHEAF_ENTITY(order, "Order", STR(id) INT(total));
#endif
