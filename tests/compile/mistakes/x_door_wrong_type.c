/* The second door checks the same. */
/* error: sheaf: STR\(total\): the member must be */
/* names: total */
#include "parts.h"

#ifdef MISTAKE
#define FIELDS(F) F(STR, id) F(STR, total)
#else
#define FIELDS(F) F(STR, id) F(INT, total)
#endif
SHEAF_ENTITY_X(order, "Order", FIELDS);
