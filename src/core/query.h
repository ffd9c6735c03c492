/* core/query.h: Query and Scan, from request to page.
 *
 * Layer rule: internal to core.
 *
 * request ─plan→ table, index, programs ─query_place→ range or walk ─query_run→ page
 *
 * A Query reads one range of one P, a Scan walks a space or a segment of it. Both evaluate rows
 * where the engine has them and copy only what goes into the page.
 */
#ifndef CORE_QUERY_H
#define CORE_QUERY_H

#include "core/read.h"

/* Bytes evaluated after which a page ends; the item that reaches it is still part of it. */
enum { QUERY_PAGE_BYTES = 1 << 20, QUERY_SEGMENTS_MAX = 1000000 };

struct query {
    struct core *core;
    const struct core_query *q;
    uint64_t drops;                  /* before the table was looked up */
    struct table *table;             /* counted */
    const struct table_index *index; /* NULL: the base table */
    struct expr_key_schema schema;   /* of the table or of the index */
    const struct expr_key_parts *parts;
    struct expr_key_condition condition;
    const struct expr_program *filter;
    const struct expr_projection *projection;
    bool is_fetching; /* a local index that has not all that is asked for */
    /* Where to read: a range, or a walk. */
    struct sheaf_range range;
    struct sheaf_walk walk;
    sheaf_engine_key after; /* of the start key; walk.after points here */
};

static inline bool query_is_global(const struct query *s)
{
    return s->index && !s->index->def.is_local;
}
static inline uint64_t query_space(const struct query *s)
{
    return s->index ? s->index->space : s->table->space;
}

/* Checks the start key against the schema; before the filter is checked, after the key condition.
 */
SHEAF_NODISCARD sheaf_rc query_check_start(struct ctx *c, struct query *s);
/* Fills range or walk. */
SHEAF_NODISCARD sheaf_rc query_place(struct ctx *c, struct query *s);
/* What to say of an index that the table does not have. */
sheaf_rc query_no_index(struct ctx *c, span name);
SHEAF_NODISCARD sheaf_rc query_run(struct ctx *c, struct query *s, struct core_page *out);
void query_done(struct query *s);

#endif
