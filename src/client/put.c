/* Turns the parts of a core request into members of a JSON object. */
#include "client/put.h"

void wire_put_begin(struct buf *b, struct ctx *c)
{
    buf_init(b, c->arena, CLIENT_BODY_MAX);
    (void)buf_room(b, 500); /* most requests never have to grow */
    buf_put_u8(b, '{');
}

sheaf_rc wire_put_end(struct buf *b, struct ctx *c, span *body_out)
{
    buf_put_u8(b, '}');
    if (b->failed) return err_nomem(c->err);
    *body_out = buf_span(b);
    return SHEAF_OK;
}

void wire_put_next(struct buf *b)
{
    if (b->n && b->p[b->n - 1] != '{' && b->p[b->n - 1] != '[') buf_put_u8(b, ',');
}

void wire_put_name(struct buf *b, const char *name)
{
    wire_put_next(b);
    buf_put_u8(b, '"');
    buf_put_span(b, span_cstr(name));
    buf_put(b, "\":", 2);
}

void wire_put_open(struct buf *b, const char *name, char bracket)
{
    wire_put_name(b, name);
    buf_put_u8(b, (uint8_t)bracket);
}

void wire_put_text(struct buf *b, const char *name, span text)
{
    if (!text.p) return;
    wire_put_name(b, name);
    json_put_text(b, text);
}

void wire_put_item(struct buf *b, const char *name, span item)
{
    if (!item.p) return;
    wire_put_name(b, name);
    json_put_item(b, item);
}

void wire_put_bool(struct buf *b, const char *name, bool v)
{
    wire_put_name(b, name);
    buf_put_span(b, v ? SPAN_LIT("true") : SPAN_LIT("false"));
}

void wire_put_true(struct buf *b, const char *name, bool v)
{
    if (v) wire_put_bool(b, name, v);
}

void wire_put_count(struct buf *b, const char *name, uint64_t v)
{
    wire_put_name(b, name);
    json_put_int(b, v > INT64_MAX ? INT64_MAX : (int64_t)v);
}

void wire_put_number(struct buf *b, const char *name, uint64_t v)
{
    if (v) wire_put_count(b, name, v);
}

void wire_put_word(struct buf *b, const char *name, const char *const *words, size_t n, int64_t i)
{
    if (i >= 0 && (uint64_t)i < n) {
        if (*words[i]) wire_put_text(b, name, span_cstr(words[i]));
        return;
    }
    wire_put_name(b, name);
    buf_put_u8(b, '"');
    json_put_int(b, i);
    buf_put_u8(b, '"');
}

void wire_put_names(struct buf *b, const struct expr_env *env)
{
    if (!env->has_names) return;
    wire_put_open(b, "ExpressionAttributeNames", '{');
    for (uint32_t i = 0; i < env->n_names; i++) {
        wire_put_next(b);
        json_put_text(b, env->names[i].placeholder);
        buf_put_u8(b, ':');
        json_put_text(b, env->names[i].name);
    }
    wire_put_close(b, '}');
}

void wire_put_values(struct buf *b, const struct expr_env *env)
{
    if (!env->has_values) return;
    wire_put_open(b, "ExpressionAttributeValues", '{');
    for (uint32_t i = 0; i < env->n_values; i++) {
        wire_put_next(b);
        json_put_text(b, env->values[i].placeholder);
        buf_put_u8(b, ':');
        json_put_value(b, env->values[i].value);
    }
    wire_put_close(b, '}');
}

void wire_put_capacity(struct buf *b, enum core_capacity_mode mode)
{
    static const char *const words[] = {"", "TOTAL", "INDEXES"};
    PUT_WORD(b, "ReturnConsumedCapacity", words, mode);
}

void wire_put_metrics(struct buf *b, bool wants)
{
    if (wants) wire_put_text(b, "ReturnItemCollectionMetrics", SPAN_LIT("SIZE"));
}
