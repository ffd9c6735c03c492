/* Placeholders while the rooms of core are built side by side: weak, so that each real function
 * replaces its own. This file goes
 * away before anything lands. */
#include "base/mem.h"
#include "core/state.h"

#define WEAK __attribute__((weak))
#define PENDING(call)                                                                              \
    WEAK sheaf_rc call { return err_set(NULL, SHEAF_UNSUPPORTED, "pending"); }
#pragma GCC diagnostic ignored "-Wunused-parameter"

WEAK struct gauges *gauges_new(void) { return mem_alloc(1); }
WEAK struct gauges *gauges_ref(struct gauges *g) { return g ? mem_alloc(1) : NULL; }
WEAK void gauges_unref(struct gauges *g) { mem_free(g); }
WEAK sheaf_rc faults_open(struct core *core, const struct core_options *o, sheaf_error *err)
{
    return SHEAF_OK;
}
WEAK void faults_close(struct core *core) {}
WEAK sheaf_rc lag_open(struct core *core, sheaf_error *err) { return SHEAF_OK; }
WEAK void lag_close(struct core *core) {}
WEAK sheaf_rc faults_check(struct core *core, const char *operation, span table, sheaf_error *err)
{
    return SHEAF_OK;
}
WEAK sheaf_rc throttle_read(struct core *core, const struct table *t, const struct table_index *x,
                            val partition, double units, sheaf_error *err)
{
    return SHEAF_OK;
}
WEAK sheaf_rc throttle_write(struct core *core, const struct table *t, const struct table_index *x,
                             val partition, double units, sheaf_error *err)
{
    return SHEAF_OK;
}
WEAK sheaf_rc lag_begin(struct core *core, const struct table_index *x, sheaf_txn **txn_out,
                        sheaf_error *err)
{
    return eng_begin(core->engine, SHEAF_TXN_SNAPSHOT, txn_out, err);
}
WEAK void lag_end(struct core *core, sheaf_txn *txn) { eng_rollback(txn); }
WEAK void gauges_written(struct core *core, const struct table *t, uint64_t space,
                         const sheaf_place *place, val item)
{
}
PENDING(core_collection(struct core *core, struct ctx *c, span table, span index, span key,
                        struct core_collection *out))
PENDING(core_largest(struct core *core, struct ctx *c, span table, span index, uint32_t limit,
                     struct core_collections *out))
PENDING(core_hottest(struct core *core, struct ctx *c, span table, span index, uint32_t limit,
                     struct core_collections *out))
PENDING(core_verify(struct core *core, bool (*complain)(void *ctx, const char *what), void *ctx,
                    sheaf_error *err))
