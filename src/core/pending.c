/* Placeholders while the rooms of core are built side by side: weak, so that each real function
 * replaces its own. This file goes
 * away before anything lands. */
#include "base/mem.h"
#include "core/state.h"

#define WEAK __attribute__((weak))
#define PENDING(call)                                                                              \
    WEAK sheaf_rc call { return err_set(NULL, SHEAF_UNSUPPORTED, "pending"); }
#pragma GCC diagnostic ignored "-Wunused-parameter"

