/* Turns a value outside an enum into AWS's refusal. Know before editing: C lets a program write any
 * number into an enum member, and such a number must never reach a switch, an array or the disk. */
#include "core/enums.h"

#include <inttypes.h>

sheaf_rc enum_check(struct ctx *c, int64_t value, int64_t last, const char *at, const char *set)
{
    if (value >= 0 && value <= last) return SHEAF_OK;
    return err_validation(c->err,
                          "1 validation error detected: Value '%" PRId64 "' at '%s' failed to "
                          "satisfy constraint: Member must satisfy enum value set: %s",
                          value, at, set);
}
