/* client/put.h: requests as JSON. Members are appended to a buffer in the request's arena; one look
 * at its `failed` at the end. A comma is put where the last byte is no opening bracket, so an object
 * is a '{', its members and a '}'. */
#ifndef CLIENT_PUT_H
#define CLIENT_PUT_H

#include "client/wire.h"
#include "json/json.h"

void put_begin(struct buf *b, struct ctx *c);
/* SHEAF_NOMEM, or the whole request. */
SHEAF_NODISCARD sheaf_rc put_end(struct buf *b, struct ctx *c, span *body_out);

/* The comma, where one belongs: before an element of a list. */
void put_next(struct buf *b);
/* "name": */
void put_name(struct buf *b, const char *name);
/* "name":{ and "name":[ */
void put_open(struct buf *b, const char *name, char bracket);
static inline void put_close(struct buf *b, char bracket) { buf_put_u8(b, (uint8_t)bracket); }

/* What is absent (p == NULL, 0, false) is left out. */
void put_text(struct buf *b, const char *name, span text);
void put_item(struct buf *b, const char *name, span item);
void put_true(struct buf *b, const char *name, bool v);
void put_number(struct buf *b, const char *name, uint64_t v);
/* Also when it is false, or 0. */
void put_bool(struct buf *b, const char *name, bool v);
void put_count(struct buf *b, const char *name, uint64_t v);
/* The i-th word; "" is left out. A number behind the last one goes out as it is, and the server
 * refuses it in its words. */
void put_word(struct buf *b, const char *name, const char *const *words, size_t n, int64_t i);
#define PUT_WORD(b, name, words, i)                                                                \
    put_word((b), (name), (words), sizeof(words) / sizeof *(words), (int64_t)(i))
void put_names(struct buf *b, const struct expr_env *env);
void put_values(struct buf *b, const struct expr_env *env);
void put_capacity(struct buf *b, enum core_capacity_mode mode);
void put_metrics(struct buf *b, bool wants);

#endif
