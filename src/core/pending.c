/* Placeholders while the rooms of core are built side by side: weak, so that each real function
 * replaces its own. This file goes
 * away before anything lands. */
#include "base/mem.h"
#include "core/state.h"

#define WEAK __attribute__((weak))
#define PENDING(call)                                                                              \
    WEAK sheaf_rc call { return err_set(NULL, SHEAF_UNSUPPORTED, "pending"); }
#pragma GCC diagnostic ignored "-Wunused-parameter"

WEAK sheaf_rc stream_append(struct core *core, struct ctx *c, sheaf_txn *txn,
                            const struct change *change)
{
    return SHEAF_OK;
}
WEAK sheaf_rc ttl_apply(struct core *core, struct ctx *c, sheaf_txn *txn,
                        const struct change *change)
{
    return SHEAF_OK;
}
WEAK bool ttl_seconds(const struct table *t, val item, int64_t *seconds_out) { return false; }
PENDING(core_list_streams(struct core *core, struct ctx *c, const struct core_list_streams *q,
                          struct core_streams_outcome *out))
PENDING(core_describe_stream(struct core *core, struct ctx *c, const struct core_describe_stream *q,
                             struct core_stream_outcome *out))
PENDING(core_get_iterator(struct core *core, struct ctx *c, const struct core_get_iterator *q,
                          span *iterator_out))
PENDING(core_get_records(struct core *core, struct ctx *c, span iterator, uint32_t limit,
                         struct core_records *out))
PENDING(core_run_background(struct core *core, struct core_background *did_out, sheaf_error *err))
