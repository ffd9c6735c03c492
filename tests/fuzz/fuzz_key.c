/* Any bytes as sort keys: the first byte picks the types of up to four attributes. What is taken
 * off must be put back to the same bytes; what is refused must leave everything as it was. */
#include "key/key.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) abort();
}

/* Encoded as val.h draws it. */
static val make(enum val_type t, span bytes, struct buf *room)
{
    buf_put_u8(room, (uint8_t)t);
    size_t n = bytes.n;
    for (; n >= 0x80; n >>= 7) buf_put_u8(room, (uint8_t)(n | 0x80));
    buf_put_u8(room, (uint8_t)n);
    buf_put_span(room, bytes);
    must(!room->failed);
    return (val){room->p, (uint32_t)room->n};
}

/* Takes one attribute; false when it was refused. */
static bool take_one(span *rest, enum val_type t, struct arena *arena)
{
    span before = *rest;
    struct buf out, again, room;
    buf_init(&out, arena, 1 << 16);
    buf_init(&again, arena, 1 << 17);
    buf_init(&room, arena, 1 << 17);
    if (!key_take_sort(rest, t, &out)) {
        must(rest->p == before.p && rest->n == before.n && out.n == 0);
        return false;
    }
    val v = make(t, buf_span(&out), &room);
    sheaf_error err;
    must(val_check(SPAN(v.p, v.n), &err) == SHEAF_OK);
    key_put_sort(&again, v);
    must(!again.failed && again.n == before.n - rest->n);
    must(span_starts(before, buf_span(&again)));

    /* The key is in the range of what it equals, and nowhere else. */
    struct ctx c = {arena, &err};
    static const struct {
        enum key_op op;
        bool holds;
    } rows[] = {{KEY_EQ, true}, {KEY_LE, true}, {KEY_GE, true}, {KEY_LT, false}, {KEY_GT, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct key_condition cond = {.op = rows[i].op, .a = v};
        span lo, hi;
        must(key_range(&c, &cond, &lo, &hi) == SHEAF_OK);
        bool is_inside = span_cmp(lo, before) <= 0 && (!hi.p || span_cmp(before, hi) < 0);
        must(is_inside == rows[i].holds);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum val_type types[4] = {VAL_S, VAL_N, VAL_B, VAL_N};
    if (size == 0 || size > 8192) return 0;
    struct arena arena;
    arena_init(&arena, 8 << 20);
    span rest = SPAN(data + 1, size - 1);
    for (int i = 0; i < 4; i++) {
        if (!take_one(&rest, types[data[0] >> (2 * i) & 3], &arena)) break;
    }
    arena_deinit(&arena);
    return 0;
}
