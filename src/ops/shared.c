/* Shapes that several operations share, and the steps between a decoded input and core's request.
 * Know before editing: the order of an enum's words here is the order of the message, which is
 * AWS's (Java's hash order), not that of core's enums. */
#include "ops/shared.h"

#include "base/limits.h"

#include <assert.h>

/* ---- names ---- */

bool op_is_name(span text)
{
    const uint8_t *p = text.p;
    for (size_t i = 0; i < text.n; i++) {
        uint8_t ch = p[i];
        bool is_good = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                       (ch >= '0' && ch <= '9') || ch == '_' || ch == '.' || ch == '-';
        if (!is_good) return false;
    }
    return text.n > 0;
}

span op_table_name(span table)
{
    static const span mark = {":table/", 7};
    if (!span_starts(table, SPAN_LIT("arn:"))) return table;
    const char *at = memmem(table.p, table.n, mark.p, mark.n);
    if (!at) return table;
    span rest = span_from(table, (size_t)(at - (const char *)table.p) + mark.n);
    const char *end = rest.n ? memchr(rest.p, '/', rest.n) : NULL; /* of an index or a stream */
    return end ? SPAN(rest.p, (size_t)(end - (const char *)rest.p)) : rest;
}

/* ---- shapes ---- */

const struct shape shape_string = {.kind = SHAPE_STRING};
const struct shape shape_bool_ = {.kind = SHAPE_BOOL};
const struct shape shape_item = {.kind = SHAPE_ITEM};
const struct shape shape_values = {.kind = SHAPE_ITEM};
const struct shape shape_names = {.kind = SHAPE_NAMES};
const struct shape shape_raw = {.kind = SHAPE_RAW};
const struct shape shape_int = {.kind = SHAPE_INT};
const struct shape shape_double_ = {.kind = SHAPE_DOUBLE};
const struct shape shape_items = {.kind = SHAPE_ITEMS};

const struct shape shape_table_name = {.kind = SHAPE_STRING,
                                       .is_table = true,
                                       .has_min = true,
                                       .min = LIMIT_TABLE_NAME_MIN,
                                       .has_max = true,
                                       .max = LIMIT_TABLE_NAME_MAX,
                                       .pattern = "[a-zA-Z0-9_.-]+",
                                       .matches = op_is_name,
                                       .is_brief = true};
const struct shape shape_index_name = {.kind = SHAPE_STRING,
                                       .has_min = true,
                                       .min = LIMIT_TABLE_NAME_MIN,
                                       .has_max = true,
                                       .max = LIMIT_TABLE_NAME_MAX,
                                       .pattern = "[a-zA-Z0-9_.-]+",
                                       .matches = op_is_name};

static const char *const capacity_words[] = {"INDEXES", "TOTAL", "NONE", NULL};
const struct shape shape_return_capacity = {
    .kind = SHAPE_ENUM, .words = capacity_words, .words_text = "[INDEXES, TOTAL, NONE]"};

static const char *const metrics_words[] = {"SIZE", "NONE", NULL};
const struct shape shape_return_metrics = {
    .kind = SHAPE_ENUM, .words = metrics_words, .words_text = "[SIZE, NONE]"};

/* In the order of enum core_return. The newer message has another order, and a word that does not
 * exist: it is the service's. */
static const char *const return_words[] = {"NONE",    "ALL_OLD",     "UPDATED_OLD",
                                           "ALL_NEW", "UPDATED_NEW", NULL};
const struct shape shape_return_values = {
    .kind = SHAPE_ENUM,
    .words = return_words,
    .words_text = "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
    .brief = "1 validation error detected: Failed to satisfy constraint: Member must satisfy enum "
             "value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"};

static const char *const failure_words[] = {"ALL_OLD", "NONE", NULL};
const struct shape shape_return_on_failure = {
    .kind = SHAPE_ENUM, .words = failure_words, .words_text = "[ALL_OLD, NONE]"};

static const struct member units_members[] = {
    MEMBER(struct out_units, units, "CapacityUnits", shape_double_, 0),
    MEMBER(struct out_units, read, "ReadCapacityUnits", shape_double_, 0),
    MEMBER(struct out_units, write, "WriteCapacityUnits", shape_double_, 0),
};
static const struct shape units_shape = STRUCT_SHAPE(struct out_units, units_members);
static const struct shape units_map = {.kind = SHAPE_MAP, .of = &units_shape};
static const struct member capacity_members[] = {
    MEMBER(struct out_capacity, table, "TableName", shape_string, 0),
    MEMBER(struct out_capacity, units, "CapacityUnits", shape_double_, 0),
    MEMBER(struct out_capacity, read, "ReadCapacityUnits", shape_double_, 0),
    MEMBER(struct out_capacity, write, "WriteCapacityUnits", shape_double_, 0),
    MEMBER(struct out_capacity, base, "Table", units_shape, 0),
    MEMBER(struct out_capacity, local, "LocalSecondaryIndexes", units_map, 0),
    MEMBER(struct out_capacity, global, "GlobalSecondaryIndexes", units_map, 0),
};
const struct shape shape_capacity = STRUCT_SHAPE(struct out_capacity, capacity_members);
const struct shape shape_capacities = {.kind = SHAPE_LIST, .of = &shape_capacity};

static const struct shape range_shape = {.kind = SHAPE_LIST, .of = &shape_double_};
static const struct member metrics_members[] = {
    MEMBER(struct out_metrics, key, "ItemCollectionKey", shape_item, 0),
    MEMBER(struct out_metrics, range, "SizeEstimateRangeGB", range_shape, 0),
};
const struct shape shape_metrics = STRUCT_SHAPE(struct out_metrics, metrics_members);
const struct shape shape_metrics_list = {.kind = SHAPE_LIST, .of = &shape_metrics};
const struct shape shape_metrics_map = {.kind = SHAPE_MAP, .of = &shape_metrics_list};

/* ---- capacity ---- */

enum core_capacity_mode op_capacity_mode(const struct shape_word *word)
{
    static const enum core_capacity_mode modes[] = {CORE_CAPACITY_NONE, CORE_CAPACITY_INDEXES,
                                                    CORE_CAPACITY_TOTAL, CORE_CAPACITY_NONE};
    assert(word->i < 4);
    return modes[word->i];
}

static span as_given(span table, struct op_given given)
{
    for (uint32_t i = 0; i < given.n; i++)
        if (span_eq(op_table_name(given.all[i]), table)) return given.all[i];
    return table;
}

static void set_units(const struct core_capacity *k, double units, bool is_split,
                      struct out_units *out)
{
    struct shape_double v = {units, true};
    out->units = v;
    if (!is_split) return;
    if (k->is_write)
        out->write = v;
    else
        out->read = v;
}

static sheaf_rc set_arms(struct ctx *c, const struct core_capacity *k, bool is_split, bool is_local,
                         struct shape_map *out)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < k->n_arms; i++) n += k->arms[i].is_local == is_local;
    if (n == 0) return SHEAF_OK;
    struct out_units **all = ARENA_ARRAY(c->arena, struct out_units *, n);
    struct out_units *units = ARENA_ARRAY(c->arena, struct out_units, n);
    *out = (struct shape_map){.names = ARENA_ARRAY(c->arena, span, n), .all = all, .has = true};
    if (!all || !units || !out->names) return err_nomem(c->err);
    for (uint32_t i = 1; i < k->n_arms; i++) {
        if (k->arms[i].is_local != is_local) continue;
        set_units(k, k->arms[i].units, is_split, &units[out->n]);
        out->names[out->n] = k->arms[i].index;
        all[out->n] = &units[out->n];
        out->n++;
    }
    return SHEAF_OK;
}

sheaf_rc op_capacity(struct ctx *c, const struct core_capacity *k, bool is_split,
                     struct op_given given, struct out_capacity **out)
{
    struct out_units total = {.units = {0, false}};
    if (!k->table.p) return SHEAF_OK;
    *out = ARENA_NEW(c->arena, struct out_capacity);
    if (!*out) return err_nomem(c->err);
    set_units(k, k->units, is_split, &total);
    **out = (struct out_capacity){.table = as_given(k->table, given),
                                  .units = total.units,
                                  .read = total.read,
                                  .write = total.write};
    if (k->n_arms == 0) return SHEAF_OK;
    (*out)->base = ARENA_NEW(c->arena, struct out_units);
    if (!(*out)->base) return err_nomem(c->err);
    set_units(k, k->arms[0].units, is_split, (*out)->base);
    TRY(set_arms(c, k, is_split, true, &(*out)->local));
    return set_arms(c, k, is_split, false, &(*out)->global);
}

sheaf_rc op_capacities(struct ctx *c, const struct core_capacity *k, uint32_t n, bool is_split,
                       struct op_given given, struct shape_list *out)
{
    if (n == 0) return SHEAF_OK;
    struct out_capacity **all = ARENA_ARRAY(c->arena, struct out_capacity *, n);
    if (!all) return err_nomem(c->err);
    *out = (struct shape_list){.all = all, .n = n, .has = true};
    for (uint32_t i = 0; i < n; i++) TRY(op_capacity(c, &k[i], is_split, given, &all[i]));
    return SHEAF_OK;
}

/* ---- item collections ---- */

/* The service tells a range of one gigabyte around its estimate. */
sheaf_rc op_metrics(struct ctx *c, const struct core_metrics *m, struct out_metrics **out)
{
    static const double gigabyte = 1024.0 * 1024 * 1024;
    if (!m->table.p) return SHEAF_OK;
    struct shape_double *range = ARENA_ARRAY(c->arena, struct shape_double, 2);
    *out = ARENA_NEW(c->arena, struct out_metrics);
    if (!*out || !range) return err_nomem(c->err);
    double low = (double)(uint64_t)((double)m->bytes / gigabyte);
    range[0] = (struct shape_double){low, true};
    range[1] = (struct shape_double){low + 1, true};
    **out = (struct out_metrics){.key = op_out_item(m->key),
                                 .range = {.all = range, .n = 2, .has = true}};
    return SHEAF_OK;
}

static uint32_t entry_of(struct shape_map *map, span table)
{
    for (uint32_t i = 0; i < map->n; i++)
        if (span_eq(map->names[i], table)) return i;
    map->names[map->n] = table;
    return map->n++;
}

sheaf_rc op_metrics_map(struct ctx *c, const struct core_metrics *m, uint32_t n,
                        struct op_given given, struct shape_map *out)
{
    if (n == 0) return SHEAF_OK;
    struct shape_list *lists = ARENA_ARRAY(c->arena, struct shape_list, n);
    *out = (struct shape_map){.names = ARENA_ARRAY(c->arena, span, n), .all = lists, .has = true};
    if (!lists || !out->names) return err_nomem(c->err);
    for (uint32_t i = 0; i < n; i++) {
        struct shape_list *list = &lists[entry_of(out, as_given(m[i].table, given))];
        if (!list->all) list->all = ARENA_ARRAY(c->arena, struct out_metrics *, n);
        if (!list->all) return err_nomem(c->err);
        list->has = true;
        TRY(op_metrics(c, &m[i], &((struct out_metrics **)list->all)[list->n]));
        list->n++;
    }
    return SHEAF_OK;
}

/* ---- values and placeholders ---- */

/* The reader speaks as the service's older checks do. */
const char *op_fault(const struct op_call *call, const char *fault)
{
    static const char *const words[][2] = {
        {"The parameter cannot be converted to a numeric value",
         "The parameter cannot be converted to a numeric value: "},
        {"Input collection contains duplicates",
         "One or more parameter values were invalid: Input collection contains duplicates."},
    };
    if (!call->request->op->is_current) return fault;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(fault, words[i][0]) == 0) return words[i][1];
    return fault;
}

sheaf_rc op_check_item(const struct op_call *call, const struct json_item *item)
{
    if (!item->fault) return SHEAF_OK;
    return err_validation(call->c->err, "%s", op_fault(call, item->fault));
}

static sheaf_rc set_names(struct ctx *c, const struct shape_names *names, struct expr_env *env)
{
    env->names = ARENA_ARRAY(c->arena, struct expr_name, names->n + 1);
    if (!env->names) return err_nomem(c->err);
    for (uint32_t i = 0; i < names->n; i++)
        env->names[i] =
            (struct expr_name){.placeholder = names->all[i].name, .name = names->all[i].value};
    env->n_names = names->n;
    env->has_names = true;
    return SHEAF_OK;
}

static sheaf_rc refuse_value(struct ctx *c, const struct json_item *values)
{
    return err_validation(c->err,
                          "ExpressionAttributeValues contains invalid value: %s for key %.*s",
                          values->fault, SPAN_ARG(values->fault_name));
}

static sheaf_rc set_values(const struct op_call *call, const struct json_item *values,
                           bool is_wrapped, struct expr_env *env)
{
    struct ctx *c = call->c;
    if (values->fault && values->fault_name.p && is_wrapped) return refuse_value(c, values);
    TRY(op_check_item(call, values));
    val map = item_map(values->item);
    uint32_t n = val_count(map);
    env->values = ARENA_ARRAY(c->arena, struct expr_value, n + 1);
    if (!env->values) return err_nomem(c->err);
    for (uint32_t i = 0; i < n; i++)
        env->values[i] =
            (struct expr_value){.placeholder = val_name_at(map, i), .value = val_at(map, i)};
    env->n_values = n;
    env->has_values = true;
    return SHEAF_OK;
}

sheaf_rc op_env(const struct op_call *call, const struct shape_names *names,
                const struct json_item *values, bool is_wrapped, struct expr_env **env_out)
{
    struct ctx *c = call->c;
    struct expr_env *env = ARENA_NEW(c->arena, struct expr_env);
    if (!env) return err_nomem(c->err);
    if (names->has) TRY(set_names(c, names, env));
    if (values && values->has) TRY(set_values(call, values, is_wrapped, env));
    *env_out = env;
    return SHEAF_OK;
}

/* ---- older parameters ---- */

static void put_list(struct buf *out, const struct op_param *params)
{
    uint32_t n = 0;
    for (; params->name; params++)
        if (params->has) buf_printf(out, "%s%s", n++ ? ", " : "", params->name);
}

static const char *first_of(const struct op_param *params)
{
    for (; params->name; params++)
        if (params->has) return params->name;
    return NULL;
}

static sheaf_rc refuse_both(struct ctx *c, const struct op_params *p)
{
    struct buf text;
    buf_init(&text, c->arena, 1024);
    buf_printf(&text, "Non-expression parameters: {");
    put_list(&text, p->legacy);
    buf_printf(&text, "} Expression parameters: {");
    put_list(&text, p->expressions);
    buf_printf(&text, "}");
    if (text.failed) return err_nomem(c->err);
    return err_validation(c->err,
                          "Can not use both expression and non-expression parameters in the same "
                          "request: %.*s",
                          SPAN_ARG(buf_span(&text)));
}

sheaf_rc op_check_params(struct ctx *c, const struct op_params *p)
{
    const char *legacy = first_of(p->legacy);
    bool has_expression = first_of(p->expressions) != NULL;
    if (!legacy && !p->has_operator) return SHEAF_OK;
    if (legacy && has_expression) return refuse_both(c, p);
    if (legacy && p->has_names)
        return err_validation(
            c->err, "ExpressionAttributeNames can only be specified when using expressions");
    if (legacy && p->has_values)
        return err_validation(
            c->err, "ExpressionAttributeValues can only be specified when using expressions%s",
            p->without ? p->without : "");
    if (!legacy)
        return err_validation(c->err, "ConditionalOperator cannot be used without Filter or "
                                      "Expected");
    return err_validation(
        c->err, "%s is a legacy parameter that Sheaf does not support yet; use expressions",
        legacy);
}
