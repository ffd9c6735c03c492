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
 * A repeated name is found at once among the first few of an object and else at its end, by
 * sorting: O(n log n) for any names, and no hash to attack. Among the attributes of an item or map
 * the builder finds it, and it is a fault.
 *
 * ERRORS  SHEAF_SERIALIZATION for whatever is not JSON, or not the kind of value asked for; the
 * message is AWS's. For what is not JSON AWS has no message at all: it is "" and the answer carries
 * none. (A repeated name and nesting beyond JSON_DEPTH_MAX are refusals of ours, with words of
 * ours.) The first error ends the reading.
 *
 * FAULTS  What is JSON but no proper attribute value ({"S": "a", "N": "1"}, a number with two
 * points) is a *fault* of the item and no error of the reader: AWS judges a request's other parts
 * first, so the caller decides when to raise it. A wrong kind inside a value ({"S": 1}) and bad
 * base64 are errors: the service stumbles over those while it reads.
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

enum {
    JSON_DEPTH_MAX = 256, /* open containers, of any kind */
    JSON_FEW_NAMES = 16   /* of one object: compared one by one, beyond that sorted */
};

enum json_kind { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_BOOL, JSON_NULL };

/* Caller's storage, which may not be copied or moved. Members are the reader's own. */
struct json {
    const uint8_t *begin, *at, *end;
    struct ctx *ctx;
    uint32_t depth;              /* open containers */
    bool is_first;               /* nothing of the innermost one was read yet */
    span *names;                 /* of the open objects, a stack: to find a repeated one */
    uint32_t n_names, cap_names; /* names == few until there are too many */
    uint32_t first[JSON_DEPTH_MAX];
    span few[JSON_FEW_NAMES];
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
/* Like AWS it takes the words in quotes, too: "true", "yes", "false", "no" in any case. */
SHEAF_NODISCARD sheaf_rc json_bool(struct json *j, bool *out);
SHEAF_NODISCARD sheaf_rc json_null(struct json *j);
/* One value of any kind, checked in full; *raw_out (may be NULL) are its bytes in the input. Uses
 * no recursion. */
SHEAF_NODISCARD sheaf_rc json_skip(struct json *j, span *raw_out);
/* After the outermost value: nothing but white space may follow. */
SHEAF_NODISCARD sheaf_rc json_end(struct json *j);

/* SHEAF_SERIALIZATION with AWS's words for the value that comes next, of the kind found, where
 * `wanted` should stand: "String", "Boolean", "Integer", "Long", "Double", "Blob"; "List"; or the
 * Java type of a map or structure as AWS prints it, "class com.amazonaws.dynamodb.v20120810.Tag".
 * The words of json_wrong_element are for an element of a list or map, the others for a member of
 * a structure. */
SHEAF_NODISCARD sheaf_rc json_wrong_kind(struct json *j, enum json_kind found, const char *wanted);
SHEAF_NODISCARD sheaf_rc json_wrong_element(struct json *j, enum json_kind found,
                                            const char *wanted);

/* ---- attribute values ---- */

/* {"PK": {"S": "a"}, ...}, encoded. When something in it is JSON but no attribute value, `fault` is
 * AWS's message for the first such thing, `item` is unusable, and reading went on to its end all
 * the same. */
struct json_item {
    span item; /* encoded item; p == NULL: the member was absent (fault then NULL) or faulty */
    const char *fault; /* in the arena */
    span fault_name;   /* of the top-level attribute that has the fault; p == NULL: of none alone */
    bool has;          /* the member was there, and not null */
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
void json_put_map(struct buf *out, val map);    /* the same for the M of an item */
void json_put_int(struct buf *out, int64_t v);
/* The shortest digits that read back the same, with a point: "0.5", "12.0" as AWS writes capacity
 * units, "1700000000.123". v is finite. */
void json_put_double(struct buf *out, double v);

#endif
