/* Turns DynamoDB JSON into encoded items, in one pass and without recursion.
 *
 * Know before editing: JSON's own mistakes end the reading (an rc); mistakes in values go to the
 * builder, whose first error sticks and makes all its later calls do nothing, so that reading can
 * simply go on to the end. The frames are the JSON containers that are open:
 *
 *      {"a": {"L": [ {"S": "x"} ]}}
 *      MAP   TYPED LIST TYPED
 */
#include "base/base64.h"
#include "base/utf8.h"
#include "json/read.h"

#define ATTRIBUTE_VALUE "class com.amazonaws.dynamodb.v20120810.AttributeValue"
#define ATTRIBUTE_MAP                                                                              \
    "java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>"

enum frame_kind { MAP, LIST, TYPED };
struct frame {
    uint8_t kind;
    uint16_t types; /* of TYPED: a bit for each val_type it had */
};

/* One item, or one value, on its way. */
struct decoder {
    struct json *j;
    struct ctx ctx; /* the caller's arena, an error of our own: the builder's may be a fault */
    sheaf_error err;
    struct vb b;
    uint32_t n;
    struct frame frames[JSON_DEPTH_MAX];
};

static void fault(struct decoder *d, const char *message)
{
    if (d->b.rc == SHEAF_OK) vb_fail(&d->b, err_validation(&d->err, "%s", message));
}

static void push(struct decoder *d, enum frame_kind kind)
{
    assert(d->n < JSON_DEPTH_MAX); /* each frame is an open container of the reader's */
    d->frames[d->n++] = (struct frame){(uint8_t)kind, 0};
}

static bool take_null(struct json *j, enum json_kind kind, sheaf_rc *rc)
{
    *rc = SHEAF_OK;
    if (kind != JSON_NULL) return false;
    *rc = json_null(j);
    return true;
}

/* ---- scalars and sets ---- */

static sheaf_rc bad_base64(struct json *j, enum base64_fault what, span text)
{
    if (what == BASE64_LENGTH)
        return err_set(j->ctx->err, SHEAF_SERIALIZATION,
                       "Base64 encoded length is expected a multiple of 4 bytes but found: %zu",
                       utf8_utf16_units(text));
    return err_set(j->ctx->err, SHEAF_SERIALIZATION, "%s",
                   what == BASE64_LAST ? "Invalid last non-pad Base64 character dectected"
                                       : "Unexpected value type in payload");
}

static sheaf_rc read_binary(struct decoder *d, enum json_kind kind)
{
    span text;
    size_t n;
    if (kind != JSON_STRING) return json_wrong_kind(d->j, kind, "Blob");
    TRY(json_text(d->j, &text));
    uint8_t *bytes = arena_bytes(d->ctx.arena, text.n / 4 * 3);
    if (!bytes) return err_nomem(d->j->ctx->err);
    enum base64_fault what = base64_get(text, bytes, &n);
    if (what != BASE64_OK) return bad_base64(d->j, what, text);
    vb_b(&d->b, SPAN(bytes, n));
    return SHEAF_OK;
}

/* S, N or B, alone or in a set. */
static sheaf_rc read_scalar(struct decoder *d, enum val_type type, enum json_kind kind)
{
    span text;
    if (type == VAL_B) return read_binary(d, kind);
    TRY(json_text(d->j, &text));
    if (type == VAL_S)
        vb_s_utf8(&d->b, text);
    else
        vb_n_text(&d->b, text);
    return SHEAF_OK;
}

static const char *null_member(enum val_type set)
{
    if (set == VAL_BS)
        return "One or more parameter values were invalid: Binary sets may not contain null or "
               "empty values";
    return set == VAL_SS
               ? "One or more parameter values were invalid: An string set may not have a "
                 "null string as a member"
               : "One or more parameter values were invalid: An number set may not have a "
                 "null string as a member";
}

static sheaf_rc read_set(struct decoder *d, enum val_type set)
{
    bool has;
    TRY(json_array(d->j));
    vb_set_begin(&d->b, set);
    for (;;) {
        enum json_kind kind;
        sheaf_rc rc;
        TRY(json_next_element(d->j, &has));
        if (!has) break;
        TRY(json_peek(d->j, &kind));
        if (take_null(d->j, kind, &rc))
            fault(d, null_member(set));
        else
            rc = read_scalar(d, (enum val_type)(set - VAL_SS + VAL_S), kind);
        TRY(rc);
    }
    vb_end(&d->b);
    return SHEAF_OK;
}

static sheaf_rc read_null(struct decoder *d)
{
    bool is_null;
    TRY(json_bool(d->j, &is_null));
    if (!is_null)
        fault(d, "One or more parameter values were invalid: Null attribute value types must have "
                 "the value of true");
    vb_null(&d->b);
    return SHEAF_OK;
}

static sheaf_rc read_bool(struct decoder *d)
{
    bool is_true;
    TRY(json_bool(d->j, &is_true));
    vb_bool(&d->b, is_true);
    return SHEAF_OK;
}

/* ---- containers ---- */

static sheaf_rc open_map(struct decoder *d, enum json_kind kind)
{
    if (kind != JSON_OBJECT) return json_wrong_kind(d->j, kind, ATTRIBUTE_MAP);
    TRY(json_object(d->j));
    vb_map_begin(&d->b);
    push(d, MAP);
    return SHEAF_OK;
}

static sheaf_rc open_list(struct decoder *d)
{
    TRY(json_array(d->j));
    vb_list_begin(&d->b);
    push(d, LIST);
    return SHEAF_OK;
}

/* What stands behind "S":, "M": and so on. */
static sheaf_rc read_typed(struct decoder *d, enum val_type type, enum json_kind kind)
{
    switch (type) {
    case VAL_S:
    case VAL_N:
    case VAL_B:
        return read_scalar(d, type, kind);
    case VAL_BOOL:
        return read_bool(d);
    case VAL_NULL:
        return read_null(d);
    case VAL_M:
        return open_map(d, kind);
    case VAL_L:
        return open_list(d);
    default:
        return read_set(d, type);
    }
}

static sheaf_rc not_an_object(struct decoder *d)
{
    enum json_kind kind;
    sheaf_rc rc;
    TRY(json_peek(d->j, &kind));
    if (!take_null(d->j, kind, &rc)) return json_wrong_element(d->j, kind, ATTRIBUTE_VALUE);
    fault(d, "The supplied Item contains a null AttributeValue");
    return rc;
}

/* "S":"…"} or "N":"…"} with no escape and nothing above ASCII: what most values are. */
static inline bool take_plain(struct json *j, uint8_t *type, span *text)
{
    if (!take(j, '"') || j->end - j->at < 2) return false;
    *type = j->at[0];
    if ((*type != 'S' && *type != 'N') || j->at[1] != '"') return false;
    j->at += 2;
    if (!take(j, ':') || !take(j, '"')) return false;
    const uint8_t *p = scan_ascii(j->at, j->end);
    if (p == j->end || *p != '"') return false;
    *text = SPAN(j->at, (size_t)(p - j->at));
    j->at = p + 1;
    return take(j, '}');
}

/* A value begins. Plain ones are read at once; whatever else it is, complaints included, is left to
 * the frame of its {"type": …}. */
static inline sheaf_rc read_value(struct decoder *d)
{
    uint8_t type;
    span text;
    if (!take(d->j, '{')) return not_an_object(d);
    const uint8_t *start = d->j->at;
    if (d->j->depth < JSON_DEPTH_MAX && take_plain(d->j, &type, &text)) {
        if (type == 'S')
            vb_s_utf8(&d->b, text);
        else
            vb_n_text(&d->b, text);
        d->j->is_first = false;
        return SHEAF_OK;
    }
    d->j->at = start;
    TRY(json_open(d->j));
    push(d, TYPED);
    return SHEAF_OK;
}

/* ---- one step for each kind of frame ---- */

/* The end of {"type": …}. */
static void close_typed(struct decoder *d)
{
    if (d->frames[--d->n].types == 0)
        fault(d, "Supplied AttributeValue is empty, must contain exactly one of the supported "
                 "datatypes");
}

/* Notes that the value has this type. Twice the same is a repeated name, another one a fault. */
static sheaf_rc note_type(struct decoder *d, enum val_type type)
{
    struct frame *f = &d->frames[d->n - 1];
    uint16_t bit = (uint16_t)(1u << type);
    if (f->types & bit) return json_repeated(d->j, span_cstr(val_type_name(type)));
    if (f->types != 0)
        fault(d, "Supplied AttributeValue has more than one datatypes set, must contain exactly "
                 "one of the supported datatypes");
    f->types |= bit;
    return SHEAF_OK;
}

static sheaf_rc step_typed(struct decoder *d)
{
    uint32_t depth = d->j->depth;
    enum val_type type;
    enum json_kind kind;
    span name;
    bool has;
    sheaf_rc rc;
    TRY(read_name(d->j, &name, &has));
    if (!has) {
        close_typed(d);
        return json_forget_names(d->j, depth);
    }
    if (!val_type_parse(name, &type)) { /* AWS passes it over */
        TRY(json_note_name(d->j, name));
        return json_skip(d->j, NULL);
    }
    TRY(json_peek(d->j, &kind));
    if (take_null(d->j, kind, &rc)) return rc; /* as if it were not there */
    TRY(note_type(d, type));
    return read_typed(d, type, kind);
}

/* The builder sorts the names, and so finds a repeated one itself. */
static sheaf_rc step_map(struct decoder *d)
{
    span name;
    bool has;
    TRY(read_name(d->j, &name, &has));
    if (has) {
        vb_name_utf8(&d->b, name);
        return read_value(d);
    }
    vb_end(&d->b);
    d->n--;
    return SHEAF_OK;
}

static sheaf_rc step_list(struct decoder *d)
{
    bool has;
    TRY(json_next_element(d->j, &has));
    if (has) return read_value(d);
    vb_end(&d->b);
    d->n--;
    return SHEAF_OK;
}

static sheaf_rc step(struct decoder *d)
{
    uint8_t kind = d->frames[d->n - 1].kind;
    return kind == TYPED ? step_typed(d) : kind == MAP ? step_map(d) : step_list(d);
}

/* Until all frames above `outside` are closed. */
static sheaf_rc run(struct decoder *d, uint32_t outside)
{
    while (d->n > outside) TRY(step(d));
    return SHEAF_OK;
}

/* ---- whole items ---- */

static void decoder_init(struct decoder *d, struct json *j)
{
    d->j = j;
    d->ctx = (struct ctx){j->ctx->arena, &d->err};
    d->n = 0;
    /* A list of empty lists takes the most, for its length: 10 bytes for 9. */
    vb_init(&d->b, &d->ctx, 2 * (size_t)(j->end - j->at) + 64);
}

/* The item, or its fault. */
static sheaf_rc finish(struct decoder *d, struct json_item *out)
{
    sheaf_rc rc = vb_finish_item(&d->b, &out->item);
    if (rc == SHEAF_OK) return SHEAF_OK;
    if (rc != SHEAF_VALIDATION) return err_set(d->j->ctx->err, rc, "%s", d->err.message);
    span text = arena_dup(d->ctx.arena, SPAN(d->err.message, strlen(d->err.message) + 1));
    if (!text.p) return err_nomem(d->j->ctx->err);
    out->fault = text.p;
    return SHEAF_OK;
}

/* The attributes of the item, its brace taken. */
static sheaf_rc read_attributes(struct decoder *d, struct json_item *out)
{
    for (;;) {
        span name;
        bool has;
        TRY(read_name(d->j, &name, &has));
        if (!has) break;
        bool was_good = d->b.rc == SHEAF_OK;
        vb_name_utf8(&d->b, name);
        TRY(read_value(d));
        TRY(run(d, 0));
        if (was_good && d->b.rc != SHEAF_OK) out->fault_name = name;
    }
    vb_end(&d->b);
    return SHEAF_OK;
}

sheaf_rc json_read_item(struct json *j, struct json_item *out)
{
    struct decoder d;
    enum json_kind kind;
    sheaf_rc rc;
    *out = (struct json_item){0};
    TRY(json_peek(j, &kind));
    if (take_null(j, kind, &rc)) return rc;
    if (kind != JSON_OBJECT) return json_wrong_kind(j, kind, ATTRIBUTE_MAP);
    TRY(json_object(j));
    out->has = true;
    decoder_init(&d, j);
    vb_map_begin(&d.b);
    TRY(read_attributes(&d, out));
    return finish(&d, out);
}

sheaf_rc json_read_value(struct json *j, span name, struct json_item *out)
{
    struct decoder d;
    enum json_kind kind;
    sheaf_rc rc;
    *out = (struct json_item){0};
    TRY(json_peek(j, &kind));
    if (take_null(j, kind, &rc)) return rc;
    if (kind != JSON_OBJECT) return json_wrong_kind(j, kind, ATTRIBUTE_VALUE);
    out->has = true;
    decoder_init(&d, j);
    vb_map_begin(&d.b);
    vb_name(&d.b, name);
    TRY(read_value(&d));
    TRY(run(&d, 0));
    vb_end(&d.b);
    if (d.b.rc != SHEAF_OK) out->fault_name = name;
    return finish(&d, out);
}
