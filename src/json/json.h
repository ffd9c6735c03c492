/* json/json.h: strict JSON in, JSON out, and DynamoDB's attribute values on both sides.
 *
 * Layer rule: json includes value and base. It knows no operation.
 *
 * READING  A pull reader over bytes that are all there. It is strict (RFC 8259): UTF-8 and
 * surrogates are checked, a repeated name in an object is refused, nothing follows the value,
 * nesting is bounded. Objects and arrays are walked in the caller's loop:
 *
 *     TRY(json_object(j));
 *     for (;;) {
 *         TRY(json_next_name(j, &name, &has));       has == false: the object has ended
 *         if (!has) break;
 *         TRY(json_text(j, &text));                  exactly one value per name
 *     }
 *
 * ERRORS  SHEAF_SERIALIZATION for whatever is not JSON, or not the kind of value asked for; the
 * message is AWS's. What is JSON but no proper attribute value ({"S": "a", "N": "1"}, a number with
 * two points) is a *fault* of the item and no error of the reader: AWS judges a request's other
 * parts first, so the caller decides when to raise it.
 *
 * LIFETIMES  Texts borrow from the input when they hold no escape, else they lie in the context's
 * arena. Items lie in the arena.
 */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include "base/buf.h"
#include "base/err.h"
#include "value/build.h"
#include "value/val.h"

enum { JSON_DEPTH_MAX = 128 }; /* open containers, of any kind */

enum json_kind { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_BOOL, JSON_NULL };

/* Caller's storage. Members are the reader's own. */
struct json {
    const uint8_t *begin, *at, *end;
    struct ctx *ctx;
    uint32_t depth;
    struct json_seen *seen; /* names of the open objects, to find a repeated one */
    uint8_t state[JSON_DEPTH_MAX];
};

void json_init(struct json *j, struct ctx *c, span text);
/* The kind of the value that comes next; consumes nothing but white space. */
SHEAF_NODISCARD sheaf_rc json_peek(struct json *j, enum json_kind *kind_out);
SHEAF_NODISCARD sheaf_rc json_object(struct json *j);
SHEAF_NODISCARD sheaf_rc json_next_name(struct json *j, span *name_out, bool *has_out);
SHEAF_NODISCARD sheaf_rc json_array(struct json *j);
SHEAF_NODISCARD sheaf_rc json_next_element(struct json *j, bool *has_out);
SHEAF_NODISCARD sheaf_rc json_text(struct json *j, span *text_out);
/* The digits as they stand. */
SHEAF_NODISCARD sheaf_rc json_number(struct json *j, span *digits_out);
SHEAF_NODISCARD sheaf_rc json_bool(struct json *j, bool *out);
SHEAF_NODISCARD sheaf_rc json_null(struct json *j);
/* One value of any kind, checked in full; *raw_out (may be NULL) are its bytes in the input. Uses
 * no recursion. */
SHEAF_NODISCARD sheaf_rc json_skip(struct json *j, span *raw_out);
/* After the outermost value: nothing but white space may follow. */
SHEAF_NODISCARD sheaf_rc json_end(struct json *j);
/* SHEAF_SERIALIZATION with AWS's words for a value of this kind where `wanted` ("String",
 * "Integer") should stand. */
SHEAF_NODISCARD sheaf_rc json_wrong_kind(struct json *j, enum json_kind found, const char *wanted);

/* ---- attribute values ---- */

/* {"PK": {"S": "a"}, ...}, encoded. When something in it is JSON but no attribute value, `fault` is
 * AWS's message for the first such thing, `item` is unusable, and reading went on to its end all
 * the same. */
struct json_item {
    span item; /* encoded item; p == NULL: the member was absent (fault then NULL) or faulty */
    const char *fault;
    bool has; /* the member was there */
};
SHEAF_NODISCARD sheaf_rc json_read_item(struct json *j, struct json_item *out);
/* One {"S": "a"} as the value of an item whose single attribute has the name given. */
SHEAF_NODISCARD sheaf_rc json_read_value(struct json *j, span name, struct json_item *out);

/* ---- writing ---- */

/* Appends to a buffer; what does not fit sets its `failed`. Text is UTF-8 and comes out quoted, with
 * the escapes that JSON demands and no others. */
void json_put_text(struct buf *out, span text);
void json_put_value(struct buf *out, val v);    /* {"S":"a"} */
void json_put_item(struct buf *out, span item); /* {"PK":{"S":"a"},…}, in name order */
void json_put_int(struct buf *out, int64_t v);
/* The shortest form that reads back the same; "0.5", "12.0" as AWS writes capacity units. */
void json_put_double(struct buf *out, double v);

#endif
