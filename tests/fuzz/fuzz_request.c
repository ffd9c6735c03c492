/* Any operation with any body: the reply is strict JSON, its status is 200 or 400 and its error has
 * a name. The first line of the input is the target without its prefix ("GetItem"; streams: with a
 * leading '.'), what follows is the body. Every input finds the same small database. */
#include "ops/ops.h"
#include "json/json.h"

#include <sheaf/sys/engine.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { ARENA_MAX = 64 << 20 };

static const char *const setup[][2] = {
    {"CreateTable",
     "{\"TableName\":\"Tab\",\"AttributeDefinitions\":[{\"AttributeName\":\"p\",\"AttributeType\":"
     "\"S\"},{\"AttributeName\":\"s\",\"AttributeType\":\"N\"},{\"AttributeName\":\"l\","
     "\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"p\",\"KeyType\":\"HASH\"},{"
     "\"AttributeName\":\"s\",\"KeyType\":\"RANGE\"}],\"LocalSecondaryIndexes\":[{\"IndexName\":"
     "\"loc\",\"KeySchema\":[{\"AttributeName\":\"p\",\"KeyType\":\"HASH\"},{\"AttributeName\":"
     "\"l\",\"KeyType\":\"RANGE\"}],\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}],"
     "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"glo\",\"KeySchema\":[{\"AttributeName\":\"l\","
     "\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":\"ALL\"}}],\"BillingMode\":"
     "\"PAY_PER_REQUEST\",\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":"
     "\"NEW_AND_OLD_IMAGES\"}}"},
    {"PutItem", "{\"TableName\":\"Tab\",\"Item\":{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"1\"},\"l\":{"
                "\"S\":\"x\"},\"m\":{\"M\":{\"n\":{\"L\":[{\"NULL\":true},{\"NS\":[\"1\"]}]}}}}}"},
    {"PutItem", "{\"TableName\":\"Tab\",\"Item\":{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"2\"}}}"},
};

static void run(struct core *core, const struct op *op, span body, struct op_reply *reply)
{
    struct arena arena;
    sheaf_error err;
    arena_init(&arena, ARENA_MAX);
    struct ctx c = {&arena, &err};
    const struct op_request q = {.op = op, .body = body, .region = SPAN_LIT("us-east-1")};
    op_run(core, &c, &q, reply);
    struct json j;
    json_init(&j, &c, buf_span(&reply->body));
    if (json_skip(&j, NULL) != SHEAF_OK || json_end(&j) != SHEAF_OK) abort();
    bool is_error = span_starts(buf_span(&reply->body), SPAN_LIT("{\"__type\":\"com.amazon"));
    if (reply->status != (is_error ? 400 : 200)) abort();
    arena_deinit(&arena);
}

static const struct op *find(span name)
{
    char target[64];
    bool is_streams = name.n && *(const char *)name.p == '.';
    if (is_streams) name = span_from(name, 1);
    int len =
        snprintf(target, sizeof target, "DynamoDB%s_20120810.%.*s", is_streams ? "Streams" : "",
                 (int)(name.n > 40 ? 40 : name.n), (const char *)name.p);
    return op_find(SPAN(target, (size_t)len));
}

static struct core *open_database(void)
{
    sheaf_engine *engine;
    struct core *core;
    struct op_reply reply;
    static struct clock_manual clock;
    clock_manual_init(&clock, INT64_C(1794700800000000));
    const struct core_options options = {.clock = &clock.base, .seed = 1};
    if (sheaf_engine_open_mem(NULL, &engine, NULL) != SHEAF_OK) abort();
    if (core_open(engine, &options, &core, NULL) != SHEAF_OK) abort();
    for (size_t i = 0; i < sizeof setup / sizeof *setup; i++) {
        run(core, find(span_cstr(setup[i][0])), span_cstr(setup[i][1]), &reply);
        if (reply.status != 200) abort();
    }
    return core;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct op_reply reply;
    const uint8_t *end = n ? memchr(data, '\n', n) : NULL;
    if (!end) return 0;
    const struct op *op = find(SPAN(data, (size_t)(end - data)));
    if (!op) return 0;
    static struct core *core; /* until something may have been written */
    if (!core) core = open_database();
    size_t from = (size_t)(end - data) + 1;
    run(core, op, SPAN(data + from, n - from), &reply);
    if (!op_is_write(op)) return 0;
    core_close(core);
    core = NULL;
    return 0;
}
