/* Turns an encoded value into DynamoDB JSON text, in one walk over its bytes. Know before editing:
 * depth is bounded by the value's own nesting, which was checked or built. */
#include "base/base64.h"
#include "value/layout.h"

static void put_text(struct buf *out, span s)
{
    const uint8_t *p = s.p;
    buf_put_u8(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        if (p[i] == '"' || p[i] == '\\') buf_put_u8(out, '\\');
        if (p[i] >= 0x20)
            buf_put_u8(out, p[i]);
        else
            buf_printf(out, "\\u%04x", (unsigned)p[i]);
    }
    buf_put_u8(out, '"');
}

static void put_number(struct buf *out, span enc)
{
    char text[NUM_TEXT_MAX];
    buf_put_u8(out, '"');
    buf_put(out, text, num_format_encoded(enc, text));
    buf_put_u8(out, '"');
}

static void put_binary(struct buf *out, span bytes)
{
    buf_put_u8(out, '"');
    base64_put(out, bytes);
    buf_put_u8(out, '"');
}

static void put_scalar(struct buf *out, enum val_type t, span bytes)
{
    if (t == VAL_S) put_text(out, bytes);
    if (t == VAL_N) put_number(out, bytes);
    if (t == VAL_B) put_binary(out, bytes);
}

static void put_entries(struct buf *out, enum val_type t, val v)
{
    buf_put_u8(out, t == VAL_M ? '{' : '[');
    for (uint32_t i = 0, n = val_count(v); i < n; i++) {
        if (i) buf_put_u8(out, ',');
        if (t == VAL_M) {
            put_text(out, val_name_at(v, i));
            buf_put_u8(out, ':');
        }
        if (is_set(t))
            put_scalar(out, (enum val_type)(t - VAL_SS + VAL_S), val_member_at(v, i));
        else
            val_print(out, val_at(v, i));
    }
    buf_put_u8(out, t == VAL_M ? '}' : ']');
}

void val_print(struct buf *out, val v)
{
    enum val_type t = val_type(v);
    assert(t != VAL_NONE);
    buf_printf(out, "{\"%s\":", val_type_name(t));
    if (t == VAL_BOOL)
        buf_printf(out, "%s", val_bool(v) ? "true" : "false");
    else if (t == VAL_NULL)
        buf_put(out, "true", 4);
    else if (is_box(t))
        put_entries(out, t, v);
    else
        put_scalar(out, t, val_bytes(v));
    buf_put_u8(out, '}');
}
