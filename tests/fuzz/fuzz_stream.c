/* Any bytes as a shard iterator, a sequence number and a record of a stream's log: refused, or read
 * whole; what was accepted as a text prints as the same text. */
#include "core/stream.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct key_secret secret = {.b = "a secret that the fuzzer may learn"};

static void iterator(struct ctx *c, span text)
{
    struct stream_iterator it;
    span again;
    if (stream_iterator_parse(c, &secret, text, &it) != SHEAF_OK) return;
    if (stream_iterator_format(c, &secret, &it, &again) != SHEAF_OK) abort();
    if (!span_eq(text, again)) abort();
}

static void sequence(span text)
{
    sheaf_stamp s;
    char again[STREAM_SEQUENCE_DIGITS];
    if (!stream_sequence_parse(text, &s)) return;
    stream_sequence_format(&s, again);
    if (!span_eq(text, SPAN(again, sizeof again))) abort();
}

static void record(struct ctx *c, span value)
{
    static const sheaf_stamp stamp = {.b = {1}};
    static const struct table_stream stream = {.space = 20, .view = CORE_STREAM_BOTH};
    struct table table = {.hash = {SPAN_LIT("PK"), VAL_S}, .space = 16};
    struct sheaf_row row = {.key.s = SPAN(stamp.b, sizeof stamp.b), .value = value};
    struct core_record r;
    if (stream_decode(c, &table, &stream, &row, &r) != SHEAF_OK) return;
    if (!r.keys.p || r.sequence.n != STREAM_SEQUENCE_DIGITS) abort();
    if (r.new_image.p && item_check(r.new_image, NULL) != SHEAF_OK) abort();
    if (r.old_image.p && item_check(r.old_image, NULL) != SHEAF_OK) abort();
    if (item_check(r.keys, NULL) != SHEAF_OK) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    sheaf_error err;
    sheaf_stamp mark;
    struct arena arena;
    arena_init(&arena, 64 << 20);
    struct ctx c = {&arena, &err};
    iterator(&c, SPAN(data, n));
    sequence(SPAN(data, n));
    record(&c, SPAN(data, n));
    sheaf_rc rc = stream_mark_decode(SPAN(data, n), &mark, &err);
    (void)rc; /* any answer is fine, so long as it is one */
    arena_deinit(&arena);
    return 0;
}
