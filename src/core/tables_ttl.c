/* Turns UpdateTimeToLive into a table with or without an expiry index. Know before editing: each
 * switching on starts a new, empty expiry index; writes keep it from then on, and the backfill adds
 * the rows of items that were there before. Switching off frees it. */
#include "core/tables.h"

#include <assert.h>

static sheaf_rc check_state(struct ctx *c, const struct table *t, span attribute, bool is_on)
{
    span now = t->ttl_attribute;
    if (!now.p && !is_on) return err_validation(c->err, "TimeToLive is already disabled");
    if (now.p && attribute.p && !span_eq(now, attribute))
        return err_validation(c->err,
                              "TimeToLive is active on a different AttributeName: current "
                              "AttributeName is %.*s",
                              SPAN_ARG(now));
    if (now.p && is_on) return err_validation(c->err, "TimeToLive is already enabled");
    return SHEAF_OK;
}

static sheaf_rc switch_on(struct core *core, struct table *t, span attribute, sheaf_error *err)
{
    assert(!t->ttl_attribute.p && !t->ttl_space);
    t->ttl_attribute = arena_dup(&t->arena, attribute);
    if (!t->ttl_attribute.p) return err_nomem(err);
    t->ttl_space = cat_take_number(core);
    t->is_ttl_filling = true;
    t->ttl_after = SPAN_NONE;
    return SHEAF_OK;
}

static void switch_off(struct table *t, struct drops *d)
{
    assert(t->ttl_attribute.p && t->ttl_space);
    drops_add(d, t->ttl_space);
    t->ttl_attribute = SPAN_NONE;
    t->ttl_space = 0;
    t->is_ttl_filling = false;
    t->ttl_after = SPAN_NONE;
}

struct ttl_change {
    span table, attribute;
    bool is_on;
};

static sheaf_rc update_entered(struct core *core, struct ctx *c, const struct ttl_change *q,
                               struct drops *d, sheaf_position *position_out)
{
    struct table *t, *next = NULL;
    sheaf_rc rc;
    TRY(tables_get_exclusive(core, c, q->table, &t));
    TRY_OUT(check_state(c, t, q->attribute, q->is_on));
    TRY_OUT(drops_init(d, c, t));
    TRY_OUT(table_copy(t, &next, c->err));
    if (q->is_on)
        TRY_OUT(switch_on(core, next, q->attribute, c->err));
    else
        switch_off(next, d);
    TRY_OUT(drops_install(core, t, next, d, position_out, c->err));
out:
    if (rc != SHEAF_OK) table_unref(next);
    table_unref(t);
    return rc;
}

sheaf_rc core_update_ttl(struct core *core, struct ctx *c, span table, span attribute, bool is_on,
                         sheaf_position *position_out)
{
    struct drops d = {.n = 0};
    struct ttl_change q = {table, attribute, is_on};
    *position_out = 0;
    TRY(faults_check(core, "UpdateTimeToLive", table, c->err));
    TRY(tables_check_name(c, table));
    if (is_on || attribute.p) TRY(tables_check_ttl_attribute(c, attribute));
    cat_enter_exclusive(core);
    sheaf_rc rc = update_entered(core, c, &q, &d, position_out);
    cat_leave_exclusive(core);
    if (rc == SHEAF_OK)
        drops_finish(core, &d);
    else
        *position_out = eng_visible(core->engine);
    return rc;
}

sheaf_rc core_describe_ttl(struct core *core, struct ctx *c, span table, span *attribute_out,
                           sheaf_position *position_out)
{
    struct table *t;
    *attribute_out = SPAN_NONE;
    *position_out = 0;
    TRY(faults_check(core, "DescribeTimeToLive", table, c->err));
    TRY(tables_check_name(c, table));
    sheaf_rc rc = tables_get(core, c, table, &t);
    if (rc == SHEAF_OK && t->ttl_attribute.p) {
        assert(t->ttl_space);
        *attribute_out = arena_dup(c->arena, t->ttl_attribute);
        if (!attribute_out->p) rc = err_nomem(c->err);
    }
    table_unref(t);
    *position_out = eng_visible(core->engine);
    return rc;
}
