/* DescribeLimits and DescribeEndpoints: what is true of the whole service. */
#include "ops/shared.h"

struct nothing {
    char unused;
};
struct limits_out {
    struct shape_int account_read, account_write, table_read, table_write;
};
struct endpoint {
    span address;
    struct shape_int minutes;
};
struct endpoints_out {
    struct shape_list endpoints;
};

static const struct shape nothing_shape = {.kind = SHAPE_STRUCT, .size = sizeof(struct nothing)};
static const struct shape shape_long = {.kind = SHAPE_LONG};
static const struct member limits_members[] = {
    MEMBER(struct limits_out, account_read, "AccountMaxReadCapacityUnits", shape_long, 0),
    MEMBER(struct limits_out, account_write, "AccountMaxWriteCapacityUnits", shape_long, 0),
    MEMBER(struct limits_out, table_read, "TableMaxReadCapacityUnits", shape_long, 0),
    MEMBER(struct limits_out, table_write, "TableMaxWriteCapacityUnits", shape_long, 0),
};
static const struct shape limits_shape = STRUCT_SHAPE(struct limits_out, limits_members);
static const struct member endpoint_members[] = {
    MEMBER(struct endpoint, address, "Address", shape_string, 0),
    MEMBER(struct endpoint, minutes, "CachePeriodInMinutes", shape_long, 0),
};
static const struct shape endpoint_shape = STRUCT_SHAPE(struct endpoint, endpoint_members);
static const struct shape endpoints_list = {.kind = SHAPE_LIST, .of = &endpoint_shape};
static const struct member endpoints_members[] = {
    MEMBER(struct endpoints_out, endpoints, "Endpoints", endpoints_list, 0),
};
static const struct shape endpoints_shape = STRUCT_SHAPE(struct endpoints_out, endpoints_members);

/* AWS's defaults for an account. Nothing here enforces them. */
static sheaf_rc run_limits(struct op_call *call, const void *in, void *out_)
{
    struct limits_out *out = out_;
    (void)call;
    (void)in;
    *out = (struct limits_out){{80000, true}, {80000, true}, {40000, true}, {40000, true}};
    return SHEAF_OK;
}

/* As clients name servers: "localhost:8000", "[::1]:8000". */
static bool is_host(span s)
{
    const char *p = s.p;
    for (size_t i = 0; i < s.n; i++)
        if (!((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') ||
              (p[i] >= '0' && p[i] <= '9') || memchr("-.:[]_", p[i], 6)))
            return false;
    return s.n > 0 && s.n <= 255;
}

static sheaf_rc run_endpoints(struct op_call *call, const void *in, void *out_)
{
    struct endpoints_out *out = out_;
    struct endpoint **all = ARENA_ARRAY(call->c->arena, struct endpoint *, 1);
    struct endpoint *one = ARENA_NEW(call->c->arena, struct endpoint);
    (void)in;
    if (!all || !one) return err_nomem(call->c->err);
    struct buf text;
    buf_init(&text, call->c->arena, 1024);
    if (is_host(call->request->endpoint))
        buf_put_span(&text, call->request->endpoint);
    else
        buf_printf(&text, "dynamodb.%.*s.amazonaws.com", SPAN_ARG(call->request->region));
    if (text.failed) return err_nomem(call->c->err);
    *one = (struct endpoint){buf_span(&text), {1440, true}};
    all[0] = one;
    out->endpoints = (struct shape_list){.all = all, .n = 1, .has = true};
    return SHEAF_OK;
}

const struct op op_DescribeLimits = {
    .name = "DescribeLimits", .input = &nothing_shape, .output = &limits_shape, .run = run_limits};
const struct op op_DescribeEndpoints = {.name = "DescribeEndpoints",
                                        .input = &nothing_shape,
                                        .output = &endpoints_shape,
                                        .run = run_endpoints};
