/* core/background.h: the parts of a background round. Each is bounded, adds to what was done, and
 * says whether there is more to do at once. All run under core->background.
 *
 * Layer rule: internal to core. */
#ifndef CORE_BACKGROUND_H
#define CORE_BACKGROUND_H

#include "core/state.h"

/* Deletes items of the table that have expired. */
SHEAF_NODISCARD sheaf_rc ttl_sweep(struct core *core, const struct table *t,
                                   struct core_background *did, sheaf_error *err);
/* Frees what ttl_sweep knows of walks that are not at their end. */
void ttl_forget_walks(struct core *core);
/* Deletes records of the table's streams that are out of retention, and streams that were switched
 * off a day ago. */
SHEAF_NODISCARD sheaf_rc stream_trim(struct core *core, const struct table *t,
                                     struct core_background *did, sheaf_error *err);

#endif
