/* Any bytes: skipping a document and walking it by hand come to the same verdict; the bytes that
 * skipping reports read alike once more; and the texts that were read, written and read again, are
 * the same. */
#include "json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool is_good)
{
    if (!is_good) abort();
}

/* Written and read it is the same text. */
static void again(struct ctx *c, span text)
{
    struct buf out;
    struct json j;
    span back;
    buf_init(&out, c->arena, 8 * text.n + 16);
    json_put_text(&out, text);
    check(!out.failed);
    json_init(&j, c, buf_span(&out));
    check(json_text(&j, &back) == SHEAF_OK && json_end(&j) == SHEAF_OK && span_eq(back, text));
}

static sheaf_rc walk(struct json *j);

static sheaf_rc walk_object(struct json *j)
{
    span name;
    bool has;
    TRY(json_object(j));
    for (;;) {
        TRY(json_next_name(j, &name, &has));
        if (!has) return SHEAF_OK;
        again(j->ctx, name);
        TRY(walk(j));
    }
}

static sheaf_rc walk_array(struct json *j)
{
    bool has;
    TRY(json_array(j));
    for (;;) {
        TRY(json_next_element(j, &has));
        if (!has) return SHEAF_OK;
        TRY(walk(j));
    }
}

/* The reader bounds the depth. */
static sheaf_rc walk(struct json *j)
{
    enum json_kind kind;
    span text;
    bool truth;
    TRY(json_peek(j, &kind));
    if (kind == JSON_OBJECT) return walk_object(j);
    if (kind == JSON_ARRAY) return walk_array(j);
    if (kind == JSON_NUMBER) return json_number(j, &text);
    if (kind == JSON_BOOL) return json_bool(j, &truth);
    if (kind == JSON_NULL) return json_null(j);
    TRY(json_text(j, &text));
    again(j->ctx, text);
    return SHEAF_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena arena;
    sheaf_error err;
    arena_init(&arena, 1 << 28);
    struct ctx c = {&arena, &err};
    struct json j;
    span raw, raw2;
    json_init(&j, &c, SPAN(data, n));
    sheaf_rc skipped = json_skip(&j, &raw);
    if (skipped == SHEAF_OK) {
        struct json k;
        json_init(&k, &c, raw);
        check(json_skip(&k, &raw2) == SHEAF_OK && json_end(&k) == SHEAF_OK && span_eq(raw, raw2));
        skipped = json_end(&j);
    }
    json_init(&j, &c, SPAN(data, n));
    sheaf_rc walked = walk(&j);
    if (walked == SHEAF_OK) walked = json_end(&j);
    check(skipped == walked);
    check(skipped == SHEAF_OK || skipped == SHEAF_SERIALIZATION);
    arena_deinit(&arena);
    return 0;
}
