/* Turns nothing into one order of a shop, as an encoded item. */
#include "micro/sample.h"

#include "common/bench.h"

#include <string.h>

static void put_s(struct vb *b, const char *name, const char *text)
{
    vb_name(b, span_cstr(name));
    vb_s(b, span_cstr(text));
}

static void put_n(struct vb *b, const char *name, const char *digits)
{
    vb_name(b, span_cstr(name));
    vb_n_text(b, span_cstr(digits));
}

span sample_build(struct sample *s)
{
    struct vb b;
    vb_init(&b, &s->ctx, 1 << 20);
    vb_map_begin(&b);
    put_s(&b, "PK", "CUSTOMER#0123456789");
    put_s(&b, "SK", "#ORDER#2020-12-06T10:11:12Z");
    put_s(&b, "Type", "Order");
    put_n(&b, "amount", "129.99");
    put_n(&b, "version", "7");
    put_s(&b, "created_at", "2020-12-06T10:11:12.345Z");
    put_s(&b, "status", "SHIPPED");
    vb_name(&b, span_cstr("gift"));
    vb_bool(&b, true);
    vb_name(&b, span_cstr("tags"));
    vb_set_begin(&b, VAL_SS);
    vb_s(&b, span_cstr("express"));
    vb_s(&b, span_cstr("fragile"));
    vb_end(&b);
    put_s(&b, "note",
          "Leave the parcel with the neighbour on the second floor when nobody answers, ring "
          "twice, and "
          "mind the dog, which is friendly but large; the gate code is the one of last time. If it "
          "rains, "
          "please do not leave it at the door.");
    vb_end(&b);
    span item;
    if (vb_finish_item(&b, &item) != SHEAF_OK) bench_die("sample", s->err.message);
    return item;
}

void sample_init(struct sample *s)
{
    arena_init(&s->arena, 1 << 20);
    s->ctx = (struct ctx){&s->arena, &s->err};
    span item = sample_build(s);
    if (item.n > sizeof s->bytes) bench_die("sample", "larger than planned");
    memcpy(s->bytes, item.p, item.n);
    s->item = SPAN(s->bytes, item.n);
    if (item_check(s->item, &s->err) != SHEAF_OK) bench_die("sample", s->err.message);
}

void sample_deinit(struct sample *s) { arena_deinit(&s->arena); }
