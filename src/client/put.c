/* Turns the parts of a core request into members of a JSON object. */
#include "client/put.h"

void put_begin(struct buf *b, struct ctx *c)
{
    buf_init(b, c->arena, CLIENT_BODY_MAX);
    (void)buf_room(b, 500); /* most requests never have to grow */
    buf_put_u8(b, '{');
}

sheaf_rc put_end(struct buf *b, struct ctx *c, span *body_out)
{
    buf_put_u8(b, '}');
    if (b->failed) return err_nomem(c->err);
    *body_out = buf_span(b);
    return SHEAF_OK;
}

void put_next(struct buf *b)
{
    if (b->n && b->p[b->n - 1] != '{' && b->p[b->n - 1] != '[') buf_put_u8(b, ',');
}

void put_name(struct buf *b, const char *name)
{
    put_next(b);
    buf_put_u8(b, '"');
    buf_put_span(b, span_cstr(name));
    buf_put(b, "\":", 2);
}

void put_open(struct buf *b, const char *name, char bracket)
{
    put_name(b, name);
    buf_put_u8(b, (uint8_t)bracket);
}

void put_text(struct buf *b, const char *name, span text)
{
    if (!text.p) return;
    put_name(b, name);
    json_put_text(b, text);
}

void put_item(struct buf *b, const char *name, span item)
{
    if (!item.p) return;
    put_name(b, name);
    json_put_item(b, item);
}

void put_bool(struct buf *b, const char *name, bool v)
{
    put_name(b, name);
    buf_put_span(b, v ? SPAN_LIT("true") : SPAN_LIT("false"));
}

void put_true(struct buf *b, const char *name, bool v)
{
    if (v) put_bool(b, name, v);
}

void put_count(struct buf *b, const char *name, uint64_t v)
{
    put_name(b, name);
    json_put_int(b, v > INT64_MAX ? INT64_MAX : (int64_t)v);
}

void put_number(struct buf *b, const char *name, uint64_t v)
{
    if (v) put_count(b, name, v);
}

void put_word(struct buf *b, const char *name, const char *const *words, size_t n, int64_t i)
{
    if (i >= 0 && (uint64_t)i < n) {
        if (*words[i]) put_text(b, name, span_cstr(words[i]));
        return;
    }
    put_name(b, name);
    buf_put_u8(b, '"');
    json_put_int(b, i);
    buf_put_u8(b, '"');
}

void put_names(struct buf *b, const struct expr_env *env)
{
    if (!env->has_names) return;
    put_open(b, "ExpressionAttributeNames", '{');
    for (uint32_t i = 0; i < env->n_names; i++) {
        put_next(b);
        json_put_text(b, env->names[i].placeholder);
        buf_put_u8(b, ':');
        json_put_text(b, env->names[i].name);
    }
    put_close(b, '}');
}

void put_values(struct buf *b, const struct expr_env *env)
{
    if (!env->has_values) return;
    put_open(b, "ExpressionAttributeValues", '{');
    for (uint32_t i = 0; i < env->n_values; i++) {
        put_next(b);
        json_put_text(b, env->values[i].placeholder);
        buf_put_u8(b, ':');
        json_put_value(b, env->values[i].value);
    }
    put_close(b, '}');
}

void put_capacity(struct buf *b, enum core_capacity_mode mode)
{
    static const char *const words[] = {"", "TOTAL", "INDEXES"};
    PUT_WORD(b, "ReturnConsumedCapacity", words, mode);
}

void put_metrics(struct buf *b, bool wants)
{
    if (wants) put_text(b, "ReturnItemCollectionMetrics", SPAN_LIT("SIZE"));
}
