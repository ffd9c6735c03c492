/* Any bytes as a chunked body: verdict, data and what is left over do not depend on how the bytes
 * are cut, and no more data comes out than is allowed. The first bytes choose the cuts. */
#include "base/buf.h"
#include "http/body.h"

#include <stdlib.h>

enum { MAX = 4096 };

static void check(bool is_good)
{
    if (!is_good) abort();
}

struct outcome {
    enum chunked_verdict verdict;
    struct chunked state;
    struct buf data;
    size_t used;
};

static void take(struct outcome *o, span bytes, uint64_t cuts, bool is_whole)
{
    o->state = (struct chunked){.max = MAX};
    o->verdict = CHUNKED_MORE;
    o->used = 0;
    buf_init(&o->data, NULL, MAX);
    while (o->used < bytes.n && o->verdict == CHUNKED_MORE) {
        size_t left = bytes.n - o->used, step = is_whole ? left : 1 + (cuts & 15);
        cuts = cuts >> 4 | cuts << 60;
        if (step > left) step = left;
        span in = SPAN((const uint8_t *)bytes.p + o->used, step), piece;
        while (in.n && o->verdict == CHUNKED_MORE) {
            size_t before = in.n;
            o->verdict = chunked_take(&o->state, &in, &piece);
            check(in.n < before || o->verdict == CHUNKED_REFUSED);
            buf_put_span(&o->data, piece);
        }
        o->used += step - in.n;
    }
    check(!o->data.failed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 8) return 0;
    uint64_t cuts;
    memcpy(&cuts, data, 8);
    struct outcome whole, pieces;
    take(&whole, SPAN(data + 8, n - 8), 0, true);
    take(&pieces, SPAN(data + 8, n - 8), cuts, false);
    check(whole.verdict == pieces.verdict && whole.used == pieces.used);
    check(whole.state.status == pieces.state.status && whole.state.why == pieces.state.why);
    check(span_eq(buf_span(&whole.data), buf_span(&pieces.data)));
    if (whole.verdict == CHUNKED_DONE) check(whole.data.n == whole.state.data);
    buf_deinit(&whole.data);
    buf_deinit(&pieces.data);
    return 0;
}
