/* Any bytes as a request head: the verdict does not depend on how they are cut, and what the scan
 * accepts llhttp reads without trouble, or refuses. The first bytes of the input choose the cuts
 * and the limits. */
#include "http/parse.h"
#include "http/scan.h"

#include <stdlib.h>

static void check(bool is_good)
{
    if (!is_good) abort();
}

static void check_same(const struct scan *a, enum scan_verdict va, const struct scan *b,
                       enum scan_verdict vb)
{
    check(va == vb);
    if (va == SCAN_REFUSED) check(a->status == b->status && a->why == b->why);
    if (va != SCAN_DONE) return;
    check(a->at == b->at && a->start_at == b->start_at && a->n_headers == b->n_headers);
    check(a->length == b->length && a->has_length == b->has_length);
    check(a->is_chunked == b->is_chunked && a->is_http10 == b->is_http10);
    check(a->wants_close == b->wants_close && a->wants_keep_alive == b->wants_keep_alive);
    check(a->expects_100 == b->expects_100);
}

/* The bytes in pieces. */
static enum scan_verdict in_pieces(struct scan *s, span head, uint64_t cuts)
{
    enum scan_verdict v = SCAN_MORE;
    for (size_t n = 0; v == SCAN_MORE && n < head.n;) {
        size_t step = 1 + (cuts & 15);
        cuts = cuts >> 4 | cuts << 60;
        n = n + step < head.n ? n + step : head.n;
        v = scan_head(s, SPAN(head.p, n));
    }
    return v;
}

static bool is_inside(span part, span whole)
{
    const uint8_t *p = part.p, *w = whole.p;
    return p >= w && p + part.n <= w + whole.n;
}

static void check_request(const struct http_request *r, span head, const struct scan *s)
{
    check(r->n_headers == s->n_headers);
    check(is_inside(r->method, head) && is_inside(r->target, head));
    check(r->path.n > 0 && (!r->query.p || is_inside(r->query, head)));
    for (uint32_t i = 0; i < r->n_headers; i++) {
        span name = r->headers[i].name, value = r->headers[i].value;
        check(is_inside(name, head) && name.n > 0);
        for (size_t k = 0; k < name.n; k++) {
            uint8_t c = ((const uint8_t *)name.p)[k];
            check(scan_is_token(c) && !(c >= 'A' && c <= 'Z'));
        }
        check(value.n == 0 || is_inside(value, head));
        check(scan_control_plain(value.p, value.n, 0) == value.n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 9) return 0;
    uint64_t cuts;
    memcpy(&cuts, data, 8);
    bool is_narrow = data[8] & 1;
    span head = SPAN(data + 9, n - 9);
    for (size_t from = 0; from < head.n && from < 16; from++)
        check(scan_control(head.p, head.n, from) == scan_control_plain(head.p, head.n, from));
    struct scan whole, pieces;
    scan_init(&whole, is_narrow ? 32 : 16384, is_narrow ? 64 : 16384, is_narrow ? 3 : 100);
    pieces = whole;
    enum scan_verdict v = scan_head(&whole, head);
    check_same(&whole, v, &pieces, in_pieces(&pieces, head, cuts));
    if (v != SCAN_DONE) return 0;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    span copy = arena_dup(&arena, SPAN(data + 9 + whole.start_at, whole.at - whole.start_at));
    struct http_request r = {.n_headers = 0};
    int status = parse_head(&arena, (uint8_t *)(uintptr_t)copy.p, copy.n, &whole, &r);
    check(status == 0 || status == 400);
    if (status == 0) check_request(&r, copy, &whole);
    arena_deinit(&arena);
    return 0;
}
