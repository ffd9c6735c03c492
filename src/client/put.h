/* client/put.h: requests as JSON. Members are appended to a buffer in the request's arena; one look
 * at its `failed` at the end. A comma is put where the last byte is no opening bracket, so an object
 * is a '{', its members and a '}'. */
#ifndef CLIENT_PUT_H
#define CLIENT_PUT_H

#include "client/wire.h"
#include "json/json.h"

void wire_put_begin(struct buf *b, struct ctx *c);
/* SHEAF_NOMEM, or the whole request. */
SHEAF_NODISCARD sheaf_rc wire_put_end(struct buf *b, struct ctx *c, span *body_out);

/* The comma, where one belongs: before an element of a list. */
void wire_put_next(struct buf *b);
/* "name": */
void wire_put_name(struct buf *b, const char *name);
/* "name":{ and "name":[ */
void wire_put_open(struct buf *b, const char *name, char bracket);
static inline void wire_put_close(struct buf *b, char bracket) { buf_put_u8(b, (uint8_t)bracket); }

/* What is absent (p == NULL, 0, false) is left out. */
void wire_put_text(struct buf *b, const char *name, span text);
void wire_put_item(struct buf *b, const char *name, span item);
void wire_put_true(struct buf *b, const char *name, bool v);
void wire_put_number(struct buf *b, const char *name, uint64_t v);
/* Also when it is false, or 0. */
void wire_put_bool(struct buf *b, const char *name, bool v);
void wire_put_count(struct buf *b, const char *name, uint64_t v);
/* The i-th word; "" is left out. A number behind the last one goes out as it is, and the server
 * refuses it in its words. */
void wire_put_word(struct buf *b, const char *name, const char *const *words, size_t n, int64_t i);
#define PUT_WORD(b, name, words, i)                                                                \
    wire_put_word((b), (name), (words), sizeof(words) / sizeof *(words), (int64_t)(i))
void wire_put_names(struct buf *b, const struct expr_env *env);
void wire_put_values(struct buf *b, const struct expr_env *env);
void wire_put_capacity(struct buf *b, enum core_capacity_mode mode);
void wire_put_metrics(struct buf *b, bool wants);

#endif
