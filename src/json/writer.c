/* Turns texts, numbers and encoded values into JSON, appended to a buffer. Know before editing:
 * the depth of the recursion is that of a value, which was checked or built: 32. */
#include "json/scan.h"

#include "base/base64.h"
#include "json/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What stands behind the backslash for a byte that may not stand in a text as it is; 0 asks for
 * \u00XX. */
static uint8_t short_escape(uint8_t c)
{
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

static void put_escape(struct buf *out, uint8_t c)
{
    static const char hex[] = "0123456789ABCDEF";
    uint8_t letter = short_escape(c);
    uint8_t text[6] = {'\\', letter ? letter : 'u', '0',
                       '0',  (uint8_t)hex[c >> 4],  (uint8_t)hex[c & 15]};
    buf_put(out, text, letter ? 2 : 6);
}

/* A text from `stop` on, where the first byte stands that needs an escape; all before is written. */
static void put_escaped(struct buf *out, const uint8_t *stop, const uint8_t *end)
{
    bool high;
    while (stop < end) {
        const uint8_t *p = stop + 1;
        put_escape(out, *stop);
        stop = scan_plain(p, end, &high);
        buf_put(out, p, (size_t)(stop - p));
    }
}

enum { SLACK = 16 };

/* Where the room is short to the byte. */
static void put_quoted_slow(struct buf *out, span head, span text, span tail)
{
    bool high;
    const uint8_t *p = text.p, *end = text.n ? p + text.n : p;
    const uint8_t *stop = scan_plain(p, end, &high);
    buf_put_span(out, head);
    buf_put(out, p, (size_t)(stop - p));
    put_escaped(out, stop, end);
    buf_put_span(out, tail);
}

/* head, text, tail, the first ending and the last beginning with the quote. All is copied first and
 * looked through in its new place, where there is room behind it and where the tail's quote stops
 * the scan: short texts need no loop over single bytes then. Inlined, so that head and tail are
 * constants. */
__attribute__((always_inline)) static inline void put_quoted(struct buf *out, span head, span text,
                                                             span tail)
{
    bool high;
    size_t n = head.n + text.n + tail.n;
    if (out->failed || out->max - out->n < n + SLACK) {
        put_quoted_slow(out, head, text, tail);
        return;
    }
    uint8_t *to = buf_room(out, n + SLACK);
    if (!to) return;
    memcpy(to, head.p, head.n);
    if (text.n) memcpy(to + head.n, text.p, text.n);
    memcpy(to + head.n + text.n, tail.p, tail.n);
    memset(to + n, 0, SLACK);
    size_t plain = (size_t)(scan_plain(to + head.n, to + n + SLACK, &high) - to) - head.n;
    if (plain == text.n) {
        out->n += n;
        return;
    }
    out->n += head.n + plain;
    put_escaped(out, (const uint8_t *)text.p + plain, (const uint8_t *)text.p + text.n);
    buf_put_span(out, tail);
}

void json_put_text(struct buf *out, span text)
{
    put_quoted(out, SPAN_LIT("\""), text, SPAN_LIT("\""));
}

/* ---- attribute values ---- */

static void put_scalar(struct buf *out, enum val_type t, span bytes)
{
    char digits[NUM_TEXT_MAX];
    if (t == VAL_S) {
        json_put_text(out, bytes);
    } else if (t == VAL_N) {
        json_put_text(out, SPAN(digits, num_format_encoded(bytes, digits)));
    } else {
        assert(t == VAL_B);
        buf_put_u8(out, '"');
        base64_put(out, bytes);
        buf_put_u8(out, '"');
    }
}

static void put_list(struct buf *out, val list)
{
    buf_put_u8(out, '[');
    for (uint32_t i = 0, n = val_count(list); i < n; i++) {
        if (i) buf_put_u8(out, ',');
        json_put_value(out, val_at(list, i));
    }
    buf_put_u8(out, ']');
}

static void put_set(struct buf *out, enum val_type t, val set)
{
    buf_put_u8(out, '[');
    for (uint32_t i = 0, n = val_count(set); i < n; i++) {
        if (i) buf_put_u8(out, ',');
        put_scalar(out, (enum val_type)(t - VAL_SS + VAL_S), val_member_at(set, i));
    }
    buf_put_u8(out, ']');
}

void json_put_map(struct buf *out, val map)
{
    buf_put_u8(out, '{');
    for (uint32_t i = 0, n = val_count(map); i < n; i++) {
        if (i) buf_put_u8(out, ',');
        put_quoted(out, SPAN_LIT("\""), val_name_at(map, i), SPAN_LIT("\":"));
        json_put_value(out, val_at(map, i));
    }
    buf_put_u8(out, '}');
}

static void put_number(struct buf *out, span enc)
{
    char digits[NUM_TEXT_MAX];
    size_t n = num_format_encoded(enc, digits);
    uint8_t *to = buf_room(out, n + 8);
    if (!to) return;
    memcpy(to, "{\"N\":\"", 6);
    memcpy(to + 6, digits, n);
    memcpy(to + 6 + n, "\"}", 2);
    out->n += n + 8;
}

static void put_head(struct buf *out, enum val_type t)
{
    const char *name = val_type_name(t);
    buf_put(out, "{\"", 2);
    buf_put(out, name, strlen(name));
    buf_put(out, "\":", 2);
}

static void put_container(struct buf *out, enum val_type t, val v)
{
    put_head(out, t);
    if (t == VAL_M)
        json_put_map(out, v);
    else if (t == VAL_L)
        put_list(out, v);
    else
        put_set(out, t, v);
    buf_put_u8(out, '}');
}

void json_put_value(struct buf *out, val v)
{
    enum val_type t = val_type(v);
    switch (t) {
    case VAL_S:
        put_quoted(out, SPAN_LIT("{\"S\":\""), val_bytes(v), SPAN_LIT("\"}"));
        return;
    case VAL_N:
        put_number(out, val_bytes(v));
        return;
    case VAL_BOOL:
        buf_put_span(out, val_bool(v) ? SPAN_LIT("{\"BOOL\":true}") : SPAN_LIT("{\"BOOL\":false}"));
        return;
    case VAL_NULL:
        buf_put_span(out, SPAN_LIT("{\"NULL\":true}"));
        return;
    case VAL_B:
        put_head(out, t);
        put_scalar(out, t, val_bytes(v));
        buf_put_u8(out, '}');
        return;
    default:
        assert(t != VAL_NONE);
        put_container(out, t, v);
    }
}

void json_put_item(struct buf *out, span item) { json_put_map(out, item_map(item)); }

/* ---- numbers ---- */

void json_put_int(struct buf *out, int64_t v)
{
    char text[24], *end = text + sizeof text, *p = end;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do {
        *--p = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (v < 0) *--p = '-';
    buf_put(out, p, (size_t)(end - p));
}

/* The fewest significant digits that read back as v, which is above zero; returns how many and the
 * power of ten of the first. Goes through the C library in whatever locale the program set, so it
 * takes the digits and leaves the point. */
static int shortest(double v, char digits[20], int *power_out)
{
    char text[40];
    int precision = 14;
    do snprintf(text, sizeof text, "%.*e", precision, v);
    while (strtod(text, NULL) != v && ++precision < 17);
    int n = 0;
    const char *p = text;
    for (; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9') digits[n++] = *p;
    *power_out = (int)strtol(p + 1, NULL, 10);
    while (n > 1 && digits[n - 1] == '0') n--;
    return n;
}

/* 0.00123, 1230.0, 12.3: the digits with `whole` of them before the point, and zeros where there are
 * none. */
static void put_plain(struct buf *out, const char *digits, int n, int whole)
{
    int first = whole < 1 ? whole - 1 : 0, end = n > whole ? n : whole + 1;
    for (int i = first; i < end; i++) {
        if (i == whole) buf_put_u8(out, '.');
        buf_put_u8(out, i < 0 || i >= n ? '0' : (uint8_t)digits[i]);
    }
}

void json_put_double(struct buf *out, double v)
{
    assert(isfinite(v));
    char digits[20] = "0";
    int power = 0, n = 1;
    if (signbit(v) && v != 0) buf_put_u8(out, '-');
    if (v != 0) n = shortest(fabs(v), digits, &power);
    if (power > -7 && power < 21) {
        put_plain(out, digits, n, power + 1);
    } else {
        put_plain(out, digits, n, 1);
        buf_put_u8(out, 'E');
        json_put_int(out, power);
    }
}
