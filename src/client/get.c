/* Turns JSON answers into structs, by tables of fields. Know before editing: the bytes come from
 * another machine; whatever is not what was expected ends in an error, never in a guess. */
#include "client/get.h"

#include <math.h>
#include <stdlib.h>

static sheaf_rc is_null(struct json *j, bool *out)
{
    enum json_kind kind;
    TRY(json_peek(j, &kind));
    *out = kind == JSON_NULL;
    return *out ? json_null(j) : SHEAF_OK;
}

static const struct field *find(const struct field *fields, size_t n, span name)
{
    for (size_t i = 0; i < n; i++)
        if (span_eq(name, span_cstr(fields[i].name))) return &fields[i];
    return NULL;
}

sheaf_rc wire_get_object(struct json *j, const struct field *fields, size_t n, void *to)
{
    TRY(json_object(j));
    for (;;) {
        span name;
        bool has, absent;
        TRY(json_next_name(j, &name, &has));
        if (!has) return SHEAF_OK;
        TRY(is_null(j, &absent));
        if (absent) continue;
        const struct field *f = find(fields, n, name);
        if (f)
            TRY(f->read(j, (uint8_t *)to + f->offset));
        else
            TRY(json_skip(j, NULL));
    }
}

sheaf_rc wire_get_answer(struct ctx *c, span json, const struct field *fields, size_t n, void *to)
{
    struct json j;
    json_init(&j, c, json);
    sheaf_rc rc = wire_get_object(&j, fields, n, to);
    if (rc == SHEAF_OK) rc = json_end(&j);
    if (rc != SHEAF_SERIALIZATION && rc != SHEAF_VALIDATION) return rc;
    char why[200] = "it is not JSON";
    if (c->err && *c->err->message) {
        memcpy(why, c->err->message, sizeof why - 1);
        why[sizeof why - 1] = '\0';
    }
    return err_set(c->err, SHEAF_INTERNAL, "The server's answer cannot be read: %s", why);
}

/* ---- scalars ---- */

sheaf_rc wire_get_text(struct json *j, void *to) { return json_text(j, to); }

sheaf_rc wire_get_bool(struct json *j, void *to) { return json_bool(j, to); }

sheaf_rc wire_get_item(struct json *j, void *to)
{
    struct json_item item = {.has = false};
    TRY(json_read_item(j, &item));
    if (item.fault) return err_validation(j->ctx->err, "%s", item.fault);
    *(span *)to = item.item;
    return SHEAF_OK;
}

sheaf_rc wire_get_double(struct json *j, void *to)
{
    char text[64];
    span digits;
    TRY(json_number(j, &digits));
    if (digits.n >= sizeof text) return err_validation(j->ctx->err, "a number is too long");
    memcpy(text, digits.p, digits.n);
    text[digits.n] = '\0';
    double v = strtod(text, NULL);
    if (!isfinite(v)) return err_validation(j->ctx->err, "%s is out of range", text);
    *(double *)to = v;
    return SHEAF_OK;
}

sheaf_rc wire_get_u64(struct json *j, void *to)
{
    double v;
    TRY(wire_get_double(j, &v)); /* counts stay below 2^53 */
    if (v < 0 || v > 9007199254740992.0)
        return err_validation(j->ctx->err, "%g is out of range", v);
    *(uint64_t *)to = (uint64_t)v;
    return SHEAF_OK;
}

sheaf_rc wire_get_time(struct json *j, void *to)
{
    double v;
    TRY(wire_get_double(j, &v));
    if (fabs(v) > 1e12) return err_validation(j->ctx->err, "%g is out of range", v);
    *(int64_t *)to = (int64_t)llround(v * 1e6);
    return SHEAF_OK;
}

/* ---- lists ---- */

void *wire_get_row(struct ctx *c, struct rows *r)
{
    if (r->n == r->cap) {
        uint32_t cap = r->cap ? r->cap * 2 : 8;
        uint8_t *all = cap < UINT32_MAX / 4 ? arena_zalloc_array(c->arena, cap, r->size) : NULL;
        if (!all) {
            (void)err_nomem(c->err);
            return NULL;
        }
        if (r->n) memcpy(all, r->all, r->n * r->size);
        r->all = all;
        r->cap = cap;
    }
    return r->all + r->size * r->n++;
}

sheaf_rc wire_get_rows(struct json *j, struct rows *r, get_fn *read)
{
    TRY(json_array(j));
    for (;;) {
        bool has, absent;
        TRY(json_next_element(j, &has));
        if (!has) return SHEAF_OK;
        void *row = wire_get_row(j->ctx, r);
        if (!row) return SHEAF_NOMEM;
        TRY(is_null(j, &absent));
        if (!absent) TRY(read(j, row));
    }
}

sheaf_rc wire_get_texts(struct json *j, void *to)
{
    struct texts *out = to;
    struct rows r = {.size = sizeof(span)};
    TRY(wire_get_rows(j, &r, wire_get_text));
    *out = (struct texts){(span *)(void *)r.all, r.n};
    return SHEAF_OK;
}

uint32_t wire_get_place(span word, const char *const *words, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !span_eq(word, span_cstr(words[i]))) i++;
    return i;
}

/* ---- capacity ---- */

struct wire_capacity {
    struct core_capacity head;
    double base, read;
    struct rows arms; /* of struct core_arm, the indexes' */
};

static sheaf_rc get_units(struct json *j, void *to)
{
    static const struct field fields[] = {{"CapacityUnits", wire_get_double, 0}};
    return GET_OBJECT(j, fields, to);
}

/* {"index": {"CapacityUnits": 1.0}, …}; `to` is the wire_capacity's arms. */
static sheaf_rc get_arms(struct json *j, void *to, bool is_local)
{
    struct rows *arms = to;
    TRY(json_object(j));
    for (;;) {
        span name;
        bool has;
        TRY(json_next_name(j, &name, &has));
        if (!has) return SHEAF_OK;
        struct core_arm *arm = wire_get_row(j->ctx, arms);
        if (!arm) return SHEAF_NOMEM;
        *arm = (struct core_arm){.index = name, .is_local = is_local};
        TRY(get_units(j, &arm->units));
    }
}

static sheaf_rc get_local_arms(struct json *j, void *to) { return get_arms(j, to, true); }
static sheaf_rc get_global_arms(struct json *j, void *to) { return get_arms(j, to, false); }

sheaf_rc wire_get_read_capacity(struct json *j, void *to)
{
    TRY(wire_get_capacity(j, to));
    ((struct core_capacity *)to)->is_write = false;
    return SHEAF_OK;
}

sheaf_rc wire_get_capacity(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct wire_capacity, head.table, "TableName", wire_get_text),
        FIELD(struct wire_capacity, head.units, "CapacityUnits", wire_get_double),
        FIELD(struct wire_capacity, read, "ReadCapacityUnits", wire_get_double),
        FIELD(struct wire_capacity, base, "Table", get_units),
        FIELD(struct wire_capacity, arms, "LocalSecondaryIndexes", get_local_arms),
        FIELD(struct wire_capacity, arms, "GlobalSecondaryIndexes", get_global_arms),
    };
    struct wire_capacity w = {.base = -1, .arms = {.size = sizeof(struct core_arm)}};
    TRY(GET_OBJECT(j, fields, &w));
    struct core_capacity *out = to;
    *out = w.head;
    out->is_write = w.read <= 0;     /* a transaction that was found done is charged as a read */
    if (w.base < 0) return SHEAF_OK; /* not asked for by index */
    out->arms = ARENA_ARRAY(j->ctx->arena, struct core_arm, w.arms.n + 1u);
    if (!out->arms) return err_nomem(j->ctx->err);
    out->arms[0].units = w.base;
    if (w.arms.n) memcpy(out->arms + 1, w.arms.all, w.arms.n * sizeof *out->arms);
    out->n_arms = w.arms.n + 1;
    return SHEAF_OK;
}

static sheaf_rc get_some(struct json *j, struct capacities *out, get_fn *read)
{
    struct rows r = {.size = sizeof(struct core_capacity)};
    TRY(wire_get_rows(j, &r, read));
    *out = (struct capacities){(struct core_capacity *)(void *)r.all, r.n};
    return SHEAF_OK;
}

sheaf_rc wire_get_capacities(struct json *j, void *to)
{
    return get_some(j, to, wire_get_capacity);
}

sheaf_rc wire_get_read_capacities(struct json *j, void *to)
{
    return get_some(j, to, wire_get_read_capacity);
}

/* ---- item collection metrics ---- */

static sheaf_rc get_estimate(struct json *j, void *to)
{
    struct rows r = {.size = sizeof(double)};
    TRY(wire_get_rows(j, &r, wire_get_double));
    double gb = r.n ? *(double *)(void *)r.all : 0;
    *(uint64_t *)to = gb > 0 && gb < 1e6 ? (uint64_t)(gb * 1073741824.0) : 0;
    return SHEAF_OK;
}

sheaf_rc wire_get_metrics(struct json *j, void *to)
{
    static const struct field fields[] = {
        FIELD(struct core_metrics, key, "ItemCollectionKey", wire_get_item),
        FIELD(struct core_metrics, bytes, "SizeEstimateRangeGB", get_estimate),
    };
    return GET_OBJECT(j, fields, to);
}

/* {"table": [metrics, …], …} */
sheaf_rc wire_get_metrics_map(struct json *j, void *to)
{
    struct rows all = {.size = sizeof(struct core_metrics)};
    TRY(json_object(j));
    for (;;) {
        span table;
        bool has;
        TRY(json_next_name(j, &table, &has));
        if (!has) break;
        uint32_t first = all.n;
        TRY(wire_get_rows(j, &all, wire_get_metrics));
        struct core_metrics *m = (struct core_metrics *)(void *)all.all;
        for (uint32_t i = first; i < all.n; i++) m[i].table = table;
    }
    *(struct metrics_list *)to =
        (struct metrics_list){(struct core_metrics *)(void *)all.all, all.n};
    return SHEAF_OK;
}

void client_set_totals(struct core_multi_outcome *out, struct capacities capacity,
                       struct metrics_list metrics)
{
    out->capacity = capacity.all;
    out->n_capacity = capacity.n;
    out->metrics = metrics.all;
    out->n_metrics = metrics.n;
}
