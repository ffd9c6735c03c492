/* client/get.h: answers as outcomes. What an object's members become is data: a table of names, the
 * function that reads such a value, and where it goes.
 *
 *     static const struct field fields[] = {
 *         FIELD(struct core_shard_info, id, "ShardId", wire_get_text), …
 *     };
 *
 * Unknown members are skipped, and null counts as absent: servers grow. Texts borrow from the
 * answer, which lies in the request's arena. */
#ifndef CLIENT_GET_H
#define CLIENT_GET_H

#include "client/wire.h"
#include "json/json.h"

typedef sheaf_rc get_fn(struct json *j, void *to);

struct field {
    const char *name;
    get_fn *read;
    size_t offset;
};
#define FIELD(T, member, name, read)                                                               \
    {                                                                                              \
        (name), (read), offsetof(T, member)                                                        \
    }

/* One object into `to`, which the caller has zeroed. */
SHEAF_NODISCARD sheaf_rc wire_get_object(struct json *j, const struct field *fields, size_t n,
                                         void *to);
#define GET_OBJECT(j, fields, to)                                                                  \
    wire_get_object((j), (fields), sizeof(fields) / sizeof *(fields), (to))
/* A whole answer. What is not the JSON expected is SHEAF_INTERNAL, with a word on what it was. */
SHEAF_NODISCARD sheaf_rc wire_get_answer(struct ctx *c, span json, const struct field *fields,
                                         size_t n, void *to);
#define GET_ANSWER(c, json, fields, to)                                                            \
    wire_get_answer((c), (json), (fields), sizeof(fields) / sizeof *(fields), (to))

/* span */
SHEAF_NODISCARD sheaf_rc wire_get_text(struct json *j, void *to);
SHEAF_NODISCARD sheaf_rc wire_get_item(struct json *j, void *to); /* encoded */
/* bool, uint64_t, double */
SHEAF_NODISCARD sheaf_rc wire_get_bool(struct json *j, void *to);
SHEAF_NODISCARD sheaf_rc wire_get_u64(struct json *j, void *to);
SHEAF_NODISCARD sheaf_rc wire_get_double(struct json *j, void *to);
/* int64_t microseconds from seconds, with or without decimals */
SHEAF_NODISCARD sheaf_rc wire_get_time(struct json *j, void *to);

/* An array or a map of objects of one size, growing in the arena. */
struct rows {
    uint8_t *all;
    uint32_t n, cap;
    size_t size; /* of one */
};
/* One more row, zeroed; NULL when memory is out. */
void *wire_get_row(struct ctx *c, struct rows *r);
/* The elements of an array, each read by `read` into a new row. */
SHEAF_NODISCARD sheaf_rc wire_get_rows(struct json *j, struct rows *r, get_fn *read);

/* struct texts */
struct texts {
    span *all;
    uint32_t n;
};
SHEAF_NODISCARD sheaf_rc wire_get_texts(struct json *j, void *to);

/* ---- parts of several answers ---- */

/* struct core_capacity, of a write or of a read. */
SHEAF_NODISCARD sheaf_rc wire_get_capacity(struct json *j, void *to);
SHEAF_NODISCARD sheaf_rc wire_get_read_capacity(struct json *j, void *to);
struct capacities {
    struct core_capacity *all;
    uint32_t n;
};
SHEAF_NODISCARD sheaf_rc wire_get_capacities(struct json *j, void *to);
SHEAF_NODISCARD sheaf_rc wire_get_read_capacities(struct json *j, void *to);
/* struct core_metrics; the table is the caller's to set. bytes is the lower end of the estimate. */
SHEAF_NODISCARD sheaf_rc wire_get_metrics(struct json *j, void *to);
struct metrics_list {
    struct core_metrics *all;
    uint32_t n;
};
SHEAF_NODISCARD sheaf_rc wire_get_metrics_map(struct json *j, void *to);
void client_set_totals(struct core_multi_outcome *out, struct capacities capacity,
                       struct metrics_list metrics);
/* CancellationReasons of a refused transaction of n actions, into out->written; none when they
 * cannot be read, for it is a refusal without them, too. Leaves the context's error as it is. */
void client_reasons(struct ctx *c, span answer, uint32_t n, struct core_multi_outcome *out);
/* TableDescription or Table. */
SHEAF_NODISCARD sheaf_rc wire_get_table(struct ctx *c, span answer, struct core_table_info *out);
/* A StreamViewType. */
enum core_stream_view wire_get_view(span word);
/* The place of a word, or n when it is none of them. */
uint32_t wire_get_place(span word, const char *const *words, uint32_t n);
#define GET_PLACE(word, words)                                                                     \
    wire_get_place((word), (words), (uint32_t)(sizeof(words) / sizeof *(words)))

#endif
